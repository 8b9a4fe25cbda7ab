"""`distinct` and `one_row_per`: of a unit's rows the canonically first stays, in any order; units touch no other."""

import random
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st
from power import tried

from dpcurator.catalog.bind import catalog_of, schema_fingerprint
from dpcurator.catalog.load import load
from dpcurator.errors import Misconfigured
from dpcurator.snapshot import repeats
from dpcurator.snapshot.refresh import refresh
from dpcurator.snapshot.repeats import first_rows, without_repeats

connection = duckdb.connect()
COLUMNS = {"who": "text", "visit": "integer", "ward": "text", "cost": "float"}


def declaration(tmp_path, distinct=None, **table):
    raw = {"curator": {"protects": "people"}, "ledger": {"epsilon": 1}}
    fields = {"unit": "who", "max_total": 5, "columns": COLUMNS} | table
    fields |= {} if distinct is None else {"distinct": distinct}
    return load(raw | {"tables": {"t": fields}}, directory=tmp_path)


def first_of_each(rows, alike, missing=False):
    """The definition, in Python: sort all, keep the first of each unit and combination; the missing repeat nothing, or
    with `missing` one another."""
    def order(row):
        return [(value is not None, value if value is not None else 0) for value in row]

    kept, seen = [], set()
    for row in sorted(rows, key=order):
        key = (row[0], *(row[j] for j in alike))
        if key[0] is None or (None in key and not missing) or key not in seen:
            kept.append(row)
            seen.add(key)
    return kept


def told(rows):
    return sorted(rows, key=repr)


ROW = st.tuples(
    st.sampled_from(["a", "b", None]), st.sampled_from([1, 2, None]), st.sampled_from(["x", "é", None]),
    st.sampled_from([-1.5, 0.0, 2.0, None]),
)


def law(table, rows, wanted, step):
    """What stays is what is wanted, in any order of rows, and with one unit taken away what the others had."""

    def read(given):
        connection.execute("CREATE OR REPLACE TABLE t0 (c0 VARCHAR, c1 BIGINT, c2 VARCHAR, c3 DOUBLE)")
        if given:
            connection.executemany("INSERT INTO t0 VALUES (?, ?, ?, ?)", given)
        out = step(connection, 0, table)
        left = connection.execute("FROM t0").fetchall()
        assert out == len(given) - len(left)
        return left

    whole = read(rows)
    assert told(whole) == told(wanted)
    random.Random(0).shuffle(rows)
    without = [row for row in rows if row[0] != "a"]
    assert told(read(without)) == told([row for row in whole if row[0] != "a"])


@pytest.mark.parametrize("distinct", [["visit"], ["ward", "visit"]])
@given(rows=st.lists(ROW, max_size=8))
@tried
def test_what_stays_is_the_definition_in_any_order_and_unit_by_unit(distinct, rows):
    alike = [list(COLUMNS).index(name) for name in distinct]
    law(declaration(Path(), distinct).tables[0], rows, first_of_each(rows, alike), without_repeats)


@pytest.mark.parametrize("columns", [["who"], ["ward", "who"]])
@given(rows=st.lists(ROW, max_size=8))
@tried
def test_one_row_of_each_is_the_definition_in_any_order_and_unit_by_unit(columns, rows):
    alike = [list(COLUMNS).index(name) for name in columns if name != "who"]
    table = declaration(Path(), one_row_per=columns).tables[0]
    law(table, rows, first_of_each(rows, alike, missing=True), first_rows)


def test_one_row_of_each_that_forgets_the_unit_is_found(monkeypatch):
    """Weakened: of all units' rows with one ward the first stays, so whether b has one there hangs on a."""
    table = declaration(Path(), one_row_per=["who", "ward"]).tables[0]
    rows = [("a", 1, "x", 0.0), ("b", 1, "x", 0.0), ("b", 2, "x", 0.0)]
    wanted = first_of_each(rows, [2], missing=True)
    law(table, list(rows), wanted, first_rows)
    honest = repeats.keep_first
    monkeypatch.setattr(repeats, "keep_first", lambda *given: honest(*given[:3], given[3][1:], given[4]))
    with pytest.raises(AssertionError):
        law(table, list(rows), wanted, first_rows)


def test_rows_beside_the_first_are_told_and_are_part_of_meaning(tmp_path, stored):
    declared = declaration(tmp_path, one_row_per=["who"], max_total=None)
    frame = {"who": ["a", "a", "b", None, None], "visit": [2, 1, 2, 1, 1], "ward": ["x", None, "x", "x", "x"],
             "cost": [2, 1, 3, 4, 4]}
    report = refresh(declared, {"t": frame})
    assert stored(declared) == [("a", 1, None, 1.0), ("b", 2, "x", 3.0), (None, 1, "x", 4.0), (None, 1, "x", 4.0)]
    assert "1 rows come after the first that one_row_per keeps, and are left out" in str(report)
    assert (report.as_json()["tables"][0]["later"], report.clean) == (1, False)
    others = [declaration(tmp_path, max_total=None), declaration(tmp_path, one_row_per=["who", "ward"], max_total=None)]
    assert len({schema_fingerprint(one) for one in (declared, *others)}) == 3
    assert len({catalog_of(one).digest for one in (declared, *others)}) == 3


def test_values_are_compared_as_one_value_a_unit_has_made_them(tmp_path, stored):
    """Else a unit would have two rows that are the same where it may have one, and a join on both could grow."""
    columns = COLUMNS | {"ward": {"type": "text", "per_unit": 1}}
    frame = {"who": ["a", "a"], "visit": [1, 2], "ward": ["y", "x"], "cost": [2, 1]}
    for fields in ({"one_row_per": ["who", "ward"]}, {"distinct": ["ward"]}):
        declared = declaration(tmp_path, columns=columns, **fields)
        refresh(declared, {"t": frame})
        assert stored(declared) == [("a", 1, "x", 2.0)]


def test_files_that_are_added_keep_the_first_row_of_all(tmp_path, stored):
    def read(*files):
        for name, rows in files:
            (tmp_path / f"{name}.csv").write_text("who,visit,ward,cost\n" + rows)
        declared = declaration(tmp_path, one_row_per=["who"], file="*.csv", append_only=True)
        refresh(declared)
        return sorted(stored(declared))

    assert read(("1", "a,2,x,1\nb,3,x,1\na,4,x,1\n")) == [("a", 2, "x", 1.0), ("b", 3, "x", 1.0)]
    assert read(("2", "a,1,x,1\nb,4,x,1\nc,1,x,1\n")) == [
        ("a", 1, "x", 1.0), ("b", 3, "x", 1.0), ("c", 1, "x", 1.0)]


def test_repeats_are_told_and_are_part_of_meaning(tmp_path, stored):
    declared = declaration(tmp_path, ["visit"])
    report = refresh(declared, {"t": {"who": ["a"] * 3, "visit": [1, 1, 2], "ward": ["x"] * 3, "cost": [2, 1, 3]}})
    assert stored(declared) == [("a", 1, "x", 1.0), ("a", 2, "x", 3.0)]
    assert "1 rows repeat another of their unit and are left out" in str(report)
    assert not report.clean
    assert report.as_json()["tables"][0]["repeats"] == 1
    other = declaration(tmp_path, None)
    assert schema_fingerprint(declared) != schema_fingerprint(other)
    assert catalog_of(declared).digest != catalog_of(other).digest


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"distinct": []}, "at least one column"), ({"distinct": ["visit", "visit"]}, "each once"),
        ({"distinct": ["vist"]}, 'Did you mean "visit"?'), ({"distinct": ["who"]}, "is the unit"),
        ({"distinct": ["visit"], "unit": "each row", "max_total": None}, "each row is a unit of its own"),
        ({"one_row_per": []}, 'Write one_row_per = ["who"].'),
        ({"one_row_per": ["ward"]}, 'Write one_row_per = ["who", "ward"].'),
        ({"one_row_per": ["ward", "who", "ward"]}, 'Write one_row_per = ["who", "ward"].'),
        ({"one_row_per": ["who", "wart"]}, 'Did you mean "ward"?'),
        ({"one_row_per": ["who"], "distinct": ["ward"]}, "Leave distinct out."),
        ({"one_row_per": ["who"], "unit": "each row", "max_total": None}, "each row is a unit of its own"),
        ({"one_row_per": ["who"], "unit": None, "public": True, "max_total": None}, "a public table has no units"),
        ({"one_row_per": ["who"], "append_only": True, "file": "*.csv",
          "columns": COLUMNS | {"ward": {"type": "text", "per_unit": 1}}}, "one_row_per or with per_unit"),
    ],
)
def test_refused(tmp_path, fields, said):
    with pytest.raises(Misconfigured) as caught:
        declaration(tmp_path, **fields)
    assert said in str(caught.value)
