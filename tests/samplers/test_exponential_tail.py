"""The one-word inversion against ball arithmetic: every boundary between two outcomes, and the assumption on log."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, fmpq

from dpcurator.entropy import TapeEntropy, TapeExhausted
from dpcurator.numbers import Enclosure, exp_neg
from dpcurator.numbers.arb import precision
from dpcurator.samplers.exponential_tail import Tail

NOTHING = TapeEntropy("")
LAWS = [
    (Fraction(s), two_sided)
    for s in ("1/1000", "1/3", "1/2", "1", "3/2", "3", "10", "1000/7", "32768")
    for two_sided in (False, True)
]
ZEROS, ONES = [0] * 8, [2**64 - 1] * 8


def boundary(scale: Fraction, two_sided: bool, k: int) -> int:
    """The 63-bit word whose bracket holds the U at which the outcome passes from k+1 (below) to k (above)."""
    reach = exp_neg((k + 1) / scale, 256)
    if two_sided:
        reach = 2 * reach / (1 + exp_neg(1 / scale, 256))
    at = reach * 2**63
    assert math.floor(at.lo) == math.floor(at.hi)
    return math.floor(at.lo)


def outcomes(scale: Fraction) -> list[int]:
    """Which boundaries are tried: all of the small scales', else the first, the last and some between."""
    last = int(43 * scale)
    return list(range(last)) if last <= 500 else [*range(100), *range(100, last, last // 200), last - 1]


def many(tail: Tail, v: int, tape: TapeEntropy = NOTHING) -> int:
    return int(tail.many(np.array([v], dtype=np.uint64), tape)[0])


@pytest.mark.parametrize(("scale", "two_sided"), LAWS)
def test_words_at_each_boundary_fall_on_the_right_side(scale: Fraction, two_sided: bool) -> None:
    tail = Tail(scale, two_sided=two_sided)
    for k in outcomes(scale):
        at = boundary(scale, two_sided, k)
        if at <= 4 * scale + 4:
            break  # from here on a word holds several boundaries
        assert [many(tail, at - 1), many(tail, at + 1)] == [k + 1, k]
        assert [tail.one(at - 1, NOTHING), tail.one(at + 1, NOTHING)] == [k + 1, k]
        for draw in (tail.one, lambda v, tape: many(tail, v, tape)):
            with pytest.raises(TapeExhausted):
                draw(at, TapeEntropy(""))  # undecided by its first word
            assert draw(at, TapeEntropy.of_words(ZEROS)) == k + 1
            assert draw(at, TapeEntropy.of_words(ONES)) == k


class Slow(Exception):
    """The float path passed the word on."""


class FloatOnly(Tail):
    def exact(self, v: int, entropy: object) -> int:
        raise Slow


@pytest.mark.parametrize(("scale", "two_sided"), LAWS)
def test_the_boundary_words_and_their_neighbours_are_not_decided_in_floats(scale: Fraction, two_sided: bool) -> None:
    tail = FloatOnly(scale, two_sided=two_sided)
    for k in outcomes(scale):
        at = boundary(scale, two_sided, k)
        for v in (at - 1, at, at + 1) if at > 2**52 else (at,):  # below, the log can tell neighbouring words apart
            if v < 2**63:
                with pytest.raises(Slow):
                    tail.one(v, NOTHING)
                with pytest.raises(Slow):
                    many(tail, v)


@pytest.mark.parametrize(("scale", "two_sided"), LAWS)
def test_floats_are_right_at_every_distance_from_a_boundary(scale: Fraction, two_sided: bool) -> None:
    """Walking away from a boundary by powers of two: undecided at first, then right, and decided soon enough."""
    tail = FloatOnly(scale, two_sided=two_sided)
    for k in outcomes(scale)[:: max(1, len(outcomes(scale)) // 40)]:
        at, below, above = (boundary(scale, two_sided, j) if j >= 0 else 2**63 for j in (k, k + 1, k - 1))
        for step, expected, room in ((-1, k + 1, at - below), (1, k, above - at)):
            for power in range(62):
                v = at + step * 2**power
                if 2**power >= room - 1 or not 0 < v < 2**63:
                    break
                try:
                    assert tail.one(v, NOTHING) == expected
                    assert many(tail, v) == expected
                except Slow:
                    nearest = min(2**power, room - 2**power)  # an undecided word is near one boundary or the other
                    assert nearest <= at * (k + 2) / float(scale) * 2.0**-47 + at * 2.0**-49 + 4


@pytest.mark.parametrize("scale", [Fraction(s) for s in ("1/2", "1", "3/2", "3")])
def test_bisection_over_all_words_finds_the_law_itself(scale: Fraction) -> None:
    """The words of each outcome are counted by bisection on the vectorised path; their share is the pmf to 2**-61."""
    tail = Tail(scale, two_sided=True)
    edges = [2**63]
    for k in range(int(30 * scale)):
        low, high = 0, 2**63 - 1  # the least word that gives at most k, whatever follows (ones: the top of its bracket)
        while low < high:
            middle = (low + high) // 2
            if many(tail, middle, TapeEntropy.of_words(ONES)) <= k:
                high = middle
            else:
                low = middle + 1
        edges.append(low)
    p = exp_neg(1 / scale)
    for k, (above, below) in enumerate(itertools.pairwise(edges)):
        pmf = (1 - p) / (1 + p) * exp_neg(k / scale) * (1 if k == 0 else 2)
        share = Fraction(above - below, 2**63)
        assert Enclosure(share - Fraction(1, 2**61), share + Fraction(1, 2**61)).holds(pmf.lo)


@pytest.mark.parametrize("scale", [Fraction(1, 10**9), Fraction(1, 10**400), Fraction(1, 2**20), Fraction(1, 10**4)])
def test_tiny_scales_give_zero_for_every_word_but_the_first(scale: Fraction) -> None:
    for two_sided in (False, True):
        tail = Tail(scale, two_sided=two_sided)
        for v in (1, 2, 2**31, 2**62, 2**63 - 1):
            assert tail.one(v, NOTHING) == many(tail, v) == 0
        with pytest.raises(TapeExhausted):
            tail.one(0, NOTHING)
        assert many(tail, 0, TapeEntropy.of_words([1])) == 0


def test_the_first_word_goes_on_into_the_tail() -> None:
    tail = Tail(Fraction(1), two_sided=False)
    far = many(tail, 0, TapeEntropy.of_words([0, 0, 1 << 63]))
    assert far == int((63 + 128 + 1) * math.log(2))


def test_a_draw_that_int64_could_not_follow_is_an_error_not_a_wrap() -> None:
    words = [0] * 400 + [1]
    with pytest.raises(OverflowError):
        many(Tail(Fraction(2**15), two_sided=False), 0, TapeEntropy.of_words(words * 2))


def test_the_installed_logs_are_far_within_the_error_the_proof_assumes() -> None:
    """Assumed: relative error 2**-49. Here at most 2**-51 is found, on words of every size and next to 1."""
    random = np.random.default_rng(1)
    anywhere = random.integers(1, 2**63, 4000)
    powers = (np.int64(1) << random.integers(0, 63, 2000)) + random.integers(0, 2, 2000)
    every_size = (2.0 ** random.uniform(0, 62.99, 6000)).astype(np.int64)
    next_to_one = np.int64(2**63 - 1) - 1024 * random.integers(1, 2**20, 3000)
    v = np.concatenate([anywhere, powers, every_size, next_to_one])
    u = v.astype(np.float64) * 2.0**-63
    u = u[u < 1]
    with precision(140):
        true = [arb(fmpq(*float(x).as_integer_ratio())).log() for x in u]
        for name, logs in (("numpy", np.log(u)), ("math", [math.log(x) for x in u])):
            worst = max(abs(float(arb(float(found)) / exact - 1)) for found, exact in zip(logs, true, strict=True))
            assert worst <= 2.0**-51, name
