"""Plans that read numbers in place of units that are texts, where nothing but their equality is looked at.

A snapshot stores beside such a unit a number, the same for equal texts in all its tables and another for any other
(`snapshot/codes.py`). Numbers are grouped and joined faster. A column is read as its numbers where every use of it, in
every plan of a statement, says the same of numbers: whose row it is, GROUP BY in a subquery, counts of present or of
different values, and joins, unions and cohorts in which the other side is numbers too. Where any use is another, as
in a condition, a key or an order, it stays a text for them all. What hashes the unit (`Chosen`, `Distinct`) looks its
text up, for the units that are over a cap.

What is decided here rests on the plans and the catalog, never on a row. Checked in tests/engines/test_coded.py, and by
every test of an engine over lists, in which all texts have numbers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from dpcurator.language.rows import Field, fields
from dpcurator.plan import core_relations as physical
from dpcurator.plan.core import Chosen, CorePlan, Filter, Listed, Measure, Project, Scan, Step

TEXTS: Final = "snapshot.main.units"  # the text `unit` of each number `code`
_OF_EQUALITY: Final = ("present", "distinct")
Column = tuple[str, str]  # a stored table and its column
Marks = tuple[frozenset[Column] | None, ...]  # for each column, the stored ones that its numbers are of; None: no such


@dataclass(frozen=True, slots=True)
class Code:
    """The stored column of numbers that stand for the texts of another. letters: no such text has more."""

    name: str
    letters: int


@dataclass(frozen=True, slots=True)
class Number(physical.Source):
    """A column of numbers that stand for texts (`TEXTS`)."""


class _Looked(Exception):
    """A use of these columns looks at more than whether two values are equal."""

    def __init__(self, columns: Collection[Column]) -> None:
        super().__init__()
        self.columns = frozenset(columns)


def coded(cores: Sequence[CorePlan], codes: Mapping[Column, Code]) -> tuple[CorePlan, ...]:
    """The plans, with numbers for the texts of as many of these columns as may be. They mean the same integers."""
    usable = {column: codes[column] for core in cores for column in _read(core) if column in codes}
    while usable:
        try:
            return tuple(_plan(core, usable) for core in cores)
        except _Looked as found:
            usable = {column: code for column, code in usable.items() if column not in found.columns}
    return tuple(cores)


def _read(core: CorePlan) -> list[Column]:
    scan = core[0]
    assert isinstance(scan, Scan)
    if isinstance(scan.table, str):
        return [(scan.table, source.name) for source in scan.columns]
    return [(node.table, source.name) for node in physical.walk(scan.table) if isinstance(node, physical.Stored)
            for source in node.columns]


def _plan(core: CorePlan, codes: Mapping[Column, Code]) -> CorePlan:
    scan = core[0]
    assert isinstance(scan, Scan)
    if isinstance(scan.table, str):
        columns, marks = _stored(scan.table, scan.columns, codes)
        made = Scan(scan.table, columns)
    else:
        relation, below = _relation(scan.table, codes)
        marks = tuple(below[int(source.name.removeprefix("c"))] for source in scan.columns)
        most = [max((codes[column].letters for column in mark), default=0) if mark else 0 for mark in marks]
        _refuse(mark for source, mark, letters in zip(scan.columns, marks, most, strict=True)
                if source.fill is not None or source.letters < letters)
        made = Scan(relation, tuple(source if mark is None else Number(source.name, "integer")
                                    for source, mark in zip(scan.columns, marks, strict=True)))
    for step in core[1:]:
        _refuse(marks[index] for index in _looked_at(step) if index < len(marks))
    return (made, *core[1:])


def _looked_at(step: Step) -> set[int]:
    """The columns of the scan at whose values a step looks; to own a row is to be equal."""
    match step:
        case Filter(predicate):
            return fields(predicate)
        case Project(parts):
            return set().union(*(fields(part) for part in parts))
        case Listed(columns) | Chosen(columns):
            return set(columns)
        case Measure(grids, _, distinct):
            return {*(grid.column for grid in grids), *(one.column for one in distinct)}
    return set()


def _refuse(marks: Iterable[frozenset[Column] | None]) -> None:
    found = frozenset[Column]().union(*(mark for mark in marks if mark is not None))
    if found:
        raise _Looked(found)


def _stored(
    table: str, columns: Sequence[physical.Source], codes: Mapping[Column, Code]
) -> tuple[tuple[physical.Source, ...], Marks]:
    made: list[physical.Source] = []
    marks: list[frozenset[Column] | None] = []
    for source in columns:
        column = (table, source.name)
        code = codes.get(column)
        if code is None:
            made.append(source)
            marks.append(None)
            continue
        if source.kind != "text" or source.fill is not None or source.letters < code.letters:
            raise _Looked({column})
        made.append(Number(code.name, "integer"))
        marks.append(frozenset({column}))
    return tuple(made), tuple(marks)


def _alike(mark: frozenset[Column] | None, other: frozenset[Column] | None) -> frozenset[Column] | None:
    """Both are numbers, or neither."""
    if (mark is None) is not (other is None):
        _refuse([mark, other])
    return None if mark is None or other is None else mark | other


def _relation(node: physical.CoreRelation, codes: Mapping[Column, Code]) -> tuple[physical.CoreRelation, Marks]:
    """The relation over numbers, and which of its columns they are."""
    if isinstance(node, physical.Stored):
        columns, marks = _stored(node.table, node.columns, codes)
        return replace(node, columns=columns), marks
    source, marks = _relation(node.source, codes)
    match node:
        case physical.Only():
            _refuse(marks[index] for part in physical.expressions_of(node) for index in fields(part))
            return replace(node, source=source), marks
        case physical.Columns(_, parts):
            plain = [part.index if isinstance(part, Field) else None for part in parts]
            _refuse(marks[index] for part, only in zip(parts, plain, strict=True) if only is None
                    for index in fields(part))
            found = tuple(None if only is None else marks[only] for only in plain)
            made = tuple(part if mark is None or not isinstance(part, Field) else replace(part, kind="integer")
                         for part, mark in zip(parts, found, strict=True))
            return physical.Columns(source, made), found
        case physical.Groups(_, keys, folds):
            for fold in folds:
                if fold.function not in ("rows", *_OF_EQUALITY):
                    _refuse([marks[fold.column], *([marks[fold.by]] if fold.function.startswith("arg_") else [])])
            return replace(node, source=source), (*marks[:keys], *(None for _ in folds))
        case physical.Ranked(_, keys, order):
            _refuse(marks[one.column] for one in order if one.column not in keys)  # of those, all in a group are equal
            return replace(node, source=source), (*marks, None)
        case physical.Flag(_, unit, among, among_unit):
            other, theirs = _relation(among, codes)
            _alike(marks[unit], theirs[among_unit])
            return replace(node, source=source, among=other), (*marks, None)
        case physical.Found(_, on, among):
            other, theirs = _relation(among, codes)
            for place, index in enumerate(on):
                _alike(marks[index], theirs[place])
            return replace(node, source=source, other=other), (*marks, None)
        case physical.Match(_, among, on, other_on):
            other, theirs = _relation(among, codes)
            for index, place in zip(on, other_on, strict=True):
                _alike(marks[index], theirs[place])
            return replace(node, source=source, other=other), (*marks, *theirs)
        case physical.Both(_, among):
            other, theirs = _relation(among, codes)
            return replace(node, source=source, other=other), tuple(
                _alike(mark, their) for mark, their in zip(marks, theirs, strict=True))
