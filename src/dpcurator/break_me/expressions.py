"""Parts of questions, drawn: aggregates, keys and conditions over the columns of what stands in FROM.

Definition  `call` draws an aggregate, `key` what to group by, `condition` what rows to keep, `shown` arithmetic over
            aggregates. `MADE` are the expressions of one column, by its type. A new aggregate is drawn once it is in
            `OF_NUMBERS`, `OF_PAIRS`, `ORDERED` or `NAMING`; a test says when one is missing there.
Promise     A function of the luck and of the fields, which are public. A part may be refused (bounds that an expression
            does not have): then it is refused on every data set alike.
Checked     tests/break_me/test_break_me.py.
"""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable, Sequence
from typing import Any, Final

from dpcurator.break_me.tables import NUMBERS, Field, Source

_DAY: Final = 86_400 * 10**6  # of a timestamp, in microseconds
_EPOCH: Final = datetime.date(1970, 1, 1).toordinal()
OF_NUMBERS: Final = ("SUM", "AVG", "VAR_POP", "VAR_SAMP", "STDDEV_POP", "STDDEV_SAMP")
OF_PAIRS: Final = ("COVAR_POP", "COVAR_SAMP", "CORR", "REGR_SLOPE", "REGR_INTERCEPT", "REGR_R2", "REGR_COUNT",
                   "REGR_AVGX", "REGR_AVGY")
ORDERED: Final = ("QUANTILE",)
NAMING: Final = ("TOP_K",)
_CALLS: Final = ("rows", "rows", "units", "column", "number", "number", "number", "number", "pair", "ordered", "values")
_LEVELS: Final = ("0", "0.1", "0.25", "0.333333", "0.9", "1")
_CLIPS: Final = ("-4, 9", "0, 5.5", "-1, 1", "0, 50")
_NUMBER: Final = (
    ("{0} + 1", ""), ("{0} * 2 - 1", ""), ("-{0}", ""), ("ABS({0})", ""), ("ABS({0}) % 7", ""), ("{0} * {0}", ""),
    ("LEAST({0}, 5)", ""), ("COALESCE({0}, 3)", ""), ("NULLIF({0}, 7)", ""), ("ROUND({0}, 1)", ""),
    ("FLOOR({0} / 4)", "integer"), ("10 / {0}", "float"), ("SQRT({0})", "float"), ("EXP({0})", "float"),
    ("CASE WHEN {0} > 0 THEN {0} ELSE -1 END", ""),
    ("CASE WHEN {0} > 3 THEN 0.5 WHEN {0} < 0 THEN -2.25 END", "float"), ("CAST({0} AS DOUBLE)", "float"),
    ("CAST({0} AS INTEGER)", "integer"),
)
MADE: Final[dict[str, tuple[tuple[str, str], ...]]] = {  # expressions of a column, each with its type; "": the same
    "integer": (*_NUMBER, ("CAST({0} AS BOOLEAN)", "boolean"), ("CAST({0} AS TEXT)", "text")), "float": _NUMBER,
    "boolean": (("CAST({0} AS INTEGER)", "integer"), ("CASE WHEN {0} THEN 2 ELSE -1 END", "integer"), ("NOT {0}", "")),
    "text": (("LENGTH({0})", "integer"), ("UPPER({0})", ""), ("TRIM({0})", ""), ("{0} || '!'", ""),
             ("LEFT({0}, 2)", ""), ("CAST({0} AS DOUBLE)", "float"), ("CAST({0} AS DATE)", "date"),
             ("CAST({0} AS INTEGER)", "integer")),
    "date": (("EXTRACT(month FROM {0})", "integer"), ("EXTRACT(year FROM {0})", "integer"),
             ("DATE_TRUNC('month', {0})", ""), ("CAST({0} AS TIMESTAMP)", "timestamp")),
    "timestamp": (("EXTRACT(hour FROM {0})", "integer"), ("DATE_TRUNC('day', {0})", "date"),
                  ("CAST({0} AS DATE)", "date")),
    "uuid": (("CAST({0} AS TEXT)", "text"),),
}
_KEYS: Final[dict[str, tuple[str, ...]]] = {
    "text": ("UPPER({0})", "LEFT({0}, 1)", "COALESCE({0}, 'none')", "{0} || '!'", "LENGTH({0})"),
    "integer": ("{0} + 1", "{0} > 0", "FLOOR({0} / 4)", "CAST({0} AS TEXT)", "CAST({0} AS BOOLEAN)"),
    "date": ("EXTRACT(year FROM {0})", "EXTRACT(month FROM {0})", "CAST({0} AS TIMESTAMP)", "DATE_TRUNC('year', {0})"),
    "timestamp": ("EXTRACT(month FROM {0})",), "boolean": ("NOT {0}", "{0} = TRUE"),
    "float": ("CASE WHEN {0} > 0 THEN 'a' ELSE 'b' END",),
}
SHAPES: Final = (  # of what is shown: arithmetic over aggregates
    "({0} + {1})", "({0} - {1})", "({0} * {1})", "({0} / {1})", "(-{0})", "ABS({0})", "ROUND({0})", "ROUND({0}, 2)",
    "ROUND({0}, -30)", "ROUND({0}, 30)", "SQRT({0})", "FLOOR({0})", "CEIL({0})", "LEAST({0}, {1})",
    "GREATEST({0}, {1})",
    "COALESCE({0}, {1})", "NULLIF({0}, {1})", "CAST({0} AS DOUBLE)", "CAST({0} AS INTEGER)", "{0} / NULLIF({1}, 0)",
)
_LEAVES: Final = ("2", "0.5", "-3", "100.0", "0", "1e300", "1e-300", "123456789012345678901234567890")


def literal(column: Any, value: Any) -> str:
    """A physical value of the column, as SQL. column: anything with its type."""
    if value is None:
        return "NULL"
    if column.type == "boolean":
        return "TRUE" if value else "FALSE"
    if column.type == "date":
        return f"DATE '{datetime.date.fromordinal(_EPOCH + int(value)).isoformat()}'"
    if column.type == "timestamp":
        day, rest = divmod(int(value), _DAY)
        moment = datetime.datetime.min + datetime.timedelta(days=_EPOCH - 1 + day, microseconds=rest)
        return f"TIMESTAMP '{moment.isoformat()}Z'"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)


# --- aggregates -------------------------------------------------------------------------------------------------------


def call(luck: random.Random, source: Source) -> str:
    """An aggregate of the source's rows."""
    kind, numbers = luck.choice(_CALLS), [field for field in source.fields if field.type in NUMBERS]
    if kind == "units" and source.unit is not None:
        return luck.choice(("COUNT(DISTINCT {0})", "COUNT(DISTINCT {0})", "COUNT({0})")).format(source.unit.sql)
    found = luck.choice(("COUNT(*)", "COUNT(*)", "COUNT(*)", "COUNT(1)"))
    if kind == "column" and source.fields:
        field = luck.choice(source.fields)
        forms = (f"COUNT({field.sql})", f"COUNT({made(luck, field)[0]})", f"COUNT_IF({condition(luck, source)})")
        found = luck.choice(forms)
    elif kind == "values" and source.fields:
        field = luck.choice(source.fields)
        found = f"COUNT(DISTINCT {luck.choice((field.sql, field.sql, made(luck, field)[0]))})"
    elif kind == "number" and source.fields:
        function = luck.choice(("SUM", "SUM", "AVG", "AVG", luck.choice(OF_NUMBERS)))
        found = f"{function}({number(luck, source)})"
    elif kind == "ordered" and source.fields:
        of = ordered(luck, source)
        found = luck.choice((f"MEDIAN({of})", f"{luck.choice(ORDERED)}({of}, {luck.choice(_LEVELS)})"))
    elif kind == "pair" and numbers:
        found = f"{luck.choice(OF_PAIRS)}({number(luck, source, plain=True)}, {number(luck, source, plain=True)})"
    if source.fields and luck.random() < 0.08 and "COUNT_IF" not in found:
        found += f" FILTER (WHERE {condition(luck, source)})"
    return found


def number(luck: random.Random, source: Source, *, plain: bool = False) -> str:
    """A number of each row that has bounds, most often. plain: of a column as it is, where one has bounds."""
    bounded = [field for field in source.fields if field.bounded]
    if bounded and (plain or luck.random() < 0.6):
        return luck.choice(bounded).sql
    field = luck.choice(source.fields)
    text, kind = made(luck, field)
    while kind not in NUMBERS:
        text, kind = made(luck, Field(text, kind))
    if kind == "boolean":
        return text
    return text if field.bounded and luck.random() < 0.3 else f"CLIP({text}, {luck.choice(_CLIPS)})"


def ordered(luck: random.Random, source: Source) -> str:
    """A number, a day or a moment of each row, that has bounds most often."""
    known = ("integer", "float", "date", "timestamp")
    bounded = [field for field in source.fields if field.type in known and field.lower is not None]
    return luck.choice(bounded).sql if bounded and luck.random() < 0.7 else number(luck, source)


def made(luck: random.Random, field: Field) -> tuple[str, str]:
    """An expression of the column, and its type."""
    form, kind = luck.choice(MADE[field.type])
    return form.format(field.sql), kind or field.type


def shown(luck: random.Random, leaf: Callable[[], str], depth: int, shapes: Sequence[str] = SHAPES) -> str:
    """Arithmetic over aggregates, which `leaf` draws, and over constants."""
    if depth == 0 or luck.random() < 0.2:
        return luck.choice(_LEAVES) if luck.random() < 0.2 else leaf()
    return luck.choice(shapes).format(shown(luck, leaf, depth - 1, shapes), shown(luck, leaf, depth - 1, shapes))


# --- keys and conditions ----------------------------------------------------------------------------------------------


def key(luck: random.Random, field: Field) -> str:
    """The column as a key, or now and then an expression of it."""
    forms = _KEYS.get(field.type, ())
    return luck.choice(forms).format(field.sql) if forms and luck.random() < 0.2 else field.sql


def condition(luck: random.Random, source: Source) -> str:
    """A condition on a row of the source."""
    picked = _leaf(luck, source)
    if luck.random() < 0.3:
        return f"({picked} {luck.choice(('OR', 'AND', 'AND NOT', 'OR NOT'))} ({_leaf(luck, source)}))"
    return picked


def _leaf(luck: random.Random, source: Source) -> str:
    if luck.random() < 0.04:
        return luck.choice(("TRUE", "FALSE", "NULL"))
    field = luck.choice(source.fields)
    name, values = field.sql, [literal(field, value) for value in _near(field)]
    if luck.random() < 0.15:
        both = {"integer", "float"}
        alike = [one for one in source.fields if one.type == field.type or {one.type, field.type} <= both]
        sign = luck.choice(("=", "<", "<>", "IS DISTINCT FROM"))
        return f"{name} {sign} {luck.choice(alike).sql}"
    some = [f"{name} IS NULL", f"{name} IS NOT NULL"]
    if field.type == "boolean":
        some += [name, f"NOT {name}", f"{name} = FALSE"]
    else:
        compared = f"{name} {luck.choice(('=', '<>', '<', '>='))} {luck.choice(values)}"
        listed = ", ".join((*luck.sample(values, min(2, len(values))), "NULL"))
        some += [compared, f"NOT {compared}", compared, f"{name} {luck.choice(('IN', 'NOT IN'))} ({listed})",
                 f"{name} BETWEEN {luck.choice(values)} AND {luck.choice(values)}"]
    if field.type == "text":
        some += [f"{name} LIKE '%e%'", f"LOWER({name}) <> 'york'", f"LENGTH({name}) > 4",
                 f"{name} LIKE 'a!_%' ESCAPE '!'"]
    if field.type in ("integer", "float"):
        some += [f"10 / {name} > 1", f"SQRT({name}) >= 1", f"{name} * {name} > 4", f"{name} % 3 = 1", f"{name} <= 4.5",
                 f"{name} = 99999999999999999999", f"{name} IN (1, 2.5, 3)",
                 f"CASE WHEN {name} > 3 THEN TRUE ELSE {name} IS NULL END"]
    if field.type in ("date", "timestamp"):
        some.append(f"EXTRACT(month FROM {name}) = 2")
    return luck.choice(some)


def _near(field: Field) -> Sequence[Any]:
    """Values worth comparing with."""
    found = [value for value in field.keys or () if value is not None][:6]
    ends = [end for end in (field.lower, field.upper) if end is not None]
    if field.type == "float":
        found += [float(end) for end in ends if abs(end) < 10**300] + [0.5]
    elif field.type not in ("text", "uuid"):
        found += [int(end) for end in ends] + [3]
    elif not found:
        found = ["00000000-0000-0000-0000-000000000001"] if field.type == "uuid" else ["Leeds", ""]
    return found
