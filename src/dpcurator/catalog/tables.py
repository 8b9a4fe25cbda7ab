"""From the fields of the tables to frozen `Table`s and their sources, with the rules that hold between them.

The rules: one source per table; every table is public or has a unit; a unit is a declared integer, text or uuid column
(semantics 1.2); with "each row" there is one private table and nothing to bound (1.1); keys come from a list or from a
public table's column of the same type. Checked in tests/catalog/test_tables.py.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from dpcurator.catalog.cleaning import FOLDING
from dpcurator.catalog.columns import DeclaredColumn, declare_column
from dpcurator.catalog.declaration import CsvOptions, PublicKeys, Source
from dpcurator.catalog.file_kinds import DUCKDB, PARQUET, not_read, suffix_of
from dpcurator.catalog.limits import MOST_COLUMNS, number_of
from dpcurator.catalog.model import EACH_ROW, Column, Table
from dpcurator.catalog.parts import read
from dpcurator.catalog.positions import Path
from dpcurator.catalog.postgres import WRITE_DSN
from dpcurator.catalog.problems import Problems, as_mapping, nearest, quoted, text
from dpcurator.catalog.schema import TableFields, ThroughFields
from dpcurator.catalog.through import resolved
from dpcurator.catalog.written import declared_marks
from dpcurator.errors import Refusal
from dpcurator.postgres import variable_of

_RELATION = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*){0,2}")
_UNIT_TYPES = ("integer", "text", "uuid")
_CARRYING = ("utf-7", "hz", "iso2022", "unicode-escape", "raw-unicode-escape", "punycode", "idna", "undefined")
_CSV_ONLY = (
    "delimiter", "quote", "escape", "decimal", "thousands", "encoding", "missing", "rename", "header", "names",
    "comment",
)


@dataclass(frozen=True, slots=True)
class DeclaredTables:
    """All tables, in the file's order; `sources` in the same order."""

    tables: tuple[Table, ...]
    sources: tuple[Source, ...]
    public_keys: tuple[PublicKeys, ...]


def declare_tables(raw: Mapping[str, object], problems: Problems) -> DeclaredTables:
    """Every table of the file. Faults go to `problems`."""
    tables: list[Table] = []
    sources: list[Source] = []
    wanted: list[tuple[str, DeclaredColumn]] = []
    owned: dict[str, ThroughFields] = {}
    first: dict[str, list[str]] = {}
    for name, given in raw.items():
        path: Path = ("tables", name)
        fields = as_mapping(given)
        if fields is None:
            problems.add(path, f"{quoted(name)} must be a table.", f"Write [tables.{quoted(name)}].")
            continue
        shape = read(TableFields, {k: v for k, v in fields.items() if k != "columns"}, path, problems)
        if shape is None:
            continue
        if isinstance(shape.unit, Mapping) and not shape.public:
            said = read(ThroughFields, shape.unit, (*path, "unit"), problems)
            owned |= {} if said is None else {name: said}
        elif shape.unit is not None and not isinstance(shape.unit, str):
            problems.add((*path, "unit"), "unit must be text in quotes.", "See docs/catalog.md.")
        if shape.one_row_per is not None:
            first[name] = shape.one_row_per
        columns = _columns(name, fields, shape, path, problems)
        tables.append(_table(name, shape, [c.column for c in columns], fields, path, problems))
        sources.append(_source(shape, columns, path, problems))
        wanted += [(name, column) for column in columns if column.keys_from is not None]
    if not raw and not problems.covers(("tables",)) and not any("tables" in p.what for p in problems.found):
        problems.add(("tables",), "There are no tables.", 'Add [tables.NAME] with file = "data.csv".')
    tables, sources = resolved(tables, sources, owned, problems)
    tables = [_one_row_per(table, first[table.name], problems) if table.name in first else table for table in tables]
    _private(tables, raw, problems)
    return DeclaredTables(tuple(tables), tuple(sources), _public_keys(wanted, tables, problems))


def _columns(
    table: str, fields: Mapping[str, object], shape: TableFields, path: Path, problems: Problems
) -> list[DeclaredColumn]:
    given = as_mapping(fields.get("columns", {}))
    if not given:
        problems.add((*path, "columns") if "columns" in fields else path, f"table {text(table)} has no columns.",
                     f'Add [tables.{quoted(table)}.columns] with a line per column: name = "integer".')
        return []
    marks = declared_marks(shape.decimal, shape.thousands, ".", path, problems)
    declared = [
        declare_column(name, raw, marks, (*path, "columns", name), problems)
        for name, raw in given.items()
    ]
    guessed = [column.column for column in declared if column is not None and column.guessed]
    if guessed:
        shown = ", ".join(text(column.name) for column in guessed[:12]) + (", ..." if len(guessed) > 12 else "")
        first = f'{quoted(guessed[0].name)} = "{guessed[0].type}"'
        problems.add((*path, "columns", guessed[0].name), f"The types of {shown} are guesses.",
                     f'Take away the "?" of each that is right, as in {first}.')
    if shape.public:
        for name, raw in given.items():
            if isinstance(raw, Mapping) and "keys" in raw:
                problems.add((*path, "columns", name, "keys"), "A public table's keys are its own values.",
                             "Leave keys out here; a private column may say keys = { table = ... }.")
    for column in (one.column for one in declared if one is not None and one.column.per_unit):
        if shape.public or shape.unit in (EACH_ROW, column.name):
            what = "a public table has no units" if shape.public else "each row is a unit, and has one value" \
                if shape.unit == EACH_ROW else "this column is the unit"
            problems.add((*path, "columns", column.name, "per_unit"), f"per_unit says nothing here: {what}.",
                         "Leave it out.")
    return [column for column in declared if column is not None]


def _table(
    name: str, shape: TableFields, columns: list[Column], fields: Mapping[str, object], path: Path, problems: Problems
) -> Table:
    unit = _unit(name, shape, fields, path, problems)
    counts: dict[str, int | None] = {}
    for field in ("max_total", "max_rows", "max_groups", "expected_units", "min_units"):
        given = getattr(shape, field)
        counts[field] = None
        if given is None:
            continue
        try:
            counts[field] = number_of(field, given)
        except Refusal as error:
            problems.add((*path, field), error.what, error.cure or f"Write {field} = 1 or more.")
        if shape.public:
            problems.add((*path, field), f"{field} is for private tables; this one is public.", "Leave it out.")
        elif unit == EACH_ROW and field not in ("expected_units", "min_units"):
            problems.add((*path, field), f'{field} cannot be given with unit = "each row": a row is in one group.',
                         "Leave it out.")
    distinct = _distinct(name, shape, columns, path, problems)
    return Table(
        name, tuple(columns), unit, distinct=distinct, max_rows=counts["max_rows"], max_groups=counts["max_groups"],
        max_total=counts["max_total"], expected_units=counts["expected_units"],
        min_units=counts["min_units"],
    )


def _distinct(
    name: str, shape: TableFields, columns: list[Column], path: Path, problems: Problems
) -> tuple[str, ...]:
    given, place = shape.distinct, (*path, "distinct")
    if given is None:
        return ()
    names = [column.name for column in columns if column.name != shape.unit]
    if shape.public or shape.unit == EACH_ROW:
        what = "a public table has no units" if shape.public else "each row is a unit of its own"
        problems.add(place, f"distinct is among the rows of a unit: {what}.", "Leave it out.")
    elif not given or len(set(given)) != len(given):
        problems.add(place, "distinct names at least one column, and each once.",
                     f"Write distinct = [{text(names[0]) if names else ''}], or leave it out.")
    else:
        for column in given:
            if column == shape.unit:
                problems.add(place, f"{text(column)} is the unit: distinct is among its rows.", "Leave it out there.")
            elif column not in names:
                problems.add(place, f"distinct names {text(column)}, which is no column of {text(name)}.",
                             nearest(column, names))
        return tuple(given)
    return ()


def _one_row_per(table: Table, given: list[str], problems: Problems) -> Table:
    """The table with its columns of one row each, after its unit is known."""
    place, unit = ("tables", table.name, "one_row_per"), table.unit
    names = [column.name for column in table.columns]
    unknown = next((column for column in given if column not in names), None)
    if unit is None or unit == EACH_ROW:
        what = "a public table has no units" if unit is None else "each row is a unit of its own"
        problems.add(place, f"one_row_per is of the rows of a unit: {what}.", "Leave it out.")
    elif unknown is not None:
        problems.add(place, f"one_row_per names {text(unknown)}, which is no column of {text(table.name)}.",
                     nearest(unknown, names))
    elif unit not in given or len(set(given)) != len(given):
        rest = dict.fromkeys(column for column in given if column != unit)
        put = ", ".join(map(text, (unit, *rest)))
        what = f"the unit, {text(unit)}: else one unit's rows would decide on another's"
        what = "each column once" if unit in given else what
        problems.add(place, f"one_row_per names {what}.", f"Write one_row_per = [{put}].")
    elif table.distinct:
        problems.add(place, "A table has one_row_per or distinct, not both.", "Leave distinct out.")
    else:
        return replace(table, one_row_per=tuple(column for column in given if column != unit))
    return table


def _unit(name: str, shape: TableFields, fields: Mapping[str, object], path: Path, problems: Problems) -> str | None:
    given = as_mapping(fields.get("columns", {})) or {}
    unit, place = shape.unit, (*path, "unit")
    if shape.public:
        if unit is not None:
            problems.add(place, "A public table has no unit.", "Leave out unit, or public = true.")
        return None
    if unit is None:
        if not problems.covers(place):
            problems.add(path, f"table {text(name)} does not say whose its rows are.",
                         'Add unit = "patient_id" (a column), unit = "each row", or public = true.')
        return None
    if not isinstance(unit, str):
        return ""  # looked up in another table, which `through` says
    if unit == EACH_ROW:
        if EACH_ROW in given:
            problems.add(place, 'unit = "each row" is ambiguous: there is a column of that name.',
                         "Give that column another name.")
        return unit
    if unit not in given:
        problems.add(place, f"The unit {text(unit)} is not among the columns.",
                     f"{nearest(unit, given)} Or add under [tables.{quoted(name)}.columns]: "
                     f'{quoted(unit)} = "text"')
        return unit
    raw = given[unit]
    if isinstance(raw, Mapping) and raw.get("missing", "drop") != "drop":
        problems.add((*path, "columns", unit, "missing"), "A unit column has no fill: strangers would become one unit.",
                     "Leave missing out; rows without a unit are dropped.")
    if isinstance(raw, Mapping) and raw.get("keys") == "unknown":
        problems.add((*path, "columns", unit, "keys"), "A unit column has no unknown keys: each would be one unit.",
                     "Leave keys out; COUNT(DISTINCT ...) counts the units.")
    clean = raw.get("clean") if isinstance(raw, Mapping) else None
    if isinstance(raw, Mapping) and (raw.get("map") or (isinstance(clean, list) and set(FOLDING) & set(clean))):
        problems.add((*path, "columns", unit, "map" if raw.get("map") else "clean"),
                     "A unit column keeps its letters and is not mapped: strangers could become one unit.",
                     'Leave map, "lower" and "upper" out; clean = ["trim", "nfc"] is allowed.')
    of_type = raw.get("type") if isinstance(raw, Mapping) else raw
    if of_type in ("float", "boolean", "date", "timestamp"):
        problems.add((*path, "columns", unit), f"The unit {text(unit)} cannot be of type {of_type}.",
                     f"A unit is compared exactly: use one of {', '.join(_UNIT_TYPES)}.")
    return unit


def _source(shape: TableFields, columns: list[DeclaredColumn], path: Path, problems: Problems) -> Source:
    readings, where = tuple(column.reading for column in columns), problems.where(path)
    given = [field for field in ("file", "duckdb", "postgres", "spark") if getattr(shape, field) is not None]
    if len(given) > 1:
        problems.add((*path, given[1]), f"A table has one source: {' or '.join(given)}, not both.", "Leave one out.")
    if shape.postgres is not None and not variable_of(shape.postgres.dsn):
        problems.add((*path, "postgres", "dsn"), "dsn names no environment variable.", WRITE_DSN)
    if shape.spark is not None:
        if shape.spark.jdbc is not None and not variable_of(shape.spark.jdbc):
            problems.add((*path, "spark", "jdbc"), "jdbc names no environment variable.",
                         'Write jdbc = "env:CLINIC_JDBC", and put the address, as in jdbc:postgresql://host/clinic, '
                         "into that environment variable.")
        if not _RELATION.fullmatch(shape.spark.table):
            problems.add((*path, "spark", "table"), f"table is no name of a table: {text(shape.spark.table)}.",
                         "Write letters, digits and _, with dots between catalog, schema and table; or make a view of "
                         "such a name.")
    if shape.file == "":
        problems.add((*path, "file"), "file is empty.", 'Write file = "visits.csv", or leave it out for a data frame.')
    suffix = suffix_of(shape.file or "")
    csv = shape.file is not None and suffix not in (*PARQUET, *DUCKDB)
    if shape.file is not None and suffix in DUCKDB:
        problems.add((*path, "file"), "A DuckDB file holds several tables.",
                     'Write duckdb = { file = "...", table = "..." } in place of file.')
    elif shape.file is not None and (cure := not_read(suffix)):
        problems.add((*path, "file"), f"A .{suffix} file is not read.", cure)
    if not csv:
        for field in _CSV_ONLY:
            if getattr(shape, field) is not None:
                problems.add((*path, field), f"{field} is for CSV files.", "Leave it out.")
        for field in ("space_after_delimiter", "skip_lines"):
            if getattr(shape, field):
                problems.add((*path, field), f"{field} is for CSV files.", "Leave it out.")
    options = _csv_options(shape, path, problems)
    folders = _folders(shape, columns, path, problems)
    if shape.append_only and shape.file is None:
        problems.add((*path, "append_only"), "append_only is for files.", "Leave it out.")
    elif shape.append_only and (shape.distinct or shape.one_row_per) and any(c.column.per_unit for c in columns):
        word = "distinct" if shape.distinct else "one_row_per"
        problems.add((*path, "append_only"), f"append_only goes with {word} or with per_unit, not with both.",
                     "Leave append_only out: all files are then read at each refresh.")
    if csv:
        return Source("csv", shape.file or "", readings, csv=options, where=where, folders=folders,
                      append_only=shape.append_only)
    if shape.file is not None:
        return Source("parquet", shape.file, readings, where=where, folders=folders, append_only=shape.append_only)
    if shape.duckdb is not None:
        return Source("duckdb", shape.duckdb.file, readings, relation=shape.duckdb.table, where=where)
    if shape.postgres is not None:
        named = shape.postgres
        return Source("postgres", named.dsn, readings, relation=named.table, where=where)
    if shape.spark is not None:
        return Source("spark", shape.spark.jdbc or "", readings, relation=shape.spark.table, where=where)
    return Source("frame", "", readings, where=where)


def _folders(
    shape: TableFields, columns: list[DeclaredColumn], path: Path, problems: Problems
) -> tuple[str, ...]:
    given, names = tuple(dict.fromkeys(shape.folders or ())), [column.column.name for column in columns]
    if not given:
        return ()
    if shape.file is None:
        problems.add((*path, "folders"), "folders are those of files.", "Leave it out.")
    for name in given:
        if name not in names:
            problems.add((*path, "folders"), f"folders names {text(name)}, which is no declared column.",
                         nearest(name, names))
    if set(names) <= set(given):
        problems.add((*path, "folders"), "folders names every column, and a file has at least one of its own.",
                     "Declare one of the file's columns.")
    return given


def _csv_options(shape: TableFields, path: Path, problems: Problems) -> CsvOptions:
    delimiter, quote = shape.delimiter or ",", '"' if shape.quote is None else shape.quote
    for field, mark in (("delimiter", delimiter), ("quote", quote or '"')):
        if len(mark) != 1 or mark in "\r\n\0 " or (field == "delimiter" and shape.delimiter == ""):
            problems.add((*path, field), f"{field} must be one character, no line break or space.",
                         f"Write {field} = {text(',' if field == 'delimiter' else chr(39))}.")
    escape, comment = shape.escape or "", shape.comment or ""
    if shape.escape is not None and (len(escape) != 1 or escape in f"\r\n\0 {delimiter}{quote}" or escape.isalnum()):
        problems.add((*path, "escape"), "escape must be one character, no letter or space, and not delimiter or quote.",
                     'Write escape = "\\\\".')
    if shape.comment is not None and (not comment or comment[0] in f"\r\n\0 {delimiter}{quote}"):
        problems.add((*path, "comment"), "comment begins with a character that is no space, delimiter or quote.",
                     'Write comment = "#".')
    skip = shape.skip_lines
    if type(skip) is not int or not 0 <= skip <= 10_000:
        problems.add((*path, "skip_lines"), "skip_lines must be a whole number up to 10,000.", "Write skip_lines = 1.")
        skip = 0
    if delimiter == quote:
        problems.add((*path, "quote"), "delimiter and quote are the same character.", "Choose two.")
    encoding = shape.encoding or "utf-8"
    try:
        found = codecs.lookup(encoding)
        if not found._is_text_encoding:
            raise LookupError
        if found.name.replace("_", "-").startswith(_CARRYING):
            problems.add((*path, "encoding"), f"{text(encoding)} lets one line decide how the next is read.",
                         'Write the files again in "utf-8".')
    except (LookupError, ValueError):
        problems.add((*path, "encoding"), f"{text(encoding)} is no known encoding.", 'Write "utf-8" or "latin-1".')
    return CsvOptions(
        delimiter, quote, encoding, ("",) if shape.missing is None else tuple(shape.missing),
        _rename(shape.rename or {}, path, problems), _names(shape, path, problems), escape=escape,
        space_after=shape.space_after_delimiter, skip_lines=skip, comment=comment,
    )


def _names(shape: TableFields, path: Path, problems: Problems) -> tuple[str, ...]:
    """Names by position, for a file whose first line is a row; how many there are is declared, never counted."""
    names = tuple(shape.names or ())
    repeated = [name for name in names if names.count(name) > 1] if len(names) <= MOST_COLUMNS else []
    if shape.header is not False:
        if shape.names is not None:
            problems.add((*path, "names"), "names are for a file without a header.",
                         "Add header = false, or leave names out.")
        return ()
    if shape.names is None:
        problems.add((*path, "header"), "header = false needs names: one for each field of a line, in order.",
                     'Add names = ["c1", "c2", "c3"], as many as a line has fields.')
    elif not names or repeated:
        what = f"names gives {text(repeated[0])} twice." if repeated else "names is empty."
        problems.add((*path, "names"), what, 'Write one name for each field: names = ["c1", "c2", "c3"].')
    if shape.rename is not None:
        problems.add((*path, "rename"), "rename changes a header, and header = false says there is none.",
                     "Give the names in names.")
    return names


def _rename(given: Mapping[str, str], path: Path, problems: Problems) -> tuple[tuple[int, str], ...]:
    pairs: list[tuple[int, str]] = []
    for position, name in given.items():
        if not (position.isascii() and position.isdigit() and 1 <= int(position) <= 100_000):
            problems.add((*path, "rename", position), f"rename is by position, not {text(position)}.",
                         'Write the column\'s number, from 1: rename = { 3 = "score_a" }.')
        elif name in [other for _, other in pairs]:
            problems.add((*path, "rename", position), f"rename gives {text(name)} twice.", "Choose two names.")
        else:
            pairs.append((int(position), name))
    return tuple(sorted(pairs))


def _private(tables: list[Table], raw: Mapping[str, object], problems: Problems) -> None:
    private = [table for table in tables if table.unit is not None]
    by_row = [table.name for table in private if table.unit == EACH_ROW]
    if by_row and len(private) > 1:
        others = ", ".join(text(table.name) for table in private if table.name != by_row[0])
        problems.add(("tables", by_row[0], "unit"),
                     f'With unit = "each row" there is one private table, and here is also {others}.',
                     "Give every private table a unit column, or mark the others public = true.")
    if raw and not problems.found and not private:
        problems.add(("tables",), "No table is private, so there is nothing to protect.",
                     'Give a table a unit: unit = "patient_id".')


def _public_keys(
    wanted: list[tuple[str, DeclaredColumn]], tables: list[Table], problems: Problems
) -> tuple[PublicKeys, ...]:
    found: list[PublicKeys] = []
    by_name = {table.name: table for table in tables}
    for name, declared in wanted:
        column, keys = declared.column, declared.keys_from
        assert keys is not None  # by the filter that made `wanted`
        place = ("tables", name, "columns", column.name, "keys")
        source = by_name.get(keys.table)
        if source is None or source.private:
            public = [table.name for table in tables if not table.private]
            what = "is not public" if source else "is not declared"
            problems.add(place, f"keys name the table {text(keys.table)}, which {what}.",
                         nearest(keys.table, public) or "Declare it as [tables.NAME] with public = true.")
            continue
        wanted_name = keys.column if keys.column is not None else column.name
        match = next((other for other in source.columns if other.name == wanted_name), None)
        if match is None:
            problems.add(place, f"The public table {text(keys.table)} has no column {text(wanted_name)}.",
                         nearest(wanted_name, [other.name for other in source.columns]))
        elif match.type != column.type:
            problems.add(place, f"The keys are of type {match.type}, the column of type {column.type}.",
                         "Declare both with the same type.")
        else:
            found.append(PublicKeys(name, column.name, keys.table, wanted_name, declared.with_missing))
    return tuple(found)
