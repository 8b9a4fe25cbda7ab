"""Mechanisms, one file each: definition, loss, distribution, sample, error. Everybody who walks them reads `ROWS`.

Each class is imported when it is first used: a question draws from two of them, and should not wait for the others.
To add one, write its file, a row, and a line for type checkers. Checked in tests/mechanisms/test_registry.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dpcurator.mechanisms.protocol import LocalReport, Moves, Noise, Row, Selection, Sized

_ADDED: Final[dict[str, Moves]] = {"sample": "nothing"}  # noise alone: what it is added to is not seen
_OF_RECORDS: Final[dict[str, Moves]] = {"release": "records"}
_OF_ONE: Final[dict[str, Moves]] = {"respond": "person", "respond_many": "people"}


def _real(norm: Moves) -> dict[str, Moves]:
    return {"release": norm, "release_exact": norm, **_ADDED}


ROWS: Final = (
    Row(
        name="Laplace", file="noise.laplace", protocol=Noise, outcomes="grid noise", takes=_real("l1"),
        spelling="laplace",
        sized=Sized("scale", lambda cls, size, moved: cls.with_scale(scale=size, sensitivity=moved)),
    ),
    Row(
        name="Gaussian", file="noise.gaussian", protocol=Noise, outcomes="grid noise", takes=_real("l2"),
        spelling="gaussian",
        sized=Sized("sigma", lambda cls, size, moved: cls.with_sigma(sigma=size, sensitivity=moved)),
    ),
    Row(
        name="DiscreteLaplace", file="noise.discrete_laplace", protocol=Noise, outcomes="whole noise", takes=_ADDED,
        spelling="discrete-laplace", sized=Sized("scale", lambda cls, size, moved: cls(size)),
    ),
    Row(
        name="DiscreteGaussian", file="noise.discrete_gaussian", protocol=Noise, outcomes="whole noise", takes=_ADDED,
        spelling="discrete-gaussian", sized=Sized("sigma", lambda cls, size, moved: cls(size**2)),
    ),
    Row(
        name="Staircase", file="noise.staircase", protocol=Noise, outcomes="grid noise", takes=_real("l1"),
        spelling="staircase",
    ),
    Row(
        name="RandomisedResponse", file="local.randomised_response", protocol=LocalReport, outcomes="reports",
        takes=_OF_ONE,
    ),
    Row(name="UnaryEncoding", file="local.unary_encoding", protocol=LocalReport, outcomes="reports", takes=_OF_ONE),
    Row(name="LocalHashing", file="local.local_hashing", protocol=LocalReport, outcomes="reports", takes=_OF_ONE),
    Row(
        name="HadamardResponse", file="local.hadamard_response", protocol=LocalReport, outcomes="reports",
        takes=_OF_ONE,
    ),
    Row(
        name="SparseVector", file="choice.sparse_vector", protocol=Selection, outcomes="listed",
        takes={"start": "nothing"}, run=("Session", {"ask": "query", "ask_value": "query"}),
    ),
    Row(
        name="Exponential", file="choice.exponential", protocol=Selection, outcomes="listed",
        takes={"select": "scores", "choose": "scores", "select_many": "scores"},
    ),
    Row(
        name="Quantile", file="choice.quantile", protocol=Selection, outcomes="listed", takes={"release": "values"}
    ),
    Row(
        name="InverseSensitivity", file="choice.inverse_sensitivity", protocol=Selection, outcomes="listed",
        takes=_OF_RECORDS,
    ),
    Row(
        name="ProposeTestRelease", file="smooth.propose_test_release", protocol=Selection, outcomes="listed",
        takes=_OF_RECORDS,
    ),
    Row(name="Smooth", file="smooth.smooth_noise", protocol=Selection, outcomes="listed", takes=_OF_RECORDS),
    Row(
        name="NoisyMax", file="choice.noisy_max", protocol=Selection, outcomes="listed",
        takes={"select": "scores", "select_with_value": "scores"},
    ),
    Row(
        name="PermuteAndFlip", file="choice.permute_and_flip", protocol=Selection, outcomes="listed",
        takes={"select": "scores"},
    ),
    Row(name="TopK", file="choice.top_k", protocol=Selection, outcomes="listed", takes={"select": "scores"}),
)
_BY_NAME: Final = {row.name: row for row in ROWS}

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
    from dpcurator.mechanisms.noise.staircase import Staircase as Staircase
    from dpcurator.mechanisms.smooth.propose_test_release import ProposeTestRelease as ProposeTestRelease
    from dpcurator.mechanisms.smooth.smooth_noise import Smooth as Smooth

    MECHANISMS: tuple[type[Any], ...]
else:  # type checkers read the lines above, also through `from dpcurator.mechanisms import *`
    __all__ = ["MECHANISMS", *_BY_NAME]

    def __getattr__(name: str) -> Any:
        if name == "MECHANISMS":
            return tuple(row.cls for row in ROWS)
        if name not in _BY_NAME:
            raise AttributeError(f"module 'dpcurator.mechanisms' has no attribute {name!r}")
        return _BY_NAME[name].cls


def row_of(mechanism: object) -> Row | None:
    """The row of a mechanism of this package; None for anything else, a class of the same name elsewhere too."""
    own = type(mechanism)
    row = _BY_NAME.get(own.__name__)
    return row if row is not None and own.__module__ == f"dpcurator.mechanisms.{row.file}" else None
