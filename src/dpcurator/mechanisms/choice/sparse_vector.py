"""Sparse vector: which of many questions are above a threshold, paying only for those that are.

Definition  A noisy threshold is drawn once: rho, discrete Laplace of scale S/eps1. Question i is "above" when d_i +
            nu_i >= rho, with nu_i fresh, of scale 2cS/eps2 (cS/eps2 if monotone), d_i = value - threshold in steps of
            the grid, and S the most steps one question moves by. After c = `positives` answers "above" it stops. eps1
            and eps2 sum to epsilon and are as 1 to (2c)**(2/3) (c**(2/3) if monotone), which gives the difference of
            both noises the least variance. AboveThreshold is c = 1.
Promise     The whole sequence of answers is epsilon-DP, also for adaptively chosen questions, if each has sensitivity
            at most `sensitivity`. `monotone` is a further promise of the caller's:
            for one pair of neighbours no two questions move in opposite directions (counts under add-remove do not).
            No smaller epsilon holds for all sequences (not claimed if monotone): long ones come as near as one likes.
            A number with each "above" costs `values_epsilon` on top: it is measured anew, with noise of scale
            cS/values_epsilon. The number that the test compared is never shown: no epsilon would hold for that.
Proof       Fix the answers, and read each P(...) given the earlier ones. With S, all d_i and all noises whole, replace
            rho = z by z + S: P(rho = z) <= e**eps1 P(rho = z + S). Under the neighbour, d_i' <= d_i + S, so "below" at
            z implies "below" at z + S for the same nu_i. And d_i' >= d_i - S, so "above" at z with nu_i implies it at
            z + S with nu_i + 2S; P(nu >= t) <= e**(2S/scale) P(nu >= t + 2S), where 2S/scale = eps2/c, and there are
            at most c. Summing over z, the ratio is at most e**(eps1 + eps2). If monotone and all go up, nu_i + S is
            enough; if all go down, leave z: "below" stays, and nu_i + S is enough again. Ties count as above wherever
            they occur, so discrete noise costs nothing, as S = ceil(sensitivity / grid) is whole.
            Nearly attained: m large questions "below" that go up by S keep rho from being small, so that the mass is
            where P(rho = z) loses eps1; c small questions "above" that go down by S (stay, if monotone) lose eps2.
Source      Lyu, Su, Li, VLDB 2017, algorithm 1 and section 4; the broken variants that the tests find are theirs.
Checked     tests/mechanisms/test_sparse_vector.py.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from dpcurator import process
from dpcurator.entropy import Entropy
from dpcurator.errors import Refusal
from dpcurator.mechanisms.choice.monotone import apart, declared
from dpcurator.mechanisms.grid import l1_steps, step_of
from dpcurator.mechanisms.grid_rounding import Reals, declared_constants
from dpcurator.mechanisms.noise.discrete_laplace import DiscreteLaplace
from dpcurator.mechanisms.parameters import error_level, parameters
from dpcurator.numbers import Enclosure, positive, rational, whole
from dpcurator.numbers.geometric_sums import Step, chance, total
from dpcurator.privacy.calibration import BY_EPSILON, Calibration
from dpcurator.privacy.loss import Loss

if TYPE_CHECKING:
    from dpcurator.numbers.rational import Spelled

MOST = 12  # questions of which `probabilities` lists every sequence of answers


@parameters
class SparseVector:
    """Sparse vector technique: which of many queries are above a threshold; epsilon-DP however many are below.

    A noisy threshold is drawn once; query i is "above" when value + noise >= it. Both noises are discrete Laplace, of
    scales sensitivity / eps1 and 2 positives sensitivity / eps2 (half where `monotone`), eps1 + eps2 = epsilon, split
    so that the variance is least. After `positives` answers "above" it stops. With positives=1 this is AboveThreshold.

    Promise: the whole sequence of answers to adaptively chosen queries is epsilon-DP, if neighbours move each query by
    at most `sensitivity`. A number with each "above" costs `values_epsilon` on top.

    Parameters (any other value raises Refusal, with a way to mend it):
        sensitivity: number > 0, of each query, in its unit.
        epsilon: number > 0, of all the tests together.
        threshold: number, in the queries' unit.
        positives: int >= 1, how many answers "above" are given before it stops.
        monotone: bool, True only if between any two neighbours no two queries move in opposite directions.
        values_epsilon: number > 0, on top, for a number with each "above"; None for none.
        grid, bounds, nan: as for dp.Laplace.

    >>> import dpcurator as dp
    >>> run = dp.SparseVector(sensitivity=1, epsilon=1, threshold=1000, positives=2).start()
    >>> [run.ask(count) for count in (3, 5, 2000, 4)], run.left  # P(otherwise) < 1e-50
    ([False, False, True, False], 1)

    Source: Lyu, Su, Li 2017, algorithm 1; Dwork, Roth 2014, section 3.6.
    """

    calibration: ClassVar[Calibration] = BY_EPSILON

    sensitivity: Fraction
    epsilon: Fraction
    threshold: Fraction
    positives: int = 1
    monotone: bool = False
    values_epsilon: Fraction | None = None
    grid: Fraction | None = None
    bounds: tuple[Fraction, Fraction] | None = None
    nan: Fraction | None = None
    values: Reals = field(init=False, repr=False, compare=False)

    if TYPE_CHECKING:  # each is given as people write it, and kept as the exact number

        def __init__(
            self, *, sensitivity: Spelled, epsilon: Spelled, threshold: Spelled, positives: int = 1,
            monotone: bool = False, values_epsilon: Spelled | None = None, grid: Spelled | None = None,
            bounds: tuple[Spelled, Spelled] | None = None, nan: Spelled | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        moved, eps = positive(self.sensitivity, name="sensitivity"), positive(self.epsilon, name="epsilon")
        numbers = None if self.values_epsilon is None else positive(self.values_epsilon, name="values_epsilon")
        step = step_of(self.grid, sensitivity=moved, scale=moved / eps, coordinates=1)
        bounds, nan = declared_constants(self.bounds, self.nan)
        for name, exact in (
            ("sensitivity", moved), ("epsilon", eps), ("threshold", rational(self.threshold, name="threshold")),
            ("positives", whole(self.positives, name="positives", least=1)),
            ("monotone", declared(self.monotone)), ("values_epsilon", numbers), ("grid", step),
            ("bounds", bounds), ("nan", nan), ("values", Reals.declared(step, bounds, nan)),
        ):
            object.__setattr__(self, name, exact)

    @property
    def split(self) -> tuple[Fraction, Fraction]:
        """(eps1, eps2): of the threshold and of the questions, which sum to epsilon exactly; in thousandths of eps1."""
        many = apart(self.monotone) * self.positives
        weight = Fraction(cube_root(many**2 * 1000**3), 1000)
        first = self.epsilon / (1 + weight)
        return first, self.epsilon - first

    @property
    def steps(self) -> int:
        """S: how many steps of the grid one question moves by at most."""
        return l1_steps(self.sensitivity, self.values.step, 1)

    @property
    def threshold_noise(self) -> DiscreteLaplace:
        """Of rho, in steps."""
        return DiscreteLaplace(self.steps / self.split[0])

    @property
    def query_noise(self) -> DiscreteLaplace:
        """Of each nu, in steps."""
        return DiscreteLaplace(apart(self.monotone) * self.positives * self.steps / self.split[1])

    @property
    def value_noise(self) -> DiscreteLaplace | None:
        """Of a number given with "above", in steps; None where there is none."""
        return (
            None if self.values_epsilon is None else DiscreteLaplace(self.positives * self.steps / self.values_epsilon)
        )

    @property
    def loss(self) -> Loss:
        """epsilon, and values_epsilon where numbers are given, whether or not they are asked for. Pure, so rho is
        eps**2/2, not the eps**2/8 of an exponential mechanism."""
        return Loss("pure", (("epsilon", self.epsilon + (self.values_epsilon or 0)),))

    def start(self, entropy: Entropy | None = None) -> Session:
        """One run, which this loss is for. Starting again is a new release, with a loss of its own."""
        return Session(self, entropy)

    def probabilities(self, values: Sequence[Any]) -> Mapping[tuple[bool, ...], Enclosure]:
        """P(answers) for each sequence of answers to these questions, ending with the last "above" allowed.

        By closed sums, with nothing cut off. values: at most 12, fixed in advance; more are a Refusal.
        """
        if len(values) > MOST:
            raise Refusal(f"probabilities lists the answers to at most {MOST} questions.", cure="Ask of fewer.")
        at = [self.distance(value) for value in values]
        noises = self.threshold_noise.scale, self.query_noise.scale
        return {a: answers_chance(at, a, *noises) for a in sequences(len(at), self.positives)}

    def distance(self, value: Any) -> int:
        """value - threshold in steps: the difference of two roundings. Raises Refusal for what is no number."""
        found = self.values.steps(value)
        if not isinstance(found, int):
            raise Refusal("A question has one number.", cure="Ask for one value at a time.")
        return found - self.values.rounded(self.threshold)

    def error(self, beta: Spelled, *, questions: int) -> Fraction:
        """A distance from the threshold, in the questions' unit, beyond which no answer is wrong, but with probability
        beta.

        For up to `questions` in all. By the union bound over the noises, so not the least; values and threshold off the
        grid are besides rounded by half a step each.
        Raises Refusal for a beta that is no number in (0, 1), or a number of questions that is none.
        """
        each, many = error_level(beta), whole(questions, name="questions", least=1)
        steps = self.threshold_noise.error(each / 2) + self.query_noise.error(each / (2 * many)) + 1
        return steps * self.values.step


class Session:
    """A run of a SparseVector, in memory: the noisy threshold, and how many answers "above" are left.

    Safe among threads (one question at a time). A forked child holds a copy of the threshold, so it may not go on: it
    is refused, as are copies and pickles. When the process ends, so does the run.
    """

    __slots__ = ("_entropy", "_left", "_lock", "_noise", "_process", "_rho", "mechanism")

    def __init__(self, mechanism: SparseVector, entropy: Entropy | None = None) -> None:
        self.mechanism, self._left, self._entropy = mechanism, mechanism.positives, entropy
        self._lock, self._process = threading.Lock(), process.this()
        self._rho, self._noise = _one(mechanism.threshold_noise, entropy), mechanism.query_noise

    @property
    def left(self) -> int:
        """Answers "above" that remain; public, since the answers are."""
        return self._left

    def ask(self, value: Any) -> bool:
        """Is the value above the threshold, by the noises? Raises Refusal once `positives` were, and in a fork."""
        return self._test(value, numbers=False) is not None

    def ask_value(self, value: Any) -> Fraction | None:
        """The value with fresh noise, a point of the grid, if it is above the threshold by the noises; else None."""
        if self.mechanism.value_noise is None:
            raise Refusal("This run gives no numbers.", cure="Declare values_epsilon, which is paid on top.")
        return self._test(value, numbers=True)

    def _test(self, value: Any, *, numbers: bool) -> Fraction | None:
        if self._process != process.this():
            raise Refusal("This run was started in another process.", cure="Start a run in each, and pay for each.")
        rule = self.mechanism
        distance = rule.distance(value)  # outside the lock: reading a value may run code of its own, which may ask
        with self._lock:
            if not self._left:
                raise Refusal('The run has given all its answers "above".', cure="Start another, and pay for it.")
            if distance + _one(self._noise, self._entropy) < self._rho:
                return None
            self._left -= 1
            if not numbers or rule.value_noise is None:
                return Fraction(0)
            fresh = distance + rule.values.rounded(rule.threshold) + _one(rule.value_noise, self._entropy)
            return fresh * rule.values.step

    def __repr__(self) -> str:
        return f"<a run of {self.mechanism!r}, {self._left} left>"

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise Refusal("A run cannot be copied: both copies would share one threshold.", cure="Start another.")


def sequences(questions: int, positives: int) -> list[tuple[bool, ...]]:
    """Every sequence of answers: one each, until `positives` were above."""
    found: list[tuple[bool, ...]] = [()]
    for _ in range(questions):
        found = [
            longer for one in found for longer in ([(*one, False), (*one, True)] if sum(one) < positives else [one])
        ]
    return found


def answers_chance(
    distances: Sequence[int], answers: Sequence[bool], threshold_scale: Fraction, query_scale: Fraction
) -> Enclosure:
    """P(these answers, in order): the sum over rho = z of P(z) times each P(d + nu >= z) or P(d + nu < z)."""
    kinds = {True: "laplace_above", False: "laplace_at_most"}  # of d + 1 + nu against z
    factors = [Step(d + 1, kinds[answer]) for d, answer in zip(distances, answers, strict=False)]
    return chance(lambda: total(Step(0, "laplace_mass"), threshold_scale, factors, query_scale), 128 + 4 * len(factors))


def cube_root(n: int) -> int:
    """The floor of the cube root; n: int >= 0."""
    low, high = 0, 1 << (n.bit_length() // 3 + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle**3 <= n else (low, middle)
    return low


def _one(noise: DiscreteLaplace, entropy: Entropy | None) -> int:
    return int(noise.sample(1, entropy)[0])


EXAMPLES = (
    SparseVector(sensitivity=1, epsilon=1, threshold=0),
    SparseVector(sensitivity=1, epsilon="1/2", threshold=10, positives=3, monotone=True, grid=1),
    SparseVector(sensitivity="5/2", epsilon=2, threshold="0.3", positives=2, grid=1, values_epsilon=1),
)
