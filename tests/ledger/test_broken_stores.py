"""Whatever is wrong with the file, its place or the disk: Misconfigured with what, where and cure, and no budget spent
that is not in the ledger. A charge that stands is resumed for nothing once the trouble is mended.
"""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dpcurator.errors import Misconfigured
from dpcurator.ledger import Ledger, SqliteStore, Stored

NOBODY = 65534


@contextmanager
def unprivileged() -> Iterator[None]:
    """As an ordinary account, for whom permissions hold; tests may run as root, for whom they do not."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A directory that an ordinary account reaches and owns."""
    made = Path(os.path.realpath(tempfile.mkdtemp()))
    if os.geteuid() == 0:
        os.chown(made, NOBODY, NOBODY)
    with unprivileged():
        yield made
    made.chmod(0o700)
    shutil.rmtree(made)


def told(attempt, place: Path, *words: str) -> Misconfigured:
    with pytest.raises(Misconfigured) as wrong:
        attempt()
    error = wrong.value
    assert error.where == str(place)
    assert error.what
    assert error.cure
    assert error.__cause__ is None
    assert error.__suppress_context__ or error.__context__ is None
    for word in words:
        assert word in str(error)
    return error


def test_a_directory_that_does_not_exist(tmp_path, opening, ask):
    place = tmp_path / "none" / "ledger.db"
    ledger = Ledger.open(SqliteStore(place), opening())
    assert ledger.budget().remaining == 1
    told(lambda: ledger.charge(ask()), place, "directory does not exist", "Create it")


def test_a_directory_in_the_files_place(tmp_path, opening):
    told(lambda: Ledger.open(SqliteStore(tmp_path), opening()), tmp_path, "not a file")


def test_a_place_under_a_file(tmp_path, opening):
    (tmp_path / "file").write_text("")
    place = tmp_path / "file" / "ledger.db"
    told(lambda: Ledger.open(SqliteStore(place), opening()), place, "directory does not exist")


def test_a_read_only_directory_without_a_ledger(folder, opening, ask):
    place = folder / "ledger.db"
    folder.chmod(0o500)
    ledger = Ledger.open(SqliteStore(place), opening())
    told(lambda: ledger.charge(ask()), place, "permission")
    folder.chmod(0o700)
    assert ledger.charge(ask()).position == 2
    ledger.close()


def test_a_read_only_file(folder, opening, ask):
    place = folder / "ledger.db"
    ledger = Ledger.open(SqliteStore(place), opening())
    ledger.charge(ask())
    ledger.close()
    place.chmod(0o400)
    told(lambda: ledger.charge(ask("other")), place, "permission")
    ledger.close()
    place.chmod(0o600)
    assert ledger.budget().spent == ask().epsilon


def test_a_read_only_directory_with_a_ledger(folder, opening, ask):
    place = folder / "ledger.db"
    ledger = Ledger.open(SqliteStore(place), opening())
    charge = ledger.charge(ask())
    ledger.close()
    folder.chmod(0o500)
    told(lambda: ledger.answer(charge, "x"), place, "permission", "charge stands", "no cost")
    folder.chmod(0o700)
    assert ledger.charge(ask()) == charge
    assert ledger.answer(charge, "y") == "y"
    ledger.close()


def test_an_unreadable_file(folder, opening, ask):
    place = folder / "ledger.db"
    ledger = Ledger.open(SqliteStore(place), opening())
    ledger.charge(ask())
    ledger.close()
    place.chmod(0)
    told(lambda: Ledger.open(SqliteStore(place), opening()), place, "permission")


def test_a_ledger_locked_by_another_process(tmp_path, opening, ask):
    place = tmp_path / "ledger.db"
    ledger = Ledger.open(SqliteStore(place, patience=0.05), opening())
    charge = ledger.charge(ask())
    other = sqlite3.connect(place, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert ledger.budget().spent == charge.epsilon  # looking waits for nobody
    told(lambda: ledger.charge(ask("other")), place, "locked by another process", "Wait")
    told(lambda: ledger.answer(charge, "x"), place, "locked by another process", "charge stands")
    other.execute("ROLLBACK")
    other.close()
    assert ledger.answer(charge, "x") == "x"
    assert ledger.budget().spent == charge.epsilon
    ledger.close()


@contextmanager
def full_disk(store: SqliteStore, size: int = 8192) -> Iterator[None]:
    """No file can grow past `size` bytes: writes fail as they do on a full disk or an exhausted quota."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_while_charging_and_while_answering(tmp_path, opening, ask):
    place = tmp_path / "ledger.db"
    store = SqliteStore(place)
    ledger = Ledger.open(store, opening())
    charge = ledger.charge(ask())
    with full_disk(store):
        told(lambda: ledger.charge(ask("other")), place, "space")
        told(lambda: ledger.answer(charge, "x" * 50_000), place, "charge stands", "no cost")
        told(lambda: ledger.answer(charge, "x"), place, "charge stands")
    assert ledger.verify().problem is None
    assert ledger.budget().spent == charge.epsilon
    assert ledger.charge(ask()) == charge
    assert ledger.answer(charge, "x") == "x"
    assert isinstance(ledger.charge(ask()), Stored)
    ledger.close()


def test_a_full_disk_before_there_is_a_ledger(tmp_path, opening, ask):
    place = tmp_path / "ledger.db"
    store = SqliteStore(place)
    ledger = Ledger.open(store, opening())
    with full_disk(store):
        told(lambda: ledger.charge(ask()), place, "space")
    assert not place.exists()
    assert ledger.charge(ask()).position == 2
    ledger.close()


def test_a_ledger_that_may_not_grow(tmp_path, opening, ask):
    """SQLite's own word for a full disk, through its limit on pages."""
    place = tmp_path / "ledger.db"
    store = SqliteStore(place)
    ledger = Ledger.open(store, opening())
    charge = ledger.charge(ask())
    assert store._connection is not None
    store._connection.execute("PRAGMA max_page_count = 1")
    told(lambda: ledger.answer(charge, "x" * 100_000), place, "no room left", "charge stands")
    assert ledger.answer(charge, "x" * 100_000)[:3] == "xxx"  # a new connection, without the limit
    ledger.close()


@pytest.mark.parametrize("content", [b"garbage", b"x" * 10_000, b"SQLite format 3\x00" + b"\xff" * 5000], ids=len)
def test_a_file_of_something_else(content, tmp_path, opening, ask):
    place = tmp_path / "ledger.db"
    place.write_bytes(content)
    told(lambda: Ledger.open(SqliteStore(place), opening()), place)
    told(lambda: Ledger(SqliteStore(place), opening()).charge(ask()), place)
    assert place.read_bytes() == content


def test_a_database_of_something_else(tmp_path, opening):
    place = tmp_path / "ledger.db"
    other = sqlite3.connect(place)
    other.execute("CREATE TABLE patients (name)")
    other.close()
    told(lambda: Ledger.open(SqliteStore(place), opening()), place, "not a ledger")


@pytest.mark.parametrize("version", [1, 3])
def test_a_ledger_of_another_version(version, tmp_path, opening, ask):
    place = tmp_path / "ledger.db"
    ledger = Ledger.open(SqliteStore(place), opening())
    ledger.charge(ask())
    ledger.close()
    other = sqlite3.connect(place)
    other.execute(f"PRAGMA user_version = {version}")
    other.close()
    told(lambda: ledger.budget(), place, "another version")


def test_an_emptied_file_is_not_a_young_ledger(tmp_path, opening, ask):
    place = tmp_path / "ledger.db"
    place.write_bytes(b"")
    told(lambda: Ledger.open(SqliteStore(place), opening()), place, "truncated")


def test_a_ledger_that_disappears_is_not_begun_again(tmp_path, opening, ask):
    place = tmp_path / "ledger.db"
    ledger = Ledger.open(SqliteStore(place), opening())
    ledger.charge(ask("p", 1))
    place.rename(tmp_path / "elsewhere.db")
    for attempt in (
        lambda: ledger.charge(ask("q", 1)),
        ledger.budget,
        lambda: Ledger.open(SqliteStore(place), opening()),
    ):
        told(attempt, place, "disappeared")  # a newcomer sees the journal left behind
    ledger.close()


def test_a_ledger_that_is_replaced_is_not_used(tmp_path, opening, ask):
    place, spare = tmp_path / "ledger.db", tmp_path / "spare.db"
    for path in (spare, place):
        ledger = Ledger.open(SqliteStore(path), opening())
        ledger.charge(ask())
        if path is spare:
            ledger.close()
    os.replace(spare, place)
    told(lambda: ledger.charge(ask("q")), place, "replaced")


def test_a_journal_removed_in_use(tmp_path, opening, ask):
    place = tmp_path / "ledger.db"
    ledger = Ledger.open(SqliteStore(place), opening())
    ledger.charge(ask())
    Path(f"{place}-wal").unlink()
    told(lambda: ledger.charge(ask("q")), place, "journal")
    ledger.close()


def test_a_second_name(tmp_path, opening, ask):
    place = tmp_path / "ledger.db"
    ledger = Ledger.open(SqliteStore(place), opening())
    ledger.charge(ask())
    os.link(place, tmp_path / "copy.db")
    told(lambda: ledger.charge(ask("q")), place, "more than one name")
    (tmp_path / "copy.db").unlink()
    assert ledger.charge(ask("q")).position == 3
    ledger.close()
