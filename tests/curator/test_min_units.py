"""`min_units`, a public least number of units of a group that nobody listed (D5): never fewer, only ever stricter."""

from __future__ import annotations

from fractions import Fraction as F

import pytest
from house import holds

import dpcurator as dp
from dpcurator.ledger.canonical import canonical_text
from dpcurator.mechanisms.key_selection import GaussianThreshold, LaplaceThreshold, TruncatedGeometric, selection_of
from dpcurator.standalone import verify as standalone

RULES = [
    TruncatedGeometric(F(1), F("1e-3"), 2), LaplaceThreshold(F(1), F("1e-3"), 2),
    GaussianThreshold(F("0.5"), F("1e-3"), 2),
]
COUNT = "SELECT town, COUNT(*) AS n FROM visits GROUP BY town"
PEOPLE = "SELECT town, COUNT(DISTINCT who) AS n FROM visits GROUP BY town"


def declared(least: int | None = None, keys: object = "unknown", currency: str = "epsilon") -> dict[str, object]:
    table = {"unit": "who", "max_total": 2, "columns": {"who": "text", "town": {"type": "text", "keys": keys}}}
    return {
        "curator": {"protects": "people", "salt": "00" * 16}, "ledger": {currency: 10**4, "delta": "1e-1"},
        "tables": {"visits": table | ({} if least is None else {"min_units": least})},
    }


def rows(**towns: int) -> dict[str, list[str]]:
    named = [town for town, size in towns.items() for _ in range(size)]
    return {"who": [f"p{n}" for n in range(len(named))], "town": named}


@pytest.mark.parametrize("least", [2, 10])
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.NAME)
def test_d5_a_least_number_shifts_the_probability_and_nothing_else(rule, least):
    """pi(n - m + 1): 0 below m, never more than without, and one more unit moves it as one did before."""
    given = rule.as_json()["parameters"] | {"min_units": str(least)}
    strict = selection_of({"rule": rule.NAME, "parameters": given})
    assert strict.as_json()["parameters"] == given
    assert (strict.promise, strict.rho_promise) == (rule.promise, rule.rho_promise)
    for n in range(40):
        found = strict.keep_chance(n)
        assert found == rule.keep_chance(max(0, n - least + 1))
        assert found.hi <= rule.keep_chance(n).hi
        assert (found.hi == 0) == (n < least)
    assert strict.half_size() == rule.half_size() + least - 1
    assert strict.keep([least - 1] * 50) == [False] * 50
    assert type(rule)(**rule.as_json()["parameters"], min_units=1) == rule
    if not isinstance(strict, TruncatedGeometric):
        noisy = strict.noisy_counts([0, 1, least - 1, least + 300])
        assert noisy[:3] == [None] * 3
        assert noisy[3] is not None
        assert abs(noisy[3] - least - 300) < strict.noise.error(F(1, 10**12))
        assert strict.least_noisy == rule.threshold + least - 1


@pytest.mark.parametrize("asked", [COUNT, PEOPLE])
@pytest.mark.parametrize("currency", ["epsilon", "rho"])
def test_d5_a_group_of_fewer_is_never_shown_and_both_verifiers_agree(tmp_path, asked, currency):
    """At a price at which every group without the minimum is shown."""
    price = {currency: 900, "delta": "1e-2"}
    curator = dp.open(declared(10, currency=currency), directory=tmp_path, visits=rows(nine=9, twenty=20, many=60))
    quote = curator.quote(asked, **price)
    assert quote.selecting.min_units == 10
    answer = curator.ask(asked, **price)
    assert [row[0] for row in answer.rows] == ["many", "twenty"]
    assert "groups of few people, and all of fewer than 10, are left out" in answer.notes[0]
    stricter = curator.ask(asked, min_units=21, **price)
    assert [row[0] for row in stricter.rows] == ["many"]
    for one in (answer, stricter):
        holds(curator, one)
    receipt, rule = answer.receipt, answer.receipt["selection"]["rule"]
    given = {name: value for name, value in rule["parameters"].items() if name != "min_units"}
    for lie in (
        {"selection": {**receipt["selection"], "rule": {**rule, "parameters": given}}},
        {"reach": {**receipt["reach"], "min_units": 9}},
    ):
        body = {name: part for name, part in (receipt | lie).items() if name != "signature"}
        signed = body | {"signature": curator.key.sign(canonical_text(body).encode())}
        assert not dp.verify(signed).holds
        assert not all(step[1] for step in standalone.steps(signed, curator.key.public))


def test_d5_a_question_can_only_be_stricter_than_the_catalog():
    curator = dp.rehearsing(declared(10))
    price = {"epsilon": 1, "delta": "1e-3"}
    for said, found in ((None, 10), (3, 10), (10, 10), (12, 12)):
        assert curator.quote(COUNT, min_units=said, **price).reach.min_units == found
    for option in ("min_units", "min_privacy_units_per_group"):
        text = COUNT.replace("SELECT", f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS ({option} = 20)")
        assert curator.quote(text, **price).reach.min_units == 20
    assert curator.quote(COUNT, max_total=1, **price).reach.min_units == 10
    free = dp.rehearsing(declared())
    assert free.quote(COUNT, **price).plan_digest != free.quote(COUNT, min_units=2, **price).plan_digest
    assert free.quote(COUNT, **price).plan_digest == free.quote(COUNT, min_units=1, **price).plan_digest
    with pytest.raises(dp.Refusal, match="at least 1"):
        free.quote(COUNT, min_units=0, **price)
    with pytest.raises(dp.Refusal, match="at most"):
        free.quote(COUNT, min_units=2**49, **price)


def test_d5_a_plan_with_less_than_the_catalog_says_is_refused():
    weaker = dp.rehearsing(declared()).quote(COUNT, epsilon=1, delta="1e-3").plan
    from dpcurator.plan.check_catalog import disagreement

    assert disagreement(weaker, dp.rehearsing(declared(10)).catalog) == (
        "groups of fewer units may be shown than the catalog lets be"
    )
    assert disagreement(weaker, dp.rehearsing(declared()).catalog) is None


def test_d5_listed_groups_are_answered_of_however_few_units(tmp_path):
    curator = dp.open(declared(10, ["a", "b"]), directory=tmp_path, visits=rows(a=3, b=30))
    assert len(curator.ask(COUNT, epsilon=1)) == 2
    with pytest.raises(dp.Refusal, match="every key is listed"):
        curator.ask(COUNT, epsilon=1, min_units=10)
