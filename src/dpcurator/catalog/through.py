"""`unit = { through = "orders", on = "order_id" }`: tables whose rows are owned through another private table.

The catalog says which column names a row there, and a refresh looks up whose it is (`snapshot/owners.py`). Here the
tables get their unit's column, after their own: with the name and the type it has there. Tables may go through one
another, in no circle. Checked in tests/snapshot/test_owners.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from dpcurator.catalog.declaration import Declaration, Reading, Source
from dpcurator.catalog.model import EACH_ROW, Column, Table, Through
from dpcurator.catalog.positions import Path
from dpcurator.catalog.problems import Problems, nearest, text
from dpcurator.catalog.schema import ThroughFields

_COMPARED: Final = ("integer", "text", "uuid")


def resolved(
    tables: Sequence[Table], sources: Sequence[Source], said: Mapping[str, ThroughFields], problems: Problems
) -> tuple[list[Table], list[Source]]:
    """The tables with the units that others say, and their sources with a reading for that column too."""
    known = {table.name: table for table in tables}
    waiting = [table.name for table in tables if table.name in said]
    while waiting:
        ready = [name for name in waiting if said[name].through not in waiting]
        if not ready:
            _circle(waiting, said, problems)
            break
        for name in ready:
            known[name] = _owned(known[name], said[name], known, problems)
            waiting.remove(name)
    found = [known[table.name] for table in tables]
    for table, source in zip(found, sources, strict=True):
        if table.through is not None and source.append_only:
            problems.add(("tables", table.name, "append_only"),
                         "append_only does not go with a unit through another table.",
                         "Leave append_only out: all files are then read at each refresh.")
    return found, [
        source if table.through is None else replace(source, readings=(*source.readings, Reading()))
        for table, source in zip(found, sources, strict=True)
    ]


def _owned(table: Table, said: ThroughFields, known: Mapping[str, Table], problems: Problems) -> Table:
    """The table with its unit's column. Faults go to `problems`."""
    place: Path = ("tables", table.name, "unit")
    other, found = known.get(said.through), len(problems.found)
    private = [one.name for one in known.values() if one.private and one.name != table.name]
    if other is None or not other.private:
        what = "is public: nobody owns its rows" if other else "is not declared"
        problems.add(place, f"unit goes through the table {text(said.through)}, which {what}.",
                     nearest(said.through, private))
        return table
    if other.unit == EACH_ROW:
        problems.add(place, f"Each row of {text(other.name)} is a unit of its own, so it owns no rows elsewhere.",
                     f"Give {text(other.name)} a unit column.")
        return table
    key = said.on if said.key is None else said.key
    mine = next((column for column in table.columns if column.name == said.on), None)
    its = next((column for column in other.columns if column.name == key), None)
    unit = next((column for column in other.columns if column.name == other.unit), None)
    if mine is None:
        problems.add(place, f"on names {text(said.on)}, which is no column of {text(table.name)}.",
                     nearest(said.on, [column.name for column in table.columns]))
    if its is None:
        problems.add(place, f"{text(other.name)} has no column {text(key)}.",
                     nearest(key, [column.name for column in other.columns if column.name != other.unit]))
    if unit is None or mine is None or its is None:
        return table
    if mine.type != its.type or mine.type not in _COMPARED:
        problems.add(place, f"{text(said.on)} is of type {mine.type}, and {text(key)} of {text(other.name)} of type "
                     f"{its.type}.", f"Declare both with one type that is compared exactly: {', '.join(_COMPARED)}.")
    if key == other.unit:
        problems.add(place, f"{text(key)} is the unit of {text(other.name)} itself.",
                     f"Write unit = {text(said.on)}.")
    if unit.name in [column.name for column in table.columns]:
        problems.add(place, f"{text(table.name)} has a column {text(unit.name)} of its own, and its unit would have "
                     "that name.", f"Write unit = {text(unit.name)}; or leave that column out here.")
    if len(problems.found) > found:
        return table
    made = Column(unit.name, unit.type, max_length=unit.max_length)
    through = Through(other.name, said.on, key)
    return replace(table, columns=(*table.columns, made), unit=unit.name, through=through)


def _circle(waiting: Sequence[str], said: Mapping[str, ThroughFields], problems: Problems) -> None:
    """Tables that go through one another say of none whose its rows are."""
    seen: list[str] = [waiting[0]]
    while (following := said[seen[-1]].through) not in seen:
        seen.append(following)
    way = " goes through ".join(map(text, [*seen[seen.index(following):], following]))
    problems.add(("tables", following, "unit"), f"{way}: no table says whose the rows are.",
                 'Give one of them a unit column, as in unit = "patient_id".')


def as_read(declaration: Declaration) -> Declaration:
    """The declaration with the columns alone that sources have."""
    pairs = [
        (table, source) if table.through is None else
        (replace(table, columns=table.columns[:-1]), replace(source, readings=source.readings[:-1]))
        for table, source in zip(declaration.tables, declaration.sources, strict=True)
    ]
    return replace(declaration, tables=tuple(one for one, _ in pairs), sources=tuple(one for _, one in pairs))


def owners_first(tables: Sequence[Table]) -> list[int]:
    """The numbers of the tables, each after the one that says whose its rows are."""
    place, found = {table.name: i for i, table in enumerate(tables)}, list[int]()
    left = list(range(len(tables)))
    while left:
        for i in list(left):
            through = tables[i].through
            if through is None or place[through.table] not in left:
                found.append(i)
                left.remove(i)
    return found
