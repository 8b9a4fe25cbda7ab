"""`import dpcurator` loads nothing heavy: each of these is imported inside the function that needs it (design 8)."""

from __future__ import annotations

import subprocess
import sys

HEAVY = ("duckdb", "sqlglot", "pydantic", "pandas", "numpy", "flint", "cryptography")


def test_importing_the_package_loads_nothing_heavy():
    script = f"import sys, dpcurator; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_names_are_there_without_having_been_imported():
    script = "import dpcurator; print('open' in dir(dpcurator), callable(dpcurator.open), dpcurator.Refusal.exit_code)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True", "2"]


def test_a_quote_starts_without_the_libraries_that_only_answers_need():
    heavy = "[name for name in ('duckdb', 'numpy') if name in sys.modules]"
    script = f"import sys, dpcurator.curator.opening; print({heavy})"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
