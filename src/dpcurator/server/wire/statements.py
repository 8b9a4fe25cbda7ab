"""A statement of a database client: a question, a setting, a transaction's begin or end, or of PostgreSQL's own tables.

    SET dp.epsilon = 0.1; SELECT city, COUNT(*) AS n FROM visits GROUP BY city

The price and what else `Curator.ask` takes are settings of the session, `dp.epsilon` and the others of `SETTINGS`; they
may come with the connection too (`options=-c dp.epsilon=0.1`). A statement is described for nothing, by its plan: a
noisy column `n` is followed by `n_error`, its error bar, a quantile by `m_rank_error`, the rows by which it may miss.
The same statement at the same settings again is the stored answer. Transactions begin and end as words alone: what was
asked in one stays paid. Checked in tests/server/test_wire.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from dpcurator.curator.curator import Curator
from dpcurator.errors import Refusal, closest
from dpcurator.fronts.bounded import bounded
from dpcurator.numbers import decimal_text
from dpcurator.server.wire.introspection import Found, Introspection, is_of_system
from dpcurator.server.wire.system_tables import LONG_VERSION, VERSION
from dpcurator.server.wire.values import BOOL, FLOAT8, OF_TYPE, TEXT, literal

LONGEST: Final = 20_000  # characters of a statement
LONGEST_TEXT: Final = 100_000  # characters of several
MOST_STATEMENTS: Final = 50  # of one text
PRICES: Final = ("epsilon", "rho", "spend", "within")
SETTINGS: Final = (
    *PRICES,
    "delta",
    "confidence",
    "max_total",
    "max_rows",
    "max_groups",
    "min_units",
    "assume_count",
    "cut",
    "fresh",
)
FIXED: Final = {
    "server_version": VERSION,
    "server_encoding": "UTF8",
    "client_encoding": "UTF8",
    "is_superuser": "off",
    "DateStyle": "ISO, MDY",
    "IntervalStyle": "postgres",
    "TimeZone": "UTC",
    "integer_datetimes": "on",
    "standard_conforming_strings": "on",
}  # told at the start of a connection
_SHOWN: Final = {
    "transaction_isolation": "read committed",
    "transaction isolation level": "read committed",
    "search_path": "public",
    "default_transaction_isolation": "read committed",
    "transaction_read_only": "on",
    "max_identifier_length": "63",
    "server_version_num": "150000",
    "lc_collate": "C",
    "lc_ctype": "C",
    "ssl": "on",
    "in_hot_standby": "off",
    "default_transaction_read_only": "on",
    "statement_timeout": "0",
    "extra_float_digits": "1",
    "version": LONG_VERSION,
}
# Each of these reads a text once, whatever is in it, and never tries another way to read what it has read: a regular
# expression holds up all other threads, and to try all ways of n comments takes 2^n steps. What is not closed ends the
# text.
_SKIPPED: Final = r"(?:\s++|--[^\n]*+|(?>/\*.*?\*/))*+"
_PIECE: Final = re.compile(
    r"'[^']*+(?:'|\Z)|\"[^\"]*+(?:\"|\Z)|--[^\n]*+|/\*.*?(?:\*/|\Z)|\$(?P<place>\d{1,4})(?![\w$])|;", re.S
)  # two quotes in a text end one piece and begin the next
_HEAD: Final = re.compile(_SKIPPED + r"([A-Za-z]++)", re.S)
_EMPTY: Final = re.compile(_SKIPPED, re.S)
_SET: Final = re.compile(
    _SKIPPED + r"SET\s++(?:SESSION\s++|LOCAL\s++)?(?P<name>[\w.]++)\s*+(?:=|TO\s)\s*+(?P<value>.*\S)\s*+", re.S | re.I
)
_ONE_NAME: Final = re.compile(
    _SKIPPED + r"(?:SHOW|RESET)\s++(?P<name>[\w.]++(?: ++[\w.]++)*+)\s*+", re.S | re.I
)
_OWN_PRICE: Final = re.compile(r"DIFFERENTIAL_PRIVACY\s+OPTIONS\s*\([^)]*\bepsilon\b", re.I)
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
    """One signed-in connection's settings. asks: whether its role may ask. introspection: of the catalog in force."""

    analyst: str
    asks: bool
    curator: Callable[[], Curator]
    introspection: Callable[[], Introspection]
    settings: dict[str, str] = field(default_factory=dict)  # of dp.*
    told: dict[str, str] = field(default_factory=dict)  # all others that were set
    in_transaction: bool = False
    asked_in_it: bool = False

    def begin(self, parameters: Mapping[str, str]) -> None:
        """Takes the settings that come with the connection. Raises Refusal."""
        for name, value in parameters.items():
            if name == "options":
                for one in re.findall(r"(?:-c\s*|--)((?:[^\s\\]|\\.)+)", value):
                    key, _, said = re.sub(r"\\(.)", r"\1", one).partition("=")
                    self.set(key, said)
            elif name not in ("user", "database", "replication") and not name.startswith("_pq_."):
                self.set(name, value)

    def set(self, name: str, value: str) -> None:
        """Raises Refusal for a setting of ours that there is not, and for letters that are not sent."""
        lower = name.lower()
        if len(value) > 1000:
            raise Refusal(f"the value of {name[:60]} is too long.", cure="Set a shorter one.")
        if lower.startswith("dp."):
            own = lower.removeprefix("dp.")
            if own not in SETTINGS:
                near = closest(own, SETTINGS) or ["epsilon"]
                raise Refusal(
                    f"there is no setting {name[:60]}.",
                    cure=f"Did you mean dp.{near[0]}? There are {', '.join(f'dp.{one}' for one in SETTINGS)}.",
                )
            self.settings.pop(own, None)
            if value.strip() and value.upper() != "DEFAULT":
                if own in PRICES:  # the last one said is the price
                    for other in PRICES:
                        self.settings.pop(other, None)
                self.settings[own] = value
            return
        if lower == "client_encoding" and value.strip("'\"").upper().replace("-", "") not in (
            "UTF8",
            "UNICODE",
            "DEFAULT",
        ):
            raise Refusal("texts are sent in UTF-8 alone.", cure="SET client_encoding = 'UTF8'")
        if len(self.told) < 100:
            self.told[lower] = value

    def shown(self, name: str) -> str:
        """What SHOW says. Raises Refusal."""
        lower = name.lower()
        if lower == "dp.budget":
            return self._left()
        if lower.startswith("dp.") and lower.removeprefix("dp.") in SETTINGS:
            return self.settings.get(lower.removeprefix("dp."), "")
        fixed = {one.lower(): value for one, value in FIXED.items()} | _SHOWN
        if lower in self.told or lower in fixed:
            return self.told.get(lower, fixed.get(lower, ""))
        raise Refusal(f"there is no setting {name[:60]}.", cure="SHOW dp.epsilon, or SHOW dp.budget for what is left.")

    def _left(self) -> str:
        ledger = self.curator().ledger
        budget, own = ledger.budget(), ledger.account(self.analyst)
        mine = f"{decimal_text(own.left)} of your own limit, " if own is not None else ""
        return f"{budget.currency}: {mine}{decimal_text(budget.remaining)} of all is left"

    def asked(self, sql: str) -> dict[str, Any]:
        """The settings as `Curator.ask` takes them. Raises Refusal where there is no price."""
        given: dict[str, Any] = dict(self.settings)
        for name in ("cut", "fresh"):
            if name in given:
                given[name] = _truth(given[name], name)
        if "within" in given:
            given["within"] = _pairs(given["within"])
        if _OWN_PRICE.search(sql):
            return {name: value for name, value in given.items() if name not in PRICES}
        if not any(name in given for name in PRICES):
            raise Refusal("no price is set.", cure="Run: SET dp.epsilon = 0.1")
        return given

    def statement(self, sql: str, values: tuple[tuple[bytes | None, int, int], ...] = ()) -> Statement:
        """One statement, described; values: of $1, $2 ..., each with its type's number and format. Raises Refusal."""
        if len(sql) > LONGEST:
            raise Refusal(f"a statement has at most {LONGEST:,} characters.", cure="Shorten it.")
        found = _HEAD.match(sql)
        word = found.group(1).upper() if found else ""
        own = self._word(word, sql)
        if own is not None:
            return own
        return self._reading(word, _filled(sql, values))

    def _word(self, word: str, sql: str) -> Statement | None:
        """What is no question: of one word, or a setting. None for all others."""
        words = sql.upper().split()
        if word in _IN_TRANSACTION and not (word == "ROLLBACK" and "TO" in words):
            return Statement(sql, None, lambda: self._transaction(word), ends=_IN_TRANSACTION[word] == b"I")
        if word == "ROLLBACK":
            return Statement(sql, None, lambda: Done("ROLLBACK", transaction=b"T"), ends=True)
        if word in _NO_OPS:
            return Statement(sql, None, lambda: Done(_NO_OPS[word]))
        if word == "SET":
            return Statement(sql, None, lambda: self._set(sql))
        if word == "RESET":
            return Statement(sql, None, lambda: self._reset(sql))
        if word == "SHOW":
            found = _ONE_NAME.fullmatch(sql)
            name = " ".join(found["name"].split()) if found else ""
            return Statement(
                sql, ((name.lower().replace(" ", "_") or "setting", TEXT),), lambda: Done("SHOW", [(self.shown(name),)])
            )
        return None

    def _transaction(self, word: str) -> Done:
        state = _IN_TRANSACTION[word]
        tag = {"START": "START TRANSACTION", "END": "COMMIT", "ABORT": "ROLLBACK"}.get(word, word)
        warned = tag == "ROLLBACK" and self.asked_in_it
        self.asked_in_it = False
        notice = Notice("what was asked stays paid: an answer cannot be taken back.", warns=True)
        return Done(tag, notices=(notice,) if warned else (), transaction=state)

    def _set(self, sql: str) -> Done:
        found = _SET.fullmatch(sql)
        if found is not None:
            value = found["value"]
            self.set(
                found["name"],
                value[1:-1].replace("''", "'") if len(value) > 1 and value[0] == value[-1] == "'" else value,
            )
        elif re.search(r"\bdp\.", sql):
            raise Refusal("this setting cannot be read.", cure="Write it as in SET dp.epsilon = 0.1")
        return Done("SET")  # SET TRANSACTION, SET TIME ZONE and the like change nothing here

    def _reset(self, sql: str) -> Done:
        found = _ONE_NAME.fullmatch(sql)
        name = found["name"].lower() if found else "all"
        for own in (self.settings, self.told):
            own.clear() if name == "all" else own.pop(name.removeprefix("dp."), None)
        return Done("RESET")

    def _reading(self, word: str, sql: str) -> Statement:
        tree = _parsed(sql) if word in ("SELECT", "WITH", "VALUES", "TABLE") else None
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
        asked = self.asked(sql)
        fresh = asked.pop("fresh", False)

        def run() -> Done:
            self._may_ask()  # it was described earlier, and the role may be another since
            answer = self.curator().ask(sql, analyst=self.analyst, fresh=fresh, **asked)
            self.asked_in_it = self.in_transaction and not answer.repeated
            rows = list(_rows(answer, columns))
            return Done(f"SELECT {len(rows)}", rows, (_noticed(answer),))

        return Statement(sql, columns, run, paid=True)

    def _explained(self, sql: str) -> Statement:
        inner = re.sub(_SKIPPED + r"EXPLAIN(\s*\([^)]*\)|\s+(ANALYZE|VERBOSE)\b)*", "", sql, count=1, flags=re.S | re.I)
        asked = self.asked(inner)
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


def split(sql: str) -> list[str]:
    """The statements of a text, as they are written, without those that say nothing. Raises Refusal."""
    if len(sql) > LONGEST_TEXT:
        raise Refusal(f"a text has at most {LONGEST_TEXT:,} characters.", cure="Send fewer statements at a time.")
    found, start = [], 0
    for piece in _PIECE.finditer(sql):
        if piece.group() == ";":
            found.append(sql[start : piece.start()])
            start = piece.end()
    found.append(sql[start:])
    made = [one for one in found if not _EMPTY.fullmatch(one)]
    if len(made) > MOST_STATEMENTS:
        raise Refusal(f"a text has at most {MOST_STATEMENTS} statements.", cure="Send fewer at a time.")
    return made


def places(sql: str) -> int:
    """How many values it takes: the largest n of $n."""
    return max((int(one["place"]) for one in _PIECE.finditer(sql) if one["place"]), default=0)


def _filled(sql: str, values: tuple[tuple[bytes | None, int, int], ...]) -> str:
    """The statement with each value in the place of its $n. Raises Refusal."""
    if not places(sql):
        return sql
    if "\\" in sql:
        raise Refusal("a statement with values beside it has no backslashes.", cure="Write the values into it.")

    room = LONGEST - len(sql)

    def put(piece: re.Match[str]) -> str:
        nonlocal room
        place = int(piece["place"] or 0)
        if not piece["place"]:
            return piece.group()
        if not 1 <= place <= len(values):
            raise Refusal(
                f"there is no value for ${place}.", cure="Send one for each place, or write it into the statement."
            )
        said = literal(*values[place - 1], place)
        room -= len(said)
        if room < 0:
            raise Refusal(
                f"a statement has at most {LONGEST:,} characters, its values among them.", cure="Send shorter values."
            )
        return said

    return _PIECE.sub(put, sql)


def _table() -> Any:
    from sqlglot import exp

    return exp.Table


@cache
def _grammar() -> Any:
    """PostgreSQL's, bounded."""
    from sqlglot.dialects.postgres import Postgres

    class Bounded(Postgres):
        class Parser(bounded(Postgres.Parser)):  # type: ignore[misc]
            pass

    return Bounded


def _parsed(sql: str) -> Any:
    """The statement as a tree, where it may be of PostgreSQL's own tables, or of none; None for all others."""
    lower = sql.lower()
    if re.search(r"\bfrom\b", lower) and "pg_" not in lower and "information_schema" not in lower:
        return None
    import sqlglot

    try:
        trees = sqlglot.parse(sql, read=_grammar())
    except Refusal:  # too much to read
        raise
    except Exception:  # whatever a parser stumbles over: then it is a question, and is refused as one
        return None
    return trees[0] if len(trees) == 1 else None


def _truth(text: str, name: str) -> bool:
    lower = text.lower()
    if lower in ("on", "true", "1", "yes"):
        return True
    if lower in ("off", "false", "0", "no"):
        return False
    raise Refusal(f"dp.{name} is on or off.", cure=f"SET dp.{name} = on")


def _pairs(text: str) -> dict[str, str]:
    """As in 'n=50, mean=5%'. Raises Refusal."""
    found = {name.strip(): value.strip() for name, _, value in (one.partition("=") for one in text.split(","))}
    if not all(name and value for name, value in found.items()):
        raise Refusal("dp.within names columns and errors.", cure="SET dp.within = 'n=50, mean=5%'")
    return found
