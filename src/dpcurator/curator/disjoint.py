"""Questions of a batch that are of different values of one column: planned as one grouping, and paid once.

    COUNT(*) WHERE region = 'N';  COUNT(*) WHERE region = 'S'
    ->  COUNT(*) WHERE region IN ('N', 'S') GROUP BY region HAVING region = 'N';  ... HAVING region = 'S'

Each question keeps its answer's form, and shows one group. All rest on the same noisy readings, one for each listed
value, so one of them pays and the others share (`batching.py`).

Sound     Each of these is a plan like any other: its rows, groups and caps are written in it, and contribution bounding
          is over all of the groups together. Nothing is concluded from the questions being disjoint, but that
          the sensitivity of one grouping covers all its groups, which is the law of every GROUP BY (plan/stability.py).
Meaning   So the caps bind over the groups together: a person with rows of several values is weighted down where each
          question alone would have counted them whole. Quote and answer say so. `per_unit = 1` on the column means
          that nobody has rows of several, and nothing is lost.
When      A condition is a bare column with listed keys, but of no floats or times, equal to one of them: in WHERE
          (joined by AND), or in the FILTER of every aggregate. All else is the same: table, other conditions, GROUP BY,
          caps, and what is read. There are at least two different values, and one grouping needs less noise than the
          questions apart: l1 below, and l2 squared not above, so many times theirs. Others stay as they are.
Checked   tests/curator/test_disjoint.py.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from dpcurator.aggregates import AGGREGATES
from dpcurator.catalog.model import Catalog, Column, Value
from dpcurator.errors import Refusal
from dpcurator.language import question as syntax
from dpcurator.language.literals import physical
from dpcurator.language.names import find
from dpcurator.plan.bind import bind
from dpcurator.plan.identity import read_alike
from dpcurator.plan.nodes import Plan
from dpcurator.plan.reading import Reading
from dpcurator.pricing.at_price import at_no_price
from dpcurator.pricing.resolve import resolve

_EXACT: Final = ("text", "integer", "boolean", "date", "uuid")
_AGGREGATES: Final = frozenset(rule.function for rule in AGGREGATES)


@dataclass(frozen=True, slots=True)
class _OfOne:
    """A question without its condition that a column is equal to a value; number: its place in the batch."""

    number: int
    rest: syntax.Question
    column: syntax.Name
    literal: syntax.Literally
    value: Value
    keys: frozenset[Value]  # of the column


def together(questions: Sequence[syntax.Question], plans: Sequence[Plan], catalog: Catalog) -> list[Plan]:
    """The plans of a batch's questions, of which those that can be are planned as groupings. plans: each by itself."""
    found: dict[Hashable, list[_OfOne]] = {}
    for number, question in enumerate(questions):
        for alike, one in _of_one(number, question, catalog):
            found.setdefault(alike, []).append(one)
    made = list(plans)
    done: set[int] = set()
    for members in sorted(found.values(), key=lambda one: (-len(one), one[0].number)):
        for number, plan in _grouped([one for one in members if one.number not in done], plans, catalog).items():
            made[number] = plan
            done.add(number)
    return made


def _of_one(number: int, question: syntax.Question, catalog: Catalog) -> Iterator[tuple[Hashable, _OfOne]]:
    """The question without each of its conditions that could be one; and what must be alike for a grouping."""
    parts = (part for item in question.items for part in syntax.walk(item.part))
    if question.sets:
        return  # whose totals would be over the new column as well
    if any(isinstance(part, syntax.Call) and part.function == "QUANTILE" for part in parts):
        return  # of a histogram, whose candidates depend on how many groups there are
    names = [table.name for table in catalog.tables]
    try:
        table = catalog.tables[find(question.table, question.table_quoted, names, what="table")]
    except Refusal:
        return
    columns = [column.name for column in table.columns]
    every = [question, *([whole] if (whole := _from_filter(question)) is not None else [])]
    for asked in every:
        conditions = list(_joined(asked.where)) if asked.where is not None else []
        for place, condition in enumerate(conditions):
            name, literal = _equality(condition)
            if name is None or literal is None:
                continue
            try:
                index = find(name.column, name.quoted, columns, what="column")
            except Refusal:
                continue
            column = table.columns[index]
            keys = (0, 1) if column.type == "boolean" and column.keys is None else column.keys
            value = _key_of(column, literal)
            if column.unknown_keys or keys is None or value is None or value not in keys:
                continue
            others = [*conditions[:place], *conditions[place + 1 :]]
            rest = replace(asked, where=syntax.chain("AND", others) if others else None)
            shape = replace(asked, items=(), where=None, having=None, order_by=(), limit=None, offset=0)
            alike = (shape, frozenset(others), index)
            yield alike, _OfOne(number, rest, name, literal, value, frozenset(keys))


def _grouped(members: Sequence[_OfOne], plans: Sequence[Plan], catalog: Catalog) -> dict[int, Plan]:
    """By the questions' places, their plans as one grouping; none where that is none, or needs more noise."""
    literals = {one.value: one.literal for one in members}
    if len(literals) < 2:
        return {}
    first = members[0].rest
    conditions = [] if first.where is None else [first.where]
    if set(literals) != members[0].keys:  # rows of values that are not asked for are in none of the groups
        ordered = sorted(literals.items(), key=lambda one: (str(type(one[0])), str(one[0])))
        conditions.append(syntax.Within(members[0].column, tuple(literal for _, literal in ordered)))
    made: dict[Hashable, dict[int, Plan]] = {}
    for one in members:
        shown: syntax.Syntax = syntax.Binary("=", one.column, one.literal)
        question = replace(
            one.rest, where=syntax.chain("AND", conditions) if conditions else None,
            group_by=(*first.group_by, members[0].column),
            having=shown if one.rest.having is None else syntax.Binary("AND", one.rest.having, shown),
        )
        try:
            plan = bind(question, catalog, AGGREGATES)
        except Refusal:
            return {}
        made.setdefault(read_alike(plan, resolve(plan).asks), {})[one.number] = plan
    if len(made) > 1:  # what is read differs: those alike, by themselves
        parts = [[one for one in members if one.number in group] for group in made.values()]
        return {number: plan for part in parts for number, plan in _grouped(part, plans, catalog).items()}
    (group,) = made.values()
    return group if _worth(group, len(literals), plans) else {}


def _worth(group: dict[int, Plan], values: int, plans: Sequence[Plan]) -> bool:
    """Whether one grouping needs less noise than its questions, each by itself at its share of the price."""
    number, plan = next(iter(group.items()))
    grouped, apart = _moves(plan), _moves(plans[number])
    return plan.source.source.listed and len(grouped) == len(apart) > 0 and all(
        one.l1 * one.unit < values * other.l1 * other.unit
        and one.l2_squared * one.unit**2 <= values * other.l2_squared * other.unit**2
        for one, other in zip(grouped, apart, strict=True)
    )


def _moves(plan: Plan) -> list[Reading]:
    of = resolve(plan)
    return [at_no_price(ask, of.reach, plan.source.max_rows)[1] for ask in of.asks]


def _joined(part: syntax.Syntax) -> Iterator[syntax.Syntax]:
    if isinstance(part, syntax.Binary) and part.op == "AND":
        yield from _joined(part.left)
        yield from _joined(part.right)
    else:
        yield part


def _equality(part: syntax.Syntax) -> tuple[syntax.Name | None, syntax.Literally | None]:
    if isinstance(part, syntax.Binary) and part.op == "=":
        for one, other in ((part.left, part.right), (part.right, part.left)):
            if isinstance(one, syntax.Name) and isinstance(other, syntax.Literally):
                return one, other
    return None, None


def _key_of(column: Column, literal: syntax.Literally) -> Value:
    """The stored value that a literal means beside a column; None where it means none, or is not compared exactly."""
    if column.type not in _EXACT:
        return None
    try:
        return physical(column.name, column.type, literal)
    except Refusal:
        return None


def _from_filter(question: syntax.Question) -> syntax.Question | None:
    """The question with the FILTER that all its aggregates share in WHERE; None where they share none."""
    parts = [*(item.part for item in question.items), *(one.part for one in question.order_by)]
    parts += [question.having] if question.having is not None else []
    every = [one for part in parts for one in syntax.walk(part)]
    calls = [one for one in every if isinstance(one, syntax.Call) and one.function in _AGGREGATES]
    conditions = [_filter_of(one) for one in calls]
    if not conditions or conditions[0] is None or any(one != conditions[0] for one in conditions):
        return None
    shared = conditions[0]
    return replace(
        question,
        items=tuple(syntax.Item(_without_filter(item.part), item.alias, item.label) for item in question.items),
        having=None if question.having is None else _without_filter(question.having),
        order_by=tuple(replace(one, part=_without_filter(one.part)) for one in question.order_by),
        where=shared if question.where is None else syntax.Binary("AND", question.where, shared),
    )


def _filter_of(call: syntax.Call) -> syntax.Syntax | None:
    """The condition c of a call whose argument is CASE WHEN c THEN x END."""
    (part,) = call.arguments if len(call.arguments) == 1 else (None,)
    if isinstance(part, syntax.Case) and len(part.branches) == 1 and part.otherwise is None:
        return part.branches[0].condition
    return None


def _without_filter(part: syntax.Syntax) -> syntax.Syntax:
    if isinstance(part, syntax.Call) and part.function in _AGGREGATES and _filter_of(part) is not None:
        case: Any = part.arguments[0]
        value = case.branches[0].value
        constant = isinstance(value, syntax.Literally) and value.value is not None
        if part.function == "COUNT" and not part.distinct and constant:
            return replace(part, arguments=(), star=True)
        return replace(part, arguments=(value,))
    within = syntax.inside(part)
    return syntax.with_parts(part, [_without_filter(one) for one in within]) if within else part
