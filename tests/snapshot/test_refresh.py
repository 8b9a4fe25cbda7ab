"""A refresh as a whole: physical names and kinds, public keys, the steward's report, row locality."""

import datetime as dt
import json
from fractions import Fraction as F

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st
from power import tried

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
    report = refresh(declaration, progress=lambda *told: seen.append(told))
    assert seen == [("visits", 3, 1.0), ("cities", 4, 1.0)]
    info = open_snapshot(declaration)
    with duckdb.connect(str(info.path), read_only=True) as connection:
        kinds = connection.execute("DESCRIBE t0").fetchall()
        assert [(row[0], row[1]) for row in kinds] == [("c0", "VARCHAR"), ("c1", "VARCHAR"), ("c2", "DOUBLE"),
                                                     ("c3", "BIGINT")]  # the last of numbers for the unit
        rows = connection.execute("SELECT c0, c1, c2 FROM t0").fetchall()
    assert rows == [("a", "Hull", 1.0), (None, "Oslo", None), ("b", None, 0.0)]
    assert str(rows[2][2]) == "0.0"
    assert [(table.name, table.physical) for table in info.tables] == [("visits", "t0"), ("cities", "t1")]
    catalog = catalog_of(declaration, info.facts)
    assert catalog.tables[0].columns[1].keys == ("Hull", "York")
    assert catalog.tables[0].columns[2].keys == (None, 1.0, 2.0, float("inf"))
    assert catalog.data_version == 1
    assert dict(info.facts.most) == {("cities", "name"): 2, ("cities", "price"): 1}
    assert info.facts.unique == {("cities", "price")}
    assert report.tables[0].null_units == 1
    assert "Oslo" not in (declaration.state / "facts.json").read_text()


def test_missing_values_of_a_public_table_repeat_as_what_they_are_read_as(tmp_path):
    (tmp_path / "visits.csv").write_text("city,who,cost\nHull,a,1\n")
    (tmp_path / "cities.csv").write_text("name,price\nYork,2\nHull,1\nBath,\nLeeds,\n")
    declaration = load(FILE.replace('price = "float"', 'price = { type = "float", missing = 2 }'), directory=tmp_path)
    refresh(declaration)
    facts = open_snapshot(declaration).facts
    assert dict(facts.most) == {("cities", "name"): 1, ("cities", "price"): 3}
    assert facts.unique == {("cities", "name")}


def test_numbers_of_a_public_table_have_the_bounds_that_are_read_of_them(tmp_path):
    """Declared ones come first; an infinite number has none; missing ones count as what they are read as."""
    (tmp_path / "visits.csv").write_text("city,who,cost\nHull,a,1\n")
    (tmp_path / "cities.csv").write_text("name,price,people,founded,far,size,on\nYork,2.1,5,1800-01-01,inf,1,1\n"
                                         "Hull,nan,-7,1900-01-01,2,2,0\nBath,0.1,,,,,\n")
    more = 'founded = "date"\nfar = "float"\nsize = { type = "integer", bounds = [0, 9] }\non = "boolean"\n'
    declaration = load(FILE + 'people = { type = "integer", missing = 9 }\n' + more, directory=tmp_path)
    refresh(declaration)
    catalog = catalog_of(declaration, open_snapshot(declaration).facts)
    found = {column.name: (column.lower, column.upper) for column in catalog.tables[1].columns}
    assert found == {
        "name": (None, None), "price": (F("0.1"), F("2.1")), "people": (-7, 9), "founded": (-62091, -25567),
        "far": (None, None), "size": (0, 9), "on": (None, None),
    }
    assert catalog.digest != catalog_of(declaration).digest


def test_the_report_gives_places_counts_and_the_most_frequent_spellings(declared, tmp_path):
    lines = ["x,y", *(f"secret{i},1" for i in range(9)), "1", "2,3"]
    (tmp_path / "d.csv").write_text("\n".join(lines) + "\n")
    report = refresh(declared({"x": "integer", "y": "integer"}, file="d.csv"))
    assert 'most often "secret0" (1), "secret1" (1), "secret2" (1), "secret3" (1), "secret4" (1)' in str(report)
    assert "secret8" not in str(report) + json.dumps(report.as_json())
    assert "9 values of 'x' unreadable" in str(report)
    assert "d.csv:2: not an integer" in str(report)
    assert "and 4 more" in str(report)
    assert "d.csv:11: 1 fields where the header has 2" in str(report)
    assert report.tables[0].rows == 10
    assert not report.clean


CELL = st.sampled_from(["1", "", "x", "2.5", "99999999999999999999", '"', "é", "nan", "a,b", "\n"])


@given(rows=st.lists(st.tuples(CELL, CELL), max_size=6), gone=st.integers(0, 5))
@tried
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
                                   "(SELECT c0 AS x, c1 AS y, rowid AS r FROM t0)").fetchone()
    assert found == (count, count * (count - 1) // 2, 0, 0, 0)


def replaced(tmp_path, table, units=4):
    """A catalog with a public number of units, each a row."""
    raw = {"curator": {"protects": "people", "neighbours": "replace-one", "units": units}, "ledger": {"epsilon": 1}}
    return load(raw | {"tables": {"t": {"unit": "each row"} | table}}, directory=tmp_path)


WEIGHT = {"weight": {"type": "float", "bounds": [60, 70], "missing": 65, "unreadable": "set-aside"}, "x": "text"}


@pytest.mark.parametrize(
    "line", ["70,a", "seventy,a", "70,a,b", '7"0,a', '"70"0,a', "70", "\\udcff,a", ",a", "x" * (4 * 2**20 + 1)]
)
def test_a5_with_a_public_number_of_units_a_row_that_cannot_be_read_stays(tmp_path, stored, line):
    declaration = replaced(tmp_path, {"file": "d.csv", "columns": WEIGHT}, units=4)
    sums = []
    for last in ("70,a", line):
        text = f"weight,x\n61,a\n62,b\n63,c\n{last}\n"
        (tmp_path / "d.csv").write_text(text.replace("\\udcff", "\udcff"), encoding="utf-8", errors="surrogateescape")
        report = refresh(declaration).tables[0]
        rows = stored(declaration)
        assert len(rows) == report.rows == 4
        sums.append(sum(65 if weight is None else weight for weight, _ in rows))
    assert abs(sums[0] - sums[1]) <= 10
    if report.set_aside.count:
        assert (None, None) in rows
        assert "1 rows that cannot be read: they stay, with every column missing" in str(report.lines())
        assert "3 rows were read where units = 4 is declared, and counts" in str(report.lines())


@pytest.mark.parametrize("line", ["", " ", '""', "\r"])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a5_a_blank_line_is_a_row_where_each_row_is_a_unit_and_has_one_column(tmp_path, stored, line, place):
    declaration = replaced(tmp_path, {"file": "d.csv", "columns": {"weight": WEIGHT["weight"]}}, units=3)
    sums = []
    for one in ("70", line):
        lines = ["61", "62"]
        lines.insert(place, one)
        (tmp_path / "d.csv").write_text("weight\n" + "\n".join(lines) + "\n", newline="")
        report = refresh(declaration).tables[0]
        weights = [weight for (weight,) in stored(declaration)]
        assert len(weights) == report.rows == 3
        assert report.blank_lines == 0
        sums.append(sum(65 if weight is None else weight for weight in weights))
    assert abs(sums[0] - sums[1]) <= 10


@pytest.mark.parametrize(("columns", "text"), [
    ({"x": "text"}, "x\na\n\nb\n\n"), ({"x": "text", "y": "text"}, "x,y\na,b\n\na,b\n\n"),
])
def test_a5_elsewhere_a_blank_line_is_no_row(declared, stored, tmp_path, columns, text):
    (tmp_path / "d.csv").write_text(text)
    report = refresh(declared(columns, file="d.csv")).tables[0]
    assert (report.rows, report.blank_lines) == (2, 2)


def test_a5_elsewhere_such_a_row_is_left_out(declared, stored, tmp_path):
    (tmp_path / "d.csv").write_text("weight,x\n61,a\nseventy,a\n70,a,b\n")
    declaration = declared(WEIGHT, file="d.csv")
    report = refresh(declaration).tables[0]
    assert stored(declaration) == [(61.0, "a")]
    assert "2 rows set aside" in str(report.lines())


def test_a5_many_rows_that_cannot_be_read_and_a_wrong_number_are_told(tmp_path, stored):
    declaration = replaced(tmp_path, {"columns": WEIGHT}, units=7)
    report = refresh(declaration, {"t": {"weight": ["x"] * 50_001 + [1], "x": ["a"] * 50_002}})
    assert len(stored(declaration)) == 50_002
    assert "1 rows were read where units = 7 is declared" in str(report)
    assert not report.nothing_read
    assert refresh(declaration, {"t": {"weight": ["x"], "x": ["a"]}}).nothing_read == ("t: every row",)


KEYED = {"city": {"type": "text", "keys": ["Leeds", "York", "Malmö"]}, "day": {"type": "date", "keys": ["2024-01-01"]}}


def test_c6_values_outside_the_keys_are_counted_and_shown_to_the_steward(declared):
    cities = ["Leeds", " Leeds", "LEEDS", "LEEDS", "York\u00a0", "Malmo\u0308", "Hull", "Hull", "Hull", "Bath", None]
    days = [dt.date(2024, 1, 1)] * 9 + [dt.date(2024, 1, 2), None]
    report = refresh(declared(KEYED), {"t": {"city": cities, "day": days}})
    outside = report.tables[0].outside
    assert outside["city"].count == 9
    assert outside["city"].first == (
        ('"LEEDS"', 2, '"Leeds"'), ('" Leeds"', 1, '"Leeds"'), ('"Malmo\u0308"', 1, '"Malmö"'),
        ('"York\u00a0"', 1, '"York"'), ('"Hull"', 3, None),
    )
    assert outside["day"].first == (("2024-01-02", 1, None),)
    assert "9 values of 'city' are none of its keys: no group counts them" in str(report)
    assert '"LEEDS": 2, but for its spelling the key "Leeds"' in str(report)
    assert not report.clean
    assert json.loads(json.dumps(report.as_json()))["tables"][0]["outside_keys"]["city"]["count"] == 9


def test_c6_values_left_out_on_purpose_are_told_and_the_report_is_clean(declared):
    report = refresh(declared(KEYED), {"t": {"city": ["Leeds", "Hull"], "day": [None, None]}})
    assert "1 values of 'city' are none of its keys" in str(report)
    assert report.clean
    assert refresh(declared(KEYED), {"t": {"city": ["Leeds", None], "day": [None, None]}}).tables[0].outside == {}


def test_c6_keys_of_a_public_table_are_compared_too(tmp_path):
    (tmp_path / "visits.csv").write_text("city,who,cost\nHULL,a,1\nHull,b,7\n")
    (tmp_path / "cities.csv").write_text("name,price\nYork,2\nHull,1\n")
    report = refresh(load(FILE, directory=tmp_path))
    assert report.tables[0].outside["city"].first == (('"HULL"', 1, '"Hull"'),)
    assert report.tables[0].outside["cost"].first == (("7.0", 1, None),)
    assert report.tables[1].outside == {}


def test_c5_a_column_of_which_nothing_was_read_is_named(declared):
    columns = {"x": "integer", "y": "integer", "z": "text"}
    report = refresh(declared(columns), {"t": {"x": ["1,5", None], "y": ["1", "a"], "z": [None, None]}})
    assert report.nothing_read == ("t.x",)
    assert report.tables[0].as_json()["nothing_read"] == ["x"]
