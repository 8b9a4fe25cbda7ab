"""The law of the loss of many releases together, in doubles: for a chart. It bounds nothing.

Definition  Each loss's masses on one grid (floats.dots), wrapped, transformed, multiplied and transformed back: the
            masses of the sum within some 12 deviations of its mean, then put together into cells. Where all losses lie
            on one lattice that is not too fine, a cell is one loss.
Source      Koskela, Jaelkoe, Honkela 2020 (arXiv 1906.03049).
Checked     tests/accounting/test_composed_law.py.
"""

from __future__ import annotations

import math
from fractions import Fraction

from dpcurator.accounting.closed.bounds import Parts
from dpcurator.accounting.estimate.floats import dots
from dpcurator.accounting.pld.grid_choice import Cumulants, aligned, coarse, exact_step, window
from dpcurator.accounting.pld.lattice import reduced, shape
from dpcurator.errors import Refusal

Cell = tuple[float, float, float]
CELLS = 60
_FINE, _MOST = 240, 1 << 18  # points a deviation; points of all
_WIDE, _SEEN = 5, 1e-7  # deviations drawn; mass that is


def cells(losses: Parts, *, count: int = CELLS) -> tuple[list[Cell], float]:
    """Low, high and mass under P of `count` cells or fewer, rising, and the chance of an infinite loss.

    Raises Refusal for a loss without a law, and where nothing is lost.
    """
    import numpy as np

    parts, _ = reduced(losses)
    if not parts:
        raise Refusal("Nothing is lost here: the loss is 0.", cure="Draw a composition of losses above 0.")
    _, mean, variance = Cumulants(coarse(parts, -72.0)).at(0.0)
    spread = math.sqrt(variance)
    longest = max(float(seen.anchor or 0) for seen in (shape(loss) for loss, _ in parts))
    step = exact_step(parts, spread, _MOST // 32)
    lattice = step is not None
    if step is None:
        fine = min(spread / _FINE, longest / 8 or math.inf)
        wanted = max(fine, (24 * spread + 4 * longest) / (_MOST // 2))
        step = aligned(parts, Fraction(wanted).limit_denominator(10**12))
    h = float(step)
    n = 1 << math.ceil(math.log2((24 * spread + 4 * longest) / h + 64))
    transform, origin, finite = np.ones(n // 2 + 1, dtype=complex), 0.0, 1.0
    for loss, times in parts:
        places = window(loss, times, step, 1e-9, 0.0, -40.0)
        index = np.arange(places.first, places.last + 1)
        masses = dots(loss, float(places.anchor) + h * index)
        whole = float(masses.sum())
        centre = round(float(masses @ index) / whole)
        finite *= whole**times
        origin += times * (float(places.anchor) + h * centre)
        transform *= np.fft.rfft(np.bincount((index - centre) % n, weights=masses / whole, minlength=n)) ** times
    shift = round((mean - origin) / h)
    masses = np.maximum(np.roll(np.fft.irfft(transform, n), n // 2 - shift), 0.0)
    x = origin + h * (np.arange(n) - n // 2 + shift)
    near = (np.abs(x - mean) <= _WIDE * spread + h) & (masses > _SEEN * (1 if lattice else h / spread))
    first, last = np.flatnonzero(near)[[0, -1]]
    bars = max(1, math.ceil((last - first + 1) / count))
    found = []
    for low in range(first, last + 1, bars):
        high = min(low + bars, n)
        found.append(
            (float(x[low]) - h / 2, float(x[low]) + h * (high - low - 0.5), float(masses[low:high].sum()) * finite)
        )
    return found, max(1 - finite, 0.0) if any(loss.given.get("delta") for loss, _ in parts) else 0.0
