"""Data versions have names: the same name is the same snapshot, and frames are not read again unasked (D2)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from shell import run

import dpcurator as dp
from dpcurator.catalog.load import load
from dpcurator.curator.opening import refresh_all
from dpcurator.snapshot.store import open_snapshot

COUNT = "SELECT COUNT(*) FROM visits"


def told(**columns):
    found = {"who": "text", "age": {"type": "integer", "bounds": [0, 100]}} | columns
    return {"curator": {"protects": "people"}, "ledger": {"epsilon": 10**6},
            "tables": {"visits": {"unit": "who", "max_rows": 1, "columns": found}}}


def frame(count):
    return {"who": [f"p{n}" for n in range(count)], "age": [30] * count}


class Unread:
    """A frame that must not be looked at."""

    def __getattribute__(self, name):
        raise AssertionError("it was read")


def opened(path, frame, catalog=None, **how):
    return dp.open(catalog or told(), directory=path, visits=frame, **how)


def test_d2_the_same_name_is_the_same_snapshot_and_nothing_is_read(tmp_path):
    first = opened(tmp_path, frame(50), version="wave 1")
    assert str(first.report).startswith("Data version 1, 'wave 1'.")
    paid = first.ask(COUNT, epsilon=1)
    again = opened(tmp_path, Unread(), version="wave 1")
    assert again.report is None
    assert again.ask(COUNT, epsilon=1).cells == paid.cells
    assert again.ask(COUNT, epsilon=1).repeated
    assert again.budget().spent == 1


def test_a_new_name_is_new_data_and_new_questions(tmp_path):
    opened(tmp_path, frame(50), version="wave 1").ask(COUNT, epsilon=10)
    second = opened(tmp_path, frame(5000), version="wave 2")
    found = second.ask(COUNT, epsilon=1000)
    assert not found.repeated
    assert abs(found.cells[0][0].value - 5000) < 50
    assert second.catalog.data_version == 2
    with pytest.raises(dp.Misconfigured, match="another one is in force"):
        opened(tmp_path, frame(50), version="wave 1")
    assert opened(tmp_path, Unread(), version="wave 2").catalog.data_version == 2


def test_d2_without_a_name_the_snapshot_that_is_there_is_used_and_said_to_be(tmp_path):
    first = opened(tmp_path, frame(50))
    paid = first.ask(COUNT, epsilon=1)
    with pytest.warns(UserWarning, match=r"data version 1, which is here, is used as it is.*refresh=True"):
        again = opened(tmp_path, Unread())
    assert again.ask(COUNT, epsilon=1).cells == paid.cells
    new = opened(tmp_path, frame(50), refresh=True)  # equal rows are new data too: they are not compared
    assert new.catalog.data_version == 2
    assert not new.ask(COUNT, epsilon=1).repeated
    with pytest.warns(UserWarning, match="data version 2"):
        opened(tmp_path, Unread())


def test_other_columns_need_the_frame_read_and_other_bounds_do_not(tmp_path):
    opened(tmp_path, frame(3))
    with pytest.warns(UserWarning, match="not read"):
        opened(tmp_path, Unread(), told(age={"type": "integer", "bounds": [0, 50]}))
    assert opened(tmp_path, frame(3), told(age="float")).catalog.data_version == 2
    opened(tmp_path, frame(3), version="w", refresh=False)
    with pytest.raises(dp.Misconfigured, match="Choose a new name"):
        opened(tmp_path, frame(3), told(age="float"), version="w")


def test_a_name_is_never_that_of_two_snapshots(tmp_path):
    opened(tmp_path, frame(3), version="w")
    with pytest.raises(dp.Misconfigured, match="same name is the same data"):
        opened(tmp_path, frame(4), version="w", refresh=True)
    declaration = load(told(), directory=tmp_path)
    with pytest.raises(dp.Misconfigured, match="was read already"):  # as when another process has just read it
        refresh_all(declaration, {"visits": frame(4)}, name="w")
    assert open_snapshot(declaration).name == "w"
    refresh_all(declaration, {"visits": frame(4)})
    assert open_snapshot(declaration).name is None
    with pytest.raises(dp.Misconfigured, match="another one is in force"):
        opened(tmp_path, frame(3), version="w")


@pytest.mark.parametrize("name", ["", " ", "a ", " a", "a\n", "a/b", "é", "-a", "x" * 81, 3, True, b"w", ["w"]])
def test_what_is_no_name_is_refused_before_anything_is_read(name, tmp_path):
    with pytest.raises(dp.Misconfigured, match="2026-w48"):
        opened(tmp_path, Unread(), version=name)


@pytest.mark.parametrize("name", ["2026-w48", "wave 1", "a", "x" * 80, "v1.2_3"])
def test_names_that_are_words(name, tmp_path):
    assert opened(tmp_path, frame(2), version=name).catalog.data_version == 1


def test_without_frames_a_name_must_be_there(tmp_path):
    with pytest.raises(dp.Misconfigured, match=r"dpcurator refresh --version \"w\""):
        dp.open(told(), directory=tmp_path, version="w")
    with pytest.raises(dp.Misconfigured, match="no data frame to read"):
        dp.open(told(), directory=tmp_path, refresh=True)
    opened(tmp_path, frame(2), version="w")
    assert dp.open(told(), directory=tmp_path, version="w").catalog.data_version == 1


def test_a_frame_for_no_table_is_refused_though_nothing_is_read(tmp_path):
    opened(tmp_path, frame(2), version="w")
    with pytest.raises(dp.Misconfigured, match="not declared"):
        dp.open(told(), directory=tmp_path, version="w", vists=frame(2))


def test_a_record_from_before_there_were_names_is_read(tmp_path):
    opened(tmp_path, frame(2))
    record = tmp_path / ".dpcurator" / "facts.json"
    facts = json.loads(record.read_text())
    assert (facts.pop("name"), facts.pop("names")) == (None, {})
    record.write_text(json.dumps(facts))
    assert open_snapshot(load(told(), directory=tmp_path)).name is None
    assert opened(tmp_path, frame(3), version="w").catalog.data_version == 2


CATALOG = """\
[curator]
protects = "people"
[ledger]
epsilon = 4
[tables.visits]
file = "visits.csv"
unit = "who"
max_rows = 1
[tables.visits.columns]
who = "text"
"""


def test_in_the_shell(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("curator.toml").write_text(CATALOG)
    Path("visits.csv").write_text("who\na\nb\n")
    assert "Data version 1, '2026-w48'." in run(capsys, "refresh", "--version", "2026-w48").out
    Path("visits.csv").unlink()  # it is not read again
    again = run(capsys, "refresh", "--version", "2026-w48")
    assert again.code == 0
    assert "nothing was read" in again.out
    held = run(capsys, "refresh", "--version", "2026-w48", "--json").json
    assert held == {"version": 1, "name": "2026-w48", "read": False}
    Path("visits.csv").write_text("who\na\n")
    assert "Data version 2, '2026-w49'." in run(capsys, "refresh", "--version", "2026-w49").out
    assert run(capsys, "refresh", "--version", "2026-w48").code == 4
    assert run(capsys, "refresh", "--version", "a/b").code == 4
    assert "Data version 3." in run(capsys, "refresh").out
