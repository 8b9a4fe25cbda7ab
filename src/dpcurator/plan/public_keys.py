"""The public group keys of a GROUP BY expression: declared, or computed from public facts.

An expression has a list when each of its values can be named from the catalog alone (semantics 4.3): from listed
columns, from the bounds of bounded ones, or because it chooses among constants. A list may hold keys that no row has;
it never depends on private rows. A row whose key is not in it is in no group. Missing is a key only where a column
that is used lists NULL. A list that would take too long to make is refused (`language/limits.py`). Checked in
tests/plan/test_keys.py.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from dpcurator.catalog.model import Column, Table, Value
from dpcurator.errors import Refusal
from dpcurator.language.evaluate import value
from dpcurator.language.functions import BY_NAME
from dpcurator.language.intervals import span
from dpcurator.language.limits import MOST_STEPS, Budget, Cost, computed, cost
from dpcurator.language.rows import Choose, Compute, Constant, Field, Missing, Operand, fields, moved

MOST_KEYS: Final = 1_000_000  # of a list, and of the combinations looked at to make it
MOST_PLAIN: Final = 10_000  # keys of a bounded column by itself
FEW: Final = 50_000  # combinations of whole columns that are looked at before the parts of an expression are


@dataclass(frozen=True, slots=True)
class Values:
    """All that a part may be, without missing; `missing`: a listed NULL makes it missing."""

    present: frozenset[Value]
    missing: bool = False


def image(part: Operand, table: Table, steps: int = MOST_STEPS) -> tuple[Value, ...] | None:
    """The keys a GROUP BY on `part` answers for, distinct, missing first and then in order; None when not public.

    Raises Refusal where naming them takes more than so many steps.
    """
    if isinstance(part, Field):
        column = table.columns[part.index]
        return (0, 1) if column.keys is None and column.type == "boolean" and not column.unknown_keys else column.keys
    return _image(part, tuple((index, table.columns[index]) for index in sorted(fields(part))), table.unit, steps)


@lru_cache(maxsize=64)
def _image(
    part: Operand, used: tuple[tuple[int, Column], ...], unit: str | None, steps: int
) -> tuple[Value, ...] | None:
    """As `image`, of the columns it uses alone: the others play no part."""
    columns = dict(used)
    filler = Column("", "text")
    last = max(columns, default=-1)
    table = Table("", tuple(columns.get(index, filler) for index in range(last + 1)), unit)
    lists = [_listed(index, table, min(10 * FEW, steps)) for index in columns]
    found: Values | None = None
    budget = Budget(steps)
    if all(one is not None for one in lists):
        found = _over_columns(part, list(columns), [one for one in lists if one is not None], FEW, budget)
    if found is None:
        found = _values(part, table, budget)
    if found is None and all(one is not None for one in lists):
        found = _over_columns(part, list(columns), [one for one in lists if one is not None], MOST_KEYS, budget)
    if found is None and budget.short:
        raise Refusal(
            "naming the keys of this expression takes too long, or they are too long themselves.",
            cure="Group by a simpler expression, of fewer columns or of columns with fewer values.",
        )
    if found is None or len(found.present) > MOST_KEYS:
        return None
    if part.kind == "float" and not all(column.keys is not None for column in columns.values()):
        return None
    missing = found.missing and any(column.keys is not None and None in column.keys for column in columns.values())
    return (*((None,) if missing else ()), *_ordered(_possible(found.present, part, table)))


def _possible(values: Iterable[Value], part: Operand, table: Table) -> Iterable[Value]:
    """Those within the ends that interval arithmetic gives the whole expression: LEAST(FLOOR(x / 10), 9) is never 12.
    Of columns that have bounds alone, since a listed value, or one for missing ones, may be beyond them (D9)."""
    used = [table.columns[index] for index in fields(part)]
    if part.kind == "text" or any(column.keys is not None or column.missing is not None for column in used):
        return values
    ends = span(part, table)
    low, high = ends.low, ends.high
    return [one for one in values if not isinstance(one, int | float) or (
        (low is None or one >= low) and (high is None or one <= high))]


def _ordered(values: Iterable[Value]) -> list[Value]:
    finite = [one for one in values if not (isinstance(one, float) and math.isinf(one))]
    return sorted(finite)  # type: ignore[type-var]


def _listed(index: int, table: Table, most: int) -> Values | None:
    """The values of a column that can be named: its list, or all whole numbers within its bounds."""
    column = table.columns[index]
    fill = frozenset(() if column.missing is None or column.name == table.unit else (column.missing,))
    if column.keys is not None:
        return Values(frozenset(column.keys) - {None} | fill, None in column.keys)
    if column.type == "boolean":
        return Values(frozenset((0, 1)))
    inside = _whole_numbers(Field(index, column.kind), table, most)
    return None if inside is None else Values(inside | fill)


def _whole_numbers(part: Operand, table: Table, most: int) -> frozenset[Value] | None:
    """All whole numbers between the ends of an integer's span, at most so many."""
    ends = span(part, table).both if part.kind == "integer" else None
    if ends is None or ends[1] - ends[0] >= most:
        return None
    return frozenset(range(math.ceil(ends[0]), math.floor(ends[1]) + 1))


def _over_columns(
    part: Operand, columns: Sequence[int], lists: Sequence[Values], most: int, budget: Budget
) -> Values | None:
    """The values over all combinations of the columns' own, and of missing ones."""
    sides = [(*one.present, None) for one in lists]
    times = math.prod(map(len, sides))
    longest = {index: _longest(one.present) for index, one in zip(columns, lists, strict=True)}
    if times > most or not budget.affords(times, cost(part, longest.__getitem__)):
        return None
    placed = moved(part, {index: place for place, index in enumerate(columns)})
    found = {value(placed, row) for row in itertools.product(*sides)}
    listed = [(*one.present, None) if one.missing else tuple(one.present) for one in lists]
    missing = None in found and any(value(placed, row) is None for row in itertools.product(*listed))
    return Values(frozenset(found - {None}), missing)


def _longest(values: Iterable[Value]) -> int:
    """Letters of the longest text."""
    return max((len(one) for one in values if isinstance(one, str)), default=0)


def _values(part: Operand, table: Table, budget: Budget) -> Values | None:
    """The values that the parts allow: more than there may be, never fewer."""
    match part:
        case Constant(fixed):
            return Values(frozenset((fixed,)))
        case Missing():
            return Values(frozenset())
        case Field(index):
            return _paid(_listed(index, table, MOST_KEYS), budget)
        case Choose(branches, otherwise):
            return _union([*(branch.value for branch in branches), otherwise], table, budget)
        case Compute("coalesce" | "least" | "greatest", parts):
            return _union(parts, table, budget)
        case Compute(name, parts, kind, literals):
            sides = [_values(one, table, budget) for one in parts]
            known = [side for side in sides if side is not None]
            if len(known) == len(sides) and _affordable(name, known, kind, literals, budget):
                rows = itertools.product(*(side.present for side in known))
                found = frozenset(BY_NAME[name].of(row, kind, literals) for row in rows)
                return Values(found - {None}, any(side.missing for side in known))
            inside = _whole_numbers(part, table, MOST_KEYS)
            return None if inside is None else _paid(Values(inside), budget)
    return None  # pragma: no cover - the match is exhaustive


def _affordable(name: str, sides: Sequence[Values], kind: str, literals: tuple[object, ...], budget: Budget) -> bool:
    """Whether a function's values over all combinations of its parts' values are few, and named soon."""
    times = math.prod(len(side.present) for side in sides)
    once = computed(name, tuple(_longest(side.present) for side in sides), literals)
    once = Cost(2 * once.steps, once.letters if kind == "text" else 0)
    return times <= MOST_KEYS and budget.affords(times, once)


def _paid(found: Values | None, budget: Budget) -> Values | None:
    """The values, where putting so many together is within the budget."""
    return found if found is None or budget.affords(1 + len(found.present) // 2, Cost(1)) else None


def _union(parts: Iterable[Operand], table: Table, budget: Budget) -> Values | None:
    present: set[Value] = set()
    missing = False
    for one in parts:
        side = _values(one, table, budget)
        if side is None:
            return None
        present |= side.present
        missing |= side.missing
        if len(present) > MOST_KEYS:
            return None
    return Values(frozenset(present), missing)


def without_list(part: Operand, table: Table) -> tuple[int, ...]:
    """The columns of an expression whose values no list and no bounds name."""
    return tuple(index for index in sorted(fields(part)) if _listed(index, table, MOST_PLAIN) is None)


def same_in_a_unit(part: Operand, table: Table) -> bool:
    """Whether all rows of a unit have the same value: it is made of columns alone that are declared per_unit = 1."""
    used = [table.columns[index] for index in fields(part)]
    return bool(used) and all(column.per_unit for column in used)


def selectable(part: Operand, table: Table) -> bool:
    """Whether keys without a list may be selected privately: every column that would need one declares them unknown."""
    if isinstance(part, Field):
        return part.kind != "float" and table.columns[part.index].unknown_keys
    declared = [table.columns[index].unknown_keys for index in without_list(part, table)]
    return part.kind != "float" and bool(declared) and all(declared)


def digest_of(keys: tuple[Value, ...]) -> str:
    """sha256 of a list of keys, hexadecimal."""
    text = json.dumps(keys, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()
