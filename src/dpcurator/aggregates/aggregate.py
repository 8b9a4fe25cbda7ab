"""What an aggregate is: its SQL name, the readings it asks for, and how noisy readings become its value.

`asks` may be empty: then the value is a public constant of the catalog (a sum of values clamped to [0, 0] is 0, the
number of rows is n where that is public), no data is touched and nothing is charged (semantics 3).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from dpcurator.numbers.interval import Interval
from dpcurator.plan.nodes import Ask, Measured
from dpcurator.plan.stability import Reach


class Asks(Protocol):
    """The readings to pay for. `reach` is that of the plan: it holds the public n, if any; None: there is none."""

    def __call__(self, column: Measured | None, reach: Reach | None = None, /) -> tuple[Ask, ...]: ...


class Finish(Protocol):
    """The value with its interval, from the noisy readings in the order of `asks(column, reach)`, in the query's unit.

    Rests on noisy values and public facts alone, so it is post-processing.
    """

    def __call__(
        self, readings: tuple[Interval, ...], column: Measured | None, reach: Reach | None = None, /
    ) -> Interval: ...


@dataclass(frozen=True, slots=True)
class Aggregate:
    """`function` as SQL writes it; `argument`: star (*), column (any), unit (DISTINCT unit) or number (with bounds)."""

    function: str
    argument: Literal["star", "column", "unit", "number"]
    asks: Asks
    finish: Finish
    shown: Callable[[Measured | None], str]
    meaning: str


def public_count(column: Measured | None, reach: Reach | None) -> int | None:
    """The number of rows where the column (None: the row) is present, if it is the public n (semantics 2.6)."""
    return None if reach is None else reach.public_count(column)
