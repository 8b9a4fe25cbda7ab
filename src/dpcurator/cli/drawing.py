"""`ask --plot FILE`: an answer drawn beside being printed. Checked in tests/cli/test_formats.py."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpcurator.cli.formats import absent
from dpcurator.errors import Refusal


@dataclass(frozen=True, slots=True)
class Drawing:
    """What is to be drawn, and where. What cannot be is told before anything is paid."""

    path: Path | None
    column: str | None

    @classmethod
    def of(cls, path: Path | None, column: str | None, file: Path | None) -> Drawing:
        """file: one of several questions. Raises Refusal, and Misconfigured where vl-convert is not installed."""
        if path is None and column is not None:
            raise Refusal("--plot-column is the column of a plot.", cure="Add a file to draw, as in --plot out.svg.")
        if path is not None:
            from dpcurator.plots.chart import can_be_written

            if file is not None:
                raise Refusal("--file takes no --plot.", cure="Ask one question by itself, with --plot: it is free.")
            can_be_written(path)
            absent(path, "plot")
        return cls(path, column)

    def check(self, outputs: Sequence[Any]) -> None:
        """That the answer will have such a column of numbers. outputs: those of its plan."""
        named = [one.title for one in outputs if one.shown in ("whole", "number")]
        if not named:
            raise Refusal("the answer has no column of numbers to draw.", cure="Leave --plot out.")
        if self.column not in (None, *named):
            raise Refusal(f"no column of numbers is {self.column!r}.",
                          cure=f"The answer's columns of numbers are {', '.join(named)}.")

    def save(self, answer: Any) -> None:
        if self.path is not None:
            from dpcurator.plots.answer import draw_answer

            print(f"wrote {draw_answer(answer, column=self.column).save(self.path)}", file=sys.stderr)
