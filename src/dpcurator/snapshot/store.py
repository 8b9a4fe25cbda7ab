"""Where snapshots are kept: `.dpcurator/snapshot-NNNN.duckdb`, and `facts.json`, which says which one is in force.

Physical names. Table i of the catalog is `t{i}`, its column j is `c{j}`, as BIGINT, DOUBLE or VARCHAR; a user's
spelling never becomes an SQL name. A column after those has numbers for units that are texts, of which `codes` and
`units` tell (`snapshot.codes`). The table `meta` holds format, version and schema fingerprint; `files`, what is
known of files of append-only tables (`snapshot.appending`); `kinds`, which types the sources' columns had.

Atomicity. A snapshot is written under a temporary name, synced, renamed, and only then named by `facts.json`, which is
itself replaced atomically. A crash at any point leaves the previous snapshot in force; its leavings are cleared by the
next refresh. The previous snapshot is kept for questions that are being answered.

Checked in tests/snapshot/test_store.py, which stops a refresh at every step.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

from dpcurator.catalog.bind import PublicFacts, json_value, schema_fingerprint, value_of_json
from dpcurator.catalog.declaration import Declaration
from dpcurator.catalog.duckdb_options import quoted, write_down
from dpcurator.catalog.model import Kind, Table
from dpcurator.errors import Misconfigured
from dpcurator.snapshot.codes import code_of
from dpcurator.snapshot.kinds import remembered
from dpcurator.values import read_json

FORMAT: Final = 1
SQL_TYPES: Final[dict[Kind, str]] = {"integer": "BIGINT", "float": "DOUBLE", "text": "VARCHAR"}
_VERSION = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9 ._-]{0,78}[A-Za-z0-9._-])?")
_NAME = re.compile(r"snapshot-(\d{4,})\.duckdb")
_DATASET = re.compile(r"v\d{4,}-[0-9a-f]{8}")
_CURE = "Run `dpcurator refresh`."


@dataclass(frozen=True, slots=True)
class PhysicalTable:
    """A declared table and its name in the snapshot; column j of `columns` is held as `c{j}`."""

    name: str
    physical: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SnapshotInfo:
    """The snapshot in force: open `path` read-only. It is a DuckDB file or, for Spark, the directory of a dataset."""

    path: Path
    version: int
    facts: PublicFacts
    tables: tuple[PhysicalTable, ...]
    name: str | None = None  # the steward's public name of the version, if it has one


def physical_tables(declaration: Declaration) -> tuple[PhysicalTable, ...]:
    """The tables in catalog order, with their physical names."""
    return tuple(
        PhysicalTable(table.name, f"t{i}", tuple(column.name for column in table.columns))
        for i, table in enumerate(declaration.tables)
    )


def open_snapshot(declaration: Declaration) -> SnapshotInfo:
    """The snapshot in force. Raises Misconfigured when there is none, or when it was made for other declarations."""
    found = recorded(declaration.state)
    if found is None:
        raise Misconfigured("There is no snapshot of the data yet.", where=declaration.name, cure=_CURE)
    dataset, wanted = found.get("dataset"), "duckdb" if declaration.spark is None else "spark"
    if (dataset is None) != (declaration.spark is None):
        raise Misconfigured(f"The snapshot was made for another engine than {wanted}.", where=declaration.name,
                            cure=_CURE)
    path = declaration.state / f"snapshot-{found['version']:04d}.duckdb"
    if dataset is not None:
        path = declaration.datasets / dataset
    if not (path.is_file() if dataset is None else path.is_dir()):
        raise Misconfigured("The snapshot in force is gone.", where=f"{path.parent.name}/{path.name}", cure=_CURE)
    facts = _public(found)  # of the same reading: a refresh may publish in between
    unread = any(facts.of(keys.public_table, keys.public_column) is None for keys in declaration.public_keys)
    if found["fingerprint"] != schema_fingerprint(declaration) or unread:
        raise Misconfigured(
            "The snapshot was made for other tables, columns, types or public keys than are declared now.",
            where=declaration.name,
            cure=_CURE,
        )
    return SnapshotInfo(path, facts.version, facts, physical_tables(declaration), found.get("name"))


def named(declaration: Declaration, name: object) -> SnapshotInfo | None:
    """The snapshot of that name where it is in force; None where the name is new. The same name is the same snapshot.

    A name is a public word of the steward's. Whether two snapshots hold equal rows is never looked at (semantics 1.6).
    Raises Misconfigured for what is no name, and for the name of a snapshot that is gone or was made for other columns.
    """
    if not isinstance(name, str) or not _VERSION.fullmatch(name):
        raise Misconfigured("The name of a version is 1 to 80 letters, digits, spaces, dots, dashes or underscores.",
                            where=declaration.name, cure="Give a name as in 2026-w48.")
    found = recorded(declaration.state) or {}
    if name not in found.get("names", {}):
        return None
    new = "Choose a new name: the same name is the same data."
    if found.get("name") != name:
        raise Misconfigured(f"Version {name!r} was read before, and another one is in force since.",
                            where=declaration.name, cure=f"Leave it out, for the data in force; or for new data: {new}")
    try:
        return open_snapshot(declaration)
    except Misconfigured as why:
        raise Misconfigured(f"Version {name!r} cannot be used: {why.what}", where=declaration.name, cure=new) from None


def public_facts(declaration: Declaration) -> PublicFacts:
    """The public facts of the last refresh; version 0 when there was none. Raises Misconfigured if unreadable."""
    found = recorded(declaration.state)
    return PublicFacts() if found is None else _public(found)


def _public(found: dict[str, Any]) -> PublicFacts:
    keys = tuple(
        ((entry["table"], entry["column"]), tuple(value_of_json(value) for value in entry["values"]))
        for entry in found["keys"]
    )
    unique = frozenset((entry["table"], entry["column"]) for entry in found["keys"] if entry.get("unique") is True)
    most = tuple(((entry["table"], entry["column"]), int(entry["rows"])) for entry in found.get("most", []))
    ends = tuple(((entry["table"], entry["column"]), (Fraction(entry["ends"][0]), Fraction(entry["ends"][1])))
                 for entry in found.get("most", []) if "ends" in entry)
    return PublicFacts(found["version"], keys, unique, most, ends)


def recorded(state: Path) -> dict[str, Any] | None:
    """What the last refresh has recorded, all of it public; None where there was none. Raises Misconfigured."""
    try:
        found = read_json((state / "facts.json").read_text("utf-8"))
        usable = found["format"] == FORMAT and isinstance(found["version"], int) and isinstance(found["keys"], list)
        usable = usable and isinstance(found.get("names", {}), dict)
        usable = usable and _DATASET.fullmatch(found.get("dataset", "v0000-00000000")) is not None
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError):
        usable = False
    if not usable:
        raise Misconfigured("The record of the last refresh cannot be read.", where=".dpcurator/facts.json",
                            cure="Move the file away, then run `dpcurator refresh`.")
    return dict(found)


def definition(table: Table) -> str:
    """The columns of a stored table and their types."""
    columns = [f"c{j} {SQL_TYPES[column.kind]}" for j, column in enumerate(table.columns)]
    code = code_of(table)
    return ", ".join(columns if code is None else [*columns, f"{code} BIGINT"])


D = TypeVar("D", bound="Drafted")


class Draft:
    """A snapshot being written: nothing sees it until `publish`, and leaving without that removes it."""

    def __init__(self, declaration: Declaration, after: int = 0) -> None:
        import duckdb

        self.declaration, self.state = declaration, declaration.state
        self.write_errors = (duckdb.Error, OSError)  # their text may quote a cell, so it goes no further
        before = recorded(self.state)
        self.previous: int = before["version"] if before else 0
        self.names: dict[str, int] = before.get("names", {}) if before else {}
        taken = [int(found[1]) for entry in self.state.iterdir() if (found := _NAME.fullmatch(entry.name))]
        self.version = max([self.previous, after, *taken]) + 1
        _clear(self.state)
        self.path = self.state / f"draft-{self.version:04d}.duckdb"
        self.connection = write_down(duckdb.connect(str(self.path.absolute())))
        self.path.chmod(0o600)
        spill = quoted(str((self.state / f"draft-{self.version:04d}.spill").absolute()))  # cleared with the draft
        self.connection.execute(f"SET temp_directory = {spill}")
        self.connection.execute("SET checkpoint_threshold = '1 GiB'")  # one checkpoint, at the end
        self.connection.execute(f"SET threads = {declaration.threads:d}")
        self.connection.execute(f"SET memory_limit = '{declaration.memory:d} MiB'")
        self.connection.execute("CREATE TABLE meta (format INTEGER, version INTEGER, fingerprint VARCHAR)")
        self.connection.execute(
            "INSERT INTO meta VALUES (?, ?, ?)", [FORMAT, self.version, schema_fingerprint(declaration)]
        )
        self.connection.execute(
            "CREATE TABLE files (t INTEGER, reading VARCHAR, place VARCHAR, size BIGINT, digest VARCHAR, names VARCHAR)"
        )
        remembered(self.connection, self.state / f"snapshot-{self.previous:04d}.duckdb")
        for i, table in enumerate(declaration.tables):
            self.connection.execute(f"CREATE TABLE t{i} ({definition(table)})")

    def publish(
        self, keys: list[tuple[tuple[str, str], tuple[Any, ...]]], name: str | None = None,
        most: Mapping[tuple[str, str], int] | None = None,
        ends: Mapping[tuple[str, str], tuple[str, str]] | None = None,
    ) -> None:
        """Put the snapshot in force. name: what the steward calls this version. most: in how many rows a value of a
        public column is, at most; ends: its least and greatest number, in digits."""
        self.connection.execute("CHECKPOINT")
        self.connection.close()
        sync(self.path)
        os.replace(self.path, self.state / f"snapshot-{self.version:04d}.duckdb")
        sync(self.state)
        names = self.names if name is None else self.names | {name: self.version}
        put_in_force(self.declaration, self.version, keys, most or {}, ends or {}, {"name": name, "names": names})
        for entry in self.state.iterdir():
            found = _NAME.fullmatch(entry.name)
            if found and int(found[1]) not in (self.version, self.previous):
                entry.unlink(missing_ok=True)

    def discard(self) -> None:
        """Close and remove what was not published."""
        self.connection.close()
        _clear(self.state)


def put_in_force(
    declaration: Declaration, version: int, keys: list[tuple[tuple[str, str], tuple[Any, ...]]],
    most: Mapping[tuple[str, str], int], ends: Mapping[tuple[str, str], tuple[str, str]], more: Mapping[str, Any],
) -> None:
    """Name a snapshot that is whole on the disk as the one in force, by one rename. more: what else is recorded."""
    facts = {
        "format": FORMAT,
        "version": version,
        "fingerprint": schema_fingerprint(declaration),
        "keys": [
            {"table": table, "column": column, "values": [json_value(value) for value in values]}
            | ({"unique": True} if most.get((table, column)) == 1 else {})
            for (table, column), values in keys
        ],
        "most": [
            {"table": table, "column": column, "rows": n}
            | ({"ends": list(ends[table, column])} if (table, column) in ends else {})
            for (table, column), n in most.items()
        ],
        **more,
    }
    draft = declaration.state / "draft-facts.json"
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(json.dumps(facts))
        file.flush()
        os.fsync(file.fileno())
    os.replace(draft, declaration.state / "facts.json")
    sync(declaration.state)


def clear_leavings(state: Path) -> None:
    """Remove what a refresh that was killed has left, unless one is running."""
    if not any(state.glob("draft-*")):
        return
    with contextlib.suppress(OSError, Misconfigured):
        lock = os.open(state / "refresh.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _hold(lock)
            _clear(state)
        finally:
            os.close(lock)


def _clear(state: Path) -> None:
    """Remove what an unfinished refresh has left: files, and the directory in which DuckDB spills."""
    for leaving in state.glob("draft-*"):
        if leaving.is_dir():
            shutil.rmtree(leaving, ignore_errors=True)
        else:
            leaving.unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Let a file, or the names in a directory, outlast a loss of power."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _ignore_itself(state: Path) -> None:
    """Key, ledger and rows are in this folder: no `git add .` takes them along."""
    ignoring = state / ".gitignore"
    if not ignoring.exists():
        ignoring.write_text("*\n", encoding="ascii")
        ignoring.chmod(0o600)


class Drafted(Protocol):
    """What a refresh fills."""

    @property
    def write_errors(self) -> tuple[type[Exception], ...]:
        """Errors of a disk, whose text may quote a cell."""

    def discard(self) -> None: ...


@contextlib.contextmanager
def drafting(declaration: Declaration, after: int = 0) -> Iterator[Draft]:
    """A draft in the state directory, by one refresh at a time. Raises Misconfigured when another is running."""
    with alone(declaration, lambda: Draft(declaration, after)) as draft:
        yield draft


@contextlib.contextmanager
def alone(declaration: Declaration, begin: Callable[[], D]) -> Iterator[D]:
    """What `begin` makes, by one refresh at a time; it is discarded at the end. Raises Misconfigured when another is
    running."""
    try:
        declaration.state.mkdir(mode=0o700, parents=True, exist_ok=True)
        declaration.state.chmod(0o700)
        _ignore_itself(declaration.state)
        lock = os.open(declaration.state / "refresh.lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError:
        raise Misconfigured("The directory .dpcurator cannot be written.", where=declaration.name,
                            cure="Check the permissions beside the catalog file.") from None
    try:
        _hold(lock)
        draft = begin()
        try:
            yield draft
        except draft.write_errors:
            raise Misconfigured("The snapshot cannot be written.", where=".dpcurator",
                                cure="Check the disk; the snapshot before stays in force.") from None
        finally:
            draft.discard()
    finally:
        os.close(lock)  # and with it the lock


def _hold(lock: int) -> None:
    try:
        import fcntl
    except ImportError:  # not POSIX: two refreshes at once are then the steward's to avoid
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise Misconfigured("Another refresh is running.", where=".dpcurator", cure="Wait for it to end.") from None
