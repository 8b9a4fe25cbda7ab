"""The grammar of each type: which spellings, and which typed values, mean which physical value.

Row-local and total: a value depends on its own cell and on declared facts, and reading never raises. The result is a
physical value (see `model`), None for missing, or `Unreadable` with a constant reason that quotes nothing. Engines and
file readers never cast; this module decides, for CSV cells, typed sources and the keys of a catalog alike.

Checked in tests/snapshot/test_grammar.py (every example below, and the limits) and printed in docs/types.md.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final
from uuid import UUID
from zoneinfo import ZoneInfo

from dpcurator.catalog.cleaning import AS_IT_IS, Cleaning
from dpcurator.catalog.formats import ISO as ISO_FORMAT
from dpcurator.catalog.formats import ahead_of, count_of, moment
from dpcurator.catalog.model import Value
from dpcurator.numbers.rational import INT64


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Why a value could not be read: one of the constant reasons of this module, never its text."""

    reason: str


@dataclass(frozen=True, slots=True)
class Spelling:
    """What a column declares about how its values are written and cleaned: with its type, all that decides what a text
    means. A fast reader may take the columns that are `plain` and leaves the others to this module."""

    zone: str | None = None  # of timestamps without an offset
    decimal: str = "."
    formats: tuple[str, ...] = ()  # of dates, timestamps and times of day (`catalog.formats`); none is ISO
    thousands: str = ""  # between groups of three digits of numbers
    true_words: tuple[str, ...] = ()  # of booleans, in lower case, in place of the grammar's words; both or neither
    false_words: tuple[str, ...] = ()
    cleaning: Cleaning = AS_IT_IS

    @property
    def plain(self) -> bool:
        """Is nothing declared but a zone and a decimal mark?"""
        more = self.formats or self.thousands or self.true_words or self.false_words
        return not more and self.cleaning is AS_IT_IS


@dataclass(frozen=True, slots=True)
class Rule:
    """One row of the grammar: the pattern (after surrounding ASCII spaces are cut), the range, the meaning."""

    pattern: str
    range: str
    meaning: str
    readable: tuple[tuple[str, Value], ...]
    unreadable: tuple[str, ...]


LEAST_INTEGER: Final = INT64[0]
GREATEST_INTEGER: Final = INT64[-1]
EPOCH: Final = date(1970, 1, 1).toordinal()
FIRST_DAY: Final = date.min.toordinal() - EPOCH
LAST_DAY: Final = date.max.toordinal() - EPOCH
DAY: Final = 86_400_000_000  # microseconds
_FIRST, _LAST = FIRST_DAY * DAY, (LAST_DAY + 1) * DAY - 1
ISO: Final = Spelling()

_DATE = r"\d{4}-\d\d-\d\d"
_TIME = r"(\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?"
_OFFSET = r"(Z|[+-]\d\d(?::?\d\d)?)?"

GRAMMAR: Final[dict[str, Rule]] = {
    "integer": Rule(
        r"[+-]?\d+(\.0+)?", "-2^63 to 2^63 - 1",
        "a whole number in base ten; zeros may follow the declared `decimal`, as data frames write whole numbers; with"
        " a `format`, the seconds since midnight of a time of day",
        (("5", 5), (" -07 ", -7), ("2.0", 2), ("+9223372036854775807", 2**63 - 1),
         ("-9223372036854775808", -(2**63))),
        ("", "9223372036854775808", "12345678901234567890", "1.5", "1.", "1e3", "1_000", "0x10", "1,000", "١", "1 2",
         "--1"),
    ),
    "float": Rule(
        r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?inf(inity)?|[+-]?nan", "the doubles; past them unreadable",
        "the nearest double; -0 is 0; nan is missing; the mark is the declared `decimal`; case is ignored",
        (("1.5", 1.5), (" .5 ", 0.5), ("5.", 5.0), ("-1E3", -1000.0), ("-0.0", 0.0), ("inf", math.inf),
         ("-Infinity", -math.inf), ("NaN", None), ("1e-400", 0.0)),
        ("", "1e999", "0x1p3", "1_0.0", "1,5", "1.5.2", "e5", "١.٥", "1.5f", "."),
    ),
    "boolean": Rule(
        r"true|t|yes|1|false|f|no|0", "two values",
        "1 for the first four, 0 for the others; or by the declared `true_words` and `false_words`; case is ignored",
        (("true", 1), ("F", 0), ("Yes", 1), ("nO", 0), ("1", 1), ("0", 0), (" t ", 1)),
        ("", "2", "on", "y", "01", "truth"),
    ),
    "date": Rule(
        r"YYYY-MM-DD, or a declared `format`", "0001-01-01 to 9999-12-31, days that exist",
        "days since 1970-01-01",
        (("1970-01-01", 0), ("2024-02-29", 19782), ("0001-01-01", -719162), ("9999-12-31", 2932896)),
        ("", "2023-02-29", "0000-01-01", "2024-1-1", "20240101", "01/02/2024", "2024-01-01T00:00", "-0044-03-15"),
    ),
    "timestamp": Rule(
        r"YYYY-MM-DD[T ]HH:MM[:SS[.digits]][Z|+HH[:MM]|-HH[:MM]], or a declared `format`",
        "0001-01-01T00:00Z to 9999-12-31T23:59:59.999999Z, times that exist",
        "microseconds since 1970-01-01T00:00Z, further digits cut; without an offset in the declared `zone` (the"
        " earlier instant where clocks repeat; unreadable where they skip), else unreadable",
        (("1970-01-01T00:00Z", 0), ("1970-01-01 01:00:00+01:00", 0), ("1969-12-31T23:59:59.999999Z", -1),
         ("2015-05-08T23:39:20.123-0700", 1431153560123000), ("1970-01-01T00:00:00.0000009Z", 0)),
        ("", "2015-05-08", "2015-05-08T23:39", "2015-05-08T24:00Z", "2015-05-08T23:59:60Z", "0001-01-01T00:00+01:00",
         "287000-01-01T00:00Z", "9999-12-31T23:59-00:01", "2015-02-30T00:00Z", "2015-05-08T23:39+25:00"),
    ),
    "uuid": Rule(
        r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "any", "lower case; case is ignored",
        (("123E4567-E89B-12D3-A456-426614174000", "123e4567-e89b-12d3-a456-426614174000"),),
        ("", "123e4567e89b12d3a456426614174000", "{123e4567-e89b-12d3-a456-426614174000}", "123e4567"),
    ),
    "text": Rule(
        r"anything", "Unicode text without the character U+0000", "itself; spaces are kept",
        ((" a ", " a "), ("", ""), ("naïve\nline", "naïve\nline"), ("NULL", "NULL")),
        ("a\x00b", "\udcff"),
    ),
}
TYPES: Final = tuple(GRAMMAR)

_FLAGS = re.ASCII | re.IGNORECASE
_INTEGER = re.compile(r"([+-]?)0*(\d{1,19})", re.ASCII)
_FLOATS = {
    mark: re.compile(rf"[+-]?(\d+{re.escape(mark)}?\d*|{re.escape(mark)}\d+)(e[+-]?\d+)?", _FLAGS) for mark in ".,"
}
_WORDED = re.compile(r"([+-]?)(inf|infinity|nan)", _FLAGS)
_BOOLEANS = {"true": 1, "t": 1, "yes": 1, "1": 1, "false": 0, "f": 0, "no": 0, "0": 0}
_TIMESTAMP = re.compile(rf"({_DATE})[T ]{_TIME}{_OFFSET}", _FLAGS)
_ISO_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)", re.ASCII)
_NUMBERS = {mark: re.compile(rf"[+-]?\d{{1,40}}({re.escape(mark)}\d{{1,40}})?", re.ASCII) for mark in ".,"}
_OF_FORMATS = ("date", "timestamp", "integer")
_UUID = re.compile(GRAMMAR["uuid"].pattern, _FLAGS)

_ARTICLES = {"integer": "an ", "text": ""}
NOT_OF_TYPE: Final = {name: Unreadable(f"not {_ARTICLES.get(name, 'a ')}{name}") for name in TYPES}
PAST_64_BITS: Final = Unreadable("outside 64 bits")
PAST_DOUBLE: Final = Unreadable("outside the doubles")
NO_SUCH_DAY: Final = Unreadable("no such day or time between the years 1 and 9999")
NO_ZONE: Final = Unreadable("a timestamp without an offset, in a column without a declared zone")
NOT_VALID: Final = Unreadable("outside valid")
NO_TEXT: Final = Unreadable("bytes that are no UTF-8")
TOO_MANY_DIGITS: Final = Unreadable("a whole number of more than 600 digits")
_WRITTEN: Final = 10**600  # Python may be told to write no more than 640 digits
NOT_UNICODE: Final = Unreadable("bytes that the declared encoding does not have, or the character U+0000")


def read_text(text: str, type: str, spelling: Spelling = ISO) -> Value | Unreadable:
    """The physical value that `text` spells in this type, cleaned as declared."""
    cleaning = spelling.cleaning
    if cleaning is AS_IT_IS:
        return _spelled(text, type, spelling)
    cleaned = cleaning.text(text)
    return None if cleaned is None else _kept(_spelled(cleaned, type, spelling), cleaning)


def _kept(value: Value | Unreadable, cleaning: Cleaning) -> Value | Unreadable:
    """A value that was read, unless it is one that means missing or is outside `valid`."""
    if value is None or isinstance(value, Unreadable):
        return value
    if cleaning.absent_value(value):
        return None
    return NOT_VALID if cleaning.outside(value) else value


def _spelled(text: str, type: str, spelling: Spelling) -> Value | Unreadable:
    """The physical value of a text in the grammar of the type."""
    if type == "text":
        return _text(text)
    text = text.strip(" ")
    if spelling.formats and type in _OF_FORMATS:
        return _formatted(text, type, spelling)
    return _READERS[type](text, spelling)


def _text(text: str) -> Value | Unreadable:
    try:
        text.encode()
    except UnicodeEncodeError:
        return NOT_UNICODE
    return NOT_UNICODE if "\0" in text else text


def _integer(text: str, spelling: Spelling) -> Value | Unreadable:
    text = _ungrouped(text, spelling)
    whole, mark, zeros = text.partition(spelling.decimal)
    if mark and zeros and not zeros.strip("0"):
        text = whole
    found = _INTEGER.fullmatch(text)
    if found is None:
        digits = text.removeprefix("-") if text.startswith("-") else text.removeprefix("+")
        return PAST_64_BITS if digits.isascii() and digits.isdigit() else NOT_OF_TYPE["integer"]
    return _fits(int(found[1] + found[2]))  # without its zeros: Python reads no more than some thousand digits


def _fits(value: int) -> Value | Unreadable:
    return value if LEAST_INTEGER <= value <= GREATEST_INTEGER else PAST_64_BITS


def _ungrouped(text: str, spelling: Spelling) -> str:
    """A number without its marks between thousands, where all of them stand before groups of three digits."""
    if not spelling.thousands or spelling.thousands not in text:
        return text
    whole, mark, rest = text.partition(spelling.decimal)
    grouped = re.fullmatch(rf"[+-]?\d{{1,3}}({re.escape(spelling.thousands)}\d{{3}})+", whole, re.ASCII)
    return whole.replace(spelling.thousands, "") + mark + rest if grouped else text


def _float(text: str, spelling: Spelling) -> Value | Unreadable:
    text = _ungrouped(text, spelling)
    if _FLOATS[spelling.decimal].fullmatch(text):
        value = float(text.replace(",", "."))
        return PAST_DOUBLE if math.isinf(value) else value + 0.0  # -0.0 + 0.0 is 0.0
    if word := _WORDED.fullmatch(text):
        return None if word[2].lower() == "nan" else float(word[1] + "inf")
    return NOT_OF_TYPE["float"]


def _boolean(text: str, spelling: Spelling) -> Value | Unreadable:
    if spelling.true_words or spelling.false_words:
        word = text.lower()
        known = 1 if word in spelling.true_words else 0 if word in spelling.false_words else None
        return NOT_OF_TYPE["boolean"] if known is None else known
    return _BOOLEANS.get(text.lower() if text.isascii() else "", NOT_OF_TYPE["boolean"])


def _date(text: str, _: Spelling) -> Value | Unreadable:
    found = _ISO_DATE.fullmatch(text)
    return _day(int(found[1]), int(found[2]), int(found[3])) if found else NOT_OF_TYPE["date"]


def _formatted(text: str, type: str, spelling: Spelling) -> Value | Unreadable:
    """By the first declared format that reads the text; else why the last one that it is written in does not."""
    reason = NOT_OF_TYPE[type]
    for declared in spelling.formats:
        value: Value | Unreadable
        if declared == ISO_FORMAT:
            value = _READERS[type](text, spelling)
        elif count_of(declared) is not None:
            value = _counted(_number(text, spelling), type, spelling)
        else:
            value = _at(text, declared, type, spelling)
        if not isinstance(value, Unreadable):
            return value
        reason = value if value != NOT_OF_TYPE[type] else reason
    return reason


def _at(text: str, declared: str, type: str, spelling: Spelling) -> Value | Unreadable:
    found = moment(text, declared, type)
    if not found:
        return NOT_OF_TYPE[type] if found is None else NO_SUCH_DAY
    assert not isinstance(found, bool)
    if type == "integer":
        return found.micros // 1_000_000
    if type == "date":
        return found.day
    micros = found.day * DAY + found.micros
    if found.ahead is None:
        return _in_zone(datetime(1970, 1, 1) + timedelta(microseconds=micros), spelling)
    return micros - found.ahead if _FIRST <= micros - found.ahead <= _LAST else NO_SUCH_DAY


def _number(text: str, spelling: Spelling) -> Decimal | None:
    text = _ungrouped(text, spelling)
    return Decimal(text.replace(",", ".")) if _NUMBERS[spelling.decimal].fullmatch(text) else None


def _counted(count: int | float | Decimal | None, type: str, spelling: Spelling) -> Value | Unreadable:
    """By the declared count since a day; a date has whole days only."""
    counting = next((found for one in spelling.formats if (found := count_of(one))), None)
    if count is None or counting is None or type not in ("date", "timestamp"):
        return NOT_OF_TYPE[type]
    micros = counting.micros(count)
    if micros is None or not _FIRST <= micros <= _LAST:
        return NO_SUCH_DAY
    if type == "timestamp":
        return micros
    return micros // DAY if micros % DAY == 0 and count == int(count) else NOT_OF_TYPE["date"]


def _day(year: int, month: int, day: int) -> Value | Unreadable:
    try:
        return date(year, month, day).toordinal() - EPOCH
    except ValueError:
        return NO_SUCH_DAY


def _timestamp(text: str, spelling: Spelling) -> Value | Unreadable:
    found = _TIMESTAMP.fullmatch(text)
    if found is None:
        return NOT_OF_TYPE["timestamp"]
    day, hour, minute, second, fraction, offset = found.groups()
    days, seconds = _iso_day(day), int(hour) * 3600 + int(minute) * 60 + int(second or 0)
    if days is None or int(hour) > 23 or int(minute) > 59 or int(second or 0) > 59:
        return NO_SUCH_DAY
    micros = days * DAY + seconds * 1_000_000 + int((fraction or "")[:6].ljust(6, "0"))
    if offset is None:
        return _in_zone(datetime(1970, 1, 1) + timedelta(microseconds=micros), spelling)
    if (ahead := ahead_of(offset)) is None:
        return NO_SUCH_DAY
    micros -= ahead
    return micros if _FIRST <= micros <= _LAST else NO_SUCH_DAY


@lru_cache(maxsize=65_536)
def _iso_day(text: str) -> int | None:
    """Days since 1970 of an ISO date in the right pattern; None when there is no such day."""
    try:
        return date(int(text[:4]), int(text[5:7]), int(text[8:])).toordinal() - EPOCH
    except ValueError:
        return None


def _in_zone(local: datetime, spelling: Spelling) -> Value | Unreadable:
    if spelling.zone is None:
        return NO_ZONE
    try:
        zone = ZoneInfo(spelling.zone)
        offset, later = zone.utcoffset(local.replace(fold=0)), zone.utcoffset(local.replace(fold=1))
    except OverflowError:
        return NO_SUCH_DAY
    if later is not None and offset is not None and later > offset:  # PEP 495: clocks skip this time
        return NO_SUCH_DAY
    return _instant(local, offset or timedelta())


def _instant(local: datetime, offset: timedelta) -> Value | Unreadable:
    micros = (local.replace(tzinfo=None) - datetime(1970, 1, 1) - offset) // timedelta(microseconds=1)
    return micros if _FIRST <= micros <= _LAST else NO_SUCH_DAY


def _uuid(text: str, _: Spelling) -> Value | Unreadable:
    return text.lower() if _UUID.fullmatch(text) else NOT_OF_TYPE["uuid"]


_READERS = {
    "integer": _integer, "float": _float, "boolean": _boolean, "date": _date, "timestamp": _timestamp, "uuid": _uuid,
}


def read_value(value: Any, type: str, spelling: Spelling = ISO) -> Value | Unreadable:
    """The physical value of a typed one, from a data frame, Parquet, DuckDB or TOML. Text is read by the grammar.

    Conversions keep the value: 3.0 is the integer 3, 3.5 is none; midnight without a zone is a date. A boolean is no
    number, a number is no date but where a count since a day is declared. Integers are read as text by their digits,
    floats never. Bytes are the text that they are in UTF-8, periods and intervals of pandas what they are written as. A
    time of day is an integer where a `format` says so.
    """
    value = _plain(value)
    if value is None or isinstance(value, Unreadable):
        return value
    if isinstance(value, str):
        return read_text(value, type, spelling)
    read = _typed(value, type, spelling)
    if spelling.cleaning is AS_IT_IS:
        return read
    if type == "text" and isinstance(read, str):
        return read_text(read, type, spelling)
    return _kept(read, spelling.cleaning)


def _typed(value: Any, type: str, spelling: Spelling) -> Value | Unreadable:
    number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
    match type:
        case "integer" if spelling.formats:
            of_day = isinstance(value, time)
            return (value.hour * 60 + value.minute) * 60 + value.second if of_day else NOT_OF_TYPE["integer"]
        case "integer" | "boolean":
            return _whole(value, type)
        case "float":
            return _double(value)
        case "date" | "timestamp" if number and spelling.formats:
            return _counted(value, type, spelling)
        case "date":
            return _typed_date(value)
        case "timestamp":
            return _typed_timestamp(value, spelling)
        case "uuid":
            return str(value) if isinstance(value, UUID) else NOT_OF_TYPE["uuid"]
        case _:
            if isinstance(value, UUID):
                return str(value)
            if isinstance(value, int) and not isinstance(value, bool):
                return str(value) if -_WRITTEN < value < _WRITTEN else TOO_MANY_DIGITS
            return NOT_OF_TYPE["text"]


def _plain(value: Any) -> Any:
    """A numpy or pandas scalar as a standard Python value; every spelling of 'missing' as None; an instant of pandas
    in a year that Python has no datetime of as `Unreadable`."""
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    if hasattr(value, "to_pydatetime") and not 1 <= value.year <= 9999:
        return NO_SUCH_DAY
    if type(value).__module__ == "numpy" and hasattr(value, "item"):
        if type(value).__name__ == "datetime64":
            value = value.astype("datetime64[us]")
        value = value.item()
    if type(value).__name__ in ("Period", "Interval") and type(value).__module__.split(".")[0] == "pandas":
        return str(value)
    if isinstance(value, bytes | bytearray | memoryview):
        try:
            return bytes(value).decode()
        except UnicodeDecodeError:
            return NO_TEXT
    missing = (isinstance(value, float) and math.isnan(value)) or (isinstance(value, Decimal) and value.is_nan())
    return None if missing else value


def _whole(value: Any, type: str) -> Value | Unreadable:
    if isinstance(value, bool):
        return int(value) if type == "boolean" else NOT_OF_TYPE[type]
    if isinstance(value, float | Decimal):
        finite = math.isfinite(value) if isinstance(value, float) else value.is_finite() and value.adjusted() < 40
        if not finite or value != int(value):
            return NOT_OF_TYPE[type]
        value = int(value)
    if not isinstance(value, int):
        return NOT_OF_TYPE[type]
    if type == "boolean":
        return value if value in (0, 1) else NOT_OF_TYPE[type]
    return _fits(value)


def _double(value: Any) -> Value | Unreadable:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return NOT_OF_TYPE["float"]
    try:
        double = float(value)
    except OverflowError:
        return PAST_DOUBLE
    finite = value.is_finite() if isinstance(value, Decimal) else not isinstance(value, float)
    return PAST_DOUBLE if finite and math.isinf(double) else double + 0.0


def _typed_date(value: Any) -> Value | Unreadable:
    if isinstance(value, datetime):
        midnight = value.tzinfo is None and value.time() == datetime.min.time()  # nanoseconds are cut first
        return value.toordinal() - EPOCH if midnight else NOT_OF_TYPE["date"]
    return value.toordinal() - EPOCH if isinstance(value, date) else NOT_OF_TYPE["date"]


def _typed_timestamp(value: Any, spelling: Spelling) -> Value | Unreadable:
    if not isinstance(value, date):
        return NOT_OF_TYPE["timestamp"]
    if isinstance(value, datetime):
        if hasattr(value, "to_pydatetime"):
            value = value.to_pydatetime(warn=False)
        if (offset := value.utcoffset()) is not None:
            return _instant(value, offset)
        return _in_zone(value, spelling)
    return _in_zone(datetime(value.year, value.month, value.day), spelling)
