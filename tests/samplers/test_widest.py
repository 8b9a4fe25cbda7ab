"""Draws are int64 up to a stated scale, Python's own ints from the next one on: by the parameter, never by the draw."""

from fractions import Fraction as F

import numpy as np
import pytest

from dpcurator.samplers import discrete_gaussian, discrete_laplace
from dpcurator.samplers.geometric import geometric


@pytest.mark.parametrize(
    ("sampler", "widest"),
    [(geometric, 2**54), (discrete_laplace, 2**54), (discrete_gaussian, 2**108)],
    ids=["geometric", "discrete_laplace", "discrete_gaussian"],
)
def test_the_kind_of_integer_changes_at_the_widest(sampler, widest):
    assert sampler(F(widest), 5).dtype == np.int64
    for wider in (F(widest) + F(1, 10**9), F(2 * widest)):
        drawn = sampler(wider, 5)
        assert drawn.dtype == object
        assert all(type(one) is int for one in drawn)
