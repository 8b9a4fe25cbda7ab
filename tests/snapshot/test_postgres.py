"""PostgreSQL as a source, against a server: exact values, hostile rows, one view of the data, and what goes wrong."""

import itertools
import math
import os
import threading
import time
from decimal import Decimal

import pytest

from dpcurator.catalog.load import load
from dpcurator.catalog.postgres import SETTINGS, begin, connected
from dpcurator.catalog.postgres_schema import READ_AS, columns_of, relation
from dpcurator.catalog.spelling import NOT_UNICODE, Spelling
from dpcurator.errors import Misconfigured
from dpcurator.snapshot import postgres_source
from dpcurator.snapshot.copy_binary import NotAsSent, cells_of, values_of, vector_of
from dpcurator.snapshot.grammar import read_typed
from dpcurator.snapshot.refresh import refresh
from dpcurator.snapshot.typed_values import READERS

SECRET = "hunter2secret"
U = "123e4567-e89b-12d3-a456-426614174000"
TYPED = f"""
CREATE DOMAIN years AS smallint CHECK (VALUE < 200);
CREATE DOMAIN old_years AS years;
CREATE TYPE colour AS ENUM ('red', 'naïve', '');
CREATE TABLE typed (
    who text, i2 int2, i4 int4, i8 int8, f4 float4, f8 float8, num numeric, whole numeric, b bool, d date, dt date,
    ts timestamp, tz timestamptz, u uuid, ut uuid, vc varchar(9), ch char(6), e colour, years old_years, code int8,
    spelled text, half int4 GENERATED ALWAYS AS (i4 / 2) STORED, gone text
);
ALTER TABLE typed DROP COLUMN gone;
INSERT INTO typed VALUES
  ('a', 32767, -2147483648, 9223372036854775807, 0.1, 1e308, 0.10, 3.00, true, '1970-01-02', '1970-01-02',
   '1970-01-01 00:00:01', '1970-01-01 01:00:00+01', '{U}', '{U}', ' x ', 'ab', 'naïve', 199, 12, ' 07 '),
  ('b', -1, 0, NULL, 'nan', '-infinity', 'NaN', 3.5, false, 'infinity', '0044-03-15 BC', '-infinity', 'infinity',
   NULL, NULL, '', '', '', NULL, 0, '7.5'),
  (NULL, NULL, NULL, -9223372036854775808, '-0', '-0', '-Infinity', 'NaN', NULL, '0001-01-01', '9999-12-31',
   '294276-12-31 23:59:59', '4713-01-01 BC', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
  ('c', 0, 0, 0, 'inf', 4.9e-324, '1e1000', 9223372036854775808, NULL, '5874897-12-31', '4713-01-01 BC',
   '9999-12-31 23:59:59.999999', '0001-01-01 00:00+00', NULL, NULL, E'\\u2028', '  q', 'red', -1, -5, 'x')"""
COLUMNS = {
    "who": "text", "i2": "integer", "i4": "float", "i8": "integer", "f4": "float", "f8": "float", "num": "float",
    "whole": "integer", "b": "boolean", "d": "date", "dt": {"type": "timestamp", "zone": "UTC"},
    "ts": {"type": "timestamp", "zone": "UTC"}, "tz": "timestamp", "u": "uuid", "ut": "text", "vc": "text",
    "ch": "text", "e": "text", "years": "integer", "code": "text", "spelled": "integer", "half": "integer",
}
LAST_DAY = 253402214400000000
ROWS = [
    ("a", 32767, -2147483648.0, 2**63 - 1, 0.10000000149011612, 1e308, 0.1, 3, 1, 1, 86400 * 10**6, 10**6, 0, U, U,
     " x ", "ab", "naïve", 199, "12", 7, -(2**30)),
    ("b", -1, 0.0, None, None, -math.inf, None, None, 0, None, None, None, None, None, None, "", "", "", None, "0",
     None, 0),
    (None, None, None, -(2**63), 0.0, 0.0, -math.inf, None, None, -719162, LAST_DAY, None, None, None, None, None, None,
     None, None, None, None, None),
    ("c", 0, 0.0, 0, math.inf, 5e-324, None, None, None, None, None, 253402300799999999, -62135596800000000, None, None,
     "\u2028", "  q", "red", -1, "-5", None, 0),
]
UNREADABLE = {"num": 1, "whole": 2, "d": 2, "dt": 2, "ts": 2, "tz": 2, "spelled": 2}


@pytest.fixture(scope="module")
def server(postgres):
    with postgres.connect() as connection:
        for statement in [*TYPED.split(";\n"), f"CREATE ROLE guarded LOGIN PASSWORD '{SECRET}'"]:
            connection.execute(statement.encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CLINIC_DSN", postgres.dsn())
        for name in [name for name in os.environ if name.startswith("PG")]:
            patch.delenv(name)
        yield postgres


@pytest.fixture
def read(server, declared, stored):
    """(columns, table or view, **fields) -> (rows, the table's report)."""

    def run(columns, named, **fields):
        declaration = declared(columns, postgres={"dsn": "env:CLINIC_DSN", "table": named}, **fields)
        report = refresh(declaration)
        return stored(declaration), report.tables[0]

    return run


def refused(read, columns, named, **fields):
    with pytest.raises(Misconfigured) as caught:
        read(columns, named, **fields)
    assert caught.value.__cause__ is None
    assert caught.value.cure
    assert caught.value.where
    return str(caught.value)


def test_every_type_that_is_read_keeps_its_values_and_one_row_harms_no_other(read):
    rows, report = read(COLUMNS, "public.typed")
    assert rows == ROWS
    assert {name: t.count for name, t in report.unreadable.items() if t.count} == UNREADABLE
    assert {"numeric", "bpchar", "enum", "uuid", *READ_AS}.issubset(READ_AS)
    aside = dict(COLUMNS, d={"type": "date", "unreadable": "set-aside"})
    rows, report = read(aside, "typed")  # the one table of that name
    assert rows == [ROWS[0], ROWS[2]]
    assert report.set_aside.first == [
        ("row 2", "'d' is no such day or time between the years 1 and 9999"),
        ("row 4", "'d' is no such day or time between the years 1 and 9999"),
    ]


@pytest.mark.parametrize("at_once", [1, 3])
def test_batches_as_vectors_and_as_values_tell_the_same_rows(read, monkeypatch, at_once):
    monkeypatch.setattr(postgres_source, "BATCH", at_once)
    rows, report = read(COLUMNS, "typed")
    assert rows == ROWS
    assert {name: t.count for name, t in report.unreadable.items() if t.count} == UNREADABLE
    assert [place for place, _ in report.unreadable["tz"].first] == ["row 2", "row 3"]
    assert [place for place, _ in report.unreadable["num"].first] == ["row 4"]


def test_bytes_of_the_server_mean_what_their_own_text_says(server):
    """Every type against the server's own spelling of the same value, read by the written grammar."""
    made = {
        "int8": "(hash_record_extended((g, 1), 0))", "int4": "(hash_record_extended((g, 2), 0) % 2147483647)::int4",
        "float8": "(hash_record_extended((g, 3), 0)::float8 * power(10::float8, g % 580 - 300))",
        "float4": "((g * 7919) % 1000 / 7.0)::float4",
        "numeric": "(hash_record_extended((g, 4), 0)::numeric / 10::numeric ^ (g % 20) * 10::numeric ^ (g % 31 - 15))",
        "date": "(DATE '0001-01-01' + (g * 7309) % 3652059)", "bool": "(g % 3 = 0)",
        "timestamptz": "(TIMESTAMPTZ '0001-01-01 00:00Z' + g * 7309 % 3652059 * INTERVAL '1 day' + g * INTERVAL '1us')",
        "text": "chr(1 + (g * 101) % 50000)", "uuid": "md5(g::text)::uuid",
    }
    declared_as = {kind: READ_AS[kind][0] for kind in made}
    parts = [(kind, f"CASE WHEN g % 13 <> 5 THEN {made[kind]} END") for kind in made]
    rows = f"SELECT {', '.join(f'{x} AS {kind}' for kind, x in parts)} FROM generate_series(1, 1500) g"
    with server.connect() as connection:
        for name in ("TimeZone", "extra_float_digits", "DateStyle"):
            connection.execute(f"SET {name} = '{SETTINGS[name]}'".encode())
        spelled = connection.execute(
            f"SELECT {', '.join(f'{widened(kind)}::text' for kind in made)} FROM ({rows}) r".encode()).fetchall()
        (messages,) = postgres_source.rows_of(connection, f"COPY ({rows}) TO STDOUT (FORMAT binary)".encode())
    found = cells_of(messages, len(made))
    cells = [values_of(one, *pair, "utf-8") for one, pair in zip(found, declared_as.items(), strict=True)]
    for kind, sent, texts in zip(made, cells, zip(*spelled, strict=True), strict=True):
        wanted = read_typed(texts, declared_as[kind], declared_spelling(kind))
        assert read_typed(sent, declared_as[kind], declared_spelling(kind)) == wanted, kind
        assert sum(value is None for value in wanted[0]) < 300, kind
        vector = vector_of(found[list(made).index(kind)], kind, declared_as[kind], "utf-8")
        assert read_typed(back(*vector), declared_as[kind], declared_spelling(kind)) == wanted, kind
    whole = values_of(found[4], "numeric", "integer", "utf-8")
    for sent, spelling in zip(whole, (row[4] for row in spelled), strict=True):
        assert (sent is None) == (spelling is None)
        assert sent is None or Decimal(sent) == Decimal(spelling)


def back(kind, vector):
    """A vector as Python values."""
    if vector.format == b"U":
        offsets, letters = vector.buffers
        values = [letters[a:b].tobytes().decode() for a, b in itertools.pairwise(offsets.tolist())]
    else:
        values = vector.buffers[0].tolist()
    there = [True] * len(values) if vector.absent is None else (~vector.absent).tolist()
    reader = READERS.get(kind, lambda value: value)
    return [reader(value) if one else None for value, one in zip(values, there, strict=True)]


def test_vectors_are_the_values_that_are_read_one_by_one(server):
    """The hostile rows of every type, and texts that are UTF-8 together but not each by itself."""
    names = [name for name in COLUMNS if name not in ("who", "half")]
    with server.connect() as connection:
        kinds = {one.name: one.kind for one in columns_of(connection, relation(connection, "typed", "").oid)}
        copy = f"COPY (SELECT {', '.join(names)} FROM typed) TO STDOUT (FORMAT binary)"
        (messages,) = postgres_source.rows_of(connection, copy.encode())
    read = 0
    for name, found in zip(names, cells_of(messages, len(names)), strict=True):
        declared = COLUMNS[name]["type"] if isinstance(COLUMNS[name], dict) else COLUMNS[name]
        vector = vector_of(found, kinds[name], declared, "utf-8")
        values = values_of(found, kinds[name], declared, "utf-8")
        if vector is not None:
            read += 1
            spelling = Spelling(zone="UTC")
            assert read_typed(back(*vector), declared, spelling) == read_typed(values, declared, spelling), name
    assert read == len(names) - 2  # numerics past the doubles, and ones that are not whole
    rows = [(1).to_bytes(2, "big") + len(text).to_bytes(4, "big") + text for text in (b"a\xc3", b"\xa9b", b"")]
    (found,) = cells_of(rows, 1)
    assert vector_of(found, "text", "text", "utf-8") is None
    assert values_of(found, "text", "text", "utf-8") == [NOT_UNICODE, NOT_UNICODE, ""]
    assert back(*vector_of(cells_of([], 1)[0], "text", "text", "utf-8")) == []


def widened(kind):
    return "float4::float8" if kind == "float4" else kind


def declared_spelling(kind):
    return Spelling(zone="UTC" if kind == "timestamptz" else None)


def test_what_is_not_as_copy_sends_it_is_noticed():
    whole = (2).to_bytes(2, "big") + (4).to_bytes(4, "big") + (7).to_bytes(4, "big") + (1).to_bytes(4, "big") + b"x"

    def values(rows):
        numbers, texts = cells_of(rows, 2)
        return [values_of(numbers, "int4", "integer", "utf-8"),
                values_of(texts, "text", "text", "utf-8")]

    assert values([whole] * 3) == [[7] * 3, ["x"] * 3]
    assert values([]) == [[], []]
    for end in range(len(whole)):
        for rows in ([whole[:end]], [whole, whole[:end], whole]):
            with pytest.raises(NotAsSent):
                values(rows)
    for wrong in (whole + b"y", (3).to_bytes(2, "big") + whole[2:]):
        with pytest.raises(NotAsSent):
            values([wrong])
    with pytest.raises(NotAsSent):
        values_of(cells_of([whole], 2)[0], "int8", "integer", "utf-8")


def test_texts_that_are_odd_or_too_long_are_missing_by_themselves(read, server):
    server.run(
        "CREATE TABLE texts (who text, t text, n text)",
        "INSERT INTO texts VALUES ('a', repeat('é', 5), '1'), ('b', repeat('é', 6), repeat('0', 200000) || '7'), "
        "('c', repeat('x', 3000000), ' 2 '), ('d', E'\\\\.\\n\"', NULL)",
    )
    rows, report = read({"who": "text", "t": {"type": "text", "max_length": 5}, "n": "integer"}, "texts")
    assert rows == [("a", "ééééé", 1), ("b", None, None), ("c", None, 2), ("d", '\\.\n"', None)]
    assert report.unreadable["t"].reasons == {"longer than 5 letters, the column's max_length": 2}


def test_values_are_cleaned_and_written_as_in_files(read, server):
    server.run(
        "CREATE TABLE cleaned (who text, t text, s int8, n numeric, at time, x char(3), b bytea)",
        "INSERT INTO cleaned VALUES ('a', repeat(' ', 9000) || 'F' || repeat(E'\\t', 9000), 86400, 45000, '10:00', "
        "'f', 'f'), ('b', repeat('x', 10001), 86401, 45000.5, '24:00', 'M', '\\xff'), "
        "('c', repeat(' ', 200000), -1, 'NaN', NULL, '', '\\x00')",
    )
    rows, report = read({
        "who": "text", "t": {"type": "text", "max_length": 6, "clean": ["trim"], "map": {"F": "female"}},
        "s": {"type": "timestamp", "format": "seconds since 1970-01-01"},
        "n": {"type": "date", "format": "days since 1899-12-30"}, "at": {"type": "integer", "format": "HH:mm"},
        "x": {"type": "text", "clean": ["upper"], "na_values": [""]}, "b": {"type": "text", "map": {"f": "F"}},
    }, "cleaned")
    assert rows == [("a", "female", 86400 * 10**6, 19431, 36000, "F", "F"),
                    ("b", None, 86401 * 10**6, None, None, "M", None), ("c", None, -(10**6), None, None, None, None)]
    assert {name: t.count for name, t in report.unreadable.items() if t.count} == {"t": 2, "n": 1, "at": 1, "b": 2}


def test_databases_in_other_encodings(read, server, monkeypatch):
    """A byte that the encoding does not have is one missing value: asked for in UTF-8 it would stop the server."""
    for name, encoding in (("western", "WIN1252"), ("bytes", "SQL_ASCII"), ("japan", "EUC_JP")):
        server.run(f"CREATE DATABASE {name} ENCODING '{encoding}' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'")
        with server.connect(name) as connection:
            connection.execute(f"SET client_encoding = '{encoding}'".encode())
            connection.execute(b"CREATE TABLE visits (who text, t text)")
            good = {"WIN1252": b"caf\xe9 \x80", "SQL_ASCII": "café".encode(), "EUC_JP": b"\xc6\xfc\xcb\xdc"}[encoding]
            odd = {"WIN1252": b"\x81", "SQL_ASCII": b"caf\xe9", "EUC_JP": b"\x8f\xa2\xa1"}[encoding]
            connection.execute(b"INSERT INTO visits VALUES ('a', '" + good + b"'), ('b', '" + odd + b"'), ('c', 'x')")
        monkeypatch.setenv("CLINIC_DSN", server.dsn(name))
        rows, report = read({"who": "text", "t": "text"}, "visits")
        assert [row[0] for row in rows] == ["a", "b", "c"]
        assert (rows[0][1], rows[2][1]) == ({"WIN1252": "café €", "SQL_ASCII": "café", "EUC_JP": "日本"}[encoding], "x")
        assert report.unreadable["t"].count == 1


def test_partitions_views_materialized_views_and_odd_names(read, server):
    server.run(
        'CREATE SCHEMA "Odd ""schema"',
        'CREATE TABLE "Odd ""schema"."t.1" (who int, "a ""b""; é" int) PARTITION BY LIST (who)',
        'CREATE TABLE "Odd ""schema".p1 PARTITION OF "Odd ""schema"."t.1" FOR VALUES IN (1)',
        'CREATE TABLE "Odd ""schema".p2 PARTITION OF "Odd ""schema"."t.1" FOR VALUES IN (2)',
        'INSERT INTO "Odd ""schema"."t.1" VALUES (2, 20), (1, 10)',
        'CREATE MATERIALIZED VIEW kept AS SELECT who FROM "Odd ""schema"."t.1"',
        "CREATE VIEW seen AS SELECT who, CAST(ARRAY[who, 1] AS text) AS list FROM kept",
    )
    assert sorted(read({"who": "integer", 'a "b"; é': "integer"}, 'Odd "schema.t.1')[0]) == [(1, 10), (2, 20)]
    assert sorted(read({"who": "integer"}, "kept")[0]) == [(1,), (2,)]
    assert sorted(read({"list": "text"}, "public.seen")[0]) == [("{1,1}",), ("{2,1}",)]


def test_all_tables_are_read_as_of_one_moment(server, tmp_path, stored, monkeypatch):
    server.run("CREATE TABLE one (who text)", "CREATE TABLE two (who text)", "INSERT INTO one VALUES ('a')",
               "INSERT INTO two VALUES ('a')")
    source = {"unit": "who", "max_rows": 1, "max_groups": 1, "columns": {"who": "text"}}
    declaration = load({"curator": {"protects": "people"}, "ledger": {"epsilon": 1}, "tables": {
        name: {"postgres": {"dsn": "env:CLINIC_DSN", "table": name}, **source} for name in ("one", "two")}},
        directory=tmp_path)
    blocked = []

    def meanwhile(table, *_):
        if table != "one":
            return
        server.run("INSERT INTO two VALUES ('b')", "DELETE FROM two WHERE who = 'a'")
        emptying = threading.Thread(target=lambda: server.run("TRUNCATE two"))  # waits until the transaction ends
        emptying.start()
        emptying.join(0.1)
        blocked.append(emptying)

    refresh(declaration, progress=meanwhile)
    assert (stored(declaration, "t0"), stored(declaration, "t1")) == ([("a",)], [("a",)])
    assert len(blocked) == 1
    blocked[0].join(30)
    assert refresh(declaration).tables[1].rows == 0


def test_a_table_that_is_being_rewritten_is_waited_for_and_not_read_as_empty(read, server, monkeypatch):
    """PostgreSQL shows a table that was emptied and filled again as empty to whoever looked before and reads after."""
    server.run("CREATE TABLE late (who text)", "INSERT INTO late VALUES ('old')")
    with server.connect() as other:
        other.execute(b"BEGIN")
        other.execute(b"TRUNCATE late")
        other.execute(b"INSERT INTO late VALUES ('new')")
        monkeypatch.setitem(SETTINGS, "lock_timeout", "20ms")
        assert "public.late is being altered by another session." in refused(read, {"who": "text"}, "late")
        monkeypatch.setitem(SETTINGS, "lock_timeout", "0")
        found = []
        reading = threading.Thread(target=lambda: found.append(read({"who": "text"}, "late")[0]))
        reading.start()
        waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'LOCK TABLE%'"
        with server.connect() as onlooker:
            while reading.is_alive() and onlooker.execute(waiting.encode()).fetchone() == (0,):
                time.sleep(0.01)
        other.execute(b"COMMIT")
    reading.join()
    assert found == [[("new",)]]


def test_the_transaction_writes_nothing_and_every_setting_is_written_down(server, monkeypatch):
    server.run("ALTER ROLE steward SET TimeZone = 'Asia/Tokyo'", "ALTER ROLE steward SET gin_fuzzy_search_limit = 5")
    monkeypatch.setenv("PGOPTIONS", "-c statement_timeout=1234 -c lc_numeric=C")
    with connected("env:CLINIC_DSN", "here") as connection:
        begin(connection)
        known = dict(connection.execute("SELECT name, setting FROM pg_settings").fetchall())
        assert known["transaction_isolation"] == "repeatable read"
        assert known["transaction_read_only"] == "on"
        same = {"timezone_abbreviations", "lock_timeout", "search_path"}
        assert {name: known[name] for name in SETTINGS if name in known and name not in same} \
            == {name: value for name, value in SETTINGS.items() if name in known and name not in same}
        assert known["search_path"] == "pg_catalog, pg_temp"
        assert known["lock_timeout"] == "60000"
        if int(known["server_version_num"]) // 10_000 in (15, 16, 18):  # the versions whose settings were judged
            free = {name for (name,) in connection.execute("SELECT name FROM pg_settings WHERE context = 'user'")}
            assert free == (set(SETTINGS) | set(" ".join(TOUCH_NO_ROW.values()).split())) & set(known)
    server.run("ALTER ROLE steward RESET ALL")


TOUCH_NO_ROW = {
    "set for the transaction or for the connection": """
        application_name client_encoding default_transaction_deferrable default_transaction_isolation
        default_transaction_read_only transaction_deferrable transaction_isolation transaction_read_only""",
    "speed and memory, with the same result": """
        backend_flush_after cpu_index_tuple_cost cpu_operator_cost cpu_tuple_cost cursor_tuple_fraction
        default_statistics_target effective_cache_size effective_io_concurrency enable_async_append enable_bitmapscan
        enable_gathermerge enable_hashagg enable_hashjoin enable_incremental_sort enable_indexonlyscan enable_indexscan
        enable_material enable_memoize enable_mergejoin enable_nestloop enable_parallel_append enable_parallel_hash
        enable_partition_pruning enable_partitionwise_aggregate enable_partitionwise_join enable_seqscan enable_sort
        enable_tidscan force_parallel_mode from_collapse_limit geqo geqo_effort geqo_generations geqo_pool_size
        geqo_seed geqo_selection_bias geqo_threshold hash_mem_multiplier jit jit_above_cost jit_expressions
        jit_inline_above_cost jit_optimize_above_cost jit_tuple_deforming join_collapse_limit maintenance_io_concurrency
        maintenance_work_mem max_parallel_maintenance_workers max_parallel_workers max_parallel_workers_per_gather
        min_parallel_index_scan_size min_parallel_table_scan_size parallel_leader_participation parallel_setup_cost
        parallel_tuple_cost plan_cache_mode random_page_cost recursive_worktable_factor seq_page_cost
        stats_fetch_consistency temp_buffers temp_tablespaces work_mem debug_parallel_query enable_distinct_reordering
        enable_group_by_reordering enable_presorted_aggregate enable_self_join_elimination io_combine_limit""",
    "how rows are written, cleaned and copied, and what is logged": """
        check_function_bodies commit_siblings default_table_access_method default_tablespace default_toast_compression
        escape_string_warning gin_pending_list_limit log_parameter_max_length_on_error logical_decoding_work_mem
        client_min_messages debug_pretty_print debug_print_parse debug_print_plan debug_print_rewritten
        password_encryption synchronous_commit trace_notify trace_sort vacuum_cost_delay vacuum_cost_limit
        vacuum_cost_page_dirty vacuum_cost_page_hit vacuum_cost_page_miss vacuum_failsafe_age vacuum_freeze_min_age
        vacuum_freeze_table_age vacuum_multixact_failsafe_age vacuum_multixact_freeze_min_age
        vacuum_multixact_freeze_table_age wal_sender_timeout wal_skip_threshold createrole_self_grant
        debug_logical_replication_streaming file_copy_method icu_validation_level md5_password_warnings
        scram_iterations vacuum_buffer_usage_limit vacuum_max_eager_freeze_failure_rate vacuum_truncate""",
    "the connection itself, and libraries that the server's owner put there": """
        client_connection_check_interval local_preload_libraries tcp_keepalives_count tcp_keepalives_idle
        tcp_keepalives_interval tcp_user_timeout""",
}


def test_a_view_that_raises_on_a_row_stops_the_refresh_in_constant_words(read, server, declared, stored):
    server.run("CREATE TABLE odds (who text, x int)",
               "INSERT INTO odds SELECT 'p' || i, i FROM generate_series(-5, 99) i",
               "CREATE VIEW shares AS SELECT who, 10 / x AS share FROM odds",
               "CREATE VIEW casts AS SELECT who, CAST('secret' || who AS integer) AS share FROM odds",
               "CREATE VIEW parted AS SELECT who, 10 / NULLIF(x, 0) AS share FROM odds")
    columns = {"who": "text", "share": "integer"}
    before, _ = read(columns, "parted")
    told = {refused(read, columns, name).replace(name, "VIEW") for name in ("shares", "casts")}
    assert len(told) == 1
    assert "secret" not in (words := told.pop())
    assert "zero" not in words
    assert "public.VIEW cannot be read to its end." in words
    assert stored(declared(columns, postgres={"dsn": "env:CLINIC_DSN", "table": "parted"})) == before


def test_row_level_security_is_refused(read, server, monkeypatch):
    server.run("CREATE ROLE reader LOGIN", "CREATE TABLE ruled (who text)", "INSERT INTO ruled VALUES ('a')",
               "ALTER TABLE ruled ENABLE ROW LEVEL SECURITY", "GRANT SELECT ON ruled TO reader",
               "CREATE POLICY a_part ON ruled USING (who = 'b')",
               "CREATE VIEW through WITH (security_invoker = true) AS SELECT * FROM ruled",
               "GRANT SELECT ON through TO reader")
    assert read({"who": "text"}, "ruled")[0] == [("a",)]  # a superuser
    monkeypatch.setenv("CLINIC_DSN", server.dsn(user="reader"))
    assert "all rows of public.ruled: a row-level security policy" in refused(read, {"who": "text"}, "ruled")
    words = refused(read, {"who": "text"}, "through")
    assert "all rows of a table that public.through rests on: a row-level security policy" in words
    server.run(words.split("run: ")[1].split(";")[0])
    assert read({"who": "text"}, "ruled")[0] == [("a",)]


def test_permission_and_the_grant_that_mends_it(read, server, monkeypatch):
    server.run("CREATE ROLE narrow LOGIN", "CREATE TABLE closed (who text)", "INSERT INTO closed VALUES ('a')")
    monkeypatch.setenv("CLINIC_DSN", server.dsn(user="narrow"))
    words = refused(read, {"who": "text"}, "closed")
    assert "The role may not read public.closed." in words
    server.run(words.split("run: ")[1].split(";")[0].replace("role", "narrow"))
    assert read({"who": "text"}, "closed")[0] == [("a",)]


OTHER_TYPES = [  # type, value, declared as, and what the view that is offered reads it as
    ("integer[]", "'{1,2}'", "text", "{1,2}"), ("jsonb", """'{"a": 1}'""", "text", '{"a": 1}'),
    ("int4range", "'[1,3)'", "text", "[1,3)"), ("bytea[]", r"ARRAY['\xff'::bytea]", "text", '{"\\\\xff"}'),
    ("interval", "'90 minutes'", "integer", 5400), ("time without time zone", "'10:00'", "text", "10:00:00"),
    ("money", "12.5", "float", 12.5), ("inet", "'10.0.0.1'", "text", "10.0.0.1/32"),
    ("oid", "4000000000", "integer", 4000000000), ('"char"', "'x'", "text", "x"), ("name", "'n'", "text", "n"),
    ("tsvector", "'a'", "text", "'a'"), ("typed", "NULL", "text", None),
]


def test_other_types_are_refused_by_name_with_the_view_that_mends_it(read, server):
    columns = ", ".join(f"x{i} {type}" for i, (type, *_) in enumerate(OTHER_TYPES[:-1]))
    server.run(f'CREATE TABLE "Other" ("Who" text, {columns})', 'ALTER TABLE "Other" ADD x12 typed',
               f"""INSERT INTO "Other" VALUES ('a', {', '.join(value for _, value, *_ in OTHER_TYPES)})""")
    unit = {"unit": "Who", "max_rows": 1, "max_groups": 1}
    names = [*(type for type, *_ in OTHER_TYPES[:-1]), "public.typed"]
    for i, (name, (_, _, declared_as, _)) in enumerate(zip(names, OTHER_TYPES, strict=True)):
        words = refused(read, {"Who": "text", f"x{i}": declared_as}, "Other", **unit)
        assert f'"x{i}" of public."Other" is of type {name}, which is not read.' in words
    columns = {"Who": "text"} | {f"x{i}": declared_as for i, (_, _, declared_as, _) in enumerate(OTHER_TYPES)}
    server.run(refused(read, columns, "Other", **unit).split("name that: ")[1])
    assert read(columns, "Other_read", **unit)[0] == [("a", *(value for *_, value in OTHER_TYPES))]


@pytest.mark.parametrize(("type", "declared_as", "cure"), [
    ("bool", "integer", '"boolean"'), ("numeric", "text", '"float", "integer" or "boolean"'),
    ("date", "text", '"date" or "timestamp"'),
    ("timestamptz", "date", '"timestamp"'), ("uuid", "integer", '"uuid" or "text"'),
])
def test_a_type_that_is_not_read_as_declared_names_what_it_is_read_as(read, server, type, declared_as, cure):
    server.run("DROP TABLE IF EXISTS mixed", f"CREATE TABLE mixed (x {type})")
    words = refused(read, {"x": declared_as}, "mixed")
    assert f"which is not read as {declared_as}." in words
    assert f"Declare it as {cure}." in words


def test_a_column_that_changed_its_type_is_told_and_the_version_before_stays(read, server, declared, stored):
    """To one that is not read as declared, and to a text, of which the server's values do not say that they changed."""
    server.run("DROP TABLE IF EXISTS mixed", "CREATE TABLE mixed (x int4)", "INSERT INTO mixed VALUES (7)")
    kept, _ = read({"x": "integer"}, "mixed")
    declaration = declared({"x": "integer"}, postgres={"dsn": "env:CLINIC_DSN", "table": "mixed"})
    for change, told in (("text", "is of type text now, and was of type integer before. Write it as integer again"),
                         ("bool USING true", "is of type boolean, which is not read as integer"),
                         ("int8 USING 8", None)):
        server.run(f"ALTER TABLE mixed ALTER x TYPE {change}")
        if told:
            assert told in refused(read, {"x": "integer"}, "mixed")
            assert stored(declaration) == kept == [(7,)]
    assert read({"x": "integer"}, "mixed")[0] == [(8,)]


def test_units_are_compared_exactly(read, server):
    server.run("CREATE TABLE exactly (f float8, n numeric)", "INSERT INTO exactly VALUES (3, 4)")
    caps = {"max_rows": 1, "max_groups": 1}
    words = refused(read, {"f": "integer"}, "exactly", unit="f", **caps)
    assert "is a float" in words
    server.run(words.split("name that: ")[1])
    assert read({"f": "integer"}, "exactly_read", unit="f", **caps)[0] == [(3,)]
    assert read({"n": "integer"}, "exactly", unit="n", **caps)[0] == [(4,)]
    from psycopg.errors import FeatureNotSupported

    try:
        server.run("CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)")
    except FeatureNotSupported:
        pytest.skip("this server is built without ICU, so it has no collation under which different texts are equal")
    server.run("CREATE TABLE loosely (who text COLLATE loose)", "INSERT INTO loosely VALUES ('A')")
    words = refused(read, {"who": "text"}, "loosely", unit="who", **caps)
    assert "collation" in words
    server.run(words.split("name that: ")[1])
    assert read({"who": "text"}, "loosely_read", unit="who", **caps)[0] == [("a",)]


def test_absent_and_altered_tables_and_columns(read, server):
    server.run("CREATE TABLE altered (who text, age int)", "CREATE SCHEMA other",
               "CREATE TABLE other.altered (who text)", "CREATE TABLE stamps (at timestamp)")
    assert 'Name the schema too: table = "other.altered".' in refused(read, {"who": "text"}, "altered")
    assert 'Did you mean "public.altered"?' in refused(read, {"who": "text"}, "public.alterd")
    assert 'has no column "ages". Did you mean "age"?' in refused(read, {"ages": "integer"}, "public.altered")
    server.run("ALTER TABLE public.altered ALTER age TYPE boolean USING age > 1")
    assert 'Declare it as "boolean".' in refused(read, {"age": "integer"}, "public.altered")
    server.run("DROP TABLE public.altered")
    assert 'no table or view "public.altered"' in refused(read, {"age": "integer"}, "public.altered")
    assert 'at = { type = "timestamp", zone = "UTC" }' in refused(read, {"at": "timestamp"}, "stamps")


def test_no_message_has_the_connection_string_or_the_servers_words(read, server, monkeypatch, tmp_path):
    server.run("CREATE TABLE seen_by_guarded (who text)", "GRANT SELECT ON seen_by_guarded TO guarded")

    def told(dsn):
        monkeypatch.setenv("CLINIC_DSN", dsn)
        words = refused(read, {"who": "text"}, "seen_by_guarded")
        assert SECRET not in words
        assert server.socket not in words
        return words

    good = server.dsn(user="guarded", password=SECRET)
    assert "does not answer" in told(f"{server.dsn()} port=1 password={SECRET}")
    assert "refuses the role, the password or the database" in told(server.dsn(user="guarded", password="x" + SECRET))
    assert "for a password, and none was found" in told(server.dsn(user="guarded", passfile=str(tmp_path / "none")))
    assert "refuses the role or the database" in told(server.dsn(user=SECRET))
    assert "refuses the role or the database" in told(server.dsn(database=SECRET))
    assert "is no connection string" in told(SECRET)
    assert "is no connection string" in told(f"host=a {SECRET}=x")
    assert "is no connection string" in told(f"postgresql://u:{SECRET}@[::1/x")
    assert "names no server that can be reached" in told(f"service={SECRET}")
    assert "is not set" in told(" ")
    monkeypatch.delenv("CLINIC_DSN")
    assert 'export CLINIC_DSN="' in refused(read, {"who": "text"}, "seen_by_guarded")
    monkeypatch.setenv("CLINIC_DSN", good)
    assert read({"who": "text"}, "seen_by_guarded")[0] == []


def test_a_server_that_is_away_a_wrong_password_and_a_table_that_is_gone_leave_the_version_before(
    read, server, declared, stored, monkeypatch
):
    server.run("CREATE TABLE leaving (who text)", "INSERT INTO leaving VALUES ('a')",
               "GRANT SELECT ON leaving TO guarded")
    good = server.dsn(user="guarded", password=SECRET)
    monkeypatch.setenv("CLINIC_DSN", good)
    before, _ = read({"who": "text"}, "leaving")
    declaration = declared({"who": "text"}, postgres={"dsn": "env:CLINIC_DSN", "table": "leaving"})
    for dsn, told in ((f"{good} port=1", "does not answer"), (server.dsn(user="guarded", password="x"), "refuses the"),
                      (good, 'no table or view "leaving"')):
        monkeypatch.setenv("CLINIC_DSN", dsn)
        if dsn == good:
            server.run("DROP TABLE leaving")
        assert told in refused(read, {"who": "text"}, "leaving")
        assert stored(declaration) == before == [("a",)]
        assert not list(declaration.state.glob("draft*"))


def test_passwords_and_servers_come_from_libpqs_own_files_too(read, server, monkeypatch, tmp_path):
    server.run("CREATE TABLE by_file (who text)", "GRANT SELECT ON by_file TO PUBLIC")
    (tmp_path / "services").write_text(f"[clinic]\nhost={server.socket}\nuser=guarded\ndbname=postgres\n")
    (tmp_path / "passes").write_text(f"*:*:*:guarded:{SECRET}\n")
    (tmp_path / "passes").chmod(0o600)
    monkeypatch.setenv("PGSERVICEFILE", str(tmp_path / "services"))
    monkeypatch.setenv("PGPASSFILE", str(tmp_path / "passes"))
    monkeypatch.setenv("CLINIC_DSN", "service=clinic")
    assert read({"who": "text"}, "by_file")[0] == []


def test_a_connection_that_is_lost_midway_leaves_the_version_before(read, server, declared, stored, monkeypatch):
    server.run("CREATE TABLE long (who text)", "INSERT INTO long SELECT 'p' || i FROM generate_series(1, 3000) i")
    before, _ = read({"who": "text"}, "long")
    monkeypatch.setattr(postgres_source, "BATCH", 1000)
    ending = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'ended here'"
    monkeypatch.setenv("CLINIC_DSN", server.dsn() + " application_name='ended here'")
    server.run("CREATE VIEW slow AS SELECT who, "
               "pg_sleep(CASE WHEN who = 'p2999' THEN 100 ELSE 0 END)::text AS z FROM long")
    declaration = declared({"who": "text", "z": "text"}, postgres={"dsn": "env:CLINIC_DSN", "table": "slow"})
    with pytest.raises(Misconfigured) as caught:
        refresh(declaration, progress=lambda *_: server.run(ending))
    assert "The connection to the server of public.slow was lost. Run `dpcurator refresh` again" in str(caught.value)
    assert stored(declared({"who": "text"}, postgres={"dsn": "env:CLINIC_DSN", "table": "long"})) == before


def test_the_extra_is_named_where_it_is_not_installed(read, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "psycopg", None)
    assert "pip install 'dpcurator[postgres]'" in refused(read, {"who": "text"}, "typed")
