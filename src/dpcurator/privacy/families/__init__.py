"""The families of losses, one file each; a new one is a file with a table of its formulas, and a line here.

WHOLE are mechanisms on all rows; SAMPLED are those of them that have a law, on a sample (poisson.py; fixed_size.py,
where the pair is symmetric). MIXED are Gaussian noise around random shifts: groups, and replaced rows, on samples.
TRAINED are parts of a training run: that a batch is cut, of one row; a pass of random allocation.
"""

from __future__ import annotations

from collections.abc import Mapping

from dpcurator.privacy.families import (
    approximate,
    bounded_range,
    by_order,
    discrete_gaussian,
    discrete_laplace,
    gaussian,
    gaussian_mixture,
    laplace,
    loss_distribution,
    profile,
    randomised_response,
    two_pmfs,
)
from dpcurator.privacy.families.family import Family
from dpcurator.privacy.families.fixed_size import fixed_size
from dpcurator.privacy.families.poisson import poisson

WHOLE: Mapping[str, Family] = {
    "discrete_laplace": discrete_laplace.FAMILY,
    "laplace": laplace.FAMILY,
    "discrete_gaussian": discrete_gaussian.FAMILY,
    "discrete_gaussian_vector": discrete_gaussian.VECTOR,
    "gaussian": gaussian.FAMILY,
    "pure": approximate.PURE,
    "approximate": approximate.APPROXIMATE,
    "bounded_range": bounded_range.FAMILY,
    "randomised_response": randomised_response.FAMILY,
    "unary_encoding": randomised_response.UNARY,
    "two_pmfs": two_pmfs.FAMILY,
    "loss_distribution": loss_distribution.FAMILY,
    "profile": profile.FAMILY,
    "zcdp": by_order.ZCDP,
    "renyi": by_order.RENYI,
}

SAMPLED: Mapping[str, Family] = {
    name: family
    for base, known in WHOLE.items()
    if known.law is not None
    for name, family in (poisson(base, known) | (fixed_size(base, known) if known.reverse is None else {})).items()
}
MIXED: Mapping[str, Family] = {
    "gaussian_mixture": gaussian_mixture.MIXTURE,
    "poisson_replaced_gaussian": gaussian_mixture.REPLACED,
}
TRAINED: Mapping[str, Family] = {"cut_batch": approximate.CUT, "allocated_pass": loss_distribution.ALLOCATED}
FAMILIES: Mapping[str, Family] = {**WHOLE, **SAMPLED, **MIXED, **TRAINED}

__all__ = ["FAMILIES", "MIXED", "SAMPLED", "WHOLE", "Family"]
