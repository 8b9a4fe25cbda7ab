"""How much of a unit's rows counts under the caps, in DuckDB's SQL: the factor f of each unit, and the sums it weighs.

As in `plan/core.py`: n' = floor(one min(c, max_rows) f) and S' = floor(S n' / c), with one rounding each. Types are the
narrowest that no row can pass under `limits.check_core`; a sum is divided only where a cap binds, and of up to 2^26
rows in 64 bits, many times as fast as in 128. Checked in tests/engines, where a variant with two roundings must fail.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from dpcurator.engines.duckdb.levels import integer
from dpcurator.engines.limits import MAX_RANGE, MAX_TABLE_ROWS, Parts
from dpcurator.plan.core import Listed, ScaleDown, Sum
from dpcurator.plan.core_relations import distinct_columns

_FEW = 2**26  # rows: what is left of a division by so many, times n', stays in 64 bits


def one_row_each(parts: Parts, *, unit: bool = False) -> bool:
    """Whether a unit has one row at most under each key, or with `unit` one in all: as the relation that is scanned is
    made, never as its rows are."""
    if isinstance(parts.scan.table, str) or parts.owner is None:
        return False
    found = distinct_columns(parts.scan.table)
    known = {parts.owner} if unit else {parts.owner, *parts.keys.columns}
    whole = {int(source.name.removeprefix("c")) for index, source in enumerate(parts.scan.columns)
             if index in known and source.fill is None}
    return found is not None and found <= whole


@dataclass(frozen=True, slots=True)
class Weights:
    """Which caps can bind, and the factor f of a unit as a fraction of integers in SQL.

    groups: whether a unit can be in more than max_groups keys. total: whether a unit, so bounded, can have more than
    max_total rows in all. f is `num` / `den`, both missing where nothing binds.
    """

    scale: ScaleDown
    h: int  # min(max_groups, the most keys a unit can be in)
    groups: bool
    total: bool

    @classmethod
    def of(cls, parts: Parts) -> Weights:
        scale, keys = parts.scale, parts.keys
        if one_row_each(parts, unit=True):  # a cap is 1 or more
            return cls(scale, 1, False, False)
        if one_row_each(parts) and scale.max_total is not None:  # t = g, so f = min(1, min(max_groups, max_total) / g)
            scale = replace(scale, max_groups=min(scale.max_groups, scale.max_total), max_total=None)
        most = len(keys.keys) if isinstance(keys, Listed) else keys.max_groups
        h = min(scale.max_groups, most)
        total = scale.max_total is not None and scale.max_total < scale.max_rows * h
        return cls(scale, h, most > scale.max_groups, total)

    @property
    def bind(self) -> bool:
        return self.groups or self.total

    def columns(self) -> str:
        total = f", CAST(sum(least(r, {integer(self.scale.max_rows, 'BIGINT')})) AS BIGINT) AS t" if self.total else ""
        return f"count(*) AS g{total}"

    def bound(self) -> str:
        """The condition that f is below 1."""
        assert self.bind
        groups = [f"g > {integer(self.h, 'BIGINT')}"] if self.groups else []
        total = [f"t > {integer(self.scale.max_total or 0, 'BIGINT')}"] if self.total else []
        return " OR ".join((*groups, *total))

    def factor(self) -> str:
        """h / g or T / t, the smaller; compared as h t <= T g, below 2**96."""
        h, most = (integer(one, "BIGINT") for one in (self.h, self.scale.max_total or 0))
        if not self.total:
            return f"g, {h} AS num, g AS den"
        if not self.groups:
            return f"g, {most} AS num, t AS den"
        by_groups = f"{integer(self.h, 'HUGEINT')} * t <= {integer(self.scale.max_total or 0, 'HUGEINT')} * g"
        den = f"CASE WHEN {by_groups} THEN g ELSE t END AS den"
        return f"g, CASE WHEN {by_groups} THEN {h} ELSE {most} END AS num, {den}"

    def free(self) -> str:
        """The condition, after an AND, that f is 1."""
        return " AND den IS NULL" if self.bind else ""

    def scaled(self, whole: str) -> str:
        """floor(whole * f). whole * h <= 2**62 stays in BIGINT; whole * T does where 2**36 T <= 2**62."""
        if not self.bind:
            return whole
        wide = self.total and self.scale.one * self.scale.max_rows * max(self.h, self.scale.max_total or 0) > MAX_RANGE
        bound = f"({f'CAST({whole} AS HUGEINT)' if wide else whole}) * num // den"
        return f"CASE WHEN den IS NULL THEN {whole} ELSE {bound} END"

    def unit(self) -> str:
        """floor(one * min(1, max_groups / g, max_total / g)): what a unit itself counts in each of its keys."""
        one = integer(self.scale.one, "BIGINT")
        h = min(self.h, self.scale.max_total) if self.total and self.scale.max_total is not None else self.h
        if not self.bind:
            return one
        few = f"g IS NULL OR g <= {integer(h, 'BIGINT')}"  # where nothing binds g is at most t, so at most either cap
        return f"CASE WHEN {few} THEN {one} ELSE {one} * {integer(h, 'BIGINT')} // g END"


def total_of(parts: Parts, sum_: Sum, weights: Weights, single: bool) -> str:
    """single: a unit has one row in a key, so c is 0 or 1, never past a cap: n' = c floor(one f) and S' = S n'."""
    one = integer(parts.scale.one, "BIGINT")
    most = integer(parts.scale.max_rows, "BIGINT")
    if sum_.what == "units":
        return f"sum({weights.unit()})"
    c = "r" if sum_.what == "rows" else f"c{sum_.measure}"
    if single and sum_.what != "values":
        return f"sum({c} * ({weights.scaled(one)}))"
    if single:
        return _total_of_single_values(parts, sum_.measure, weights)
    count = weights.scaled(f"{one} * least({c}, {most})")
    if sum_.what != "values":
        return f"sum({count})"
    return _total_of_values(parts, sum_.measure, count, weights)


def _total_of_single_values(parts: Parts, measure: int, weights: Weights) -> str:
    """The sum of S n', where S is one measured value: one * S where nothing binds, added up unscaled."""
    s, one = f"s{measure}", integer(parts.scale.one, "HUGEINT")
    if not weights.bind:
        return f"coalesce({one} * sum({s}), 0)"
    scaled = f"CAST({s} AS HUGEINT) * ({weights.scaled(integer(parts.scale.one, 'BIGINT'))})"
    return (f"coalesce({one} * sum(CASE WHEN den IS NULL THEN {s} ELSE 0 END), 0)"
            f" + coalesce(sum(CASE WHEN den IS NULL THEN NULL ELSE {scaled} END), 0)")


def _total_of_values(parts: Parts, measure: int, count: str, weights: Weights) -> str:
    """The sum of S' = floor(S n' / c): one * S where nothing binds (added up unscaled), else divided in 64 bits where
    S n' <= 2**62, by a long division in 64 bits where c <= 2**26, and in 128 bits, which are slow to divide, otherwise.
    `least` keeps every branch in its type whichever rows it is run on."""
    width, scale = parts.width(measure), parts.scale
    c, s = f"c{measure}", f"s{measure}"
    free = f"{c} <= {scale.max_rows}{weights.free()}"
    whole = f"CAST(least({s}, {integer(width * scale.max_rows, 'HUGEINT')}) AS BIGINT)"
    small = MAX_RANGE // (scale.one * scale.max_rows)
    narrow = f"CAST(least({s}, {integer(small, 'HUGEINT')}) AS BIGINT) * ({count}) // greatest({c}, 1)"
    more = ""
    if width * MAX_TABLE_ROWS > small:
        more = (
            f" WHEN {s} > {small} AND {c} <= {_FEW} THEN {_long_division(s, c, count)}"
            f" WHEN {s} > {small} THEN CAST({s} AS HUGEINT) * ({count}) // greatest({c}, 1)"
        )
    bound = f"CASE WHEN {free} THEN NULL{more} ELSE {narrow} END"
    return (
        f"coalesce({integer(scale.one, 'HUGEINT')} * sum(CASE WHEN {free} THEN {whole} ELSE 0 END), 0)"
        f" + coalesce(sum({bound}), 0)"
    )


def _long_division(s: str, c: str, count: str) -> str:
    """floor(S n' / c) for 1 <= c <= 2**26, so that S <= 2**88, and n' <= 2**36. With S = 2**31 a + b, a = p c + d and
    2**31 d + b = q c + r, S is (2**31 p + q) c + r, r < c: all but the last product stay below 2**62."""
    divisor, half = f"greatest(least({c}, {_FEW}), 1)", f"least({s}, {integer(MAX_RANGE * _FEW, 'HUGEINT')})"
    a, b = f"CAST({half} >> 31 AS BIGINT)", f"CAST({half} & {2**31 - 1} AS BIGINT)"
    left = f"({a} % {divisor} * {2**31} + {b})"
    whole = f"(CAST({a} // {divisor} AS HUGEINT) * {2**31} + {left} // {divisor})"
    return f"{whole} * ({count}) + {left} % {divisor} * ({count}) // {divisor}"
