"""Where events are kept: the files of `store.Store`.

To add a store: write its file, add it to STORES, give it a fixture in tests/ledger/conftest.py; the conformance suite
(tests/ledger/test_stores.py) then holds it to that protocol, and the fire tests to its word.
"""

from __future__ import annotations

from dpcurator.ledger.stores.memory import MemoryStore
from dpcurator.ledger.stores.postgres import PostgresStore
from dpcurator.ledger.stores.sqlite import SqliteStore

STORES: tuple[type[MemoryStore | SqliteStore | PostgresStore], ...] = (MemoryStore, SqliteStore, PostgresStore)

__all__ = ["STORES", "MemoryStore", "PostgresStore", "SqliteStore"]
