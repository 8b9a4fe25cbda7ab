"""Running somebody's function: what it prints is not ours to print, and one that never comes back is left.

Definition  `quiet()`: what is written to standard output meanwhile goes nowhere, also by other programs that it starts.
            `within(seconds)`: afterwards the run is ended with a Refusal, where the system can (a main thread, Unix).
Checked     tests/cli/test_audit.py.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from typing import Any, NoReturn

from dpcurator.errors import Refusal


class _Endless(BaseException):
    """The time is over. No `except Exception` of the function catches it."""


@contextmanager
def quiet() -> Iterator[None]:
    """Nothing reaches standard output."""
    sys.stdout.flush()
    kept = None
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        with suppress(OSError):
            kept = os.dup(1)
            os.dup2(nowhere.fileno(), 1)
        try:
            with redirect_stdout(nowhere):
                yield
        finally:
            if kept is not None:
                os.dup2(kept, 1)
                os.close(kept)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """What is run here ends after so many seconds at the latest."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def over(number: int, frame: Any) -> NoReturn:
        raise _Endless

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, seconds, 1)  # again each second, for a function that catches everything
    try:
        yield
    except _Endless:
        raise Refusal(
            f"The function did not return within {seconds:.0f} seconds.",
            cure="Give more time, as in --seconds 600, or a function that returns.",
        ) from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
