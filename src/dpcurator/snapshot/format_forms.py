"""Forms of columns with declared formats (`catalog.formats`), as SQL over a whole column.

A format is a pattern. The first declared one that a text fits writes it again as nine parts in one order (year, month,
day, hour, minute, second, fraction, offset, AM or PM), of which the value is computed in whole numbers; where that is
no day or time, the text is left to the grammar, which tries the formats after it. A day is the one that DuckDB writes
as those digits. Patterns name ASCII letters and digits one by one, so upper and lower case are those of ASCII, as in
the grammar. A count since a day has a form where it is the one format and whole.
Checked in tests/snapshot/test_vectorised.py.
"""

from __future__ import annotations

import re
from typing import Final

from dpcurator.catalog.duckdb_options import quoted
from dpcurator.catalog.formats import DAY, ISO, MONTHS, Count, count_of, tokens_of
from dpcurator.catalog.spelling import FIRST_DAY, LAST_DAY, Spelling

FIRST: Final = FIRST_DAY * DAY
LAST: Final = (LAST_DAY + 1) * DAY - 1
UTC: Final = ("UTC", "Etc/UTC")
_PARTS: Final = "YMDHmsfza"
_TWO, _SHORT, _LETTER = "[0-9]{2}", "[0-9]{1,2}", "[A-Za-z]"
_GROUPS: Final = {
    "YYYY": "Y", "MON": "M", "MM": "M", "M": "M", "DD": "D", "D": "D", "HH": "H", "hh": "H", "H": "H", "h": "H",
    "mm": "m", "ss": "s", "Z": "z", "AM": "a", "UTC": "",
}
_PATTERNS: Final = {
    "YYYY": "([0-9]{4})", "MON": f"({_LETTER}{{3}})", "MM": f"({_TWO})", "M": f"({_SHORT})", "DD": f"({_TWO})",
    "D": f"({_SHORT})", "HH": f"({_TWO})", "hh": f"({_TWO})", "H": f"({_SHORT})", "h": f"({_SHORT})",
    "mm": f"({_TWO})", "ss": f"({_TWO})(?:[.,]([0-9]+))?", "Z": "([Zz]|[+-][0-9]{2}(?::?[0-9]{2})?)",
    "AM": "([AaPp][Mm])", "UTC": "[Uu][Tt][Cc]",
}
_OF_ISO: Final = {  # pattern and the parts of its groups
    "date": ("([0-9]{4})-([0-9]{2})-([0-9]{2})", "YMD"),
    "timestamp": ("([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]+))?)?"
                  "([Zz]|[+-][0-9]{2}(?::?[0-9]{2})?)?", "YMDHmsfz"),
}


def form_of(x: str, position: int, type: str, spelling: Spelling) -> tuple[str, str, str, str] | None:
    """(sure, value, cut, made) of texts; None where they are the grammar's."""
    trimmed, formats = f"trim({x}, ' ')", spelling.formats
    counts = [found for one in formats if (found := count_of(one))]
    if counts:
        if len(formats) > 1 or spelling.thousands or type == "integer":
            return None
        number, cut = f"made{position}", f"cut{position}"
        sure, value = counted(number, counts[0], type)
        sure = f"regexp_full_match({cut}, '[+-]?[0-9]{{1,18}}') AND {sure}"
        return sure, value, trimmed, f"TRY_CAST({cut} AS BIGINT)"
    if type == "integer" and ISO in formats:
        return None
    fitting = (_pattern(one, type) for one in formats)
    cases = " ".join(
        f"WHEN regexp_full_match({trimmed}, {quoted(pattern)}) THEN "
        f"regexp_replace({trimmed}, {quoted(f'^(?:{pattern})$')}, {quoted(written)})" for pattern, written in fitting
    )
    value, sure = _moment(f"made{position}", type, spelling)
    return sure, value, f"string_split(CASE {cases} END, '|')", _made(f"cut{position}", formats)


def counted(x: str, count: Count, type: str) -> tuple[str, str]:
    """Whether whole numbers of 64 bits are certainly read by a count since a day, and the values."""
    micros = f"({count.start} + {x} * {count.unit})"
    first, last = -((count.start - FIRST) // count.unit), (LAST - count.start) // count.unit
    sure = f"CASE WHEN {x} BETWEEN {first} AND {last} THEN "
    if type == "timestamp":
        return f"{sure}TRUE ELSE FALSE END", micros
    return f"{sure}{micros} % {DAY} = 0 ELSE FALSE END", f"{micros} // {DAY}"


def _pattern(format: str, type: str) -> tuple[str, str]:
    """The pattern of a format, and what writes its parts in their order, with | between."""
    if format == ISO:
        pattern, held = _OF_ISO[type]
    else:
        parts = tokens_of(format)
        pattern = "".join(
            _PATTERNS[part] if n % 2 else re.escape(part).replace("T", "[Tt]") for n, part in enumerate(parts)
        )
        held = "".join("sf" if part == "ss" else _GROUPS[part] for part in parts[1::2])
    written = (f"\\{held.index(part) + 1}" if part in held else "" for part in _PARTS)
    fixed = "Z" if format != ISO and "UTC" in tokens_of(format)[1::2] else ""
    return pattern, "|".join(part or (fixed if name == "z" else "") for part, name in zip(written, _PARTS, strict=True))


def _made(cut: str, formats: tuple[str, ...]) -> str:
    """A struct of the parts as numbers; NULL where no format fits."""
    number = {part: f"TRY_CAST({cut}[{n}] AS BIGINT)" for n, part in enumerate(_PARTS, start=1)}
    month = f"{cut}[2]"
    if any("MON" in tokens_of(one)[1::2] for one in formats):
        listed = ", ".join(map(quoted, MONTHS))
        month = f"COALESCE(CAST(list_position([{listed}], upper({month})) AS VARCHAR), {month})"
    iso = f"{cut}[1] || '-' || lpad({month}, 2, '0') || '-' || lpad({cut}[3], 2, '0')"
    fraction = f"CASE WHEN {cut}[7] = '' THEN 0 ELSE CAST(rpad(substring({cut}[7], 1, 6), 6, '0') AS BIGINT) END"
    of_twelve = f"{number['H']} % 12 + CASE WHEN upper({cut}[9]) = 'PM' THEN 12 ELSE 0 END"
    hour = (f"CASE WHEN {cut}[9] = '' THEN {number['H']} WHEN {number['H']} BETWEEN 1 AND 12 THEN {of_twelve} END")
    return (
        f"CASE WHEN {cut} IS NOT NULL THEN {{'iso': {iso}, 'day': TRY_CAST({iso} AS DATE), 'hour': {hour}, "
        f"'minute': {number['m']}, 'second': COALESCE({number['s']}, 0), 'part': {fraction}, 'offset': {cut}[8]}} END"
    )


def ahead(offset: str) -> str:
    """Microseconds that an offset, which is Z, empty or as the grammar has it, is ahead of UTC."""
    hours, minutes = f"substring({offset}, 2, 2)", f"right({offset}, 2)"
    return (
        f"CASE WHEN {offset} IN ('', 'Z', 'z') THEN 0 ELSE CASE {offset}[1] WHEN '-' THEN -1 ELSE 1 END * "
        f"(CAST({hours} AS BIGINT) * 60 + CASE WHEN strlen({offset}) > 3 THEN CAST({minutes} AS BIGINT) ELSE 0 END) "
        f"* 60000000 END"
    )


def is_offset(offset: str) -> str:
    """Are its hours and minutes those of a day?"""
    hours, minutes = f"substring({offset}, 2, 2)", f"right({offset}, 2)"
    return f"({offset} IN ('', 'Z', 'z') OR ({hours} < '24' AND (strlen({offset}) = 3 OR {minutes} < '60')))"


def _moment(made: str, type: str, spelling: Spelling) -> tuple[str, str]:
    seconds = f"(({made}.hour * 60 + {made}.minute) * 60 + {made}.second)"
    clock = f"{made}.hour <= 23 AND {made}.minute <= 59 AND {made}.second <= 59"
    if type == "integer":
        return seconds, clock
    day = f"{made}.day - DATE '1970-01-01'"
    is_day = (f"{made}.day::VARCHAR = {made}.iso AND {made}.day BETWEEN DATE '0001-01-01' AND DATE '9999-12-31'")
    if type == "date":
        return day, is_day
    value = f"({day}) * {DAY} + {seconds} * 1000000 + {made}.part - {ahead(f'{made}.offset')}"
    local = "TRUE" if spelling.zone in UTC else f"{made}.offset <> ''"
    sure = f"{is_day} AND {clock} AND {local} AND {is_offset(f'{made}.offset')}"
    return value, f"CASE WHEN {sure} THEN {value} BETWEEN {FIRST} AND {LAST} ELSE FALSE END"
