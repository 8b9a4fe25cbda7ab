"""The fields of curator.toml: their names, shapes and meanings, as pydantic models.

Only shape is judged here (text is text, a list is a list, no unknown field); what values mean together is judged in
`promise`, `tables` and `columns`. Numbers come in as they were typed and are read exactly there. Every field carries
the description that `docs/catalog.md` repeats; tests/catalog/test_docs.py holds the two together.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator


class Section(BaseModel):
    """A part of the file: unknown fields are refused, nothing is converted in silence."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, protected_namespaces=())


class EngineFields(Section):
    """`spark = { master = ..., path = ..., partitions = ... }` under `[curator]`: where the Spark engine runs."""

    master: Annotated[
        str,
        Field(description='Where Spark runs: "local[2]", "spark://host:7077", "yarn", "sc://host:15002"; or the '
              'environment variable that says so, "env:SPARK_REMOTE", also with a default: '
              '"env:SPARK_REMOTE or local[2]".'),
    ]
    path: Annotated[
        str,
        Field(description="The directory of the datasets, which this machine and all executors reach under this path. "
              "Default .dpcurator/datasets, beside curator.toml."),
    ] = ".dpcurator/datasets"
    partitions: Annotated[
        Any, Field(description="Into how many parts Spark divides tables and groups, from 1 to 100000. Default 8.")
    ] = 8


class CuratorFields(Section):
    """`[curator]`: whom the whole catalog protects."""

    protects: Annotated[str, Field(description="What one unit is, in the plural: patients, households. Text.")]
    neighbours: Annotated[
        str,
        Field(
            description='"add-remove" (default): neighbours differ by one unit\'s rows, there or not. "replace-one": '
            "by one unit's rows exchanged for another's."
        ),
    ] = "add-remove"
    units: Annotated[
        Any,
        Field(description='The public number of units, with neighbours = "replace-one" only; never counted from data.'),
    ] = None
    salt: Annotated[
        str | None,
        Field(description="32 hexadecimal digits that `init` draws; needed for unknown keys. Public; never changed."),
    ] = None
    threads: Annotated[
        Any, Field(description="Threads of the engine, from 1 to 256. Default 4; questions do not depend on it.")
    ] = 4
    memory: Annotated[
        Any,
        Field(description="MiB the engine may use before the disk: 512 and 240 a thread, or more. Default 1536."),
    ] = None
    engine: Annotated[
        str,
        Field(description='"duckdb" (default): tables up to this machine\'s disk. "spark": beyond it; needs `spark`.'),
    ] = "duckdb"
    spark: Annotated[
        EngineFields | None, Field(description='Where Spark runs, with engine = "spark" only.')
    ] = None


class StoreFields(Section):
    """`store = { postgres = "env:...", schema = ... }`: a ledger in a PostgreSQL database."""

    postgres: Annotated[
        str,
        Field(description='The environment variable that holds the connection string: "env:LEDGER_DSN". Never itself.'),
    ]
    schema_: Annotated[
        str, Field(alias="schema", description='The schema that holds the ledger, one in each. Default "dpcurator".')
    ] = "dpcurator"


class LedgerFields(Section):
    """`[ledger]`: the budget, fixed for ever by the first question."""

    epsilon: Annotated[
        Any, Field(description="Total epsilon for the whole life of these tables. Above 0, exact. Or `rho`, not both.")
    ] = None
    rho: Annotated[
        Any, Field(description="Total rho (zero-concentrated), in place of epsilon; needs `delta`. Above 0, exact.")
    ] = None
    delta: Annotated[
        Any,
        Field(description="Total delta, far below 1 / (number of people). Absent or 0: pure epsilon, no unknown keys."),
    ] = None
    store: Annotated[
        StoreFields | None,
        Field(description="Where the ledger is, if several machines share it. Absent: a file in `.dpcurator`."),
    ] = None


class DuckdbFields(Section):
    """`duckdb = { file = ..., table = ... }`: a table or view of a DuckDB file, opened read-only."""

    file: Annotated[str, Field(description="Path of the DuckDB file, relative to curator.toml.")]
    table: Annotated[str, Field(description='Table or view name, exactly as stored; "main.visits" names a schema.')]


class PostgresFields(Section):
    """`postgres = { dsn = "env:...", table = ... }`: a table or view of a PostgreSQL server."""

    dsn: Annotated[
        str,
        Field(description='The environment variable that holds the connection string: "env:CLINIC_DSN". Never itself.'),
    ]
    table: Annotated[str, Field(description='Table or view name, exactly as stored; "public.visits" names a schema.')]


class SparkFields(Section):
    """`spark = { table = ..., jdbc = ... }`: a table that Spark reads, with engine = "spark"."""

    table: Annotated[str, Field(description='Table or view name as Spark, or the database, has it: "lake.visits".')]
    jdbc: Annotated[
        str | None,
        Field(description='The environment variable that holds a JDBC address, for a table of that database: '
              '"env:CLINIC_JDBC". Never itself.'),
    ] = None


class KeysFields(Section):
    """`keys = { table = ..., column = ... }`: the keys are those of a public table."""

    table: Annotated[str, Field(description="Name of a table declared with public = true.")]
    column: Annotated[str | None, Field(description="Column of that table; absent: the one of the same name.")] = None


class ThroughFields(Section):
    """`unit = { through = ..., on = ... }`: a row is owned by whoever owns a row of another private table."""

    through: Annotated[str, Field(description="Name of a private table that says whose its rows are.")]
    on: Annotated[str, Field(description="Column of this table that names a row of that one.")]
    key: Annotated[
        str | None, Field(description="Column there that it equals; absent: the one of the same name.")
    ] = None


class ColumnFields(Section):
    """A column of a table: `name = "type"`, or `name = { type = "...", ... }`."""

    type: Annotated[
        str, Field(description='"integer", "float", "boolean", "text", "date", "timestamp" or "uuid"; see types.md.')
    ]
    bounds: Annotated[
        list[Any] | None,
        Field(description="[lower, upper]: numbers, dates or timestamps; values are clamped to it."),
    ] = None
    keys: Annotated[
        Any,
        Field(description='List of values a GROUP BY answers for; { table = ..., column = ... }; or "unknown".'),
    ] = None
    keys_include_missing: Annotated[
        bool, Field(description="true adds the missing value to `keys` (TOML has no null).")
    ] = False
    missing: Annotated[
        Any,
        Field(description='"drop" (missing stays missing), or the value missing is read as; text: { value = "x" }.'),
    ] = "drop"
    unreadable: Annotated[
        Literal["missing", "set-aside"],
        Field(description='A value that cannot be read is "missing", or its row is set aside ("set-aside").'),
    ] = "missing"
    max_length: Annotated[
        Any,
        Field(description="Letters (code points) of a text, 1 to 8000; longer ones cannot be read. Default 500."),
    ] = None
    per_unit: Annotated[
        Any,
        Field(description="1: each unit has one value here (a refresh gives all its rows the smallest of theirs). "
              "Groups by this column then have narrower error bars."),
    ] = None
    zone: Annotated[
        str | None,
        Field(description='Zone of timestamps without an offset: "UTC", "Europe/Paris". Absent: they are unreadable.'),
    ] = None
    format: Annotated[
        Any,
        Field(description='How the file writes dates, timestamps and times of day, as "DD/MM/YYYY"; a list: the first '
              'that reads a value; "seconds since 1970-01-01": a count. See types.md. In this catalog always ISO.'),
    ] = None
    decimal: Annotated[str | None, Field(description='The decimal mark of texts that are numbers, "." or ",".')] = None
    thousands: Annotated[
        str | None,
        Field(description='The mark that may stand before each three digits of a number, as "," in 1,234.5. None.'),
    ] = None
    true_words: Annotated[
        list[str] | None, Field(description='Of a boolean, what means true: ["J", "ja"]; with `false_words`.')
    ] = None
    false_words: Annotated[
        list[str] | None, Field(description='What means false: ["N", "nein"]. Upper and lower case are one.')
    ] = None
    clean: Annotated[
        list[str] | None,
        Field(description='What is done to a text first, in order: "trim" (white space at both ends), "lower", "upper",'
              ' "nfc" (the composed form of Unicode).'),
    ] = None
    map: Annotated[
        dict[str, str] | None,
        Field(description='Then: whole texts that stand for others, as { female = "F", woman = "F" }.'),
    ] = None
    na_values: Annotated[
        list[Any] | None,
        Field(description='Then: texts that mean missing, and values that they spell: ["?", "999"].'),
    ] = None
    valid: Annotated[
        list[Any] | None,
        Field(description="[lower, upper]: a value outside is missing, or sets its row aside as `unreadable` says; it "
              "is not clamped. Without `bounds` it is those too."),
    ] = None

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, given: Any) -> Any:
        return {"type": given} if isinstance(given, str) else given


class TableFields(Section):
    """`[tables.NAME]`: one table, its source, whose rows they are. Columns are in `[tables.NAME.columns]`."""

    file: Annotated[
        str | None,
        Field(description="CSV (also .gz, .zst) or .parquet file, or a glob, relative to this file. Absent: a frame."),
    ] = None
    append_only: Annotated[
        bool,
        Field(description="true: files are added and never changed, so `refresh` reads only new ones, and checks "
              "that the others are as they were."),
    ] = False
    folders: Annotated[
        list[str] | None,
        Field(description='Columns that folders name and the files do not have: ["site"] for site=12/visits.parquet.'),
    ] = None
    duckdb: Annotated[DuckdbFields | None, Field(description="A table of a DuckDB file, in place of `file`.")] = None
    postgres: Annotated[
        PostgresFields | None, Field(description="A table of a PostgreSQL server, in place of `file`.")
    ] = None
    spark: Annotated[
        SparkFields | None, Field(description='A table that Spark reads, in place of `file`; with engine = "spark".')
    ] = None
    delimiter: Annotated[str | None, Field(description='CSV: between fields, one character. Default ",".')] = None
    quote: Annotated[
        str | None,
        Field(description='CSV: around fields, one character, doubled inside. Default the double quote; "" for none.'),
    ] = None
    decimal: Annotated[str | None, Field(description='CSV: the decimal mark of numbers, "." or ",".')] = None
    thousands: Annotated[
        str | None, Field(description="CSV: the mark between thousands of numbers; a column may have its own.")
    ] = None
    encoding: Annotated[str | None, Field(description='CSV: "utf-8" (default), "latin-1", "cp1252", ...')] = None
    escape: Annotated[
        str | None, Field(description="CSV: a character before one that is then no delimiter or quote, as a backslash.")
    ] = None
    space_after_delimiter: Annotated[
        bool, Field(description="CSV: true: spaces after a delimiter are no part of the field.")
    ] = False
    skip_lines: Annotated[Any, Field(description="CSV: lines before the header that are passed over. Default 0.")] = 0
    comment: Annotated[
        str | None, Field(description='CSV: a line that begins with it is passed over, as "#".')
    ] = None
    missing: Annotated[
        list[str] | None, Field(description='CSV: fields that mean missing, exactly as spelled. Default [""].')
    ] = None
    header: Annotated[
        bool | None, Field(description="CSV: false when the first line is a row; then `names` names the columns.")
    ] = None
    names: Annotated[
        list[str] | None,
        Field(description='CSV: with header = false, a name for each field of a line, in order: ["c1", "c2"].'),
    ] = None
    rename: Annotated[
        dict[str, str] | None,
        Field(description='CSV: names by position, for repeated or blank headers: { 3 = "score_a", 4 = "score_b" }.'),
    ] = None
    unit: Annotated[
        Any,
        Field(description='The column that says whose row it is, or "each row", or { through = ..., on = ... }: whose '
              "row of another table it belongs to. Private tables only."),
    ] = None
    public: Annotated[bool, Field(description="true: the rows are public and protected in no way.")] = False
    distinct: Annotated[
        list[str] | None,
        Field(description='Columns of which a unit has each combination of values once: ["visit"]. Of rows that repeat '
              "one, `refresh` keeps the smallest, column by column."),
    ] = None
    one_row_per: Annotated[
        list[str] | None,
        Field(description='The unit, and more columns if wanted: ["patient"]. Of rows with equal values there, '
              "`refresh` keeps the first, compared column by column."),
    ] = None
    max_total: Annotated[Any, Field(description="Rows of a unit that count in one answer; enforced by weights.")] = None
    max_rows: Annotated[Any, Field(description="Rows a unit may add to one group; enforced by scaling down.")] = None
    max_groups: Annotated[Any, Field(description="Groups a unit may be in; enforced by scaling down.")] = None
    min_units: Annotated[Any, Field(description="Of fewer units no unlisted group is ever shown.")] = None
    expected_units: Annotated[Any, Field(description="About how many units, if public; for error bars only.")] = None


SECTIONS: tuple[type[Section], ...] = (
    CuratorFields, EngineFields, LedgerFields, TableFields, ColumnFields, KeysFields, DuckdbFields, PostgresFields,
    SparkFields, StoreFields, ThroughFields,
)
