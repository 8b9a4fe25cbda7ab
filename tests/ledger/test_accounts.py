"""Accounts: an analyst's own limit holds beside the whole budget, on every store; a token signs in to its own alone."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import pytest
from currencies import in_both
from hypothesis import given
from hypothesis import strategies as st
from power import tried

from dpcurator.errors import Misconfigured, OverBudget, Refusal
from dpcurator.ledger import Ledger, MemoryStore, Stored
from dpcurator.ledger.accounts import Scram, bearer_of, hash_of, new_token
from dpcurator.ledger.events import Charged, Granted
from dpcurator.ledger.moving import move

F = Fraction
currency = in_both()


@pytest.fixture
def ledger(store, opening):
    return Ledger.open(store, opening("1", "1e-8"))


def test_a_charge_must_fit_the_own_limit_and_the_whole(ledger, ask, currency):
    ledger.grant("ana", limit="0.5")
    ledger.grant("bob", limit="0.9")  # more than the whole together
    ledger.charge(ask(1, "0.4", analyst="ana"))
    amounts = rf"requested {currency} 0\.2, remaining 0\.1, short by 0\.1"
    with pytest.raises(OverBudget, match=f"your own limit: {amounts}") as own:
        ledger.charge(ask(2, "0.2", analyst="ana"))
    assert own.value.of == "own"
    assert own.value.as_json()["of"] == "own"
    assert pickle.loads(pickle.dumps(own.value)).of == "own"
    with pytest.raises(OverBudget, match="Not enough budget") as whole:
        ledger.charge(ask(3, "0.7", analyst="bob"))
    assert whole.value.of == "all"
    assert "of" not in whole.value.as_json()
    ledger.charge(ask(4, "0.6", analyst="bob"))
    assert [(one.analyst, one.spent, one.budget.remaining) for one in ledger.accounts()] == [
        ("ana", F("0.4"), F("0.1")), ("bob", F("0.6"), F("0.3"))
    ]
    assert ledger.budget().remaining == 0
    assert ledger.verify().sound


def test_delta_has_a_limit_of_its_own(ledger, ask):
    ledger.grant("ana", delta="1e-9")
    ledger.charge(ask(1, "0.1", "1e-9", analyst="ana"))
    with pytest.raises(OverBudget, match="your own limit: requested delta"):
        ledger.charge(ask(2, "0.1", "1e-12", analyst="ana"))
    assert ledger.account("ana").spent_delta == F("1e-9")


def test_what_was_spent_before_the_account_counts_and_others_spend_apart(ledger, ask):
    ledger.charge(ask(1, "0.3", "1e-9", analyst="ana"))
    ledger.charge(ask(2, "0.2", analyst="bob"))
    account = ledger.grant("ana", limit="0.4")
    assert (account.spent, account.spent_delta) == (F("0.3"), F("1e-9"))
    with pytest.raises(OverBudget):
        ledger.charge(ask(3, "0.2", analyst="ana"))
    ledger.charge(ask(3, "0.2", analyst="bob"))  # without an account, no limit but the whole
    assert ledger.verify().sound


def test_a_limit_below_what_was_spent_refuses_new_questions_and_keeps_paid_ones_free(ledger, ask):
    charge = ledger.charge(ask(1, "0.3", analyst="ana"))
    ledger.answer(charge, "x")
    ledger.grant("ana", limit="0.1")
    with pytest.raises(OverBudget, match=r"remaining 0, short by 0\.05"):
        ledger.charge(ask(2, "0.05", analyst="ana"))
    assert ledger.charge(ask(1, "0.3", analyst="ana")) == Stored("x", charge)
    assert ledger.verify().sound
    ledger.grant("ana", limit="0.35")
    ledger.charge(ask(2, "0.05", analyst="ana"))
    assert ledger.account("ana").spent == F("0.35")


def test_what_is_not_given_stays_as_it_was(ledger):
    first = ledger.grant("ana", role="auditor", limit="0.5", delta="1e-9", token="t")
    assert ledger.grant("ana") == replaced(first, ledger)
    second = ledger.grant("ana", limit="0.25")
    assert (second.role, second.token, second.limit, second.delta) == ("auditor", hash_of("t"), F("0.25"), F("1e-9"))
    third = ledger.grant("ana", token="")
    assert not third.active
    assert third.limit == F("0.25")
    new = ledger.grant("bob")
    assert (new.role, new.limit, new.delta, new.active) == ("analyst", F(1), F("1e-8"), False)


def replaced(account, ledger):
    from dataclasses import replace

    return replace(account, position=ledger.head()[0])


def test_a_token_signs_in_to_its_own_account_until_it_is_replaced(ledger):
    token, other = new_token("ana"), new_token("ana")
    assert bearer_of(token) == "ana"
    assert token != other
    account = ledger.grant("ana", token=token)
    assert account.signs_in(token)
    assert not account.signs_in(other)
    assert not account.signs_in("")
    assert not ledger.grant("ana", token=other).signs_in(token)
    revoked = ledger.grant("ana", token="")
    assert not revoked.signs_in(other)
    assert not revoked.signs_in("")
    told = "".join(map(repr, ledger.events()))
    assert token not in told
    assert other not in told


def test_database_clients_sign_in_by_the_same_token_and_by_none_of_before(ledger):
    token = new_token("ana")
    made = ledger.grant("ana", token=token)
    keys = Scram.read(made.scram)
    assert keys == Scram.of(token, keys.salt)
    assert ledger.grant("ana", limit="0.5").scram == made.scram
    assert token not in str(made)
    assert "scram" not in made.as_json()
    assert ledger.grant("ana", token=new_token("ana")).scram != made.scram
    assert ledger.grant("ana", token="").scram == ""
    assert ledger.verify().sound


@pytest.mark.parametrize("text", ["", "ana", "ana.", ".x", "ana." + "x" * 42, "a\n." + "x" * 43, "-a." + "x" * 43,
                                  "ana." + "é" * 43, "a" * 500 + "." + "x" * 43])
def test_what_is_no_token_is_nobodys(text):
    assert bearer_of(text) is None


def test_names_with_dots_are_whose_they_say():
    for name in ("ana@clinic.example", "a.b.c", "ana+x"):
        assert bearer_of(new_token(name)) == name


@pytest.mark.parametrize(("given", "words"), [
    ({"analyst": ""}, "an account's name"), ({"analyst": "a b"}, "an account's name"),
    ({"analyst": "a..b"}, "an account's name"), ({"analyst": "ana\n"}, "an account's name"),
    ({"analyst": "ana", "role": "king"}, "no role"), ({"analyst": "ana", "limit": -1}, "at least 0"),
    ({"analyst": "ana", "limit": "nan"}, "finite"), ({"analyst": "ana", "delta": True}, "finite"),
    ({"analyst": "ana", "limit": F(1, 3**600)}, "too many digits"),
])
def test_what_is_no_account_is_refused_and_nothing_is_written(given, words, ledger):
    with pytest.raises(Refusal, match=words):
        ledger.grant(**given)
    assert ledger.head()[0] == 0
    assert ledger.accounts() == ()


def test_no_token_signs_in_to_what_was_asked_beside_the_data(ledger):
    with pytest.raises(Refusal, match="beside the data"):
        ledger.grant("local", token=new_token("local"))
    assert ledger.accounts() == ()
    assert ledger.grant("local", limit="0.5").limit == F("0.5")
    assert not ledger.grant("local", token="").active


def test_a_closed_curator_keeps_its_accounts_and_a_moved_ledger_takes_none(ledger, store, opening, ask):
    ledger.grant("ana", limit="0.5")
    ledger.charge(ask(1, "0.2", analyst="ana"))
    ledger.close_after_fault()
    ledger.grant("ana", token="t")
    assert ledger.life() == "closed"
    assert ledger.account("ana").spent == F("0.2")
    ledger.reopen()
    new = MemoryStore()
    move(ledger, store, new)
    with pytest.raises(Misconfigured, match="moved"):
        ledger.grant("ana")
    goes_on = Ledger.open(new, opening("1", "1e-8"))
    assert goes_on.account("ana") == ledger.account("ana")
    with pytest.raises(OverBudget, match="own limit"):
        goes_on.charge(ask(2, "0.4", analyst="ana"))
    assert goes_on.verify().sound


def test_at_once_a_limit_for_two_admits_two(ledger, ask):
    ledger.grant("ana", limit="0.2")

    def one(number):
        try:
            ledger.charge(ask(number, "0.1", analyst="ana"))
        except OverBudget:
            return 0
        return 1

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(one, range(12))) == 2
    assert ledger.account("ana").spent == F("0.2")
    assert ledger.verify().sound


steps = st.lists(st.tuples(
    st.sampled_from(["ana", "bob", "local"]), st.integers(0, 3), st.sampled_from(["1/7", "0.1", "0.25"]), st.booleans(),
), max_size=14)


@given(steps=steps)
@tried
def test_in_any_order_no_account_passes_its_limit_and_all_adds_up(steps, opening, ask):
    ledger = Ledger.open(MemoryStore(), opening("1"))
    for number, (analyst, limit, price, grants) in enumerate(steps):
        if grants:
            ledger.grant(analyst, limit=F(limit, 4))
            continue
        before = ledger.account(analyst), ledger.budget().spent
        refused = None
        try:
            ledger.charge(ask(number, price, analyst=analyst))
        except OverBudget as error:
            refused = error
        account, spent = before
        if refused is None:
            assert account is None or account.spent + F(price) <= account.limit
            continue
        room = account.budget.remaining if refused.of == "own" else 1 - spent
        assert room < F(price)
        assert refused.remaining == max(0, room)
    charges = [entry.event for entry in ledger.events() if isinstance(entry.event, Charged)]
    for account in ledger.accounts():
        assert account.spent == sum(one.epsilon + one.rho for one in charges if one.analyst == account.analyst)
    assert ledger.verify().sound


@pytest.mark.parametrize("name", ["\ud800", "a b", "a\0b", "h\xe9lo\xefse", "account of ana", "x" * 5000])
def test_an_analyst_of_a_name_that_no_account_has_is_answered_as_before(name, ledger, ask):
    """A ledger may be older than accounts, and its analysts were anything."""
    ledger.grant("ana", limit="0.5")
    charge = ledger.charge(ask(1, "0.1", analyst=name))
    assert ledger.answer(charge, "x") == "x"
    assert ledger.account(name) is None
    assert ledger.charges(name) == ()
    assert ledger.verify().sound


class Edited(MemoryStore):
    """A ledger rewritten by somebody who can seal events."""

    def rewrite(self, change):
        from dpcurator.ledger.events import GENESIS, read, seal

        page, head = self._page, GENESIS
        for at, row in enumerate(page.all):
            event, position, time = read(row.body)
            page.all[at] = seal(change(event), position=position, time=time, previous=head)
            head = page.all[at].hash


@pytest.mark.parametrize(("kind", "change", "words"), [
    (Granted, {"limit": F(1, 100)}, "pass its analyst's own limit"),
    (Granted, {"limit": F(-1)}, "limit is negative"),
    (Granted, {"role": "king"}, "no such role"),
    (Granted, {"analyst": "ana\ud800"}, "no such role, name or token"),
    (Granted, {"analyst": 5}, "no such role, name or token"),
    (Granted, {"token": 5}, "no such role, name or token"),
    (Granted, {"token": "ab" * 31}, "no such role, name or token"),
    (Granted, {"scram": "ab"}, "no such role, name or token"),
    (Granted, {"token": "", "scram": str(Scram(bytes(16), bytes(32), bytes(32)))}, "no such role, name or token"),
    (Granted, {"own_spent": F(1, 100)}, "not the sum of the analyst's charges"),
    (Granted, {"before": 2}, "point to the last event of an account"),
    (Charged, {"granted": 0, "own_spent": F(0)}, "not of its analyst's account"),
    (Charged, {"own_spent": F(1, 100)}, "not the sum of its analyst's charges"),
])
def test_verify_tells_what_was_rewritten(kind, change, words, opening, ask):
    from dataclasses import replace

    store = Edited()
    ledger = Ledger.open(store, opening("1"))
    ledger.grant("ana", limit="0.5")
    ledger.charge(ask(1, "0.1", analyst="ana"))
    assert ledger.verify().sound
    store.rewrite(lambda event: replace(event, **change) if isinstance(event, kind) else event)
    assert words in str(Ledger(store, opening("1")).verify().problem)


def test_verify_tells_an_index_that_forgets_a_charge(opening, ask):
    store = MemoryStore()
    ledger = Ledger.open(store, opening("1"))
    ledger.grant("ana", limit="0.5")
    ledger.charge(ask(1, "0.1", analyst="ana"))
    store._page.readings["account of ana"].pop()
    assert "index of accounts" in str(ledger.verify().problem)
