"""The pages of whoever asks: signing in, asking, own answers, the budget, what the tables are, and checking receipts.

Each is a reply of the server's addresses, laid out. Which page is for which role stands in `PAGES`, and is held to the
table of addresses by tests/server/test_page.py.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.responses import PlainTextResponse, Response

from dpcurator.numbers import rational
from dpcurator.release.answer import Answer, answer_of
from dpcurator.server.access import ANALYST, STEWARD
from dpcurator.server.page import steward
from dpcurator.server.page.charts import Bars, bars_of, spending
from dpcurator.server.page.inside import Reply
from dpcurator.server.page.shell import ANYONE, LOCAL, SAFE, Row, Visit, add, static
from dpcurator.server.page.visitor import session_of, sign_in, sign_out
from dpcurator.server.page.words import mends_of, names_of, offers_of, place_of, samples_of, tables_of, when
from dpcurator.server.replies import Denied
from dpcurator.values import Json

ASKING: Final = (ANALYST, STEWARD)
_MOST_ROWS: Final = 300  # of an answer on a page; files have all
_LONGEST_INSIDE: Final = 200_000  # letters of a file that is in the page
_FILES: Final = {"csv": "text/csv; charset=utf-8", "json": "application/json", "receipt": "application/json"}


# Signing in and out

async def sign_in_page(visit: Visit) -> Response:
    if visit.account is not None:
        return visit.go("/")
    after = visit.request.query_params.get("after", "/")[:200]
    return await visit.page("sign_in.html", problem=None, after=after, elsewhere=_from_elsewhere(visit))


def _from_elsewhere(visit: Visit) -> bool:
    """A cookie that is sent with no other site's links is not there yet when one of them is followed."""
    return visit.request.headers.get("sec-fetch-site") == "cross-site"


async def signing_in(visit: Visit) -> Response:
    request = visit.request
    state = request.app.state
    after = visit.fields.get("after", "/")
    ledger = await run_in_threadpool(state.standing.ledger)
    token = visit.fields.get("token", "").strip()
    try:
        account = await state.access.account(ledger, f"Bearer {token}")
    except Denied as denied:
        told = {"what": denied.what if token else "there is no token.", "cure": denied.cure if token else
                "Paste the one that your steward gave you, as in ana.Qm9..."}
        return await visit.page("sign_in.html", denied.status, problem=told, after=after, elsewhere=False)
    earlier = session_of(request)
    if earlier is not None:
        await run_in_threadpool(lambda: state.sessions.end(earlier))
    name = await run_in_threadpool(lambda: state.sessions.begin(account))
    response = visit.go(after if LOCAL.fullmatch(after) else "/")
    sign_in(request, response, name)
    return response


async def signing_out(visit: Visit) -> Response:
    name = session_of(visit.request)
    if name is not None:
        await run_in_threadpool(lambda: visit.request.app.state.sessions.end(name))
    response = visit.go("/sign-in")
    sign_out(visit.request, response)
    return response


# Asking

def _sql(visit: Visit) -> str:
    """A browser sends each end of a line as two characters."""
    return visit.fields.get("sql", "").replace("\r\n", "\n")


def _priced(visit: Visit, otherwise: str = "") -> Json:
    """The price as the form has it: an amount where one was written, else the share that was chosen. otherwise: the
    share where there is neither; "" for none, as where the question has its own."""
    amount, currency = visit.fields.get("amount", "").strip(), visit.fields.get("currency", "")
    if amount and currency in ("epsilon", "rho"):
        return {currency: amount}
    chosen = visit.fields.get("spend") or otherwise
    return {"spend": chosen} if chosen else {}


async def ask_page(visit: Visit) -> Response:
    return await _asking(visit, "", {})


async def _asking(visit: Visit, sql: str, more: Json) -> Response:
    """The page for asking, with what was asked already, and what came of it."""
    told, budget = await visit.send("GET", "/v1/tables"), await visit.send("GET", "/v1/budget")
    for reply in (told, budget):
        if not reply.fine:
            return await visit.wrong(reply)
    tables = tables_of(told.content)
    shown = {"offer": None, "refused": None, "rehearsed": None, "answered": None, **more}
    return await visit.page(
        "ask.html", sql=sql, tables=tables, names=json.dumps(names_of(tables, told.content)), budget=budget.content,
        samples=samples_of(told.content), protects=told.content["protects"], **shown,
    )


async def check(visit: Visit) -> Response:
    """As one types: what is wrong, where; or what each price would buy."""
    sql = _sql(visit)
    found = await _offered(visit, sql)
    return await visit.page("_offer.html", sql=sql, **found) if visit.is_part else await _asking(visit, sql, found)


async def _offered(visit: Visit, sql: str) -> Json:
    if not sql.strip():
        return {"offer": None, "refused": None}
    reply, budget = await visit.send("POST", "/v1/menu", {"sql": sql}), await visit.send("GET", "/v1/budget")
    if not reply.fine or not budget.fine:
        return {"offer": None, "refused": _refused(reply if not reply.fine else budget, sql)}
    own = budget.content["mine"]
    offers = offers_of(reply.content, Fraction(own["left"].removesuffix("...")))
    fitting = [one["spend"] for one in offers if one["fits"]]
    chosen = visit.fields.get("spend")
    wanted = chosen if chosen in fitting else "5%" if "5%" in fitting else fitting[-1] if fitting else None
    return {"refused": None, "offer": {
        "offers": offers, "currency": reply.content["currency"], "chosen": wanted, "own": own,
        "confidence": Fraction(reply.content["confidence"]) * 100, "left": reply.content["left"],
        "ranked": any("rank" in words for one in offers for _, words, _rows in one["bars"]),
        "may_ask": visit.role in ASKING, "amount": visit.fields.get("amount", "")[:40],
    }}


def _refused(reply: Reply, sql: str) -> Json:
    told = reply.content
    return {"problem": told, "place": place_of(told, sql), "mends": mends_of(told, sql)}


async def rehearse(visit: Visit) -> Response:
    """The picture of how blurred an answer at this price would be."""
    sql = _sql(visit)
    reply = await visit.send("POST", "/v1/rehearse", {"sql": sql} | _priced(visit))
    if not reply.fine:
        found: Json = {"rehearsed": None, "refused": _refused(reply, sql)}
        return await visit.page("_refused.html", **found) if visit.is_part else await _asking(visit, sql, found)
    quote = await visit.send("POST", "/v1/quote", {"sql": sql} | _priced(visit, "5%"))  # knows what was paid before
    told = quote.content["text"].split("\n")[0].removeprefix("price: ") if quote.fine else quote.content["what"]
    rehearsed = _laid_out(reply.content) | {
        "price": told, "question": sql,
        "chosen": visit.fields.get("amount", "").strip() or visit.fields.get("spend", ""),
        "costs": quote.content[quote.content["currency"]] if quote.fine else "",
    }
    if visit.is_part:
        return await visit.page("_rehearsed.html", rehearsed=rehearsed)
    return await _asking(visit, sql, {**await _offered(visit, sql), "rehearsed": rehearsed})


async def why(visit: Visit) -> Response:
    """What a question does, how far one person could move its answer, step by step, and what that costs."""
    reply = await visit.send("POST", "/v1/explain", {"sql": _sql(visit)} | _priced(visit))
    told = reply.content["text"] if reply.fine else f"{reply.content['what']} {reply.content['cure']}"
    return PlainTextResponse(told, 200, dict(SAFE))


async def ask(visit: Visit) -> Response:
    sql = _sql(visit)
    if visit.fields.get("do") == "check":  # the buttons of the form, where there is no script
        return await check(visit)
    if visit.fields.get("do") == "rehearse":
        return await rehearse(visit)
    reply = await visit.send("POST", "/v1/ask", {"sql": sql} | _priced(visit))
    if not reply.fine:
        found: Json = {"refused": _refused(reply, sql)}
        if visit.is_part:
            return await visit.page("_refused.html", **found)
        return await _asking(visit, sql, {**await _offered(visit, sql), **found})
    answered = _laid_out(reply.content, sql)
    if visit.is_part:
        budget = await visit.send("GET", "/v1/budget")
        return await visit.page("_answer.html", answered=answered, budget=budget.content if budget.fine else None)
    return await _asking(visit, sql, {**await _offered(visit, sql), "answered": answered})


# Answers

def answer_from(told: Json) -> Answer:
    """The answer that the server's address sent."""
    made = answer_of(told, total=_amount(told["budget"]), currency=told["currency"])
    paid = made.paid(cost=_amount(told["cost"]), spent=_amount(told["spent"]), receipt=told["receipt"],
                     repeated=told["repeated"])
    return replace(paid, made_up=told["made_up"])


def _amount(text: str | None) -> Fraction:
    return rational((text or "0").removesuffix("..."), name="an amount")


def _laid_out(told: Json, asked: str = "", number: int = 1) -> Json:
    """An answer as its template takes it."""
    answer = answer_from(told)
    heads, *rows = answer.lines()
    drawn: list[Bars] = bars_of(answer)
    receipt = told["receipt"] or {}
    return {
        "heads": heads, "rows": rows[:_MOST_ROWS], "more": max(0, len(rows) - _MOST_ROWS), "right": answer.right(),
        "foot": answer.foot(), "drawn": drawn, "made_up": answer.made_up, "asked": asked, "number": number,
        "request": receipt.get("request") if answer.receipt_id else None, "receipt_id": answer.receipt_id,
        "files": [] if answer.receipt_id or answer.made_up else _files(told, answer),
    }


def _files(told: Json, answer: Answer) -> list[tuple[str, str, str]]:
    """What can be downloaded of an answer that is in no ledger, as it was made of what earlier ones paid: it is in the
    page itself. (words, the file's name, its content as an address)"""
    from dpcurator.release.frames import to_csv

    texts = [("CSV", "csv", to_csv(answer)), ("JSON", "json", _json(told))]
    if told["receipt"] is not None:
        texts.append(("Receipt", "receipt", _json(told["receipt"])))
    return [(words, _called("answer", kind), f"data:{_FILES[kind].replace(' ', '')},{quote(text)}")
            for words, kind, text in texts if len(text) <= _LONGEST_INSIDE]


def _called(name: str, kind: str) -> str:
    """The name of a file."""
    ending = "receipt.json" if kind == "receipt" else kind
    return re.sub(r"[^A-Za-z0-9._-]", "_", f"{name}.{ending}")


def _json(told: Any) -> str:
    return json.dumps(told, ensure_ascii=False, indent=2)


async def answers(visit: Visit) -> Response:
    reply = await visit.send("GET", "/v1/answers")
    if not reply.fine:
        return await visit.wrong(reply)
    charges = [one | {"when": when(one["time"]), "cost": one["epsilon"] if one["epsilon"] != "0" else one["rho"]}
               for one in reply.content]
    return await visit.page("answers.html", charges=charges)


async def answer(visit: Visit) -> Response:
    name = visit.request.path_params["name"]
    reply = await visit.send("GET", f"/v1/answers/{name}")
    if not reply.fine:
        return await visit.wrong(reply)
    charges = await visit.send("GET", "/v1/answers")
    asked = {one["request"]: one["asked"] for one in charges.content} if charges.fine else {}
    every = [_laid_out(one, asked.get((one["receipt"] or {}).get("request"), ""), number)
             for number, one in enumerate(reply.content, 1)]
    return await visit.page("answer.html", name=name, every=every)


async def file(visit: Visit) -> Response:
    """An answer as a file: its values, all of it, or its receipt alone."""
    name, number, kind = (visit.request.path_params[part] for part in ("name", "number", "kind"))
    reply = await visit.send("GET", f"/v1/answers/{name}")
    if not reply.fine:
        return await visit.wrong(reply)
    if kind not in _FILES or not number.isdecimal() or not 1 <= int(number[:4]) <= len(reply.content):
        return await visit.page("problem.html", 404, problem={"title": "not found", "where": "", "cure": "",
                                                              "what": "there is no such file of this answer."})
    from dpcurator.release.frames import to_csv

    told = reply.content[int(number[:4]) - 1]
    if kind == "csv":
        text = await run_in_threadpool(lambda: to_csv(answer_from(told)))
    else:
        text = _json(told if kind == "json" else told["receipt"])
    return _file(text, _called(answer_from(told).receipt_id or "answer", kind), kind)


async def receipt(visit: Visit) -> Response:
    """The signed receipt of an answer, as a file; for an auditor, of anybody's."""
    name = visit.request.path_params["name"]
    reply = await visit.send("GET", f"/v1/receipts/{name}")
    if not reply.fine:
        return await visit.wrong(reply)
    return _file(_json(reply.content), _called(name[:12], "receipt"), "receipt")


def _file(text: str, called: str, kind: str) -> Response:
    return Response(text + "\n", 200, {**SAFE, "content-disposition": f'attachment; filename="{called}"'}, _FILES[kind])


# What there is

async def tables(visit: Visit) -> Response:
    reply = await visit.send("GET", "/v1/tables")
    if not reply.fine:
        return await visit.wrong(reply)
    return await visit.page("tables.html", tables=tables_of(reply.content), protects=reply.content["protects"],
                            neighbours=reply.content["neighbours"])


async def budget(visit: Visit) -> Response:
    reply, charges = await visit.send("GET", "/v1/budget"), await visit.send("GET", "/v1/answers")
    for one in (reply, charges):
        if not one.fine:
            return await visit.wrong(one)
    currency = reply.content["mine"]["currency"]
    mine = spending([(one["time"], _amount(one[currency])) for one in reversed(charges.content)],
                    _amount(reply.content["mine"]["limit"]), _amount(reply.content["mine"]["spent"]))
    everyone: Any = None
    if visit.role == STEWARD:
        everyone = await steward.everyone(visit, currency, _amount(reply.content["all"]["budget"]))
    return await visit.page("budget.html", budget=reply.content, mine=mine, everyone=everyone)


async def verify_page(visit: Visit) -> Response:
    return await visit.page("verify.html", given="", found=None, problem=None)


async def verify(visit: Visit) -> Response:
    given = visit.fields.get("receipt", "")
    reply = await visit.send("POST", "/v1/verify", given)
    found = reply.content if reply.fine else None
    template = "_verified.html" if visit.is_part else "verify.html"
    return await visit.page(template, reply.status, given=given, found=found,
                            problem=None if reply.fine else reply.content)


PAGES: Final = (
    Row("GET", "/static/{name}", (), static),
    Row("GET", "/sign-in", (), sign_in_page),
    Row("POST", "/sign-in", (), signing_in),
    Row("POST", "/sign-out", (), signing_out),
    Row("GET", "/", ANYONE, ask_page),
    Row("POST", "/ask", ANYONE, ask),
    Row("POST", "/ask/check", ANYONE, check),
    Row("POST", "/ask/rehearse", ANYONE, rehearse),
    Row("POST", "/ask/why", ANYONE, why),
    Row("GET", "/tables", ANYONE, tables),
    Row("GET", "/answers", ANYONE, answers),
    Row("GET", "/answers/{name}", ANYONE, answer),
    Row("GET", "/answers/{name}/{number}/{kind}", ANYONE, file),
    Row("GET", "/receipts/{name}", ANYONE, receipt),
    Row("GET", "/budget", ANYONE, budget),
    Row("GET", "/verify", (), verify_page),
    Row("POST", "/verify", (), verify),
    *steward.PAGES,
)


def add_pages(app: Any) -> None:
    """The page of the server, beside its addresses."""
    add(app, PAGES)
