"""Budgets: many askers at once, and a crash at the moment an answer is out.

Source      The two faults of systems that keep what is spent in memory, or write it down last.
Checked     tests/audit/test_probes.py.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from dpcurator.auditing.probes.children import told_by_child
from dpcurator.auditing.probes.probed import Probed


def race(ask: Callable[[], bool], *, allowed: int, askers: int = 32) -> Probed:
    """ask() -> was it answered? Called by as many threads at once, of a budget for `allowed` answers."""
    answered, start = [], threading.Barrier(askers)

    def one() -> None:
        start.wait()
        if ask():
            answered.append(True)

    threads = [threading.Thread(target=one) for _ in range(askers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    words = f"{len(answered)} of {askers} at once were answered, of a budget for {allowed}"
    return Probed("budget, many at once", len(answered) > allowed, words)


def crash(ask: Callable[[Callable[[object], None]], None], *, allowed: int, times: int = 8) -> Probed:
    """ask(deliver): answers one question of a budget that outlives the process, by calling deliver(answer).

    Each time a forked child asks, and ends without a word once it has delivered. POSIX only.
    """
    answered = sum(told_by_child(lambda say: ask(lambda answer: say(b"1"))) == b"1" for _ in range(times))
    words = f"{answered} answers came from {times} processes that died of them, of a budget for {allowed}"
    return Probed("crash after the answer", answered > allowed, words)
