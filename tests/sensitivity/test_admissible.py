"""The laws of smooth noise: losses on grids of (z, l, d), delta by integration, and the cdf against its density."""

from __future__ import annotations

from fractions import Fraction as F
from itertools import product
from typing import Any

import pytest
from flint import acb, arb

from dpcurator.numbers import Enclosure
from dpcurator.numbers.arb import ball, precision
from dpcurator.numbers.enclosure import bracket
from dpcurator.sensitivity.admissible import LAWS, admissible, cdf, enough

GRID = [F(i, 8) for i in range(-24, 25)] + [F(s * 10**i) for i in (1, 2, 4, 9) for s in (1, -1)]
UNIT = [F(i, 4) for i in range(-4, 5)]


def log_density(law: str, z: arb) -> arb:
    """ln h(z), but for a constant."""
    if law == "laplace":
        return -abs(z)
    return -(1 if law == "cauchy" else 2) * (1 + z * z).log()


def losses(law: str, alpha: F, beta: F) -> list[Enclosure]:
    found = []
    with precision(200):
        for z, part, share in product(GRID, UNIT, UNIT):
            change = ball(part * beta)
            shift = ball(share * alpha) * (1 if part < 0 else (-change).exp())
            w = ball(z) * (-change).exp() + shift
            found.append(bracket(change + log_density(law, ball(z)) - log_density(law, w)))
    return found


@pytest.mark.parametrize("law", ["cauchy", "student"])
@pytest.mark.parametrize("epsilon", [F(1, 10), F(1), F(8)])
def test_pure_losses_are_within_epsilon(law: str, epsilon: F, by_lot: Any) -> None:
    for smoothing in by_lot((F(1, 4), F(1, 2), F(3, 4))):
        how = admissible(law, epsilon, F(0), smoothing)
        assert all(one.surely_at_most(epsilon) for one in losses(law, how.alpha, how.beta))
        # The conditions are no waste: the dilation alone, far out, and the shift alone, come close to their shares.
        assert how.beta * {"cauchy": 1, "student": 3}[law] == smoothing * epsilon
        assert max(one.lo for one in losses(law, F(0), how.beta)) > F(99, 100) * smoothing * epsilon
        assert any(one.surely_above(epsilon) for one in losses(law, F(0), how.beta * 2 / smoothing))


@pytest.mark.parametrize("epsilon", [F(1, 10), F(1), F(5)])
@pytest.mark.parametrize("delta", [F(1, 10), F(1, 10**6), F(1, 10**30)])
def test_laplace_needs_its_delta_and_no_more(epsilon: F, delta: F) -> None:
    how = admissible("laplace", epsilon, delta, F(1, 2))
    assert enough(epsilon, delta, how.alpha, how.beta)
    # by integration of the bound on the loss, for every change of S from -beta to 0
    for part in (F(1, 4), F(1, 2), F(1)):
        with precision(200):
            m = ball(how.beta * part)
            t = (ball(epsilon - how.alpha) + m) / m.expm1()
            rate = m.expm1()
            # the part beyond t is e**-t times the integral of e**-u (1 - e**(-rate u)) over u > 0
            inside = acb.integral(lambda u, _, r=rate: (-u).exp() * (1 - (-r * u).exp()), 0, 300).real
            assert bracket((-t).exp() * inside).surely_at_most(delta)
    # NRS 2007, with beta = eps / (2 ln(2/delta)): our beta is larger, so the noise is smaller
    with precision(100):
        theirs = bracket(ball(epsilon) / (2 * ball(2 / delta).log()))
    assert theirs.surely_below(how.beta) or how.beta == epsilon / 2
    assert how.beta == epsilon / 2 or not enough(epsilon, delta, how.alpha, how.beta * (1 + F(1, 2**20)))


@pytest.mark.parametrize("law", LAWS)
def test_the_cdf_is_the_integral_of_the_density(law: str) -> None:
    def density(z: acb) -> acb:
        if law == "laplace":
            return (-z).exp() / 2
        return 1 / (1 + z * z) / acb.pi() if law == "cauchy" else 2 / acb.pi() / (1 + z * z) ** 2

    with precision(128):
        for z in (F(1, 3), F(1), F(5), F(40)):
            upper = acb.integral(lambda u, _: density(u), 0, ball(z)).real + arb(1) / 2
            assert bracket(upper - cdf(law, ball(z))).holds(0)
            assert bracket(upper + cdf(law, ball(-z)) - 1).holds(0)
            assert bracket(cdf(law, ball(z))).width < F(1, 2**100)
