"""What documents find in their directory, and the helpers beside this file."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

HERE = str(Path(__file__).parent)
if HERE not in sys.path:
    sys.path.insert(0, HERE)


@pytest.fixture(scope="session")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's made-up visits.csv and its curator.toml, refreshed; no question has been asked."""
    from documents import prepare

    place = tmp_path_factory.mktemp("documents") / "clinic"
    prepare(place)
    return place
