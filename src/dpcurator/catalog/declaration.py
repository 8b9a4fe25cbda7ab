"""What a catalog file declares: what is public about the tables (the catalog) and where their rows come from.

The two are kept apart because only the first is part of meaning: a question rests on `catalog` alone, while `sources`
says how the steward's `refresh` reads rows and is in no digest. Key lists of public tables are not known before a
refresh, so a `Declaration` names them and `bind.catalog_of` fills them in.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from dpcurator.catalog.model import Neighbours, Table
from dpcurator.catalog.spelling import ISO, Spelling


@dataclass(frozen=True, slots=True)
class CsvOptions:
    """The dialect of CSV files. `rename` gives names by position, from 1."""

    delimiter: str = ","
    quote: str = '"'  # or none, where fields have no quotes around them
    encoding: str = "utf-8"
    missing: tuple[str, ...] = ("",)
    rename: tuple[tuple[int, str], ...] = ()
    names: tuple[str, ...] = ()  # of the fields of a line, where the file has no header
    escape: str = ""  # before a character that is then no delimiter and no quote
    space_after: bool = False  # spaces after a delimiter are no part of the field
    skip_lines: int = 0  # at the beginning of each file, before the header
    comment: str = ""  # a line that begins with it is no record

    @property
    def simple(self) -> bool:
        """Is nothing declared that only the careful reader knows?"""
        return not (self.escape or self.space_after or self.comment)

    @property
    def dialect(self) -> dict[str, Any]:
        """What the csv module is told."""
        quoting = {"quotechar": self.quote} if self.quote else {"quoting": csv.QUOTE_NONE}
        return quoting | {"delimiter": self.delimiter, "escapechar": self.escape or None,
                "skipinitialspace": self.space_after, "strict": True}


@dataclass(frozen=True, slots=True)
class Reading:
    """How one column's values are read: their spelling, and whether an unreadable one sets its row aside."""

    spelling: Spelling = ISO
    set_aside: bool = False
    fields: tuple[tuple[str, str], ...] = ()  # as declared, each value as TOML, so that `check` can offer them again


@dataclass(frozen=True, slots=True)
class Source:
    """Where a table's rows come from. `place` is the file, glob or DuckDB file, or the "env:NAME" of a PostgreSQL
    server or, for Spark, of a JDBC address ("" for Spark's own table); `readings` has one per column."""

    kind: Literal["csv", "parquet", "duckdb", "postgres", "spark", "frame"]
    place: str
    readings: tuple[Reading, ...]
    relation: str = ""  # the table's name inside a DuckDB file or database
    csv: CsvOptions = CsvOptions()
    where: str = ""  # the line of curator.toml that declares it
    append_only: bool = False  # files are added and never changed
    folders: tuple[str, ...] = ()  # columns that are named by the folders of its files


@dataclass(frozen=True, slots=True)
class PublicKeys:
    """Column `column` of private table `table` takes its keys from a column of a public table."""

    table: str
    column: str
    public_table: str
    public_column: str
    with_missing: bool


@dataclass(frozen=True, slots=True)
class LedgerServer:
    """Where a ledger is that several machines share: an environment variable's name, and a schema of that database."""

    dsn: str  # "env:LEDGER_DSN"
    schema: str


@dataclass(frozen=True, slots=True)
class Cluster:
    """Where the Spark engine runs: its master or the "env:NAME" that says so, the directory of the datasets, and into
    how many parts it divides."""

    master: str  # "local[2]", "env:SPARK_REMOTE", "env:SPARK_REMOTE or local[2]"
    path: str
    partitions: int


@dataclass(frozen=True, slots=True)
class Declaration:
    """A catalog file that holds together. `tables` and `sources` are in the same order, the file's own."""

    name: str  # as shown in messages: curator.toml
    directory: Path  # what relative paths of sources are relative to
    protects: str
    neighbours: Neighbours
    units: int | None
    epsilon: Fraction
    delta: Fraction
    tables: tuple[Table, ...]
    sources: tuple[Source, ...]
    public_keys: tuple[PublicKeys, ...]
    lines: Mapping[tuple[str, ...], int]  # of tables and columns, for later messages
    rho: Fraction = Fraction(0)  # in a ledger of (rho, delta), where epsilon is 0
    threads: int = 4  # of the engine, and the MiB it may use: the steward's, in no digest
    memory: int = 1536
    spark: Cluster | None = None  # absent: DuckDB is the engine; in no digest
    ledger: LedgerServer | None = None  # absent: a file beside the snapshots; in no digest
    salt: str = ""  # 32 hexadecimal digits; empty only where no column has unknown keys

    @property
    def currency(self) -> Literal["epsilon", "rho"]:
        """What the ledger counts in, besides delta."""
        return "rho" if self.rho else "epsilon"

    @property
    def state(self) -> Path:
        """Where snapshots, facts and the ledger live."""
        return self.directory / ".dpcurator"

    @property
    def datasets(self) -> Path:
        """Where the Spark engine's datasets are."""
        return self.directory / (".dpcurator/datasets" if self.spark is None else self.spark.path)

    def where(self, *path: str) -> str:
        """`curator.toml:17` for a table ("visits") or a column of it ("visits", "age")."""
        line = self.lines.get(path) or self.lines.get(path[:1])
        return f"{self.name}:{line}" if line else f"{self.name} {'.'.join(path)}".strip()

    def table(self, name: str) -> Table:
        """The table of this name. Raises KeyError."""
        return next((table for table in self.tables if table.name == name), None) or _absent(name)


def _absent(name: str) -> Table:
    raise KeyError(name)
