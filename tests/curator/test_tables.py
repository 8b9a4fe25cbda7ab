"""F7: what can be asked, as a table: every column with its type, bounds and keys, and what bounds a unit."""

from __future__ import annotations

import pytest
from house import opened

import dpcurator as dp


def test_f7_the_tables_of_a_curator(tmp_path):
    columns = {"day": {"type": "date", "bounds": ["2024-02-01", "2024-02-29"]},
               "age": {"type": "integer", "bounds": [0, 100], "keys": list(range(20))}}
    curator = opened(tmp_path / "c", columns=columns, expected_units=1000)
    assert str(curator.tables).splitlines() == [
        "visits: private, protects people by who, of whom each has at most 2 rows in a group and at most 1 group; "
        "about 1,000 of them",
        "column   type      bounds                     keys",
        "who      text                                 (the unit)",
        "city     text                                 Hull, Leeds, York",
        "age      integer   0 to 100                   0, 1, 2, 3, 4, 5, 6, 7, ... and 12 more",
        "gain     float     -1.5 to 2.5",
        "seen     boolean                              False, True",
        "day      date      2024-02-01 to 2024-02-29",
        "dose     float                                NULL, 0.0, 1.5",
    ]
    assert repr(curator.tables) == str(curator.tables)
    assert "2024-02-01 to 2024-02-29" in curator._repr_html_()
    assert (list(curator.tables), len(curator.tables)) == (["visits"], 1)
    assert curator.tables["visits"].max_rows == 2
    with pytest.raises(dp.Refusal, match="no table 'visit'") as refused:
        curator.tables["visit"]
    assert "visits" in refused.value.cure


def test_f7_the_tables_for_machines(tmp_path):
    (table,) = opened(tmp_path / "c").tables.as_json()["tables"]
    assert (table["name"], table["unit"], table["max_rows"], table["max_groups"]) == ("visits", "who", 2, 1)
    by_name = {column["name"]: column for column in table["columns"]}
    assert by_name["age"] == {"name": "age", "type": "integer", "bounds": ["0", "100"], "keys": None}
    assert by_name["day"]["keys"] == ["2024-02-29"]
    assert by_name["dose"]["keys"] == [None, 0.0, 1.5]


def test_f7_they_are_public_facts_alone(tmp_path):
    """Two tables of other people show the same."""
    shown = [str(opened(tmp_path / name, rows).tables) for name, rows in (("a", None), ("b", []))]
    assert shown[0] == shown[1]


def test_c11_how_the_data_was_cleaned_is_public(tmp_path):
    age = {"type": "integer", "valid": [0, 105], "na_values": ["99"]}
    city = {"type": "text", "clean": ["lower"], "map": {"hull": "Hull", "leeds": "Leeds"}, "keys": ["Hull", "Leeds"]}
    tables = opened(tmp_path / "c", columns={"age": age, "city": city}, distinct=["city"]).tables
    assert str(tables).splitlines()[-2:] == [
        "(each of the people has one row for each: city)", "(missing, where the data is outside: age 0 to 105)",
    ]
    (table,) = tables.as_json()["tables"]
    by_name = {column["name"]: column for column in table["columns"]}
    assert by_name["age"]["valid"] == ["0", "105"]
    assert by_name["city"]["map"] == [["hull", "Hull"], ["leeds", "Leeds"]]
    assert table["distinct"] == ["city"]
