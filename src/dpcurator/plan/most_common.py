"""Names of the most frequent: MODE(x), TOP_K(x, k), and a grouping that is sorted by a count it does not show.

    SELECT TOP_K(city, 3) FROM visits                   SELECT city FROM visits GROUP BY city
    SELECT ward, MODE(city) FROM visits GROUP BY ward       ORDER BY COUNT(*) DESC LIMIT 3

All of them mean a grouping, by the columns named in GROUP BY and then by x, and the names of its k greatest groups (in
each group of the others, where there are any). So x has public keys as in GROUP BY, and the caps are those of that
grouping. How that is answered follows from public facts alone:

    listed keys     chosen by the counts without releasing them, where that has less noise than counting all of them:
                    k names cost k times what one does, whatever the keys; all counts cost lam times what one does, with
                    lam in how many groups a unit counts (stability.py). Beside a unit's own noise, choosing is at least
                    as good for k up to lam in epsilon, and up to 2 lam in rho; and always within groups
    unknown keys    those that exist have to be found first, by the number of units that have them: then counts are
                    released, of the keys that were found, and the order is theirs

Checked in tests/plans/most_common.sql and tests/curator/test_most_common.py.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from dpcurator.errors import Refusal
from dpcurator.language.functions import ROW_FUNCTIONS
from dpcurator.language.question import Call, Item, Literally, Ordering, Question, Syntax, walk
from dpcurator.language.render import words
from dpcurator.plan.check_outputs import MOST_NAMES as MOST
from dpcurator.plan.nodes import AggregateCall, Apply, Ask, Bounded, Given, Key, Order, Plan, Post, Result
from dpcurator.plan.stability import stability, weights
from dpcurator.values import Currency

FUNCTION: Final = "TOP_K"
_COUNTED: Final = Call("COUNT", star=True)


@dataclass(frozen=True, slots=True)
class Wanted:
    """question: the grouping, with x in the place of its name. top: k. score: the count that decides. within: whether
    it is asked for in each group of other columns. said: it names them itself, and does not sort by a count."""

    question: Question
    top: int
    score: Call
    within: bool
    said: bool

    @property
    def words(self) -> str:
        """How it is written, with {} in the place of x."""
        return "MODE({})" if self.top == 1 else f"{FUNCTION}({{}}, {self.top})"

    def without_names(self, source: Bounded) -> Question:
        """The question as counts answer it, or as the list of keys does, of which there is one for each group."""
        if source.source.listed and _among(self, source) < 2:
            return replace(self.question, order_by=self.question.order_by if self.said else ())
        if not self.said:
            return self.question
        sorting, left = (Ordering(self.score, True, True),), max(0, self.top - self.question.offset)
        limit = left if self.question.limit is None else min(left, self.question.limit)
        return replace(self.question, order_by=sorting, limit=limit)


def most_common(question: Question) -> Wanted | None:
    """What a question wants named, or None. Raises Refusal for a name beside what it cannot be beside."""
    named = [number for number, item in enumerate(question.items) if _is_name(item.part)]
    if named:
        return _said(question, named)
    first = question.order_by[0].part if len(question.order_by) == 1 and question.order_by[0].descending else None
    plain = question.group_by and not (question.sets or question.other or question.having)
    if not plain or not question.limit or not isinstance(first, Call) or first.function != "COUNT":
        return None
    if any(_counts(part) for item in question.items for part in walk(item.part)):
        return None
    top = question.limit + question.offset
    return Wanted(question, top, first, within=False, said=False) if top <= MOST else None


def _counts(part: Syntax) -> bool:
    """Whether it is a call of anything but a function of one row."""
    return isinstance(part, Call) and (part.star or part.distinct or part.function not in ROW_FUNCTIONS)


def _is_name(part: Syntax) -> bool:
    return isinstance(part, Call) and part.function == FUNCTION


def _said(question: Question, named: list[int]) -> Wanted:
    call = question.items[named[0]].part
    assert isinstance(call, Call)
    x, k = call.arguments if len(call.arguments) == 2 else (Literally(None), Literally(None))
    top = k.value if isinstance(k, Literally) else None
    whole = isinstance(top, Fraction) and top.denominator == 1 and 1 <= top <= MOST
    if x == Literally(None) or not whole or not isinstance(top, Fraction):
        raise Refusal(
            f"TOP_K takes a value, and how many are named: a whole number from 1 to {MOST:,}.", where=call.at,
            cure="Write it as in TOP_K(city, 3), or MODE(city) for one.",
        )
    written = words(x) or "x"
    alone = "Ask for it by itself, and for the rest in another question; `dpcurator ask --file` pays for both at once."
    if len(named) > 1:
        raise Refusal("the names of the most frequent are asked for one column at a time.", where=call.at, cure=alone)
    if question.other or question.sets:
        raise Refusal("there are no names of the most frequent of totals, or of all groups that are not shown.",
                      where=call.at, cure="Write GROUP BY with columns alone.")
    if question.having is not None:
        raise Refusal("HAVING is of counts, and names of the most frequent have none.", where=call.at,
                      cure="Write a condition of rows, or of groups, in WHERE.")
    item = question.items[named[0]]
    items = list(question.items)
    items[named[0]] = Item(x, item.alias, item.label)
    order = tuple(replace(one, part=x) if one.part == call else one for one in question.order_by)
    question = replace(question, order_by=order)
    grouped = replace(question, items=tuple(items), group_by=(*question.group_by, x))
    _alone(question, call, written, alone)
    return Wanted(grouped, int(top), _COUNTED, within=bool(question.group_by), said=True)


def _others(question: Question, number: int) -> list[Syntax]:
    return [item.part for at, item in enumerate(question.items) if at != number]


def _alone(question: Question, call: Call, written: str, cure: str) -> None:
    """Refuse counts and the like beside a name: they are of other groups."""
    number = next(at for at, item in enumerate(question.items) if item.part == call)
    parts = [*_others(question, number), *(one.part for one in question.order_by)]
    if any(_counts(part) or _is_name(part) for one in parts for part in walk(one)):
        raise Refusal(
            f"which {written} is most frequent is a choice among the groups of {written}, and what stands beside it is "
            "of other groups.", where=call.at, cure=cure,
        )


def named_among(wanted: Wanted, source: Bounded, call: AggregateCall, currency: Currency) -> AggregateCall | None:
    """The call that names, for the count that decides; None where counts are to be released instead. Raises Refusal."""
    grouped = source.source
    distinct_values = call.column is not None and call.function.endswith(" DISTINCT")
    if not grouped.listed:
        if wanted.within:
            raise Refusal(
                "names of the most frequent within groups are chosen among listed keys, and these are not.",
                cure="List the keys in the catalog; or ask for the counts, by GROUP BY with both columns.",
            )
        return None
    among = _among(wanted, source)
    if among < 2 or not grouped.keys or distinct_values:
        return None
    if grouped.keys // among > MOST:
        raise Refusal(
            f"names of the most frequent are chosen within {grouped.keys // among:,} groups; the limit is {MOST:,}.",
            cure="Group by fewer columns, or by fewer keys.",
        )
    reach, top = stability(source), min(wanted.top, among)
    lam = weights(Ask("units" if call.function.endswith(" DISTINCT") else "rows"), reach)
    if not wanted.within and top > lam * (2 if currency == "rho" else 1):
        return None
    suffix = " DISTINCT" if call.function.endswith(" DISTINCT") else ""
    return AggregateCall(FUNCTION + suffix, call.column, top=top, among=among)


def _among(wanted: Wanted, source: Bounded) -> int:
    """How many keys there are to name, in each group."""
    return (source.source.columns[-1].count or 0) if wanted.within else source.source.keys


def places_of_names(result: int, others: int, said: tuple[Order, ...]) -> tuple[Post, tuple[Order, ...]]:
    """HAVING and ORDER BY of a plan that names: those that have a place, in the order of their places. others: how many
    columns are grouped by before x. said: what the question is sorted by."""
    keys = tuple(Order(Key(index), False, True) for index in range(others))
    having = Apply(">=", (Result(result), Given(Fraction(1))))
    return having, (*said, *keys, Order(Result(result), False, False))


def naming(plan: Plan) -> int | None:
    """The number of the call that names, or None."""
    return next((number for number, call in enumerate(plan.calls) if call.top is not None), None)


def names_of(plan: Plan) -> range:
    """The numbers of the grouping columns whose keys are named; none where no call names."""
    columns, call = plan.source.source.columns, naming(plan)
    if call is None:
        return range(0)
    first, product = len(columns), 1
    while first and (product != plan.calls[call].among or first == len(columns)):
        first -= 1
        product *= columns[first].count or 0
    return range(first, len(columns))


def sorted_by_counts(plan: Plan) -> bool:
    """Whether it shows keys alone, so many of them, in the order of a count that is released for all of them."""
    keys = all(isinstance(output.part, Key) for output in plan.outputs)
    by = plan.order[0] if plan.order else None
    if not keys or plan.limit is None or by is None or not by.descending or not isinstance(by.part, Result):
        return False
    return plan.calls[by.part.index].function.startswith("COUNT")
