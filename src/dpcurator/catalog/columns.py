"""From the fields of a column to the frozen `Column`: bounds, keys and fill values, read exactly and checked by type.

Checked in tests/catalog/test_columns.py, a table of declarations and of the values or messages they give.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final
from zoneinfo import ZoneInfo

from dpcurator.catalog.declaration import Reading
from dpcurator.catalog.literals import declared_value, shown
from dpcurator.catalog.model import MAX_LENGTH, Column, Value
from dpcurator.catalog.parts import read
from dpcurator.catalog.positions import Path
from dpcurator.catalog.problems import Problems, nearest, text, toml
from dpcurator.catalog.schema import ColumnFields, KeysFields
from dpcurator.catalog.spelling import GREATEST_INTEGER, LEAST_INTEGER, TYPES, Spelling, Unreadable
from dpcurator.catalog.written import (
    declared_cleaning,
    declared_formats,
    declared_marks,
    declared_words,
    keys_can_occur,
    only_for_numbers,
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


def declare_column(
    name: str, raw: object, marks: tuple[str, str], path: Path, problems: Problems
) -> DeclaredColumn | None:
    """The column at `path`; None when its type is unknown. marks: the table's decimal mark and the one between
    thousands. Faults go to `problems`."""
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
    spelling = _spelling(fields, marks, path, problems)
    catalog_spelling = Spelling(zone=spelling.zone)  # `format` is the file's; the catalog writes ISO
    valid = _range("valid", fields.valid, fields.type, catalog_spelling, path, problems)
    cleaning = declared_cleaning(fields, valid, spelling, path, problems)
    reading = Reading(replace(spelling, cleaning=cleaning), fields.unreadable == "set-aside")
    given = raw if isinstance(raw, Mapping) else {"type": fields.type}
    reading = replace(reading, fields=tuple((str(field), toml(value)) for field, value in given.items()))
    max_length = _max_length(fields, path, problems)
    bounds = _range("bounds", fields.bounds, fields.type, catalog_spelling, path, problems)
    lower, upper = valid if fields.bounds is None else bounds
    keys, keys_from = _keys(fields, catalog_spelling, path, problems)
    column = Column(
        name=name, type=fields.type, lower=lower, upper=upper, keys=keys,
        missing=_fill(fields, catalog_spelling, path, problems), unknown_keys=fields.keys == "unknown",
        max_length=max_length, per_unit=_per_unit(fields, path, problems), cleaning=cleaning,
    )
    _no_longer(column, path, problems)
    if isinstance(fields.keys, list):
        keys_can_occur(column, fields.keys, catalog_spelling, path, problems)
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


def _spelling(fields: ColumnFields, marks: tuple[str, str], path: Path, problems: Problems) -> Spelling:
    zone = fields.zone
    if zone is not None and fields.type != "timestamp":
        problems.add((*path, "zone"), f"zone is for timestamp columns, not {fields.type}.", "Leave it out.")
    elif zone is not None and not _known_zone(zone):
        problems.add((*path, "zone"), f"{text(zone)} is no known time zone.", 'Write zone = "UTC" or "Europe/Paris".')
        zone = None
    decimal, thousands = declared_marks(fields.decimal or marks[0], fields.thousands or marks[1], fields.type, path,
                                        problems)
    if fields.type not in ("integer", "float") and fields.thousands is None:
        thousands = ""  # the table's is for its numbers
    only_for_numbers(fields, path, problems)
    true_words, false_words = declared_words(fields, path, problems)
    return Spelling(zone, decimal, declared_formats(fields, path, problems), thousands, true_words, false_words)


def _known_zone(zone: str) -> bool:
    try:
        ZoneInfo(zone)
    except (OSError, ValueError, KeyError):  # a file that is no zone, a name that is no path, no such zone
        return False
    return True


def _range(
    name: str, given: list[Any] | None, type: str, spelling: Spelling, path: Path, problems: Problems
) -> tuple[Fraction | None, Fraction | None]:
    """`bounds` or `valid`: two exact physical values, or neither."""
    place, none = (*path, name), (None, None)
    if given is None:
        return none
    if type not in SAMPLE_BOUNDS:
        problems.add(place, f"{name} {'are' if name == 'bounds' else 'is'} for numbers, dates and timestamps, not "
                     f"{type}.", f"Leave {'them' if name == 'bounds' else 'it'} out.")
        return none
    kind = "number" if type in ("integer", "float") else type
    pair, sample = ", ".join(shown(end) for end in given), f"{name} = {SAMPLE_BOUNDS[type]}"
    if len(given) != 2:
        problems.add(place, f"{name} must be two {kind}s, not [{pair}].", f"Write {sample}.")
        return none
    try:
        lower, upper = [_end(end, f"{name} [{pair}]", type, spelling) for end in given]
    except Refusal as error:
        problems.add(place, error.what, f"Write {'finite' if kind == 'number' else 'two'} {kind}s, as in {sample}.")
        return none
    if lower > upper:
        problems.add(place, f"{name} [{pair}] are the wrong way round.", "The lower one comes first.")
    elif type == "integer" and (
        lower.denominator != 1 or upper.denominator != 1 or not LEAST_INTEGER <= lower <= upper <= GREATEST_INTEGER
    ):
        problems.add(place, f"{name} [{pair}] of an integer column must be whole and inside 64 bits.",
                     'Write whole numbers from -2^63 to 2^63 - 1, or use type = "float".')
    elif max(abs(lower), abs(upper)) > _GREATEST_DOUBLE:
        problems.add(place, f"{name} [{pair}] are outside the doubles.", f"Declare {name} of at most 1.7e308.")
    else:
        return lower, upper
    return none


def _end(end: object, pair: str, type: str, spelling: Spelling) -> Fraction:
    """One end of a range, exactly, as a physical value. Raises Refusal. pair: the range, in words."""
    if type in ("integer", "float"):
        if isinstance(end, str):
            name, _, ends = pair.partition(" ")
            raise Refusal(f"{name} must be numbers without quotes, not {ends}.")
        return rational(end, name=f"each of {pair}")
    value = declared_value(end, type, spelling)
    if isinstance(value, int):
        return Fraction(value)
    reason = value.reason if isinstance(value, Unreadable) else "missing"
    raise Refusal(f"{pair} must be two {type}s: {shown(end)} is {reason}.")


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
        problems.add(place, f'keys must be a list, {{ table = ... }} or "unknown", not {shown(given)}.',
                     'Write keys = ["a", "b"].')
        return None, None
    listed: dict[Value, object] = {None: "missing"} if fields.keys_include_missing else {}
    for index, item in enumerate(given):
        value = declared_value(item, fields.type, spelling)
        if value is None:
            problems.add((*place, index), f"key {shown(item)} means missing.", "Write keys_include_missing = true.")
        elif isinstance(value, Unreadable):
            problems.add((*place, index), f"key {shown(item)} is {value.reason}.", _written(fields.type))
        elif value in listed and repr(listed[value]) != repr(item):  # 0.0 and -0.0 are two spellings
            problems.add((*place, index), f"keys {shown(listed[value])} and {shown(item)} are the same value.",
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
        problems.add(place, f"missing = {shown(given)} is {value.reason}.",
                     f'{_written(fields.type)} Or write missing = "drop".')
        return None
    return value
