"""JOIN ... ON or USING: rows that the same units own beside each other, or with the rows of a public table.

A join that could make a unit's rows hang on another's, or one row many because of private data, is refused with the
way to write it. Checked in tests/plan/test_bind_relations.py.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from dpcurator.catalog.model import Catalog, Table
from dpcurator.errors import Refusal
from dpcurator.language.names import quote, show
from dpcurator.language.question import Binary, Cohort, Join, Name, Named, Place, Syntax, place, walk
from dpcurator.language.render import from_text, leaves, words
from dpcurator.plan.naming import Names, Part
from dpcurator.plan.relation_facts import check_made, check_size
from dpcurator.plan.relations import JoinOnUnit, JoinPublic
from dpcurator.plan.scene import PublicRows, Scene, Subqueries, called, one_type, public_table_of, same_units


def joined(source: Join, catalog: Catalog, aggregates: Collection[str], subqueries: Subqueries) -> Scene:
    """JOIN ... ON or USING, of rows that the same units own. Raises Refusal."""
    public = [public_table_of(side, catalog) for side in (source.left, source.right)]
    if public[1] is not None and public[0] is None:
        return _joined_to_public(source, public[1], catalog, aggregates, subqueries)
    if public[0] is not None and public[1] is None:
        turned = replace(source, left=source.right, right=source.left, turned=not source.turned)
        if source.kind == "LEFT":
            put = from_text(replace(turned, turned=False))
            raise Refusal(
                f"the join keeps rows of the public table {show(public[0].name)} that meet no other row: nobody owns "
                "them.", where=source.at, cure=f"Keep those of the other side: {put}.",
            )
        return _joined_to_public(turned, public[0], catalog, aggregates, subqueries)
    one, other = (subqueries.source(side, catalog, aggregates) for side in (source.left, source.right))
    if one.facts.unit is None or other.facts.unit is None:
        raise Refusal(
            "each row is a unit of its own here: it has no rows elsewhere to be joined with.", where=source.at,
            cure="Ask of one table.",
        )
    same_units(one, other, source.at)
    _distinct_parts(one, other, source.at)
    pairs = _pairs(source, one.names, other.names)
    hidden = [other.names.find(name) for name in source.using]
    mine, its = (_spelled(scene, scene.facts.unit or 0) for scene in (one, other))
    if not any(one.is_unit(a) and other.is_unit(b) for a, b in pairs):
        raise Refusal(
            "a join of private tables compares their units, so that a person's rows meet rows of the same person only.",
            where=source.at, cure=f"Add {mine} = {its} to ON.",
        )
    pairs = [(a, b) for a, b in pairs if not (one.is_unit(a) and other.is_unit(b))]
    on, other_on = one.columns([a for a, _ in pairs], "ON"), other.columns([b for _, b in pairs], "ON")
    for (a, b), parts in zip(zip(on, other_on, strict=True), pairs, strict=True):
        one_type((one.table.columns[a].type, other.table.columns[b].type), parts, source.at, cure=source.one_type,
                 named=(_told(one, parts[0]), _told(other, parts[1])))
    more = list(dict.fromkeys(zip(on, other_on, strict=True)))
    unique = other.facts.unique
    if unique is None or not unique <= {b for _, b in more}:
        unit = other.facts.unit
        columns = [title for title, index in other.names.parts[0].columns if index != unit][:2]
        title = next((title for title, index in other.names.parts[0].columns if index == unit), its)
        picked = "".join(f", MIN({quote(name)}) AS {quote(name)}" for name in columns)
        name = other.names.parts[0].name or other.table.name
        put = f"(SELECT {quote(title)}{picked} FROM {quote(other.table.name)} GROUP BY {quote(title)}) AS {quote(name)}"
        raise Refusal(
            f"a person may have several rows in {show(name)}, so a row could become many.", where=source.at,
            cure=source.one_row or f"Join one row for each person: {put}.",
        )
    size = len(one.table.columns)
    relation = JoinOnUnit(
        one.relation, other.relation, tuple(a for a, _ in more), tuple(b for _, b in more), source.kind == "LEFT")
    check_size(relation)
    parts_ = [replace(part, columns=tuple((title, size + index) for title, index in part.columns),
                      hidden=frozenset(size + index for index in (*part.hidden, *hidden)))
              for part in other.names.parts]
    return Scene(catalog, relation, _side_by_side(source, one.names.parts, parts_), aggregates)


def _joined_to_public(
    source: Join, table: Table, catalog: Catalog, aggregates: Collection[str], subqueries: Subqueries
) -> Scene:
    """Rows, each with the public rows that have equal values. Raises Refusal."""
    one = subqueries.source(source.left, catalog, aggregates)
    assert isinstance(source.right, Named)
    if one.facts.unit is None:
        raise Refusal(
            "each row is a unit of its own here, and a join could make several of it.", where=source.at,
            cure="Ask of one table.",
        )
    other = PublicRows(table, source.right.alias or table.name)
    if any((known.name or "").lower() == other.name.lower() for known in one.names.parts):
        raise Refusal(
            f"two tables of the join are called {show(other.name)}.", where=source.at,
            cure=f"Give one another name: JOIN {quote(table.name)} AS {quote('other')}.",
        )
    pairs = _pairs(source, one.names, other.names)
    hidden = [other.names.find(name) for name in source.using]
    if not pairs:
        raise Refusal("a join compares columns.", where=source.at, cure="Write ON one.column = other.column.")
    on = one.columns([a for a, _ in pairs], "ON")
    other_on, made = other.columns([b for _, b in pairs], "ON")
    every = [*(column.type for column in table.columns), *(column.type for column in made)]
    for (a, b), parts in zip(zip(on, other_on, strict=True), pairs, strict=True):
        one_type((one.table.columns[a].type, every[b]), parts, source.at, cure=source.one_type,
                 named=(_told(one, parts[0]), _told(other, parts[1])))
    both = list(dict.fromkeys(zip(on, other_on, strict=True)))
    single = any(b < len(table.columns) and table.columns[b].unique for _, b in both)
    size = len(one.table.columns)
    relation = JoinPublic(one.relation, table.name, tuple(a for a, _ in both), tuple(b for _, b in both),
                          source.kind == "LEFT", single, tuple(made))
    check_size(relation)
    check_made(relation, catalog, source.at)
    moved = Part(other.name, tuple((column.name, size + n) for n, column in enumerate(table.columns)),
                 frozenset(size + n for n in hidden))
    return Scene(catalog, relation, _side_by_side(source, one.names.parts, [moved]), aggregates)


def _side_by_side(source: Join, one: Sequence[Part], other: Sequence[Part]) -> Names:
    """The names of both sides, in the order in which the question has the two."""
    return Names((*other, *one), loose=bool(source.using)) if source.turned else Names((*one, *other))


def _pairs(source: Join, one: Names, other: Names) -> list[tuple[Syntax, Syntax]]:
    """What a join compares: expressions of the left side with such of the right. Raises Refusal."""
    if source.using:
        return [(name, name) for name in source.using]
    size = 1 + max((index for part in one.parts for _, index in part.columns), default=0)
    both = Names((*one.parts, *(replace(
        part, columns=tuple((title, size + index) for title, index in part.columns),
        hidden=frozenset(size + index for index in part.hidden)) for part in other.parts)))
    pairs = []
    for part in [] if source.on is None else leaves(source.on, "AND"):
        sides = [part.left, part.right] if isinstance(part, Binary) and part.op == "=" else []
        if any(isinstance(inner, Cohort | Place) for side in sides for inner in walk(side)):
            sides = []
        found = [{both.find(name) < size for name in walk(side) if isinstance(name, Name)} for side in sides]
        if found not in ([{True}, {False}], [{False}, {True}]):
            raise Refusal(
                "ON takes equalities of the one side's values with the other's, joined by AND.",
                where=place(part) or source.at,
                cure=f"Write WHERE {called(part)} instead." if source.kind == "INNER" and words(part) is not None else
                "Leave it out of ON: write it in WHERE, or in a subquery of the one side.",
            )
        pairs.append((sides[0], sides[1]) if found[0] == {True} else (sides[1], sides[0]))
    return pairs


def _told(side: Scene | PublicRows, part: Syntax) -> str:
    """What is compared, a column with its table before it."""
    if not isinstance(part, Name):
        return called(part)
    index = side.names.find(part)
    if isinstance(side, PublicRows):
        return f"{quote(side.table.name)}.{quote(side.table.columns[index].name)}"
    return _spelled(side, index)


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
