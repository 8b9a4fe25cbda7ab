"""Selecting unknown keys: worked thresholds and chances, and (eps, delta) by enumerating every kept set of neighbours.

`joint_delta` takes the exact law of what is kept, with a unit and without it, and adds up max(P - e**eps Q, 0) both
ways. Rules weakened by one step must fail the same sum.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import FrozenInstanceError
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from laws_of_draws import FALSE_ALARM, chi_square_chance

from dpcurator.entropy import TapeEntropy
from dpcurator.errors import Refusal
from dpcurator.mechanisms.key_selection import (
    SELECTIONS,
    GaussianThreshold,
    KeySelection,
    LaplaceThreshold,
    TruncatedGeometric,
    best,
    gaussian_threshold,
    laplace_threshold,
    rule,
    selection_of,
    truncated_geometric,
)
from dpcurator.numbers import Enclosure, exp_neg

Chance = Callable[[int], Enclosure]

ZERO, ONE = Enclosure.exactly(0), Enclosure.exactly(1)
HAIR = 1 + Fraction(1, 2**60)
EXAMPLES = truncated_geometric.EXAMPLES + laplace_threshold.EXAMPLES + gaussian_threshold.EXAMPLES
SMALL = [
    kind.spending(Fraction(eps), Fraction(delta), groups=groups)
    for kind in SELECTIONS
    for eps, delta in (("1", "1e-5"), ("3", "1/50"), ("1/4", "1/3"))
    for groups in (1, 2, 3)
]


def positive_part(value: Enclosure) -> Enclosure:
    return Enclosure(max(value.lo, Fraction(0)), max(value.hi, Fraction(0)))


def hockey_stick(one: Mapping[Any, Enclosure], other: Mapping[Any, Enclosure], eps: Fraction) -> Enclosure:
    factor = 1 / exp_neg(eps, 256)
    return sum((positive_part(mass - factor * other.get(o, ZERO)) for o, mass in one.items()), ZERO)


def both_ways(one: Mapping[Any, Enclosure], other: Mapping[Any, Enclosure], eps: Fraction) -> Enclosure:
    there, back = hockey_stick(one, other, eps), hockey_stick(other, one, eps)
    return Enclosure(max(there.lo, back.lo), max(there.hi, back.hi))


def kept_law(chance: Chance, counts: Sequence[int]) -> dict[tuple[bool, ...], Enclosure]:
    """The law of the kept set, in full."""
    chances = [chance(n) for n in counts]
    return {
        kept: math.prod((c if keep else 1 - c for c, keep in zip(chances, kept, strict=True)), start=ONE)
        for kept in itertools.product((True, False), repeat=len(counts))
    }


def sizes(one: KeySelection) -> list[int]:
    """Where the chances are least, and where they are even."""
    half = one.half_size()
    return sorted({0, 1, 2, half - 1, half, half + 1})


def joint_delta(chance: Chance, eps: Fraction, groups: int, some: Iterable[int]) -> Enclosure:
    """The worst over all neighbours: a unit more in each of up to `groups` keys of these sizes."""
    worst = ZERO
    for count in range(1, groups + 1):
        for counts in itertools.combinations_with_replacement(some, count):
            found = both_ways(kept_law(chance, [n + 1 for n in counts]), kept_law(chance, counts), eps)
            worst = Enclosure(max(worst.lo, found.lo), max(worst.hi, found.hi))
    return worst


def named(one: Any) -> str:
    return f"{type(one).__name__}-{'-'.join(str(value) for value in one.as_json()['parameters'].values())}"


# worked by hand


def test_a_laplace_threshold_by_hand() -> None:
    """eps 1, delta 1e-5, one key: e**-(T-1) / (1 + 1/e) is 1.22e-5 at T - 1 = 11 and 4.5e-6 at 12."""
    one = LaplaceThreshold.spending(Fraction(1), Fraction(1, 10**5), groups=1)
    assert one.threshold == 13
    assert one.noise.scale == 1
    p = math.exp(-1)
    assert math.isclose(one.keep_chance(1).lo, p**12 / (1 + p))
    assert math.isclose(one.keep_chance(13).lo, 1 / (1 + p))
    assert math.isclose(one.keep_chance(14).lo, 1 - p**2 / (1 + p))
    assert one.promise == (1, Fraction(1, 10**5))
    assert one.rho_promise == (Fraction(1, 2), Fraction(1, 10**5))


def test_case_sel_03_a_tie_is_kept_and_counted() -> None:
    """Scale 1, threshold 5: P(1 + Z >= 5) = p**4 / (1+p) = .0133898049; the strict tail .00492583 would be wrong."""
    for delta, threshold in (("0.01338981", 5), ("0.01338980", 6), ("0.004926", 6)):
        assert LaplaceThreshold(Fraction(1), Fraction(delta), 1).threshold == threshold
    one = LaplaceThreshold(Fraction(1), Fraction("0.0134"), 1)
    assert math.isclose(one.keep_chance(1).lo, 0.0133898049, rel_tol=1e-8)


def test_the_threshold_counts_every_key_that_a_unit_adds() -> None:
    """Two keys at scale 2, q = e**-1/2: t = q**(T-1) / (1+q); 1 - (1-t)**2 <= .01 needs t <= .0050126."""
    one = LaplaceThreshold(Fraction(1), Fraction(1, 100), 2)
    q = math.exp(-0.5)
    least = next(T for T in range(1, 100) if 1 - (1 - q ** (T - 1) / (1 + q)) ** 2 <= 0.01)
    assert one.threshold == least == 11


def test_a_gaussian_threshold_by_hand() -> None:
    """rho 1/2, one key: variance 1; P(Z >= k) from the weights e**(-k*k/2): .30023, .0583, .0058 ... at k = 1, 2, 3."""
    whole = sum(math.exp(-k * k / 2) for k in range(-40, 41))
    for k in (1, 2, 3, 5):
        tail = sum(math.exp(-j * j / 2) for j in range(k, 40)) / whole
        for factor, threshold in ((1 + 1e-9, k + 1), (1 - 1e-9, k + 2)):
            one = GaussianThreshold.spending_rho(Fraction(1, 2), Fraction(tail * factor), groups=1)
            assert one.threshold == threshold
        assert math.isclose(GaussianThreshold(Fraction(1, 2), Fraction(tail * 1.01), 1).keep_chance(1).lo, tail)
    assert GaussianThreshold.spending_rho(Fraction(1, 8), Fraction(1, 10), groups=3).noise.variance == 12


def test_truncated_geometric_by_hand() -> None:
    """eps 1, delta 1e-5: one unit is shown with chance delta, two with delta (1 + e), n with delta (e**n-1)/(e-1)."""
    one = TruncatedGeometric.spending(Fraction(1), Fraction(1, 10**5), groups=1)
    assert one.keep_chance(0) == ZERO
    assert one.keep_chance(1) == Enclosure.exactly(Fraction(1, 10**5))
    for n in range(2, 12):
        assert math.isclose(one.keep_chance(n).lo, 1e-5 * (math.exp(n) - 1) / (math.e - 1), rel_tol=1e-12)
    assert TruncatedGeometric(Fraction(5), Fraction(1, 10**6), 4).keep_chance(1).holds(Fraction(1, 4 * 10**6))
    assert one.half_size() == 12
    even = TruncatedGeometric(Fraction(1), Fraction(1, 2), 1)  # pi: 0, 1/2, 1
    assert [even.keep_chance(n).holds(value) for n, value in enumerate((0, Fraction(1, 2), 1, 1))] == [True] * 4
    assert even.keep_chance(2).width < Fraction(1, 2**64)


@pytest.mark.parametrize("one", truncated_geometric.EXAMPLES, ids=named)
def test_the_closed_form_is_the_recursion(one: TruncatedGeometric) -> None:
    eps, delta = one.eps / one.groups, one.delta / one.groups
    x, pi = 1 / exp_neg(eps, 512), ZERO
    y = 1 / x
    last = 2 * one.half_size() + 6
    for n in range(1, min(last, 400)):
        grown, shrunk = x * pi + delta, 1 - y * (1 - pi - delta)
        pi = Enclosure(min(grown.lo, shrunk.lo, Fraction(1)), min(grown.hi, shrunk.hi, Fraction(1)))
        found = one.keep_chance(n)
        assert found.lo <= pi.hi
        assert pi.lo <= found.hi
        assert found.width * 2**63 <= found.lo
        assert pi.width < Fraction(1, 2**40)
    assert one.keep_chance(last) == ONE
    assert one.keep_chance(10**30) == ONE


# laws


@pytest.mark.parametrize("one", EXAMPLES, ids=named)
def test_a_key_without_units_is_never_kept_and_more_units_are_kept_more_often(one: KeySelection) -> None:
    assert one.keep_chance(0) == ZERO
    half = one.half_size()
    chances = [one.keep_chance(n) for n in sorted({0, 1, 2, 3, half - 1, half, half + 1, 2 * half, 10 * half})]
    assert all(chance.lo >= 0 and chance.hi <= 1 and chance.width * 2**63 <= chance.hi for chance in chances)
    assert all(fewer.lo <= more.hi for fewer, more in itertools.pairwise(chances))
    assert one.keep_chance(half).surely_at_least(Fraction(1, 2))
    assert half == 1 or one.keep_chance(half - 1).surely_below(Fraction(1, 2))


@pytest.mark.parametrize("one", truncated_geometric.EXAMPLES, ids=named)
def test_one_more_unit_is_within_the_share_of_a_key_and_uses_it_up(one: TruncatedGeometric) -> None:
    """(eps/groups, delta/groups) for n against n + 1, kept and dropped, both ways; attained until pi is 1."""
    eps, delta = one.eps / one.groups, one.delta / one.groups
    for n in range(min(2 * one.half_size() + 4, 200)):
        found = both_ways(kept_law(one.keep_chance, [n + 1]), kept_law(one.keep_chance, [n]), eps)
        assert found.hi <= delta * HAIR
        assert found.hi >= delta / HAIR or one.keep_chance(n + 1).hi == 1


@pytest.mark.parametrize("one", SMALL, ids=named)
def test_the_kept_set_is_as_private_as_promised(one: KeySelection) -> None:
    eps, delta = one.promise
    found = joint_delta(one.keep_chance, eps, one.groups, sizes(one))
    assert found.hi <= delta * HAIR
    assert found.width <= Fraction(1, 2**60)


@pytest.mark.parametrize("one", [one for one in SMALL if not isinstance(one, TruncatedGeometric)], ids=named)
def test_a_threshold_one_lower_fails(one: LaplaceThreshold | GaussianThreshold) -> None:
    """The least threshold is the least: the chance that some added key is kept passes the threshold's own delta."""

    def any_kept(threshold: int) -> Enclosure:
        t = rule.chance_at(tail_of(one), threshold, 1)
        return 1 - (1 - t) ** one.groups

    assert any_kept(one.threshold).surely_at_most(one.delta)
    assert any_kept(one.threshold - 1).surely_above(one.delta)
    if isinstance(one, LaplaceThreshold):
        weak = joint_delta(
            lambda n: rule.chance_at(tail_of(one), one.threshold - 1, n), one.eps, one.groups, range(3)
        )
        assert weak.surely_above(one.delta)


def tail_of(one: LaplaceThreshold | GaussianThreshold) -> rule.Tail:
    if isinstance(one, LaplaceThreshold):
        return lambda j, bits: laplace_threshold.at_least(one.noise.scale, j, bits)
    return lambda j, bits: gaussian_threshold.at_least(one.noise.variance, j, bits)


@pytest.mark.parametrize("groups", [2, 3])
def test_the_delta_of_one_key_given_to_each_of_several_fails(groups: int) -> None:
    eps, delta = Fraction(1), Fraction(1, 50)
    each = TruncatedGeometric(eps / groups, delta, 1)
    assert joint_delta(each.keep_chance, eps, groups, range(4)).surely_above(delta)
    alone = LaplaceThreshold(eps / groups, delta, 1)  # the noise for all of them, and the threshold for one
    assert alone.noise == LaplaceThreshold(eps, delta, groups).noise
    assert joint_delta(alone.keep_chance, eps, groups, range(4)).surely_above(delta)
    whole = TruncatedGeometric(eps, delta / groups, 1)  # and eps, not shared
    found = joint_delta(whole.keep_chance, eps, groups, range(whole.half_size() + 2))
    assert found.surely_above(delta)


SHARED = [
    LaplaceThreshold(Fraction(3), Fraction(1, 1000), 2),
    LaplaceThreshold(Fraction(4), Fraction(1, 3), 2),
    GaussianThreshold.spending(Fraction(4), Fraction(1, 100), groups=2),
    GaussianThreshold.spending(Fraction(2), Fraction(2, 3), groups=2),
]


def noisy_law(one: LaplaceThreshold | GaussianThreshold, n: int, threshold: int, far: int) -> dict[Any, Enclosure]:
    """The law of a key's noisy count, None where it is dropped; "far" is all that passes the support."""
    if n == 0:
        return {None: ONE}
    tail = tail_of(one)
    law: dict[Any, Enclosure] = {k: one.noise.pmf(k - n) for k in range(threshold, far)}
    law["far"] = rule.chance_at(tail, far, n)
    law[None] = 1 - rule.chance_at(tail, threshold, n)
    return law


def noisy_delta(
    one: LaplaceThreshold | GaussianThreshold, threshold: int, counts: tuple[int, int], eps: Fraction
) -> Enclosure:
    """(kept, noisy count) of two keys, with a unit more in both; an outcome with a "far" in it is given away whole."""
    far = threshold + 16

    def joint(counts: Sequence[int]) -> dict[Any, Enclosure]:
        first, second = (noisy_law(one, n, threshold, far) for n in counts)
        return {(a, b): first[a] * second[b] for a in first for b in second}

    there, back = joint([n + 1 for n in counts]), joint(counts)
    given = sum((mass for law in (there, back) for o, mass in law.items() if "far" in o), ZERO)
    near = [{o: mass for o, mass in law.items() if "far" not in o} for law in (there, back)]
    found = both_ways(near[0], near[1], eps)
    return Enclosure(found.lo, (found + given).hi)


@pytest.mark.parametrize("one", SHARED, ids=named)
@pytest.mark.parametrize("counts", [(0, 0), (0, 1), (0, 3), (1, 1), (2, 4)])
def test_the_draw_that_selects_may_be_released(
    one: LaplaceThreshold | GaussianThreshold, counts: tuple[int, int]
) -> None:
    eps, delta = one.promise
    found = noisy_delta(one, one.threshold, counts, eps)
    assert found.hi <= delta
    assert found.width < delta / 1000
    if counts == (0, 0) and isinstance(one, LaplaceThreshold):
        assert noisy_delta(one, one.threshold - 1, counts, eps).surely_above(delta)


@pytest.mark.parametrize("one", [one for one in EXAMPLES if not isinstance(one, TruncatedGeometric)], ids=named)
def test_tail_and_decision_are_one(one: LaplaceThreshold | GaussianThreshold) -> None:
    """The mass of the draws that keep a key of n is its keep_chance, whichever n."""

    class Given:
        """Noise that is handed over."""

        def __init__(self, drawn: list[int]) -> None:
            self.drawn = drawn

        def sample(self, size: int, entropy: Any = None) -> Any:
            return np.array(self.drawn)

        def error(self, beta: Fraction) -> int:
            raise NotImplementedError

    reach = min(one.threshold + 40, 400)
    drawn = list(range(-reach, reach + 1))
    for n in (0, 1, 2, max(one.threshold, 1), one.threshold + 3):
        kept = rule.draw(Given(drawn), one.threshold, [n] * len(drawn), None)
        assert kept == [n + z if n >= 1 and n + z >= one.threshold else None for z in drawn]
        if n:
            within = sum((one.noise.pmf(z) for z, value in zip(drawn, kept, strict=True) if value is not None), ZERO)
            beyond = tail_mass(one, reach + 1)
            total, chance = within + beyond, one.keep_chance(n)
            assert total.lo <= chance.hi
            assert chance.lo <= total.hi
            assert total.width < Fraction(1, 2**40)


def tail_mass(one: LaplaceThreshold | GaussianThreshold, j: int) -> Enclosure:
    return rule.as_chance(lambda bits: tail_of(one)(j, bits))


# draws


def test_words_at_the_boundary_of_each_chance() -> None:
    one = TruncatedGeometric(Fraction(1), Fraction(1, 10**5), 1)
    for n in (1, 2, 5, 11, 12, 14):
        at = math.floor(one.keep_chance(n).lo * 2**64)
        assert one.keep([n, n], TapeEntropy.of_words([at - 1, at + 1])) == [True, False]
        assert one.keep([n], TapeEntropy.of_words([at, *[0] * 4])) == [True]
        assert one.keep([n], TapeEntropy.of_words([at, *[2**64 - 1] * 4])) == [False]


def test_words_belong_to_their_keys_whatever_the_order() -> None:
    one = TruncatedGeometric(Fraction(1), Fraction(1, 10**5), 1)
    middle = 2**63
    counts = [0, 30, 12, 1, 12, 0, 11, 10**25, 12]
    words = [0, 2**64 - 1, middle, middle, 2**64 - 1, 5, middle, 2**64 - 1, 0]
    assert one.keep(counts, TapeEntropy.of_words(words)) == [
        False, True, True, False, False, False, False, True, True,
    ]
    assert one.keep([], TapeEntropy("")) == []


def test_a_chance_that_is_1_only_in_the_limit_is_decided() -> None:
    """delta 1/2: pi(2) = 1, though no precision shows it. Only all ones ask for more."""
    one = TruncatedGeometric(Fraction(1), Fraction(1, 2), 1)
    assert one.keep([2, 2], TapeEntropy.of_words([0, 2**64 - 2])) == [True, True]
    assert one.keep([2], TapeEntropy.of_words([2**64 - 1, 2**64 - 1, 2**64 - 2, 0])) == [True]


LIKELY = [kind.spending(Fraction(1), Fraction(1, 20), groups=2) for kind in SELECTIONS]


@pytest.mark.parametrize("one", LIKELY, ids=named)
def test_keys_are_kept_with_their_chance(one: KeySelection) -> None:
    """Chi-square, false alarm 1e-9; a chance four per cent off is found."""
    half, each = one.half_size(), 200_000
    for n in {1, half - 1, half}:
        counts = [n, 0] * each
        kept = one.keep(counts)
        assert not any(kept[1::2])
        chance = float(one.keep_chance(n).lo)
        observed = np.bincount(kept[::2], minlength=2)
        assert chi_square_chance(observed, [1 - chance, chance]) > FALSE_ALARM
        if n == half:
            off = chance * 0.96
            assert chi_square_chance(observed, [1 - off, off]) < FALSE_ALARM


@pytest.mark.parametrize("one", SHARED, ids=named)
def test_noisy_counts_are_those_that_reach_the_threshold(one: LaplaceThreshold | GaussianThreshold) -> None:
    found = one.noisy_counts([0, 1, one.threshold + 1000, 2**70] * 50)
    assert all(value is None for value in found[0::4])
    assert all(value is None or value >= one.threshold for value in found[1::4])
    assert all(abs(value - one.threshold - 1000) < 500 for value in found[2::4])  # type: ignore[operator]
    assert all(type(value) is int and abs(value - 2**70) < 500 for value in found[3::4])  # type: ignore[operator]


# choice, and data


def test_the_best_keeps_half_of_the_smallest_keys() -> None:
    few = [kind.spending(Fraction(1), Fraction(1, 10**5), groups=1) for kind in SELECTIONS]
    assert [one.half_size() for one in few] == [12, 13, 20]
    assert best(few) == best(reversed(few)) == few[0]
    many = [kind.spending(Fraction(3), Fraction(1, 10**9), groups=20) for kind in SELECTIONS]
    assert [one.half_size() for one in many] == [142, 155, 63]
    assert best(many) == many[2]
    equal = [kind.spending(Fraction(1000), Fraction(1, 10**9), groups=3) for kind in SELECTIONS]
    assert {one.half_size() for one in equal} == {2}
    assert type(best(equal)) is GaussianThreshold  # by name


def test_no_threshold_keeps_a_key_more_often_than_the_optimal_rule() -> None:
    for eps, delta in (("1", "1e-5"), ("1/4", "1/50"), ("3", "1e-12")):
        optimal, other = (kind(Fraction(eps), Fraction(delta), 1) for kind in (TruncatedGeometric, LaplaceThreshold))
        for n in range(1, 40):
            assert other.keep_chance(n).lo <= optimal.keep_chance(n).hi


@pytest.mark.parametrize("one", EXAMPLES, ids=named)
def test_rules_are_data_there_and_back(one: KeySelection) -> None:
    written = one.as_json()
    assert selection_of(written) == one
    assert hash(selection_of(written)) == hash(one)
    with pytest.raises(FrozenInstanceError):
        one.groups = 2  # type: ignore[misc]


def test_gaussian_promises() -> None:
    one = GaussianThreshold.spending(Fraction(1), Fraction(1, 10**5), groups=3)
    assert one.promise[0] == 1
    assert Fraction(99, 10**7) < one.promise[1] <= Fraction(1, 10**5)
    assert one.rho_promise == (one.rho, Fraction(1, 2 * 10**5))
    bare = GaussianThreshold.spending_rho(Fraction(1, 2), Fraction(1, 10**6), groups=3)
    assert bare.promise[0] == Fraction("5.22153444454")
    assert bare.promise[1] <= Fraction(2, 10**6)
    assert bare.rho_promise == (Fraction(1, 2), Fraction(1, 10**6))


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"rule": "laplace_threshold"},
        {"rule": "unknown", "parameters": {}},
        {"rule": 3, "parameters": {}},
        {"rule": "laplace_threshold", "parameters": {"eps": "1", "delta": "1/9"}},
        {"rule": "laplace_threshold", "parameters": {"eps": "1", "delta": "1/9", "groups": "1", "rho": "1"}},
        {"rule": "laplace_threshold", "parameters": {"eps": "1.0", "delta": "1/9", "groups": "1"}},
        {"rule": "laplace_threshold", "parameters": {"eps": "1", "delta": "1/9", "groups": 1}},
        {"rule": "truncated_geometric", "parameters": {"eps": "1", "delta": "2", "groups": "1"}},
        {"rule": "gaussian_threshold", "parameters": {"rho": "1", "delta": "1/9", "groups": "1", "eps": None}},
        {"rule": "gaussian_threshold", "parameters": {"rho": "1", "delta": "1/9", "groups": "1"}, "more": 1},
    ],
)
def test_other_json_is_refused(data: dict[str, object]) -> None:
    with pytest.raises(Refusal):
        selection_of(data)


@pytest.mark.parametrize("kind", SELECTIONS)
@pytest.mark.parametrize("bad", [0, -1, float("nan"), True, None, "ten"])
def test_bad_parameters_are_refused(kind: Any, bad: Any) -> None:
    good = Fraction(1, 2)
    for name, call in (
        ("delta", lambda: kind.spending(good, bad, groups=1)),
        ("delta", lambda: kind.spending(good, 1, groups=1)),
        ("groups", lambda: kind.spending(good, good, groups=bad)),
        ("n must", lambda: kind.spending(good, good, groups=1).keep_chance(bad if bad != 0 else -1)),
        ("eps", lambda: kind.spending(bad if bad != 0 else "x", good, groups=1)),
    ):
        with pytest.raises(Refusal, match=name):
            call()


def test_extreme_parameters_have_answers() -> None:
    for eps, delta, groups in (
        (Fraction(10**6), Fraction(1, 10**300), 1),
        (Fraction(1, 10**12), Fraction(1, 10**9), 7),
        (Fraction(1, 10**6), 1 - Fraction(1, 10**6), 1),
        (Fraction(10**300), Fraction(1, 10), 3),
    ):
        for kind in SELECTIONS:
            one = kind.spending(eps, delta, groups=groups)
            half = one.half_size()
            assert half >= 1
            assert one.keep_chance(half).surely_at_least(Fraction(1, 2))
            assert one.keep([0, 10 * half + 10**6], None)[0] is False
