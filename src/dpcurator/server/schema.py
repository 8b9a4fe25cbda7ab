"""The description of the addresses in OpenAPI 3.1, for programs that make clients: who signs in, and what comes back.

The forms of requests are the server's own (forms.py). What is said here of replies follows what the curator's `as_json`
writes; tests/server/test_application.py compares each reply with it, and tests/server/test_schemathesis.py many.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from dpcurator.values import Json

_TEXT: Final[Json] = {"type": "string"}
_AMOUNT: Final[Json] = {"type": "string", "description": "An exact decimal, or the first digits of one and \"...\"."}
_MAYBE: Final[Json] = {"anyOf": [_AMOUNT, {"type": "null"}]}
_NUMBER: Final[Json] = {"anyOf": [{"type": "number"}, {"type": "null"}]}
_WHOLE: Final[Json] = {"type": "integer"}
_TRUTH: Final[Json] = {"type": "boolean"}
_ANY: Final[Json] = {"type": "object", "additionalProperties": True}


def _list(of: Json) -> Json:
    return {"type": "array", "items": of}


def _ref(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def _object(needed: dict[str, Json], more: dict[str, Json] | None = None, **words: Any) -> Json:
    """needed: what is always there; more: what may be. Anything else may come later, and is to be passed over."""
    return {"type": "object", "required": [*needed], "properties": needed | (more or {})} | words


_BUDGET: Final = _object({"currency": _TEXT, "budget": _AMOUNT, "spent": _AMOUNT, "left": _AMOUNT}, {"delta": _ANY})
_TOLD: Final = _object({"text": _TEXT}, additionalProperties=True, description="Fields, and as text what it reads.")
_LINK: Final = _object({"format": _TEXT, "ledger": _TEXT, "position": _WHOLE} | dict.fromkeys(
    ("previous", "old", "new", "signature", "accepted"), _TEXT))
SCHEMAS: Final[dict[str, Json]] = {
    "Problem": _object(
        {"type": _TEXT, "title": _TEXT, "status": _WHOLE, "detail": _TEXT, "error": _TEXT, "what": _TEXT,
         "where": _TEXT, "cure": _TEXT},
        {"exit_code": _WHOLE, "mends": _list(_ANY), "currency": _TEXT, "of": _TEXT,
         **dict.fromkeys(("requested", "remaining", "short_by"), _TEXT)},
        description="What is wrong, where, and how to mend it, in the words of the shell."),
    "Cell": _object(
        {"value": {"anyOf": [{"type": ["integer", "number", "string", "boolean", "null"]}]}, "error": _NUMBER,
         "low": _NUMBER, "high": _NUMBER}, {"rank": _NUMBER, "other": _TRUTH},
        description="A value, how far the noise may have moved it, and its interval, at the answer's confidence."),
    "Answer": _object(
        {"columns": _list(_TEXT), "shown": _list(_TEXT), "rows": _list(_list(_ref("Cell"))), "confidence": _TEXT,
         "notes": _list(_TEXT), "currency": _TEXT, "cost": _AMOUNT, "spent": _MAYBE, "budget": _AMOUNT, "left": _MAYBE,
         "repeated": _TRUTH, "made_up": _TRUTH, "within_bar": _list(_list(_TRUTH)),
         "receipt": {"anyOf": [_ANY, {"type": "null"}]}},
        {"cut": _ANY, "totals_of": _TEXT, "totals": _list(_ref("Answer"))}),
    "Account": _object(
        {"name": _TEXT, "role": _TEXT, "active": _TRUTH, "currency": _TEXT, "limit": _AMOUNT, "spent": _AMOUNT,
         "left": _AMOUNT, "delta": _AMOUNT, "spent_delta": _AMOUNT},
        {"token": {"type": "string", "description": "A new one, shown this once."}}),
}
_ANSWERS: Final = _list(_ref("Answer"))
REPLIES: Final[dict[str, Json]] = {  # by the name of the operation
    "health": _object({"status": _TEXT}), "key": _object({"public_key": _TEXT, "chain": _list(_LINK)}),
    "verify": _object({"holds": _TRUTH, "steps": _list(_object({"name": _TEXT, "holds": _TRUTH, "words": _TEXT})),
                       "not_checked": _list(_TEXT)}),
    **dict.fromkeys(("tables", "menu", "menu_batch", "quote", "quote_batch", "caps", "rows_per_unit_menu"), _TOLD),
    "explain": _object({"text": _TEXT, "plan": _list(_TEXT), "quote": _ANY}),
    "rows_per_unit": _object({"text": _TEXT, "table": _TEXT, "counts": _list(_ANY), "suggested": _list(_WHOLE),
                              "answer": _ref("Answer")}),
    "rehearse": _ref("Answer"), "ask": _ref("Answer"), "batch": _ANSWERS, "answer": _ANSWERS,
    "budget": _object({"mine": _ref("Account"), "all": _BUDGET, "life": _TEXT}),
    "answers": _list(_object({"position": _WHOLE, "time": _TEXT, "request": _TEXT, "asked": _TEXT, "epsilon": _AMOUNT,
                              "rho": _AMOUNT, "delta": _AMOUNT})),
    "receipt": {"anyOf": [_ANY, _list(_ANY)]},
    "log": _list(_object({"position": _WHOLE, "time": _TEXT, "event": _TEXT, "hash": _TEXT},
                         additionalProperties=True)),
    "ledger": _object({"holds": _TRUTH, "events": _WHOLE, "head": _TEXT, "words": _TEXT}),
    "check": _object({"ready": _TRUTH, "findings": _list(_ANY)}), "reopen": _object({"reopened": _TRUTH}),
    "refresh": _object({}, {"version": _WHOLE, "name": _TEXT, "read": _TRUTH, "report": _ANY, "text": _TEXT}),
    "users": _list(_ref("Account")), "grant": _ref("Account"),
}
_WRONG: Final = {
    "400": "Refused, from public facts alone: nothing was charged.", "401": "No account signs in with this token.",
    "402": "Over budget: nothing was charged.", "403": "Not for this role.", "408": "It took too long to arrive.",
    "413": "The body is too large.", "429": "Too many tokens were refused.", "431": "The headers are too long.",
    "500": "A fault: charged, and the curator is closed.", "503": "The set-up is wrong, or too many wait.",
}
_PROBLEM: Final = {"application/problem+json": {"schema": _ref("Problem")}}


def described(app: FastAPI, public: Collection[str]) -> Json:
    """The description. public: the addresses that ask for no account."""
    made: Json = get_openapi(title=app.title, version=app.version, openapi_version="3.1.0",
                             description=app.description, routes=app.routes)
    parts: Json = made.setdefault("components", {})
    forms = {name: one for name, one in parts.get("schemas", {}).items() if "ValidationError" not in name}
    parts["schemas"] = forms | SCHEMAS
    parts["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer", "description": "Of an account."}}
    for path, methods in made["paths"].items():
        for method, one in methods.items():
            open_to_all = f"{method.upper()} {path}" in public
            if not open_to_all:
                one["security"] = [{"token": []}]
            wrong = {status: words for status, words in _WRONG.items()
                     if not (open_to_all and status in ("401", "402", "403", "429"))}
            good = {"application/json": {"schema": REPLIES[one["operationId"]]}}
            if one["operationId"] == "refresh":  # lines of progress and the report last, where no nonce was sent
                good["application/x-ndjson"] = {"schema": _TEXT}
            one["responses"] = {"200": {"description": one["summary"], "content": good}} | {
                status: {"description": words, "content": _PROBLEM} for status, words in wrong.items()
            }
    verify = made["paths"]["/v1/verify"]["post"]
    verify["requestBody"] = {"required": True, "content": {"application/json": {"schema": {
        "description": "A receipt, or an answer with one.", "type": "object", "additionalProperties": True}}}}
    return made
