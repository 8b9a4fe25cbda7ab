"""The two tails of a law at many equally spaced points, by products where each would need exponentials of its own.

Definition  x_i = start + i step. Each ladder gives P(L > x_i) and Q(L > x_i) for i = 0 ... n - 1, by the formulas of
            privacy/families/; points between which no mass lies share one pair.
Promise     Every ball holds its number, as balls do; n products cost about log2(n) bits of it.
Checked     tests/accounting/test_pld_cells.py, against the laws.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction

from dpcurator.numbers.arb import Ball, ball, precision
from dpcurator.privacy import discrete_gaussian as discrete

_WALK = 1 << 19  # outcomes
Tails = tuple[Ball, Ball]
Ladder = Callable[[Mapping[str, Fraction], Fraction, Fraction, int], list[Tails] | None]


def laplace(given: Mapping[str, Fraction], start: Fraction, step: Fraction, n: int) -> list[Tails]:
    a = given["shift"] / given["scale"]

    def between(x: Fraction, count: int) -> list[Tails]:
        up, down = _powers(x - a, step, count), _powers(-x - a, -step, count)
        return [(1 - one / 2, other / 2) for one, other in zip(up, down, strict=True)]

    return _within(-a, a, start, step, n, between)


def bounded_range(given: Mapping[str, Fraction], start: Fraction, step: Fraction, n: int) -> list[Tails]:
    e = given["epsilon"]

    def between(x: Fraction, count: int) -> list[Tails]:
        whole = -(-ball(e)).expm1()
        first = [(1 - power) / whole for power in _powers(x - e, step, count)]
        return [(one, one * power) for one, power in zip(first, _powers(-x - e, -step, count), strict=True)]

    return _within(-e, e, start, step, n, between)


def gaussian(given: Mapping[str, Fraction], start: Fraction, step: Fraction, n: int) -> list[Tails]:
    square = given["shift"] ** 2 / given["variance"]
    spread = ball(2 * square).sqrt()
    first, second = ball(start - square / 2) / spread, ball(start + square / 2) / spread
    each = ball(step) / spread
    return [((first + each * i).erfc() / 2, (second + each * i).erfc() / 2) for i in range(n)]


def discrete_gaussian(given: Mapping[str, Fraction], start: Fraction, step: Fraction, n: int) -> list[Tails] | None:
    """One walk over the outcomes, from the highest loss on; None where they are too many.

    P(L > x) = G(m) and Q(L > x) = G(m - s), G(m) the sum of g(k) = e**(-k**2/(2v)) over k <= m, over that of all k; by
    symmetry G(m) is the sum over k >= -m. g(k+1)/g(k) falls by e**(-1/v) each time.
    """
    shift, variance = int(given["shift"]), given["variance"]
    if shift == 0:
        return None
    last = [math.ceil(Fraction(shift, 2) - (start + i * step) * variance / shift) - 1 for i in range(n)]
    lowest, highest = last[-1] - shift, last[0]
    length = highest - lowest
    if length > _WALK:
        return None
    from flint import ctx

    bits = ctx.prec + 3 * length.bit_length() + 32
    wanted = {m: ball(0) for m in last} | {m - shift: ball(0) for m in last}
    total, whole = discrete.upper(variance, -lowest, bits), discrete.whole(variance, bits)
    with precision(bits + int(max(lowest * lowest, highest * highest) / variance).bit_length()):
        mass = (-ball(Fraction(lowest * lowest) / (2 * variance))).exp()
        ratio = (-ball((2 * lowest + 1) / (2 * variance))).exp()
        faster = (-ball(1 / variance)).exp()
        for m in range(lowest, highest + 1):
            if m > lowest:
                mass, ratio = mass * ratio, ratio * faster
                total = total + mass
            if m in wanted:
                wanted[m] = total / whole
    found = list[Tails]()
    for i, m in enumerate(last):
        found.append(found[-1] if i and m == last[i - 1] else (wanted[m], wanted[m - shift]))
    return found


def _powers(x: Fraction, step: Fraction, count: int) -> list[Ball]:
    """e**(x/2), e**((x+step)/2), ..."""
    power, ratio, found = ball(x / 2).exp(), ball(step / 2).exp(), []
    for _ in range(count):
        found.append(power)
        power = power * ratio
    return found


def _within(
    low: Fraction,
    high: Fraction,
    start: Fraction,
    step: Fraction,
    n: int,
    between: Callable[[Fraction, int], list[Tails]],
) -> list[Tails]:
    """All of the law is above a point below `low`, and none above one from `high` on."""
    first, last = (min(max(math.ceil((end - start) / step), 0), n) for end in (low, high))
    every, none = (ball(1), ball(1)), (ball(0), ball(0))
    return [every] * first + between(start + first * step, last - first) + [none] * (n - last)


LADDERS: dict[str, Ladder] = {
    "laplace": laplace,
    "bounded_range": bounded_range,
    "gaussian": gaussian,
    "discrete_gaussian": discrete_gaussian,
}
