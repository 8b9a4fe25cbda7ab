"""Mechanisms, one file each: definition, loss, law, sample, error. Laws and documents walk this one table.

Each is imported when it is first used: a question draws from two of them, and should not wait for the others.
Checked in tests/mechanisms/test_tuple.py.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_FILES = {
    "DiscreteLaplace": "discrete_laplace",
    "DiscreteGaussian": "discrete_gaussian",
    "Laplace": "laplace",
    "Gaussian": "gaussian",
    "RandomisedResponse": "randomised_response",
    "UnaryEncoding": "unary_encoding",
    "LocalHashing": "local_hashing",
    "HadamardResponse": "hadamard_response",
    "SparseVector": "sparse_vector",
    "Exponential": "exponential",
    "Quantile": "quantile",
    "InverseSensitivity": "inverse_sensitivity",
    "ProposeTestRelease": "propose_test_release",
    "Smooth": "smooth_noise",
    "NoisyMax": "noisy_max",
    "PermuteAndFlip": "permute_and_flip",
    "TopK": "top_k",
}

if TYPE_CHECKING:
    from dpcurator.mechanisms.discrete_gaussian import DiscreteGaussian as DiscreteGaussian
    from dpcurator.mechanisms.discrete_laplace import DiscreteLaplace as DiscreteLaplace
    from dpcurator.mechanisms.exponential import Exponential as Exponential
    from dpcurator.mechanisms.gaussian import Gaussian as Gaussian
    from dpcurator.mechanisms.hadamard_response import HadamardResponse as HadamardResponse
    from dpcurator.mechanisms.inverse_sensitivity import InverseSensitivity as InverseSensitivity
    from dpcurator.mechanisms.laplace import Laplace as Laplace
    from dpcurator.mechanisms.local_hashing import LocalHashing as LocalHashing
    from dpcurator.mechanisms.noisy_max import NoisyMax as NoisyMax
    from dpcurator.mechanisms.permute_and_flip import PermuteAndFlip as PermuteAndFlip
    from dpcurator.mechanisms.propose_test_release import ProposeTestRelease as ProposeTestRelease
    from dpcurator.mechanisms.quantile import Quantile as Quantile
    from dpcurator.mechanisms.randomised_response import RandomisedResponse as RandomisedResponse
    from dpcurator.mechanisms.smooth_noise import Smooth as Smooth
    from dpcurator.mechanisms.sparse_vector import SparseVector as SparseVector
    from dpcurator.mechanisms.top_k import TopK as TopK
    from dpcurator.mechanisms.unary_encoding import UnaryEncoding as UnaryEncoding

    MECHANISMS: tuple[type[Any], ...]

__all__ = ["MECHANISMS", *_FILES]


def __getattr__(name: str) -> Any:
    if name == "MECHANISMS":
        return tuple(map(__getattr__, _FILES))
    if name not in _FILES:
        raise AttributeError(f"module 'dpcurator.mechanisms' has no attribute {name!r}")
    return getattr(import_module(f"dpcurator.mechanisms.{_FILES[name]}"), name)
