"""Bounds that nobody knows, as one paid question: two quantiles over a public grid of all doubles (semantics 2.13).

A number x > 0 has the code floor(10 log10 x) + 3241, from 1 to 6331, which is infinity's; -x has minus that code, and 0
has 0. So codes are in the order of the numbers, ten to each power of ten, whatever the numbers are. The question is of
two quantiles of the codes, each chosen among all of them (aggregates/quantile.py), and of how many rows there are, each
unit counting as one row in all unless caps are given. It is charged, stored and repeated as any question is.

Declared bounds are not used: x goes through a division by 1 that interval arithmetic takes for one by anything between
-1 and 1, so that nothing is known of the quotient, and codes are clipped to the ends of the doubles alone.

The bounds shown are the outer edges of the two codes, rounded outward to two figures, never beyond the greatest number
that the column's type has: post-processing. Where the bar in rank is not below the wanted share of the noisy rows, the
noise may have moved an end to anywhere, and none is shown.
Checked in tests/curator/test_bounds.py.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any, Final

from dpcurator.catalog.model import EACH_ROW, Column, Table
from dpcurator.errors import Refusal
from dpcurator.numbers import decimal_text
from dpcurator.numbers.rational import INT64, Spelled, between_0_and_1
from dpcurator.numbers.text_table import printable
from dpcurator.pricing.offers import PricedAsking, known
from dpcurator.release.answer import Answer
from dpcurator.values import Json

LEAST: Final = -3240  # floor(10 log10 x) of the least double above 0, and of the greatest
MOST: Final = 3090
EACH: Final = 10  # codes to a power of ten
_GREATEST: Final = Decimal(repr(sys.float_info.max))
_LN10: Final = "2.302585092994046"
SHARE: Final = Fraction(1, 20)
FINEST: Final = 10**6  # parts in which a quantile's share is counted


@dataclass(frozen=True, slots=True)
class Asked:
    """Of which column, and what: share of the rows that may lie below, and as many above."""

    table: Table
    column: Column
    share: Fraction

    @property
    def sql(self) -> str:
        """The question."""
        x = '"' + self.column.name.replace('"', '""') + '"'
        free = f"({x} / CASE WHEN {x} IS NULL THEN -1 ELSE 1 END)"
        size = f"CLIP(FLOOR({EACH} * (LN(ABS({free})) / {_LN10})), {LEAST}, {MOST})"
        size = f"COALESCE({size}, {MOST}) + {1 - LEAST}"  # nothing but infinity is missing
        code = f"CASE WHEN {x} > 0 THEN {size} WHEN {x} < 0 THEN -({size}) WHEN {x} = 0 THEN 0 END"
        table, low, high = self.table.name.replace('"', '""'), self.share, 1 - self.share
        items = f"QUANTILE({code}, {decimal_text(low)}) AS low, QUANTILE({code}, {decimal_text(high)}) AS high"
        return f'SELECT COUNT({x}) AS n, {items} FROM "{table}"'


def asked_of(tables: Any, name: str, share: Spelled | None) -> Asked:
    """tables: by name. name: "visits.cost". Raises Refusal."""
    table, dot, column = str(name).rpartition(".")
    if not dot or not table:
        raise Refusal("bounds are those of a column, named with its table.", cure="Write it as in visits.cost.")
    try:
        found: Table = tables[table]
    except LookupError:
        raise Refusal(f"there is no table {printable(table)!r}.", cure="`dpcurator tables` lists them.") from None
    columns = {one.name: one for one in found.columns}
    if column not in columns:
        names = ", ".join(printable(one) for one in columns)
        raise Refusal(f"the table {printable(table)!r} has no column {printable(column)!r}.", cure=f"It has {names}.")
    if not found.private:
        raise Refusal(f"the table {printable(table)!r} is public: anybody may look at it.",
                      cure="Name a private table.")
    one = columns[column]
    if one.type not in ("integer", "float") or one.name == found.unit:
        of = "names the unit" if one.name == found.unit else f"is of type {one.type}"
        ends = "QUANTILE(CLIP(day, DATE '1900-01-01', DATE '2100-01-01'), 0.05)"
        cure = f"Of dates ask for {ends}." if one.type in ("date", "timestamp") else "Name a column of numbers."
        raise Refusal(f"{printable(column)!r} {of}, and bounds are found of numbers.", cure=cure)
    part = SHARE if share is None else between_0_and_1(share, name="share", like="0.05")
    if part >= Fraction(1, 2) or (part * FINEST).denominator > 1:
        raise Refusal("share is how many of the rows may lie beyond each end: below a half, of six places at most.",
                      cure="Write it as in 0.05.")
    return Asked(found, one, part)


def at_one_row(asked: Asked, given: PricedAsking) -> PricedAsking:
    """The keywords of a price, under which each unit counts as one row in all, where no caps are among them. Raises
    TypeError for others."""
    known(given, PricedAsking)
    capped = any(given.get(name) is not None for name in ("max_total", "max_rows", "max_groups"))
    return given if capped or asked.table.unit == EACH_ROW else {**given, "max_total": 1}


@dataclass(frozen=True, slots=True, repr=False)
class FoundBounds:
    """Bounds for a column, chosen privately. answer: the codes of the two ends, as they were paid for.

    Printed as the line to paste into the catalog; `bounds` is the two numbers, None where the noise hides them.
    """

    asked: Asked
    answer: Answer

    @property
    def hidden(self) -> bool:
        """Whether the noise may have moved an end to anywhere: a bar in rank as wide as the rows beyond it."""
        row = self.answer.cells[0]
        rows = row[0].value
        ranks = [cell.rank for cell in row[1:]]
        beyond = 0 if not isinstance(rows, int) else self.asked.share * rows
        return any(rank is None or Fraction(rank) >= beyond for rank in ranks)

    @property
    def bounds(self) -> tuple[Decimal, Decimal] | None:
        """The ends, rounded outward to two figures; of whole numbers, to whole ones."""
        if self.hidden:
            return None
        low, high = (int(cell.value) for cell in self.answer.cells[0][1:])  # type: ignore[arg-type]
        return self._end(low, up=False), self._end(max(low, high), up=True)

    def _end(self, code: int, *, up: bool) -> Decimal:
        """The edge of a code's numbers that lies further down, or up; within the numbers that the type has."""
        if code == 0:
            return Decimal(0)
        steps = abs(code) - 1 + LEAST
        outer = up == (code > 0)
        sign, rounding = (1 if code > 0 else -1), (ROUND_CEILING if outer else ROUND_FLOOR)
        power, tenths = divmod(steps + outer, EACH)
        size = Decimal(10) ** power * (Decimal(10) ** (Decimal(tenths) / EACH))
        found = sign * Context(prec=2, rounding=rounding).create_decimal(size)
        if self.asked.column.type == "integer":
            found = found.to_integral_value(ROUND_CEILING if up else ROUND_FLOOR)
            return min(max(found, Decimal(INT64.start)), Decimal(INT64.stop - 1))
        return min(max(found, -_GREATEST), _GREATEST)

    @property
    def line(self) -> str | None:
        """What to put into the catalog, in the place of the column's own line."""
        if self.bounds is None:
            return None
        name = self.asked.column.name
        plain = name.isascii() and name.replace("_", "a").replace("-", "a").isalnum()
        shown = name if plain else '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
        ends = ", ".join(_written(end, self.asked.column.type) for end in self.bounds)
        return f'{shown} = {{ type = "{self.asked.column.type}", bounds = [{ends}] }}'

    def as_json(self) -> Json:
        """For machines: the bounds, the line, and the answer with its receipt."""
        ends = None if self.bounds is None else [str(end) for end in self.bounds]
        return {"table": self.asked.table.name, "column": self.asked.column.name, "share": str(self.asked.share),
                "bounds": ends, "paste": self.line, "answer": self.answer.as_json()}

    def __str__(self) -> str:
        rows = self.answer.cells[0]
        rank = max((cell.rank or 0 for cell in rows[1:]), default=0)
        part = f"{decimal_text(self.asked.share * 100)} %"
        foot = "\n".join(self.answer.foot())
        if self.line is None:
            return (f"no bounds are shown: either end may be off by {rank:,.0f} rows, and {part} of about "
                    f"{rows[0].value:,} rows are fewer. A higher price, or a larger share, makes them clearer\n{foot}")
        told = f"under [tables.{printable(self.asked.table.name)}.columns], in the place of the column's line:"
        beside = f"about {part} of the rows lie beyond each end, ±{rank:,.0f} rows; those count as the end"
        return f"{told}\n{printable(self.line)}\n{beside}\n{foot}"

    __repr__ = __str__


def _written(end: Decimal, type: str) -> str:
    """As TOML has it: all digits of a whole number, and a number with a point where the column is a float."""
    text = format(end, "f") if type == "integer" or -6 < end.adjusted() < 15 or not end else f"{end:e}"
    if type == "float" and "e" not in text and "." not in text:
        return f"{text}.0"
    return text.replace("e+", "e")
