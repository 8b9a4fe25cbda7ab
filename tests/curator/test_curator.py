"""The curator's flow: what a question costs, what repeats, what is refused, what may change in between (design 2)."""

from __future__ import annotations

import inspect
import json
import os
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from house import COUNT, ROWS, catalog, frame, opened, steady

import dpcurator as dp
from dpcurator.mechanisms import DiscreteLaplace
from dpcurator.plan.nodes import Apply, Given, Output, Result
from dpcurator.plan.reading import Reading
from dpcurator.pricing.bars import expected_rows

BY_CITY = "SELECT city, COUNT(*) AS n, AVG(age) AS a FROM visits GROUP BY city"


@pytest.fixture
def curator(tmp_path: Path) -> dp.Curator:
    return opened(tmp_path / "c")


# --- answers ----------------------------------------------------------------------------------------------------------


def test_with_next_to_no_noise_the_answers_are_the_tables(tmp_path):
    """Worked by hand on five rows: p1 has three in Leeds (scaled to two), p2 one in York, and one row has no unit."""
    rows = [("p1", "Leeds", 10, 1.0, True, "2024-02-29", 0.0), ("p1", "Leeds", 20, 2.0, True, "2024-02-29", 1.5),
            ("p1", "Leeds", 60, 3.0, False, None, None), ("p2", "York", 200, None, None, None, -0.0),
            (None, "York", 50, 1.0, True, "2024-02-29", 0.0)]
    curator = opened(tmp_path / "c", rows, epsilon=10**9)
    answer = curator.ask(
        "SELECT city, COUNT(*), COUNT(gain), SUM(age), COUNT(DISTINCT who) FROM visits GROUP BY city",
        epsilon=10**8,
    )
    assert answer.rows == [("Hull", 0, 0, 0, 0), ("Leeds", 2, 2, 60, 1), ("York", 1, 0, 100, 1)]
    average = curator.ask("SELECT AVG(age), AVG(gain) FROM visits WHERE city = 'Leeds'", epsilon=10**8).rows[0]
    assert average == pytest.approx((30, (1 + 2 + 2.5) / 3), abs=1e-3)
    dose = curator.ask("SELECT dose, COUNT(*) FROM visits GROUP BY dose", epsilon=10**8).rows
    assert [value for value, _ in dose] == [None, 0.0, 1.5]


def test_an_answer_says_what_it_cost_and_what_is_left(curator):
    answer = curator.ask(BY_CITY, epsilon="0.5")
    assert (answer.cost, answer.spent, answer.remaining) == (Fraction(1, 2), Fraction(1, 2), Fraction(19, 2))
    assert answer.columns == ("city", "n", "a")
    assert curator.verify(answer.receipt).holds


@pytest.mark.parametrize(
    ("price", "epsilon"),
    [({"epsilon": 0.2}, "1/5"), ({"epsilon": "0.2"}, "1/5"), ({"epsilon": "1/5"}, "1/5"), ({"spend": "2%"}, "1/5"),
     ({"spend": " 2 % "}, "1/5"), ({"spend": "0.5%"}, "1/20"), ({"epsilon": 3}, "3")],
)
def test_a_price_is_read_exactly(curator, price, epsilon):
    assert curator.quote(COUNT, **price).epsilon == Fraction(epsilon)


@pytest.mark.parametrize(
    "price",
    [{}, {"epsilon": 1, "spend": "5%"}, {"epsilon": 0, "spend": "5%"}, {"epsilon": 0}, {"epsilon": -1},
     {"epsilon": "x"}, {"epsilon": True}, {"epsilon": float("nan")}, {"epsilon": float("inf")}, {"epsilon": [1]},
     {"epsilon": []},
     {"spend": 5}, {"spend": "5"}, {"spend": "101%"}, {"spend": "0%"}, {"spend": "-1%"}, {"within": {}}, {"within": 5},
     {"within": "n=5"}, {"within": {1: 2}}, {"within": {"n": 0}}, {"within": {"m": 5}}, {"within": {"n": "x"}},
     {"epsilon": 1, "confidence": 0}, {"epsilon": 1, "confidence": 1}, {"epsilon": 1, "confidence": "x"},
     {"epsilon": "1e9999"}, {"epsilon": "1e-9999"}, {"epsilon": "1e-400"}],
)
def test_what_is_no_price_is_refused_and_costs_nothing(curator, price):
    with pytest.raises(dp.Refusal):
        curator.ask(COUNT, **price)
    assert curator.budget().spent == 0
    assert curator.ledger.life() == "new"


def test_a_wanted_error_is_met(curator):
    quote = curator.quote(COUNT, within={"n": 12})
    answer = curator.answer(quote)
    assert max(error or 0 for error in answer.error("n")) <= 12


def test_the_same_question_is_free_and_fresh_noise_is_not(curator):
    first = curator.ask("SELECT SUM(gain) AS s FROM visits", epsilon="0.1")
    again = curator.ask("SELECT SUM(gain) AS s FROM visits", epsilon="0.1")
    fresh = curator.ask("SELECT SUM(gain) AS s FROM visits", epsilon="0.1", fresh=True)
    assert (first.repeated, again.repeated, fresh.repeated) == (False, True, False)
    assert again.cells == first.cells
    assert again.receipt == first.receipt
    assert fresh.cells != first.cells
    assert curator.budget().spent == Fraction(2, 10)


def test_a_higher_price_is_another_question_and_another_confidence_costs_nothing(curator):
    for how in ({"epsilon": "0.1"}, {"epsilon": "0.2"}):
        assert not curator.ask(COUNT, **how).repeated
    wide, narrow = (curator.ask(COUNT, epsilon="0.2", confidence=level) for level in ("0.99", "0.8"))
    assert wide.cells[0][0].value == narrow.cells[0][0].value
    assert wide.cells[0][0].error > narrow.cells[0][0].error
    assert wide.paid_before
    assert not wide.public
    assert "made of numbers that were paid for before" in str(wide)
    assert curator.budget().spent == Fraction(3, 10)


def test_a_public_answer_reads_nothing_and_costs_nothing(curator):
    poisoned = replace(curator, engine=lambda: pytest.fail("the data was opened"))
    answer = poisoned.ask("SELECT city, 1 + 1 AS two FROM visits GROUP BY city", epsilon=1)
    assert answer.rows == [("Hull", 2), ("Leeds", 2), ("York", 2)]
    assert answer.public
    assert poisoned.budget().spent == 0


@pytest.mark.parametrize(
    ("promise", "hint", "units"),
    [({}, None, None), ({}, 600, 600), ({"neighbours": "replace-one", "units": 90}, None, 90),
     ({"neighbours": "replace-one", "units": 90}, 600, 90)],
)
def test_a_menu_speaks_of_groups_of_a_row_for_each_public_or_expected_unit(curator, promise, hint, units):
    tables = tuple(replace(table, expected_units=hint) for table in curator.catalog.tables)
    curator.catalog = replace(curator.catalog, tables=tables, **promise)
    keys = len(curator.quote(BY_CITY, epsilon=1).lowered.keys)
    assert expected_rows(curator.plan(BY_CITY), curator.catalog) == (10_000 if units is None else units // keys)


def test_quote_menu_and_plan_read_no_data(curator):
    poisoned = replace(curator, engine=lambda: pytest.fail("the data was opened"))
    poisoned.quote(BY_CITY, epsilon=1)
    assert "spend" in str(poisoned.menu(BY_CITY))
    poisoned.plan(BY_CITY)
    with pytest.raises(dp.Refusal):
        poisoned.ask("SELECT who FROM visits", epsilon=1)
    with pytest.raises(dp.Refusal):
        poisoned.ask(BY_CITY)


def test_a_snapshot_that_is_gone_is_found_out_before_the_charge(tmp_path):
    opened(tmp_path / "c").ledger.close()
    curator = dp.open(catalog(), directory=tmp_path / "c")
    for path in (tmp_path / "c" / ".dpcurator").glob("snapshot-*"):
        path.unlink()
    with pytest.raises(dp.Misconfigured):
        curator.ask(COUNT, epsilon=1)
    assert curator.budget().spent == 0


# --- quotes from elsewhere --------------------------------------------------------------------------------------------


def forged(quote: Any) -> dict[str, Any]:
    """Quotes that ask for more than they pay for, each made by hand from an honest one."""
    (one,) = quote.priced
    plan, bounded = quote.plan, quote.plan.source
    small = Reading(1, 1, 1, 1, one.reading.unit)
    (call,) = plan.calls
    return {
        "a smaller noise": replace(quote, priced=(replace(one, mechanism=DiscreteLaplace(Fraction(1, 100))),)),
        "a smaller sensitivity": replace(quote, priced=(replace(one, reading=small),)),
        "a smaller price": replace(quote, epsilon=quote.epsilon / 1000),
        "a smaller price all over": replace(
            quote, epsilon=quote.epsilon / 1000, priced=(replace(one, epsilon=one.epsilon / 1000),)
        ),
        "no price": replace(quote, priced=(), epsilon=Fraction(0)),
        "no readings": replace(quote, priced=()),
        "no scaling": replace(
            quote, lowered=replace(quote.lowered, core=tuple(
                replace(step, max_rows=10**6) if type(step).__name__ == "ScaleDown" else step
                for step in quote.lowered.core)),
        ),
        "another owner": replace(
            quote, lowered=replace(quote.lowered, core=tuple(
                replace(step, column=None) if type(step).__name__ == "Owner" else step for step in quote.lowered.core)),
        ),
        "a doubled combination": replace(
            quote, lowered=replace(quote.lowered, combinations=tuple(
                replace(c, terms=tuple((i, 2 * w) for i, w in c.terms)) for c in quote.lowered.combinations)),
        ),
        "larger caps in the plan": replace(quote, plan=replace(plan, source=replace(bounded, max_rows=100))),
        "smaller caps in the plan": replace(quote, plan=replace(plan, source=replace(bounded, max_rows=1))),
        "narrower bounds in the plan": replace(
            quote, plan=replace(plan, calls=(replace(call, column=replace(call.column, upper=Fraction(1))),))
        ),
        "no unit": replace(quote, plan=replace(plan, source=replace(bounded, source=replace(
            bounded.source, source=replace(bounded.source.source, unit=None, unit_index=None))))),
        "an output that is not there": replace(
            quote, plan=replace(plan, outputs=(Output("x", Result(7), "whole"),))),
        "an output that cannot be": replace(
            quote, plan=replace(plan, outputs=(Output("x", Apply("+", (Given("a"), Result(0))), "whole"),
                                               Output("y", Apply("EVAL", (Given("a"),)), "number")))),
        "no plan": replace(quote, plan=None),
        "a delta": replace(quote, delta=Fraction(1, 2)),
        "a confidence of nonsense": replace(quote, confidence=Fraction(2)),
    }


HONEST = "SELECT SUM(age) AS s FROM visits"


FORGERIES = (
    "a smaller noise", "a smaller sensitivity", "a smaller price", "a smaller price all over", "no price",
    "no readings", "no scaling", "another owner", "a doubled combination", "larger caps in the plan",
    "smaller caps in the plan", "narrower bounds in the plan", "no unit", "an output that is not there",
    "an output that cannot be", "no plan", "a delta", "a confidence of nonsense",
)


@pytest.mark.parametrize("how", FORGERIES)
def test_a_quote_made_by_hand_is_refused(curator, how):
    quote = curator.quote(HONEST, epsilon=1)
    made = forged(quote)
    assert set(made) >= {how}
    with pytest.raises(dp.Refusal):
        curator.answer(made[how])
    assert curator.budget().spent == 0
    assert curator.ledger.life() == "new"
    assert curator.answer(quote).spent == 1


def test_every_forgery_is_tried(curator):
    assert set(FORGERIES) == set(forged(curator.quote(HONEST, epsilon=1)))


def test_a_quote_of_another_version_or_catalog_is_refused(tmp_path):
    old = opened(tmp_path / "c")
    quote = old.quote(COUNT, epsilon=1)
    new = opened(tmp_path / "c")
    with pytest.raises(dp.Refusal, match="new quote"):
        new.answer(quote)
    elsewhere = opened(tmp_path / "d", max_rows=50).quote(COUNT, epsilon=1)
    with pytest.raises(dp.Refusal, match="new quote"):
        new.answer(elsewhere)
    assert new.budget().spent == 0


def test_a_quote_can_be_answered_by_any_curator_of_the_same_catalog(tmp_path):
    quote = opened(tmp_path / "c").quote(BY_CITY, epsilon=1)
    again = dp.open(catalog(), directory=tmp_path / "c")
    assert again.answer(quote).rows == again.ask(BY_CITY, epsilon=1).rows
    assert again.budget().spent == 1


# --- request ids ------------------------------------------------------------------------------------------------------


def test_a_request_id_makes_a_retry_the_same_request(curator):
    first = curator.ask(COUNT, epsilon=1, fresh=True, request_id="a")
    assert curator.ask(COUNT, epsilon=1, fresh=True, request_id="a").rows == first.rows
    assert curator.budget().spent == 1
    curator.ask(COUNT, epsilon=1, fresh=True, request_id="b")
    assert curator.budget().spent == 2


@pytest.mark.parametrize(
    "other",
    [{"question": "SELECT COUNT(*) AS m FROM visits"}, {"epsilon": 2}, {"confidence": "0.9"}, {"analyst": "eve"}],
)
def test_a_request_id_is_bound_to_everything_else(curator, other):
    curator.ask(COUNT, epsilon=1, request_id="a", analyst="ada")
    asked = {"question": COUNT, "epsilon": 1, "request_id": "a", "analyst": "ada"} | other
    with pytest.raises(dp.Refusal, match="belongs"):
        curator.ask(asked.pop("question"), **asked)
    assert curator.budget().spent == 1


def test_a_request_id_is_bound_to_the_data_version(tmp_path):
    opened(tmp_path / "c").ask(COUNT, epsilon=1, request_id="a")
    with pytest.raises(dp.Refusal, match="belongs"):
        opened(tmp_path / "c").ask(COUNT, epsilon=1, request_id="a")


@pytest.mark.parametrize("bad", ["", " ", "a b", "é", "x" * 129, "\n", "../a", "-a", 5, b"a", "0" * 64, "a\u0000"])
def test_a_malformed_request_id_is_refused(curator, bad):
    with pytest.raises(dp.Refusal):
        curator.ask(COUNT, epsilon=1, request_id=bad)
    assert curator.budget().spent == 0


# --- what changes between questions -----------------------------------------------------------------------------------


def test_a_refresh_makes_a_new_version_and_leaves_open_curators_alone(tmp_path):
    old = opened(tmp_path / "c", epsilon=10**9)
    old.engine()
    new = opened(tmp_path / "c", ROWS[:2], epsilon=10**9)
    assert (old.catalog.data_version, new.catalog.data_version) == (1, 2)
    assert old.ask(COUNT, epsilon=10**6).rows == [(40,)]
    assert new.ask(COUNT, epsilon=10**6).rows == [(2,)]
    assert new.budget().spent == 2 * 10**6


def test_a_refresh_before_the_first_question_does_not_mix_versions(tmp_path):
    old = opened(tmp_path / "c", epsilon=10**9)  # its snapshot is opened by the first question
    opened(tmp_path / "c", ROWS[:2], epsilon=10**9)
    answer = old.ask(COUNT, epsilon=10**6)
    assert answer.rows == [(40,)]
    assert (answer.receipt or {})["data_version"] == 1
    opened(tmp_path / "c", [], epsilon=10**9)
    third = dp.open(catalog(epsilon=10**9), directory=tmp_path / "c")
    assert third.catalog.data_version == 3
    assert third.ask(COUNT, epsilon=10**6).rows == [(0,)]


def test_a_frame_changed_after_open_changes_nothing(tmp_path):
    import pandas as pd

    table = pd.DataFrame(frame(ROWS))
    table["age"] = 1
    curator = dp.open(catalog(epsilon=10**9), directory=tmp_path, visits=table)
    table["age"] = 100
    table.loc[0, "who"] = None
    assert curator.ask("SELECT SUM(age), COUNT(*) FROM visits", epsilon=10**6).rows == [(40, 40)]


@pytest.mark.parametrize(
    ("changed", "words"),
    [({"epsilon": 11}, "epsilon"), ({"epsilon": 9}, "epsilon"), ({"delta": "1e-9"}, "delta"),
     ({"protects": "visits"}, "protected"), ({"unit": "city"}, "whose"),
     ({"unit": "each row", "max_rows": None, "max_groups": None}, "whose")],
)
def test_what_the_first_question_fixed_cannot_be_edited(tmp_path, changed, words):
    curator = opened(tmp_path / "c")
    opened(tmp_path / "c", **changed)  # before the first question it can
    curator.ask(COUNT, epsilon=1)
    with pytest.raises(dp.Misconfigured, match=words):
        opened(tmp_path / "c", **changed)
    assert curator.budget().spent == 1


def test_a_table_under_another_name_is_no_way_to_another_unit(tmp_path):
    curator = opened(tmp_path / "c")
    curator.ask(COUNT, epsilon=1)
    renamed = catalog(unit="each row", max_rows=None, max_groups=None)
    renamed["tables"]["trips"] = renamed["tables"].pop("visits")
    with pytest.raises(dp.Misconfigured, match="whose"):
        dp.open(renamed, directory=tmp_path / "c", trips=frame(ROWS))


def test_a_second_table_of_the_same_people_may_be_added(tmp_path):
    opened(tmp_path / "c").ask(COUNT, epsilon=1)
    more = catalog()
    more["tables"]["bills"] = {"unit": "payer", "max_rows": 3, "columns": {"payer": "text"}}
    both = dp.open(more, directory=tmp_path / "c", visits=frame(ROWS), bills={"payer": ["p1", "p2"]})
    assert both.ask("SELECT COUNT(*) FROM bills", epsilon=1).spent == 2


def test_neighbours_of_another_kind_are_misconfigured(tmp_path):
    with pytest.raises(dp.Misconfigured):
        opened(tmp_path / "c", neighbours="replace-one")


@pytest.mark.parametrize(
    "changed",
    [{"columns": {"age": {"type": "integer", "bounds": [0, 50]}}}, {"max_rows": 3}, {"max_groups": 2},
     {"columns": {"city": {"type": "text", "keys": ["Leeds"]}}},
     {"columns": {"age": {"type": "integer", "bounds": [0, 100], "missing": 0}}}],
)
def test_an_edited_public_fact_makes_a_new_question(tmp_path, changed):
    old = opened(tmp_path / "c")
    old.ask("SELECT SUM(age) FROM visits", epsilon=1)
    new = opened(tmp_path / "c", **changed)
    assert new.catalog.digest != old.catalog.digest
    assert not new.ask("SELECT SUM(age) FROM visits", epsilon=1).repeated
    assert new.budget().spent == 2


# --- names ------------------------------------------------------------------------------------------------------------


def test_names_that_look_alike_are_not_each_other(tmp_path):
    """One é is a letter, the other an e and an accent: two columns, and two keys."""
    composed, decomposed = "caf\u00e9", "cafe\u0301"
    columns = {composed: {"type": "integer", "bounds": [0, 10]}, decomposed: "integer", "who": "text"}
    told = catalog(epsilon=10**9)
    told["tables"]["visits"] |= {"columns": columns}
    rows = {"who": ["a", "b"], composed: [3, 4], decomposed: [1000, 1000]}
    curator = dp.open(told, directory=tmp_path, visits=rows)
    assert curator.ask(f'SELECT SUM("{composed}") FROM visits', epsilon=10**6).rows == [(7,)]
    with pytest.raises(dp.Refusal, match="bounds"):
        curator.ask(f'SELECT SUM("{decomposed}") FROM visits', epsilon=10**6)


def test_a_name_that_fits_two_columns_is_refused(tmp_path):
    told = catalog()
    told["tables"]["visits"] |= {"columns": {"who": "text", "Age": {"type": "integer", "bounds": [0, 1]},
                                             "age": {"type": "integer", "bounds": [0, 9]}}}
    curator = dp.open(told, directory=tmp_path, visits={"who": ["a"], "Age": [1], "age": [9]})
    with pytest.raises(dp.Refusal, match="could be"):
        curator.ask("SELECT SUM(AGE) FROM visits", epsilon=1)
    assert curator.quote('SELECT SUM("Age") FROM visits', epsilon=1).plan.calls[0].column.upper == 1


def test_units_are_compared_byte_by_byte(tmp_path):
    """Upper and lower case, composed and decomposed, with and without a space: five people."""
    people = ["ann", "Ann", "ann ", "\u00e9", "e\u0301"]
    rows = [(name, "Leeds", 1, 0.0, True, None, 0.0) for name in people for _ in range(3)]
    curator = opened(tmp_path / "c", rows, epsilon=10**9)
    assert curator.ask("SELECT COUNT(DISTINCT who), COUNT(*) FROM visits", epsilon=10**6).rows == [(5, 10)]


# --- size and processes -----------------------------------------------------------------------------------------------


def test_too_many_keys_are_refused_from_the_plan(tmp_path):
    numbers = {"type": "integer", "keys": list(range(1200))}
    curator = _with_two_wide_keys(tmp_path, numbers)
    with pytest.raises(dp.Refusal, match="limit"):
        curator.ask("SELECT age, other, COUNT(*) FROM visits GROUP BY age, other", epsilon=1)
    answer = curator.ask("SELECT age, COUNT(*) FROM visits GROUP BY age", epsilon=1)
    assert len(answer.rows) == 1200


def _with_two_wide_keys(place: Path, numbers: dict[str, Any]) -> dp.Curator:
    told = catalog()
    told["tables"]["visits"] |= {"columns": {"who": "text", "age": numbers, "other": numbers}}
    return dp.open(told, directory=place, visits={"who": ["a"], "age": [1], "other": [2]})


def test_a_forked_child_opens_its_own_engine_after_the_first_question(curator):
    curator.ask(COUNT, epsilon=1)
    reading, writing = os.pipe()
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        child = os.fork()
    if child == 0:
        try:
            said = curator.ask("SELECT COUNT(age) FROM visits", epsilon=1).spent
        except BaseException as error:
            said = repr(error)
        os.write(writing, str(said).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        assert pipe.read() == "2"
    os.waitpid(child, 0)
    assert curator.ask("SELECT SUM(age) FROM visits", epsilon=1).spent == 3


def test_the_curator_shows_no_secret_of_its_own(curator):
    pem = Path(curator.ledger._store.place).with_name("signing.key").read_text()
    for line in pem.splitlines()[1:-1]:
        assert line not in repr(curator)
    assert "ptr" not in repr(curator.key)


def test_the_flow_is_the_one_that_is_written(curator):
    """In the source of the paid path: engine, then charge, then evaluation, then storing, then showing."""
    from dpcurator.curator.curator import Curator

    source = inspect.getsource(Curator._settled)
    steps = ["self.engine()", "self.ledger.charge(", "self._evaluate(", "self.ledger.answer(", "return stored,"]
    places = [source.index(step) for step in steps]
    assert places == sorted(places)


def test_a_steady_curator_draws_the_same_noise(tmp_path):
    """The control of what laws and attacks compare: only house.steady, in tests, fixes noise."""
    shown = [steady(opened(tmp_path / name)).ask(BY_CITY, epsilon=1).rows for name in ("a", "b")]
    assert shown[0] == shown[1]
    assert json.dumps(shown)
