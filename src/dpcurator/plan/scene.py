"""A relation with the names its columns go by, while a question is bound: what WHERE, subqueries and joins add to.

Checked in tests/plan/test_bind_relations.py.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from dpcurator.catalog.model import EACH_ROW, Catalog, Column, Table
from dpcurator.errors import Mend, Refusal
from dpcurator.language import question as syntax
from dpcurator.language.expressions import Reader
from dpcurator.language.names import find, quote, show
from dpcurator.language.render import expression, words
from dpcurator.language.rows import Field, Predicate, fields
from dpcurator.language.typed import Typed, own_type
from dpcurator.plan.folding import INNER
from dpcurator.plan.naming import Names, Part
from dpcurator.plan.relation_facts import Facts, check_size, facts
from dpcurator.plan.relations import Computed, Made, Numbered, Relation, Rows, Sorted, Where

SQL_TYPES: Final = {"integer": "INTEGER", "float": "DOUBLE", "text": "TEXT", "date": "DATE", "timestamp": "TIMESTAMP",
                 "boolean": "BOOLEAN"}


@dataclass
class Scene:
    """A relation that grows while a question is bound. `marks`: the columns that say who is in which cohort."""

    catalog: Catalog
    relation: Relation
    names: Names
    aggregates: Collection[str] = ()
    marks: dict[syntax.Cohort | syntax.Place, int] = field(default_factory=dict)
    _known: tuple[Relation, Facts] | None = None

    @property
    def facts(self) -> Facts:
        if self._known is None or self._known[0] is not self.relation:
            self._known = (self.relation, facts(self.relation, self.catalog))
        return self._known[1]

    @property
    def table(self) -> Table:
        return self.facts.table

    def column(self, name: syntax.Name | syntax.Cohort | syntax.Place) -> tuple[int, Column]:
        """The column that a name means, the mark of a cohort, or a row's number. Raises Refusal."""
        if isinstance(name, syntax.Place) and name not in self.marks:
            raise Refusal(
                "ROW_NUMBER() stands in the select list or the QUALIFY of a subquery.", where=name.at,
                cure="Write SELECT ... FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY unit ORDER BY column) AS n "
                "FROM table) WHERE n = 1.",
            )
        index = self.names.find(name) if isinstance(name, syntax.Name) else self.marks[name]
        return index, self.table.columns[index]

    def reader(self, inside: str) -> Reader:
        """What reads expressions of rows, inside WHERE, GROUP BY or an aggregate."""
        return Reader(self.table, self.column, inside, self.aggregates)

    def number(self, parts: Iterable[syntax.Syntax]) -> None:
        """Bind the numbers of rows in these expressions, each as one more column. Raises Refusal."""
        for place_ in [one for part in parts for one in syntax.walk(part) if isinstance(one, syntax.Place)]:
            if place_ in self.marks:
                continue
            if self.facts.unit is None:
                raise Refusal(
                    "each row is a unit of its own here: it has no others to be numbered among.", where=place_.at,
                    cure="Ask of the rows themselves.",
                )
            if not any(self.is_unit(part) for part in place_.partition):
                unit, keys_ = quote(self.table.unit or ""), ", ".join(map(called, place_.partition))
                put = f"PARTITION BY {unit}{', ' * bool(keys_)}{keys_}"
                raise Refusal(
                    "ROW_NUMBER() numbers the rows of one unit: how many rows others have says nothing of it.",
                    where=place_.at, cure=f"Write PARTITION BY {unit}.",
                    mends=(Mend(put, f"PARTITION BY {keys_}") if keys_ else Mend(f"{put} ORDER BY", "ORDER BY"),),
                )
            reader = self.reader("PARTITION BY")
            others = [part for part in dict.fromkeys(place_.partition) if not self.is_unit(part)]
            keys = tuple(made_column(reader.value(part), self.words(part)) for part in others)
            reader = self.reader("ORDER BY")
            along = []
            for one in place_.order:
                typed = made_column(reader.value(one.part), "")
                along.append(Sorted(typed.part, one.descending, one.nulls_first))
            numbered = Numbered(self.relation, len(self.table.columns), keys, tuple(along))
            self.marks[place_] = self.add(numbered)

    def where(self, condition: syntax.Syntax, clause: str = "WHERE") -> None:
        """Keep the rows for which it is true. Raises Refusal."""
        predicate = self.reader(clause).predicate(condition)
        used = sorted(fields(predicate))
        self.relation = Where(self.relation, predicate, tuple(self.table.columns[i].name for i in used))

    def add(self, relation: Relation) -> int:
        """Put a relation with one more column in place of this one; the column's number. Raises Refusal."""
        at, self.relation = len(self.table.columns), relation
        check_size(relation)
        return at

    def columns(self, parts: Sequence[syntax.Syntax], inside: str) -> list[int]:
        """The numbers of these expressions among the columns; what is none yet is computed. Raises Refusal."""
        found, made = numbered(parts, self.reader(inside), self.table, self.words)
        if made:
            self.relation = Computed(self.relation, tuple(made))
            check_size(self.relation)
        return found

    def is_unit(self, part: syntax.Syntax) -> bool:
        """Whether an expression is the unit's column."""
        return isinstance(part, syntax.Name) and self.names.has(part) and self.names.find(part) == self.facts.unit

    def placed(self, part: syntax.Syntax) -> syntax.Syntax:
        """An expression with the number of each column, however its name is spelled. Raises Refusal."""
        if isinstance(part, syntax.Name):
            return syntax.Name(f"#{self.names.find(part)}", True)
        within = syntax.inside(part)
        return syntax.with_parts(part, [self.placed(one) for one in within]) if within else part

    def words(self, part: syntax.Syntax) -> str:
        """What a column made of it is called, however its names are quoted, capitalised and qualified."""

        def told(one: syntax.Syntax) -> syntax.Syntax:
            if isinstance(one, syntax.Name):
                index = self.names.find(one)
                titles = [title for part in self.names.parts for title, place_ in part.columns if place_ == index]
                same = [title for title in titles if title.lower() == one.column.lower()]
                return syntax.Name(quote((same or [one.column])[0]))
            within = syntax.inside(one)
            return syntax.with_parts(one, [told(inner) for inner in within]) if within else one

        return called(told(part))


class Subqueries(Protocol):
    """What binds a subquery, or FROM, whatever it holds: joins and cohorts hold subqueries, which hold joins and
    cohorts."""

    def query(
        self, query: syntax.Query, catalog: Catalog, at: str, seen: Callable[[Scene], None] | None = None
    ) -> Scene:
        """The rows of a subquery, under the titles of its columns. seen: is given what its FROM says, before the rest
        is bound. Raises Refusal."""

    def source(self, source: syntax.From, catalog: Catalog, aggregates: Collection[str]) -> Scene:
        """What FROM says. Raises Refusal."""


def stored(source: syntax.Named, catalog: Catalog, aggregates: Collection[str]) -> Scene:
    """A table of the catalog. Raises Refusal."""
    private = [table for table in catalog.tables if table.private]
    names = [table.name for table in catalog.tables]
    try:
        table = catalog.tables[find(source.name, source.quoted, names, what="table", where=source.at)]
    except Refusal:
        if not source.early:
            raise
        told = {"itself": "for what uses it.", "cycle": "to a SELECT that uses what uses it here."}
        named = f"Name a table of the catalog there: {', '.join(quote(one.name) for one in private)}."
        raise Refusal(
            f"WITH gives the name {show(source.name)} {told.get(source.early, 'only after it is used.')}",
            where=source.at, cure=named if source.early in told else
            f"Give it before what uses it: WITH {quote(source.name)} AS (...), ...",
        ) from None
    if not table.private:
        raise Refusal(
            f"{show(table.name)} is a public table: its contents need no curator.", where=source.at,
            cure=f"Join it, or several one after the other, to a private table: FROM {quote(private[0].name)} JOIN "
            f"{quote(table.name)} ON one.column = other.column." if private else "The steward declares private tables.",
        )
    unit = None if table.unit == EACH_ROW else table.unit
    index = None if unit is None else [column.name for column in table.columns].index(unit)
    rows = Rows(table.name, unit, index, catalog.neighbours, catalog.units, table.one_row_per == ())
    columns = tuple((column.name, number) for number, column in enumerate(table.columns))
    part = Part(table.name if source.alias is None else source.alias, columns)
    return Scene(catalog, rows, Names((part,)), aggregates)


class PublicRows:
    """A public table under the name that it has in a subquery or a join. titles: of its columns, with their numbers,
    where these are not all under their own names."""

    def __init__(self, table: Table, name: str, titles: Sequence[tuple[str, int]] | None = None) -> None:
        self.table, self.name = table, name
        own = [(column.name, n) for n, column in enumerate(table.columns)]
        self.names = Names((Part(name, tuple(own if titles is None else titles)),))

    def column(self, name: syntax.Name | syntax.Cohort | syntax.Place) -> tuple[int, Column]:
        if not isinstance(name, syntax.Name):
            what = "a subquery" if isinstance(name, syntax.Cohort) else "ROW_NUMBER()"
            raise Refusal(f"{what} is not available in the subquery of a public table.", where=name.at,
                          cure="Write its condition in WHERE of the question itself, beside this one.")
        index = self.names.find(name)
        return index, self.table.columns[index]

    def reader(self, inside: str) -> Reader:
        return Reader(self.table, self.column, inside, INNER)

    def owns(self, part: syntax.Syntax) -> bool:
        """Whether every name of an expression means something here."""
        return all(self.names.speaks_of(one) for one in syntax.walk(part) if isinstance(one, syntax.Name))

    def columns(self, parts: Sequence[syntax.Syntax], inside: str) -> tuple[list[int], list[Made]]:
        """The numbers of these expressions among its columns and, after them, those that are computed; these. Raises
        Refusal."""
        return numbered(parts, self.reader(inside), self.table, called)

    def condition(self, parts: Sequence[syntax.Syntax]) -> Predicate | None:
        return self.reader("WHERE").predicate(syntax.chain("AND", list(parts))) if parts else None


def numbered(
    parts: Sequence[syntax.Syntax], reader: Reader, table: Table, worded: Callable[[syntax.Syntax], str]
) -> tuple[list[int], list[Made]]:
    """The numbers of these expressions among a table's columns and, after them, those that are computed; these. worded:
    what a computed one is called. Raises Refusal."""
    found, made = list[int](), list[Made]()
    for part in parts:
        typed = reader.value(part)
        if isinstance(typed.part, Field) and typed.type == table.columns[typed.part.index].type:
            found.append(typed.part.index)
            continue
        column = made_column(typed, worded(part))
        if column not in made:
            made.append(column)
        found.append(len(table.columns) + made.index(column))
    return found, made


def one_type(
    types: tuple[str, str], parts: tuple[syntax.Syntax, syntax.Syntax], at: str, *,
    named: tuple[str, str] | None = None, cure: str = "",
) -> None:
    """Refuse to compare values of two types. named: how the two are called, where not as they are written; cure: in the
    words of a front that is not SQL. Raises Refusal."""
    if types[0] == types[1]:
        return
    side = 0 if types[1] in SQL_TYPES else 1
    if types == ("float", "integer"):  # whole numbers are floats, too, and not the other way round
        side = 1
    part, put = parts[side], f"CAST({called(parts[side])} AS {SQL_TYPES.get(types[1 - side], 'TEXT')})"
    told = named or (called(parts[0]), called(parts[1]))
    raise Refusal(
        f"{told[0]} is {types[0]}, and {told[1]} is {types[1]}.", where=syntax.place(part) or at,
        cure=cure or f"Write {put}.",
        mends=() if cure or words(part) is None else (Mend(put, expression(part)),),
    )


def public_table_of(source: syntax.From, catalog: Catalog) -> Table | None:
    """The public table that a name in FROM means."""
    if not isinstance(source, syntax.Named):
        return None
    try:
        table = catalog.tables[find(source.name, source.quoted, [one.name for one in catalog.tables], what="table")]
    except Refusal:
        return None
    return None if table.private else table


def same_units(one: Scene, other: Scene, at: str) -> None:
    """Refuse two relations whose units have different types: they name different things."""
    types = [scene.table.columns[scene.facts.unit or 0].type for scene in (one, other)]
    if types[0] != types[1]:
        raise Refusal(
            f"the unit of {show(one.table.name)} is {types[0]}, and that of {show(other.table.name)} {types[1]}.",
            where=at, cure="The steward declares both units with one type, since they are the same ones.",
        )


def made_column(typed: Typed, name: str) -> Made:
    """A computed column. Raises Refusal."""
    type = own_type(typed)
    if type in ("null", "interval"):
        raise Refusal(
            f"a column of a subquery has no type: it is {'NULL' if type == 'null' else 'an interval'}.",
            cure="Give it one, as in CAST(NULL AS INTEGER).",
        )
    return Made(name, typed.as_type(type), "timestamp" if type == "local" else type)


def called(part: syntax.Syntax) -> str:
    """What a column is called in messages and derivations."""
    return words(part) or "an expression"
