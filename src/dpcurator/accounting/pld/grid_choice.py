"""A grid, its windows and a tilt, in doubles: they decide how narrow a bracket is, never whether it holds.

The saddle point s of a composition with cumulant K(s) = sum k_j ln E e**(s L_j) minimises K(s) - s eps - ln s -
ln(1+s); delta is near exp of that, over the root of 2 pi times the second derivative (Alghamdi et al. 2023, arXiv
2208.09595). Two points a step h apart add at most h**2/4 to a loss's variance, on average h**2/6, and so about (s+1)
h**2/12 per loss to epsilon. Where atoms fit on one grid, the step divides their distances, and they add nothing.

Where few rows are sampled, the law under the saddle point's tilt may have a second mode far above epsilon, of a weight
that no delta sees. A gentler tilt, of which Chernoff's bound is little worse, leaves it out, and rows stay short. And a
point far out in such a law's tails stands for so little that points may lie the further apart there.
Checked in tests/accounting/test_estimate.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpcurator.accounting.estimate.floats import dots
from dpcurator.accounting.pld.discretise import Run
from dpcurator.accounting.pld.lattice import own_points, shape
from dpcurator.accounting.pld.sampling import far_for, sampled_points, sampled_span
from dpcurator.privacy.loss import Loss
from dpcurator.privacy.sampled import way_of

FEW = 512  # atoms of a loss that are all kept, each at its own point
COARSE = 96  # points of a first look at a law
_SPARE = 8.0  # a window leaves out e**-_SPARE of what the accuracy is of delta
_FIRST = 72.0  # -ln of the chance that is left out where delta is not yet known
_LEAST = 1e-300  # of a law nearly all of whose losses are infinite, whose masses are nothing in doubles
_RISE = 5.0  # in ln delta, by which Chernoff's bound may be worse for a gentler tilt


class Cumulants:
    """K and its first two derivatives, from masses on points. laws: (points, masses, count) of each loss."""

    def __init__(self, laws: list[tuple[Any, Any, int]]) -> None:
        import numpy as np

        some = [(x, mass if (mass > 0).any() else np.full(len(x), _LEAST)) for x, mass, _ in laws]
        kept = [(x[mass > 0], mass[mass > 0]) for x, mass in some]
        self.starts = np.cumsum([0] + [len(x) for x, _ in kept[:-1]])
        self.lengths = np.array([len(x) for x, _ in kept])
        self.x = np.concatenate([x for x, _ in kept])
        self.log = np.log(np.concatenate([mass for _, mass in kept]))
        self.counts = np.array([count for _, _, count in laws], dtype=float)

    def each(self, s: float) -> tuple[Any, Any, Any]:
        """Of each loss: ln E e**(s L), the tilted mean and variance."""
        import numpy as np

        power = self.log + s * self.x
        top = np.maximum.reduceat(power, self.starts)
        weight = np.exp(power - np.repeat(top, self.lengths))
        total = np.add.reduceat(weight, self.starts)
        mean = np.add.reduceat(weight * self.x, self.starts) / total
        away = (self.x - np.repeat(mean, self.lengths)) ** 2
        return top + np.log(total), mean, np.add.reduceat(weight * away, self.starts) / total

    def at(self, s: float) -> tuple[float, float, float]:
        log, mean, variance = self.each(s)
        return float(log @ self.counts), float(mean @ self.counts), float(variance @ self.counts)

    def epsilon_at(self, s: float) -> float:
        return self.at(s)[1] - 1 / s - 1 / (1 + s)

    def log_delta_at(self, s: float) -> float:
        value, mean, variance = self.at(s)
        eps = mean - 1 / s - 1 / (1 + s)
        bend = variance + 1 / s**2 + 1 / (1 + s) ** 2
        return value - s * eps - math.log(s) - math.log1p(s) - math.log(2 * math.pi * bend) / 2

    def chernoff_rises(self, s: float, log_delta: float) -> bool:
        """Does the epsilon that Chernoff's bound has at this delta, (K(s) - ln delta + s ln s - (1+s) ln(1+s))/s, rise
        at s? It first falls and then rises. Where it is least the tilted law may have two modes (samples of few rows),
        and much of it lies at either; but the bound is within some e**10 of delta there, as nowhere near is
        `log_delta_at`, which falls by as much within a few percent of s."""
        value, mean, _ = self.at(s)
        return s * mean + log_delta + math.log1p(s) > value

    def chernoff_epsilon(self, s: float, log_delta: float) -> float:
        return (self.at(s)[0] - log_delta + s * math.log(s) - (1 + s) * math.log1p(s)) / s

    def chernoff_delta(self, s: float, eps: float) -> float:
        """ln of it."""
        return self.at(s)[0] - s * eps + s * math.log(s) - (1 + s) * math.log1p(s)

    def gentlest(self, saddle: float, quantity: str, at: float) -> float:
        """The greatest tilt under which the law is much narrower than at the saddle point, though Chernoff's bound is
        little worse; or the saddle point itself."""

        def rise(s: float) -> float:
            if quantity == "delta":
                return self.chernoff_delta(s, at) - self.chernoff_delta(saddle, at)
            return s * (self.chernoff_epsilon(s, at) - self.chernoff_epsilon(saddle, at))

        tilts = [saddle * 0.85**k for k in range(1, 30)]
        near = [s for s in tilts if rise(s) <= _RISE]
        spreads = [self.at(s)[2] for s in near]
        if not near or min(spreads) > self.at(saddle)[2] / 2:
            return saddle
        return next(s for s, spread in zip(near, spreads, strict=True) if spread <= 1.2 * min(spreads))

    def tilt_for(self, quantity: str, at: float, accuracy: float) -> float:
        """The saddle point where epsilon, or ln delta, is about `at`; at least 1e-6, and no more than resolves epsilon
        so far below the largest loss: nearer to it delta is read from the heavy atoms there, whatever the tilt."""
        import numpy as np

        most = float(np.maximum.reduceat(self.x, self.starts) @ self.counts)
        low, high = math.log(1e-6), math.log(max(4 / (accuracy * max(most, 1e-12)), 10.0))

        def passes(s: float) -> bool:
            return self.epsilon_at(s) > at if quantity == "delta" else self.chernoff_rises(s, at)

        while high < math.log(1e5) and not passes(math.exp(high)) and self.at(math.exp(high))[1] < most / 2:
            high += 1.0  # far from the largest loss, as where rows are sampled
        for _ in range(50):
            s = math.exp((low + high) / 2)
            beyond = passes(s)
            low, high = (low, (low + high) / 2) if beyond else ((low + high) / 2, high)
        return math.exp((low + high) / 2)


@dataclass(frozen=True, slots=True)
class Window:
    """Where the points of one loss lie: anchor + i stride step for i from first to last, or for those of `runs`."""

    anchor: Fraction
    first: int
    last: int
    stride: int = 1
    runs: tuple[Run, ...] = ()

    @property
    def size(self) -> int:
        return sum(run.size for run in self.runs) or self.last - self.first + 1


@dataclass(frozen=True, slots=True)
class Sight:
    """tilt: by which masses are weighted; saddle: that of the saddle point, or as much; eps and log_delta: about where
    the answer is; spread: the tilted deviation of the sum; log_tail: ln of the chance of each loss that is left out
    above. Tilts and windows must agree on that: where few rows are sampled, e**(s L) weighs tails that matter to no
    delta more than all that does, and a tilt for the one is no use for the other."""

    tilt: float
    saddle: float
    eps: float
    log_delta: float
    spread: float
    logs: Any
    cumulants: Cumulants
    log_tail: float


def sight(parts: list[tuple[Loss, int]], quantity: str, at: float, accuracy: float) -> Sight:
    """quantity: "epsilon" at ln delta, or "delta" at epsilon."""
    spare = _SPARE - math.log(accuracy) + math.log(sum(count for _, count in parts))
    if quantity == "epsilon":
        return _sight(parts, quantity, at, accuracy, at - spare)
    rough = _sight(parts, quantity, at, accuracy, -_FIRST)
    return _sight(parts, quantity, at, accuracy, max(min(rough.log_delta, 0.0), -600.0) - spare)


def _sight(parts: list[tuple[Loss, int]], quantity: str, at: float, accuracy: float, log_tail: float) -> Sight:
    known = Cumulants(coarse(parts, log_tail))
    saddle = known.tilt_for(quantity, at, accuracy)
    s = known.gentlest(saddle, quantity, at)
    logs, _, _ = known.each(s)
    spread = math.sqrt(known.at(s)[2])
    if quantity == "epsilon":
        return Sight(s, saddle, known.chernoff_epsilon(saddle, at), at, spread, logs, known, log_tail)
    return Sight(s, saddle, known.epsilon_at(saddle), known.log_delta_at(saddle), spread, logs, known, log_tail)


def coarse(parts: list[tuple[Loss, int]], log_tail: float) -> list[tuple[Any, Any, int]]:
    """Each law on some points of its own, but for a tail of chance e**log_tail above."""
    import numpy as np

    laws, far = [], far_for(log_tail)
    for loss, count in parts:
        seen = shape(loss)
        own = own_points(loss)
        if own is not None:
            x = own(log_tail, 4 * COARSE)
        elif way_of(loss) is not None:
            x = sampled_points(loss, log_tail, 4 * COARSE)
        elif seen.bell is not None:
            mu = math.sqrt(seen.bell)
            middle, half = mu * mu / 2, far * mu
            if seen.gap is not None and half / float(seen.gap) < 10 * COARSE:
                assert seen.anchor is not None
                gap, anchor = float(seen.gap), float(seen.anchor)
                x = anchor + gap * np.arange(
                    math.floor((middle - half - anchor) / gap), 1 + math.ceil((middle + half - anchor) / gap)
                )
            else:
                x = np.linspace(middle - half, middle + half, 4 * COARSE)
        else:
            assert seen.anchor is not None
            reach, points = float(seen.anchor) or 1e-6, COARSE
            long = 2 * seen.anchor if seen.lowest is None else seen.anchor - seen.lowest
            if seen.gap is not None and long / seen.gap <= 4 * COARSE:
                points = round(long / seen.gap)
            gap = (float(long) or 2e-6) / max(points, 1)
            x = reach + gap * np.arange(-points - 1, 1)
        laws.append((x, dots(loss, x), count))
    return laws


def exact_step(parts: list[tuple[Loss, int]], spread: float, most: int) -> Fraction | None:
    """The step on which every atom lies, when all laws are discrete and it is not too fine."""
    shapes = [shape(loss) for loss, _ in parts]
    gap = _common([seen.gap for seen in shapes])
    if gap is None or any(seen.wide is not None and seen.wide / gap > FEW for seen in shapes):
        return None
    if any(seen.bell is not None and seen.bell / (seen.gap or 1) ** 2 > FEW for seen in shapes):  # its variance
        return None
    return gap if 20 * spread / float(gap) <= most else None


def first_step(parts: list[tuple[Loss, int]], seen: Sight, accuracy: float) -> Fraction:
    """For about this relative width of epsilon; it divides the distances of heavy atoms where they fit together."""
    count = sum(count for _, count in parts)
    worth = max(abs(seen.eps), seen.spread / 20, 1 / (1 + seen.saddle) / 4)
    wanted = math.sqrt(6 * accuracy * worth / (count * (seen.saddle + 1)))
    wanted = max(min(wanted, max(seen.spread, 1 / (1 + seen.saddle)) / 4), 1e-9)
    return aligned(parts, Fraction(wanted).limit_denominator(10**12))


def aligned(parts: list[tuple[Loss, int]], wanted: Fraction) -> Fraction:
    """At most about `wanted`, and such that the heavy atoms lie on points: those of the losses that are most, where not
    all fit together."""
    common: Fraction | None = None
    for loss, _ in sorted(parts, key=lambda part: -part[1]):
        one = shape(loss)
        gap = one.gap if one.gap is not None and one.gap >= wanted / 8 else one.wide
        both = gap if common is None else _common([common, gap])
        if both is not None and both >= wanted / 8:
            common = both
    return wanted if common is None else common / max(1, math.ceil(common / wanted))


def fits(parts: list[tuple[Loss, int]], step: Fraction) -> bool:
    """Do all heavy atoms lie on points? Else a lower bound comes near only by a much finer grid."""
    return all((seen.wide / step).denominator == 1 for seen in (shape(loss) for loss, _ in parts) if seen.wide)


def _common(gaps: list[Fraction | None]) -> Fraction | None:
    """The greatest of which all are multiples."""
    if not gaps or any(gap is None for gap in gaps):
        return None
    exact = [gap for gap in gaps if gap is not None]
    bottom = math.lcm(*(gap.denominator for gap in exact))
    return Fraction(math.gcd(*(int(gap * bottom) for gap in exact)), bottom)


def stride(loss: Loss, count: int, step: Fraction, seen: Sight) -> int:
    """How many steps apart the points of one loss among `count` may lie: it is worth 1/count of what all add to
    epsilon, so a Gaussian, of which there is one, may add a quarter of that more with far fewer points."""
    bell, gap = shape(loss).bell, shape(loss).gap
    if bell is None or gap is not None:
        return 1
    widest = min(math.sqrt(bell), max(seen.spread, 1 / (1 + seen.saddle))) / 4
    return max(1, min(math.isqrt(count) // 2, int(widest / float(step))))


def window(loss: Loss, count: int, step: Fraction, tilt: float, log: float, log_tail: float) -> Window:
    """Points that hold all but e**log_tail of the law, above, and all but about 1e-13 / count of the tilted law, below.

    log: ln E e**(tilt L).
    """
    seen = shape(loss)
    h = float(step)
    least = (log - math.log(1e13 * count)) / tilt  # P(L <= x) e**(s x) is less than that share of the tilted mass
    own = own_points(loss)
    if seen.anchor is None and (own is not None or way_of(loss) is not None):
        low, high = sampled_span(loss, log_tail) if own is None else own(log_tail, 2)[[0, -1]]
        first = math.floor(min(max(least, low), high - h) / h) - 1
        return Window(Fraction(0), first, max(math.ceil(high / h), first + 2))
    if seen.bell is not None:
        mu = math.sqrt(seen.bell)
        anchor = seen.anchor if seen.anchor is not None else Fraction(0)
        gap = float(seen.gap) if seen.gap is not None else 0.0
        high = mu * mu / 2 + (far_for(log_tail)) * mu + 2 * gap
        lean = far_for(-math.log(1e13 * count))
        least = max(
            least, mu * mu * (0.5 + tilt) - lean * mu - 2 * gap, mu * mu / 2 - (far_for(log_tail) + 1) * mu - 2 * gap
        )
        least = min(least, high - h)
        first = math.floor((least - float(anchor)) / h) - 1
        return Window(anchor, first, max(math.ceil((high - float(anchor)) / h), first + 2))
    assert seen.anchor is not None
    reach = float(seen.anchor)
    lowest = -reach if seen.lowest is None else float(seen.lowest)
    first = math.floor((max(least, lowest) - reach) / h + 1e-9) - 1
    return Window(seen.anchor, min(first, -2), 0)
