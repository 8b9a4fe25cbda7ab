"""Noise as large as the data at hand need: scaled by smooth sensitivity.

Definition  f(x) + (S(x) / alpha) Z, a real; S is the beta-smooth sensitivity of `function`, Z has a distribution of
            `sensitivity/admissible`. Released is that real rounded to the function's public grid, halves upward, then
            clamped to its public bounds.
Promise     eps-DP (student, cauchy: no delta), or (eps, delta)-DP (laplace), for the function's neighbours. Nothing
            that is shown depends on S but the release itself.
Proof       The real is private by `admissible`, with |f(x) - f(y)| <= LS(x) <= S(x) and the same of y; rounding and
            clamping are post-processing. S is not rounded: rounding it would break smoothness. Which cell the real is
            in is decided exactly: it is at or above an edge e when U >= P(Z <= (e - f) alpha / S), for a uniform U that
            is drawn as far as needed, the probability held in balls that are refined with it. S = 0 only if all bounded
            values are one, and then so is f.
Source      Nissim, Raskhodnikova, Smith, STOC 2007.
Checked     tests/mechanisms/test_smooth_noise.py: every output distribution of small worlds against every neighbour's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from dpcurator.entropy import Entropy
from dpcurator.errors import Refusal
from dpcurator.mechanisms.parameters import error_level, parameters
from dpcurator.numbers import Enclosure, positive, whole
from dpcurator.numbers.arb import Ball, ball, precision
from dpcurator.numbers.enclosure import bracket
from dpcurator.numbers.rational import Spelled, between_0_and_1, from_0_below_1
from dpcurator.privacy.calibration import BY_EPSILON, Calibration
from dpcurator.privacy.loss import Loss
from dpcurator.sensitivity.admissible import LAWS, Admissible, admissible, cdf
from dpcurator.sensitivity.function import Function, function_of
from dpcurator.sensitivity.sealed import SmoothSensitivity
from dpcurator.sensitivity.smooth import of_rows
from dpcurator.sensitivity.windows import Window, order_statistic


@parameters
class Smooth:
    """Noise scaled by smooth sensitivity: as little as the data at hand need; epsilon-DP, or (epsilon, delta)-DP.

    f(x) + (S(x) / alpha) Z, rounded to the function's grid and clamped to its bounds; S is the beta-smooth sensitivity
    of f at the data x, Z has a Student, Cauchy or Laplace distribution.

    Promise: epsilon-DP with Student or Cauchy noise, (epsilon, delta)-DP with Laplace noise, for the function's
    neighbours. S is as private as the data, and nothing shows it but the release.

    Parameters (any other value raises Refusal, with a way to mend it):
        function: as made by dp.order_statistic, dp.trimmed_mean, dp.bounded_mean or dp.enumerated.
        epsilon: number > 0, of one release.
        delta: number in (0, 1) with Laplace noise, none with the others.
        noise: "student", "cauchy" or "laplace"; by itself Laplace noise where there is a delta, else Student's.
        smoothing: number in (0, 1), the share of epsilon that pays for the change of S; public.

    >>> import dpcurator as dp
    >>> median = dp.order_statistic("1/2", lower=0, upper=100, grid=1)
    >>> private = dp.Smooth(function=median, epsilon=1)
    >>> 0 <= private.release([34, 41, 29, 56, 38] * 100) <= 100
    True

    Source: Nissim, Raskhodnikova, Smith 2007; Student noise, Bun, Steinke 2019.
    """

    calibration: ClassVar[Calibration] = BY_EPSILON

    function: Function
    epsilon: Fraction
    delta: Fraction = Fraction(0)
    noise: str | None = None
    smoothing: Fraction = Fraction(1, 2)
    scaling: Admissible = field(init=False, repr=False, compare=False)

    if TYPE_CHECKING:  # each is given as people write it, and kept as the exact number

        def __init__(
            self, *, function: Function, epsilon: Spelled, delta: Spelled | None = None, noise: str | None = None,
            smoothing: Spelled = "1/2",
        ) -> None: ...

    def __post_init__(self) -> None:
        function_of(self.function)
        epsilon = positive(self.epsilon, name="epsilon")
        delta = Fraction(0) if self.delta is None else from_0_below_1(self.delta)
        noise = ("laplace" if delta else "student") if self.noise is None else self.noise
        if noise not in LAWS:
            raise Refusal("noise must be student, cauchy or laplace.", cure='Write noise="student".')
        if (noise == "laplace") != (delta > 0):
            raise Refusal(
                "Laplace noise scaled by smooth sensitivity needs a delta, and the other distributions take none.",
                cure='Leave delta out with noise="student" or "cauchy"; give one, as in 1e-6, with noise="laplace".',
            )
        smoothing = between_0_and_1(self.smoothing, name="smoothing")
        for name, value in (("epsilon", epsilon), ("delta", delta), ("noise", noise), ("smoothing", smoothing)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "scaling", admissible(noise, epsilon, delta, smoothing))

    @property
    def loss(self) -> Loss:
        """pure(epsilon), or approximate(epsilon, delta), for `function.neighbours`."""
        if self.delta == 0:
            return Loss("pure", (("epsilon", self.epsilon),))
        return Loss("approximate", (("delta", self.delta), ("epsilon", self.epsilon)))

    def release(self, data: Sequence[Any], entropy: Entropy | None = None) -> Fraction:
        """The noisy answer: a multiple of the grid within the bounds, in the unit of the values.

        Raises Refusal for what is no data.
        """
        from dpcurator.samplers.lazy_uniform import WORD, settle, source

        rows = self.function.rows(data)
        cells = _Cells(self, rows)
        randomness = source(entropy)
        return settle(randomness.bits(WORD), WORD, randomness, cells.of) * self.function.grid.step

    def probabilities(self, data: Sequence[Any]) -> dict[Fraction, Enclosure]:
        """The distribution of the release for this data, of every multiple of the grid within the bounds. It is as
        private as the data: for study and for tests.
        Raises Refusal for what is no data, and where the candidates are too many to list."""
        grid, cells = self.function.grid, _Cells(self, self.function.rows(data))
        below, law = Enclosure.exactly(0), {}
        for place in grid.every():
            upto = Enclosure.exactly(1) if place == grid.high else cells.below(place)
            mass = upto - below
            law[place * grid.step] = Enclosure(max(mass.lo, Fraction(0)), max(mass.hi, Fraction(0)))
            below = upto
        return law

    def error(self, beta: Spelled, *, n: int | None = None) -> Fraction:
        """How far noise may move the answer, with probability at most beta of more, whatever the data: from public
        bounds.

        It holds for the largest S there can be, so it is often the whole range; what the data at hand need is private.
        n: the public number of rows, with which a mean has a smaller one.
        Raises Refusal for a beta that is no number in (0, 1).
        """
        beta = error_level(beta)
        grid = self.function.grid
        largest = grid.upper - grid.lower
        if n is None and not isinstance(self.function, Window):  # nothing is known of how large its S can be
            return largest
        if n is not None and self.function.neighbours == "replace-one":
            rows = self.function.rows([grid.lower] * whole(n, name="n", least=1))
            largest = self.function.greatest(rows) * self.function.unit(rows)
        low, high = 0, grid.high - grid.low
        while low < high:  # least m with P(|noise| > (m - 1/2) step) <= beta; rounding adds half a step
            middle = (low + high) // 2
            reach = (middle - Fraction(1, 2)) * grid.step
            low, high = (low, middle) if self._surely_within(reach, largest, beta) else (middle + 1, high)
        return low * grid.step

    def _surely_within(self, reach: Fraction, largest: Fraction, beta: Fraction) -> bool:
        if reach <= 0 or largest == 0:
            return largest == 0
        with precision(192):
            return bool(2 * cdf(self.scaling.law, ball(-reach * self.scaling.alpha / largest)) <= ball(beta))


class _Cells:
    """Where the real falls, for one dataset."""

    def __init__(self, mechanism: Smooth, rows: Any) -> None:
        function = mechanism.function
        self.grid, self.scaling = function.grid, mechanism.scaling
        self.centre = function.answer(rows) * function.unit(rows)
        self.smooth: SmoothSensitivity = of_rows(function, rows, mechanism.scaling.beta)

    def chance(self, place: int) -> Ball:
        """P(the real is below the upper edge of `place`); the sign of the edge's distance is exact."""
        edge = (place + Fraction(1, 2)) * self.grid.step - self.centre
        if self.smooth.is_zero_for_noise():
            return ball(int(edge > 0))
        return cdf(self.scaling.law, ball(edge * self.scaling.alpha) / self.smooth.ball_for_noise())

    def below(self, place: int) -> Enclosure:
        with precision(256):
            found = bracket(self.chance(place))
        return Enclosure(max(found.lo, Fraction(0)), min(max(found.hi, Fraction(0)), Fraction(1)))

    def of(self, word: int, bits: int) -> int | None:
        """The cell for a uniform that begins with these bits, or None while they leave a doubt."""
        low, high = self.grid.low, self.grid.high
        with precision(bits + 192):
            first, last = ball(Fraction(word, 1 << bits)), ball(Fraction(word + 1, 1 << bits))
            while low < high:
                middle = (low + high) // 2
                chance = self.chance(middle)
                if last <= chance:
                    high = middle
                elif first >= chance:
                    low = middle + 1
                else:
                    return None
        return low


_MEDIAN = order_statistic("1/2", lower=0, upper=10, grid=1)
EXAMPLES = (
    Smooth(function=_MEDIAN, epsilon=Fraction(1)),
    Smooth(function=_MEDIAN, epsilon=Fraction(1), delta=Fraction(1, 10**6)),
    Smooth(function=_MEDIAN, epsilon=Fraction(1), noise="cauchy"),
)
