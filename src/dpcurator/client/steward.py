"""What a steward asks of a server: refreshes, accounts, the history. An auditor has a part of it.

Checked in tests/server/test_client.py, against a server.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from dpcurator.client.connection import error_of, shown
from dpcurator.client.forms import plain
from dpcurator.client.replies import Replies, Told
from dpcurator.ledger.accounts import checked_name
from dpcurator.values import Json


class Stewarding(Replies):
    """The steward's calls. See `Remote`, which is what its users see of it."""

    def check(self) -> Told:
        """The steward's: what is undeclared, with the line to paste."""
        return self._told("GET", "/v1/check")

    def refresh(self, *, version: str | None = None, progress: Callable[[str, int, float], None] | None = None) -> Told:
        """The steward's: reads the declared sources into a new snapshot; its report. progress: called with a table, how
        many rows were read, and what part of all that is; not where `key` was given, as what is signed is whole.
        """
        last: Json = {}
        for line in self._line.lines("/v1/refresh", {} if version is None else {"version": version}):
            if {"table", "rows", "part"} <= set(line) and progress is not None:
                progress(shown(line["table"]), line["rows"], line["part"])
            last = line
        if "error" in last:
            raise error_of(last, self._line.place)
        return Told(json.dumps(last, indent=2), last)

    def reopen(self) -> bool:
        """The steward's, after looking into a fault: questions are taken again."""
        return bool(self._told("POST", "/v1/reopen", {})["reopened"])

    def log(self, after: int = 0) -> list[Json]:
        """The ledger's events behind one, at most 1,000: for the steward; for an auditor, without the questions."""
        return self._several("GET", f"/v1/log?after={int(after)}")

    def ledger(self) -> Told:
        """Whether the whole ledger verifies: for the steward and auditors."""
        return self._told("GET", "/v1/ledger")

    def users(self) -> list[Json]:
        """The steward's: all accounts, with what each has spent and has left."""
        return self._several("GET", "/v1/users")

    def grant(self, name: str, **changes: Any) -> Told:
        """The steward's: makes an account, or changes of it what is given: role, limit, delta, and token, where True
        makes a new one, which is in the reply this once, and False lets none sign in."""
        return self._told("POST", f"/v1/users/{checked_name(name)}", plain(changes))
