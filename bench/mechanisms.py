"""Mechanisms: noisy answers and draws a second, one core, beside numpy's own (inexact) samplers and, where installed,
opendp and diffprivlib.

    python bench/mechanisms.py

Prints one line per measurement; each is the best of five. numpy adds float noise to floats, which no privacy survives;
it is the speed there is. opendp adds its noise to a vector; diffprivlib randomises one value at a time.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np

import dpcurator as dp

MANY, FEW = 1_000_000, 20_000


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def rate(work: Callable[[int], object], n: int) -> float:
    """Answers a second."""
    work(min(n, 1000))
    return n / min(seconds(lambda: work(n)) for _ in range(5))


def compared(label: str, ours: float, peers: dict[str, float]) -> None:
    print(f"{label}: {ours / 1e6:.2f} million/s")
    for name, theirs in peers.items():
        print(f"{label}: {name} {theirs / 1e6:.4g} million/s; ours/it {ours / theirs:.3g}")


def opendp_rate(law: str, scale: float) -> dict[str, float]:
    try:
        import opendp.prelude as peer
    except ImportError:
        return {}
    peer.enable_features("contrib")
    domain = peer.vector_domain(peer.atom_domain(T=float, nan=False))
    if law == "laplace":
        noise = peer.m.make_laplace(domain, peer.l1_distance(T=float), scale=scale)
    else:
        noise = peer.m.make_gaussian(domain, peer.l2_distance(T=float), scale=scale)
    return {"opendp": rate(lambda n: noise([0.5] * n), FEW)}


def diffprivlib_rate(law: str) -> dict[str, float]:
    try:
        from diffprivlib import mechanisms as peer
    except ImportError:
        return {}
    if law == "laplace":
        noise = peer.Laplace(epsilon=1.0, sensitivity=1.0)
    else:
        noise = peer.GaussianAnalytic(epsilon=1.0, delta=1e-6, sensitivity=1.0)
    return {"diffprivlib": rate(lambda n: [noise.randomise(0.5) for _ in range(n)], FEW)}


def main() -> None:
    rng = np.random.default_rng()
    values = rng.normal(50, 20, MANY)
    for grid in (None, "0.01"):
        laplace = dp.Laplace(sensitivity=1, epsilon=1, grid=grid, coordinates=1)
        gaussian = dp.Gaussian(sensitivity=1, epsilon=1, delta=1e-6, grid=grid, coordinates=1)
        shown, sigma = f"grid {laplace.grid}", float(gaussian.sigma)
        peers = {"numpy": rate(lambda n: values[:n] + rng.laplace(0.0, 1.0, n), MANY)}
        peers |= opendp_rate("laplace", 1.0) | diffprivlib_rate("laplace")
        compared(f"Laplace, {shown}, values", rate(lambda n, m=laplace: m.release(values[:n]), MANY), peers)
        peers = {"numpy": rate(lambda n, s=sigma: values[:n] + rng.normal(0.0, s, n), MANY)}
        peers |= opendp_rate("gaussian", sigma) | diffprivlib_rate("gaussian")
        compared(f"Gaussian, {shown}, values", rate(lambda n, m=gaussian: m.release(values[:n]), MANY), peers)
        for name, one in (("Laplace", laplace), ("Gaussian", gaussian)):
            each = min(seconds(lambda m=one: [m.release(2.5) for _ in range(2000)]) for _ in range(5)) / 2000
            print(f"{name}, {shown}, one value: {each * 1e6:.1f} us")
    for scale in (10, 10**6):
        law = dp.DiscreteLaplace(Fraction(scale))
        numpy_rate = rate(lambda n, s=scale: np.rint(rng.laplace(0.0, s, n)).astype(np.int64), MANY)
        compared(f"DiscreteLaplace, scale {scale}", rate(law.sample, MANY), {"numpy, rounded": numpy_rate})
        bell = dp.DiscreteGaussian(Fraction(scale) ** 2)
        numpy_rate = rate(lambda n, s=scale: np.rint(rng.normal(0.0, s, n)).astype(np.int64), MANY)
        compared(f"DiscreteGaussian, sigma {scale}", rate(bell.sample, MANY), {"numpy, rounded": numpy_rate})
    for eps, delta in ((1, "1e-6"), (10, "1e-5"), (0, "1e-6"), (1, "1e-300")):
        took = seconds(lambda e=eps, d=delta: dp.Gaussian(sensitivity="0.7", epsilon=e, delta=d))
        curve = seconds(lambda e=eps, d=delta: dp.gaussian_sigma(sensitivity="0.7", epsilon=e, delta=d))
        print(f"Gaussian for epsilon {eps}, delta {delta}: {took * 1e3:.0f} ms; the curve alone {curve * 1e3:.0f} ms")


if __name__ == "__main__":
    main()
