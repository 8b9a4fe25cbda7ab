"""The picture of the README: the demo's first question, answered and drawn.

`python tests/docs/answer_picture.py` asks anew, writes docs/figures/answer.svg and .json, and prints the rows for
README.md, whose first answer is the one in the picture.
"""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path

from documents import ROOT, prepare

FIGURES = ROOT / "docs" / "figures"
QUESTION = "SELECT city, COUNT(*) AS n FROM visits GROUP BY city ORDER BY n DESC"


def ask():
    """A new answer, on the demo's made-up clinic."""
    import dpcurator as dp

    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        prepare(Path(folder) / "clinic")
        return dp.open("clinic/curator.toml").ask(QUESTION, spend="1%")


if __name__ == "__main__":
    from dpcurator.plots import draw_answer

    answer = ask()
    for ending in ("svg", "json"):
        draw_answer(answer).save(FIGURES / f"answer.{ending}")
    print(answer)
