"""Words to meaning: a Question and a Catalog to a Plan, or a Refusal that names what is wrong and the way out.

Pure: nothing but public facts is looked at. Every name is looked up, every expression typed, every aggregate given its
column's declared facts; what is not understood is refused, never dropped. Checked in tests/plan/test_bind.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

from dpcurator.catalog.model import EACH_ROW, Catalog, Column
from dpcurator.errors import Mend, Refusal
from dpcurator.language import question as syntax
from dpcurator.language.names import quote, show, unknown
from dpcurator.language.render import expression, words
from dpcurator.language.rows import Field, Operand
from dpcurator.language.typed import own_type
from dpcurator.plan.bind_relations import mark, scene_of
from dpcurator.plan.calls import aggregate, call, measuring, unit_field
from dpcurator.plan.caps import bounded, in_one_group
from dpcurator.plan.keys import keyed
from dpcurator.plan.limits import check, finishing
from dpcurator.plan.most_common import Wanted, most_common, named_among, places_of_names
from dpcurator.plan.nodes import AggregateCall, Bounded, Grouped, Key, KeyColumn, Order, Output, Plan, Post, of_values
from dpcurator.plan.outputs import FUNCTIONS, Look, Shape, post
from dpcurator.plan.relation_facts import Facts, facts, least_units
from dpcurator.plan.scope import AggregateRule, Keyed, Scope
from dpcurator.plan.sets import check_sets, grouping_of
from dpcurator.plan.undated import check_dated

MAX_KEYS = 1_000_000  # K's public limit (semantics 4.1)
MOST_UNITS = 2**48


def bind(
    question: syntax.Question, catalog: Catalog, aggregates: tuple[AggregateRule, ...], *, by_counts: bool = False
) -> Plan:
    """The plan a question means under this catalog. by_counts: names of the most frequent are those of noisy counts,
    whatever has less noise. Raises Refusal."""
    rules: dict[tuple[str, str], AggregateRule] = {(rule.function, rule.argument): rule for rule in aggregates}
    functions = frozenset(function for function, _ in rules)
    wanted = most_common(question)
    question = question if wanted is None else wanted.question
    scene = scene_of(_from(question), catalog, functions)
    for part in _clauses(question):
        syntax.weigh(part)
    mark(scene, _clauses(question))
    scope = Scope(scene, question, rules)
    table = scope.table
    source, refused = _source(scope, wanted)
    scope.max_rows = source.max_rows
    outputs = tuple(_output(item, scope) for item in question.items)
    named = None
    if wanted is not None and (wanted.within or not by_counts):
        named = named_among(wanted, source, aggregate(wanted.score, scope), catalog.currency)
    if wanted is not None and named is None:
        question = wanted.without_names(source)
    if not scope.calls and not question.group_by:
        raise Refusal("the question has no aggregate.", cure="Ask for COUNT(*), SUM(x), AVG(x), or GROUP BY a column.")
    if source.source.other and table.unit != EACH_ROW and any(_of_units(made) for made in scope.calls):
        raise Refusal(
            "COUNT(DISTINCT unit) of all other groups would count a unit once for each of them.",
            cure="Write COUNT(*), or GROUP BY without WITH_OTHER.",
        )
    if source.source.other and any(map(of_values, scope.calls)):
        raise Refusal(
            "COUNT(DISTINCT x) of all other groups would count a value once for each of them.",
            cure="Write COUNT(*), or GROUP BY without WITH_OTHER.",
        )
    if question.sets:
        check_sets(question.sets, source.source, scope.calls)
    having = None if question.having is None else _having(question.having, scope)
    if named is None or wanted is None or wanted.said:
        order = tuple(Order(_order(o.part, scope, outputs), o.descending, o.nulls_first) for o in question.order_by)
    if named is not None and wanted is not None:
        scope.calls.append(named)
        others = len(source.source.columns) - 1 if wanted.within else 0
        having, order = places_of_names(0, others, order if wanted.said else ())
    plan = Plan(
        source=source,
        sets=question.sets,
        outputs=outputs,
        having=having,
        order=order,
        limit=question.limit,
        offset=question.offset,
        calls=tuple(scope.calls),
    )
    if refused is not None and not all(_of_units(made) for made in plan.calls):
        raise refused
    check(finishing(plan, table))
    return plan


def _from(question: syntax.Question) -> syntax.From:
    if question.source is not None:
        return question.source
    return syntax.Named(question.table, question.table_quoted, question.table_alias, question.table_at)


def _of_units(call: AggregateCall) -> bool:
    return call.column is None and call.function.endswith(" DISTINCT")


def _clauses(question: syntax.Question) -> Iterator[syntax.Syntax]:
    """Every expression of a question."""
    yield from (item.part for item in question.items)
    yield from question.group_by
    yield from (part for part in (question.where, question.having) if part is not None)
    yield from (one.part for one in question.order_by)


def _source(scope: Scope, wanted: Wanted | None) -> tuple[Bounded, Refusal | None]:
    """What is read; and the Refusal of a table without caps, which all but a count of units in one group need."""
    question, scene = scope.question, scope.scene
    if question.where is not None:
        scene.where(question.where)
    columns = tuple(_key(part, scope, wanted if number == len(question.group_by) else None)
                    for number, part in enumerate(question.group_by, 1))
    if question.other and all(column.listed for column in columns):
        raise Refusal(
            "every key is listed, and answered: there are no others.", cure="Write GROUP BY without WITH_OTHER."
        )
    said, least = question.caps.min_units or 1, least_units(scene.relation, scope.catalog)
    listed = all(column.listed for column in columns)
    if said > 1 and listed:
        raise Refusal(
            "every key is listed, and answered of however few units: min_units leaves out groups that nobody listed.",
            cure="Leave min_units out.", mends=(),
        )
    if said > MOST_UNITS:
        raise Refusal(f"min_units is at most {MOST_UNITS:,}.", cure="Give a smaller number.")
    grouped = Grouped(scene.relation, columns, question.other, 1 if listed else max(said, least))
    if grouped.listed and grouped.keys > MAX_KEYS:
        raise Refusal(
            f"GROUP BY would answer for {grouped.keys:,} keys; the limit is {MAX_KEYS:,}.",
            cure="Group by fewer columns.",
        )
    return _under(question.caps, grouped, scene.facts)


def under(plan: Plan, caps: syntax.Caps, catalog: Catalog) -> Plan:
    """The same question under other caps. Raises Refusal."""
    grouped = plan.source.source
    bounded_, refused = _under(caps, grouped, facts(grouped.source, catalog))
    if refused is not None:
        raise refused
    return replace(plan, source=bounded_)


def _under(said: syntax.Caps, grouped: Grouped, found: Facts) -> tuple[Bounded, Refusal | None]:
    """What is grouped, under the caps of its table or those that are said instead."""
    if found.one_row:
        return Bounded(grouped, 1, 1), None
    table, columns = found.table, grouped.columns
    caps = said.or_else(syntax.Caps(table.max_total, table.max_rows, table.max_groups))
    keyed_by = found.keyed
    if keyed_by is not None and keyed_by <= {key.part.index for key in columns if isinstance(key.part, Field)}:
        caps = replace(caps, max_rows=1)  # a unit has one row in each group
    if caps.max_total is None and caps.max_rows is None and in_one_group(grouped):
        try:
            bounded(grouped, caps, table.name)
        except Refusal as refused:
            return Bounded(grouped, 1, 1), refused
    return bounded(grouped, caps, table.name), None


def _key(part: syntax.Syntax, scope: Scope, wanted: Wanted | None) -> KeyColumn:
    """wanted: what names the keys of this column, where something does."""
    part = _named_item(part, scope)
    typed = scope.reader("GROUP BY").value(part)
    _no_units(part, typed.part, scope)
    named = wanted if wanted is not None and wanted.said else None
    made = keyed(
        part, typed, scope.table, scope.catalog, scope.scene.relation, asked=named.words if named else "GROUP BY {}",
        selected=named is None or not named.within,
    )
    if made.listed:
        check_dated(made.part, part, "", scope.table, scope.scene.relation, scope.catalog, where=syntax.place(part))
    if any(typed.part == other.part for other in scope.keys):
        raise Refusal(f"GROUP BY names {show(made.name)} twice.", where=syntax.place(part), cure="Name it once.")
    scope.keys.append(Keyed(typed.as_type(made.type), made.type, made.name))
    return made


def _no_units(part: syntax.Syntax, found: Operand | None, scope: Scope) -> None:
    """Refuse GROUP BY unit HAVING ...: of how many units it is true is a question, of a subquery."""
    having, question = scope.question.having, scope.question
    if having is None or found != unit_field(scope.table) or scope.scene.facts.unit is None:
        return
    name, table = expression(part), "..."
    if question.source is None:
        table = quote(scope.table.name) + ("" if question.table_alias is None else f" AS {quote(question.table_alias)}")
    where = "" if question.where is None else f" WHERE {words(question.where) or '...'}"
    raise Refusal(
        f"GROUP BY {name} would answer for each protected unit by itself.", where=syntax.place(part),
        cure="Ask for how many of them that holds: SELECT COUNT(*) FROM (SELECT "
        f"{name} FROM {table}{where} GROUP BY {name} "
        f"HAVING {words(having) or '...'}).",
    )


def _named_item(part: syntax.Syntax, scope: Scope) -> syntax.Syntax:
    """GROUP BY 1 and GROUP BY alias mean an item of the select list; a column of that name comes first."""
    items = scope.question.items
    if isinstance(part, syntax.Literally):
        return items[_ordinal(part, len(items), "GROUP BY")].part
    if isinstance(part, syntax.Name) and part.table is None:
        known = {column.name.lower() for column in scope.table.columns}
        named = [item for item in items if item.alias is not None and _same(part, item.alias)]
        if part.column.lower() not in known and len(named) == 1:
            return named[0].part
    return part


def _same(name: syntax.Name, title: str) -> bool:
    return name.column == title if name.quoted else name.column.lower() == title.lower()


def _ordinal(part: syntax.Literally, items: int, clause: str) -> int:
    value = part.value
    if isinstance(value, bool | str) or value is None or value.denominator != 1 or not 1 <= value <= items:
        raise Refusal(f"{clause} takes a column, an alias or a position from 1 to {items}.", cure="Name the column.")
    return int(value) - 1


def _output(item: syntax.Item, scope: Scope) -> Output:
    made, shape = post(item.part, _lookup(scope))
    return Output(item.alias if item.alias is not None else item.label, made, shape)


def _having(part: syntax.Syntax, scope: Scope) -> Post:
    made, shape = post(part, _lookup(scope, aliases="after keys"))
    if shape not in ("truth", "boolean"):
        raise Refusal("HAVING needs a condition.", cure="Write it as in HAVING COUNT(*) > 100.")
    return made


def _order(part: syntax.Syntax, scope: Scope, outputs: tuple[Output, ...]) -> Post:
    if isinstance(part, syntax.Literally):
        return outputs[_ordinal(part, len(outputs), "ORDER BY")].part
    return post(part, _lookup(scope, aliases="first" if isinstance(part, syntax.Name) else "after keys"))[0]


def _lookup(scope: Scope, *, aliases: Literal["first", "after keys"] | None = None) -> Look:
    """How `post` resolves keys, names (of keys, or aliases where SQL lets them be used) and aggregate calls.

    As in SQL, a name alone in ORDER BY is an alias first; in HAVING and in expressions a grouping column comes first.
    """

    def look(part: syntax.Syntax) -> tuple[Post, Shape] | None:
        found = None if isinstance(part, syntax.Name) else _key_of(part, scope)
        if found is not None:
            return found
        if isinstance(part, syntax.Call) and part.function == "GROUPING":
            return grouping_of(part, look)
        if isinstance(part, syntax.Call) and part.function not in FUNCTIONS:
            return call(part, scope)
        if not isinstance(part, syntax.Name):
            return None
        key_first = aliases == "after keys" and any(_same(part, key.name) for key in scope.keys)
        if aliases and part.table is None and not key_first:
            named = [item for item in scope.question.items if _same(part, _title(item))]
            distinct = {item.part for item in named}
            if len(distinct) == 1:
                return post(named[0].part, _lookup(scope))
            if named:
                raise Refusal(f"{show(part.column)} is the title of two columns.", where=part.at, cure="Rename one.")
            _known(part, scope)
        index, column = scope.column(part)
        for position, key in enumerate(scope.keys):
            if key.part == Field(index, column.kind) and key.type == column.type:
                return Key(position), column.type
        raise _single_rows(part, column, scope)

    return look


def _single_rows(part: syntax.Name, column: Column, scope: Scope) -> Refusal:
    """A column of rows stands where aggregates and keys do: it goes into an aggregate, or into GROUP BY if it may."""
    written = expression(part)
    inside = Mend(measuring(part, written, scope), written)
    mends: tuple[Mend, ...] = (inside,)
    cure = f"Put it in an aggregate such as {inside.put}."
    try:
        keyed(part, scope.reader("GROUP BY").value(part), scope.table, scope.catalog)
    except Refusal:
        pass
    else:
        grouped = Mend(written, to="group by")
        mends = (grouped, inside) if scope.calls or scope.keys or column.kind == "text" else (inside, grouped)
        cure = f"Put it in an aggregate such as {inside.put}, or in GROUP BY: GROUP BY {written}."
    what = f"{quote(column.name)} is a column of single rows, which never leave the curator."
    return Refusal(what, where=part.at, cure=cure, mends=mends)


def _key_of(part: syntax.Syntax, scope: Scope) -> tuple[Post, Shape] | None:
    """The key that an expression of rows is, when it is one that is grouped by.

    A column grouped by as it is goes by its name alone: what is made of it here is made of the key, unless it is a cast
    that the answer's own expressions do not have, or a cohort, which is a column that has no name.
    """
    plain: dict[Operand, str] = {Field(n, column.kind): column.type for n, column in enumerate(scope.table.columns)}
    own = isinstance(part, syntax.Cohort) or (isinstance(part, syntax.Cast) and part.type == "TEXT")
    keys = [(n, key) for n, key in enumerate(scope.keys) if own or plain.get(key.part) != key.type]
    if not keys or isinstance(part, syntax.Name | syntax.Literally | syntax.Place):
        return None
    if any(isinstance(one, syntax.Call) and one.function in scope.aggregates for one in syntax.walk(part)):
        return None
    try:
        typed = scope.reader("SELECT").value(part)
    except Refusal:
        return None
    for position, key in keys:
        if typed.part is not None and (key.part, key.type) == (typed.part, own_type(typed)):
            return Key(position), key.type
    return None


def _title(item: syntax.Item) -> str:
    return item.alias if item.alias is not None else item.label


def _known(part: syntax.Name, scope: Scope) -> None:
    """Offer aliases as well as columns when a name in HAVING or ORDER BY is neither."""
    names = [column.name for column in scope.table.columns]
    if any(_same(part, name) for name in names):
        return
    among = names + [_title(item) for item in scope.question.items]
    raise unknown(part.column, part.quoted, among, what="column or alias", where=part.at, kind="column")
