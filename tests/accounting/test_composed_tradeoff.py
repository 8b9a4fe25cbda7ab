"""The trade-off curve of compositions holds what is exact: one Gaussian, coins by all their tests, both ways round."""

from __future__ import annotations

import math
from fractions import Fraction as F
from itertools import pairwise

import pytest

from dpcurator.accounting.composed_tradeoff import Deltas, _between, _Place, both_ends
from dpcurator.accounting.composition import compose
from dpcurator.accounting.explain_loss import explain_loss
from dpcurator.accounting.parse import spelled
from dpcurator.accounting.pld import certified
from dpcurator.accounting.pld.directed import certified_ways
from dpcurator.accounting.tradeoff import advantage, bayes_risk, tradeoff
from dpcurator.numbers import Enclosure
from dpcurator.privacy.loss import Loss

ALPHAS = (F(1, 100), F(1, 10), F(1, 2), F(9, 10))


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize(("text", "mu"), [("4 * gaussian(sigma=2)", 1), ("9 * gaussian(sigma=1)", 3)])
def test_it_holds_the_one_gaussian_that_many_are(text, mu, alpha):
    found = both_ends(spelled(text).parts, alpha)
    exact = tradeoff(Loss("gaussian", {"variance": 1, "shift": mu}), alpha=alpha)
    assert found.lo <= exact.hi
    assert exact.lo <= found.hi
    assert found.width <= F(1, 1000)
    assert tradeoff(spelled(text), alpha=alpha) == exact


def coins(epsilon, count, alpha):
    """The best test between `count` coins: by how many came up, a mixed one where alpha asks for it."""
    p = math.exp(epsilon) / (1 + math.exp(epsilon))
    beta, left = 1.0, alpha
    for k in range(count + 1):  # so many as P likes: those that Q likes most, first
        under = math.comb(count, k) * p**k * (1 - p) ** (count - k)
        other = math.comb(count, k) * (1 - p) ** k * p ** (count - k)
        share = min(1.0, left / under)
        beta, left = beta - share * other, left - share * under
    return beta


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize(("epsilon", "count"), [("0.5", 4), ("0.1", 50)])
def test_it_holds_the_best_test_between_coins(epsilon, count, alpha):
    found = both_ends(spelled(f"{count} * pure(epsilon={epsilon})").parts, alpha)
    exact = coins(float(epsilon), count, float(alpha))
    assert float(found.lo) - 1e-12 <= exact <= float(found.hi) + 1e-12
    assert found.width <= F(1, 1000)


MANY = ["60 * laplace(epsilon=0.1)", "12 * discrete_laplace(scale=3, sensitivity=2) + 2 * gaussian(sigma=3)",
        "2 * approximate(epsilon=0.3, delta=0.01) + laplace(epsilon=1)"]


@pytest.mark.parametrize("text", MANY)
def test_the_curve_falls_is_convex_and_agrees_with_delta(text):
    one = spelled(text)
    values = [tradeoff(one, alpha=alpha) for alpha in ALPHAS]
    for value, later in pairwise(values):
        assert value.hi >= later.lo
    for i in range(len(ALPHAS) - 2):
        share = (ALPHAS[i + 1] - ALPHAS[i]) / (ALPHAS[i + 2] - ALPHAS[i])
        assert values[i + 1].lo <= (1 - share) * values[i].hi + share * values[i + 2].hi
    for eps in (F(0), F(1, 2), F(3, 2)):
        most = float(one.delta(epsilon=eps))
        for alpha, value in zip(ALPHAS, values, strict=True):
            assert float(value.hi) >= 1 - most - math.exp(eps) * float(alpha) - 1e-12


@pytest.mark.parametrize("text", MANY)
def test_the_other_way_round_is_the_same_curve(text):
    """Where alpha meets beta of one test, beta meets alpha of the other."""
    one = spelled(text)
    found = both_ends(one.parts, F(1, 10))
    back = both_ends(one.parts, found.hi)
    assert back.lo <= F(1, 10)
    there = both_ends(one.parts, found.lo) if found.lo else None
    assert there is None or there.hi >= F(1, 10)


def test_the_bound_between_two_places_by_hand():
    """Lines 1 + 2 u from the left and 2 + (3 - u) from the right, over a distance of 3: they cross at u = 4/3."""
    place = [
        _Place(F(i), Enclosure.exactly(F(w)), F(g), F(g)) for i, (w, g) in enumerate([(0, -1), (1, 1), (4, 2), (5, 1)])
    ]
    assert _between(place, 1) == F(1) + 2 * F(4, 3)
    assert _between(place[1:], 0) == 2 + 3  # no line from the left
    assert _between(place[:3], 1) == 1 + 2 * 3  # none from the right
    assert _between(place[1:3], 0) == 1  # none at all


@pytest.mark.parametrize("alpha", ["1/20", "1/3", "9/10"])
def test_h3_a_sampled_composition_is_enclosed_by_the_better_of_both_ways(alpha):
    """H3: four samples of a coin, by force: outcomes from the likeliest to be P on, the last one shared by a coin."""
    one = spelled("poisson(0.3, pure(epsilon=0.7))").parts[0][0]
    right = []
    for way in (one, one.reversed):
        atoms = [(float(atom.loss.lo), float(atom.mass.lo)) for atom in way.distribution().atoms]
        joint = [(0.0, 1.0)]
        for _ in range(4):
            joint = [(x + y, p * m) for x, p in joint for y, m in atoms]
        left, beta = float(F(alpha)), 0.0
        for x, p in sorted(joint):  # said to be Q first where the loss is least
            said = min(p, left)
            left -= said
            beta += (p - said) * math.exp(-x)
        right.append(beta)
    found = tradeoff(spelled("4 * poisson(0.3, pure(epsilon=0.7))"), alpha=alpha)
    assert found.lo <= min(right) + 1e-9
    assert min(right) - 1e-9 <= found.hi
    assert found.width <= F(1, 1000)
    single = tradeoff(one, alpha=alpha)
    assert single.width < F(1, 10**6)
    assert single.lo > found.hi


def test_deltas_read_off_rows_of_another_epsilon_hold_and_few_rows_are_made(monkeypatch):
    """Twenty epsilons, both ways, by a handful of loss distributions; each delta holds that of its own."""
    parts, looked, honest = spelled("4 * poisson(0.3, pure(epsilon=0.7))").parts, [], certified.certify
    monkeypatch.setattr(certified, "certify", lambda *given, **how: looked.append(1) or honest(*given, **how))
    shared = Deltas(parts, accuracy=F(1, 100))
    found = {(eps, back): shared.at(eps, back=back) for eps in (F(k, 5) for k in range(-10, 10)) for back in (0, 1)}
    assert len(looked) < 20
    for (eps, back), delta in found.items():
        assert delta.width <= F(1, 2000)
        if eps.denominator == 1:
            right = certified_ways(parts, abs(eps), accuracy=1e-6, seconds=10)[(eps < 0) != back]
            assert delta.lo <= right.upper
            assert right.lower <= delta.hi
    assert found[F(1), 0] != found[F(1), 1]
    assert found[F(1), 0] == found[F(-1), 1]


def test_what_reveals_all_is_nearly_nothing_to_miss():
    found = both_ends(spelled("400 * gaussian(sigma=1)").parts, F(1, 10))
    assert found.hi < F(1, 10**6)


def test_without_a_law_the_upper_end_is_that_of_no_test():
    vector = Loss("discrete_gaussian_vector", {"variance": 100, "l2_squared": 4})
    assert both_ends(compose((vector, 3)).parts, F(1, 10)) is None
    found = tradeoff(compose((vector, 3)), alpha="0.1")
    assert found.hi == F("0.9")
    assert found.lo > F("0.6")


def test_ends_of_alpha():
    one = spelled("60 * laplace(epsilon=0.1)")
    assert tradeoff(one, alpha=1) == Enclosure.exactly(0)
    assert tradeoff(one, alpha=0) == Enclosure.exactly(1)
    assert F("0.98") <= tradeoff(spelled("2 * approximate(epsilon=1, delta=0.01)"), alpha=0).lo <= F("0.99")


def test_advantage_and_risk_of_many_have_both_ends():
    one = spelled("60 * laplace(epsilon=0.1)")
    found = advantage(one)
    assert 0 < found.width < F(1, 10**3)
    risk = bayes_risk(one, prior="1/2")
    assert risk == Enclosure((1 - found.hi) / 2, (1 - found.lo) / 2)
    assert bayes_risk(one, prior="1/10").hi < F(1, 10)


def test_many_in_words():
    said = explain_loss(spelled("60 * laplace(epsilon=0.1)"), delta="1e-6", prior="0.01")
    words = str(said)
    assert "changes anybody's odds at most" in words
    assert "except with probability 0.000001" in words
    assert "of 100 guesses" in words.lower()
    assert said.right < F(7, 10)
    assert F(1, 20) < said.found < F(3, 10)
