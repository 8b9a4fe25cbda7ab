"""Discrete Gaussian noise of variance parameter v, moved by a whole shift s: P is Z, Q is Z + s. And vectors of it.

Definition  L(k) = (s**2 - 2 k s) / (2 v), one atom for each outcome; all are rational.
Promise     delta is that of the law itself (discrete_gaussian_sums.py). KL = s**2/(2v) = rho, exactly. Renyi:
            alpha rho + ln(theta(alpha s) / theta(0)) / (alpha-1), theta(c) the sum of exp(-(k-c)**2/(2v)); the second
            part is 0 where alpha s is whole, and never above 0.
Proof       The mean of Z is 0, so that of L is s**2/(2v). Completing the square in p**alpha q**(1-alpha) gives Renyi.
            By Poisson's sum theta(c)/theta(0) = theta_3(c, 2 pi i v) / theta_3(0, 2 pi i v), which is at most 1, and
            at least (1 - 2r)/(1 + 2r) with r = q + q**4 + ... <= 2q, q = exp(-2 pi**2 v): so from v = 16 on the second
            part is above -16 q/(alpha-1), and is enclosed by that.
            {L > x} is {k <= m}, m = ceil(s/2 - x v/s) - 1.
            A vector of independent noise has the rho and the KL of its l2 length, as both add over coordinates; which
            integer shift of that length is the worst at one epsilon is not known here, so it has no delta.
Source      Canonne, Kamath, Steinke 2020 (arXiv 2004.00010).
Checked     tests/privacy/test_families.py, tests/mechanisms/test_discrete_gaussian.py.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from dpcurator.numbers import Enclosure, decimal_text
from dpcurator.numbers.arb import Ball, ball, precision
from dpcurator.numbers.rational import at_least_0, positive, whole
from dpcurator.privacy.distribution import ONE, Atom, Distribution
from dpcurator.privacy.families import discrete_gaussian_sums as sums
from dpcurator.privacy.families import family, gaussian
from dpcurator.privacy.families.grids import atoms_in_doubles
from dpcurator.privacy.narrow import enclosed

_WIDE = 16  # of a variance: exp(-2 pi**2 v) is then below 2**-455
_WALK = 1 << 19  # outcomes of one walk
_LISTED = 10**6  # outcomes in doubles


def _rho(given: family.Given) -> Fraction:
    return given["shift"] ** 2 / (2 * given["variance"])


def _renyi(given: family.Given, alpha: Fraction) -> Enclosure:
    whole, centre = alpha * _rho(given), (alpha * given["shift"]) % 1
    if centre == 0:
        return Enclosure.exactly(whole)
    if given["variance"] >= _WIDE:
        less_by = Fraction(1, 2 ** min(int(28 * given["variance"]), 2000))
        return Enclosure(max(whole - less_by / (alpha - 1), Fraction(0)), whole)

    def less(bits: int) -> Ball:
        from flint import acb, arb

        tau = acb(0, 2 * arb.pi() * ball(given["variance"]))
        here, there = (acb.modular_theta(acb(ball(c)), tau)[2].real for c in (centre, Fraction(0)))
        return -(here / there).log() / ball(alpha - 1)

    return whole - enclosed(less)


def _law(given: family.Given, most: int) -> Distribution:
    shift, variance = int(given["shift"]), given["variance"]
    average = Enclosure.exactly(_rho(given))
    if shift == 0:
        return Distribution(
            place=lambda x: x < 0,
            survival=lambda place, bits: (ball(int(bool(place))), ball(int(bool(place)))),
            average=average,
            atoms=(Atom(Fraction(0), ONE),),
        )

    def place(x: Fraction) -> int:
        return math.ceil(Fraction(shift, 2) - x * variance / shift) - 1

    def survival(m: Any, bits: int) -> tuple[Ball, Ball]:
        """P(Z <= m), by symmetry P(Z >= -m); and P(Z + s <= m)."""
        total = sums.whole(variance, bits)
        return sums.upper(variance, -m, bits) / total, sums.upper(variance, shift - m, bits) / total

    def mass(k: int) -> Enclosure:
        def value(bits: int) -> Ball:
            with precision(bits + int(k * k / variance).bit_length()):
                return (-ball(k * k / (2 * variance))).exp() / sums.whole(variance, bits)

        return enclosed(value, most=Fraction(1))

    far = min(max(most - 1, 0) // 2, 1 + math.isqrt(math.ceil(180 * variance)))  # beyond: below e**-90
    half = {k: mass(k) for k in range(far + 1)}
    atoms = tuple(
        Atom(Fraction(shift * shift - 2 * k * shift) / (2 * variance), half[abs(k)]) for k in range(-far, far + 1)
    )
    rest = enclosed(lambda bits: sums.upper(variance, far + 1, bits) / sums.whole(variance, bits))
    return Distribution(place=place, survival=survival, average=average, atoms=atoms, above=rest, below=rest)


def _delta(given: family.Given, eps: Fraction) -> Enclosure:
    return sums.delta(given["variance"], int(given["shift"]), eps)


def _pair(given: family.Given) -> family.Pair:
    where = f"Z discrete Gaussian of variance {decimal_text(given['variance'])}"
    return family.Pair("Z", f"Z + {given['shift']}", where)


def _vector_pair(given: family.Given) -> family.Pair:
    where = f"Z independent discrete Gaussians of variance {decimal_text(given['variance'])}"
    moved = f"s any integers whose squares sum to {decimal_text(given['l2_squared'])}"
    return family.Pair("Z", "Z + s", f"{where}, {moved}")


def _simplest(given: family.Given) -> family.Named | None:
    return ("discrete_gaussian", given) if given["shift"] else None


def _lattice(given: family.Given) -> family.Lattice:
    step = given["shift"] / given["variance"]
    return family.Lattice(given["shift"] * step / 2, step or None, None, bell=2 * _rho(given))


def _float_tails(given: family.Given) -> family.FloatTails:
    import numpy as np

    shift, variance = int(given["shift"]), float(given["variance"])
    far = int(40 * math.sqrt(variance) + 40 + shift)
    if far > _LISTED:
        return gaussian.tails_of_mu(shift / math.sqrt(variance))
    k = np.arange(-far, far + 1, dtype=np.float64)
    mass = np.exp(-(k * k) / (2 * variance))
    mass /= mass.sum()
    losses = (shift * shift - 2 * k * shift) / (2 * variance)
    with np.errstate(over="ignore", invalid="ignore"):
        other = np.exp(-((k - shift) ** 2) / (2 * variance)) * (mass[far])
    return atoms_in_doubles(losses, mass, other, 0.0)


def _tails_on_grid(given: family.Given, start: Fraction, step: Fraction, n: int) -> list[family.Tails] | None:
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
    total, whole = sums.upper(variance, -lowest, bits), sums.whole(variance, bits)
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
    found = list[family.Tails]()
    for i, m in enumerate(last):
        found.append(found[-1] if i and m == last[i - 1] else (wanted[m], wanted[m - shift]))
    return found


def _numbers(given: family.Given) -> tuple[float, ...] | None:
    """Three terms of theta are all for a variance of at least 1."""
    return (float(given["shift"]), float(given["variance"])) if given["variance"] >= 1 else None


def _moments(shift: Any, variance: Any) -> family.Moments:
    """e**(z (z+1) s**2/(2v)) theta(z s)/theta(0), theta(x) = sum of e**(-2 pi**2 v n**2) cos(2 pi n x), by Poisson's
    sum."""
    import numpy as np

    rho, period = shift * shift / (2 * variance), 2 * math.pi * variance / shift

    def log(z: Any) -> Any:
        turns = np.round(z.imag / period)
        inside = z - 1j * turns * period
        terms = sum(np.exp(-2 * math.pi**2 * variance + sign * 2j * math.pi * inside * shift) for sign in (-1.0, 1.0))
        whole = 1 + 2 * np.exp(-2 * math.pi**2 * variance)
        return rho * (inside * (inside + 1) + 1j * turns * period) + np.log((1 + terms) / whole)

    def falls(c: float, t: float, end: float) -> Any:
        s, v = shift[:, 0], variance[:, 0]
        turn = np.minimum(t * s / v, math.pi)
        back = np.exp(-2 * math.pi * v * (math.pi - turn)) + 4 * np.exp(-2 * math.pi**2 * v)
        return np.where(end * s / v <= math.pi * (1 + 1e-9), -v * turn * turn / 2 + np.log1p(back), 0.0)

    return family.Moments(log, falls, rho)


FAMILY = family.Family(
    ranges={"variance": positive, "shift": whole},
    pair=_pair,
    group=lambda given, k: ("discrete_gaussian", {**given, "shift": given["shift"] * k}),
    spellings={
        "discrete_gaussian": {
            ("sigma", "sensitivity?"): family.noise("sigma", 2, "variance"),
            ("variance", "sensitivity?"): family.noise("variance", 1, "variance"),
        }
    },
    pure_epsilon=None,
    rho=_rho,
    renyi=_renyi,
    delta=_delta,
    backward=None,
    reach=None,
    kl=lambda given: Enclosure.exactly(_rho(given)),
    law=_law,
    together=None,
    reverse=None,
    sample=None,
    neighbours=None,
    simplest=_simplest,
    attained=None,
    apart=None,
    mu_squared=None,
    interval=None,
    tradeoff=None,
    lattice=_lattice,
    float_tails=_float_tails,
    tails_on_grid=_tails_on_grid,
    moments=family.MomentFunction(_numbers, _moments),
    points=None,
)


def _vector_rho(given: family.Given) -> Fraction:
    return given["l2_squared"] / (2 * given["variance"])


def _vector_group(given: family.Given, k: int) -> family.Named:
    return "discrete_gaussian_vector", {**given, "l2_squared": given["l2_squared"] * k * k}


VECTOR = family.Family(
    ranges={"variance": positive, "l2_squared": at_least_0},
    pair=_vector_pair,
    group=_vector_group,
    spellings={"discrete_gaussian_vector": family.as_given("variance", "l2_squared")},
    pure_epsilon=None,
    rho=_vector_rho,
    renyi=None,
    delta=None,
    backward=None,
    reach=None,
    kl=lambda given: Enclosure.exactly(_vector_rho(given)),
    law=None,
    together=None,
    reverse=None,
    sample=None,
    neighbours=None,
    simplest=None,
    attained=None,
    apart=None,
    mu_squared=None,
    interval=None,
    tradeoff=None,
    lattice=None,
    float_tails=None,
    tails_on_grid=None,
    moments=None,
    points=None,
)
