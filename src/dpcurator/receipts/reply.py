"""What a server signs of a reply: which request it answers, so that no other reply, however true, can take its place.

A receipt says what was asked as a plan, which only the catalog makes of a text. So whoever stands between, and has
earlier answers, could send one of them for another question. A client that was given the public key therefore sends a
number used once; the signature is over that number, the account, the method, the address, the request's body and key,
and the reply's status and body. Its first field says what is signed, so it is no receipt's.
Checked in tests/server/test_client.py.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from dpcurator.ledger.keys import SigningKey, canonical
from dpcurator.ledger.keys import verify as signs

ONCE: Final = "Dpcurator-Nonce"  # the header of a request
SIGNED: Final = "Dpcurator-Signed"  # of its reply: the public key and the signature, hexadecimal
IS_ONCE: Final = re.compile("[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request and its reply. account: whose the request was taken for; path: with its query; request_id: the
    Idempotency-Key, or ""."""

    once: str
    account: str
    method: str
    path: str
    request: bytes
    request_id: str
    status: int
    reply: bytes

    def _message(self, public: str) -> bytes:
        return canonical({
            "format": "dpcurator reply 1", "public_key": public, "nonce": self.once, "account": self.account,
            "method": self.method, "path": self.path, "request": sha256(self.request).hexdigest(),
            "request_id": self.request_id, "status": self.status, "reply": sha256(self.reply).hexdigest(),
        })

    def signed_by(self, key: SigningKey) -> str:
        """What the header says."""
        return f"{key.public} {key.sign(self._message(key.public))}"

    def signer(self, header: str) -> str | None:
        """The public key that signed it, by what the header says; None where no key did."""
        public, _, signature = header.partition(" ")
        return public if signs(public, self._message(public), signature) else None
