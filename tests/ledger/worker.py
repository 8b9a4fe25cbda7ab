"""One participant of the fire and kill tests, run as its own process and started once for many rounds.

A path may be a ledger on a server, as "env:LEDGER_DSN schema host=...".

fire: reads {"path", "currency", "price", "total", "round"}, opens that ledger; says "ready"; on "go" charges at once,
      from `threads` threads and from `forks` forked children; says how many were admitted and how many refused.
kill: says "ready", reads a path, then charges, answers and prints for ever; the ledger must keep every line it prints.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import warnings
from fractions import Fraction

from dpcurator.errors import OverBudget
from dpcurator.ledger import Ledger, Opening, PostgresStore, SqliteStore
from dpcurator.values import Request


def opened(path: str, total: str, currency: str = "epsilon") -> Ledger:
    delta = Fraction(1, 10**12) if currency == "rho" else Fraction(0)
    amounts = {"epsilon": Fraction(0), "delta": delta, currency: Fraction(total)}
    opening = Opening("patients", "add-remove", None, public_key="ab" * 32, **amounts)
    if path.startswith("env:"):  # a variable, a schema, and what the variable holds
        dsn, schema, os.environ["LEDGER_DSN"] = path.split(" ", 2)
        return Ledger.open(PostgresStore(dsn, schema=schema, patience=60), opening)
    return Ledger.open(SqliteStore(path, patience=60), opening)


def request(plan: str, price: str, currency: str = "epsilon") -> Request:
    amounts = {"epsilon": Fraction(0), currency: Fraction(price)}
    return Request("ada", plan, "c" * 64, 1, "{}", delta=Fraction(0), **amounts)


def say(*words: object) -> None:
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


def admitted(ledger: Ledger, plan: str, price: str) -> bool:
    try:
        ledger.charge(request(plan, price, ledger.budget().currency))
    except OverBudget:
        return False
    return True


def fire(threads: int, forks: int) -> None:
    warnings.simplefilter("ignore")  # newer Pythons warn of forks among threads, which is what is tried here
    for line in sys.stdin:
        task = json.loads(line)
        ledger = opened(task["path"], task["total"], task["currency"])
        ledger.budget()
        price, name = task["price"], f"{task['round']} {os.getpid()}"
        outcomes: list[bool] = []
        start = threading.Event()

        def charge(plan: str, ledger=ledger, price=price, outcomes=outcomes, start=start) -> None:
            start.wait()
            outcomes.append(admitted(ledger, plan, price))

        crowd = [threading.Thread(target=charge, args=(f"{name} thread {n}",)) for n in range(threads)]
        for thread in crowd:
            thread.start()
        say("ready")
        sys.stdin.readline()
        start.set()
        children = []
        for n in range(forks):  # while the threads above are charging
            child = os.fork()
            if child == 0:
                code = 2
                try:
                    code = 0 if admitted(ledger, f"{name} fork {n}", price) else 1
                finally:
                    os._exit(code)
            children.append(child)
        codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
        for thread in crowd:
            thread.join()
        ledger.close()
        yes, no = outcomes.count(True) + codes.count(0), outcomes.count(False) + codes.count(1)
        say(yes, no)


def kill() -> None:
    say("ready")
    path = sys.stdin.readline().strip()
    ledger = opened(path, "100000")
    for n in range(1_000_000):
        charge = ledger.charge(request(f"{os.getpid()} {n}", "1/7"))
        say("charged", charge.request_id, charge.position, charge.head)
        say("answered", charge.request_id, ledger.answer(charge, f"answer-{os.getpid()}-{n}"))


if __name__ == "__main__":
    if sys.argv[1] == "fire":
        fire(int(sys.argv[2]), int(sys.argv[3]))
    else:
        kill()
