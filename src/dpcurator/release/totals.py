"""Totals of an answer over some of what it is grouped by: sums of noisy numbers that were paid for already.

A total is the same question grouped by fewer columns, worked out from the answer's own noisy queries: each is added up
over the groups that are left out, and what the question makes of them (a sum, an average, their quotient) is made of
the sums. That is post-processing, so it costs nothing. A total is of all listed groups, but for those that HAVING rules
out by their keys alone: what it says of noisy values or of GROUPING, ORDER BY and LIMIT choose what is shown of an
answer, and a sum of what is chosen by its noise would be further off than its bar.

Bar         That of the sum of so many independent draws (`mechanisms/noise/sums.py`), at the answer's confidence.
Refused     Unknown keys: the groups that are not shown would be missing. COUNT(DISTINCT unit) over columns of which a
            unit can have several values: it would be counted several times. What uses a column that is added up.
            COUNT(DISTINCT x), for a value may be in several groups. Quantiles.

Checked in tests/release/test_totals.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from dpcurator.errors import Refusal
from dpcurator.numbers.text_table import printable
from dpcurator.plan.most_common import naming
from dpcurator.plan.nodes import Apply, Key, Order, Output, Plan, Post
from dpcurator.plan.shown_name import in_sql
from dpcurator.pricing.bars import readings_of, results
from dpcurator.pricing.quote import Quote
from dpcurator.release.adding import added_up, groups_of
from dpcurator.release.finish import finish, meeting
from dpcurator.release.notes import many, notes
from dpcurator.release.release import Noisy, Parts
from dpcurator.values import Cell

SHOWN: Final = "groups that HAVING, LIMIT or OFFSET leaves out of the answer are in it"


@dataclass(frozen=True, slots=True)
class Added:
    """What an answer's totals show: as the fields of `Answer`."""

    columns: tuple[str, ...]
    shown: tuple[str, ...]
    cells: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Totals:
    """The question whose groups are totals. kept: the columns that are still grouped by, by their numbers. without: the
    columns of the answer that have no totals, and why. only: conditions on keys alone. whole: groups that the answer
    does not show are in it."""

    plan: Plan
    kept: tuple[int, ...]
    without: tuple[str, ...]
    only: tuple[Post, ...] = ()
    whole: bool = False


def planned(quote: Quote, columns: Sequence[str], by: Sequence[str]) -> Totals:
    """The question of these totals: of these columns of the answer, or of all that have one. Raises Refusal where there
    are none; public facts alone decide."""
    plan, named = quote.plan, _names(columns, "columns")
    if quote.reach.chosen:
        raise Refusal(
            "an answer whose keys are unknown has no totals: the groups that are not shown would be missing.",
            cure="Ask for the total itself, grouped by fewer columns or by none; or list the keys in the catalog.",
        )
    if naming(plan) is not None:
        raise Refusal("names of the most frequent have no totals: which groups are greatest is all that was released.",
                      cure="Ask for the counts of the groups: SELECT ..., COUNT(*) AS n ... GROUP BY ...")
    keys = [_key(plan, name) for name in dict.fromkeys(_names(by, "by"))]
    kept = [output.part.index for output in keys if isinstance(output.part, Key)]
    noisy = [output for output in plan.outputs if results(output.part)]
    for name in named:
        if name not in [output.title for output in noisy]:
            there = ", ".join(printable(output.title) for output in noisy)
            raise Refusal(f"the answer has no noisy column {name!r}.", cure=f"Its noisy columns are {there}.")
    why = {number: _none(quote, output, kept) for number, output in enumerate(noisy)}
    found = [output for number, output in enumerate(noisy)
             if why[number] is None and (not named or output.title in named)]
    without = [refused for number, refused in why.items() if refused is not None
               and (not named or noisy[number].title in named)]
    if without and (named or not found):
        raise without[0]
    order = tuple(Order(output.part, False, True) for output in keys)
    made = replace(plan, outputs=(*keys, *found), having=None, order=order, limit=None, offset=0, sets=())
    parts = _conjuncts(plan.having)
    only = tuple(part for part in parts if not results(part) and not _marks(part))
    whole = len(only) < len(parts) or plan.limit is not None or plan.offset > 0
    return Totals(made, tuple(kept), tuple(refused.what for refused in without), only, whole)


def _conjuncts(having: Post | None) -> tuple[Post, ...]:
    if isinstance(having, Apply) and having.op == "AND":
        return tuple(part for inner in having.parts for part in _conjuncts(inner))
    return () if having is None else (having,)


def _marks(part: Post) -> bool:
    """Whether it looks at which rows are totals, which says nothing of a group."""
    return isinstance(part, Apply) and (part.op == "GROUPING" or any(map(_marks, part.parts)))


def totals(parts: Parts, columns: Sequence[str], by: Sequence[str], told: Sequence[str]) -> Added:
    """See `Answer.totals`. told: the notes of the answer. Raises Refusal."""
    quote, noisy = parts.quote, parts.noisy
    asked = planned(quote, columns, by)
    added = _added(quote, noisy, asked)
    old, new = (notes(plan, quote.reach, quote.confidence, quote.catalog.protects) for plan in (quote.plan, asked.plan))
    more = [f"left out: {words}" for words in asked.without]
    if asked.whole:
        more.insert(0, SHOWN)
    once = max(noisy.added, default=1)  # of a mean of several releases, so many draws each
    groups = {count // once for count in added.added}
    if groups - {1}:
        least, most = min(groups), many(max(groups), "group")
        each = most if len(groups) == 1 else f"{least:,} to {most}"
        more.insert(0, f"each value is made of the noisy numbers of {each}, added up; ± is that of their sum")
    outputs = asked.plan.outputs
    return Added(
        tuple(output.title for output in outputs), tuple(output.shown for output in outputs),
        finish(replace(quote, plan=asked.plan), added),
        (*(words for words in told if words not in old), *new, *more),  # what is left of the old is a rehearsal's
    )


def _added(quote: Quote, noisy: Noisy, asked: Totals) -> Noisy:
    """The noisy numbers added up over the columns that are not kept, whose places in the keys are empty."""
    wanted = list(map(all, zip(*(meeting(quote, noisy, part) for part in asked.only), strict=True)))
    groups = groups_of(noisy.keys, asked.kept)
    if wanted:
        groups = {key: [number for number in some if wanted[number]] for key, some in groups.items()}
    return added_up(quote, noisy, {key: some for key, some in groups.items() if some})


def _names(given: Sequence[str], name: str) -> tuple[str, ...]:
    if isinstance(given, str) or not all(isinstance(one, str) for one in given):
        raise Refusal(f"{name} is a list of names of columns.", cure='Write it as in totals("n", by=["city"]).')
    return tuple(given)


def _key(plan: Plan, name: str) -> Output:
    """The column of the answer that is grouped by under this name, its own or that of what is grouped by."""
    columns = plan.source.source.columns
    for output in plan.outputs:
        if isinstance(output.part, Key) and output.title == name:
            return output
    for index, column in enumerate(columns):
        if name in (column.name, in_sql(column.name)):
            return Output(name, Key(index), column.type)
    shown = {output.part.index: output.title for output in plan.outputs if isinstance(output.part, Key)}
    there = [printable(shown.get(index, in_sql(column.name))) for index, column in enumerate(columns)]
    raise Refusal(
        f"the answer is not grouped by {name!r}.",
        cure=f"It is grouped by {' and '.join(there)}." if there else "It is one group: leave out what to group by.",
    )


def _none(quote: Quote, output: Output, kept: Sequence[int]) -> Refusal | None:
    """Why a column has no total over the columns that are not kept."""
    columns, title = quote.plan.source.source.columns, printable(output.title)
    gone = [index for index in range(len(columns)) if index not in kept]
    used = sorted(_keys(output.part) - set(kept))
    if used:
        names = " and ".join(in_sql(columns[index].name) for index in used)
        return Refusal(f"{title} uses {names}, over which the total is.",
                       cure=f"Group the total by {names} too, or total the columns that do not use it.")
    if any(one.ask.what == "units" for one in readings_of(quote, output.part)):
        several = [in_sql(columns[index].name) for index in gone if not columns[index].per_unit]
        if several:
            units = printable(quote.catalog.protects)
            over = " and ".join(several)
            return Refusal(
                f"{title} has no total over {over}: {units} who are in several of its groups would be counted in each.",
                cure=f"Ask for it in a question that is not grouped by {over}; or, if all rows of a unit have the same "
                f"{over}, the steward says so in the catalog: per_unit = 1.",
            )
    if gone and any(one.ask.what == "distinct" for one in readings_of(quote, output.part)):
        over = " and ".join(in_sql(columns[index].name) for index in gone)
        return Refusal(
            f"{title} has no total over {over}: a value that is in several of its groups would be counted in each.",
            cure=f"Ask for it in a question that is not grouped by {over}.",
        )
    if gone and any(one.ask.q is not None for one in readings_of(quote, output.part)):
        over = " and ".join(in_sql(columns[index].name) for index in gone)
        return Refusal(
            f"{title} has no total over {over}: the quantile of all rows is not made of the groups' quantiles.",
            cure=f"Ask for it in a question that is not grouped by {over}.",
        )
    return None


def _keys(part: Post) -> set[int]:
    if isinstance(part, Key):
        return {part.index}
    return {index for inner in part.parts for index in _keys(inner)} if isinstance(part, Apply) else set()
