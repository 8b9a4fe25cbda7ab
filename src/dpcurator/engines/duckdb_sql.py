"""The core plan as one DuckDB query: each step a common table expression. Pure, so `explain` can show it.

Why it is right: the query says what `plan/core.py` says in types that cannot overflow under `limits.check_core`, and
uses no operation that can raise on a row: casts of data are TRY_CASTs or of values already clamped to the target type,
divisors are at least 1, and guards are `least`/`greatest` on the operand, so that they hold even where an optimiser
evaluates a CASE branch for a row that does not take it.

What reaches the text: names matched by the patterns in `limits` (t0, c0), names made here, and integers this package
computed, in decimal digits. Every text, double and key goes as a bound parameter, cast to its column's type; lists of
keys go as one array a column, so their length costs no parsing and no type is guessed from a sample.

Why it is fast: keys are numbers before grouping; g is computed only if a unit can be in more than max_groups keys;
128-bit division happens only for the groups that max_rows or max_groups binds; sums that fit 64 bits stay there.
Checked in tests/engines (conformance, and a variant of this text with two floors must fail it).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Final

from dpcurator.catalog.model import Kind, Value
from dpcurator.engines.limits import INT64, MAX_RANGE, Parts, check_core
from dpcurator.plan import rows
from dpcurator.plan.core import CorePlan, Grid, Listed, Scan, Source, Sum

TYPES: Final[dict[Kind, str]] = {"integer": "BIGINT", "float": "DOUBLE", "text": "VARCHAR"}


@dataclass(frozen=True, slots=True)
class Statement:
    """Text with $1, $2, ... and their values. It answers rows (key number, one text per sum) in any order."""

    sql: str
    parameters: list[Any]
    keys: int  # how many are listed, numbered from 0
    sums: int


@dataclass(slots=True)
class _Parameters:
    """Collects bound values; `bind` answers the text that stands for one."""

    values: list[Any] = field(default_factory=list)

    def bind(self, value: Any, type_: str) -> str:
        self.values.append(value)
        return f"CAST(${len(self.values)} AS {type_})"

    def constant(self, value: Value, kind: Kind) -> str:
        if kind == "integer":
            return _integer(int(value), "BIGINT")  # type: ignore[arg-type]
        return self.bind(float(value) + 0.0 if kind == "float" else value, TYPES[kind])  # type: ignore[arg-type]


def _integer(value: int, type_: str) -> str:
    """An integer literal: digits alone, in quotes so that no sign or size can change its type."""
    return f"CAST('{value:d}' AS {type_})"


def statement(core: CorePlan, *, schema: str = "snapshot.main") -> Statement:
    """The query for a core plan. Raises Refusal where `check_core` does."""
    parts = check_core(core)
    parameters = _Parameters()
    expressions = [
        ("scanned", _scan(parts.scan, schema, parameters)),
        *([] if parts.predicate is None else [("filtered", _filter(parts.predicate, parameters))]),
        ("listed", _keys(parts, parameters)),
        ("keyed", _keyed(parts)),
        ("measured", _measure(parts, parameters)),
        *(_each_row(parts) if parts.owner is None else _each_unit(parts)),
    ]
    steps = ",\n".join(f"{name} AS ({text})" for name, text in expressions)
    sums = ", ".join(f"CAST(t{index} AS VARCHAR)" for index in range(len(parts.sums)))
    sql = f"WITH {steps}\nSELECT k, {sums} FROM totals"
    return Statement(sql, parameters.values, len(parts.listed.keys), len(parts.sums))


def _scan(scan: Scan, schema: str, parameters: _Parameters) -> str:
    columns = [f"{_canonical(source, parameters)} AS x{index}" for index, source in enumerate(scan.columns)]
    return f"SELECT {', '.join(columns) or '0 AS nothing'} FROM {schema}.{scan.table}"


def _canonical(source: Source, parameters: _Parameters) -> str:
    text = f"TRY_CAST({source.name} AS {TYPES[source.kind]})"
    if source.kind == "float":  # -0.0 needs nothing: it equals 0.0 here in every comparison, join and group
        text = f"CASE WHEN isnan({text}) THEN NULL ELSE {text} END"
    return text if source.fill is None else f"coalesce({text}, {parameters.constant(source.fill, source.kind)})"


def _filter(predicate: rows.Predicate, parameters: _Parameters) -> str:
    return f"SELECT * FROM scanned WHERE {_truth(predicate, parameters)}"


def _truth(predicate: rows.Predicate, parameters: _Parameters) -> str:
    match predicate:
        case rows.Truth(value):
            return {True: "true", False: "false", None: "CAST(NULL AS BOOLEAN)"}[value]
        case rows.Compare(op, left, right):
            kind: Kind = "float" if "float" in (left.kind, right.kind) else left.kind
            return f"({_operand(left, kind, parameters)} {op} {_operand(right, kind, parameters)})"
        case rows.Among(part, values):
            listed = ", ".join(_operand(value, part.kind, parameters) for value in values)
            return f"({_operand(part, part.kind, parameters)} IN ({listed}))"
        case rows.IsMissing(part):
            return f"({_operand(part, part.kind, parameters)} IS NULL)"
        case rows.Not(inner):
            return f"(NOT {_truth(inner, parameters)})"
        case rows.AllOf(parts):
            return "(" + " AND ".join(_truth(part, parameters) for part in parts) + ")"
        case rows.AnyOf(parts):
            return "(" + " OR ".join(_truth(part, parameters) for part in parts) + ")"


def _operand(part: rows.Operand, kind: Kind, parameters: _Parameters) -> str:
    """The operand as this kind: an integer meets a double as a double."""
    if isinstance(part, rows.Constant):
        return parameters.constant(part.value, kind)
    return f"x{part.index}" if part.kind == kind else f"CAST(x{part.index} AS {TYPES[kind]})"


def _keys(parts: Parts, parameters: _Parameters) -> str:
    """The list as a table: its columns y0, y1, ... and each key's number k."""
    listed = parts.listed
    kinds = [parts.scan.columns[column].kind for column in listed.columns]
    arrays = [
        parameters.bind([_key(key[index], kind) for key in listed.keys], f"{TYPES[kind]}[]")
        for index, kind in enumerate(kinds)
    ]
    columns = "".join(f", unnest({array}) AS y{index}" for index, array in enumerate(arrays))
    size = len(listed.keys)
    number = "UTINYINT" if size <= 2**8 else "USMALLINT" if size <= 2**16 else "UINTEGER"  # narrow groups are faster
    return f"SELECT CAST(unnest(range({size})) AS {number}) AS k{columns}"


def _key(value: Value, kind: Kind) -> Value:
    return float(value) + 0.0 if kind == "float" and value is not None else value


def _keyed(parts: Parts) -> str:
    """Owned rows with the number of their key. `=` where no listed value is missing: no other row can match then."""
    source = "scanned" if parts.predicate is None else "filtered"
    owned = "" if parts.owner is None else f" WHERE x{parts.owner} IS NOT NULL"
    on = " AND ".join(
        f"x{column} {'IS NOT DISTINCT FROM' if _any_missing(parts.listed, index) else '='} y{index}"
        for index, column in enumerate(parts.listed.columns)
    )
    join = f"JOIN listed ON {on}" if on else "CROSS JOIN listed"  # without columns: one key or none
    return f"SELECT * FROM {source} {join}{owned}"


def _any_missing(listed: Listed, index: int) -> bool:
    return any(key[index] is None for key in listed.keys)


def _measure(parts: Parts, parameters: _Parameters) -> str:
    owner = "" if parts.owner is None else f", x{parts.owner} AS u"
    grids = "".join(f", {_grid(grid, parameters)} AS v{index}" for index, grid in enumerate(parts.grids))
    return f"SELECT k{owner}{grids} FROM keyed"


def _grid(grid: Grid, parameters: _Parameters) -> str:
    """0 .. upper - lower as BIGINT, or NULL. Clamped before any arithmetic, so nothing can overflow."""
    x = f"x{grid.column}"
    if grid.kind == "text":
        return f"CASE WHEN {x} IS NOT NULL THEN 0::BIGINT END"
    if grid.kind == "integer":
        clamps = int(grid.clamp_lower), int(grid.clamp_upper)
        wide = _wide(*clamps, grid.lower)
        steps = _clamp(x, *(_integer(bound, wide) for bound in clamps))
    else:
        bounds = float(grid.clamp_lower), float(grid.clamp_upper)
        least, most = (math.floor(bound * 2.0**grid.exponent + 0.5) for bound in bounds)
        low, high, scale, half = (
            parameters.constant(value, "float") for value in (*bounds, 2.0**grid.exponent, 0.5)
        )
        wide = _wide(least, most, grid.lower, grid.upper)
        steps = f"CAST(floor({_clamp(x, low, high)} * {scale} + {half}) AS {wide})"
        if least < grid.lower or most > grid.upper:  # each of the float64 operations is monotone, so else it is clamped
            steps = _clamp(steps, _integer(grid.lower, wide), _integer(grid.upper, wide))
    return f"CAST({steps} - {_integer(grid.lower, wide)} AS BIGINT)"


def _clamp(x: str, low: str, high: str) -> str:
    """NULL stays NULL (greatest and least would pass it over)."""
    return f"CASE WHEN {x} < {low} THEN {low} WHEN {x} > {high} THEN {high} ELSE {x} END"


def _wide(*values: int) -> str:
    return "BIGINT" if all(value in INT64 for value in values) else "HUGEINT"


def _each_row(parts: Parts) -> list[tuple[str, str]]:
    """Each row a unit: g = 1 and c <= 1, so n' is one * c and S' is one * S."""
    one = _integer(parts.scale.one, "HUGEINT")
    what = {"rows": "count(*)", "units": "count(*)", "present": "count(v{0})", "values": "coalesce(sum(v{0}), 0)"}
    totals = ", ".join(
        f"{one} * {what[sum_.what].format(sum_.measure)} AS t{index}" for index, sum_ in enumerate(parts.sums)
    )
    return [("totals", f"SELECT k, {totals} FROM measured GROUP BY k")]


def _each_unit(parts: Parts) -> list[tuple[str, str]]:
    """Per (unit, key) counts and sums; g where it can bind; n' and S'; totals."""
    used = sorted({sum_.measure for sum_ in parts.sums if sum_.what in ("present", "values")})
    summed = sorted({sum_.measure for sum_ in parts.sums if sum_.what == "values"})
    counts = "".join(f", count(v{index}) AS c{index}" for index in used)
    columns = counts + "".join(f", coalesce(sum(v{index}), 0) AS s{index}" for index in summed)
    steps = [("per_unit", f"SELECT u, k, count(*) AS r{columns} FROM measured GROUP BY u, k")]
    grouped = len(parts.listed.keys) > parts.scale.max_groups
    source = "per_unit"
    if grouped:
        steps.append(("spread", "SELECT u AS w, count(*) AS g FROM per_unit GROUP BY u"))
        source = "per_unit JOIN spread ON u = w"
    totals = ", ".join(f"{_total(parts, sum_, grouped)} AS t{index}" for index, sum_ in enumerate(parts.sums))
    return [*steps, ("totals", f"SELECT k, {totals} FROM {source} GROUP BY k")]


def _total(parts: Parts, sum_: Sum, grouped: bool) -> str:
    one = _integer(parts.scale.one, "BIGINT")
    most = _integer(parts.scale.max_rows, "BIGINT")
    if sum_.what == "units":
        return f"sum({_scaled(parts, one, grouped)})"
    c = "r" if sum_.what == "rows" else f"c{sum_.measure}"
    count = _scaled(parts, f"{one} * least({c}, {most})", grouped)
    if sum_.what != "values":
        return f"sum({count})"
    return _total_of_values(parts, sum_.measure, count, grouped)


def _scaled(parts: Parts, whole: str, grouped: bool) -> str:
    """floor(whole * h / g): whole * h <= 2**62 in BIGINT."""
    if not grouped:
        return whole
    h = _integer(min(parts.scale.max_groups, len(parts.listed.keys)), "BIGINT")
    return f"CASE WHEN g <= {h} THEN {whole} ELSE {whole} * {h} // g END"


def _total_of_values(parts: Parts, measure: int, count: str, grouped: bool) -> str:
    """The sum of S' = floor(S n' / c): one * S where nothing binds (added up unscaled), else one division, in 64 bits
    where S n' <= 2**62 and in 128 otherwise. `least` keeps every branch in its type whichever rows it is run on."""
    grid, scale = parts.grids[measure], parts.scale
    c, s = f"c{measure}", f"s{measure}"
    free = f"{c} <= {scale.max_rows}" + (f" AND g <= {scale.max_groups}" if grouped else "")
    whole = f"CAST(least({s}, {_integer((grid.upper - grid.lower) * scale.max_rows, 'HUGEINT')}) AS BIGINT)"
    small = MAX_RANGE // (scale.one * scale.max_rows)
    narrow = f"CAST(least({s}, {_integer(small, 'HUGEINT')}) AS BIGINT) * ({count}) // greatest({c}, 1)"
    wide = f"{s} * ({count}) // greatest({c}, 1)"
    bound = f"CASE WHEN {free} THEN 0 WHEN {s} <= {small} THEN {narrow} ELSE {wide} END"
    return (
        f"coalesce({_integer(scale.one, 'HUGEINT')} * sum(CASE WHEN {free} THEN {whole} ELSE 0 END), 0)"
        f" + coalesce(sum({bound}), 0)"
    )
