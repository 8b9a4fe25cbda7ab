"""Whatever the text, only a Plan or a Refusal comes out: no other exception, no warning, no log line, no print.

And nothing outside the allow-list is accepted: the tree of every accepted text has node classes of `ALLOWED` only.
"""

from __future__ import annotations

import logging
import random
from contextlib import suppress

import pytest
from questions import CATALOG, planned

from dpcurator.aggregates import AGGREGATES
from dpcurator.errors import Refusal
from dpcurator.fronts.sql import question_of, trees
from dpcurator.fronts.text import guard
from dpcurator.plan.bind import bind
from dpcurator.plan.canonical import as_json, plan_of
from dpcurator.plan.nodes import Plan

_ALLOWED = """
    Select From Table TableAlias Identifier Column Alias Literal Boolean Null Paren Neg Not Is In Between And Or Add
    Sub Mul Div EQ NEQ LT LTE GT GTE Count Sum Avg Round Abs Coalesce Nullif Star Distinct Cast DataType Where Group
    Having Order Ordered Limit Offset Semicolon Mod DPipe NullSafeEQ NullSafeNEQ Like ILike Escape Case If Filter
    Interval Var AtTimeZone Extract Trim Substring TryCast Anonymous Floor Ceil
    Subquery With CTE Join Exists Union Qualify Window WindowSpec ArgMin ArgMax
"""
ALLOWED = set(_ALLOWED.split())
SEEDS = (
    "SELECT city, COUNT(*) AS n, AVG(age) FROM visits WHERE age >= 18 AND NOT smoker GROUP BY city ORDER BY n LIMIT 5",
    "SELECT SUM(cost) / NULLIF(COUNT(*), 0), ROUND(100.0 * COUNT(note) / COUNT(*), 1) FROM visits v "
    "WHERE v.day > DATE '2022-01-01'",
    'SELECT "city" AS "Region Name", COUNT(DISTINCT patient) FROM "visits" GROUP BY 1 '
    "HAVING COUNT(*) > 10 AND city IN ('York')",
    'SELECT ward, day, COALESCE(AVG("net-gain"), -1) FROM visits WHERE age BETWEEN 1 AND 2.5 OR code IS NULL '
    "GROUP BY ward, day",
    "SELECT SUM(CASE WHEN age % 2 = 0 THEN cost * 2 ELSE 0 END), "
    "COUNT(*) FILTER (WHERE note NOT LIKE 'a!%' ESCAPE '!') "
    "FROM visits WHERE LOWER(TRIM(city)) || 'x' ILIKE 'y%' AND SUBSTRING(note FROM 2 FOR 3) IS DISTINCT FROM 'z'",
    "SELECT FLOOR(age / 10) * 10 AS bin, AVG(CLIP(POWER(gain, 2), 0, 1)) FROM visits "
    "WHERE (age > 3) IS NOT TRUE GROUP BY bin",
    "SELECT DATE_TRUNC('month', day) AS m, COUNT(CAST(note AS INTEGER)) FROM visits "
    "WHERE EXTRACT(hour FROM at AT TIME ZONE 'Europe/Paris') < 9 AND day + INTERVAL '1 month' > DATE '2022-01-01' "
    "GROUP BY DATE_TRUNC('month', day)",
    "SELECT AVG(CLIP(n, 0, 9)) FROM (SELECT patient, COUNT(*) AS n, ARG_MIN(city, day) AS town, BOOL_OR(smoker) AS s "
    "FROM visits WHERE age > 3 GROUP BY patient HAVING COUNT(*) > 1 ) AS t WHERE s AND town = 'York'",
    "WITH a AS (SELECT * FROM visits WHERE age > 3 ), b AS (SELECT DISTINCT patient FROM a ) "
    "SELECT city, COUNT(*) FROM a LEFT JOIN b ON a.patient = b.patient GROUP BY city",
    "SELECT COUNT(*) FROM visits AS v WHERE patient NOT IN (SELECT patient FROM visits WHERE age > 60 ) "
    "OR EXISTS (SELECT 1 FROM visits AS w WHERE w.patient = v.patient AND w.smoker )",
    "SELECT SUM(age) FROM (SELECT patient, age FROM visits UNION ALL SELECT patient, age FROM visits "
    "QUALIFY ROW_NUMBER() OVER (PARTITION BY patient ORDER BY day DESC NULLS FIRST ) = 1 ) AS r",
    "SELECT COUNT(*) FROM visits WHERE at < TIMESTAMP '2024-05-31T12:00:00Z' AND note <> 'it''s' LIMIT 3 OFFSET 1",
)
_WORDS = r"""
    SELECT FROM WHERE GROUP BY HAVING ORDER LIMIT OFFSET AS ON IN IS NULL NOT AND OR BETWEEN CASE WHEN THEN ELSE END
    LIKE UNION ALL EXCEPT WITH JOIN LEFT LATERAL UNNEST OVER PARTITION FILTER WITHIN DISTINCT CAST TRY_CAST DATE
    TIMESTAMP INTERVAL ARRAY STRUCT MAP EXISTS ANY SOME TRUE FALSE ASC DESC NULLS FIRST ROWS FETCH NEXT ONLY TOP
    INTO VALUES SET INSERT DROP TABLE PRAGMA COPY USING TABLESAMPLE PIVOT QUALIFY WINDOW ROLLUP CUBE COLLATE ESCAPE
    AT TIME ZONE PRIOR CONNECT LAMBDA EXTRACT SUBSTRING TRIM POSITION COUNT SUM AVG ROUND ABS COALESCE NULLIF MEDIAN
    LIKE ILIKE ESCAPE FLOOR( CLIP( LOWER( CONCAT( DATE_TRUNC( 'month' 'day' LEAST( POWER( EXTRACT(year DATE_DIFF(
    INTERVAL
    MAX visits city age cost note patient v n day ward smoker nosuch cities ( ) [ ] { } , . ; : :: ? @ $1 # % ^ & |
    || ~ ! = == <> != < <= > >= <=> -> ->> => + - * / // ** \ ` '' 'x' "age" "a""b" 1 0 -1 2.5 .5 1e5 1e999 0x1F
    1_000 $$ $$x$$ -- /* */ x'41' b'1' E'\n' N'x' U&'x' {{ }} 😀 é
"""
WORDS = [*_WORDS.split(), "\t", "\n", "\r\n", "--\n"]


def texts(number: int, seed: int):
    """Half mutated statements, half token soup."""
    rng = random.Random(seed)
    for i in range(number):
        if i % 2:
            yield "SELECT " + " ".join(rng.choice(WORDS) for _ in range(rng.randint(1, 25)))
            continue
        tokens = rng.choice(SEEDS).split(" ")
        for _ in range(rng.choice((1, 1, 1, 2, 4))):
            place, action = rng.randrange(len(tokens)), rng.randrange(6)
            if action == 0:
                tokens[place:place] = [rng.choice(WORDS)]
            elif action == 1:
                tokens[place] = rng.choice(WORDS)
            elif action == 2 and len(tokens) > 1:
                del tokens[place]
            elif action == 3:
                tokens[place:place] = rng.choice(SEEDS).split(" ")[: rng.randint(1, 8)]
            elif action == 4:
                tokens[place] = tokens[place] * rng.randint(2, 40)
            else:
                word = tokens[place]
                cut = rng.randrange(len(word) + 1)
                tokens[place] = word[:cut] + chr(rng.choice((rng.randrange(128), rng.randrange(0x11000)))) + word[cut:]
        yield " ".join(tokens)


def check(text: str) -> bool:
    """Whether the text was accepted; anything but a Plan or a Refusal fails."""
    try:
        plan = planned(text)
    except Refusal as error:
        refused = error
    else:
        refused = None
    if refused is not None:
        assert refused.__cause__ is None
        assert refused.what
        str(refused).encode()
        return False
    assert isinstance(plan, Plan)
    assert plan_of(as_json(plan)) == plan
    classes = {type(node).__name__ for tree in trees(text) for node in tree.walk()}
    assert classes <= ALLOWED, (text, classes - ALLOWED)
    return True


@pytest.fixture
def silence(caplog, capfd):
    """Fails when anything was logged or printed; pytest is told elsewhere to make errors of warnings."""
    with caplog.at_level(logging.DEBUG):
        yield
    assert [record for record in caplog.records if record.name.split(".")[0] in ("sqlglot", "root", "dpcurator")] == []
    assert capfd.readouterr() == ("", "")


@pytest.mark.usefixtures("silence")
@pytest.mark.parametrize("seed", range(1, 51))
def test_only_a_plan_or_a_refusal_comes_out(seed, tries):
    accepted = sum(map(check, texts(tries, seed)))
    assert accepted > tries / 200 or tries < 1000


@pytest.mark.usefixtures("silence")
def test_an_odd_path_into_json_is_refused_in_silence():
    """The parser logs a path that it cannot read."""
    assert not any(map(check, ("SELECT note ->> 1e5 FROM visits", "SELECT note -> 1e999 FROM visits")))


def test_what_is_mutated_is_accepted_as_it_is():
    assert all(map(check, SEEDS))


def test_no_shape_of_tree_is_left_to_the_catch_all(tries):
    """`parse` turns any stumble over a tree into a Refusal; none is met here, so none is hidden by that."""
    for text in texts(tries, seed=99):
        try:
            guard(text)
            found = trees(text)
        except Exception:  # what the first look or the parser refuses
            continue
        for tree in found:
            with suppress(Refusal):
                bind(question_of(tree, text), CATALOG, AGGREGATES)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT " + word * 3_000
        for word in ("(", "[", "{", "-", "- ", "NOT ", "~", "+ ", "CASE ", "CASE WHEN ", "a.", "a::int", "a->",
        "f(", "@", "@ ",
                     "PRIOR ", "ANY ", "EXISTS ", "INTERVAL ", "DISTINCT ", "ARRAY<", "CAST(", "1 IN (", "x -> ",
                     "ALL ", "a ? ",
                     "SELECT ", "FROM ", "WITH ", "|| ", "a IS ", "a BETWEEN ", "a = ", "a AND ", "a OR NOT ",
                     "a ** ", "a, ", "'", '"')
    ]
    + ["SELECT COUNT(*) FROM visits WHERE " + "CAST(age AS " + "ARRAY<" * 1000, "SELECT " + "STRUCT<a " * 1000,
       "SELECT COUNT(*) FROM " + "visits JOIN " * 900, "SELECT 1 " + "UNION SELECT 1 " * 900,
       "SELECT 1 FROM t" + " PIVOT" * 900,
       "SELECT " + "/*" * 5000, "SELECT " + "--\n" * 5000, "SELECT " + "1." * 3000, "SELECT " + "{{" * 3000,
       "SELECT $" * 1000],
    ids=lambda text: text[:24],
)
@pytest.mark.usefixtures("silence")
def test_deep_texts_run_out_of_no_stack(text):
    assert check(text[:19_999]) is False


@pytest.mark.parametrize(
    "text",
    [
        "CASE " * 15 + "age" + " WHEN 1 THEN 2 WHEN 3 THEN 4 END" * 15,
        "(" * 15 + "age" + " BETWEEN 1 AND 2)" * 15,
        "COALESCE(" * 15 + "age" + ", 1)" * 15,
        "(" * 15 + "age" + " IN (1, 2))" * 15,
        "NULLIF(" * 15 + "age" + ", 1)" * 15,
        "NOT (" * 15 + "age > 1" + ")" * 15,
    ],
    ids=lambda text: text[:9],
)
def test_each_part_of_a_text_is_read_once(text, monkeypatch):
    """A part that means itself twice is one object used twice: read again at each use, 15 deep would be thousands."""
    from dpcurator.fronts import sql, sql_expressions

    read = sql_expressions.syntax_of
    seen = []
    monkeypatch.setattr(sql_expressions, "syntax_of", lambda node, depth=0: (seen.append(node), read(node, depth))[1])
    with suppress(Refusal):
        sql.parse(f"SELECT SUM({text}) FROM visits")
    assert 15 < len(seen) <= 4 * len(text.split()) + 40
