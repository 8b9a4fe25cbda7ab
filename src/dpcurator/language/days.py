"""The proleptic Gregorian calendar in integers: days from 1970-01-01, years 1 to 9999.

The era method: 400 years are 146,097 days, and a year that begins in March has its leap day last.
Source: E. G. Richards, Mapping Time, 1998. Checked in tests/language/test_days.py, against datetime on every day.
"""

from __future__ import annotations

import re
from typing import Final

FIRST_DAY: Final = -719_162  # 0001-01-01
LAST_DAY: Final = 2_932_896  # 9999-12-31
DAY: Final = 86_400_000_000  # microseconds
FIRST_MOMENT: Final = FIRST_DAY * DAY
LAST_MOMENT: Final = (LAST_DAY + 1) * DAY - 1
TIME_SIZES: Final = {"second": 1_000_000, "minute": 60_000_000, "hour": 3_600_000_000}
MONTHS: Final = {"month": 1, "quarter": 3, "year": 12}
DATE_TEXT: Final = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
Civil = tuple[int, int, int]  # year, month, day of the month


def civil(day: int) -> Civil:
    """The year, month and day of the month; any integer."""
    era, day_of_era = divmod(day + 719_468, 146_097)  # from 0000-03-01
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    month = (5 * day_of_year + 2) // 153  # from March = 0
    shifted = month + 3 if month < 10 else month - 9
    return year_of_era + 400 * era + (shifted <= 2), shifted, day_of_year - (153 * month + 2) // 5 + 1


def days(year: int, month: int, day: int) -> int:
    """The inverse of `civil`; any year."""
    era, year_of_era = divmod(year - (month <= 2), 400)
    day_of_year = (153 * (month - 3 if month > 2 else month + 9) + 2) // 5 + day - 1
    return era * 146_097 + year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year - 719_468


def weekday(day: int) -> int:
    """Monday = 0."""
    return (day + 3) % 7


def part(name: str, day: int) -> int:
    """One of functions.DATE_PARTS."""
    year, month, of_month = civil(day)
    match name:
        case "year":
            return year
        case "quarter":
            return (month + 2) // 3
        case "month":
            return month
        case "week":
            thursday = day - weekday(day) + 3  # an ISO week belongs to the year of its Thursday
            return (thursday - days(civil(thursday)[0], 1, 1)) // 7 + 1
        case "day":
            return of_month
        case "dow":
            return (day + 4) % 7
        case "isodow":
            return weekday(day) + 1
        case "doy":
            return day - days(year, 1, 1) + 1
    raise AssertionError("unreachable: the binder and check_core know every part")


def truncated(unit: str, day: int) -> int:
    """The first day of one of functions.DATE_UNITS."""
    if unit == "day":
        return day
    if unit == "week":
        return day - weekday(day)
    year, month, _ = civil(day)
    size = MONTHS[unit]
    return days(year, (month - 1) // size * size + 1, 1)


def months_later(day: int, months: int) -> int:
    """The same day of the month, or its last; any integers."""
    year, month, of_month = civil(day)
    ahead, month = divmod(month - 1 + months, 12)
    first = days(year + ahead, month + 1, 1)
    next_ = days(year + ahead + (month == 11), (month + 1) % 12 + 1, 1)
    return first + min(of_month, next_ - first) - 1


def from_text(text: str) -> int | None:
    """Days of YYYY-MM-DD, or None."""
    if re.fullmatch(DATE_TEXT, text) is None:
        return None
    wanted = int(text[:4]), int(text[5:7]), int(text[8:])
    if not (wanted[0] >= 1 and 1 <= wanted[1] <= 12 and 1 <= wanted[2] <= 31):
        return None
    found = days(*wanted)
    return found if civil(found) == wanted else None


def to_text(day: int) -> str:
    return "{:04d}-{:02d}-{:02d}".format(*civil(day))
