"""A small catalog, and random questions of it, for tests of plan, fronts, pricing, answers and receipts.

`VISITS` is a table of visits by people, `ROWS` one in which each row is a unit. `drawn(seed)` is an SQL text that binds
under CATALOG. `answered` runs a question end to end on the reference engine, without a ledger.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from dpcurator.aggregates import AGGREGATES
from dpcurator.break_me.expressions import NAMING, ORDERED
from dpcurator.break_me.questions import question
from dpcurator.catalog.model import EACH_ROW, Catalog, Column, Table, Value
from dpcurator.engines.limits import check_core
from dpcurator.engines.reference import Reference
from dpcurator.entropy import SystemEntropy
from dpcurator.errors import Refusal
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


def bound(text: str, catalog: Catalog = CATALOG) -> Plan | None:
    """The plan of an SQL text; None where it is refused."""
    try:
        return planned(text, catalog)
    except Refusal:
        return None


def drawn(seed: int, catalog: Catalog = CATALOG) -> str:
    """A random question of one table that binds, by the generator of `dpcurator/break_me`, of no choice."""
    luck = random.Random(seed)
    while True:
        text = question(luck, luck.choice([table for table in catalog.tables if table.private])).text
        chosen = any(word in text for word in ("MEDIAN(", "MODE(", *ORDERED, *NAMING, "DESC LIMIT"))
        if not chosen and bound(text, catalog) is not None:
            return text
