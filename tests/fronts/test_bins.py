"""Bins of equal width: what they mean, worked out by hand and beside PostgreSQL's definition."""

from __future__ import annotations

import math
from fractions import Fraction as F
from itertools import pairwise

import pytest
from questions import CATALOG, answered, catalog_with, quoted

import dpcurator as dp
from dpcurator.catalog.model import Column, Table
from dpcurator.engines.duckdb.engine import DuckDB
from dpcurator.engines.reference import Reference
from dpcurator.errors import Refusal
from dpcurator.fronts.sql import parse
from dpcurator.language.render import render

VALUES = Table("t", (Column("who", "text"), Column("whole", "integer"), Column("real", "float")), "who", 1, 1)


def postgres(x: float | None, low: F, high: F, buckets: int) -> int | None:
    """PostgreSQL 16, 9.3: 0 below low, buckets + 1 from high on."""
    if x is None:
        return None
    if math.isinf(x):
        return 0 if x < 0 else buckets + 1
    if F(x) < low or F(x) >= high:
        return 0 if F(x) < low else buckets + 1
    return int((F(x) - low) / (high - low) * buckets) + 1


def test_a_bin_is_the_lower_end_of_it():
    assert parse("SELECT BIN(age, 10) AS b, COUNT(*) FROM visits GROUP BY b") == parse(
        "SELECT FLOOR(age / 10) * 10 AS b, COUNT(*) FROM visits GROUP BY b")


@pytest.mark.parametrize("engine", [Reference, DuckDB])
@pytest.mark.parametrize(("low", "high", "buckets"), [
    ("0", "100", 10), ("-5", "5", 3), ("0.1", "0.7", 6), ("0", "1", 7), ("-2.5", "1000000", 100), ("10", "11", 1),
])
def test_buckets_are_those_of_postgresql(engine, low, high, buckets):
    """Whole numbers and floats, with all edges that are floats, and missing ones; infinities are in the end ones."""
    edges = [F(low) + k * (F(high) - F(low)) / buckets for k in range(buckets + 1)]
    whole = [*(math.floor(edge) + step for edge in edges for step in (-1, 0, 1)), None, -(10**18), 10**18]
    inner = [float(edge) for edge in edges if edge.denominator & (edge.denominator - 1) == 0]
    inner += [float((one + other) / 2) for one, other in pairwise(edges)]
    real = [*inner, -math.inf, math.inf, -1e300, 1e300, None]
    for column, values in (("whole", whole), ("real", real)):
        names = [f"p{n}" for n in range(len(values))]
        other = {"whole": [None] * len(values), "real": [None] * len(values)} | {column: values}
        got = answered(f"SELECT WIDTH_BUCKET({column}, {low}, {high}, {buckets}) AS b, COUNT(*) FROM t GROUP BY b",
                       {"who": names, **other}, catalog_with(VALUES), engine=lambda tables: engine.from_tables(
                           tables, {"t0": {"c0": "text", "c1": "integer", "c2": "float"}}))
        found = [postgres(one, F(low), F(high), buckets) for one in values]
        assert dict(got) == {number: found.count(number) for number in range(buckets + 2)}


def test_the_numbers_of_buckets_are_public_without_bounds():
    quote = quoted("SELECT WIDTH_BUCKET(real, 0, 1, 4) AS b, COUNT(*) FROM t GROUP BY b", catalog=catalog_with(VALUES))
    assert quote.lowered.keys == ((0,), (1,), (2,), (3,), (4,), (5,))
    quote = quoted("SELECT WIDTH_BUCKET(age, 0, 100, 10) AS b, COUNT(*) FROM visits GROUP BY b", catalog=CATALOG)
    assert quote.lowered.keys == tuple((n,) for n in range(1, 12))  # age is declared within [0, 110]


def test_frames_say_the_same():
    made = dp.col("age").width_bucket(0, 100, 4)
    assert repr(made) == repr(dp.col("age").width_bucket(0.0, F(100), 4))
    assert render(parse("SELECT COUNT(*) FROM t GROUP BY WIDTH_BUCKET(\"age\", 0, 100, 4)")).endswith(repr(made))
    assert render(parse("SELECT COUNT(*) FROM t GROUP BY BIN(\"age\", 2.5)")).endswith(repr(dp.col("age").bin(2.5)))


@pytest.mark.parametrize("wrong", [
    "WIDTH_BUCKET(age, 0, 100)", "WIDTH_BUCKET(age, 0, 100, 2.5)", "WIDTH_BUCKET(age, 5, 5, 2)",
    "WIDTH_BUCKET(age, 5, 1, 2)", "WIDTH_BUCKET(age, 0, cost, 2)", "WIDTH_BUCKET(age, 0, 100, 0)",
    "WIDTH_BUCKET(age, 0, 100, 101)", "WIDTH_BUCKET(age, 0, 100, -1)", "WIDTH_BUCKET(age, 0, 100, TRUE)",
    "WIDTH_BUCKET(age, '0', 100, 3)", "WIDTH_BUCKET()", "BIN(age)", "BIN(age, -1)",
])
def test_anything_else_is_refused_with_what_works(wrong):
    with pytest.raises(Refusal) as told:
        parse(f"SELECT COUNT(*) FROM visits GROUP BY {wrong}")
    assert told.value.where
    example = told.value.cure.partition("Write it as in ")[2].rstrip(".").partition(";")[0]
    assert quoted(f"SELECT COUNT(*) FROM visits GROUP BY {example}").lowered.keys
