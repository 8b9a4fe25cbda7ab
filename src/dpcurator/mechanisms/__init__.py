"""Mechanisms, one file each: definition, loss, law, sample, error. Laws and documents walk this one tuple."""

from dpcurator.mechanisms.discrete_laplace import DiscreteLaplace

MECHANISMS = (DiscreteLaplace,)

__all__ = ["MECHANISMS", "DiscreteLaplace"]
