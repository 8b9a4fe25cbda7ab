"""Reading a part of a source in a task of Spark: by the very readers of `refresh`, into one Parquet file.

A task has a whole file, or a partition of a table of Spark's. It reads it into a DuckDB file of its own, as a refresh
without Spark does, writes the rows that stay beside the dataset under a name that no other has, and sends what there is
to tell as one JSON text: a task that ran twice leaves a file that nobody named. Nothing that a task raises is shown;
what the steward is told comes back in that text. Checked in tests/snapshot/test_spark_refresh.py.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dpcurator import __version__
from dpcurator.catalog.declaration import Declaration, Source
from dpcurator.catalog.duckdb_options import quoted, write_down
from dpcurator.catalog.model import Table
from dpcurator.errors import Misconfigured
from dpcurator.snapshot.by_column import Spellings
from dpcurator.snapshot.loading import Loader
from dpcurator.snapshot.refresh import keep_unread, load_file
from dpcurator.snapshot.report import Place, TableReport, Trouble
from dpcurator.snapshot.store import definition
from dpcurator.snapshot.typed_source import load_arrow

if TYPE_CHECKING:
    from pyarrow import RecordBatch

RESULT: Final = "told string"
_LEAST: Final = 256  # MiB of a task's DuckDB
_SPELLINGS: Final = 1_000  # of a column and a part, that are sent


@dataclass(frozen=True, slots=True)
class Job:
    """What every task of one table is given. files: to be read, by number; none for partitions of Spark's rows."""

    declaration: Declaration  # with the columns alone that sources have
    i: int
    files: tuple[str, ...]
    parts: str  # the directory in which they write
    scratch: str | None  # where tasks are on this machine: a private directory
    kinds: tuple[tuple[Any, ...], ...]  # types that the columns of sources had before
    units: int | None
    version: str = __version__

    @property
    def table(self) -> Table:
        return self.declaration.tables[self.i]

    @property
    def source(self) -> Source:
        return self.declaration.sources[self.i]


def of_files(job: Job) -> Callable[[Iterator[RecordBatch]], Iterator[RecordBatch]]:
    """What reads, for each number of a column of them, the file of that number."""

    def run(batches: Iterator[RecordBatch]) -> Iterator[RecordBatch]:
        for batch in batches:
            for n in batch.column(0).to_pylist():
                yield told(job, n, lambda loader, n=n: load_file(  # type: ignore[misc]
                    loader, job.i, job.source, Path(job.files[n]), job.declaration))

    return run


def of_rows(job: Job) -> Callable[[Iterator[RecordBatch]], Iterator[RecordBatch]]:
    """What reads the rows of a partition of Spark's own."""

    def run(batches: Iterator[RecordBatch]) -> Iterator[RecordBatch]:
        from pyspark import TaskContext

        context = TaskContext.get()
        n = 0 if context is None else context.partitionId()
        names = [column.name for column in job.table.columns]
        yield told(job, n, lambda loader: load_arrow(batches, f"part {n}", names, loader, where=job.source.where))

    return run


def told(job: Job, n: int, load: Callable[[Loader], None]) -> RecordBatch:
    """What is to be told of part number n, as a batch of one row."""
    import pyarrow

    return pyarrow.RecordBatch.from_pydict({"told": [json.dumps(stored(job, n, load))]})


def stored(job: Job, n: int, load: Callable[[Loader], None]) -> dict[str, Any]:
    """Read a part, store its rows, and say what was read; or what is wrong with it, for the steward."""
    if job.version != __version__:
        return {"wrong": [f"An executor has dpcurator {__version__}, and this machine {job.version}.",
                          "[curator] spark", "Install the same version on both."]}
    report = TableReport(job.table.name, unreadable={column.name: Trouble() for column in job.table.columns})
    report.units, report.files = job.units, n
    try:
        with _loader(job, report) as loader:
            load(loader)
            if report.units is not None:
                keep_unread(loader)
            loader.count()
            name = f"t{job.i}-{n:06d}-{uuid.uuid4().hex}.parquet"
            own = ", ".join(f"c{j}" for j in range(len(job.table.columns)))
            to = quoted(str(Path(job.parts) / name))
            loader.connection.execute(f"COPY (SELECT {own} FROM {loader.name}) TO {to} (FORMAT parquet)")
            kinds = loader.connection.execute("SELECT reading, kind, shown FROM kinds").fetchall()
            return {"part": n, "file": name, "kinds": kinds, "report": as_sent(report)}
    except Misconfigured as error:
        return {"part": n, "wrong": [error.what, error.where, error.cure]}
    except Exception:  # its words may quote a value
        return {"part": n, "wrong": [
            "An executor cannot read a part of the data, or write it.", job.source.where,
            "Check that every executor reaches the files and the path of the datasets under these paths, and has room; "
            "the version before stays in force."]}


@contextmanager
def _loader(job: Job, report: TableReport) -> Iterator[Loader]:
    import duckdb

    scratch = tempfile.mkdtemp(prefix="dpcurator-part-", dir=job.scratch)
    try:
        connection = write_down(duckdb.connect(os.path.join(scratch, "part.duckdb")))
        try:
            connection.execute("SET threads = 1")
            memory = max(_LEAST, job.declaration.memory // job.declaration.threads)
            connection.execute(f"SET memory_limit = '{memory:d} MiB'")
            connection.execute(f"SET temp_directory = {quoted(os.path.join(scratch, 'spill'))}")
            connection.execute(f"CREATE TABLE t{job.i} ({definition(job.table)})")
            connection.execute("CREATE TABLE kinds (reading VARCHAR, kind VARCHAR, shown VARCHAR)")
            for kind in job.kinds:
                connection.execute("INSERT INTO kinds VALUES (?, ?, ?)", list(kind))
            yield Loader(connection, f"t{job.i}", job.table, job.source.readings, report, Path(scratch))
        finally:
            connection.close()
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def as_sent(report: TableReport) -> dict[str, Any]:
    """What a part has to tell, in JSON's kinds."""
    return {
        "rows": report.rows, "blank_lines": report.blank_lines, "null_units": report.null_units,
        "missing": dict(report.missing), "set_aside": _sent(report.set_aside),
        "unreadable": {name: _sent(trouble) for name, trouble in report.unreadable.items()},
        "spellings": {name: dict(found.counts.most_common(_SPELLINGS)) for name, found in report.spellings.items()},
        "header": None if report.header is None else sorted(report.header),
    }


def _sent(trouble: Trouble) -> dict[str, Any]:
    places = [[place.file_number, place.number, place.file, reason] for place, reason in trouble.places]
    return {"reasons": dict(trouble.reasons), "places": places}


def add_part(report: TableReport, part: dict[str, Any]) -> None:
    """Add what a part has to tell to the report of its table."""
    report.rows += part["rows"]
    report.blank_lines += part["blank_lines"]
    report.null_units += part["null_units"]
    report.missing.update(part["missing"])
    _add(report.set_aside, part["set_aside"])
    for name, trouble in part["unreadable"].items():
        _add(report.unreadable[name], trouble)
    for name, counts in part["spellings"].items():
        found = report.spellings.setdefault(name, Spellings())
        found.counts.update(counts)


def _add(trouble: Trouble, sent: dict[str, Any]) -> None:
    for reason, count in sent["reasons"].items():
        trouble.add_many(reason, count, [Place(*place[:3]) for place in sent["places"] if place[3] == reason])
