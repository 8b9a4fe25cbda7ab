"""k = floor(scale * ln(factor / U)) for a uniform U: an exponential tail by inversion, one word a draw.

Definition  With p = exp(-1/scale): P(k >= j) = factor * p**j for integers j >= 1. `factor` is 1 for a geometric, and
            2/(1+p) for the absolute value of a discrete Laplace (so that 0 is not counted twice).
Promise     The distribution is exact. A float64 decides k only when no real U that begins with the word could give
            another k; the other words are settled in ball arithmetic with further bits. 2**-20 <= scale <= 2**15 for
            the floats; a smaller scale is treated below. A draw is settled slowly with probability under 2**-31.

Proof of the margin. Let e = 2**-53, v >= 1 the 63 bits drawn, so U = x / 2**63 with v <= x <= v+1; L = ln(factor), in
[0, 1); z* = L - ln(v / 2**63) >= 0, which is at least |ln(v / 2**63)|. In floats u = v * 2**-63 has relative error at
most e (scaling by a power of two is exact), so ln u is within 1.01 e of ln(v / 2**63). **Assumed of the library's log:
relative error at most 2**-49**, sixteen times a correctly rounded one's (numpy and libm document under 4 units in the
last place, 2**-50 at worst; a test measures the installed ones). The float of L is within e of it. So z = L - log(u),
rounded, is within (2**-49 + 1.01 e) z* + 2.02 e of z*, and t = scale * z, with the float of the scale and one product,
is within t (2**-49 + 4 e) + 3 e scale of scale * z*. Moving x over [v, v+1] moves scale * ln(x / v) by at most scale *
ln(1 + 1/v) <= scale / v. The margin used, t 2**-48 + scale 2**-51 + scale / v, exceeds the sum by t 2**-50 + scale e,
and at v < 8 by 1/v - ln(1 + 1/v) > .007 more, which covers the rounding of the margin itself (4 e of it). t - rint(t)
is exact. Hence if |t - rint(t)| > margin, no integer lies among the possible true values, and floor(t) is right for
all of them. The probability of a doubt is under scale (2**-47 + 2**-49) + 2**-45 (t has mean about scale), so under
2**-31.

A scale under 2**-20 is replaced by 2**-20 in the floats alone: for v >= 1 both have scale * z* < 2**-20 * 45 < 1, so k
= 0 for both. v = 0 is always settled slowly, with the true scale.
Checked     tests/samplers/test_exponential_tail.py: every boundary word against ball arithmetic.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpcurator.entropy import Entropy
from dpcurator.numbers.arb import Ball, ball, common_floor, precision
from dpcurator.numbers.enclosure import bracket
from dpcurator.samplers.lazy_uniform import settle

LARGEST = 2**15
MASK = (1 << 63) - 1
_UNIT = 2.0**-63
_CEILING = 1 << 24  # a k past this could pass int64 once lower digits are appended; chance at most exp(-512)


class Tail:
    """scale: Fraction, 0 < scale <= 2**15; two_sided: whether factor is 2/(1+p) rather than 1. Holds constants only."""

    __slots__ = ("_flat", "_log", "_scale", "scale", "two_sided")

    def __init__(self, scale: Fraction, *, two_sided: bool) -> None:
        if not 0 < scale <= LARGEST:
            raise ValueError("a tail takes 0 < scale <= 2**15")
        self.scale, self.two_sided = scale, two_sided
        self._scale = max(float(scale), 2.0**-20)
        self._flat = self._scale * 2.0**-51
        with precision(80):
            self._log = float(bracket(self._log_factor()).lo) if two_sided else 0.0

    def _log_factor(self) -> Ball:
        return (2 / (1 + (-1 / ball(self.scale)).exp())).log() if self.two_sided else ball(0)

    def one(self, v: int, entropy: Entropy) -> int:
        """k for the 63-bit word v, as a Python int."""
        if v:
            t = self._scale * (self._log - math.log(v * _UNIT))
            if abs(t - round(t)) > t * 2.0**-48 + self._flat + self._scale / v:
                return int(t)
        return self.exact(v, entropy)

    def many(self, words: NDArray[np.uint64], entropy: Entropy) -> NDArray[np.float64]:
        """k for the low 63 bits of each word, as whole float64 below 2**24. Raises OverflowError, chance < 2**-738."""
        v = (words & np.uint64(MASK)).view(np.int64).astype(np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):  # v = 0 gives inf and nan, which are doubtful below
            t = v * _UNIT
            np.log(t, out=t)
            np.subtract(self._log, t, out=t)
            t *= self._scale
            np.divide(self._scale, v, out=v)
            v += self._flat
            k = np.rint(t)
            gap = np.subtract(t, k, out=k)
            np.abs(gap, out=gap)
            v += t * 2.0**-48
            sure = gap > v  # False for nan
            np.floor(t, out=t)
        if not sure.all():
            for i in np.flatnonzero(~sure):
                found = self.exact(int(words[i]) & MASK, entropy)
                if found >= _CEILING:
                    raise OverflowError("a draw fell 512 scales from the centre, where int64 cannot follow")
                t[i] = found
        return t

    def exact(self, v: int, entropy: Entropy) -> int:
        """k for the real that begins with the 63 bits v, in ball arithmetic."""
        return settle(v, 63, entropy, self._floor)

    def _floor(self, w: int, bits: int) -> int | None:
        if w == 0:
            return None
        with precision(bits + 96):
            log, scale, unit = self._log_factor(), ball(self.scale), 1 << bits
            ends = [scale * (log - ball(Fraction(end, unit)).log()) for end in (w, w + 1)]
            return common_floor(*ends)
