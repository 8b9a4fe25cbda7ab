"""Losses of every family for the laws over them, written as people write them."""

from __future__ import annotations

from fractions import Fraction

from dpcurator.numbers import Enclosure
from dpcurator.privacy.loss import Loss


def loss(family: str, **parameters: object) -> Loss:
    return Loss(family, tuple((name, Fraction(str(value))) for name, value in parameters.items()))


def meet(one: Enclosure, other: Enclosure) -> bool:
    """Could they be one number? Both brackets hold the truth, so they overlap."""
    return one.lo <= other.hi and other.lo <= one.hi


WITH_A_LAW = [
    loss("discrete_laplace", scale="3/2", shift=3),
    loss("discrete_laplace", scale=1, shift=1),
    loss("discrete_laplace", scale=10, shift=7),
    loss("discrete_laplace", scale="1/3", shift=2),
    loss("discrete_laplace", scale=1, shift=0),
    loss("laplace", scale=1, shift=1),
    loss("laplace", scale="7/3", shift="1/2"),
    loss("laplace", scale=1, shift=0),
    loss("discrete_gaussian", variance=4, shift=3),
    loss("discrete_gaussian", variance="1/4", shift=1),
    loss("discrete_gaussian", variance=1, shift=0),
    loss("gaussian", variance=1, shift=1),
    loss("gaussian", variance="1/9", shift=1),
    loss("gaussian", variance=1, shift=0),
    loss("pure", epsilon=1),
    loss("pure", epsilon="1/10"),
    loss("pure", epsilon=0),
    loss("approximate", epsilon=1, delta="1e-3"),
    loss("approximate", epsilon="1/2", delta=0),
    loss("bounded_range", epsilon=1),
    loss("bounded_range", epsilon=6),
    loss("bounded_range", epsilon=0),
    loss("randomised_response", truth="3/4", lie="1/4"),
    loss("randomised_response", truth="1/2", lie="1/10"),
    loss("randomised_response", truth="1/4", lie="1/4"),
    loss("randomised_response", truth="1/5", lie="1/2"),
    loss("unary_encoding", p="1/2", q="1/4"),
]
VECTOR = loss("discrete_gaussian_vector", variance=2, l2_squared=5)
EPSILONS = [Fraction(text) for text in ("0", "1/7", "1/2", "1", "9/8", "3", "20")]
