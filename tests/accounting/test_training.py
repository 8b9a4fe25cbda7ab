"""DP-SGD in the words of those who train: what it composes, published figures, and what is refused with which cure."""

from __future__ import annotations

import math
from fractions import Fraction as F
from typing import Any

import pytest

import dpcurator as dp

RUN: dict[str, Any] = {"noise_multiplier": "1.1", "batch": 256, "rows": 60_000, "epochs": 60}


def gaussian(sigma: str, shift: int = 1) -> dp.Loss:
    return dp.Loss("gaussian", {"variance": F(sigma) ** 2, "shift": shift})


@pytest.mark.parametrize(
    ("sampling", "loss", "count"),
    [
        ("poisson", gaussian("1.1").sampled(poisson=F(256, 60_000)), 14_063),  # 60 * 234.375, rounded up
        ("fixed_size", gaussian("1.1", 2).sampled(fixed_size=F(256, 60_000)), 14_063),
        ("shuffled", gaussian("1.1"), 60),
        ("all", gaussian("1.1"), 14_063),
    ],
)
def test_a_run_is_its_releases(sampling: str, loss: dp.Loss, count: int) -> None:
    assert dp.dpsgd(**RUN, sampling=sampling).parts == ((loss, count),)


def test_rate_and_steps_say_the_same() -> None:
    assert dp.dpsgd(noise_multiplier="1.1", rate=F(256, 60_000), steps=14_063) == dp.dpsgd(**RUN)
    assert dp.dpsgd(noise_multiplier=2, batch=10, rows=10, steps=3).parts == ((gaussian("2"), 3),)
    replaced = dp.dpsgd(noise_multiplier=2, batch=10, rows=10, steps=3, sampling="fixed_size")
    assert replaced.parts == ((gaussian("2", 2), 3),)  # a row is replaced: -g may stand for g, sampled or not


def test_part_of_an_epoch_is_rounded_up() -> None:
    assert dp.dpsgd(noise_multiplier=1, batch=300, rows=1000, epochs="0.7").size == 3  # 2.33 steps
    assert dp.dpsgd(noise_multiplier=1, batch=300, rows=1000, epochs="0.7", sampling="shuffled").size == 1


def test_no_batch_of_a_shuffled_pass_moves_further_than_one_release() -> None:
    """A pass over shuffled batches is one Gaussian release; taken for Poisson samples it would be claimed far less."""
    shuffled = dp.dpsgd(noise_multiplier=1, batch=100, rows=10_000, epochs=1, sampling="shuffled")
    poisson = dp.dpsgd(noise_multiplier=1, batch=100, rows=10_000, epochs=1)
    assert float(shuffled.epsilon(delta="1e-5")) == pytest.approx(4.377178, abs=1e-4)
    assert poisson.bracket(delta="1e-5", accuracy="1e-2").upper < 1


def test_the_moments_accountant_is_reproduced_and_beaten() -> None:
    """Noise 1.1, 256 of 60,000, 60 epochs at 1e-5: about 2.6 by Renyi orders, 2.3817 by the loss distribution."""
    from dpcurator.accounting.closed.bounds import upper_bounds

    run = dp.dpsgd(**RUN)
    assert float(dict(upper_bounds(run.parts, F("1e-5")))["renyi"]) == pytest.approx(2.5966, abs=1e-3)
    assert run.renyi(8).hi == 14_063 * run.parts[0][0].renyi(8).hi
    assert run.bracket(delta="1e-5", accuracy="1e-2").upper < F("2.41")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "least"),
    [({"rate": "0.01", "steps": 1000}, 0.9), ({"rate": 1, "steps": 10}, 8.0),
     ({"batch": 10, "rows": 100, "epochs": 3, "sampling": "shuffled"}, 4.0)],
)  # fmt: skip
def test_the_least_noise_meets_the_target_and_little_less_does_not(how: dict[str, Any], least: float) -> None:
    sigma = dp.noise_multiplier(epsilon=2, delta="1e-5", **how)
    assert float(sigma) > least / 2
    assert dp.dpsgd(noise_multiplier=sigma, **how).bracket(delta="1e-5").upper <= 2
    assert dp.dpsgd(noise_multiplier=sigma * F("0.99"), **how).bracket(delta="1e-5").lower > 2


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"batch": None}, "is not told"),
        ({"rate": "0.1"}, "told twice"),
        ({"batch": None, "rows": None, "rate": 2}, "at most 1"),
        ({"batch": 60_001}, "more than the 60000 rows"),
        ({"steps": 10}, "told once"),
        ({"epochs": None}, "told once"),
        ({"epochs": 0}, "above 0"),
        ({"noise_multiplier": 0}, "above 0"),
        ({"sampling": "poison"}, 'Write sampling="poisson"'),
        ({"sampling": "fixed_size", "batch": None, "rows": None, "rate": "0.1"}, "Give batch="),
        ({"batch": 1, "rows": 10**10, "epochs": 1}, "at most 1,000,000,000"),
    ],
)
def test_what_is_no_run_is_refused_with_a_cure(changed: dict[str, Any], words: str) -> None:
    with pytest.raises(dp.Refusal, match=words):
        dp.dpsgd(**(RUN | changed))


def test_a_row_replaced_on_poisson_samples_and_a_largest_batch() -> None:
    run = dp.dpsgd(noise_multiplier=1, rate="0.01", steps=10, neighbours="replace-one")
    assert run.parts == ((gaussian("1").sampled(poisson="0.01", neighbours="replace-one"), 10),)
    words: dict[str, Any] = {"noise_multiplier": 2, "batch": 100, "rows": 10_000, "steps": 5}
    assert dp.dpsgd(**words, largest_batch=10_001) == dp.dpsgd(**words)
    rare = dp.dpsgd(**words, largest_batch=250)
    deltas = [loss["delta"] for loss, _ in rare.parts if loss.family == "cut_batch"]
    assert len(deltas) == 1
    assert 0 < deltas[0] < F(1, 10**11)
    assert rare.for_group(1) == dp.Composition.from_json(rare.as_json()) == rare
    with pytest.raises(dp.Refusal, match="where batches are cut"):  # k rows more fill a batch sooner
        rare.for_group(2)
    assert dp.dpsgd(**words, largest_batch=101).parts == ((gaussian("2", 2).sampled(poisson="0.01"), 5),)


@pytest.mark.parametrize(
    ("largest", "rows", "rate"), [(9, 21, F(1, 5)), (21, 21, F(1, 5)), (20, 21, F(1, 2)), (3, 21, F(1, 5))]
)
def test_the_chance_of_a_cut_batch_is_never_too_small(largest: int, rows: int, rate: F) -> None:
    from math import comb

    from dpcurator.accounting.training import _at_least

    exact = sum((comb(rows, k) * rate**k * (1 - rate) ** (rows - k) for k in range(largest, rows + 1)), F(0))
    assert exact <= _at_least(largest, rows, rate) <= 60 * exact


def test_a_row_that_is_added_where_every_batch_may_be_full_is_cut_too() -> None:
    """Two rows and a third, all with gradients at right angles, at most two of them in a batch: a test of a set."""
    sigma, eps = F(1, 3), 16

    def above(x: float) -> float:
        return math.erfc(x / float(sigma) / math.sqrt(2)) / 2

    without = {(a, b, 0): 0.25 for a in (0, 1) for b in (0, 1)}
    with_it = {(a, b, c): 0.125 for a in (0, 1) for b in (0, 1) for c in (0, 1) if a + b + c < 3}
    for pair in ((1, 1, 0), (1, 0, 1), (0, 1, 1)):  # of the full batch, cut
        with_it[pair] += 0.125 / 3

    def chance(law: dict[tuple[int, int, int], float], cell: tuple[int, int], at: float) -> float:
        """That the sums of the first two are nearest to the cell, and that of the third is above."""
        return sum(
            mass * math.prod(above(-0.5 if one == near else 0.5) for one, near in zip(point, cell, strict=False))
            * above(at - point[2]) for point, mass in law.items()
        )  # fmt: skip

    found = 0.0
    for cell in without:
        found += max(chance(with_it, cell[:2], at / 50) - math.exp(eps) * chance(without, cell[:2], at / 50)
                     for at in range(150))  # fmt: skip
    run = dp.dpsgd(noise_multiplier=sigma, batch=1, rows=2, largest_batch=2, steps=1)
    plain = dp.dpsgd(noise_multiplier=sigma, batch=1, rows=2, steps=1)
    assert plain.delta(eps) < found <= run.delta(eps)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"neighbours": "replace-one", "sampling": "shuffled"}, "Leave neighbours out"),
        ({"neighbours": "add-remove", "sampling": "fixed_size"}, 'Write neighbours="replace-one"'),
        ({"neighbours": "replace-one", "largest_batch": 300}, "Leave neighbours out"),
        ({"largest_batch": 300, "sampling": "all"}, "Poisson samples"),
        ({"neighbours": "all"}, 'Write neighbours="add-remove"'),
    ],
)
def test_neighbours_and_cuts_that_are_not_known_are_refused(changed: dict[str, Any], words: str) -> None:
    with pytest.raises(dp.Refusal, match=words):
        dp.dpsgd(**(RUN | changed))


def test_several_queries_on_one_sample_are_one_gaussian_on_it() -> None:
    both = dp.compose((gaussian("2"), 3), gaussian("4")).sampled(poisson="0.1")
    assert both.parts == ((dp.Loss("gaussian", variance=F(16, 13), shift=1).sampled(poisson="0.1"), 1),)
    apart = dp.compose((gaussian("2").sampled(poisson="0.1"), 3), gaussian("4").sampled(poisson="0.1"))
    assert apart.size == 4  # four samples, not one
    with pytest.raises(dp.Refusal, match="Gaussian noise alone"):
        dp.compose(dp.Loss("pure", epsilon=1)).sampled(poisson="0.1")


def test_noise_for_an_advantage_and_for_a_pair_of_error_rates() -> None:
    run: dict[str, Any] = {"rate": 1, "steps": 4}
    least = dp.noise_multiplier(advantage="0.2", **run)
    assert dp.advantage(dp.dpsgd(noise_multiplier=least, **run)).hi <= F("0.2")
    assert dp.advantage(dp.dpsgd(noise_multiplier=least * F("0.99"), **run)).lo > F("0.2")
    pair = dp.noise_multiplier(error_rates=("0.05", "0.8"), **run)
    assert dp.tradeoff(dp.dpsgd(noise_multiplier=pair, **run), alpha="0.05").lo >= F("0.8")
    assert dp.tradeoff(dp.dpsgd(noise_multiplier=pair * F("0.99"), **run), alpha="0.05").hi < F("0.8")


@pytest.mark.slow
@pytest.mark.parametrize(
    "run",
    [{"rate": "0.01", "steps": 10, "neighbours": "replace-one"},
     {"batch": 100, "rows": 10_000, "steps": 5, "largest_batch": 250}],
    ids=["replaced", "cut"],
)  # fmt: skip
def test_noise_is_searched_for_every_way_of_drawing(run: dict[str, Any]) -> None:
    sigma = dp.noise_multiplier(epsilon=1, delta="1e-4", **run)
    assert dp.dpsgd(noise_multiplier=sigma, **run).bracket(epsilon=1, accuracy="1e-2").upper <= F("1e-4")
    assert dp.dpsgd(noise_multiplier=sigma * F("0.98"), **run).bracket(epsilon=1, accuracy="1e-2").upper > F("1e-4")


@pytest.mark.slow
def test_a_pair_of_error_rates_on_samples() -> None:
    run: dict[str, Any] = {"rate": "0.05", "steps": 10}
    sigma = dp.noise_multiplier(error_rates=("0.1", "0.7"), **run)
    assert dp.tradeoff(dp.dpsgd(noise_multiplier=sigma, **run), alpha="0.1").lo >= F("0.7")


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ({"epsilon": 1}, "A target is"),
        ({"epsilon": 1, "delta": "1e-5", "advantage": "0.1"}, "A target is"),
        ({"error_rates": ("0.5", "0.5")}, "add up to 1"),
        ({"error_rates": 3}, "no pair"),
        ({"advantage": 2}, "below 1"),
    ],
)
def test_what_is_no_target_is_refused(target: dict[str, Any], words: str) -> None:
    with pytest.raises(dp.Refusal, match=words):
        dp.noise_multiplier(rate=1, steps=4, **target)
