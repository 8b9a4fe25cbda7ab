"""One spelling for each plan, read back as the same plan; whatever is no plan is refused."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st
from questions import planned

from dpcurator.errors import Refusal
from dpcurator.plan.canonical import as_json, digest, plan_of

RICH = planned(
    "SELECT city, ward, ROUND(AVG(cost) * 0.5, 1) AS a, SUM(gain), COUNT(*) > 3, DATE '2024-01-01', 'x', NULL "
    "FROM visits "
    "WHERE NOT (age IN (1, 2) OR cost < 0.1) AND note IS NULL AND age = ward AND (TRUE OR code <> "
    "'00000000-0000-0000-0000-000000000000') GROUP BY city, ward HAVING COUNT(*) > 1 ORDER BY a DESC LIMIT 3 OFFSET 1"
)


def test_numbers_of_a_thousand_digits_are_plans_too():
    plan = planned("SELECT COUNT(*) * 1e900 + 1e-900 FROM visits")
    assert plan_of(as_json(plan)) == plan


def leaves(value, path=()):
    """Every place of a JSON value that holds no list and no object."""
    if isinstance(value, dict | list):
        for name, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(inner, (*path, name))
    else:
        yield path


def changed(value, path, new):
    made = copy.deepcopy(value)
    place = made
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = new
    return made


WHOLE = as_json(RICH)


@pytest.mark.parametrize(
    "new", [None, True, 0, -1, 1.5, "x", [], {}, {"node": "Plan"}, {"exact": "1/0"}, {"exact": "2/4"}]
)
def test_a_changed_leaf_is_another_plan_or_none(new):
    for path in leaves(WHOLE):
        made = changed(WHOLE, path, new)
        if made == WHOLE:
            continue
        try:
            plan = plan_of(made)
        except Refusal:
            continue
        assert as_json(plan) == made  # never read as something else
        assert digest(plan) != digest(RICH)


@pytest.mark.parametrize(
    "value",
    [None, 5, "x", [], {}, [WHOLE], {"node": "Plan"}, WHOLE | {"more": 1},
     {k: v for k, v in WHOLE.items() if k != "having"},
     WHOLE["source"], {"node": "__init__"}, {"node": 5}, {"node": []}, WHOLE | {"limit": True}, WHOLE | {"limit": "3"},
     WHOLE | {"limit": 3.0}, WHOLE | {"calls": {}}, WHOLE | {"calls": "COUNT"}, {"exact": "1/2"}],
    ids=lambda value: repr(value)[:40],
)
def test_what_is_no_plan_is_refused(value):
    with pytest.raises(Refusal, match="not the JSON of a plan") as refused:
        plan_of(value)
    assert refused.value.__cause__ is None


@pytest.mark.parametrize(
    "path", [("source", "max_rows"), ("source", "max_groups"), ("source", "source", "columns", 0, "count")]
)
def test_a_plan_whose_caps_would_hide_a_unit_is_none(path):
    for new in (-1, 0 if path[-1] != "count" else -5, True, "4", 4.0, None):
        with pytest.raises(Refusal):
            plan_of(changed(WHOLE, path, new))


def test_a_huge_number_or_a_deep_tree_takes_no_time():
    bomb = {"exact": "1e999999999"}
    path = next(path for path in leaves(WHOLE) if path[-1] == "exact")
    for new in (bomb["exact"], "2/4", "1/-2", "1" * 5000 + "/1", "1/1" + "0" * 2000, "0.5", " 1/2", "１/2"):
        with pytest.raises(Refusal):
            plan_of(changed(WHOLE, path, new))
    deep: object = {"node": "Result", "index": 0}
    for _ in range(100_000):
        deep = {"node": "Apply", "op": "NEG", "parts": [deep]}
    with pytest.raises(Refusal):
        plan_of(WHOLE | {"having": deep})


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=4),
       lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(("node", "exact", "double",
       "source")), inner, max_size=3), max_leaves=8))
def test_any_json_is_a_plan_or_refused(value):
    with pytest.raises(Refusal):
        plan_of(value)
