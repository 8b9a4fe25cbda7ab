"""The two tails of a Gaussian on a sample at many equally spaced points; see privacy/families/poisson.py.

Definition  x_i = start + i step. With v_i = e**x_i, by products, the threshold is t_i = ln((v_i - 1 + q)/q) forward and
            -ln((1/v_i - 1 + q)/q) backward; a sample of fixed size has the forward tails from 0 on, and below 0 what is
            left of them at -x, exchanged.
Promise     Every ball holds its number. Where a ball cannot tell on which side of 0 v - 1 + q lies, the law is asked.
Checked     tests/accounting/test_sampled_pld.py, against the laws.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from dpcurator.numbers.arb import Ball, ball
from dpcurator.privacy.distribution import Distribution

Given = Mapping[str, Fraction]
Tails = tuple[Ball, Ball]
Ladder = Callable[[Given, Distribution, Fraction, Fraction, int], list[Tails]]


def _whole(given: Given) -> Callable[[Ball], Tails]:
    square = given["shift"] ** 2 / given["variance"]
    spread, middle = ball(2 * square).sqrt(), ball(square / 2)
    return lambda t: (((t - middle) / spread).erfc() / 2, ((t + middle) / spread).erfc() / 2)


def _each(
    given: Given, law: Distribution, start: Fraction, step: Fraction, n: int, sign: int, outside: int
) -> list[Tails]:
    """sign: 1 forward, -1 backward; outside: all of the mass, or none, where there is no threshold."""
    from flint import ctx

    whole, q, less = _whole(given), ball(given["rate"]), ball(1 - given["rate"])
    worth, ratio = ball(sign * start).exp(), ball(sign * step).exp()
    found = []
    for i in range(n):
        odds = worth - less
        worth = worth * ratio
        if odds > 0:
            first, second = whole(sign * (odds / q).log())
            mixed = less * first + q * second if sign < 0 else less * second + q * first
            found.append((first, mixed) if sign < 0 else (mixed, second))
        elif odds < 0:
            found.append((ball(outside), ball(outside)))
        else:
            found.append(law.survival(law.place(start + i * step), ctx.prec))
    return found


def forward(given: Given, law: Distribution, start: Fraction, step: Fraction, n: int) -> list[Tails]:
    return _each(given, law, start, step, n, 1, 1)


def backward(given: Given, law: Distribution, start: Fraction, step: Fraction, n: int) -> list[Tails]:
    return _each(given, law, start, step, n, -1, 0)


def fixed_size(given: Given, law: Distribution, start: Fraction, step: Fraction, n: int) -> list[Tails]:
    below = min(max(-int(start // step), 0), n)  # the first point that is not below 0
    mirrored = forward(given, law, -(start + (below - 1) * step), step, below) if below else []
    above = forward(given, law, start + below * step, step, n - below)
    return [(1 - second, 1 - first) for first, second in reversed(mirrored)] + above


SAMPLED_LADDERS: dict[str, Ladder] = {
    "poisson_gaussian": forward,
    "poisson_gaussian_reversed": backward,
    "fixed_size_gaussian": fixed_size,
}
