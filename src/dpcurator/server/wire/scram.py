"""Signing in with SCRAM-SHA-256 (RFC 5802, 7677): a client shows that it has a token, and never sends it.

The server proves itself as well, with a key made of the same token. A name without an account is answered as one with
one is, with a salt that is always the same for that name, and fails at the end. Checked in
tests/server/test_wire_messages.py, against the example of RFC 7677.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import os
import re
from typing import Final

from dpcurator.ledger.accounts import ROUNDS, Scram
from dpcurator.server.wire.messages import Malformed

MECHANISM: Final = "SCRAM-SHA-256"
_FIRST: Final = re.compile(rb"([ny]),(?:a=[^,]*)?,(n=[^,]*,r=([\x21-\x2b\x2d-\x7e]{1,200}))(?:,[^\0]*)?")
_FINAL: Final = re.compile(
    rb"(c=([A-Za-z0-9+/=]*),r=([\x21-\x2b\x2d-\x7e]{1,400})(?:,[^,]+)*),p=([A-Za-z0-9+/=]{1,100})"
)


def salt_of(name: str, secret: bytes) -> bytes:
    """What a name without an account is answered with: as random to others as that of an account."""
    return hmac.digest(secret, name.encode("utf-8", "replace"), "sha256")[:16]


class Exchange:
    """One exchange. keys: of the account. once: the server's part of the nonce, random by default."""

    def __init__(self, keys: Scram, once: bytes | None = None) -> None:
        self.keys = keys
        self.once = base64.b64encode(os.urandom(18)) if once is None else once

    def first(self, message: bytes) -> bytes:
        """The server's first message, after the client's. Raises Malformed."""
        found = _FIRST.fullmatch(message)
        if found is None:
            raise Malformed
        self._head = message[: found.start(2)]
        self._nonce = found.group(3) + self.once
        own = b"r=%b,s=%b,i=%d" % (self._nonce, base64.b64encode(self.keys.salt), ROUNDS)
        self._said = found.group(2) + b"," + own
        return own

    def final(self, message: bytes) -> bytes | None:
        """The server's last message; None where the proof does not hold. Raises Malformed."""
        found = _FINAL.fullmatch(message)
        if found is None:
            raise Malformed
        without, head, nonce, proof = found.groups()
        try:
            shown, client = base64.b64decode(head, validate=True), base64.b64decode(proof, validate=True)
        except binascii.Error:
            raise Malformed from None
        signed = self._said + b"," + without
        signature = hmac.digest(self.keys.stored, signed, "sha256")
        if len(client) != len(signature):
            return None
        key = bytes(one ^ other for one, other in zip(client, signature, strict=True))
        holds = hmac.compare_digest(hashlib.sha256(key).digest(), self.keys.stored)
        if not holds or nonce != self._nonce or shown != self._head:
            return None
        return b"v=" + base64.b64encode(hmac.digest(self.keys.server, signed, "sha256"))
