"""The offsets of a time zone from UTC, as a table: what `local_of_time` and `time_of_local` look up.

Read once from the machine's zone rules (zoneinfo, with the package `tzdata` where the machine has none), for the years
1900 to 2200; the first offset holds before, the last one after. The rules are public. They do change: an answer given
under other rules is another answer, and the package's version is in no receipt yet.
Checked in tests/language/test_zones.py, against zoneinfo, for every zone.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import pairwise
from typing import Final
from zoneinfo import ZoneInfo

from dpcurator.errors import Refusal

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND: Final = timedelta(microseconds=1)
FIRST: Final = datetime(1900, 1, 1, tzinfo=UTC)
END: Final = datetime(2201, 1, 1, tzinfo=UTC)
NAME: Final = re.compile(r"[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*")  # no dots: no path out of the zone folder
Offsets = tuple[tuple[int, int], ...]  # (first microsecond, offset in microseconds), ascending


@lru_cache(maxsize=1024)
def offsets(zone: str) -> Offsets:
    """From which moment UTC which offset holds; the first entry's moment stands for 'ever before'.

    Raises Refusal where no such zone is known.
    """
    rules = _rules(zone)
    found = [(FIRST, _offset(rules, FIRST))]
    step = timedelta(days=1)
    for index in range(1, (END - FIRST).days + 1):
        moment = FIRST + step * index
        if _offset(rules, moment) != found[-1][1]:
            found.append(_change(rules, moment - step, moment))
    return tuple(((moment - EPOCH) // MICROSECOND, offset) for moment, offset in found)


@lru_cache(maxsize=1024)
def local_offsets(zone: str) -> Offsets:
    """From which wall-clock microsecond on which offset turns it into UTC.

    At a change from offset a to b at moment s the clock is ambiguous, or skipped, between s + a and s + b; either way
    the earlier moment, or the offset before, is offset a up to s + max(a, b).
    """
    table = offsets(zone)
    return (table[0], *((start + max(before, after), after) for (_, before), (start, after) in pairwise(table)))


def offset_at(table: Offsets, moment: int) -> int:
    """The offset of the last entry that begins at or before the moment, else of the first."""
    low, high = 0, len(table)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if table[middle][0] <= moment else (low, middle)
    return table[low][1]


def _rules(zone: str) -> ZoneInfo:
    try:
        if NAME.fullmatch(zone) is not None:
            return ZoneInfo(zone)
    except (KeyError, OSError, ValueError):  # not found, a folder, or a file that is no zone
        pass
    raise Refusal("No time zone has this name.", cure="Write an IANA name, such as 'Europe/Berlin' or 'UTC'.")


def _offset(rules: ZoneInfo, moment: datetime) -> int:
    found = moment.astimezone(rules).utcoffset()
    assert found is not None
    return found // MICROSECOND


def _change(rules: ZoneInfo, before: datetime, after: datetime) -> tuple[datetime, int]:
    """The one second in (before, after] at which the offset changes."""
    old = _offset(rules, before)
    low, high = 0, int((after - before).total_seconds())
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _offset(rules, before + timedelta(seconds=middle)) == old else (low, middle)
    moment = before + timedelta(seconds=high)
    return moment, _offset(rules, moment)
