"""What clients ask of PostgreSQL's own tables: which tables there are, and their columns. Free, and of public facts.

psql's \\d, SQLAlchemy's inspector and BI tools ask it in SQL, of `pg_catalog` and `information_schema`. Those tables
are made from the catalog (`system_tables.py`), in a DuckDB database in memory that holds nothing else, reads no file
and takes no setting; a statement is rewritten for it, may read no other table, and runs in a transaction that only
reads. It has `SLOWEST` seconds and the memory of that database. Where it is one that DuckDB cannot run, the answer has
no rows. Checked in tests/server/test_wire.py, with what those clients send.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from dpcurator.curator.tables import Tables
from dpcurator.errors import Refusal
from dpcurator.server.wire.system_tables import FUNCTIONS, LONG_VERSION, NAMES, VERSION, system_tables
from dpcurator.server.wire.values import BOOL, FLOAT8, INT8, INT8S, TEXT, TEXTS

SLOWEST: Final = 2.0
MOST_ROWS: Final = 10_000
MOST_LETTERS: Final = 4 << 20  # of what a statement finds; 8 for each value besides
MOST_TABLES: Final = 50  # that a statement names: DuckDB is not stopped while it plans how to join them
LONGEST_PATTERN: Final = 200  # letters
MOST_MATCHED: Final = 1000  # letters of a text that a pattern is held against: DuckDB is not stopped while it matches
# What a text may be cast to: reading a number without an end takes the square of its length.
_KINDS: Final = frozenset((
    "ARRAY", "BIGINT", "BOOLEAN", "CHAR", "DATE", "DECIMAL", "DOUBLE", "FLOAT", "INT", "INTERVAL", "LIST", "SMALLINT",
    "TEXT", "TIMESTAMP", "TIMESTAMPTZ", "TINYINT", "UUID", "VARCHAR",
))
_OWN: Final = "own "  # begins the names that a statement gives itself: DuckDB's own views are called otherwise
# What a statement may call, by the parser's name: nothing whose result is much longer than what it is given, for DuckDB
# counts what its texts need, but not what `replace` or `format` need on the way.
_CALLS: Final = frozenset((
    "Abs", "All", "And", "Any", "Array", "ArrayAgg", "ArrayAny", "ArraySize", "Case", "Cast", "Coalesce", "Concat",
    "Count", "CurrentCatalog", "CurrentDate", "CurrentDatabase", "CurrentSchema", "CurrentTimestamp", "CurrentUser",
    "Exists", "If", "Length", "Lower", "Max", "Min", "Not", "Nullif", "Or", "RegexpILike", "RegexpLike", "Round",
    "RowNumber", "SessionUser", "StrPosition", "Substring", "Sum", "Trim", "TryCast", "Upper",
))
_NAMED: Final = FUNCTIONS | {
    "array_length",
    "array_upper",
    "array_lower",
    "cardinality",
    "regexp_matches",
    "starts_with",
}


@dataclass(frozen=True, slots=True)
class Found:
    """columns: name and type's number of each. letters: of the rows, and 8 for each value."""

    columns: tuple[tuple[str, int], ...]
    rows: list[tuple[Any, ...]]
    letters: int = 0


class Introspection:
    """The tables of one catalog. database: the name that clients see. Safe to share among threads, one at a time."""

    def __init__(self, tables: Tables, database: str = "dpcurator") -> None:
        self.names = frozenset(name.lower() for name in tables)
        self._lock = threading.Lock()
        self._connection = system_tables(tables, database)

    def run(self, tree: Any, user: str) -> Found | None:
        """What a statement, parsed, finds; None where DuckDB cannot run it, and where it reads what is not here. Raises
        Refusal where it takes too long."""
        try:
            text, titles = _rewritten(tree, user), _titles(tree)
        except RecursionError:
            raise Refusal(
                "this is nested too deeply.", cure="Ask for less of the system's tables at a time."
            ) from None
        with self._lock:
            found = self._run(text) if text else None
        if found is None or len(titles) != len(found.columns):
            return found
        return Found(tuple(zip(titles, (kind for _, kind in found.columns), strict=True)), found.rows, found.letters)

    def _run(self, text: str) -> Found | None:
        import duckdb

        late = threading.Timer(SLOWEST, self._connection.interrupt)
        late.daemon = True
        late.start()
        try:
            self._connection.execute("BEGIN TRANSACTION READ ONLY")
            done = self._connection.execute(text)
            columns = tuple((str(one[0]), _kind(str(one[1]))) for one in done.description or ())
            rows: list[tuple[Any, ...]] = []
            letters = 0
            while len(rows) < MOST_ROWS and letters < MOST_LETTERS and (row := done.fetchone()) is not None:
                rows.append(row)
                letters += sum(map(_letters, row))
        except duckdb.InterruptException:
            raise Refusal("this takes too long.", cure="Ask for less of the system's tables at a time.") from None
        except Exception:  # whatever it stumbles over is the statement, which is public
            return None
        finally:
            late.cancel()
            self._end()
        return Found(columns, [tuple(map(_plain, row)) for row in rows], letters)


    def _end(self) -> None:
        """The transaction is over, whatever became of the statement. An interruption that came late ends this, and is
        spent: then once more."""
        for _ in range(2):
            with suppress(Exception):
                self._connection.execute("ROLLBACK")


def _letters(value: Any) -> int:
    if isinstance(value, list | tuple):
        return 8 + sum(map(_letters, value))
    return 8 + (len(value) if isinstance(value, str) else 0)


def _titles(tree: Any) -> list[str]:
    """What PostgreSQL calls the columns."""
    from sqlglot import exp

    found = []
    for one in tree.selects:
        inner = one.this if isinstance(one, exp.Cast) else one
        last = inner.expression if isinstance(inner, exp.Dot) else inner
        called = last.name if isinstance(last, exp.Anonymous) else last.sql_name() if isinstance(last, exp.Func) else ""
        called = "version" if isinstance(last, exp.CurrentVersion) else called
        found.append(
            one.alias_or_name or last.name
            if isinstance(last, exp.Column)
            else one.alias or called.lower() or "?column?"
        )
    return [] if any(one.is_star for one in tree.selects) else found


def _plain(value: Any) -> Any:
    return value.strftime("%Y-%m-%d %H:%M:%S+00") if hasattr(value, "strftime") else value


def _kind(name: str) -> int:
    upper = name.upper()
    if upper.endswith("[]"):
        return TEXTS if "CHAR" in upper else INT8S if "INT" in upper else TEXTS
    if "INT" in upper:
        return INT8
    return BOOL if upper.startswith("BOOL") else FLOAT8 if upper in ("DOUBLE", "FLOAT") else TEXT


def is_of_system(tree: Any, names: frozenset[str]) -> bool:
    """Whether a statement reads PostgreSQL's own tables alone, or none; names: of the catalog, which come first."""
    from sqlglot import exp

    if not isinstance(tree, exp.Query) or tree.find(exp.DDL, exp.DML, exp.Command) is not None:
        return False
    own = {one.alias.lower() for one in tree.find_all(exp.CTE)}
    return all(
        one.name.lower() in own
        or one.db.lower() in ("pg_catalog", "information_schema")
        or (one.name.lower().startswith("pg_") and one.name.lower() not in names)
        or not one.name
        for one in tree.find_all(exp.Table)
    )


def _rewritten(tree: Any, user: str) -> str:
    """The statement for DuckDB; "" where it reads what is not here."""
    from sqlglot import ErrorLevel, exp

    root = exp.Subquery(this=tree.copy())
    for node in reversed(list(root.this.bfs())):  # the innermost first: what holds it may be replaced as well
        new = _node(node, user)
        if new is not node:
            node.replace(new)
    tree = root.this
    for call in tree.find_all(exp.Func):
        if not (call.name.lower() in _NAMED if isinstance(call, exp.Anonymous) else type(call).__name__ in _CALLS):
            return ""
    if not _matched(tree) or any(one.this.name not in _KINDS for one in tree.find_all(exp.DataType)):
        return ""
    own = {one.alias.lower() for one in tree.find_all(exp.CTE)}
    tables = list(tree.find_all(exp.Table))
    if len(tables) > MOST_TABLES:
        return ""
    for one in tree.find_all(exp.CTE):
        one.args["alias"].set("this", exp.to_identifier(_OWN + one.alias.lower(), quoted=True))
    for one in tables:
        alias, name = one.alias_or_name, one.name.lower()
        schema = "info" if one.db.lower() == "information_schema" else "pg"
        if name in own and not one.db:
            schema, name = "", _OWN + name
        elif not isinstance(one.this, exp.Identifier) or name not in NAMES[schema]:
            return ""
        one.set("db", exp.to_identifier(schema) if schema else None)
        one.set("catalog", None)
        one.set("this", exp.to_identifier(name, quoted=not schema))
        if not one.alias:
            one.set("alias", exp.TableAlias(this=exp.to_identifier(alias)))
    return str(tree.sql(dialect="duckdb", unsupported_level=ErrorLevel.IGNORE))  # which else are told in the log


def _matched(tree: Any) -> bool:
    """Holds every pattern against the beginning of its text alone; false where one is no short constant."""
    from sqlglot import exp

    patterns = (exp.Like, exp.ILike, exp.SimilarTo, exp.Glob, exp.RegexpLike, exp.RegexpILike)
    for one in list(tree.find_all(*patterns, exp.StrPosition, exp.Anonymous)):
        named = isinstance(one, exp.Anonymous)
        if named and one.name.lower() != "regexp_matches":
            continue
        parts: list[Any] = one.expressions if named else [one.this, one.args.get("expression")]
        pattern: Any = parts[1].unnest() if len(parts) > 1 and parts[1] is not None else None
        while isinstance(pattern, exp.Cast):
            pattern = pattern.this
        if not isinstance(one, exp.StrPosition):
            short = isinstance(pattern, exp.Literal) and len(pattern.name) <= LONGEST_PATTERN
            if not short or ("{" in pattern.name and not isinstance(one, exp.Like | exp.ILike)):
                return False
        start = exp.Substring(start=exp.Literal.number(1), length=exp.Literal.number(MOST_MATCHED))
        start.set("this", parts[0])  # itself: there may be patterns in it
        if named:
            one.set("expressions", [start, *parts[1:]])
        else:
            one.set("this", start)
    return True


def _node(node: Any, user: str) -> Any:
    """One node as DuckDB has it."""
    from sqlglot import exp

    match node:
        case exp.Dot() if isinstance(node.expression, exp.Func) and node.this.name.lower() == "pg_catalog":
            return node.expression
        case exp.Collate():
            return node.this
        case exp.Operator():
            return _operator(node)
        case exp.Cast():
            return _cast(node)
        case exp.Column() if node.db or node.catalog:  # pg_catalog.pg_class.oid: by the table's name alone
            return exp.column(node.this, table=node.args.get("table"))
        case exp.Anonymous() if node.name.lower() in ("json_build_object", "jsonb_build_object"):
            return exp.Null()  # of what no column here has
        case exp.Anonymous() if node.name.lower() == "current_setting":
            said = node.expressions[0].name if node.expressions else ""
            return exp.Literal.string({"server_version_num": "150000", "server_version": VERSION}.get(said, ""))
        case exp.Array() if isinstance(node.expressions[0] if node.expressions else None, exp.Query):
            inner = node.expressions[0]
            return (
                exp.Null()
                if any(not isinstance(one.this, exp.Identifier) for one in inner.find_all(exp.Table))
                else node
            )
        case exp.CurrentUser() | exp.SessionUser():
            return exp.Literal.string(user)
        case exp.CurrentSchema():
            return exp.Literal.string("public")
        case exp.CurrentCatalog():
            return exp.Anonymous(this="current_database")
        case exp.CurrentVersion():  # version() without pg_catalog before it
            return exp.Literal.string(LONG_VERSION)
    if isinstance(node, exp.Column) and not node.table and node.name.lower() in ("user", "session_user"):
        return exp.Literal.string(user)
    return node


def _operator(node: Any) -> Any:
    """x OPERATOR(pg_catalog.~) y, which psql writes."""
    from sqlglot import exp

    name = str(node.args.get("operator") or "").rpartition(".")[2].strip()
    matches = exp.Anonymous(this="regexp_matches", expressions=[node.this, node.expression])
    return {"~": matches, "!~": exp.Not(this=matches)}.get(name, exp.EQ(this=node.this, expression=node.expression))


def _cast(node: Any) -> Any:
    """To a type that only PostgreSQL has: a name for a number, or a number for a name."""
    from sqlglot import exp

    name = str(node.to.sql(dialect="postgres")).lower().rpartition(".")[2].strip('"')
    inner = node.this
    if name in ("regclass", "regtype", "regnamespace", "regproc", "regrole"):
        if isinstance(inner, exp.Literal) and inner.is_string and name in ("regclass", "regtype", "regnamespace"):
            return exp.Anonymous(this=f"to_{name}", expressions=[inner])
        return exp.Anonymous(this="of_type" if name == "regtype" else "of_class", expressions=[inner])
    if name in ("oid", "xid", "cid"):
        return exp.cast(inner, "BIGINT")
    if name in ("char", "name", "text", "cstring", "pg_node_tree", "aclitem"):
        return exp.cast(inner, "VARCHAR")
    return node
