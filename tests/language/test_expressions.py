"""Row expressions: what each means of a row, worked by hand, through SQL, the binder and `language/evaluate.py`."""

from __future__ import annotations

import math
from contextlib import suppress
from datetime import UTC, date, datetime

import pytest
from questions import CATALOG, planned

import dpcurator as dp
from dpcurator.aggregates import AGGREGATES
from dpcurator.errors import Refusal
from dpcurator.fronts.frame import start
from dpcurator.fronts.sql import parse
from dpcurator.language.evaluate import value
from dpcurator.language.expressions import MOST_LEVELS, Reader
from dpcurator.language.functions import ALSO, ROW_FUNCTIONS
from dpcurator.language.question import Named
from dpcurator.language.rows import walk
from dpcurator.plan.bind import bind
from dpcurator.plan.bind_relations import scene_of

VISITS = CATALOG.tables[0]
COLUMNS = [column.name for column in VISITS.columns]


def typed(text: str):
    question = parse(f"SELECT COUNT({text}) FROM visits")
    reader = Reader(VISITS, scene_of(Named("visits"), CATALOG, ()).column, "COUNT")
    return reader.value(question.items[0].part.arguments[0])


def of(text: str, **row):
    made = typed(text)
    part = made.as_type("integer" if made.type == "number" else made.type)
    return value(part, tuple(row.get(name) for name in COLUMNS))


def day(text: str) -> int:
    return date.fromisoformat(text).toordinal() - date(1970, 1, 1).toordinal()


def at(text: str) -> int:
    return round(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * 1_000_000


D, T = day("2024-02-29"), at("2024-02-29 23:30:05")
TABLE = [
    # numbers
    ("age + 1", {"age": 2}, 3, "integer"),
    ("age * 2 - 1", {"age": 2}, 3, "integer"),
    ("age * 0.5", {"age": 3}, 1.5, "float"),
    ("age / 2", {"age": 3}, 1.5, "float"),
    ("age / 2", {"age": 4}, 2.0, "float"),
    ("7 / 2", {}, 3.5, "float"),
    ("age / 0", {"age": 1}, None, "float"),
    ("age % 3", {"age": -7}, -1, "integer"),
    ("age % 0", {"age": 1}, None, "integer"),
    ("cost % 2", {"cost": 5.5}, 1.5, "float"),
    ("MOD(age, 4)", {"age": 7}, 3, "integer"),
    ("-age", {"age": 2}, -2, "integer"),
    ("age * 2.0", {"age": 3}, 6, "integer"),
    ("age + NULL", {"age": 3}, None, "integer"),
    ("cost + age", {"cost": 0.5, "age": 1}, 1.5, "float"),
    ("age + 9223372036854775807", {"age": 1}, None, "integer"),
    ("age + 9223372036854775808", {"age": 0}, 2.0**63, "float"),
    ("ABS(-age)", {"age": 2}, 2, "integer"),
    ("ABS(gain)", {"gain": -0.25}, 0.25, "float"),
    ("SIGN(gain)", {"gain": -0.25}, -1, "integer"),
    ("FLOOR(cost)", {"cost": 2.75}, 2, "integer"),
    ("CEIL(cost)", {"cost": 2.25}, 3, "integer"),
    ("CEILING(cost)", {"cost": 2.25}, 3, "integer"),
    ("FLOOR(age)", {"age": 2}, 2, "integer"),
    ("ROUND(cost)", {"cost": 2.5}, 3, "integer"),
    ("ROUND(-cost)", {"cost": 2.5}, -3, "integer"),
    ("ROUND(cost, 1)", {"cost": 2.25}, 2.3, "float"),
    ("ROUND(age, -1)", {"age": 15}, 20, "integer"),
    ("ROUND(age, 2)", {"age": 15}, 15, "integer"),
    ("FLOOR(age / 10) * 10", {"age": 47}, 40, "integer"),
    ("SQRT(cost)", {"cost": 9.0}, 3.0, "float"),
    ("SQRT(age)", {"age": -1}, None, "float"),
    ("LN(age)", {"age": 0}, None, "float"),
    ("EXP(age)", {"age": 0}, 1.0, "float"),
    ("POWER(age, 2)", {"age": 3}, 9.0, "float"),
    ("POW(age, 0.5)", {"age": 4}, 2.0, "float"),
    ("LEAST(age, 3)", {"age": 5}, 3, "integer"),
    ("LEAST(age, ward)", {"ward": 7}, 7, "integer"),
    ("GREATEST(age, 2.5, cost)", {"age": 1, "cost": 2.0}, 2.5, "float"),
    ("CLIP(age, 0, 10)", {"age": 99}, 10, "integer"),
    ("CLIP(cost, 0, 10.5)", {"cost": math.inf}, 10.5, "float"),
    ("CLIP(day, DATE '2024-01-01', '2024-01-31')", {"day": D}, day("2024-01-31"), "date"),
    # conditions are booleans, booleans are conditions
    ("age > 3", {"age": 4}, 1, "boolean"),
    ("age > 3", {}, None, "boolean"),
    ("NOT smoker", {"smoker": 0}, 1, "boolean"),
    ("age > 3 AND smoker", {"age": 4, "smoker": 0}, 0, "boolean"),
    ("(age > 3) IS NULL", {}, 1, "boolean"),
    ("(age > 3) IS TRUE", {}, 0, "boolean"),
    ("(age > 3) IS NOT TRUE", {}, 1, "boolean"),
    ("smoker IS FALSE", {"smoker": 0}, 1, "boolean"),
    ("smoker IS NOT FALSE", {}, 1, "boolean"),
    ("smoker IS UNKNOWN", {}, 1, "boolean"),
    ("(age > 3) = (ward > 3)", {"age": 1, "ward": 1}, 1, "boolean"),
    ("age + 1 > ward * 2", {"age": 2, "ward": 1}, 1, "boolean"),
    ("age + 1 > 2.5", {"age": 2}, 1, "boolean"),
    ("age * 2 = 2.5", {"age": 2}, 0, "boolean"),
    ("age IS DISTINCT FROM ward", {}, 0, "boolean"),
    ("age IS DISTINCT FROM ward", {"age": 1}, 1, "boolean"),
    ("age IS NOT DISTINCT FROM 3", {"age": 3}, 1, "boolean"),
    ("age IS NOT DISTINCT FROM NULL", {}, 1, "boolean"),
    ("age + 1 IN (2, ward)", {"age": 5, "ward": 6}, 1, "boolean"),
    ("age + 1 IN (2, 3)", {"age": 2}, 1, "boolean"),
    ("age IN (1, ward)", {"age": 2}, None, "boolean"),
    ("age + 1 BETWEEN ward AND 9", {"age": 1, "ward": 2}, 1, "boolean"),
    ("1 = 1", {}, 1, "boolean"),
    ("'a' < 'b'", {}, 1, "boolean"),
    ("1 IN (2, 3)", {}, 0, "boolean"),
    ("age + 1 IS NULL", {}, 1, "boolean"),
    ("5 IS NULL", {}, 0, "boolean"),
    # like
    ("note LIKE 'a_%'", {"note": "abc"}, 1, "boolean"),
    ("note LIKE 'a'", {"note": "A"}, 0, "boolean"),
    ("note NOT LIKE 'a%'", {"note": "abc"}, 0, "boolean"),
    ("note NOT LIKE 'a%'", {}, None, "boolean"),
    ("note ILIKE 'A%'", {"note": "abc"}, 1, "boolean"),
    ("note ILIKE '\u00c4%'", {"note": "\u00e4"}, 0, "boolean"),
    ("note LIKE '50!%' ESCAPE '!'", {"note": "50%"}, 1, "boolean"),
    ("note LIKE '50!%' ESCAPE '!'", {"note": "500"}, 0, "boolean"),
    ("note LIKE '50\\%'", {"note": "50\\x"}, 1, "boolean"),
    ("note NOT ILIKE 'x!_' ESCAPE '!'", {"note": "X_"}, 0, "boolean"),
    # choices
    ("CASE WHEN age < 18 THEN 'child' WHEN age < 65 THEN 'adult' ELSE 'old' END", {"age": 20}, "adult", "text"),
    ("CASE WHEN age < 18 THEN 1 END", {"age": 20}, None, "integer"),
    ("CASE WHEN age < 18 THEN 1 ELSE 0.5 END", {"age": 20}, 0.5, "float"),
    ("CASE age WHEN 1 THEN 'a' WHEN ward THEN 'b' END", {"age": 7, "ward": 7}, "b", "text"),
    ("CASE WHEN smoker THEN age ELSE NULL END", {"smoker": 1, "age": 3}, 3, "integer"),
    ("CASE WHEN age > 1 THEN day ELSE '2024-02-29' END", {"age": 0}, D, "date"),
    ("IF(age > 1, 'x', 'y')", {"age": 0}, "y", "text"),
    ("COALESCE(age, ward, 0)", {"ward": 2}, 2, "integer"),
    ("IFNULL(note, '-')", {}, "-", "text"),
    ("NULLIF(age, 0)", {"age": 0}, None, "integer"),
    ("NULLIF(age, 0)", {"age": 3}, 3, "integer"),
    ("NULLIF(age, 2.5)", {"age": 3}, 3.0, "float"),
    ("NULLIF(note, '')", {"note": ""}, None, "text"),
    # texts
    ("LOWER(note)", {"note": "A\u00c4"}, "a\u00c4", "text"),
    ("UPPER(note)", {"note": "a\u00e4"}, "A\u00e4", "text"),
    ("TRIM(note)", {"note": " a "}, "a", "text"),
    ("LTRIM(note)", {"note": " a "}, "a ", "text"),
    ("TRIM(TRAILING FROM note)", {"note": " a "}, " a", "text"),
    ("LENGTH(note)", {"note": "\u00e4\U0001f600"}, 2, "integer"),
    ("CHAR_LENGTH(note)", {"note": ""}, 0, "integer"),
    ("SUBSTRING(note, 2, 3)", {"note": "abcdef"}, "bcd", "text"),
    ("SUBSTR(note, 5)", {"note": "abcdef"}, "ef", "text"),
    ("SUBSTRING(note FROM 2 FOR 1)", {"note": "abc"}, "b", "text"),
    ("LEFT(note, 2)", {"note": "abc"}, "ab", "text"),
    ("REPLACE(note, 'a', 'xy')", {"note": "banana"}, "bxynxynxy", "text"),
    ("note || '-' || age", {"note": "a", "age": 3}, "a-3", "text"),
    ("note || 'x'", {}, None, "text"),
    ("CONCAT(note, 'x', age)", {"age": 3}, "x3", "text"),
    ("CONCAT(note)", {}, "", "text"),
    ("CONCAT(day, code)", {"day": D, "code": "u"}, "2024-02-29u", "text"),
    # casts
    ("CAST(cost AS INTEGER)", {"cost": 2.5}, 3, "integer"),
    ("note::BIGINT", {"note": " -7 "}, -7, "integer"),
    ("TRY_CAST(note AS INTEGER)", {"note": "7.5"}, None, "integer"),
    ("CAST(note AS DOUBLE)", {"note": "1e3"}, 1000.0, "float"),
    ("CAST(age AS FLOAT)", {"age": 3}, 3.0, "float"),
    ("CAST(age AS TEXT)", {"age": -3}, "-3", "text"),
    ("CAST(smoker AS TEXT)", {"smoker": 1}, "true", "text"),
    ("CAST(day AS VARCHAR)", {"day": D}, "2024-02-29", "text"),
    ("CAST(note AS DATE)", {"note": "2024-02-30"}, None, "date"),
    ("at::DATE", {"at": T}, D, "date"),
    ("DATE(at)", {"at": T}, D, "date"),
    ("CAST(day AS TIMESTAMP)", {"day": 1}, 86_400_000_000, "timestamp"),
    ("CAST(smoker AS INTEGER) + 1", {"smoker": 1}, 2, "integer"),
    ("CAST(age AS BOOLEAN)", {"age": 5}, 1, "boolean"),
    ("CAST(age AS BOOLEAN)", {}, None, "boolean"),
    ("CAST(NULL AS INTEGER)", {}, None, "integer"),
    ("CAST(1.5 AS INTEGER)", {}, 2, "integer"),
    ("CAST(code AS TEXT)", {"code": "u"}, "u", "text"),
    # dates and times
    ("DATE_TRUNC('month', day)", {"day": D}, day("2024-02-01"), "date"),
    ("DATE_TRUNC('week', day)", {"day": D}, day("2024-02-26"), "date"),
    ("DATE_TRUNC('day', at)", {"at": T}, D, "date"),
    ("DATE_TRUNC('hour', at)", {"at": T}, at("2024-02-29 23:00:00"), "timestamp"),
    ("EXTRACT(year FROM day)", {"day": D}, 2024, "integer"),
    ("EXTRACT(DOW FROM day)", {"day": D}, 4, "integer"),
    ("DATE_PART('isodow', at)", {"at": T}, 4, "integer"),
    ("HOUR(at) * 100 + MINUTE(at)", {"at": T}, 2330, "integer"),
    ("SECOND(at)", {"at": T}, 5, "integer"),
    ("QUARTER(day)", {"day": D}, 1, "integer"),
    ("day + INTERVAL '1 year'", {"day": D}, day("2025-02-28"), "date"),
    ("day - INTERVAL 1 MONTH", {"day": D}, day("2024-01-29"), "date"),
    ("day - 7", {"day": D}, day("2024-02-22"), "date"),
    ("1 + day", {"day": D}, D + 1, "date"),
    ("day + age", {"day": D, "age": 1}, D + 1, "date"),
    ("day + age", {"day": D, "age": 10**7}, None, "date"),
    ("at + INTERVAL '1 day 2 hours'", {"at": T}, T + 26 * 3_600_000_000, "timestamp"),
    ("INTERVAL '1 week' + day", {"day": D}, D + 7, "date"),
    ("day - DATE '2024-02-01'", {"day": D}, 28, "integer"),
    ("DATE_DIFF('day', DATE '2024-02-01', day)", {"day": D}, 28, "integer"),
    ("DATEDIFF('month', DATE '2023-12-31', day)", {"day": D}, 2, "integer"),
    ("DATE_DIFF('year', DATE '2023-12-31', at)", {"at": T}, 1, "integer"),
    ("DATE_DIFF('week', DATE '2024-02-25', day)", {"day": D}, 1, "integer"),
    ("DATE_DIFF('hour', TIMESTAMP '2024-02-29T00:59:00Z', at)", {"at": T}, 23, "integer"),
    ("DATE_TRUNC('day', at AT TIME ZONE 'America/Los_Angeles')", {"at": at("2024-02-29 07:59:59")}, D - 1, "date"),
    ("HOUR(at AT TIME ZONE 'Asia/Kolkata')", {"at": at("2024-02-29 00:00:00")}, 5, "integer"),
    ("at AT TIME ZONE 'Asia/Kolkata' AT TIME ZONE 'UTC'", {"at": 0}, 19_800_000_000, "timestamp"),
    ("TIMESTAMP '2024-02-29 23:30:05' AT TIME ZONE 'UTC'", {}, T, "timestamp"),
    ("at AT TIME ZONE 'UTC' = TIMESTAMP '2024-02-29 23:30:05'", {"at": T}, 1, "boolean"),
    ("day + INTERVAL '1 day' > DATE '2024-02-29'", {"day": D}, 1, "boolean"),
    ("YEAR(day) = 2024", {"day": D}, 1, "boolean"),
    ("DATE_TRUNC('month', day) = '2024-02-01'", {"day": D}, 1, "boolean"),
]


@pytest.mark.parametrize(("text", "row", "expected", "type"), TABLE, ids=[text for text, *_ in TABLE])
def test_what_an_expression_is_of_a_row(text, row, expected, type):
    assert of(text, **row) == expected
    assert typed(text).type == type


@pytest.mark.parametrize("name", ROW_FUNCTIONS)
def test_the_example_of_a_function_is_true_and_uses_it(name):
    """And its other names mean the same, and have no meaning of their own."""
    known = ROW_FUNCTIONS[name]
    assert f"{name}(" in known.example
    assert of(known.example) == 1
    for other in known.also:
        assert other not in ROW_FUNCTIONS
        assert typed(known.example.replace(f"{name}(", f"{other}(")).part == typed(known.example).part


def test_no_two_functions_share_a_name():
    every = [*ROW_FUNCTIONS, *(other for known in ROW_FUNCTIONS.values() for other in known.also)]
    assert len(every) == len(set(every)) == len(ROW_FUNCTIONS) + len(ALSO)


def test_filter_is_a_case():
    one = planned("SELECT SUM(age) FILTER (WHERE smoker), COUNT(*) FILTER (WHERE smoker), COUNT_IF(smoker) FROM visits")
    other = planned(
        "SELECT SUM(CASE WHEN smoker THEN age END), COUNT(CASE WHEN smoker THEN 1 END), COUNT(note) FROM visits"
    )
    assert one.calls == other.calls[:2]
    frame = start(None, "visits", CATALOG.tables).agg(n=dp.count_if(dp.col("smoker")))
    assert bind(frame.question(), CATALOG, AGGREGATES).calls == other.calls[1:2]


def test_one_spelling_of_an_expression_is_one_call():
    plan = planned("SELECT SUM(age * 2), SUM( AGE*2.0 ), SUM(visits.age * 2), AVG(age * 2) FROM visits")
    assert len(plan.calls) == 2
    assert plan.calls[0].column.name == "age * 2"


@pytest.mark.parametrize(
    "text",
    [
        "NULLIF(" * 30 + "age" + ", 1)" * 30,
        "(" * 38 + "smoker" + " IS TRUE)" * 38,
        "NOT (" * 30 + "smoker" + ")" * 30,
        "(" * 38 + "smoker" + " BETWEEN TRUE AND FALSE)" * 38,
        "CASE " * 20 + "age" + " WHEN 1 THEN 2 WHEN 3 THEN 4 END" * 20,
        "(" * 38 + "smoker" + " IS DISTINCT FROM TRUE)" * 38,
        "ABS(" * 38 + "age" + ")" * 38,
    ],
    ids=lambda text: text[:12],
)
def test_what_grows_when_it_is_worked_out_is_bounded(text):
    made = None
    with suppress(Refusal):
        made = typed(text)
    assert made is None or len(list(walk(made.part))) <= 5_000
    assert MOST_LEVELS < 100
