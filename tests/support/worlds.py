"""Small worlds: for every class of mechanism, instances with neighbouring inputs and their exact laws.

`WORLDS` has a line for each class, by name: a function that makes its worlds. A world is a mechanism, the loss it
promises, a law (input -> chance of each outcome listed), pairs of neighbours under that promise, and whether the loss
is *attained* by one of them. A class without a world has a reason in words in `REASONS`; a test holds both to the tuple
`MECHANISMS`. To add a mechanism, add a line; the laws of tests/laws/test_every_mechanism.py then run on it. Below is
what else every mechanism is tried with: bad parameters (PARAMETERS, tests/mechanisms/test_bad_input.py), targets
(CALIBRATED, tests/accounting/test_calibrate_every.py) and inputs that move (MOVES, tests/audit/test_replay.py).
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction as F
from functools import cache
from typing import Any

from dpcurator import mechanisms as m
from dpcurator.numbers import Enclosure
from dpcurator.privacy.loss import Loss
from dpcurator.sensitivity.windows import bounded_mean, order_statistic

Law = Mapping[Hashable, Enclosure]
ZERO = Enclosure.exactly(0)


@dataclass(frozen=True)
class World:
    """pairs: neighbours, laid against one another both ways. rest: mass of the outcomes that no law lists.

    attained: "delta" if some pair has the loss's delta at every epsilon, "epsilon" if some log-ratio is its pure
    epsilon (of enclosures, within 2**-40), "" if the promise is a bound.
    """

    mechanism: Any
    loss: Loss
    law: Callable[[Any], Law]
    pairs: Sequence[tuple[Any, Any]]
    rest: Enclosure = ZERO
    attained: str = ""

    def __str__(self) -> str:
        return f"{type(self.mechanism).__name__}-{self.loss.family}"


def enclosed(law: Mapping[Any, Any] | Iterable[Any]) -> Law:
    """Rationals as enclosures, and a list as a law over its places."""
    items = law.items() if isinstance(law, Mapping) else enumerate(law)
    return {key: mass if isinstance(mass, Enclosure) else Enclosure.exactly(mass) for key, mass in items}


def _noise(noise: Any, shift: int, far: int) -> World:
    outcomes = range(-far, far + shift + 1)
    pairs = [(0, by) for by in range(shift + 1)]
    rest = _beyond(noise, far)
    law = lambda value: {k: noise.pmf(k - value) for k in outcomes}  # noqa: E731
    return World(noise, noise.loss(shift), law, pairs, Enclosure(F(0), rest.hi), "delta")


def _beyond(noise: Any, far: int) -> Enclosure:
    """P(|Z| > far)."""
    if hasattr(noise, "tail"):
        tail: Enclosure = noise.tail(far)
        return tail
    inside = sum((noise.pmf(k) for k in range(-far, far + 1)), ZERO)
    return Enclosure(F(0), 1 - inside.lo)


def _discrete_laplace() -> list[World]:
    return [_noise(m.DiscreteLaplace(F(s)), d, 60) for s, d in (("1/2", 1), ("1", 2), ("3/2", 3))]


def _discrete_gaussian() -> list[World]:
    return [_noise(m.DiscreteGaussian(F(v)), d, 25) for v, d in (("1/4", 1), ("9/2", 1), ("2", 3))]


def _on_a_grid(made: Any, values: Sequence[Any], far: int, attained: str = "delta") -> World:
    """Noise on whole numbers, one coordinate; `values` are within the sensitivity of the first."""
    outcomes = range(-far, far + 1)
    law = lambda value: {k: made.pmf(k, value) for k in outcomes}  # noqa: E731
    pairs = [(values[0], value) for value in values]
    inside = sum((made.noise.pmf(k) for k in range(-far + 8, far - 7)), ZERO)
    return World(made, made.loss, law, pairs, Enclosure(F(0), max(1 - inside.lo, F(0))), attained)


def _laplace() -> list[World]:
    return [
        _on_a_grid(m.Laplace(sensitivity=2, epsilon=1, grid=1), (0, 1, 2, F(3, 2)), 80),
        _on_a_grid(m.Laplace(sensitivity="5/2", epsilon=2, grid=1), (F(2, 5), F(-21, 10), 1, F(29, 10)), 80),
    ]


def _gaussian() -> list[World]:
    return [
        _on_a_grid(m.Gaussian(sensitivity=2, epsilon=1, delta="1e-2", grid=1), (0, 1, 2), 60),
        _on_a_grid(m.Gaussian(sensitivity=1, rho="1/2", grid=1), (0, 1, F(1, 2)), 40),
    ]


def _staircase() -> list[World]:
    return [
        _on_a_grid(m.Staircase(sensitivity=3, epsilon=1, grid=1), (0, 1, 2, 3, F(3, 2)), 80),
        _on_a_grid(m.Staircase(sensitivity="5/2", epsilon=2, grid=1, gamma=1), (F(2, 5), F(-21, 10), 1, F(29, 10)), 80),
        _on_a_grid(m.Staircase(sensitivity=4, epsilon="1/2", grid=1, gamma="1/4"), (0, 2, 3, -4), 200),
    ]


def _local(made: Any, outcomes: Sequence[Hashable], values: Sequence[Any]) -> World:
    law = lambda value: enclosed({report: made.pmf(report, value) for report in outcomes})  # noqa: E731
    return World(made, made.loss, law, list(itertools.combinations(values, 2)), attained="delta")


def _randomised_response() -> list[World]:
    coin = m.RandomisedResponse.with_truth(truth="3/4", values=2)
    colours = m.RandomisedResponse(epsilon=F(1), values=["red", "green", "blue"])
    return [_local(coin, [0, 1], [0, 1]), _local(colours, ["red", "green", "blue"], ["red", "green", "blue"])]


def _unary_encoding() -> list[World]:
    made = (m.UnaryEncoding.optimised(epsilon=1, values=3), m.UnaryEncoding.symmetric(epsilon=2, values=3))
    return [_local(one, list(itertools.product((0, 1), repeat=3)), range(3)) for one in made]


def _local_hashing() -> list[World]:
    one = m.LocalHashing(epsilon=F(1), values=5)
    seeds = range(one.prime * (one.prime - 1))
    return [_local(one, list(itertools.product(seeds, range(one.buckets))), range(3))]


def _hadamard_response() -> list[World]:
    made = (m.HadamardResponse(epsilon=F(1), values=3), m.HadamardResponse(epsilon=F(2), values=5))
    return [_local(one, range(one.size), range(3)) for one in made]


def _listed(made: Any, pairs: Sequence[tuple[Any, Any]], attained: str = "") -> World:
    """A mechanism that lists its own probabilities."""
    return World(made, made.loss, lambda value: enclosed(made.probabilities(value)), pairs, attained=attained)


UP_AND_DOWN = [([3, 3], [4, 2]), ([0, 5, 1], [1, 4, 0]), ([0, 0, 0, 0], [1, -1, 1, 0]), ([2, 2, 2], [2, 2, 2])]
ALL_UP = [([3, 3], [4, 3]), ([0, 5, 1], [1, 5, 2]), ([0, 0, 0, 0], [1, 1, 0, 1]), ([50, 0], [50, 1])]


def _exponential() -> list[World]:
    far = [([0, 40], [1, 39]), ([40, 0], [39, 1])]  # one candidate has nearly all the mass
    return [
        _listed(m.Exponential(sensitivity=1, epsilon=1), UP_AND_DOWN + far),
        _listed(m.Exponential(sensitivity=1, epsilon="1/2", monotone=True), ALL_UP),
    ]


def _noisy_max() -> list[World]:
    return [
        _listed(m.NoisyMax(sensitivity=1, epsilon=1, grid=1), UP_AND_DOWN),
        _listed(
            m.NoisyMax(sensitivity=1, epsilon=1, grid=1, noise="exponential"),
            [*UP_AND_DOWN, ([0, 5], [1, 4])],
            "epsilon",
        ),
        _listed(m.NoisyMax(sensitivity=1, epsilon="1/2", grid=1, monotone=True), ALL_UP),
    ]


def _permute_and_flip() -> list[World]:
    apart = [([0, 5], [1, 4])]
    return [
        _listed(m.PermuteAndFlip(sensitivity=1, epsilon=1), UP_AND_DOWN + apart, "epsilon"),
        _listed(m.PermuteAndFlip(sensitivity=1, epsilon="1/2", monotone=True), ALL_UP, "epsilon"),
    ]


def _top_k() -> list[World]:
    three = [pair for pair in UP_AND_DOWN if len(pair[0]) > 2]
    return [
        _listed(m.TopK(sensitivity=1, epsilon=1, k=2), three),
        _listed(m.TopK(sensitivity=1, epsilon="1/2", k=2, monotone=True), [p for p in ALL_UP if len(p[0]) > 2]),
    ]


def _quantile() -> list[World]:
    add = m.Quantile(q="1/2", epsilon=1, lower=0, upper=10, step=1)
    replace = m.Quantile(q="0.9", epsilon="1/2", lower=-1, upper=1, step="0.25", neighbours="replace-one")
    return [
        _listed(add, [([1, 5, 9], [1, 5, 9, 10]), ([], [4]), ([4, 4], [4, 4, 4]), ([2] * 5, [2] * 5 + [3])]),
        _listed(replace, [([0, 1, 1], [0, 1, -1]), ([0.5], [-0.5]), ([0.25, 0.25, 0.25], [0.25, 0.25, 1])]),
    ]


def _sparse_vector() -> list[World]:
    any_way = [
        ([0, 0, 0], [1, -1, 1]),
        ([5, -5, 5, -5], [4, -4, 6, -6]),
        ([0] * 6, [1] * 6),
        ([-2] * 5, [-1] * 4 + [-3]),
    ]
    one_way = [([0, 0, 0], [1, 1, 0]), ([9, 10, 11, 12], [10, 10, 12, 13]), ([10] * 5, [9] * 5)]
    return [
        _listed(m.SparseVector(sensitivity=1, epsilon=1, threshold=0, grid=1), any_way),
        _listed(m.SparseVector(sensitivity=1, epsilon=1, threshold=0, grid=1, positives=2), any_way),
        _listed(
            m.SparseVector(sensitivity=1, epsilon="1/2", threshold=10, positives=2, monotone=True, grid=1), one_way
        ),
    ]


def _median() -> Any:
    return order_statistic("1/2", lower=0, upper=4, grid=1)


REPLACED = [([0, 2, 4], [0, 2, 0]), ([0, 4, 4], [0, 0, 4]), ([1, 2, 3, 3, 3], [1, 2, 0, 3, 3]), ([2, 2, 2], [2, 2, 4])]


def _inverse_sensitivity() -> list[World]:
    return [_listed(m.InverseSensitivity(function=_median(), epsilon=F(1)), REPLACED)]


def _smooth() -> list[World]:
    made = (
        m.Smooth(function=_median(), epsilon=F(1)),
        m.Smooth(function=_median(), epsilon=F(1), delta=F(1, 1000)),
        m.Smooth(function=_median(), epsilon=F(1), noise="cauchy"),
    )
    return [_listed(one, REPLACED) for one in made]


def _propose_test_release() -> list[World]:
    made = m.ProposeTestRelease(function=_median(), bound=F(1), epsilon=F(1), delta=F(1, 100))
    return [_listed(made, REPLACED)]


WORLDS: dict[str, Callable[[], list[World]]] = {
    "DiscreteLaplace": _discrete_laplace,
    "DiscreteGaussian": _discrete_gaussian,
    "Laplace": _laplace,
    "Gaussian": _gaussian,
    "Staircase": _staircase,
    "RandomisedResponse": _randomised_response,
    "UnaryEncoding": _unary_encoding,
    "LocalHashing": _local_hashing,
    "HadamardResponse": _hadamard_response,
    "Exponential": _exponential,
    "Quantile": _quantile,
    "SparseVector": _sparse_vector,
    "NoisyMax": _noisy_max,
    "PermuteAndFlip": _permute_and_flip,
    "TopK": _top_k,
    "InverseSensitivity": _inverse_sensitivity,
    "Smooth": _smooth,
    "ProposeTestRelease": _propose_test_release,
}
REASONS: dict[str, str] = {}


@cache
def worlds() -> tuple[World, ...]:
    """Those of every class that is in the tuple."""
    return tuple(world for one in m.MECHANISMS if one.__name__ in WORLDS for world in WORLDS[one.__name__]())


# --- what else every mechanism is tried with -----------------------------------------------------------------------

MEDIAN = order_statistic("1/2", lower=0, upper=9, grid=1)


@dataclass(frozen=True)
class Entry:
    """good: keyword arguments. bad: values by parameter. other: parameters that are no numbers."""

    good: dict[str, Any]
    bad: dict[str, list[Any]]
    other: frozenset[str] = frozenset()


CONSTANTS: dict[str, list[Any]] = {
    "grid": [0, -1, "1/3"],
    "bounds": [5, "ab", (1,), (1, 2, 3), (2, 1), (0, float("nan")), (float("-inf"), 0), (True, 2), "0,1"],
    "nan": [],
}
COORDINATES: dict[str, list[Any]] = {"coordinates": [0, -1, "1/2", 1.5, True]}
VALUES: dict[str, list[Any]] = {"values": [None, 1, [], ["a"]]}
SCORED: dict[str, list[Any]] = {
    "sensitivity": [0, -1, None],
    "epsilon": [0, -1, None],
    "monotone": [None, 1, "no"],
    "grid": [0, -1],
    "nan": [],
}

PARAMETERS: dict[str, Entry] = {
    "Laplace": Entry(
        {"sensitivity": 1, "epsilon": 1},
        {"sensitivity": [0, -1, None], "epsilon": [0, -1, None]} | COORDINATES | CONSTANTS,
        frozenset({"bounds"}),
    ),
    "Gaussian": Entry(
        {"sensitivity": 1, "epsilon": 1, "delta": 1e-6},
        {
            "sensitivity": [0, -1, None],
            "epsilon": [-1, None, 20_000],
            "delta": [0, 1, -1, 2, None],
            "rho": [0, -1, 1],  # 1: beside epsilon and delta
        }
        | COORDINATES
        | CONSTANTS,
        frozenset({"bounds"}),
    ),
    "Staircase": Entry(
        {"sensitivity": 1, "epsilon": 1},
        {"sensitivity": [0, -1, None], "epsilon": [0, -1, None, "1e-13"], "gamma": [0, -1, "1.01"]}
        | {"coordinates": [*COORDINATES["coordinates"], 2]}
        | CONSTANTS,
        frozenset({"bounds"}),
    ),
    "RandomisedResponse": Entry(
        {"values": ["a", "b"], "epsilon": 1},
        {"epsilon": [0, -1], "truth": [0, 1, "1/10", "3/4"]} | VALUES,
        frozenset({"values"}),
    ),
    "UnaryEncoding": Entry(
        {"values": ["a", "b", "c"], "p": "1/2", "q": "1/4"},
        {"p": [0, 1, "1/10", None], "q": [0, 1, "3/4", None]} | VALUES,
        frozenset({"values"}),
    ),
    "LocalHashing": Entry(
        {"values": ["a", "b", "c"], "epsilon": 1}, {"epsilon": [0, -1, None]} | VALUES, frozenset({"values"})
    ),
    "HadamardResponse": Entry(
        {"values": ["a", "b", "c"], "epsilon": 1}, {"epsilon": [0, -1, None]} | VALUES, frozenset({"values"})
    ),
    "SparseVector": Entry(
        {"sensitivity": 1, "epsilon": 1, "threshold": 0},
        {
            "sensitivity": [0, -1, None],
            "epsilon": [0, -1, None],
            "threshold": [None],
            "positives": [0, -1, "1/2", None],
            "values_epsilon": [0, -1],
        }
        | CONSTANTS,
        frozenset({"bounds"}),
    ),
    "NoisyMax": Entry(
        {"sensitivity": 1, "epsilon": 1},
        SCORED | {"grid": [0, -1, "1/3"], "value_epsilon": [0, -1], "noise": ["gauss", None, 1, ["laplace"]]},
        frozenset({"noise", "monotone"}),
    ),
    "Exponential": Entry({"sensitivity": 1, "epsilon": 1}, SCORED, frozenset({"monotone"})),
    "Quantile": Entry(
        {"q": "1/2", "epsilon": 1, "lower": 0, "upper": 10, "step": 1},
        {
            "q": [-1, 2, None, ["1/2", 0.5], [0.5, "ten"]],
            "epsilon": [0, -1, None],
            "lower": [11, None],
            "upper": [-1, None],
            "step": [0, -1, None, "1e-30"],
            "candidates": [[1, 2], "12", 5, []],
            "neighbours": ["both", None, 1, []],
            "nan": [],
        },
        frozenset({"candidates", "neighbours"}),
    ),
    "PermuteAndFlip": Entry({"sensitivity": 1, "epsilon": 1}, SCORED, frozenset({"monotone"})),
    "TopK": Entry(
        {"sensitivity": 1, "epsilon": 1, "k": 2},
        SCORED | {"k": [0, -1, "1/2", 1.5, None]},
        frozenset({"monotone"}),
    ),
    "Smooth": Entry(
        {"function": MEDIAN, "epsilon": 1},
        {
            "function": [None, min, 3, type(MEDIAN)],
            "epsilon": [0, -1, None],
            "delta": [-1, 1],
            "noise": ["gauss", "", 1, "laplace", ["student"]],  # laplace: without a delta
            "smoothing": [0, 1, -1, None],
        },
        frozenset({"function", "noise"}),
    ),
    "ProposeTestRelease": Entry(
        {"function": MEDIAN, "bound": 1, "epsilon": 1, "delta": 1e-6},
        {
            "function": [None, min, 3, type(MEDIAN)],
            "bound": [0, -1, None],
            "epsilon": [0, -1, None],
            "delta": [0, 1, -1, None],
            "test_share": [0, 1, -1, None],
        },
        frozenset({"function"}),
    ),
    "InverseSensitivity": Entry(
        {"function": MEDIAN, "epsilon": 1},
        {"function": [None, min, 3, bounded_mean(lower=0, upper=9, grid=1)], "epsilon": [0, -1, None]},
        frozenset({"function"}),
    ),
}


def example(name: str) -> Any:
    cls = NAMED[name]
    return next(made for made in sys.modules[cls.__module__].EXAMPLES if type(made) is cls)


NAMED = {cls.__name__: cls for cls in m.MECHANISMS}
REPORTED = ({"given": {"values": 4}}, {"reports": 10**4}, 500)
AMONG = {"candidates": 10}
CALIBRATED: dict[str, Any] = {  # what else it takes, what its error takes, and an error to ask for
    "DiscreteLaplace": ({"sensitivity": 2}, {}, 40),
    "DiscreteGaussian": ({"sensitivity": 3}, {}, 40),
    "Laplace": ({"sensitivity": "0.3"}, {}, 40),
    "Gaussian": ({"sensitivity": "0.3"}, {}, 40),
    "Staircase": ({"sensitivity": "0.3"}, {}, 40),
    "RandomisedResponse": REPORTED,
    "UnaryEncoding": REPORTED,
    "LocalHashing": REPORTED,
    "HadamardResponse": REPORTED,
    "SparseVector": ({"sensitivity": 1, "given": {"threshold": 0}}, {"questions": 10}, 40),
    "Exponential": ({"sensitivity": 5}, AMONG, 40),
    "Quantile": ({"given": {"q": "1/2", "lower": 0, "upper": 100, "step": 1, "neighbours": "add-remove"}}, {}, 40),
    "InverseSensitivity": ({"given": {"function": example("InverseSensitivity").function}}, {}, 40),
    "ProposeTestRelease": (
        {"given": {name: getattr(example("ProposeTestRelease"), name) for name in ("function", "bound")}},
        {"n": 100},
        None,  # without a target of delta, it must be given one
    ),
    "Smooth": ({"given": {"function": example("Smooth").function}}, {"n": 100}, None),  # its error is that of its range
    "NoisyMax": ({"sensitivity": 1}, AMONG, 40),
    "PermuteAndFlip": ({"sensitivity": 1}, AMONG, 40),
    "TopK": ({"sensitivity": 1, "given": {"k": 2}}, AMONG, 40),
}


# (mechanism, verb, input, neighbour within what is declared, one beyond it; None where any may stand for any)
MOVES: list[tuple[Any, str, Any, Any, Any]] = [
    (m.Laplace(sensitivity=2, epsilon=1, grid=1), "release", 5, 7, 8),
    (m.Laplace(sensitivity=2, epsilon=1, grid=1, coordinates=2), "release_exact", [1, 1, 1], [2, 0, 1], [2, 2, 2]),
    (m.Laplace(sensitivity=9, epsilon=1, grid=1, coordinates=1), "release", [1, 1], [5, 1], [2, 2]),
    (m.Laplace(sensitivity=1, epsilon=1, bounds=(0, 1), nan=0), "release", math.nan, 1e300, None),
    (m.Gaussian(sensitivity=5, rho=1, grid=1, coordinates=2), "release", [0, 0], [3, 4], [6, 3]),
    (m.Gaussian(sensitivity=1, rho=1), "release_exact", 0.25, 1.25, 1.5),
    (m.Staircase(sensitivity=2, epsilon=1, grid=1), "release", 5, 7, 8),
    (m.Staircase(sensitivity=2, epsilon=1, grid=1, coordinates=1), "release_exact", [1, 1], [3, 1], [2, 2]),
    (m.Exponential(sensitivity=1, epsilon=1), "select", [1, 2, 3], [2, 1, 3], [1, 2, 5]),
    (m.Exponential(sensitivity=1, epsilon=1, monotone=True), "select", [1, 2, 3], [2, 3, 4], [2, 1, 3]),
    (m.NoisyMax(sensitivity=1, epsilon=1), "select", [1, 2, 3], [2, 1, 3], [3, 2, 3]),
    (m.NoisyMax(sensitivity=1, epsilon=1).with_value(epsilon=1), "select_with_value", [1, 2, 3], [2, 2, 3], [3, 2, 3]),
    (m.PermuteAndFlip(sensitivity=1, epsilon=1), "select", [1, 2, 3], [2, 1, 3], [1, 2, 5]),
    (m.TopK(sensitivity=1, epsilon=1, k=2), "select", [1, 2, 3], [2, 1, 3], [1, 2, 5]),
    (m.Quantile(q="1/2", epsilon=1, lower=0, upper=9, step=1), "release", [1, 2], [1, 2, 9], [1, 2, 2, 9]),
    (m.Quantile(q="1/2", epsilon=1, lower=0, upper=9, step=1, neighbours="replace-one"),
     "release", [1, 2], [1, 9], [1, 2, 9]),
    (m.InverseSensitivity(function=_median(), epsilon=1), "release", [1, 2, 3], [1, 4, 3], [0, 0, 3]),
    (m.ProposeTestRelease(function=_median(), bound=1, epsilon=1, delta="1e-2"),
     "release", [1, 2, 3], [1, 4, 3], [0, 0, 3]),
    (m.Smooth(function=_median(), epsilon=1), "release", [1, 2, 3], [1, 4, 3], [0, 0, 3]),
    (m.RandomisedResponse(epsilon=1, values=3), "respond", 0, 2, None),
    (m.RandomisedResponse(epsilon=1, values=3), "respond_many", [0, 1, 2], [0, 1, 1], [1, 1, 1]),
    (m.UnaryEncoding.optimised(epsilon=1, values=3), "respond_many", [0, 1, 2], [0, 1, 1], [1, 1, 1]),
    (m.LocalHashing(epsilon=1, values=5), "respond_many", [0, 1, 2], [0, 1, 1], [1, 1, 1]),
    (m.HadamardResponse(epsilon=1, values=3), "respond_many", [0, 1, 2], [0, 1, 1], [1, 1, 1]),
]
