"""The table of bad questions: each is a Refusal that says what, and what to do; it has no cause and costs nothing."""

from __future__ import annotations

import pytest
from questions import CATALOG, catalog_with, planned, quoted, with_column

from dpcurator.catalog.model import Column, Table
from dpcurator.errors import Refusal

COUNT = "SELECT COUNT(*) FROM visits"
TABLE = [
    # what is no single SELECT
    ("", "the question is empty"), ("  \n\t ", "the question is empty"), (";", "starts with SELECT"),
    ("-- nothing", "the question is empty"), (f"{COUNT}; {COUNT}", "more than one statement"),
    (f"{COUNT}; DROP TABLE visits", "more than one statement"), (f"{COUNT};;; SHOW TABLES", "more than one statement"),
    ("DROP TABLE visits", "not 'DROP'"), ("INSERT INTO visits VALUES (1)", "not 'INSERT'"), ("PRAGMA version",
    "'PRAGMA'"),
    ("UPDATE visits SET age = 1", "not 'UPDATE'"), ("DELETE FROM visits", "not 'DELETE'"), ("ATTACH 'x' AS y",
    "'ATTACH'"),
    ("COPY visits TO 'x'", "not 'COPY'"), ("CREATE TABLE x AS SELECT 1", "not 'CREATE'"),
    ("EXPLAIN " + COUNT, "'EXPLAIN'"),
    ("SET threads = 1", "not 'SET'"), ("CALL pragma_version()", "not 'CALL'"), ("VALUES (1)", "not 'VALUES'"),
    (f"({COUNT})", "starts with SELECT"), (f"{COUNT} UNION {COUNT}", "not UNION"), (f"{COUNT} EXCEPT {COUNT}",
    "EXCEPT"),
    (f"{COUNT} INTERSECT {COUNT}", "not INTERSECT"),
    (f"WITH v AS ({COUNT}) SELECT COUNT(*) FROM v", "goes by the unit"),
    # tables
    ("SELECT COUNT(*) FROM vists", 'there is no table "vists". Did you mean visits?'),
    ("SELECT COUNT(*) FROM cities", "is a public table"), ("SELECT COUNT(*)", "names no table"), ("SELECT 1",
    "no table"),
    ("SELECT COUNT(*) FROM read_csv('/etc/passwd')", "a function in FROM"), ("SELECT COUNT(*) FROM range(5)",
    "a function"),
    ("SELECT COUNT(*) FROM '/etc/passwd'", "there is no table"), ("SELECT COUNT(*) FROM (SELECT 1)",
    "a subquery names no table"),
    ("SELECT COUNT(*) FROM main.visits", "no schema"), ("SELECT COUNT(*) FROM a.b.visits", "no schema"),
    ("SELECT COUNT(*) FROM visits, cities", "JOIN"),
    ("SELECT COUNT(*) FROM visits JOIN cities USING (town)", "no column"),
    ("SELECT COUNT(*) FROM visits CROSS JOIN visits", "JOIN"),
    ("SELECT COUNT(*) FROM visits v NATURAL JOIN visits w", "JOIN"),
    ("SELECT COUNT(*) FROM visits TABLESAMPLE (10 PERCENT)", "SAMPLE"), ("SELECT COUNT(*) FROM \"Visits\"", "no table"),
    ("SELECT COUNT(*) FROM visits AS v (a, b)", "not available"), ("SELECT COUNT(*) FROM VALUES (1)",
    "a function in FROM"),
    ("SELECT COUNT(*) FROM LATERAL (SELECT 1)", "not available"), ("SELECT COUNT(*) FROM UNNEST([1])", "function"),
    # columns
    ("SELECT AVG(agee) FROM visits", 'there is no column "agee". Did you mean age?'),
    ("SELECT age FROM visits", "age is a column of single rows"), ("SELECT age, COUNT(*) FROM visits", "single rows"),
    ("SELECT age + COUNT(*) FROM visits", "single rows"), ("SELECT COUNT(*) AS :n FROM visits", "a parameter"),
    ("SELECT * FROM visits", "single rows"),
    ("SELECT visits.* FROM visits", "single rows"), ("SELECT COUNT(*), * FROM visits", "single rows"),
    ("SELECT AVG(net-gain) FROM visits", "reads as arithmetic. Put the column's name in double quotes"),
    ("SELECT AVG(Alter) FROM visits", 'A name that is also a word of SQL goes in double quotes: "Alter".'),
    ("SELECT AVG(`net-gain`) FROM visits", "not in backticks"), ("SELECT AVG([net-gain]) FROM visits",
    "ARRAY is not available"),
    ("SELECT AVG(w.age) FROM visits v", '"w" is not the table'), ("SELECT AVG(visits.age) FROM visits v",
    "is not the table"),
    ("SELECT AVG(a.b.age) FROM visits", "at most a table before it"), ('SELECT AVG("Age") FROM visits', "no column"),
    ('SELECT AVG("") FROM visits', "no column"), ("SELECT AVG('age') FROM visits", "is text, not a number"),
    (f'SELECT AVG("{"x" * 15_000}") FROM visits', "there is no column"), ('SELECT AVG("a\nb") FROM visits', r'"a\nb"'),
    ("SELECT AVG(\U0001f600) FROM visits", "\U0001f600"), ("SELECT select FROM visits", "cannot be read near 'select'"),
    ("SELECT city, COUNT(*) FROM visits", "or in GROUP BY"), ("SELECT x FROM visits", "no column"),
    # the select list
    ("SELECT FROM visits", "asks for nothing"), ("SELECT 1 FROM visits", "no aggregate"), ("SELECT",
    "asks for nothing"),
    ("SELECT DISTINCT city FROM visits GROUP BY city", "SELECT DISTINCT"), ("SELECT COUNT(*) INTO x FROM visits",
    "INTO"),
    ("SELECT DISTINCT ON (city) city FROM visits", "SELECT DISTINCT"), ("SELECT COUNT(*) OVER () FROM visits",
    "window"),
    ("SELECT SUM(age) OVER (PARTITION BY city) FROM visits", "a window function"), ("SELECT (SELECT 1) FROM visits",
    "subquery"),
    ("SELECT RANK() OVER (ORDER BY age) FROM visits", "Write ROW_NUMBER()"),
    ("SELECT COUNT(DISTINCT patient) FILTER (WHERE age > 3) FROM visits", "stands in WHERE, not in FILTER"),
    ("SELECT ROUND(SUM(age)) FILTER (WHERE age > 3) FROM visits", "FILTER here"),
    ("SELECT CASE WHEN COUNT(*) > 3 THEN 1 END FROM visits", "CASE"), ("SELECT CAST(COUNT(*) AS TEXT) FROM visits",
    "CAST to TEXT is not available on aggregates"),
    ("SELECT COUNT(*)::DECIMAL FROM visits", "CAST to DECIMAL is not"),
    ("SELECT COUNT(*) || 'x' FROM visits", "not available"), ("SELECT COUNT(*) % 2 FROM visits",
    "% is not available on aggregates"),
    ("SELECT EXISTS (SELECT 1) FROM visits", "a subquery names no table"), ("SELECT COUNT(*) AND TRUE FROM visits",
    "AND needs conditions"),
    ("SELECT -city, COUNT(*) FROM visits GROUP BY city", "needs numbers"), ("SELECT NOT COUNT(*) FROM visits",
    "NOT needs"),
    ("SELECT ROUND(COUNT(*), 1.5) FROM visits", "whole number of places"), ("SELECT ROUND() FROM visits",
    "not be|takes|read"),
    ("SELECT ROUND(COUNT(*), 31) FROM visits", "whole number of places"), ("SELECT ABS(COUNT(*), 2) FROM visits",
    "be read"),
    ("SELECT DATE '2024-02-30', COUNT(*) FROM visits", '"2024-02-30" is not a date'),
    ("SELECT INTERVAL 1 DAY FROM visits", "an interval stands only beside"),
    ("SELECT COUNT(*) > 'x' FROM visits", "compares number|compares whole"),
    ("SELECT 1e9999 * COUNT(*) FROM visits", "1,000 digits"),
    # aggregates
    ("SELECT SUM(AVG(age)) FROM visits", "SUM holds AVG"), ("SELECT SUM(age + COUNT(*)) FROM visits",
    "SUM holds COUNT"),
    ("SELECT SUM(ward * 2) FROM visits", "SUM(ward * 2) has no bounds, for ward has none"),
    ("SELECT SUM(1 / cost) FROM visits", "own bounds do not limit it. Write SUM(CLIP(1 / cost, 0, 100))"),
    ("SELECT SUM(LN(cost)) FROM visits", "SUM(LN(cost)) has no bounds: its columns' own bounds do not limit it"),
    ("SELECT AVG(LENGTH(note) || 'x') FROM visits", "is text, not a number"),
    ("SELECT AVG(day - INTERVAL '1 day') FROM visits", "is date, not a number"),
    ("SELECT SUM(age) FILTER (WHERE age > 3, 5) FROM visits", "cannot be read"),
    ("SELECT SUM(age, cost) FROM visits", "cannot be read"), ("SELECT SUM(*) FROM visits", "means nothing"),
    ("SELECT AVG(*) FROM visits", "means nothing"), ("SELECT SUM(NULL) FROM visits", "SUM takes one value"),
    ("SELECT COUNT() FROM visits", "COUNT takes one value"), ("SELECT COUNT(NULL) FROM visits",
    "COUNT takes one value"),
    ("SELECT SUM(city) FROM visits", "the column is text, not a number"), ("SELECT AVG(day) FROM visits",
    "is date, not"),
    ("SELECT SUM(ward) FROM visits", "SUM(ward) has no bounds"), ("SELECT AVG(code) FROM visits", "is uuid"),
    ("SELECT COUNT(DISTINCT cost) FROM visits", "Write COUNT(DISTINCT ROUND(cost))"),
    ("SELECT COUNT(DISTINCT LOWER(patient)) FROM visits", "Ask COUNT(DISTINCT patient). A condition"),
    ("SELECT COUNT(DISTINCT NULL) FROM visits", "as in COUNT(DISTINCT city)"),
    ("SELECT COUNT(DISTINCT note) FROM visits GROUP BY WITH_OTHER(note)", "needs a public list of keys"),
    ("SELECT COUNT(DISTINCT age) FROM visits GROUP BY WITH_OTHER(city)", "Write GROUP BY without WITH_OTHER."),
    ("SELECT SUM(DISTINCT age) FROM visits", "Write SUM(age)."),
    ("SELECT COUNT(DISTINCT patient, city) FROM visits", "different values of one column"),
    ("SELECT COUNT(DISTINCT *) FROM visits", "single"),
    ("SELECT ZEAL(age) FROM visits", "the function ZEAL is not available here. Aggregates: AVG, CORR, COUNT, "),
    ("SELECT STD(age), VAR_POP(age) FROM visits", "Write STDDEV(age)."),
    ("SELECT BOOL_AND(smoker) FROM visits", "how many are false: COUNT_IF(NOT smoker)"),
    ("SELECT EVERY(age > 3) FROM visits", "how many are false: COUNT_IF(NOT"),
    ("SELECT BOOL_OR(smoker) FROM visits", "how many are true: COUNT_IF(smoker)"),
    ("SELECT COUNT(*) FROM visits GROUP BY BIN(age, 0)", "Write it as in BIN(age, 10)"),
    ("SELECT COUNT(*) FROM visits GROUP BY BIN(age)", "Write it as in BIN(age, 10)"),
    ("SELECT COUNT(*) FROM visits GROUP BY BIN(age, cost)", "a width above 0"),
    ("SELECT NTILE(4) OVER (ORDER BY age) AS q, COUNT(*) FROM visits GROUP BY q", "Write WIDTH_BUCKET(age, 0, 100, 4)"),
    ("SELECT NTILE(1000) OVER (ORDER BY age, cost) AS q FROM visits", "Write WIDTH_BUCKET(x, 0, 100, 4)"),
    ("SELECT NTILE(4) FROM visits", "Write WIDTH_BUCKET(x, 0, 100, 4)"),
    ("SELECT COUNT_IF(*) FROM visits", "as in COUNT_IF(age > 65)"), ("SELECT COUNT_IF() FROM visits", "one condition"),
    ("SELECT COUNT_IF(age > 1, cost > 2) FROM visits", "COUNT_IF takes one condition"),
    ("SELECT LOGICAL_OR(smoker) FROM visits", "how many are true: COUNT_IF(smoker)"),
    ("SELECT CORR(age) FROM visits", "CORR takes two values"), ("SELECT VAR_POP(*) FROM visits", "means nothing"),
    ("SELECT CORR(age, ward) FROM visits", "write CORR(age, CLIP(ward, 0, 100))"),
    ("SELECT COVAR_POP(city, age) FROM visits", "COUNT(city) counts where it is present"),
    ("SELECT MAX(age) FROM visits",
    "function MAX"),
    ("SELECT MY_UDF(age) FROM visits", "the function MY_UDF is not available"), ("SELECT NOW() FROM visits",
    "not available"),
    ("SELECT STRING_AGG(note, ',') FROM visits", "not available"), ("SELECT LOWER(city) FROM visits", "function LOWER"),
    ("SELECT COUNT(age ORDER BY age) FROM visits", "ORDER"), ("SELECT COUNT(visits.*) FROM visits", "not available"),
    # WHERE
    (f"{COUNT} WHERE nosuch = 1", 'no column "nosuch"'), (f"{COUNT} WHERE COUNT(*) > 1",
    "COUNT is not available in WHERE"),
    (f"{COUNT} WHERE age IN (SELECT 1)", "a subquery"), (f"{COUNT} WHERE age = (SELECT 1)", "a subquery"),
    (f"{COUNT} WHERE EXISTS (SELECT 1)", "a subquery names no table"),
    (f"{COUNT} WHERE age > ALL (SELECT 1)", "not available"),
    (f"{COUNT} WHERE city LIKE note", "the pattern of LIKE is a literal"),
    (f"{COUNT} WHERE city LIKE 'a!' ESCAPE '!'", "ends in its escape letter"),
    (f"{COUNT} WHERE city LIKE 'a' ESCAPE '!!'", "ESCAPE takes one letter"),
    (f"{COUNT} WHERE city ILIKE 'xa' ESCAPE 'x'", "one that has no capital"),
    (f"{COUNT} WHERE age LIKE '1%'", 'LIKE needs texts, and "age" is integer. CAST it to TEXT'),
    (f"{COUNT} WHERE city LIKE ANY ('L%')", "ANY"), (f"{COUNT} WHERE city SIMILAR TO 'x'", "SIMILAR TO"),
    (f"{COUNT} WHERE city ~ 'x'", "not"),
    (f"{COUNT} WHERE age > ?", "a parameter"), (f"{COUNT} WHERE age > :x", "a parameter"),
    (f"{COUNT} WHERE age > @x", "parameter"),
    (f"{COUNT} WHERE age > $1", "no column"),
    (f"{COUNT} WHERE CAST(cost AS TEXT) = '1'", "which has no text here. Write FLOOR(x) or ROUND(x) first"),
    (f"{COUNT} WHERE CAST(age AS DECIMAL(10, 2)) > 1", "a cast to DECIMAL is not available. CAST to DOUBLE"),
    (f"{COUNT} WHERE CAST(city AS VARCHAR(3)) = 'x'", "LEFT(x, 10)"),
    (f"{COUNT} WHERE day::INT > 3", 'which has no cast to INTEGER. Write day - DATE'),
    (f"{COUNT} WHERE CAST(age AS INT FORMAT 'x') > 1", "FORMAT here"),
    (f"{COUNT} WHERE age::SMALLINT > 1", "a cast to SMALLINT"),
    (f"{COUNT} WHERE city = 5", "is text; compare it with a text"), (f"{COUNT} WHERE age = 'x'",
    "compare it with a number"),
    (f"{COUNT} WHERE day > '2024-02-30'", "compare it with a date"), (f"{COUNT} WHERE at > '2024-01-01'",
    "with its zone"),
    (f"{COUNT} WHERE age IS TRUE", 'a condition is needed, and "age" is integer'),
    (f"{COUNT} WHERE city IS JSON", "not available|cannot be read"),
    (f"{COUNT} WHERE smoker + 1 > 1", "CASE WHEN"), (f"{COUNT} WHERE city + 1 > 1", '+ needs numbers, and "city" is'),
    (f"{COUNT} WHERE -city > 1", '- needs numbers, and "city" is text'),
    (f"{COUNT} WHERE day + day > day", "+ does not go with date and date"),
    (f"{COUNT} WHERE day + 1.5 > day", "they do not add up"), (f"{COUNT} WHERE day * 2 > day", "* does not go"),
    (f"{COUNT} WHERE day + INTERVAL '1 hour' > day", "a date has no time of day"),
    (f"{COUNT} WHERE at - at > 3", "the difference of two timestamps is no number. Write DATE_DIFF"),
    (f"{COUNT} WHERE day > INTERVAL '1 day'", "date"), (f"{COUNT} WHERE INTERVAL '1 day' > 3", "compared"),
    (f"{COUNT} WHERE day + INTERVAL '1 fortnight' > day", "is not an interval"),
    (f"{COUNT} WHERE day + INTERVAL '1' YEAR TO MONTH > day", "an interval is a literal"),
    (f"{COUNT} WHERE day + INTERVAL age DAY > day", "an interval is a literal"),
    (f"{COUNT} WHERE DATE_TRUNC('century', day) = day", 'has no unit "century"'),
    (f"{COUNT} WHERE DATE_TRUNC(city, day) = day", "the unit of DATE_TRUNC is a literal"),
    (f"{COUNT} WHERE EXTRACT(hour FROM day) = 3", "which has no hour"),
    (f"{COUNT} WHERE EXTRACT(epoch FROM at) = 3", 'has no unit "epoch"'),
    (f"{COUNT} WHERE YEAR(age) = 3", 'needs a date or a timestamp, and "age" is integer'),
    (f"{COUNT} WHERE at AT TIME ZONE 'Mars/Base' = at", "zone"),
    (f"{COUNT} WHERE day AT TIME ZONE 'UTC' = day", "CAST a date to TIMESTAMP"),
    (f"{COUNT} WHERE at AT TIME ZONE 'UTC' = at", "cannot be compared"),
    (f"{COUNT} WHERE CLIP(age, 5, 1) = 1", "CLIP takes its lower end first"),
    (f"{COUNT} WHERE CLIP(age, 0, ward) = 1", "two literals"), (f"{COUNT} WHERE CLIP(city, 'a', 'b') = 'a'", "CLIP"),
    (f"{COUNT} WHERE ROUND(cost, age) = 1", "the places of ROUND"),
    (f"{COUNT} WHERE ROUND(cost, -2) = 1", "Write ROUND"),
    (f"{COUNT} WHERE SUBSTRING(city, 0) = 'x'", "the start of SUBSTRING"),
    (f"{COUNT} WHERE SUBSTRING(city, age) = 'x'", "the start of SUBSTRING"),
    (f"{COUNT} WHERE REPLACE(city, '', 'x') = 'x'", "1 to 100 letters"),
    (f"{COUNT} WHERE TRIM('x' FROM city) = 'x'", "TRIM takes spaces off only"),
    (f"{COUNT} WHERE LEAST(age, city) = 1", "values of type integer and of type text"),
    (f"{COUNT} WHERE CASE WHEN age > 1 THEN 1 ELSE 'x' END = 1", "CASE has values of type integer and"),
    (f"{COUNT} WHERE CASE age WHEN 'x' THEN TRUE END", "compare it with a number"),
    (f"{COUNT} WHERE COALESCE(age, 'x') = 1", "COALESCE has values of type"),
    (f"{COUNT} WHERE LOG(age) > 1", "LN is the natural logarithm"), (f"{COUNT} WHERE NOW() > at", "with the clock"),
    (f"{COUNT} WHERE CURRENT_DATE > day", "with the clock"), (f"{COUNT} WHERE SOUNDEX(city) = 'x'", "docs/sql.md"),
    (f"{COUNT} WHERE FLOOR(age, 2) = 1", "FLOOR takes 1 values"),
    (f"{COUNT} WHERE LOWER(city, 'x') = 'y'", "LOWER takes"),
    (f"{COUNT} WHERE age DIV 2 = 1", "FLOOR(x / y)"), (f"{COUNT} WHERE age ^ 2 = 1", "POWER(x, 2)"),
    (f"{COUNT} WHERE CONCAT(cost) = 'x'", "which has no text here"), (f"{COUNT} WHERE city || cost = 'x'", "no text"),
    (f"{COUNT} WHERE age IN (1, city)", "cannot be compared"), (f"{COUNT} WHERE 1 IN ('x')", "cannot be compared"),
    (f"{COUNT} WHERE (age, cost) = (1, 2)", "a tuple"), (f"{COUNT} WHERE age BETWEEN SYMMETRIC 3 AND 1", "SYMMETRIC"),
    (f"{COUNT} WHERE CASE WHEN age = 7 THEN 5 END", "a condition is needed"), (f"{COUNT} WHERE age = 0x1F",
    "is not a number"),
    (f"{COUNT} WHERE age = 12abc", "is not a number"), (f"{COUNT} WHERE city = 'x", "is not closed"),
    (f'{COUNT} WHERE "city = 3', "is not closed"), (f"{COUNT} /* open", "is not closed"), (f"{COUNT} WHERE",
    "cannot be read"),
    (f"{COUNT} WHERE age >", "cannot be read"), (f"{COUNT} WHERE age > 3)", "cannot be read"),
    (f"{COUNT} WHERE (age > 3", "cannot"),
    (f"{COUNT} WHERE note = 'a\x00b'", "U+0000"), (f"{COUNT} WHERE note = '\ud800'", "U+D800"), ("SELECT \udfff",
    "U+DFFF"),
    # GROUP BY, HAVING, ORDER BY, LIMIT
    ("SELECT note, COUNT(*) FROM visits GROUP BY note", "needs a public list of keys"),
    ("SELECT patient, COUNT(*) FROM visits GROUP BY patient", "for each protected unit by itself. Take it out"),
    ("SELECT COUNT(*) FROM visits GROUP BY city, city", 'GROUP BY names "city" twice'),
    ("SELECT city AS c, COUNT(*) FROM visits GROUP BY c, city", "twice"), (f"{COUNT} GROUP BY cost + 1",
    "a computed float has no list of keys"),
    (f"{COUNT} GROUP BY SUM(age)", "GROUP BY holds SUM"), (f"{COUNT} GROUP BY cost", "FLOOR(cost / 10) * 10"),
    (f"{COUNT} GROUP BY FLOOR(age / 10), FLOOR(AGE/10)", "twice"),
    (f"{COUNT} GROUP BY LOWER(note)", "needs a public list"),
    (f"{COUNT} GROUP BY at AT TIME ZONE 'UTC'", "a zone's wall clock is no key"),
    (f"{COUNT} GROUP BY DATE_TRUNC('day', at)", "needs a public list"), (f"{COUNT} GROUP BY at", "needs a public list"),
    ('SELECT COUNT(*) FROM visits GROUP BY "net-gain"', "would have 10,051 keys; a column by itself"),
    (f"{COUNT} GROUP BY INTERVAL '1 day'", "position from 1 to 1"),
    (f"{COUNT} GROUP BY nosuch", "no column"), (f"{COUNT} GROUP BY ALL", "ALL"),
    (f"{COUNT} GROUP BY ROLLUP ()", "ROLLUP"),
    (f"{COUNT} GROUP BY CUBE ()", "CUBE"), (f"{COUNT} GROUP BY GROUPING SETS ((city), (city))", "written twice"),
    ("SELECT MEDIAN(age) FROM visits GROUP BY ROLLUP (city)", "a question of its own for each set"),
    (f"{COUNT} GROUP BY 1", "GROUP BY holds COUNT"), (f"{COUNT} GROUP BY 0", "position from 1 to 1"),
    (f"{COUNT} GROUP BY 'x'", "posi"),
    (f"{COUNT} GROUP BY city HAVING nosuch > 1", 'no column or alias "nosuch"'), (f"{COUNT} HAVING age > 1",
    "single rows"),
    (f"{COUNT} HAVING COUNT(*)", "HAVING needs a condition"), (f"{COUNT} HAVING 'x'", "HAVING needs a condition"),
    (f"{COUNT} GROUP BY city HAVING city > 3", "compares text with number"), (f"{COUNT} QUALIFY 1", "QUALIFY"),
    (f"{COUNT} ORDER BY 0", "position from 1 to 1"), (f"{COUNT} ORDER BY 2", "position from 1 to 1"),
    (f"{COUNT} ORDER BY 1.5", "posi"),
    (f"{COUNT} ORDER BY -1", "position"), (f"{COUNT} ORDER BY nosuch", "no column or alias"),
    (f"{COUNT} ORDER BY age", "single rows"),
    ("SELECT COUNT(*) AS a, SUM(age) AS a FROM visits ORDER BY a", "the title of two columns"),
    (f"{COUNT} ORDER BY NULL", "position"), (f"{COUNT} ORDER BY 1 COLLATE nocase", "not available"),
    (f"{COUNT} LIMIT -1", "LIMIT takes a whole number"), (f"{COUNT} LIMIT 1.5", "LIMIT takes"),
    (f"{COUNT} LIMIT 1e3", "LIMIT takes"),
    (f"{COUNT} LIMIT '5'", "LIMIT takes"), (f"{COUNT} LIMIT age", "LIMIT takes"), (f"{COUNT} LIMIT 50 PERCENT",
    "not av|read"),
    (f"{COUNT} LIMIT (SELECT 1)", "LIMIT takes"), (f"{COUNT} OFFSET -1", "OFFSET takes"), (f"{COUNT} OFFSET 0.5",
    "OFFSET takes"),
    (f"{COUNT} FETCH FIRST 5 ROWS ONLY", "FETCH"), (f"{COUNT} FOR UPDATE", "FOR UPDATE"),
    (f"{COUNT} WINDOW w AS ()", "a window"),
    # size and nesting
    ("SELECT " + "(" * 60 + "1" + ")" * 60 + " FROM visits", "nested more than 40"),
    (f"{COUNT} WHERE {'NOT ' * 60}smoker", "nested"),
    (f"SELECT {'-' * 39 + ' '}{'- ' * 60}COUNT(*) FROM visits", "empty|nested|asks|cannot"),
    ("SELECT " + "CASE " * 60, "nested"),
    ("SELECT " + "+".join(["COUNT(*)"] * 200) + " FROM visits", "nested more than 64 deep"),
    (f"{COUNT} -- " + "x" * 1_000_000, "1,000,031 characters; the limit is 20,000"), ("(" * 30_000, "characters"),
    ("SELECT " + ",".join(["1"] * 3000) + " FROM visits", "words; the limit is 4,000"),
]
TABLE += [
    ("SELECT age // 10 d, COUNT(*) FROM visits GROUP BY d", "Write FLOOR(x / y)"),
    ("SELECT AVG(age ** 2) FROM visits", "Write POWER(x, y)"),
    ("SELECT COUNT() FROM visits", "Write COUNT(*), of all rows"),
    ("SELECT city COUNT(*) FROM visits GROUP BY city", "A comma may be missing: city, COUNT."),
    ("SELECT AVG(age) AVG(cost) FROM visits", "A comma may be missing: ), AVG."),
    ("SELECT AVG(age FROM visits", "is not closed"), ("SELECT AVG(age)) FROM visits", "that was not opened"),
    ("SELECT COUNT(*) FROM", "ends there, unfinished"), ("SELECT COUNT(*) FROM visits WHERE", "ends there, unfinished"),
]
NOT_TEXT = [None, 5, b"SELECT 1", ["SELECT 1"], object()]


@pytest.mark.parametrize(("text", "said"), TABLE, ids=[repr(text)[:70] for text, _ in TABLE])
def test_a_bad_question_is_refused_in_words(text, said):
    with pytest.raises(Refusal) as refused:
        planned(text)
    error = refused.value
    assert any(part in str(error) for part in said.split("|")), str(error)
    assert error.exit_code == 2
    assert error.cure
    assert error.__cause__ is None
    assert error.__suppress_context__ or error.__context__ is None
    assert len(str(error)) < 500
    str(error).encode()  # no lone surrogate reaches a terminal
    assert "\n" not in str(error)


@pytest.mark.parametrize("question", NOT_TEXT, ids=lambda question: type(question).__name__)
def test_what_is_no_text_is_refused(question):
    with pytest.raises(Refusal, match="a question is a text"):
        planned(question)


@pytest.mark.parametrize("epsilon", ["0", "-1", "1e-300", "-1e300"])
def test_a_price_that_is_none_is_refused(epsilon):
    with pytest.raises(Refusal, match="epsilon") as refused:
        quoted(COUNT, epsilon)
    assert refused.value.cure


@pytest.mark.parametrize("confidence", [0, 1, -1, 2])
def test_a_confidence_that_is_none_is_refused(confidence):
    with pytest.raises(Refusal, match="confidence"):
        quoted(COUNT, confidence=confidence)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("SELECT AVG(agee) FROM visits", "line 1, column 12"),
        ("SELECT city,\n  COUNT(*),\n  AVG(agee)\nFROM visits GROUP BY city", "line 3, column 7"),
        ("SELECT COUNT(*)\nFROM visits\nWHERE age > 3\r\n  AND nosuch = 3", "line 4, column 7"),
        ('SELECT COUNT(*),\n "two\nlines" FROM visits', "line 2, column 2"),
        ("SELECT COUNT(*) FROM\n\n   vists", "line 3, column 4"),
        ("SELECT\tSTD(age) FROM visits", "line 1, column 8"), ("SELECT /* \n\n */ MAX(age) FROM visits",
        "line 3, column 5"),
        ("SELECT 'é\U0001f600', AVG(agee) FROM visits", "line 1, column 18"), ("SELECT COUNT(*)\nFROM 'x\x00'",
        "line 2, column 8"),
        ("SELECT COUNT(*) FROM visits\nORDER BY nosuch", "line 2, column 10"),
    ],
)
def test_the_place_is_where_the_word_starts(text, where):
    with pytest.raises(Refusal) as refused:
        planned(text)
    assert refused.value.where == where


def test_a_cap_that_is_not_declared_is_asked_for_by_name():
    bare = Table("t", (Column("u", "text"), Column("g", "text", keys=("a",))), "u")
    with pytest.raises(Refusal, match="declares no cap on how many rows") as refused:
        planned("SELECT COUNT(*) FROM t", catalog_with(bare))
    assert "max_total = 20" in refused.value.cure
    half = Table("t", bare.columns, "u", max_rows=3)
    assert planned("SELECT COUNT(*) FROM t", catalog_with(half)).source.max_rows == 3
    assert planned("SELECT COUNT(*) FROM t GROUP BY g", catalog_with(half)).source.max_groups == 1


def test_too_many_keys_are_refused():
    wide = with_column(CATALOG.tables[0], "ward", keys=tuple(range(400_000)))
    with pytest.raises(Refusal, match=r"1,200,000 keys; the limit is 1,000,000"):
        planned("SELECT COUNT(*) FROM visits GROUP BY ward, city", catalog_with(wide))


def test_columns_that_differ_in_case_only():
    table = Table("t", (Column("UserId", "text"), Column("Score", "float", 0, 1), Column("score",
    "float", 0, 2)), "UserId",
                  max_rows=1, max_groups=1)
    catalog = catalog_with(table)
    plan = planned('SELECT AVG("Score"), AVG("score"), COUNT(DISTINCT userid) FROM T', catalog)
    assert [call.column.upper for call in plan.calls[:2]] == [1, 2]
    assert [output.title for output in plan.outputs[:2]] == ['AVG("Score")', 'AVG("score")']
    with pytest.raises(Refusal, match='could be "Score" and score'):
        planned("SELECT AVG(SCORE) FROM t", catalog)
