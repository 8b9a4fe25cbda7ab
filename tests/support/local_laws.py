"""What every local mechanism is held to, over all reports of a small domain and over a million drawn ones."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from laws_of_draws import FALSE_ALARM, chi_square_chance

from dpcurator.entropy import SystemEntropy, TapeEntropy
from dpcurator.errors import Refusal
from dpcurator.numbers import ln

TRUE, FALSE = 0, 2**64 - 1  # words below and above the boundary of every coin


class Shuffled:
    """The system's words, of which the tests may not release anything."""

    releasable = False

    def words(self, n: int) -> Any:
        return SystemEntropy().words(n)

    def bits(self, k: int) -> int:
        return SystemEntropy().bits(k)


def masses_sum_to_one(mechanism: Any, reports: Sequence[Any]) -> None:
    for value in mechanism.values:
        assert sum(mechanism.pmf(report, value) for report in reports) == 1


def loss_bounds_every_ratio_and_is_attained(mechanism: Any, reports: Sequence[Any]) -> None:
    """In rationals: the greatest ratio of any two values' chances is that of the loss, for every pair of values."""
    loss = mechanism.loss
    if loss.family == "unary_encoding":
        p, q = loss["p"], loss["q"]
        truth, lie = p * (1 - q), q * (1 - p)
    else:
        truth, lie = loss["truth"], loss["lie"]
    for one, other in itertools.permutations(mechanism.values, 2):
        pairs = [(mechanism.pmf(report, one), mechanism.pmf(report, other)) for report in reports]
        assert max(p / q for p, q in pairs) == truth / lie
        # the pair is this one, with nothing lost: all that differs, differs by that ratio
        assert sum(p for p, q in pairs if p > q) == truth
        assert sum(p for p, q in pairs if p < q) == lie
        assert all(p == q or p / q in (truth / lie, lie / truth) for p, q in pairs)
    epsilon = loss.pure_epsilon()
    assert 0 <= epsilon - ln(truth / lie).lo < Fraction(1, 2**100)


def spends_at_most(mechanism: Any, epsilon: Fraction) -> None:
    spent = mechanism.loss.pure_epsilon()
    assert epsilon * (1 - Fraction(1, 2**50)) < spent <= epsilon


def estimates_are_unbiased(mechanism: Any, reports: Sequence[Any]) -> None:
    """The mean of the estimate over every report is the truth, exactly: of one report, so of any number."""
    values = list(mechanism.values)
    supported = {i: mechanism.estimate([report]) for i, report in enumerate(reports)}
    for held in values:
        for asked in values:
            mean = sum(mechanism.pmf(report, held) * supported[i].count(asked) for i, report in enumerate(reports))
            assert mean == (held == asked)
            chance = sum(
                mechanism.pmf(report, held)
                for i, report in enumerate(reports)
                if supported[i].supports[values.index(asked)]
            )
            assert chance == (supported[0].own if held == asked else supported[0].other)


def interval_covers(mechanism: Any, reports: Sequence[Any], n: int, beta: Fraction) -> None:
    """Every sequence of n reports, with its exact chance, for every number of holders of the first value."""
    first, second = list(mechanism.values)[:2]
    found: dict[int, tuple[int, int]] = {}
    for t in range(n + 1):
        held = [first] * t + [second] * (n - t)
        covered = Fraction(0)
        for sequence in itertools.product(range(len(reports)), repeat=n):
            estimate = mechanism.estimate([reports[i] for i in sequence])
            c = int(estimate.supports[0])
            low, high = found.setdefault(c, estimate.interval(first, beta))
            if low <= t <= high:
                chance = Fraction(1)
                for i, value in zip(sequence, held, strict=True):
                    chance *= mechanism.pmf(reports[i], value)
                covered += chance
        assert covered >= 1 - beta


def drawn_reports_follow(
    mechanism: Any, reports: Sequence[Any], wrong: Any, key: Callable[[Any], Any], n: int = 10**6
) -> None:
    """n reports of one value against the exact masses, and against those of a mechanism that is a little off."""
    cells = {key(report): i for i, report in enumerate(reports)}
    value = list(mechanism.values)[1]
    drawn = mechanism.respond_many([value] * n, Shuffled())
    seen, counts = _counted(drawn)
    observed = np.zeros(len(reports), dtype=np.int64)
    for report, count in zip(seen, counts, strict=True):
        observed[cells[key(report)]] += count
    masses, others = ([float(one.pmf(report, value)) for report in reports] for one in (mechanism, wrong))
    assert chi_square_chance(observed, masses) > FALSE_ALARM
    assert chi_square_chance(observed, others) < FALSE_ALARM


def _counted(drawn: Any) -> tuple[Any, Any]:
    """The distinct reports, and how often each; rows are told apart by one number each, which sorts faster."""
    if drawn.dtype == object:
        counted = Counter(drawn.tolist())
        return list(counted), list(counted.values())
    rows = drawn.reshape(len(drawn), -1).astype(np.int64)
    codes = rows @ (int(rows.max()) + 1) ** np.arange(rows.shape[1])
    _, first, counts = np.unique(codes, return_index=True, return_counts=True)
    return drawn[first], counts


def tape(*words: int) -> TapeEntropy:
    return TapeEntropy.of_words(words)


def bad_input_is_told(mechanism: Any, wrong: Any, wrong_shape: Any) -> None:
    """Reports: the position of the first that no client sends, and not what it is. Values: on the client's device."""
    good = mechanism.respond_many([next(iter(mechanism.values))] * 4)
    mixed = [*(row.tolist() if hasattr(row, "tolist") else row for row in good), wrong, wrong]
    with pytest.raises(Refusal, match="Report 4 ") as told:
        mechanism.estimate(mixed)
    assert "987" not in str(told.value)
    for shape in (wrong_shape, "987", None, 987, {}):
        with pytest.raises(Refusal):
            mechanism.estimate(shape)
    with pytest.raises(Refusal, match="no reports"):
        mechanism.estimate([])
    for value in (float("nan"), [], "987", None, -1, 987):
        with pytest.raises(Refusal, match="own device") as told:
            mechanism.respond(value)
        assert "987" not in str(told.value)
    for values in ("987", None, np.zeros((2, 2)), 987):
        with pytest.raises(Refusal):
            mechanism.respond_many(values)
