"""What is likely a mistake in a question, from public facts alone, so that it is said before anything is charged.

- A column with listed keys is compared with a value that is none of them (D4): rows may have other values, so it is no
  refusal; the key that it may have been meant for is named.
- A number is compared with one beyond the bounds of its column: values may be beyond them, and are not expected to be.
- The error bar of a count is wider than an average group is expected to be (D7), by the public number of units; the one
  of an average reaches from bound to bound, in a group of as many rows, or of 10,000 where no number is public.
- With unknown keys, the group that is shown with an even probability is larger than all units are expected to be (D5).

Checked in tests/pricing/test_cautions.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Final

from dpcurator.catalog.model import Catalog, Column, Table, Value
from dpcurator.errors import closest
from dpcurator.language.names import quote as named
from dpcurator.language.rows import Among, Compare, Constant, Field, Operand, Predicate, walk
from dpcurator.numbers import decimal_text
from dpcurator.numbers.text_table import printable
from dpcurator.plan.nodes import Plan, Result, Where, measured_of
from dpcurator.plan.relation_facts import table_of
from dpcurator.pricing.selecting import Selecting

MOST: Final = 20  # cautions of what is compared
Count = tuple[str, str, Fraction]  # the title of a column that is a count, its error bar in words and as a number


def cautions(
    plan: Plan, catalog: Catalog, selecting: Selecting | None, counts: Sequence[Count], averages: Sequence[Count] = (),
) -> tuple[str, ...]:
    """A sentence for each, none where nothing looks like a mistake. counts, averages: see `counted`, `averaged`."""
    table = table_of(plan, catalog)
    compared = comparisons(plan, table)
    return (*_averages(plan, averages), *compared, *_sizes(plan, catalog, table, selecting, counts))


def counted(plan: Plan) -> frozenset[str]:
    """The titles of the columns that are a count alone."""
    alone = [one for one in plan.outputs if isinstance(one.part, Result)]
    return frozenset(one.title for one in alone if isinstance(one.part, Result)
                     and plan.calls[one.part.index].function.startswith("COUNT"))


def averaged(plan: Plan) -> frozenset[str]:
    """The titles of the columns that are an average alone."""
    alone = [one for one in plan.outputs if isinstance(one.part, Result)]
    return frozenset(one.title for one in alone if isinstance(one.part, Result)
                     and plan.calls[one.part.index].function == "AVG")


def _averages(plan: Plan, averages: Sequence[Count]) -> Iterator[str]:
    calls = {one.title: plan.calls[one.part.index] for one in plan.outputs if isinstance(one.part, Result)}
    for title, bar, error in averages:
        column = calls[title].column
        if column is None or column.lower is None or column.upper is None or column.lower == column.upper:
            continue
        if 2 * error >= column.upper - column.lower:
            ends = f"{decimal_text(column.lower)} to {decimal_text(column.upper)}"
            yield f"{bar} of {printable(title)} is as wide as its bounds, {ends}: it would tell next to nothing"


def comparisons(plan: Plan, table: Table) -> tuple[str, ...]:
    """Of values that are no keys, and of numbers beyond bounds: the first `MOST`, since each looks through its keys."""
    below = plan.source.source.source
    looked: list[Predicate | Operand] = [below.predicate] if isinstance(below, Where) else []
    looked += [one.part for one in measured_of(plan)]
    listed: dict[int, frozenset[Value]] = {}  # the keys of the columns that are compared
    found: dict[str, None] = {}
    for part in (inner for one in looked for inner in walk(one)):
        pairs: list[tuple[object, Constant]] = []
        if isinstance(part, Compare) and part.op in ("=", "<>"):
            pairs = [(one, other) for one, other in ((part.left, part.right), (part.right, part.left))
                     if isinstance(other, Constant)]
        elif isinstance(part, Among):
            pairs = [(part.operand, value) for value in part.values]
        for one, constant in pairs:
            if isinstance(one, Field) and len(found) < MOST:
                column = table.columns[one.index]
                if one.index not in listed:
                    listed[one.index] = frozenset(column.keys or ())
                if constant.value not in listed[one.index]:
                    found |= dict.fromkeys(_unlisted(column, constant.value))
        if isinstance(part, Compare):
            found |= dict.fromkeys(_beyond(part, table))
    return tuple(found)[:MOST]


def _unlisted(column: Column, value: Value) -> Iterator[str]:
    """`value`, which is no key of the column, is compared with it for equality."""
    if column.keys is None or column.type not in ("text", "integer", "uuid"):
        return
    words = f"{value!r} is no key of {named(column.name)}, so perhaps no row has it"
    texts = [key for key in column.keys if isinstance(key, str)]
    if isinstance(value, str) and texts:
        close = closest(value.strip(), texts)
        words += f"; did you mean {close[0]!r}?" if close else ""
    yield printable(words)


def _beyond(part: Compare, table: Table) -> Iterator[str]:
    """A column is compared with a number that is beyond its bounds."""
    for one, other in ((part.left, part.right), (part.right, part.left)):
        if not (isinstance(one, Field) and isinstance(other, Constant) and isinstance(other.value, int | float)):
            continue
        column = table.columns[one.index]
        if column.type not in ("integer", "float") or column.lower is None or column.upper is None:
            continue
        if not column.lower <= other.value <= column.upper:
            ends = f"{decimal_text(column.lower)} to {decimal_text(column.upper)}"
            yield f"{named(column.name)} is compared with {other.value!r}, and its bounds are {ends}"


def _sizes(
    plan: Plan, catalog: Catalog, table: Table, selecting: Selecting | None, counts: Sequence[Count]
) -> Iterator[str]:
    units, who = catalog.units_expected(table), printable(catalog.protects)
    if units is None:
        return
    if selecting is not None:
        half = selecting.sizes()[0]
        if half is None or half > units:
            size = "more than a million" if half is None else f"{half:,}"
            words = f"a group is shown with probability 0.5 only from {size} {who} on"
            yield f"{words}; {units:,} are expected in all"
        return
    groups = plan.source.source.keys
    for title, bar, error in counts:
        if groups > 1 and error * groups >= units:
            yield (f"{bar} of {printable(title)} is wider than an average group: {units:,} {who} in {groups:,} groups "
                   f"are {max(1, units // groups):,} each")
