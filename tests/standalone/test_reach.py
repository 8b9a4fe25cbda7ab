"""The reach and the sensitivity that it works out by its own code are those of `plan/stability.py`, on the heart law's
worlds: every kind of key, unit, relation, expression, condition and bound, in both currencies. And so is all the rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction as F

import pytest
from alone import receipt_of, wrong
from heart import questions, world

from dpcurator.plan.canonical import as_json
from dpcurator.plan.stability import derivation, reading
from dpcurator.pricing.resolve import resolve
from dpcurator.standalone import verify as alone
from receipts import KEY

BUDGETS = (
    {}, {"epsilon": F(10) ** 10, "delta": F(1, 10)}, {"epsilon": F(0), "rho": F(10) ** 10, "delta": F(1, 3)},
)


def agree(seeds: Iterable[int], each: int) -> Counter[str]:
    """Compares, and counts what was met."""
    met: Counter[str] = Counter()
    for seed in seeds:
        drawn = world(seed)
        for budget in BUDGETS:
            for text, quote in questions(replace(drawn, catalog=replace(drawn.catalog, **budget)), each):
                plan = as_json(quote.plan)
                reach = alone.reach_of(plan)
                others, read = alone.asked_of(plan, reach), [as_json(ask) for ask in resolve(quote.plan).asks]
                assert [*others, *alone.cut_of(plan, reach, read, others)] == read, text
                for one in quote.priced:
                    grid = {"lower": one.steps.lower, "upper": one.steps.upper, "exponent": one.steps.exponent}
                    found = alone.moved(as_json(one.ask), reach, grid)
                    bound = reading(one.ask, quote.reach, one.steps)
                    names = ("coordinates", "linf", "l1", "l2_squared")
                    assert found == {name: getattr(bound, name) for name in names} | {"unit": str(bound.unit)}, text
                    words = alone.derivation(as_json(one.ask), reach, found)
                    assert tuple(words) == derivation(one.ask, quote.reach, bound), text
                    met[f"{one.ask.what}, {one.mechanism.__class__.__name__}, {quote.price.currency}"] += 1
                if not quote.free:
                    rests = any(quote.reach.public_count(c.column) for c in quote.plan.calls if c.column is not None)
                    receipt = receipt_of(quote)
                    assert wrong(receipt, key=KEY.public) == ({"question"} if rests else set()), text
                    met["resting on the catalog"] += rests
                    declared = {"tables": {"visits": {"columns": {
                        one.name: {"missing": "drop" if one.missing is None else one.missing}
                        for one in drawn.catalog.tables[0].columns
                    }}}}
                    assert alone.question(receipt, declared), text
                met[f"{quote.reach.neighbours}, {'chosen' if quote.reach.chosen else 'listed'}"] += 1
                met["others"] += quote.reach.other
                met["each row"] += quote.reach.one == 1
                met["plans"] += 1
    return met


def test_it_agrees_with_the_product_on_some_hundred_plans():
    met = agree((*range(1000, 1020), 1084), 1)  # the last has a row for all other keys
    assert met["plans"] >= 35
    for name in ("add-remove, listed", "replace-one, listed", "add-remove, chosen", "replace-one, chosen", "each row"):
        assert met[name], name
    assert met["others"]
    assert {name.split(", ")[0] for name in met if name.count(", ") == 2} == {
        "rows", "present", "units", "values", "centred", "square", "product", "cut", "cut_groups", "everyone",
        "quantile", "distinct",
    }


@pytest.mark.slow
def test_it_agrees_with_the_product_on_many_plans():
    met = agree(range(60), 8)
    assert met["plans"] >= 1400
    assert met["resting on the catalog"]


@pytest.mark.parametrize("change", ["one more row", "one more group", "no replacement", "no others", "no WHERE"])
def test_a_weaker_rule_would_be_seen(change):
    """The negative control: with one rule of this file's own made weaker, worlds like those above disagree."""
    weaker = {
        "one more row": lambda found: setattr(found, "rows", found.rows + 1),
        "one more group": lambda found: setattr(found, "groups", found.groups + 1),
        "no replacement": lambda found: setattr(found, "replaced", False),
        "no others": lambda found: setattr(found, "other", False),
        "no WHERE": lambda found: setattr(found, "whole", True),
    }[change]
    caught = 0
    for seed in range(1000, 1012):
        for _, quote in questions(world(seed), 4):
            reach = alone.reach_of(as_json(quote.plan))
            weaker(reach)
            for one in (one for one in quote.priced if one.ask.q is None):
                grid = {"lower": one.steps.lower, "upper": one.steps.upper, "exponent": one.steps.exponent}
                bound = reading(one.ask, quote.reach, one.steps)
                found = alone.moved(as_json(one.ask), reach, grid)
                caught += (found["linf"], found["l1"]) != (bound.linf, bound.l1)
    assert caught
