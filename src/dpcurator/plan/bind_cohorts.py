"""Cohorts: IN (SELECT ...), NOT IN, EXISTS and NOT EXISTS, as conditions on the unit, or a Refusal.

Checked in tests/plan/test_bind_relations.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from dpcurator.errors import Refusal
from dpcurator.language.functions import ROW_FUNCTIONS
from dpcurator.language.names import quote, show
from dpcurator.language.question import (
    Binary,
    Call,
    Cohort,
    Everything,
    Inner,
    Item,
    Name,
    Select,
    Stacked,
    Syntax,
    place,
    walk,
)
from dpcurator.language.render import chain, leaves
from dpcurator.plan.bind_public_lists import in_public
from dpcurator.plan.folding import INNER
from dpcurator.plan.relations import InCohort, Relation
from dpcurator.plan.scene import Scene, Subqueries, public_table_of, same_units


def mark(scene: Scene, parts: Iterable[Syntax], subqueries: Subqueries) -> None:
    """Bind the cohorts of these expressions, each as one more column. Raises Refusal."""
    for cohort in [one for part in parts for one in walk(part) if isinstance(one, Cohort)]:
        if cohort in scene.marks:
            continue
        query, public = cohort.query, None
        if isinstance(query, Select):
            public = public_table_of(query.source, scene.catalog)
        if isinstance(query, Select) and public is not None:
            if cohort.part is None:
                _exists_of_rows(query)
            else:
                mark(scene, [cohort.part], subqueries)
            scene.marks[cohort] = scene.add(in_public(scene, cohort, query, public))
            continue
        among = _cohort(scene, cohort, subqueries)
        scene.marks[cohort] = scene.add(InCohort(scene.relation, among))


def _cohort(scene: Scene, cohort: Cohort, subqueries: Subqueries) -> Relation:
    """The relation whose units are the cohort."""
    unit = scene.facts.unit
    if unit is None:
        raise Refusal(
            f"each row of {show(scene.table.name)} is a unit of its own: it has no others to be in a cohort with.",
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
    if cohort.part is None:
        inner = subqueries.source(query.source, scene.catalog, INNER)
    else:
        inner = subqueries.query(query, scene.catalog, cohort.at)
    owner = quote(scene.table.unit or "")
    if inner.facts.unit is None:
        raise Refusal(
            f"each row of {show(inner.table.name)} is a unit of its own: no unit of {show(scene.table.name)} has "
            "any there.", where=cohort.at, cure="Use a table whose rows are owned by the same units.",
        )
    same_units(scene, inner, cohort.at)
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
        _selected(query, inner, scene, subqueries)
        own = [one for one in conditions if _correlates(scene, one, inner)]
        if len(own) != 1:
            raise Refusal(
                "EXISTS is available only where the subquery's rows are those of the same unit.", where=cohort.at,
                cure=f"Write {way}, or compare the two units once in its WHERE, each with its table before it.",
            )
        conditions = [one for one in conditions if one is not own[0]]
    elif not scene.is_unit(cohort.part):
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
        mark(inner, [condition], subqueries)
        inner.where(condition)
    return inner.relation


def _selected(query: Select, inner: Scene, outer: Scene, subqueries: Subqueries) -> None:
    """Read what EXISTS selects, though it plays no part: else a misspelled name would go unnoticed. Raises Refusal."""
    probe = replace(inner, marks={})  # so that what the list computes is no part of the cohort
    for item in query.items:
        if isinstance(item, Everything):
            of = Name("", table=item.table, table_quoted=item.table_quoted)
            if item.table is not None and not inner.names.speaks_of(of):
                raise Refusal(f"{show(item.table)} is not a table of this subquery.", where=item.at,
                              cure="Write EXISTS (SELECT 1 FROM ...).")
            continue
        others = [one for one in walk(item.part) if isinstance(one, Name) and not inner.names.speaks_of(one)]
        for name in others:
            outer.column(name)
        if not others:
            mark(probe, [item.part], subqueries)
            probe.number([item.part])
            probe.reader("SELECT").value(item.part)


def _correlates(scene: Scene, part: Syntax, inner: Scene) -> bool:
    """Whether it says that the inner unit is the outer one: one side a name of the subquery, the other not."""
    if not (isinstance(part, Binary) and part.op == "="):
        return False
    pairs = ((part.left, part.right), (part.right, part.left))
    return any(
        inner.is_unit(one) and isinstance(other, Name) and not inner.names.speaks_of(other) and scene.is_unit(other)
        for one, other in pairs
    )


def _exists_of_rows(query: Select, way: str = "") -> None:
    """Refuse EXISTS (SELECT COUNT(*) ...): an aggregate has a row even where nothing is, so it would always be true."""
    parts = [item.part for item in query.items if isinstance(item, Item)]
    for call in [one for part in parts for one in walk(part) if isinstance(one, Call)]:
        if call.function not in ROW_FUNCTIONS:
            raise Refusal(
                f"EXISTS asks whether there are rows, and {call.function} makes one even of none.", where=call.at,
                cure="Write EXISTS (SELECT 1 FROM ...)" + (
                    f"; or for a condition on it, {way[:-1].split(' WHERE')[0]} GROUP BY ... HAVING ...)." if way
                    else "."),
            )
