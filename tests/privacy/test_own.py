"""Losses of one's own: deltas and divergences by direct sums, hulls by brute force, samples by the mixed pmfs, what is
refused with which cure, and one rounding turned over that is found."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction as F
from itertools import pairwise, product
from random import Random
from typing import Any

import pytest
from losses import meet

import dpcurator as dp
from dpcurator.numbers import exp_neg
from dpcurator.privacy.families import finite, profile

COIN = dp.two_pmfs(["3/4", "1/4"], ["1/4", "3/4"])
SKEW = ([F(1, 2), F(1, 3), F(1, 6)], [F(1, 4), F(1, 4), F(1, 2)])
THREE = dp.two_pmfs(*SKEW)


def delta_of(p: list[F], q: list[F], eps: F) -> float:
    return sum(max(float(a) - math.exp(eps) * float(b), 0.0) for a, b in zip(p, q, strict=True))


def pmfs(random: Random, n: int, *, holes: bool) -> tuple[list[F], list[F]]:
    made = []
    for _ in range(2):
        weights = [random.choice([0, 1, 2, 3, 7]) if holes else random.randint(1, 9) for _ in range(n)]
        weights[0] += 1
        made.append([F(weight, sum(weights)) for weight in weights])
    return made[0], made[1]


@pytest.mark.parametrize("seed", range(20))
def test_two_pmfs_have_the_deltas_and_divergences_of_the_sums(seed: int) -> None:
    random = Random(seed)
    p, q = pmfs(random, random.randint(1, 6), holes=seed % 2 == 0)
    loss = dp.two_pmfs(p, q)
    for eps in (F(0), F(1, 7), F(1), F(3)):
        for way, (one, other) in (("forward", (p, q)), ("backward", (q, p))):
            assert float(loss.delta_of(way, eps).hi) == pytest.approx(delta_of(one, other, eps), abs=1e-12)
    infinite = any((a == 0) != (b == 0) for a, b in zip(p, q, strict=True))
    if infinite:
        with pytest.raises(dp.Refusal, match="may be infinite"):
            loss.pure_epsilon()
        return
    kept = [(float(a), float(b)) for a, b in zip(p, q, strict=True) if a]
    assert float(loss.pure_epsilon()) == pytest.approx(max(abs(math.log(a / b)) for a, b in kept), abs=1e-12)
    for order in (1.5, 2.0, 7.0):
        both = [math.log(sum(x**order * y ** (1 - order) for x, y in side)) / (order - 1)
                for side in (kept, [(b, a) for a, b in kept])]  # fmt: skip
        assert float(loss.renyi(order).hi) == pytest.approx(max(both), abs=1e-12)
    both = [sum(x * math.log(x / y) for x, y in side) for side in (kept, [(b, a) for a, b in kept])]
    assert float(loss.kl().hi) == pytest.approx(max(both), abs=1e-12)


@pytest.mark.parametrize("seed", [3, 4, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(10, 22))])
def test_their_bracket_holds_the_direct_sum_of_the_worse_direction(seed: int) -> None:
    random = Random(seed)
    p, q = pmfs(random, 3, holes=seed % 2 == 0)
    loss, eps, rate = dp.two_pmfs(p, q), F(random.randint(0, 4), 8), F(1, 4)
    mixed = [(1 - rate) * b + rate * a for a, b in zip(p, q, strict=True)]
    for one, first in ((loss, p), (loss.sampled(poisson=rate), mixed)):
        found = dp.compose((one, 3)).bracket(epsilon=eps, accuracy="1e-2", seconds=2)
        both = []
        for x, y in ((first, q), (q, first)):
            rows = list(product(zip(x, y, strict=True), repeat=3))
            both.append(delta_of([math.prod(a for a, _ in row) for row in rows],
                                 [math.prod(b for _, b in row) for row in rows], eps))  # fmt: skip
        assert float(found.lower) <= max(both) + 1e-12
        assert float(found.upper) >= max(both) - 1e-12
        assert float(found.upper - found.lower) <= 3e-2 * max(both) + 1e-3


def test_a_sample_of_two_pmfs_is_their_mixture() -> None:
    rate = F(1, 10)
    sample = THREE.sampled(poisson=rate)
    mixed = dp.two_pmfs([(1 - rate) * b + rate * a for a, b in zip(*SKEW, strict=True)], SKEW[1])
    for way in ("forward", "backward"):
        for eps in (F(0), F(1, 50), F(1, 10), F(1)):
            assert meet(sample.delta_of(way, eps), mixed.delta_of(way, eps))
    with pytest.raises(dp.Refusal):
        THREE.sampled(fixed_size=rate)  # the pair is not symmetric


def test_a_coin_is_randomised_response_and_composes_as_it() -> None:
    other = dp.Loss("randomised_response", truth="3/4", lie="1/4")
    assert meet(COIN.delta("1/2"), other.delta("1/2"))
    assert meet(COIN.renyi(3), other.renyi(3))
    one, two = (dp.compose((loss, 20)).bracket(delta="1e-3", accuracy="1e-2") for loss in (COIN, other))
    assert max(one.lower, two.lower) <= min(one.upper, two.upper)
    assert one.upper <= dp.compose((COIN, 20)).bracket(delta=0).upper


def test_what_is_rounded_down_dominates_and_the_rest_is_infinite() -> None:
    rounded = dp.two_pmfs(["0.499", "0.333", "0.166"], ["0.249", "0.249", "0.499"], missing="infinite")
    for eps in (F(0), F(1, 3), F(1), F(5)):
        assert rounded.delta(eps).lo >= THREE.delta(eps).lo
    assert rounded.delta(20).hi == F(3, 1000)
    with pytest.raises(dp.Refusal, match="No epsilon"):
        dp.compose((rounded, 4)).epsilon(delta="1e-2")
    assert dp.compose((rounded, 4)).bracket(delta="0.05", accuracy="1e-2").upper < F("4.4")


def test_a_loss_distribution_is_the_sum_and_attains_nothing() -> None:
    xs, masses = [F(-1), F(0), F(1)], [F(1, 5), F(1, 5), F(59, 100)]
    loss = dp.loss_distribution(xs, masses, rounding="pessimistic", backward="same")
    for eps in (F(0), F(1, 2), F(3)):
        right = 0.01 + sum(float(m) * max(1 - math.exp(eps - x), 0) for x, m in zip(xs, masses, strict=True))
        assert float(loss.delta(eps).hi) == pytest.approx(right, abs=1e-14)
    found = dp.compose((loss, 2)).bracket(epsilon="1/2", accuracy="1e-3")
    pairs = [(0.2 if x == -1 else 0.2 if x == 0 else 0.59, float(x)) for x in xs]
    right = 1 - 0.99**2 + sum(m * n * max(1 - math.exp(0.5 - x - y), 0) for m, x in pairs for n, y in pairs)
    assert right - 1e-12 <= float(found.upper) <= right * 1.003
    assert found.lower == 0
    with_noise = dp.compose(loss, dp.Loss("laplace", scale=1, shift=1)).bracket(epsilon="1/2", accuracy="1e-3")
    assert 0 < with_noise.lower <= dp.Loss("laplace", scale=1, shift=1).delta("1/2").hi  # that of the noise alone


def test_losses_rounded_down_are_moved_up() -> None:
    """Laplace losses rounded down to a grid: taken for pessimistic they are below the truth, with their width above."""
    right, h = dp.Loss("laplace", scale=1, shift=1), F(1, 10)
    law = right.distribution()
    cells = [law.cell(i * h - h, i * h)[0].lo for i in range(-10, 11)]
    down = [i * h - h for i in range(-10, 11)]
    kept = dp.loss_distribution(down, cells, rounding="optimistic", width=h, backward="same")
    for eps in (F(0), F(1, 3), F(9, 10)):
        assert kept.delta(eps).hi >= right.delta(eps).lo
    naive = sum(float(m) * max(1 - math.exp(-x), 0) for x, m in zip(down, cells, strict=True))
    assert naive < float(right.delta(0).lo)


def test_what_doubles_add_up_to_beyond_1_is_taken_care_of() -> None:
    loss = dp.loss_distribution([0, 1], ["0.5", "0.5000001"], rounding="pessimistic", backward="same")
    assert float(loss["mass1"]) == 0.5000001
    assert loss["mass0"] + loss["mass1"] == 1
    moved = dp.loss_distribution(["-0.693148", "0.405465"], [F(1, 4), F(3, 4)], rounding="pessimistic", backward="same")
    assert 0 < moved["loss1"] - F("0.405465") < F(1, 10**5)


def hull(epsilons: list[F], deltas: list[F], eps: float) -> float:
    """The lower convex hull of all points and their mirrors, by all chords."""
    points = [(0.0, 1.0), (1e9, float(deltas[-1]))]
    for e, d in zip(epsilons, deltas, strict=True):
        points += [(math.exp(e), float(d)), (math.exp(-e), 1 - math.exp(-e) * (1 - float(d)))]
    at = math.exp(eps)
    chords = [y1 + (y2 - y1) * (at - x1) / (x2 - x1) for x1, y1 in points for x2, y2 in points if x1 < at <= x2]
    return min(chords)


@pytest.mark.parametrize("seed", range(20))
def test_a_profile_is_the_hull_of_its_pairs(seed: int) -> None:
    random = Random(seed)
    n = random.randint(1, 6)
    epsilons = sorted({F(random.randint(0, 30), 10) for _ in range(n)})
    deltas = sorted((F(random.randint(1, 400), 1000) for _ in epsilons), reverse=True)
    loss = dp.privacy_profile(zip(epsilons, deltas, strict=True))
    for eps in (F(0), F(1, 20), F(1), F(31, 20), F(4)):
        assert float(loss.delta(eps).hi) == pytest.approx(hull(epsilons, deltas, float(eps)), abs=1e-8)
        assert loss.delta(eps).lo <= loss.distribution().delta(eps).hi
    for eps, delta in zip(epsilons, deltas, strict=True):
        assert loss.delta(eps).lo <= delta


def test_one_pair_is_approximate_and_slack_pairs_change_nothing() -> None:
    one = dp.privacy_profile({1: "1e-3"})
    other = dp.Loss("approximate", epsilon=1, delta="1e-3")
    assert all(meet(one.delta(eps), other.delta(eps)) for eps in (F(0), F(1, 2), F(2)))
    assert dp.compose((one, 5)).epsilon(delta="0.02") == dp.compose((other, 5)).epsilon(delta="0.02")
    slack = dp.privacy_profile({"0.5": "0.9", 1: "1e-3", 2: "2e-3"})
    assert slack.delta("0.3") == one.delta("0.3")
    gaussian = dp.Loss("gaussian", sigma=2)
    many = dp.privacy_profile((eps, gaussian.delta(eps).hi) for eps in (F(i, 4) for i in range(16)))
    found = dp.compose((many, 2)).bracket(epsilon=1, accuracy="1e-2")
    assert gaussian.delta(1).lo < found.upper
    assert dp.compose((gaussian, 2)).bracket(epsilon=1).lower <= found.upper
    assert found.upper <= dp.compose((gaussian, 2)).bracket(epsilon=1).upper * F(3, 2)


def test_zcdp_adds_up_as_rho_and_a_shift_and_is_filtered() -> None:
    loss = dp.Loss("zcdp", rho="0.1", xi="0.05")
    assert (loss.rho(), loss.renyi(4).hi, loss.for_group(2).rho()) == (F(3, 20), F(45, 100), F(3, 5))
    plain = dp.Loss("zcdp", rho="0.1")
    gaussian = dp.Loss("gaussian", variance=5, shift=1)  # of rho 0.1
    assert dp.compose((plain, 5)).epsilon(delta="1e-6") == dict(bounds(gaussian, 5))["zcdp"]
    as_rho = dp.compose((dp.Loss("zcdp", rho="0.15"), 5))
    assert dp.compose((loss, 5)).epsilon(delta="1e-6") < as_rho.epsilon(delta="1e-6")
    budget = dp.ZcdpFilter(rho=1)
    budget.spend(loss)
    assert budget.remaining["rho"] == F(17, 20)
    with pytest.raises(dp.Refusal, match="distribution"):
        loss.sampled(poisson="0.1")


@pytest.mark.slow
def test_a_curve_has_a_trade_off_by_its_deltas_and_never_as_if_nothing_were_lost() -> None:
    gaussian = dp.Loss("gaussian", sigma=4)
    few = dp.renyi_curve({2: gaussian.renyi(2).hi, 12: gaussian.renyi(12).hi})
    assert 0.2 < float(dp.tradeoff(few, alpha="0.05").lo) <= float(dp.tradeoff(gaussian, alpha="0.05").hi)


def bounds(loss: dp.Loss, count: int) -> list[tuple[str, F]]:
    from dpcurator.accounting.closed.bounds import upper_bounds

    return upper_bounds(((loss, count),), F("1e-6"))


def test_a_curve_of_divergences_reproduces_what_it_was_read_from() -> None:
    gaussian = dp.Loss("gaussian", sigma=4)
    orders = [F(i, 2) for i in range(3, 60)]
    curve = dp.renyi_curve((order, gaussian.renyi(order).hi) for order in orders)
    assert curve.renyi("2.6").hi >= gaussian.renyi("2.6").lo
    assert float(curve.renyi("2.6").hi) == pytest.approx(float(gaussian.renyi("2.6").hi), rel=1e-2)
    exact, read = dict(bounds(gaussian, 10))["renyi"], dict(bounds(curve, 10))["renyi"]
    assert exact <= read <= exact * F(1001, 1000)
    assert dict(bounds(dp.renyi_curve({2: 1}), 1))["renyi"] > 10  # one order, and nothing beyond it
    budget = dp.RenyiFilter(alpha=8, epsilon=1)
    budget.spend(curve)
    assert budget.remaining["divergence"] == 1 - curve.renyi(8).hi
    with pytest.raises(dp.Refusal, match="Renyi"):
        dp.RenyiFilter(alpha=500, epsilon=1).spend(curve)
    mixed = dp.compose(curve, (dp.Loss("laplace", scale=10, shift=1), 3))
    assert mixed.epsilon(delta="1e-6") >= dp.compose((gaussian, 1), (dp.Loss("laplace", scale=10, shift=1), 3)).bracket(
        delta="1e-6").lower  # fmt: skip


@pytest.mark.parametrize("loss", [
    THREE, dp.privacy_profile({0: "0.3", 2: "1e-3"}), dp.renyi_curve({2: 1}), dp.Loss("zcdp", rho=1),
    dp.loss_distribution([-1, 1], ["1/4", "1/2"], rounding="pessimistic", backward="exchanged"),
], ids=lambda one: one.family)  # fmt: skip
def test_they_are_data_like_the_rest(loss: dp.Loss) -> None:
    assert dp.Loss.from_json(loss.as_json()) == loss
    assert dp.Composition.from_json(dp.compose((loss, 3)).as_json()).parts == ((loss, 3),)
    assert loss.reversed.reversed == loss
    assert str(loss.worst_pair())
    if loss.family not in ("renyi",):
        assert loss.for_group(2)


@pytest.mark.parametrize(("make", "words"), [
    (lambda: dp.two_pmfs([0.5, 0.4], [0.5, 0.5]), "add up to 0.9"),
    (lambda: dp.two_pmfs([0.5, 0.6], [0.5, 0.5], missing="infinite"), "more than 1"),
    (lambda: dp.two_pmfs([1], [0.5, 0.5]), "1 probabilities under P and 2"),
    (lambda: dp.two_pmfs({"a": 1}, [1]), "mapping"),
    (lambda: dp.two_pmfs([], []), "empty"),
    (lambda: dp.two_pmfs([1.5, -0.5], [0.5, 0.5]), "between 0 and 1"),
    (lambda: dp.two_pmfs([1], [1], missing="none"), "missing"),  # type: ignore[arg-type]
    (lambda: dp.loss_distribution([0], [1], rounding="up", backward="same"), "rounding"),  # type: ignore[arg-type]
    (lambda: dp.loss_distribution([0], [1], rounding="nearest", backward="same"), "width"),
    (lambda: dp.loss_distribution([1, 0], [0.5, 0.5], rounding="pessimistic", backward="same"), "do not rise"),
    (lambda: dp.loss_distribution([-1, 1], [0.5, 0.5], rounding="pessimistic", backward="same"), "no losses of a pair"),
    (lambda: dp.loss_distribution([1], [1.2], rounding="pessimistic", backward="same"), "between 0 and 1"),
    (lambda: dp.loss_distribution([1], [0.5], rounding="pessimistic", backward=None), "backward"),  # type: ignore
    (lambda: dp.loss_distribution([1], [0.5], rounding="pessimistic", backward="no"), "backward"),  # type: ignore
    (lambda: dp.privacy_profile([(1, 0.1), (1, 0.2)]), "two deltas"),
    (lambda: dp.privacy_profile({}), "no epsilon"),
    (lambda: dp.privacy_profile({1: 1}), "below 1"),
    (lambda: dp.renyi_curve({1: 1}), "above 1"),
    (lambda: dp.renyi_curve({2: 1}).renyi(3), "beyond order 2"),
    (lambda: dp.renyi_curve({2: 1}).for_group(2), "group"),
])  # fmt: skip
def test_what_is_no_loss_is_refused(make: Callable[[], Any], words: str) -> None:
    with pytest.raises(dp.Refusal, match=words):
        make()


def test_a_hull_or_a_sum_turned_over_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slopes compared the other way make a hull that is too low; the rest of P counted as nothing, deltas too small."""
    right = dp.privacy_profile({"0.5": "0.2", 1: "0.1", 2: "0.01"})
    before = right.delta("1/4").lo
    monkeypatch.setattr(profile, "_after", lambda found, i: profile._before(found, i) + 1)  # every corner is kept
    slack = dp.privacy_profile({"0.5": "0.2", 1: "0.199", 2: "0.01"})
    kept = [eps for eps, _ in profile._corners(slack.given)]
    assert kept == [F(1, 2), F(1), F(2)]
    monkeypatch.undo()
    assert [eps for eps, _ in profile._corners(slack.given)] == [F(1, 2), F(2)]
    assert right.delta("1/4").lo == before
    with monkeypatch.context() as patched:
        patched.setattr(finite.Finite, "tails", lambda self, place, bits: (finite.ball(0), finite.ball(0)))
        with pytest.raises((AssertionError, dp.Refusal)):
            assert dp.two_pmfs(["0.7", "0.3"], ["0.2", "0.8"]).delta(0).hi >= F(1, 2)


def test_the_corners_of_a_hull_rise_in_slope() -> None:
    random = Random(7)
    for _ in range(30):
        pairs = {F(random.randint(0, 40), 10): F(random.randint(0, 500), 1000) for _ in range(8)}
        found = profile._corners(dp.privacy_profile(pairs).given)
        slopes = [(float(b[1]) - float(a[1])) / (math.exp(b[0]) - math.exp(a[0])) for a, b in pairwise(found)]
        first = -(1 - float(found[0][1])) / (1 + math.exp(found[0][0]))
        assert all(one < two for one, two in pairwise([first, *slopes, 0.0]))


def test_outcomes_that_only_one_has_count_on_a_sample_however_rare() -> None:
    rare = F(1, 10**100)
    loss = dp.two_pmfs([1 - rare, rare, 0], [1 - rare, 0, rare]).sampled(poisson="1/2")
    for eps in (F(1, 10), F(1, 2)):
        pair = dp.compose((loss, 2)).bracket(epsilon=eps)
        assert pair.upper >= pair.lower >= loss.delta(eps).hi * (1 - F(1, 10**12)) > rare / 20


def test_the_largest_losses_of_both_ways_are_not_added_up() -> None:
    one, other = dp.two_pmfs(["0.5", "0.5"], ["0.01", "0.99"]), dp.two_pmfs(["0.01", "0.99"], ["0.5", "0.5"])
    largest = math.log(50) + math.log(1.98)  # of either way
    found = dp.compose(one, other).bracket(delta=0)
    assert largest - 1e-12 < found.lower < largest + 1e-12 < found.upper
    assert dp.compose((one, 2)).bracket(delta=0).lower > 2 * math.log(50) - 1e-12


def test_masses_of_the_other_direction_are_rounded_down() -> None:
    """So that what is left of them, which is infinite, is no less."""
    less = exp_neg(F(1))
    loss = dp.loss_distribution([-1, 1], ["0.2", "0.7"], rounding="pessimistic", backward="exchanged")
    assert loss["back_mass0"] <= F("0.7") * less.lo
    assert loss["back_mass1"] * less.hi <= F("0.2")
