"""Local hashing: the collision chance over every seed, buckets by hand, and laws over every report of small domains."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import FrozenInstanceError
from fractions import Fraction
from typing import Any

import local_laws as laws
import numpy as np
import pytest

from dpcurator.errors import Refusal
from dpcurator.mechanisms import LocalHashing
from dpcurator.mechanisms.local.local_hashing import EXAMPLES, LARGEST


def seeds(mechanism: LocalHashing) -> range:
    return range(mechanism.prime * (mechanism.prime - 1))


def reports(mechanism: LocalHashing) -> list[tuple[int, int]]:
    return list(itertools.product(seeds(mechanism), range(mechanism.buckets)))


@pytest.mark.parametrize("mechanism", EXAMPLES)
def test_laws_over_every_report(mechanism: LocalHashing) -> None:
    laws.masses_sum_to_one(mechanism, reports(mechanism))
    laws.loss_bounds_every_ratio_and_is_attained(mechanism, reports(mechanism))
    laws.estimates_are_unbiased(mechanism, reports(mechanism))


def test_the_interval_covers_every_truth() -> None:
    small = LocalHashing(epsilon=1, values=3)
    laws.interval_covers(small, reports(small), 2, Fraction(1, 4))


@pytest.mark.parametrize("k", [2, 3, 4, 7, 10, 13])
@pytest.mark.parametrize("epsilon", ["1/10", "1", "2", "9"])
def test_every_pair_of_values_collides_with_the_chance_stated(k: int, epsilon: str) -> None:
    """All seeds, all pairs: the family is not universal by a bound but of one exact chance."""
    mechanism = LocalHashing(epsilon=Fraction(epsilon), values=k)
    hashed = np.array([[mechanism.bucket(seed, value) for value in range(k)] for seed in seeds(mechanism)])
    assert set(hashed.reshape(-1).tolist()) <= set(range(mechanism.buckets))
    for one, other in itertools.combinations(range(k), 2):
        assert Fraction(int((hashed[:, one] == hashed[:, other]).sum()), len(hashed)) == mechanism.collision


def test_the_naive_chance_of_one_in_g_would_be_a_bias() -> None:
    """The negative control: an estimator with 1/g in place of the collision chance misses by more than a rounding."""
    mechanism = LocalHashing(epsilon=1, values=5)
    naive = mechanism.truth / mechanism.buckets + (1 - Fraction(1, mechanism.buckets)) * mechanism.lie
    assert abs(mechanism.other - naive) > Fraction(1, 100)


@pytest.mark.parametrize(
    ("epsilon", "k", "buckets"),
    [("1/10", 100, 2), ("1", 100, 4), ("1", 3, 3), ("2", 100, 8), ("0.405", 100, 2), ("0.4055", 100, 3),
     ("3", 1000, 21), ("50", 1000, 1000), ("1024", 9, 9), ("100000", 9, 9), ("1", 2, 2)],
)
def test_buckets(epsilon: str, k: int, buckets: int) -> None:
    """round(e**epsilon) + 1: ln 1.5 = .405465 lies between 2 and 3; never more than values."""
    assert LocalHashing(epsilon=Fraction(epsilon), values=k).buckets == buckets


def test_a_bucket_by_hand() -> None:
    """P = 5, g = 4, seed 13 = (a-1) 5 + b: a = 3, b = 3; x = 2 gives t = 9 mod 5 = 4, bucket floor(16/5) = 3."""
    mechanism = LocalHashing(epsilon=1, values=5)
    assert (mechanism.prime, mechanism.buckets) == (5, 4)
    assert mechanism.bucket(13, 2) == 3
    assert mechanism.collision == Fraction(2, 20)  # residues 0 and 1 share bucket 0, the others are alone


def test_primes() -> None:
    for k, prime in ((2, 2), (4, 5), (90, 97), (2**20, 1048583), (LARGEST, LARGEST)):
        assert LocalHashing(epsilon=1, values=k).prime == prime


def test_the_draw_word_by_word() -> None:
    """A word for the seed, one for the coin, one for which other bucket; all others alike."""
    mechanism = LocalHashing(epsilon=1, values=5)
    for seed in (0, 7, 19):
        own = mechanism.bucket(seed, 3)
        assert {mechanism.respond(3, laws.tape(seed, laws.TRUE, word)) for word in range(6)} == {(seed, own)}
        lies = Counter(mechanism.respond(3, laws.tape(seed, laws.FALSE, word)) for word in range(6))
        assert lies == {(seed, bucket): 2 for bucket in range(4) if bucket != own}


@pytest.mark.parametrize("epsilon", [Fraction(s) for s in ("1e-9", "1/10", "1", "5", "300")])
@pytest.mark.parametrize("k", [2, 5, 1000, LARGEST])
def test_an_epsilon_is_spent_and_never_passed(epsilon: Fraction, k: int) -> None:
    laws.spends_at_most(LocalHashing(epsilon=epsilon, values=k), epsilon)


def test_a_million_reports() -> None:
    mechanism = LocalHashing(epsilon=1, values=5)
    wrong = LocalHashing(epsilon=Fraction(26, 25), values=5)
    laws.drawn_reports_follow(mechanism, reports(mechanism), wrong, lambda report: tuple(int(part) for part in report))


@pytest.mark.parametrize("k", [10, 1000])
def test_supports_added_up_are_those_of_each_report(k: int) -> None:
    """The fast way, by residues, against the definition; and `of` gives the same for the values asked of."""
    mechanism = LocalHashing(epsilon=2, values=k)
    drawn = mechanism.respond_many(np.arange(400) % k)
    found = mechanism.estimate(drawn)
    asked = [0, 1, k // 2, k - 1]
    plain = [sum(mechanism.bucket(seed, value) == bucket for seed, bucket in drawn.tolist()) for value in asked]
    assert found.supports[asked].tolist() == plain
    some = mechanism.estimate(drawn, of=asked)
    assert some.supports.tolist() == plain
    assert some.count(k - 1) == found.count(k - 1)
    with pytest.raises(Refusal, match="not among"):
        some.count(3)


def test_the_largest_domain() -> None:
    mechanism = LocalHashing(epsilon=4, values=LARGEST)
    held = [LARGEST - 1] * 6000 + [5] * 4000
    drawn = mechanism.respond_many(held)
    assert drawn.max() < 2**62
    found = mechanism.estimate(drawn, of=[5, 6, LARGEST - 1])
    assert found.counts == pytest.approx([4000, 0, 6000], abs=600)
    plain = [(mechanism.bucket(seed, 5) == bucket) for seed, bucket in drawn[:200].tolist()]
    assert mechanism.estimate(drawn[:200], of=[5]).supports.tolist() == [sum(plain)]


def test_the_variance_of_a_rare_value() -> None:
    """4 e**eps / (e**eps - 1)**2 a report, near enough for g a whole number (Wang et al., table 1)."""
    mechanism = LocalHashing(epsilon=Fraction(math.log(7)).limit_denominator(10**9), values=10**6)
    q, p = float(mechanism.other), float(mechanism.truth)
    assert q * (1 - q) / (p - q) ** 2 == pytest.approx(4 * 7 / 36, rel=1e-4)


def test_bad_input_is_told() -> None:
    mechanism = LocalHashing(epsilon=1, values=5)
    laws.bad_input_is_told(mechanism, [987, 0], [[0, 1, 0]])
    for report in ([0, 4], [20, 0], [-1, 0], [0, -1]):
        with pytest.raises(Refusal, match="Report 1 "):
            mechanism.estimate([[0, 0], report])
    for shape in ([0, 1], [[0.5, 0]], [[float("nan"), 0]], [["0", "1"]]):
        with pytest.raises(Refusal, match="shape"):
            mechanism.estimate(shape)
    with pytest.raises(Refusal, match="not among"):
        mechanism.estimate([[0, 0]], of=[5])


@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf"), True, None, "x", []])
def test_bad_parameters_are_refused(bad: Any) -> None:
    with pytest.raises(Refusal, match="epsilon"):
        LocalHashing(epsilon=bad, values=3)
    with pytest.raises(Refusal):
        LocalHashing(epsilon=1, values=bad)
    with pytest.raises(Refusal):
        LocalHashing(epsilon=1, values=LARGEST + 1)


def test_it_is_frozen_data_read_as_people_write_it() -> None:
    mechanism = LocalHashing(epsilon="0.1", values=["a", "b"])  # type: ignore[arg-type]
    assert mechanism == LocalHashing(epsilon=Fraction(1, 10), values=("a", "b"))
    with pytest.raises(FrozenInstanceError):
        mechanism.epsilon = Fraction(1)  # type: ignore[misc]
    assert mechanism.error("0.05", reports=50) == mechanism.estimate([[0, 0]] * 50).error("0.05")
