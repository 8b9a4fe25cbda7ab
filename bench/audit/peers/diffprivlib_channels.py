"""diffprivlib: edges taken from data, and its budget."""

from collections.abc import Iterator

import numpy as np
from peer import Row, diffprivlib

from dpcurator.auditing import probes


def rows() -> Iterator[Row]:
    peer = diffprivlib()
    pairs = [([1.0, 2.0, 3.0], [1.0, 2.0, 50.0])]
    edges = lambda rows: peer.tools.histogram(rows, epsilon=1)[1].tolist()  # noqa: E731
    yield "tools.histogram without a range (it warns)", probes.shown(edges, pairs, what="bounds")
    given = lambda rows: peer.tools.histogram(rows, epsilon=1, range=(0, 9))[1].tolist()  # noqa: E731
    yield "tools.histogram with a range", probes.shown(given, pairs, what="bounds")
    spent = peer.BudgetAccountant(epsilon=1)

    def ask() -> bool:
        try:
            peer.tools.sum(np.ones(9), epsilon=0.5, bounds=(0, 1), accountant=spent)
        except peer.utils.BudgetError:
            return False
        return True

    yield "BudgetAccountant", probes.race(ask, allowed=2)
