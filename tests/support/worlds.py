"""Small worlds: for every class of mechanism, instances with neighbouring inputs and their exact laws.

`WORLDS` has a line for each class, by name: a function that makes its worlds. A world is a mechanism, the loss it
promises, a law (input -> chance of each outcome listed), pairs of neighbours under that promise, and whether the loss
is *attained* by one of them. A class without a world has a reason in words in `REASONS`; a test holds both to the tuple
`MECHANISMS`. To add a mechanism, add a line; the laws of tests/laws/test_every_mechanism.py then run on it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction as F
from typing import Any

from dpcurator import mechanisms as m
from dpcurator.numbers import Enclosure
from dpcurator.privacy.loss import Loss

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
    from dpcurator.sensitivity.windows import order_statistic

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


def worlds() -> list[World]:
    """Those of every class that is in the tuple."""
    return [world for one in m.MECHANISMS if one.__name__ in WORLDS for world in WORLDS[one.__name__]()]
