"""Uniform integers below any bound.

Definition  P(X = k) = 1/m for 0 <= k < m.
Promise     The distribution is exact for every int m >= 1. For m <= 2**64 a word w is kept when it is below the largest
            multiple of m that a word can reach, and gives w mod m: each k is then the remainder of equally many words.
            Larger m take the fewest bits that reach m - 1, kept when below m. Words not kept are drawn again. int64
            for m <= 2**63, Python ints above, by m and never by the draw.
Source      rejection, von Neumann 1951.
Checked     tests/samplers/test_uniform.py.
"""

from __future__ import annotations

from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from dpcurator.entropy import Entropy
from dpcurator.numbers import whole
from dpcurator.samplers.lazy_uniform import CHUNK, WORD, source


@overload
def uniform_below(m: int, size: None = None, entropy: Entropy | None = None) -> int: ...
@overload
def uniform_below(m: int, size: int, entropy: Entropy | None = None) -> NDArray[Any]: ...
def uniform_below(m: int, size: int | None = None, entropy: Entropy | None = None) -> int | NDArray[Any]:
    """One int, or `size` independent ones: int64, or object (Python ints) for m > 2**63; shape (size,). m: int >= 1."""
    m = whole(m, name="m", least=1)
    entropy = source(entropy)
    if size is None:
        return _one(m, entropy)
    out = np.empty(whole(size, name="size"), dtype=np.int64 if m <= 2**63 else object)
    fill = _fill_words if m <= 2**WORD else _fill_long
    for start in range(0, len(out), CHUNK):
        fill(out[start : start + CHUNK], m, entropy)
    return out


def _one(m: int, entropy: Entropy) -> int:
    bits = WORD if m <= 2**WORD else (m - 1).bit_length()
    limit = 2**WORD // m * m if m <= 2**WORD else m
    while (drawn := entropy.bits(bits)) >= limit:
        pass
    return drawn % m


def _fill_words(out: NDArray[Any], m: int, entropy: Entropy) -> None:
    words = entropy.words(len(out))
    last = 2**WORD // m * m - 1
    if last < 2**WORD - 1:
        again = np.flatnonzero(words > np.uint64(last))
        if len(again):
            words = words.copy()
        while len(again):
            words[again] = entropy.words(len(again))
            again = again[words[again] > np.uint64(last)]
    if m < 2**WORD:
        words = words & np.uint64(m - 1) if m & (m - 1) == 0 else words % np.uint64(m)
    out[:] = words


def _fill_long(out: NDArray[Any], m: int, entropy: Entropy) -> None:
    bits = (m - 1).bit_length()
    count = -(-bits // WORD)
    again = np.arange(len(out))
    while len(again):
        rows = entropy.words(count * len(again)).reshape(-1, count).astype(object)
        drawn = rows[:, 0] >> (WORD * count - bits)
        for column in range(1, count):
            drawn = (drawn << WORD) | rows[:, column]
        out[again] = drawn
        again = again[(drawn >= m).astype(bool)]
