"""Real-world cases about the sensitivity of plain functions, named by id: by rule, and by trying all neighbours."""

from __future__ import annotations

from fractions import Fraction as F

import pytest

from dpcurator.errors import Refusal
from dpcurator.mechanisms import DiscreteLaplace
from dpcurator.mechanisms.clamp import clamp
from dpcurator.sensitivity.bounded import Bounded, Moves, sensitivity_of
from dpcurator.sensitivity.checking import check_sensitivity


def test_sen_01_a_mean_of_a_private_number_of_rows_moves_by_half_the_range_or_more() -> None:
    mean = Bounded.mean(lower=0, upper=100)
    found = check_sensitivity(mean, domain=(0, 50, 100), n=3, neighbours="add-remove", least=1, claim=10)
    assert found.sensitivity == 50
    assert found.holds is False
    with pytest.raises(Refusal, match="sum and a count"):
        sensitivity_of(mean, neighbours="add-remove", n=10)
    assert sensitivity_of(mean, neighbours="replace-one", n=10).l1 == 10


@pytest.mark.parametrize(("low", "high", "added", "replaced"), [(-4, 2, 16, 16), (2, 5, 25, 21)])
def test_sen_03_a_sum_of_squares_by_trying_all_neighbours(low: int, high: int, added: int, replaced: int) -> None:
    for relate, wanted in (("add-remove", added), ("replace-one", replaced)):
        domain = range(low, high + 1)
        found = check_sensitivity(
            lambda rows: sum(x * x for x in rows), domain=domain, n=2, neighbours=relate, claim=wanted
        )
        assert found.sensitivity == wanted
        assert found.holds is True


def test_sen_05_sixteen_sums_have_l1_sixteen_and_l2_four() -> None:
    sums = Bounded.stack(*(Bounded.sum(lower=0, upper=1, of=lambda row, i=i: row[i]) for i in range(16)))
    assert sensitivity_of(sums, neighbours="add-remove") == Moves(F(16), F(16), F(1))
    corners = [(0,) * 16, (1,) * 16, (1,) + (0,) * 15]
    found = check_sensitivity(sums, domain=corners, n=2, neighbours="add-remove", distance="l2", ordered=False)
    assert found.sensitivity == 4


def test_sen_08_a_histogram_by_trying_all_neighbours() -> None:
    cells = Bounded.histogram(["a", "b", "c"])
    for relate, l1, square in (("add-remove", 1, 1), ("replace-one", 2, 2)):
        assert sensitivity_of(cells, neighbours=relate) == Moves(F(l1), F(square), F(1))
        for kind, wanted in (("l1", F(l1)), ("l2", F(square))):
            found = check_sensitivity(cells, domain="abc", n=3, neighbours=relate, distance=kind)
            assert found.bracket is not None
            assert found.bracket.hi == wanted
    root = check_sensitivity(cells, domain="abc", n=2, neighbours="replace-one", distance="l2").sensitivity
    assert float(root) == pytest.approx(1.41421356)


def test_sen_11_a_variance_moves_by_a_known_step_and_its_answers_stay_within_its_range() -> None:
    """A step of 9 for ten values within [0, 10]: (U - L)**2 (n - 1) / n**2. Answers are clamped to [0, 25], free."""
    variance = Bounded.variance(lower=0, upper=10).clamp(0, 25)
    step = sensitivity_of(variance, neighbours="replace-one", n=10).l1
    assert step == 9
    value = variance(range(1, 11))[0]
    assert value == F(33, 4)
    noise = DiscreteLaplace.spending(F(1, 10), sensitivity=900)  # in hundredths
    answers = [clamp(F(int(value * 100) + int(draw), 100), 0, 25) for draw in noise.sample(1000)]
    assert all(0 <= answer <= 25 for answer in answers)
