"""A clinic of several tables for tests of relations: visits and diagnoses are private by patient."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from heart import ALIKE, vectors

from dpcurator.aggregates import AGGREGATES
from dpcurator.catalog.bind import PublicFacts, catalog_of
from dpcurator.catalog.load import load
from dpcurator.catalog.model import Catalog
from dpcurator.curator.curator import Curator
from dpcurator.engines.duckdb.engine import DuckDB
from dpcurator.engines.reference import Reference
from dpcurator.errors import Refusal
from dpcurator.fronts.sql import parse
from dpcurator.ledger import Ledger, MemoryStore, Opening
from dpcurator.plan.bind import bind
from dpcurator.plan.nodes import Plan
from dpcurator.pricing.quote import price
from receipts import KEY

DECLARED: dict[str, Any] = {
    "visits": {"unit": "pid", "max_total": 50, "columns": {
        "pid": "integer", "city": {"type": "text", "keys": ["Leeds", "York"]},
        "cost": {"type": "float", "bounds": [0, 100]}, "age": {"type": "integer", "bounds": [0, 100]}, "day": "date",
    }},
    "diagnoses": {"unit": "patient", "max_total": 50, "columns": {
        "patient": "integer", "code": "text", "day": "date"}},
    "named": {"unit": "name", "max_total": 50, "columns": {"name": "text", "code": "text"}},
    "cities": {"public": True, "columns": {"city": "text", "region": "text", "people": "integer"}},
    "tags": {"public": True, "columns": {"city": "text", "tag": "text", "weight": {"type": "float", "bounds": [0, 9]}}},
}
ROWS: dict[str, list[tuple[Any, ...]]] = {
    "visits": [
        (1, "Leeds", 1.0, 10, 19000), (1, "York", 2.5, 20, 19001), (1, "Leeds", 3.0, 30, 19002),
        (2, "Leeds", None, 40, 19000), (2, None, 7.25, None, 19005), (3, "York", 4.0, 50, None),
        (None, "York", 5.0, 60, 19000), (4, "Leeds", float("nan"), 70, 19009),
    ],
    "diagnoses": [(1, "X", 19000), (3, "Y", 19001), (3, "X", None), (None, "X", 19001), (9, "X", 19000), (2, None, 0)],
    "named": [("a", "X")],
    "cities": [("Leeds", "North", 5), ("York", "North", 2), ("Bath", "South", 1), (None, "Nowhere", None)],
    "tags": [("Leeds", "a", 1.0), ("Leeds", "b", 2.5), ("York", "a", None), (None, "c", 4.0)],
}


def clinic(declared: dict[str, Any] | None = None, **curator: Any) -> Catalog:
    told = {"curator": ALIKE | curator, "ledger": {"epsilon": 1000, "delta": "1e-6"}, "tables": declared or DECLARED}
    made = load(told)
    public = {table.name: table for table in made.tables if not table.private}
    keys, unique, most = [], set(), []
    for name, table in public.items():
        for j, column in enumerate(table.columns):
            values = [row[j] for row in ROWS[name] if row[j] is not None]
            most.append(((name, column.name), max(map(values.count, values), default=0)))
            if column.kind != "float":
                keys.append(((name, column.name), tuple(sorted(set(values)))))
                unique |= {(name, column.name)} if len(values) == len(set(values)) else set()
    return catalog_of(made, PublicFacts(1, tuple(keys), frozenset(unique), tuple(most)))


CLINIC = clinic()
_ENGINES: dict[str, list[Any]] = {}


def stored(catalog: Catalog = CLINIC, rows: dict[str, list[tuple[Any, ...]]] = ROWS) -> dict[str, dict[str, Any]]:
    return {f"t{n}": {f"c{j}": [row[j] for row in rows[table.name]] for j in range(len(table.columns))}
            for n, table in enumerate(catalog.tables)}


def kinds(catalog: Catalog = CLINIC) -> dict[str, dict[str, Any]]:
    return {f"t{n}": {f"c{j}": column.kind for j, column in enumerate(table.columns)}
            for n, table in enumerate(catalog.tables)}


def planned(text: str, catalog: Catalog = CLINIC) -> Plan:
    return bind(parse(text), catalog, AGGREGATES)


def refused(text: str, catalog: Catalog = CLINIC) -> str:
    """In words, with the cure."""
    try:
        planned(text, catalog)
    except Refusal as error:
        return f"{error}" if error.cure else f"no cure: {error}"
    return "answered"


def engines(catalog: Catalog, rows: dict[str, list[tuple[Any, ...]]]) -> list[Any]:
    """Every engine over these rows: the same one for the same rows, as opening one takes long."""
    told = repr((stored(catalog, rows), kinds(catalog)))
    if told not in _ENGINES:
        _ENGINES[told] = [engine.from_tables(stored(catalog, rows), kinds(catalog)) for engine in (Reference, DuckDB)]
    return _ENGINES[told]


def exact(text: str, catalog: Catalog = CLINIC, rows: dict[str, list[tuple[Any, ...]]] = ROWS) -> list[Any]:
    """Each reading as a number by key, where nothing is noised; every engine has the same integers."""
    quote = price(planned(text, catalog), Fraction(1), catalog)
    found = [vectors(quote, engine.evaluate(quote.lowered.core)) for engine in engines(catalog, rows)]
    assert found[0] == found[1], text
    units = [one.reading.unit for one in quote.priced]
    return [{key: value * unit for key, value in one.items()}
            for one, unit in zip(found[0].readings, units, strict=True)]


def count(text: str, **given: Any) -> Fraction:
    """The one number of a question of one group."""
    [[number]] = [list(one.values()) for one in exact(text, **given)]
    return Fraction(number)


def curator(catalog: Catalog = CLINIC) -> Curator:
    opening = Opening(
        protects=catalog.protects, neighbours=catalog.neighbours, units=catalog.units, epsilon=catalog.epsilon,
        rho=catalog.rho, delta=catalog.delta, public_key=KEY.public,
    )
    return Curator(catalog, Ledger.open(MemoryStore(), opening), KEY, lambda: Reference(stored(catalog)))

