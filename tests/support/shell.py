"""The shell's commands, run in this process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

CLINIC = """\
[curator]
protects = "patients"
[ledger]
epsilon = 1
[tables.visits]
file = "visits.csv"
unit = "patient_id"
max_rows = 2
max_groups = 1
[tables.visits.columns]
patient_id = "text"
city = { type = "text", keys = ["Leeds", "York"] }
age = { type = "integer", bounds = [0, 110] }
"""
COUNT = "SELECT city, COUNT(*) AS n FROM visits GROUP BY city"


_WRITTEN: dict[tuple[tuple[str, bytes], ...], dict[str, bytes]] = {}


def refreshed(place: Path) -> Path:
    """`dpcurator refresh` in a new directory. What was written for the same files before is put there as it was, the
    snapshot, the key and the empty ledger: reading them takes some 80 ms, and tests of other things need it done."""
    from dpcurator.catalog.load import load
    from dpcurator.curator.opening import refresh_all

    files, state = [path for path in sorted(place.iterdir()) if path.is_file()], place / ".dpcurator"
    found = tuple((path.name, path.read_bytes()) for path in files)
    if found not in _WRITTEN:
        refresh_all(load(place / "curator.toml"))
        _WRITTEN[found] = {path.name: path.read_bytes() for path in state.iterdir()}
        return place
    state.mkdir(0o700)
    for name, content in _WRITTEN[found].items():
        (state / name).write_bytes(content)
        (state / name).chmod(0o600)
    return place


class Ran:
    """How a command ended: its exit code, and what it printed."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> Ran:
    """One command, in this process."""
    from dpcurator.cli import parser

    capsys.readouterr()
    with pytest.raises(SystemExit) as end:
        parser()(list(arguments), prog_name="dpcurator")
    out, err = capsys.readouterr()
    return Ran(int(end.value.code or 0), out, err)
