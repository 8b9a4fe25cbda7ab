"""The project audits itself: generated plans by replay on made-up neighbours, and every mechanism by its exact law.

Plans: each schema of tests/support/schemas.py (add-remove and replace-one, many rows a unit and each row a unit, listed
and unknown keys, epsilon and rho), asked as `dpcurator break-me` asks. At least PLANS questions are answered; a mistake
put in must be found by the same run (tests/break_me/test_break_me.py has more of them). `slow`: twenty times as many.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction as F
from functools import cache
from typing import Any

import pytest
from engine_mistakes import mistaken
from power import NO_CLOCK
from schemas import SCHEMAS, declared
from worlds import World, worlds

import dpcurator as dp
from dpcurator import mechanisms
from dpcurator.auditing.claims import claim_of
from dpcurator.break_me.bench import search
from dpcurator.break_me.search import FOUND, NOTHING, Broken
from dpcurator.engines import reference
from dpcurator.engines.duckdb import engine

PLANS = 30


def audited(name: str, *, times: int = 1, seed: int = 100) -> Broken:
    """times: so many worlds of the schema, of twelve questions each."""
    return search(declared(name), worlds=times, seed=seed)


@cache
def audit(name: str) -> Broken:
    return audited(name)


@pytest.mark.parametrize("name", SCHEMAS)
def test_no_generated_plan_breaks_its_claims(name):
    found = audit(name)
    assert found.verdict == NOTHING, str(found)
    assert found.pairs > 0
    assert found.largest == 1  # some reading moved exactly as far as claimed: neighbours are as bad as they may be


def test_plans_were_answered_over_every_kind_of_question(record_property):
    audits = {name: audit(name) for name in SCHEMAS}
    assert {name: str(found) for name, found in audits.items() if found.verdict != NOTHING} == {}
    answered = sum(found.questions - found.refused for found in audits.values())
    pairs, readings = (sum(getattr(found, name) for found in audits.values()) for name in ("pairs", "readings"))
    record_property("plans", answered)
    record_property("pairs", pairs)
    print(f"\nself-audit: {answered} plans, {pairs:,} pairs of neighbours, {readings:,} readings")
    assert answered >= PLANS
    reached = {part for found in audits.values() for part in found.seen}
    assert reached >= {"SUM", "AVG", "COUNT DISTINCT", "CASE", "GROUP BY", "WITH_OTHER", "WHERE", "HAVING", "LIMIT"}


@pytest.mark.slow
@pytest.mark.parametrize("name", SCHEMAS)
def test_no_generated_plan_breaks_its_claims_at_length(name):
    found = audited(name, times=30, seed=7)
    assert found.verdict == NOTHING, str(found)


def test_a_wrong_cap_is_found(monkeypatch):
    honest = reference._share
    more: Any = lambda step, g, values: honest(replace(step, max_rows=step.max_rows + 1), g, values)  # noqa: E731
    monkeypatch.setattr(reference, "_share", more)
    assert audited("listed").verdict == FOUND


@pytest.mark.parametrize("mistake", ["NaN is a value", "rows without a unit kept", "max_groups ignored"])
def test_a_mistake_of_the_engine_is_found(mistake, monkeypatch):
    monkeypatch.setattr(engine, "statement", lambda core: mistaken(mistake, core))
    found = audited("listed", times=20)
    assert found.verdict == FOUND
    assert found.witness is not None
    assert found.witness.mismatches[0].kind in ("engines", "error")


# --- every mechanism, by the exact law of small worlds ----------------------------------------------------------------

ALL = worlds()


def promised(world: World) -> Any:
    """What its loss says: a pure epsilon, an epsilon with a delta; for Gaussian noise the delta at one half."""
    found = claim_of(world.loss)
    if isinstance(found, dp.Zcdp):
        return dp.Approximate(F(1, 2), world.loss.delta(F(1, 2)).hi)
    return found


def verdicts(world: World, claim: Any) -> set[str]:
    law = dp.exact_law(world.law)
    return {dp.audit(law, pair=pair, claim=claim, seconds=NO_CLOCK).verdict for pair in world.pairs}


def test_every_mechanism_is_audited():
    assert {type(world.mechanism) for world in ALL} == set(mechanisms.MECHANISMS)


@pytest.mark.parametrize("number", range(len(ALL)), ids=lambda number: str(ALL[number]))
def test_no_mechanism_breaks_what_its_loss_says(number):
    world = ALL[number]
    assert verdicts(world, promised(world)) == {NOTHING}
    if isinstance(claim_of(world.loss), dp.Zcdp):
        one = replace(world, pairs=world.pairs[:1])  # each order of Renyi's takes a while
        assert verdicts(one, claim_of(world.loss)) == {NOTHING}


ATTAINED = [number for number, world in enumerate(ALL) if world.attained]


@pytest.mark.parametrize("number", ATTAINED, ids=lambda number: str(ALL[number]))
def test_a_claim_of_two_hundredths_less_is_found_out_for_certain(number):
    """The control: where the loss is attained, the audit sees so much."""
    claim = promised(ALL[number])
    if getattr(claim, "delta", 0):
        less: Any = dp.Approximate(claim.epsilon, claim.delta * F(98, 100))
    else:
        less = dp.Pure(claim.epsilon * F(98, 100))
    assert FOUND in verdicts(ALL[number], less)
