"""Parquet and DuckDB sources: exact values, odd kinds and paths, and files that cannot be used."""

import re
import tomllib

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpcurator.catalog.duckdb_options import write_down
from dpcurator.errors import Misconfigured
from dpcurator.snapshot import duckdb_view, typed_source

COLUMNS = {
    "h": "integer", "i": "integer", "f": "float", "dec": "float", "ts": {"type": "timestamp", "zone": "UTC"},
    "tz": "timestamp", "d": "date", "e": "text", "u": "uuid", "blob": "text",
    "t": {"type": "integer", "format": "HH:mm"}, "b": "boolean",
}
QUERY = r"""
SELECT * FROM (VALUES
  (170141183460469231731687303715884105727::HUGEINT, 1::TINYINT, 0.1::FLOAT, 0.10::DECIMAL(9,2),
   TIMESTAMP '1970-01-01 00:00:01', TIMESTAMPTZ '1970-01-01 01:00:00+01', DATE '1970-01-02', 'x'::ENUM('x','y'),
   '123e4567-e89b-12d3-a456-426614174000'::UUID, '\xFF'::BLOB, TIME '10:00', true),
  (5, 127, 'nan', -0.0, 'infinity', '-infinity', 'infinity', 'y', NULL, NULL, NULL, false),
  (NULL, NULL, '-0', NULL, '0044-03-15 (BC) 00:00:00', NULL, '0044-03-15 (BC)', NULL, NULL, NULL, NULL, NULL)
) v(h, i, f, dec, ts, tz, d, e, u, blob, t, b)"""
U = "123e4567-e89b-12d3-a456-426614174000"
ROWS = [
    (None, 1, 0.10000000149011612, 0.1, 1_000_000, 0, 1, "x", U, None, 36_000, 1),
    (5, 127, None, 0.0, None, None, None, "y", None, None, None, 0),
    (None, None, 0.0, None, None, None, None, None, None, None, None, None),
]
UNREADABLE = {"h": 1, "ts": 2, "tz": 1, "d": 2, "blob": 1}


@pytest.mark.parametrize("what", ["TABLE", "VIEW"])
def test_a_duckdb_table(refreshed, tmp_path, what):
    with duckdb.connect(str(tmp_path / "a?b's.duckdb")) as connection:
        connection.execute(f'CREATE {what} "my ""t" AS {QUERY}')
    rows, report = refreshed(COLUMNS, duckdb={"file": "a?b's.duckdb", "table": 'my "t'})
    assert rows == ROWS
    assert {name: t.count for name, t in report.unreadable.items() if t.count} == UNREADABLE


@pytest.mark.parametrize("at_once", [pytest.param(1, marks=pytest.mark.slow), 30, 100])
def test_a_view_is_read_as_its_table_is_part_by_part(refreshed, tmp_path, monkeypatch, at_once):
    """Numbers past 64 bits, which Arrow has none of, texts with U+0000, days and instants at their ends."""
    monkeypatch.setattr(duckdb_view, "AT_ONCE", at_once)
    with duckdb.connect(str(tmp_path / "x.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT i AS i, i::HUGEINT * 10 ** 17 AS h, ((i % 3) * 3::UHUGEINT) AS v, uuid() AS u, "
            "CASE WHEN i % 10 = 4 THEN NULL WHEN i % 10 = 5 THEN chr(0) ELSE 'é' || i END AS s, "
            "(i - 50) / 4::DECIMAL(18, 3) AS d, DATE '0001-01-01' - (i % 9)::INTEGER AS day, "
            "TIMESTAMP '1970-01-01' + to_microseconds(i) AS ts, "
            "i::UTINYINT AS small, i % 2 = 0 AS b, encode('b' || i) AS blob FROM range(100) r(i)"
        )
        connection.execute("CREATE VIEW w AS SELECT * FROM t")
    columns = {"i": "integer", "h": "integer", "v": "integer", "u": "uuid", "s": "text", "d": "float", "day": "date",
               "ts": {"type": "timestamp", "zone": "UTC"}, "small": "float", "b": "boolean",
               "blob": "text"}
    of_table, of_view = (refreshed(columns, duckdb={"file": "x.duckdb", "table": name}) for name in "tw")
    assert of_view == of_table
    assert len(of_table[0]) == 100
    assert {name for name, trouble in of_table[1].unreadable.items() if trouble.count} == {"h", "s", "day"}


def test_no_value_of_any_type_that_duckdb_has_stops_a_column():
    """Its own list of types, each with its least and greatest value and a missing one."""
    with duckdb.connect() as connection:
        found = write_down(connection).execute("DESCRIBE FROM test_all_types()").fetchall()
        plain = [typed_source._plain(f'"{name}"', kind) for name, kind, *_ in found]
        rows = connection.execute(f"SELECT {', '.join(sql for sql, _ in plain)} FROM test_all_types()").fetchall()
    assert len(rows) == 3
    assert all(value is None for value in rows[2])
    assert len(found) > 50
    assert {kind for name, kind, *_ in found if re.fullmatch("TIMESTAMP[^[]*", kind)} - {
        "TIMESTAMPTZ_NS"} == set(typed_source._INSTANTS)


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo", None])
def test_t1_nanoseconds_with_and_without_a_zone_are_instants(refreshed, tmp_path, zone):
    """What pandas writes for instants; the reader has a type of its own for them, which few of its functions take."""
    counts = [0, 1_999, None, -1, 2**63 - 1, -(2**62)]
    pq.write_table(pa.table({"x": pa.array(counts, pa.timestamp("ns", zone))}), tmp_path / "x.parquet")
    with duckdb.connect(str(tmp_path / "x.duckdb")) as connection:
        connection.execute(f"CREATE TABLE t AS SELECT * FROM '{tmp_path}/x.parquet'; CREATE VIEW w AS SELECT * FROM t")
    for source in ({"file": "x.parquet"}, *({"duckdb": {"file": "x.duckdb", "table": name}} for name in "tw")):
        rows, _ = refreshed({"x": {"type": "timestamp", "zone": "UTC"}}, **source)
        assert rows[:4] + rows[5:] == [(0,), (1,), (None,), (-1,), (-(2**62) // 1000,)]
        assert rows[4] in ((None,), ((2**63 - 1) // 1000,))  # the last one is what the reader has for infinity


@pytest.mark.parametrize("what", [
    "VIEW w AS SELECT random() AS x, CASE WHEN random() < .5 THEN 'x' ELSE '1' END AS y FROM range(1000)",
    "TABLE w (i INTEGER, x AS (random()), y AS (CASE WHEN random() < .5 THEN 'x' ELSE '1' END)); "
    "INSERT INTO w FROM range(1000)",
])
def test_a_view_and_a_column_that_is_computed_are_evaluated_once(refreshed, tmp_path, what):
    """Here each evaluation has other rows, and the unreadable ones make the refresh read its part in several steps."""
    with duckdb.connect(str(tmp_path / "x.duckdb")) as connection:
        connection.execute(f"CREATE {what}")
    rows, report = refreshed({"x": "float", "y": "integer"}, duckdb={"file": "x.duckdb", "table": "w"})
    assert len(rows) == len({x for x, _ in rows}) == 1000
    assert report.unreadable["y"].count == sum(y is None for _, y in rows)
    assert report.unread("y").counts == {'"x"': report.unreadable["y"].count}
    assert not list(tmp_path.glob(".dpcurator/draft*"))


@pytest.mark.parametrize("name", ["x", "memory", "temp", 'a "b'])
def test_what_is_asked_beside_a_view_is_the_engines_whatever_macros_its_file_has(refreshed, tmp_path, name):
    """NaN is missing and all rows are read; within the view the file's own macros, tables and name hold."""
    with duckdb.connect(str(tmp_path / f"{name}.duckdb")) as connection:
        own = connection.execute("SELECT current_database()").fetchone()[0].replace('"', '""')
        connection.execute("CREATE TABLE made AS SELECT unnest(['nan', '2.5', NULL])::DOUBLE AS x; "
                           "CREATE MACRO twice(x) AS x * 2; "
                           f'CREATE VIEW w AS SELECT twice(x) AS x FROM "{own}".main.made UNION ALL SELECT x FROM made')
        for macro in ("isnan(x) AS false", "strlen(x) AS 0", "count(x) AS 1", "sum(x) AS 0", '"+"(x, y) AS 7'):
            connection.execute(f"CREATE MACRO {macro}")
    rows, _ = refreshed({"x": "float"}, duckdb={"file": f"{name}.duckdb", "table": "w"})
    assert rows == [(None,), (5.0,), (None,), (None,), (2.5,), (None,)]


@pytest.mark.parametrize("name", ["plain.parquet", "a [1]*?.parquet", "it's {x}.pq", "größe.PARQUET"])
def test_a_parquet_file(refreshed, tmp_path, name):
    finite = QUERY.replace("'infinity', '-infinity', 'infinity'", "NULL, NULL, NULL").replace(
        "0044-03-15 (BC)", "0044-03-15"
    )
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({finite}) TO '{tmp_path}/x.tmp' (FORMAT parquet)")
    (tmp_path / "x.tmp").rename(tmp_path / name)
    rows, _ = refreshed(COLUMNS, file=name)
    assert rows[0][1:9] == ROWS[0][1:9]
    assert rows[1][1:4] == ROWS[1][1:4]


def test_globs_of_parquet(refreshed, tmp_path):
    with duckdb.connect() as connection:
        for i in (2, 1):
            connection.execute(f"COPY (SELECT {i} AS x) TO '{tmp_path}/p{i}.parquet' (FORMAT parquet)")
        connection.execute(f"COPY (SELECT 3 AS x, 4 AS y) TO '{tmp_path}/q3.parquet' (FORMAT parquet)")
    assert refreshed({"x": "integer"}, file="p*.parquet")[0] == [(1,), (2,)]
    with pytest.raises(Misconfigured, match="other columns"):
        refreshed({"x": "integer"}, file="?*.parquet")


@pytest.mark.parametrize("content", [b"", b"PAR1", b"a,b\n1,2\n", b"PAR1" + bytes(100) + b"PAR1"])
def test_files_that_are_not_what_they_are_called(refreshed, tmp_path, content):
    (tmp_path / "x.parquet").write_bytes(content)
    (tmp_path / "x.duckdb").write_bytes(content or b"x")
    for source in ({"file": "x.parquet"}, {"duckdb": {"file": "x.duckdb", "table": "t"}}):
        with pytest.raises(Misconfigured) as caught:
            refreshed({"x": "integer"}, **source)
        assert caught.value.__cause__ is None
        assert caught.value.cure


def test_absent_files_tables_and_columns(refreshed, tmp_path):
    with duckdb.connect(str(tmp_path / "x.duckdb")) as connection:
        connection.execute("CREATE TABLE visits (X INTEGER); CREATE SCHEMA s; CREATE TABLE s.visits (x INTEGER)")
        connection.execute(
            "CREATE VIEW v AS SELECT 7 AS x; CREATE VIEW bad AS SELECT 1 // 0 AS x, error('secret') AS y"
        )
    cases = [
        ({"file": "none.parquet"}, "is not there"),
        ({"duckdb": {"file": "none.duckdb", "table": "t"}}, "There is no DuckDB file"),
        ({"duckdb": {"file": "x.duckdb", "table": "visit"}}, 'has no table "visit"'),
        ({"duckdb": {"file": "x.duckdb", "table": "visits"}}, "has more than one table"),
        ({"duckdb": {"file": "x.duckdb", "table": "main.visits"}}, 'has no column "x". Did you mean "X"?'),
    ]
    for source, told in cases:
        with pytest.raises(Misconfigured) as caught:
            refreshed({"x": "integer"}, **source)
        assert told in str(caught.value)
    assert refreshed({"x": "integer"}, duckdb={"file": "x.duckdb", "table": "v"})[0] == [(7,)]
    with pytest.raises(Misconfigured) as caught:
        refreshed({"y": "text"}, duckdb={"file": "x.duckdb", "table": "bad"})
    assert "secret" not in str(caught.value)


def written(path, names, *columns):
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table([pa.array(cells) for cells in columns], names=names), path)


@pytest.mark.parametrize("folder", ["id=12", "ID=12", "Id=13/x=1", "filename=1/id=null"])
def test_a3_the_name_of_a_folder_replaces_no_column(refreshed, tmp_path, folder):
    written(tmp_path / "site" / folder / "a.parquet", ["id", "x", "filename"], [7, 8], [1, 2], ["u", "v"])
    columns = {"id": "integer", "x": "integer", "filename": "text"}
    for place in (f"site/{folder}/a.parquet", "site/**/*.parquet"):
        assert refreshed(columns, file=place)[0] == [(7, 1, "u"), (8, 2, "v")]


def test_a3_the_name_of_a_folder_is_no_column_either(refreshed, tmp_path):
    written(tmp_path / "site=12" / "a.parquet", ["id"], [7])
    with pytest.raises(Misconfigured, match=r'has no column "site": the name of a folder is not read as one'):
        refreshed({"id": "integer", "site": "integer"}, file="site=*/*.parquet")


def test_a3_a_view_that_reads_another_file_or_a_variable_is_refused(refreshed, tmp_path):
    written(tmp_path / "a.parquet", ["x"], [7])
    with duckdb.connect(str(tmp_path / "x.duckdb")) as connection:
        connection.execute(f"CREATE VIEW v AS FROM read_parquet('{tmp_path}/*.parquet')")
        connection.execute("CREATE TABLE names (x INTEGER); CREATE VIEW w AS SELECT x FROM names; DROP TABLE names")
    names = columns = found = pd.DataFrame({"x": [5]})  # what w would read, were variables read
    assert len(names) == len(columns) == len(found)
    for view in ("v", "w"):
        with pytest.raises(Misconfigured, match="A view that reads another file is not read: make it a table"):
            refreshed({"x": "integer"}, duckdb={"file": "x.duckdb", "table": view})


def test_a_view_changes_no_setting(refreshed, tmp_path, capfd):
    """A log would have had the rows that are asked for, and one that cannot be written ends the whole process."""
    with duckdb.connect(str(tmp_path / "x.duckdb")) as connection:
        connection.execute("CREATE VIEW v AS SELECT 1 AS x WHERE NOT EXISTS (FROM enable_logging(storage = 'stdout'))")
    with pytest.raises(Misconfigured, match="cannot be read to its end"):
        refreshed({"x": "integer"}, duckdb={"file": "x.duckdb", "table": "v"})
    assert capfd.readouterr().out == ""


REPEATED = [
    (["id", "x", "x", "x_1"], "Columns 2 and 3"),
    (["id", "x", "x"], "Columns 2 and 3"),
    (["x", "id", "y", "x"], "Columns 1 and 4"),
]


@pytest.mark.parametrize(("names", "told"), REPEATED)
def test_a4_repeated_names_are_refused_with_both_positions(refreshed, tmp_path, names, told):
    written(tmp_path / "a.parquet", names, *([i] for i in range(len(names))))
    with pytest.raises(Misconfigured, match=f'{told} of "a.parquet" have the same name'):
        refreshed({"id": "integer"}, file="a.parquet")


def test_a4_names_that_differ_by_case_or_by_what_the_engine_appends_are_read_right(refreshed, tmp_path):
    names = ["id", "ID", "ID_1", "É", "é", "l", "L"]
    written(tmp_path / "a.parquet", names, *([10 + i] for i in range(5)), [[{"id": 1, "x": [2]}]], [17])
    wanted = {name: "integer" for name in names if name != "l"}
    assert refreshed(wanted, file="a.parquet")[0] == [(10, 11, 12, 13, 14, 17)]
    for name, value in (("ID", 11), ("id", 10), ("ID_1", 12), ("L", 17)):
        assert refreshed({name: "integer"}, file="a.parquet")[0] == [(value,)]
    with pytest.raises(Misconfigured, match="has no column"):
        refreshed({"ID_1_1": "integer"}, file="a.parquet")


def test_c10_the_cure_for_a_directory_works_pasted_back(refreshed, tmp_path):
    for folder in ("flat", "deep [1]/year=1", "csv"):
        written(tmp_path / folder / "a.parquet", ["x"], [7])
    (tmp_path / "csv" / "a.parquet").unlink()
    (tmp_path / "csv" / "a.csv").write_text("x\n7\n")
    for place in ("flat", "flat/", "deep [1]", "csv"):
        with pytest.raises(Misconfigured) as caught:
            refreshed({"x": "integer"}, file=place)
        cured = tomllib.loads(caught.value.cure.partition(": ")[2].removesuffix("."))
        assert refreshed({"x": "integer"}, **cured)[0] == [(7,)]


def test_t1_a_text_of_a_parquet_file_that_is_no_utf8_harms_no_other_row(refreshed, tmp_path):
    """What was a known limit: DuckDB stops at such a text, and the whole refresh with it."""
    cells = [b"a", b"\xff", b"?", "\ufffd".encode(), b"\xed\xa0\x80", b"b\xc3", b"", "é".encode(), b"\xff?"] * 300
    ends = np.cumsum([0, *map(len, cells)]).astype(np.int32)
    wild = pa.StringArray.from_buffers(len(cells), pa.py_buffer(ends.tobytes()), pa.py_buffer(b"".join(cells)))
    pq.write_table(pa.table({"x": wild, "X": list(range(len(cells))), "y": wild}), tmp_path / "x.parquet")
    assert refreshed({"X": "integer"}, file="x.parquet")[0] == [(n,) for n in range(len(cells))]
    rows, report = refreshed({"x": "text", "X": "integer", "y": "integer"}, file="x.parquet")
    texts = ["a", None, "?", "\ufffd", None, None, "", "é", None] * 300
    assert sorted(rows, key=lambda row: row[1]) == [(text, n, None) for n, text in enumerate(texts)]
    assert report.unreadable["x"].count == 4 * 300
    assert report.unreadable["y"].count == 9 * 300


def test_t1_a_text_that_is_no_utf8_is_read_past_beside_values_that_no_form_reads(refreshed, tmp_path):
    """A column that was read by the grammar before DuckDB stopped at another one's text was in the way of the second
    reading, and the refresh failed for one value."""
    wild = pa.StringArray.from_buffers(2, pa.py_buffer(np.array([0, 1, 2], np.int32)), pa.py_buffer(b"a\xff"))
    pq.write_table(pa.table({"n": ["x"], "t": ["a"]}), tmp_path / "1.parquet")  # from here on, column by column
    pq.write_table(pa.table({"n": ["y", "5"], "t": wild}), tmp_path / "2.parquet")
    rows, report = refreshed({"n": "integer", "t": "text"}, file="*.parquet")
    assert sorted(rows, key=str) == sorted([(None, "a"), (None, "a"), (5, None)], key=str)
    assert [report.unreadable[name].count for name in "nt"] == [2, 1]


@pytest.mark.parametrize(("type", "values"), [
    ("integer", [5, None, None, None]), ("text", ["5", str(2**63), str(2**128 - 1), None]), ("boolean", [None] * 4),
    ("float", [5.0, 2.0**63, 2.0**128, None]),
])
def test_unsigned_integers_of_128_bits_are_the_numbers_that_they_are(refreshed, tmp_path, type, values):
    with duckdb.connect(str(tmp_path / "x.duckdb")) as connection:
        connection.execute(f"CREATE TABLE t AS SELECT unnest(['5', '{2**63}', '{2**128 - 1}', NULL]::UHUGEINT[]) AS x")
    assert refreshed({"x": type}, duckdb={"file": "x.duckdb", "table": "t"})[0] == [(value,) for value in values]


def test_a_column_of_json_is_read_as_the_text_that_it_is(refreshed, tmp_path):
    with duckdb.connect(str(tmp_path / "x.duckdb")) as connection:
        values = """('{"a": 1}'::JSON), ('"York"'), (NULL), ('[ ]')"""
        connection.execute(f"CREATE TABLE t AS SELECT * FROM (VALUES {values}) v(x)")
        connection.execute(f"COPY t TO '{tmp_path}/x.parquet' (FORMAT parquet)")
    for source in ({"file": "x.parquet"}, {"duckdb": {"file": "x.duckdb", "table": "t"}}):
        rows, report = refreshed({"x": "text"}, **source)
        assert rows == [('{"a": 1}',), ('"York"',), (None,), ("[ ]",)]
        assert not report.unreadable["x"].count
