"""The file itself: private, one whatever its name, durable by its settings; and what a charge costs."""

from __future__ import annotations

import gc
import os
import stat
from fractions import Fraction
from pathlib import Path

import pytest

from dpcurator.errors import Misconfigured, OverBudget
from dpcurator.ledger import Ledger, SqliteStore
from dpcurator.ledger.stores import sqlite


def test_the_file_and_its_journal_are_private_and_alone(sqlite_store, opening, ask, tmp_path):
    before = os.umask(0)
    try:
        Ledger.open(sqlite_store, opening()).charge(ask())
    finally:
        os.umask(before)
    names = ["ledger.db", "ledger.db-shm", "ledger.db-wal"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    assert {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in names} == {0o600}
    sqlite_store.close()
    assert [path.name for path in tmp_path.iterdir()] == names[:1]  # the journal is taken in at the last close


def test_the_settings_that_durability_rests_on(sqlite_store, opening, ask):
    Ledger.open(sqlite_store, opening()).charge(ask())
    run = sqlite_store._connection.execute
    assert run("PRAGMA journal_mode").fetchone() == ("wal",)
    assert run("PRAGMA synchronous").fetchone() == (2,)  # FULL


def test_a_link_and_a_relative_path_lead_to_the_same_ledger(tmp_path, opening, ask, monkeypatch):
    (tmp_path / "data").mkdir()
    (tmp_path / "link.db").symlink_to(tmp_path / "data" / "ledger.db")
    monkeypatch.chdir(tmp_path / "data")
    by_link = Ledger.open(SqliteStore(tmp_path / "link.db"), opening())
    relative = Ledger.open(SqliteStore("ledger.db"), opening())
    by_link.charge(ask("p", "1/2"))
    monkeypatch.chdir(tmp_path)
    assert relative.charge(ask("q", "1/2")).spent == 1
    assert by_link.budget().remaining == 0
    assert not (tmp_path / "link.db-wal").exists()
    for ledger in (by_link, relative):
        ledger.close()


@pytest.mark.parametrize("name", ["a b?#%41.db", "é.db", "file:x?mode=memory"])
def test_any_file_name_will_do(name, tmp_path, opening, ask):
    ledger = Ledger.open(SqliteStore(tmp_path / name), opening())
    ledger.charge(ask())
    assert (tmp_path / name).exists()
    ledger.close()


def test_a_refused_question_does_not_create_a_ledger(tmp_path, opening, ask):
    ledger = Ledger.open(SqliteStore(tmp_path / "ledger.db"), opening())
    with pytest.raises(OverBudget):
        ledger.charge(ask("p", 2))
    assert list(tmp_path.iterdir()) == []


def test_what_a_creator_left_half_done_is_cleared_away(tmp_path, opening, ask):
    (tmp_path / "ledger.db.new").write_bytes(b"half")
    (tmp_path / "ledger.db.new-journal").write_bytes(b"half")
    ledger = Ledger.open(SqliteStore(tmp_path / "ledger.db"), opening())
    ledger.charge(ask())
    ledger.close()
    assert [path.name for path in tmp_path.iterdir()] == ["ledger.db"]


def test_a_store_let_go_closes_its_file(tmp_path, opening, ask):
    ledger = Ledger.open(SqliteStore(tmp_path / "ledger.db"), opening())
    ledger.charge(ask())
    del ledger
    gc.collect()
    assert [path.name for path in tmp_path.iterdir()] == ["ledger.db"]


def test_nothing_open_crosses_a_fork(sqlite_store, opening, ask, forked, tmp_path):
    Ledger.open(sqlite_store, opening()).charge(ask())

    def open_files() -> str:
        links = [path for path in Path("/proc/self/fd").iterdir() if os.path.islink(path)]
        return str([name for name in map(os.readlink, links) if name.startswith(str(tmp_path))])

    if Path("/proc/self/fd").exists():
        assert "ledger.db" in open_files()
        assert forked(open_files) == "[]"
    assert forked(lambda: str(sqlite_store._connection)) == "None"


def test_a_fork_behind_pythons_back_is_noticed(sqlite_store, opening, ask, monkeypatch):
    ledger = Ledger.open(sqlite_store, opening())
    ledger.charge(ask())
    here = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: here + 1)
    with pytest.raises(Misconfigured, match="forked"):
        ledger.charge(ask("other"))
    monkeypatch.undo()
    assert ledger.budget().spent == Fraction(1, 10)


def test_case_per_01_a_charge_costs_the_same_however_long_the_history(tmp_path, opening, ask, monkeypatch):
    """Counted, not timed: SQL statements, and SQLite's own steps, of one charge, one repeat and one look at the budget,
    after 100 and after 4000 charges."""
    monkeypatch.setattr(sqlite, "_SETTINGS", ("synchronous = OFF",))
    store = SqliteStore(tmp_path / "ledger.db")
    ledger = Ledger.open(store, opening(10_000))

    def cost(work) -> tuple[int, int]:
        statements, steps = [], [0]

        def step() -> int:
            steps[0] += 1
            return 0

        ledger.budget()
        store._connection.set_trace_callback(statements.append)
        store._connection.set_progress_handler(step, 1)
        work()
        store._connection.set_trace_callback(None)
        store._connection.set_progress_handler(None, 0)
        return len(statements), steps[0]

    def costs(name: str) -> list[tuple[int, int]]:
        charge = ledger.charge(ask(f"{name} 0"))
        ledger.answer(charge, "text")
        return [
            cost(lambda: ledger.charge(ask(f"{name} 1"))),
            cost(lambda: ledger.charge(ask(f"{name} 2"), fresh=True)),
            cost(lambda: ledger.charge(ask(f"{name} 0"))),
            cost(lambda: ledger.answer(ledger.charge(ask(f"{name} 3")), "text")),
            cost(ledger.budget),
        ]

    measured = []
    for target in (100, 4000):
        while ledger.head()[0] < target:
            ledger.charge(ask(target * 10_000 + ledger.head()[0], "1/3"))
        measured.append(costs(f"after {target}"))
    (young, old) = measured
    assert [statements for statements, _ in old] == [statements for statements, _ in young]
    for (_, before), (_, after) in zip(young, old, strict=True):
        assert after <= before * 1.05 + 5
    assert old[0][0] <= 12  # statements a charge, BEGIN and COMMIT included
    ledger.close()


def test_odd_prices_keep_events_short(sqlite_store, opening, ask, monkeypatch):
    """A thousand prices over unrelated denominators would grow an exact total to 100,000 bits."""
    monkeypatch.setattr(sqlite, "_SETTINGS", ("synchronous = OFF",))
    ledger = Ledger.open(sqlite_store, opening(1))
    exact = Fraction(0)
    for n in range(300):
        price = Fraction(1, 10**4) + Fraction(1, 10**30 + 2 * n + 1)
        ledger.charge(ask(n, price))
        exact += price
    assert 0 <= ledger.budget().spent - exact < Fraction(1, 10**147)
    assert max(len(row.body) for row in _rows(sqlite_store)) < 2500
    assert ledger.verify().sound


def _rows(store):
    with store.reading() as page:
        return page.rows(0, 10_000)


def test_a_ledger_made_by_another_process_between_two_looks_has_not_disappeared(tmp_path, opening, ask, monkeypatch):
    """The file was not there at the first look, and at the next both it and its journal are."""
    place = tmp_path / "ledger.db"
    other = Ledger.open(SqliteStore(place), opening())
    other.charge(ask("first"))
    store = SqliteStore(place)
    found, looks = store._file._found, [None]
    monkeypatch.setattr(store._file, "_found", lambda: looks.pop() if looks else found())
    assert Ledger.open(store, opening()).charge(ask("second")).position == 3
    other.close()


def test_while_somebody_reads_an_older_state_the_file_waits_and_then_has_it_all(tmp_path, opening, ask):
    """The one case in which a copy without the journal lacks charges: it is the reader that is waited for, no longer
    than a moment, and the next event takes all of it in."""
    import shutil
    import sqlite3

    path, copy = tmp_path / "ledger.db", tmp_path / "copy.db"
    ledger = Ledger.open(SqliteStore(path), opening(100))
    ledger.charge(ask("first"))

    def alone() -> int:
        shutil.copyfile(path, copy)
        connection = sqlite3.connect(copy)
        try:
            return connection.execute("SELECT max(position) FROM events").fetchone()[0]
        finally:
            connection.close()

    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM events").fetchone()
    ledger.charge(ask("second"))
    ledger.charge(ask("third"))
    assert ledger.head()[0] == 4
    assert alone() < 4
    reader.execute("COMMIT")
    reader.close()
    ledger.charge(ask("fourth"))
    assert alone() == ledger.head()[0] == 5
