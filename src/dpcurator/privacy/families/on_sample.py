"""Which facts of a mechanism are known of it on a sample of the rows, however these are drawn: its rate is a parameter.

Checked in tests/privacy/test_sampled.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from dpcurator.numbers import Enclosure
from dpcurator.numbers.arb import ball
from dpcurator.numbers.rational import between_0_and_1
from dpcurator.privacy.distribution import ZERO
from dpcurator.privacy.families.family import Check, Family, Given, Named
from dpcurator.privacy.narrow import enclosed

RATE = "rate"
ROUNDED = Fraction(1, 2**116)  # no less than what an irrational loss is rounded by
_DIGITS = 20_000  # bits of an exact rate


def without_rate(given: Given) -> dict[str, Fraction]:
    """The parameters of the mechanism on all rows."""
    return {name: value for name, value in given.items() if name != RATE}


def on_all(base: Family, given: Given, backward: bool) -> Given:
    """The pair of the mechanism on all rows; backward, with P and Q exchanged."""
    inner = without_rate(given)
    return inner if base.reverse is None or not backward else base.reverse(inner)[1]


def grown(loss: Fraction | Enclosure, rate: Fraction) -> Enclosure:
    """ln(1 - q + q e**l), which has the sign of l."""
    low, high = (loss.lo, loss.hi) if isinstance(loss, Enclosure) else (loss, loss)
    return Enclosure(_grown(low, rate).lo, _grown(high, rate).hi)


def _grown(loss: Fraction, rate: Fraction) -> Enclosure:
    if loss > 0:  # its whole part is no less exact for being long
        found = enclosed(lambda bits: (ball(rate) * ball(loss).expm1()).log1p(), bits=128 + int(loss).bit_length())
        return Enclosure(min(found.lo, loss), min(found.hi, loss))
    return -enclosed(lambda bits: -(ball(rate) * ball(loss).expm1()).log1p()) if loss < 0 else ZERO


def amplified(epsilon: Fraction, rate: Fraction) -> Fraction:
    """ln(1 + q (e**e - 1)), rounded up by under 2**-120."""
    return grown(epsilon, rate).hi


def amplified_of(known: Callable[[Given], Fraction] | None) -> Callable[[Given], Fraction] | None:
    """`amplified` of what is known of the mechanism on all rows, if it is."""
    return None if known is None else lambda given: amplified(known(without_rate(given)), given[RATE])


def of_all_rows(formula: Callable[[Given], object] | None) -> Callable[[Given], object] | None:
    """A formula of the mechanism on all rows, given a sample of it; None if there is none."""
    return None if formula is None else lambda given: formula(without_rate(given))


def sampled_ranges(base: Family) -> Mapping[str, Check]:
    return {**base.ranges, RATE: between_0_and_1}


def sampled_group(
    base: Family, name: Callable[[str], str], any_of: Callable[[Fraction, int], Fraction]
) -> Callable[[Given, int], Named]:
    """any_of: at least the chance that any of k rows is taken."""

    def group(given: Given, k: int) -> Named:
        inner, rate = without_rate(given), given[RATE]
        if base.pure_epsilon is not None and not may_be_infinite(base, given):
            return "pure", {"epsilon": k * amplified(base.pure_epsilon(inner), rate)}
        (family, moved), some = base.group(inner, k), any_of(rate, k)
        return (name(family), {**moved, RATE: some}) if some < 1 else (family, moved)

    return group


def any_taken(rate: Fraction, k: int) -> Fraction:
    """1 - (1-q)**k, or k q where that has very many digits."""
    return 1 - (1 - rate) ** k if k * rate.denominator.bit_length() <= _DIGITS else k * rate


def sampled_simplest(base: Family, name: Callable[[str], str]) -> Callable[[Given], Named | None]:
    """name: from a family on all rows to that on the sample."""

    def simplest(given: Given) -> Named | None:
        assert base.simplest is not None
        found = base.simplest(without_rate(given))
        return None if found is None else (name(found[0]), {**found[1], RATE: given[RATE]})

    return simplest


def sampled_attained(base: Family, own: str, name: Callable[[str], str]) -> Callable[[Given], Named]:
    """own: the family on all rows."""

    def attained(given: Given) -> Named:
        family, inner = (own, without_rate(given)) if base.attained is None else base.attained(without_rate(given))
        return name(family), {**inner, RATE: given[RATE]}

    return attained


def sampled_apart(base: Family) -> Callable[[Given], tuple[Fraction, Named]] | None:
    """A sample of an (e, d)-DP mechanism is (ln(1 + q (e**e - 1)), q d)-DP, either way.

    Balle, Barthe, Gaboardi 2018, theorems 8 and 9; of the formulas of poisson.py: at that epsilon the threshold is e
    forward; backward it is at least e, by the product there, and 1 - (1-q) E is at most q.
    """
    if base.apart is None:
        return None

    def apart(given: Given) -> tuple[Fraction, Named]:
        assert base.apart is not None
        infinite, (_, rest) = base.apart(without_rate(given))
        epsilon, rate = rest["epsilon"], given[RATE]
        return rate * infinite, ("pure", {"epsilon": amplified(epsilon, rate) if epsilon else Fraction(0)})

    return apart


def may_be_infinite(base: Family, given: Given) -> bool:
    return base.apart is not None and base.apart(without_rate(given))[0] > 0


def two_atoms(base: Family, given: Given) -> bool:
    """Has the loss on all rows two atoms and nothing else?"""
    assert base.lattice is not None
    whole = base.lattice(without_rate(given))
    return whole.gap is not None and whole.gap == whole.wide and not may_be_infinite(base, given)
