"""What a question rests on, whatever it costs: its readings, and which of them each aggregate call is made of.

Asked of the plan and of the aggregates' rules once; pricing, error bars and finishing read it off the quote.
Checked in tests/pricing/test_resolve.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from dpcurator.aggregates import Aggregate, rule_of
from dpcurator.errors import Refusal
from dpcurator.plan.nodes import AggregateCall, Ask, Plan
from dpcurator.plan.stability import Reach, stability
from dpcurator.pricing.cut import cut_asks

Each = TypeVar("Each")


@dataclass(frozen=True, slots=True)
class PricedCall:
    """An aggregate call, and the numbers of its readings among the question's, in its aggregate's order.

    No reading: its value is a public constant.
    """

    call: AggregateCall
    readings: tuple[int, ...]

    @property
    def rule(self) -> Aggregate:
        return rule_of(self.call)


@dataclass(frozen=True, slots=True)
class Resolved:
    """asks: the distinct readings in order of first use, then those of the cut; the same one twice is computed and paid
    once. calls: the plan's, in its order. No listed key, no reading. with_keys: the number of the reading that is the
    very count by which unknown keys are selected, and is drawn and paid with them; None where there is none."""

    reach: Reach
    asks: tuple[Ask, ...]
    calls: tuple[PricedCall, ...]
    with_keys: int | None = None

    def without_keys(self, each: tuple[Each, ...]) -> tuple[Each, ...]:
        """What there is for each reading, or nothing, without that of the one that is drawn with the keys."""
        return tuple(one for number, one in enumerate(each) if number != self.with_keys)

    @property
    def without_cut(self) -> Resolved:
        return replace(self, asks=tuple(ask for ask in self.asks if not ask.overall))


def resolve(plan: Plan, *, apart: bool = False) -> Resolved:
    """The plan's readings. Raises Refusal for a call this version does not know.

    The rows where a column is present are all rows where it declares a value for missing ones: such counts are one
    reading, the count of rows. apart: each by itself, as receipts of earlier versions hold them.
    """
    reach = stability(plan.source)
    answered = reach.chosen or plan.source.source.keys
    wanted = [rule_of(call).asks(call.column, reach) if answered else () for call in plan.calls]
    wanted = [tuple(replace(ask, q=ask.q and call.q, top=call.top, among=call.among) for ask in one)
              for call, one in zip(plan.calls, wanted, strict=True)]
    if not apart:
        wanted = [tuple(_of_all_rows(ask) for ask in one) for one in wanted]
    asks = tuple(dict.fromkeys(ask for one in wanted for ask in one))
    places = {ask: number for number, ask in enumerate(asks)}
    calls = tuple(
        PricedCall(call, tuple(places[ask] for ask in one)) for call, one in zip(plan.calls, wanted, strict=True)
    )
    cut = cut_asks(plan, reach, asks) if plan.cut else ()
    if plan.cut and not cut:
        raise Refusal("the plan counts the units that are cut, and nothing of it can cut one.")
    return Resolved(reach, (*asks, *cut), calls, with_keys(asks, reach))


def with_cut(plan: Plan) -> Plan:
    """The plan that counts the units that are cut as well, where any can be."""
    return resolved_with_cut(plan)[0]


def resolved_with_cut(plan: Plan) -> tuple[Plan, Resolved]:
    """That plan, and what it rests on. plan: one that does not count them yet."""
    found = resolve(plan)
    cut = cut_asks(plan, found.reach, found.asks)
    return (replace(plan, cut=True), replace(found, asks=(*found.asks, *cut))) if cut else (plan, found)


def with_keys(asks: Sequence[Ask], reach: Reach) -> int | None:
    """The first count of distinct units, where keys are selected by it: of rows, where each row is a unit. Not where
    all keys that are not shown are one more group, whose count is no key's (semantics 4.4)."""
    if not reach.chosen or reach.other:
        return None
    wanted = ("units", "rows") if reach.one == 1 else ("units",)
    return next((number for number, ask in enumerate(asks) if ask.what in wanted and ask.column is None), None)


def _of_all_rows(ask: Ask) -> Ask:
    never_missing = ask.what == "present" and ask.column is not None and ask.column.filled
    return replace(ask, what="rows", column=None) if never_missing else ask
