"""An answer: rows of noisy values with their error bars, what they cost, and the receipt.

Printed short and aligned, with no digit beyond the noise. `as_json` has everything; `rows` has plain Python values.
Checked in tests/release/test_answer.py.
"""

from __future__ import annotations

import html
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from dpcurator.errors import Refusal
from dpcurator.numbers import decimal_text
from dpcurator.numbers.display import error_text, value_text
from dpcurator.numbers.text_table import printable, table_text
from dpcurator.values import Cell, Currency, Json

if TYPE_CHECKING:
    import pandas as pd


MADE_UP: Final = "MADE UP: a rehearsal over invented rows, not data"
OTHER, NULL = "(other)", "NULL"  # what stands in a table for all keys that are not shown, and for no value


@dataclass(frozen=True, slots=True)
class Answer:
    """What an analyst gets. `cells` holds values with errors; `receipt` vouches for them, and is None for a rehearsal.

    cost: what this question cost, in the ledger's currency; spent, total: the ledger after it. repeated: an answer
    already paid for. made_up: a rehearsal's, of rows that are nobody's; it has not looked at the ledger (spent is 0).
    """

    columns: tuple[str, ...]
    shown: tuple[str, ...]  # how each column is shown: whole, number, truth, or a key's type
    cells: tuple[tuple[Cell, ...], ...]
    confidence: Fraction
    notes: tuple[str, ...]
    cost: Fraction
    spent: Fraction
    total: Fraction
    currency: Currency = "epsilon"
    receipt: Json | None = None
    repeated: bool = field(default=False, compare=False)
    made_up: bool = False

    @property
    def rows(self) -> list[tuple[int | float | str | bool | None, ...]]:
        """The values, row by row, in the columns' order."""
        return [tuple(cell.value for cell in row) for row in self.cells]

    def error(self, column: str) -> list[float | None]:
        """The error bars of a column, row by row: the noise moved a value further with probability at most
        1 - confidence. None for keys, and where no bound can be given."""
        return [row[self._index(column)].error for row in self.cells]

    def interval(self, column: str) -> list[tuple[float | None, float | None]]:
        """The two ends of each value's interval, row by row."""
        return [(row[self._index(column)].low, row[self._index(column)].high) for row in self.cells]

    def _index(self, column: str) -> int:
        if column not in self.columns:
            raise Refusal(f"the answer has no column {column!r}.", cure=f"Its columns are {', '.join(self.columns)}.")
        return self.columns.index(column)

    @property
    def public(self) -> bool:
        """Whether all of it follows from public facts: no private data was read, and nothing was charged."""
        return not self.made_up and (self.receipt is None or "ledger" not in self.receipt)

    @property
    def remaining(self) -> Fraction:
        return self.total - self.spent

    @property
    def receipt_id(self) -> str | None:
        """The name of the receipt, as `dpcurator receipt` takes it: the start of the request's id; in a batch, whose
        questions are one request, also a point and a number. None for what is not in the ledger."""
        if self.receipt is None or self.public:
            return None
        batch = self.receipt.get("batch")
        return _short(str(self.receipt["request"])) + ("" if batch is None else f".{batch['index'] + 1}")

    def to_pandas(self) -> pd.DataFrame:
        """A data frame with a column per value and, for noisy ones, a column 'x ±' of error bars.

        attrs: "made_up"; and "other", the numbers of the rows whose missing key stands for all keys not shown.
        """
        import pandas as pd

        data: dict[str, list[Any]] = {}
        for index, title in enumerate(self.columns):
            unique, number = title, index + 1
            while unique in data or f"{unique} ±" in data:
                unique, number = f"{title} ({number})", number + 1
            data[unique] = [row[index].value for row in self.cells]
            if any(row[index].error is not None for row in self.cells):
                data[f"{unique} ±"] = [row[index].error for row in self.cells]
        frame = pd.DataFrame(data)
        frame.attrs["made_up"] = self.made_up
        frame.attrs["other"] = [number for number, row in enumerate(self.cells) if any(cell.other for cell in row)]
        return frame

    def as_json(self) -> Json:
        """Everything, for machines. Amounts are exact, as text."""
        return self.core_json() | {
            "currency": self.currency,
            "cost": decimal_text(self.cost),
            "spent": None if self.made_up else decimal_text(self.spent),
            "budget": decimal_text(self.total),
            "left": None if self.made_up else decimal_text(self.remaining),
            "repeated": self.repeated,
            "made_up": self.made_up,
            "receipt": self.receipt,
        }

    def core_json(self) -> Json:
        """What the receipt's hash covers: columns, values, error bars, confidence, notes."""
        return {
            "columns": list(self.columns),
            "shown": list(self.shown),
            "rows": [[cell.as_json() for cell in row] for row in self.cells],
            "confidence": str(self.confidence),
            "notes": list(self.notes),
        }

    def paid(self, *, cost: Fraction, spent: Fraction, receipt: Json | None, repeated: bool) -> Answer:
        return replace(self, cost=cost, spent=spent, receipt=receipt, repeated=repeated)

    def __str__(self) -> str:
        head = [MADE_UP] if self.made_up else []
        return "\n".join([*head, self.table(), *self._footer()])

    def table(self) -> str:
        """The rows alone, aligned."""
        return table_text(self.columns, self._texts(), self._numeric())

    def _texts(self) -> list[list[str]]:
        return [[_cell(cell, shown) for cell, shown in zip(row, self.shown, strict=True)] for row in self.cells]

    def _numeric(self) -> list[bool]:
        return [shown in ("whole", "number", "integer", "float") for shown in self.shown]

    def _footer(self) -> list[str]:
        if self.made_up:
            return [MADE_UP, *self.notes]
        left = f"(left {decimal_text(self.remaining)})"
        if self.public:
            return [f"public: no private data was read, nothing was spent {left}"]
        again = "a repeat: nothing was spent" if self.repeated else "the same question again is free"
        cost = decimal_text(Fraction(0) if self.repeated else self.cost)
        paid = f"spent {'rho ' if self.currency == 'rho' else ''}{cost} of {decimal_text(self.total)}"
        return [f"{paid} {left}   receipt {self.receipt_id}   {again}", *self.notes]

    def _repr_html_(self) -> str:
        heads = "".join(f"<th>{html.escape(printable(title))}</th>" for title in self.columns)
        body = "".join(
            "<tr>" + "".join(f'<td style="text-align:right">{html.escape(text)}</td>' for text in row) + "</tr>"
            for row in self._texts()
        )
        foot = "<br>".join(html.escape(line) for line in self._footer())
        caption = f"<caption><b>{MADE_UP}</b></caption>" if self.made_up else ""
        return f"<table>{caption}<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table><small>{foot}</small>"


def answer_of(core: Json, *, total: Fraction, currency: Currency = "epsilon") -> Answer:
    """The answer whose `core_json` this is, as yet without its price."""
    return Answer(
        columns=tuple(core["columns"]),
        shown=tuple(core["shown"]),
        cells=tuple(tuple(Cell(**cell) for cell in row) for row in core["rows"]),
        confidence=Fraction(core["confidence"]),
        notes=tuple(core["notes"]),
        cost=Fraction(0),
        spent=Fraction(0),
        total=total,
        currency=currency,
    )


def _short(request: str) -> str:
    return request[:8] if len(request) in (32, 64) else request


def _cell(cell: Cell, shown: str) -> str:
    value = cell.value
    if cell.other:
        return OTHER
    if value is None:
        return NULL
    if isinstance(value, str):
        return printable(_quoted(value) if value in (OTHER, NULL) or value[:1] == "'" else value)
    if isinstance(value, bool):
        return str(value)
    if shown not in ("whole", "number"):
        return str(value)
    error = None if cell.error is None else Fraction(cell.error)
    text = value_text(Fraction(value), error, whole=shown == "whole")
    return f"{text} ±{'?' if error is None else error_text(error)}"


def _quoted(text: str) -> str:
    """As SQL writes it: a text that could be taken for something else, or for one that is quoted."""
    return "'" + text.replace("'", "''") + "'"
