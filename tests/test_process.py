"""A fork is another process, whatever its number is."""

from __future__ import annotations

import os

import pytest

from dpcurator import process


def test_a_process_is_itself():
    assert process.this() == process.this()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_fork_is_another_also_under_the_same_number(monkeypatch):
    before = process.this()
    monkeypatch.setattr(os, "getpid", lambda: before[1])
    child = os.fork()
    if not child:
        os._exit(int(process.this() == before))
    assert os.waitpid(child, 0)[1] == 0
    assert process.this() == before


def test_a_fork_that_python_did_not_see_is_another(monkeypatch):
    before = process.this()
    monkeypatch.setattr(os, "getpid", lambda: before[1] + 1)
    assert process.this() != before
