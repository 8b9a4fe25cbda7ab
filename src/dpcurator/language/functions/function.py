"""The functions a row expression may use: the list, with each one's kinds and exact meaning (semantics 2.2).

Kinds: i integer (64-bit), f double, t text; `*` any number of the same kind; a letter of its own (k) any one kind.
Every function is total: where the meaning below gives no value of the result's kind the result is missing, and unless
said otherwise a missing part makes the result missing. An integer result outside 64 bits is missing. A float result
that is nan is missing, and so is one that is infinite where every part was finite; -0.0 is 0.0. A text result longer
than LONGEST code points is missing. Days count from 1970-01-01 and microseconds from 1970-01-01T00:00 (proleptic
Gregorian); functions of a date or time give missing outside the years 1 to 9999.

`language/evaluate.py` computes each in Python and `engines/duckdb/rows.py` in SQL; `tests/engines/vectors/` holds
inputs and results that both must give.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

LONGEST: Final = 65_536  # code points of a computed text
DATE_UNITS: Final = ("day", "week", "month", "quarter", "year")
TIME_UNITS: Final = ("second", "minute", "hour")
DATE_PARTS: Final = ("year", "quarter", "month", "week", "day", "dow", "isodow", "doy")
TIME_PARTS: Final = ("hour", "minute", "second")


@dataclass(frozen=True, slots=True)
class Function:
    """`parts`: a kind letter per part, `*` after the last one for any number; `literals`: what its parameters are."""

    name: str
    parts: str
    kind: str
    meaning: str
    literals: str = ""


FUNCTIONS: Final[tuple[Function, ...]] = (
    # integers
    Function("add_i", "ii", "i", "a + b"),
    Function("sub_i", "ii", "i", "a - b"),
    Function("mul_i", "ii", "i", "a b"),
    Function("mod_i", "ii", "i", "the remainder of a by b with the sign of a; missing where b = 0"),
    Function("neg_i", "i", "i", "-a"),
    Function("abs_i", "i", "i", "|a|"),
    Function("sign_i", "i", "i", "-1, 0 or 1"),
    Function("floordiv_i", "i", "i", "floor(a / n)", "n: int >= 1"),
    Function("round_i", "i", "i", "a rounded to a multiple of 10**n, halves away from zero", "n: int from 1 to 18"),
    # doubles, each one IEEE operation unless said otherwise
    Function("add_f", "ff", "f", "a + b"),
    Function("sub_f", "ff", "f", "a - b"),
    Function("mul_f", "ff", "f", "a b"),
    Function("div_f", "ff", "f", "a / b; missing where b = 0"),
    Function("mod_f", "ff", "f", "C's fmod: the exact remainder with the sign of a; missing where b = 0"),
    Function("neg_f", "f", "f", "-a"),
    Function("abs_f", "f", "f", "|a|"),
    Function("sign_f", "f", "i", "-1, 0 or 1"),
    Function("sqrt", "f", "f", "the correctly rounded square root; missing where a < 0"),
    Function("exp", "f", "f", "e**a by the fixed IEEE operations of elementary.py, so that engines agree bit by bit"),
    Function("ln", "f", "f", "ln a by a fixed sequence likewise; missing where a <= 0"),
    Function("power", "ff", "f", "a**b: whole |b| <= 64 by repeated squaring (then 1/x), else exp(b ln a); missing "
             "where a < 0 and b is not such a whole number, or a = 0 and b < 0"),
    Function("floor", "f", "i", "the greatest integer <= a"),
    Function("ceil", "f", "i", "the least integer >= a"),
    Function("round", "f", "i", "the nearest integer, halves away from zero: sign(a) floor(|a| + 1/2) exactly"),
    Function("round_f", "f", "f", "sign(a) * floor(|a| * 10**n + 0.5) / 10**n as those IEEE operations; a itself where "
             "|a| * 10**n >= 2**52", "n: int from 1 to 15"),
    Function("to_f", "i", "f", "the nearest double, ties to even"),
    # of any kind
    Function("coalesce", "k*", "k", "the first part that is not missing"),
    Function("least", "k*", "k", "the least of the parts that are not missing"),
    Function("greatest", "k*", "k", "the greatest of the parts that are not missing"),
    Function("clip", "k", "k", "a moved into [lower, upper]; infinities too", "lower, upper: of the part's kind"),
    # texts: code points, ASCII case, no collation
    Function("lower", "t", "t", "A to Z in lower case, nothing else changed"),
    Function("upper", "t", "t", "a to z in upper case, nothing else changed"),
    Function("trim", "t", "t", "without the spaces (U+0020) at both ends"),
    Function("ltrim", "t", "t", "without the spaces at the start"),
    Function("rtrim", "t", "t", "without the spaces at the end"),
    Function("substring", "t", "t", "code points start, start + 1, ... (the first is 1), at most n of them",
             "start: int from 1 to 2**31 - 1; n: int from 0 to 2**31 - 1, or None for all"),
    Function("length", "t", "i", "how many code points; missing where longer than LONGEST"),
    Function("concat", "t*", "t", "one after the other"),
    Function("replace", "t", "t", "every occurrence of a text by another, left to right, none overlapping; missing "
             "where a is longer than LONGEST",
             "what: text of 1 to 100 code points; by: text of at most 100"),
    # casts
    Function("text_of_i", "i", "t", "decimal digits, - before a negative number"),
    Function("i_of_text", "t", "i", "spaces trimmed, [+-]?[0-9]{1,30} read; anything else is missing"),
    Function("f_of_text", "t", "f", "spaces trimmed, [+-]?([0-9]{1,300}(\\.[0-9]{0,300})?|\\.[0-9]{1,300})"
             "([eE][+-]?[0-9]{1,4})? read as the nearest double; anything else is missing"),
    Function("text_of_date", "i", "t", "YYYY-MM-DD of days"),
    Function("date_of_text", "t", "i", "days of a text YYYY-MM-DD that is a date"),
    # dates (days) and times (microseconds)
    Function("date_part", "i", "i", "of days; week is ISO 8601's, dow counts from Sunday = 0, isodow from Monday = 1",
             "part: one of DATE_PARTS"),
    Function("date_trunc", "i", "i", "of days: the first day of the unit; a week begins on Monday",
             "unit: one of DATE_UNITS"),
    Function("date_add", "i", "i", "of days: `months` later (a day past the month's end becomes its last), then `days`",
             "months, days: int, |.| <= 10**6"),
    Function("date_of_time", "i", "i", "the day that holds a moment: floor(us / 86,400,000,000)"),
    Function("time_of_date", "i", "i", "the first moment of a day"),
    Function("time_part", "i", "i", "of microseconds: hour 0-23, minute, whole second", "part: one of TIME_PARTS"),
    Function("time_trunc", "i", "i", "of microseconds: the start of the unit", "unit: one of TIME_UNITS"),
    Function("time_add", "i", "i", "of microseconds: `months` later as date_add with the time of day kept, then `us`",
             "months: int, |.| <= 10**6; us: int, |.| <= 10**18"),
    Function("local_of_time", "i", "i", "microseconds UTC to the wall clock of a zone, as microseconds",
             "zone: IANA name; `language/zones.py` lists its offsets"),
    Function("time_of_local", "i", "i", "the wall clock of a zone to UTC: the earlier moment where the clock shows it "
             "twice, and where it skips it the moment by the offset before", "zone: IANA name"),
)  # fmt: skip
BY_NAME: Final = {function.name: function for function in FUNCTIONS}
