"""`distinct`: of a unit's repeated rows the canonically first stays, in any order, and no unit touches another."""

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
from dpcurator.snapshot.refresh import refresh
from dpcurator.snapshot.repeats import without_repeats

connection = duckdb.connect()
COLUMNS = {"who": "text", "visit": "integer", "ward": "text", "cost": "float"}


def declaration(tmp_path, distinct, **table):
    raw = {"curator": {"protects": "people"}, "ledger": {"epsilon": 1}}
    fields = {"unit": "who", "max_total": 5, "columns": COLUMNS, "distinct": distinct} | table
    return load(raw | {"tables": {"t": fields}}, directory=tmp_path)


def first_of_each(rows, alike):
    """The definition, in Python: sort all, keep the first of each unit and combination; the missing repeat nothing."""
    def order(row):
        return [(value is not None, value if value is not None else 0) for value in row]

    kept, seen = [], set()
    for row in sorted(rows, key=order):
        key = (row[0], *(row[j] for j in alike))
        if None in key or key not in seen:
            kept.append(row)
            seen.add(key)
    return kept


def told(rows):
    return sorted(rows, key=repr)


ROW = st.tuples(
    st.sampled_from(["a", "b", None]), st.sampled_from([1, 2, None]), st.sampled_from(["x", "é", None]),
    st.sampled_from([-1.5, 0.0, 2.0, None]),
)


@pytest.mark.parametrize("distinct", [["visit"], ["ward", "visit"]])
@given(rows=st.lists(ROW, max_size=8))
@tried
def test_what_stays_is_the_definition_in_any_order_and_unit_by_unit(distinct, rows):
    table = declaration(Path(), distinct).tables[0]
    alike = [list(COLUMNS).index(name) for name in distinct]

    def read(given):
        connection.execute("CREATE OR REPLACE TABLE t0 (c0 VARCHAR, c1 BIGINT, c2 VARCHAR, c3 DOUBLE)")
        if given:
            connection.executemany("INSERT INTO t0 VALUES (?, ?, ?, ?)", given)
        repeats = without_repeats(connection, 0, table)
        left = connection.execute("FROM t0").fetchall()
        assert repeats == len(given) - len(left)
        return left

    whole = read(rows)
    assert told(whole) == told(first_of_each(rows, alike))
    random.Random(0).shuffle(rows)
    without = [row for row in rows if row[0] != "a"]
    assert told(read(without)) == told([row for row in whole if row[0] != "a"])


def test_repeats_are_told_and_are_part_of_meaning(tmp_path, stored):
    declared = declaration(tmp_path, ["visit"])
    report = refresh(declared, {"t": {"who": ["a"] * 3, "visit": [1, 1, 2], "ward": ["x"] * 3, "cost": [2, 1, 3]}})
    assert stored(declared) == [("a", 1, "x", 1.0), ("a", 2, "x", 3.0)]
    assert "1 rows repeat another of their unit and are left out" in str(report)
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
    ],
)
def test_refused(tmp_path, fields, said):
    given = {name: value for name, value in fields.items() if name != "distinct"}
    with pytest.raises(Misconfigured) as caught:
        declaration(tmp_path, fields["distinct"], **given)
    assert said in str(caught.value)
