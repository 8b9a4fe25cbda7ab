"""Names of the greatest, from exact counts: places, the bar on the worst counts by the exact distribution, the price.

What neighbours do to it is enumerated in tests/laws/test_heart_names.py; that the order of arrival is that of choosing
one after another, in tests/samplers/test_gumbel_max.py.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpcurator.entropy import SystemEntropy
from dpcurator.mechanisms.choice.exponential import shares
from dpcurator.mechanisms.choice.scores import Scores
from dpcurator.mechanisms.choice.top_counts import TopCounts
from dpcurator.mechanisms.choice.top_k import TopK


def test_places_are_those_of_the_greatest_counts_where_there_is_next_to_no_noise():
    sure = TopCounts(Fraction(10**6), 3, 2, 2)
    assert sure.places([5, 9, 7, -1, 2**80, 2**70], SystemEntropy()) == (0, 1, 2, 0, 1, 2)
    with pytest.raises(ValueError, match="one count"):
        sure.places([1, 2, 3], SystemEntropy())
    for wrong in ((0, 3, 1, 1), (1, 3, 4, 1), (1, 3, 0, 1), (1, 3, 1, 0)):
        with pytest.raises(ValueError, match="named at a rate above 0"):
            TopCounts(Fraction(wrong[0]), *wrong[1:])


@pytest.mark.parametrize("candidates", [1, 2, 3, 1001])
@pytest.mark.parametrize("rate", [Fraction(1, 50), Fraction(1), Fraction(7, 3)])
def test_the_bar_holds_on_the_worst_counts_by_the_exact_distribution(candidates, rate):
    """All but one as far behind as the bar allows for, and one count more."""
    import numpy as np

    beta = Fraction(1, 20)
    error = TopCounts(rate, candidates, 1, 1).error(beta)
    counts = [error + 1, *[0] * (candidates - 1)]
    first = shares(Scores(np.array(counts), Fraction(1)), rate)[0]
    assert 1 - first.lo <= beta
    if error and rate < 1:
        assert 10 * (1 - first.hi) > beta * 9 * Fraction(1, 4)  # and not by far
    more = TopCounts(rate, candidates, min(2, candidates), 3).error(beta)
    assert more >= error


@pytest.mark.parametrize("top", [1, 3])
def test_it_costs_what_the_library_says_of_the_same_choice(top):
    """`dp.TopK`, monotone or not, at the rate that the price buys; rates are rounded down in rho alone."""
    for ranges, monotone in ((1, True), (2, False)):
        own = TopCounts.spending(Fraction(3), ranges=ranges, candidates=5, top=top, sets=1)
        other = TopK(sensitivity=1, epsilon=3, k=top, monotone=monotone)
        assert own.rate == other.rate
        assert own.epsilon(ranges) == 3
        assert own.rho(ranges**2) == other.rho
        by_rho = TopCounts.spending_rho(other.rho, squared=ranges**2, candidates=5, top=top, sets=1)
        assert own.rate * (1 - Fraction(1, 10**12)) < by_rho.rate <= own.rate
        assert by_rho.rho(ranges**2) <= other.rho
