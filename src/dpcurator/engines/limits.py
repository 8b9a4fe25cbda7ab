"""What a core plan must satisfy before an engine touches data, and why no integer can then pass 127 bits.

`check_core` looks at the plan alone (public facts), so what it raises is a Refusal. Both engines call it first; so they
refuse the same plans, and on every other plan and every table they are total. With N rows, N <= 2**48, and

    W = upper - lower,   m = max_rows <= 2**20,   one <= 2**16,   K = number of keys <= 2**26:

- measuring: x is within [clamp_lower, clamp_upper], so |x * 2**exponent| <= 2**126 and neither it nor its floor
  overflows; |lower|, |upper| < 2**126 and W <= 2**62, so the measured integer is within [0, 2**62];
- per unit:  c <= N, S <= W c <= 2**62 * 2**48 = 2**110;  g <= K;  h = min(g, max_groups) <= K;
- n':        one * min(c, m) * h <= 2**16 * 2**20 * 2**26 = 2**62, and n' <= one * min(c, m) <= 2**36;
- S':        n' <= one * m and W m <= 2**62, so S n' <= (W m) c one <= 2**62 * 2**48 * 2**16 = 2**126;
             S' <= W n' <= (W m) one <= 2**78;
- totals:    there are at most N pairs (unit, key), so a sum of n' is at most 2**48 * 2**36 = 2**84 and a sum of S'
             at most 2**48 * 2**78 = 2**126;
- each row a unit: n' = one c and S' = one S with c <= 1, so totals are at most one W N <= 2**126.

All of these are below 2**127 - 1, the largest 128-bit signed integer. Checked in tests/engines/test_limits.py.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from dpcurator.catalog.model import Kind, Value
from dpcurator.errors import Refusal
from dpcurator.plan import rows
from dpcurator.plan.core import (
    CorePlan,
    Filter,
    Grid,
    Listed,
    Measure,
    Owner,
    PerUnit,
    ScaleDown,
    Scan,
    Source,
    Sum,
    Total,
)

MAX_TABLE_ROWS: Final = 2**48  # a promise of `refresh`, not checked here: it is not a fact of the plan
MAX_ROWS: Final = 2**20
MAX_KEYS: Final = 2**26
MAX_ONE: Final = 2**16
MAX_RANGE: Final = 2**62
MAX_GRID: Final = 2**126
MAX_EXPONENT: Final = 1000
MAX_DEPTH: Final = 100
INT64: Final = range(-(2**63), 2**63)
TABLE_NAME: Final = re.compile(r"t[0-9]{1,9}")
COLUMN_NAME: Final = re.compile(r"c[0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class Parts:
    """A checked core plan, taken apart: its steps by name, in their order."""

    scan: Scan
    predicate: rows.Predicate | None
    owner: int | None
    listed: Listed
    grids: tuple[Grid, ...]
    scale: ScaleDown
    sums: tuple[Sum, ...]


def check_core(core: CorePlan) -> Parts:
    """The plan's parts. Raises Refusal when it is not a core plan, or when an integer could pass 127 bits."""
    match core:
        case (Scan() as scan, Owner(owner), Listed() as listed, Measure(grids), PerUnit(), ScaleDown() as scale,
              Total(sums)):  # fmt: skip
            predicate = None
        case (Scan() as scan, Filter(predicate), Owner(owner), Listed() as listed, Measure(grids), PerUnit(),
              ScaleDown() as scale, Total(sums)):  # fmt: skip
            pass
        case _:
            raise Refusal("The steps of this plan are not those of a core plan, in their order.")
    _scan(scan)
    kinds = tuple(source.kind for source in scan.columns)
    if predicate is not None:
        _predicate(predicate, kinds, MAX_DEPTH)
    if owner is not None:
        _require(_kind(kinds, owner) != "float", "A unit is an integer or a text, never a float.")
    _listed(listed, kinds)
    _require(type(scale.max_rows) is int and 1 <= scale.max_rows <= MAX_ROWS, "max_rows is from 1 to 2**20.")
    _require(type(scale.max_groups) is int and scale.max_groups >= 1, "max_groups is at least 1.")
    _require(type(scale.one) is int and 1 <= scale.one <= MAX_ONE, "One whole row counts from 1 to 2**16.")
    for grid in grids:
        _grid(grid, kinds, 1 if owner is None else scale.max_rows)
    _require(bool(sums), "A plan adds up at least one thing.")
    for total in sums:
        _require(total.what in ("rows", "units", "present", "values"), "A sum is of rows, units, present or values.")
        if total.what in ("present", "values"):
            _require(0 <= total.measure < len(grids), "A sum names a measured column that is not there.")
    return Parts(scan, predicate, owner, listed, grids, scale, sums)


def _require(true: bool, otherwise: str) -> None:
    if not true:
        raise Refusal(otherwise)


def _kind(kinds: tuple[Kind, ...], column: int) -> Kind:
    _require(type(column) is int and 0 <= column < len(kinds), "The plan names a column that its scan does not read.")
    return kinds[column]


def _scan(scan: Scan) -> None:
    _require(TABLE_NAME.fullmatch(scan.table) is not None, "A stored table is named t0, t1, ...")
    for source in scan.columns:
        _source(source)


def _source(source: Source) -> None:
    _require(COLUMN_NAME.fullmatch(source.name) is not None, "A stored column is named c0, c1, ...")
    _require(source.kind in ("integer", "float", "text"), "A stored column is integer, float or text.")
    _value(source.fill, source.kind)


def _value(value: Value, kind: Kind) -> None:
    """A constant of the kind, or missing. A float constant may be spelled as an integer that is a double."""
    if value is None:
        return
    if kind == "integer":
        _require(type(value) is int and value in INT64, "An integer constant fits 64 bits.")
    elif kind == "float":
        _require(type(value) in (int, float) and _is_double(value), "A float constant is a finite double.")
    else:
        _require(type(value) is str and _is_unicode(value), "A text constant is Unicode text, without lone surrogates.")


def _is_double(value: object) -> bool:
    if isinstance(value, int):
        return abs(value) <= 2**1000 and int(float(value)) == value
    return isinstance(value, float) and math.isfinite(value)


def _is_unicode(value: object) -> bool:
    try:
        return isinstance(value, str) and value.encode() is not None
    except UnicodeEncodeError:
        return False


def _listed(listed: Listed, kinds: tuple[Kind, ...]) -> None:
    key_kinds = tuple(_kind(kinds, column) for column in listed.columns)
    _require(len(listed.keys) <= MAX_KEYS, "A list has at most 2**26 keys.")
    for key in listed.keys:
        _require(len(key) == len(key_kinds), "A key has one value for each of its columns.")
        for value, kind in zip(key, key_kinds, strict=True):
            _value(value, kind)
    _require(len(set(listed.keys)) == len(listed.keys), "The listed keys are not distinct.")


def _grid(grid: Grid, kinds: tuple[Kind, ...], max_rows: int) -> None:
    _require(_kind(kinds, grid.column) == grid.kind, "A grid has the kind of its column.")
    _require(type(grid.lower) is int and type(grid.upper) is int, "A grid's bounds are integers.")
    _require(-MAX_GRID < grid.lower <= grid.upper < MAX_GRID, "A grid's bounds pass 126 bits.")
    _require((grid.upper - grid.lower) * max_rows <= MAX_RANGE, "(upper - lower) * max_rows passes 62 bits.")
    if grid.kind == "text":
        _require(grid == Grid(grid.column, "text", 0, 0, 0, 0, 0), "A text is counted, not measured.")
    elif grid.kind == "integer":
        _require(grid.exponent == 0, "An integer grid has exponent 0.")
        _require(type(grid.clamp_lower) is int and type(grid.clamp_upper) is int, "An integer is clamped to integers.")
        _require(grid.lower <= grid.clamp_lower <= grid.clamp_upper <= grid.upper, "A clamp is within its grid.")
    else:
        _require(-MAX_EXPONENT <= grid.exponent <= MAX_EXPONENT, "A grid's exponent is from -1000 to 1000.")
        for bound in (grid.clamp_lower, grid.clamp_upper):
            _require(type(bound) in (int, float) and _is_double(bound), "A float is clamped to finite doubles.")
            _require(abs(Fraction(bound)) * Fraction(2) ** grid.exponent <= MAX_GRID, "A grid's bounds pass 126 bits.")
        _require(grid.clamp_lower <= grid.clamp_upper, "A clamp's lower bound passes its upper bound.")


def _predicate(predicate: rows.Predicate, kinds: tuple[Kind, ...], depth: int) -> None:
    _require(depth > 0, "The condition is nested too deeply.")
    match predicate:
        case rows.Truth(value):
            _require(value is None or type(value) is bool, "A constant condition is true, false or unknown.")
        case rows.Compare(op, left, right):
            _require(op in rows.COMPARISONS, "A comparison is one of = <> < <= > >=.")
            texts = [_operand(left, kinds) == "text", _operand(right, kinds) == "text"]
            _require(texts[0] == texts[1], "A text is compared with a text, a number with a number.")
        case rows.Among(operand, values):
            kind = _operand(operand, kinds)
            _require(bool(values), "IN needs at least one value.")
            for constant in values:
                _require(constant.kind == kind, "IN compares with values of one kind.")
                _operand(constant, kinds)
        case rows.IsMissing(operand):
            _operand(operand, kinds)
        case rows.Not(part):
            _predicate(part, kinds, depth - 1)
        case rows.AllOf(parts) | rows.AnyOf(parts):
            _require(len(parts) >= 1, "AND and OR need parts.")
            for part in parts:
                _predicate(part, kinds, depth - 1)
        case _:
            raise Refusal("This is not a condition a core plan may hold.")


def _operand(operand: rows.Operand, kinds: tuple[Kind, ...]) -> Kind:
    match operand:
        case rows.Field(index, kind):
            _require(_kind(kinds, index) == kind, "A field has the kind of its column.")
        case rows.Constant(value, kind):
            _require(value is not None, "A constant is never missing.")
            _value(value, kind)
        case _:
            raise Refusal("This is not a value a core plan may hold.")
    return operand.kind
