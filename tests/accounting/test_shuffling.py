"""Training on shuffled batches: the lower end against every order of small tables, and the upper one."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction as F

import numpy as np
import pytest

import dpcurator as dp
from dpcurator.accounting import shuffling


def phi(x: float) -> float:
    return math.erfc(-x / math.sqrt(2)) / 2


@pytest.mark.parametrize(("rows", "batch"), [(4, 2), (6, 2), (5, 2), (3, 3)])
def test_the_event_has_its_probability_in_every_order_of_a_small_table(rows: int, batch: int) -> None:
    """The last batch may be smaller: sums are taken from what they are without the row."""
    sigma, C, batches = 0.7, 1.3, -(-rows // batch)
    for own, shift in ((1, 2), (0, 1)):
        none = []
        for order in itertools.permutations([own] + [-1] * (rows - 1)):
            sums = [sum(order[i : i + batch]) + len(order[i : i + batch]) for i in range(0, rows, batch)]
            none.append(math.prod(phi((C - one) / sigma) for one in sums))
        assert sum(none) / len(none) == pytest.approx(phi((C - shift) / sigma) * phi(C / sigma) ** (batches - 1))
    found = shuffling._bound(F("0.7"), batches, "delta", F(1, 2), F("1.3"))
    p, q = (1 - phi((C - shift) / sigma) * phi(C / sigma) ** (batches - 1) for shift in (2, 1))
    assert float(found) == pytest.approx(max(p - math.exp(0.5) * q, 0))


@pytest.mark.parametrize("epsilon", ["0.5", "2"])
def test_the_lower_end_is_below_what_two_batches_reveal_and_near_it(epsilon: str) -> None:
    x = np.linspace(-6, 8, 701)
    h = x[1] - x[0]
    density = lambda m: np.exp(-((x - m) ** 2) / 2) / math.sqrt(2 * math.pi)  # noqa: E731
    p = (np.outer(density(2), density(0)) + np.outer(density(0), density(2))) / 2
    q = (np.outer(density(1), density(0)) + np.outer(density(0), density(1))) / 2
    right = float(np.maximum(p - math.exp(float(epsilon)) * q, 0).sum()) * h * h
    found = dp.shuffled_bracket(noise_multiplier=1, batches=2, epsilon=epsilon)
    assert right / 2 < found.lower < right * (1 + 1e-4) < found.upper


def test_an_epsilon_and_its_delta_agree() -> None:
    found = dp.shuffled_bracket(noise_multiplier="0.5", batches=1000, delta="1e-5")
    assert found.upper - found.lower < found.upper / 100
    there = dp.shuffled_bracket(noise_multiplier="0.5", batches=1000, epsilon=found.lower)
    assert F("0.99e-5") < there.lower < there.upper
    assert there.upper > F(1, 10**5)
    more = dp.shuffled_bracket(noise_multiplier="0.5", batches=1000, epochs=3, delta="1e-5")
    assert more.lower == found.lower < found.upper < more.upper


def test_one_batch_is_one_release() -> None:
    exact = dp.Loss("gaussian", sigma=2).delta(1)
    found = dp.shuffled_bracket(noise_multiplier=2, batches=1, epsilon=1)
    assert exact.lo * F(99, 100) < found.lower <= exact.hi
    assert found.upper >= exact.lo


@pytest.mark.parametrize(("sigma", "batches"), [("1e-30", 10), ("1e30", 10), (1, 10**12)])
def test_extremes_have_a_bracket(sigma: object, batches: int) -> None:
    found = dp.shuffled_bracket(noise_multiplier=sigma, batches=batches, epsilon=1)  # type: ignore[arg-type]
    assert 0 <= found.lower <= found.upper <= 1


@pytest.mark.parametrize(("given", "words"), [
    ({"noise_multiplier": 0, "batches": 2, "delta": "1e-5"}, "noise_multiplier"),
    ({"noise_multiplier": 1, "batches": 0, "delta": "1e-5"}, "batches"),
    ({"noise_multiplier": 1, "batches": 2}, "either a delta or an epsilon"),
    ({"noise_multiplier": 1, "batches": 2, "delta": 0}, "larger delta"),
])  # fmt: skip
def test_what_is_no_run_is_refused(given: dict[str, object], words: str) -> None:
    with pytest.raises(dp.Refusal, match=words):
        dp.shuffled_bracket(**given)  # type: ignore[arg-type]
