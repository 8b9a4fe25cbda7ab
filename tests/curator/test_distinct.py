"""Different values asked of a curator: answers, stored readings, receipts by both verifiers, what plain SQL says."""

from __future__ import annotations

import copy
import random
from fractions import Fraction
from typing import Any

import duckdb
import pytest
from house import CATALOG, ROWS, Counted, frame, holds, opened, spent

import dpcurator as dp
from dpcurator.errors import Refusal
from dpcurator.receipts.receipt import sha
from dpcurator.standalone import verify as standalone

ASKED = "SELECT city, COUNT(DISTINCT day) AS days, COUNT(DISTINCT age) AS ages, COUNT(*) AS n FROM visits GROUP BY city"
LEDGERS: list[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    ({"epsilon": 10}, {"epsilon": 1}, {}),
    ({"rho": 10, "delta": "1e-6"}, {"rho": "0.1"}, {}),
    ({"epsilon": 10}, {"epsilon": 1}, {"neighbours": "replace-one", "units": 20}),
]


def test_a_repeat_is_free_and_another_column_is_another_reading(tmp_path):
    curator = opened(tmp_path)
    first = curator.ask("SELECT COUNT(DISTINCT age) AS n FROM visits", epsilon="0.5")
    entropy = curator.entropy = Counted()
    again = curator.ask("SELECT COUNT(DISTINCT age) + 1 AS n FROM visits", epsilon="0.5")
    assert (again["n"][0], again.cost, entropy.asked) == (first["n"][0] + 1, 0, 0)
    holds(curator, again, [first.receipt])
    curator.entropy = opened(tmp_path).entropy
    assert curator.ask("SELECT COUNT(DISTINCT age % 7) AS n FROM visits", epsilon="0.5").cost == Fraction(1, 2)
    assert spent(curator) == 1


@pytest.mark.parametrize(("ledger", "price", "more"), LEDGERS)
def test_receipts_hold_by_both_verifiers_and_forged_ones_do_not(tmp_path, ledger, price, more):
    told = copy.deepcopy(CATALOG)
    told["curator"] |= more
    told["ledger"] = ledger
    curator = dp.open(told, directory=tmp_path, visits=frame(ROWS), refresh=True)
    for question in (ASKED, "SELECT COUNT(DISTINCT city) AS n FROM visits WHERE age > 3"):
        answer = curator.ask(question, **price)
        holds(curator, answer)
        place, claim = next((n, one) for n, one in enumerate(answer.receipt["readings"])
                            if one["ask"]["what"] == "distinct")
        assert claim["unit"] == "1"
        assert claim["linf"] == told["tables"]["visits"]["max_rows"]
        for changed in ({"linf": claim["linf"] - 1}, {"l1": claim["l1"] - 1}, {"l2_squared": claim["l2_squared"] - 1},
                        {"unit": "1/65536"}, {"ask": claim["ask"] | {"what": "units", "column": None}},
                        {"ask": claim["ask"] | {"what": "present"}}, {"coordinates": claim["coordinates"] + 1}):
            forged = copy.deepcopy(answer.receipt)
            forged["readings"][place] |= changed
            assert {name for name, well, _ in standalone.steps(forged) if not well} - {"signature"}, changed
            assert {step.name for step in dp.verify(forged).steps if not step.holds} - {"signature"}, changed


def test_no_receipt_gives_a_count_a_quantiles_q(tmp_path):
    """Its digests those of the changed plan: both verifiers look at what its aggregates are."""
    receipt = copy.deepcopy(opened(tmp_path).ask(ASKED, epsilon=1).receipt)
    for number in (0, 2):
        forged = copy.deepcopy(receipt)
        forged["plan"]["calls"][number]["q"] = {"exact": "1/2"}
        forged["plan_sha256"] = sha(forged["plan"])
        assert {one.name for one in dp.verify(forged).steps if not one.holds} - {"signature"}
        assert "question" in {name for name, well, _ in standalone.steps(forged) if not well}


def test_different_values_of_groups_are_not_added_up(tmp_path):
    answer = opened(tmp_path).ask(ASKED, epsilon=1)
    assert answer.totals(by=[]).columns == ("n",)
    with pytest.raises(Refusal, match="a value that is in several of its groups would be counted in each"):
        answer.totals("days", by=[])


def test_frames_and_batches_ask_the_same(tmp_path):
    curator = opened(tmp_path)
    framed = curator.table("visits").group_by("city").agg(days=dp.count_distinct("day"))
    assert curator.quote(framed, epsilon=1).plan == curator.quote(
        'SELECT "city", COUNT(DISTINCT "day") AS "days" FROM visits GROUP BY "city"', epsilon=1).plan
    batch = [ASKED, "SELECT COUNT(DISTINCT city) AS n FROM visits WHERE age > 3", "SELECT COUNT(*) AS n FROM visits"]
    for answer in curator.batch(batch, epsilon=2):
        holds(curator, answer)
    assert curator.rehearse(ASKED, epsilon=1).made_up


# --- at a huge price it is plain SQL ----------------------------------------------------------------------------------

PLAIN = [
    f"SELECT {keys}COUNT(DISTINCT {column}) AS n FROM visits{where}{group}"
    for column in ("note", "whole", "day", "seen", "code", "LENGTH(note)", "CASE WHEN whole > 3 THEN note END")
    for keys, group in (("", ""), ("city, ", " GROUP BY city"))
    for where in ("", " WHERE whole <> 5")
]


def test_at_a_huge_price_it_is_what_sql_says(tmp_path, by_lot):
    """28 statements over texts, whole numbers, days, truths and uuids, with missing ones and people who share values. A
    draw of noise other than 0 has a probability of exp(-10**5 / 120), far below 1e-300."""
    luck = random.Random(5)
    codes = [f"5f0c3a52-6d1e-4c7b-9d3a-0a4f8e2b1c{n:02x}" for n in range(9)]
    people = [(f"p{n % 70}", luck.choice(("Leeds", "York", "Hull", None)), luck.choice((None, "", "é", "flu", "cold")),
               luck.choice((None, *range(12))), luck.choice((None, f"2024-02-{1 + n % 28:02}")),
               luck.choice((None, True, False)), luck.choice((None, *codes))) for n in range(400)]
    told: dict[str, Any] = {
        "curator": {"protects": "people"}, "ledger": {"epsilon": 10**9},
        "tables": {"visits": {"unit": "who", "max_rows": 30, "max_groups": 3, "columns": {
            "who": "text", "city": {"type": "text", "keys": ["Hull", "Leeds", "York"]}, "note": "text",
            "whole": "integer", "day": "date", "seen": "boolean", "code": "uuid"}}},
    }
    table = {name: [row[n] for row in people] for n, name in enumerate(told["tables"]["visits"]["columns"])}
    curator = dp.open(told, directory=tmp_path, visits=table, refresh=True)
    plain = duckdb.connect()
    plain.execute("CREATE TABLE visits (who TEXT, city TEXT, note TEXT, whole BIGINT, day DATE, seen BOOL, code UUID)")
    plain.executemany("INSERT INTO visits VALUES (?, ?, ?, ?, ?, ?, ?)", people)
    texts = by_lot(PLAIN)
    answers = curator.batch(texts, epsilon=10**5 * len(texts), cut=False)
    for text, answer in zip(texts, answers, strict=True):
        wanted = plain.execute(f"SELECT * FROM ({text}) ORDER BY 1").fetchall()
        assert answer.rows == [row for row in wanted if row[0] is not None], text


def test_by_unknown_keys_at_a_huge_price(tmp_path):
    told: dict[str, Any] = {
        "curator": {"protects": "people", "salt": "0123456789abcdef" * 2},
        "ledger": {"epsilon": 10**9, "delta": "1e-6"},
        "tables": {"visits": {"unit": "who", "max_rows": 2, "max_groups": 2, "columns": {
            "who": "text", "city": {"type": "text", "keys": "unknown"}, "note": "text"}}},
    }
    rows = [(f"p{n}", city, f"{city}{(n + k) % 6}") for n in range(120) for city in ("Leeds", "York") for k in (0, 1)]
    table = {name: [row[n] for row in rows] for n, name in enumerate(("who", "city", "note"))}
    curator = dp.open(told, directory=tmp_path, visits=table, refresh=True)
    text = "SELECT city, COUNT(DISTINCT note) AS n FROM visits GROUP BY city"
    answer = curator.ask(text, epsilon=10**5, delta="1e-6")
    assert answer.rows == [("Leeds", 6), ("York", 6)]
    holds(curator, answer)
    with pytest.raises(Refusal, match="would count a value once for each"):
        curator.quote("SELECT COUNT(DISTINCT note) AS n FROM visits GROUP BY WITH_OTHER(city)", epsilon=1)
