"""Columns in memory as an Arrow stream: DuckDB and Arrow read what was given, any number of times; nothing is kept."""

import gc

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcurator.snapshot import arrow
from dpcurator.snapshot.arrow import Columns, numbers, texts
from dpcurator.snapshot.loading import registered

CELLS = st.lists(st.one_of(st.none(), st.text(max_size=20)), max_size=12)


@pytest.fixture(scope="module")
def connection():
    with duckdb.connect() as opened:
        yield opened


@given(CELLS)
def test_texts_come_out_as_they_went_in(connection, cells):
    cells = [cell if cell is None else cell.encode(errors="ignore").decode() for cell in cells]
    with registered(connection, [texts(cells), numbers(np.arange(len(cells)))]) as name:
        assert [row[0] for row in connection.execute(f"SELECT x0 FROM {name} ORDER BY x1").fetchall()] == cells
    assert pa.table(Columns({"x": texts(cells)})).column(0).to_pylist() == cells


def test_text_that_is_no_unicode_is_refused():
    with pytest.raises(UnicodeEncodeError):
        texts(["a", "\udcff"])


def test_many_batches_with_missing_values_in_each_and_threads(connection, monkeypatch):
    monkeypatch.setattr(arrow, "AT_ONCE", 1000)
    rows = 10_001
    absent = np.arange(rows) % 7 == 3
    vectors = [numbers(np.arange(rows), absent), numbers(np.arange(rows) / 4, absent),
               texts([None if none else f"é{n}" for n, none in enumerate(absent)])]
    with registered(connection, vectors) as name:
        for _ in range(3):
            found = connection.execute(
                f"SELECT count(*), count(x0), sum(x0), sum(x1), count(*) FILTER (x2 = 'é' || x0), count(x2) FROM {name}"
            ).fetchall()
            kept = int(sum(np.arange(rows)[~absent]))
            assert found == [(rows, int((~absent).sum()), kept, kept / 4, int((~absent).sum()), int((~absent).sum()))]


def test_nothing_is_kept_once_it_was_read():
    with duckdb.connect() as connection:
        before = len(arrow._HELD)
        sizes = []
        for _ in range(5):
            with registered(connection, [texts(["a"] * 10)]) as name:
                connection.execute(f"SELECT count(*) FROM {name} WHERE x0 = 'a'").fetchall()
                connection.execute(f"SELECT * FROM {name} LIMIT 1").fetchall()
            sizes.append(len(arrow._HELD))
    gc.collect()
    assert len(arrow._HELD) <= before, sizes
    assert not arrow._CAPSULES
