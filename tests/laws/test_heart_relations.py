"""The heart law over relations: between neighbours no reading of any question over several tables moves further than it
claims, on both of the catalog's relations, and every engine gives the integers of the reference (semantics 8).

Neighbours differ in one unit's rows in all private tables at once. Each node's rule is weakened once and found.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import heart_relations as relations
import pytest
from engine_rows import OTHERS

from dpcurator.engines import reference, reference_relations
from dpcurator.plan.core_relations import Both

TRIPLES, EACH, LONG = 300, 30, 8_000


def run(seeds: Iterator[int], wanted: int) -> tuple[int, list[str]]:
    count, found = 0, []
    while count < wanted:
        made = relations.world(next(seeds))
        for text, quote in relations.questions(made, 8):
            found += relations.broken(made, text, quote, relations.evaluated(made, quote))
            count += len(made.swaps)
    return count, found


def is_found(seeds: Iterator[int], most: int = 2_000) -> bool:
    """Whether the law is broken within so many triples."""
    count = 0
    while count < most:
        made = relations.world(next(seeds))
        for text, quote in relations.questions(made, 4):
            if relations.broken(made, text, quote, relations.evaluated(made, quote)):
                return True
            count += len(made.swaps)
    return False


def on_both(engine: Any, seeds: Iterator[int], wanted: int) -> int:
    count = 0
    while count < wanted:
        made = relations.world(next(seeds))
        opened = [engine.from_tables(made.stored(one), made.kinds) for one in made.every[:2]]
        for text, quote in relations.questions(made, 20):
            for one, tables in zip(opened, made.every, strict=False):
                mine = relations.vectors(quote, one.evaluate(quote.lowered.core))
                core = quote.lowered.core
                honest = relations.vectors(quote, relations.Reference(made.stored(tables)).evaluate(core))
                assert mine == honest, (made.seed, text)
            count += 1
    return count


def test_no_unit_moves_a_reading_further_than_it_claims(record_property):
    count, found = run(iter(range(10_000)), TRIPLES)
    record_property("triples", count)
    assert found == []


@pytest.mark.slow
@pytest.mark.parametrize("start", range(10_000, 40_000, 10_000))
def test_no_unit_moves_a_reading_further_than_it_claims_at_length(start):
    count, found = run(iter(range(start, start + 10_000)), LONG)
    assert (count >= LONG, found) == (True, [])


@pytest.mark.parametrize("engine", OTHERS)
def test_every_engine_has_the_same_integers(engine, record_property):
    record_property("questions", on_both(engine, iter(range(50_000, 60_000)), EACH))


@pytest.mark.slow
@pytest.mark.parametrize("engine", OTHERS)
def test_every_engine_has_the_same_integers_at_length(engine):
    on_both(engine, iter(range(60_000, 70_000)), 20 * EACH)


def test_groups_that_forget_the_unit_are_found(monkeypatch):
    """Weakened: rows are grouped by the keys alone, so one row holds what several units did."""
    honest = reference_relations._groups

    def weakened(node: Any, rows: Any) -> Any:
        return honest(node, [(rows[0][0], *row[1:]) for row in rows])

    monkeypatch.setattr(reference_relations, "_groups", weakened)
    assert is_found(iter(range(50, 550)))


def test_a_join_by_something_else_than_the_unit_is_found(monkeypatch):
    """Weakened: rows meet the row of whichever unit comes first there."""
    honest = reference_relations._match

    def weakened(node: Any, rows: Any, others: Any, width: int) -> Any:
        first = min((other[node.other_on[0]] for other in others), default=None)
        moved = [(*row[: node.on[0]], first, *row[node.on[0] + 1 :]) for row in rows]
        return [(*row, *met[len(row) :]) for row, met in zip(rows, honest(node, moved, others, width), strict=False)]

    monkeypatch.setattr(reference_relations, "_match", weakened)
    assert is_found(iter(range(500)))


def test_rows_put_together_that_forget_the_unit_are_found(monkeypatch):
    """Weakened: UNION ALL drops a row of one side where the other side has an equal one but for its unit."""
    honest = reference_relations.relation

    def weakened(node: Any, tables: Any) -> Any:
        rows = honest(node, tables)
        return list({row[1:]: row for row in rows}.values()) if isinstance(node, Both) else rows

    monkeypatch.setattr(reference_relations, "relation", weakened)
    monkeypatch.setattr(reference, "relation", weakened)
    monkeypatch.setattr(relations, "question", relations.together)
    assert is_found(iter(range(500)))


def test_row_numbers_across_units_are_found(monkeypatch):
    """Weakened: rows are numbered in an order of all units' rows, whosever they are."""
    honest = reference_relations._ranked

    def weakened(node: Any, rows: Any) -> Any:
        return honest(replace(node, keys=node.keys[1:]), rows)

    monkeypatch.setattr(reference_relations, "_ranked", weakened)
    monkeypatch.setattr(relations, "question", relations.numbered)
    assert is_found(iter(range(500)))


def test_a_cohort_of_other_units_is_found(monkeypatch):
    """Weakened: a row is marked where its unit is not alone in the cohort, which is a fact of other units' rows."""
    honest = reference_relations._flag

    def weakened(node: Any, rows: Any, among: Any) -> Any:
        found = {row[node.among_unit] for row in among}
        return [(*row, int(len(found) > 1)) for row in rows] if found else honest(node, rows, among)

    monkeypatch.setattr(reference_relations, "_flag", weakened)
    assert is_found(iter(range(500)))


def test_a_list_that_looks_at_other_rows_is_found(monkeypatch):
    """Weakened: a row is marked where the value of any row is in the public list."""
    honest = reference_relations._found

    def weakened(node: Any, rows: Any, others: Any) -> Any:
        marks = [row[-1] for row in honest(node, rows, others)]
        return [(*row, int(1 in marks)) for row in rows]

    monkeypatch.setattr(reference_relations, "_found", weakened)
    monkeypatch.setattr(relations, "question", relations.listed)
    assert is_found(iter(range(500)))
