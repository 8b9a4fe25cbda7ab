"""Where the losses on a sample lie, in doubles: they choose points and windows, and promise nothing.

Most of such a law is within the rate of 0, and its upper tail goes as far as that of the loss on all rows does, less
ln(1/rate); so points are equally spaced in that loss, not in their own. Checked in tests/accounting/
test_sampled_pld.py.
"""

from __future__ import annotations

import math
from typing import Any

from dpcurator.accounting.pld.lattice import shape
from dpcurator.privacy.loss import Loss
from dpcurator.privacy.sampled import is_reverse, on_all_rows, rate_of, way_of

_LARGE = 600.0  # of a loss whose exponential is taken


def grown(loss: Any, rate: float) -> Any:
    """ln(1 - q + q e**l)."""
    import numpy as np

    loss = np.asarray(loss, dtype=float)
    small = np.log1p(rate * np.expm1(np.minimum(loss, _LARGE)))
    return np.where(loss > _LARGE, loss + math.log(rate), small)


def far_for(log_tail: float) -> float:
    """How many deviations a Gaussian passes with a chance of e**log_tail, or a little less."""
    return math.sqrt(max(-2 * log_tail, 1.0))


def whole_span(loss: Loss, log_tail: float) -> tuple[float, float]:
    """Between which the loss on all rows lies, either way, but for a tail of chance e**log_tail on the sample: there it
    is the rate times as likely."""
    base, far = on_all_rows(loss), far_for(log_tail - math.log(rate_of(loss)))
    seen = shape(base)
    if seen.bell is None:
        assert seen.anchor is not None
        return -float(seen.anchor), float(seen.anchor)
    mu = math.sqrt(seen.bell)
    high = mu * mu / 2 + far * mu + (2 * float(seen.gap) if seen.gap is not None else 0.0)
    return -high, high


def sampled_span(loss: Loss, log_tail: float) -> tuple[float, float]:
    """Between which the loss on the sample lies."""
    low, high = whole_span(loss, log_tail)
    q = float(rate_of(loss))
    if way_of(loss) == "fixed_size":
        return -float(grown(high, q)), float(grown(high, q))
    if is_reverse(loss):
        return -float(grown(-low, q)), -float(grown(-high, q))
    return float(grown(low, q)), float(grown(high, q))


def sampled_points(loss: Loss, log_tail: float, count: int) -> Any:
    """About so many rising points of the loss on the sample; the last is its largest, where it has one."""
    import numpy as np

    low, high = whole_span(loss, log_tail)
    q, seen = float(rate_of(loss)), shape(loss)
    x = grown(np.linspace(low, high, count), q)
    if way_of(loss) == "fixed_size":
        x = np.concatenate([-x[x > 0][::-1], [0.0], x[x > 0]])
    elif is_reverse(loss):
        x = -x[::-1]
    if seen.anchor is not None:
        x = np.append(x[x < float(seen.anchor)], float(seen.anchor))
    if seen.anchor is not None:
        lowest = float(seen.anchor) - float(seen.wide or 0)
        x = np.insert(x, np.searchsorted(x, lowest), lowest)
        x = np.insert(x, 0, lowest - abs(lowest) * 1e-3 - 1e-9)
    x = np.unique(x)
    keep = [len(x) - 1]
    for i in range(len(x) - 2, -1, -1):  # none so near to the next that the difference is rounding
        if x[keep[-1]] - x[i] > 1e-13 * (1 + abs(x[i])):
            keep.append(i)
    return x[keep[::-1]]
