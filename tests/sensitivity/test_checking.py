"""Sensitivities found by trying all neighbours: worked by hand, the notes' examples, and what is refused."""

from __future__ import annotations

import math
from fractions import Fraction as F
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

from dpcurator.errors import Refusal
from dpcurator.numbers import Enclosure
from dpcurator.sensitivity.checking import check_sensitivity
from dpcurator.sensitivity.exactly import root

MEMBERS = {"Los Angeles": (34, -118), "New York": (40, -74), "Washington": (38, -77), "Toronto": (43, -79)}
CANDIDATES = [*MEMBERS.values(), (45, -75), (35, -90), (23, -82)]
RELATIONS = ("add-remove", "replace-one")


def check(f: Any, **more: Any) -> Any:
    return check_sensitivity(f, **{"domain": (0, 1, 5), "n": 3, "neighbours": "replace-one", **more})


def mean_place(cities: tuple[str, ...]) -> tuple[F, F]:
    places = [MEMBERS[city] for city in cities]
    return F(sum(x for x, _ in places), len(places)), F(sum(y for _, y in places), len(places))


def squares(cities: tuple[str, ...]) -> list[F]:
    x, y = mean_place(cities)
    return [(x - a) ** 2 + (y - b) ** 2 for a, b in CANDIDATES]


def society(f: Any, **more: Any) -> Any:
    return check_sensitivity(f, domain=list(MEMBERS), n=4, neighbours="replace-one", distance="linf", **more)


@pytest.mark.parametrize("ordered", [True, False])
def test_mission_3_the_utility_of_a_distance(ordered: bool) -> None:
    """Members of Los Angeles and New York are farthest apart: root(44**2 + 6**2) / 4, for -d(mean, city)."""
    found = society(lambda cities: [-root(square) for square in squares(cities)], ordered=ordered)
    exact = root(F(44**2 + 6**2, 16))
    assert found.bracket.hi >= exact.lo
    assert found.bracket.lo <= exact.hi
    assert found.bracket.width < F(1, 10**30)
    assert abs(float(found.sensitivity) - 11.10180165558726) < 1e-12
    one, other = (set(side) for side in found.witness)
    assert one ^ other <= {"Los Angeles", "New York"}
    assert found.complete
    in_floats = society(lambda cities: [-math.sqrt(square) for square in squares(cities)], ordered=ordered)
    assert abs(float(in_floats.sensitivity) - 11.10180165558726) < 1e-12
    means = check_sensitivity(
        mean_place, domain=list(MEMBERS), n=4, neighbours="replace-one", distance="l2", claim="11.10180165558727"
    )
    assert means.squared == F(1972, 16)
    assert means.holds is True
    assert "Los Angeles" in str(means)


@pytest.mark.parametrize("ordered", [True, False])
def test_mission_3_the_utility_of_one_over_a_distance_is_infinite(ordered: bool) -> None:
    found = society(lambda cities: [1 / math.sqrt(square) for square in squares(cities)], ordered=ordered, claim=1)
    assert found.sensitivity == found.squared == math.inf
    assert found.holds is False
    assert "infinite sensitivity" in str(found)
    assert "ZeroDivisionError" in str(found)
    lacking, near = found.witness
    assert 0 in squares(lacking)
    assert len(near) == 4
    with np.errstate(divide="ignore"):
        found = society(lambda cities: 1 / np.sqrt(np.array(squares(cities), dtype=float)))
    assert found.sensitivity == math.inf
    assert "nan or an infinity" in str(found)


def test_mission_7_weights() -> None:
    """Mean of 4 weights from 30 to 150: 30. The smallest and the largest move by the whole range."""
    weights = range(30, 151, 30)
    found = check(lambda x: F(sum(x), len(x)), domain=weights, n=4, claim=30)
    assert found.sensitivity == 30
    assert found.holds is True
    one, other = (sorted(side) for side in found.witness)
    assert abs(sum(one) - sum(other)) == 120
    assert check(lambda x: F(sum(x), len(x)), domain=weights, n=4, claim="29.99").holds is False
    for f in (min, max):
        assert check(f, domain=weights, n=4).sensitivity == 120


def neighbours_by_hand(domain: tuple[int, ...], n: int, relate: str) -> list[tuple[Any, Any]]:
    """By the definition: equal length and one place differs, or one row deleted."""
    sizes = [n] if relate == "replace-one" else range(n + 1)
    every = [one for size in sizes for one in product(domain, repeat=size)]
    if relate == "replace-one":
        return [(x, y) for x, y in combinations(every, 2) if sum(a != b for a, b in zip(x, y, strict=True)) == 1]
    return [(x, y) for x in every for y in every if any(y[:i] + y[i + 1 :] == x for i in range(len(y)))]


@pytest.mark.parametrize("relate", RELATIONS)
@pytest.mark.parametrize("distance", ["l1", "l2", "linf"])
def test_it_agrees_with_the_definition(relate: str, distance: str) -> None:
    def f(rows: tuple[int, ...]) -> list[int]:
        return [sum(rows), max(rows, default=0) * len(rows), sum(i * row for i, row in enumerate(rows))]

    def apart(x: Any, y: Any) -> F:
        gaps = [abs(a - b) for a, b in zip(f(x), f(y), strict=True)]
        return F({"l1": sum(gaps), "l2": sum(g * g for g in gaps), "linf": max(gaps)}[distance])

    pairs = neighbours_by_hand((0, 1, 5), 3, relate)
    found = check(f, neighbours=relate, distance=distance)
    assert found.bracket == Enclosure.exactly(max(apart(x, y) for x, y in pairs))
    assert apart(*found.witness) == found.bracket.hi
    x, y = found.witness
    assert (x, y) in pairs or (y, x) in pairs
    if relate == "replace-one":
        assert found.pairs == len(pairs)

    def symmetric(rows: tuple[int, ...]) -> int:
        return sorted(rows)[len(rows) // 2] if rows else 0

    assert check(symmetric, neighbours=relate, ordered=False).bracket == check(symmetric, neighbours=relate).bracket
    assert check(symmetric, neighbours=relate, ordered=False).pairs < check(symmetric, neighbours=relate).pairs


def test_sizes_of_add_remove() -> None:
    def f(x: tuple[int, ...]) -> F:
        return F(sum(x), len(x))

    assert check(f, neighbours="add-remove").sensitivity == math.inf  # no mean of nobody
    assert check(f, neighbours="add-remove", least=1).sensitivity == F(5, 2)  # (0) and (0, 5)


def test_floats_are_the_dyadics_they_are_and_infinities_are_found() -> None:
    assert check(lambda x: 0.1 * x[0]).sensitivity == F(0.1 * 5)
    assert check(lambda x: float("nan") if x[0] == 5 else 0).sensitivity == math.inf
    assert check(lambda x: [0] * x[0]).sensitivity == math.inf
    assert check(lambda x: np.array(x)).sensitivity == 5
    assert check(lambda x: True).witness is None
    assert str(check(len)) == (
        "len moves by up to 0 (l1) when one row is replaced. All 81 neighbouring pairs were tried."
    )


def test_time_runs_out_and_nothing_is_proved() -> None:
    found = check(sum, domain=range(20), seconds=0, claim=100)
    assert not found.complete
    assert found.holds is None
    assert "nothing is proved" in str(found)


def test_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    check(sum, progress=lambda done, of: told.append((done, of)))
    assert told[-1] == (9, 9)
    check(sum, progress=True)


@pytest.mark.parametrize(
    "bad",
    [
        {"neighbours": "either"}, {"n": 0}, {"n": True}, {"distance": "l3"}, {"domain": ()}, {"claim": float("nan")},
        {"domain": range(1000), "n": 9}, {"neighbours": "add-remove", "least": 3}, {"seconds": "soon"},
    ],
)
def test_bad_input_is_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(Refusal):
        check(sum, **bad)


def test_what_is_no_number_is_refused() -> None:
    with pytest.raises(Refusal, match="gave a str"):
        check(lambda x: "one")
    with pytest.raises(Refusal, match="function"):
        check(3)


@pytest.mark.parametrize("square", [F(0), F(2), F(9, 4), F(1972, 16), F(1, 10**40), F(10**41)])
def test_roots_are_enclosed(square: F) -> None:
    found = root(square)
    assert found.lo**2 <= square <= found.hi**2
    assert found.width <= found.hi / 2**126
