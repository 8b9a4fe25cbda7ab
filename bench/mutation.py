"""How many small mistakes the tests notice: share of mutants killed, by the part of the code they are made in.

    pip install -e '.[test,mutation]'
    python bench/mutation.py                        # a sample of each target
    python bench/mutation.py decide --most 1000     # all of one

Each mutant is one change that cosmic-ray makes (a number by one, an operator, a comparison, a condition), in a copy of
the last commit; it is killed when the tests named beside the target fail or run out of time. Left out, as nothing runs
them: annotations, and the dataclass flags that only save memory. Every survivor is printed, to be killed by a new test
or shown to change nothing. A file that is named is run by itself: `python bench/mutation.py numbers/coerce.py`.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
TARGETS = {  # name: (files under src/dpcurator, tests that hold them)
    "decide": (
        ["ledger/decide.py"],
        ["tests/ledger/test_decide.py", "tests/ledger/test_decide_edges.py", "tests/ledger/test_states.py"],
    ),
    "filters": (
        ["accounting/filters.py", "accounting/budget.py", "accounting/odometer.py"],
        ["tests/accounting/test_filters.py", "tests/accounting/test_filters_edges.py"],
    ),
    "stability": (
        ["plan/stability.py"],
        ["tests/plan/test_stability.py", "tests/plan/test_other.py", "tests/laws/test_heart.py"],
    ),
    "release": (["release/release.py"], ["tests/release/test_release.py", "tests/plan/test_other.py"]),
    "samplers": (["samplers/*.py"], ["tests/samplers"]),
    "mechanisms": (
        ["mechanisms/*.py", "mechanisms/*/*.py"],
        ["tests/mechanisms", "tests/laws/test_every_mechanism.py"],
    ),
}
CONFIG = """[cosmic-ray]
module-path = "{module}"
timeout = {timeout}
excluded-modules = []
test-command = "{python} -m pytest -x -q -n 0 -p no:cacheprovider {tests}"
[cosmic-ray.distributor]
name = "local"
"""


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("targets", nargs="*", help=", ".join(TARGETS))
    ask.add_argument("--most", type=int, default=40, help="mutants of one file at most, chosen by --seed")
    ask.add_argument("--seed", type=int, default=1)
    ask.add_argument("--timeout", type=float, default=120.0, help="seconds for the tests of one mutant")
    given = ask.parse_args()
    for name in given.targets or TARGETS:
        patterns, tests = TARGETS.get(name, ([name], []))
        files = sorted(
            f for pattern in patterns for f in (ROOT / "src/dpcurator").glob(pattern) if f.stem != "__init__"
        )
        if not files:
            sys.exit(f"no file {name}")
        results = [_run(file.relative_to(ROOT), tests or _beside(file), given) for file in files]
        killed, made = (sum(column) for column in zip(*results, strict=True))
        print(f"{name}: {killed} of {made} mutants killed ({killed / max(made, 1):.1%})", flush=True)


def _beside(file: Path) -> list[str]:
    """The test of the same name, or the tests of the room."""
    room = ROOT / "tests" / file.parent.name
    own = room / f"test_{file.stem}.py"
    return [str((own if own.exists() else room).relative_to(ROOT))]


def _run(file: Path, tests: list[str], given: argparse.Namespace) -> tuple[int, int]:
    """Killed and made, in one file."""
    with tempfile.TemporaryDirectory() as folder:
        copy, session, config = Path(folder, "copy"), Path(folder, "session.sqlite"), Path(folder, "config.toml")
        subprocess.run(["git", "clone", "-q", str(ROOT), str(copy)], check=True)
        own = [test for test in tests if file.stem in test] if len(tests) > 1 else []
        beside = Path("tests", file.parts[2], f"test_{file.stem}.py")
        first = [str(beside)] if (copy / beside).exists() and str(beside) not in tests else own
        order = " ".join([*first, *(test for test in tests if test not in first)])
        config.write_text(CONFIG.format(module=file, timeout=given.timeout, python=sys.executable, tests=order))
        env = os.environ | {"PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        tool = [str(Path(sys.executable).with_name("cosmic-ray")), "--verbosity", "ERROR"]
        subprocess.run([*tool, "init", str(config), str(session)], cwd=copy, env=env, check=True)
        _sample(session, copy / file, given.most, given.seed)
        subprocess.run([*tool, "exec", str(config), str(session)], cwd=copy, env=env, check=True)
        return _report(session, file)


def _sample(session: Path, file: Path, most: int, seed: int) -> None:
    """Forget the mutants that change nothing that runs, and all but `most` of the others."""
    idle = _idle_lines(file)
    with sqlite3.connect(session) as store:
        rows = store.execute(
            "SELECT job_id, start_pos_row, operator_name FROM mutation_specs ORDER BY 2, 3, occurrence"
        )
        jobs = [
            job
            for job, row, operator in rows.fetchall()
            if not ("BinaryOperator" in operator and row in idle[0]) and row not in idle[1]
        ]
        kept = set(random.Random(f"{seed} {file.name}").sample(jobs, min(most, len(jobs))))
        for (job,) in store.execute("SELECT job_id FROM work_items").fetchall():
            if job not in kept:
                store.execute("DELETE FROM mutation_specs WHERE job_id = ?", (job,))
                store.execute("DELETE FROM work_items WHERE job_id = ?", (job,))


def _idle_lines(file: Path) -> tuple[set[int], set[int]]:
    """Lines of annotations (signatures and fields), and of dataclass decorators."""
    notes, flags = set[int](), set[int]()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.FunctionDef):
            notes |= set(range(node.lineno, max(node.body[0].lineno, node.lineno + _is_stub(node))))
        if isinstance(node, ast.AnnAssign) and not any(
            isinstance(part, ast.BinOp) for part in ast.walk(node.value or node.target)
        ):
            notes |= set(range(node.annotation.lineno, (node.annotation.end_lineno or 0) + 1))
        if isinstance(node, ast.ClassDef):
            flags |= {decorator.lineno for decorator in node.decorator_list}
    return notes, flags


def _is_stub(node: ast.FunctionDef) -> bool:
    """`def f(...): ...`, on one line."""
    first = node.body[0]
    return isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and first.value.value is ...


def _report(session: Path, file: Path) -> tuple[int, int]:
    with sqlite3.connect(session) as store:
        rows = store.execute(
            "SELECT test_outcome, start_pos_row, diff FROM work_results NATURAL JOIN mutation_specs ORDER BY 2"
        ).fetchall()
    survivors = [(row, diff) for outcome, row, diff in rows if "SURVIVED" in outcome]
    print(f"{file}: {len(rows) - len(survivors)} of {len(rows)} killed", flush=True)
    for row, diff in survivors:
        changed = [line for line in diff.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]
        print(f"  survived, line {row}: " + "  ->  ".join(" ".join(line[1:].split()) for line in changed), flush=True)
    return len(rows) - len(survivors), len(rows)


if __name__ == "__main__":
    main()
