"""A small catalog, and random questions of it, for tests of plan, fronts, pricing, answers and receipts.

`VISITS` is a table of visits by people, `ROWS` one in which each row is a unit. `questions()` draws SQL texts that bind
under CATALOG. `answered` runs a question end to end on the reference engine, without a ledger.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from dpcurator.aggregates import AGGREGATES
from dpcurator.catalog.model import EACH_ROW, Catalog, Column, Table, Value
from dpcurator.engines.limits import check_core
from dpcurator.engines.reference import Reference
from dpcurator.entropy import SystemEntropy
from dpcurator.fronts.sql import parse
from dpcurator.plan.bind import bind
from dpcurator.plan.nodes import Plan
from dpcurator.pricing.quote import Quote, price
from dpcurator.release.finish import finish
from dpcurator.release.release import Noisy, release

F = Fraction
CERTAIN = F(10) ** 12  # an epsilon at which counts and sums of integers are exact, but for less than 2**-64

VISITS = Table(
    "visits",
    (
        Column("patient", "text"),
        Column("city", "text", keys=("Hull", "Leeds", "York")),
        Column("age", "integer", F(0), F(110)),
        Column("cost", "float", F(0), F(20000)),
        Column("gain", "float", F(-3, 10), F(7, 10)),
        Column("day", "date", keys=(19000, 19001)),
        Column("at", "timestamp"),
        Column("smoker", "boolean", keys=(0, 1)),
        Column("ward", "integer", keys=(None, 1, 2)),
        Column("code", "uuid"),
        Column("net-gain", "integer", F(-50), F(10000)),
        Column("note", "text"),
    ),
    "patient", max_rows=4, max_groups=2,
)
ROWS = Table("rows", (Column("x", "integer", F(-5), F(9)), Column("g", "text", keys=("a", "b"))), EACH_ROW)


def catalog_with(*tables: Table, epsilon: int = 4) -> Catalog:
    """A catalog of these tables."""
    return Catalog("people", "add-remove", None, F(epsilon), F(0), tables, "c" * 64, 1)


CATALOG = catalog_with(VISITS, ROWS, Table("cities", (Column("city", "text"),), None))


def seen(quote: Quote, readings: tuple[tuple[int, ...], ...]) -> Noisy:
    """These noisy readings of the quote's listed keys."""
    return Noisy(quote.lowered.keys, readings)


def planned(text: str, catalog: Catalog = CATALOG) -> Plan:
    """The plan of an SQL text. Raises Refusal."""
    return bind(parse(text), catalog, AGGREGATES)


def quoted(text: str, epsilon: Fraction | int | str = 1, catalog: Catalog = CATALOG, **more: Any) -> Quote:
    """The text at a price; what the curator checks of a quote is checked."""
    quote = price(planned(text, catalog), F(epsilon), catalog, **more)
    if quote.priced:
        check_core(quote.lowered.core)
    return quote


def answered(
    text: str,
    columns: Mapping[str, Sequence[Value]],
    catalog: Catalog,
    epsilon: Fraction | int = CERTAIN,
    engine: Any = Reference,
) -> list[tuple[Any, ...]]:
    """The values of the answer over the first table of the catalog. columns: by their declared names."""
    stored = {f"c{i}": list(columns[column.name]) for i, column in enumerate(catalog.tables[0].columns)}
    quote = quoted(text, epsilon, catalog)
    if not quote.priced:
        return [tuple(cell.value for cell in row) for row in finish(quote, None)]
    noisy = release(quote, engine({"t0": stored}).evaluate(quote.lowered.core), SystemEntropy())
    return [tuple(cell.value for cell in row) for row in finish(quote, noisy)]


def with_column(table: Table, name: str, /, **facts: Any) -> Table:
    """The table with some facts of one column declared otherwise."""
    columns = tuple(replace(column, **facts) if column.name == name else column for column in table.columns)
    return replace(table, columns=columns)


_CALLS = ("COUNT(*)", "COUNT(age)", "COUNT(note)", "COUNT(DISTINCT patient)", "SUM(age)", "SUM(cost)", "SUM(gain)",
          "AVG(age)", "AVG(cost)", "AVG(gain)", 'SUM("net-gain")', "AVG(smoker)", "SUM(smoker)",
          "VAR_POP(age)", "STDDEV(cost)", "COVAR_SAMP(age, cost)", "CORR(gain, smoker)", "REGR_SLOPE(cost, age)",
          "REGR_COUNT(age, gain)", "VARIANCE(smoker) FILTER (WHERE age > 9)",
          "SUM(age * 2 - 1)", "AVG(CASE WHEN smoker THEN 1 ELSE 0 END)", "COUNT(*) FILTER (WHERE age % 2 = 0)",
          "SUM(CLIP(cost / 100, 0, 9))", "SUM(LENGTH(TRIM(city)) > 4)",
          "SUM(CAST(smoker AS INTEGER))", "COUNT(CAST(code AS TEXT))", "AVG(CAST(age AS BOOLEAN))",
          "SUM(CAST(cost AS INTEGER))", "COUNT(CAST(at AS DATE))", "COUNT(CAST(note AS DATE))")
_KEYS = (
    "city",
    "day",
    "smoker",
    "ward",
    "FLOOR(age / 50) * 50",
    "LEFT(city, 1)",
    "DATE_TRUNC('year', day)",
    "CAST(ward AS TEXT)",
    "CAST(day AS TIMESTAMP)",
    "CAST(age > 9 AS INTEGER)",
)
_CONDITIONS = ("age > 30", "age <= 64.5", "cost < 0.1", "city = 'Leeds'", "city IN ('York', 'Hull', NULL)",
               "note IS NULL", "day >= '2022-01-08'", "NOT smoker", "age BETWEEN 3 AND 99",
               "at < TIMESTAMP '2024-01-01T00:00:00Z'",
               "age = ward", "cost >= age", "code <> '00000000-0000-0000-0000-000000000001'", "TRUE", "age = 0.5",
               "ward IN (1, 2, 3.5)", "age < 1e30", "note <> 'it''s'", "(age + 1) % 2 = 0",
               "note LIKE 'a!_%' ESCAPE '!'",
               "COALESCE(ward, 0) * 2 > age / 3", "CASE WHEN smoker THEN age > 3 ELSE ward IS NULL END",
               "DATE_TRUNC('month', day) = '2022-01-01'", "city || 'x' IS DISTINCT FROM LOWER(note)")


@st.composite
def expressions(draw: st.DrawFn, depth: int = 2) -> str:
    """Arithmetic on aggregates."""
    if depth == 0 or draw(st.integers(0, 2)) == 0:
        return draw(st.sampled_from((*_CALLS, *_CALLS, "2", "0.5", "-3", "100.0", "0")))
    left, right = draw(expressions(depth - 1)), draw(expressions(depth - 1))
    form = draw(st.sampled_from(("{0} + {1}", "{0} - {1}", "({0}) * ({1})", "({0}) / ({1})", "-({0})", "ABS({0})",
                                 "SQRT({0})", "FLOOR({0})", "CEIL({0})",
                                 "LEAST({0}, {1})", "GREATEST({0}, {1})",
                                 "ROUND({0})", "ROUND({0}, 2)", "COALESCE({0}, {1})", "NULLIF({0}, {1})",
                                 "CAST({0} AS DOUBLE)", "CAST({0} AS INTEGER)")))
    return form.format(left, right)


@st.composite
def questions(draw: st.DrawFn) -> str:
    """A text that binds under CATALOG."""
    keys = draw(st.lists(st.sampled_from(_KEYS), unique=True, max_size=2))
    items = [*keys, *draw(st.lists(expressions(), min_size=1, max_size=3))]
    items[-1] = f"{items[-1]} AS last"
    items.append(draw(st.sampled_from(_CALLS)))
    conditions = draw(st.lists(st.sampled_from(_CONDITIONS), max_size=3))
    text = f"SELECT {', '.join(items)} FROM visits"
    if conditions:
        text += " WHERE " + draw(st.sampled_from((" AND ", " OR "))).join(conditions)
    if keys:
        text += f" GROUP BY {', '.join(keys)}"
    if draw(st.booleans()):
        text += f" HAVING {draw(st.sampled_from(_CALLS))} > {draw(st.integers(-5, 50))}"
    if draw(st.booleans()):
        text += f" ORDER BY {draw(st.sampled_from(('last', '1', *_CALLS)))} {draw(st.sampled_from(('ASC', 'DESC')))}"
    if draw(st.booleans()):
        text += f" LIMIT {draw(st.integers(0, 4))} OFFSET {draw(st.integers(0, 2))}"
    return text
