"""A fast estimate of a composition's epsilon or delta, in doubles. It bounds nothing: for planning, never for a claim.

Definition  Large compositions of closed moments are integrated along a contour of some hundreds of nodes: contour.py.
            For the others (`transformed`), each loss's masses on one grid are tilted by e**(s x), s the saddle point,
            so that what matters for this delta is the bulk; a discrete Fourier transform each, powers and products of
            those, and one transform back give the tilted masses of the sum, whatever the number of different losses.
            Then delta is read off.
Limits      The grid's error is of second order in its step, rounding about 1e-12 relative to delta: 1e-30 is no harder
            than 1e-3. The contour has no grid. No error is bounded here; `bracket` does that.
Source      Koskela, Jaelkoe, Honkela 2020 (arXiv 1906.03049); Gopi, Lee, Wutschitz 2021 (arXiv 2106.02848).
Checked     tests/accounting/test_estimate.py.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dpcurator.accounting.bracket import pure_sum, question
from dpcurator.accounting.closed.bounds import Parts, split, upper_bounds
from dpcurator.accounting.estimate.contour import contour
from dpcurator.accounting.estimate.floats import dots
from dpcurator.accounting.pld.grid_choice import Sight, aligned, exact_step, first_step, sight, window
from dpcurator.accounting.pld.lattice import both_ways, infinite_of, reduced
from dpcurator.errors import Refusal
from dpcurator.privacy.families import FAMILIES
from dpcurator.privacy.sampled import on_all_rows, way_of

if TYPE_CHECKING:
    from dpcurator.privacy.loss import Loss

ACCURACY = 1e-7  # relative, of epsilon; aimed at
ROUGH = 1e-3  # of the first of two grids: their difference says the rest to some 1e-7
MOST = 1 << 20  # points of the sum
_WORK = 1 << 26  # points of all transforms


def estimate(parts: Parts, *, delta: object = None, epsilon: object = None) -> float:
    """See Composition.estimate. Raises Refusal for a family without a law, or where no epsilon has so small a delta."""
    quantity, at = question(delta, epsilon)
    chance, finite = split(parts)
    if quantity == "epsilon" and 0 < chance == at:  # nothing is left for the rest
        total = pure_sum(finite)
        if total is not None:
            return float(total)
    total = pure_sum(parts)
    fewer, _ = reduced(parts)
    if not fewer:
        return 0.0
    if quantity == "epsilon" and at == 0:
        if total is None:
            raise Refusal("No epsilon has a delta of 0.", cure="Ask at a delta above 0.")
        return float(total)
    found = max(_one_way(way, quantity, at, total) for way in both_ways(fewer))
    if quantity == "epsilon" and any(FAMILIES[on_all_rows(loss).family].interval is not None for loss, _ in parts):
        # many of a range are cheaper than the law that dominates each
        found = min([found, *(float(bound) for _, bound in upper_bounds(parts, at, quick=True))])
    return found if total is None or quantity == "delta" else min(found, float(total))


def _one_way(parts: list[tuple[Loss, int]], quantity: str, at: Fraction, total: Fraction | None) -> float:
    """Of the pairs as they are, forward. total: the sum of pure epsilons."""
    log_finite = sum(count * _log_of_rest(infinite_of(loss)) for loss, count in parts)
    infinite = -math.expm1(log_finite)
    if quantity == "epsilon" and infinite >= at:
        raise Refusal("No epsilon has so small a delta.", cure="Ask at a larger delta.")
    if infinite >= 1:
        return 1.0
    found = _finite(parts, quantity, _log(at - Fraction(infinite)) if quantity == "epsilon" else float(at), log_finite)
    if quantity == "epsilon":
        return max(found, 0.0)
    finite = 0.0 if total is not None and total <= at else math.exp(min(found, 0.0))
    return min(infinite + finite, 1.0)


def _finite(parts: list[tuple[Loss, int]], quantity: str, at: float, log_finite: float) -> float:
    """epsilon at ln delta, or ln delta at epsilon, of the losses that are finite, which have this chance."""
    if quantity == "epsilon":
        path = contour(parts, quantity, at - log_finite)
        found = None if path is None else path.epsilon(at - log_finite)
    else:
        path = contour(parts, quantity, at)
        found = None if path is None else path.log_delta(at)
        found = None if found is None else found + log_finite
    return transformed(parts, quantity, at) if found is None else found


def _log_of_rest(chance: Fraction) -> float:
    """ln(1 - chance)."""
    if chance == 1:
        return -math.inf
    return math.log1p(-float(chance)) if 2 * chance < 1 else _log(1 - chance)


def _log(value: Fraction) -> float:
    return math.log(value.numerator) - math.log(value.denominator)


def transformed(parts: list[tuple[Loss, int]], quantity: str, at: float) -> float:
    """The same by the tilted transform, for any parts that have a law.

    What a grid adds is proportional to the square of its step, and losses on a sample have many points in their long
    tails; so two rough grids say what a fine one would.
    """
    seen = sight(parts, quantity, at, ACCURACY)
    most = min(MOST, _WORK // len(parts))
    reach = 24 * max(seen.spread, 1 / (1 + seen.saddle))
    step = exact_step(parts, seen.spread, most)
    if step is None and any(way_of(loss) is not None for loss, _ in parts):
        step = first_step(parts, seen, ROUGH)
        twice, once = (_on_grid(parts, quantity, at, part * step, seen, reach) for part in (1, Fraction(1, 2)))
        return (4 * once - twice) / 3
    step = step or first_step(parts, seen, ACCURACY)
    if reach / float(step) > most:
        step = aligned(parts, Fraction(reach / most).limit_denominator(10**15))
    return _on_grid(parts, quantity, at, step, seen, reach)


def _on_grid(
    parts: list[tuple[Loss, int]], quantity: str, at: float, step: Fraction, seen: Sight, reach: float
) -> float:
    import numpy as np

    h, s = float(step), seen.tilt
    n = 1 << max(6, math.ceil(math.log2(reach / h)))
    transform: Any = np.ones(n // 2 + 1, dtype=complex)
    log_scale, middle, origin = 0.0, 0.0, 0.0
    for (loss, count), log in zip(parts, seen.logs, strict=True):
        at_points = window(loss, count, step, s, float(log), seen.log_tail)
        places = np.arange(at_points.first, at_points.last + 1)
        masses = dots(loss, float(at_points.anchor) + h * places)
        with np.errstate(divide="ignore"):
            logs = np.log(masses) + s * h * places
        top = float(logs.max())
        weights = np.exp(logs - top)
        whole = float(weights.sum())
        weights /= whole
        log_scale += count * (top + math.log(whole))
        mean = round(float(weights @ places))
        middle += count * float(weights @ (places - mean))
        origin += count * (float(at_points.anchor) + h * mean)
        log_scale -= count * s * h * mean
        wrapped = np.bincount((places - mean) % n, weights=weights, minlength=n)
        transform *= np.fft.rfft(wrapped) ** count
    tilted = np.maximum(np.roll(np.fft.irfft(transform, n), n // 2 - round(middle)), 0.0)
    x = h * (np.arange(n) - n // 2 + round(middle))  # of the sum, from `origin`
    here = tilted > 1e-18
    x, logs = x[here], np.log(tilted[here]) - s * x[here] + log_scale
    if quantity == "delta":
        return _log_delta(x, logs, at - origin)
    low, high = float(x[0]) - h, float(x[-1])
    for _ in range(70):
        guess = (low + high) / 2
        low, high = (guess, high) if _log_delta(x, logs, guess) > at else (low, guess)
    return origin + high


def _log_delta(x: Any, logs: Any, eps: float) -> float:
    import numpy as np

    above = x > eps
    if not above.any():
        return -math.inf
    return float(np.logaddexp.reduce(logs[above] + np.log(-np.expm1(eps - x[above]))))
