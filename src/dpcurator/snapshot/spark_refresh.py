"""`refresh` with the Spark engine: every declared source, once, into one typed, immutable, versioned Parquet dataset.

Files are read a whole one in a task, and tables of Spark's or a database's a partition in a task, each by the readers
of `refresh` (`spark_parts`), so the rules by which a value is read are written once. A frame, a DuckDB file and a
PostgreSQL table by its connection string are read on this machine. The rules that look at whole tables are the same
queries (`rewriting`), asked of Spark. A table with units is then written in parts by its unit, the rows of one unit
side by side, so that grouping by it moves little. Checked in tests/snapshot/test_spark_refresh.py.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dpcurator.catalog.declaration import Declaration, Source
from dpcurator.catalog.model import EACH_ROW, Table
from dpcurator.catalog.problems import text
from dpcurator.catalog.spark import address_of, jdbc_of
from dpcurator.catalog.through import as_read, owners_first
from dpcurator.errors import Misconfigured
from dpcurator.snapshot.csv_source import missing_cure, same_columns
from dpcurator.snapshot.frames import read_frame
from dpcurator.snapshot.loading import Loader
from dpcurator.snapshot.public_facts import ends_of, most_of, public_keys
from dpcurator.snapshot.refresh import Progress, apply_rules, files_of, load_file, look_over, match_frames
from dpcurator.snapshot.report import Report, TableReport, Trouble
from dpcurator.snapshot.spark_dataset import DatasetDraft
from dpcurator.snapshot.spark_parts import RESULT, Job, add_part, of_files, of_rows, stored
from dpcurator.snapshot.spark_tables import SparkTables, on_spark, schema_of
from dpcurator.snapshot.store import alone

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_FETCHED: Final = 10_000  # rows that a database sends at once


def refresh(
    declaration: Declaration,
    session: SparkSession,
    frames: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    *,
    after: int = 0,
    name: str | None = None,
    here: bool = True,
) -> Report:
    """Read everything into a new dataset and put it in force, as `refresh.refresh` does. here: tasks are on this
    machine. Raises Misconfigured; the dataset before then stays in force."""
    from dpcurator.snapshot.postgres_source import servers

    given, read = dict(frames or {}), as_read(declaration)
    match_frames(declaration, given)
    with servers(read) as readers, alone(declaration, lambda: DatasetDraft(declaration, after)) as draft:
        if name in draft.names:
            raise Misconfigured(f"Version {name!r} was read already.", where=declaration.name,
                                cure="Open it again, or choose a new name.")
        tables, reports = SparkTables(session), []
        try:
            for i, table in enumerate(read.tables):
                report = TableReport(table.name, unreadable={column.name: Trouble() for column in table.columns})
                if declaration.neighbours == "replace-one" and table.unit == EACH_ROW:
                    report.units = declaration.units
                scratch = str(draft.parts.resolve()) if here else None
                job = Job(read, i, _files(read, i), str(draft.parts.resolve()), scratch,
                          tuple(map(tuple, draft.kinds)), report.units)
                found = _read(job, session, given.get(table.name), readers.get(table.name))
                files = _merge(found, job, report, draft)
                on_spark(partial(_put, tables, i, table, files))
                if progress is not None:
                    progress(table.name, report.rows, (i + 1) / len(read.tables))
                reports.append(report)
            for i in owners_first(declaration.tables):
                apply_rules(tables, i, declaration, reports[i])
                _write(tables, i, declaration, draft)
            public = public_keys(declaration, tables)
            for i, report in enumerate(reports):
                look_over(tables, i, declaration, public, report)
            draft.publish(public, name, most_of(declaration, tables), ends_of(declaration, tables))
        finally:
            tables.clear()
        return Report(draft.version, tuple(reports), name)


def _read(
    job: Job, session: SparkSession, frame: Any, reader: Callable[[Loader], None] | None
) -> list[dict[str, Any]]:
    """Read all of a table, in parts: what each has to tell. Raises Misconfigured."""
    source, names = job.source, [column.name for column in job.table.columns]
    match source.kind:
        case "frame":
            return [stored(job, 0, lambda loader: loader.load_values(
                read_frame(frame, names, job.table.name, where=source.where)))]
        case "postgres":
            assert reader is not None
            return [stored(job, 0, reader)]
        case "duckdb":
            path = Path(job.files[0])
            return [stored(job, 0, lambda loader: load_file(loader, job.i, source, path, job.declaration))]
        case "spark":
            rows = _rows(session, source, names)
            return on_spark(lambda: _told(rows.mapInArrow(of_rows(job), RESULT)))
        case _:
            size = len(job.files)
            return on_spark(lambda: _told(session.range(0, size, 1, size).mapInArrow(of_files(job), RESULT)))


def _files(read: Declaration, i: int) -> tuple[str, ...]:
    """The files of table number i. Raises Misconfigured where there are none."""
    source = read.sources[i]
    if source.kind not in ("csv", "parquet", "duckdb"):
        return ()
    return tuple(os.path.abspath(path) for path in files_of(source, read.directory))


def _told(results: DataFrame) -> list[dict[str, Any]]:
    return sorted((json.loads(row[0]) for row in results.collect()), key=lambda one: one.get("part", 0))


def _rows(session: SparkSession, source: Source, names: list[str]) -> DataFrame:
    """The declared columns of a table that Spark has, or that it reads from a database. Raises Misconfigured."""
    shown, (variable, address), failed = text(source.relation), jdbc_of(source), False
    try:
        if variable:  # one partition: one statement sees one state of the table
            rows = session.read.jdbc(address, source.relation, properties={"fetchsize": str(_FETCHED)})
        else:
            rows = session.table(source.relation)
        found = rows.columns
    except Exception:  # its words may repeat the address
        failed = True
    if failed:
        raise Misconfigured(
            f"Spark cannot read {shown}" + (f" from the database of {variable}." if variable else "."),
            where=source.where, cure="Check the name, the grants and the address, and that Spark has the database's "
            "JDBC driver: name its file as spark.jars in conf/spark-defaults.conf." if variable else
            "Check the name and the grants; to see what there is, run in Spark: SHOW TABLES")
    if len(set(found)) < len(found):
        raise Misconfigured(f"Two columns of {shown} have the same name.", where=source.where,
                            cure="Make a view with a name for each.")
    for name in names:
        if name not in found:
            raise Misconfigured(f"{shown} has no column {text(name)}.", where=source.where,
                                cure=missing_cure(name, found))
    return rows.select(*(f"`{name.replace('`', '``')}`" for name in names))


def _merge(found: list[dict[str, Any]], job: Job, report: TableReport, draft: DatasetDraft) -> list[str]:
    """Add what parts have to tell; the files that they wrote. Raises Misconfigured for the first that is wrong."""
    files = []
    for part in found:
        if "wrong" in part:
            what, where, cure = part["wrong"]
            raise Misconfigured(what, where=where, cure=cure)
        files.append(address_of(Path(job.parts) / part["file"]))
        header = part["report"]["header"]
        if header is not None and job.source.kind in ("csv", "parquet"):
            same_columns(header, Path(job.files[part["part"]]).name, report, job.source.where)
        add_part(report, part["report"])
        draft.kinds += [kind for kind in part["kinds"] if kind not in draft.kinds]
    return files


def _write(tables: SparkTables, i: int, declaration: Declaration, draft: DatasetDraft) -> None:
    """Write table number i into the dataset, and let its name be what was written."""
    table = declaration.tables[i]
    unit, to = _unit(table), address_of(draft.path / f"t{i}")

    def write() -> None:
        rows = tables.rows(f"t{i}")
        if unit is not None and declaration.spark is not None:
            rows = rows.repartition(declaration.spark.partitions, unit).sortWithinPartitions(unit)
        rows.write.parquet(to)
        _put(tables, i, table, [to])

    on_spark(write)


def _put(tables: SparkTables, i: int, table: Table, files: list[str]) -> None:
    """Let the name of table number i be the rows of these files, of the types that are declared."""
    tables.put(f"t{i}", tables.session.read.schema(schema_of(table)).parquet(*files))


def _unit(table: Table) -> str | None:
    """The stored column of whose row it is; None where a table is public or each row is a unit."""
    return next((f"c{j}" for j, column in enumerate(table.columns) if column.name == table.unit), None)
