"""What each mechanism is handed, and how far neighbours may move it: one line a verb.

Definition  `MOVED[class][verb]` measures two inputs of one call: their distance in the norm that the mechanism has,
            beside the distance it was declared for. Reals and scores are compared as the mechanism reads them (mapped,
            clamped, on its grid), in exact rationals, since its loss is about these; records as multisets.
Promise     Where the distance is above what was declared, the promise of the mechanism does not cover this pair: a fact
            about the code, and no chance is in it. It says nothing yet about how far epsilon is passed.
Limits      `sample` gives noise alone, and what it is added to is not seen: None. The order of records is not compared.
Checked     tests/audit/test_replay.py, which walks MECHANISMS.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from dpcurator.numbers import decimal_text


@dataclass(frozen=True, slots=True)
class Move:
    """How far one call's input moved. `declared` and `distance` are in one unit, told by `norm`. broken: in words."""

    distance: Fraction
    declared: Fraction
    norm: str
    broken: str = ""

    @property
    def share(self) -> Fraction | None:
        """Of what was declared; None where any input may stand for any other."""
        return self.distance / self.declared if self.declared else None


Arguments = Mapping[str, Any]
Measure = Callable[[Any, Arguments, Arguments], "Move | None"]


def _over(distance: Fraction, allowed: Fraction, declared: Fraction, norm: str, *, root: bool = False) -> Move:
    """A move, and the words for one that is too far. allowed: `declared` as the grid rounds it. root: of squares."""
    if distance <= allowed:
        return Move(distance, allowed, norm)
    moved = f"the root of {decimal_text(distance)}" if root else decimal_text(distance)
    words = f"its input moved by {moved} in {norm}, and {decimal_text(declared)} was declared"
    excess = distance / allowed - 1
    if excess < Fraction(1, 10**9):
        words += f" (too much by {float(excess):.1e} of that: float arithmetic before the mechanism)"
    return Move(distance, allowed, norm, words)


def _steps(made: Any, value: Any) -> list[int]:
    found = made.values.steps(value)
    return [found] if isinstance(found, int) else [int(one) for one in found.ravel().tolist()]


def _real(made: Any, one: Arguments, other: Arguments) -> Move | None:
    """Laplace by l1, Gaussian by l2, of a value or a vector; and by no more coordinates than declared."""
    from dpcurator.mechanisms.grid import l1_steps, l2_squared_steps
    from dpcurator.mechanisms.noise.gaussian import Gaussian

    left, right = _steps(made, one["value"]), _steps(made, other["value"])
    if len(left) != len(right):
        return None  # told as a difference of shape
    steps = [abs(a - b) for a, b in zip(left, right, strict=True)]
    most, moving = made.coordinates or 1, sum(step > 0 for step in steps)
    if isinstance(made, Gaussian):
        square, allowed = sum(step * step for step in steps), l2_squared_steps(made.sensitivity, made.step, most)
        found = _over(square * made.step**2, allowed * made.step**2, made.sensitivity, "l2", root=True)
    else:
        allowed = l1_steps(made.sensitivity, made.step, most)
        found = _over(sum(steps) * made.step, allowed * made.step, made.sensitivity, "l1")
    if moving > most and not found.broken:
        words = f"{moving} coordinates of its input moved, and {most} {'was' if most == 1 else 'were'} declared"
        return Move(Fraction(moving), Fraction(most), "coordinates", words)
    return found


def _scores(made: Any, one: Arguments, other: Arguments) -> Move | None:
    from dpcurator.mechanisms.choice.scores import grid_sensitivity

    left, right = made.read(one["scores"]).exact(), made.read(other["scores"]).exact()
    if len(left) != len(right):
        return None
    steps = [b - a for a, b in zip(left, right, strict=True)]
    allowed = grid_sensitivity(made.sensitivity, made.grid)
    found = _over(max(map(abs, steps)), allowed, made.sensitivity, "one score")
    if made.monotone and not found.broken and min(steps) < 0 < max(steps):
        return Move(found.distance, found.declared, found.norm, "scores moved both ways, and monotone was declared")
    return found


def _question(session: Any, one: Arguments, other: Arguments) -> Move:
    made = session.mechanism
    moved = abs(made.distance(one["value"]) - made.distance(other["value"]))
    step = made.values.step
    return _over(moved * step, made.steps * step, made.sensitivity, "one question")


def _items(values: Any) -> list[Any]:
    if hasattr(values, "tolist"):
        values = values.tolist()
    return list(values) if isinstance(values, list | tuple) or hasattr(values, "__iter__") else [values]


def _apart(one: Any, other: Any, neighbours: str) -> Move:
    """Records as a multiset: how many neighbouring steps lie between."""
    left, right = Counter(map(repr, _items(one))), Counter(map(repr, _items(other)))
    gone, come = (left - right).total(), (right - left).total()
    steps = gone + come if neighbours == "add-remove" else max(gone, come)
    broken = ""
    if neighbours == "replace-one" and gone != come:
        sizes = f"{left.total()} records and {right.total()}"
        broken = f"its inputs have {sizes}, and {neighbours} keeps their number"
    elif steps > 1:
        broken = f"{steps} records of its input changed, and one was declared ({neighbours})"
    return Move(Fraction(steps), Fraction(1), f"records, {neighbours}", broken)


def _values(made: Any, one: Arguments, other: Arguments) -> Move:
    return _apart(one["values"], other["values"], made.neighbours)


def _data(made: Any, one: Arguments, other: Arguments) -> Move:
    return _apart(one["data"], other["data"], made.function.neighbours)


def _person(made: Any, one: Arguments, other: Arguments) -> Move:
    """One person's value may be any other: that is the local promise."""
    return Move(Fraction(repr(one["value"]) != repr(other["value"])), Fraction(1), "people")


def _people(made: Any, one: Arguments, other: Arguments) -> Move | None:
    left, right = _items(one["values"]), _items(other["values"])
    if len(left) != len(right):
        return None
    steps = sum(repr(a) != repr(b) for a, b in zip(left, right, strict=True))
    broken = f"{steps} people's values changed, and each report's loss is one person's" if steps > 1 else ""
    return Move(Fraction(steps), Fraction(1), "people", broken)


def _unseen(made: Any, one: Arguments, other: Arguments) -> None:
    return None


_NOISE: Final[dict[str, Measure]] = {"sample": _unseen}
_REAL: Final[dict[str, Measure]] = {"release": _real, "release_exact": _real, "sample": _unseen}
_LOCAL: Final[dict[str, Measure]] = {"respond": _person, "respond_many": _people}
_RECORDS: Final[dict[str, Measure]] = {"release": _data}
MOVED: Final[dict[str, dict[str, Measure]]] = {
    "DiscreteLaplace": _NOISE,
    "DiscreteGaussian": _NOISE,
    "Laplace": _REAL,
    "Gaussian": _REAL,
    "RandomisedResponse": _LOCAL,
    "UnaryEncoding": _LOCAL,
    "LocalHashing": _LOCAL,
    "HadamardResponse": _LOCAL,
    "SparseVector": {"start": _unseen},
    "Session": {"ask": _question, "ask_value": _question},
    "Exponential": {"select": _scores, "choose": _scores, "select_many": _scores},
    "NoisyMax": {"select": _scores, "select_with_value": _scores},
    "PermuteAndFlip": {"select": _scores},
    "TopK": {"select": _scores},
    "Quantile": {"release": _values},
    "InverseSensitivity": _RECORDS,
    "ProposeTestRelease": _RECORDS,
    "Smooth": _RECORDS,
}
PUBLIC: Final = ("size", "candidates")  # arguments that are no data: they must be the same
PRIVATE: Final = ("value", "values", "scores", "data")
