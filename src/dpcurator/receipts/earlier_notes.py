"""What answers of earlier versions said beside their error bars, so that their receipts go on verifying (decision 15).

Nothing writes them any more. Checked in tests/receipts/test_earlier_notes.py and tests/receipts/test_kept.py.
"""

from __future__ import annotations

from fractions import Fraction

from dpcurator.numbers import decimal_text
from dpcurator.plan.nodes import Plan
from dpcurator.plan.stability import Reach
from dpcurator.release.notes import clamps, many


def earlier_notes(plan: Plan, reach: Reach, confidence: Fraction) -> tuple[tuple[str, ...], ...]:
    """The notes of each earlier version: with the clamps that can bind alone, and with every clamp."""
    apart = _bounding(plan, reach)
    covered = f"± is the noise, with {decimal_text(confidence * 100)} % confidence for each value"
    return tuple(_sentence(covered, [*apart, *clamps(plan, every=every)]) for every in (False, True))


def _sentence(covered: str, apart: list[str]) -> tuple[str, ...]:
    return (f"{covered}; not in it: {'; '.join(apart)}" if apart else covered,)


def _bounding(plan: Plan, reach: Reach) -> list[str]:
    caps, found = plan.source, []
    if reach.one != 1:
        limits = many(caps.max_rows, "row")
        if caps.source.columns:
            limits += f" a group and {many(caps.max_groups, 'group')}"
        if caps.max_total is not None:
            limits += f", or {many(caps.max_total, 'row')} in all,"
        found.append(f"a unit with more than {limits} is {'cut' if reach.chosen else 'scaled'} down to that")
    if reach.chosen:
        found.append(f"groups of few units are {'in (other)' if reach.other else 'left out'}")
    return found
