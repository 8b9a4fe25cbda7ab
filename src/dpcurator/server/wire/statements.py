"""A statement of a database client: a question, a setting, a transaction's begin or end, or of PostgreSQL's own tables.

    SET dp.epsilon = 0.1; SELECT city, COUNT(*) AS n FROM visits GROUP BY city

The price and what else `Curator.ask` takes are settings of the session (settings.py). A statement is described for
nothing, by its plan: a noisy column `n` is followed by `n_error`, its error bar, a quantile by `m_rank_error`, the rows
by which it may miss. The same statement at the same settings again is the stored answer. Transactions begin and end as
words alone: what was asked in one stays paid. Checked in tests/server/test_wire.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from dpcurator.curator.curator import Curator
from dpcurator.errors import Refusal
from dpcurator.numbers import decimal_text
from dpcurator.server.wire.introspection import Found, Introspection, is_of_system
from dpcurator.server.wire.settings import ONE_NAME, Settings
from dpcurator.server.wire.texts import HEAD, LONGEST, SKIPPED, filled, parsed
from dpcurator.server.wire.values import BOOL, FLOAT8, OF_TYPE, TEXT

_IN_TRANSACTION: Final = {"BEGIN": b"T", "START": b"T", "COMMIT": b"I", "END": b"I", "ROLLBACK": b"I", "ABORT": b"I"}
_NO_OPS: Final = {
    "SAVEPOINT": "SAVEPOINT",
    "RELEASE": "RELEASE",
    "DISCARD": "DISCARD ALL",
    "DEALLOCATE": "DEALLOCATE",
    "CLOSE": "CLOSE CURSOR",
    "LISTEN": "LISTEN",
    "UNLISTEN": "UNLISTEN",
    "LOCK": "LOCK TABLE",
}
Columns = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Notice:
    text: str
    detail: str = ""
    warns: bool = False


@dataclass(frozen=True, slots=True)
class Done:
    """What a statement gave. tag: as PostgreSQL names it."""

    tag: str
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    notices: tuple[Notice, ...] = ()
    transaction: bytes | None = None  # the state from here on; None: as it was


@dataclass(frozen=True, slots=True)
class Statement:
    """columns: of its rows; None where it has none. run: gives them. paid: whether it may be charged, and touch data.
    ends: whether it is taken in a failed transaction. held: letters that it holds already."""

    sql: str
    columns: Columns | None
    run: Callable[[], Done]
    paid: bool = False
    ends: bool = False
    held: int = 0


@dataclass
class Session:
    """What one signed-in connection asks, and under which settings. asks: whether its role may ask. introspection: of
    the catalog in force."""

    analyst: str
    asks: bool
    curator: Callable[[], Curator]
    introspection: Callable[[], Introspection]
    settings: Settings = field(default_factory=Settings)
    in_transaction: bool = False
    asked_in_it: bool = False

    def shown(self, name: str) -> str:
        """What SHOW says. Raises Refusal."""
        return self._left() if name.lower() == "dp.budget" else self.settings.shown(name)

    def _left(self) -> str:
        ledger = self.curator().ledger
        budget, own = ledger.budget(), ledger.account(self.analyst)
        mine = f"{decimal_text(own.left)} of your own limit, " if own is not None else ""
        return f"{budget.currency}: {mine}{decimal_text(budget.remaining)} of all is left"

    def statement(self, sql: str, values: tuple[tuple[bytes | None, int, int], ...] = ()) -> Statement:
        """One statement, described; values: of $1, $2 ..., each with its type's number and format. Raises Refusal."""
        if len(sql) > LONGEST:
            raise Refusal(f"a statement has at most {LONGEST:,} characters.", cure="Shorten it.")
        found = HEAD.match(sql)
        word = found.group(1).upper() if found else ""
        own = self._word(word, sql)
        if own is not None:
            return own
        return self._reading(word, filled(sql, values))

    def _word(self, word: str, sql: str) -> Statement | None:
        """What is no question: of one word, or a setting. None for all others."""
        words = sql.upper().split()
        if word in _IN_TRANSACTION and not (word == "ROLLBACK" and "TO" in words):
            return Statement(sql, None, lambda: self._transaction(word), ends=_IN_TRANSACTION[word] == b"I")
        if word == "ROLLBACK":
            return Statement(sql, None, lambda: Done("ROLLBACK", transaction=b"T"), ends=True)
        if word == "DISCARD" and re.search(r"\bALL\b", sql, re.I):  # a pool hands the connection on
            return Statement(sql, None, lambda: self._said(_NO_OPS[word], self.settings.reset_by, "RESET ALL"))
        if word in _NO_OPS:
            return Statement(sql, None, lambda: Done(_NO_OPS[word]))
        if word == "SET":
            return Statement(sql, None, lambda: self._said("SET", self.settings.set_by, sql))
        if word == "RESET":
            return Statement(sql, None, lambda: self._said("RESET", self.settings.reset_by, sql))
        if word == "SHOW":
            found = ONE_NAME.fullmatch(sql)
            name = " ".join(found["name"].split()) if found else ""
            return Statement(
                sql, ((name.lower().replace(" ", "_") or "setting", TEXT),), lambda: Done("SHOW", [(self.shown(name),)])
            )
        return None

    def _said(self, tag: str, by: Callable[[str], None], sql: str) -> Done:
        by(sql)
        return Done(tag)

    def _transaction(self, word: str) -> Done:
        state = _IN_TRANSACTION[word]
        tag = {"START": "START TRANSACTION", "END": "COMMIT", "ABORT": "ROLLBACK"}.get(word, word)
        warned = tag == "ROLLBACK" and self.asked_in_it
        self.asked_in_it = False
        notice = Notice("what was asked stays paid: an answer cannot be taken back.", warns=True)
        return Done(tag, notices=(notice,) if warned else (), transaction=state)

    def _reading(self, word: str, sql: str) -> Statement:
        tree = parsed(sql) if word in ("SELECT", "WITH", "VALUES", "TABLE") else None
        if tree is not None:
            introspection = self.introspection()
            if is_of_system(tree, introspection.names):
                return self._of_system(sql, tree, introspection)
        self._may_ask()
        if word == "EXPLAIN":
            return self._explained(sql)
        return self._question(sql)

    def _may_ask(self) -> None:
        if not self.asks:
            raise Refusal("the account's role asks no questions.", cure="Ask the steward for an analyst's account.")

    def _of_system(self, sql: str, tree: Any, introspection: Introspection) -> Statement:
        """It is run to be described: it reads public facts alone."""
        found = introspection.run(tree, self.analyst)
        if found is None:
            if not any(one.name for one in tree.find_all(_table())):
                raise Refusal(
                    "this reads no table.", cure="Ask of a table of the catalog, as in SELECT COUNT(*) FROM visits."
                )
            found = Found(tuple((one.alias_or_name or "?column?", TEXT) for one in tree.selects), [])
        rows = found.rows
        return Statement(sql, found.columns, lambda: Done(f"SELECT {len(rows)}", rows), held=found.letters)

    def _question(self, sql: str) -> Statement:
        curator = self.curator()
        columns = columns_of(curator, sql)
        asked = self.settings.asked(sql)
        fresh = asked.pop("fresh", False)

        def run() -> Done:
            self._may_ask()  # it was described earlier, and the role may be another since
            answer = self.curator().ask(sql, analyst=self.analyst, fresh=fresh, **asked)
            self.asked_in_it = self.in_transaction and not answer.repeated
            rows = list(_rows(answer, columns))
            return Done(f"SELECT {len(rows)}", rows, (_noticed(answer),))

        return Statement(sql, columns, run, paid=True)

    def _explained(self, sql: str) -> Statement:
        inner = re.sub(SKIPPED + r"EXPLAIN(\s*\([^)]*\)|\s+(ANALYZE|VERBOSE)\b)*", "", sql, count=1, flags=re.S | re.I)
        asked = self.settings.asked(inner)
        asked.pop("fresh", None)
        quote = self.curator().quote(inner, analyst=self.analyst, **asked)
        lines = [(line,) for line in str(quote).splitlines()]
        return Statement(sql, (("QUERY PLAN", TEXT),), lambda: Done("EXPLAIN", lines))


def columns_of(curator: Curator, sql: str) -> Columns:
    """The columns of a question's answer, by its plan alone. Raises Refusal."""
    plan = curator.plan(sql)
    found: list[tuple[str, int]] = []
    for output in plan.outputs:
        found.append((output.title, OF_TYPE.get(output.shown, TEXT)))
        if _is_quantile(plan, output):
            found.append((f"{output.title}_rank_error", FLOAT8))
        elif output.shown in ("whole", "number"):
            found.append((f"{output.title}_error", FLOAT8))
    if plan.source.source.other:
        found.append(("(other)", BOOL))
    return tuple(found)


def _is_quantile(plan: Any, output: Any) -> bool:
    index = getattr(output.part, "index", None)
    return type(output.part).__name__ == "Result" and plan.calls[index].q is not None


def _rows(answer: Any, columns: Columns) -> Iterator[tuple[Any, ...]]:
    """The rows of an answer, under those columns."""
    titles = [name for name, _ in columns]
    for cells in answer.cells:
        row: list[Any] = []
        for title, cell in zip(answer.columns, cells, strict=True):
            row.append(cell.value)
            after = titles[len(row)] if len(row) < len(titles) else ""
            if after == f"{title}_rank_error":
                row.append(cell.rank)
            elif after == f"{title}_error":
                row.append(cell.error)
        if len(row) < len(titles):
            row.append(any(cell.other for cell in cells))
        yield tuple(row)


def _noticed(answer: Any) -> Notice:
    """What is printed below an answer, as what a client shows beside it."""
    name = f"; receipt {answer.receipt_id}" if answer.receipt_id else ""
    paid = "paid before" if answer.repeated or not answer.cost else f"{answer.currency} {decimal_text(answer.cost)}"
    left = f", {decimal_text(answer.remaining)} of all is left"
    return Notice(f"{paid}{left}{name}", "\n".join(answer.told))


def _table() -> Any:
    from sqlglot import exp

    return exp.Table
