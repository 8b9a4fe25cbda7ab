"""A text longer than its column's public max_length cannot be read: row by row, and told to the steward (A1)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

from dpcurator.catalog.bind import catalog_of, schema_fingerprint
from dpcurator.catalog.load import load
from dpcurator.errors import Misconfigured
from dpcurator.snapshot.refresh import refresh

TEXTS = ["", "abcd", "😀" * 4, "abcde", "e\u0301" * 3, None]


def declared(**column: Any) -> dict[str, Any]:
    columns = {"who": "integer", "note": {"type": "text"} | column}
    table = {"unit": "who", "max_rows": 1, "max_groups": 1, "columns": columns}
    return {"curator": {"protects": "people"}, "ledger": {"epsilon": 1}, "tables": {"v": table}}


def read(directory: Path, **column: Any) -> tuple[Any, Any]:
    frame = {"who": list(range(len(TEXTS))), "note": TEXTS}
    report = refresh(load(declared(**column), directory=directory), {"v": frame})
    with duckdb.connect(str(next(directory.glob(".dpcurator/snapshot-*.duckdb"))), read_only=True) as snapshot:
        return report.tables[0], snapshot.execute("SELECT c1 FROM t0 ORDER BY c0").fetchall()


def test_a1_a_longer_text_is_missing_and_told(tmp_path):
    report, found = read(tmp_path, max_length=4)
    assert [text for (text,) in found] == ["", "abcd", "😀" * 4, None, None, None]
    assert report.unreadable["note"].count == 2


def test_a1_or_sets_its_row_aside(tmp_path):
    report, found = read(tmp_path, max_length=4, unreadable="set-aside")
    assert [text for (text,) in found] == ["", "abcd", "😀" * 4, None]
    assert report.set_aside.count == 2


def test_a_snapshot_is_made_for_its_lengths_and_a_default_moves_no_digest(tmp_path):
    plain, same, other = (load(declared(**one)) for one in ({}, {"max_length": 500}, {"max_length": 501}))
    assert catalog_of(plain).digest == catalog_of(same).digest != catalog_of(other).digest
    assert schema_fingerprint(plain) == schema_fingerprint(same) != schema_fingerprint(other)


@pytest.mark.parametrize(("column", "told"), [
    ({"max_length": 0}, "from 1 to 8,000. Write max_length = 500."), ({"max_length": 8001}, "from 1 to 8,000"),
    ({"max_length": True}, "from 1 to 8,000"), ({"type": "date", "max_length": 5}, "is for text columns, not date."),
    ({"max_length": 3, "keys": ["abcd"]}, "has 4 letters, and max_length is 3. Write max_length = 4."),
    ({"max_length": 3, "missing": {"value": "none"}}, "has 4 letters, and max_length is 3. Write max_length = 4."),
])
def test_a_length_that_cannot_be_is_told_with_its_cure(column, told):
    with pytest.raises(Misconfigured) as refused:
        load(declared(**column))
    assert told in str(refused.value)


@pytest.mark.parametrize(("given", "told"), [
    ({"threads": 0}, "from 1 to 256. Write threads = 4."),
    ({"threads": 8, "memory": 1536}, "at least 2,432 with 8 threads"),
    ({"memory": 1471}, "at least 1,472 with 4 threads. Write memory = 1536."),
])
def test_what_an_engine_may_use_is_checked(given, told):
    raw = declared()
    with pytest.raises(Misconfigured) as refused:
        load(raw | {"curator": raw["curator"] | given})
    assert told in str(refused.value)
    made = load(raw | {"curator": raw["curator"] | {"threads": 8}})
    assert (made.threads, made.memory) == (8, 2432)
    assert catalog_of(made).digest == catalog_of(load(raw)).digest
