"""What stands in FROM and in subqueries, from words to a relation of the plan, or a Refusal.

`Scene` is a relation with the names its columns go by. Every subquery becomes nodes that are unit-local; what cannot
(a cohort by another column than the unit, a correlation by anything else) is refused with the way to write it.
Checked in tests/plan/test_bind_relations.py.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from dpcurator.catalog.model import EACH_ROW, Catalog, Column, Table
from dpcurator.errors import Refusal
from dpcurator.language.expressions import Reader
from dpcurator.language.names import find, quote, show
from dpcurator.language.question import Binary, Cohort, From, Item, Name, Named, Select, Syntax, place, walk
from dpcurator.language.render import chain, leaves
from dpcurator.language.rows import fields
from dpcurator.plan.naming import Names, Part
from dpcurator.plan.relation_facts import Facts, check_size, facts
from dpcurator.plan.relations import InCohort, Relation, Rows, Where


@dataclass
class Scene:
    """A relation that grows while a question is bound. `marks`: the columns that say who is in which cohort."""

    catalog: Catalog
    relation: Relation
    names: Names
    aggregates: Collection[str] = ()
    marks: dict[Cohort, int] = field(default_factory=dict)
    _known: tuple[Relation, Facts] | None = None

    @property
    def facts(self) -> Facts:
        if self._known is None or self._known[0] is not self.relation:
            self._known = (self.relation, facts(self.relation, self.catalog))
        return self._known[1]

    @property
    def table(self) -> Table:
        return self.facts.table

    def column(self, name: Name | Cohort) -> tuple[int, Column]:
        """The column that a name means, or the mark of a cohort. Raises Refusal."""
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

    def where(self, condition: Syntax) -> None:
        """Keep the rows for which it is true. Raises Refusal."""
        predicate = self.reader("WHERE").predicate(condition)
        used = sorted(fields(predicate))
        self.relation = Where(self.relation, predicate, tuple(self.table.columns[i].name for i in used))

    def is_unit(self, part: Syntax) -> bool:
        """Whether an expression is the unit's column."""
        return isinstance(part, Name) and self.names.has(part) and self.names.find(part) == self.facts.unit

    def _cohort(self, cohort: Cohort) -> Relation:
        """The relation whose units are the cohort."""
        unit = self.facts.unit
        if unit is None:
            raise Refusal(
                f"each row of {show(self.table.name)} is a unit of its own: it has no others to be in a cohort with.",
                where=cohort.at, cure="Write the condition in WHERE itself.",
            )
        if not isinstance(cohort.query, Select):
            raise Refusal("this subquery is not available here.", where=cohort.at, cure="Write SELECT ... FROM table.")
        inner = scene_of(cohort.query.source, self.catalog, self.aggregates)
        owner = quote(self.table.unit or "")
        if inner.facts.unit is None:
            raise Refusal(
                f"each row of {show(inner.table.name)} is a unit of its own: no unit of {show(self.table.name)} has "
                "any there.", where=cohort.at, cure="Use a table whose rows are owned by the same units.",
            )
        _same_units(self, inner, cohort.at)
        other = quote(inner.table.unit or "")
        way = f"{owner} IN (SELECT {other} FROM {quote(inner.table.name)} WHERE ...)"
        conditions = [] if cohort.query.where is None else leaves(cohort.query.where, "AND")
        if cohort.part is None:
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
            [item] = cohort.query.items if len(cohort.query.items) == 1 else [None]
            if not (isinstance(item, Item) and inner.is_unit(item.part)):
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
            inner.is_unit(one) and isinstance(other, Name) and not inner.names.has(other) and self.is_unit(other)
            for one, other in pairs
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
    if not isinstance(source, Named):
        raise Refusal("this is not available in FROM.", cure="FROM takes the name of one table of the catalog.")
    return stored(source, catalog, aggregates)


def stored(source: Named, catalog: Catalog, aggregates: Collection[str]) -> Scene:
    """A table of the catalog. Raises Refusal."""
    private = [table for table in catalog.tables if table.private]
    names = [table.name for table in catalog.tables]
    table = catalog.tables[find(source.name, source.quoted, names, what="table", where=source.at)]
    if not table.private:
        raise Refusal(
            f"{show(table.name)} is a public table: its contents need no curator.",
            cure=f"Private tables: {', '.join(quote(t.name) for t in private) or 'none'}.",
        )
    unit = None if table.unit == EACH_ROW else table.unit
    index = None if unit is None else [column.name for column in table.columns].index(unit)
    rows = Rows(table.name, unit, index, catalog.neighbours, catalog.units)
    columns = tuple((column.name, number) for number, column in enumerate(table.columns))
    part = Part(table.name if source.alias is None else source.alias, columns)
    return Scene(catalog, rows, Names((part,)), aggregates)
