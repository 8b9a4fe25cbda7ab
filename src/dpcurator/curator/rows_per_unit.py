"""How many rows a unit has, as one paid question: what caps would leave out, and which caps that suggests.

Each unit is in one group, by how many rows it has: a count by a column of a subquery by the unit, with the noise of one
row a unit. It is charged, stored and repeated as any question is, and everything here is made of its noisy counts.
Checked in tests/curator/test_rows_per_unit.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any, Final

from dpcurator.errors import Refusal
from dpcurator.fronts.columns import col, count, when
from dpcurator.fronts.expressions import Expression
from dpcurator.fronts.frame import Frame
from dpcurator.language.names import show
from dpcurator.numbers.text_table import printable, table_text
from dpcurator.release.answer import Answer
from dpcurator.values import Json

CAPS: Final = (1, 2, 5, 10, 20, 50, 100)
MORE: Final = CAPS[-1] + 1  # the key of those with more rows than the last
SHARES: Final = (Fraction(1, 10), Fraction(1, 100))  # of the units, that a suggested cap cuts at most


@dataclass(frozen=True, slots=True, repr=False)
class RowsPerUnit:
    """How many units have how many rows, noisy. answer: the counts, as they were paid for.

    units: for each of CAPS how many have so many rows at most and more than the last one; then those with more.
    """

    table: str
    protects: str
    answer: Answer

    @property
    def units(self) -> tuple[int, ...]:
        return tuple(self.answer[self.answer.columns[1]])

    def over(self, cap: int) -> Fraction | None:
        """The share of the units with more rows than one of CAPS, by the noisy counts; None where they tell nothing."""
        counts = [max(0, number) for number in self.units]
        total = sum(counts)
        return Fraction(sum(counts[CAPS.index(cap) + 1 :]), total) if total else None

    def blur(self, cap: int) -> Fraction:
        """The error bar of how many have more rows than one of CAPS, as a share of the units: what a share below it
        might be too."""
        total = sum(max(0, number) for number in self.units)
        return self._bar(len(CAPS) - CAPS.index(cap)) / total if total else Fraction(1)

    def _bar(self, added: int) -> Fraction:
        """The error bar of the sum of so many counts; so many bars where the answer is without its quote."""
        if self.answer.parts is None:
            return added * max(Fraction(bar or 0) for bar in self.answer.error(self.answer.columns[1]))
        quote = self.answer.parts.quote
        return max(one.error(1 - quote.confidence, added=added) for one in quote.priced if not one.ask.overall)

    @property
    def suggested(self) -> tuple[int, ...]:
        """The least caps that cut at most a tenth, and at most a hundredth, of the units, where the noise lets it tell.
        """
        found = [next((cap for cap in CAPS
                       if (over := self.over(cap)) is not None and max(over, self.blur(cap)) <= share), None)
                 for share in SHARES]
        return tuple(dict.fromkeys(cap for cap in found if cap is not None))

    def _over(self, cap: int) -> str:
        over, blur = self.over(cap), self.blur(cap)
        if over is None or blur >= 1:
            return "?"
        return _percent(over) if over >= blur else f"below {_percent(_up(blur))}"

    def as_json(self) -> Json:
        """For machines: the counts with their error bars, the caps, and the answer with its receipt."""
        errors = self.answer.error(self.answer.columns[1])
        told: list[Any] = [
            {"rows": None if cap == MORE else cap, "units": number, "error": error,
             "over": None if cap == MORE or (over := self.over(cap)) is None else float(over)}
            for cap, number, error in zip((*CAPS, MORE), self.units, errors, strict=True)
        ]
        return {"table": self.table, "counts": told, "suggested": list(self.suggested), "answer": self.answer.as_json()}

    def __str__(self) -> str:
        who = printable(self.protects)
        lines = [[f"{a + 1:,} to {b:,}" if b > a + 1 else f"{b:,}", cells[1], self._over(b)]
                 for a, b, cells in zip((0, *CAPS), CAPS, self.answer.lines()[1:], strict=False)]
        lines.append([f"more than {CAPS[-1]:,}", self.answer.lines()[-1][1], ""])
        told = [table_text(["rows", who, "have more rows"], lines, [True, True, True])]
        for cap in self.suggested:
            told.append(f"max_total = {cap}: {self._over(cap)} of the {who} have more rows, and count for fewer than "
                        "they have")
        if not self.suggested:
            told.append("no cap is suggested: the noise hides how many are over one, or many have more rows than "
                        f"{CAPS[-1]}. A higher price makes it clearer")
        told.append("shares are of the noisy counts. A smaller cap means less noise: "
                    "`dpcurator quote --caps` shows how much, free")
        return "\n".join([*told, *self.answer.foot()])

    __repr__ = __str__


def rows_frame(frame: Frame[Any, Any, Any], protects: str) -> Frame[Any, Any, Any]:
    """The question: units by how many rows they have. Raises Refusal."""
    if not frame.rows.private or frame.unit is None:
        what = "is public" if not frame.rows.private else "has one row for each unit"
        what = f"the table {show(frame.table)} {what}, so there is nothing to cap."
        raise Refusal(what, cure="Name a table with a unit.")
    rows, each, units = _free(("rows", "n", protects), frame.unit)
    made = frame.per_unit().agg(**{each: count()})
    choice = when(col(each) <= CAPS[0]).then(CAPS[0])
    for cap in CAPS[1:]:
        choice = choice.when(col(each) <= cap).then(cap)
    by: Expression = choice.otherwise(MORE)
    return made.with_columns(**{rows: by}).group_by(rows).agg(**{units: count()})


def _free(names: Sequence[str], taken: str) -> list[str]:
    """These names, no two alike in any case, and none like the unit's."""
    found: list[str] = []
    for name in names:
        plain = name if name.isprintable() and name.strip() else "units"
        while plain.lower() in (taken.lower(), *map(str.lower, found)):
            plain += "_"
        found.append(plain)
    return found


def _up(share: Fraction) -> Fraction:
    """Rounded up to what `_percent` shows, so that what is below the one is below the other."""
    digits = 100 if share >= Fraction(1, 10) else 1000
    return Fraction(ceil(digits * share), digits)


def _percent(share: Fraction) -> str:
    return f"{float(100 * share):.0f} %" if share == 0 or share >= Fraction(1, 10) else f"{float(100 * share):.1f} %"

