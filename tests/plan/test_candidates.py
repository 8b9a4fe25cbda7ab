"""The candidates of a quantile: by hand, and within their public limits."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpcurator.errors import Refusal
from dpcurator.language.rows import Field
from dpcurator.plan.candidates import CELLS, MOST, UNLISTED, candidates
from dpcurator.plan.nodes import Measured


def column(lower: object, upper: object, kind: str = "integer") -> Measured:
    return Measured("x", Field(0, kind), kind, kind, Fraction(lower), Fraction(upper))  # type: ignore[arg-type]


@pytest.mark.parametrize(("ends", "keys", "count", "step"), [
    ((0, 1000), 1, 1001, 1), ((0, 1000), 100, 1001, 1), ((-5, 5), None, 11, 1), ((0, 2**16 - 1), 1, 2**16, 1),
    ((0, 2**16), 1, 2**15 + 1, 2), ((0, 10**4), None, 10**4 // 3 + 1, 3), ((0, 10**6), 100, 10**6 // 96 + 1, 96),
])
def test_whole_numbers(ends, keys, count, step):
    found = candidates(column(*ends), keys)
    assert (found.count, found.step) == (count, step)
    assert (found.value(0), found.value(1)) == (ends[0], ends[0] + step)
    assert found.count * (keys or 1) <= CELLS


@pytest.mark.parametrize("ends", [("0", "1"), ("-2.5", "7.25"), ("0.1", "0.3"), ("-1e12", "1e12")])
@pytest.mark.parametrize("keys", [None, 1, 300])
def test_floats(ends, keys):
    found = candidates(column(*ends, "float"), keys)
    most = UNLISTED if keys is None else min(MOST, CELLS // keys)
    assert most // 2 - 2 < found.count <= most
    assert abs(found.value(found.count - 1) - Fraction(ends[1])) <= found.spacing


def test_too_many_groups_are_refused():
    with pytest.raises(Refusal, match="too many groups"):
        candidates(column(0, 1000), CELLS)


@pytest.mark.parametrize(("lower", "upper"), [("-1.5e308", "1.5e308"), ("1e300", "1.5e308"), ("1e200", 10**200 + 1)])
def test_bounds_beyond_every_grid_are_refused_before_anything_is_charged(lower, upper):
    with pytest.raises(Refusal, match="too far"):
        candidates(column(lower, upper, "float"), 1)
