"""Discrete Gaussian draws: every boundary of the table, the kept share of every block, and the law by chi-square."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from laws_of_draws import FALSE_ALARM, Choices, cell_counts, chi_square_chance, enumerate_law
from numpy.typing import NDArray

from dpcurator import numbers
from dpcurator.entropy import TapeEntropy, TapeExhausted
from dpcurator.errors import Refusal
from dpcurator.numbers import Enclosure
from dpcurator.numbers.arb import ball, precision
from dpcurator.numbers.enclosure import bracket
from dpcurator.privacy.families import discrete_gaussian_sums as law
from dpcurator.samplers import discrete_gaussian, discrete_laplace, gaussian_table, reference
from dpcurator.samplers.discrete_gaussian import Blocks
from dpcurator.samplers.gaussian_table import Bell

exp_neg = lru_cache(numbers.exp_neg)
NOTHING = TapeEntropy("")
SIDE = 1 << 63
SQUARES = [Fraction(s) for s in ("1/10000", "1/3", "1", "5/2", "100", "16384", "12345/2")]
BELLS = [(variance, folded) for variance in SQUARES for folded in (True, False)]
MODERATE = [Fraction(s) ** 2 for s in ("1/2", "1", "3/2", "3", "10", "128")] + [Fraction(1, 3), Fraction(17, 2)]
LARGE = [Fraction(s) ** 2 for s in (129, 1000, 10**6, 2**31, 2**50, 2**54)] + [Fraction(10**13, 7)]
OBJECTS = [Fraction(2**108 + 1), Fraction(2**121, 3), Fraction(10**80)]


@lru_cache
def boundaries(variance: Fraction, folded: bool) -> list[int]:
    """floor(2**63 P(J <= j)) by other sums than the sampler's own: from the far end, by upper(j + 1)."""
    found: list[int] = []
    whole = law.whole(variance, 256)
    for j in range(2000):
        beyond = law.upper(variance, j + 1, 256)
        with precision(300):
            at = bracket((1 - (2 * beyond / whole if folded else 2 * beyond / (whole + 1))) * 2**63)
        assert math.floor(at.lo) == min(math.floor(at.hi), 2**63 - 1)
        found.append(math.floor(at.lo))
        if found[-1] == 2**63 - 1:
            return found
    raise AssertionError("the table has no end")


class Slow(Exception):
    """The fast path passed the draw on."""


class TableOnly(Bell):
    def exact(self, v: int, entropy: object) -> int:
        raise Slow


def many(top: Bell, word: int, tape: TapeEntropy = NOTHING) -> int:
    return int(top.many(np.array([word], dtype=np.uint64), tape)[0])


@pytest.mark.parametrize(("variance", "folded"), BELLS)
def test_words_at_each_boundary_fall_on_the_right_side(variance: Fraction, folded: bool) -> None:
    top, table, edges = Bell(variance, folded=folded), TableOnly(variance, folded=folded), boundaries(variance, folded)
    assert top.size == len(edges) < 1300
    every = max(1, len(edges) // 4)
    for j, (at, following) in enumerate(itertools.pairwise([*edges, 2**63])):
        if following - at < 8 or (j and at - edges[j - 1] < 8):
            continue  # several boundaries in a word or nearly: the far tail
        for mirrored in (False, True):
            low, high = (-j, -j - 1) if folded and mirrored else (~j, ~j - 1) if mirrored else (j, j + 1)
            offset = SIDE if mirrored else 0
            assert [top.one(offset + at - 1, NOTHING), top.one(offset + at + 2, NOTHING)] == [low, high]
            assert [many(top, offset + at - 1), many(top, offset + at + 2)] == [low, high]
            for word in (offset + at, offset + at + 1):
                with pytest.raises(Slow):
                    table.one(word, NOTHING)
                with pytest.raises(Slow):
                    many(table, word)
            for draw in (top.one, lambda word, tape: many(top, word, tape)) if j % every == 0 else ():
                with pytest.raises(TapeExhausted):
                    draw(offset + at, NOTHING)
                assert draw(offset + at, TapeEntropy.of_words([0] * 4)) == low
                assert draw(offset + at, TapeEntropy.of_words([2**64 - 1] * 4)) == high
                assert draw(offset + at + 1, TapeEntropy.of_words([0] * 4)) == high


@pytest.mark.parametrize(("variance", "folded"), BELLS)
def test_the_guide_is_right_for_the_first_and_last_word_of_every_beginning(variance: Fraction, folded: bool) -> None:
    """What lies between has the same answer: the outcome rises with the word, on each side."""
    top, edges = Bell(variance, folded=folded), np.array(boundaries(variance, folded), dtype=np.uint64)
    first = np.arange(1 << 16, dtype=np.uint64) << np.uint64(48)
    answers = top._guide.astype(np.int64)
    known = answers != gaussian_table._UNKNOWN
    for words in (first, first + np.uint64(2**48 - 1)):
        v = words & np.uint64(SIDE - 1)
        j = np.searchsorted(edges, v)
        assert not (np.isin(v, edges) & known).any()
        expected = np.where(words >= np.uint64(SIDE), -j if folded else ~j, j)
        assert np.array_equal(expected[known], answers[known])
    assert known.mean() > 0.93 if variance < 10000 else known.mean() > 0.9


@pytest.mark.parametrize(("variance", "folded"), [(Fraction(5, 2), True), (Fraction(100), False)])
def test_the_refined_answer_agrees_with_the_table(variance: Fraction, folded: bool) -> None:
    top = Bell(variance, folded=folded)
    for v in np.random.default_rng(1).integers(0, 2**63, 40).tolist():
        assert top.exact(v, NOTHING) == top.one(v, NOTHING)


def test_the_last_word_goes_on_into_the_tail() -> None:
    top = Bell(Fraction(1), folded=True)
    far = [many(top, 2**63 - 1, TapeEntropy.of_words([2**64 - 1] * n + [0])) for n in range(4)]
    for n, j in enumerate(far):  # P(J >= j) is about 2**-(63 + 64 n)
        beyond = bracket(law.upper(Fraction(1), j, 128) / law.whole(Fraction(1), 128)) * 2
        assert beyond.surely_at_least(Fraction(1, 2 ** (63 + 64 * n)))
        assert (beyond * exp_neg(Fraction(2 * j + 1, 2))).surely_at_most(Fraction(1, 2 ** (62 + 64 * n)))


def test_a_draw_that_no_table_follows_is_an_error_not_a_wrap(monkeypatch: pytest.MonkeyPatch) -> None:
    top = Bell(Fraction(1), folded=False)
    monkeypatch.setattr(gaussian_table, "REACH", 9)
    with pytest.raises(OverflowError):
        many(top, 2**64 - 1, TapeEntropy.of_words([2**64 - 1] * 2 + [0]))


class FloatOnly(Blocks):
    def exact(self, block: int, drawn: int, more: int, entropy: object) -> bool:
        raise Slow


def chance_kept(variance: Fraction, m: int, block: int, digits: int) -> Enclosure:
    """f(z) / f(j L), from z itself."""
    j = block if block >= 0 else -1 - block
    z = block * 2**m + digits
    return exp_neg((Fraction(z * z) - (j * 2**m) ** 2) / (2 * variance), 256)


BLOCKS = [Fraction(2**14 + 1), Fraction(10**5, 3), Fraction(10**12), Fraction(7 * 2**100 + 1, 7), Fraction(2**108)]


def places(top: Blocks) -> list[tuple[int, int]]:
    """Blocks near the centre, in the middle and at the end of the table, with the ends and the inside of each."""
    length = 1 << top.m
    return [
        (sign(j), digits)
        for j in (0, 1, 200, top.top.size - 1)
        for sign in (int, lambda j: ~j)
        for digits in sorted({0, 1, length // 3, length - 1})
    ]


@pytest.mark.parametrize("variance", BLOCKS)
def test_a_place_is_kept_when_v_is_below_its_chance_and_only_then(variance: Fraction) -> None:
    """V walks up to the chance by powers of two from both sides; floats decide far away, ball arithmetic near by."""
    fast, true = FloatOnly(variance), Blocks(variance)
    bits = 64 - true.m + 64
    for block, digits in places(true):
        chance = chance_kept(variance, true.m, block, digits)
        at = math.floor(chance.lo * 2**bits)
        for power, sign in itertools.product(range(bits), (1, -1)):
            v = at + sign * 2**power
            if not 0 <= v < 2**bits:
                continue
            drawn, more = (v >> 64 << true.m) + digits, v & (2**64 - 1)
            assert true.exact(block, drawn, more, NOTHING) == (sign < 0)
            tape = TapeEntropy.of_words([more])
            try:
                kept = fast._keeps(np.array([block]), np.array([drawn], dtype=np.uint64), tape)
                assert kept.tolist() == [sign < 0]
                assert power >= bits - 47
            except Slow:
                assert power <= bits - 46
        if chance.hi < 1:  # V cannot be told from the chance by these bits
            with pytest.raises(TapeExhausted):
                true.exact(block, (at >> 64 << true.m) + digits, at & (2**64 - 1), NOTHING)
        at = min(at, 2**bits - 1)
        drawn, more = (at >> 64 << true.m) + digits, at & (2**64 - 1)
        with pytest.raises(Slow):
            fast._keeps(np.array([block]), np.array([drawn], dtype=np.uint64), TapeEntropy.of_words([more]))


@pytest.mark.parametrize("variance", [*BLOCKS, Fraction(10**80)])
def test_what_is_kept_at_once_is_below_every_chance_of_its_block(variance: Fraction) -> None:
    law_of_it = Blocks(variance)
    rest = law_of_it._width - law_of_it.m
    for j, kept in enumerate(law_of_it._kept):
        share = kept >> law_of_it.m
        least = exp_neg(((j + 1) ** 2 - j * j) * Fraction(4) ** law_of_it.m / (2 * variance), 192)  # at |z| = (j+1) L
        assert share << law_of_it.m == kept
        assert Fraction(share, 2**rest) <= least.lo
        assert least.hi < Fraction(share + 2, 2**rest)


@pytest.mark.parametrize("variance", [*BLOCKS, *OBJECTS])
def test_blocks_have_between_64_and_128_lengths_to_sigma(variance: Fraction) -> None:
    top = Blocks(variance).top.variance
    assert 2**12 < top <= 2**14
    assert top * 4 ** Blocks(variance).m == variance


@lru_cache
def edges_and_masses(variance: Fraction, n: int) -> tuple[list[int], list[float]]:
    """Up to 61 cells at quantiles of the continuous law, those with fewer than 12 of n draws expected pooled."""
    sigma = Fraction(math.isqrt(int(variance * 2**40)), 2**20)
    reach = [NormalDist().inv_cdf(p) for p in np.linspace(0.02, 0.98, 49)]
    cuts = sorted({0, 1, *(round(Fraction(x) * sigma) for x in (*reach, -4, -3, -2.5, 2.5, 3, 4))})

    def masses() -> list[float]:
        whole = law.whole(variance, 256)
        above = [Fraction(1), *(bracket(law.upper(variance, cut, 256) / whole).lo for cut in cuts), Fraction(0)]
        return [float(high - low) for high, low in itertools.pairwise(above)]

    while min(found := masses()) * n < 12:
        cuts.pop(min(max(int(np.argmin(found)) - 1, 0), len(cuts) - 1))
    return cuts, found


def fits(draws: NDArray[Any], variance: Fraction) -> float:
    cuts, masses = edges_and_masses(variance, len(draws))
    return chi_square_chance(cell_counts(draws, cuts), masses)


@pytest.mark.parametrize("variance", MODERATE + LARGE)
def test_law(variance: Fraction) -> None:
    assert fits(discrete_gaussian(variance, 10**6), variance) > FALSE_ALARM


@pytest.mark.parametrize("variance", OBJECTS)
def test_law_of_python_ints(variance: Fraction) -> None:
    assert fits(discrete_gaussian(variance, 30_000), variance) > FALSE_ALARM


@pytest.mark.parametrize("variance", [Fraction(1, 3), Fraction(100), Fraction(10**12)])
def test_law_of_single_draws(variance: Fraction) -> None:
    assert fits(np.array([discrete_gaussian(variance) for _ in range(40_000)]), variance) > FALSE_ALARM


@pytest.mark.slow
@pytest.mark.parametrize("variance", MODERATE + LARGE)
def test_law_of_many_draws(variance: Fraction) -> None:
    cuts, masses = edges_and_masses(variance, 10**8)
    counts = sum(cell_counts(discrete_gaussian(variance, 2 * 10**6), cuts) for _ in range(50))
    assert chi_square_chance(counts, masses) > FALSE_ALARM  # type: ignore[arg-type]


def sigma_off(variance: Fraction, n: int) -> NDArray[Any]:
    return discrete_gaussian(variance * Fraction(21, 20) ** 2, n)


def lost_sign(variance: Fraction, n: int) -> NDArray[Any]:
    return np.abs(discrete_gaussian(variance, n))


def double_zero(variance: Fraction, n: int) -> NDArray[Any]:
    """A distance whose 0 has its whole weight, then a sign."""
    signed = Bell(variance, folded=False).many(np.random.default_rng(2).integers(0, 2**64, n, dtype=np.uint64), NOTHING)
    return np.where(signed < 0, -~signed, signed)


def shifted(variance: Fraction, n: int) -> NDArray[Any]:
    return discrete_gaussian(variance, n) + 1


@pytest.mark.parametrize("variance", [Fraction(1), Fraction(5, 2), Fraction(100)])
@pytest.mark.parametrize("broken", [sigma_off, lost_sign, double_zero, shifted])
def test_the_chi_square_test_finds_broken_samplers(broken: Any, variance: Fraction) -> None:
    assert fits(broken(variance, 10**6), variance) < FALSE_ALARM


@pytest.mark.parametrize("broken", [sigma_off, lost_sign])
def test_the_chi_square_test_finds_broken_large_variances(broken: Any) -> None:
    assert fits(broken(Fraction(2**80), 10**6), Fraction(2**80)) < FALSE_ALARM


@pytest.mark.parametrize("variance", [Fraction(2**80), Fraction(2**108), Fraction(10**24, 7)])
@pytest.mark.parametrize("lowest", [0, 3, 8, 21])
def test_low_digits_of_large_variances_are_uniform(variance: Fraction, lowest: int) -> None:
    """Six binary digits of Z: uniform to under 2**(lowest + 6) / sigma, far below what 10**6 draws can see."""
    digits = (discrete_gaussian(variance, 10**6) >> lowest) & 63
    assert chi_square_chance(np.bincount(digits, minlength=64), [1 / 64] * 64) > FALSE_ALARM
    stuck = digits | (np.arange(len(digits)) % 16 == 0)  # the lowest digit set in one draw of sixteen
    assert chi_square_chance(np.bincount(stuck, minlength=64), [1 / 64] * 64) < FALSE_ALARM


@pytest.mark.parametrize("variance", SQUARES)
def test_one_tape_gives_the_same_draws_one_by_one_and_together(variance: Fraction) -> None:
    words = np.random.default_rng(5).integers(0, 2**64, 3000, dtype=np.uint64)
    tape = TapeEntropy.of_words(words)
    together = discrete_gaussian(variance, len(words), TapeEntropy.of_words(words))
    assert together.tolist() == [discrete_gaussian(variance, None, tape) for _ in words]


@pytest.mark.parametrize("variance", [*MODERATE, *LARGE, *OBJECTS])
def test_one_draw_is_an_array_of_one(variance: Fraction) -> None:
    random = np.random.default_rng(7)
    for _ in range(300):  # some of them look further, some are drawn again
        words = random.integers(0, 2**64, 40, dtype=np.uint64)
        one, array = TapeEntropy.of_words(words), TapeEntropy.of_words(words)
        alone = discrete_gaussian(variance, None, one)
        assert type(alone) is int
        assert discrete_gaussian(variance, 1, array).tolist() == [alone]
        assert one.used == array.used


@pytest.mark.parametrize(
    ("variance", "kind"),
    [("1e-9", np.int64), (1, np.int64), (2**108, np.int64), (2**108 + 1, object), (2**200, object)],
)
def test_type_follows_from_the_variance(variance: object, kind: type) -> None:
    draws = discrete_gaussian(Fraction(variance), 100)  # type: ignore[call-overload]
    assert draws.dtype == kind
    assert draws.shape == (100,)
    assert discrete_gaussian(Fraction(variance), 0).shape == (0,)  # type: ignore[call-overload]
    if kind is object:
        assert {type(z) for z in draws} == {int}


@pytest.mark.parametrize("variance", ["1e-4", "1e-9", "1e-300"])
def test_tiny_variances_give_zero(variance: str) -> None:
    """P(Z != 0) is 2 e**-5000 at most."""
    assert not discrete_gaussian(Fraction(variance), 1000).any()
    assert [discrete_gaussian(Fraction(variance)) for _ in range(100)] == [0] * 100


@pytest.mark.parametrize("variance", [0, -1, float("nan"), float("inf"), True, "ten", None])
def test_other_variances_are_refused(variance: Any) -> None:
    for size in (None, 3):
        with pytest.raises(Refusal, match="variance"):
            discrete_gaussian(variance, size)


@lru_cache
def pmf(variance: Fraction, k: int) -> Enclosure:
    whole = law.whole(variance, 160)
    with precision(192):
        return bracket((-ball(k * k / (2 * variance))).exp() / whole)


@lru_cache
def laplace_weights(scale: Fraction) -> dict[int, Fraction]:
    """Lower bounds; what lies beyond 12 scales counts as unexplored."""
    p = exp_neg(1 / scale)
    return {k: ((1 - p) / (1 + p) * exp_neg(abs(k) / scale)).lo for k in range(-int(12 * scale), int(12 * scale) + 1)}


class Again(Exception):
    """The reference begins anew, as if nothing had been drawn."""


def one_choice_laplace(scale: Fraction, choices: Choices) -> int:
    if vars(choices).setdefault("begun", False):
        raise Again
    choices.begun = True  # type: ignore[attr-defined]
    weights = laplace_weights(scale)
    return list(weights)[choices.choose(list(weights.values()))]


def one_choice_coin(x: Fraction, choices: Choices) -> bool:
    p = exp_neg(x)
    return choices.choose([1 - p.hi, p.lo]) == 1


@pytest.fixture
def primitives_taken_as_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference, "bernoulli_exp", one_choice_coin)
    monkeypatch.setattr(reference, "discrete_laplace", one_choice_laplace)


def round_holds(draw: Any, variance: Fraction) -> bool:
    """One round by enumeration: the law is what a round ends in, given that it is not begun again."""

    def one_round(choices: Choices) -> int | None:
        try:
            return draw(choices)
        except Again:
            return None

    found, rest = enumerate_law(one_round, unexplored=Fraction(1, 10**4))
    again = found.get(None, Fraction(0))
    return all(
        pmf(variance, k).surely_at_least(mass / (1 - again))
        and pmf(variance, k).surely_at_most((mass + rest) / (1 - again - rest))
        for k, mass in found.items()
        if k is not None
    )


@pytest.mark.usefixtures("primitives_taken_as_proved")
@pytest.mark.parametrize("variance", [Fraction(1, 3), Fraction(1), Fraction(5, 2), Fraction(4), Fraction(30)])
def test_the_reference_by_enumeration(variance: Fraction) -> None:
    assert round_holds(lambda e: reference.discrete_gaussian(variance, e), variance)


@pytest.mark.usefixtures("primitives_taken_as_proved")
def test_enumeration_finds_broken_references() -> None:
    for broken in (
        lambda e: reference.discrete_gaussian(Fraction(21, 20) ** 2, e),
        lambda e: abs(reference.discrete_gaussian(Fraction(1), e)),
        lambda e: reference.discrete_gaussian(Fraction(1), e) + 1,
        lambda e: one_choice_laplace(Fraction(2), e),
    ):
        assert not round_holds(broken, Fraction(1))


@pytest.mark.parametrize("variance", [Fraction(1, 3), Fraction(20)])
def test_the_fast_sampler_and_the_reference_have_one_law(variance: Fraction) -> None:
    class Bits:
        releasable = False
        random = np.random.default_rng(11)

        def bits(self, k: int) -> int:
            return int(self.random.integers(0, 2**k))

    draws = np.array([reference.discrete_gaussian(variance, Bits()) for _ in range(4000)])  # type: ignore[arg-type]
    assert fits(draws, variance) > FALSE_ALARM
    assert fits(discrete_gaussian(variance, 4000), variance) > FALSE_ALARM
    assert fits(discrete_laplace(Fraction(math.isqrt(int(variance)) + 1), 4000), variance) < FALSE_ALARM
