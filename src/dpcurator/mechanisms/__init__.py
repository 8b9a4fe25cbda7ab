"""Mechanisms, one file each: definition, loss, law, sample, error. Laws and documents walk this one table.

Each is imported when it is first used: a question draws from two of them, and should not wait for the others.
Checked in tests/mechanisms/test_tuple.py.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_FILES = {
    "DiscreteLaplace": "noise.discrete_laplace",
    "DiscreteGaussian": "noise.discrete_gaussian",
    "Laplace": "noise.laplace",
    "Gaussian": "noise.gaussian",
    "RandomisedResponse": "local.randomised_response",
    "UnaryEncoding": "local.unary_encoding",
    "LocalHashing": "local.local_hashing",
    "HadamardResponse": "local.hadamard_response",
    "SparseVector": "choice.sparse_vector",
    "Exponential": "choice.exponential",
    "Quantile": "choice.quantile",
    "InverseSensitivity": "choice.inverse_sensitivity",
    "ProposeTestRelease": "smooth.propose_test_release",
    "Smooth": "smooth.smooth_noise",
    "NoisyMax": "choice.noisy_max",
    "PermuteAndFlip": "choice.permute_and_flip",
    "TopK": "choice.top_k",
}

if TYPE_CHECKING:
    from dpcurator.mechanisms.choice.exponential import Exponential as Exponential
    from dpcurator.mechanisms.choice.inverse_sensitivity import InverseSensitivity as InverseSensitivity
    from dpcurator.mechanisms.choice.noisy_max import NoisyMax as NoisyMax
    from dpcurator.mechanisms.choice.permute_and_flip import PermuteAndFlip as PermuteAndFlip
    from dpcurator.mechanisms.choice.quantile import Quantile as Quantile
    from dpcurator.mechanisms.choice.sparse_vector import SparseVector as SparseVector
    from dpcurator.mechanisms.choice.top_k import TopK as TopK
    from dpcurator.mechanisms.local.hadamard_response import HadamardResponse as HadamardResponse
    from dpcurator.mechanisms.local.local_hashing import LocalHashing as LocalHashing
    from dpcurator.mechanisms.local.randomised_response import RandomisedResponse as RandomisedResponse
    from dpcurator.mechanisms.local.unary_encoding import UnaryEncoding as UnaryEncoding
    from dpcurator.mechanisms.noise.discrete_gaussian import DiscreteGaussian as DiscreteGaussian
    from dpcurator.mechanisms.noise.discrete_laplace import DiscreteLaplace as DiscreteLaplace
    from dpcurator.mechanisms.noise.gaussian import Gaussian as Gaussian
    from dpcurator.mechanisms.noise.laplace import Laplace as Laplace
    from dpcurator.mechanisms.smooth.propose_test_release import ProposeTestRelease as ProposeTestRelease
    from dpcurator.mechanisms.smooth.smooth_noise import Smooth as Smooth

    MECHANISMS: tuple[type[Any], ...]

__all__ = ["MECHANISMS", *_FILES]


def __getattr__(name: str) -> Any:
    if name == "MECHANISMS":
        return tuple(map(__getattr__, _FILES))
    if name not in _FILES:
        raise AttributeError(f"module 'dpcurator.mechanisms' has no attribute {name!r}")
    return getattr(import_module(f"dpcurator.mechanisms.{_FILES[name]}"), name)
