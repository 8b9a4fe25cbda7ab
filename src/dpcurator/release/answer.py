"""An answer: rows of noisy values with their error bars, what they cost, and the receipt.

Printed short and aligned, with no digit beyond the noise. `as_json` has everything; `rows` has plain Python values.
Checked in tests/release/test_answer.py.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from dpcurator.errors import Refusal
from dpcurator.numbers import decimal_text
from dpcurator.numbers.display import error_text, interval_text, value_text
from dpcurator.numbers.text_table import printable, table_text
from dpcurator.release.cut import Cut
from dpcurator.values import Cell, Currency, Json

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from dpcurator.release.release import Parts

MADE_UP: Final = "MADE UP: a rehearsal over invented rows, not data"
FIRST: Final = 60  # rows that a notebook shows
UNKNOWN: Final = "±?: no bound of the error is known, as where a count may be 0: ask at a higher price"
SMALL: Final = "~"  # before a value that is smaller than its own error bar
Totalled = Callable[[Sequence[str], Sequence[str]], "Answer"]
OTHER, NULL = "(other)", "NULL"  # what stands in a table for all keys that are not shown, and for no value


@dataclass(frozen=True, slots=True, repr=False)
class Answer:
    """An answer: rows of noisy values with confidence intervals, what they cost, and the receipt.

    `answer["n"]` is a column, `answer.rows` all of it, `answer.interval("n")` the two ends of each value's interval;
    `to_pandas`, `to_polars` and `to_arrow` make data frames. `receipt` vouches for the values, and is None for a
    rehearsal. cut: how many units were weighted down or had a value clamped, see `Cut`; None where none can be, or it
    was not paid for. notes: what error bars cover, whatever the data. hints: what else could be asked.

    cost: what this question cost, in the ledger's currency; spent, total: the ledger after it. repeated: an answer
    already paid for. made_up: a rehearsal's, of rows that are nobody's; it has not looked at the ledger (spent is 0).
    Raises Refusal if a column is asked for that is not there.

    >>> import dpcurator as dp
    >>> catalog = {
    ...     "curator": {"protects": "patients"}, "ledger": {"epsilon": 4},
    ...     "tables": {"visits": {"unit": "who", "max_total": 5, "columns": {
    ...         "who": "text", "city": {"type": "text", "keys": ["Leeds", "York"]},
    ...         "age": {"type": "integer", "bounds": [0, 110]}}}},
    ... }
    >>> answer = dp.rehearsing(catalog).rehearse("SELECT city, COUNT(*) AS n FROM visits GROUP BY city")
    >>> [city for city, n in answer]
    ['Leeds', 'York']
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
    cut: Cut | None = None
    hints: tuple[str, ...] = field(default=(), compare=False)
    parts: Parts | None = field(default=None, compare=False)  # what totals are made of
    adds_up: Answer | None = field(default=None, compare=False)  # of totals: the answer whose groups they add up
    sharpened: tuple[Json, ...] = field(default=(), compare=False)  # the receipts of the releases that it is a mean of
    elsewhere: Totalled | None = field(default=None, repr=False, compare=False)  # asks who has the parts for totals

    @property
    def rows(self) -> list[tuple[int | float | str | bool | None, ...]]:
        """The values, row by row, in the columns' order."""
        return [tuple(cell.value for cell in row) for row in self.cells]

    def error(self, column: str) -> list[float | None]:
        """The error bars of a column, row by row: the noise moved a value further with probability at most
        1 - confidence. None for keys, and where no bound can be given.
        Raises Refusal for a column that is not there."""
        return [row[self._index(column)].error for row in self.cells]

    def rank(self, column: str) -> list[float | None]:
        """Of a column of quantiles, by how many rows each may miss its quantile, row by row; None for all others.

        Raises Refusal for a column that is not there.
        """
        return [row[self._index(column)].rank for row in self.cells]

    def within_bar(self, column: str) -> list[bool]:
        """Row by row, whether a value is smaller than its own error bar, so that the noise alone might have made it.
        Such values are shown with a ~ before them. Raises Refusal for a column that is not there."""
        place = self._index(column)
        return [row[place].within_bar for row in self.cells]

    def interval(self, column: str) -> list[tuple[float | None, float | None]]:
        """The two ends of each value's interval, row by row. Raises Refusal for a column that is not there."""
        return [(row[self._index(column)].low, row[self._index(column)].high) for row in self.cells]

    def totals(self, *columns: str, by: Sequence[str]) -> Answer:
        """The same over fewer groups, as in answer.totals("n", by=["city"]): free, from the noisy numbers of this one.

        columns: noisy columns of the answer; none: all that have totals. by: what is still grouped by, of the columns
        that the answer is grouped by; []: nothing, one row in all. A total is of all listed groups, also of those that
        HAVING or LIMIT does not show; an average is that of the sums. Its error bar is that of the sum of the groups'
        noise. It has no receipt of its own: that of the answer vouches for what it is made of. Raises Refusal where
        keys are unknown, and for COUNT(DISTINCT unit) over columns of which a unit may have several values.
        """
        from dpcurator.release.totals import totals

        if self.parts is None and self.elsewhere is not None:
            return replace(self.elsewhere(columns, by), repeated=True, adds_up=self)
        if self.parts is None:
            raise Refusal(
                "this answer is without the noisy numbers that totals are made of.",
                cure="Ask the same question at the same price again, which is free, and total that answer.",
            )
        found = totals(self.parts, columns, by, self.notes)
        return replace(
            self, columns=found.columns, shown=found.shown, cells=found.cells, notes=found.notes,
            cost=Fraction(0), receipt=None, repeated=True, hints=(), parts=None, adds_up=self, sharpened=(),
        )

    def _index(self, column: str) -> int:
        if not isinstance(column, str) or column not in self.columns:
            what = repr(column) if isinstance(column, str | int) else f"of type {type(column).__name__}"
            raise Refusal(f"the answer has no column {what}.", cure=f"Its columns are {', '.join(self.columns)}.")
        places = [str(place) for place, title in enumerate(self.columns, 1) if title == column]
        if len(places) > 1:
            raise Refusal(
                f"columns {' and '.join(places)} of the answer are both called {column!r}.",
                cure="Ask with a name for each, as in COUNT(*) AS n, SUM(age) AS total; or read answer.to_pandas().",
            )
        return self.columns.index(column)

    @property
    def told(self) -> tuple[str, ...]:
        """What is said below the rows: the cut and the notes, the cut first where it is large; and the hints."""
        return (*(self.notes if self.cut is None else self.cut.among(self.notes)), *self.hints)

    @property
    def public(self) -> bool:
        """Whether all of it follows from public facts: no private data was read, and nothing was charged."""
        if self.adds_up is not None:
            return self.adds_up.public
        return not self.made_up and (self.receipt is None or {"ledger", "shared"}.isdisjoint(self.receipt))

    @property
    def paid_before(self) -> bool:
        """Whether all of it is made of noisy numbers that earlier answers paid: nothing was read or charged for it."""
        return self.receipt is not None and "shared" in self.receipt and "ledger" not in self.receipt

    @property
    def remaining(self) -> Fraction:
        return self.total - self.spent

    @property
    def receipt_id(self) -> str | None:
        """The name of the receipt, as `dpcurator receipt` takes it: the start of the request's id; in a batch, whose
        questions are one request, also a point and a number. None for what is not in the ledger."""
        if self.receipt is None or "ledger" not in self.receipt:
            return None
        return receipt_name(self.receipt)

    def to_pandas(self) -> pd.DataFrame:
        """A pandas data frame: a column `n` for each value and, for noisy ones, `n ±`, `n_low`, `n_high` and
        `n_within_bar`.

        Whole numbers are exact, dates are dates (`release/frames.py`). attrs: "made_up"; and "other", the numbers of
        the rows whose missing key stands for all keys not shown. Raises Refusal where pandas is not installed.
        """
        from dpcurator.release.frames import to_pandas

        return to_pandas(self)

    def to_polars(self) -> pl.DataFrame:
        """The same as a polars data frame; where there is such a row, the column `(other)` says which it is, and a
        rehearsal has the column `made_up`. Raises Refusal where polars is not installed."""
        from dpcurator.release.frames import to_polars

        return to_polars(self)

    def to_arrow(self) -> pa.Table:
        """The same as an Arrow table, with the columns of `to_polars`. Raises Refusal without pyarrow."""
        from dpcurator.release.frames import to_arrow

        return to_arrow(self)

    def __len__(self) -> int:
        """How many rows it has."""
        return len(self.cells)

    def __iter__(self) -> Iterator[tuple[int | float | str | bool | None, ...]]:
        """The rows, as in `rows`."""
        return iter(self.rows)

    def __getitem__(self, column: str) -> list[Any]:
        """The values of a column, as in answer["n"]; also answer["n ±"], answer["n_low"], answer["n_high"] and
        answer["n_within_bar"].

        Dates are the texts that the receipt signs; the data frames have them as dates. Raises Refusal for a name that
        no column has, and for one that two have.
        """
        from dpcurator.release.frames import NOISY

        if isinstance(column, str) and column not in self.columns:
            for title, shown in zip(self.columns, self.shown, strict=True):
                if column == f"{title} rank ±" and any(row[self._index(title)].rank is not None for row in self.cells):
                    return list(self.rank(title))
                ends = {f"{title} ±": "error", f"{title}_low": "low", f"{title}_high": "high"}
                if shown in NOISY and column in ends:
                    return [getattr(row[self._index(title)], ends[column]) for row in self.cells]
                if shown in NOISY and column == f"{title}_within_bar":
                    return self.within_bar(title)
        return [row[self._index(column)].value for row in self.cells]

    def as_json(self) -> Json:
        """Everything, for machines. Amounts are exact, as text. within_bar: of each row, which of its values are
        smaller than their own error bars."""
        return self.core_json() | {
            "currency": self.currency,
            "cost": decimal_text(self.cost),
            "spent": None if self.made_up else decimal_text(self.spent),
            "budget": decimal_text(self.total),
            "left": None if self.made_up else decimal_text(self.remaining),
            "repeated": self.repeated,
            "made_up": self.made_up,
            "within_bar": [[cell.within_bar for cell in row] for row in self.cells],
            "receipt": self.receipt,
        } | ({} if self.adds_up is None or self.sharpened else {"totals_of": self.adds_up.receipt_id}) | (
            {"sharpened": list(self.sharpened)} if self.sharpened else {})

    def core_json(self) -> Json:
        """What the receipt's hash covers: columns, values, error bars, confidence, notes; the cut where it has one."""
        core: Json = {
            "columns": list(self.columns),
            "shown": list(self.shown),
            "rows": [[cell.as_json() for cell in row] for row in self.cells],
            "confidence": str(self.confidence),
            "notes": list(self.notes),
        }
        return core if self.cut is None else core | {"cut": self.cut.as_json()}

    def paid(self, *, cost: Fraction, spent: Fraction, receipt: Json | None, repeated: bool) -> Answer:
        """The same answer with what it cost, what is spent since, and its receipt."""
        return replace(self, cost=cost, spent=spent, receipt=receipt, repeated=repeated)

    def __str__(self) -> str:
        head = [MADE_UP] if self.made_up else []
        return "\n".join([*head, self.table(), *self.foot()])

    def __repr__(self) -> str:
        """As printed, of the first rows."""
        head = [MADE_UP] if self.made_up else []
        table = table_text(self.columns, self._texts(FIRST), self.right())
        return "\n".join([*head, table, *self._more("print(answer)"), *self.foot()])

    def table(self) -> str:
        """The rows alone, aligned."""
        return table_text(self.columns, self._texts(), self.right())

    def _texts(self, most: int | None = None) -> list[list[str]]:
        rows = self.cells[:most]
        return [[_cell(cell, shown) for cell, shown in zip(row, self.shown, strict=True)] for row in rows]

    def _more(self, how: str) -> list[str]:
        rows = len(self) - FIRST
        return [f"... and {rows:,} more row{'s' if rows > 1 else ''}: {how}"] if rows > 0 else []

    def right(self) -> list[bool]:
        """Which columns are aligned to the right."""
        return [shown in ("whole", "number", "integer", "float") for shown in self.shown]

    def foot(self) -> list[str]:
        """What stands below the rows: the price, the receipt's name, the notes."""
        told = [*self.told, *([UNKNOWN] if self._unknown() else []), *self._small(), *self._sizes()]
        if self.made_up:
            return [MADE_UP, *told]
        left = f"(left {decimal_text(self.remaining)})"
        if self.sharpened:
            names = ", ".join(receipt_name(one) for one in self.sharpened)
            many = f"the mean of {len(self.sharpened)} releases {_priced(self.sharpened, self.currency)}, receipts"
            many = many if len(self.sharpened) > 1 else "the first release, receipt"
            spent = f"spent {'rho ' if self.currency == 'rho' else ''}{decimal_text(self.cost)} of "
            return [f"{spent}{decimal_text(self.total)} {left}   {many} {names}", *told]
        if self.adds_up is not None:
            of = self.adds_up.receipt_id
            return [f"totals{f' of receipt {of}' if of else ''}: nothing was spent {left}", *told]
        if self.public:
            return [f"public: no private data was read, nothing was spent {left}"]
        if self.paid_before:
            return [f"spent 0 of {decimal_text(self.total)} {left}   made of numbers that were paid for before", *told]
        again = "a repeat: nothing was spent" if self.repeated else "the same question again is free"
        cost = decimal_text(Fraction(0) if self.repeated else self.cost)
        paid = f"spent {'rho ' if self.currency == 'rho' else ''}{cost} of {decimal_text(self.total)}"
        return [f"{paid} {left}   receipt {self.receipt_id}   {again}", *told]

    def _unknown(self) -> bool:
        """Whether a value is shown with ±?."""
        return any(
            shown in ("whole", "number") and cell.value is not None and cell.error is None and cell.rank is None
            for row in self.cells for cell, shown in zip(row, self.shown, strict=True)
        )

    def _drowned(self) -> list[bool]:
        """Of each noisy value with an error bar, whether it is within it."""
        return [cell.within_bar for row in self.cells for cell, shown in zip(row, self.shown, strict=True)
                if shown in ("whole", "number") and cell.error is not None]

    def _small(self) -> list[str]:
        found = self._drowned()
        count, values = sum(found), f"{len(found):,} value{'s' if len(found) > 1 else ''}"
        words = "is smaller than its own ±" if count == 1 else "are smaller than their own ±"
        return [f"~ {count:,} of {values} {words}"] if count else []

    def _sizes(self) -> list[str]:
        """From how many units on a key that nobody listed is shown, as the receipt's rule says."""
        receipt = self.receipt or {}
        if receipt.get("selection") is None:
            return []
        from dpcurator.mechanisms.key_selection import selection_of
        from dpcurator.pricing.selecting import Selecting

        rule = selection_of(receipt["selection"]["rule"])
        return [Selecting(rule, *[Fraction(0)] * 3).sizes_told(printable(receipt["protects"]))]

    def lines(self) -> list[list[str]]:
        """The heads and the rows as they are shown."""
        return [list(self.columns), *self._texts()]

    def to_html(self, most: int | None = None) -> str:
        """A table of HTML, safe whatever the texts are; with `most` of its first rows alone."""
        heads = "".join(f"<th>{html.escape(printable(title))}</th>" for title in self.columns)
        body = "".join(
            "<tr>" + "".join(f'<td style="text-align:right">{html.escape(text)}</td>' for text in row) + "</tr>"
            for row in self._texts(most)
        )
        more = [] if most is None else self._more("answer.to_pandas()")
        foot = "<br>".join(html.escape(line) for line in [*more, *self.foot()])
        caption = f"<caption><b>{MADE_UP}</b></caption>" if self.made_up else ""
        return f"<table>{caption}<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table><small>{foot}</small>"

    def _repr_html_(self) -> str:
        return self.to_html(FIRST)


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
        cut=Cut(**core["cut"]) if "cut" in core else None,
    )


def _priced(receipts: Sequence[Json], currency: str) -> str:
    """At which prices releases were paid, and so how they count in their mean."""
    amounts = [decimal_text(Fraction(one[currency])) for one in receipts]
    if len(set(amounts)) == 1:
        return f"at {currency} {amounts[0]} each"
    return f"at {currency} {', '.join(amounts[:-1])} and {amounts[-1]}, weighted by inverse variance"


def receipt_name(receipt: Json) -> str:
    """The name of a receipt that is in the ledger."""
    batch = receipt.get("batch")
    return _short(str(receipt["request"])) + ("" if batch is None else f".{batch['index'] + 1}")


def _short(request: str) -> str:
    return request[:8] if len(request) in (32, 64) else request


def _cell(cell: Cell, shown: str) -> str:
    value = cell.value
    if cell.other:
        return OTHER
    if value is None:
        return NULL
    if cell.rank is not None:
        return f"{_plainly(value, shown)} (rank ±{error_text(Fraction(cell.rank))})"
    if isinstance(value, str):
        return printable(_quoted(value) if value in (OTHER, NULL) or value[:1] == "'" else value)
    if isinstance(value, bool):
        return str(value)
    if shown not in ("whole", "number"):
        return str(value)
    error, mark = None if cell.error is None else Fraction(cell.error), SMALL if cell.within_bar else ""
    if error and cell.low is not None and cell.high is not None and _cut(cell, shown):
        return mark + interval_text(Fraction(cell.low), Fraction(cell.high))
    text = value_text(Fraction(value), error, whole=shown == "whole")
    return f"{mark}{text} ±{'?' if error is None else error_text(error)}"


def _plainly(value: int | float | str | bool, shown: str) -> str:
    """A candidate of a quantile: a number with six figures, anything else as it is."""
    if shown == "number" and isinstance(value, int | float):
        return value_text(Fraction(value), abs(Fraction(value)) / 10**5)
    return printable(str(value))


def _cut(cell: Cell, shown: str) -> bool:
    """Whether a bound cuts the interval of a value, so that it is not the value with as much on either side."""
    value, low, high = (float(one or 0) for one in (cell.value, cell.low, cell.high))
    sides = sorted((value - low, high - value))
    return shown == "number" and (2 * sides[0] < sides[1] or low == 0)


def _quoted(text: str) -> str:
    """As SQL writes it: a text that could be taken for something else, or for one that is quoted."""
    return "'" + text.replace("'", "''") + "'"
