"""Sequences of anything: questions in other words, parts of them, batches, caps, cuts, fresh noise, named requests, two
analysts, curators of other facts over one ledger, one asked in the middle of another, and stops at any step.

Whatever comes, each charge covers the noise that was drawn for it, as worked out here from the mechanisms alone; no
charge has two kinds of noise; a refusal charges nothing; a quote says what is charged; and every answer holds, with its
receipt, before the ledger, the catalog and the verifier that stands alone.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction as F
from typing import Any

import pytest
from alone import wrong
from heart import columns_of, world

from dpcurator.break_me.expressions import call
from dpcurator.break_me.questions import question
from dpcurator.break_me.tables import source_of
from dpcurator.curator.curator import Curator
from dpcurator.engines.reference import Reference
from dpcurator.entropy import SystemEntropy
from dpcurator.errors import Refusal
from dpcurator.ledger import Ledger, MemoryStore, Opening
from dpcurator.ledger.events import Charged
from dpcurator.pricing.priced import mechanism_json
from dpcurator.receipts.verification import verify
from dpcurator.standalone import verify as standalone
from dpcurator.values import read_json
from receipts import KEY, json_of

MONEY: dict[str, dict[str, Any]] = {
    "pure": {"epsilon": F(10**4), "delta": F(0)}, "approximate": {"epsilon": F(10**4), "delta": F(1, 2)},
    "rho": {"epsilon": F(0), "rho": F(10**4), "delta": F(1, 2)},
}
STEPS = 14
Drawn = dict[str, dict[int, list[tuple[list[Any], Any]]]]


def _stop() -> None:
    raise KeyboardInterrupt


@dataclass
class Stops:
    """What happens at the next step of its kind, once."""

    engine: Callable[[], None] | None = None
    entropy: int | None = None
    stored: str = ""

    def at_engine(self) -> None:
        then, self.engine = self.engine, None
        if then is not None:
            then()

    def at_entropy(self) -> None:
        if self.entropy is not None:
            self.entropy -= 1
            if self.entropy < 0:
                self.entropy = None
                _stop()


@dataclass
class _Entropy:
    stops: Stops
    asked: int = 0
    inner: SystemEntropy = field(default_factory=SystemEntropy)
    releasable = True

    def words(self, n: int) -> Any:
        self.asked += 1
        self.stops.at_entropy()
        return self.inner.words(n)

    def bits(self, k: int) -> int:
        self.asked += 1
        self.stops.at_entropy()
        return self.inner.bits(k)


class _Ledger(Ledger):
    stops: Stops

    def answer(self, charge: Any, text: str, readings: Any = ()) -> str:
        when, self.stops.stored = self.stops.stored, ""
        if when == "before":
            _stop()
        kept = super().answer(charge, text, readings)
        if when == "after":
            _stop()
        return kept


class _Asked(Curator):
    drawn: Drawn

    def _noisy_part(self, quote: Any, exact: Any, charge: Any, analyst: str, batch: Any) -> Any:
        held = (None,) * len(quote.priced) if quote.held is None else quote.held.readings
        fresh = [mechanism_json(one) for one, before in zip(quote.priced, held, strict=True) if before is None]
        keys = quote.held.keys if quote.held is not None else None
        selection = None if quote.selecting is None or keys is not None else quote.selecting.as_json()
        part = super()._noisy_part(quote, exact, charge, analyst, batch)
        place = 0 if batch is None else batch["index"]
        self.drawn.setdefault(charge.request_id, {}).setdefault(place, []).append((fresh, selection))
        return part


def _curators(seed: int) -> tuple[Any, random.Random, list[_Asked], Stops, str]:
    drawn_world, luck, stops = world(seed, units=12), random.Random(f"sequences {seed}"), Stops()
    (table,), unknown = drawn_world.catalog.tables, any(c.unknown_keys for c in drawn_world.catalog.tables[0].columns)
    kind = luck.choice([name for name in MONEY if name != "pure" or not unknown])
    table = replace(table, expected_units=luck.choice([None, 30]))
    catalog = replace(drawn_world.catalog, tables=(table,), **MONEY[kind])
    other = replace(table, min_units=3) if unknown else table
    if not drawn_world.each_row:
        other = replace(other, max_total=luck.randint(1, 6), max_rows=luck.choice([None, 1, 2]), max_groups=None)
    opening = Opening(
        protects=catalog.protects, neighbours=catalog.neighbours, units=catalog.units, epsilon=catalog.epsilon,
        rho=catalog.rho, delta=catalog.delta, public_key=KEY.public,
    )
    store, entropy, drawn = MemoryStore(), _Entropy(stops), Drawn()
    rows = {"t0": columns_of(drawn_world.rows)}

    class Stopping(Reference):
        def evaluate(self, core: Any) -> Any:
            stops.at_engine()
            return super().evaluate(core)

        def evaluate_all(self, cores: Any) -> Any:
            stops.at_engine()
            return super().evaluate_all(cores)

    made = []
    for own in (catalog, catalog, replace(catalog, tables=(other,))):
        ledger = _Ledger.open(store, opening)
        ledger.stops = stops
        made.append(_Asked(own, ledger, KEY, lambda: Stopping(rows), entropy=entropy))
        made[-1].drawn = drawn
    return replace(drawn_world, catalog=catalog), luck, made, stops, kind


def _questions(drawn_world: Any, luck: random.Random, curator: Curator) -> list[str]:
    """Some questions, each in other words, and with others of its aggregates."""
    found: list[str] = []
    (table,) = drawn_world.catalog.tables
    for _ in range(40):
        asked = question(luck, table)
        texts = list(dict.fromkeys(call(luck, source_of(table)) for _ in range(4)))
        others = [replace(asked, items=tuple(luck.sample(texts, luck.randint(1, min(3, len(texts))))), tail="").text
                  for _ in range(3)]
        for one in (asked.text, *others, f"{others[0]} ORDER BY 1 DESC LIMIT 2"):
            with suppress(Refusal):
                curator.quote(one, spend="0.1%")
                found.append(one)
        if len(found) > 12:
            break
    return found


def _sequence(seed: int, steps: int = STEPS) -> tuple[_Asked, str]:
    drawn_world, luck, curators, stops, kind = _curators(seed)
    pool, past, receipts = _questions(drawn_world, luck, curators[0]), [], []
    caps: list[dict[str, Any]] = [{}, {}]
    if not drawn_world.each_row:
        caps += [{"max_total": 2}, {"max_rows": 1, "max_groups": 2}, {"max_total": 3, "max_rows": 2}]

    def ask(curator: _Asked, *, inner: bool = False) -> None:
        if past and luck.random() < 0.3:
            asked, given, fresh = luck.choice(past)
        else:
            asked = [luck.choice(pool) for _ in range(luck.choice([0, 0, 2, 4]))] or luck.choice(pool)
            given, fresh = {"spend": luck.choice(["0.05%", "0.1%", "0.3%"])} | luck.choice(caps), luck.random() < 0.1
            given |= {"cut": luck.choice([None, True, False])} | luck.choice([{}, {}, {"confidence": "0.9"}])
            given |= luck.choice([{}, {}, {"analyst": "bo"}]) | luck.choice([{}, {}, {"request_id": "r"}])
            if isinstance(asked, list) and kind == "approximate":
                given |= luck.choice([{}, {"as_one": True}])
        past.append((asked, given, fresh))
        what = "" if inner else luck.choice(["", "", "", "engine", "entropy", "before", "after", "inner"])
        stops.engine = _stop if what == "engine" else None
        if what == "inner":
            stops.engine = lambda: ask(luck.choice(curators), inner=True)
        stops.entropy = luck.randint(0, 6) if what == "entropy" else None
        stops.stored = what if what in ("before", "after") else ""
        before = curator.budget()
        many = isinstance(asked, list)
        try:
            if many:
                answers = curator.batch(asked, fresh=fresh, **given)
            else:
                answers = (curator.ask(asked, fresh=fresh, **given),)
        except KeyboardInterrupt:
            return
        except Refusal:
            assert what == "inner" or curator.budget() == before
            return
        finally:
            if not inner:
                stops.engine, stops.entropy, stops.stored = None, None, ""
        for answer in answers:
            receipt, printed = json_of(answer.receipt), json.loads(json.dumps(answer.as_json()))
            ledger = curator.ledger if "readings" in receipt else None
            told = verify(receipt, catalog=curator.catalog, ledger=ledger, public_key=KEY.public, answer=printed)
            assert told.holds, (seed, asked, given, str(told))
            assert wrong(receipt, key=KEY.public, printed=printed) <= {"question"}, (seed, asked, given)
            if receipt not in receipts and "readings" in receipt:
                receipts.append(receipt)

    for _ in range(steps):
        ask(luck.choice(curators))
    if receipts:
        assert standalone.chain(receipts[0], receipts[1:])
    assert curators[0].ledger.verify().sound
    _each_charge_covers_what_was_drawn(curators[0], kind)
    return curators[0], kind


def _each_charge_covers_what_was_drawn(curator: _Asked, kind: str) -> None:
    charges = {one.event.request: one.event for one in curator.ledger.events() if isinstance(one.event, Charged)}
    for request, parts in curator.drawn.items():
        charged, epsilon, rho, delta, gaussian = charges[request], F(0), F(0), F(0), list[list[Any]]()
        for every in parts.values():
            assert all(one == every[0] for one in every), "one charge, and two kinds of noise"
            fresh, selection = every[0]
            some = [one for one in fresh if one["mechanism"] == "discrete_gaussian"]
            for one in fresh:
                if one["mechanism"] == "discrete_laplace":
                    lost = max(1, one["l1"]) / F(one["scale"])
                    epsilon, rho = epsilon + lost, rho + lost**2 / 2
            rho += sum((max(1, one["l2_squared"]) / (2 * F(one["variance"])) for one in some), F(0))
            gaussian += [some] if some else []
            if selection is not None:
                epsilon, rho = epsilon + F(selection["epsilon"]), rho + F(selection["rho"])
                delta += F(selection["delta"])
        if kind == "rho":
            assert charged.rho >= rho
            assert charged.delta >= delta
        elif "point" not in read_json(charged.parameters):  # of a batch as one the verifiers work it out
            left, at = charged.epsilon - epsilon, charged.delta - delta
            assert left >= 0
            assert at >= 0
            if len(gaussian) == 1:
                (some,) = gaussian
                alone = len(some) == some[0]["coordinates"] == 1
                spent = sum((max(1, one["l2_squared"]) / (2 * F(one["variance"])) for one in some), F(0))
                worth = standalone.gaussian_delta(F(some[0]["variance"]), max(1, some[0]["linf"]), left) if alone else (
                    standalone.zcdp_delta(spent, left))
                assert worth <= at


def test_a_sequence_is_charged_for_what_it_draws_and_a_narrower_noise_would_be_seen():
    curator, kind = _sequence(16, 5)
    assert curator.drawn
    for parts in curator.drawn.values():  # all of them: of a batch as one the verifiers look at the noise, not this
        for fresh in (every[0][0] for every in parts.values() if every[0][0]):
            name = "scale" if "scale" in fresh[0] else "variance"
            fresh[0][name] = str(F(fresh[0][name]) / 2)
        for every in parts.values():
            del every[1:]
    with pytest.raises(AssertionError):
        _each_charge_covers_what_was_drawn(curator, kind)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(20))
def test_many_sequences_are_charged_for_what_they_draw(part):
    for seed in range(10 * part, 10 * part + 10):
        _sequence(seed)
