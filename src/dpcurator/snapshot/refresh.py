"""`refresh`: read every declared source once, into one typed, immutable, versioned snapshot.

Only the steward runs it, and only here are sources looked at; questions read the snapshot (semantics 1.4). Which rows
are set aside and which values are missing is decided row by row by declared facts, so removing a unit's rows from a
typed source removes exactly those rows from the snapshot. Checked in tests/snapshot/test_refresh.py.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from dpcurator.catalog.declaration import Declaration, Source
from dpcurator.catalog.file_kinds import inside
from dpcurator.catalog.model import EACH_ROW
from dpcurator.catalog.problems import nearest, text
from dpcurator.catalog.through import as_read, owners_first
from dpcurator.errors import Misconfigured
from dpcurator.snapshot.appending import note, take_over
from dpcurator.snapshot.codes import number_units
from dpcurator.snapshot.csv_source import is_unicode, read_csv
from dpcurator.snapshot.folders import beside, folders_of
from dpcurator.snapshot.frames import read_frame
from dpcurator.snapshot.loading import Loader
from dpcurator.snapshot.one_value import one_value_each
from dpcurator.snapshot.outside_keys import keyed, outside_keys
from dpcurator.snapshot.owners import find_owners
from dpcurator.snapshot.public_facts import ends_of, most_of, public_keys
from dpcurator.snapshot.repeats import first_rows, without_repeats
from dpcurator.snapshot.report import Report, TableReport, Trouble
from dpcurator.snapshot.rewriting import Tables
from dpcurator.snapshot.shares import beyond_bounds, over_caps
from dpcurator.snapshot.store import Draft, drafting
from dpcurator.snapshot.typed_source import load_duckdb, load_parquet
from dpcurator.snapshot.unchanged import unchanged

PublicValues = list[tuple[tuple[str, str], tuple[Any, ...]]]  # of each public table and column
Progress = Callable[[str, int, float], None]  # table, rows so far, and which part of it was read (0 is not known)


def refresh(
    declaration: Declaration,
    frames: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    *,
    after: int = 0,
    name: str | None = None,
) -> Report:
    """Read everything into a new snapshot and put it in force. The report is for the steward alone.

    frames: a data frame for each table that declares no file. after: the new version is above this one. name: a public
    name for it. Raises Misconfigured when a source cannot be used; the previous snapshot then stays in force.
    """
    from dpcurator.snapshot.postgres_source import servers

    given = dict(frames or {})
    match_frames(declaration, given)
    with servers(as_read(declaration)) as readers, drafting(declaration, after) as draft:
        if name in draft.names:  # another refresh took it since it was looked for
            raise Misconfigured(f"Version {name!r} was read already.", where=declaration.name,
                                cure="Open it again, or choose a new name.")
        reports = []
        read = as_read(declaration)
        for i, (table, source) in enumerate(zip(read.tables, read.sources, strict=True)):
            report = TableReport(table.name, unreadable={column.name: Trouble() for column in table.columns})
            if declaration.neighbours == "replace-one" and table.unit == EACH_ROW:
                report.units = declaration.units
            loader = Loader(draft.connection, f"t{i}", table, source.readings, report, draft.state, progress=progress)
            if source.kind == "postgres":
                readers[table.name](loader)
            else:
                _load(loader, source, declaration, given.get(table.name), draft, i)
            if report.units is not None:
                keep_unread(loader)
            loader.count()
            reports.append(report)
        for i in owners_first(declaration.tables):
            apply_rules(draft.connection, i, declaration, reports[i])
        number_units(draft.connection, declaration.tables)
        public = public_keys(declaration, draft.connection)
        for i, report in enumerate(reports):
            look_over(draft.connection, i, declaration, public, report)
        draft.publish(public, name, most_of(declaration, draft.connection), ends_of(declaration, draft.connection))
        return Report(draft.version, tuple(reports), name)


def apply_rules(tables: Tables, i: int, declaration: Declaration, report: TableReport) -> None:
    """What the catalog says of a table's rows among one another: whose they are, one value a unit, no repeats."""
    table = declaration.tables[i]
    report.ownerless = find_owners(tables, i, declaration.tables)
    report.one_value = one_value_each(tables, i, table)
    report.repeats = without_repeats(tables, i, table)
    report.later = first_rows(tables, i, table)


def look_over(tables: Tables, i: int, declaration: Declaration, public: PublicValues, report: TableReport) -> None:
    """What a private table's rows are told of: values that are no key or beyond bounds, units over caps."""
    table = declaration.tables[i]
    if table.private:
        listed = keyed(table, declaration, dict(public))
        report.outside = outside_keys(tables, i, listed)
        report.beyond = beyond_bounds(tables, i, table)
        report.over = over_caps(tables, i, table, listed)


def match_frames(declaration: Declaration, frames: Mapping[str, Any]) -> None:
    wanted = {t.name: s for t, s in zip(declaration.tables, declaration.sources, strict=True) if s.kind == "frame"}
    for name in frames:
        if name not in wanted:
            declared = any(table.name == name for table in declaration.tables)
            what = "has a source in the catalog" if declared else "is not declared"
            raise Misconfigured(f"A frame was given for table {text(name)}, which {what}.", where=declaration.name,
                                cure="Leave file, duckdb and postgres out of that table." if declared
                                else nearest(name, wanted))
    for name, source in wanted.items():
        if name not in frames:
            raise Misconfigured(f"Table {text(name)} names no source, and no frame was given.", where=source.where,
                                cure='Add file = "data.csv", or pass the frame in Python.')


def _load(
    loader: Loader, source: Source, declaration: Declaration, frame: Any, draft: Draft, i: int
) -> None:
    names = [column.name for column in loader.table.columns]
    if source.kind == "frame":
        loader.load_values(read_frame(frame, names, loader.table.name, where=source.where))
        return
    files = files_of(source, declaration.directory)
    if source.append_only and loader.report.units is None:
        loader.report.kept, files = take_over(draft, loader, i, source, files)
    sizes = [path.stat().st_size if path.is_file() else 0 for path in files]
    for n, path in enumerate(files):
        load_file(loader, i, source, path, declaration, (sum(sizes[:n]), sizes[n], max(1, sum(sizes))))


def load_file(
    loader: Loader, i: int, source: Source, path: Path, declaration: Declaration,
    sizes: tuple[int, int, int] = (0, 0, 1),
) -> None:
    """Read one file of table number i. sizes: bytes before it, of it, and of all files. Raises Misconfigured."""
    names, (before, size, whole) = [column.name for column in loader.table.columns], sizes
    loader.share = (before + size) / whole
    if path.exists() and not os.access(path, os.R_OK, effective_ids=os.access in os.supports_effective_ids):
        raise Misconfigured(f"{text(path.name)} cannot be read.", where=source.where, cure="Check its permissions.")
    folders = folders_of(path, declaration.directory, source.folders, source.where)
    with unchanged(path, source.where):
        if source.kind == "csv":
            own = [name for name in names if name not in folders]
            for records in read_csv(path, source.csv, own, loader.report, where=source.where, folders=folders):
                vectors = beside(names, records.columns, len(records.lines), folders)
                loader.share = (before + min(records.read, size)) / whole
                loader.load_records(vectors, records.lines, path.name, source.csv.missing)
        elif source.kind == "parquet":
            load_parquet(path, names, loader, where=source.where, folders=folders)
        else:
            load_duckdb(path, source.relation, names, loader, memory=declaration.memory, threads=declaration.threads,
                        where=source.where)
        if source.append_only:
            note(loader, i, source, path)


def files_of(source: Source, directory: Path) -> list[Path]:
    """The file itself where there is one of exactly this name; else what the pattern matches, sorted."""
    literal = directory / source.place
    if "\0" in source.place:
        raise Misconfigured("A path cannot contain U+0000.", where=source.where, cure="Mend `file`.")
    try:
        is_folder, is_one = literal.is_dir(), literal.exists()
    except PermissionError:
        raise Misconfigured(f"{text(source.place)} cannot be reached.", where=source.where,
                            cure="Check the permissions of its folders.") from None
    if is_folder:
        cure = "Name the DuckDB file in it." if source.kind == "duckdb" else \
            f"Name the files in it: file = {text(inside(literal, source.place))}."
        raise Misconfigured(f"{text(source.place)} is a directory.", where=source.where, cure=cure)
    if source.kind == "duckdb" or is_one or not glob.has_magic(source.place):
        return [literal]
    found = sorted(set(glob.glob(source.place, root_dir=directory, recursive=True)))  # two ** may meet one file twice
    if not found:
        raise Misconfigured(f"No file matches {text(source.place)}.", where=source.where,
                            cure="Put one there, or mend the pattern: paths are relative to the catalog file.")
    if not all(map(is_unicode, found)):
        raise Misconfigured(f"A file that {text(source.place)} matches has a name that is not in UTF-8.",
                            where=source.where, cure="Rename it, or its folder.")
    return [directory / path for path in found]


def keep_unread(loader: Loader) -> None:
    """With a public number of units, a row that cannot be read is still a unit: it stays, every column missing.

    Left out, one unit's change from a row that can be read to one that cannot would move a sum by a whole value, where
    the plan claims the distance of two (semantics 1.5).
    """
    nothing = ", ".join("NULL" for _ in loader.table.columns)
    rows = loader.report.set_aside.count
    loader.connection.execute(f"INSERT INTO {loader.name} SELECT {nothing} FROM range({rows:d})")
