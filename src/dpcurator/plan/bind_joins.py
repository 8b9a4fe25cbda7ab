"""JOIN ... ON or USING: rows that the same units own beside each other, or with the rows of a public table.

A join that could make a unit's rows hang on another's, or one row many because of private data, is refused with the
way to write it. Checked in tests/plan/test_bind_relations.py.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from dpcurator.catalog.model import Catalog, Table
from dpcurator.errors import Refusal
from dpcurator.language.names import quote, show
from dpcurator.language.question import Binary, Join, Name, Named, place
from dpcurator.language.render import leaves
from dpcurator.plan.naming import Names, Part
from dpcurator.plan.relation_facts import check_made, check_size
from dpcurator.plan.relations import JoinOnUnit, JoinPublic
from dpcurator.plan.scene import Scene, Subqueries, public_table_of, same_units


def joined(source: Join, catalog: Catalog, aggregates: Collection[str], subqueries: Subqueries) -> Scene:
    """JOIN ... ON or USING, of rows that the same units own. Raises Refusal."""
    public = [public_table_of(side, catalog) for side in (source.left, source.right)]
    if public[1] is not None and public[0] is None:
        return _joined_to_public(source, public[1], catalog, aggregates, subqueries)
    if public[0] is not None and public[1] is None and source.kind == "INNER":
        turned = replace(source, left=source.right, right=source.left)
        return _joined_to_public(turned, public[0], catalog, aggregates, subqueries)
    if public[0] is not None and public[1] is None:
        name = quote(public[0].name)
        raise Refusal(
            f"{show(public[0].name)} is public, and rows that units own come first: LEFT JOIN keeps the left side's.",
            where=source.at, cure=f"Write FROM private LEFT JOIN {name} ON ...; values of {name} that no row has are "
            "answered as groups all the same.",
        )
    one, other = (subqueries.source(side, catalog, aggregates) for side in (source.left, source.right))
    if one.facts.unit is None or other.facts.unit is None:
        raise Refusal(
            "each row is a unit of its own here: it has no rows elsewhere to be joined with.", where=source.at,
            cure="Ask of one table.",
        )
    same_units(one, other, source.at)
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
