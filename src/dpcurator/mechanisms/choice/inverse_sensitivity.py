"""An order statistic by how few rows would have to change to make it so: the inverse sensitivity mechanism.

Definition  For a value t of the public grid, len(x, t) is the least number of rows to replace so that the order
            statistic is t. P(t) proportional to exp(-epsilon len(x, t) / 2) over the multiples of the grid in the
            bounds.
Promise     Bounded range epsilon, so epsilon-DP and (epsilon**2 / 8)-zCDP, when one row is replaced and n is public.
Proof       len is a distance to a set, so neighbours move it by at most 1: the exponential mechanism of sensitivity 1.
            With sorted steps x_1..x_n and rank r: if `below` rows are under t and below >= r, then below - r + 1 of
            them must leave, and moving just those to t suffices; if `upto` rows are at or under t and upto < r, then
            r - upto must come, and moving those to t suffices; else x_r = t. So len is constant between the rows'
            values: a draw chooses among at most 2 n + 1 runs of the grid, each weighted by how many steps it holds,
            then a step of it.
Source      Asi, Duchi, NeurIPS 2020 (arXiv 2005.10630); McSherry, Talwar, FOCS 2007.
Checked     tests/mechanisms/test_inverse_sensitivity.py: len and the distribution by enumeration of small worlds.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from dpcurator.entropy import Entropy
from dpcurator.errors import Refusal
from dpcurator.mechanisms.parameters import error_level, parameters
from dpcurator.numbers import Enclosure, ln, positive
from dpcurator.numbers.arb import ball, precision
from dpcurator.numbers.enclosure import bracket
from dpcurator.numbers.rational import Spelled
from dpcurator.privacy.calibration import BY_EPSILON, Calibration
from dpcurator.privacy.loss import Loss
from dpcurator.sensitivity.windows import Window, order_statistic

LARGEST_STEPS = 1 << 4096  # as many as a race holds in one place
Run = tuple[int, int, int]  # first step, how many steps, len of each


@parameters
class InverseSensitivity:
    """Inverse sensitivity mechanism: an order statistic, by how few rows would have to change; epsilon-DP.

    P(t) is proportional to exp(-epsilon len(x, t) / 2) over the multiples t of the grid in the bounds; len(x, t) is the
    least number of rows of x to replace so that the order statistic is t.

    Promise: bounded range epsilon where one row is replaced and the number of rows is public: epsilon-DP, and rho-zCDP
    with rho = epsilon**2 / 8.

    Parameters (any other value raises Refusal, with a way to mend it):
        function: a function made by dp.order_statistic, with replace-one neighbours.
        epsilon: number > 0, of one release.

    >>> import dpcurator as dp
    >>> median = dp.order_statistic("1/2", lower=0, upper=10, grid=1)
    >>> private = dp.InverseSensitivity(function=median, epsilon=1)
    >>> 0 <= private.release([3, 4, 4, 5, 9]) <= 10
    True
    >>> private.error("0.05")  # rows
    11

    Source: Asi, Duchi 2020; McSherry, Talwar 2007.
    """

    calibration: ClassVar[Calibration] = BY_EPSILON

    function: Window
    epsilon: Fraction

    if TYPE_CHECKING:  # it is given as people write it, and kept as the exact number

        def __init__(self, *, function: Window, epsilon: Spelled) -> None: ...

    def __post_init__(self) -> None:
        of = self.function
        if not isinstance(of, Window) or of.kind != "order statistic" or of.neighbours != "replace-one":
            raise Refusal(
                "function must be an order statistic whose neighbours replace one row.",
                cure='Write function=dp.order_statistic("1/2", lower=0, upper=100, grid=1).',
            )
        if of.grid.high - of.grid.low >= LARGEST_STEPS:
            raise Refusal("The grid has too many steps.", cure="Take a coarser grid, or narrower bounds.")
        object.__setattr__(self, "epsilon", positive(self.epsilon, name="epsilon"))

    @property
    def loss(self) -> Loss:
        """bounded_range(epsilon), when one row is replaced."""
        return Loss("bounded_range", (("epsilon", self.epsilon),))

    def release(self, data: Sequence[Any], entropy: Entropy | None = None) -> Fraction:
        """A multiple of the grid within the bounds, in the unit of the values. Raises Refusal for what is no data."""
        import numpy as np

        from dpcurator import samplers

        runs = self._runs(data)
        values = np.array([-length for _, _, length in runs], dtype=np.int64)
        sizes = np.array([size for _, size, _ in runs], dtype=object)
        first, size, _ = runs[samplers.race(values, self.epsilon / 2, entropy, sizes=sizes)[0]]
        return (first + samplers.uniform_below(size, None, entropy)) * self.function.grid.step

    def _runs(self, data: Sequence[Any]) -> list[Run]:
        """The grid from end to end in runs of one len each."""
        inside = self.function.rows(data)[1:-1].tolist()
        rank, grid = self.function.rank(len(inside)), self.function.grid
        runs: list[Run] = []
        start, below = grid.low, 0
        for position, value in enumerate(inside):
            if position + 1 < len(inside) and inside[position + 1] == value:
                continue
            upto = position + 1
            runs += [(start, value - start, _length(below, below, rank)), (value, 1, _length(below, upto, rank))]
            start, below = value + 1, upto
        runs.append((start, grid.high + 1 - start, _length(below, below, rank)))
        return [run for run in runs if run[1] > 0]

    def probabilities(self, data: Sequence[Any]) -> dict[Fraction, Enclosure]:
        """The distribution of the release for this data; as private as the data: for study and for tests.

        Raises Refusal for what is no data, and where the candidates are too many to list.
        """
        self.function.grid.every()  # refuses what is too long to list
        runs = self._runs(data)
        with precision(192):
            weights = [(-ball(self.epsilon * length / 2)).exp() for _, _, length in runs]
            total = sum((size * weight for (_, size, _), weight in zip(runs, weights, strict=True)), ball(0))
            shares = [bracket(weight / total) for weight in weights]
        return {
            step * self.function.grid.step: share
            for (first, size, _), share in zip(runs, shares, strict=True)
            for step in range(first, first + size)
        }

    def error(self, beta: Spelled) -> int:
        """How many rows would have to change to make the answer right, at most, but for a probability beta: an int.

        (2 / epsilon) ln(R / beta), rounded up, R the number of steps of the grid (Asi, Duchi 2020): an error
        in rank, from public facts alone; how far that is in the unit of the values depends on the data.
        Raises Refusal for a beta that is no number in (0, 1).
        """
        chance = error_level(beta)
        steps = self.function.grid.high - self.function.grid.low + 1
        return (2 * ln(steps / chance).hi / self.epsilon).__ceil__()


def _length(below: int, upto: int, rank: int) -> int:
    return max(below - rank + 1, rank - upto, 0)


EXAMPLES = (
    InverseSensitivity(function=order_statistic("1/2", lower=0, upper=100, grid=1), epsilon=Fraction(1)),
    InverseSensitivity(function=order_statistic(1, lower=-5, upper=5, grid="1/2"), epsilon=Fraction(1, 10)),
)
