"""Which column of a relation a name means, as in PostgreSQL and DuckDB.

A relation has parts under names of their own: a table or its alias, a subquery's alias. A name with a part before it is
one of that part; a name alone is one of all parts, and is refused with both places where it could be two. Columns that
no one can name (marks of cohorts) are in no part. Checked in tests/plan/test_bind_relations.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dpcurator.errors import Mend, Refusal
from dpcurator.language.names import find, quote, show
from dpcurator.language.question import Name
from dpcurator.language.render import expression, quoted


@dataclass(frozen=True, slots=True)
class Part:
    """name: what stands before a column, None where nothing can. columns: (its name, its number in the relation).

    hidden: columns that a name alone does not mean, since USING made them one with the left side's.
    """

    name: str | None
    columns: tuple[tuple[str, int], ...]
    hidden: frozenset[int] = frozenset()

    def free(self) -> Iterator[tuple[str, int]]:
        return (one for one in self.columns if one[1] not in self.hidden)


@dataclass(frozen=True, slots=True)
class Names:
    """The parts of a relation, from left to right."""

    parts: tuple[Part, ...]
    loose: bool = False  # the order of all columns is not what * means

    def find(self, name: Name) -> int:
        """The number of the column. Raises Refusal."""
        if name.table is not None:
            found = [part for part in self.parts if part.name is not None and _same(name, part.name)]
            if not found:
                raise self._no_part(name)
            names = [title for title, _ in found[0].columns]
            return found[0].columns[find(name.column, name.quoted, names, what="column", where=name.at)][1]
        fits = [
            (part, index) for part in self.parts for title, index in part.free()
            if (title == name.column if name.quoted else title.lower() == name.column.lower())
        ]
        if len({id(part) for part, _ in fits}) > 1 and any(part.name is None for part, _ in fits):
            raise Refusal(
                f"column {show(name.column)} could be of several subqueries, one of which has no name.", where=name.at,
                cure=f"Give each a name, as in (SELECT ...) AS d, and write d.{quote(name.column)}.",
            )
        if len({id(part) for part, _ in fits}) > 1:
            both = [f"{quote(part.name or '')}.{quote(name.column)}" for part, _ in fits[:2]]
            raise Refusal(
                f"column {show(name.column)} could be {' or '.join(both)}.", where=name.at,
                cure=f"Write {both[0]} or {both[1]}.", mends=(Mend(both[0], expression(name)),),
            )
        if len(fits) > 1 and len({index for _, index in fits}) > 1:
            titles = {title for part in self.parts for title, index in part.free() if (part, index) in fits}
            if len(titles) == 1:
                raise Refusal(
                    f"two columns of the subquery are called {show(name.column)}.", where=name.at,
                    cure=f"Call one otherwise, as in {quote(name.column)} AS {quote('other')}.",
                )
        if len({index for _, index in fits}) == 1:  # be it that one column stands twice under the name
            return fits[0][1]
        every = [one for part in self.parts for one in part.free()]
        try:
            return every[find(name.column, name.quoted, [title for title, _ in every], what="column", where=name.at)][1]
        except Refusal as refused:
            raise text_perhaps(name, refused) from None

    def has(self, name: Name) -> bool:
        """Whether it means a column here."""
        try:
            self.find(name)
        except Refusal:
            return False
        return True

    def speaks_of(self, name: Name) -> bool:
        """Whether it names something here, be it two columns at once: then it means nothing of a question around."""
        if name.table is not None:
            return any(part.name is not None and _same(name, part.name) for part in self.parts)
        titles = [title for part in self.parts for title, _ in part.columns]
        known = titles if name.quoted else map(str.lower, titles)
        return (name.column if name.quoted else name.column.lower()) in known

    def _no_part(self, name: Name) -> Refusal:
        named = [part for part in self.parts if part.name is not None]
        fits = [part for part in named if any(title.lower() == name.column.lower() for title, _ in part.columns)]
        put = f"{quote((fits or named)[0].name or '')}.{quote(name.column)}" if named else quote(name.column)
        what = "the table of this question" if len(named) == 1 else "a table of this question"
        return Refusal(
            f"{show(name.table or '')} is not {what}.", where=name.at,
            cure=f"Its columns are written {put}." if len(named) == 1 else f"Write {put}.",
            mends=(Mend(put, expression(name)),),
        )


def _same(name: Name, known: str) -> bool:
    return name.table == known if name.table_quoted else (name.table or "").lower() == known.lower()


def text_perhaps(name: Name, refused: Refusal) -> Refusal:
    """city = "Leeds", in SQL: double quotes hold names, and the writer may have meant a text."""
    if not (name.quoted and name.at) or name.table is not None or refused.cure.startswith("Did you mean"):
        return refused
    text = show(name.column)[1:-1].replace("'", "''")
    cure = f"If it is a text, write it in single quotes: '{text}'. {refused.cure}"
    mends = (Mend(f"'{text}'", quoted(name.column)),)
    return Refusal(refused.what, where=refused.where, cure=cure, mends=mends)
