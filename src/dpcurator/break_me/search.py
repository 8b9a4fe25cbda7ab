"""Try to break a curator on made-up rows: generated questions of its own schema, extreme neighbours, until time is up.

Definition  Over and over: a table of the schema and those of the same units, a made-up `World` of extreme units in all
            of them, a few questions of the one table or of several; each is compared on the world and on each of its
            neighbours by a `Probe`, which is handed in and knows the engines. The first mismatch is made small and is
            the end.
Promise     A function of the seed, up to where the time ends. What is found is a certain fact about the code, with rows
            that are nobody's: `Witness` says with which. Finding nothing proves nothing.
Checked     tests/break_me/test_break_me.py: wrong caps, clamps, claims and leaks are found.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Final, Protocol

from dpcurator.auditing.replay.mismatch import Mismatch
from dpcurator.auditing.replay.replay import FOUND, NOTHING
from dpcurator.break_me.questions import Question, Table, question
from dpcurator.break_me.shrink import smallest
from dpcurator.break_me.tables import EACH_ROW, fellows
from dpcurator.break_me.worst_case_tables import Rows, world

QUESTIONS: Final = 12  # of one world
_SEVERAL: Final = 0.5  # of these, so many use what may stand in FROM and look at other tables
_COUNTED: Final = {
    "COUNT(DISTINCT": "COUNT DISTINCT", "COUNT_IF(": "COUNT_IF", "SUM(": "SUM", "AVG(": "AVG", "MEDIAN(": "MEDIAN",
    "QUANTILE(": "QUANTILE", "CASE": "CASE", "GROUP BY": "GROUP BY", "WITH_OTHER": "WITH_OTHER", "WHERE": "WHERE",
    "HAVING": "HAVING", "LIMIT": "LIMIT", "FROM (SELECT": "subqueries", " JOIN ": "JOIN", "IN (SELECT": "IN",
    "EXISTS (": "EXISTS", "UNION ALL": "UNION ALL", "ROW_NUMBER()": "ROW_NUMBER", "QUALIFY": "QUALIFY",
}


@dataclass(frozen=True, slots=True)
class Tried:
    """What one question over one world came to. refused: in which words. broken: what, and with which neighbour."""

    refused: str = ""
    readings: int = 0
    pairs: int = 0
    engines: int = 0
    largest: Fraction = Fraction(0)
    broken: tuple[int, tuple[Mismatch, ...]] | None = None


class Probe(Protocol):
    """Asks one question over made-up tables and their neighbours; stops at the first mismatch."""

    def __call__(self, asked: Question, rows: Rows, others: Sequence[Rows]) -> Tried: ...


@dataclass(frozen=True, slots=True)
class Witness:
    """A question, two neighbouring worlds (made up), and what they break. columns: of each table, by its name.
    seed, world: how to find it again."""

    question: Question
    columns: Mapping[str, tuple[str, ...]]
    first: Rows
    second: Rows
    what: str
    mismatches: tuple[Mismatch, ...]
    seed: int
    world: int

    def as_json(self) -> dict[str, Any]:
        return {
            "question": self.question.text, "spend": self.question.spend, "neighbour": self.what,
            "columns": {name: list(columns) for name, columns in self.columns.items()},
            "first": self._by_table(self.first), "second": self._by_table(self.second),
            "mismatches": [one.as_json() for one in self.mismatches], "seed": self.seed, "world": self.world,
        }

    def __str__(self) -> str:
        lines = [str(self.mismatches[0]), f"  question   {self.question.text}  (for {self.question.spend})"]
        listed = [f"{name} ({', '.join(columns)})" for name, columns in self.columns.items()]
        parts = [("columns", listed)]
        for title, rows in (("one world", self.first), ("another", self.second)):
            shown = [f"{name} ({', '.join(map(repr, row))})" for name, row in rows[:8]]
            shown += [f"and {len(rows) - 8} rows more"] if len(rows) > 8 else [] if rows else ["no rows"]
            parts.append((title, shown))
        for title, told in parts:
            lines += [f"  {'' if number else title:<10} {text}" for number, text in enumerate(told)]
        return "\n".join(lines)

    def _by_table(self, rows: Rows) -> dict[str, list[list[Any]]]:
        return {name: [list(map(_plain, row)) for table, row in rows if table == name] for name in self.columns}


@dataclass
class Broken:
    """What was tried, and what was found."""

    seed: int
    seconds: float = 0.0
    worlds: int = 0
    questions: int = 0
    refused: int = 0
    refusal: str = ""  # the last one's words
    pairs: int = 0
    readings: int = 0
    engines: int = 0
    largest: Fraction = Fraction(0)
    witness: Witness | None = None
    seen: dict[str, int] = field(default_factory=dict)  # questions with each part, to show what was reached

    @property
    def verdict(self) -> str:
        return FOUND if self.witness else NOTHING

    def as_json(self) -> dict[str, Any]:
        return {
            "verdict": self.verdict, "seed": self.seed, "seconds": round(self.seconds, 1), "tables": self.worlds,
            "questions": self.questions, "refused": self.refused, "pairs": self.pairs, "readings": self.readings,
            "engines_compared": self.engines, "largest_share": str(self.largest), "reached": dict(self.seen),
            "witness": None if self.witness is None else self.witness.as_json(),
        }

    def __str__(self) -> str:
        lines = [
            f"{self.verdict}, in {self.seconds:.0f} seconds on made-up rows",
            f"  tried      {self.questions:,} questions over {self.worlds:,} tables; {self.refused:,} were refused",
            f"  compared   {self.pairs:,} pairs of neighbours, {self.readings:,} readings, "
            f"{self.engines:,} evaluations by both engines",
            f"  furthest   a unit moved a reading by {100 * float(self.largest):.4g} % of what was claimed at most",
            f"  reached    {', '.join(f'{name} {count:,}' for name, count in sorted(self.seen.items()))}",
        ]
        if self.witness is not None:
            lines += [f"  again with --seed {self.seed}", "", str(self.witness)]
        return "\n".join(lines)


def break_me(
    tables: Sequence[Table],
    neighbours: str,
    probe: Probe,
    *,
    seconds: float = math.inf,
    seed: int = 0,
    worlds: int | None = None,
    clock: Callable[[], float] = time.monotonic,
    told: Callable[[Broken], None] | None = None,
) -> Broken:
    """Search until something is found, so many worlds were seen, or the time is up, if there is a limit. tables: of
    the schema, some of them with units; the public ones are joined."""
    start, found = clock(), Broken(seed)
    while found.witness is None and clock() - start < seconds and (worlds is None or found.worlds < worlds):
        number = found.worlds
        luck = random.Random(f"break-me {seed} {number}")
        table = luck.choice([table for table in tables if table.unit is not None])
        used = fellows(table, tables)
        made = world(luck, used, neighbours)
        for _ in range(QUESTIONS):
            if clock() - start >= seconds:
                break
            asked = question(luck, table, used if luck.random() < _SEVERAL else ())
            tried = probe(asked, made.rows, [rows for _, rows in made.others])
            _count(found, asked, tried)
            if tried.broken is not None:
                place, mismatches = tried.broken
                what, other = made.others[place] if made.others else ("the tables themselves", made.rows)
                first = Witness(asked, {}, made.rows, other, what, mismatches, seed, number)
                found.witness = _small(first, used, probe)
                break
        found.worlds += 1
        found.seconds = clock() - start
        if told is not None:
            told(found)
    return found


def _count(found: Broken, asked: Question, tried: Tried) -> None:
    found.questions += 1
    found.refused += bool(tried.refused)
    found.refusal = tried.refused or found.refusal
    found.pairs += tried.pairs
    found.readings += tried.readings
    found.engines += tried.engines
    found.largest = max(found.largest, tried.largest)
    if not tried.refused:
        text = asked.text
        for part, title in _COUNTED.items():
            if part in text:
                found.seen[title] = found.seen.get(title, 0) + 1


def _small(witness: Witness, tables: Sequence[Table], probe: Probe) -> Witness:
    """The same, smaller, with the columns of the tables that have a part in it: the first is asked of."""

    def fails(asked: Question, one: Rows, other: Rows) -> bool:
        return probe(asked, one, [other]).broken is not None

    of_units = tables[0].unit != EACH_ROW
    asked, one, other = smallest(witness.question, witness.first, witness.second, fails, unit_rows=of_units)
    broken = probe(asked, one, [other]).broken
    if broken is not None:
        witness = replace(witness, question=asked, first=one, second=other, mismatches=broken[1])
    named = {tables[0].name, *(name for name, _ in (*witness.first, *witness.second))}
    columns = {table.name: tuple(column.name for column in table.columns) for table in tables if table.name in named}
    return replace(witness, columns=columns)


def _plain(value: Any) -> Any:
    """For JSON, which has no nan and no infinity."""
    return repr(value) if isinstance(value, float) and (value != value or abs(value) == float("inf")) else value
