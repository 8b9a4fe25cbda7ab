"""The report by column: every row is in exactly one count, and the most frequent spellings are shown."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcurator.catalog.load import load
from dpcurator.snapshot.by_column import ByColumn, Spellings, lines_of
from dpcurator.snapshot.refresh import refresh

AGES = ["30", "40", "999", "?", "", "130", "130", "-5", "forty", "forty", "forty", "n/a", "110", "5"]
COLUMNS = {
    "who": "text",
    "age": {"type": "integer", "na_values": ["999", "?"], "valid": [0, 120], "bounds": [18, 100]},
    "sex": {"type": "text", "clean": ["trim", "lower"], "keys": ["f", "m"]},
}


@pytest.fixture
def report(tmp_path):
    raw = {"curator": {"protects": "people"}, "ledger": {"epsilon": 1}}
    table = {"file": "d.csv", "unit": "who", "max_total": 2, "columns": COLUMNS}
    lines = [f"{'' if i == 3 else 'abc'[i % 3]},{age},{' F' if i % 2 else 'x'}" for i, age in enumerate(AGES)]
    (tmp_path / "d.csv").write_text("\n".join(["who,age,sex", *lines]) + "\n")
    return refresh(load(raw | {"tables": {"t": table}}, directory=tmp_path))


TOLD = """\
t: 14 rows
  column   values   missing   unreadable   not valid   beyond bounds   no key
  who          13         1            0           0               0        0
  age           4         3            4           3               2        0
  sex          14         0            0           0               0        7
"""


def test_the_table_counts_each_column(report):
    assert TOLD in str(report)
    assert 'most often "forty" (3), "130" (2), "-5" (1), "n/a" (1)' in str(report)
    (table,) = json.loads(json.dumps(report.as_json()))["tables"]
    assert table["columns"]["age"] == {
        "values": 4, "missing": 3, "unreadable": 4, "not_valid": 3, "beyond": 2, "no_key": 0
    }
    assert table["spellings"]["age"] == [['"forty"', 3], ['"130"', 2], ['"-5"', 1], ['"n/a"', 1]]


def test_a_row_that_is_set_aside_is_in_no_column(tmp_path):
    raw = {"curator": {"protects": "people"}, "ledger": {"epsilon": 1}}
    columns = {"x": {"type": "integer", "unreadable": "set-aside", "valid": [0, 9]}, "y": "integer"}
    declaration = load(raw | {"tables": {"t": {"unit": "each row", "columns": columns}}}, directory=tmp_path)
    table = refresh(declaration, {"t": {"x": ["1", "a", "12"], "y": ["b", "1", "c"]}}).tables[0]
    assert (table.rows, table.set_aside.count) == (1, 2)
    assert table.by_column() == {"x": ByColumn(1, 0, 0, 0, 0, 0), "y": ByColumn(0, 0, 1, 0, 0, 0)}
    assert table.spellings["x"].most() == [('"12"', 1), ('"a"', 1)]


@given(st.lists(st.one_of(st.text(max_size=60), st.integers(), st.binary(max_size=3), st.none(), st.just([1]))))
def test_spellings_are_counted_whatever_they_are(values):
    found = Spellings()
    for value in values:
        found.add(value)
    assert sum(found.counts.values()) == sum(value is not None for value in values)
    assert all("\n" not in shown for shown in found.counts)
    assert len(found.most()) <= 5


def test_a_name_that_would_steer_a_terminal_is_escaped():
    (_, line) = lines_of({"a\x1b[31m": ByColumn(1, 0, 0, 0, 0, 0)})
    assert "\x1b" not in line
