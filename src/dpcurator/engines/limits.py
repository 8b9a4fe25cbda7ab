"""What a core plan must satisfy before an engine touches data, and why no integer can then pass 127 bits.

`check_core` looks at the plan alone (public facts), so what it raises is a Refusal. Both engines call it first; so they
refuse the same plans, and on every other plan and every table they are total. With N rows, those of joins
included, N <= 2**48, and

    W = upper - lower,  m = max_rows <= 2**20,  T = max_total < 2**46,  one <= 2**16,  K = number of keys <= 2**26:

- measuring: x is within [clamp_lower, clamp_upper], so |x * 2**exponent| <= 2**126 and neither it nor its floor
  overflows; |lower|, |upper| < 2**126 and W <= 2**62, so the measured integer is within [0, 2**62];
- products:  |2 a - A| <= A <= 2**62, so a product is within 2**124, and so is what is added to it before it is shifted
             by at most 124 bits: half a step, 2**123 at most, and, so that it is not negative, A B rounded up to whole
             steps, 2**125 at most; clamped and from 0 to upper - lower, it is what any measured integer is;
- per unit:  c <= N, S <= W c <= 2**62 * 2**48 = 2**110;  g <= K;  h = min(g, max_groups) <= K;
- t:         t = the sum of min(r, m) over g keys is at most m K <= 2**46; T binds where T < t, so T t^-1 has both below
             2**46, and in h / g against T / t both h t and T g are at most 2**26 * 2**46 = 2**72;
- n':        one * min(c, m) * h <= 2**16 * 2**20 * 2**26 = 2**62, one * min(c, m) * T <= 2**36 * 2**46 = 2**82, and
             n' <= one * min(c, m) <= 2**36;
- S':        n' <= one * m and W m <= 2**62, so S n' <= (W m) c one <= 2**62 * 2**48 * 2**16 = 2**126;
             S' <= W n' <= (W m) one <= 2**78;
- totals:    there are at most N pairs (unit, key), so a sum of n' is at most 2**48 * 2**36 = 2**84 and a sum of S'
             at most 2**48 * 2**78 = 2**126;
- chosen keys: g <= max_groups after choosing, so h = g, nothing is scaled by it, and n' <= one * min(c, m) <= 2**36
             whatever the number of keys, which may be that of the rows, N; t <= m g <= 2**20 * 2**48, T <= 2**46;
- distinct: a number of different values in a key is at most N;
- tallies: a number of units is at most N, and one of clamped values in a group at most N;
- histograms: with d of c present values at a candidate, d n' <= c n' <= 2**48 * 2**36 = 2**84, and the floors of one
             unit sum to at most n', so what lies at a candidate is at most the sum of n', 2**84;
- each row a unit: n' = one c and S' = one S with c <= 1, so totals are at most one W N <= 2**126.

All of these are below 2**127 - 1, the largest 128-bit signed integer. Checked in tests/engines/test_limits.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from dpcurator.catalog.model import Kind
from dpcurator.engines import allowance
from dpcurator.engines.allowance import expressions_of
from dpcurator.engines.limits_relations import COLUMN_NAME as COLUMN_NAME
from dpcurator.engines.limits_relations import TABLE_NAME as TABLE_NAME
from dpcurator.engines.limits_relations import check_relation, check_source, check_stored
from dpcurator.engines.limits_rows import Rows, kind_of
from dpcurator.errors import Refusal
from dpcurator.language import rows
from dpcurator.language.functions import BY_NAME
from dpcurator.language.rows import check_value, is_double, is_unicode, require
from dpcurator.plan import core as steps
from dpcurator.plan.candidates import CELLS, MOST
from dpcurator.plan.core_relations import expressions_of as of_relation
from dpcurator.plan.core_relations import walk

MAX_TABLE_ROWS: Final = 2**48  # that are gone through one by one, which takes days: no fact of the plan
MAX_ROWS: Final = 2**20
MAX_KEYS: Final = 2**26
MAX_TOTAL: Final = 2**46  # the most that max_rows in each of so many keys come to
MAX_ONE: Final = 2**16
MAX_RANGE: Final = 2**62
MAX_GRID: Final = 2**126
MAX_SHIFT: Final = 124
MAX_EXPONENT: Final = 1000


@dataclass(frozen=True, slots=True)
class Parts:
    """A checked core plan, taken apart: its steps by name, in their order."""

    scan: steps.Scan
    predicate: rows.Predicate | None
    computed: tuple[rows.Operand, ...]
    owner: int | None
    keys: steps.Listed | steps.Chosen
    grids: tuple[steps.Grid, ...]
    scale: steps.ScaleDown
    sums: tuple[steps.Sum, ...]
    tallies: tuple[steps.Tally, ...] = ()
    products: tuple[steps.Product, ...] = ()
    histograms: tuple[steps.Histogram, ...] = ()
    distinct: tuple[steps.Distinct, ...] = ()

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """Of the scan's columns and the computed ones."""
        return (*(source.kind for source in self.scan.columns), *(part.kind for part in self.computed))

    def width(self, measure: int) -> int:
        """The greatest integer that is measured of this column or product."""
        every: tuple[steps.Grid | steps.Product, ...] = (*self.grids, *self.products)
        one = every[measure]
        return one.upper - one.lower

    @property
    def listed(self) -> steps.Listed:
        """The list of keys, in a plan that has one."""
        assert isinstance(self.keys, steps.Listed)
        return self.keys


def check_core(core: steps.CorePlan) -> Parts:
    """The plan's parts. Raises Refusal when it is not a core plan, when an integer could pass 127 bits, or when its
    expressions could need more memory than is allowed (`allowance.py`)."""
    whole = core
    predicate: rows.Predicate | None = None
    computed: tuple[rows.Operand, ...] = ()
    match core:
        case (first, steps.Filter(predicate), *others):
            core = (first, *others)
    match core:
        case (first, steps.Project(computed), *others):
            core = (first, *others)
    match core:
        case (steps.Scan() as scan, steps.Owner(owner), (steps.Listed() | steps.Chosen()) as keys,
              steps.Measure(grids, products, distinct), steps.PerUnit(), steps.ScaleDown() as scale,
              steps.Total(sums, tallies, histograms)):
            pass
        case _:
            raise Refusal("The steps of this plan are not those of a core plan, in their order.")
    _scan(scan)
    expressions = Rows(tuple(source.kind for source in scan.columns))
    if predicate is not None:
        expressions.predicate(predicate)
    kinds = (*expressions.kinds, *(expressions.operand(part) for part in computed))
    if owner is not None:
        require(kind_of(expressions.kinds, owner) != "float", "A unit is an integer or a text, never a float.")
    require(type(scale.max_rows) is int and 1 <= scale.max_rows <= MAX_ROWS, "max_rows is from 1 to 2**20.")
    require(type(scale.max_groups) is int and 1 <= scale.max_groups <= MAX_RANGE, "max_groups is from 1 to 2**62.")
    if scale.max_total is not None:
        require(type(scale.max_total) is int and scale.max_rows <= scale.max_total < MAX_TOTAL,
                "max_total is at least max_rows, and below 2**46.")
    require(type(scale.one) is int and 1 <= scale.one <= MAX_ONE, "One whole row counts from 1 to 2**16.")
    for grid in grids:
        _grid(grid, kinds, 1 if owner is None else scale.max_rows)
    for product in products:
        _product(product, grids, 1 if owner is None else scale.max_rows)
    require(bool(sums), "A plan adds up at least one thing.")
    for total in sums:
        require(total.what in ("rows", "units", "present", "values", "distinct"), "A sum is of what is not known.")
        require(total.what != "distinct" or 0 <= total.measure < len(distinct), "Values are counted of no column.")
        if total.what in ("present", "values"):
            require(0 <= total.measure < len(grids) + len(products), "A sum names a measured column that is not there.")
    for tally in tallies:
        require(tally.what in ("everyone", "cut", "cut_groups"), "Units are counted as everyone, cut, or cut_groups.")
        require(tally.what != "everyone" or not tally.measures, "Everyone is counted, whatever is clamped.")
        for measure in tally.measures:
            require(0 <= measure < len(grids) and grids[measure].kind != "text",
                    "A count of clamped units names a measured column that is not there.")
    for one in histograms:
        _histogram(one, grids, keys)
    for valued in distinct:
        require(kind_of(kinds, valued.column) != "float", "Different values are of integers and texts.")
        require(is_unicode(valued.salt), "A salt is Unicode text.")
    if isinstance(keys, steps.Listed):
        _listed(keys, kinds)
    else:
        _chosen(keys, kinds, sums, scale)
    allowance.check(allowance.need_of([whole]))
    return Parts(scan, predicate, tuple(computed), owner, keys, grids, scale, sums, tallies, products, histograms,
                 distinct)


def weight(core: steps.CorePlan) -> int:
    """How many parts a plan's expressions have, those that are long in an engine's words counted as many. For several
    plans that are run as one: together they are held to MAX_PARTS too."""
    scan = core[0]
    relations = walk(scan.table) if isinstance(scan, steps.Scan) and not isinstance(scan.table, str) else ()
    every = [*expressions_of(core), *(one for node in relations for one in of_relation(node))]
    parts = (part for one in every for part in rows.walk(one) if not isinstance(part, rows.Constant))
    return sum(BY_NAME[part.function].weight if isinstance(part, rows.Compute) else 1 for part in parts)


def _scan(scan: steps.Scan) -> None:
    if isinstance(scan.table, str):
        check_stored(scan.table, scan.columns)
        return
    made = check_relation(scan.table)
    for source in scan.columns:
        check_source(source)
        place = int(source.name.removeprefix("c"))
        require(place < len(made) and made[place].kind == source.kind and source.fill is None
                and source.letters >= made[place].letters, "A relation's column is read as it is.")


def _listed(listed: steps.Listed, kinds: tuple[Kind, ...]) -> None:
    key_kinds = tuple(kind_of(kinds, column) for column in listed.columns)
    require(len(listed.keys) <= MAX_KEYS, "A list has at most 2**26 keys.")
    for key in listed.keys:
        require(len(key) == len(key_kinds), "A key has one value for each of its columns.")
        for value, kind in zip(key, key_kinds, strict=True):
            check_value(value, kind)
    require(len(set(listed.keys)) == len(listed.keys), "The listed keys are not distinct.")


def _chosen(chosen: steps.Chosen, kinds: tuple[Kind, ...], sums: tuple[steps.Sum, ...], scale: steps.ScaleDown) -> None:
    key_kinds = [kind_of(kinds, column) for column in chosen.columns]
    require(bool(key_kinds) and "float" not in key_kinds, "A chosen key is of integers and texts.")
    require(is_unicode(chosen.salt), "A salt is Unicode text.")
    require(type(chosen.max_groups) is int and 1 <= chosen.max_groups <= scale.max_groups,
            "No more keys are kept than a unit may have whole.")
    require(scale.max_total is None or chosen.max_groups <= scale.max_total,
            "No more keys are kept than rows a unit may have in all.")
    require(bool(sums) and sums[0].what == "units", "Where keys are chosen the first sum is of units.")


def _product(product: steps.Product, grids: tuple[steps.Grid, ...], max_rows: int) -> None:
    for place in (product.first, product.second):
        require(0 <= place < len(grids) and grids[place].kind != "text", "A product is of two measured columns.")
    require(type(product.shift) is int and 0 <= product.shift <= MAX_SHIFT, "A product is shifted by 0 to 124 bits.")
    require(type(product.lower) is int and type(product.upper) is int, "A product's bounds are integers.")
    require(-MAX_RANGE <= product.lower <= product.upper <= MAX_RANGE, "A product's bounds pass 62 bits.")
    require((product.upper - product.lower) * max_rows <= MAX_RANGE, "(upper - lower) * max_rows passes 62 bits.")


def _histogram(one: steps.Histogram, grids: tuple[steps.Grid, ...], keys: steps.Listed | steps.Chosen) -> None:
    require(0 <= one.measure < len(grids) and grids[one.measure].kind != "text",
            "A histogram names a measured column that is not there.")
    require(type(one.step) is int and 1 <= one.step <= MAX_RANGE, "A histogram's step is from 1 to 2**62.")
    grid = grids[one.measure]
    count = (grid.upper - grid.lower) // one.step + 1
    require(count <= MOST, "A histogram has at most 2**16 candidates.")
    require(isinstance(keys, steps.Chosen) or count * len(keys.keys) <= CELLS,
            "A histogram has at most 2**20 candidates over all listed keys.")


def _grid(grid: steps.Grid, kinds: tuple[Kind, ...], max_rows: int) -> None:
    require(kind_of(kinds, grid.column) == grid.kind, "A grid has the kind of its column.")
    require(type(grid.lower) is int and type(grid.upper) is int, "A grid's bounds are integers.")
    require(-MAX_GRID < grid.lower <= grid.upper < MAX_GRID, "A grid's bounds pass 126 bits.")
    require((grid.upper - grid.lower) * max_rows <= MAX_RANGE, "(upper - lower) * max_rows passes 62 bits.")
    if grid.kind == "text":
        require(grid == steps.Grid(grid.column, "text", 0, 0, 0, 0, 0), "A text is counted, not measured.")
    elif grid.kind == "integer":
        require(grid.exponent == 0, "An integer grid has exponent 0.")
        require(type(grid.clamp_lower) is int and type(grid.clamp_upper) is int, "An integer is clamped to integers.")
        require(grid.lower <= grid.clamp_lower <= grid.clamp_upper <= grid.upper, "A clamp is within its grid.")
    else:
        require(-MAX_EXPONENT <= grid.exponent <= MAX_EXPONENT, "A grid's exponent is from -1000 to 1000.")
        for bound in (grid.clamp_lower, grid.clamp_upper):
            require(type(bound) in (int, float) and is_double(bound), "A float is clamped to finite doubles.")
            require(abs(Fraction(bound)) * Fraction(2) ** grid.exponent <= MAX_GRID, "A grid's bounds pass 126 bits.")
        require(grid.clamp_lower <= grid.clamp_upper, "A clamp's lower bound passes its upper bound.")
