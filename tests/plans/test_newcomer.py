"""A newcomer's hour: every statement of newcomer.sql answers, or is refused in words that lead to one that does.

Run end to end on the reference engine: bound, priced, evaluated, noised, finished; no ledger is needed for that.
"""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction as F
from pathlib import Path
from typing import Any

import pytest
from questions import catalog_with

from dpcurator.aggregates import AGGREGATES
from dpcurator.catalog.model import Catalog, Column, Table
from dpcurator.engines.limits import check_core
from dpcurator.engines.reference import Reference
from dpcurator.entropy import SystemEntropy
from dpcurator.errors import Refusal
from dpcurator.fronts.sql import parse
from dpcurator.plan.bind import bind
from dpcurator.pricing.quote import price
from dpcurator.release.finish import finish
from dpcurator.release.release import release

VISITS = Table(
    "visits",
    (
        Column("patient_id", "text"),
        Column("city", "text", keys=("Hull", "Leeds", "York")),
        Column("age", "integer", F(0), F(110)),
        Column("cost", "float", F(0), F(20000)),
        Column("smoker", "boolean", keys=(0, 1)),
        Column("day", "date", F(19723), F(20088)),  # 2024
        Column("at", "timestamp"),
        Column("note", "text"),
        Column("weight", "float"),
        Column("diagnosis", "text", unknown_keys=True),
        Column("doctor", "text"),
    ),
    "patient_id", max_rows=4, max_groups=2,
)
CITIES = Table(
    "cities",
    (
        Column("city", "text", keys=("Hull", "Leeds", "York"), unique=True, most=1),
        Column("region", "text", keys=("East", "North"), most=2),
        Column("population", "integer", F(150_000), F(550_000), most=1),
    ),
    None,
)
PATIENTS = Table(
    "patients",
    (
        Column("patient_id", "text"),
        Column("sex", "text", keys=("f", "m")),
        Column("born", "date", F(-18262), F(18262)),  # 1920 to 2020
    ),
    "patient_id", max_total=1,
)
DIAGNOSES = Table(
    "diagnoses",
    (
        Column("patient_id", "text"), Column("code", "text", unknown_keys=True),
        Column("day", "date", F(19723), F(20088)),
    ),
    "patient_id", max_total=10,
)
CATALOG: Catalog = replace(catalog_with(VISITS, CITIES, PATIENTS, DIAGNOSES), delta=F(1, 10**6), salt="0" * 32)
MOMENT = 1_710_000_000_000_000
ROWS: list[tuple[Any, ...]] = [
    (f"p{n}", ("Hull", "Leeds", "York", None)[n % 4], 18 + n % 70, 12.5 * n, n % 2, 19723 + n, MOMENT, "a fever", 70.0,
     "flu", "Dr Grey")
    for n in range(60)
]
TABLES = {
    "t0": {f"c{i}": [row[i] for row in ROWS] for i in range(len(VISITS.columns))},
    "t1": {"c0": ["Hull", "Leeds", "York"], "c1": ["East", "North", "North"], "c2": [267_000, 536_000, 153_000]},
    "t2": {"c0": [f"p{n}" for n in range(70)], "c1": ["f", "m"] * 35, "c2": [100 * n for n in range(70)]},
    "t3": {"c0": [f"p{n % 40}" for n in range(60)], "c1": ["E11", "J45", "I10"] * 20,
           "c2": [19723 + n for n in range(60)]},
}


def statements() -> list[tuple[str, str | None]]:
    """(statement, None when it answers, or the words of its refusal)."""
    text = (Path(__file__).parent / "newcomer.sql").read_text(encoding="utf-8")
    found = re.findall(r"((?:^(?!-- ).*\n)+?)^-- (answers|refused: .*)$", text, re.MULTILINE)
    return [
        (sql.strip().removesuffix(";"), None if said == "answers" else said.removeprefix("refused: "))
        for sql, said in found
    ]


STATEMENTS = statements()


def answered(text: str) -> int:
    """How many rows it answers. Raises Refusal."""
    quote = price(bind(parse(text), CATALOG, AGGREGATES), F(1), CATALOG)
    if quote.price is None:
        return len(finish(quote, None))
    check_core(quote.lowered.core)
    return len(finish(quote, release(quote, Reference(TABLES).evaluate(quote.lowered.core), SystemEntropy())))


@pytest.mark.parametrize(("number", "text", "words"), [(n, *one) for n, one in enumerate(STATEMENTS)])
def test_a_newcomers_statement(number, text, words):
    if words is None:
        answered(text)
        return
    with pytest.raises(Refusal) as refused:
        answered(text)
    assert words in str(refused.value), str(refused.value)
    assert refused.value.cure
    assert STATEMENTS[number + 1][1] is None, "the next one is what the message leads to"


def test_there_are_enough_of_both_kinds():
    assert len(STATEMENTS) >= 120
    assert sum(words is not None for _, words in STATEMENTS) >= 50
