"""PostgreSQL's own tables, as far as clients read them, in a DuckDB database in memory: which tables there are, of the
catalog, and their columns.

A table is a line: its name, then its columns, each with # for a whole number, ? for a truth, % for a number, * for a
list of texts, # and * together for one of whole numbers, nothing for a text, and what stands in it where a row does not
say: `=0`; NULL where nothing is given. Most have no rows here. Functions that only PostgreSQL has are macros; most of
them are of what is not here either. Checked in tests/server/test_wire.py, with what psql and SQLAlchemy send. Source:
PostgreSQL's documentation, System Catalogs, The Information Schema, System Information Functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from dpcurator.catalog.model import Column, Table
from dpcurator.curator.tables import Tables
from dpcurator.server.wire.values import OF_TYPE, TEXT

MEMORY: Final = "64MB"
VERSION: Final = "15.0"
LONG_VERSION: Final = f"PostgreSQL {VERSION} (dpcurator)"
_FIRST: Final = 16384  # the number of the first table
_AT_ONCE: Final = 200  # rows of one INSERT
_TYPES: Final = {  # of a number: its short name, its long one, the number of its array, of its elements
    16: ("bool", "boolean", 0, 0), 20: ("int8", "bigint", 1016, 0), 21: ("int2", "smallint", 0, 0),
    23: ("int4", "integer", 0, 0), 25: ("text", "text", 1009, 0), 26: ("oid", "oid", 0, 0), 19: ("name", "name", 0, 0),
    700: ("float4", "real", 0, 0), 701: ("float8", "double precision", 0, 0), 1700: ("numeric", "numeric", 0, 0),
    1043: ("varchar", "character varying", 0, 0), 1082: ("date", "date", 0, 0),
    1114: ("timestamp", "timestamp without time zone", 0, 0), 1184: ("timestamptz", "timestamp with time zone", 0, 0),
    2950: ("uuid", "uuid", 0, 0), 1009: ("_text", "text[]", 0, 25), 1016: ("_int8", "bigint[]", 0, 20),
}
_SPECIFIED: Final = """
pg.pg_class oid# relname relnamespace#=2200 reltype#=0 reloftype#=0 relowner#=10 relam#=2 relfilenode#=0
  reltablespace#=0 relpages#=0 reltuples%=-1 relallvisible#=0 reltoastrelid#=0 relhasindex?=0 relisshared?=0
  relpersistence=p relkind=r
  relnatts# relchecks#=0 relhasrules?=0 relhastriggers?=0 relhassubclass?=0 relrowsecurity?=0 relforcerowsecurity?=0
  relispopulated?=1 relreplident=d relispartition?=0 reloptions* relpartbound relacl*
pg.pg_attribute attrelid# attname atttypid# attstattarget#=-1 attlen#=-1 attnum# attndims#=0 atttypmod#=-1 attnotnull?=0
  atthasdef?=0 attidentity= attgenerated= attisdropped?=0 attislocal?=1 attinhcount#=0 attcollation#=0 attstorage=p
  attcompression= attoptions* attfdwoptions* attacl*
pg.pg_namespace oid# nspname nspowner#=10 nspacl*
pg.pg_type oid# typname typnamespace#=11 typowner#=10 typlen#=-1 typbyval?=0 typtype=b typcategory=U typisdefined?=1
  typdelim=, typrelid#=0 typelem#=0 typarray#=0 typbasetype#=0 typtypmod#=-1 typcollation#=0 typnotnull?=0 typdefault
  typacl* long
pg.pg_description objoid# classoid#=1259 objsubid#=0 description
pg.pg_am oid# amname amhandler amtype
pg.pg_roles oid# rolname rolsuper?=0 rolinherit?=1 rolcreaterole?=0 rolcreatedb?=0 rolcanlogin?=1 rolreplication?=0
  rolconnlimit#=-1 rolvaliduntil rolbypassrls?=0
pg.pg_user usename usesysid#=10 usesuper?=0 usecreatedb?=0
pg.pg_database oid#=1 datname datdba#=10 encoding#=6 datlocprovider=c datistemplate?=0 datallowconn?=1 datconnlimit#=-1
  dattablespace#=0 datcollate=C datctype=C daticulocale datacl*
pg.pg_tables schemaname=public tablename tableowner=dpcurator tablespace hasindexes?=0 hasrules?=0 hastriggers?=0
  rowsecurity?=0
pg.pg_settings name setting unit category short_desc
pg.pg_attrdef oid# adrelid# adnum# adbin
pg.pg_auth_members roleid# member# grantor#
pg.pg_cast oid#
pg.pg_collation oid# collname collnamespace# collencoding#
pg.pg_constraint oid# conname connamespace# conrelid# confrelid# conkey#* confkey#* contype conindid# condeferrable?
  condeferred? conparentid# confupdtype confdeltype confmatchtype convalidated? connoinherit?
pg.pg_depend classid# objid# objsubid# refclassid# refobjid# refobjsubid# deptype
pg.pg_enum oid# enumtypid# enumsortorder% enumlabel
pg.pg_event_trigger oid# evtname
pg.pg_extension oid# extname extversion extnamespace# extowner#
pg.pg_foreign_server oid# srvname
pg.pg_foreign_table ftrelid# ftserver# ftoptions*
pg.pg_index indexrelid# indrelid# indnatts# indnkeyatts# indisunique? indisprimary? indisexclusion? indimmediate?
  indisclustered? indisvalid? indisreplident? indkey#* indcollation#* indclass#* indoption#* indexprs indpred
  indnullsnotdistinct?
pg.pg_indexes schemaname tablename indexname indexdef
pg.pg_inherits inhrelid# inhparent# inhseqno# inhdetachpending?
pg.pg_language oid# lanname
pg.pg_matviews schemaname matviewname
pg.pg_opclass oid# opcname opcdefault?
pg.pg_operator oid# oprname
pg.pg_partitioned_table partrelid# partstrat
pg.pg_policy oid# polname polrelid# polcmd polpermissive? polroles#* polqual polwithcheck
pg.pg_proc oid# proname pronamespace# prorettype# prokind proargtypes#*
pg.pg_publication oid# pubname puballtables?
pg.pg_publication_namespace oid# pnpubid# pnnspid#
pg.pg_publication_rel oid# prpubid# prrelid# prqual prattrs#*
pg.pg_range rngtypid# rngsubtype#
pg.pg_rewrite oid# rulename ev_class# ev_type
pg.pg_sequence seqrelid# seqtypid# seqstart# seqincrement# seqmin# seqmax# seqcache# seqcycle?
pg.pg_sequences schemaname sequencename
pg.pg_shdescription objoid# classoid# description
pg.pg_stat_user_tables relid# schemaname relname n_live_tup#
pg.pg_statistic_ext oid# stxrelid# stxname stxnamespace# stxkeys#* stxkind* stxstattarget#
pg.pg_tablespace oid# spcname
pg.pg_trigger oid# tgname tgrelid# tgenabled tgisinternal? tgparentid# tgconstraint#
pg.pg_views schemaname viewname viewowner definition
info.tables table_catalog table_schema=public table_name table_type=BASE_TABLE is_insertable_into=NO
info.columns table_catalog table_schema=public table_name column_name ordinal_position# column_default is_nullable=YES
  data_type udt_catalog udt_schema=pg_catalog udt_name character_maximum_length# character_octet_length#
  numeric_precision# numeric_scale# datetime_precision# is_identity=NO is_updatable=NO is_generated=NEVER
  generation_expression collation_name domain_name
info.schemata catalog_name schema_name schema_owner=dpcurator
info.constraint_column_usage table_schema table_name column_name
info.element_types object_name
info.key_column_usage constraint_schema constraint_name table_schema table_name column_name ordinal_position#
info.referential_constraints constraint_schema constraint_name unique_constraint_schema unique_constraint_name
info.routines routine_schema routine_name
info.sequences sequence_schema sequence_name
info.table_constraints constraint_schema constraint_name table_schema table_name constraint_type
info.triggers trigger_name
info.views table_catalog table_schema table_name view_definition
"""
_TABLES: Final = {
    (schema, name): columns.split()
    for schema, name, columns in re.findall(r"^(\w+)\.(\w+)((?:\s+[^\s.]+(?![\w.]*\.))+)", _SPECIFIED, re.M)
}
NAMES: Final = {schema: frozenset(name for of, name in _TABLES if of == schema) for schema in ("pg", "info")}
_CALLED: Final = {  # functions of one to four arguments that say the same whatever they are asked
    "true": "pg_table_is_visible/1 pg_type_is_visible/1 pg_function_is_visible/1 pg_collation_is_visible/1 "
    "pg_operator_is_visible/1 pg_opclass_is_visible/1 has_table_privilege/2/3 has_schema_privilege/2/3 "
    "has_database_privilege/2/3 has_column_privilege/3/4 has_any_column_privilege/2/3",
    "false": "pg_relation_is_publishable/1 has_function_privilege/2 pg_is_in_recovery/0",
    "NULL": "pg_get_expr/2/3 pg_get_constraintdef/1/2 pg_get_indexdef/1/3 pg_get_viewdef/1/2 pg_get_partkeydef/1 "
    "pg_get_statisticsobjdef_columns/1 pg_get_serial_sequence/2 pg_get_function_identity_arguments/1 "
    "shobj_description/2 inet_server_addr/0 inet_server_port/0 inet_client_addr/0",
    "0": "pg_relation_size/1/2 pg_total_relation_size/1 pg_table_size/1 pg_database_size/1 pg_stat_get_numscans/1 "
    "pg_backend_pid/0 pg_my_temp_schema/0 txid_current/0",
    "'UTF8'": "pg_encoding_to_char/1 pg_client_encoding/0 getdatabaseencoding/0",
    "'0 bytes'": "pg_size_pretty/1", "'dpcurator'": "pg_get_userbyid/1", "'public'": "current_schema/0",
    "['pg_catalog', 'public']": "current_schemas/1",
    "TIMESTAMPTZ '2000-01-01 00:00:00+00'": "pg_postmaster_start_time/0",
}
_FOUND: Final = """
array_to_string(a, b) AS list_aggregate(a, 'string_agg', b), (a, b, c) AS list_aggregate(a, 'string_agg', b)
quote_ident(a) AS CASE WHEN regexp_matches(a, '^[a-z_][a-z0-9_]*$') THEN a ELSE '"' || replace(a, '"', '""') || '"' END
to_regtype(a) AS (SELECT min(oid) FROM pg.pg_type WHERE typname = a)
to_regclass(a) AS CASE WHEN a IN ('pg_class', 'pg_catalog.pg_class') THEN 1259
  ELSE (SELECT min(oid) FROM pg.pg_class WHERE relname = replace(a, 'public.', '')) END
to_regnamespace(a) AS (SELECT min(oid) FROM pg.pg_namespace WHERE nspname = a)
of_class(a) AS (SELECT min(relname) FROM pg.pg_class WHERE oid = a)
format_type(a, b) AS (SELECT min(long) FROM pg.pg_type WHERE oid = a)
of_type(a) AS (SELECT min(long) FROM pg.pg_type WHERE oid = a)
col_description(a, b) AS (SELECT min(description) FROM pg.pg_description WHERE objoid = a AND objsubid = b)
obj_description(a) AS (SELECT min(description) FROM pg.pg_description WHERE objoid = a AND objsubid = 0),
  (a, b) AS (SELECT min(description) FROM pg.pg_description WHERE objoid = a AND objsubid = 0)
"""
FUNCTIONS: Final = frozenset(
    {"version", "current_database", "current_catalog"}
    | {one.split("/")[0] for functions in _CALLED.values() for one in functions.split()}
    | set(re.findall(r"^(\w+)\(", _FOUND, re.M))
)


def system_tables(tables: Tables, database: str) -> Any:
    """A connection to them. It reads no file and takes no setting; database: the name that clients see."""
    import duckdb

    connection = duckdb.connect(":memory:", config={
        "threads": "1", "memory_limit": MEMORY, "enable_external_access": "false", "temp_directory": "",
        "autoinstall_known_extensions": "false", "autoload_known_extensions": "false",
        "allow_community_extensions": "false",
    })
    script = ["CREATE SCHEMA pg", "CREATE SCHEMA info", *map(_created, _TABLES), *_macros(database)]
    connection.execute(";".join(script))
    rows: dict[tuple[str, str], list[tuple[Any, ...]]] = {}
    for schema, name, said in _rows(tables, database):
        rows.setdefault((schema, name), []).append(_row((schema, name), said))
    for (schema, name), every in rows.items():
        for start in range(0, len(every), _AT_ONCE):
            some = every[start : start + _AT_ONCE]
            marks = ", ".join(["(" + ", ".join("?" * len(some[0])) + ")"] * len(some))
            connection.execute(f"INSERT INTO {schema}.{name} VALUES {marks}", [value for row in some for value in row])
    connection.execute("SET lock_configuration = true")
    return connection


def _parts(column: str) -> tuple[str, str, str | None]:
    """Its name, DuckDB's type, and what stands in it where a row does not say."""
    found = re.fullmatch(r"(\w+)([#?%]?)(\*?)(?:=(.*))?", column)
    assert found is not None, column
    name, mark, many, default = found.groups()
    return name, {"#": "BIGINT", "?": "BOOLEAN", "%": "DOUBLE", "": "VARCHAR"}[mark] + ("[]" if many else ""), default


def _created(table: tuple[str, str]) -> str:
    columns = ", ".join(f'"{name}" {kind}' for name, kind, _ in map(_parts, _TABLES[table]))
    return f"CREATE TABLE {table[0]}.{table[1]} ({columns})"


def _row(table: tuple[str, str], said: dict[str, Any]) -> tuple[Any, ...]:
    made: list[Any] = []
    for name, kind, default in map(_parts, _TABLES[table]):
        given = default if default is None else bool(int(default)) if kind == "BOOLEAN" else default.replace("_T", " T")
        made.append(said.get(name, given))
    return tuple(made)


def _macros(database: str) -> Iterator[str]:
    own = database.replace("'", "''")
    called = {f"'{LONG_VERSION}'": "version/0", f"'{own}'": "current_database/0 current_catalog/0"} | _CALLED
    for value, functions in called.items():
        for one in functions.split():
            name, *counts = one.split("/")
            forms = [f"({', '.join('abcd'[: int(count)])}) AS {value}" for count in counts]
            yield f"CREATE MACRO {name}{', '.join(forms)}"
    for line in re.sub(r"\n  ", " ", _FOUND).strip().splitlines():
        yield f"CREATE MACRO {line}"


def _rows(tables: Tables, database: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(schema, table, what a row says)."""
    for number, name in ((2200, "public"), (11, "pg_catalog"), (13000, "information_schema")):
        yield "pg", "pg_namespace", {"oid": number, "nspname": name}
        yield "info", "schemata", {"catalog_name": database, "schema_name": name}
    for number, (short, long, array, inner) in _TYPES.items():
        more = {"typelem": inner, "typcategory": "A"} if inner else {"typarray": array}
        yield "pg", "pg_type", {"oid": number, "typname": short, "long": long} | more
    yield "pg", "pg_am", {"oid": 2, "amname": "heap", "amhandler": "heap_tableam_handler", "amtype": "t"}
    yield "pg", "pg_roles", {"oid": 10, "rolname": "dpcurator"}
    yield "pg", "pg_user", {"usename": "dpcurator"}
    yield "pg", "pg_database", {"datname": database}
    yield "pg", "pg_settings", {"name": "server_version", "setting": VERSION, "category": "Preset Options"}
    for number, table in enumerate((tables[name] for name in tables), _FIRST):
        yield "pg", "pg_class", {"oid": number, "relname": table.name, "relnatts": len(table.columns)}
        yield "pg", "pg_tables", {"tablename": table.name}
        told = "private: asked for a price" if table.private else "public"
        yield "pg", "pg_description", {"objoid": number, "description": told}
        yield "info", "tables", {"table_catalog": database, "table_name": table.name}
        for place, column in enumerate(table.columns, 1):
            kind = OF_TYPE.get(column.type, TEXT)
            yield "pg", "pg_attribute", {"attrelid": number, "attname": column.name, "atttypid": kind, "attnum": place}
            yield "info", "columns", {
                "table_catalog": database, "table_name": table.name, "column_name": column.name,
                "ordinal_position": place, "data_type": _TYPES[kind][1], "udt_catalog": database,
                "udt_name": _TYPES[kind][0],
            }
            if meant := _meaning(column, table):
                yield "pg", "pg_description", {"objoid": number, "objsubid": place, "description": meant}


def _meaning(column: Column, table: Table) -> str:
    """What is declared of a column, in a few words."""
    told = []
    if table.unit == column.name:
        told.append("the privacy unit")
    if column.lower is not None and column.type in ("integer", "float"):
        told.append(f"between {column.lower} and {column.upper}")
    if column.keys is not None:
        told.append(f"{len(column.keys):,} listed values")
    return ", ".join(told)
