"""What other contribution bounds would do to the error bars of a question, at one price. Free: public facts only.

The bars are of the noise alone. A smaller cap means less noise, and leaves out more of people with many rows, which no
bar shows: how many those are is a fact about the data, and is not in this table. Checked in
tests/pricing/test_caps_menu.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from dpcurator.language.question import Caps
from dpcurator.numbers import decimal_text
from dpcurator.pricing.bars import Bar, bars, describe
from dpcurator.pricing.quote import Quote

TOTALS: Final = (1, 2, 5, 10, 20, 50, 100)


@dataclass(frozen=True, slots=True)
class CapsRow:
    """One choice: max_total, None for the caps that hold without one; and the bars it gives."""

    max_total: int | None
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class CapsMenu:
    """Error bars of one question at one price, by how many rows of one unit count in all."""

    rows: tuple[CapsRow, ...]
    confidence: Fraction

    def as_json(self) -> dict[str, Any]:
        """For machines."""
        return {
            "confidence": decimal_text(self.confidence),
            "caps": [
                {"max_total": row.max_total, "error_bars": [bar.as_json() for bar in row.bars]} for row in self.rows
            ],
        }

    def __str__(self) -> str:
        from dpcurator.numbers.text_table import table_text

        heads = ["max_total", *(bar.title for bar in self.rows[0].bars)]
        lines = [
            ["as now" if row.max_total is None else f"{row.max_total:,}", *map(describe, row.bars)] for row in self.rows
        ]
        return (
            f"{table_text(heads, lines)}\nrows of one unit that count in all, and the noise they need at this price; "
            "choose with --max-total.\nA smaller cap leaves out more of those with many rows, which no bar shows"
        )

    def _repr_html_(self) -> str:
        from dpcurator.numbers.text_table import pre_html

        return pre_html(str(self))


def caps_menu(own: Quote, quoted: Callable[[Caps], Quote], rows: int | None) -> CapsMenu:
    """own: the quote of a question under its own caps. quoted: the same under others, for its error bars. rows: of a
    group, for averages."""
    found = [CapsRow(None, bars(own, rows))]
    if own.reach.one != 1:  # where each row is a unit there is nothing to cap
        found += [CapsRow(total, bars(quoted(Caps(max_total=total)), rows)) for total in TOTALS]
    return CapsMenu(tuple(found), own.confidence)
