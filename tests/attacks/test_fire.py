"""Row 18: threads, processes and forks at once against a budget for two. Exactly two answers, OverBudget for the rest.

The same crowd, started once, meets in every round: one process of 6 threads, and one that forks 4 children while it
asks (in a long run 32 threads, and eight more processes); 11 or 45 asks a round through the whole curator (snapshot,
engine, noise, receipt). And the same question by all at once: one charge, one answer, the same numbers for everyone.
"""

from __future__ import annotations

import json
import select
import shutil
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from house import ROWS, opened
from power import Run

import dpcurator as dp

ASKER = Path(__file__).parent.parent / "support" / "asker.py"
THREADS, PROCESSES, QUESTIONS = (32, 8, 20) if Run.whole else (6, 0, 10)
CROWD = [(THREADS, 0), *[(1, 0)] * PROCESSES, (1, 4)]  # threads, forks
HEADS = THREADS + PROCESSES + 1 + 4
TOML = """\
[curator]
protects = "people"
[ledger]
epsilon = 1
[tables.visits]
file = "visits.csv"
unit = "who"
max_rows = 2
[tables.visits.columns]
who = "text"
gain = { type = "float", bounds = [-1.5, 2.5] }
"""


class Asker:
    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(ASKER), "fire"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )

    def tell(self, words: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(words + "\n")
        self.process.stdin.flush()

    def hear(self) -> Any:
        assert self.process.stdout is not None
        if not select.select([self.process.stdout], [], [], 120)[0]:
            self.process.kill()
        return json.loads(self.process.stdout.readline() or '"silence"')


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A refreshed clinic to be copied: its snapshot and key, no ledger yet."""
    from dpcurator.catalog.load import load
    from dpcurator.curator.opening import refresh_all

    place = tmp_path_factory.mktemp("prepared")
    (place / "visits.csv").write_text("who,gain\n" + "\n".join(f"{row[0]},{row[3]}" for row in ROWS) + "\n")
    (place / "curator.toml").write_text(TOML)
    refresh_all(load(place / "curator.toml"))
    return place


@pytest.fixture(scope="module")
def crowd(prepared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Asker]]:
    askers = [Asker() for _ in CROWD]
    place = fresh_copy(prepared, tmp_path_factory.mktemp("warm") / "c")
    for asker in askers:
        asker.tell(json.dumps({"place": str(place), "warm": True, "same": "fresh", "epsilon": "0.01"}))
    assert [asker.hear() for asker in askers] == ["answer"] * len(askers)
    yield askers
    for asker in askers:
        asker.process.communicate(timeout=60)


def meet(crowd: list[Asker], place: Path, same: str, epsilon: str) -> dict[str, Any]:
    for asker, (threads, forks) in zip(crowd, CROWD, strict=True):
        asker.tell(
            json.dumps({"place": str(place), "threads": threads, "forks": forks, "same": same, "epsilon": epsilon})
        )
    for asker in crowd:
        assert asker.hear() == "ready"
    for asker in crowd:
        asker.tell("go")
    told = [asker.hear() for asker in crowd]
    return {
        "answers": [answer for one in told for answer in one["answers"]],
        "over": sum(one["over"] for one in told),
        "other": [other for one in told for other in one["other"]],
    }


def fresh_copy(prepared: Path, place: Path) -> Path:
    shutil.copytree(prepared, place)
    return place


@pytest.mark.parametrize("round_", range(50))
def test_row_18_a_budget_for_two_answers_two_of_all(round_, crowd, prepared, tmp_path):
    place = fresh_copy(prepared, tmp_path / "c")
    told = meet(crowd, place, ("fresh", "distinct")[round_ % 2], "0.5")
    assert told["other"] == []
    assert (len(told["answers"]), told["over"]) == (2, HEADS - 2)
    assert len({request for _, request, _ in told["answers"]}) == 2
    curator = dp.open(place / "curator.toml")
    assert curator.budget().remaining == 0
    assert curator.ledger.verify().sound
    assert [type(entry.event).__name__ for entry in curator.log()].count("Charged") == 2
    curator.ledger.close()


def test_row_18_the_crowd_really_competes(crowd, prepared, tmp_path):
    """The control: with money for all, all are answered, each with numbers of its own."""
    place = fresh_copy(prepared, tmp_path / "c")
    told = meet(crowd, place, "fresh", "0.02")
    assert (len(told["answers"]), told["over"], told["other"]) == (HEADS, 0, [])
    assert len({request for _, request, _ in told["answers"]}) == HEADS


@pytest.mark.parametrize("round_", range(10))
def test_row_18_the_same_question_at_once_is_one_charge_and_one_answer(round_, crowd, prepared, tmp_path):
    place = fresh_copy(prepared, tmp_path / "c")
    told = meet(crowd, place, "same", "0.6")
    assert (len(told["answers"]), told["over"], told["other"]) == (HEADS, 0, [])
    assert len({tuple(answer) for answer in told["answers"]}) == 1  # numbers, request and signature
    curator = dp.open(place / "curator.toml")
    assert curator.budget().spent == Fraction(6, 10)
    names = [type(entry.event).__name__ for entry in curator.log()]
    assert names == ["Opened", "Charged", "Answered"]
    curator.ledger.close()


def test_row_18_a_curator_used_by_threads_gives_right_numbers(tmp_path):
    """Many threads, one object, different questions: with next to no noise each number is its own question's."""
    from concurrent.futures import ThreadPoolExecutor

    curator = opened(tmp_path / "c", epsilon=10**9)

    def count(limit: int) -> tuple[int, int]:
        question = f"SELECT COUNT(*) FROM visits WHERE age >= {limit}"
        return curator.ask(question, epsilon=10**6).rows[0][0], sum(row[2] >= limit for row in ROWS)

    with ThreadPoolExecutor(16) as pool:
        assert all(found == expected for found, expected in pool.map(count, range(0, 20, 20 // QUESTIONS)))
