"""Vectorised exact test of x * m >= t for float64 x (Dekker's product).

Definition  reaches(x, m, t) tells for each double x and whole t whether x * m >= t, m a whole number.
Promise     Exact, if 0 < m < 2**53, |t| < 2**62 and |x| < 2**900.
Proof       x m is hi + lo, hi the double nearest to it and lo the rest (Dekker's product: both factors are split into
            halves of 26 bits, whose products are exact). t is thi + tlo likewise. Rounding is monotone, so where hi and
            thi differ they tell; where they are equal the rests do. The rest is exact unless the product is below
            2**-960: then hi and thi are equal only if both are 0, and with them the rests.
Source      Dekker, Numerische Mathematik 1971.
Checked     tests/numbers/test_exact_product.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

FACTOR = 1 << 53
TARGET = 1 << 62
_SPLITTER = float((1 << 27) + 1)


def reaches(x: NDArray[Any], factor: int, target: NDArray[Any]) -> NDArray[Any]:
    """x: float64; factor: int; target: int64, of the shape of x."""
    import numpy as np

    times = float(factor)
    with np.errstate(under="ignore"):
        product = x * times
        high, above = _split(x), float(_split(np.float64(times)))
        low, below = x - high, times - above
        rest = ((high * above - product) + high * below + low * above) + low * below
    near = target.astype(np.float64)
    left = (target - near.astype(np.int64)).astype(np.float64)
    found: NDArray[Any] = (product > near) | ((product == near) & (rest >= left))
    return found


def _split(x: Any) -> Any:
    """The leading 26 bits."""
    wide = x * _SPLITTER
    return wide - (wide - x)
