"""A file that is replaced or written to while it is read would give rows of two states: then nothing of it is used.

What is compared is what the system says of the file before and after: which file it is, its size, and when it was last
written. A program that keeps all three the same is not noticed. Checked in tests/snapshot/test_interrupted.py.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from dpcurator.catalog.problems import text
from dpcurator.errors import Misconfigured


@contextlib.contextmanager
def unchanged(path: Path, where: str) -> Iterator[None]:
    """Raises Misconfigured at the end, or in place of what reading raised, where the file is another one by then."""
    before = _state(path)
    try:
        yield
    finally:
        if before is not None and _state(path) != before:
            raise Misconfigured(f"{text(path.name)} was changed while it was read.", where=where,
                                cure="Run `dpcurator refresh` again when nothing writes to it; the data version before "
                                "stays in force.") from None


def _state(path: Path) -> tuple[int, int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
