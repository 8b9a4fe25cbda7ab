"""One line about long work, on a terminal's standard error; nothing elsewhere, and nothing left behind.

    with progress(rows_read(time.monotonic), quiet=as_json) as told:
        refresh_all(declaration, progress=told)

Checked in tests/cli/test_progress.py.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, ParamSpec

P = ParamSpec("P")
_SOON: Final = 2.0  # seconds, before which nothing is said of the time left


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


def rows_read(clock: Callable[[], float]) -> Callable[[str, int, float], str]:
    """Words for a refresh: the table, its rows so far, and the time that is left of it where that can be told."""
    began: dict[str, float] = {}

    def words(table: str, rows: int, share: float) -> str:
        passed = clock() - began.setdefault(table, clock())
        told = f"{table}: {rows:,} rows read"
        if not 0 < share < 1 or passed < _SOON:
            return told
        left = passed * (1 - share) / share
        return f"{told}, about {f'{left:.0f} s' if left < 120 else f'{left / 60:.0f} min'} left"

    return words


def _put(text: str) -> None:
    """In place of what was said before."""
    print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
