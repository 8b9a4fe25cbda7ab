"""What earlier versions said below an answer, to the letter: their receipts cover it, so it may never change."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction as F

import pytest
from questions import ROWS, VISITS, catalog_with

from dpcurator.aggregates import AGGREGATES
from dpcurator.catalog.model import Table
from dpcurator.fronts.sql import parse
from dpcurator.plan.bind import bind
from dpcurator.plan.stability import stability
from dpcurator.receipts.earlier_notes import earlier_notes

IS = "± is the noise, with 95 % confidence for each value; not in it: "


def _unknown(table: Table, name: str) -> Table:
    return replace(table, columns=tuple(replace(one, unknown_keys=one.name == name) for one in table.columns))


@pytest.mark.parametrize(
    ("question", "total", "said", "more"),
    [
        ("SUM(x) FROM rows", None, "x is clamped to [-5, 9]", ""),
        ("COUNT(*) FROM rows GROUP BY x", None, "groups of few units are left out", ""),
        ("COUNT(*), AVG(age), AVG(smoker) FROM visits", None,
         "a unit with more than 4 rows is scaled down to that; age is clamped to [0, 110]",
         "; smoker is clamped to [0, 1]"),  # with every clamp, as the first versions said
        ("COUNT(*) FROM visits GROUP BY city", None,
         "a unit with more than 4 rows a group and 2 groups is scaled down to that", ""),
        ("COUNT(*) FROM visits GROUP BY city", 7,
         "a unit with more than 4 rows a group and 2 groups, or 7 rows in all, is scaled down to that", ""),
        ("note, COUNT(*) FROM visits GROUP BY note", None,
         "a unit with more than 4 rows a group and 2 groups is cut down to that; groups of few units are left out", ""),
        ("note, COUNT(*) FROM visits GROUP BY WITH_OTHER(note)", 7,
         "a unit with more than 4 rows a group and 2 groups, or 7 rows in all, is cut down to that; groups of few "
         "units are in (other)", ""),
    ],
)
def test_earlier_sentences_stay_as_they_were(question, total, said, more):
    tables = replace(_unknown(VISITS, "note"), max_total=total), _unknown(ROWS, "x")
    plan = bind(parse(f"SELECT {question}"), replace(catalog_with(*tables), delta=F(1, 1000)), AGGREGATES)
    found = earlier_notes(plan, stability(plan.source), F(19, 20))
    assert found == ((IS + said,), (IS + said + more,))


def test_an_answer_of_one_value_without_limits_said_the_noise_alone():
    plan = bind(parse("SELECT COUNT(*) FROM rows"), catalog_with(ROWS), AGGREGATES)
    alone = ("± is the noise, with 99.9 % confidence for each value",)
    assert earlier_notes(plan, stability(plan.source), F(999, 1000)) == (alone, alone)
