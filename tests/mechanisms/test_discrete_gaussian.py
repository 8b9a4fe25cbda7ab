"""Discrete Gaussian noise: law, loss, calibration and error against direct sums, known values and reported mistakes."""

from __future__ import annotations

import itertools
import math
from dataclasses import FrozenInstanceError
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from laws_of_draws import FALSE_ALARM, chi_square_chance

from dpcurator.errors import Refusal
from dpcurator.mechanisms import DiscreteGaussian
from dpcurator.mechanisms.noise.discrete_gaussian import EXAMPLES
from dpcurator.numbers import Enclosure, exp_neg
from dpcurator.numbers.arb import precision
from dpcurator.numbers.enclosure import bracket
from dpcurator.privacy.families import discrete_gaussian_sums as law
from dpcurator.privacy.loss import Loss

MILLIONTH = Fraction(1, 10**6)


def weight(variance: Fraction, k: int) -> Enclosure:
    return exp_neg(k * k / (2 * variance), 192)


def reach(variance: Fraction) -> int:
    """The weights beyond are below 2**-270 in all."""
    return 20 * (math.isqrt(int(variance)) + 1)


def hockey_stick(variance: Fraction, shift: int, eps: Fraction) -> Enclosure:
    """The sum of max(P(k) - e**eps P(k - shift), 0) as it is defined, term by term."""
    far = reach(variance) + shift
    masses = {k: weight(variance, k) for k in range(-far, far + 1)}
    zero = Enclosure.exactly(0)
    whole = sum(masses.values(), zero) + Enclosure(Fraction(0), Fraction(1, 2**260))
    total, factor = zero, 1 / exp_neg(eps, 192)
    for k in range(-far, far + 1):
        term = masses[k] - factor * masses.get(k - shift, Enclosure(Fraction(0), Fraction(1, 2**260)))
        total += Enclosure(max(term.lo, Fraction(0)), max(term.hi, Fraction(0)))
    return total / whole


def meet(one: Enclosure, other: Enclosure) -> bool:
    return one.lo <= other.hi and other.lo <= one.hi


@pytest.mark.parametrize("noise", EXAMPLES)
def test_mass_sums_to_one(noise: DiscreteGaussian) -> None:
    far = int(6 * math.sqrt(noise.variance)) + 1
    total = sum((noise.pmf(k) for k in range(-far, far + 1)), Enclosure.exactly(0)) + noise.tail(far)
    assert total.holds(1)
    assert total.width < Fraction(1, 2**60)


@pytest.mark.parametrize("noise", EXAMPLES)
def test_pmf_is_the_weight_over_all_weights(noise: DiscreteGaussian) -> None:
    far = reach(noise.variance)
    whole = sum((weight(noise.variance, k) for k in range(-far, far + 1)), Enclosure(Fraction(0), Fraction(1, 2**260)))
    for k in (0, 1, -1, 2, 5, -7, 20):
        assert meet(noise.pmf(k), weight(noise.variance, k) / whole)
        assert noise.pmf(k).width * 2**60 < noise.pmf(k).hi
        assert noise.pmf(k) == noise.pmf(-k)
    assert noise.pmf(10**9).hi <= Fraction(1, 2**60000)


@pytest.mark.parametrize("variance", [Fraction(2000), Fraction(10**5, 7), Fraction(10**6)])
@pytest.mark.parametrize("m", [1, 50, 300, 900])
def test_euler_maclaurin_agrees_with_adding_up(variance: Fraction, m: int) -> None:
    """Two ways to one sum; a rest estimated too small, or a coefficient that is off, would part them."""
    with precision(500):
        long, added = law._euler_maclaurin(variance, m, 200), law._terms(variance, m, 40 * math.isqrt(int(variance)))
        assert long.overlaps(added)
        assert abs(long / added - 1) < 2**-150


def test_the_sum_of_a_wide_law_is_the_integral() -> None:
    """Poisson: the whole is sigma sqrt(2 pi) (1 + 2 exp(-2 pi**2 variance) + ...)."""
    from flint import arb

    for variance in (Fraction(1, 3), Fraction(2), Fraction(2000), Fraction(2**120)):
        whole = law.whole(variance, 200)
        with precision(300):
            sigma = (arb(variance.numerator) / arb(variance.denominator)).sqrt()
            series = 1 + 2 * sum((-2 * (arb.pi() * sigma * j) ** 2).exp() for j in range(1, 12))
            assert abs(whole / (sigma * (2 * arb.pi()).sqrt() * series) - 1) < 2**-150


@pytest.mark.parametrize("noise", EXAMPLES)
@pytest.mark.parametrize("shift", [1, 2, 5])
@pytest.mark.parametrize("eps", [Fraction(s) for s in ("0", "1/10", "1", "3", "12")])
def test_delta_is_the_hockey_stick_of_the_law(noise: DiscreteGaussian, shift: int, eps: Fraction) -> None:
    delta = noise.loss(shift).delta(eps)
    direct = hockey_stick(noise.variance, shift, eps)
    assert meet(delta, direct)
    assert delta.width * 2**60 <= delta.hi or delta.hi < Fraction(1, 2**60000)
    assert direct.width < Fraction(1, 2**120)


def test_delta_agrees_with_values_of_60_digits() -> None:
    """Independent values: (sigma, eps, delta) at one and eps at delta 1e-6."""
    for sigma, eps, delta in (
        ("1", "1", 0.14135133940562192),
        ("3", "1", 0.0002177830522631044),
        ("1/2", "1", 0.6032048691666064),
        ("1", "4.499590982194307", 1e-6),
        ("3", "1.4549131565025915", 1e-6),
        ("1/2", "9.996247724900838", 1e-6),
    ):
        found = DiscreteGaussian(Fraction(sigma) ** 2).loss(1).delta(Fraction(eps))
        assert math.isclose(float(found.lo), delta, rel_tol=1e-12)


def test_delta_at_the_ends() -> None:
    loss = DiscreteGaussian(Fraction(1)).loss(1)
    assert meet(loss.delta(Fraction(0)), DiscreteGaussian(Fraction(1)).pmf(0))  # total variation of a shift of 1
    assert DiscreteGaussian(Fraction(1)).loss(0).delta(Fraction(1)) == Enclosure.exactly(0)
    assert loss.delta(Fraction(10**9)).hi <= Fraction(1, 2**60000)
    assert loss.delta(Fraction(20)).surely_above(0)
    wide = DiscreteGaussian(Fraction(2**120)).loss(2**60).delta(Fraction(1))
    assert math.isclose(float(wide.lo), 0.12693673750664397, rel_tol=1e-12)  # Phi(-1/2) - e Phi(-3/2)
    assert DiscreteGaussian(Fraction(2**120)).loss(1).delta(Fraction(1)).hi <= Fraction(1, 2**60000)


def test_the_continuous_curve_is_not_an_upper_bound() -> None:
    """semantics 5.3. The curve says 2.265e-5 at eps 10 and this sigma; the law itself has more."""
    eps, sigma = 10, 0.48448052626053895

    def curve(sigma: float) -> float:
        def phi(x: float) -> float:
            return math.erfc(-x / math.sqrt(2)) / 2

        return phi(0.5 / sigma - eps * sigma) - math.exp(eps) * phi(-0.5 / sigma - eps * sigma)

    above = [
        float(DiscreteGaussian(Fraction(s, 100) ** 2).loss(1).delta(Fraction(eps)).lo) / curve(s / 100)
        for s in range(30, 80, 5)
    ]
    assert math.isclose(curve(sigma), 2.2653743647934225e-05, rel_tol=1e-9)
    assert max(above) > 1.2
    assert min(above) < 0.8


@pytest.mark.parametrize("noise", EXAMPLES)
@pytest.mark.parametrize("shift", [1, 2])
def test_rho_bounds_every_renyi_divergence_and_whole_orders_attain_it(noise: DiscreteGaussian, shift: int) -> None:
    """D_a = ln(sum P**a Q**(1-a)) / (a-1) <= a rho."""
    rho = noise.loss(shift).rho()
    assert rho == Fraction(shift**2) / (2 * noise.variance)
    assert noise.vector_loss(shift**2).rho() == rho
    far = reach(noise.variance) + 20 * shift
    whole = sum((weight(noise.variance, k) for k in range(-far, far + 1)), Enclosure(Fraction(0), Fraction(1, 2**260)))
    for order in (Fraction(s) for s in ("3/2", "2", "5/2", "3", "7")):
        centre = (1 - order) * shift  # a k**2 + (1-a) (k-d)**2 = (k - (1-a) d)**2 + a (1-a) d**2
        powered = sum(
            (exp_neg((k - centre) ** 2 / (2 * noise.variance), 192) for k in range(-far, far + 1)),
            Enclosure(Fraction(0), Fraction(1, 2**260)),
        )
        ratio = powered / whole  # exp((a-1) D_a) = exp(a (a-1) d**2 / (2 variance)) * ratio
        assert ratio.lo <= 1
        assert ratio.width < Fraction(1, 2**100)
        if centre.denominator == 1:
            assert ratio.holds(1)
        elif noise.variance < 1:
            assert ratio.hi < 1


def test_equal_lengths_have_not_equal_delta() -> None:
    """Why a vector has no delta here: shifts (5, 0) and (3, 4) are both of length 5."""
    variance, eps = Fraction(4), Fraction(20)
    far = 40
    masses = np.array([float(DiscreteGaussian(variance).pmf(k).lo) for k in range(-far, far + 1)])

    def delta(a: int, b: int) -> float:
        p, q = np.outer(masses, masses), np.outer(np.roll(masses, a), np.roll(masses, b))
        inside = slice(10, 2 * far - 9)
        return float(np.maximum(p - math.exp(float(eps)) * q, 0)[inside, inside].sum())

    assert abs(delta(5, 0) / delta(3, 4) - 1) > 0.05
    with pytest.raises(Refusal, match="no delta"):
        DiscreteGaussian(variance).vector_loss(25).delta(eps)


def test_spending_rho() -> None:
    noise = DiscreteGaussian.spending_rho(Fraction(1, 200), l2_squared=7)
    assert noise.variance == 700
    assert noise.vector_loss(7).rho() == Fraction(1, 200)


CALIBRATED = [
    (eps, delta, sensitivity)
    for eps in ("0", "1/1000", "1/10", "1", "5", "10", "1000")
    for delta in ("1/3", "1e-6", "1e-12")
    for sensitivity in (1, 1000)
]


@pytest.mark.parametrize(("eps", "delta", "sensitivity"), [*CALIBRATED, ("1", "1e-40", 1), ("0.1", "1e-9", 10**9)])
def test_spending_meets_delta_and_the_next_smaller_variance_does_not(eps: str, delta: str, sensitivity: int) -> None:
    noise = DiscreteGaussian.spending(Fraction(eps), Fraction(delta), sensitivity=sensitivity)
    assert noise.loss(sensitivity).delta(Fraction(eps)).surely_at_most(Fraction(delta))
    top = noise.variance
    power = top.numerator.bit_length() - top.denominator.bit_length()
    step = Fraction(2) ** ((power if top >= Fraction(2) ** power else power - 1) - 31)
    assert 2**31 <= top / step < 2**32
    assert (top / step).denominator == 1
    for less in (top - step, top * Fraction(999, 1000)):
        assert DiscreteGaussian(less).loss(sensitivity).delta(Fraction(eps)).surely_above(Fraction(delta))


@pytest.mark.parametrize(
    ("eps", "delta"), [("5", "0.007"), ("5", "0.0155"), ("10", "1e-4"), ("1", "1e-6"), ("1", "1/2")]
)
def test_spending_is_the_least_of_all_smaller_variances(eps: str, delta: str) -> None:
    """Against a scan: delta is not monotone in the variance, so one neighbour proves little."""
    noise = DiscreteGaussian.spending(Fraction(eps), Fraction(delta), sensitivity=1)
    for i in range(1, 200):
        less = DiscreteGaussian(noise.variance * Fraction(i, 200))
        assert less.loss(1).delta(Fraction(eps)).surely_above(Fraction(delta))


def test_more_noise_can_reveal_more() -> None:
    """At eps 5 variance .2 has ten times the delta of variance .1."""
    noise = DiscreteGaussian.spending(Fraction(5), Fraction("0.0075"), sensitivity=1)
    assert noise.variance < Fraction(1, 10)
    deltas = [float(DiscreteGaussian(Fraction(v)).loss(1).delta(Fraction(5)).hi) for v in ("0.1", "0.12", "0.2", "1")]
    assert [round(delta, 7) for delta in deltas] == [0.0066481, 0.0150293, 0.0647556, 0.0000006]
    p = math.exp(-1 / 0.4)  # by hand: at variance .2 the best event is Z >= 1
    assert math.isclose(
        deltas[2], (p - math.exp(5) * p**4 + p**4 - math.exp(5) * p**9) / (1 + 2 * p + 2 * p**4), rel_tol=1e-6
    )


@pytest.mark.parametrize("m", [1, 2, 3, 6])
def test_the_variances_at_which_one_event_exceeds_are_one_interval(m: int) -> None:
    """What the search stands on: gain(m) rises once and falls once as the variance grows."""
    for eps, shift in ((Fraction(5), 1), (Fraction(1), 1), (Fraction(1), 3), (Fraction(1, 10), 2)):
        grid = [Fraction(i, 8) ** 3 for i in range(1, 60)]
        gains = [float(bracket(law.gain(v, shift, eps, m, 200)).lo) for v in grid]
        rises = [later > earlier for earlier, later in itertools.pairwise(gains)]
        positive = [rise for rise, gain in zip(rises, gains[1:], strict=False) if gain > 0]
        assert positive == sorted(positive, reverse=True)


def test_spending_is_close_to_the_continuous_one_when_wide() -> None:
    """Analytic Gaussian sigma for (0.1, 1e-5) and (1, 1e-6), 60 digits; the discrete law is near it, not equal."""
    for eps, delta, sigma in (("0.1", "1e-5", 30.74956613197745), ("1", "1e-6", 4.224678889326835)):
        grid = 1000
        found = DiscreteGaussian.spending(Fraction(eps), Fraction(delta), sensitivity=grid)
        assert math.isclose(math.sqrt(found.variance) / grid, sigma, rel_tol=1e-6)


BETAS = [Fraction(s) for s in ("1/2", "1/10", "1/20", "99/100", "1e-6", "1e-40", "1e-400")]


@pytest.mark.parametrize("beta", BETAS)
@pytest.mark.parametrize("sigma", [Fraction(s) for s in ("1/100", "1/3", "1", "10", "1000/7", "1000000", 2**40, 2**60)])
def test_error_is_the_smallest_that_the_law_allows(sigma: Fraction, beta: Fraction) -> None:
    noise = DiscreteGaussian(sigma**2)
    m = noise.error(beta)
    assert m >= 0
    assert law.surely_at_most(lambda bits: noise._tail(m, bits), beta, 256)
    assert m == 0 or not law.surely_at_most(lambda bits: noise._tail(m - 1, bits), beta, 256)


def test_error_by_adding_up() -> None:
    for noise in EXAMPLES:
        masses = [float(noise.pmf(k).lo) for k in range(-200, 201)]
        for beta in (Fraction(1, 2), Fraction(1, 20), Fraction(1, 1000)):
            least = next(m for m in range(200) if 1 - sum(masses[200 - m : 201 + m]) <= beta)
            assert noise.error(beta) == least


def test_case_acc_01_accuracy_two_at_the_boundary() -> None:
    """Accuracy a: P(|Z| >= a) <= .1, so a = error + 1. Both tails from 2 hold .1 at sigma .956607110574."""
    at = 0.956607110574
    for sigma, accuracy in ((at * (1 - 1e-9), 2), (at * (1 + 1e-9), 3)):
        assert DiscreteGaussian(Fraction(sigma) ** 2).error(Fraction(1, 10)) + 1 == accuracy


@pytest.mark.parametrize("noise", EXAMPLES)
def test_samples_follow_the_pmf(noise: DiscreteGaussian) -> None:
    far = int(2 * math.sqrt(noise.variance))
    cells = [float(noise.pmf(k).lo) for k in range(-far, far + 1)]
    beyond = (1 - sum(cells)) / 2

    def chance(draws: Any) -> float:
        counts = np.bincount(np.clip(draws, -far - 1, far + 1) + far + 1, minlength=2 * far + 3)
        return chi_square_chance(counts, [beyond, *cells, beyond])

    assert chance(noise.sample(400_000)) > FALSE_ALARM
    assert chance(DiscreteGaussian(noise.variance * Fraction(21, 20) ** 2).sample(400_000)) < FALSE_ALARM


@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf"), True, None, "ten"])
def test_bad_parameters_are_refused(bad: Any) -> None:
    with pytest.raises(Refusal, match="variance"):
        DiscreteGaussian(bad)
    with pytest.raises(Refusal, match="rho"):
        DiscreteGaussian.spending_rho(bad, l2_squared=1)
    with pytest.raises(Refusal, match="l2_squared"):
        DiscreteGaussian.spending_rho(Fraction(1), l2_squared=bad)
    with pytest.raises(Refusal, match="delta"):
        DiscreteGaussian.spending(Fraction(1), 1 if bad is None else bad, sensitivity=1)  # type: ignore[arg-type]
    with pytest.raises(Refusal, match="eps"):
        DiscreteGaussian.spending("-0.1" if bad == 0 else bad, MILLIONTH, sensitivity=1)
    with pytest.raises(Refusal, match="sensitivity"):
        DiscreteGaussian.spending(Fraction(1), MILLIONTH, sensitivity=bad)
    with pytest.raises(Refusal, match="beta"):
        DiscreteGaussian(Fraction(1)).error(1 if bad == "ten" else bad)  # type: ignore[arg-type]
    with pytest.raises(Refusal, match="eps"):
        DiscreteGaussian(Fraction(1)).loss(1).delta("-0.1" if bad == 0 else bad)


def test_losses_are_data_there_and_back_and_have_no_pure_eps() -> None:
    noise = DiscreteGaussian(Fraction(9, 2))
    assert noise.loss(2).as_json() == {"family": "discrete_gaussian", "parameters": {"shift": "2", "variance": "9/2"}}
    for loss in (noise.loss(2), noise.vector_loss(5)):
        assert Loss.from_json(loss.as_json()) == loss
        with pytest.raises(Refusal, match="no pure epsilon"):
            loss.pure_epsilon()
    with pytest.raises(Refusal, match="no rho"):
        Loss("approximate", {"epsilon": 1, "delta": "0.1"}).rho()


def test_a_mechanism_is_frozen_data_read_as_people_write_it() -> None:
    noise = DiscreteGaussian("0.1")  # type: ignore[arg-type]
    assert noise == DiscreteGaussian(Fraction(1, 10))
    assert type(noise.variance) is Fraction
    with pytest.raises(FrozenInstanceError):
        noise.variance = Fraction(1)  # type: ignore[misc]


@pytest.mark.parametrize("variance", ["1/4", "9/2", "1000", "123456789/7", f"1{'0' * 30}", f"1{'0' * 40}"])
def test_the_error_is_found_at_once_however_fine_the_grid(variance, monkeypatch):
    """Two events at most beyond the first guess where the noise has more steps than a double: the law decides."""
    tried = []
    found = DiscreteGaussian._tail

    def counted(noise, m, bits):
        tried.append(m)
        return found(noise, m, bits)

    monkeypatch.setattr(DiscreteGaussian, "_tail", counted)
    noise = DiscreteGaussian(Fraction(variance))
    for beta in (Fraction(1, 20), Fraction(1, 3), Fraction(1, 10**6)):
        tried.clear()
        m = noise.error(beta + Fraction(1, 10**9))  # of no other test
        assert len(set(tried)) <= 3
        assert {m, m - 1} <= set(tried) | {-1}
