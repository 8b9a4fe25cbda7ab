"""A12: everything a catalog holds has a public limit, told with its line when the catalog is read."""

import pytest

from dpcurator.catalog.limits import LARGEST_FILE, LONGEST_NAME, LONGEST_TEXT, MOST, MOST_COLUMNS, MOST_TABLES
from dpcurator.catalog.load import load
from dpcurator.engines import limits as engines
from dpcurator.errors import Misconfigured

FILE = """\
[curator]
protects = "patients"
[ledger]
epsilon = 4
[tables.visits]
unit = "who"
max_rows = 3
max_groups = 2
expected_units = 1000
[tables.visits.columns]
who = "text"
"""


def refused(text):
    with pytest.raises(Misconfigured) as caught:
        load(text)
    return str(caught.value)


@pytest.mark.parametrize(("field", "line"), [("max_rows", 7), ("max_groups", 8), ("expected_units", 9)])
@pytest.mark.parametrize("number", ["1" + "0" * 40, '"1e40"', "1e40", "{most}1"])
def test_a12_a_number_above_its_limit_is_told_with_its_line_and_the_cure_works(field, line, number):
    lines = FILE.splitlines()
    lines[line - 1] = f"{field} = {number.format(most=MOST[field])}"
    told = refused("\n".join(lines) + "\n")
    assert told == (f"curator.toml:{line}: {field} is above its limit, {MOST[field]:,}. "
                    f"Write {field} = {MOST[field]} or less.")
    lines[line - 1] = f"{field} = {MOST[field]}"
    load("\n".join(lines) + "\n")


def test_a12_what_a_catalog_may_declare_no_engine_refuses():
    assert MOST["max_rows"] == MOST["max_total"] == engines.MAX_ROWS
    assert MOST["max_total"] < engines.MAX_TOTAL
    assert MOST["max_groups"] == engines.MAX_KEYS
    assert MOST["units"] == MOST["expected_units"] == engines.MAX_TABLE_ROWS


def test_a12_the_public_number_of_units_has_a_limit():
    text = FILE.replace('"patients"', f'"patients"\nneighbours = "replace-one"\nunits = {MOST["units"] + 1}')
    assert "curator.toml:4: units is above its limit, 281,474,976,710,656." in refused(text)


@pytest.mark.parametrize("amount", ['"1e-25"', '"1e41"', "1e300", '"1/10000000000000000000000000"'])
def test_a12_the_budget_has_limits(amount):
    told = refused(FILE.replace("epsilon = 4", f"epsilon = {amount}"))
    assert told == "curator.toml:4: epsilon is outside its limits, 1e-24 and 1e40. Write epsilon = 4."
    rho = FILE.replace("epsilon = 4", f'rho = {amount}\ndelta = "1e-8"')
    assert "curator.toml:4: rho is outside its limits" in refused(rho)


def test_a12_a_number_of_thousands_of_digits_is_refused_with_its_line():
    told = refused(FILE.replace("max_rows = 3", f"max_rows = {'9' * 5000}"))
    assert told.startswith("curator.toml:7: This number has more than 4,000 digits.")


def test_a12_names_and_texts_have_a_limit():
    assert f"a name of 201 letters; the limit is {LONGEST_NAME}" in refused(FILE + f'{"x" * 201} = "text"\n')
    told = refused(FILE + f'city = {{ type = "text", keys = ["{"x" * 10_001}"] }}\n')
    assert told == f"curator.toml:12: a text of 10,001 letters; the limit is {LONGEST_TEXT:,}. Shorten it."
    key = f'city = {{ type = "text", keys = ["{"x" * 8_000}"] }}\n'
    cure = "curator.toml:12: a text here has 8,000 letters, and max_length is 500. Write max_length = 8000."
    assert refused(FILE + key) == cure
    load(FILE + key.replace("keys", "max_length = 8000, keys"))


def test_a12_there_is_a_limit_of_tables_columns_and_keys(monkeypatch):
    raw = {"curator": {"protects": "p"}, "ledger": {"epsilon": 1}}
    columns = {f"c{i}": "text" for i in range(MOST_COLUMNS + 1)}
    with pytest.raises(Misconfigured, match=r"has 10,001 columns; the limit is 10,000"):
        load(raw | {"tables": {"t": {"unit": "each row", "columns": columns}}})
    with pytest.raises(Misconfigured, match=r"has 1,001 tables; the limit is 1,000"):
        load(raw | {"tables": {f"t{i}": {} for i in range(MOST_TABLES + 1)}})
    monkeypatch.setattr("dpcurator.catalog.limits.MOST_KEYS", 2)
    assert "has 3 entries; the limit is 2. Long key lists belong in a public table" in refused(
        FILE + 'x = { type = "integer", keys = [1, 2, 3] }\n'
    )


def test_a12_nesting_and_the_size_of_the_file_have_a_limit(tmp_path):
    deep = FILE + "x = { type = " + "[" * 60 + "]" * 60 + " }\n"
    assert "nested more than 8 deep" in refused(deep)
    (tmp_path / "curator.toml").write_text("#" * (LARGEST_FILE + 1))
    with pytest.raises(Misconfigured, match="more than 16,777,216 bytes, the limit"):
        load(tmp_path / "curator.toml")
