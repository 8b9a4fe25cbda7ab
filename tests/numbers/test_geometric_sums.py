"""Sums by geometric series against the same sums term by term."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest

from dpcurator.numbers.arb import ball, precision
from dpcurator.numbers.geometric_sums import Step, total

KINDS = ("laplace_at_most", "laplace_above", "geometric_at_most")


def term_by_term(weight: Step, weight_scale: Fraction, factors: list[Step], scale: Fraction, reach: int) -> object:
    p, r = (-ball(1 / scale)).exp(), (-ball(1 / weight_scale)).exp()
    result = ball(0)
    for z in range(-reach, reach + 1):
        term = weight.value(z, r)
        for factor in factors:
            term = term * factor.value(z, p)
        result += term
    return result


@pytest.mark.parametrize("weight_kind", ["laplace_mass", "geometric_mass"])
@pytest.mark.parametrize("scales", [("1", "1"), ("1/2", "2"), ("3", "3/2"), ("2", "7/3"), ("2", "1")])
def test_series_agree_with_adding_up(weight_kind: str, scales: tuple[str, str]) -> None:
    """The scales 2 and 1 have rates of exactly 0 between edges: 1/2 + 1/2 - 1 with two factors, and more."""
    weight_scale, scale = map(Fraction, scales)
    cases = [[]] + [
        [Step(edge, kind) for edge, kind in zip(edges, kinds, strict=True)]
        for kinds in itertools.product(KINDS, repeat=3)
        for edges in ((0, 0, 0), (-2, 1, 5), (3, -4, 3))
    ]
    with precision(200):
        for factors in cases:
            weight = Step(1, weight_kind)
            found = total(weight, weight_scale, factors, scale)
            direct = term_by_term(weight, weight_scale, factors, scale, 250)
            assert abs(found - direct) < 2**-100
            if not factors:
                assert found.overlaps(ball(1))


def test_complements_add_up_at_any_scale() -> None:
    """at_most + above = 1: the sums of both split the weight's mass, with 10**9 integers between the edges."""
    weight, scale, other = Step(0, "laplace_mass"), Fraction(10**8), Fraction(10**8, 3)
    with precision(400):
        parts = [
            total(weight, scale, [Step(e, k) for e, k in zip((-(10**9), 5, 10**9), kinds, strict=True)], other)
            for kinds in itertools.product(("laplace_at_most", "laplace_above"), repeat=3)
        ]
        assert all(part > 0 for part in parts)
        assert sum(parts).overlaps(ball(1))
        assert abs(sum(parts) - 1) < 2**-200


def test_one_geometric_at_least_d_above_another() -> None:
    """P(G >= G' + d) = p**d / (1 + p), by hand: the sum over k of (1-p) p**k p**(k+d)."""
    with precision(200):
        p = (-ball(Fraction(1, 3))).exp()
        for d in (0, 1, 7):
            found = total(Step(0, "geometric_mass"), Fraction(3), [Step(d, "geometric_at_most")], Fraction(3))
            assert found.overlaps(p**d / (1 + p))
            assert abs(found - p**d / (1 + p)) < 2**-150
