"""ROLLUP, CUBE, GROUPING SETS and GROUPING: what they mean in SQL, what they cost, and their receipts."""

from __future__ import annotations

import copy
import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

import duckdb
import pytest
from house import CATALOG as PEOPLE
from house import ROWS, frame, holds, opened, spent
from questions import CATALOG, planned

import dpcurator as dp
from dpcurator.errors import Refusal
from dpcurator.fronts.sql import parse
from dpcurator.language.render import render
from dpcurator.mechanisms.noise.sums import error_of_sum
from dpcurator.plan.check_outputs import misfit
from dpcurator.pricing.bars import bars
from dpcurator.receipts.loss import law_of
from dpcurator.receipts.receipt import sha
from dpcurator.release.totals import SHOWN
from dpcurator.standalone import verify as standalone
from receipts import CATALOGS
from receipts import curator as receipts_curator

ROLLED = "SELECT city, seen, COUNT(*) AS n, SUM(age) AS s, AVG(age) AS a FROM visits GROUP BY ROLLUP(city, seen)"
FINEST = "SELECT city, seen, COUNT(*) AS n, SUM(age) AS s, AVG(age) AS a FROM visits GROUP BY city, seen"

# --- what they mean ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("written", "columns", "sets"), [
    ("ROLLUP(city, ward)", 2, [(0, 1), (0,), ()]), ("ROLLUP((city, ward), smoker)", 3, [(0, 1, 2), (0, 1), ()]),
    ("CUBE(city, ward)", 2, [(0, 1), (0,), (1,), ()]),
    ("GROUPING SETS ((city, ward), (city), ())", 2, [(0, 1), (0,), ()]),
    ("GROUPING SETS (city, ward)", 2, [(0,), (1,)]), ("city, ROLLUP(ward)", 2, [(0, 1), (0,)]),
    ("GROUPING SETS (ROLLUP(city, ward), smoker)", 3, [(0, 1), (0,), (), (2,)]),
    ("ROLLUP(city), CUBE(ward)", 2, [(0, 1), (0,), (1,), ()]), ("GROUPING SETS ((city, ward))", 2, [(0, 1)]),
])
def test_which_sets_are_meant(written, columns, sets):
    question = parse(f"SELECT COUNT(*) FROM visits GROUP BY {written}")
    assert (len(question.group_by), list(question.sets)) == (columns, sets)
    again = parse(render(question))
    assert (again.group_by, again.sets) == (question.group_by, question.sets)
    plan = planned(f"SELECT COUNT(*) AS n, GROUPING(city) AS g FROM visits GROUP BY {written}")
    assert list(plan.sets) == sets
    assert misfit(plan) is None


@pytest.mark.parametrize(("written", "words"), [
    ("city, ROLLUP(city, ward)", "written twice"), ("ROLLUP()", "names nothing"),
    ("GROUPING SETS (())", "names nothing"),
    ("CUBE(city, ward, smoker, day, age, code, note)", "more than 64 sets"),
    ("ROLLUP(note)", "needs a public list"), ("city WITH ROLLUP", "ROLLUP"),
])
def test_what_is_refused(written, words):
    with pytest.raises(Refusal, match=words):
        planned(f"SELECT COUNT(*) FROM visits GROUP BY {written}")


@pytest.mark.parametrize(("item", "words"), [
    ("COUNT(DISTINCT patient)", "no total over city"), ("COUNT(DISTINCT note)", "no total over city"),
    ("MEDIAN(age)", "a quantile has no total"), ("GROUPING(age)", "GROUP BY"), ("GROUPING(COUNT(*))", "GROUPING takes"),
    ("GROUPING()", "GROUPING takes"),
])
def test_what_does_not_add_up_is_refused_with_the_questions_to_ask(item, words):
    with pytest.raises(Refusal, match=words) as told:
        planned(f"SELECT {item} AS x FROM visits GROUP BY ROLLUP(city)")
    if "no total" in words:
        assert told.value.cure.endswith(": GROUP BY city; without GROUP BY.")
        planned(f"SELECT {item} AS x FROM visits GROUP BY city")
        planned(f"SELECT {item} AS x FROM visits")
    planned("SELECT COUNT(DISTINCT patient) AS x, city FROM visits GROUP BY GROUPING SETS ((city))")


def test_unknown_keys_have_no_totals(tmp_path):
    told: dict[str, Any] = {
        "curator": {"protects": "people", "salt": "0123456789abcdef" * 2}, "ledger": {"epsilon": 9, "delta": "1e-6"},
        "tables": {"visits": {"unit": "who", "max_total": 2, "columns": {
            "who": "text", "city": {"type": "text", "keys": "unknown"}}}},
    }
    with pytest.raises(Refusal, match="need listed groups"):
        dp.rehearsing(told).rehearse("SELECT city, COUNT(*) AS n FROM visits GROUP BY ROLLUP(city)")


PLAIN = [
    f"SELECT city, seen, COUNT(*) AS n, SUM(age) AS s, AVG(age) AS a, GROUPING(city, seen) AS g, GROUPING(seen) AS h "
    f"FROM visits{where} GROUP BY {group} {tail}"
    for group in ("ROLLUP(city, seen)", "CUBE(seen, city)", "GROUPING SETS ((city), (seen), ())", "city, ROLLUP(seen)",
                  "GROUPING SETS ((city, seen), ())")
    for where in ("", " WHERE age < 60")
    for tail in ("", "HAVING GROUPING(city, seen) > 0 OR COUNT(*) > 30")
]


def test_at_a_huge_price_they_are_what_plain_sql_says(tmp_path, by_lot):
    """20 statements; noise other than 0 has a probability below 1e-300."""
    people = [(f"p{n}", ("Hull", "Leeds", "York")[n % 3], n % 5 < 2, n * 7 % 101) for n in range(240)]
    told: dict[str, Any] = {
        "curator": {"protects": "people"}, "ledger": {"epsilon": 10**15},
        "tables": {"visits": {"unit": "who", "max_total": 1, "columns": {
            "who": "text", "city": {"type": "text", "keys": ["Hull", "Leeds", "York"]}, "seen": "boolean",
            "age": {"type": "integer", "bounds": [0, 100]}}}},
    }
    table = {name: [row[n] for row in people] for n, name in enumerate(told["tables"]["visits"]["columns"])}
    curator = dp.open(told, directory=tmp_path, visits=table, refresh=True)
    plain = duckdb.connect()
    plain.execute("CREATE TABLE visits (who TEXT, city TEXT, seen BOOL, age BIGINT)")
    plain.executemany("INSERT INTO visits VALUES (?, ?, ?, ?)", people)
    for text in by_lot(PLAIN):
        mine = sorted(curator.ask(text, epsilon=10**12, cut=False).rows, key=repr)
        wanted = sorted(plain.execute(text).fetchall(), key=repr)
        assert [row[:4] + row[5:] for row in mine] == [row[:4] + row[5:] for row in wanted], text
        assert [row[4] for row in mine] == pytest.approx([row[4] for row in wanted], rel=1e-12), text
    assert spent(curator) <= 2 * 10**12  # of the finest groups, with the condition and without


# --- what they cost, and how wrong they are ---------------------------------------------------------------------------


def test_they_are_free_after_the_groups_and_are_their_sums(tmp_path):
    curator = opened(tmp_path)
    groups = curator.ask(FINEST, epsilon=1)
    rolled = curator.ask(ROLLED, epsilon=1)
    assert (rolled.cost, spent(curator)) == (0, 1)
    assert rolled.rows[:6] == groups.rows
    assert rolled["n"][-1] == groups.totals("n", by=[])["n"][0]
    assert rolled.error("n")[-1] == groups.totals("n", by=[]).error("n")[0]
    assert rolled.interval("a")[-1] == groups.totals("a", by=[]).interval("a")[0]
    assert rolled.rows[6:9] == [(city, None, *rest) for city, *rest in groups.totals(by=["city"]).rows]
    assert rolled.totals("n", by=["city"])["n"] == groups.totals("n", by=["city"])["n"]
    holds(curator, rolled, [groups.receipt])


@pytest.mark.parametrize(("having", "groups"), [
    ("GROUPING(city) = 1", 6), ("GROUPING(seen) = 1 AND city = 'Hull'", 2), ("NOT GROUPING(city, seen) < 3", 6),
    ("GROUPING(city) = 1 OR city = 'Hull'", 6),
])
def test_what_having_says_of_totals_rules_out_no_group_of_another_total(tmp_path, having, groups):
    curator = opened(tmp_path)
    answer = curator.ask(f"{ROLLED} HAVING {having}", epsilon=1)
    total = answer.totals("n", by=[])
    wanted = "" if groups == 6 else " HAVING city = 'Hull'"
    assert total.rows == curator.ask(FINEST + wanted, epsilon=1).totals("n", by=[]).rows
    assert SHOWN in total.notes
    assert spent(curator) == 1


def test_batches_and_rehearsals_have_them_too(tmp_path):
    curator = opened(tmp_path)
    answers = curator.batch([ROLLED, FINEST, "SELECT city, COUNT(*) AS n FROM visits WHERE seen GROUP BY ROLLUP(city)",
                             "SELECT COUNT(*) AS n FROM visits WHERE city = 'Leeds'"], epsilon=2)
    assert answers[0].rows[:6] == answers[1].rows
    for answer in answers:
        holds(curator, answer)
    assert len(curator.rehearse(ROLLED, epsilon=1).rows) == 10


def test_receipts_hold_by_both_verifiers_and_forged_ones_do_not(tmp_path):
    curator = opened(tmp_path)
    answer = curator.ask(ROLLED, epsilon=1)
    holds(curator, answer)
    printed = answer.as_json()
    for sets in ([[0, 1], [0], [2]], [[0, 0]], [[1, 0]], [["0"]], [[0], [0]]):
        forged = copy.deepcopy(printed)
        forged["receipt"]["plan"]["sets"] = sets
        assert not dp.verify(forged["receipt"], answer=forged).holds, sets
        assert not all(well for _, well, _ in standalone.steps(forged["receipt"], printed=forged)), sets
    longer = copy.deepcopy(printed)
    longer["rows"].append(longer["rows"][-1])
    assert not dp.verify(longer["receipt"], answer=longer).holds
    assert not all(well for _, well, _ in standalone.steps(longer["receipt"], printed=longer))


@pytest.mark.parametrize(("group", "rows", "marked", "known"), [
    ("ROLLUP(city, seen)", {0: 1, 6: 2, 9: 6}, False, True), ("ROLLUP(city, seen)", {0: 1, 6: 2, 9: 6}, True, False),
    ("ROLLUP(city, seen)", {0: 1, 6: 1, 9: 1}, False, False),  # a key may be missing: what is listed is not known
])
def test_a_total_whose_bar_is_narrower_than_that_of_the_sum_does_not_hold(tmp_path, group, rows, marked, known):
    curator = opened(tmp_path)
    mark = ", GROUPING(city, seen) AS g" if marked else ""
    answer = curator.ask(f"SELECT city, seen{mark}, COUNT(*) AS n FROM visits GROUP BY {group}", epsilon=1)
    (claim,) = answer.receipt["readings"]
    place = answer.columns.index("n")
    beside = {"catalog": curator.catalog} if known else {}
    for row, count in rows.items():
        error = error_of_sum(law_of(claim), count, Fraction(1, 20)) * Fraction(claim["unit"])
        for narrower, well in ((Fraction(0), True), (Fraction(1, 50), False)):
            forged = copy.deepcopy(answer.core_json())
            value, bar = forged["rows"][row][place]["value"], float(error - narrower * error) * (1 + 1e-12)
            forged["rows"][row][place] |= {"error": bar, "low": value - bar - 0.001, "high": value + bar + 0.001}
            receipt = answer.receipt | {"answer_sha256": sha(forged)}
            step = {one.name: one for one in dp.verify(receipt, answer=forged, **beside).steps}["answer"]
            assert step.holds == well, (row, step.words)


@pytest.mark.parametrize("item", ["MEDIAN(age)", "COUNT(DISTINCT age)", "COUNT(DISTINCT who)"])
def test_totals_that_nobody_could_ask_for_are_not_answered_and_no_receipt_has_them(tmp_path, item):
    """Of a quote put together by hand, and of a receipt whose digests are those of the changed plan."""
    curator = opened(tmp_path)
    question = f"SELECT city, {item} AS x FROM visits GROUP BY city"
    quote = curator.quote(question, epsilon=1)
    for sets in (((0,), ()), ((),)):
        with pytest.raises(Refusal):
            curator.answer(replace(quote, plan=replace(quote.plan, sets=sets)))
    assert spent(curator) == 0
    receipt = copy.deepcopy(curator.answer(quote).receipt)
    for sets, words in (([[0]], None), ([[0], []], "does not add up"), ([[]], "does not add up"),
                        ([[0], [0]], "grouped by|twice")):
        receipt["plan"]["sets"] = sets
        receipt["plan_sha256"] = sha(receipt["plan"])
        checked = {step.name: step for step in dp.verify(receipt).steps}
        alone = {name: (well, found) for name, well, found in standalone.steps(receipt)}
        assert (checked["plan"].holds, alone["question"][0]) == (words is None, words is None), sets
        if words is not None:
            assert re.search(words, checked["plan"].words)
            assert re.search(words, alone["question"][1])


def test_frames_have_the_sets_of_their_sql(tmp_path):
    curator = opened(tmp_path)
    keyed = curator.table("visits").group_by("city", "seen")
    counted = {"n": dp.count(), "s": dp.sum("age")}
    for frame_, group in (
        (keyed.rollup(), "ROLLUP(city, seen)"), (keyed.cube(), "CUBE(city, seen)"),
        (keyed.grouping_sets(["seen"], ("city",), []), "GROUPING SETS ((seen), (city), ())"),
        (curator.table("visits").group_by(young=dp.col("age") < 30).rollup(), "ROLLUP(young)"),
    ):
        items = "(age < 30) AS young" if "young" in group else "city, seen"
        text = f"SELECT {items}, COUNT(*) AS n, SUM(age) AS s FROM visits GROUP BY {group}"
        plan = curator.plan(frame_.agg(**counted))
        wanted = curator.plan(text)
        assert [{one.source.source.columns[at].name for at in kept} for one in (plan,) for kept in one.sets] == [
            {one.source.source.columns[at].name for at in kept} for one in (wanted,) for kept in one.sets]
        assert curator.quote(frame_.agg(**counted), epsilon=1).cost == 1
        assert parse(render(frame_.agg(**counted).question())) is not None
    answer = keyed.agg(**counted).rollup().ask(epsilon=2)
    assert len(answer.rows) == 10
    assert curator.ask("SELECT city, seen, COUNT(*) AS n, SUM(age) AS s FROM visits GROUP BY ROLLUP(city, seen)",
                       epsilon=2).rows == answer.rows
    for wrong, words in (
        (lambda: curator.table("visits").rollup(), "keys of group_by"), (lambda: keyed.rollup().cube(), "said once"),
        (lambda: keyed.rollup().group_by("age"), "before rollup"), (lambda: keyed.grouping_sets(["age"]), "no key"),
        (lambda: keyed.grouping_sets(["city"]), "none of the sets"), (lambda: keyed.grouping_sets("city"), "a list"),
        (lambda: keyed.grouping_sets(["city", "seen"], ["seen", "city"]), "twice"),
        (lambda: keyed.with_other().rollup(), "other groups"),
        (lambda: curator.table("visits").group_by(**{f"k{n}": dp.col("age") < n for n in range(7)}).cube(), "64"),
    ):
        with pytest.raises(Refusal, match=words):
            wrong()


def test_sets_over_keys_that_nobody_listed_are_refused_with_a_question_for_each():
    catalog = replace(CATALOGS["unknown"])
    made = receipts_curator(catalog)
    with pytest.raises(Refusal, match="listed groups") as refused:
        made.quote("SELECT city, ward, COUNT(*) AS n FROM visits GROUP BY ROLLUP(city, ward)", epsilon=1)
    said = refused.value.cure.partition(": ")[2].partition("; or list")[0].split("; ")
    assert said == ["GROUP BY city, ward", "GROUP BY city", "without GROUP BY"]
    texts = [f"SELECT COUNT(*) AS n FROM visits {'' if one.startswith('without') else one}" for one in said]
    assert len(made.quote_batch(texts, epsilon=1, delta="1e-4").paid) == 3


def test_the_bar_of_a_total_is_that_of_the_sum(tmp_path):
    """Of six draws of discrete Laplace noise it is wider than one's, and narrower than six bars."""
    answer = opened(tmp_path).ask(ROLLED, epsilon=1)
    one, all_six = (Fraction(error) for error in (answer.error("n")[0], answer.error("n")[-1]))
    assert one < all_six < 4 * one
    assert answer.shown == ("text", "boolean", "whole", "whole", "number")
    assert CATALOG.currency == "epsilon"


@pytest.mark.parametrize("ledger", [{"epsilon": 100}, {"rho": 100, "delta": "1e-6"}])
@pytest.mark.parametrize("group", ["ROLLUP(city, seen)", "GROUPING SETS ((seen), (city))"])
def test_a_quote_tells_of_the_widest_bar_and_a_wanted_error_is_that_of_totals_too(tmp_path, ledger, group):
    """Where no row is of a finest group, no value had the bar that was told."""
    curator = dp.open(PEOPLE | {"ledger": ledger}, directory=tmp_path, visits=frame(ROWS), refresh=True)
    question = f"SELECT city, COUNT(*) AS n, SUM(age) AS s FROM visits GROUP BY {group}"
    quote = curator.quote(question, **{next(iter(ledger)): 1})
    answer = curator.answer(quote)
    for bar in bars(quote):
        widest = max(map(Fraction, answer.error(bar.title)))
        assert bar.error is not None
        assert widest - Fraction(1, 10**9) <= bar.error <= widest + 1  # which is shown to the nearest double
    wanted = curator.quote(question, within={"n": 4, "s": 300}, cut=False)
    met = curator.answer(wanted)
    assert max(met.error("n")) <= 4
    assert max(met.error("s")) <= 300
    holds(curator, met, [answer.receipt])


def test_totals_are_part_of_the_work_that_is_limited():
    """Each set is added up over all groups: 64 of them over a million groups take minutes, and are refused before."""
    keys = "age, FLOOR(age / 2), FLOOR(age / 3)"
    planned(f"SELECT COUNT(*) AS n FROM visits GROUP BY {keys}")
    with pytest.raises(Refusal, match="too many keys for what is asked"):
        planned(f"SELECT COUNT(*) AS n, SUM(age) AS s, AVG(cost) AS a FROM visits GROUP BY CUBE({keys})")
