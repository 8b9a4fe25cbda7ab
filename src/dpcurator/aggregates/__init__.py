"""The aggregates an analyst can ask for. Each says which readings it pays for and how to finish them.

To add one: write its file, add one line here. A test compares this tuple with the folder.
"""

from __future__ import annotations

from dpcurator.aggregates.aggregate import Aggregate
from dpcurator.aggregates.average import AVERAGE
from dpcurator.aggregates.count import COUNT_COLUMN, COUNT_ROWS, COUNT_UNITS
from dpcurator.aggregates.sum import SUM
from dpcurator.errors import Refusal
from dpcurator.plan.nodes import AggregateCall

AGGREGATES: tuple[Aggregate, ...] = (COUNT_ROWS, COUNT_COLUMN, COUNT_UNITS, SUM, AVERAGE)


def rule_of(call: AggregateCall) -> Aggregate:
    """The entry of AGGREGATES a call of a plan means. Raises Refusal for a call this version does not know."""
    distinct = call.function.endswith(" DISTINCT")
    if call.column is None:
        fits = {"unit"} if distinct else {"star"}
    else:
        fits = set() if distinct else {"column", "number"}
    for rule in AGGREGATES:
        if rule.function == call.function.removesuffix(" DISTINCT") and rule.argument in fits:
            return rule
    raise Refusal(f"the aggregate {call.function} is not known to this version.")


__all__ = ["AGGREGATES", "Aggregate", "rule_of"]
