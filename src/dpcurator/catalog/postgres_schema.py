"""The columns of a PostgreSQL table or view as the server's catalogs describe them: names, types, labels, remarks.

No row is read here, and no statistic of one. A domain is its base type, an enumeration its labels. Which of our types
each may be declared as is `READ_AS`; every other type is refused by name, with the view that mends it.
Checked in tests/snapshot/test_postgres.py.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from dpcurator.catalog.declaration import Reading
from dpcurator.catalog.formats import count_of
from dpcurator.catalog.model import Column, Table
from dpcurator.catalog.problems import nearest, text
from dpcurator.catalog.source_types import ANY, no_zone, not_read_as
from dpcurator.catalog.spelling import Spelling
from dpcurator.errors import Misconfigured

if TYPE_CHECKING:
    from psycopg import Connection

_NUMBERS: Final = ("integer", "float", "boolean", "text")
READ_AS: Final[dict[str, tuple[str, ...]]] = {  # what values of a type may be declared as, the plainest first
    "int2": _NUMBERS, "int4": _NUMBERS, "int8": _NUMBERS,
    "float4": ("float", "integer"), "float8": ("float", "integer"), "numeric": ("float", "integer", "boolean"),
    "bool": ("boolean",), "text": ANY, "varchar": ANY, "bpchar": ANY, "enum": ANY,
    "date": ("date", "timestamp"), "timestamp": ("timestamp", "date"), "timestamptz": ("timestamp",),
    "uuid": ("uuid", "text"), "bytea": ANY,
}
TEXTS: Final = ("text", "varchar", "bpchar", "enum")
_WRITTEN: Final = {  # what a view writes in place of a column that is not read
    "money": "CAST({0} AS numeric)", "oid": "CAST({0} AS bigint)",
    "citext": "lower(CAST({0} AS text))", "bool": "CAST({0} AS integer)",
}
_SPANS: Final = ("time", "interval")
_PLAIN = re.compile(r"[a-z_][a-z0-9_]*")
_RELATIONS: Final = """
    SELECT c.oid, n.nspname, c.relname, c.relkind::text, pg_catalog.obj_description(c.oid, 'pg_class')
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'"""
_COLUMNS: Final = """
    WITH RECURSIVE whole AS (
        SELECT a.attnum, a.attname, a.atttypid AS type, a.atttypmod AS typmod, a.attcollation,
               pg_catalog.format_type(a.atttypid, a.atttypmod) AS shown
        FROM pg_catalog.pg_attribute a WHERE a.attrelid = %(oid)s AND a.attnum > 0 AND NOT a.attisdropped
      UNION ALL
        SELECT w.attnum, w.attname, t.typbasetype, t.typtypmod, w.attcollation, w.shown
        FROM whole w JOIN pg_catalog.pg_type t ON t.oid = w.type WHERE t.typtype = 'd'
    )
    SELECT w.attname, CASE WHEN t.typtype = 'e' THEN 'enum' WHEN n.nspname = 'pg_catalog' OR t.typname = 'citext'
               THEN t.typname::text ELSE '' END,
           w.shown, w.type, w.typmod, COALESCE(l.collisdeterministic, true),
           pg_catalog.col_description(%(oid)s, w.attnum),
           (SELECT pg_catalog.array_agg(e.enumlabel::text ORDER BY e.enumsortorder)
            FROM pg_catalog.pg_enum e WHERE e.enumtypid = w.type)
    FROM whole w JOIN pg_catalog.pg_type t ON t.oid = w.type JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
         LEFT JOIN pg_catalog.pg_collation l ON l.oid = w.attcollation
    WHERE t.typtype <> 'd' ORDER BY w.attnum"""


@dataclass(frozen=True, slots=True)
class Relation:
    """A table or view. kind: pg_class.relkind; sql: its name as SQL spells it; shown: as a person does."""

    oid: int
    schema: str
    name: str
    kind: str
    remark: str = ""

    @property
    def sql(self) -> str:
        return ".".join('"' + part.replace('"', '""') + '"' for part in (self.schema, self.name))

    @property
    def shown(self) -> str:
        return f"{identifier(self.schema)}.{identifier(self.name)}"


@dataclass(frozen=True, slots=True)
class ServerColumn:
    """kind: of `READ_AS`, or another name, or "" for a type of the database's own; type: its oid, a domain's base."""

    name: str
    kind: str
    shown: str
    type: int
    letters: int | None = None  # n of varchar(n) and char(n)
    scale: int | None = None  # s of numeric(p, s)
    one_spelling: bool = True  # are equal texts the same text? Not under some collations
    remark: str = ""
    labels: tuple[str, ...] = ()


def may_be(kind: str, type: str, spelling: Spelling) -> bool:
    """Is a type of the server's read as one of ours? Numbers are dates where a count since a day is declared, and times
    of day are integers where a format says so."""
    if type == "integer" and spelling.formats:
        return kind in (*TEXTS, "bytea", "time")
    if type in ("date", "timestamp") and "integer" in READ_AS.get(kind, ()) and kind not in (*TEXTS, "bytea"):
        return any(count_of(one) for one in spelling.formats)
    return type in READ_AS.get(kind, ())


def identifier(name: str) -> str:
    """A name as SQL spells it, in quotes only where it must be."""
    return name if _PLAIN.fullmatch(name) else '"' + name.replace('"', '""') + '"'


def relations(connection: Connection[Any]) -> list[Relation]:
    """The tables and views of a database, but PostgreSQL's own."""
    rows = connection.execute(f"{_RELATIONS} ORDER BY 2, 3").fetchall()
    return [Relation(oid, schema, name, kind, remark or "") for oid, schema, name, kind, remark in rows]


def relation(connection: Connection[Any], named: str, where: str) -> Relation:
    """The table or view of this name, exactly as stored; "public.visits" names a schema. Raises Misconfigured."""
    rows = connection.execute(
        f"{_RELATIONS} AND (c.relname = %(n)s OR n.nspname || '.' || c.relname = %(n)s) ORDER BY 2, 3", {"n": named}
    ).fetchall()
    if len(rows) == 1:
        oid, schema, name, kind, remark = rows[0]
        return Relation(oid, schema, name, kind, remark or "")
    if rows:
        raise Misconfigured(f"The database has more than one table {text(named)}.", where=where,
                            cure=f"Name the schema too: table = {text('.'.join(rows[0][1:3]))}.")
    there = relations(connection)
    names = [f"{one.schema}.{one.name}" for one in there] + [one.name for one in there]
    near = nearest(named, names) if len(names) <= 10_000 else ""
    raise Misconfigured(f"The database has no table or view {text(named)}, or the role may not see it.", where=where,
                        cure=near if near.startswith("Did") else "Check its name, and the database's.")


def columns_of(connection: Connection[Any], oid: int) -> list[ServerColumn]:
    """The columns of a table or view, in order."""
    rows = connection.execute(_COLUMNS, {"oid": oid}).fetchall()
    return [
        ServerColumn(
            name, kind, shown, type, typmod - 4 if kind in ("varchar", "bpchar") and typmod > 4 else None,
            (typmod - 4) & 0x7FF if kind == "numeric" and typmod > 4 else None, one, remark or "", tuple(labels or ()),
        )
        for name, kind, shown, type, typmod, one, remark, labels in rows
    ]


def matched(
    table: Table, readings: Sequence[Reading], found: Sequence[ServerColumn], source: Relation, where: str
) -> list[ServerColumn]:
    """The server's column of each declared one. Raises Misconfigured where one is absent, or not read as declared."""
    by_name = {column.name: column for column in found}
    chosen: list[ServerColumn] = []
    for column, reading in zip(table.columns, readings, strict=True):
        own = by_name.get(column.name)
        if own is None:
            near = nearest(column.name, by_name)
            cure = near if near.startswith("Did") else f"It has {len(found)} columns, and none has a name like it."
            raise Misconfigured(f"{source.shown} has no column {text(column.name)}.", where=where, cure=cure)
        chosen.append(own)
        if own.kind in READ_AS and not may_be(own.kind, column.type, reading.spelling):
            raise not_read_as(column, own.shown, source.shown, READ_AS[own.kind], where,
                              "name a view that writes it otherwise.")
        if own.kind in ("timestamp", "date") and column.type == "timestamp" and reading.spelling.zone is None:
            raise no_zone(column, own.shown, source.shown, where)
    refused = [
        own.name for column, reading, own in zip(table.columns, readings, chosen, strict=True)
        if not may_be(own.kind, column.type, reading.spelling)
    ]
    if refused:
        first = by_name[refused[0]]
        raise Misconfigured(
            f"{text(first.name)} of {source.shown} is of type {first.shown}, which is not read.", where=where,
            cure=_view(table.columns, chosen, refused, source),
        )
    unit = next((own for own in chosen if own.name == table.unit), None)
    if unit is not None and (unit.kind in ("float4", "float8") or not unit.one_spelling):
        what = "is a float: a unit is compared exactly" if unit.one_spelling \
            else "has a collation under which different texts are equal: a unit is compared byte by byte"
        raise Misconfigured(f"The unit {text(unit.name)} of {source.shown} {what}.", where=where,
                            cure=_view(table.columns, chosen, [unit.name], source))
    return chosen


def _view(columns: Sequence[Column], chosen: Sequence[ServerColumn], changed: Sequence[str], source: Relation) -> str:
    """The cure: a view that writes those columns as something that is read, to paste into psql."""
    parts = []
    for column, own in zip(columns, chosen, strict=True):
        name = identifier(own.name)
        parts.append(f"{_written(own, column.type).format(name)} AS {name}" if own.name in changed else name)
    made = f"{identifier(source.schema)}.{identifier(source.name + '_read')}"
    return (f"Let its owner make a view, and name that: CREATE VIEW {made} AS SELECT {', '.join(parts)} "
            f"FROM {source.shown};")


def _written(own: ServerColumn, declared: str) -> str:
    if own.kind in ("float4", "float8"):
        return "CAST({0} AS bigint)"
    if not own.one_spelling:
        return 'lower({0}) COLLATE "C"'
    if own.kind in _SPANS and declared in ("integer", "float"):
        return "EXTRACT(epoch FROM {0})"
    return _WRITTEN.get(own.kind, "CAST({0} AS text)")
