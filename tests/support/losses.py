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
OWN = [
    loss("two_pmfs", p0="1/2", p1="1/3", p2="1/6", q0="1/4", q1="1/4", q2="1/2"),
    loss("two_pmfs", p0="3/5", p1="1/5", p2="1/5", q0="1/5", q1="2/5", q2=0),
    loss("two_pmfs", p0=1, q0=1),
    loss("loss_distribution", loss0="-1/2", loss1=0, loss2="1/2", mass0="3/10", mass1="1/5", mass2="1/2",
         back_loss0="-1/2", back_loss1="1/4", back_mass0="1/5", back_mass1="79/100"),
    loss("loss_distribution", loss0=0, mass0=1, back_loss0=0, back_mass0=1),
    loss("profile", epsilon0=0, epsilon1=1, epsilon2=3, delta0="3/10", delta1="1/20", delta2="1e-4"),
    loss("profile", epsilon0="1/2", epsilon1=1, delta0="1/10", delta1=0),
    loss("profile", epsilon0=1, delta0="1/100"),
    loss("profile", epsilon0=0, delta0=0),
]
MIXED = [
    loss("gaussian_mixture", variance=1, shift0=0, shift1=1, shift2=2, chance0="0.81", chance1="0.18", chance2="0.01",
         other_shift0=0, other_chance0=1),
    loss("gaussian_mixture", variance=4, shift0=1, chance0=1, other_shift0=0, other_shift1=2, other_chance0="1/2",
         other_chance1="1/2"),
    loss("gaussian_mixture", variance=1, shift0=0, chance0=1, other_shift0=0, other_chance0=1),
    loss("poisson_replaced_gaussian", variance=1, shift=1, rate="1/10"),
]
BY_ORDER = [
    loss("zcdp", rho="1/10", xi="1/5"), loss("zcdp", rho=0, xi=0),
    loss("renyi", order0="3/2", order1=4, divergence0="1/10", divergence1="1/2"),
    loss("renyi", order0=2, divergence0=0),
]
VECTOR = loss("discrete_gaussian_vector", variance=2, l2_squared=5)
EPSILONS = [Fraction(text) for text in ("0", "1/7", "1/2", "1", "9/8", "3", "20")]
