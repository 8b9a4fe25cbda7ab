"""Trade-off curves against closed forms, all tests of small laws, and other packages' values; words by hand."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction as F
from statistics import NormalDist

import pytest

from dpcurator.accounting.composition import Composition
from dpcurator.accounting.explain_loss import explain_loss
from dpcurator.accounting.tradeoff import advantage, bayes_risk, posterior, tradeoff
from dpcurator.errors import Refusal
from dpcurator.privacy.loss import Loss

ALPHAS = ("0", "1e-9", "0.01", "0.1", "0.37", "0.5", "0.9", "1")


def loss(family, **given):
    return Loss(family, tuple((name, F(value)) for name, value in given.items()))


GAUSS = loss("gaussian", variance=1, shift=1)
LOSSES = [
    loss("pure", epsilon="0.7"),
    loss("approximate", epsilon="0.5", delta="0.01"),
    loss("laplace", scale=2, shift=1),
    loss("discrete_laplace", scale=2, shift=3),
    loss("randomised_response", truth="3/5", lie="1/5"),
    loss("unary_encoding", p="1/2", q="1/4"),
    loss("bounded_range", epsilon="0.8"),
    GAUSS,
    loss("discrete_gaussian", variance=4, shift=2),
]


@pytest.mark.parametrize(
    ("mu", "alpha", "right"),
    [
        ("0.5", "0.01", 0.9661010608771572),
        ("0.5", "0.1", 0.7827609195726948),
        ("0.5", "0.5", 0.3085375387259869),
        ("1", "0.01", 0.9076377519263059),
        ("1", "0.1", 0.610856308354639),
        ("1", "0.5", 0.15865525393145707),
        ("3", "0.01", 0.25026625253320295),
        ("3", "0.1", 0.042857426172889575),
        ("3", "0.5", 0.0013498980316300933),
    ],
)
def test_gaussian_noise(mu, alpha, right):
    found = tradeoff(loss("gaussian", variance=1, shift=mu), alpha=alpha)
    assert float(found.lo) == pytest.approx(right, rel=1e-12)
    assert found.width < F(1, 10**25)


@pytest.mark.parametrize(
    ("mu", "right"), [("0.5", 0.1974126513658474), ("1", 0.38292492254802624), ("3", 0.8663855974622838)]
)
def test_advantage_of_gaussian_noise(mu, right):
    assert float(advantage(loss("gaussian", variance=1, shift=mu)).hi) == pytest.approx(right, rel=1e-12)


@pytest.mark.parametrize(
    ("delta", "alpha", "right"),
    [
        ("0", "0.01", 0.9728171817154095),
        ("0", "0.1", 0.7281718171540954),
        ("0", "0.5", 0.18393972058572117),
        ("0.001", "0.01", 0.9718171817154095),
        ("0.001", "0.1", 0.7271718171540955),
        ("0.001", "0.5", 0.18357184114454972),
    ],
)
def test_approximate(delta, alpha, right):
    found = tradeoff(loss("approximate", epsilon=1, delta=delta), alpha=alpha)
    assert float(found.lo) == pytest.approx(right, rel=1e-12)
    assert found.width < F(1, 10**25)


@pytest.mark.parametrize(("rho", "right"), [("0.1", 0.7691742668429695), ("0.5", 0.5162716775388594)])
def test_a_vector_by_its_rho(rho, right):
    """The lower end is near the best that all orders say, and below what one of its shifts attains."""
    found = tradeoff(loss("discrete_gaussian_vector", variance=1 / (2 * F(rho)), l2_squared=1), alpha="0.1")
    assert right * (1 - 1e-4) <= float(found.lo) <= right * (1 + 1e-9)
    single = tradeoff(loss("discrete_gaussian", variance=1 / (2 * F(rho)), shift=1), alpha="0.1")
    assert found.lo <= single.lo
    assert found.hi == F("0.9")


def exact_curve(first, second, alpha):
    """The least beta over all tests of two finite laws, mixed ones too: by the ratio, as a knapsack of fractions."""
    beta, left = 1.0, alpha
    for p, q in sorted(
        zip(first, second, strict=True), key=lambda pair: pair[1] / pair[0] if pair[0] else math.inf, reverse=True
    ):
        share = 1.0 if p <= left else left / p
        beta, left = beta - share * q, left - share * p
    return beta


@pytest.mark.parametrize("alpha", ["0.01", "0.1", "0.37", "0.5", "0.9"])
def test_finite_laws_by_all_tests(alpha):
    truth, lie = 0.6, 0.2
    found = tradeoff(loss("randomised_response", truth="3/5", lie="1/5"), alpha=alpha)
    assert float(found.hi) == pytest.approx(exact_curve((truth, lie, 0.2), (lie, truth, 0.2), float(alpha)), rel=1e-12)
    p = math.exp(-1 / 2)
    noise = {k: (1 - p) / (1 + p) * p ** abs(k) for k in range(-120, 124)}
    found = tradeoff(loss("discrete_laplace", scale=2, shift=3), alpha=alpha)
    right = exact_curve([noise[k] for k in range(-100, 104)], [noise[k - 3] for k in range(-100, 104)], float(alpha))
    assert float(found.lo) == pytest.approx(right, rel=1e-9)


@pytest.mark.parametrize("one", LOSSES, ids=lambda one: one.family)
def test_the_curve_is_convex_falls_and_agrees_with_delta(one):
    """Every line that a delta gives is below it, and its advantage is attained where alpha + beta is least."""
    values = [tradeoff(one, alpha=alpha) for alpha in ALPHAS]
    for (alpha, value), (other, later) in itertools.pairwise(zip(map(F, ALPHAS), values, strict=True)):
        assert value.lo >= later.lo - F(1, 10**12)
        middle = tradeoff(one, alpha=(alpha + other) / 2)
        assert middle.lo <= (value.hi + later.hi) / 2
    for eps in (F(0), F("0.3"), F(1)):
        delta = one.delta(eps)
        for alpha, value in zip(map(F, ALPHAS), values, strict=True):
            assert float(value.hi) >= 1 - float(delta.hi) - math.exp(eps) * float(alpha) - 1e-12
            assert float(value.hi) >= math.exp(-eps) * (1 - float(delta.hi) - float(alpha)) - 1e-12
    best = max(1 - F(k, 20) - tradeoff(one, alpha=F(k, 20)).lo for k in range(1, 20))
    assert best <= advantage(one).hi + F(1, 10**12)
    assert best >= advantage(one).lo * F("0.8")
    assert all(value.width < F(1, 10**8) for value in values)


@pytest.mark.parametrize("one", LOSSES, ids=lambda one: one.family)
@pytest.mark.parametrize("prior", ["0.5", "0.9"])
def test_bayes_risk_is_the_least_over_the_curve(one, prior):
    found, p = bayes_risk(one, prior=prior), F(prior)
    over = min(p * F(k, 20) + (1 - p) * tradeoff(one, alpha=F(k, 20)).hi for k in range(21))
    assert found.lo <= over + F(1, 10**12)
    assert over <= found.hi * F("1.1") + F(1, 10**3)
    assert found.hi <= min(p, 1 - p)


def test_bayes_risk_of_even_priors_is_half_of_what_the_advantage_leaves():
    phi = NormalDist().cdf(-0.5)
    assert float(bayes_risk(GAUSS, prior="1/2").lo) == pytest.approx(phi, rel=1e-12)
    assert bayes_risk(GAUSS, prior=0).hi == bayes_risk(GAUSS, prior=1).hi == 0


def test_a_composition_has_a_lower_end():
    """Two of (.3, .4) are one of .5: its curve is not below what the composition's deltas say."""
    parts = Composition(
        ((loss("gaussian", variance=1, shift="0.3"), 1), (loss("gaussian", variance=1, shift="0.4"), 1))
    )
    found = tradeoff(parts, alpha="0.1")
    assert found.lo <= F(tradeoff(loss("gaussian", variance=1, shift="0.5"), alpha="0.1").lo)
    assert float(found.lo) > 0.5


def test_posteriors_by_hand():
    low, high = posterior("1/10", epsilon=1)
    e = math.e
    assert float(low) == pytest.approx(0.1 / (0.1 + 0.9 * e), rel=1e-12)
    assert float(high) == pytest.approx(0.1 * e / (0.1 * e + 0.9), rel=1e-12)
    assert posterior(0, epsilon=3) == (0, 0)
    assert posterior("1/2", epsilon=0) == (F(1, 2), F(1, 2))
    assert posterior("1/2", epsilon=10**9)[1] == 1


def test_words():
    said = explain_loss(loss("laplace", scale=1, shift=1), prior="0.1")
    assert str(said).splitlines() == [
        "Epsilon 1: seeing the release changes anybody's odds at most 2.719 times.",
        "- Who believed something of one person with probability 10 % will believe it with 3.9 % to 23.2 %.",
        "- Of 100 guesses which of two neighbouring tables it was, at even odds, the best attacker gets at most "
        "69.7 right; 50 are right without the release.",
        "- A test that accuses wrongly 5 of 100 times finds at most 13.6 of 100.",
    ]
    with_delta = explain_loss(GAUSS, delta="1e-6")
    assert "except with probability 0.000001" in str(with_delta)
    assert with_delta.delta == F("1e-6")
    assert "not at all" in str(explain_loss(loss("pure", epsilon=0)))
    assert "protects nobody" in str(explain_loss(loss("pure", epsilon=50)))


def test_words_are_of_a_release_or_of_many():
    import dpcurator as dp

    noise = dp.Laplace(sensitivity=1, epsilon="1/2")
    assert explain_loss(noise).epsilon == F(1, 2)
    assert explain_loss((noise, 4)).epsilon == 2


@pytest.mark.parametrize("bad", [-1, 2, "nan", None])
def test_bad_chances_are_refused(bad):
    for call in (
        lambda: tradeoff(GAUSS, alpha=bad),
        lambda: bayes_risk(GAUSS, prior=bad),
        lambda: posterior(bad, epsilon=1),
        lambda: explain_loss(GAUSS, delta=bad),
        lambda: explain_loss(loss("pure", epsilon=1), prior=bad),
    ):
        with pytest.raises(Refusal):
            call()
    with pytest.raises(Refusal):
        posterior("0.5", epsilon=-1)
    with pytest.raises(Refusal):
        explain_loss(GAUSS)
