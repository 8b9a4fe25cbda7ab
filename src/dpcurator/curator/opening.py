"""`dpcurator.open`: a catalog file and what lies beside it, as a Curator.

Beside `curator.toml` is the directory `.dpcurator`: the snapshots, the ledger, the signing key. Ledger and key are made
with the first refresh; one without the other is refused, as a fresh budget under an old key would be. A new data
version is above every one that the ledger names, so that restored folders give no old answers for new data. Checked in
tests/curator/test_opening.py.
"""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from dpcurator.catalog.bind import PublicFacts, catalog_of
from dpcurator.catalog.declaration import Declaration
from dpcurator.catalog.load import ledger_server, load
from dpcurator.catalog.spark import master_of
from dpcurator.curator.curator import Curator
from dpcurator.engines import Engine, stored_engine
from dpcurator.errors import Misconfigured
from dpcurator.ledger import Ledger, Opening, PostgresStore, SqliteStore, Store, key_in_force, last_version
from dpcurator.ledger import keys as signing
from dpcurator.ledger.key_chain import Link
from dpcurator.ledger.moving import move
from dpcurator.snapshot import refresh as snapshot
from dpcurator.snapshot.refresh import Progress, match_frames
from dpcurator.snapshot.report import Report
from dpcurator.snapshot.store import SnapshotInfo, clear_leavings, named, open_snapshot

if TYPE_CHECKING:
    from dpcurator.engines.settings import Settings

LEDGER = "ledger.db"
KEY = "signing.key"
MOVING = "ledger.moving"  # there while a move makes the file: until it is done, an empty ledger is none
SPILL = "spill-"  # and a process id: a directory for what an engine cannot hold in memory


def open_curator(
    source: str | os.PathLike[str] | Mapping[str, Any], /, *, directory: Any = None, version: str | None = None,
    refresh: bool = False, **frames: Any,
) -> Curator:
    """Opens the curator of a catalog: the one way to ask questions of private tables.

    source: a path to curator.toml, or a dict of the same fields. directory: where `.dpcurator` is, for a dict (default:
    the current directory). frames: a data frame for each table that declares no source, by the table's name; they are
    copied into a new snapshot, and `curator.report` says what was read, for the steward alone.

    version: a public name for the data, as in "wave 1". The same name is the same snapshot: nothing is read again, and
    what was asked of it stays paid. A new name is new data. Without one, a snapshot that is there is used as it is, and
    a warning says that the frames were not read; refresh: read them, as new data. Whether frames are equal is not
    looked at.

    Warns (UserWarning) when not everything could be read. Raises Misconfigured if the catalog, its folder, a frame or
    the version's name cannot be used.

    >>> import tempfile
    >>> import dpcurator as dp
    >>> catalog = {
    ...     "curator": {"protects": "patients"}, "ledger": {"epsilon": 4},
    ...     "tables": {"visits": {"unit": "who", "max_total": 5, "columns": {
    ...         "who": "text", "city": {"type": "text", "keys": ["Leeds", "York"]},
    ...         "age": {"type": "integer", "bounds": [0, 110]}}}},
    ... }
    >>> visits = {"who": ["a", "b", "b"], "city": ["Leeds", "York", "York"], "age": [30, 41, 41]}
    >>> curator = dp.open(catalog, directory=tempfile.mkdtemp(), visits=visits)
    >>> curator.ask("SELECT city, COUNT(*) AS n FROM visits GROUP BY city", spend="5%").columns
    ('city', 'n')
    """
    place = None if directory is None else Path(directory)
    declaration = load(source if isinstance(source, Mapping) else Path(source), directory=place)
    report = None
    if frames:
        match_frames(declaration, frames)
        standing = _standing(declaration, version, refresh)
        if standing is None:
            report = refresh_all(declaration, frames, name=version)
        elif version is None:
            warnings.warn(
                f"the data frames were not read: data version {standing.version}, which is here, is used as it is, and "
                "what was asked of it stays paid. For new data give refresh=True, or version= with a name that no data "
                "had yet.",
                stacklevel=2,
            )
    elif refresh:
        raise Misconfigured("There is no data frame to read.", where=declaration.name,
                            cure="Give the frames, or run `dpcurator refresh` for tables with a file.")
    elif version is not None and named(declaration, version) is None:
        raise Misconfigured(f"No version {version!r} was read yet.", where=declaration.name,
                            cure="Give the data frames with it; for tables with a file, run `dpcurator refresh "
                                 f'--version "{version}"`. Or leave version out, for the data in force.')
    curator = curator_of(declaration)
    curator.report = report
    if report is not None and not report.clean:
        tables = ", ".join(table.table for table in report.tables if not table.clean())
        nothing = f" Nothing could be read of {', '.join(report.nothing_read)}." if report.nothing_read else ""
        warnings.warn(
            f"not everything in {tables} was read as declared.{nothing} For the steward: print(curator.report)",
            stacklevel=2,
        )
    return curator


def _standing(declaration: Declaration, version: str | None, again: bool) -> SnapshotInfo | None:
    """The snapshot that stands for the frames given, so that they are not read; None where they are to be read."""
    if version is not None:
        found = named(declaration, version)
        if found is not None and again:
            raise Misconfigured(f"Version {version!r} was read, and the same name is the same data.",
                                where=declaration.name, cure="Leave refresh out, or choose a new name.")
        return found
    if again:
        return None
    try:
        return open_snapshot(declaration)
    except Misconfigured:  # none yet, or made for other columns
        return None


def refresh_all(
    declaration: Declaration, frames: Mapping[str, Any] | None = None, progress: Progress | None = None, *,
    name: str | None = None,
) -> Report:
    """`refresh`, and the signing key if there is none yet. The report is for the steward alone."""
    store = store_of(declaration)
    after = last_version(store)  # of stored answers
    if declaration.spark is None:
        report = snapshot.refresh(declaration, frames, progress, after=after, name=name)
    else:
        report = _refresh_on_spark(declaration, frames, progress, after, name)
    _clear_spill(declaration.state)
    _key(declaration.state, store, make=True)
    return report


def _refresh_on_spark(
    declaration: Declaration, frames: Mapping[str, Any] | None, progress: Progress | None, after: int,
    name: str | None,
) -> Report:
    from dpcurator.engines.spark.session import spark_session
    from dpcurator.snapshot import spark_refresh

    settings = settings_of(declaration)
    session = spark_session(settings.master, settings=settings)
    return spark_refresh.refresh(declaration, session, frames, progress, after=after, name=name,
                                 here=settings.master.startswith("local"))


def settings_of(declaration: Declaration) -> Settings:
    """What an engine of this process may use. Raises Misconfigured where no master of Spark is set."""
    from dpcurator.engines.settings import Settings

    spill = declaration.state / f"{SPILL}{os.getpid()}"  # large questions use disk, beside the snapshot itself
    settings = Settings(declaration.threads, declaration.memory * 2**20, spill)
    if declaration.spark is None:
        return settings
    return replace(settings, master=master_of(declaration.spark), partitions=declaration.spark.partitions)


def _clear_spill(state: Path) -> None:
    """Remove what processes that were killed left behind."""
    for leaving in state.glob(f"{SPILL}*"):
        pid = leaving.name.removeprefix(SPILL)
        if pid.isdecimal() and not _alive(int(pid)):
            shutil.rmtree(leaving, ignore_errors=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def curator_of(declaration: Declaration) -> Curator:
    """The curator over the snapshot in force. Raises Misconfigured when there is none, or the ledger disagrees."""
    clear_leavings(declaration.state)
    _clear_spill(declaration.state)
    found = open_snapshot(declaration)
    catalog = catalog_of(declaration, found.facts)
    engines: dict[int, Engine] = {}  # by process: after a fork a child opens its own, before it charges

    def engine() -> Engine:
        mine = engines.get(os.getpid())
        if mine is not None:
            return mine
        opened = stored_engine("duckdb" if declaration.spark is None else "spark")
        return engines.setdefault(os.getpid(), opened(found.path, settings=settings_of(declaration)))

    key = key_of(declaration)
    return Curator(catalog, ledger_of(declaration, key), key, engine)


def rehearsing(
    source: Declaration | str | os.PathLike[str] | Mapping[str, Any], /, *, directory: Any = None
) -> Curator:
    """Opens a curator with nothing behind it, for rehearsals: questions are answered over made-up rows.

    It needs no data, no refresh, no ledger and no key, and makes none; asking for real raises Misconfigured. Keys from
    a public table are made up until a refresh has read them.

    source: a path to curator.toml, a dict of the same fields, or a loaded declaration. directory: where `.dpcurator`
    is, for a dict (default: the current directory). Raises Misconfigured if the catalog cannot be used.

    >>> import dpcurator as dp
    >>> catalog = {
    ...     "curator": {"protects": "patients"}, "ledger": {"epsilon": 4},
    ...     "tables": {"visits": {"unit": "who", "max_total": 5, "columns": {
    ...         "who": "text", "city": {"type": "text", "keys": ["Leeds", "York"]},
    ...         "age": {"type": "integer", "bounds": [0, 110]}}}},
    ... }
    >>> dp.rehearsing(catalog).rehearse("SELECT AVG(age) AS age FROM visits", spend="5%").made_up
    True
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from dpcurator.ledger import MemoryStore

    def nothing() -> NoReturn:
        raise Misconfigured("a rehearsal has no data.", cure="Open the curator with `dpcurator.open`.")

    place = None if directory is None else Path(directory)
    declaration = source if isinstance(source, Declaration) else load(
        source if isinstance(source, Mapping) else Path(source), directory=place
    )
    key = signing.SigningKey(Ed25519PrivateKey.generate())
    ledger = Ledger.open(MemoryStore(), opening_of(declaration, key))
    return Curator(catalog_of(declaration, _facts(declaration)), ledger, key, nothing)


def _facts(declaration: Declaration) -> PublicFacts:
    """The lists of public tables, if they were read; else made up. Of a snapshot it reads what is public alone."""
    from dpcurator.curator.rehearsal import made_up_keys

    try:
        return open_snapshot(declaration).facts
    except Misconfigured:
        pass
    columns = {(table.name, column.name): column for table in declaration.tables for column in table.columns}
    return PublicFacts(0, tuple(
        ((wanted.public_table, wanted.public_column), made_up_keys(columns[wanted.table, wanted.column]))
        for wanted in declaration.public_keys
    ))


def ledger_of(declaration: Declaration, key: signing.SigningKey) -> Ledger:
    """A catalog's ledger; needs no snapshot."""
    return Ledger.open(store_of(declaration), opening_of(declaration, key))


def store_of(declaration: Declaration) -> Store:
    """Where a catalog's ledger is: a file beside the catalog, or the server that it names."""
    named = declaration.ledger
    if named is None:
        return SqliteStore(declaration.state / LEDGER)
    return PostgresStore(named.dsn, schema=named.schema)


@dataclass(frozen=True, slots=True)
class Moved:
    """A ledger at its new place: its last event there, both places as messages name them, and the catalog's field."""

    position: int
    head: str
    old: str
    new: str
    store: str  # to write under [ledger]; "" for a file beside the catalog


def move_ledger(
    declaration: Declaration, to: tuple[str, str] | None, seen: Callable[[int, int], None] | None = None
) -> Moved:
    """Copies a catalog's ledger to a server's (dsn, schema), or to the file beside the catalog, and seals the old one.

    Raises Misconfigured where either place cannot be used; no charge is lost then, and the same call again goes on.
    """
    server = None if to is None else ledger_server(*to)
    key, old, new = key_of(declaration), store_of(declaration), store_of(replace(declaration, ledger=server))
    ledger = Ledger.open(old, opening_of(declaration, key))
    marker = declaration.state / MOVING
    if server is None and not new.exists():
        _mark(marker)
    position, head = move(ledger, old, new, seen=seen)
    marker.unlink(missing_ok=True)
    written = "" if server is None else f'store = {{ postgres = "{server.dsn}", schema = "{server.schema}" }}'
    return Moved(position, head, old.place, new.place, written)


def _mark(marker: Path) -> None:
    """Durable before the file is made."""
    try:
        marker.touch()
        directory = os.open(marker.parent, os.O_RDONLY)
    except PermissionError:  # Windows opens no directory; where nothing may be written, the move says so
        return
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def opening_of(declaration: Declaration, key: signing.SigningKey) -> Opening:
    """What the ledger's first event records."""
    return Opening(
        protects=declaration.protects,
        neighbours=declaration.neighbours,
        units=declaration.units,
        epsilon=declaration.epsilon,
        delta=declaration.delta,
        public_key=key.public,
        owners=tuple((table.name, table.unit) for table in declaration.tables if table.unit is not None),
        rho=declaration.rho,
    )


def _key(state: Path, store: Store, *, make: bool) -> signing.SigningKey:
    path, shared = state / KEY, isinstance(store, PostgresStore)
    if path.exists():
        if not store.exists():
            raise Misconfigured(
                "The signing key is here and its ledger is not: what was spent under it would be forgotten.",
                where=store.place,
                cure="Take store out of [ledger], run `dpcurator ledger move --to` with its server, and write it back."
                if shared and (state / LEDGER).exists() else
                f"Restore the ledger from a backup. If no question was ever asked here, remove {KEY} instead and "
                "run `dpcurator refresh`.",
            )
        if not shared and (state / MOVING).exists():
            with store.reading() as page:
                if page.head() is None:
                    raise Misconfigured(
                        "The ledger's move to this file was cut short: what was spent before would be forgotten.",
                        where=store.place,
                        cure="Write store back under [ledger], and run `dpcurator ledger move --to file` again.",
                    )
        return _in_force(path, signing.load(path), store)
    with store.reading() as page:
        begun = page.head() is not None
    if begun:
        raise Misconfigured(
            "The ledger is here and its signing key is not.", where=str(path),
            cure="Restore the key from a backup" + (", or copy it from the machine that opened the ledger."
                                                     if shared else "."),
        )
    if not make:
        raise Misconfigured("There is no signing key yet.", where=str(path), cure="Run `dpcurator refresh`.")
    (state / MOVING).unlink(missing_ok=True)
    with store.writing():
        pass  # an empty ledger, made before the key: a key is never without one
    store.close()
    try:
        return signing.create(path)
    except Misconfigured:
        if path.exists():  # another refresh made it at the same moment
            return signing.load(path)
        raise


def _in_force(path: Path, key: signing.SigningKey, store: Store) -> signing.SigningKey:
    """The key at this path; or, where a rotation was cut short after the ledger had it, the next one, in its place."""
    for file in signing.waiting(path):
        try:
            following = signing.load(file)
        except Misconfigured:
            if os.path.exists(file):
                raise
            return signing.load(path)  # another process has just put it there
        if key_in_force(store) == following.public:
            signing.succeed(file, path)
            return following
    return key


def rotate_key(declaration: Declaration) -> Link:
    """Draws a new signing key, and gives up the old one for it: a link of the ledger's, signed by both.

    Cut short anywhere, the ledger has the one or the other key in force, and that one is here; the same call again
    draws another. Raises Misconfigured.
    """
    path, store = declaration.state / KEY, store_of(declaration)
    key_of(declaration)  # there is one
    with _alone(declaration.state):
        old = key_of(declaration)
        ledger, before = Ledger.open(store, opening_of(declaration, old)), signing.waiting(path)
        new, file = signing.create_next(path)
        try:
            link = ledger.rotate(old, new)
        except Misconfigured:
            with suppress(Misconfigured):  # where it cannot be told, the file stays
                if key_in_force(store, settled=True) != new.public:  # a commit whose reply was lost is one all the same
                    Path(file).unlink(missing_ok=True)
            raise
        signing.succeed(file, path)
        for file in before:  # of rotations that were cut short: the ledger has none of these, and none of them follows
            Path(file).unlink(missing_ok=True)
    store.close()
    return link


@contextmanager
def _alone(state: Path) -> Iterator[None]:
    """One rotation at a time beside a catalog: another's key that is not yet in force must not be taken for a leaving.
    """
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    directory = os.open(state, os.O_RDONLY)
    try:
        fcntl.flock(directory, fcntl.LOCK_EX)
        yield
    finally:
        os.close(directory)


def key_of(declaration: Declaration) -> signing.SigningKey:
    """The signing key beside a catalog. Raises Misconfigured when there is none yet."""
    store = store_of(declaration)
    try:
        return _key(declaration.state, store, make=False)
    finally:
        store.close()
