"""Who opened a page: the session in the cookie, and whether a form that was sent is one of this server's own pages.

Cookies   HttpOnly, SameSite=Strict and, but on this machine without TLS, Secure with the prefix __Host-, so that no
          script reads them, no other site sends them, and no subdomain sets them.
Forms     A form is taken when its browser says that it comes from a page of this server (Sec-Fetch-Site; Origin where
          there is none), and when it holds the hash of the cookie, which no other site can read. Who has not signed in
          has a cookie of random bits for this alone, so that nobody can be signed in to another's account unawares.
Checked   tests/server/test_page.py.
"""

from __future__ import annotations

import hmac
import re
from dataclasses import dataclass
from hashlib import sha256
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from dpcurator.errors import Refusal
from dpcurator.ledger import Ledger
from dpcurator.ledger.accounts import Account
from dpcurator.server.page.sessions import LONGEST, Sessions, random_name
from dpcurator.server.replies import Denied

_SESSION, _VISIT = "dpcurator", "dpcurator-visit"
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{43}")
_HERE: Final = ("127.0.0.1", "localhost", "::1")
_MOST_FIELDS: Final = 100


@dataclass
class Visitor:
    """account: None where nobody is signed in. secret: what the forms' hash is of."""

    account: Account | None
    secret: str
    new: bool = False  # whether the secret still has to be sent

    @property
    def form(self) -> str:
        """What a form of this visitor's pages holds."""
        return sha256(f"form {self.secret}".encode()).hexdigest()

    def sent_with(self, request: Request, response: Response) -> Response:
        """The response, with the visitor's cookie where the browser has none yet."""
        if self.new:
            put(request, response, _VISIT, self.secret)
        return response


async def visitor_of(request: Request, sessions: Sessions) -> Visitor:
    """Who sent it, looked up anew each time. Raises Misconfigured where there is no ledger to look in."""
    name = _cookie(request, _SESSION)
    if name is not None:
        standing = request.app.state.standing
        account = await run_in_threadpool(lambda: sessions.account(name, standing.ledger()))
        if account is not None:
            request.state.account, request.state.role = account.analyst, account.role
            return Visitor(account, name)
    visit = _cookie(request, _VISIT)
    return Visitor(None, visit or random_name(), new=visit is None)


async def whose(request: Request, sessions: Sessions, ledger: Ledger) -> str:
    """The account that is signed in; "" for nobody. For counting what arrives, before it is looked at."""
    name = _cookie(request, _SESSION)
    account = None if name is None else await run_in_threadpool(lambda: sessions.account(name, ledger))
    return "" if account is None else account.analyst


async def fields_of(request: Request, visitor: Visitor) -> dict[str, str]:
    """The fields of a form of this visitor's pages. Raises Denied for what is none."""
    try:
        body = (await request.body()).decode("utf-8")
        fields = dict(parse_qsl(body, keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict"))
    except ValueError:
        raise Refusal("this is no form.", cure="Send it from the page.") from None
    if visitor.new:
        raise Denied(403, "your browser did not send back the cookie of this page.", "Let this address set cookies; "
                     "away from the server's own machine it needs https.")
    if not _is_ours(request) or not hmac.compare_digest(fields.pop("form", "").encode(), visitor.form.encode()):
        raise Denied(403, "this form is not of a page that you have open, or you signed in or out since.",
                     "Load the page again, and send it from there. Nothing was done.")
    return fields


def _is_ours(request: Request) -> bool:
    """Whether the browser says that the form is of this site; true where it says nothing."""
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if site is not None or origin is None:
        return site in (None, "same-origin")
    try:
        return urlsplit(origin).netloc == request.headers.get("host", "")
    except ValueError:
        return False


def sign_in(request: Request, response: Response, name: str) -> None:
    """The browser holds the session from here on, and no earlier cookie."""
    put(request, response, _SESSION, name, LONGEST)
    drop(request, response, _VISIT)


def sign_out(request: Request, response: Response) -> None:
    drop(request, response, _SESSION)


def session_of(request: Request) -> str | None:
    """What the cookie says, whether or not it is a session."""
    return _cookie(request, _SESSION)


def put(request: Request, response: Response, name: str, value: str, seconds: int | None = None) -> None:
    response.set_cookie(_called(request, name), value, max_age=seconds, path="/", secure=_secure(request),
                        httponly=True, samesite="strict")


def drop(request: Request, response: Response, name: str) -> None:
    response.delete_cookie(_called(request, name), path="/", secure=_secure(request), httponly=True,
                           samesite="strict")


def _cookie(request: Request, name: str) -> str | None:
    value = request.cookies.get(_called(request, name), "")
    return value if _NAME.fullmatch(value) else None


def _called(request: Request, name: str) -> str:
    return f"__Host-{name}" if _secure(request) else name


def _secure(request: Request) -> bool:
    """All but a plain connection to this very machine: behind a proxy with TLS the connection here is plain too."""
    try:
        host = urlsplit(f"//{request.headers.get('host', '')}").hostname
    except ValueError:
        host = None
    return request.url.scheme == "https" or host not in _HERE
