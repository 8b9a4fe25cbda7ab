"""The grid: its step, how far rounding can part neighbours, and real values to whole steps and back, exactly."""

from __future__ import annotations

import itertools
import math
import random
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcurator.errors import Refusal
from dpcurator.mechanisms.clamp import clamp
from dpcurator.mechanisms.grid import l1_steps, l2_squared_steps, step_of
from dpcurator.mechanisms.grid_rounding import Reals, declared_constants

STEPS = [Fraction(s) for s in ("1", "1/1048576", "0.01", "1e-7", "3", "0.05", "2e9", "1e-30", "1e-400", "1e400")]


def by_definition(step: Fraction, value: Any) -> int:
    return math.floor(Fraction(value) / step + Fraction(1, 2))


@pytest.mark.parametrize(
    ("sensitivity", "scale", "coordinates", "step"),
    [
        ("1", "1", 1, "1/1048576"),  # a power of two that divides it
        ("10000000", "10000000", 1, "8"),
        ("0.12", "1.2", 1, "1e-7"),  # no power of two divides it; a power of ten does
        ("1/3", "1/3", 1, "1/4194304"),  # nothing finite divides it
        ("0.12", "1.2", 5, "1/67108864"),  # several coordinates: rounding is never free
        ("1", "1/1000", 1, "1/1073741824"),  # fine beside the noise too
        ("1", "1000", 1, "1/1048576"),  # and beside the sensitivity
    ],
)
def test_the_step_by_itself(sensitivity: str, scale: str, coordinates: int, step: str) -> None:
    found = step_of(None, sensitivity=Fraction(sensitivity), scale=Fraction(scale), coordinates=coordinates)
    assert found == Fraction(step)
    assert found * 2**20 <= min(Fraction(sensitivity) / coordinates, Fraction(scale))


@pytest.mark.parametrize("good", ["0.01", 0.01, "1/1024", 3, "0.05", "1e-400", Fraction(1, 5**50)])
def test_a_finite_decimal_is_a_step(good: Any) -> None:
    assert step_of(good, sensitivity=Fraction(1), scale=Fraction(1), coordinates=1) > 0


@pytest.mark.parametrize("bad", ["1/3", "1/700", Fraction(1, 5**50 * 3), 0, -1, float("nan"), True, "x"])
def test_another_step_is_refused(bad: Any) -> None:
    with pytest.raises(Refusal, match="grid"):
        step_of(bad, sensitivity=Fraction(1), scale=Fraction(1), coordinates=1)


def test_rounding_a_scalar_is_free_when_the_step_divides() -> None:
    assert l1_steps(Fraction(10), Fraction(1, 100), 1) == 1000
    assert l1_steps(Fraction(10), Fraction(3), 1) == 4
    assert l2_squared_steps(Fraction(10), Fraction(3), 1) == 16


@pytest.mark.parametrize("s", [Fraction(x) for x in ("1/2", "1", "5/4", "2", "3")])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_no_two_vectors_are_further_apart_than_counted_and_some_are_as_far(s: Fraction, k: int) -> None:
    """By enumeration on a lattice of eighths: all moves of l1 (or l2) length at most s, from all offsets in a step.

    A coordinate that moves by m > 0 eighths moves by floor(m/8 + offset) steps: at most ceil(m/8), at least that is
    reached. So the most over offsets is found coordinate by coordinate.
    """
    eighths = range(int(8 * s) + 1)
    most = {m: max((offset + m) // 8 for offset in range(8)) for m in eighths}
    moves = list(itertools.combinations_with_replacement(eighths, k))
    l1 = max(sum(most[m] for m in v) for v in moves if sum(v) <= 8 * s)
    l2 = max(sum(most[m] ** 2 for m in v) for v in moves if sum(m * m for m in v) <= (8 * s) ** 2)
    assert l1 <= l1_steps(s, Fraction(1), k)
    assert l2 <= l2_squared_steps(s, Fraction(1), k)
    if k == 1 or 8 * s >= 8 * (math.ceil(s) - 1) + k:  # room for a whole move and a sliver in each other coordinate
        assert l1 == l1_steps(s, Fraction(1), k)


@given(st.fractions(min_value=Fraction(1, 100), max_value=10**9), st.integers(1, 10**9))
def test_the_l2_bound_is_the_last_whole_number_below(ratio: Fraction, k: int) -> None:
    if k == 1:
        return
    found = l2_squared_steps(ratio, Fraction(1), k)

    def below(n: int) -> bool:  # n < ratio**2 + k + 2 ratio sqrt(k)
        rest = n - ratio**2 - k
        return rest < 0 or rest**2 < 4 * ratio**2 * k

    assert below(found)
    assert not below(found + 1)


def awkward(step: Fraction) -> list[float]:
    """Doubles around halves of the step, around powers of two, the ends, and noise of every size."""
    rng = random.Random(7)
    found = [0.0, -0.0, 5e-324, -5e-324, 1.7976931348623157e308, -1.7976931348623157e308, 0.49999999999999994]
    for k in [*range(-6, 7), 10**6, -(10**6), 2**40, 2**52, 2**53, 2**61, 2**62]:
        try:
            half = float((k + Fraction(1, 2)) * step)
        except OverflowError:
            continue
        found += [half, math.nextafter(half, math.inf), math.nextafter(half, -math.inf)]
    found += [rng.uniform(-1, 1) * 2.0 ** rng.randint(-1070, 1023) for _ in range(2000)]
    found += [rng.uniform(-1, 1) * 2.0 ** rng.randint(-30, 60) for _ in range(2000)]
    found += [round(rng.uniform(-100, 100), 3) for _ in range(2000)]
    return found


@pytest.mark.parametrize("step", STEPS, ids=lambda step: f"{float(step):.3g}" if step < 10**300 else "1e400")
def test_doubles_become_the_whole_numbers_of_the_definition(step: Fraction) -> None:
    values = awkward(step)
    found = Reals(step).steps(np.array(values))
    assert [int(n) for n in found] == [by_definition(step, value) for value in values]
    assert [Reals(step).steps(value) for value in values[:200]] == [int(n) for n in found[:200]]


@pytest.mark.parametrize("step", [s for s in STEPS if s < 10**300])
def test_a_fast_path_without_a_margin_would_be_wrong(step: Fraction) -> None:
    """The negative control: floor(x / step + 1/2) in doubles is not that, on the same values."""
    values = [value for value in awkward(step) if abs(value) < 2.0**40 * float(step)] if step > 10**-300 else []
    wrong = sum(math.floor(value / float(step) + 0.5) != by_definition(step, value) for value in values)
    assert wrong or not values or step in (3, 2 * 10**9)


@pytest.mark.parametrize("step", STEPS[:8])
def test_whole_numbers_fractions_and_decimals_are_read_exactly(step: Fraction) -> None:
    exact: list[Any] = [
        0,
        1,
        -1,
        10**40,
        -(2**63),
        Fraction(1, 3),
        Fraction(-7, 200),
        Decimal("0.005"),
        Decimal("1e30"),
    ]
    assert Reals(step).steps(exact).tolist() == [by_definition(step, value) for value in exact]
    for kind in (np.int8, np.int64, np.uint64):
        info = np.iinfo(kind)
        whole = np.array([info.min, info.max, 0, 3, 100], dtype=kind)
        assert [int(n) for n in Reals(step).steps(whole)] == [by_definition(step, int(value)) for value in whole]
    assert [int(n) for n in Reals(step).steps(np.array([0.1, 2.5], dtype=np.float32))] == [
        by_definition(step, float(np.float32(value))) for value in (0.1, 2.5)
    ]
    assert Reals(step).steps(np.float64(0.5)) == Reals(step).steps(0.5) == Reals(step).steps(np.array(0.5))
    assert Reals(step).steps(np.int32(7)) == by_definition(step, 7)
    assert Reals(step).steps(np.longdouble(0.5)) == by_definition(step, 0.5)


@pytest.mark.parametrize("step", STEPS, ids=lambda step: f"{float(step):.3g}" if step < 10**300 else "1e400")
def test_back_it_is_the_nearest_double(step: Fraction) -> None:
    rng = random.Random(8)
    whole = [rng.randint(-(2**b), 2**b) for b in range(1, 63) for _ in range(20)]

    def nearest(n: int) -> float:
        try:
            return float(n * step)
        except OverflowError:
            return math.copysign(math.inf, n) if n else 0.0

    want = [nearest(n) for n in whole]
    assert Reals(step).shown(np.array(whole)).tolist() == want
    assert Reals(step).shown(np.array(whole, dtype=object)).tolist() == want
    assert [Reals(step).shown(n) for n in whole[:100]] == want[:100]
    assert Reals(step).exactly(whole[50]) == whole[50] * step


def test_shapes_are_kept_and_layout_does_not_matter() -> None:
    values = np.array([[0.25, 1.75, 2.5], [float(2**70), -0.5, 3.0]])
    want = [[0, 2, 3], [2**70, 0, 3]]
    assert Reals(Fraction(1, 8)).steps(np.zeros((200, 300))).shape == (200, 300)
    for laid in (values, np.asfortranarray(values), values[::1, ::1]):
        assert Reals(Fraction(1)).steps(laid).tolist() == want
        assert Reals(Fraction(1)).steps(laid.T).tolist() == np.array(want, dtype=object).T.tolist()
    empty = Reals(Fraction(1)).steps([])
    assert empty.shape == (0,)
    assert Reals(Fraction(1)).shown(empty).shape == (0,)


def test_a_million_values_are_those_one_by_one() -> None:
    """Pieces are put together in order, also when one of them needs Python ints."""
    values = np.random.default_rng(3).normal(0, 100, 50_000)
    for step in (Fraction(1, 2**20), Fraction(1, 100)):
        for odd in (None, 1e300):
            if odd is not None:
                values[20_000] = odd
            found = Reals(step).steps(values)
            assert found.dtype == (np.int64 if odd is None else object)
            for i in (0, 16_383, 16_384, 20_000, 49_999):
                assert int(found[i]) == by_definition(step, values[i])
            assert int(found.astype(object).sum()) == sum(by_definition(step, value) for value in values.tolist())
        values[20_000] = 0.5


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize("bounds", [(0, 100), (Fraction(-1, 3), Fraction(10**30)), (5, 5)])
@pytest.mark.parametrize("step", [Fraction(1), Fraction(1, 100), Fraction(1, 2**20)])
def test_declared_constants_are_used_and_nothing_raises(bounds: Any, step: Fraction) -> None:
    ends, nan = declared_constants(bounds, bounds[0])
    reals = Reals.declared(step, ends, nan)
    low, high = (by_definition(step, end) for end in bounds)
    values = [NAN, INF, -INF, 1e300, -1e300, 7.0, 0.125, -0.0]
    want = [low, high, low, *(min(max(by_definition(step, value), low), high) for value in values[3:])]
    odd: list[Any] = [None, Decimal("NaN"), Decimal("sNaN"), Decimal("-Infinity"), np.float32("nan"), np.float64(INF)]
    assert [int(n) for n in reals.steps(np.array(values))] == want
    assert [int(n) for n in reals.steps(values)] == want
    assert [reals.steps(value) for value in values] == want
    assert [int(n) for n in reals.steps(odd)] == [low, low, low, low, low, high]
    assert [reals.steps(one) for one in odd] == [low, low, low, low, low, high]


def test_clamping_after_rounding_is_clamping_before() -> None:
    step, bounds = Fraction(1, 4), (Fraction(1, 3), Fraction(17, 7))
    reals = Reals.declared(step, bounds, None)
    for eighth in range(-40, 60):
        value = Fraction(eighth, 8)
        assert reals.steps(value) == by_definition(step, min(max(value, bounds[0]), bounds[1]))


def test_without_constants_the_refusal_says_which_to_declare_and_not_what_was_there() -> None:
    reals = Reals(Fraction(1))
    for value in (NAN, None, [1.0, NAN], np.array([1234.5, NAN])):
        with pytest.raises(Refusal, match="nan=") as caught:
            reals.steps(value)
        assert "1234" not in str(caught.value)
    for value in (INF, -INF, [INF], np.array([1.0, -INF])):
        with pytest.raises(Refusal, match="bounds="):
            reals.steps(value)


@pytest.mark.parametrize("wrong", ["1", True, np.bool_(True), [[1.0], [2.0]], object(), {"a": 1}, np.array(["x"]), 1j])
def test_what_is_no_number_is_refused(wrong: Any) -> None:
    with pytest.raises(Refusal, match="number"):
        Reals(Fraction(1)).steps(wrong)


def test_a_float_outcome_is_the_point_that_is_shown_so() -> None:
    for step in (Fraction(1, 100), Fraction(1, 2**20)):
        for n in (0, 1, -7, 280779956, 10**12 + 1):
            assert Reals(step).place(Reals(step).shown(n)) == n
            assert Reals(step).place(n * step) == n
    assert Reals(Fraction(1, 100)).place(0.005) is None
    assert Reals(Fraction(1, 100)).place("0.07") == 7
    assert Reals(Fraction(1, 100)).place("0.075") is None
    assert Reals(Fraction(1, 100)).place(INF) is None


def test_clamp_keeps_the_kind_of_an_answer() -> None:
    assert clamp(-3.5, 0, 25) == 0.0
    assert isinstance(clamp(-3.5, 0, 25), float)
    assert clamp(54.4, 0, "25") == 25.0
    assert clamp(Fraction(1, 2), "2/3", 1) == Fraction(2, 3)
    assert clamp(7, 0, 5) == 5
    assert clamp(np.array([-1.0, 3.0, 99.0]), 0, 25).tolist() == [0.0, 3.0, 25.0]
    assert clamp(np.array([-1, 3, 99]), 0, 25).dtype == np.int64
    assert clamp(np.array([-1, 3], dtype=object), "1/2", 25).tolist() == [Fraction(1, 2), 3]
    far = 10**400  # past the largest double
    assert clamp(3.5, -far, far) == 3.5
    assert clamp(np.array([3.5]), -far, far).tolist() == [3.5]
    assert clamp(np.array([3]), -far, far).tolist() == [3]
    for low, high in ((1, 0), (NAN, 1), (0, INF), (True, 2)):
        with pytest.raises(Refusal):
            clamp(1.0, low, high)
    with pytest.raises(Refusal):
        clamp(np.array(["x"]), 0, 1)
