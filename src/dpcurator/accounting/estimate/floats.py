"""The laws of losses in doubles, in arrays: for choosing a grid and a tilt, and for the estimate. They promise nothing.

`tails(loss)` is a function of an array x that gives P(L > x) and Q(L > x), with relative accuracy where they are small.
Checked in tests/accounting/test_estimate.py, against the enclosures.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dpcurator.errors import Refusal
from dpcurator.privacy.families.randomised_response import two_chances
from dpcurator.privacy.loss import Loss
from dpcurator.privacy.sampled import on_all_rows, rate_of, way_of

if TYPE_CHECKING:
    pass

Array = "NDArray[Any]"
_LARGE = 600.0  # of a loss whose exponential is taken
Tails = Callable[[Any], tuple[Any, Any]]


def tails(loss: Loss) -> Tails:
    """P(L > x) and Q(L > x), for x a float64 array."""
    import numpy as np

    if way_of(loss) is not None:
        return _sampled(loss)
    given = {name: float(value) for name, value in loss.parameters}
    family = loss.family
    if family == "laplace":
        return _laplace(given["shift"] / given["scale"])
    if family == "gaussian":
        return _gaussian(given["shift"] / math.sqrt(given["variance"]))
    if family == "bounded_range":
        return _bounded_range(given["epsilon"])
    if family in ("pure", "approximate"):
        e, rest = given["epsilon"], 1 - given.get("delta", 0.0)
        likelier, lie = rest / (1 + math.exp(-e)), rest / (1 + math.exp(e)) if e < 700 else 0.0
        return _atoms(np.array([e, -e]), np.array([likelier, lie]), np.array([lie, likelier]), 1 - rest)
    if family == "randomised_response":
        truth, lie = (float(part) for part in two_chances(loss.given))
        e, middle = math.log(truth / lie), max(1 - truth - lie, 0.0)
        return _atoms(np.array([e, 0.0, -e]), np.array([truth, middle, lie]), np.array([lie, middle, truth]), 0.0)
    if family == "discrete_laplace":
        return _discrete_laplace(given["shift"], given["scale"])
    if family == "discrete_gaussian":
        shift, variance = int(given["shift"]), given["variance"]
        far = int(40 * math.sqrt(variance) + 40 + shift)
        if far <= 10**6:
            k = np.arange(-far, far + 1, dtype=np.float64)
            mass = np.exp(-(k * k) / (2 * variance))
            mass /= mass.sum()
            losses = (shift * shift - 2 * k * shift) / (2 * variance)
            with np.errstate(over="ignore", invalid="ignore"):
                other = np.exp(-((k - shift) ** 2) / (2 * variance)) * (mass[far])
            return _atoms(losses, mass, other, 0.0)
        return _gaussian(shift / math.sqrt(variance))
    raise Refusal(f"{family} has no law of its losses here.", cure="Account for it by its rho.")


def _atoms(losses: Any, first: Any, second: Any, infinite: float) -> Tails:
    """Atoms of falling loss."""
    import numpy as np

    rising = -losses
    sums = [np.concatenate([[start], start + np.cumsum(mass)]) for start, mass in ((infinite, first), (0.0, second))]

    def both(x: Any) -> tuple[Any, Any]:
        slack = 1e-13 * (1 + np.abs(x))  # an atom at a grid point is in the cell below it
        above = np.searchsorted(rising, -x - slack, side="left")
        return sums[0][above], sums[1][above]

    return both


def _laplace(a: float) -> Tails:
    import numpy as np

    def both(x: Any) -> tuple[Any, Any]:
        inside = np.clip(x, -a, a)
        first, second = 1 - np.exp((inside - a) / 2) / 2, np.exp(-(inside + a) / 2) / 2
        slack = 1e-13 * (1 + a)
        none, every = x >= a - slack, x < -a - slack
        return np.where(none, 0, np.where(every, 1, first)), np.where(none, 0, np.where(every, 1, second))

    return both


def _gaussian(mu: float) -> Tails:
    import numpy as np

    erfc = np.frompyfunc(math.erfc, 1, 1)

    def both(x: Any) -> tuple[Any, Any]:
        wide = mu * math.sqrt(2)
        first = erfc((x - mu * mu / 2) / wide).astype(np.float64) / 2
        return first, erfc((x + mu * mu / 2) / wide).astype(np.float64) / 2

    return both


def _bounded_range(e: float) -> Tails:
    import numpy as np

    def both(x: Any) -> tuple[Any, Any]:
        inside = np.clip(x, -e, e)
        first = np.expm1((inside - e) / 2) / math.expm1(-e)
        return first, np.exp(-(e + inside) / 2) * first

    return both


def _discrete_laplace(shift: float, scale: float) -> Tails:
    import numpy as np

    p = math.exp(-1 / scale)

    def both(x: Any) -> tuple[Any, Any]:
        m = np.clip(np.ceil((shift - scale * x) / 2 - 1e-9) - 1, -1, shift)
        first, second = 1 - np.exp(-(m + 1) / scale) / (1 + p), np.exp(-(shift - m) / scale) / (1 + p)
        slack = 1e-12 * (1 + shift / scale)
        none, every = (m < 0) | (x >= shift / scale - slack), x < -shift / scale - slack
        return np.where(none, 0, np.where(every, 1, first)), np.where(none, 0, np.where(every, 1, second))

    return both


def _sampled(loss: Loss) -> Tails:
    """From the tails of the loss on all rows, at the threshold t(x); see privacy/families/poisson.py."""
    import numpy as np

    inner, q, way = tails(on_all_rows(loss)), float(rate_of(loss)), way_of(loss)

    def threshold(x: Any, side: float) -> tuple[Any, Any]:
        """Where L passes x forward, and whether it does; a hair higher for side 1, lower for -1, where atoms lie."""
        with np.errstate(all="ignore"):
            small = np.minimum(x, _LARGE)
            ratio = np.expm1(small) / q
            here = ratio > -1
            steep = np.where(here, np.exp(small) / (q * (1 + ratio)), 0.0)
            t = np.where(here, np.log1p(np.maximum(ratio, -1)) + (x - small), 0.0)
            return t + side * 1e-13 * (1 + np.abs(x)) * np.minimum(steep, 1e9), here

    def forward(x: Any, side: float = 1.0) -> tuple[Any, Any]:
        t, here = threshold(x, side)
        p, other = inner(t)
        return np.where(here, (1 - q) * other + q * p, 1.0), np.where(here, other, 1.0)

    def backward(x: Any) -> tuple[Any, Any]:
        t, here = threshold(-x, -1.0)
        p, other = inner(-t)
        return np.where(here, p, 0.0), np.where(here, (1 - q) * p + q * other, 0.0)

    def fixed_size(x: Any) -> tuple[Any, Any]:
        up = x > -1e-13
        above, below = forward(np.where(up, x, 0.0)), forward(np.where(up, 1.0, -x), -1.0)
        return np.where(up, above[0], 1 - below[1]), np.where(up, above[1], 1 - below[0])

    if way == "fixed_size":
        return fixed_size
    return backward if loss.family.endswith("_reversed") else forward


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
