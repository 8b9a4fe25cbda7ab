"""What an error bar covers and what it does not, from the plan alone: said with every answer, and checked with its
receipt.

A limit of contribution bounding is named where it can bind, and so is a clamp: no unit is in more groups than there
are, COUNT(DISTINCT unit) asks only how many groups a unit is in, and the values of CASE WHEN smoker THEN 1 ELSE 0 END
are never clamped. What earlier versions said of the same plans is in `receipts/earlier_notes.py` (decision 15).
Checked in tests/release/test_notes.py, tests/plan/test_binding_clamps.py and tests/receipts/test_verify.py.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from dpcurator.aggregates import rule_of
from dpcurator.errors import either
from dpcurator.numbers import decimal_text
from dpcurator.numbers.text_table import printable
from dpcurator.plan.candidates import candidates
from dpcurator.plan.check_catalog import may_bind
from dpcurator.plan.nodes import Apply, Given, Key, Plan
from dpcurator.plan.relations import JoinPublic, one_row, walk
from dpcurator.plan.shown_name import in_sql
from dpcurator.plan.stability import Reach


def notes(
    plan: Plan, reach: Reach, confidence: Fraction, protects: str, *, sql: bool = True, whole: bool = True
) -> tuple[str, ...]:
    """One sentence or two for a reader of the answer (semantics 7.5). protects: the units by their name, in the
    plural, as the catalog has it. sql: expressions in SQL's words; without, by their names in the plan. whole: also of
    groups that are not shown, which earlier versions did not say."""
    units = printable(protects)
    apart = [*_fanned(plan), *_bounding(plan, reach, units), *clamps(plan, sql=sql), *_steps(plan, reach, sql=sql)]
    names = ", ".join(in_sql(name) if sql else name for name in of_one_group(plan)) if whole else ""
    if names and reach.one != 1:
        apart.append(f"limits bind over all groups of {printable(names)} together, of which this is one")
    covered = f"± covers the added noise ({decimal_text(confidence * 100)} % confidence for each value)."
    return (f"{covered} Not covered: {'; '.join(apart)}." if apart else covered,)


def _fanned(plan: Plan) -> list[str]:
    """Public tables of which a row may meet several rows."""
    found = [one.table for one in walk(plan.source.source.source) if isinstance(one, JoinPublic) and not one.single]
    return [f"a row that meets several rows of {printable(one)} is counted with each" for one in dict.fromkeys(found)]


def of_one_group(plan: Plan) -> tuple[str, ...]:
    """The names of what a plan groups by and shows one value of alone, by HAVING, without a column that says so."""
    fixed, left = set(), [plan.having] if plan.having is not None else []
    while left:
        part = left.pop()
        match part:
            case Apply("AND", inner):
                left += inner
            case Apply("=", (Key(index), Given()) | (Given(), Key(index))):
                fixed.add(index)
    shown = {output.part.index for output in plan.outputs if isinstance(output.part, Key)}
    return tuple(plan.source.source.columns[index].name for index in sorted(fixed - shown))


def _bounding(plan: Plan, reach: Reach, units: str) -> list[str]:
    """What contribution bounding and the selection of groups do to units, where they can."""
    alone = reach.one == 1 or one_row(plan.source.source.source)  # a unit is one row in one group: nothing is cut
    found = [] if alone else _limits(plan, reach, units)
    if reach.chosen:
        least = f", and all of fewer than {reach.min_units:,}," if reach.min_units > 1 else ""
        found.append(f"groups of few {units}{least} are {'in (other)' if reach.other else 'left out'}")
    return found


def _limits(plan: Plan, reach: Reach, units: str) -> list[str]:
    caps, grouped = plan.source, bool(plan.source.source.columns)
    counts_units = all(rule_of(call).argument == "unit" for call in plan.calls)  # once a group, whatever their rows
    spread = plan.source.source.spread  # groups that a unit can be in
    most = caps.max_groups if not counts_units or caps.max_total is None else min(caps.max_groups, caps.max_total)
    found, limits = [], []
    if not counts_units:
        limits.append(f"with more than {many(caps.max_rows, 'row')}" + (" per group" if grouped else ""))
    if spread is not None and most >= spread:
        pass  # no unit is in more groups
    elif reach.chosen:
        found.append(f"{units} in more than {many(most, 'group')} are counted in {most:,} of them")
    elif grouped and most < (reach.keys or 0):
        limits.append(f"in more than {many(most, 'group')}")
    if not counts_units and reach.total is not None:
        limits.append(f"with more than {many(reach.total, 'row')} in all")
    if limits:
        these = "this limit" if len(limits) == 1 else "these limits"
        found.append(f"{units} {either(limits)} are weighted down to {these}")
    return found


def clamps(plan: Plan, *, every: bool = False, sql: bool = False) -> list[str]:
    """The clamps of the columns measured, those alone that can bind or every one. sql: as for `notes`."""
    told = [(rule_of(call), column) for call in plan.calls for column in (call.column.each if call.column else (None,))
            if every or column is None or may_bind(column)]
    beside = {(column, words): None for rule, column in told
              for words in rule.beside_bar(replace(column, name=in_sql(column.name)) if sql and column else column)}
    return [words for _, words in beside]


def _steps(plan: Plan, reach: Reach, *, sql: bool) -> list[str]:
    """How far apart the candidates of a quantile are, where that is more than from one value to the next: a bar in rank
    is of values that are rounded to them (semantics 2.10)."""
    found = []
    for call in plan.calls if reach.keys != 0 else ():
        column = call.column
        if call.q is None or column is None or column.lower == column.upper:
            continue
        of, steps = in_sql(column.name) if sql else column.name, candidates(column, reach.keys)
        if column.kind == "float":
            found.append(f"quantiles take {of} rounded to steps of {decimal_text(steps.spacing)}")
        elif steps.step > 1 and column.type == "timestamp":
            found.append(f"quantiles take {of} rounded down to steps of {decimal_text(steps.spacing / 10**6)} seconds")
        elif steps.step > 1:
            days = " days" if column.type == "date" else ""
            found.append(f"quantiles take {of} rounded down to steps of {decimal_text(steps.spacing)}{days}")
    return list(dict.fromkeys(found))


def many(count: int, noun: str) -> str:
    """1 row, 2,000 rows."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
