"""From declared caps to those that a plan enforces: each row of the table in `plan/caps.py`, by hand."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction as F

import pytest
from questions import CATALOG, VISITS, catalog_with, with_column

from dpcurator.aggregates import AGGREGATES
from dpcurator.errors import Refusal
from dpcurator.fronts.sql import parse
from dpcurator.language.question import Caps
from dpcurator.plan.bind import bind
from dpcurator.plan.canonical import as_json, plan_of
from dpcurator.plan.nodes import Ask, Bounded
from dpcurator.plan.stability import Steps, reading, stability

ROWS, UNITS = Ask("rows"), Ask("units")
KEYS = len(VISITS.columns[1].keys or ())


def bounded(caps: Caps, *, grouped: bool = True, unknown: bool = False) -> Bounded:
    table = replace(VISITS, max_rows=caps.max_rows, max_groups=caps.max_groups, max_total=caps.max_total)
    if unknown:
        table = with_column(table, "city", keys=None, unknown_keys=True)
    catalog = replace(catalog_with(table), delta=F(1, 10**6), salt="0" * 32)
    text = "SELECT city, COUNT(*) FROM visits GROUP BY city" if grouped else "SELECT COUNT(*) FROM visits"
    return bind(parse(text), catalog, AGGREGATES).source


def shape(node: Bounded) -> tuple[int, int, int | None]:
    return node.max_rows, node.max_groups, node.max_total


@pytest.mark.parametrize(("caps", "grouped", "unknown", "expected"), [
    (Caps(max_total=20), True, False, (20, KEYS, 20)),
    (Caps(max_total=20), False, False, (20, 1, None)),
    (Caps(max_total=20), True, True, (20, 20, 20)),
    (Caps(max_rows=3), True, False, (3, KEYS, None)),
    (Caps(max_rows=3, max_groups=2), True, False, (3, 2, None)),
    (Caps(max_total=5, max_rows=3), True, False, (3, KEYS, 5)),
    (Caps(max_total=5, max_rows=3, max_groups=2), True, False, (3, 2, 5)),
    (Caps(max_total=6, max_rows=3, max_groups=2), True, False, (3, 2, None)),  # T = m l0 never binds
    (Caps(max_total=2, max_rows=3, max_groups=2), True, False, (2, 2, 2)),  # m is at most T
    (Caps(max_total=2, max_rows=3, max_groups=9), True, True, (2, 2, 2)),  # unknown keys: l0 is at most T
])
def test_what_is_not_declared_follows_from_the_rest(caps, grouped, unknown, expected):
    found = bounded(caps, grouped=grouped, unknown=unknown)
    assert shape(found) == expected
    assert {"max_total"} & set(as_json(found)) == ({"max_total"} if expected[2] else set())


@pytest.mark.parametrize(("caps", "unknown"), [(Caps(), False), (Caps(max_groups=2), False), (Caps(max_rows=2), True)])
def test_caps_that_do_not_bound_a_unit_are_refused_with_a_line_to_paste(caps, unknown):
    with pytest.raises(Refusal) as refused:
        bounded(caps, unknown=unknown)
    assert "`max_total = 20`" in str(refused.value)


def test_the_issue_s_example_by_hand():
    """A count by month of people with 8 visits in 7 months: l1 is 20 with T = 20, and 144 with m = 12 and l0 = 12."""
    for caps, l1 in ((Caps(max_total=20), 20), (Caps(max_rows=12, max_groups=12), 12 * min(12, KEYS))):
        found = reading(ROWS, stability(bounded(caps)), Steps())
        assert found.l1 * found.unit == l1


def test_sensitivities_with_a_rational_lam_by_hand():
    """T = 5, m = 2: lam = 5/2. A count moves 2 in a group, 5 in all, and 2 * 2 * 5/2 = 10 in squares; units 1 and 5."""
    reach = stability(bounded(Caps(max_total=5, max_rows=2, max_groups=9)))
    rows, units = reading(ROWS, reach, Steps()), reading(UNITS, reach, Steps())
    one = 2**16
    assert (rows.linf, rows.l1, rows.l2_squared) == (2 * one, 5 * one, 10 * one**2)
    lam = min(KEYS, 5)
    assert (units.linf, units.l1, units.l2_squared) == (one, lam * one, lam * one**2)
    both = reading(ROWS, replace(reach, neighbours="replace-one", units=9), Steps())
    assert (both.linf, both.l1) == (2 * one, min(10, 2 * KEYS) * one)
    assert both.l2_squared == min(2 * 10, 4 * KEYS) * one**2


def test_a_question_s_own_caps_are_instead_of_the_catalog_s():
    question = replace(parse("SELECT city, COUNT(*) FROM visits GROUP BY city"), caps=Caps(max_total=7))
    assert shape(bind(question, CATALOG, AGGREGATES).source) == (7, KEYS, 7)


def test_plans_with_a_total_have_one_spelling():
    text = "SELECT city, COUNT(*) FROM visits GROUP BY city"
    plan = bind(replace(parse(text), caps=Caps(max_total=7)), CATALOG, AGGREGATES)
    assert plan_of(as_json(plan)) == plan
    older = bind(parse(text), CATALOG, AGGREGATES)
    written = as_json(older)
    written["source"]["max_total"] = None
    with pytest.raises(Refusal):
        plan_of(written)
