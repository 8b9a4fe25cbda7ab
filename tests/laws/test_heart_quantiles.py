"""The heart law of quantiles: between neighbouring tables no candidate's score moves further than is claimed.

As tests/laws/test_heart.py, whose worlds and claims these are: linf, l1 and l2 squared over the keys of the most that
any score of a key moves. Scores are worked out here from an engine's histograms by the definition, in plain Python.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import heart
import pytest
from engine_rows import OTHERS
from heart import KEYED, LEAVES, World, columns_of, kinds, moves, on_table, priced, vectors

from dpcurator.engines import reference
from dpcurator.engines.reference import Reference
from dpcurator.errors import Refusal
from dpcurator.plan import stability
from dpcurator.pricing.quote import Quote

TRIPLES, EACH = 300, 40  # of the ordinary run
LEVELS = ("0", "0.5", "0.5", "0.25", "0.9", "1", "0.333333")
MEASURED = ("age", '"net gain"', "gain", "day", "CLIP(age * 3, -4, 9)", "CLIP(gain, -1, 1)", "floor")


def question(luck: random.Random, world: World) -> str:
    items = [f"QUANTILE({luck.choice(MEASURED)}, {luck.choice(LEVELS)}) AS q{n}" for n in range(luck.choice([1, 1, 2]))]
    items += luck.sample(["COUNT(*)", "AVG(age)", "COUNT(age)"], luck.choice([0, 0, 1]))
    keys = [KEYED[j] for j in luck.sample(list(KEYED), luck.choice([0, 1, 1, 2])) if j != 3]
    where = f" WHERE {luck.choice(LEAVES)}" if luck.random() < 0.5 else ""
    if world.each_row and world.replaces and luck.random() < 0.4:
        keys, where = [], ""
    group = f" GROUP BY {', '.join(keys)}" if keys else ""
    return f"SELECT {', '.join([*keys, *items])} FROM visits{where}{group}"


def questions(world: World, count: int) -> Iterator[tuple[str, Quote]]:
    """Those that this world's bounds allow, out of so many."""
    luck = random.Random(f"quantiles {world.seed}")
    for _ in range(count):
        text = question(luck, world)
        try:
            quote = priced(text, world.catalog, luck.choice(["1", "0.01"]), cut=bool(world.seed % 3))
        except Refusal:
            continue
        if len(quote.lowered.keys) <= 200 and any(one.ask.q is not None for one in quote.priced):
            yield text, quote


def broken(world: World, text: str, quote: Quote) -> list[str]:
    found = [vectors(quote, Reference({"t0": columns_of(rows)}).evaluate(quote.lowered.core)) for rows in world.tables]
    return [f"world {world.seed}: {text}: {words}"
            for one, other in world.pairs for words in moves(quote, found[one], found[other])]


def run(seeds: Iterator[int], wanted: int) -> None:
    count = 0
    while count < wanted:
        world = heart.world(next(seeds))
        for text, quote in questions(world, 6):
            assert broken(world, text, quote) == []
            count += len(world.pairs)


def test_no_unit_moves_a_score_further_than_is_claimed():
    run(iter(range(10_000)), TRIPLES)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(10_000, 30_000, 2_000))
def test_no_unit_moves_a_score_further_than_is_claimed_at_length(start):
    run(iter(range(start, start + 2_000)), 2_000)


def on_both(engine: Any, seeds: Iterator[int], wanted: int) -> None:
    count = 0
    while count < wanted:
        world = heart.world(next(seeds))
        stored = {f"t{n}": columns_of(rows) for n, rows in enumerate(world.tables)}
        opened = engine.from_tables(stored, {name: kinds(world) for name in stored})
        for text, quote in questions(world, 3):
            core = quote.lowered.core
            cores = [on_table(core, n) for n in range(len(stored))]
            mine = [vectors(quote, Reference(stored).evaluate(one)) for one in cores]
            assert [vectors(quote, opened.evaluate(one)) for one in cores] == mine, (world.seed, text)
            assert [vectors(quote, one) for one in opened.evaluate_all(cores[:2])] == mine[:2], (world.seed, text)
            count += len(world.pairs)


@pytest.mark.parametrize("engine", OTHERS)
def test_every_engine_finds_the_same_histograms(engine):
    on_both(engine, iter(range(20_000, 30_000)), EACH)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(30_000, 40_000, 2_000))
@pytest.mark.parametrize("engine", OTHERS)
def test_every_engine_finds_the_same_histograms_at_length(engine, start):
    on_both(engine, iter(range(start, start + 2_000)), 400)


# --- what is claimed is attained, and less fails ----------------------------------------------------------------------

CAPS = {"max_rows": 2, "max_groups": 2, "max_total": 4}


def tight(replaces: bool, caps: dict[str, int] | None = None, keys: int = 4) -> World:
    """Units with all their rows at one end, in every number of keys. Where one is replaced, others are at the lower
    end, so that a score is not 0, at which it moves less."""
    told: dict[str, Any] = {
        "curator": heart.ALIKE | ({"neighbours": "replace-one", "units": 200} if replaces else {}),
        "ledger": {"epsilon": 4},
        "tables": {"visits": {"unit": "who", **(CAPS if caps is None else caps), "columns": {
            "who": "text", "city": {"type": "text", "keys": [f"k{n}" for n in range(keys)]}, "floor": "integer",
            "dose": "float", "seen": "boolean", "age": {"type": "integer", "bounds": [0, 6]},
            "net gain": "float", "gain": "float", "day": "date"}}},
    }
    units = [
        [("1", f"k{key}", None, None, 1, end, None, None, None) for key in range(first, first + groups)
         for _ in range(size)]
        for groups in range(1, keys + 1) for end in (0, 6) for size in (2, 3) for first in {0, keys - groups}
    ]
    from dpcurator.catalog.bind import catalog_of
    from dpcurator.catalog.load import load

    catalog = catalog_of(load(told))
    if replaces:
        others = [(f"{key} {n}", f"k{key}", None, None, 1, 0, None, None, None)
                  for key in range(keys) for n in range(40)]
        return World(0, catalog, False, (*units[0], *others), together=tuple((*unit, *others) for unit in [*units, []]))
    named = [tuple((str(number), *row[1:]) for row in unit) for number, unit in enumerate(units, 1)]
    return World(0, catalog, False, tuple(row for unit in named for row in unit))


def alone(world: World, q: str, group: str = " GROUP BY city") -> tuple[str, Quote]:
    text = f"SELECT QUANTILE(age, {q}) AS m FROM visits{group}"
    return text, priced(text, world.catalog, "1")


CASES = [(tight(False), q) for q in ("0.5", "0.25", "0.9", "1")] + [(tight(True), q) for q in ("0.5", "0.25", "0.9")]


@pytest.mark.parametrize(("world", "q"), CASES)
@pytest.mark.parametrize("name", ["linf", "l1", "l2_squared"])
def test_one_less_than_is_claimed_fails(world, q, name):
    """Of linf and l1 always; of l2 squared under add-remove (elsewhere the claim need not be the least)."""
    text, quote = alone(world, q)
    assert broken(world, text, quote) == []
    if name == "l2_squared" and world.replaces:
        return
    (one,) = quote.priced
    less = replace(one, reading=replace(one.reading, **{name: getattr(one.reading, name) - 1}))
    assert broken(world, text, replace(quote, priced=(less,)))


@pytest.mark.parametrize("weaker", [
    lambda rows, q: (0, rows * min(q.numerator, q.denominator - q.numerator)),  # the smaller side of q
    lambda rows, q: (0, rows),  # as if q were counted in rows
    lambda rows, q: (-min(q.numerator, q.denominator - q.numerator), max(q.numerator, q.denominator - q.numerator)),
])
def test_a_weaker_rule_fails(weaker, monkeypatch):
    monkeypatch.setattr(stability, "_scores", weaker)
    assert any(broken(world, *alone(world, q)) for world, q in CASES)


def test_a_replaced_unit_moves_a_score_by_more_than_one_that_is_added(monkeypatch):
    world = tight(True)
    monkeypatch.setattr(stability, "_scores", lambda rows, q: (
        0, rows * max(q.numerator, q.denominator - q.numerator)))  # V as under add-remove
    assert any(broken(world, *alone(world, q)) for q in ("0.25", "0.9"))


@pytest.mark.parametrize("cap", ["max_rows", "max_groups", "max_total"])
def test_a_cap_that_is_not_held_fails(cap, monkeypatch):
    share = reference._share
    monkeypatch.setattr(reference, "_share", lambda step, rows, values: share(
        replace(step, **{cap: None if cap == "max_total" else 10**6}), rows, values))
    caps = {"max_rows": 2, "max_groups": 2} if cap == "max_groups" else {"max_rows": 2, "max_groups": 3, "max_total": 4}
    assert any(broken(world, *alone(world, "0.5")) for world in (tight(False, caps), tight(True, caps)))


def test_the_weights_of_a_unit_are_floored_each_so_that_they_never_pass_its_count():
    """Rounding each up instead would let three values of a unit that counts one row weigh more than one row."""
    world = tight(False, {"max_rows": 1, "max_groups": 1})
    _, quote = alone(world, "0.5")
    rows = [("1", "k0", None, None, 1, age, None, None, None) for age in (0, 1, 2)]
    exact = Reference({"t0": columns_of(tuple(rows))}).evaluate(quote.lowered.core)
    (lying,) = exact.histograms_for_release()
    assert lying[0] == dict.fromkeys((0, 1, 2), 2**16 // 3)
    assert sum(lying[0].values()) <= 2**16


def test_levels_are_exact():
    assert Fraction(alone(tight(False), "0.333333")[1].priced[0].ask.q or 0) == Fraction(333333, 10**6)
