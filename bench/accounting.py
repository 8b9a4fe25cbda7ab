"""Many releases together: certified brackets and estimates, with their width; and how fast filters are spent from.

    python bench/accounting.py

Prints one line per measurement; each is run once, in CPU seconds of this process. dp-accounting is timed beside where
it is installed.
"""

from __future__ import annotations

import random
import resource
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import dpcurator as dp
from dpcurator.accounting import Composition
from dpcurator.accounting.parse import spelled


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def distinct(count: int, digits: int) -> Composition:
    """So many losses, all different, half Laplace and half Gaussian. digits: of each parameter."""
    chance = random.Random(7)
    parts = []
    for i in range(count):
        size = Fraction(str(round(chance.uniform(0.01, 0.2), digits)))
        if i % 2:
            parts.append(dp.Loss("laplace", (("scale", 1), ("shift", size))))
        else:
            parts.append(dp.Loss("gaussian", (("shift", size), ("variance", 1))))
    return dp.compose(*parts)


def told(name: str, composition: Composition, delta: str, accuracy: str = "1e-4") -> None:
    took, found = seconds(lambda: composition.bracket(delta=delta, accuracy=accuracy))
    fast, near = seconds(lambda: composition.estimate(delta=delta))
    width = float((found.upper - found.lower) / found.upper)
    print(
        f"{name}, delta {delta}: epsilon {float(found.lower):.8g} to {float(found.upper):.8g} by {found.method}, width "
        f"{width:.1e}, {took:.2f} s; estimate {near:.8g}, {fast:.2f} s"
    )


def peer(name: str, count: int, delta: float) -> None:
    try:
        from dp_accounting.pld import privacy_loss_distribution
    except ImportError:
        return
    took, found = seconds(
        lambda: privacy_loss_distribution.from_laplace_mechanism(10).self_compose(count).get_epsilon_for_delta(delta)
    )
    print(f"{name}, delta {delta}: dp-accounting {found}, {took:.2f} s; ")


SPENDS = 10**5


def spends(name: str, filled: Any, amounts: list[Any], currency: str | None) -> None:
    """So many spends one by one. currency: of the amounts; None for losses and mechanisms."""

    def work() -> None:
        for i in range(SPENDS):
            one = amounts[i % len(amounts)]
            filled.spend(one) if currency is None else filled.spend(**{currency: one})

    took, _ = seconds(work)
    print(f"{SPENDS:,} spends, {name}: {took:.2f} s, {took / SPENDS * 1e6:.1f} microseconds each")


def filters() -> None:
    small = Fraction(1, SPENDS)
    odd = [Fraction(1, 10**7 + i) for i in range(997)]
    laplace = dp.Loss("laplace", {"scale": SPENDS, "shift": 1})
    gaussian = dp.Loss("gaussian", {"variance": 10**6, "shift": 1})
    spends("ApproximateFilter, one amount", dp.ApproximateFilter(epsilon=1), [small], "epsilon")
    spends("ApproximateFilter, 997 amounts", dp.ApproximateFilter(epsilon=1), odd, "epsilon")
    spends("ApproximateFilter, as text", dp.ApproximateFilter(epsilon=1), ["0.00001"], "epsilon")
    spends("ApproximateFilter, a loss", dp.ApproximateFilter(epsilon=1), [laplace], None)
    spends("ZcdpFilter, amounts", dp.ZcdpFilter(rho=1), [small], "rho")
    spends("ZcdpFilter, a loss", dp.ZcdpFilter(rho=1), [laplace], None)
    spends("ZcdpFilter, a mechanism", dp.ZcdpFilter(rho=1), [dp.Laplace(sensitivity=1, epsilon=small)], None)
    spends("RenyiFilter, amounts", dp.RenyiFilter(alpha=8, epsilon=1), [small], "epsilon")
    spends("RenyiFilter, a loss", dp.RenyiFilter(alpha=8, epsilon=1), [laplace], None)
    spends("GaussianFilter, amounts", dp.GaussianFilter(mu=1), [Fraction(1, 1000)], "mu")
    spends("GaussianFilter, a loss", dp.GaussianFilter(mu=1), [gaussian], None)


def sampled_peer(rate: float, count: int, delta: float) -> None:
    """dp-accounting's epsilon for Gaussians of sigma 1 on Poisson samples, towards adding or removing a row."""
    try:
        from dp_accounting.pld import privacy_loss_distribution
    except ImportError:
        return
    took, found = seconds(
        lambda: (
            privacy_loss_distribution.from_gaussian_mechanism(1, sampling_prob=rate)
            .self_compose(count)
            .get_epsilon_for_delta(delta)
        )
    )
    print(f"{count} Gaussians of 1 on samples of {rate}, delta {delta}: dp-accounting {found}, {took:.2f} s")


def samples() -> None:
    for rate, count, delta in (("0.01", 10**4, "1e-12"), ("0.01", 10**5, "1e-5"), ("0.001", 10**5, "1e-5")):
        text = f"{count} * poisson({rate}, gaussian(sigma=1))"
        told(f"{count} Gaussians of 1 on Poisson samples of {rate}", spelled(text), delta, "1e-3")
        sampled_peer(float(rate), count, float(delta))
    told("1000 Gaussians of 1 on 100 of 10000", spelled("1000 * fixed_size(0.01, gaussian(sigma=1))"), "1e-5", "1e-3")


def main() -> None:
    samples()
    filters()
    for count in (10, 100, 1000, 10**4, 10**5, 10**6):
        for delta in ("1e-6", "1e-30"):
            told(f"{count} Laplace of .1", spelled(f"{count} * laplace(epsilon=0.1)"), delta)
        if count <= 1000:
            peer(f"{count} Laplace of .1", count, 1e-6)
    told("1000 generic pure of 1", spelled("1000 * pure(epsilon=1)"), "1e-6")
    told(
        "10 Laplace of .1 and 10 Gaussians of 10",
        spelled("10 * laplace(epsilon=0.1) + 10 * gaussian(sigma=10)"),
        "1e-12",
    )
    told("100 discrete Gaussians of 3", spelled("100 * discrete_gaussian(sigma=3)"), "1e-12")
    told("100 different, of 3 digits", distinct(100, 3), "1e-12")
    told("1000 different, of 3 digits", distinct(1000, 3), "1e-12", "1e-3")
    told("1000 different, of 9 digits", distinct(1000, 9), "1e-12", "1e-2")
    print(f"memory at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
