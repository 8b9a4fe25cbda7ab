"""What stands in FROM and in subqueries, from words to a relation of the plan, or a Refusal.

`Scene` is a relation with the names its columns go by. Every subquery becomes nodes that are unit-local; what cannot
(a cohort by another column than the unit, a correlation by anything else) is refused with the way to write it.
Checked in tests/plan/test_bind_relations.py.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from dpcurator.catalog.model import EACH_ROW, Catalog, Column, Table
from dpcurator.errors import Refusal
from dpcurator.language.expressions import Reader
from dpcurator.language.functions import ROW_FUNCTIONS
from dpcurator.language.functions.function import LONGEST
from dpcurator.language.names import find, quote, show
from dpcurator.language.question import (
    Binary,
    Call,
    Cohort,
    Everything,
    From,
    Inner,
    Item,
    Join,
    Literally,
    Name,
    Named,
    Place,
    Query,
    Select,
    Stacked,
    Syntax,
    inside,
    place,
    walk,
    weigh,
    with_parts,
)
from dpcurator.language.render import chain, leaves, words
from dpcurator.language.rows import Field, fields
from dpcurator.language.typed import Typed, own_type
from dpcurator.plan.folding import INNER, fold_of
from dpcurator.plan.naming import Names, Part
from dpcurator.plan.relation_facts import Facts, check_made, check_size, facts
from dpcurator.plan.relations import (
    Computed,
    InCohort,
    JoinOnUnit,
    JoinPublic,
    Made,
    Numbered,
    PerUnit,
    Relation,
    Rows,
    Sorted,
    UnionAll,
    Where,
)


@dataclass
class Scene:
    """A relation that grows while a question is bound. `marks`: the columns that say who is in which cohort."""

    catalog: Catalog
    relation: Relation
    names: Names
    aggregates: Collection[str] = ()
    marks: dict[Cohort | Place, int] = field(default_factory=dict)
    _known: tuple[Relation, Facts] | None = None

    @property
    def facts(self) -> Facts:
        if self._known is None or self._known[0] is not self.relation:
            self._known = (self.relation, facts(self.relation, self.catalog))
        return self._known[1]

    @property
    def table(self) -> Table:
        return self.facts.table

    def column(self, name: Name | Cohort | Place) -> tuple[int, Column]:
        """The column that a name means, the mark of a cohort, or a row's number. Raises Refusal."""
        if isinstance(name, Place) and name not in self.marks:
            raise Refusal(
                "ROW_NUMBER() stands in the select list or the QUALIFY of a subquery.", where=name.at,
                cure="Write SELECT ... FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY unit ORDER BY column) AS n "
                "FROM table) WHERE n = 1.",
            )
        index = self.names.find(name) if isinstance(name, Name) else self.marks[name]
        return index, self.table.columns[index]

    def reader(self, inside: str) -> Reader:
        """What reads expressions of rows, inside WHERE, GROUP BY or an aggregate."""
        return Reader(self.table, self.column, inside, self.aggregates)

    def mark(self, parts: Iterable[Syntax]) -> None:
        """Bind the cohorts of these expressions, each as one more column. Raises Refusal."""
        for cohort in [one for part in parts for one in walk(part) if isinstance(one, Cohort)]:
            if cohort not in self.marks:
                among = self._cohort(cohort)
                self.marks[cohort] = len(self.table.columns)
                self.relation = InCohort(self.relation, among)
                check_size(self.relation)

    def number(self, parts: Iterable[Syntax]) -> None:
        """Bind the numbers of rows in these expressions, each as one more column. Raises Refusal."""
        for place_ in [one for part in parts for one in walk(part) if isinstance(one, Place)]:
            if place_ in self.marks:
                continue
            if self.facts.unit is None:
                raise Refusal(
                    "each row is a unit of its own here: it has no others to be numbered among.", where=place_.at,
                    cure="Ask of the rows themselves.",
                )
            if not any(self.is_unit(part) for part in place_.partition):
                raise Refusal(
                    "ROW_NUMBER() numbers the rows of one unit: how many rows others have says nothing of it.",
                    where=place_.at, cure=f"Write PARTITION BY {quote(self.table.unit or '')}.",
                )
            reader = self.reader("PARTITION BY")
            others = [part for part in dict.fromkeys(place_.partition) if not self.is_unit(part)]
            keys = tuple(_made(reader.value(part), self.words(part)) for part in others)
            reader = self.reader("ORDER BY")
            along = []
            for one in place_.order:
                made = _made(reader.value(one.part), "")
                along.append(Sorted(made.part, one.descending, one.nulls_first))
            self.marks[place_] = len(self.table.columns)
            self.relation = Numbered(self.relation, len(self.table.columns), keys, tuple(along))
            check_size(self.relation)

    def where(self, condition: Syntax, clause: str = "WHERE") -> None:
        """Keep the rows for which it is true. Raises Refusal."""
        predicate = self.reader(clause).predicate(condition)
        used = sorted(fields(predicate))
        self.relation = Where(self.relation, predicate, tuple(self.table.columns[i].name for i in used))

    def is_unit(self, part: Syntax) -> bool:
        """Whether an expression is the unit's column."""
        return isinstance(part, Name) and self.names.has(part) and self.names.find(part) == self.facts.unit

    def placed(self, part: Syntax) -> Syntax:
        """An expression with the number of each column, however its name is spelled. Raises Refusal."""
        if isinstance(part, Name):
            return Name(f"#{self.names.find(part)}", True)
        within = inside(part)
        return with_parts(part, [self.placed(one) for one in within]) if within else part

    def words(self, part: Syntax) -> str:
        """What a column made of it is called, however its names are quoted, capitalised and qualified."""

        def told(one: Syntax) -> Syntax:
            if isinstance(one, Name):
                index = self.names.find(one)
                titles = [title for part in self.names.parts for title, place_ in part.columns if place_ == index]
                return Name(quote(next((title for title in titles if title.lower() == one.column.lower()), one.column)))
            within = inside(one)
            return with_parts(one, [told(inner) for inner in within]) if within else one

        return _words(told(part))

    def _cohort(self, cohort: Cohort) -> Relation:
        """The relation whose units are the cohort."""
        unit = self.facts.unit
        if unit is None:
            raise Refusal(
                f"each row of {show(self.table.name)} is a unit of its own: it has no others to be in a cohort with.",
                where=cohort.at, cure="Write the condition in WHERE itself.",
            )
        query = cohort.query
        if isinstance(query, Stacked):
            query = Select((Everything(),), Inner(query), weight=0)
            if cohort.part is None:
                raise Refusal(
                    "UNION ALL in the subquery of EXISTS is not available.", where=cohort.at,
                    cure="Write EXISTS (...) OR EXISTS (...).",
                )
        public = _public(query.source, self.catalog)
        if public is not None:
            raise Refusal(
                f"{show(public.name)} is a public table, and a cohort is of rows that units own.", where=cohort.at,
                cure="List its values after IN, or join it: "
                f"FROM {quote(self.table.name)} JOIN {quote(public.name)} ON one.column = other.column.",
            )
        if cohort.part is None:
            inner = scene_of(query.source, self.catalog, INNER)
        else:
            inner = subquery(query, self.catalog, cohort.at)
        owner = quote(self.table.unit or "")
        if inner.facts.unit is None:
            raise Refusal(
                f"each row of {show(inner.table.name)} is a unit of its own: no unit of {show(self.table.name)} has "
                "any there.", where=cohort.at, cure="Use a table whose rows are owned by the same units.",
            )
        _same_units(self, inner, cohort.at)
        other = quote(inner.table.unit or "")
        way = f"{owner} IN (SELECT {other} FROM {quote(inner.table.name)} WHERE ...)"
        conditions: list[Syntax] = []
        if cohort.part is None:
            conditions = [] if query.where is None else leaves(query.where, "AND")
            _exists_of_rows(query, way)
            if query.group_by or query.having is not None:
                raise Refusal(
                    "GROUP BY in the subquery of EXISTS is not available.", where=cohort.at,
                    cure=f"Write {owner} IN (SELECT {other} FROM ... GROUP BY {other} HAVING ...).",
                )
            if query.qualify is not None:
                raise Refusal(
                    "QUALIFY in the subquery of EXISTS is not available.", where=cohort.at,
                    cure=f"Write {owner} IN (SELECT {other} FROM ... QUALIFY ...).",
                )
            own = [one for one in conditions if self._correlates(one, inner)]
            if len(own) != 1:
                raise Refusal(
                    "EXISTS is available only where the subquery's rows are those of the same unit.", where=cohort.at,
                    cure=f"Write {way}, or compare the two units once in its WHERE, each with its table before it.",
                )
            conditions = [one for one in conditions if one is not own[0]]
        elif not self.is_unit(cohort.part):
            raise Refusal(
                "IN (SELECT ...) is available only for the protected unit.", where=place(cohort.part) or cohort.at,
                cure=f"Write {way}; a list of values goes after IN as it is.",
            )
        else:
            titles = inner.names.parts[0].columns
            if len(titles) != 1 or titles[0][1] != inner.facts.unit:
                raise Refusal(
                    f"the subquery after IN gives something else than {other}, the unit of "
                    f"{show(inner.table.name)}.", where=cohort.at, cure=f"Write {way}.",
                )
        if conditions:
            condition = chain("AND", conditions)
            inner.mark([condition])
            inner.where(condition)
        return inner.relation

    def _correlates(self, part: Syntax, inner: Scene) -> bool:
        """Whether it says that the inner unit is the outer one: one side a name of the subquery, the other not."""
        if not (isinstance(part, Binary) and part.op == "="):
            return False
        pairs = ((part.left, part.right), (part.right, part.left))
        return any(
            inner.is_unit(one) and isinstance(other, Name) and not inner.names.speaks_of(other) and self.is_unit(other)
            for one, other in pairs
        )


def _exists_of_rows(query: Select, way: str) -> None:
    """Refuse EXISTS (SELECT COUNT(*) ...): an aggregate has a row even where nothing is, so it would always be true."""
    parts = [item.part for item in query.items if isinstance(item, Item)]
    for call in [one for part in parts for one in walk(part) if isinstance(one, Call)]:
        if call.function not in ROW_FUNCTIONS:
            raise Refusal(
                f"EXISTS asks whether there are rows, and {call.function} makes one even of none.", where=call.at,
                cure=f"Write EXISTS (SELECT 1 FROM ...); or for a condition on it, {way[:-1].split(' WHERE')[0]} "
                "GROUP BY ... HAVING ...).",
            )


def _same_units(one: Scene, other: Scene, at: str) -> None:
    """Refuse two relations whose units have different types: they name different things."""
    types = [scene.table.columns[scene.facts.unit or 0].type for scene in (one, other)]
    if types[0] != types[1]:
        raise Refusal(
            f"the unit of {show(one.table.name)} is {types[0]}, and that of {show(other.table.name)} {types[1]}.",
            where=at, cure="The steward declares both units with one type, since they are the same ones.",
        )


def scene_of(source: From, catalog: Catalog, aggregates: Collection[str]) -> Scene:
    """What FROM says. Raises Refusal."""
    if isinstance(source, Named):
        return stored(source, catalog, aggregates)
    if isinstance(source, Inner):
        made = _query(source.query, catalog, source.at)
        columns = tuple(one for part in made.names.parts for one in part.columns)
        return replace(made, names=Names((Part(source.alias, columns),)), aggregates=aggregates)
    if isinstance(source, Join):
        return joined(source, catalog, aggregates)
    raise Refusal("this is not available in FROM.", cure="FROM takes a table of the catalog, or a subquery.")


def _query(query: Query, catalog: Catalog, at: str) -> Scene:
    """The rows of a subquery, under the titles of its columns. Raises Refusal."""
    if isinstance(query, Select):
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
    _same_units(one, other, at)
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


def joined(source: Join, catalog: Catalog, aggregates: Collection[str]) -> Scene:
    """JOIN ... ON or USING, of rows that the same units own. Raises Refusal."""
    public = [_public(side, catalog) for side in (source.left, source.right)]
    if public[1] is not None and public[0] is None:
        return _joined_to_public(source, public[1], catalog, aggregates)
    if public[0] is not None and public[1] is None and source.kind == "INNER":
        return _joined_to_public(replace(source, left=source.right, right=source.left), public[0], catalog, aggregates)
    one, other = (scene_of(side, catalog, aggregates) for side in (source.left, source.right))
    if one.facts.unit is None or other.facts.unit is None:
        raise Refusal(
            "each row is a unit of its own here: it has no rows elsewhere to be joined with.", where=source.at,
            cure="Ask of one table.",
        )
    _same_units(one, other, source.at)
    _distinct_parts(one, other, source.at)
    size = len(one.table.columns)
    pairs, hidden = _pairs(source, one, other.names)
    unit = (one.facts.unit, other.facts.unit)
    mine, its = (_spelled(scene, index) for scene, index in zip((one, other), unit, strict=True))
    if unit not in pairs:
        raise Refusal(
            "a join of private tables compares their units, so that a person's rows meet rows of the same person only.",
            where=source.at, cure=f"Add {mine} = {its} to ON.",
        )
    more = [pair for pair in dict.fromkeys(pairs) if pair != unit]
    for a, b in more:
        types = one.table.columns[a].type, other.table.columns[b].type
        if types[0] != types[1]:
            raise Refusal(
                f"{_spelled(one, a)} is {types[0]}, and {_spelled(other, b)} is {types[1]}.", where=source.at,
                cure=source.one_type or "CAST one of them in a subquery, so that they have one type.",
            )
    unique = other.facts.unique
    if unique is None or not unique <= {b for _, b in more}:
        columns = [title for title, index in other.names.parts[0].columns if index != unit[1]][:2]
        title = next((title for title, index in other.names.parts[0].columns if index == unit[1]), its)
        picked = "".join(f", MIN({quote(name)}) AS {quote(name)}" for name in columns)
        name = other.names.parts[0].name or other.table.name
        put = f"(SELECT {quote(title)}{picked} FROM {quote(other.table.name)} GROUP BY {quote(title)}) AS {quote(name)}"
        raise Refusal(
            f"a person may have several rows in {show(name)}, so a row could become many.", where=source.at,
            cure=source.one_row or f"Join one row for each person: {put}.",
        )
    relation = JoinOnUnit(
        one.relation, other.relation, tuple(a for a, _ in more), tuple(b for _, b in more), source.kind == "LEFT")
    check_size(relation)
    parts = [replace(part, columns=tuple((title, size + index) for title, index in part.columns),
                     hidden=frozenset(size + index for index in (*part.hidden, *hidden)))
             for part in other.names.parts]
    return Scene(catalog, relation, Names((*one.names.parts, *parts)), aggregates)


def _public(source: From, catalog: Catalog) -> Table | None:
    """The public table that a name in FROM means."""
    if not isinstance(source, Named):
        return None
    try:
        table = catalog.tables[find(source.name, source.quoted, [one.name for one in catalog.tables], what="table")]
    except Refusal:
        return None
    return None if table.private else table


def _joined_to_public(source: Join, table: Table, catalog: Catalog, aggregates: Collection[str]) -> Scene:
    """Rows, each with the public rows that have equal values. Raises Refusal."""
    one = scene_of(source.left, catalog, aggregates)
    assert isinstance(source.right, Named)
    if one.facts.unit is None:
        raise Refusal(
            "each row is a unit of its own here, and a join could make several of it.", where=source.at,
            cure="Ask of one table.",
        )
    size, columns = len(one.table.columns), tuple((column.name, n) for n, column in enumerate(table.columns))
    part = Part(source.right.alias or table.name, columns)
    if any((known.name or "").lower() == (part.name or "").lower() for known in one.names.parts):
        raise Refusal(
            f"two tables of the join are called {show(part.name or '')}.", where=source.at,
            cure=f"Give one another name: JOIN {quote(table.name)} AS {quote('other')}.",
        )
    pairs, hidden = _pairs(source, one, Names((part,)))
    pairs = list(dict.fromkeys(pairs))
    for a, b in pairs:
        types = one.table.columns[a].type, table.columns[b].type
        if types[0] != types[1]:
            raise Refusal(
                f"{_spelled(one, a)} is {types[0]}, and {quote(table.name)}.{quote(table.columns[b].name)} is "
                f"{types[1]}.", where=source.at,
                cure=source.one_type or "CAST one of them in a subquery, so that they have one type.",
            )
    if not pairs:
        raise Refusal("a join compares columns.", where=source.at, cure="Write ON one.column = other.column.")
    single = any(table.columns[b].unique for _, b in pairs)
    on, other_on = tuple(a for a, _ in pairs), tuple(b for _, b in pairs)
    relation = JoinPublic(one.relation, table.name, on, other_on, source.kind == "LEFT", single)
    check_size(relation)
    check_made(relation, catalog, source.at)
    moved = Part(part.name, tuple((title, size + n) for title, n in columns), frozenset(size + n for n in hidden))
    return Scene(catalog, relation, Names((*one.names.parts, moved)), aggregates)


def _pairs(source: Join, one: Scene, other: Names) -> tuple[list[tuple[int, int]], list[int]]:
    """The columns that a join compares, and those of the right side that USING makes one with the left's."""
    if source.using:
        pairs = [(one.names.find(name), other.find(name)) for name in source.using]
        return pairs, [b for _, b in pairs]
    both = Names((*one.names.parts, *(replace(
        part, columns=tuple((title, len(one.table.columns) + index) for title, index in part.columns),
        hidden=frozenset(len(one.table.columns) + index for index in part.hidden)) for part in other.parts)))
    pairs = []
    for part in [] if source.on is None else leaves(source.on, "AND"):
        sides = (part.left, part.right) if isinstance(part, Binary) and part.op == "=" else ()
        names = [side for side in sides if isinstance(side, Name)]
        places = sorted(both.find(name) for name in names)
        size = len(one.table.columns)
        if len(places) != 2 or not places[0] < size <= places[1]:
            raise Refusal(
                "ON takes equalities of one column of each side, joined by AND.", where=place(part) or source.at,
                cure="Write other conditions in WHERE, or in a subquery with a column that is compared.",
            )
        pairs.append((places[0], places[1] - size))
    return pairs, []


def _spelled(scene: Scene, index: int) -> str:
    """A column with its table before it."""
    for part in scene.names.parts:
        for title, place_ in part.columns:
            if place_ == index:
                return f"{quote(part.name)}.{quote(title)}" if part.name else quote(title)
    return quote(scene.table.columns[index].name)


def _distinct_parts(one: Scene, other: Scene, at: str) -> None:
    """Two sides under one name could not be told apart."""
    known = {(part.name or "").lower() for part in one.names.parts}
    for part in other.names.parts:
        if part.name is not None and part.name.lower() in known:
            raise Refusal(
                f"two tables of the join are called {show(part.name)}.", where=at,
                cure=f"Give one another name: JOIN {quote(other.table.name)} AS {quote('other')}.",
            )


def subquery(query: Select, catalog: Catalog, at: str) -> Scene:
    """A SELECT inside another: its rows, under the titles of its columns. Raises Refusal."""
    scene = scene_of(query.source, catalog, INNER)
    items = [made for item in query.items for made in (_everything(item, scene) if isinstance(item, Everything)
                                                       else [item])]
    qualify = None if query.qualify is None else _with_titles(query.qualify, items, scene)
    parts = [item.part for item in items] + ([] if qualify is None else [qualify])
    clauses = [one for one in (*parts, *query.group_by, query.where, query.having) if one is not None]
    for part in clauses:
        weigh(part)
    scene.mark(clauses)
    if query.where is not None:
        scene.where(query.where)
    calls = list(dict.fromkeys(one for part in (*parts, query.having) if part is not None for one in walk(part)
                               if isinstance(one, Call) and one.function in INNER))
    if query.group_by or calls or query.distinct or query.having is not None:
        keys = [_named_key(key, items, scene) for key in query.group_by]
        if query.distinct and not (query.group_by or calls):
            keys = parts
            if any(isinstance(one, Place) for part in parts for one in walk(part)):
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
    scene: Scene, keys: Sequence[Syntax], calls: Sequence[Call], parts: Sequence[Syntax], query: Select, at: str
) -> tuple[Scene, list[Syntax], Syntax | None]:
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
            where=at or next((place(key) for key in keys), ""),
            cure=f"Add {owner} to it; or ask the inner question by itself, and work on its answer, which is free.",
        )
    others = [key for key in dict.fromkeys(keys) if not scene.is_unit(key)]
    reader = scene.reader("GROUP BY")
    made = tuple(_made(reader.value(key), scene.words(key)) for key in others)
    within = scene.reader("an aggregate")
    folds = tuple(fold_of(call, scene.words(call), within, table) for call in calls)
    relation = PerUnit(scene.relation, made, folds)
    hidden = [(f"#{n}", n) for n in range(1 + len(made) + len(folds))]
    result = Scene(scene.catalog, relation, Names((Part(None, tuple(hidden)),)), INNER)
    check_size(relation)
    operands = [scene.reader("SELECT").value(key) for key in others]

    def put(part: Syntax) -> Syntax:
        """The part with names of the result where keys and aggregates stand."""
        if isinstance(part, Call) and part in calls:
            return Name(f"#{1 + len(made) + calls.index(part)}", True)
        if scene.is_unit(part):
            return Name("#0", True)
        if part in others:
            return Name(f"#{1 + others.index(part)}", True)
        if isinstance(part, Name | Cohort):
            index, column = scene.column(part)
            for number, typed in enumerate(operands):
                if typed.part == Field(index, column.kind):
                    return Name(f"#{1 + number}", True)
            raise Refusal(
                f"{quote(column.name)} is neither in GROUP BY of the subquery nor in an aggregate.", where=place(part),
                cure=f"Write {'BOOL_OR' if column.type == 'boolean' else 'MIN'}({_words(part)}), or group by it too.",
            )
        if isinstance(part, Call) and part.function not in ROW_FUNCTIONS:
            raise Refusal(
                f"the function {part.function} is not available in a subquery.", where=part.at,
                cure=f"Aggregates of a subquery: {', '.join(INNER)}.",
            )
        inner = inside(part)
        return with_parts(part, [put(one) for one in inner]) if inner else part

    return result, [put(part) for part in parts], None if query.having is None else put(query.having)


def _titled(scene: Scene, items: Sequence[tuple[str, Syntax]]) -> Scene:
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
        made.append(_made(typed, title))
    if made:
        scene.relation = Computed(scene.relation, tuple(made))
        check_size(scene.relation)
    for (title, index), (_, part) in zip(places, items, strict=True):
        if scene.table.columns[index].kind == "text" and scene.table.columns[index].letters > LONGEST:
            raise Refusal(
                f"{show(title)} could have {scene.table.columns[index].letters:,} letters, counted from the max_length "
                f"of texts: the limit is {LONGEST:,}.", where=place(part), cure=f"Write LEFT({_words(part)}, 100).",
            )
    return replace(scene, names=Names((Part(None, tuple(places)),)), marks={})


def _made(typed: Typed, name: str) -> Made:
    """A computed column. Raises Refusal."""
    type = own_type(typed)
    if type in ("null", "interval"):
        raise Refusal(
            f"a column of a subquery has no type: it is {'NULL' if type == 'null' else 'an interval'}.",
            cure="Give it one, as in CAST(NULL AS INTEGER).",
        )
    return Made(name, typed.as_type(type), "timestamp" if type == "local" else type)


def _named_key(key: Syntax, items: Sequence[Item], scene: Scene) -> Syntax:
    """GROUP BY 1 and GROUP BY alias mean an item; a column of that name comes first."""
    if isinstance(key, Literally):
        value = key.value
        if isinstance(value, bool | str) or value is None or value.denominator != 1 or not 1 <= value <= len(items):
            raise Refusal(
                f"GROUP BY takes a column, an alias or a position from 1 to {len(items)}.", cure="Name the column.")
        return items[int(value) - 1].part
    if isinstance(key, Name) and key.table is None and not scene.names.has(key):
        named = [item for item in items if item.alias is not None
                 and (item.alias == key.column if key.quoted else item.alias.lower() == key.column.lower())]
        if len(named) == 1:
            return named[0].part
    return key


def _with_titles(part: Syntax, items: Sequence[Item], scene: Scene) -> Syntax:
    """QUALIFY may call a number by its alias; a column of that name comes first."""
    if isinstance(part, Name):
        return _named_key(part, items, scene)
    within = inside(part)
    return with_parts(part, [_with_titles(one, items, scene) for one in within]) if within else part


def _everything(item: Everything, scene: Scene) -> list[Item]:
    """The columns that * means, in order. Raises Refusal."""
    parts = [part for part in scene.names.parts if item.table is None or _is_part(part, item)]
    if not parts:
        raise Refusal(
            f"{show(item.table or '')} is not a table of this subquery.", where=item.at, cure="Write * alone.")
    found = []
    for part in parts:
        columns = part.free() if item.table is None else iter(part.columns)
        found += [Item(Name(title, True, part.name, part.name is not None), title, title) for title, _ in columns]
    return found


def _is_part(part: Part, item: Everything) -> bool:
    written = item.table or ""
    return part.name is not None and (
        part.name == written if item.table_quoted else part.name.lower() == written.lower())


def _title(item: Item) -> str:
    return item.alias if item.alias is not None else item.label


def _words(part: Syntax) -> str:
    """What a column is called in messages and derivations."""
    return words(part) or "an expression"


def stored(source: Named, catalog: Catalog, aggregates: Collection[str]) -> Scene:
    """A table of the catalog. Raises Refusal."""
    private = [table for table in catalog.tables if table.private]
    names = [table.name for table in catalog.tables]
    table = catalog.tables[find(source.name, source.quoted, names, what="table", where=source.at)]
    if not table.private:
        raise Refusal(
            f"{show(table.name)} is a public table: its contents need no curator.", where=source.at,
            cure=f"Private tables: {', '.join(quote(t.name) for t in private) or 'none'}.",
        )
    unit = None if table.unit == EACH_ROW else table.unit
    index = None if unit is None else [column.name for column in table.columns].index(unit)
    rows = Rows(table.name, unit, index, catalog.neighbours, catalog.units)
    columns = tuple((column.name, number) for number, column in enumerate(table.columns))
    part = Part(table.name if source.alias is None else source.alias, columns)
    return Scene(catalog, rows, Names((part,)), aggregates)
