"""A small clinic to ask questions of, through the public API, for laws and attacks.

`opened(directory, rows)` is `dpcurator.open` with a catalog dict and a frame made of rows; `CATALOG` may be changed a
part at a time with `catalog(max_rows=..., columns={...})`. `Fixed` entropy and `steady` clocks are for comparing what
two curators show: they are given to objects of this package here, in tests, and the package itself takes no seed.
"""

from __future__ import annotations

import copy
import itertools
import json
import os
import tempfile
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

import dpcurator as dp
from dpcurator.curator.opening import LEDGER, _key
from dpcurator.engines import stored_engine
from dpcurator.entropy import SystemEntropy
from dpcurator.ledger import Ledger, SqliteStore
from dpcurator.standalone import verify as standalone

NAMES = ("who", "city", "age", "gain", "seen", "day", "dose")
CATALOG: dict[str, Any] = {
    "curator": {"protects": "people"},
    "ledger": {"epsilon": 10},
    "tables": {
        "visits": {
            "unit": "who", "max_rows": 2, "max_groups": 1,
            "columns": {
                "who": "text", "city": {"type": "text", "keys": ["Leeds", "York", "Hull"]},
                "age": {"type": "integer", "bounds": [0, 100]}, "gain": {"type": "float", "bounds": [-1.5, 2.5]},
                "seen": "boolean", "day": {"type": "date", "keys": ["2024-02-29"]},
                "dose": {"type": "float", "keys": [0.0, 1.5], "keys_include_missing": True},
            },
        }
    },
}
ROWS: list[tuple[Any, ...]] = [
    (f"p{n // 2}", ("Leeds", "York", "Hull", "Bath", None)[n % 5], n % 97, n / 10 - 1, n % 3 == 0, "2024-02-29",
     (0.0, 1.5, None)[n % 3])
    for n in range(40)
]
COUNT = "SELECT COUNT(*) AS n FROM visits"
MOST = 16  # snapshots kept, of a megabyte each
_READ: dict[str, tuple[dict[str, bytes], Any]] = {}
_ENGINES: dict[tuple[str, int], Any] = {}  # over them, by process


def catalog(**changes: Any) -> dict[str, Any]:
    """CATALOG with changed fields: epsilon, protects, columns (merged), or any field of the table (None removes it)."""
    made = copy.deepcopy(CATALOG)
    table = made["tables"]["visits"]
    for name, value in changes.items():
        if name in ("epsilon", "delta"):
            made["ledger"][name] = value
        elif name in ("protects", "neighbours"):
            made["curator"][name] = value
        elif name == "columns":
            table["columns"] |= value
        elif value is None:
            table.pop(name, None)
        else:
            table[name] = value
    return made


def frame(rows: list[tuple[Any, ...]]) -> dict[str, list[Any]]:
    return {name: [row[j] for row in rows] for j, name in enumerate(NAMES)}


def opened(directory: Path, rows: list[tuple[Any, ...]] | None = None, **changes: Any) -> dp.Curator:
    """A curator over a new snapshot of these rows; the ledger stays whatever it was. Its answers
    tell of no cut: those that do are those of tests/curator/test_cut.py.

    In a new directory, rows that were read before are not read again: the same files of the snapshot are put there, and
    the key and the ledger are new, and all of them share one engine. Not where keys are unknown, whose salt is each
    snapshot's own.
    """
    directory.mkdir(exist_ok=True)
    told, read = catalog(**changes), ROWS if rows is None else rows
    state, name = directory / ".dpcurator", repr((told, read))
    new = not state.exists()
    if new and name in _READ:
        files, report = _READ[name]
        state.mkdir(0o700)
        for file, content in files.items():
            (state / file).write_bytes(content)
            (state / file).chmod(0o600)
        _key(state, SqliteStore(state / LEDGER), make=True)
        curator = dp.open(told, directory=directory)
        curator.report, curator.cut = report, False
        curator.engine = lambda: _engine(name, files)
        return curator
    curator = dp.open(told, directory=directory, visits=frame(read), refresh=True)
    curator.cut = False
    if new and "unknown" not in name and curator.report is not None and curator.report.clean:
        if len(_READ) >= MOST:
            gone = next(iter(_READ))
            del _READ[gone]
            _ENGINES.pop((gone, os.getpid()), None)
        kept = [path for path in state.iterdir() if path.name.startswith((".gitignore", "facts", "snapshot"))]
        _READ[name] = {path.name: path.read_bytes() for path in kept}, curator.report
    return curator


def _engine(name: str, files: dict[str, bytes]) -> Any:
    """One engine for all curators over the same rows: opening one takes some 25 ms."""
    if (name, os.getpid()) not in _ENGINES:
        with tempfile.TemporaryDirectory() as place:
            (snapshot,) = [file for file in files if file.endswith(".duckdb")]
            (Path(place) / snapshot).write_bytes(files[snapshot])
            _ENGINES[name, os.getpid()] = stored_engine()(Path(place) / snapshot)
    return _ENGINES[name, os.getpid()]


class Fixed:
    """The same bits every time. It calls itself releasable so that the whole path can be compared."""

    releasable = True

    def __init__(self, seed: int = 1) -> None:
        self.bytes = np.random.default_rng(seed)

    def words(self, n: int) -> Any:
        return self.bytes.integers(0, 2**64, n, dtype=np.uint64)

    def bits(self, k: int) -> int:
        length = (k + 7) // 8
        return int.from_bytes(self.bytes.bytes(length), "big") >> (8 * length - k)


def steady(curator: dp.Curator, seed: int = 1) -> dp.Curator:
    """The same curator with fixed noise, clock and random names."""
    ticks, names = itertools.count(), itertools.count()
    old = curator.ledger
    ledger = Ledger(
        old._store, old._opening,
        clock=lambda: f"2026-01-01T00:00:{next(ticks):02}.000000Z", random_id=lambda: f"{next(names):032x}",
    )
    return replace(curator, ledger=ledger, entropy=Fixed(seed))


CITY = "SELECT city, COUNT(*) AS n FROM visits GROUP BY city"


class Counted(SystemEntropy):
    """Real entropy that says how often it was asked."""

    __slots__ = ("asked",)

    def __init__(self) -> None:
        self.asked = 0

    def words(self, n):
        self.asked += 1
        return super().words(n)

    def bits(self, k):
        self.asked += 1
        return super().bits(k)


def holds(curator: dp.Curator, answer: dp.Answer, others: list | None = None) -> None:
    """Both verifiers find the printed answer and its receipt right, beside the ledger and by itself."""
    found = dp.verify(answer.receipt, catalog=curator.catalog, ledger=curator.ledger, answer=answer.as_json())
    assert found.holds, found
    steps = standalone.file_steps(json.dumps(answer.as_json()).encode(), curator.key.public, None, others or [])
    assert all(step[1] for step in steps), steps


def spent(curator: dp.Curator) -> Fraction:
    return curator.budget().spent


VARIANTS = {
    "order": CITY + " ORDER BY n DESC", "limit": CITY + " LIMIT 1", "having": CITY + " HAVING COUNT(*) > 2",
    "alias": "SELECT city AS place, COUNT(*) AS visits FROM visits GROUP BY city",
    "column order": "SELECT COUNT(*) AS n, city FROM visits GROUP BY city",
    "round": "SELECT city, ROUND(COUNT(*), -1) AS n FROM visits GROUP BY city",
    "arithmetic": "SELECT city, 2 * COUNT(*) + 1 AS n FROM visits GROUP BY city",
    "without the key": "SELECT COUNT(*) AS n FROM visits GROUP BY city",
}
