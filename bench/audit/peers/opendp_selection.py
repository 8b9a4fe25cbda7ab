"""opendp: its choices and reports, at what it states of them."""

from collections.abc import Iterator
from typing import Any

import opendp.prelude as odp
from peer import Row, audited

import dpcurator as dp


def rows() -> Iterator[Row]:
    odp.enable_features("contrib")
    space = odp.vector_domain(odp.atom_domain(T=float, nan=False)), odp.linf_distance(T=float)
    for measure, claim in ((odp.max_divergence(), dp.Pure), (odp.zero_concentrated_divergence(), dp.Zcdp)):
        made = odp.m.make_noisy_max(*space, measure, scale=2.0)
        yield f"make_noisy_max, {claim.__name__}", audit(made, ([0.0, 0.0], [1.0, -1.0]), claim(made.map(1.0)))
    bit = odp.m.make_randomized_response_bool(0.75)
    yield "make_randomized_response_bool", audit(bit, (True, False), dp.Pure(bit.map(1)))
    whole = odp.m.make_laplace(odp.atom_domain(T=int), odp.absolute_distance(T=int), scale=1.0)
    yield "make_laplace, integers", audit(whole, (0, 1), dp.Pure(whole.map(1)))


def audit(made: Any, pair: Any, claim: Any) -> Any:
    return audited(dp.audit(lambda data: made(data), pair=pair, claim=claim, samples=10_000, confidence="0.999999"))
