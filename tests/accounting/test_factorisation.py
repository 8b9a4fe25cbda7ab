"""Matrix mechanisms: the sensitivity against all patterns of small runs, known factors, and what is refused."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction as F
from typing import Any

import pytest

import dpcurator as dp


def square(**how: Any) -> F:
    """The squared sensitivity."""
    ((loss, count),) = dp.dpftrl(noise_multiplier=1, **how).parts
    assert count == 1
    return 1 / loss["variance"]


def patterns(n: int, times: int, apart: int) -> list[tuple[int, ...]]:
    return [
        chosen for k in range(1, times + 1) for chosen in itertools.combinations(range(n), k)
        if all(later - earlier >= apart for earlier, later in itertools.pairwise(chosen))
    ]  # fmt: skip


def largest(matrix: list[list[F]], times: int, apart: int) -> F:
    """The greatest squared norm of a signed sum of columns: at most the sensitivity, as gradients have norm 1."""
    n, found = len(matrix[0]), F(0)
    for chosen in patterns(n, times, apart):
        for signs in itertools.product((1, -1), repeat=len(chosen) - 1):
            moved = [sum(s * row[j] for s, j in zip((1, *signs), chosen, strict=True)) for row in matrix]
            found = max(found, sum(value * value for value in moved))
    return found


def tree(n: int) -> list[list[F]]:
    """A row for each dyadic range that ends within the steps."""
    return [[F(start <= j < start + size) for j in range(n)]
            for size in (1, 2, 4, 8, 16) for start in range(0, n - size + 1, size)]  # fmt: skip


def root(n: int) -> list[list[F]]:
    made = [F(1)]
    for k in range(1, n):
        made.append(made[-1] * F(2 * k - 1, 2 * k))
    return [[made[i - j] if i >= j else F(0) for j in range(n)] for i in range(n)]


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 9])
@pytest.mark.parametrize(("times", "apart"), [(1, 1), (2, 1), (2, 3), (3, 2), (4, 4)])
def test_named_factors_are_their_matrices_and_no_pattern_moves_further(n: int, times: int, apart: int) -> None:
    for name, matrix in (("tree", tree(n)), ("root", root(n))):
        how = {"participations": times, "separation": apart}
        found = square(steps=n, factor=name, **how)
        exact = square(factor=matrix, **how)
        assert exact <= found <= exact * (1 + F(1, 2**70))
        assert found >= largest(matrix, times, apart)
        if times == 1:
            assert found <= largest(matrix, 1, 1) * (1 + F(1, 2**70))


def test_random_factors_are_never_under_counted() -> None:
    luck = random.Random(19)
    for _ in range(60):
        n, times, apart = luck.randint(1, 6), luck.randint(1, 3), luck.randint(1, 4)
        matrix = [[F(luck.randint(-4, 4), luck.randint(1, 3)) for _ in range(n)] for _ in range(luck.randint(1, 5))]
        if any(value for row in matrix for value in row):
            assert square(factor=matrix, participations=times, separation=apart) >= largest(matrix, times, apart)


def test_columns_that_share_nothing_are_counted_exactly() -> None:
    """Bands no wider than the separation: the sum of the largest column norms that fit."""
    matrix = [[F(j + 1) if i == j else F(0) for j in range(7)] for i in range(7)]
    assert square(factor=matrix, participations=3, separation=3) == 7**2 + 4**2 + 1
    assert square(factor=matrix, participations=3, separation=2) == 7**2 + 5**2 + 3**2


def test_the_square_root_of_prefix_sums_beats_the_tree() -> None:
    """For 1,024 steps about ln(1024)/pi + 1.07 against 11 nodes, in squares."""
    assert square(steps=1024, factor="tree") == 11
    assert float(square(steps=1024, factor="root")) == pytest.approx(3.27, abs=0.02)
    assert square(steps=1, factor="root") == 1
    assert dp.dpftrl(noise_multiplier=2, steps=1024).parts[0][0].rho() == F(11, 8)
    assert square(factor=[[1, 0], [1, 1]], participations=2) == 5
    assert square(factor=[["0.5", 0.25]]) == F(1, 4)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"factor": "tree"}, "steps"),
        ({"factor": "treee", "steps": 4}, 'Write factor="tree"'),
        ({"factor": [[1, 2], [1]]}, "equal length"),
        ({"factor": []}, "list of rows"),
        ({"factor": 3}, "list of rows"),
        ({"factor": [[0, 0]]}, "anything in it"),
        ({"factor": [[1, 0], [1, 1]], "steps": 3}, "Leave steps out"),
        ({"steps": 5000, "participations": 2}, "more than 4,096"),
        ({"steps": 4, "participations": 0}, "participations"),
        ({"steps": 4, "noise_multiplier": 0}, "above 0"),
    ],
)
def test_what_is_no_factor_is_refused_with_a_cure(how: dict[str, Any], words: str) -> None:
    with pytest.raises(dp.Refusal, match=words):
        dp.dpftrl(**({"noise_multiplier": 1} | how))
