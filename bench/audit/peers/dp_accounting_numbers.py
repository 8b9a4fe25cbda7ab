"""dp-accounting: losses beside better bounds of them. It draws nothing, so its numbers are what there is to probe."""

from collections.abc import Iterator

from dp_accounting import NeighboringRelation, dp_event, pld
from peer import Row

import dpcurator as dp
from dpcurator.audit.probes import Probed


def rows() -> Iterator[Row]:
    coin = dp_event.RandomizedResponseDpEvent(0.5, 2)
    together, apart = (pld.PLDAccountant(NeighboringRelation.REPLACE_ONE) for _ in range(2))
    together.compose(coin, 100)
    for _ in range(100):
        apart.compose(coin)
    yield row("100 randomised responses, by count", together, 1e-6, apart.get_epsilon(1e-6))
    made = pld.PLDAccountant().compose(dp_event.LaplaceDpEvent(10), 100)
    certified = dp.compose(*[dp.Laplace(sensitivity=1, epsilon="0.1")] * 100)
    for delta in (1e-6, 1e-10, 1e-15):
        yield row("100 of Laplace, .1 each", made, delta, float(certified.bracket(delta=delta).lower))


def row(what: str, accountant: pld.PLDAccountant, delta: float, least: float) -> Row:
    found = accountant.get_epsilon(delta)
    return what, Probed("upper bound", found < least, f"epsilon {found:.5g} at delta {delta:.0e}; truly {least:.5g}")
