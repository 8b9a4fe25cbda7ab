"""Functions of dates, timestamps and zones in Spark's SQL, as `language/evaluate.py` has them.

Right because Spark's calendar, like `language/days.py`, is the proleptic Gregorian one, and is used only on days of the
years 1 to 9999: others are missing first. Times of day are integer arithmetic on microseconds within 64 bits, and a
zone is the table of offsets of `language/zones.py`, no rule of Java's. Checked in tests/engines (vectors, conformance).
"""

from __future__ import annotations

from typing import Final

from dpcurator.catalog.model import Value
from dpcurator.engines.levels import Levels, Term, Write, int_of
from dpcurator.engines.rows import tree
from dpcurator.engines.spark.constants import integer
from dpcurator.engines.spark.texts import fits
from dpcurator.language import days, zones

_PARTS: Final = {"week": "weekofyear({})", "dow": "dayofweek({}) - 1", "isodow": "weekday({}) + 1",
                 "doy": "dayofyear({})"}


def _within(levels: Levels, part: Term, low: int, high: int) -> Term:
    ends = (Term(integer(end)) for end in (low, high))
    return levels.let("CASE WHEN {0} BETWEEN {1} AND {2} THEN {0} END", part, *ends)


def _day(levels: Levels, part: Term) -> Term:
    return _within(levels, part, days.FIRST_DAY, days.LAST_DAY)


def _moment(levels: Levels, part: Term) -> Term:
    return _within(levels, part, days.FIRST_MOMENT, days.LAST_MOMENT)


def _of_day(levels: Levels, day: Term) -> Term:
    """A DATE of a day of the years 1 to 9999."""
    return levels.let("date_add(DATE '1970-01-01', CAST({} AS INT))", day)


def _date(levels: Levels, part: Term) -> Term:
    """The same, or missing."""
    return _of_day(levels, _day(levels, part))


def _since(levels: Levels, date: Term) -> Term:
    return levels.let("CAST(unix_date({}) AS BIGINT)", date)


def _modulo(levels: Levels, part: Term, n: int) -> Term:
    """The remainder from 0 to n - 1."""
    return levels.let(f"({{0}} % {integer(n)} + {integer(n)}) % {integer(n)}", part)


def _text_of_date(levels: Levels, parts: tuple[Term, ...], _: tuple[Value, ...]) -> Term:
    return levels.let("CAST({} AS STRING)", _date(levels, parts[0]))


def _date_of_text(levels: Levels, parts: tuple[Term, ...], _: tuple[Value, ...]) -> Term:
    """Ten characters of this form are a date or none, which is missing: that is what try_cast says."""
    text = levels.let("CASE WHEN {1} THEN {0} END", parts[0], fits(levels, parts[0], days.DATE_TEXT))
    return _day(levels, _since(levels, levels.let("try_cast({} AS DATE)", text)))


def _date_part(levels: Levels, parts: tuple[Term, ...], literals: tuple[Value, ...]) -> Term:
    name = str(literals[0])
    return levels.let(f"CAST({_PARTS.get(name, name + '({})')} AS BIGINT)", _date(levels, parts[0]))


def _date_trunc(levels: Levels, parts: tuple[Term, ...], literals: tuple[Value, ...]) -> Term:
    if literals[0] == "day":
        return _day(levels, parts[0])
    return _since(levels, levels.let(f"trunc({{}}, '{literals[0]}')", _date(levels, parts[0])))


def _later(levels: Levels, day: Term, months: int) -> Term:
    """The day `months` later: at most 83,334 years away, well within Spark's dates."""
    if not months:
        return day
    return _since(levels, levels.let(f"add_months({{}}, {months:d})", _of_day(levels, day)))


def _date_add(levels: Levels, parts: tuple[Term, ...], literals: tuple[Value, ...]) -> Term:
    months, more = map(int_of, literals)
    later = _later(levels, _day(levels, parts[0]), months)
    return _day(levels, levels.let("{} + {}", later, Term(integer(more))))


def _date_of_time(levels: Levels, parts: tuple[Term, ...], _: tuple[Value, ...]) -> Term:
    moment = _moment(levels, parts[0])
    return levels.let(f"({{}} - {{}}) div {integer(days.DAY)}", moment, _modulo(levels, moment, days.DAY))


def _time_of_date(levels: Levels, parts: tuple[Term, ...], _: tuple[Value, ...]) -> Term:
    return levels.let(f"{{}} * {integer(days.DAY)}", _day(levels, parts[0]))


def _time_part(levels: Levels, parts: tuple[Term, ...], literals: tuple[Value, ...]) -> Term:
    since = _modulo(levels, _moment(levels, parts[0]), days.DAY)
    rest = "" if literals[0] == "hour" else " % 60L"
    return levels.let(f"{{}} div {integer(days.TIME_SIZES[str(literals[0])])}{rest}", since)


def _time_trunc(levels: Levels, parts: tuple[Term, ...], literals: tuple[Value, ...]) -> Term:
    moment = _moment(levels, parts[0])
    return levels.let("{} - {}", moment, _modulo(levels, moment, days.TIME_SIZES[str(literals[0])]))


def _time_add(levels: Levels, parts: tuple[Term, ...], literals: tuple[Value, ...]) -> Term:
    """All within 64 bits: a moment below 2**58, 10**6 months below 2**62, 10**18 below 2**60."""
    months, more = map(int_of, literals)
    moment = _moment(levels, parts[0])
    later = moment
    if months:
        since = _modulo(levels, moment, days.DAY)
        day = _later(levels, levels.let(f"({{}} - {{}}) div {integer(days.DAY)}", moment, since), months)
        later = levels.let(f"{{}} * {integer(days.DAY)} + {{}}", day, since)
    return _moment(levels, levels.let("{} + {}", later, Term(integer(more))))


def _local_of_time(levels: Levels, parts: tuple[Term, ...], literals: tuple[Value, ...]) -> Term:
    moment = _moment(levels, parts[0])
    offset = levels.let(f"CAST({tree(zones.offsets(str(literals[0])))} AS BIGINT)", moment)
    return _moment(levels, levels.let("{} + {}", moment, offset))


def _time_of_local(levels: Levels, parts: tuple[Term, ...], literals: tuple[Value, ...]) -> Term:
    moment = _moment(levels, parts[0])
    offset = levels.let(f"CAST({tree(zones.local_offsets(str(literals[0])))} AS BIGINT)", moment)
    return _moment(levels, levels.let("{} - {}", moment, offset))


DATES: Final[dict[str, Write]] = {
    "text_of_date": _text_of_date,
    "date_of_text": _date_of_text,
    "date_part": _date_part,
    "date_trunc": _date_trunc,
    "date_add": _date_add,
    "date_of_time": _date_of_time,
    "time_of_date": _time_of_date,
    "time_part": _time_part,
    "time_trunc": _time_trunc,
    "time_add": _time_add,
    "local_of_time": _local_of_time,
    "time_of_local": _time_of_local,
}
