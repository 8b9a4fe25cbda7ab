"""JOIN ... ON or USING: rows that the same units own beside each other, or with the rows of a public table.

A join that could make a unit's rows hang on another's, or one row many because of private data, is refused with the
way to write it. Checked in tests/plan/test_bind_relations.py.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

from dpcurator.catalog.model import Catalog
from dpcurator.errors import Mend, Refusal
from dpcurator.language import question as syntax
from dpcurator.language.expressions import not_available
from dpcurator.language.functions import ROW_FUNCTIONS
from dpcurator.language.names import quote, show
from dpcurator.language.render import expression, from_text, leaves, words
from dpcurator.language.rows import fields, moved_condition
from dpcurator.plan.bind_public_lists import PublicSide, public_side
from dpcurator.plan.folding import INNER
from dpcurator.plan.naming import Names, Part
from dpcurator.plan.relation_facts import check_made, check_size, facts
from dpcurator.plan.relations import JoinOnUnit, JoinPublic, Relation, Where
from dpcurator.plan.scene import SQL_TYPES, PublicRows, Scene, Subqueries, called, one_type, same_units

LONGEST_CURE: Final = 400  # letters of a subquery in a cure


def joined(source: syntax.Join, catalog: Catalog, aggregates: Collection[str], subqueries: Subqueries) -> Scene:
    """JOIN ... ON or USING, of rows that the same units own. Raises Refusal."""
    public = [public_side(side, catalog) for side in (source.left, source.right)]
    if public[1] is not None and public[0] is None:
        return _joined_to_public(source, public[1], catalog, aggregates, subqueries)
    if public[0] is not None and public[1] is None:
        turned = replace(source, left=source.right, right=source.left, turned=not source.turned)
        if source.kind == "LEFT":
            put = from_text(replace(turned, turned=False))
            raise Refusal(
                f"the join keeps rows of the public table {show(public[0].rows.table.name)} that meet no other row: "
                "nobody owns them.", where=source.at, cure=f"Keep those of the other side: {put}.",
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
            where=source.at, cure=f"Add {mine} = {its} to ON.", mends=_with_units(source, one, other),
        )
    pairs = [(a, b) for a, b in pairs if not (one.is_unit(a) and other.is_unit(b))]
    on, other_on = one.columns([a for a, _ in pairs], "ON"), other.columns([b for _, b in pairs], "ON")
    for (a, b), parts in zip(zip(on, other_on, strict=True), pairs, strict=True):
        _one_type(source, (one.table.columns[a].type, other.table.columns[b].type), parts, one, other)
    more = list(dict.fromkeys(zip(on, other_on, strict=True)))
    unique = other.facts.unique
    if unique is None or not unique <= {b for _, b in more}:
        raise _several(source, other, {b for _, b in more})
    size = len(one.table.columns)
    relation = JoinOnUnit(
        one.relation, other.relation, tuple(a for a, _ in more), tuple(b for _, b in more), source.kind == "LEFT")
    check_size(relation)
    parts_ = [replace(part, columns=tuple((title, size + index) for title, index in part.columns),
                      hidden=frozenset(size + index for index in (*part.hidden, *hidden)))
              for part in other.names.parts]
    return Scene(catalog, relation, _side_by_side(source, one.names.parts, parts_), aggregates)


def _joined_to_public(
    source: syntax.Join, side: PublicSide, catalog: Catalog, aggregates: Collection[str], subqueries: Subqueries
) -> Scene:
    """Rows, each with the public rows that have equal values. What a subquery of a public table leaves out it leaves
    out of the rows joined: the pairs that are left are the same, where no row stays alone. Raises Refusal."""
    one = subqueries.source(source.left, catalog, aggregates)
    other, table = side.rows, side.rows.table
    if source.kind == "LEFT" and side.where is not None:
        raise Refusal(
            f"a condition on the public table {show(table.name)} in a subquery of LEFT JOIN is not available.",
            where=side.at or source.at, cure="Write JOIN, which leaves out the rows that meet none; or leave the "
            "condition out, and write CASE WHEN condition THEN column END where a column of it is used.",
            mends=() if source.turned else (Mend("JOIN", "LEFT JOIN"),),
        )
    if one.facts.unit is None:
        raise Refusal(
            "each row is a unit of its own here, and a join could make several of it.", where=source.at,
            cure="Ask of one table.",
        )
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
        _one_type(source, (one.table.columns[a].type, every[b]), parts, one, other)
    both = list(dict.fromkeys(zip(on, other_on, strict=True)))
    single = any(b < len(table.columns) and table.columns[b].unique for _, b in both)
    size = len(one.table.columns)
    met = JoinPublic(one.relation, table.name, tuple(a for a, _ in both), tuple(b for _, b in both),
                          source.kind == "LEFT", single, tuple(made))
    check_size(met)
    check_made(met, catalog, source.at)
    relation: Relation = met
    named = other.names.parts[0].columns
    moved = Part(other.name, tuple((title, size + n) for title, n in named), frozenset(size + n for n in hidden))
    if side.where is not None:
        used = sorted(fields(side.where))
        below = moved_condition(side.where, {n: size + n for n in used})
        joined = facts(relation, catalog).table.columns  # under names of their own, where the other side has such too
        relation = Where(relation, below, tuple(joined[size + n].name for n in used))
        check_size(relation)
    return Scene(catalog, relation, _side_by_side(source, one.names.parts, [moved]), aggregates)


def _side_by_side(source: syntax.Join, one: Sequence[Part], other: Sequence[Part]) -> Names:
    """The names of both sides, in the order in which the question has the two."""
    return Names((*other, *one), loose=bool(source.using)) if source.turned else Names((*one, *other))


def _pairs(source: syntax.Join, one: Names, other: Names) -> list[tuple[syntax.Syntax, syntax.Syntax]]:
    """What a join compares: expressions of the left side with such of the right. Raises Refusal."""
    if source.using:
        return [(name, name) for name in source.using]
    size = 1 + max((index for part in one.parts for _, index in part.columns), default=0)
    both = Names((*one.parts, *(replace(
        part, columns=tuple((title, size + index) for title, index in part.columns),
        hidden=frozenset(size + index for index in part.hidden)) for part in other.parts)))
    pairs = []
    for part in [] if source.on is None else leaves(source.on, "AND"):
        sides = [part.left, part.right] if isinstance(part, syntax.Binary) and part.op == "=" else []
        if any(isinstance(inner, syntax.Cohort | syntax.Place) for side in sides for inner in syntax.walk(side)):
            sides = []
        names = [[one for one in syntax.walk(side) if isinstance(one, syntax.Name)] for side in sides]
        found = [{both.find(name) < size for name in some} for some in names]
        if found not in ([{True}, {False}], [{False}, {True}]):
            for inner in syntax.walk(part):
                if isinstance(inner, syntax.Call) and inner.function not in (*ROW_FUNCTIONS, *INNER):
                    raise not_available(inner)
            raise Refusal(
                "ON takes equalities of the one side's values with the other's, joined by AND.",
                where=syntax.place(part) or source.at,
                cure=f"Write WHERE {called(part)} instead." if source.kind == "INNER" and words(part) is not None else
                "Leave it out of ON: write it in WHERE, or in a subquery of the one side.",
            )
        pairs.append((sides[0], sides[1]) if found[0] == {True} else (sides[1], sides[0]))
    return pairs


def _one_type(
    source: syntax.Join, types: tuple[str, str], parts: tuple[syntax.Syntax, syntax.Syntax], one: Scene,
    other: Scene | PublicRows,
) -> None:
    """Refuse to compare values of two types. Raises Refusal."""
    told = _told(one, parts[0]), _told(other, parts[1])
    try:
        one_type(types, parts, source.at, cure=source.one_type, named=told)
    except Refusal as refused:
        if not source.using or source.one_type:
            raise
        pairs = []
        for name in source.using:
            right: syntax.Syntax = _qualified(other, name)
            if (name, name) == parts and types[0] in SQL_TYPES:
                right = syntax.Cast(right, SQL_TYPES[types[0]])
            pairs.append(syntax.Binary("=", _qualified(one, name), right))
        again = syntax.chain("AND", [*pairs])
        put = f"ON {words(again) or '...'}"
        raise Refusal(refused.what, where=source.at, cure=f"Write {put}.", mends=_in_place_of_using(source, put)) \
            from None


def _qualified(side: Scene | PublicRows, name: syntax.Name) -> syntax.Name:
    """The column with its table before it."""
    index = side.names.find(name)
    before = next(part.name for part in side.names.parts if any(index == at for _, at in part.columns))
    return syntax.Name(name.column, name.quoted, before, before is not None and quote(before) != before)


def _in_place_of_using(source: syntax.Join, put: str) -> tuple[Mend, ...]:
    return (Mend(put, f"USING ({', '.join(expression(name) for name in source.using)})"),)


def _with_units(source: syntax.Join, one: Scene, other: Scene) -> tuple[Mend, ...]:
    """The join with the two units among what it compares."""
    units = syntax.Binary("=", _unit_of(one), _unit_of(other))
    if source.using:
        pairs: list[syntax.Syntax] = [
            syntax.Binary("=", _qualified(one, name), _qualified(other, name)) for name in source.using
        ]
        return _in_place_of_using(source, f"ON {expression(syntax.chain('AND', [*pairs, units]))}")
    if source.on is None or words(source.on) is None:
        return ()
    return (Mend(expression(syntax.chain("AND", [*leaves(source.on, "AND"), units])), expression(source.on)),)


def _unit_of(side: Scene) -> syntax.Name:
    """The unit with its table before it."""
    unit = side.facts.unit
    for part in side.names.parts:
        for title, index in part.columns:
            if index == unit:
                return syntax.Name(title, quote(title) != title, part.name, part.name is not None and
                                   quote(part.name) != part.name)
    return syntax.Name(side.table.columns[unit or 0].name, True)


def _several(source: syntax.Join, other: Scene, compared: set[int]) -> Refusal:
    """The refusal of a right side with several rows of a unit, with the subquery that has one."""
    part, unit = other.names.parts[0], other.facts.unit
    titles = {index: title for title, index in part.columns}
    keys = [quote(titles.get(index, other.table.columns[index].name)) for index in (unit or 0, *sorted(compared))
            if index in titles or index == unit]
    picked = [f"MIN({quote(title)}) AS {quote(title)}" for index, title in titles.items()
              if index != unit and index not in compared][:2]
    name, inside = part.name or other.table.name, from_text(source.right)
    put = f"(SELECT {', '.join([*keys, *picked])} FROM {inside} GROUP BY {', '.join(keys)}) AS {quote(name)}"
    if isinstance(source.right, syntax.Named):
        put = put.replace(f" FROM {inside} GROUP", f" FROM {quote(other.table.name)} GROUP")
    return Refusal(
        f"a person may have several rows in {show(name)}, so a row could become many.", where=source.at,
        cure=source.one_row or f"Join one row for each person: {put}.",
        mends=() if source.one_row or len(put) > LONGEST_CURE else (Mend(put, inside),),
    )


def _told(side: Scene | PublicRows, part: syntax.Syntax) -> str:
    """What is compared, a column with its table before it."""
    if not isinstance(part, syntax.Name):
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
