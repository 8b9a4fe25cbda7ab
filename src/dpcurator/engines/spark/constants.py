"""What a Spark statement is written with: types, constants and what differs in the texts that engines share.

Nothing of a plan reaches the text but digits: integers in decimal, doubles as the shortest decimals that read back as
they are, texts as the hexadecimal digits of their UTF-8. So no quote, escape, sign or parameter can change a statement.
Wide integers are DECIMAL(38,0): all of `engines/limits.py` is at most 2**126, and 2**126 < 10**38. A minus before one,
and abs of a negative one, round to 34 digits, so they are used only below 10**34; all else is exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from dpcurator.catalog.model import Kind, Value
from dpcurator.engines.levels import Levels, Term, Words
from dpcurator.numbers.rational import INT64

TYPES: Final[dict[Kind, str]] = {"integer": "BIGINT", "float": "DOUBLE", "text": "STRING"}
WIDE: Final = "DECIMAL(38,0)"
INFINITY: Final = "CAST('Infinity' AS DOUBLE)"
# `floor` makes a BIGINT, and raises beyond it; `rint` is a double, and the greatest whole one below is it or 1 less.
FLOOR: Final = "(rint({0}) - CASE WHEN rint({0}) > ({0}) THEN 1D ELSE 0D END)"
WORDS: Final = Words("EXCEPT", FLOOR, f"abs({{0}}) = {INFINITY}", "CAST({0} AS BIGINT)")


def integer(value: int, type_: str = "BIGINT") -> str:
    """An integer literal: digits alone, in quotes so that no sign or size can change its type."""
    return f"CAST('{value:d}' AS {type_})"


def text(value: str) -> str:
    return f"CAST(X'{value.encode().hex()}' AS STRING)"


@dataclass(slots=True)
class Constants:
    """What `Levels` asks an engine for."""

    words: ClassVar[Words] = WORDS

    def constant(self, value: Value, kind: Kind) -> str:
        if kind == "text":
            return text(str(value))
        assert value is not None
        assert not isinstance(value, str)
        return integer(int(value)) if kind == "integer" else f"CAST('{float(value) + 0.0!r}' AS DOUBLE)"


def wide(*values: int) -> str:
    """A type that holds all of these."""
    return "BIGINT" if all(value in INT64 for value in values) else WIDE


def clamp(x: str, low: str, high: str) -> str:
    """NULL stays NULL."""
    return f"CASE WHEN {x} < {low} THEN {low} WHEN {x} > {high} THEN {high} ELSE {x} END"


def divided(a: str, b: str) -> str:
    """floor(a / b) of wide a >= 0 and b >= 1, of which the result has at most 30 digits. What is divided leaves no
    remainder, so the digits after the point that a quotient of decimals has are zeros and nothing is rounded."""
    return f"CAST((({a}) - ({a}) % ({b})) / ({b}) AS {WIDE})"


def narrow(levels: Levels, found: Term) -> Term:
    """A wide integer in 64 bits, missing beyond them. What is cast is missing first, so no cast can raise."""
    named = levels.let("{}", found)
    ends = (Term(integer(end, WIDE)) for end in (INT64.start, INT64.stop - 1))
    return levels.let("CAST(CASE WHEN {0} BETWEEN {1} AND {2} THEN {0} END AS BIGINT)", named, *ends)
