"""The exponential mechanism: choose one of finitely many public candidates by private scores.

Definition  P(i) proportional to exp(epsilon u_i / (2 s)) for scores u and sensitivity s; to exp(epsilon u_i / s) where
            the scores are declared `monotone`: between any neighbours all of them rise, or all of them fall, or stay.
Promise     If neighbours move each score by at most s, every log-ratio of probabilities lies in an interval of length
            epsilon: bounded range epsilon, so epsilon-DP and rho-zCDP with rho = epsilon**2 / 8. With `monotone` the
            same is true, if the scores are. With a `grid`, s is rounded up to a multiple of it
            (mechanisms/choice/scores.py).
Accuracy    With R candidates of which R_opt have the best score: P(best - u >= (2 s / epsilon) (ln(R / R_opt) + t)) <=
            exp(-t); without the 2 where monotone.

Proof of the promise. ln P(i) - ln P'(i) = c (u_i - u'_i) - ln(Z / Z') with one Z / Z' for all i, so the log-ratios span
c (max - min of u_i - u'_i). That is at most c 2 s with c = epsilon / (2 s). Monotone differences all lie in [0, s] or
all in [-s, 0], so they span at most c s with c = epsilon / s. As both distributions sum to 1, the interval holds 0:
epsilon-DP. Proof of the accuracy. Each candidate so far below the best has weight at most exp(c best) (R_opt / R)
exp(-t); there are fewer than R of them, and the best ones alone weigh R_opt exp(c best).
Source      McSherry, Talwar, FOCS 2007; bounded range: Durfee, Rogers, NeurIPS 2019; rho: Cesar, Rogers, ALT 2021.
Checked     tests/mechanisms/test_exponential.py, tests/samplers/test_gumbel_max.py (distribution of the choice).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from dpcurator.entropy import Entropy
from dpcurator.errors import Refusal
from dpcurator.mechanisms.choice.scores import ByScores, Scores
from dpcurator.mechanisms.parameters import error_level, parameters
from dpcurator.numbers import Enclosure, ln, whole
from dpcurator.numbers.arb import ball, precision
from dpcurator.numbers.enclosure import bracket
from dpcurator.numbers.rational import Numbers, Spelled
from dpcurator.privacy.calibration import BY_EPSILON, Calibration
from dpcurator.privacy.loss import Loss

if TYPE_CHECKING:  # a quote draws nothing, and starts faster without numpy
    from numpy.typing import NDArray


Candidate = TypeVar("Candidate", bound=Hashable)


@parameters
class Exponential(ByScores):
    """Exponential mechanism: chooses one of finitely many public candidates by private scores; epsilon-DP.

    P(i) is proportional to exp(epsilon u_i / (2 s)) for scores u of sensitivity s; to exp(epsilon u_i / s) where
    `monotone` is declared.

    Promise: if neighbours move each score by at most s, the choice has bounded range epsilon: it is epsilon-DP, and
    rho-zCDP with rho = epsilon**2 / 8.

    Parameters (any other value raises Refusal, with a way to mend it):
        sensitivity: number > 0, how far neighbours move one score at most, in the scores' unit.
        epsilon: number > 0, of one choice.
        monotone: bool, True only if between any two neighbours no two scores move in opposite directions, as counts of
            one vote each under add-remove; it halves the noise.
        grid: number > 0 to which scores are rounded, or None to take them as they are.
        nan: the score that stands for one that is no finite number; None refuses such scores, which tells of the data.

    >>> import dpcurator as dp
    >>> best = dp.Exponential(sensitivity=1, epsilon=2)
    >>> best.select([3, 20, 2]) in range(3)
    True
    >>> [f"{float(p.lo):.3f}" for p in best.probabilities([3, 2, 2])]  # as private as the scores
    ['0.576', '0.212', '0.212']

    Source: McSherry, Talwar 2007; bounded range, Durfee, Rogers 2019; rho, Cesar, Rogers 2021.
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
        """Exact: the interval is as long as epsilon where two scores move by the sensitivity, each its own way, or,
        where monotone, one moves and another stays."""
        return Loss("bounded_range", (("epsilon", self.epsilon),))

    def select(self, scores: Numbers, entropy: Entropy | None = None) -> int:
        """The index of one candidate, equal scores having equal probabilities.

        scores: list, tuple or one-dimensional array of ints, floats, Fractions, Decimals. Raises Refusal for no scores,
        for what is no number, and for one that is not finite unless `nan` was declared.
        """
        from dpcurator import samplers

        read = self.read(scores)
        return samplers.race(read.values, self.rate * read.unit, entropy)[0]

    def choose(self, candidates: Sequence[Candidate], scores: Numbers, entropy: Entropy | None = None) -> Candidate:
        """One of the candidates, which are public, hashable and told apart as a dict does. Else raises Refusal."""
        known = distinct(candidates)
        read = self.read(scores)
        if len(known) != len(read):
            raise Refusal(f"There are {len(known)} candidates and {len(read)} scores.", cure="Give each its score.")
        return known[self.select(scores, entropy)]

    def select_many(self, scores: Numbers, size: int, entropy: Entropy | None = None) -> NDArray[Any]:
        """`size` independent selections, int64, shape (size,). Each of them costs epsilon.

        Raises Refusal as `select` does, and for a size that is none.
        """
        import numpy as np

        from dpcurator.samplers.gumbel_max import Race
        from dpcurator.samplers.lazy_uniform import source

        read, bits = self.read(scores), source(entropy)
        made = Race(read.values, self.rate * read.unit)
        return np.array([made.run(bits, 1)[0] for _ in range(whole(size, name="size"))], dtype=np.int64)

    def probabilities(self, scores: Numbers) -> list[Enclosure]:
        """P(i) for each candidate, unitless; relative width under 2**-100 down to 2**-65000. Not to be released.

        Raises Refusal for scores that are no numbers, or are missing where `nan` is not declared.
        """
        return shares(self.read(scores), self.rate)

    def error(self, beta: Spelled, *, candidates: int, optimal: int = 1) -> Fraction:
        """How far below the best score the choice is with probability at most beta: P(best - u >= error) <= beta.

        (2 s / epsilon) (ln(candidates / optimal) + ln(1 / beta)), without the 2 where monotone, rounded up. beta:
        Fraction in (0, 1); candidates: int >= 1; optimal: int, how many surely have the best score. In scores as read:
        a grid that scores are not on already adds at most one step of itself.
        Raises Refusal for a beta that is no number in (0, 1), or a number of candidates that is none.
        """
        chance = error_level(beta)
        n, best = whole(candidates, name="candidates", least=1), whole(optimal, name="optimal", least=1)
        if best > n:
            raise Refusal("optimal counts candidates, so it is at most their number.")
        return ln(Fraction(n, best) / chance).hi / self.rate


def shares(scores: Scores, rate: Fraction) -> list[Enclosure]:
    """exp(rate u_i) over the sum of them, each value computed once."""
    exact = scores.exact()
    top = max(exact)
    distinct_values = set(exact)
    reach = int(rate * (top - min(exact)))
    with precision(160 + reach.bit_length() + len(exact).bit_length()):
        weights = {value: (-ball(rate * (top - value))).exp() for value in distinct_values}
        total = ball(0)
        for value in exact:
            total += weights[value]
        found = {value: bracket(weight / total) for value, weight in weights.items()}
    found = {value: Enclosure(max(one.lo, Fraction(0)), min(one.hi, Fraction(1))) for value, one in found.items()}
    return [found[value] for value in exact]


def distinct(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates in a list. Raises Refusal for none, for repeated and for unhashable ones."""
    if isinstance(candidates, str | bytes | set | frozenset) or not hasattr(candidates, "__len__"):
        raise Refusal("Candidates are a list, in the order of their scores.", cure='Write candidates as in ["a", "b"].')
    known = list(candidates)
    if not known:
        raise Refusal("There are no candidates to choose from.", cure="List at least one.")
    try:
        different = len(set(known))
    except TypeError:
        raise Refusal("A candidate cannot be hashed.", cure="Use texts, numbers or tuples as candidates.") from None
    if different < len(known):
        raise Refusal("A candidate is listed twice.", cure="List each candidate once; twice doubles its probability.")
    return known


EXAMPLES = (
    Exponential(sensitivity=1, epsilon=1),
    Exponential(sensitivity=1, epsilon="1/2", monotone=True),
    Exponential(sensitivity="0.3", epsilon=2, grid="0.25"),
    Exponential(sensitivity=10, epsilon=10, nan=0),
)  # the laws run on these
