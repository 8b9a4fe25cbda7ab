"""x IN (SELECT k FROM public), NOT IN and EXISTS: SQL's meaning on tables worked by hand, and what is refused."""

from __future__ import annotations

import pytest
from clinic import CLINIC, ROWS, clinic, count, exact, planned, refused

from dpcurator.errors import Refusal
from dpcurator.plan.canonical import as_json, digest, plan_of
from dpcurator.plan.check_catalog import disagreement
from dpcurator.plan.identity import rows_and_keys
from dpcurator.plan.relations import one_row

COUNT = "SELECT COUNT(*) FROM visits"
NORTH = "SELECT city FROM cities WHERE region = 'North'"

# Of the 7 visits that somebody owns 4 are in Leeds, 2 in York, 1 in a missing city; a missing one is in `cities`, too.
LISTS = [
    ("city IN (SELECT city FROM cities)", 6),
    (f"city IN ({NORTH} AND people > 3)", 4),
    ("city NOT IN (SELECT city FROM cities)", 0),  # NULL is in the list, so nothing is known not to be in it
    ("city NOT IN (SELECT city FROM cities WHERE region = 'South')", 6),
    ("NOT (city IN (SELECT c.city FROM cities AS c WHERE c.people = 5))", 2),
    ("(city IN (SELECT city FROM cities WHERE region = 'South')) IS NULL", 1),
    ("(city IN (SELECT city FROM cities WHERE people = 1 OR city IS NULL)) IS NULL", 7),
    ("(city IN (SELECT city FROM cities WHERE FALSE)) IS NULL", 0),  # nothing is in an empty list, NULL neither
    ("city NOT IN (SELECT city FROM cities WHERE FALSE)", 7),
    ("age % 7 IN (SELECT people FROM cities)", 3),
    ("CAST(age AS DOUBLE) IN (SELECT weight * 20 FROM tags)", 2),
    ("UPPER(city) IN (SELECT DISTINCT UPPER(city) FROM tags)", 6),
    (f"city IN ({NORTH} AND people = 2) OR age > 60", 3),
    ("CASE WHEN city IN (SELECT city FROM tags WHERE tag = 'b') THEN TRUE ELSE FALSE END", 4),
    ("(city IN (SELECT city FROM tags WHERE tag = 'b')) IN (SELECT people = 5 FROM cities WHERE people = 5)", 4),
    ("city IN (SELECT city FROM (SELECT city, people AS n FROM cities WHERE region = 'North') AS d WHERE d.n > 3)",
     4),
    ("city IN (SELECT * FROM (SELECT UPPER(city) AS c FROM (SELECT * FROM cities)))", 0),
    ("EXISTS (SELECT 1 FROM (SELECT city, people FROM cities) AS d WHERE d.city = visits.city AND people = 2)", 2),
    ("EXISTS (SELECT 1 FROM cities AS c WHERE c.city = visits.city AND region = 'North' AND people > 3)", 4),
    ("NOT EXISTS (SELECT * FROM cities AS c WHERE c.city = visits.city)", 1),
    ("EXISTS (SELECT weight, visits.age FROM tags WHERE tags.city = visits.city AND weight = cost)", 1),
    ("EXISTS (SELECT 1 FROM cities AS c WHERE UPPER(visits.city) = UPPER(c.city) AND c.people = FLOOR(age / 10))", 1),
]


@pytest.mark.parametrize(("condition", "wanted"), LISTS, ids=[one for one, _ in LISTS])
def test_a_list_that_is_public(condition, wanted):
    assert count(f"{COUNT} WHERE {condition}") == wanted
    plan = planned(f"{COUNT} WHERE {condition}")
    assert plan_of(as_json(plan)) == plan
    assert disagreement(plan, CLINIC) is None


def test_it_stands_wherever_a_condition_may():
    assert exact(f"SELECT COUNT(*) FROM visits GROUP BY city IN ({NORTH} AND people = 5)") == [{(0,): 2, (1,): 4}]
    assert count(f"SELECT COUNT(*) FILTER (WHERE city IN ({NORTH} AND people = 5)) FROM visits") == 4
    inner = f"SELECT pid, COUNT_IF(city IN ({NORTH} AND people = 5)) AS n FROM visits GROUP BY pid"
    assert count(f"SELECT SUM(CLIP(n, 0, 9)) FROM ({inner})") == 4
    first = "SELECT *, ROW_NUMBER() OVER (PARTITION BY pid ORDER BY day) AS n FROM visits"
    plan = planned(f"SELECT COUNT(*) FROM ({first}) WHERE city IN ({NORTH}) AND n = 1")
    assert (one_row(plan.source.source.source), plan.source.max_rows) == (True, 1)
    assert count(f"{COUNT} WHERE pid IN (SELECT pid FROM visits WHERE city IN ({NORTH} AND people = 2))") == 4


def test_where_each_row_is_a_unit_too():
    alone = clinic({"rows": {"unit": "each row", "columns": {"x": {"type": "integer", "bounds": [0, 9]}}},
                    "cities": {"public": True, "columns": {"city": "text", "region": "text", "people": "integer"}}})
    rows = {"rows": [(1,), (2,), (None,), (3,)], "cities": ROWS["cities"]}
    text = "SELECT COUNT(*) FROM rows WHERE x IN (SELECT people FROM cities)"
    assert count(text, catalog=alone, rows=rows) == 2


def test_missing_values_of_the_list_are_read_as_the_catalog_says():
    made = clinic({"visits": {"unit": "pid", "max_total": 50, "columns": {"pid": "integer", "city": "text"}},
                   "cities": {"public": True, "columns": {
                       "city": {"type": "text", "missing": "none"}, "region": "text", "people": "integer"}}})
    rows = {"visits": [(1, "none"), (2, "x"), (3, None)], "cities": [("x", "", 1), (None, "", 1)]}
    assert count(f"{COUNT} WHERE city IN (SELECT city FROM cities)", catalog=made, rows=rows) == 2
    assert count(f"{COUNT} WHERE city NOT IN (SELECT city FROM cities)", catalog=made, rows=rows) == 0


def test_the_list_is_part_of_what_a_reading_is_of():
    one, other = (planned(f"{COUNT} WHERE city IN (SELECT city FROM cities WHERE people > {n})") for n in (1, 2))
    again = planned(f"{COUNT} WHERE visits.CITY IN (SELECT c.city FROM cities AS c WHERE c.people > 1)")
    found = [digest(rows_and_keys(plan)) for plan in (one, other, again)]
    assert found[0] == found[2] != found[1]


REFUSED = [  # what is asked, what is said, what is accepted instead
    ("age IN (SELECT city FROM cities)", "age is integer, and city is text",
     "CAST(age AS TEXT) IN (SELECT city FROM cities)"),
    ("cost IN (SELECT people FROM cities)", "cost is float, and people is integer",
     "cost IN (SELECT CAST(people AS DOUBLE) FROM cities)"),
    ("city IN (SELECT city FROM cities WHERE region = visits.city)", "of the question around",
     "EXISTS (SELECT 1 FROM cities AS listed WHERE listed.city = visits.city)"),
    ("EXISTS (SELECT 1 FROM cities)", "it is the same for all",
     "EXISTS (SELECT 1 FROM cities AS listed WHERE listed.city = visits.city)"),
    ("EXISTS (SELECT 1 FROM cities WHERE people > age)", "by =, joined by AND",
     "EXISTS (SELECT 1 FROM cities AS listed WHERE listed.city = visits.city)"),
    ("city IN (SELECT * FROM cities)", "several columns", "city IN (SELECT city FROM cities)"),
    ("city IN (SELECT city FROM cities GROUP BY city)", "GROUP BY over a public table",
     "city IN (SELECT city FROM cities)"),
    ("EXISTS (SELECT COUNT(*) FROM cities WHERE cities.city = visits.city)", "makes one even of none",
     "EXISTS (SELECT 1 FROM cities WHERE cities.city = visits.city)"),
    ("EXISTS (SELECT nothing FROM cities WHERE cities.city = visits.city)", 'no column "nothing"', None),
    ("EXISTS (SELECT UPPER(people) FROM cities WHERE cities.city = visits.city)", "UPPER", None),
    ("city IN (SELECT nothing FROM cities)", 'no column "nothing"', None),
    ("nothing IN (SELECT city FROM cities)", 'no column "nothing"', None),
    ("city IN (SELECT city FROM cities WHERE city IN (SELECT city FROM tags))", "in the subquery of a public table",
     "city IN (SELECT city FROM cities) AND city IN (SELECT city FROM tags)"),
    ("city IN (SELECT city FROM cities WHERE city IN (SELECT city FROM visits))", "in the subquery of a public table",
     None),
    ("city IN (SELECT NULL FROM cities)", "no type", None),
    ("city IN (SELECT region FROM (SELECT city FROM cities) AS d)", 'no column "region"',
     "city IN (SELECT city FROM (SELECT city FROM cities) AS d)"),
    ("city IN (SELECT cities.region FROM (SELECT city FROM cities) AS d)", 'no column "cities.region"', None),
    ("city IN (SELECT city FROM cities UNION ALL SELECT city FROM tags)", "UNION ALL of rows of a public table",
     "city IN (SELECT city FROM cities) OR city IN (SELECT city FROM tags)"),
]


@pytest.mark.parametrize(("condition", "said", "cure"), REFUSED, ids=[one for one, _, _ in REFUSED])
def test_what_is_no_list_is_refused_and_the_cure_is_accepted(condition, said, cure):
    with pytest.raises(Refusal) as found:
        planned(f"{COUNT} WHERE {condition}")
    assert said in str(found.value)
    assert found.value.where
    assert found.value.cure
    if cure is not None:
        assert refused(f"{COUNT} WHERE {cure}") == "answered"
    for mend in found.value.mends:
        assert refused(f"{COUNT} WHERE {condition.replace(mend.over, mend.put)}") == "answered"


def test_what_doubles_at_each_level_is_refused_before_it_is_long():
    inner = "SELECT city AS c FROM cities"
    for _ in range(30):
        inner = f"SELECT c || c AS c FROM ({inner})"
    assert "more than 20,000 parts" in refused(f"{COUNT} WHERE city IN ({inner})")
