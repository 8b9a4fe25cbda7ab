"""How much of a unit's rows counts under the caps, in Spark's SQL: the factor f of each unit, and the sums it weighs.

As in `plan/core.py`: n' = floor(one min(c, max_rows) f) and S' = floor(S n' / c), with one rounding each. A group that
no cap scales down is added up unscaled; the others are divided as wide integers (`constants.divided`), of which
`limits.check_core` says how large they are. Checked in tests/engines.
"""

from __future__ import annotations

from dataclasses import dataclass

from dpcurator.engines.limits import MAX_RANGE, Parts
from dpcurator.engines.spark.constants import WIDE, divided, integer
from dpcurator.plan.core import Listed


@dataclass(frozen=True, slots=True)
class Caps:
    """Which caps can bind, and the factor f of a unit as a fraction: `num` / `den`, both missing where f is 1.

    h: min(max_groups, the most keys a unit can be in). groups: whether a unit can be in more. total: whether a unit, so
    bounded, can have more than max_total rows in all.
    """

    parts: Parts
    h: int
    groups: bool
    total_: bool

    @classmethod
    def of(cls, parts: Parts) -> Caps:
        scale, keys = parts.scale, parts.keys
        most = len(keys.keys) if isinstance(keys, Listed) else keys.max_groups
        h = min(scale.max_groups, most)
        total = scale.max_total is not None and scale.max_total < scale.max_rows * h
        return cls(parts, h, most > scale.max_groups, total)

    @property
    def bind(self) -> bool:
        return self.groups or self.total_

    @property
    def most(self) -> int:
        return self.parts.scale.max_total or 0

    def of_unit(self) -> str:
        """The columns g and t of a unit, over its keys."""
        t = f"sum(least(r, {integer(self.parts.scale.max_rows)})) OVER (PARTITION BY u) AS t"
        return ", ".join(["count(*) OVER (PARTITION BY u) AS g"] * self.bind + [t] * self.total_)

    def factor(self) -> str:
        """h / g or T / t, the smaller; compared as h t <= T g, below 2**96."""
        if not self.bind:
            return ""
        h, most = integer(self.h), integer(self.most)
        if not self.total_:
            return f", CASE WHEN g > {h} THEN {h} END AS num, CASE WHEN g > {h} THEN g END AS den"
        if not self.groups:
            return f", CASE WHEN t > {most} THEN {most} END AS num, CASE WHEN t > {most} THEN t END AS den"
        bound, by_groups = f"g > {h} OR t > {most}", f"CAST(t AS {WIDE}) * {h} <= CAST(g AS {WIDE}) * {most}"
        num, den = (f"CASE WHEN {by_groups} THEN {one} ELSE {other} END" for one, other in ((h, most), ("g", "t")))
        return f", CASE WHEN {bound} THEN {num} END AS num, CASE WHEN {bound} THEN {den} END AS den"

    def total(self, index: int) -> str:
        """A sum over the units of a key."""
        sum_, scale = self.parts.sums[index], self.parts.scale
        one = integer(scale.one, WIDE)
        if sum_.what == "distinct":
            return "0"
        if sum_.what == "units":
            return self._units(one)
        c = "r" if sum_.what == "rows" else f"c{sum_.measure}"
        if sum_.what != "values":
            least = f"least({c}, {integer(scale.max_rows)})"
            if not self.bind:
                return f"{one} * sum({least})"  # at most the rows of a table
            free = f"{one} * sum(CASE WHEN den IS NULL THEN {least} ELSE 0L END)"
            bound = f"CASE WHEN den IS NOT NULL THEN CAST({self.scaled_count(c)} AS {WIDE}) END"
            return f"{free} + coalesce(sum({bound}), 0)"
        s = f"s{sum_.measure}"
        free = f"{c} <= {integer(scale.max_rows)}" + (" AND den IS NULL" if self.bind else "")
        weighed = divided(f"CAST({s} AS {WIDE}) * CAST({self.scaled_count(c)} AS {WIDE})",
                          f"CAST(greatest({c}, 1L) AS {WIDE})")
        return (f"coalesce({one} * sum(CASE WHEN {free} THEN {s} END), 0)"
                f" + coalesce(sum(CASE WHEN NOT ({free}) THEN {weighed} END), 0)")

    def scaled_count(self, c: str) -> str:
        """n' = floor(one min(c, max_rows) f)."""
        scale = self.parts.scale
        whole = f"{integer(scale.one)} * least({c}, {integer(scale.max_rows)})"
        if not self.bind:
            return whole
        if scale.one * scale.max_rows * max(self.h, self.most if self.total_ else 0) <= MAX_RANGE:
            bound = f"{whole} * num div den"
        else:
            bound = f"CAST({divided(f'CAST({whole} AS {WIDE}) * num', f'CAST(den AS {WIDE})')} AS BIGINT)"
        return f"CASE WHEN den IS NULL THEN {whole} ELSE {bound} END"

    def _units(self, one: str) -> str:
        """The sum of floor(one * min(1, max_groups / g, max_total / g)): what a unit itself counts in each key. Where
        nothing binds, g is at most t, so at most either cap."""
        if not self.bind:
            return f"{one} * count(*)"
        h = integer(min(self.h, self.most) if self.total_ else self.h)
        share = f"{integer(self.parts.scale.one)} * {h} div g"
        bound = f"CASE WHEN g > {h} THEN CAST({share} AS {WIDE}) END"
        return f"{one} * count(*) FILTER (WHERE g <= {h}) + coalesce(sum({bound}), 0)"
