"""A3: every option and setting of the installed DuckDB is either written down or was judged to touch no row.

A version with a new option or setting fails here: read what it does, then write it down or list it below.
"""

import contextlib
import subprocess
import sys

import duckdb
import pytest

from dpcurator.catalog.duckdb_options import NOT_GIVEN, READ_PARQUET, SETTINGS, read_parquet, write_down

TOUCH_NO_ROW = {
    "who may do what, and where the program looks for its own parts": """
        access_mode active_grammar_extensions allow_extension_repositories allow_extensions_metadata_mismatch
        allow_parser_override_extension allow_persistent_secrets allow_unredacted_secrets allow_unsigned_extensions
        allowed_configs allowed_directories allowed_paths autoinstall_extension_repository custom_extension_repository
        custom_user_agent default_secret_storage disabled_filesystems duckdb_api enable_external_access
        extension_directory extension_directories extension_repository_directory home_directory http_proxy
        http_proxy_password http_proxy_username http_client_pool_capacity http_retry_quota_throttled
        http_retry_throttled_wait_ms
        lock_configuration password schema search_path secret_directory user username current_dialect""",
    "speed and memory, with the same result": """
        allocator_background_threads allocator_bulk_deallocation_flush_threshold allocator_flush_threshold
        approximate_join_order_threshold asof_loop_join_threshold async_threads block_allocator_memory cache_local_files
        disable_parquet_prefetching disabled_optimizers dynamic_or_filter_threshold enable_fsst_vectors
        enable_optimizer external_file_cache_local_max_block_size external_file_cache_remote_max_block_size
        external_file_cache_remote_min_block_size external_file_cache_request_sizing external_file_cache_spill
        external_threads index_scan_max_count index_scan_percentage initial_column_segment_size
        late_materialization_max_rows max_execution_time max_expression_depth max_memory max_streaming_buffer_size
        max_temp_directory_size max_vacuum_tasks memory_limit merge_join_threshold nested_loop_join_threshold
        operator_memory_limit ordered_aggregate_threshold parquet_prefetch_column_gap parquet_use_page_index
        partitioned_write_flush_threshold partitioned_write_max_open_files perfect_ht_threshold pin_threads
        pivot_filter_threshold pivot_limit prefer_range_joins prefetch_all_parquet_files read_ahead_depth
        scheduler_process_partial standard_vector_size storage_block_prefetch streaming_buffer_size temp_directory
        temp_file_encryption threads validate_external_file_cache worker_threads write_buffer_row_group_count
        write_buffer_row_group_memory_limit zstd_min_string_length""",
    "how files are written and transactions end": """
        auto_checkpoint_skip_wal_threshold checkpoint_on_detach checkpoint_threshold
        current_transaction_invalidation_policy debug_checkpoint_scan_sleep_ms default_block_size
        default_transaction_invalidation_policy disable_database_invalidation disabled_compression_methods
        enable_macro_dependencies enable_optimistic_write enable_view_dependencies force_compression fsync_mode
        immediate_transaction_mode storage_compatibility_version wal_autocheckpoint wal_autocheckpoint_entries
        geometry_minimum_shredding_size variant_minimum_shredding_size""",
    "what is printed, logged or handed to Arrow": """
        arrow_large_buffer_size arrow_lossless_conversion arrow_output_list_view arrow_output_version
        catalog_error_max_schemas disabled_log_types enable_logging enable_profiling enable_progress_bar
        enable_progress_bar_print enabled_log_types errors_as_json explain_output ignore_unknown_crs
        json_geometry_format log_query_path logging_level logging_mode logging_sink profile_output profiling_coverage
        profiling_output profiling_renderer_settings progress_bar_time redact_http_logs show_behavior tracked_metrics
        warnings_as_errors""",
    "another name of one that is written down": "null_order",
}


@pytest.fixture
def connection():
    with contextlib.closing(write_down(duckdb.connect())) as opened:
        yield opened


def test_a3_every_option_of_the_parquet_reader_is_given_or_has_a_reason(connection):
    listed = connection.execute(
        "SELECT DISTINCT unnest(parameters) FROM duckdb_functions() WHERE function_name = 'read_parquet'"
    ).fetchall()
    assert {name for (name,) in listed} - READ_PARQUET.keys() - NOT_GIVEN.keys() == set()
    assert all(f"{name} = " in read_parquet(connection) for (name,) in listed if name in READ_PARQUET)
    assert READ_PARQUET["hive_partitioning"] == "false"


def test_a3_every_setting_is_written_down_or_touches_no_row(connection):
    listed = {name for (name,) in connection.execute("SELECT name FROM duckdb_settings()").fetchall()}
    judged = {name for names in TOUCH_NO_ROW.values() for name in names.split()}
    assert listed - SETTINGS.keys() - judged == set()
    assert not judged & SETTINGS.keys()


def test_a3_settings_are_in_force_whatever_was_set_before(connection):
    with contextlib.closing(duckdb.connect()) as other:
        other.execute("SET python_enable_replacements = true; SET default_null_order = 'nulls_first'")
        other.execute("SET pandas_analyze_sample = 1000; SET TimeZone = 'Asia/Tokyo'")
        write_down(other)
        query = "SELECT name, value FROM duckdb_settings() ORDER BY name"
        one, two = (dict(c.execute(query).fetchall()) for c in (connection, other))
    assert [one[name] for name in SETTINGS if name in one] == [two[name] for name in SETTINGS if name in two]
    assert one["python_enable_replacements"] == "false"
    assert one["default_collation"] == ""


IN_A_NOTEBOOK = """
import sys, types
class Shell: config = {"IPKernelApp": {}}
kernel = types.ModuleType("IPython")
kernel.get_ipython = Shell
sys.modules["IPython"] = kernel            # as DuckDB's client looks for a notebook, when it is imported
sys.modules["ipywidgets"] = None           # not installed
import duckdb
from dpcurator.catalog.duckdb_options import write_down
from dpcurator.engines.duckdb.engine import DuckDB
try:
    duckdb.connect().execute("SET enable_progress_bar = false")
except duckdb.Error:
    print("a bare notebook")
opened = write_down(duckdb.connect())
print(opened.execute("SELECT current_setting('enable_progress_bar')").fetchone())
print(type(DuckDB.from_tables({"t0": {"c0": [1, 2]}})).__name__)
"""


def test_f1_a_bare_notebook_opens_connections():
    """F1: in a kernel without ipywidgets, DuckDB refuses to set the progress bar off, as it is."""
    ran = subprocess.run([sys.executable, "-c", IN_A_NOTEBOOK], capture_output=True, text=True, timeout=60)
    assert ran.stderr == ""
    assert ran.stdout.splitlines() == ["a bare notebook", "(False,)", "DuckDB"]


def test_f1_where_a_progress_bar_is_on_it_is_set_off():
    with contextlib.closing(duckdb.connect()) as opened:
        opened.execute("SET enable_progress_bar = true")
        assert write_down(opened).execute("SELECT current_setting('enable_progress_bar')").fetchone() == (False,)
