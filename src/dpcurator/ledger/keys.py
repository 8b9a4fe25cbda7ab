"""The curator's signing key: Ed25519, in a file only its account can read.

A receipt is signed over its canonical JSON; anyone with the public key, which the ledger records, checks it without the
ledger. A key that is to follow another is durable in a file of its own before the ledger says so, and takes the other's
place after that: whenever a crash comes, the key that the ledger says is in force is there. Checked in
tests/ledger/test_keys.py and tests/curator/test_rotation.py.
"""

from __future__ import annotations

import os
import re
import stat
from contextlib import suppress
from glob import escape, glob
from typing import TYPE_CHECKING, Final

from dpcurator.errors import Misconfigured
from dpcurator.ledger.canonical import canonical

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

__all__ = ["HEXADECIMAL", "SigningKey", "canonical", "create", "create_next", "load", "succeed", "verify", "waiting"]
NEXT: Final = ".next"  # the end of the name of a key's file before it is in force
HEXADECIMAL: Final = {size: re.compile(f"[0-9a-f]{{{2 * size}}}") for size in (32, 64)}  # bytes, in their one spelling


class SigningKey:
    """Signs; shows its public half only."""

    __slots__ = ("_private", "public")

    def __init__(self, private: Ed25519PrivateKey) -> None:
        self._private = private
        self.public: str = private.public_key().public_bytes_raw().hex()

    def sign(self, message: bytes) -> str:
        """The signature, hexadecimal (128 digits)."""
        return self._private.sign(message).hex()

    def __repr__(self) -> str:
        return f"<SigningKey {self.public}>"

    def __reduce__(self) -> str:
        raise TypeError("a signing key stays in its file")


def create_next(path: str | os.PathLike[str]) -> tuple[SigningKey, str]:
    """Draws the key that is to follow the one at this path, and writes it beside it. Returns (key, its file): durable,
    its name too, before it is in force anywhere."""
    place = f"{os.path.realpath(path)}.{os.urandom(8).hex()}{NEXT}"
    key = create(place)
    _sync(place)
    return key, place


def waiting(path: str | os.PathLike[str]) -> list[str]:
    """The files of keys that were to follow the one at this path."""
    place = os.path.realpath(path)
    return sorted(glob(f"{escape(place)}.*{NEXT}"))


def succeed(file: str, path: str | os.PathLike[str]) -> None:
    """Puts the next key's file in the place of the one at this path, whole or not at all."""
    place = os.path.realpath(path)
    try:
        os.replace(file, place)
    except FileNotFoundError:  # another process did: it opened the ledger a moment ago
        if not os.path.exists(place):
            raise
    except OSError as error:
        raise _unusable(place, error, "written") from None
    _sync(place)


def _sync(place: str) -> None:
    """Makes what the directory says durable."""
    try:
        directory = os.open(os.path.dirname(place), os.O_RDONLY)
    except PermissionError:  # Windows opens no directory
        return
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def create(path: str | os.PathLike[str]) -> SigningKey:
    """Draws a key and writes it to a new file, mode 0600; whole or not at all. Never replaces a file."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    private = Ed25519PrivateKey.generate()
    pem = private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    place = os.path.realpath(path)
    aside = f"{place}.{os.urandom(8).hex()}.new"
    try:
        descriptor = os.open(aside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(pem)
                file.flush()
                os.fsync(file.fileno())
            os.link(aside, place)  # unlike rename, fails when the name is taken
        finally:
            with suppress(OSError):
                os.unlink(aside)
    except FileExistsError:
        raise Misconfigured(
            "There is already a signing key.", where=place, cure="Keep it: its ledger works with no other."
        ) from None
    except OSError as error:
        raise _unusable(place, error, "written") from None
    return SigningKey(private)


def load(path: str | os.PathLike[str]) -> SigningKey:
    """Raises Misconfigured when the file is missing, readable by others, or holds no Ed25519 key."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    place = os.path.realpath(path)
    try:
        with open(place, "rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            pem = file.read(10_000)
    except OSError as error:
        raise _unusable(place, error, "read") from None
    if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise Misconfigured(
            "The signing key can be read or changed by other accounts.", where=place, cure=f"Run `chmod 600 {place}`."
        )
    try:
        private = load_pem_private_key(pem, password=None)
    except Exception:  # the library raises several kinds, and their words may quote the file
        raise _no_key(place) from None
    if not isinstance(private, Ed25519PrivateKey):
        raise _no_key(place)
    return SigningKey(private)


def verify(public: str, message: bytes, signature: str) -> bool:
    """Whether `signature` is that of `message` under the public key; False for anything malformed, such as capitals or
    blanks among the digits of either."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        if not (HEXADECIMAL[32].fullmatch(public) and HEXADECIMAL[64].fullmatch(signature)):
            return False
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(public)).verify(bytes.fromhex(signature), message)
    except (InvalidSignature, ValueError, TypeError):
        return False
    return True


def _no_key(place: str) -> Misconfigured:
    return Misconfigured(
        "This file holds no Ed25519 signing key.", where=place, cure="Restore the key the ledger was opened with."
    )


def _unusable(place: str, error: OSError, verb: str) -> Misconfigured:
    return Misconfigured(
        f"The signing key cannot be {verb}: {os.strerror(error.errno or 0).lower()}.",
        where=place,
        cure="Correct the path or its permissions; a new catalog gets its key from `dpcurator init`.",
    )
