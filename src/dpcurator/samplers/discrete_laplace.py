"""Discrete Laplace draws with a rational scale.

Definition  P(Z = k) = (1-p)/(1+p) * p**|k| for all integers k, with p = exp(-1/scale).
Promise     The distribution is exact for every rational scale > 0. Up to 2**15, |Z| is one inversion of P(|Z| >= j) = 2
            p**j / (1+p) and the sign a bit of the same word; both signs of 0 are the one 0 whose mass that distribution
            already counts. Above, Z = G, or -1 - G with probability p/(1+p), for a geometric G: both halves then have
            mass (1-p)/(1+p) p**|k| and 0 belongs to the first alone. int64 up to scale 2**54, Python ints above, by the
            scale and never by the draw (see `geometric`).
Source      Ghosh, Roughgarden, Sundararajan 2009 (the distribution); inversion with a proved margin in `tail`.
Checked     tests/samplers/test_discrete_laplace.py.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from dpcurator.entropy import Entropy
from dpcurator.numbers import positive, whole
from dpcurator.samplers.bernoulli import Coin, logistic_coin
from dpcurator.samplers.exponential_tail import LARGEST, MASK, Tail
from dpcurator.samplers.geometric import Blocks, blocks
from dpcurator.samplers.lazy_uniform import CHUNK, WORD, source


@overload
def discrete_laplace(scale: Fraction, size: None = None, entropy: Entropy | None = None) -> int: ...
@overload
def discrete_laplace(scale: Fraction, size: int, entropy: Entropy | None = None) -> NDArray[Any]: ...
def discrete_laplace(scale: Fraction, size: int | None = None, entropy: Entropy | None = None) -> int | NDArray[Any]:
    """One int, or `size` independent draws: int64, or object (Python ints) for a scale above 2**54; shape (size,).

    scale: Fraction > 0, in the unit of the draw. Raises Refusal for any other.
    """
    law = _law(scale if type(scale) is Fraction else positive(scale, name="scale"))
    entropy = source(entropy)
    if size is None:
        return law.one(entropy)
    out: NDArray[Any] = np.empty(whole(size, name="size"), dtype=law.dtype)
    for start in range(0, len(out), CHUNK):
        law.fill(out[start : start + CHUNK], entropy)
    return out


@lru_cache(maxsize=256)
def _law(scale: Fraction) -> Folded | Joined:
    positive(scale, name="scale")
    return Folded(Tail(scale, two_sided=True)) if scale <= LARGEST else Joined(logistic_coin(scale), blocks(scale))


class Folded:
    """A sign bit and an absolute value from one word."""

    __slots__ = ("tail",)
    dtype: type = np.int64

    def __init__(self, tail: Tail) -> None:
        self.tail = tail

    def one(self, entropy: Entropy) -> int:
        word = entropy.bits(WORD)
        size = self.tail.one(word & MASK, entropy)
        return -size if word > MASK else size

    def fill(self, out: NDArray[Any], entropy: Entropy) -> None:
        words = entropy.words(len(out))
        sizes = self.tail.many(words, entropy)
        np.copysign(sizes, words.view(np.float64), out=sizes)  # a word's top bit is its float's sign bit
        out[:] = sizes


class Joined:
    """A side, and a geometric distance from it."""

    __slots__ = ("coin", "distance", "dtype")

    def __init__(self, coin: Coin, distance: Blocks) -> None:
        self.coin, self.distance, self.dtype = coin, distance, distance.dtype

    def one(self, entropy: Entropy) -> int:
        below = self.coin.one(entropy.bits(WORD), entropy)
        distance = self.distance.one(entropy)
        return ~distance if below else distance

    def fill(self, out: NDArray[Any], entropy: Entropy) -> None:
        words = entropy.words((1 + self.distance.width) * len(out)).reshape(-1, len(out))
        below = self.coin.many(words[0], entropy)
        np.bitwise_xor(self.distance.many(words[1:], entropy), -below.astype(np.int64), out=out)
