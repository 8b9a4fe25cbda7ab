"""Rules that hold between tables: units, public tables, and keys taken from them."""

import pytest

from dpcurator.catalog.load import load
from dpcurator.errors import Misconfigured


def tables(**declared):
    return load({"curator": {"protects": "p"}, "ledger": {"epsilon": 1}, "tables": declared})


VISITS = {"unit": "u", "columns": {"u": "integer", "city": {"type": "text", "keys": {"table": "cities"}}}}
CITIES = {"public": True, "columns": {"city": "text", "code": "integer"}}


def test_keys_from_a_public_table():
    declared = tables(visits=VISITS, cities=CITIES)
    (keys,) = declared.public_keys
    assert (keys.public_table, keys.public_column, keys.with_missing) == ("cities", "city", False)
    assert declared.tables[0].columns[1].keys is None  # not known before a refresh


REFUSED = [
    ({"v": VISITS}, "which is not declared"),
    ({"v": VISITS, "cities": {"unit": "u", "columns": {"u": "text"}}}, "which is not public"),
    ({"v": VISITS, "citties": CITIES}, 'Did you mean "citties"?'),
    ({"v": VISITS, "cities": {"public": True, "columns": {"town": "text"}}}, 'has no column "city"'),
    ({"v": VISITS, "cities": {"public": True, "columns": {"city": "integer"}}},
     "of type integer, the column of type text"),
    ({"cities": CITIES}, "nothing to protect"),
    ({}, "There are no tables"),
    ({"a": {"unit": "each row", "columns": {"x": "text"}}, "b": {"unit": "u", "columns": {"u": "text"}}},
     'With unit = "each row" there is one private table, and here is also "b"'),
    ({"a": {"unit": "each row", "columns": {"each row": "text"}}}, "ambiguous"),
    ({"a": {"unit": "u", "columns": {}}}, 'table "a" has no columns'),
    ({"a": {"unit": "u"}}, 'table "a" has no columns'),
    ({"a": {"unit": "u", "columns": []}}, 'table "a" has no columns'),
    ({"a": 3}, "a must be a table"),
    ({"a": {"unit": "u", "columns": {"u": {"type": "integer", "missing": 0}}}}, "A unit column has no fill"),
    ({"a": {"public": True, "max_rows": 1, "columns": {"x": "text"}}}, "max_rows is for private tables"),
    ({"v": VISITS, "cities": {"public": True, "columns": {"city": {"type": "text", "keys": ["a"]}}}},
     "A public table's keys are its own values"),
    ({"a": {"unit": "u", "file": "a.csv", "quote": ",", "columns": {"u": "text"}}}, "the same character"),
    ({"a": {"unit": "u", "file": "a.csv", "delimiter": "||", "columns": {"u": "text"}}}, "one character"),
    ({"a": {"unit": "u", "file": "a.duckdb", "columns": {"u": "text"}}}, "holds several tables"),
    ({"a": {"unit": "u", "duckdb": {"file": "a.duckdb"}, "columns": {"u": "text"}}}, "[duckdb] has no table"),
    ({"a": {"unit": "u", "duckdb": {"file": "a", "tabel": "b"}, "columns": {"u": "text"}}}, 'Did you mean "table"?'),
    ({"a": {"unit": "u", "postgres": {"dsn": "env:9", "table": "t"}, "columns": {"u": "text"}}},
     'dsn names no environment variable. Write dsn = "env:CLINIC_DSN"'),
    ({"a": {"unit": "u", "postgres": {"table": "t"}, "columns": {"u": "text"}}}, 'Add a line: dsn = "env:CLINIC_DSN"'),
    ({"a": {"unit": "u", "postgres": {"dsn": "env:D", "table": "t"}, "file": "a.csv", "columns": {"u": "text"}}},
     "A table has one source: file or postgres, not both"),
    ({"a": {"unit": "u", "postgres": {"dsn": "env:D", "table": "t"}, "delimiter": ";", "columns": {"u": "text"}}},
     "delimiter is for CSV files"),
]


@pytest.mark.parametrize(("declared", "told"), REFUSED)
def test_refused(declared, told):
    with pytest.raises(Misconfigured) as caught:
        tables(**declared)
    assert told in str(caught.value)


@pytest.mark.parametrize("given", [
    {"dsn": "host=db password=hunter2", "table": "t"}, {"dsn": "postgresql://u:hunter2@db/x", "table": "t"},
    {"dsn": "env:hunter2 ", "table": "t"}, "postgresql://u:hunter2@db/x", ["hunter2"],
    {"dsn": {"value": "hunter2"}, "table": "t"}, {"dsn": "env:D", "table": "t", "password": "hunter2"},
])
def test_a_password_in_the_catalog_is_refused_and_not_repeated(given):
    with pytest.raises(Misconfigured) as caught:
        tables(a={"unit": "u", "postgres": given, "columns": {"u": "text"}})
    assert "hunter2" not in str(caught.value)


def test_each_row_needs_no_caps_and_caps_may_be_absent():
    assert tables(a={"unit": "each row", "columns": {"x": "text"}}).tables[0].max_rows is None
    assert tables(a={"unit": "u", "columns": {"u": "text"}}).tables[0].max_groups is None
