"""The heart law over Spark: what no reading does between neighbours, tried with the integers that Spark finds.

A triple is (catalog and tables, question, neighbour), of the worlds and questions of test_questions.py. A statement
takes Spark a second or more, so the plans of several questions, over the table and over each of its neighbours, are
evaluated together, 16 in a statement. The integers are the reference's, too.
"""

from __future__ import annotations

import random
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest
from heart import Vectors, moves, vectors
from question_worlds import Asked, Made, asked, made
from spark_session import PLAIN, settings, spark_or_skip

from dpcurator.engines.reference import Reference
from dpcurator.engines.spark.engine import Spark
from dpcurator.engines.spark.sql import statement
from dpcurator.errors import Refusal

PARTS = 12
WORLDS = 3  # a part, one of each kind
EACH = 2  # questions of each
NEIGHBOURS = 6  # of each, at most, spread evenly


def few(whole: Made) -> Made:
    """The world with some of its neighbours."""
    pairs = whole.pairs[:: -(-len(whole.pairs) // NEIGHBOURS)]
    seen = sorted({number for pair in pairs for number in pair} | {0})
    return replace(whole, tables=tuple(whole.tables[number] for number in seen),
                   pairs=tuple((seen.index(one), seen.index(other)) for one, other in pairs))


def renamed(part: Any, first: int) -> Any:
    """The plan, or a part of one, over the tables numbered on from `first`."""
    if isinstance(part, tuple):
        return tuple(renamed(one, first) for one in part)
    if not is_dataclass(part) or isinstance(part, type):
        return part
    changed = {field.name: renamed(getattr(part, field.name), first) for field in fields(part)}
    if isinstance(changed.get("table"), str):
        changed["table"] = f"t{first + int(changed['table'][1:])}"
    return replace(part, **changed)


def evaluated(questions: list[Asked]) -> list[list[Vectors]]:
    """For each question its vectors over each of its world's tables, all of them by one engine."""
    tables: dict[str, Any] = {}
    kinds: dict[str, Any] = {}
    starts: dict[tuple[str, int], int] = {}
    plans = []
    for one in questions:
        for number, stored in enumerate(one.made.tables):
            if (one.made.name, number) not in starts:
                first = starts[one.made.name, number] = len(tables)
                for name, columns in stored.items():
                    tables[f"t{first + int(name[1:])}"] = columns
                    kinds[f"t{first + int(name[1:])}"] = one.made.kinds[name]
            plans.append(renamed(one.quote.lowered.core, starts[one.made.name, number]))
    found = iter(Spark.from_tables(tables, kinds).evaluate_all(plans))
    return [[vectors(one.quote, next(found)) for _ in one.made.tables] for one in questions]


def drawn(part: int) -> list[Asked]:
    found = []
    for number in range(WORLDS):
        world = few(made(WORLDS * part + number))
        luck = random.Random(f"heart on Spark {world.name}")
        own: list[Asked] = []
        while len(own) < EACH:
            one = asked(world, luck)
            with suppress(Refusal):  # deeper than Spark plans
                statement([one.quote.lowered.core], str)
                own.append(one)
        found += own
    return found


def broken(questions: list[Asked], found: list[list[Vectors]]) -> list[str]:
    return [f"{question.made.name}: {question.text}: {words}"
            for question, each in zip(questions, found, strict=True)
            for one, other in question.made.pairs for words in moves(question.quote, each[one], each[other])]


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_no_neighbour_moves_what_spark_reads_further_than_is_claimed(part: int, record_property: Any) -> None:
    spark_or_skip()
    questions = drawn(part)
    with settings(**PLAIN):
        found = evaluated(questions)
    assert broken(questions, found) == []
    for question, each in zip(questions, found, strict=True):
        core = question.quote.lowered.core
        assert each == [vectors(question.quote, Reference(tables).evaluate(core)) for tables in question.made.tables]
    triples = sum(len(question.made.pairs) for question in questions)
    print(f"part {part}: {triples} triples")
    record_property("triples", triples)
