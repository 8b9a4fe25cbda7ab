"""exp, ln and power against python-flint: within 1 ulp, within 2 + 2 |b ln a| ulp; exact where they must be."""

from __future__ import annotations

import math
import random

import pytest
from flint import arb, ctx

from dpcurator.language import elementary

DRAWS = random.Random(7)


def ulps(found: float, true: arb) -> float:
    """How far a double is from the true value, in units of its own last place."""
    return abs(float((arb(found) - true) / arb(math.ulp(found))))


@pytest.fixture(autouse=True)
def digits() -> object:
    old, ctx.prec = ctx.prec, 300
    yield
    ctx.prec = old


def worst(function: object, true: object, points: list[float]) -> float:
    return max(ulps(function(x), true(arb(x))) for x in points)  # type: ignore[operator]


def test_exp_is_within_one_ulp() -> None:
    wide = [DRAWS.uniform(-708, 709.7) for _ in range(10_000)]
    near = [DRAWS.uniform(-1, 1) * 2.0 ** -DRAWS.randint(0, 40) for _ in range(10_000)]
    halves = [k * math.log(2) / 2 for k in range(-2040, 2040)]
    assert worst(elementary.exp, arb.exp, wide + near + halves) < 1


def test_exp_of_subnormal_results_and_beyond() -> None:
    points = [-708.5 - i / 64 for i in range(37 * 64)]
    assert max(ulps(elementary.exp(x), arb(x).exp()) for x in points) < 1
    assert elementary.exp(-745.2) == elementary.exp(-1e300) == elementary.exp(-math.inf) == 0.0
    assert elementary.exp(709.78) < math.inf
    assert elementary.exp(709.79) == elementary.exp(1e300) == elementary.exp(math.inf) == math.inf
    assert elementary.exp(0.0) == 1.0


def test_ln_is_within_one_ulp() -> None:
    wide = [math.ldexp(DRAWS.uniform(1, 2), DRAWS.randint(-1022, 1023)) for _ in range(10_000)]
    near = [1 + DRAWS.uniform(-0.5, 1) * 2.0 ** -DRAWS.randint(0, 52) for _ in range(10_000)]
    small = [math.ldexp(DRAWS.randint(1, 2**52), -1074) for _ in range(1000)]
    ends = [5e-324, 2.0**-1022, math.nextafter(2.0**-1022, 0), 1.7976931348623157e308, math.sqrt(2), math.sqrt(2) / 2]
    assert worst(elementary.ln, arb.log, [x for x in wide + near + small + ends if x not in (0.0, 1.0)]) < 1
    assert elementary.ln(1.0) == 0.0
    assert elementary.ln(math.inf) == math.inf


def test_power_is_exact_on_small_whole_numbers_and_near_elsewhere() -> None:
    assert [elementary.power(float(a), float(b)) for a in (-3, 2, 10) for b in (0, 1, 5)] == [
        1, -3, -243, 1, 2, 32, 1, 10, 100_000]
    for _ in range(5000):
        a, b = math.ldexp(DRAWS.uniform(1, 2), DRAWS.randint(-30, 30)), DRAWS.uniform(-20, 20)
        found = elementary.power(a, b)
        assert found is not None
        assert ulps(found, arb(a) ** arb(b)) < 2 + 2 * abs(b * math.log(a))


@pytest.mark.parametrize(("a", "b", "expected"), [
    (0.0, 0.0, 1.0), (0.0, 0.5, 0.0), (0.0, -1.0, None), (0.0, -0.5, None), (0.0, 65.0, 0.0), (-2.0, 0.5, None),
    (-2.0, 65.0, None), (-1.0, 64.0, 1.0), (10.0, -400.0, 0.0), (1e-10, -64.0, None), (math.inf, -1.0, 0.0),
    (math.inf, 0.5, math.inf), (1.0, math.inf, None), (0.5, math.inf, 0.0), (-math.inf, 3.0, -math.inf),
    (0.0, math.inf, 0.0), (0.0, -math.inf, None),
])
def test_power_at_its_edges(a: float, b: float, expected: float | None) -> None:
    assert elementary.power(a, b) == expected
