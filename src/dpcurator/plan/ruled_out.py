"""Listed groups that WHERE rules out: they are not answered, so no noise is shown in their place, or paid for.

    WHERE month IN (1, 2) GROUP BY month   is answered for the months 1 and 2, of the twelve that are listed

Rule      WHERE is a conjunction. Of a column with listed keys that is grouped by itself, those are left for which each
          condition that looks at this column alone is true; of a boolean also where an expression of it is. Of a
          column with bounds and no list the ends move to those of a comparison with a number. The list of a key is
          then made from what is left of its columns (`public_keys.py`).
Right     A row that WHERE lets through makes each of the conditions true, by its own value: a listed value that
          makes one untrue is in no such row. A value beyond the bounds is clamped to the nearer end before it is
          grouped by, and that end moves no further than the comparison lets values be. So no group that could have a
          row is left out. An expression may have a listed group for a value that is not listed, as 13 % 3 is 10 % 3:
          so its groups are all left, but where no other value than those looked at could be in a row.
Private   Only lists, bounds and the question are looked at. Fewer listed keys are a plan like any other: its
          sensitivity is that of the keys it has (`stability.py`).
Left      More than MOST keys; what compares several columns; floats but beside a constant, since a condition may tell
          0.0 from -0.0, which are one key; numbers past 2^52 beside a float, which are not compared exactly.

A plan of an earlier version has the whole list, and means it. Checked in tests/plan/test_ruled_out.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Final

from dpcurator.catalog.model import Column, Table, Value
from dpcurator.language import rows
from dpcurator.language.evaluate import truth
from dpcurator.language.limits import Budget, cost
from dpcurator.plan.nodes import KeyColumn
from dpcurator.plan.public_keys import image
from dpcurator.plan.relations import Relation, Where

MOST: Final = 10_000  # keys of a column that is looked through
STEPS: Final = 200_000  # for one condition: about a tenth of a second
EXACT: Final = 2**52
_TURNED: Final = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}


def image_in(part: rows.Operand, table: Table, relation: Relation) -> tuple[Value, ...] | None:
    """The keys of GROUP BY `part` over these rows, as `public_keys.image`, without those that WHERE rules out."""
    whole = image(part, table)
    narrower = within(table, relation, alone=isinstance(part, rows.Field)) if whole is not None else table
    return whole if all(narrower.columns[n] is table.columns[n] for n in rows.fields(part)) else image(part, narrower)


def keys_meant(key: KeyColumn, table: Table, relation: Relation) -> tuple[Value, ...] | None:
    """The keys of a plan's column: as it counts them, all that are listed, or those alone that WHERE leaves."""
    whole = image(key.part, table)
    return whole if whole is None or len(whole) == key.count else image_in(key.part, table, relation)


def within(table: Table, relation: Relation, *, alone: bool) -> Table:
    """The table with the lists and bounds that its columns have in rows that WHERE lets through. alone: a column is
    grouped by itself, so that rows with values that are not listed are in no group."""
    if not isinstance(relation, Where):
        return table
    columns = list(table.columns)
    for part in _conditions(relation.predicate):
        used = rows.fields(part)
        if len(used) == 1:
            (index,) = used
            columns[index] = _narrowed(part, index, columns[index], alone)
    return replace(table, columns=tuple(columns))


def _conditions(predicate: rows.Predicate) -> Iterator[rows.Predicate]:
    if isinstance(predicate, rows.AllOf):
        for part in predicate.parts:
            yield from _conditions(part)
    else:
        yield predicate


@lru_cache(maxsize=256)
def _narrowed(part: rows.Predicate, index: int, column: Column, alone: bool) -> Column:
    """What is known of a column where the condition, which looks at it alone, is true; itself where that is no more."""
    both = column.type == "boolean" and column.keys is None and not column.unknown_keys
    keys = (0, 1) if both else column.keys
    if keys is None:
        return _between(part, column)
    if not alone and not (both and truth(rows.moved_condition(part, {index: 0}), (None,)) is not True):
        return column  # rows may have other values, or a missing one
    if len(keys) > MOST or (column.kind == "float" and not _beside_constants(part)):
        return column
    longest = max((len(key) for key in keys if isinstance(key, str)), default=0)
    if not Budget(STEPS).affords(len(keys), cost(part, lambda _: longest)):
        return column
    placed = rows.moved_condition(part, {index: 0})
    left = tuple(key for key in keys if truth(placed, (key,)) is True)
    return column if len(left) == len(keys) else replace(column, keys=left)


def _beside_constants(part: rows.Predicate) -> bool:
    """Whether a column by itself is compared with constants."""
    if isinstance(part, rows.Among):
        return isinstance(part.operand, rows.Field)
    sides = {type(part.left), type(part.right)} if isinstance(part, rows.Compare) else set()
    return sides == {rows.Field, rows.Constant}


def _between(part: rows.Predicate, column: Column) -> Column:
    """Its bounds where it is compared with a number within them."""
    if column.lower is None or column.upper is None or not isinstance(part, rows.Compare):
        return column
    for one, other, op in ((part.left, part.right, part.op), (part.right, part.left, _TURNED.get(part.op, part.op))):
        value = other.value if isinstance(one, rows.Field) and isinstance(other, rows.Constant) else None
        if not isinstance(value, int | float) or not math.isfinite(value):
            continue
        if abs(value) > EXACT and (isinstance(value, float) or column.kind == "float"):
            continue
        least, most = Fraction(value), Fraction(value)
        if column.kind == "integer":
            least = Fraction(math.floor(value) + 1 if op == ">" else math.ceil(value))
            most = Fraction(math.ceil(value) - 1 if op == "<" else math.floor(value))
        low = max(column.lower, least) if op in ("=", ">", ">=") else column.lower
        high = min(column.upper, most) if op in ("=", "<", "<=") else column.upper
        if low <= high and (low, high) != (column.lower, column.upper):
            return replace(column, lower=low, upper=high)
    return column
