"""Sums over all integers of products of functions that are geometric on either side of an edge.

Definition  A Step with edge e is left + left_tail p**(e-z) for integers z < e, and right + right_tail p**(z-e) for z
            from e on. The masses, tails and cumulative chances of discrete Laplace and geometric noise are Steps, with
            p = exp(-1/scale).
Promise     `total` encloses the sum over all integers z of weight(z) factor_1(z) ... factor_n(z), whatever the scale:
            its work grows with the number of edges, not of integers. `weight` is a Step without constants, and may have
            a scale of its own.
Proof       Between two neighbouring edges each factor is a constant plus a multiple of y or of 1/y, y = p**u, where u
            counts from the interval's end. So the product is a polynomial in y divided by a power of y, and with the
            weight each of its terms is a geometric series, finite or decreasing. Nothing is cut off; the balls hold
            the rounding, and the caller asks for more bits while terms of both signs cancel.
Checked     tests/numbers/test_geometric_sums.py, against sums term by term.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from dpcurator.numbers.arb import Ball, ball, precision
from dpcurator.numbers.enclosure import Enclosure, bracket

_NOTHING = Fraction(1, 2**60000)


@dataclass(frozen=True, slots=True)
class Step:
    """edge: int. kind: which function, a key of `KINDS`; its four constants follow from p."""

    edge: int
    kind: str

    def value(self, z: int, p: Ball) -> Ball:
        """The function at z, for p a ball; at the working precision."""
        left, left_tail, right, right_tail = KINDS[self.kind](p)
        return right + right_tail * p ** (z - self.edge) if z >= self.edge else left + left_tail * p ** (self.edge - z)


# constants: left, left_tail, right, right_tail. Z is discrete Laplace, G geometric; both of ratio p, moved to the edge.
KINDS: Mapping[str, Callable[[Ball], tuple[Ball | int, Ball | int, Ball | int, Ball | int]]] = {
    "laplace_mass": lambda p: (0, (1 - p) / (1 + p), 0, (1 - p) / (1 + p)),  # P(edge + Z = z)
    "laplace_at_most": lambda p: (0, 1 / (1 + p), 1, -p / (1 + p)),  # P(edge + Z <= z)
    "laplace_above": lambda p: (1, -1 / (1 + p), 0, p / (1 + p)),  # P(edge + Z > z)
    "geometric_mass": lambda p: (0, 0, 0, 1 - p),  # P(edge + G = z)
    "geometric_at_most": lambda p: (0, 0, 1, -p),  # P(edge + G <= z)
}


def total(weight: Step, weight_scale: Fraction, factors: Iterable[Step], scale: Fraction) -> Ball:
    """The sum, at the working precision (see `balls.precision`). scales: Fraction > 0, in the unit of z."""
    from flint import arb, arb_poly

    counted = Counter(factors)
    p, r = (-ball(1 / scale)).exp(), (-ball(1 / weight_scale)).exp()
    constants = {step.kind: KINDS[step.kind](p) for step in counted}
    _, weight_left, _, weight_right = KINDS[weight.kind](r)
    result = arb(0)
    for start, length, direction in _intervals({weight.edge, *(step.edge for step in counted)}):
        ahead = weight.edge - start  # how far the edge is from where the interval begins
        tail = weight_left if ahead > 0 else weight_right
        if isinstance(tail, int):  # a weight that is 0 here
            continue
        product, lowest = arb_poly([tail * (-ball(abs(ahead) / weight_scale)).exp()]), 0
        for step, times in counted.items():
            left, left_tail, right, right_tail = constants[step.kind]
            ahead = step.edge - start
            constant, slope = (left, left_tail) if ahead > 0 else (right, right_tail)
            slope = slope * (-ball(abs(ahead) / scale)).exp()
            if (ahead > 0) == (direction > 0):  # the tail grows as u does: it is a multiple of 1/y
                product, lowest = product * arb_poly([slope, constant]) ** times, lowest - times
            else:
                product = product * arb_poly([constant, slope]) ** times
        toward = (weight.edge - start > 0) == (direction > 0)
        for m in range(product.degree() + 1):
            rate = (-1 if toward else 1) / weight_scale + (lowest + m) / scale
            result += product[m] * _series(rate, length)
    return result


def chance(value: Callable[[], Ball], bits: int) -> Enclosure:
    """A probability to a relative width under 2**-64 (or below 2**-60000); `value` makes it at the working precision.

    bits: int >= 1, where to begin; they are doubled until it is narrow enough.
    """
    while True:
        with precision(bits):
            made = value()
        if made.is_finite():
            found = bracket(made)
            if found.width * 2**64 <= found.lo or found.hi <= _NOTHING:
                return Enclosure(min(max(found.lo, Fraction(0)), Fraction(1)), min(found.hi, Fraction(1)))
        bits *= 2


def _intervals(edges: set[int]) -> Iterator[tuple[int, int | None, int]]:
    """(where it begins, how many integers, direction): the first runs down from below the least edge, without end."""
    ordered = sorted(edges)
    yield ordered[0] - 1, None, -1
    for one, following in zip(ordered, [*ordered[1:], None], strict=True):
        yield one, None if following is None else following - one, 1


def _series(rate: Fraction, length: int | None) -> Ball:
    """The sum of exp(-rate u) over 0 <= u < length, or over all u >= 0."""
    if rate == 0:
        return ball(_finite(length))
    bottom = -(-ball(rate)).expm1()
    return 1 / bottom if length is None and rate > 0 else -(-ball(rate * _finite(length))).expm1() / bottom


def _finite(length: int | None) -> int:
    if length is None:
        raise ValueError("the sum has no end: a weight decreases on both sides")
    return length
