"""What a mask hides, Decimals of any exponent, and values that are not there: read one by one, and nothing raises."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction as F
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpcurator as dp
from dpcurator.errors import Refusal
from dpcurator.mechanisms.choice.nearest_candidate import Nearest
from dpcurator.mechanisms.choice.scores import read_scores
from dpcurator.mechanisms.grid_rounding import Reals
from dpcurator.numbers.coerce import decimal_value, double_of, exact_scalar, missing, quotient, real_value, unmasked

HUGE, TINY = Decimal("1e999999999999"), Decimal("-1e-999999999999")
ZERO = Decimal("0e999999")
ABSENT: list[Any] = [None, pd.NA, pd.NaT, np.ma.masked]


def test_what_a_mask_hides_is_missing_whatever_lies_under_it() -> None:
    for kind in (np.float32, np.float64):
        read = unmasked(np.ma.array([1.5, 99.0], mask=[0, 1], dtype=kind))
        assert type(read) is np.ndarray
        assert read[0] == 1.5
        assert math.isnan(read[1])
    assert unmasked(np.ma.array([1, 99], mask=[0, 1])).tolist() == [1, None]
    assert unmasked(np.ma.array([[1, 2], [3, 4]])).tolist() == [[1, 2], [3, 4]]
    plain = [1, 2]
    assert unmasked(plain) is plain


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (Decimal("0.1"), F(1, 10)), (HUGE, math.inf), (HUGE.copy_negate(), -math.inf), (TINY, F(0)), (ZERO, F(0)),
        (Decimal("-Infinity"), -math.inf), (Decimal("1e3999"), F(10) ** 3999), (Decimal("1e4000"), math.inf),
    ],
)
def test_a_decimal_is_its_rational_or_too_far_to_write_out(value: Decimal, read: Any) -> None:
    assert decimal_value(value) == read
    assert real_value(value) == read
    near = float(min(max(read, -9), 9))
    reals, line = Reals.declared(F(1, 10), (F(-5), F(5)), F(0)), Nearest(11, (), F(-5), F(1))
    assert reals.steps(value) == reals.steps([value, 0])[0] == reals.steps(near)  # type: ignore[index]
    assert line.places([value, 0]).tolist() == line.places([near, 0]).tolist()


@pytest.mark.parametrize("value", [*ABSENT, Decimal("nan"), Decimal("sNaN"), "x", 1j, np.array([1, 2]), math.nan])
def test_what_is_no_number_is_none(value: Any) -> None:
    assert real_value(value) is None
    assert missing(value) is (type(value).__name__ in ("NoneType", "NAType", "NaTType", "MaskedConstant"))


@pytest.mark.parametrize("odd", [*ABSENT, Decimal("nan"), Decimal("sNaN"), HUGE, math.inf], ids=repr)
@pytest.mark.parametrize("array", [list, lambda rows: np.array(rows, dtype=object)], ids=["list", "array"])
def test_a_score_that_is_no_finite_number_has_the_declared_one(odd: Any, array: Any) -> None:
    if odd is np.ma.masked and array is not list:
        return  # such an array numpy does not make
    assert read_scores(array([3, odd]), nan=F(7)).exact() == [3, 7]
    with pytest.raises(Refusal, match="not finite"):
        read_scores(array([3, odd]))


@pytest.mark.parametrize("kind", [np.int8, np.int64, np.uint64, np.float16, np.float64])
def test_masked_scores_records_and_values(kind: Any) -> None:
    """The best score lies under the mask: read from there, it would be the one chosen; passed over, no top at all."""
    held = np.ma.array([3, 100], mask=[0, 1], dtype=kind)
    assert read_scores(held, nan=F(0)).exact() == [3, 0]
    assert Reals.declared(F(1), None, F(-1)).steps(held).tolist() == [3, -1]  # type: ignore[union-attr]
    assert Nearest(11).places(held).tolist() == [3]
    assert dp.order_statistic(1, lower=0, upper=200, grid=1).rows(held).tolist() == [0, 0, 3, 200]
    chosen = {dp.Exponential(sensitivity=1, epsilon=500, nan=0).select(held) for _ in range(20)}
    assert chosen == {0}


def test_masked_answers_of_a_person_become_the_declared_one() -> None:
    one = dp.RandomisedResponse(values=3, epsilon=700, otherwise=0)
    assert one.respond_many(np.ma.array([2, 2], mask=[0, 1])).tolist() == [2, 0]
    assert one.respond(HUGE) == 0
    with pytest.raises(Refusal):
        one.estimate(np.ma.array([2, 2], mask=[0, 1]))


def test_unsigned_numbers_past_int64_are_read_in_either_byte_order() -> None:
    """Neighbours one apart; read by wrapping around, they would be 2**64 apart."""
    for order in "<>":
        whole = np.array([2**63 - 1, 2**63, 2**64 - 1], dtype=f"{order}u8")
        assert read_scores(whole).exact() == [2**63 - 1, 2**63, 2**64 - 1]
        assert Reals(F(1)).steps(whole).tolist() == [2**63 - 1, 2**63, 2**64 - 1]  # type: ignore[union-attr]
        assert Nearest(11).places(whole).tolist() == [10, 10, 10]
        signed = np.array([-3, 2**63 - 1], dtype=f"{order}i8")
        assert read_scores(signed).exact() == [-3, 2**63 - 1]


ODD: list[Any] = [*ABSENT, Decimal("sNaN"), "x", 1j, [], [1, 2], {}, np.array([1, 2]), object()]


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: type(odd).__name__)
def test_functions_of_rows_raise_for_no_row(odd: Any) -> None:
    wide: dict[str, Any] = {"lower": 2, "upper": 5}
    assert dp.Bounded.sum(**wide)([odd, 4]) == (6,)
    assert dp.Bounded.largest(**wide)([odd]) == (2,)
    assert dp.Bounded.histogram([1, 2])([odd, 2]) == (0, 1)
    assert dp.Bounded.count(lambda row: row == 1)([pd.NA, 1]) == (1,)
    assert dp.Bounded.count(lambda row: row)([odd, 0])[0] in (0, 1)
    both = dp.enumerated(sum, domain=(1, 3), n=2, lower=0, upper=6, grid=1)
    assert both.rows([odd, 3]) == (0, 1)


def test_infinities_of_every_kind_are_clamped_alike() -> None:
    wide = dp.Bounded.sum(lower=2, upper=5)
    for kind in (float, Decimal, np.float32, np.float64):
        assert wide([kind("inf")]) == (5,)
        assert wide([kind("-inf")]) == (2,)
    assert wide([HUGE, TINY]) == (7,)


def test_a_rational_as_a_double_is_an_infinity_beyond_them():
    assert [double_of(F(n)) for n in (10**400, -(10**400), 2**53 + 1)] == [math.inf, -math.inf, 2.0**53]
    assert quotient(10**400, 10**399) == 10.0
    assert double_of(F(1, 10**400)) == 0.0


def test_scalars_of_numpy_are_read_exactly():
    assert exact_scalar(np.float64(0.1)) == exact_scalar(0.1) == F(0.1)
    assert exact_scalar(np.int64(-3)) == exact_scalar(F(-3)) == -3
