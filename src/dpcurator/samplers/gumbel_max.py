"""Exact Gumbel-max sampling: candidate i with probability proportional to exp(rate * value), or the top `places`.

Definition  Candidate i arrives at E_i / (size_i exp(rate * value_i)), with E_i independent exponentials: E = -ln(1-X),
            X uniform. The first is i with probability proportional to size_i exp(rate * value_i); the next likewise
            among the others, and so on. In logarithms the greatest key K_i = rate * value_i + ln size_i - ln E_i wins.
Promise     The distribution is exact. Each X_i begins as one word of 32 bits, drawn for every candidate whatever the
            data. IEEE sums and products alone, no library's logarithm or exponential, tell who cannot be among the
            first; the few others get their keys enclosed in ball arithmetic, and further bits until the order is
            certain. No candidate is given up for being far behind: a word of 0 leaves its key without a bound above,
            and gets further bits.

Proof. The race: Plackett-Luce. Units: log2 times 2**23; A = rate 2**23 / ln 2; gap_i = top - value_i, where top is the
value that is the `places`-th greatest: no lower one is far ahead of those that matter, however far the greatest are, so
floats keep their figures there. The word w says X in [w, w+1] / 2**32. Keys are relative to rate * top. Let h be the
int32 of the bits of the float32 nearest to w >= 1. Bits of a float are piecewise linear between powers of two, below
the concave log2 by at most .0861: h - 127 * 2**23 <= 2**23 log2(float) <= h - 127 * 2**23 + .0861 * 2**23, and the
rounding to float32 (relative 2**-23, any faithful one) moves log2 by less than 1.01 / 2**23 * 1.4427. As E >= X >= w /
2**32,
    K_i (in units) <= (127 + 32) 2**23 + 2 + key_i,      key_i = -A gap_i + 2**23 up(size_i) - h,
up(size) = the same linear log2, of a float64, plus .0862, so at least log2 size <= 2**12. In floats A, gap, and their
product have relative errors of at most 2**-53 each (A also 2**-80) and two sums round: key_i errs by less than 2**-50
(A |gap_i| + 2**37). Let T be the least of the lower ends of the balls of `places` candidates (those with the greatest
float keys), in units: at least `places` keys are >= T, so whoever has K_i < T is not among the first. K_i >= T implies
key_i >= t = T - (127 + 32) 2**23 - 2, so A gap_i <= |t| + 2**37. If A |gap_i| <= 2 |t| + 2**39, the float of key_i is
thus at least t - 2**-48 (|t| + 2**38). Else gap_i < 0, and key_i >= A |gap_i| - 2**32 is above |t| + 2**38, with its
error. Hence only those whose float is, or whose w = 0, need a ball; the two units and the half of the margin that are
left cover the rounding of that bound. Products that overflow are inf, which is kept, or -inf, and past any bound above
-2**1000; with a lower bound than that everybody needs a ball. Where A or a gap itself passes the range of doubles, gaps
are multiplied exactly, then rounded once. Expected: under two candidates in balls for one place; a word of 0 has
probability 2**-32.
Source      exponential races, Efraimidis and Spirakis 2006; linear log2, Mitchell 1962; lazy bits,
            samplers/lazy_uniform.py.
Checked     tests/samplers/test_gumbel_max.py: words of 2 and 3 bits enumerated, the floats against balls, chi-square.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcurator.entropy import Entropy
from dpcurator.numbers.arb import Ball, ball, precision
from dpcurator.numbers.coerce import double_of, exact_scalar
from dpcurator.samplers.lazy_uniform import CHUNK, WORD, source

FIRST = 32  # bits of the word that every candidate gets
LARGEST_SIZE = 1 << 4096
_UNIT = 1 << 23
_UP = 0.0862


def race(
    values: NDArray[Any],
    rate: Fraction,
    entropy: Entropy | None = None,
    *,
    sizes: NDArray[Any] | None = None,
    places: int = 1,
) -> list[int]:
    """The indices of the first `places` candidates to arrive, in their order.

    values: finite, exact: int64, float64, or objects (int and Fraction); rate: Fraction >= 0; sizes: whole numbers from
    1 to 2**4096, int64 or objects, all 1 when None; places: int, 1 <= places <= len(values).
    """
    return Race(values, rate, sizes).run(source(entropy), places)


class Race:
    """The candidates, and how long a word they begin with: `first` bits (at most 32), then `more` at a time."""

    __slots__ = ("_top", "first", "more", "rate", "sizes", "values")

    def __init__(
        self, values: NDArray[Any], rate: Fraction, sizes: NDArray[Any] | None = None, *, first: int = FIRST,
        more: int = WORD,
    ) -> None:
        if not len(values) or rate < 0 or (sizes is not None and not 1 <= sizes.min() <= sizes.max() <= LARGEST_SIZE):
            raise ValueError("a race takes candidates, a rate of at least 0, and sizes from 1 to 2**4096")
        self.values, self.rate, self.sizes, self.first, self.more = values, rate, sizes, first, more
        self._top = exact_scalar(values.max())

    def run(self, entropy: Entropy, places: int) -> list[int]:
        """The indices of the first `places` to arrive, in order."""
        n = len(self.values)
        if not 1 <= places <= n:
            raise ValueError("places lies between 1 and the number of candidates")
        if n == 1:
            return [0]
        words = self.words(n, entropy)
        return self._order(self.possible(words, places, entropy), places, entropy)

    def words(self, n: int, entropy: Entropy) -> NDArray[np.uint32]:
        if self.first == FIRST:
            return entropy.words((n + 1) // 2).view(np.uint32)[:n]
        return np.array([entropy.bits(self.first) for _ in range(n)], dtype=np.uint32)

    def possible(self, words: NDArray[np.uint32], places: int, entropy: Entropy) -> list[Racer]:
        """All who may be among the first `places`, given the words, and perhaps others."""
        n = len(words)
        if places > 1:
            self._top = exact_scalar(_greatest(self.values, places))
        add = self._handicaps()
        keys, most, zeros = np.empty(n), [], list[int]()
        for start in range(0, n, CHUNK):
            part = slice(start, min(start + CHUNK, n))
            chunk, key = words[part], keys[part]
            add(part, key)
            np.subtract(key, chunk.astype(np.float32).view(np.int32), out=key)
            most.append(float(key.max()))
            if not chunk.min():
                zeros += (np.flatnonzero(chunk == 0) + start).tolist()
        if places == 1:
            start = CHUNK * int(np.argmax(most))
            leading = [start + int(np.argmax(keys[start : start + CHUNK]))]
        else:
            leading = np.argpartition(keys, n - places)[n - places :].tolist()
        racers = {i: Racer(self, i, int(words[i])) for i in leading}
        least = self._least(list(racers.values()), entropy)
        for block, peak in enumerate(most):
            if peak >= least:
                start = CHUNK * block
                for i in (np.flatnonzero(keys[start : start + CHUNK] >= least) + start).tolist():
                    racers.setdefault(i, Racer(self, i, int(words[i])))
        for i in zeros:
            racers.setdefault(i, Racer(self, i, 0))
        return list(racers.values())

    def _least(self, leading: list[Racer], entropy: Entropy) -> float:
        """Float keys below this are surely not among the first."""
        for racer in leading:
            while racer.low is None:
                racer.refine(entropy)
        with precision(96):
            lows: list[Ball] = [racer.low for racer in leading]  # exact points, so they are in order
            bound = float((min(lows) / ball(2).log() * _UNIT).mid()) - (127 + self.first) * _UNIT - 4  # or -inf
        return bound - (abs(bound) + 2.0**38) * 2.0**-47 if bound > -(2.0**1000) else -math.inf

    def _handicaps(self) -> Any:
        """What writes -A gap + 2**23 up(size) of some candidates into a buffer, in floats."""
        exact = _slope(self.rate)
        slope, values, best = double_of(exact), self.values, self._top
        log_sizes = None if self.sizes is None else _log_sizes(self.sizes)
        direct = slope == 0 or 2.0**-900 < slope < 2.0**900
        if values.dtype == np.float64 and direct and math.isfinite(float(values.max()) - float(values.min())):
            top = float(best)  # one of the values, so exact

            def add(part: slice, out: NDArray[np.float64]) -> None:
                np.subtract(values[part], top, out=out)
                with np.errstate(over="ignore"):
                    np.multiply(out, slope, out=out)

        elif values.dtype == np.int64 and direct:
            above, unsigned = np.uint64(int(best) % 2**64), values.view(np.uint64)
            highest = values.max() == int(best)

            def add(part: slice, out: NDArray[np.float64]) -> None:
                with np.errstate(over="ignore"):
                    np.multiply(above - unsigned[part], -slope, out=out)  # modulo 2**64: right where best is above
                    if not highest:
                        ahead = np.flatnonzero(values[part] > int(best))
                        out[ahead] = (unsigned[part][ahead] - above) * slope

        else:
            whole = direct and values.dtype == object and all(type(value) is int for value in values.tolist())

            def add(part: slice, out: NDArray[np.float64]) -> None:
                if whole:
                    try:
                        out[:] = (values[part] - int(best)).astype(np.float64)  # each rounded once
                    except OverflowError:
                        pass
                    else:
                        with np.errstate(over="ignore"):
                            np.multiply(out, slope, out=out)
                        return
                out[:] = [double_of(exact * (Fraction(value) - best)) for value in values[part].tolist()]

        if log_sizes is None:
            return add

        def add_sizes(part: slice, out: NDArray[np.float64]) -> None:
            add(part, out)
            out += log_sizes[part]

        return add_sizes

    def _order(self, racers: list[Racer], places: int, entropy: Entropy) -> list[int]:
        order: list[int] = []
        while len(order) < places:
            if len(racers) == 1:
                return [*order, racers[0].index]
            best = max(racers, key=Racer.rank)
            rivals = [one for one in racers if one is not best and not one.behind(best)]
            if rivals:
                for one in (best, *rivals):
                    one.refine(entropy)
            else:
                order.append(best.index)
                racers.remove(best)
        return order


class Racer:
    """A candidate whose key is enclosed; low and high are exact points, None where there is no bound."""

    __slots__ = ("bits", "high", "index", "low", "of", "word")

    def __init__(self, of: Race, index: int, word: int) -> None:
        self.of, self.index, self.word, self.bits = of, index, word, of.first
        self._enclose()

    def refine(self, entropy: Entropy) -> None:
        """Further bits of this candidate's X."""
        more = self.of.more
        self.word, self.bits = self.word << more | entropy.bits(more), self.bits + more
        self._enclose()

    def rank(self) -> tuple[bool, Ball]:
        return (self.low is not None, self.low if self.low is not None else 0)

    def behind(self, best: Racer) -> bool:
        """Is this key surely below that one?"""
        return self.high is not None and best.low is not None and bool(self.high < best.low)

    def _enclose(self) -> None:
        of, unit = self.of, 1 << self.bits
        lead = of.rate * (exact_scalar(of.values[self.index]) - of._top)
        with precision(self.bits + 64 + int(abs(lead)).bit_length()):
            fixed = ball(lead)
            if of.sizes is not None:
                fixed += ball(int(of.sizes[self.index])).log()
            self.low = self.high = None
            if self.word + 1 < unit:
                self.low = (fixed - _ln_arrival(self.word + 1, unit)).lower()
            if self.word:
                self.high = (fixed - _ln_arrival(self.word, unit)).upper()


def _greatest(values: NDArray[Any], places: int) -> Any:
    """The `places`-th greatest value, in about the time of one look at each, also where many are equal."""
    if places > CHUNK:
        return np.sort(values)[-places]
    found = values[:0]
    for start in range(0, len(values), CHUNK):
        part = values[start : start + CHUNK]
        if len(found) == places:
            part = part[part > found[0]]
        if len(part):
            found = np.sort(np.concatenate([found, part]))[-places:]
    return found[0]


@lru_cache(maxsize=256)
def _slope(rate: Fraction) -> Fraction:
    """A = rate 2**23 / ln 2, within 2**-80 of itself."""
    with precision(96):
        mantissa, exponent = (ball(rate) / ball(2).log() * _UNIT).mid().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def _ln_arrival(w: int, unit: int) -> Ball:
    """ln(-ln(1 - w/unit)), rising in w."""
    return (-(-ball(w) / unit).log1p()).log()


def _log_sizes(sizes: NDArray[Any]) -> NDArray[np.float64]:
    """2**23 times at least log2, and at most .0862 more than it needs."""
    if sizes.dtype == np.int64:
        bits = sizes.astype(np.float64).view(np.int64)
        return np.asarray(bits * 2.0**-29 + (_UP - 1023) * _UNIT, dtype=np.float64)
    found = []
    for size in sizes.tolist():
        e = size.bit_length() - 1
        part = (size >> (e - 52)) / 2**52 if e > 52 else size / 2**e
        found.append((e + part - 1 + _UP) * _UNIT)
    return np.array(found)
