"""Contribution bounding: from the caps that are declared to those that a plan enforces (semantics 2.5).

T `max_total`, rows of a unit in all of an answer; m `max_rows`, rows of a unit in one group; l0 `max_groups`. Whatever
the caps are, they are enforced, so any public numbers keep the promise. What is not declared follows from the rest:

    T alone                 m = T, and l0 is the number of groups, or T where keys are unknown
    m alone                 l0 is the number of groups; with unknown keys T or l0 is needed as well
    T and m                 l0 as with T alone
    l0 and m                T = m l0, which then never binds

Where columns that are grouped by are the same in all rows of a unit (`per_unit`), a unit can be in no more groups than
the others have values, 1 where there is no other: l0 is at most that, whatever is declared. It is enforced as all caps
are, so that nothing rests on the column being what it is said to be. COUNT(DISTINCT unit) alone, where l0 = 1 without a
cap that is declared, needs none: a unit counts 1 in its one group.

m is at most T, and with unknown keys l0 is at most T, so that each chosen key counts the unit itself whole. A T that
cannot bind is left out, so that equal caps have one spelling. Checked in tests/plan/test_caps.py.
"""

from __future__ import annotations

from dpcurator.errors import Mend, Refusal
from dpcurator.language.names import quote, show
from dpcurator.language.question import Caps
from dpcurator.plan.nodes import Bounded, Grouped


def in_one_group(grouped: Grouped) -> bool:
    """Whether a unit is in one group at most, whatever its rows: then counting units needs no cap."""
    return not grouped.columns or grouped.spread == 1


def bounded(grouped: Grouped, caps: Caps, table: str) -> Bounded:
    """The caps that a plan enforces. Raises Refusal where what is declared does not bound a unit's rows."""
    total, rows, groups = caps.max_total, caps.max_rows, caps.max_groups
    if grouped.spread is not None:
        groups = min(grouped.spread, groups or grouped.spread)
    mends = (Mend("max_total = 20", f"[tables.{quote(table)}]", "catalog"),)
    if rows is None:
        rows = total
    if rows is None:
        raise Refusal(
            f"table {show(table)} declares no cap on how many rows one unit may add: max_total, rows in all, or "
            "max_rows, rows in one group.",
            cure=f"The steward adds a line such as `max_total = 20` under [tables.{table}] in the catalog.",
            mends=mends,
        )
    if total is not None:
        rows = min(rows, total)
    if grouped.listed:
        groups = max(1, grouped.keys) if groups is None else groups
    elif groups is None and total is None:
        raise Refusal(
            f"table {show(table)} declares no max_total and no max_groups, so a unit could be in any number of the "
            "unknown groups.",
            cure=f"The steward adds a line such as `max_total = 20` under [tables.{table}] in the catalog.",
            mends=mends,
        )
    else:
        groups = min(one for one in (groups, total) if one is not None)
    most = min(groups, max(1, grouped.keys)) if grouped.listed else groups
    binds = total is not None and total < rows * most
    return Bounded(grouped, rows, groups, total if binds else None)
