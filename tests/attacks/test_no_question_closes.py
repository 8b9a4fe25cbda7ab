"""Row 10, from above: no accepted question makes what follows the noise fail, whatever the noisy integers are.

A failure after the charge closes the curator for everyone, so an expression over aggregates that could raise would be a
way to close it at will. Thousands of random expressions are bound; those accepted are finished, stored as JSON and
printed for noisy integers that are 0, negative, tiny and huge.
"""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from house import opened
from questions import seen

import dpcurator as dp
from dpcurator.break_me.expressions import SHAPES, shown
from dpcurator.release.answer import answer_of
from dpcurator.release.finish import finish

LEAVES = ["COUNT(*)", "SUM(age)", "SUM(gain)", "AVG(gain)", "AVG(age)", "COUNT(DISTINCT who)", "CORR(age, gain)",
          "1e400", "NULL", "'Leeds'", "TRUE", "FALSE", "DATE '2024-02-29'", "city", "dose", "seen", "day",
          "'2024-02-29'"]
ALSO = ("({0} = {1})", "({0} <> {1})", "({0} < {1})", "({0} >= {1})", "({0} AND {1})", "({0} OR {1})", "(NOT {0})",
        "({0} IS NULL)", "({0} IN ({1}, NULL))", "({0} BETWEEN {1} AND {0})")
NOISY = [0, 1, -1, 2**16, -(2**16), 3 * 2**16 + 1, 10**40, -(10**40), 2**1100, -(2**1100)]


def expression(luck: random.Random, depth: int) -> str:
    """By the generator of `dpcurator/break_me`, of leaves of every type, and comparisons too."""
    return shown(luck, lambda: luck.choice(LEAVES), depth, (*SHAPES, *ALSO))


@pytest.fixture(scope="module")
def curator(tmp_path_factory: pytest.TempPathFactory) -> dp.Curator:
    return opened(Path(tmp_path_factory.mktemp("c")))


@pytest.mark.parametrize("seed", range(8))
def test_row_10_no_accepted_question_can_fail_after_the_charge(curator, seed, tries):
    luck = random.Random(f"close {seed}")
    accepted = refused = 0
    while accepted < tries:
        shown = ", ".join(expression(luck, luck.choice([1, 1, 2])) for _ in range(luck.choice([1, 1, 2])))
        having = f" HAVING {expression(luck, 2)}" if luck.random() < 0.2 else ""
        order = f" ORDER BY {expression(luck, 2)}, {expression(luck, 1)} DESC" if luck.random() < 0.4 else ""
        text = (
            f"SELECT {shown} FROM visits GROUP BY city, dose, seen, day{having}{order} LIMIT {luck.choice([0, 5, 99])}"
        )
        try:
            quote = curator.quote(text, epsilon=luck.choice(["0.1", "7", "1e-6", "1e9"]))
            quote.as_json()
        except dp.Refusal:
            refused += 1
            continue
        accepted += 1
        noisy = tuple(tuple(luck.choice(NOISY) for _ in quote.lowered.keys) for _ in quote.priced)
        answer = curator._shaped(quote, finish(quote, seen(quote, noisy)))
        stored = json.loads(json.dumps(answer.core_json(), allow_nan=False))
        assert answer_of(stored, total=Fraction(1)).cells == answer.cells
        assert str(answer)
        assert answer._repr_html_()
    assert refused > tries / 5  # the generator reaches what is refused too


def test_row_10_the_same_through_the_whole_curator(curator, tries):
    luck = random.Random("whole")
    answered = 0
    while answered < tries:
        items = f"{expression(luck, 2)}, {expression(luck, 1)}"
        text = f"SELECT {items} FROM visits GROUP BY city, dose, seen, day ORDER BY 1, 2"
        told: Any = None
        try:
            told = curator.ask(text, epsilon="0.1")
        except dp.OverBudget:
            break
        except dp.Refusal:
            continue
        answered += 1
        assert told.rows is not None
    assert curator.ledger.life() in ("new", "open")
