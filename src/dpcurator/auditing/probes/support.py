"""Porous support: doubles that noise reaches from one value and not from its neighbour.

Definition  The fineness of a double is the exponent of its last binary digit that is 1. An event is "finer than 2**g
            and below 2**m in size". Noise added in floats to 1.0 gives multiples of 2**-53 where noise added to 0.0
            gives others, so that one answer may exclude a value with certainty.
Promise     If every event's chance on the one value is at most e**epsilon times that on the other, with epsilon at most
            1, the probe says "fell" with chance below 1e-9: only where an event was seen k >= 200 times in n draws on
            one value and never in n draws on the other.
Proof       Let a be the event's chance on the one value, b >= a/e on the other. If n a >= k/2, then never on the other
            has chance (1 - b)**n <= exp(-k/(2e)) < 2e-16. If n a < k/2, then k or more have chance at most (e/4)**(k/2)
            < 2e-16 (Chernoff). Of doubles there are under 2200 finenesses, 12 sizes and 2 ways round: 53,000 events.
Source      Mironov, CCS 2012; Jin and others, S&P 2022; Haney and others 2022 (arXiv 2207.13793), whose event this is.
Checked     tests/audit/test_probes.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dpcurator.auditing.probes.probed import Probed

LEAST = 200  # times seen on one side


def porous(
    release: Callable[[float, int], Any], *, values: tuple[float, float] = (0.0, 1.0), draws: int = 20_000
) -> Probed:
    """release(value, size): `size` noisy answers as floats, for a claim of epsilon at most 1 between the two values."""
    import numpy as np

    found = [np.asarray(release(value, draws), dtype=np.float64).ravel() for value in values]
    kept = [y[np.isfinite(y) & (y != 0)] for y in found]
    traits = [_traits(y) for y in kept]
    for here, there, value, other in ((0, 1, values[0], values[1]), (1, 0, values[1], values[0])):
        fine, size = traits[here]
        fine_there, size_there = traits[there]
        for limit in range(-8, 4):
            below, below_there = fine[size <= limit], fine_there[size_there <= limit]
            if not len(below_there):
                continue  # nothing of this size: told by plain numbers, not by digits
            coarsest = int(below_there.min())
            seen = int((below < coarsest).sum())
            if seen >= LEAST:
                words = f"of {draws} answers for {value}, {seen} are below 2**{limit} and not whole in 2**{coarsest}"
                return Probed("porous support", True, f"{words}; for {other}, none")
    return Probed("porous support", False, f"{draws} answers for {values[0]} and {values[1]} are as fine as each other")


def _traits(y: Any) -> tuple[Any, Any]:
    """(fineness, size) of each double: exponents of the last digit, and of the least power of two above it."""
    import numpy as np

    mantissa, exponent = np.frexp(np.abs(y))
    whole = (mantissa * 2.0**53).astype(np.int64)
    last = np.log2((whole & -whole).astype(np.float64)).astype(np.int64)
    return exponent - 53 + last, exponent
