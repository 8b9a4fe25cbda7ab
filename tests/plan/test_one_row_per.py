"""`one_row_per`: what follows in questions from a unit having one row, or one of each combination of values."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest
from clinic import DECLARED, ROWS, clinic, count, curator, exact, planned, refused

from dpcurator.catalog.check import check
from dpcurator.catalog.load import load
from dpcurator.curator.tables import Tables
from dpcurator.plan.canonical import as_json, plan_of
from dpcurator.plan.check_catalog import disagreement
from dpcurator.plan.relation_facts import facts
from dpcurator.plan.relations import one_row
from dpcurator.receipts.verification import verify
from dpcurator.standalone import verify as alone
from receipts import KEY, signed

PEOPLE = {"unit": "pid", "one_row_per": ["pid"], "columns": {
    "pid": "integer", "sex": {"type": "text", "keys": ["f", "m"]}}}
TOLD = copy.deepcopy(DECLARED) | {"people": PEOPLE}
TOLD["diagnoses"]["one_row_per"] = ["code", "patient"]
HELD = ROWS | {"people": [(1, "f"), (2, "m"), (3, None), (7, "m")],
               "diagnoses": [(1, "X", 5), (1, None, 5), (1, "Leeds", 6), (2, "Leeds", 7)]}
MADE = clinic(TOLD)

ASKED = [
    ("SELECT sex, COUNT(*) FROM people GROUP BY sex", {("f",): 1, ("m",): 2}, (1, 1)),
    ("SELECT sex, COUNT(*) FROM visits JOIN people USING (pid) GROUP BY sex", {("f",): 3, ("m",): 2}, (50, 2)),
    ("SELECT COUNT(*) FROM people LEFT JOIN (SELECT pid, COUNT(*) AS n FROM visits GROUP BY pid) AS v USING (pid) "
     "WHERE n IS NULL", {(): 1}, (1, 1)),
    ("SELECT COUNT(*) FROM visits JOIN diagnoses ON pid = patient AND city = code", {(): 3}, (50, 1)),
    ("SELECT sex, COUNT(*) FROM people WHERE pid IN (SELECT patient FROM diagnoses) GROUP BY sex",
     {("f",): 1, ("m",): 1}, (1, 1)),
]


@pytest.mark.parametrize(("text", "wanted", "caps"), ASKED, ids=[text for text, _, _ in ASKED])
def test_its_fact_is_used(text, wanted, caps):
    """Joins on the unit find one row; a person with one row needs no caps, and no reading of how many they cut."""
    assert exact(text, catalog=MADE, rows=HELD) == [wanted]
    plan = planned(text, MADE)
    assert plan_of(as_json(plan)) == plan
    assert disagreement(plan, MADE) is None
    rows = plan.source.source.source
    assert (plan.source.max_rows, plan.source.max_groups) == caps
    assert one_row(rows) == facts(rows, MADE).one_row == alone.one_row(as_json(rows)) == (caps == (1, 1))


@pytest.mark.parametrize(("source", "said"), [
    ("visits JOIN diagnoses ON pid = patient", "a person may have several rows"),
    ("visits JOIN people ON pid = pid", "could be visits.pid or people.pid"),
    ("people JOIN diagnoses ON pid = patient AND sex = diagnoses.day", "people.sex is text"),
])
def test_nothing_more_follows(source, said):
    assert said in refused(f"SELECT COUNT(*) FROM {source}", MADE)


def test_a_value_for_missing_ones_makes_no_two_rows_one():
    """A refresh knows a missing value and what it is read as apart."""
    told = copy.deepcopy(TOLD)
    told["diagnoses"]["columns"]["code"] = {"type": "text", "missing": "none"}
    assert "several rows" in refused("SELECT COUNT(*) FROM visits JOIN diagnoses ON pid = patient AND city = code",
                                     clinic(told))


def test_without_the_refresh_a_join_would_grow():
    """Weakened: the rows are not made one a unit, and the join gives more than the left side has."""
    text = "SELECT COUNT(*) FROM visits JOIN people USING (pid)"
    assert count(text, catalog=MADE, rows=HELD) == 6
    rows = HELD | {"people": [(1, "f"), (1, "m"), (1, None)]}
    assert count(text, catalog=MADE, rows=rows) == 9


def test_both_verifiers_take_the_receipt_and_ask_the_catalog(monkeypatch):
    for name, rows in HELD.items():
        monkeypatch.setitem(ROWS, name, rows)
    made = curator(MADE)
    told = {"curator": {"protects": "people"}, "ledger": {"epsilon": "1000"}, "tables": TOLD}
    answer = made.ask("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", epsilon=1)
    assert "at most one row of people (by pid)" in str(answer.receipt["readings"])
    assert len(answer.receipt["readings"]) == 1
    assert "rows" not in " ".join(answer.notes)
    many = made.ask("SELECT COUNT(*) AS n FROM visits", epsilon=1)
    for receipt, holds in [
        (answer.receipt, True), (many.receipt, True), (_changed(answer.receipt, "people"), False),
        (_changed(many.receipt, "visits", one_row=True), False),
        (_changed(many.receipt, "visits", one_row=False), False),
    ]:
        assert all(step.holds for step in verify(receipt, catalog=MADE).steps) == holds
        catalog = alone.steps(receipt, KEY.public, told)
        assert all(good for _, good, _ in catalog) == holds


def _changed(receipt, table, **fields):
    """Signed again, of a table of which it says something else."""
    receipt = copy.deepcopy(receipt)
    rows = receipt["plan"]["source"]["source"]["source"]
    assert rows["table"] == table
    rows.pop("one_row", None)
    rows |= fields
    words = "at most one row" if fields.get("one_row") else "any number of rows"
    other = "any number of rows" if fields.get("one_row") else "at most one row"
    for claim in receipt["readings"]:
        claim["derivation"] = [line.replace(other, words) for line in claim["derivation"]]
    return signed(receipt)


def test_what_it_means_is_told():
    found = [str(one) for one in check(load({"curator": {"protects": "people"}, "ledger": {"epsilon": 1},
                                             "tables": TOLD}))]
    assert any('keeps one row of "people" for each "pid": the first' in one for one in found)
    assert any('keeps one row of "diagnoses" for each "patient" and "code"' in one for one in found)
    assert not any('Table "people" does not say how many rows' in one for one in found)
    shown = str(Tables(replace(MADE, protects="patients")))
    assert "(each of the patients has one row)" in shown
    assert "(each of the patients has one row for each: code)" in shown
