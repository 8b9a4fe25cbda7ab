"""The budget, durable: a state machine as data, append-only events in a hash chain, and a pure decision.

    ledger = Ledger.open(SqliteStore("ledger.db"), opening)
    paid = ledger.charge(request)                  # Charge: go on and evaluate; Stored: show it, free
    shown = ledger.answer(paid, text)              # only this may be shown

`states` says what may follow what, `events` what is recorded, `decide` whether a request may be charged; `stores` keep
rows, `appending` writes them, `ledger` charges and answers, `administering` is the steward's, `history` tells what was
written, `verify` recomputes all of it, `keys` signs, `key_chain` says how one key follows another.
"""

from dpcurator.ledger.canonical import canonical
from dpcurator.ledger.history import Entry, key_in_force, last_version
from dpcurator.ledger.ledger import Ledger, Stored
from dpcurator.ledger.opening import Opening
from dpcurator.ledger.reading import Head
from dpcurator.ledger.store import Store
from dpcurator.ledger.stores import STORES, MemoryStore, PostgresStore, SqliteStore
from dpcurator.ledger.verify import Verdict

__all__ = [
    "STORES",
    "Entry",
    "Head",
    "Ledger",
    "MemoryStore",
    "Opening",
    "PostgresStore",
    "SqliteStore",
    "Store",
    "Stored",
    "Verdict",
    "canonical",
    "key_in_force",
    "last_version",
]
