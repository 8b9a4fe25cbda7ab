"""The exact Gaussian curve: known values, an integral done another way, its laws, and its ends."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import pytest

from dpcurator.errors import Refusal
from dpcurator.numbers import Enclosure
from dpcurator.numbers.arb import precision
from dpcurator.numbers.enclosure import bracket
from dpcurator.privacy.families.gaussian import gaussian_delta, gaussian_epsilon, gaussian_sigma, textbook_sigma
from dpcurator.privacy.loss import Loss


def hockey_stick(sigma: Fraction, eps: Fraction) -> Enclosure:
    """The integral of max(p - e**eps q, 0) from where the two densities cross, by flint's quadrature."""
    from flint import acb, arb

    with precision(160):
        s, e = (arb(x.numerator) / x.denominator for x in (sigma, eps))

        def excess(x: acb, _: bool) -> acb:
            p = (-((x - acb(1) / 2) ** 2) / (2 * s * s)).exp()
            q = (e - (x + acb(1) / 2) ** 2 / (2 * s * s)).exp()
            return (p - q) / (s * (2 * arb.pi()).sqrt())

        crossing = s * s * e  # p is the noise around 1/2, q around -1/2
        total = acb.integral(excess, acb(crossing), acb(crossing + 1 + 30 * s), rel_tol=arb(2) ** -80)
        return bracket(total.real.union(total.real + arb(2) ** -600))


@pytest.mark.parametrize("sigma", [Fraction(s) for s in ("0.2", "0.5", "1", "7")])
@pytest.mark.parametrize("eps", [Fraction(s) for s in ("0", "0.1", "1", "10")])
def test_the_curve_is_the_integral_it_is_defined_by(sigma: Fraction, eps: Fraction) -> None:
    found, direct = gaussian_delta(sigma=sigma, sensitivity=1, epsilon=eps), hockey_stick(sigma, eps)
    slack = Fraction(1, 10**18) * max(direct.hi, Fraction(1, 10**60))
    assert found.lo <= direct.hi + slack
    assert direct.lo <= found.hi + slack


def test_values_of_50_digits() -> None:
    """Two independent values: the textbook's sigma at (10, 1e-5), and one at sigma 1, eps 1: Phi(-.5) - e Phi(-1.5)."""
    one = gaussian_delta(sigma=1, sensitivity=1, epsilon=1)
    assert math.isclose(float(one.lo), 0.12693673750664397, rel_tol=1e-14)
    textbook = math.sqrt(2 * math.log(1.25e5)) / 10
    assert round(float(gaussian_delta(sigma=textbook, sensitivity=1, epsilon=10).lo), 8) == 2.265e-5


@pytest.mark.parametrize("eps", ["0", "1e-300", "0.01", "1", "50", "1e6", "1e300"])
@pytest.mark.parametrize("delta", ["1e-300", "1e-6", "0.4", "0.999999999"])
def test_sigma_is_the_least_of_its_figures_and_nothing_hangs(eps: str, delta: str) -> None:
    sigma = gaussian_sigma(sensitivity=1, epsilon=eps, delta=delta)
    assert gaussian_delta(sigma=sigma, sensitivity=1, epsilon=eps).surely_at_most(Fraction(delta))
    less = sigma * (1 - Fraction(1, 10**12))
    assert gaussian_delta(sigma=less, sensitivity=1, epsilon=eps).surely_above(Fraction(delta))


@pytest.mark.parametrize(("sigma", "delta"), [("1", "1e-6"), ("0.01", "1e-300"), ("100", "1e-3"), ("1e-9", "0.3")])
def test_epsilon_is_the_least_of_its_figures(sigma: str, delta: str) -> None:
    eps = gaussian_epsilon(sigma=sigma, sensitivity=1, delta=delta)
    assert gaussian_delta(sigma=sigma, sensitivity=1, epsilon=eps).surely_at_most(Fraction(delta))
    if eps:
        less = eps * (1 - Fraction(1, 10**12))
        assert gaussian_delta(sigma=sigma, sensitivity=1, epsilon=less).surely_above(Fraction(delta))


def test_the_curve_falls_as_sigma_and_as_epsilon_grow() -> None:
    grid = [Fraction(i, 7) ** 3 / 20 for i in range(1, 40)]
    for eps in (0, "0.5", 10, 50):
        curve = [gaussian_delta(sigma=sigma, sensitivity=1, epsilon=eps) for sigma in grid]
        inside = [one for one in curve if one.lo < 1 - Fraction(1, 2**60) and one.hi > Fraction(1, 2**60000)]
        assert all(later.surely_below(earlier) for earlier, later in itertools.pairwise(inside))
        assert len(inside) > 15
    along = [gaussian_delta(sigma="0.7", sensitivity=1, epsilon=Fraction(i, 3)) for i in range(60)]
    assert all(later.surely_below(earlier) for earlier, later in itertools.pairwise(along))


def test_only_the_ratio_of_sensitivity_and_sigma_matters() -> None:
    assert gaussian_sigma(sensitivity=1000, epsilon=1, delta="1e-6") == 1000 * gaussian_sigma(
        sensitivity=1, epsilon=1, delta="1e-6"
    )
    loss = Loss("gaussian", (("variance", Fraction(4)), ("shift", Fraction(3))))
    assert loss.delta(Fraction(2)) == gaussian_delta(sigma="2/3", sensitivity=1, epsilon=2)
    assert Loss("gaussian", (("variance", Fraction(4)), ("shift", Fraction(0)))).delta(Fraction(2)).hi == 0


def test_far_ends() -> None:
    for eps in (0, 50, "1e500"):
        assert gaussian_delta(sigma="1e-300", sensitivity=1, epsilon=eps).lo > 1 - Fraction(1, 2**60)
    assert gaussian_delta(sigma="1e300", sensitivity=1, epsilon=1).hi <= Fraction(1, 2**60000)
    tiny = gaussian_delta(sigma="1e300", sensitivity=1, epsilon=0)  # r / sqrt(2 pi) for a small r
    assert math.isclose(float(tiny.lo * 10**300), 1 / math.sqrt(2 * math.pi))
    assert gaussian_epsilon(sigma="1e300", sensitivity=1, delta="1e-6") == 0
    assert gaussian_epsilon(sigma=1, sensitivity=1, delta="1e-900") > 64


@pytest.mark.parametrize("delta", ["0.9", "0.5", "1e-2", "1e-6", "1e-40"])
@pytest.mark.parametrize("eps", ["0.999", "0.5", "1e-3"])
def test_the_textbook_holds_below_1_and_wastes(eps: str, delta: str) -> None:
    sigma = textbook_sigma(sensitivity=2, epsilon=eps, delta=delta)
    assert math.isclose(float(sigma), math.sqrt(2 * math.log(1.25 / float(delta))) * 2 / float(eps))
    assert gaussian_delta(sigma=sigma, sensitivity=2, epsilon=eps).surely_at_most(Fraction(delta))
    assert sigma >= gaussian_sigma(sensitivity=2, epsilon=eps, delta=delta)


@pytest.mark.parametrize("eps", [1, 10, "1.0000001"])
def test_the_textbook_is_refused_from_1_on(eps: Any) -> None:
    with pytest.raises(Refusal, match=r"2\.265e-5"):
        textbook_sigma(sensitivity=1, epsilon=eps, delta=1e-5)


@pytest.mark.parametrize("bad", [-1, float("nan"), float("inf"), True, None, "ten"])
def test_bad_parameters_are_refused(bad: Any) -> None:
    good: dict[str, Any] = {"sigma": 1, "sensitivity": 1, "epsilon": "0.5", "delta": 1e-6}
    for function, names in (
        (gaussian_delta, ("sigma", "sensitivity", "epsilon")),
        (gaussian_sigma, ("sensitivity", "epsilon", "delta")),
        (gaussian_epsilon, ("sigma", "sensitivity", "delta")),
        (textbook_sigma, ("sensitivity", "epsilon", "delta")),
    ):
        for name in names:
            with pytest.raises(Refusal, match=name):
                function(**{key: good[key] for key in names} | {name: bad})
    with pytest.raises(Refusal, match="delta"):
        gaussian_sigma(sensitivity=1, epsilon=1, delta=1)


def test_the_arguments_cannot_be_swapped() -> None:
    with pytest.raises(TypeError):
        gaussian_delta(4, 1, 1)  # type: ignore[misc]
