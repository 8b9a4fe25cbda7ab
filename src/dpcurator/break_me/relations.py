"""What stands in FROM, drawn: a table, and what is made of it and of other tables of the same units, one upon another.

Definition  `relation` draws some of `RELATIONS` one after the other: rows for each unit, joins on the unit and with
            public tables, rows of two tables together, rows numbered within their unit. `beyond` draws one of
            `CONDITIONS`, which look at other tables: at the unit's rows there, or at a public list. A new kind is a
            function here and a place in one of the two tuples.
Promise     A function of the luck and of the public declaration. Every subquery has names of its own.
Checked     tests/break_me/test_break_me.py, tests/laws/test_questions.py.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from dpcurator.break_me.expressions import condition, number
from dpcurator.break_me.tables import EACH_ROW, NUMBERS, Field, Source, Table, source_of, unit_type


@dataclass
class Around:
    """Whence a question's relations are drawn: the luck, the tables beside its own, and how many names are taken."""

    luck: random.Random
    tables: Sequence[Table]
    names: int = 0

    def name(self) -> str:
        self.names += 1
        return f"r{self.names}"

    def fellow(self, unit: Field) -> Source:
        """A private table of the same units, under a name of its own."""
        alike = [table for table in self.tables if unit_type(table) == unit.type]
        return source_of(self.luck.choice(alike), self.name())


def relation(around: Around, table: Table) -> Source:
    """The table, or something made of it. Where each row is a unit it is the table alone."""
    found = source_of(table)
    if found.unit is None:
        return found
    found = source_of(table, around.name())
    for _ in range(around.luck.choice((0, 1, 1, 2))):
        found = around.luck.choice(RELATIONS)(around, found)
    return found


def beyond(around: Around, one: Source) -> str:
    """A condition on a row that looks at another table."""
    return around.luck.choice(CONDITIONS)(around, one)


def cohort(around: Around, one: Source, depth: int = 1) -> str:
    """Whether the row's unit has some row in a private table of the same units."""
    luck, unit = around.luck, _unit_of(one)
    other = around.fellow(unit)
    own = _unit_of(other)
    where = [condition(luck, other)] if other.fields and luck.random() < 0.8 else []
    if depth and luck.random() < 0.3:
        where.append(cohort(around, other, depth - 1))
    text = f"SELECT {own.sql} FROM {other.text}{_where(where)}"
    if luck.random() < 0.4:
        tied = f"SELECT 1 FROM {other.text}{_where([f'{own.sql} = {unit.sql}', *where[:1]])}"
        return f"{luck.choice(('EXISTS', 'NOT EXISTS'))} ({tied})"
    if luck.random() < 0.3:
        text += f" GROUP BY {own.sql} HAVING {luck.choice(('COUNT(*) > 1', 'COUNT(*) < 3'))}"
    return f"{unit.sql} {luck.choice(('IN', 'NOT IN'))} ({text})"


def listed(around: Around, one: Source) -> str:
    """Whether the row's value is in a public table; of a cohort where there is no such table."""
    luck = around.luck
    met = _met(around, one)
    if met is None:
        return cohort(around, one)
    field, other, column = met
    where = [condition(luck, other)] if luck.random() < 0.5 else []
    if luck.random() < 0.4:
        tied = [f"{column.sql} = {field.sql}", *where]
        return f"{luck.choice(('EXISTS', 'NOT EXISTS'))} (SELECT 1 FROM {other.text}{_where(tied)})"
    value = f"{field.sql} + 1" if field.type == "integer" and luck.random() < 0.3 else field.sql
    return f"{value} {luck.choice(('IN', 'NOT IN'))} (SELECT {column.sql} FROM {other.text}{_where(where)})"


CONDITIONS: Final[tuple[Callable[[Around, Source], str], ...]] = (cohort, cohort, listed)


def _met(around: Around, one: Source) -> tuple[Field, Source, Field] | None:
    """A field, a public table under a name of its own, and a column there of the same type; None: there is none."""
    pairs = [(field, table, number) for table in around.tables if table.unit is None
             for number, column in enumerate(table.columns)
             for field in one.fields if field.type == column.type != "float"]
    if not pairs:
        return None
    field, table, number = around.luck.choice(pairs)
    other = source_of(table, around.name())
    return field, other, other.fields[number]


# --- the relations ----------------------------------------------------------------------------------------------------


def per_unit(around: Around, one: Source, *, keys: int | None = None) -> Source:
    """A row for each unit, or for each unit and key."""
    luck, alias, unit = around.luck, around.name(), _unit_of(one)
    possible = [field for field in one.fields if field.type != "float"]
    grouped = luck.sample(possible, min(len(possible), luck.choice((0, 0, 1, 2)) if keys is None else keys))
    folds = [fold(luck, one) for _ in range(luck.choice((1, 2, 3)))]
    named = [(unit.sql, "u"), *((field.sql, f"k{n}") for n, field in enumerate(grouped)),
             *((text, f"f{n}") for n, (text, _) in enumerate(folds))]
    fields = [replace(field, sql=f"{alias}.k{n}") for n, field in enumerate(grouped)]
    fields += [replace(field, sql=f"{alias}.f{n}") for n, (_, field) in enumerate(folds)]
    if luck.random() < 0.1:
        named.append((f"ROW_NUMBER() OVER (PARTITION BY {unit.sql} ORDER BY COUNT(*) DESC)", "n"))
        fields.append(Field(f"{alias}.n", "integer"))
    where = [*one.where]
    if luck.random() < 0.4:
        where.append(condition(luck, one) if one.fields and luck.random() < 0.7 else beyond(around, one))
    having = luck.choice(("", "", " HAVING COUNT(*) > 1", f" HAVING {fold(luck, one)[0]} IS NOT NULL"))
    by = ", ".join((unit.sql, *(field.sql for field in grouped)))
    text = f"(SELECT {_titled(named)} FROM {one.text}{_where(where)} GROUP BY {by}{having}) AS {alias}"
    return Source(text, tuple(fields), replace(unit, sql=f"{alias}.u"))


def fold(luck: random.Random, one: Source) -> tuple[str, Field]:
    """What is made of a unit's rows, and what is known of it."""
    if not one.fields:
        return "COUNT(*)", Field("", "integer")
    field, other = luck.choice(one.fields), luck.choice(one.fields)
    forms: list[tuple[str, Field]] = [
        ("COUNT(*)", Field("", "integer")), (f"COUNT({field.sql})", Field("", "integer")),
        (f"COUNT(DISTINCT {field.sql})", Field("", "integer")), ("COUNT(*) * 2 - 1", Field("", "integer")),
        (f"COUNT_IF({condition(luck, one)})", Field("", "integer")),
        (f"{luck.choice(('BOOL_AND', 'BOOL_OR'))}({condition(luck, one)})", Field("", "boolean")),
        (f"{luck.choice(('MIN', 'MAX'))}({field.sql})", field),
        (f"{luck.choice(('ARG_MIN', 'ARG_MAX'))}({field.sql}, {other.sql})", field),
    ]
    if any(one.type in NUMBERS for one in one.fields):
        forms += [(f"SUM({number(luck, one)})", Field("", "float")), (f"AVG({number(luck, one)})", Field("", "float"))]
    text, made = luck.choice(forms)
    if "*" not in text and "ARG" not in text and luck.random() < 0.15:
        text += f" FILTER (WHERE {condition(luck, one)})"
    return text, replace(made, unknown_keys=False)


def joined(around: Around, one: Source) -> Source:
    """Beside each row what its unit has elsewhere: one row a unit, or a unit and a key that both have."""
    luck, unit, other = around.luck, _unit_of(one), around.fellow(_unit_of(one))
    pairs = [(left, right) for left in one.fields for right in other.fields if left.type == right.type != "float"]
    keyed = luck.choice(pairs) if pairs and luck.random() < 0.3 else None
    right = per_unit(around, replace(other, fields=(keyed[1],)) if keyed else other, keys=1 if keyed else 0)
    on = [f"{unit.sql} = {_unit_of(right).sql}"]
    if keyed:
        more = " + 1" if keyed[0].type == "integer" and luck.random() < 0.3 else ""
        on.append(f"{keyed[0].sql}{more} = {right.fields[0].sql}")
    how = luck.choice(("JOIN", "LEFT JOIN", "INNER JOIN", "RIGHT JOIN"))
    if how == "RIGHT JOIN" and " JOIN " not in one.text:
        text = f"{right.text} RIGHT JOIN {one.text} ON {' AND '.join(on)}"
    else:
        text = f"{one.text} {how.replace('RIGHT', 'LEFT')} {right.text} ON {' AND '.join(on)}"
    return replace(one, text=text, fields=(*one.fields, *right.fields))


def with_public(around: Around, one: Source) -> Source:
    """Beside each row those of a public table with the same value; the same rows where there is no such table."""
    met = _met(around, one)
    if met is None:
        return one
    (field, other, column), luck = met, around.luck
    form = {"integer": "{0} = {1} - 1", "text": "UPPER({0}) = UPPER({1})"}.get(field.type, "{0} = {1}")
    on = (form if luck.random() < 0.3 else "{0} = {1}").format(field.sql, column.sql)
    how = luck.choice(("JOIN", "LEFT JOIN"))
    if luck.random() < 0.3:
        where = [condition(luck, other)] if how == "JOIN" and luck.random() < 0.7 else []
        alias = around.name()
        named = [(field.sql, f"c{n}") for n, field in enumerate(other.fields)]
        fields = tuple(replace(field, sql=f"{alias}.c{n}") for n, field in enumerate(other.fields))
        on = on.replace(column.sql, fields[other.fields.index(column)].sql)
        other = Source(f"(SELECT {_titled(named)} FROM {other.text}{_where(where)}) AS {alias}", fields, None)
    return replace(one, text=f"{one.text} {how} {other.text} ON {on}", fields=(*one.fields, *other.fields))


def together(around: Around, one: Source) -> Source:
    """Rows of two relations of the same units, by UNION ALL."""
    luck, alias, unit = around.luck, around.name(), _unit_of(one)
    other = around.fellow(unit)
    if luck.random() < 0.3:
        other = per_unit(around, other)
    pairs = [(left, right) for left in one.fields for right in other.fields if left.type == right.type]
    picked = luck.sample(pairs, min(len(pairs), luck.choice((1, 2, 3))))
    sides = []
    for source, columns in ((one, [left for left, _ in picked]), (other, [right for _, right in picked])):
        named = [(_unit_of(source).sql, "u"), *((field.sql, f"c{n}") for n, field in enumerate(columns))]
        where = [*source.where, *([condition(luck, source)] if source.fields and luck.random() < 0.3 else [])]
        sides.append(f"SELECT {_titled(named)} FROM {source.text}{_where(where)}")
    fields = [Field(f"{alias}.c{n}", left.type, keys=left.keys if left.keys == right.keys else None)
              for n, (left, right) in enumerate(picked)]
    return Source(f"({' UNION ALL '.join(sides)}) AS {alias}", tuple(fields), replace(unit, sql=f"{alias}.u"))


def numbered(around: Around, one: Source) -> Source:
    """Some of each unit's rows, by their place among the unit's own."""
    luck, alias, unit = around.luck, around.name(), _unit_of(one)
    if not one.fields:
        return one
    by = [unit.sql, *(field.sql for field in luck.sample(one.fields, luck.choice((0, 0, 1))))]
    along = [field.sql + luck.choice(("", " DESC", " NULLS FIRST", " DESC NULLS LAST"))
             for field in luck.sample(one.fields, min(len(one.fields), luck.choice((1, 1, 2))))]
    number_ = f"ROW_NUMBER() OVER (PARTITION BY {', '.join(by)} ORDER BY {', '.join(along)})"
    which = luck.choice(("= 1", "= 1", "<= 2", "> 1", "= 2"))
    named = [(unit.sql, "u"), *((field.sql, f"c{n}") for n, field in enumerate(one.fields))]
    fields = tuple(replace(field, sql=f"{alias}.c{n}") for n, field in enumerate(one.fields))
    unit = replace(unit, sql=f"{alias}.u")
    if luck.random() < 0.4:
        inner = f"SELECT {_titled(named)} FROM {one.text}{_where(one.where)} QUALIFY {number_} {which}"
        return Source(f"({inner}) AS {alias}", fields, unit)
    inner = f"SELECT {_titled([*named, (number_, 'n')])} FROM {one.text}{_where(one.where)}"
    return Source(f"({inner}) AS {alias}", fields, unit, (f"{alias}.n {which}",))


RELATIONS: Final[tuple[Callable[[Around, Source], Source], ...]] = (per_unit, joined, with_public, together, numbered)


def _unit_of(source: Source) -> Field:
    if source.unit is None:
        raise ValueError(f"in {source.text} each row is a unit ({EACH_ROW!r})")
    return source.unit


def _titled(named: Sequence[tuple[str, str]]) -> str:
    return ", ".join(f"{text} AS {title}" for text, title in named)


def _where(conditions: Sequence[str]) -> str:
    return f" WHERE {' AND '.join(conditions)}" if conditions else ""
