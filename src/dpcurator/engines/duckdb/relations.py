"""What a plan's rows are read from, in DuckDB's SQL: a stored table, or the text of a relation, a subquery a node.

Columns are x0, x1, ... at every node, as everywhere (`rows.py`). Why it is right: each text says what
`plan/core_relations.py` says, in joins that match a row at most once, so that a result never has more rows than the
left side (but for the fan-out of a public table), and in aggregates that are functions of bags. No text depends on an
order that is not total, and none can raise on a row. Checked in tests/laws/test_heart_relations.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from dpcurator.engines.duckdb import rows
from dpcurator.engines.duckdb.levels import TYPES, Parameters, integer
from dpcurator.engines.levels import Levels
from dpcurator.language.rows import Predicate
from dpcurator.numbers.rational import INT64
from dpcurator.plan import core_relations as physical
from dpcurator.plan.core import Scan

Names = Callable[[str], str]  # what to read a stored table from
Given = Mapping[physical.CoreRelation, str]  # relations that stand in the statement already, under these names
NOTHING: Final[Given] = {}


def scan_text(scan: Scan, stored: Names, parameters: Parameters, given: Given = NOTHING) -> str:
    if isinstance(scan.table, str):
        return _stored(scan.table, scan.columns, stored, parameters)
    columns = [f"x{source.name.removeprefix('c')} AS x{index}" for index, source in enumerate(scan.columns)]
    rows_ = relation_text(scan.table, stored, parameters, given)
    return f"SELECT {', '.join(columns) or '0 AS nothing'} FROM ({rows_})"


def _stored(table: str, sources: Sequence[physical.Source], stored: Names, parameters: Parameters) -> str:
    columns = [f"{_canonical(source, parameters)} AS x{index}" for index, source in enumerate(sources)]
    return f"SELECT {', '.join(columns) or '0 AS nothing'} FROM {stored(table)}"


def _canonical(source: physical.Source, parameters: Parameters) -> str:
    text = f"TRY_CAST({source.name} AS {TYPES[source.kind]})"
    if source.kind == "float":  # -0.0 needs nothing: it equals 0.0 here in every comparison, join and group
        text = f"CASE WHEN isnan({text}) THEN NULL ELSE {text} END"
    elif source.kind == "text":  # strlen counts bytes and costs nothing
        most = source.letters
        text = f"CASE WHEN strlen({text}) <= {most:d} OR length({text}) <= {most:d} THEN {text} END"
    return text if source.fill is None else f"coalesce({text}, {parameters.constant(source.fill, source.kind)})"


def filtered(predicate: Predicate, source: str, columns: str, parameters: Parameters) -> list[tuple[str, str]]:
    """The rows for which it is true, with these columns, as steps of which the last is named `filtered`."""
    levels = Levels(parameters)
    condition = rows.truth(predicate, levels)
    source, more = levels.expressions(source, "f", [condition])
    if more:  # unnest of an empty list drops a row, and no optimiser pushes it down into the levels
        kept = f"unnest(CASE WHEN {condition.text} THEN [1] ELSE [] END) AS kept"
        return [*more, ("filtered", f"SELECT {columns}, {kept} FROM {source}")]
    return [("filtered", f"SELECT {columns} FROM {source} WHERE {condition.text}")]


def relation_text(node: physical.CoreRelation, stored: Names, parameters: Parameters, given: Given = NOTHING) -> str:
    """A query whose columns are x0, x1, ..."""
    if node in given:
        return f"SELECT {_all(node)} FROM {given[node]}"

    def text(below: physical.CoreRelation) -> str:
        return relation_text(below, stored, parameters, given)

    match node:
        case physical.Stored(table, sources, unit):
            inner = _stored(table, sources, stored, parameters)
            return inner if unit is None else f"SELECT * FROM ({inner}) WHERE x{unit} IS NOT NULL"
        case physical.Only(source, predicate):
            steps = [("below", text(source))]
            steps += filtered(predicate, "below", _all(node), parameters)
            return f"{_with(steps)} SELECT {_all(node)} FROM filtered"
        case physical.Columns(source, parts):
            levels = Levels(parameters)
            found = [rows.operand(part, levels) for part in parts]
            last, more = levels.expressions("below", "p", found)
            steps = [("below", text(source)), *more]
            made = ", ".join(f"{term.text} AS x{index}" for index, term in enumerate(found))
            return f"{_with(steps)} SELECT {made} FROM {last}"
        case physical.Groups(source, keys, folds):
            key = ", ".join(f"x{index}" for index in range(keys))
            raw = "".join(f", {_raw(fold, parameters)}".format(n=n) for n, fold in enumerate(folds))
            ends = "".join(f", {_made(fold, parameters).format(n=n)} AS x{keys + n}" for n, fold in enumerate(folds))
            inner = text(source)
            return f"SELECT {key}{ends} FROM (SELECT {key}{raw} FROM ({inner}) GROUP BY {key})"
        case physical.Match(source, other, on, other_on, keep):
            size = len(physical.columns_of(source))
            left, right = (text(one) for one in (source, other))
            theirs = ", ".join(f"right_.x{n} AS x{size + n}" for n in range(len(physical.columns_of(other))))
            equal = " AND ".join(f"left_.x{a} = right_.x{b}" for a, b in zip(on, other_on, strict=True))
            how = "LEFT JOIN" if keep else "JOIN"
            return f"SELECT left_.*, {theirs} FROM ({left}) AS left_ {how} ({right}) AS right_ ON {equal}"
        case physical.Both(source, other):
            sides = (text(one) for one in (source, other))
            return " UNION ALL ".join(f"SELECT {_all(node)} FROM ({side})" for side in sides)
        case physical.Ranked(source, keys, order):
            key = ", ".join(f"x{index}" for index in keys)
            along = ", ".join(
                f"x{one.column} {'DESC' if one.descending else 'ASC'} NULLS {'FIRST' if one.missing_first else 'LAST'}"
                for one in order)
            number = f"row_number() OVER (PARTITION BY {key} ORDER BY {along}) AS x{len(physical.columns_of(source))}"
            return f"SELECT *, {number} FROM ({text(source)})"
        case physical.Flag(source, unit, among, among_unit):
            left, right = (text(one) for one in (source, among))
            cohort = f"SELECT DISTINCT x{among_unit} AS w FROM ({right})"
            mark = f"CASE WHEN w IS NULL THEN 0::BIGINT ELSE 1::BIGINT END AS x{len(physical.columns_of(source))}"
            return f"SELECT left_.*, {mark} FROM ({left}) AS left_ LEFT JOIN ({cohort}) ON x{unit} = w"
        case physical.Found(source, on, other, unknown):
            left, right = (text(one) for one in (source, other))
            size = len(physical.columns_of(source))
            if unknown:  # the engine's own IN has SQL's rule for missing values
                return f"SELECT *, CAST(x{on[0]} IN (SELECT x0 FROM ({right})) AS BIGINT) AS x{size} FROM ({left})"
            listed = f"SELECT DISTINCT {', '.join(f'x{n} AS w{n}' for n in range(len(on)))} FROM ({right})"
            equal = " AND ".join(f"x{index} = w{n}" for n, index in enumerate(on))
            mark = f"CASE WHEN w0 IS NULL THEN 0::BIGINT ELSE 1::BIGINT END AS x{size}"
            return f"SELECT left_.*, {mark} FROM ({left}) AS left_ LEFT JOIN ({listed}) ON {equal}"


def _raw(fold: physical.Folded, parameters: Parameters) -> str:
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
            return f"CAST(sum({x}) AS HUGEINT) AS s{{n}}, count({x}) AS c{{n}}"
        case "sum_f" | "avg_f":
            bounds = (parameters.constant(end, "float") for end in (*fold.ends, 2.0**fold.exponent, 0.5))
            low, high, scale, half = bounds
            steps = f"CAST(floor({_clamp(x, low, high)} * {scale} + {half}) AS BIGINT)"
            least, most = (math.floor(end * 2.0**fold.exponent + 0.5) for end in fold.ends)
            if least < fold.steps[0] or most > fold.steps[1]:  # each operation is monotone, so else it is clamped
                steps = _clamp(steps, *(integer(step, "BIGINT") for step in fold.steps))
            return f"CAST(sum({steps}) AS HUGEINT) AS s{{n}}, count({x}) AS c{{n}}"
        case "least" | "greatest":
            return f"{'min' if fold.function == 'least' else 'max'}({x}) AS m{{n}}"
    order = f"{y} {'DESC' if fold.function == 'arg_greatest' else 'ASC'} NULLS LAST, {x} ASC NULLS LAST"
    return f"first({x} ORDER BY {order}) FILTER (WHERE {x} IS NOT NULL AND {y} IS NOT NULL) AS m{{n}}"


def _made(fold: physical.Folded, parameters: Parameters) -> str:
    """A fold from these."""
    match fold.function:
        case "rows" | "present" | "distinct":
            return "CAST(c{n} AS BIGINT)"
        case "sum_i":
            return "TRY_CAST(s{n} AS BIGINT)"
        case "sum_f" | "avg_f" | "avg_i":
            exact = _nearest("s{n}") if fold.function == "sum_f" else _quotient("s{n}", "greatest(c{n}, 1)")
            scaled = f"{exact} * {parameters.constant(2.0**-fold.exponent, 'float')}"
            if fold.exponent >= -800:  # a sum is below 2**126, so this is finite
                return f"CASE WHEN s{{n}} IS NOT NULL THEN {scaled} END"
            return f"CASE WHEN s{{n}} IS NOT NULL AND isfinite({scaled}) THEN {scaled} END"
    return "m{n}"


def _nearest(whole: str) -> str:
    """The double nearest to a 128-bit integer. In 64 bits as the processor converts it, which rounds once, to even.
    Below 2**85 it is h * 2**32 + l with h < 2**53 and l < 2**32: h, l and h * 2**32 are doubles, so one addition
    rounds, once. Beyond that by its digits, which DuckDB reads correctly rounded; its own cast of 128 bits rounds
    twice. The first is most sums, and six times as fast."""
    by_digits = f"TRY_CAST(CAST({whole} AS VARCHAR) AS DOUBLE)"
    added = _added(f"least(abs({whole}), {_most(85)})")
    within = f"{whole} BETWEEN {integer(INT64.start, 'HUGEINT')} AND {integer(INT64.stop - 1, 'HUGEINT')}"
    return (f"CASE WHEN {within} THEN CAST(TRY_CAST({whole} AS BIGINT) AS DOUBLE) WHEN abs({whole}) > {_most(85)} "
            f"THEN {by_digits} WHEN {whole} < 0 THEN -({added}) ELSE {added} END")


def _added(whole: str) -> str:
    """The double nearest to a 128-bit integer from 0 to 2**85 - 1."""
    high, low = f"CAST({whole} >> 32 AS BIGINT)", f"CAST({whole} & CAST('{2**32 - 1}' AS HUGEINT) AS BIGINT)"
    return f"CAST({high} AS DOUBLE) * CAST({2**32}.0 AS DOUBLE) + CAST({low} AS DOUBLE)"


def _most(bits: int) -> str:
    return f"CAST('{2**bits - 1}' AS HUGEINT)"


def _quotient(whole: str, count: str) -> str:
    """The double nearest to whole / count, count >= 1. Where both are doubles, as doubles divide. Else by long
    division: some bits more than the quotient has, and one that says whether anything is left, so that rounding these
    digits, 55 bits or more, rounds the quotient itself. 31 bits more do where the quotient has 25 to 54 bits, and make
    a number that `_added` takes; otherwise 61, read from digits."""
    small = f"CAST(CAST(greatest(least({whole}, {_EXACT}), -{_EXACT}) AS BIGINT) AS DOUBLE) / CAST({count} AS DOUBLE)"
    quotient = f"(abs({whole}) // {count})"

    def long(bits: int) -> str:
        more = f"CAST('{2**bits}' AS HUGEINT)"
        rest = f"((abs({whole}) % {count}) * {more})"
        return f"(({quotient} * {more} + {rest} // {count}) * 2 + CASE WHEN {rest} % {count} > 0 THEN 1 ELSE 0 END)"

    soon = f"({_added(f'least({long(30)}, {_most(85)})')}) / CAST({2**31}.0 AS DOUBLE)"
    late = f"TRY_CAST(CAST({long(60)} AS VARCHAR) AS DOUBLE) / CAST({2**61}.0 AS DOUBLE)"
    rounded = f"CASE WHEN {quotient} BETWEEN {2**24} AND {2**54 - 1} THEN {soon} ELSE {late} END"
    return f"CASE WHEN abs({whole}) <= {_EXACT} THEN {small} WHEN {whole} < 0 THEN -({rounded}) ELSE {rounded} END"


def _clamp(x: str, low: str, high: str) -> str:
    """NULL stays NULL."""
    return f"CASE WHEN {x} < {low} THEN {low} WHEN {x} > {high} THEN {high} ELSE {x} END"


_EXACT: Final = f"CAST('{2**53}' AS HUGEINT)"


def _all(node: physical.CoreRelation) -> str:
    return ", ".join(f"x{index}" for index in range(len(physical.columns_of(node))))


def _with(steps: Sequence[tuple[str, str]]) -> str:
    return f"WITH {', '.join(f'{name} AS ({text})' for name, text in steps)}"
