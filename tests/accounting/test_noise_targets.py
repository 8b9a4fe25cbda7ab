"""Noise searched for at the ends: targets that any noise meets, that none does, and an advantage on samples."""

from __future__ import annotations

import math
import re
from fractions import Fraction as F
from typing import Any

import pytest

import dpcurator as dp
from dpcurator.accounting.no_noise import drawn, least_missed

FEW: dict[str, Any] = {"rate": "0.01", "steps": 5}
FIXED: dict[str, Any] = {"batch": 10, "rows": 1000, "steps": 5, "sampling": "fixed_size"}
EASY: list[dict[str, Any]] = [
    FEW | {"advantage": "0.1"},
    FEW | {"advantage": "0.5", "neighbours": "replace-one"},
    FIXED | {"advantage": "0.3"},
    FEW | {"epsilon": 5, "delta": "0.2"},
    FEW | {"steps": 1, "error_rates": ("0.05", "0.9")},
]


def pasted(refusal: dp.Refusal) -> dict[str, Any]:
    """The target that a cure writes."""
    found = re.search(r"Write (\w+)=(\([^)]*\)|[0-9.e-]+)", str(refusal))
    assert found is not None
    return {found[1]: eval(found[2])}


@pytest.mark.parametrize("how", EASY, ids=lambda how: " ".join(map(str, how.values())))
def test_a_target_that_any_noise_meets_is_refused_with_one_that_is_searched_for(how: dict[str, Any]) -> None:
    with pytest.raises(dp.Refusal, match="Any noise meets this target") as refused:
        dp.noise_multiplier(**how)
    stronger = pasted(refused.value)
    assert set(stronger) & set(how)


@pytest.mark.slow
@pytest.mark.parametrize("how", EASY, ids=lambda how: " ".join(map(str, how.values())))
def test_the_target_that_a_refusal_writes_is_searched_for(how: dict[str, Any]) -> None:
    with pytest.raises(dp.Refusal, match="Any noise meets this target") as refused:
        dp.noise_multiplier(**how)
    sigma = dp.noise_multiplier(**(how | pasted(refused.value)))
    assert F(1, 1000) < sigma < 100


@pytest.mark.slow
def test_noise_for_an_advantage_on_samples_is_proved_and_near_the_least() -> None:
    sigma = dp.noise_multiplier(**FEW, advantage="0.02")
    assert dp.advantage(dp.dpsgd(**FEW, noise_multiplier=sigma)).hi <= F("0.02")
    assert dp.advantage(dp.dpsgd(**FEW, noise_multiplier=sigma * F("0.99"))).lo > F("0.02")
    far = dp.noise_multiplier(**FEW, advantage="1e-9")  # sqrt(5) 0.01 / (sigma sqrt(2 pi))
    assert float(far) == pytest.approx(math.sqrt(5) * 0.01 / math.sqrt(2 * math.pi) * 1e9, rel=5e-3)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"rate": 1, "steps": 1, "error_rates": ("0.05", "0.95")}, 'Write error_rates=("0.05", "0.855")'),
        ({"rate": 1, "steps": 1, "error_rates": ("0.4", "0.59999999")}, "smaller second rate"),
        (
            {"batch": 100, "rows": 10_000, "steps": 5, "largest_batch": 220, "advantage": "1e-13"},
            "larger largest_batch",
        ),
    ],
)
def test_a_target_that_no_noise_meets_is_refused_with_what_helps(how: dict[str, Any], words: str) -> None:
    with pytest.raises(dp.Refusal, match=re.escape(words) if "=" in words else words):
        dp.noise_multiplier(**how)


def test_without_noise_a_row_is_told_by_its_draws_alone() -> None:
    """Two steps at a rate of 1/2: a row is in none with probability 1/4; all tests of that by hand."""
    t = drawn(F(1, 2), 2)
    assert t.lo <= F(3, 4) <= t.hi
    for alpha in (F(1, 100), F(1, 10), F(1, 4), F(1, 2)):
        found = least_missed(F(1, 2), 2, alpha, replaced=False)
        without, with_it = 1 - min(4 * alpha, F(1)), (1 - alpha) / 4  # a coin where nothing of the row was seen
        assert float(found) == pytest.approx(float(min(without, with_it)), abs=1e-30)
        assert found <= min(without, with_it)
        assert float(least_missed(F(1, 2), 2, alpha, replaced=True)) == pytest.approx(max(0.25 - float(alpha), 0))
    assert least_missed(F(1), 3, F(1, 10), replaced=False) == 0


def test_little_noise_leaves_no_test_more_than_no_noise_does() -> None:
    for alpha in ("0.05", "0.5"):
        run = dp.dpsgd(noise_multiplier="0.1", rate="0.01", steps=1)
        least = least_missed(F(1, 100), 1, F(alpha), replaced=False)
        assert least <= dp.tradeoff(run, alpha=alpha).hi
        assert float(dp.tradeoff(run, alpha=alpha).hi) == pytest.approx(float(least), abs=1e-3)


@pytest.mark.slow
def test_calibrate_on_samples_for_epsilon_0() -> None:
    made = dp.calibrate("gaussian", epsilon=0, delta="0.01", sensitivity=1, releases=5, poisson="0.01")
    together = dp.compose((made.loss, 5))
    assert together.delta(epsilon=0) <= F("0.01")
    assert made.proved == {"epsilon": 0, "delta": F("0.01")}


def test_calibrate_on_samples_refuses_what_any_noise_has() -> None:
    with pytest.raises(dp.Refusal, match="Any noise") as refused:
        dp.calibrate("laplace", epsilon=1, delta="0.2", sensitivity=1, releases=5, poisson="0.01")
    assert dp.calibrate("laplace", epsilon=1, **pasted(refused.value), sensitivity=1, poisson="0.1").loss["rate"]
