"""The race: its law by enumerating short words, its floats against balls, and chi-square with a control."""

from __future__ import annotations

from fractions import Fraction as F
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from laws_of_draws import FALSE_ALARM, chi_square_chance, enumerate_law, law_holds

from dpcurator.entropy import SystemEntropy
from dpcurator.numbers import Enclosure, exp_neg
from dpcurator.numbers.arb import ball, precision
from dpcurator.numbers.enclosure import bracket
from dpcurator.samplers import race
from dpcurator.samplers.gumbel_max import LARGEST_SIZE, Race, Racer, _log_sizes


def boxed(values: list[Any]) -> Any:
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


def ordered(values: list[Any], rate: F, sizes: list[int] | None, order: tuple[int, ...]) -> Enclosure:
    """P(the first of them arrive in this order), by the definition."""
    top = max(values)
    weights = [exp_neg(rate * (top - v)) * m for v, m in zip(values, sizes or [1] * len(values), strict=True)]
    left, chance = set(range(len(values))), Enclosure.exactly(1)
    for i in order:
        chance = chance * weights[i] / sum((weights[j] for j in sorted(left)), Enclosure.exactly(0))
        left.remove(i)
    return chance


@pytest.mark.parametrize(
    ("values", "rate", "sizes", "places", "first", "more"),
    [
        (np.array([0.0, 0.0]), F(1), None, 1, 3, 2),
        (np.array([0.0, 1.0]), F(1), None, 1, 3, 2),
        (np.array([0, -1]), F(3, 2), None, 1, 2, 3),
        (boxed([F(1, 3), 0]), F(1), None, 1, 3, 3),
        (np.array([0, 5]), F(1, 4), np.array([5, 1]), 1, 3, 2),
        (np.array([0, 40]), F(1), None, 1, 2, 3),
        (np.array([0.0, 1.0, 1.0]), F(1), None, 1, 2, 2),
        (np.array([0, 0]), F(1), None, 2, 3, 2),
        (np.array([0, 1, 2]), F(1, 2), np.array([1, 2, 3]), 2, 2, 2),
    ],
)
def test_the_law_by_enumeration(values: Any, rate: F, sizes: Any, places: int, first: int, more: int) -> None:
    made = Race(values, rate, sizes, first=first, more=more)
    unexplored = F(1, 20) if len(values) == 2 else F(1, 6) if places == 1 else F(1, 3)
    found, rest = enumerate_law(lambda choices: tuple(made.run(choices, places)), unexplored=unexplored)
    exact = [F(v) for v in values.tolist()]
    many = None if sizes is None else sizes.tolist()
    assert law_holds(found, rest, lambda order: ordered(exact, rate, many, order))
    if len(set(exact)) > 1 and len(values) == 2 and max(exact) < 40:  # the control: twice the rate is another law
        assert not law_holds(found, rest, lambda order: ordered(exact, 3 * rate, many, order))
    if max(exact) < 40:
        assert set(found) == set(permutations(range(len(values)), places))


class Counting(SystemEntropy):
    def __init__(self) -> None:
        self.drawn = self.asked = 0

    def words(self, n: int) -> Any:
        self.drawn += n
        return super().words(n)

    def bits(self, k: int) -> int:
        self.asked += 1
        return super().bits(k)


CORNERS = [0, 1, 2, 3, 5, 255, 2**23, 2**24 + 1, 2**31 - 1, 2**31, 2**32 - 2**7, 2**32 - 2, 2**32 - 1]
rng = np.random.default_rng(20)
WORLDS: list[tuple[Any, F, Any]] = [
    (rng.normal(size=200) * 3, F(1), None),
    (rng.normal(size=200) * 1e9, F(1, 10**9), None),
    (np.zeros(200), F(1), None),
    (rng.integers(-50, 50, 200), F(1, 7), rng.integers(1, 2**62, 200)),
    (np.array([2**63 - 1, -(2**63), *range(198)]), F(1, 2**62), None),
    (np.array([1.7e308, -1.7e308, *range(198)]), F(1, 10**308), None),
    (rng.normal(size=200), F(1, 10**330), None),
    (rng.normal(size=200), F(10**330), None),
    (boxed([F(int(k), 7) for k in rng.integers(0, 100, 200)]), F(2), boxed([7**k for k in range(200)])),
    (boxed([10**400, -(10**400), *range(198)]), F(1), boxed([1, LARGEST_SIZE, *range(1, 199)])),
    (np.zeros(200), F(0), None),
    (np.array([0, *(range(-(10**9) - 199, -(10**9)))]), F(1), None),
    (np.arange(200.0) * -1e9, F(1), None),
]


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("places", [1, 4])
def test_floats_leave_out_nobody_who_could_win(world: Any, places: int) -> None:
    values, rate, sizes = world
    made = Race(values, rate, sizes)
    for turn in range(6):
        words = rng.integers(0, 2**32, len(values)).astype(np.uint32)
        if turn % 2:
            words[rng.permutation(len(words))[: len(CORNERS)]] = CORNERS
        everybody = [Racer(made, i, int(word)) for i, word in enumerate(words)]
        bound = sorted((one.low for one in everybody if one.low is not None), reverse=True)[places - 1]
        could = {one.index for one in everybody if one.high is None or one.high >= bound}
        kept = {one.index for one in made.possible(words, places, SystemEntropy())}
        if 2**32 - 1 not in words:  # else a lower end was refined, which may rule out more
            assert could <= kept
        assert len(kept) <= (120 if 0 in words else 60)  # a word of 0, of chance 2**-32, may seem ahead


@pytest.mark.parametrize("kind", [np.int64, np.float64, object])
@pytest.mark.parametrize("ahead", [[2**53], [10**17, -(10**17)], [2**62, 2**62 - 1, -(2**62)]])
def test_values_far_ahead_cost_the_others_no_figures(kind: Any, ahead: list[int]) -> None:
    """Keys relative to the greatest value would all be alike in floats, and everybody would need a ball: a second place
    among 10**6 took a minute and a half beside one outlier, and 30 ms without."""
    near = np.arange(20_000) % 50
    values = np.concatenate([near, ahead]).astype(kind)
    for places in (2, 5):
        made = Race(values, F(1))
        words = rng.integers(1, 2**32 - 1, len(values)).astype(np.uint32)
        kept = {one.index for one in made.possible(words, places, SystemEntropy())}
        assert {20_000 + i for i, value in enumerate(ahead) if value > 0} <= kept
        assert len(kept) <= 60


@pytest.mark.parametrize("word", [1, 255, 1023])
def test_the_bound_has_no_more_room_than_it_needs(word: int) -> None:
    """Brackets that touch at a power of two, where the linear logarithm is exact: the second may be the first still."""
    made = Race(np.zeros(2), F(1))
    kept = made.possible(np.array([word, word + 1], dtype=np.uint32), 1, SystemEntropy())
    assert {one.index for one in kept} == {0, 1}
    far = made.possible(np.array([word, 2 * word + 3], dtype=np.uint32), 1, SystemEntropy())
    assert {one.index for one in far} == {0}


def test_the_linear_logarithms_lie_on_their_side() -> None:
    words = np.array([w for w in CORNERS if w] + rng.integers(1, 2**32, 300).tolist(), dtype=np.uint32)
    sizes = [*words.tolist(), 2**62 - 1, 2**53 + 1]
    h = words.astype(np.float32).view(np.int32).tolist()
    up, long = _log_sizes(np.array(sizes)), _log_sizes(boxed([m**9 for m in sizes]))
    with precision(128):
        for word, bits in zip(words.tolist(), h, strict=True):
            true = bracket(ball(word).log() / ball(2).log() * 2**23)
            assert true.lo + 2 > bits - 127 * 2**23 > true.hi - F("0.0862") * 2**23 - 2
        for m, one, other in zip(sizes, up.tolist(), long.tolist(), strict=True):
            true = bracket(ball(m).log() / ball(2).log() * 2**23)
            assert true.hi < F(one) < true.lo + F("0.0863") * 2**23
            assert 9 * true.hi < F(other) < 9 * true.lo + F("0.0863") * 2**23


def test_every_candidate_has_its_word_and_further_bits_are_rare() -> None:
    """So the time tells next to nothing. Expected further draws a selection: fewer than .1 of these."""
    for values in (np.zeros(1000), np.arange(1000.0), np.arange(1000) * -(10**9)):
        entropy = Counting()
        for _ in range(200):
            race(values, F(1), entropy)
        assert entropy.drawn == 200 * 500
        assert entropy.asked < 200


def test_one_who_is_far_behind_still_wins_by_luck() -> None:
    """Gap 1000: chance about exp(-1000), that is 1,442 bits of 0; neither more nor fewer."""

    class Lucky:
        releasable = False

        def words(self, n: int) -> Any:
            return np.array([2**31], dtype=np.uint64)  # 2**31 for one candidate, 0 for the other

        def bits(self, k: int) -> int:
            return 0

    where = np.array([2**31], dtype=np.uint64).view(np.uint32).tolist().index(2**31)
    values = np.zeros(2)
    values[1 - where] = -1000.0
    assert race(values, F(1), Lucky()) == [1 - where]
    values[1 - where] = -20.0
    assert race(values, F(1), Lucky()) == [1 - where]  # a word of 0: 2**-32 is luckier than exp(-20)


@pytest.mark.parametrize(
    ("values", "sizes"),
    [(np.array([0.0, 1.0, 2.0, 2.5, -1.0]), None), (np.array([3, 3, 0, 1]), np.array([1, 2, 30, 4]))],
)
def test_draws_follow_the_law(values: Any, sizes: Any) -> None:
    exact = [F(v) for v in values.tolist()]
    many = None if sizes is None else sizes.tolist()
    n = 3000

    def counts(rate: F) -> Any:
        made = Race(values, rate, sizes)
        return np.bincount([made.run(SystemEntropy(), 1)[0] for _ in range(n)], minlength=len(values))

    masses = [float(ordered(exact, F(1), many, (i,)).lo) for i in range(len(exact))]
    assert chi_square_chance(counts(F(1)), masses) > FALSE_ALARM
    assert chi_square_chance(counts(F(2)), masses) < FALSE_ALARM


def test_what_a_race_takes() -> None:
    assert race(np.array([7]), F(1)) == [0]
    for values, rate, sizes in (([], F(1), None), ([1.0], F(-1), None), ([1.0], F(1), [0])):
        with pytest.raises(ValueError, match="a race takes"):
            Race(np.array(values), rate, None if sizes is None else np.array(sizes))
    for places in (0, 3):
        with pytest.raises(ValueError, match="places"):
            race(np.zeros(2), F(1), places=places)
