"""The tables, pair by pair: what is written may happen, and nothing else."""

from itertools import product

import pytest

from dpcurator.ledger.events import EVENTS
from dpcurator.ledger.states import CURATOR, LIFE_EVENTS, REQUEST, Impossible, settled_by, step


@pytest.mark.parametrize("table", [CURATOR, REQUEST], ids=["curator", "request"])
def test_every_pair_is_a_line_of_the_table_or_impossible(table):
    states = {state for state, _ in table} | set(table.values())
    for state, event in product(states, EVENTS):
        if (state, event) in table:
            assert step(table, state, event) == table[state, event]
        else:
            with pytest.raises(Impossible):
                step(table, state, event)


def test_the_tables_speak_of_events_that_exist():
    assert {event for _, event in (*CURATOR, *REQUEST)} == set(EVENTS)


def test_a_life_event_leads_to_one_state_wherever_it_happens():
    assert {event: settled_by(CURATOR, event) for event in LIFE_EVENTS} == {
        "opened": "open",
        "closed": "closed",
        "reopened": "open",
        "moved": "moved",
    }


def test_nothing_is_charged_while_closed_and_nothing_is_answered_before_it_is_charged():
    assert ("closed", "charged") not in CURATOR
    assert ("asked", "answered") not in REQUEST
    assert ("answered", "answered") not in REQUEST
