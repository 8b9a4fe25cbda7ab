"""On neighbouring data everything but the noisy values is the same, byte for byte (semantics 7).

Two state directories are built through the public API from tables that differ in all rows of one unit. The same
questions go to both; compared are cost, keys, schema, order, quotes, menus, refusals, ledger events, receipts, and
what the shell prints before the noise. With the same noise in both, the released integers differ by the unit's share
and by nothing else.
"""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path
from typing import Any

import pytest
from house import NAMES, ROWS, opened, steady

import dpcurator as dp

QUESTIONS = [
    "SELECT COUNT(*) FROM visits",
    "SELECT COUNT(age), COUNT(DISTINCT who) AS people, AVG(gain), SUM(age) FROM visits",
    "SELECT city, COUNT(*) AS n, AVG(age) FROM visits GROUP BY city",
    "SELECT dose, seen, day, COUNT(*) FROM visits GROUP BY dose, seen, day",
    "SELECT city, SUM(gain) FROM visits WHERE age > 40 OR dose IS NULL GROUP BY city",
    "SELECT city, COUNT(*) FROM visits WHERE FALSE GROUP BY city",
    "SELECT AVG(gain) / (1 + COUNT(*)), ROUND(SUM(age), -1) FROM visits WHERE who = 'odd'",
    "SELECT city FROM visits GROUP BY city",
]
REFUSED = [
    "SELECT who FROM visits",
    "SELECT AVG(dose) FROM visits",
    "SELECT who, COUNT(*) FROM visits GROUP BY who",
    "SELECT COUNT(*) FROM visits WHERE age = 'x'",
    "SELECT COUNT(*) FROM visits WHERE NOSUCH(age - 7) > 0",
    "SELECT COUNT(*) FROM nowhere",
    "SELECT MAX(age) FROM visits",
]
ODD: list[list[tuple[Any, ...]]] = [
    [("odd", "Leeds", 7, 0.5, True, "2024-02-29", 0.0)],
    [("odd", "Zrare", 2**63 - 1, math.inf, None, "9999-12-31", math.nan)],
    [("odd", city, None, math.nan, False, None, -0.0) for city in ("Leeds", "York", "Hull", None)],
    [("odd", "York", 100, 2.5, True, "2024-02-29", 1.5)] * 500,
]


@pytest.fixture(scope="module", params=range(len(ODD)))
def neighbours(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two directories named alike: one without the odd unit, one with it, and one signing key."""
    root = tmp_path_factory.mktemp("neighbours")
    places = [root / side / "clinic" for side in ("without", "with")]
    for place, rows in zip(places, (ROWS, ROWS + ODD[request.param]), strict=True):
        place.mkdir(parents=True)
        (place / "visits.csv").write_text(_csv(rows))
        (place / "curator.toml").write_text(TOML)
        if place is not places[0]:
            (place / ".dpcurator").mkdir()
            for name in ("signing.key", "ledger.db"):  # a ledger of no questions yet
                shutil.copy2(places[0] / ".dpcurator" / name, place / ".dpcurator" / name)
        from dpcurator.catalog.load import load
        from dpcurator.curator.opening import refresh_all

        refresh_all(load(place / "curator.toml"))
    shutil.copy2(places[0] / ".dpcurator" / "ledger.db", root / "empty.db")
    return places


TOML = """\
[curator]
protects = "people"
[ledger]
epsilon = 10
[tables.visits]
file = "visits.csv"
unit = "who"
max_rows = 2
max_groups = 1
[tables.visits.columns]
who = "text"
city = { type = "text", keys = ["Leeds", "York", "Hull"] }
age = { type = "integer", bounds = [0, 100] }
gain = { type = "float", bounds = [-1.5, 2.5] }
seen = "boolean"
day = { type = "date", keys = ["2024-02-29"] }
dose = { type = "float", keys = [0.0, 1.5], keys_include_missing = true }
"""


def _csv(rows: list[tuple[Any, ...]]) -> str:
    lines = [",".join("" if value is None else str(value) for value in row) for row in rows]
    return "\n".join([",".join(NAMES), *lines]) + "\n"


def both(places: list[Path], seeds: tuple[int, int] = (1, 1)) -> list[dp.Curator]:
    for place in places:
        for ledger in (place / ".dpcurator").glob("ledger.db*"):
            ledger.unlink()
        shutil.copy2(place.parents[1] / "empty.db", place / ".dpcurator" / "ledger.db")
    return [steady(dp.open(place / "curator.toml"), seed) for place, seed in zip(places, seeds, strict=True)]


def said(curator: dp.Curator, question: str, **price: Any) -> Any:
    """What a refused question says, or the answer."""
    try:
        return curator.ask(question, **price)
    except dp.DpcuratorError as error:
        return type(error).__name__, str(error), error.as_json()


def test_catalog_quotes_menus_and_prices_are_the_same(neighbours):
    one, other = both(neighbours)
    assert one.catalog == other.catalog
    for question in QUESTIONS:
        for price in ({"epsilon": "0.3"}, {"spend": "5%"}):
            left, right = one.quote(question, **price), other.quote(question, **price)
            assert left == right
            assert json.dumps(left.as_json()) == json.dumps(right.as_json())
        assert str(one.menu(question)) == str(other.menu(question))
        assert json.dumps(one.menu(question).as_json()) == json.dumps(other.menu(question).as_json())
    within: dict[str, Any] = {"within": {"n": 30}, "assume_count": 100}
    assert one.quote(QUESTIONS[2], **within) == other.quote(QUESTIONS[2], **within)


def test_refusals_are_the_same_and_charge_nothing(neighbours):
    one, other = both(neighbours)
    for question in REFUSED:
        left, right = said(one, question, epsilon="0.1"), said(other, question, epsilon="0.1")
        assert left == right
        assert left[0] == "Refusal"
    for price in ({}, {"epsilon": 11}, {"within": {"n": 3}}, {"epsilon": "x"}):
        assert said(one, QUESTIONS[0], **price) == said(other, QUESTIONS[0], **price)
    assert [one.budget().spent, other.budget().spent] == [0, 0]


def test_schema_keys_order_costs_and_notes_are_the_same_whatever_the_noise(neighbours):
    one, other = both(neighbours, (3, 4))
    for question in QUESTIONS:
        left, right = one.ask(question, epsilon="0.1"), other.ask(question, epsilon="0.1")
        for seen in ("columns", "shown", "notes", "confidence", "cost", "spent", "remaining", "receipt_id"):
            assert getattr(left, seen) == getattr(right, seen), seen
        assert len(left.rows) == len(right.rows)
        keys = [i for i, shown in enumerate(left.shown) if shown not in ("whole", "number", "truth")]
        assert [[row[i] for i in keys] for row in left.rows] == [[row[i] for i in keys] for row in right.rows]
        for title, shown in zip(left.columns, left.shown, strict=True):
            if shown == "whole":  # parameters give the bar; rounding the noisy value moves it by half at most
                errors = zip(left.error(title), right.error(title), strict=True)
                assert all(abs(a - b) <= 0.5 for a, b in errors)
        for a, b in zip(left.cells, right.cells, strict=True):
            assert [(type(x.value), x.error is None) for x in a] == [(type(x.value), x.error is None) for x in b]


def test_with_the_same_noise_answers_differ_by_the_units_share_alone(neighbours):
    """And so the noise drawn, its amount and its order do not depend on data."""
    one, other = both(neighbours)
    for question in QUESTIONS[:3]:
        quote = one.quote(question, epsilon=1)
        left, right = one.answer(quote), other.answer(quote)
        for row, same in zip(left.cells, right.cells, strict=True):
            for cell, twin, shown in zip(row, same, left.shown, strict=True):
                if shown == "whole":
                    assert abs(cell.value - twin.value) <= 200  # max_rows * 100, the most any sum here can move
    assert one.entropy.bits(64) == other.entropy.bits(64)  # as many bits were drawn


def test_ledger_events_are_the_same_but_for_the_answers_hash(neighbours):
    one, other = both(neighbours, (5, 6))
    for curator in (one, other):
        for question in QUESTIONS:
            curator.ask(question, epsilon="0.1")
            curator.ask(question, epsilon="0.1")
            curator.ask(question, epsilon="0.1", fresh=True, analyst="eve")
        for question in REFUSED:
            said(curator, question, epsilon="0.1")
        said(curator, QUESTIONS[0], epsilon=9)
        with pytest.raises(dp.OverBudget):
            curator.ask("SELECT COUNT(*) AS m FROM visits", epsilon=9)
    left, right = list(one.log()), list(other.log())
    assert len(left) == len(right) > 2 * len(QUESTIONS)
    for a, b in zip(left, right, strict=True):
        assert (a.position, a.time) == (b.position, b.time)
        fields = type(a.event).__slots__
        hidden = {"answer"} if type(a.event).__name__ == "Answered" else set()
        assert {f: getattr(a.event, f) for f in fields if f not in hidden} == {
            f: getattr(b.event, f) for f in fields if f not in hidden
        }
    assert one.budget() == other.budget()


def test_receipts_are_the_same_but_for_the_answers_hash(neighbours):
    one, other = both(neighbours, (7, 8))
    for question in QUESTIONS[:-1]:
        left, right = one.ask(question, epsilon="0.2").receipt, other.ask(question, epsilon="0.2").receipt
        assert left is not None
        assert right is not None
        for receipt in (left, right):
            for varies in ("answer_sha256", "signature"):
                assert len(receipt.pop(varies)) in (64, 128)
            assert len(receipt["ledger"].pop("head")) == 64  # it follows the answers before it
        assert json.dumps(left) == json.dumps(right)


def test_what_the_shell_prints_before_the_noise_is_the_same(neighbours, monkeypatch, capsys):
    from dpcurator.cli import parser

    both(neighbours)
    commands = [["quote", question, "--epsilon", "0.1", *how] for question in QUESTIONS for how in ([], ["--json"])]
    commands += [["ask", question] for question in QUESTIONS[:-1]] + [["ask", QUESTIONS[2], "--json"]]
    commands += [["ask", question, "--epsilon", "0.1"] for question in REFUSED]
    commands += [["budget"], ["budget", "--json"], ["ask", QUESTIONS[0], "--epsilon", "11"], ["check"]]
    printed: list[list[Any]] = []
    for place in neighbours:
        monkeypatch.chdir(place)
        out: list[Any] = []
        for command in commands:
            with pytest.raises(SystemExit) as end:
                parser()(command, prog_name="dpcurator")
            out.append((command, end.value.code, *capsys.readouterr()))
        printed.append(out)
    assert printed[0] == printed[1]


def test_public_files_beside_the_catalog_are_the_same(neighbours):
    """`facts.json` is what a refresh makes public; names of files say nothing either."""
    both(neighbours)
    states = [place / ".dpcurator" for place in neighbours]
    assert len({(state / "facts.json").read_bytes() for state in states}) == 1
    assert sorted(p.name for p in states[0].iterdir()) == sorted(p.name for p in states[1].iterdir())


def test_rows_in_another_order_give_the_same_integers(tmp_path):
    """attacks 8 and 34: with the same noise the answers are equal, so order, ties and first appearance say nothing."""
    one = steady(opened(tmp_path / "a", ROWS))
    other = steady(opened(tmp_path / "b", list(reversed(ROWS))))
    for question in QUESTIONS:
        assert one.ask(question, epsilon=1).rows == other.ask(question, epsilon=1).rows
