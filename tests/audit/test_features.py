"""Numbers read off outcomes, worked by hand; and the events that are found in them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcurator.auditing.claims import Pure
from dpcurator.auditing.draws.bound import deviations
from dpcurator.auditing.draws.classifiers import learned
from dpcurator.auditing.draws.features import Keyed, Ordered, features, grain_and_binade, say_grain
from dpcurator.auditing.draws.search import Ranking, search
from dpcurator.auditing.outcomes import Labels, encode

RANKING = Ranking(Pure(0), 10_000, deviations(1e-6))


def named(outcomes):
    drawn = encode(outcomes, Labels(), len(outcomes))
    return {feature.name: (feature, feature.of(drawn), drawn) for feature in features(drawn, drawn)}


@pytest.mark.parametrize(
    ("value", "binade", "grain"),
    [(1.0, 0, 0), (1.5, 0, -1), (-6.0, 2, 1), (0.1, -4, -55), (2.0**-1074, -1023, -1074), (1 + 2.0**-52, 0, -52)],
)
def test_the_grain_of_a_double_is_the_exponent_of_its_last_set_bit(value, binade, grain):
    key = int(grain_and_binade(np.array([value]))[0])
    assert (key // 8192 - 2048, key % 8192 - 2048) == (binade, grain)
    assert float(value) % 2.0**grain == 0
    assert f"odd multiple of 2^{grain}" in say_grain(value, "x")


def test_sums_orders_and_equalities():
    found = named([[3.0, 1.0, 3.0], [2.0, 2.0, 2.0], [1.0, 5.0, 9.0]])
    assert list(found["the sum of its parts"][1]) == [7, 6, 15]
    assert list(found["its range"][1]) == [2, 0, 8]
    assert list(found["which part is greatest"][1]) == [0, 0, 2]
    feature, _, drawn = found["which of its parts are equal"]
    assert [feature.say(drawn, row) for row in range(3)] == ["parts 0, 2", "parts 0, 1, 2", "none"]
    assert list(found["part 1 less part 0"][1]) == [-2, 0, 4]


def test_places_of_what_is_no_number():
    found = named([[None, 1, None], [1, 2], [None, None, None, 4]])
    feature, keys, drawn = found["the first place of None"]
    assert list(keys) == [0, -1, 0]
    assert feature.say(drawn, 1) == "nowhere"
    assert list(found["the last place of None"][1]) == [2, -1, 2]
    assert list(found["how many parts are None"][1]) == [2, 0, 3]
    assert list(found["its last number"][1][1:]) == [2, 4]
    feature, _, drawn = found["its length"]
    assert feature.say(drawn, 1) == "length 2"


def test_every_feature_has_a_value_for_every_draw_and_words_for_every_key():
    outcomes = [[1.5, None, math.nan], ["a", 2, math.inf], [], 7, [True, 0.1, -3]]
    for feature, values, drawn in named(outcomes).values():
        assert len(values) == len(outcomes)
        if isinstance(feature, Keyed):
            assert all(isinstance(feature.say(drawn, row), str) for row in range(drawn.n) if drawn.lengths[row])
        else:
            assert isinstance(feature, Ordered)


def test_a_feature_of_an_outcome_does_not_depend_on_what_else_is_in_the_lot():
    """Else an event would not be a set of outcomes, and counting it would bound nothing."""
    labels = Labels()
    outcomes = [[1.5, None, math.nan], ["a", 2, math.inf], [], 7, [True, 0.1, -3], [0, 0], [2, -2, 2, None]]
    lot = encode([*outcomes, [1] * 20], labels, len(outcomes) + 1)
    fitted = encode([*outcomes, [None, *[2] * 12]] * 40, labels, 40 * (len(outcomes) + 1))
    with np.errstate(all="ignore"):
        for feature in (*features(lot, lot), *learned(fitted, lot)):
            together = feature.of(lot)
            for row, outcome in enumerate(outcomes):
                alone = feature.of(encode([outcome], labels, 1))
                np.testing.assert_allclose(alone[0], together[row], err_msg=feature.name)


def found_between(first, second):
    labels = Labels()
    return search(encode(first, labels, len(first)), encode(second, labels, len(second)), RANKING)


def test_an_event_that_never_happens_on_one_input_is_found_from_the_others_quantiles():
    """SVT5's lesson: thresholds of both samples. Here all that tells is beyond the second sample's range."""
    rng = np.random.default_rng(1)
    first, second = (np.floor(rng.uniform(0, top, 20_000)) for top in (1020, 1000))
    best = found_between(first, second)[0]
    assert best.forward
    assert best.tell().startswith(("the outcome >", "the outcome in"))


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("an interval", lambda rng, x: rng.normal(0, 1 + x, 20_000)),
        ("which is greatest", lambda rng, x: rng.normal(0, 1, (20_000, 4)) + np.array([x, 0, 0, 0])),
        ("equal parts", lambda rng, x: rng.integers(0, 3 - x, (20_000, 2)).astype(float)),
        ("a running sum", lambda rng, x: np.cumsum(rng.laplace(x, 3, (20_000, 12)), axis=1)),
        ("a text", lambda rng, x: np.where(rng.random(20_000) < 0.2 + 0.3 * x, "yes", "no")),
        ("a length", lambda rng, x: [[0] * k for k in rng.poisson(2 + x, 4000)]),
        ("a grain", lambda rng, x: 1.0 + x * 2**-30 + rng.integers(0, 8, 20_000) / 8),
        ("together only", lambda rng, x: rng.choice([-1.0, 1.0], (20_000, 1)) * np.array([1, 1 - 2 * x])),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_laws_that_differ_are_told_apart_and_equal_ones_are_not(name, make):
    rng = np.random.default_rng(2)
    differ = found_between(make(rng, 0), make(rng, 1))
    assert max(event.cautious for event in differ) > 0.2
    alike = found_between(make(rng, 0), make(rng, 0))
    assert max((event.cautious for event in alike), default=0) < 0.1


def test_the_best_events_are_of_different_kinds():
    rng = np.random.default_rng(3)
    found = found_between(rng.normal(0, 1, (20_000, 3)), rng.normal(0.5, 1, (20_000, 3)))
    assert len(found) == 4
    assert len({(event.key, event.forward) for event in found}) == 4
