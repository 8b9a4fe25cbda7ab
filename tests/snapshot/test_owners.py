"""Tables whose rows are owned through another one: whose each row is, what is set aside, and what is refused."""

from __future__ import annotations

import csv
import random
import tomllib
from pathlib import Path
from typing import Any

import duckdb
import pytest

import dpcurator as dp
from dpcurator.catalog.bind import catalog_of
from dpcurator.catalog.check import check
from dpcurator.catalog.load import load
from dpcurator.catalog.model import Through
from dpcurator.curator.opening import refresh_all
from dpcurator.errors import DpcuratorError
from dpcurator.snapshot.refresh import refresh
from dpcurator.snapshot.store import open_snapshot
from dpcurator.standalone import verify as standalone

CATALOG = """
[curator]
protects = "patients"
[ledger]
epsilon = 100000000
[tables.parts]
file = "parts.csv"
unit = { through = "items", on = "item" }
max_total = 9
[tables.parts.columns]
item = "integer"
kind = { type = "text", keys = ["a", "b"] }
[tables.items]
file = "items.csv"
unit = { through = "orders", on = "order_id", key = "id" }
max_total = 9
[tables.items.columns]
order_id = "text"
item = "integer"
price = { type = "float", bounds = [0, 100] }
[tables.orders]
file = "orders.csv"
unit = "pid"
max_total = 9
[tables.orders.columns]
id = "text"
pid = "integer"
"""
ORDERS = [("o1", 1), ("o2", 2), ("o3", 3), ("o3", 3), ("o4", 1), ("o4", 2), ("o5", None), ("o6", None), ("o6", 4),
          (None, 5)]
ITEMS = [("o1", 10, 1), ("o1", 11, 2), ("o2", 12, 4), ("o3", 13, 8), ("o4", 14, 16), ("o5", 15, 32), ("o6", 16, 64),
         (None, 17, 1), ("o9", 18, 1), ("O1", 19, 1), ("o2", 12, 4)]
PARTS = [(10, "a"), (12, "b"), (14, "a"), (99, "a"), (None, "b"), (16, "a")]


def written(folder: Path, orders: Any = ORDERS, items: Any = ITEMS, parts: Any = PARTS, catalog: str = CATALOG) -> Any:
    """The declaration, with its files beside it."""
    folder.mkdir(exist_ok=True)
    for name, header, rows in (("orders", ["id", "pid"], orders), ("items", ["order_id", "item", "price"], items),
                               ("parts", ["item", "kind"], parts)):
        with (folder / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([header, *rows])
    (folder / "curator.toml").write_text(catalog)
    return load(folder / "curator.toml")


def rows_of(declaration: Any) -> dict[str, list[tuple[Any, ...]]]:
    """What the snapshot holds, sorted."""
    info = open_snapshot(declaration)
    with duckdb.connect(str(info.path), read_only=True) as held:
        found = {one.name: held.execute(f"SELECT * FROM {one.physical}").fetchall() for one in info.tables}
    return {name: sorted(rows, key=repr) for name, rows in found.items()}


def test_a_row_gets_the_unit_of_the_row_that_has_its_key(tmp_path):
    declaration = written(tmp_path / "c")
    assert [column.name for column in declaration.tables[1].columns] == ["order_id", "item", "price", "pid"]
    assert declaration.tables[1].through == Through("orders", "order_id", "id")
    report = refresh(declaration)
    found = rows_of(declaration)
    assert found["items"] == sorted([
        ("o1", 10, 1.0, 1), ("o1", 11, 2.0, 1), ("o2", 12, 4.0, 2), ("o2", 12, 4.0, 2), ("o3", 13, 8.0, 3),
        ("o6", 16, 64.0, 4)], key=repr)
    assert found["parts"] == sorted([(10, "a", 1), (12, "b", 2), (16, "a", 4)], key=repr)
    told = str(report)
    for line in ("1 rows have no 'order_id'", "3 rows have a 'order_id' that nobody has in 'orders'",
                 "1 rows have a 'order_id' that several units have in 'orders'"):
        assert f"{line}: they are nobody's, and set aside" in told
    assert report.as_json()["tables"][1]["ownerless"] == {
        "on": "order_id", "table": "orders", "no_key": 1, "no_owner": 3, "several": 1}


def test_questions_of_such_a_table_are_of_its_units(tmp_path):
    refresh_all(written(tmp_path / "c"))
    curator = dp.open(tmp_path / "c" / "curator.toml")
    text = "SELECT COUNT(*) AS n, COUNT(DISTINCT pid) AS who, SUM(price) AS s FROM items"
    asked = curator.ask(text, epsilon=10000000)
    assert [round(asked[name][0]) for name in ("n", "who", "s")] == [6, 4, 83]
    assert "(the unit, through orders)" in str(curator.tables)
    assert curator.tables.as_json()["tables"][1]["through"] == {"table": "orders", "on": "order_id", "key": "id"}
    joined = curator.ask("SELECT AVG(CLIP(n, 0, 9)) AS n FROM (SELECT pid, COUNT(*) AS n FROM items GROUP BY pid) "
                         "WHERE pid IN (SELECT pid FROM orders WHERE id = 'o1')", epsilon=10000000)
    assert round(joined["n"][0]) == 2
    parts = curator.ask("SELECT kind, COUNT(*) AS n FROM parts GROUP BY kind", epsilon=10000000)
    for answer in (asked, joined, parts):
        assert curator.verify(answer.receipt).holds
        steps = standalone.steps(answer.receipt, catalog=tomllib.loads(CATALOG))
        assert all(holds for _, holds, _ in steps), steps
    lie = tomllib.loads(CATALOG.replace('through = "orders"', 'through = "parts"'))
    found = [name for name, holds, _ in standalone.steps(parts.receipt, catalog=lie) if not holds]
    assert found == ["catalog"]  # they go in a circle, so nobody is said


def test_taking_a_unit_out_of_the_sources_takes_out_its_rows_and_no_others(tmp_path):
    """Where the key is one at the source, the rows of a unit in all tables go with it, and nothing else moves."""
    draw = random.Random(1)
    orders = [(f"o{n}", draw.choice([1, 2, 3, None])) for n in range(9)]
    items = [(draw.choice([f"o{n}" for n in range(10)] + [None]), draw.randrange(20), 1) for _ in range(40)]
    items = list({item: row for row in items for item in (row[1],)}.values())  # an item is of one order
    parts = [(draw.choice([*range(20), None]), draw.choice("ab")) for _ in range(40)]
    whole = written(tmp_path / "whole", orders, items, parts)
    refresh(whole)
    every = rows_of(whole)
    for unit in (1, 2, 3):
        mine = {order for order, who in orders if who == unit}
        its = {item for order, item, _ in items if order in mine}
        left = written(tmp_path / f"without{unit}", [row for row in orders if row[1] != unit],
                       [row for row in items if row[0] not in mine], [row for row in parts if row[0] not in its])
        refresh(left)
        assert rows_of(left) == {
            "orders": [row for row in every["orders"] if row[1] != unit],
            "items": [row for row in every["items"] if row[3] != unit],
            "parts": [row for row in every["parts"] if row[2] != unit],
        }


def test_the_order_of_rows_and_tables_plays_no_part(tmp_path):
    one = written(tmp_path / "one")
    blocks = ["[tables" + block for block in CATALOG.split("\n[tables")[1:]]
    joined = ["\n".join(blocks[n : n + 2]) for n in range(0, len(blocks), 2)]
    head = CATALOG.split("\n[tables")[0]
    other = written(tmp_path / "other", ORDERS[::-1], ITEMS[::-1], PARTS[::-1], "\n".join([head, *joined[::-1]]))
    assert [table.name for table in other.tables] == ["orders", "items", "parts"]
    refresh(one)
    refresh(other)
    assert rows_of(one) == rows_of(other)


def test_a_row_of_one_unit_never_moves_into_another_account(tmp_path):
    """A unit that writes another one's key sets those rows aside: it never gets them, nor gives its own away."""
    for unit in (1, 2, 9):
        declaration = written(tmp_path / f"c{unit}", [*ORDERS, ("o1", unit), ("o2", unit)])
        refresh(declaration)
        found = [row for row in rows_of(declaration)["items"] if row[0] in ("o1", "o2")]
        assert all(row[3] == {"o1": 1, "o2": 2}[row[0]] for row in found)
        assert len(found) == {1: 2, 2: 2, 9: 0}[unit]


def test_rows_that_are_nobodys_are_told_of(tmp_path):
    """A refresh that sets rows aside since nobody owns them has not left everything as it is."""
    assert refresh(written(tmp_path / "one", [("o1", 1)], [("o1", 10, 1)], [(10, "a")])).clean
    for items, parts in (([("O1", 10, 1)], []), ([(None, 10, 1)], []), ([("o1", 10, 1)], [(11, "a")])):
        assert not refresh(written(tmp_path / "other", [("o1", 1)], items, parts)).clean
    assert not refresh(written(tmp_path / "shared", [("o1", 1), ("o1", 2)], [("o1", 10, 1)], [])).clean


def test_a_key_is_compared_as_it_is_read(tmp_path):
    """Cleaning may make one key of two, and rows of several owners: the promise is of the keys as they are read."""
    cleaned = CATALOG.replace('id = "text"\npid', 'id = { type = "text", clean = ["lower"] }\npid')
    for n, (orders, found) in enumerate([([("A1", 1)], [("a1", 10, 1.0, 1)]), ([("A1", 1), ("a1", 2)], [])]):
        declaration = written(tmp_path / str(n), orders, [("a1", 10, 1)], [], cleaned)
        refresh(declaration)
        assert rows_of(declaration)["items"] == found


def test_check_says_what_it_means(tmp_path):
    notes = [str(one) for one in check(written(tmp_path / "c")) if one.level == "note"]
    assert len(notes) == 2
    assert 'A row of "items" is owned by whoever owns the row of "orders" whose "id" is its "order_id".' in notes[1]
    assert 'the promise rests on "id" being a key at the source' in notes[1]
    assert 'may have it in common, as it is read' in notes[1]


def test_the_catalog_and_the_snapshot_know_the_difference(tmp_path):
    """Another table to go through is another catalog, and another snapshot."""
    one = written(tmp_path / "c")
    refresh_all(one)
    curator = dp.open(tmp_path / "c" / "curator.toml")
    told = curator.quote("SELECT COUNT(*) FROM items", epsilon=1)
    changed = CATALOG.replace('on = "order_id", key = "id"', 'on = "order_id", key = "id2"').replace(
        'id = "text"\npid', 'id = "text"\nid2 = { type = "text" }\npid')
    other = written(tmp_path / "c", catalog=changed)
    assert catalog_of(one).digest != catalog_of(other).digest
    with pytest.raises(DpcuratorError, match="made for other tables"):
        open_snapshot(other)
    assert told.epsilon == 1


REFUSED = [
    ('through = "orders", on', 'through = "order", on', 'which is not declared', "orders"),
    ('on = "order_id", key', 'on = "orderid", key', 'on names "orderid", which is no column of "items"', "order_id"),
    ('key = "id"', 'key = "idd"', '"orders" has no column "idd"', "id"),
    ('order_id = "text"', 'order_id = "integer"', 'is of type integer, and "id" of "orders" of type text', "one type"),
    ('price = {', 'pid = "integer"\nprice = {', 'has a column "pid" of its own', 'unit = "pid"'),
    ('key = "id"', 'key = "pid"', "", ""),
    ('unit = "pid"', 'unit = { through = "parts", on = "id" }', "goes through", 'unit = "patient_id"'),
    ('unit = "pid"', 'unit = { through = "orders", on = "id" }', "goes through", 'unit = "patient_id"'),
    ('file = "orders.csv"\nunit = "pid"\nmax_total = 9', 'file = "orders.csv"\npublic = true', "is public: nobody", ""),
    ('on = "order_id", key', 'onn = "order_id", key', '"onn" is no field', ""),
    ('unit = { through = "items", on = "item" }', "unit = 3", "unit must be text in quotes", ""),
    ('unit = { through = "items", on = "item" }', 'unit = { through = "items" }', "has no on", ""),
    ('unit = { through = "items", on = "item" }', 'unit = { through = "?", on = "item" }', "still blank", ""),
    ('unit = { through = "items", on = "item" }', 'unit = { through = "items", on = "item" }\nappend_only = true',
     "append_only does not go with", "Leave append_only out"),
    ('unit = { through = "items", on = "item" }', 'unit = { through = "items", on = "item" }\npublic = true',
     "A public table has no unit", "Leave out"),
]


@pytest.mark.parametrize(("old", "new", "what", "cure"), REFUSED, ids=range(len(REFUSED)))
def test_refused_with_place_and_cure(tmp_path, old, new, what, cure):
    assert old in CATALOG
    with pytest.raises(DpcuratorError) as refused:
        written(tmp_path / "c", catalog=CATALOG.replace(old, new))
    assert what in str(refused.value)
    assert cure in str(refused.value)
    assert "curator.toml" in str(refused.value)
