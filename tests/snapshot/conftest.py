"""A catalog with one table, refreshed from what a test gives, and its stored rows."""

import duckdb
import pytest

from dpcurator.catalog.duckdb_options import quoted
from dpcurator.catalog.load import load
from dpcurator.snapshot.refresh import refresh
from dpcurator.snapshot.store import open_snapshot


@pytest.fixture
def declared(tmp_path):
    def declare(columns, **table):
        fields = {"unit": "each row", "columns": columns} | table
        raw = {"curator": {"protects": "people"}, "ledger": {"epsilon": 1}, "tables": {"t": fields}}
        return load(raw, directory=tmp_path)

    return declare


@pytest.fixture(scope="session")
def reader():
    """One connection for all: each that is opened costs some 20 ms."""
    with duckdb.connect(":memory:") as connection:
        yield connection


@pytest.fixture
def stored(reader):
    def read(declaration, table="t0"):
        info = open_snapshot(declaration)
        reader.execute(f"ATTACH {quoted(str(info.path))} AS stored (READ_ONLY)")
        declared = next((one.columns for one in info.tables if one.physical == table), ())
        names = ", ".join(f"c{j}" for j in range(len(declared))) or "*"  # without the numbers of units
        try:
            return reader.execute(f"SELECT {names} FROM stored.{table}").fetchall()
        finally:
            reader.execute("DETACH stored")

    return read


@pytest.fixture
def refreshed(declared, stored):
    """(columns, frame, **table fields) -> (rows, the table's report)."""

    def run(columns, frame=None, **table):
        declaration = declared(columns, **table)
        report = refresh(declaration, None if frame is None else {"t": frame})
        return stored(declaration), report.tables[0]

    return run
