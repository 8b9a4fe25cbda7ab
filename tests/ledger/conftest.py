"""What every ledger test starts from: a store of each kind, a catalog's opening, and requests written short."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from dpcurator.ledger import STORES, Ledger, MemoryStore, Opening, SqliteStore, Store
from dpcurator.values import Request

FIXTURES: dict[type, Callable[[Path], Store]] = {
    MemoryStore: lambda folder: MemoryStore(),
    SqliteStore: lambda folder: SqliteStore(folder / "ledger.db"),
}


@pytest.fixture(params=STORES, ids=lambda kind: kind.__name__)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    made = FIXTURES[request.param](tmp_path)
    yield made
    made.close()


@pytest.fixture
def sqlite_store(tmp_path: Path) -> Iterator[SqliteStore]:
    made = SqliteStore(tmp_path / "ledger.db")
    yield made
    made.close()


@pytest.fixture(scope="session")
def opening() -> Callable[..., Opening]:
    """`opening(epsilon="2")`: a catalog with that budget."""

    def make(epsilon: object = 1, delta: object = 0, **changes: object) -> Opening:
        base = {"protects": "patients", "neighbours": "add-remove", "units": None, "public_key": "ab" * 32}
        return Opening(epsilon=Fraction(epsilon), delta=Fraction(delta), **(base | changes))

    return make


@pytest.fixture(scope="session")
def ask() -> Callable[..., Request]:
    """`ask("n", "1/10")`: a request for plan n at epsilon 1/10."""

    def make(plan: object = "plan", epsilon: object = "1/10", delta: object = 0, **changes: object) -> Request:
        base = {"analyst": "ada", "catalog": "c" * 64, "data_version": 1, "parameters": "{}"}
        return Request(plan=str(plan), epsilon=Fraction(epsilon), delta=Fraction(delta), **(base | changes))

    return make


@pytest.fixture
def ledger(store: Store, opening: Callable[..., Opening]) -> Ledger:
    """A fresh ledger of epsilon 1, on each store in turn."""
    return Ledger.open(store, opening())


@pytest.fixture(scope="session")
def forked() -> Callable[[Callable[[], str]], str]:
    """`forked(work)`: what `work` returns in a forked child."""

    def run(work: Callable[[], str]) -> str:
        reading, writing = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # newer Pythons warn of forks among threads
            child = os.fork()
        if child == 0:
            try:
                said = work()
            except BaseException as error:
                said = f"raised {error!r}"
            os.write(writing, said.encode())
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as pipe:
            said = pipe.read()
        os.waitpid(child, 0)
        return said

    return run
