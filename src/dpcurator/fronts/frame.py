"""A question as a data frame: steps that end in the plan which SQL of the same meaning has.

    curator.table("visits").where(dp.col("age") > 65).group_by("city").agg(n=dp.count(), age=dp.mean("age"))

Promise: `frame.plan()` is the plan of `frame.sql()`, so price, answer, receipt and free repeats are one for the two
fronts. Right because a frame makes a Question, as `parse` does, within the bounds that an SQL text has, and everything
after that is shared. Each step returns a new frame. Checked in tests/fronts/test_frame.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Generic, Protocol, TypeVar

from dpcurator.aggregates import functions
from dpcurator.catalog.model import Table
from dpcurator.errors import Refusal
from dpcurator.fronts.columns import UNITS, aggregates, measured, named, outside
from dpcurator.fronts.expressions import Expression, Sorted
from dpcurator.fronts.sql import MAX_DEPTH
from dpcurator.fronts.text import guard
from dpcurator.fronts.values import text
from dpcurator.language.names import find, nearest, quote, show
from dpcurator.language.question import (
    NO_CAPS,
    Call,
    Caps,
    Item,
    Name,
    Ordering,
    Question,
    Syntax,
    caps_of,
    inside,
    weigh,
    with_parts,
)
from dpcurator.language.render import chain, depth, leaves, render
from dpcurator.numbers import whole
from dpcurator.numbers.readable import cut
from dpcurator.plan.nodes import Plan

MOST: Final = 10**18  # rows of a limit; beyond it all are the same

Q = TypeVar("Q", covariant=True)
M = TypeVar("M", covariant=True)
A = TypeVar("A", covariant=True)


class Asked(Protocol[Q, M, A]):
    """What a frame needs of a curator; Q, M and A are its quotes, menus and answers."""

    def plan(self, question: Any) -> Plan: ...
    def quote(self, question: Any, *args: Any, **how: Any) -> Q: ...
    def menu(self, question: Any, *args: Any, **how: Any) -> M: ...
    def ask(self, question: Any, *args: Any, **how: Any) -> A: ...
    def rehearse(self, question: Any, *args: Any, **how: Any) -> A: ...


@dataclass(frozen=True, slots=True, repr=False)
class Frame(Generic[Q, M, A]):
    """A question of one table, step by step. Begin with `curator.table(name)`; the order of the steps is free."""

    curator: Asked[Q, M, A] = field(compare=False)
    table: str
    columns: tuple[str, ...]
    unit: str | None  # the column that names the protected unit; None when each row is one
    conditions: tuple[Syntax, ...] = ()
    keys: tuple[tuple[str, Syntax], ...] = ()
    items: tuple[tuple[str, Syntax], ...] = ()
    kept: tuple[Syntax, ...] = ()
    sorting: tuple[Ordering, ...] = ()
    most: int | None = None
    skipped: int = 0
    other: bool = False
    bounds: Caps = NO_CAPS

    def where(self, *conditions: Expression) -> Frame[Q, M, A]:
        """Rows for which every condition is true. Raises Refusal."""
        parts = [_expression(one, "where", 'dp.col("age") > 65') for one in conditions]
        for part in parts:
            self._single(part, "where")
        return replace(self, conditions=(*self.conditions, *parts))

    def filter(self, *conditions: Expression) -> Frame[Q, M, A]:
        """Another name of `where`. Raises Refusal."""
        return self.where(*conditions)

    def group_by(self, /, *columns: str | Expression, **named_keys: Expression) -> Frame[Q, M, A]:
        """One row of the answer for each key of these columns, or of expressions under their names. Raises Refusal."""
        keys: list[tuple[str, Syntax]] = []
        for one in columns:
            if isinstance(one, Expression) and not isinstance(one.syntax, Name):
                raise Refusal(
                    "an expression to group by needs a name.",
                    cure='Write it as in group_by(decade=dp.col("age") / 10).',
                )
            name = named(one, "a column to group by")
            keys.append((self._column(name), name))
        for title, made in named_keys.items():
            part = _expression(made, "group_by", 'decade=(dp.col("age") / 10).floor()')
            self._single(part, "group_by")
            keys.append((_title(title), part))
        for place, (key, _) in enumerate(keys):
            if key in [other for other, _ in (*self.keys, *keys[:place])]:
                raise Refusal(f"group_by names {show(key)} twice.", cure="Name it once.")
        return replace(self, keys=(*self.keys, *keys))

    def with_other(self) -> Frame[Q, M, A]:
        """One more row, for all keys that are not shown, where keys are unknown: SQL's GROUP BY WITH_OTHER(...)."""
        return replace(self, other=True)

    def caps(
        self, *, max_total: int | None = None, max_rows: int | None = None, max_groups: int | None = None,
        min_units: int | None = None,
    ) -> Frame[Q, M, A]:
        """Contribution bounding for this question alone, instead of the catalog's: how many rows of one unit count in
        all, in one group, and in how many groups. Smaller caps mean less noise and more left out. Raises Refusal."""
        return replace(self, bounds=caps_of(max_total, max_rows, max_groups, min_units))

    def agg(self, /, *unnamed: object, **items: Expression) -> Frame[Q, M, A]:
        """Columns of the answer, each under its name. Raises Refusal."""
        if unnamed:
            raise Refusal("each column of the answer needs a name.", cure="Write it as in agg(n=dp.count()).")
        made = [(_title(title), _expression(one, "agg", "dp.count()")) for title, one in items.items()]
        for title, part in made:
            if title in [other for other, _ in self.items]:
                raise Refusal(f"agg names {show(title)} twice.", cure="Give each column of the answer its own name.")
            for column in measured(part):
                self._column(column)
        return replace(self, items=(*self.items, *made))

    def having(self, *conditions: Expression) -> Frame[Q, M, A]:
        """Rows of the answer for which every condition is true of the noisy values. Free. Raises Refusal."""
        parts = [_expression(one, "having", "dp.count() > 100") for one in conditions]
        return replace(self, kept=(*self.kept, *parts))

    def order_by(self, *parts: str | Expression | Sorted, descending: bool = False) -> Frame[Q, M, A]:
        """The answer sorted, by noisy values or keys; a missing value counts as the smallest. Free. Raises Refusal.

        `dp.col("n").descending()` sorts by one expression in its own direction.
        """
        made: list[Ordering] = []
        for one in parts:
            if isinstance(one, Sorted):
                made.append(Ordering(one.part, one.descending, one.missing_first))
            else:
                part = named(one) if isinstance(one, str) else _expression(one, "order_by", 'order_by("n")')
                made.append(Ordering(part, bool(descending), not descending))
        return replace(self, sorting=(*self.sorting, *made))

    def limit(self, rows: int, *, offset: int = 0) -> Frame[Q, M, A]:
        """The first rows of the answer only, after leaving out `offset`. Free. Raises Refusal."""
        if self.most is not None:
            raise Refusal("the frame has a limit already.", cure="Limit it once.")
        most, skipped = whole(rows, name="a limit"), whole(offset, name="an offset")
        return replace(self, most=min(most, MOST), skipped=min(skipped, MOST))

    def quote(self, **how: Any) -> Q:
        """What it would cost and how wrong the answer might be: see `Curator.quote`. Free."""
        return self.curator.quote(self, **how)

    def menu(self, **how: Any) -> M:
        """What each share of the budget would buy: see `Curator.menu`. Free."""
        return self.curator.menu(self, **how)

    def ask(self, **how: Any) -> A:
        """The answer, paid for: see `Curator.ask`."""
        return self.curator.ask(self, **how)

    def rehearse(self, **how: Any) -> A:
        """The answer over made-up rows: see `Curator.rehearse`. Free."""
        return self.curator.rehearse(self, **how)

    def plan(self) -> Plan:
        """What it means. Raises Refusal."""
        return self.curator.plan(self)

    def sql(self) -> str:
        """The same question as SQL. Raises Refusal."""
        return render(self.question())

    def __repr__(self) -> str:
        try:
            return cut(self.sql())
        except Refusal:
            return f"a question of {quote(self.table)}, not yet whole"

    def question(self) -> Question:
        """The question, bounded as an SQL text is. Raises Refusal."""
        if not self.items and not self.keys:
            raise Refusal("the question has no aggregate.", cure="Add one, as in .agg(n=dp.count()).")
        named_parts = (part for _, part in (*self.keys, *self.items))
        for part in (*self.conditions, *self.kept, *(o.part for o in self.sorting), *named_parts):
            weigh(part)
            if depth(part, MAX_DEPTH) > MAX_DEPTH:
                raise Refusal(f"an expression is nested more than {MAX_DEPTH} deep.", cure="Simplify it.")
        self._names()
        asked = Question(
            items=(
                *(_key_item(key, part) for key, part in self.keys),
                *(Item(self._keyed(self._units(part)), title, "") for title, part in self.items),
            ),
            table=self.table,
            table_quoted=True,
            table_alias=None,
            where=_all(self.conditions),
            group_by=tuple(part for _, part in self.keys),
            other=self.other,
            having=_all(tuple(map(self._units, self.kept))),
            order_by=tuple(replace(one, part=self._units(one.part)) for one in self.sorting),
            limit=self.most,
            offset=self.skipped,
            caps=self.bounds,
        )
        guard(render(asked))
        return asked

    def _column(self, name: Name) -> str:
        """The column that has exactly this name. Raises Refusal."""
        return self.columns[find(name.column, True, self.columns, what="column")]

    def _single(self, part: Syntax, step: str) -> None:
        """Refuse what an expression of single rows cannot hold: aggregates, and columns of the answer."""
        noun = "condition" if step == "where" else "expression"
        for aggregate in aggregates(part):
            raise Refusal(
                f"{step} looks at single rows, and this {noun} holds {aggregate}.",
                cure="Compare aggregates in .having(...).",
            )
        for one in outside(part):
            if not isinstance(one, Name):
                continue
            if one.column not in self.columns and one.column in [title for title, _ in self.items]:
                raise Refusal(
                    f"{step} looks at single rows, and {show(one.column)} is a column of the answer.",
                    cure="Compare it in .having(...).",
                )
            self._column(one)

    def _names(self) -> None:
        """Every name outside an aggregate is a key, or in having and order_by a column of the answer."""
        titles = [title for title, _ in self.items]
        keys = [key for key, _ in self.keys]
        for key in keys:
            if key in titles:
                raise Refusal(f"{show(key)} is the name of two columns of the answer.", cure="Rename the one in agg.")
        for _, part in self.items:
            self._among(part, keys, titles)
        for part in (*self.kept, *(one.part for one in self.sorting)):
            self._among(part, (*keys, *titles), [])

    def _among(self, part: Syntax, known: Sequence[str], titles: Sequence[str]) -> None:
        for name in [one.column for one in outside(part) if isinstance(one, Name)]:
            if name in known:
                continue
            if name in titles:
                raise Refusal(
                    f"agg computes from aggregates and keys, and {show(name)} is a column of the answer itself.",
                    cure="Write the aggregate again: the same one twice is paid for once.",
                )
            if name in self.columns:
                raise Refusal(
                    f"{quote(name)} is a column of single rows, which never leave the curator.",
                    cure=f"Put it in an aggregate such as dp.mean({show(name)}), or in group_by.",
                )
            raise Refusal(
                f"there is no column {show(name)} in the answer.", cure=nearest(name, [*known, *titles], "column")
            )

    def _units(self, part: Syntax) -> Syntax:
        """The expression with dp.count_units() of this table's unit. Raises Refusal."""
        if UNITS not in outside(part):
            return part
        if self.unit is None:
            raise Refusal("dp.count_units(): each row of this table is a unit.", cure="Ask dp.count().")
        return _replaced(part, UNITS, Call("COUNT", (Name(self.unit, True),), distinct=True))

    def _keyed(self, part: Syntax) -> Syntax:
        """The expression of an answer's column with each key under a name of its own spelled out."""
        for key, made in self.keys:
            if not isinstance(made, Name):
                part = _replaced(part, Name(key, True), made)
        return part


def _key_item(key: str, part: Syntax) -> Item:
    return Item(part, None if isinstance(part, Name) else key, key)


def start(curator: Asked[Q, M, A], name: object, tables: Sequence[Table]) -> Frame[Q, M, A]:
    """The frame of a table, given by its exact name. Raises Refusal."""
    if not isinstance(name, str):
        raise Refusal("a table is given by its name.", cure='Write it as in curator.table("visits").')
    table = tables[find(name, True, [one.name for one in tables], what="table")]
    columns = tuple(column.name for column in table.columns)
    return Frame(curator, table.name, columns, table.unit if table.unit in columns else None)


def _expression(given: object, step: str, example: str) -> Syntax:
    if not isinstance(given, Expression):
        what = repr(given) if isinstance(given, bool) or given is None else f"a value of type {type(given).__name__}"
        raise Refusal(f"{step} takes expressions, and this is {what}.", cure=f"Write it as in {example}.")
    return given.syntax


def _title(title: str) -> str:
    if not title:
        raise Refusal("a column of the answer needs a name.", cure="Write it as in agg(n=dp.count()).")
    return text(title)


def _all(parts: tuple[Syntax, ...]) -> Syntax | None:
    return chain("AND", [leaf for part in parts for leaf in leaves(part, "AND")]) if parts else None


def _replaced(part: Syntax, old: Syntax, new: Syntax) -> Syntax:
    """The expression with `new` wherever `old` stood."""

    if part == old:
        return new
    if isinstance(part, Call) and part.function in functions():
        return part  # what is inside an aggregate is of rows
    within = inside(part)
    return with_parts(part, [_replaced(one, old, new) for one in within]) if within else part
