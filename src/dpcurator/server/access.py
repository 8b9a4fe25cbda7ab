"""Who sent a request: the account whose token it has, and whether the role of that account may send it.

The token is in `Authorization: Bearer`. It is looked up by the name in it, and compared by its hash in constant time;
the reply to a wrong token is the same for names that exist and names that do not. A failure waits a second before it is
told, and at most 64 wait at once: more are told to come back. The account is read at every request, so a revoked token
signs in no more from the next one on. Checked in tests/server/test_limits.py and test_application.py.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import Final

from starlette.concurrency import run_in_threadpool

from dpcurator.ledger import Ledger
from dpcurator.ledger.accounts import Account, bearer_of, hash_of
from dpcurator.server.replies import STEWARD as STEWARD
from dpcurator.server.replies import Denied

ANALYST, AUDITOR = "analyst", "auditor"
INSIDE: Final = "dpcurator.account"  # in the scope of a request that the page makes: who is signed in there, or None
_LONGEST: Final = 512  # letters of a header that may hold a token
_MOST_WAITING: Final = 64
_CHALLENGE: Final = {"WWW-Authenticate": 'Bearer realm="dpcurator"'}


@dataclass
class Access:
    """delay: seconds before a failure to sign in is told."""

    delay: float = 1.0
    _waiting: int = field(default=0, init=False)

    async def account(self, ledger: Ledger, header: str | None) -> Account:
        """The account whose token this is. Raises Denied."""
        token = _token(header)
        if token is None:
            raise Denied(401, "this needs an account.", "Send its token, as in Authorization: Bearer ana.Qm9...",
                         _CHALLENGE)
        began = time.monotonic()
        found = await run_in_threadpool(_found, ledger, token)
        if found is None:
            await self.slowed(began)
            raise Denied(401, "this token signs in to no account.", "Ask the steward for a new one.", _CHALLENGE)
        return found

    async def slowed(self, began: float) -> None:
        """Told at a time that does not depend on how long it took to look for the name."""
        if self._waiting >= _MOST_WAITING:
            raise Denied(429, "too many tokens were refused.", "Try again in some seconds.", {"Retry-After": "5"})
        self._waiting += 1
        try:
            await asyncio.sleep(max(0.0, began + self.delay - time.monotonic()))
        finally:
            self._waiting -= 1


def require(account: Account, roles: tuple[str, ...]) -> None:
    """Raises Denied where the account has another role."""
    if account.role not in roles:
        raise Denied(403, f"this is not for the role {account.role}.", "Ask the steward to do it.")


def _token(header: str | None) -> str | None:
    if header is None or len(header) > _LONGEST:
        return None
    scheme, _, token = header.partition(" ")
    return token.strip() if scheme.lower() == "bearer" and token.strip() else None


def _found(ledger: Ledger, token: str) -> Account | None:
    name = bearer_of(token)
    account = ledger.account(name if name is not None else "no account has such a name")
    if account is None:
        hash_of(token)  # as much work as for a name that exists
        return None
    return account if account.signs_in(token) else None
