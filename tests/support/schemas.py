"""Schemas for the audit of the curator: small declarations that between them have every relation, unit and column type.

Each is what a steward writes; `declared(name)` loads one. No file that they name exists: an audit makes up its rows.
"""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from dpcurator.catalog.declaration import Declaration
from dpcurator.catalog.load import load

_COLUMNS: dict[str, Any] = {
    "who": "text", "city": {"type": "text", "keys": ["Leeds", "York", "Hull"]},
    "age": {"type": "integer", "bounds": [0, 100]}, "net gain": {"type": "float", "bounds": [-1.5, 2.5]},
    "seen": "boolean", "day": {"type": "date", "keys": ["2024-02-29", "1970-01-01"]}, "at": "timestamp",
    "dose": {"type": "float", "keys": [0.0, 1.5], "keys_include_missing": True}, "note": "text",
}
_SALT = "5" * 32


def _schema(curator: dict[str, Any], ledger: dict[str, Any], table: dict[str, Any], **columns: Any) -> dict[str, Any]:
    found = copy.deepcopy(_COLUMNS) | columns
    made = {"file": "visits.csv", "unit": "who", "max_rows": 2, "max_groups": 1} | table
    made = {name: value for name, value in made.items() if value is not None}
    return {
        "curator": {"protects": "people", "salt": _SALT} | curator, "ledger": ledger,
        "tables": {"visits": made | {"columns": found}},
    }


_UNKNOWN = {"type": "text", "keys": "unknown"}
SCHEMAS: dict[str, dict[str, Any]] = {
    "listed": _schema({}, {"epsilon": 4}, {}),
    "unknown": _schema({}, {"epsilon": 4, "delta": "1e-6"}, {"max_rows": 3, "max_groups": 2}, city=_UNKNOWN),
    "replaced": _schema({"neighbours": "replace-one", "units": 10}, {"epsilon": 4, "delta": "1e-6"},
                        {"max_groups": 2}, who="integer", note=_UNKNOWN),
    "rows": _schema({"neighbours": "replace-one", "units": 12}, {"rho": 1, "delta": "1e-6"},
                    {"unit": "each row", "max_rows": None, "max_groups": None},
                    age={"type": "integer", "bounds": [-5, 7], "missing": 0}),
}
SCHEMAS["clinic"] = {
    "curator": {"protects": "people", "salt": _SALT}, "ledger": {"epsilon": 4, "delta": "1e-6"},
    "tables": {
        "visits": {"file": "visits.csv", "unit": "who", "max_total": 3, "columns": {
            "who": "text", "visit": "integer", "city": _COLUMNS["city"], "ward": _UNKNOWN,
            "cost": {"type": "float", "bounds": [0, 7.5]}, "day": "date"}},
        "patients": {"file": "patients.csv", "unit": "who", "one_row_per": ["who"], "columns": {
            "who": "text", "age": {"type": "integer", "bounds": [0, 100]},
            "group": {"type": "text", "keys": ["a", "b"], "keys_include_missing": True}}},
        "tests": {"file": "tests.csv", "unit": {"through": "visits", "on": "visit"}, "max_rows": 2, "max_groups": 2,
                  "columns": {"visit": "integer", "kind": {"type": "text", "keys": ["x", "y"]},
                              "result": {"type": "float", "bounds": [-1, 1]}}},
        "places": {"file": "places.csv", "public": True, "columns": {
            "city": "text", "region": "text", "beds": "integer"}},
    },
}


def declared(name: str) -> Declaration:
    return load(SCHEMAS[name], directory=Path("."))
