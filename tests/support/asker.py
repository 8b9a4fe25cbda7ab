"""One process that opens a curator and asks, for tests of many at once and of kill -9. Started once, used many times.

fire:  reads {"place", "threads", "forks", "same", "epsilon"}, opens the curator there and asks one question from each
       thread and forked child at once, after "go" ; says {"answers": [numbers ...], "over": n, "other": [names ...]}.
       With "warm" it asks once, so that everything is imported: Python itself leaves a child waiting for ever when it
       is forked while another thread imports a module.
kill:  reads a place, then asks question after question and prints request id and numbers of each answer.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import dpcurator as dp

QUESTION = "SELECT SUM(gain) AS s FROM visits"


def say(words: object) -> None:
    os.write(1, (json.dumps(words) + "\n").encode())


def asked(curator: dp.Curator, task: dict[str, Any], name: str) -> tuple[str, Any]:
    """ "answer" with its numbers and request, "over", or the name of what else happened."""
    try:
        question = QUESTION if task["same"] != "distinct" else f"{QUESTION} WHERE who <> '{name}'"
        answer = curator.ask(question, epsilon=task["epsilon"], fresh=task["same"] == "fresh")
        return "answer", [answer.rows[0][0], (answer.receipt or {})["request"], (answer.receipt or {})["signature"]]
    except dp.OverBudget:
        return "over", None
    except BaseException as error:
        return type(error).__name__, str(error)


def fire() -> None:
    warnings.simplefilter("ignore")  # newer Pythons warn of forks among threads, which is what is tried here
    for line in sys.stdin:
        task = json.loads(line)
        curator = dp.open(Path(task["place"]) / "curator.toml")
        if "warm" in task:
            say(asked(curator, task, "warm")[0])
            continue
        curator.engine()  # opened before, so that all meet at the ledger
        outcomes: list[tuple[str, Any]] = []
        start = threading.Event()

        def one(name: str, curator=curator, task=task, outcomes=outcomes, start=start) -> None:  # type: ignore[no-untyped-def]
            start.wait()
            outcomes.append(asked(curator, task, name))

        crowd = [threading.Thread(target=one, args=(f"{os.getpid()}-{n}",)) for n in range(task["threads"])]
        for thread in crowd:
            thread.start()
        say("ready")
        sys.stdin.readline()
        start.set()
        pipes = []
        for n in range(task["forks"]):  # while the threads above are asking
            reading, writing = os.pipe()
            if os.fork() == 0:
                os.write(writing, json.dumps(asked(curator, task, f"{os.getpid()}-fork-{n}")).encode())
                os._exit(0)
            os.close(writing)
            pipes.append(reading)
        for thread in crowd:
            thread.join()
        for reading in pipes:
            with os.fdopen(reading) as pipe:
                outcomes.append(tuple(json.loads(pipe.read() or '["died", null]')))
            os.wait()
        curator.ledger.close()
        say(
            {
                "answers": [told for what, told in outcomes if what == "answer"],
                "over": sum(what == "over" for what, _ in outcomes),
                "other": [f"{what}: {told}" for what, told in outcomes if what not in ("answer", "over")],
            }
        )


def kill() -> None:
    say("ready")
    place = Path(sys.stdin.readline().strip())
    curator = dp.open(place / "curator.toml")
    for n in range(1_000_000):
        answer = curator.ask(f"{QUESTION} WHERE who <> '{os.getpid()}-{n}'", epsilon="0.01")
        receipt = answer.receipt or {}
        say(
            [
                f"{os.getpid()}-{n}",
                answer.rows[0][0],
                receipt["request"],
                receipt["ledger"]["position"],
                receipt["ledger"]["head"],
            ]
        )


if __name__ == "__main__":
    fire() if sys.argv[1] == "fire" else kill()
