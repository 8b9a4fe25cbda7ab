"""How a file writes dates and times: `format = "DD.MM.YYYY"`, or several, or a count as in "seconds since 1970-01-01".

    YYYY          a year of four digits             HH, hh       hour of two digits: of 24, of 12 with AM
    MM, DD        month, day of two digits          H, h         the same of one or two digits
    M, D          the same of one or two digits     mm, ss       minute; second, with or without a fraction
    MON           Jan, Feb, ... in English          AM           AM or PM
    ISO           as without a format               Z, UTC       Z or an offset; the letters UTC

Marks, spaces and the T between date and time stand for themselves; upper and lower case of letters are one. A date has
year, month and day once each; a timestamp hour and minute too; an integer with a format is a time of day, hour and
minute, and its value the seconds since midnight. Of several formats the first that reads a text decides, and two that
read one text differently are refused when they are declared. A count is of days to microseconds since a day, in UTC;
a typed number is read by it too. Checked in tests/catalog/test_formats.py.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Final

ISO: Final = "ISO"
_TOKENS: Final = {
    "YYYY": r"(?P<Y>\d{4})", "MON": r"(?P<N>[A-Z]{3})", "MM": r"(?P<M>\d\d)", "DD": r"(?P<D>\d\d)",
    "HH": r"(?P<H>\d\d)", "hh": r"(?P<h>\d\d)", "mm": r"(?P<m>\d\d)", "ss": r"(?P<s>\d\d)(?:[.,](?P<f>\d+))?",
    "AM": r"(?P<a>[AP]M)", "UTC": r"(?P<u>UTC)", "M": r"(?P<M>\d{1,2})", "D": r"(?P<D>\d{1,2})",
    "H": r"(?P<H>\d{1,2})", "h": r"(?P<h>\d{1,2})", "Z": r"(?P<z>Z|[+-]\d\d(?::?\d\d)?)",
}
_SPLIT: Final = re.compile(f"({'|'.join(_TOKENS)})")
_SHORT: Final = ("M", "D", "H", "h")
_PARTS: Final = {  # by type: needed once each, allowed once each
    "date": ("YMD", ""), "timestamp": ("YMDHm", "suz"), "integer": ("Hm", "s"),
}
_NEEDS: Final = {
    "date": "a date format has YYYY, MM and DD once each, with marks or spaces between",
    "timestamp": "a timestamp format has YYYY, MM, DD, HH and mm once each, and may have ss and Z or UTC, with marks, "
    "spaces or a T between",
    "integer": "the format of a time of day has HH and mm once each, and may have ss, with marks or spaces between",
}
SAMPLES: Final = {
    "date": '"DD/MM/YYYY"', "timestamp": '"DD/MM/YYYY HH:mm"', "integer": '"HH:mm"',
}
MONTHS: Final = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_COUNT: Final = re.compile(r"(days|hours|minutes|seconds|milliseconds|microseconds) since (\d{4}-\d\d-\d\d)", re.ASCII)
_MICROSECONDS: Final = {
    "days": 86_400_000_000, "hours": 3_600_000_000, "minutes": 60_000_000, "seconds": 1_000_000, "milliseconds": 1_000,
    "microseconds": 1,
}
DAY: Final = _MICROSECONDS["days"]
EPOCH: Final = date(1970, 1, 1).toordinal()
_LARGEST: Final = 10**25  # a count beyond it is no day between the years 1 and 9999 in any unit


@dataclass(frozen=True, slots=True)
class Moment:
    """What a format finds in a text: days since 1970 (0 for a time of day), microseconds since midnight, and the
    microseconds that its offset is ahead of UTC, None where it has none."""

    day: int
    micros: int
    ahead: int | None


@dataclass(frozen=True, slots=True)
class Count:
    """Microseconds in one of the unit that is counted, and since 1970-01-01 at the day it is counted from."""

    unit: int
    start: int

    def micros(self, count: int | float | Decimal) -> int | None:
        """Microseconds since 1970, further digits cut downwards; None far outside every range."""
        if isinstance(count, float) and not math.isfinite(count):
            return None
        if isinstance(count, Decimal) and (not count.is_finite() or count.adjusted() > 25):
            return None
        if not -_LARGEST <= count <= _LARGEST:
            return None
        if isinstance(count, Decimal) and count.adjusted() < -25:
            return self.start - (count < 0)
        return self.start + math.floor(Fraction(count) * self.unit)


@cache
def count_of(format: str) -> Count | None:
    """The count that a format such as "seconds since 1970-01-01" is; None where it is of another kind."""
    found = _COUNT.fullmatch(format)
    if found is None:
        return None
    try:
        day = date.fromisoformat(found[2]).toordinal() - EPOCH
    except ValueError:
        return None
    return Count(_MICROSECONDS[found[1]], day * DAY)


@cache
def pattern_of(format: str, type: str) -> re.Pattern[str]:
    """The pattern of a written format. Raises ValueError, in words, unless it has what the type needs."""
    parts = tokens_of(format)
    tokens, between = parts[1::2], parts[0::2]
    if {re.sub(r"[\W_]", "", part) for part in between} - {"", "T" if type == "timestamp" else ""}:
        raise ValueError(_NEEDS[type])
    held = [group for token in tokens for group in re.findall(r"\?P<(\w)>", _TOKENS[token]) if group != "f"]
    plain = [{"N": "M", "h": "H"}.get(group, group) for group in held if group != "a"]
    needed, allowed = _PARTS[type]
    if len(set(plain)) != len(plain) or not set(needed) <= set(plain) <= set(needed + allowed):
        raise ValueError(_NEEDS[type])
    if held.count("a") > 1 or ("h" in held) != ("a" in held) or {"u", "z"} <= set(held):
        raise ValueError("hh goes with AM, HH without, and a format has Z or UTC, not both")
    for position, token in enumerate(tokens[:-1]):
        if token in _SHORT and not between[position + 1] and tokens[position + 1] not in ("AM", "MON"):
            raise ValueError(f"{token} of one or two digits needs a mark after it")
    texts = (_TOKENS[part] if i % 2 else re.escape(part) for i, part in enumerate(parts))
    return re.compile("".join(texts), re.ASCII | re.IGNORECASE)


@cache
def tokens_of(format: str) -> tuple[str, ...]:
    """What stands between tokens and the tokens, by turns, from and to the former."""
    return tuple(_SPLIT.split(format))


def has_offset(format: str) -> bool:
    """Does a written format of timestamps say itself how far a clock is from UTC?"""
    return bool({"Z", "UTC"} & set(tokens_of(format)[1::2]))


def moment(text: str, format: str, type: str) -> Moment | bool | None:
    """What the format finds in a text: None where it is not written so, False where there is no such day or time."""
    found = pattern_of(format, type).fullmatch(text)
    if found is None:
        return None
    part = found.groupdict()
    hour, minute, second = int(part.get("H") or part.get("h") or 0), int(part.get("m") or 0), int(part.get("s") or 0)
    if part.get("a"):
        if not 1 <= hour <= 12:
            return False
        hour = hour % 12 + (12 if part["a"].upper() == "PM" else 0)
    if hour > 23 or minute > 59 or second > 59:
        return False
    micros = (hour * 3600 + minute * 60 + second) * 1_000_000 + int((part.get("f") or "")[:6].ljust(6, "0"))
    day = 0
    if "Y" in part:
        name = (part.get("N") or "").upper()
        if name and name not in MONTHS:
            return None
        month = MONTHS.index(name) + 1 if name else int(part["M"])
        try:
            day = date(int(part["Y"]), month, int(part["D"])).toordinal() - EPOCH
        except ValueError:
            return False
    offset = "Z" if part.get("u") else part.get("z")
    ahead = None if offset is None else ahead_of(offset)
    return False if offset is not None and ahead is None else Moment(day, micros, ahead)


def ahead_of(offset: str) -> int | None:
    """Microseconds that Z or +HH[:MM] is ahead of UTC; None where there is no such offset."""
    if offset in "Zz":
        return 0
    hours, minutes = int(offset[1:3]), int(offset[-2:]) if len(offset) > 3 else 0
    if hours > 23 or minutes > 59:
        return None
    return (hours * 60 + minutes) * 60_000_000 * (-1 if offset[0] == "-" else 1)


_DAYS: Final = [(y, m, d) for y in (1112, 2010) for m in range(1, 13) for d in (1, 2, 10, 11, 12, 13, 20, 21)]
_TIME: Final = (4, 5, 6)


@cache
def alike(first: str, second: str, type: str) -> str:
    """A text that both formats read, as two different moments; empty where none is known. Every pair of tokens differs
    on some day or time of these: each digit of a day, month and year takes the place of each other."""
    if count_of(first) and count_of(second):
        return "1"
    iso = "YYYY-MM-DD" if type == "date" else "YYYY-MM-DD HH:mm"
    first, second = (iso if one == ISO else one for one in (first, second))
    for one, other in ((first, second), (second, first)):
        if count_of(one):
            continue
        for text in _written(one, type):
            if count_of(other):
                if re.fullmatch(r"[+-]?\d+([.,]\d+)?", text, re.ASCII):
                    return text
            elif (read := moment(text, other, type)) and read != moment(text, one, type):
                return text
    return ""


def _written(format: str, type: str) -> list[str]:
    """Texts of a format: some days and a time, with and without zeros before one digit."""
    parts = tokens_of(format)
    hour, minute, second = _TIME
    days = _DAYS if type != "integer" else _DAYS[:1]
    texts = []
    for year, month, day in days:
        for zeros in ("02d", "d"):
            value = {
                "YYYY": f"{year}", "MON": MONTHS[month - 1], "MM": f"{month:02d}", "DD": f"{day:02d}",
                "M": f"{month:{zeros}}", "D": f"{day:{zeros}}", "HH": f"{hour:02d}", "hh": f"{hour:02d}",
                "H": f"{hour:{zeros}}", "h": f"{hour:{zeros}}", "mm": f"{minute:02d}", "ss": f"{second:02d}",
                "AM": "AM", "UTC": "UTC", "Z": "Z",
            }
            texts.append("".join(value[part] if i % 2 else part for i, part in enumerate(parts)))
    return list(dict.fromkeys(texts))
