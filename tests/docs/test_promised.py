"""Nothing public is without a promise: each mechanism, selection, filter, aggregate and function is in docs/guarantees.

The page `what-holds-which.md` has a line for each kind, its names, and the rows that hold them. A thing that is added
without a line fails here, and so does a line whose row is not there or speaks of another module.
"""

from __future__ import annotations

import re

import pytest
from guarantee import PAGES, every_row

import dpcurator as dp
from dpcurator.aggregates import AGGREGATES
from dpcurator.language.functions import ROW_FUNCTIONS
from dpcurator.mechanisms import MECHANISMS
from dpcurator.mechanisms.key_selection import SELECTIONS
from dpcurator.plan.outputs import FUNCTIONS as ON_ANSWERS

PLACE = "docs/guarantees/what-holds-which.md"
TEXT = (PAGES / "what-holds-which.md").read_text(encoding="utf-8")
ARGUMENTS = {"star": "*", "column": "x", "unit": "DISTINCT unit", "values": "DISTINCT x", "number": "x", "pair": "y, x",
             "ordered": "x, q"}
TITLES = ("mechanism", "selection of keys", "filter", "aggregate", "function of rows", "function of answers")


def filters() -> list[type]:
    """The public ways to spend a budget chosen along the way."""
    public = [getattr(dp, name) for name in dp.__all__ if not name.startswith("_")]
    return [one for one in public if getattr(one, "__module__", "") in
            ("dpcurator.accounting.filters", "dpcurator.accounting.odometer")]


def held(text: str) -> dict[tuple[str, str], list[str]]:
    """(kind, name) to the rows that hold it."""
    found: dict[tuple[str, str], list[str]] = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) == 3 and cells[0] in TITLES:
            for name in re.findall(r"`([^`]+)`", cells[1]):
                found.setdefault((cells[0], name), []).extend(re.findall(r"[A-Z]\d+", cells[2]))
    return found


HELD, PLACES = held(TEXT), {row.id: row.code for row in every_row()}
CLASSES = [("mechanism", one) for one in MECHANISMS]
CLASSES += [("selection of keys", one) for one in SELECTIONS] + [("filter", one) for one in filters()]
AGGREGATE_NAMES = list(dict.fromkeys(
    f"{one.function}({'x, k' if one.names else ARGUMENTS[one.argument]})" for one in AGGREGATES))
NAMES = [("aggregate", name) for name in AGGREGATE_NAMES]
NAMES += [("function of rows", name) for name in ROW_FUNCTIONS]
NAMES += [("function of answers", name) for name in ON_ANSWERS]


@pytest.mark.parametrize(("kind", "one"), CLASSES, ids=[one.__name__ for _, one in CLASSES])
def test_a_class_has_a_row_that_speaks_of_its_module(kind, one):
    rows = HELD.get((kind, one.__name__), [])
    assert rows, f"{PLACE} has no line for the {kind} {one.__name__}: add it there"
    file = one.__module__.removeprefix("dpcurator.").replace(".", "/") + ".py"
    folder = file.rpartition("/")[0] + "/"
    assert any(f"`{file}`" in PLACES[row] or f"`{folder}`" in PLACES[row] for row in rows if row in PLACES)


@pytest.mark.parametrize(("kind", "name"), NAMES, ids=[f"{kind}-{name}" for kind, name in NAMES])
def test_a_name_has_a_row(kind, name):
    assert HELD.get((kind, name)), f"{PLACE} has no line for the {kind} {name}: add it there"


def test_every_line_names_rows_that_are_there_and_things_that_are_public():
    known = {(kind, one.__name__) for kind, one in CLASSES} | set(NAMES)
    assert set(HELD) - known == set()
    assert [row for rows in HELD.values() for row in rows if row not in PLACES] == []


def test_aggregates_are_held_where_they_are_written():
    for name in AGGREGATE_NAMES:
        assert any("`aggregates/" in PLACES[row] for row in HELD["aggregate", name])


def test_what_is_left_out_is_noticed():
    text = "| kind | names | rows |\n|---|---|---|\n| mechanism | `A`, `B` | M1, M2 |\n"
    assert held(text) == {("mechanism", "A"): ["M1", "M2"], ("mechanism", "B"): ["M1", "M2"]}
    assert held("no such table") == {}


def test_every_row_is_of_tests_that_are_collected():
    """A function that no run collects holds nothing."""
    for row in every_row():
        for test in row.tests:
            _, _, name = test.partition("::")
            assert not name or name.startswith("test_"), f"{row.id}: {test}"
