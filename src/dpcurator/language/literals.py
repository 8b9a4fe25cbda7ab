"""Literals as the values they mean: exactly, for the type that stands beside them, or a Refusal.

Checked in tests/language/test_predicates.py and tests/language/test_expressions.py.
"""

from __future__ import annotations

import re
import uuid
from datetime import UTC, date, datetime
from fractions import Fraction

from dpcurator.catalog.model import Value
from dpcurator.errors import Mend, Refusal
from dpcurator.language.days import DAY
from dpcurator.language.names import show
from dpcurator.language.question import Literally
from dpcurator.language.render import words
from dpcurator.numbers.rational import INT64

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_CURES = {  # what to write, then more about it
    "date": ("'2024-05-31'", ""), "timestamp": ("'2024-05-31T12:00:00Z'", ", with its zone"),
    "local": ("TIMESTAMP '2024-05-31 12:00:00'", ", without a zone"), "text": ("'x'", ", in single quotes"),
    "uuid": ("'5f0c3a52-6d1e-4c7b-9d3a-0a4f8e2b1c66'", ", its 36 characters in single quotes"),
    "boolean": ("TRUE", " or FALSE"), "integer": ("65", ""), "float": ("65", " or 0.5"),
}
_WORDS = {
    "float": "a number", "integer": "a number", "boolean": "TRUE or FALSE", "uuid": "a UUID", "date": "a date",
    "timestamp": "a timestamp with its zone", "local": "a timestamp without a zone", "text": "a text",
}


def mismatch(name: str, type: str, literal: Literally) -> Refusal:
    """Something of this type met a literal that is none of it."""
    said = "a wall clock" if type == "local" else type
    cure, mends = instead(type, literal)
    shown = name if name[:1] == '"' == name[-1:] else show(name)  # a name that is quoted is shown as it is
    return Refusal(f"{shown} is {said}; compare it with {_WORDS[type]}.", cure=cure, mends=mends)


def instead(type: str, literal: Literally, word: str = "") -> tuple[str, tuple[Mend, ...]]:
    """The sentence that says how to write a literal of this type, `word` before it, and the same for a program."""
    example, more = _CURES[type]
    meant = _nearest(type, literal.value)
    put, over = word + (meant or example), words(literal)
    return f"Write it as {'' if meant else 'in '}{put}{more}.", () if over is None else (Mend(put, over),)


def _nearest(type: str, value: Fraction | str | bool | None) -> str | None:
    """The literal of this type that was meant, where the one that was written tells."""
    text = value.strip() if isinstance(value, str) else ""
    clock = _MOMENT.match(text)
    day = text[:10] if _date(text[:10]) is not None and (len(text) == 10 or clock) else None
    match type:
        case "date" if isinstance(value, Fraction) and value.denominator == 1 and 1000 <= value <= 9999:
            return f"'{int(value)}-01-01'"
        case "date" if day:
            return f"'{day}'"
        case "timestamp" if day and clock:
            return f"'{clock[0].replace(' ', 'T')}Z'" if _ZONE.fullmatch(text[clock.end() :]) is None else None
        case "timestamp" if day:
            return f"'{day}T00:00:00Z'"
        case "local" if day:
            return f"TIMESTAMP '{clock[0] if clock else f'{day} 00:00:00'}'"
        case "integer" | "float" if re.fullmatch(r"[+-]?[0-9]{1,18}(\.[0-9]{1,18})?", text):
            return text.lstrip("+")
        case "integer" | "float" if isinstance(value, bool):
            return str(int(value))
        case "boolean":
            truths = {"true": "TRUE", "t": "TRUE", "yes": "TRUE", "y": "TRUE", "1": "TRUE", "false": "FALSE",
                      "f": "FALSE", "no": "FALSE", "n": "FALSE", "0": "FALSE"}
            return truths.get(text.lower() if text else str(value))
        case "text" if value is not None:
            return words(Literally(text or str(words(Literally(value)) or "x")))
    return None


def physical(name: str, type: str, literal: Literally) -> Value:
    """The stored value a literal means beside `name`, which is of this type. Raises Refusal when it means none."""
    value, wanted = literal.value, literal.type
    found: Value = None
    match type:
        case "float" if isinstance(value, Fraction) and not isinstance(value, bool) and wanted is None:
            return double(value)
        case "integer" if isinstance(value, Fraction) and value.denominator == 1 and int(value) in INT64:
            return int(value)
        case "boolean" if isinstance(value, bool):
            return int(value)
        case "text" if isinstance(value, str) and wanted is None:
            return value
        case "uuid" if isinstance(value, str) and wanted is None:
            found = _uuid(value)
        case "date" if isinstance(value, str) and wanted in (None, "date"):
            found = _date(value)
        case "timestamp" | "local" if isinstance(value, str) and wanted in (None, "timestamp"):
            found = moment(value, zoned=type == "timestamp")
    if found is None:
        raise mismatch(name, type, literal)
    return found


def double(value: Fraction) -> float:
    """The nearest double. Raises Refusal."""
    try:
        return float(value) + 0.0
    except OverflowError:
        raise Refusal("this number is beyond the largest double.", cure="Use a smaller number.") from None


def _uuid(text: str) -> str | None:
    try:
        return str(uuid.UUID(text))
    except ValueError:
        return None


def _date(text: str) -> int | None:
    if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        try:
            return date.fromisoformat(text).toordinal() - date(1970, 1, 1).toordinal()
        except ValueError:
            pass
    return None


_MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?")
_ZONE = re.compile(r"Z|[+-][0-9]{2}(:?[0-9]{2})?")


def moment(text: str, *, zoned: bool) -> int | None:
    """Microseconds of a moment, or of a wall clock's reading, midnight for a bare date; None for a text that is none.

    A zone is Z or an offset as ISO 8601 and engines write it: +01:00, +0100 or +01."""
    if not zoned and re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        text += "T00:00:00"
    clock = _MOMENT.match(text)
    rest = text[clock.end() :] if clock else ""
    if clock and (_ZONE.fullmatch(rest) if zoned else rest == ""):
        try:
            found = datetime.fromisoformat(text if zoned else text + "Z") - _EPOCH
            return (found.days * 86_400 + found.seconds) * 1_000_000 + found.microseconds
        except (ValueError, OverflowError):
            pass
    return None


_UNITS = {
    "year": (12, 0, 0), "quarter": (3, 0, 0), "month": (1, 0, 0), "week": (0, 7, 0), "day": (0, 1, 0),
    "hour": (0, 0, DAY // 24), "minute": (0, 0, 60_000_000), "second": (0, 0, 1_000_000),
}
_INTERVAL = re.compile(r"([+-]?[0-9]{1,18}) ([a-z]+?)s?")


def interval(text: str) -> tuple[int, int, int]:
    """Months, days and microseconds of INTERVAL '2 days 3 hours'. Raises Refusal."""
    words = text.lower().split()
    months = days = us = 0
    pairs = [" ".join(words[i : i + 2]) for i in range(0, len(words), 2)]
    for pair in pairs or [""]:
        read = _INTERVAL.fullmatch(pair)
        unit = _UNITS.get(read[2]) if read else None
        if read is None or unit is None:
            raise Refusal(
                f"INTERVAL {show(text)} is not an interval.",
                cure=f"Write it as in INTERVAL '1 month'; units: {', '.join(_UNITS)}.",
            )
        months, days, us = (total + int(read[1]) * one for total, one in zip((months, days, us), unit, strict=True))
    if max(abs(months), abs(days)) > 10**6 or abs(us) > 10**17:
        raise Refusal(f"INTERVAL {show(text)} is too long.", cure="Use at most 1,000,000 days or months.")
    return months, days, us
