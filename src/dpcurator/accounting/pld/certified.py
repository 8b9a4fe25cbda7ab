"""The certificate of a composition from its whole loss distribution: a grid is chosen, and made finer until it serves.

Promise     `certified` returns true bounds whatever was chosen and whenever it stops: the best of those it made. The
            first grid is a coarse one and always finishes, so whether there is a bound depends on no clock. Only finer
            ones stop, between two losses or two products, when so much CPU time is used; the bounds say so (`stopped`).
Proof       accounting/pld/certificate.py, for each grid; the least of upper bounds is one. An epsilon is returned only
            once its certified delta is at most (for a lower bound: more than) the one asked for, and delta falls as
            epsilon grows.
            A lower bound is of losses that are attained together (shape.attained): of a bounded range, of one of its
            mechanisms, and of many of one range alone, of its worst coins (bounded_range.py). No one mechanism attains
            the worst of all that may adapt, which is what the upper bound is of: so there the bracket is wider, and
            does not close with a finer grid.
            Losses beyond grids (lattice.py), and those of which a grid says little, have an upper bound by the sum of
            their total variations, which no delta of all together passes.
            Where losses are not symmetric, each way is composed by itself, from the first loss to the last, and
            the worse of the two is taken then. For one of them to be the worse, the other only has to be as good.
Checked     tests/accounting/test_pld.py.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from dpcurator.accounting.closed.bounded_range import MOST_SAME, range_delta_below, range_epsilon_below
from dpcurator.accounting.pld.certificate import Certificate, certify
from dpcurator.accounting.pld.clock import Clock, OutOfTime, afforded, clock, no_clock, seconds_for
from dpcurator.accounting.pld.grid_choice import (
    Sight,
    Window,
    aligned,
    exact_step,
    first_step,
    fits,
    sight,
    stride,
    window,
)
from dpcurator.accounting.pld.lattice import (
    attained,
    beyond_grids,
    both_ways,
    infinite_of,
    only_above,
    own_points,
    reduced,
    shape,
)
from dpcurator.accounting.pld.thinning import thinned
from dpcurator.errors import Refusal
from dpcurator.numbers import Enclosure
from dpcurator.numbers.arb import ball, precision
from dpcurator.numbers.enclosure import bracket
from dpcurator.privacy.families import FAMILIES
from dpcurator.privacy.loss import Loss
from dpcurator.privacy.sampled import way_of

MOST = 1 << 20  # points of a composed row
SINGLE = 1 << 16  # points of one loss
_LONG = 1.0  # seconds that the first grid is expected to take
_COARSEST = 32  # times the step that is wanted
ROUGH = 0.02  # relative width of the first grid, where a bound need not be near
_FINER = (Fraction(3), Fraction(2), Fraction(3, 2), Fraction(5, 4))  # by what a step is divided, the first in time
_NEAR = 0.1  # relative width from which on a bracket is as wide as the square of the step
_LITTLE = Fraction(4, 5)  # of a step, which is hardly finer
_WIDE, _FEW = 0.5, 16  # relative width from which on each of so few losses is looked at alone


@dataclass(frozen=True, slots=True)
class Bounds:
    """upper: None where no epsilon was certified. step: the finest grid that was used. stopped: by the time, before the
    bounds were as near as was asked for."""

    lower: Fraction
    upper: Fraction | None
    step: Fraction | None = None
    stopped: bool = False

    def greatest(self) -> Fraction:
        """That a delta can be."""
        return Fraction(1) if self.upper is None else self.upper

    def width(self) -> float:
        """Relative to the upper one."""
        return math.inf if self.upper is None else float((self.upper - self.lower) / (self.upper or 1))

    def near(self, other: Bounds, share: float) -> bool:
        """Do both bounds differ by less than this share of the upper one? Then a finer grid gains little."""
        if self.upper is None or other.upper is None:
            return False
        return max(abs(self.upper - other.upper), abs(self.lower - other.lower)) < share * float(other.upper)

    def ended(self, accuracy: float) -> Bounds:
        """These, when the time is over."""
        return replace(self, stopped=self.width() > accuracy)

    def or_worse(self, other: Bounds) -> Bounds:
        """Of the greater of two numbers, one bounded by each."""
        upper = None if self.upper is None or other.upper is None else max(self.upper, other.upper)
        return Bounds(max(self.lower, other.lower), upper, self.step, self.stopped or other.stopped)

    def and_also(self, other: Bounds) -> Bounds:
        uppers = [bound for bound in (self.upper, other.upper) if bound is not None]
        return Bounds(max(self.lower, other.lower), min(uppers, default=None), other.step or self.step, other.stopped)


Progress = Callable[[Bounds, float], None]


def certified(
    parts: tuple[tuple[Loss, int], ...],
    quantity: str,
    at: Fraction,
    *,
    accuracy: float = 1e-4,
    seconds: float = 30.0,
    progress: Progress | None = None,
) -> Bounds:
    """Bounds on "epsilon" at a delta > 0, or on "delta" at an epsilon. Raises Refusal for a family without a law.

    progress: told the best bounds of one way round, and the seconds spent on it, after each grid.
    """
    fewer, spare = reduced(parts)
    if not fewer:
        if quantity == "epsilon":
            return Bounds(Fraction(0), Fraction(0) if spare <= at else None)
        return Bounds(Fraction(0), spare)
    real = attained(fewer)
    if len(fewer) == 1 and fewer[0][1] == 1 and not spare:
        alone = _single(fewer[0][0], quantity, at)
        if real and not only_above(fewer[0][0]):
            return alone
        return replace(alone, lower=_least(real, quantity, at, accuracy, seconds, progress).lower)
    if quantity == "epsilon" and at <= 0:
        raise Refusal("A delta of 0 is for sums of pure epsilons.", cure="Ask at a delta above 0.")
    if any(beyond_grids(loss) for loss, _ in fewer):
        return _each_alone(real, quantity, at, _by_variation(fewer, spare, quantity, at))
    if real == fewer:
        found = _both_ways(fewer, spare, quantity, at, accuracy, seconds, progress)
    else:
        least = _least(real, quantity, at, accuracy, seconds / 2, progress)
        most = _both_ways(fewer, spare, quantity, at, accuracy, seconds / 2, progress)
        found = Bounds(max(least.lower, _of_coins(fewer, quantity, at)), most.upper, most.step, most.stopped)
    if found.width() < _WIDE:
        return found
    return _each_alone(real, quantity, at, _by_variation(fewer, spare, quantity, at).and_also(found))


def _least(
    real: list[tuple[Loss, int]],
    quantity: str,
    at: Fraction,
    accuracy: float,
    seconds: float,
    progress: Progress | None,
) -> Bounds:
    """A lower bound of what is attained, which may be nothing."""
    real, _ = reduced(tuple(real))  # what that leaves out is no loss to a lower bound
    if not real:
        return Bounds(Fraction(0), Fraction(0))
    if len(real) == 1 and real[0][1] == 1:
        return _single(real[0][0], quantity, at)
    return one_way(real, Fraction(0), quantity, at, accuracy, seconds, None, progress)


def _of_coins(parts: list[tuple[Loss, int]], quantity: str, at: Fraction) -> Fraction:
    """Many of one bounded range, and nothing else: a lower bound by the worst coins of one t; else 0."""
    loss, count = parts[0]
    interval = FAMILIES[loss.family].interval
    if len(parts) > 1 or interval is None or count > MOST_SAME:
        return Fraction(0)
    below = range_epsilon_below if quantity == "epsilon" else range_delta_below
    return below(interval(loss.given), count, at)


def _by_variation(parts: list[tuple[Loss, int]], spare: Fraction, quantity: str, at: Fraction) -> Bounds:
    """Without a grid: total variations add up, and delta is at most that at every epsilon."""
    total = min(
        spare + sum(count * _single(loss, "delta", Fraction(0)).greatest() for loss, count in parts), Fraction(1)
    )
    if quantity == "delta":
        return Bounds(Fraction(0), total)
    return Bounds(Fraction(0), Fraction(0) if total <= at else None)


def _each_alone(parts: list[tuple[Loss, int]], quantity: str, at: Fraction, found: Bounds) -> Bounds:
    """All together reveal at least what any of them does."""
    lowers = [_single(loss, quantity, at).lower for loss, _ in parts[:_FEW]]
    return Bounds(max([found.lower, *lowers]), found.upper, found.step, found.stopped)


def _both_ways(
    parts: list[tuple[Loss, int]],
    spare: Fraction,
    quantity: str,
    at: Fraction,
    accuracy: float,
    seconds: float,
    progress: Progress | None,
) -> Bounds:
    """The second way has a quarter of the time, and the first what is left: it is mostly the worse one."""
    ways = both_ways(parts)
    worst = one_way(ways[0], spare, quantity, at, accuracy, seconds * (1 if len(ways) == 1 else 0.75), None, progress)
    for way in ways[1:]:
        found = one_way(way, spare, quantity, at, accuracy, seconds / 4, worst.upper, progress)
        worst = worst.or_worse(found)
    return worst


def one_way(
    fewer: list[tuple[Loss, int]],
    spare: Fraction,
    quantity: str,
    at: Fraction,
    accuracy: float,
    seconds: float,
    enough: Fraction | None,
    progress: Progress | None,
    keep: Callable[[Certificate], None] | None = None,
) -> Bounds:
    """Of the pairs as they are, forward. enough: an upper bound than which none better is needed. keep: is called with
    each certificate."""
    start = time.process_time()
    check = clock(start + seconds)
    infinite, top = _infinite(fewer), _top(fewer)
    if quantity == "epsilon" and infinite.lo > at:
        return Bounds(Fraction(0), None)
    if infinite.lo >= 1:  # of one loss without finite ones, all of them
        return Bounds(Fraction(1), Fraction(1))
    if top is not None and top <= (at if quantity == "delta" else 0):  # no finite loss is worth anything there
        most = min(infinite.hi + spare, Fraction(1))
        if quantity == "delta":
            return Bounds(infinite.lo, most)
        if most <= at:
            return Bounds(Fraction(0), Fraction(0))
    seen = _look(fewer, quantity, at, accuracy)
    best = Bounds(Fraction(0), None if quantity == "epsilon" else Fraction(1))
    step, last = exact_step(fewer, seen.spread, MOST), True
    if step is None:
        rough = accuracy if enough is None else max(accuracy, ROUGH)
        if any(way_of(loss) is not None or own_points(loss) is not None for loss, _ in fewer):
            rough *= 0.55  # the bulk of such a law is as narrow as a few steps, and adds more than first_step says
        step, last = first_step(fewer, seen, rough), False
        step = step if fits(fewer, step) else step / 3
    step = _coarsened(fewer, step, seen)
    counts = [count for _, count in fewer]
    takes = seconds_for(counts, _windows(fewer, step, seen), step, seen)
    exact, step = step, afforded(fewer, step, seen, takes, max(seconds / (1 if last else 3), _LONG))
    cut, last = step != exact, last and step == exact
    at_first = no_clock

    def told() -> None:
        if progress is not None:
            progress(best, time.process_time() - start)

    if takes > _LONG and not last:
        coarse = aligned(fewer, min(max(5, math.ceil(takes / _LONG)), _COARSEST) * step)
        best = best.and_also(_on_grid(fewer, spare, quantity, at, coarse, seen, no_clock, keep))
        told()
        if best.width() <= accuracy:
            return best
        at_first = check
    while True:
        if enough is not None and best.upper is not None and best.upper <= enough:
            return best
        began = time.process_time()
        try:
            found = _on_grid(fewer, spare, quantity, at, step, seen, at_first, keep)
        except OutOfTime:
            return best.ended(accuracy)
        before, best, at_first = best, best.and_also(found), check
        now = time.process_time()
        told()
        left, took = seconds - (now - start), now - began
        wanted = _finer_by(best.width(), accuracy)
        by = next((by for by in (wanted, *_FINER) if by <= wanted and 1.2 * float(by) * took <= left), None)
        if quantity == "epsilon" and best.upper is not None:
            seen = replace(seen, eps=min(seen.eps, float(best.upper)))
        finer = _coarsened(fewer, aligned(fewer, step / (by or wanted)), seen)
        last = last or best.width() <= accuracy or before.near(best, accuracy / 3)
        last = last or (enough is not None and best.upper is not None and best.upper <= enough)
        if last or finer > step * _LITTLE:
            return best.ended(accuracy) if cut else best
        if by is None:
            return best.ended(accuracy)
        step = finer


def _finer_by(width: float, accuracy: float) -> Fraction:
    """What a step is to be divided by: a bracket is as wide as its square, once it is narrow."""
    if width > _NEAR:
        return _FINER[0]
    return Fraction(math.ceil(8 * min(max(1.1 * math.sqrt(width / accuracy), 1.25), 4)), 8)


def _single(loss: Loss, quantity: str, at: Fraction) -> Bounds:
    """One loss alone has its own exact curve."""
    if quantity == "delta":
        try:
            found = loss.delta(at)
        except Refusal:  # too large to be written out
            return Bounds(Fraction(0), Fraction(1))
        return Bounds(found.lo, found.hi)
    try:
        eps = loss.epsilon(at)
    except Refusal:
        return Bounds(Fraction(0), None)
    below = eps * (1 - Fraction(1, 10**11))
    return Bounds(below if eps and loss.delta(below).lo > at else Fraction(0), eps)


def _top(parts: list[tuple[Loss, int]]) -> Fraction | None:
    """The sum of the largest finite losses of discrete laws, rounded up; None where there is none."""
    total = Fraction(0)
    for loss, count in parts:
        if FAMILIES[loss.family].reach is None:
            return None
        law = loss.distribution(atoms=1)
        if law.continuous or law.above.hi or not law.atoms:
            return None
        highest = law.atoms[0].loss
        total += count * (highest.hi if isinstance(highest, Enclosure) else highest)
    return total


def _infinite(parts: list[tuple[Loss, int]]) -> Enclosure:
    """The chance of an infinite loss."""
    with precision(128):
        finite = ball(1)
        for loss, count in parts:
            finite *= ball(1 - infinite_of(loss)) ** count
        return bracket(1 - finite)


def _look(parts: list[tuple[Loss, int]], quantity: str, at: Fraction, accuracy: float) -> Sight:
    if quantity == "epsilon":
        return sight(parts, quantity, math.log(at) if at > Fraction(1, 10**300) else -690.0, accuracy)
    return sight(parts, quantity, float(at), accuracy)


def _coarsened(parts: list[tuple[Loss, int]], step: Fraction, seen: Sight) -> Fraction:
    """No more points than can be afforded."""
    least = 20 * seen.spread / MOST
    widest = max((float(_reach(loss)) for loss, _ in parts), default=0.0)
    least = max(least, min(2 * widest, 20 / max(seen.tilt, 1e-9) + 2 * seen.spread) / SINGLE)
    return step if float(step) >= least else aligned(parts, Fraction(least).limit_denominator(10**12))


def _reach(loss: Loss) -> Fraction:
    return shape(loss).anchor or Fraction(0)


def _windows(parts: list[tuple[Loss, int]], step: Fraction, seen: Sight) -> list[Window]:
    count = sum(count for _, count in parts)
    windows = list[Window]()
    for (loss, single), log in zip(parts, seen.logs, strict=True):
        apart = stride(loss, count, step, seen)
        found = window(loss, single, apart * step, seen.tilt, float(log), seen.log_tail)
        found = replace(found, stride=apart)
        own = way_of(loss) is not None or own_points(loss) is not None
        windows.append(thinned(found, len(windows), step, seen) if own and shape(loss).anchor is None else found)
    return windows


def _on_grid(
    parts: list[tuple[Loss, int]],
    spare: Fraction,
    quantity: str,
    at: Fraction,
    step: Fraction,
    seen: Sight,
    check: Clock,
    keep: Callable[[Certificate], None] | None = None,
) -> Bounds:
    """spare: a delta that comes to the upper one. keep: is called with the certificate."""
    windows = _windows(parts, step, seen)
    made = certify(parts, windows, step, seen.tilt, spare=spare, check=check)
    if keep is not None:
        keep(made)
    if quantity == "delta":
        return Bounds(delta_below(made, parts, at), made.delta_above(at), step)
    return Bounds(_epsilon_below(made, at), _epsilon_above(made, at), step)


def delta_below(made: Certificate, parts: list[tuple[Loss, int]], epsilon: Fraction) -> Fraction:
    """An infinite loss gives all its chance, whatever the rows say."""
    return max(made.delta_below(epsilon), _infinite(parts).lo)


def _epsilon_above(made: Certificate, delta: Fraction) -> Fraction | None:
    eps = max(made.upper.guess(float(delta)), 0.0)
    if eps < 1e-9 and made.delta_above(Fraction(0)) <= delta:
        return Fraction(0)
    for nudge in (1e-10, 1e-8, 1e-6, 1e-4, 1e-2, 1.0):
        found = _shown(eps * (1 + nudge) + nudge * 1e-3, up=True)
        if made.delta_above(found) <= delta:
            return found
    top = _shown(float(made.upper.top), up=True)
    return top if made.delta_above(top) <= delta else None


def _epsilon_below(made: Certificate, delta: Fraction) -> Fraction:
    eps = max(made.lower.guess(float(delta)), 0.0)
    for nudge in (1e-10, 1e-8, 1e-6, 1e-4, 1e-2):
        found = _shown(eps * (1 - nudge) - nudge * 1e-3, up=False)
        if found <= 0:
            break
        if made.delta_below(found) > delta:
            return found
    return Fraction(0)


def _shown(eps: float, *, up: bool) -> Fraction:
    """A decimal of 12 figures."""
    if eps <= 0:
        return Fraction(0)
    places = 11 - math.floor(math.log10(eps))
    whole = Fraction(eps) * Fraction(10) ** places
    return (math.ceil(whole) if up else math.floor(whole)) / Fraction(10) ** places
