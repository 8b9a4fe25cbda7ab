"""Two relations of the core plan that differ in the columns they carry, as one that carries those of both.

A batch's questions read of a subquery or a join only what each uses, so their relations differ though their rows are
the same. United they are equal, so an engine reads and groups them once. Why it is right: the united relation has the
rows of each, with further columns; a node whose rows hang on which columns there are (row numbers, whose ties all
columns break) unites only with its equal. Checked in tests/plan/test_united.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dpcurator.language.rows import moved, moved_condition
from dpcurator.plan import core_relations as physical

Places = dict[int, int]  # where a relation's columns are in the united one
United = tuple[physical.CoreRelation, Places, Places]


def united(one: physical.CoreRelation, other: physical.CoreRelation) -> United | None:
    """The relation with the columns of both, and where each one's are; None where their rows may differ."""
    if one == other:
        same = {index: index for index in range(len(physical.columns_of(one)))}
        return one, same, same
    match one, other:
        case physical.Stored(), physical.Stored():
            return _stored(one, other)
        case physical.Only(), physical.Only():
            below = united(one.source, other.source)
            if below is not None and moved_condition(one.predicate, below[1]) == moved_condition(
                other.predicate, below[2]
            ):
                return physical.Only(below[0], moved_condition(one.predicate, below[1])), below[1], below[2]
        case physical.Columns(), physical.Columns():
            return _columns(one, other)
        case physical.Groups(), physical.Groups():
            return _groups(one, other)
        case physical.Match(), physical.Match():
            return _match(one, other)
        case physical.Both(), physical.Both():
            first, second = united(one.source, other.source), united(one.other, other.other)
            if first is None or second is None or first[1:] != second[1:]:
                return None
            if len(physical.columns_of(first[0])) == len(physical.columns_of(second[0])):
                return physical.Both(first[0], second[0]), first[1], first[2]
        case physical.Flag(), physical.Flag():
            below, among = united(one.source, other.source), united(one.among, other.among)
            if below is None or among is None or below[1][one.unit] != below[2][other.unit]:
                return None
            if among[1][one.among_unit] != among[2][other.among_unit]:
                return None
            made = physical.Flag(below[0], below[1][one.unit], among[0], among[1][one.among_unit])
            return _longer(made, below, one, other)
        case physical.Found(), physical.Found():
            below = united(one.source, other.source)
            if below is None or one.other != other.other or one.unknown != other.unknown:
                return None
            if _at(one.on, below[1]) == _at(other.on, below[2]):
                return _longer(replace(one, source=below[0], on=_at(one.on, below[1])), below, one, other)
    return None


def _stored(one: physical.Stored, other: physical.Stored) -> United | None:
    units = [None if side.unit is None else side.columns[side.unit] for side in (one, other)]
    if one.table != other.table or units[0] != units[1]:
        return None
    columns = tuple(dict.fromkeys((*one.columns, *other.columns)))
    unit = None if units[0] is None else columns.index(units[0])
    places = [{index: columns.index(source) for index, source in enumerate(side.columns)} for side in (one, other)]
    return physical.Stored(one.table, columns, unit), places[0], places[1]


def _columns(one: physical.Columns, other: physical.Columns) -> United | None:
    below = united(one.source, other.source)
    if below is None:
        return None
    parts = [moved(part, below[1]) for part in one.parts]
    theirs = [moved(part, below[2]) for part in other.parts]
    parts += [part for part in dict.fromkeys(theirs) if part not in parts]
    mine = {index: index for index in range(len(one.parts))}
    its = {index: parts.index(part) for index, part in enumerate(theirs)}
    return physical.Columns(below[0], tuple(parts)), mine, its


def _groups(one: physical.Groups, other: physical.Groups) -> United | None:
    """Where the keys are the same columns."""
    below, keys = united(one.source, other.source), range(one.keys)
    if below is None or one.keys != other.keys or any(below[1][n] != n or below[2][n] != n for n in keys):
        return None
    folds, theirs = (
        [replace(fold, column=places[fold.column], by=places[fold.by]) for fold in side.folds]
        for side, places in ((one, below[1]), (other, below[2]))
    )
    folds += [fold for fold in dict.fromkeys(theirs) if fold not in folds]
    mine = {index: index for index in range(one.keys + len(one.folds))}
    its = {index: index for index in keys} | {one.keys + n: one.keys + folds.index(f) for n, f in enumerate(theirs)}
    return physical.Groups(below[0], one.keys, tuple(folds)), mine, its


def _match(one: physical.Match, other: physical.Match) -> United | None:
    left, right = united(one.source, other.source), united(one.other, other.other)
    if left is None or right is None or one.left != other.left:
        return None
    on, other_on = _at(one.on, left[1]), _at(one.other_on, right[1])
    if (on, other_on) != (_at(other.on, left[2]), _at(other.other_on, right[2])):
        return None
    width = len(physical.columns_of(left[0]))
    places = [
        side[0] | {len(physical.columns_of(node.source)) + index: width + place for index, place in side[1].items()}
        for side, node in (((left[1], right[1]), one), ((left[2], right[2]), other))
    ]
    return physical.Match(left[0], right[0], on, other_on, one.left), places[0], places[1]


def _longer(
    made: physical.CoreRelation, below: United, one: physical.Flag | physical.Found,
    other: physical.Flag | physical.Found,
) -> United:
    """With one more column after the others."""
    width = len(physical.columns_of(below[0]))
    mine, its = ({len(physical.columns_of(side.source)): width} for side in (one, other))
    return made, below[1] | mine, below[2] | its


def _at(columns: tuple[int, ...], places: Mapping[int, int]) -> tuple[int, ...]:
    return tuple(places[index] for index in columns)
