"""The distributions of the samplers once more, bit by bit and slowly: the oracle that the fast ones are compared with.

Definition  Only fair bits and whole numbers: uniform below m by rejection; Bernoulli of a rational by its digits; of
            exp(-x), x <= 1, as the parity of how far the chain of Bernoulli(x/1), Bernoulli(x/2), ... runs, whose
            probability is the series 1 - x + x**2/2! - ...; geometric, discrete Laplace and discrete Gaussian from
            those.
Promise     Exact by construction, with no float and no ball; time grows with the size of the draw, so it is never used
            for a release.
Source      Canonne, Kamath, Steinke, NeurIPS 2020 (arXiv 2004.00010), section 5: algorithms 1 to 3.
Checked     tests/samplers/test_reference.py, by enumerating the bits.
"""

from __future__ import annotations

import math
from fractions import Fraction

from dpcurator.entropy import Entropy


def uniform_below(m: int, entropy: Entropy) -> int:
    """m: int >= 1."""
    bits = (m - 1).bit_length()
    while (drawn := entropy.bits(bits)) >= m:
        pass
    return drawn


def bernoulli(chance: Fraction, entropy: Entropy) -> bool:
    """chance: Fraction in [0, 1]. A uniform's binary digits against the probability's own, until one differs."""
    rest, whole = chance.numerator, chance.denominator
    while 0 < rest < whole:
        digit = 2 * rest >= whole
        rest = 2 * rest - whole * digit
        if entropy.bits(1) != digit:
            return digit
    return rest == whole


def bernoulli_exp(x: Fraction, entropy: Entropy) -> bool:
    """x: Fraction >= 0. exp(-x) is exp(-1) once for each whole unit, times exp(-rest)."""
    if any(not _bernoulli_exp_short(Fraction(1), entropy) for _ in range(int(x))):
        return False
    return _bernoulli_exp_short(x - int(x), entropy)


def _bernoulli_exp_short(x: Fraction, entropy: Entropy) -> bool:
    """0 <= x <= 1. The chain reaches k with probability x**(k-1)/(k-1)!; it stops at an odd k with probability
    exp(-x)."""
    k = 1
    while bernoulli(x / k, entropy):
        k += 1
    return k % 2 == 1


def geometric(scale: Fraction, entropy: Entropy) -> int:
    """scale: Fraction > 0, t/s in lowest terms. X = u + t v has P(X = x) proportional to exp(-x/t); G is X // s."""
    t, s = scale.numerator, scale.denominator
    while True:
        u = uniform_below(t, entropy)
        if bernoulli_exp(Fraction(u, t), entropy):
            break
    v = 0
    while bernoulli_exp(Fraction(1), entropy):
        v += 1
    return (u + t * v) // s


def discrete_laplace(scale: Fraction, entropy: Entropy) -> int:
    """scale: Fraction > 0. A size and a sign; minus nothing is drawn again, or 0 would have twice its mass."""
    while True:
        size = geometric(scale, entropy)
        negative = entropy.bits(1) == 1
        if not (negative and size == 0):
            return -size if negative else size


def discrete_gaussian(variance: Fraction, entropy: Entropy) -> int:
    """variance: Fraction > 0. Discrete Laplace of scale t = floor(sigma) + 1, kept where the Gaussian is under it."""
    t = math.isqrt(int(variance)) + 1
    while True:
        k = discrete_laplace(Fraction(t), entropy)
        if bernoulli_exp((abs(k) - variance / t) ** 2 / (2 * variance), entropy):
            return k
