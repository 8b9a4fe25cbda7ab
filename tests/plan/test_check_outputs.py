"""What a plan makes of its results is typed again: every bound plan passes, and what passes can be computed."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from fractions import Fraction as F
from typing import Any

import pytest
from questions import planned, quoted, seen

from dpcurator.errors import Refusal
from dpcurator.plan.check_outputs import MOST_LEVELS, misfit
from dpcurator.plan.nodes import Apply, Given, Key, Order, Output, Plan, Post, Result
from dpcurator.release.finish import finish

GROUPED = "SELECT city, smoker, day, ward, COUNT(*), AVG(age) FROM visits GROUP BY city, smoker, day, ward"
N, A = Result(0), Result(1)
CITY, SMOKER, DAY, WARD = Key(0), Key(1), Key(2), Key(3)
ONE, NULL, YES, LEEDS = Given(F(1)), Given(None), Given(True), Given("Leeds")


@pytest.mark.parametrize(
    "text",
    [
        "SELECT DATE '2024-02-29', TIMESTAMP '2024-02-29T00:00:00Z', NULL, 'a', TRUE, 1.5, COUNT(*) FROM visits",
        "SELECT CAST(AVG(age) AS INTEGER), ROUND(AVG(age)), ROUND(AVG(age), -2), CAST(COUNT(*) AS DOUBLE) FROM visits",
        "SELECT day, day = '2022-01-08', day IN ('2022-01-08', NULL), COUNT(*) FROM visits GROUP BY day ORDER BY day",
        "SELECT smoker, NOT smoker, smoker = TRUE, smoker < FALSE, COUNT(*) FROM visits GROUP BY smoker HAVING smoker",
        "SELECT city, city IS NULL, city < 'M', NULLIF(COUNT(*), 0) FROM visits GROUP BY city HAVING COUNT(*) > 1",
        "SELECT age > 4, COUNT(*) FROM visits GROUP BY age > 4 HAVING NOT (age > 4)",
        "SELECT COUNT(*) AS n FROM visits HAVING " + " AND ".join(["n > 1"] * 500),
        "SELECT " + "COUNT(*)" + " + 1" * 63 + " AS n FROM visits ORDER BY " + "-(" * 30 + "n" + ")" * 30,
    ],
)
def test_odd_bound_plans_pass(text):
    assert misfit(planned(text)) is None


def deep(levels: int) -> Post:
    part: Post = N
    for _ in range(levels):
        part = Apply("NEG", (part,))
    return part


@pytest.mark.parametrize(
    "part",
    [
        Result(2), Result(-1), Key(4), Key(-1), Apply("nope", (N,)), Apply("+", (N,)), Apply("+", (N, N, N)),
        Apply("+", (N, CITY)), Apply("+", (N, SMOKER)), Apply("+", (N, DAY)), Apply("NEG", (LEEDS,)),
        Apply("ROUND", (N, N)), Apply("ROUND", (N, Given(F(1, 2)))), Apply("ROUND", (N, Given(F(31)))),
        Apply("ROUND", (N, NULL)), Apply("ROUND", ()), Apply("COALESCE", (N,)), Apply("COALESCE", (N, LEEDS)),
        Apply("LEAST", (N,) * 9), Apply("AND", (YES,)), Apply("AND", (YES, ONE)), Apply("NOT", (N,)),
        Apply("NOT", (YES, YES)), Apply("IS NULL", ()), Apply("=", (N,)), Apply("=", (N, CITY)),
        Apply("<", (N, LEEDS)), Apply("<", (DAY, N)), Apply("=", (DAY, LEEDS)), Apply("<", (WARD, YES)),
        Apply("<", (Apply("NULLIF", (N, Given(F(0)))), LEEDS)), Apply("IN", (N, N)), deep(MOST_LEVELS),
    ],
)
def test_what_cannot_be_computed_is_said(part):
    plan = planned(GROUPED)
    for shown in ("number", "whole", "truth", "text", "date", "float"):
        assert misfit(replace(plan, outputs=(Output("x", part, shown),))) is not None
    assert misfit(replace(plan, having=part)) is not None
    assert misfit(replace(plan, order=(Order(part, False, False),))) is not None


@pytest.mark.parametrize(
    "changes",
    [{"outputs": ()}, {"limit": -1}, {"offset": -1}, {"having": N}, {"having": CITY},
     {"outputs": (Output("x", N, "text"),)}, {"outputs": (Output("x", N, "float"),)},
     {"outputs": (Output("x", N, "truth"),)}, {"outputs": (Output("x", CITY, "date"),)},
     {"outputs": (Output("x", LEEDS, "float"),)}, {"outputs": (Output("x", Given(F(1, 2)), "date"),)},
     {"outputs": (Output("x", YES, "whole"),)}, {"outputs": (Output("x", N, "nope"),)}],
)
def test_what_cannot_be_shown_is_said(changes):
    assert misfit(replace(planned(GROUPED), **changes)) is not None


@pytest.mark.parametrize("item", ["MEDIAN(age)", "COUNT(DISTINCT note)", "COUNT(DISTINCT patient)"])
def test_totals_of_what_does_not_add_up_are_said(item):
    """Median added to median is the number of no candidate; units and values of several groups are counted in each."""
    plan = planned(f"SELECT city, {item} AS x FROM visits GROUP BY city")
    assert misfit(replace(plan, sets=((0,),))) is None
    assert misfit(replace(plan, sets=((0,), ()))) == "a total is of what does not add up"


PARTS = [N, A, CITY, SMOKER, DAY, WARD, ONE, NULL, YES, LEEDS, Given(F(10**400)),
         Given(F(1, 3)), Given(F(-2)), Result(2)]
OPS = ["NEG", "+", "-", "*", "/", "ABS", "ROUND", "COALESCE", "NULLIF", "SQRT", "FLOOR", "CEIL", "LEAST", "GREATEST",
       "AND", "OR", "NOT", "IS NULL", "=", "<>", "<", "<=", ">", ">=", "nope"]
READINGS = [0, 1, -1, 2**16, -(2**40), 10**40, -(2**1100)]


def tree(luck: random.Random, depth: int) -> Post:
    if depth == 0 or luck.random() < 0.3:
        return luck.choice(PARTS)
    return Apply(luck.choice(OPS), tuple(tree(luck, depth - 1) for _ in range(luck.choice([1, 2, 2, 2, 3]))))


@pytest.mark.parametrize("seed", range(4))
def test_what_passes_is_computed_on_any_readings(seed):
    """Random trees, most of which no binder would make."""
    luck = random.Random(f"retyped {seed}")
    quote = quoted(GROUPED)
    passed = 0
    while passed < 150:
        shown = luck.choice(["number", "whole", "truth", "text", "date", "integer", "boolean", "null"])
        made: dict[str, Any] = {"outputs": (Output("x", tree(luck, 3), shown),)}
        if luck.random() < 0.3:
            made["having"] = tree(luck, 2)
        if luck.random() < 0.3:
            made["order"] = (Order(tree(luck, 2), luck.random() < 0.5, luck.random() < 0.5),)
        plan: Plan = replace(quote.plan, **made)
        if misfit(plan) is not None:
            continue
        passed += 1
        noisy = tuple(tuple(luck.choice(READINGS) for _ in quote.lowered.keys) for _ in quote.priced)
        for row in finish(replace(quote, plan=plan), seen(quote, noisy)):
            assert json.dumps([cell.as_json() for cell in row], allow_nan=False)


def test_sql_cannot_reach_the_limits():
    with pytest.raises(Refusal):
        planned("SELECT " + "COUNT(*)" + " + 1" * 65 + " FROM visits")
    assert MOST_LEVELS > 2 * 65 + 10
