"""Mechanisms, one file each: definition, loss, law, sample, error. Laws and documents walk this one tuple."""

from dpcurator.mechanisms.discrete_gaussian import DiscreteGaussian
from dpcurator.mechanisms.discrete_laplace import DiscreteLaplace
from dpcurator.mechanisms.exponential import Exponential
from dpcurator.mechanisms.gaussian import Gaussian
from dpcurator.mechanisms.hadamard_response import HadamardResponse
from dpcurator.mechanisms.inverse_sensitivity import InverseSensitivity
from dpcurator.mechanisms.laplace import Laplace
from dpcurator.mechanisms.local_hashing import LocalHashing
from dpcurator.mechanisms.noisy_max import NoisyMax
from dpcurator.mechanisms.permute_and_flip import PermuteAndFlip
from dpcurator.mechanisms.propose_test_release import ProposeTestRelease
from dpcurator.mechanisms.quantile import Quantile
from dpcurator.mechanisms.randomised_response import RandomisedResponse
from dpcurator.mechanisms.smooth_noise import Smooth
from dpcurator.mechanisms.sparse_vector import SparseVector
from dpcurator.mechanisms.top_k import TopK
from dpcurator.mechanisms.unary_encoding import UnaryEncoding

MECHANISMS = (
    DiscreteLaplace,
    DiscreteGaussian,
    Laplace,
    Gaussian,
    RandomisedResponse,
    UnaryEncoding,
    LocalHashing,
    HadamardResponse,
    SparseVector,
    Exponential,
    Quantile,
    InverseSensitivity,
    ProposeTestRelease,
    Smooth,
    NoisyMax,
    PermuteAndFlip,
    TopK,
)

__all__ = [
    "MECHANISMS",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Exponential",
    "Gaussian",
    "HadamardResponse",
    "InverseSensitivity",
    "Laplace",
    "LocalHashing",
    "NoisyMax",
    "PermuteAndFlip",
    "ProposeTestRelease",
    "Quantile",
    "RandomisedResponse",
    "Smooth",
    "SparseVector",
    "TopK",
    "UnaryEncoding",
]
