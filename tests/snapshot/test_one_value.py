"""Columns with `per_unit = 1`: what a refresh makes of a unit's rows, from every source, and tells the steward."""

from __future__ import annotations

import itertools
import json
import math
import random

import duckdb
import pytest

import dpcurator as dp
from dpcurator.catalog.bind import catalog_of, schema_fingerprint
from dpcurator.catalog.load import load
from dpcurator.errors import Misconfigured
from dpcurator.snapshot.refresh import refresh
from dpcurator.snapshot.store import open_snapshot

COLUMNS = {
    "who": "text", "region": {"type": "text", "keys": ["N", "S"], "per_unit": 1},
    "size": {"type": "float", "bounds": [0, 10], "per_unit": 1}, "born": {"type": "date", "per_unit": 1},
    "n": "integer",
}
ROWS = [
    ("a", "S", 2.0, "2000-01-02", 1), ("a", "N", None, None, 2), ("a", None, 1.5, "1999-12-31", 3),
    ("b", "é", -1.0, "2000-01-01", 4), ("b", "z", -0.0, None, 5), ("c", None, None, None, 6),
    ("c", None, float("nan"), None, 7), (None, "S", 9.0, None, 8), (None, "N", 3.0, None, 9), ("d", "S", 4.0, None, 10),
]
WANTED = {1: ("a", "N", 1.5), 2: ("a", "N", 1.5), 3: ("a", "N", 1.5), 4: ("b", "z", -1.0), 5: ("b", "z", -1.0),
          6: ("c", None, None), 7: ("c", None, None), 8: (None, "S", 9.0), 9: (None, "N", 3.0),
          10: ("d", "S", 4.0)}


def told(**table):
    return {"curator": {"protects": "people"}, "ledger": {"epsilon": 4},
            "tables": {"t": {"unit": "who", "max_total": 3, "columns": COLUMNS} | table}}


def stored_of(declaration):
    with duckdb.connect(str(open_snapshot(declaration).path), read_only=True) as connection:
        return {row[4]: row[:3] for row in connection.execute("FROM t0").fetchall()}


def frame(rows):
    return {name: [row[j] for row in rows] for j, name in enumerate(COLUMNS)}


def written(kind, rows, tmp_path):
    """The rows as a source of each kind, and what the catalog says of it."""
    if kind == "frame":
        return {}, {"t": frame(rows)}
    if kind == "csv":
        cells = ["" if value is None else str(value) for row in rows for value in row]
        lines = [",".join(cells[n : n + 5]) for n in range(0, len(cells), 5)]
        (tmp_path / "t.csv").write_text("\n".join([",".join(COLUMNS), *lines]) + "\n")
        return {"file": "t.csv"}, {}
    with duckdb.connect(str(tmp_path / "t.duckdb")) as connection:
        connection.execute("CREATE TABLE t (who VARCHAR, region VARCHAR, size DOUBLE, born DATE, n BIGINT)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", rows)
        if kind == "parquet":
            connection.execute(f"COPY t TO '{tmp_path / 't.parquet'}' (FORMAT parquet)")
    return ({"file": "t.parquet"} if kind == "parquet" else {"duckdb": {"file": "t.duckdb", "table": "t"}}), {}


@pytest.mark.parametrize("kind", ["frame", "csv", "parquet", "duckdb"])
def test_every_row_gets_the_smallest_present_value_of_its_unit(kind, tmp_path):
    table, frames = written(kind, ROWS, tmp_path)
    declaration = load(told(**table), directory=tmp_path)
    report = refresh(declaration, frames).tables[0]
    assert stored_of(declaration) == WANTED
    assert (report.one_value["region"].other, report.one_value["region"].none) == (2, 1)
    assert (report.one_value["size"].other, report.one_value["size"].none) == (2, 1)
    assert "2 had another value and 1 had none" in "\n".join(report.lines())
    assert not report.clean()
    assert json.loads(json.dumps(report.as_json()))["one_value"]["born"] == {"other": 1, "none": 2}


def test_it_is_the_same_in_any_order_and_each_unit_alone_decides_it(tmp_path):
    """Unit-local: without a unit, or with another in its place, the rows of the others are what they were."""
    declaration = load(told(), directory=tmp_path)
    luck = random.Random(1)
    for _ in range(4):
        refresh(declaration, {"t": frame(luck.sample(ROWS, len(ROWS)))})
        assert stored_of(declaration) == WANTED
    for unit in "abcd":
        others = [row for row in ROWS if row[0] != unit]
        for extra in ([], [(unit, "\x00", -5e300, "1000-01-01", 99)]):
            refresh(declaration, {"t": frame([*extra, *others])})
            found = stored_of(declaration)
            found.pop(99, None)
            assert found == {n: row for n, row in WANTED.items() if row[0] != unit}


def test_a_snapshot_is_made_for_it(tmp_path):
    """A column that becomes one, or is one no longer, needs a refresh; old fingerprints and digests do not move."""
    without = json.loads(json.dumps(told()))
    for column in without["tables"]["t"]["columns"].values():
        if isinstance(column, dict):
            column.pop("per_unit", None)
    one, other = load(told(), directory=tmp_path), load(without, directory=tmp_path)
    assert schema_fingerprint(one) != schema_fingerprint(other)
    assert catalog_of(one).digest != catalog_of(other).digest
    refresh(other, {"t": frame(ROWS)})
    with pytest.raises(Misconfigured):
        open_snapshot(one)
    unit = json.loads(json.dumps(told()))
    unit["tables"]["t"]["unit"] = "n"
    assert schema_fingerprint(load(unit)) != schema_fingerprint(one)  # the rows are alike for another unit


@pytest.mark.parametrize(("changed", "words"), [
    ({"columns": COLUMNS | {"who": {"type": "text", "per_unit": 1}}}, "this column is the unit"),
    ({"unit": "each row", "max_total": None}, "each row is a unit"),
    ({"public": True, "unit": None, "max_total": None}, "a public table has no units"),
    ({"columns": COLUMNS | {"n": {"type": "integer", "per_unit": 2}}}, "per_unit = 1"),
    ({"columns": COLUMNS | {"n": {"type": "integer", "per_unit": True}}}, "per_unit = 1"),
])
def test_it_is_refused_where_it_says_nothing(changed, words):
    raw = told(**changed)
    raw["tables"]["t"] = {name: value for name, value in raw["tables"]["t"].items() if value is not None}
    with pytest.raises(Misconfigured) as refused:
        load(raw)
    assert words in str(refused.value)


def test_a_question_grouped_by_such_columns_is_one_group_a_unit_and_verifies(tmp_path):
    curator = _opened(tmp_path)
    asked = "SELECT region, COUNT(*) AS n, COUNT(DISTINCT who) AS people FROM t GROUP BY region"
    quote = curator.quote(asked, spend="50%", cut=False)
    assert (quote.reach.groups, quote.reach.keys) == (1, 2)
    assert [float(one.reading.l1 * one.reading.unit) for one in quote.priced] == [3, 1]
    answer = curator.ask(asked, spend="50%")
    assert "in more than" not in answer.notes[0]
    assert curator.verify(answer.receipt).holds
    assert "one value of: region, size, born" in str(curator.tables)
    assert curator.tables.as_json()["tables"][0]["columns"][1]["per_unit"] == 1


def test_rehearsals_have_one_value_too(tmp_path):
    from dpcurator.curator.rehearsal import made_up

    catalog = dp.rehearsing(told(), directory=tmp_path).catalog
    made = made_up(catalog, catalog.tables[0])
    for j in (1, 2, 3):
        pairs = {(who, value) for who, value in zip(made["c0"], made[f"c{j}"], strict=True)}
        assert len(pairs) == len(set(made["c0"])) < len(made["c0"])


def _opened(tmp_path):
    with pytest.warns(UserWarning, match="not everything"):
        return dp.open(told(), directory=tmp_path, t=frame(ROWS))


@pytest.mark.parametrize(("asked", "free"), [
    ("SELECT COUNT(DISTINCT who) FROM t", True), ("SELECT region, COUNT(DISTINCT who) FROM t GROUP BY region", True),
    ("SELECT COUNT(DISTINCT who) FROM t GROUP BY UPPER(region)", True), ("SELECT COUNT(*) FROM t", False),
    ("SELECT COUNT(DISTINCT who) FROM t HAVING COUNT(*) > 3", False),
    ("SELECT n, COUNT(DISTINCT who) FROM t GROUP BY n", False),
    ("SELECT region, n, COUNT(DISTINCT who) FROM t GROUP BY region, n", False),
])
def test_counting_units_in_their_one_group_needs_no_cap(asked, free, tmp_path):
    raw = told(columns=COLUMNS | {"n": {"type": "integer", "keys": [1, 2, 3]}})
    del raw["tables"]["t"]["max_total"]
    curator = dp.rehearsing(raw, directory=tmp_path)
    if not free:
        with pytest.raises(dp.Refusal, match="declares no cap"):
            curator.quote(asked, spend="5%")
        return
    (one,) = curator.quote(asked, spend="5%").priced
    assert one.reading.l1 * one.reading.unit == 1


def test_every_pair_of_rows_in_every_order():
    """The smallest by the canonical order, for the kinds a column may have."""
    from dpcurator.catalog.columns import in_order

    for values in (["b", "a", "é", "B"], [3, -2, 2**62], [0.5, -0.0, -1e300, float("inf")]):
        for some in itertools.permutations(values, 3):
            assert min(some) == in_order(tuple(some))[0]


def test_a_zero_is_stored_in_one_way_in_any_order(tmp_path):
    """-0.0 and 0.0 are one value: which of them is stored follows from no row's place."""
    for number, zeros in enumerate(([0.0, -0.0], [-0.0, 0.0], [-0.0, -0.0])):
        place = tmp_path / str(number)
        place.mkdir()
        rows = [("a", "S", value, None, n) for n, value in enumerate(zeros)]
        declaration = load(told(), directory=place)
        refresh(declaration, {"t": frame(rows)})
        assert {math.copysign(1, row[2]) for row in stored_of(declaration).values()} == {1.0}
