"""The grid a real column is measured on: a power of two far below the noise, from plan and price alone (semantics 2.4).

An integer column is its own grid. A float column gets the coarsest step 2**-k of at most 2**-44 of the smallest noise
scale that will be added to it, and of the distance between its bounds (so that no noise, however large, makes the grid
coarser than the bounds); rounding to the grid then moves an answer by less than 2**-44 noise scales a row.
Coarser only where the engine's 128-bit integers ask for it: (U - L) max_rows <= 2**62 and |L|, |U| <= 2**100 steps
(`plan/lower.py` says why these suffice). Squares and products have grids of their own, chosen alike, and their columns
are measured so finely that rounding them moves no product by more: a column moved by h moves a product by at most h
times the other's width. A product of two integers on their grids is an integer in quarters of their steps, which is
rounded down to its own grid by shifting: 126 bits hold it (`engines/limits.py`). Of whole numbers it is not rounded at
all where their sums fit. Bounds are rounded to the grid in exact rationals, and sensitivity is derived
from the rounded ones, so the grid cannot weaken the promise. Checked in tests/pricing/test_grids.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Final

from dpcurator.errors import Refusal
from dpcurator.numbers.binary import leading_bit
from dpcurator.numbers.binary import nearest as nearest
from dpcurator.plan.core import Grid
from dpcurator.plan.limits import DEPTH, WIDTH, fits
from dpcurator.plan.nodes import Ask, Measured
from dpcurator.plan.stability import Steps

FINE: Final = 44  # bits between the smallest noise scale and the grid
MOST_EXPONENT: Final = 1000
MOST_OF_PRODUCT: Final = 2100  # of two numbers below 2**1025 in magnitude, and of the finest steps
_EXPONENTS: Final = (-MOST_EXPONENT, MOST_EXPONENT)  # so that 2.0**exponent is an ordinary double


def grid(column: Measured, scales: Iterable[Fraction], max_rows: int) -> Grid:
    """The grid for a column to which noise of these scales (in the column's unit) is added. Raises Refusal."""
    lower, upper = column.lower, column.upper
    if lower is None or upper is None or column.kind == "text":
        raise TypeError("only a numeric column with bounds is measured")
    if column.kind == "integer":
        if not _fits(lower, upper, 0, max_rows):
            raise Refusal(
                f"the bounds of {column.name!r} are too far apart: their sums could pass 126 bits.",
                cure="The steward declares narrower bounds or a smaller max_rows in the catalog.",
            )
        return Grid(0, "integer", int(lower), int(upper), int(lower), int(upper), 0)
    wanted = max(finest(scale) for scale in (*scales, upper - lower or abs(upper) or Fraction(1)))
    ends = ((upper - lower) * max_rows / WIDTH, max(abs(lower), abs(upper)) / DEPTH)
    most = 1 - max((leading_bit(end) for end in ends if end), default=0)  # 2**-most is below the least step that fits
    exponent = max(_EXPONENTS[0], min(_EXPONENTS[1], most, wanted))
    while not _fits(lower, upper, exponent, max_rows):
        exponent -= 1
        if exponent < _EXPONENTS[0]:
            raise Refusal(f"the bounds of {column.name!r} are too large.", cure="The steward declares narrower bounds.")
    low, high = nearest(lower, exponent), nearest(upper, exponent)
    return Grid(0, "float", float(lower), float(upper), low, high, exponent)


def product_grid(ask: Ask, columns: Mapping[Measured | Ask, Grid], scales: Iterable[Fraction], max_rows: int) -> Grid:
    """The grid for a square or a product of columns on theirs, to which noise of these scales is added."""
    assert ask.column is not None
    assert ask.ends is not None
    (lower, upper), each = ask.ends, ask.column.each
    exponent = columns[each[0]].exponent + columns[each[-1]].exponent + 2
    if any(column.kind == "float" for column in each):
        exponent = min(exponent, max(finest(scale) for scale in (*scales, upper - lower or Fraction(1))))
    room = (upper - lower) * max_rows / WIDTH
    exponent = min(exponent, 1 - leading_bit(room)) if room else exponent
    while not _fits(lower, upper, exponent, max_rows):
        exponent -= 1
    return Grid(0, "float", 0, 0, nearest(lower, exponent), nearest(upper, exponent), exponent)


def grids_of(
    asks: Iterable[Ask], scales: Mapping[Measured | Ask, Sequence[Fraction]], max_rows: int
) -> dict[Measured | Ask, Grid]:
    """The grids of all that is added up in these readings, to which noise of at least these scales is added; those of
    the columns of a product before it. Raises Refusal."""
    found: dict[Measured | Ask, Grid] = {}
    wanted = [ask for ask in dict.fromkeys(asks) if ask.ends is not None and ask.column is not None]
    columns = dict.fromkeys(one for ask in wanted if ask.column is not None for one in ask.column.each)
    for column in columns:
        own = list(scales.get(column, ()))
        for ask in wanted:
            if ask.on_grid == ask and ask.column is not None and column in ask.column.each:
                own += [scale / max(one.width for one in ask.column.each) for scale in scales.get(ask, ())]
        found[column] = grid(column, own, max_rows)
    for ask in wanted:
        if ask.on_grid == ask:
            found[ask] = product_grid(ask, found, scales.get(ask, ()), max_rows)
    return found


def finest(scale: Fraction) -> int:
    """The least k with 2**-k <= scale / 2**FINE; scale: Fraction > 0."""
    wanted = 2**FINE / scale
    k = leading_bit(wanted)
    return k if Fraction(2) ** k == wanted else k + 1


def steps(found: Grid) -> Steps:
    """The grid as stability reads it."""
    return Steps(found.lower, found.upper, found.exponent)


def _fits(lower: Fraction, upper: Fraction, exponent: int, max_rows: int) -> bool:
    return fits(nearest(lower, exponent), nearest(upper, exponent), max_rows)
