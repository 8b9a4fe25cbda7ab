"""Permute-and-flip: go through the candidates in random order, and stop at i with probability exp(-rate (best - u_i)).

Definition  rate = epsilon / (2 s) for scores u of sensitivity s, epsilon / s where they are `monotone`. It is the same
            to flip every candidate's coin first and to give one of those that came up heads, all equally likely: the
            best ones always do. So with w_i = exp(-rate (best - u_i)), P(j) = w_j E[1 / (1 + K)], K the number of heads
            among the others. It is also the greatest of u_i + E_i, with exponential E_i of mean 1/rate.
Promise     epsilon-DP if neighbours move each score by at most s, and all in one direction where `monotone` is declared
            (mechanisms/choice/monotone.py); attained by two candidates. It is pure and not of bounded range epsilon, so
            rho = epsilon**2 / 2, and not the epsilon**2 / 8 of the exponential mechanism. It is never further below the
            best than that mechanism: for every t, P(best - chosen > t) is at most what it has there.
Proof       As a noisy max: given the others' E_i, j is chosen if E_j is above some m (almost surely no ties), m moves
            by at most 2 s (s if monotone; see mechanisms/choice/noisy_max.py), and P(E_j >= m) falls by at most
            exp(-rate) a unit. The two definitions agree: P(j) = w_j times the integral over y in (0, 1) of the product
            of 1 - w_i y over the others. With y uniform that is a heads for j and none of the others before it in a
            random order.
Error       The probability of a choice more than t below is greatest when one candidate is best and the other n - 1 are
            just that far below: raising a candidate beyond t, or putting one from within t there, can only help those
            beyond (couple the E_i). Then P(best) = E[1 / (1 + K)] with K binomial, (1 - (1 - w)**n) / (n w).
Source      McKenna, Sheldon, NeurIPS 2020 (arXiv 2010.12603); exponential noise: Ding and others 2021.
Checked     tests/mechanisms/test_permute_and_flip.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, ClassVar

from dpcurator.entropy import Entropy
from dpcurator.errors import Refusal
from dpcurator.mechanisms.choice.scores import ByScores
from dpcurator.mechanisms.parameters import error_level, parameters
from dpcurator.numbers import Enclosure, ln, whole
from dpcurator.numbers.arb import Ball, ball, precision
from dpcurator.numbers.geometric_sums import chance
from dpcurator.privacy.calibration import BY_EPSILON, Calibration
from dpcurator.privacy.loss import Loss

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpcurator.numbers.rational import Numbers, Spelled

MOST = 200  # candidates of which `probabilities` gives the law


@parameters
class PermuteAndFlip(ByScores):
    """Permute-and-flip: chooses a candidate by private scores, never worse than the exponential mechanism; epsilon-DP.

    Candidates are visited in random order, and i is chosen with probability exp(-rate (best - u_i)); rate = epsilon /
    (2 sensitivity), twice that where `monotone` is declared. The same as the greatest score with exponential noise.

    Promise: if neighbours move each score by at most `sensitivity`, the choice is epsilon-DP, which two candidates
    attain; so rho = epsilon**2 / 2, and not the epsilon**2 / 8 of the exponential mechanism.

    Parameters (any other value raises Refusal, with a way to mend it):
        sensitivity: number > 0, how far neighbours move one score at most, in the scores' unit.
        epsilon: number > 0, of one choice.
        monotone: bool, True only if between any two neighbours no two scores move in opposite directions, as counts of
            one vote each under add-remove; it halves the noise.
        grid: number > 0 to which scores are rounded, or None to take them as they are.
        nan: the score that stands for one that is no finite number; None refuses such scores, which tells of the data.

    >>> import dpcurator as dp
    >>> choice = dp.PermuteAndFlip(sensitivity=1, epsilon=2)
    >>> [f"{float(p.lo):.3f}" for p in choice.probabilities([3, 2, 2])]
    ['0.677', '0.161', '0.161']

    Source: McKenna, Sheldon 2020; exponential noise, Ding and others 2021.
    """

    calibration: ClassVar[Calibration] = BY_EPSILON

    sensitivity: Fraction
    epsilon: Fraction
    monotone: bool = False
    grid: Fraction | None = None
    nan: Fraction | None = None

    if TYPE_CHECKING:  # each is given as people write it, and kept as the exact number

        def __init__(
            self, *, sensitivity: Spelled, epsilon: Spelled, monotone: bool = False, grid: Spelled | None = None,
            nan: Spelled | None = None,
        ) -> None: ...

    @property
    def loss(self) -> Loss:
        return Loss("pure", (("epsilon", self.epsilon),))

    def select(self, scores: Numbers, entropy: Entropy | None = None) -> int:
        """The index chosen; equal scores have equal probabilities.

        scores: list, tuple or one-dimensional array of ints, floats, Fractions, Decimals. Raises Refusal for no scores,
        for what is no number, and for one that is not finite unless `nan` was declared.
        """
        read = self.read(scores)
        return flipped(read.values, self.rate * read.unit, entropy)

    def probabilities(self, scores: Numbers) -> list[Enclosure]:
        """P(i) for each candidate, relative width under 2**-64. Not to be released. At most 200 candidates.

        Raises Refusal for more, and for scores that are no numbers.
        """
        read = self.read(scores)
        return chances(read.exact(), self.rate)

    def error(self, beta: Spelled, *, candidates: int) -> Fraction:
        """How far below the best score the choice is with probability at most beta: P(best - chosen > error) <= beta.

        beta: Fraction in (0, 1); candidates: int >= 1. The least such, but for a rounding upwards of one in 2**32 of
        the greatest it can be. In scores as read: a grid that scores are not on already adds at most one step of it.
        Raises Refusal for a beta that is no number in (0, 1), or a number of candidates that is none.
        """
        most, n = error_level(beta), whole(candidates, name="candidates", least=1)
        return furthest(n, most) / self.rate


def flipped(values: NDArray[Any], rate: Fraction, entropy: Entropy | None = None) -> int:
    """The index chosen from exact scores. values: as `exp_coins.flips` takes them."""
    import numpy as np

    from dpcurator import samplers
    from dpcurator.samplers.exp_coins import flips

    heads = np.flatnonzero(flips(values, rate, entropy))
    return int(heads[samplers.uniform_below(len(heads), None, entropy)])


def chances(scores: Sequence[Fraction], rate: Fraction) -> list[Enclosure]:
    """P(i) of exact scores. Raises Refusal above 200 of them."""
    if len(scores) > MOST:
        raise Refusal(f"probabilities lists at most {MOST} candidates.", cure="Leave some out.")
    found = {value: chance(partial(_chance, scores, value, rate), 128) for value in set(scores)}
    return [found[value] for value in scores]


@lru_cache(maxsize=256)  # a search
def furthest(candidates: int, beta: Fraction) -> Fraction:
    """Of rate times how far the choice is below the best: what it passes with probability at most beta, in (0, 1),
    whatever the scores are."""
    low, high = 0, 2**32  # of `unit`; at the upper end (n - 1) w / 2 <= beta / 2, which bounds the chance
    unit = ln(max(candidates / beta, Fraction(2))).hi / 2**32
    if candidates == 1 or _miss(Fraction(0), candidates, beta):
        return Fraction(0)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _miss(middle * unit, candidates, beta) else (middle, high)
    return high * unit


def _chance(scores: Sequence[Fraction], value: Fraction, rate: Fraction) -> Ball:
    """P of one candidate with this score: the distribution of K is the product of (1 - w) + w t, without
    cancellation."""
    from flint import arb_poly

    best, law = max(scores), arb_poly([1])
    others = Counter(scores)
    others[value] -= 1
    for one, times in others.items():
        w = (-ball(rate * (best - one))).exp()
        law *= arb_poly([1 - w, w]) ** times
    total = ball(0)
    for k in range(law.degree() + 1):
        total += law[k] / (k + 1)
    return (-ball(rate * (best - value))).exp() * total


def _miss(x: Fraction, n: int, most: Fraction) -> bool:
    """Is 1 - (1 - (1 - w)**n) / (n w) surely at most `most`, for w = exp(-x)?"""
    with precision(192 + n.bit_length()):
        w = (-ball(x)).exp()
        return bool(1 - (1 - (1 - w) ** n) / (n * w) <= ball(most))


EXAMPLES = (
    PermuteAndFlip(sensitivity=1, epsilon=1),
    PermuteAndFlip(sensitivity=1, epsilon="1/2", monotone=True),
    PermuteAndFlip(sensitivity="0.3", epsilon=2, grid="0.25"),
    PermuteAndFlip(sensitivity=10, epsilon=10, nan=0),
)
