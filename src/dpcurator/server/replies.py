"""What is sent back: an error as problem+json, in the words of the shell, and no word that is the steward's alone.

A Refusal depends on public facts alone and is sent whole. Of a fault of the set-up an analyst is told what it is and
not where, and whoever has not signed in, as where the ledger cannot be opened, that there is one. A Fault has constant
words. Anything unforeseen has the words of a Fault after a question was paid, and constant ones else. Checked in
tests/server/test_application.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse

from dpcurator.errors import DpcuratorError, Fault, Misconfigured, OverBudget, Refusal
from dpcurator.numbers.text_table import printable
from dpcurator.values import Json

STEWARD: Final = "steward"  # the role that may read where the set-up is wrong
_LONGEST_PLACE: Final = 100  # letters
STATUS: Final = ((OverBudget, 402), (Refusal, 400), (Misconfigured, 503), (Fault, 500))


class Denied(DpcuratorError):
    """The request is nobody's, or not of a role that may send it."""

    title = "not allowed"

    def __init__(self, status: int, what: str, cure: str, headers: dict[str, str] | None = None) -> None:
        self.status, self.headers = status, headers or {}
        super().__init__(what, cure=cure)


def problem(error: DpcuratorError, *, role: str = "") -> JSONResponse:
    """The reply of an error to somebody of this role; "" to who has not signed in."""
    error = shown_to(error, role)
    status = error.status if isinstance(error, Denied) else next(
        (number for kind, number in STATUS if isinstance(error, kind)), 500
    )
    headers = error.headers if isinstance(error, Denied) else {}
    return _reply(status, error.title, str(error), dict(error.as_json()) | {"exit_code": error.exit_code}, headers)


def shown_to(error: DpcuratorError, role: str) -> DpcuratorError:
    """What somebody of this role may read of an error."""
    if isinstance(error, Misconfigured) and role != STEWARD:
        # The cure of several faults tells of the others, and where they are.
        return Misconfigured(error.what, cure=error.cure.partition("\n")[0]) if role else _unusable()
    return error


def guarded(work: Callable[[], Any], *, paid: bool = False) -> Callable[[], Any]:
    """Whatever fails unforeseen says one constant sentence: its own words could hold data."""

    def run() -> Any:
        failed: DpcuratorError
        try:
            return work()
        except DpcuratorError:
            raise
        except Exception:
            failed = Fault() if paid else Misconfigured("Something failed that should not have.",
                                                        cure="The steward runs `dpcurator check`.")
        raise failed

    return run


def _unusable() -> Misconfigured:
    return Misconfigured("the server cannot be used as it is set up.", cure="Its steward runs `dpcurator check`.")


def malformed(error: RequestValidationError) -> JSONResponse:
    """The reply to a body that is no such form: each place, and what is wrong there, without what was sent."""
    places = [(_place(one["loc"][1:]) or "the body", str(one["msg"]).lower()) for one in error.errors()[:5]]
    told = "; ".join(f"{place}: {why}" for place, why in places)
    refused = Refusal(f"the request is not what this address takes: {told}.", where=places[0][0],
                      cure="Its fields are in /v1/openapi.json.")
    return _reply(400, refused.title, refused.what, dict(refused.as_json()) | {"exit_code": 2}, {})


def _place(names: tuple[Any, ...]) -> str:
    """A field, which may have been sent with any name, of any length."""
    return printable(".".join(map(str, names))[:_LONGEST_PLACE])


def plain(status: int, what: str, cure: str = "", headers: dict[str, str] | None = None) -> JSONResponse:
    """The reply to what is no question at all."""
    return _reply(status, "not taken", f"{what} {cure}".strip(), {"error": "not taken", "what": what, "where": "",
                                                                   "cure": cure}, headers or {})


def _reply(status: int, title: str, detail: str, told: Json, headers: dict[str, str]) -> JSONResponse:
    kind: dict[str, Any] = {"type": f"urn:dpcurator:{title.replace(' ', '-')}", "title": title, "status": status}
    return JSONResponse(kind | {"detail": detail} | told, status, headers, media_type="application/problem+json")
