"""The SQL functions of row expressions, by name: how each is written, how many parts it takes, and its reading.

A reading takes typed parts to an operand of `language/functions/function.py`, or refuses: those of numbers are in
`numbers`, of texts in `texts`, of dates in `dates`, casts in `casts`. To add one: write its reading
there and a line in ROW_FUNCTIONS; `docs/sql.md` has a line for each (a test compares).
Checked in tests/language/test_expressions.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from dpcurator.language.comparing import compare
from dpcurator.language.functions import dates, numbers, texts
from dpcurator.language.functions.casts import CASTS, cast
from dpcurator.language.functions.numbers import arithmetic, negative
from dpcurator.language.functions.texts import joined
from dpcurator.language.rows import Choose, Missing, When
from dpcurator.language.typed import Parts, Typed, common, kind_of, of_type

__all__ = ["CASTS", "ROW_FUNCTIONS", "RowFunction", "arithmetic", "cast", "joined", "negative"]


@dataclass(frozen=True, slots=True)
class RowFunction:
    """`use`: how to write it; `least` and `most` parts; `read`: what it means."""

    use: str
    least: int
    most: int
    read: Callable[[Parts], Typed]


def _nullif(parts: Parts) -> Typed:
    type = common(parts, "NULLIF")
    kept = parts[0].as_type(type)
    equal = compare("=", *parts)
    return of_type(parts, Choose((When(equal, Missing(kind_of(type))),), kept, kind_of(type)), type)


MANY: Final = 64
ROW_FUNCTIONS: Final[dict[str, RowFunction]] = {
    "ABS": RowFunction("ABS(x)", 1, 1, numbers.same_kind("abs")),
    "SIGN": RowFunction("SIGN(x)", 1, 1, numbers.sign),
    "FLOOR": RowFunction("FLOOR(x)", 1, 1, numbers.whole_of("floor")),
    "CEIL": RowFunction("CEIL(x)", 1, 1, numbers.whole_of("ceil")),
    "ROUND": RowFunction("ROUND(x) or ROUND(x, 2)", 1, 2, numbers.rounded_to),
    "SQRT": RowFunction("SQRT(x)", 1, 1, numbers.double("sqrt")),
    "LN": RowFunction("LN(x)", 1, 1, numbers.double("ln")),
    "EXP": RowFunction("EXP(x)", 1, 1, numbers.double("exp")),
    "POWER": RowFunction("POWER(x, 2)", 2, 2, numbers.double("power")),
    "MOD": RowFunction("MOD(x, 7)", 2, 2, lambda parts: arithmetic("%", *parts)),
    "LEAST": RowFunction("LEAST(x, y)", 1, MANY, numbers.least("least")),
    "GREATEST": RowFunction("GREATEST(x, y)", 1, MANY, numbers.least("greatest")),
    "CLIP": RowFunction("CLIP(x, 0, 100)", 3, 3, numbers.clip),
    "COALESCE": RowFunction("COALESCE(x, 0)", 1, MANY, numbers.least("coalesce")),
    "NULLIF": RowFunction("NULLIF(x, 0)", 2, 2, _nullif),
    "LOWER": RowFunction("LOWER(x)", 1, 1, texts.of_text("lower")),
    "UPPER": RowFunction("UPPER(x)", 1, 1, texts.of_text("upper")),
    "TRIM": RowFunction("TRIM(x)", 1, 1, texts.of_text("trim")),
    "LTRIM": RowFunction("LTRIM(x)", 1, 1, texts.of_text("ltrim")),
    "RTRIM": RowFunction("RTRIM(x)", 1, 1, texts.of_text("rtrim")),
    "LENGTH": RowFunction("LENGTH(x)", 1, 1, texts.length),
    "SUBSTRING": RowFunction("SUBSTRING(x, 1, 3)", 2, 3, texts.substring),
    "LEFT": RowFunction("LEFT(x, 3)", 2, 2, texts.left_of),
    "CONCAT": RowFunction("CONCAT(x, '-', y)", 1, MANY, texts.concat),
    "REPLACE": RowFunction("REPLACE(x, 'a', 'b')", 3, 3, texts.replace),
    "DATE_TRUNC": RowFunction("DATE_TRUNC('month', day)", 2, 2, dates.date_trunc),
    "DATE_PART": RowFunction("EXTRACT(year FROM day)", 2, 2, dates.date_part),
    "DATE_DIFF": RowFunction("DATE_DIFF('day', earlier, later)", 3, 3, dates.date_diff),
    "TIMEZONE": RowFunction("at AT TIME ZONE 'Europe/Paris'", 2, 2, dates.timezone),
    "DATE": RowFunction("DATE(at)", 1, 1, lambda parts: cast(parts[0], "DATE")),
    **{
        unit.upper(): RowFunction(f"{unit.upper()}(day)", 1, 1, dates.part_of(unit))
        for unit in ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
    },
}
