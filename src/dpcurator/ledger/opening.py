"""What a catalog says of its ledger, and whether that is what the ledger's first event says.

The first event is written by the first question and fixes all of it for ever; a catalog that says otherwise is refused
before anything is charged, with both values and the way out.
Checked in tests/ledger/test_opening.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpcurator.errors import Misconfigured
from dpcurator.ledger.events import Opened
from dpcurator.numbers import decimal_text

CURRENCY = "epsilon,delta"
_WORDS = {
    "protects": "what is protected",
    "neighbours": "the neighbours",
    "units": "the public number of units",
    "currency": "the currency",
    "epsilon": "the total epsilon",
    "delta": "the total delta",
    "public_key": "the public key",
}


@dataclass(frozen=True, slots=True)
class Opening:
    """epsilon > 0 and 0 <= delta < 1: the whole budget. units: the public n, or None. public_key: hexadecimal."""

    protects: str
    neighbours: str
    units: int | None
    epsilon: Fraction
    delta: Fraction
    public_key: str
    currency: str = CURRENCY

    def __post_init__(self) -> None:
        if self.epsilon <= 0 or not 0 <= self.delta < 1:
            raise Misconfigured(
                "The ledger's total epsilon must be above 0 and its delta at least 0 and below 1.",
                where="[ledger]",
                cure='Write, say, epsilon = 4 and delta = "1e-8".',
            )

    def event(self, ledger: str) -> Opened:
        return Opened(ledger, **{name: getattr(self, name) for name in _WORDS})

    def agrees(self, opened: Opened, place: str) -> None:
        """Raises Misconfigured, naming both values, at the first that differs."""
        for name, words in _WORDS.items():
            here, recorded = getattr(self, name), getattr(opened, name)
            if here != recorded:
                cure = (
                    "Put back the key the ledger was opened with."
                    if name == "public_key"
                    else f"Write {_shown(recorded)} back in the catalog: the first question fixed it for ever."
                )
                raise Misconfigured(
                    f"The catalog and the ledger disagree on {words}: the catalog says {_shown(here)}, the ledger was "
                    f"opened with {_shown(recorded)}.",
                    where=place,
                    cure=f"{cure} Other data, or another promise, needs a ledger of its own.",
                )


def _shown(value: object) -> str:
    if isinstance(value, Fraction):
        return decimal_text(value)
    return "none" if value is None else str(value)
