"""The exponential mechanism: chances, loss and accuracy by hand and by enumeration, and the notes' examples."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction as F
from itertools import combinations, combinations_with_replacement, permutations, product
from typing import Any

import numpy as np
import pytest
from laws_of_draws import FALSE_ALARM, chi_square_chance

import dpcurator as dp
from dpcurator.entropy import SystemEntropy
from dpcurator.errors import Refusal
from dpcurator.mechanisms.choice.exponential import EXAMPLES
from dpcurator.mechanisms.choice.scores import grid_sensitivity, read_scores
from dpcurator.numbers import Enclosure, exp_neg, ln
from dpcurator.privacy.loss import Loss


def log_ratios(one: list[Enclosure], other: list[Enclosure]) -> list[float]:
    found = [(ln((p / q).lo), ln((p / q).hi)) for p, q in zip(one, other, strict=True)]
    assert all(high.hi - low.lo < F(1, 2**80) for low, high in found)
    return [float(low.lo) for low, _ in found]


def test_chances_by_hand() -> None:
    """eps 2, sensitivity 1: the weight of a score u is e**u; e**(2u) where monotone."""
    general = dp.Exponential(sensitivity=1, epsilon=2).probabilities([0, 1, 3])
    weights = [1, math.e, math.e**3]
    assert [float(p.lo) for p in general] == pytest.approx([w / sum(weights) for w in weights], rel=1e-14)
    one_sided = dp.Exponential(sensitivity=1, epsilon=2, monotone=True).probabilities([0, 1, 3])
    weights = [1, math.e**2, math.e**6]
    assert [float(p.lo) for p in one_sided] == pytest.approx([w / sum(weights) for w in weights], rel=1e-14)


@pytest.mark.parametrize("choice", EXAMPLES)
@pytest.mark.parametrize("scores", [[1], [0, 0, 0], [0.1, -3, F(1, 3)], [0, -(10**9)], [10**30, 10**30 + 1]])
def test_chances_sum_to_one_and_know_no_underflow(choice: dp.Exponential, scores: list[Any]) -> None:
    chances = choice.probabilities(scores)
    total = sum(chances, Enclosure.exactly(0))
    assert total.holds(1)
    assert total.width < F(1, 2**90)
    assert all(0 <= p.lo <= p.hi <= 1 for p in chances)


def test_tails_are_relatively_exact() -> None:
    tail = dp.Exponential(sensitivity=1, epsilon=2).probabilities([0, -40_000])[1]
    assert tail.width < tail.lo / 2**90
    true = exp_neg(F(40_000))
    assert tail.lo <= true.hi
    assert (true / (1 + true)).lo <= tail.hi
    assert dp.Exponential(sensitivity=1, epsilon=2).probabilities([0, -(10**9)])[1].hi < F(1, 2**65000)
    assert dp.Exponential(sensitivity=1, epsilon=2).select([0, -(10**9)]) == 0


def test_many_candidates_have_chances() -> None:
    chances = dp.Exponential(sensitivity=1, epsilon=1).probabilities(np.arange(20_000) % 100)
    assert sum((p.lo for p in chances), F(0)) <= 1 <= sum((p.hi for p in chances), F(0))


def test_the_range_of_log_ratios_is_epsilon_and_no_less() -> None:
    """All neighbours on a grid of thirds of the sensitivity, of three scores; then only those that move one way."""
    before = [F(0), F(1), F(-2)]
    steps = [F(k, 3) for k in range(-3, 4)]
    for monotone in (False, True):
        choice = dp.Exponential(sensitivity=1, epsilon=F(3, 2), monotone=monotone)
        assert choice.loss == Loss("bounded_range", (("epsilon", F(3, 2)),))
        assert choice.loss.pure_epsilon() == F(3, 2)
        assert choice.loss.rho() == F(9, 32)
        base, widest = choice.probabilities(before), 0.0
        for moves in product(steps, repeat=3):
            if monotone and min(moves) < 0 < max(moves):
                continue
            after = choice.probabilities([u + move for u, move in zip(before, moves, strict=True)])
            found = log_ratios(base, after)
            widest = max(widest, max(found) - min(found))
            assert max(map(abs, found)) <= 1.5 + 1e-12
        assert widest == pytest.approx(1.5, rel=1e-12)


def test_scores_that_move_both_ways_lose_twice_as_much_if_called_monotone() -> None:
    choice = dp.Exponential(sensitivity=1, epsilon=1, monotone=True)
    found = log_ratios(choice.probabilities([0, 0]), choice.probabilities([1, -1]))
    assert max(found) - min(found) == pytest.approx(2, rel=1e-12)
    far = log_ratios(choice.probabilities([0, 30]), choice.probabilities([1, 29]))
    assert max(map(abs, far)) > 1.99  # nearly twice the epsilon that was paid


@pytest.mark.parametrize("scores", [[0] * 9 + [5], [3, 3, 2, 0, 0, 0], list(range(12)), [0, 100]])
@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("beta", [F(1, 2), F(1, 20), F(1, 1000)])
def test_the_accuracy_theorem(scores: list[int], monotone: bool, beta: F) -> None:
    choice = dp.Exponential(sensitivity=2, epsilon=3, monotone=monotone)
    best = max(scores)
    for optimal in (1, scores.count(best)):
        error = choice.error(beta, candidates=len(scores), optimal=optimal)
        far = [p for u, p in zip(scores, choice.probabilities(scores), strict=True) if best - u >= error]
        assert sum((p.hi for p in far), F(0)) <= beta
        expected = (1 if monotone else 2) * 2 / 3 * math.log(len(scores) / optimal / beta)
        assert float(error) == pytest.approx(expected, rel=1e-14)
        assert error >= F(2 if monotone else 4, 3) * ln(F(len(scores), optimal) / beta).lo


def test_draws_follow_the_chances() -> None:
    choice, twice = (dp.Exponential(sensitivity=1, epsilon=eps) for eps in (2, 4))
    scores = [0, 1, 1.5, -2, 1]
    masses = [float(p.lo) for p in choice.probabilities(scores)]
    for one, good in ((choice, True), (twice, False)):
        counts = np.bincount(one.select_many(scores, 3000, SystemEntropy()), minlength=5)
        assert (chi_square_chance(counts, masses) > FALSE_ALARM) is good


def test_candidates_are_chosen_by_their_scores() -> None:
    choice = dp.Exponential(sensitivity=1, epsilon=10**6)
    assert choice.choose(["red", "green", "blue"], [1, 3, 2]) == "green"
    assert choice.choose([(1, 2), None], np.array([1.0, -1.0])) == (1, 2)
    assert choice.select(np.array([5, 9, 1], dtype=np.uint8)) == 1


SPELLINGS: list[Any] = [
    [0, 2, -1], (0, 2, -1), np.array([0, 2, -1]), np.array([0, 2, -1], dtype=np.int8), np.array([0.0, 2, -1]),
    np.array([0, 2, -1], dtype=np.float16), [F(0), Decimal(2), -1.0], np.array([0, F(2), -1], dtype=object),
    [np.float32(0), np.int64(2), -1],
]


@pytest.mark.parametrize("scores", SPELLINGS)
def test_a_score_is_the_number_it_is(scores: Any) -> None:
    assert read_scores(scores).exact() == [0, 2, -1]
    assert read_scores(scores, grid=F(3, 2)).exact() == [0, F(3, 2), F(-3, 2)]
    assert read_scores([0.1, 2**70, -(2**63)]).exact() == [F(0.1), 2**70, -(2**63)]
    assert read_scores(np.array([2**64 - 1], dtype=np.uint64)).exact() == [2**64 - 1]


GRIDS = [F(1), F(1, 4), F(8), F(1, 10), F(3, 7), F(1, 2**40), F(10**400), F(1, 10**400), F(1, 10**14)]


@pytest.mark.parametrize("grid", GRIDS)
def test_rounding_to_the_grid_is_exact(grid: F) -> None:
    rng = np.random.default_rng(4)
    halves = [float((k + F(1, 2)) * grid) for k in range(-40, 40)] if grid < 2**1000 else [0.0]
    near = [math.nextafter(x, side) for x in halves for side in (-math.inf, math.inf)]
    floats = np.array([*halves, *near, *rng.normal(size=200) * 100, 5e-324, -5e-324, 0.0, -0.0, 1e300, -1e300])
    for values in (floats[:-2], floats, rng.integers(-1000, 1000, 300), np.array([2**63 - 1, -(2**63)])):
        found = read_scores(values, grid=grid).exact()
        assert found == [math.floor(F(x) / grid + F(1, 2)) * grid for x in values.tolist()]


def test_rounding_raises_the_sensitivity_to_a_multiple_and_no_more() -> None:
    """semantics 5.4, over all pairs on a fine mesh: attained, and never passed."""
    mesh = [F(k, 60) for k in range(-60, 60)]
    for s, grid in ((F(1, 2), F(1, 2)), (F(1, 2), F(1, 3)), (F(1, 3), F(1, 2)), (F(7, 20), F(1, 10))):
        read = read_scores(mesh, grid=grid).exact()
        moved = max(abs(a - b) for (x, a), (y, b) in combinations(zip(mesh, read, strict=True), 2) if abs(x - y) <= s)
        assert moved == grid_sensitivity(s, grid)
    assert grid_sensitivity(F(1, 2), F(1, 3)) == F(2, 3)
    choice = dp.Exponential(sensitivity="0.5", epsilon=1, grid="0.3")
    assert choice.rate == 1 / (2 * F("0.6"))


def test_what_is_not_finite_is_declared_or_refused() -> None:
    choice = dp.Exponential(sensitivity=1, epsilon=1, nan="-1/3")
    for bad in (math.nan, math.inf, -math.inf, None, Decimal("nan"), Decimal("sNaN"), np.float64("nan")):
        assert choice.read([0, bad, 2**70]).exact() == [0, F(-1, 3), 2**70]
        assert choice.read([0, bad, 2]).exact() == [0, F(-1, 3), 2]
        with pytest.raises(Refusal, match="not finite"):
            dp.Exponential(sensitivity=1, epsilon=1).select([0, bad])
    for constant in ("-1/3", "0.25", 7, 10**400):
        choice = dp.Exponential(sensitivity=1, epsilon=1, nan=constant)
        assert choice.read(np.array([1.5, math.nan])).exact() == [1.5, F(constant)]
        gridded = dp.Exponential(sensitivity=1, epsilon=1, nan=constant, grid=1)
        assert gridded.read(np.array([1.5, math.inf])).exact() == [2, math.floor(F(constant) + F(1, 2))]


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, True, None, "ten"])
@pytest.mark.parametrize("name", ["sensitivity", "epsilon"])
def test_bad_parameters_are_refused(name: str, bad: Any) -> None:
    """gallery/secret-society: the utility 1/distance has no finite sensitivity, and no made-up one is taken."""
    with pytest.raises(Refusal, match=name):
        dp.Exponential(**({"sensitivity": 1, "epsilon": 1} | {name: bad}))


def test_other_bad_calls_are_refused() -> None:
    choice = dp.Exponential(sensitivity=1, epsilon=1)
    for named in ({"grid": 0}, {"grid": "x"}, {"nan": math.nan}, {"monotone": 1}, {"monotone": None}, {"delta": 1}):
        with pytest.raises(Refusal, match=next(iter(named))):
            dp.Exponential(**({"sensitivity": 1, "epsilon": 1} | named))
    with pytest.raises(Refusal, match="by name"):
        dp.Exponential(1, 1)  # type: ignore[misc]
    for scores in ([], np.array([]), "123", {1: 2}, {1, 2}, 5, [True], ["1"], [1j], np.zeros((2, 2)),
                   np.array([True]), np.array(["a"]), [Decimal("1e9999")], [[1]]):
        with pytest.raises(Refusal):
            choice.select(scores)
    bad_lists: list[Any] = [[], ["a", "a"], [1, 1.0], [[1], [2]], "ab", {"a", "b"}, ["a"], 7]
    for candidates in bad_lists:
        with pytest.raises(Refusal):
            choice.choose(candidates, [1, 2])
    for beta in (0, 1, 2, -1, "x"):
        with pytest.raises(Refusal, match="beta"):
            choice.error(beta, candidates=3)
    for counts in ({"candidates": 0}, {"candidates": 3, "optimal": 0}, {"candidates": 3, "optimal": 4}):
        with pytest.raises(Refusal):
            choice.error("0.1", **counts)


CITIES = {"Los Angeles": (34, -118), "New York": (40, -74), "Washington": (38, -77), "Toronto": (43, -79),
          "Ottawa": (45, -75), "Memphis": (35, -90), "La Habana": (23, -82)}
SOCIETY = {
    1: {"Memphis": ".205238", "Toronto": ".169434", "Washington": ".162197", "New York": ".141495",
        "Ottawa": ".138531", "La Habana": ".121052", "Los Angeles": ".062053"},
    10: {"Memphis": ".774556", "Toronto": ".113893", "Washington": ".073607", "New York": ".018789",
         "Ottawa": ".015203", "La Habana": ".003947", "Los Angeles": ".000005"},
}


def distance(members: tuple[tuple[int, int], ...], city: tuple[int, int], grid: int = 10**12) -> F:
    """From the mean of four members to the city, rounded down to the grid, in whole numbers."""
    dx, dy = (4 * city[axis] - sum(member[axis] for member in members) for axis in (0, 1))
    return F(math.isqrt((dx * dx + dy * dy) * grid**2 // 16), grid)


def test_the_secret_society() -> None:
    """gallery/secret-society. Sensitivity sqrt(44**2 + 6**2)/4, by all neighbours; scores and it on a grid of 1e-12."""
    homes = list(CITIES.values())
    widest = 0.0
    for three in combinations_with_replacement(homes, 3):
        for one, other in combinations(homes, 2):
            means = [tuple(sum(part) / 4 for part in zip(*three, new, strict=True)) for new in (one, other)]
            widest = max(widest, *(abs(math.dist(means[0], city) - math.dist(means[1], city)) for city in homes))
    assert widest == pytest.approx(11.10180165558726, rel=1e-12)
    bound = F(math.isqrt((44**2 + 6**2) * 10**24 // 16) + 1, 10**12)
    assert float(bound) == pytest.approx(widest, rel=1e-12)
    members = tuple(homes[:4])
    scores = [-distance(members, city) for city in homes]
    for eps, expected in SOCIETY.items():
        choice = dp.Exponential(sensitivity=bound, epsilon=eps, grid="1e-12")
        chances = dict(zip(CITIES, choice.probabilities(scores), strict=True))
        for name, chance in chances.items():
            assert round(chance.lo, 6) == round(chance.hi, 6) == F(expected[name])
        assert choice.choose(list(CITIES), scores) in CITIES


def test_the_auction() -> None:
    """gallery/auction-price: revenue 4, 1.01... at prices 1, 1.01, 3.01, 3.02. One more bid moves revenues one way,
    by the top price at most, so add-remove is monotone."""
    prices = [F("1"), F("1.01"), F("3.01"), F("3.02")]

    def revenue(bids: list[F]) -> list[F]:
        return [price * sum(bid >= price for bid in bids) for price in prices]

    bids = [F(1), F(1), F(1), F("3.01")]
    assert revenue(bids) == [4, F("1.01"), F("3.01"), 0]
    moves = [[b - a for a, b in zip(revenue(bids), revenue([*bids, new]), strict=True)] for new in (*prices, F(9))]
    assert all(0 <= move <= prices[-1] for row in moves for move in row)
    assert max(map(max, moves)) == prices[-1]
    for monotone in (False, True):
        choice = dp.Exponential(sensitivity="3.02", epsilon=10, monotone=monotone)
        weights = [math.exp(10 * float(u) / 3.02 / (1 if monotone else 2)) for u in revenue(bids)]
        chances = choice.probabilities(revenue(bids))
        assert [float(p.lo) for p in chances] == pytest.approx([w / sum(weights) for w in weights], rel=1e-12)
        after = log_ratios(chances, choice.probabilities(revenue([*bids, F("3.02")])))
        assert max(map(abs, after)) <= 10
    assert float(chances[0].lo) > 0.96  # the price of 1 nearly always, and never the price that nobody pays:
    assert float(chances[3].hi) < 2e-6


def test_accuracy_of_a_million_candidates() -> None:
    """gallery/accuracy: (2 sens/eps) ln(|R|/beta), and the sharper form with |R_OPT|."""
    choice = dp.Exponential(sensitivity=1, epsilon=1)
    assert float(choice.error("0.05", candidates=10**6)) == pytest.approx(2 * math.log(2e7), rel=1e-14)
    assert float(choice.error("0.05", candidates=10**6, optimal=1000)) == pytest.approx(2 * math.log(2e4), rel=1e-14)


def test_ad_ranking() -> None:
    """gallery/ad-ranking: the best ranking tells whether the user is over 49; a random one hardly does."""
    ads = ("pension", "games", "shoes")
    relevance = {"over 49": dict(zip(ads, (1, 0, F(1, 2)), strict=True)),
                 "under": dict(zip(ads, (0, 1, F(1, 2)), strict=True))}
    rankings = list(permutations(ads))

    def quality(user: str) -> list[F]:
        return [sum((F(relevance[user][ad]) / place for place, ad in enumerate(r, 1)), F(0)) for r in rankings]

    over, under = quality("over 49"), quality("under")
    sensitivity = max(abs(a - b) for a, b in zip(over, under, strict=True))
    assert sensitivity == F(2, 3)
    best = {user: rankings[quality(user).index(max(quality(user)))] for user in relevance}
    assert best["over 49"][0] == "pension"
    assert best["under"][0] == "games"  # without noise the first ad gives the age away, always
    for eps in (F(1, 10), F(1)):
        choice = dp.Exponential(sensitivity=sensitivity, epsilon=eps)
        one, other = choice.probabilities(over), choice.probabilities(under)
        guessed_right = sum((max(p.hi, q.hi) for p, q in zip(one, other, strict=True)), F(0)) / 2  # the best attack
        assert guessed_right <= (1 / (1 + exp_neg(eps))).hi
        assert guessed_right < (F("0.52") if eps < 1 else F("0.7"))
        assert max(map(abs, log_ratios(one, other))) <= eps
        assert choice.choose(rankings, over) in rankings


def test_one_selection_counts_scores_in_their_own_unit():
    """On a grid of 1/1000 a step is almost nothing, and 80 are everything. False alarm: under 1e-14."""
    choice = dp.Exponential(sensitivity=1, epsilon=1, grid="0.001")
    near, far = [0, F(1, 1000)], [0, 80]
    assert {choice.select(near) for _ in range(200)} == {0, 1}
    assert {choice.select(far) for _ in range(200)} == {1}
    assert set(choice.select_many(near, 200).tolist()) == {0, 1}
