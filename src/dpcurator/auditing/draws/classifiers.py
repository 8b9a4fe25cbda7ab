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

import numpy as np

from dpcurator.auditing.draws.batches import blocks, by_bin, codes, of_marks, size
from dpcurator.auditing.draws.features import Keyed, Ordered, kinds, say_whole
from dpcurator.auditing.outcomes import ABSENT, Drawn

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PARTS, _CELLS, _FITTED = 48, 2000, 60_000
_SPARED = 4  # of so many draws one tells the curvature


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
        for feature in (_additive(one, other, parts, steps=True), *_clipped(one, other, steps=True)):
            yield Ordered(f"{feature.name}, of the differences between parts", feature.of)


def _steps(drawn: Drawn) -> Drawn:
    """The first part, and each part less the one before: what running sums are made of. Of those fitted to alone."""
    values = np.diff(drawn.values[:_FITTED], axis=1, prepend=0.0)
    return Drawn(values, None, None, drawn.labels, drawn.single)


def _clipped(one: Drawn, other: Drawn, *, steps: bool = False) -> Iterator[Ordered]:
    """The sum of all parts, each clipped to what lies between the two medians: for independent Laplace noise of one
    scale and parts that all move alike, a multiple of the logarithm of the likelihood ratio."""
    seen = [drawn.values if not steps else _steps(drawn).values for drawn in (one, other)]
    middles = sorted(float(np.nanmedian(values)) for values in seen if not np.isnan(values).all())
    if len(middles) == 2 and middles[0] < middles[1]:
        low, high = middles

        def of(drawn: Drawn) -> NDArray[Any]:
            total = np.zeros(drawn.n)
            for rows, values, marks in blocks(drawn, drawn.parts, steps=steps):
                for part in values:
                    held = np.minimum(np.maximum(part, low), high)
                    total[rows] += held if marks is None else np.where(np.isnan(held), 0.0, held)
            return _even(total, high - low)

        yield Ordered(f"the sum of its parts, each clipped to [{low:.6g}, {high:.6g}]", of)


def _even(score: NDArray[Any], unit: float = 1.0) -> NDArray[Any]:
    """Sums that differ by rounding alone are one: else a threshold would cut through outcomes that are as likely."""
    grain = 2.0 ** (np.floor(np.log2(unit)) - 26)
    made: NDArray[Any] = np.rint(score / grain) * grain
    return made


def edges_of(one: NDArray[Any], other: NDArray[Any], bins: int) -> NDArray[Any]:
    """Where to cut a number into bins that hold about equally many of both samples."""
    both = np.concatenate([one[:_FITTED], other[:_FITTED]])
    both = both[~np.isnan(both)]
    if not both.size:
        return np.array([])
    return np.unique(np.quantile(both, np.linspace(0, 1, bins + 1)[1:-1], method="inverted_cdf"))


def _additive(one: Drawn, other: Drawn, parts: int, *, steps: bool = False) -> Ordered:
    first, second = (_steps(drawn) if steps else drawn for drawn in (one, other))
    cuts = [edges_of(first.part(i), second.part(i), 24) for i in range(parts)]
    tables = [
        np.log(once / one.n) - np.log(again / other.n)
        for once, again in zip(*(_tallies(drawn, cuts, steps) for drawn in (one, other)), strict=True)
    ]
    absent = [float(table[of_marks(np.array([ABSENT]))[0]]) for table in tables]

    def of(drawn: Drawn) -> NDArray[Any]:
        total = np.zeros(drawn.n)
        for rows, values, marks in blocks(drawn, parts, steps=steps):
            for i, (edges, table) in enumerate(zip(cuts, tables, strict=True)):
                if i < len(values):
                    total[rows] += by_bin(values[i], None if marks is None else marks[i], edges, table)
                else:
                    total[rows] += absent[i]
        return _even(total)

    strong = sorted(range(parts), key=lambda i: -float(np.ptp(tables[i])))[:3]
    return Ordered(f"a score that adds up what each part says (most: {_parts(strong)})", of)


def _tallies(drawn: Drawn, cuts: list[NDArray[Any]], steps: bool) -> list[NDArray[Any]]:
    """How often each bin and mark was seen in each part, and a half."""
    found = [np.full(size(edges), 0.5) for edges in cuts]
    for rows, values, marks in blocks(drawn, len(cuts), steps=steps):
        for i, edges in enumerate(cuts):
            if i < len(values):
                seen = codes(values[i], None if marks is None else marks[i], edges)
                found[i] += np.bincount(seen, minlength=size(edges))
            else:
                found[i][of_marks(np.array([ABSENT]))[0]] += rows.stop - rows.start
    return found


def _cells(one: Drawn, other: Drawn, parts: int) -> Iterator[Keyed]:
    """Coarse bins of all parts together."""
    used = min(parts, 10)
    bins = max(2, min(12, int(_CELLS ** (1 / used))))
    cuts = [edges_of(one.part(i), other.part(i), bins) for i in range(used)]

    def of(drawn: Drawn) -> NDArray[Any]:
        key = np.zeros(drawn.n, dtype=np.int64)
        for rows, values, marks in blocks(drawn, used):
            part = key[rows]
            for i, edges in enumerate(cuts):
                part *= 80
                if i < len(values):
                    part += np.minimum(codes(values[i], None if marks is None else marks[i], edges), 79)
                else:
                    part += of_marks(np.array([ABSENT]))[0]
        return key

    yield Keyed("all parts, in coarse bins", of, lambda drawn, row: f"about {say_whole(drawn, row)}")


def _kind_and_size(one: Drawn, other: Drawn) -> Iterator[Keyed]:
    """Where labels stand and which part is greatest, together with how great it is: where a number comes with a sign of
    when it was given, neither of the two says what both do."""
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

    def column(at: int, values: Any, marks: Any) -> NDArray[Any]:
        """Of one block."""
        kind, i, low, high = columns[at]
        if kind == "clip":
            if i >= len(values):
                return np.full(values.shape[1], 0.5)
            held = (np.minimum(np.maximum(values[i], low), high) - low) * (1 / (high - low))
            return held if marks is None else np.where(np.isnan(held), 0.5, held)
        if i >= len(values):
            return np.full(values.shape[1], float(low == ABSENT))
        made: NDArray[Any] = np.zeros(values.shape[1]) + low == 0 if marks is None else marks[i] == low
        return made

    some = [_first(drawn, _FITTED) for drawn in (one, other)]
    x = np.empty((len(columns), sum(drawn.n for drawn in some)), dtype=np.float32)
    begin = 0
    for drawn in some:
        for rows, values, marks in blocks(drawn, parts):
            for at in range(len(columns)):
                x[at, begin + rows.start : begin + rows.stop] = column(at, values, marks)
        begin += drawn.n
    y = np.concatenate([np.ones(some[0].n, dtype=np.float32), np.zeros(some[1].n, dtype=np.float32)])
    weights = _logistic(x - x.mean(axis=1, dtype=np.float64).astype(np.float32)[:, None], y)

    def of(drawn: Drawn) -> NDArray[Any]:
        total = np.zeros(drawn.n)
        for rows, values, marks in blocks(drawn, parts):
            for at, weight in enumerate(weights):
                total[rows] += weight * column(at, values, marks)
        return _even(total)

    strong = list(dict.fromkeys(columns[at][1] for at in np.argsort(-np.abs(weights))))[:3]
    return Ordered(f"a fitted linear score (most: {_parts(strong)})", of)


def _first(drawn: Drawn, most: int) -> Drawn:
    marks = None if drawn.marks is None else drawn.marks[:most]
    lengths = None if drawn.lengths is None else drawn.lengths[:most]
    return Drawn(drawn.values[:most], marks, lengths, drawn.labels, drawn.single)


def _logistic(x: NDArray[Any], y: NDArray[Any], steps: int = 8) -> NDArray[Any]:
    """Newton's steps with a little ridge, x of shape (columns, draws). The curvature is of a part of the draws, and
    is found anew after a step that was not small."""
    weights = np.zeros(len(x))
    some, every = np.ascontiguousarray(x[:, ::_SPARED]), np.eye(len(x))
    curve, moved = every, 1.0
    for _ in range(steps):
        chance = 1 / (1 + np.exp(-np.clip(weights.astype(np.float32) @ x, -30, 30)))
        if moved > 0.1:
            spread = np.maximum(chance * (1 - chance), 1e-6)[::_SPARED]
            curve = _SPARED * ((some * spread) @ some.T) + every
        step = np.linalg.solve(curve, x @ (y - chance) - weights)
        weights = weights + step
        moved = float(np.abs(step).max())
        if moved < 1e-4:
            break
    return weights


def _parts(indices: list[int]) -> str:
    return ", ".join(f"part {i}" for i in indices)
