"""Accounts: who may ask, and at most how much of the budget each analyst's charges may come to.

A limit is an event of the ledger, decided in the same transaction as the charges, so it holds whatever curators,
threads and machines share the ledger (semantics 10.2). A charge must fit its own limit *and* the whole budget; limits
may add up to more than the whole. What an analyst spent before having an account counts. A limit may be set below what
was spent: then that analyst's new questions are refused, and answers already paid stay free. An analyst without an
account has no limit but the whole.

Tokens    name.secret, with a secret of 256 random bits. The ledger holds the sha256 of the whole token alone: who reads
          the ledger cannot sign in. A guess is right with probability 2^-256, so the hash needs neither salt nor delay.
SCRAM     What a database client proves that it has the token with (RFC 5802, 7677): two keys made of the token. The one
          that is stored lets nobody sign in; the other lets whoever reads the ledger pass for the server to a client
          that does not look at its certificate, and no more.
Checked   tests/ledger/test_accounts.py.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal, get_args

from dpcurator.errors import Misconfigured, Refusal
from dpcurator.ledger.canonical import digest, text_bytes
from dpcurator.ledger.events import Charged, Granted
from dpcurator.numbers import decimal_text
from dpcurator.numbers.rational import at_least_0
from dpcurator.numbers.readable import readable
from dpcurator.values import Budget, Currency, Json

Role = Literal["steward", "analyst", "auditor"]
LOCAL: Final = "local"  # the analyst of the shell and of Python, beside the data
ROLES: Final[tuple[str, ...]] = get_args(Role)
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_@+-]{0,62}(\.[A-Za-z0-9_@+-]{1,62}){0,3}")
_SECRET: Final = re.compile(r"[A-Za-z0-9_-]{43}")
_HASH: Final = re.compile(r"[0-9a-f]{64}")
_LARGEST: Final = 2**512  # of a limit's numerator and denominator
ROUNDS: Final = 4096  # of the key derivation of SCRAM, which clients expect; the token has 256 random bits without it
_SCRAM: Final = re.compile(r"([0-9a-f]{32}):([0-9a-f]{64}):([0-9a-f]{64})")


@dataclass(frozen=True, slots=True)
class Account:
    """An analyst's account as the ledger has it now. Amounts are exact and in the ledger's currency.

    position: of the event that made it so. token: sha256 of the one that signs in, hexadecimal, or "". scram: what
    database clients sign in by, see `Scram`, or "".
    """

    analyst: str
    role: str
    token: str
    limit: Fraction
    delta: Fraction
    spent: Fraction
    spent_delta: Fraction
    position: int
    currency: Currency = "epsilon"
    scram: str = ""

    __repr__ = readable

    @property
    def budget(self) -> Budget:
        """The limit and what was spent of it."""
        return Budget(self.limit, self.delta, self.spent, self.spent_delta, self.currency)

    @property
    def active(self) -> bool:
        """Whether some token signs in."""
        return bool(self.token)

    def as_json(self) -> Json:
        """For machines: amounts as text, of one without an end the first digits; no token, and no hash of one."""
        amounts = {"limit": self.limit, "spent": self.spent, "left": self.left,
                   "delta": self.delta, "spent_delta": self.spent_delta}
        told = {"name": self.analyst, "role": self.role, "active": self.active, "currency": self.currency}
        return told | {name: decimal_text(amount) for name, amount in amounts.items()}

    @property
    def left(self) -> Fraction:
        """What may still be spent: nothing where a limit was set below what was."""
        return max(self.budget.remaining, Fraction(0))

    def signs_in(self, token: str) -> bool:
        """Whether this is the account's token, in a time that does not depend on how much of it is right."""
        return hmac.compare_digest(hash_of(token), self.token) and self.active


def account_of(granted: Granted, position: int, charged: Charged | None, currency: Currency) -> Account:
    """charged: the analyst's last charge since then."""
    last = granted if charged is None else charged
    return Account(
        analyst=granted.analyst, role=granted.role, token=granted.token, limit=granted.limit, delta=granted.delta,
        spent=last.own_spent, spent_delta=last.own_delta, position=position, currency=currency, scram=granted.scram,
    )


def new_token(analyst: str) -> str:
    """A token for this analyst, from the operating system's randomness. It is shown once and stored nowhere."""
    return f"{analyst}.{base64.urlsafe_b64encode(os.urandom(32)).decode().rstrip('=')}"


def hash_of(token: str) -> str:
    """What the ledger keeps of a token."""
    return digest(text_bytes(token))


@dataclass(frozen=True, slots=True)
class Scram:
    """What SCRAM-SHA-256 with `ROUNDS` rounds keeps of a token (RFC 5802, 3): the salt, StoredKey and ServerKey."""

    salt: bytes
    stored: bytes
    server: bytes

    @classmethod
    def of(cls, token: str, salt: bytes) -> Scram:
        """Of a token, which has ASCII characters alone, so that SASLprep leaves it as it is."""
        salted = hashlib.pbkdf2_hmac("sha256", token.encode(), salt, ROUNDS)
        client = hmac.digest(salted, b"Client Key", "sha256")
        return cls(salt, hashlib.sha256(client).digest(), hmac.digest(salted, b"Server Key", "sha256"))

    @classmethod
    def read(cls, text: str) -> Scram | None:
        """As `str` spells it; None for anything else."""
        found = _SCRAM.fullmatch(text)
        return None if found is None else cls(*map(bytes.fromhex, found.groups()))

    def __str__(self) -> str:
        return f"{self.salt.hex()}:{self.stored.hex()}:{self.server.hex()}"


def scram_of(token: str) -> str:
    """What the ledger keeps of a token for database clients, under a new salt; "" of none."""
    return str(Scram.of(token, os.urandom(16))) if token else ""


def bearer_of(token: str) -> str | None:
    """Whose token it says it is; None where it is no token."""
    name, _, secret = token.rpartition(".")
    return name if _NAME.fullmatch(name) and _SECRET.fullmatch(secret) else None


def is_name(name: object) -> bool:
    """Whether an account may have it. An analyst without an account may have any other name."""
    return isinstance(name, str) and _NAME.fullmatch(name) is not None


def spelled(granted: Granted) -> bool:
    """Whether it is such as `Ledger.grant` writes: its name, its role, its token's hash and its limits."""
    token = granted.token
    return (
        is_name(granted.analyst) and granted.role in ROLES and min(granted.limit, granted.delta) >= 0
        and isinstance(token, str) and (token == "" or _HASH.fullmatch(token) is not None)
        and isinstance(granted.scram, str)
        and (granted.scram == "" or (token != "" and _SCRAM.fullmatch(granted.scram) is not None))
    )


def checked_name(name: str) -> str:
    """Raises Refusal where accounts have no such name."""
    if not is_name(name):
        raise Refusal(
            f"an account's name has letters, digits, dots and any of _ @ + -, not {name!r}.",
            cure="Name it as in ana, or ana@clinic.example.",
        )
    return name


def checked_role(role: str) -> str:
    """Raises Refusal where there is no such role."""
    if role not in ROLES:
        raise Refusal(f"there is no role {role!r}.", cure="Choose analyst, auditor or steward.")
    return role


def checked_limit(amount: object, name: str) -> Fraction:
    """An exact limit. Raises Refusal."""
    exact = at_least_0(amount, name=f"the limit of {name}", like="0.5")
    if max(exact.numerator, exact.denominator) > _LARGEST:
        raise Refusal(f"the limit of {name} has too many digits.", cure="Write it with fewer digits.")
    return exact


def require_known(account: Account | None, analyst: str) -> Account:
    """Raises Misconfigured where there is no account of this name."""
    if account is None:
        raise Misconfigured(f"there is no account {analyst}.", cure=f"Make one: dpcurator user add {analyst}")
    return account
