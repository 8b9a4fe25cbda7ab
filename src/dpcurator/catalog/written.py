"""From the fields of a column to how its values are written and cleaned, with what could never be meant refused.

Ambiguous declarations are refused here, so that no cell decides between two meanings: two formats that read one text as
two days, a mark that is both decimal and between thousands, a word that is both true and false, and spellings that
cleaning would have changed before they are looked for. Checked in tests/catalog/test_cleaning.py, where each cure is
pasted back.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from dpcurator.catalog.cleaning import AS_IT_IS, STEPS, Cleaning
from dpcurator.catalog.formats import ISO, SAMPLES, alike, count_of, has_offset, pattern_of
from dpcurator.catalog.literals import declared_value, shown
from dpcurator.catalog.model import Column
from dpcurator.catalog.positions import Path
from dpcurator.catalog.problems import Problems, nearest, text, toml
from dpcurator.catalog.schema import ColumnFields
from dpcurator.catalog.spelling import Spelling, Unreadable, read_text

MOST_FORMATS: Final = 12
_THOUSANDS: Final = (",", ".", " ", "'", "\u2019", "\u00a0", "\u202f", "_")
_NUMBERS: Final = ("integer", "float")


def declared_marks(
    decimal: str | None, thousands: str | None, type: str, path: Path, problems: Problems
) -> tuple[str, str]:
    """The decimal mark and the one between thousands of a table ("." for its type) or of a column."""
    decimal, thousands = decimal or ".", thousands or ""
    if decimal not in (".", ","):
        problems.add((*path, "decimal"), 'decimal must be "." or ",".', 'Write decimal = ",".')
        decimal = "."
    if thousands and thousands not in _THOUSANDS:
        problems.add((*path, "thousands"), "thousands must be one of , . _ ' or a space.", 'Write thousands = ",".')
    elif thousands == decimal:
        other = "," if decimal == "." else "."
        problems.add((*path, "thousands"), "decimal and thousands are the same mark.",
                     f"Write decimal = {text(decimal)}, thousands = {text(other)}.")
    else:
        return decimal, thousands
    return decimal, ""


def only_for_numbers(fields: ColumnFields, path: Path, problems: Problems) -> None:
    """A mark of numbers in a column of another type says nothing."""
    for name in ("decimal", "thousands"):
        if getattr(fields, name) is not None and fields.type not in (*_NUMBERS, "date", "timestamp"):
            problems.add((*path, name), f"{name} is for numbers, not {fields.type}.", "Leave it out.")


def declared_words(
    fields: ColumnFields, path: Path, problems: Problems
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What means true and false, in lower case and without spaces around it, in place of the grammar's own words."""
    given = {"true_words": fields.true_words, "false_words": fields.false_words}
    declared = [name for name, words in given.items() if words is not None]
    if not declared:
        return (), ()
    if fields.type != "boolean":
        problems.add((*path, declared[0]), f"{declared[0]} is for boolean columns, not {fields.type}.", "Leave it out.")
        return (), ()
    words = {name: tuple(word.strip(" ").lower() for word in found or ()) for name, found in given.items()}
    absent = next((name for name, found in words.items() if not found), None)
    both = [word for word in words["true_words"] if word in words["false_words"]]
    if absent is not None:
        problems.add((*path, declared[0]), f"{declared[0]} goes with {absent}, and each has a word.",
                     'Write true_words = ["yes"], false_words = ["no"].')
    elif both:
        problems.add((*path, "false_words"), f"{text(both[0])} is among true_words and false_words.", "Keep one.")
    else:
        return words["true_words"], words["false_words"]
    return (), ()


def declared_formats(fields: ColumnFields, path: Path, problems: Problems) -> tuple[str, ...]:
    """The formats in the order written: the first that reads a text decides, and no two may read one differently."""
    given, place = fields.format, (*path, "format")
    if given is None:
        return ()
    if fields.type not in SAMPLES:
        problems.add(place, f"format is for date, timestamp and integer columns (times of day), not {fields.type}.",
                     "Leave it out.")
        return ()
    sample = f"Write format = {SAMPLES[fields.type]}."
    formats = [given] if isinstance(given, str) else given
    if not isinstance(formats, list) or not formats or not all(isinstance(one, str) for one in formats):
        problems.add(place, "format is a text, or a list of texts.", sample)
        return ()
    formats = list(dict.fromkeys(formats))
    if len(formats) > MOST_FORMATS:
        problems.add(place, f"format has {len(formats)} entries; the limit is {MOST_FORMATS}.", "Keep the usual ones.")
        return ()
    for one in formats:
        if fault := _fault(one, fields):
            problems.add(place, f"{fault[0]}.", fault[1] or sample)
            return ()
    for first, second in itertools.combinations(formats, 2):
        if found := alike(first, second, fields.type):
            kept = [one for one in formats if one != second]
            problems.add(place, f"{text(first)} and {text(second)} read {text(found)} as two different times.",
                         f"Keep one of them: format = {toml(kept[0] if len(kept) == 1 else kept)}.")
            return ()
    return tuple(formats)


def _fault(declared: str, fields: ColumnFields) -> tuple[str, str] | None:
    """What is wrong with one format, and the cure if it is a special one."""
    if declared == ISO and fields.type != "integer":
        return None
    if (counting := count_of(declared)) is not None and fields.type != "integer":
        whole = declared.startswith("days") or fields.type == "timestamp"
        return None if whole and counting else ("a date is counted in days", 'Write format = "days since 1899-12-30".')
    try:
        pattern_of(declared, fields.type)
    except ValueError as error:
        return str(error), ""
    if fields.type == "timestamp" and not has_offset(declared) and fields.zone is None:
        return f"{text(declared)} has no offset, and no zone is declared", 'Add zone = "UTC", or the zone of the file.'
    return None


def declared_cleaning(
    fields: ColumnFields, valid: tuple[Fraction | None, Fraction | None], spelling: Spelling, path: Path,
    problems: Problems,
) -> Cleaning:
    """`clean`, `map`, `na_values` and `valid`, where each can have the effect that it says."""
    steps = tuple(fields.clean or ())
    for step in steps:
        if step not in STEPS:
            problems.add((*path, "clean"), f"{text(step)} is no step of clean.", nearest(step, STEPS))
            return AS_IT_IS
    if len(steps) > 2 * len(STEPS):
        problems.add((*path, "clean"), f"clean has {len(steps)} steps; the limit is {2 * len(STEPS)}.",
                     'Write clean = ["trim", "lower"].')
        return AS_IT_IS
    for letter in "\0\n":
        if any(letter in one for pair in (fields.map or {}).items() for one in pair):
            problems.add((*path, "map"), "map has a text with a line break or U+0000.", "Leave it out.")
            return AS_IT_IS
    mapping = dict(fields.map or {})
    made = Cleaning(steps, tuple(mapping.items()))
    cleaned = Cleaning(steps)
    for given, meant in mapping.items():
        if (found := cleaned.text(given)) != given:
            problems.add((*path, "map", given), f"clean comes first and makes {text(found or '')} of {text(given)}.",
                         f"Write {text(found or '')} = {text(meant)}.")
            return AS_IT_IS
        if isinstance(read := read_text(meant, fields.type, spelling), Unreadable):
            problems.add((*path, "map", given), f"{text(meant)} is {read.reason}.",
                         f"Write what the file would: a text that is read as {fields.type}.")
            return AS_IT_IS
    absent, values = _absent(fields, made, spelling, path, problems)
    lower, upper = valid
    if fields.type == "float" and lower is not None and upper is not None:
        lower, upper = Fraction(float(lower)), Fraction(float(upper))  # the doubles that a cell of this spelling is
    found_any = steps or mapping or absent or values or lower is not None
    return replace(made, absent=absent, absent_values=values, lower=lower, upper=upper) if found_any else AS_IT_IS


def _absent(
    fields: ColumnFields, made: Cleaning, spelling: Spelling, path: Path, problems: Problems
) -> tuple[tuple[str, ...], tuple[int | float | str, ...]]:
    """The texts in `na_values`, and the values that they spell as the file does or as this catalog does."""
    texts: list[str] = []
    values: list[int | float | str] = []
    for item in fields.na_values or ():
        place = (*path, "na_values")
        if isinstance(item, str):
            became = made.text(item)
            if became != item and item not in dict(made.map).values():
                problems.add(place, f"clean and map come first and make {text(became or '')} of {text(item)}.",
                             f"Write {text(became or '')}.")
                continue
            texts.append(item)
            ways = [spelling, Spelling(zone=spelling.zone)] if fields.type in ("date", "timestamp") else [spelling]
            read = [read_text(item, fields.type, way) for way in ways] if fields.type != "text" else []
            values += [one for one in read if one is not None and not isinstance(one, Unreadable)]
            continue
        value = declared_value(item, fields.type, Spelling(zone=spelling.zone))
        if value is None or isinstance(value, Unreadable):
            reason = "missing already" if value is None else value.reason
            problems.add(place, f"na_values: {shown(item)} is {reason}.", f"Write it in quotes: {text(shown(item))}.")
        else:
            values.append(value)
    return tuple(dict.fromkeys(texts)), tuple(dict.fromkeys(values))


def keys_can_occur(column: Column, given: list[Any], spelling: Spelling, path: Path, problems: Problems) -> None:
    """A listed key that cleaning would change or take away is a group of nobody: the steward meant another."""
    cleaning = column.cleaning
    targets = {meant for _, meant in cleaning.map}
    for index, item in enumerate(given):
        value, place = declared_value(item, column.type, spelling), (*path, "keys", index)
        if value is None or isinstance(value, Unreadable):
            continue
        if cleaning.absent_value(value) or (isinstance(value, str) and value in cleaning.absent):
            problems.add(place, f"key {shown(item)} is among na_values.", "Leave it out of one of them.")
        elif cleaning.outside(value):
            problems.add(place, f"key {shown(item)} is outside valid.", "Leave it out, or widen valid.")
        elif isinstance(value, str) and value not in targets and (became := cleaning.text(value)) != value:
            problems.add(place, f"key {shown(item)} cannot occur: clean and map make {text(became or '')} of it.",
                         f"Write {text(became or '')}.")
