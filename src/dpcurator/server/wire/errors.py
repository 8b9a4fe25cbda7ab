"""Errors as a database client reads them: a state of five letters, and the letter of the statement they are about.

Checked in tests/server/test_wire.py. Source: PostgreSQL's documentation, Error Codes.
"""

from __future__ import annotations

import re
from typing import Final

from dpcurator.errors import DpcuratorError, Fault, Misconfigured, OverBudget, Refusal
from dpcurator.server.replies import Denied

_STATES: Final = ((OverBudget, "53400"), (Refusal, "42000"), (Misconfigured, "55000"), (Fault, "XX000"))
_DENIED: Final = {401: "28000", 403: "42501", 429: "53300", 503: "53300"}
_PLACE: Final = re.compile(r"line (\d{1,6}), column (\d{1,6})")


class Broken(DpcuratorError):
    """Not what the protocol, or a transaction that failed, lets a client do."""

    def __init__(self, code: str, what: str, cure: str = "") -> None:
        self.code = code
        super().__init__(what, cure=cure)


def state_of(error: DpcuratorError) -> str:
    """The SQLSTATE of an error."""
    if isinstance(error, Broken):
        return error.code
    if isinstance(error, Denied):
        return _DENIED.get(error.status, "42000")
    return next((code for kind, code in _STATES if isinstance(error, kind)), "XX000")


def place_of(error: DpcuratorError, sql: str) -> int:
    """The letter of the statement that an error is about, from 1; 0 where it has none."""
    found = _PLACE.search(error.where)
    if found is None:
        return 0
    line, column = map(int, found.groups())
    lines = sql.split("\n")
    return 0 if line > len(lines) else sum(len(one) + 1 for one in lines[: line - 1]) + column
