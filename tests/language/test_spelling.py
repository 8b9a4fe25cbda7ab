"""What an expression is called: one name for one expression, whatever words it was asked in."""

from __future__ import annotations

import pytest
from questions import planned

from dpcurator.language.functions import BY_NAME
from dpcurator.plan.shown_name import in_sql


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("AGE+1", "age + 1"),
        ("age * (ward - 1)", "age * (ward - 1)"),
        ("-(age)", "-age"),
        ("FLOOR(cost)", "FLOOR(cost)"),
        ("cost * age", "cost * age"),
        ("ROUND(cost, 2)", "ROUND(cost, 2)"),
        ("SUBSTR(note, 2)", "SUBSTRING(note, 2, NULL)"),
        ("note || 'it''s'", "note || 'it''s'"),
        ("age > 3", "age > 3"),
        (
            "CASE WHEN smoker AND note LIKE 'a%' THEN 1 END",
            "CASE WHEN (smoker) AND (note LIKE 'a%') THEN 1 ELSE NULL END",
        ),
        (
            "CASE WHEN age IS NULL OR age IN (1, 2) THEN 1 ELSE 0 END",
            "CASE WHEN (age IS NULL) OR (age IN (1, 2)) THEN 1 ELSE 0 END",
        ),
        ("DATE_TRUNC('month', day)", "DATE_TRUNC(day, month)"),
        ("at AT TIME ZONE 'UTC'", "LOCAL(at, UTC)"),
        ("note || '" + "x" * 200 + "'", "note || '" + "x" * 88 + "..."),
        ("CLIP(age, 0, 110)", "age"),
    ],
)
def test_how_an_expression_is_spelled(text, name):
    assert planned(f"SELECT COUNT({text}) FROM visits").calls[0].column.name == name


SHOWN = [
    ("EXTRACT(YEAR FROM day)", "EXTRACT(YEAR FROM day)"),
    ("EXTRACT(DOW FROM day + INTERVAL '1 month')", "EXTRACT(DOW FROM (day + INTERVAL '1 month'))"),
    ("EXTRACT(DAY FROM day - INTERVAL '3 days')", "EXTRACT(DAY FROM (day - INTERVAL '3 days'))"),
    ("EXTRACT(HOUR FROM at AT TIME ZONE 'Europe/Paris')", "EXTRACT(HOUR FROM (at AT TIME ZONE 'Europe/Paris'))"),
    ("EXTRACT(WEEK FROM at - INTERVAL '2 hours')",
     "EXTRACT(WEEK FROM CAST((at - INTERVAL '2 hours') AS DATE))"),
    ("EXTRACT(HOUR FROM at + INTERVAL '90 seconds')",
     "EXTRACT(HOUR FROM (at + INTERVAL '1 minute' + INTERVAL '30 seconds'))"),
    ("DATE_TRUNC('month', day)", "DATE_TRUNC('month', day)"),
    ("DATE_TRUNC('hour', at)", "DATE_TRUNC('hour', at)"),
    ("CAST(note AS INTEGER)", "CAST(note AS INTEGER)"),
    ("CAST(SUBSTR(note, 2) AS DOUBLE)", "CAST(SUBSTRING(note, 2) AS DOUBLE)"),
    ("CAST(age AS TEXT)", "CAST(age AS TEXT)"),
    ("EXTRACT(YEAR FROM CAST(note AS DATE))", "EXTRACT(YEAR FROM CAST(note AS DATE))"),
    ("EXTRACT(HOUR FROM CAST(day AS TIMESTAMP))", "EXTRACT(HOUR FROM CAST(day AS TIMESTAMP))"),
]


@pytest.mark.parametrize(("text", "shown"), SHOWN)
def test_e2_what_people_read_is_sql_that_means_the_same(text, shown):
    """E2: no inner name of a function (FLOORDIV_I, LOCAL, TIME_ADD, ...); the name in the plan stays."""
    [call] = planned(f"SELECT COUNT({text}) FROM visits").calls
    assert in_sql(call.column.name) == shown
    [again] = planned(f"SELECT COUNT({shown}) FROM visits").calls
    if again != call:  # 90 seconds said in two steps
        assert "90 seconds" in text


@pytest.mark.parametrize(("name", "shown"), [
    ("CLIP(FLOORDIV_I(1709424000000000, 3600000000) - FLOORDIV_I(at, 3600000000), 0, 5)",
     "CLIP(FLOOR(1709424000000000 / 3600000000) - FLOOR(at / 3600000000), 0, 5)"),
    ("FLOORDIV_I(age + 1, 3)", "FLOOR((age + 1) / 3)"),
    ("note || 'LOCAL(a, b)'", "note || 'LOCAL(a, b)'"),
    ("DATE_PART(LOCAL(at, Europe/Par...", "DATE_PART(LOCAL(at, Europe/Par..."),
    ("UPDATE(x)", "UPDATE(x)"),
    ("LOCAL(x)", "LOCAL(x)"),
    ("DATE_ADD(a, b, c)", "DATE_ADD(a, b, c)"),
    ("a (DATE(", "a (DATE("),
])
def test_e2_what_is_no_such_name_is_left_alone(name, shown):
    assert in_sql(name) == shown


def test_e2_every_function_has_a_word_of_sql_or_one_that_is_put_in_its_place():
    sql = {"ABS", "SIGN", "ROUND", "SQRT", "EXP", "LN", "POWER", "FLOOR", "CEIL", "COALESCE", "LEAST", "GREATEST",
           "CLIP", "LOWER", "UPPER", "TRIM", "LTRIM", "RTRIM", "REVERSE", "SUBSTRING", "LENGTH", "REPLACE"}
    for known in BY_NAME.values():
        if known.sign or known.name == "to_f":  # an operator; and what is never written
            continue
        calls = [f"{known.spelled}({', '.join(['1'] * count)})" for count in (1, 2, 3)]
        put = any(in_sql(call) != call for call in calls)
        assert known.spelled in sql or put, known.spelled
