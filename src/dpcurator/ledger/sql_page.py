"""The ledger's statements, the same in every SQL store; a value's place is written `?`.

Each is one index lookup or one insert, but for `rows`, `matching` and `counts`. Texts compare by their bytes, which is
the order of their characters; an answer's text is kept as bytes, so that none of its characters can be refused.
Checked in tests/ledger/test_stores.py, on each store.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dpcurator.errors import Misconfigured
from dpcurator.ledger.canonical import text_bytes
from dpcurator.ledger.events import GENESIS, Row
from dpcurator.ledger.store import Kept

_ROW = (
    "SELECT e.position, e.name, e.body, e.hash, "
    f"CASE e.position WHEN 1 THEN '{GENESIS}' ELSE coalesce(p.hash, '') END "
    "FROM events e LEFT JOIN events p ON p.position = e.position - 1 "
)
_KEPT = "SELECT request, question, position, hash, text FROM answers "
_END = "\U0010ffff"


class SqlPage:
    """run: executes a statement, with a tuple of its values if it has some, inside the transaction."""

    def __init__(self, run: Callable[..., Any]) -> None:
        self._run = run

    def head(self) -> Row | None:
        return self._row("WHERE e.position = (SELECT max(position) FROM events)")

    def row(self, position: int) -> Row | None:
        return self._row("WHERE e.position = ?", position)

    def last(self, *names: str) -> Row | None:
        each = " UNION ALL ".join(["SELECT max(position) AS position FROM events WHERE name = ?"] * len(names))
        return self._row(f"WHERE e.position = (SELECT max(position) FROM ({each}) AS found)", *names)

    def rows(self, after: int, limit: int) -> list[Row]:
        return [Row(*row) for row in self._run(_ROW + "WHERE e.position > ? ORDER BY 1 LIMIT ?", (after, limit))]

    def charged(self, request: str) -> int | None:
        found = self._run("SELECT position FROM requests WHERE request = ?", (request,)).fetchone()
        return found[0] if found else None

    def answer(self, request: str) -> Kept | None:
        return self._kept("WHERE request = ?", request)

    def answered(self, question: str) -> Kept | None:
        return self._kept("WHERE question = ? ORDER BY position LIMIT 1", question)

    def matching(self, prefix: str) -> list[str]:
        if not prefix.isascii() or "\0" in prefix:  # no id and no hash has such a character
            return []
        between = (prefix, prefix + _END) * 2
        return [
            request
            for (request,) in self._run(
                "SELECT request FROM requests WHERE request >= ? AND request < ? "
                "UNION SELECT request FROM answers WHERE hash >= ? AND hash < ? ORDER BY 1",
                between,
            )
        ]

    def counts(self) -> tuple[int, int]:
        found: tuple[int, int] = self._run(
            "SELECT (SELECT count(*) FROM requests), (SELECT count(*) FROM answers)"
        ).fetchone()
        return found

    def append(self, row: Row) -> None:
        self._added("INSERT INTO events VALUES (?, ?, ?, ?)", row.position, row.name, row.body, row.hash)

    def enter(self, request: str, position: int) -> None:
        self._added("INSERT INTO requests VALUES (?, ?)", request, position)

    def keep(self, kept: Kept) -> None:
        self._added(
            "INSERT INTO answers (request, question, position, hash, text) VALUES (?, ?, ?, ?, ?)",
            kept.request, kept.question, kept.position, kept.hash, text_bytes(kept.text),
        )

    def index(self, reading: str, request: str) -> None:
        self._run("INSERT INTO readings (reading, request) VALUES (?, ?) ON CONFLICT DO NOTHING", (reading, request))

    def holding(self, reading: str, limit: int) -> list[str]:
        found = self._run(
            "SELECT request FROM readings WHERE reading = ? ORDER BY number DESC LIMIT ?", (reading, limit)
        )
        return [request for (request,) in found]

    def noted(self) -> list[tuple[str, str]]:
        return [(reading, request) for reading, request in
                self._run("SELECT reading, request FROM readings ORDER BY number")]

    def _added(self, statement: str, *values: object) -> None:
        """A rule or a trigger of somebody else's may pass an insert over without an error."""
        if self._run(statement, values).rowcount != 1:
            raise Misconfigured("The ledger's database did not add what it was told to add.",
                                cure="Remove the rules and triggers that its tables were given.")

    def _row(self, where: str, *values: object) -> Row | None:
        found = self._run(_ROW + where, values).fetchone()
        return Row(*found) if found else None

    def _kept(self, where: str, *values: object) -> Kept | None:
        found = self._run(_KEPT + where, values).fetchone()
        if found is None:
            return None
        request, question, position, hash_, text = found
        return Kept(request, question, position, hash_, _text(text))


def _text(blob: object) -> str:
    """The stored text; for damaged bytes something else, whose hash then does not match."""
    if not isinstance(blob, bytes):
        return ""
    try:
        return blob.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return blob.decode("utf-8", "replace")
