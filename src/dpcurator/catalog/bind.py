"""`catalog_of`: the frozen `Catalog` a question rests on, from the declaration and the facts `refresh` made public.

What the digest covers. sha256 of canonical JSON of everything public that gives questions their meaning: protects,
neighbours, units, salt, the budget, tables, their units, caps, repeats, columns, types, cleaning, bounds, fills, and
key lists, with keys and bounds of public tables as they were read. Not covered: sources (files, encodings, spellings,
zones), because neighbouring is defined on the snapshot's rows (semantics 1.4), and the data version, which requests
carry themselves.

Checked in tests/catalog/test_bind.py.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

from dpcurator.catalog.columns import in_order
from dpcurator.catalog.declaration import Declaration
from dpcurator.catalog.model import MAX_LENGTH, Catalog, Column, Table, Value


@dataclass(frozen=True, slots=True)
class PublicFacts:
    """What a refresh makes public: the data version, and the distinct values of public key columns.

    `keys` has ((public table, column), values without missing, in canonical order). Version 0: no refresh yet.
    """

    version: int = 0
    keys: tuple[tuple[tuple[str, str], tuple[Value, ...]], ...] = ()
    unique: frozenset[tuple[str, str]] = frozenset()  # public columns without repeats
    most: tuple[tuple[tuple[str, str], int], ...] = ()  # of a public column: in how many rows one value is, at most
    ends: tuple[tuple[tuple[str, str], tuple[Fraction, Fraction]], ...] = ()  # its least and greatest number

    def of(self, table: str, column: str) -> tuple[Value, ...] | None:
        """The key values of a public column; None when no refresh has read it."""
        return next((values for name, values in self.keys if name == (table, column)), None)


NO_FACTS: Final = PublicFacts()


def catalog_of(declaration: Declaration, facts: PublicFacts = NO_FACTS) -> Catalog:
    """The catalog, bound to a data version. A column whose public table was not read yet has no key list (None)."""
    tables = tuple(_with_public_keys(table, declaration, facts) for table in declaration.tables)
    catalog = Catalog(
        protects=declaration.protects,
        neighbours=declaration.neighbours,
        units=declaration.units,
        epsilon=declaration.epsilon,
        delta=declaration.delta,
        tables=tables,
        digest="",
        data_version=facts.version,
        rho=declaration.rho,
        salt=declaration.salt,
    )
    return replace(catalog, digest=content_digest(_public(catalog)))


def _with_public_keys(table: Table, declaration: Declaration, facts: PublicFacts) -> Table:
    columns = list(table.columns)
    if not table.private:
        read = [facts.of(table.name, column.name) for column in columns]
        unique = [(table.name, column.name) in facts.unique for column in columns]
        most, ends = dict(facts.most), dict(facts.ends)
        columns = [replace(column, most=most.get((table.name, column.name))) for column in columns]
        columns = [_with_ends(column, ends.get((table.name, column.name))) for column in columns]
        return replace(table, columns=tuple(
            replace(column, keys=in_order(values), unique=once) if values else column
            for column, values, once in zip(columns, read, unique, strict=True)
        ))
    for wanted in declaration.public_keys:
        values = facts.of(wanted.public_table, wanted.public_column)
        if wanted.table != table.name or values is None:
            continue
        keys = in_order((None, *values) if wanted.with_missing else values)
        columns = [replace(c, keys=keys) if c.name == wanted.column else c for c in columns]
    return replace(table, columns=tuple(columns))


def _with_ends(column: Column, read: tuple[Fraction, Fraction] | None) -> Column:
    """What is declared comes first."""
    return column if read is None or column.lower is not None else replace(column, lower=read[0], upper=read[1])


def schema_fingerprint(declaration: Declaration) -> str:
    """sha256 of table names, column names, types, lengths of texts, how values are cleaned, which columns have one
    value a unit (and then whose), which combinations a unit has once, through what: what a snapshot is made for."""
    tables = [
        [table.name, [made_for(table, c) for c in table.columns], *([list(table.distinct)] if table.distinct else []),
         *([through_facts(table)] if table.through is not None else []), *([one_row_facts(table)] * (
             table.one_row_per is not None))]
        for table in declaration.tables
    ]
    return content_digest(tables)


def made_for(table: Table, column: Column) -> list[Any]:
    """What of a column decides what a snapshot holds for it."""
    single, cleaned = [table.unit] if column.per_unit else [], column.cleaning.facts()
    return [column.name, column.type, column.letters, *single, *([cleaned] if cleaned else [])]


def _public(catalog: Catalog) -> dict[str, Any]:
    return {
        "format": 2,
        "protects": catalog.protects,
        "neighbours": catalog.neighbours,
        "units": catalog.units,
        "salt": catalog.salt,
        "epsilon": str(catalog.epsilon),
        "rho": str(catalog.rho),
        "delta": str(catalog.delta),
        "tables": [_public_table(table) for table in catalog.tables],
    }


def column_facts(column: Column) -> dict[str, Any]:
    """What is declared of a column and decides which value each row has there: all but its bounds and keys."""
    told = {"name": column.name, "type": column.type, "missing": json_value(column.missing)} | _length(column)
    return told | ({"per_unit": 1} if column.per_unit else {}) | column.cleaning.facts()


def _public_table(table: Table) -> dict[str, Any]:
    columns = [
        column_facts(column)
        | {
            "bounds": None if column.lower is None else [str(column.lower), str(column.upper)],
            "keys": "unknown" if column.unknown_keys else _keys(column),
        }
        for column in table.columns
    ]
    caps = {"max_rows": table.max_rows, "max_groups": table.max_groups, "expected_units": table.expected_units}
    caps |= {} if table.max_total is None else {"max_total": table.max_total}
    caps |= {} if table.min_units is None else {"min_units": table.min_units}
    caps |= table_facts(table)
    return {"name": table.name, "unit": table.unit, "columns": columns} | caps


def table_facts(table: Table) -> dict[str, Any]:
    """What is declared of a table and decides which rows it has, beside its unit: empty where nothing is."""
    alike = {"distinct": list(table.distinct)} if table.distinct else {}
    return alike | one_row_facts(table) | through_facts(table)


def one_row_facts(table: Table) -> dict[str, Any]:
    """Of what a unit has one row each, where that is declared."""
    return {} if table.one_row_per is None else {"one_row_per": list(table.one_row_per)}


def through_facts(table: Table) -> dict[str, Any]:
    """Where the unit is looked up, where it is."""
    if table.through is None:
        return {}
    return {"through": {"table": table.through.table, "on": table.through.on, "key": table.through.key}}


def _length(column: Column) -> dict[str, int]:
    """Only where one is declared that is not the default: digests of catalogs from before there was one do not move,
    and a default is a fact of the version, which receipts name."""
    return {} if column.max_length == MAX_LENGTH else {"max_length": column.max_length}


def _keys(column: Column) -> list[Any] | None:
    return None if column.keys is None else [json_value(key) for key in column.keys]


def json_value(value: Value) -> Any:
    """A physical value in JSON, exactly: a double by its hexadecimal digits."""
    return {"double": value.hex()} if isinstance(value, float) else value


def value_of_json(given: Any) -> Value:
    """The inverse of `json_value`."""
    if isinstance(given, dict):
        return float.fromhex(given["double"])
    found: Value = given
    return found


def content_digest(content: Any) -> str:
    """sha256 of the canonical JSON of public facts, hexadecimal."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
