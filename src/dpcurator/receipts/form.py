"""The form of a receipt: what a check is, how parts are spelled, which fields there are, and who signed them.

A check is a function that returns the words of what it found, or raises `Wrong` by `require`: none can fail and be
passed over. A part with two spellings could be signed in one and read in another; so digests, keys, signatures and
amounts have one each, and what is read is written back and compared. What a field means is checked where it is derived
again (claims.py, loss.py, charges.py). Checked in tests/receipts/test_verify.py and tests/receipts/test_printed.py.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Final

from dpcurator.ledger.key_chain import Link, given_up
from dpcurator.ledger.keys import HEXADECIMAL, canonical
from dpcurator.ledger.keys import verify as signed_by
from dpcurator.numbers.readable import part
from dpcurator.numbers.text_table import pre_html, printable
from dpcurator.plan.canonical import as_json, plan_of
from dpcurator.plan.nodes import Ask, Plan
from dpcurator.plan.stability import Reach
from dpcurator.pricing.noise import OF_SELECTION
from dpcurator.pricing.prices import Price
from dpcurator.pricing.resolve import Resolved, resolve
from dpcurator.receipts.receipt import FORMAT, PARTS, PUBLIC, SHARED, SHARING
from dpcurator.values import Currency, Json

LONGEST: Final = 5000  # letters of what one step says


@dataclass(frozen=True, slots=True)
class Step:
    """One thing checked: what it is, whether it holds, and what was found; on one line, whatever the receipt holds."""

    name: str
    holds: bool
    words: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "words", printable(self.words[:LONGEST]))

    def __str__(self) -> str:
        return f"{'ok ' if self.holds else 'NO '} {self.name}: {self.words}"


@dataclass(frozen=True, slots=True)
class Verification:
    """All steps in order. `holds` only when there are some and every one of them does. not_checked: what was not."""

    steps: tuple[Step, ...]
    not_checked: tuple[str, ...] = field(default=(), compare=False)

    def __repr__(self) -> str:
        wrong = [step.name for step in self.steps if not step.holds]
        return f"Verification(holds={self.holds}, steps={len(self.steps)}{f', wrong={part(wrong)}' if wrong else ''})"

    def _repr_html_(self) -> str:
        return pre_html(str(self))

    @property
    def holds(self) -> bool:
        return bool(self.steps) and all(step.holds for step in self.steps)

    def as_json(self) -> Json:
        steps = [{"name": s.name, "holds": s.holds, "words": s.words} for s in self.steps]
        return {"holds": self.holds, "steps": steps, "not_checked": list(self.not_checked)}

    def __str__(self) -> str:
        verdict = "the receipt holds" if self.holds else "the receipt does NOT hold"
        return "\n".join([*map(str, self.steps), verdict, *(f"not checked: {what}" for what in self.not_checked)])


class Wrong(Exception):
    """Carries the words of a check that fails."""


def require(holds: bool, words: str) -> None:
    if not holds:
        raise Wrong(words)


def spelled(spelling: re.Pattern[str], text: object) -> bool:
    return isinstance(text, str) and spelling.fullmatch(text) is not None


def amount_of(text: object) -> Fraction:
    """An exact amount in its one spelling."""
    require(spelled(_AMOUNT, text), "an amount is malformed")
    found = Fraction(str(text))
    require(str(found) == text, "an amount is not in its one spelling")
    return found


class Parsed:
    """A receipt with its parts read, each when it is first asked for. One that is malformed raises every time."""

    def __init__(self, receipt: Json) -> None:
        self.receipt = receipt

    @property
    def public(self) -> bool:
        """Whether it says that no private data was read."""
        return bool(self.receipt["format"] == PUBLIC)

    @property
    def charged(self) -> bool:
        """Whether it has a charge of its own: not where all was paid before, nor where nothing is."""
        return self.receipt["format"] in (FORMAT, SHARING)

    @cached_property
    def shared(self) -> tuple[list[Json | None], Json | None]:
        """Of each reading, and of the selection of keys, the place of the charge that paid it before; None: its own."""
        if "shared" not in self.receipt:
            return [None] * len(self.receipt["readings"]), None
        told = self.receipt["shared"]
        require(isinstance(told, dict) and set(told) == {"readings", "keys"}, "what it shares has other parts")
        readings, keys = told["readings"], told["keys"]
        require(len(readings) == len(self.receipt["readings"]), "what it shares is of other readings")
        every = [*readings, keys]
        require(any(every), "it shares nothing")
        require(self.charged != all(one is not None for one in (*readings, *[keys][: self.reach.chosen])),
                "its format is that of another share")
        require(keys is None or self.reach.chosen, "its keys are listed, and no selection is shared")
        require(not self.reach.chosen or keys is not None, "readings of selected keys are shared with their keys only")
        place = self.resolved.with_keys
        require(keys is None or place is None or readings[place] is not None, "a count is drawn with keys it shares")
        for one in every:
            require(one is None or _is_place(one, None if one is keys else int), "the place of what it shares is none")
            require(one is None or not self.charged or one["position"] < self.receipt["ledger"]["position"],
                    "what it shares was paid after it")
        return readings, keys

    @cached_property
    def plan(self) -> Plan:
        return plan_of(self.receipt["plan"])

    @cached_property
    def resolved(self) -> Resolved:
        """What one unit can reach, and the readings that the plan needs."""
        found, earlier = resolve(self.plan), resolve(self.plan, apart=True)
        said = [claim["ask"] for claim in self.receipt.get("readings", [])]
        own = found.asks != earlier.asks and said == [as_json(ask) for ask in earlier.asks]
        found, claims = (earlier if own else found), self.receipt.get("readings", [])
        if found.with_keys is None or claims[found.with_keys]["mechanism"] in OF_SELECTION:
            return found
        return replace(found, with_keys=None)  # with noise of its own, as earlier versions drew it

    @property
    def reach(self) -> Reach:
        return self.resolved.reach

    @property
    def currency(self) -> Currency:
        found: Currency = self.receipt["price"]["currency"]
        require(found in ("epsilon", "rho"), "its price is in no currency")
        return found

    @cached_property
    def price(self) -> Price:
        """What was offered."""
        told = self.receipt["price"]
        require(set(told) - {"goals"} == {"currency", "amount", "delta"}, "the price has other parts")
        goals = told.get("goals", [])
        require(len(goals) in {0, len(self.resolved.without_cut.asks)} and ("goals" in told) == bool(goals),
                "the price aims at errors of other readings")
        return Price(
            told["currency"], amount_of(told["amount"]), amount_of(told["delta"]), tuple(map(amount_of, goals))
        )

    @cached_property
    def claims(self) -> list[tuple[Ask, Json]]:
        """The plan's readings, each with what the receipt says of it; the receipt must pay for all of them, once."""
        asks, claims = self.resolved.asks, self.receipt["readings"]
        require([as_json(ask) for ask in asks] == [claim["ask"] for claim in claims],
                 "the readings paid for are not those the plan needs")
        return list(zip(asks, claims, strict=True))

    @cached_property
    def mechanisms(self) -> list[Json]:
        """As a quote's parameters hold them: what is said of each reading, without the words for it. Of a question of
        which some was paid before these are not its parameters, which are those of all at its price."""
        return [{name: part for name, part in claim.items() if name != "derivation"} for _, claim in self.claims]

    @cached_property
    def costs(self) -> dict[str, Fraction]:
        return {name: amount_of(self.receipt[name]) for name in ("epsilon", "rho", "delta")}

    @cached_property
    def standing(self) -> tuple[Fraction, Fraction]:
        """What was spent and what was left of the ledger's budget right after the charge."""
        place = self.receipt["ledger"]
        return amount_of(place["spent"]), amount_of(place["remaining"])

    @property
    def budget(self) -> Fraction:
        """The whole of it."""
        spent, remaining = self.standing
        return spent + remaining


DIGEST: Final = HEXADECIMAL[32]
_AMOUNT: Final = re.compile(r"[0-9]{1,1400}(/[0-9]{1,1400})?")
_VERSION: Final = re.compile(r"[0-9A-Za-z.+_-]{1,60}|unknown")
_SPELLINGS: Final = {  # of what nothing else in a receipt implies
    "request": re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}"), "analyst": re.compile(r"(?s).+"),
    "time": re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z"),
    "answer_sha256": DIGEST, "catalog_sha256": DIGEST, "plan_sha256": DIGEST, "parameters_sha256": DIGEST,
    "public_key": HEXADECIMAL[32], "signature": HEXADECIMAL[64],
}
_PLACE: Final = {"position", "head", "spent", "remaining"}
_STORED: Final = {"position", "head", "request", "part", "number"}
_OF_PUBLIC: Final = {
    "format", "protects", "neighbours", "plan", "plan_sha256", "price", "confidence", "answer_sha256",
    "catalog_sha256", "data_version", "software", "public_key", "signature",
}
_OF_READ: Final = _OF_PUBLIC | {"analyst", "reach", "readings", "selection"}
_OF_CHARGED: Final = {"request", "time", "batch", "epsilon", "rho", "delta", "parameters_sha256", "ledger"}
FIELDS: Final = {
    PUBLIC: _OF_PUBLIC, SHARED: _OF_READ | {"shared"},
    FORMAT: _OF_READ | _OF_CHARGED, SHARING: _OF_READ | _OF_CHARGED | {"shared"},
}


def _is_place(one: Any, number: type | None) -> bool:
    """Whether it is the place of a stored reading, or with None of a selection of keys, spelled as one."""
    if not isinstance(one, dict) or set(one) != _STORED:
        return False
    counts = [one["position"] - 2, one["part"], *([] if number is None else [one["number"]])]
    return (
        all(type(count) is int and count >= 0 for count in counts)
        and (number is not None or one["number"] is None)
        and spelled(DIGEST, one["head"])
        and spelled(_SPELLINGS["request"], one["request"])
    )


def check_form(receipt: Any) -> str:
    require(isinstance(receipt, dict), "this is not a receipt")
    require(not receipt.get("made_up"), "this is the answer of a rehearsal: its rows are made up, it has no receipt")
    told = str(receipt.get("format"))
    require(told == receipt.get("format") and told in FIELDS, f"its format is none of {', '.join(sorted(FIELDS))}")
    require(set(receipt) == FIELDS[told], "its fields are not those of a receipt")
    for name, spelling in _SPELLINGS.items():
        require(name not in receipt or spelled(spelling, receipt[name]), f"its {name} is not spelled as one")
    version, parts = receipt["data_version"], receipt["software"]
    require(type(version) is int and version >= 0, "its data version is no number")
    require(isinstance(parts, dict) and set(parts) == {*PARTS, "python"}, "it names other software")
    require(all(spelled(_VERSION, part) for part in parts.values()), "a version of its software is none")
    if told in (FORMAT, SHARING):
        place = receipt["ledger"]
        require(isinstance(place, dict) and set(place) == _PLACE, "its place in the ledger is malformed")
        require(type(place["position"]) is int and place["position"] >= 2, "a charge is not a ledger's first event")
        require(spelled(DIGEST, place["head"]), "its head is no digest")
    return told


def check_signature(receipt: Json, public_key: str | None, chain: Sequence[Link] = ()) -> str:
    """chain: the keys that followed one another, where that is known. Raises Wrong."""
    body = {name: value for name, value in receipt.items() if name != "signature"}
    key = receipt["public_key"]
    given = public_key is None or spelled(HEXADECIMAL[32], public_key)
    require(given, "the key you gave is none: it is 64 digits and small letters a to f, as `dpcurator key` prints it")
    require(signed_by(key, canonical(body), receipt["signature"]), "the signature does not match the content")
    known = "the key you gave" if public_key is not None else "the key it names: compare it with the steward's"
    until = given_up(chain)
    if public_key not in (None, key):
        require({public_key, key} <= set(until), f"it was signed with another key: {key}")
        order = list(until)
        after = order.index(key) > order.index(str(public_key))
        known = f"a key that {'follows' if after else 'was given up for'} the one you gave"
    require(not until or key in until, f"it was signed with a key that is none of the ledger's: {key}")
    end, place = until.get(key), receipt.get("ledger")
    require(end is None or place is None or place["position"] < end,
            f"it was signed with a key that was given up before, as event {end}")
    return f"signed with {known} ({key[:16]}...)"
