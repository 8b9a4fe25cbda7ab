"""What every page has: its frame, what it may load, its static files, and errors as a page.

A page is made by a template with every text escaped; no template and no code here writes HTML of its own. Checked in
tests/server/test_page.py.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from dpcurator.errors import DpcuratorError, Misconfigured
from dpcurator.ledger.accounts import Account
from dpcurator.server.access import ANALYST, AUDITOR, STEWARD, require
from dpcurator.server.page.charts import share
from dpcurator.server.page.inside import Reply, lines, send
from dpcurator.server.page.sessions import Sessions
from dpcurator.server.page.visitor import Visitor, fields_of, visitor_of
from dpcurator.server.replies import problem
from dpcurator.values import Json, read_json

HERE: Final = Path(__file__).parent
ANYONE: Final = (ANALYST, AUDITOR, STEWARD)
SAFE: Final = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "referrer-policy": "same-origin",  # with none at all, a browser does not say which page a form is of
    "cross-origin-opener-policy": "same-origin", "cross-origin-resource-policy": "same-origin",
}
LOCAL: Final = re.compile(r"/([A-Za-z0-9._-][A-Za-z0-9._/-]{0,200})?")  # pages that a sign-in may lead to
_TYPES: Final = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
_HTMX: Final = {  # no script of a text, no style of its own, no other host, no page kept in the browser
    "allowEval": False, "includeIndicatorStyles": False, "selfRequestsOnly": True, "historyEnabled": False,
    "historyCacheSize": 0, "allowScriptTags": False, "disableInheritance": True,
}


@dataclass
class Visit:
    """One request of a page: whose it is, and what its form holds."""

    request: Request
    visitor: Visitor
    fields: Mapping[str, str] = field(default_factory=dict)

    @property
    def account(self) -> Account | None:
        return self.visitor.account

    @property
    def role(self) -> str:
        return "" if self.account is None else self.account.role

    @property
    def is_part(self) -> bool:
        """Whether a part of a page was asked for, by a script of it."""
        return self.request.headers.get("hx-request") == "true"

    async def send(self, method: str, path: str, body: Json | str | None = None, **query: str) -> Reply:
        """The reply of the server's own address to this account."""
        return await send(self.request, self.account, method, path, body, **query)

    def lines(self, method: str, path: str, body: Json | str | None = None) -> AsyncIterator[Reply]:
        """The same, of an address that replies in lines."""
        return lines(self.request, self.account, method, path, body)

    async def page(self, template: str, status: int = 200, **more: Any) -> Response:
        """A template as HTML, with what every page says. A part of a page is never an error to the browser: it is one
        to be read."""
        text = await self.written(template, **more)
        response = HTMLResponse(text, 200 if self.is_part else status, dict(SAFE))
        return self.visitor.sent_with(self.request, response)

    async def written(self, template: str, **more: Any) -> str:
        """A template as HTML."""
        shown = {
            "account": self.account, "role": self.role, "form": self.visitor.form, "asset": asset, "here":
            self.request.url.path, "htmx": json.dumps(_HTMX), **more,
        }
        return await run_in_threadpool(lambda: environment().get_template(template).render(shown))

    async def wrong(self, reply: Reply) -> Response:
        """The page of an error."""
        template = "_problem.html" if self.is_part else "problem.html"
        return await self.page(template, reply.status, problem=reply.content)

    def go(self, path: str) -> Response:
        """The browser goes on to a page of this server."""
        if self.is_part:
            return Response(headers={"HX-Redirect": path, **SAFE})
        return RedirectResponse(path, 303, dict(SAFE))


Page = Callable[[Visit], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Row:
    """A page: where it is, for whom ((): anyone at all), and what makes it."""

    method: str
    path: str
    roles: tuple[str, ...]
    page: Page


def add(app: Any, rows: tuple[Row, ...]) -> None:
    """The pages, under their addresses."""
    app.state.sessions = Sessions(app.state.standing.state / "sessions.sqlite")
    for row in rows:
        app.add_route(row.path, _shown(row), methods=[row.method], include_in_schema=False)


def _shown(row: Row) -> Callable[[Request], Awaitable[Response]]:
    async def shown(request: Request) -> Response:
        request.scope["route"] = row  # for the log of requests
        visit = Visit(request, Visitor(None, "", new=False))
        try:
            visit.visitor = await visitor_of(request, request.app.state.sessions)
            if row.roles and visit.account is None:
                path = quote(request.url.path, safe="/")
                after = f"?after={path}" if row.method == "GET" and LOCAL.fullmatch(path) and path != "/" else ""
                return visit.go(f"/sign-in{after}")
            if row.method == "POST":
                visit.fields = await fields_of(request, visit.visitor)
            if row.roles and visit.account is not None:
                require(visit.account, row.roles)
            return await row.page(visit)
        except DpcuratorError as error:
            return await visit.wrong(_told(error, visit.role))
        except Exception:  # its words may be those of what was asked
            failed = Misconfigured("Something failed that should not have.", cure="The steward runs `dpcurator check`.")
            return await visit.wrong(_told(failed, STEWARD))

    return shown


def _told(error: DpcuratorError, role: str) -> Reply:
    """The error in the words of the server's addresses to this role."""
    said = problem(error, role=role)
    return Reply(said.status_code, read_json(bytes(said.body).decode()))


@cache
def environment() -> Environment:
    """Where templates are. All they write is escaped, and a name that is not there is an error."""
    made = Environment(loader=FileSystemLoader(HERE / "templates"), autoescape=True, undefined=StrictUndefined,
                       trim_blocks=True, lstrip_blocks=True)
    made.globals["share"] = share
    made.filters["sentence"] = lambda text: text[:1].upper() + text[1:]
    return made


@cache
def _statics() -> dict[str, tuple[str, bytes, str]]:
    """{name: (name with the beginning of its sha256, content, type)}."""
    found = {}
    for path in sorted((HERE / "static").iterdir()):
        if path.suffix in _TYPES:
            content = path.read_bytes()
            name = f"{path.stem}.{sha256(content).hexdigest()[:12]}{path.suffix}"
            found[path.name] = name, content, _TYPES[path.suffix]
    return found


def asset(name: str) -> str:
    """The address of a static file, which changes with it."""
    return f"/static/{_statics()[name][0]}"


async def static(visit: Visit) -> Response:
    """A static file; it may be kept for ever, since another one has another name."""
    wanted = visit.request.path_params["name"]
    for name, content, kind in _statics().values():
        if name == wanted:
            return Response(content, 200, {**SAFE, "cache-control": "public, max-age=31536000, immutable"}, kind)
    return await visit.page("problem.html", 404, problem={"title": "not found", "what": "there is no such file.",
                                                          "where": "", "cure": ""})
