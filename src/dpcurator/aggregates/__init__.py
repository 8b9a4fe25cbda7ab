"""The aggregates an analyst can ask for. Each says which readings it pays for and how to finish them.

To add one: write its file, add its entry here. What SQL, frames, error bars, notes and answers know of an aggregate
they read off this tuple (tests/aggregates/test_added.py adds one so); frames need its function (`fronts/columns.py`),
and the verifier that shares no code with this package its readings (`standalone/verify.py`).
"""

from __future__ import annotations

from dpcurator.aggregates.aggregate import Aggregate
from dpcurator.aggregates.average import AVERAGE
from dpcurator.aggregates.count import COUNT_COLUMN, COUNT_ROWS, COUNT_UNITS, COUNT_VALUES
from dpcurator.aggregates.moments import MOMENTS
from dpcurator.aggregates.most_common import TOP_K
from dpcurator.aggregates.pairs import PAIRS
from dpcurator.aggregates.quantile import QUANTILE
from dpcurator.aggregates.sum import SUM
from dpcurator.errors import Refusal
from dpcurator.plan.nodes import AggregateCall

AGGREGATES: tuple[Aggregate, ...] = (
    COUNT_ROWS, COUNT_COLUMN, COUNT_UNITS, COUNT_VALUES, SUM, AVERAGE, *MOMENTS, *PAIRS, QUANTILE, *TOP_K,
)


def functions() -> dict[str, str]:
    """The SQL names by which aggregates begin, each with the function of this package that asks for it."""
    return {rule.function: rule.python for rule in reversed(AGGREGATES)}


def rule_of(call: AggregateCall) -> Aggregate:
    """The entry of AGGREGATES a call of a plan means. Raises Refusal for a call this version does not know."""
    distinct, plain = call.function.endswith(" DISTINCT"), call.q is None
    pair = call.column is not None and call.column.beside is not None
    fits: set[str] = set()
    if call.column is None and plain:
        fits = {"unit"} if distinct else {"star"}
    elif call.column is not None and distinct == plain and not pair:  # one of: DISTINCT, a q
        fits = {"values"} if distinct else {"ordered"}
    elif call.column is not None and plain and not distinct:
        fits = {"pair"} if pair else {"column", "number"}
    for rule in AGGREGATES:
        alike = rule.function == call.function.removesuffix(" DISTINCT") and rule.names == (call.top is not None)
        if alike and rule.argument in fits:
            return rule
    raise Refusal(f"the aggregate {call.function} is not known to this version.")


__all__ = ["AGGREGATES", "Aggregate", "functions", "rule_of"]
