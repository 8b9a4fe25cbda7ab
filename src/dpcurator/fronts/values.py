"""What a Python value means in a question: itself, exactly, as the literal that SQL would write.

A float is its shortest decimal, a moment its UTC time, a timedelta days and seconds. Right because nothing is rounded:
a number without a decimal form becomes a division of two whole numbers, and what would lose a part (a datetime without
a zone, microseconds of an interval, nanoseconds) is refused, as is a missing value, which equals nothing.
Checked in tests/fronts/test_columns.py.
"""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Final
from uuid import UUID

from dpcurator.errors import Refusal
from dpcurator.language.question import Binary, Literally, Syntax
from dpcurator.language.render import decimals
from dpcurator.numbers import rational

_IS: Final = "Ask .is_missing(), or ~x.is_missing() for where it is present."
_MISSING: Final = {
    "isin": "Write x.isin(...) | x.is_missing().",
    "coalesce": "Give the value to use instead.", "nullif": "Give the value to read as missing.",
}


def value(given: object, beside: str) -> Syntax:
    """What a Python value means beside an operator: itself, exactly. Raises Refusal."""
    if given is None or (isinstance(given, float) and math.isnan(given)):
        raise Refusal(f"{beside} cannot meet {given}: nothing equals a missing value.", cure=_MISSING.get(beside, _IS))
    scalar = getattr(given, "shape", None) == ()  # numpy's
    if isinstance(given, bool) or (scalar and str(getattr(given, "dtype", "")) == "bool"):
        return Literally(bool(given))
    if isinstance(given, timedelta):
        return Literally(_interval(given), "interval")
    if isinstance(given, str | UUID):
        return Literally(text(str(given)))
    if isinstance(given, datetime):
        return Literally(_moment(given), "timestamp")
    if isinstance(given, date):
        return Literally(given.isoformat(), "date")
    if not isinstance(given, int | float | Fraction | Decimal) and not scalar:
        raise Refusal(
            f"{beside} cannot meet {shown(given)}.",
            cure="Use numbers, texts, True and False, dates, datetimes with a zone, columns or aggregates.",
        )
    number = rational(given, name="a number")
    if decimals(number) is None:
        return Binary("/", Literally(Fraction(number.numerator)), Literally(Fraction(number.denominator)))
    return Literally(number)


def _interval(given: timedelta) -> str:
    """Days and seconds of a Python interval. Raises Refusal."""
    if given.microseconds:
        raise Refusal("an interval has whole seconds.", cure="Round it to seconds.")
    words = [f"{given.days} days"] * (given.days != 0) + [f"{given.seconds} seconds"] * (given.seconds != 0)
    return " ".join(words) or "0 days"


def _moment(given: datetime) -> str:
    """The UTC spelling of a moment. Raises Refusal."""
    if given.tzinfo is None or given.utcoffset() is None:
        raise Refusal(
            f"the datetime {given.isoformat()} has no zone.",
            cure="Give it one, as in datetime(2024, 5, 31, tzinfo=timezone.utc).",
        )
    if getattr(given, "nanosecond", 0):
        raise Refusal("a moment has microseconds, and this one has nanoseconds.", cure="Round it to microseconds.")
    try:
        return given.astimezone(UTC).isoformat().replace("+00:00", "Z")
    except OverflowError:
        raise Refusal("this moment is outside the years 1 to 9999.", cure="Use one that is within.") from None


def text(given: str) -> str:
    """The text, when SQL could spell it: without NUL and halves of surrogate pairs. Raises Refusal."""
    for letter in given:
        if letter == "\0" or "\ud800" <= letter <= "\udfff":
            raise Refusal(f"a text holds a character that is no text (U+{ord(letter):04X}).", cure="Take it out.")
    return str(given)


def shown(given: object) -> str:
    """A value for a message: short ones as Python spells them, else their type."""
    huge = isinstance(given, int) and given.bit_length() > 64
    short = given is None or (isinstance(given, bool | int | float | str) and not huge and len(repr(given)) <= 60)
    return ascii(given) if short else f"a value of type {type(given).__name__}"
