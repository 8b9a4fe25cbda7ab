"""The candidates of a private quantile: a public list of values, one of which is answered (semantics 2.10).

    whole numbers, dates, times    L, L + s, L + 2 s, ... up to U, with the least whole step s that makes few enough
    floats                         the multiples of 2**-k from L to U, both rounded to one, with the largest such k

Few enough is 2**16, and 2**20 over all listed groups together, so that what an engine counts and a mechanism chooses
from is bounded by public numbers; of each unknown group, 2**12. A value belongs to the last candidate that is not above
it (whole numbers) or to the nearest (floats), after it is clamped: a function of that value alone.
Checked in tests/plan/test_candidates.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from dpcurator.errors import Refusal
from dpcurator.numbers.binary import leading_bit, nearest
from dpcurator.plan.core import Grid
from dpcurator.plan.nodes import Measured

MOST: Final = 2**16  # candidates of one group
CELLS: Final = 2**20  # of all listed groups together
UNLISTED: Final = 2**12  # of each group that nobody listed
FEWEST: Final = 16  # candidates, below which a float or a long range is refused rather than made coarse
DEEPEST: Final = 1000  # of a grid's exponent


@dataclass(frozen=True, slots=True)
class Candidates:
    """grid: on which a value is measured as an integer from 0 to upper - lower. Candidate i stands for the `step`
    integers from i * step on."""

    grid: Grid
    step: int

    @property
    def count(self) -> int:
        return (self.grid.upper - self.grid.lower) // self.step + 1

    @property
    def spacing(self) -> Fraction:
        """From one candidate to the next, in the column's unit."""
        return self.step * Fraction(2) ** -self.grid.exponent

    def value(self, index: int) -> Fraction:
        """Of one candidate, in the column's unit."""
        return (self.grid.lower + index * self.step) * Fraction(2) ** -self.grid.exponent


def candidates(column: Measured, keys: int | None) -> Candidates:
    """Of a column with bounds. keys: how many groups are listed, None where they are unknown. Raises Refusal."""
    lower, upper = column.lower, column.upper
    if lower is None or upper is None or column.kind == "text":
        raise TypeError("only a numeric column with bounds has candidates")
    most = UNLISTED if keys is None else min(MOST, CELLS // max(1, keys))
    if column.kind == "integer":
        low, high = int(lower), int(upper)
        _enough(column, most, high - low + 1)
        return Candidates(Grid(0, "integer", low, high, low, high, 0), -(-(high - low + 1) // most))
    _enough(column, most, FEWEST)
    exponent = DEEPEST if lower == upper else min(DEEPEST, leading_bit(most / (upper - lower)))
    while exponent > -DEEPEST and nearest(upper, exponent) - nearest(lower, exponent) >= most:
        exponent -= 1
    low, high = nearest(lower, exponent), nearest(upper, exponent)
    if exponent < -DEEPEST or high - low >= most or max(abs(low), abs(high)) > 2**100:
        raise Refusal(
            f"the bounds of {column.name!r} are too far apart, or too far from 0, for the candidates of a quantile.",
            cure="Ask for it of CLIP(x, 0, 1000), with ends from public knowledge.",
        )
    return Candidates(Grid(0, "float", float(lower), float(upper), low, high, exponent), 1)


def _enough(column: Measured, most: int, wanted: int) -> None:
    if most < min(wanted, FEWEST):
        raise Refusal(
            f"there are too many groups for a quantile of {column.name!r}: groups times candidates are at most "
            f"{CELLS:,}.", cure="Group by fewer columns or keys, or ask for fewer groups in several questions.",
        )
