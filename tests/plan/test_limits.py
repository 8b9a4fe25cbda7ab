"""Questions that would be too much work are refused from public facts, before anything is charged."""

from __future__ import annotations

import contextlib
import random
import time
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from questions import catalog_with, planned, with_column

from dpcurator.catalog.model import Column, Table
from dpcurator.curator.batching import quote_batch
from dpcurator.errors import Refusal
from dpcurator.language import rows
from dpcurator.language.evaluate import value
from dpcurator.language.limits import KEY_LETTERS, MOST_STEPS, Budget, Cost, cost
from dpcurator.plan.limits import MOST_CELLS, finishing
from dpcurator.plan.public_keys import image
from dpcurator.pricing.offers import Offer
from dpcurator.pricing.prices import Price

F = Fraction
T = Table(
    "t",
    (
        Column("u", "text"), Column("i", "integer", F(0), F(999)), Column("j", "integer", F(0), F(999)),
        Column("k", "integer", F(0), F(9)), Column("b", "boolean"), Column("c", "text", keys=("A", "b")),
        Column("free", "text"),
    ),
    "u", max_rows=2, max_groups=1,
)
CATALOG = catalog_with(T)
LONG = "a" * 5000

PATTERN = f"CASE WHEN CAST(i AS TEXT) || '{LONG}' LIKE '%{LONG}b' THEN 1 ELSE 0 END"
BRANCHES = " ".join(f"WHEN i % {n} = 1 AND k > {n % 9} THEN {n}" for n in range(2, 200))
QUICK = {
    "a pattern that is tried at each letter": f"({PATTERN}) + 1",
    "many branches of many combinations": f"(CASE {BRANCHES} ELSE i END) % 7 * k",
    "a million at each of many levels": "((((((i*j % 1000)*j % 1000)*j % 1000)*j % 1000)*j % 1000)*j % 1000)*j % 1000",
    "a million whole numbers in each branch": "CASE " + " ".join(
        f"WHEN k = {n} THEN LENGTH(free) * 9 + {n}" for n in range(180)) + " END",
}
SLOW = {
    "a million of each of many levels": "FLOOR(i * SQRT(((((i*j % 998)*j % 998)*j % 998)*j % 998)*j % 998))",
    "long keys": f"CAST(i AS TEXT) || CAST(j AS TEXT) || '{LONG}'",
    "keys that are made long": "CONCAT(CAST(i * j AS TEXT), REPLACE(LEFT('aaaaaaaaaa', 9), 'a', '" + "b" * 100 + "'))",
}


@pytest.mark.parametrize("why", QUICK)
def test_keys_are_named_or_refused_soon(why: str) -> None:
    """Not by looking at every row of values where there is a shorter way: bounds, or the constants of a choice."""
    begun = time.process_time()
    with contextlib.suppress(Refusal):
        planned(f"SELECT COUNT(*) FROM t GROUP BY {QUICK[why]}", CATALOG)
    assert time.process_time() - begun < 20


@pytest.mark.parametrize("why", SLOW)
def test_keys_that_take_long_to_name_are_refused_soon(why: str) -> None:
    begun = time.process_time()
    with pytest.raises(Refusal, match="takes too long") as refused:
        planned(f"SELECT COUNT(*) FROM t GROUP BY {SLOW[why]}", CATALOG)
    assert refused.value.where.startswith("line 1")
    assert time.process_time() - begun < 20


@pytest.mark.parametrize("part", [PATTERN, f"CASE {BRANCHES} ELSE 0 END", "i * j % 7",
                                  "FLOOR(i / 10) * 10", "CAST(i * k AS TEXT) || 'x'", "i + 1000 * k",
                                  "CASE WHEN CAST(i AS TEXT) LIKE '%7_%' THEN 'a' ELSE 'b' END",
                                  f"CASE WHEN b THEN '{LONG}' ELSE c END"])
def test_ordinary_keys_are_not(part: str) -> None:
    assert planned(f"SELECT COUNT(*) FROM t GROUP BY {part}", CATALOG).source.source.keys > 0


LARGE = {
    "many sums of many keys": f"SELECT {', '.join(f'SUM(i + {n})' for n in range(110))} FROM t GROUP BY i, k",
    "a long expression for each key": f"SELECT {'+'.join(['COUNT(*)'] * 60)} FROM t GROUP BY i, k, c, b, k + 1",
    "a long order": "SELECT COUNT(*) FROM t GROUP BY i, k ORDER BY "
                    + ", ".join(f"COUNT(*) + {n}" for n in range(300)) + " LIMIT 5",
    "a long key beside many others": f"SELECT COUNT(*) FROM t GROUP BY i, k, CASE WHEN b THEN '{LONG}' ELSE 'x' END",
    "a long text for each key": f"SELECT '{LONG}', COUNT(*) FROM t GROUP BY i, k",
    "the same key shown often": f"SELECT {'c, ' * 40} COUNT(*) FROM t GROUP BY i, j, c, k LIMIT 1",
}


@pytest.mark.parametrize("why", LARGE)
def test_an_answer_that_would_be_too_large_is_refused(why: str) -> None:
    with pytest.raises(Refusal, match=r"too many keys|letters|would answer for"):
        planned(LARGE[why], CATALOG)


def test_a_million_keys_can_be_counted() -> None:
    plan = planned("SELECT COUNT(*) FROM t GROUP BY i, j", CATALOG)
    assert finishing(plan, T).cells == MOST_CELLS
    assert finishing(plan, T).letters == 0


def test_what_lies_at_candidates_is_counted_wherever_it_may_lie() -> None:
    """Twelve full histograms would be ten million numbers, over a gigabyte, after the charge; of other data they are
    next to nothing. Quantiles of one column read the same one; how many unknown groups there are nobody knows."""
    median, columns = "MEDIAN(i + 100 * j)", "c, k, b"
    one, two = (planned(f"SELECT {median}, {other} FROM t GROUP BY {columns}", CATALOG)
                for other in ("AVG(i)", f"QUANTILE({median[7:-1]}, 0.1)"))
    assert finishing(one, T).cells == finishing(two, T).cells > 40 * 2**14 // 2
    medians = ", ".join(f"MEDIAN(i + {n} * j)" for n in range(100, 112))
    with pytest.raises(Refusal, match="too many keys for what is asked of each"):
        planned(f"SELECT {medians} FROM t GROUP BY {columns}", CATALOG)
    assert finishing(planned("SELECT COUNT(*), MEDIAN(CLIP(i, 3, 3)) FROM t", CATALOG), T).cells < 100


def test_letters_are_those_of_the_answer() -> None:
    table = with_column(T, "c", keys=("", "four"))
    plan = planned("SELECT c, 'ab', COUNT(*) FROM t GROUP BY c, k", catalog_with(table))
    assert finishing(plan, table).letters == 2 * 10 * 4 + 20 * 2


def test_a_budget_is_spent_once() -> None:
    budget = Budget()
    assert budget.affords(MOST_STEPS // 2, Cost(1))
    assert not budget.affords(MOST_STEPS, Cost(1))
    assert budget.short
    assert budget.affords(MOST_STEPS // 2, Cost(1))
    assert not Budget().affords(KEY_LETTERS + 1, Cost(0, 1))


def texts(draws: random.Random, depth: int) -> rows.Operand:
    if depth == 0:
        return draws.choice([rows.Field(0, "text"), rows.Constant("a" * draws.randint(0, 5), "text")])
    inner = [texts(draws, depth - 1) for _ in range(2)]
    made: list[rows.Operand] = [
        rows.Compute("concat", tuple(inner), "text"), rows.Compute("replace", (inner[0],), "text", ("a", "bab")),
        rows.Compute("substring", (inner[0],), "text", (2, 7)), rows.Compute("upper", (inner[0],), "text"),
        rows.Compute("least", tuple(inner), "text"), rows.Compute("coalesce", tuple(inner), "text"),
        rows.Choose((rows.When(rows.Compare("<", *inner), inner[1]),), inner[0], "text"),
        rows.Compute("text_of_i", (rows.Compute("length", (inner[0],), "integer"),), "text"),
    ]
    return draws.choice(made)


def test_no_text_is_longer_than_it_costs() -> None:
    draws = random.Random("letters")
    for _ in range(300):
        part = texts(draws, draws.randint(1, 5))
        for text in ("", "aaa", "aAaAaAa"):
            found: Any = value(part, (text,))
            assert found is None or len(found) <= cost(part, lambda _, text=text: len(text)).letters  # type: ignore[misc]


def test_what_is_refused_depends_on_the_catalog_alone() -> None:
    """The list of an expression is a function of the declared columns."""
    part = rows.Compute("mul_i", (rows.Field(1, "integer"), rows.Field(2, "integer")), "integer")
    assert image(part, T) == image(part, T)


HEAVY = {
    "zones": [f"SELECT COUNT((d + INTERVAL '{n} second') AT TIME ZONE 'Europe/Paris') FROM t WHERE i <> {n}"
              for n in range(101, 210)],
    "powers": [f"SELECT COUNT(POWER(i, k + {n}.5) * POWER(j, k + {n}.25)) FROM t WHERE i <> {n}" for n in range(100)],
    "keys": [f"SELECT COUNT(i + {n}) FROM t GROUP BY i, c" for n in range(1, 100)] + [
        "SELECT COUNT(*) FROM t GROUP BY i, j"],
}


@pytest.mark.parametrize("why", HEAVY)
def test_a_batch_is_held_to_what_one_question_is(why: str) -> None:
    table = replace(T, columns=(*T.columns, Column("d", "timestamp")))
    catalog = catalog_with(table)
    plans = [planned(text, catalog) for text in HEAVY[why][:100]]
    with pytest.raises(Refusal, match=r"too large together|together: the answer"):
        quote_batch(plans, Offer(Price("epsilon", F(1), F(0)), {}, None, None, F(95, 100)), catalog)
    assert quote_batch(plans[:3], Offer(Price("epsilon", F(1), F(0)), {}, None, None, F(95, 100)), catalog).paid
