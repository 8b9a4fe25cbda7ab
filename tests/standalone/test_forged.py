"""Receipts made by hand and signed with the true key, each wrong in one way, with every digest made to agree: what a
curator that lies could issue. Each is told by the verifier that stands alone, where it is that which can be worked out.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import pytest
from alone import wrong

from dpcurator.receipts.verification import verify
from dpcurator.standalone import verify as alone
from dpcurator.values import Json
from receipts import CATALOGS, KEY, curator, json_of, signed

COUNT, CITY = "SELECT COUNT(*) FROM visits", "SELECT city, COUNT(*) AS n FROM visits GROUP BY city"
LEEDS = "SELECT COUNT(*) FROM visits WHERE cost > 5"
WHERE = ("plan", "source", "source", "source", "predicate")
FIELD = {"node": "Field", "index": 3, "kind": "float"}
CORR = "SELECT CORR(cost, age) FROM visits"
ABOVE = {"node": "Compare", "op": "<", "left": FIELD, "right": {"node": "Missing", "kind": "float"}}


@cache
def _true(name: str, question: str) -> Json:
    return json_of(curator(CATALOGS[name]).ask(question, spend="10%").receipt)


def _agreeing(made: Json) -> Json:
    """With every digest as it should be, signed."""
    named = {name: made[name] for name in ("price", "epsilon", "rho", "delta", "confidence", "selection")}
    mechanisms = [{name: part for name, part in one.items() if name != "derivation"} for one in made["readings"]]
    made["plan_sha256"] = alone.digest(made["plan"])
    made["parameters_sha256"] = alone.digest(named | {"mechanisms": mechanisms})
    return signed(made)


def _free(made: Json, **noise: Any) -> None:
    made["readings"][0].update(noise, epsilon="0", rho="0")
    made.update(epsilon="0", rho="0")


def _at(*path: Any, new: Any) -> Callable[[Json], None]:
    def change(made: Any) -> None:
        for name in path[:-1]:
            made = made[name]
        made[path[-1]] = new

    return change


def _both(*path: str) -> Callable[[Json], None]:
    def change(made: Json) -> None:
        made["selection"][path[0]] = made[path[0]] = "5"

    return change


def _reading(what: str, **grid: int) -> Callable[[Json], None]:
    """The reading of this kind on another grid, with the distances that such a grid has."""
    def change(made: Json) -> None:
        one = next(one for one in made["readings"] if one["ask"]["what"] == what)
        before = one["grid"]["upper"] - one["grid"]["lower"]
        one["grid"].update(grid)
        after = one["grid"]["upper"] - one["grid"]["lower"]
        one["unit"] = str(Fraction(2) ** -one["grid"]["exponent"] / 2**16)
        for name, power in (("linf", 1), ("l1", 1), ("l2_squared", 2)):
            one[name] = one[name] * after**power // before**power

    return change


def _of_pair(function: str, *whats: str) -> Callable[[Json], None]:
    """An aggregate of one column that is given two, with the readings that it would have."""
    def change(made: Json) -> None:
        (call,) = made["plan"]["calls"]
        call["function"] = function
        made["readings"] = [one for one in made["readings"] if one["ask"]["what"] in (*whats, "cut", "everyone")]
        for one in made["readings"]:
            if one["ask"]["what"] in whats:
                one["ask"]["column"] = call["column"]

    return change


FORGED: dict[str, tuple[str, str, Callable[[Json], None]]] = {
    "noise of a scale below 0 that costs nothing":
        ("pure", COUNT, lambda made: _free(made, scale={"exact": "-1/1"})),
    "noise of a variance below 0 that costs nothing":
        ("rho", COUNT, lambda made: _free(made, variance={"exact": "-1/1"})),
    "more spent than there is": ("pure", COUNT, lambda made: made["ledger"].update(
        spent="20", remaining={"exact": "-16/1"})),
    "an amount that is spelled as a bound": ("pure", COUNT, _at("confidence", new={"exact": "19/20"})),
    "a bound that is spelled as an amount": ("pure", "SELECT SUM(age) FROM visits", _at(
        "plan", "calls", 0, "column", "lower", new="0")),
    "an output that is a column of the rows": ("pure", CITY, _at("plan", "outputs", 1, "part", new=FIELD)),
    "an output computed of a column of the rows": ("pure", CITY, _at("plan", "outputs", 1, "part", new={
        "node": "Apply", "op": "-", "parts": [{"node": "Result", "index": 0}, FIELD]})),
    "HAVING of the rows": ("pure", CITY, _at("plan", "having", new=ABOVE)),
    "ORDER BY of the rows": ("pure", CITY, _at("plan", "order", new=[
        {"node": "Order", "part": FIELD, "descending": False, "nulls_first": False}])),
    "an output that is no output": ("pure", CITY, _at("plan", "outputs", 1, new=FIELD)),
    "a group that is a noisy number": ("pure", CITY, _at(
        "plan", "source", "source", "columns", 0, "part", new={"node": "Result", "index": 0})),
    "WHERE of a relation": ("pure", CITY, lambda made: made["plan"]["source"]["source"].update(source={
        "node": "Where", "source": made["plan"]["source"]["source"]["source"], "columns": [],
        "predicate": {"node": "Not", "part": made["plan"]["source"]["source"]["source"]}})),
    "WHERE of a value": ("pure", LEEDS, _at(*WHERE, new=FIELD)),
    "WHERE of a number": ("pure", LEEDS, _at(*WHERE, new=7)),
    "WHERE of several conditions": ("pure", LEEDS, _at(*WHERE, new=[ABOVE])),
    "a condition on a condition": ("pure", LEEDS, _at(*WHERE, "left", new=ABOVE)),
    "no condition of a value": ("pure", LEEDS, _at(*WHERE, new={"node": "Not", "part": FIELD})),
    "an aggregate that is not there": ("pure", CITY, _at("plan", "outputs", 1, "part", "index", new=7)),
    "a group that is not there": ("pure", CITY, _at("plan", "outputs", 0, "part", "index", new=-1)),
    "squares within half of what they can be": ("pure", CORR, _reading("square", lower=0, upper=6050)),
    "products within less than they can be": ("pure", CORR, _reading("product", lower=-(2**40), upper=2**40)),
    "a grid coarser than any product has": ("pure", CORR, _reading("product", lower=0, upper=0, exponent=-2101)),
    "products that are read as squares": ("pure", CORR, lambda made: next(
        one for one in made["readings"] if one["ask"]["what"] == "product")["ask"].update(what="square")),
    "a narrower column beside another": ("pure", CORR, _at(
        "plan", "calls", 0, "column", "beside", "upper", new={"exact": "1/1"})),
    "a correlation of one column": ("pure", CORR, lambda made: made["plan"]["calls"][0]["column"].pop("beside")),
    "an average of two columns": ("pure", CORR, _of_pair("AVG", "centred", "present")),
    "a variance of two columns": ("pure", CORR, _of_pair("VAR_POP", "centred", "square", "present")),
    "a place between two events": ("pure", COUNT, _at("ledger", "position", new=2.5)),
    "a selection that is paid in two currencies": ("unknown", CITY, _both("rho")),
    "a selection that is paid in two currencies, in rho": ("unknown, rho", CITY, _both("epsilon")),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_receipt_is_told_by_both_verifiers(name):
    of, question, change = FORGED[name]
    true = _true(of, question)
    assert wrong(_agreeing(copy.deepcopy(true)), key=KEY.public) == set()
    made = copy.deepcopy(true)
    change(made)
    made = _agreeing(made)
    assert wrong(made, key=KEY.public) - {"signature"}
    assert not verify(made, public_key=KEY.public).holds


def test_a_batch_does_not_cost_less_by_a_cost_below_0():
    asked = curator().batch([COUNT, "SELECT AVG(cost) FROM visits"], epsilon=2)
    made = json_of(asked[0].receipt)
    made["batch"]["costs"][1][0] = {"exact": "-9/10"}
    made["ledger"] |= {"spent": "1/10", "remaining": "39/10"}
    assert "place" in wrong(signed(made), key=KEY.public)
    assert not verify(signed(made), public_key=KEY.public).holds


@pytest.mark.parametrize("name", ["request", "analyst", "time", "data_version"])
def test_receipts_of_one_batch_tell_the_same_of_its_charge(name):
    asked = curator().batch([COUNT, "SELECT AVG(cost) FROM visits"], epsilon=2)
    first, second = (json_of(one.receipt) for one in asked)
    assert wrong(second, others=[first]) == set()
    second[name] = 7 if name == "data_version" else f"another {name}"
    assert wrong(signed(second), others=[first]) == {"other receipts"}


def test_what_is_shared_was_paid_before_and_by_the_charge_that_is_named():
    asked = curator()
    first, second, third = (json_of(asked.ask(question, epsilon=1).receipt) for question in (
        COUNT, "SELECT COUNT(*), SUM(cost) FROM visits", "SELECT COUNT(*), AVG(cost) FROM visits"))
    assert wrong(third, others=[first, second]) == set()
    place = {name: second["ledger"][name] for name in ("position", "head")} | {"request": second["request"]}
    made = copy.deepcopy(third)
    made["shared"]["readings"][0] |= place
    assert wrong(signed(made), others=[first, second]) == {"shared"}  # which used it, too, and did not pay it
    made["shared"]["readings"][0] |= {"position": 9, "head": "1" * 64}
    assert wrong(signed(made)) == {"shared"}
    assert not verify(signed(made)).holds


def _declared(made: Json, **facts: Any) -> dict[str, Any]:
    rows = made["plan"]["source"]["source"]["source"]
    columns = {f"c{index}": "text" for index in range(20)}
    columns = {rows["unit"] if index == rows["unit_index"] else name: kind
               for index, (name, kind) in enumerate(columns.items())}
    ledger = {"epsilon": "40", "delta": "0.5"} | facts.pop("ledger", {})
    table = {"unit": rows["unit"], "columns": columns} | facts
    return {"curator": {"protects": made["protects"]}, "ledger": ledger, "tables": {rows["table"]: table}}


def test_no_more_delta_is_charged_than_the_catalog_has_and_no_fewer_units_are_shown():
    made = _true("unknown", CITY)
    assert wrong(made, catalog=_declared(made)) == set()
    assert wrong(made, catalog=_declared(made, ledger={"delta": "0.000001"})) == {"catalog"}
    assert wrong(made, catalog=_declared(made, min_units=10)) == {"catalog"}
    stricter = json_of(curator(CATALOGS["unknown"]).ask(CITY, spend="10%", min_units=12).receipt)
    assert wrong(stricter, catalog=_declared(stricter, min_units="1 0")) == set()


def test_listed_keys_are_declared_and_no_fewer_than_are_declared():
    """Fewer keys move by less together: their number is no word of the receipt alone."""
    made = _true("pure", CITY)
    assert made["plan"]["source"]["source"]["columns"][0]["count"] == 3
    catalog = _declared(made, ledger={"epsilon": 4, "delta": 0})
    columns = catalog["tables"]["visits"]["columns"]
    names = {"type": "text", "keys": ["Hull", "Leeds", "York", "York"]}
    for column, holds in ((names, True), (names | {"keys": {"table": "cities", "column": "name"}}, True),
                          (names | {"keys_include_missing": True}, False), (names | {"keys": [*"abcd"]}, False),
                          (names | {"keys": "unknown"}, False), ({"type": "text"}, False), ("text", False)):
        columns["c1"] = column
        assert wrong(made, catalog=catalog) == (set() if holds else {"catalog"}), column


def test_a_row_that_is_a_unit_is_over_no_cap():
    asked = curator(replace(CATALOGS["pure"]), cut=True)
    printed = asked.ask("SELECT SUM(x) FROM rows WHERE x > 0", spend="10%").as_json()
    assert printed["cut"]["reason"] == "have a value outside its bounds"
    assert wrong(json_of(printed["receipt"]), printed=json_of(printed)) == set()
    printed["cut"]["reason"] = "are over a cap or have a value outside its bounds"
    core = {name: printed[name] for name in (*alone.CORE, "cut")}
    printed["receipt"] = signed(printed["receipt"] | {"answer_sha256": alone.digest(core)})
    assert wrong(json_of(printed["receipt"]), printed=json_of(printed)) == {"answer"}
