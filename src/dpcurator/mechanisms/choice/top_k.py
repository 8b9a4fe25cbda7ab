"""Top-k: the k candidates of the greatest scores with Gumbel noise, in order; an exponential mechanism peeled k times.

Definition  i_1 is chosen with probability proportional to exp(rate u_i), i_2 likewise from the others, and so on: rate
            = epsilon / (2 k s) for scores u of sensitivity s, epsilon / (k s) where they are `monotone`. It is the same
            to add independent Gumbel noise of scale 1/rate to every score once, and to give the k greatest, in order.
Promise     epsilon in all, epsilon/k for each of the k, if neighbours move each score by at most s, and all in one
            direction where `monotone` is declared (mechanisms/choice/monotone.py). Each choice, given the earlier ones,
            is of bounded range epsilon/k, so rho = epsilon**2 / (8 k) for all of them: `losses` are these k, for
            accountants that compose, and `loss` is the pure epsilon of the whole. The whole is not of bounded range
            epsilon: where a choice's interval lies may depend on the earlier choices (the tests have a case). No noisy
            score is shown.
Proof       Each choice is an exponential mechanism over the candidates left (mechanisms/choice/exponential.py), and
            which are left is known from the answer so far: adaptive composition. One-shot: the order of independent
            exponential arrivals is that of choosing one after another (Plackett-Luce; samplers/gumbel_max.py).
Source      Durfee, Rogers, NeurIPS 2019 (arXiv 1905.04273), lemma 4.2; rho: Cesar, Rogers, ALT 2021.
Checked     tests/mechanisms/test_top_k.py, tests/samplers/test_gumbel_max.py (distribution of the order).
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from dpcurator.entropy import Entropy
from dpcurator.errors import Refusal
from dpcurator.mechanisms.choice.scores import ByScores, Scores
from dpcurator.mechanisms.parameters import error_level, parameters
from dpcurator.numbers import Enclosure, ln, whole
from dpcurator.numbers.arb import Ball, ball
from dpcurator.numbers.geometric_sums import chance
from dpcurator.privacy.calibration import BY_EPSILON, Calibration
from dpcurator.privacy.loss import Loss

if TYPE_CHECKING:
    from dpcurator.numbers.rational import Numbers, Spelled

MOST = 10_000  # orders that `probabilities` lists


@parameters
class TopK(ByScores):
    """Top-k selection: the k candidates of the greatest noisy scores, in order; epsilon-DP in all.

    The exponential mechanism k times without replacement, each with epsilon / k: P(next is i) is proportional to
    exp(rate u_i) over the candidates left, rate = epsilon / (2 k sensitivity), twice that where `monotone` is declared.
    The same as adding Gumbel noise of scale 1 / rate to every score once.

    Promise: if neighbours move each score by at most `sensitivity`, the ordered choice is epsilon-DP, and rho-zCDP with
    rho = epsilon**2 / (8 k); `losses` are those of the k choices.

    Parameters (any other value raises Refusal, with a way to mend it):
        sensitivity: number > 0, how far neighbours move one score at most, in the scores' unit.
        epsilon: number > 0, of all k choices together.
        k: int >= 1, how many candidates are chosen.
        monotone: bool, True only if between any two neighbours no two scores move in opposite directions, as counts of
            one vote each under add-remove; it halves the noise.
        grid: number > 0 to which scores are rounded, or None to take them as they are.
        nan: the score that stands for one that is no finite number; None refuses such scores, which tells of the data.

    >>> import dpcurator as dp
    >>> best = dp.TopK(sensitivity=1, epsilon=4, k=2)
    >>> sorted(best.select([900, 800, 2, 1]))  # P(another) < 1e-300
    [0, 1]
    >>> best.rho, best.loss.pure_epsilon()
    (Fraction(1, 1), Fraction(4, 1))

    Source: Durfee, Rogers 2019; rho, Cesar, Rogers 2021.
    """

    calibration: ClassVar[Calibration] = BY_EPSILON

    sensitivity: Fraction
    epsilon: Fraction
    k: int
    monotone: bool = False
    grid: Fraction | None = None
    nan: Fraction | None = None

    if TYPE_CHECKING:  # each is given as people write it, and kept as the exact number

        def __init__(
            self, *, sensitivity: Spelled, epsilon: Spelled, k: int, monotone: bool = False,
            grid: Spelled | None = None, nan: Spelled | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "k", whole(self.k, name="k", least=1))

    @property
    def losses(self) -> tuple[Loss, ...]:
        """Of each choice given the earlier ones; what the whole loses is their adaptive composition."""
        return (Loss("bounded_range", (("epsilon", self.epsilon / self.k),)),) * self.k

    @property
    def loss(self) -> Loss:
        """Of the whole, pure. Its rho is far above the sum of those of `losses`, which is the one to account with."""
        return self.losses[0] if self.k == 1 else Loss("pure", (("epsilon", self.epsilon),))

    @property
    def rho(self) -> Fraction:
        """epsilon**2 / (8 k): the whole is zCDP with this."""
        return sum((one.rho() for one in self.losses), Fraction(0))

    @property
    def rate(self) -> Fraction:
        """One over the scores' unit; each of the k choices has its part of epsilon."""
        return super().rate / self.k

    def read(self, scores: Numbers) -> Scores:
        """The scores as they are read: exactly, on the grid if there is one. Raises Refusal for fewer than k."""
        read = super().read(scores)
        if len(read) < self.k:
            raise Refusal(f"There are fewer than k = {self.k} candidates.", cure="Choose a smaller k.")
        return read

    def select(self, scores: Numbers, entropy: Entropy | None = None) -> list[int]:
        """The k indices chosen, all different, in their order.

        scores: list, tuple or one-dimensional array of ints, floats, Fractions, Decimals. Raises Refusal for fewer than
        k, for what is no number, and for one that is not finite unless `nan` was declared.
        """
        from dpcurator import samplers

        read = self.read(scores)
        return samplers.race(read.values, self.rate * read.unit, entropy, places=self.k)

    def probabilities(self, scores: Numbers) -> Mapping[tuple[int, ...], Enclosure]:
        """P(order) for every order of k of the candidates, relative width under 2**-64. Not to be released.

        At most 10,000 orders, else a Refusal.
        """
        exact = self.read(scores).exact()
        orders = 1
        for left in range(len(exact), len(exact) - self.k, -1):
            orders *= left
        if orders > MOST:
            raise Refusal(f"There are more than {MOST:,} orders.", cure="Leave some candidates out.")
        return {
            order: chance(partial(self._chance, exact, order), 128)
            for order in itertools.permutations(range(len(exact)), self.k)
        }

    def _chance(self, scores: list[Fraction], order: tuple[int, ...]) -> Ball:
        """Of one after another, each by its weight among those left (relative to the best left, so none is lost)."""
        left, result = list(range(len(scores))), ball(1)
        for i in order:
            best = max(scores[j] for j in left)
            total = ball(0)
            for j in left:
                total += (-ball(self.rate * (best - scores[j]))).exp()
            result *= (-ball(self.rate * (best - scores[i]))).exp() / total
            left.remove(i)
        return result

    def error(self, beta: Spelled, *, candidates: int) -> Fraction:
        """How far a choice is below the best of those left then, at most, for all k at once but with probability beta.

        ln(candidates k / beta) / rate, rounded up: the exponential mechanism's bound for each. beta: Fraction in
        (0, 1); candidates: int >= k. In scores as read: a grid that they are not on already adds at most one step.
        Raises Refusal for a beta that is no number in (0, 1), or a number of candidates that is none.
        """
        most, n = error_level(beta), whole(candidates, name="candidates", least=self.k)
        return ln(n * self.k / most).hi / self.rate


EXAMPLES = (
    TopK(sensitivity=1, epsilon=1, k=1),
    TopK(sensitivity=1, epsilon="1/2", k=3, monotone=True),
    TopK(sensitivity="0.3", epsilon=4, k=2, grid="0.25", nan=0),
)
