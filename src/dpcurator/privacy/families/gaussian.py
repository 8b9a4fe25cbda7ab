"""Gaussian noise on the real line, moved by s: P is Z, Q is Z + s; mu = s / sigma. And sigma for an epsilon and delta.

Definition  L is Gaussian of mean mu**2/2 and variance mu**2, under P; of mean -mu**2/2 under Q. With a = mu/2 - eps/mu
            and b = -mu/2 - eps/mu, the least delta at eps is
                delta = Phi(a) - e**eps Phi(b).
Promise     `gaussian_delta` brackets it, to a relative width under 2**-64 (below 2**-60000 in all). `gaussian_sigma`
            and `gaussian_epsilon` return the least decimal of 14 figures that was proved to do, so they are too large
            by 1e-13 at most, and never too small. All end for every parameter that can be written.
            KL = rho = mu**2/2 and the Renyi divergence of order alpha is alpha mu**2/2, all rational. A vector of l2
            length s has the same pair: turn the axes along the shift. Several are one, of mu**2 the sum of theirs.
            ln E e**(z L) = z (z+1) mu**2/2.
Proof       b**2 = a**2 + 2 eps, so e**eps Phi(b) = exp(-a**2/2) U(1/2, 1/2, b**2/2) / (2 sqrt(pi)) with Tricomi's U:
            no exponential is too large to write, and a**2 and b**2 are rational. Phi(-|a|) and e**eps Phi(b) are both
            at most exp(-a**2/2) / 2, so delta is at most that (a < 0) or at least 1 less twice that (a > 0): this
            settles a**2 > 90,000. By e**eps phi(b) = phi(a), d delta / d mu = phi(a) > 0 and d delta / d eps =
            -e**eps Phi(b) < 0: delta falls as sigma or eps grows, so the least of either exists and bisection finds it.
Limits      This is the distribution on the real line, which no computer draws. A release on a grid is priced by its own
            distribution (discrete_gaussian.py), and `dpcurator.Gaussian` does that.
Source      Balle, Wang, ICML 2018 (arXiv 1805.06530), lemma 3 and theorem 8; Bun, Steinke 2016, proposition 1.6;
            Mironov 2017, proposition 7; the textbook's sigma: Dwork, Roth 2014, theorem A.1.
Checked     tests/privacy/test_families.py, tests/privacy/test_gaussian.py, tests/cases/test_calibration.py.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dpcurator.errors import Refusal
from dpcurator.numbers import Enclosure, decimal_text, positive
from dpcurator.numbers.arb import Ball, ball, precision
from dpcurator.numbers.decimal_search import decimal_at, least_place, place_of
from dpcurator.numbers.enclosure import bracket
from dpcurator.numbers.rational import at_least_0, between_0_and_1
from dpcurator.privacy.distribution import ONE, Atom, Distribution
from dpcurator.privacy.families import family
from dpcurator.privacy.narrow import narrow, surely_at_most

if TYPE_CHECKING:
    from dpcurator.numbers.rational import Spelled

_FIGURES = 14
_FAR = 90_000  # of a**2: exp(-a**2/2) is then below 2**-64000
_LEAST_EPS = Fraction(1, 10**30)  # the least epsilon returned that is not 0


def gaussian_delta(*, sigma: Spelled, sensitivity: Spelled, epsilon: Spelled) -> Enclosure:
    """The least delta of continuous Gaussian noise at an epsilon, certified (the analytic Gaussian mechanism).

    delta = Phi(mu/2 - epsilon/mu) - exp(epsilon) Phi(-mu/2 - epsilon/mu), with mu = sensitivity / sigma.

    Promise: an enclosure, rounded outward, of relative width below 2**-64. Noise on a grid has a loss of its own:
    dp.Gaussian.

    Parameters:
        sigma: number > 0, the standard deviation, in the query's unit.
        sensitivity: number > 0, the l2 sensitivity, in the query's unit.
        epsilon: number >= 0.

    Raises Refusal if a parameter is out of its range.

    >>> import dpcurator as dp
    >>> float(dp.gaussian_delta(sigma=4, sensitivity=1, epsilon=1).hi)
    2.924272104856407e-06

    Source: Balle, Wang 2018, theorem 8.
    """
    spread, step = positive(sigma, name="sigma"), positive(sensitivity, name="sensitivity")
    return curve((step / spread) ** 2, at_least_0(epsilon, name="epsilon"))


def gaussian_sigma(*, sensitivity: Spelled, epsilon: Spelled, delta: Spelled) -> Fraction:
    """The least standard deviation of continuous Gaussian noise for (epsilon, delta)-DP, certified.

    The least sigma with gaussian_delta(sigma) <= delta, for every epsilon (the analytic Gaussian mechanism).

    Promise: proved to be enough, and too large by less than one part in 10**13.

    Parameters:
        sensitivity: number > 0, the l2 sensitivity, in the query's unit.
        epsilon: number >= 0.
        delta: number in (0, 1).

    Returns a Fraction of 14 figures, in the query's unit. Raises Refusal if a parameter is out of its range.

    >>> import dpcurator as dp
    >>> float(dp.gaussian_sigma(sensitivity=1, epsilon=1, delta="1e-6"))
    4.2246788893269

    Source: Balle, Wang 2018.
    """
    step, eps = positive(sensitivity, name="sensitivity"), at_least_0(epsilon, name="epsilon")
    most = between_0_and_1(delta)

    def enough(place: int) -> bool:
        return _at_most((step / decimal_at(place, _FIGURES)) ** 2, eps, most)

    return decimal_at(least_place(enough, place_of(step, _FIGURES)), _FIGURES)


def gaussian_epsilon(*, sigma: Spelled, sensitivity: Spelled, delta: Spelled) -> Fraction:
    """The least epsilon of continuous Gaussian noise at a delta, certified.

    The least epsilon with gaussian_delta(epsilon) <= delta.

    Promise: proved to hold, and too large by less than one part in 10**13; exactly 0 where 0 does, else at least 1e-30.

    Parameters:
        sigma: number > 0, the standard deviation, in the query's unit.
        sensitivity: number > 0, the l2 sensitivity, in the query's unit.
        delta: number in (0, 1).

    Returns a Fraction of 14 figures. Raises Refusal if a parameter is out of its range.

    >>> import dpcurator as dp
    >>> float(dp.gaussian_epsilon(sigma=4, sensitivity=1, delta="1e-6"))
    1.0607018623283

    Source: Balle, Wang 2018.
    """
    spread, step = positive(sigma, name="sigma"), positive(sensitivity, name="sensitivity")
    most = between_0_and_1(delta)
    ratio = (step / spread) ** 2
    if _at_most(ratio, Fraction(0), most):
        return Fraction(0)
    least = place_of(_LEAST_EPS, _FIGURES)

    def enough(place: int) -> bool:
        return place >= least and _at_most(ratio, decimal_at(place, _FIGURES), most)

    return decimal_at(least_place(enough, place_of(max(ratio / 2, _LEAST_EPS), _FIGURES)), _FIGURES)


def textbook_sigma(*, sensitivity: Spelled, epsilon: Spelled, delta: Spelled) -> Fraction:
    """The textbook's standard deviation of Gaussian noise for (epsilon, delta)-DP, valid for epsilon below 1.

    sigma = sqrt(2 ln(1.25/delta)) sensitivity / epsilon, rounded up by less than one part in 2**64.

    For comparison: `gaussian_sigma` is never larger, and holds for every epsilon. The formula is proved for an epsilon
    below 1 alone: at epsilon 10 and delta 1e-5 its noise has a delta of 2.265e-5.

    Parameters:
        sensitivity: number > 0, the l2 sensitivity, in the query's unit.
        epsilon: number in (0, 1).
        delta: number in (0, 1).

    Returns a Fraction in the query's unit. Raises Refusal if a parameter is out of its range.

    >>> import dpcurator as dp
    >>> wanted = {"sensitivity": 1, "epsilon": "0.5", "delta": "1e-6"}
    >>> float(dp.textbook_sigma(**wanted)), float(dp.gaussian_sigma(**wanted))
    (10.597605053700947, 8.0576184807251)

    Source: Dwork, Roth 2014, theorem A.1.
    """
    step, eps = positive(sensitivity, name="sensitivity"), positive(epsilon, name="epsilon")
    most = between_0_and_1(delta)
    if eps >= 1:
        raise Refusal(
            "sqrt(2 ln(1.25/delta)) / epsilon is proved only for an epsilon below 1: at epsilon 10 and delta 1e-5 "
            "its noise has delta 2.265e-5.",
            cure="Use gaussian_sigma, which is exact for every epsilon, or Gaussian.",
        )
    with precision(160):
        root = (2 * (ball(Fraction(5, 4)) / ball(most)).log()).sqrt()
        return _shorter(bracket(root * ball(step / eps)).hi)


def curve(ratio_squared: Fraction, eps: Fraction) -> Enclosure:
    """The least delta at eps >= 0; ratio_squared: (sensitivity / sigma)**2, at least 0."""
    if ratio_squared == 0:
        return Enclosure.exactly(0)
    found = narrow(lambda bits: _ball(ratio_squared, eps, bits), 128)
    return Enclosure(max(found.lo, Fraction(0)), min(found.hi, Fraction(1)))


def _ball(ratio_squared: Fraction, eps: Fraction, bits: int) -> Ball:
    from flint import arb

    middle, side = ratio_squared / 4 + eps**2 / ratio_squared, 1 if ratio_squared > 2 * eps else -1
    a_squared, b_squared = middle - eps, middle + eps
    with precision(bits):
        if a_squared > _FAR:
            rest = arb(0).union(ball(Fraction(1, 2**64000)))
            return rest if side < 0 else 1 - rest
        half = arb(1) / 2
        a = side * ball(a_squared).sqrt()
        beyond = (-ball(a_squared) / 2).exp() * (ball(b_squared) / 2).hypgeom_u(half, half) / (2 * arb.pi().sqrt())
        return (-a / ball(2).sqrt()).erfc() / 2 - beyond


def _at_most(ratio_squared: Fraction, eps: Fraction, delta: Fraction) -> bool:
    return surely_at_most(lambda bits: _ball(ratio_squared, eps, bits), delta, 128)


def _shorter(value: Fraction) -> Fraction:
    """Rounded up to about 96 significant bits."""
    shift = 96 - value.numerator.bit_length() + value.denominator.bit_length()
    unit = Fraction(2) ** -shift
    return -(-value // unit) * unit


def _mu_squared(given: family.Given) -> Fraction:
    return given["shift"] ** 2 / given["variance"]


def _law(given: family.Given, most: int) -> Distribution:
    square = _mu_squared(given)
    average = Enclosure.exactly(square / 2)

    def survival(place: Any, bits: int) -> tuple[Ball, Ball]:
        if square == 0:
            every = ball(int(place < 0))
            return every, every
        return smooth(ball(place))

    def smooth(x: Ball) -> tuple[Ball, Ball]:
        spread = ball(2 * square).sqrt()
        return ((x - ball(square / 2)) / spread).erfc() / 2, ((x + ball(square / 2)) / spread).erfc() / 2

    def place(x: Fraction) -> Fraction:
        return x if square else Fraction(-1 if x < 0 else 1)

    atoms = () if square else (Atom(Fraction(0), ONE),)
    return Distribution(
        place=place,
        survival=survival,
        average=average,
        atoms=atoms,
        continuous=square > 0,
        smooth=smooth if square else None,
    )


def _pair(given: family.Given) -> family.Pair:
    where = f"Z Gaussian of variance {decimal_text(given['variance'])}"
    return family.Pair("Z", f"Z + {decimal_text(given['shift'])}", where)


def _group(given: family.Given, k: int) -> family.Named:
    return "gaussian", {**given, "shift": given["shift"] * k}


def _simplest(given: family.Given) -> family.Named | None:
    square = _mu_squared(given)
    return ("gaussian", {"shift": Fraction(1), "variance": 1 / square}) if square else None


def tails_of_mu(mu: float) -> family.FloatTails:
    import numpy as np

    erfc = np.frompyfunc(math.erfc, 1, 1)

    def both(x: Any) -> tuple[Any, Any]:
        wide = mu * math.sqrt(2)
        first = erfc((x - mu * mu / 2) / wide).astype(np.float64) / 2
        return first, erfc((x + mu * mu / 2) / wide).astype(np.float64) / 2

    return both


def _tails_on_grid(given: family.Given, start: Fraction, step: Fraction, n: int) -> list[family.Tails] | None:
    square = _mu_squared(given)
    if square == 0:
        return None
    spread = ball(2 * square).sqrt()
    first, second = ball(start - square / 2) / spread, ball(start + square / 2) / spread
    each = ball(step) / spread
    return [((first + each * i).erfc() / 2, (second + each * i).erfc() / 2) for i in range(n)]


def _moments(square: Any) -> family.Moments:
    return family.Moments(
        log=lambda z: square * (z * (z + 1) / 2), falls=lambda c, t, end: -square[:, 0] * t * t / 2, reach=0 * square
    )


def _of_rho(given: family.Given) -> family.Given:
    positive(given["rho"], name="rho")
    return {"variance": 1 / (2 * given["rho"]), "shift": Fraction(1)}


FAMILY = family.Family(
    ranges={"variance": positive, "shift": at_least_0},
    pair=_pair,
    group=_group,
    spellings={"gaussian": {("sigma", "sensitivity?"): family.noise("sigma", 2, "variance"), ("rho",): _of_rho}},
    pure_epsilon=None,
    rho=lambda given: _mu_squared(given) / 2,
    renyi=lambda given, alpha: Enclosure.exactly(alpha * _mu_squared(given) / 2),
    delta=lambda given, eps: curve(_mu_squared(given), eps),
    backward=None,
    reach=None,
    kl=lambda given: Enclosure.exactly(_mu_squared(given) / 2),
    law=_law,
    together=None,
    reverse=None,
    sample=None,
    neighbours=None,
    simplest=_simplest,
    attained=None,
    apart=None,
    mu_squared=_mu_squared,
    interval=None,
    tradeoff=None,
    lattice=lambda given: family.Lattice(None, None, None, bell=_mu_squared(given)),
    float_tails=lambda given: tails_of_mu(math.sqrt(_mu_squared(given))),
    tails_on_grid=_tails_on_grid,
    moments=family.MomentFunction(lambda given: (float(_mu_squared(given)),), _moments),
    points=None,
)
