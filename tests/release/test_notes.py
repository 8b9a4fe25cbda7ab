"""The sentence below every answer: what an error bar covers, and what it does not, in each case that a plan can be."""

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
from dpcurator.release.notes import notes

COVERS = "± covers the added noise (95 % confidence for each value)."


def _unknown(table: Table, name: str) -> Table:
    columns = tuple(replace(one, unknown_keys=one.name == name) for one in table.columns)
    return replace(table, columns=columns)


def _note(question: str, **caps: int) -> str:
    tables = replace(_unknown(VISITS, "note"), **caps), _unknown(ROWS, "x")
    catalog = replace(catalog_with(*tables), delta=F(1, 1000))
    plan = bind(parse(question), catalog, AGGREGATES)
    (said,) = notes(plan, stability(plan.source), F(19, 20), "people")
    assert said.startswith(COVERS)
    return said.removeprefix(COVERS).removeprefix(" Not covered: ").removesuffix(".")


@pytest.mark.parametrize(
    ("question", "caps", "said"),
    [
        ("COUNT(*) FROM rows", {}, ""),  # each row is a unit, in one group
        ("COUNT(*) FROM rows GROUP BY g", {}, ""),
        ("SUM(x) FROM rows", {}, "x is clamped to [-5, 9]"),
        ("COUNT(*) FROM rows GROUP BY x", {}, "groups of few people are left out"),
        ("COUNT(*) FROM visits", {}, "people with more than 4 rows are weighted down to this limit"),
        ("COUNT(*) FROM visits", {"max_rows": 1}, "people with more than 1 row are weighted down to this limit"),
        ("COUNT(*), SUM(age), AVG(age) FROM visits", {"max_total": 6},  # a group has no more than 4 of the 6
         "people with more than 4 rows are weighted down to this limit; age is clamped to [0, 110]"),
        ("COUNT(*) FROM visits GROUP BY city", {},
         "people with more than 4 rows per group or in more than 2 groups are weighted down to these limits"),
        ("COUNT(*) FROM visits GROUP BY smoker", {},  # nobody is in more than the 2 groups there are
         "people with more than 4 rows per group are weighted down to this limit"),
        ("COUNT(*) FROM visits GROUP BY city", {"max_total": 7},
         "people with more than 4 rows per group, in more than 2 groups or with more than 7 rows in all are weighted "
         "down to these limits"),
        ("COUNT(*) FROM visits GROUP BY smoker", {"max_groups": 3, "max_total": 7},
         "people with more than 4 rows per group or with more than 7 rows in all are weighted down to these limits"),
        ("COUNT(*) FROM visits GROUP BY smoker", {"max_groups": 3, "max_total": 9},  # 2 groups of 4 rows are 8 at most
         "people with more than 4 rows per group are weighted down to this limit"),
        ("COUNT(DISTINCT patient) FROM visits", {}, ""),  # once each, whatever their rows
        ("COUNT(DISTINCT patient) FROM visits GROUP BY smoker", {}, ""),
        ("COUNT(DISTINCT patient) FROM visits GROUP BY city", {},
         "people in more than 2 groups are weighted down to this limit"),
        ("COUNT(DISTINCT patient), COUNT(*) FROM visits GROUP BY city", {},
         "people with more than 4 rows per group or in more than 2 groups are weighted down to these limits"),
        ("note, COUNT(*) FROM visits GROUP BY note", {},
         "people in more than 2 groups are counted in 2 of them; people with more than 4 rows per group are weighted "
         "down to this limit; groups of few people are left out"),
        ("note FROM visits GROUP BY note", {},
         "people in more than 2 groups are counted in 2 of them; groups of few people are left out"),
        ("note, COUNT(*) FROM visits GROUP BY WITH_OTHER(note)", {"max_total": 7},
         "people in more than 2 groups are counted in 2 of them; people with more than 4 rows per group or with more "
         "than 7 rows in all are weighted down to these limits; groups of few people are in (other)"),
        ("COUNT(*) FROM visits", {"max_rows": 2000},
         "people with more than 2,000 rows are weighted down to this limit"),
    ],
)
def test_an_error_bar_says_what_it_does_not_cover(question, caps, said):
    assert _note(f"SELECT {question}", **caps) == said


def test_units_of_an_odd_name_stay_on_their_line():
    plan = bind(parse("SELECT COUNT(*) FROM visits"), catalog_with(VISITS), AGGREGATES)
    (said,) = notes(plan, stability(plan.source), F(999, 1000), "peo\nple\x1b[31m")
    assert said.isprintable()
    assert "(99.9 % confidence" in said
