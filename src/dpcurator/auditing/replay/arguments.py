"""How far the data that a mechanism is given may differ between neighbours: one measure for each kind of data.

Definition  A mechanism's row (mechanisms/__init__.py) names the kind for each of its verbs. `MOVED[class][verb]`
            compares two inputs of one call: their distance in the norm of that kind, beside the distance it was
            declared for. Reals and scores are compared as the mechanism reads them (mapped, clamped, on its grid), in
            exact rationals, since its loss is about these; records as multisets.
Promise     Where the distance is above what was declared, the promise of the mechanism does not cover this pair: a fact
            about the code, with no randomness in it. It says nothing yet about how far epsilon is passed.
Limits      `sample` gives noise alone, and what it is added to is not seen: None. The order of records is not compared.
Checked     tests/audit/test_replay.py, which walks MECHANISMS.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from dpcurator.mechanisms import ROWS
from dpcurator.mechanisms.protocol import Moves
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


def _moving(made: Any, one: Arguments, other: Arguments) -> tuple[list[int], int] | None:
    """By how many steps each coordinate moves, and how many may; None where the shapes differ, which is told there."""
    left, right = _steps(made, one["value"]), _steps(made, other["value"])
    if len(left) != len(right):
        return None
    return [abs(a - b) for a, b in zip(left, right, strict=True)], made.coordinates or 1


def _no_more(steps: list[int], most: int, found: Move) -> Move:
    """No more coordinates than were declared."""
    moving = sum(step > 0 for step in steps)
    if moving > most and not found.broken:
        words = f"{moving} coordinates of its input moved, and {most} {'was' if most == 1 else 'were'} declared"
        return Move(Fraction(moving), Fraction(most), "coordinates", words)
    return found


def _l1(made: Any, one: Arguments, other: Arguments) -> Move | None:
    """A value or a vector by its l1 distance."""
    from dpcurator.mechanisms.grid import l1_steps

    if (moved := _moving(made, one, other)) is None:
        return None
    steps, most = moved
    allowed = l1_steps(made.sensitivity, made.step, most)
    return _no_more(steps, most, _over(sum(steps) * made.step, allowed * made.step, made.sensitivity, "l1"))


def _l2(made: Any, one: Arguments, other: Arguments) -> Move | None:
    """A value or a vector by its l2 distance, squared."""
    from dpcurator.mechanisms.grid import l2_squared_steps

    if (moved := _moving(made, one, other)) is None:
        return None
    steps, most = moved
    square, allowed = sum(step * step for step in steps), l2_squared_steps(made.sensitivity, made.step, most)
    found = _over(square * made.step**2, allowed * made.step**2, made.sensitivity, "l2", root=True)
    return _no_more(steps, most, found)


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


def _query(session: Any, one: Arguments, other: Arguments) -> Move:
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


_MEASURES: Final[Mapping[Moves, Measure]] = {
    "nothing": _unseen,
    "l1": _l1,
    "l2": _l2,
    "scores": _scores,
    "query": _query,
    "values": _values,
    "records": _data,
    "person": _person,
    "people": _people,
}
_VERBS: Final = {row.name: row.takes for row in ROWS} | dict(row.run for row in ROWS if row.run)
MOVED: Final = {name: {verb: _MEASURES[moves] for verb, moves in takes.items()} for name, takes in _VERBS.items()}
PUBLIC: Final = ("size", "candidates")  # arguments that are no data: they must be the same
PRIVATE: Final = ("value", "values", "scores", "data")
