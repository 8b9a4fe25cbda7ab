"""Progress is seen on a terminal alone, and cleared away, also when the work fails."""

from __future__ import annotations

import io
import sys

import pytest

from dpcurator.cli.progress import progress, rows_read


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


def test_a_refresh_says_how_much_time_is_left_once_that_can_be_told():
    began = iter([0.0, 0.0, *(time for now in (1, 10, 100, 100, 100) for time in (now, now))])
    words = rows_read(lambda: next(began))
    told = [words("visits", n * 1000, share) for n, share in enumerate((0.01, 0.1, 0.25, 0.25, 0.0, 1.0))]
    assert told == [
        "visits: 0 rows read", "visits: 1,000 rows read", "visits: 2,000 rows read, about 30 s left",
        "visits: 3,000 rows read, about 5 min left", "visits: 4,000 rows read", "visits: 5,000 rows read",
    ]
