"""What an error bar does not cover, from the plan alone: said with every answer, and checked with its receipt.

Checked in tests/curator/test_curator.py and tests/receipts/test_verify.py.
"""

from __future__ import annotations

from fractions import Fraction

from dpcurator.aggregates import rule_of
from dpcurator.numbers import decimal_text
from dpcurator.plan.check_catalog import may_bind
from dpcurator.plan.nodes import Plan
from dpcurator.plan.stability import Reach


def notes(plan: Plan, reach: Reach, confidence: Fraction, *, every_clamp: bool = False) -> tuple[str, ...]:
    """What an error bar does not cover, said with every answer (semantics 7.5). every_clamp: also the clamps that
    cannot bind, as answers said that were signed by earlier versions."""
    apart: list[str] = []
    source = plan.source
    if reach.one != 1:
        caps = many(source.max_rows, "row")
        if source.source.columns:
            caps += f" a group and {many(source.max_groups, 'group')}"
        if source.max_total is not None:
            caps += f", or {many(source.max_total, 'row')} in all,"
        apart.append(f"a unit with more than {caps} is {'cut' if reach.chosen else 'scaled'} down to that")
    if reach.chosen:
        apart.append(f"groups of few units are {'in (other)' if reach.other else 'left out'}")
    calls = [call for call in plan.calls if every_clamp or call.column is None or may_bind(call.column)]
    beside = {(call.column, words): None for call in calls for words in rule_of(call).beside_bar(call.column)}
    apart += [words for _, words in beside]
    percent = decimal_text(confidence * 100)
    told = f"± is the noise, with {percent} % confidence for each value"
    return (f"{told}; not in it: {'; '.join(apart)}" if apart else told,)


def many(count: int, noun: str) -> str:
    """1 row, 2,000 rows."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
