"""The families of losses, one file each; a new one is a file with a table of its formulas, and a line here."""

from __future__ import annotations

from collections.abc import Mapping

from dpcurator.privacy.families import (
    approximate,
    bounded_range,
    discrete_gaussian,
    discrete_laplace,
    gaussian,
    laplace,
    randomised_response,
)
from dpcurator.privacy.families.family import Family

FAMILIES: Mapping[str, Family] = {
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
}

__all__ = ["FAMILIES", "Family"]
