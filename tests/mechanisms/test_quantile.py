"""Private quantiles: scores by hand, sensitivities and losses by all neighbours of small worlds, places exactly."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction as F
from itertools import combinations_with_replacement, pairwise
from typing import Any

import numpy as np
import pytest
from laws_of_draws import FALSE_ALARM, chi_square_chance

import dpcurator as dp
from dpcurator.entropy import SystemEntropy
from dpcurator.errors import Refusal
from dpcurator.mechanisms.choice import quantile
from dpcurator.mechanisms.choice.quantile import EXAMPLES
from dpcurator.numbers import Enclosure, ln
from dpcurator.privacy.loss import Loss

LEVELS = [F(0), F(1, 4), F(1, 2), F(2, 3), F(1)]


def misses(made: dp.Quantile, values: Any, q: F) -> list[F]:
    """d of every candidate, in records."""
    starts, sizes, below, here = groups = made._groups(made.line.places(values))
    scores, unit = made.scores(groups, q)
    repeated = scores.tolist() if sizes is None else np.repeat(scores, sizes).tolist()
    assert len(below) == len(here) == len(scores)
    assert starts is None or starts.tolist() == sorted(starts.tolist())
    return [-score * unit for score in repeated]


def by_definition(candidates: list[F], values: list[Any], q: F) -> list[F]:
    """The module's definition, record by record."""
    held = [v for v in values if v is not None and not math.isnan(v)]

    def nearest(value: Any) -> F:
        if math.isinf(value):
            return candidates[0 if value < 0 else -1]
        return max(candidates, key=lambda c: (-abs(F(value) - c), c))  # halves upward

    moved = [nearest(value) for value in held]
    n = len(moved)
    return [max(F(0), sum(x < r for x in moved) - q * n, sum(x > r for x in moved) - (1 - q) * n) for r in candidates]


def test_scores_by_hand() -> None:
    made = dp.Quantile(q="1/2", epsilon=1, candidates=[0, 1, 2, 3, 4])
    assert misses(made, [0, 1, 4], F(1, 2)) == [F(1, 2), 0, F(1, 2), F(1, 2), F(3, 2) - 1]
    assert misses(made, [2, 2, 2, 2], F(1, 2)) == [2, 2, 0, 2, 2]
    assert misses(made, [0, 0, 1, 1], F(1, 2)) == [0, 0, 2, 2, 2]  # every median of ties is one: nothing is missed
    assert misses(made, [1, 3], F(1, 2)) == [1, 0, 0, 0, 1]
    assert misses(made, [0, 1, 2, 3], F(0)) == [0, 1, 2, 3, 4]
    assert misses(made, [0, 1, 2, 3], F(1)) == [3, 2, 1, 0, 0]
    assert misses(made, [], F(1, 2)) == [0] * 5


WORLD = [0, 1, 2, None]


@pytest.mark.parametrize("q", LEVELS)
@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_the_sensitivity_is_the_least_over_all_neighbours(q: F, neighbours: str) -> None:
    """All data sets of up to 4 records at three places or missing; and the log-ratios span epsilon at most."""
    made = dp.Quantile(q=q, epsilon=1, candidates=[0, 1, 2], neighbours=neighbours)
    widest, span = F(0), 0.0
    for n in range(5):
        for data in combinations_with_replacement(range(4), n):
            before = [WORLD[i] for i in data]
            others = [[*before, new] for new in WORLD] if neighbours == "add-remove" else []
            if neighbours == "replace-one":
                others = [[*before[:k], new, *before[k + 1 :]] for k in range(n) for new in WORLD]
            one = misses(made, before, q)
            for after in others:
                moves = [b - a for a, b in zip(one, misses(made, after, q), strict=True)]
                widest = max(widest, *map(abs, moves))
                span = max(span, float(max(moves) - min(moves)))
    assert widest == made.sensitivity(q)
    assert span <= 2 * made.sensitivity(q)


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_the_log_ratios_lie_within_epsilon(neighbours: str) -> None:
    made = dp.Quantile(q="1/2", epsilon=1, candidates=[0, 1, 2], neighbours=neighbours)
    assert made.loss == Loss("bounded_range", (("epsilon", F(1)),))
    widest = 0.0
    for data in combinations_with_replacement(range(3), 4):
        one = made.probabilities(list(data))
        for new in WORLD:
            replaced = [[*data[:k], new, *data[k + 1 :]] for k in range(4)]
            for after in [[*data, new]] if neighbours == "add-remove" else replaced:
                ratios = [p / r for p, r in zip(one, made.probabilities(after), strict=True)]
                logs = [float(ln(ratio.hi).hi) for ratio in ratios]
                widest = max(widest, max(map(abs, logs)))
                assert max(logs) - min(logs) <= 1 + 1e-12
    assert widest > 0.35


def test_several_quantiles_together_lie_within_epsilon() -> None:
    """Their choices are independent and each has its share, so logs of ratios add up, and so do their ranges."""
    levels = [F(1, 4), F(1, 2), F(3, 4)]
    together = dp.Quantile(q=levels, epsilon=2, candidates=[0, 1, 2])
    singles = [dp.Quantile(q=q, epsilon=F(2, 3), candidates=[0, 1, 2]) for q in levels]
    assert [together._rate(q) for q in levels] == [one._rate(q) for one, q in zip(singles, levels, strict=True)]
    widest = 0.0
    for data in combinations_with_replacement(range(3), 4):
        for new in range(3):
            span = 0.0
            for one in singles:
                chances = zip(one.probabilities(list(data)), one.probabilities([*data, new]), strict=True)
                logs = [float(ln((p / r).hi).hi) for p, r in chances]
                span += max(logs) - min(logs)
            widest = max(widest, span)
    assert 1 < widest <= 2 + 1e-12


def test_an_underdeclared_sensitivity_is_found() -> None:
    """The control: with half of s, the same data sets pass epsilon."""
    made = dp.Quantile(q="1/2", epsilon=2, candidates=[0, 1, 2])  # twice the epsilon is half of s
    one, other = ([float(p.lo) for p in made.probabilities(data)] for data in ([0, 0, 1, 1, 1], [0, 0, 0, 1, 1]))
    assert max(abs(math.log(a / b)) for a, b in zip(one, other, strict=True)) > 1


VALUES: list[Any] = [
    [0.05, 0.15, 0.25, 0.3, 1e300, -1e300, math.inf, -math.inf, math.nan, 5e-324, -0.0],
    [0, 1, 2, 3, 2**63 - 1, -(2**63), 7],
    [F(1, 20), F(3, 20), 0.1, 1, None, 2**80, -math.inf, Decimal("0.35"), Decimal("nan"), Decimal("1e99999")],
    [1, 1.5, None],
]
MADE: list[dict[str, Any]] = [
    {"lower": 0, "upper": 1, "step": "0.1"}, {"lower": "0.05", "upper": 3, "step": "1/7"},
    {"lower": -2, "upper": 2, "step": "0.5"}, {"lower": 0, "upper": 2**62, "step": 2**59},
    {"lower": 10**18, "upper": 10**18 + 9, "step": 1}, {"lower": 0, "upper": 5, "step": 10},
    {"candidates": ["0.1", 0, "0.3", 1, 100]}, {"candidates": [2**70, -(2**70), 2**63, F(1, 3), 7]},
    {"candidates": [5]}, {"candidates": [10**400, 0, -(10**400)]},
    {"lower": 0, "upper": "1e-400", "step": "1e-401"},
]


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("values", VALUES)
def test_each_record_is_moved_to_its_nearest_candidate_whatever_stands_beside_it(made: Any, values: Any) -> None:
    one = dp.Quantile(q="1/2", epsilon=1, **made)
    candidates = list(one.candidates or [one.lower + k * one.step for k in range(one.count)])
    plain = [v for v in values if not isinstance(v, Decimal)] + [F(7, 20)] * (Decimal("0.35") in values)
    plain += [math.inf] * (Decimal("1e99999") in values)
    for q in (F(1, 2), F(1, 3)):
        expected = by_definition(candidates, plain, q)
        assert misses(one, values, q) == expected
        assert misses(one, [*values, None, F(1, 3)], q) == by_definition(candidates, [*plain, F(1, 3)], q)
    alone = [one.line.places([value]).tolist() for value in values]
    assert one.line.places(values).tolist() == [place for places in alone for place in places]


@pytest.mark.parametrize(("lower", "step"), [(F(0), F(1, 10)), (F(-7, 3), F(2, 7)), (F(10**9), F(1, 64)), (F(0), F(2))])
def test_places_on_a_grid_are_exact_at_halves(lower: F, step: F) -> None:
    made = dp.Quantile(q="1/2", epsilon=1, lower=lower, upper=lower + 2000 * step, step=step)
    halves = [float(lower + (k + F(1, 2)) * step) for k in range(-2, 2003, 7)]
    floats = [math.nextafter(x, side) for x in halves for side in (-math.inf, math.inf)] + halves
    rng = np.random.default_rng(3)
    floats += (float(lower) + rng.uniform(-1, 2001, 3000) * float(step)).tolist()
    expected = [min(max(math.floor((F(x) - lower) / step + F(1, 2)), 0), made.count - 1) for x in floats]
    assert made.line.places(np.array(floats)).tolist() == expected
    whole = [math.floor(x) for x in floats]
    assert made.line.places(np.array(whole)).tolist() == made.line.places([F(x) for x in whole]).tolist()


def test_places_in_a_list_are_exact_at_its_edges() -> None:
    candidates = [F(k, 7) for k in range(-50, 50)]
    made = dp.Quantile(q="1/2", epsilon=1, candidates=candidates)
    edges = [(a + b) / 2 for a, b in pairwise(candidates)]
    near = [float(edge) for edge in edges]
    floats = near + [math.nextafter(x, side) for x in near for side in (-math.inf, math.inf)]
    assert made.line.places(np.array(floats)).tolist() == [sum(F(x) >= edge for edge in edges) for x in floats]
    assert {F(x) < edge for x, edge in zip(near, edges, strict=True)} == {True, False}


def test_groups_of_a_large_grid_have_the_law_of_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    made = dp.Quantile(q="1/3", epsilon=1, lower=0, upper=40, step=1)
    rng = np.random.default_rng(9)
    worlds: list[Any] = [[], [0], [40, 40], [0, 40, 7, 7, 8], rng.integers(-5, 45, 30)]
    one_by_one = [misses(made, values, F(1, 3)) for values in worlds]
    monkeypatch.setattr(quantile, "_EACH", 0)
    assert [misses(made, values, F(1, 3)) for values in worlds] == one_by_one


def test_draws_from_a_grid_of_a_billion_follow_the_law() -> None:
    """Up to 10**6, or beyond: chances about .09 and .91. Control: four times the epsilon."""
    values = [100] * 8 + [10**6] * 4 + [2 * 10**8] * 7
    ends = [0, 100, 101, 10**6, 10**6 + 1, 2 * 10**8, 2 * 10**8 + 1, 10**9 + 1]
    d = [F(19, 2), F(3, 2), F(3, 2), F(0), F(5, 2), F(5, 2), F(19, 2)]
    runs = dp.Quantile(q="1/2", epsilon=1, candidates=[0, 100, 101, 10**6, 10**7, 2 * 10**8, 10**9])
    assert misses(runs, values, F(1, 2)) == d
    weights = [(b - a) * math.exp(-3 * float(m)) for a, b, m in zip(ends, ends[1:], d, strict=False)]
    share = sum(weights[:4]) / sum(weights)
    for eps, good in ((3, True), (12, False)):
        made = dp.Quantile(q="1/2", epsilon=eps, lower=0, upper=10**9, step=1)
        beyond = sum(made.release(values, SystemEntropy()) > 10**6 for _ in range(600))  # type: ignore[operator]
        assert (chi_square_chance([600 - beyond, beyond], [share, 1 - share]) > FALSE_ALARM) is good


@pytest.mark.parametrize("made", EXAMPLES)
def test_examples_answer_for_any_data(made: dp.Quantile) -> None:
    for values in ([], [1, 2, 3], np.array([math.nan, math.inf, -math.inf]), np.zeros(10_000), [None], [2**70, -0.5]):
        answers = made.release(values)
        listed = answers if isinstance(answers, tuple) else (answers,)
        assert len(listed) == len(made.levels)
        assert list(listed) == sorted(listed)


def test_no_record_at_all_gives_every_candidate_the_same_chance() -> None:
    chances = dp.Quantile(q="1/2", epsilon=1, candidates=[0, 1, 2, 3]).probabilities(np.array([]))
    assert all(p.holds(F(1, 4)) for p in chances)
    assert sum(chances, Enclosure.exactly(0)).holds(1)


def test_a_missing_record_is_left_out_or_counts_as_declared() -> None:
    kept = dp.Quantile(q="1/2", epsilon=1, candidates=[0, 1, 2], nan=2)
    left = dp.Quantile(q="1/2", epsilon=1, candidates=[0, 1, 2])
    for values in (np.array([0.0, math.nan, 1.0]), [0, None, 1]):
        assert kept.line.places(values).tolist() == [0, 2, 1]
        assert left.line.places(values).tolist() == [0, 1]


def test_several_quantiles_share_the_price_and_are_in_order() -> None:
    data = np.random.default_rng(8).normal(100, 15, 100_000)
    made = dp.Quantile(q=["0.75", "0.25", "0.5"], epsilon=1, lower=0, upper=200, step="0.01")
    assert made.loss.pure_epsilon() == 1
    upper, lower, median = made.release(data)  # type: ignore[misc]
    assert lower <= median <= upper
    beta = F(1, 10**10)
    reach = float(made.error(beta)) / len(data) * 1.1  # of ranks; misses with a chance below 1e-10
    for q, found in ((0.75, upper), (0.25, lower), (0.5, median)):
        low, high = np.quantile(data, [q - reach, q + reach])
        assert low - 0.01 <= found <= high + 0.01
    single = dp.Quantile(q="0.75", epsilon="1/3", lower=0, upper=200, step="0.01")
    assert single._rate(F(3, 4)) == made._rate(F(3, 4))
    tight = dp.Quantile(q=["0.5", "0.501"], epsilon="0.001", candidates=range(50))
    for _ in range(40):
        low, high = tight.release([1, 2, 3])  # type: ignore[misc]
        assert low <= high


def test_accuracy_in_records() -> None:
    """gallery/average-weight asks for quantiles in place of extremes: 2 s / eps ln(m / beta) records."""
    made = dp.Quantile(q="1/2", epsilon="0.1", lower=30, upper=150, step="0.1")
    assert made.count == 1201
    assert float(made.error("0.05")) == pytest.approx(10 * math.log(1201 / 0.05), rel=1e-13)
    small = dp.Quantile(q="1/2", epsilon=1, candidates=range(6))
    values = [0, 1, 1, 2, 3, 5, 5, 5, 5]
    for beta in (F(1, 2), F(1, 10)):
        far = [p.hi for p, d in zip(small.probabilities(values), misses(small, values, F(1, 2)), strict=True)
               if d >= small.error(beta)]
        assert sum(far, F(0)) <= beta


GOOD: dict[str, Any] = {"q": 0.5, "epsilon": 1, "lower": 0, "upper": 10, "step": 1}
BAD: list[dict[str, Any]] = [
    {"q": -1}, {"q": 2}, {"q": []}, {"q": [0.5, "1/2"]}, {"q": math.nan}, {"q": True}, {"q": None}, {"epsilon": 0},
    {"epsilon": math.inf}, {"lower": 11}, {"lower": None}, {"upper": math.inf}, {"step": 0}, {"step": None},
    {"step": "1e-30"}, {"candidates": [1, 2]}, {"neighbours": "both"}, {"neighbours": None}, {"nan": math.nan},
    {"depth": 3},
]


@pytest.mark.parametrize("bad", BAD)
def test_bad_parameters_are_refused(bad: dict[str, Any]) -> None:
    dp.Quantile(**GOOD)
    with pytest.raises(Refusal):
        dp.Quantile(**(GOOD | bad))


def test_other_bad_calls_are_refused() -> None:
    for candidates in ([], [1, 1], [1, "1.0"], "123", {1: 2}, 5, [math.nan], [None]):
        with pytest.raises(Refusal):
            dp.Quantile(q=0.5, epsilon=1, candidates=candidates)  # type: ignore[arg-type]
    made = dp.Quantile(**GOOD)
    for texts in (np.array(["a"]), np.array(["a long text, of somebody"])):  # in the same words, whatever they hold
        with pytest.raises(Refusal, match=r"^Values are numbers, and this array is of others\."):
            dp.Quantile(q="1/2", epsilon=1, candidates=[1, 2]).release(texts)
    for values in ("12", {1: 2}, 5, ["1"], [True], np.array([True]), np.zeros((2, 2)), np.array(["a"]), [1j]):
        with pytest.raises(Refusal):
            made.release(values)
    with pytest.raises(Refusal, match="one q"):
        dp.Quantile(**(GOOD | {"q": [0.5]})).probabilities([1])
    with pytest.raises(Refusal, match="beta"):
        made.error(1)
