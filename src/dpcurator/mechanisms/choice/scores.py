"""Scores of candidates, read exactly: one number a candidate, and no rounding that a promise does not know of.

Definition  A score is the rational it is; a float is the dyadic of its bits. With a grid g a score u is read as the
            nearest multiple, g * floor(u/g + 1/2). A score that is no finite number (nan, an infinity, None, what a
            mask hides, a Decimal past 10**4000) is read as the declared constant `nan`, and refused where none was
            declared.
Promise     If neighbours move a score by at most s, they move what is read by at most `grid_sensitivity(s, g)`: s when
            s is a multiple of g, else the next multiple. Scores that all rise (or all fall) still do. The sensitivity
            is the user's, of the scores after `nan` took its place.

Proof. m(u) = floor(u/g + 1/2) never falls as u rises, and m(u + g) = m(u) + 1. Let u' <= u <= u' + s and k = ceil(s/g):
m(u') <= m(u) <= m(u' + k g) = m(u') + k. The bound is attained: u' = g/2 - x for small x, u = u' + s, s > (k-1) g.
Floats are put on the grid by mechanisms/grid_rounding.py, which has the proof; other numbers one by one, or in whole
numbers.
Limits      One score of 2**62 steps or more makes all of them Python ints, which take some twenty times as long:
            response times are not protected (semantics 7.3).
Source      semantics 5.4.
Checked     tests/mechanisms/test_exponential.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dpcurator.errors import Refusal
from dpcurator.mechanisms.choice.monotone import apart, declared
from dpcurator.mechanisms.grid_rounding import Reals
from dpcurator.numbers import positive, rational
from dpcurator.numbers.coerce import decimal_value, missing, unmasked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpcurator.numbers.rational import Numbers

_CURE = "Give one int, float or Fraction a candidate, in a list or a numpy array."


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """A score is values[i] * unit, exactly. values: int64, float64 (finite), or objects (int and Fraction); shape (n,).

    With a grid, `unit` is the grid and the values are whole: int64, or Python ints where one is 2**62 or more.
    """

    values: NDArray[Any]
    unit: Fraction

    def __len__(self) -> int:
        return len(self.values)

    def exact(self) -> list[Fraction]:
        """Every score, as Fractions; slow."""
        return [Fraction(value) * self.unit for value in self.values.tolist()]


def grid_sensitivity(sensitivity: Fraction, grid: Fraction | None) -> Fraction:
    """How far neighbours move a score that is read on the grid: `sensitivity`, rounded up to a multiple of it."""
    return sensitivity if grid is None else math.ceil(sensitivity / grid) * grid


def read_scores(scores: Numbers, *, grid: Fraction | None = None, nan: Fraction | None = None) -> Scores:
    """One score a candidate, from a list, a tuple or an array of one dimension.

    grid: Fraction > 0 or None; nan: Fraction or None. Raises Refusal for an empty list, for anything that is no number
    (bools and texts too), and for scores that are not finite where `nan` is None; never for any other number.
    """
    values, holes = _numbers(scores)
    if not len(values):
        raise Refusal("There are no candidates to choose from: the list of scores is empty.", cure=_CURE)
    if holes is not None and nan is None:
        raise Refusal(
            "A score is not finite (nan or infinite).",
            cure="Declare nan=..., the score that such a candidate has, and the sensitivity with it.",
        )
    if grid is not None:
        values = _on_grid(values, grid)
        constant: Any = None if nan is None else math.floor(nan / grid + Fraction(1, 2))
    else:
        constant = nan
    if holes is not None:
        values = _filled(values, holes, constant)
    return Scores(values, Fraction(1) if grid is None else grid)


class ByScores:
    """What every choice by private scores declares and how it reads them. A class made of it has the fields below."""

    if TYPE_CHECKING:

        @property
        def sensitivity(self) -> Fraction: ...

        @property
        def epsilon(self) -> Fraction: ...

        @property
        def monotone(self) -> bool: ...

        @property
        def grid(self) -> Fraction | None: ...

        @property
        def nan(self) -> Fraction | None: ...

    def __post_init__(self) -> None:
        """Keep the exact numbers. Raises Refusal."""
        for name, exact in (
            ("sensitivity", positive(self.sensitivity, name="sensitivity")),
            ("epsilon", positive(self.epsilon, name="epsilon")),
            ("monotone", declared(self.monotone)),
            ("grid", None if self.grid is None else positive(self.grid, name="grid")),
            ("nan", None if self.nan is None else rational(self.nan, name="nan")),
        ):
            object.__setattr__(self, name, exact)

    @property
    def rate(self) -> Fraction:
        """c in exp(c u), by which a score u counts; one over the scores' unit."""
        return self.epsilon / (apart(self.monotone) * grid_sensitivity(self.sensitivity, self.grid))

    def read(self, scores: Numbers) -> Scores:
        """The scores as they are read: exactly, on the grid if there is one.

        Raises Refusal for scores that are no numbers, or are missing where `nan` is not declared.
        """
        return read_scores(scores, grid=self.grid, nan=self.nan)


def _numbers(scores: object) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """The values, 0 in place of those that are not finite, and where these are (None when there are none)."""
    import numpy as np

    scores = unmasked(scores)
    if isinstance(scores, str | bytes | Mapping | set | frozenset):
        raise Refusal("Scores are numbers in the order of the candidates.", cure=_CURE)
    if not isinstance(scores, list | tuple | np.ndarray):
        if hasattr(scores, "__array__"):
            scores = np.asarray(scores)
        elif isinstance(scores, Iterable):
            scores = list(scores)
        else:
            raise Refusal("Scores are numbers in the order of the candidates.", cure=_CURE)
    if isinstance(scores, np.ndarray):
        if scores.ndim != 1:
            raise Refusal(f"Scores are one number a candidate, not an array of {scores.ndim} dimensions.", cure=_CURE)
        if scores.dtype.kind == "f" and scores.dtype.itemsize <= 8:
            return _finite(scores.astype(np.float64, copy=False))
        if scores.dtype.kind in "iu":
            wide = scores.dtype.kind == "u" and len(scores) and int(scores.max()) > 2**63 - 1  # of either byte order
            return scores.astype(object if wide else np.int64, copy=False), None
        if scores.dtype != object:
            raise Refusal("Scores are numbers, and this array is of others.", cure=_CURE)
        scores = scores.tolist()
    assert isinstance(scores, list | tuple)
    kinds = set(map(type, scores))
    if kinds <= {float}:
        return _finite(np.array(scores, dtype=np.float64))
    read = scores if kinds <= {int} else [_one(score) for score in scores]
    holes = np.array([value is None for value in read]) if kinds - {int} else None
    filled = [0 if value is None else value for value in read]
    try:
        if all(type(value) is int for value in filled):
            return np.array(filled, dtype=np.int64), holes if holes is not None and holes.any() else None
    except OverflowError:
        pass
    boxed = np.empty(len(filled), dtype=object)
    boxed[:] = filled
    return boxed, holes if holes is not None and holes.any() else None


def _finite(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any] | None]:
    import numpy as np

    whole = np.isfinite(values)
    if whole.all():
        return values, None
    return np.where(whole, values, 0.0), ~whole


def _one(score: object) -> int | Fraction | None:
    """One score as an exact number; None when it is not finite."""
    import numpy as np

    if missing(score):
        return None
    if isinstance(score, np.generic):
        score = score.item()
    if isinstance(score, bool) or not isinstance(score, int | float | Fraction | Decimal):
        raise Refusal("Scores are numbers, and one is none.", cure=_CURE)
    if isinstance(score, Decimal):
        score = decimal_value(score)
    if isinstance(score, float):
        if not math.isfinite(score):
            return None
        score = Fraction(score)
    if isinstance(score, Fraction):
        return int(score) if score.denominator == 1 else Fraction(score)
    return int(score)


def _on_grid(values: NDArray[Any], grid: Fraction) -> NDArray[Any]:
    """floor(value / grid + 1/2) for each, as int64, or as Python ints where one could be 2**62 or more."""
    import numpy as np

    p, q = grid.numerator, grid.denominator
    if values.dtype == np.int64:
        reach = max(abs(int(values.max())), abs(int(values.min())))
        if 2 * q * reach + p < 2**62:
            return (values * (2 * q) + p) // (2 * p)
    if values.dtype == np.float64:
        found = Reals(grid).steps(values)
        assert not isinstance(found, int)
        return found
    whole = [(2 * q * n + p * d) // (2 * p * d) for n, d in (_ratio(value) for value in values.tolist())]
    small = max(map(abs, whole)) < 2**62
    boxed = np.empty(len(whole), dtype=np.int64 if small else object)
    boxed[:] = whole
    return boxed


def _ratio(value: Any) -> tuple[int, int]:
    numerator, denominator = value.as_integer_ratio()
    return int(numerator), int(denominator)


def _filled(values: NDArray[Any], holes: NDArray[Any], constant: Any) -> NDArray[Any]:
    """The values with the declared constant in the holes, exactly."""
    import numpy as np

    whole = constant.denominator == 1
    if values.dtype == np.int64 and whole and abs(constant) < 2**62:
        return np.where(holes, np.int64(int(constant)), values)
    if values.dtype == np.float64:
        try:
            near = float(constant)
        except OverflowError:
            near = math.inf
        if math.isfinite(near) and Fraction(near) == constant:
            return np.where(holes, near, values)
        exact = [Fraction(value) for value in values.tolist()]
    else:
        exact = values.tolist()
    boxed = np.empty(len(exact), dtype=object)
    boxed[:] = [constant if hole else value for hole, value in zip(holes.tolist(), exact, strict=True)]
    return boxed
