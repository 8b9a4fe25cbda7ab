"""Asking a case's question end to end: `ask` on both engines from Python lists, `opened` from a file or a frame."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction as F
from pathlib import Path
from typing import Any

import pytest
from questions import CERTAIN, answered, catalog_with

from dpcurator.catalog.load import load
from dpcurator.catalog.model import EACH_ROW, Table
from dpcurator.curator.curator import Curator
from dpcurator.curator.opening import curator_of, refresh_all
from dpcurator.engines.duckdb.engine import DuckDB
from dpcurator.engines.reference import Reference

DATA = Path(__file__).parent.parent / "cases" / "data"


def catalog_for(columns, unit=None, **declared):
    """One table "t"; max_rows and max_groups are 1 unless told; neighbours, units and delta as in a catalog."""
    facts = {name: declared.pop(name) for name in ("neighbours", "units", "delta") if name in declared}
    table = Table("t", tuple(columns), unit or columns[0].name, **({"max_rows": 1, "max_groups": 1} | declared))
    if unit == EACH_ROW:
        table = replace(table, max_rows=None, max_groups=None)
    return replace(catalog_with(table), salt="0" * 32 if facts.get("delta") else "", **facts)


@pytest.fixture(params=["reference", "duckdb"])
def engine_of(request):
    """columns -> what makes the engine of lists that such columns are held in."""

    def make(columns) -> Callable[[Any], Any]:
        kinds = {"t0": {f"c{i}": column.kind for i, column in enumerate(columns)}}
        if request.param == "reference":
            return Reference
        return lambda tables: DuckDB.from_tables(tables, kinds)

    return make


@pytest.fixture
def ask(engine_of):
    """(question, {column: values}, *columns declared in order) -> rows, without noise."""

    def run(question, columns, *declared, unit=None, epsilon=CERTAIN, **caps):
        return answered(question, columns, catalog_for(declared, unit, **caps), epsilon, engine_of(declared))

    return run


@pytest.fixture
def opened(tmp_path):
    """(table's fields, frame) -> a curator over what `refresh` stored of a file of the cases' data, or of the frame."""

    def make(frame=None, epsilon=F(10) ** 15, directory="c", **table) -> Curator:
        place = tmp_path / directory
        place.mkdir()
        if "file" in table:
            shutil.copy(DATA / table["file"], place)
        raw = {"curator": {"protects": "people"}, "ledger": {"epsilon": str(epsilon)}, "tables": {"t": table}}
        declaration = load(raw, directory=place)
        refresh_all(declaration, None if frame is None else {"t": frame})
        return curator_of(declaration)

    return make


def both(curator: Curator) -> list[Curator]:
    """The curator, and one with the reference engine over the same stored rows."""
    snapshot: Any = curator.engine()
    names = [f"c{n}" for n in range(len(curator.catalog.tables[0].columns))]
    stored = snapshot._cursor().execute(f"SELECT {', '.join(names)} FROM snapshot.main.t0").fetchall()
    rows = {name: [row[n] for row in stored] for n, name in enumerate(names)}
    return [curator, replace(curator, engine=lambda: Reference({"t0": rows}))]


def read(name: str, **types):
    """A file of the cases' data: {column: values}, empty fields missing, whole numbers where told."""
    with (DATA / name).open(newline="", encoding="utf-8") as file:
        found = list(csv.DictReader(file))
    return {key: [types.get(key, str)(row[key]) if row[key] else None for row in found] for key in found[0]}
