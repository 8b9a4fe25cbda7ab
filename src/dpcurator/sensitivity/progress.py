"""How far a long enumeration is: a bar on a terminal's standard error, a callback, or nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[int, int], None]  # done, of how many


@contextmanager
def telling(progress: Progress | bool | None, total: int, what: str) -> Iterator[Progress]:
    """A function to call with (done, total). True: a bar. None: a bar on a terminal. False: nothing."""
    if callable(progress):
        yield progress
    elif progress or (progress is None and sys.stderr.isatty()):
        from rich.console import Console
        from rich.progress import Progress as Bar

        with Bar(console=Console(file=sys.stderr), transient=True) as bar:
            task = bar.add_task(what, total=total)
            yield lambda done, of: bar.update(task, completed=done, total=of)
    else:
        yield lambda done, of: None
