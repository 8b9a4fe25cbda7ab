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
from dpcurator.values import Currency

CURRENCIES: dict[Currency, str] = {"epsilon": "epsilon,delta", "rho": "rho,delta"}  # as the first event spells them
_EACH_ROW = "each row"
_WORDS = {
    "protects": "what is protected",
    "neighbours": "the neighbours",
    "units": "the public number of units",
    "currency": "the currency",
    "epsilon": "the total epsilon",
    "rho": "the total rho",
    "delta": "the total delta",
    "public_key": "the public key",
}


@dataclass(frozen=True, slots=True)
class Opening:
    """The whole budget: epsilon > 0 and 0 <= delta < 1, or rho > 0 and 0 < delta < 1, and the other one 0. units: the
    public n, with neighbours replace-one only. public_key: hexadecimal.

    owners: (private table, the column that owns its rows, or "each row") pairs. A table may be added later, or left
    out, but none may change whose its rows are: the charges so far protected those units, not others.
    """

    protects: str
    neighbours: str
    units: int | None
    epsilon: Fraction
    delta: Fraction
    public_key: str
    owners: tuple[tuple[str, str], ...] = ()
    rho: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        in_one = sorted((self.epsilon > 0, self.rho > 0)) == [False, True] and min(self.epsilon, self.rho) == 0
        if not in_one or not 0 <= self.delta < 1 or (self.rho > 0 and self.delta == 0):
            raise Misconfigured(
                "The ledger's total epsilon must be above 0 and its delta at least 0 and below 1; or its rho and its "
                "delta both above 0, without epsilon.",
                where="[ledger]",
                cure='Write, say, epsilon = 4 and delta = "1e-8", or rho = "0.5" and delta = "1e-8".',
            )
        n = self.units
        if (self.neighbours == "replace-one") != (n is not None) or (n is not None and n < 1):
            raise Misconfigured(
                "Neighbours replace-one go with a public number of units of at least 1, and add-remove with none.",
                where="[curator]",
                cure='Write, say, neighbours = "replace-one" and units = 1000.',
            )

    @property
    def counts_in(self) -> Currency:
        return "rho" if self.rho else "epsilon"

    @property
    def currency(self) -> str:
        """As the first event spells it."""
        return CURRENCIES[self.counts_in]

    @property
    def total(self) -> Fraction:
        """The whole budget in its currency."""
        return self.rho or self.epsilon

    def event(self, ledger: str) -> Opened:
        return Opened(ledger, **{name: getattr(self, name) for name in _WORDS}, owners=self.owners)

    def agrees(
        self, opened: Opened, place: str, owners: tuple[tuple[str, str], ...] | None = None, key: str | None = None
    ) -> None:
        """Raises Misconfigured, naming both values, at the first that differs. owners, key: recorded since then."""
        for name, words in _WORDS.items():
            here, recorded = getattr(self, name), getattr(opened, name)
            if name == "public_key" and key not in (None, recorded):
                if here == key:
                    continue
                raise Misconfigured(
                    f"The signing key here is {here}, and this ledger's is {key} since it was rotated.", where=place,
                    cure="Open the curator again; or put back the key from a backup made since then, or from the "
                    "machine where it was rotated.",
                )
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
        self._owners_agree(dict(opened.owners if owners is None else owners), place)

    def _owners_agree(self, recorded: dict[str, str], place: str) -> None:
        by_row = _EACH_ROW in recorded.values()
        for table, unit in self.owners:
            alike = not recorded or by_row == (unit == _EACH_ROW)
            before = recorded.get(table, unit if alike else "another unit")
            if before != unit:
                raise Misconfigured(
                    f'The catalog and the ledger disagree on whose the rows of "{table}" are: the catalog says '
                    f'"{unit}", the ledger was opened with "{before}".',
                    where=place,
                    cure="Write the unit back in the catalog: the first question fixed it for ever. Another promise "
                    "needs a ledger of its own.",
                )
        here = dict(self.owners)
        gone = sorted(set(recorded) - set(here))
        left = {recorded[table] for table in gone}  # of any of these a new table may be the old one renamed
        renamed = sorted(table for table in set(here) - set(recorded) if here[table] not in left)
        if gone and renamed:
            raise Misconfigured(
                f'The catalog and the ledger disagree on whose rows there are: table "{gone[0]}" is no longer '
                f'declared, and "{renamed[0]}" is new, with another unit column, "{here[renamed[0]]}" instead of '
                f'"{recorded[gone[0]]}".',
                where=place,
                cure=f'If "{renamed[0]}" is the old table under a new name, name its unit column as before. If it is '
                f'another table, keep "{gone[0]}" declared beside it. Another promise needs a ledger of its own.',
            )


def _shown(value: object) -> str:
    if isinstance(value, Fraction):
        return decimal_text(value)
    return "none" if value is None else str(value)
