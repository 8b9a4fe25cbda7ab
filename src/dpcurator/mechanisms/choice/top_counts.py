"""Which of many groups are greatest, from exact counts: one after another by the exponential mechanism.

Definition  Of C candidates with whole counts n_i the first is chosen with probability proportional to exp(rate n_i),
            the next likewise from the others, and so on: k of them, in their order. Of several sets of candidates, each
            by itself.
Promise     If between neighbours the differences n_i - n'_i of one set lie in an interval of length r, each of the k
            choices has bounded range rate r, whichever were chosen before; sets with r_1, r_2, ... have rate (r_1 + r_2
            + ...) in each round. So epsilon = k rate (r_1 + r_2 + ...), and rho = k rate^2 (r_1^2 + r_2^2 + ...) / 8.
Accuracy    P(some choice is more than t below the best that is left then) <= G k (C - 1) exp(-rate (t + 1)) for whole
            t >= 0 and G sets: a candidate that far below has at most exp(-rate (t + 1)) of the best one's weight.

Proof of the promise. ln P(i) - ln P'(i) = rate (n_i - n'_i) - ln(Z / Z') with one Z / Z' for all candidates that are
left: an interval of length rate r at most, in which 0 lies, as both distributions sum to 1. Which are left is part of
the answer so far, so this is adaptive composition of k choices, each of pure epsilon rate r and rho (rate r)^2 / 8.
Given what was chosen before, the choices of a round are independent over the sets, so their log-ratios add, and so do
the lengths of their intervals; rho adds over all of them. With counts that all rise, or all fall, r is how far one
moves; it is twice that where one may rise while another falls (mechanisms/choice/monotone.py).
Source      Durfee, Rogers, NeurIPS 2019, lemma 4.2; rho: Cesar, Rogers, ALT 2021.
Checked     tests/mechanisms/test_top_counts.py; how far counts move apart: plan/stability.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpcurator.entropy import Entropy
from dpcurator.numbers import ln
from dpcurator.numbers.roots import root_below, ten_to_figures


@dataclass(frozen=True, slots=True)
class TopCounts:
    """rate: Fraction > 0, for each whole step of a count. candidates: in each set; top: k; sets: how many sets."""

    rate: Fraction
    candidates: int
    top: int
    sets: int

    def __post_init__(self) -> None:
        if self.rate <= 0 or not 1 <= self.top <= self.candidates or self.sets < 1:
            raise ValueError("some are named at a rate above 0, at most all of the candidates of a set")

    @classmethod
    def spending(cls, epsilon: Fraction, *, ranges: int, candidates: int, top: int, sets: int) -> TopCounts:
        """For all sets and rounds together. ranges: of all sets, the r_1, r_2, ... added up."""
        return cls(epsilon / (top * max(1, ranges)), candidates, top, sets)

    @classmethod
    def spending_rho(cls, rho: Fraction, *, squared: int, candidates: int, top: int, sets: int) -> TopCounts:
        """The same of a rho. squared: the sum of the squares of the r_1, r_2, ... The rate is rounded down."""
        square = 8 * rho / (top * max(1, squared))
        return cls(root_below(square, ten_to_figures(square, 30)), candidates, top, sets)

    def each_epsilon(self, ranges: int) -> Fraction:
        """Of one round: the length of its bounded range."""
        return self.rate * max(1, ranges)

    def epsilon(self, ranges: int) -> Fraction:
        return self.top * self.each_epsilon(ranges)

    def rho(self, squared: int) -> Fraction:
        return self.top * self.rate**2 * max(1, squared) / 8

    def error(self, beta: Fraction) -> int:
        """How far any choice may be below the best that is left, for all at once but with probability beta: a whole
        number."""
        if self.candidates == 1:
            return 0
        reach = ln(Fraction(self.sets * self.top * (self.candidates - 1)) / beta).hi / self.rate
        return max(0, -(-reach.numerator // reach.denominator) - 1)

    def places(self, counts: Sequence[int], entropy: Entropy) -> tuple[int, ...]:
        """Of each candidate of each set in turn its place, 1 to k, or 0 for those that are not named. counts: whole
        numbers, as many as all sets have candidates."""
        import numpy as np

        from dpcurator import samplers

        if len(counts) != self.sets * self.candidates:
            raise ValueError("each candidate of each set has one count")
        found = [0] * len(counts)
        for start in range(0, len(counts), self.candidates):
            own = counts[start : start + self.candidates]
            kind = np.int64 if max(map(abs, own)) < 2**62 else object
            order = samplers.race(np.array(own, dtype=kind), self.rate, entropy, places=self.top)
            for place, chosen in enumerate(order, 1):
                found[start + int(chosen)] = place
        return tuple(found)
