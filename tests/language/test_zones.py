"""Zone tables against zoneinfo: every zone for the wall clock, and back with the earlier moment (fold 0)."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo, available_timezones

import pytest

from dpcurator.errors import Refusal
from dpcurator.language import zones

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SOME = ("UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Casablanca",
        "Asia/Kathmandu", "America/St_Johns", "Africa/Monrovia", "Antarctica/Troll")


def us(moment: datetime) -> int:
    return (moment - EPOCH) // timedelta(microseconds=1)


def check(zone: str, draws: int) -> None:
    rules, table, back = ZoneInfo(zone), zones.offsets(zone), zones.local_offsets(zone)
    assert all(before[0] < after[0] for before, after in pairwise(table))
    assert all(before[0] < after[0] for before, after in pairwise(back[1:]))
    random_ = random.Random(zone)
    near = [start + step for start, _ in table[1:] for step in (-1, 0, 1, 1_800_000_000)]
    first, last = us(datetime(1900, 1, 1, tzinfo=UTC)), us(datetime(2200, 12, 31, tzinfo=UTC))
    for moment in [*near, *(random_.randint(first, last) for _ in range(draws))]:
        clock = EPOCH + timedelta(microseconds=moment)
        shown = clock.astimezone(rules)
        offset = zones.offset_at(table, moment)
        assert timedelta(microseconds=offset) == shown.utcoffset()
        wall = shown.replace(tzinfo=None, fold=0)
        for ahead in (timedelta(0), timedelta(minutes=30)):
            local = wall + ahead
            expected = us(local.replace(tzinfo=rules))
            here = us(local.replace(tzinfo=UTC))
            assert here - zones.offset_at(back, here) == expected


@pytest.mark.parametrize("zone", SOME)
def test_a_zone_is_zoneinfo_s(zone: str) -> None:
    check(zone, 300)


@pytest.mark.slow
@pytest.mark.parametrize("zone", sorted(available_timezones() - {"localtime", "build/etc/localtime"}))
def test_every_zone_is_zoneinfo_s(zone: str) -> None:
    check(zone, 50)


@pytest.mark.parametrize("zone", ["", "Nowhere/Nothing", "../etc/passwd", "/etc/passwd", "Europe", "Europe/", "a\0b",
                                  "Europe/Berlin\n", "x" * 5000])
def test_a_zone_that_is_not_is_refused(zone: str) -> None:
    with pytest.raises(Refusal):
        zones.offsets(zone)
