"""Geometric draws with a rational scale.

Definition  P(G = k) = (1-p) * p**k for integers k >= 0, with p = exp(-1/scale).
Promise     The distribution is exact for every rational scale > 0. Up to 2**15 it is one inversion (`tail`); above, G's
            binary digits are drawn in independent blocks: a tail of scale in (2**14, 2**15], then up to 18 digits by
            inversion, then the digits that are uniform but for a probability of 2**-32 (`digits`). int64 up to scale
            2**54, Python ints above, whatever is drawn. int64 cannot hold the distribution's far end: a draw 512 scales
            out (probability e**-512 < 2**-738) raises OverflowError.
Source      inversion: Devroye 1986, ch. III; blocks of digits: `digits`.
Checked     tests/samplers/test_geometric.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from dpcurator.entropy import Entropy
from dpcurator.numbers import positive, whole
from dpcurator.samplers.exponential_tail import LARGEST, MASK, Tail
from dpcurator.samplers.geometric_digits import Low, Middle
from dpcurator.samplers.lazy_uniform import CHUNK, WORD, source

WIDEST = 2**54  # the largest scale whose draws are int64


@overload
def geometric(scale: Fraction, size: None = None, entropy: Entropy | None = None) -> int: ...
@overload
def geometric(scale: Fraction, size: int, entropy: Entropy | None = None) -> NDArray[Any]: ...
def geometric(scale: Fraction, size: int | None = None, entropy: Entropy | None = None) -> int | NDArray[Any]:
    """One int, or `size` independent draws: int64, or object (Python ints) for a scale above 2**54; shape (size,).

    scale: Fraction > 0, in the unit of the draw. Raises Refusal for any other.
    """
    law = blocks(scale if type(scale) is Fraction else positive(scale, name="scale"))
    entropy = source(entropy)
    if size is None:
        return law.one(entropy)
    out: NDArray[Any] = np.empty(whole(size, name="size"), dtype=law.dtype)
    for start in range(0, len(out), CHUNK):
        part = out[start : start + CHUNK]
        part[:] = law.many(entropy.words(law.width * len(part)).reshape(law.width, -1), entropy)
    return out


@dataclass(frozen=True, slots=True)
class Blocks:
    """A geometric as independent blocks of digits, the lower ones absent for small scales."""

    dtype: type
    top: Tail
    middle: Middle | None
    low: Low | None

    @property
    def width(self) -> int:
        """Words a draw begins with."""
        return 1 + (self.middle is not None) + (0 if self.low is None else self.low.width)

    def one(self, entropy: Entropy) -> int:
        value = self.top.one(entropy.bits(WORD) & MASK, entropy)
        if self.middle is not None:
            value = value << self.middle.m | self.middle.one(entropy.bits(WORD) & MASK, entropy)
        if self.low is not None:
            value = value << self.low.m | self.low.one(entropy.bits(WORD * self.low.width), entropy)
        return value

    def many(self, words: NDArray[np.uint64], entropy: Entropy) -> NDArray[Any]:
        """words: shape (width, n), a row for the top, one for the middle, the rest for the lowest digits."""
        value: NDArray[Any] = self.top.many(words[0], entropy).astype(np.int64)
        if self.middle is not None:
            value <<= self.middle.m
            value |= self.middle.many(words[1], entropy)
        if self.low is not None:
            value = value.astype(self.dtype, copy=False)
            value <<= self.low.m
            value |= self.low.many(words[2:], entropy)
        return value


@lru_cache(maxsize=256)
def blocks(scale: Fraction) -> Blocks:
    """The split for this scale: constants of the distribution alone. 2**(e-1) < scale <= 2**e decides where to cut."""
    positive(scale, name="scale")
    if scale <= LARGEST:
        return Blocks(np.int64, Tail(scale, two_sided=False), None, None)
    e = (-(-scale.numerator // scale.denominator) - 1).bit_length()
    below_tail, low = e - 15, max(0, e - 33)
    middle = below_tail - low
    return Blocks(
        np.int64 if scale <= WIDEST else object,
        Tail(scale / 2**below_tail, two_sided=False),
        Middle(scale / 2**low, middle),
        Low(scale, low) if low else None,
    )
