"""The shell's commands, run in this process."""

from __future__ import annotations

import json
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
