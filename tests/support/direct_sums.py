"""delta of a composition by the definition: every combination of atoms, in balls of 200 bits, and at most one loss with
a density, whose own curve is taken at what the atoms leave. Nothing of src/dpcurator/accounting is used."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

from dpcurator.numbers import Enclosure
from dpcurator.numbers.arb import Ball, ball, precision
from dpcurator.numbers.enclosure import bracket
from dpcurator.privacy.families.discrete_gaussian_sums import whole
from dpcurator.privacy.loss import Loss

DENSE = ("laplace", "gaussian", "bounded_range")


def atoms(loss: Loss) -> list[tuple[Ball, Ball]]:
    """(P, Q) of each atom, from the definition of the family; the infinite one, if any, has Q = 0."""
    given = loss.given
    if loss.family in ("pure", "approximate"):
        d = given.get("delta", Fraction(0))
        high = ball(1 - d) / (1 + (-ball(given["epsilon"])).exp())
        low = high * (-ball(given["epsilon"])).exp()
        return [(high, low), (low, high)] + ([(ball(d), ball(0))] if d else [])
    if loss.family in ("randomised_response", "unary_encoding"):
        if loss.family == "unary_encoding":
            p, q = given["p"], given["q"]
            truth, lie = p * (1 - q), q * (1 - p)
        else:
            truth, lie = given["truth"], given["lie"]
        rest = ball(1 - truth - lie)
        return [(ball(truth), ball(lie)), (ball(lie), ball(truth))] + ([(rest, rest)] if truth + lie < 1 else [])
    if loss.family == "discrete_laplace":
        shift, p = int(given["shift"]), (-1 / ball(given["scale"])).exp()
        mass = lambda k: (1 - p) / (1 + p) * p ** abs(k)  # noqa: E731
        ends = 1 / (1 + p), p**shift / (1 + p)
        between = [(mass(k), mass(k - shift)) for k in range(1, shift)]
        return [ends, *between, ends[::-1]]
    if loss.family == "discrete_gaussian":
        shift, variance = int(given["shift"]), given["variance"]
        total = whole(variance, 220)
        far = math.ceil(math.sqrt(2 * 150 * variance)) + shift  # beyond: below e**-150
        mass = lambda k: (-ball(k * k / (2 * variance))).exp() / total  # noqa: E731
        return [(mass(k), mass(k - shift)) for k in range(-far, far + 1)]
    raise AssertionError(loss.family)


def curve(loss: Loss | None, x: Ball) -> Ball:
    """E (1 - e**(x - L))+ of a loss with a density, at any real x; of no loss, L = 0."""
    one, zero = ball(1), ball(0)
    given = {} if loss is None else loss.given
    if loss is not None and loss.family == "gaussian":
        square = given["shift"] ** 2 / given["variance"]
        spread = ball(2 * square).sqrt()
        first, second = (x - ball(square / 2)) / spread, (x + ball(square / 2)) / spread
        return (first.erfc() - x.exp() * second.erfc()) / 2
    reach = zero
    if loss is not None:
        reach = ball(given["shift"] / given["scale"] if loss.family == "laplace" else given["epsilon"])
    if x >= reach:
        return zero
    if x <= -reach:
        return one - x.exp()
    if loss is None:  # x holds 0: the curve there is between 0 and |x|
        return abs(x) * ball(Fraction(1, 2)).union(zero) * 2
    if loss.family == "laplace":
        return -((x - reach) / 2).expm1()
    return ((x - reach) / 2).expm1() ** 2 / -(-reach).expm1()


def delta(parts: list[tuple[Loss, int]], eps: Fraction) -> Enclosure:
    """The least delta, as the sum over all combinations of atoms."""
    with precision(200):
        dense = [loss for loss, count in parts for _ in range(count) if loss.family in DENSE]
        assert len(dense) <= 1
        rows = [_power(atoms(loss), count) for loss, count in parts if loss.family not in DENSE]
        total = ball(0)
        for combination in itertools.product(*rows):
            p, q = ball(1), ball(1)
            for times, one, other in combination:
                p, q = p * one * times, q * other * times
            if q == 0:
                total += p
                continue
            total += p * curve(dense[0] if dense else None, ball(eps) - (p / q).log())
        found = bracket(total)
    return Enclosure(max(found.lo, Fraction(0)), found.hi + Fraction(len(parts) * 10, 1 << 210))


def _power(row: list[tuple[Ball, Ball]], count: int) -> list[tuple[int, Ball, Ball]]:
    """Each way of choosing so many atoms: how often it comes, and its masses without that factor."""
    found = []
    for chosen in itertools.combinations_with_replacement(range(len(row)), count):
        times = math.factorial(count)
        p, q = ball(1), ball(1)
        for i in set(chosen):
            often = chosen.count(i)
            times //= math.factorial(often)
            p, q = p * row[i][0] ** often, q * row[i][1] ** often
        found.append((times, p, q))
    return found
