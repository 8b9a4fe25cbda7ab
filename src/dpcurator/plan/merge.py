"""Core plans that ask of the same groups, as one: what a batch scans and groups once.

Two core plans merge when their table, condition, owner, keys and caps are the same, whatever they measure and add up:
the merged one reads the union of their columns, and each sum is, by `plan/core.py`, a function of the rows, the keys
and its own measure alone, so it is the same number. Columns are known by their stored names, so conditions and keys are
compared after renumbering.

Plans that differ in their condition as well are kin: no one plan says what they mean, since which groups a unit is in
is another matter for each, but an engine can read and group the rows for all of them at once.
Checked in tests/plan/test_merge.py and tests/engines/test_together.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dpcurator.language.rows import Operand, fields, moved, moved_condition
from dpcurator.plan import core as steps
from dpcurator.plan.core_relations import CoreRelation
from dpcurator.values import Exact


@dataclass(frozen=True, slots=True)
class Merged:
    """One core plan for several. `parts`: for each of the merged, its number among all and where its sums are;
    `tallies`, `histograms`: where its tallies and histograms are."""

    core: steps.CorePlan
    parts: tuple[tuple[int, tuple[int, ...]], ...]
    tallies: tuple[tuple[int, ...], ...]
    histograms: tuple[tuple[int, ...], ...]


def merged(cores: Sequence[steps.CorePlan]) -> tuple[Merged, ...]:
    """The fewest core plans that compute all of these, each in the place of the first it holds."""
    columns = _unions(cores)
    groups: dict[tuple[steps.Step, ...], _Group] = {}
    for number, core in enumerate(cores):
        frame, measured, valued = _apart(core, columns[_scan(core).table])
        groups.setdefault(frame, _Group()).add(number, core, measured, valued)
    return tuple(
        Merged(_trimmed([group.core(frame)])[0], tuple(group.parts), tuple(group.counted), tuple(group.lying))
        for frame, group in groups.items()
    )


def kindred(cores: Sequence[steps.CorePlan], most: int) -> tuple[tuple[tuple[int, steps.CorePlan], ...], ...]:
    """The plans (numbered), in groups of at most `most` that differ in nothing but conditions and what is measured.

    Those of one group are rewritten over one scan, and the computed columns of their keys come first in each.
    """
    columns = _unions(cores)
    found: dict[tuple[steps.Step, ...], list[list[tuple[int, steps.CorePlan]]]] = {}
    for number, core in enumerate(cores):
        frame, measured, valued = _apart(core, columns[_scan(core).table])
        group = _Group()
        group.add(number, core, measured, valued)
        chunks = found.setdefault(tuple(step for step in frame if not isinstance(step, steps.Filter)), [[]])
        if len(chunks[-1]) == most:
            chunks.append([])
        chunks[-1].append((number, group.core(frame)))
    kin = [chunk for chunks in found.values() for chunk in chunks]
    return tuple(
        tuple(zip((number for number, _ in chunk), _trimmed([core for _, core in chunk]), strict=True)) for chunk in kin
    )


def apart(cores: Sequence[steps.CorePlan], found: Sequence[Exact]) -> tuple[Exact, ...]:
    """Each plan's own sums, from those of the merged ones in their order; under seal throughout."""
    own: dict[int, Exact] = {}
    for one, exact in zip(merged(cores), found, strict=True):
        own |= {
            number: exact.only(places, tallies, histograms)
            for (number, places), tallies, histograms in zip(one.parts, one.tallies, one.histograms, strict=True)
        }
    return tuple(own[number] for number in range(len(cores)))


def _unions(cores: Sequence[steps.CorePlan]) -> dict[str | CoreRelation, list[steps.Source]]:
    """By table: every column that some plan reads."""
    columns: dict[str | CoreRelation, list[steps.Source]] = {}
    for core in cores:
        scan = _scan(core)
        columns[scan.table] = list(dict.fromkeys([*columns.get(scan.table, []), *scan.columns]))
    return columns


def _scan(core: steps.CorePlan) -> steps.Scan:
    scan = core[0]
    if not isinstance(scan, steps.Scan):
        raise TypeError("a core plan begins with its scan")
    return scan


What = Operand | int  # a column in the union, or what is computed from those
Measured = tuple[What, steps.Grid]  # what is measured, and how
Valued = tuple[What, steps.Distinct]  # whose values are looked at


def _apart(
    core: steps.CorePlan, union: list[steps.Source]
) -> tuple[tuple[steps.Step, ...], list[Measured], list[Valued]]:
    """The plan's frame over the union of columns, without what it measures; what it measures; whose values it counts.
    """
    scan = _scan(core)
    place = {index: union.index(source) for index, source in enumerate(scan.columns)}
    computed: tuple[Operand, ...] = ()
    measured: list[Measured] = []
    valued: list[Valued] = []
    frame: list[steps.Step] = [steps.Scan(scan.table, tuple(union))]

    def what(column: int) -> Operand | int:
        return place[column] if column in place else computed[column - len(place)]

    def named(column: int) -> int:
        """A key's column, computed or not, in the frame: computed ones are projected first, in order of use."""
        found = what(column)
        if isinstance(found, int):
            return found
        if found not in keyed:
            keyed.append(found)
        return len(union) + keyed.index(found)

    keyed: list[Operand] = []
    for step in core[1:]:
        match step:
            case steps.Filter(predicate):
                frame.append(steps.Filter(moved_condition(predicate, place)))
            case steps.Project(parts):
                computed = tuple(moved(part, place) for part in parts)
            case steps.Owner(column):
                frame.append(steps.Owner(None if column is None else place[column]))
            case steps.Listed(columns) | steps.Chosen(columns):
                frame.append(replace(step, columns=tuple(named(column) for column in columns)))
            case steps.Measure(grids, _, distinct):
                measured = [(what(grid.column), replace(grid, column=0)) for grid in grids]
                valued = [(what(one.column), replace(one, column=0)) for one in distinct]
            case steps.Total():
                pass
            case _:
                frame.append(step)
    return (*frame, steps.Project(tuple(keyed))), measured, valued


class _Group:
    """What the plans of one frame measure and add up, each thing once."""

    def __init__(self) -> None:
        self.measured: list[Measured] = []
        self.valued: list[Valued] = []
        self.products: list[steps.Product] = []  # numbers in `measured`; in `sums` they are numbered downwards from -1
        self.sums: list[steps.Sum] = []
        self.tallies: list[steps.Tally] = []
        self.parts: list[tuple[int, tuple[int, ...]]] = []
        self.counted: list[tuple[int, ...]] = []
        self.histograms: list[steps.Histogram] = []
        self.lying: list[tuple[int, ...]] = []

    def add(self, number: int, core: steps.CorePlan, measured: list[Measured], valued: list[Valued]) -> None:
        self.measured = list(dict.fromkeys([*self.measured, *measured]))
        self.valued = list(dict.fromkeys([*self.valued, *valued]))
        place = [self.measured.index(one) for one in measured]
        total = core[-1]
        assert isinstance(total, steps.Total)
        for one in _products(core):
            made = replace(one, first=place[one.first], second=place[one.second])
            if made not in self.products:
                self.products.append(made)
            place.append(-1 - self.products.index(made))
        places = []
        for wanted in total.sums:
            counted = wanted.what in ("present", "values")
            found = replace(wanted, measure=place[wanted.measure] if counted else 0)
            if wanted.what == "distinct":
                found = replace(wanted, measure=self.valued.index(valued[wanted.measure]))
            if found not in self.sums:
                self.sums.append(found)
            places.append(self.sums.index(found))
        self.parts.append((number, tuple(places)))
        own = [
            replace(tally, measures=tuple(place[measure] for measure in tally.measures))
            for tally in total.tallies
        ]
        self.tallies = list(dict.fromkeys([*self.tallies, *own]))
        self.counted.append(tuple(self.tallies.index(tally) for tally in own))
        lying = [replace(one, measure=self.measured.index(measured[one.measure])) for one in total.histograms]
        self.histograms = list(dict.fromkeys([*self.histograms, *lying]))
        self.lying.append(tuple(self.histograms.index(one) for one in lying))

    def core(self, frame: tuple[steps.Step, ...]) -> steps.CorePlan:
        *before, keyed = frame
        scan = before[0]
        assert isinstance(scan, steps.Scan)
        assert isinstance(keyed, steps.Project)
        computed = list(keyed.parts)
        computed += [what for what, _ in (*self.measured, *self.valued) if not isinstance(what, int)]
        computed = list(dict.fromkeys(computed))

        def place(what: What) -> int:
            return what if isinstance(what, int) else len(scan.columns) + computed.index(what)

        grids = tuple(replace(grid, column=place(what)) for what, grid in self.measured)
        distinct = tuple(replace(one, column=place(what)) for what, one in self.valued)
        made: list[steps.Step] = []
        for step in before:
            if isinstance(step, steps.Owner) and computed:
                made.append(steps.Project(tuple(computed)))
            made.append(step)
            if isinstance(step, steps.Listed | steps.Chosen):
                made.append(steps.Measure(grids, tuple(self.products), distinct))
        sums = (replace(one, measure=len(grids) - 1 - one.measure) if one.measure < 0 else one for one in self.sums)
        return (*made, steps.Total(tuple(sums), tuple(self.tallies), tuple(self.histograms)))


def _products(core: steps.CorePlan) -> tuple[steps.Product, ...]:
    return next((step.products for step in core if isinstance(step, steps.Measure)), ())


def _trimmed(cores: Sequence[steps.CorePlan]) -> list[steps.CorePlan]:
    """Plans over one scan, without the scanned columns that none of them uses (they are other groups')."""
    size = len(_scan(cores[0]).columns)
    used = set[int]().union(*(_used(core, size) for core in cores))
    return [_keeping(core, sorted(used)) for core in cores]


def _used(core: steps.CorePlan, size: int) -> set[int]:
    used = set[int]()
    for step in core[1:]:
        match step:
            case steps.Filter(predicate):
                used |= fields(predicate)
            case steps.Project(parts):
                used = used.union(*(fields(part) for part in parts))
            case steps.Owner(column):
                used |= set() if column is None else {column}
            case steps.Listed(columns) | steps.Chosen(columns):
                used |= {column for column in columns if column < size}
            case steps.Measure(grids, _, distinct):
                used |= {grid.column for grid in grids if grid.column < size}
                used |= {one.column for one in distinct if one.column < size}
    return used


def _keeping(core: steps.CorePlan, order: list[int]) -> steps.CorePlan:
    """The plan with these of its scan's columns, renumbered."""
    scan = _scan(core)
    size, computed = len(scan.columns), sum(len(step.parts) for step in core if isinstance(step, steps.Project))
    place = {index: number for number, index in enumerate(order)}
    place |= {size + number: len(order) + number for number in range(computed)}
    made: list[steps.Step] = [steps.Scan(scan.table, tuple(scan.columns[index] for index in order))]
    for step in core[1:]:
        match step:
            case steps.Filter(predicate):
                made.append(steps.Filter(moved_condition(predicate, place)))
            case steps.Project(parts):
                made.append(steps.Project(tuple(moved(part, place) for part in parts)))
            case steps.Owner(column):
                made.append(steps.Owner(None if column is None else place[column]))
            case steps.Listed(columns) | steps.Chosen(columns):
                made.append(replace(step, columns=tuple(place[column] for column in columns)))
            case steps.Measure(grids, _, distinct):
                moved_grids = tuple(replace(grid, column=place[grid.column]) for grid in grids)
                moved_values = tuple(replace(one, column=place[one.column]) for one in distinct)
                made.append(replace(step, grids=moved_grids, distinct=moved_values))
            case _:
                made.append(step)
    return tuple(made)
