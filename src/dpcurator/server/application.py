"""The addresses of the server: what each takes, who may send it, and which method of the curator it is.

Everything is decided by the curator and the ledger, in the words and the JSON of the shell. An analyst's name is the
account that the token signs in to. A request is named by its Idempotency-Key, within the account: a retry under the
same key is never paid twice; without one, the same question at the same price is the same request.
Checked in tests/server, which holds the table of addresses and roles.
"""

from __future__ import annotations

import asyncio
import json
import queue
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Final

from fastapi import Depends, FastAPI, Header, Request
from fastapi import Path as InPath
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, StreamingResponse
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException

from dpcurator.curator.curator import Curator
from dpcurator.curator.quoting import read
from dpcurator.errors import DpcuratorError, Fault, Misconfigured, Refusal
from dpcurator.ledger.accounts import Account, checked_name, new_token
from dpcurator.numbers.text_table import printable
from dpcurator.pricing.offers import PRICES
from dpcurator.receipts.reply import ONCE
from dpcurator.server.access import ANALYST, AUDITOR, INSIDE, STEWARD, Access, require
from dpcurator.server.forms import Ask, AskBatch, Counted, Grant, Look, LookBatch, Pay, PayBatch, PayCounted, Refresh
from dpcurator.server.limits import Application, Guard, Scope, Work
from dpcurator.server.page.pages import add_pages
from dpcurator.server.page.visitor import whose
from dpcurator.server.replies import guarded, malformed, plain, problem
from dpcurator.server.schema import described
from dpcurator.server.standing import Standing
from dpcurator.values import Json

PUBLIC: Final = ("GET /health", "GET /v1/key", "POST /v1/verify", "GET /v1/openapi.json")  # for nobody in particular
ANYONE: Final = (ANALYST, AUDITOR, STEWARD)
ASKING: Final = (ANALYST, STEWARD)
_MOST_EVENTS: Final = 1000  # of one page of the log
_PAID: Final = ("totals", "fresh", "sharpen", "stored")  # what a paid question has beside what a quote has
Key = Annotated[str | None, Header(alias="Idempotency-Key", max_length=200)]
Name = Annotated[str, InPath(max_length=200)]


def application(
    catalog: Path, *, access: Access | None = None, work: Work | None = None, **guarded: Any
) -> Application:
    """The server of a catalog. guarded: as `Guard` takes it. Raises Misconfigured where the catalog cannot be used."""
    app = FastAPI(title="dpcurator", version="1", openapi_url="/v1/openapi.json", docs_url=None, redoc_url=None,
                  generate_unique_id_function=lambda route: route.name,
                  redirect_slashes=False,  # behind a proxy with TLS it would send the token to http
                  description="Differentially private answers to questions in SQL.")
    app.state.access, app.state.work = access or Access(), work or Work()
    app.state.standing = Standing(catalog, app.state.work.tick)
    _errors(app)
    _public(app)
    _questions(app)
    _answers(app)
    _steward(app)
    add_pages(app)
    app.openapi = cache(partial(described, app, PUBLIC))  # type: ignore[method-assign]
    return Guard(app, look=_looked(app), key=app.state.standing.key, **guarded)


def _looked(app: FastAPI) -> Callable[[Scope], Awaitable[str]]:
    """Whose a request is, by its head alone: so nobody sends a body to an address that asks for an account without one.
    It is looked at again when the body has arrived."""

    async def look(scope: Scope) -> str:
        path = scope["path"]
        if f"{scope['method']} {path}" in PUBLIC:
            return ""
        ledger = await run_in_threadpool(guarded(app.state.standing.ledger))
        if not path.startswith("/v1/"):
            return await whose(Request(scope), app.state.sessions, ledger)
        account = await app.state.access.account(ledger, Headers(scope=scope).get("authorization"))
        return str(account.analyst)

    return look


def _errors(app: FastAPI) -> None:
    @app.exception_handler(DpcuratorError)
    async def told(request: Request, error: DpcuratorError) -> JSONResponse:
        return problem(error, role=getattr(request.state, "role", ""))

    @app.exception_handler(RequestValidationError)
    async def refused(request: Request, error: RequestValidationError) -> JSONResponse:
        return malformed(error)

    @app.exception_handler(Exception)
    async def failed(request: Request, error: Exception) -> JSONResponse:
        return problem(Fault())

    @app.exception_handler(HTTPException)
    async def nowhere(request: Request, error: HTTPException) -> JSONResponse:
        what = {404: "there is nothing at this address.", 405: "this address takes another method."}
        return plain(error.status_code, what.get(error.status_code, "this was not taken."),
                     "The addresses are in /v1/openapi.json.", dict(error.headers or {}))


def _signed_in(*roles: str) -> Any:
    """The account that sent the request. It is part of each address that is not public."""

    async def signed_in(
        request: Request, authorization: Annotated[str | None, Header(include_in_schema=False)] = None
    ) -> Account:
        state = request.app.state
        ledger = await run_in_threadpool(guarded(state.standing.ledger))
        inside: Account | None = request.scope.get(INSIDE)  # the page has found who it is, for this very request
        account: Account = inside or await state.access.account(ledger, authorization)
        request.state.account, request.state.role = account.analyst, account.role
        require(account, roles)
        return account

    return Depends(signed_in)


def _curator(request: Request) -> Curator:
    found: Curator = request.app.state.standing.curator()
    return found


def _whose(request: Request) -> str:
    """The account; "" where the address asks for none."""
    return str(getattr(request.state, "account", ""))


async def _free(request: Request, work: Callable[[], Any]) -> Any:
    found: Any = await request.app.state.work.free(guarded(work), _whose(request))
    return found


async def _paid(request: Request, work: Callable[[], Any]) -> Any:
    found: Any = await request.app.state.work.paid(guarded(work, paid=True), _whose(request))
    return found


def _shown(found: Any) -> Json:
    """Its JSON, and as text what it prints."""
    return {**found.as_json(), "text": str(found)}


def _priced(form: Ask, otherwise: str) -> dict[str, Any]:
    """What was sent but for the question, with a price where neither it nor the question has one."""
    given = form.given("sql")
    priced = any(given.get(name) is not None for name in PRICES) or read(form.sql).price
    return given if priced else given | {"spend": otherwise}


def _request_id(account: Account, key: str | None) -> str | None:
    """The ledger's name of a request. Two accounts may choose one key: each name is of both. It begins as no other, so
    that looking for a beginning does not walk through everybody's."""
    return None if key is None else sha256(json.dumps([account.analyst, key]).encode()).hexdigest()[:40]


def _public(app: FastAPI) -> None:
    @app.get("/health", summary="Whether the server takes requests.")
    async def health() -> Json:
        return {"status": "ok"}

    @app.get("/v1/key", summary="The public key that signs receipts and replies, and how it follows earlier ones.")
    async def key(request: Request) -> Json:
        def work() -> Json:
            standing = request.app.state.standing
            return {"public_key": standing.key().public, "chain": [link.as_json() for link in standing.chain()]}

        return dict(await run_in_threadpool(guarded(work)))

    @app.post("/v1/verify", summary="Checks a receipt of this curator's, or an answer with one, against the catalog.")
    async def verify(request: Request) -> Json:
        from dpcurator.receipts.verification import verify as verified
        from dpcurator.values import read_json

        body = await request.body()

        def work() -> Json:
            try:
                content = read_json(body.decode("utf-8"))
            except (ValueError, UnicodeDecodeError):
                raise Refusal("this is no JSON that says one thing.", cure="Send a receipt as it was given.") from None
            curator = _curator(request)
            receipt = content.get("receipt", content) if isinstance(content, dict) else content
            return verified(receipt, catalog=curator.catalog, public_key=curator.key.public, signed=True,
                            keys=request.app.state.standing.chain()).as_json()

        return dict(await _free(request, work))


def _questions(app: FastAPI) -> None:
    anyone, asking = _signed_in(*ANYONE), _signed_in(*ASKING)

    @app.get("/v1/tables", summary="What can be asked of: tables, columns, bounds, keys, caps.")
    async def tables(request: Request, account: Account = anyone) -> Json:
        return dict(await _free(request, lambda: _shown(_curator(request).tables)))

    @app.post("/v1/menu", summary="What each share of the budget would buy. Free.")
    async def menu(request: Request, form: Look, account: Account = anyone) -> Json:
        return dict(await _free(request, lambda: _shown(_curator(request).menu(form.sql, **form.given("sql")))))

    @app.post("/v1/menu/batch", summary="The same for several questions together. Free.")
    async def menu_batch(request: Request, form: LookBatch, account: Account = anyone) -> Json:
        given = form.given("questions")
        return dict(await _free(request, lambda: _shown(_curator(request).menu_batch(form.questions, **given))))

    @app.post("/v1/quote", summary="What a question would cost, how wrong it might be, and why. Free.")
    async def quote(request: Request, form: Ask, account: Account = anyone) -> Json:
        def work() -> Json:
            return _shown(_curator(request).quote(form.sql, analyst=account.analyst, **form.given("sql")))

        return dict(await _free(request, work))

    @app.post("/v1/quote/batch", summary="The same for several questions together. Free.")
    async def quote_batch(request: Request, form: AskBatch, account: Account = anyone) -> Json:
        def work() -> Json:
            batch = _curator(request).quote_batch(form.questions, analyst=account.analyst, **form.given("questions"))
            return _shown(batch)

        return dict(await _free(request, work))

    @app.post("/v1/rehearse", summary="The answer over made-up rows. Free.")
    async def rehearse(request: Request, form: Ask, account: Account = anyone) -> Json:
        def work() -> Json:
            return _curator(request).rehearse(form.sql, **form.given("sql")).as_json()

        return dict(await _free(request, work))

    @app.post("/v1/explain", summary="What a question does, step by step, and its quote; at 1 % without a price. Free.")
    async def explain(request: Request, form: Ask, account: Account = anyone) -> Json:
        from dpcurator.plan.lines import plan_lines

        def work() -> Json:
            curator = _curator(request)
            quote = curator.quote(form.sql, analyst=account.analyst, **_priced(form, "1%"))
            told = {"plan": plan_lines(quote.plan, curator.catalog), "quote": quote.as_json()}
            why = [f"{n}: {printable(step)}" for n, one in enumerate(quote.priced, 1) for step in one.derivation]
            lines = ["plan:", *(f"  {line}" for line in told["plan"]), "", str(quote), *(["", "why, number by number:"]
                     if why else []), *(f"  {line}" for line in why)]
            return told | {"text": "\n".join(lines)}

        return dict(await _free(request, work))

    @app.post("/v1/caps", summary="Error bars under other contribution bounds, at 5 % without a price. Free.")
    async def caps(request: Request, form: Ask, account: Account = anyone) -> Json:
        return dict(await _free(request, lambda: _shown(_curator(request).caps(form.sql, **_priced(form, "5%")))))

    @app.post("/v1/rows-per-unit/menu", summary="What it would cost to count how many units have how many rows. Free.")
    async def rows_per_unit_menu(request: Request, form: Counted, account: Account = anyone) -> Json:
        from dpcurator.curator.rows_per_unit import rows_frame

        def work() -> Json:
            curator = _curator(request)
            frame = rows_frame(curator.table(form.table), curator.catalog.protects)
            return _shown(frame.menu()) | {"sql": frame.sql()}

        return dict(await _free(request, work))

    @app.post("/v1/rows-per-unit", summary="How many units have how many rows, and the caps that suggests. Paid.")
    async def rows_per_unit(request: Request, form: PayCounted, account: Account = asking, key: Key = None) -> Json:
        def work() -> Json:
            return _shown(_curator(request).rows_per_unit(
                form.table, analyst=account.analyst, request_id=_request_id(account, key), **form.given("table")
            ))

        return dict(await _paid(request, work))

    @app.post("/v1/ask", summary="The answer, paid for. The same question at the same price again is free.")
    async def ask(request: Request, form: Pay, account: Account = asking, key: Key = None) -> Json:
        from dpcurator.release.totals import planned

        def work() -> Json:
            curator, given, wanted = _curator(request), form.given("sql", "totals"), form.totals or []
            if wanted:
                quote = curator.quote(form.sql, analyst=account.analyst, **form.given("sql", *_PAID))
                for one in wanted:  # what has no total is said before anything is charged
                    planned(quote, one.columns, one.by)
            answer = curator.ask(form.sql, analyst=account.analyst, request_id=_request_id(account, key), **given)
            told: Json = answer.as_json()
            if form.totals is not None:
                told["totals"] = [answer.totals(*one.columns, by=one.by).as_json() for one in wanted]
            return told

        return dict(await _paid(request, work))

    @app.post("/v1/batch", summary="The answers to several questions: one charge, all or nothing.")
    async def batch(request: Request, form: PayBatch, account: Account = asking, key: Key = None) -> list[Json]:
        def work() -> list[Json]:
            answers = _curator(request).batch(
                form.questions, analyst=account.analyst, request_id=_request_id(account, key),
                **form.given("questions"),
            )
            return [answer.as_json() for answer in answers]

        return list(await _paid(request, work))


def _answers(app: FastAPI) -> None:
    anyone = _signed_in(*ANYONE)

    @app.get("/v1/budget", summary="What is spent and left: of my own limit, and of the whole.")
    async def budget(request: Request, account: Account = anyone) -> Json:
        def work() -> Json:
            ledger = request.app.state.standing.ledger()
            own = ledger.account(account.analyst) or account
            return {"mine": own.as_json(), "all": ledger.budget().as_json(), "life": ledger.life()}

        return dict(await _free(request, work))

    @app.get("/v1/answers", summary="My last charges, the latest first.")
    async def answers(request: Request, account: Account = anyone) -> list[Json]:
        def work() -> list[Json]:
            charges = request.app.state.standing.ledger().charges(account.analyst)
            return [_charge_json(one) for one in charges]

        return list(await _free(request, work))

    @app.get("/v1/answers/{name}", summary="My stored answers of this name, for nothing; of a batch all that it paid.")
    async def answer(request: Request, name: Name, account: Account = anyone) -> list[Json]:
        def work() -> list[Json]:
            return [one.as_json() for one in _curator(request).recall(name, analyst=account.analyst)]

        return list(await _free(request, work))

    @app.get("/v1/receipts/{name}", summary="The signed receipt of an answer; for an auditor, of anybody's.")
    async def receipt(request: Request, name: Name, account: Account = anyone) -> Any:
        from dpcurator.receipts.named import receipt_named

        whose = account.analyst if account.role == ANALYST else None
        return await _free(request, lambda: receipt_named(request.app.state.standing.ledger(), name, whose))


def _charge_json(entry: Any) -> Json:
    from dpcurator.numbers import decimal_text

    event = entry.event
    amounts = {name: decimal_text(getattr(event, name)) for name in ("epsilon", "rho", "delta")}
    return {"position": entry.position, "time": entry.time, "request": event.request, "asked": event.asked, **amounts}


def _steward(app: FastAPI) -> None:
    steward, reading = _signed_in(STEWARD), _signed_in(STEWARD, AUDITOR)

    @app.get("/v1/log", summary="The ledger's history behind an event; without the questions, for an auditor.")
    async def log(request: Request, account: Account = reading, after: int = 0) -> list[Json]:
        def work() -> list[Json]:
            hidden = () if account.role == STEWARD else ("asked", "parameters", "token", "scram")
            page = request.app.state.standing.ledger().page(min(max(after, 0), 2**62), _MOST_EVENTS)
            return [{name: value for name, value in one.as_json().items() if name not in hidden} for one in page]

        return list(await _free(request, work))

    @app.get("/v1/ledger", summary="Recomputes the whole ledger: the chain, the totals, the stored answers.")
    async def ledger(request: Request, account: Account = reading) -> Json:
        def work() -> Json:
            found = request.app.state.standing.ledger().verify()
            return {"holds": found.sound, "events": found.position, "head": found.head, "words": found.problem or ""}

        return dict(await _free(request, work))

    @app.get("/v1/check", summary="What is undeclared, with the line to paste.")
    async def check(request: Request, account: Account = steward) -> Json:
        def work() -> Json:
            from dpcurator.catalog.check import check as findings_of
            from dpcurator.catalog.check import ready
            from dpcurator.catalog.load import load
            from dpcurator.snapshot.store import public_facts

            declaration = load(request.app.state.standing.place)
            findings = findings_of(declaration, public_facts(declaration))
            return {"ready": ready(findings), "findings": [finding.as_json() for finding in findings]}

        return dict(await _free(request, work))

    @app.post("/v1/refresh", response_model=None, summary="Reads the declared sources: lines of JSON, the report last.")
    async def refresh(request: Request, form: Refresh, account: Account = steward) -> StreamingResponse | JSONResponse:
        from dpcurator.catalog.load import load
        from dpcurator.curator.opening import refresh_all
        from dpcurator.snapshot.store import named, public_facts

        def before() -> tuple[Any, Any]:
            declaration = load(request.app.state.standing.place)
            public_facts(declaration)
            try:
                return declaration, None if form.version is None else named(declaration, form.version)
            except Misconfigured as wrong:  # the name is the request's, and no fault of the set-up
                raise Refusal(wrong.what, cure=wrong.cure) from None

        declaration, standing = await run_in_threadpool(guarded(before))
        if standing is not None:
            return JSONResponse({"version": standing.version, "name": form.version, "read": False})

        def work(told: Callable[[Json], None]) -> Json:
            def seen(table: str, rows: int, part: float) -> None:
                told({"table": table, "rows": rows, "part": part})

            report = refresh_all(declaration, progress=seen, name=form.version)
            return {"report": report.as_json(), "text": str(report)}

        if ONCE in request.headers:  # a signature is of a whole reply
            return JSONResponse(await run_in_threadpool(guarded(lambda: work(lambda _: None))))
        return StreamingResponse(_lines(work), media_type="application/x-ndjson")

    @app.post("/v1/reopen", summary="Takes questions again after a fault.")
    async def reopen(request: Request, account: Account = steward) -> Json:
        return {"reopened": await _free(request, lambda: request.app.state.standing.ledger().reopen())}

    @app.get("/v1/users", summary="All accounts.")
    async def users(request: Request, account: Account = steward) -> list[Json]:
        def work() -> list[Json]:
            return [one.as_json() for one in request.app.state.standing.ledger().accounts()]

        return list(await _free(request, work))

    @app.post("/v1/users/{name}", summary="Makes an account, or changes what is sent of it; a new token is shown once.")
    async def grant(request: Request, name: Name, form: Grant, account: Account = steward) -> Json:
        def work() -> Json:
            ledger = request.app.state.standing.ledger()
            if form.role is None and not form.token and ledger.account(checked_name(name)) is None:
                raise Refusal(f"there is no account {name}.", cure='To make one, send its role, or "token": true.')
            token = None if form.token is None else new_token(checked_name(name)) if form.token else ""
            given = form.given("token")
            made: Json = ledger.grant(name, token=token, **given).as_json()
            return made | ({"token": token} if token else {})

        return dict(await _free(request, work))


async def _lines(work: Callable[[Callable[[Json], None]], Json]) -> AsyncIterator[str]:
    """What `work` tells, as it goes, and what it returns, or its error, last: a line of JSON each."""
    told: queue.SimpleQueue[Json] = queue.SimpleQueue()

    def whole() -> Json:
        try:
            return dict(guarded(lambda: work(told.put))())
        except DpcuratorError as error:
            return dict(error.as_json()) | {"exit_code": error.exit_code}

    task: Awaitable[Json] = asyncio.ensure_future(run_in_threadpool(whole))
    while not task.done():  # type: ignore[attr-defined]  # a future
        await asyncio.wait([task], timeout=0.2)  # type: ignore[type-var]
        last = None
        while not told.empty():
            last = told.get()
        if last is not None:
            yield json.dumps(last) + "\n"
    yield json.dumps(await task) + "\n"
