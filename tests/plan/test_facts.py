"""Which edits of a catalog make a question a new one: those of facts that it uses, and no other (D3)."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from questions import CATALOG, VISITS, catalog_with, planned, with_column

from dpcurator.aggregates import AGGREGATES
from dpcurator.catalog.bind import catalog_of
from dpcurator.catalog.load import load
from dpcurator.catalog.model import Column, Table
from dpcurator.curator.curator import Curator
from dpcurator.engines.reference import Reference
from dpcurator.fronts.sql import parse
from dpcurator.plan.bind import bind
from dpcurator.plan.facts import facts_of
from dpcurator.plan.identity import reading_name
from dpcurator.pricing.resolve import resolve
from dpcurator.receipts.verification import verify
from dpcurator.standalone.verify import steps
from receipts import CATALOGS, KEY, TABLES, json_of, signed
from receipts import curator as curator_of

F = Fraction
QUESTION = "SELECT city, SUM(age) AS s FROM visits WHERE NOT smoker GROUP BY city"
PURE = CATALOGS["pure"]


def edited(**changes):
    """The catalog with columns of visits changed: {column: {field: value}}; or fields of the table, or of all."""
    table = VISITS
    for name, fields in changes.items():
        table = with_column(table, name, **fields) if isinstance(fields, dict) else replace(table, **{name: fields})
    return replace(PURE, tables=(table, *PURE.tables[1:]), digest="d" * 64)


USED = [
    edited(age={"upper": F(50)}), edited(city={"keys": ("Hull", "Leeds")}), edited(age={"missing": 0}),
    edited(smoker={"missing": 1}), edited(city={"max_length": 4}), edited(patient={"max_length": 4}),
    edited(max_rows=3), edited(max_groups=1), edited(max_total=3), replace(PURE, data_version=2),
    replace(PURE, neighbours="replace-one", units=40), replace(PURE, protects="doctors"),
]
UNUSED = [
    edited(cost={"upper": F(1)}), edited(cost={"missing": 0.0}), edited(note={"keys": ("a",)}),
    edited(expected_units=9),
    edited(ward={"keys": None, "unknown_keys": True}), edited(smoker={"keys": None}), edited(day={"keys": None}),
    edited(note={"max_length": 7}), replace(PURE, tables=(*PURE.tables, Table("more", (Column("a", "text"),), None))),
    replace(PURE, tables=(PURE.tables[0], catalog_with(replace(PURE.tables[1], columns=())).tables[0])),
    replace(PURE, salt="1" * 32),
]


def under(catalog, first):
    """A curator over the same ledger and rows, whose catalog was edited."""
    return Curator(catalog, first.ledger, KEY, lambda: Reference(TABLES))


def identity(catalog):
    """What a request is bound to, of the catalog."""
    plan = bind(parse(QUESTION), catalog, AGGREGATES)
    made = Curator.request(_Bare(catalog), _Quoted(plan))
    return made.plan, made.catalog, made.data_version


class _Bare:
    def __init__(self, catalog):
        self.catalog = catalog


class _Quoted:
    epsilon = rho = delta = F(0)

    def __init__(self, plan):
        from dpcurator.plan.canonical import digest

        self.plan, self.plan_digest = plan, digest(plan)

    def parameters(self):
        return {}


@pytest.mark.parametrize("catalog", USED)
def test_an_edit_of_a_fact_that_the_question_uses_makes_it_new(catalog):
    assert identity(catalog) != identity(PURE)


@pytest.mark.parametrize("catalog", UNUSED)
def test_d3_an_edit_elsewhere_leaves_the_question_paid(catalog):
    assert identity(catalog) == identity(PURE)
    first = curator_of(PURE)
    paid = first.ask(QUESTION, epsilon=1)
    again = under(catalog, first).ask(QUESTION, epsilon=1)
    assert again.repeated
    assert again.cells == paid.cells
    assert first.budget().spent == 1


def test_d3_a_batch_stays_paid_too_and_its_receipts_verify_under_both_catalogs():
    first = curator_of(PURE)
    asked = [QUESTION, "SELECT COUNT(*) FROM visits", "SELECT AVG(cost) FROM visits"]
    paid = first.batch(asked, epsilon=1)
    assert not any(answer.repeated for answer in paid)
    second = under(edited(note={"keys": ("a",)}), first)
    assert all(answer.repeated for answer in second.batch(asked, epsilon=1))
    for answer in paid:
        for catalog in (first.catalog, second.catalog):
            found = verify(json_of(answer.receipt), catalog=catalog, ledger=first.ledger, answer=answer.core_json())
            assert [step for step in found.steps if not step.holds] == []
    third = under(edited(cost={"upper": F(1)}), first)  # the last one's bounds: it alone is charged again
    assert [answer.repeated for answer in third.batch(asked, epsilon=1)] == [True, True, False]
    assert 1 < first.budget().spent < 2


def test_a_receipt_under_edited_facts_does_not_hold_and_one_bound_to_the_whole_catalog_does():
    first = curator_of(PURE)
    receipt = json_of(first.ask(QUESTION, epsilon=1).receipt)
    assert receipt["catalog_sha256"] == facts_of(first.quote(QUESTION, epsilon=1).plan, PURE)
    assert verify(receipt, catalog=edited(note={"keys": ("a",)})).holds
    assert not verify(receipt, catalog=edited(smoker={"missing": 1})).holds
    assert verify(signed(receipt | {"catalog_sha256": PURE.digest}), catalog=PURE).holds  # as earlier versions wrote
    assert not verify(signed(receipt | {"catalog_sha256": "e" * 64}), catalog=PURE).holds


def test_the_facts_of_a_batch_are_checked_by_both_verifiers():
    first = curator_of(PURE)
    receipt = json_of(first.batch([QUESTION, "SELECT COUNT(*) FROM visits"], epsilon=1)[1].receipt)
    assert verify(receipt).holds
    own = receipt["batch"]["facts"][1]
    for facts in ([own, "e" * 64], [own], ["e" * 64], ["E" * 64, own], [None, own]):
        lie = signed(receipt | {"batch": receipt["batch"] | {"facts": facts}})
        assert not verify(lie).holds, facts
        assert [name for name, holds, _ in steps(lie) if not holds] == ["place"], facts
    other = signed(receipt | {"batch": receipt["batch"] | {"facts": ["e" * 64, own]}})
    assert not verify(other, ledger=first.ledger).holds  # the ledger holds what the batch was bound to


def test_unknown_keys_are_chosen_by_the_salt_so_it_is_a_fact_of_theirs_alone():
    unknown = CATALOGS["unknown"]
    plan = bind(parse("SELECT city, COUNT(*) FROM visits GROUP BY city"), unknown, AGGREGATES)
    assert facts_of(plan, unknown) != facts_of(plan, replace(unknown, salt="1" * 32))


THROUGH = {
    "parts": {"unit": {"through": "items", "on": "item"}, "max_total": 9, "columns": {"item": "integer"}},
    "items": {"unit": {"through": "orders", "on": "order_id", "key": "id"}, "max_total": 9,
              "columns": {"item": "integer", "order_id": "integer"}},
    "orders": {"unit": "who", "max_total": 9, "columns": {"id": "integer", "who": "text", "note": "text"}},
    "others": {"unit": "who", "max_total": 9, "columns": {"id": "integer", "who": "text"}},
}


@pytest.mark.parametrize(("table", "changed", "same"), [
    ("orders", {"one_row_per": ["who", "id"]}, False), ("orders", {"distinct": ["id"]}, False),
    ("items", {"unit": {"through": "others", "on": "order_id", "key": "id"}}, False),
    ("items", {"distinct": ["item"]}, False), ("items", {"max_total": 3}, True), ("others", {"distinct": ["id"]}, True),
])
def test_the_tables_through_which_rows_are_owned_are_facts_of_theirs(table, changed, same):
    """Which row of another table has the key decides whose a row is, however many tables are between."""
    def facts(tables):
        told = catalog_of(load({"curator": {"protects": "people"}, "ledger": {"epsilon": 1}, "tables": tables}))
        return [facts_of(bind(parse(f"SELECT COUNT(*) FROM {text}"), told, AGGREGATES), told)
                for text in ("parts", "(SELECT who, COUNT(*) AS n FROM parts GROUP BY who) WHERE n > 1", "others")]

    before, after = facts(THROUGH), facts(THROUGH | {table: THROUGH[table] | changed})
    assert [a == b for a, b in zip(before[:2], after[:2], strict=True)] == [same, same]
    assert (before[2] == after[2]) == (table != "others")


def test_different_values_are_chosen_by_the_salt_so_it_is_a_fact_of_theirs_too():
    for text, uses in (("SELECT COUNT(DISTINCT note) FROM visits", True), ("SELECT COUNT(note) FROM visits", False)):
        plan = planned(text)
        salted = replace(CATALOG, salt="1" * 32)
        assert (facts_of(plan, CATALOG) != facts_of(plan, salted)) == uses
        (name, other) = (reading_name(plan, resolve(plan).asks[0], one, "analyst") for one in (CATALOG, salted))
        assert (name != other) == uses
