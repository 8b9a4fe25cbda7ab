"""How far one unit moves each reading: the rules by hand, and a node or a reading without a rule is refused."""

from __future__ import annotations

from fractions import Fraction as F

import pytest
from questions import ROWS, VISITS, catalog_with, planned

from dpcurator.catalog.model import Table
from dpcurator.plan.core import ONE
from dpcurator.plan.nodes import Ask, Bounded, Grouped, Measured, Rows
from dpcurator.plan.rows import Field
from dpcurator.plan.stability import ASK_RULES, NODE_RULES, Reach, Steps, derivation, reading, stability

X = Measured("x", Field(1, "integer"), "integer", "integer", F(-5), F(9))


def reach(max_rows: int, max_groups: int, keys: int) -> Reach:
    return Reach(max_rows, max_groups, keys, ONE, ())


@pytest.mark.parametrize(
    ("what", "bounds", "rows", "groups", "keys", "linf", "l1"),
    [
        # B = one m (counts), one m max(|L|, |U|) (sums), one m W (centred); l1 = min(l0, K) B: MEANING 3
        ("rows", (0, 0), 4, 2, 3, 4, 8), ("present", (0, 0), 4, 2, 3, 4, 8), ("units", (0, 0), 4, 2, 3, 1, 2),
        ("rows", (0, 0), 4, 2, 1, 4, 4), ("rows", (0, 0), 4, 1000, 3, 4, 12), ("rows", (0, 0), 1, 1, 0, 1, 0),
        ("values", (-5, 9), 1, 1, 1, 9, 9), ("values", (-9, 5), 2, 3, 7, 18, 54), ("values", (-9, -5), 1, 1, 1, 9, 9),
        ("values", (5, 9), 1, 1, 1, 9, 9), ("values", (0, 0), 3, 1, 1, 0, 0), ("values", (7, 7), 1, 1, 1, 7, 7),
        ("centred", (-5, 9), 1, 1, 1, 14, 14), ("centred", (5, 9), 2, 2, 2, 8, 16), ("centred", (7, 7), 5, 1, 1, 0, 0),
        ("values", (-(2**100), 2**100), 2**20, 3, 5, 2**120, 3 * 2**120),
    ],
)  # fmt: skip
def test_worked_sensitivities(what, bounds, rows, groups, keys, linf, l1):
    column = None if what in ("rows", "units") else X
    found = reading(Ask(what, column), reach(rows, groups, keys), Steps(*bounds, 0))
    assert (found.linf, found.l1) == (ONE * linf, ONE * l1)
    assert found.coordinates == keys
    assert found.l2_squared == min(groups, keys) * found.linf**2
    assert found.unit == F(1, ONE)


def test_each_row_a_unit():
    found = stability(planned("SELECT g, SUM(x) FROM rows GROUP BY g").source)
    assert (found.rows, found.groups, found.keys, found.one) == (1, 1, 2, 1)
    made = reading(Ask("values", X), found, Steps(-5, 9, 0))
    assert (made.linf, made.l1, made.l2_squared, made.unit) == (9, 9, 81, 1)


def test_a_grid_step_is_the_readings_unit():
    made = reading(Ask("values", X), reach(1, 1, 1), Steps(-5, 9, 10))
    assert made.unit == F(1, ONE * 1024)
    assert reading(Ask("present", X), reach(1, 1, 1), Steps(-5, 9, 10)).unit == F(1, ONE)
    assert Steps(-5, 9, 10).width() == F(14, 1024)


def test_the_steps_are_told_in_order():
    plan = planned("SELECT city, SUM(age) FROM visits WHERE age > 3 GROUP BY city")
    found = stability(plan.source)
    ask = Ask("values", plan.calls[0].column)
    assert derivation(ask, found, reading(ask, found, Steps(0, 110, 0))) == (
        "a unit owns any number of rows of visits (by patient)",
        "WHERE looks at one row at a time: a unit's rows only become fewer",
        "GROUP BY city: 3 listed keys, a row has one",
        "scaled down to 4 rows a key and 2 keys",
        "a sum of age, each value clamped to its bounds: one unit moves one key by at most 440, all keys together by "
        "at most 880",
    )


def test_more_groups_than_keys_count_no_more():
    wide = Table("visits", VISITS.columns, "patient", max_rows=1, max_groups=50)
    assert stability(planned("SELECT COUNT(*) FROM visits GROUP BY city", catalog_with(wide)).source).groups == 3
    assert stability(planned("SELECT COUNT(*) FROM visits", catalog_with(wide)).source).groups == 1


def test_what_has_no_rule_or_is_not_bounded_is_refused():
    with pytest.raises(TypeError, match="no stability rule for Steps"):
        stability(Steps())
    unbounded = stability(Grouped(Rows("visits", "patient", 0), ()))
    with pytest.raises(TypeError, match="have not been bounded"):
        reading(Ask("rows"), unbounded, Steps())
    assert set(NODE_RULES) == {Rows, Grouped, Bounded, *[kind for kind in NODE_RULES if kind.__name__ == "Where"]}
    assert set(ASK_RULES) == {"rows", "units", "present", "values", "centred"}
    assert ROWS.unit == "each row"


@pytest.mark.parametrize("caps", [(0, 1), (1, 0), (-4, 2)])
def test_a_bound_that_bounds_nothing_cannot_be_built(caps):
    with pytest.raises(ValueError, match="at least 1"):
        Bounded(Grouped(Rows("t", None, None), ()), *caps)


@pytest.mark.parametrize(
    "facts", [("integer", "float", F(0), F(1)), ("integer", "integer", F(1), F(0)), ("integer", "integer", F(0), None)]
)
def test_a_measured_column_with_odd_facts_cannot_be_built(facts):
    with pytest.raises(ValueError, match=r"measured|lower"):
        Measured("x", Field(0, "integer"), *facts)
