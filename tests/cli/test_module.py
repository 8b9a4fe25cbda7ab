"""`python -m dpcurator` is the command `dpcurator`."""

from __future__ import annotations

import subprocess
import sys

import dpcurator


def test_the_package_runs_as_a_module() -> None:
    run = subprocess.run([sys.executable, "-m", "dpcurator", "--version"], capture_output=True, text=True, check=False)
    assert run.returncode == 0
    assert dpcurator.__version__ in run.stdout


def test_its_exit_codes_are_those_of_the_command() -> None:
    run = subprocess.run([sys.executable, "-m", "dpcurator", "no-such-command"], capture_output=True, check=False)
    assert run.returncode == 2
