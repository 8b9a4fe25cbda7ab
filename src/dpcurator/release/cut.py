"""The cut of an answer: how many units contribution bounding and clamps changed, of how many, as noisy counts.

Both counts are paid readings of the question (`pricing/cut.py`), so all of this is post-processing. It is told beside
the answer's notes, before them where more than a twentieth of the units are cut.
Checked in tests/release/test_cut.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from dpcurator.numbers.display import error_text, value_text
from dpcurator.numbers.text_table import printable
from dpcurator.pricing.cut import reason

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpcurator.pricing.quote import Quote
    from dpcurator.release.release import Noisy

MUCH: Final = Fraction(1, 20)  # a share of units cut that is said before anything else
MISSING: Final = "how many {} are over a cap or a bound was not paid for; cut=True, or --cut, buys it"


@dataclass(frozen=True, slots=True)
class Cut:
    """How many units contribution bounding weighted down, or had a value clamped, each once; of how many units.

    over, over_error: a noisy count and its error bar, at the answer's confidence; units, units_error: of the units with
    rows in the question's WHERE and groups, 0 where their number is public. protects: their name. reason: what cuts
    them. `share` is the first count by the second, within 0 and 1, None where the second is not above 0. A unit over no
    cap and within all bounds is in the answer as it is. Never raises Refusal.

    >>> import dpcurator as dp
    >>> cut = dp.Cut(1170, 90, 9950, 90, "patients", "are over a cap")
    >>> print(cut)
    about 1,170 ±90 of 9,950 ±90 patients are over a cap
    >>> round(cut.share, 3)
    0.118
    """

    over: int
    over_error: int
    units: int
    units_error: int
    protects: str
    reason: str

    def __str__(self) -> str:
        over = value_text(Fraction(max(0, self.over)), Fraction(self.over_error), whole=True)
        units = value_text(Fraction(max(0, self.units)), Fraction(self.units_error), whole=True)
        of = f"{units} ±{error_text(Fraction(self.units_error))}" if self.units_error else units
        named = printable(self.protects)
        return f"about {over} ±{error_text(Fraction(self.over_error))} of {of} {named} {self.reason}"

    @property
    def share(self) -> float | None:
        """The share of units that are cut."""
        return None if self.units <= 0 else min(1.0, max(0.0, self.over / self.units))

    def as_json(self) -> dict[str, Any]:
        """What the receipt's hash covers."""
        counts = {name: getattr(self, name) for name in ("over", "over_error", "units", "units_error")}
        return counts | {"protects": self.protects, "reason": self.reason}

    def among(self, notes: Sequence[str]) -> tuple[str, ...]:
        """An answer's notes with it: first where the share is large, else last."""
        return (str(self), *notes) if self.over > MUCH * self.units > 0 else (*notes, str(self))


def cut_of(quote: Quote, noisy: Noisy | None) -> Cut | None:
    """The cut of what was released; None where the question has none."""
    found = [(one, values[0]) for one, values in zip(quote.priced, () if noisy is None else noisy.readings, strict=True)
             if one.ask.overall]
    if not found:
        return None
    (first, over), *others = found
    beta = 1 - quote.confidence
    units, error = quote.reach.public_count() or 0, 0
    for one, value in others:
        units, error = value, one.mechanism.error(beta)
    why = reason(first.ask, quote.plan)
    return Cut(over, first.mechanism.error(beta), units, error, quote.catalog.protects, why)
