"""The core plan as one Spark statement: each step a common table expression. Pure, so it can be shown.

Why it is right: the statement says what `plan/core.py` says, in types that cannot overflow under `limits.check_core`,
and uses no operation that can raise on a row in ANSI mode: what is cast is in range or missing, divisors are at least
1, and a number is clamped before it is computed with. Numbers of 64 bits are used where the limits' bounds fit them,
else DECIMAL(38,0). Every order is by md5 of `key_bytes` and of rows that are equal in it all are counted, so nothing
depends on partitions. A unit's numbers over its keys are window functions, never joins of a table with itself.

How it is run: rows are read, and grouped by unit and key; where a cap binds over keys they go to their unit; then to
their key. What the statement answers in one column apiece are the totals, the tallies, each histogram and each count of
different values; each reads what is below it by itself, in a fixed number of shuffles (docs/scale.md).
Checked in tests/engines (conformance, by hand, mutations).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dpcurator.catalog.model import Kind, Value
from dpcurator.engines.engine import sealed
from dpcurator.engines.levels import Levels
from dpcurator.engines.limits import MAX_RANGE, MAX_TABLE_ROWS, Parts, check_core
from dpcurator.engines.spark import rows
from dpcurator.engines.spark.caps import Caps
from dpcurator.engines.spark.constants import TYPES, WIDE, Constants, clamp, divided, integer, text, wide
from dpcurator.engines.spark.relations import Names, filtered, scan_text
from dpcurator.language.rows import require
from dpcurator.plan.core import Chosen, CorePlan, Distinct, Grid, Histogram, Listed, Product, key_bytes
from dpcurator.values import Exact

ALL: Final = Constants()
MOST_TABLES: Final = 120  # selections of one plan: Spark reads and plans them by calls inside one another
TOO_DEEP: Final = ("on Spark this question has too many functions inside one another; leave some out, or compute them "
                   "before the data is read")
MOST_CASTS: Final = 60_000  # of one plan, a constant of a list being one: Spark reads them one by one into its memory
TOO_LONG: Final = ("on Spark this question has too many values in its lists; put them in a public table, as in "
                   "x IN (SELECT k FROM listed), or leave some out")
SMALL_LIST: Final = 2**18  # keys: so many are sent to every executor, whose rows then stay where they are
Steps = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Statement:
    """The statement for several core plans: rows (plan, what, key, numbers), all of them texts.

    what: t, the sums of a key; n, the tallies, without a key; h0, ..., what lies where in a histogram, as in
    '0:65536 7:131072'; d0, ..., how many different values there are.
    """

    sql: str
    parts: tuple[Parts, ...]

    def exact(self, found: Iterable[Sequence[Any]]) -> tuple[Exact, ...]:
        """Each plan's totals, under seal."""
        of: list[list[Sequence[Any]]] = [[] for _ in self.parts]
        for plan, *row in found:
            of[int(plan)].append(row)
        return tuple(_exact(parts, mine) for parts, mine in zip(self.parts, of, strict=True))


def _exact(parts: Parts, found: list[Sequence[Any]]) -> Exact:
    listed = isinstance(parts.keys, Listed)
    kinds: tuple[Kind, ...] = ("integer",) if listed else tuple(parts.kinds[column] for column in parts.keys.columns)
    totals: dict[tuple[Value, ...], list[int]] = {}
    valued: dict[tuple[str, tuple[Value, ...]], int] = {}
    tallies, lying = list[int](), list[tuple[tuple[Value, ...], str, int]]()
    for what, texts, numbers in found:
        if what == "n":
            tallies = [int(digits) for digits in numbers]
            continue
        key = tuple(_read(one, kind) for one, kind in zip(texts, kinds, strict=True))
        if what == "t":
            totals[key] = [int(digits) for digits in numbers]
        elif what.startswith("h"):
            lying.append((key, numbers[0], int(what[1:])))
        else:
            valued[what, key] = int(numbers[0])
    for key, sums in totals.items():
        for index, one in enumerate(parts.sums):
            if one.what == "distinct":
                sums[index] = valued.get((f"d{one.measure}", key), 0)
    keys = len(parts.listed.keys) if listed else None
    return sealed(totals, tallies, lying, keys, len(parts.sums), len(parts.histograms))


def _read(found: str | None, kind: Kind) -> Value:
    return int(found) if found is not None and kind == "integer" else found


def statement(cores: Sequence[CorePlan], stored: Names) -> Statement:
    """The statement for these core plans; `stored` says what a table is read from. Raises Refusal where `check_core`
    does, and where a plan is deeper than Spark's planner takes, which is a fact of the plan."""
    checked = tuple(check_core(core) for core in cores)
    branches = [_branch(number, parts, stored) for number, parts in enumerate(checked)]
    require(all(branch.count("SELECT ") <= MOST_TABLES for branch in branches), TOO_DEEP)
    require(all(branch.count("CAST(") <= MOST_CASTS for branch in branches), TOO_LONG)
    return Statement("\nUNION ALL\n".join(branches), checked)


def _branch(number: int, parts: Parts, stored: Names) -> str:
    """A plan's answers, as texts."""
    key = key_columns(parts)
    steps, found = _steps(parts, key, stored)
    named = ", ".join(f"CAST({name} AS STRING)" for name in key)

    def answer(what: str, numbers: Sequence[str], table: str) -> str:
        of = "CAST(NULL AS ARRAY<STRING>)" if what == "n" else f"array({named})"
        said = ", ".join(f"CAST({one} AS STRING)" for one in numbers)
        return f"SELECT '{number:d}' AS plan, '{what}' AS what, {of} AS of_key, array({said}) AS numbers FROM {table}"

    text_ = "\nUNION ALL ".join(answer(*one) for one in found)
    return f"SELECT * FROM (WITH {_with(steps, [table for *_, table in found])}\n{text_})"


def _with(steps: Steps, answered: Sequence[str]) -> str:
    """Common tables of those that are read more than once; a table that one other reads is a subquery of it, which
    takes Spark half the time to look through. answered: those that are read by answers."""
    reads = [name for _, text_ in steps for name in _READ.findall(text_)]
    written: dict[str, str] = {}
    kept: Steps = []
    for name, text_ in steps:
        whole = _READ.sub(lambda found: written.pop(found[1], found[0]), text_)
        if reads.count(name) == 1 and name not in answered:
            written[name] = f"FROM ({whole}) AS {name}"
        else:
            kept.append((name, whole))
    return ",\n".join(f"{name} AS ({text_})" for name, text_ in kept)


_READ: Final = re.compile(r"\bFROM ([a-z_]+[0-9]*(?:_[0-9]+)?)\b")


Answers = list[tuple[str, list[str], str]]  # what it is, its numbers, and the table they are columns of


def _steps(parts: Parts, key: list[str], stored: Names) -> tuple[Steps, Answers]:
    source, steps = _rows(parts, stored)
    steps += _keyed(parts, source)
    steps += _measured(parts, key)
    k = ", ".join(key)
    if parts.owner is None:
        sums, tallies = _each_row(parts), _each_tally(parts)
        last = "measured"
    else:
        caps = Caps.of(parts)
        steps += [("per_unit", _per_unit(parts, k)), *_of_units(parts, caps, key)]
        last = "weighed"
        sums = [caps.total(index) for index in range(len(parts.sums))]
        tallies = []
        if parts.tallies:
            steps += _tallied(parts, caps)
            tallies = [f"n{index}" for index in range(len(parts.tallies))]
    totals = "".join(f", {one} AS t{index}" for index, one in enumerate(sums))
    steps.append(("totals", f"SELECT {k}{totals} FROM {last} GROUP BY {k}"))
    answers: Answers = [("t", [f"t{index}" for index in range(len(sums))], "totals")]
    if parts.tallies and parts.owner is None:
        counts = ", ".join(f"{one} AS n{index}" for index, one in enumerate(tallies))
        steps.append(("counted", f"SELECT {counts} FROM measured"))
        tallies = [f"n{index}" for index in range(len(parts.tallies))]
    if parts.tallies:
        answers.append(("n", tallies, "counted"))
    for index, lie in enumerate(parts.histograms):
        steps += _lying(parts, index, lie, key)
        answers.append((f"h{index}", ["lies"], f"lying{index}"))
    for index, one in enumerate(parts.distinct):
        steps += _different(parts, index, one, key)
        answers.append((f"d{index}", ["n"], f"different{index}"))
    return steps, answers


# --- rows ------------------------------------------------------------------------------------------------------------


def _rows(parts: Parts, stored: Names) -> tuple[str, Steps]:
    """The rows scanned, filtered and computed: the name of the last step, and the steps."""
    steps = [("scanned", scan_text(parts.scan, stored))]
    columns = ", ".join(f"x{index}" for index in range(len(parts.scan.columns))) or "nothing"
    source = "scanned"
    if parts.predicate is not None:
        steps += filtered(parts.predicate, source, columns)
        source = "filtered"
    if parts.computed:
        levels = Levels(ALL)
        found = [rows.operand(part, levels) for part in parts.computed]
        source, more = levels.expressions(source, "p", found)
        computed = ", ".join(f"{term.text} AS x{len(parts.scan.columns) + n}" for n, term in enumerate(found))
        steps += [*more, ("projected", f"SELECT {columns}, {computed} FROM {source}")]
        source = "projected"
    return source, steps


def key_columns(parts: Parts) -> list[str]:
    return ["k"] if isinstance(parts.keys, Listed) else [f"y{index}" for index in range(len(parts.keys.columns))]


def _keyed(parts: Parts, source: str) -> Steps:
    """Owned rows with the number of their key, or with the values of a key to be chosen."""
    owned = "" if parts.owner is None else f" WHERE x{parts.owner} IS NOT NULL"
    columns = parts.keys.columns
    if isinstance(parts.keys, Chosen):
        key = ", ".join(f"x{column} AS y{index}" for index, column in enumerate(columns))
        return [("keyed", f"SELECT *, {key} FROM {source}{owned}")]
    keys = parts.keys.keys
    if not columns or not keys:  # one key, which every row has, or none
        where = owned if keys else " WHERE false"
        return [("keyed", f"SELECT *, 0 AS k FROM {source}{where}")]
    on = " AND ".join(
        f"x{column} {'<=>' if any(key[index] is None for key in keys) else '='} y{index}"
        for index, column in enumerate(columns)
    )
    hint = "/*+ BROADCAST(listed) */ " if len(keys) <= SMALL_LIST else ""
    return [("listed", _list(parts.keys, [parts.kinds[column] for column in columns])),
            ("keyed", f"SELECT {hint}* FROM {source} JOIN listed ON {on}{owned}")]


def _list(listed: Listed, kinds: Sequence[Kind]) -> str:
    """The list as a table: its columns y0, y1, ... and each key's number k. It is one text, since a table of values
    would be parsed a value at a time: keys are parted by commas, their values by spaces, n is a missing one."""
    spelled = ",".join(" ".join(map(_spelled, key)) for key in listed.keys)
    parted = f"SELECT k, split(key, ' ') AS of_key FROM (SELECT posexplode(split({text(spelled)}, ',')) AS (k, key))"
    columns = "".join(f", {_value(f'of_key[{index}]', kind)} AS y{index}" for index, kind in enumerate(kinds))
    return f"SELECT k{columns} FROM ({parted})"


def _spelled(value: Value) -> str:
    if value is None:
        return "n"
    return f"x{value.encode().hex()}" if isinstance(value, str) else repr(value)


def _value(spelled: str, kind: Kind) -> str:
    present = f"CASE WHEN {spelled} <> 'n' THEN {spelled} END"
    if kind == "text":
        return f"CAST(unhex(substring({present}, 2)) AS STRING)"
    return f"CAST({present} AS {TYPES[kind]})" + (" + 0D" if kind == "float" else "")


def _measured(parts: Parts, key: list[str]) -> Steps:
    """The columns u, v0, v1, ..., and o0, ...: whether a value is clamped, d0, ...: values as they are."""
    columns = list(key) if parts.owner is None else [*key, f"x{parts.owner} AS u"]
    columns += [f"{grid_text(grid)} AS v{index}" for index, grid in enumerate(parts.grids)]
    columns += [f"{outside_text(parts.grids[index])} AS o{index}" for index in clamped_of(parts)]
    columns += [f"x{one.column} AS d{index}" for index, one in enumerate(parts.distinct)]
    made = f"SELECT {', '.join(columns)} FROM keyed"
    if not parts.products:
        return [("measured", made)]
    more = "".join(f", {product_text(one, parts.grids)} AS v{len(parts.grids) + index}"
                   for index, one in enumerate(parts.products))
    return [("factors", made), ("measured", f"SELECT *{more} FROM factors")]


def grid_text(grid: Grid) -> str:
    """0 .. upper - lower as BIGINT, or NULL. Clamped before any arithmetic, so nothing can overflow."""
    x = f"x{grid.column}"
    if grid.kind == "text":
        return f"CASE WHEN {x} IS NOT NULL THEN 0L END"
    if grid.kind == "integer":
        clamps = int(grid.clamp_lower), int(grid.clamp_upper)
        type_ = wide(*clamps, grid.lower)
        steps = clamp(x if type_ == "BIGINT" else f"CAST({x} AS {type_})", *(integer(one, type_) for one in clamps))
        return f"CAST({steps} - {integer(grid.lower, type_)} AS BIGINT)"
    bounds = float(grid.clamp_lower), float(grid.clamp_upper)
    least, most = (math.floor(bound * 2.0**grid.exponent + 0.5) for bound in bounds)
    low, high, scale, half = (ALL.constant(value, "float") for value in (*bounds, 2.0**grid.exponent, 0.5))
    type_ = "BIGINT" if max(map(abs, (least, most, grid.lower, grid.upper))) <= MAX_RANGE else WIDE
    steps = ALL.words.floor.format(f"{clamp(x, low, high)} * {scale} + {half}")
    steps = f"CAST({steps} AS BIGINT)" if type_ == "BIGINT" else _whole(steps)
    if least < grid.lower or most > grid.upper:  # each of the float64 operations is monotone, so else it is clamped
        steps = clamp(steps, integer(grid.lower, type_), integer(grid.upper, type_))
    return f"CAST({steps} - {integer(grid.lower, type_)} AS BIGINT)"


def _whole(x: str) -> str:
    """A whole double, of a size of at most 2**126, as a wide integer. Below that its size is h * 2**63 + l, where h is
    below 2**63, and h, l and their difference are doubles, so nothing is rounded. A cast would go by the shortest
    digits that read as x."""
    two = ALL.constant(2.0**63, "float")
    high = ALL.words.floor.format(f"abs({x}) / {two}")
    low = f"CAST(abs({x}) - {high} * {two} AS BIGINT)"
    size = f"CAST(CAST({high} AS BIGINT) AS {WIDE}) * {integer(2**63, WIDE)} + CAST({low} AS {WIDE})"
    most = ALL.constant(2.0**126, "float")
    size = f"CASE WHEN abs({x}) < {most} THEN {size} WHEN abs({x}) = {most} THEN {integer(2**126, WIDE)} END"
    return f"({size}) * CASE WHEN {x} < 0D THEN -1 ELSE 1 END"  # for a sign alone Spark rounds to 34 digits


def outside_text(grid: Grid) -> str:
    """Whether a value is beyond what it is clamped to; false where it is missing."""
    x = f"x{grid.column}"
    if grid.kind == "integer":
        low, high = (integer(int(bound), wide(int(bound))) for bound in (grid.clamp_lower, grid.clamp_upper))
    else:
        low, high = (ALL.constant(float(bound), "float") for bound in (grid.clamp_lower, grid.clamp_upper))
    return f"coalesce({x} < {low} OR {x} > {high}, false)"


def clamped_of(parts: Parts) -> list[int]:
    """The measures of which a tally asks whether a value is clamped."""
    return sorted({measure for tally in parts.tallies for measure in tally.measures})


def product_text(product: Product, grids: Sequence[Grid]) -> str:
    """0 .. upper - lower as BIGINT, or NULL.

    With p the product, floor(p / 2**shift + 1/2) is floor((p + half) / 2**shift). It is clamped before it is divided,
    to the lower end of the first step and the upper end of the last, as far as p can reach them; what is divided then
    counts from the lower end, so it is not negative, and the quotient has at most 62 bits.
    """
    widths = [grids[place].upper - grids[place].lower for place in (product.first, product.second)]
    most, half, step = widths[0] * widths[1], 2**product.shift >> 1, 2**product.shift
    factors = (f"CAST(v{place} - {integer(width)} + v{place} AS {WIDE})"  # 2 a - A, never past A in between
               for place, width in zip((product.first, product.second), widths, strict=True))
    p = f"({' * '.join(factors)} + {integer(half, WIDE)})"
    ends = (0 if product.first == product.second else -most) + half, most + half
    least, greatest = (min(max(end >> product.shift, product.lower), product.upper) for end in ends)
    if least == greatest:
        present = f"v{product.first} IS NOT NULL AND v{product.second} IS NOT NULL"
        return f"CASE WHEN {present} THEN {integer(least - product.lower)} END"
    bottom = min(max(least * step, ends[0]), ends[1])
    top = max(bottom, min(greatest * step + step - 1, ends[1]))
    base = least * step
    counted = f"{clamp(p, integer(bottom, WIDE), integer(top, WIDE))} - {integer(base, WIDE)}"
    return f"CAST({divided(counted, integer(step, WIDE))} + {integer(least - product.lower, WIDE)} AS BIGINT)"


# --- each row a unit -------------------------------------------------------------------------------------------------


def _each_row(parts: Parts) -> list[str]:
    """g = 1 and c <= 1, so n' is one * c and S' is one * S."""
    one = integer(parts.scale.one, WIDE)
    what = {"rows": "count(*)", "units": "count(*)", "present": "count(v{0})", "distinct": "0",
            "values": f"coalesce(sum(CAST(v{{0}} AS {WIDE})), 0)"}
    return [f"{one} * {what[sum_.what].format(sum_.measure)}" for sum_ in parts.sums]


def _each_tally(parts: Parts) -> list[str]:
    found = []
    for tally in parts.tallies:
        outside = " OR ".join(f"o{measure}" for measure in tally.measures) or "false"
        found.append("count(*)" if tally.what == "everyone" else f"count(*) FILTER (WHERE {outside})")
    return found


# --- units -----------------------------------------------------------------------------------------------------------


def _per_unit(parts: Parts, k: str) -> str:
    """Per (unit, key): its rows, and the present values and the sum of each measure."""
    present, summed = measures_of(parts)
    columns = "".join(f", count(v{index}) AS c{index}" for index in present)
    columns += "".join(f", {_summed(parts, index)} AS s{index}" for index in summed)
    columns += "".join(f", bool_or(o{index}) AS o{index}" for index in clamped_of(parts))
    return f"SELECT u, {k}, count(*) AS r{columns} FROM measured GROUP BY u, {k}"


def _summed(parts: Parts, measure: int) -> str:
    """In 64 bits where no table's rows can pass them."""
    v = f"v{measure}"
    narrow = parts.width(measure) * MAX_TABLE_ROWS <= MAX_RANGE
    return f"coalesce(sum({v if narrow else f'CAST({v} AS {WIDE})'}), {integer(0, 'BIGINT' if narrow else WIDE)})"


def measures_of(parts: Parts) -> tuple[list[int], list[int]]:
    """The measures whose present values are counted, and those of them that are summed."""
    present = sorted({*(sum_.measure for sum_ in parts.sums if sum_.what in ("present", "values")),
                      *(lie.measure for lie in parts.histograms)})
    return present, sorted({sum_.measure for sum_ in parts.sums if sum_.what == "values"})


def _of_units(parts: Parts, caps: Caps, key: list[str]) -> Steps:
    """From `per_unit` to `weighed`: the keys that are chosen, and each unit's g, t and factor where a cap can bind."""
    steps: Steps = []
    source = "per_unit"
    if isinstance(parts.keys, Chosen):
        steps += _placed(parts, parts.keys, key, "per_unit", "placed", "1L")
        steps.append(("kept", f"SELECT * FROM placed WHERE place <= {_most(parts.keys.max_groups)}"))
        source = "kept"
    of_unit = caps.of_unit()
    if of_unit:
        steps.append(("spread", f"SELECT *, {of_unit} FROM {source}"))
        source = "spread"
    return [*steps, ("weighed", f"SELECT *{caps.factor()} FROM {source}")]


def _most(cap: int) -> str:
    """A cap on rows or keys, of which there are at most 2**48."""
    return integer(min(cap, MAX_RANGE))


def _placed(parts: Parts, chosen: Chosen, key: Sequence[str], source: str, name: str, counted: str) -> Steps:
    """The rows of `source` with their `place`: up to the md5 of their key, how many keys their unit has. counted: what
    a row adds to that."""
    kinds: list[Kind] = [parts.kinds[column] for column in chosen.columns]
    made = _md5(parts, chosen.salt, [(one, kind, True) for one, kind in zip(key, kinds, strict=True)])
    hashed = f"SELECT *, {made} AS a FROM {source}"
    place = f"sum({counted}) OVER (PARTITION BY u ORDER BY a {_UP_TO}) AS place"
    return [(f"hashed_{name}", hashed), (name, f"SELECT *, {place} FROM hashed_{name}")]


_UP_TO: Final = "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"


def _md5(parts: Parts, salt: str, values: Sequence[tuple[str, Kind, bool]]) -> str:
    """The md5 of `key_bytes` of the unit and these values (a column, its kind, whether it may be missing), as
    hexadecimal digits, which are in the order of its bytes."""
    assert parts.owner is not None
    start = text(key_bytes(salt, "", ())[: -len(b"t0:")].decode())
    pieces = [start, _bytes("u", parts.kinds[parts.owner], False), *(_bytes(*one) for one in values)]
    return f"md5(concat({', '.join(pieces)}))"


def _bytes(name: str, kind: Kind, missing: bool) -> str:
    """One value's part of `key_bytes`. missing: whether it may be."""
    spelled = name if kind == "text" else f"CAST({name} AS STRING)"
    size = f"CAST(octet_length({spelled}) AS STRING)"
    made = f"concat('{'t' if kind == 'text' else 'i'}', {size}, ':', {spelled})"
    return f"CASE WHEN {name} IS NULL THEN 'n0:' ELSE {made} END" if missing else made


def _tallied(parts: Parts, caps: Caps) -> Steps:
    """Of each unit its g, t and longest r, over keys that are kept, and whether any is lost; then the tallies."""
    chosen = isinstance(parts.keys, Chosen)
    kept = f" FILTER (WHERE place <= {_most(parts.keys.max_groups)})" if isinstance(parts.keys, Chosen) else ""
    columns = [f"count(*){kept} AS g", f"max(r){kept} AS longest",
               f"sum(least(r, {integer(parts.scale.max_rows)})){kept} AS t"]
    columns += [f"coalesce(bool_or(o{index}){kept}, false) AS o{index}" for index in clamped_of(parts)]
    if isinstance(parts.keys, Chosen):
        columns.append(f"bool_or(place > {_most(parts.keys.max_groups)}) AS lost")
    source = "placed" if chosen else "per_unit"
    counts = ", ".join(f"{one} AS n{index}" for index, one in enumerate(map(_counting(parts), parts.tallies)))
    return [("units", f"SELECT u, {', '.join(columns)} FROM {source} GROUP BY u"),
            ("counted", f"SELECT {counts} FROM units")]


def _counting(parts: Parts) -> Any:
    scale, chosen = parts.scale, isinstance(parts.keys, Chosen)
    total = [] if scale.max_total is None else [integer(scale.max_total)]
    cut = [f"longest > {integer(scale.max_rows)}", *(f"t > {most}" for most in total)]
    groups = [f"g > {_most(scale.max_groups)}", *(["lost"] if chosen else [])]

    def counting(tally: Any) -> str:
        if tally.what == "everyone":
            return "count(*)"
        caps = [*groups, *(cut if tally.what == "cut" else [f"g > {most}" for most in total])]
        outside = [f"o{measure}" for measure in tally.measures]
        return f"count(*) FILTER (WHERE {' OR '.join(f'coalesce({one}, false)' for one in (*caps, *outside))})"

    return counting


# --- histograms and different values ---------------------------------------------------------------------------------


def _lying(parts: Parts, number: int, lie: Histogram, key: list[str]) -> Steps:
    """The sum of floor(d n' / c) at each candidate, from each unit's own d there and c in all; d n' is below 2**84."""
    k = ", ".join(key)
    v = f"v{lie.measure}"
    place = v if lie.step == 1 else f"{v} div {integer(lie.step)}"
    if parts.owner is None:
        added = f"SELECT {k}, {place} AS b, count(*) AS d FROM measured WHERE {v} IS NOT NULL GROUP BY {k}, {place}"
        lies = f"SELECT {k}, b, {integer(parts.scale.one, WIDE)} * d AS d FROM ({added})"
    else:
        own = f"SELECT u, {k}, {place} AS b, count(*) AS d FROM measured WHERE {v} IS NOT NULL GROUP BY u, {k}, {place}"
        on = " AND ".join(f"own.{name} <=> of_unit.{name}" for name in ("u", *key))
        count = Caps.of(parts).scaled_count(f"c{lie.measure}")
        weighed = f"SELECT u, {k}, c{lie.measure} AS c, CAST({count} AS {WIDE}) AS n FROM weighed"
        share = divided("d * n", f"CAST(greatest(c, 1L) AS {WIDE})")
        named = ", ".join(f"own.{name}" for name in key)
        lies = (f"SELECT {k}, b, sum({share}) AS d FROM (SELECT {named}, b, CAST(d AS {WIDE}) AS d, c, n FROM ({own})"
                f" AS own JOIN ({weighed}) AS of_unit ON {on}) GROUP BY {k}, b")
    listed = "concat_ws(' ', collect_list(concat(CAST(b AS STRING), ':', CAST(d AS STRING)))) AS lies"
    return [(f"lying{number}", f"SELECT {k}, {listed} FROM ({lies}) GROUP BY {k}")]


def _different(parts: Parts, number: int, one: Distinct, key: list[str]) -> Steps:
    """How many different values are kept, as `Distinct` says; of md5 that are equal all are counted."""
    k, z, n = ", ".join(key), f"d{number}", str(number)
    counted = f"SELECT {k}, count(DISTINCT z) AS n FROM {{}} GROUP BY {k}"
    if parts.owner is None:  # each row is a unit, of one value
        return [(f"different{n}", counted.format(f"(SELECT {k}, {z} AS z FROM measured)"))]
    steps = [(f"pairs{n}", f"SELECT u, {k}, {z} AS z FROM measured GROUP BY u, {k}, {z}")]
    source, scale = f"pairs{n}", parts.scale
    kinds: list[Kind] = ["integer"]
    first = f"row_number() OVER (PARTITION BY u, {k} ORDER BY z)"
    if isinstance(parts.keys, Chosen):  # of each key one pair counts
        kinds = [parts.kinds[column] for column in parts.keys.columns]
        steps.append((f"first{n}", f"SELECT *, CASE WHEN {first} = 1 THEN 1L ELSE 0L END AS one FROM {source}"))
        steps += _placed(parts, parts.keys, key, f"first{n}", f"placed{n}", "one")
        kept = f"SELECT u, {k}, z FROM placed{n} WHERE place <= {_most(parts.keys.max_groups)}"
        steps.append((f"chosen{n}", kept))
        source = f"chosen{n}"
    of_key = [(name, kind, isinstance(parts.keys, Chosen)) for name, kind in zip(key, kinds, strict=True)]
    a, b = (_md5(parts, one.salt, values) for values in (of_key, [*of_key, ("z", parts.kinds[one.column], False)]))
    made = f"SELECT *, {a} AS a, {b} AS b, CASE WHEN {first} = 1 THEN 1L ELSE 0L END AS one"
    steps.append((f"values{n}", f"{made} FROM {source} WHERE z IS NOT NULL"))
    limits = [("sum(one)", "u", "a", scale.max_groups), ("count(*)", f"u, {k}", "b", scale.max_rows)]
    if scale.max_total is not None:
        limits.append(("count(*)", "u", "b", scale.max_total))
    source = f"values{n}"
    for step, (number_of, group, order, cap) in enumerate(limits):
        place = f"{number_of} OVER (PARTITION BY {group} ORDER BY {order} {_UP_TO}) AS place{step}"
        steps.append((f"up_to{n}_{step}", f"SELECT * FROM (SELECT *, {place} FROM {source})"
                                          f" WHERE place{step} <= {_most(cap)}"))
        source = f"up_to{n}_{step}"
    return [*steps, (f"different{n}", counted.format(source))]
