"""The grid: fine enough for the noise, coarse enough for 128 bits, and sensitivity holds for every value within it."""

from __future__ import annotations

import math
import sys
from fractions import Fraction as F

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from power import tried
from questions import VISITS, catalog_with, planned, quoted, with_column

from dpcurator.engines.limits import check_core
from dpcurator.engines.reference import measure
from dpcurator.errors import Refusal
from dpcurator.language.rows import Field
from dpcurator.plan.nodes import Measured
from dpcurator.pricing.grids import DEPTH, FINE, WIDTH, finest, grid, leading_bit, nearest

LARGEST = F(sys.float_info.max)


def real(lower, upper) -> Measured:
    return Measured("x", Field(0, "float"), "float", "float", F(lower), F(upper))


def whole(lower, upper) -> Measured:
    return Measured("x", Field(0, "integer"), "integer", "integer", F(lower), F(upper))


@pytest.mark.parametrize(
    ("scale", "k"),
    [(F(1), 44), (F(2) ** 44, 0), (F(2) ** 50, -6), (F(3), 43), (F(1, 3), 46), (F(5), 42), (F(7, 8), 45)],
)
def test_the_finest_step_is_a_44th_power_below_the_noise(scale, k):
    assert finest(scale) == k
    assert F(2) ** -k <= scale / 2**FINE < F(2) ** (1 - k)


@given(st.fractions(min_value=F(1, 10**30), max_value=10**30), st.integers(-300, 300))
def test_bits_and_steps_of_any_number(value, power):
    value *= F(10) ** power
    assert F(2) ** leading_bit(value) <= value < F(2) ** (leading_bit(value) + 1)
    assert F(2) ** -finest(value) <= value / 2**FINE < F(2) ** (1 - finest(value))


def test_an_integer_column_is_its_own_grid():
    made = grid(whole(-5, 9), [F(1)], 4)
    assert (made.lower, made.upper, made.exponent, made.clamp_lower, made.clamp_upper) == (-5, 9, 0, -5, 9)
    grid(whole(-(2**61), 2**61 - 1), [F(1)], 1)
    with pytest.raises(Refusal, match="too far apart") as refused:
        grid(whole(-(2**63), 2**63 - 1), [F(1)], 1)
    assert refused.value.cure


magnitude = st.sampled_from(
    [F(1), F(1, 10), F(5, 10**324), F(10) ** -300, F(10) ** 20, F(10) ** 300, LARGEST, F(7, 10**9)]
)


@st.composite
def columns(draw):
    size, other = draw(magnitude), draw(magnitude)
    lower = draw(st.sampled_from([F(0), -size, size, -size * F(1, 3), size * F(99999, 100000)]))
    upper = max(lower, draw(st.sampled_from([F(0), size, other, lower, lower + F(1, 10**25), -size])))
    assume(abs(lower) <= LARGEST and abs(upper) <= LARGEST)
    return real(lower, upper)


@given(columns(), magnitude, st.sampled_from((1, 4, 2**20)), st.data())
@tried
def test_sensitivity_from_the_rounded_bounds_holds_for_every_value(column, scale, max_rows, data):
    """For every double, clamped and measured as an engine does it, L <= value <= U in grid steps."""
    made = grid(column, [scale], max_rows)
    assert made.lower <= made.upper
    assert (made.upper - made.lower) * max_rows <= WIDTH
    assert max(abs(made.lower), abs(made.upper)) <= DEPTH
    assert (made.lower, made.upper) == (nearest(column.lower, made.exponent), nearest(column.upper, made.exponent))
    near = [float(column.lower), float(column.upper), 0.0, math.inf, -math.inf, 5e-324, sys.float_info.max]
    near += [math.nextafter(end, way) for end in near[:2] for way in (math.inf, -math.inf)]
    near += [data.draw(st.floats(allow_nan=False)), data.draw(st.floats(float(column.lower), float(column.upper)))]
    for value in near:
        step = measure(made, value)
        assert 0 <= step <= made.upper - made.lower
        inside = min(max(F(float(value)) if math.isfinite(value) else F(0), column.lower), column.upper)
        if math.isfinite(value) and abs(inside) * F(2) ** made.exponent < 2**50:
            assert abs((step + made.lower) - inside * F(2) ** made.exponent) <= F(3, 2)


@given(columns(), st.sampled_from((1, 4, 2**20)))
def test_a_coarser_grid_than_the_noise_asks_is_taken_only_where_128_bits_ask(column, max_rows):
    scale = F(max_rows) * max(column.upper - column.lower, abs(column.upper))
    assume(scale > 0)
    made = grid(column, [scale], max_rows)
    if F(2) ** -made.exponent > scale / 2**FINE and made.exponent < 1000:
        finer = [nearest(end, made.exponent + 1) for end in (column.lower, column.upper)]
        assert (finer[1] - finer[0]) * max_rows > WIDTH or max(map(abs, finer)) > DEPTH


def test_large_noise_makes_no_grid_coarser_than_the_bounds():
    """At a small price a step of 2**-44 noise scales would round the whole column away."""
    tiny = quoted("SELECT SUM(cost), AVG(gain) FROM visits", F(1, 10**25))
    for one in tiny.priced:
        if one.steps.upper:
            assert one.steps.upper - one.steps.lower >= 2**FINE


@pytest.mark.parametrize(
    "bounds", [(F(0), F(5, 10**324)), (F(1), F(1) + F(1, 2**200)), (-F(5, 10**324), F(0)), (LARGEST, LARGEST)]
)
@pytest.mark.parametrize("call", ["SUM(cost)", "AVG(cost)"])
@pytest.mark.parametrize("epsilon", [F(1, 10**30), F(1), F(10) ** 300])
def test_bounds_that_fall_on_one_step_are_noised_as_if_they_moved_by_one(bounds, call, epsilon):
    catalog = catalog_with(with_column(VISITS, "cost", lower=bounds[0], upper=bounds[1]))
    quote = quoted(f"SELECT {call} FROM visits", epsilon, catalog)
    for one in quote.priced:
        assert one.mechanism.scale * one.epsilon == max(1, one.reading.l1)
    check_core(quote.lowered.core) if quote.priced else None


def test_a_grid_is_found_however_far_the_bounds_and_the_noise_are_apart():
    for column in (real(0, LARGEST), real(0, F(5, 10**324)), real(-LARGEST, LARGEST), real(F(1), F(1) + F(1, 2**900))):
        for scale in (F(1, 10**900), F(10) ** 900, F(1)):
            found = grid(column, [scale], 2**20)
            assert found.lower <= found.upper


def test_only_a_numeric_column_with_bounds_is_measured():
    text = Measured("x", Field(0, "text"), "text", "text", None, None)
    for column in (text, Measured("x", Field(0, "float"), "float", "float", None, None)):
        with pytest.raises(TypeError):
            grid(column, [F(1)], 1)
    assert planned("SELECT COUNT(note) FROM visits").calls[0].column.lower is None
