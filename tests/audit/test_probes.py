"""Every probe: this product holds, and a naive twin (tests/support/naive.py) falls."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import naive
import numpy as np
import pytest
from house import COUNT, opened, steady

import dpcurator as dp
from dpcurator.auditing import probes
from dpcurator.auditing.probes.randomness import untempered
from dpcurator.entropy import SystemEntropy

LOTS = "1000000000"
Row = tuple[Any, ...]


def held(found: probes.Probed) -> None:
    assert not found.fell, found


def fell(found: probes.Probed) -> None:
    assert found.fell, found
    assert "FELL" in str(found)


def patient(number: int, gain: Any = 0.0, city: Any = "Leeds", age: Any = 1) -> Row:
    return (f"p{number}", city, age, gain, True, None, 0.0)


@pytest.fixture
def summed(tmp_path: Path) -> Callable[..., Callable[[list[Any]], float]]:
    """total(rows) of this product, for a column of these bounds; the noise is the same each time and below one half."""
    turns = itertools.count()

    def made(low: Any, high: Any, kind: str = "float") -> Callable[[list[Any]], float]:
        column = "gain" if kind == "float" else "age"
        columns = {column: {"type": kind, "bounds": [low, high]}}

        def total(rows: list[Any]) -> float:
            records = [patient(i, **{column: row}) for i, row in enumerate(rows)]
            curator = steady(opened(tmp_path / str(next(turns)), records, columns=columns, epsilon="1e39"))
            return curator.ask(f"SELECT SUM({column}) FROM visits", epsilon="1e38").rows[0][0]  # type: ignore[no-any-return]

        return total

    return made


# --- values ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "made",
    [dp.Laplace(sensitivity=1, epsilon=1), dp.Gaussian(sensitivity=1, epsilon=1, delta="1e-6"),
     dp.Laplace(sensitivity=1, epsilon=1, grid="0.1")],
    ids=["Laplace", "Gaussian", "Laplace on tenths"],
)
def test_no_noise_is_porous(made: Any) -> None:
    many = type(made)(**{**shared(made), "coordinates": 1})
    held(probes.porous(lambda value, size: many.release(np.full(size, value))))


def shared(made: Any) -> dict[str, Any]:
    names = ("sensitivity", "epsilon", "delta", "grid")
    return {name: getattr(made, name) for name in names if getattr(made, name, None) is not None}


@pytest.mark.parametrize("noise", [naive.laplace, naive.gaussian])
def test_noise_in_floats_is_porous(noise: Any) -> None:
    fell(probes.porous(noise))


def test_whole_numbers_are_as_fine_as_each_other() -> None:
    rng = np.random.default_rng(3)
    held(probes.porous(lambda value, size: value + rng.integers(-9, 9, size)))


def test_order_of_rows(summed: Any) -> None:
    held(probes.order(summed(0, 2.0**53)))
    fell(probes.order(naive.clipped_sum(0, 2.0**53)))


def test_one_record_moves_a_sum_by_its_bounds(summed: Any) -> None:
    held(probes.one_record(summed(2.0**50, 2.0**50 + 1), tolerance=0.5))
    fell(probes.one_record(naive.clipped_sum(2.0**50, 2.0**50 + 1), tolerance=0.5))


def test_overflow(summed: Any) -> None:
    held(probes.overflow(summed(0, 2**55, "integer"), tolerance=0))  # at 1e38 there is none
    fell(probes.overflow(naive.int64_sum))


def test_nan_and_infinities(summed: Any) -> None:
    held(probes.not_finite(summed(0, 1)))
    fell(probes.not_finite(naive.clipped_sum(0, 1)))


# --- randomness ------------------------------------------------------------------------------------------------------


def test_a_fork_draws_noise_of_its_own() -> None:
    noise = dp.DiscreteLaplace(10**30)
    held(probes.forked(lambda: noise.sample(1)))
    fell(probes.forked(naive.from_module_generator))


def test_no_seed_settles_the_noise() -> None:
    noise = dp.DiscreteLaplace(10**30)
    before = random.getstate()
    held(probes.seeded(lambda: noise.sample(1)))
    fell(probes.seeded(naive.from_module_generator))
    assert random.getstate() == before


def test_no_noise_is_foretold() -> None:
    held(probes.foretold(lambda n: (SystemEntropy().words(n) >> np.uint64(32)).tolist()))
    fell(probes.foretold(naive.words))


def test_untempering_undoes_tempering() -> None:
    generator = random.Random(1)
    state = generator.getstate()[1]
    words = [generator.getrandbits(32) for _ in range(624)]
    after = generator.getstate()[1]
    assert [untempered(word) for word in words] == list(after[:624])
    assert state != after


# --- budget ----------------------------------------------------------------------------------------------------------


def test_a_budget_for_two_answers_two_of_many(tmp_path: Path) -> None:
    curator = opened(tmp_path / "c", epsilon=1)

    def ask() -> bool:
        try:
            curator.ask(COUNT, epsilon="0.5", fresh=True)
        except dp.OverBudget:
            return False
        return True

    held(probes.race(ask, allowed=2, askers=8))
    fell(probes.race(naive.Budget(2).ask, allowed=2, askers=8))


def test_what_is_answered_before_a_crash_is_spent(tmp_path: Path) -> None:
    curator = opened(tmp_path / "c", epsilon=1)
    curator.quote(COUNT, epsilon="0.5")

    def ask(deliver: Callable[[object], None]) -> None:
        deliver(curator.ask(COUNT, epsilon="0.5", fresh=True))

    found = probes.crash(ask, allowed=2, times=4)
    held(found)
    assert "2 answers came" in found.found
    fell(probes.crash(naive.FileBudget(tmp_path / "spent", 2).ask, allowed=2, times=4))


# --- channels --------------------------------------------------------------------------------------------------------


def test_no_odd_row_is_told_by_an_error(tmp_path: Path) -> None:
    """Rows as an engine gives them: an integer or a double that is anything at all."""
    turns = itertools.count()

    def ask(rows: list[Any]) -> None:
        records = [patient(i, gain=row) for i, row in enumerate(rows)]
        opened(tmp_path / str(next(turns)), records).ask("SELECT AVG(gain), COUNT(gain) FROM visits", epsilon=1)

    odd = [row for row in probes.channels.ODD if row is None or type(row) is float]
    held(probes.errors(ask, rows=[0.5, 1.5], odd=odd))
    fell(probes.errors(naive.average, rows=[0.5, 1.5]))


NUMBERS = [([1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 1e9]), ([1.0] * 5, [1.0] * 4), ([60.0], [])]
CITIES = [(["York", "Leeds"], ["Hull", "York", "Leeds"]), (["York"], ["York", "Zrare"])]


def test_keys_and_their_order(tmp_path: Path) -> None:
    turns = itertools.count()

    def keys(cities: list[str]) -> list[Any]:
        records = [patient(i, city=city) for i, city in enumerate(cities)]
        curator = opened(tmp_path / str(next(turns)), records)
        return [row[0] for row in curator.ask("SELECT city, COUNT(*) FROM visits GROUP BY city", epsilon=1).rows]

    held(probes.shown(keys, CITIES, what="keys"))
    fell(probes.shown(lambda cities: list(naive.counted(cities)), CITIES, what="keys"))
    fell(probes.shown(lambda cities: list(naive.counted(cities)), [(["a", "b"], ["b", "a"])], what="order"))


@pytest.mark.parametrize("what", ["bounds", "cost", "bytes"])
def test_bounds_cost_and_bytes(tmp_path: Path, what: str) -> None:
    """The bounds and noise of a quote, what is spent, and all that is shown but the answer's own digits, which are of a
    noisy number and tell no more than it does."""
    turns = itertools.count()

    def public(rows: list[float]) -> Any:
        records = [patient(i, gain=row) for i, row in enumerate(rows)]
        curator = steady(opened(tmp_path / str(next(turns)), records, epsilon=10))
        question = "SELECT SUM(gain) FROM visits"
        if what == "bounds":
            return curator.quote(question, epsilon=1)
        answer = curator.ask(question, epsilon=1)
        if what == "cost":
            return answer.spent, curator.budget().spent
        beside = [str(curator.quote(question, epsilon=1)), [type(entry.event).__name__ for entry in curator.log()]]
        return len(repr(beside)), len(answer.rows), [len(row) for row in answer.rows]

    held(probes.shown(public, NUMBERS, what=what))
    twin: Any = {"bounds": naive.edges, "cost": naive.cost, "bytes": lambda rows: len(naive.printed(rows))}[what]
    pairs = [([1.0, 2.0], [1.0, 2.0, 9e9]), ([60.0], [1.0])]
    fell(probes.shown(twin, pairs, what=what))
