"""Values as the catalog itself writes them: numbers are numbers, texts are in quotes, dates and times are ISO.

Checked in tests/catalog/test_columns.py.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

from dpcurator.catalog.model import Value
from dpcurator.catalog.problems import text
from dpcurator.catalog.spelling import Spelling, Unreadable, read_value


def declared_value(item: object, type: str, spelling: Spelling) -> Value | Unreadable:
    """A value as TOML spells it: numbers are numbers, text is text, and a number must be held exactly."""
    number = isinstance(item, int | float)
    if isinstance(item, list | Mapping) or (isinstance(item, str) and type in ("integer", "float", "boolean")):
        return Unreadable(f"not of type {type}")
    if number and type == "text":
        return Unreadable("a number, not text in quotes")
    if isinstance(item, datetime.time):
        return Unreadable(f"not of type {type}")
    value = read_value(item, type, spelling)
    if type == "float" and isinstance(item, int) and isinstance(value, float) and int(value) != item:
        return Unreadable("no double")
    return value


def shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value) if value.bit_length() <= 128 else f"a number of {value.bit_length()} bits"
    if isinstance(value, float):
        return f"{value:.12g}"
    if isinstance(value, str):
        return text(value[:40])
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, Fraction | Decimal):
        return str(value)[:40]
    return {"list": "a list", "dict": "a table"}.get(type(value).__name__, "a value of another kind")
