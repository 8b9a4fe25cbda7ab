"""How far one unit can move each number: one rule a node, one rule a reading, one fold (MEANING 3).

Claim. For tables that differ in all the rows of one unit (add-remove), the integer vector of a reading moves at most
`linf` in each coordinate, `l1` in sum and `l2_squared` in sum of squares.

Argument. A unit's share n' of a key is at most one*m, and over its g keys it is at most
floor(one * min(c, m) * min(g, l0)/g) each, so at most one * m * min(g, l0) <= one * m * l0 in sum, and at most
g * (one * m * l0/g)^2 = one^2 m^2 l0^2/g <= one^2 m^2 l0 in sum of squares when g > l0, g * (one*m)^2 otherwise.
A key's reading is a sum over units, so removing one unit removes exactly its own share. Then, with 0 <= S' <= W n':

    count   |n'|           <= one * m                   = B
    sum     |S' + L n'|    <= n' max(|L|, |U|)          = B   as S' + L n' lies between L n' and U n'
    centred |2 S' - W n'|  <= W n'                      = B

so l1 <= l0 B and l2^2 <= l0 B^2 with l0 at most K. With `each row` a unit is one row in one key: m = l0 = one = 1.

Held by tests/laws/test_heart.py on both engines, and by a test there that weakens each rule by one and must fail.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from dpcurator.numbers import decimal_text
from dpcurator.plan.core import ONE
from dpcurator.plan.nodes import Ask, Bounded, Grouped, Rows, Where
from dpcurator.privacy.reading import Reading


@dataclass(frozen=True, slots=True)
class Reach:
    """What one unit can have in the rows that are left. None: no limit yet.

    rows: rows in one key; groups: keys it is in; keys: K; one: the integer that one whole row counts.
    """

    rows: int | None
    groups: int | None
    keys: int
    one: int
    steps: tuple[str, ...]

    def step(self, words: str) -> tuple[str, ...]:
        return (*self.steps, words)


@dataclass(frozen=True, slots=True)
class Steps:
    """A column's grid as stability needs it: bounds in steps of 2**-exponent of the column's unit."""

    lower: int = 0
    upper: int = 0
    exponent: int = 0

    def width(self) -> Fraction:
        """U - L as it is measured, in the column's unit."""
        return (self.upper - self.lower) * Fraction(2) ** -self.exponent


def _rows(node: Rows) -> Reach:
    if node.unit is None:
        return Reach(1, 1, 1, 1, (f"each row of {node.table} is one unit",))
    return Reach(None, None, 1, ONE, (f"a unit owns any number of rows of {node.table} (by {node.unit})",))


def _where(node: Where) -> Reach:
    below = stability(node.source)
    return replace(below, steps=below.step("WHERE looks at one row at a time: a unit's rows only become fewer"))


def _grouped(node: Grouped) -> Reach:
    below = stability(node.source)
    if not node.columns:
        return below
    names = ", ".join(column.name for column in node.columns)
    return replace(below, keys=node.keys, steps=below.step(f"GROUP BY {names}: {node.keys} listed keys, a row has one"))


def _bounded(node: Bounded) -> Reach:
    below = stability(node.source)
    if below.one == 1:
        return below
    groups = min(node.max_groups, below.keys)
    rows_word, keys_word = ("row" if node.max_rows == 1 else "rows"), ("key" if groups == 1 else "keys")
    words = f"scaled down to {node.max_rows} {rows_word} a key and {groups} {keys_word}"
    return replace(below, rows=node.max_rows, groups=groups, steps=below.step(words))


NODE_RULES: dict[type, Callable[..., Reach]] = {Rows: _rows, Where: _where, Grouped: _grouped, Bounded: _bounded}


def stability(node: Rows | Where | Grouped | Bounded) -> Reach:
    """Fold the rules over the plan's private part. A node without a rule is refused by name."""
    rule = NODE_RULES.get(type(node))
    if rule is None:
        raise TypeError(f"no stability rule for {type(node).__name__}")
    return rule(node)


def _count(rows: int, steps: Steps) -> int:
    return rows


def _units(rows: int, steps: Steps) -> int:
    return 1


def _values(rows: int, steps: Steps) -> int:
    return rows * max(abs(steps.lower), abs(steps.upper))


def _centred(rows: int, steps: Steps) -> int:
    return rows * (steps.upper - steps.lower)


ASK_RULES: dict[str, Callable[[int, Steps], int]] = {
    "rows": _count, "present": _count, "units": _units, "values": _values, "centred": _centred,
}  # fmt: skip


def reading(ask: Ask, reach: Reach, steps: Steps) -> Reading:
    """The bounds for one ask, as integers; `steps` is the grid of the ask's column (ignored by counts)."""
    if reach.rows is None or reach.groups is None:
        raise TypeError("a unit's rows have not been bounded")
    most = reach.one * ASK_RULES[ask.what](reach.rows, steps)
    groups = min(reach.groups, reach.keys)
    exponent = steps.exponent if ask.column is not None and ask.what in ("values", "centred") else 0
    return Reading(
        coordinates=reach.keys,
        linf=most,
        l1=groups * most,
        l2_squared=groups * most * most,
        unit=Fraction(2) ** -exponent / reach.one,
    )


def derivation(ask: Ask, reach: Reach, found: Reading) -> tuple[str, ...]:
    """The same in words, one step a line, ending in the sensitivity in the query's unit."""
    column = ask.column.name if ask.column is not None else ""
    what = {
        "rows": "a count of rows", "present": f"a count of the rows where {column} is present",
        "units": "a count of units, each once a key", "values": f"a sum of {column}, each value clamped to its bounds",
        "centred": f"a sum of {column} measured from the middle of its bounds, doubled",
    }[ask.what]  # fmt: skip
    most, total = (decimal_text(distance * found.unit) for distance in (found.linf, found.l1))
    return reach.step(f"{what}: one unit moves one key by at most {most}, all keys together by at most {total}")
