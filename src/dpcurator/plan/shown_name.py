"""The name of a column or expression as people read it, in SQL's words: in notes and in `explain`.

The name itself (`language/spelling.py`) is part of a plan and its digest, so it stays as it is in receipts, and says
FLOORDIV_I or LOCAL where no word of SQL is one function of ours. Text in, text out: a plan has no more of its columns.
Checked in tests/language/test_spelling.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

_TIMES: Final = (("day", 86_400 * 10**6), ("hour", 3600 * 10**6), ("minute", 60 * 10**6), ("second", 10**6))


def in_sql(name: str) -> str:
    """The name of a column in SQL's words, to be shown: `spelled` is part of a plan's digest, so it stays as it is.

    What was cut, and what is no such name, is left alone.
    """
    made, at = "", 0
    while found := _CALL.search(name, at):
        parts, end = _arguments(name, found.end())
        write, count = _IN_SQL[found[1]]
        if len(parts) != count or (count == 3 and not all(map(_NUMBER.fullmatch, parts[1:]))):
            made, at = made + name[at : found.end()], found.end()
            continue
        made, at = made + name[at : found.start()] + write(*map(in_sql, parts)), end
    return made + name[at:]


def _arguments(name: str, start: int) -> tuple[list[str], int]:
    """The arguments of a call that begin here, and where it ends; none where it does not."""
    parts, depth, quoted, begun = list[str](), 0, False, start
    for at in range(start, len(name)):
        one = name[at]
        quoted ^= one == "'"
        if quoted or one not in "(),":
            continue
        if depth == 0 and one != "(":
            parts.append(name[begun:at].strip())
            begun = at + 1
            if one == ")":
                return parts, at + 1
        else:
            depth += (one == "(") - (one == ")")
    return [], start


def _cast(kind: str) -> tuple[Callable[..., str], int]:
    return lambda x: f"CAST({x} AS {kind})", 1


def _later(x: str, months: str, rest: str, units: tuple[tuple[str, int], ...]) -> str:
    said = [(int(months), "month")] if int(months) else []
    left, sign = abs(int(rest)), 1 if int(rest) >= 0 else -1
    for unit, size in units:
        said += [(sign * (left // size), unit)] if left // size else []
        left %= size
    said += [(sign * left, "microsecond")] if left else []
    for count, unit in said:
        x += f" {'-' if count < 0 else '+'} INTERVAL '{abs(count)} {unit}{'s' if abs(count) != 1 else ''}'"
    return f"({x})"


_IN_SQL: Final[dict[str, tuple[Callable[..., str], int]]] = {
    "DATE_PART": (lambda x, unit: f"EXTRACT({unit.upper()} FROM {x})", 2),
    "DATE_TRUNC": (lambda x, unit: f"DATE_TRUNC('{unit}', {x})", 2),
    "DATE_ADD": (lambda x, months, days: _later(x, months, days, (("day", 1),)), 3),
    "TIME_ADD": (lambda x, months, us: _later(x, months, us, _TIMES), 3),
    "LOCAL": (lambda x, zone: f"({x} AT TIME ZONE '{zone}')", 2),
    "UTC": (lambda x, zone: f"({x} AT TIME ZONE '{zone}')", 2),
    "SUBSTRING": (lambda x, start, n: f"SUBSTRING({x}, {start}{'' if n == 'NULL' else f', {n}'})", 3),
    "FLOORDIV_I": (lambda x, n: f"FLOOR({x} / {n})" if re.fullmatch(r"\w+", x) else f"FLOOR(({x}) / {n})", 2),
    **{kind: _cast(kind) for kind in ("INTEGER", "DOUBLE", "TEXT", "DATE", "TIMESTAMP")},
}
_CALL: Final = re.compile(rf"(?<![\w.\"'])({'|'.join(_IN_SQL)})\(")
_NUMBER: Final = re.compile(r"-?[0-9]+|NULL")
