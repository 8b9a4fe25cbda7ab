"""FROM and subqueries: what they mean, on tables worked by hand, and what is refused with the way to write it."""

from __future__ import annotations

import pytest
from clinic import CLINIC, ROWS, clinic, count, exact, planned, refused

from dpcurator.plan.canonical import as_json, digest, plan_of
from dpcurator.plan.check_catalog import disagreement
from dpcurator.plan.identity import rows_and_keys

COUNT = "SELECT COUNT(*) FROM visits"

COHORTS = [  # patients 1, 3 and 9 have X, 3 has Y, 2 has none that is written; 4 has no diagnosis
    ("pid IN (SELECT patient FROM diagnoses WHERE code = 'X')", 4),
    ("pid NOT IN (SELECT patient FROM diagnoses WHERE code = 'X')", 3),
    ("NOT pid IN (SELECT patient FROM diagnoses)", 1),
    ("EXISTS (SELECT 1 FROM diagnoses WHERE patient = pid AND code = 'Y')", 1),
    ("NOT EXISTS (SELECT * FROM diagnoses AS d WHERE visits.pid = d.patient AND d.code = 'Y')", 6),
    ("pid IN (SELECT patient FROM diagnoses) AND city = 'Leeds'", 3),
    ("pid IN (SELECT patient FROM diagnoses WHERE code = 'Y') OR city = 'Leeds'", 5),
    ("pid IN (SELECT patient FROM diagnoses WHERE code IS NULL)", 2),
    ("pid IN (SELECT pid FROM visits WHERE city = 'York')", 4),
    ("pid IN (SELECT patient FROM diagnoses WHERE patient IN (SELECT pid FROM visits WHERE age > 45))", 1),
    ("EXISTS (SELECT pid FROM visits AS other WHERE other.pid = visits.pid AND other.city = 'York')", 4),
    ("(pid IN (SELECT patient FROM diagnoses WHERE code = 'X')) = (city = 'York')", 4),
    ("pid IN (SELECT patient FROM diagnoses WHERE code = 'nobody has it')", 0),
    ("pid NOT IN (SELECT patient FROM diagnoses WHERE FALSE)", 7),
]


@pytest.mark.parametrize(("condition", "wanted"), COHORTS, ids=[one for one, _ in COHORTS])
def test_a_cohort_is_a_condition_on_the_unit(condition, wanted):
    assert count(f"{COUNT} WHERE {condition}") == wanted
    plan = planned(f"{COUNT} WHERE {condition}")
    assert plan_of(as_json(plan)) == plan
    assert disagreement(plan, CLINIC) is None


def test_con_03_orders_of_those_who_are_customers():
    """CON-03: orders whose customer is in another table with the same unit."""
    declared = {"orders": {"unit": "customer_id", "max_total": 20, "columns": {"customer_id": "integer"}},
                "customers": {"unit": "customer_id", "max_total": 20, "columns": {"customer_id": "integer"}}}
    rows = {"orders": [(n % 7,) for n in range(19)] + [(99,)], "customers": [(n,) for n in range(7)]}
    text = "SELECT COUNT(*) FROM orders WHERE customer_id IN (SELECT customer_id FROM customers)"
    assert count(text, catalog=clinic(declared), rows=rows) == 19


def test_a_cohort_is_a_key_and_a_value_too():
    [found] = exact("SELECT COUNT(*) FROM visits GROUP BY pid IN (SELECT patient FROM diagnoses WHERE code = 'X')")
    assert found == {(0,): 3, (1,): 4}
    assert planned("SELECT COUNT(*) FROM visits GROUP BY pid IN (SELECT patient FROM diagnoses)").source.max_groups == 1
    text = "SELECT COUNT(*) FILTER (WHERE pid IN (SELECT patient FROM diagnoses WHERE code = 'Y')) FROM visits"
    assert count(text) == 1


def test_the_cohort_is_part_of_what_a_reading_is_of():
    one, other = (planned(f"{COUNT} WHERE pid IN (SELECT patient FROM diagnoses WHERE code = '{code}')")
                  for code in "XY")
    spelled = planned(f"{COUNT} WHERE visits.PID IN (SELECT d.patient FROM diagnoses AS d WHERE d.code = 'X')")
    assert digest(rows_and_keys(one)) != digest(rows_and_keys(other))
    assert digest(rows_and_keys(one)) != digest(rows_and_keys(planned(COUNT)))
    assert digest(rows_and_keys(spelled)) == digest(rows_and_keys(one))


REFUSED = [
    ("city IN (SELECT code FROM diagnoses)", "only for the protected unit"),
    ("pid IN (SELECT code FROM diagnoses)", "gives something else than patient"),
    ("pid IN (SELECT patient, code FROM diagnoses)", "gives something else than patient"),
    ("EXISTS (SELECT 1 FROM diagnoses)", "those of the same unit"),
    ("EXISTS (SELECT 1 FROM diagnoses WHERE code = city)", "those of the same unit"),
    ("EXISTS (SELECT 1 FROM diagnoses WHERE patient = pid AND code = city)", 'no column "city"'),
    ("EXISTS (SELECT 1 FROM visits WHERE pid = visits.pid)", "those of the same unit"),
    ("EXISTS (SELECT 1 FROM diagnoses WHERE patient = pid OR code = 'X')", "those of the same unit"),
    ("EXISTS (SELECT 1 FROM diagnoses WHERE patient > pid)", "those of the same unit"),
    ("pid IN (SELECT name FROM named)", "the unit of \"visits\" is integer, and that of \"named\" text"),
    ("pid IN (SELECT patient FROM nowhere)", 'no table "nowhere"'),
    ("pid IN (SELECT patient FROM diagnoses LIMIT 3)", "LIMIT is not available in a subquery"),
    ("pid IN (SELECT patient FROM diagnoses ORDER BY day)", "ORDER BY is not available in a subquery"),
    ("pid IN (SELECT patient FROM diagnoses WHERE COUNT(*) > 1)", "COUNT is not available in WHERE"),
    ("pid IN (SELECT patient FROM diagnoses WHERE visits.city = 'Leeds')", "not the table of this question"),
    ("age > (SELECT AVG(age) FROM visits)", "a subquery is not available"),
]


@pytest.mark.parametrize(("condition", "said"), REFUSED, ids=[one for one, _ in REFUSED])
def test_what_is_not_of_the_unit_alone_is_refused(condition, said):
    assert said in refused(f"{COUNT} WHERE {condition}")


def test_where_each_row_is_a_unit_there_is_no_cohort():
    alone = clinic({"rows": {"unit": "each row", "columns": {"x": {"type": "integer", "bounds": [0, 9]}}}})
    assert "is a unit of its own" in refused("SELECT COUNT(*) FROM rows WHERE x IN (SELECT x FROM rows)", alone)


def test_an_empty_table_is_nobodys():
    rows = ROWS | {"diagnoses": []}
    assert count(f"{COUNT} WHERE pid IN (SELECT patient FROM diagnoses)", rows=rows) == 0
    assert count(f"{COUNT} WHERE pid NOT IN (SELECT patient FROM diagnoses)", rows=rows) == 7
    assert count(f"{COUNT} WHERE pid IN (SELECT patient FROM diagnoses)", rows=rows | {"visits": []}) == 0


def test_cohorts_in_each_other_have_a_limit():
    text = "TRUE"
    for _ in range(30):
        text = f"pid IN (SELECT pid FROM visits WHERE {text})"
    assert count(f"{COUNT} WHERE {text}") == 7
    for _ in range(34):
        text = f"pid IN (SELECT pid FROM visits WHERE {text})"
    assert "nested more than" in refused(f"{COUNT} WHERE {text}")
    many = " OR ".join(f"pid IN (SELECT patient FROM diagnoses WHERE code = '{n}')" for n in range(130))
    assert "too many subqueries" in refused(f"{COUNT} WHERE {many}")
