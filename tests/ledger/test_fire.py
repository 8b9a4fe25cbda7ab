"""All at once: threads, processes and forks charge one ledger that has money for a few of them. Nobody gets more.

The participants are started once and meet in every round; half the rounds begin with no file at all, so that creating
the ledger is fought over too. (Attack 18: a budget kept in memory or checked before it is written admitted 9 to 26.)
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from postgres_server import pooled
from power import Run

from dpcurator.errors import Misconfigured, OverBudget
from dpcurator.ledger import Ledger, MemoryStore, Opening, PostgresStore, SqliteStore

WORKER = Path(__file__).with_name("worker.py")
PROCESSES = 8 if Run.whole else 2
CROWD = {"threads": (32, 0), "forks": (1, 4), **{f"process {n}": (1, 0) for n in range(PROCESSES)}}  # threads, forks
HEADS = 32 + 1 + 4 + PROCESSES


class Participant:
    def __init__(self, threads: int, forks: int) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(WORKER), "fire", str(threads), str(forks)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )

    def tell(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def hear(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def end(self) -> None:
        self.process.communicate(timeout=60)


@pytest.fixture(scope="module")
def crowd() -> Iterator[dict[str, Participant]]:
    participants = {name: Participant(*size) for name, size in CROWD.items()}
    yield participants
    for participant in participants.values():
        participant.end()


def meet(crowd: dict[str, Participant], *, currency: str = "epsilon", **task: object) -> tuple[int, int]:
    """(admitted, refused) over all participants, who start together."""
    participants, task = list(crowd.values()), task | {"currency": currency}
    for participant in participants:
        participant.tell(json.dumps(task))
    assert [participant.hear() for participant in participants] == ["ready"] * len(participants)
    for participant in participants:
        participant.tell("go")
    outcomes = [tuple(map(int, participant.hear().split())) for participant in participants]
    return sum(yes for yes, _ in outcomes), sum(no for _, no in outcomes)


@pytest.mark.parametrize("round_", range(50))
def test_a_budget_for_two_admits_two_of_all(round_, crowd, tmp_path, opening, ask):
    path = tmp_path / "ledger.db"
    ledger = Ledger.open(SqliteStore(path), opening(1))
    if round_ % 2:
        ledger.close_after_fault()
        ledger.reopen()
    admitted = meet(crowd, path=str(path), price="1/2", total="1", round=round_)
    assert admitted == (2, HEADS - 2)
    assert ledger.budget().remaining == 0
    assert ledger.verify().sound
    ledger.close()


@pytest.mark.parametrize("round_", [0, 1, *(pytest.param(n, marks=pytest.mark.slow) for n in range(2, 50))])
def test_on_a_server_a_budget_for_two_admits_two_of_all(round_, crowd, postgres_store, opening):
    ledger = Ledger.open(postgres_store, opening(1))
    if round_ % 2:
        ledger.close_after_fault()
        ledger.reopen()
    path = postgres_store.place.replace(", schema", "") + " " + os.environ["LEDGER_DSN"]
    assert meet(crowd, path=path, price="1/2", total="1", round=f"server {round_}") == (2, HEADS - 2)
    assert ledger.budget().remaining == 0
    assert ledger.verify().sound


@pytest.mark.slow
@pytest.mark.parametrize("round_", range(10))
def test_through_a_pool_a_budget_for_two_admits_two_of_all(round_, crowd, schema, ledger_server, opening):
    with pooled(ledger_server) as pool:
        there = f"env:LEDGER_DSN {schema} {pool.dsn()}"
        assert meet(crowd, path=there, price="1/2", total="1", round=f"pool {round_}") == (2, HEADS - 2)
        ledger = Ledger.open(PostgresStore("env:LEDGER_DSN", schema=schema), opening(1))
        assert ledger.budget().remaining == 0
        assert ledger.verify().sound
        ledger.close()


@pytest.mark.parametrize("counted", ["epsilon", "rho"])
def test_case_bud_03_ten_of_many_at_a_tenth(counted, crowd, tmp_path):
    path = tmp_path / "ledger.db"
    told = meet(crowd, path=str(path), price="0.1", total="1", round="BUD-03", currency=counted)
    assert told == (10, HEADS - 10)
    totals = {"epsilon": Fraction(0), "delta": Fraction(counted == "rho", 10**12), counted: Fraction(1)}
    ledger = Ledger.open(SqliteStore(path), Opening("patients", "add-remove", None, public_key="ab" * 32, **totals))
    assert (ledger.budget().currency, ledger.budget().spent) == (counted, Fraction(1))
    assert ledger.verify().sound
    ledger.close()


def test_the_crowd_really_competes(crowd, tmp_path, opening):
    """The control: with money for all, all are admitted, so no one was missing above."""
    path = tmp_path / "ledger.db"
    assert meet(crowd, path=str(path), price="1/2", total="100", round="control") == (HEADS, 0)


@pytest.mark.parametrize("store", [MemoryStore, None], ids=["memory", "sqlite"])
@pytest.mark.parametrize("round_", range(5))
def test_50_threads_of_one_process(round_, store, tmp_path, opening, ask):
    import threading

    ledger = Ledger.open(store() if store else SqliteStore(tmp_path / "ledger.db"), opening(1))
    barrier, admitted = threading.Barrier(50), []

    def charge(n: int) -> None:
        barrier.wait()
        try:
            admitted.append(ledger.charge(ask(n, "0.1")))
        except OverBudget:
            return

    threads = [threading.Thread(target=charge, args=(n,)) for n in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(admitted) == 10
    assert ledger.budget().remaining == 0
    assert ledger.verify().sound
    ledger.close()


def test_a_ledger_in_memory_does_not_cross_a_fork(opening, ask, forked: Callable[[Callable[[], str]], str]):
    ledger = Ledger.open(MemoryStore(), opening(1))
    ledger.charge(ask())

    def child() -> str:
        try:
            ledger.charge(ask("other"))
        except Misconfigured as refused:
            return refused.what
        return "charged"

    assert "forked process" in forked(child)


def test_parent_and_child_use_one_ledger_after_a_fork(sqlite_store, opening, ask, forked):
    ledger = Ledger.open(sqlite_store, opening(1))
    ledger.charge(ask("before", "1/4"))
    assert forked(lambda: str(ledger.charge(ask("child", "1/4")).spent)) == "1/2"
    assert ledger.charge(ask("parent", "1/4")).spent == Fraction(3, 4)
    assert forked(lambda: forked(lambda: str(ledger.charge(ask("grandchild", "1/4")).spent))) == "1"
    assert ledger.budget().remaining == 0
    assert ledger.verify().sound
