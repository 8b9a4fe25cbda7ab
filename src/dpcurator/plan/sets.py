"""Grouping sets: totals in the answer itself, over some of the columns that it is grouped by (semantics 4.6).

The question is that of the finest groups, of all the columns; a set is one more way to show its noisy numbers, added up
over the columns that it does not keep (`release/adding.py`). So nothing more is read or paid, and the totals agree with
the groups. Only what adds up has them: counts of rows, sums, and what is made of these. Checked in
tests/curator/test_sets.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

from dpcurator.errors import Refusal
from dpcurator.language.question import Call, Syntax
from dpcurator.language.render import expression
from dpcurator.plan.nodes import AggregateCall, Apply, Grouped, Key, KeyColumn, Plan, Post, of_values
from dpcurator.plan.outputs import Shape
from dpcurator.plan.shown_name import in_sql

MOST_ROWS: Final = 1_000_000  # of an answer, as of the listed groups alone
MOST_MARKS: Final = 30  # columns of one GROUPING


def check_sets(sets: Sequence[tuple[int, ...]], grouped: Grouped, calls: Sequence[AggregateCall]) -> None:
    """That these totals can be shown. Raises Refusal, before anything is paid."""
    names = [in_sql(column.name) for column in grouped.columns]
    if not grouped.listed:
        raise Refusal(
            "grouping sets need listed groups: of unknown ones, those that are not shown would be missing in totals.",
            cure=f"Ask each set by itself, in one batch: {by_themselves(sets, names)}; or list the keys.",
        )
    rows = rows_of(grouped, sets)
    if rows > MOST_ROWS:
        raise Refusal(
            f"the grouping sets have {rows:,} rows; the limit is {MOST_ROWS:,}.", cure="Group by fewer columns."
        )
    gone = added_over(grouped, sets)
    over = " and ".join(in_sql(column.name) for column in gone)
    for call in calls:
        if not adds_up(call, gone):
            said = "a name" if call.top else "COUNT(DISTINCT ...)" if call.q is None else "a quantile"
            raise Refusal(
                f"{said} has no total over {over}: it is not made of what the groups have.",
                cure=f"Ask for it in a question of its own for each set, in one batch: {by_themselves(sets, names)}.",
            )


def by_themselves(sets: Sequence[tuple[int, ...]], names: Sequence[str]) -> str:
    """The grouping of a question for each set, of the first few."""
    told = [f"GROUP BY {', '.join(names[index] for index in kept)}" if kept else "without GROUP BY" for kept in sets]
    return "; ".join([*told[:4], *(["..."] if len(told) > 4 else [])])


def added_over(grouped: Grouped, sets: Sequence[tuple[int, ...]]) -> tuple[KeyColumn, ...]:
    """The columns over which some set is a total."""
    return tuple(one for index, one in enumerate(grouped.columns) if any(index not in kept for kept in sets))


def adds_up(call: AggregateCall, over: Sequence[KeyColumn]) -> bool:
    """Whether a call's total over these columns is made of what its groups have: a unit is counted once where all its
    rows have the same ones."""
    if call.top is not None:
        return not over
    if call.column is None and call.function.endswith(" DISTINCT"):
        return all(one.per_unit for one in over)
    return not over or (call.q is None and not of_values(call))


def rows_of(grouped: Grouped, sets: Sequence[tuple[int, ...]]) -> int:
    """How many rows an answer has without HAVING and LIMIT: one a listed key, or one a total of each set. No listed
    key, no total."""
    if not sets or not grouped.keys:
        return grouped.keys
    return sum(math.prod(grouped.columns[index].count or 0 for index in kept) for kept in sets)


def most_added(plan: Plan) -> int:
    """How many groups are added up in one row of an answer, at most."""
    columns = plan.source.source.columns
    return max((math.prod(columns[index].count or 1 for index in range(len(columns)) if index not in kept)
                for kept in plan.sets), default=1)


def grouping_of(call: Call, look: Callable[[Syntax], tuple[Post, Shape] | None]) -> tuple[Post, Shape]:
    """GROUPING(a, b): 1 for each column that a row is a total over, as bits, the last column's the lowest."""
    keys: list[Post] = []
    for part in call.arguments:
        found = look(part)
        if found is None or not isinstance(found[0], Key):
            break
        keys.append(found[0])
    if call.star or call.distinct or not call.arguments or len(keys) < len(call.arguments) or len(keys) > MOST_MARKS:
        named = expression(call.arguments[0]) if call.arguments else "city"
        raise Refusal(
            "GROUPING takes columns that are grouped by.", where=call.at,
            cure=f"Write it as in GROUPING({named}), with GROUP BY ROLLUP({named}).",
        )
    return Apply("GROUPING", tuple(keys)), "integer"
