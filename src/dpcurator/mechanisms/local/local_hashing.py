"""Optimised local hashing: a report of a random bucket of one's own value, whatever the number of values.

Definition  P is the least prime from k on; a report's function is a pair (a, b), uniform over 0 < a < P, 0 <= b < P.
            It hashes the value x, 0 <= x < k, to the bucket floor(g t / P), t = (a x + b) mod P, one of g; the bucket
            is then reported by randomised response over g buckets, with the function. g = round(e**epsilon) + 1, at
            most k.
Promise     Each report is eps-DP in the local model, e**eps = truth/lie, exactly. Reports are two whole numbers
            whatever k is. Estimates are unbiased, exactly, though the hash is only nearly universal.
Proof       For x != y, (a, b) -> (a x + b, a y + b) mod P is one-to-one onto the pairs of distinct residues, so x and
            y share a bucket with the same probability c for every pair: the number of ordered pairs of distinct
            residues in one bucket, over P(P-1). With m = floor(P/g) and r = P mod g, r buckets hold m+1 residues and
            g-r hold m: c = (r (m+1) m + (g-r) m (m-1)) / (P(P-1)), exactly. A report (function, bucket) supports v
            where v's bucket is the one reported: with probability truth if v is held, else c truth + (1-c) lie.
            Estimates use that c. The function is independent of the value. Given one that parts x and y the pair is
            (truth, lie), else nothing differs; so the pair is "randomised_response" with (1-c) truth and (1-c) lie,
            with nothing lost. g: e**epsilon is no rational (Lindemann), so never a tie, and brackets decide it.
Source      Wang, Blocki, Li, Jha, USENIX Security 2017 (OLH); Carter, Wegman 1979 (the family).
Checked     tests/mechanisms/test_local_hashing.py.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from dpcurator.entropy import Entropy
from dpcurator.mechanisms.local import public_values
from dpcurator.mechanisms.local.estimates import Estimates, planned_error
from dpcurator.mechanisms.local.public_values import REFUSED
from dpcurator.mechanisms.local.rational_odds import epsilon_of, odds
from dpcurator.mechanisms.parameters import parameters
from dpcurator.numbers import exp_neg
from dpcurator.numbers.rational import Spelled
from dpcurator.privacy.calibration import BY_EPSILON, Calibration
from dpcurator.privacy.loss import Loss

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LARGEST = 2**31 - 1  # values: a prime itself, so that a x + b stays within int64 and t + a within uint32
_CHUNK = 2**16  # reports looked at together, within the cache


@parameters
class LocalHashing:
    """Optimised local hashing: each person reports a random hash of their value; local epsilon-DP.

    A hash function into g = round(e**epsilon) + 1 buckets is drawn for each report, and the bucket of the value is
    reported by randomised response over the g buckets, with the function.

    Promise: each report is epsilon-DP in the local model, exactly, and two whole numbers whatever the number of values.
    Estimates of counts are unbiased.

    Parameters (any other value raises Refusal, with a way to mend it):
        epsilon: number >= 2**-40, of one report.
        values: a list of 2 or more different public values, in an order that everybody shares; or an int k >= 2 for
            0, 1, ..., k-1.
        otherwise: the declared value that stands for one not declared; unless given, such values are refused.

    >>> import dpcurator as dp
    >>> pages = dp.LocalHashing(epsilon=1, values=10_000)
    >>> function, bucket = pages.respond(1234)
    >>> pages.buckets, bucket in range(4)
    (4, True)

    Source: Wang, Blocki, Li, Jha 2017; the hash functions, Carter, Wegman 1979.
    """

    calibration: ClassVar[Calibration] = BY_EPSILON

    epsilon: Fraction
    values: Sequence[Any] | int
    otherwise: Hashable = REFUSED

    if TYPE_CHECKING:  # each is given as people write it, and kept as the exact number

        def __init__(self, *, epsilon: Spelled, values: Sequence[Any] | int, otherwise: Hashable = REFUSED) -> None: ...

    def __post_init__(self) -> None:
        public_values.settle(self, most=LARGEST)
        object.__setattr__(self, "epsilon", epsilon_of(self.epsilon))

    @property
    def prime(self) -> int:
        return _prime_from(len(self._values))

    @property
    def buckets(self) -> int:
        return _buckets(self.epsilon, len(self._values))

    @property
    def truth(self) -> Fraction:
        """The probability that the bucket reported is the value's own."""
        return _chances(self.epsilon, len(self._values))[0]

    @property
    def lie(self) -> Fraction:
        """The probability of each other bucket."""
        return _chances(self.epsilon, len(self._values))[1]

    @property
    def collision(self) -> Fraction:
        """The probability that two given values share a bucket, over the function."""
        return _chances(self.epsilon, len(self._values))[2]

    @property
    def other(self) -> Fraction:
        """The probability that a report supports a given value that is not held."""
        truth, lie, collision = _chances(self.epsilon, len(self._values))
        return collision * truth + (1 - collision) * lie

    @property
    def loss(self) -> Loss:
        """Exact, of one report with its function."""
        truth, lie, collision = _chances(self.epsilon, len(self._values))
        return Loss("randomised_response", (("truth", (1 - collision) * truth), ("lie", (1 - collision) * lie)))

    def bucket(self, function: int, value: Hashable) -> int:
        """The bucket of a declared value under the hash function of this number.

        Raises Refusal for a value that is not declared.
        """
        place = public_values.named(self._values, value)
        a, b = divmod(function, self.prime)
        return ((a + 1) * place + b) % self.prime * self.buckets // self.prime

    def reports(self) -> Iterable[tuple[int, int]]:
        """Every report: each hash function by its number, with each bucket."""
        functions, buckets = range(self.prime * (self.prime - 1)), range(self.buckets)
        return ((function, bucket) for function in functions for bucket in buckets)

    def pmf(self, report: Sequence[int], value: Hashable) -> Fraction:
        """P(report | value), exactly. report: (function, bucket).

        Raises Refusal for what is no such report, or a value that is not declared.
        """
        function, bucket = self._read([report])[0].tolist()
        chance = self.truth if bucket == self.bucket(function, value) else self.lie
        return chance / (self.prime * (self.prime - 1))

    def respond(self, value: Hashable, entropy: Entropy | None = None) -> tuple[int, int]:
        """One report of one's own value: (function, bucket). Runs on the person's own device.

        Raises Refusal for a value that is not declared, unless `otherwise` is.
        """
        function, bucket = self.respond_many([value], entropy)[0].tolist()
        return function, bucket

    def respond_many(self, values: Iterable[Hashable], entropy: Entropy | None = None) -> NDArray[np.int64]:
        """One report for each: int64, shape (n, 2), the function and the bucket. values: a list or flat array.

        Raises Refusal for a value that is not declared, unless `otherwise` is.
        """
        import numpy as np

        from dpcurator import samplers

        own = public_values.held(self._values, values, self.otherwise)
        prime, buckets = self.prime, self.buckets
        functions = samplers.uniform_below(prime * (prime - 1), len(own), entropy)
        true = samplers.bernoulli(self.truth, len(own), entropy)
        other = samplers.uniform_below(buckets - 1, len(own), entropy)
        a, b = np.divmod(functions, prime)
        hashed = ((a + 1) * own + b) % prime * buckets // prime
        other += other >= hashed
        other[true] = hashed[true]
        return np.column_stack([functions, other])

    def estimate(self, reports: Iterable[Sequence[int]], *, of: Sequence[Any] | None = None) -> Estimates:
        """How many hold each value, in time proportional to reports times values; `of` asks of a few values alone.

        reports: int64, shape (n, 2). Raises Refusal, with the position, for one that no client sends.
        """
        import numpy as np

        read = self._read(reports)
        values = self._values if of is None else tuple(of)
        wanted = None if of is None else [public_values.named(self._values, value) for value in values]
        supports = np.zeros(len(values), dtype=np.int64)
        for start in range(0, len(read), _CHUNK):
            functions, buckets = read[start : start + _CHUNK].T
            first = -(-buckets * self.prime // self.buckets)  # the residues of bucket i begin at the ceiling of i P / g
            width = (-(-(buckets + 1) * self.prime // self.buckets) - first).astype(np.uint32)
            first = first.astype(np.uint32)
            for position, residues in enumerate(self._residues(functions, wanted)):
                supports[position] += np.count_nonzero(residues - first < width)  # below `first` it wraps, and is large
        return Estimates(len(read), self.truth, self.other, values, supports)

    def error(self, beta: Spelled, *, reports: int) -> Fraction:
        """How far off one count from so many reports may be but with probability beta, in people, whatever the truth
        is. Raises Refusal for a beta that is no number in (0, 1), or a number of reports that is none."""
        return planned_error(self.truth, self.other, reports=reports, beta=beta)

    def _residues(self, functions: NDArray[np.int64], wanted: list[int] | None) -> Iterator[NDArray[np.uint32]]:
        """(a x + b) mod P of every function, for x = 0, 1, ..., k-1 by adding up, or for the wanted ones."""
        import numpy as np

        a, b = np.divmod(functions, self.prime)
        a += 1
        if wanted is not None:
            for x in wanted:
                yield ((a * x + b) % self.prime).astype(np.uint32)
            return
        step, now, prime = a.astype(np.uint32), b.astype(np.uint32), np.uint32(self.prime)
        for _ in self._values:
            yield now
            now = now + step
            now = np.minimum(now, now - prime)  # less P where that does not wrap

    def _read(self, reports: object) -> NDArray[np.int64]:
        read = public_values.whole_reports(reports, columns=2)
        outside = (read < 0).any(axis=1)
        outside |= (read[:, 0] >= self.prime * (self.prime - 1)) | (read[:, 1] >= self.buckets)
        if outside.any():
            raise public_values.wrong_report(outside)
        return read

    @property
    def _values(self) -> public_values.Values:
        return public_values.settled(self.values)


@lru_cache(maxsize=256)
def _prime_from(k: int) -> int:
    """The least prime that is at least k; proved prime by python-flint below 2**64."""
    from flint import fmpz

    while not fmpz(k).is_prime():
        k += 1
    return k


@lru_cache(maxsize=256)
def _buckets(epsilon: Fraction, k: int) -> int:
    """round(e**epsilon) + 1, at least 2 and at most k."""
    bits = 64
    while True:
        below = exp_neg(epsilon, bits)
        low = math.floor(1 / below.hi + Fraction(1, 2))
        if low + 1 >= k:
            return k
        if low == math.floor(1 / below.lo + Fraction(1, 2)):
            return max(low + 1, 2)
        bits *= 2


@lru_cache(maxsize=256)
def _chances(epsilon: Fraction, k: int) -> tuple[Fraction, Fraction, Fraction]:
    """truth, lie and collision."""
    ratio, prime, buckets = odds(epsilon), _prime_from(k), _buckets(epsilon, k)
    m, r = divmod(prime, buckets)
    pairs = r * (m + 1) * m + (buckets - r) * m * (m - 1)
    return ratio / (ratio + buckets - 1), 1 / (ratio + buckets - 1), Fraction(pairs, prime * (prime - 1))


EXAMPLES = (
    LocalHashing(epsilon=Fraction(1), values=5),
    LocalHashing(epsilon=Fraction(1, 2), values=["n", "e", "s", "w"], otherwise="n"),
    LocalHashing(epsilon=Fraction(3, 2), values=7),
)
