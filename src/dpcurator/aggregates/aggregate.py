"""What an aggregate is: its SQL name, the readings it asks for, and how noisy readings become its value.

`asks` may be empty: then the value is a public constant of the catalog (a sum of values clamped to [0, 0] is 0), no
data is touched and nothing is charged (MEANING 3).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from dpcurator.numbers.interval import Interval
from dpcurator.plan.nodes import Ask, Measured


@dataclass(frozen=True, slots=True)
class Aggregate:
    """`function` as SQL writes it; `argument`: star (*), column (any), unit (DISTINCT unit) or number (with bounds).

    finish(readings, column): from the noisy readings, in the order of `asks(column)` and in the query's unit, to the
    value with its interval. Rests on noisy values and public facts alone, so it is post-processing.
    """

    function: str
    argument: Literal["star", "column", "unit", "number"]
    asks: Callable[[Measured | None], tuple[Ask, ...]]
    finish: Callable[[tuple[Interval, ...], Measured | None], Interval]
    shown: Callable[[Measured | None], str]
    meaning: str
