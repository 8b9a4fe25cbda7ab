"""Laws of Z for which f(x) + (S(x) / alpha) Z is private, S being beta-smooth: with which alpha and beta; their cdf.

Definition  "cauchy": density proportional to 1 / (1 + z**2). "student": to 1 / (1 + z**2)**2, which is Student's t with
            3 degrees divided by the root of 3: E Z = 0, E Z**2 = 1. "laplace": exp(-|z|) / 2.
Promise     For neighbours, whose S differ by a factor e**l, |l| <= beta, and f by at most both S:
            cauchy:   eps-DP when     alpha +        beta <= eps;
            student:  eps-DP when 2 * alpha + 3 *    beta <= eps;
            laplace:  (eps, delta)-DP when alpha + beta <= eps and
                      (1 - e**-beta) exp(-(eps - alpha + beta) / (e**beta - 1)) <= delta.
Proof       The densities at y are h(z) alpha/S and h(w) alpha/S', z = (y - f) alpha/S, w = z e**-l + d, S' = S e**l,
            |d| = |f - f'| alpha/S' <= alpha min(1, e**-l). The loss is l + ln h(z) - ln h(w).
            Powers, h = c / (1 + z**2)**p: |d ln h / dz| = 2 p |z| / (1 + z**2) <= p, so d costs at most p alpha; and
            d/ds [s + ln h(z e**s)] = 1 - 2 p v / (1 + v), v = z**2 e**2s, lies in (1 - 2p, 1], so l costs at most
            beta max(1, 2p - 1). p = 1 and p = 2 give the lines above.
            Laplace: the loss is l + |w| - |z|. For l >= 0 it is at most l + alpha. For l = -m, 0 < m <= beta, it is at
            most alpha - m + |z| (e**m - 1), so the hockey stick E(1 - e**(eps - loss))+ with |z| exponential is at most
            e**-t (1 - e**-m), t = (eps - alpha + m) / (e**m - 1), the integral of e**-z (1 - e**-(e**m - 1)(z - t))
            over z > t. t falls in m, as m >= 1 - e**-m and eps >= alpha; so m = beta is the worst.
Source      Nissim, Raskhodnikova, Smith, STOC 2007, section 2 (admissible noise), which has alpha = beta =
            eps / (2 (g + 1)) for densities 1 / (1 + |z|**g), and alpha = eps/2, beta = eps / (2 ln(2/delta)) for
            Laplace; Student's t: Bun, Steinke, NeurIPS 2019. The conditions here are sharper, and proved above.
Checked     tests/sensitivity/test_admissible.py: the losses on grids of (z, l, d), and delta by integration.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpcurator.errors import Refusal
from dpcurator.numbers.arb import Ball, ball, precision

LAWS = ("cauchy", "student", "laplace")
_PLACES = 32  # binary figures of beta


@dataclass(frozen=True, slots=True)
class Admissible:
    """The noise is S / alpha times Z of this distribution, S being beta-smooth."""

    law: str
    alpha: Fraction
    beta: Fraction


def admissible(law: str, epsilon: Fraction, delta: Fraction, smoothing: Fraction) -> Admissible:
    """What a distribution needs for (epsilon, delta). smoothing: the share of epsilon that beta may take, in (0, 1).

    cauchy and student take no delta; for laplace beta is the largest of 32 binary figures that the condition allows.
    """
    ours, rest = smoothing * epsilon, (1 - smoothing) * epsilon
    if law == "cauchy":
        return Admissible(law, rest, ours)
    if law == "student":
        return Admissible(law, rest / 2, ours / 3)
    return Admissible(law, rest, _laplace_beta(epsilon, delta, rest, ours))


def _laplace_beta(epsilon: Fraction, delta: Fraction, alpha: Fraction, most: Fraction) -> Fraction:
    """The largest beta of 32 figures, at most `most`, whose delta is surely enough; delta rises in beta."""
    if enough(epsilon, delta, alpha, most):
        return most
    low, high = Fraction(0), most
    step = most
    while not enough(epsilon, delta, alpha, step):
        high, step = step, step / 2
        if step * 2**2000 < most:
            raise Refusal("delta is too small for this noise.", cure="Leave delta out: Student noise needs none.")
    low = step
    for _ in range(_PLACES):
        middle = (low + high) / 2
        low, high = (middle, high) if enough(epsilon, delta, alpha, middle) else (low, middle)
    return low


def enough(epsilon: Fraction, delta: Fraction, alpha: Fraction, beta: Fraction) -> bool:
    """Is the delta of Laplace noise, at this alpha and beta, surely at most `delta`?"""
    with precision(192 + max(0, beta.denominator.bit_length() - beta.numerator.bit_length())):
        grown = ball(beta).expm1()
        log = (-(-ball(beta)).expm1()).log() - ball(epsilon - alpha + beta) / grown
        return alpha + beta <= epsilon and bool(log <= ball(delta).log())


def cdf(law: str, z: Ball) -> Ball:
    """P(Z <= z), in a ball, at the working precision; z has one sign."""
    from flint import arb

    half = ball(Fraction(1, 2))
    if law == "cauchy":
        return half + z.atan() / arb.pi()
    if law == "student":
        return half + (z.atan() + z / (1 + z * z)) / arb.pi()
    return half * z.exp() if z <= 0 else 1 - half * (-z).exp()
