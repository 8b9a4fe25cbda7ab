"""Sums: what order, one record, large integers and nan do to an answer whose noise is small or the same each time.

Each probe is given total(rows) -> number: the product's sum of one column, with as little noise as it can be given.
`tolerance` is what noise and the product's own rounding may do, in the sum's unit.
Source      Casacuberta and others, CCS 2022 (arXiv 2207.10635): order, rounding, overflow; Cebere and others 2026: nan.
Checked     tests/audit/test_probes.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from dpcurator.auditing.probes.probed import Probed

Total = Callable[[list[Any]], Any]
ODD = (math.nan, math.inf, -math.inf, 1e308, -1e308)


def order(total: Total, *, tolerance: float = 1, rows: Sequence[float] | None = None) -> Probed:
    """The same rows in two orders. Bounds must hold 0 to 2**53."""
    told = [2.0**53] + [1.0] * 4096 if rows is None else list(rows)
    up, down = _answer(total, told), _answer(total, told[::-1])
    words = f"the sum of the same {len(told)} rows is {up} in one order and {down} in the other"
    return Probed("order of rows", not _near(up, down, tolerance), words)


def one_record(total: Total, *, low: float = 2.0**50, high: float = 2.0**50 + 1, n: int = 1024,
               tolerance: float = 0) -> Probed:
    """n rows at `high`, of which the last is replaced by `low`: the sum moves by at most high - low."""
    one, other = _answer(total, [high] * n), _answer(total, [high] * (n - 1) + [low])
    fell = not _near(one, other, high - low + tolerance)
    return Probed(
        "rounding of sums", fell, f"one of {n} rows moved by {high - low}; the sum went from {one} to {other}"
    )


def overflow(total: Total, *, rows: Sequence[int] | None = None, tolerance: float = 1) -> Probed:
    """Integers whose sum passes 2**63: it must be the whole number, or stop at 2**63 - 1, which moves no further.

    Bounds must hold 0 to the largest row.
    """
    told = [2**55] * 300 if rows is None else list(rows)
    found, exact = _answer(total, told), sum(told)
    fell = not _near(found, exact, tolerance) and not _near(found, 2**63 - 1, tolerance)
    return Probed("overflow", fell, f"{len(told)} rows that sum to {exact} gave {found}")


def not_finite(total: Total, *, low: float = 0, high: float = 1, tolerance: float = 1e-6) -> Probed:
    """A row more that is no number within bounds: the sum stays finite, and moves by no more than a bound's size."""
    rest = [high] * 99
    before, most = _answer(total, rest), max(abs(low), abs(high)) + tolerance
    for odd in ODD:
        after = _answer(total, [*rest, odd])
        if not _near(before, after, most):
            return Probed("nan and infinities", True, f"one row of {odd} moved the sum from {before} to {after}")
    return Probed(
        "nan and infinities", False, "rows of nan, infinities and 1e308 moved the sum by no more than a bound"
    )


def _answer(total: Total, rows: list[Any]) -> Any:
    """The answer, or the exception's name: an outcome like any other."""
    try:
        found = total(rows)
        return found if isinstance(found, int | Fraction) else float(found)
    except Exception as raised:
        return type(raised).__name__


def _near(one: Any, other: Any, most: float) -> bool:
    """Are both finite numbers, at most so far apart? Exactly, as a difference of doubles could round."""
    if isinstance(one, str) or isinstance(other, str):
        return bool(one == other)
    return math.isfinite(one) and math.isfinite(other) and abs(Fraction(one) - Fraction(other)) <= Fraction(most)
