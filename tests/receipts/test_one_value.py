"""Receipts of questions grouped by columns with one value a unit: what both verifiers find of the fact."""

from __future__ import annotations

import copy
from dataclasses import replace
from fractions import Fraction

import pytest
from alone import receipt_of, wrong
from questions import VISITS, catalog_with, with_column

from dpcurator.aggregates import AGGREGATES
from dpcurator.fronts.sql import parse
from dpcurator.plan.bind import bind
from dpcurator.plan.canonical import digest, plan_of
from dpcurator.pricing.quote import price
from dpcurator.receipts.verification import verify
from receipts import json_of, signed

COLUMNS = with_column(with_column(VISITS, "city", per_unit=True), "smoker", per_unit=True)
CATALOG = replace(catalog_with(COLUMNS), digest="d" * 64)
UNKNOWN = replace(catalog_with(with_column(COLUMNS, "city", keys=None, unknown_keys=True)), delta=Fraction(1, 10**3),
                  salt="0" * 32, digest="d" * 64)
PLAIN = catalog_with(VISITS)
ASKED = [
    ("city", 1), ("city, smoker", 1), ("city, day", 2), ("city, ward", 3), ("UPPER(city), ward > 1", 3),
    ("CASE WHEN smoker THEN city ELSE 'none' END", 1), ("CASE WHEN ward = 1 THEN city ELSE 'none' END", None),
]
TOML = {
    "curator": {"protects": "people"}, "ledger": {"epsilon": 4},
    "tables": {"visits": {"unit": "patient", "columns": {one.name: {"type": one.type} for one in VISITS.columns}}},
}


def declared(*names):
    made = copy.deepcopy(TOML)
    made["tables"]["visits"]["columns"]["city"]["keys"] = ["Hull", "Leeds", "York"]
    for name in names:
        made["tables"]["visits"]["columns"][name]["per_unit"] = 1
    return made


def asked(by, catalog=CATALOG):
    """A receipt; the catalog has caps of 4 rows and 9 groups."""
    wide = replace(catalog, tables=(replace(catalog.tables[0], max_groups=9),))
    plan = bind(parse(f"SELECT COUNT(*) FROM visits GROUP BY {by}"), wide, AGGREGATES)
    return json_of(receipt_of(price(plan, Fraction(1), wide))), wide


@pytest.mark.parametrize(("by", "groups"), ASKED)
def test_how_many_groups_a_unit_can_be_in(by, groups):
    receipt, catalog = asked(by)
    assert receipt["plan"]["source"]["max_groups"] == (9 if groups is None else groups)
    assert wrong(receipt) == set()
    found = verify(receipt, catalog=catalog)
    assert [step for step in found.steps if not step.holds] == []
    plan = plan_of(receipt["plan"])
    assert digest(plan) == receipt["plan_sha256"]
    assert plan.source.source.spread == groups


def test_with_unknown_keys_a_unit_votes_for_one_and_no_total_is_needed():
    receipt, catalog = asked("city", UNKNOWN)
    assert receipt["plan"]["source"]["max_groups"] == 1
    assert wrong(receipt) == set()
    assert verify(receipt, catalog=catalog).holds
    rows = replace(UNKNOWN, tables=(replace(COLUMNS, columns=UNKNOWN.tables[0].columns, max_groups=None),))
    plan = bind(parse("SELECT city, COUNT(*) FROM visits GROUP BY city"), rows, AGGREGATES)  # max_rows alone
    assert (plan.source.max_rows, plan.source.max_groups, plan.source.max_total) == (4, 1, None)


def test_only_a_catalog_that_declares_it_agrees():
    receipt, _ = asked("city, smoker")
    assert "catalog" in {step.name for step in verify(receipt, catalog=PLAIN).steps if not step.holds}
    assert wrong(receipt, catalog=declared("city", "smoker")) == set()
    assert wrong(receipt, catalog=declared("city")) == {"catalog"}
    assert wrong(receipt, catalog=declared()) == {"catalog"}
    expression, _ = asked("CASE WHEN smoker THEN city ELSE 'none' END")
    assert wrong(expression, catalog=declared("city", "smoker")) == set()
    assert wrong(expression, catalog=declared("city")) == {"catalog"}


@pytest.mark.parametrize("change", [
    lambda plan: plan["source"].update(max_groups=2),  # more groups than the columns allow
    lambda plan: plan["source"]["source"]["columns"][0].update(per_unit=False),  # a second spelling
    lambda plan: plan["source"]["source"]["columns"][0].update(per_unit=1),
    lambda plan: plan["source"]["source"]["columns"][0].update(per_unit=None),
    lambda plan: plan["source"].update(per_unit=True),
])
def test_a_plan_that_contradicts_itself_is_found_by_both(change):
    receipt, _ = asked("city")
    change(receipt["plan"])
    from dpcurator.standalone.verify import digest as alone_digest

    lie = signed(receipt | {"plan_sha256": alone_digest(receipt["plan"])})
    assert wrong(lie)
    assert not verify(lie).holds


def test_a_plan_that_says_less_than_the_catalog_is_one_of_the_catalogs():
    """Receipts made before a column was declared so rest on nothing that has changed."""
    receipt, _ = asked("city", PLAIN)
    assert "per_unit" not in receipt["plan"]["source"]["source"]["columns"][0]
    later = replace(CATALOG, data_version=2)
    assert verify(receipt, catalog=later).holds
    assert wrong(receipt, catalog=declared("city")) == set()
