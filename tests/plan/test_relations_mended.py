"""Bad questions of several tables: each is refused with its place, and its cure works pasted back, for nothing."""

from __future__ import annotations

import pytest
from clinic import clinic, curator, planned
from cures import declared, mended

from dpcurator.errors import Refusal

ONCE = "(SELECT patient, MIN(code) AS c, MIN(day) AS day FROM diagnoses GROUP BY patient) AS d"
DAILY = "(SELECT patient, day, COUNT(*) AS n FROM diagnoses GROUP BY patient, day) AS d"
COUNT = "SELECT COUNT(*) FROM visits"

MENDED = [  # what is said of it; the refusal holds the cure as a program applies it, and as a sentence
    # unknown and ambiguous names
    ("SELECT COUNT(*) FROM vists", 'no table "vists"'),
    (f"{COUNT} JOIN diagnosis ON pid = patient", 'no table "diagnosis"'),
    (f"{COUNT} WHERE pid IN (SELECT patient FROM diagnose)", 'no table "diagnose"'),
    ("SELECT COUNT(*) FROM (SELECT pid, cty FROM visits)", 'no column "cty"'),
    ("WITH x AS (SELECT pid, city FROM visits) SELECT COUNT(*) FROM x WHERE cty = 'Leeds'", 'no column "cty"'),
    (f"{COUNT} AS v WHERE visits.city = 'Leeds'", '"visits" is not the table of this question'),
    (f"{COUNT} JOIN {ONCE} ON pid = patient WHERE day > '2024-01-01'", "could be visits.day or d.day"),
    ("SELECT city, COUNT(*) FROM visits JOIN cities ON visits.city = cities.city GROUP BY city", "visits.city or"),
    # columns of two types
    (f"{COUNT} JOIN {ONCE} ON pid = patient AND city = d.day", "visits.city is text, and d.day is date"),
    (f"{COUNT} JOIN cities ON age = cities.city", "visits.age is integer, and cities.city is text"),
    (f"{COUNT} JOIN tags ON visits.city = tags.city AND age = weight", "tags.weight is float"),
    (f"{COUNT} JOIN (SELECT pid, MIN(city) AS day FROM visits GROUP BY pid) AS h USING (pid, day)", "h.day is text"),
    # without the unit
    (f"{COUNT} JOIN {ONCE} ON visits.day = d.day", "compares their units"),
    (f"{COUNT} JOIN (SELECT pid, MIN(day) AS day FROM visits GROUP BY pid) AS f USING (day)", "compares their units"),
    # a right side with several rows
    (f"{COUNT} JOIN diagnoses ON pid = patient", "may have several rows"),
    (f"{COUNT} JOIN diagnoses AS d ON pid = d.patient", "may have several rows"),
    (f"{COUNT} LEFT JOIN diagnoses AS d ON pid = patient AND visits.day = d.day", "may have several rows"),
    (f"{COUNT} JOIN {DAILY} ON pid = patient", "may have several rows"),
    (f"WITH d AS (SELECT patient, day FROM diagnoses) {COUNT} JOIN d ON pid = patient", "may have several rows"),
    # names of WITH
    ("WITH RECURSIVE a AS (SELECT pid FROM visits) SELECT COUNT(*) FROM a", "WITH RECURSIVE"),
    # correlated subqueries
    (f"{COUNT} AS v WHERE cost > (SELECT AVG(w.cost) FROM visits AS w WHERE w.pid = v.pid)", "a subquery is not"),
    (f"{COUNT} AS v WHERE (SELECT COUNT(*) FROM diagnoses AS d WHERE v.pid = d.patient AND d.code = 'X') = 0",
     "a subquery is not"),
    (f"{COUNT} WHERE EXISTS (SELECT 1 FROM diagnoses)", "those of the same unit"),
    (f"{COUNT} AS v WHERE NOT EXISTS (SELECT 1 FROM diagnoses AS d WHERE d.code = v.city AND d.day > '2024-01-01')",
     "those of the same unit"),
    (f"{COUNT} WHERE city IN (SELECT code FROM diagnoses WHERE code = 'X')", "only for the protected unit"),
    (f"{COUNT} WHERE pid IN (SELECT code FROM diagnoses)", "gives something else than patient"),
    # other window functions
    ("SELECT COUNT(*) FROM (SELECT pid, SUM(cost) OVER (PARTITION BY pid) AS s FROM visits WHERE age > 3) WHERE s > 3",
     "a window function"),
    ("SELECT COUNT(*) FROM (SELECT pid, COUNT(*) OVER (PARTITION BY pid) AS n FROM visits) WHERE n > 3", "a window"),
    ("SELECT COUNT(*) FROM (SELECT pid, RANK() OVER (PARTITION BY pid ORDER BY day) AS n FROM visits) WHERE n = 1",
     "RANK() is not available"),
    ("SELECT COUNT(*) FROM (SELECT pid, ROW_NUMBER() OVER (ORDER BY day) AS n FROM visits) WHERE n = 1", "of one unit"),
    ("SELECT COUNT(*) FROM (SELECT pid, ROW_NUMBER() OVER (PARTITION BY city ORDER BY day) AS n FROM visits)",
     "of one unit"),
    ("SELECT COUNT(*) FROM (SELECT pid, ROW_NUMBER() OVER (PARTITION BY pid ORDER BY day ROWS BETWEEN 1 PRECEDING AND "
     "CURRENT ROW) AS n FROM visits) WHERE n = 1", "no frame of rows"),
    # others
    (f"{COUNT} JOIN (SELECT DISTINCT city FROM cities WHERE people > 3) AS c USING (city)", "over a public table"),
]


def refusal(text: str) -> Refusal:
    with pytest.raises(Refusal) as found:
        planned(text)
    return found.value


def outcome(text: str) -> Refusal | None:
    """What it is refused with; None where it is answered."""
    try:
        planned(text)
    except Refusal as refused:
        return refused
    return None


@pytest.mark.parametrize(("text", "said"), MENDED, ids=[text[:90] for text, _ in MENDED])
def test_it_is_refused_with_its_place_and_the_cure_is_accepted(text, said):
    refused = refusal(text)
    assert said in refused.what
    assert refused.where.startswith("line 1, column ")
    for _ in range(2):
        text, _ = mended(text, declared(), refused, refused.mends[0])
        again = outcome(text)
        if again is None:
            return
        assert str(again) != str(refused)
        refused = again
    raise AssertionError(str(refused))


CHAIN = "".join(f", a{n} AS (SELECT pid FROM a{n - 1})" for n in range(1, 62))
DEEP = "SELECT pid FROM visits"
for _ in range(64):
    DEEP = f"SELECT pid FROM ({DEEP})"

PASTED = [  # the question, what is said, words of its cure, and a question that they are pasted into
    ("WITH a AS (SELECT * FROM b), b AS (SELECT * FROM a) SELECT COUNT(*) FROM a", '"b" to a SELECT that uses what',
     "Name a table of the catalog there: visits", "WITH a AS (SELECT * FROM visits), b AS (SELECT * FROM a) "
     "SELECT COUNT(*) FROM a"),
    ("WITH a AS (SELECT pid FROM b), b AS (SELECT pid FROM c), c AS (SELECT pid FROM a) SELECT COUNT(*) FROM c",
     '"b" to a SELECT that uses what uses', "visits", "WITH a AS (SELECT pid FROM visits), c AS (SELECT pid FROM a) "
     "SELECT COUNT(*) FROM c"),
    ("WITH a AS (SELECT * FROM b), b AS (SELECT * FROM visits) SELECT COUNT(*) FROM a", '"b" only after it is used',
     "Give it before what uses it", "WITH b AS (SELECT * FROM visits), a AS (SELECT * FROM b) "
     "SELECT COUNT(*) FROM a"),
    ("WITH a AS (SELECT pid FROM b), b AS (SELECT pid FROM visits) SELECT COUNT(*) FROM a", "only after it is used",
     "WITH b AS (...), ...", "WITH b AS (SELECT pid FROM visits), a AS (SELECT pid FROM b) SELECT COUNT(*) FROM a"),
    ("WITH a AS (SELECT * FROM a) SELECT COUNT(*) FROM a", 'the name "a" for what uses it',
     "Name a table of the catalog", "WITH a AS (SELECT * FROM visits) SELECT COUNT(*) FROM a"),
    (f"SELECT COUNT(*) FROM ({DEEP})", "nested more than", "WITH a AS (...), b AS (SELECT ... FROM a)",
     f"WITH a0 AS (SELECT pid FROM visits){CHAIN} SELECT COUNT(*) FROM a61"),
    (f"WITH a0 AS (SELECT pid FROM visits){CHAIN}, b AS (SELECT pid FROM a61), c AS (SELECT pid FROM b), "
     "d AS (SELECT pid FROM c) SELECT COUNT(*) FROM d", "more than 64 subqueries", "more simply",
     "WITH a0 AS (SELECT pid FROM visits), d AS (SELECT pid FROM a0) SELECT COUNT(*) FROM d"),
    ("SELECT COUNT(*) FROM (SELECT city, day AS city FROM visits) WHERE city = 'York'", "two columns of the subquery",
     "city AS other", "SELECT COUNT(*) FROM (SELECT city, day AS other FROM visits) WHERE city = 'York'"),
    (f"{COUNT} JOIN {ONCE} ON pid = patient AND age > 3", "ON takes equalities", "WHERE age > 3",
     f"{COUNT} JOIN {ONCE} ON pid = patient WHERE age > 3"),
    (f"{COUNT} AS v WHERE EXISTS (SELECT 1 FROM diagnoses AS d WHERE d.patient = v.pid AND d.day > v.day)",
     "v.day is a column of the question around",
     "JOIN (SELECT patient, MAX(day) AS day FROM diagnoses GROUP BY patient) AS own ON own.patient = v.pid",
     f"{COUNT} AS v JOIN (SELECT patient, MAX(day) AS day FROM diagnoses GROUP BY patient) AS own "
     "ON own.patient = v.pid WHERE own.day > v.day"),
    (f"{COUNT} AS v WHERE pid IN (SELECT patient FROM diagnoses WHERE v.day >= day)", "of the question around",
     "write WHERE own.day <= v.day",
     f"{COUNT} AS v JOIN (SELECT patient, MIN(day) AS day FROM diagnoses GROUP BY patient) AS own "
     "ON own.patient = v.pid WHERE own.day <= v.day"),
    (f"{COUNT} AS v WHERE EXISTS (SELECT 1 FROM diagnoses AS d WHERE d.patient = v.pid AND d.code = UPPER(v.city))",
     "of the question around", "JOIN (SELECT DISTINCT patient, code FROM diagnoses) AS own ON own.patient = v.pid AND "
     "own.code = UPPER(v.city)", f"{COUNT} AS v JOIN (SELECT DISTINCT patient, code FROM diagnoses) AS own "
     "ON own.patient = v.pid AND own.code = UPPER(v.city)"),
    (f"{COUNT} WHERE cost > (SELECT AVG(cost) FROM visits)", "a subquery is not available", "ask it",
     "SELECT AVG(cost) FROM visits"),
    ("SELECT COUNT(*) FROM (SELECT pid, LAG(day) OVER (PARTITION BY pid ORDER BY day) AS n FROM visits)",
     "a window function", "ROW_NUMBER() OVER (PARTITION BY unit ORDER BY x)",
     "SELECT COUNT(*) FROM (SELECT pid, ROW_NUMBER() OVER (PARTITION BY pid ORDER BY day) AS n FROM visits)"),
    ("SELECT COUNT(*) FROM (SELECT pid, ROW_NUMBER() OVER (PARTITION BY pid) AS n FROM visits) WHERE n = 1",
     "in an order", "PARTITION BY unit ORDER BY column",
     "SELECT COUNT(*) FROM (SELECT pid, ROW_NUMBER() OVER (PARTITION BY pid ORDER BY day) AS n FROM visits)"),
    ("SELECT AVG(age / SUM(age) OVER (PARTITION BY city)) FROM visits", "a window function",
     "SELECT city, SUM(age) FROM visits GROUP BY city", "SELECT city, SUM(age) FROM visits GROUP BY city"),
    (f"{COUNT} JOIN cities ON UPPER(visits.city) = region || cities.city", "in how many rows of the public table",
     "Compare one of its columns as it is, too", f"{COUNT} JOIN cities ON UPPER(visits.city) = region || cities.city "
     "AND visits.city = cities.city"),
    (f"{COUNT} JOIN cities ON visits.city = cities.city AND RANDOM() < age", "the function RANDOM", "Leave it out",
     f"{COUNT} JOIN cities ON visits.city = cities.city"),
    (f"{COUNT} WHERE city IN (SELECT DISTINCT ON (region) city FROM cities)", "DISTINCT ON", "choose its rows in WHERE",
     f"{COUNT} WHERE city IN (SELECT city FROM cities WHERE region = 'North')"),
    (f"{COUNT} WHERE city IN (SELECT city FROM cities QUALIFY ROW_NUMBER() OVER (PARTITION BY city ORDER BY city) = 1)",
     "QUALIFY over a public table", "Leave it out", f"{COUNT} WHERE city IN (SELECT city FROM cities)"),
    (f"{COUNT} JOIN (SELECT DISTINCT city FROM cities) AS c USING (city)", "SELECT DISTINCT over a public table",
     "cities AS c", f"{COUNT} JOIN cities AS c USING (city)"),
    (f"{COUNT} JOIN (SELECT region, COUNT(*) AS n FROM cities GROUP BY region) AS c ON city = c.region",
     "GROUP BY over a public table", "cities AS c", f"{COUNT} JOIN cities AS c ON visits.city = c.region"),
    (f"{COUNT} JOIN (SELECT UPPER(city) AS c FROM cities) AS u ON city = u.c", "no column of it",
     "write the expression where it is used", f"{COUNT} JOIN (SELECT city AS c FROM cities) AS u ON city = UPPER(u.c)"),
    (f"{COUNT} LEFT JOIN (SELECT city FROM cities WHERE people > 1) AS c USING (city)", "in a subquery of LEFT JOIN",
     "Write JOIN", f"{COUNT} JOIN (SELECT city FROM cities WHERE region = 'North') AS c USING (city)"),
    (f"{COUNT} CROSS JOIN cities", "CROSS JOIN", "JOIN cities ON", f"{COUNT} JOIN cities ON visits.city = cities.city"),
    (f"{COUNT}, cities WHERE visits.city = cities.city", "a join without a condition", "JOIN cities ON",
     f"{COUNT} JOIN cities ON visits.city = cities.city"),
    (f"{COUNT} NATURAL JOIN cities", "NATURAL JOIN", "JOIN cities USING", f"{COUNT} JOIN cities USING (city)"),
    (f"{COUNT} FULL JOIN cities USING (city)", "FULL JOIN", "LEFT JOIN", f"{COUNT} LEFT JOIN cities USING (city)"),
    (f"{COUNT} RIGHT JOIN cities USING (city)", "nobody owns", "visits LEFT JOIN cities USING (city)",
     f"{COUNT} LEFT JOIN cities USING (city)"),
    ("SELECT COUNT(*) FROM (SELECT city, COUNT(*) AS n FROM visits GROUP BY city)", "goes by the unit", "Add pid to it",
     "SELECT COUNT(*) FROM (SELECT pid, city, COUNT(*) AS n FROM visits GROUP BY pid, city)"),
]


@pytest.mark.parametrize(("text", "said", "cure", "pasted"), PASTED, ids=[one[0][:90] for one in PASTED])
def test_it_is_refused_and_what_its_cure_says_is_accepted(text, said, cure, pasted):
    refused = refusal(text)
    assert said in refused.what
    assert refused.where
    assert cure in refused.cure
    planned(pasted)


def test_units_of_two_types_are_the_stewards_to_mend():
    text = f"{COUNT} JOIN (SELECT name, MIN(code) AS c FROM named GROUP BY name) AS n ON pid = name"
    assert "declares both units with one type" in refusal(text).cure
    told = {"visits": {"unit": "pid", "max_total": 50, "columns": {"pid": "integer"}},
            "named": {"unit": "name", "max_total": 50, "columns": {"name": "integer", "code": "text"}}}
    planned(text, clinic(told))


def test_nothing_is_charged():
    made = curator()
    for text in [*(one[0] for one in MENDED), *(one[0] for one in PASTED)]:
        with pytest.raises(Refusal):
            made.ask(text, epsilon=1)
    assert made.ledger.budget().spent == 0
