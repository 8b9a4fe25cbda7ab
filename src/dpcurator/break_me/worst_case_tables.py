"""Made-up tables in which one unit matters as much as it may, and their neighbours. They are nobody's rows.

Definition  `world(luck, table, neighbours)` draws some units by kind: very many rows in one group; a row in every group
            and one group more than a unit may be in; all values at a bound, at the other, beyond both; nothing but
            missing values (NULL, NaN); duplicates; an empty name; keys that are not listed. In other tables of the same
            units each has rows of its own, or none. Its neighbours, under the named relation: the tables without each
            unit (of the last one nothing may be left), or with another unit's rows in place of it, in all of them at
            once. Public tables have the same rows on both sides, as far as is known of them: listed values, as often.
Promise     A function of its luck and the public declaration; every pair is a pair of neighbours of the relation.
Checked     tests/break_me/test_break_me.py.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dpcurator.break_me.tables import Column, Table

KINDS: Final = ("many", "top", "bottom", "beyond", "full", "missing", "any", "groups", "repeated")
_INTEGERS: Final = (-(2**63), 2**63 - 1, 2**62, 2**53 + 1, 0, -1)
_FLOATS: Final = (math.inf, -math.inf, 1.7976931348623157e308, -0.0, 5e-324, 1e16, math.nan)
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896
_DAY: Final = 86_400 * 10**6
_WORDS: Final = ("nowhere", "", "LEEDS", "É", "\uffff", "it's", "a;b", "NULL")
_PUBLIC: Final = (0, 1, 4, 8)  # rows of a public table, before those that there cannot be are left out
Row = tuple[Any, ...]  # one physical value a column
Rows = tuple[tuple[str, Row], ...]  # of all tables, each row beside the name of its table


@dataclass(frozen=True, slots=True)
class World:
    """rows: the tables; others: their neighbours, each with what was done."""

    rows: Rows
    others: tuple[tuple[str, Rows], ...]


def world(luck: random.Random, tables: Sequence[Table], neighbours: str, *, units: int = 9) -> World:
    """Tables with their neighbours. tables: of one kind of units, the one that is asked of first; or public."""
    private = [table for table in tables if table.unit is not None]
    public = tuple((table.name, row) for table in tables if table.unit is None for row in public_rows(luck, table))
    first = private[0]
    place = unit_place(first)
    many = luck.choice((units, units, units, 1, 2))
    if place is None:
        drawn = [row for _ in range(many) for row in alike(luck, first, unit(luck, first, None, 0))[:2]]
        whole = tuple((first.name, row) for row in drawn)
        return World((*whole, *public), tuple(_rows_changed(luck, first, whole, public, neighbours)))
    made = {name: _everywhere(luck, private, name) for name in (_unit(first.columns[place], n) for n in range(many))}
    rows = [row for own in made.values() for row in own]
    for table in private:  # no unit's rows
        rows += [(table.name, row) for row in unit(luck, table, unit_place(table), None)]
    luck.shuffle(rows)
    others: list[tuple[str, Rows]] = []
    whose = {table.name: at for table in private if (at := unit_place(table)) is not None}
    for name in made:
        left = tuple((table, row) for table, row in rows if row[whose[table]] != name)
        if neighbours == "replace-one":
            new = luck.choice((name, _unit(first.columns[place], 10**6)))
            others.append((f"unit {name!r} replaced", (*left, *_everywhere(luck, private, new), *public)))
        else:
            others.append((f"without unit {name!r}", (*left, *public)))
    return World((*rows, *public), tuple(others))


def unit_place(table: Table) -> int | None:
    """Which column says whose a row is; None where each row is a unit."""
    return next((n for n, column in enumerate(table.columns) if column.name == table.unit), None)


def _everywhere(luck: random.Random, private: Sequence[Table], name: Any) -> list[tuple[str, Row]]:
    """A unit's rows in each of its tables: some in the first, and often in the others."""
    return [
        (table.name, row)
        for number, table in enumerate(private) if not number or luck.random() < 0.7
        for row in alike(luck, table, unit(luck, table, unit_place(table), name))
    ]


def public_rows(luck: random.Random, table: Table) -> list[Row]:
    """Rows of a public table, with what is known of it: the values that a column has, in how many rows one may be."""
    found: list[Row] = []
    seen = [Counter[Any]() for _ in table.columns]
    for _ in range(luck.choice(_PUBLIC)):
        row = tuple(luck.choice([*column.keys, None]) if column.keys else _value(luck, column, "any")
                    for column in table.columns)
        most = [1 if column.unique else column.most for column in table.columns]
        if all(limit is None or seen[at][row[at]] < limit for at, limit in enumerate(most)):
            found.append(row)
            for at, value in enumerate(row):
                seen[at][value] += 1
    return found


def _rows_changed(
    luck: random.Random, table: Table, whole: Rows, public: Rows, neighbours: str
) -> Iterator[tuple[str, Rows]]:
    """Each row is a unit."""
    for number in range(len(whole)):
        left = whole[:number] + whole[number + 1 :]
        if neighbours == "replace-one":
            new = (table.name, next(unit(luck, table, None, None)))
            yield f"row {number} replaced", (*left, new, *public)
        else:
            yield f"without row {number}", (*left, *public)


def alike(luck: random.Random, table: Table, rows: Iterator[Row]) -> list[Row]:
    """A unit's rows, in half of the cases with one value in the columns with per_unit = 1, the smallest, as a refresh
    leaves them; else as they are: what is promised of neighbours rests on no refresh."""
    found, single = list(rows), [at for at, column in enumerate(table.columns) if column.per_unit]
    if not single or luck.random() < 0.5:
        return found
    present = {at: [row[at] for row in found if row[at] is not None and row[at] == row[at]] for at in single}
    least = {at: min(values, default=None) for at, values in present.items()}
    return [tuple(least.get(at, value) for at, value in enumerate(row)) for row in found]


def unit(luck: random.Random, table: Table, place: int | None, name: Any) -> Iterator[Row]:
    """A unit's rows, by a kind."""
    kind, most = luck.choice(KINDS), table.max_rows or table.max_total or 1
    groups = (table.max_groups or table.max_total or 1) + 1
    size = {"many": luck.choice((most + 1, 10 * most, 40)), "full": most, "repeated": luck.choice((2, most + 1)),
            "groups": groups, "missing": luck.choice((1, 3))}.get(kind, luck.choice((1, 2, 5)))
    size = min(size, 60)
    ends = {"many": luck.choice(("top", "bottom", "any")), "full": luck.choice(("top", "bottom")), "groups": "top"}
    end, same = ends.get(kind, kind), kind in ("many", "full", "repeated")
    keys = [_grouped(luck, column, 0 if same else None) for column in table.columns]
    first: Row = ()
    for number in range(size):
        if not same:
            keys = [_grouped(luck, column, number if kind == "groups" else None) for column in table.columns]
        row: Row = tuple(
            name if at == place else _value(luck, column, end) if (key := keys[at]) is None else key[0]
            for at, column in enumerate(table.columns)
        )
        first = row if kind != "repeated" or not number else first
        yield first


def _grouped(luck: random.Random, column: Column, number: int | None) -> tuple[Any] | None:
    """A value to group by: listed most often, or the number-th of all; None where the column has none."""
    if column.unknown_keys and number is not None and column.type in ("text", "integer", "date"):
        return (f"k{number}" if column.type == "text" else number,)
    if not (column.keys or column.unknown_keys):
        return None
    listed = list(column.keys or ())
    if number is not None and listed:
        return (listed[number % len(listed)],)
    return (luck.choice([*listed, *listed, None, _value(luck, column, "any"), _value(luck, column, "beyond")]),)


def _value(luck: random.Random, column: Column, end: str) -> Any:
    """A value the column can hold: within its bounds, at an end of them, beyond, or missing."""
    real, low, high = column.type == "float", *_domain(column)
    make: Any = float if real else int
    lower = low if column.lower is None else column.lower
    upper = high if column.upper is None else column.upper
    if end == "missing":
        return luck.choice((None, math.nan)) if real else None
    if column.type in ("text", "uuid"):
        return _named(luck, column)
    if column.type == "boolean":
        return {"top": 1, "bottom": 0}.get(end, luck.choice((0, 1, None)))
    if end in ("top", "bottom"):
        return make(upper if end == "top" else lower)
    if end == "beyond":
        return luck.choice(_FLOATS[:3]) if real else luck.choice((low, high))
    middle = (lower + upper) / 2 if real else (int(lower) + int(upper)) // 2
    odd: list[Any] = [value for value in _INTEGERS if low <= value <= high]
    if real:
        odd = [*_FLOATS, math.nextafter(float(lower), math.inf), math.nextafter(float(upper), -math.inf)]
    return luck.choice([make(lower), make(upper), make(middle), None, *odd])


def _domain(column: Column) -> tuple[int, int]:
    """What the type can hold, but for floats, which are cut at something finite."""
    return {
        "date": (_FIRST_DAY, _LAST_DAY), "timestamp": (_FIRST_DAY * _DAY, (_LAST_DAY + 1) * _DAY - 1),
        "float": (-(10**12), 10**12),
    }.get(column.type, (-(2**63), 2**63 - 1))


def _named(luck: random.Random, column: Column) -> str | None:
    if column.type == "uuid":
        return luck.choice((None, f"00000000-0000-0000-0000-{luck.randrange(4):012}"))
    listed: list[str | None] = [key for key in column.keys or () if isinstance(key, str)]
    return luck.choice([*listed, *_WORDS, None])


def _unit(column: Column, number: int) -> Any:
    """A name; the first is empty, or negative."""
    if column.type == "uuid":
        return f"00000000-0000-0000-0000-{number:012}"
    return number - 1 if column.type != "text" else f"u{number}" if number else ""
