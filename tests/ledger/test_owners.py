"""Whose rows a table holds is recorded at the first charge that reads it (A9)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dpcurator.errors import Misconfigured
from dpcurator.ledger import Ledger
from dpcurator.ledger.events import Owned

VISITS, LABS = ("visits", "patient_id"), ("labs", "patient_id")


@pytest.fixture
def asked(store, opening, ask):
    """A ledger whose first question read visits, under a catalog that has no other table."""
    Ledger.open(store, opening(owners=(VISITS,))).charge(replace(ask("first"), owners=(VISITS,)))
    return store


def test_a9_a_table_added_later_and_asked_keeps_its_unit(asked, opening, ask):
    both = Ledger.open(asked, opening(owners=(VISITS, LABS)))
    both.charge(replace(ask("second"), owners=(LABS,)))
    with pytest.raises(Misconfigured, match='the rows of "labs" are: the catalog says "lab_id"'):
        Ledger.open(asked, opening(owners=(VISITS, ("labs", "lab_id"))))
    assert [entry.event.owners for entry in both.events() if isinstance(entry.event, Owned)] == [(VISITS, LABS)]
    assert both.verify().sound


def test_a_table_added_and_not_asked_yet_may_still_change(asked, opening, ask):
    Ledger.open(asked, opening(owners=(VISITS, LABS))).charge(replace(ask("second"), owners=(VISITS,)))
    Ledger.open(asked, opening(owners=(VISITS, ("labs", "person"))))


def test_each_table_is_recorded_once(asked, opening, ask):
    ledger = Ledger.open(asked, opening(owners=(VISITS, LABS)))
    for name in ("second", "third"):
        ledger.charge(replace(ask(name), owners=(LABS, VISITS)))
    assert sum(isinstance(entry.event, Owned) for entry in ledger.events()) == 1


def test_a9_a_table_renamed_with_another_unit_is_refused(asked, opening):
    with pytest.raises(Misconfigured, match='"visits" is no longer declared') as told:
        Ledger.open(asked, opening(owners=(("encounters", "clinic_id"),)))
    assert "patient_id" in told.value.what
    Ledger.open(asked, opening(owners=(("encounters", "patient_id"),)))  # the unit column named as before
    Ledger.open(asked, opening(owners=(VISITS, ("encounters", "person"))))  # another table, beside the old one


def test_a9_a_table_renamed_with_the_unit_of_another_table_is_refused(asked, opening, ask):
    """That some other table has such a unit does not make it that of the table that is gone."""
    labs = ("labs", "lab_id")
    Ledger.open(asked, opening(owners=(VISITS, labs))).charge(replace(ask("second"), owners=(labs,)))
    with pytest.raises(Misconfigured, match='"visits" is no longer declared'):
        Ledger.open(asked, opening(owners=(labs, ("encounters", "lab_id"))))
    Ledger.open(asked, opening(owners=(labs, ("encounters", "patient_id"))))
    Ledger.open(asked, opening(owners=(VISITS, labs, ("encounters", "lab_id"))))


def test_what_was_recorded_cannot_be_taken_back_in_the_events(asked, opening, ask):
    """`verify` reads it again: an event that forgets a table is found."""
    ledger = Ledger.open(asked, opening(owners=(VISITS, LABS)))
    ledger.charge(replace(ask("second"), owners=(LABS,)))
    with asked.writing() as page:
        ledger._append(page, page.head(), Owned((("labs", "lab_id"),)), "2026-01-01T00:00:00Z")
    assert "takes back" in str(ledger.verify().problem)
