"""A refresh as a whole: physical names and kinds, public keys, the steward's report, row locality."""

import json

import duckdb
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpcurator.catalog.bind import catalog_of
from dpcurator.catalog.load import load
from dpcurator.snapshot.refresh import refresh
from dpcurator.snapshot.store import open_snapshot

FILE = """\
[curator]
protects = "people"
[ledger]
epsilon = 1
[tables.visits]
file = "visits.csv"
unit = "who"
[tables.visits.columns]
who = "text"
city = { type = "text", keys = { table = "cities", column = "name" } }
cost = { type = "float", keys = { table = "cities", column = "price" }, keys_include_missing = true }
[tables.cities]
file = "cities.csv"
public = true
[tables.cities.columns]
name = "text"
price = "float"
"""


def test_physical_names_kinds_and_public_keys(tmp_path):
    (tmp_path / "visits.csv").write_text("city,who,cost\nHull,a,1\nOslo,,nan\n,b,-0.0\n")
    (tmp_path / "cities.csv").write_text("name,price\nYork,2\nHull,1\nHull,\n,inf\n")
    declaration = load(FILE, directory=tmp_path)
    seen = []
    report = refresh(declaration, progress=lambda table, rows: seen.append((table, rows)))
    assert seen == [("visits", 3), ("cities", 4)]
    info = open_snapshot(declaration)
    with duckdb.connect(str(info.path), read_only=True) as connection:
        kinds = connection.execute("DESCRIBE t0").fetchall()
        assert [(row[0], row[1]) for row in kinds] == [("c0", "VARCHAR"), ("c1", "VARCHAR"), ("c2", "DOUBLE")]
        rows = connection.execute("FROM t0").fetchall()
    assert rows == [("a", "Hull", 1.0), (None, "Oslo", None), ("b", None, 0.0)]
    assert str(rows[2][2]) == "0.0"
    assert [(table.name, table.physical) for table in info.tables] == [("visits", "t0"), ("cities", "t1")]
    catalog = catalog_of(declaration, info.facts)
    assert catalog.tables[0].columns[1].keys == ("Hull", "York")
    assert catalog.tables[0].columns[2].keys == (None, 1.0, 2.0, float("inf"))
    assert catalog.data_version == 1
    assert report.tables[0].null_units == 1
    assert "Oslo" not in (declaration.state / "facts.json").read_text()


def test_the_report_gives_places_and_counts_but_no_cell(declared, tmp_path):
    lines = ["x,y", *(f"secret{i},1" for i in range(9)), "1", "2,3"]
    (tmp_path / "d.csv").write_text("\n".join(lines) + "\n")
    report = refresh(declared({"x": "integer", "y": "integer"}, file="d.csv"))
    shown = str(report) + json.dumps(report.as_json())
    assert "secret" not in shown
    assert "9 values of 'x' unreadable" in str(report)
    assert "d.csv:2: not an integer" in str(report)
    assert "and 4 more" in str(report)
    assert "d.csv:11: 1 fields where the header has 2" in str(report)
    assert report.tables[0].rows == 10
    assert not report.clean


CELL = st.sampled_from(["1", "", "x", "2.5", "99999999999999999999", '"', "é", "nan", "a,b", "\n"])


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.tuples(CELL, CELL), max_size=6), gone=st.integers(0, 5))
def test_taking_a_row_out_of_a_typed_source_takes_exactly_that_row_out(declared, stored, rows, gone):
    declaration = declared({"x": {"type": "integer", "unreadable": "set-aside"}, "y": "float"})

    def read(kept):
        refresh(declaration, {"t": {"x": [row[0] for row in kept], "y": [row[1] for row in kept]}})
        return stored(declaration)

    whole = [row for one in rows for row in read([one])]
    assert read(rows) == whole
    assert read(rows[:gone] + rows[gone + 1 :]) == [
        row for i, one in enumerate(rows) if i != gone for row in read([one])
    ]


def test_more_rows_than_a_batch(declared, stored):
    declaration = declared({"x": "integer", "y": "text"})
    count = 120_001
    refresh(declaration, {"t": {"x": list(range(count)), "y": [None] * count}})
    with duckdb.connect(str(open_snapshot(declaration).path), read_only=True) as connection:
        found = connection.execute("SELECT count(*), sum(x), count(y), min(r), max(x - r) FROM "
                                   "(SELECT c0 AS x, c1 AS y, rowid AS r FROM t0)").fetchone()  # fmt: skip
    assert found == (count, count * (count - 1) // 2, 0, 0, 0)
