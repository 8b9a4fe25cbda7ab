"""The pages of whoever keeps the curator: the data and what is undeclared, people and their limits, the history.

Each is a reply of the steward's addresses, laid out. Checked in tests/server/test_page.py.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from fractions import Fraction
from typing import Any, Final

from starlette.responses import Response, StreamingResponse

from dpcurator.numbers import decimal_text
from dpcurator.server.access import AUDITOR, STEWARD
from dpcurator.server.page.charts import Spent, share, spending
from dpcurator.server.page.inside import Reply
from dpcurator.server.page.shell import SAFE, Row, Visit
from dpcurator.server.page.words import when
from dpcurator.values import Json

_PAGE: Final = 100  # events of the history on a page
_EVERY: Final = 2.0  # seconds between two lines of how far a refresh is
_HERE: Final = "<!-- here -->"
_MOST_READ: Final = 20  # replies of a thousand events each, for the picture of what all spent


# The data

async def data(visit: Visit) -> Response:
    return await _data(visit)


async def _data(visit: Visit, **done: Any) -> Response:
    check, budget = await visit.send("GET", "/v1/check"), await visit.send("GET", "/v1/budget")
    shown = {"problem": None, "done": "", "ledger": None, **done}
    return await visit.page(
        "data.html", check=check.content if check.fine else None, fault=None if check.fine else check.content,
        life=budget.content["life"] if budget.fine else "", **shown,
    )


async def refresh(visit: Visit) -> Response:
    """The page goes on as the data is read, so that neither a proxy nor a person gives it up."""
    version = visit.fields.get("version", "").strip()
    lines = visit.lines("POST", "/v1/refresh", {"version": version} if version else {})
    first = await anext(lines)
    if not first.fine:
        return await _data(visit, problem=first.content)
    if first.content.get("read") is False:
        return await _data(visit, done=f"A version called {first.content['name']} is in force: nothing was read.")
    return StreamingResponse(_reading(visit, first.content, lines), 200, dict(SAFE), "text/html; charset=utf-8")


async def _reading(visit: Visit, line: Json, lines: AsyncIterator[Reply]) -> AsyncIterator[str]:
    begin, _, end = (await visit.written("reading.html", here="/data")).partition(_HERE)
    yield begin
    told = -_EVERY
    while "report" not in line and "error" not in line:
        if time.monotonic() - told >= _EVERY:
            told = time.monotonic()
            yield await visit.written("_progress.html", **line)
        line = (await anext(lines)).content
    yield await visit.written("_report.html", report=line.get("text"), problem=None if "report" in line else line)
    yield end


async def reopen(visit: Visit) -> Response:
    reply = await visit.send("POST", "/v1/reopen")
    if not reply.fine:
        return await _data(visit, problem=reply.content)
    return await _data(visit, done="Questions are taken again." if reply.content["reopened"] else "It was not closed.")


async def recompute(visit: Visit) -> Response:
    reply = await visit.send("GET", "/v1/ledger")
    if not reply.fine:
        return await visit.wrong(reply)
    if visit.role == STEWARD:
        return await _data(visit, ledger=reply.content)
    return await _history(visit, ledger=reply.content)


# People

async def people(visit: Visit) -> Response:
    return await _people(visit)


async def _people(visit: Visit, **done: Any) -> Response:
    users, budget = await visit.send("GET", "/v1/users"), await visit.send("GET", "/v1/budget")
    for reply in (users, budget):
        if not reply.fine:
            return await visit.wrong(reply)
    accounts = [one | {"part": share(one["spent"], one["limit"])} for one in users.content]
    shown = {"problem": None, "done": "", "token": None, **done}
    return await visit.page("people.html", accounts=accounts, budget=budget.content["all"], **shown)


async def change(visit: Visit) -> Response:
    """An account is made, or one thing of it changed."""
    name, do = visit.fields.get("name", "").strip(), visit.fields.get("do", "")
    fields = {"add": ("role", "limit", "delta"), "limit": ("limit", "delta")}.get(do, ())
    wanted: Json = {field: visit.fields[field].strip() for field in fields if visit.fields.get(field, "").strip()}
    if do in ("add", "rotate", "revoke"):
        wanted["token"] = do != "revoke"
    if do == "add":
        users = await visit.send("GET", "/v1/users")
        if users.fine and any(one["name"] == name for one in users.content):
            return await _people(visit, problem=_refused(f"there is an account {name}.",
                                                         "Change its limit, or make a new token, below."))
    if not name or "/" in name:
        return await _people(visit, problem=_refused("an account has a name.",
                                                     "Name it as in ana, or ana@clinic.example."))
    reply = await visit.send("POST", f"/v1/users/{name}", wanted)
    if not reply.fine:
        return await _people(visit, problem=reply.content)
    words = {"add": "may ask from now on", "rotate": "has a new token, and the old one signs in no more",
             "revoke": "signs in no more, and every session has ended", "limit": "has another limit"}
    return await _people(visit, done=f"{name} {words.get(do, 'was changed')}.", token=reply.content.get("token"))


def _refused(what: str, cure: str) -> Json:
    return {"title": "refused", "what": what, "where": "", "cure": cure}


async def everyone(visit: Visit, currency: str, total: Fraction) -> Any:
    """What all spent over time, and by analyst."""
    charges: list[tuple[str, Fraction]] = []
    by: dict[str, list[tuple[str, Fraction]]] = {}
    after, whole = 0, True
    for _ in range(_MOST_READ):
        reply = await visit.send("GET", "/v1/log", after=str(after))
        if not reply.fine:
            return None
        for event in (one for one in reply.content if one["event"] == "charged"):
            charge = event["time"], Fraction(event[currency])
            charges.append(charge)
            by.setdefault(event["analyst"], []).append(charge)
        if len(reply.content) < 1000:
            break
        after = reply.content[-1]["position"]
    else:
        whole = False
    spent = {name: sum((amount for _, amount in own), Fraction(0)) for name, own in by.items()}
    most = max(spent.values(), default=Fraction(0))
    lines: list[tuple[str, str, str, Spent | None]] = [
        (name, decimal_text(amount), share(decimal_text(amount), decimal_text(total)),
         spending(by[name], most, amount, since=charges[0][0]))
        for name, amount in sorted(spent.items(), key=lambda one: -one[1])
    ]
    return {"all": spending(charges, total, sum(spent.values(), Fraction(0))), "by": lines, "whole": whole}


# The history

async def history(visit: Visit) -> Response:
    return await _history(visit)


async def _history(visit: Visit, ledger: Any = None) -> Response:
    after = visit.request.query_params.get("after", "0")
    begin = int(after) if after.isascii() and after.isdecimal() and len(after) < 16 else 0
    reply = await visit.send("GET", "/v1/log", after=str(begin))
    if not reply.fine:
        return await visit.wrong(reply)
    events = [{"position": one["position"], "when": when(one["time"]), "event": one["event"],
               "request": one.get("request", ""), "whose": one.get("analyst", ""), "amount": _amount(one),
               "words": _told(one)} for one in reply.content[:_PAGE]]
    more = reply.content[_PAGE - 1]["position"] if len(reply.content) > _PAGE else None
    return await visit.page("log.html", events=events, more=more, begin=begin, ledger=ledger)


def _amount(event: Json) -> str:
    if event["event"] != "charged":
        return ""
    amounts = [decimal_text(Fraction(event[name])) for name in ("epsilon", "rho") if event.get(name, "0") != "0"]
    delta = event.get("delta", "0")
    return " + ".join([*(amounts or ["0"]), *([f"delta {decimal_text(Fraction(delta))}"] if delta != "0" else [])])


def _told(event: Json) -> str:
    if event["event"] == "granted":
        limit = decimal_text(Fraction(event["limit"]))
        return f"{event['role']}, at most {limit}"
    return str(event.get("asked", ""))


PAGES: Final = (
    Row("GET", "/data", (STEWARD,), data),
    Row("POST", "/data/refresh", (STEWARD,), refresh),
    Row("POST", "/data/reopen", (STEWARD,), reopen),
    Row("POST", "/log/recompute", (STEWARD, AUDITOR), recompute),
    Row("GET", "/people", (STEWARD,), people),
    Row("POST", "/people", (STEWARD,), change),
    Row("GET", "/log", (STEWARD, AUDITOR), history),
)
