"""Averages, sums and counts where each row is a unit and the number of units is public (semantics 2.6, 3).

Sensitivities and noise scales by hand: one of n rows replaced moves a sum of values in [L, U] by U - L, and so their
average by (U - L)/n.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction as F

import pytest
from questions import answered, catalog_with, quoted, with_column

from dpcurator.catalog.model import EACH_ROW, Catalog, Column, Table
from dpcurator.plan.check_catalog import disagreement
from dpcurator.pricing.bars import bars

WEIGHTS = Table(
    "people",
    (
        Column("weight", "float", F(30), F(150), missing=30.0), Column("age", "integer", F(18), F(90)),
        Column("sex", "text", keys=("f", "m")), Column("group", "integer", F(7), F(7), missing=7),
    ),
    EACH_ROW,
)


def people(n: int, table: Table = WEIGHTS) -> Catalog:
    return replace(catalog_with(table), neighbours="replace-one", units=n)


@pytest.mark.parametrize(("n", "sensitivity", "scale"), [(4, F(30), F(300)), (1000, F(12, 100), F(12, 10))])
def test_an_average_of_n_weights(n, sensitivity, scale):
    """Between 30 and 150 kg: (150 - 30)/4 = 30, noise of 30/0.1 = 300; for a thousand people 0.12 and 1.2."""
    quote = quoted("SELECT AVG(weight) FROM people", F(1, 10), people(n))
    (paid,) = quote.priced
    assert paid.reading.l1 * paid.reading.unit / n == sensitivity
    assert paid.mechanism.scale * paid.reading.unit / n == scale
    assert quote.epsilon == F(1, 10)
    (bar,) = bars(quote)
    assert (bar.error, bar.rows) == (min(paid.error(F(5, 100)) / n, 120), None)


def test_its_sum_has_the_sensitivity_u_minus_l_and_is_the_same_reading():
    quote = quoted("SELECT SUM(weight), AVG(weight) FROM people", F(1, 10), people(4))
    (paid,) = quote.priced
    assert paid.reading.l1 * paid.reading.unit == 120


@pytest.mark.parametrize(
    ("text", "value"),
    [("COUNT(*)", 4), ("COUNT(weight)", 4), ('COUNT("group")', 4), ('SUM("group")', 28), ('AVG("group")', 7)],
)
def test_what_n_says_is_free(text, value):
    quote = quoted(f"SELECT {text} FROM people", F(1, 10), people(4))
    assert (quote.priced, quote.epsilon, quote.delta) == ((), 0, 0)
    columns = {column.name: [] for column in WEIGHTS.columns}
    assert answered(f"SELECT {text} FROM people", columns, people(4)) == [(value,)]


@pytest.mark.parametrize(
    ("text", "sensitivities"),
    [
        # age may be missing: its count and its middle are paid for, 1 and 2 (90 - 18), and its sum moves by 90
        ("COUNT(age)", (1,)), ("AVG(age)", (144, 1)), ("SUM(age)", (90,)),
        # with WHERE a row may be absent, with GROUP BY in either group
        ("COUNT(*) FROM people WHERE age > 30", (1,)), ("COUNT(*) FROM people WHERE TRUE", (1,)),
        ("SUM(weight) FROM people WHERE TRUE", (150,)), ("COUNT(*) FROM people GROUP BY sex", (2,)),
        ("SUM(weight) FROM people GROUP BY sex", (300,)),
        # and an expression may be missing
        ("SUM(CLIP(weight * 2, 0, 100))", (100,)), ("COUNT(*) FILTER (WHERE weight > 60)", (1,)),
    ],
)
def test_elsewhere_what_may_be_absent_is_paid_for(text, sensitivities):
    text = text if "FROM" in text else f"{text} FROM people"
    quote = quoted(f"SELECT {text}", F(1, 10), people(4))
    assert tuple(paid.reading.l1 * paid.reading.unit for paid in quote.priced) == sensitivities


def test_add_remove_has_no_public_number():
    quote = quoted("SELECT AVG(weight), COUNT(*) FROM people", F(1, 10), catalog_with(WEIGHTS))
    assert [paid.ask.what for paid in quote.priced] == ["centred", "rows"]


def test_n_is_used_even_if_it_is_wrong():
    """Five people where n says four: their sum over four, cut at 150; no answer tells that n is wrong."""
    rows = {"weight": [60.0, 62.0, 64.0, 66.0, None], "age": [20] * 5, "sex": ["f"] * 5, "group": [7] * 5}
    text = "SELECT ROUND(AVG(weight), 3), ROUND(SUM(weight), 3), COUNT(*) FROM people"
    assert answered(text, rows, people(4)) == [(70.5, 282.0, 4)]  # 60 + 62 + 64 + 66 + 30 for the missing one
    heavy = rows | {"weight": [149.0] * 5}
    assert answered(text, heavy, people(4)) == [(150.0, 745.0, 4)]


@pytest.mark.parametrize(
    "other",
    [
        people(5), catalog_with(WEIGHTS),  # another number, or another relation
        people(4, with_column(WEIGHTS, "weight", missing=None)),
    ],
)
def test_a_plan_that_claims_another_number_or_a_filled_column_is_not_the_catalogs(other):
    plan = quoted("SELECT AVG(weight) FROM people", F(1, 10), people(4)).plan
    assert disagreement(plan, people(4)) is None
    assert disagreement(plan, other) is not None


def test_a_plan_of_add_remove_is_not_that_of_a_catalog_with_replace_one():
    plan = quoted("SELECT COUNT(*) FROM people", F(1, 10), catalog_with(WEIGHTS)).plan
    assert disagreement(plan, catalog_with(WEIGHTS)) is None
    assert disagreement(plan, people(4)) == "the neighbours, or the number of units, are not the catalog's"
