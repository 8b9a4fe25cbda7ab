"""Records moved to the nearest of public candidates: which one, exactly, for one record or millions.

Definition  Candidates are numbers in rising order, listed or on a grid. A record goes to the nearest, halves upward,
            those outside to the outermost, the infinities to the ends. A missing one (nan, None, NA, what a
            mask hides) is left out, or goes where the declared constant `nan` does.
Promise     A map of the record alone: neighbours in a record are neighbours in a place. So it must be exact, or a
            record could lie elsewhere for the type of a list that holds ints beside floats. No data makes it fail.
Proof       Between listed candidates the edges are exact, rounded up to the next int or double: an int or a double is
            at least the edge if and only if it is at least that. For grids see `_on_grid`.
Checked     tests/mechanisms/test_quantile.py.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dpcurator.errors import Refusal
from dpcurator.numbers.coerce import decimal_value, double_of, missing, unmasked
from dpcurator.numbers.exact_product import FACTOR, TARGET, reaches
from dpcurator.numbers.rational import INT64

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Nearest:
    """count candidates, at most 2**50: the ones `listed`, or (where that is empty) lower + k step for k < count."""

    count: int
    listed: tuple[Fraction, ...] = ()
    lower: Fraction = Fraction(0)
    step: Fraction = Fraction(1)
    nan: Fraction | None = None

    def candidate(self, place: int) -> int | float:
        """The candidate: an int where all are whole, else the double nearest to it."""
        if self.listed:
            whole = all(one.denominator == 1 for one in self.listed)
            value = self.listed[place]
        else:
            whole = self.lower.denominator == self.step.denominator == 1
            value = self.lower + place * self.step
        return int(value) if whole else double_of(value)

    def places(self, values: object) -> NDArray[Any]:
        """The number of the nearest candidate to each record, int64; missing ones left out, or where `nan` is."""
        import numpy as np

        read = _read(values)
        if read.dtype == object:
            held = [self._place(value) for value in read.tolist() if value is not None or self.nan is not None]
            return np.array(held, dtype=np.int64)
        found = self._places(read)
        if read.dtype == np.float64:
            missing = np.isnan(read)
            if missing.any():
                found = found[~missing] if self.nan is None else np.where(missing, self._place(None), found)
        return found

    def _place(self, value: int | float | Fraction | None) -> int:
        value = self.nan if value is None else value
        assert value is not None
        if isinstance(value, float):  # an infinity
            return 0 if value < 0 else self.count - 1
        if self.listed:
            return bisect_right(self._edges(), value)
        place = math.floor((value - self.lower) / self.step + Fraction(1, 2))
        return min(max(place, 0), self.count - 1)

    def _edges(self) -> list[Fraction]:
        """From which value on the next candidate is the nearest."""
        return [(one + other) / 2 for one, other in zip(self.listed, self.listed[1:], strict=False)]

    def _places(self, values: NDArray[Any]) -> NDArray[Any]:
        import numpy as np

        if not self.listed:
            return self._on_grid(values)
        if values.dtype == np.int64:
            whole = [math.ceil(edge) for edge in self._edges()]
            low = sum(edge < -(2**63) for edge in whole)
            edges = np.array([edge for edge in whole[low:] if edge < 2**63], dtype=np.int64)
            return low + np.searchsorted(edges, values, side="right")
        return np.searchsorted(np.array([_double_from(edge) for edge in self._edges()]), values, side="right")

    def _on_grid(self, values: NDArray[Any]) -> NDArray[Any]:
        """Floats where the nearest candidate cannot be in doubt, Fractions for the others.

        t = (x - lower) / step, in floats y, clipped to [-1, count], which changes no place. x (an int64 is rounded),
        lower, the difference, the step's inverse and the product err by 2**-53 of themselves each: |y - t| is at most
        (|lower| / step) 2**-52 + count 2**-51, plus what underflows. The margin is twice that.
        """
        import numpy as np

        if max(abs(self.lower), self.step, 1 / self.step) >= 2**400:
            exact = [0 if value != value else self._place(_plain(value)) for value in values.tolist()]
            return np.array(exact, dtype=np.int64)
        with np.errstate(invalid="ignore", over="ignore"):
            y = values - float(self.lower)
            y *= float(1 / self.step)
            np.clip(y, -1.0, float(self.count), out=y)
            down = np.floor(y)
            rest = np.subtract(y, down, out=y)
            margin = float(abs(self.lower) / self.step) * 2.0**-51 + self.count * 2.0**-50 + 2.0**-50
            near = np.abs(rest - 0.5) <= margin
            floor = down.copy() if near.any() else down
            down += rest >= 0.5
            np.clip(down, 0, self.count - 1, out=down)
        found = np.where(np.isnan(down), 0.0, down).astype(np.int64)
        if near.any() and margin < 0.25:
            near = self._halves(values, found, near, floor)
        if near.any():
            doubtful, which = np.unique(values[near], return_inverse=True)
            found[near] = np.array([self._place(_plain(value)) for value in doubtful.tolist()])[which]
        return found

    def _halves(
        self, values: NDArray[Any], found: NDArray[Any], near: NDArray[Any], floor: NDArray[Any]
    ) -> NDArray[Any]:
        """Puts into `found` the floats in doubt between `floor` and the next; which are still in doubt."""
        import numpy as np

        common = math.lcm(self.lower.denominator, self.step.denominator)
        start, wide = int(2 * common * self.lower), int(common * self.step)
        if values.dtype != np.float64 or 2 * common >= FACTOR or abs(start) + (2 * self.count + 3) * wide >= TARGET:
            return near
        below = floor[near].astype(np.int64)
        up = reaches(values[near], 2 * common, start + (2 * below + 1) * wide)
        found[near] = np.clip(below + up, 0, self.count - 1)
        return np.zeros_like(near)


def _read(values: object) -> NDArray[Any]:
    """int64; float64; or objects: ints, Fractions, infinities, and None for what is missing."""
    import numpy as np

    cure = "Give one number a record, in a list or an array of one dimension."
    values = unmasked(values)
    if isinstance(values, str | bytes | Mapping) or not (hasattr(values, "__array__") or isinstance(values, Iterable)):
        raise Refusal("Values are numbers, one a record.", cure=cure)
    array = np.asarray(values) if hasattr(values, "__array__") else None
    if array is not None and array.ndim != 1:
        raise Refusal("Values are numbers, one a record, in one dimension.", cure=cure)
    if array is not None and array.dtype.kind == "f" and array.dtype.itemsize <= 8:
        return array.astype(np.float64, copy=False)
    if array is not None and (array.dtype.kind == "i" or (array.dtype.kind == "u" and array.dtype.itemsize < 8)):
        return array.astype(np.int64, copy=False)
    if array is not None and array.dtype.kind not in "uO":
        raise Refusal("Values are numbers, and this array is of others.", cure=cure)  # a type tells the longest text
    listed: list[Any] = array.tolist() if array is not None else list(values)  # type: ignore[call-overload]
    kinds = set(map(type, listed))
    if kinds <= {float}:
        return np.array(listed, dtype=np.float64)
    if kinds <= {int} and min(listed) in INT64 and max(listed) in INT64:
        return np.array(listed, dtype=np.int64)
    boxed = np.empty(len(listed), dtype=object)
    boxed[:] = [_plain(value) for value in listed]
    return boxed


def _plain(value: Any) -> int | float | Fraction | None:
    import numpy as np

    if missing(value):
        return None
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, int | Fraction) and not isinstance(value, bool):
        return value
    if isinstance(value, Decimal):
        value = decimal_value(value)
        if isinstance(value, Fraction):
            return value
    if isinstance(value, float):
        return Fraction(value) if math.isfinite(value) else None if math.isnan(value) else value
    raise Refusal("Values are numbers, one a record.", cure="Leave out texts, dates and bools.")


def _double_from(edge: Fraction) -> float:
    """The least double that is at least `edge`."""
    near = double_of(edge)
    if near == -math.inf:
        return math.nextafter(-math.inf, 0)
    return near if near == math.inf or Fraction(near) >= edge else math.nextafter(near, math.inf)
