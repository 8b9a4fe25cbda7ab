"""`init` of several files: one draft that loads once it is filled in, and what names alone propose."""

from __future__ import annotations

from pathlib import Path

import pytest
from shell import run

from dpcurator.catalog.init_several import draft_several
from dpcurator.catalog.load import load
from dpcurator.errors import Misconfigured
from dpcurator.snapshot.refresh import refresh

FILES = {
    "orders.csv": "order_id,pid,day\no1,1,2024-01-02\no2,2,2024-01-03\n",
    "items.csv": "order_id,price\no1,3\no1,4\no9,5\n",
    "people.csv": "pid,city\n1,Leeds\n2,York\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, rows in FILES.items():
        (tmp_path / name).write_text(rows)
    return tmp_path


def test_tables_and_what_they_have_in_common(folder):
    made, _ = draft_several([folder / name for name in FILES], directory=folder, salt="0" * 32)
    assert made.count("[curator]") == made.count("[ledger]") == 1
    assert [line for line in made.splitlines() if line.startswith("[tables.") and "columns" not in line] == [
        "[tables.orders]", "[tables.items]", "[tables.people]"]
    assert "#   orders.order_id = items.order_id" in made
    assert "#   orders.pid = people.pid" in made
    assert "items.pid" not in made
    assert made.count("A type with a") == 1


def test_it_loads_once_it_is_filled_in_with_what_it_proposes(folder):
    made, _ = draft_several([folder / name for name in FILES], directory=folder)
    filled = made.replace('protects = "?"', 'protects = "people"').replace('epsilon = "?"', "epsilon = 4")
    filled = filled.replace('max_total = "?"', "max_total = 5").replace('?"', '"').replace('unit = ""', 'unit = "pid"')
    head, items = filled.split("[tables.items]")
    items = items.replace('unit = "pid"', 'unit = { through = "orders", on = "order_id" }', 1)
    (folder / "curator.toml").write_text(head + "[tables.items]" + items)
    report = refresh(load(folder / "curator.toml"))
    assert [table.ownerless.no_owner for table in report.tables if table.ownerless] == [1]


def test_names_alone_decide_what_is_proposed(folder):
    """Other rows, the same proposals."""
    one, _ = draft_several([folder / name for name in FILES], salt="0" * 32)
    for name, rows in FILES.items():
        header, first, *_ = rows.splitlines()
        (folder / name).write_text(f"{header}\n{first}\n")
    other, _ = draft_several([folder / name for name in FILES], salt="0" * 32)
    assert one.split("# Columns of equal names")[1] == other.split("# Columns of equal names")[1]


def test_refused(folder, capsys):
    (folder / "more").mkdir()
    (folder / "more" / "orders.csv").write_text(FILES["orders.csv"])
    with pytest.raises(Misconfigured, match="Two sources would be the table"):
        draft_several([folder / "orders.csv", folder / "more" / "orders.csv"])
    to = str(folder / "curator.toml")
    both = [str(folder / "orders.csv"), str(folder / "items.csv")]
    ran = run(capsys, "init", *both, "--table", "x", "--catalog", to)
    assert (ran.code, "--table names one table" in ran.err) == (2, True)
    assert run(capsys, "init", *both, "--catalog", to).code == 0
    ran = run(capsys, "init", *both, "--catalog", to)
    assert (ran.code, "already a file" in ran.err) == (4, True)
