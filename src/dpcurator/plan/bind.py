"""Words to meaning: a Question and a Catalog to a Plan, or a Refusal that names what is wrong and the way out.

Pure: nothing but public facts is looked at. Every name is looked up, every expression typed, every aggregate given its
column's declared facts; what is not understood is refused, never dropped. Checked in tests/plan/test_bind.py.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Literal, Protocol

from dpcurator.catalog.model import EACH_ROW, Catalog, Column, Table
from dpcurator.errors import Refusal
from dpcurator.plan.names import find, nearest, quote, show
from dpcurator.plan.nodes import (
    AggregateCall,
    Bounded,
    Grouped,
    Key,
    KeyColumn,
    Measured,
    Order,
    Output,
    Plan,
    Post,
    Result,
    Rows,
    Where,
)
from dpcurator.plan.post import Shape, post
from dpcurator.plan.predicates import predicate
from dpcurator.plan.question import Binary, Call, Item, Literally, Name, Question, Syntax, Unary, Within
from dpcurator.plan.rows import AllOf, Among, AnyOf, Compare, Field, IsMissing, Not, Predicate

MAX_KEYS = 1_000_000  # K's public limit (MEANING 4.1)


class AggregateRule(Protocol):
    """What bind needs of an entry of AGGREGATES."""

    @property
    def function(self) -> str: ...
    @property
    def argument(self) -> Literal["star", "column", "unit", "number"]: ...
    def shown(self, column: Measured | None) -> str: ...


@dataclass
class _Scope:
    """What the parts of one question share while it is bound."""

    catalog: Catalog
    table: Table
    question: Question
    rules: Mapping[tuple[str, str], AggregateRule]
    keys: list[tuple[int, Column]] = field(default_factory=list)
    calls: list[AggregateCall] = field(default_factory=list)

    def column(self, name: Name) -> tuple[int, Column]:
        """The column a name means, its qualifier checked. Raises Refusal."""
        if name.table is not None:
            self._qualifier(name)
        names = [column.name for column in self.table.columns]
        index = find(name.column, name.quoted, names, what="column", where=name.at)
        return index, self.table.columns[index]

    def _qualifier(self, name: Name) -> None:
        known = self.question.table_alias or self.table.name
        same = name.table == known if name.table_quoted else (name.table or "").lower() == known.lower()
        if not same:
            raise Refusal(
                f"{show(name.table or '')} is not the table of this question.", where=name.at,
                cure=f"Its columns are written {quote(known)}.{quote(name.column)}.",
            )  # fmt: skip


def bind(question: Question, catalog: Catalog, aggregates: tuple[AggregateRule, ...]) -> Plan:
    """The plan a question means under this catalog. Raises Refusal."""
    private = [table for table in catalog.tables if table.private]
    names = [table.name for table in catalog.tables]
    table = catalog.tables[find(question.table, question.table_quoted, names, what="table")]
    if not table.private:
        raise Refusal(
            f"{show(table.name)} is a public table: its contents need no curator.",
            cure=f"Private tables: {', '.join(quote(t.name) for t in private) or 'none'}.",
        )
    rules: dict[tuple[str, str], AggregateRule] = {(rule.function, rule.argument): rule for rule in aggregates}
    scope = _Scope(catalog, table, question, rules)
    source = _source(scope)
    outputs = tuple(_output(item, scope) for item in question.items)
    if not scope.calls and not question.group_by:
        raise Refusal("the question has no aggregate.", cure="Ask for COUNT(*), SUM(x), AVG(x), or GROUP BY a column.")
    return Plan(
        source=source,
        outputs=outputs,
        having=None if question.having is None else _having(question.having, scope),
        order=tuple(Order(_order(o.part, scope, outputs), o.descending, o.nulls_first) for o in question.order_by),
        limit=question.limit,
        offset=question.offset,
        calls=tuple(scope.calls),
    )


def _source(scope: _Scope) -> Bounded:
    table, question = scope.table, scope.question
    unit = None if table.unit == EACH_ROW else table.unit
    index = None if unit is None else [column.name for column in table.columns].index(unit)
    scanned = Rows(table.name, unit, index)
    rows: Rows | Where = scanned
    if question.where is not None:
        condition = predicate(question.where, scope.column)
        used = sorted(fields(condition))
        rows = Where(scanned, condition, tuple(table.columns[i].name for i in used))
    grouped = Grouped(rows, tuple(_key(part, scope) for part in question.group_by))
    if grouped.keys > MAX_KEYS:
        raise Refusal(
            f"GROUP BY would answer for {grouped.keys:,} keys; the limit is {MAX_KEYS:,}.",
            cure="Group by fewer columns.",
        )
    if unit is None:
        return Bounded(grouped, 1, 1)
    caps = {"max_rows": table.max_rows, "max_groups": table.max_groups}
    for cap, value in caps.items():
        if value is None and (cap == "max_rows" or question.group_by):
            meaning = "rows one unit may add to a group" if cap == "max_rows" else "groups one unit may be in"
            raise Refusal(
                f"table {show(table.name)} declares no {cap}, the number of {meaning}.",
                cure=f"The steward adds a line such as `{cap} = 5` under [tables.{table.name}] in the catalog.",
            )
    return Bounded(grouped, table.max_rows or 1, table.max_groups or 1)


def fields(condition: Predicate) -> set[int]:
    """The numbers of the columns a predicate looks at."""
    match condition:
        case Compare(_, left, right):
            return {side.index for side in (left, right) if isinstance(side, Field)}
        case Among(operand) | IsMissing(operand):
            return {operand.index} if isinstance(operand, Field) else set()
        case Not(part):
            return fields(part)
        case AllOf(parts) | AnyOf(parts):
            return set().union(*(fields(part) for part in parts))
    return set()


def _key(part: Syntax, scope: _Scope) -> KeyColumn:
    part = _named_item(part, scope)
    if not isinstance(part, Name):
        raise Refusal("GROUP BY takes columns.", cure="Write it as in GROUP BY city, or add a column to the catalog.")
    index, column = scope.column(part)
    if any(index == other for other, _ in scope.keys):
        raise Refusal(f"GROUP BY names {show(column.name)} twice.", where=part.at, cure="Name it once.")
    if column.keys is None:
        line = f'{quote(column.name)} = {{ type = "{column.type}", keys = [...] }}'
        raise Refusal(
            f"GROUP BY {quote(column.name)} needs a public list of keys, and none is declared (which values occur is "
            "private).", where=part.at,
            cure=f"The steward lists them in the catalog, under [tables.{scope.table.name}.columns]: {line}.",
        )  # fmt: skip
    scope.keys.append((index, column))
    text = json.dumps(column.keys, separators=(",", ":"), ensure_ascii=True)
    return KeyColumn(column.name, index, column.type, len(column.keys), hashlib.sha256(text.encode()).hexdigest())


def _named_item(part: Syntax, scope: _Scope) -> Syntax:
    """GROUP BY 1 and GROUP BY alias mean an item of the select list; a column of that name comes first."""
    items = scope.question.items
    if isinstance(part, Literally):
        return items[_ordinal(part, len(items), "GROUP BY")].part
    if isinstance(part, Name) and part.table is None:
        known = {column.name.lower() for column in scope.table.columns}
        named = [item for item in items if item.alias is not None and _same(part, item.alias)]
        if part.column.lower() not in known and len(named) == 1:
            return named[0].part
    return part


def _same(name: Name, title: str) -> bool:
    return name.column == title if name.quoted else name.column.lower() == title.lower()


def _ordinal(part: Literally, items: int, clause: str) -> int:
    value = part.value
    if isinstance(value, bool | str) or value is None or value.denominator != 1 or not 1 <= value <= items:
        raise Refusal(f"{clause} takes a column, an alias or a position from 1 to {items}.", cure="Name the column.")
    return int(value) - 1


def _output(item: Item, scope: _Scope) -> Output:
    made, shape = post(item.part, _lookup(scope))
    return Output(item.alias if item.alias is not None else item.label, made, shape)


def _having(part: Syntax, scope: _Scope) -> Post:
    made, shape = post(part, _lookup(scope, aliases=True))
    if shape != "truth":
        raise Refusal("HAVING needs a condition.", cure="Write it as in HAVING COUNT(*) > 100.")
    return made


def _order(part: Syntax, scope: _Scope, outputs: tuple[Output, ...]) -> Post:
    if isinstance(part, Literally):
        return outputs[_ordinal(part, len(outputs), "ORDER BY")].part
    return post(part, _lookup(scope, aliases=True))[0]


def _lookup(scope: _Scope, *, aliases: bool = False) -> Callable[[Name | Call], tuple[Post, Shape]]:
    """How `post` resolves names (keys, or aliases where SQL lets them be used) and aggregate calls."""

    def look(part: Name | Call) -> tuple[Post, Shape]:
        if isinstance(part, Call):
            return _call(part, scope)
        if aliases and part.table is None:
            named = [item for item in scope.question.items if _same(part, _title(item))]
            distinct = {item.part for item in named}
            if len(distinct) == 1:
                return post(named[0].part, _lookup(scope))
            if named:
                raise Refusal(f"{show(part.column)} is the title of two columns.", where=part.at, cure="Rename one.")
            _known(part, scope)
        index, column = scope.column(part)
        for position, (key, _) in enumerate(scope.keys):
            if key == index:
                return Key(position), column.type
        raise Refusal(
            f"{quote(column.name)} is a column of single rows, which never leave the curator.", where=part.at,
            cure=f"Put it in an aggregate such as AVG({quote(column.name)}), or in GROUP BY.",
        )  # fmt: skip

    return look


def _title(item: Item) -> str:
    return item.alias if item.alias is not None else item.label


def _known(part: Name, scope: _Scope) -> None:
    """Offer aliases as well as columns when a name in HAVING or ORDER BY is neither."""
    names = [column.name for column in scope.table.columns]
    if any(_same(part, name) for name in names):
        return
    among = names + [_title(item) for item in scope.question.items]
    raise Refusal(
        f"there is no column or alias {show(part.column)}.", where=part.at, cure=nearest(part.column, among, "column")
    )


def _call(call: Call, scope: _Scope) -> tuple[Post, Shape]:
    """An aggregate call, numbered; the same call twice is one."""
    made, rule = _aggregate(call, scope)
    if made not in scope.calls:
        scope.calls.append(made)
    shown: Shape = rule.shown(made.column)
    return Result(scope.calls.index(made)), shown


def _aggregate(call: Call, scope: _Scope) -> tuple[AggregateCall, AggregateRule]:
    functions = sorted({function for function, _ in scope.rules})
    if call.function not in functions:
        raise Refusal(
            f"the function {call.function} is not available.", where=call.at,
            cure=f"Aggregates: {', '.join(functions)}. On answers: ROUND, ABS, COALESCE, NULLIF.",
        )  # fmt: skip
    if call.distinct:
        return _count_distinct(call, scope)
    if call.star or (call.function == "COUNT" and _constant(call)):
        rule = scope.rules.get((call.function, "star"))
        if rule is None:
            raise Refusal(f"{call.function}(*) means nothing.", where=call.at, cure=f"Write {call.function}(column).")
        return AggregateCall(rule.function, None), rule
    if len(call.arguments) != 1 or not isinstance(call.arguments[0], Name):
        _nested(call)
        _unquoted(call, scope)
        raise Refusal(
            f"{call.function} takes one column here.", where=call.at,
            cure=f"Write it as in {call.function}(age); expressions inside an aggregate are not available yet.",
        )  # fmt: skip
    index, column = scope.column(call.arguments[0])
    column = column if column.type != "boolean" else replace(column, lower=Fraction(0), upper=Fraction(1))
    measured = Measured(column.name, index, column.type, column.kind, column.lower, column.upper)
    rule = scope.rules.get((call.function, "column")) or scope.rules[call.function, "number"]
    if rule.argument == "number":
        _needs_bounds(call, column, scope.table)
    return AggregateCall(call.function, measured), rule


def _unquoted(call: Call, scope: _Scope) -> None:
    """AVG(net-gain), where the table has a column "net-gain": say that it needs quotes."""
    part = call.arguments[0] if len(call.arguments) == 1 else None
    words: list[str] = []
    while isinstance(part, Binary) and isinstance(part.right, Name):
        words = [part.op, part.right.column, *words]
        part = part.left
    if not words or not isinstance(part, Name):
        return
    spelled = "".join([part.column, *words])
    for column in scope.table.columns:
        if column.name.replace(" ", "").lower() == spelled.lower():
            raise Refusal(
                f"{call.function}({spelled}) reads as arithmetic.", where=call.at,
                cure=f"Put the column's name in double quotes: {call.function}({quote(column.name)}).",
            )  # fmt: skip


def _nested(call: Call) -> None:
    inside: list[Syntax] = list(call.arguments)
    while inside:
        part = inside.pop()
        if isinstance(part, Call):
            raise Refusal(
                f"{call.function} holds {part.function}: functions inside an aggregate are not available.",
                where=part.at, cure=f"Write {call.function} of a column.",
            )  # fmt: skip
        match part:
            case Unary(_, only):
                inside.append(only)
            case Binary(_, left, right):
                inside += [left, right]
            case Within(only, options):
                inside += [only, *options]


def _constant(call: Call) -> bool:
    return len(call.arguments) == 1 and isinstance(call.arguments[0], Literally) and call.arguments[0].value is not None


def _count_distinct(call: Call, scope: _Scope) -> tuple[AggregateCall, AggregateRule]:
    rule = scope.rules.get((call.function, "unit"))
    unit = scope.table.unit
    if rule is not None and len(call.arguments) == 1 and isinstance(call.arguments[0], Name):
        _, column = scope.column(call.arguments[0])
        if column.name == unit:
            return AggregateCall(f"{call.function} DISTINCT", None), rule
    cure = "Ask COUNT(*): each row is a unit." if unit == EACH_ROW else f"Ask COUNT(DISTINCT {quote(unit or '')})."
    raise Refusal("DISTINCT is available only for counting the protected unit.", where=call.at, cure=cure)


def _needs_bounds(call: Call, column: Column, table: Table) -> None:
    if column.type not in ("integer", "float", "boolean"):
        raise Refusal(
            f"{call.function}({quote(column.name)}): the column is {column.type}, not a number.", where=call.at,
            cure=f"COUNT({quote(column.name)}) counts where it is present.",
        )  # fmt: skip
    if column.lower is None or column.upper is None:
        line = f'{quote(column.name)} = {{ type = "{column.type}", bounds = [0, 100] }}'
        raise Refusal(
            f"{call.function}({quote(column.name)}) has no bounds.", where=call.at,
            cure=f"The steward declares them in the catalog, under [tables.{table.name}.columns], from public "
            f"knowledge, never from the data: {line}.",
        )  # fmt: skip
