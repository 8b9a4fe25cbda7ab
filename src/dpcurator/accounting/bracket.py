"""A certified bracket of an epsilon or a delta: the least of the valid upper bounds and the greatest of the lower.

Promise     lower <= the value <= upper, both Fractions. `method` names what gave the upper one: "pld"
            (accounting/pld/certified.py), or one of accounting/closed/bounds.py, among them "sum".
Checked     tests/accounting/test_composition.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpcurator.accounting.closed.bounds import Parts, upper_bounds
from dpcurator.accounting.pld.certified import Progress, certified
from dpcurator.accounting.pld.lattice import attained, both_ways
from dpcurator.errors import Refusal
from dpcurator.numbers import Enclosure, positive
from dpcurator.numbers.rational import at_least_0, from_0_below_1
from dpcurator.numbers.readable import readable
from dpcurator.privacy.families import FAMILIES
from dpcurator.privacy.loss import Loss
from dpcurator.privacy.sampled import is_reverse, on_all_rows

SECONDS = 30.0  # of CPU time for finer grids, unless told otherwise; the first grid always finishes


@dataclass(frozen=True, slots=True)
class Bracket:
    """quantity: "epsilon" or "delta", at the other's value `at`. stopped: whether the time was over before it was as
    narrow as was asked for."""

    quantity: str
    at: Fraction
    lower: Fraction
    upper: Fraction
    method: str
    stopped: bool = False

    __repr__ = readable

    @property
    def enclosure(self) -> Enclosure:
        return Enclosure(self.lower, self.upper)

    def as_json(self) -> dict[str, object]:
        """The exact bounds as text such as "3/2"."""
        other = "delta" if self.quantity == "epsilon" else "epsilon"
        return {
            "quantity": self.quantity,
            other: str(self.at),
            "lower": str(self.lower),
            "upper": str(self.upper),
            "method": self.method,
            "stopped": self.stopped,
        }


def bracket(
    parts: Parts,
    *,
    delta: object = None,
    epsilon: object = None,
    accuracy: object = Fraction(1, 10**4),
    seconds: object = None,
    progress: Progress | None = None,
) -> Bracket:
    """See Composition.bracket. Raises Refusal unless exactly one of delta and epsilon is given."""
    quantity, at = question(delta, epsilon)
    goal = float(positive(accuracy, name="accuracy"))
    limit = SECONDS if seconds is None else float(positive(seconds, name="seconds"))
    if quantity == "delta":
        return _delta(parts, at, goal, limit, progress)
    uppers = [(bound, name) for name, bound in upper_bounds(parts, at, quick=True)]
    lower, stopped = largest_sum(parts) if at == 0 else Fraction(0), False
    if at > 0 and all(has_law(loss) for loss, _ in parts):
        found = certified(parts, "epsilon", at, accuracy=goal, seconds=limit, progress=progress)
        lower, stopped = found.lower, found.stopped
        if found.upper is not None:
            uppers.append((found.upper, "pld"))
    if not uppers:
        raise Refusal("No epsilon is known to have so small a delta.", cure="Ask at a larger delta.")
    upper, method = min(uppers, key=lambda bound: bound[0])
    return Bracket("epsilon", at, min(lower, upper), upper, method, stopped and upper > lower)


def _delta(parts: Parts, at: Fraction, goal: float, limit: float, progress: Progress | None) -> Bracket:
    uppers, lower, stopped = [(Fraction(1), "nothing")], Fraction(0), False
    total = pure_sum(parts)
    if total is not None and total <= at:
        uppers.append((Fraction(0), "sum"))
    elif all(has_law(loss) for loss, _ in parts):
        found = certified(parts, "delta", at, accuracy=goal, seconds=limit, progress=progress)
        lower, stopped = found.lower, found.stopped
        if found.upper is not None:
            uppers.append((found.upper, "pld"))
    else:
        uppers.append((_delta_by_search(parts, at), "closed"))
    upper, method = min(uppers, key=lambda bound: bound[0])
    return Bracket("delta", at, min(lower, upper), upper, method, stopped and upper > lower)


def _delta_by_search(parts: Parts, at: Fraction) -> Fraction:
    """The least power of ten, to two figures, at which a closed bound is at most this epsilon; 1 where none is."""
    from dpcurator.numbers.decimal_search import decimal_at, least_place

    def enough(place: int) -> bool:
        delta = decimal_at(place, 2)
        return delta >= 1 or any(bound <= at for _, bound in upper_bounds(parts, delta, quick=True))

    lowest = -90 * 300
    return min(decimal_at(least_place(lambda place: place >= lowest and enough(place), -540), 2), Fraction(1))


def has_law(loss: Loss) -> bool:
    """Is the law of its losses known?"""
    return FAMILIES[loss.family].law is not None


def question(delta: object, epsilon: object) -> tuple[str, Fraction]:
    """What is asked for, and the value it is asked at."""
    if (delta is None) == (epsilon is None):
        raise Refusal("Give either a delta or an epsilon.", cure="Write delta=1e-9.")
    if delta is not None:
        at = from_0_below_1(delta)
        return "epsilon", at
    at = at_least_0(epsilon, name="epsilon")
    return "delta", at


def largest_sum(parts: Parts) -> Fraction:
    """A lower bound on the largest loss of all together, below which delta is not 0; the largest of one way, forward or
    backward, are attained at once."""
    ways = both_ways(attained(list(parts)))
    return max(Fraction(0), *(sum((count * _largest(loss) for loss, count in way), Fraction(0)) for way in ways))


def _largest(loss: Loss) -> Fraction:
    """The largest loss forward, rounded down; 0 where none is known."""
    known, base = FAMILIES[loss.family], FAMILIES[on_all_rows(loss).family]
    if known.reach is None:
        return Fraction(0)
    if known.reverse is None or (base.reverse is None and not is_reverse(loss)):
        return known.reach(loss.given) - Fraction(1, 2**110)  # a logarithm is rounded up by less
    try:
        atoms = loss.distribution(atoms=1).atoms
    except Refusal:  # it is too large to be written out
        return Fraction(0)
    highest = atoms[0].loss if atoms else Fraction(0)
    return highest.lo if isinstance(highest, Enclosure) else highest


def pure_sum(parts: Parts) -> Fraction | None:
    """The sum of the pure epsilons, or None where a loss has none."""
    try:
        return sum((count * loss.pure_epsilon() for loss, count in parts), Fraction(0))
    except Refusal:
        return None
