"""Noise: discrete Laplace and Gaussian draws a second, one core, beside numpy's own (inexact) ones and opendp's.

    python bench/noise.py

Prints one line per measurement; each is the best of three. numpy's rng.geometric gives a two-sided law as a difference
of two; rng.laplace and rng.normal rounded have no exact law at all. opendp adds its noise to a vector of zeros.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from dpcurator.samplers import bernoulli_exp, discrete_gaussian, discrete_laplace, geometric, uniform_below

SCALES = [Fraction(s) for s in ("1/2", 1, 10, 1000, 2**15, 10**6, 2**31, 2**44, 2**54, 2**60, 2**100)]
SIGMAS = [Fraction(s) for s in ("1/100", "1/2", 1, 10, 128, 129, 1000, 10**6, 2**31, 2**50, 2**54, 2**60)]
MANY = 2_000_000


def rate(draw: Callable[[int], object], n: int) -> float:
    """Draws a second."""
    draw(min(n, 1000))
    return n / min(seconds(lambda: draw(n)) for _ in range(3))


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def one_by_one(draw: Callable[[], object], n: int = 20_000) -> float:
    """Microseconds a draw."""
    return min(seconds(lambda: [draw() for _ in range(n)]) for _ in range(3)) / n * 1e6


def opendp_vector(scale: Fraction, law: str = "laplace") -> Callable[[int], object] | None:
    """opendp's discrete noise on a vector of n zeros; None without opendp, or for a scale past its integers."""
    try:
        import opendp.prelude as dp
    except ImportError:
        return None
    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T=int))
    try:
        if law == "laplace":
            noise = dp.m.make_laplace(domain, dp.l1_distance(T=int), scale=float(scale))
        else:
            noise = dp.m.make_gaussian(domain, dp.l2_distance(T=float), scale=float(scale))
    except dp.mod.OpenDPException:
        return None
    return lambda n: noise([0] * n)


def gaussian(rng: np.random.Generator) -> None:
    poisson = rate(lambda n: rng.poisson(100, n), MANY)
    print(f"numpy poisson, mean 100 (an integer law of sigma 10): {poisson / 1e6:.1f} million draws/s")
    for sigma in SIGMAS:
        label, variance = f"discrete Gaussian, sigma {float(sigma):.6g}:", sigma**2
        first = seconds(lambda v=variance: discrete_gaussian(v))
        ours = rate(lambda n, v=variance: discrete_gaussian(v, n), MANY if sigma <= 2**54 else MANY // 20)
        print(f"{label} {ours / 1e6:.1f} million draws/s; the first {first * 1e3:.1f} ms")
        if sigma <= 2**54:
            rounded = rate(lambda n, s=float(sigma): np.rint(rng.normal(0.0, s, n)).astype(np.int64), MANY)
            print(f"{label} numpy normal rounded {rounded / 1e6:.1f} million/s; ours/it {ours / rounded:.2f}")
        peer = opendp_vector(sigma, "gaussian")
        if peer is not None:
            peer_rate = rate(peer, 20_000)
            print(f"{label} opendp {peer_rate / 1e6:.3f} million/s; ours/it {ours / peer_rate:.0f}")
        print(f"{label} one draw {one_by_one(lambda v=variance: discrete_gaussian(v)):.2f} us")


def main() -> None:
    rng = np.random.default_rng()
    for scale in SCALES:
        label = f"discrete Laplace, scale {float(scale):.6g}:"
        ours = rate(lambda n, s=scale: discrete_laplace(s, n), MANY if scale <= 2**54 else MANY // 10)
        print(f"{label} {ours / 1e6:.1f} million draws/s")
        p = -np.expm1(-1 / float(scale))
        if scale <= 2**54:
            numpy_rate = rate(lambda n, p=p: rng.geometric(p, n) - rng.geometric(p, n), MANY)
            print(
                f"{label} numpy geometric difference {numpy_rate / 1e6:.1f} million/s; ours/it {ours / numpy_rate:.2f}"
            )
            rounded = rate(lambda n, s=float(scale): np.rint(rng.laplace(0.0, s, n)).astype(np.int64), MANY)
            print(f"{label} numpy laplace rounded {rounded / 1e6:.1f} million/s; ours/it {ours / rounded:.2f}")
        peer = opendp_vector(scale)
        if peer is not None:
            peer_rate = rate(peer, 20_000)
            print(f"{label} opendp {peer_rate / 1e6:.3f} million/s; ours/it {ours / peer_rate:.0f}")
        print(f"{label} one draw {one_by_one(lambda s=scale: discrete_laplace(s)):.2f} us")
    gaussian(rng)
    others: dict[str, Callable[[int], object]] = {
        "geometric, scale 10": lambda n: geometric(Fraction(10), n),
        "Bernoulli exp(-1/2)": lambda n: bernoulli_exp(Fraction(1, 2), n),
        "uniform below 10": lambda n: uniform_below(10, n),
        "uniform below 3 * 2**62": lambda n: uniform_below(3 * 2**62, n),
    }
    for name, draw in others.items():
        print(f"{name}: {rate(draw, MANY) / 1e6:.1f} million draws/s")


if __name__ == "__main__":
    main()
