"""One loss on points, in doubles: for choosing a grid and a tilt, and for the estimate. It promises nothing.

Checked in tests/accounting/test_estimate.py, against the enclosures.
"""

from __future__ import annotations

from typing import Any

from dpcurator.accounting.pld.lattice import with_law
from dpcurator.privacy.families.family import FloatTails
from dpcurator.privacy.loss import Loss


def tails(loss: Loss) -> FloatTails:
    """P(L > x) and Q(L > x), for x a float64 array, with relative accuracy where they are small."""
    known = with_law(loss)
    assert known.float_tails is not None
    return known.float_tails(loss.given)


def dots(loss: Loss, x: Any) -> Any:
    """The masses under P on the rising points x that stand for the law: see accounting/pld/discretise.py.

    What is above the last point is not in them; what is below the first is at it.
    """
    import numpy as np

    first, second = tails(loss)(x)
    p, q = first[:-1] - first[1:], second[:-1] - second[1:]
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        worth = np.where(q > 0, np.exp(x[:-1]) * q, 0.0)
    up = np.clip((p - worth) / -np.expm1(-np.diff(x)), 0, p)
    masses = np.zeros(len(x))
    masses[1:] += up
    masses[:-1] += p - up
    masses[0] += max(1 - first[0], 0.0)
    return masses
