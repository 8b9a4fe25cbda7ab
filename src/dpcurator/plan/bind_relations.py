"""What stands in FROM and in subqueries, from words to a relation of the plan, or a Refusal.

Every subquery becomes nodes that are unit-local (`scene.py` is what grows while it is bound); what cannot is refused
with the way to write it. Cohorts are in `bind_cohorts.py`, joins in `bind_joins.py`.
Checked in tests/plan/test_bind_relations.py.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace

from dpcurator.catalog.model import Catalog
from dpcurator.errors import Refusal
from dpcurator.language import question as syntax
from dpcurator.language.functions import ROW_FUNCTIONS
from dpcurator.language.functions.function import LONGEST
from dpcurator.language.names import quote, show
from dpcurator.language.rows import Field
from dpcurator.plan.bind_cohorts import mark as mark_cohorts
from dpcurator.plan.bind_joins import joined
from dpcurator.plan.folding import INNER, fold_of
from dpcurator.plan.naming import Names, Part
from dpcurator.plan.relation_facts import check_made, check_size
from dpcurator.plan.relations import Computed, Made, PerUnit, UnionAll
from dpcurator.plan.scene import Scene, called, made_column, same_units, stored


class _Subqueries:
    """What joins and cohorts bind their subqueries with."""

    def query(
        self, query: syntax.Query, catalog: Catalog, at: str, seen: Callable[[Scene], None] | None = None
    ) -> Scene:
        return subquery(query, catalog, at, seen) if isinstance(query, syntax.Select) else _query(query, catalog, at)

    def source(self, source: syntax.From, catalog: Catalog, aggregates: Collection[str]) -> Scene:
        return scene_of(source, catalog, aggregates)


_SUBQUERIES = _Subqueries()


def mark(scene: Scene, parts: Iterable[syntax.Syntax]) -> None:
    """Bind the cohorts of these expressions, each as one more column. Raises Refusal."""
    mark_cohorts(scene, parts, _SUBQUERIES)


def scene_of(source: syntax.From, catalog: Catalog, aggregates: Collection[str]) -> Scene:
    """What FROM says. Raises Refusal."""
    if isinstance(source, syntax.Named):
        return stored(source, catalog, aggregates)
    if isinstance(source, syntax.Inner):
        made = _query(source.query, catalog, source.at)
        columns = tuple(one for part in made.names.parts for one in part.columns)
        return replace(made, names=Names((Part(source.alias, columns),)), aggregates=aggregates)
    if isinstance(source, syntax.Join):
        return joined(source, catalog, aggregates, _SUBQUERIES)
    raise Refusal("this is not available in FROM.", cure="FROM takes a table of the catalog, or a subquery.")


def _query(query: syntax.Query, catalog: Catalog, at: str) -> Scene:
    """The rows of a subquery, under the titles of its columns. Raises Refusal."""
    if isinstance(query, syntax.Select):
        return subquery(query, catalog, at)
    made = _query(query.parts[0], catalog, at)
    for part in query.parts[1:]:
        made = _put_together(made, _query(part, catalog, at), query.at or at)
    return made


def _put_together(one: Scene, other: Scene, at: str) -> Scene:
    """UNION ALL of rows that the same units own, under the titles of the first. Raises Refusal."""
    if one.facts.unit is None or other.facts.unit is None:
        raise Refusal("each row is a unit of its own here, and two of them would be one.", where=at,
                      cure="Ask of one table.")
    same_units(one, other, at)
    mine, its = one.names.parts[0].columns, other.names.parts[0].columns
    if len(mine) != len(its):
        raise Refusal(
            f"one side of UNION ALL has {len(mine)} column{'s' * (len(mine) > 1)}, and the other {len(its)}.", where=at,
            cure="Name the same columns on both sides.",
        )
    for number, ((title, a), (other_title, b)) in enumerate(zip(mine, its, strict=True), 1):
        types = one.table.columns[a].type, other.table.columns[b].type
        if types[0] != types[1]:
            raise Refusal(
                f"column {number} of UNION ALL is {types[0]} on one side ({show(title)}), and {types[1]} on the other "
                f"({show(other_title)}).", where=at, cure="CAST one of them, so that they have one type.",
            )
    unit = (one.facts.unit, other.facts.unit)
    pairs = [(a, b) for (_, a), (_, b) in zip(mine, its, strict=True)]
    more = [pair for pair in dict.fromkeys(pairs) if pair != unit]
    relation = UnionAll(one.relation, other.relation, tuple(a for a, _ in more), tuple(b for _, b in more))
    check_size(relation)
    check_made(relation, one.catalog, at)
    places = tuple((title, 0 if pair == unit else 1 + more.index(pair))
                   for (title, _), pair in zip(mine, pairs, strict=True))
    return Scene(one.catalog, relation, Names((Part(None, places),)), one.aggregates)


def subquery(
    query: syntax.Select, catalog: Catalog, at: str, seen: Callable[[Scene], None] | None = None
) -> Scene:
    """A SELECT inside another: its rows, under the titles of its columns. Raises Refusal."""
    scene = scene_of(query.source, catalog, INNER)
    if seen is not None:
        seen(scene)
    items = [made for item in query.items
             for made in (_everything(item, scene, at) if isinstance(item, syntax.Everything) else [item])]
    qualify = None if query.qualify is None else _with_titles(query.qualify, items, scene)
    parts = [item.part for item in items] + ([] if qualify is None else [qualify])
    clauses = [one for one in (*parts, *query.group_by, query.where, query.having) if one is not None]
    for part in clauses:
        syntax.weigh(part)
    mark(scene, clauses)
    if query.where is not None:
        scene.where(query.where)
    calls = list(dict.fromkeys(one for part in (*parts, query.having) if part is not None for one in syntax.walk(part)
                               if isinstance(one, syntax.Call) and one.function in INNER))
    if query.group_by or calls or query.distinct or query.having is not None:
        keys = [_named_key(key, items, scene) for key in query.group_by]
        if query.distinct and not (query.group_by or calls):
            keys = parts
            if any(isinstance(one, syntax.Place) for part in parts for one in syntax.walk(part)):
                raise Refusal("ROW_NUMBER() beside SELECT DISTINCT is not available.", where=at,
                              cure="Write SELECT DISTINCT in a subquery of its own.")
        elif query.distinct and not {scene.placed(key) for key in keys} <= {scene.placed(item.part) for item in items}:
            raise Refusal(
                "SELECT DISTINCT beside a key of GROUP BY that is no column of it is not available.", where=at,
                cure="Write SELECT DISTINCT * FROM (SELECT ... GROUP BY ...).",
            )
        scene, parts, having = _grouped(scene, keys, calls, parts, query, at)
        if having is not None:
            scene.where(having)
    scene.number(parts)
    if qualify is not None:
        scene.where(parts.pop(), "QUALIFY")
    return _titled(scene, [(_title(item), part) for item, part in zip(items, parts, strict=True)])


def _grouped(
    scene: Scene, keys: Sequence[syntax.Syntax], calls: Sequence[syntax.Call], parts: Sequence[syntax.Syntax],
    query: syntax.Select, at: str,
) -> tuple[Scene, list[syntax.Syntax], syntax.Syntax | None]:
    """The rows of each unit and key as one; what is asked of them, in names of the result. Raises Refusal."""
    unit, table = scene.facts.unit, scene.table
    owner = quote(table.unit or "")
    if unit is None:
        raise Refusal(
            f"each row of {show(table.name)} is a unit of its own: there is nothing to be grouped in a subquery.",
            where=at, cure="Ask of the rows themselves.",
        )
    if not any(scene.is_unit(key) for key in keys):
        what = "SELECT DISTINCT" if query.distinct else "GROUP BY"
        raise Refusal(
            f"{what} in a subquery goes by the unit, {owner}: numbers of several units together are a release.",
            where=at or next((syntax.place(key) for key in keys), ""),
            cure=f"Add {owner} to it; or ask the inner question by itself, and work on its answer, which is free.",
        )
    others = [key for key in dict.fromkeys(keys) if not scene.is_unit(key)]
    reader = scene.reader("GROUP BY")
    made = tuple(made_column(reader.value(key), scene.words(key)) for key in others)
    within = scene.reader("an aggregate")
    folds = tuple(fold_of(call, scene.words(call), within, table) for call in calls)
    relation = PerUnit(scene.relation, made, folds)
    hidden = [(f"#{n}", n) for n in range(1 + len(made) + len(folds))]
    result = Scene(scene.catalog, relation, Names((Part(None, tuple(hidden)),)), INNER)
    check_size(relation)
    operands = [scene.reader("SELECT").value(key) for key in others]

    def put(part: syntax.Syntax) -> syntax.Syntax:
        """The part with names of the result where keys and aggregates stand."""
        if isinstance(part, syntax.Call) and part in calls:
            return syntax.Name(f"#{1 + len(made) + calls.index(part)}", True)
        if scene.is_unit(part):
            return syntax.Name("#0", True)
        if part in others:
            return syntax.Name(f"#{1 + others.index(part)}", True)
        if isinstance(part, syntax.Name | syntax.Cohort):
            index, column = scene.column(part)
            for number, typed in enumerate(operands):
                if typed.part == Field(index, column.kind):
                    return syntax.Name(f"#{1 + number}", True)
            raise Refusal(
                f"{quote(column.name)} is neither in GROUP BY of the subquery nor in an aggregate.",
                where=syntax.place(part),
                cure=f"Write {'BOOL_OR' if column.type == 'boolean' else 'MIN'}({called(part)}), or group by it too.",
            )
        if isinstance(part, syntax.Call) and part.function not in ROW_FUNCTIONS:
            raise Refusal(
                f"the function {part.function} is not available in a subquery.", where=part.at,
                cure=f"Aggregates of a subquery: {', '.join(INNER)}.",
            )
        inner = syntax.inside(part)
        return syntax.with_parts(part, [put(one) for one in inner]) if inner else part

    return result, [put(part) for part in parts], None if query.having is None else put(query.having)


def _titled(scene: Scene, items: Sequence[tuple[str, syntax.Syntax]]) -> Scene:
    """The scene with these columns alone, under these titles; what is no column yet is computed. Raises Refusal."""
    reader = scene.reader("SELECT")
    places: list[tuple[str, int]] = []
    made: list[Made] = []
    for title, part in items:
        typed = reader.value(part)
        if isinstance(typed.part, Field) and typed.type == scene.table.columns[typed.part.index].type:
            places.append((title, typed.part.index))
            continue
        places.append((title, len(scene.table.columns) + len(made)))
        made.append(made_column(typed, title))
    if made:
        scene.relation = Computed(scene.relation, tuple(made))
        check_size(scene.relation)
    for (title, index), (_, part) in zip(places, items, strict=True):
        if scene.table.columns[index].kind == "text" and scene.table.columns[index].letters > LONGEST:
            raise Refusal(
                f"{show(title)} could have {scene.table.columns[index].letters:,} letters, counted from the max_length "
                f"of texts: the limit is {LONGEST:,}.", where=syntax.place(part),
                cure=f"Write LEFT({called(part)}, 100).",
            )
    return replace(scene, names=Names((Part(None, tuple(places)),)), marks={})


def _named_key(key: syntax.Syntax, items: Sequence[syntax.Item], scene: Scene) -> syntax.Syntax:
    """GROUP BY 1 and GROUP BY alias mean an item; a column of that name comes first."""
    if isinstance(key, syntax.Literally):
        value = key.value
        if isinstance(value, bool | str) or value is None or value.denominator != 1 or not 1 <= value <= len(items):
            raise Refusal(
                f"GROUP BY takes a column, an alias or a position from 1 to {len(items)}.", cure="Name the column.")
        return items[int(value) - 1].part
    if isinstance(key, syntax.Name) and key.table is None and not scene.names.has(key):
        named = [item for item in items if item.alias is not None
                 and (item.alias == key.column if key.quoted else item.alias.lower() == key.column.lower())]
        if len(named) == 1:
            return named[0].part
    return key


def _with_titles(part: syntax.Syntax, items: Sequence[syntax.Item], scene: Scene) -> syntax.Syntax:
    """QUALIFY may call a number by its alias; a column of that name comes first."""
    if isinstance(part, syntax.Name):
        return _named_key(part, items, scene)
    within = syntax.inside(part)
    return syntax.with_parts(part, [_with_titles(one, items, scene) for one in within]) if within else part


def _everything(item: syntax.Everything, scene: Scene, at: str) -> list[syntax.Item]:
    """The columns that * means, in order. Raises Refusal."""
    parts = [part for part in scene.names.parts if item.table is None or _is_part(part, item)]
    if not parts:
        raise Refusal(
            f"{show(item.table or '')} is not a table of this subquery.", where=item.at, cure="Write * alone.")
    if scene.names.loose and item.table is None:
        raise Refusal(
            "the order of the columns that * means after RIGHT JOIN ... USING is not defined.", where=item.at or at,
            cure="Name the columns, or write LEFT JOIN with the tables the other way round.",
        )
    found = []
    for part in parts:
        columns = part.free() if item.table is None else iter(part.columns)
        names = [syntax.Name(title, True, part.name, part.name is not None) for title, _ in columns]
        found += [syntax.Item(name, name.column, name.column) for name in names]
    return found


def _is_part(part: Part, item: syntax.Everything) -> bool:
    written = item.table or ""
    return part.name is not None and (
        part.name == written if item.table_quoted else part.name.lower() == written.lower())


def _title(item: syntax.Item) -> str:
    return item.alias if item.alias is not None else item.label
