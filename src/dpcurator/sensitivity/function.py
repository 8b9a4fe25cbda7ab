"""What smooth noise, propose-test-release and a user's own function agree on.

Definition  A function with local sensitivity at a distance. LS(x) = max over neighbours y of x of |f(x) - f(y)|, and
            A_k(x) = max of LS(y) over datasets y within k neighbouring steps of x. Answers and A_k are ints, in steps
            of `unit(rows)`, which may depend on the number of rows where that is public, and on nothing else of data.
Promise     asked of whoever writes one: |f(x) - f(y)| <= A_0(x), and A_k(x) <= A_{k+1}(y), for neighbours x, y;
            A_k <= A_{k+1} <= greatest. Larger numbers than the true A_k are safe, smaller ones are not.
            `check_local` (in `enumerated`) tries this on every dataset of a small domain.
Source      Nissim, Raskhodnikova, Smith, STOC 2007, section 3 (sensitivity at distance k).
Checked     tests/sensitivity/test_windows.py, tests/sensitivity/test_enumerated.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from dpcurator.errors import Refusal
from dpcurator.numbers import positive, rational, whole
from dpcurator.numbers.coerce import real_value
from dpcurator.numbers.readable import readable
from dpcurator.sensitivity.sealed import LocalSensitivity

_LISTED = 1_000_000


@dataclass(frozen=True, slots=True)
class Grid:
    """The public range and step of answers, and of values: lower and upper are multiples of step."""

    lower: Fraction
    upper: Fraction
    step: Fraction

    __repr__ = readable

    def __post_init__(self) -> None:
        lower, upper = rational(self.lower, name="lower"), rational(self.upper, name="upper")
        step = positive(self.step, name="grid")
        if lower > upper:
            raise Refusal("lower is above upper.", cure="Write bounds as in lower=0, upper=100.")
        if (lower / step).denominator != 1 or (upper / step).denominator != 1:
            raise Refusal("lower and upper must be multiples of grid.", cure="Widen the bounds to the next multiples.")
        object.__setattr__(self, "lower", lower)
        object.__setattr__(self, "upper", upper)
        object.__setattr__(self, "step", step)

    @property
    def low(self) -> int:
        return int(self.lower / self.step)

    @property
    def high(self) -> int:
        return int(self.upper / self.step)

    def every(self) -> range:
        """Every step, for distributions that are listed. Raises Refusal above a million."""
        if self.high - self.low >= _LISTED:
            raise Refusal(f"The grid has more than {_LISTED:,} steps to list.", cure="Take a coarser grid for study.")
        return range(self.low, self.high + 1)

    def place(self, value: Any) -> int:
        """The step nearest to a value, halves upward, clamped; lower for nan and for what is no number."""
        exact = real_value(value)
        if exact is None:
            return self.low
        if isinstance(exact, float):
            return self.high if exact > 0 else self.low
        top, bottom = exact.numerator, exact.denominator
        step = self.step
        nearest: int = (2 * top * step.denominator + bottom * step.numerator) // (2 * bottom * step.numerator)
        return min(max(nearest, self.low), self.high)


class Function(Protocol):
    """See the module. `rows` is called once on the data; the other methods get what it gave."""

    @property
    def grid(self) -> Grid: ...
    @property
    def neighbours(self) -> str: ...
    def rows(self, data: Sequence[Any]) -> Any: ...
    def unit(self, rows: Any) -> Fraction: ...
    def answer(self, rows: Any) -> int: ...
    def local_sensitivity_at(self, rows: Any, k: int) -> int: ...
    def greatest(self, rows: Any) -> int: ...
    def farthest(self, rows: Any) -> int:
        """A distance at which A_k has become constant."""


METHODS = ("grid", "neighbours", "rows", "unit", "answer", "local_sensitivity_at", "greatest", "farthest")


def function_of(value: Any) -> Function:
    """`value`, if it is one. Raises Refusal otherwise."""
    missing = [name for name in METHODS if not hasattr(value, name)]
    if missing or isinstance(value, type):
        raise Refusal(
            "function must be one whose local sensitivity is known at every distance.",
            cure="Use dp.order_statistic, dp.trimmed_mean, dp.bounded_mean or dp.enumerated, or give an object with "
            f"{', '.join(METHODS)}.",
        )
    return value  # type: ignore[no-any-return]


def local_sensitivity(function: Function, data: Sequence[Any], distance: int = 0) -> LocalSensitivity:
    """The local sensitivity of a function at the data, or the largest within so many changed rows: sealed.

    A_k(x), the largest change that replacing one row makes to the function at any data within k rows of x. It is as
    private as the data: what is returned shows no number, and is for mechanisms alone.

    Parameters:
        function: as made by dp.order_statistic, dp.trimmed_mean, dp.bounded_mean or dp.enumerated.
        data: a list of rows. distance: int >= 0, k.

    Raises Refusal for anything else.

    >>> import dpcurator as dp
    >>> median = dp.order_statistic("1/2", lower=0, upper=100, grid=1)
    >>> dp.local_sensitivity(median, [20, 40, 53])
    <LocalSensitivity: sealed>

    Source: Nissim, Raskhodnikova, Smith 2007.
    """
    known, k = function_of(function), whole(distance, name="distance")
    rows = known.rows(data)
    return LocalSensitivity(known.local_sensitivity_at(rows, k), known.unit(rows), k)
