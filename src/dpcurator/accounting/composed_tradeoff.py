"""The trade-off curve of a composition from both ends, by certified deltas at epsilons that are added where it helps.

Definition  g(w) = 1 - H(w) - w alpha, H(w) the most by which P(S) can pass w Q(S), for every w > 0. beta(alpha) is the
            supremum of g. H(e**eps) is delta(eps) for eps >= 0, and 1 - w + w delta'(-eps) below, delta' that of Q
            against P: the same where the pair is symmetric. `both_ends` knows g, from brackets of delta, at some
            places. Where it is another backwards, both are taken, and the lesser beta: an attacker has either.
Promise     `both_ends` encloses beta(alpha). It is narrowed until it is `accuracy` wide, or 60 deltas are known.
Proof       Lower: every g(w) is at most the supremum (convex duality; tradeoff.py). Upper: H is a supremum of linear
            functions of w, so g is concave. Left of the place w1, g is below the line through (w2, g) and (w1, g), w2 >
            w1, drawn on; right of w2, below that through w0 < w1, w1 < w2. So between w1 and w2, where the one line
            rises with slope B >= 0 from A and the other falls with slope E >= 0 to C over a distance D, g is at most
            A if B = 0, C if E = 0, and (A E + C B + B E D)/(B + E), where they cross. This is more if A, B, C, D or E
            is, so each is rounded up: a height has its upper end at the place that is drawn on from, its lower one at
            the other. Left of all, g is at most the line's height at w = 0; right of all, the last g if it is below the
            one before. And the curve falls and somewhere meets alpha + beta = 1 - delta(0), so that beyond 1 - delta(0)
            it is at most that.
Source      Dong, Roth, Su, JRSS B 2022 (arXiv 1905.02383), proposition 2.12.
Checked     tests/accounting/test_composed_tradeoff.py.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from dpcurator.accounting.bracket import bracket, has_law, pure_sum
from dpcurator.accounting.convert import alike
from dpcurator.accounting.pld.certified import Bounds
from dpcurator.accounting.pld.directed import Rows, certified_ways
from dpcurator.accounting.pld.lattice import attained, beyond_grids
from dpcurator.numbers import Enclosure, exp_neg
from dpcurator.privacy.loss import Loss

ACCURACY = Fraction(1, 1000)
_MOST = 60  # deltas
_FAR = 2**20  # of an epsilon
_FINE = 2**400
_OF_DELTA = Fraction(1, 1000)  # relative accuracy of each


@dataclass(frozen=True, slots=True, order=True)
class _Place:
    """w = exp(eps), and g there."""

    eps: Fraction
    w: Enclosure
    low: Fraction
    high: Fraction


Parts = tuple[tuple[Loss, int], ...]


class Deltas:
    """Certified deltas of a composition, P against Q and Q against P: each made once, and read off a loss distribution
    that was made for another epsilon where that says enough. So several alphas share them.

    accuracy: that of a trade-off, of which a delta may be a twentieth wide. seconds: of making finer grids, for each.
    """

    def __init__(self, parts: Parts, *, accuracy: Fraction = ACCURACY, seconds: Fraction = Fraction(10)) -> None:
        self.parts, self.enough, self.seconds = parts, accuracy / 20, seconds
        self.direct = not any(beyond_grids(loss) for loss, _ in parts) and attained(list(parts)) == list(parts)
        self._made: dict[Fraction, tuple[Enclosure, Enclosure]] = {}
        self._rows = Rows()

    def at(self, eps: Fraction, *, back: bool = False) -> Enclosure:
        """Of P against Q at eps >= 0, of Q against P below; back: the two exchanged."""
        size = abs(eps)
        if size not in self._made:
            self._made[size] = self._both(size)
        return self._made[size][(eps < 0) != back]

    def _both(self, eps: Fraction) -> tuple[Enclosure, Enclosure]:
        total = pure_sum(self.parts)
        if not self.direct or (total is not None and total <= eps):
            found = bracket(self.parts, epsilon=eps, accuracy=_OF_DELTA, seconds=self.seconds).enclosure
            return found, found
        one, other = certified_ways(
            self.parts, eps, accuracy=float(_OF_DELTA), seconds=float(self.seconds), enough=self.enough, rows=self._rows
        )
        return _enclosed(one), _enclosed(other)


def _enclosed(found: Bounds) -> Enclosure:
    return Enclosure(min(found.lower, found.greatest()), found.greatest())


def both_ends(
    parts: Parts, alpha: Fraction, *, accuracy: Fraction = ACCURACY, deltas: Deltas | None = None
) -> Enclosure | None:
    """beta at alpha in (0, 1), enclosed; None where the losses have no law, or one that is not attained.

    deltas: of these losses, to share among alphas.
    """
    if not all(has_law(loss) for loss, _ in parts):
        return None
    known = deltas or Deltas(parts, accuracy=accuracy)
    if all(alike(loss) for loss, _ in parts):
        return _one_way(known.at, alpha, accuracy)
    if not known.direct:
        return None
    ways = [_one_way(partial(known.at, back=back), alpha, accuracy) for back in (False, True)]
    return Enclosure(min(way.lo for way in ways), min(way.hi for way in ways))


def _one_way(delta: Callable[[Fraction], Enclosure], alpha: Fraction, accuracy: Fraction) -> Enclosure:
    places: list[_Place] = []

    def add(eps: Fraction) -> None:
        insort(places, _place(delta(eps), alpha, eps))

    add(Fraction(0))
    both_errors = places[0].high + alpha  # 1 - delta(0), rounded up
    if both_errors <= min(alpha, accuracy):
        return _rounded(places[0].low, both_errors)
    add(Fraction(-1))
    add(Fraction(1))
    while places[-1].high > places[-2].low and places[-1].eps < _FAR:
        add(2 * places[-1].eps)
    while places[0].high > places[1].low and -places[0].eps < _FAR:
        add(2 * places[0].eps)
    while True:
        lower = max(Fraction(0), max(place.low for place in places))
        bounds = [_between(places, i) for i in range(len(places) - 1)]
        upper = min(max(_ends(places), *bounds), 1 - alpha)
        widest = max(range(len(bounds)), key=lambda i: bounds[i])
        if upper - lower <= accuracy or len(places) >= _MOST or bounds[widest] < upper:
            return _rounded(min(lower, upper), upper)
        add((places[widest].eps + places[widest + 1].eps) / 2)


def _rounded(low: Fraction, high: Fraction) -> Enclosure:
    """Outward, to multiples of 2**-400."""
    return Enclosure(max(Fraction(low * _FINE // 1, _FINE), Fraction(0)), Fraction(-(-high * _FINE // 1), _FINE))


def _place(found: Enclosure, alpha: Fraction, eps: Fraction) -> _Place:
    low, high = found.lo, found.hi
    less = exp_neg(abs(eps))
    if eps >= 0:
        w = Enclosure(1 / less.hi, 1 / less.lo)
        return _Place(eps, w, 1 - high - w.hi * alpha, 1 - low - w.lo * alpha)
    rest = Enclosure(1 - high - alpha, 1 - low - alpha)
    return _Place(eps, less, (less * rest).lo, (less * rest).hi)


def _between(places: list[_Place], i: int) -> Fraction:
    """A bound on g between the places i and i + 1."""
    first, last = places[i], places[i + 1]
    apart = last.w.hi - first.w.lo
    rise = None if i == 0 else _slope(first, places[i - 1])
    fall = None if i + 2 == len(places) else _slope(last, places[i + 2])
    if rise is None and fall is None:
        return Fraction(1)
    if rise is None:
        return last.high + (fall or 0) * apart
    if fall is None:
        return first.high + rise * apart
    if rise == 0 or fall == 0:
        return min(bound for bound, flat in ((first.high, rise == 0), (last.high, fall == 0)) if flat)
    return (first.high * fall + last.high * rise + rise * fall * apart) / (rise + fall)


def _slope(near: _Place, far: _Place) -> Fraction:
    """How steeply a line from `far` to `near` may rise at most; no less than 0."""
    apart = max(near.w.lo - far.w.hi, far.w.lo - near.w.hi)
    return max((near.high - far.low) / apart, Fraction(0))


def _ends(places: list[_Place]) -> Fraction:
    """A bound on g left and right of all places."""
    left = places[0].high + places[0].w.hi * _slope(places[0], places[1])
    return max(left, places[-1].high) if places[-1].high <= places[-2].low else Fraction(1)
