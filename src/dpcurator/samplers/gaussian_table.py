"""Discrete Gaussian by table inversion: sign and magnitude from one random word.

Definition  For a variance up to 2**14 and integers j >= 0, P(J = j) is proportional to exp(-j**2 / (2 variance)), the
            weight of 0 halved when `folded`. A fair side makes it signed: -J when folded, so that both signs of 0 are
            the one 0; ~J = -1 - J otherwise, so that each side has its own.
Promise     The distribution is exact: only whole numbers are compared, and no float occurs. A word is refined with
            further bits, in ball arithmetic, with probability at most 2**-51.

Proof. The top bit is the side; the other 63 are v: U is in [v, v+1] / 2**63. Let C_j = P(J <= j), and e_j = floor(lo)
for a ball [lo, hi] that holds 2**63 C_j and is narrower than 1: e_j <= 2**63 C_j < e_j + 2. If v < e_j then U <= C_j;
if v > e_j + 1 then U > C_j. So when v is neither e_j nor e_j + 1 for any j, J is the number of j with e_j < v, whatever
bits follow. The last e_j is 2**63 - 1, so the far tail is in refined words. Fewer than 1,300 e_j are needed, with two
words each. The guide holds the answer for each 15-bit beginning of v whose words all give the same one, unrefined.
Source      inversion with a guide table: Chen and Asau 1974.
Checked     tests/samplers/test_discrete_gaussian.py: the words next to every boundary.
"""

from __future__ import annotations

from bisect import bisect_left
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpcurator.entropy import Entropy
from dpcurator.numbers.arb import Ball, ball, precision
from dpcurator.samplers.lazy_uniform import settle

LARGEST = 2**14  # variance
REACH = 1 << 14  # a draw this far, at least 128 standard deviations (chance under 2**-11000), fits no table
_TOP = (1 << 63) - 1
_GUIDE = 16  # bits, of which one is the side
_UNKNOWN = -(1 << 15)


class Bell:
    """variance: Fraction, 0 < variance <= 2**14. Holds constants only."""

    __slots__ = ("_edges", "_guide", "_list", "folded", "variance")
    dtype: type = np.int64

    def __init__(self, variance: Fraction, *, folded: bool) -> None:
        if not 0 < variance <= LARGEST:
            raise ValueError("a bell takes 0 < variance <= 2**14")
        self.variance, self.folded, self._list = variance, folded, list[int]()
        with precision(160):
            for share in self._shares(80):
                self._list.append(int((share * 2**63).lower().floor().unique_fmpz()))
                if self._list[-1] >= _TOP:
                    break
        self._edges = np.array(self._list, dtype=np.uint64)
        self._guide = self._beginnings()

    @property
    def size(self) -> int:
        """How many distances a word can give without being refined."""
        return len(self._list)

    def one(self, word: int, entropy: Entropy) -> int:
        """The signed outcome for a 64-bit word."""
        v = word & _TOP
        j = bisect_left(self._list, v)
        if self._list[j] == v or (j and self._list[j - 1] + 1 == v):
            j = self.exact(v, entropy)
        return j if word <= _TOP else -j if self.folded else ~j

    def many(self, words: NDArray[np.uint64], entropy: Entropy) -> NDArray[np.int64]:
        """The signed outcome for each word. Raises OverflowError, probability under 2**-11000."""
        guessed = self._guide[(words >> np.uint64(64 - _GUIDE)).view(np.int64)]
        result = guessed.astype(np.int64)
        unknown = np.flatnonzero(guessed == _UNKNOWN)
        if len(unknown):
            result[unknown] = self._search(words[unknown], entropy)
        return result

    def _search(self, words: NDArray[np.uint64], entropy: Entropy) -> NDArray[np.int64]:
        v = words & np.uint64(_TOP)
        j = np.searchsorted(self._edges, v)
        unsure = (self._edges[j] == v) | ((j > 0) & (self._edges[j - 1] + np.uint64(1) == v))
        for i in np.flatnonzero(unsure):
            j[i] = found = self.exact(int(v[i]), entropy)
            if found >= REACH:
                raise OverflowError("a draw fell 128 standard deviations from the centre, where no table follows")
        return np.where(words > np.uint64(_TOP), -j if self.folded else ~j, j)

    def exact(self, v: int, entropy: Entropy) -> int:
        """J for the real that begins with the 63 bits v, in ball arithmetic."""
        return settle(v, 63, entropy, self._distance)

    def _distance(self, w: int, bits: int) -> int | None:
        with precision(bits + 128):
            low, high = ball(Fraction(w, 1 << bits)), ball(Fraction(w + 1, 1 << bits))
            below: Ball = 0
            for j, share in enumerate(self._shares(bits + 32)):
                if high <= share:
                    return j if below <= low else None
                below = share
        return None

    def _shares(self, bits: int) -> list[Ball]:
        """P(J <= j) for j = 0, 1, ..., until about 2**-bits is left; to be called with 64 bits more at work."""
        step = (-1 / (2 * ball(self.variance))).exp()
        weight, ratio, faster = ball(1), step, step * step  # ratio = weight of j+1 / weight of j, falling in j
        sums, least = [ball(1) / 2 if self.folded else ball(1)], ball(Fraction(1, 1 << bits))
        while True:
            weight, ratio = weight * ratio, ratio * faster
            rest = weight / (1 - ratio)  # at least this weight and all that follow
            if rest < least:
                break
            sums.append(sums[-1] + weight)
        whole = sums[-1].union(sums[-1] + rest)
        return [part / whole for part in sums]

    def _beginnings(self) -> NDArray[np.int16]:
        """The signed outcome for each 16-bit beginning of a word, or _UNKNOWN."""
        rest = 64 - _GUIDE
        first = np.arange(1 << (_GUIDE - 1), dtype=np.uint64) << np.uint64(rest)
        below = np.searchsorted(self._edges + np.uint64(1), first)
        upto = np.searchsorted(self._edges, first + np.uint64((1 << rest) - 1), side="right")
        mirrored = -below if self.folded else ~below
        return np.concatenate([np.where(below == upto, side, _UNKNOWN) for side in (below, mirrored)]).astype(np.int16)
