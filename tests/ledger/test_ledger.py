"""Charging, answering, repeating, closing: the tables of the ledger's behaviour, on every store."""

import threading
from fractions import Fraction

import pytest
from currencies import in_both

from dpcurator.errors import Misconfigured, OverBudget, Refusal
from dpcurator.ledger import Ledger, Stored
from dpcurator.ledger.canonical import digest

currency = in_both()


def test_a_charge_says_where_it_stands(ledger, ask, currency):
    charge = ledger.charge(ask("p", "0.3"))
    assert (charge.position, charge.spent) == (2, Fraction(3, 10))
    amounts = {"epsilon": 0, "rho": 0} | {currency: Fraction(3, 10)}
    assert (charge.epsilon, charge.rho) == (amounts["epsilon"], amounts["rho"])
    assert (ledger.budget().currency, ledger.budget().spent) == (currency, Fraction(3, 10))
    assert charge.remaining == Fraction(7, 10)
    assert ledger.head() == (charge.position, charge.head)
    assert charge.time.endswith("Z")


def test_ten_tenths_exhaust_one_and_the_eleventh_changes_nothing(ledger, ask, currency):
    for n in range(10):
        ledger.charge(ask(n, "0.1"))
    before = (ledger.head(), ledger.budget())
    assert ledger.budget().remaining == 0
    with pytest.raises(OverBudget) as refused:
        ledger.charge(ask("eleventh", "0.1"))
    shown = {"currency": currency, "requested": "1/10", "remaining": "0", "short_by": "1/10"}
    assert shown.items() <= refused.value.as_json().items()
    assert (ledger.head(), ledger.budget()) == before


def test_the_same_question_again_is_the_same_answer_for_free_even_when_all_is_spent(ledger, ask):
    """Case BUD-05: what was shown may be shown again; anything else is a typed refusal."""
    charge = ledger.charge(ask("p", 1))
    assert ledger.answer(charge, "five") == "five"
    assert ledger.charge(ask("p", 1)) == Stored("five", charge)
    assert ledger.charge(ask("p", 1, request_id="mine")) == Stored("five", charge)
    assert ledger.stored(ask("p", 1)) == Stored("five", charge)
    for another in (ask("p", 1, analyst="bob"), ask("p", "0.5"), ask("p", 1, data_version=2), ask("q", "0.1")):
        assert ledger.stored(another) is None
        with pytest.raises(OverBudget):
            ledger.charge(another)
    assert ledger.head()[0] == 3


def test_a_charge_without_an_answer_is_resumed_for_nothing(ledger, ask):
    charge = ledger.charge(ask("p", "0.6"))
    assert ledger.charge(ask("p", "0.6")) == charge
    assert ledger.charge(ask("p", Fraction(6, 10)), fresh=False) == charge
    assert ledger.budget().spent == Fraction(6, 10)
    named = ledger.charge(ask("p", "0.4", request_id="r1"))
    assert ledger.charge(ask("p", "0.4", request_id="r1"), fresh=True) == named


def test_fresh_pays_again_for_an_answer_of_its_own(ledger, ask):
    first = ledger.charge(ask("p", "0.2"))
    ledger.answer(first, "one")
    second = ledger.charge(ask("p", "0.2"), fresh=True)
    assert not isinstance(second, Stored)
    assert second.request_id != first.request_id
    assert ledger.answer(second, "two") == "two"
    assert ledger.budget().spent == Fraction(4, 10)
    assert ledger.charge(ask("p", "0.2")) == Stored("one", first)
    assert ledger.charge(ask("p", "0.2", request_id=second.request_id)) == Stored("two", second)


def test_a_new_id_gets_the_earliest_answer_of_the_same_question(ledger, ask):
    ids = ("x", "y")
    charges = [ledger.charge(ask("p", "0.2", request_id=name)) for name in ids]
    ledger.answer(charges[1], "of y")
    assert ledger.charge(ask("p", "0.2")) == Stored("of y", charges[1])
    ledger.answer(charges[0], "of x")
    assert ledger.charge(ask("p", "0.2", request_id="z")) == Stored("of y", charges[1])
    assert ledger.charge(ask("p", "0.2", request_id="x")) == Stored("of x", charges[0])


def test_an_id_belongs_to_one_question(ledger, ask):
    ledger.charge(ask("p", "0.2", request_id="r"))
    for other in (
        ask("q", "0.2", request_id="r"),
        ask("p", "0.3", request_id="r"),
        ask("p", "0.2", request_id="r", analyst="bob"),
    ):
        with pytest.raises(Refusal, match="another question") as refused:
            ledger.charge(other)
        assert "ada" not in str(refused.value)  # whose it is, is not said
        assert ledger.stored(other) is None
    assert ledger.head()[0] == 2


def test_the_first_answer_stored_is_the_answer(ledger, ask):
    charge = ledger.charge(ask())
    assert ledger.answer(charge, "one") == "one"
    assert ledger.answer(charge, "two") == "one"
    assert ledger.head()[0] == 3


def test_two_resumptions_at_once_give_one_answer_ever(ledger, ask):
    charge = ledger.charge(ask())
    barrier, shown = threading.Barrier(8), []

    def resume(n: int) -> None:
        mine = ledger.charge(ask())
        barrier.wait()
        shown.append(ledger.answer(mine, f"answer {n}"))

    threads = [threading.Thread(target=resume, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(shown) == 8
    assert set(shown) == {ledger.stored(ask()).answer}
    assert ledger.budget().spent == charge.spent


@pytest.mark.parametrize("text", ["", "plain", "é\x00\ud800 \U0001f600", "x" * 3_000_000], ids=len)
def test_any_text_is_stored_as_it_is(text, ledger, ask):
    assert ledger.answer(ledger.charge(ask()), text) == text
    assert ledger.charge(ask()).answer == text
    assert ledger.verify().sound


def test_an_answer_repeats_the_time_of_its_charge(ledger, ask):
    charge = ledger.charge(ask())
    ledger.answer(charge, "x")
    assert [entry.time for entry in ledger.events()][1:] == [charge.time, charge.time]


def test_an_answer_needs_a_charge_of_this_ledger(ledger, ask, tmp_path, opening):
    from dpcurator.ledger import MemoryStore

    ledger.charge(ask("other"))
    foreign = Ledger.open(MemoryStore(), opening()).charge(ask())
    with pytest.raises(Misconfigured, match="not in the ledger"):
        ledger.answer(foreign, "x")


def test_a_closed_curator_charges_nothing_in_any_hands_until_reopened(ledger, store, ask, opening):
    charge, pending = ledger.charge(ask("p")), ledger.charge(ask("q"))
    ledger.answer(charge, "x")
    ledger.close_after_fault()
    ledger.close_after_fault()
    other = Ledger.open(store, opening())
    for hands in (ledger, other):
        for question in (ask("p"), ask("new")):
            with pytest.raises(Misconfigured, match="dpcurator reopen"):
                hands.charge(question)
    assert ledger.life() == "closed"
    assert ledger.answer(pending, "in flight") == "in flight"
    assert ledger.life() == "closed"
    assert [other.reopen(), other.reopen()] == [True, False]
    assert ledger.charge(ask("p")) == Stored("x", charge)
    assert [entry.event.NAME for entry in ledger.events()] == [
        *("opened", "charged", "charged", "answered", "closed", "answered", "reopened")
    ]
    assert ledger.verify().sound


def test_a_new_ledger_can_be_closed_but_not_reopened(ledger):
    assert ledger.reopen() is False
    assert ledger.head()[0] == 0
    ledger.close_after_fault()
    assert [entry.event.NAME for entry in ledger.events()] == ["opened", "closed"]


def test_finding_by_the_beginning_of_an_id_or_of_an_answers_hash(ledger, ask):
    hers = ledger.charge(ask("p", request_id="receipt-1"))
    ledger.answer(hers, "text")
    his = ledger.charge(ask("p", request_id="receipt-2", analyst="bob"))
    assert ledger.find("receipt-") == (Stored("text", hers), his)
    assert ledger.find("receipt-", analyst="bob") == (his,)
    assert ledger.find(digest(b"text")[:6]) == (Stored("text", hers),)
    assert ledger.find(digest(b"text")[:6], analyst="bob") == ()
    assert ledger.find("rec%") == ()
    with pytest.raises(Refusal):
        ledger.find("rec")


def test_a_ledger_behind_a_known_head_is_refused(store, opening, ask):
    ledger = Ledger.open(store, opening())
    charge = ledger.charge(ask())
    Ledger.open(store, opening(), known_heads=[(charge.position, charge.head)])
    for head in ((charge.position, "0" * 64), (99, charge.head)):
        with pytest.raises(Misconfigured, match="as seen before"):
            Ledger.open(store, opening(), known_heads=[head])


def test_the_clock_and_the_ids_are_arguments(store, opening, ask):
    ids = iter(["of the ledger", "random-1"])
    ledger = Ledger.open(store, opening(), clock=lambda: "then", random_id=lambda: next(ids))
    ledger.charge(ask(request_id="r"))
    assert ledger.charge(ask(), fresh=True).request_id == "random-1"
    first = next(ledger.events())
    assert (first.time, first.event.ledger) == ("then", "of the ledger")
