"""exp, ln and power of doubles by fixed sequences of IEEE operations, so that every engine gives the same bits.

Only + - * / and comparisons of doubles, floor of numbers below 2**11 and exact scaling by powers of two are used, one
rounded operation each, in the order written here; `engines/elementary.py` writes the same in SQL.
Method: fdlibm's `e_exp.c` and `e_log.c` (Sun Microsystems 1993): exp(x) = 2**k exp(r) with |r| <= ln(2)/2, and
ln(x) = e ln 2 + ln(m) with m in [SQRT2/2, SQRT2). Both are within 1 ulp, as compared with python-flint; power, through
exp(b ln a), is within 2 + 2 |b ln a| ulp.
Checked in tests/language/test_elementary.py (accuracy) and tests/engines (same bits).
"""

from __future__ import annotations

import math
from typing import Final

LN2_HIGH: Final = 6.93147180369123816490e-01  # ln 2 in 33 bits, so that k LN2_HIGH is exact
LN2_LOW: Final = 1.90821492927058770002e-10
INVERSE_LN2: Final = 1.44269504088896338700
SQRT2: Final = math.sqrt(2)
EXP: Final = (1.66666666666666019037e-01, -2.77777777770155933842e-03, 6.61375632143793436117e-05,
              -1.65339022054652515390e-06, 4.13813679705723846039e-08)
LN: Final = (6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01, 2.222219843214978396e-01,
             1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01)
MOST: Final = 710.0  # e**710 passes the largest double
LEAST: Final = -746.0  # e**-746 is below half the smallest
SMALLEST_NORMAL: Final = 2.0**-1022
WHOLE: Final = 64  # whole exponents up to this are taken by squaring


def exp(x: float) -> float:
    """e**x, infinite where it passes the doubles; 0.0 where it is below them."""
    x = min(max(x, LEAST), MOST)
    k = math.floor(x * INVERSE_LN2 + 0.5)
    high = x - k * LN2_HIGH
    low = k * LN2_LOW
    r = high - low
    t = r * r
    c = r - t * (EXP[0] + t * (EXP[1] + t * (EXP[2] + t * (EXP[3] + t * EXP[4]))))
    y = 1.0 - ((low - (r * c) / (2.0 - c)) - high)
    half = k // 2
    return (y * 2.0**half) * 2.0 ** (k - half)


def ln(x: float) -> float:
    """ln x for x > 0."""
    if math.isinf(x):
        return x
    scale = 54 if x < SMALLEST_NORMAL else 0
    m, e = math.frexp(x * 2.0**scale)  # m in [1/2, 1), exactly
    m, e = (m * 2.0, e - 1) if m < SQRT2 / 2 else (m, e)
    f = m - 1.0
    k = float(e - scale)
    s = f / (2.0 + f)
    z = s * s
    r = z * (LN[0] + z * (LN[1] + z * (LN[2] + z * (LN[3] + z * (LN[4] + z * (LN[5] + z * LN[6]))))))
    half = 0.5 * f * f
    return k * LN2_HIGH - ((half - (s * (half + r) + k * LN2_LOW)) - f)


def power(a: float, b: float) -> float | None:
    """a**b; infinite where it overflows, None where it is no real number."""
    if abs(b) <= WHOLE and b == math.floor(b):
        return _whole_power(a, int(b))
    if a < 0:
        return None
    if a == 0:
        return 0.0 if b > 0 else None
    return exp(b * ln(a)) if not math.isnan(b * ln(a)) else None


def _whole_power(a: float, n: int) -> float | None:
    """The bits of |n| from the lowest: one square a bit, one product a bit that is set."""
    x, square = 1.0, a
    for bit in range(WHOLE.bit_length()):
        x = x * (square if abs(n) >> bit & 1 else 1.0)
        square = square * square
    return x if n >= 0 else None if x == 0 else 1.0 / x
