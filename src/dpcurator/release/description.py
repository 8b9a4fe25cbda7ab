"""A table described by one charge: each declared column summarised by its type.

    numbers with bounds            n, missing, mean, standard deviation, quartiles and median
    dates and times with bounds    n, missing, the first and the last twentieth, the median
    listed keys, truths            how many rows each has
    anything else                  n, missing, how many different values (of a number with fractions: none)

It is a batch that anybody can write: one SELECT of the whole table, and one grouping for each column with listed keys.
`questions_of` gives its questions as SQL, from the declaration alone, and `shares`, in which they divide the price: as
many parts as each has noisy queries, and of a grouping as many as the groups in which a unit counts, so that counts
have about equal bars. Within a question the price is shared as within any (pricing/goals.py). It is priced, charged,
stored, repeated and rehearsed as any batch is, with a receipt for each answer; everything here is made of the answers.
Checked in tests/curator/test_describe.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from dpcurator.catalog.model import EACH_ROW, Column, Table
from dpcurator.errors import Refusal
from dpcurator.numbers import decimal_text
from dpcurator.numbers.text_table import printable, table_text
from dpcurator.release.answer import MADE_UP, Answer
from dpcurator.values import Cell, Json

NUMBERS: Final = ("n", "missing", "mean", "sd", "q1", "median", "q3")
DATES: Final = ("n", "missing", "5 %", "median", "95 %")
VALUES: Final = ("n", "missing", "distinct")
SHOWN: Final = 6  # groups of a column, in a printed line
_FORMS: Final = {
    "n": "COUNT({0})", "missing": "1 - COUNT({0}) / COUNT(*)", "mean": "AVG({0})", "sd": "STDDEV({0})",
    "q1": "QUANTILE({0}, 0.25)", "median": "MEDIAN({0})", "q3": "QUANTILE({0}, 0.75)", "5 %": "QUANTILE({0}, 0.05)",
    "95 %": "QUANTILE({0}, 0.95)", "distinct": "COUNT(DISTINCT {0})",
}
_READINGS: Final = {"n": 1, "missing": 0, "mean": 1, "sd": 1}  # noisy queries that each adds; 1 for the others


@dataclass(frozen=True, slots=True)
class Part:
    """What is asked of one column. at: its answer's number in the batch, and the first of its columns there."""

    column: str
    type: str
    what: tuple[str, ...]  # () of listed keys: a grouping
    at: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Questions:
    """The batch: its questions as SQL, how they share a price, and what of the answers is of which column."""

    texts: tuple[str, ...]
    shares: tuple[int, ...]
    parts: tuple[Part, ...]
    units: bool  # whether the second column of the first answer is the number of units

    @property
    def sql(self) -> str:
        """As a file for `dpcurator ask --file`."""
        shares = ",".join(map(str, self.shares))
        return f"-- dpcurator ask --file FILE --shares {shares} --spend 10%\n" + ";\n\n".join(self.texts) + ";"


def questions_of(table: Table) -> Questions:
    """The batch that describes a table. Raises Refusal for a public one."""
    if not table.private:
        raise Refusal(f"the table {printable(table.name)!r} is public: anybody may look at it.",
                      cure="Name a private table.")
    name, items, parts, units = _quoted(table.name), ["COUNT(*) AS n"], list[Part](), False
    groups, shares, readings = list[str](), list[int](), 1
    if table.unit not in (EACH_ROW, None) and any(column.name == table.unit for column in table.columns):
        items.append(f"COUNT(DISTINCT {_quoted(table.unit or '')}) AS units")
        units, readings = True, 2
    for column in table.columns:
        if column.name == table.unit:
            continue
        what = _what(column)
        if not what:
            groups.append(f"SELECT {_quoted(column.name)}, COUNT(*) AS n FROM {name} GROUP BY {_quoted(column.name)}")
            shares.append(_across(table, column))
            parts.append(Part(column.name, column.type, (), (len(groups), 0)))
            continue
        parts.append(Part(column.name, column.type, what, (0, len(items))))
        items += [f"{_FORMS[one].format(_quoted(column.name))} AS {_quoted(f'{column.name} {one}')}" for one in what]
        readings += sum(_READINGS.get(one, 1) for one in what) - (column.missing is not None)
    whole = f"SELECT {', '.join(items)} FROM {name}"
    return Questions((whole, *groups), (readings, *shares), tuple(parts), units)


def _across(table: Table, column: Column) -> int:
    """In about how many groups of a column one unit counts whole, by the declared caps."""
    if column.per_unit or table.unit == EACH_ROW:
        return 1
    caps = [table.max_groups, len(column.keys) if column.keys else 2 if column.type == "boolean" else None]
    if table.max_total is not None:
        caps.append(table.max_total // (table.max_rows or table.max_total))
    return max(1, min((cap for cap in caps if cap is not None), default=1))


def _quoted(name: str) -> str:
    """In quotes whatever it is: it might be a word of SQL."""
    return '"' + name.replace('"', '""') + '"'


def _what(column: Column) -> tuple[str, ...]:
    """What is asked of a column; () for how many rows each of its keys has."""
    if column.lower is not None and column.type in ("integer", "float") and column.keys is None:
        return NUMBERS
    if column.lower is not None and column.keys is None:
        return DATES
    if column.keys is not None or column.type == "boolean":
        return ()
    return VALUES[:-1] if column.type == "float" else VALUES


@dataclass(frozen=True, slots=True, repr=False)
class Description:
    """A table's columns, each by its summary, with error bars. answers: of the batch, as they were paid for.

    Printed as tables; `as_json()` for machines; `found["age"]` is one column's summary, by what was asked of it.
    """

    table: str
    protects: str
    questions: Questions
    answers: tuple[Answer, ...]

    def __getitem__(self, column: str) -> dict[Any, Cell]:
        """Of one column: "n", "mean" and so on, each with its error bar; of listed keys, each with its number of rows.
        Raises Refusal for a name that none has."""
        for part in self.questions.parts:
            if part.column == column:
                return dict(self._cells(part))
        names = ", ".join(printable(part.column) for part in self.questions.parts)
        raise Refusal(f"there is no summary of {printable(str(column))!r}.", cure=f"Its columns are {names}.")

    def _cells(self, part: Part) -> Iterator[tuple[Any, Cell]]:
        number, first = part.at
        cells = self.answers[number].cells
        if not part.what:
            yield from ((row[0].value, row[1]) for row in cells)
        else:
            yield from zip(part.what, cells[0][first:], strict=False)

    def as_json(self) -> Json:
        """For machines: the summaries, each number with its error bar, and the answers with their receipts."""
        first = self.answers[0].cells[0]
        columns: list[Any] = []
        for part in self.questions.parts:
            cells = list(self._cells(part))
            told: Any = {name: cell.as_json() for name, cell in cells} if part.what else {
                "keys": [{"key": key} | cell.as_json() for key, cell in cells]}
            columns.append({"column": part.column, "type": part.type} | told)
        units = {"units": first[1].as_json()} if self.questions.units else {}
        return {"table": self.table, "rows": first[0].as_json(), **units, "columns": columns,
                "answers": [answer.as_json() for answer in self.answers]}

    def tables(self) -> str:
        """The summaries as they are printed, without what stands below an answer."""
        lines = self.answers[0].lines()[1]
        units = f", {lines[1]} {printable(self.protects)}" if self.questions.units else ""
        told = [f"{printable(self.table)}: {lines[0]} rows{units}"]
        for what in (NUMBERS, DATES, VALUES, VALUES[:-1]):
            rows = [[printable(part.column), *lines[part.at[1] : part.at[1] + len(what)]]
                    for part in self.questions.parts if part.what == what]
            if rows:
                told.append(table_text(["column", *what], rows, [False, *[True] * len(what)]))
        for part in self.questions.parts:
            if not part.what:
                told.append(f"{printable(part.column)}: {self._groups(part)}")
        return "\n\n".join(told)

    def _groups(self, part: Part) -> str:
        answer = self.answers[part.at[0]]
        sizes = [row[1].value for row in answer.cells]
        order = sorted(range(len(sizes)), key=lambda place: -float(sizes[place] or 0))
        texts = answer.lines()[1:]
        told = [f"{texts[place][0].strip()} {texts[place][1].strip()}" for place in order[:SHOWN]]
        more = len(order) - SHOWN
        return "; ".join([*told, *([f"and {more:,} more"] if more > 0 else [])])

    def __str__(self) -> str:
        first = self.answers[0]
        notes = list(dict.fromkeys(line for answer in self.answers for line in answer.told))
        if first.made_up:
            notes = [line for line in notes if not line.startswith("free; ")]  # of each question by itself
            return "\n\n".join([MADE_UP, self.tables(), "\n".join(["free: nothing was spent", *notes])])
        paid = [answer for answer in self.answers if not answer.repeated]
        cost = decimal_text(sum((answer.cost for answer in paid), Fraction(0)))
        rho, left = "rho " if first.currency == "rho" else "", f"(left {decimal_text(first.remaining)})"
        names = [str(answer.receipt_id) for answer in self.answers if answer.receipt_id]
        word = "receipts" if len(names) > 1 else "receipt"
        receipts = f"   {word} {' to '.join(dict.fromkeys((names[0], names[-1])))}" if names else ""
        again = "the same again is free" if paid else "a repeat: nothing was spent"
        foot = f"spent {rho}{cost} of {decimal_text(first.total)} {left}{receipts}   {again}"
        return "\n\n".join([self.tables(), "\n".join([foot, *notes])])

    __repr__ = __str__
