"""A question as a data frame: steps that end in the plan which SQL of the same meaning has.

    curator.table("visits").where(dp.col("age") > 65).group_by("city").agg(n=dp.count(), age=dp.mean("age"))
    visits.join(cities, on="city").group_by("region").agg(n=dp.count())
    visits.per_unit().agg(n=dp.count()).agg(mean=dp.mean(dp.col("n").clip(0, 20)))

Promise: `frame.plan()` is the plan of `frame.sql()`, so price, answer, receipt and free repeats are one for the two
fronts. Right because a frame makes a Question, as `parse` does, within the bounds that an SQL text has, and everything
after that is shared. Each step returns a new frame. Checked in tests/fronts/test_frame.py and test_frame_rows.py.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Generic, Literal, Protocol, TypeVar

from dpcurator.catalog.model import Table
from dpcurator.errors import Refusal
from dpcurator.fronts.columns import measured, named
from dpcurator.fronts.expressions import Expression, Sorted
from dpcurator.fronts.frame_parts import (
    all_of,
    check_names,
    check_single,
    deep,
    expression_of,
    key_item,
    title_of,
    with_keys,
    with_unit,
)
from dpcurator.fronts.frame_per_unit import PerUnit
from dpcurator.fronts.frame_rows import (
    SUFFIX,
    Rows,
    cohort,
    inner_rows,
    joined,
    sized,
    stacked,
    stored,
    weight_of,
    whose,
)
from dpcurator.fronts.sql import MAX_DEPTH
from dpcurator.fronts.sql_grouping import MOST_SETS
from dpcurator.fronts.text import guard
from dpcurator.language import question as syntax
from dpcurator.language.names import find, quote, show
from dpcurator.language.render import depth, render
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
    conditions: tuple[syntax.Syntax, ...] = ()
    keys: tuple[tuple[str, syntax.Syntax], ...] = ()
    items: tuple[tuple[str, syntax.Syntax], ...] = ()
    kept: tuple[syntax.Syntax, ...] = ()
    sorting: tuple[syntax.Ordering, ...] = ()
    most: int | None = None
    skipped: int = 0
    other: bool = False
    bounds: syntax.Caps = syntax.NO_CAPS
    sets: tuple[tuple[str, ...], ...] = ()  # of rollup and the like: the keys, by name, that each set keeps

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
                raise Refusal(f"union: {whose(one)}", cure="Take rows of tables with the same unit column.")
        where, others = (all_of(tuple(map(one.put, frame.conditions))) for one, frame in ((rows, self), (right, other)))
        size = sum(map(weight_of, (*self.conditions, *other.conditions)))
        return replace(self, conditions=(), rows=stacked(replace(rows, size=rows.size + size), right, where, others))

    def in_cohort(self, other: Frame[Q, M, A]) -> Frame[Q, M, A]:
        """Rows of the units that have a row in another frame: SQL's unit IN (SELECT unit ...). Raises Refusal."""
        return replace(self, conditions=(*self.conditions, self._cohort(other, "in_cohort")))

    def not_in_cohort(self, other: Frame[Q, M, A]) -> Frame[Q, M, A]:
        """Rows of the units that have no row in another frame: SQL's unit NOT IN (SELECT unit ...). Raises Refusal."""
        return replace(self, conditions=(*self.conditions, syntax.Unary("NOT", self._cohort(other, "not_in_cohort"))))

    def with_columns(self, **made: Expression) -> Frame[Q, M, A]:
        """The rows with further columns, each an expression of one row. Raises Refusal."""
        self._before("with_columns")
        items: list[syntax.Item] = []
        for title, one in made.items():
            part = expression_of(one, "with_columns", 'decade=(dp.col("age") / 10).floor()')
            self._single(part, "with_columns")
            if title_of(title) in self.columns:
                raise Refusal(f"there is a column {show(title)} already.", cure="Choose another name.")
            items.append(syntax.Item(self.rows.put(part), title, title))
        if not items:
            return self
        rows = self.rows
        old: tuple[syntax.Item | syntax.Everything, ...] = rows.select(None).items
        return replace(self, rows=inner_rows(syntax.Select((*old, *items), rows.source), rows, (*rows.names, *made)))

    def per_unit(self, by: object = (), **named_keys: Expression) -> PerUnit[Frame[Q, M, A]]:
        """Begin one row for each unit, or for each unit and key; end it with `.agg(...)`.

        by: a column, or a list of them; further keys are expressions under their names. Raises Refusal.
        """
        self._before("per_unit")
        if not self.rows.private or self.unit is None:
            raise Refusal(
                f"per_unit: {whose(self.rows)}", cure="Ask of the rows themselves, as in .agg(n=dp.count()).")
        columns: list[Any] = list(by) if isinstance(by, list | tuple) else [by]
        keyed = replace(self, keys=(), items=()).group_by(*columns, **named_keys)
        keys = tuple((key, part) for key, part in keyed.keys if part != syntax.Name(self.unit or "", True))
        for key, _ in keys:
            if key == self.unit:
                raise Refusal(f"per_unit: {show(key)} is the unit.", cure="Give the key another name.")
        return PerUnit(self, keys, lambda rows: replace(self, rows=rows, conditions=()))

    def where(self, *conditions: Expression) -> Frame[Q, M, A]:
        """Rows for which every condition is true. Raises Refusal."""
        parts = [expression_of(one, "where", 'dp.col("age") > 65') for one in conditions]
        for part in parts:
            self._single(part, "where")
        return replace(self, conditions=(*self.conditions, *parts))

    def filter(self, *conditions: Expression) -> Frame[Q, M, A]:
        """Another name of `where`. Raises Refusal."""
        return self.where(*conditions)

    def group_by(self, /, *columns: str | Expression, **named_keys: Expression) -> Frame[Q, M, A]:
        """One row of the answer for each key of these columns, or of expressions under their names. Raises Refusal."""
        keys: list[tuple[str, syntax.Syntax]] = []
        if self.sets:
            raise Refusal("this frame says already over which keys it has totals.",
                          cure="Write .group_by(...) with all keys before rollup, cube and grouping_sets.")
        for one in columns:
            if isinstance(one, Expression) and not isinstance(one.syntax, syntax.Name):
                raise Refusal(
                    "an expression to group by needs a name.",
                    cure='Write it as in group_by(decade=dp.col("age") / 10).',
                )
            name = named(one, "a column to group by")
            keys.append((self._column(name), syntax.Name(self._column(name), True)))
        for title, made in named_keys.items():
            part = expression_of(made, "group_by", 'decade=(dp.col("age") / 10).floor()')
            self._single(part, "group_by")
            keys.append((title_of(title), part))
        for place, (key, _) in enumerate(keys):
            if key in [other for other, _ in (*self.keys, *keys[:place])]:
                raise Refusal(f"group_by names {show(key)} twice.", cure="Name it once.")
        return replace(self, keys=(*self.keys, *keys))

    def rollup(self) -> Frame[Q, M, A]:
        """Totals as well, over the last key, the last two, and so on to all: SQL's ROLLUP of the keys of group_by.

        They are sums of the groups' noisy numbers: free, with the bar of so many draws. A key is None where a row is a
        total over it. Raises Refusal."""
        names = [name for name, _ in self.keys]
        return self._with_sets("rollup", [names[:size] for size in range(len(names), -1, -1)])

    def cube(self) -> Frame[Q, M, A]:
        """Totals as well, over every subset of the keys of group_by: SQL's CUBE, as `rollup` is. Raises Refusal."""
        names = [name for name, _ in self.keys]
        if 2 ** len(names) > MOST_SETS:
            raise Refusal(f"cube stands for more than {MOST_SETS} sets of keys.",
                          cure="Group by fewer keys, or name the sets that are wanted in grouping_sets.")
        sizes = range(len(names), -1, -1)
        return self._with_sets("cube", [one for size in sizes for one in itertools.combinations(names, size)])

    def grouping_sets(self, *sets: Sequence[str]) -> Frame[Q, M, A]:
        """Totals over the keys of group_by that each set leaves out, as in grouping_sets(["city", "ward"], []): SQL's
        GROUPING SETS, free as `rollup` is. Each key is in some set. Raises Refusal."""
        for one in sets:
            if isinstance(one, str) or not isinstance(one, Sequence) or not all(isinstance(name, str) for name in one):
                raise Refusal("a grouping set is a list of keys.", cure='Write it as in grouping_sets(["city"], []).')
        return self._with_sets("grouping_sets", sets)

    def _with_sets(self, step: str, sets: Sequence[Sequence[str]]) -> Frame[Q, M, A]:
        names = [name for name, _ in self.keys]
        if not names or self.sets or self.other:
            raise Refusal(f"{step} is of the keys of group_by, said once, and has no other groups.",
                          cure=f'Write it as in .group_by("city", "ward").{step}(...), without with_other.')
        unknown = [name for one in sets for name in one if name not in names]
        if unknown or {name for one in sets for name in one} != set(names):
            wrong = unknown[0] if unknown else next(one for one in names if all(one not in kept for kept in sets))
            raise Refusal(f"{show(wrong)} is {'no key of group_by' if unknown else 'in none of the sets'}.",
                          cure=f"The keys are {', '.join(map(show, names))}: name each in a set, and no others.")
        made = tuple(tuple(name for name in names if name in one) for one in sets)
        if len(set(made)) < len(made) or len(made) > MOST_SETS:
            raise Refusal(f"a grouping set is said twice, or there are more than {MOST_SETS}.",
                          cure="Name each set of keys once, and fewer of them.")
        return replace(self, sets=made)

    def with_other(self) -> Frame[Q, M, A]:
        """One more row, for all keys that are not shown, where keys are unknown: SQL's GROUP BY WITH_OTHER(...)."""
        return replace(self, other=True)

    def caps(
        self, *, max_total: int | None = None, max_rows: int | None = None, max_groups: int | None = None,
        min_units: int | None = None,
    ) -> Frame[Q, M, A]:
        """Contribution bounding for this question alone, instead of the catalog's: how many rows of one unit count in
        all, in one group, and in how many groups. Smaller caps mean less noise and more left out. Raises Refusal."""
        return replace(self, bounds=syntax.caps_of(max_total, max_rows, max_groups, min_units))

    def agg(self, /, *unnamed: object, **items: Expression) -> Frame[Q, M, A]:
        """Columns of the answer, each under its name. Raises Refusal."""
        if unnamed:
            raise Refusal("each column of the answer needs a name.", cure="Write it as in agg(n=dp.count()).")
        made = [(title_of(title), expression_of(one, "agg", "dp.count()")) for title, one in items.items()]
        for title, part in made:
            if title in [other for other, _ in self.items]:
                raise Refusal(f"agg names {show(title)} twice.", cure="Give each column of the answer its own name.")
            for column in measured(part):
                self._column(column)
        return replace(self, items=(*self.items, *made))

    def having(self, *conditions: Expression) -> Frame[Q, M, A]:
        """Rows of the answer for which every condition is true of the noisy values. Free. Raises Refusal."""
        parts = [expression_of(one, "having", "dp.count() > 100") for one in conditions]
        return replace(self, kept=(*self.kept, *parts))

    def order_by(self, *parts: str | Expression | Sorted, descending: bool = False) -> Frame[Q, M, A]:
        """The answer sorted, by noisy values or keys; a missing value counts as the smallest. Free. Raises Refusal.

        `dp.col("n").descending()` sorts by one expression in its own direction.
        """
        made: list[syntax.Ordering] = []
        for one in parts:
            if isinstance(one, Sorted):
                made.append(syntax.Ordering(one.part, one.descending, one.missing_first))
            else:
                part = named(one) if isinstance(one, str) else expression_of(one, "order_by", 'order_by("n")')
                made.append(syntax.Ordering(part, bool(descending), not descending))
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

    def question(self) -> syntax.Question:
        """The question, bounded as an SQL text is. Raises Refusal."""
        if not self.rows.private:
            raise Refusal(
                f"{show(self.rows.title)} is a public table: its contents need no curator.", cure=self.rows.begin
            )
        if not self.items and not self.keys:
            raise Refusal("the question has no aggregate.", cure="Add one, as in .agg(n=dp.count()).")
        named_parts = (part for _, part in (*self.keys, *self.items))
        for part in (*self.conditions, *self.kept, *(o.part for o in self.sorting), *named_parts):
            syntax.weigh(part)
            if depth(part, MAX_DEPTH) > MAX_DEPTH:
                raise Refusal(f"an expression is nested more than {MAX_DEPTH} deep.", cure="Simplify it.")
        later = (*self.kept, *(one.part for one in self.sorting))
        check_names(self.keys, self.items, later, self.columns)
        source, put = self.rows.source, self.rows.put
        plain = source if isinstance(source, syntax.Named) and source.alias is None else None
        items = ((put(with_keys(with_unit(part, self.unit), self.keys)), title) for title, part in self.items)
        asked = syntax.Question(
            items=(
                *(key_item(key, put(part)) for key, part in self.keys),
                *(syntax.Item(part, title, "") for part, title in items),
            ),
            table="" if plain is None else plain.name,
            table_quoted=plain is not None,
            table_alias=None,
            source=None if plain is not None else source,
            where=all_of(tuple(map(put, self.conditions))),
            group_by=tuple(put(part) for _, part in self.keys),
            sets=tuple(tuple([name for name, _ in self.keys].index(one) for one in kept) for kept in self.sets),
            other=self.other,
            having=all_of(tuple(self._of_answer(part) for part in self.kept)),
            order_by=tuple(replace(one, part=self._of_answer(one.part)) for one in self.sorting),
            limit=self.most,
            offset=self.skipped,
            caps=self.bounds,
        )
        guard(render(asked))
        return asked

    def _column(self, name: syntax.Name) -> str:
        """The column that has exactly this name. Raises Refusal."""
        return self.rows.column(name.column)

    def _of_answer(self, part: syntax.Syntax) -> syntax.Syntax:
        """A part of having or order_by as SQL names it: the names of the answer stay."""
        titles = {title for title, _ in self.items}
        return deep(with_unit(part, self.unit), lambda name: name if name.column in titles else self.rows.put(name),
                     self.rows.put)

    @property
    def _answers(self) -> bool:
        """Whether anything is said of an answer."""
        return bool(self.keys or self.items or self.kept or self.sorting or self.other or self.skipped
                    ) or self.most is not None or self.bounds != syntax.NO_CAPS

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
            raise Refusal(f"{step}: {whose(one)}", cure="Ask of one table.")
        where = all_of(tuple(map(right.put, other.conditions)))
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

    def _single(self, part: syntax.Syntax, step: str) -> None:
        """Refuse what an expression of single rows cannot hold. Raises Refusal."""
        check_single(part, step, self.columns, [title for title, _ in self.items], self.rows.column)

    def _cohort(self, other: Frame[Q, M, A], step: str) -> syntax.Syntax:
        right = self._rows_of(other, step)
        for one in (self.rows, right):
            if not one.private:
                raise Refusal(
                    f"{step}: {show(one.title)} is a public table, and a cohort is of rows that units own.",
                    cure='List its values, as in .where(dp.col("city").isin("Leeds")), or join it.',
                )
            if one.unit is None:
                raise Refusal(f"{step}: {whose(one)}", cure="Write the condition in where.")
        made = cohort(self.rows, right, all_of(tuple(map(right.put, other.conditions))), step)
        weight = 1 + sum(weight_of(part) for part in self.conditions) + weight_of(made)
        sized(replace(self.rows, size=self.rows.size + weight))
        return made

def start(curator: Asked[Q, M, A], name: object, tables: Sequence[Table]) -> Frame[Q, M, A]:
    """The frame of a table, given by its exact name. Raises Refusal."""
    if not isinstance(name, str):
        raise Refusal("a table is given by its name.", cure='Write it as in curator.table("visits").')
    table = tables[find(name, True, [one.name for one in tables], what="table")]
    return Frame(curator, replace(stored(table), begin="" if table.private else _beginning(table, tables)))


def _beginning(public: Table, tables: Sequence[Table]) -> str:
    """How a question can have the columns of a public table."""
    pairs = [(one, its.name, other.name) for one in tables if one.private for its in one.columns
             for other in public.columns if its.type == other.type and its.name != one.unit]
    if not pairs:
        return "Ask of a private table."
    private, its, other = next((pair for pair in pairs if pair[1] == pair[2]), pairs[0])
    on = _text(its) if its == other else f"{{{_text(its)}: {_text(other)}}}"
    joined = f"curator.table({_text(private.name)}).join(curator.table({_text(public.name)}), on={on})"
    return f"Begin with a private table, and join it: {joined}."


def _text(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)
