"""What caps and bounds would leave out, for the steward alone: worked out by hand."""

from __future__ import annotations

import json

from dpcurator.catalog.load import load
from dpcurator.snapshot.refresh import refresh
from dpcurator.snapshot.report import Beyond, Over, share

COLUMNS = {
    "who": "text", "city": {"type": "text", "keys": ["Leeds", "York"]},
    "ward": {"type": "integer", "keys": [1, 2], "keys_include_missing": True},
    "age": {"type": "integer", "bounds": [0, 40]}, "w": {"type": "float", "bounds": [-0.5, 0.5]},
    "day": {"type": "date", "bounds": ["2024-01-01", "2024-12-31"]},
}
ROWS = {
    "who": ["a", "a", "a", "a", "b", "b", "c", None],
    "city": ["Leeds", "Leeds", "Leeds", "York", "Leeds", "York", "Hull", "Leeds"],
    "ward": [1, None, None, 3, 2, 2, 1, 1],
    "age": [0, 40, 41, -1, None, 2**62, 3, 4],
    "w": [0.5, -0.5, float("nan"), float("inf"), -1e-9, -0.6, None, 0.0],
    "day": ["2024-01-01", "2024-12-31", "2025-01-01", None, "2023-12-31", "2023-01-01", "2024-05-05", "2024-05-05"],
}


def report(columns=COLUMNS, unit="who", **caps):
    told = {"curator": {"protects": "people"}, "ledger": {"epsilon": 4},
            "tables": {"t": {"unit": unit, "columns": columns} | caps}}
    return refresh(load(told), {"t": ROWS}).tables[0]


def test_values_beyond_bounds(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = report(max_total=9)
    assert found.beyond == {"age": Beyond(1, 2, 7), "w": Beyond(1, 1, 6), "day": Beyond(2, 1, 7)}
    assert (
        "  of the values of 'age', 14 % are below and 29 % are above its bounds: they count as the bound"
        in found.lines()
    )
    assert json.loads(json.dumps(found.as_json()))["beyond_bounds"]["w"] == {"below": 1, "above": 1, "values": 6}
    assert found.clean()  # all of it was read as declared


def test_units_over_each_cap(tmp_path, monkeypatch):
    """a has 4 rows, 3 of them in Leeds; b has 2, one in each city; c has one, in no listed city."""
    monkeypatch.chdir(tmp_path)
    assert report(max_total=4).over == {}
    assert report(max_total=2).over == {"": Over(1, 3, 2 / 7), "city": Over(1, 2, 2 / 6), "ward": Over(1, 3, 1 / 6)}
    assert report(max_rows=2).over["city"] == Over(1, 2, 1 / 6)
    groups = report(max_rows=4, max_groups=1).over
    assert groups == {"city": Over(2, 2, 3 / 6), "ward": Over(1, 3, 1.5 / 6)}
    both = report(max_rows=2, max_groups=1, max_total=2).over["city"]  # a: min(1/2, 2/3) of the 3 that two caps leave
    assert both == Over(2, 2, (4 - 1.5 + 1) / 6)
    assert report(unit="each row").over == {}


def test_a_share_of_a_few_is_never_nothing():
    assert [share(part) for part in (0.0, 1e-9, 0.0094, 0.123, 1.0)] == [
        "0.0 %",
        "under 0.1 %",
        "0.9 %",
        "12 %",
        "100 %",
    ]
