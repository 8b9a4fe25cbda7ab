"""Many coins at once, the i-th heads with probability exp(-rate * gap_i), where gap_i is how far value_i is below the
top.

Promise     The distribution is exact, and the tosses independent. A 64-bit word w says U in [w, w+1] / 2**64; a toss is
            heads if U < exp(-x). Floats decide only what no real U that begins with the word could change; further bits
            and ball arithmetic settle the others, under one in 2**38.
Proof of the margin. x = rate * gap: gap is exact as uint64 or whole number or one float subtraction, so with two
roundings more and the float of the rate, x has relative error under 2**-50 (or it is one rounded Fraction). Where x <=
64 that moves exp(-x) by under 2**-43 of itself; **assumed of the library's exp: relative error at most 2**-45** (numpy
documents under 4 units in the last place). The float of w / 2**64 is within 2**-53 of it, relatively, and U within
2**-64 more. So with e the float of exp(-x): u + 2**-62 < e (1 - 2**-40) proves heads, u > e (1 + 2**-40) + 2**-62
tails. Where x > 64, exp(-x) and e are below 2**-90, and u > 2**-62 proves tails; heads are not proved, since e <
2**-62.
Checked     tests/mechanisms/test_permute_and_flip.py: words at the boundary of each probability.
"""

from __future__ import annotations

import math
from contextlib import suppress
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcurator.entropy import Entropy
from dpcurator.numbers.arb import ball, precision
from dpcurator.numbers.coerce import double_of, exact_scalar
from dpcurator.samplers.lazy_uniform import WORD, settle, source


def flips(values: NDArray[Any], rate: Fraction, entropy: Entropy | None = None) -> NDArray[np.bool_]:
    """One toss a value, shape (n,). values: finite, exact: int64, float64 or objects (int, Fraction). rate >= 0."""
    entropy = source(entropy)
    words = entropy.words(len(values))
    top = values.max()
    u = words.astype(np.float64) * 2.0**-64
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        e = np.exp(-_distances(values, top, rate))
        heads = u + 2.0**-62 < e * (1 - 2.0**-40)
        sure = heads | (u > e * (1 + 2.0**-40) + 2.0**-62)  # False for nan
    for i in np.flatnonzero(~sure).tolist():
        x = rate * (exact_scalar(top) - exact_scalar(values[i]))
        heads[i] = not x or settle(int(words[i]), WORD, entropy, _below(x))
    return heads


def _distances(values: NDArray[Any], top: Any, rate: Fraction) -> NDArray[np.float64]:
    """rate * (top - value) in floats."""
    direct = rate == 0 or Fraction(1, 2**900) < rate < 2**900
    if values.dtype != object and direct:
        slope = float(rate)
        if values.dtype == np.int64:
            return np.asarray((np.uint64(int(top) % 2**64) - values.view(np.uint64)) * slope, dtype=np.float64)
        if math.isfinite(float(top) - float(values.min())):
            return np.asarray((top - values) * slope, dtype=np.float64)
    if values.dtype == object and direct and all(type(value) is int for value in values.tolist()):
        with suppress(OverflowError):  # gaps beyond what doubles hold
            return np.asarray((top - values).astype(np.float64) * float(rate), dtype=np.float64)  # rounded once, twice
    best = exact_scalar(top)
    return np.array([double_of(rate * (best - exact_scalar(value))) for value in values.tolist()], dtype=np.float64)


def _below(x: Fraction) -> Any:
    def answer(w: int, bits: int) -> bool | None:
        """Is the real that begins with w below exp(-x)?"""
        with precision(bits + 64):
            chance = (-ball(x)).exp()
            if ball(Fraction(w + 1, 1 << bits)) <= chance:
                return True
            return False if ball(Fraction(w, 1 << bits)) >= chance else None

    return answer
