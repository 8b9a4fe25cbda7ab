"""Makes tests/support importable (the suite runs with --import-mode=importlib, which adds no folder to sys.path)."""

import sys
from collections.abc import Iterator
from pathlib import Path

SUPPORT = str(Path(__file__).parent.parent / "support")
if SUPPORT not in sys.path:
    sys.path.insert(0, SUPPORT)

import pytest  # noqa: E402
from engine_rows import BESIDE  # noqa: E402
from engine_words import hear  # noqa: E402
from spark_session import PLAIN, settings  # noqa: E402


@pytest.fixture(autouse=True)
def engine_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """What an engine said of an error is printed with a test that fails."""
    hear(monkeypatch)


@pytest.fixture(autouse=True)
def plainly(request: pytest.FixtureRequest) -> Iterator[None]:
    """An engine on Spark runs without the code that Spark makes of each statement: that takes longer than the tests."""
    called = getattr(request.node, "callspec", None)
    if called is None or called.params.get("engine") not in BESIDE:
        yield
        return
    with settings(**PLAIN):
        yield
