"""FROM and subqueries: what they mean, on tables worked by hand, and what is refused with the way to write it."""

from __future__ import annotations

import copy
from fractions import Fraction as F
from itertools import permutations

import duckdb
import pytest
from clinic import CLINIC, DECLARED, ROWS, clinic, count, exact, kinds, planned, refused, stored
from heart import ALIKE, vectors

from dpcurator.catalog.bind import PublicFacts, catalog_of
from dpcurator.catalog.load import load
from dpcurator.engines.duckdb.engine import DuckDB
from dpcurator.engines.reference import Reference
from dpcurator.fronts.sql import parse
from dpcurator.language.render import render
from dpcurator.plan import relation_facts
from dpcurator.plan.canonical import as_json, digest, plan_of
from dpcurator.plan.check_catalog import disagreement
from dpcurator.plan.identity import rows_and_keys
from dpcurator.plan.lines import relation_lines
from dpcurator.plan.relation_facts import facts
from dpcurator.plan.relations import one_row
from dpcurator.pricing.quote import price
from dpcurator.standalone import verify as alone

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
    ("EXISTS (SELECT 1 FROM diagnoses WHERE patient = pid AND code = city)", "Join each value once"),
    ("EXISTS (SELECT 1 FROM visits WHERE pid = visits.pid)", "those of the same unit"),
    ("EXISTS (SELECT 1 FROM diagnoses WHERE patient = pid OR code = 'X')", "those of the same unit"),
    ("EXISTS (SELECT 1 FROM diagnoses WHERE patient > pid)", "those of the same unit"),
    ("pid IN (SELECT name FROM named)", "the unit of \"visits\" is integer, and that of \"named\" text"),
    ("pid IN (SELECT patient FROM nowhere)", 'no table "nowhere"'),
    ("pid IN (SELECT patient FROM diagnoses LIMIT 3)", "LIMIT is not available in a subquery"),
    ("pid IN (SELECT patient FROM diagnoses ORDER BY day)", "ORDER BY is not available in a subquery"),
    ("pid IN (SELECT patient FROM diagnoses WHERE COUNT(*) > 1)", "COUNT is not available in WHERE"),
    ("pid IN (SELECT patient FROM diagnoses WHERE visits.city = 'Leeds')", "of the question around the subquery"),
    ("age > (SELECT AVG(age) FROM visits)", "a subquery is not available"),
]


@pytest.mark.parametrize(("condition", "said"), REFUSED, ids=[one for one, _ in REFUSED])
def test_what_is_not_of_the_unit_alone_is_refused(condition, said):
    assert said in refused(f"{COUNT} WHERE {condition}")


def test_exists_of_an_aggregate_is_refused_as_it_is_true_of_no_rows_too():
    """SQL's COUNT makes a row of no rows, so EXISTS (SELECT COUNT(*) ...) is always true: hardly what is meant."""
    for inner in ("COUNT(*)", "MAX(code)", "1 + COUNT(code)"):
        text = f"{COUNT} WHERE EXISTS (SELECT {inner} FROM diagnoses WHERE patient = pid)"
        assert "makes one even of none" in refused(text)


@pytest.mark.parametrize(("selected", "said"), [
    ("d.code", None), ("*", None), ("d.*, 1", None), ("code = 'X', visits.city, 1 + 1", None),
    ("patient IN (SELECT pid FROM visits)", None),
    ("nothing", 'no column "nothing"'), ("d.nothing", 'no column "nothing"'), ("v.*", '"v" is not a table'),
    ("nobody.code", '"nobody" is not the table of this question'), ("UPPER(day)", "UPPER"), ("code + 1", "code"),
    ("patient IN (SELECT nothing FROM visits)", 'no column "nothing"'),
])
def test_what_exists_selects_plays_no_part_and_is_read(selected, said):
    text = f"{COUNT} WHERE EXISTS (SELECT {selected} FROM diagnoses AS d WHERE d.patient = visits.pid)"
    assert refused(text) == "answered" if said is None else said in refused(text)
    if said is None:
        assert planned(text) == planned(text.replace(f"SELECT {selected} FROM diag", "SELECT 1 FROM diag"))


def test_a_name_that_two_tables_of_the_subquery_have_is_not_the_outer_one():
    """In SQL it could be either; it never silently means the question around."""
    both = "visits AS a JOIN (SELECT pid, COUNT(*) AS n FROM visits GROUP BY pid) AS b ON a.pid = b.pid"
    assert "same unit" in refused(f"{COUNT} WHERE EXISTS (SELECT 1 FROM {both} WHERE a.pid = pid)")
    assert refused(f"{COUNT} WHERE EXISTS (SELECT 1 FROM {both} WHERE a.pid = visits.pid)") == "answered"


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


FOLDED = [  # over the visits of the clinic, worked by hand: unit 1 has three, 2 two, 3 one, 4 one
    ("SELECT SUM(CLIP(n, 0, 9)) FROM (SELECT pid, COUNT(*) AS n FROM visits GROUP BY pid)", 7, (1, 1)),
    ("SELECT COUNT(*) FROM (SELECT pid FROM visits GROUP BY pid HAVING COUNT(*) > 1)", 2, (1, 1)),
    ("SELECT SUM(CLIP(c, 0, 99)) FROM (SELECT pid, SUM(cost) AS c FROM visits GROUP BY pid)", F(71, 4), (1, 1)),
    ("SELECT COUNT(c) FROM (SELECT pid, SUM(cost) AS c FROM visits GROUP BY pid)", 3, (1, 1)),
    ("SELECT SUM(oldest) FROM (SELECT pid, MAX(age) AS oldest FROM visits GROUP BY pid)", 190, (1, 1)),
    ("SELECT SUM(m) FROM (SELECT pid, AVG(age) AS m FROM visits WHERE city = 'Leeds' GROUP BY pid)", 130, (1, 1)),
    ("SELECT COUNT(*) FROM (SELECT pid, ARG_MIN(city, day) AS c FROM visits GROUP BY pid) WHERE c = 'York'", 0, (1, 1)),
    ("SELECT COUNT(*) FROM (SELECT pid, ARG_MAX(city, age) c FROM visits GROUP BY pid) WHERE c = 'Leeds'", 3, (1, 1)),
    ("SELECT COUNT(*) FROM (SELECT DISTINCT pid, city FROM visits)", 6, (50, 1)),
    ("SELECT SUM(CLIP(n, 0, 9)) FROM (SELECT pid, COUNT(DISTINCT city) AS n FROM visits GROUP BY 1)", 5, (1, 1)),
    ("SELECT COUNT(*) FROM (SELECT pid, BOOL_AND(age > 15) b FROM visits GROUP BY pid) q WHERE NOT q.b", 1, (1, 1)),
    ("SELECT SUM(x) FROM (SELECT age + 1 AS x FROM visits WHERE city = 'York')", 72, (50, 1)),
    ("SELECT SUM(CLIP(y, 0, 9)) FROM (SELECT pid, MAX(x) - MIN(x) AS y FROM (SELECT pid, age / 10 AS x FROM visits) "
     "GROUP BY pid)", 2, (1, 1)),
    ("SELECT COUNT(*) FROM (SELECT pid, COUNT(*) FILTER (WHERE age > 25) AS n FROM visits GROUP BY pid) WHERE n = 1", 4,
     (1, 1)),
    ("WITH a AS (SELECT * FROM visits WHERE age > 15), b AS (SELECT pid FROM a GROUP BY pid HAVING COUNT(*) >= 1), "
     "c AS (SELECT pid FROM A WHERE pid IN (SELECT pid FROM b)) SELECT COUNT(*) FROM c", 5, (50, 1)),
    ("WITH visits AS (SELECT * FROM visits WHERE city = 'York') SELECT COUNT(*) FROM visits", 2, (50, 1)),
]


@pytest.mark.parametrize(("text", "wanted", "caps"), FOLDED, ids=[text for text, _, _ in FOLDED])
def test_a_subquery_by_the_unit(text, wanted, caps):
    """One row a unit needs no caps: they are 1 and 1, whatever the catalog declares."""
    assert count(text) == wanted
    plan = planned(text)
    assert (plan.source.max_rows, plan.source.max_groups) == caps
    assert plan_of(as_json(plan)) == plan
    assert disagreement(plan, CLINIC) is None


def test_first_city_keeps_its_list_of_keys():
    [found] = exact("SELECT c, COUNT(*) FROM (SELECT pid, ARG_MIN(city, day) AS c FROM visits GROUP BY pid) GROUP BY c")
    assert found == {("Leeds",): 3, ("York",): 0}


def test_con_07_a_total_clipped_for_each_person():
    """CON-07 (b): the person's total, 15, is clipped to 9."""
    declared = {"t": {"unit": "u", "max_total": 9, "columns": {"u": "integer", "v": "integer"}}}
    text = "SELECT SUM(CLIP(s, 0, 9)) FROM (SELECT u, SUM(v) AS s FROM t GROUP BY u)"
    assert count(text, catalog=clinic(declared), rows={"t": [(1, v) for v in (1, 2, 3, 4, 5)]}) == 9


def test_grouped_by_a_key_inside_and_outside_a_unit_has_one_row_in_each_group():
    text = "SELECT city, COUNT(*) FROM (SELECT pid, city, COUNT(*) AS n FROM visits GROUP BY pid, city) GROUP BY city"
    assert planned(text).source.max_rows == 1
    assert exact(text) == [{("Leeds",): 3, ("York",): 2}]


NUMBERS = [  # exact sums of whole numbers, and quotients beyond 53 bits, that rounding twice would miss
    [2**63 - 1, 2**63 - 1], [2**63 - 1, -(2**63)], [2**62 + 1, 2**62, 3], [-(2**63)] * 3 + [1], [2**53 + 1], [5, -6, 2],
    [2**54 + 3, 0, 0], [10**18 + 7, 10**18 - 9, 10**18], [],
]


def test_sums_and_averages_of_whole_numbers_are_exact():
    declared = {"t": {"unit": "u", "max_total": 9, "columns": {"u": "integer", "v": "integer"}}}
    rows = [(unit, value) for unit, values in enumerate(NUMBERS) for value in [*values, None]]
    made = clinic(declared)
    for unit, values in enumerate(NUMBERS):
        total = sum(values) if values else None
        mean = total / len(values) if values else None
        fits = total is not None and -(2**63) <= total < 2**63
        one = f"SELECT COUNT(*) FROM (SELECT u, SUM(v) AS s, AVG(v) AS m FROM t GROUP BY u) WHERE u = {unit}"
        said = f"s = {total}" if fits else "s IS NULL"
        assert count(f"{one} AND {said}", catalog=made, rows={"t": rows}) == 1, values
        close = "m IS NULL" if mean is None else f"m = {F(mean)}" if F(mean).denominator == 1 else f"m * 3 <> {mean!r}"
        assert count(f"{one} AND {close}", catalog=made, rows={"t": rows}) == 1, values


INNER_REFUSED = [
    ("SELECT AVG(n) FROM (SELECT pid, COUNT(*) AS n FROM visits GROUP BY pid)", "AVG(CLIP(n, 0, 100))"),
    ("SELECT AVG(n) FROM (SELECT city, COUNT(*) AS n FROM visits GROUP BY city)", "goes by the unit, pid"),
    ("SELECT COUNT(*) FROM (SELECT COUNT(*) AS n FROM visits)", "goes by the unit, pid"),
    ("SELECT COUNT(*) FROM (SELECT DISTINCT city FROM visits)", "SELECT DISTINCT in a subquery goes by the unit"),
    ("SELECT n, COUNT(*) FROM (SELECT pid, COUNT(*) AS n FROM visits GROUP BY pid) GROUP BY n", "CLIP(n, 0, 10)"),
    ("SELECT COUNT(*) FROM (SELECT pid, age FROM visits GROUP BY pid)", "neither in GROUP BY of the subquery"),
    ("SELECT AVG(age) FROM (SELECT pid FROM visits)", 'no column "age"'),
    ("SELECT COUNT(*) FROM (SELECT * FROM visits LIMIT 3)", "LIMIT is not available in a subquery"),
    ("WITH a AS (SELECT * FROM b), b AS (SELECT * FROM a) SELECT COUNT(*) FROM a", '"b" to a SELECT that uses what'),
    ("WITH RECURSIVE a AS (SELECT * FROM visits) SELECT COUNT(*) FROM a", "not available"),
    ("SELECT COUNT(*) FROM (SELECT pid, SUM(x) AS s FROM (SELECT pid, cost / 0 AS x FROM visits) GROUP BY pid)",
     "SUM(CLIP(x, 0, 100))"),
    ("SELECT COUNT(*) FROM (SELECT pid FROM visits WHERE age > 3 GROUP BY pid WHERE TRUE)", "out of place"),
    ("SELECT COUNT(*) FROM (SELECT pid, MEDIAN(age) AS m FROM visits GROUP BY pid)", "QUANTILE is not available"),
    ("SELECT age FROM (SELECT pid, age FROM visits)", "column of single rows"),
    ("SELECT COUNT(*) FROM (SELECT city, day AS city FROM visits) WHERE city = 'York'", "two columns of the subquery"),
    ("SELECT COUNT(*) FROM (SELECT pid, day FROM visits GROUP BY pid, day) GROUP BY day", "CASE WHEN day < '2024-01-"),
    ("SELECT COUNT(*) FROM (SELECT NULL AS x FROM visits)", "CAST(NULL AS INTEGER)"),
    ("SELECT COUNT(*) FROM (SELECT pid AS a FROM visits) GROUP BY a", "each protected unit by itself"),
    ("WITH a AS (SELECT * FROM visits), A AS (SELECT pid FROM visits) SELECT COUNT(*) FROM a", 'the name "A" twice'),
    ("SELECT COUNT(*) FROM (SELECT *, 1 AS a FROM (SELECT *, 1 AS a FROM (SELECT *, 1 AS a FROM visits)))", "AS other"),
    ("SELECT COUNT(*) FROM visits AS v JOIN (SELECT pid, MAX(age) FROM visits GROUP BY pid) ON v.pid = pid", "AS d"),
]


@pytest.mark.parametrize(("text", "said"), INNER_REFUSED, ids=[text for text, _ in INNER_REFUSED])
def test_what_is_no_relation_of_units_is_refused_with_its_cure(text, said):
    assert said in refused(text)


def test_texts_that_grow_from_subquery_to_subquery_are_refused_where_they_pass_the_limit():
    text = "WITH a AS (SELECT pid, city || city AS b, city AS c FROM visits), "
    text += "d AS (SELECT pid, b || b || b || b AS e FROM a), f AS (SELECT pid, e || e || e AS g FROM d) "
    asked = "SELECT COUNT(*) FROM f WHERE g = 'x'"
    assert refused(f"{text}{asked}") == ("line 1, column 134: \"g\" could have 12,000 letters, counted from the "
                                         "max_length of texts: the limit is 8,192. Write LEFT(e || e || e, 100).")
    assert refused(f"{text}{asked}".replace("e || e || e AS", "LEFT(e || e || e, 100) AS")) == "answered"


def test_lists_of_columns_inside_are_named_within_few_steps(monkeypatch):
    """A question may have thousands of columns in subqueries: each list is small, or there is none."""
    text = "SELECT c, COUNT(*) FROM (SELECT pid, UPPER(city) || 'x' AS c FROM visits) GROUP BY c"
    assert exact(text) == [{("LEEDSx",): 4, ("YORKx",): 2}]
    monkeypatch.setattr(relation_facts, "STEPS", 3)
    assert "GROUP BY c needs a public list of keys" in refused(text)


def test_names_of_with_used_twice_again_and_again_are_bounded():
    names = ["WITH a0 AS (SELECT pid FROM visits)"]
    names += [f"a{n + 1} AS (SELECT pid FROM a{n} WHERE pid IN (SELECT pid FROM a{n}))" for n in range(60)]
    assert "subqueries" in refused(", ".join(names) + " SELECT COUNT(*) FROM a60")


ONCE = "(SELECT patient, MIN(code) AS c, MIN(day) AS day FROM diagnoses GROUP BY patient) AS d"
DAILY = "(SELECT patient, day, COUNT(*) AS n FROM diagnoses GROUP BY patient, day) AS d"
JOINED = [  # every visit meets at most one row
    (f"SELECT COUNT(*) FROM visits JOIN {ONCE} ON pid = patient", 6),
    (f"SELECT COUNT(*) FROM visits LEFT JOIN {ONCE} ON pid = patient", 7),
    (f"SELECT COUNT(*) FROM visits AS v LEFT JOIN {ONCE} ON d.patient = v.pid WHERE c IS NULL", 3),
    (f"SELECT COUNT(*) FROM {ONCE} RIGHT JOIN visits ON pid = patient WHERE d.c = 'X'", 4),
    (f"SELECT COUNT(*) FROM visits JOIN {DAILY} ON pid = patient AND visits.day = d.day", 1),
    (f"SELECT COUNT(*) FROM visits LEFT JOIN {DAILY} ON visits.day = d.day AND patient = pid", 7),
    (f"SELECT COUNT(*) FROM visits JOIN {DAILY} ON patient = pid AND visits.day + INTERVAL '1 day' = d.day", 0),
    ("SELECT COUNT(*) FROM visits AS v JOIN (SELECT pid, UPPER(city) AS up, MIN(age) AS a FROM visits "
     "GROUP BY pid, UPPER(city)) AS u ON u.pid = v.pid AND UPPER(v.city) = u.up WHERE a = v.age", 5),
    ("SELECT COUNT(*) FROM visits JOIN (SELECT pid, MIN(age) AS least FROM visits GROUP BY pid) USING (pid) "
     "WHERE age = least", 4),
    (f"SELECT COUNT(*) FROM (SELECT v.pid, COUNT(d.c) AS n FROM visits v LEFT JOIN {ONCE} ON v.pid = d.patient "
     "GROUP BY v.pid) WHERE n = 0", 2),
    ("SELECT COUNT(*) FROM visits JOIN (SELECT pid, MAX(city) AS a FROM visits GROUP BY pid) AS e USING (pid) JOIN "
     "(SELECT pid, MIN(city) AS b FROM visits GROUP BY pid) AS f USING (pid) WHERE a <> b", 3),
]


@pytest.mark.parametrize(("text", "wanted"), JOINED, ids=[text for text, _ in JOINED])
def test_a_join_on_the_unit(text, wanted):
    assert count(text) == wanted
    plan = planned(text)
    assert planned(render(parse(text))) == plan
    assert plan_of(as_json(plan)) == plan
    assert disagreement(plan, CLINIC) is None


def test_con_03_orders_joined_to_their_customers():
    """CON-03 (a): as many as with IN."""
    declared = {"orders": {"unit": "customer_id", "max_total": 20, "columns": {"customer_id": "integer"}},
                "customers": {"unit": "customer_id", "max_total": 20, "columns": {"customer_id": "integer"}}}
    rows = {"orders": [(n % 7,) for n in range(19)] + [(99,)], "customers": [(n,) for n in range(7)]}
    one = "(SELECT DISTINCT customer_id FROM customers) AS c"
    text = f"SELECT COUNT(*) FROM orders AS o JOIN {one} ON o.customer_id = c.customer_id"
    assert count(text, catalog=clinic(declared), rows=rows) == 19


def test_a_table_without_repeats_is_joined_as_it_is():
    declared = copy.deepcopy(DECLARED)
    declared["diagnoses"]["distinct"] = ["day"]
    made = clinic(declared)
    text = "SELECT COUNT(*) FROM visits JOIN diagnoses AS d ON pid = patient AND visits.day = d.day"
    assert count(text, catalog=made) == 1
    assert "several rows" in refused("SELECT COUNT(*) FROM visits JOIN diagnoses ON pid = patient", made)


def test_a_table_with_values_for_missing_ones_may_repeat_them():
    """A refresh keeps all rows that miss a value of `distinct`; read as a declared value these repeat one another."""
    columns = DECLARED["diagnoses"]["columns"] | {"slot": {"type": "integer", "missing": 7}}
    declared = DECLARED | {"diagnoses": DECLARED["diagnoses"] | {"columns": columns, "distinct": ["slot"]}}
    source = "visits JOIN diagnoses ON pid = patient AND age = slot"
    assert "a row could become many" in refused(f"SELECT COUNT(*) FROM {source}", clinic(declared))
    declared["diagnoses"] = declared["diagnoses"] | {"columns": columns | {"slot": "integer"}}
    assert refused(f"SELECT COUNT(*) FROM {source}", clinic(declared)) == "answered"


def test_a_region_joined_on_the_unit_is_one_for_all_rows_of_a_unit():
    inner = "(SELECT pid, MIN(city) AS home FROM visits GROUP BY pid) AS h"
    plan = planned(f"SELECT home, COUNT(*) FROM visits JOIN {inner} USING (pid) GROUP BY home")
    assert plan.source.max_groups == 1


JOINS_REFUSED = [
    ("visits JOIN diagnoses ON pid = patient", "MIN(code) AS code, MIN(day) AS day FROM diagnoses GROUP BY patient)"),
    ("visits JOIN diagnoses ON city = code", "Add visits.pid = diagnoses.patient to ON"),
    (f"visits JOIN {ONCE} ON visits.day = d.day", "Add visits.pid = d.patient to ON"),
    (f"visits JOIN {ONCE} ON pid = patient AND city = d.day", "visits.city is text, and d.day is date"),
    (f"visits JOIN {ONCE} ON pid = patient AND age > 3", "ON takes equalities"),
    (f"visits JOIN {ONCE} ON pid = patient OR city = c", "ON takes equalities"),
    (f"visits JOIN {ONCE} ON pid = patient + 0", "Add visits.pid = d.patient to ON"),
    (f"visits JOIN {ONCE} ON pid = patient AND age = age + 0", "Write WHERE age = age + 0 instead."),
    (f"visits JOIN {ONCE} ON pid = patient AND city || c = 'x'", "Write WHERE city || c = 'x' instead."),
    (f"visits LEFT JOIN {ONCE} ON pid = patient AND c = 'X'", "in a subquery of the one side"),
    (f"visits JOIN {DAILY} ON pid = patient AND visits.day = d.day + INTERVAL '1 day'", "several rows"),
    (f"visits JOIN {ONCE} ON pid = patient AND (pid IN (SELECT pid FROM visits)) = (c = 'X')", "ON takes equalities"),
    ("visits JOIN visits USING (pid)", "two tables of the join are called"),
    ("visits JOIN named ON pid = name", 'the unit of "visits" is integer, and that of "named" text'),
    (f"visits, {ONCE}", "a join without a condition"), (f"visits CROSS JOIN {ONCE}", "CROSS JOIN"),
    (f"visits NATURAL JOIN {ONCE}", "NATURAL JOIN"), (f"visits FULL JOIN {ONCE} ON pid = patient", "Write LEFT JOIN"),
    (f"visits JOIN {ONCE} USING (pid)", 'no column "pid"'),
    (f"visits JOIN {DAILY} ON pid = patient", "several rows"),
    (f"visits JOIN {ONCE} ON pid = patient WHERE day > '2024-01-01'", 'column "day" could be visits.day or d.day'),
    (f"visits JOIN {ONCE} ON pid IN (SELECT pid FROM visits)", "ON takes equalities"),
]


@pytest.mark.parametrize(("source", "said"), JOINS_REFUSED, ids=[source for source, _ in JOINS_REFUSED])
def test_a_join_that_is_not_on_the_unit_or_could_grow_is_refused(source, said):
    assert said in refused(f"SELECT COUNT(*) FROM {source}")


def test_the_cure_of_a_join_works_pasted_back():
    put = "(SELECT patient, MIN(code) AS code, MIN(day) AS day FROM diagnoses GROUP BY patient) AS diagnoses"
    assert put in refused("SELECT COUNT(*) FROM visits JOIN diagnoses ON pid = patient")
    assert count(f"SELECT COUNT(*) FROM visits JOIN {put} ON pid = patient") == 6


def test_a_refused_join_of_many_rows_with_many_and_an_accepted_one_that_never_grows():
    """A unit with very many rows on both sides: what comes out has no more rows than the left side."""
    rows = ROWS | {"visits": [(1, "Leeds", 1.0, 10, 1)] * 3000, "diagnoses": [(1, "X", 1)] * 3000}
    text = f"SELECT COUNT(*) FROM visits LEFT JOIN {DAILY} ON pid = patient AND visits.day = d.day"
    declared = copy.deepcopy(DECLARED)
    declared["visits"]["max_total"] = 10**6
    assert count(text, catalog=clinic(declared), rows=rows) == 3000


@pytest.mark.slow
def test_a_unit_of_a_million_rows_on_both_sides(tmp_path):
    """Joined by unit and day, of which it has one and a thousand: a million rows come out, where all that meet would be
    10**12, and 10**9 by day. The join of all with all is refused before any row is looked at."""
    assert "could become many" in refused("SELECT COUNT(*) FROM visits JOIN diagnoses ON pid = patient")
    declared = copy.deepcopy(DECLARED)
    declared["visits"]["max_total"] = 10**6
    made = clinic(declared)
    tables = {name: f"t{n}" for n, name in enumerate(table.name for table in made.tables)}
    with duckdb.connect(str(tmp_path / "snapshot.db")) as connection:
        many = f"FROM range({10**6}) AS r(i)"
        connection.execute(f"CREATE TABLE {tables['visits']} AS SELECT 1::BIGINT AS c0, 'Leeds' AS c1, 1.0::DOUBLE AS "
                           f"c2, 10::BIGINT AS c3, 7::BIGINT AS c4 {many}")
        connection.execute(f"CREATE TABLE {tables['diagnoses']} AS SELECT 1::BIGINT AS c0, 'X' AS c1, i % 1000 AS c2 "
                           f"{many}")
    quote = price(planned(f"SELECT COUNT(*) FROM visits JOIN {DAILY} ON pid = patient AND visits.day = d.day", made),
                  F(1), made)
    [[rows]] = [one.values() for one in vectors(
        quote, DuckDB(tmp_path / "snapshot.db").evaluate(quote.lowered.core)).readings]
    assert rows * quote.priced[0].reading.unit == 10**6


PUBLIC = [  # Leeds is tagged a and b, York a; a visit without a city meets none
    ("SELECT COUNT(*) FROM visits JOIN cities USING (city)", 6),
    ("SELECT COUNT(*) FROM visits LEFT JOIN cities ON visits.city = cities.city", 7),
    ("SELECT COUNT(*) FROM visits JOIN (SELECT city, people FROM cities WHERE people = 2) AS c USING (city)", 2),
    ("SELECT COUNT(*) FROM (SELECT c.city AS town FROM cities AS c WHERE c.people = 2) AS t JOIN visits ON "
     "visits.city = town WHERE t.town IS NOT NULL", 2),
    ("SELECT COUNT(*) FROM visits LEFT JOIN (SELECT city AS town, region FROM cities) AS c ON c.town = city "
     "WHERE c.region IS NULL", 1),
    ("WITH big AS (SELECT * FROM cities WHERE people = 2), named AS (SELECT city FROM big WHERE region = 'North') "
     "SELECT COUNT(*) FROM visits JOIN named ON named.city = visits.city", 2),
    ("SELECT COUNT(*) FROM visits LEFT JOIN cities AS c USING (city) WHERE c.region IS NULL", 1),
    ("SELECT COUNT(*) FROM cities JOIN visits USING (city) WHERE people = 2", 2),
    ("SELECT COUNT(*) FROM visits JOIN tags USING (city)", 10),
    ("SELECT COUNT(*) FROM visits JOIN cities AS c ON visits.city = c.city LEFT JOIN tags AS t ON t.city = c.city", 10),
    ("SELECT SUM(weight) FROM visits JOIN tags USING (city)", 14),
    ("SELECT COUNT(DISTINCT pid) FROM visits JOIN tags USING (city) WHERE tag = 'b'", 3),
    ("SELECT COUNT(*) FROM visits JOIN cities USING (city) JOIN tags ON tags.city = cities.city AND tags.city = "
     "visits.city WHERE region = 'North'", 10),
    ("SELECT COUNT(*) FROM cities RIGHT JOIN visits USING (city) WHERE region IS NULL", 1),
    ("SELECT COUNT(*) FROM (SELECT * FROM cities RIGHT JOIN visits ON visits.city = cities.city UNION ALL "
     "SELECT c.city, region, people, v.* FROM visits AS v JOIN cities AS c USING (city)) WHERE region = 'North'", 12),
    ("SELECT COUNT(*) FROM visits JOIN cities ON UPPER(cities.city) = UPPER(visits.city) WHERE people = 2", 2),
    ("SELECT COUNT(*) FROM visits LEFT JOIN tags ON LEFT(visits.city, 1) = LEFT(tags.city, 1) WHERE tag = 'a'", 6),
    ("SELECT COUNT(*) FROM visits JOIN cities ON FLOOR(age / 10) = people AND UPPER(visits.city) = cities.city", 0),
    ("SELECT COUNT(*) FROM visits JOIN cities ON FLOOR(age / 10) = people", 3),
    ("SELECT SUM(people) FROM visits JOIN cities ON CAST(FLOOR(age / 10) AS INTEGER) = people * 1", 8),
    ("SELECT COUNT(*) FROM (SELECT pid, COUNT(DISTINCT region) AS n FROM visits LEFT JOIN cities USING (city) "
     "GROUP BY pid) WHERE n = 1", 4),
]


@pytest.mark.parametrize(("text", "wanted"), PUBLIC, ids=[text for text, _ in PUBLIC])
def test_a_join_with_a_public_table(text, wanted):
    assert count(text) == wanted
    plan = planned(text)
    assert planned(render(parse(text))) == plan
    assert plan_of(as_json(plan)) == plan
    assert disagreement(plan, CLINIC) is None


def test_keys_of_a_public_table_are_its_own_values():
    [found] = exact("SELECT region, COUNT(*) FROM visits JOIN cities USING (city) GROUP BY region")
    assert found == {("North",): 6, ("Nowhere",): 0, ("South",): 0}


def test_a_public_table_without_repeats_leaves_one_row_a_unit():
    inner = "(SELECT pid, MIN(city) AS city FROM visits GROUP BY pid) AS p"
    one, many = (planned(f"SELECT COUNT(*) FROM {inner} JOIN {name} ON p.city = {name}.city")
                 for name in ("cities", "tags"))
    assert (one.source.max_rows, many.source.max_rows) == (1, 50)


def test_what_public_tables_make_of_one_row_is_limited_by_public_facts_alone(monkeypatch):
    """Else one person's row, times a public table with itself again and again, would decide whether an answer comes."""
    monkeypatch.setitem(ROWS, "tags", [("Leeds", f"{n}", 0.0) for n in range(32)])
    made = clinic()
    once, twice = "visits JOIN tags AS a USING (city)", "visits JOIN tags AS a USING (city) JOIN tags AS b USING (city)"
    assert refused(f"SELECT COUNT(*) FROM {once}", made) == "answered"
    assert "one row could become 1,024: the limit is 1,000" in refused(f"SELECT COUNT(*) FROM {twice}", made)
    fewer = f"{once} JOIN tags AS b ON visits.city = b.city AND a.tag = b.tag"
    assert refused(f"SELECT COUNT(*) FROM {fewer}", made) == "answered"
    inner = f"(SELECT visits.pid, COUNT(*) AS n, MIN(visits.city) AS city FROM {once} GROUP BY visits.pid) AS p"
    assert refused(f"SELECT COUNT(*) FROM {inner} JOIN tags USING (city)", made) == "answered"
    unread = catalog_of(load({"curator": ALIKE, "ledger": {"epsilon": 1}, "tables": DECLARED}), PublicFacts(1))
    assert "dpcurator refresh" in refused(f"SELECT COUNT(*) FROM {once}", unread)


PUBLIC_REFUSED = [
    ("cities", "public table"), ("cities LEFT JOIN visits USING (city)", "public table"),
    ("visits JOIN cities ON city = region", 'could be visits.city or cities.city'),
    ("visits JOIN cities ON visits.city = people", "visits.city is text, and cities.people is integer"),
    ("visits JOIN cities ON visits.age > people", "ON takes equalities"),
    ("visits JOIN cities AS visits USING (city)", "two tables of the join are called"),
    ("visits RIGHT JOIN cities USING (city)", "Keep those of the other side: visits LEFT JOIN cities USING (city)."),
    ("(SELECT * FROM cities RIGHT JOIN visits USING (city))", "Name the columns, or write LEFT JOIN"),
    ("visits JOIN tags ON cost = weight * 2", "Compare one of its columns as it is, too"),  # no list of its values
    ("visits JOIN cities ON COALESCE(visits.city, '') = COALESCE(cities.city, '')", "Compare one of its columns"),
    ("visits JOIN cities ON age = cities.city", "Write CAST(age AS TEXT)."),
]


@pytest.mark.parametrize(("source", "said"), PUBLIC_REFUSED, ids=[source for source, _ in PUBLIC_REFUSED])
def test_a_public_table_is_joined_by_equal_columns_alone(source, said):
    assert said in refused(f"SELECT COUNT(*) FROM {source}")


def test_an_expression_of_a_public_column_is_in_as_many_rows_as_its_values(monkeypatch):
    """In 32 rows of each of 32 values: compared as it is a row may become 32, by its first letter 1,024."""
    monkeypatch.setitem(ROWS, "tags", [(f"L{n}", f"{m}", 0.0) for n in range(32) for m in range(32)])
    made = clinic()
    assert refused("SELECT COUNT(*) FROM visits JOIN tags ON LOWER(visits.city) = LOWER(tags.city)", made) == "answered"
    first = "visits JOIN tags ON LEFT(visits.city, 1) = LEFT(tags.city, 1)"
    assert "one row could become 1,024: the limit is 1,000" in refused(f"SELECT COUNT(*) FROM {first}", made)
    assert refused(f"SELECT COUNT(*) FROM {first} AND tag = visits.city", made) == "answered"


def test_where_each_row_is_a_unit_a_subquery_computes_and_nothing_more():
    alone = clinic({"rows": {"unit": "each row", "columns": {"x": {"type": "integer", "bounds": [0, 9]}}},
                    "cities": {"public": True, "columns": {"city": "text"}}})
    rows = {"rows": [(1,), (2,), (None,)], "cities": []}
    assert count("SELECT SUM(y) FROM (SELECT x * 2 AS y FROM rows WHERE x > 0)", catalog=alone, rows=rows) == 6
    for source in ("rows JOIN cities ON x = x", "(SELECT DISTINCT x FROM rows)"):
        assert "unit of its own" in refused(f"SELECT COUNT(*) FROM {source}", alone)


def test_the_cures_of_keys_work_pasted_back():
    inner = "(SELECT pid, day, MIN(age) AS n FROM visits GROUP BY pid, day)"
    for key in ("CASE WHEN day < '2024-01-01' THEN 'before' ELSE 'after' END", "CLIP(n, 0, 10)"):
        assert planned(f"SELECT COUNT(*) FROM {inner} GROUP BY {key}")


def test_subqueries_in_each_other_are_answered_and_their_text_bounded():
    text = "SELECT pid, age FROM visits"
    for _ in range(30):
        text = f"SELECT pid, MAX(age) AS age FROM ({text}) GROUP BY pid"
    assert count(f"SELECT SUM(CLIP(age, 0, 200)) FROM ({text})") == 190
    for _ in range(34):
        text = f"SELECT pid, MAX(age) AS age FROM ({text}) GROUP BY pid"
    assert "nested more than" in refused(f"SELECT COUNT(*) FROM ({text})")


def test_questions_of_one_subquery_in_a_batch_have_the_same_integers():
    """Of one relation and different conditions, and of others: in one statement, each its own."""
    inner = "(SELECT pid, SUM(cost) AS s, COUNT(*) AS n FROM visits GROUP BY pid)"
    texts = [f"SELECT COUNT(*), SUM(CLIP(n, 0, 9)) FROM {inner} WHERE s > {least}" for least in (3, 5)]
    texts += [f"SELECT COUNT(*) FROM {inner}", "SELECT COUNT(*) FROM visits JOIN cities USING (city)", COUNT]
    cores = [price(planned(text), F(1), CLINIC).lowered.core for text in texts]
    found = [[one.open_for_release() for one in engine.from_tables(stored(), kinds()).evaluate_all(cores)]
             for engine in (Reference, DuckDB)]
    assert found[0] == found[1]
    assert [one[0][0] for one in found[0]] == [count * 2**16 for count in (3, 2, 4, 6, 7)]


# --- UNION ALL, and numbers of rows ----------------------------------------------------------------------------------

BOTH = "SELECT pid, day FROM visits UNION ALL SELECT patient, day FROM diagnoses"
FIRST = "SELECT *, ROW_NUMBER() OVER (PARTITION BY pid ORDER BY day) AS n FROM visits"


def test_rows_of_two_tables_are_put_together():
    """visits has 7 rows that somebody owns, of 4 units; diagnoses 5, of whom 9 has no visit."""
    assert count(f"SELECT COUNT(*) FROM ({BOTH})") == 12
    assert count(f"SELECT COUNT(DISTINCT pid) FROM ({BOTH} UNION ALL (SELECT pid, day FROM visits))") == 5
    assert count(f"SELECT COUNT(*) FROM (SELECT pid FROM ({BOTH}) GROUP BY pid HAVING COUNT(*) > 3)") == 1
    assert count("SELECT COUNT(*) FROM visits WHERE pid IN (SELECT pid FROM visits WHERE age > 60 "
                 "UNION ALL SELECT patient FROM diagnoses WHERE code = 'Y')") == 2


def test_what_is_public_of_a_column_of_both_sides():
    plan = planned("SELECT COUNT(*) FROM (SELECT pid, age, city, cost FROM visits UNION ALL "
                   "SELECT pid, CLIP(age, -5, 7), 'Bath', NULLIF(cost, 1) FROM visits)")
    made = facts(plan.source.source.source, CLINIC)
    _, age, city, cost = made.table.columns
    assert (age.lower, age.upper) == (0, 100)
    assert set(city.keys) == {"Leeds", "York", "Bath"}
    assert (cost.lower, cost.upper, made.one_row, made.unit) == (0, 100, False, 0)
    assert not age.per_unit


def test_the_unit_of_both_sides_has_the_bounds_and_keys_of_both():
    """By hand: units 1, 2, 3 and 4 have 3, 2, 1 and 1 visits; 1, 3 and 9 have 1, 2 and 1 diagnoses, 2 has one."""
    declared = copy.deepcopy(DECLARED)
    declared["visits"]["columns"]["pid"] = {"type": "integer", "bounds": [0, 4]}
    declared["diagnoses"]["columns"]["patient"] = {"type": "integer", "bounds": [-2, 9]}
    text = f"SELECT SUM(pid) FROM ({BOTH})"
    assert count(text, catalog=clinic(declared)) == 3 + 4 + 3 + 4 + 1 + 2 + 6 + 9
    del declared["diagnoses"]["columns"]["patient"]["bounds"]
    assert "has no bounds" in refused(text, clinic(declared))
    declared["visits"]["columns"]["pid"] = {"type": "integer", "keys": [1, 2]}
    declared["diagnoses"]["columns"]["patient"] = {"type": "integer", "keys": [2, 9]}
    text = f"SELECT pid, COUNT(*) FROM ({BOTH}) GROUP BY pid"
    assert exact(text, catalog=clinic(declared)) == [{(1,): 4, (2,): 3, (9,): 1}]
    declared["diagnoses"]["columns"]["patient"] = "integer"
    assert "for each protected unit by itself" in refused(text, clinic(declared))


def test_the_first_row_of_each_person_needs_no_caps():
    """By hand: 1 is in Leeds first, 2 too, 3 in York (its only day is missing), 4 in Leeds."""
    assert exact(f"SELECT city, COUNT(*) FROM ({FIRST}) WHERE n = 1 GROUP BY city") == [{("Leeds",): 3, ("York",): 1}]
    last = "SELECT pid, city FROM visits QUALIFY ROW_NUMBER() OVER (PARTITION BY pid ORDER BY day DESC) = 1"
    assert exact(f"SELECT city, COUNT(*) FROM ({last}) GROUP BY city") == [{("Leeds",): 2, ("York",): 1}]
    bounded = planned(f"SELECT COUNT(*) FROM ({FIRST}) WHERE n = 1 AND city = 'York'").source
    assert (bounded.max_rows, bounded.max_groups, one_row(bounded.source.source)) == (1, 1, True)
    bounded = planned(f"SELECT COUNT(*) FROM ({FIRST}) WHERE n <= 2").source
    assert (bounded.max_rows, one_row(bounded.source.source)) == (50, False)
    assert planned(f"SELECT COUNT(*) FROM ({FIRST}) JOIN tags USING (city) WHERE n = 1").source.max_rows == 50


def test_explain_says_by_what_rows_are_numbered_listed_and_joined():
    text = ("SELECT COUNT(*) FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY pid, city ORDER BY age / 10 DESC, "
            "day NULLS FIRST) AS n FROM visits WHERE city IN (SELECT city FROM cities WHERE people > 3)) AS v "
            "JOIN tags ON UPPER(v.city) = tags.city WHERE n = 1")
    told = "\n".join(relation_lines(planned(text).source.source.source, CLINIC))
    assert "the rows of the unit, city, in order of age / 10.0 descending, then day, missing first" in told
    assert "marked: city is in city of cities, which is public, in rows that meet a condition" in told
    assert "joined to the rows of tags, which are public" in told


FIRSTS = f"SELECT * FROM ({FIRST}) WHERE n = 1"


@pytest.mark.parametrize("rows", [
    f"({FIRSTS} UNION ALL {FIRSTS})", f"({FIRST} UNION ALL {FIRST}) WHERE n = 1", f"({FIRST}) WHERE n = 1 OR n = 2",
    f"({FIRSTS}) JOIN tags USING (city)", f"(SELECT pid, n - 1 AS n FROM ({FIRST})) WHERE n = 1",
    f"(SELECT pid, 1 AS n FROM ({FIRST})) WHERE n = 1",
    "(SELECT *, ROW_NUMBER() OVER (PARTITION BY pid, city ORDER BY day) AS n FROM visits) WHERE n = 1",
])
def test_more_than_one_row_of_a_person_needs_caps(rows):
    """Both verifiers say of each that a unit may be over a cap."""
    plan = planned(f"SELECT COUNT(*) FROM {rows}")
    source = plan.source.source.source
    assert (plan.source.max_rows, one_row(source), facts(source, CLINIC).one_row) == (50, False, False)
    assert not alone.one_row(as_json(plan)["source"]["source"]["source"])


def test_equal_rows_are_put_in_order_by_all_columns():
    """The same numbers in whatever order rows are stored."""
    rows = {**ROWS, "visits": [(1, "York", 9.0, 1, 5), (1, "Leeds", 9.0, 2, 5), (1, None, 1.0, 3, 5)]}
    text = "SELECT city, SUM(age) FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY pid ORDER BY day, cost DESC) AS n " \
           "FROM visits) WHERE n = 1 GROUP BY city"
    for order in permutations(rows["visits"]):
        assert exact(text, rows={**rows, "visits": list(order)}) == [{("Leeds",): 2, ("York",): 0}]


@pytest.mark.parametrize(("text", "words"), [
    ("(SELECT pid, city FROM visits UNION ALL SELECT patient FROM diagnoses)", "has 2 columns, and the other 1"),
    ("(SELECT pid, age FROM visits UNION ALL SELECT patient, code FROM diagnoses)", "CAST one of them"),
    ("(SELECT pid FROM visits UNION SELECT patient FROM diagnoses)", "Write UNION ALL"),
    ("(SELECT pid FROM visits UNION ALL SELECT name FROM named)", 'that of "named" text'),
    ("(SELECT pid FROM visits UNION ALL SELECT city FROM cities)", "public table"),
    ("(SELECT pid FROM visits EXCEPT SELECT patient FROM diagnoses)", "NOT IN"),
    ("(SELECT pid, ROW_NUMBER() OVER (PARTITION BY city ORDER BY day) AS n FROM visits)", "Write PARTITION BY pid."),
    ("(SELECT pid, ROW_NUMBER() OVER (ORDER BY day) AS n FROM visits)", "Write PARTITION BY pid."),
    ("(SELECT pid, RANK() OVER (PARTITION BY pid ORDER BY day) AS n FROM visits)", "Write ROW_NUMBER()"),
    ("visits WHERE ROW_NUMBER() OVER (PARTITION BY pid ORDER BY day) = 1", "QUALIFY of a subquery"),
    ("(SELECT DISTINCT pid, ROW_NUMBER() OVER (PARTITION BY pid ORDER BY day) AS n FROM visits)", "SELECT DISTINCT"),
    ("visits WHERE EXISTS (SELECT 1 FROM visits UNION ALL SELECT 1 FROM diagnoses)", "EXISTS (...) OR EXISTS"),
    ("(SELECT pid FROM visits UNION ALL SELECT pid FROM visits ORDER BY pid)", "rows of a subquery have no order"),
    ("(SELECT pid FROM visits UNION ALL SELECT pid FROM visits LIMIT 3)", "which rows are the first ones"),
    ("visits QUALIFY ROW_NUMBER() OVER (PARTITION BY pid ORDER BY day) = 1", "QUALIFY in a subquery"),
    ("visits WHERE EXISTS (SELECT 1 FROM diagnoses AS d WHERE d.patient = visits.pid "
     "QUALIFY ROW_NUMBER() OVER (PARTITION BY patient ORDER BY day) = 2)",
     "Write pid IN (SELECT patient FROM ... QUALIFY ...)."),
    ("(SELECT pid, ROW_NUMBER() OVER (PARTITION BY pid ORDER BY nothing) AS n FROM visits)", '"nothing"'),
])
def test_what_is_not_put_together_or_numbered(text, words):
    said = refused(f"SELECT COUNT(*) FROM {text}")
    assert words in said
    assert not said.startswith("no cure")


@pytest.mark.parametrize("inner", [
    "SELECT DISTINCT pid FROM visits GROUP BY pid, city", "SELECT DISTINCT city FROM visits GROUP BY pid, city",
    "SELECT DISTINCT pid, COUNT(*) AS n FROM visits GROUP BY pid, city",
    "SELECT DISTINCT pid, visits.day FROM visits JOIN (SELECT patient, MIN(day) AS day FROM diagnoses "
    "GROUP BY patient) AS d ON pid = patient GROUP BY pid, d.day, visits.day",
    "SELECT DISTINCT pid, day FROM visits GROUP BY pid, day, age > 3 QUALIFY age > 3",
])
def test_distinct_beside_group_by_is_not_passed_over(inner):
    """It would leave out rows that are equal but for a key that is not shown."""
    assert "SELECT DISTINCT * FROM (SELECT ... GROUP BY ...)" in refused(f"SELECT COUNT(*) FROM ({inner})")


def test_distinct_beside_group_by_of_columns_that_are_shown_changes_nothing():
    """By hand: 1 is in two cities, 2 in one and in a missing one, 3 and 4 in one; 1 has counts 2 and 1, 2 has 1."""
    asked = "SELECT COUNT(*) FROM (SELECT DISTINCT pid, city, COUNT(*) AS n FROM visits GROUP BY 1, visits.city)"
    assert count(asked) == 6
    again = "SELECT pid, COUNT(*) AS n FROM visits GROUP BY pid, city"
    assert count(f"SELECT COUNT(*) FROM (SELECT DISTINCT * FROM ({again}))") == 5


def test_rows_that_are_units_have_no_numbers():
    alone = clinic({"rows": {"unit": "each row", "columns": {"a": "integer"}}})
    said = refused("SELECT COUNT(*) FROM (SELECT ROW_NUMBER() OVER (PARTITION BY a ORDER BY a) AS n FROM rows)", alone)
    assert "each row is a unit of its own" in said
    assert "PARTITION BY" not in said


def test_too_many_selects_put_together_are_refused():
    assert "more than 64 subqueries" in refused("SELECT COUNT(*) FROM (" + " UNION ALL ".join(
        ["SELECT pid FROM visits"] * 65) + ")")
    assert count("SELECT COUNT(*) FROM (" + " UNION ALL ".join(["SELECT pid FROM visits"] * 6) + ")") == 42


def test_the_condition_of_a_public_subquery_names_its_column_as_the_join_does():
    """Both sides have a column city: in the joined rows the public one has a number behind its name."""
    joined = "JOIN (SELECT city FROM cities WHERE city > 'H') AS c ON visits.city = c.city"
    assert disagreement(planned(f"SELECT COUNT(*) FROM visits {joined}"), CLINIC) is None
