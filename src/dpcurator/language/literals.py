"""Literals as the values they mean: exactly, for the type that stands beside them, or a Refusal.

Checked in tests/language/test_predicates.py and tests/language/test_expressions.py.
"""

from __future__ import annotations

import re
import uuid
from datetime import UTC, date, datetime
from fractions import Fraction

from dpcurator.catalog.model import Value
from dpcurator.errors import Refusal
from dpcurator.language.days import DAY
from dpcurator.language.names import show
from dpcurator.language.question import Literally

INT64 = range(-(2**63), 2**63)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_CURES = {
    "date": "Write it as in '2024-05-31'.",
    "timestamp": "Write it as in '2024-05-31T12:00:00Z', with its zone.",
    "local": "Write it as in TIMESTAMP '2024-05-31 12:00:00', without a zone.",
    "text": "Write it in single quotes.",
    "uuid": "Write its 36 characters in single quotes.",
    "boolean": "Write TRUE or FALSE.",
}
_WORDS = {
    "float": "a number", "integer": "a number", "boolean": "TRUE or FALSE", "uuid": "a UUID", "date": "a date",
    "timestamp": "a timestamp with its zone", "local": "a timestamp without a zone", "text": "a text",
}  # fmt: skip


def mismatch(name: str, type: str) -> Refusal:
    """Something of this type met a literal that is none of it."""
    cure = _CURES.get(type, "Write it as in 65 or 0.5.")
    said = "a wall clock" if type == "local" else type
    return Refusal(f"{show(name)} is {said}; compare it with {_WORDS[type]}.", cure=cure)


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
        raise mismatch(name, type)
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
_ZONE = re.compile(r"Z|[+-][0-9]{2}:[0-9]{2}")


def moment(text: str, *, zoned: bool) -> int | None:
    """Microseconds of a moment, or of a wall clock's reading; None for a text that is none."""
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
}  # fmt: skip
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
