"""What Python makes of the plain values of DuckDB and of vectors, by the kinds that `vectorised` has forms of.

For values that no form reads: `catalog.spelling.read_value` then decides. Checked in tests/snapshot/test_typed.py.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta
from typing import Any, Final

from dpcurator.catalog.spelling import DAY, FIRST_DAY, LAST_DAY, NO_SUCH_DAY, Unreadable

NO_VALUE: Final = Unreadable("a value of a kind that no column type has")
PAST: Final = 2**63 - 1  # an instant outside every range: stands for both infinities
NOT_A_TIME: Final = -(2**63)  # in numpy and pandas
PER_MICROSECOND: Final = {  # microseconds of a unit, or units of a microsecond
    "D": (DAY, 1), "h": (3_600_000_000, 1), "m": (60_000_000, 1), "s": (1_000_000, 1), "ms": (1_000, 1), "us": (1, 1),
    "ns": (1, 1_000),
}


def instant(micros: int, zone: Any) -> datetime | Unreadable:
    """Microseconds since 1970 as a datetime; Unreadable outside the years 1 to 9999."""
    if not FIRST_DAY * DAY <= micros < (LAST_DAY + 1) * DAY:
        return NO_SUCH_DAY
    return datetime(1970, 1, 1, tzinfo=zone) + timedelta(microseconds=micros)


def _day(days: int) -> Any:
    found = instant(days * DAY, None)
    return found if isinstance(found, Unreadable) else found.date()


def _clock(micros: int) -> time | Unreadable:
    """Microseconds since midnight; a day has no 24:00."""
    return (datetime.min + timedelta(microseconds=micros)).time() if 0 <= micros < DAY else NO_VALUE


READERS: Final[dict[str, Callable[[Any], Any]]] = {
    "day": _day, "naive": lambda micros: instant(micros, None), "aware": lambda micros: instant(micros, UTC),
    "truth": bool, "clock": _clock, "other": lambda _: NO_VALUE,
}
