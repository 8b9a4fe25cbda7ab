"""Closed forms of composition against values of 60 digits (exact.csv), sums worked by hand, and laws."""

from __future__ import annotations

import csv
import itertools
import json
import math
from fractions import Fraction as F
from pathlib import Path

import pytest

from dpcurator.accounting.closed.advanced import advanced_epsilon
from dpcurator.accounting.closed.bounded_range import gain, range_epsilon
from dpcurator.accounting.closed.bounds import METHODS, split, upper_bounds, upper_deltas
from dpcurator.accounting.closed.pure import optimal_delta, optimal_epsilon
from dpcurator.accounting.composition import Composition
from dpcurator.accounting.convert import group_renyi, pure_rho, renyi_delta, renyi_epsilon
from dpcurator.accounting.rounding import down, up
from dpcurator.errors import Refusal
from dpcurator.numbers.enclosure import bracket
from dpcurator.privacy import zcdp
from dpcurator.privacy.loss import Loss

TABLE = list(csv.DictReader((Path(__file__).parent / "exact.csv").read_text("utf-8").splitlines()))
NEAR = 1e-10  # how far a rounded-up epsilon of 12 figures may be above


def rows(name, quantity=None):
    """(parameters, value) of the exact rows of one kind."""
    found = [
        ({key: F(str(part)) for key, part in json.loads(row["parameters"]).items()}, float(row["value"]))
        for row in TABLE
        if row["name"] == name and quantity in (None, row["quantity"])
    ]
    assert found
    return found


def loss(family, **given):
    return Loss(family, tuple((name, F(value)) for name, value in given.items()))


def bounds(*parts, delta, **how):
    return dict(upper_bounds(tuple(parts), delta, **how))


def pure(epsilon):
    return loss("pure", epsilon=epsilon)


def just_above(found, right):
    return right * (1 - 1e-13) <= float(found) <= right * (1 + NEAR)


@pytest.mark.parametrize(("given", "right"), rows("rr_kfold_KOV", "eps"))
def test_optimal_composition_of_pure_mechanisms(given, right):
    assert just_above(optimal_epsilon(given["eps0"], int(given["k"]), given["delta"]), right)


@pytest.mark.parametrize(("given", "right"), rows("rr_kfold_KOV", "delta"))
def test_its_delta_at_any_epsilon_not_at_multiples_alone(given, right):
    found = optimal_delta(given["eps0"], int(given["k"]), given["eps"])
    assert float(found.lo) == pytest.approx(right, rel=1e-12)
    assert found.width <= found.lo / 2**60


@pytest.mark.parametrize(
    ("epsilon", "count", "eps"), [("1/2", 1, "0"), ("1/3", 4, "0.7"), ("2", 5, "3.99"), ("1", 6, "2")]
)
def test_optimal_delta_is_the_sum_over_all_coins(epsilon, count, eps):
    """Every sequence of coins by itself, in floats."""
    e, at = float(F(epsilon)), float(F(eps))
    p, total = 1 / (1 + math.exp(-e)), 0.0
    for coins in itertools.product((0, 1), repeat=count):
        heads = sum(coins)
        first, second = p**heads * (1 - p) ** (count - heads), (1 - p) ** heads * p ** (count - heads)
        total += max(first - math.exp(at) * second, 0)
    assert float(optimal_delta(F(epsilon), count, F(eps)).hi) == pytest.approx(total, rel=1e-12)


@pytest.mark.parametrize(("epsilon", "count"), [("0.1", 1), ("0.1", 37), ("3", 8), ("0.001", 10**5), ("40", 1000)])
@pytest.mark.parametrize("delta", ["0.3", "1e-6", "1e-30"])
def test_optimal_epsilon_has_the_delta_and_a_little_less_has_not(epsilon, count, delta):
    found = optimal_epsilon(F(epsilon), count, F(delta))
    assert optimal_delta(F(epsilon), count, found).hi <= F(delta)
    if found > 0:
        assert optimal_delta(F(epsilon), count, found * (1 - F(1, 10**10))).lo > F(delta)
    assert 0 <= found <= count * F(epsilon)


def test_optimal_at_the_ends():
    assert optimal_epsilon(F(1), 10, F(0)) == 10
    assert optimal_epsilon(F(1), 1, F("0.99")) == 0
    assert optimal_epsilon(F(0), 5, F(0)) == 0
    assert optimal_epsilon(F(1000), 100, F("1e-6")) == F("99999.999999")
    assert optimal_delta(F(1), 3, F(3)).hi == 0


@pytest.mark.parametrize(("given", "right"), rows("advanced_composition_DworkRothBest"))
def test_advanced_composition_has_its_logarithm(given, right):
    assert just_above(advanced_epsilon([(pure(given["eps0"]), int(given["k"]))], given["delta"]), right)


@pytest.mark.parametrize(("given", "right"), rows("basic_composition"))
def test_the_sum_is_exact(given, right):
    assert bounds((pure(given["eps0"]), int(given["k"])), delta=0)["sum"] == given["eps0"] * given["k"] == F(str(right))


@pytest.mark.parametrize(("given", "right"), rows("zcdp_of_pure_eps2/2_CKS"))
def test_pure_as_rho(given, right):
    """eps**2/2 is the known conversion; e tanh(e/2) is the least, and never more."""
    part, k, delta = pure(given["eps0"]), int(given["k"]), given["delta"]
    assert just_above(zcdp.epsilon_of(k * part.rho(), delta), right)
    assert float(bounds((part, k), delta=delta)["zcdp"]) <= right * (1 + NEAR)


@pytest.mark.parametrize(("given", "right"), rows("expmech_bounded_range_zcdp_eps2/8_CKS"))
def test_a_bounded_range_by_its_rho(given, right):
    assert just_above(
        bounds((loss("bounded_range", epsilon=given["eps0"]), int(given["k"])), delta="1e-6")["zcdp"], right
    )


@pytest.mark.parametrize(("given", "right"), rows("expmech_bounded_range_DDR20_nonadaptive"))
def test_bounded_ranges_that_do_not_adapt(given, right):
    part = (loss("bounded_range", epsilon=given["eps0"]), int(given["k"]))
    found = bounds(part, delta=given["delta"], adaptive=False)["bounded range"]
    assert right * (1 - 1e-13) <= float(found) <= right * (1 + 1e-9)
    assert "bounded range" not in bounds(part, delta=given["delta"])


@pytest.mark.parametrize(
    ("epsilon", "count", "eps"), [("1", 2, "0.5"), ("2", 3, "1"), ("1/2", 3, "0"), ("3", 2, "3.5")]
)
def test_no_coins_of_any_t_lose_more_than_equal_ones(epsilon, count, eps):
    """All t on a grid, one for each mechanism, by adding up all outcomes; the stated l and t attain the most."""
    e, at, grid = float(F(epsilon)), float(F(eps)), [i / 12 for i in range(13)]
    most = 0.0
    for parts in itertools.combinations_with_replacement(grid, count):
        outcomes = [(1.0, 1.0)]
        for part in parts:
            t = part * e
            p = (math.exp(e) - math.exp(t)) / (math.exp(e) - 1)
            q = math.exp(-t) * p
            outcomes = [(a * x, b * y) for a, b in outcomes for x, y in ((p, q), (1 - p, 1 - q))]
        most = max(most, sum(max(a - math.exp(at) * b, 0) for a, b in outcomes))
    best = 0.0
    for events in range(count + 1):
        t = (F(eps) + (events + 1) * F(epsilon)) / (count + 1)
        if t < F(epsilon):
            best = max(best, float(bracket(gain(F(epsilon), count, F(eps), t, events)).hi))
    assert most <= best * (1 + 1e-12)
    assert most >= best * 0.97


def test_a_range_of_one_is_its_own_curve():
    part = loss("bounded_range", epsilon=1)
    assert float(range_epsilon(F(1), 1, F("1e-3"))) == pytest.approx(float(part.epsilon("1e-3")), rel=1e-9)
    assert range_epsilon(F(1), 5, F(0)) == 5
    assert range_epsilon(F(1), 1, F("0.99")) == 0


@pytest.mark.parametrize(("given", "right"), rows("gauss_kfold"))
def test_gaussians_are_one_gaussian(given, right):
    part = loss("gaussian", variance=given["sigma"] ** 2, shift=1)
    found = bounds((part, int(given["k"])), delta=given["delta"])
    assert just_above(found["gaussian"], right)
    assert min(found.values()) == found["gaussian"]


def test_gaussians_of_several_sizes():
    """mu of 3/10 and 4/10 make 1/2."""
    found = bounds(
        (loss("gaussian", variance=1, shift="0.3"), 1), (loss("gaussian", variance=100, shift=4), 1), delta="1e-6"
    )
    assert found["gaussian"] == loss("gaussian", variance=4, shift=1).epsilon("1e-6")


@pytest.mark.parametrize(("given", "right"), rows("discrete_gauss_1fold", "eps"))
def test_one_release_has_its_own_curve(given, right):
    assert just_above(
        bounds((loss("discrete_gaussian", variance=given["sigma"] ** 2, shift=1), 1), delta="1e-6")["own curve"], right
    )


@pytest.mark.parametrize(("given", "right"), rows("zcdp_to_eps_CKS20"))
def test_rho_in_epsilon(given, right):
    """rho of a vector of discrete Gaussian noise, whose curve is not known."""
    part = loss("discrete_gaussian_vector", variance=1 / (2 * given["rho"]), l2_squared=1)
    found = bounds((part, 1), delta=given["delta"])
    assert just_above(found["zcdp"], right)
    assert just_above(found["renyi"], right)
    assert set(found) == {"zcdp", "renyi"}


@pytest.mark.parametrize(("given", "right"), rows("zcdp_to_delta_CKS20"))
def test_rho_in_delta(given, right):
    assert float(zcdp.delta_of(given["rho"], given["eps"])) == pytest.approx(right, rel=1e-9)


def test_renyi_by_a_continuous_order():
    """5,455 on a fixed grid of orders, 5,350.04 at the best one; and above the sum never."""
    lap = loss("laplace", scale=10, shift=1)
    assert float(bounds((lap, 10**6), delta="1e-6")["renyi"]) == pytest.approx(5350.0414, abs=1e-3)
    assert float(bounds((lap, 1000), delta="1e-6")["renyi"]) == pytest.approx(20.0396, abs=1e-4)
    gauss = loss("gaussian", variance=10**6, shift=1)
    assert float(bounds((gauss, 1), delta="1e-6")["renyi"]) < 0.00308  # .006264 where the largest order is too small


def test_mixed_losses():
    """10 Laplace(.1) and 10 Gaussian(10): 1.9011582 is right, 2.0234 by Renyi, 2.1419 by rho with eps**2/2."""
    found = bounds(
        (loss("laplace", scale=10, shift=1), 10), (loss("gaussian", variance=100, shift=1), 10), delta="1e-6"
    )
    assert all(epsilon > F("1.9011582") for epsilon in found.values())
    assert float(found["renyi"]) == pytest.approx(2.02330, abs=1e-4)
    assert float(found["zcdp"]) < 2.14194
    assert float(found["sum"]) == pytest.approx(1 + 1.3675714750843067, rel=1e-10)


def test_deltas_add_up_and_are_not_taken_by_the_greatest():
    ten, eleven = ((loss("approximate", epsilon="0.1", delta="1e-7"), k) for k in (10, 11))
    assert bounds(ten, delta="1e-6")["sum"] == 1
    assert bounds(eleven, delta="1e-6") == {}  # their deltas make 1.1e-6
    assert bounds((loss("approximate", epsilon=1, delta="1e-6"), 1), delta="1e-6") == {"sum": 1, "own curve": 1}
    hundred = bounds((loss("approximate", epsilon="0.1", delta="1e-9"), 100), delta="1e-6")
    assert pytest.approx(4.7877, abs=1e-4) == float(hundred["optimal"])


def test_what_may_reveal_everything_is_set_apart():
    half, other = loss("approximate", epsilon=1, delta="1/2"), loss("approximate", epsilon=2, delta="1/4")
    infinite, parts = split(((half, 2), (other, 1), (pure(0), 3)))
    assert 0 <= infinite - (1 - F(3, 16)) <= F(1, 2**60)
    assert set(parts) == {(pure(1), 2), (pure(2), 1)}


EXAMPLES = [
    (pure("0.3"), 7),
    (loss("laplace", scale=2, shift=1), 3),
    (loss("discrete_laplace", scale=3, shift=2), 4),
    (loss("gaussian", variance=9, shift=1), 5),
    (loss("discrete_gaussian", variance=9, shift=1), 5),
    (loss("discrete_gaussian_vector", variance=9, l2_squared=2), 5),
    (loss("bounded_range", epsilon="0.4"), 6),
    (loss("randomised_response", truth="3/5", lie="2/5"), 9),
    (loss("unary_encoding", p="1/2", q="1/4"), 3),
    (loss("approximate", epsilon="0.2", delta="1e-8"), 4),
]


@pytest.mark.parametrize("part", EXAMPLES, ids=lambda part: part[0].family)
@pytest.mark.parametrize("delta", ["1e-2", "1e-6", "1e-20"])
def test_more_releases_cost_more_by_every_method(part, delta):
    """And nothing is below 0, or says less for more delta."""
    one, more = (bounds((part[0], k), delta=delta) for k in (part[1], part[1] + 2))
    wider = bounds((part[0], part[1]), delta=F(delta) * 2)
    assert one or delta == "1e-20"
    for name in set(one) & set(more):
        assert 0 <= one[name] <= more[name], name
        assert wider[name] <= one[name], name


@pytest.mark.parametrize(
    "part", [part for part in EXAMPLES if "vector" not in part[0].family], ids=lambda part: part[0].family
)
def test_every_method_is_above_the_loss_of_one_release(part):
    """The exact curve of a single one is below every bound for it. (A vector's curve is not known.)"""
    least = part[0].epsilon("1e-6")
    for name, epsilon in bounds((part[0], 1), delta="1e-6").items():
        assert epsilon >= least * (1 - F(1, 10**11)), name
        assert part[0].delta(epsilon).hi <= F("1e-6"), name


@pytest.mark.parametrize("count", [2, 3, 5])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "4"])
@pytest.mark.parametrize("name", [name for name in METHODS if name not in ("own curve", "gaussian")])
def test_no_method_is_below_the_truth_for_coins(name, epsilon, count):
    """For randomised response the optimal composition is the truth itself; every other bound is at least that."""
    for delta in ("0.1", "1e-3", "1e-9"):
        found = METHODS[name].epsilon(((pure(epsilon), count),), F(delta))
        assert optimal_delta(F(epsilon), count, found).lo <= F(delta), delta


def test_a_bound_that_is_too_small_would_be_found():
    """Without its logarithm, or with the greatest of the deltas, a bound falls below the truth."""
    k, e, delta = 100, F("0.1"), F("1e-6")
    faulty = k * float(e) * math.tanh(0.05) + float(e) * math.sqrt(2 * k)
    assert optimal_delta(e, k, F(faulty)).lo > delta


@pytest.mark.parametrize("epsilon", ["0.01", "0.5", "1", "3", "20"])
def test_pure_rho_is_above_every_order_and_attained_near_1(epsilon):
    rho, coin = pure_rho(epsilon), pure(epsilon)
    for alpha in ("1.0001", "1.1", "1.5", "2", "3", "10", "100", "10000"):
        assert coin.renyi(F(alpha)).hi <= F(alpha) * rho
    assert coin.kl().lo <= rho <= coin.kl().hi * (1 + F(1, 2**80))
    assert rho <= F(epsilon) ** 2 / 2


def test_renyi_conversion_there_and_back():
    for divergence, alpha, delta in (("0.5", "5", "1e-6"), ("2", "1.5", "1e-3"), ("0.01", "64", "1e-12")):
        eps = renyi_epsilon(divergence, alpha=alpha, delta=delta)
        assert renyi_delta(divergence, alpha=alpha, epsilon=eps).hi <= F(delta)
        assert renyi_delta(divergence, alpha=alpha, epsilon=eps * (1 - F(1, 10**10))).lo > F(delta)
    assert renyi_epsilon("1e-9", alpha=2, delta="0.9") == 0
    assert renyi_delta(0, alpha=2, epsilon=0).hi == 0
    assert renyi_delta("1e300", alpha=2, epsilon=0).lo == 1
    with pytest.raises(Refusal):
        renyi_epsilon(1, alpha=1, delta="1e-6")
    with pytest.raises(Refusal):
        renyi_epsilon(1, alpha=2, delta=0)


@pytest.mark.parametrize(("given", "right"), rows("group_privacy_tight_delta*"))
def test_groups_of_the_approximate(given, right):
    group = loss("approximate", epsilon=given["eps"], delta=given["delta"]).for_group(int(given["group"]))
    assert group["epsilon"] == given["eps"] * given["group"]
    assert float(group["delta"]) == pytest.approx(right, rel=1e-12)


@pytest.mark.parametrize("size", [1, 2, 4, 8])
def test_groups_by_renyi_hold_for_gaussian_noise(size):
    """Gaussian noise has size**2 times the divergence at every order; the rule says 3**c at a smaller order."""
    for alpha in (F(16), F(64)):
        order, divergence = group_renyi(alpha * F(1, 8), alpha=alpha, size=size)
        assert order == alpha / size
        assert divergence >= order * F(1, 8) * size**2
    with pytest.raises(Refusal):
        group_renyi(1, alpha=16, size=3)
    with pytest.raises(Refusal):
        group_renyi(1, alpha=16, size=16)


def test_rounding_is_to_the_safe_side():
    assert up(F(1, 3)) == F("0.333333333334")
    assert up(F("0.1")) == F("0.1")
    assert up(F(-1)) == 0
    assert up(F(1, 10**40)) == F(1, 10**30)
    assert down(F(2, 3)) < F(2, 3) < down(F(2, 3)) + F(1, 10**17)


@pytest.mark.parametrize("delta", [1, -1, "nan", "2", None])
def test_bad_deltas_are_refused(delta):
    with pytest.raises(Refusal):
        upper_bounds(((pure(1), 1),), delta)


@pytest.mark.parametrize("part", EXAMPLES, ids=lambda part: part[0].family)
@pytest.mark.parametrize("delta", ["1e-2", "1e-6"])
def test_deltas_are_the_same_methods_the_other_way_round(part, delta):
    """At a method's epsilon its delta is met, and a little below it is not (but for 0 and sums)."""
    together = Composition((part,))
    infinite, _ = split(together.parts)
    for name, epsilon in upper_bounds(together.parts, delta):
        there = dict(upper_deltas(together.parts, epsilon))
        assert name not in there or there[name] <= F(delta), name
        assert name in there or (name == "sum" and epsilon != part[1]), name
        if name not in ("sum", "zcdp") and epsilon > 0:
            less = epsilon * (1 - F(1, 10**5))
            assert dict(upper_deltas(together.parts, less)).get(name, F(1)) > F(delta) * F("0.99"), name
    assert all(infinite <= value <= 1 for _, value in upper_deltas(together.parts, 0))
    with pytest.raises(Refusal):
        upper_deltas(together.parts, -1)


def test_no_delta_leaves_the_pure_sum_and_no_release_costs_nothing():
    assert bounds((pure("0.1"), 10), delta=0) == {"sum": 1}
    assert bounds((loss("gaussian", variance=1, shift=1), 1), delta=0) == {}
    assert set(bounds(delta="1e-6").values()) == {F(0)}
    assert bounds((loss("gaussian", variance=1, shift=0), 5), delta="1e-6")["gaussian"] == 0


@pytest.mark.parametrize(
    "parts",
    [
        ((pure("0.4"), 5), (loss("laplace", scale=3, shift=1), 2)),
        ((loss("gaussian", variance=20, shift=1), 4), (loss("bounded_range", epsilon="0.7"), 3)),
        (
            (loss("approximate", epsilon="0.2", delta="1e-8"), 6),
            (loss("randomised_response", truth="3/5", lie="1/5"), 2),
        ),
        ((loss("discrete_laplace", scale=4, shift=3), 3),),
    ],
)
def test_no_method_is_below_the_certified_lower_end_of_mixed_losses(parts):
    for delta in ("1e-2", "1e-6"):
        together = Composition(parts)
        lower = together.bracket(delta=delta, accuracy="1e-2").lower
        assert lower > 0
        assert all(epsilon >= lower for _, epsilon in upper_bounds(together.parts, delta))
