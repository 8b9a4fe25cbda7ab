"""kill -9 at any moment: what was printed was charged and stored, and the ledger opens and verifies.

Two children charge, answer and print on one ledger; one is killed after a random delay while the other goes on, and a
third, started beforehand, takes its place. Every fifth victim is killed after it has printed an answer, so that there
is something to find on the slowest of disks; the others at any moment, also before anything was printed.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

import pytest

from dpcurator.errors import Misconfigured
from dpcurator.ledger import Ledger, SqliteStore, Stored
from dpcurator.ledger.stores import sqlite

WORKER = Path(__file__).with_name("worker.py")


def child() -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(WORKER), "kill"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def begin(waiting: subprocess.Popen[str], path: Path) -> subprocess.Popen[str]:
    assert waiting.stdin is not None
    assert waiting.stdout is not None
    assert waiting.stdout.readline() == "ready\n"
    waiting.stdin.write(f"{path}\n")
    waiting.stdin.flush()
    return waiting


def promises(killed: subprocess.Popen[str]) -> list[list[str]]:
    """The lines printed in full before the end."""
    assert killed.stdout is not None
    printed = killed.stdout.read()  # not communicate(): lines may have been read before, and more of them buffered
    killed.communicate(timeout=60)
    return [line.split() for line in printed.split("\n")[:-1]]


def until_an_answer(victim: subprocess.Popen[str]) -> list[list[str]]:
    """The lines a child prints, read until one of them is an answer."""
    assert victim.stdout is not None
    said: list[list[str]] = []
    while not said or said[-1][0] != "answered":
        said.append(victim.stdout.readline().split())
    return said


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 8))])
def test_on_a_server_what_was_printed_is_in_the_ledger_after_any_kill(seed, postgres_store, opening):
    place = postgres_store.place.replace(", schema", "") + " " + os.environ["LEDGER_DSN"]
    luck, ledger = random.Random(seed), Ledger.open(postgres_store, opening(100_000))
    running, waiting, answers = [begin(child(), place)], child(), 0
    for _ in range(LONGER if seed else 3):
        running.append(begin(waiting, place))
        waiting = child()
        victim = running.pop(0)
        early = until_an_answer(victim)
        time.sleep(luck.random() * 0.06)
        victim.kill()
        for what, request_id, *rest in early + promises(victim):
            (found,) = ledger.find(request_id)
            if what == "answered":
                answers += 1
                assert found.answer == rest[0]
            else:
                charge = found.charge if isinstance(found, Stored) else found
                assert [str(charge.position), charge.head] == rest
    running[0].kill()
    waiting.kill()
    running[0].communicate(timeout=60)
    waiting.communicate(timeout=60)
    assert answers > 0
    assert ledger.verify().sound


KILLS = 5  # on one ledger; the longer run does seven ledgers more, with LONGER kills each
LONGER = 25


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 8))])
def test_what_was_printed_is_in_the_ledger_after_any_kill(seed, tmp_path, opening):
    path = tmp_path / "ledger.db"
    luck = random.Random(seed)
    running, waiting = [begin(child(), path)], child()
    ledger = Ledger.open(SqliteStore(path, patience=60), opening(100_000))
    charges = answers = 0
    for turn in range(LONGER if seed else KILLS):
        running.append(begin(waiting, path))
        waiting = child()
        victim = running.pop(0)
        early = until_an_answer(victim) if turn % 5 == 0 else []
        time.sleep(luck.random() * 0.06)
        victim.kill()
        said = early + promises(victim)
        for what, request_id, *rest in said:
            (found,) = ledger.find(request_id)
            if what == "charged":
                charge = getattr(found, "charge", found)
                assert [str(charge.position), charge.head] == rest
                charges += 1
            else:
                assert [found.answer] == rest
                answers += 1
        assert ledger.verify().problem is None
        ledger.close()  # opens anew at the next kill: recovery is tried each time
    for left in (*running, waiting):
        left.kill()
        left.communicate(timeout=60)
    verdict = ledger.verify()
    assert verdict.problem is None
    assert charges >= answers > 0
    ledger.close()
    assert Ledger.open(SqliteStore(path), opening(100_000)).head() == (verdict.position, verdict.head)


def test_the_end_at_every_single_statement(tmp_path, opening, ask, forked):
    """The same, without luck: the process ends just before each SQL statement of a charge and of an answer in turn.
    Whatever is there afterwards is whole, and asking again comes to one charge and one answer."""
    path = tmp_path / "ledger.db"
    ledger = Ledger.open(SqliteStore(path), opening(100_000))
    ledger.charge(ask("first"))

    def work(plan: str, last: int) -> str:
        ledger.budget()  # connects
        left = [last]

        def statement(_: str) -> None:
            left[0] -= 1
            if left[0] < 0:
                os._exit(9)

        ledger._store._connection.set_trace_callback(statement)
        return ledger.answer(ledger.charge(ask(plan)), plan)

    states = set()
    for last in range(100):
        plan, before = f"plan {last}", ledger.budget().spent
        said = forked(lambda plan=plan, last=last: work(plan, last))
        assert ledger.verify().problem is None
        charged, stored = ledger.budget().spent > before, ledger.stored(ask(plan)) is not None
        states.add((charged, stored, said != ""))
        if said:
            break
        charge = ledger.charge(ask(plan))
        assert (charge.answer if stored else ledger.answer(charge, plan)) == plan
        assert ledger.budget().spent == before + Fraction(1, 10)
    assert said == plan
    assert states == {(False, False, False), (True, False, False), (True, True, False), (True, True, True)}
    ledger.close()


def test_the_journal_left_by_a_kill_is_taken_in(tmp_path, opening, ask):
    """The last event may be in the file ending in -wal alone."""
    path = tmp_path / "ledger.db"
    victim = begin(child(), path)
    assert victim.stdout is not None
    lines = [victim.stdout.readline().split() for _ in range(20)]
    victim.kill()
    victim.communicate(timeout=60)
    journal = Path(f"{path}-wal")
    assert journal.stat().st_size > 0
    ledger = Ledger.open(SqliteStore(path), opening(100_000))
    last = [line for line in lines if line[0] == "charged"][-1]
    assert ledger.find(last[1])
    assert ledger.verify([(int(last[2]), last[3])]).sound
    ledger.close()
    assert not journal.exists()


def test_the_file_alone_has_every_charge_that_was_returned(tmp_path, opening, ask, forked):
    """Whoever copies ledger.db and leaves the files ending in -wal and -shm behind gains no budget. A charge that a
    kill leaves in the journal alone was never returned, so nothing was drawn for it; the next to open takes it in.
    """
    path, copy = tmp_path / "ledger.db", tmp_path / "copy.db"

    def alone() -> int:
        shutil.copyfile(path, copy)
        store = SqliteStore(copy)
        try:
            copied = Ledger.open(store, opening(100))
            assert copied.verify().sound
            return copied.head()[0]
        finally:
            store.close()

    ledgers = [Ledger.open(SqliteStore(path), opening(100)) for _ in range(2)]
    for n in range(12):
        charge = ledgers[n % 2].charge(ask(f"plan {n}"))
        assert alone() == charge.position
        ledgers[n % 3 % 2].answer(charge, "text")
        assert alone() == charge.position + 1

    def killed_after_its_commit() -> str:
        ledgers[0].budget()  # connects
        ledgers[0]._store._connection.set_trace_callback(lambda said: os._exit(9) if "checkpoint" in said else None)
        return str(ledgers[0].charge(ask("killed")))

    before = alone()
    assert forked(killed_after_its_commit) == ""
    assert alone() == before
    assert ledgers[1].head()[0] == before + 1  # the journal has it
    assert Ledger.open(SqliteStore(path), opening(100)).head()[0] == before + 1
    assert alone() == before + 1
    for ledger in ledgers:
        ledger.close()


def test_a_shorter_copy_shows_against_a_known_head(tmp_path, opening, ask):
    path, copy = tmp_path / "ledger.db", tmp_path / "copy.db"
    ledger = Ledger.open(SqliteStore(path), opening())
    ledger.charge(ask("first"))
    shutil.copyfile(path, copy)
    head = ledger.charge(ask("second"))
    ledger.close()
    with pytest.raises(Misconfigured, match="does not contain event 3"):
        Ledger.open(SqliteStore(copy), opening(), known_heads=[(head.position, head.head)])
    verdict = Ledger.open(SqliteStore(copy), opening()).verify([(head.position, head.head)])
    assert "was seen before" in str(verdict.problem)


def test_a_reader_of_an_older_state_holds_nothing_up_for_long(tmp_path, opening, ask, monkeypatch):
    """While it reads, the file lags behind; the next event after it takes everything over."""
    monkeypatch.setattr(sqlite, "_READERS", 0.02)
    path, copy = tmp_path / "ledger.db", tmp_path / "copy.db"
    ledger = Ledger.open(SqliteStore(path), opening())
    ledger.charge(ask("first"))

    def copied() -> int:
        shutil.copyfile(path, copy)
        store = SqliteStore(copy)
        try:
            return Ledger.open(store, opening()).head()[0]
        finally:
            store.close()

    with SqliteStore(path).reading() as page:
        assert page.head().position == 2
        ledger.charge(ask("second"))
        assert copied() == 2
    ledger.charge(ask("third"))
    assert copied() == 4
    ledger.close()
