"""`frame.per_unit(...).agg(...)`: a frame with one row for each unit and key, exact, since nothing of it is shown.

Checked in tests/fronts/test_frame_rows.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Generic, Protocol, Self, TypeVar

from dpcurator.errors import Refusal
from dpcurator.fronts.columns import UNITS, outside
from dpcurator.fronts.expressions import Expression
from dpcurator.fronts.frame_parts import all_of, key_item, with_keys
from dpcurator.fronts.frame_rows import Rows, inner_rows, weight_of
from dpcurator.fronts.sql import MAX_DEPTH
from dpcurator.language.names import show
from dpcurator.language.question import Item, Name, Select, Syntax, weigh
from dpcurator.language.render import depth


class Steps(Protocol):
    """What it needs of a frame that says nothing of an answer yet."""

    @property
    def rows(self) -> Rows: ...
    @property
    def conditions(self) -> tuple[Syntax, ...]: ...
    @property
    def items(self) -> tuple[tuple[str, Syntax], ...]: ...
    @property
    def unit(self) -> str | None: ...
    def agg(self, /, *unnamed: object, **items: Expression) -> Self: ...


F = TypeVar("F", bound=Steps)


@dataclass(frozen=True, slots=True)
class PerUnit(Generic[F]):
    """`frame.per_unit(...)`: one row for each unit and key, once `.agg(...)` says what of."""

    frame: F
    keys: tuple[tuple[str, Syntax], ...]
    of: Callable[[Rows], F] = field(compare=False)  # the frame of other rows, without conditions

    def agg(self, /, *unnamed: object, **items: Expression) -> F:
        """The frame with one row for each unit and key, and these columns, exact, since nothing of them is shown.

        items: `dp.count`, `dp.sum`, `dp.mean`, `dp.min`, `dp.max`, `dp.arg_min`, `dp.arg_max`, `dp.any`, `dp.all` or
        `dp.count_distinct` of the unit's rows, and what is computed of them. Raises Refusal.
        """
        frame = self.frame
        made = frame.agg(*unnamed, **items).items
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
        query = Select(
            (*(key_item(key, part) for key, part in ((unit, owner), *parts)),
             *(Item(put(with_keys(part, self.keys)), title, title) for title, part in made)),
            frame.rows.source, all_of(tuple(map(put, frame.conditions))), (owner, *(part for _, part in parts)),
        )
        for one in (*frame.conditions, *(part for _, part in (*self.keys, *made))):
            weigh(one)
            if depth(one, MAX_DEPTH) > MAX_DEPTH:
                raise Refusal(f"an expression is nested more than {MAX_DEPTH} deep.", cure="Simplify it.")
        size = sum(map(weight_of, frame.conditions))
        below = replace(frame.rows, size=frame.rows.size + size)
        return self.of(inner_rows(query, below, (*keys, *(title for title, _ in made))))
