"""Discrete Gaussian draws with a rational variance parameter.

Definition  P(Z = k) proportional to f(k) = exp(-k**2 / (2 variance)) for all integers k. `variance` is sigma squared,
            the parameter of the distribution (its second moment is a little less).
Promise     The distribution is exact for every rational variance > 0. Up to 2**14 it is one inversion by a table
            (`bell`). Above, with L = 2**m the least power of two for which variance / L**2 <= 2**14: a signed block b
            is drawn with probability proportional to f(j L), j = b for b >= 0 and -1 - b below (a `bell` once more); Z
            = b L + d, d uniform on 0 .. L - 1, is kept with probability f(Z) / f(j L), else all is drawn again. What is
            kept has probability proportional to f(j L) (1/L) f(Z) / f(j L), that is to f(Z). Since j L <= |Z| <= (j+1)
            L in every block, the probability is at most 1 and at least f((j+1) L) / f(j L): a V below that is kept at
            once. Under 1.3 % look further, under .7 % are drawn again. int64 up to variance 2**108, Python ints above,
            by the variance and never by the draw; int64 cannot hold the distribution's far end (see `bell`).

Proof of the margin, for draws that look further. V is r = 64 - m bits, then 64 more. Let e = 2**-53, s**2 = variance /
L**2, u = (|Z| - j L) / L, so that f(Z) / f(j L) = exp(-g), g = u (2j + u) / (2 s**2). u is an exact float; 2j + u, two
products and the float of 1/(2 s**2) each err by e, so g <= 1/4 errs by less than 1.1 e. The Taylor polynomial of degree
13 drops under 2**-62; by Horner's rule with rounded coefficients it errs by at most 28 e exp(1/4) / (1 - 28 e) < 37 e
(Higham 2002, section 5.1). V in floats errs by 3 e, and its bracket is narrower than e. Together under 43 e; the margin
is 128 e = 2**-46. g > 1/4 (which no draw within a table's reach has) and V within the margin (probability 2**-45 among
those that look further) are settled in ball arithmetic. Nothing is assumed of a library: there are IEEE sums and
products.
Source      the law: Canonne, Kamath, Steinke, NeurIPS 2020 (arXiv 2004.00010); blocks under steps: Devroye 1986, II.3.
Checked     tests/samplers/test_discrete_gaussian.py.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from dpcurator.entropy import Entropy
from dpcurator.numbers import positive, whole
from dpcurator.numbers.arb import ball, precision
from dpcurator.samplers.gaussian_table import LARGEST, REACH, Bell
from dpcurator.samplers.lazy_uniform import CHUNK, WORD, settle, source

WIDEST = 2**108  # the largest variance whose draws are int64
_MARGIN = 2.0**-46
_TAYLOR = [(-1.0) ** k / math.factorial(k) for k in range(13, -1, -1)]


@overload
def discrete_gaussian(variance: Fraction, size: None = None, entropy: Entropy | None = None) -> int: ...
@overload
def discrete_gaussian(variance: Fraction, size: int, entropy: Entropy | None = None) -> NDArray[Any]: ...
def discrete_gaussian(
    variance: Fraction, size: int | None = None, entropy: Entropy | None = None
) -> int | NDArray[Any]:
    """One int, or `size` independent draws: int64, or object (Python ints) for a variance above 2**108; shape (size,).

    variance: Fraction > 0, in the square of the draw's unit. Raises Refusal for any other.
    """
    law = _law(variance if type(variance) is Fraction else positive(variance, name="variance"))
    entropy = source(entropy)
    if isinstance(law, Bell):
        if size is None:
            return law.one(entropy.bits(WORD), entropy)
        out = np.empty(whole(size, name="size"), dtype=np.int64)
        for start in range(0, len(out), CHUNK):
            part = out[start : start + CHUNK]
            part[:] = law.many(entropy.words(len(part)), entropy)
        return out
    return law.one(entropy) if size is None else law.many(whole(size, name="size"), entropy)


@lru_cache(maxsize=64)
def _law(variance: Fraction) -> Bell | Blocks:
    positive(variance, name="variance")
    return Bell(variance, folded=True) if variance <= LARGEST else Blocks(variance)


class Blocks:
    """variance: Fraction > 2**14. A block, a place in it, and whether that is kept. Holds constants only."""

    __slots__ = ("_half", "_kept", "_kept_signed", "_rest", "_width", "dtype", "m", "top", "variance")

    def __init__(self, variance: Fraction) -> None:
        if variance <= LARGEST:
            raise ValueError("blocks take a variance above 2**14")
        self.variance, self.dtype = variance, np.int64 if variance <= WIDEST else object
        self.m = ((-(-variance.numerator // variance.denominator) - 1).bit_length() - 13) // 2
        self.top = Bell(variance / 4**self.m, folded=False)
        self._half = float(1 / (2 * self.top.variance))
        self._width = max(WORD, self.m + 17)  # bits: the digits below, the first of V above
        self._rest = self._width - self.m
        with precision(self._rest + 64):
            shares = [(-ball((2 * j + 1) / (2 * self.top.variance))).exp() for j in range(self.top.size)]
            floors = [int((share * 2**self._rest).lower().floor().unique_fmpz()) for share in shares]
        self._kept = [floor << self.m for floor in floors]
        if self.dtype is not object:  # indexed by b: those below 0 count from the end
            kept = np.zeros(REACH, dtype=np.uint64)
            kept[: len(self._kept)] = self._kept
            self._kept_signed = np.concatenate([kept, kept[::-1]])

    def one(self, entropy: Entropy) -> int:
        while True:
            word, drawn = divmod(entropy.bits(WORD + self._width), 1 << self._width)
            block = self.top.one(word, entropy)
            j = ~block if block < 0 else block
            sure = j < len(self._kept) and drawn < self._kept[j]
            if sure or self.exact(block, drawn, entropy.bits(WORD), entropy):
                return block << self.m | drawn & ((1 << self.m) - 1)

    def many(self, size: int, entropy: Entropy) -> NDArray[Any]:
        if self.dtype is object:
            return np.fromiter((self.one(entropy) for _ in range(size)), dtype=object, count=size)
        out = np.empty(size, dtype=np.int64)
        again = self._fill(out, entropy)
        while len(again):
            part = np.empty(len(again), dtype=np.int64)
            still = self._fill(part, entropy)
            out[again] = part
            again = again[still]
        return out

    def _fill(self, out: NDArray[np.int64], entropy: Entropy) -> NDArray[np.intp]:
        """One try for each place; which places were not kept."""
        places, blocks, seconds = [], [], []
        for start in range(0, len(out), CHUNK):
            part = out[start : start + CHUNK]
            words = entropy.words(2 * len(part)).reshape(2, -1)
            block, drawn = self.top.many(words[0], entropy), words[1]
            np.left_shift(block, self.m, out=part)
            part |= (drawn & np.uint64((1 << self.m) - 1)).view(np.int64)
            further = np.flatnonzero(drawn >= self._kept_signed[block])
            places.append(start + further)
            blocks.append(block[further])
            seconds.append(drawn[further])
        if not places:
            return np.empty(0, dtype=np.intp)
        return np.concatenate(places)[~self._keeps(np.concatenate(blocks), np.concatenate(seconds), entropy)]

    def _keeps(self, block: NDArray[np.int64], drawn: NDArray[np.uint64], entropy: Entropy) -> NDArray[np.bool_]:
        more = entropy.words(len(block))
        digits = (drawn & np.uint64((1 << self.m) - 1)).view(np.int64)
        negative = block < 0
        u = np.where(negative, (1 << self.m) - digits, digits) * 2.0**-self.m
        g = u * (2.0 * np.where(negative, ~block, block) + u) * self._half
        chance = np.full(len(g), _TAYLOR[0])
        for coefficient in _TAYLOR[1:]:
            chance = chance * g + coefficient
        v = (drawn >> np.uint64(self.m)) * 2.0**-self._rest + more * 2.0 ** -(self._rest + WORD)
        keeps: NDArray[np.bool_] = v < chance
        for i in np.flatnonzero((np.abs(v - chance) <= _MARGIN) | (g > 0.25)):
            keeps[i] = self.exact(int(block[i]), int(drawn[i]), int(more[i]), entropy)
        return keeps

    def exact(self, block: int, drawn: int, more: int, entropy: Entropy) -> bool:
        """Is the place kept, when V goes on with the word `more`?"""
        j, digits, length = (~block if block < 0 else block), drawn & ((1 << self.m) - 1), 1 << self.m
        u = length - digits if block < 0 else digits
        exponent = Fraction(u * (2 * j * length + u)) / (2 * self.variance)

        def below(w: int, bits: int) -> bool | None:
            with precision(bits + 64):
                chance = (-ball(exponent)).exp()
                if ball(Fraction(w + 1, 1 << bits)) <= chance:
                    return True
                return False if ball(Fraction(w, 1 << bits)) >= chance else None

        return settle(drawn >> self.m << WORD | more, self._rest + WORD, entropy, below)
