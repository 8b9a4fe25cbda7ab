"""rho in epsilon and delta: known values, true curves that it must not undercut, every other order, and rounding."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

from dpcurator.errors import Refusal
from dpcurator.mechanisms import DiscreteGaussian
from dpcurator.numbers import Enclosure
from dpcurator.numbers.arb import ball, precision
from dpcurator.numbers.decimals import leading
from dpcurator.numbers.enclosure import bracket
from dpcurator.privacy import zcdp

RHOS = [Fraction(text) for text in ("1e-12", "1e-6", "1/200", "1/2", "3", "100", "1e4")]
DELTAS = [Fraction(text) for text in ("99/100", "1/10", "1e-6", "1e-30", "1e-300")]
EPSILONS = [Fraction(text) for text in ("0", "1e-9", "1/10", "1", "8", "100", "20000")]


def at_order(rho: Fraction, eps: Fraction, alpha: Fraction) -> Enclosure:
    """exp((alpha-1)(alpha rho - eps)) / (alpha-1) (1 - 1/alpha)**alpha, as it is printed."""
    with precision(500):
        first = (ball((alpha - 1) * (alpha * rho - eps))).exp() / ball(alpha - 1)
        return bracket(first * (ball(alpha) * ball(1 - 1 / alpha).log()).exp())


def gaussian_curve(rho: Fraction, eps: Fraction) -> Fraction:
    """The delta of the continuous Gaussian that is rho-zCDP: mu = sqrt(2 rho); Balle, Wang 2018, theorem 5."""
    with precision(500):
        mu, root = ball(2 * rho).sqrt(), ball(2).sqrt()

        def phi(x: Any) -> Any:
            return (-x / root).erfc() / 2

        value = phi(mu / 2 - ball(eps) / mu) - ball(eps).exp() * phi(-mu / 2 - ball(eps) / mu)
    return bracket(value).lo


@pytest.mark.parametrize(
    ("rho", "delta", "eps"),
    [("1/2", "1e-6", 5.221534444530169), ("1/10", "1e-6", 2.14193892838), ("1/32", "1e-5", 1.01228664)],
)
def test_known_values(rho: str, delta: str, eps: float) -> None:
    """60-digit values of the same bound, and of its use on a Gaussian of sigma 4."""
    assert math.isclose(zcdp.epsilon_of(Fraction(rho), Fraction(delta)), eps, rel_tol=1e-8)


def test_case_com_05_epsilon_is_never_negative() -> None:
    assert zcdp.epsilon_of(Fraction("0.1"), Fraction("0.9")) == 0
    eps = zcdp.epsilon_of(Fraction("0.5"), Fraction("1e-6"))
    assert Fraction("4.8865541") < eps < Fraction("5.7565218")
    assert eps == Fraction("5.22153444454")  # 5.2215344445301..., up
    assert zcdp.epsilon_of(Fraction(0), Fraction(1, 10**300)) == 0


def test_epsilon_0_is_the_total_variation() -> None:
    """sqrt(rho/2) at rho = 1/50 is 1/10; the total variation of that Gaussian is .0797."""
    assert Fraction(1, 10) <= zcdp.delta_of(Fraction(1, 50), Fraction(0)) <= Fraction(1, 10) * (1 + Fraction(1, 2**62))
    assert zcdp.epsilon_of(Fraction(1, 50), Fraction(1001, 10000)) == 0
    assert zcdp.epsilon_of(Fraction(1, 50), Fraction(999, 10000)) > 0
    assert zcdp.greatest_rho(Fraction(0), Fraction(1, 10)) == Fraction("0.01999999999")  # of sqrt(rho/2), the upper end


@pytest.mark.parametrize("rho", RHOS)
def test_delta_is_above_the_gaussian_that_has_this_rho(rho: Fraction) -> None:
    """A valid delta must cover every rho-zCDP mechanism, so the Gaussian, and the discrete one by its own law."""
    for eps in EPSILONS:
        delta = zcdp.delta_of(rho, eps)
        assert gaussian_curve(rho, eps) < delta <= 1
        if rho >= Fraction(1, 200):
            assert DiscreteGaussian.spending_rho(rho, l2_squared=1).loss(1).delta(eps).surely_at_most(delta)


def test_a_delta_that_is_too_small_is_below_the_gaussian() -> None:
    """The same comparison finds rho / 2 in place of rho, which is what a missing square root of 2 would give."""
    for rho in RHOS[2:]:
        eps = zcdp.epsilon_of(rho, Fraction(1, 10**6))
        assert gaussian_curve(rho, eps) > zcdp.delta_of(rho / 2, eps)


@pytest.mark.parametrize("rho", RHOS)
def test_it_is_the_least_over_all_orders(rho: Fraction) -> None:
    for eps in EPSILONS:
        delta = zcdp.delta_of(rho, eps)
        near = zcdp._order(rho, eps)
        for factor in ("1e-6", "1/100", "1/2", "99/100", "99999/100000", "100001/100000", "101/100", "2", "100"):
            a = near * Fraction(factor)
            if a * ((1 + a) * rho - eps) < 10**4:  # else the bound there is above e**5000
                assert delta <= at_order(rho, eps, 1 + a).hi * (1 + Fraction(1, 10**12))
        there = at_order(rho, eps, 1 + near)
        assert there.lo <= delta or delta * delta <= rho / 2 * (1 + Fraction(1, 2**60)) or delta == 1
        assert delta <= there.hi * (1 + Fraction(1, 2**60))


@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize("delta", DELTAS)
def test_epsilon_holds_and_the_next_smaller_decimal_does_not(rho: Fraction, delta: Fraction) -> None:
    eps = zcdp.epsilon_of(rho, delta)
    assert eps >= 0
    assert zcdp.delta_of(rho, eps) <= delta
    if eps:
        unit = Fraction(10) ** (leading(eps) - 11)
        assert (eps / unit).denominator == 1
        assert zcdp.delta_of(rho, eps - unit) > delta


@pytest.mark.parametrize("eps", EPSILONS)
@pytest.mark.parametrize("delta", DELTAS)
def test_rho_holds_and_the_next_greater_decimal_does_not(eps: Fraction, delta: Fraction) -> None:
    rho = zcdp.greatest_rho(eps, delta)
    assert zcdp.delta_of(rho, eps) <= delta
    unit = Fraction(10) ** (leading(rho) - 9)
    assert (rho / unit).denominator == 1
    assert zcdp.delta_of(rho + unit, eps) > delta
    assert zcdp.epsilon_of(rho, delta) <= eps * (1 + Fraction(1, 10**11))


def test_more_privacy_never_costs_less() -> None:
    grid = [Fraction(i, 7) for i in range(1, 40)]
    for delta in DELTAS:
        rhos = [zcdp.greatest_rho(eps, delta) for eps in grid]
        assert rhos == sorted(rhos)
        epsilons = [zcdp.epsilon_of(rho, delta) for rho in grid]
        assert epsilons == sorted(epsilons)
    deltas = [zcdp.delta_of(Fraction(1, 3), eps) for eps in grid]
    assert deltas == sorted(deltas, reverse=True)


def test_amounts_beyond_doubles_are_valid() -> None:
    tiny, huge = Fraction(1, 10**900), Fraction(10**900)
    assert zcdp.delta_of(huge, Fraction(5)) == 1
    assert zcdp.delta_of(tiny, huge) <= Fraction(1, 2**60000)
    assert zcdp.delta_of(tiny, Fraction(0)) ** 2 >= tiny / 2
    assert zcdp.epsilon_of(huge, Fraction(1, 2)) >= huge
    assert zcdp.epsilon_of(tiny, Fraction(1, 10**950)) > 0
    assert zcdp.greatest_rho(huge, tiny) > 0
    assert zcdp.greatest_rho(Fraction(0), tiny) <= 2 * tiny * tiny
    assert zcdp.epsilon_of(Fraction(1, 2), 1 - Fraction(1, 10**900)) < Fraction(1)


def test_pure_epsilon_in_rho() -> None:
    assert zcdp.pure_to_rho(Fraction(1, 10)) == Fraction(1, 200)
    assert zcdp.pure_to_rho(Fraction(0)) == 0


def test_two_steps_of_a_selection() -> None:
    eps, delta = zcdp.selection_under_replacement(Fraction(1), Fraction(1, 10**6))
    assert eps == 2
    assert math.isclose(delta, 1e-6 * (1 + math.e), rel_tol=1e-15)
    with precision(300):
        exact = bracket(ball(Fraction(1, 10**6)) * (1 + ball(1).exp()))
    assert exact.hi <= delta <= exact.lo * (1 + Fraction(1, 2**62))
    assert zcdp.selection_under_replacement(Fraction(3), Fraction(0)) == (6, 0)
    assert zcdp.selection_under_replacement(Fraction(1), Fraction(1))[1] > 3  # a factor, not cut at 1
    assert zcdp.selection_under_replacement(Fraction(10**4), Fraction(1, 2))[1] > 10**4000
    with pytest.raises(Refusal, match="10,000"):
        zcdp.selection_under_replacement(Fraction(10**5), Fraction(1, 2))


@pytest.mark.parametrize("bad", [-1, float("nan"), float("inf"), True, None, "ten"])
def test_bad_amounts_are_refused(bad: Any) -> None:
    good = Fraction(1, 2)
    for name, call in (
        ("rho", lambda: zcdp.delta_of(bad, good)),
        ("eps", lambda: zcdp.delta_of(good, bad)),
        ("rho", lambda: zcdp.epsilon_of(bad, good)),
        ("delta", lambda: zcdp.epsilon_of(good, bad)),
        ("eps", lambda: zcdp.greatest_rho(bad, good)),
        ("delta", lambda: zcdp.greatest_rho(good, bad)),
        ("eps", lambda: zcdp.pure_to_rho(bad)),
        ("delta", lambda: zcdp.selection_under_replacement(good, bad)),
    ):
        with pytest.raises(Refusal, match=name):
            call()
    for edge in (Fraction(0), Fraction(1), 2):
        with pytest.raises(Refusal, match="delta"):
            zcdp.epsilon_of(good, edge)  # type: ignore[arg-type]
        with pytest.raises(Refusal, match="delta"):
            zcdp.greatest_rho(good, edge)  # type: ignore[arg-type]
