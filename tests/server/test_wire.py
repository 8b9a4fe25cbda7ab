"""psql, psycopg, SQLAlchemy, pandas and asyncpg as clients: what they ask, what they get, and what they may not."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the server's packages are not installed")
pytest.importorskip("psycopg", reason="psycopg is not installed")

import psycopg

from dpcurator.curator.opening import open_curator
from dpcurator.errors import Refusal
from dpcurator.server.access import Access
from dpcurator.server.limits import Work
from dpcurator.server.standing import Standing
from dpcurator.server.wire import messages as wire
from dpcurator.server.wire.listening import Wire
from dpcurator.server.wire.settings import SETTINGS
from dpcurator.server.wire.statements import Session

from .conftest import COUNT, clinic


@dataclass
class Listening:
    port: int
    token: dict[str, str]
    place: Path
    lines: list[str]

    def url(self, name: str = "ana", **more: Any) -> dict[str, Any]:
        return {
            "host": "127.0.0.1",
            "port": self.port,
            "user": name,
            "password": self.token[name],
            "dbname": "clinic",
            "sslmode": "disable",
        } | more

    def connect(self, name: str = "ana", **more: Any) -> Any:
        return psycopg.connect(**self.url(name, **more), autocommit=True)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Listening]:
    place, token = clinic(tmp_path_factory.mktemp("wire"))
    lines: list[str] = []
    loop, ready = asyncio.new_event_loop(), threading.Event()
    listener = Wire(Standing(place), Access(0.0), Work(), log=lines.append)
    made = Listening(0, token, place, lines)

    over = asyncio.Event()

    async def run() -> None:
        made.port = listener.listen("127.0.0.1", 0)
        ready.set()
        await over.wait()
        await listener.close(5)

    thread = threading.Thread(target=lambda: loop.run_until_complete(run()), daemon=True)
    thread.start()
    assert ready.wait(30)
    yield made
    loop.call_soon_threadsafe(over.set)
    thread.join(30)
    loop.close()


def test_a_question_costs_what_is_set_and_comes_again_for_nothing(served: Listening) -> None:
    with served.connect() as link, link.cursor() as cursor:
        with pytest.raises(psycopg.Error) as refused:
            cursor.execute(COUNT)
        assert (refused.value.sqlstate, refused.value.diag.message_hint) == ("42000", "Run: SET dp.epsilon = 0.1")
        before = open_curator(served.place).budget().spent
        cursor.execute(refused.value.diag.message_hint.removeprefix("Run: "))
        cursor.execute(COUNT)
        first = cursor.fetchall()
        assert [one.name for one in cursor.description] == ["city", "n", "n_error"]
        assert cursor.execute(COUNT).fetchall() == first
        assert float(open_curator(served.place).budget().spent - before) == 0.1
        told = open_curator(served.place).ask(COUNT, epsilon="0.1", analyst="ana")
        assert [row[:2] for row in first] == told.rows
        assert [row[2] for row in first] == told.error("n")


def _psql(served: Listening, *commands: str, name: str = "ana") -> subprocess.CompletedProcess[str]:
    psql = shutil.which("psql")
    if psql is None:
        pytest.skip("psql is not installed")
    given = [part for one in commands for part in ("-c", one)]
    return subprocess.run(
        [psql, "-X", f"host=127.0.0.1 port={served.port} user={name} dbname=clinic", *given],
        env=os.environ | {"PGPASSWORD": served.token[name], "PGSSLMODE": "disable", "LC_ALL": "C.UTF-8"},
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_psql_lists_describes_asks_and_shows_the_place_and_the_cure(served: Listening) -> None:
    done = _psql(
        served,
        r"\dt",
        r"\d+ visits",
        "SET dp.epsilon = 0.5",
        COUNT,
        "SELECT COUNT(*) FROM visitz",
        "SELECT city FROM visits",
        "EXPLAIN " + COUNT,
        "SHOW dp.budget",
    )
    assert " public | visits | table | dpcurator" in done.stdout
    assert " patient_id | text   |" in done.stdout
    assert "the privacy unit" in done.stdout
    assert " city  | n " in done.stdout
    assert "QUERY PLAN" in done.stdout
    assert "of all is left" in done.stdout
    assert "NOTICE:  epsilon 0.5, " in done.stderr
    assert "weighted down to these limits" in done.stderr
    assert "LINE 1: SELECT COUNT(*) FROM visitz\n                             ^" in done.stderr
    assert "HINT:  Did you mean visits?" in done.stderr
    assert "HINT:  Put it in an aggregate such as COUNT(city), or in GROUP BY: GROUP BY city." in done.stderr


@pytest.mark.slow
def test_sqlalchemy_reads_the_tables_and_pandas_a_frame(served: Listening) -> None:
    import pandas as pd

    sqlalchemy: Any = pytest.importorskip("sqlalchemy", reason="sqlalchemy is not installed")
    url = sqlalchemy.URL.create(
        "postgresql+psycopg",
        "ana",
        served.token["ana"],
        "127.0.0.1",
        served.port,
        "clinic",
        {"options": "-c dp.epsilon=0.2", "sslmode": "disable"},
    )
    engine = sqlalchemy.create_engine(url)
    with engine.connect() as link:
        frame = pd.read_sql(
            sqlalchemy.text("SELECT city, COUNT(*) AS n, AVG(age) AS age FROM visits WHERE age > :old GROUP BY city"),
            link,
            params={"old": 20},
        )
        assert list(frame.columns) == ["city", "n", "n_error", "age", "age_error"]
        assert str(frame["n"].dtype) == "int64"
        told = open_curator(served.place).ask(
            "SELECT city, COUNT(*) AS n, AVG(age) AS age FROM visits WHERE age > 20 GROUP BY city",
            epsilon="0.2",
            analyst="ana",
        )
        assert told.repeated
        assert list(frame["n"]) == told["n"]
        assert list(frame["age_error"]) == told.error("age")
    inspector = sqlalchemy.inspect(engine)
    assert (inspector.get_table_names(), inspector.has_table("visits"), inspector.has_table("nope")) == (
        ["visits"],
        True,
        False,
    )
    columns = {one["name"]: (str(one["type"]), one["comment"]) for one in inspector.get_columns("visits")}
    assert columns["age"] == ("BIGINT", "between 0 and 110")
    assert columns["city"] == ("TEXT", "2 listed values")
    assert inspector.get_pk_constraint("visits")["constrained_columns"] == []
    metadata = sqlalchemy.MetaData()
    metadata.reflect(engine)
    assert list(metadata.tables) == ["visits"]
    engine.dispose()


@pytest.mark.slow
def test_asyncpg_asks_in_binary_and_with_values(served: Listening) -> None:
    asyncpg: Any = pytest.importorskip("asyncpg", reason="asyncpg is not installed")

    async def run() -> None:
        link = await asyncpg.connect(
            host="127.0.0.1",
            port=served.port,
            user="ana",
            password=served.token["ana"],
            database="clinic",
            ssl=False,
            server_settings={"dp.epsilon": "0.1"},
        )
        rows = await link.fetch(COUNT)
        told = open_curator(served.place).ask(COUNT, epsilon="0.1", analyst="ana")
        assert [tuple(row)[:2] for row in rows] == told.rows
        assert [row["n_error"] for row in rows] == told.error("n")
        assert (await link.fetch("SELECT table_name FROM information_schema.tables"))[0]["table_name"] == "visits"
        await link.close()

    asyncio.run(run())


def test_values_beside_a_statement_are_those_in_it(served: Listening) -> None:
    with served.connect(options="-c dp.epsilon=0.05") as link, link.cursor() as cursor:
        given = cursor.execute(
            "SELECT COUNT(*) AS n FROM visits WHERE age > %s AND city = %s", (20, "Leeds")
        ).fetchall()
        told = open_curator(served.place).ask(
            "SELECT COUNT(*) AS n FROM visits WHERE age > 20 AND city = 'Leeds'", epsilon="0.05", analyst="ana"
        )
        assert told.repeated
        assert [given[0][0]] == told["n"]
        one = "SELECT COUNT(*) AS n FROM visits WHERE city = %s"
        cursor.execute(one, ("' OR 1=1 --",))  # it is one value, whatever is in it
        told = open_curator(served.place).ask(one.replace("%s", "''' OR 1=1 --'"), epsilon="0.05", analyst="ana")
        assert told.repeated
        assert cursor.execute("SELECT %s", ("a'b",)).fetchall() == [("a'b",)]


def test_a_prepared_statement_is_described_for_nothing(served: Listening) -> None:
    with served.connect("bob", options="-c dp.epsilon=0.3") as link:
        before = open_curator(served.place).budget().spent
        said = _raw(
            link,
            b"".join(
                [
                    wire.message(b"P", b"one\0" + COUNT.encode() + b"\0\0\0"),
                    wire.message(b"D", b"Sone\0"),
                    wire.message(b"S"),
                ]
            ),
        )
        assert said == b"".join(
            [
                wire.PARSE_COMPLETE,
                wire.parameter_description([]),
                wire.row_description([("city", 25), ("n", 20), ("n_error", 701)]),
                wire.ready(b"I"),
            ]
        )
        assert open_curator(served.place).budget().spent == before
        asked = [wire.message(b"B", b"\0one\0" + bytes(6)), wire.message(b"E", b"\0\0\0\0\1"), wire.message(b"S")]
        said = _raw(link, b"".join(asked))
        assert said.startswith(wire.BIND_COMPLETE + b"D")
        assert wire.SUSPENDED in said
        assert open_curator(served.place).budget().spent > before


def _raw(link: Any, sent: bytes) -> bytes:
    """What comes back to these bytes on the socket of a connection, up to the next ReadyForQuery."""
    raw = socket.socket(fileno=os.dup(link.pgconn.socket))
    raw.setblocking(True)
    raw.settimeout(15)
    with raw:
        raw.sendall(sent)
        said = b""
        while not said.endswith(wire.ready(b"I")) and (more := raw.recv(4096)):
            said += more
    return said


def test_a_transaction_that_failed_takes_nothing_until_its_end_and_what_was_asked_stays_paid(served: Listening) -> None:
    with served.connect(options="-c dp.epsilon=0.07") as link, link.cursor() as cursor:
        notices: list[Any] = []
        link.add_notice_handler(lambda one: notices.append((one.severity, one.message_primary)))
        before = open_curator(served.place).budget().spent
        cursor.execute("BEGIN")
        cursor.execute("SELECT COUNT(*) AS n FROM visits WHERE age < 41")
        with pytest.raises(psycopg.Error) as refused:
            cursor.execute("SELECT nothing FROM visits")
        with pytest.raises(psycopg.Error) as failed:
            cursor.execute(COUNT)
        assert (refused.value.sqlstate, failed.value.sqlstate) == ("42000", "25P02")
        cursor.execute("ROLLBACK")
        assert ("WARNING", "what was asked stays paid: an answer cannot be taken back.") in notices
        assert float(open_curator(served.place).budget().spent - before) == pytest.approx(0.07)


REFUSED = [
    ("SET dp.epsilom = 1", "22023|42000", "Did you mean dp.epsilon?"),
    ("SET client_encoding = 'LATIN1'", "42000", "UTF8"),
    ("SET dp.epsilon = 5000; " + COUNT, "53400", "Nothing was charged."),
    ("DROP TABLE visits", "42000", "nothing can be"),
    ("SET dp.epsilon = lots; " + COUNT, "42000", "epsilon"),
    ("SELECT * FROM duckdb_settings()", "42000", ""),
    ("SELECT * FROM read_csv('/etc/passwd')", "42000", ""),
    ("SELECT * FROM (SELECT COUNT(*) AS n FROM visits) AS q LIMIT 1000", "42000", "by itself"),
    ("COPY visits TO STDOUT", "42000", ""),
    ("SELECT pg_read_file('/etc/passwd')", "42000", ""),
    ("SHOW dp.salt", "42000", "SHOW dp.epsilon"),
    ("SET dp.within = 'n'; " + COUNT, "42000", "SET dp.within = 'n=50, mean=5%'"),
    ("SET dp.cut = maybe; " + COUNT, "42000", "SET dp.cut = off"),
]


@pytest.mark.parametrize(("name", "value"), [
    ("epsilon", "x"), ("epsilon", "0"), ("rho", "-1"), ("spend", "5"), ("spend", "101%"), ("within", "n"),
    ("within", "n=x"), ("delta", "2"), ("confidence", "95%"), ("max_total", "0"), ("max_rows", "1.5"), ("cut", "maybe"),
    ("max_groups", "x"), ("min_units", "x"), ("assume_count", "x"), ("fresh", "2"),
])
def test_a_setting_that_cannot_be_read_is_refused_when_it_is_set(name: str, value: str) -> None:
    """Not at the next question; what was set before stays, and the cure is taken."""
    session = Session("ana", True, curator=lambda: pytest.fail("asked"), introspection=lambda: pytest.fail("asked"))
    session.settings.set(f"dp.{name}", SETTINGS[name].strip("'"))
    before = dict(session.settings.own)
    with pytest.raises(Refusal, match=f"^dp.{name}: ") as refused:
        session.statement(f"SET dp.{name} = '{value}'").run()
    assert session.settings.own == before
    session.statement(str(refused.value.cure)).run()
    assert set(session.settings.own) == {name}


@pytest.mark.parametrize("sql", ["DISCARD ALL", "discard all;", "RESET ALL"])
def test_a_price_does_not_pass_to_whoever_has_a_connection_of_a_pool_next(sql: str) -> None:
    """A pool resets a connection before it is handed on; what came with the connection stays, as in PostgreSQL."""
    session = Session("ana", True, curator=lambda: pytest.fail("asked"), introspection=lambda: pytest.fail("asked"))
    session.settings.begin({"user": "ana", "options": "-c dp.confidence=0.9"})
    for one in ("SET dp.epsilon = 50", "SET dp.fresh = on", "SET search_path = x"):
        session.statement(one).run()
    session.statement("DISCARD PLANS").run()
    assert set(session.settings.own) == {"confidence", "epsilon", "fresh"}
    session.statement(sql).run()
    assert (session.settings.own, session.settings.told) == ({"confidence": "0.9"}, {})
    with pytest.raises(Refusal, match="no price is set"):
        session.settings.asked(COUNT)


def test_a_setting_for_one_transaction_is_refused_since_it_would_stay() -> None:
    session = Session("ana", True, curator=lambda: pytest.fail("asked"), introspection=lambda: pytest.fail("asked"))
    session.statement("SET LOCAL statement_timeout = 0").run()
    with pytest.raises(Refusal, match="transaction") as refused:
        session.statement("SET LOCAL dp.spend = '5%'").run()
    assert not session.settings.own
    session.statement(str(refused.value.cure)).run()
    assert session.settings.own == {"spend": "5%"}


@pytest.mark.parametrize("sql", ["SELECT version()", "SELECT pg_catalog.version()", "SELECT VERSION() AS version"])
def test_the_version_is_told_however_a_tool_asks_for_it(sql: str, served: Listening) -> None:
    with served.connect() as link, link.cursor() as cursor:
        cursor.execute(sql)
        assert [column.name for column in cursor.description or ()] == ["version"]
        assert cursor.fetchall() == [("PostgreSQL 15.0 (dpcurator)",)]


@pytest.mark.parametrize(("sql", "code", "hint"), REFUSED)
def test_what_is_refused_has_a_code_and_a_cure_and_is_not_charged(
    sql: str, code: str, hint: str, served: Listening
) -> None:
    with served.connect() as link, link.cursor() as cursor:
        before = open_curator(served.place).budget().spent
        with pytest.raises(psycopg.Error) as refused:
            cursor.execute(sql)
        assert refused.value.sqlstate in code.split("|")
        assert hint in (refused.value.diag.message_hint or "")
        assert open_curator(served.place).budget().spent == before


SYSTEM = [
    "SELECT repeat('x', 1000000000) FROM pg_class",
    "SELECT replace('aaaa', 'a', 'bbbb') FROM pg_class",
    "SELECT format('{:>1000000000}', 'x') FROM pg_class",
    "SELECT * FROM generate_series(1, 1000000000)",
    "SELECT range(100000000) FROM pg_class",
    "SELECT lpad('x', 1000000000) FROM pg_class",
    "SELECT * FROM pg_catalog.pg_ls_dir('/')",
    "SELECT * FROM pg_read_file('/etc/passwd')",
    "SELECT * FROM pg_class, read_csv('/etc/passwd')",
    "SELECT getenv('HOME') FROM pg_class",
    "SELECT * FROM information_schema.tables, duckdb_settings()",
    "SELECT * FROM pg_class, '/etc/passwd'",
    "SELECT * FROM pg_class, query('SELECT 1')",
    "SELECT * FROM pg_class, query_table('pg.pg_type')",
    "SELECT * FROM pg_catalog.duckdb_settings",
    "SELECT current_setting('secret_directory') FROM pg_class",
    *(
        f"SELECT b.* FROM (WITH {view} AS (SELECT 1 FROM pg_class) SELECT * FROM {view}) AS a, {view} AS b"
        for view in ("sqlite_master", "duckdb_tables", "pragma_database_list")
    ),
]


@pytest.mark.parametrize("sql", SYSTEM)
def test_statements_of_the_systems_tables_reach_nothing_else(sql: str, served: Listening) -> None:
    with served.connect() as link, link.cursor() as cursor:
        try:
            rows = cursor.execute(sql).fetchall()
        except psycopg.Error:
            return
        assert all(value in ("", None) for row in rows for value in row), rows


def test_of_a_statement_of_the_systems_tables_so_much_is_sent(served: Listening) -> None:
    wide = " || ".join(["t.long"] * 1500)
    with served.connect() as link, link.cursor() as cursor:
        rows = cursor.execute(f"SELECT {wide} AS x FROM pg_type t, pg_type u, pg_type v").fetchall()
        assert sum(len(row[0]) for row in rows) < 5 << 20
        doubled = "SELECT 'aaaaaaaa' AS s FROM pg_am"
        for _ in range(40):
            doubled = f"SELECT s || s AS s FROM ({doubled}) AS t"
        assert cursor.execute(doubled).fetchall() == []


def test_a_statement_of_the_systems_tables_that_takes_long_is_ended(served: Listening, monkeypatch: Any) -> None:
    from dpcurator.server.wire import introspection

    monkeypatch.setattr(introspection, "SLOWEST", 0.2)
    with served.connect() as link, link.cursor() as cursor:
        all_of = " || ".join(f"t{n}.typname" for n in range(12))
        long = f"SELECT max({all_of}) FROM " + ", ".join(f"pg_type t{n}" for n in range(12))
        with pytest.raises(psycopg.Error, match="takes too long"):
            cursor.execute(long)
        assert cursor.execute("SELECT 1").fetchall() == [(1,)]


_LONG = "SELECT repeat AS s FROM (SELECT '" + "a" * 1000 + "' AS repeat FROM pg_am) AS t"
for _ in range(9):
    _LONG = f"SELECT s || s AS s FROM ({_LONG}) AS t"


@pytest.mark.parametrize("condition", [
    f"s LIKE '%{'a' * 9000}_b' || oid", f"s LIKE '%{'a' * 9000}_b'", f"s LIKE '%{'a' * 150}_b'", f"s ~ '{'a?' * 90}b'",
    "s OPERATOR(pg_catalog.~) '(a?){900}b'", f"s SIMILAR TO '%{'a' * 9000}_b'", f"regexp_matches(s, '{'a?' * 900}b')",
    f"CASE WHEN s LIKE '%{'a' * 150}_b' THEN 'a' END LIKE 'a'", f"strpos(s, '{'a' * 9000}b') > 0",
    f"CAST('{'9' * 9000}' || oid AS bignum) > 0",
])
def test_no_pattern_and_no_number_holds_the_systems_tables_up(condition: str, served: Listening) -> None:
    """DuckDB looks whether it is interrupted only between two thousand rows, and one of these takes minutes."""
    with served.connect() as link, link.cursor() as cursor:
        assert cursor.execute(f"SELECT 1 FROM ({_LONG}) AS l, pg_type WHERE {condition}").fetchall() == []
        found = cursor.execute("SELECT relname FROM pg_class WHERE relname LIKE 'v%' AND relname ~ '^(visits)$'")
        assert found.fetchall() == [("visits",)]


def test_a_statement_of_the_systems_tables_changes_nothing(served: Listening) -> None:
    with served.connect("aud") as link, link.cursor() as cursor:
        before = cursor.execute("SELECT relname FROM pg_class").fetchall()
        for change in ("DELETE FROM pg_class", "UPDATE pg_class SET relname = 'x'", "INSERT INTO pg_class SELECT 1"):
            with pytest.raises(psycopg.Error, match="asks no questions"):
                cursor.execute(f"WITH x AS ({change} RETURNING 1) SELECT * FROM x")
        assert cursor.execute("SELECT relname FROM pg_class").fetchall() == before == [("visits",)]


def test_the_systems_tables_are_only_read_whatever_is_run_on_them(served: Listening) -> None:
    from dpcurator.server.wire.introspection import Introspection

    tables = Introspection(open_curator(served.place).tables)
    assert tables._run("DELETE FROM pg.pg_class") is None
    found = tables._run("SELECT relname FROM pg.pg_class")
    assert found is not None
    assert found.rows == [("visits",)]


@pytest.mark.parametrize("sql", ["/**/" * 60 + "1", "/**/" * 60 + "SET", "--\n" * 60 + "1", "SHOW" + " " * 9000 + "!",
                                 "SET a" + " " * 9000 + "!", "SELECT " + "int(" * 99 + ")" * 99 + " FROM pg_class"])
def test_no_text_holds_the_others_up(sql: str, served: Listening) -> None:
    """It would take years otherwise, while no other connection is served."""
    with served.connect() as link, contextlib.suppress(psycopg.Error):
        link.execute(sql.encode())
    with served.connect("bob") as link:
        assert link.execute("SELECT 1").fetchall() == [(1,)]


def test_a_statement_is_not_made_larger_by_its_values_than_it_may_be(served: Listening) -> None:
    with served.connect() as link:
        sql = b"SELECT " + b",".join([b"$1"] * 6000)
        bound = b"\0one\0\0\0\0\1" + (1 << 19).to_bytes(4, "big") + b"a" * (1 << 19) + b"\0\0"
        parsed = wire.message(b"P", b"one\0" + sql + b"\0\0\0")
        said = _raw(link, parsed + wire.message(b"B", bound) + wire.message(b"S"))
        assert said.startswith(wire.PARSE_COMPLETE + b"E")
        assert b"its values among them" in said


def test_names_that_a_client_gives_are_short_and_its_portals_hold_little(
    served: Listening, monkeypatch: Any
) -> None:
    from dpcurator.server.wire import connection

    monkeypatch.setattr(connection, "MOST_HELD", 20)
    with served.connect() as link:
        named = wire.message(b"P", b"a" * 201 + b"\0SELECT 1\0\0\0")
        assert b"42602" in _raw(link, named + wire.message(b"S"))
        asked = [wire.message(b"P", b"one\0SELECT relname FROM pg_class\0\0\0"), wire.message(b"S")]
        assert _raw(link, b"".join(asked)) == wire.PARSE_COMPLETE + wire.ready(b"I")
        both = [wire.message(b"B", name + b"\0one\0" + bytes(6)) for name in (b"p", b"p", b"q")] + [wire.message(b"S")]
        said = _raw(link, b"".join(both))
        assert said.startswith(wire.BIND_COMPLETE * 2 + b"E")
        assert b"53400" in said


def test_a_question_that_was_described_is_not_asked_once_the_role_is_another(served: Listening) -> None:
    ledger = open_curator(served.place).ledger
    with served.connect("bob", options="-c dp.epsilon=0.31") as link:
        before = ledger.budget().spent
        asked = [wire.message(b"P", b"\0" + COUNT.encode() + b"\0\0\0"), wire.message(b"B", b"\0\0" + bytes(6))]
        with socket.socket(fileno=os.dup(link.pgconn.socket)) as raw:
            raw.setblocking(True)
            raw.settimeout(15)
            raw.sendall(b"".join([*asked, wire.message(b"H")]))
            said = b""
            while not said.endswith(wire.BIND_COMPLETE) and (more := raw.recv(4096)):
                said += more
        ledger.grant("bob", role="auditor")
        try:
            said = _raw(link, wire.message(b"E", b"\0" + bytes(4)) + wire.message(b"S"))
        finally:
            ledger.grant("bob", role="analyst")
        assert b"asks no questions" in said
        assert ledger.budget().spent == before


def test_a_connection_that_fails_as_it_begins_is_counted_no_more(served: Listening, monkeypatch: Any) -> None:
    from dpcurator.server.wire import listening
    from dpcurator.server.wire.settings import Settings

    monkeypatch.setattr(listening, "MOST_OF_ONE", 1)
    with monkeypatch.context() as broken:
        broken.setattr(Settings, "begin", lambda *_: (_ for _ in ()).throw(ConnectionResetError))
        with pytest.raises(psycopg.OperationalError):
            served.connect("stu")
    with served.connect("stu") as link:
        link.execute("SELECT 1")
        with pytest.raises(psycopg.OperationalError, match="too many connections"):
            served.connect("stu")


def test_a_statement_that_the_parser_does_not_know_is_not_in_the_log(served: Listening, caplog: Any) -> None:
    with served.connect() as link:
        for sql in ("WITH x AS (CREATE FOO 'hush') SELECT * FROM pg_class", "SELECT 1 FROM pg_class FOR UPDATE"):
            with contextlib.suppress(psycopg.Error):
                link.execute(sql)
    assert not [one for one in caplog.records if one.name.startswith("sqlglot")]


def test_only_a_token_signs_in_and_a_new_one_ends_the_connection(served: Listening) -> None:
    for wrong in (served.token["bob"], served.token["ana"] + "x", "", "p"):
        with pytest.raises(psycopg.OperationalError, match=r"signs in to no account|no password"):
            psycopg.connect(**served.url(password=wrong))
    with pytest.raises(psycopg.OperationalError, match="signs in to no account"):
        psycopg.connect(**served.url(user="nobody"))
    from dpcurator.ledger.accounts import new_token

    ledger = open_curator(served.place).ledger
    link = served.connect("bob")
    link.execute("SELECT 1")
    served.token["bob"] = new_token("bob")
    ledger.grant("bob", token=served.token["bob"])
    with pytest.raises(psycopg.OperationalError):
        link.execute("SELECT 1")
    link.close()
    with served.connect("bob") as again:
        again.execute("SELECT 1")


def test_an_auditor_reads_the_tables_and_asks_nothing(served: Listening) -> None:
    with served.connect("aud", options="-c dp.epsilon=0.1") as link, link.cursor() as cursor:
        assert cursor.execute("SELECT table_name FROM information_schema.tables").fetchall() == [("visits",)]
        with pytest.raises(psycopg.Error, match="asks no questions"):
            cursor.execute(COUNT)


def test_the_log_has_no_statement_no_value_and_no_token(served: Listening) -> None:
    with served.connect(options="-c dp.epsilon=0.1") as link:
        link.execute("SELECT city, COUNT(*) AS secretly FROM visits WHERE age < 77 GROUP BY city")
    said = "\n".join(served.lines)
    assert "SELECT" in said
    assert '"account": "ana"' in said
    assert not any(word in said for word in ("secretly", "< 77", "visits", served.token["ana"][4:], "Leeds"))


HOSTILE = {
    "nothing": b"",
    "http": b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    "short": b"\0\0\0\4",
    "huge": b"\x7f\xff\xff\xff\0\3\0\0",
    "version 2": b"\0\0\0\x10\0\2\0\0user\0a\0\0",
    "unended": b"\0\0\0\x0d\0\3\0\0user\0",
    "cancel": b"\0\0\0\x10\x04\xd2\x16\x2e" + bytes(8),
    "not UTF-8": b"\0\0\0\x11\0\3\0\0user\0\xff\xfe\0\0",
    "a query at once": b"\0\0\0\x11\0\3\0\0user\0ana\0\0Q\0\0\0\x0dSELECT 1\0",
    "TLS at once": b"\x16\x03\x01\x02\0\x01",
    "many": (b"\0\0\0\x08\x04\xd2\x16\x2f") * 50,
}


@pytest.mark.parametrize("sent", HOSTILE.values(), ids=HOSTILE)
def test_whatever_is_sent_first_the_connection_ends_and_others_are_served(sent: bytes, served: Listening) -> None:
    with socket.create_connection(("127.0.0.1", served.port), timeout=15) as raw:
        said = b""
        with contextlib.suppress(OSError):  # it may have ended already
            raw.sendall(sent)
            raw.shutdown(socket.SHUT_WR)
            while more := raw.recv(4096):
                said += more
    assert b"Z\0\0\0\x05" not in said  # never ready for a query
    with served.connect() as link:
        link.execute("SELECT 1")


@pytest.mark.parametrize(
    "message",
    [
        b"Q\x7f\xff\xff\xff",
        b"Q\0\0\0\3",
        b"Q\0\0\0\6\xff\0",
        b"B\0\0\0\6\0\0",
        b"F\0\0\0\4",
        b"p\0\0\0\5\0",
        b"D\0\0\0\6X\0",
    ],
)
def test_a_message_that_is_none_ends_the_connection(message: bytes, served: Listening) -> None:
    with served.connect() as link:
        said = _raw(link, message)
        assert said == b"" or (said[:1] == b"E" and b"08P01" in said)


def test_tls_is_asked_for_where_there_is_a_certificate(served: Listening, tmp_path: Path) -> None:
    import ssl

    certificate, key = _certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)

    async def run() -> list[str]:
        listener = Wire(Standing(served.place), Access(0.0), Work(), context, log=lambda line: None)
        port = listener.listen("127.0.0.1", 0)
        url = served.url() | {"port": port}

        def ask() -> list[str]:
            found = []
            for mode in ("disable", "require", "verify-ca"):
                try:
                    with psycopg.connect(**url | {"sslmode": mode, "sslrootcert": str(certificate)}) as link:
                        found.append(f"{mode} {link.execute('SELECT 1').fetchall()} {link.pgconn.ssl_in_use}")
                except psycopg.OperationalError as error:
                    found.append(f"{mode} {error}".replace("\n", " "))
            return found

        found = await asyncio.to_thread(ask)
        await listener.close(1)
        return found

    plain, required, verified = asyncio.run(run())
    assert "TLS alone" in plain
    assert "sslmode=require" in plain
    assert (required, verified) == ("require [(1,)] True", "verify-ca [(1,)] True")


def _certificate(directory: Path) -> tuple[Path, Path]:
    """Of 127.0.0.1, signed by itself."""
    import datetime
    import ipaddress

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(1))
        .not_valid_after(now + datetime.timedelta(9))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False)
        .add_extension(x509.BasicConstraints(True, None), True)
        .sign(key, hashes.SHA256())
    )
    own, secret = directory / "cert.pem", directory / "key.pem"
    own.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    secret.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return own, secret
