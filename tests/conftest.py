"""Settles how hypothesis runs and how much of the suite a run does, and makes tests/support importable.

The suite runs with --import-mode=importlib, which adds no folder to sys.path.
"""

import gc
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import HealthCheck, settings

# Also where the environment says to write no bytecode: every worker and every process of a test would compile the
# package anew, which takes each a second and more.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Directories of tests are in memory where there is room: a ledger waits for the disk several times in each answer, and
# what no test tries is a loss of power.
MEMORY, ROOM = Path("/dev/shm"), 2 << 30
if MEMORY.is_dir() and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))

SUPPORT = str(Path(__file__).parent / "support")
if SUPPORT not in sys.path:
    sys.path.insert(0, SUPPORT)

from pooled import from_tables  # noqa: E402
from postgres_server import PostgresServer, running  # noqa: E402
from power import (  # noqa: E402  (found through the line above)
    EXAMPLES,
    POWER,
    Run,
    function_of,
    in_part,
    is_registry,
    left_to_slow_runs,
    part_of,
    quick,
    share_of,
    table,
    tries_of,
)

from dpcurator.engines.duckdb.engine import DuckDB  # noqa: E402

DuckDB.from_tables = classmethod(from_tables)  # type: ignore[assignment]

LONG_ENOUGH = 0.05  # seconds of setting up that --durations should show

# A busy machine must not fail a test: no deadline on an example, and slowness is no health check's matter here.
settings.register_profile(
    "dpcurator", max_examples=EXAMPLES[0], deadline=None, derandomize=True, database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("dpcurator")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--part", default=None, help="K/N: only the tests that fall to part K of N, as with -m slow")
    parser.addoption("--power", action="store_true", help="with --collect-only -n 0: what each law tries in each run")
    parser.addoption("--quick", action="store_true", help="two cases of each test, and none that takes long")


def pytest_configure(config: pytest.Config) -> None:
    chosen = config.getoption("-m")
    Run.whole = "slow" in chosen and "not slow" not in chosen
    if Run.whole:
        settings.register_profile("dpcurator", settings.get_profile("dpcurator"), max_examples=EXAMPLES[1])
        settings.load_profile("dpcurator")


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL server; the test is skipped, with the reason, where there is none."""
    with running() as server:
        yield server


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Garbage is looked for neither while tests are collected nor, later, in what was made then; and seldom."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(50_000, 20, 20)
        gc.enable()


@pytest.hookimpl
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Of a test that passes a worker sends one report instead of five messages: with thousands of tests of a
    millisecond, what pytest says of them would be a fifteenth of the run."""
    if not hasattr(item.config, "workerinput"):
        return None
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed or report.duration > LONG_ENOUGH:
            item.ihook.pytest_runtest_logreport(report=report)
    return True


@pytest.fixture
def tries(request: pytest.FixtureRequest) -> int:
    """How many examples this test tries in this run: its line in tests/support/power.py."""
    return tries_of(function_of(request.node.nodeid))


@pytest.fixture
def by_lot(request: pytest.FixtureRequest) -> Callable[[Sequence[Any]], list[Any]]:
    """Of a list, as many as this test tries in this run, by lot."""
    name = request.node.nodeid.removeprefix("tests/")
    return lambda items: share_of(name, items)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Before pytest selects by -m: what tests/support/power.py leaves to longer runs is marked `slow`, unless the run
    names that very case."""
    named = any("[" in argument for argument in config.args)
    left = set() if named else left_to_slow_runs([item.nodeid for item in items if not item.get_closest_marker("slow")])
    for item in items:
        law = function_of(item.nodeid) in POWER or getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
        if item.nodeid in left or (Run.whole and law):
            item.add_marker(pytest.mark.slow)
        if is_registry(item.nodeid):
            item.add_marker(pytest.mark.registry)
    if config.getoption("--power"):
        print("\n".join(table([item.nodeid for item in items])))
        _keep(config, items, set())
    if config.getoption("--quick"):
        _keep(config, items, quick([item.nodeid for item in items]))
    text = config.getoption("--part")
    if text is not None:
        part = part_of(text)
        _keep(config, items, {item.nodeid for item in items if in_part(item.nodeid, part)})


def _keep(config: pytest.Config, items: list[pytest.Item], kept: set[str]) -> None:
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in kept])
    items[:] = [item for item in items if item.nodeid in kept]
