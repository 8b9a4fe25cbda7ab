"""Report noisy max: which score is the greatest, each with noise of its own, the lowest index among equal ones.

Definition  The scores, rounded to the grid, are whole numbers u_i of steps. The index i with the greatest u_i + Z_i is
            given, the lowest if several have it; Z_i independent, discrete Laplace (`noise="laplace"`) or geometric
            ("exponential"), of scale 2 S/epsilon steps, or S/epsilon where the scores are `monotone`; S is the most
            steps that one score moves by.
Promise     The index is epsilon-DP if neighbours move each score by at most `sensitivity`, and all in one direction
            where `monotone` is declared (mechanisms/choice/monotone.py). No smaller epsilon holds for either noise:
            with the geometric it is attained, with the Laplace approached. It is pure, so rho = epsilon**2 / 2: neither
            noise has the eps**2 / 8 of an exponential mechanism. The greatest noisy score is no part of the answer.
            With `value_epsilon` the chosen score is measured anew, by discrete Laplace noise of scale S/value_epsilon,
            and the two losses add up.
Proof       Fix j and the noises of the others. j is chosen exactly if Z_j >= m, where u_j + m is the greatest u_i + Z_i
            of the others, or 1 more than that if it belongs to an i < j: the ties are in m. Under the neighbour let the
            same noises of the others give m'. The 1s are the same in each i's term, so m' - m is at most the greatest
            change of a u_i (upwards) plus that of u_j (downwards): 2S; S if monotone, since one of the two is then at
            most 0. m, m' and S are whole, and both tails fall by a factor of at most exp(-1/scale) a step, so
            P(Z_j >= m) <= exp(2S/scale) P(Z_j >= m') = e**epsilon P(Z_j >= m'). Average over the noises of the others.
            S must be whole: ceil(sensitivity/grid), by mechanisms/grid.py. Ties between scores off a grid would break
            otherwise under the neighbour.
            Attained: of two, the first is chosen from d steps behind with probability p**d / (1 + p) by geometric
            noises.
On a fine grid the geometric noise makes this permute-and-flip (mechanisms/choice/permute_and_flip.py), whose
distribution is that of exponential noise on the real line (Ding and others 2021).
Source      Dwork, Roth 2014, section 3.3 (Laplace, exponential, and why monotone scores cost half).
Checked     tests/mechanisms/test_noisy_max.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from dpcurator.entropy import Entropy
from dpcurator.errors import Refusal
from dpcurator.mechanisms.choice.monotone import apart, declared
from dpcurator.mechanisms.choice.scores import Scores, read_scores
from dpcurator.mechanisms.grid import l1_steps, step_of
from dpcurator.mechanisms.noise.discrete_laplace import DiscreteLaplace
from dpcurator.mechanisms.parameters import error_level, parameters
from dpcurator.numbers import Enclosure, ln, positive, rational, whole
from dpcurator.numbers.geometric_sums import Step, chance, total
from dpcurator.privacy.calibration import BY_EPSILON, Calibration
from dpcurator.privacy.loss import Loss

if TYPE_CHECKING:  # a quote draws nothing, and starts faster without numpy
    from numpy.typing import NDArray

    from dpcurator.numbers.rational import Numbers, Spelled

NOISES = {"laplace": "laplace", "exponential": "geometric"}  # and how the steps of its law are called
MOST = 32  # candidates of which `probabilities` gives the law


@parameters
class NoisyMax:
    """Report noisy max: the index of the greatest score, each with noise of its own; epsilon-DP.

    The index of the greatest u_i + Z_i is given, the lowest if several have it; Z_i independent, discrete Laplace or
    geometric, of scale 2 sensitivity / epsilon, or half of that where `monotone` is declared.

    Promise: if neighbours move each score by at most `sensitivity`, the index is epsilon-DP. The noisy score itself is
    no part of the answer; `with_value` measures it anew for an epsilon on top.

    Parameters (any other value raises Refusal, with a way to mend it):
        sensitivity: number > 0, how far neighbours move one score at most, in the scores' unit.
        epsilon: number > 0, of the index.
        noise: "laplace" or "exponential" (geometric noise, which makes better choices).
        value_epsilon: number > 0, on top, for the chosen score; None for the index alone.
        monotone: bool, True only if between any two neighbours no two scores move in opposite directions, as counts of
            one vote each under add-remove; it halves the noise.
        grid: number > 0, a finite decimal; by default below a millionth of the sensitivity and of the noise's scale.
        nan: the score that stands for one that is no finite number; None refuses such scores, which tells of the data.

    >>> import dpcurator as dp
    >>> votes = dp.NoisyMax(sensitivity=1, epsilon=2, noise="exponential", monotone=True)
    >>> votes.select([300, 20, 2])  # P(another) < 1e-200
    0
    >>> float(votes.error("0.05", candidates=3)) < 3
    True

    Source: Dwork, Roth 2014, section 3.3.
    """

    calibration: ClassVar[Calibration] = BY_EPSILON

    sensitivity: Fraction
    epsilon: Fraction
    noise: str = "laplace"
    monotone: bool = False
    value_epsilon: Fraction | None = None
    grid: Fraction | None = None
    nan: Fraction | None = None

    if TYPE_CHECKING:  # each is given as people write it, and kept as the exact number

        def __init__(
            self, *, sensitivity: Spelled, epsilon: Spelled, noise: str = "laplace", monotone: bool = False,
            value_epsilon: Spelled | None = None, grid: Spelled | None = None, nan: Spelled | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        moved, eps = positive(self.sensitivity, name="sensitivity"), positive(self.epsilon, name="epsilon")
        fresh = None if self.value_epsilon is None else positive(self.value_epsilon, name="value_epsilon")
        if not isinstance(self.noise, str) or self.noise not in NOISES:
            raise Refusal('noise must be "laplace" or "exponential".', cure="Leave it out for Laplace noise.")
        for name, exact in (
            ("sensitivity", moved), ("epsilon", eps), ("monotone", declared(self.monotone)),
            ("value_epsilon", fresh), ("grid", step_of(self.grid, sensitivity=moved, scale=moved / eps, coordinates=1)),
            ("nan", None if self.nan is None else rational(self.nan, name="nan")),
        ):
            object.__setattr__(self, name, exact)

    def with_value(self, *, epsilon: Spelled) -> NoisyMax:
        """The same, which also measures the chosen score anew (`select_with_value`) for this epsilon on top.

        Raises Refusal for an epsilon that is not above 0.
        """
        return NoisyMax(
            sensitivity=self.sensitivity, epsilon=self.epsilon, noise=self.noise, monotone=self.monotone,
            value_epsilon=epsilon, grid=self.grid, nan=self.nan,
        )

    @property
    def step(self) -> Fraction:
        """The grid, in the scores' unit."""
        assert self.grid is not None  # chosen when it was not declared
        return self.grid

    @property
    def steps(self) -> int:
        """S: how many steps of the grid neighbours move one score by at most."""
        return l1_steps(self.sensitivity, self.step, 1)

    @property
    def scale(self) -> Fraction:
        """Of each candidate's noise, in steps."""
        return apart(self.monotone) * self.steps / self.epsilon

    @property
    def value_noise(self) -> DiscreteLaplace | None:
        """Of the chosen score when it is measured anew, in steps; None where it is not."""
        return None if self.value_epsilon is None else DiscreteLaplace(self.steps / self.value_epsilon)

    @property
    def loss(self) -> Loss:
        """epsilon, and value_epsilon where there is one, used or not."""
        return Loss("pure", (("epsilon", self.epsilon + (self.value_epsilon or 0)),))

    def read(self, scores: Numbers) -> Scores:
        """The scores in whole steps of the grid.

        Raises Refusal for scores that are no numbers, or are missing where `nan` is not declared.
        """
        return read_scores(scores, grid=self.step, nan=self.nan)

    def select(self, scores: Numbers, entropy: Entropy | None = None) -> int:
        """The index chosen, and nothing else.

        scores: list, tuple or one-dimensional array of ints, floats, Fractions, Decimals. Raises Refusal for no scores,
        for what is no number, and for one that is not finite unless `nan` was declared.
        """
        return self._select(self.read(scores).values, entropy)

    def select_with_value(self, scores: Numbers, entropy: Entropy | None = None) -> tuple[int, Fraction]:
        """The index, and the score there with fresh noise: a point of the grid, in the scores' unit.

        Raises Refusal without `with_value`, and for scores that are no numbers.
        """
        fresh = self.value_noise
        if fresh is None:
            raise Refusal("This gives the index alone.", cure="Use with_value(epsilon=...), which is paid on top.")
        values = self.read(scores).values
        index = self._select(values, entropy)
        return index, (int(values[index]) + int(fresh.sample(1, entropy)[0])) * self.step

    def _select(self, values: NDArray[Any], entropy: Entropy | None) -> int:
        from dpcurator import samplers

        draw = samplers.discrete_laplace if self.noise == "laplace" else samplers.geometric
        noise = draw(self.scale, len(values), entropy)
        if values.dtype == object or noise.dtype == object or max(int(noise.max()), -int(noise.min())) >= 2**62:
            noisy = (values.astype(object) + noise.astype(object)).tolist()
            return int(noisy.index(max(noisy)))
        return int((values + noise).argmax())  # the first of equal ones

    def probabilities(self, scores: Numbers) -> list[Enclosure]:
        """P(i) for each candidate, unitless; relative width under 2**-64. Not to be released. At most 32 candidates.

        Raises Refusal for more, and for scores that are no numbers.
        """
        values = self.read(scores).values.tolist()
        if len(values) > MOST:
            raise Refusal(f"probabilities lists at most {MOST} candidates.", cure="Leave some out.")
        return [choice_chance(values, j, self.scale, self.noise) for j in range(len(values))]

    def error(self, beta: Spelled, *, candidates: int) -> Fraction:
        """How far below the best score the chosen one is, with probability at most beta: P(best - chosen > error) <=
        beta.

        beta: Fraction in (0, 1); candidates: int >= 1. The union bound over the others, each by the exact distribution
        of two noises: the least for two candidates, not for more. In the scores' unit, as rounded to the grid.
        Raises Refusal for a beta that is no number in (0, 1), or a number of candidates that is none.
        """
        most, others = error_level(beta), whole(candidates, name="candidates", least=1) - 1
        if not others:
            return Fraction(0)

        def enough(m: int) -> bool:
            return m >= 0 and (others * choice_chance([0, m + 1], 0, self.scale, self.noise)).surely_at_most(most)

        high = low = max(0, int(self.scale * ln(others / most).lo))
        reach = 1
        while not enough(high):
            low, high, reach = high, high + reach, 2 * reach
        reach = 1
        while low == high or enough(low):  # ends: no m below 0 is enough
            low, reach = low - reach, 2 * reach
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if enough(middle) else (middle, high)
        return high * self.step


def choice_chance(values: Sequence[int], j: int, scale: Fraction, noise: str) -> Enclosure:
    """P(j is chosen): over where its noisy score lies, the others below it, or not above it if they come later."""
    law = NOISES[noise]
    others = [Step(u + (i < j), f"{law}_at_most") for i, u in enumerate(values) if i != j]
    return chance(lambda: total(Step(values[j], f"{law}_mass"), scale, others, scale), 128 + 4 * len(values))


EXAMPLES = (
    NoisyMax(sensitivity=1, epsilon=1),
    NoisyMax(sensitivity=1, epsilon="1/2", monotone=True, grid=1),
    NoisyMax(sensitivity="0.3", epsilon=2, noise="exponential", grid="0.25", nan=0),
    NoisyMax(sensitivity=1, epsilon=1, noise="exponential", monotone=True, value_epsilon="1/2"),
)
