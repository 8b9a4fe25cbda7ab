"""Propose a bound on the local sensitivity, test privately whether it holds with room to spare, and only then release.

Definition  D(x) = the least k with A_k(x) > bound: how many rows are to change before the local sensitivity can pass
            the bound; infinite if it never does. If D(x) + Z > T, Z discrete Laplace of scale 1 / eps_1 and T the
            least whole number with P(Z > T) <= delta, the answer is f(x) + W in steps of the function's unit, W
            discrete Laplace of scale bound / eps_2, clamped to the public bounds; else there is no answer, which is an
            answer.
Promise     (eps_1 + eps_2, delta)-DP for the function's neighbours. Both parts are charged, answer or none.
Proof       D differs by at most 1 between neighbours, as A_k(x) <= A_{k+1}(y), and is infinite for both or for none.
            If D(x) >= 1 or D(y) >= 1, then LS of that one is at most bound, so |f(x) - f(y)| <= bound, and both steps
            together are (eps_1 + eps_2)-DP, with no delta. If D(x) = D(y) = 0, then 'no answer' is equally likely under
            both, and an answer has probability P(Z > T) <= delta under each: (0, delta).
Source      Dwork, Lei, STOC 2009 (there with Laplace noise, and (2 eps, delta)).
Checked     tests/mechanisms/test_propose_test_release.py: both distributions of every pair of neighbours in small
            worlds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from dpcurator.entropy import Entropy
from dpcurator.errors import Refusal
from dpcurator.mechanisms.noise.discrete_laplace import DiscreteLaplace
from dpcurator.mechanisms.parameters import error_level, parameters
from dpcurator.numbers import Enclosure, exp_neg, positive
from dpcurator.numbers.rational import Spelled, between_0_and_1
from dpcurator.privacy.calibration import BY_EPSILON, Calibration
from dpcurator.privacy.loss import Loss
from dpcurator.sensitivity.function import Function, function_of
from dpcurator.sensitivity.windows import order_statistic


@parameters
class ProposeTestRelease:
    """Propose-test-release: little noise if the data are far from any that need more; (epsilon, delta)-DP.

    D(x) is how many rows must change before the local sensitivity passes `bound`. If D(x) + Z > T, Z discrete Laplace
    of scale 1 / eps1 and P(Z > T) <= delta, the answer is f(x) with discrete Laplace noise of scale bound / eps2,
    clamped to the public bounds; else there is no answer.

    Promise: (epsilon, delta)-DP for the function's neighbours, epsilon = eps1 + eps2; both are charged, answer or none.

    Parameters (any other value raises Refusal, with a way to mend it):
        function: as made by dp.order_statistic, dp.trimmed_mean, dp.bounded_mean or dp.enumerated.
        bound: number, the proposed local sensitivity, in the values' unit; at least one step of the function.
        epsilon: number > 0, of test and answer together. delta: number in (0, 1).
        test_share: number in (0, 1), the share of epsilon that pays for the test.

    >>> import dpcurator as dp
    >>> median = dp.order_statistic("1/2", lower=0, upper=100, grid=1)
    >>> private = dp.ProposeTestRelease(function=median, bound=1, epsilon=2, delta="1e-12")
    >>> private.release([10, 90]) is None  # far apart: the test passes with probability 1e-12
    True

    Source: Dwork, Lei 2009.
    """

    calibration: ClassVar[Calibration] = replace(BY_EPSILON, needs_delta=True)

    function: Function
    bound: Fraction
    epsilon: Fraction
    delta: Fraction
    test_share: Fraction = Fraction(1, 2)
    threshold: int = field(init=False, compare=False)

    if TYPE_CHECKING:  # each is given as people write it, and kept as the exact number

        def __init__(
            self, *, function: Function, bound: Spelled, epsilon: Spelled, delta: Spelled, test_share: Spelled = "1/2"
        ) -> None: ...

    def __post_init__(self) -> None:
        function_of(self.function)
        exact = {name: positive(getattr(self, name), name=name) for name in ("bound", "epsilon")}
        exact |= {name: between_0_and_1(getattr(self, name), name=name) for name in ("delta", "test_share")}
        for name, value in exact.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "threshold", _threshold(self.test.scale, exact["delta"]))

    @property
    def test(self) -> DiscreteLaplace:
        """The noise on the distance."""
        return DiscreteLaplace(1 / (self.epsilon * self.test_share))

    @property
    def loss(self) -> Loss:
        """approximate(epsilon, delta), for `function.neighbours`."""
        return Loss("approximate", (("delta", self.delta), ("epsilon", self.epsilon)))

    def noise(self, unit: Fraction) -> DiscreteLaplace:
        """The noise on an answer, in steps of `unit`, once the test is passed."""
        return DiscreteLaplace(self._bound(unit) / (self.epsilon * (1 - self.test_share)))

    def _bound(self, unit: Fraction) -> int:
        """Answers are whole steps, so the bound is too, rounded down."""
        steps = math.floor(self.bound / unit)
        if steps == 0:
            raise Refusal("bound is below one step of the answers.", cure="Propose at least one step of the grid.")
        return steps

    def release(self, data: Sequence[Any], entropy: Entropy | None = None) -> Fraction | None:
        """The noisy answer, in the unit of the values, or None: no answer. Either way the loss is the same.

        Raises Refusal for what is no data.
        """
        rows = self.function.rows(data)
        unit = self.function.unit(rows)
        noise = self.noise(unit)
        distance, drawn = self._distance(rows, unit), int(self.test.sample(1, entropy)[0])
        passed = distance is None or distance + drawn > self.threshold
        noisy = (self.function.answer(rows) + int(noise.sample(1, entropy)[0])) * unit
        return min(max(noisy, self.function.grid.lower), self.function.grid.upper) if passed else None

    def _distance(self, rows: Any, unit: Fraction) -> int | None:
        """The least k with A_k > bound, None if there is none. A_k never falls in k, so by bisection."""
        bound, last = self._bound(unit), self.function.farthest(rows)
        if self.function.greatest(rows) <= bound or self.function.local_sensitivity_at(rows, last) <= bound:
            return None
        low, high = 0, last
        while low < high:
            middle = (low + high) // 2
            above = self.function.local_sensitivity_at(rows, middle) > bound
            low, high = (low, middle) if above else (middle + 1, high)
        return low

    def probabilities(self, data: Sequence[Any]) -> dict[Fraction | None, Enclosure]:
        """The distribution of the release for this data, None being no answer; as private as the data: for study and
        tests. Raises Refusal for what is no data."""
        rows = self.function.rows(data)
        unit, grid = self.function.unit(rows), self.function.grid
        noise, answer = self.noise(unit), self.function.answer(rows)
        distance, always = self._distance(rows, unit), Enclosure.exactly(1)
        passed = always if distance is None else _above(self.test.scale, self.threshold - distance)
        grid.every()  # refuses what is too long to list
        low, high = math.ceil(grid.lower / unit), math.floor(grid.upper / unit)
        law: dict[Fraction | None, Enclosure] = {None: 1 - passed}
        for place in range(low, high + 1):
            if low == high:
                mass = always
            elif place == low:
                mass = 1 - _above(noise.scale, place - answer)
            elif place == high:
                mass = _above(noise.scale, place - answer - 1)
            else:
                mass = noise.pmf(place - answer)
            law[place * unit] = passed * mass
        return law

    def error(self, beta: Spelled, *, n: int | None = None) -> Fraction:
        """If there is an answer: the least m with P(its noise passes m) <= beta, from public facts. n: as for means.

        Raises Refusal for a beta that is no number in (0, 1).
        """
        grid = self.function.grid
        rows = self.function.rows([grid.lower] * (1 if n is None else n))
        unit = self.function.unit(rows)
        return min(self.noise(unit).error(error_level(beta)) * unit, grid.upper - grid.lower)


def _above(scale: Fraction, m: int) -> Enclosure:
    """P(Z > m) of a discrete Laplace: p**(m+1) / (1+p) for m >= 0; P(Z > m) = 1 - P(Z > -m-1) for m < 0."""
    p = exp_neg(1 / scale, 192)
    tail = exp_neg((m + 1 if m >= 0 else -m) / scale, 192) / (1 + p)
    return tail if m >= 0 else 1 - tail


def _threshold(scale: Fraction, delta: Fraction) -> int:
    """The least T >= 0 with P(Z > T) surely at most delta: by doubling, then bisection."""
    if _above(scale, 0).surely_at_most(delta):
        return 0
    low, high = 0, 1
    while not _above(scale, high).surely_at_most(delta):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _above(scale, middle).surely_at_most(delta) else (middle, high)
    return high


EXAMPLES = (
    ProposeTestRelease(
        function=order_statistic("1/2", lower=0, upper=100, grid=1),
        bound=Fraction(2), epsilon=Fraction(1), delta=Fraction(1, 10**6),
    ),
)
