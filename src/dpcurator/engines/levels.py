"""Computed columns of one SQL query, in levels: each level a common table expression over the one before.

A part of an expression is named once, as a column, and mentioned by name after that; so the text grows with the number
of parts and never with how often a guard repeats one. Equal parts are one column, and a column is carried no further
than it is mentioned: else each of n levels would bind all the columns below it (10 s for 37 POWERs in each other). No
WHERE may look at a column of a level: DuckDB pushes it down and writes each name out again, in time exponential in the
depth (seen on 2.0.1, 80 seconds for ten REPLACEs); engines filter by a list of one row or none instead.
Checked in tests/engines/test_levels.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from dpcurator.catalog.model import Kind, Value

_NAME: Final = re.compile(r"\be[0-9]+\b")  # a column made here; no text over columns says it otherwise


@dataclass(frozen=True, slots=True)
class Words:
    """What engines spell differently in texts that they share."""

    without: str  # which columns * leaves out
    floor: str  # of the double {0}, as a double
    infinite: str  # whether the double {0} is
    whole: str  # the double {0}, a whole number of at most 64 bits, as an integer


class Constants(Protocol):
    """How an engine writes what a plan says."""

    @property
    def words(self) -> Words: ...

    def constant(self, value: Value, kind: Kind) -> str: ...


@dataclass(frozen=True, slots=True)
class Term:
    """Text over the columns of a level and those below."""

    text: str
    level: int = 0


@dataclass(slots=True)
class Levels:
    """The columns e0, e1, ... computed over a table."""

    parameters: Constants
    columns: list[list[tuple[str, str]]] = field(default_factory=list)  # by level from 1: (name, text)
    _named: dict[str, Term] = field(default_factory=dict)

    def inline(self, template: str, *parts: Term) -> Term:
        """Text with the parts in place; for a part that is mentioned once."""
        return Term(template.format(*(part.text for part in parts)), max((part.level for part in parts), default=0))

    def let(self, template: str, *parts: Term) -> Term:
        """The same as a column of its own, which may be mentioned any number of times."""
        made = self.inline(template, *parts)
        if made.text not in self._named:
            name = f"e{len(self._named)}"
            if made.level == len(self.columns):
                self.columns.append([])
            self.columns[made.level].append((name, made.text))
            self._named[made.text] = Term(name, made.level + 1)
        return self._named[made.text]

    def constant(self, value: Value, kind: Kind) -> Term:
        return Term(self.parameters.constant(value, kind))

    def double(self, value: float) -> Term:
        return self.constant(value, "float")

    def expressions(self, source: str, prefix: str, wanted: Sequence[Term]) -> tuple[str, list[tuple[str, str]]]:
        """The levels over `source` as (name, text) pairs, and the name of the last (`source` where there are none).

        A column is carried up to the last level that mentions it; those in `wanted` to the end.
        """
        last: dict[str, int] = {}
        for number, level in enumerate(self.columns):
            last |= {name: number for name, _ in level}
            last |= {name: number for _, text in level for name in _NAME.findall(text) if name in last}
        kept = {name for term in wanted for name in _NAME.findall(term.text)}
        ended: list[list[str]] = [[] for _ in self.columns]
        for name, number in last.items():
            if name not in kept:
                ended[number].append(name)
        steps = []
        for number, level in enumerate(self.columns):
            made = ", ".join(f"{text} AS {name}" for name, text in level)
            new = {name for name, _ in level}
            gone = ", ".join(name for name in ended[number] if name not in new)
            carried = f"* {self.parameters.words.without} ({gone})" if gone else "*"
            steps.append((f"{prefix}{number}", f"SELECT {carried}, {made} FROM {source}"))
            source = f"{prefix}{number}"
        return source, steps


Write = Callable[[Levels, tuple[Term, ...], tuple[Value, ...]], Term]  # a function's text, of its parts and literals


def plain(template: str) -> Write:
    """A column of the parts alone."""
    return lambda levels, parts, _: levels.let(template, *parts)


def int_of(value: Value) -> int:
    """A literal that is an integer by its function's definition."""
    assert isinstance(value, int)
    return value
