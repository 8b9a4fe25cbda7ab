"""What a plan's rows are read from, in Spark's SQL: a stored table, or the text of a relation, a subquery a node.

Columns are x0, x1, ... at every node, as everywhere (`rows.py`). Each text says what `plan/core_relations.py` says. No
text depends on an order that is not total, and none can raise on a row: integers are added up in DECIMAL(38,0), of at
most 2**48 rows of 2**63, and what is cast is in range or missing. Checked in tests/engines/test_relations.py and
tests/laws/test_heart_relations.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

from dpcurator.catalog.model import Kind
from dpcurator.engines.levels import Levels
from dpcurator.engines.spark import rows
from dpcurator.engines.spark.constants import INFINITY, WIDE, Constants, clamp, divided, integer
from dpcurator.language.rows import Predicate
from dpcurator.numbers.rational import INT64
from dpcurator.plan import core_relations as physical
from dpcurator.plan.core import Scan

Names = Callable[[str], str]  # what to read a stored table from
ALL: Final = Constants()


def scan_text(scan: Scan, stored: Names) -> str:
    if isinstance(scan.table, str):
        return _stored(scan.table, scan.columns, stored)
    columns = [f"x{source.name.removeprefix('c')} AS x{index}" for index, source in enumerate(scan.columns)]
    return f"SELECT {', '.join(columns) or '0 AS nothing'} FROM ({relation_text(scan.table, stored)})"


def _stored(table: str, sources: Sequence[physical.Source], stored: Names) -> str:
    columns = [f"{_canonical(source)} AS x{index}" for index, source in enumerate(sources)]
    return f"SELECT {', '.join(columns) or '0 AS nothing'} FROM {stored(table)}"


def _canonical(source: physical.Source) -> str:
    text = source.name
    if source.kind == "float":
        text = f"CASE WHEN isnan({text}) THEN NULL ELSE {text} + 0D END"  # -0.0 + 0.0 is 0.0
    elif source.kind == "text":
        most = source.letters
        text = f"CASE WHEN octet_length({text}) <= {most:d} OR char_length({text}) <= {most:d} THEN {text} END"
    return text if source.fill is None else f"coalesce({text}, {ALL.constant(source.fill, source.kind)})"


def filtered(predicate: Predicate, source: str, columns: str) -> list[tuple[str, str]]:
    """The rows for which it is true, with these columns, as steps of which the last is named `filtered`."""
    levels = Levels(ALL)
    condition = rows.truth(predicate, levels)
    source, more = levels.expressions(source, "f", [condition])
    if more:  # a list that is missing makes no row, and no optimiser pushes it down into the levels
        kept = f"LATERAL VIEW explode(CASE WHEN {condition.text} THEN array(1) END) lists AS kept"
        return [*more, ("filtered", f"SELECT {columns} FROM {source} {kept}")]
    return [("filtered", f"SELECT {columns} FROM {source} WHERE {condition.text}")]


def relation_text(node: physical.CoreRelation, stored: Names) -> str:
    """A query whose columns are x0, x1, ..."""

    def text(below: physical.CoreRelation) -> str:
        return relation_text(below, stored)

    match node:
        case physical.Stored(table, sources, unit):
            inner = _stored(table, sources, stored)
            return inner if unit is None else f"SELECT * FROM ({inner}) WHERE x{unit} IS NOT NULL"
        case physical.Only(source, predicate):
            steps = [("below", text(source)), *filtered(predicate, "below", _all(node))]
            return f"{_with(steps)} SELECT {_all(node)} FROM filtered"
        case physical.Columns(source, parts):
            levels = Levels(ALL)
            found = [rows.operand(part, levels) for part in parts]
            last, more = levels.expressions("below", "p", found)
            made = ", ".join(f"{term.text} AS x{index}" for index, term in enumerate(found))
            return f"{_with([('below', text(source)), *more])} SELECT {made} FROM {last}"
        case physical.Groups(source, keys, folds):
            key = ", ".join(f"x{index}" for index in range(keys))
            kinds = [one.kind for one in physical.columns_of(source)]
            raw = "".join(f", {_raw(fold, kinds)}".format(n=n) for n, fold in enumerate(folds))
            ends = "".join(f", {_made(fold).format(n=n)} AS x{keys + n}" for n, fold in enumerate(folds))
            return f"SELECT {key}{ends} FROM (SELECT {key}{raw} FROM ({text(source)}) GROUP BY {key})"
        case physical.Match(source, other, on, other_on, keep):
            size = len(physical.columns_of(source))
            theirs = "".join(f", right_.x{n} AS x{size + n}" for n in range(len(physical.columns_of(other))))
            equal = " AND ".join(f"left_.x{a} = right_.x{b}" for a, b in zip(on, other_on, strict=True))
            how = "LEFT JOIN" if keep else "JOIN"
            return f"SELECT left_.*{theirs} FROM ({text(source)}) AS left_ {how} ({text(other)}) AS right_ ON {equal}"
        case physical.Both(source, other):
            return " UNION ALL ".join(f"SELECT {_all(node)} FROM ({text(side)})" for side in (source, other))
        case physical.Ranked(source, keys_, order):
            along = ", ".join(
                f"x{one.column} {'DESC' if one.descending else 'ASC'} NULLS {'FIRST' if one.missing_first else 'LAST'}"
                for one in order)
            key = ", ".join(f"x{index}" for index in keys_)
            number = f"CAST(row_number() OVER (PARTITION BY {key} ORDER BY {along}) AS BIGINT)"
            return f"SELECT *, {number} AS x{len(physical.columns_of(source))} FROM ({text(source)})"
        case physical.Flag(source, unit, among, among_unit):
            cohort = f"SELECT DISTINCT x{among_unit} AS w FROM ({text(among)})"
            mark = f"CASE WHEN w IS NULL THEN 0L ELSE 1L END AS x{len(physical.columns_of(source))}"
            return f"SELECT left_.*, {mark} FROM ({text(source)}) AS left_ LEFT JOIN ({cohort}) ON x{unit} = w"
        case physical.Found(source, on, other, unknown):
            left, right = text(source), text(other)
            listed = f"SELECT DISTINCT {', '.join(f'x{n} AS w{n}' for n in range(len(on)))} FROM ({right})"
            equal = " AND ".join(f"left_.x{index} = w{n}" for n, index in enumerate(on))
            join = f"FROM ({left}) AS left_ LEFT JOIN ({listed}) ON {equal}"
            mark = "WHEN w0 IS NOT NULL THEN 1L"
            if unknown:
                join += f" CROSS JOIN (SELECT count(*) AS every_, count(x0) AS present_ FROM ({right}))"
                mark += f" WHEN every_ > 0 AND (present_ < every_ OR left_.x{on[0]} IS NULL) THEN NULL"
            return f"SELECT left_.*, CASE {mark} ELSE 0L END AS x{len(physical.columns_of(source))} {join}"


def _raw(fold: physical.Folded, kinds: Sequence[Kind]) -> str:
    """The sums of a group that a fold is made of, {n} its number: s an exact sum, c a count, m a value."""
    x, y = f"x{fold.column}", f"x{fold.by}"
    match fold.function:
        case "rows":
            return "count(*) AS c{n}"
        case "present":
            return f"count({x}) AS c{{n}}"
        case "distinct":
            return f"count(DISTINCT {x}) AS c{{n}}"
        case "sum_i" | "avg_i":
            return f"sum(CAST({x} AS {WIDE})) AS s{{n}}, count({x}) AS c{{n}}"
        case "sum_f" | "avg_f":
            low, high, scale, half = (ALL.constant(end, "float") for end in (*fold.ends, 2.0**fold.exponent, 0.5))
            raised = f"{clamp(x, low, high)} * {scale} + {half}"
            steps = f"CAST({ALL.words.floor.format(raised)} AS BIGINT)"
            least, most = (math.floor(end * 2.0**fold.exponent + 0.5) for end in fold.ends)
            if least < fold.steps[0] or most > fold.steps[1]:  # each operation is monotone, so else it is clamped
                steps = clamp(steps, *(integer(step) for step in fold.steps))
            return f"sum(CAST({steps} AS {WIDE})) AS s{{n}}, count({x}) AS c{{n}}"
        case "least" | "greatest":
            return f"{'min' if fold.function == 'least' else 'max'}({x}) AS m{{n}}"
    along = _reversed(y, kinds[fold.by]) if fold.function == "arg_greatest" else y
    first = f"min(named_struct('a', {along}, 'b', {x}))"
    return f"{first} FILTER (WHERE {x} IS NOT NULL AND {y} IS NOT NULL) AS m{{n}}"


def _reversed(x: str, kind: Kind) -> str:
    """What goes down as x goes up. Of a text: its bytes in hexadecimal, each digit taken from F, and a letter above
    all of them, since a text comes before what goes on from it."""
    if kind == "integer":
        return f"~{x}"
    if kind == "float":
        return f"-{x} + 0D"
    return f"concat(translate(hex({x}), '0123456789ABCDEF', 'FEDCBA9876543210'), '~')"


def _made(fold: physical.Folded) -> str:
    """A fold from these."""
    match fold.function:
        case "rows" | "present" | "distinct":
            return "c{n}"
        case "sum_i":
            ends = f"{integer(INT64.start, WIDE)} AND {integer(INT64.stop - 1, WIDE)}"
            return f"CAST(CASE WHEN s{{n}} BETWEEN {ends} THEN s{{n}} END AS BIGINT)"
        case "sum_f" | "avg_f" | "avg_i":  # a cast of a decimal without places makes the nearest double
            exact = "CAST(s{n} AS DOUBLE)" if fold.function == "sum_f" else _quotient("s{n}", "greatest(c{n}, 1L)")
            scaled = f"({exact} * {ALL.constant(2.0**-fold.exponent, 'float')} + 0D)"
            if fold.exponent < -800:  # else a sum is below 2**126, so this is finite
                scaled = f"CASE WHEN abs({scaled}) < {INFINITY} THEN {scaled} END"
            return f"CASE WHEN c{{n}} > 0 THEN {scaled} END"
    return "m{n}.b" if fold.function.startswith("arg_") else "m{n}"


def _quotient(whole: str, count: str) -> str:
    """The double nearest to whole / count, count >= 1. Where both are doubles, as doubles divide. Else by long
    division: 60 bits more than the whole quotient, which has 5 at least, and one that says whether anything is left, so
    that rounding these digits rounds the quotient itself. The quotient is below 2**64, so all of it is below 2**126."""
    limit = integer(2**53, WIDE)
    small = f"CAST(greatest(least({whole}, {limit}), -{limit}) AS DOUBLE) / CAST({count} AS DOUBLE)"
    by, more = f"CAST({count} AS {WIDE})", integer(2**60, WIDE)
    rest = f"(abs({whole}) % {by} * {more})"
    digits = f"{divided(f'abs({whole})', by)} * {more} + {divided(rest, by)}"
    long = f"({digits}) * 2 + CASE WHEN {rest} % {by} > 0 THEN 1 ELSE 0 END"
    rounded = f"CAST({long} AS DOUBLE) / {ALL.constant(2.0**61, 'float')}"
    return f"CASE WHEN abs({whole}) <= {limit} THEN {small} WHEN {whole} < 0 THEN -({rounded}) ELSE {rounded} END"


def _all(node: physical.CoreRelation) -> str:
    return ", ".join(f"x{index}" for index in range(len(physical.columns_of(node))))


def _with(steps: Sequence[tuple[str, str]]) -> str:
    return f"WITH {', '.join(f'{name} AS ({text})' for name, text in steps)}"
