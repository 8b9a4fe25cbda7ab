"""Counting: fresh draws, both ways round, and limits that hold together."""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
import pytest

import dpcurator as dp
from dpcurator.auditing.draws.blackbox import Sampler, count, tally
from dpcurator.auditing.draws.bound import lower, upper
from dpcurator.auditing.draws.classifiers import learned
from dpcurator.auditing.draws.features import Ordered
from dpcurator.auditing.draws.search import Event
from dpcurator.auditing.outcomes import Drawn
from dpcurator.auditing.pairs import Pair

VALUE = Ordered("the outcome", lambda drawn: drawn.part(0))


def above(cut, forward):
    return Event(lambda: f"above {cut}", lambda drawn: drawn.part(0) > cut, forward, 0, 0, VALUE, "")


def test_counts_and_limits_are_those_of_the_draws():
    values = {"a": [1.0, 2.0, 3.0, 4.0], "b": [3.0, 3.0, 9.0, 9.0]}
    sampler = Sampler(lambda data, size: np.array(values[data][:size]))
    pair, claim = Pair("a", "b"), dp.Pure(1)
    events = [above(2.5, False), above(3.5, True)]
    assert tally(sampler, pair, events, 4) == [[2, 4], [1, 2]]
    first, second = count(sampler, pair, events, draws=4, alpha=F(1, 25), claim=claim)
    assert (first.direction, first.counts, first.draws) == (("second", "first"), (4, 2), 4)
    assert (second.direction, second.counts) == (("first", "second"), (1, 2))
    assert (first.p, first.q) == (lower(4, 4, F(1, 100)), upper(2, 4, F(1, 100)))


def test_all_limits_of_a_call_hold_together_as_often_as_stated():
    """200 calls at alpha 0.2: the chance that more than 70 of them fail is below 1e-6; about 15 do, being cautious."""
    rng = np.random.default_rng(4)
    sampler = Sampler(lambda data, size: rng.random(size) + 0.1 * data)
    events = [above(0.5, True), above(0.9, False)]
    wrong = 0
    for _ in range(200):
        found = count(sampler, Pair(0, 1), events, draws=50, alpha=F(1, 5), claim=dp.Pure(0))
        truth = [(0.5, 0.6), (0.2, 0.1)]
        wrong += any(one.p > p or one.q < q for one, (p, q) in zip(found, truth, strict=True))
    assert wrong <= 40


def test_one_by_one_and_in_lots_are_the_same_outcomes():
    single = Sampler(lambda data: (data, None))
    lots = Sampler(lambda data, size: [(data, None)] * size)
    assert not single.lots
    assert lots.lots
    for sampler in (single, lots):
        drawn = sampler.draw(3, 5)
        assert (drawn.n, drawn.parts) == (5, 2)


@pytest.mark.parametrize("parts", [2, 5, 12])
def test_fitted_scores_see_what_all_parts_say_together(parts):
    """A sum of small differences is told by every score, and by no part as well."""
    rng = np.random.default_rng(5)
    sampler = Sampler(lambda data, size: rng.laplace(data, 4, (size, parts)))
    one, other = sampler.draw(0, 20_000), sampler.draw(1, 20_000)
    fresh = sampler.draw(0, 20_000), sampler.draw(1, 20_000)

    def told(of) -> float:
        """How far the means of a score are apart, in its standard deviation."""
        first, second = (np.asarray(of(drawn)) for drawn in fresh)
        return abs(float(first.mean() - second.mean())) / float(first.std())

    alone = told(lambda drawn: drawn.part(0))
    scores = [feature for feature in learned(one, other) if isinstance(feature, Ordered)]
    assert len(scores) >= 4
    assert all(isinstance(drawn, Drawn) for drawn in fresh)
    assert max(told(feature.of) for feature in scores) > 0.8 * alone * parts**0.5 * 1.1
