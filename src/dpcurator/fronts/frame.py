"""A question as a data frame: steps that end in the plan which SQL of the same meaning has.

    curator.table("visits").where(dp.col("age") > 65).group_by("city").agg(n=dp.count(), age=dp.mean("age"))
    visits.join(cities, on="city").group_by("region").agg(n=dp.count())
    visits.per_unit().agg(n=dp.count()).agg(mean=dp.mean(dp.col("n").clip(0, 20)))

Promise: `frame.plan()` is the plan of `frame.sql()`, so price, answer, receipt and free repeats are one for the two
fronts. Right because a frame makes a Question, as `parse` does, within the bounds that an SQL text has, and everything
after that is shared. Each step returns a new frame. Checked in tests/fronts/test_frame.py and test_frame_rows.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Generic, Literal, Protocol, TypeVar

from dpcurator.catalog.model import Table
from dpcurator.errors import Refusal
from dpcurator.fronts.columns import UNITS, aggregates, known_aggregates, measured, named, outside
from dpcurator.fronts.expressions import Expression, Sorted
from dpcurator.fronts.frame_rows import SUFFIX, Held, Rows, cohort, joined, sized, stacked, stored
from dpcurator.fronts.sql import MAX_DEPTH
from dpcurator.fronts.text import guard
from dpcurator.fronts.values import text
from dpcurator.language.names import find, nearest, quote, show
from dpcurator.language.question import (
    NO_CAPS,
    Call,
    Caps,
    Cohort,
    Everything,
    Inner,
    Item,
    Name,
    Named,
    Ordering,
    Question,
    Select,
    Syntax,
    Unary,
    caps_of,
    inside,
    walk,
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
    """A question, step by step. Begin with `curator.table(name)`.

    The steps `join`, `left_join`, `with_columns` and `per_unit` say of which rows it is, in their order, and come
    before `group_by` and `agg`; the order of the others is free.
    """

    curator: Asked[Q, M, A] = field(compare=False)
    rows: Rows
    conditions: tuple[Syntax, ...] = ()
    keys: tuple[tuple[str, Syntax], ...] = ()
    items: tuple[tuple[str, Syntax], ...] = ()
    kept: tuple[Syntax, ...] = ()
    sorting: tuple[Ordering, ...] = ()
    most: int | None = None
    skipped: int = 0
    other: bool = False
    bounds: Caps = NO_CAPS

    @property
    def table(self) -> str:
        """The name of what is asked of."""
        return self.rows.title

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of its rows."""
        return self.rows.names

    @property
    def unit(self) -> str | None:
        """The column that names the protected unit; None when each row is one."""
        return self.rows.unit

    def join(
        self, other: Frame[Q, M, A], on: object = None, *, suffix: str = SUFFIX
    ) -> Frame[Q, M, A]:
        """Beside each row, what another table has of the same unit, or a public table of equal values: SQL's JOIN.

        other: a frame with at most one row for each unit, such as `.per_unit().agg(...)`, or a public table.
        on: the name of a column of both, names, or {"its name here": "there"}; None compares the units alone. Rows that
        find none are left out. suffix: goes after a name of the other side that is taken. Raises Refusal.
        """
        return self._joined(other, on, "INNER", suffix)

    def left_join(
        self, other: Frame[Q, M, A], on: object = None, *, suffix: str = SUFFIX
    ) -> Frame[Q, M, A]:
        """As `join`, but rows that find none stay, with missing values: SQL's LEFT JOIN. Raises Refusal."""
        return self._joined(other, on, "LEFT", suffix)

    def union(self, other: Frame[Q, M, A]) -> Frame[Q, M, A]:
        """The rows of both frames, of the same units: SQL's UNION ALL. Equal rows stay as many as they are.

        other: a frame whose rows the same units own. The result has the unit, under this frame's name for it, and the
        columns that both have; `with_columns` gives a column the name that the other one's has. Raises Refusal.
        """
        self._before("union")
        rows, right = self.rows, self._rows_of(other, "union")
        for one in (rows, right):
            if not one.private or one.unit is None:
                raise Refusal(f"union: {_whose(one)}", cure="Take rows of tables with the same unit column.")
        where, others = (_all(tuple(map(one.put, frame.conditions))) for one, frame in ((rows, self), (right, other)))
        size = sum(map(_weight, (*self.conditions, *other.conditions)))
        return replace(self, conditions=(), rows=stacked(replace(rows, size=rows.size + size), right, where, others))

    def in_cohort(self, other: Frame[Q, M, A]) -> Frame[Q, M, A]:
        """Rows of the units that have a row in another frame: SQL's unit IN (SELECT unit ...). Raises Refusal."""
        return replace(self, conditions=(*self.conditions, self._cohort(other, "in_cohort")))

    def not_in_cohort(self, other: Frame[Q, M, A]) -> Frame[Q, M, A]:
        """Rows of the units that have no row in another frame: SQL's unit NOT IN (SELECT unit ...). Raises Refusal."""
        return replace(self, conditions=(*self.conditions, Unary("NOT", self._cohort(other, "not_in_cohort"))))

    def with_columns(self, **made: Expression) -> Frame[Q, M, A]:
        """The rows with further columns, each an expression of one row. Raises Refusal."""
        self._before("with_columns")
        items: list[Item] = []
        for title, one in made.items():
            part = _expression(one, "with_columns", 'decade=(dp.col("age") / 10).floor()')
            self._single(part, "with_columns")
            if _title(title) in self.columns:
                raise Refusal(f"there is a column {show(title)} already.", cure="Choose another name.")
            items.append(Item(self.rows.put(part), title, title))
        if not items:
            return self
        rows = self.rows
        old: tuple[Item | Everything, ...] = rows.select(None).items
        return replace(self, rows=_inner(Select((*old, *items), rows.source), rows, (*rows.names, *made)))

    def per_unit(self, by: object = (), **named_keys: Expression) -> PerUnit[Q, M, A]:
        """Begin one row for each unit, or for each unit and key; end it with `.agg(...)`.

        by: a column, or a list of them; further keys are expressions under their names. Raises Refusal.
        """
        self._before("per_unit")
        if not self.rows.private or self.unit is None:
            raise Refusal(
                f"per_unit: {_whose(self.rows)}", cure="Ask of the rows themselves, as in .agg(n=dp.count()).")
        columns: list[Any] = list(by) if isinstance(by, list | tuple) else [by]
        keyed = replace(self, keys=(), items=()).group_by(*columns, **named_keys)
        keys = tuple((key, part) for key, part in keyed.keys if part != Name(self.unit or "", True))
        for key, _ in keys:
            if key == self.unit:
                raise Refusal(f"per_unit: {show(key)} is the unit.", cure="Give the key another name.")
        return PerUnit(self, keys)

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
            keys.append((self._column(name), Name(self._column(name), True)))
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
        source, put = self.rows.source, self.rows.put
        plain = source if isinstance(source, Named) and source.alias is None else None
        asked = Question(
            items=(
                *(_key_item(key, put(part)) for key, part in self.keys),
                *(Item(put(self._keyed(self._units(part))), title, "") for title, part in self.items),
            ),
            table="" if plain is None else plain.name,
            table_quoted=plain is not None,
            table_alias=None,
            source=None if plain is not None else source,
            where=_all(tuple(map(put, self.conditions))),
            group_by=tuple(put(part) for _, part in self.keys),
            other=self.other,
            having=_all(tuple(self._of_answer(part) for part in self.kept)),
            order_by=tuple(replace(one, part=self._of_answer(one.part)) for one in self.sorting),
            limit=self.most,
            offset=self.skipped,
            caps=self.bounds,
        )
        guard(render(asked))
        return asked

    def _column(self, name: Name) -> str:
        """The column that has exactly this name. Raises Refusal."""
        return self.rows.column(name.column)

    def _of_answer(self, part: Syntax) -> Syntax:
        """A part of having or order_by as SQL names it: the names of the answer stay."""
        titles = {title for title, _ in self.items}
        return _deep(self._units(part), lambda name: name if name.column in titles else self.rows.put(name),
                     self.rows.put)

    @property
    def _answers(self) -> bool:
        """Whether anything is said of an answer."""
        return bool(self.keys or self.items or self.kept or self.sorting or self.other or self.skipped
                    ) or self.most is not None or self.bounds != NO_CAPS

    def _before(self, step: str) -> None:
        """Refuse a step of rows after steps of the answer."""
        if self._answers:
            raise Refusal(
                f"{step} is of rows, and this frame says already what is asked of them.",
                cure=f"Write .{step}(...) before group_by, agg, having, order_by, limit and caps.",
            )

    def _joined(
        self, other: Frame[Q, M, A], on: object, kind: Literal["INNER", "LEFT"], suffix: str
    ) -> Frame[Q, M, A]:
        step = "join" if kind == "INNER" else "left_join"
        self._before(step)
        rows, right = self.rows, self._rows_of(other, step)
        if not rows.private:
            raise Refusal(
                f"{step}: {show(rows.title)} is a public table, and a question is of rows that units own.",
                cure=f"Begin with the private table: {right.title}.{step}({rows.title}, ...)." if right.private else
                "Begin with a private table.",
            )
        if rows.unit is None or (right.private and right.unit is None):
            one = rows if rows.unit is None else right
            raise Refusal(f"{step}: {_whose(one)}", cure="Ask of one table.")
        where = _all(tuple(map(right.put, other.conditions)))
        if where is not None and not right.private:
            raise Refusal(
                f"{step}: {show(right.title)} is a public table with a condition.",
                cure=f"Join it whole, and write .where(...) after .{step}(...).",
            )
        return replace(self, rows=joined(rows, right, where, on, kind, suffix))

    def _rows_of(self, other: object, step: str) -> Rows:
        """The rows of another frame. Raises Refusal."""
        if not isinstance(other, Frame):
            raise Refusal(
                f"{step} takes a frame, not a value of type {type(other).__name__}.",
                cure='Write it as in curator.table("cities").',
            )
        if other.curator is not self.curator:
            raise Refusal(f"{step}: the other frame is of another curator.", cure="Begin both with one curator.")
        if other._answers:
            raise Refusal(
                f"{step}: the other frame is a question with an answer of its own, not rows.",
                cure="One row for each unit is .per_unit().agg(...); or ask it by itself, and work on its answer.",
            )
        return other.rows

    def _cohort(self, other: Frame[Q, M, A], step: str) -> Syntax:
        right = self._rows_of(other, step)
        for one in (self.rows, right):
            if not one.private:
                raise Refusal(
                    f"{step}: {show(one.title)} is a public table, and a cohort is of rows that units own.",
                    cure='List its values, as in .where(dp.col("city").isin("Leeds")), or join it.',
                )
            if one.unit is None:
                raise Refusal(f"{step}: {_whose(one)}", cure="Write the condition in where.")
        made = cohort(self.rows, right, _all(tuple(map(right.put, other.conditions))), step)
        weight = 1 + sum(_weight(part) for part in self.conditions) + _weight(made)
        sized(replace(self.rows, size=self.rows.size + weight))
        return made

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


@dataclass(frozen=True, slots=True)
class PerUnit(Generic[Q, M, A]):
    """`frame.per_unit(...)`: one row for each unit and key, once `.agg(...)` says what of."""

    frame: Frame[Q, M, A]
    keys: tuple[tuple[str, Syntax], ...]

    def agg(self, /, *unnamed: object, **items: Expression) -> Frame[Q, M, A]:
        """The frame with one row for each unit and key, and these columns, exact, since nothing of them is shown.

        items: `dp.count`, `dp.sum`, `dp.mean`, `dp.min`, `dp.max`, `dp.arg_min`, `dp.arg_max`, `dp.any`, `dp.all` or
        `dp.count_distinct` of the unit's rows, and what is computed of them. Raises Refusal.
        """
        frame = self.frame
        made = replace(frame, keys=(), items=()).agg(*unnamed, **items).items
        unit = frame.unit or ""
        keys = [unit, *(key for key, _ in self.keys)]
        for title, part in made:
            if title in keys:
                raise Refusal(f"agg: {show(title)} is a key, or the unit.", cure="Give the column another name.")
            for name in [one.column for one in outside(part) if isinstance(one, Name)]:
                if name not in keys:
                    raise Refusal(
                        f"agg computes from aggregates and keys, and {show(name)} is a column of single rows.",
                        cure=f"Write dp.min({show(name)}), or add it to per_unit([...]).",
                    )
            for one in outside(part):
                if one == UNITS:
                    raise Refusal("dp.count_units() of one unit is 1.", cure="Write dp.count(), or leave it out.")
        put = frame.rows.put
        owner = put(Name(unit, True))
        parts = [(key, put(part)) for key, part in self.keys]
        computed = replace(frame, keys=self.keys, items=made)
        query = Select(
            (*(_key_item(key, part) for key, part in ((unit, owner), *parts)),
             *(Item(put(computed._keyed(part)), title, title) for title, part in made)),
            frame.rows.source, _all(tuple(map(put, frame.conditions))), (owner, *(part for _, part in parts)),
        )
        for one in (*frame.conditions, *(part for _, part in (*self.keys, *made))):
            weigh(one)
            if depth(one, MAX_DEPTH) > MAX_DEPTH:
                raise Refusal(f"an expression is nested more than {MAX_DEPTH} deep.", cure="Simplify it.")
        size = sum(map(_weight, frame.conditions))
        rows = _inner(query, replace(frame.rows, size=frame.rows.size + size), (*keys, *(title for title, _ in made)))
        return Frame(frame.curator, rows)


def _inner(query: Select, rows: Rows, names: Sequence[str]) -> Rows:
    """A subquery with these columns, under the name of what it is made of. Raises Refusal."""
    title = rows.title
    held = tuple(Held(name, title, name) for name in names)
    source = Inner(replace(query, weight=1 + rows.size), title)
    return sized(replace(rows, source=source, columns=held, size=rows.size + 1))


def _weight(part: Syntax) -> int:
    """Subqueries in a condition."""
    found = [one.query for one in walk(part) if isinstance(one, Cohort)]
    return sum(query.weight for query in found if isinstance(query, Select))


def _whose(rows: Rows) -> str:
    if not rows.private:
        return f"{show(rows.title)} is a public table, whose rows no unit owns."
    return f"each row of {show(rows.title)} is a unit of its own, so none belong together."


def _key_item(key: str, part: Syntax) -> Item:
    return Item(part, None if isinstance(part, Name) and part.column == key else key, key)


def start(curator: Asked[Q, M, A], name: object, tables: Sequence[Table]) -> Frame[Q, M, A]:
    """The frame of a table, given by its exact name. Raises Refusal."""
    if not isinstance(name, str):
        raise Refusal("a table is given by its name.", cure='Write it as in curator.table("visits").')
    return Frame(curator, stored(tables[find(name, True, [one.name for one in tables], what="table")]))


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


def _deep(part: Syntax, name: Callable[[Name], Syntax], rows: Callable[[Syntax], Syntax]) -> Syntax:
    """An expression of an answer: its names through `name`, what its aggregates are of through `rows`."""
    if isinstance(part, Name):
        return name(part)
    if isinstance(part, Call) and part.function in known_aggregates():
        return rows(part)
    within = inside(part)
    return with_parts(part, [_deep(one, name, rows) for one in within]) if within else part


def _replaced(part: Syntax, old: Syntax, new: Syntax) -> Syntax:
    """The expression with `new` wherever `old` stood."""

    if part == old:
        return new
    if isinstance(part, Call) and part.function in known_aggregates():
        return part  # what is inside an aggregate is of rows
    within = inside(part)
    return with_parts(part, [_replaced(one, old, new) for one in within]) if within else part
