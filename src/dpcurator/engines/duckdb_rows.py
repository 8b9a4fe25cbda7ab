"""Row expressions in DuckDB's SQL: what `plan/evaluate.py` says, in operations that raise on no row.

Integers are computed in 128 bits and come back by TRY_CAST. Doubles are IEEE operations on operands inside the domain
(`greatest`, `least` or a CASE on the operand itself, not a branch around the operation, so that it holds whichever
branches an optimiser evaluates); what overflowed is then missing. Dates use DuckDB's calendar only on days of the years
1 to 9999. exp, ln and power are the operations of `plan/elementary.py` in its order. Seen to raise, and so guarded:
sqrt and log2 of a number below 0 (1.5), casts, dates far away, % by 0, a pattern that ends in its escape.
Every function has its text in FUNCTIONS below. Checked in tests/engines (vectors, conformance, levels).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from dpcurator.catalog.model import Kind, Value
from dpcurator.engines.duckdb_elementary import exponential, logarithm, power
from dpcurator.engines.duckdb_levels import TYPES, Levels, Term, integer
from dpcurator.plan import days, patterns, rows, zones
from dpcurator.plan.evaluate import CAPITALS, FLOAT_TEXT, INTEGER_TEXT, SMALL
from dpcurator.plan.functions import LONGEST

Write = Callable[[Levels, tuple[Term, ...], tuple[Value, ...]], Term]
EPOCH: Final = "DATE '1970-01-01'"
ESCAPE: Final = "\\"


def operand(part: rows.Operand, levels: Levels) -> Term:
    """The text of an operand, in its kind's type."""
    match part:
        case rows.Field(index):
            return Term(f"x{index}")
        case rows.Constant(value, kind):
            return levels.constant(value, kind)
        case rows.Missing(kind):
            return Term(f"CAST(NULL AS {TYPES[kind]})")
        case rows.Compute(function, parts, kind, literals):
            if function == "clip" and kind == "float":
                literals = tuple(float(literal) for literal in literals if literal is not None)
            found = FUNCTIONS[function](levels, tuple(operand(inner, levels) for inner in parts), literals)
            return _short(levels, found) if kind == "text" else found
        case rows.Choose(branches, otherwise, kind):
            sides: list[Term] = []
            for branch in branches:
                sides += [truth(branch.condition, levels), operand(branch.value, levels)]
            chosen = "CASE" + " WHEN {} THEN {}" * len(branches) + " ELSE {} END"
            return levels.let(f"CAST({chosen} AS {TYPES[kind]})", *sides, operand(otherwise, levels))


def truth(predicate: rows.Predicate, levels: Levels) -> Term:
    """The text of a predicate, a BOOLEAN."""
    match predicate:
        case rows.Truth(value):
            return Term({True: "true", False: "false", None: "CAST(NULL AS BOOLEAN)"}[value])
        case rows.Compare(op, left, right):
            sides = [operand(left, levels), operand(right, levels)]
            if "float" in (left.kind, right.kind):  # an integer meets a double as a double
                kinds = left.kind, right.kind
                sides = [_double(levels, *pair) for pair in zip(sides, kinds, strict=True)]
            return levels.inline(f"({{}} {op} {{}})", *sides)
        case rows.Among(part, values):
            listed = [levels.constant(value.value, part.kind) for value in values]
            return levels.inline("({} IN (" + ", ".join(["{}"] * len(values)) + "))", operand(part, levels), *listed)
        case rows.Like(part, pattern, escape):
            return _like(levels, operand(part, levels), patterns.tokens(pattern, escape))
        case rows.IsMissing(part):
            return levels.inline("({} IS NULL)", operand(part, levels))
        case rows.Not(part):
            return levels.inline("(NOT {})", truth(part, levels))
        case rows.AllOf(parts):
            return _joined(levels, " AND ", [truth(part, levels) for part in parts])
        case rows.AnyOf(parts):
            return _joined(levels, " OR ", [truth(part, levels) for part in parts])


def _joined(levels: Levels, word: str, parts: list[Term]) -> Term:
    return levels.inline("(" + word.join(["{}"] * len(parts)) + ")", *parts)


def _double(levels: Levels, term: Term, kind: str) -> Term:
    return levels.inline("CAST({} AS DOUBLE)", term) if kind == "integer" else term


def _like(levels: Levels, text: Term, tokens: tuple[patterns.Token, ...]) -> Term:
    """LIKE with ESCAPE only where a letter needs it: a pattern of our own spelling, so a whole one."""
    special = {"%", "_", ESCAPE} if {"%", "_"} & set(tokens) else set()
    spelled = "".join(
        {patterns.ANY: "%", patterns.ONE: "_"}[token] if isinstance(token, patterns.Wild)
        else ESCAPE + token if token in special else token
        for token in tokens
    )  # fmt: skip
    if not special:
        return levels.inline("({} LIKE {})", text, levels.constant(spelled, "text"))
    escape = levels.constant(ESCAPE, "text")
    return levels.inline("({} LIKE {} ESCAPE {})", text, levels.constant(spelled, "text"), escape)


def _short(levels: Levels, text: Term) -> Term:
    named = text
    return levels.let(f"CASE WHEN length({{0}}) <= {LONGEST} THEN {{0}} END", named)


# how each function is written


def _plain(template: str) -> Write:
    """A column of the parts alone."""
    return lambda levels, parts, _: levels.let(template, *parts)


def _wide(template: str) -> Write:
    """An integer computed in 128 bits."""

    def write(levels: Levels, parts: tuple[Term, ...], _: tuple[Value, ...]) -> Term:
        return levels.let(f"TRY_CAST({template} AS BIGINT)", *(_hugeint(levels, part) for part in parts))

    return write


def _hugeint(levels: Levels, part: Term) -> Term:
    return levels.inline("CAST({} AS HUGEINT)", part)


def _finite(template: str) -> Write:
    """A double, missing where it is NaN, or infinite although every part is finite."""

    def write(levels: Levels, parts: tuple[Term, ...], _: tuple[Value, ...]) -> Term:
        return finite(levels, levels.let(template, *parts), parts)

    return write


def finite(levels: Levels, found: Term, parts: tuple[Term, ...]) -> Term:
    infinite = " OR ".join(f"isinf({{{number + 1}}})" for number in range(len(parts)))
    return levels.let(f"CASE WHEN isfinite({{0}}) OR (isinf({{0}}) AND ({infinite})) THEN {{0}} END", found, *parts)


def _many(name: str) -> Write:
    """DuckDB's coalesce, least and greatest pass over missing parts."""
    return lambda levels, parts, _: levels.let(f"{name}({', '.join(['{}'] * len(parts))})", *parts)


def _whole(template: str) -> Write:
    """An integer from a double; missing outside 64 bits."""
    return _plain(f"TRY_CAST({template} AS BIGINT)")


def _remainder_integer(levels: Levels, parts: tuple[Term, ...], _: tuple[Value, ...]) -> Term:
    divisor = levels.let("CASE WHEN {0} <> 0 THEN CAST({0} AS HUGEINT) END", parts[1])
    return levels.let("CAST(CAST({} AS HUGEINT) % {} AS BIGINT)", parts[0], divisor)


def _floor_division(levels: Levels, parts: tuple[Term, ...], literals: tuple[Value, ...]) -> Term:
    """Division truncates, so a negative a is -1 - (-1 - a): the part taken to n is never below 0 nor past 64 bits."""
    n = Term(integer(_int(literals[0]), "BIGINT"))
    a = parts[0]
    return levels.let("CASE WHEN {0} >= 0 THEN {0} // {1} ELSE -1 - (-1 - least({0}, -1)) // {1} END"
                      " + CASE WHEN {0} IS NOT NULL THEN 0::BIGINT END", a, n)  # fmt: skip


def _round_integer(levels: Levels, parts: tuple[Term, ...], literals: tuple[Value, ...]) -> Term:
    step, half = (Term(integer(value, "HUGEINT")) for value in (10 ** _int(literals[0]), 10 ** _int(literals[0]) // 2))
    a = levels.let("CAST({} AS HUGEINT)", parts[0])
    return levels.let("TRY_CAST(sign({0}) * ((abs({0}) + {1}) // {2} * {2}) AS BIGINT)", a, half, step)


def _quotient(levels: Levels, parts: tuple[Term, ...], _: tuple[Value, ...]) -> Term:
    b = levels.let("CASE WHEN {0} <> {1} THEN {0} END", parts[1], levels.double(0.0))
    return finite(levels, levels.let("{} / {}", parts[0], b), (parts[0], b))


def _remainder_double(levels: Levels, parts: tuple[Term, ...], _: tuple[Value, ...]) -> Term:
    zero = levels.double(0.0)
    a = levels.let("CASE WHEN isfinite({0}) THEN {0} END", parts[0])
    b = levels.let("CASE WHEN {0} <> {1} THEN {0} END", parts[1], zero)
    return levels.let("{} % {}", a, b)


def _root(levels: Levels, parts: tuple[Term, ...], _: tuple[Value, ...]) -> Term:
    a = parts[0]
    return levels.let("CASE WHEN {0} >= {1} THEN sqrt(greatest({0}, {1})) END", a, levels.double(0.0))


def _nearest(levels: Levels, parts: tuple[Term, ...], _: tuple[Value, ...]) -> Term:
    size = levels.let("abs({})", parts[0])
    down = levels.let("floor({})", size)
    one, zero, half = (levels.double(value) for value in (1.0, 0.0, 0.5))
    up = levels.let("{0} + CASE WHEN {1} - {0} >= {2} THEN {3} ELSE {4} END", down, size, half, one, zero)
    return levels.let("TRY_CAST(CASE WHEN {0} < {2} THEN -{1} ELSE {1} END AS BIGINT)", parts[0], up, zero)


def _round_double(levels: Levels, parts: tuple[Term, ...], literals: tuple[Value, ...]) -> Term:
    ten, half, most, zero = (levels.double(value) for value in (10.0 ** _int(literals[0]), 0.5, 2.0**52, 0.0))
    a = parts[0]
    scaled = levels.let("abs({}) * {}", a, ten)
    near = levels.let("floor({} + {}) / {}", scaled, half, ten)
    signed = "CASE WHEN {0} >= {1} THEN {2} WHEN {2} < {3} THEN -{4} ELSE {4} END"
    return levels.let(signed, scaled, most, a, zero, near)


def _clip(levels: Levels, parts: tuple[Term, ...], literals: tuple[Value, ...]) -> Term:
    kind: Kind = "text" if isinstance(literals[0], str) else "float" if isinstance(literals[0], float) else "integer"
    lower, upper = (levels.constant(literal, kind) for literal in literals)
    a = parts[0]
    return levels.let("CASE WHEN {0} < {1} THEN {1} WHEN {0} > {2} THEN {2} ELSE {0} END", a, lower, upper)


def _case(letters: str, others: str) -> Write:
    return _plain(f"translate({{}}, '{letters}', '{others}')")


def _substring(levels: Levels, parts: tuple[Term, ...], literals: tuple[Value, ...]) -> Term:
    more = "" if literals[1] is None else f", {_int(literals[1]):d}"
    return levels.let(f"substring({{}}, {_int(literals[0]):d}{more})", parts[0])


def _concat(levels: Levels, parts: tuple[Term, ...], _: tuple[Value, ...]) -> Term:
    size = levels.let(" + ".join(["length({})"] * len(parts)), *parts)
    joined = " || ".join(f"{{{number + 1}}}" for number in range(len(parts)))
    return levels.let(f"CASE WHEN {{0}} <= {LONGEST} THEN {joined} END", size, *parts)


def _replace(levels: Levels, parts: tuple[Term, ...], literals: tuple[Value, ...]) -> Term:
    what, by = (levels.constant(literal, "text") for literal in literals)
    return levels.let("replace({}, {}, {})", _short(levels, parts[0]), what, by)


def _integer_of_text(levels: Levels, parts: tuple[Term, ...], _: tuple[Value, ...]) -> Term:
    return levels.let("TRY_CAST(TRY_CAST({} AS HUGEINT) AS BIGINT)", _fitting(levels, parts[0], INTEGER_TEXT))


def _float_of_text(levels: Levels, parts: tuple[Term, ...], _: tuple[Value, ...]) -> Term:
    found = levels.let("TRY_CAST({} AS DOUBLE)", _fitting(levels, parts[0], FLOAT_TEXT))
    return levels.let("CASE WHEN isfinite({0}) THEN {0} END", found)


def _fitting(levels: Levels, text: Term, expression: str) -> Term:
    """The text without spaces around it, missing where it does not fit a regular expression."""
    trimmed = levels.let("trim({}, ' ')", text)
    fits = levels.constant(expression, "text")
    return levels.let("CASE WHEN regexp_full_match({0}, {1}) THEN {0} END", trimmed, fits)


# dates and times


def _within(levels: Levels, part: Term, low: int, high: int) -> Term:
    ends = (Term(integer(end, "BIGINT")) for end in (low, high))
    return levels.let("CASE WHEN {0} BETWEEN {1} AND {2} THEN {0} END", part, *ends)


def _day(levels: Levels, part: Term) -> Term:
    return _within(levels, part, days.FIRST_DAY, days.LAST_DAY)


def _moment(levels: Levels, part: Term) -> Term:
    return _within(levels, part, days.FIRST_MOMENT, days.LAST_MOMENT)


def _date(levels: Levels, part: Term) -> Term:
    """A DATE of the years 1 to 9999, or missing."""
    return levels.let(f"{EPOCH} + TRY_CAST({{}} AS INTEGER)", _day(levels, part))


def _modulo(levels: Levels, part: Term, n: int) -> Term:
    """The remainder from 0 to n - 1."""
    return levels.let(f"({{0}} % {n} + {n}) % {n}", part)


def _text_of_date(levels: Levels, parts: tuple[Term, ...], _: tuple[Value, ...]) -> Term:
    return levels.let("CAST({} AS VARCHAR)", _date(levels, parts[0]))


def _date_of_text(levels: Levels, parts: tuple[Term, ...], _: tuple[Value, ...]) -> Term:
    fits = levels.constant(days.DATE_TEXT, "text")
    text = levels.let("CASE WHEN regexp_full_match({0}, {1}) THEN {0} END", parts[0], fits)
    return _day(levels, levels.let(f"CAST(TRY_CAST({{}} AS DATE) - {EPOCH} AS BIGINT)", text))


def _date_part(levels: Levels, parts: tuple[Term, ...], literals: tuple[Value, ...]) -> Term:
    name = {"dow": "dayofweek", "doy": "dayofyear", "day": "dayofmonth"}.get(str(literals[0]), str(literals[0]))
    return levels.let(f"CAST({name}({{}}) AS BIGINT)", _date(levels, parts[0]))


def _date_trunc(levels: Levels, parts: tuple[Term, ...], literals: tuple[Value, ...]) -> Term:
    return levels.let(f"CAST(CAST(date_trunc('{literals[0]}', {{}}) AS DATE) - {EPOCH} AS BIGINT)",
                      _date(levels, parts[0]))  # fmt: skip


def _later(levels: Levels, day: Term, months: int) -> Term:
    """The day `months` later: at most 83,334 years away, well within DuckDB's dates."""
    return levels.let(f"CAST(CAST({EPOCH} + TRY_CAST({{}} AS INTEGER) + to_months({months:d}) AS DATE) - {EPOCH}"
                      " AS BIGINT)", day) if months else day  # fmt: skip


def _date_add(levels: Levels, parts: tuple[Term, ...], literals: tuple[Value, ...]) -> Term:
    months, more = map(_int, literals)
    later = _later(levels, _day(levels, parts[0]), months)
    return _day(levels, levels.let("{} + {}", later, Term(integer(more, "BIGINT"))))


def _date_of_time(levels: Levels, parts: tuple[Term, ...], _: tuple[Value, ...]) -> Term:
    moment = _moment(levels, parts[0])
    return levels.let(f"({{}} - {{}}) // {days.DAY}", moment, _modulo(levels, moment, days.DAY))


def _time_of_date(levels: Levels, parts: tuple[Term, ...], _: tuple[Value, ...]) -> Term:
    return levels.let(f"{{}} * {days.DAY}", _day(levels, parts[0]))


def _time_part(levels: Levels, parts: tuple[Term, ...], literals: tuple[Value, ...]) -> Term:
    since = _modulo(levels, _moment(levels, parts[0]), days.DAY)
    rest = "" if literals[0] == "hour" else " % 60"
    return levels.let(f"{{}} // {days.TIME_SIZES[str(literals[0])]}{rest}", since)


def _time_trunc(levels: Levels, parts: tuple[Term, ...], literals: tuple[Value, ...]) -> Term:
    moment = _moment(levels, parts[0])
    return levels.let("{} - {}", moment, _modulo(levels, moment, days.TIME_SIZES[str(literals[0])]))


def _time_add(levels: Levels, parts: tuple[Term, ...], literals: tuple[Value, ...]) -> Term:
    """All within 64 bits: a moment below 2**58, 10**6 months below 2**62, 10**18 below 2**60."""
    months, more = map(_int, literals)
    moment = _moment(levels, parts[0])
    later = moment
    if months:
        since = _modulo(levels, moment, days.DAY)
        day = _later(levels, levels.let(f"({{}} - {{}}) // {days.DAY}", moment, since), months)
        later = levels.let(f"{{}} * {days.DAY} + {{}}", day, since)
    return _moment(levels, levels.let("{} + {}", later, Term(integer(more, "BIGINT"))))


def _local_of_time(levels: Levels, parts: tuple[Term, ...], literals: tuple[Value, ...]) -> Term:
    moment = _moment(levels, parts[0])
    offset = levels.let(f"CAST({_tree(zones.offsets(str(literals[0])))} AS BIGINT)", moment)
    return _moment(levels, levels.let("{} + {}", moment, offset))


def _time_of_local(levels: Levels, parts: tuple[Term, ...], literals: tuple[Value, ...]) -> Term:
    moment = _moment(levels, parts[0])
    offset = levels.let(f"CAST({_tree(zones.local_offsets(str(literals[0])))} AS BIGINT)", moment)
    return _moment(levels, levels.let("{} - {}", moment, offset))


def _tree(table: zones.Offsets) -> str:
    """The offset at {0}, by halving: a vector of moments visits only the halves it has rows in."""
    if len(table) == 1:
        return str(table[0][1])
    middle = len(table) // 2
    return f"CASE WHEN {{0}}<{table[middle][0]} THEN {_tree(table[:middle])} ELSE {_tree(table[middle:])} END"


def _int(value: Value) -> int:
    assert isinstance(value, int)
    return value


FUNCTIONS: Final[dict[str, Write]] = {
    "add_i": _wide("{} + {}"),
    "sub_i": _wide("{} - {}"),
    "mul_i": _wide("{} * {}"),
    "mod_i": _remainder_integer,
    "neg_i": _wide("-{}"),
    "abs_i": _wide("abs({})"),
    "sign_i": _plain("CAST(sign({}) AS BIGINT)"),
    "floordiv_i": _floor_division,
    "round_i": _round_integer,
    "add_f": _finite("{} + {}"),
    "sub_f": _finite("{} - {}"),
    "mul_f": _finite("{} * {}"),
    "div_f": _quotient,
    "mod_f": _remainder_double,
    "neg_f": _plain("(-{})"),
    "abs_f": _plain("abs({})"),
    "sign_f": _plain("CAST(sign({}) AS BIGINT)"),
    "sqrt": _root,
    "exp": lambda levels, parts, _: finite(levels, exponential(levels, parts[0]), parts),
    "ln": lambda levels, parts, _: logarithm(levels, parts[0]),
    "power": lambda levels, parts, _: finite(levels, power(levels, parts[0], parts[1]), parts),
    "floor": _whole("floor({})"),
    "ceil": _whole("ceil({})"),
    "round": _nearest,
    "round_f": _round_double,
    "to_f": _plain("CAST({} AS DOUBLE)"),
    "coalesce": _many("coalesce"),
    "least": _many("least"),
    "greatest": _many("greatest"),
    "clip": _clip,
    "lower": _case(CAPITALS, SMALL),
    "upper": _case(SMALL, CAPITALS),
    "trim": _plain("trim({}, ' ')"),
    "ltrim": _plain("ltrim({}, ' ')"),
    "rtrim": _plain("rtrim({}, ' ')"),
    "substring": _substring,
    "length": _plain(f"CASE WHEN length({{0}}) <= {LONGEST} THEN CAST(length({{0}}) AS BIGINT) END"),
    "concat": _concat,
    "replace": _replace,
    "text_of_i": _plain("CAST({} AS VARCHAR)"),
    "i_of_text": _integer_of_text,
    "f_of_text": _float_of_text,
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
