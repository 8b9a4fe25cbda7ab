"""Progress is seen on a terminal alone, and cleared away, also when the work fails."""

from __future__ import annotations

import io
import sys

import pytest

from dpcurator.cli.progress import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def words(done: int, *, of: int) -> str:
    return f"{done:,} of {of:,}"


def test_a_terminal_sees_one_line_that_is_cleared_away(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with progress(words) as told:
        assert told is not None
        told(1000, of=2000)
        told(2000, of=2000)
    assert sys.stderr.getvalue() == "\r\033[K1,000 of 2,000\r\033[K2,000 of 2,000\r\033[K"


def test_it_is_cleared_away_when_the_work_fails(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())

    def failing() -> None:
        with progress(words) as told:
            assert told is not None
            told(1, of=2)
            raise KeyError

    with pytest.raises(KeyError):
        failing()
    assert sys.stderr.getvalue().endswith("\r\033[K")


@pytest.mark.parametrize("terminal", [True, False])
def test_nothing_is_said_elsewhere_or_when_quiet(terminal, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal() if terminal else io.StringIO())
    with progress(words, quiet=terminal) as told:
        assert told is None
    assert sys.stderr.getvalue() == ""
