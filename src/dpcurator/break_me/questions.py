"""Questions within a schema, drawn to reach every part of it: what a steward's own catalog can be asked.

Definition  `question(luck, table)` draws aggregates (counts, sums and means of bounded columns, of expressions too),
            listed and unknown keys and their expressions, conditions of every type, HAVING, ORDER BY, LIMIT. It knows
            the public declaration alone: a `Table` is anything with these attributes, so a catalog's table is one.
            `smaller` gives the questions with one part less, for a witness that can be read.
Promise     A function of the luck it is given. A question may be refused (bounds that an expression does not have, too
            many keys): then it is refused on every data set alike, and counts as asked.
Checked     tests/break_me/test_break_me.py.
"""

from __future__ import annotations

import datetime
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final, Protocol

_DAY: Final = 86_400 * 10**6  # of a timestamp, in microseconds
_EPOCH: Final = datetime.date(1970, 1, 1).toordinal()
_NUMBERS: Final = ("integer", "float")


class Column(Protocol):
    """A declared column; lower, upper and keys as physical values. The catalog's, or another of these attributes."""

    @property
    def name(self) -> str: ...
    @property
    def type(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def lower(self) -> Fraction | None: ...
    @property
    def upper(self) -> Fraction | None: ...
    @property
    def keys(self) -> tuple[Any, ...] | None: ...
    @property
    def unknown_keys(self) -> bool: ...
    @property
    def per_unit(self) -> bool: ...


class Table(Protocol):
    """A private table. unit: the column of its units, or "each row"."""

    @property
    def name(self) -> str: ...
    @property
    def columns(self) -> Sequence[Column]: ...
    @property
    def unit(self) -> str | None: ...
    @property
    def max_rows(self) -> int | None: ...
    @property
    def max_groups(self) -> int | None: ...
    @property
    def max_total(self) -> int | None: ...


@dataclass(frozen=True, slots=True)
class Question:
    """A question in its parts. other: also for all keys that are not shown. spend: its price, a share of the budget."""

    table: str
    items: tuple[str, ...]
    keys: tuple[str, ...] = ()
    where: tuple[str, ...] = ()
    other: bool = False
    tail: str = ""
    spend: str = "5%"

    @property
    def text(self) -> str:
        """As SQL."""
        listed = ", ".join(self.keys)
        group = f" GROUP BY {f'WITH_OTHER({listed})' if self.other else listed}" if self.keys else ""
        where = f" WHERE {' AND '.join(self.where)}" if self.where else ""
        return f"SELECT {', '.join((*self.keys, *self.items))} FROM {quoted(self.table)}{where}{group}{self.tail}"

    def __str__(self) -> str:
        return self.text

    def smaller(self) -> Iterator[Question]:
        """With one part less each."""
        if self.tail:
            yield replace(self, tail="")
        for name in ("where", "keys", "items"):
            parts: tuple[str, ...] = getattr(self, name)
            if name != "items" or len(parts) > 1 or self.keys:
                for place in range(len(parts)):
                    less: Any = {name: parts[:place] + parts[place + 1 :]}
                    if less.get("items") != () or self.keys:
                        yield replace(self, **less, other=self.other and less.get("keys") != ())
        if self.other:
            yield replace(self, other=False)


def quoted(name: str) -> str:
    """A name in SQL."""
    return '"' + name.replace('"', '""') + '"'


def literal(column: Column, value: Any) -> str:
    """A physical value of the column, as SQL."""
    if value is None:
        return "NULL"
    if column.type == "boolean":
        return "TRUE" if value else "FALSE"
    if column.type == "date":
        return f"DATE '{datetime.date.fromordinal(_EPOCH + int(value)).isoformat()}'"
    if column.type == "timestamp":
        day, rest = divmod(int(value), _DAY)
        moment = datetime.datetime.min + datetime.timedelta(days=_EPOCH - 1 + day, microseconds=rest)
        return f"TIMESTAMP '{moment.isoformat()}Z'"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)


def question(luck: random.Random, table: Table) -> Question:
    """One question of the table."""
    columns = [column for column in table.columns if column.name != table.unit]
    items = luck.choices(_aggregates(table, columns), k=luck.choice((1, 1, 2, 3)))
    keyed = [column for column in columns if column.keys or column.unknown_keys]
    chosen = luck.sample(keyed, min(len(keyed), luck.choice((0, 1, 1, 2))))
    unknown = any(column.unknown_keys for column in chosen)
    if unknown:  # made of whole numbers and texts alone
        chosen = [column for column in chosen if column.type != "float"]
    keys = [_key(luck, column) for column in chosen]
    conditions = luck.choice((0, 0, 0, 1, 1, 2)) if columns else 0
    if len(columns) == len(table.columns) and luck.random() < 0.3:  # each row is a unit: all rows, whose number may be
        keys, unknown, conditions = [], False, 0  # public
    where = [_condition(luck, luck.choice(columns)) for _ in range(conditions)]
    if table.unit is not None and len(columns) < len(table.columns) and luck.random() < 0.1:
        where.append(f"{quoted(table.unit)} IS NOT NULL")
    return Question(
        table.name, tuple(dict.fromkeys(items)), tuple(keys), tuple(where),
        other=unknown and luck.random() < 0.4 and not any("DISTINCT" in item for item in items),
        tail=luck.choice(("", "", "", " HAVING COUNT(*) > 10", " ORDER BY 1 DESC", " LIMIT 2")),
        spend=luck.choice(("5%", "1%", "30%", "0.001%", "100%")),
    )


def _aggregates(table: Table, columns: Sequence[Column]) -> list[str]:
    found = ["COUNT(*)", "COUNT(*)"]
    if len(columns) < len(table.columns):
        found.append(f"COUNT(DISTINCT {quoted(str(table.unit))})")
    for column in columns:
        name = quoted(column.name)
        found.append(f"COUNT({name})")
        if column.type == "boolean":
            found += [f"COUNT_IF({name})", f"SUM({name})", f"AVG({name})", f"SUM(CASE WHEN {name} THEN 2 ELSE -1 END)"]
        if column.type in _NUMBERS:
            ends = (column.lower, column.upper)
            found += [f"SUM(CLIP({name} * 2 - 1, -4, 9))", f"COUNT_IF({name} > 1)"]
            if None not in ends:
                found += [f"SUM({name})", f"AVG({name})", f"SUM({name})", f"AVG({name})", f"AVG(ABS({name}))"]
                found.append(f"SUM(CASE WHEN {name} > 0 THEN {name} ELSE -1 END)")
        if column.type == "text":
            found.append(f"AVG(CLIP(LENGTH({name}), 0, 20))")
    return found


def _key(luck: random.Random, column: Column) -> str:
    name = quoted(column.name)
    forms = {
        "text": ("UPPER({0})", "LEFT({0}, 1)", "COALESCE({0}, 'none')"), "integer": ("{0} + 1", "{0} > 0"),
        "date": ("EXTRACT(year FROM {0})",), "timestamp": ("EXTRACT(month FROM {0})",), "boolean": ("NOT {0}",),
    }.get(column.type, ())
    return luck.choice(forms).format(name) if forms and luck.random() < 0.2 else name


def _condition(luck: random.Random, column: Column) -> str:
    name = quoted(column.name)
    some = [f"{name} IS NULL", f"{name} IS NOT NULL"]
    if column.type == "boolean":
        some += [name, f"NOT {name}"]
    else:
        values = [literal(column, value) for value in _near(column)]
        some += [f"{name} {luck.choice(('=', '<>', '<', '>='))} {luck.choice(values)}" for _ in range(4)]
        some.append(f"{name} IN ({', '.join(luck.sample(values, min(2, len(values))))}, NULL)")
    if column.type == "text":
        some.append(f"{name} LIKE '%e%'")
    if column.type in _NUMBERS:
        some += [f"10 / {name} > 1", f"SQRT({name}) >= 1", f"{name} * {name} > 4", f"{name} % 3 = 1"]
    picked = luck.choice(some)
    return f"({picked} OR {luck.choice(some)})" if luck.random() < 0.3 else picked


def _near(column: Column) -> list[Any]:
    """Values worth comparing with."""
    found = [value for value in column.keys or () if value is not None][:6]
    ends = [end for end in (column.lower, column.upper) if end is not None]
    if column.type == "float":
        found += [float(end) for end in ends if abs(end) < 10**300] + [0.5]
    elif column.type not in ("text", "uuid"):
        found += [int(end) for end in ends] + [3]
    elif not found:
        found = ["00000000-0000-0000-0000-000000000001"] if column.type == "uuid" else ["Leeds", ""]
    return found
