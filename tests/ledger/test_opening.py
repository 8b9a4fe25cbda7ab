"""The first event is written by the first question and fixes the promise for ever."""

from fractions import Fraction as F

import pytest
from currencies import in_both

from dpcurator.errors import Misconfigured
from dpcurator.ledger import Ledger, Opening

currency = in_both()

CHANGES = [
    ({"protects": "visits"}, "patients", "visits"),
    ({"neighbours": "replace-one", "units": 1000}, "add-remove", "replace-one"),
    ({"epsilon": F(4), "rho": F(0)}, "rho,delta", "epsilon,delta"),
    ({"epsilon": F(0), "rho": F(4)}, "epsilon,delta", "rho,delta"),
    ({"whole": "4.1"}, "4", "4.1"),
    ({"delta": "1e-7"}, "0.00000001", "0.0000001"),
    ({"public_key": "cd" * 32}, "ab" * 32, "cd" * 32),
]


def test_looking_writes_nothing_and_the_first_question_writes_the_first_event(store, opening, ask, currency):
    ledger = Ledger.open(store, opening("4", "1e-8"))
    assert (ledger.budget().remaining, ledger.head()[0], list(ledger.events())) == (4, 0, [])
    assert ledger.life() == "new"
    assert ledger.stored(ask()) is None
    assert Ledger.open(store, opening("5")).budget().remaining == 5  # nothing is fixed yet
    ledger.charge(ask())
    first, second = ledger.events()
    assert (first.event.NAME, second.event.NAME) == ("opened", "charged")
    assert (first.event.protects, first.event.delta, first.event.format) == ("patients", F("1e-8"), 2)
    totals = {"epsilon": (4, 0), "rho": (0, 4)}[currency]
    assert (first.event.currency, first.event.epsilon, first.event.rho) == (f"{currency},delta", *totals)


@pytest.mark.parametrize(("change", "recorded", "declared"), CHANGES, ids=lambda value: str(value)[:20])
def test_a_catalog_that_contradicts_the_ledger_is_refused_with_both_values(
    change, recorded, declared, store, opening, ask, currency
):
    base = {"whole": "4", "delta": "1e-8"}
    if declared == f"{currency},delta":  # a change to what it is: no contradiction
        assert opening(**(base | change)) == opening(**base)
        return
    late = Ledger.open(store, opening(**(base | change)))  # opened before the first question fixed anything
    Ledger.open(store, opening(**base)).charge(ask())
    for attempt in (
        lambda: Ledger.open(store, opening(**(base | change))),
        lambda: late.charge(ask("other")),
        lambda: late.budget(),
    ):
        with pytest.raises(Misconfigured) as wrong:
            attempt()
        assert recorded in wrong.value.what
        assert declared in wrong.value.what
        assert wrong.value.where == store.place
        assert wrong.value.cure
    assert Ledger.open(store, opening(**base)).head()[0] == 2


BAD = [{"whole": 0}, {"whole": -1}, {"delta": -1}, {"delta": 1}, {"epsilon": F(1), "rho": F(1)},
       {"epsilon": F(1), "rho": F(-1)}, {"epsilon": F(-1), "rho": F(1)}]


@pytest.mark.parametrize("bad", BAD, ids=str)
def test_a_budget_must_be_one(bad, opening):
    with pytest.raises(Misconfigured, match="above 0"):
        opening(**bad)


def test_rho_needs_a_delta():
    with pytest.raises(Misconfigured, match="both above 0"):
        Opening("patients", "add-remove", None, F(0), F(0), "ab" * 32, rho=F(1))


PUBLIC_N = [("add-remove", 9), ("replace-one", None), ("replace-one", 0), ("replace-one", -1)]


@pytest.mark.parametrize(("neighbours", "units"), PUBLIC_N)
def test_public_n_goes_with_replace_one(neighbours, units, opening):
    with pytest.raises(Misconfigured, match="public number of units"):
        opening(neighbours=neighbours, units=units)


def test_public_n_is_fixed_for_ever(store, opening, ask):
    Ledger.open(store, opening(neighbours="replace-one", units=1000)).charge(ask())
    with pytest.raises(Misconfigured, match="says 1001, the ledger was opened with 1000"):
        Ledger.open(store, opening(neighbours="replace-one", units=1001))
    assert next(Ledger.open(store, opening(neighbours="replace-one", units=1000)).events()).event.units == 1000


OWNERS = [
    # recorded, declared later, agree
    ((("visits", "patient"),), (("visits", "patient"),), True),
    ((("visits", "patient"),), (("visits", "patient"), ("labs", "patient_id")), True),  # a table added
    ((("visits", "patient"), ("labs", "p")), (("labs", "p"),), True),  # a table left out
    ((("visits", "patient"),), (("visits", "doctor"),), False),
    ((("visits", "patient"),), (("visits", "each row"),), False),
    ((("visits", "each row"),), (("visits", "patient"),), False),
    ((("visits", "patient"),), (("labs", "each row"),), False),  # an added table protects people too
]


@pytest.mark.parametrize(("recorded", "declared", "agree"), OWNERS)
def test_no_table_changes_whose_its_rows_are(recorded, declared, agree, store, opening, ask):
    Ledger.open(store, opening(owners=recorded)).charge(ask())
    if agree:
        assert Ledger.open(store, opening(owners=declared)).budget().spent == F(1, 10)
    else:
        with pytest.raises(Misconfigured, match="whose the rows of"):
            Ledger.open(store, opening(owners=declared))
    assert Ledger.open(store, opening(owners=recorded)).verify().sound
