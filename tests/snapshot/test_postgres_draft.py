"""`init` for a PostgreSQL table: the schema's own words and nothing of a row, and a draft that refreshes."""

import re

import pytest
from shell import run

from dpcurator.catalog.load import load
from dpcurator.catalog.postgres_draft import drafted_table, ends, listed, one_line
from dpcurator.errors import Misconfigured
from dpcurator.snapshot.refresh import refresh

SCHEMA = """
CREATE SCHEMA ward;
CREATE TYPE ward.state AS ENUM ('in', 'out', 'it''s');
CREATE DOMAIN ward.years AS smallint;
CREATE TABLE ward.people (id bigint PRIMARY KEY);
CREATE TABLE ward.visits (
  visit uuid PRIMARY KEY, "person id" bigint NOT NULL REFERENCES ward.people (id), state ward.state NOT NULL,
  city varchar(30) CHECK (city IN ('Leeds', 'Hull, East', 'O''Hara')), age ward.years CHECK (age BETWEEN 0 AND 110),
  cost numeric(8, 2) CHECK (cost >= -1.5 AND cost <= 20000), bed numeric(6), day date CHECK (day >= '2020-01-01' AND day
  <= '2030-12-31'), seen timestamp, left_at timestamptz, "at" time, code char(3), notes text CHECK (length(notes) < 99),
  payload jsonb, tags text[], ok boolean, weight real CHECK (weight > 0), UNIQUE ("person id", day)
);
COMMENT ON TABLE ward.visits IS E'One row a visit.\\nSee the "handbook".';
COMMENT ON COLUMN ward.visits.age IS E'years\\tat the visit # "?" = 3';
INSERT INTO ward.people VALUES (4711);
INSERT INTO ward.visits (visit, "person id", state, city, age, day) VALUES
  ('123e4567-e89b-12d3-a456-426614174000', 4711, 'in', 'Leeds', 77, '2024-02-03')"""
COLUMNS = """
visit       = "uuid?"
"person id" = "integer?"
state       = { type = "text?", keys = ["in", "out", "it's"] }
city        = { type = "text?", keys = ["Leeds", "Hull, East", "O'Hara"] }
age         = { type = "integer?", bounds = [0, 110] }   # years at the visit # "?" = 3
cost        = { type = "float?", bounds = [-1.5, 20000] }
bed         = "integer?"
day         = { type = "date?", bounds = ["2020-01-01", "2030-12-31"] }
seen        = { type = "timestamp?", zone = "?" }
left_at     = "timestamp?"
at          = { type = "integer?", format = "HH:mm:ss" }
code        = { type = "text?", max_length = 3 }
notes       = "text?"
ok          = "boolean?"
weight      = "float?"
# payload is left out: it is of type jsonb, which is not read. A view may write it otherwise.
# tags is left out: it is of type text[], which is not read. A view may write it otherwise.
"""
TABLE = """
[tables.visits]
postgres = { dsn = "env:WARD_DSN", table = "ward.visits" }
# One row a visit. See the "handbook".
# the server declares: PRIMARY KEY (visit)
# the server declares: UNIQUE ("person id", day)
# the server declares: FOREIGN KEY ("person id") REFERENCES ward.people(id)
unit = "?" """


@pytest.fixture(scope="module")
def server(postgres):
    postgres.run("CREATE DATABASE drafts")
    with postgres.connect("drafts") as connection:
        connection.execute(SCHEMA.encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WARD_DSN", postgres.dsn("drafts"))
        yield postgres


def test_a_draft_has_what_the_schema_declares_and_nothing_of_a_row(server):
    drafted = drafted_table("env:WARD_DSN", "ward.visits").text("0" * 32)
    assert drafted.endswith(COLUMNS)
    assert TABLE.rstrip() in drafted
    assert not re.search("4711|77|2024-02-03|123e4567", drafted.partition("[tables.visits]")[2].replace("20000", ""))


def test_a_draft_that_is_answered_refreshes(server, tmp_path, capsys):
    catalog = str(tmp_path / "curator.toml")
    told = run(capsys, "init", "--postgres", "env:WARD_DSN", "--table", "visits", "--catalog", catalog)
    assert (told.code, told.err) == (0, "")
    assert "replace every" in told.out
    drafted = (tmp_path / "curator.toml").read_text()
    with pytest.raises(Misconfigured, match="are guesses"):
        load(tmp_path / "curator.toml")
    filled = re.sub(r'"(\w+)\?"', r'"\1"', drafted).replace('protects = "?"', 'protects = "patients"')
    filled = filled.replace('epsilon = "?"', "epsilon = 4").replace('max_total = "?"', "max_total = 3")
    filled = filled.replace('unit = "?"', 'unit = "person id"').replace('zone = "?"', 'zone = "UTC"')
    report = refresh(load(filled, directory=tmp_path)).tables[0]
    assert (report.rows, report.clean()) == (1, True)


def test_which_table_is_asked_for_where_none_is_named(server):
    with pytest.raises(Misconfigured) as caught:
        drafted_table("env:WARD_DSN", None)
    assert str(caught.value) == 'The database has 2 tables and views: "ward.people", "ward.visits". Name one: ' \
        "dpcurator init --postgres env:WARD_DSN --table NAME."
    with pytest.raises(Misconfigured, match='Did you mean "visits"'):
        drafted_table("env:WARD_DSN", "visit")


@pytest.mark.parametrize("given", [[], ["visits.csv", "--postgres", "env:WARD_DSN"]])
def test_a_draft_is_for_a_file_or_for_a_table(given, capsys):
    told = run(capsys, "init", *given)
    assert told.code == 2
    assert "dpcurator init --postgres env:CLINIC_DSN --table public.visits" in told.err


def test_a_string_with_a_password_is_not_repeated(capsys):
    told = run(capsys, "init", "--postgres", "host=db password=hunter2", "--table", "t")
    assert told.code == 4
    assert "hunter2" not in told.out + told.err
    assert "--postgres env:CLINIC_DSN" in told.err


@pytest.mark.parametrize(("rule", "keys"), [
    ("CHECK ((x = ANY (ARRAY['a'::text, 'b]'::text])))", ["a", "b]"]),
    ("CHECK (((x)::text = ANY ((ARRAY['a'::character varying, 'it''s'::character varying(3)])::text[])))",
     ["a", "it's"]),
    ("CHECK ((x = ANY (ARRAY['a'::text, upper('b'::text)])))", []),
    ("CHECK (((x = ANY (ARRAY['a'::text])) OR (y = 'b'::text)))", []),
    ("CHECK ((y = ANY (ARRAY['a'::text])))", []),
    ("CHECK ((x <> ALL (ARRAY['a'::text])))", []),
])
def test_lists_of_a_check(rule, keys):
    assert listed(rule, "x") == keys


@pytest.mark.parametrize(("rule", "type", "bounds"), [
    ("CHECK (((x >= 0) AND (x <= 110)))", "integer", "[0, 110]"),
    ("CHECK (((x >= ('-1.5'::numeric)::double precision) AND (x <= (2)::double precision))) NOT VALID", "float",
     "[-1.5, 2]"),
    ("CHECK ((((x)::smallint >= 0) AND ((x)::smallint <= 110)))", "integer", "[0, 110]"),
    ("CHECK (((x >= '2020-01-01'::date) AND (x <= '2020-12-31'::date)))", "date", '["2020-01-01", "2020-12-31"]'),
    ("CHECK (((x >= 0) AND (x <= 110) AND (y > 0)))", "integer", ""),
    ("CHECK (((x >= 0) OR (x <= 110)))", "integer", ""),
    ("CHECK (((x > 0) AND (x <= 110)))", "integer", ""),
    ("CHECK (((y >= 0) AND (y <= 110)))", "integer", ""),
    ("CHECK (((x >= 0) AND (x <= (110 + y))))", "integer", ""),
])
def test_ends_of_a_check(rule, type, bounds):
    assert ends(rule, "x", type) == bounds


def test_a_remark_is_one_line_of_a_comment():
    assert one_line("a\r\n[curator]\x00\u2028b  c") == "a [curator] b c"
    assert len(one_line("x" * 999)) < 210
