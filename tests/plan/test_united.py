"""Relations that differ in their columns alone are one: the same rows, read, joined and grouped once for a batch."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction as F

import heart_relations as relations
import pytest
from clinic import CLINIC, kinds, planned, stored
from heart import vectors

from dpcurator.engines import reference_relations
from dpcurator.engines.duckdb.engine import DuckDB
from dpcurator.engines.duckdb.together import grouped_more_than_once, over_one_relation, together
from dpcurator.engines.reference import Reference
from dpcurator.plan.core import CorePlan
from dpcurator.plan.lower_relations import lowered_relation
from dpcurator.plan.merge import merged
from dpcurator.plan.relation_facts import facts
from dpcurator.plan.united import united
from dpcurator.pricing.quote import price

PER = "(SELECT pid, SUM(cost) AS total, COUNT(*) AS n, MIN(city) AS town FROM visits GROUP BY pid)"
ONE = "(SELECT patient, MIN(code) AS code FROM diagnoses GROUP BY patient)"


def core_of(text: str) -> CorePlan:
    return price(planned(text), F(1), CLINIC).lowered.core


BATCHES = [  # questions, and how many statements' branches and kept groupings they take
    ([f"SELECT AVG(CLIP(total, 0, 500)) FROM {PER}", f"SELECT AVG(CLIP(n, 0, 9)) FROM {PER}",
      f"SELECT COUNT(*) FROM {PER} WHERE n > 2", f"SELECT town, COUNT(*) FROM {PER} GROUP BY town"], 3, 1),
    ([f"SELECT city, AVG(cost) FROM visits JOIN {ONE} AS d ON pid = patient GROUP BY city",
      f"SELECT city, AVG(age) FROM visits JOIN {ONE} AS d ON pid = patient GROUP BY city"], 1, 0),
    ([f"SELECT city, AVG(cost) FROM visits JOIN {ONE} AS d ON pid = patient GROUP BY city",
      f"SELECT AVG(age) FROM visits JOIN {ONE} AS d ON pid = patient WHERE d.code = 'X'"], 2, 1),
    ([f"SELECT AVG(CLIP(n, 0, 9)) FROM {PER}", f"SELECT COUNT(*) FROM visits JOIN {PER} AS p USING (pid) WHERE n > 1"],
     2, 1),
    (["SELECT COUNT(*) FROM visits JOIN cities USING (city)", "SELECT region, AVG(CLIP(people, 0, 9)) FROM visits "
      "JOIN cities USING (city) GROUP BY region"], 2, 0),
]


@pytest.mark.parametrize(("texts", "branches", "kept"), BATCHES)
def test_a_batch_reads_and_groups_a_shared_subquery_once(texts, branches, kept):
    cores = [core_of(text) for text in texts]
    one = [found.core for found in merged(over_one_relation(cores))]
    assert len(one) == branches
    assert len(grouped_more_than_once(one)) == kept
    assert together(one).sql.count("related_0 AS MATERIALIZED") == min(kept, 1)
    engine = DuckDB.from_tables(stored(), kinds())
    quotes = [price(planned(text), F(1), CLINIC) for text in texts]
    alone = [vectors(quote, Reference.from_tables(stored(), kinds()).evaluate(core))
             for quote, core in zip(quotes, cores, strict=True)]
    found = engine.evaluate_all(cores)
    assert [vectors(quote, exact) for quote, exact in zip(quotes, found, strict=True)] == alone


def pairs(seeds: range) -> int:
    """How many pairs of one relation with some columns and with others are one, with the rows each has."""
    count = 0
    for seed in seeds:
        made = relations.world(seed)
        tables, luck = made.stored(made.tables), random.Random(seed)
        for text, quote in relations.questions(made, 8):
            node = quote.plan.source.source.source
            size = len(facts(node, made.catalog).table.columns)
            some = [{index for index in range(size) if luck.random() < 0.5} for _ in range(2)]
            one, other = (lowered_relation(node, used, made.catalog).node for used in some)
            both = united(one, other)
            if both is None or one == other:
                continue
            rows = reference_relations.relation(both[0], tables)
            for side, places in ((one, both[1]), (other, both[2])):
                kept = Counter(repr(tuple(row[places[index]] for index in range(len(places)))) for row in rows)
                assert kept == Counter(map(repr, reference_relations.relation(side, tables))), (seed, text)
            count += 1
    return count


def test_united_relations_have_the_rows_of_each():
    assert pairs(range(6)) > 10


@pytest.mark.slow
def test_united_relations_have_the_rows_of_each_at_length():
    assert pairs(range(1_000, 1_300)) > 500


def batches(seeds: range) -> None:
    """Each question of a batch has the integers it has alone."""
    for seed in seeds:
        made = relations.world(seed)
        asked = [quote for _, quote in relations.questions(made, 6)]
        cores, data = [quote.lowered.core for quote in asked], (made.stored(made.tables), made.kinds)
        honest = [vectors(quote, Reference.from_tables(*data).evaluate(quote.lowered.core)) for quote in asked]
        found = DuckDB.from_tables(*data).evaluate_all(cores)
        assert [vectors(quote, exact) for quote, exact in zip(asked, found, strict=True)] == honest, seed


def test_batches_over_relations_have_the_integers_of_each_question():
    batches(range(200, 202))


@pytest.mark.slow
def test_batches_over_relations_have_the_integers_of_each_question_at_length():
    batches(range(2_000, 2_120))
