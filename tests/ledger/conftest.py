"""What every ledger test starts from: a store of each kind, a catalog's opening, and requests written short."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import count
from pathlib import Path

import pytest
from postgres_server import PostgresServer

from dpcurator.ledger import STORES, Ledger, MemoryStore, Opening, PostgresStore, SqliteStore, Store
from dpcurator.values import Request

FIXTURES: dict[type, Callable[[pytest.FixtureRequest], Store]] = {
    MemoryStore: lambda request: MemoryStore(),
    SqliteStore: lambda request: SqliteStore(request.getfixturevalue("tmp_path") / "ledger.db"),
    PostgresStore: lambda request: PostgresStore("env:LEDGER_DSN", schema=request.getfixturevalue("schema")),
}


@pytest.fixture(params=STORES, ids=lambda kind: kind.__name__)
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    made = FIXTURES[request.param](request)
    yield made
    made.close()


@pytest.fixture(scope="session")
def ledger_server(postgres: PostgresServer) -> PostgresServer:
    """A server that keeps what it says it has kept."""
    postgres.durable()
    return postgres


_schemas = count()


@pytest.fixture
def schema(ledger_server: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a schema that is not there yet, in the database that LEDGER_DSN names."""
    monkeypatch.setenv("LEDGER_DSN", ledger_server.dsn())
    return f"ledger_{next(_schemas)}"


@pytest.fixture
def postgres_store(schema: str) -> Iterator[PostgresStore]:
    made = PostgresStore("env:LEDGER_DSN", schema=schema)
    yield made
    made.close()


@pytest.fixture
def sqlite_store(tmp_path: Path) -> Iterator[SqliteStore]:
    made = SqliteStore(tmp_path / "ledger.db")
    yield made
    made.close()


@pytest.fixture(scope="module")
def currency() -> str:
    """What `opening` and `ask` count in. See tests/support/currencies.py."""
    return "epsilon"


@pytest.fixture(scope="module")
def opening(currency: str) -> Callable[..., Opening]:
    """`opening("2")`: a catalog with that budget, and with a delta where the currency needs one."""

    def make(whole: object = 1, delta: object = 0, **changes: object) -> Opening:
        base = {"protects": "patients", "neighbours": "add-remove", "units": None, "public_key": "ab" * 32}
        totals = {"epsilon": Fraction(0), currency: Fraction(whole)}
        least = Fraction(1, 10**12) if currency == "rho" else Fraction(0)
        return Opening(delta=Fraction(delta) or least, **(base | totals | changes))

    return make


@pytest.fixture(scope="module")
def ask(currency: str) -> Callable[..., Request]:
    """`ask("n", "1/10")`: a request for plan n at a price of 1/10."""

    def make(plan: object = "plan", price: object = "1/10", delta: object = 0, **changes: object) -> Request:
        base = {"analyst": "ada", "catalog": "c" * 64, "data_version": 1, "parameters": "{}"}
        amounts = {"epsilon": Fraction(0), "delta": Fraction(delta), currency: Fraction(price)}
        return Request(plan=str(plan), **(base | amounts | changes))

    return make


@pytest.fixture
def ledger(store: Store, opening: Callable[..., Opening]) -> Ledger:
    """A fresh ledger with a budget of 1, on each store in turn."""
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
