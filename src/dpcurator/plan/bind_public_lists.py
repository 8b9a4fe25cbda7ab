"""x IN (SELECT k FROM public), NOT IN, and EXISTS of rows of a public table: conditions on one row, or a Refusal.

What is compared is computed of the row on one side and of a public row on the other. IN is SQL's, with its rule for
missing values; EXISTS compares by =, and by nothing else. Checked in tests/plan/test_public_lists.py.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from dpcurator.catalog.model import Catalog, Table
from dpcurator.errors import Mend, Refusal
from dpcurator.language import question as syntax
from dpcurator.language.names import nearest, quote, show
from dpcurator.language.render import from_text, leaves
from dpcurator.language.rows import Predicate
from dpcurator.plan.relations import InPublic, Made
from dpcurator.plan.scene import PublicRows, Scene, called, made_column, one_type, public_table_of


def public_query(query: syntax.Query, catalog: Catalog) -> tuple[syntax.Select, Table] | None:
    """A subquery that reads a public table alone, as a SELECT of that table itself; None where it reads another.

    What stands between, as a name of WITH does, is put together: columns by what they are, conditions by AND."""
    while isinstance(query, syntax.Select) and isinstance(query.source, syntax.Inner):
        inner, alias = query.source.query, query.source.alias
        if not isinstance(inner, syntax.Select) or inner.group_by:
            return None
        if inner.having is not None or inner.qualify is not None:
            return None
        named = [item for item in inner.items if isinstance(item, syntax.Item)]
        titles = {(item.alias or item.label).lower(): item.part for item in named}
        put = _Put(titles, alias, inner.source, any(isinstance(item, syntax.Everything) for item in inner.items))
        items = [replace(item, part=put(item.part)) if isinstance(item, syntax.Item) else item for item in query.items]
        if any(isinstance(item, syntax.Everything) for item in items):
            items = list(inner.items) if len(items) == 1 else items
        where = [one for one in (inner.where, None if query.where is None else put(query.where)) if one is not None]
        for one in (*where, *(item.part for item in items if isinstance(item, syntax.Item))):
            syntax.weigh(one)  # else what is twice as long at each level would be very long
        condition = syntax.chain("AND", where) if where else None
        query = replace(query, items=tuple(items), source=inner.source, where=condition)
    if not isinstance(query, syntax.Select):
        return None
    table = public_table_of(query.source, catalog)
    return None if table is None else (query, table)


@dataclass(frozen=True, slots=True)
class _Put:
    """Puts what the columns of a subquery are in the place of their names."""

    titles: dict[str, syntax.Syntax]
    alias: str | None
    below: syntax.From
    all: bool  # whether it has all columns of what it reads, under their own names

    def __call__(self, part: syntax.Syntax) -> syntax.Syntax:
        if isinstance(part, syntax.Name):
            before = (part.table or "").lower()
            hidden = str(getattr(self.below, "alias", None) or getattr(self.below, "name", ""))
            if before in ("", (self.alias or "").lower()):
                if part.column.lower() in self.titles:
                    return self.titles[part.column.lower()]
                if self.all:
                    return replace(part, table=None)
            elif before != hidden.lower():
                return part  # of the question around
            raise Refusal(f"there is no column {show(called(part))} in the subquery.", where=part.at,
                          cure=nearest(part.column, list(self.titles), "column"))
        within = syntax.inside(part)
        return syntax.with_parts(part, [self(one) for one in within]) if within else part


@dataclass(frozen=True, slots=True)
class PublicSide:
    """A public table in a join, and the condition on its columns that a subquery of it has."""

    rows: PublicRows
    where: Predicate | None = None
    at: str = ""


def public_side(side: syntax.From, catalog: Catalog) -> PublicSide | None:
    """The public table that one side of a join is, or (SELECT columns FROM it WHERE ...). Raises Refusal."""
    if isinstance(side, syntax.Named):
        named = public_table_of(side, catalog)
        return None if named is None else PublicSide(PublicRows(named, side.alias or named.name))
    found = public_query(side.query, catalog) if isinstance(side, syntax.Inner) else None
    if found is None or not isinstance(side, syntax.Inner):
        return None
    query, table = found
    assert isinstance(query.source, syntax.Named)
    words = ("GROUP BY", query.group_by), ("HAVING", query.having), ("QUALIFY", query.qualify)
    for word, given in (*words, ("SELECT DISTINCT", _distinct(side))):
        if given:
            put = quote(table.name) + ("" if side.alias is None else f" AS {quote(side.alias)}")
            raise Refusal(
                f"{word} over a public table is not available in a join.", where=side.at,
                cure=f"Join the table itself, {put}; what is made of it is a public table of its own, which the "
                "steward declares.", mends=(Mend(put, from_text(side)),),
            )
    inner = PublicRows(table, query.source.alias or table.name)
    titles: list[tuple[str, int]] = []
    for item in query.items:
        if isinstance(item, syntax.Everything):
            titles += [(column.name, n) for n, column in enumerate(table.columns)]
        elif isinstance(item.part, syntax.Name):
            titles.append((item.alias or item.label, inner.names.find(item.part)))
        else:
            raise Refusal(
                f"{called(item.part)} in the subquery of the public table {show(table.name)} is no column of it.",
                where=syntax.place(item.part) or side.at,
                cure="Name columns alone there, and write the expression where it is used; what is made of many rows "
                f"of {quote(table.name)} is a public table of its own, which the steward declares.",
            )
    if query.where is not None:
        syntax.weigh(query.where)
    condition = inner.condition([] if query.where is None else leaves(query.where, "AND"))
    return PublicSide(PublicRows(table, side.alias or table.name, titles), condition, side.at)


def _distinct(side: syntax.From) -> bool:
    """Whether a subquery, or one that it reads, has each row once, which changes nothing in a list but in a join."""
    while isinstance(side, syntax.Inner) and isinstance(side.query, syntax.Select):
        if side.query.distinct:
            return True
        side = side.query.source
    return False


def in_public(scene: Scene, cohort: syntax.Cohort, query: syntax.Select, table: Table) -> InPublic:
    """The rows with the mark of those for which the condition holds. Raises Refusal."""
    try:
        return _bound(scene, cohort, query, table)
    except Refusal as refused:
        raise (refused if refused.where else refused.placed(cohort.at)) from None


def _bound(scene: Scene, cohort: syntax.Cohort, query: syntax.Select, table: Table) -> InPublic:
    assert isinstance(query.source, syntax.Named)
    inner = PublicRows(table, query.source.alias or table.name)
    for word, given in (("GROUP BY", query.group_by), ("HAVING", query.having), ("QUALIFY", query.qualify)):
        if given:
            raise Refusal(
                f"{word} over a public table is not available.", where=cohort.at,
                cure=f"Leave it out: a list takes SELECT column FROM {quote(table.name)} WHERE ...",
            )
    named = [item.part for item in query.items if not isinstance(item, syntax.Everything)]
    for part in [one for one in (query.where, *named) if one is not None]:
        syntax.weigh(part)
    return _exists(scene, cohort, query, inner) if cohort.part is None else _listed(scene, cohort, query, inner)


def _listed(scene: Scene, cohort: syntax.Cohort, query: syntax.Select, inner: PublicRows) -> InPublic:
    """part IN (SELECT k FROM public WHERE ...)."""
    assert cohort.part is not None
    items = [item.part for item in query.items if not isinstance(item, syntax.Everything)]
    if len(items) < len(query.items) and len(inner.table.columns) == 1 and len(query.items) == 1:
        items = [syntax.Name(inner.table.columns[0].name, True)]
    if len(items) != 1 or len(items) < len(query.items):
        raise Refusal(
            "the subquery after IN gives several columns.", where=cohort.at,
            cure=f"Name one: IN (SELECT {quote(inner.table.columns[0].name)} FROM {quote(inner.table.name)}).",
        )
    outside = [one for part in (query.where, items[0]) if part is not None for one in syntax.walk(part)
               if isinstance(one, syntax.Name) and not inner.names.speaks_of(one) and scene.names.has(one)]
    if outside:
        raise Refusal(
            f"{quote(outside[0].column)} is a column of the question around the subquery.", where=outside[0].at,
            cure="Compare it in EXISTS: " + _example(scene, inner) + ".",
        )
    one = _of_row(scene, cohort.part, "IN")
    other = made_column(inner.reader("SELECT").value(items[0]), called(items[0]))
    one_type((one.type, other.type), (cohort.part, items[0]), cohort.at)
    condition = inner.condition([] if query.where is None else [query.where])
    return InPublic(scene.relation, inner.table.name, (one,), (other,), condition, True)


def _exists(scene: Scene, cohort: syntax.Cohort, query: syntax.Select, inner: PublicRows) -> InPublic:
    """EXISTS (SELECT ... FROM public WHERE k = x AND ...)."""
    for item in query.items:  # what it is plays no part, but that it is something
        if isinstance(item, syntax.Everything):
            continue
        for name in [one for one in syntax.walk(item.part) if isinstance(one, syntax.Name)]:
            if not inner.names.speaks_of(name):
                scene.column(name)
        if inner.owns(item.part):
            inner.reader("SELECT").value(item.part)
    pairs, own = [], []
    for part in [] if query.where is None else leaves(query.where, "AND"):
        sides = (part.left, part.right) if isinstance(part, syntax.Binary) and part.op == "=" else ()
        pair = next(((one, other) for one, other in (sides, sides[::-1]) if _is_pair(one, other, inner)), None) \
            if sides else None
        if pair is not None:
            pairs.append(pair)
        elif inner.owns(part):
            own.append(part)
        else:
            raise Refusal(
                "EXISTS compares columns of a public table with those of the question by =, joined by AND.",
                where=syntax.place(part) or cohort.at, cure=f"Write {_example(scene, inner)}.",
            )
    if not pairs:
        raise Refusal(
            f"EXISTS compares nothing of {show(inner.table.name)} with the question's rows: it is the same for all.",
            where=cohort.at, cure=f"Write {_example(scene, inner)}, or leave it out.",
        )
    here, there = [], []
    for mine, its in pairs:
        here.append(_of_row(scene, mine, "EXISTS"))
        there.append(made_column(inner.reader("WHERE").value(its), called(its)))
        one_type((here[-1].type, there[-1].type), (mine, its), cohort.at)
    return InPublic(scene.relation, inner.table.name, tuple(here), tuple(there), inner.condition(own), False)


def _is_pair(one: syntax.Syntax, other: syntax.Syntax, inner: PublicRows) -> bool:
    """Whether one side is of the question around, and the other of the public table."""
    named, its = ([part for part in syntax.walk(side) if isinstance(part, syntax.Name)] for side in (one, other))
    return bool(named) and bool(its) and inner.owns(other) and not any(map(inner.names.speaks_of, named))


def _of_row(scene: Scene, part: syntax.Syntax, inside: str) -> Made:
    return made_column(scene.reader(inside).value(part), scene.words(part))


def _example(scene: Scene, inner: PublicRows) -> str:
    """EXISTS as it could be written."""
    mine = [(part.name, title, scene.table.columns[index].type) for part in scene.names.parts
            for title, index in part.columns]
    pairs = [(one, column) for one in mine for column in inner.table.columns if one[2] == column.type]
    pairs.sort(key=lambda pair: pair[0][1].lower() != pair[1].name.lower())
    (before, title, _), column = pairs[0] if pairs else ((None, "x", ""), inner.table.columns[0])
    outer = f"{quote(before)}.{quote(title)}" if before else quote(title)
    return (f"EXISTS (SELECT 1 FROM {quote(inner.table.name)} AS {quote('listed')} WHERE "
            f"{quote('listed')}.{quote(column.name)} = {outer})")
