"""Losses on samples: against the definition, against samples of small tables one by one, and where they are refused."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction as F

import direct_sampled
import pytest
from losses import EPSILONS, VECTOR, loss, meet

import dpcurator as dp
from dpcurator.numbers import Enclosure, exp_neg
from dpcurator.numbers.arb import ball, precision
from dpcurator.numbers.enclosure import bracket
from dpcurator.privacy.families import SAMPLED
from dpcurator.privacy.families.gaussian import curve

BASES = [
    loss("gaussian", variance=1, shift=1),
    loss("gaussian", variance="1/9", shift=1),
    loss("laplace", scale=1, shift=1),
    loss("laplace", scale=7, shift=1),
    loss("discrete_laplace", scale=2, shift=3),
    loss("discrete_laplace", scale=1, shift=1),
    loss("discrete_gaussian", variance=2, shift=2),
    loss("pure", epsilon=1),
    loss("pure", epsilon=30),
    loss("approximate", epsilon=1, delta="1e-3"),
    loss("approximate", epsilon=0, delta="1e-3"),
    loss("bounded_range", epsilon=2),
]
LOCAL = [loss("randomised_response", truth="1/2", lie="1/10"), loss("unary_encoding", p="1/2", q="1/4")]
RATES = ("1e-6", "1/100", "1/3", "99/100")
POISSON = [base.sampled(poisson=rate) for base in BASES for rate in RATES]
FIXED = [base.sampled(fixed_size=rate) for base in [*BASES, *LOCAL] for rate in RATES]


@pytest.mark.parametrize("one", [*POISSON, *FIXED], ids=str)
def test_delta_is_that_of_the_mixture_both_ways(one: dp.Loss) -> None:
    for eps in EPSILONS:
        forward = direct_sampled.one_way([(one, 1)], eps, backward=False)
        back = direct_sampled.one_way([(one, 1)], eps, backward=True)
        assert meet(one.delta_of("forward", eps), forward)
        assert meet(one.delta_of("backward", eps), back)
        assert meet(one.delta(eps), Enclosure(max(forward.lo, back.lo), max(forward.hi, back.hi)))
        assert meet(one.reversed.delta_of("forward", eps), back)


@pytest.mark.parametrize("q", RATES)
@pytest.mark.parametrize("eps", ["0", "1/10", "1", "5"])
def test_of_a_gaussian_it_is_q_times_the_curve_at_the_larger_epsilon(q: str, eps: str) -> None:
    one, rate = loss("gaussian", variance=4, shift=3).sampled(poisson=q), F(q)
    with precision(200):
        larger = bracket((1 + ball(F(eps)).expm1() / ball(rate)).log())
    right = Enclosure(rate * curve(F(9, 4), larger.hi).lo, rate * curve(F(9, 4), larger.lo).hi)
    assert meet(one.delta_of("forward", F(eps)), right)
    assert one.delta_of("forward", F(eps)).width <= one.delta(F(eps)).lo / 2**50 + F(1, 2**1000)


@pytest.mark.parametrize("one", [*POISSON, *(one.reversed for one in POISSON), *FIXED], ids=str)
def test_the_law_has_mass_one_and_its_own_delta(one: dp.Loss) -> None:
    law = one.distribution()
    if not law.continuous:
        total = sum((atom.mass for atom in law.atoms), law.above + law.below) + law.infinite
        assert total.holds(1)
        assert total.width < F(1, 2**50)
        losses = [atom.loss.lo if isinstance(atom.loss, Enclosure) else atom.loss for atom in law.atoms]
        assert losses == sorted(losses, reverse=True)
    for eps in EPSILONS:
        assert meet(law.delta(eps), one.delta_of("forward", eps))
    for x in (F(-2), F(-1, 1000), F(0), F(1, 10**7), F(1, 2)):
        tail, rest = law.tail(x), law.cdf(x)
        assert (tail + rest).holds(1)
        assert law.tail(x + F(1, 3)).lo <= tail.hi


# a table of four rows that count or do not, and noise on the count of a sample: every sample, one by one


def noisy(count: int, noise: dp.Loss) -> dict[int, Enclosure]:
    scale = noise["scale"]
    p = exp_neg(1 / scale)
    return {k: (1 - p) / (1 + p) * exp_neg(abs(k - count) / scale) for k in range(-60, 65)}


def blended(weighted: list[tuple[F, int]], noise: dp.Loss) -> dict[int, Enclosure]:
    laws = [(weight, noisy(count, noise)) for weight, count in weighted]
    return {k: sum((weight * law[k] for weight, law in laws), Enclosure.exactly(0)) for k in range(-60, 65)}


def on_poisson_samples(rows: list[int], q: F, noise: dp.Loss) -> dict[int, Enclosure]:
    weights: dict[int, F] = {}
    for taken in itertools.product((0, 1), repeat=len(rows)):
        count = sum(row for row, one in zip(rows, taken, strict=True) if one)
        weights[count] = weights.get(count, F(0)) + q ** sum(taken) * (1 - q) ** (len(rows) - sum(taken))
    return blended([(weight, count) for count, weight in weights.items()], noise)


def on_samples_of(m: int, rows: list[int], noise: dp.Loss) -> dict[int, Enclosure]:
    sets = list(itertools.combinations(rows, m))
    return blended([(F(1, len(sets)), sum(taken)) for taken in sets], noise)


def divergence(first: dict[int, Enclosure], second: dict[int, Enclosure], eps: F) -> Enclosure:
    grown, total = 1 / exp_neg(eps), Enclosure.exactly(0)
    for k, mass in first.items():
        gap = mass - grown * second[k]
        total += Enclosure(max(gap.lo, F(0)), max(gap.hi, F(0)))
    return total


TINY = F(1, 10**20)  # of masses beyond 60
NOISE = loss("discrete_laplace", scale=1, shift=1)


@pytest.mark.parametrize("q", ["1/10", "2/3"])
def test_on_every_poisson_sample_of_every_small_table(q: str) -> None:
    one = NOISE.sampled(poisson=q)
    reached = [False, False]
    for others in itertools.combinations_with_replacement((0, 1), 2):
        small, large = (on_poisson_samples([*others, *more], F(q), NOISE) for more in ((), (1,)))
        for eps in (F(0), F(1, 20), F(1, 5)):
            removed, added = one.delta_of("forward", eps), one.delta_of("backward", eps)
            found = divergence(large, small, eps), divergence(small, large, eps)
            assert found[0].lo <= removed.hi + TINY
            assert found[1].lo <= added.hi + TINY
            reached[0] |= eps > 0 and found[0].hi >= removed.lo - TINY > 0
            reached[1] |= eps > 0 and found[1].hi >= added.lo - TINY > 0
    assert reached == [True, True]  # where no other row counts


@pytest.mark.parametrize("m", [1, 2, 3])
def test_on_every_sample_of_fixed_size_of_every_small_table(m: int) -> None:
    one = NOISE.sampled(fixed_size=F(m, 4))
    reached = False
    for others in itertools.combinations_with_replacement((0, 1), 3):
        first, second = (on_samples_of(m, [*others, row], NOISE) for row in (1, 0))
        for eps in (F(0), F(1, 20), F(1, 5)):
            for found in (divergence(first, second, eps), divergence(second, first, eps)):
                assert found.lo <= one.delta(eps).hi + TINY
                reached |= eps > 0 and found.hi >= one.delta(eps).lo - TINY
    assert reached


def test_poisson_numbers_are_no_bound_for_a_fixed_size() -> None:
    """The added row of a Poisson sample has less to fear; a replaced one of a sample of 1 in 4 has both to fear."""
    first, second = (on_samples_of(1, [1, 1, 1, row], NOISE) for row in (0, 1))
    added = NOISE.sampled(poisson="1/4").delta_of("backward", F(1, 10))
    assert divergence(first, second, F(1, 10)).lo > added.hi
    assert NOISE.sampled(fixed_size="1/4").delta(F(1, 10)).hi >= divergence(first, second, F(1, 10)).lo - TINY


@pytest.mark.parametrize("way", ["poisson", "fixed_size"])
def test_the_pure_epsilon_is_amplified(way: str) -> None:
    one = loss("laplace", scale=1, shift=1).sampled(**{way: "1/10"})
    assert math.isclose(one.pure_epsilon(), math.log1p(0.1 * math.expm1(1)), rel_tol=1e-15)
    assert one.delta(one.pure_epsilon()).hi == 0
    assert one.delta(one.pure_epsilon() * (1 - F(1, 10**9))).lo > 0
    assert one.epsilon(F(0)) == one.pure_epsilon()
    assert one.for_group(3) == loss("pure", epsilon=3 * one.pure_epsilon())


def test_json_there_and_back() -> None:
    for one in (*POISSON, *FIXED):
        assert dp.Loss.from_json(json.loads(json.dumps(one.as_json()))) == one
    assert BASES[0].sampled(poisson="0.01").as_json() == {
        "family": "poisson_gaussian",
        "parameters": {"rate": "1/100", "shift": "1", "variance": "1"},
    }


def test_all_rows_are_no_sample() -> None:
    for base in BASES:
        assert base.sampled(poisson=1) == base.sampled(fixed_size="4/4") == base


def test_the_pair_is_told_in_words() -> None:
    one = BASES[0].sampled(poisson="0.01")
    words = "(Z with probability 0.01, else Z + 1) against Z + 1, Z Gaussian of variance 1"
    assert str(one.worst_pair()) == words
    assert str(one.reversed.worst_pair()).startswith("Z + 1 against (Z with probability 0.01")
    assert one.reversed.reversed == one
    assert BASES[0].reversed == BASES[0]
    assert all(name.startswith(("poisson_", "fixed_size_")) for name in SAMPLED)


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: BASES[0].sampled(), "Poisson sample or"),
        (lambda: BASES[0].sampled(poisson="1/2", fixed_size="1/2"), "Poisson sample or"),
        (lambda: BASES[0].sampled(poisson=0), "above 0"),
        (lambda: BASES[0].sampled(poisson="3/2"), "at most 1"),
        (lambda: BASES[0].sampled(poisson=float("nan")), "finite"),
        (lambda: BASES[2].sampled(poisson="1/2", neighbours="replace-one"), "adding or removing"),
        (lambda: BASES[0].sampled(fixed_size="1/2", neighbours="add-remove"), "replace-one"),
        (lambda: BASES[0].sampled(poisson="1/2").sampled(poisson="1/2"), "sample of a sample"),
        (lambda: BASES[0].sampled(poisson="1/2").sampled(fixed_size="1/2"), "sample of a sample"),
        (lambda: LOCAL[0].sampled(poisson="1/2"), "replace-one"),
        (lambda: LOCAL[1].sampled(poisson="1/2"), "replace-one"),
        (lambda: VECTOR.sampled(poisson="1/2"), "no privacy loss distribution"),
        (lambda: dp.Loss("poisson_gaussian", {"rate": 1, "shift": 1, "variance": 1}), "above 0 and below 1"),
        (lambda: dp.Loss("poisson_gaussian", {"shift": 1, "variance": 1}), "rate"),
        (lambda: BASES[0].sampled(poisson="1/2").rho(), "no rho"),
        (lambda: dp.Loss("approximate", epsilon=1, delta="0.1").sampled(fixed_size="1/2").renyi(2), "no Renyi"),
        (lambda: dp.Loss("approximate", epsilon=1, delta="0.1").sampled(poisson="1/2").renyi(2), "no Renyi"),
        (lambda: BASES[0].sampled(poisson="1/2").kl(), "known here"),
        (lambda: BASES[0].sampled(poisson="1/2").pure_epsilon(), "no pure"),
        (lambda: dp.compose(BASES[0].sampled(poisson="1/2"), BASES[0].sampled(fixed_size="1/2")), "neighbours"),
        (lambda: dp.compose(BASES[0].sampled(poisson="1/2").reversed), "directions"),
    ],
)
def test_what_does_not_apply_is_refused(call, word) -> None:
    with pytest.raises(dp.Refusal, match=word):
        call()


@pytest.mark.parametrize("local", LOCAL, ids=lambda one: one.family)
def test_what_replaces_a_value_is_not_composed_with_poisson_samples(local: dp.Loss) -> None:
    added = loss("pure", epsilon=1).sampled(poisson="1/100")
    with pytest.raises(dp.Refusal, match="say nothing"):
        dp.compose(added, local)
    assert dp.compose(added, (local, 0)).size == 1
    assert dp.compose(local, local.sampled(fixed_size="1/100"), loss("pure", epsilon=1)).size == 3


@pytest.mark.parametrize("way", ["poisson", "fixed_size"])
@pytest.mark.parametrize("epsilon", [1000, 10**6])
def test_a_very_large_epsilon_is_told_apart_still(way: str, epsilon: int) -> None:
    """q (1 - e**(eps - e)/q) nearly, for eps a little below e - ln(1/q); 1 - 1/(1 + e**-e) would cancel it away."""
    one = loss("pure", epsilon=epsilon).sampled(**{way: "1/100"})
    found = one.delta(F(epsilon - 8))
    assert found.width < F(1, 10**12)
    assert abs(float(found.lo) - (0.01 - math.exp(-8))) < 1e-9


@pytest.mark.parametrize("epsilon", [1, 10**6, 10**30, 10**100])
def test_a_pure_epsilon_is_rounded_up_by_little_however_large(epsilon: int) -> None:
    """ln(1 + q (e**e - 1)) is e + ln q + ln(1 + (1-q)/q e**-e); a lower bound at delta 0 takes 2**-110 off it."""
    one = loss("pure", epsilon=epsilon).sampled(poisson="1/3")
    with precision(1000):
        true = bracket(epsilon - ball(3).log() + (2 * (-ball(epsilon)).exp()).log1p())
    assert true.lo <= one.pure_epsilon() <= true.hi + F(1, 2**120)
    found = dp.compose((one, 2)).bracket(delta=0)
    assert found.lower <= 2 * true.hi
    assert 2 * true.lo <= found.upper
