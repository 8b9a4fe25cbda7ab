"""What may follow what, as tables of data.

A request is asked, then charged (durable, nothing released), then answered (durable, may be shown). The curator is
new, then open, closed by a Fault, opened again by the steward; once moved to another
store it stays so. Reading a table is the whole interpreter.
Answers of questions charged before a Fault may still be stored: their charge stands and their price is paid.
Checked in tests/ledger/test_states.py, which walks every pair.
"""

from __future__ import annotations

from collections.abc import Mapping

Table = Mapping[tuple[str, str], str]  # (state, event) -> next state

REQUEST: Table = {
    ("asked", "charged"): "charged",
    ("charged", "answered"): "answered",
}

CURATOR: Table = {
    ("new", "opened"): "open",
    ("open", "owned"): "open",
    ("open", "charged"): "open",
    ("open", "answered"): "open",
    ("open", "closed"): "closed",
    ("closed", "answered"): "closed",
    ("closed", "reopened"): "open",
    ("open", "granted"): "open",
    ("closed", "granted"): "closed",
    ("open", "rekeyed"): "open",
    ("closed", "rekeyed"): "closed",
    ("open", "moved"): "moved",
    ("closed", "moved"): "moved",
}

# Those that change the state.
LIFE_EVENTS = tuple(dict.fromkeys(event for (state, event), after in CURATOR.items() if state != after))


class Impossible(ValueError):
    """An event that its table does not allow in that state."""

    def __init__(self, state: str, event: str) -> None:
        self.state, self.event = state, event
        super().__init__(f"{event!r} cannot happen when {state}")


def step(table: Table, state: str, event: str) -> str:
    """The state after `event`. Raises Impossible when the table has no such line."""
    try:
        return table[state, event]
    except KeyError:
        raise Impossible(state, event) from None


def settled_by(table: Table, event: str) -> str:
    """The one state that `event` leads to, whatever came before; so the last life event alone tells the state."""
    (after,) = {after for (_, name), after in table.items() if name == event}
    return after
