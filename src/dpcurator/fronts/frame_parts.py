"""Expressions in the steps of a frame: what an argument holds, and which names may stand where.

Rows have columns; an answer has keys and the columns of `agg`, which are computed of aggregates and keys alone.
Checked in tests/fronts/test_frame.py.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from dpcurator.errors import Refusal
from dpcurator.fronts.columns import UNITS, aggregates, known_aggregates, outside
from dpcurator.fronts.expressions import Expression
from dpcurator.fronts.values import text
from dpcurator.language.names import nearest, quote, show
from dpcurator.language.question import Call, Item, Name, Syntax, chain, inside, with_parts
from dpcurator.language.render import leaves

Keys = Sequence[tuple[str, Syntax]]


def expression_of(given: object, step: str, example: str) -> Syntax:
    """The expression that an argument of a step is. Raises Refusal."""
    if not isinstance(given, Expression):
        what = repr(given) if isinstance(given, bool) or given is None else f"a value of type {type(given).__name__}"
        raise Refusal(f"{step} takes expressions, and this is {what}.", cure=f"Write it as in {example}.")
    return given.syntax


def title_of(title: str) -> str:
    """The name of a column as it is shown. Raises Refusal."""
    if not title:
        raise Refusal("a column of the answer needs a name.", cure="Write it as in agg(n=dp.count()).")
    return text(title)


def all_of(parts: tuple[Syntax, ...]) -> Syntax | None:
    """All of these conditions as one; None where there is none."""
    return chain("AND", [leaf for part in parts for leaf in leaves(part, "AND")]) if parts else None


def key_item(key: str, part: Syntax) -> Item:
    """A key in the select list, with an alias where it is no column of that name."""
    return Item(part, None if isinstance(part, Name) and part.column == key else key, key)


def check_single(
    part: Syntax, step: str, columns: Collection[str], titles: Collection[str], column: Callable[[str], str]
) -> None:
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
        if one.column not in columns and one.column in titles:
            raise Refusal(
                f"{step} looks at single rows, and {show(one.column)} is a column of the answer.",
                cure="Compare it in .having(...).",
            )
        column(one.column)


def check_names(keys: Keys, items: Keys, later: Sequence[Syntax], columns: Collection[str]) -> None:
    """Every name outside an aggregate is a key, or in having and order_by, which are `later`, a column of the answer.
    Raises Refusal."""
    titles = [title for title, _ in items]
    named = [key for key, _ in keys]
    for key in named:
        if key in titles:
            raise Refusal(f"{show(key)} is the name of two columns of the answer.", cure="Rename the one in agg.")
    for _, part in items:
        _among(part, named, titles, columns)
    for part in later:
        _among(part, (*named, *titles), [], columns)


def _among(part: Syntax, known: Sequence[str], titles: Sequence[str], columns: Collection[str]) -> None:
    for name in [one.column for one in outside(part) if isinstance(one, Name)]:
        if name in known:
            continue
        if name in titles:
            raise Refusal(
                f"agg computes from aggregates and keys, and {show(name)} is a column of the answer itself.",
                cure="Write the aggregate again: the same one twice is paid for once.",
            )
        if name in columns:
            raise Refusal(
                f"{quote(name)} is a column of single rows, which never leave the curator.",
                cure=f"Put it in an aggregate such as dp.mean({show(name)}), or in group_by.",
            )
        raise Refusal(
            f"there is no column {show(name)} in the answer.", cure=nearest(name, [*known, *titles], "column")
        )


def with_unit(part: Syntax, unit: str | None) -> Syntax:
    """The expression with dp.count_units() of this table's unit. Raises Refusal."""
    if UNITS not in outside(part):
        return part
    if unit is None:
        raise Refusal("dp.count_units(): each row of this table is a unit.", cure="Ask dp.count().")
    return replaced(part, UNITS, Call("COUNT", (Name(unit, True),), distinct=True))


def with_keys(part: Syntax, keys: Keys) -> Syntax:
    """The expression of an answer's column with each key under a name of its own spelled out."""
    for key, made in keys:
        if not isinstance(made, Name):
            part = replaced(part, Name(key, True), made)
    return part


def deep(part: Syntax, name: Callable[[Name], Syntax], rows: Callable[[Syntax], Syntax]) -> Syntax:
    """An expression of an answer: its names through `name`, what its aggregates are of through `rows`."""
    if isinstance(part, Name):
        return name(part)
    if isinstance(part, Call) and part.function in known_aggregates():
        return rows(part)
    within = inside(part)
    return with_parts(part, [deep(one, name, rows) for one in within]) if within else part


def replaced(part: Syntax, old: Syntax, new: Syntax) -> Syntax:
    """The expression with `new` wherever `old` stood."""

    if part == old:
        return new
    if isinstance(part, Call) and part.function in known_aggregates():
        return part  # what is inside an aggregate is of rows
    within = inside(part)
    return with_parts(part, [replaced(one, old, new) for one in within]) if within else part
