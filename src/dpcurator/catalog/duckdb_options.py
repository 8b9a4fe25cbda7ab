"""Every option and setting of DuckDB that touches rows, written down, so that none of its defaults decides a row.

The reader of Parquet files fills in, by default, columns of its own: a folder `id=12` replaces a column `id` of the
file. A setting of the process, or a default of a later version, could do the like. So each option of `read_parquet` is
in `READ_PARQUET`, or in `NOT_GIVEN` with the reason, and each setting that touches rows in `SETTINGS`; what the
installed version does not have is left out. No other reading function of DuckDB is called: CSV files and data frames
come to it as columns in memory.

Checked in tests/catalog/test_duckdb_options.py, which compares these tables with what the installed version lists.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

READ_PARQUET: Final = {
    "hive_partitioning": "false",  # folder names become no columns
    "hive_types_autocast": "false",
    "filename": "false",  # nor does the file's name
    "file_row_number": "false",
    "union_by_name": "false",
    "allow_empty": "false",
    "binary_as_string": "false",
    "int96_as": "'timestamp'",
    "utf8_validation": "'strict'",  # text that is no UTF-8 is refused, not replaced
    "can_have_nan": "true",  # statistics of a file without NaN counts decide nothing
}
NOT_GIVEN: Final = {
    "path": "the file, given by position",
    "paths": "one file at a time is read",
    "schema": "absent, columns are the file's own",
    "bound_schema": "absent, columns are the file's own",
    "hive_types": "for folder names, which are not read",
    "column_statistics": "a hint to the optimizer, and nothing is filtered",
    "explicit_cardinality": "a hint to the optimizer",
    "maximum_files_for_stats": "a hint to the optimizer",
    "prefetch_strategy": "speed alone",
    "debug_use_openssl": "of encrypted files, which are refused",
    "encryption_config": "of encrypted files, which are refused",
    "compression": "a Parquet file states its own",
    "parquet_version": "of files that are written",
}
SETTINGS: Final = {
    "TimeZone": "'UTC'",
    "Calendar": "'gregorian'",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "binary_as_string": "false",
    "parquet_can_have_nan": "true",
    "parquet_metadata_cache": "false",  # of a file that has been replaced since
    "enable_external_file_cache": "false",
    "enable_http_metadata_cache": "false",
    "enable_geoparquet_conversion": "false",
    "disable_timestamptz_casts": "false",
    "file_search_path": "''",
    "preserve_insertion_order": "true",
    "preserve_identifier_case": "'preserve_case'",
    "python_enable_replacements": "false",  # a missing table is never a variable of this program
    "python_scan_all_frames": "false",
    "pandas_analyze_sample": "0",  # cells are text by declaration, not by a look at some of them
    "default_collation": "''",
    "default_null_order": "'nulls_last'",
    "default_order": "'asc'",
    "order_by_non_integer_literal": "false",
    "integer_division": "false",
    "ieee_floating_point_ops": "true",
    "old_implicit_casting": "false",
    "scalar_subquery_error_on_multiple_rows": "true",
    "dialect_compatibility_mode": "'NONE'",
}
_OF_PARQUET: Final[set[str]] = set()  # the options that the installed version has: the listing takes 20 ms
_KNOWN: Final[dict[str, str]] = {}  # what the installed version has, and its defaults: each listing takes 5 ms


def write_down(connection: DuckDBPyConnection) -> DuckDBPyConnection:
    """Set everything that touches rows on a connection, which is returned; and no progress bar is drawn.

    In a notebook without ipywidgets there is no bar, and DuckDB then refuses every change of its setting, also to the
    value that it has: so it is changed only where it is on.
    """
    if not _KNOWN:
        _KNOWN.update(connection.execute("SELECT name, value FROM duckdb_settings()").fetchall())
    for name, value in SETTINGS.items():
        if name in _KNOWN:
            of_truth = value == "'preserve_case'" and _KNOWN[name] in ("true", "false")  # so before DuckDB 2
            connection.execute(f"SET {name} = {'true' if of_truth else value}")
    if "enable_progress_bar" in _KNOWN:
        shown = connection.execute("SELECT current_setting('enable_progress_bar')").fetchall()
        if shown == [(True,)]:
            connection.execute("SET enable_progress_bar = false")
    return connection


def read_parquet(connection: DuckDBPyConnection, **others: str) -> str:
    """The call that reads one Parquet file, whose path is its parameter, with every option given; others: options that
    are to be other ones."""
    if not _OF_PARQUET:
        listing = "SELECT DISTINCT unnest(parameters) FROM duckdb_functions() WHERE function_name = 'read_parquet'"
        _OF_PARQUET.update(name for (name,) in connection.execute(listing).fetchall())
    given = [f"{name} = {value}" for name, value in (READ_PARQUET | others).items() if name in _OF_PARQUET]
    return f"read_parquet({', '.join(['?', *given])})"


def quoted(text: str) -> str:
    """A text as SQL writes it; by its bytes where it has the one letter that cannot stand in a statement."""
    if "\0" not in text:
        return "'" + text.replace("'", "''") + "'"
    return "decode('" + "".join(f"\\x{byte:02X}" for byte in text.encode()) + "'::BLOB)"
