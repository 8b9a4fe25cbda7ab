"""A ledger on a PostgreSQL server: what the server is asked for at each transaction, and what happens when it fails.

Conformance is in test_stores; crowds and kills on this store are in test_fire and test_kill.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
import time
from fractions import Fraction
from pathlib import Path

import pytest
from shell import CLINIC, run

import dpcurator as dp
from dpcurator.catalog.load import load
from dpcurator.curator.opening import move_ledger
from dpcurator.errors import Misconfigured
from dpcurator.ledger import Ledger, PostgresStore, Stored
from dpcurator.ledger.moving import move
from dpcurator.ledger.sql_page import SqlPage
from dpcurator.ledger.stores import postgres as module

psycopg = pytest.importorskip("psycopg", reason="the extra postgres is not installed")


@pytest.fixture
def ledger(postgres_store, opening):
    return Ledger.open(postgres_store, opening())


@pytest.fixture
def store(postgres_store):
    return postgres_store


def told(attempt, *words):
    with pytest.raises(Misconfigured) as wrong:
        attempt()
    error = wrong.value
    assert error.where.startswith("env:")
    assert error.cure
    assert error.__cause__ is None
    assert error.__suppress_context__ or error.__context__ is None
    for word in words:
        assert word in str(error), str(error)
    return error


def test_every_transaction_has_its_settings_whatever_the_role_says(ledger_server, store, ledger, ask):
    wanted = {"synchronous_commit": "on", "statement_timeout": "0", "transaction_isolation": "read committed",
              "transaction_read_only": "off", "client_min_messages": "warning", "row_security": "off"}
    against = {"synchronous_commit": "off", "statement_timeout": "1h", "default_transaction_isolation": "serializable",
               "default_transaction_read_only": "on", "client_min_messages": "error", "search_path": "public"}
    changed = [f"ALTER ROLE steward SET {name} = '{value}'" for name, value in against.items()]
    ledger_server.run(*changed)
    try:
        ledger.charge(ask())
        with store.writing() as page:
            found = {name: page._run(f"SHOW {name}").fetchone()[0] for name in wanted}
        with store.reading() as page:
            assert page._run("SHOW transaction_isolation").fetchone() == ("repeatable read",)
    finally:
        with psycopg.connect(ledger_server.dsn(), options="-c default_transaction_read_only=off",
                             autocommit=True) as connection:
            connection.execute("ALTER ROLE steward RESET ALL")
    assert found == wanted
    assert ledger.budget().spent == Fraction(1, 10)


def test_a_server_that_does_not_wait_for_its_disk_is_refused(ledger_server, ledger, ask):
    ledger_server.durable(False)
    try:
        told(lambda: ledger.charge(ask()), "fsync = off")
    finally:
        ledger_server.durable()
    ledger.charge(ask())


def test_rows_are_neither_changed_nor_taken_away(ledger_server, store, ledger, ask):
    ledger.answer(ledger.charge(ask()), "text", ["reading"])
    place = f'"{store.place.rpartition(" ")[2]}"'
    for table in ("events", "requests", "answers", "readings", "ledger"):
        for statement in (f"DELETE FROM {place}.{table}", f"TRUNCATE {place}.{table}",
                          f"UPDATE {place}.{table} SET {'version = 2' if table == 'ledger' else 'request = 1'}"
                          if table != "events" else f"UPDATE {place}.events SET body = ''"):
            for role in ("origin", "replica"):  # the second switches ordinary triggers off
                with ledger_server.connect() as connection:
                    connection.execute(f"SET session_replication_role = {role}")
                    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState):
                        connection.execute(statement)
    assert ledger.verify().sound


class Cut:
    """Ends the server's side of the connection before the n-th statement from now on."""

    def __init__(self, server, store, monkeypatch):
        self.left, self.reached = -1, 0
        begin, run, commit = PostgresStore._begin, PostgresStore._run, PostgresStore._commit

        def passing():
            self.reached += 1
            self.left -= 1
            if self.left == 0:
                with server.connect() as connection:
                    connection.execute("SELECT pg_terminate_backend(%s)", [store._connection.info.backend_pid])
                    while connection.execute("SELECT count(*) FROM pg_stat_activity WHERE pid = %s",
                                             [store._connection.info.backend_pid]).fetchone()[0]:
                        pass

        def counted(original):
            def call(self_, *all):
                passing()
                return original(self_, *all)
            return call

        for name, original in (("_begin", begin), ("_run", run), ("_commit", commit)):
            monkeypatch.setattr(PostgresStore, name, counted(original))

    def at(self, number):
        self.left, self.reached = number, 0


def test_a_connection_cut_at_any_statement_loses_nothing_and_charges_once(
    ledger_server, store, ledger, ask, monkeypatch
):
    ledger.charge(ask("first"))
    cut = Cut(ledger_server, store, monkeypatch)
    cut.at(-1)
    ledger.answer(ledger.charge(ask("whole", "1/100")), "text", ["reading"])
    statements, spent, failed = cut.reached, ledger.budget().spent, 0
    for number in range(1, statements + 1):
        asked = ask(f"cut {number}", "1/100")
        cut.at(number)
        words = []
        try:
            ledger.answer(ledger.charge(asked), "text", ["reading"])
        except Misconfigured as error:
            words = [str(error)]
        failed += len(words)
        assert all("connection to the ledger's server was lost" in said for said in words)
        cut.at(-1)
        paid = ledger.charge(asked)
        assert isinstance(paid, Stored) or ledger.answer(paid, "text") == "text"
        spent += Fraction(1, 100)
        assert ledger.budget().spent == spent
    assert failed >= statements - 3  # what is lost before a transaction has begun is connected to anew
    assert ledger.verify().sound


def test_a_commit_whose_reply_is_lost_is_resumed_and_not_paid_twice(store, ledger, ask, monkeypatch):
    commit = PostgresStore._commit

    def lost(self):
        commit(self)
        raise psycopg.OperationalError

    with monkeypatch.context() as patch:
        patch.setattr(PostgresStore, "_commit", lost)
        told(lambda: store_charge(store, ledger, ask), "was lost", "never paid twice")
    assert ledger.budget().spent == Fraction(1, 10)
    ledger.answer(ledger.charge(ask()), "text")
    assert ledger.budget().spent == Fraction(1, 10)


def store_charge(store, ledger, ask):
    """Charges without the look at an absent ledger before, whose transaction would be lost first."""
    request = ask()
    from dpcurator.ledger.decide import checked, question

    with store.writing() as page:
        derived = question(checked(request))
        standing, decision, _ = ledger._decided(page, checked(request), derived, derived, False)
        row = ledger._append(page, ledger._begun(page, standing), decision, "2026-01-01T00:00:00.000000Z")
        page.enter(derived, row.position)


def test_a_wait_for_the_standby_that_is_cut_short_is_told(ledger_server, ledger, ask):
    ledger.charge(ask("before"))
    ledger_server.run("ALTER SYSTEM SET synchronous_standby_names = 'nobody'", "SELECT pg_reload_conf()")

    def cancel():
        with ledger_server.connect() as connection:
            while not connection.execute(
                "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
            ).fetchall():
                time.sleep(0.01)

    try:
        in_force = False
        while not in_force:
            with ledger_server.connect() as connection:
                in_force = connection.execute("SHOW synchronous_standby_names").fetchone() == ("nobody",)
        waiting = threading.Thread(target=cancel)
        waiting.start()
        told(lambda: ledger.charge(ask()), "did not hear from its standby", "never paid twice")
        waiting.join()
    finally:
        ledger_server.run("ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()")
    assert ledger.budget().spent == Fraction(2, 10)
    ledger.charge(ask())
    assert ledger.budget().spent == Fraction(2, 10)


@pytest.mark.parametrize("how", ["rule", "trigger"])
def test_an_insert_that_is_passed_over_charges_nothing_and_is_told(how, ledger_server, store, ledger, ask):
    schema = store.place.rpartition(" ")[2]
    paid = ledger.charge(ask())
    for table, attempt in (("events", lambda: ledger.charge(ask("more"))),
                           ("requests", lambda: ledger.charge(ask("more"))),
                           ("answers", lambda: ledger.answer(paid, "text"))):
        ledger_server.run(*(
            [f"CREATE RULE none AS ON INSERT TO {schema}.{table} DO INSTEAD NOTHING"] if how == "rule" else
            [f"CREATE FUNCTION {schema}.none() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
             f"CREATE TRIGGER none BEFORE INSERT ON {schema}.{table} FOR EACH ROW EXECUTE FUNCTION {schema}.none()"]
        ))
        with pytest.raises(Misconfigured, match="did not add"):
            attempt()
        ledger_server.run(f"DROP {how} none ON {schema}.{table}", f"DROP FUNCTION IF EXISTS {schema}.none()")
    assert ledger.head() == (paid.position, paid.head)


def test_what_the_standby_never_heard_of_is_not_shown(ledger_server, store, ledger, ask):
    ledger.answer(ledger.charge(ask()), "text")
    ledger_server.run("ALTER SYSTEM SET synchronous_standby_names = 'nobody'", "SELECT pg_reload_conf()")
    over = threading.Event()

    def cancel():
        while not over.is_set():
            ledger_server.run("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
            time.sleep(0.01)

    cancelling = threading.Thread(target=cancel)
    try:
        while True:
            with ledger_server.connect() as connection:
                if connection.execute("SHOW synchronous_standby_names").fetchone() == ("nobody",):
                    break
        cancelling.start()
        told(lambda: ledger.charge(ask("more")), "did not hear from its standby")
        for _ in range(2):  # it is in this server's own rows by now
            told(lambda: ledger.charge(ask("more")), "did not hear from its standby")
        told(lambda: ledger.charge(ask()), "did not hear from its standby")
        told(lambda: ledger.stored(ask()), "did not hear from its standby")
    finally:
        over.set()
        cancelling.join()
        ledger_server.run("ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()")
    assert ledger.budget().spent == Fraction(2, 10)


def test_a_refused_or_broken_move_leaves_no_empty_ledger_to_be_charged(store, opening, ask, sqlite_store, monkeypatch):
    here = Ledger.open(sqlite_store, opening())
    here.charge(ask())
    with monkeypatch.context() as patch:
        patch.setattr(here, "seal", lambda place: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            move(here, sqlite_store, store)
    assert not store.exists()
    move(here, sqlite_store, store)
    assert store.exists()


def test_an_idle_connection_that_was_cut_is_made_anew(ledger_server, store, ledger, ask):
    ledger.charge(ask())
    for _ in range(2):
        pid = store._connection.info.backend_pid
        ledger_server.run(f"SELECT pg_terminate_backend({pid})")
        assert ledger.budget().spent == Fraction(1, 10)
        assert store._connection.info.backend_pid != pid


def test_the_role_needs_no_more_than_to_read_and_add(ledger_server, store, ledger, ask, opening, monkeypatch):
    schema = store.place.rpartition(" ")[2]
    ledger_server.run("DROP ROLE IF EXISTS clerk", "CREATE ROLE clerk LOGIN")
    monkeypatch.setenv("LEDGER_DSN", ledger_server.dsn(user="clerk"))
    theirs = PostgresStore("env:LEDGER_DSN", schema=schema)
    told(lambda: Ledger.open(theirs, opening()).charge(ask()), "may not use the ledger", "GRANT USAGE")
    ledger.charge(ask())
    told(lambda: Ledger.open(theirs, opening()), "may not use the ledger", "GRANT USAGE")
    ledger_server.run(f"GRANT USAGE ON SCHEMA {schema} TO clerk",
                      f"GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA {schema} TO clerk")
    clerk = Ledger.open(theirs, opening())
    clerk.answer(clerk.charge(ask("more")), "text", ["reading"])
    assert ledger.budget().spent == Fraction(2, 10)
    theirs.close()
    ledger_server.run("DROP OWNED BY clerk", "DROP ROLE clerk")


def test_what_is_no_whole_ledger_is_refused(ledger_server, store, ledger, ask, opening):
    schema = store.place.rpartition(" ")[2]
    ledger.charge(ask())
    ledger_server.run(f"ALTER TABLE {schema}.answers SET UNLOGGED")
    told(ledger.budget, "UNLOGGED", "another schema")
    ledger_server.run(f"ALTER TABLE {schema}.answers SET LOGGED")
    assert ledger.budget().spent == Fraction(1, 10)
    ledger_server.run(f"ALTER TABLE {schema}.answers RENAME TO gone")
    told(ledger.budget, "a part of a ledger")
    ledger_server.run(f"ALTER TABLE {schema}.gone RENAME TO answers",
                      f"ALTER TABLE {schema}.events RENAME body TO text")
    told(lambda: ledger.charge(ask()), "a table or a column of it is missing")
    ledger_server.run(f"DROP SCHEMA {schema} CASCADE")
    told(ledger.budget, "does not contain event 2")


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
def test_a_database_without_unicode_is_refused(encoding, ledger_server, opening, monkeypatch):
    name = f"ledgers_{encoding.lower()}"
    ledger_server.run(f"DROP DATABASE IF EXISTS {name}",
                      f"CREATE DATABASE {name} ENCODING '{encoding}' TEMPLATE template0")
    monkeypatch.setenv("LEDGER_DSN", ledger_server.dsn(name))
    told(lambda: Ledger.open(PostgresStore("env:LEDGER_DSN"), opening()), "UTF-8", "CREATE DATABASE")


def test_a_writer_without_the_lock_cannot_take_a_place(ledger_server, store, ledger, ask):
    ledger.charge(ask())
    schema = store.place.rpartition(" ")[2]
    with psycopg.connect(ledger_server.dsn()) as other:
        other.execute(f"INSERT INTO {schema}.events VALUES (3, 'charged', '', '')")
        writing = threading.Thread(target=lambda: told(lambda: ledger.charge(ask("more")), "something else wrote"))
        writing.start()
        while not other.execute("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'").fetchone():
            time.sleep(0.01)
        other.commit()
        writing.join()


def test_a_busy_ledger_is_waited_for_and_then_told(ledger_server, store, ledger, ask, opening):
    ledger.charge(ask())
    hasty = PostgresStore("env:LEDGER_DSN", schema=store.place.rpartition(" ")[2], patience=0.05)
    other = Ledger.open(hasty, opening())
    with store.writing():
        told(lambda: other.charge(ask("more")), "locked by another process")
        assert other.budget().spent == Fraction(1, 10)  # whoever only looks waits for nobody
    other.charge(ask("more"))
    hasty.close()


def test_a_copy_that_is_behind_is_noticed_by_its_head(ledger_server, store, ledger, ask, opening):
    schema = store.place.rpartition(" ")[2]
    ledger.charge(ask("a"))
    ledger_server.run(f"CREATE SCHEMA {schema}_kept", *(
        f"CREATE TABLE {schema}_kept.{table} AS SELECT * FROM {schema}.{table}" for table in module._TABLES))
    head = ledger.charge(ask("b")).head
    ledger_server.run(f"ALTER SCHEMA {schema} RENAME TO {schema}_ahead",
                      f"ALTER SCHEMA {schema}_kept RENAME TO {schema}")
    told(lambda: ledger.charge(ask("c")), "does not contain event 3 as seen before", "older copy")
    told(lambda: Ledger.open(store, opening(), known_heads=[(3, head)]), "does not contain event 3")


@pytest.mark.slow
def test_a_real_standby_is_refused_and_one_promoted_while_behind_is_noticed(
    ledger_server, store, ledger, ask, opening, monkeypatch
):
    schema, place = store.place.rpartition(" ")[2], f"{ledger_server.socket}/standby"
    ledger.charge(ask("a"))
    as_owner = {} if os.getuid() else {"user": "nobody", "extra_groups": []}
    quiet = {"check": True, "stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    program = ledger_server.programs
    os.makedirs(f"{place}/socket")
    if not os.getuid():
        shutil.chown(place, "nobody")
        shutil.chown(f"{place}/socket", "nobody")
    subprocess.run([program / "pg_basebackup", "-h", ledger_server.socket, "-U", "steward", "-D", f"{place}/data", "-R",
                    "-c", "fast", "-X", "fetch"], cwd=place, **quiet, **as_owner)
    os.chmod(f"{place}/data", 0o700)
    control = [program / "pg_ctl", "-D", f"{place}/data", "-w", "-l", f"{place}/log"]
    start = [*control, "-o", f"-c listen_addresses= -c unix_socket_directories={place}/socket -c max_connections=60"]
    subprocess.run([*start, "start"], cwd=place, **quiet, **as_owner)
    try:
        monkeypatch.setenv("STANDBY_DSN", f"host={place}/socket dbname=postgres user=steward")
        standby = PostgresStore("env:STANDBY_DSN", schema=schema)
        told(lambda: Ledger.open(standby, opening()), "a standby", "Name the primary")
        told(lambda: standby_write(standby), "a standby")
        subprocess.run([*control, "-m", "fast", "stop"], cwd=place, **quiet, **as_owner)
        ledger.charge(ask("b"))  # the standby never hears of it
        with open(f"{place}/data/postgresql.auto.conf", "a") as settings:
            settings.write("\nprimary_conninfo = ''\n")
        subprocess.run([*start, "start"], cwd=place, **quiet, **as_owner)
        subprocess.run([*control, "promote"], cwd=place, **quiet, **as_owner)
        monkeypatch.setenv("LEDGER_DSN", os.environ["STANDBY_DSN"])
        store.close()
        told(lambda: ledger.charge(ask("c")), "does not contain event 3 as seen before")
        standby.close()
    finally:
        subprocess.run([*control, "-m", "immediate", "stop"], cwd=place, **(quiet | {"check": False}), **as_owner)


def standby_write(standby):
    with standby.writing():
        pass


def test_forked_children_make_connections_of_their_own(store, ledger, ask, forked):
    ledger.charge(ask("parent"))
    pid = store._connection.info.backend_pid

    def child() -> str:
        ledger.charge(ask("child"))
        return str(store._connection.info.backend_pid)

    assert int(forked(child)) != pid
    assert ledger.budget().spent == Fraction(2, 10)
    assert ledger.verify().sound


def test_a_ledger_moves_there_and_back(store, ledger, ask, opening, sqlite_store):
    here = Ledger.open(sqlite_store, opening())
    here.answer(here.charge(ask()), "text", ["reading"])
    move(here, sqlite_store, store)
    assert ledger.charge(ask()).answer == "text"
    assert "reading" in ledger.holding(["reading"])


@pytest.mark.parametrize(("dsn", "words"), [
    ("host=localhost", "named by an environment variable"), ("env:NOT_SET_ANYWHERE", "NOT_SET_ANYWHERE is not set"),
])
def test_a_place_that_is_none(dsn, words, opening):
    with pytest.raises(Misconfigured, match=words):
        Ledger.open(PostgresStore(dsn), opening())


def test_a_server_that_is_away(opening, monkeypatch, tmp_path):
    monkeypatch.setenv("LEDGER_DSN", f"host={tmp_path} dbname=secret user=secret password=secret")
    error = told(lambda: Ledger.open(PostgresStore("env:LEDGER_DSN"), opening()), "does not answer")
    assert "secret" not in str(error)


CATALOG = {
    "curator": {"protects": "people"},
    "tables": {"visits": {"unit": "who", "max_total": 2, "columns": {"who": "text"}}},
}
COUNT = "SELECT COUNT(*) AS n FROM visits"


@pytest.fixture
def shared(schema):
    return CATALOG | {"ledger": {"epsilon": 1, "store": {"postgres": "env:LEDGER_DSN", "schema": schema}}}


def test_two_curators_on_two_machines_share_one_budget_and_its_answers(shared, tmp_path):
    rows = {"who": ["a", "b", "b"]}
    here = dp.open(shared, directory=tmp_path / "here", visits=rows)
    shutil.copytree(tmp_path / "here", tmp_path / "there")
    there = dp.open(shared, directory=tmp_path / "there")
    first = here.ask(COUNT, epsilon="0.6")
    again = there.ask(COUNT, epsilon="0.6")
    assert (again.rows, again.receipt) == (first.rows, first.receipt)
    with pytest.raises(dp.OverBudget):
        there.ask(COUNT + " WHERE who = 'a'", epsilon="0.6")
    assert here.budget().spent == there.budget().spent == Fraction(6, 10)
    assert not (tmp_path / "here" / ".dpcurator" / "ledger.db").exists()
    shutil.rmtree(tmp_path / "there" / ".dpcurator")
    with pytest.raises(Misconfigured, match=r"signing key is not.*copy it from the machine"):
        dp.open(shared, directory=tmp_path / "there", visits=rows)


def test_a_copy_whose_note_was_lost_is_not_made_again_on_another_server(
    ledger_server, store, schema, opening, ask, sqlite_store, monkeypatch
):
    here = Ledger.open(sqlite_store, opening())
    here.charge(ask("a"))
    index = SqlPage.index

    def killed(page, reading, request):
        if reading == "moved":
            raise KeyboardInterrupt
        index(page, reading, request)

    with monkeypatch.context() as patch:
        patch.setattr(SqlPage, "index", killed)
        with pytest.raises(KeyboardInterrupt):
            move(here, sqlite_store, store)
    assert store.exists()
    ledger_server.run("CREATE DATABASE another")
    monkeypatch.setenv("LEDGER_DSN", ledger_server.dsn("another"))
    other = PostgresStore("env:LEDGER_DSN", schema=schema)
    told(lambda: move(here, sqlite_store, other), "another server or database")
    assert not other.exists()
    other.close()
    monkeypatch.setenv("LEDGER_DSN", ledger_server.dsn())
    move(here, sqlite_store, store)
    assert here.life() == "moved"
    assert Ledger.open(store, opening()).budget().spent == Fraction(1, 10)


def test_the_command_moves_a_ledger_and_says_what_to_write(schema, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("curator.toml").write_text(CLINIC)
    Path("visits.csv").write_text("patient_id,city,age\na,Leeds,1\nb,York,2\n")
    run(capsys, "refresh")
    paid = run(capsys, "ask", COUNT, "--epsilon", "0.5", "--yes").out
    moved = run(capsys, "ledger", "move", "--to", "env:LEDGER_DSN", "--schema", schema).out
    assert moved.startswith(f"3 events are now at env:LEDGER_DSN, schema {schema}; ")
    line = moved.splitlines()[1].removeprefix("Write under [ledger]: ")
    asked = run(capsys, "ask", COUNT, "--epsilon", "0.5", "--yes")
    assert (asked.code, "moved to another store" in asked.err) == (4, True)
    assert run(capsys, "check").code == 4
    assert "moved" in run(capsys, "budget").out
    last = run(capsys, "log").out.splitlines()[-1]  # where the refusal says that the place is
    assert last.endswith(f"to env:LEDGER_DSN, schema {schema}")
    Path("curator.toml").write_text(CLINIC.replace("epsilon = 1", f"epsilon = 1\n{line}"))
    assert run(capsys, "ask", COUNT, "--epsilon", "0.5", "--yes").out.splitlines()[1] == paid.splitlines()[1]
    assert run(capsys, "verify").code == 0
    told = run(capsys, "ledger", "move", "--to", "file", "--json")
    assert told.code == 4
    assert "a copy of this ledger" in told.json["what"]
    for file in Path(".dpcurator").glob("ledger.db*"):
        file.rename(file.name)
    assert run(capsys, "ledger", "move", "--to", "file", "--json").json["store"] == ""
    Path("curator.toml").write_text(CLINIC)
    assert run(capsys, "budget", "--json").json["spent"] == "0.5"


@pytest.mark.parametrize("sealed", [False, True])
def test_a_file_that_a_killed_move_left_empty_takes_no_charge(sealed, shared, tmp_path, monkeypatch):
    rows = {"who": ["a", "b", "b"]}
    dp.open(shared, directory=tmp_path, visits=rows).ask(COUNT, epsilon="0.6")
    declaration = load(shared, directory=tmp_path)
    with monkeypatch.context() as patch:
        if sealed:
            patch.setattr("dpcurator.ledger.moving._file", lambda *all: (_ for _ in ()).throw(KeyboardInterrupt))
        else:
            patch.setattr(Ledger, "seal", lambda *all: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            move_ledger(declaration, None)
    alone = shared | {"ledger": {"epsilon": 1}}
    with pytest.raises(Misconfigured, match="was cut short"):
        dp.open(alone, directory=tmp_path)
    move_ledger(declaration, None)
    assert dp.open(alone, directory=tmp_path).budget().spent == Fraction(6, 10)
    assert not (tmp_path / ".dpcurator" / "ledger.moving").exists()


@pytest.mark.parametrize(("store", "words"), [
    ({"postgres": "host=db"}, "This names no environment variable"),
    ({"postgres": "env:A", "schema": "Pg Own"}, "A schema's name has"),
    ({"postgres": "env:A", "schema": "pg_x"}, "A schema's name has"),
    ({"schema": "a"}, "postgres"),
])
def test_a_store_that_names_none(store, words):
    with pytest.raises(Misconfigured, match=words):
        dp.open(CATALOG | {"ledger": {"epsilon": 1, "store": store}})
