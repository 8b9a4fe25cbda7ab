"""A catalog with one table, refreshed from what a test gives, and its stored rows."""

import duckdb
import pytest

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


@pytest.fixture
def stored():
    def read(declaration, table="t0"):
        with duckdb.connect(str(open_snapshot(declaration).path), read_only=True) as connection:
            return connection.execute(f"FROM {table}").fetchall()

    return read


@pytest.fixture
def refreshed(declared, stored):
    """(columns, frame, **table fields) -> (rows, the table's report)."""

    def run(columns, frame=None, **table):
        declaration = declared(columns, **table)
        report = refresh(declaration, None if frame is None else {"t": frame})
        return stored(declaration), report.tables[0]

    return run
