"""Signing keys that followed one another: each link is signed by the key that is given up and by the one that follows.

A link names its ledger, its place there and the head before it, so it belongs nowhere else, and no key comes twice. Who
trusts one key of a chain follows it to later ones, because the old key signed for the new one; and takes receipts that
earlier keys signed, because the new key signed for the old one, up to the event at which it was given up. A receipt
says its own place: one that an old key signed late with an early place is found by the ledger alone.
Checked in tests/ledger/test_key_chain.py, with the one-file verifier, and in tests/curator/test_rotation.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from dpcurator.ledger.canonical import canonical
from dpcurator.ledger.keys import HEXADECIMAL, SigningKey
from dpcurator.ledger.keys import verify as signs
from dpcurator.values import Json

FORMAT: Final = "dpcurator key 1"
MOST: Final = 1000  # links; each costs two signatures to check
_DIGITS: Final = {"previous": 32, "old": 32, "new": 32, "signature": 64, "accepted": 64}
NAMES: Final = ("ledger", "position", *_DIGITS)


@dataclass(frozen=True, slots=True)
class Link:
    """One key given up for another. ledger: its random name. position, previous: of the event that says so, and the
    hash of the one before. old, new: public keys. signature: the old key's; accepted: the new one's."""

    ledger: str
    position: int
    previous: str
    old: str
    new: str
    signature: str
    accepted: str

    def as_json(self) -> Json:
        """For machines: what both keys signed, and the signatures."""
        return {"format": FORMAT, **{name: getattr(self, name) for name in NAMES}}

    def _message(self) -> bytes:
        signed = ("signature", "accepted")
        return canonical({name: value for name, value in self.as_json().items() if name not in signed})

    def holds(self) -> bool:
        """Whether both keys signed it."""
        message = self._message()
        return signs(self.old, message, self.signature) and signs(self.new, message, self.accepted)


def linked(ledger: str, position: int, previous: str, old: SigningKey, new: SigningKey) -> Link:
    """The link of a new key, signed by both."""
    bare = Link(ledger, position, previous, old.public, new.public, "", "")
    message = bare._message()
    return Link(ledger, position, previous, old.public, new.public, old.sign(message), new.sign(message))


def chain_of(content: Any) -> tuple[Link, ...]:
    """The links that JSON holds, as `dpcurator key --json` prints them: a list, or an object with it as "chain".

    Raises ValueError unless they are one chain, and both keys signed each.
    """
    told = content.get("chain") if isinstance(content, dict) else content
    if not isinstance(told, list) or len(told) > MOST:
        raise ValueError("it is no list of links")
    found = [_link(one) for one in told]
    return whole(found)


def whole(links: Sequence[Link]) -> tuple[Link, ...]:
    """The links, if they are one chain. Raises ValueError."""
    for before, after in pairwise(links):
        if (before.ledger, before.new) != (after.ledger, after.old) or before.position >= after.position:
            raise ValueError("a key does not follow the one before it")
    keys = [*(one.old for one in links), *(one.new for one in links[-1:])]
    if len(set(keys)) != len(keys):
        raise ValueError("a key comes twice")
    if not all(one.holds() for one in links):
        raise ValueError("a link is not signed by both its keys")
    return tuple(links)


def _link(told: Any) -> Link:
    if not isinstance(told, dict) or set(told) != {"format", *NAMES} or told["format"] != FORMAT:
        raise ValueError("it is no link")
    digits = all(isinstance(told[name], str) and HEXADECIMAL[size].fullmatch(told[name])
                 for name, size in _DIGITS.items())
    if not digits or type(told["position"]) is not int or told["position"] < 2 or not isinstance(told["ledger"], str):
        raise ValueError("it is no link")
    return Link(**{name: told[name] for name in NAMES})


def given_up(links: Sequence[Link]) -> Mapping[str, int | None]:
    """Each key of a chain, in order, with the event at which it was given up; None for the one in force."""
    return {**{one.old: one.position for one in links}, **{one.new: None for one in links[-1:]}}
