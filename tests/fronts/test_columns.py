"""Expressions of Python: what each means as SQL, values read exactly, and the table of what is refused and how."""

from __future__ import annotations

import datetime as dt
import uuid
from decimal import Decimal
from fractions import Fraction as F

import numpy as np
import pandas as pd
import pytest

import dpcurator as dp
from dpcurator.errors import Refusal
from dpcurator.language.functions import ROW_FUNCTIONS
from dpcurator.language.render import expression

age, city, n = dp.col("age"), dp.col("city"), dp.count()
EAST = dt.timezone(dt.timedelta(hours=5, minutes=30))


@pytest.mark.parametrize(
    ("made", "sql"),
    [
        (age > 65, '"age" > 65'), (F(65) >= age, '"age" <= 65'), (age != 3, '"age" <> 3'),
        (age == dp.col("b"), '"age" = "b"'),
        (city.isin("York", "Hull"), "\"city\" IN ('York', 'Hull')"), (city.isin(["York"]), "\"city\" IN ('York')"),
        (city.isin("York"), "\"city\" IN ('York')"), (age.isin(range(3)), '"age" IN (0, 1, 2)'),
        (age.isin({3, 1, 2}), '"age" IN (1, 2, 3)'), (age.isin(np.array([1, 2])), '"age" IN (1, 2)'),
        (age.between(1, 2), '"age" >= 1 AND "age" <= 2'), (age.is_missing(), '"age" IS NULL'),
        (~age.is_missing(), 'NOT ("age" IS NULL)'), (~city, 'NOT "city"'),
        ((age > 1) & (age < 5) & city, '"age" > 1 AND "age" < 5 AND "city"'),
        ((age > 1) & ((age < 5) & city), '"age" > 1 AND "age" < 5 AND "city"'),
        ((age > 1) & (city | (age < 0)), '"age" > 1 AND ("city" OR "age" < 0)'),
        (dp.count(), "COUNT(*)"), (dp.count("a b"), 'COUNT("a b")'), (dp.count(age), 'COUNT("age")'),
        (dp.sum("age") / n, 'SUM("age") / COUNT(*)'), (dp.mean(age), 'AVG("age")'),
        (2 - n * (n + 1), "2 - COUNT(*) * (COUNT(*) + 1)"),
        (1 / n + 0.1, "1 / COUNT(*) + 0.1"), (3 * n, "3 * COUNT(*)"), (1 + n, "1 + COUNT(*)"), (-n, "-COUNT(*)"),
        (+n, "COUNT(*)"),
        (n.round(), "ROUND(COUNT(*))"), (n.round(2), "ROUND(COUNT(*), 2)"), (round(n, -2), "ROUND(COUNT(*), -2)"),
        (round(n), "ROUND(COUNT(*))"), (abs(n), "ABS(COUNT(*))"), (n.abs(), "ABS(COUNT(*))"),
        (n.coalesce(0), "COALESCE(COUNT(*), 0)"), (n.coalesce(dp.sum("x"), 0), 'COALESCE(COUNT(*), SUM("x"), 0)'),
        (n.nullif(0), "NULLIF(COUNT(*), 0)"),
        (age % 7, '"age" % 7'), (7 % age, '7 % "age"'), (age**2, 'POWER("age", 2)'), (2**age, 'POWER(2, "age")'),
        ((age / 10).floor() * 10, 'FLOOR("age" / 10) * 10'), (age.clip(0, 9.5), 'CLIP("age", 0, 9.5)'),
        (age.ceil(), 'CEIL("age")'), (age.sign(), 'SIGN("age")'), (age.sqrt(), 'SQRT("age")'), (age.ln(), 'LN("age")'),
        (age.exp(), 'EXP("age")'), (age.least(3, city), 'LEAST("age", 3, "city")'),
        (age.greatest(3), 'GREATEST("age", 3)'),
        (city.lower(), 'LOWER("city")'), (city.upper(), 'UPPER("city")'), (city.trim(), 'TRIM("city")'),
        (city.length(), 'LENGTH("city")'), (city.substring(2), 'SUBSTRING("city", 2)'),
        (city.substring(1, 3), 'SUBSTRING("city", 1, 3)'), (city.replace("a", "b"), "REPLACE(\"city\", 'a', 'b')"),
        (city.concat("-", age), "CONCAT(\"city\", '-', \"age\")"), (city.like("a%"), "\"city\" LIKE 'a%'"),
        (~city.like("a!%", escape="!", fold=True), "NOT (\"city\" ILIKE 'a!%' ESCAPE '!')"),
        ((age > 1).is_true(), '("age" > 1) IS TRUE'), (city.is_false(), '"city" IS FALSE'),
        (age.cast("text"), 'CAST("age" AS TEXT)'), (age.part("dow"), "DATE_PART('dow', \"age\")"),
        (age.year(), "DATE_PART('year', \"age\")"), (age.month(), "DATE_PART('month', \"age\")"),
        (age.day(), "DATE_PART('day', \"age\")"), (age.trunc("week"), "DATE_TRUNC('week', \"age\")"),
        (age.later(months=1, days=-2), "\"age\" + INTERVAL '1 months -2 days'"),
        (age - dt.timedelta(days=7), "\"age\" - INTERVAL '7 days'"), (age.at_zone("UTC"), "TIMEZONE('UTC', \"age\")"),
        (dp.when(age > 1).then("a").when(city).then(None).otherwise("c"),
         "CASE WHEN \"age\" > 1 THEN 'a' WHEN \"city\" THEN NULL ELSE 'c' END"),
        (dp.when(age > 1).then(1).otherwise(), 'CASE WHEN "age" > 1 THEN 1 END'),
        (dp.mean(age * 2), 'AVG("age" * 2)'), (dp.count(age > 3), 'COUNT("age" > 3)'),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_an_expression_means(made, sql):
    assert expression(made.syntax) == sql == repr(made)


@pytest.mark.parametrize(
    ("value", "sql"),
    [
        (3, "3"), (-3, "-3"), (0.1, "0.1"), (1e-7, "0.0000001"), (1e22, "1" + "0" * 22), (F(1, 8), "0.125"),
        (F(-1, 3), "-1 / 3"), (Decimal("1.50"), "1.5"), (True, "TRUE"), (False, "FALSE"), ("it's", "'it''s'"),
        ("", "''"),
        (dt.date(2024, 5, 31), "DATE '2024-05-31'"), (dt.date(1, 1, 1), "DATE '0001-01-01'"),
        (dt.datetime(2024, 5, 31, 12, tzinfo=dt.UTC), "TIMESTAMP '2024-05-31T12:00:00Z'"),
        (dt.datetime(2024, 5, 31, 3, 0, 0, 5, tzinfo=EAST), "TIMESTAMP '2024-05-30T21:30:00.000005Z'"),
        (pd.Timestamp("2024-05-31T12:00:00Z"), "TIMESTAMP '2024-05-31T12:00:00Z'"),
        (uuid.UUID(int=1), "'00000000-0000-0000-0000-000000000001'"),
        (np.int64(7), "7"), (np.float32(0.1), "0.1"), (np.float64(0.1), "0.1"), (np.bool_(True), "TRUE"),
        (np.str_("x"), "'x'"),
    ],
    ids=repr,
)
def test_a_value_is_read_exactly_on_both_sides(value, sql):
    assert repr(age == value) == f'"age" = {sql}'
    assert repr(value == age) == f'"age" = {sql}'
    assert repr(n.coalesce(value)) == f"COALESCE(COUNT(*), {sql})"


def test_a_long_chain_is_flat_and_quick():
    made = age == 0
    for i in range(1, 700):
        made = made | (age == i)
    assert expression(made.syntax).count("OR") == 699
    assert len(repr(made)) < 300
    assert "(" not in repr(made)


def _chained():
    return 18 < age < 65


BAD = [
    # what Python would take in silence
    (lambda: (age > 1) and (age < 5), "and", "&"), (lambda: (age > 1) or (age < 5), "or", "|"),
    (lambda: not (age > 1), "not", "~"), (_chained, "a < b < c", "between"), (lambda: age in [1, 2], "in", "isin"),
    (lambda: 1 in age, "in", "isin"), (lambda: 1 if age > 3 else 2, "if", "&"),
    (lambda: age > 65 & city, "& joins conditions, and 65 is none", "brackets"),
    (lambda: (age > 1) & True, "& joins conditions, and True is none", "brackets"),
    (lambda: "x" | (age > 1), "| joins conditions, and 'x' is none", "brackets"),
    (lambda: (age > 1) & None, "and None is none", "brackets"),
    (lambda: city & age > 65, "compares a condition", "brackets"),
    (lambda: (age > 1) == True, "compares a condition", "brack"),  # noqa: E712
    (lambda: age == None, "== cannot meet None: nothing equals a missing value", "is_missing()"),  # noqa: E711
    (lambda: age != None, "!= cannot meet None", "~x.is_missing()"),  # noqa: E711
    (lambda: float("nan") < age, "> cannot meet nan", "is_missing()"),
    (lambda: age == np.float64("nan"), "cannot meet nan", "is_mi"),
    (lambda: city.isin("York", None), "isin cannot meet None", "| x.is_missing()"),
    (lambda: n.coalesce(None), "coalesce", "instead"),
    (lambda: city.isin([]), "isin needs a value", "isin("), (lambda: list(age), "no values to go through", ""),
    (lambda: dict(age), "no values to go through", ""), (lambda: age[0], "not available", "+, -, *, /, % and **"),
    (lambda: n // 2, "not available", "(x / y).floor()"), (lambda: age.cast("decimal"), "no cast to 'decimal'", "text"),
    (lambda: dp.when(age > 3).otherwise(1), "otherwise comes after then", ""),
    (lambda: dp.when(age > 3).when(age > 4), "and then a value", ""),
    (lambda: dp.when(True), "when takes a condition", ""),
    (lambda: dp.count_if("age"), "count_if takes a condition", 'dp.count_if(dp.col("age") > 65)'),
    (lambda: dp.count_if(dp.count() > 3), "this holds the aggregate dp.count()", ""),
    (lambda: dp.when(age > 3).then(1).then(2), "then comes after when", ""),
    (lambda: age + dt.timedelta(microseconds=1), "whole seconds", ""),
    (lambda: age.later(days=1.5), "whole number", ""),
    (lambda: city ^ age, "not available", ""),
    # values
    (lambda: age > float("inf"), "finite number, not inf", ""), (lambda: age > Decimal("NaN"), "finite number", ""),
    (lambda: age > 10**1001, "1,000 digits", ""),
    (lambda: age > 1j, "cannot meet a value of type complex", "Use numbers"),
    (lambda: age == [1, 2], "== cannot meet a value of type list", "Use numbers"),
    (lambda: age == np.array([1, 2]), "type ndarray", ""),
    (lambda: age == pd.NA, "type NAType", ""), (lambda: age == b"x", "type bytes", ""),
    (lambda: age > dt.datetime(2024, 5, 31), "has no zone", "tzinfo"), (lambda: age > dt.time(3), "type time", ""),
    (lambda: age > pd.Timestamp(1, unit="ns", tz="UTC"), "nanoseconds", "Round it"),
    (lambda: age > dt.datetime(1, 1, 1, tzinfo=EAST), "outside the years", "within"),
    (lambda: city == "a\0b", "U+0000", "Take it out"), (lambda: city == "\ud800", "U+D800", "Take it out"),
    (lambda: dp.col("a\0"), "U+0000", "Take it out"),
    # names and aggregates
    (lambda: dp.col(3), "a column is given by its name, not by 3", "as in"), (lambda: dp.col(None), "not by None", ""),
    (lambda: dp.mean(3), "the column of dp.mean is given by its name, not by 3", ""),
    (lambda: dp.sum(n), "dp.sum looks at single rows, and this holds the aggregate dp.count()", 'dp.sum("age")'),
    (lambda: dp.sum(age + dp.mean("cost")), 'this holds the aggregate dp.mean("cost")', ""),
    (lambda: dp.mean(dp.count_units()), "this holds the aggregate dp.count_units()", ""),
    (lambda: {age: 1}, None, None),
]


@pytest.mark.parametrize(("use", "what", "cure"), BAD, ids=[str(i) for i in range(len(BAD))])
def test_a_bad_use_says_what_and_what_to_do(use, what, cure):
    if what is None:
        with pytest.raises(TypeError, match="unhashable"):
            use()
        return
    with pytest.raises(Refusal) as refused:
        use()
    assert what in refused.value.what
    assert cure in refused.value.cure
    assert refused.value.__cause__ is None
    str(refused.value).encode()


@pytest.mark.parametrize("name", [name for name, known in ROW_FUNCTIONS.items() if known.method])
def test_every_function_of_sql_is_a_method(name):
    """Of its first part. Where SQL has other words, as for a year, it means what these do."""
    known, method = ROW_FUNCTIONS[name], getattr(age, name.lower())
    parts = ", ".join(['"age"', *["1"] * (known.least - 1)])
    assert repr(method(*[1] * (known.least - 1))) in (f"{name}({parts})", f"DATE_PART('{name.lower()}', {parts})")
    assert method.__doc__


def test_a_method_takes_as_many_values_as_its_function():
    with pytest.raises(Refusal, match=r"^upper takes 1 values\. It means UPPER\(x\)\.$"):
        dp.col("city").upper("x")
    with pytest.raises(Refusal, match="mod takes 2 values"):
        dp.col("age").mod()
