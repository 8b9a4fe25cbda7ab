"""The benchmark of the known (tests/support/audit_table.py): broken mechanisms are flagged, correct ones are not.

Verdicts. A correct mechanism is flagged with chance at most alpha. In the slow runs, 20 of each at confidence .999,
one flag of a mechanism has chance at most .02, and is allowed; two have chance under .0002. The ordinary run has fixed
seeds, and confidence .999.
Bounds. Never above the exact loss. Where one event of chance one in a hundred or more has that loss, the event found
has counts whose log-ratio is above it by no more than five standard errors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from audit_table import DOWN, EDGE, KNOWN, ONES5, ONES10, UP, Known
from power import NO_CLOCK

import dpcurator as dp

NAMES = {known.name: known for known in KNOWN}
WITH_LAWS = [known.name for known in KNOWN if known.law is not None]
# What 200,000 draws show at a glance; the others wait for the slow run.
QUICK_BROKEN = [
    "histogram, scale eps", "noisy max, value, Laplace", "noisy max, value, exponential", "SVT5",
    "prefix sums, sold as .1", "Laplace in floats", "mean, exact count", "mean, noise by exact count",
    "Gumbel, scale 1/eps", "permute and flip, rho eps^2/8", "one-sided noise", "threshold >=, delta of >",
]
QUICK_CORRECT = [
    "Laplace", "histogram", "noisy max, Laplace", "noisy max, exponential", "SVT1", "snapped Laplace",
    "mean, noisy sum and count", "Gumbel, scale 2/eps",
]


def audited(known: Known, *, samples: int, seed: int, confidence: str) -> Any:
    return dp.audit(
        known.mechanism(seed), pair=known.pair, claim=known.claim, samples=samples, seconds=NO_CLOCK, shrink=False,
        confidence=confidence, bits=known.bits,
    )


@pytest.mark.parametrize("name", QUICK_BROKEN)
def test_broken_ones_are_flagged(name: str) -> None:
    report = audited(NAMES[name], samples=200_000, seed=1, confidence="0.999")
    assert report.verdict == "violation found", report
    assert float(report.at_least) <= NAMES[name].exact


@pytest.mark.parametrize("name", QUICK_CORRECT)
def test_correct_ones_are_not(name: str) -> None:
    report = audited(NAMES[name], samples=200_000, seed=1, confidence="0.999")
    assert report.verdict == "no violation found", report
    close(NAMES[name], report)


def test_an_event_that_never_happens_on_one_side_is_found() -> None:
    """The audit's own first mistake: thresholds from one sample alone never see what that sample never shows."""
    report = audited(NAMES["SVT5"], samples=100_000, seed=2, confidence="0.999999")
    assert report.violated
    assert report.counts[1] == 0


@pytest.mark.parametrize("name", WITH_LAWS)
def test_small_laws_are_compared_exactly(name: str) -> None:
    known = NAMES[name]
    assert known.law is not None
    for data in known.pair:
        total = sum(law_of := [chance_float(chance) for chance in known.law(data).values()])
        assert math.isclose(total, 1), law_of
    report = dp.audit(dp.exact_law(known.law), pair=known.pair, claim=known.claim)
    assert report.verdict == ("violation found (certain)" if known.broken else "no violation found")
    assert math.isclose(float(report.at_least), known.exact, rel_tol=1e-3)


@pytest.mark.parametrize("name", WITH_LAWS)
def test_draws_follow_the_small_laws(name: str) -> None:
    """So that the black box is audited on what the exact layer compares; off by six standard errors, 2e-9 a cell."""
    known = NAMES[name]
    assert known.law is not None
    for data in known.pair:
        drawn = known.run(data, 100_000, np.random.default_rng(9))
        if "RAPPOR" in name:
            drawn = 5 * drawn[:, :4].sum(axis=1) + drawn[:, 4:8].sum(axis=1)
        for outcome, chance in known.law(data).items():
            p = chance_float(chance)
            seen = np.mean(drawn == (5 * outcome[0] + outcome[1] if isinstance(outcome, tuple) else outcome))
            assert abs(seen - p) <= 6 * math.sqrt(p * (1 - p) / len(drawn)) + 1e-4, (data, outcome)


def chance_float(chance: Any) -> float:
    return float(getattr(chance, "lo", chance))


def close(known: Known, report: Any) -> None:
    """Where the best event is common, what is found is near the truth, and never above it."""
    assert float(report.at_least) <= known.exact
    if known.attained and report.counts and report.counts[1]:
        error = math.sqrt(sum(1 / count for count in report.counts))
        assert math.log(report.counts[0] / report.counts[1]) <= known.exact + 5 * error


# --- the exact values, by sums over a grid ---------------------------------------------------------------------------

STEP = 0.05
GRID = np.arange(-800, 800 + STEP / 2, STEP)
Law = Mapping[Any, float]


def density(x: Any, scale: float) -> Any:
    return np.exp(-np.abs(x) / scale) / (2 * scale)


def above(x: Any, scale: float) -> Any:
    half = np.exp(-np.abs(x) / scale) / 2
    return np.where(x > 0, half, 1 - half)


def svt_law(data: Sequence[float], *, threshold: float, noise: float, question_noise: float, limit: bool = True) -> Law:
    """P(answers), for c = 1 or no limit: the sum over the noisy threshold."""
    found: dict[Any, float] = {}
    at_least = [above(GRID + threshold - value, question_noise) for value in data]

    def extend(answers: tuple[int, ...], weight: Any) -> None:
        if len(answers) == len(data) or (limit and 1 in answers):
            found[answers] = float(weight.sum())
            return
        extend((*answers, 1), weight * at_least[len(answers)])
        extend((*answers, 0), weight * (1 - at_least[len(answers)]))

    extend((), density(GRID, noise) * STEP)
    return found


def argmax_law(data: Sequence[float]) -> Law:
    """Of Laplace noise of scale 20."""
    below = [1 - above(GRID - value, 20) for value in data]
    return {
        i: float((density(GRID - value, 20) * STEP * np.prod(below[:i] + below[i + 1 :], axis=0)).sum())
        for i, value in enumerate(data)
    }


def worst(one: Law, other: Law) -> float:
    return max(abs(math.log(one[answer] / other[answer])) for answer in one)


@pytest.mark.parametrize(
    ("name", "laws"),
    [
        ("SVT1", lambda: [svt_law(x, threshold=0.5, noise=20, question_noise=40) for x in (UP, DOWN)]),
        ("SVT2", lambda: [svt_law(x, threshold=1, noise=20, question_noise=40) for x in (UP, DOWN)]),
        ("SVT4", lambda: [svt_law(x, threshold=1, noise=40, question_noise=4 / 0.3) for x in (ONES10, EDGE)]),
        ("SVT6", lambda: [svt_law(x, threshold=1, noise=20, question_noise=20, limit=False) for x in (DOWN, UP)]),
        ("noisy max, Laplace", lambda: [argmax_law(ONES5), argmax_law([0, 2, 2, 2, 2])]),
    ],
    ids=["SVT1", "SVT2", "SVT4", "SVT6", "noisy max"],
)
def test_the_exact_values(name: str, laws: Callable[[], list[Law]]) -> None:
    one, other = laws()
    assert math.isclose(sum(one.values()), 1, abs_tol=1e-4)
    assert math.isclose(worst(one, other), NAMES[name].exact, abs_tol=2e-4)
    assert (worst(one, other) > 0.1) == NAMES[name].broken


def test_the_table_is_whole() -> None:
    assert len(NAMES) == len(KNOWN)
    assert {*QUICK_BROKEN} <= {known.name for known in KNOWN if known.broken}
    assert {*QUICK_CORRECT} <= {known.name for known in KNOWN if not known.broken}
    for known in KNOWN:
        claimed = float(getattr(known.claim, "epsilon", None) or known.claim.parameter)
        assert (known.exact > claimed) == known.broken, known.name
        assert all(number is None or number <= known.exact * 1.01 for number in known.published), known.name


# --- the whole -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", [known.name for known in KNOWN if known.broken])
def test_every_broken_one_is_flagged_at_two_million(name: str) -> None:
    for seed in range(1, 4):
        report = audited(NAMES[name], samples=2_000_000, seed=seed, confidence="0.95")
        assert report.violated, (seed, report)


@pytest.mark.slow
@pytest.mark.parametrize("name", [known.name for known in KNOWN if not known.broken])
def test_every_correct_one_passes_twenty_times(name: str) -> None:
    reports = [audited(NAMES[name], samples=500_000, seed=seed, confidence="0.999") for seed in range(20)]
    assert sum(report.violated for report in reports) <= 1
    for report in reports:
        close(NAMES[name], report)
