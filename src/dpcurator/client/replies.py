"""What a server replied: believed when it has its form and, with a key, when that key signed what it must have signed.

Checked in tests/server/test_client.py, against a server.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dpcurator.catalog.model import Column, Table
from dpcurator.client.connection import Connection, amount, shown
from dpcurator.errors import Misconfigured, Refusal
from dpcurator.ledger.key_chain import given_up
from dpcurator.numbers.rational import rational
from dpcurator.release.answer import Answer, answer_of
from dpcurator.values import Json


@dataclass(frozen=True, slots=True)
class Told:
    """A quote, a menu or a list of tables as the server told it. Printed as it reads; `as_json()` has all of it."""

    text: str
    content: Json

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__

    def as_json(self) -> Json:
        """Everything, for machines."""
        return self.content

    def __getitem__(self, name: str) -> Any:
        """A field of it, as in quote["epsilon"]."""
        return self.content[name]


class Replies:
    """A line to a server, and what comes over it. See `Remote`, which is what its users see of it."""

    def __init__(self, client: Any, place: str, key: str | None, pause: Callable[[float], None] = time.sleep) -> None:
        self._line = Connection(client, place, key, pause)

    def __repr__(self) -> str:
        return f"<Remote: {self._line.place}>"

    def _told(self, method: str, path: str, body: Json | None = None, key: str | None = None) -> Told:
        content = self._line.sent(method, path, body, key)
        if not isinstance(content, dict):
            raise self._line.nonsense()
        return Told(shown(content.pop("text", json.dumps(content, indent=2))), content)

    def _several(self, method: str, path: str, body: Json | None = None, key: str | None = None) -> list[Json]:
        content = self._line.sent(method, path, body, key)
        if not isinstance(content, list):
            raise self._line.nonsense()
        return content

    def _answer(self, sent: Json, *, rehearsed: bool = False, sharpened: bool = False) -> Answer:
        """sharpened: whether a mean was asked for. No receipt is of a mean's values, so none stands for an answer that
        has one."""
        found = self._shaped(sent)
        if found.made_up != rehearsed or bool(found.sharpened) != sharpened:
            raise self._line.nonsense()
        if self._line.key is not None and not rehearsed and found.sharpened:
            self._check_mean(sent)
        elif self._line.key is not None and not rehearsed:
            self._check(sent)
        return found

    def _shaped(self, sent: Json) -> Answer:
        try:
            cost, spent, total = (amount(sent[name] or "0") for name in ("cost", "spent", "budget"))
            _check_form(sent)
            shaped = answer_of(sent, total=total, currency=sent["currency"])
            shaped = replace(shaped, notes=tuple(map(shown, shaped.notes)))
            made_up, receipt, repeated = bool(sent["made_up"]), sent["receipt"], bool(sent["repeated"])
            paid = shaped.paid(cost=cost, spent=spent, receipt=receipt, repeated=repeated)
            paid = replace(paid, sharpened=tuple(sent.get("sharpened", ())))
            if not all(line.isprintable() for line in paid.foot()[: bool(paid.sharpened)]):
                raise ValueError("a receipt has no name")
        except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, Refusal):
            raise self._line.nonsense() from None
        return replace(paid, made_up=made_up)

    def _check(self, sent: Json) -> None:
        if not self._holds(sent["receipt"], sent):
            raise self._untrue()

    def _check_mean(self, sent: Json) -> None:
        """Each release by its receipt, and that they are of one question. Which values their mean has, the ledger tells
        alone: the reply is signed by whoever has it."""
        from dpcurator.receipts.form import Wrong
        from dpcurator.receipts.mean import check_mean

        try:
            if sent["receipt"] is None and all(self._holds(one, None) for one in sent["sharpened"]):
                check_mean(sent, None, None)
                return
        except (Wrong, LookupError):  # a receipt of what was paid before has another form
            pass
        raise self._untrue()

    def _holds(self, receipt: Any, answer: Json | None) -> bool:
        """Whether a receipt holds by the key, and is this account's."""
        from dpcurator.receipts.verification import verify

        signer = receipt.get("public_key") if isinstance(receipt, dict) else None
        if signer not in {self._line.key, *given_up(self._line.chain)}:
            self._line.follow()
        found = verify(receipt, public_key=self._line.key, answer=answer, keys=self._line.chain)
        return found.holds and self._line.mine in ("", receipt.get("analyst", self._line.mine))

    def _untrue(self) -> Misconfigured:
        return Misconfigured(
            "the answer does not hold against the key that was given.", where=self._line.place,
            cure="Do not use it: ask the steward which key is right, and who stands between.",
        )


def _check_form(sent: Json) -> None:
    """Raises ValueError where a number of an answer is none: it would be found when the answer is printed, or never."""
    numbers = [cell[name] for row in sent["rows"] for cell in row for name in ("error", "low", "high", "rank")
               if cell.get(name) is not None]
    values = [cell["value"] for row in sent["rows"] for cell in row]
    cut = sent.get("cut", {})
    whole = [cut[name] for name in ("over", "over_error", "units", "units_error") if cut]
    texts = [*sent["columns"], *sent["shown"], *sent["notes"], sent["currency"]]
    finite = all(math.isfinite(one) for one in [*numbers, *values] if isinstance(one, float))
    if not (finite and all(type(one) in (int, float) for one in numbers) and all(type(one) is int for one in whole)
            and all(one is None or type(one) in (int, float, str, bool) for one in values)
            and all(isinstance(one, str) for one in texts) and sent["currency"] in ("epsilon", "rho")
            and all(isinstance(cut[name], str) and cut[name].isprintable() for name in ("protects", "reason") if cut)):
        raise ValueError("a number is none")
    rational(sent["confidence"], name="confidence")


def table_of(told: Json) -> Table:
    """What a frame needs of a table: its names. What they mean is the server's."""
    named = [told["name"], *(one["name"] for one in told["columns"])]
    if not all(isinstance(name, str) for name in named):
        raise TypeError("a name is none")
    return Table(named[0], tuple(Column(one["name"], one["type"]) for one in told["columns"]), told["unit"])


def described(told: Json) -> Table:
    """What a description needs of a table: names, types, and which columns have bounds and lists of keys."""
    plain = table_of(told)
    ends = [None if one["bounds"] is None else Fraction(0) for one in told["columns"]]
    keys: list[Any] = [() if isinstance(one["keys"], list) else None for one in told["columns"]]
    columns = (replace(column, lower=end, upper=end, keys=listed)
               for column, end, listed in zip(plain.columns, ends, keys, strict=True))
    return replace(plain, columns=tuple(columns))
