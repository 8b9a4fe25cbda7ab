"""This process, told apart from its forks: what holds a budget or secret randomness in memory may not go on in two.

`this()` is equal at two moments only if no fork lies between them: a child gets another token, also where its process
id was that of an ancestor, and another process id, also where it was forked behind Python's back.
Checked in tests/test_process.py; by the users in tests/ledger, tests/accounting and tests/mechanisms.
"""

from __future__ import annotations

import os

_token = object()


def this() -> tuple[object, int]:
    """To keep, and to compare with what it is later."""
    return _token, os.getpid()


def _forked() -> None:
    global _token
    _token = object()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
