"""Core plans that ask of the same rows and the same groups, as one: what a batch scans and groups once.

Two core plans merge when their table, condition, owner, keys and caps are the same, whatever they measure and add up:
the merged one reads the union of their columns, and each sum is, by `plan/core.py`, a function of the rows, the keys
and its own measure alone, so it is the same number. Columns are known by their stored names, so conditions and keys are
compared after renumbering. Checked in tests/plan/test_merge.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dpcurator.plan.core import (
    Chosen,
    CorePlan,
    Filter,
    Grid,
    Listed,
    Measure,
    Owner,
    Project,
    Scan,
    Source,
    Step,
    Sum,
    Total,
)
from dpcurator.plan.rows import Operand, fields, moved, moved_condition
from dpcurator.values import Exact


@dataclass(frozen=True, slots=True)
class Merged:
    """One core plan for several. `parts`: for each of the merged, its number among all and where its sums are."""

    core: CorePlan
    parts: tuple[tuple[int, tuple[int, ...]], ...]


def merged(cores: Sequence[CorePlan]) -> tuple[Merged, ...]:
    """The fewest core plans that compute all of these, each in the place of the first it holds."""
    columns: dict[str, list[Source]] = {}
    for core in cores:
        scan = _scan(core)
        columns[scan.table] = list(dict.fromkeys([*columns.get(scan.table, []), *scan.columns]))
    groups: dict[tuple[Step, ...], _Group] = {}
    for number, core in enumerate(cores):
        frame, measured = _apart(core, columns[_scan(core).table])
        groups.setdefault(frame, _Group()).add(number, core, measured)
    return tuple(_trimmed(Merged(group.core(frame), tuple(group.parts))) for frame, group in groups.items())


def apart(cores: Sequence[CorePlan], found: Sequence[Exact]) -> tuple[Exact, ...]:
    """Each plan's own sums, from those of the merged ones in their order; under seal throughout."""
    own: dict[int, Exact] = {}
    for one, exact in zip(merged(cores), found, strict=True):
        own |= {number: exact.only(places) for number, places in one.parts}
    return tuple(own[number] for number in range(len(cores)))


def _scan(core: CorePlan) -> Scan:
    scan = core[0]
    if not isinstance(scan, Scan):
        raise TypeError("a core plan begins with its scan")
    return scan


Measured = tuple[Operand | int, Grid]  # what is measured, by its column in the union or as computed from those; how


def _apart(core: CorePlan, union: list[Source]) -> tuple[tuple[Step, ...], list[Measured]]:
    """The plan's frame over the union of columns, without what it measures; and what it measures."""
    scan = _scan(core)
    place = {index: union.index(source) for index, source in enumerate(scan.columns)}
    computed: tuple[Operand, ...] = ()
    measured: list[Measured] = []
    frame: list[Step] = [Scan(scan.table, tuple(union))]

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
            case Filter(predicate):
                frame.append(Filter(moved_condition(predicate, place)))
            case Project(parts):
                computed = tuple(moved(part, place) for part in parts)
            case Owner(column):
                frame.append(Owner(None if column is None else place[column]))
            case Listed(columns) | Chosen(columns):
                frame.append(replace(step, columns=tuple(named(column) for column in columns)))
            case Measure(grids):
                measured = [(what(grid.column), replace(grid, column=0)) for grid in grids]
            case Total():
                pass
            case _:
                frame.append(step)
    return (*frame, Project(tuple(keyed))), measured


class _Group:
    """What the plans of one frame measure and add up, each thing once."""

    def __init__(self) -> None:
        self.measured: list[Measured] = []
        self.sums: list[Sum] = []
        self.parts: list[tuple[int, tuple[int, ...]]] = []

    def add(self, number: int, core: CorePlan, measured: list[Measured]) -> None:
        self.measured = list(dict.fromkeys([*self.measured, *measured]))
        total = core[-1]
        assert isinstance(total, Total)
        places = []
        for wanted in total.sums:
            counted = wanted.what in ("present", "values")
            found = replace(wanted, measure=self.measured.index(measured[wanted.measure]) if counted else 0)
            if found not in self.sums:
                self.sums.append(found)
            places.append(self.sums.index(found))
        self.parts.append((number, tuple(places)))

    def core(self, frame: tuple[Step, ...]) -> CorePlan:
        *steps, keyed = frame
        scan = steps[0]
        assert isinstance(scan, Scan)
        assert isinstance(keyed, Project)
        computed = list(keyed.parts)
        computed += [what for what, _ in self.measured if not isinstance(what, int) and what not in computed]
        computed = list(dict.fromkeys(computed))
        grids = tuple(
            replace(grid, column=what if isinstance(what, int) else len(scan.columns) + computed.index(what))
            for what, grid in self.measured
        )
        made: list[Step] = []
        for step in steps:
            if isinstance(step, Owner) and computed:
                made.append(Project(tuple(computed)))
            made.append(step)
            if isinstance(step, Listed | Chosen):
                made.append(Measure(grids))
        return (*made, Total(tuple(self.sums)))


def _trimmed(found: Merged) -> Merged:
    """Without the scanned columns that this plan does not use (they are other groups')."""
    scan = _scan(found.core)
    size, used, computed = len(scan.columns), set[int](), 0
    for step in found.core[1:]:
        match step:
            case Filter(predicate):
                used |= fields(predicate)
            case Project(parts):
                computed = len(parts)
                used = used.union(*(fields(part) for part in parts))
            case Owner(column):
                used |= set() if column is None else {column}
            case Listed(columns) | Chosen(columns):
                used |= {column for column in columns if column < size}
            case Measure(grids):
                used |= {grid.column for grid in grids if grid.column < size}
    order = sorted(used)
    place = {index: number for number, index in enumerate(order)}
    place |= {size + number: len(order) + number for number in range(computed)}
    steps: list[Step] = [Scan(scan.table, tuple(scan.columns[index] for index in order))]
    for step in found.core[1:]:
        match step:
            case Filter(predicate):
                steps.append(Filter(moved_condition(predicate, place)))
            case Project(parts):
                steps.append(Project(tuple(moved(part, place) for part in parts)))
            case Owner(column):
                steps.append(Owner(None if column is None else place[column]))
            case Listed(columns) | Chosen(columns):
                steps.append(replace(step, columns=tuple(place[column] for column in columns)))
            case Measure(grids):
                steps.append(Measure(tuple(replace(grid, column=place[grid.column]) for grid in grids)))
            case _:
                steps.append(step)
    return replace(found, core=tuple(steps))
