"""Random tables and core plans over the whole of plan/core.py, rows.py and the functions of rows, for tests of engines.

`cases()` draws a Case: a table t0 whose columns have the kinds in KINDS, and a plan over it. Values are drawn around
the plan (its bounds, its half grid steps and their neighbours in float64, its keys, its constants), because agreement
far from these proves little. Import it as `engine_strategies` from a folder whose conftest adds tests/support.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st

from dpcurator.language import days, rows
from dpcurator.language.functions import FUNCTIONS
from dpcurator.language.functions.dates import DATE_PARTS, DATE_UNITS, TIME_PARTS, TIME_UNITS
from dpcurator.language.functions.function import Function
from dpcurator.plan.core import (
    ONE,
    Chosen,
    CorePlan,
    Distinct,
    Filter,
    Grid,
    Listed,
    Measure,
    Owner,
    PerUnit,
    Product,
    Project,
    ScaleDown,
    Scan,
    Source,
    Sum,
    Tally,
    Total,
)

KINDS = {"c0": "integer", "c1": "text", "c2": "integer", "c3": "float", "c4": "text", "c5": "float"}
NAMES = tuple(KINDS)
BY_KIND = {kind: [i for i, name in enumerate(NAMES) if KINDS[name] == kind] for kind in ("integer", "float", "text")}

INTEGERS = (0, 1, -1, 2, 3, 7, 2**31, 2**53, 2**53 + 1, -(2**53) - 1, 2**62, 2**63 - 1, 2**63 - 513, -(2**63))
FLOATS = (
    0.0, 1.0, -1.0, 0.5, -0.5, 0.1, 0.49999999999999994, 5e-324, -2.5e-308, 1e16, 2.0**53, 2.0**63, -(2.0**63),
    2.0**64, 2.0**100, 1.7976931348623157e308, -1.7976931348623157e308,
)
BAD_FLOATS = (math.nan, -math.nan, math.inf, -math.inf, -0.0)
TEXTS = (
    "", "a", "A",
    "a\0", "a\0b", "ab", "é", "e\u0301", "ß", "SS", "'", '"', "';--", "%_\\", "\ud7ff", "\ue000", "\uffff",
    "\U00010000", "\U0010ffff", "😀", "a" * 12, "a" * 13, "a" * 13 + "b", " ", "\n", "NULL", "nan", "\u202e",
)

integers = st.sampled_from(INTEGERS) | st.integers(-3, 3) | st.integers(-(2**63), 2**63 - 1)
floats = st.sampled_from(FLOATS) | st.integers(-3, 3).map(float) | st.floats(allow_nan=False, allow_infinity=False)
texts = st.sampled_from(TEXTS) | st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
constants: dict[str, Any] = {"integer": integers, "float": floats, "text": texts}


@dataclass(frozen=True)
class Case:
    tables: dict[str, dict[str, list[Any]]]
    core: CorePlan

    @property
    def kinds(self) -> dict[str, dict[str, Any]]:
        return {table: {name: KINDS[name] for name in columns} for table, columns in self.tables.items()}


def maybe(strategy: Any) -> Any:
    return st.none() | strategy


LETTERS = {"i": "integer", "f": "float", "t": "text"}
ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Casablanca")
DAYS = (0, -1, days.FIRST_DAY, days.LAST_DAY, days.FIRST_DAY - 1, days.LAST_DAY + 1, 11016, 19782, 19783)
MOMENTS = (
    0,
    -1,
    days.FIRST_MOMENT,
    days.LAST_MOMENT,
    days.FIRST_MOMENT - 1,
    days.LAST_MOMENT + 1,
    1_711_846_800_000_000,
    1_711_846_799_999_999,
    1_730_000_000_000_000,
    1_729_996_200_000_000,
    9 * 10**18,
)
SPELLED = (
    "12",
    " -7 ",
    "+1.5e3",
    "1e400",
    "1e-400",
    ".5",
    "5.",
    "nan",
    "2024-02-29",
    "2023-02-29",
    "0000-01-01",
    "9223372036854775808",
    "1_0",
    "2.4703282292062327e-324",
    "9007199254740993",
    "  a b ",
    "aBcA",
    "%_\\",
)
months = st.integers(-30, 30) | st.integers(-(10**6), 10**6)
literals: dict[str, Any] = {
    "floordiv_i": st.tuples(st.integers(1, 10) | st.integers(1, 2**63 - 1)),
    "round_i": st.tuples(st.integers(1, 18)),
    "round_f": st.tuples(st.integers(1, 15)),
    "substring": st.tuples(st.integers(1, 4) | st.integers(1, 2**31 - 1),
                           st.none() | st.integers(0, 4) | st.integers(0, 2**31 - 1)),
    "replace": st.tuples(st.sampled_from(["a", "aa", "é", "\0", " ", "%", "😀"]),
                         st.sampled_from(["", "a", "bb", "é\0"])),
    "date_part": st.tuples(st.sampled_from(DATE_PARTS)),
    "date_trunc": st.tuples(st.sampled_from(DATE_UNITS)),
    "date_add": st.tuples(months, months),
    "time_part": st.tuples(st.sampled_from(TIME_PARTS)),
    "time_trunc": st.tuples(st.sampled_from(TIME_UNITS)),
    "time_add": st.tuples(months, st.integers(-2, 2) | st.integers(-(10**18), 10**18)),
    "local_of_time": st.tuples(st.sampled_from(ZONES)),
    "time_of_local": st.tuples(st.sampled_from(ZONES)),
}


def baits(function: Function) -> Any:
    """Constants at which this function's kind of input does something: days, moments, spelled numbers."""
    if "date" in function.name:
        return st.sampled_from(DAYS) | st.integers(days.FIRST_DAY, days.LAST_DAY)
    return st.sampled_from(MOMENTS) | st.integers(days.FIRST_MOMENT, days.LAST_MOMENT)


@st.composite
def computed(draw: Any, kind: str, depth: int) -> rows.Operand:
    possible = [function for function in FUNCTIONS if LETTERS.get(function.kind, kind) == kind]
    function = draw(st.sampled_from(possible))
    letters = function.parts
    if letters.endswith("*"):
        letters = letters[0] * draw(st.integers(1, 3))
    parts = []
    for letter in letters:
        part = draw(operands(LETTERS.get(letter, kind), depth - 1))
        if isinstance(part, rows.Constant) and ("date" in function.name or "time" in function.name or "local" in
                                                function.name) and letter == "i":
            part = rows.Constant(draw(baits(function)), "integer")
        if isinstance(part, rows.Constant) and function.name.endswith("of_text"):
            part = rows.Constant(draw(st.sampled_from(SPELLED)), "text")
        parts.append(part)
    found = ()
    if function.name == "clip":
        found = tuple(sorted(draw(st.tuples(constants[kind], constants[kind]))))
    elif function.name in literals:
        found = draw(literals[function.name])
    return rows.Compute(function.name, tuple(parts), kind, found)  # type: ignore[arg-type]


@st.composite
def operands(draw: Any, kind: str, depth: int = 2) -> rows.Operand:
    which = draw(st.integers(0, 9))
    if depth and which >= 6:
        if which == 9 and draw(st.booleans()):
            branches = tuple(rows.When(draw(leaves(0)), draw(operands(kind, depth - 1)))
                             for _ in range(draw(st.integers(1, 2))))
            return rows.Choose(branches, draw(operands(kind, depth - 1)), kind)  # type: ignore[arg-type]
        return draw(computed(kind, depth))
    if which == 0:
        return rows.Missing(kind)  # type: ignore[arg-type]
    if which <= 3:
        return rows.Field(draw(st.sampled_from(BY_KIND[kind])), kind)  # type: ignore[arg-type]
    return rows.Constant(draw(constants[kind]), kind)  # type: ignore[arg-type]


@st.composite
def leaves(draw: Any, depth: int = 2) -> rows.Predicate:
    which = draw(st.sampled_from(["compare"] * 4 + ["among"] * 2 + ["missing", "truth", "like"]))
    if which == "truth":
        return rows.Truth(draw(st.sampled_from([True, False, None])))
    if which == "like":
        letters = ["%", "_", "a", "é", "$%", "$_", "$$", "\\", "$a", "\0", "b"]
        pieces = draw(st.lists(st.sampled_from(letters), max_size=5))
        return rows.Like(draw(operands("text", depth)), "".join(pieces), "$")
    kind = draw(st.sampled_from(["integer", "float", "text"]))
    left = draw(operands(kind, depth))
    if which == "missing":
        return rows.IsMissing(left)
    if which == "among":
        values = draw(st.lists(constants[kind], min_size=1, max_size=5))
        return rows.Among(left, tuple(rows.Constant(value, kind) for value in values))  # type: ignore[arg-type]
    other = "text" if kind == "text" else draw(st.sampled_from(["integer", "float"]))
    return rows.Compare(draw(st.sampled_from(rows.COMPARISONS)), left, draw(operands(other, depth)))


def _several(children: Any) -> Any:
    return st.lists(children, min_size=2, max_size=4).map(tuple)


predicates = st.recursive(
    leaves(),
    lambda inner: inner.map(rows.Not) | _several(inner).map(rows.AllOf) | _several(inner).map(rows.AnyOf),
    max_leaves=6,
)


@st.composite
def sources(draw: Any) -> tuple[Source, ...]:
    fill = st.just(None) if draw(st.integers(0, 2)) else st.none()
    found = []
    for name, kind in KINDS.items():
        fills = fill if draw(st.integers(0, 3)) else constants[kind]
        found.append(Source(name, kind, draw(fills)))  # type: ignore[arg-type]
    return tuple(found)


@st.composite
def integer_grids(draw: Any, max_rows: int, columns: dict[str, list[int]]) -> Grid:
    lower = draw(integers | st.integers(-(2**126) + 1, 2**126 - 1 - 2**62))
    upper = lower + draw(st.integers(0, 20) | st.integers(0, 2**62 // max_rows))
    low = draw(st.just(lower) | st.integers(lower, upper))
    high = draw(st.just(upper) | st.integers(low, upper))
    return Grid(draw(st.sampled_from(columns["integer"])), "integer", low, high, lower, upper, 0)


@st.composite
def float_grids(draw: Any, max_rows: int, columns: dict[str, list[int]]) -> Grid:
    exponent = draw(st.integers(-3, 60) | st.sampled_from([0, 0, 1, 10, 44, 52, 53]) | st.integers(-890, 1000))
    bits = draw(st.integers(0, 60) | st.integers(0, 125))
    lower = draw(st.integers(-(2**bits), 2**bits))
    upper = lower + draw(st.integers(0, 20) | st.integers(0, 2**62 // max_rows))
    upper = min(upper, 2**126 - 1)
    low, high = math.ldexp(float(lower), -exponent), math.ldexp(float(upper), -exponent)
    if draw(st.booleans()):  # bounds of the author's, between grid steps
        low, high = sorted((math.nextafter(low, high), math.nextafter(high, low)))
    return Grid(draw(st.sampled_from(columns["float"])), "float", low, high, lower, upper, exponent)


@st.composite
def products(draw: Any, grids: tuple[Grid, ...], max_rows: int) -> Product:
    first, second = (draw(st.integers(0, len(grids) - 1)) for _ in range(2))
    most = math.prod(grids[place].upper - grids[place].lower for place in (first, second))
    shift = draw(st.sampled_from([0, 1, 3, 124]) | st.integers(0, most.bit_length()))
    ends = (-most >> shift, (most >> shift) + 1)
    lower = draw(st.sampled_from([0, -3, *ends]) | st.integers(*ends))
    lower = min(max(lower, -(2**62)), 2**62)
    room = min(2**62 // max_rows, 2**62 - lower)
    upper = lower + min(room, draw(st.sampled_from([0, 5, room, max(0, ends[1] - lower)]) | st.integers(0, room)))
    return Product(first, second, shift, lower, upper)


@st.composite
def cores(draw: Any, *, capped: bool = False) -> CorePlan:
    """capped: with a cap on a unit's rows in all."""
    owner = draw(st.sampled_from([None, 0, 0, 1, 1, 1]))
    max_rows = draw(st.sampled_from([1, 1, 2, 3, 10, 2**20]))
    kinds = [KINDS[name] for name in NAMES]
    projected = tuple(draw(operands(kind, 3)) for kind in draw(st.lists(st.sampled_from(kinds), max_size=3)))
    projected = projected if draw(st.booleans()) else ()
    kinds += [part.kind for part in projected]
    by_kind = {kind: [index for index, found in enumerate(kinds) if found == kind] for kind in BY_KIND}
    grid = integer_grids(max_rows, by_kind) | float_grids(max_rows, by_kind)
    grids = tuple(draw(st.lists(grid, max_size=3)))
    multiplied = tuple(draw(st.lists(products(grids, max_rows), max_size=2))) if grids else ()
    possible = [index for index, kind in enumerate(kinds) if kind != "float"]
    distinct = st.builds(Distinct, st.sampled_from(possible), st.sampled_from(["", "salt", "s:é\0"]))
    valued = tuple(draw(st.lists(distinct, max_size=2)) if draw(st.integers(0, 2)) == 0 else ())
    whats = ["rows", "units"] + ["present", "values", "values"] * bool(grids) + ["distinct"] * 2 * bool(valued)
    sums = draw(st.lists(st.sampled_from(whats), min_size=1, max_size=5))
    total = tuple(
        Sum(what, draw(st.integers(0, len(grids) + len(multiplied) - 1)) if what in ("present", "values") else
            draw(st.integers(0, len(valued) - 1)) if what == "distinct" else 0)
        for what in sums
    )
    scan: Any = Scan("t0", draw(sources()))
    condition = (Filter(draw(predicates)),) if draw(st.integers(0, 2)) == 0 else ()
    project = (Project(projected),) if projected else ()
    scale = ScaleDown(max_rows, draw(st.integers(1, 4)), draw(st.sampled_from([ONE, ONE, 1, 3])))
    keys = draw(listed(kinds) if draw(st.integers(0, 2)) else chosen(kinds, scale.max_groups))
    if isinstance(keys, Chosen):
        total = (Sum("units"), *total)
    counted = tuple(draw(tallies(len(grids))) for _ in range(draw(st.sampled_from([0, 0, 1, 3]))))
    if capped:
        least = max(max_rows, keys.max_groups if isinstance(keys, Chosen) else 1)
        scale = replace(scale, max_total=least + draw(st.sampled_from([0, 0, 1, 2, max_rows, 2**45])))
    return (scan, *condition, *project, Owner(owner), keys, Measure(grids, multiplied, valued), PerUnit(), scale,
            Total(total, counted))


@st.composite
def tallies(draw: Any, grids: int) -> Tally:
    what = draw(st.sampled_from(["everyone", "cut", "cut", "cut_groups"]))
    measures = st.lists(st.sampled_from(range(grids)), unique=True) if grids and what != "everyone" else st.just([])
    return Tally(what, tuple(draw(measures)))


@st.composite
def listed(draw: Any, kinds: list[Any]) -> Listed:
    columns = tuple(draw(st.lists(st.sampled_from(range(len(kinds))), max_size=2, unique=True)))
    key = st.tuples(*(maybe(constants[kinds[column]]) for column in columns))
    keys = tuple(draw(st.lists(key, max_size=8, unique=True)))
    if not columns:
        keys = draw(st.sampled_from([((),), ((),), ((),), ()]))
    return Listed(columns, keys)


@st.composite
def chosen(draw: Any, kinds: list[Any], max_groups: int) -> Chosen:
    possible = [index for index, kind in enumerate(kinds) if kind != "float"]
    columns = tuple(draw(st.lists(st.sampled_from(possible), min_size=1, max_size=3, unique=True)))
    return Chosen(columns, draw(st.integers(1, max_groups)), draw(st.sampled_from(["", "salt", "s:é\0"])))


def _near(grid: Grid) -> Any:
    """Values where this grid decides something: its bounds, half steps, and one ulp to either side."""
    if grid.kind == "integer":
        edges = (grid.clamp_lower, grid.clamp_upper)
        near = [int(edge) + step for edge in edges for step in (-1, 0, 1)]
        return st.sampled_from([min(max(value, -(2**63)), 2**63 - 1) for value in near])
    halves = st.integers(grid.lower - 1, grid.upper + 1).map(lambda k: _ldexp(k + 0.5, -grid.exponent))
    edges_ = st.sampled_from([float(grid.clamp_lower), float(grid.clamp_upper)])
    return st.tuples(halves | edges_, st.sampled_from([-math.inf, None, math.inf])).map(
        lambda pair: pair[0] if pair[1] is None else math.nextafter(pair[0], pair[1])
    )


def _ldexp(value: float, exponent: int) -> float:
    try:
        return math.ldexp(value, exponent)
    except OverflowError:
        return math.inf


def _constants(part: rows.Expression) -> list[tuple[str, Any]]:
    """Every constant of an expression, with its kind."""
    return [(found.kind, found.value) for found in rows.walk(part) if isinstance(found, rows.Constant)]


@st.composite
def tables(draw: Any, core: CorePlan) -> dict[str, dict[str, list[Any]]]:
    """A table t0 for this plan: small pools, so that units, keys and values meet."""
    pools: dict[str, Any] = {}
    known = [found for step in core if isinstance(step, Filter) for found in _constants(step.predicate)]
    known += [found for step in core if isinstance(step, Project) for part in step.parts for found in _constants(part)]
    for column, name in enumerate(NAMES):
        kind = KINDS[name]
        options = [st.none(), st.sampled_from(draw(st.lists(constants[kind], min_size=1, max_size=4)))]
        if name == "c2":
            options += [st.sampled_from(DAYS + MOMENTS)]
        if name == "c4":
            options += [st.sampled_from(SPELLED)]
        if kind == "float":
            options += [st.sampled_from(BAD_FLOATS), floats]
        near = [value for other, value in known if other == kind]
        for step in core:
            if isinstance(step, Listed) and column in step.columns:
                near += [key[step.columns.index(column)] for key in step.keys]
            if isinstance(step, Measure):
                options += [_near(grid) for grid in step.grids if grid.column == column]
        pools[name] = st.one_of(options + ([st.sampled_from(near)] * 2 if near else []))
    drawn = draw(st.lists(st.tuples(*(pools[name] for name in NAMES)), max_size=25))
    if drawn and draw(st.integers(0, 9)) == 0:  # one unit with thousands of rows
        drawn = drawn + [draw(st.sampled_from(drawn))] * draw(st.sampled_from([700, 3000]))
    return {"t0": {name: [row[column] for row in drawn] for column, name in enumerate(NAMES)}}


@st.composite
def cases(draw: Any, *, capped: bool = False) -> Case:
    core = draw(cores(capped=capped))
    return Case(draw(tables(core)), core)
