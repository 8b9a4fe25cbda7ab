"""Cohorts: IN (SELECT ...), NOT IN, EXISTS and NOT EXISTS, as conditions on the unit, or a Refusal.

Checked in tests/plan/test_bind_relations.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from dpcurator.errors import Mend, Refusal
from dpcurator.language import question as syntax
from dpcurator.language.functions import ROW_FUNCTIONS
from dpcurator.language.names import quote, show
from dpcurator.language.render import expression, leaves, words
from dpcurator.plan.bind_public_lists import in_public, public_query
from dpcurator.plan.folding import INNER
from dpcurator.plan.relations import InCohort, Relation
from dpcurator.plan.scene import Scene, Subqueries, called, same_units


def mark(scene: Scene, parts: Iterable[syntax.Syntax], subqueries: Subqueries) -> None:
    """Bind the cohorts of these expressions, each as one more column. Raises Refusal."""
    for cohort in [one for part in parts for one in syntax.walk(part) if isinstance(one, syntax.Cohort)]:
        if cohort in scene.marks:
            continue
        public = public_query(cohort.query, scene.catalog)
        if public is not None:
            if cohort.part is None:
                _exists_of_rows(public[0])
            else:
                mark(scene, [cohort.part], subqueries)
            scene.marks[cohort] = scene.add(in_public(scene, cohort, *public))
            continue
        if isinstance(cohort.query, syntax.Stacked) and any(
            public_query(one, scene.catalog) for one in cohort.query.parts
        ):
            raise Refusal(
                "UNION ALL of rows of a public table is not available.", where=cohort.at or cohort.query.at,
                cure="Write it with one list each: x IN (SELECT ...) OR x IN (SELECT ...).",
            )
        among = _cohort(scene, cohort, subqueries)
        scene.marks[cohort] = scene.add(InCohort(scene.relation, among))


def _cohort(scene: Scene, cohort: syntax.Cohort, subqueries: Subqueries) -> Relation:
    """The relation whose units are the cohort."""
    unit = scene.facts.unit
    if unit is None:
        raise Refusal(
            f"each row of {show(scene.table.name)} is a unit of its own: it has no others to be in a cohort with.",
            where=cohort.at, cure="Write the condition in WHERE itself.",
        )
    query = cohort.query
    if isinstance(query, syntax.Stacked):
        query = syntax.Select((syntax.Everything(),), syntax.Inner(query), weight=0)
        if cohort.part is None:
            raise Refusal(
                "UNION ALL in the subquery of EXISTS is not available.", where=cohort.at,
                cure="Write EXISTS (...) OR EXISTS (...).",
            )
    if cohort.part is None:
        inner = subqueries.source(query.source, scene.catalog, INNER)
        _same_owners(scene, inner, cohort.at)
        return _of_exists(scene, cohort, query, inner, subqueries)
    return _of_in(scene, cohort, query, subqueries)


def _of_in(scene: Scene, cohort: syntax.Cohort, query: syntax.Select, subqueries: Subqueries) -> Relation:
    """The relation of unit IN (SELECT unit ...)."""
    refused = list[Refusal]()

    def seen(inner: Scene) -> None:
        """What is looked at before the rest of the subquery is bound, of what it reads."""
        _same_owners(scene, inner, cohort.at)
        _no_outer_names(scene, cohort, query, inner)
        other, put = quote(inner.table.unit or ""), _in_text(scene, query, inner)
        cure = f"Write {put or f'{quote(scene.table.unit or str())} IN (SELECT {other} FROM ... WHERE ...)'}"
        mends = () if words(cohort) is None or put is None else (Mend(put, expression(cohort)),)
        if cohort.part is not None and not scene.is_unit(cohort.part):
            raise Refusal(
                "IN (SELECT ...) is available only for the protected unit.",
                where=syntax.place(cohort.part) or cohort.at,
                cure=f"{cure}; a list of values goes after IN as it is.", mends=mends,
            )
        refused.append(Refusal(
            f"the subquery after IN gives something else than {other}, the unit of {show(inner.table.name)}.",
            where=cohort.at, cure=f"{cure}.", mends=mends,
        ))

    made = subqueries.query(query, scene.catalog, cohort.at, seen)
    titles = made.names.parts[0].columns
    if len(titles) != 1 or titles[0][1] != made.facts.unit:
        raise refused[0]
    return made.relation


def _same_owners(scene: Scene, inner: Scene, at: str) -> None:
    """Refuse a subquery whose rows other units own. Raises Refusal."""
    if inner.facts.unit is None:
        raise Refusal(
            f"each row of {show(inner.table.name)} is a unit of its own: no unit of {show(scene.table.name)} has "
            "any there.", where=at, cure="Use a table whose rows are owned by the same units.",
        )
    same_units(scene, inner, at)


def _of_exists(
    scene: Scene, cohort: syntax.Cohort, query: syntax.Select, inner: Scene, subqueries: Subqueries
) -> Relation:
    """The relation of EXISTS: what its subquery reads, under the conditions but the one that ties it to the unit."""
    owner, other = quote(scene.table.unit or ""), quote(inner.table.unit or "")
    _exists_of_rows(query, f"{owner} IN (SELECT {other} FROM {quote(inner.table.name)} WHERE ...)")
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
    _selected(query, inner, scene, subqueries)
    conditions = [] if query.where is None else leaves(query.where, "AND")
    own = [one for one in conditions if _correlates(scene, one, inner)]
    if len(own) != 1:
        put = _tied(scene, cohort, query, inner)
        raise Refusal(
            "EXISTS is available only where the subquery's rows are those of the same unit.", where=cohort.at,
            cure=f"Compare the two units once in its WHERE, each with its table before it: {put or '...'}.",
            mends=() if put is None else (Mend(put, expression(cohort)),),
        )
    rest = [one for one in conditions if one is not own[0]]
    _no_outer_names(scene, cohort, replace(query, items=(), where=syntax.chain("AND", rest) if rest else None), inner)
    if rest:
        mark(inner, rest, subqueries)
        inner.where(syntax.chain("AND", rest))
    return inner.relation


def _no_outer_names(scene: Scene, cohort: syntax.Cohort, query: syntax.Select, inner: Scene) -> None:
    """Refuse a subquery that looks at the row of the question around it, but for its unit. Raises Refusal."""
    parts = [*(item.part for item in query.items if isinstance(item, syntax.Item)), *query.group_by]
    parts += [one for one in (query.where, query.having, query.qualify) if one is not None]
    titles = {item.alias.lower() for item in query.items if isinstance(item, syntax.Item) and item.alias is not None}
    for part in parts:
        for leaf in leaves(part, "AND"):
            for name in [one for one in syntax.walk(leaf) if isinstance(one, syntax.Name)]:
                an_alias = name.table is None and name.column.lower() in titles
                if an_alias or inner.names.speaks_of(name) or not scene.names.has(name):
                    continue
                raise Refusal(
                    f"{called(name)} is a column of the question around the subquery, which may look at its unit "
                    "alone.", where=name.at or cohort.at, cure=_joined_instead(scene, inner, leaf),
                )


def _joined_instead(scene: Scene, inner: Scene, leaf: syntax.Syntax) -> str:
    """How what is compared in a subquery is joined: the greatest or least of each unit, or each value once."""
    sides = [leaf.left, leaf.right] if isinstance(leaf, syntax.Binary) and leaf.op in _TURNED else []
    names = [[one for one in syntax.walk(side) if isinstance(one, syntax.Name)] for side in sides]
    mine = next((n for n, side in enumerate(sides)
                 if isinstance(side, syntax.Name) and inner.names.speaks_of(side)), None)
    unit, whose = quote(inner.table.unit or ""), called(_unit_of(scene) or syntax.Name(scene.table.unit or ""))
    if mine is None or not names[1 - mine] or any(map(inner.names.speaks_of, names[1 - mine])):
        return (f"Join one row of each unit, as in JOIN (SELECT {unit}, MIN(...) AS least FROM "
                f"{quote(inner.table.name)} GROUP BY {unit}) AS own ON own.{unit} = {whose}, and compare in WHERE.")
    column, other = sides[mine], called(sides[1 - mine])
    assert isinstance(leaf, syntax.Binary)
    assert isinstance(column, syntax.Name)
    op = leaf.op if mine == 0 else _TURNED[leaf.op]
    name, table = quote(column.column), quote(inner.table.name)
    if op == "=":
        return (f"Join each value once: JOIN (SELECT DISTINCT {unit}, {name} FROM {table}) AS own "
                f"ON own.{unit} = {whose} AND own.{name} = {other}.")
    fold = "MAX" if op in (">", ">=") else "MIN"
    return (f"Join what decides it: JOIN (SELECT {unit}, {fold}({name}) AS {name} FROM {table} GROUP BY {unit}) AS own "
            f"ON own.{unit} = {whose}, and write WHERE own.{name} {op} {other}.")


def _in_text(scene: Scene, query: syntax.Select, inner: Scene) -> str | None:
    """unit IN (SELECT unit FROM the same rows)."""
    titles = [title for part in inner.names.parts for title, index in part.columns if index == inner.facts.unit]
    if not titles:
        return None
    title = syntax.Name(titles[0], quote(titles[0]) != titles[0])
    made = syntax.Select((syntax.Item(title, None, title.column),), query.source, query.where)
    part = next((one for one in scene.names.parts for _, index in one.columns if index == scene.facts.unit), None)
    owner = next((title for title, index in part.columns if index == scene.facts.unit), "") if part else ""
    return words(syntax.Cohort(syntax.Name(owner, quote(owner) != owner), made))


def _tied(scene: Scene, cohort: syntax.Cohort, query: syntax.Select, inner: Scene) -> str | None:
    """EXISTS with the two units compared, and such conditions as look at its own rows; None where no names can."""
    mine, its = _unit_of(scene), _unit_of(inner)
    if mine is None or its is None or inner.names.speaks_of(mine):
        return None
    kept = [one for one in ([] if query.where is None else leaves(query.where, "AND"))
            if all(inner.names.speaks_of(name) for name in syntax.walk(one) if isinstance(name, syntax.Name))]
    where = syntax.chain("AND", [syntax.Binary("=", its, mine), *kept])
    put = words(replace(cohort, query=replace(query, where=where)))
    return None if put is None else put.replace('SELECT 1 AS "1" ', "SELECT 1 ")


def _unit_of(side: Scene) -> syntax.Name | None:
    """The unit with its table before it."""
    return next((syntax.Name(title, quote(title) != title, part.name, quote(part.name) != part.name)
                 for part in side.names.parts for title, index in part.columns
                 if index == side.facts.unit and part.name is not None), None)


_TURNED: Final[dict[str, str]] = {">": "<", ">=": "<=", "<": ">", "<=": ">=", "=": "="}


def _selected(query: syntax.Select, inner: Scene, outer: Scene, subqueries: Subqueries) -> None:
    """Read what EXISTS selects, though it plays no part: else a misspelled name would go unnoticed. Raises Refusal."""
    probe = replace(inner, marks={})  # so that what the list computes is no part of the cohort
    for item in query.items:
        if isinstance(item, syntax.Everything):
            of = syntax.Name("", table=item.table, table_quoted=item.table_quoted)
            if item.table is not None and not inner.names.speaks_of(of):
                raise Refusal(f"{show(item.table)} is not a table of this subquery.", where=item.at,
                              cure="Write EXISTS (SELECT 1 FROM ...).")
            continue
        named = [one for one in syntax.walk(item.part) if isinstance(one, syntax.Name)]
        others = [one for one in named if not inner.names.speaks_of(one)]
        for name in others:
            outer.column(name)
        if not others:
            mark(probe, [item.part], subqueries)
            probe.number([item.part])
            probe.reader("SELECT").value(item.part)


def _correlates(scene: Scene, part: syntax.Syntax, inner: Scene) -> bool:
    """Whether it says that the inner unit is the outer one: one side a name of the subquery, the other not."""
    if not (isinstance(part, syntax.Binary) and part.op == "="):
        return False
    pairs = ((part.left, part.right), (part.right, part.left))
    return any(
        inner.is_unit(one) and isinstance(other, syntax.Name) and not inner.names.speaks_of(other)
        and scene.is_unit(other)
        for one, other in pairs
    )


def _exists_of_rows(query: syntax.Select, way: str = "") -> None:
    """Refuse EXISTS (SELECT COUNT(*) ...): an aggregate has a row even where nothing is, so it would always be true."""
    parts = [item.part for item in query.items if isinstance(item, syntax.Item)]
    for call in [one for part in parts for one in syntax.walk(part) if isinstance(one, syntax.Call)]:
        if call.function not in ROW_FUNCTIONS:
            raise Refusal(
                f"EXISTS asks whether there are rows, and {call.function} makes one even of none.", where=call.at,
                cure="Write EXISTS (SELECT 1 FROM ...)" + (
                    f"; or for a condition on it, {way[:-1].split(' WHERE')[0]} GROUP BY ... HAVING ...)." if way
                    else "."),
            )
