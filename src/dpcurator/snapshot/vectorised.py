"""The grammar of each type as SQL over a whole column: for the plainest spellings alone, the others are the grammar's.

A form reads a value or leaves it; what it leaves is read by `catalog.spelling`, so no value has two readings, and the
two must agree on what a form reads. Why they do:

    integer    the text is what DuckDB writes for the 64-bit integer that it made of it, up to zeros in front or ".0"
               behind: so it is that integer in base ten, whatever else the cast may take
    date       likewise: the text is what DuckDB writes for a day of the years 1 to 9999, which is YYYY-MM-DD
    timestamp  likewise the first 19 letters; then at most a fraction, Z or an offset by a pattern, in integers
    uuid       likewise, in lower case; 36 bytes that are 36 letters are ASCII, so lower case is that of ASCII
    float      the text fits the pattern of the grammar, and DuckDB's cast, as Python's, gives the nearest double; past
               the doubles it is left
    boolean    the text is one of a list
    text       no U+0000 in it and not too long

Typed values are compared or cast where that is exact: integers of 64 bits, doubles without a fraction, decimals of 15
digits, days and microseconds within the calendar. Of cleaned columns a form reads the texts of printing ASCII letters
that are in no map and no list of missing ones, and values that are certainly valid. Numbers with marks between
thousands are read without these where a pattern says that each stands before three digits; of declared words for truth
the usual spellings are listed; declared formats are in `format_forms`. Timestamps without an offset have a form in UTC.
Checked in tests/snapshot/test_vectorised.py, on random and hostile spellings of every type.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from dpcurator.catalog.cleaning import AS_IT_IS, Cleaning
from dpcurator.catalog.duckdb_options import quoted
from dpcurator.catalog.formats import ISO as ISO_FORMAT
from dpcurator.catalog.formats import count_of
from dpcurator.catalog.model import KINDS
from dpcurator.catalog.spelling import DAY, FIRST_DAY, GREATEST_INTEGER, LAST_DAY, LEAST_INTEGER, Spelling
from dpcurator.snapshot.format_forms import FIRST, LAST, UTC, ahead, counted, form_of, is_offset

_TRUE: Final = ("true", "True", "TRUE", "t", "T", "yes", "Yes", "YES", "1")
_FALSE: Final = ("false", "False", "FALSE", "f", "F", "no", "No", "NO", "0")
_TAIL: Final = "([.,][0-9]+)?([Zz]|[+-][0-9][0-9](:?[0-9][0-9])?)?"
_FEW: Final = 100
_LONGEST_INTEGER: Final = 20  # letters


@dataclass(frozen=True, slots=True)
class Form:
    """SQL of one column, in steps. `cut` and `made` are computed first and may be used by the later ones under the
    names `cut0`, `made0`; where `sure` is true, `value` is the physical value of x0. Where x0 is NULL it is missing.

    sure: "TRUE" where every value is certain, "FALSE" where none is.
    """

    sure: str
    value: str
    cut: str = ""
    made: str = ""


NONE: Final = Form("FALSE", "NULL")


def of_text(position: int, type: str, spelling: Spelling, letters: int) -> Form:
    """The form of a column of texts, x0 for position 0."""
    cleaned = _cleaned(f"x{position}", spelling.cleaning)
    form = _of_cleaned(cleaned, position, type, spelling, letters)
    if form is NONE or spelling.cleaning is AS_IT_IS:
        return form
    cleaning, guards = spelling.cleaning, [f"({form.sure})"]
    if cleaning.steps:
        guards.append(f"regexp_full_match(x{position}, '[!-~]([ -~]*[!-~])?')")
    if words := [*(word for word, _ in cleaning.map), *cleaning.absent]:
        guards.append(f"NOT {among(cleaned, words)}")
    return _if_kept(replace(form, sure=" AND ".join(guards)), type, cleaning)


def _cleaned(x: str, cleaning: Cleaning) -> str:
    """A text of printing ASCII letters and no space at its ends, cleaned: to trim it and to compose it changes nothing,
    and its lower and upper case are those of ASCII."""
    for step in cleaning.steps:
        x = f"{step}({x})" if step in ("lower", "upper") else x
    return x


def _kept(value: str, type: str, cleaning: Cleaning) -> list[str]:
    """That a value is certainly none of `na_values` and within `valid`."""
    kept = []
    absent = [one for one in cleaning.absent_values if isinstance(one, str) is (KINDS[type] == "text")]
    if absent:
        kept.append(f"NOT {among(value, absent)}")
    if cleaning.lower is not None and cleaning.upper is not None and KINDS[type] != "text":
        if KINDS[type] == "float":
            lower, upper = float(cleaning.lower), float(cleaning.upper)
            lower = lower if Fraction(lower) >= cleaning.lower else math.nextafter(lower, math.inf)
            upper = upper if Fraction(upper) <= cleaning.upper else math.nextafter(upper, -math.inf)
            kept.append(f"{value} BETWEEN {_literal(lower)} AND {_literal(upper)}")
        else:
            kept.append(f"{value} BETWEEN {math.ceil(cleaning.lower)} AND {math.floor(cleaning.upper)}")
    return kept


def _literal(value: int | float | str) -> str:
    if isinstance(value, str):
        return quoted(value)
    return f"'{value!r}'::DOUBLE" if isinstance(value, float) else f"{value:d}"


def among(x: str, values: Sequence[int | float | str]) -> str:
    """Is it one of these? IN of more than a few is a join to DuckDB, after which rows come in another order."""
    listed = ", ".join(map(_literal, values))
    return f"list_contains([{listed}], {x})" if len(values) <= _FEW else f"({x} IN ({listed}))"


def _of_cleaned(x: str, position: int, type: str, spelling: Spelling, letters: int) -> Form:
    cut, made = f"cut{position}", f"made{position}"
    trimmed = f"trim({x}, ' ')"
    if spelling.formats and type in ("date", "timestamp", "integer") and not _fixed(spelling.formats):
        found = form_of(x, position, type, spelling)
        return NONE if found is None else Form(*found)
    match type:
        case "text":
            return Form(f"(strlen({x}) <= {letters} OR length({x}) <= {letters}) AND NOT contains({x}, chr(0))", x)
        case "integer":
            same = f"{made}::VARCHAR = {cut} OR {made}::VARCHAR = ltrim({cut}, '0')"
            same += f" OR ({made} = 0 AND ltrim({cut}, '0') = '')"
            whole = f" OR {made}::VARCHAR || '.0' = {cut}" if spelling.decimal == "." else ""
            return Form(same + whole, made, _ungrouped(trimmed, spelling), f"TRY_CAST({cut} AS BIGINT)")
        case "float":
            mark = re.escape(spelling.decimal)
            pattern = f"[+-]?([0-9]+{mark}?[0-9]*|{mark}[0-9]+)([eE][+-]?[0-9]+)?"
            dotted = cut if spelling.decimal == "." else f"replace({cut}, {quoted(spelling.decimal)}, '.')"
            return Form(
                f"isfinite({made}) AND regexp_full_match({cut}, '{pattern}')", _no_minus(made),
                _ungrouped(trimmed, spelling),
                f"TRY_CAST({dotted} AS DOUBLE)",
            )
        case "boolean":
            true, false = _words(spelling.true_words) or _TRUE, _words(spelling.false_words) or _FALSE
            return Form(among(cut, true + false), f"CAST({among(cut, true)} AS BIGINT)", trimmed)
        case "date":
            iso, written = _date_parts(cut, spelling.formats[0] if spelling.formats else "YYYY-MM-DD")
            return Form(
                f"{made}::VARCHAR = {iso} AND {cut} = {written} AND "
                f"{made} BETWEEN DATE '0001-01-01' AND DATE '9999-12-31'",
                f"{made} - DATE '1970-01-01'", trimmed, f"TRY_CAST({iso} AS DATE)",
            )
        case "timestamp":
            return _timestamp(cut, made, trimmed, spelling)
        case "uuid":
            sure = f"strlen({cut}) = 36 AND length({cut}) = 36 AND {made}::VARCHAR = lower({cut})"
            return Form(sure, f"{made}::VARCHAR", trimmed, f"TRY_CAST({cut} AS UUID)")
    return NONE


def _words(words: Sequence[str]) -> tuple[str, ...]:
    """The usual spellings of declared words: those of which the lower case is the word."""
    cases = [spelled for word in words for spelled in (word, word.upper(), word.capitalize(), word.title())
             if spelled.lower() == word]
    return tuple(dict.fromkeys(cases))


def _ungrouped(trimmed: str, spelling: Spelling) -> str:
    """A number without its marks between thousands; NULL, which is left, where they stand elsewhere."""
    if not spelling.thousands:
        return trimmed
    mark, decimal = re.escape(spelling.thousands), re.escape(spelling.decimal)
    pattern = f"[+-]?[0-9]{{1,3}}({mark}[0-9]{{3}})+({decimal}[0-9eE+-]*)?"
    return (f"CASE WHEN NOT contains({trimmed}, {quoted(spelling.thousands)}) THEN {trimmed} "
            f"WHEN regexp_full_match({trimmed}, {quoted(pattern)}) "
            f"THEN replace({trimmed}, {quoted(spelling.thousands)}, '') END")


def _fixed(formats: Sequence[str]) -> bool:
    """Is there one format of dates, with YYYY, MM and DD, and marks between?"""
    [written, *more] = formats
    parts = re.split("(YYYY|MM|DD)", written)
    marks = not any(re.search(r"[^\W_]", mark) for mark in parts[0::2])
    return not more and sorted(parts[1::2]) == ["DD", "MM", "YYYY"] and marks


def _date_parts(cut: str, written: str) -> tuple[str, str]:
    """By the declared format, of digits in fixed places: the text as YYYY-MM-DD, and put together again from its
    digits and the marks of the format, so that where it is the text the marks stand in their places."""
    if written in (ISO_FORMAT, "YYYY-MM-DD"):
        return cut, cut
    digits, parts, at = {}, [], 1
    for part in re.split("(YYYY|MM|DD)", written):
        digits[part] = f"substring({cut}, {at}, {len(part)})"
        parts += [digits[part] if part in ("YYYY", "MM", "DD") else quoted(part)] if part else []
        at += len(part)
    return f"{digits['YYYY']} || '-' || {digits['MM']} || '-' || {digits['DD']}", f"({' || '.join(parts)})"


def _timestamp(cut: str, made: str, trimmed: str, spelling: Spelling) -> Form:
    """`made` is a struct: seconds, as DuckDB reads and writes them, and what stands after."""
    full = f"CASE WHEN length({trimmed}) = 16 THEN {trimmed} || ':00' ELSE {trimmed} END"
    head = f"substring({cut}, 1, 10) || ' ' || substring({cut}, 12, 8)"
    rest = f"substring({cut}, 20)"
    tail = f"regexp_extract({rest}, '^{_TAIL}$', ['fraction', 'offset'])"
    parts = f"{{'head': {head}, 'at': TRY_CAST({head} AS TIMESTAMP), 'rest': {rest}, 'tail': {tail}}}"
    offset, fraction = f"{made}.tail.offset", f"{made}.tail.fraction"
    local = f"{offset} <> ''" if spelling.zone not in UTC else "TRUE"
    parted = (
        f"CASE WHEN {fraction} = '' THEN 0 ELSE CAST(rpad(substring({fraction}, 2, 6), 6, '0') AS BIGINT) END"
    )
    value = f"epoch_us({made}.at) + {parted} - {ahead(offset)}"
    sure = (
        f"{made}.at::VARCHAR = {made}.head AND substring({cut}, 11, 1) IN ('T', ' ', 't') AND "
        f"({made}.rest = '' OR {fraction} || {offset} <> '') AND {local} AND {is_offset(offset)} AND "
        f"{value} BETWEEN {FIRST} AND {LAST}"
    )
    return Form(sure, value, full, parts)


def of_kind(position: int, kind: str, type: str, spelling: Spelling, letters: int) -> Form:
    """The form of a typed column. kind: "whole" (of 64 bits), "huge", "double" (never NaN), "decimal(18,3)", "truth",
    "day" and "naive" and "aware" (integers since 1970), "uuid", "text"; any other has none."""
    if kind == "text":
        return of_text(position, type, spelling, letters)
    if KINDS[type] == "text" and spelling.cleaning is not AS_IT_IS:
        return NONE
    if spelling.formats:
        count = count_of(spelling.formats[0]) if len(spelling.formats) == 1 and kind == "whole" else None
        return NONE if count is None else _if_kept(Form(*counted(f"x{position}", count, type)), type, spelling.cleaning)
    form = _of_typed(position, kind, type, spelling, letters)
    return form if form is NONE else _if_kept(form, type, spelling.cleaning)


def _if_kept(form: Form, type: str, cleaning: Cleaning) -> Form:
    """Sure where the value is kept too, which is looked at where the form is sure of it: AND computes both sides on
    every row, and of a value that was none, as of 1e300 as an integer, DuckDB would stop."""
    kept = _kept(form.value, type, cleaning)
    return replace(form, sure=f"CASE WHEN {form.sure} THEN {' AND '.join(kept)} ELSE FALSE END") if kept else form


def _of_typed(position: int, kind: str, type: str, spelling: Spelling, letters: int) -> Form:
    x, made = f"x{position}", f"made{position}"
    fits = f"{x} BETWEEN {LEAST_INTEGER} AND {GREATEST_INTEGER}"
    calendar = f"{x} BETWEEN {FIRST} AND {LAST}"
    utc = spelling.zone in UTC
    match kind.partition("(")[0], type:
        case "whole" | "huge", "integer" | "float" | "text":
            sure = "TRUE" if kind == "whole" else fits
            whole = f"TRY_CAST({x} AS BIGINT)"
            if type == "text":
                return Form(sure if letters >= _LONGEST_INTEGER else "FALSE", f"CAST({whole} AS VARCHAR)")
            return Form(sure, whole if type == "integer" else f"CAST({whole} AS DOUBLE)")
        case "whole" | "huge" | "double" | "decimal", "boolean":
            return Form(f"{x} IN (0, 1)", f"TRY_CAST({x} AS BIGINT)")
        case "double", "float":
            return Form("TRUE", _no_minus(x))
        case "double", "integer":
            sure = f"{x} = trunc({x}) AND {x} >= -9223372036854775808.0::DOUBLE AND {x} < 9223372036854775808.0::DOUBLE"
            return Form(sure, f"TRY_CAST({x} AS BIGINT)")
        case "decimal", "integer":
            return Form(f"TRY_CAST({made} AS {kind}) = {x}", made, made=f"TRY_CAST({x} AS BIGINT)")
        case "decimal", "float":
            width, scale = map(int, re.findall(r"\d+", kind))
            within = f"abs({x}) < 1{'0' * (15 - scale)}" if scale < 15 else f"abs({x}) < 0.{'0' * (scale - 15)}1"
            return Form("TRUE" if width <= 15 else within if scale <= 22 else "FALSE", f"CAST({x} AS DOUBLE)")
        case "truth", "boolean":
            return Form("TRUE", f"CAST({x} AS BIGINT)")
        case "day", "date":
            return Form(f"{x} BETWEEN {FIRST_DAY} AND {LAST_DAY}", x)
        case "day", "timestamp" if utc:
            return Form(f"{x} BETWEEN {FIRST_DAY} AND {LAST_DAY}", f"{x} * {DAY}")
        case "naive", "timestamp" if utc:
            return Form(calendar, x)
        case "aware", "timestamp":
            return Form(calendar, x)
        case "naive", "date":
            return Form(f"{calendar} AND {x} % {DAY} = 0", f"{x} // {DAY}")
        case "uuid", "uuid":
            return Form("TRUE", f"CAST({x} AS VARCHAR)")
        case "uuid", "text":
            return Form("TRUE" if letters >= 36 else "FALSE", f"CAST({x} AS VARCHAR)")
    return NONE


def _no_minus(x: str) -> str:
    """-0.0 as 0.0"""
    return f"CASE WHEN {x} = 0 THEN 0.0::DOUBLE ELSE {x} END"
