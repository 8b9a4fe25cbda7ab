"""Staircase noise: the least noise there is for one number under pure differential privacy, at large epsilon.

Definition  In steps of the grid let D be the sensitivity, b = 1/R with R the rational `odds` just below e**epsilon
            (mechanisms/local/rational_odds.py), and 1 <= r <= D a public width. Noise k with |k| = j D + i, 0 <= i < D,
            has probability a b**j for i < r and a b**(j+1) for i >= r: stairs of D steps, each with a high part of r
            steps. a makes the sum 1: with S = (r + (D-r) b) / (1-b), a = 1 / (2 S - 1).
Promise     If neighbours move the answer by at most `sensitivity`, the answer is epsilon-DP, and `loss` is exact: the
            privacy loss is ln R, 0 or -ln R. Of all r, the default makes the mean of |noise| the least. Geng and
            Viswanath show that no epsilon-DP noise that does not depend on the answer has a smaller worst mean.
Proof       Loss. |k| and |k - s| differ by at most s <= D, so their levels (the exponents of b) differ by at most 1:
            each log-ratio is ln R, 0 or -ln R, and for s = D and k <= 0 it is ln R. The pair of shift s is thus
            "randomised_response" with t_s = P(L = ln R) and t_s b, the two directions alike by symmetry. As t_s (1-b)
            = sum of max(P(k) - P(k-s), 0), and P falls with |k|, that sum is over k <= s/2, and is the mass of the s
            whole numbers from floor(s/2) - s + 1 to floor(s/2): a window that grows with s. So s = D is the worst.
            Vectors. Two coordinates that move by 1 each may lose ln R twice, so one coordinate may move, and no more.
            Width. E|Z| is a quadratic in r, convex and above 0, over a linear function that is above 0: the values
            below any level are an interval, so that it falls and then rises, and bisection finds the least exactly.
            Draw. j geometric with ratio b, then i: high with probability r / (r + (D-r) b), uniform in its part; a
            sign; and all again for a negative 0, which would double the mass of 0. The binary digits of j are
            independent, the one of weight 2**n being 1 with probability 1 / (1 + R**(2**n)): those below some N are
            drawn so, and the rest, geometric with ratio b**(2**N) < 1/2, by tossing until it fails.
Source      Geng, Viswanath, IEEE Trans. Inf. Theory 62(2), 2016 (the mechanism, also for integers); Geng, Kairouz, Oh,
            Viswanath, IEEE JSTSP 9(7), 2015 (the measure of error; vectors).
Checked     tests/mechanisms/test_staircase.py, tests/laws/test_every_mechanism.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, ClassVar

from dpcurator.entropy import Entropy
from dpcurator.errors import Refusal
from dpcurator.mechanisms.grid import l1_steps, moving, step_of
from dpcurator.mechanisms.grid_rounding import Reals, declared_constants
from dpcurator.mechanisms.local.rational_odds import epsilon_of, odds
from dpcurator.mechanisms.noise.on_grid import OnGrid
from dpcurator.mechanisms.parameters import error_level, parameters
from dpcurator.numbers import Enclosure, positive, rational, whole
from dpcurator.numbers.arb import Ball, ball, precision
from dpcurator.privacy.calibration import BY_EPSILON, Calibration
from dpcurator.privacy.loss import Loss
from dpcurator.privacy.narrow import enclosed

if TYPE_CHECKING:  # a quote draws nothing, and starts faster without numpy
    from numpy.typing import NDArray

    from dpcurator.numbers.rational import Spelled
    from dpcurator.samplers.bernoulli import Coin

_DEEP = 65_000  # bits: a level whose probability is below 2**-65000 is told as between 0 and that


@dataclass(frozen=True, slots=True)
class Stairs:
    """The noise in steps of the grid. stair: int >= 1, D. high: int, 1 <= r <= D. ratio: Fraction > 1, R."""

    stair: int
    high: int
    ratio: Fraction

    @property
    def _sum(self) -> Fraction:
        """S: one side's mass, 0 included, in units of a."""
        b = 1 / self.ratio
        return (self.high + (self.stair - self.high) * b) / (1 - b)

    @property
    def top(self) -> Fraction:
        """a = P(Z = 0), exactly."""
        return 1 / (2 * self._sum - 1)

    @property
    def mean(self) -> Fraction:
        """E|Z| in steps, exactly."""
        d, r, b = self.stair, self.high, 1 / self.ratio
        within = Fraction(r * (r - 1), 2) * (1 - b) + b * Fraction(d * (d - 1), 2)
        return 2 * self.top * (d * (r + b * (d - r)) * b / (1 - b) ** 2 + within / (1 - b))

    def loss(self) -> Loss:
        """Exact, for a shift of a whole stair."""
        first = self.stair // 2  # |k| over the window from first - D + 1 to first
        steps = min(first, self.high - 1) + 1 + min(self.stair - 1 - first, self.high - 1)  # of these at the top level
        mass = self.top * (steps + (self.stair - steps) / self.ratio)
        truth = mass / (1 - 1 / self.ratio)
        return Loss("randomised_response", (("truth", truth), ("lie", truth / self.ratio)))

    def pmf(self, k: int) -> Enclosure:
        """P(Z = k), unitless; relative width under 2**-64 down to 2**-65000."""
        j, i = divmod(abs(k), self.stair)
        return self._enclosed(self.top, j + (i >= self.high))

    def tail(self, m: int) -> Enclosure:
        """P(|Z| > m), unitless, m >= 0; as exact as `pmf`."""
        return self._enclosed(*self._tail(m + 1))

    def _tail(self, n: int) -> tuple[Fraction, int]:
        """P(|Z| >= n) = first * b**second, n >= 1."""
        j, i = divmod(n, self.stair)
        left = self._sum - min(i, self.high) - max(i - self.high, 0) / self.ratio
        return 2 * self.top * left, j

    def _enclosed(self, factor: Fraction, level: int) -> Enclosure:
        if level * (self.ratio - 1 if self.ratio < 2 else Fraction(1, 2)) > _DEEP + 1:  # at most log2 of R**level
            return Enclosure(Fraction(0), Fraction(1, 2**_DEEP))
        return enclosed(lambda bits: ball(factor) / ball(self.ratio) ** level, most=Fraction(1))

    def error(self, beta: Fraction) -> int:
        """The least m >= 0 with P(|Z| > m) <= beta, in steps; beta: Fraction in (0, 1), else a Refusal."""
        beta = error_level(beta)
        low, high = 0, 1  # P(|Z| >= high) is at most beta in the end, P(|Z| >= low) is not, or low is 0
        while not self._at_most(high, beta):
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._at_most(middle, beta) else (middle, high)
        return high - 1

    def _at_most(self, n: int, beta: Fraction) -> bool:
        """Is P(|Z| >= n) <= beta? Exactly: equal they are at most while b**level has no more digits than the rest."""
        factor, level = self._tail(n)
        size = sum(x.numerator.bit_length() + x.denominator.bit_length() for x in (factor, beta, self.ratio))
        if level <= size:
            return factor <= beta * self.ratio**level
        bits = 128
        while True:
            with precision(bits + level.bit_length()):
                gap = ball(factor / beta).log() - level * ball(self.ratio).log()
                if gap < 0 or gap > 0:
                    return bool(gap < 0)
            bits *= 2

    def sample(self, size: int, entropy: Entropy | None = None) -> NDArray[Any]:
        """Independent draws: int64, or Python ints where the width of the noise could pass it (never by the draw)."""
        import numpy as np

        from dpcurator.samplers.lazy_uniform import source

        bits, wide = source(entropy), self.stair * (1 + 1 / (self.ratio - 1)) >= 2**54
        out: NDArray[Any] = np.zeros(whole(size, name="size"), dtype=object if wide else np.int64)
        again = np.arange(len(out))
        while len(again):
            found, kept = self._once(len(again), bits, out.dtype)
            out[again[kept]] = found[kept]
            again = again[~kept]
        return out

    def _once(self, n: int, entropy: Entropy, dtype: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """Draws, and which of them are kept: all but negative zeros."""
        import numpy as np

        from dpcurator.samplers import bernoulli, uniform_below

        part = self.high / (self.high + (self.stair - self.high) / self.ratio)
        high, negative = bernoulli(part, n, entropy), bernoulli(Fraction(1, 2), n, entropy)
        within = np.empty(n, dtype=dtype)
        within[high] = uniform_below(self.high, int(high.sum()), entropy)
        if not high.all():
            within[~high] = self.high + uniform_below(self.stair - self.high, int((~high).sum()), entropy)
        found = self._levels(n, entropy, dtype) * self.stair + within
        kept = np.array(~negative | (found != 0), dtype=bool)
        return np.where(negative, -found, found), kept

    def _levels(self, n: int, entropy: Entropy, dtype: Any) -> NDArray[Any]:
        """j: geometric with ratio b, from its binary digits."""
        import numpy as np

        digits, rest = _coins(self.ratio)
        found = np.zeros(n, dtype=dtype)
        for place, coin in enumerate(digits):
            found += coin.many(entropy.words(n), entropy).astype(dtype) << place
        going = np.arange(n)
        while len(going := going[rest.many(entropy.words(len(going)), entropy)]):
            found[going] += 1 << len(digits)
        if np.dtype(dtype).kind == "i" and n and int(found.max()) >= 2**62 // self.stair:  # probability under 2**-255
            raise OverflowError("a draw of staircase noise passed what an int64 can hold")
        return found


@lru_cache(maxsize=256)
def _coins(ratio: Fraction) -> tuple[list[Coin], Coin]:
    """Of each binary digit below some weight 2**N, and of one more 2**N: true with b**(2**N), below 1/2."""
    from dpcurator.samplers.bernoulli import Coin

    powers = 0
    while (ratio - 1) * 2**powers < 1:  # in the end R**(2**powers) >= 1 + (R - 1) 2**powers >= 2
        powers += 1
    digits = [Coin(partial(_digit, ratio, 2**place)) for place in range(powers)]
    return digits, Coin(lambda: 1 / ball(ratio) ** (2**powers))


def _digit(ratio: Fraction, weight: int) -> Ball:
    return 1 / (1 + ball(ratio) ** weight)


def best_width(stair: int, ratio: Fraction) -> int:
    """The r of the least E|Z|, the smallest if two are equal; about stair / (1 + e**(epsilon/2))."""
    low, high = 1, stair
    while low < high:  # E|Z| falls up to the least and rises from it on
        middle = (low + high) // 2
        falls = Stairs(stair, middle + 1, ratio).mean < Stairs(stair, middle, ratio).mean
        low, high = (middle + 1, high) if falls else (low, middle)
    return low


@parameters
class Staircase(OnGrid):
    """Staircase mechanism for one number, epsilon-DP: less noise than Laplace's, above all at epsilon 2 and more.

    P(noise = k steps) = a R**-j on the high part of stair j and a R**-(j+1) on its low part, |k| = j D + i; a stair is
    as long as the sensitivity, D steps, and R is just below e**epsilon.

    Promise: if neighbours move the number by at most `sensitivity`, the answer is epsilon-DP, exactly, rounding to the
    grid included. `loss` is the exact privacy loss, which is better than "epsilon" where releases are composed.

    Parameters (any other value raises Refusal, with a way to mend it):
        sensitivity: number > 0, in the query's unit, after `bounds` and `nan` have been applied.
        epsilon: number >= 2**-40, of one release; beyond 1024 the noise is that of 1024.
        gamma: number in (0, 1], the share of each stair that is high, rounded up to whole steps; public. By itself the
            share that makes the mean of |noise| the least, near 1 / (1 + exp(epsilon / 2)).
        grid: the step of the answers, a finite decimal > 0 in the query's unit; by default below a millionth of the
            sensitivity and of sensitivity / epsilon.
        coordinates: None for one number; 1 for a vector of which neighbours move one coordinate, as a histogram under
            add-remove. More are refused: each coordinate that moves at all could cost epsilon again.
        bounds: (low, high), to which each value is clamped, infinities too; or None.
        nan: the number that stands for a missing value; None refuses missing values.

    >>> import dpcurator as dp
    >>> noise = dp.Staircase(sensitivity=1, epsilon=4, grid="0.01")
    >>> noise.gamma, f"{float(noise.mean_error):.3f}"  # Laplace noise of this epsilon has a mean of 0.25
    (Fraction(3, 25), '0.138')
    >>> answer = noise.release(20.5)
    >>> isinstance(answer, float)
    True

    Source: Geng, Viswanath 2016; Geng, Kairouz, Oh, Viswanath 2015.
    """

    calibration: ClassVar[Calibration] = BY_EPSILON

    sensitivity: Fraction
    epsilon: Fraction
    gamma: Fraction | None = None
    grid: Fraction | None = None
    coordinates: int | None = None
    bounds: tuple[Fraction, Fraction] | None = None
    nan: Fraction | None = None
    noise: Stairs = field(init=False, repr=False, compare=False)
    values: Reals = field(init=False, repr=False, compare=False)

    if TYPE_CHECKING:  # each is given as people write it, and kept as the exact number

        def __init__(
            self, *, sensitivity: Spelled, epsilon: Spelled, gamma: Spelled | None = None,
            grid: Spelled | None = None, coordinates: int | None = None,
            bounds: tuple[Spelled, Spelled] | None = None, nan: Spelled | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        moved, eps = positive(self.sensitivity, name="sensitivity"), epsilon_of(self.epsilon)
        declared, most = moving(self.coordinates)
        if most > 1:
            raise Refusal(
                "Staircase noise is for answers of which neighbours move one coordinate.",
                cure="Write coordinates=1 for a histogram by add-remove; use Laplace where several coordinates move.",
            )
        step = step_of(self.grid, sensitivity=moved, scale=moved / eps, coordinates=1)
        bounds, nan = declared_constants(self.bounds, self.nan)
        stair, ratio = l1_steps(moved, step, 1), odds(eps)
        high = best_width(stair, ratio)
        if self.gamma is not None:
            share = rational(self.gamma, name="gamma")
            if not 0 < share <= 1:
                raise Refusal("gamma must be above 0 and at most 1.", cure="Leave it out for the least mean error.")
            high = math.ceil(share * stair)
        for name, exact in (
            ("sensitivity", moved), ("epsilon", eps), ("gamma", Fraction(high, stair)), ("grid", step),
            ("coordinates", declared), ("bounds", bounds), ("nan", nan), ("noise", Stairs(stair, high, ratio)),
            ("values", Reals.declared(step, bounds, nan)),
        ):
            object.__setattr__(self, name, exact)

    @property
    def loss(self) -> Loss:
        """Exact, of one release: "randomised_response" with the probabilities of the losses ln R and -ln R."""
        return self.noise.loss()

    @property
    def mean_error(self) -> Fraction:
        """E|noise|, query's unit, exactly: what the default gamma makes least."""
        return self.noise.mean * self.step

    def _draw(self, size: int | None, entropy: Entropy | None) -> Any:
        return self.noise.sample(1, entropy)[0] if size is None else self.noise.sample(size, entropy)


EXAMPLES = (
    Staircase(sensitivity=1, epsilon=1),
    Staircase(sensitivity="0.12", epsilon="0.1", grid="0.01"),
    Staircase(sensitivity="5/2", epsilon=2, grid=1, gamma="1/3", coordinates=1),
    Staircase(sensitivity=1000, epsilon=8, grid="0.5", bounds=(0, 1000), nan=0),
)
