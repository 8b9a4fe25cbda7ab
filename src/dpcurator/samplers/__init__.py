"""Exact draws from discrete distributions, one distribution a file; the only inputs are rational parameters and
entropy."""

from dpcurator.samplers.bernoulli import bernoulli, bernoulli_exp
from dpcurator.samplers.discrete_gaussian import discrete_gaussian
from dpcurator.samplers.discrete_laplace import discrete_laplace
from dpcurator.samplers.geometric import geometric
from dpcurator.samplers.gumbel_max import race
from dpcurator.samplers.uniform import uniform_below

__all__ = [
    "bernoulli",
    "bernoulli_exp",
    "discrete_gaussian",
    "discrete_laplace",
    "geometric",
    "race",
    "uniform_below",
]
