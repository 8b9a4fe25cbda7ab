"""Deltas of each way round by itself, P against Q and Q against P, of one composition at many epsilons.

Promise     `certified_ways` returns true bounds. A loss distribution that was made for one epsilon bounds delta at
            every other too (certificate.py); where those bounds are near enough, none is made anew.
Checked     tests/accounting/test_composed_tradeoff.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from dpcurator.accounting.pld.certificate import Certificate
from dpcurator.accounting.pld.certified import Bounds, delta_below, one_way
from dpcurator.accounting.pld.lattice import both_ways, reduced
from dpcurator.privacy.loss import Loss

Made = list[tuple[Fraction, Certificate]]


@dataclass(slots=True)
class Rows:
    """Loss distributions of one composition, made for one epsilon each, from which deltas at others may be read: of
    each way round, the epsilon and the certificate."""

    made: tuple[Made, Made] = field(default_factory=lambda: ([], []))

    def delta(self, way: int, parts: list[tuple[Loss, int]], epsilon: Fraction) -> Bounds:
        """By the two that were made for the nearest epsilons."""
        best = Bounds(Fraction(0), Fraction(1))
        for _, made in sorted(self.made[way], key=lambda one: abs(one[0] - epsilon))[:2]:
            best = best.and_also(Bounds(delta_below(made, parts, epsilon), made.delta_above(epsilon)))
        return best


def certified_ways(
    parts: tuple[tuple[Loss, int], ...],
    epsilon: Fraction,
    *,
    accuracy: float,
    seconds: float,
    enough: Fraction = Fraction(0),
    rows: Rows | None = None,
) -> tuple[Bounds, Bounds]:
    """Bounds on delta at epsilon >= 0 of P against Q, and of Q against P; of losses that are attained together.

    rows: made before, and added to. enough: bounds that are no further apart are not made nearer.
    """
    fewer, spare = reduced(parts)
    if not fewer:
        return Bounds(Fraction(0), spare), Bounds(Fraction(0), spare)
    shared = Rows() if rows is None else rows
    found = []
    for number, way in enumerate(both_ways(fewer)):
        best = shared.delta(number, way, epsilon)
        if best.greatest() - best.lower > max(enough, Fraction(accuracy) * best.greatest()):
            best = best.and_also(_delta_of_way(way, spare, epsilon, accuracy, seconds, shared.made[number]))
        found.append(best)
    return found[0], found[-1]


def _delta_of_way(
    way: list[tuple[Loss, int]],
    spare: Fraction,
    epsilon: Fraction,
    accuracy: float,
    seconds: float,
    made: Made,
) -> Bounds:
    if len(way) == 1 and way[0][1] == 1 and not spare:
        found = way[0][0].delta_of("forward", epsilon)
        return Bounds(found.lo, found.hi)
    return one_way(way, spare, "delta", epsilon, accuracy, seconds, None, None, lambda one: made.append((epsilon, one)))
