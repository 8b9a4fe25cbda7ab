"""What the steps of a frame read: FROM as SQL has it, and what its columns are called in Python.

A frame's columns have names without a table before them. Each knows where FROM has it, so a name is written with its
table only where SQL needs that; a column of the other side whose name is taken gets a suffix. Every step makes what the
SQL front makes of the words that `.sql()` prints, so all that is refused there is refused here.
Checked in tests/fronts/test_frame_rows.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from dpcurator.catalog.model import Table
from dpcurator.errors import Refusal
from dpcurator.fronts.sql_relations import MOST_SELECTS
from dpcurator.language import question as syntax
from dpcurator.language.names import find, show

SUFFIX: Final = "_right"


@dataclass(frozen=True, slots=True)
class Held:
    """A column. name: what a frame calls it. part, title: the table before it in FROM, and its name there."""

    name: str
    part: str
    title: str


@dataclass(frozen=True, slots=True)
class Rows:
    """FROM with its columns. unit: the column that names the protected unit, None where each row is one, or none is.

    size: tables and subqueries in it, each counted where it stands. begin: of a public table, how to join it to a
    private one.
    """

    source: syntax.From
    columns: tuple[Held, ...]
    unit: str | None
    private: bool = True
    size: int = 1
    begin: str = ""

    @property
    def title(self) -> str:
        """What it is called."""
        one: syntax.From = self.source
        while isinstance(one, syntax.Join):
            one = one.left
        return (one.alias or one.name) if isinstance(one, syntax.Named) else one.alias or "rows"

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.columns)

    def column(self, name: str) -> str:
        """The column that has exactly this name. Raises Refusal."""
        return self.names[find(name, True, self.names, what="column")]

    def spelled(self, name: str, *, full: bool = False) -> syntax.Name:
        """The column as SQL names it here; with its table where that is needed, or asked for."""
        held = next(one for one in self.columns if one.name == name)
        if full or sum(one.title == held.title for one in self.columns) > 1:
            return syntax.Name(held.title, True, held.part, True)
        return syntax.Name(held.title, True)

    def put(self, part: syntax.Syntax) -> syntax.Syntax:
        """An expression of rows with every column as SQL names it here."""
        if isinstance(part, syntax.Name) and part.table is None:
            return self.spelled(part.column) if part.column in self.names else part
        within = syntax.inside(part)
        made = [self.put(one) for one in within]
        return syntax.with_parts(part, made) if any(a is not b for a, b in zip(made, within, strict=True)) else part

    def plain(self) -> bool:
        """Whether every column goes by its own name alone."""
        titles = [one.title for one in self.columns]
        return all(one.name == one.title for one in self.columns) and len(set(titles)) == len(titles)

    def under(self, name: str, where: syntax.Syntax | None) -> Rows:
        """The same rows as one table of this name: as it is, where it is one already, and without a condition."""
        columns = tuple(Held(one.name, name, one.name) for one in self.columns)
        if where is None and self.plain() and not isinstance(self.source, syntax.Join):
            old = self.source.name if isinstance(self.source, syntax.Named) else None
            return replace(self, source=replace(self.source, alias=None if old == name else name), columns=columns)
        made = syntax.Inner(self.select(where), name)
        return sized(replace(self, source=made, columns=columns, size=self.size + 1))

    def select(self, where: syntax.Syntax | None) -> syntax.Select:
        """SELECT of all columns, under the names they have in Python."""
        if self.plain() and not isinstance(self.source, syntax.Join):
            return syntax.Select((syntax.Everything(),), self.source, where, weight=1 + self.size)
        items = tuple(syntax.Item(self.spelled(name), name, name) for name in self.names)
        return syntax.Select(items, self.source, where, weight=1 + self.size)


def stored(table: Table) -> Rows:
    """A table of the catalog."""
    names = [column.name for column in table.columns]
    columns = tuple(Held(name, table.name, name) for name in names)
    return Rows(syntax.Named(table.name, True), columns, table.unit if table.unit in names else None, table.private)


def sized(rows: Rows) -> Rows:
    """Raise Refusal where more is read than a question may."""
    if rows.size > MOST_SELECTS:
        raise Refusal(
            f"the question has more than {MOST_SELECTS} subqueries, each counted where it is used.",
            cure="Ask in several questions, or more simply.",
        )
    return rows


def joined(
    rows: Rows, other: Rows, where: syntax.Syntax | None, on: object, kind: Literal["INNER", "LEFT"], suffix: object
) -> Rows:
    """The rows beside those of another one, which are under `where`. Raises Refusal."""
    step = "join" if kind == "INNER" else "left_join"
    pairs = _pairs(rows, other, on, step)
    units = (rows.unit, other.unit)
    if other.private and units not in pairs:
        names = dict(pairs) | {units[0]: units[1]}
        put = list(names) if all(a == b for a, b in names.items()) else names
        raise Refusal(
            f"{step}: rows of private tables meet rows of the same unit only, and `on` does not compare the units.",
            cure=f"Write on={put!r}, or leave on out to compare the units alone.",
        )
    if not isinstance(suffix, str) or not suffix:
        raise Refusal(f"{step}: suffix is a text.", cure=f'Write suffix="{SUFFIX}".')
    same = not isinstance(on, Mapping) and all(a == b for a, b in pairs)
    spelled = [rows.spelled(a) for a, _ in pairs]
    if same and any(name.table is not None or name.column != a for name, (a, _) in zip(spelled, pairs, strict=True)):
        rows = rows.under(rows.title, None)
    taken = {one.lower() for one in parts_of(rows.source)}
    title, number = other.title, 2
    while title.lower() in taken:
        title, number = f"{other.title}_{number}", number + 1
    right = other.under(title, where)
    dropped = {b for _, b in pairs} if same else set()
    more: list[Held] = []
    for one in right.columns:
        if one.name in dropped:
            continue
        name = one.name if one.name not in rows.names else one.name + suffix
        if name in rows.names or name in [held.name for held in more]:
            raise Refusal(
                f"{step}: two columns would be called {show(name)}.", cure='Choose another suffix, as in suffix="_2".')
        more.append(replace(one, name=name))
    if same:
        using, condition = tuple(syntax.Name(b, True) for _, b in pairs), None
    else:
        using, condition = (), syntax.chain("AND", [
            syntax.Binary("=", rows.spelled(a, full=True), right.spelled(b, full=True)) for a, b in pairs])
    more_on = [b for a, b in pairs if (a, b) != units]
    source = syntax.Join(rows.source, right.source, kind, condition, using, f"{step}({show(other.title)[1:-1]})",
                         _one_row(other, more_on, step), _one_type(other, step))
    return sized(replace(rows, source=source, columns=(*rows.columns, *more), size=rows.size + right.size))


def _pairs(rows: Rows, other: Rows, on: object, step: str) -> list[tuple[str, str]]:
    """The names that a join compares, of each side. Raises Refusal."""
    if on is None:
        if other.private and rows.unit is not None and other.unit is not None:
            return [(rows.unit, other.unit)]
        shared = [name for name in rows.names if name in other.names]
        raise Refusal(
            f"{step}: with a public table it has to be said which columns are equal.",
            cure=f"Write on={(shared or ['city'])[0]!r}.",
        )
    example = 'Write on="city", on=["pid", "city"], or on={"pid": "patient"}: columns of each side.'
    if isinstance(on, str):
        named: Sequence[tuple[object, object]] = [(on, on)]
    elif isinstance(on, Mapping):
        named = list(on.items())
    elif isinstance(on, list | tuple):
        named = [(one, one) for one in on]
    else:
        raise Refusal(f"{step}: `on` is names of columns, not {type(on).__name__}.", cure=example)
    if not named:
        raise Refusal(f"{step}: `on` names no column.", cure=example)
    found: list[tuple[str, str]] = []
    for a, b in named:
        if not isinstance(a, str) or not isinstance(b, str):
            raise Refusal(f"{step}: `on` is names of columns.", cure=example)
        pair = rows.column(a), other.column(b)
        if pair not in found:
            found.append(pair)
    return found


def parts_of(source: syntax.From) -> list[str]:
    """The names of the tables in FROM."""
    if isinstance(source, syntax.Join):
        return [*parts_of(source.left), *parts_of(source.right)]
    return [source.alias or (source.name if isinstance(source, syntax.Named) else "")]


def _one_row(other: Rows, more: Sequence[str], step: str) -> str:
    """How one row for each person is joined instead."""
    left = [name for name in other.names if name != other.unit and name not in more][:1]
    made = "".join(f'{name}=dp.min("{name}")' if name.isidentifier() else "n=dp.count()" for name in left)
    by = f"by={list(more)!r}" if more else ""
    return f"Join one row for each person: .{step}({other.title}.per_unit({by}).agg({made or 'n=dp.count()'}), ...)."


def _one_type(other: Rows, step: str) -> str:
    return f'Cast one of them first, as in .with_columns(key=dp.col("...").cast("TEXT")).{step}({other.title}, ...).'


def stacked(rows: Rows, other: Rows, where: syntax.Syntax | None, other_where: syntax.Syntax | None) -> Rows:
    """The rows of both, each under its condition: the unit, and the columns that both have, under the first's names.
    Raises Refusal."""
    names = [name for name in rows.names if name == rows.unit or (name in other.names and name != other.unit)]
    sides = []
    for side, condition in ((rows, where), (other, other_where)):
        items = tuple(
            syntax.Item(side.spelled(side.unit if name == rows.unit and side.unit is not None else name), name, name)
            for name in names)
        sides.append(syntax.Select(items, side.source, condition, weight=1 + side.size))
    title = rows.title
    columns = tuple(Held(name, title, name) for name in names)
    source = syntax.Inner(syntax.Stacked((sides[0], sides[1])), title)
    return sized(replace(rows, source=source, columns=columns, size=rows.size + other.size + 2))


def cohort(rows: Rows, other: Rows, where: syntax.Syntax | None, step: str) -> syntax.Cohort:
    """Whether the unit has a row among the others, which are under `where`. Raises Refusal."""
    assert other.unit is not None
    assert rows.unit is not None
    unit = syntax.Item(other.spelled(other.unit), None, other.unit)
    query: syntax.Query = syntax.Select((unit,), other.source, where, weight=1 + other.size)
    return syntax.Cohort(syntax.Name(rows.unit, True), query, step)


def inner_rows(query: syntax.Select, rows: Rows, names: Sequence[str]) -> Rows:
    """A subquery with these columns, under the name of what it is made of. Raises Refusal."""
    title = rows.title
    held = tuple(Held(name, title, name) for name in names)
    source = syntax.Inner(replace(query, weight=1 + rows.size), title)
    return sized(replace(rows, source=source, columns=held, size=rows.size + 1))


def weight_of(part: syntax.Syntax) -> int:
    """Subqueries in a condition."""
    found = [one.query for one in syntax.walk(part) if isinstance(one, syntax.Cohort)]
    return sum(query.weight for query in found if isinstance(query, syntax.Select))


def whose(rows: Rows) -> str:
    if not rows.private:
        return f"{show(rows.title)} is a public table, whose rows no unit owns."
    return f"each row of {show(rows.title)} is a unit of its own, so none belong together."
