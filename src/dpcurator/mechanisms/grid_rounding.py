"""Real values to whole steps of a grid and back, exactly, for one value or millions.

Definition  x becomes floor(x / step + 1/2), clamped to the whole numbers that the bounds become; rounding is monotone,
            so that is the same as clamping first. A float *value* is the dyadic it is. nan (also None, NA, what a mask
            hides) becomes the declared constant `nan`; the infinities become the ends of `bounds`. Without these
            declared such a value is a Refusal, which tells of the data: see
            docs/decisions/0010-what-is-no-number-among-values.md.
Promise     No value is rounded by a float that could be wrong. Back, n becomes the double nearest to n * step (an
            infinity beyond the largest), which is post-processing.

Proof of the fast path. Let y be the double that x / step becomes, y* the real. For a power of two y = y*, or both are
within 2**-1000 of 0. Else the step's inverse c, rounded, and one product make |y - y*| <= 2**-52 |y*| + 2**-1074 <=
|y| 2**-51 + 2**-1074. y - floor(y) errs by at most 2**-54, when -1/2 < y < 0, where it is above 1/2 either way and
stays so; otherwise it is exact. The nearest whole number is floor(y), or one more from 1/2 on: it can differ between y
and y* only if a half lies between them. So it is right when | y - floor(y) - 1/2 | > |y| 2**-50 + 2**-50; the others
are settled exactly (numbers/exact_product.py), those beyond 2**48 one by one in whole numbers.
Back: |n| below 2**53 over odd(p), times p/q with q below 2**53, is one IEEE division of exact doubles, so correctly
rounded, times an exact power of two.
Limits      A value of 2**48 steps or more takes longer than another; response times are not protected (semantics 7.3).
Checked     tests/mechanisms/test_grid.py.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dpcurator.errors import Refusal
from dpcurator.numbers import rational
from dpcurator.numbers.coerce import decimal_value, missing, quotient, unmasked
from dpcurator.numbers.exact_product import FACTOR, TARGET, reaches

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ROOM = 1 << 62  # of an int64, that a sum with noise cannot pass unseen
_PIECE = 1 << 14
_NO_VECTOR = (list, tuple, str, bytes, Mapping, set, frozenset)  # what is one already, or has no order or no numbers
_CURE = "The sensitivity is that of the value so mapped."


@dataclass(frozen=True, slots=True)
class Reals:
    """step: Fraction > 0. low, high, nan: in whole steps, where declared."""

    step: Fraction
    low: int | None = None
    high: int | None = None
    nan: int | None = None

    @classmethod
    def declared(cls, step: Fraction, bounds: tuple[Fraction, Fraction] | None, nan: Fraction | None) -> Reals:
        plain = cls(step)
        low, high = (None, None) if bounds is None else (plain.rounded(bounds[0]), plain.rounded(bounds[1]))
        return cls(step, low, high, None if nan is None else plain.rounded(nan))

    def rounded(self, exact: Fraction) -> int:
        """floor(exact / step + 1/2), unclamped."""
        top, bottom = exact.numerator * self.step.denominator, exact.denominator * self.step.numerator
        return (2 * top + bottom) // (2 * bottom)

    def steps(self, value: object) -> int | NDArray[Any]:
        """One int; or for an array, list or tuple an array of its shape: int64, or Python ints if one needs more. An
        iterator is taken once."""
        if isinstance(value, int | float | Fraction | Decimal) or value is None:
            return self._one(value)
        import numpy as np

        value = unmasked(value)
        if not isinstance(value, _NO_VECTOR) and isinstance(value, Iterable) and not hasattr(value, "__array__"):
            value = list(value)
        if isinstance(value, list | tuple):
            plain = all(type(one) is float for one in value)
            values: NDArray[Any] = np.empty(len(value), dtype=np.float64 if plain else object)
            for i, one in enumerate(value):
                values[i] = one
        elif hasattr(value, "__array__"):
            values = np.asarray(value)
            values = np.ascontiguousarray(values) if values.ndim else values
        else:
            return self._one(value)
        if values.shape == ():
            return self._one(value if isinstance(value, np.generic) else values[()])
        if values.dtype.kind == "f" and values.dtype.itemsize <= 8:
            return self._floats(values.astype(np.float64, copy=False))
        if values.dtype.kind in "iu":
            return self._whole(values)
        return self._each(values)

    def _one(self, value: Any) -> int:
        exact = _exact(value)
        if isinstance(exact, Fraction):
            return self._clamped(self.rounded(exact))
        if exact == "nan":
            return self._nan()
        low, high = self._ends()
        return high if exact == "inf" else low

    def _clamped(self, n: int) -> int:
        return n if self.low is None or self.high is None else min(max(n, self.low), self.high)

    def _nan(self) -> int:
        if self.nan is None:
            raise Refusal("A value is not a number, and no constant stands for that.", cure=f"Declare nan=. {_CURE}")
        return self.nan

    def _ends(self) -> tuple[int, int]:
        if self.low is None or self.high is None:
            raise Refusal(
                "A value is infinite, and there are no bounds to put it at.",
                cure=f"Declare bounds=(low, high). {_CURE}",
            )
        return self.low, self.high

    def _each(self, values: NDArray[Any]) -> NDArray[Any]:
        import numpy as np

        out = np.empty(values.shape, dtype=object)
        out.flat[:] = [self._one(one) for one in values.flat]
        return _compact(out)

    def _whole(self, values: NDArray[Any]) -> NDArray[Any]:
        import numpy as np

        top, bottom = 2 * self.step.denominator, self.step.numerator
        most = max(abs(int(values.max())), abs(int(values.min()))) if values.size else 0
        if top * most + bottom >= _ROOM or 2 * bottom >= _ROOM:
            return self._each(values.astype(object))
        return self._within((top * values.astype(np.int64) + bottom) // (2 * bottom))

    def _within(self, found: NDArray[Any]) -> NDArray[Any]:
        """Clamped, where there are bounds; found: int64, all below _ROOM."""
        import numpy as np

        if self.low is None or self.high is None:
            return found
        if max(abs(self.low), abs(self.high)) >= _ROOM:
            found = found.astype(object)
        return _compact(np.minimum(np.maximum(found, self.low), self.high))

    def _floats(self, values: NDArray[Any]) -> NDArray[Any]:
        """In pieces that stay in the cache."""
        import numpy as np

        if values.size <= _PIECE:
            return self._piece(values)
        flat = values.reshape(-1)
        pieces = [self._piece(flat[start : start + _PIECE]) for start in range(0, len(flat), _PIECE)]
        return np.concatenate(pieces).reshape(values.shape)

    def _piece(self, values: NDArray[Any]) -> NDArray[Any]:
        import numpy as np

        known = np.isfinite(values)
        whole = bool(known.all())
        finite = values if whole else np.where(known, values, 0.0)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            y, exact = self._scaled(finite)
            found = np.floor(y)
            above = y - found
            margin = 0.0 if exact else np.abs(y) * 2.0**-50 + 2.0**-50
            doubtful = ~(np.abs(y) < 2.0**61)  # True for nan
            if not exact:
                doubtful |= ~(np.abs(above - 0.5) > margin)
            up = above >= 0.5
            if not exact and doubtful.any():
                self._halves(finite, found, up, doubtful)
            found += up
            found[doubtful] = 0.0
        steps = found.astype(np.int64)
        again = np.flatnonzero(doubtful)
        settled = [self.rounded(Fraction(one)) for one in finite.reshape(-1)[again].tolist()]
        if any(abs(n) >= _ROOM for n in settled):
            steps = steps.astype(object)
        if settled:
            steps.reshape(-1)[again] = settled
        if steps.dtype == object:
            steps = np.array([self._clamped(n) for n in steps.flat], dtype=object).reshape(steps.shape)
        else:
            steps = self._within(steps)
        return steps if whole else self._special(steps, values)

    def _halves(self, values: NDArray[Any], down: NDArray[Any], up: NDArray[Any], doubtful: NDArray[Any]) -> None:
        """Settles in `up` which values are nearer to the step above `down`, and clears them from `doubtful`."""
        import numpy as np

        top, bottom = self.step.numerator, self.step.denominator
        if top >= FACTOR or 2 * bottom >= FACTOR:
            return
        reach = min(TARGET // (4 * top) - 1, 1 << 48)  # to where y is within a quarter of y*: it is one of the two
        which = np.nonzero(doubtful & (np.abs(down) < reach))
        up[which] = reaches(values[which], 2 * bottom, (2 * down[which].astype(np.int64) + 1) * top)
        doubtful[which] = False

    def _special(self, steps: NDArray[Any], values: NDArray[Any]) -> NDArray[Any]:
        import numpy as np

        masks = [(np.isnan(values), self._nan)]
        masks += [(values == -np.inf, lambda: self._ends()[0]), (values == np.inf, lambda: self._ends()[1])]
        for mask, constant in masks:
            if mask.any():
                n = constant()
                steps = steps.astype(object) if abs(n) >= _ROOM else steps
                steps[mask] = n
        return steps

    def _scaled(self, values: NDArray[Any]) -> tuple[NDArray[Any], bool]:
        """values / step in doubles, and whether that is exact; nan everywhere when doubles cannot hold the step."""
        import numpy as np

        if not self._tame():
            return np.full(values.shape, np.nan), True
        power, top, bottom = _parts(self.step)
        if top == bottom == 1:
            return np.ldexp(values, -power), True
        return values * float(1 / self.step), False

    def _tame(self) -> bool:
        """Is the step, and what doubles multiply or divide by it, far from where doubles end?"""
        return 2**900 > self.step > Fraction(1, 2**900)

    def shown(self, n: int | NDArray[Any]) -> float | NDArray[Any]:
        """The doubles nearest to n * step."""
        if isinstance(n, int):
            return quotient(n * self.step.numerator, self.step.denominator)
        import numpy as np

        power, top, bottom = _parts(self.step)
        if n.dtype == object or not self._tame() or max(top, bottom) >= 1 << 53:
            return np.array(
                [quotient(int(one) * self.step.numerator, self.step.denominator) for one in n.flat], dtype=np.float64
            ).reshape(n.shape)
        out: NDArray[Any] = np.ldexp(n.astype(np.float64) * float(top) / float(bottom), power)
        if top != 1 or bottom != 1:
            far = np.flatnonzero((n > (1 << 53) // top) | (n < -((1 << 53) // top)))
            out.reshape(-1)[far] = [
                quotient(one * self.step.numerator, self.step.denominator) for one in n.reshape(-1)[far].tolist()
            ]
        return out

    def exactly(self, n: int | NDArray[Any]) -> Fraction | NDArray[Any]:
        """n * step as Fractions."""
        if isinstance(n, int):
            return n * self.step
        import numpy as np

        out = np.empty(n.shape, dtype=object)
        out.flat[:] = [int(one) * self.step for one in n.flat]
        return out

    def place(self, outcome: object) -> int | None:
        """The whole number of an outcome; None if it is no point of the grid. A float is the point shown as it is."""
        if isinstance(outcome, float):
            if not math.isfinite(outcome):
                return None
            n = self.rounded(Fraction(outcome))
            return n if self.shown(n) == outcome else None
        exact = rational(outcome, name="outcome") / self.step
        return int(exact) if exact.denominator == 1 else None


def declared_constants(bounds: object, nan: object) -> tuple[tuple[Fraction, Fraction] | None, Fraction | None]:
    """The parameters bounds=(low, high) and nan= as exact numbers; nan must lie within the bounds. Else a Refusal."""
    ends: tuple[Fraction, Fraction] | None = None
    if bounds is not None:
        if not isinstance(bounds, Sequence) or isinstance(bounds, str) or len(bounds) != 2:
            raise Refusal("bounds must be two numbers.", cure="Write bounds=(0, 100).")
        ends = rational(bounds[0], name="the lower bound"), rational(bounds[1], name="the upper bound")
        if ends[0] > ends[1]:
            raise Refusal("The lower of the bounds is above the upper.", cure="Write bounds=(0, 100).")
    constant = None if nan is None else rational(nan, name="nan")
    if constant is not None and ends is not None and not ends[0] <= constant <= ends[1]:
        raise Refusal("nan must stand for a number within the bounds.", cure="Write nan=0, bounds=(0, 100).")
    return ends, constant


def _exact(value: Any) -> Fraction | str:
    """The number that a value is; "nan", "inf" or "-inf". Raises Refusal for what is no value."""
    if missing(value):
        return "nan"
    if isinstance(value, Decimal):
        found = decimal_value(value)
        return found if isinstance(found, Fraction) else str(found)
    if type(value).__name__ not in ("bool", "bool_"):
        if isinstance(value, Fraction):
            return value
        if hasattr(value, "__index__") and getattr(value, "shape", ()) == ():
            return Fraction(operator.index(value))
        if hasattr(value, "as_integer_ratio"):
            if value != value:
                return "nan"
            if abs(value) == math.inf:
                return "inf" if value > 0 else "-inf"
            return Fraction(*value.as_integer_ratio())
    raise Refusal(
        "A value must be a number, and a vector one row of numbers.",
        cure="Turn texts and truths into numbers; give a vector as a list, a tuple, an iterator or an array.",
    )


def _compact(found: NDArray[Any]) -> NDArray[Any]:
    """int64 where every number has room in it."""
    import numpy as np

    if found.dtype != object or any(abs(n) >= _ROOM for n in found.flat):
        return found
    return found.astype(np.int64)


def _parts(step: Fraction) -> tuple[int, int, int]:
    """step = 2**power * top / bottom, with top and bottom odd."""
    top, bottom = step.numerator, step.denominator
    up, down = (top & -top).bit_length() - 1, (bottom & -bottom).bit_length() - 1
    return up - down, top >> up, bottom >> down
