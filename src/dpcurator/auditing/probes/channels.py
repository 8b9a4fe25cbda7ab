"""Channels beside the answer: what is shown without noise must be the same on neighbouring rows.

Source      Haeberlen, Pierce, Narayan, USENIX Security 2011 (errors, state, cost); Korolova and others, WWW 2009
            (keys).
Checked     tests/audit/test_probes.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from dpcurator.auditing.probes.probed import Probed

ODD = (math.nan, math.inf, -math.inf, 0, -1, 2**63, 10**400, 1e308, 5e-324, None, "", "odd", b"\xff", True)


def errors(ask: Callable[[list[Any]], Any], *, rows: list[Any], odd: Iterable[Any] = ODD) -> Probed:
    """ask(rows), with and without one odd row: whether it is answered, or with what error, must not tell of it."""
    before = _outcome(ask, rows)
    tried = 0
    for row in odd:
        tried += 1
        after = _outcome(ask, [*rows, row])
        if after != before:
            return Probed("errors", True, f"with a row of {_short(row)}: {after}; without: {before}")
    return Probed("errors", False, f"{tried} odd rows: {before} with each and without")


def shown(show: Callable[[Any], Any], pairs: Iterable[tuple[Any, Any]], *, what: str) -> Probed:
    """show(rows): a part of what is seen that carries no noise, such as keys, bounds, the order of rows, cost, bytes.

    It must be the same for both of each pair of neighbours.
    """
    tried = 0
    for one, other in pairs:
        tried += 1
        left, right = repr(show(one)), repr(show(other))
        if left != right:
            return Probed(what, True, f"neighbours are shown {_short(left)} and {_short(right)}")
    return Probed(what, False, f"{tried} pairs of neighbours are shown the same")


def _outcome(ask: Callable[[list[Any]], Any], rows: list[Any]) -> str:
    try:
        ask(rows)
        return "answered"
    except Exception as raised:
        return f"{type(raised).__name__}: {_short(raised)}"


def _short(value: object) -> str:
    text = "10**400" if isinstance(value, int) and value == 10**400 else str(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
