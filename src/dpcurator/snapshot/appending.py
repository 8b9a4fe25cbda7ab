"""Tables with `append_only = true`: rows of files that were read before are taken over, and only new files are read.

What was read is kept in the snapshot itself, which is as private as its rows: of each file its place, size, sha256 and
columns, and a digest of everything that decides what its rows become. Before rows are taken over, each such file is
hashed again; where one is another by now, or gone, all files are read, and the steward is told. So a refresh gives the
rows that reading everything would: repeats and one value a unit are minima, and the minimum of minima is that of all.

Checked in tests/snapshot/test_appending.py.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from dpcurator import __version__
from dpcurator.catalog.bind import content_digest, made_for
from dpcurator.catalog.declaration import Source
from dpcurator.catalog.duckdb_options import quoted
from dpcurator.catalog.model import Table
from dpcurator.snapshot.codes import stored_columns, with_numbers
from dpcurator.snapshot.loading import Loader
from dpcurator.snapshot.report import Kept
from dpcurator.snapshot.store import Draft
from dpcurator.values import read_json

_PIECE: Final = 2**20  # bytes


def digest_of(path: Path) -> str:
    """sha256 of a file's bytes."""
    found = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            found.update(piece)
    return found.hexdigest()


def reading_of(table: Table, source: Source) -> str:
    """A digest of what decides which rows a file has: this version of the program among it."""
    readings = [repr((reading.spelling, reading.set_aside)) for reading in source.readings]
    columns = [made_for(table, column) for column in table.columns]
    return content_digest([__version__, table.name, table.unit, list(table.distinct), *_first(table), columns, readings,
                           source.kind, repr(source.csv), list(source.folders)])


def _first(table: Table) -> list[list[str]]:
    """Beside the unit, of what a unit has one row; nothing where that is not declared."""
    return [] if table.one_row_per is None else [list(table.one_row_per)]


def take_over(draft: Draft, loader: Loader, i: int, source: Source, files: Sequence[Path]) -> tuple[Kept, list[Path]]:
    """Put the rows of files that were read before into the draft: what was taken over, and the files to be read yet."""
    before = draft.state / f"snapshot-{draft.previous:04d}.duckdb"
    if not draft.previous or not before.is_file():
        return Kept(), list(files)
    run = draft.connection.execute
    run(f"ATTACH {quoted(str(before.absolute()))} AS before (READ_ONLY, TYPE duckdb)")
    try:
        if not run("SELECT 1 FROM duckdb_columns() WHERE database_name = 'before' AND table_name = 'files' "
                   "AND column_name = 'names'").fetchall():
            return Kept(), list(files)
        known = run("SELECT t, place, size, digest, names FROM before.files WHERE reading = ?",
                    [reading_of(loader.table, source)]).fetchall()
        if not known:
            return Kept(), list(files)
        here = {str(path): path for path in files}
        changed = [Path(place).name for _, place, size, digest, _ in known if not _same(here.get(place), size, digest)]
        if changed:
            return Kept(changed=tuple(changed)), list(files)
        own = ", ".join(f"c{j}" for j in range(len(loader.table.columns)))  # numbers of units are made anew
        taken = with_numbers(loader.table, f"SELECT {own} FROM before.t{known[0][0]}")
        [(rows,)] = run(f"INSERT INTO t{i} ({stored_columns(loader.table)}) {taken}").fetchall()
        run("INSERT INTO files SELECT ?, reading, place, size, digest, names FROM before.files WHERE t = ?",
            [i, known[0][0]])
        loader.report.header = frozenset(read_json(known[0][4]))  # a new file has the same ones, or is refused
        seen = {one[1] for one in known}
        return Kept(len(known), int(rows)), [path for path in files if str(path) not in seen]
    finally:
        run("DETACH before")


def _same(path: Path | None, size: int, digest: str) -> bool:
    return path is not None and path.is_file() and path.stat().st_size == size and digest_of(path) == digest


def note(loader: Loader, i: int, source: Source, path: Path) -> None:
    """Keep what a file is that was read."""
    loader.connection.execute("INSERT INTO files VALUES (?, ?, ?, ?, ?, ?)", [
        i, reading_of(loader.table, source), str(path), path.stat().st_size, digest_of(path),
        json.dumps(sorted(loader.report.header or ()))])
