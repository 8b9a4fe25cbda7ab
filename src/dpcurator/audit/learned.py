"""Scores fitted to draws: each sums up all parts of an outcome in one number, of which thresholds make events.

Definition  `additive`: each part is cut into bins, and the score is the sum over parts of the logarithm of how much
            likelier its bin was on the one input; it is the likelihood ratio itself where parts are independent.
            `linear`: logistic regression on each part, clipped between the two medians and between far quantiles, and
            on which label stands where. `cells`: all parts cut into few bins, the combination as a key.
            `kind and size`: which part is greatest, the labels, and about how great, as a key.
Promise     None: a score is fitted on draws that are never counted, so a bad one costs power alone.
Checked     tests/audit/test_blackbox.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from dpcurator.audit.drawn import Drawn
from dpcurator.audit.features import Keyed, Ordered, kinds, say_whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PARTS, _CELLS, _FITTED = 48, 2000, 60_000


def learned(one: Drawn, other: Drawn) -> Iterator[Ordered | Keyed]:
    """Fitted to these draws of the two inputs."""
    parts = min(max(one.parts, other.parts), _PARTS)
    if parts > 1:
        yield _additive(one, other, parts)
        yield from _clipped(one, other)
        yield from _cells(one, other, parts)
        yield from _kind_and_size(one, other)
        made = _linear(one, other, parts)
        if made is not None:
            yield made
        steps = (_differences(one), _differences(other))
        for feature in (_additive(*steps, parts), *_clipped(*steps)):
            name = f"{feature.name}, of the differences between parts"
            yield Ordered(name, lambda drawn, of=feature.of: of(_differences(drawn)))  # type: ignore[misc]


def _differences(drawn: Drawn) -> Drawn:
    """The first part, and each part less the one before: what running sums are made of."""
    import numpy as np

    values = np.diff(drawn.values, axis=1, prepend=0.0)
    marks = drawn.marks if drawn.marks is None else np.where(np.isnan(values) & (drawn.marks == 0), -1, drawn.marks)
    return Drawn(values, marks, drawn.lengths, drawn.labels, drawn.single)


def _clipped(one: Drawn, other: Drawn) -> Iterator[Ordered]:
    """The sum of all parts, each clipped to what lies between the two medians: for independent Laplace noise of one
    scale and parts that all move alike, a multiple of the logarithm of the likelihood ratio."""
    import numpy as np

    middles = sorted(float(np.nanmedian(drawn.values)) for drawn in (one, other) if not np.isnan(drawn.values).all())
    if len(middles) == 2 and middles[0] < middles[1]:
        low, high = middles
        name = f"the sum of its parts, each clipped to [{low:.6g}, {high:.6g}]"
        yield Ordered(name, lambda drawn: np.nansum(np.clip(drawn.values, low, high), axis=1))


def edges_of(one: NDArray[Any], other: NDArray[Any], bins: int) -> NDArray[Any]:
    """Where to cut a number into bins that hold about equally many of both samples."""
    import numpy as np

    both = np.concatenate([one[:_FITTED], other[:_FITTED]])
    both = both[~np.isnan(both)]
    if not both.size:
        return np.array([])
    return np.unique(np.quantile(both, np.linspace(0, 1, bins + 1)[1:-1], method="inverted_cdf"))


def _codes(drawn: Drawn, i: int, edges: NDArray[Any]) -> NDArray[Any]:
    """A whole number for the bin, or for the mark, of part i: marks first."""
    import numpy as np

    mark = drawn.mark(i).astype(np.int64)
    code = np.searchsorted(edges, drawn.part(i), side="left")
    return np.where(mark == 0, 64 + code, np.clip(np.where(mark < 0, -mark, 4 + mark), 0, 63))


def _additive(one: Drawn, other: Drawn, parts: int) -> Ordered:
    import numpy as np

    tables = []
    for i in range(parts):
        edges = edges_of(one.part(i), other.part(i), 24)
        size = 64 + len(edges) + 1
        first = np.bincount(_codes(one, i, edges), minlength=size) + 0.5
        second = np.bincount(_codes(other, i, edges), minlength=size) + 0.5
        tables.append((edges, np.log(first / one.n) - np.log(second / other.n)))

    def of(drawn: Drawn) -> NDArray[Any]:
        total = np.zeros(drawn.n)
        for i, (edges, table) in enumerate(tables):
            total += table[_codes(drawn, i, edges)]
        return total

    strong = sorted(range(parts), key=lambda i: -float(np.ptp(tables[i][1])))[:3]
    return Ordered(f"a score that adds up what each part says (most: {_parts(strong)})", of)


def _cells(one: Drawn, other: Drawn, parts: int) -> Iterator[Keyed]:
    """Coarse bins of all parts together."""
    import numpy as np

    used = min(parts, 10)
    bins = max(2, min(12, int(_CELLS ** (1 / used))))
    cuts = [edges_of(one.part(i), other.part(i), bins) for i in range(used)]

    def of(drawn: Drawn) -> NDArray[Any]:
        key = np.zeros(drawn.n, dtype=np.int64)
        for i, edges in enumerate(cuts):
            key = key * 80 + np.minimum(_codes(drawn, i, edges), 79)
        return key

    yield Keyed("all parts, in coarse bins", of, lambda drawn, row: f"about {say_whole(drawn, row)}")


def _kind_and_size(one: Drawn, other: Drawn) -> Iterator[Keyed]:
    """Where labels stand and which part is greatest, together with how great it is: where a number comes with a sign of
    when it was given, neither of the two says what both do."""
    import numpy as np

    def greatest(drawn: Drawn) -> NDArray[Any]:
        made: NDArray[Any] = np.nanmax(drawn.values, axis=1, initial=-np.inf)
        return made

    edges = edges_of(greatest(one), greatest(other), 8)

    def of(drawn: Drawn) -> NDArray[Any]:
        numbers = drawn.values if drawn.marks is None else np.where(np.isnan(drawn.values), -np.inf, drawn.values)
        size = np.searchsorted(edges, greatest(drawn), side="left")
        key: NDArray[Any] = (kinds(drawn) * 1_000_003 + np.argmax(numbers, axis=1)) * 16 + size  # 64 bits that wrap
        return key

    yield Keyed("which part is greatest, about how great", of, lambda drawn, row: f"about {say_whole(drawn, row)}")


def _linear(one: Drawn, other: Drawn, parts: int) -> Ordered | None:
    import numpy as np

    columns: list[tuple[str, int, float, float]] = []  # clip of part i between two numbers; or label there
    for i in range(parts):
        first, second = one.part(i)[:_FITTED], other.part(i)[:_FITTED]
        first, second = first[~np.isnan(first)], second[~np.isnan(second)]
        if first.size > 50 and second.size > 50:
            middles = sorted((float(np.median(first)), float(np.median(second))))
            both = np.concatenate([first, second])
            far = [float(x) for x in np.quantile(both, [0.05, 0.95])]
            if middles[0] < middles[1]:
                columns.append(("clip", i, middles[0], middles[1]))
            if far[0] < far[1]:
                columns.append(("clip", i, far[0], far[1]))
        marks, counts = np.unique(np.concatenate([one.mark(i)[:_FITTED], other.mark(i)[:_FITTED]]), return_counts=True)
        if len(marks) > 1:
            columns += [("mark", i, float(m), 0.0) for m in marks[np.argsort(-counts)][:3]]
    if len(columns) < 2:
        return None

    def matrix(drawn: Drawn, rows: slice) -> NDArray[Any]:
        made = np.empty((len(range(*rows.indices(drawn.n))), len(columns)))
        for at, (kind, i, low, high) in enumerate(columns):
            if kind == "clip":
                made[:, at] = np.nan_to_num((np.clip(drawn.part(i)[rows], low, high) - low) / (high - low), nan=0.5)
            else:
                made[:, at] = drawn.mark(i)[rows] == low
        return made

    fitted = slice(0, _FITTED)
    x = np.concatenate([matrix(one, fitted), matrix(other, fitted)])
    y = np.concatenate([np.ones(min(one.n, _FITTED)), np.zeros(min(other.n, _FITTED))])
    centre = x.mean(axis=0)
    weights = _logistic(x - centre, y)

    def of(drawn: Drawn) -> NDArray[Any]:
        return np.concatenate(
            [(matrix(drawn, slice(at, at + 65536)) - centre) @ weights for at in range(0, drawn.n, 65536)]
        )

    strong = list(dict.fromkeys(columns[at][1] for at in np.argsort(-np.abs(weights))))[:3]
    return Ordered(f"a fitted linear score (most: {_parts(strong)})", of)


def _logistic(x: NDArray[Any], y: NDArray[Any], steps: int = 6) -> NDArray[Any]:
    """Newton's steps with a little ridge."""
    import numpy as np

    weights = np.zeros(x.shape[1])
    ridge = 1.0 * np.eye(x.shape[1])
    for _ in range(steps):
        chance = 1 / (1 + np.exp(-np.clip(x @ weights, -30, 30)))
        spread = np.maximum(chance * (1 - chance), 1e-6)
        slope = x.T @ (y - chance) - weights
        curve = x.T @ (x * spread[:, None]) + ridge
        step = np.linalg.solve(curve, slope)
        weights = weights + step
        if float(np.abs(step).max()) < 1e-6:
            break
    return weights


def _parts(indices: list[int]) -> str:
    return ", ".join(f"part {i}" for i in indices)
