"""A date without bounds whose far ends decide a sum, an average or the list of groups: refused, with the cure (D8).

A day that nobody bounds may be any of the years 1 to 9999. Where the ends of an expression rest on that, its noise must
hide as much, and its groups are as many: a bar or a list of no use to anybody.

Rule      Refused is what would lie between ends less than half as far apart if such columns were in the years 1800 to
          2200. So `MONTH(d)`, `CASE WHEN d < '2020-01-01' ...`, and a difference of days under CLIP or LEAST are
          answered, COUNT of anything is, and a column inside CLIP has the ends that its author chose.
Checked   tests/plan/test_undated.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Final

from dpcurator.catalog.model import Catalog, Column, Table
from dpcurator.errors import Mend, Refusal
from dpcurator.language.days import DAY
from dpcurator.language.intervals import bounds
from dpcurator.language.names import quote
from dpcurator.language.question import Call, Literally, Name, Syntax, inside, with_parts
from dpcurator.language.render import words
from dpcurator.language.rows import Compute, Expression, Field, Operand, parts_of
from dpcurator.plan.relation_facts import facts
from dpcurator.plan.relations import Relation

FIRST, LAST = Fraction(-62091), Fraction(84006)  # the days of 1800 to 2200, from 1970
ENDS: Final = {"date": ("2000-01-01", "2030-12-31"), "timestamp": ("2000-01-01T00:00:00Z", "2030-12-31T23:59:59Z")}
BOUNDS: Final = {type: f'["{first}", "{last}"]' for type, (first, last) in ENDS.items()}  # as a catalog has them


def undated(column: Column) -> bool:
    """Whether it may be any day at all, by what is declared of it."""
    return column.type in ENDS and column.lower is None and column.keys is None


def check_dated(
    part: Operand, asked: Syntax, function: str, table: Table, relation: Relation, catalog: Catalog, *, where: str
) -> None:
    """Raise Refusal where the ends of `part` rest on a date without bounds. asked: the part as it was written;
    function: the aggregate it stands in, "" in GROUP BY."""
    if not any(undated(column) for one in catalog.tables for column in one.columns):
        return
    wide, loose = bounds(part, table), set(_outside_clips(part))
    if wide is None or not loose:
        return
    dated = facts(relation, _dated(catalog)).table.columns
    within = replace(table, columns=tuple(
        dated[number] if number in loose else column for number, column in enumerate(table.columns)))
    near = bounds(part, within)
    if near is None or wide[1] - wide[0] <= 2 * (near[1] - near[0]):
        return
    raise _refusal(asked, function, [table.columns[number] for number in sorted(loose)], table, catalog, where)


def _outside_clips(part: Operand) -> Iterator[int]:
    """The columns of an expression where they stand in no CLIP."""
    left: list[Expression] = [part]
    while left:
        one = left.pop()
        if isinstance(one, Field):
            yield one.index
        elif not isinstance(one, Compute) or one.function != "clip":
            left += reversed(parts_of(one))


def _dated(catalog: Catalog) -> Catalog:
    """The catalog as if its days without bounds were of 1800 to 2200."""
    def column(one: Column) -> Column:
        day = DAY if one.type == "timestamp" else 1
        return replace(one, lower=FIRST * day, upper=LAST * day) if undated(one) else one

    return replace(catalog, tables=tuple(
        replace(table, columns=tuple(map(column, table.columns))) for table in catalog.tables))


def _refusal(asked: Syntax, function: str, loose: list[Column], table: Table, catalog: Catalog, at: str) -> Refusal:
    over = words(asked)
    what = f"{function}({over or '...'})" if function else f"GROUP BY {over or '...'}"
    column = next((one for one in loose if undated(one)), None)
    why = f"{what} rests on days that may be any of the years 1 to 9999"
    if column is None:  # made of days, in a subquery
        clip = f"{function}(CLIP({over or 'x'}, 0, 100))" if function else f"CLIP({over or 'x'}, 0, 100)"
        return Refusal(
            f"{why}: a column of the subquery's tables has no bounds.", where=at,
            cure=f"Write {clip}, with ends from public knowledge.",
            mends=() if over is None or not function else (Mend(clip, what, "all words"),),
        )
    clipped = words(clipped_days(asked, [column]))
    mends = () if over is None or clipped is None else (Mend(clipped, over, "all words"),)
    cure = f"Write {clipped or f'CLIP({quote(column.name)}, ...)'}, with ends from public knowledge."
    if table in catalog.tables:
        header = f"[tables.{quote(table.name)}.columns]"
        line = f'{quote(column.name)} = {{ type = "{column.type}", bounds = {BOUNDS[column.type]} }}'
        mends = (*mends, Mend(line, header, "catalog"))
        cure += f" Or the steward declares bounds in the catalog, under {header}: {line}."
    return Refusal(f"{why}: {quote(column.name)} has no bounds.", where=at, cure=cure, mends=mends)


def clipped_days(part: Syntax, columns: Sequence[Column]) -> Syntax:
    """The expression with each of the columns in CLIP, wherever it stands outside one."""
    if isinstance(part, Name):
        type = next((one.type for one in columns if part.column.lower() == one.name.lower()), None)
        return part if type is None else Call("CLIP", (part, *(Literally(end, type.upper()) for end in ENDS[type])))
    if isinstance(part, Call) and part.function == "CLIP":
        return part
    return with_parts(part, [clipped_days(inner, columns) for inner in inside(part)])
