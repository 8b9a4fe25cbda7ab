"""A quantile chosen from exact weights: scores by hand, the exact distribution, its promise on small worlds, its bar.

The worlds are all tables of one or two units in one or two groups, with up to two rows in each, beside others' rows;
what an engine makes of them under caps goes through the mechanism's exact probabilities, so the promise is held of the
whole path but the sampler, whose own distribution tests/samplers/test_gumbel_max.py holds.
"""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import pytest

from dpcurator.engines.reference import Reference
from dpcurator.entropy import SystemEntropy
from dpcurator.mechanisms.choice.weighted_quantile import FlippedQuantile, WeightedQuantile
from dpcurator.plan.core import Grid, Histogram, Listed, Measure, Owner, PerUnit, ScaleDown, Scan, Source, Sum, Total

HALF = Fraction(1, 2)


@pytest.mark.parametrize(("weights", "q", "scores"), [
    ({}, HALF, [0, 0, 0, 0]),
    ({1: 3}, HALF, [-3, 0, -3, -3]),
    ({0: 1, 1: 1, 3: 1}, HALF, [-1, 0, -1, -1]),
    ({0: 2, 3: 2}, HALF, [0, 0, 0, 0]),  # every candidate between the two middle rows is a median
    ({0: 1, 1: 1, 2: 1, 3: 1}, Fraction(1, 4), [0, 0, -4, -8]),
    ({0: 1, 1: 1, 2: 1, 3: 1}, Fraction(1), [-3, -2, -1, 0]),
    ({2: 10**30}, Fraction(9, 10), [-9 * 10**30, -9 * 10**30, 0, -(10**30)]),
])
def test_scores_worked_by_hand(weights, q, scores):
    assert list(WeightedQuantile(Fraction(1), 4)._scores(weights, q)) == scores


@pytest.mark.parametrize("candidates", [1, 2, 3, 1001])
@pytest.mark.parametrize("rate", [Fraction(1, 50), Fraction(1), Fraction(7, 3)])
def test_the_bar_holds_on_the_worst_weights_by_the_exact_distribution(candidates, rate):
    """All weight at one end of the candidates, where all others miss by as much as the bar allows for."""
    choice, beta = WeightedQuantile(rate, candidates), Fraction(1, 20)
    error = choice.error(beta)
    weights = {0: error + 1}  # of q = 1/2 every other candidate misses by so much
    beyond = sum((one.hi for one, score in zip(choice.probabilities(weights, HALF), choice._scores(weights, HALF),
                                               strict=True) if -score > error), Fraction(0))
    assert beyond <= beta
    if error and rate < 1:  # else one step of a score is much of it
        assert 10 * beyond > beta * 9 * Fraction(1, 4)  # and not by far


@pytest.mark.parametrize("candidates", [1, 2, 3, 200])
@pytest.mark.parametrize("rate", [Fraction(1, 50), Fraction(1), Fraction(7, 3)])
def test_the_bar_of_permute_and_flip_holds_on_the_worst_weights_and_is_no_wider(candidates, rate):
    choice, beta = FlippedQuantile(rate, candidates), Fraction(1, 20)
    error = choice.error(beta)
    assert error <= WeightedQuantile(rate, candidates).error(beta)

    def beyond(missed: int) -> Fraction:
        """The chance that all but one candidate, missing by so much, have together."""
        return sum((one.hi for one in choice.probabilities({0: missed}, HALF)[1:]), Fraction(0))

    assert beyond(error + 1) <= beta
    assert error == 0 or beyond(error) > beta * (1 - Fraction(1, 10**6))  # and a bar of one less would not hold


def test_permute_and_flip_draws_its_probabilities():
    """Chi-square with 3 degrees of freedom, beyond 50 with probability below 1e-9."""
    choice, weights, entropy = FlippedQuantile(Fraction(1, 2), 4), {0: 1, 1: 1, 2: 1, 3: 1}, SystemEntropy()
    drawn = [choice.select(weights, Fraction(1, 4), entropy) for _ in range(4000)]
    chances = [float((one.lo + one.hi) / 2) for one in choice.probabilities(weights, Fraction(1, 4))]
    assert sum((drawn.count(n) - 4000 * p) ** 2 / (4000 * p) for n, p in enumerate(chances)) < 50


def test_permute_and_flip_has_no_bounded_range():
    with pytest.raises(TypeError, match="bounded range"):
        FlippedQuantile.spending_rho(Fraction(1), squared=1, candidates=3)


def core(keys: int, caps: ScaleDown) -> tuple:
    columns = tuple(Source(f"c{n}", "integer") for n in range(3))
    return (Scan("t0", columns), Owner(0), Listed((1,), tuple((n,) for n in range(keys))),
            Measure((Grid(2, "integer", 0, 2, 0, 2, 0),)), PerUnit(), caps,
            Total((Sum("units"),), (), (Histogram(0, 1),)))


CAPS = [ScaleDown(1, 1, 2**16), ScaleDown(2, 1, 2**16), ScaleDown(2, 2, 2**16), ScaleDown(2, 2, 2**16, 3)]
OTHERS = [(100 + n, n % 2, n) for n in range(3)]


@pytest.mark.parametrize("q", [HALF, Fraction(1, 4), Fraction(1)])
@pytest.mark.parametrize("caps", CAPS)
@pytest.mark.parametrize("kind", [WeightedQuantile, FlippedQuantile])
def test_the_promise_by_enumeration_under_both_relations(caps, q, kind):
    """Every unit of up to two rows in each of two groups, added to others' rows or in another's place: the log-ratios
    of the exact probabilities of both groups' answers span no more than epsilon, and it is nearly reached; those of
    permute-and-flip are no further than that from 0."""
    p, d = q.numerator, q.denominator
    most = caps.max_rows * caps.one * max(p, d - p)
    lam = min(Fraction(caps.max_groups), Fraction(caps.max_total or 10**9, caps.max_rows))
    choice = kind.spending(Fraction(1), moves=int(lam * most), candidates=3)
    units = [[(1, 0, a) for a in first] + [(1, 1, b) for b in second]
             for first in _values(2) for second in _values(2)]
    laws = []
    for rows in [[], *units]:
        columns = {f"c{n}": [row[n] for row in (*OTHERS, *rows)] for n in range(3)}
        (lying,) = Reference({"t0": columns}).evaluate(core(2, caps)).histograms_for_release()
        laws.append([[one.mid() if hasattr(one, "mid") else (one.lo + one.hi) / 2
                      for one in choice.probabilities(group, q)] for group in lying])
    from math import log

    def span(one: list, other: list) -> float:
        return sum(max(map(abs, found)) if kind is FlippedQuantile else max(found) - min(found) for found in (
            [log(a / b) for a, b in zip(mine, its, strict=True)] for mine, its in zip(one, other, strict=True)))

    added = max(span(laws[0], law) for law in laws[1:])
    replaced = max(span(one, other) for one, other in itertools.combinations(laws[1:], 2))
    assert 0.3 < added <= 1 + 1e-9  # doubles' logarithms of numbers known to 30 figures
    assert replaced <= 2 + 1e-9


def _values(most: int) -> list[tuple[int, ...]]:
    return [one for size in range(most + 1) for one in itertools.combinations_with_replacement(range(3), size)]


def test_what_lies_nowhere_is_an_error_of_the_program():
    with pytest.raises(ValueError, match="no candidate"):
        WeightedQuantile(Fraction(1), 3).select({3: 1}, HALF, SystemEntropy())


def test_no_score_that_is_0_on_the_quantiles_falls_faster() -> None:
    """Where k rows, added or taken away, make a candidate a quantile, any such score that a row moves by at most s is
    at least -s k; this one is that to within two rows. By a search of all ways, in 60 small worlds."""
    luck, choice = random.Random(26), WeightedQuantile(Fraction(1), 3)

    def missed(world: tuple[int, ...], q: Fraction) -> int:
        return -int(choice._scores({place: n for place, n in enumerate(world) if n}, q)[1])

    for _ in range(60):
        d = luck.randint(1, 6)
        q, world, rows = Fraction(luck.randint(0, d), d), tuple(luck.randint(0, 4) for _ in range(3)), 0
        s, reached = max(q.numerator, q.denominator - q.numerator), {world}
        while all(missed(one, q) for one in reached):
            rows += 1
            steps = [tuple(n + step * (place == at) for place, n in enumerate(one))
                     for one in reached for at in range(3) for step in (-1, 1)]
            reached = {one for one in steps if min(one) >= 0}
        assert rows == missed(world, q) == 0 or s * (rows - 2) < missed(world, q) <= s * rows
