"""B6: every cast of every type of column, wherever it can stand, is a question like any other.

Where it is accepted, the curator takes its own quote, and its receipt holds by both verifiers, also beside the catalog.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction as F

import pytest
from alone import receipt_of
from alone import wrong as alone_wrong

from dpcurator.catalog.model import Catalog, Column, Table
from dpcurator.curator.curator import Curator
from dpcurator.errors import Refusal
from dpcurator.language.functions.casts import CASTS
from dpcurator.plan.canonical import as_json, plan_of
from dpcurator.plan.check_catalog import disagreement
from dpcurator.plan.check_outputs import misfit
from dpcurator.receipts.verification import verify
from receipts import KEY, curator

UUID = "00000000-0000-0000-0000-000000000001"
COLUMNS = (
    Column("who", "text"), Column("city", "text", keys=("1", "Leeds")), Column("note", "text"),
    Column("smokes", "boolean"), Column("ward", "integer", keys=(None, 1, 2)), Column("age", "integer", F(0), F(9)),
    Column("cost", "float", F(0), F(20)), Column("dose", "float", keys=(0.0, 0.5)),
    Column("day", "date", F(19000), F(19009)), Column("week", "date", keys=(19000, 19007)),
    Column("at", "timestamp", F(0), F(10**12)), Column("id", "uuid", keys=(UUID,)),
    Column("tag", "uuid", unknown_keys=True), Column("seen", "boolean", unknown_keys=True),
)
CATALOG = Catalog("people", "add-remove", None, F(40), F(1, 2), (Table("t", COLUMNS, "who", 3, 2),), "c" * 64, 1,
                  salt="0" * 32)
USES = (
    "SELECT COUNT({0}) FROM t", "SELECT SUM({0}), AVG({0}) FROM t", "SELECT COUNT(*) FROM t WHERE {0} IS NOT NULL",
    "SELECT COUNT(*) FROM t GROUP BY {0}", "SELECT {0}, COUNT(*) FROM t GROUP BY {0}",
    "SELECT {0} AS k, COUNT(*) FROM t GROUP BY k", "SELECT COUNT(CAST({0} AS TEXT)) FROM t",
    "SELECT AVG(CAST({0} AS DOUBLE)) FROM t", "SELECT COUNT(*) FROM t GROUP BY CAST({0} AS INTEGER)",
    "SELECT SUM(CLIP({0}, 0, 1)) FROM t",
)


@pytest.fixture(scope="module")
def made():
    return curator(CATALOG)


def asked(type: str) -> Iterator[tuple[str, str]]:
    """(type of column, question), whether it is accepted or not."""
    for column in COLUMNS:
        for use in USES:
            yield column.type, use.format(f"CAST({column.name} AS {type})")


@pytest.mark.parametrize("type", CASTS)
def test_b6_every_plan_with_a_cast_is_one_of_its_catalog(made, type):
    """What a curator asks of a quote handed to it, and `verify` of a receipt."""
    met = Counter()
    for kind, text in asked(type):
        try:
            plan = made.plan(text)
        except Refusal:
            continue
        assert plan_of(as_json(plan)) == plan, text
        assert (misfit(plan), disagreement(plan, CATALOG)) == (None, None), text
        met[kind] += 1
    assert {"INTEGER": "boolean", "TEXT": "uuid", "DOUBLE": "float", "DATE": "timestamp", "TIMESTAMP": "date",
            "BOOLEAN": "integer"}[type] in met
    assert met.total() >= 8


def holds(made: Curator, text: str) -> None:
    quote = made.quote(text, spend="5%")
    assert made._own(quote) == quote, text
    receipt = receipt_of(quote)
    found = verify(receipt, catalog=CATALOG, public_key=KEY.public)
    assert [str(step) for step in found.steps if not step.holds] == [], text
    assert alone_wrong(receipt, key=KEY.public) == set(), text


@pytest.mark.parametrize("cast", ["CAST(smokes AS INTEGER)", "CAST(id AS TEXT)", "CAST(dose AS DOUBLE)"])
def test_b6_casts_that_change_no_value_are_paid_for_and_verified(made, cast):
    holds(made, f"SELECT {'SUM' if 'smokes' in cast else 'COUNT'}({cast}) FROM t")
    holds(made, f"SELECT {cast}, COUNT(*) FROM t GROUP BY {cast}")


@pytest.mark.slow
@pytest.mark.parametrize("type", CASTS)
def test_b6_every_cast_of_every_column_is_answered_and_verified(made, type):
    for _, text in asked(type):
        try:
            free = made.quote(text, spend="5%").free
        except Refusal:
            continue
        if not free:
            holds(made, text)


def test_b6_what_is_selected_is_the_key_that_is_grouped_by(made):
    for cast, column in (("CAST(smokes AS INTEGER)", "smokes"), ("CAST(id AS TEXT)", "id")):
        quote = made.quote(f"SELECT {cast} AS k, COUNT(*) AS n FROM t GROUP BY {cast}", spend="5%")
        key = quote.plan.source.source.columns[0]
        assert (key.name, quote.plan.outputs[0].shown) == (column, key.type)
        assert key.type == {"smokes": "integer", "id": "text"}[column]
        with pytest.raises(Refusal, match="a column of single rows"):
            made.quote(f"SELECT {column}, COUNT(*) FROM t GROUP BY {cast}", spend="5%")


def test_b6_another_type_than_a_cast_gives_is_still_refused(made):
    """A day shown as a number, a number as a day: no cast without a computation does that."""
    plan = made.plan("SELECT COUNT(*) FROM t GROUP BY week")
    column = replace(plan.source.source.columns[0], type="integer")
    grouped = replace(plan.source.source, columns=(column,))
    forged = replace(plan, source=replace(plan.source, source=grouped))
    assert disagreement(plan, CATALOG) is None
    assert disagreement(forged, CATALOG) == "'week' has other keys"
