"""From the fields of a column to the frozen `Column`: bounds, keys and fill values, read exactly and checked by type.

Checked in tests/catalog/test_columns.py, a table of declarations and of the values or messages they give.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final
from zoneinfo import ZoneInfo

from dpcurator.catalog.declaration import Reading
from dpcurator.catalog.model import MAX_LENGTH, Column, Value
from dpcurator.catalog.parts import read
from dpcurator.catalog.positions import Path
from dpcurator.catalog.problems import Problems, nearest, text, toml
from dpcurator.catalog.schema import ColumnFields, KeysFields
from dpcurator.catalog.spelling import (
    GREATEST_INTEGER,
    LEAST_INTEGER,
    TYPES,
    Spelling,
    Unreadable,
    date_pattern,
    read_value,
)
from dpcurator.errors import Refusal
from dpcurator.numbers import rational

_OTHER_NAMES = {
    "int": "integer", "int64": "integer", "bigint": "integer", "number": "float", "double": "float", "real": "float",
    "decimal": "float", "bool": "boolean", "str": "text", "string": "text", "varchar": "text", "datetime": "timestamp",
}
SAMPLE_BOUNDS: Final = {
    "integer": "[0, 100]", "float": "[0, 100]", "date": '["2020-01-01", "2024-12-31"]',
    "timestamp": '["2020-01-01T00:00Z", "2024-12-31T23:59Z"]',
}
LARGEST_LENGTH: Final = 8000  # a question may read such a text and compute another from it (engines/allowance.py)
_GREATEST_DOUBLE = Fraction(1.7976931348623157e308)


@dataclass(frozen=True, slots=True)
class DeclaredColumn:
    """A column, how it is read, and the public table its keys come from, if any."""

    column: Column
    reading: Reading
    keys_from: KeysFields | None = None
    with_missing: bool = False
    guessed: bool = False  # the type is a guess of `init` that nobody has confirmed


def declare_column(name: str, raw: object, decimal: str, path: Path, problems: Problems) -> DeclaredColumn | None:
    """The column at `path`; None when its type is unknown. Faults go to `problems`."""
    if isinstance(raw, Mapping) and "type" not in raw:
        problems.add(path, f"column {text(name)} has no type.", f"Add type = one of {', '.join(TYPES)}.")
        return None
    raw, guessed = _without_question(raw)
    fields = read(ColumnFields, raw, path, problems)
    if fields is None:
        return None
    if fields.type not in TYPES:
        meant = _OTHER_NAMES.get(fields.type.lower())
        cure = f"Did you mean {text(meant)}?" if meant else nearest(fields.type, TYPES)
        problems.add((*path, "type"), f"{text(fields.type)} is no type.", cure)
        return None
    reading = _reading(fields, decimal, path, problems)
    given = raw if isinstance(raw, Mapping) else {"type": fields.type}
    reading = replace(reading, fields=tuple((str(field), toml(value)) for field, value in given.items()))
    catalog_spelling = replace(reading.spelling, date_format=None)  # `format` is the file's; the catalog writes ISO
    max_length = _max_length(fields, path, problems)
    lower, upper = _bounds(fields, catalog_spelling, path, problems)
    keys, keys_from = _keys(fields, catalog_spelling, path, problems)
    column = Column(
        name=name, type=fields.type, lower=lower, upper=upper, keys=keys,
        missing=_fill(fields, catalog_spelling, path, problems), unknown_keys=fields.keys == "unknown",
        max_length=max_length, per_unit=_per_unit(fields, path, problems),
    )
    _no_longer(column, path, problems)
    return DeclaredColumn(column, reading, keys_from, fields.keys_include_missing, guessed)


def _without_question(raw: object) -> tuple[object, bool]:
    """A column as declared, and whether its type was a guess of `init`, as in "integer?"."""
    given = raw.get("type") if isinstance(raw, Mapping) else raw
    if not isinstance(given, str) or given not in [f"{type}?" for type in TYPES]:
        return raw, False
    return ({**raw, "type": given[:-1]} if isinstance(raw, Mapping) else given[:-1]), True


def _max_length(fields: ColumnFields, path: Path, problems: Problems) -> int:
    given = fields.max_length
    if given is None:
        return MAX_LENGTH
    if fields.type != "text":
        problems.add((*path, "max_length"), f"max_length is for text columns, not {fields.type}.", "Leave it out.")
    elif type(given) is not int or not 1 <= given <= LARGEST_LENGTH:
        problems.add((*path, "max_length"), f"max_length must be a whole number from 1 to {LARGEST_LENGTH:,}.",
                     f"Write max_length = {MAX_LENGTH}.")
    else:
        return given
    return MAX_LENGTH


def _per_unit(fields: ColumnFields, path: Path, problems: Problems) -> bool:
    if fields.per_unit is None:
        return False
    if type(fields.per_unit) is not int or fields.per_unit != 1:
        problems.add((*path, "per_unit"), "per_unit says that a unit has one value in the column, so it is 1.",
                     "Write per_unit = 1, or leave it out.")
    return True


def _no_longer(column: Column, path: Path, problems: Problems) -> None:
    """Keys and a fill within max_length: a longer one would be no value of the column."""
    for name, values in (("keys", column.keys or ()), ("missing", (column.missing,))):
        longest = max((len(one) for one in values if isinstance(one, str)), default=0)
        if longest > column.letters:
            problems.add((*path, name), f"a text here has {longest:,} letters, and max_length is {column.letters:,}.",
                         f"Write max_length = {longest}." if longest <= LARGEST_LENGTH else "Shorten it.")


def _reading(fields: ColumnFields, decimal: str, path: Path, problems: Problems) -> Reading:
    zone, date_format = fields.zone, fields.format
    if zone is not None and fields.type != "timestamp":
        problems.add((*path, "zone"), f"zone is for timestamp columns, not {fields.type}.", "Leave it out.")
    elif zone is not None and not _known_zone(zone):
        problems.add((*path, "zone"), f"{text(zone)} is no known time zone.", 'Write zone = "UTC" or "Europe/Paris".')
        zone = None
    if date_format is not None:
        try:
            date_pattern(date_format)
            if fields.type != "date":
                problems.add((*path, "format"), f"format is for date columns, not {fields.type}.", "Leave it out.")
        except ValueError as error:
            problems.add((*path, "format"), f"{error}.", 'Write format = "DD/MM/YYYY".')
            date_format = None
    return Reading(Spelling(zone, decimal, date_format), fields.unreadable == "set-aside")


def _known_zone(zone: str) -> bool:
    try:
        ZoneInfo(zone)
    except (OSError, ValueError, KeyError):  # a file that is no zone, a name that is no path, no such zone
        return False
    return True


def _bounds(
    fields: ColumnFields, spelling: Spelling, path: Path, problems: Problems
) -> tuple[Fraction | None, Fraction | None]:
    place, none = (*path, "bounds"), (None, None)
    if fields.bounds is None:
        return none
    if fields.type not in SAMPLE_BOUNDS:
        problems.add(place, f"bounds are for numbers, dates and timestamps, not {fields.type}.", "Leave them out.")
        return none
    kind = "number" if fields.type in ("integer", "float") else fields.type
    pair, sample = ", ".join(_shown(end) for end in fields.bounds), f"bounds = {SAMPLE_BOUNDS[fields.type]}"
    if len(fields.bounds) != 2:
        problems.add(place, f"bounds must be two {kind}s, not [{pair}].", f"Write {sample}.")
        return none
    try:
        lower, upper = [_end(end, pair, fields.type, spelling) for end in fields.bounds]
    except Refusal as error:
        problems.add(place, error.what, f"Write {'finite' if kind == 'number' else 'two'} {kind}s, as in {sample}.")
        return none
    if lower > upper:
        problems.add(place, f"bounds [{pair}] are the wrong way round.", "The lower one comes first.")
    elif fields.type == "integer" and (
        lower.denominator != 1 or upper.denominator != 1 or not LEAST_INTEGER <= lower <= upper <= GREATEST_INTEGER
    ):
        problems.add(place, f"bounds [{pair}] of an integer column must be whole and inside 64 bits.",
                     'Write whole numbers from -2^63 to 2^63 - 1, or use type = "float".')
    elif max(abs(lower), abs(upper)) > _GREATEST_DOUBLE:
        problems.add(place, f"bounds [{pair}] are outside the doubles.", "Declare bounds of at most 1.7e308.")
    else:
        return lower, upper
    return none


def _end(end: object, pair: str, type: str, spelling: Spelling) -> Fraction:
    """One end of `bounds`, exactly, as a physical value. Raises Refusal."""
    if type in ("integer", "float"):
        if isinstance(end, str):
            raise Refusal(f"bounds must be numbers without quotes, not [{pair}].")
        return rational(end, name=f"each of bounds [{pair}]")
    value = declared_value(end, type, spelling)
    if isinstance(value, int):
        return Fraction(value)
    reason = value.reason if isinstance(value, Unreadable) else "missing"
    raise Refusal(f"bounds [{pair}] must be two {type}s: {_shown(end)} is {reason}.")


def _shown(value: Any) -> str:
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


def _keys(
    fields: ColumnFields, spelling: Spelling, path: Path, problems: Problems
) -> tuple[tuple[Value, ...] | None, KeysFields | None]:
    place, given = (*path, "keys"), fields.keys
    if given is None and fields.type == "boolean":
        given = [False, True]
    if given is None:
        if fields.keys_include_missing:
            problems.add((*path, "keys_include_missing"), "keys_include_missing is set, but there are no keys.",
                         "Declare keys as well.")
        return None, None
    if given == "unknown":
        if fields.type == "float":
            problems.add(place, "Unknown keys are for values that repeat exactly, which floats do not.",
                         "List the keys, or declare the column as integer or text.")
        if fields.keys_include_missing:
            problems.add((*path, "keys_include_missing"), "Unknown keys are chosen from all values, also missing.",
                         "Leave keys_include_missing out.")
        return None, None
    if isinstance(given, Mapping):
        return None, read(KeysFields, given, place, problems)
    if not isinstance(given, list):
        problems.add(place, f'keys must be a list, {{ table = ... }} or "unknown", not {_shown(given)}.',
                     'Write keys = ["a", "b"].')
        return None, None
    listed: dict[Value, object] = {None: "missing"} if fields.keys_include_missing else {}
    for index, item in enumerate(given):
        value = declared_value(item, fields.type, spelling)
        if value is None:
            problems.add((*place, index), f"key {_shown(item)} means missing.", "Write keys_include_missing = true.")
        elif isinstance(value, Unreadable):
            problems.add((*place, index), f"key {_shown(item)} is {value.reason}.", _written(fields.type))
        elif value in listed and repr(listed[value]) != repr(item):  # 0.0 and -0.0 are two spellings
            problems.add((*place, index), f"keys {_shown(listed[value])} and {_shown(item)} are the same value.",
                         "Keep one of them.")
        else:
            listed[value] = item
    return in_order(tuple(listed)), None


def _written(type: str) -> str:
    """How the catalog writes a value of this type."""
    sample = {
        "integer": "12", "float": "1.5", "boolean": "true", "text": '"a"', "date": '"2020-12-31"',
        "timestamp": '"2020-12-31T00:00Z"', "uuid": '"123e4567-e89b-12d3-a456-426614174000"',
    }[type]
    whatever = ", however the file writes it" if type == "date" else ""
    return f"Write {'an' if type == 'integer' else 'a'} {type} here as in {sample}{whatever}."


def in_order(keys: tuple[Value, ...]) -> tuple[Value, ...]:
    """Canonical order: missing first, then by value (text by code point). Keys of one column are of one kind."""
    present: list[Any] = [key for key in keys if key is not None]
    return (*(key for key in keys if key is None), *sorted(present))


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


def _fill(fields: ColumnFields, spelling: Spelling, path: Path, problems: Problems) -> Value:
    place, given = (*path, "missing"), fields.missing
    if isinstance(given, Mapping):
        if set(given) != {"value"}:
            problems.add(place, 'missing must be "drop", a value, or { value = ... }.', 'Write missing = "drop".')
            return None
        given = given["value"]
    elif given == "drop":
        return None
    value = declared_value(given, fields.type, spelling)
    if isinstance(value, Unreadable):
        problems.add(place, f"missing = {_shown(given)} is {value.reason}.",
                     f'{_written(fields.type)} Or write missing = "drop".')
        return None
    return value
