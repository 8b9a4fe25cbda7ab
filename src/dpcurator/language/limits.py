"""How many steps computing an expression takes in Python, at most, and how many letters its text has.

A step is what a constant costs, about half a microsecond in `language/evaluate.py`; letters are dear only in great
numbers, but a pattern costs them once for each of its own. Used before keys are computed (`plan/public_keys.py`), so
that naming them is never long: what would be is refused. Checked in tests/plan/test_limits.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from dpcurator.language import patterns, rows
from dpcurator.language.functions import BY_NAME
from dpcurator.language.functions.function import LONGEST

MOST_STEPS: Final = 5_000_000  # for one list of keys: some seconds
KEY_LETTERS: Final = 30_000_000  # in all the keys of a list, and in all the texts of an answer
LETTERS: Final = 50  # that cost a step


@dataclass(slots=True)
class Budget:
    """Steps left. `short`: something was not computed for want of them."""

    left: int = MOST_STEPS
    short: bool = False

    def affords(self, times: int, cost: Cost) -> bool:
        """Whether this may be computed so many times; then it is paid."""
        if times * cost.steps > self.left or times * cost.letters > KEY_LETTERS:
            self.short = True
            return False
        self.left -= times * cost.steps
        return True


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one evaluation: steps, and letters of its text (0 where it is none); at most."""

    steps: int
    letters: int = 0


def cost(part: rows.Expression, letters_of: Callable[[int], int]) -> Cost:
    """Of an expression. letters_of: how long the texts of a column are."""
    found = tuple(cost(one, letters_of) for one in rows.parts_of(part)) if not isinstance(part, rows.Among) else ()
    inner = 1 + sum(one.steps for one in found)
    match part:
        case rows.Field(index, kind):
            return Cost(1, letters_of(index) if kind == "text" else 0)
        case rows.Constant(value):
            return Cost(1, len(value) if isinstance(value, str) else 0)
        case rows.Compute(name, _, _, literals):
            made = computed(name, tuple(one.letters for one in found), literals)
            return Cost(inner + made.steps, made.letters if part.kind == "text" else 0)
        case rows.Choose(branches, _, kind):
            texts = [one.letters for one in (*found[1 : 2 * len(branches) : 2], found[-1])]
            return Cost(inner, max(texts) if kind == "text" else 0)
        case rows.Compare():
            return Cost(inner + sum(one.letters for one in found) // LETTERS)
        case rows.Among(operand, values):
            own = cost(operand, letters_of)
            return Cost(own.steps + 1 + len(values) // 8 + own.letters // LETTERS)
        case rows.Like(_, pattern, escape):
            return Cost(inner + (found[0].letters + 1) * (len(patterns.tokens(pattern, escape)) + 1) // 3)
        case rows.Not() | rows.AllOf() | rows.AnyOf() | rows.IsMissing():
            return Cost(inner)
    return Cost(inner)


def computed(name: str, letters: tuple[int, ...], literals: tuple[object, ...]) -> Cost:
    """Of one function alone, whose parts have so many letters."""
    function = BY_NAME[name]
    most = min(function.letters(letters, literals), LONGEST)
    return Cost(function.steps + (sum(letters) + most) // LETTERS, most)
