"""Row 19: kill -9 at any moment between charge and answer. Every printed answer has its charge, and none is paid twice.

A child asks question after question and prints what it was answered; it is killed at a random moment and the next one
takes its place on the same ledger. Then the parent resumes: a question whose charge is there without an answer is
answered at no new charge, once, also when two resume it at the same moment. (Answer first would have given 20 answers
with nothing spent.)
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import threading
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from house import COUNT, opened

import dpcurator as dp
from dpcurator.ledger.events import Answered, Charged

ASKER = Path(__file__).parent.parent / "support" / "asker.py"
TOML = """\
[curator]
protects = "people"
[ledger]
epsilon = 10000
[tables.visits]
file = "visits.csv"
unit = "who"
max_rows = 2
[tables.visits.columns]
who = "text"
gain = { type = "float", bounds = [-1.5, 2.5] }
"""


def child() -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(ASKER), "kill"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def begin(waiting: subprocess.Popen[str], place: Path) -> subprocess.Popen[str]:
    assert waiting.stdin is not None
    assert waiting.stdout is not None
    assert waiting.stdout.readline() == '"ready"\n'
    waiting.stdin.write(f"{place}\n")
    waiting.stdin.flush()
    return waiting


@pytest.mark.parametrize("part", range(12))
def test_row_19_a_kill_at_any_moment_loses_no_charge(part, tries, tmp_path):
    from dpcurator.catalog.load import load
    from dpcurator.curator.opening import refresh_all

    (tmp_path / "visits.csv").write_text("who,gain\n" + "\n".join(f"p{n},{n / 40}" for n in range(40)) + "\n")
    (tmp_path / "curator.toml").write_text(TOML)
    refresh_all(load(tmp_path / "curator.toml"))
    luck, printed = random.Random(part), 0
    waiting = child()
    open_before: set[str] = set()
    for _ in range(tries):
        running, waiting = begin(waiting, tmp_path), child()
        assert running.stdout is not None
        said = [running.stdout.readline()]  # it is under way: imports are done, the snapshot is open
        time.sleep(luck.random() * 0.05)
        running.kill()
        said += running.communicate(timeout=60)[0].split("\n")
        curator = dp.open(tmp_path / "curator.toml")
        events = list(curator.log())
        charges = {entry.event.request: entry for entry in events if isinstance(entry.event, Charged)}
        answered = [entry.event.request for entry in events if isinstance(entry.event, Answered)]
        assert curator.ledger.verify().sound
        assert len(answered) == len(set(answered))
        for line in said[:-1] if said[-1] == "" else said:
            if not line.endswith("]\n") and not line.endswith("]"):
                continue  # cut short by the kill
            name, number, request, position, head = json.loads(line)
            printed += 1
            assert (charges[request].position, charges[request].hash) == (position, head)
            again = curator.ask(f"SELECT SUM(gain) AS s FROM visits WHERE who <> '{name}'", epsilon="0.01")
            assert again.repeated
            assert again.rows == [(number,)]
        unanswered = set(charges) - set(answered)
        assert len(unanswered - open_before) <= 1  # the one question under way
        open_before = unanswered
        assert curator.budget().spent == len(charges) * Fraction(1, 100)
        curator.ledger.close()
    waiting.kill()
    waiting.communicate(timeout=60)
    assert printed >= tries


class Stopped(BaseException):
    """Stands for the end of the process: nothing after it runs."""


def crash(curator: dp.Curator, where: str, question: str = COUNT, **price: Any) -> None:
    """Ask, and stop at a step of the flow as a crash would."""

    class Halting:
        def evaluate(self, core: Any) -> Any:
            raise Stopped

    class Silent:
        releasable = True

        def words(self, n: int) -> Any:
            raise Stopped

        bits = words

    class Storeless:
        def __init__(self, ledger: Any) -> None:
            self.ledger = ledger

        def __getattr__(self, name: str) -> Any:
            return getattr(self.ledger, name)

        def answer(self, *_: object) -> Any:
            raise Stopped

    broken = {
        "evaluation": lambda: replace(curator, engine=Halting),
        "noise": lambda: replace(curator, entropy=Silent()),
        "storing": lambda: replace(curator, ledger=Storeless(curator.ledger)),
    }[where]()
    with pytest.raises(Stopped):
        broken.ask(question, **(price or {"epsilon": 1}))


@pytest.mark.parametrize("where", ["evaluation", "noise", "storing"])
def test_row_19_a_charge_without_an_answer_is_resumed_at_no_new_charge(where, tmp_path):
    curator = opened(tmp_path / "c")
    crash(curator, where)
    assert curator.budget().spent == 1
    answer = curator.ask(COUNT, epsilon=1)
    assert not answer.repeated
    assert curator.budget().spent == 1
    assert curator.ask(COUNT, epsilon=1).rows == answer.rows
    assert [type(entry.event).__name__ for entry in curator.log()] == ["Opened", "Charged", "Answered"]


def test_row_19_a_named_request_is_resumed_by_its_name(tmp_path):
    curator = opened(tmp_path / "c")
    crash(curator, "storing", epsilon=1, fresh=True, request_id="night-17")
    assert curator.ask(COUNT, epsilon=1, fresh=True, request_id="night-17").spent == 1
    assert curator.ask(COUNT, epsilon=1, fresh=True, request_id="night-17").repeated
    assert curator.budget().spent == 1


@pytest.mark.parametrize("round_", range(8))
def test_row_19_two_that_resume_at_once_show_one_answer(round_, tmp_path):
    """Both draw noise of their own; the first to store it wins, and the other shows that one too."""
    place = tmp_path / "c"
    crash(opened(place), "storing", question="SELECT SUM(gain) AS s FROM visits", epsilon=1)
    curators = [replace(opened_again(place)) for _ in range(2)]
    barrier, shown = threading.Barrier(2), []

    def resume(curator: dp.Curator) -> None:
        curator.engine()
        barrier.wait()
        shown.append(curator.ask("SELECT SUM(gain) AS s FROM visits", epsilon=1))

    threads = [threading.Thread(target=resume, args=(curator,)) for curator in curators]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(shown) == 2
    assert shown[0].rows == shown[1].rows
    assert shown[0].receipt == shown[1].receipt
    assert curators[0].budget().spent == 1
    for curator in curators:
        curator.ledger.close()


def opened_again(place: Path) -> dp.Curator:
    """Another curator over the same state, without a new snapshot."""
    from house import catalog

    curator = dp.open(catalog(), directory=place)
    curator.cut = False  # as `opened` has it, so that its questions are the same
    return curator


def test_row_19_charges_of_an_older_snapshot_stay_spent(tmp_path):
    """After a refresh the same words are a new request: the old charge is not given back, and cannot be resumed."""
    crash(opened(tmp_path / "c"), "evaluation")
    again = opened(tmp_path / "c")
    assert again.ask(COUNT, epsilon=1).spent == 2


def test_row_19_a_restored_copy_of_the_state_shows_no_second_answer(tmp_path):
    """The state directory copied between charge and answer: each copy resumes once, and tells its own receipt from the
    other's. (Whoever can copy the state is inside, semantics 7.4: it is shown, not prevented.)"""
    crash(opened(tmp_path / "a"), "storing")
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    one, other = opened_again(tmp_path / "a"), opened_again(tmp_path / "b")
    left, right = one.ask(COUNT, epsilon=1).receipt or {}, other.ask(COUNT, epsilon=1).receipt or {}
    assert one.verify(left).holds
    assert other.verify(right).holds
    assert [step.name for step in one.verify(right).steps if not step.holds] == ["ledger", "readings"]
