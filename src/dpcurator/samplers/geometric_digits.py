"""The lower binary digits of a geometric, as two blocks independent of the digits above and of each other.

Definition  For G with P(G = k) proportional to exp(-k/scale) and any split G = high * 2**m + d with 0 <= d < 2**m,
            exp(-G/scale) = exp(-high * 2**m / scale) * exp(-d/scale): high and d are independent, high is geometric
            with scale / 2**m, and d is truncated geometric, P(d) proportional to exp(-d/scale) on 0 .. 2**m - 1.
            `Middle` draws d by inversion: floor(-scale * ln(1 - U q)), q = 1 - exp(-2**m / scale). `Low`, for 2**m /
            scale <= 2**-32, draws d uniformly and keeps it with probability exp(-d/scale), else again.
Promise     Both distributions are exact; words are settled slowly with probability at most 2**(m-49) (Middle, m <= 18:
            2**-31) and 2**-32.

Proof of Middle's margin, for q <= 2**-14. Let e = 2**-53. x = fl(v) * fl(q 2**-63), rounded, has relative error at
most 3 e. y = x (1 + x (1/2 + x (1/3 + x/4))) drops less than x * 2**-58 of -ln(1-x); its inner sum is below 2**-14 so
its rounding adds under .01 e, the sum with 1 adds e, the product e. -ln(1-x) moves at most 1.0001 times as fast as x,
relatively. So y is within 5.1 e of the real one, t = y * scale within 7.1 e, that is 2**m * 7.1 e since t <= 2**m.
Moving U over its word's bracket moves t by under 2**m * 2**-62. Together less than 2**(m-50) = 2**m * 8 e, the margin
used; t - rint(t) is exact. Only IEEE sums and products are used: nothing is assumed of a library. Low: with r bits of
V beyond the digits and K = floor(2**r (1 - 2**m / scale)), V < K puts the real V below 1 - 2**m / scale <= 1 - d/scale
<= exp(-d/scale) wherever in its bracket it is. Other V are settled in ball arithmetic.
Source      the independence of a geometric's binary digits is folklore (Karney 2016, Canonne, Kamath, Steinke 2020).
Checked     tests/samplers/test_geometric_digits.py.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcurator.entropy import Entropy
from dpcurator.numbers.arb import Ball, ball, common_floor, precision
from dpcurator.numbers.enclosure import bracket
from dpcurator.samplers.lazy_uniform import WORD, settle

_MASK = (1 << 63) - 1
_SPARE = 36  # bits Low keeps beyond the digits to decide whether they stay


class Middle:
    """m: 1 to 18 digits; scale >= 2**m * 2**14."""

    __slots__ = ("_margin", "_q", "_scale", "m", "scale")

    def __init__(self, scale: Fraction, m: int) -> None:
        if not 1 <= m <= 18 or scale < 2 ** (m + 14):
            raise ValueError("Middle takes 1 to 18 digits and a scale of at least 2**(digits + 14)")
        self.scale, self.m = scale, m
        with precision(80):
            self._q = float(bracket(self._mass()).lo) * 2.0**-63
        self._scale, self._margin = float(scale), 2.0 ** (m - 50)

    def _mass(self) -> Ball:
        return -((-ball(2**self.m / self.scale)).expm1())

    def one(self, v: int, entropy: Entropy) -> int:
        """The digits for the 63-bit word v, as an int."""
        x = v * self._q
        t = x * (1 + x * (1 / 2 + x * (1 / 3 + x / 4))) * self._scale
        return int(t) if abs(t - round(t)) > self._margin else self.exact(v, entropy)

    def many(self, words: NDArray[np.uint64], entropy: Entropy) -> NDArray[np.int64]:
        """The digits for the low 63 bits of each word."""
        x = (words & np.uint64(_MASK)).view(np.int64).astype(np.float64)
        x *= self._q
        t = x * (1 / 4)
        for coefficient in (1 / 3, 1 / 2, 1.0):
            t += coefficient
            t *= x
        t *= self._scale
        gap = np.rint(t, out=x)
        np.subtract(t, gap, out=gap)
        np.abs(gap, out=gap)
        digits = t.astype(np.int64)
        sure = gap > self._margin
        if not sure.all():
            for i in np.flatnonzero(~sure):
                digits[i] = self.exact(int(words[i]) & _MASK, entropy)
        return digits

    def exact(self, v: int, entropy: Entropy) -> int:
        return settle(v, 63, entropy, self._floor)

    def _floor(self, w: int, bits: int) -> int | None:
        with precision(bits + 96):
            mass, scale, unit = self._mass(), ball(self.scale), 1 << bits
            ends = [-scale * (-(ball(Fraction(end, unit)) * mass)).log1p() for end in (w, w + 1)]
            return common_floor(*ends)


class Low:
    """m >= 1 digits, as many words as they need; scale >= 2**m * 2**32."""

    __slots__ = ("_kept", "_rest", "m", "scale", "width")

    def __init__(self, scale: Fraction, m: int) -> None:
        if m < 1 or scale < 2 ** (m + 32):
            raise ValueError("Low takes a scale of at least 2**(digits + 32)")
        self.scale, self.m = scale, m
        self.width = -(-(m + _SPARE) // WORD)  # words a draw
        self._rest = WORD * self.width - m
        self._kept = int(2**self._rest * (1 - 2**m / scale))

    def one(self, drawn: int, entropy: Entropy) -> int:
        """The digits for an int of `width` words."""
        while not self._keeps(drawn, entropy):
            drawn = entropy.bits(WORD * self.width)
        return drawn & ((1 << self.m) - 1)

    def _keeps(self, drawn: int, entropy: Entropy) -> bool:
        kept, digits = drawn >> self.m, drawn & ((1 << self.m) - 1)
        return kept < self._kept or settle(kept, self._rest, entropy, lambda w, bits: self._below(w, bits, digits))

    def _below(self, w: int, bits: int, digits: int) -> bool | None:
        """Is the real that begins with w below exp(-digits/scale)?"""
        with precision(bits + 64):
            chance = (-ball(digits / self.scale)).exp()
            if ball(Fraction(w + 1, 1 << bits)) <= chance:
                return True
            return False if ball(Fraction(w, 1 << bits)) >= chance else None

    def many(self, words: NDArray[np.uint64], entropy: Entropy) -> NDArray[Any]:
        """The digits from words of shape (width, n), the highest first; int64, or Python ints when width > 1."""
        if self.width == 1:
            drawn: NDArray[Any] = words[0]
            sure = drawn < np.uint64(self._kept << self.m)
            digits: NDArray[Any] = (drawn & np.uint64((1 << self.m) - 1)).view(np.int64)
        else:
            drawn = words[0].astype(object)
            for row in words[1:]:
                drawn = (drawn << WORD) | row.astype(object)
            sure = (drawn >> self.m) < self._kept
            digits = drawn & ((1 << self.m) - 1)
        if not sure.all():
            for i in np.flatnonzero(~sure.astype(bool)):
                digits[i] = self.one(int(drawn[i]), entropy)
        return digits
