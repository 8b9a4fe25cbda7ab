"""Mechanisms, one file each: definition, loss, law, sample, error. Laws and documents walk this one tuple."""

from dpcurator.mechanisms.discrete_gaussian import DiscreteGaussian
from dpcurator.mechanisms.discrete_laplace import DiscreteLaplace

MECHANISMS = (DiscreteLaplace, DiscreteGaussian)

__all__ = ["MECHANISMS", "DiscreteGaussian", "DiscreteLaplace"]
