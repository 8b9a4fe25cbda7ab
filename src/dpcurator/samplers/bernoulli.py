"""Bernoulli draws: a rational probability, or exp(-x) for a rational x.

Definition  `bernoulli(c)` is True with probability c; `bernoulli_exp(x)` with probability exp(-x).
Promise     The distribution is exact. A 64-bit word w is True when every real in [w, w+1] / 2**64 is below the
            probability, False when none is; the word that straddles it (probability 2**-64) is settled with further
            bits.
Source      the uniform compared with the binary digits of the probability, von Neumann 1951.
Checked     tests/samplers/test_bernoulli.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import overload

import numpy as np
from numpy.typing import NDArray

from dpcurator.entropy import Entropy
from dpcurator.numbers import rational, whole
from dpcurator.numbers.arb import Ball, ball, precision
from dpcurator.numbers.enclosure import bracket
from dpcurator.numbers.rational import at_least_0, from_0_to_1
from dpcurator.samplers.lazy_uniform import CHUNK, WORD, settle, source


@overload
def bernoulli(chance: Fraction, size: None = None, entropy: Entropy | None = None) -> bool: ...
@overload
def bernoulli(chance: Fraction, size: int, entropy: Entropy | None = None) -> NDArray[np.bool_]: ...
def bernoulli(chance: Fraction, size: int | None = None, entropy: Entropy | None = None) -> bool | NDArray[np.bool_]:
    """One bool, or `size` independent ones. chance: Fraction in [0, 1]. Raises Refusal for any other."""
    return _toss(_rational_coin(rational(chance, name="chance")), size, source(entropy))


@overload
def bernoulli_exp(x: Fraction, size: None = None, entropy: Entropy | None = None) -> bool: ...
@overload
def bernoulli_exp(x: Fraction, size: int, entropy: Entropy | None = None) -> NDArray[np.bool_]: ...
def bernoulli_exp(x: Fraction, size: int | None = None, entropy: Entropy | None = None) -> bool | NDArray[np.bool_]:
    """One bool, or `size` independent ones, True with probability exp(-x). x: Fraction >= 0; any other is a Refusal."""
    return _toss(_exp_coin(rational(x, name="x")), size, source(entropy))


class Coin:
    """chance: a function giving a ball that holds the probability, at the working precision. Holds constants only."""

    __slots__ = ("_false_from", "_true_below", "chance")
    _false_from: int
    _true_below: int

    def __init__(self, chance: Callable[[], Ball]) -> None:
        self.chance = chance
        with precision(2 * WORD):
            known = bracket(chance())
        self._true_below = min(max(math.floor(known.lo * 2**WORD), 0), 2**WORD)
        self._false_from = min(math.ceil(known.hi * 2**WORD), 2**WORD)

    def one(self, word: int, entropy: Entropy) -> bool:
        """The toss for a 64-bit word."""
        if self._true_below <= word < self._false_from:
            return settle(word, WORD, entropy, self._below)
        return word < self._true_below

    def many(self, words: NDArray[np.uint64], entropy: Entropy) -> NDArray[np.bool_]:
        """The toss for each word."""
        if self._true_below == 2**WORD:
            return np.ones(len(words), dtype=np.bool_)
        result = words < np.uint64(self._true_below)
        for doubtful in range(self._true_below, self._false_from):  # one word; two where the chance is w/2**64 nearly
            for i in np.flatnonzero(words == np.uint64(doubtful)):
                result[i] = settle(doubtful, WORD, entropy, self._below)
        return result

    def _below(self, w: int, bits: int) -> bool | None:
        """Is the real that begins with w below the probability?"""
        with precision(bits + 64):
            chance = self.chance()
            if ball(Fraction(w + 1, 1 << bits)) <= chance:
                return True
            return False if ball(Fraction(w, 1 << bits)) >= chance else None


def _toss(coin: Coin, size: int | None, entropy: Entropy) -> bool | NDArray[np.bool_]:
    if size is None:
        return coin.one(entropy.bits(WORD), entropy)
    out = np.empty(whole(size, name="size"), dtype=np.bool_)
    for start in range(0, len(out), CHUNK):
        out[start : start + CHUNK] = coin.many(entropy.words(min(CHUNK, len(out) - start)), entropy)
    return out


@lru_cache(maxsize=256)
def _rational_coin(chance: Fraction) -> Coin:
    exact = from_0_to_1(chance, name="chance", like="0.25")
    return Coin(lambda: ball(exact))


@lru_cache(maxsize=256)
def _exp_coin(x: Fraction) -> Coin:
    exact = at_least_0(x, name="x")
    return Coin(lambda: (-ball(exact)).exp())


def logistic_coin(scale: Fraction) -> Coin:
    """True with probability p/(1+p), p = exp(-1/scale): the probability that a discrete Laplace is negative."""
    return Coin(lambda: 1 / (1 + ball(1 / scale).exp()))
