"""Moment functions of losses, ln E e**(z L) at complex z, in doubles, of many losses of a family at once.

Definition  With w = z + 1/2, and without what is infinite:
              gaussian          z (z+1) mu**2 / 2
              laplace           e**(-a/2) [ cosh(a w) + sinh(a w)/(2 w) ],                   a = shift/scale
              bounded_range     sinh(e w) / (2 w sinh(e/2))
              pure              cosh(e w) / cosh(e/2)
              randomised        t e**(z l) + u e**(-z l) + 1 - t - u,                        l = ln(t/u)
              discrete_laplace  e**(-a/2)/(1+p) [ 2 cosh(a w) + (1-p) sinh((s-1) q w)/sinh(q w) ],  q = 1/scale, a = s q
              discrete_gaussian e**(z (z+1) s**2/(2v)) theta(z s)/theta(0), theta(x) = sum of e**(-2 pi**2 v n**2)
                                cos(2 pi n x), by Poisson's sum; here v of at least 1 only, where three terms are all
            e**(z a), their largest, is taken out of each, so that nothing overflows.
`falls(c, t, end)` is at least ln |K(c+iu)/K(c)| for all u in [t, end], end being infinite or half a period of a lattice
that holds all: |sinh| and |cosh| of c + it are at most cosh c; for randomised response |K|**2 is a convex function of
cos(u l), largest at an end; a lattice of fewer periods comes back to 0 within.
Checked in tests/accounting/test_contour.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dpcurator.privacy.families.randomised_response import two_chances
from dpcurator.privacy.loss import Loss


@dataclass(frozen=True, slots=True)
class Moments:
    """log: of z, an array, one row for each loss. falls: a number for each. reach: the largest loss, 0 if none is."""

    log: Callable[[Any], Any]
    falls: Callable[[float, float, float], Any]
    reach: Any


def numbers_of(loss: Loss) -> tuple[str | None, tuple[float, ...]]:
    """The name of the moment function and its numbers; None where there is none."""
    given, family = loss.given, loss.family
    if family == "gaussian":
        return family, (float(given["shift"] ** 2 / given["variance"]),)
    if family == "laplace":
        return family, (float(given["shift"] / given["scale"]),)
    if family == "bounded_range":
        return family, (float(given["epsilon"]),)
    if family in ("pure", "approximate") and given["epsilon"]:
        return "pure", (float(given["epsilon"]),)
    if family in ("randomised_response", "unary_encoding"):
        truth, lie = two_chances(given)
        return "randomised", (float(truth), float(lie), float(1 - truth - lie))
    if family == "discrete_laplace":
        return family, (float(given["shift"]), float(1 / given["scale"]))
    if family == "discrete_gaussian" and given["variance"] >= 1:
        return family, (float(given["shift"]), float(given["variance"]))
    return None, ()


def _gaussian(square: Any) -> Moments:
    return Moments(
        log=lambda z: square * (z * (z + 1) / 2), falls=lambda c, t, end: -square[:, 0] * t * t / 2, reach=0 * square
    )


def _laplace(a: Any) -> Moments:
    import numpy as np

    def log(z: Any) -> Any:
        w = z + 0.5
        less = np.exp(-2 * a * w)
        return a * z + np.log((1 + less) / 2 + (1 - less) / (4 * w))

    def falls(c: float, t: float, end: float) -> Any:
        return math.log1p(1 / (2 * t)) - np.log1p(np.tanh(a[:, 0] * (c + 0.5)) / (2 * c + 1))

    return Moments(log, falls, a)


def _bounded_range(e: Any) -> Moments:
    import numpy as np

    def log(z: Any) -> Any:
        w = z + 0.5
        return e * z + np.log(np.expm1(-2 * e * w) / (2 * w * np.expm1(-e)))

    return Moments(log, lambda c, t, end: np.log((c + 0.5) / (t * np.tanh(e[:, 0] * (c + 0.5)))), e)


def _pure(e: Any) -> Moments:
    import numpy as np

    def log(z: Any) -> Any:
        return e * z + np.log((1 + np.exp(-2 * e * (z + 0.5))) / (1 + np.exp(-e)))

    def falls(c: float, t: float, end: float) -> Any:
        flat = 2 * np.exp(-e[:, 0] * (c + 0.5)) / (1 + np.exp(-2 * e[:, 0] * (c + 0.5)))  # 1 / cosh
        once = e[:, 0] * end <= math.pi / 2 * (1 + 1e-9)
        return np.where(once, np.log1p(-np.minimum((flat * np.sin(e[:, 0] * t)) ** 2, 0.999)) / 2, 0.0)

    return Moments(log, falls, e)


def _randomised(truth: Any, lie: Any, middle: Any) -> Moments:
    import numpy as np

    loss = np.log(truth / lie)

    def log(z: Any) -> Any:
        less = np.exp(-loss * z)
        return loss * z + np.log(truth + middle * less + lie * less * less)

    def falls(c: float, t: float, end: float) -> Any:
        less = np.exp(-loss[:, 0] * c)
        a, b, d = truth[:, 0], middle[:, 0] * less, lie[:, 0] * less * less

        def part(u: Any) -> Any:
            square = (a - d) ** 2 + b * b + 2 * b * (a + d) * u + 4 * a * d * u * u
            return np.log(np.maximum(square, 1e-300)) / 2 - np.log(a + b + d)

        if not math.isfinite(end):
            return 0 * a
        once = loss[:, 0] * end <= np.where(middle[:, 0] > 0, math.pi, math.pi / 2) * (1 + 1e-9)
        worst = np.maximum(part(np.cos(loss[:, 0] * t)), part(np.cos(loss[:, 0] * end)))
        return np.where(once, worst, 0.0)

    return Moments(log, falls, loss)


def _discrete_laplace(shift: Any, q: Any) -> Moments:
    import numpy as np

    a, less_p = shift * q, -np.expm1(-q)

    def log(z: Any) -> Any:
        w = z + 0.5
        step = np.exp(-2 * q * w)
        between = less_p * step * np.expm1(-2 * (shift - 1) * q * w) / np.expm1(-2 * q * w)
        return a * z + np.log((1 + np.exp(-2 * a * w) + between) / (2 - less_p))

    def falls(c: float, t: float, end: float) -> Any:
        r = c + 0.5
        up = [1 + sign * np.exp(-2 * (shift[:, 0] - 1) * q[:, 0] * r) for sign in (1, -1)]  # cosh, sinh
        ends, step = 1 + np.exp(-2 * a[:, 0] * r), less_p[:, 0] * np.exp(-q[:, 0] * r)
        small = np.exp(-q[:, 0] * r)
        low = (1 - small * small) / 2 / small  # sinh(q r)
        here = np.sqrt(low * low + np.sin(np.minimum(q[:, 0] * t, math.pi / 2)) ** 2)
        found = np.log((ends + step * up[0] / 2 / here) / (ends + step * up[1] / 2 / low))
        return np.where(q[:, 0] * end <= math.pi / 2 * (1 + 1e-9), found, 0.0)

    return Moments(log, falls, a)


def _discrete_gaussian(shift: Any, variance: Any) -> Moments:
    import numpy as np

    rho, period = shift * shift / (2 * variance), 2 * math.pi * variance / shift

    def log(z: Any) -> Any:
        turns = np.round(z.imag / period)
        inside = z - 1j * turns * period
        terms = sum(np.exp(-2 * math.pi**2 * variance + sign * 2j * math.pi * inside * shift) for sign in (-1.0, 1.0))
        whole = 1 + 2 * np.exp(-2 * math.pi**2 * variance)
        return rho * (inside * (inside + 1) + 1j * turns * period) + np.log((1 + terms) / whole)

    def falls(c: float, t: float, end: float) -> Any:
        s, v = shift[:, 0], variance[:, 0]
        turn = np.minimum(t * s / v, math.pi)
        back = np.exp(-2 * math.pi * v * (math.pi - turn)) + 4 * np.exp(-2 * math.pi**2 * v)
        return np.where(end * s / v <= math.pi * (1 + 1e-9), -v * turn * turn / 2 + np.log1p(back), 0.0)

    return Moments(log, falls, rho)


MOMENTS: dict[str, Callable[..., Moments]] = {
    "gaussian": _gaussian,
    "laplace": _laplace,
    "bounded_range": _bounded_range,
    "pure": _pure,
    "randomised": _randomised,
    "discrete_laplace": _discrete_laplace,
    "discrete_gaussian": _discrete_gaussian,
}
