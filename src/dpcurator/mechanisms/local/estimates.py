"""What reports say of how many people hold each value: unbiased estimates, their standard errors and intervals.

Definition  A report supports some values. Holders of v send a report that supports v with probability `own`, the others
            with probability `other` < `own`, each independently. With C supports of v in n reports, the estimate of the
            number t of holders is (C - n other) / (own - other).
Promise     Unbiased, exactly: E C = t own + (n - t) other. `count` and `proportion` are exact rationals; the arrays are
            their nearest doubles. `interval` and `intervals` miss the true t of one value with probability at most beta
            over the randomness of the reports, whatever t is; `simultaneous` makes that of all values together (a union
            bound). They say nothing of people who did not report or lied, nor of a population that the people were
            drawn from. A standard error is itself an estimate: the distribution's, with the estimate in place of t.
Source      Warner, JASA 1965; Wang, Blocki, Li, Jha, USENIX Security 2017 ("pure" protocols).
Checked     tests/mechanisms/test_estimates.py; the intervals' proof and tests are those of two_coins.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from dpcurator.errors import Refusal
from dpcurator.mechanisms.local import binomial_interval
from dpcurator.mechanisms.local.public_values import Values, named
from dpcurator.mechanisms.parameters import error_level
from dpcurator.numbers import whole
from dpcurator.numbers.rational import Spelled
from dpcurator.numbers.readable import readable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Estimates:
    """values: what was asked of. reports: n. supports: int64, one a value. own, other: the probabilities of a
    support."""

    reports: int
    own: Fraction
    other: Fraction
    values: Values = field(repr=False)
    supports: NDArray[np.int64] = field(repr=False)

    __repr__ = readable

    def __post_init__(self) -> None:
        if self.reports < 1:
            raise Refusal("There are no reports to estimate from.", cure="Give at least one report.")

    def __add__(self, more: Estimates) -> Estimates:
        """The estimates of both batches of reports together. Raises Refusal where probabilities or values differ."""
        if not isinstance(more, Estimates):
            return NotImplemented
        if (self.own, self.other, self.values) != (more.own, more.other, more.values):
            raise Refusal("These estimates are of different mechanisms.", cure="Add batches of one mechanism.")
        together = self.supports + more.supports
        return Estimates(self.reports + more.reports, self.own, self.other, self.values, together)

    def count(self, value: Hashable) -> Fraction:
        """The unbiased estimate of how many hold `value`, in people; may lie below 0 or above n."""
        return self._count(self._supports(value))

    def proportion(self, value: Hashable) -> Fraction:
        return self.count(value) / self.reports

    @property
    def counts(self) -> NDArray[np.float64]:
        """Of every value, in people, in the order of the values."""
        return self._each(lambda c: float(self._count(c)))

    @property
    def proportions(self) -> NDArray[np.float64]:
        return self._each(lambda c: float(self._count(c) / self.reports))

    @property
    def standard_errors(self) -> NDArray[np.float64]:
        """Of every count, in people; divide by n for the proportions."""
        return self._each(self._standard_error)

    def standard_error(self, value: Hashable) -> float:
        """Of the count, in people."""
        return self._standard_error(self._supports(value))

    def interval(self, value: Hashable, beta: Spelled) -> tuple[int, int]:
        """How few and how many may hold `value`: the exact distribution inverted. beta: in (0, 1)."""
        c, chance = self._supports(value), error_level(beta)
        return binomial_interval.interval(self.reports, c, self.own, self.other, chance, binomial_interval.exact)

    def intervals(self, beta: Spelled, *, simultaneous: bool = False) -> NDArray[np.int64]:
        """(from, to) of every value, int64, shape (values, 2), by Chernoff's bound: about 1.4 times as wide."""
        import numpy as np

        chance = error_level(beta) / (len(self.supports) if simultaneous else 1)
        seen, which = np.unique(self.supports, return_inverse=True)
        found = [
            binomial_interval.interval(self.reports, c, self.own, self.other, chance, binomial_interval.chernoff)
            for c in seen.tolist()
        ]
        return np.array(found, dtype=np.int64)[which.reshape(-1)]

    def error(self, beta: Spelled) -> Fraction:
        """No estimate of one count is further off than this but with probability beta, in people, whatever the truth
        is."""
        return binomial_interval.radius(self.reports, self.own, self.other, error_level(beta))

    def _supports(self, value: Hashable) -> int:
        return int(self.supports[named(self.values, value)])

    def _count(self, c: int) -> Fraction:
        return (c - self.reports * self.other) / (self.own - self.other)

    def _standard_error(self, c: int) -> float:
        t = min(max(self._count(c), Fraction(0)), Fraction(self.reports))
        variance = t * self.own * (1 - self.own) + (self.reports - t) * self.other * (1 - self.other)
        return math.sqrt(variance / (self.own - self.other) ** 2)

    def _each(self, one: Callable[[int], float]) -> NDArray[np.float64]:
        """`one` of every count of supports; once for equal ones, of which there are many."""
        import numpy as np

        seen, which = np.unique(self.supports, return_inverse=True)
        return np.array([one(c) for c in seen.tolist()], dtype=np.float64)[which.reshape(-1)]


def planned_error(own: Fraction, other: Fraction, *, reports: object, beta: Spelled) -> Fraction:
    """`Estimates.error` before there are any: of so many reports."""
    return binomial_interval.radius(whole(reports, name="reports", least=1), own, other, error_level(beta))
