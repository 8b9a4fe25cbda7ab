"""Errors: whose they are, their exit codes, and words that travel whole through pickles and JSON."""

from __future__ import annotations

import json
import pickle
from fractions import Fraction as F

import pytest

from dpcurator.errors import DpcuratorError, Fault, Misconfigured, OverBudget, Refusal

ALL = [
    (DpcuratorError("what", where="here", cure="do"), 1, "error"),
    (Refusal("what.", where="line 1, column 8", cure="Do this."), 2, "refused"),
    (OverBudget(requested=F(1, 2), remaining=F(1, 3)), 3, "over budget"),
    (OverBudget(requested=F(1, 2), remaining=F(1, 3), currency="rho"), 3, "over budget"),
    (Misconfigured("what.", where="curator.toml:3"), 4, "set-up"),
    (Fault(), 5, "fault"),
]


@pytest.mark.parametrize(("error", "code", "title"), ALL, ids=str)
def test_each_kind_has_its_code_its_title_and_its_words(error, code, title):
    assert error.exit_code == code
    assert error.as_json()["error"] == error.title == title
    json.dumps(error.as_json())
    assert isinstance(error, DpcuratorError)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert (str(again), again.where, again.cure) == (str(error), error.where, error.cure)


def test_where_what_and_cure_make_a_sentence():
    assert str(Refusal("what.", where="line 1", cure="Do this.")) == "line 1: what. Do this."
    assert str(Refusal("what.")) == "what."
    assert str(Misconfigured("what.", cure="Do this.")) == "what. Do this."


def test_over_budget_says_requested_remaining_and_short_by_exactly():
    error = OverBudget(requested=F(1, 2), remaining=F(1, 8))
    assert "requested epsilon 0.5, remaining 0.125, short by 0.375" in str(error)
    assert "Nothing was charged" in error.cure
    assert error.as_json() | {"requested": "1/2", "remaining": "1/8", "short_by": "3/8"} == error.as_json()
    assert error.as_json()["currency"] == "epsilon"
    assert isinstance(error, Refusal)


def test_over_budget_names_the_currency_and_the_way_out_of_it():
    for currency, cure in (("rho", "Ask for a lower price"), ("delta", "one whose keys are listed")):
        error = OverBudget(requested=F(1, 2), remaining=F(1, 8), currency=currency)
        assert f"requested {currency} 0.5, remaining 0.125, short by 0.375" in str(error)
        assert cure in error.cure
        assert error.as_json()["currency"] == currency


@pytest.mark.parametrize("amount", [F(10) ** 300, F(1, 10**900), F(10**900, 3), F(10) ** 5000])
def test_over_budget_finds_words_for_any_amount(amount):
    error = OverBudget(requested=amount, remaining=F(1))
    assert len(str(error)) < 300


def test_a_fault_has_one_sentence_and_no_room_for_another():
    assert str(Fault()) == str(Fault())
    with pytest.raises(TypeError):
        Fault("the value was 7")  # type: ignore[call-arg]
    assert Fault().where == ""


def test_f9_a_notebook_shows_an_error_as_its_own_lines():
    """F9: IPython asks for `_render_traceback_`, and shows those lines in place of a traceback."""
    refused = Refusal("there is no table.", where="line 1, column 18", cure="Did you mean visits?")
    assert refused._render_traceback_() == ["refused: line 1, column 18: there is no table.", "Did you mean visits?"]
    assert Misconfigured("what.")._render_traceback_() == ["set-up: what."]
    assert len(Fault()._render_traceback_()) == 2
