"""One line about long work, on a terminal's standard error; nothing elsewhere, and nothing left behind.

    with progress(lambda table, rows: f"{table}: {rows:,} rows read", quiet=as_json) as told:
        refresh_all(declaration, progress=told)

Checked in tests/cli/test_progress.py.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec

P = ParamSpec("P")


@contextmanager
def progress(words: Callable[P, str], *, quiet: bool = False) -> Iterator[Callable[P, None] | None]:
    """What to call as the work goes on, with what `words` takes; None where nobody sees it or `quiet` is asked for."""
    if quiet or not sys.stderr.isatty():
        yield None
        return

    def tell(*args: P.args, **named: P.kwargs) -> None:
        _put(words(*args, **named))

    try:
        yield tell
    finally:
        _put("")


def _put(text: str) -> None:
    """In place of what was said before."""
    print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
