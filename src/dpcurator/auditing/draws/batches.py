"""Draws a few thousand at a time, each part's numbers side by side: what makes scores of many parts quick.

Definition  `blocks` gives the rows of `Drawn` in turn, turned so that a part is one run of memory that the cache holds.
            `binned` counts, without a branch, how many of few edges a number is above; nan is above none.
Promise     What is computed of an outcome is the same in every block and lot: sums go part by part, in order.
Checked     tests/audit/test_batches.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcurator.auditing.outcomes import ABSENT, Drawn

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ROWS = 8192
_FEW = 100  # edges, up to which comparing with each is quicker than bisection
_MARKS, _LEAST = 64, 4  # marks that are told apart; the least of them is -_LEAST

Block = tuple[slice, Any, Any]


def blocks(drawn: Drawn, parts: int, *, steps: bool = False) -> Iterator[Block]:
    """(rows, values of shape (parts, rows), marks of that shape or None). steps: of parts less the one before.

    There are fewer parts than asked for where the draws have fewer.
    """
    for at in range(0, drawn.n, _ROWS):
        rows = slice(at, min(at + _ROWS, drawn.n))
        values = np.ascontiguousarray(drawn.values[rows, :parts].T)
        marks = None if drawn.marks is None else np.ascontiguousarray(drawn.marks[rows, :parts].T)
        if steps:
            values[1:] = values[1:] - values[:-1]
            if marks is not None:
                marks[(marks == 0) & np.isnan(values)] = ABSENT
        yield rows, values, marks


def binned(values: NDArray[Any], edges: NDArray[Any]) -> NDArray[Any]:
    """The bin (a, b] of each number."""
    if len(edges) > _FEW:
        return np.searchsorted(edges, values, side="left")
    found = np.zeros(len(values), dtype=np.int8)
    for edge in edges:
        found += (values > edge).view(np.int8)
    return found


def by_bin(values: NDArray[Any], marks: NDArray[Any] | None, edges: NDArray[Any], table: NDArray[Any]) -> Any:
    """What the table says of each: first of marks, then of bins."""
    bins = table[_MARKS:]
    if len(edges) == 0:
        told = np.full(len(values), bins[0])
    elif len(edges) == 1:
        told = np.where(values > edges[0], bins[1], bins[0])
    else:
        told = bins[binned(values, edges)]
    return told if marks is None else np.where(marks == 0, told, table[of_marks(marks)])


def of_marks(marks: NDArray[Any]) -> NDArray[Any]:
    """The place of a mark in a table."""
    made: NDArray[Any] = np.minimum(marks + _LEAST, _MARKS - 1)
    return made


def codes(values: NDArray[Any], marks: NDArray[Any] | None, edges: NDArray[Any]) -> NDArray[Any]:
    """Places in a table: of a mark, or of a bin."""
    made = binned(values, edges).astype(np.int64) + _MARKS
    return made if marks is None else np.where(marks == 0, made, of_marks(marks))


def size(edges: NDArray[Any]) -> int:
    """Of a table."""
    return _MARKS + len(edges) + 1
