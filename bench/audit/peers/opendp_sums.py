"""opendp: sums of floats and of integers. What its own stated distance allows for rounding is no fault."""

from collections.abc import Iterator
from typing import Any

import opendp.prelude as odp
from peer import Row

from dpcurator.auditing import probes


def summed(low: Any, high: Any, atoms: Any, *before: Any) -> tuple[Any, float]:
    """The sum with noise of .001, and how much further than its bounds a record may move it, as stated."""
    made = odp.vector_domain(atoms), odp.symmetric_distance()
    for step in (*before, odp.t.then_clamp((low, high)), odp.t.then_sum(), odp.m.then_laplace(scale=0.001)):
        made = made >> step
    return made, made.map(1) * 0.001 - high


def rows() -> Iterator[Row]:
    odp.enable_features("contrib")
    for probe, low, high in ((probes.order, 0.0, 2.0**53), (probes.one_record, 2.0**50, 2.0**50 + 1)):
        total, allowed = summed(low, high, odp.atom_domain(T=float, nan=False))
        yield f"then_sum, f64 ({allowed:.2g} of rounding is stated)", probe(total, tolerance=allowed)
    yield "then_sum, i64", probes.overflow(summed(0, 2**55, odp.atom_domain(T="i64"))[0])
    total, _ = summed(0.0, 1.0, odp.atom_domain(T=float), odp.t.then_impute_constant(0.0))
    yield "then_sum after then_impute_constant", probes.not_finite(total, tolerance=0.1)
    total, _ = summed(0.0, 1.0, odp.atom_domain(T=float, nan=False))
    yield "then_sum, of rows declared not to be nan", probes.errors(total, rows=[1.0] * 9, odd=[float("nan")])
