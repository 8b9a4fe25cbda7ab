"""What happened to a budget, in words that never change meaning.

Each event is sealed into a row: its body is canonical JSON with the event's name, position and UTC time, and
hash = sha256(previous hash || body), the first previous hash being 32 zero bytes. A head (position, hash) therefore
fixes the whole history before it. An answer's event holds the hash of the answer and repeats the time of its charge:
a request has one timestamp, so the chain tells nothing of how long the data took (semantics 7.3).
Checked in tests/ledger/test_events.py.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import UTC, datetime
from fractions import Fraction
from functools import lru_cache
from hashlib import sha256
from typing import Any, ClassVar, NamedTuple

from dpcurator.ledger.canonical import canonical_text, ratio
from dpcurator.values import read_json

GENESIS = "0" * 64
FORMAT = 2


@dataclass(frozen=True, slots=True)
class Opened:
    """The first event: what the ledger protects and its whole budget, fixed for ever.

    currency: "epsilon,delta" or "rho,delta"; the total of the other one is 0.
    """

    NAME: ClassVar[str] = "opened"
    ledger: str  # random, hexadecimal
    protects: str
    neighbours: str
    units: int | None
    currency: str
    epsilon: Fraction
    delta: Fraction
    public_key: str
    format: int = FORMAT
    owners: tuple[tuple[str, str], ...] = ()  # (private table, its unit) pairs
    rho: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True)
class Charged:
    """A price paid before any data is read. The three `spent_` amounts are the totals after it; of epsilon and rho the
    one that is not the ledger's currency is 0."""

    NAME: ClassVar[str] = "charged"
    request: str
    analyst: str
    plan: str
    catalog: str
    data_version: int
    parameters: str
    epsilon: Fraction
    delta: Fraction
    spent_epsilon: Fraction
    spent_delta: Fraction
    rho: Fraction = Fraction(0)
    spent_rho: Fraction = Fraction(0)
    asked: str = ""  # the question as SQL, for the steward's log; nothing rests on it
    shared: str = ""  # the readings that earlier charges paid, and this one does not (values.Request)
    granted: int = 0  # the event that gave its analyst an account; 0: there is none. Then the totals of that account:
    own_spent: Fraction = Fraction(0)
    own_delta: Fraction = Fraction(0)

    @property
    def spent(self) -> Fraction:
        """The total after it in the ledger's currency, whichever that is."""
        return self.spent_rho or self.spent_epsilon


@dataclass(frozen=True, slots=True)
class Owned:
    """A question is about to read private tables that none read before: whose rows they hold is fixed from here on."""

    NAME: ClassVar[str] = "owned"
    owners: tuple[tuple[str, str], ...]  # of all tables so far, as in Opened


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer stored. `answer` is its sha256, hexadecimal."""

    NAME: ClassVar[str] = "answered"
    request: str
    answer: str


@dataclass(frozen=True, slots=True)
class Closed:
    """A Fault closed the curator. Its reason is one constant word: which failure it was may depend on data."""

    NAME: ClassVar[str] = "closed"
    reason: str = "fault"


@dataclass(frozen=True, slots=True)
class Reopened:
    """The steward opened the curator again."""

    NAME: ClassVar[str] = "reopened"


@dataclass(frozen=True, slots=True)
class Moved:
    """The last event: the ledger goes on in another store, with all that came before. to: as messages name that."""

    NAME: ClassVar[str] = "moved"
    to: str


@dataclass(frozen=True, slots=True)
class Granted:
    """An account as it is from here on, in place of what it was.

    limit, delta: the most that all charges of this analyst may come to, in the ledger's currency. own_spent, own_delta:
    what they came to before this event.
    """

    NAME: ClassVar[str] = "granted"
    analyst: str
    role: str
    token: str  # sha256 of the one that signs in, hexadecimal; "": none does
    limit: Fraction
    delta: Fraction
    own_spent: Fraction
    own_delta: Fraction
    before: int  # the last event of this kind, of any analyst; 0: there was none
    scram: str = ""  # what database clients sign in by; "": none does


@dataclass(frozen=True, slots=True)
class Rekeyed:
    """What is signed from here on is signed by another key (key_chain.py)."""

    NAME: ClassVar[str] = "rekeyed"
    old: str  # public keys, hexadecimal
    new: str
    signature: str  # the old key's
    accepted: str  # the new one's
    before: int  # the last event of this kind; 0: there was none


Event = Opened | Charged | Owned | Answered | Closed | Reopened | Moved | Granted | Rekeyed
EVENTS: dict[str, type[Event]] = {
    kind.NAME: kind for kind in (Opened, Charged, Owned, Answered, Closed, Reopened, Moved, Granted, Rekeyed)
}
_AMOUNTS = frozenset({
    "epsilon", "delta", "rho", "spent_epsilon", "spent_delta", "spent_rho", "limit", "own_spent", "own_delta",
})
# Fields that older events have not, by what they say where they say nothing: left out then.
_LATER: dict[str, dict[str, object]] = {
    Charged.NAME: {"asked": "", "shared": "", "granted": 0, "own_spent": Fraction(0), "own_delta": Fraction(0)},
    Granted.NAME: {"scram": ""},
}
_FIELDS = {name: tuple(field.name for field in fields(kind)) for name, kind in EVENTS.items()}


@dataclass(frozen=True, slots=True)
class Row:
    """An event as stores keep it. `previous` is the hash of the row before, not stored twice."""

    position: int  # from 1
    name: str
    body: str
    hash: str
    previous: str

    def sound(self) -> bool:
        """Whether the hash is that of the body after the previous hash."""
        try:
            return self.hash == chained(self.previous, self.body)
        except (TypeError, ValueError, AttributeError):  # a damaged row may hold anything
            return False

    def time(self) -> str:
        return read(self.body)[2]


def chained(previous: str, body: str) -> str:
    return sha256(bytes.fromhex(previous) + body.encode("utf-8", "surrogatepass")).hexdigest()


def seal(event: Event, *, position: int, time: str, previous: str) -> Row:
    """The row that says `event` happened at `position`."""
    said: dict[str, object] = {"event": event.NAME, "position": position, "time": time}
    later = _LATER.get(event.NAME, {})
    for name in _FIELDS[event.NAME]:
        value = getattr(event, name)
        if name in later and value == later[name]:
            continue
        said[name] = ratio(value) if name in _AMOUNTS else value
    body = canonical_text(said)
    return Row(position, event.NAME, body, chained(previous, body), previous)


@lru_cache(maxsize=16)  # the first event and the last charge are read at every question
def read(body: str) -> tuple[Event, int, str]:
    """(event, position, time) of a body. Raises ValueError for anything `seal` does not write."""
    try:
        said = read_json(body)
        name, position, time = said.pop("event"), said.pop("position"), said.pop("time")
        for amount in _AMOUNTS & said.keys():
            said[amount] = Fraction(said[amount])
        if "owners" in said:
            said["owners"] = tuple((table, unit) for table, unit in said["owners"])
        return EVENTS[name](**said), position, time
    except (KeyError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
        raise ValueError("not an event") from error


class Kind(NamedTuple):
    """What a charge was for and how much, without who, when and what: many have the same."""

    parameters: str
    epsilon: str  # exact, as the event spells it
    delta: str
    shared: str = ""  # which of its readings earlier charges paid, as canonical JSON


def kind_of(body: str) -> Kind:
    """Of a charge, as `seal` wrote it. Raises ValueError for another body. It reads no more than it needs to."""
    try:
        said = read_json(body)
        return Kind(said["parameters"], said["epsilon"], said["delta"], _missing(said.get("shared", "")))
    except (KeyError, TypeError, RecursionError) as error:
        raise ValueError("not a charge") from error


def _missing(shared: str) -> str:
    """Which readings a charge paid itself, without the places of the others: many charges have the same."""
    if not shared:
        return ""

    def flags(one: Any) -> Any:
        if isinstance(one, dict):
            return one["position"] > 0 if "position" in one else {name: flags(inner) for name, inner in one.items()}
        return [flags(inner) for inner in one] if isinstance(one, list) else None

    return canonical_text(flags(read_json(shared)))


def utc_now() -> str:
    """The clock the ledger uses unless it is given another; for people, nothing rests on it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
