"""The core plan as one DuckDB query: each step a common table expression. Pure, so `explain` can show it.

Why it is right: the query says what `plan/core.py` says in types that cannot overflow under `limits.check_core`, and
uses no operation that can raise on a row: casts of data are TRY_CASTs or of values already clamped to the target type,
divisors are at least 1, and guards are `least`/`greatest` on the operand, so that they hold even where an optimiser
evaluates a CASE branch for a row that does not take it.

What reaches the text: names matched by the patterns in `limits` (t0, c0), names made here, and integers this package
computed, in decimal digits. Every text, double and key goes as a bound parameter, cast to its column's type; lists of
keys go as one array a column, so their length costs no parsing and no type is guessed from a sample. Row expressions
are written by `duckdb_rows`.

Why it is fast: keys are numbers before grouping; g is computed only if a unit can be in more than max_groups keys;
a sum is divided only for the groups that a cap binds, and of up to 2^26 rows in 64 bits, many times as fast as in 128;
sums that fit 64 bits stay there; only units that a cap binds are joined to their factor; rows of which the relation has
one for each unit, or unit and key, are not grouped again, and their caps are one: each group has r = 1, so t = g, and
f = min(1, max_groups / g, max_total / t) is min(1, min(max_groups, max_total) / g); no sum is divided, since c <= 1.
What is grouped by what a unit has elsewhere is added up by the unit before it is joined on it.
Checked in tests/engines (conformance, and a variant of this text with two floors must fail it).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dpcurator.catalog.model import Kind, Value
from dpcurator.engines.duckdb import distinct, rows
from dpcurator.engines.duckdb.coded import TEXTS, Number
from dpcurator.engines.duckdb.levels import TYPES, Parameters, integer
from dpcurator.engines.duckdb.relations import NOTHING, Given, filtered, relation_text
from dpcurator.engines.duckdb.relations import scan_text as scan_text
from dpcurator.engines.duckdb.weights import Weights, one_row_each, total_of
from dpcurator.engines.engine import sealed
from dpcurator.engines.levels import Levels
from dpcurator.engines.limits import MAX_RANGE, MAX_TABLE_ROWS, Parts, check_core
from dpcurator.language.rows import fields
from dpcurator.numbers.rational import INT64
from dpcurator.plan.core import Chosen, CorePlan, Grid, Histogram, Listed, Product, key_bytes
from dpcurator.plan.core_relations import Match, Stored, columns_of, distinct_columns, walk
from dpcurator.values import Exact

_ONCE = ("spread",)  # it numbers units, so whoever reads it must read the same
_LIES = "string_agg(b || ':' || d, ' ') AS lies"
_TALLIED = ("per_unit", "spread_out", "totals")  # read twice where units are tallied too: the rows are scanned once


@dataclass(frozen=True, slots=True)
class Statement:
    """Text with $1, $2, ... and their values. It answers rows in any order: the key, then one text per sum."""

    sql: str
    parameters: list[Any]
    keys: int | None  # how many are listed, numbered from 0; None where keys are chosen
    sums: int
    columns: int = 1  # in which a row says its key: its number, or a chosen key's values
    tallies: int = 0  # above 0: one row more, whose last column alone holds them, as texts; elsewhere that is NULL
    histograms: int = 0  # above 0: two columns more, NULL but in rows of a key: its histogram as a text, and which


@dataclass(frozen=True, slots=True)
class Query:
    """The totals of one core plan: common tables, of which `totals` has the columns `key` and t0, t1, ... of `sums`
    sums; `counted`, where there are tallies, one row of n0, n1, ...; and `lying0`, ..., one for each histogram, of
    which a row has the columns `key` and `lies`, as in '0:65536 7:131072', what lies at which candidate."""

    steps: str
    key: tuple[str, ...]
    kinds: tuple[Kind, ...]  # of a chosen key's values
    keys: int | None  # how many are listed; None where keys are chosen
    sums: int
    tallies: int = 0
    histograms: int = 0

    def exact(self, rows: Sequence[tuple[Sequence[Any] | None, list[str], int | None]]) -> Exact:
        """The totals under seal, from rows (key, sums, None) in texts; the row of tallies has no key; rows (key, [what
        lies where], number) are of a histogram."""
        tallies = next(([int(digits) for digits in found] for key, found, _ in rows if key is None), [])
        totals: dict[tuple[Value, ...], list[int]] = {}
        lying: list[tuple[tuple[Value, ...], str, int]] = []
        for texts, found, histogram in rows:
            if texts is None:
                continue
            key = tuple(_read(value, kind) for value, kind in zip(texts, self._kinds, strict=True))
            if histogram is None:
                totals[key] = [int(digits) for digits in found]
            else:
                lying.append((key, found[0], histogram))
        return sealed(totals, tallies, lying, self.keys, self.sums, self.histograms)

    @property
    def _kinds(self) -> tuple[Kind, ...]:
        """Of what a row says of its key: of a listed one, its number."""
        return self.kinds if self.keys is None else ("integer",)


def _read(text: str | None, kind: Kind) -> Value:
    return int(text) if text is not None and kind == "integer" else text


def statement(core: CorePlan, *, schema: str = "snapshot.main") -> Statement:
    """The query for a core plan. Raises Refusal where `check_core` does."""
    parameters = Parameters()
    found = query(core, parameters, lambda table: f"{schema}.{table}")
    sums = ", ".join(f"CAST(t{index} AS VARCHAR)" for index in range(found.sums))
    sql = f"WITH {found.steps}\nSELECT {', '.join(found.key)}, {sums} FROM totals"
    if found.tallies:
        counts = ", ".join(f"CAST(n{index} AS VARCHAR)" for index in range(found.tallies))
        nothing = ", ".join(["NULL"] * (len(found.key) + found.sums))
        sql = f"WITH {found.steps}\nSELECT {', '.join(found.key)}, {sums}, NULL FROM totals"
        sql += f"\nUNION ALL\nSELECT {nothing}, [{counts}] FROM counted"
    if found.histograms:
        columns = ", ".join([*found.key, *(f"s{index}" for index in range(found.sums + bool(found.tallies)))])
        nothing = ", ".join(["NULL"] * (found.sums + bool(found.tallies)))
        head, _, tail = sql.partition("\nSELECT ")
        sql = f"{head}\nSELECT *, NULL, NULL FROM (SELECT {tail}) AS found({columns})"
        for number in range(found.histograms):
            sql += f"\nUNION ALL\nSELECT {', '.join(found.key)}, {nothing}, lies, {number} FROM lying{number}"
    return Statement(sql, parameters.values, found.keys, found.sums, len(found.key), found.tallies, found.histograms)


def query(
    core: CorePlan, parameters: Parameters, stored: Callable[[str], str], given: Given = NOTHING
) -> Query:
    """The totals of a core plan; `stored` says what to read a table from, `given` a relation. Raises Refusal where
    `check_core` does."""
    parts = check_core(core)
    key = key_columns(parts)
    node = joined_on_unit(parts)
    if node is not None:
        steps = _before_the_join(parts, node, stored, parameters, given)
        return query_of(parts, [*steps, *of_units(parts, key, parameters)])
    source, steps = _rows(parts, stored, parameters, given)
    steps += keyed(parts, source, parameters)
    steps += with_products(parts.products, parts.grids, _measure(parts, key, parameters))
    if parts.owner is None:
        steps += _each_row(parts, key, parameters)
    else:
        steps.append(("per_unit", _per_unit(parts, key)))
        steps += of_units(parts, key, parameters)
    return query_of(parts, steps)


def joined_on_unit(parts: Parts) -> Match | None:
    """The join by the unit alone whose left side has all that is measured, and whose right side has all that is grouped
    by: its rows may be added up by the unit before they are joined. Not on a public table with several rows of a unit:
    c and S would be multiplied by their number, past the rows that `limits.py` counts on."""
    node = parts.scan.table
    if not isinstance(node, Match) or parts.owner is None or parts.predicate is not None:
        return None
    if parts.distinct or parts.histograms or distinct_columns(node.source) == frozenset(node.on):
        return None
    if _fans_out(node):
        return None
    left, right = sides(parts, node)
    measured = {grid.column for grid in parts.grids}
    fits = measured <= left and set(parts.keys.columns) <= right and len(left) + len(right) == len(parts.kinds)
    return node if fits and node.on == (_column_of(parts, parts.owner),) else None


def _fans_out(node: Match) -> bool:
    """Whether a unit's rows may meet several each: in a public relation that is not unique there. One of units' own
    rows has one of a unit at most, as `plan/bind_joins.py` sees to."""
    private = any(one.unit is not None for one in walk(node.other) if isinstance(one, Stored))
    found = distinct_columns(node.other)
    return not private and (found is None or not found <= set(node.other_on))


def _column_of(parts: Parts, column: int) -> int:
    """Where a scanned column is in the relation."""
    return int(parts.scan.columns[column].name.removeprefix("c"))


def sides(parts: Parts, node: Match) -> tuple[set[int], set[int]]:
    """Which of the columns, scanned and computed, are of the left side of a join, and which of the right."""
    size, scanned = len(columns_of(node.source)), len(parts.scan.columns)
    left = {index for index in range(scanned) if _column_of(parts, index) < size}
    both = left, set(range(scanned)) - left
    for number, part in enumerate(parts.computed):
        for side in both:
            if (used := fields(part)) and used <= side:
                side.add(scanned + number)
    return both


def _before_the_join(
    parts: Parts, node: Match, stored: Callable[[str], str], parameters: Parameters, given: Given
) -> list[tuple[str, str]]:
    """The steps to `per_unit` where a join compares the unit alone: the left side's rows are added up by the unit, then
    joined, and what meets in one key is added up. Every row of a unit meets the same rows of the right side, say m of
    them in a key: so r rows become m r, as many as m times r added up, and likewise c and S, whatever m is; and a
    value is outside its bounds there if it is so in some row."""
    left, right = sides(parts, node)
    owner, size, scanned = parts.owner, len(columns_of(node.source)), len(parts.scan.columns)
    texts = [relation_text(one, stored, parameters, given) for one in (node.source, node.other)]
    mine, its = (sorted(index for index in side if index < scanned) for side in (left, right))
    columns = ", ".join(f"x{_column_of(parts, index)} AS x{index}" for index in mine)
    steps = [("mine", f"SELECT {columns} FROM ({texts[0]})")]
    source, more = _computed_of(parts, left, "mine", parameters)
    grids = "".join(f", {grid_text(grid, parameters)} AS v{index}" for index, grid in enumerate(parts.grids))
    grids += "".join(f", {outside_text(parts.grids[index], parameters)} AS o{index}" for index in clamped_of(parts))
    text = f"SELECT x{owner} AS u{grids} FROM {source} WHERE x{owner} IS NOT NULL"
    steps += [*more, *with_products(parts.products, parts.grids, text)]
    present, summed = measures_of(parts)
    sums = "".join(f", count(v{counted_as(parts, index)}) AS c{index}" for index in present)
    sums += "".join(f", {summed_text(parts, index, f'sum(v{index})')} AS s{index}" for index in summed)
    sums += "".join(f", bool_or(o{index}) AS o{index}" for index in clamped_of(parts))
    steps.append(("added", f"SELECT u, count(*) AS r{sums} FROM measured GROUP BY u"))
    other = "".join(f", right_.x{_column_of(parts, index) - size} AS x{index}" for index in its)
    how = "LEFT JOIN" if node.left else "JOIN"
    steps.append(("met", f"SELECT added.*, u AS x{owner}{other} FROM added {how} ({texts[1]}) AS right_"
                         f" ON u = right_.x{node.other_on[0]}"))
    source, more = _computed_of(parts, right, "met", parameters)
    steps += [*more, *keyed(parts, source, parameters)]
    whole = "".join(f", CAST(sum({name}) AS BIGINT) AS {name}" for name in ("r", *(f"c{index}" for index in present)))
    whole += "".join(f", {summed_text(parts, index, f'sum(s{index})')} AS s{index}" for index in summed)
    whole += "".join(f", bool_or(o{index}) AS o{index}" for index in clamped_of(parts))
    k = ", ".join(key_columns(parts))
    return [*steps, ("per_unit", f"SELECT u, {k}{whole} FROM keyed GROUP BY u, {k}")]


def _computed_of(
    parts: Parts, side: set[int], source: str, parameters: Parameters
) -> tuple[str, list[tuple[str, str]]]:
    """The computed columns of one side of a join, beside all that there is."""
    scanned = len(parts.scan.columns)
    wanted = [number for number in range(len(parts.computed)) if scanned + number in side]
    if not wanted:
        return source, []
    levels = Levels(parameters)
    found = [rows.operand(parts.computed[number], levels) for number in wanted]
    last, more = levels.expressions(source, f"{source}_", found)
    made = ", ".join(f"{term.text} AS x{scanned + number}" for number, term in zip(wanted, found, strict=True))
    return f"{source}_made", [*more, (f"{source}_made", f"SELECT *, {made} FROM {last}")]


def query_of(parts: Parts, steps: list[tuple[str, str]]) -> Query:
    key = key_columns(parts)
    once = (*_ONCE, *(distinct.once(parts) if parts.distinct else ()), *(_TALLIED if parts.tallies else ()))
    text = ",\n".join(f"{name} AS {'MATERIALIZED ' if name in once else ''}({step})" for name, step in steps)
    listed = len(parts.keys.keys) if isinstance(parts.keys, Listed) else None
    kinds = () if isinstance(parts.keys, Listed) else tuple(parts.kinds[column] for column in parts.keys.columns)
    return Query(text, tuple(key), kinds, listed, len(parts.sums), len(parts.tallies), len(parts.histograms))


def _rows(
    parts: Parts, stored: Callable[[str], str], parameters: Parameters, given: Given
) -> tuple[str, list[tuple[str, str]]]:
    """The rows scanned, filtered and computed: the name of the last step, and the steps."""
    steps = [("scanned", scan_text(parts.scan, stored, parameters, given))]
    columns = ", ".join(f"x{index}" for index in range(len(parts.scan.columns))) or "nothing"
    source = "scanned"
    if parts.predicate is not None:
        steps += filtered(parts.predicate, source, columns, parameters)
        source = "filtered"
    if parts.computed:
        levels = Levels(parameters)
        found = [rows.operand(part, levels) for part in parts.computed]
        source, more = levels.expressions(source, "p", found)
        computed = ", ".join(f"{term.text} AS x{len(parts.scan.columns) + n}" for n, term in enumerate(found))
        steps += [*more, ("projected", f"SELECT {columns}, {computed} FROM {source}")]
        source = "projected"
    return source, steps


def key_columns(parts: Parts) -> list[str]:
    return ["k"] if isinstance(parts.keys, Listed) else [f"y{index}" for index in range(len(parts.keys.columns))]


def keyed(parts: Parts, source: str, parameters: Parameters) -> list[tuple[str, str]]:
    """Owned rows with the number of their key, or with the values of a key to be chosen."""
    owned = "" if parts.owner is None else f" WHERE x{parts.owner} IS NOT NULL"
    if isinstance(parts.keys, Listed):
        return [("listed", _list(parts, parts.keys, parameters)), ("keyed", _numbered(parts.keys, source, owned))]
    key = ", ".join(f"x{column} AS y{index}" for index, column in enumerate(parts.keys.columns))
    return [("keyed", f"SELECT *, {key} FROM {source}{owned}")]


def _list(parts: Parts, listed: Listed, parameters: Parameters) -> str:
    """The list as a table: its columns y0, y1, ... and each key's number k."""
    kinds = [parts.kinds[column] for column in listed.columns]
    arrays = [
        parameters.bind([_key(key[index], kind) for key in listed.keys], f"{TYPES[kind]}[]")
        for index, kind in enumerate(kinds)
    ]
    columns = "".join(f", unnest({array}) AS y{index}" for index, array in enumerate(arrays))
    size = len(listed.keys)
    number = "UTINYINT" if size <= 2**8 else "USMALLINT" if size <= 2**16 else "UINTEGER"  # narrow groups are faster
    return f"SELECT CAST(unnest(range({size})) AS {number}) AS k{columns}"


def _key(value: Value, kind: Kind) -> Value:
    return float(value) + 0.0 if kind == "float" and value is not None else value


def _numbered(listed: Listed, source: str, owned: str) -> str:
    """`=` where no listed value is missing: no other row can match then."""
    on = " AND ".join(
        f"x{column} {'IS NOT DISTINCT FROM' if _any_missing(listed, index) else '='} y{index}"
        for index, column in enumerate(listed.columns)
    )
    join = f"JOIN listed ON {on}" if on else "CROSS JOIN listed"  # without columns: one key or none
    return f"SELECT * FROM {source} {join}{owned}"


def _any_missing(listed: Listed, index: int) -> bool:
    return any(key[index] is None for key in listed.keys)


def _measure(parts: Parts, key: list[str], parameters: Parameters) -> str:
    owner = "" if parts.owner is None else f", x{parts.owner} AS u"
    grids = "".join(f", {grid_text(grid, parameters)} AS v{index}" for index, grid in enumerate(parts.grids))
    grids += "".join(f", {outside_text(parts.grids[index], parameters)} AS o{index}" for index in clamped_of(parts))
    values = distinct.value_columns(parts) if parts.distinct else ""
    return f"SELECT {', '.join(key)}{owner}{grids}{values} FROM keyed"


def grid_text(grid: Grid, parameters: Parameters) -> str:
    """0 .. upper - lower as BIGINT, or NULL. Clamped before any arithmetic, so nothing can overflow."""
    x = f"x{grid.column}"
    if grid.kind == "text":
        return f"CASE WHEN {x} IS NOT NULL THEN 0::BIGINT END"
    if grid.kind == "integer":
        clamps = int(grid.clamp_lower), int(grid.clamp_upper)
        wide = _wide(*clamps, grid.lower)
        steps = _clamp(x, *(integer(bound, wide) for bound in clamps))
    else:
        bounds = float(grid.clamp_lower), float(grid.clamp_upper)
        least, most = (math.floor(bound * 2.0**grid.exponent + 0.5) for bound in bounds)
        low, high, scale, half = (parameters.constant(value, "float") for value in (*bounds, 2.0**grid.exponent, 0.5))
        wide = _wide(least, most, grid.lower, grid.upper)
        steps = f"CAST(floor({_clamp(x, low, high)} * {scale} + {half}) AS {wide})"
        if least < grid.lower or most > grid.upper:  # each of the float64 operations is monotone, so else it is clamped
            steps = _clamp(steps, integer(grid.lower, wide), integer(grid.upper, wide))
    return f"CAST({steps} - {integer(grid.lower, wide)} AS BIGINT)"


def with_products(products: Sequence[Product], grids: Sequence[Grid], text: str) -> list[tuple[str, str]]:
    """The step `measured`, and before it, where there are products, the one that it multiplies the columns of."""
    if not products:
        return [("measured", text)]
    made = "".join(f", {product_text(one, grids)} AS v{len(grids) + n}" for n, one in enumerate(products))
    return [("factors", text), ("measured", f"SELECT *{made} FROM factors")]


def product_text(product: Product, grids: Sequence[Grid]) -> str:
    """0 .. upper - lower as BIGINT, or NULL. What is shifted is never negative: as many whole steps are added before
    as the product can be below 0, and taken off after."""
    widths = [grids[place].upper - grids[place].lower for place in (product.first, product.second)]
    most, half = widths[0] * widths[1], 2**product.shift >> 1
    steps = 0 if product.first == product.second else -(-most // 2**product.shift)
    wide = _wide(most + half + (steps << product.shift))
    factors = (
        f"CAST(v{place} - {integer(width, 'BIGINT')} + v{place} AS {wide})"  # 2 a - A, never past A in between
        for place, width in zip((product.first, product.second), widths, strict=True)
    )
    text = f"{' * '.join(factors)} + {integer(half + (steps << product.shift), wide)}"
    text = f"(({text}) >> {integer(product.shift, wide)})" if product.shift else f"({text})"
    least, most = ((end + half) >> product.shift for end in (0 if product.first == product.second else -most, most))
    if least < product.lower or most > product.upper:  # else it is clamped
        text = _clamp(f"({text})", *(integer(end + steps, wide) for end in (product.lower, product.upper)))
    return f"CAST({text} - {integer(product.lower + steps, wide)} AS BIGINT)"


def outside_text(grid: Grid, parameters: Parameters) -> str:
    """Whether a value is beyond what it is clamped to; false where it is missing."""
    x = f"x{grid.column}"
    if grid.kind == "integer":
        low, high = (integer(int(bound), _wide(int(bound))) for bound in (grid.clamp_lower, grid.clamp_upper))
    else:
        low, high = (parameters.constant(float(bound), "float") for bound in (grid.clamp_lower, grid.clamp_upper))
    return f"coalesce({x} < {low} OR {x} > {high}, false)"


def clamped_of(parts: Parts) -> list[int]:
    """The measures of which a tally asks whether a value is clamped."""
    return sorted({measure for tally in parts.tallies for measure in tally.measures})


def _clamp(x: str, low: str, high: str) -> str:
    """NULL stays NULL (greatest and least would pass it over)."""
    return f"CASE WHEN {x} < {low} THEN {low} WHEN {x} > {high} THEN {high} ELSE {x} END"


def _wide(*values: int) -> str:
    return "BIGINT" if all(value in INT64 for value in values) else "HUGEINT"


def _each_row(parts: Parts, key: list[str], parameters: Parameters) -> list[tuple[str, str]]:
    """Each row a unit: g = 1 and c <= 1, so n' is one * c and S' is one * S."""
    one = integer(parts.scale.one, "HUGEINT")
    what = {"rows": "count(*)", "units": "count(*)", "present": "count(v{0})", "values": "coalesce(sum(v{0}), 0)"}
    totals = ", ".join(
        f"{one} * {what[sum_.what].format(sum_.measure)} AS t{index}" for index, sum_ in enumerate(parts.sums)
        if sum_.what != "distinct"
    )
    k = ", ".join(key)
    counts = []  # of each key; no row is in two, so they add up
    for index, tally in enumerate(parts.tallies):
        outside = " OR ".join(f"o{measure}" for measure in tally.measures) or "false"
        where = "" if tally.what == "everyone" else f" FILTER (WHERE {outside})"
        counts.append(f", count(*){where} AS m{index}")
    found = []
    for number, lie in enumerate(parts.histograms):
        counted = f"SELECT {k}, {_place(lie)} AS b, {one} * count(*) AS d"
        counted += f" FROM measured WHERE v{lie.measure} IS NOT NULL GROUP BY {k}, b"
        found.append((f"lying{number}", f"SELECT {k}, {_LIES} FROM ({counted}) GROUP BY {k}"))
    columns = ", ".join([k, *filter(None, [totals])]) + "".join(counts)
    found += _with_distinct(parts, key, columns, "measured", parameters)
    added = ", ".join(f"coalesce(sum(m{index}), 0) AS n{index}" for index in range(len(counts)))
    return [*found, ("counted", f"SELECT {added} FROM totals")] if counts else found


def _per_unit(parts: Parts, key: list[str]) -> str:
    """Per (unit, key): its rows, and the present values and the sum of each measure that a sum is of."""
    present, summed = measures_of(parts)
    if one_row_each(parts):
        one = "CASE WHEN v{} IS NULL THEN 0::BIGINT ELSE 1::BIGINT END"
        columns = "".join(f", {one.format(counted_as(parts, index))} AS c{index}" for index in present)
        columns += "".join(f", coalesce(v{index}, 0) AS s{index}" for index in summed)
        columns += "".join(f", CAST('1' AS UBIGINT) AS a{number}" for number in range(len(parts.histograms)))
        columns += "".join(f", o{index}" for index in clamped_of(parts))
        return f"SELECT u, {', '.join(key)}, 1::BIGINT AS r{columns} FROM measured"
    counts = "".join(f", count(v{counted_as(parts, index)}) AS c{index}" for index in present)
    columns = counts + "".join(f", {summed_text(parts, index, f'sum(v{index})')} AS s{index}" for index in summed)
    columns += "".join(  # of as many bits as there are values only where no two have a candidate in common
        f", bit_or(CAST('1' AS UBIGINT) << CAST({_place(lie)} % 64 AS UBIGINT)) AS a{number}"
        for number, lie in enumerate(parts.histograms)
    )
    columns += "".join(f", bool_or(o{index}) AS o{index}" for index in clamped_of(parts))
    k = ", ".join(key)
    return f"SELECT u, {k}, count(*) AS r{columns} FROM measured GROUP BY u, {k}"


def summed_text(parts: Parts, measure: int, total: str) -> str:
    """The sum of a unit's values in a key, 0 of none; in 64 bits where it cannot pass them, whatever the rows are."""
    narrow = parts.width(measure) * MAX_TABLE_ROWS <= MAX_RANGE
    return f"coalesce({f'CAST({total} AS BIGINT)' if narrow else total}, 0)"


def measures_of(parts: Parts) -> tuple[list[int], list[int]]:
    """The measures whose present values are counted, and those of them that are summed."""
    present = sorted({*(sum_.measure for sum_ in parts.sums if sum_.what in ("present", "values")),
                      *(lie.measure for lie in parts.histograms)})
    return present, sorted({sum_.measure for sum_ in parts.sums if sum_.what == "values"})


def counted_as(parts: Parts, measure: int) -> int:
    """The measured column that is present where this one is: a square is where its column is."""
    if measure < len(parts.grids):
        return measure
    product = parts.products[measure - len(parts.grids)]
    return product.first if product.first == product.second else measure


def of_units(parts: Parts, key: list[str], parameters: Parameters) -> list[tuple[str, str]]:
    """From `per_unit`: each unit's factor where a cap can bind; n' and S'; totals."""
    k = ", ".join(key)
    steps: list[tuple[str, str]] = []
    weights, source = Weights.of(parts), "per_unit"
    single = one_row_each(parts)
    if isinstance(parts.keys, Chosen):
        steps += _choose(parts, parts.keys, key, parameters)
        source = "kept"
    if weights.bind or parts.tallies:
        of_unit = weights.columns() + _facts(parts)
        steps.append(("spread_out", f"SELECT u AS w, {of_unit} FROM {source} GROUP BY u"))
    if weights.bind:
        steps.append(("weighed", f"SELECT w, {weights.factor()} FROM spread_out WHERE {weights.bound()}"))
        source = f"{source} LEFT JOIN weighed ON u = w"
    totals = [f"{total_of(parts, sum_, weights, single)} AS t{index}" for index, sum_ in enumerate(parts.sums)
              if sum_.what != "distinct"]
    steps += _with_distinct(parts, key, ", ".join([k, *totals]), source, parameters)
    steps += [step for number in range(len(parts.histograms)) for step in _lying(parts, number, key, source, weights)]
    return [*steps, ("counted", _counted(parts, weights))] if parts.tallies else steps


def _with_distinct(
    parts: Parts, key: list[str], columns: str, source: str, parameters: Parameters
) -> list[tuple[str, str]]:
    """The step `totals`, of these columns by key; and before it, where there are any, the numbers of different values.
    Where these are all that is wanted of listed keys, units are not grouped for anything else."""
    totals = f"SELECT {columns} FROM {source} GROUP BY {', '.join(key)}"
    if not parts.distinct:
        return [("totals", totals)]
    alone = all(sum_.what == "distinct" for sum_ in parts.sums) and not parts.tallies and not parts.histograms
    steps = distinct.different_values(parts, key, parameters, _bytes, unit_text)
    return [*steps, ("totals", distinct.joined(parts, None if alone else totals, key))]


def _lying(parts: Parts, number: int, key: list[str], source: str, weights: Weights) -> list[tuple[str, str]]:
    """The sum of floor(d n' / c) at each candidate, from each unit's own d there and c in all.

    A row of a unit that no cap scales down counts whole, and of listed keys only those of the others are looked up.
    For these it is d floor(n' / c) + floor(d (n' mod c) / c), the second being 0 where d (n' mod c) < c: so each row
    adds the first, and rows are grouped by unit and candidate again only where so many may lie together, which are at
    most c - a + 1 where a candidates differ. d (n' mod c) <= c n', in 64 bits where c is so small, else below 2**84."""
    lie, scale, k = parts.histograms[number], parts.scale, ", ".join(key)
    c, v = f"c{lie.measure}", f"v{lie.measure}"
    b = _place(lie)
    if one_row_each(parts) and not weights.bind and isinstance(parts.keys, Listed):
        counted = f"SELECT {k}, {b} AS b, {integer(scale.one, 'HUGEINT')} * count(*) AS d FROM measured"
        return [(f"lying{number}",
                 f"SELECT {k}, {_LIES} FROM ({counted} WHERE {v} IS NOT NULL GROUP BY {k}, b) GROUP BY {k}")]
    count = weights.scaled(f"{integer(scale.one, 'BIGINT')} * least({c}, {integer(scale.max_rows, 'BIGINT')})")
    own = ", ".join(f"{name} AS h{index}" for index, name in enumerate(key))
    listed = isinstance(parts.keys, Listed)
    on = " AND ".join(  # chosen keys may be missing
        f"{name} {'=' if listed else 'IS NOT DISTINCT FROM'} h{index}" for index, name in enumerate(key)
    )
    free = f"{c} <= {scale.max_rows}{weights.free()}"
    bound = f" WHERE {c} > 0 AND NOT ({free})" if listed else ""  # rows of keys that are not chosen are dropped
    narrow = integer(MAX_RANGE // (scale.one * scale.max_rows), "BIGINT")
    share = f"CASE WHEN c <= {narrow} THEN least(d, {narrow}) * m // c"
    share += " ELSE CAST(CAST(d AS HUGEINT) * m // c AS BIGINT) END"
    weighed, found = f"weighed_rows{number}", f"lying_rows{number}"
    return [
        (f"bound_rows{number}",
         f"SELECT u AS o, {own}, CAST({count} AS BIGINT) AS n, greatest({c}, 1) AS c, bit_count(a{number}) AS a"
         f" FROM {source}{bound}"),
        (weighed, f"SELECT * EXCLUDE (n, a), n // c AS q,"
                  f" CASE WHEN c - a + 1 <= (c - 1) // greatest(n % c, 1) THEN 0 ELSE n % c END AS m"
                  f" FROM bound_rows{number}"),
        (found, f"SELECT u, {k}, {b} AS b, c, q, m FROM measured {'LEFT ' if listed else ''}JOIN {weighed}"
                f" ON u = o AND {on} WHERE {v} IS NOT NULL"),
        (f"found{number}",
         f"SELECT {k}, b, sum(coalesce(q, {integer(scale.one, 'BIGINT')})) AS d FROM {found} GROUP BY {k}, b"
         f" UNION ALL SELECT {k}, b, sum({share}) AS d FROM (SELECT {k}, b, count(*) AS d, any_value(m) AS m,"
         f" any_value(c) AS c FROM {found} WHERE m > 0 GROUP BY u, {k}, b HAVING count(*) > 1) GROUP BY {k}, b"),
        (f"lying{number}",
         f"SELECT {k}, {_LIES} FROM (SELECT {k}, b, sum(d) AS d FROM found{number} GROUP BY {k}, b) GROUP BY {k}"),
    ]


def _place(lie: Histogram) -> str:
    """At which candidate a row's value lies: there are at most 2**16."""
    place = f"v{lie.measure}" if lie.step == 1 else f"v{lie.measure} // {integer(lie.step, 'BIGINT')}"
    return f"CAST({place} AS USMALLINT)"


def _facts(parts: Parts) -> str:
    """Of a unit, for its tallies: the most rows it has under one key, and whether it has a value outside its bounds."""
    outside = "".join(f", bool_or(o{index}) AS o{index}" for index in clamped_of(parts))
    return f", max(r) AS longest{outside}" if parts.tallies else ""


def _counted(parts: Parts, weights: Weights) -> str:
    """The tallies. Units that lost keys are those of `spread`, whatever they have under the keys that are kept."""
    scale, chosen = weights.scale, isinstance(parts.keys, Chosen)
    groups = [f"g > {integer(weights.h, 'BIGINT')}"] if weights.groups and not chosen else []
    rows = [f"longest > {integer(scale.max_rows, 'BIGINT')}"]
    if weights.total and scale.max_total is not None:
        rows.append(f"t > {integer(scale.max_total, 'BIGINT')}")
    least = scale.max_total if weights.total and scale.max_total is not None and scale.max_total < weights.h else None
    more = [] if least is None else [f"g > {integer(least, 'BIGINT')}"]
    found = []
    for index, tally in enumerate(parts.tallies):
        outside = [f"o{measure}" for measure in tally.measures]
        caps = [*groups, *(rows if tally.what == "cut" else more), *outside]
        where = "" if tally.what == "everyone" else f" FILTER (WHERE {' OR '.join(caps) or 'false'})"
        lost = "(SELECT count(*) FROM spread) + " if chosen else ""
        found.append(f"{lost}count(*){where} AS n{index}")
    return f"SELECT {', '.join(found)} FROM spread_out{' ANTI JOIN spread USING (w)' if chosen else ''}"


def _choose(parts: Parts, chosen: Chosen, key: list[str], parameters: Parameters) -> list[tuple[str, str]]:
    """Each unit's first keys by the md5 of key_bytes; only units with too many are put in order.

    What is put in order is a number of the unit and the md5 alone: DuckDB holds all of one unit's rows at once for
    that, and with texts one person's rows would not fit (8,000 long notes took a gigabyte).
    """
    most = integer(chosen.max_groups, "HUGEINT" if chosen.max_groups not in INT64 else "BIGINT")
    assert parts.owner is not None
    unit, kind, looked_up = unit_text(parts)
    kinds = [kind, *(parts.kinds[column] for column in chosen.columns)]
    salt = parameters.constant(key_bytes(chosen.salt, "", ())[: -len(b"t0:")].decode(), "text")
    made = [_bytes(unit, kind, False), *(_bytes(name, one) for name, one in zip(key, kinds[1:], strict=True))]
    text = f"concat({', '.join([salt, *made])})"
    place = "count(*) OVER (PARTITION BY i ORDER BY b RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"
    return [
        ("spread", f"SELECT {'w, unit' if looked_up else 'w'}, row_number() OVER () AS i FROM"
                   f" (SELECT u AS w FROM per_unit GROUP BY u HAVING count(*) > {most}){looked_up}"),
        ("many", f"SELECT per_unit.*, i, md5({text}) AS b FROM per_unit JOIN spread ON u = w"),
        ("placed", f"SELECT i AS w, b AS chosen FROM (SELECT i, b, {place} AS place FROM many) WHERE place <= {most}"),
        ("kept", "SELECT * FROM per_unit ANTI JOIN spread ON u = w"
                 " UNION ALL SELECT * EXCLUDE (i, b) FROM many SEMI JOIN placed ON i = w AND b = chosen"),
    ]


def unit_text(parts: Parts) -> tuple[str, Kind, str]:
    """What a unit is hashed as, and its kind: itself; or where it is a number for a text, the text as `unit`, with a
    join that looks it up for units w."""
    assert parts.owner is not None
    if isinstance(parts.scan.columns[parts.owner], Number):
        return "unit", "text", f" JOIN {TEXTS} ON w = code"
    return "u", parts.kinds[parts.owner], ""


def _bytes(name: str, kind: Kind, missing: bool = True) -> str:
    """One value's part of `key_bytes`, as arguments of one `concat`, which is faster than several `||`; `strlen` counts
    bytes. missing: whether it may be."""
    text = name if kind == "text" else f"CAST({name} AS VARCHAR)"
    made = f"'{'t' if kind == 'text' else 'i'}', strlen({text}), ':', {text}"
    return f"CASE WHEN {name} IS NULL THEN 'n0:' ELSE concat({made}) END" if missing else made
