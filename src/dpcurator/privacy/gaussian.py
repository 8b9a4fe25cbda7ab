"""The exact curve of continuous Gaussian noise: delta, epsilon or sigma from the other two; and the textbook's sigma.

Definition  With r = sensitivity / sigma, a = r/2 - eps/r and b = -r/2 - eps/r, the least delta at eps is
                delta = Phi(a) - e**eps Phi(b).
Promise     `gaussian_delta` brackets it, to a relative width under 2**-64 (below 2**-60000 in all). `gaussian_sigma`
            and `gaussian_epsilon` return the least decimal of 14 figures that was proved to do, so they are too large
            by 1e-13 at most, and never too small. All end for every parameter that can be written.
Proof       b**2 = a**2 + 2 eps, so e**eps Phi(b) = exp(-a**2/2) U(1/2, 1/2, b**2/2) / (2 sqrt(pi)) with Tricomi's U:
            no exponential is too large to write, and a**2 and b**2 are rational. Phi(-|a|) and e**eps Phi(b) are both
            at most exp(-a**2/2) / 2, so delta is at most that (a < 0) or at least 1 less twice that (a > 0): this
            settles a**2 > 90,000. By e**eps phi(b) = phi(a), d delta / d r = phi(a) > 0 and d delta / d eps =
            -e**eps Phi(b) < 0: delta falls as sigma or eps grows, so the least of either exists and bisection finds it.
Limits      This is the law on the real line, which no computer draws. A release on a grid is priced by its own law
            (privacy/discrete_gaussian.py), and `dpcurator.Gaussian` does that.
Source      Balle, Wang, ICML 2018 (arXiv 1805.06530), theorem 8; the textbook's: Dwork, Roth 2014, theorem A.1.
Checked     tests/privacy/test_gaussian.py, tests/cases/test_calibration.py.
"""

from __future__ import annotations

from fractions import Fraction

from dpcurator.errors import Refusal
from dpcurator.numbers import Enclosure, positive, rational
from dpcurator.numbers.arb import Ball, ball, precision
from dpcurator.numbers.decimal_search import decimal_at, least_place, place_of
from dpcurator.numbers.enclosure import bracket
from dpcurator.privacy.discrete_gaussian import narrow, surely_at_most

_FIGURES = 14
_FAR = 90_000  # of a**2: exp(-a**2/2) is then below 2**-64000
_LEAST_EPS = Fraction(1, 10**30)  # the least epsilon returned that is not 0


def gaussian_delta(*, sigma: object, sensitivity: object, epsilon: object) -> Enclosure:
    """The least delta at `epsilon` >= 0 of Gaussian noise; sigma, sensitivity: > 0 and in one unit. Else a Refusal."""
    spread, step = positive(sigma, name="sigma"), positive(sensitivity, name="sensitivity")
    return curve((step / spread) ** 2, _eps(epsilon))


def gaussian_sigma(*, sensitivity: object, epsilon: object, delta: object) -> Fraction:
    """The least sigma of 14 figures for (epsilon, delta), in the sensitivity's unit; epsilon >= 0, 0 < delta < 1."""
    step, eps, most = positive(sensitivity, name="sensitivity"), _eps(epsilon), _delta(delta)

    def enough(place: int) -> bool:
        return _at_most((step / decimal_at(place, _FIGURES)) ** 2, eps, most)

    return decimal_at(least_place(enough, place_of(step, _FIGURES)), _FIGURES)


def gaussian_epsilon(*, sigma: object, sensitivity: object, delta: object) -> Fraction:
    """The least epsilon of 14 figures at `delta`, 0 < delta < 1; 0 if that does, and else at least 1e-30."""
    spread, step, most = positive(sigma, name="sigma"), positive(sensitivity, name="sensitivity"), _delta(delta)
    ratio = (step / spread) ** 2
    if _at_most(ratio, Fraction(0), most):
        return Fraction(0)
    least = place_of(_LEAST_EPS, _FIGURES)

    def enough(place: int) -> bool:
        return place >= least and _at_most(ratio, decimal_at(place, _FIGURES), most)

    return decimal_at(least_place(enough, place_of(max(ratio / 2, _LEAST_EPS), _FIGURES)), _FIGURES)


def textbook_sigma(*, sensitivity: object, epsilon: object, delta: object) -> Fraction:
    """sqrt(2 ln(1.25/delta)) sensitivity / epsilon, rounded up by under 2**-64; 0 < epsilon < 1, else a Refusal.

    For the notes' sake: `gaussian_sigma` is never larger. The formula is proved for an epsilon below 1 alone; at
    epsilon 10 and delta 1e-5 its noise has a delta of 2.265e-5.
    """
    step, eps, most = positive(sensitivity, name="sensitivity"), positive(epsilon, name="epsilon"), _delta(delta)
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


def _eps(epsilon: object) -> Fraction:
    exact = rational(epsilon, name="epsilon")
    if exact < 0:
        raise Refusal("epsilon must be at least 0.", cure="Write epsilon as in 0.5.")
    return exact


def _delta(delta: object) -> Fraction:
    exact = positive(delta, name="delta")
    if exact >= 1:
        raise Refusal("delta must be below 1.", cure="Write delta as in 1e-6.")
    return exact
