"""Finishing: the interval holds the noise-free value; no integers make it raise; order and NULL as in SQL."""

from __future__ import annotations

from fractions import Fraction as F

import pytest
from questions import VISITS, catalog_with, planned, quoted, seen, with_column

from dpcurator.numbers.display import nearest_double
from dpcurator.numbers.interval import Interval
from dpcurator.plan.nodes import Output, Result
from dpcurator.release.cells import key_value, shown_cell
from dpcurator.release.finish import finish
from dpcurator.values import Cell

HUGE = [0, 1, -1, 2**64, -(2**127), 10**400, -(10**400), 10**400 - 1]


@pytest.mark.parametrize("noisy", [0, 3, -3, 10**400])
@pytest.mark.parametrize(
    "part",
    ["COUNT(*) / 0", "0 / COUNT(*)", "COUNT(*) / COUNT(*)", "NULLIF(COUNT(*), 3)", "COALESCE(NULL, COUNT(*))",
    "NULL + COUNT(*)",
     "ROUND(COUNT(*) / 7, -30)", "ROUND(NULL)", "ABS(NULL)", "COUNT(*) > NULL", "NOT (COUNT(*) > NULL)",
     "COUNT(*) IS NULL",
     "COUNT(*) IN (1, NULL)", "DATE '9999-12-31'", "TIMESTAMP '0001-01-01T00:00:00Z'",
     "DATE '2024-01-01' < DATE '2024-01-02'",
     "'x' = 'y'", "TRUE = FALSE", "COUNT(*) * 1e900 * 1e900", "COUNT(*) / 1e900",
     "COALESCE(1 / NULLIF(COUNT(*), 3), 5)",
     "-COUNT(*) * -1e-300 * 1e-300"],
)
def test_expressions_at_the_edges_finish(part, noisy):
    quote = quoted(f"SELECT {part} AS p, COUNT(*) FROM visits ORDER BY p")
    (row,) = finish(quote, seen(quote, ((noisy * quote.reach.one,),)))
    assert row[1].value == noisy


def cells(text: str, *noisy: tuple[int, ...], catalog=None):
    """Rows of values for readings in whole rows (counts) or steps."""
    quote = quoted(text) if catalog is None else quoted(text, 1, catalog)
    scaled = tuple(tuple(value * quote.reach.one for value in values) for values in noisy)
    return [tuple(cell.value for cell in row) for row in finish(quote, seen(quote, scaled))]


@pytest.mark.parametrize(
    ("text", "noisy", "rows"),
    [
        ("city, COUNT(*) FROM visits GROUP BY city", [(5, 9, 1)], [("Hull", 5), ("Leeds", 9), ("York", 1)]),
        ("city FROM visits GROUP BY city ORDER BY COUNT(*) DESC", [(5, 9, 1)], [("Leeds",), ("Hull",), ("York",)]),
        ("city FROM visits GROUP BY city ORDER BY city DESC LIMIT 1", [], [("York",)]),
        ("city FROM visits GROUP BY city LIMIT 5 OFFSET 2", [], [("York",)]),
        ("city FROM visits GROUP BY city LIMIT 0", [], []),
        ("city FROM visits GROUP BY city OFFSET 99999999999999999999", [], []),
        ("city FROM visits GROUP BY city HAVING COUNT(*) > 4", [(5, 9, 1)], [("Hull",), ("Leeds",)]),
        ("city FROM visits GROUP BY city HAVING NULL > 4", [], []),
        ("city FROM visits GROUP BY city HAVING city <> 'Hull' OR COUNT(*) = 5", [(5, 9, 1)], [("Hull",),
        ("Leeds",), ("York",)]),
        ("ward, COUNT(*) FROM visits GROUP BY ward ORDER BY ward DESC", [(7, 8, 9)], [(2, 9), (1, 8), (None, 7)]),
        ("ward FROM visits GROUP BY ward ORDER BY ward NULLS LAST", [], [(1,), (2,), (None,)]),
        ("ward FROM visits GROUP BY ward ORDER BY ward DESC NULLS FIRST", [], [(None,), (2,), (1,)]),
        ("ward FROM visits GROUP BY ward HAVING ward IS NOT NULL", [], [(1,), (2,)]),
        ("smoker FROM visits GROUP BY smoker HAVING smoker", [], [(True,)]),
        ("smoker FROM visits GROUP BY smoker HAVING NOT smoker", [], [(False,)]),
        ("smoker FROM visits GROUP BY smoker HAVING smoker = FALSE", [], [(False,)]),
        ("day FROM visits GROUP BY day HAVING day >= '2022-01-09'", [], [("2022-01-09",)]),
        ("day, smoker FROM visits GROUP BY day, smoker ORDER BY smoker DESC, day", [],
         [("2022-01-08", True), ("2022-01-09", True), ("2022-01-08", False), ("2022-01-09", False)]),
        ("COUNT(*) > 4, COUNT(*) / 2, COUNT(*) IS NULL, 7 FROM visits", [(5,)], [(True, 2.5, False, 7.0)]),
        ("100.0 * COUNT(age) / COUNT(*) FROM visits", [(3,), (0,)], [(None,)]),
        ("ROUND(COUNT(*) / 4, 1), ROUND(-COUNT(*) / 4, 1) FROM visits", [(5,)], [(1.3, -1.3)]),  # 1.25: away from zero
        ("COALESCE(1 / NULLIF(COUNT(*), 5), 8) FROM visits", [(5,)], [(8.0,)]),
        ("COUNT(*) FROM visits", [(-3,)], [(-3,)]),
        ("SQRT(COUNT(*)), FLOOR(COUNT(*) / 2), CEIL(-COUNT(*) / 2) FROM visits", [(9,)], [(3.0, 4.0, -4.0)]),
        ("SQRT(COUNT(*)), GREATEST(COUNT(*), 0), LEAST(COUNT(*), 2, 5) FROM visits", [(-3,)], [(None, 0.0, -3.0)]),
        ("LEAST(1 / (COUNT(*) - 3), 7), GREATEST(NULL, 1 / (COUNT(*) - 3)) FROM visits", [(3,)], [(7.0, None)]),
    ],
)
def test_rows_as_sql_gives_them(text, noisy, rows):
    assert cells(f"SELECT {text}", *noisy) == rows


def test_an_average_is_within_its_bounds_and_the_middle_where_nobody_is_counted():
    assert cells("SELECT AVG(age) FROM visits", (10**9,), (3,)) == [(110.0,)]
    assert cells("SELECT AVG(age) FROM visits", (-(10**9),), (3,)) == [(0.0,)]
    assert cells("SELECT AVG(age) FROM visits", (50,), (0,)) == [(55.0,)]
    assert cells("SELECT AVG(age) FROM visits", (50,), (-3,)) == [(55.0,)]
    assert cells("SELECT AVG(age) FROM visits", (60,), (3,)) == [(65.0,)]  # 55 + 60 / (2 * 3)
    constant = catalog_with(with_column(VISITS, "age", lower=F(7), upper=F(7)))
    assert cells("SELECT AVG(age) FROM visits", catalog=constant) == [(7.0,)]


def test_what_may_be_null_without_the_noise_has_no_bound():
    quote = quoted("SELECT COALESCE(1 / NULLIF(COUNT(*), 5), 8) AS c, SUM(age) / COUNT(*) AS m FROM visits")
    scaled = ((5 * quote.reach.one,), (7 * quote.reach.one,))
    ((first, second),) = finish(quote, seen(quote, scaled))
    assert (first.value, first.error, first.low, first.high) == (8.0, None, None, None)
    assert second.error is None


@pytest.mark.parametrize(
    ("value", "type", "shown"),
    [(19000, "date", "2022-01-08"), (-719162, "date", "0001-01-01"), (0, "timestamp", "1970-01-01T00:00:00Z"),
     (-1, "timestamp", "1969-12-31T23:59:59.999999Z"), (1, "boolean", True), (None, "text", None), (0.5, "float", 0.5),
     (F(3), "integer", 3), (10**12, "date", 10**12), (2**63 - 1, "timestamp", 2**63 - 1), ("x", "uuid", "x")],
)
def test_keys_are_shown_as_people_write_them(value, type, shown):
    assert key_value(value, type) == shown


def test_cells_round_outward_and_no_infinity_is_shown():
    third = Output("x", Result(0), "number")
    cell = shown_cell(third, Interval(F(1, 3), F(1, 3) - F(1, 10), F(1, 3) + F(1, 10)))
    assert F(cell.low) <= F(1, 3) - F(1, 10)
    assert F(cell.high) >= F(1, 3) + F(1, 10)
    huge = shown_cell(third, Interval(F(10) ** 400, F(10) ** 399, F(10) ** 401))
    assert huge == Cell(nearest_double(F(10) ** 400), None, nearest_double(F(10) ** 400), None)
    assert nearest_double(-(F(10) ** 400)) == -nearest_double(F(10) ** 400) < -1.7e308
    assert shown_cell(third, Interval(None, None, None)) == Cell(None)
    whole = shown_cell(Output("n", Result(0), "whole"), Interval.around(F(5, 2), F(1)))
    assert whole == Cell(3, 1.5, 1.5, 3.5)
    assert planned("SELECT COUNT(*) FROM visits").outputs[0].shown == "whole"
