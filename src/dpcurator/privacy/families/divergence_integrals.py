"""Renyi divergences as integrals in balls: Gaussian mixtures, samples of a fixed size, Laplace noise on samples; and as
sums over atoms.

Definition  The divergence of order a of P from Q is ln A / (a-1), A = E_Q[b**a] = E_P[b**(a-1)], b = P/Q = e**L.
Promise     Enclosures: to under 2**-64 of ln A where the integral is made, elsewhere from 0 to a bound that holds.
Proof       Integrals over an interval are made in balls (Petras' bisection with Gauss-Legendre rules, in FLINT;
            powers of b are analytic where its real part is above 0, and a piece where it is not is bisected).
            Mixtures P = sum of c_i N(s_i, v), Q = sum of d_j N(t_j, v). f = p**a q**(1-a) is summed at points h apart.
            At x + iy each normal density has e**(y**2/2v) times its modulus at x, and its phase to one around m is
            (s - m) y/v. With m the middle of the centres, r the greater half of their ranges, and |y| <= w <= pi v/3r
            these phases are within pi/3: so logarithms of p and q are analytic, |p| is at most e**(y**2/2v) p(x), |q|
            at least half of e**(y**2/2v) q(x), and |f| at most f(x) e**(w**2/2v) 2**(a-1). So the sum is A but for
            a part 2 e**(w**2/2v) 2**(a-1) / (e**(2 pi w/h) - 1) of A (Trefethen, Weideman 2014, theorem 5.1). Beyond
            the points: p**a is convex in p, so f is at most the sum of c_i N(s_i)**a q**(1-a), and q**(1-a) at most the
            sum of d_j N(t_j)**(1-a), being convex too, and at most (d_j N(t_j))**(1-a) for any one j. And
            N(s)**a N(t)**(1-a) is e**(a (a-1) (s-t)**2/2v) times the normal density around a s + (1-a) t, which falls
            there, so that the points have less than its tail. All of such a sum is at least A.
            Fixed size (fixed_size.py). L > 0 has the densities of b = 1-q + q e**l to 1 under Q, L < 0 has the same two
            exchanged, and L = 0 the rest; so A = 1 + E_Q[b**a + b**(1-a) - b - 1; l > 0], where all of it is at least
            0, and at most e**(a l), as 1 <= b <= e**l. It is also E_Q[b**a - 1 - a (b-1); l > 0] + E_Q[b**(1-a) - 1 +
            (a-1) (b-1); l > 0], of things at least 0; so with all l it is at most A' + A" - 1, of the Poisson sample
            both ways, and so at most 2 A' - 1 where removing a row is the worse, as for a symmetric pair. And at most
            A' + 1, as b**(1-a) <= 1.
            A density on (-e, e) and atoms at its ends: E_Q g(b(l)) is g at the lower end plus the integral of
            g'(b(t)) q e**t Q(l > t) over t (by parts).
            Atoms: the sum of p**a q**(1-a), to which what lies below the lowest loss l adds at most e**((a-1) l) p.
Source      Trefethen, Weideman 2014 (the trapezoidal rule); Wang, Balle, Kasiviswanathan 2019 (arXiv 1808.00087,
            samples of a fixed size, a looser bound); Choquette-Choo et al. 2023 (arXiv 2310.15526, mixtures); Johansson
            2018 (arXiv 1802.07942, integrals in balls).
Checked     tests/privacy/test_divergence_integrals.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any

from dpcurator.errors import Refusal
from dpcurator.numbers import Enclosure
from dpcurator.numbers.arb import Ball, ball, precision
from dpcurator.numbers.enclosure import bracket
from dpcurator.privacy.distribution import ZERO, Distribution
from dpcurator.privacy.families.approximate import PURE
from dpcurator.privacy.families.family import Family, Given
from dpcurator.privacy.narrow import enclosed

Parts = tuple[tuple[Fraction, Fraction], ...]  # centre and chance
ATOMS = 300  # of a law, at most, that are added up
ORDERS = 64  # up to which integrals over Gaussian noise on a sample of a fixed size are made
_NARROWEST = 200  # greatest order times mu**2 for which they are: pieces of them are narrower than pi / mu
_LEAST = Fraction(1, 2**64)  # mu**2 and rate for which they are
REACH = 100  # of losses of which sums and integrals are made
_ROUND_OFF = Fraction(1, 2**50)  # of a mass that may be nothing
_POINTS, _TERMS = 20_000, 100_000  # of a trapezoid sum, at most
LAST = 512  # order up to which one is made, or an integral over an interval
_FLOATS = Fraction(1, 10**100)  # sizes that doubles have, with room


def of_mixtures(variance: Fraction, first: Parts, second: Parts, alpha: Fraction) -> Enclosure:
    """Of Gaussian noise around a centre drawn from `first`, from that drawn from `second`; alpha: an order above 1."""
    if first == second:
        return ZERO
    if len(first) == len(second) == 1:
        return Enclosure.exactly(alpha * (first[0][0] - second[0][0]) ** 2 / (2 * variance))
    most = _convex(variance, first, second, alpha)
    found = _ln(variance, first, second, alpha)
    low, high = (Fraction(0), most) if found is None else (min(found.lo, most), min(found.hi, most))
    return Enclosure(low / (alpha - 1), high / (alpha - 1))


def _above(
    variance: Fraction, first: Parts, second: Parts, alpha: Fraction
) -> list[tuple[Fraction, Fraction, Ball, Fraction]]:
    """What f is at most, as a sum: s, t, and two numbers whose sum is the logarithm of the factor of the normal density
    around a s + (1-a) t; at the working precision. For each s by the convexity in q, or by one part of it."""
    found = []
    for s, c in first:
        powers = [alpha * (alpha - 1) * (s - t) ** 2 / (2 * variance) for t, _ in second]
        many = [(s, t, ball(c).log() + ball(d).log(), power) for (t, d), power in zip(second, powers, strict=True)]
        single = [(s, t, ball(c).log() + ball(1 - alpha) * ball(d).log(), power)
                  for (t, d), power in zip(second, powers, strict=True)]  # fmt: skip
        least = min(single, key=_size)
        found += [least] if alpha <= LAST and _size(least) < max(map(_size, many)) else many
    return found


def _size(one: tuple[Fraction, Fraction, Ball, Fraction]) -> Ball:
    return (one[2] + ball(one[3])).mid()


def _convex(variance: Fraction, first: Parts, second: Parts, alpha: Fraction) -> Fraction:
    """At least ln A; the greatest power taken out. Nothing is beyond the greatest one of all pairs."""
    farthest = max(abs(s - t) for s, _ in first for t, _ in second)
    with precision(256):
        above = _above(variance, first, second, alpha)
        top = max(power for *_, power in above)
        rest = bracket(sum(((log + ball(power - top)).exp() for *_, log, power in above), ball(0)).log())
    return min(max(top + rest.hi, Fraction(0)), alpha * (alpha - 1) * farthest**2 / (2 * variance))


@lru_cache(maxsize=4096)
def _ln(variance: Fraction, first: Parts, second: Parts, alpha: Fraction) -> Enclosure | None:
    """ln A; None where that takes too many points."""
    half = max(max(s for s, _ in parts) - min(s for s, _ in parts) for parts in (first, second)) / 2
    if alpha > LAST or not _FLOATS < variance < 1 / _FLOATS or not _FLOATS < half < 1 / _FLOATS:
        return None
    few = True

    def value(bits: int) -> Ball:
        nonlocal few
        found = trapezoid(variance, first, second, alpha, bits)
        few = few and found is not None
        return ball(1) if found is None else found.log()

    found = enclosed(value)
    return found if few else None


def trapezoid(variance: Fraction, first: Parts, second: Parts, alpha: Fraction, bits: int) -> Ball | None:
    """A, at the working precision, from points that are as many as so many bits need."""
    strip, step, start, stop = _points(variance, first, second, alpha, bits)
    if stop - start > _POINTS or (stop - start) * (len(first) + len(second)) > _TERMS:
        return None
    order, width, less = ball(alpha), ball(step), 1 - ball(alpha)
    scale, x = 1 / (2 * ball(variance)), ball(start * step)
    rows = [[(ball(c) * (ball(s / variance) * x - ball(s * s / (2 * variance))).exp(),
              (ball(s / variance) * width).exp()) for s, c in parts] for parts in (first, second)]  # fmt: skip
    terms, ratios = [[one for one, _ in row] for row in rows], [[ratio for _, ratio in row] for row in rows]
    inside = ball(0)
    for i in range(start, stop + 1):
        p, q = (sum(one, ball(0)) for one in terms)
        x = ball(i * step)
        inside += (order * p.log() + less * q.log() - x * x * scale).exp()
        terms = [[one * ratio for one, ratio in zip(*row, strict=True)] for row in zip(terms, ratios, strict=True)]
    inside = inside * width / (2 * ball(variance) * _pi()).sqrt()
    low, high = ball(start * step), ball(stop * step)
    outside = sum(((log + ball(power)).exp() * _beyond(low, high, order * ball(s) + less * ball(t), variance)
                   for s, t, log, power in _above(variance, first, second, alpha)), ball(0))  # fmt: skip
    worse = (ball(strip) ** 2 * scale + (order - 1) * ball(2).log()).exp()
    error = 2 * worse / (2 * _pi() * ball(strip) / width).expm1()
    return (inside + _from_0_to(outside)) / (1 + error.union(-error))


def _points(
    variance: Fraction, first: Parts, second: Parts, alpha: Fraction, bits: int
) -> tuple[Fraction, Fraction, int, int]:
    """w, which is below pi v/3r; the distance of two points; which multiples of it are the first and the last one."""
    half = max(max(s for s, _ in parts) - min(s for s, _ in parts) for parts in (first, second)) / 2
    spread, a = math.sqrt(float(variance)), float(alpha)
    middles = [a * float(s) + (1 - a) * float(t) for s, t, *_ in _above(variance, first, second, alpha)]
    rarest = max(_nats(chance) for _, chance in (*first, *second))
    nats = (bits + a) * math.log(2)
    strip = min(float(variance) / float(half), spread * math.sqrt(2 * nats))
    step = 2 * math.pi * strip / (nats + strip**2 / (2 * spread**2) + 4)
    far = spread * math.sqrt(2 * (bits * math.log(2) + a * rarest))
    low, high = min(middles) - far, max(middles) + far
    return Fraction(strip), Fraction(step), math.floor(low / step), math.ceil(high / step)


def fixed_size_of_gaussian(square: Fraction, rate: Fraction, alpha: Fraction, most: Fraction) -> Enclosure:
    """square: mu**2 on all rows. most: a divergence that it does not pass."""
    if square == 0:
        return ZERO
    if alpha > ORDERS or alpha * square > _NARROWEST or min(square, rate) < _LEAST:
        return Enclosure(Fraction(0), most)
    found = _ln_fixed(square, rate, alpha) * (1 / (alpha - 1))
    return Enclosure(min(found.lo, most), min(found.hi, most))


@lru_cache(maxsize=4096)
def _ln_fixed(square: Fraction, rate: Fraction, alpha: Fraction) -> Enclosure:
    return enclosed(lambda bits: half_line(square, rate, alpha, bits).log1p())


def half_line(square: Fraction, rate: Fraction, alpha: Fraction, bits: int) -> Ball:
    """A - 1 of a sample of a fixed size, at the working precision; what is left out is of about so many bits."""
    from flint import acb

    mu, order = ball(square).sqrt(), ball(alpha)
    nats = bits * math.log(2) + float(alpha) * _nats(rate)
    high = ball(_up(float(alpha) * math.sqrt(float(square)) + math.sqrt(2 * nats)))
    density = _on_sample(rate, order)

    def integrand(x: Any, analytic: bool) -> Any:
        return density(acb(mu) * x - acb(ball(square / 2)), analytic) * (-x * x / 2).exp()

    inside = _integral(integrand, mu / 2, high, bits) / (2 * _pi()).sqrt()
    outside = (order * (order - 1) * ball(square / 2)).exp() * _normal_tail(high - order * mu)
    return inside + _from_0_to(outside)


def _on_sample(rate: Fraction, order: Ball) -> Callable[[Any, bool], Any]:
    """b**a + b**(1-a) - b - 1, of l."""
    from flint import acb

    q = acb(ball(rate))

    def of(loss: Any, analytic: bool) -> Any:
        b = 1 + q * loss.expm1()
        if analytic and not b.real > 0:
            return acb(float("nan"))
        return b.pow(acb(order)) + b.pow(acb(1 - order)) - b - 1

    return of


def is_atoms(base: Family, law: Distribution, given: Given) -> bool:
    """Are these atoms on all rows, for `of_atoms` of the sample?"""
    return not law.continuous and base.reach is not None and base.reach(given) <= REACH


def is_smooth(law: Distribution, rate: Fraction, alpha: Fraction) -> bool:
    """Is this for `of_smooth`, and quickly done?"""
    quick = rate >= _LEAST and alpha <= LAST
    return quick and law.smooth is not None and law.reach is not None and law.reach <= REACH


def of_smooth(law: Distribution, rate: Fraction, alpha: Fraction, *, fixed: bool) -> Enclosure:
    """On a sample, of a symmetric law on all rows that has a density on (-reach, reach) and atoms there alone."""
    smooth, end = law.smooth, law.reach
    assert smooth is not None and end is not None  # noqa: PT018

    def value(bits: int) -> Ball:
        from flint import acb

        a, q = acb(ball(alpha)), acb(ball(rate))

        def integrand(t: Any, analytic: bool) -> Any:
            b = 1 + q * t.expm1()
            if analytic and not b.real > 0:
                return acb(float("nan"))
            steep = a * b.pow(a - 1) - ((a - 1) * b.pow(-a) + 1 if fixed else 0)
            return steep * q * t.exp() * smooth(t)[1]

        inside = _integral(integrand, ball(0) if fixed else ball(-end), ball(end), bits)
        if fixed:
            return inside.log1p()
        lowest = 1 + ball(rate) * ball(-end).expm1()
        return (inside + (ball(alpha) * lowest.log()).exp()).log()

    return enclosed(value) * (1 / (alpha - 1))


def of_atoms(law: Distribution, alpha: Fraction) -> Enclosure | None:
    """None where the law has more than atoms, or more of them than are listed."""
    if law.continuous or law.infinite or law.above.hi or law.below.hi > _ROUND_OFF:
        return None
    ends = [atom.loss if isinstance(atom.loss, Enclosure) else Enclosure.exactly(atom.loss) for atom in law.atoms]
    if all(end.lo == end.hi == 0 for end in ends):
        return ZERO
    if any(one.lo <= other.hi for one, other in pairwise(ends)):
        return None  # some too near to be told apart
    lowest = ends[-1].lo
    places = [law.place(end.hi) for end in ends] + [law.place(lowest - 1)]
    with precision(512):
        if 1 - law.survival(places[-1], 512)[0] > 0:
            return None

    def value(bits: int) -> Ball:
        total, order, before = ball(0), ball(alpha), law.survival(places[0], bits)
        for place in places[1:]:
            after = law.survival(place, bits)
            p, q = after[0] - before[0], after[1] - before[1]
            total, before = total + (order * p.log() + (1 - order) * q.log()).exp(), after
        below = abs(1 - before[0]).upper() * ((order - 1) * ball(lowest)).exp()
        return (total + _from_0_to(below)).log()

    return enclosed(value) * (1 / (alpha - 1))


def twice(poisson: Fraction, alpha: Fraction) -> Fraction:
    """At least the divergence on a sample of a fixed size, by that of removing a row from a Poisson sample."""
    power = (alpha - 1) * poisson
    more = enclosed(lambda bits: (-ball(power)).exp().log1p()).hi if power < 2**40 else Fraction(0)
    found = [power + (more or Fraction(1, 2**64))]
    if power < 1:
        found.append(enclosed(lambda bits: (2 * ball(power).expm1()).log1p()).hi)
    return min(found) / (alpha - 1)


def of_pure(base: Family, epsilon: Callable[[Given], Fraction] | None, given: Given, alpha: Fraction) -> Enclosure:
    """From 0 to that of all that is pure. epsilon: of the family on the sample. Raises Refusal where none is known."""
    if epsilon is None or (base.apart is not None and base.apart(given)[0]):
        raise Refusal("This loss has no Renyi divergence here.", cure="Account for it with epsilon and delta.")
    known = PURE.renyi
    assert known is not None
    return Enclosure(Fraction(0), known({"epsilon": epsilon(given)}, alpha).hi)


def _integral(integrand: Any, low: Ball, high: Ball, bits: int) -> Ball:
    from flint import acb, arb

    least = arb(2) ** (-4 * bits)
    return acb.integral(integrand, acb(low), acb(high), rel_tol=arb(2) ** (8 - bits), abs_tol=least).real


def _beyond(low: Ball, high: Ball, middle: Ball, variance: Fraction) -> Ball:
    """The chance of Gaussian noise around `middle` outside of [low, high]."""
    spread = ball(variance).sqrt()
    return _normal_tail((high - middle) / spread) + _normal_tail((middle - low) / spread)


def _pi() -> Ball:
    from flint import arb

    return arb.pi()


def _normal_tail(x: Ball) -> Ball:
    """P(Z > x) of a standard normal Z."""
    return (x / ball(2).sqrt()).erfc() / 2


def _nats(chance: Fraction) -> float:
    """-ln of a chance, of any size."""
    return math.log(chance.denominator) - math.log(chance.numerator)


def _up(x: float) -> Fraction:
    """Near, in sixteenths: where the integral ends, which is no claim."""
    return Fraction(math.ceil(16 * x), 16)


def _from_0_to(most: Ball) -> Ball:
    """A ball that holds all of [0, most]."""
    return (most / 2).union(ball(0)).union(most)
