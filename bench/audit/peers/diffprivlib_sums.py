"""diffprivlib: sums of floats and of integers, with so large an epsilon that its noise is far below one."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from peer import Row, diffprivlib

from dpcurator.auditing import probes


def summed(low: Any, high: Any, verb: str = "sum", dtype: Any = float) -> Callable[[list[Any]], Any]:
    tool = getattr(diffprivlib().tools, verb)
    return lambda rows: tool(np.array(rows, dtype=dtype), epsilon=1e30, bounds=(low, high))


def rows() -> Iterator[Row]:
    yield "tools.sum, floats", probes.order(summed(0, 2.0**53))
    yield "tools.sum, floats", probes.one_record(summed(2.0**50, 2.0**50 + 1), tolerance=1)
    yield "tools.sum, int64", probes.overflow(summed(0, 2**55, dtype=np.int64), tolerance=2**20)
    yield "tools.sum", probes.not_finite(summed(0, 1))
    yield "tools.nansum", probes.not_finite(summed(0, 1, "nansum"))
    yield "tools.mean", probes.not_finite(summed(0, 1, "mean"))
    listed = lambda rows: diffprivlib().tools.sum(rows, epsilon=1, bounds=(0, 1))  # noqa: E731
    yield "tools.sum of a Python list", probes.errors(listed, rows=[0.5] * 9, odd=[None, "odd", 10**400])
