"""Admission: exact tables, and the law that the budget holds whatever is asked."""

from dataclasses import replace
from fractions import Fraction

import pytest
from currencies import in_both
from hypothesis import given
from hypothesis import strategies as st
from power import tried

from dpcurator.errors import Misconfigured, OverBudget, Refusal
from dpcurator.ledger import Ledger, MemoryStore, Stored
from dpcurator.ledger.decide import Standing, checked, decide, question
from dpcurator.ledger.events import Row
from dpcurator.numbers.rational import added

F = Fraction
currency = in_both()


@pytest.fixture(scope="module")
def standing(currency):
    def make(spent="0", spent_delta="0", whole="1", delta="0", life="open"):
        return Standing(life, None, F(whole), F(delta), F(spent), F(spent_delta), currency)

    return make


SHARES = [
    ("ten tenths", ["1/10"] * 10),
    ("eleven elevenths", ["1/11"] * 11),
    ("0.1 + 0.2 + 0.7", ["0.1", "0.2", "0.7"]),
    ("thirds and sevenths", ["1/3", "1/7", "11/21"]),
    ("all at once", ["1"]),
    ("a googol of one", [F(10**100 - 1, 10**100), F(1, 10**100)]),
]


@pytest.mark.parametrize("shares", [shares for _, shares in SHARES], ids=[name for name, _ in SHARES])
def test_shares_that_sum_to_the_budget_are_all_admitted_and_nothing_after(shares, ask, standing, currency):
    spent = F(0)
    for share in shares:
        spent = decide(standing(spent), ask("p", share), "id").spent
    assert spent == 1
    with pytest.raises(OverBudget) as refused:
        decide(standing(spent), ask("p", "0.001"), "id")
    assert (refused.value.requested, refused.value.remaining, refused.value.short_by) == (F("0.001"), 0, F("0.001"))
    assert f"requested {currency} 0.001, remaining 0, short by 0.001" in str(refused.value)


def test_case_bud_01_three_tenths(ask, standing):
    spent = decide(standing("0.1", whole="0.3"), ask("p", "0.2"), "id").spent
    assert spent == F(3, 10)
    with pytest.raises(OverBudget):
        decide(standing(spent, whole="0.3"), ask("p", "0.001"), "id")


def test_delta_is_a_budget_of_its_own(ask, standing):
    admitted = decide(standing(delta="1e-8"), ask("p", "0.1", "1e-8"), "id")
    assert (admitted.spent, admitted.spent_delta) == (F("0.1"), F("1e-8"))
    with pytest.raises(OverBudget) as refused:
        decide(standing("0.1", "1e-8", delta="1e-8"), ask("p", "0.1", "1e-12"), "id")
    assert "requested delta" in str(refused.value)
    with pytest.raises(OverBudget):
        decide(standing(), ask("p", "0.1", "1e-100"), "id")  # a pure ledger


def test_a_price_in_the_other_currency_is_refused_and_changes_nothing(ask, standing, opening, currency):
    other = "rho" if currency == "epsilon" else "epsilon"
    ledger = Ledger.open(MemoryStore(), opening())
    ledger.charge(ask("before"))
    before = (ledger.head(), ledger.budget())
    for foreign in (ask(**{currency: F(0), other: F(1, 10)}), ask(**{other: F(1, 10**9)})):
        with pytest.raises(Misconfigured, match=f"counts in {currency}, and this price is not in {currency} alone"):
            decide(standing(), foreign, "id")
        with pytest.raises(Misconfigured, match="Nothing was charged"):
            ledger.charge(foreign)
    assert (ledger.head(), ledger.budget()) == before


def test_what_is_spent_is_recorded_in_its_currency_alone(ask, standing, currency):
    admitted = decide(standing("1/10", delta="1e-8"), ask("p", "1/5", "1e-9"), "id")
    own, other = ("rho", "epsilon") if currency == "rho" else ("epsilon", "rho")
    assert (getattr(admitted, own), getattr(admitted, f"spent_{own}")) == (F(1, 5), F(3, 10))
    assert (getattr(admitted, other), getattr(admitted, f"spent_{other}")) == (0, 0)
    assert (admitted.spent, admitted.spent_delta) == (F(3, 10), F(1, 10**9))


def test_a_delta_that_is_used_up_is_told_and_changes_nothing(ask, opening):
    ledger = Ledger.open(MemoryStore(), opening("1", "1e-8"))
    ledger.charge(ask("first", "0.1", "9e-9"))
    before = (ledger.head(), ledger.budget())
    with pytest.raises(OverBudget) as refused:
        ledger.charge(ask("second", "0.1", "2e-9"))
    assert (refused.value.currency, refused.value.short_by) == ("delta", F("1e-9"))
    assert (ledger.head(), ledger.budget()) == before
    ledger.charge(ask("third", "0.1", "1e-9"))
    ledger.charge(ask("fourth", "0.8"))  # what needs no delta goes on
    assert (ledger.budget().remaining, ledger.budget().remaining_delta) == (0, 0)


def test_a_closed_curator_charges_nothing(ask, standing):
    with pytest.raises(Misconfigured, match="dpcurator reopen"):
        decide(standing(life="closed"), ask(), "id")


def test_an_id_is_bound_to_its_question_and_the_same_question_is_paid_once(ask, standing):
    mine = decide(standing(), ask("p"), "id")
    assert decide(standing("1"), ask("p"), "id", mine=mine, known=mine) is mine
    with pytest.raises(Refusal, match="another question"):
        decide(standing(), ask("q"), "id", mine=mine, known=mine)


CHANGES = [
    {"plan": "other"},
    {"analyst": "bob"},
    {"catalog": "d" * 64},
    {"data_version": 2},
    {"parameters": '{"beta":"1/20"}'},
    {"price": F(1, 5)},
    {"delta": F(1, 10**9)},
    {"epsilon": F(1, 20), "rho": F(1, 20)},
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: next(iter(change)))
def test_a_question_is_everything_it_is_bound_to(change, ask):
    assert question(ask(**change)) != question(ask())
    assert question(ask(price="0.10")) == question(ask(price="1/10"))


@pytest.mark.parametrize(
    "bad",
    [
        {"epsilon": F(-1)},
        {"rho": F(-1)},
        {"rho": F(1, 10**400)},
        {"delta": F(-1, 10)},
        {"epsilon": F(0), "rho": F(0)},
        {"epsilon": F(1, 10**400)},
        {"epsilon": F(10**400)},
        {"request_id": ""},
        {"request_id": "a b"},
        {"request_id": "é"},
        {"request_id": "x" * 129},
        {"request_id": "a\n"},
        {"request_id": "0" * 64},
        {"analyst": ""},
        {"parameters": "x" * 1_000_001},
        {"data_version": True},
        {"plan": 7},
    ],
    ids=str,
)
def test_malformed_requests_are_refused(bad, ask):
    from dataclasses import replace

    with pytest.raises(Refusal):
        checked(replace(ask(), **bad))


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), True, "x", None])
def test_a_price_must_be_a_number(bad, ask):
    from dataclasses import replace

    with pytest.raises(Refusal):
        checked(replace(ask(), epsilon=bad))


def test_an_id_that_another_question_will_derive_cannot_be_occupied(ask):
    target = question(ask("hers"))
    with pytest.raises(Refusal, match="64 hexadecimal"):
        checked(ask("mine", request_id=target))
    assert checked(ask("hers", request_id=target)).request_id == target


@given(st.lists(st.fractions(min_value=F(1, 10**30), max_value=2, max_denominator=10**30), max_size=60))
def test_totals_are_exact_while_short_and_never_too_small(prices):
    spent = F(0)
    for price in prices:
        after = added(spent, price)
        assert after >= spent + price
        assert after - spent - price < F(1, 10**150)
        assert after.denominator <= 2**1024
        spent = after
    if len({price.denominator for price in prices}) <= 9:
        assert spent == sum(prices)


def test_many_odd_prices_keep_the_totals_short(ask):
    spent, odd = F(0), 3
    for n in range(400):
        odd = 10**30 + 2 * n + 1
        spent = added(spent, F(1, odd))
    assert spent.denominator <= 2**1024
    assert spent >= sum(F(1, 10**30 + 2 * n + 1) for n in range(400))


@st.composite
def histories(draw):
    """(total, total delta, what is asked in order): small numbers, so that requests collide and budgets run out."""
    price = st.sampled_from(["1/10", "0.2", "1/3", "1/7", "0.7", "1", "3/2", "1/11"])
    tiny = st.sampled_from(["0", "0", "1e-9", "1/3"])
    asked = st.tuples(st.integers(0, 3), price, tiny, st.sampled_from([None, "a", "b"]), st.booleans(), st.booleans())
    return draw(price), draw(tiny), draw(st.lists(asked, max_size=25))


@given(histories())
@tried
def test_the_budget_holds_and_a_refusal_changes_nothing(opening, ask, currency, history):
    whole, whole_delta, asked = history
    ledger = Ledger.open(MemoryStore(), opening(whole, whole_delta))
    paid, answers = {}, {}
    for n, (plan, price, delta, request_id, fresh, answering) in enumerate(asked):
        before = (ledger.head(), ledger.budget())
        try:
            charge = ledger.charge(ask(plan, price, delta, request_id=request_id), fresh=fresh)
        except Refusal:
            assert (ledger.head(), ledger.budget()) == before
            continue
        if isinstance(charge, Stored):
            assert (ledger.head(), ledger.budget()) == before
            assert answers[charge.charge.request_id] == charge.answer
        else:
            assert charge.request_id not in answers
            paid[charge.request_id] = (charge.rho if currency == "rho" else charge.epsilon, charge.delta)
            if answering:
                answers[charge.request_id] = ledger.answer(charge, f"answer {n}")
        spent = ledger.budget()
        assert spent.spent == sum(price for price, _ in paid.values()) <= spent.total
        assert spent.spent_delta == sum(delta for _, delta in paid.values()) <= spent.delta
        assert ledger.verify().sound


def test_a13_a_ledger_takes_a_public_number_of_questions_however_small_their_prices(ask, standing, currency):
    """A hundred questions at 1e-29 cost 6 KB each, for ever; so their number has a limit, and repeats stay free."""
    from dpcurator.ledger.decide import MOST_EVENTS

    def after(events: int) -> Standing:
        return replace(standing(F(0)), head=Row(events, "answered", "", "0" * 64, "0" * 64), life="open")

    small = ask("p", "1e-29")
    assert decide(after(MOST_EVENTS - 1), small, "id").spent == F("1e-29")
    with pytest.raises(Refusal, match=r"holds 2,000,000 events"):
        decide(after(MOST_EVENTS), small, "id")
    with pytest.raises(Refusal, match=r"holds 2,000,001 events"):  # an answer may stand behind the last charge
        decide(after(MOST_EVENTS + 1), small, "id")
    paid = decide(after(5), small, "id")
    assert decide(after(MOST_EVENTS), small, "id", known=paid) == paid
