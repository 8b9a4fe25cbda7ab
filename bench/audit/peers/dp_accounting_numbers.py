"""dp-accounting: losses beside certified lower bounds. It draws nothing, so its numbers are what there is to probe."""

from collections.abc import Iterator

from dp_accounting import NeighboringRelation, dp_event, pld
from peer import Row

import dpcurator as dp
from dpcurator.auditing.probes import Probed


def rows() -> Iterator[Row]:
    made = pld.PLDAccountant(NeighboringRelation.REPLACE_ONE)
    made.compose(dp_event.RandomizedResponseDpEvent(0.5, 2), 100)  # ln 3 each
    yield row("100 coins", made, dp.compose((dp.RandomisedResponse(values=2, truth="3/4"), 100)), "1e-6")
    made = pld.PLDAccountant().compose(dp_event.LaplaceDpEvent(10), 100)
    for delta in ("1e-6", "1e-10", "1e-15"):
        yield row("100 of Laplace", made, dp.compose((dp.Laplace(sensitivity=1, epsilon="0.1"), 100)), delta)
    made = pld.PLDAccountant().compose(dp_event.PoissonSampledDpEvent(0.01, dp_event.GaussianDpEvent(1.0)), 10_000)
    step = dp.Loss("gaussian", {"variance": 1, "shift": 1}).sampled(poisson="0.01")
    for delta in ("1e-6", "1e-12", "1e-13"):
        yield row("10^4 Gaussians, Poisson .01", made, dp.compose((step, 10_000)), delta)


def row(what: str, accountant: pld.PLDAccountant, composed: dp.Composition, delta: str) -> Row:
    found, least = accountant.get_epsilon(float(delta)), float(composed.bracket(delta=delta, accuracy="1e-3").lower)
    words = f"epsilon {found:.5g} at delta {delta}; certified to be at least {least:.5g}"
    return what, Probed("upper bound", found < least, words)
