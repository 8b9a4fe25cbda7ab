"""Counts of different values: engines equal, by hand, and how far one unit moves them, over all small worlds.

The law. For caps l0, m <= 3 and T, over every pair of units with any sets of pairs (key, value) drawn from a small
world, with and without others: the vector of counts moves by at most what `stability` claims, under both relations; and
a claim that is less by one is wrong. Which pairs a unit keeps is the reference's, which both engines equal.
"""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from typing import Any

import pytest

from dpcurator.engines.duckdb import distinct
from dpcurator.engines.duckdb.engine import DuckDB
from dpcurator.engines.reference import Reference
from dpcurator.language.rows import Field
from dpcurator.plan.core import (
    ONE,
    Chosen,
    CorePlan,
    Distinct,
    Grid,
    Listed,
    Measure,
    Owner,
    PerUnit,
    ScaleDown,
    Scan,
    Source,
    Sum,
    Tally,
    Total,
)
from dpcurator.plan.nodes import Ask, Measured
from dpcurator.plan.reading import Reading
from dpcurator.plan.stability import Reach, Steps, reading
from dpcurator.values import Exact

KINDS = {"c0": "integer", "c1": "integer", "c2": "text", "c3": "integer"}
SCAN = Scan("t0", tuple(Source(name, kind) for name, kind in KINDS.items()))


def plan(
    keys: Any, rows: int, groups: int, total: int | None = None, *, columns: tuple[int, ...] = (2,),
    owner: int | None = 0, more: tuple[Sum, ...] = (), tallies: tuple[Tally, ...] = (),
) -> CorePlan:
    listed = Listed((1,), tuple((key,) for key in keys)) if keys is not None else Chosen((1,), groups, "salt")
    sums = (*(() if keys is not None else (Sum("units"),)), *(Sum("distinct", n) for n in range(len(columns))), *more)
    return (SCAN, Owner(owner), listed, Measure((Grid(3, "integer", 0, 9, 0, 9, 0),), (),
                                                tuple(Distinct(column, "salt") for column in columns)),
            PerUnit(), ScaleDown(rows, groups, 1 if owner is None else ONE, total), Total(sums, tallies))


def table(rows: list[tuple[Any, ...]]) -> dict[str, dict[str, list[Any]]]:
    return {"t0": {name: [row[n] for row in rows] for n, name in enumerate(KINDS)}}


def opened(exact: Exact, keys: bool) -> Any:
    found = exact.open_for_release()
    return found if keys else sorted(zip(map(repr, exact.keys_for_release() or ()), found, strict=True))


def found(core: CorePlan, rows: list[tuple[Any, ...]]) -> tuple[int, ...]:
    return tuple(row[0] for row in Reference(table(rows)).evaluate(core).open_for_release())


# --- by hand, and on both engines -----------------------------------------------------------------------------------

BY_HAND = [(1, 0, "a", 1), (1, 0, "a", 2), (1, 0, "b", None), (2, 0, "a", 1), (2, 1, "b", 1), (2, 1, None, 1),
           (3, 1, "", 3), (3, 2, "z", 3), (None, 1, "q", 1)]


@pytest.mark.parametrize("engine", [Reference, DuckDB])
def test_by_hand(engine: Any) -> None:
    """Of key 0 the values a and b; of key 1 b and the empty text, which is no missing one; key 2 is not listed. A row
    without a unit is nobody's. The column c3 has 1, 2; 1, 3."""
    tables = engine.from_tables(table(BY_HAND), {"t0": KINDS})
    assert tables.evaluate(plan((0, 1), 3, 3, columns=(2, 3))).open_for_release() == ((2, 2), (2, 2))
    one = tables.evaluate(plan((0, 1), 1, 1)).open_for_release()
    assert [0 < count <= 2 for (count,) in one] == [True, True]  # of 1 and of 3 one value each, of 2 one in all
    assert tables.evaluate(plan((0, 1), 1, 1, owner=None)).open_for_release() == ((2,), (3,))


@pytest.mark.parametrize("seed", range(3))
def test_both_engines_count_the_same(seed: int) -> None:
    """Units over every cap and under all, texts and numbers, listed and chosen keys, beside sums and tallies."""
    luck = random.Random(seed)
    texts = ["", "a", "b", "ä", "a:b", "1", "n0:", None, "x" * 40]
    rows = [(luck.choice([None, 1, 2, 3, 10**18]), luck.choice([0, 1, 2, 3, None]), luck.choice(texts),
             luck.choice([None, 0, -1, 2**62, 7])) for _ in range(120)]
    engines = [Reference(table(rows)), DuckDB.from_tables(table(rows), {"t0": KINDS})]
    for keys in ((0, 1, 2), (0, None), None, ()):
        for rows_cap, groups, total in ((1, 1, None), (2, 2, 3), (3, 1, None), (2, 3, 2), (50, 50, None), (4, 2, 7)):
            total = None if keys is None and total is not None and groups > total else total
            more = (Sum("rows"), Sum("values", 0)) if seed else ()
            tallies = (Tally("everyone"), Tally("cut", (0,))) if seed == 2 else ()
            for owner in (0, None):
                core = plan(keys, rows_cap, groups, total, columns=(2, 3), owner=owner, more=more, tallies=tallies)
                results = [engine.evaluate(core) for engine in engines]
                assert opened(results[0], keys is not None) == opened(results[1], keys is not None)
                assert results[0].tallies_for_release() == results[1].tallies_for_release()


@pytest.mark.parametrize("often", [0, 10**9])
def test_a_sample_of_the_units_spares_work_and_no_value(often: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Most of 120 units have the same few values, and some have one that nobody else has. Whether the sample always
    serves or never (`often`), the counts are the reference's; where it serves, not without the units that have more."""
    monkeypatch.setattr(distinct, "OFTEN", often)
    luck = random.Random(5)
    rows = [(unit, luck.choice([0, 1, None]), "", unit if unit % 9 == 0 else luck.randint(0, 3))
            for unit in range(120) for _ in range(4)]
    engine = DuckDB.from_tables(table(rows), {"t0": KINDS})
    for keys, caps in (((0, 1, None), (2, 2, 3)), (None, (1, 1, None))):
        core = plan(keys, *caps, columns=(3,))
        expected = opened(Reference(table(rows)).evaluate(core), keys is not None)
        assert opened(engine.evaluate(core), keys is not None) == expected
        query = engine.explain(core)
        lost = replace(query, sql=query.sql.replace("SEMI JOIN left0 ON u = w", "SEMI JOIN left0 ON false"))
        assert lost != query
        monkeypatch.setattr(engine, "explain", lambda core, lost=lost: lost)
        assert (opened(engine.evaluate(core), keys is not None) == expected) is (often > 0)
        monkeypatch.delattr(engine, "explain")


# --- the law --------------------------------------------------------------------------------------------------------

KEYS, VALUES = (0, 1, 2), ("a", "b", "c", "d")
COLUMN = Measured("c2", Field(2, "text"), "text", "text", None, None)


def claim(rows: int, groups: int, total: int | None, neighbours: str) -> Reading:
    total = total if total is not None and total < rows * groups else None
    reach = Reach(rows, groups, len(KEYS), ONE, (), neighbours, 2 if neighbours == "replace-one" else None, total=total)
    return reading(Ask("distinct", COLUMN), reach, Steps())


def units(luck: random.Random) -> list[list[tuple[int, str]]]:
    """What one unit may have: all pairs, all of one key, one value in all keys, and others by lot."""
    pairs = list(itertools.product(KEYS, VALUES))
    return [pairs, pairs[:4], pairs[4:8], [(key, "a") for key in KEYS], list(itertools.product(KEYS, "ab")), [],
            *([luck.sample(pairs, luck.randint(1, 8)) for _ in range(6)])]


def vectors(core: CorePlan, luck: random.Random) -> list[tuple[tuple[int, ...], list[tuple[int, ...]]]]:
    """For some worlds of others: the counts without the one unit, and with each that there may be."""
    worlds = [[], [(5, key, value, None) for key, value in itertools.product(KEYS, "cd")],
              [(unit, *luck.choice([(0, "a"), (1, "b"), (2, "d")]), None) for unit in (5, 6)]]
    return [
        (found(core, world), [found(core, [*world, *((9, *pair, None) for pair in own)]) for own in units(luck)])
        for world in worlds
    ]


CAPS = [(rows, groups, total) for rows in (1, 2, 3) for groups in (1, 2, 3) for total in (None, rows, rows + 1)
        if total is None or total < rows * groups]


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_no_unit_moves_a_count_of_different_values_further_than_is_claimed(neighbours: str) -> None:
    furthest = dict.fromkeys(("linf", "l1", "l2_squared"), 0)
    for rows, groups, total in CAPS:
        bound = claim(rows, groups, total, neighbours)
        seen = dict.fromkeys(furthest, 0)
        for without, every in vectors(plan(KEYS, rows, groups, total), random.Random(rows)):
            pairs = [(without, one) for one in every]
            if neighbours == "replace-one":
                pairs = list(itertools.combinations(every, 2))
            for one, other in pairs:
                moves = [abs(a - b) for a, b in zip(one, other, strict=True)]
                seen["linf"] = max(seen["linf"], *moves)
                seen["l1"] = max(seen["l1"], sum(moves))
                seen["l2_squared"] = max(seen["l2_squared"], sum(move * move for move in moves))
        for name, most in seen.items():
            assert most <= getattr(bound, name), (rows, groups, total, name)
            furthest[name] += most == getattr(bound, name)
    assert furthest["linf"] == len(CAPS)  # so that a claim that is less by one would be wrong for each cap
    assert min(furthest.values()) >= len(CAPS) // 3


def test_a_unit_that_keeps_one_value_too_many_breaks_the_law(monkeypatch: Any) -> None:
    from dpcurator.engines import reference

    honest = reference._first
    monkeypatch.setattr(reference, "_first", lambda digests, most: honest(digests, most + 1))
    with pytest.raises(AssertionError):
        test_no_unit_moves_a_count_of_different_values_further_than_is_claimed("add-remove")
