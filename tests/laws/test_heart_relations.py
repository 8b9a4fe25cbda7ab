"""The heart law over relations has controls: each node's rule is weakened once, and that is found (semantics 8).

Neighbours differ in one unit's rows in all private tables at once. That the law holds is tried in test_questions.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import heart_relations as relations

from dpcurator.break_me import relations as drawn
from dpcurator.engines import reference, reference_relations
from dpcurator.plan.core_relations import Both


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


def asks(monkeypatch: Any, text: str) -> None:
    monkeypatch.setattr(relations, "question", lambda luck, made: text)


def test_groups_that_forget_the_unit_are_found(monkeypatch):
    """Weakened: rows are grouped by the keys alone, so one row holds what several units did."""
    honest = reference_relations._groups

    def weakened(node: Any, rows: Any) -> Any:
        return honest(node, [(rows[0][0], *row[1:]) for row in rows])

    monkeypatch.setattr(reference_relations, "_groups", weakened)
    asks(monkeypatch, "SELECT SUM(CLIP(n, -3, 3)) FROM (SELECT pid, COUNT(*) * 9 - 120 AS n FROM visits GROUP BY pid)")
    assert is_found(iter(range(50, 550)))


def test_a_join_by_something_else_than_the_unit_is_found(monkeypatch):
    """Weakened: rows meet the row of whichever unit comes first there."""
    honest = reference_relations._match

    def weakened(node: Any, rows: Any, others: Any, width: int) -> Any:
        first = min((other[node.other_on[0]] for other in others), key=str, default=None)
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
    monkeypatch.setattr(drawn, "RELATIONS", (drawn.together,))
    assert is_found(iter(range(500)))


def test_row_numbers_across_units_are_found(monkeypatch):
    """Weakened: rows are numbered in an order of all units' rows, whosever they are."""
    honest = reference_relations._ranked

    def weakened(node: Any, rows: Any) -> Any:
        return honest(replace(node, keys=node.keys[1:]), rows)

    monkeypatch.setattr(reference_relations, "_ranked", weakened)
    monkeypatch.setattr(drawn, "RELATIONS", (drawn.numbered,))
    assert is_found(iter(range(500)))


def test_a_cohort_of_other_units_is_found(monkeypatch):
    """Weakened: a row is marked where its unit is not alone in the cohort, which is a fact of other units' rows."""
    honest = reference_relations._flag

    def weakened(node: Any, rows: Any, among: Any) -> Any:
        found = {row[node.among_unit] for row in among}
        return [(*row, int(len(found) > 1)) for row in rows] if found else honest(node, rows, among)

    monkeypatch.setattr(reference_relations, "_flag", weakened)
    asks(monkeypatch, "SELECT COUNT(*), SUM(age) FROM visits WHERE pid IN (SELECT who FROM diagnoses WHERE kind = 'a')")
    assert is_found(iter(range(500)))


def test_a_list_that_looks_at_other_rows_is_found(monkeypatch):
    """Weakened: a row is marked where the value of any row is in the public list."""
    honest = reference_relations._found

    def weakened(node: Any, rows: Any, others: Any) -> Any:
        marks = [row[-1] for row in honest(node, rows, others)]
        return [(*row, int(1 in marks)) for row in rows]

    monkeypatch.setattr(reference_relations, "_found", weakened)
    asks(monkeypatch, "SELECT COUNT(*) FROM visits WHERE city IN (SELECT city FROM places WHERE region = 'N')")
    assert is_found(iter(range(500)))
