"""Which declared types a column of a typed source is read as: by its schema, before any row is looked at."""

import datetime as dt
import tomllib
from decimal import Decimal
from uuid import UUID

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpcurator.catalog.duckdb_options import write_down
from dpcurator.catalog.source_types import ANY, READ_AS, may_be
from dpcurator.catalog.spelling import Spelling, Unreadable, read_value
from dpcurator.errors import Misconfigured
from dpcurator.snapshot import typed_source

VALUES = {  # of each kind, one that each type could take, as Python has it
    "whole": [0, -7], "huge": [0, 2**70], "vast": [0, 2**100], "double": [0.0, 0.5], "decimal": [Decimal(0)],
    "truth": [True], "day": [dt.date(2020, 1, 1)], "naive": [dt.datetime(2020, 1, 1)],
    "aware": [dt.datetime(2020, 1, 1, tzinfo=dt.UTC)], "uuid": [UUID(int=1)], "clock": [dt.time(10)],
    "text": ["1", "2020-01-01", "2020-01-01T00:00Z", str(UUID(int=1)), "10:00"],
    "blob": [b"1", b"2020-01-01", b"2020-01-01T00:00Z", str(UUID(int=1)).encode(), b"10:00"], "other": [[1]],
}
SPELLINGS = [Spelling(zone="UTC"), Spelling(formats=("seconds since 1970-01-01",)), Spelling(formats=("HH:mm",)),
             Spelling(formats=("YYYY-MM-DD",), zone="UTC")]


def readable(kind, type, spelling):
    """Does the written grammar read one of these values?"""
    read = [read_value(value, type, spelling) for value in VALUES[kind]]
    return any(one is not None and not isinstance(one, Unreadable) for one in read)


@pytest.mark.parametrize("kind", READ_AS)
def test_a_kind_may_be_what_the_grammar_reads_of_it_and_nothing_else(kind):
    told = {(type, n): may_be(kind, type, spelling) for type in ANY for n, spelling in enumerate(SPELLINGS)
            if (type == "integer" or n != 2) and (type in ("date", "timestamp") or n in (0, 2))
            and not (kind in ("text", "blob", "day", "naive", "aware") and n)}
    assert told == {(type, n): readable(kind, type, SPELLINGS[n]) for type, n in told}


def files(tmp_path, sql):
    """The same rows as a file of Parquet and as a table and a view of DuckDB."""
    for left in ("x.duckdb", "x.parquet"):
        (tmp_path / left).unlink(missing_ok=True)
    with duckdb.connect(str(tmp_path / "x.duckdb")) as connection:
        connection.execute(f"CREATE TABLE t AS {sql}; CREATE VIEW w AS SELECT * FROM t")
        connection.execute(f"COPY t TO '{tmp_path}/x.parquet' (FORMAT parquet)")
    return ({"file": "x.parquet"}, *({"duckdb": {"file": "x.duckdb", "table": name}} for name in "tw"))


CHANGED = [
    ("true", "integer", 'is of type BOOLEAN, which is not read as integer. Declare it as "boolean".'),
    ("0.5::DOUBLE", "text", 'is of type DOUBLE, which is not read as text. Declare it as "float", "integer" or'),
    ("DATE '2020-01-01'", "integer", 'is of type DATE, which is not read as integer. Declare it as "date" or'),
    ("7", "date", 'which is not read as date. Declare it as "integer", "float", "boolean" or "text". Or say what'),
    ("7", "uuid", 'is of type INTEGER, which is not read as uuid. Declare it as "integer"'),
    ("[1]", "text", "is of type INTEGER[], which is not read as text. Leave it out of the catalog. Or write it"),
    ("TIME '10:00'", "text", "is of type TIME, which is not read as text. Leave it out of the catalog. Or write it"),
    ("TIMESTAMP '2020-01-01'", "timestamp", "is of type TIMESTAMP, and no zone is declared. Say whose time it is: "),
]


@pytest.mark.parametrize(("number", "value", "type", "told"), [
    pytest.param(number, *case, id=f"{case[1]} {number}", marks=[] if n < 3 and n == number else pytest.mark.slow)
    for n, case in enumerate(CHANGED) for number in range(3)])
def test_a_column_that_changed_its_type_is_refused_and_the_version_before_stays(
    refreshed, declared, stored, tmp_path, number, value, type, told
):
    """Whatever its rows are: an empty table of that type is refused too."""
    before = {"date": "DATE '2020-01-01'", "uuid": "uuid()", "timestamp": "TIMESTAMPTZ '2020-01-01 00:00Z'",
              "integer": "1", "text": "'1'"}[type]
    source = files(tmp_path, f"SELECT {before} AS x")[number]
    kept, _ = refreshed({"x": type}, **source)
    for rows in ("", " LIMIT 0"):
        files(tmp_path, f"SELECT {value} AS x{rows}")
        with pytest.raises(Misconfigured) as caught:
            refreshed({"x": type}, **source)
        assert told in str(caught.value)
        assert caught.value.__cause__ is None
    assert stored(declared({"x": type}, **source)) == kept


@pytest.mark.parametrize(("value", "type"), [
    ("7", "date"), ("7", "timestamp"), ("TIMESTAMP '2020-01-01'", "timestamp"), ("7", {"type": "integer",
                                                                                     "format": "HH:mm"})])
def test_the_cure_works_pasted_back(refreshed, tmp_path, value, type):
    source = files(tmp_path, f"SELECT {value} AS x")[0]
    with pytest.raises(Misconfigured) as caught:
        refreshed({"x": type}, **source)
    cured = tomllib.loads("x = " + caught.value.cure.rpartition("x = ")[2].removesuffix("."))
    rows, report = refreshed(cured, **source)
    assert rows[0][0] is not None
    assert not report.unreadable["x"].count


@pytest.mark.parametrize("number", [0, pytest.param(1, marks=pytest.mark.slow), 2])
def test_a_number_that_became_a_text_is_told_until_texts_are_declared(refreshed, declared, stored, tmp_path, number):
    """Whatever the texts are; a number again is read on, and so are texts after the cure was pasted."""
    source = files(tmp_path, "SELECT 7 AS x")[number]
    kept, _ = refreshed({"x": "integer"}, **source)
    for texts in ("'8'", "'eight'"):
        files(tmp_path, f"SELECT {texts} AS x")
        with pytest.raises(Misconfigured, match="is of type VARCHAR now, and was of type INTEGER before") as caught:
            refreshed({"x": "integer"}, **source)
        assert stored(declared({"x": "integer"}, **source)) == kept
    cured = tomllib.loads(f"x = {caught.value.cure.rpartition('x = ')[2].removesuffix('.')}")
    for texts, value in (("'8'", 8), ("'eight'", None), ("9::BIGINT", 9), ("' 10'", 10)):
        files(tmp_path, f"SELECT {texts} AS x")
        assert refreshed(cured, **source)[0] == [(value,)]
    assert refreshed({"x": "text"}, **source)[0] == [(" 10",)]
    with pytest.raises(Misconfigured, match="was of type INTEGER before"):
        refreshed({"x": "integer"}, **source)


@pytest.mark.parametrize(("value", "shown"), [
    ("{0}", "ENUM now, and was of type INTEGER before"),
    ("[{0}]", "ENUM[], which is not read as integer. Leave it out"),  # a list, as any other
    ("{{'a': [{0}], 'b': 1}}", "STRUCT(a ENUM[], b INTEGER), which is not read as integer"),
])
def test_no_value_of_an_enumeration_is_told(refreshed, tmp_path, value, shown):
    """Its type is the list of them, as long as it is, in DuckDB's words."""
    source = files(tmp_path, "SELECT 7 AS x")[1]
    refreshed({"x": "integer"}, **source)
    one = """CAST('O''Hara)' AS ENUM('O''Hara)', 'Bob, "B" '))"""
    files(tmp_path, f"SELECT {value.format(one)} AS x")
    with pytest.raises(Misconfigured) as caught:
        refreshed({"x": "integer"}, **source)
    assert f"is of type {shown}" in str(caught.value)
    assert "Hara" not in str(caught.value)


def test_texts_from_the_first_on_are_read_by_the_grammar(refreshed, tmp_path):
    source = files(tmp_path, "SELECT '7' AS x")[0]
    for sql, value in (("'7'", 7), ("8", 8), ("'9'", 9)):
        files(tmp_path, f"SELECT {sql} AS x")
        assert refreshed({"x": "integer"}, **source)[0] == [(value,)]


def test_a_column_without_a_value_may_be_of_any_type(refreshed, tmp_path):
    pq.write_table(pa.table(dict.fromkeys(ANY, pa.array([None, None], pa.null()))), tmp_path / "n.parquet")
    assert refreshed({type: type for type in ANY}, file="n.parquet")[0] == [(None,) * len(ANY)] * 2


@pytest.mark.slow
def test_every_type_that_duckdb_has_is_read_alike_from_a_table_and_a_view_or_refused_by_both(refreshed, tmp_path):
    with duckdb.connect(str(tmp_path / "x.duckdb")) as connection:
        connection.execute("CREATE TABLE t AS SELECT * FROM test_all_types()")
        connection.execute("CREATE VIEW w AS SELECT * FROM t")
        found = write_down(connection).execute("DESCRIBE t").fetchall()
    spelling = Spelling(zone="UTC")
    for type in ("text", "timestamp"):
        declared_as = {"type": type, "zone": "UTC"} if type == "timestamp" else type
        read = [name for name, kind, *_ in found
                if may_be(typed_source._plain("", kind)[1].partition("(")[0], type, spelling)]
        columns = dict.fromkeys(read, declared_as)
        of_table, of_view = (refreshed(columns, duckdb={"file": "x.duckdb", "table": name}) for name in "tw")
        assert of_view == of_table
        assert len(of_table[0]) == 3
        for name in {one[0] for one in found} - set(read):
            with pytest.raises(Misconfigured, match="which is not read as"):
                refreshed({name: declared_as}, duckdb={"file": "x.duckdb", "table": "t"})
