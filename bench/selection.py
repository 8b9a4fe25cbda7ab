"""Selection: one choice among many, and the median of a million, beside numpy's (inexact) Gumbel argmax.

    python bench/selection.py

Prints one line per measurement; each is the best of several. numpy's argmax(scores + gumbel) is not the exponential
mechanism: its doubles have holes. np.median has no privacy at all. opendp and diffprivlib are measured where installed.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

import dpcurator as dp

COUNTS = [10, 10**4, 10**6]


def microseconds(work: Callable[[], object], turns: int) -> float:
    best = float("inf")
    for _ in range(turns):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best * 1e6


def opendp_choice(scores: np.ndarray) -> Callable[[], object] | None:
    """opendp's report noisy max with Gumbel noise, which is the same law; None without opendp."""
    try:
        import opendp.prelude as odp

        odp.enable_features("contrib")
        space = odp.vector_domain(odp.atom_domain(T=float, nan=False)), odp.linf_distance(T=float)
        made = odp.m.make_noisy_max(*space, odp.range_divergence() if hasattr(odp, "range_divergence")
                                    else odp.zero_concentrated_divergence(), scale=2.0)
    except Exception:  # not installed, or of another version
        return None
    listed = scores.tolist()
    return lambda: made(listed)


def diffprivlib_choice(scores: np.ndarray) -> Callable[[], object] | None:
    try:
        from diffprivlib.mechanisms import Exponential
    except ImportError:
        return None
    made = Exponential(epsilon=1.0, sensitivity=1.0, utility=scores.tolist())
    return made.randomise


def selections(rng: np.random.Generator) -> None:
    choice = dp.Exponential(sensitivity=1, epsilon=1)
    for n in COUNTS:
        turns = 300 if n < 10**5 else 15
        floats, whole = rng.random(n) * 20, rng.integers(0, 1000, n)
        plain = microseconds(lambda f=floats, n=n: np.argmax(f / 2 + rng.gumbel(size=n)), turns)
        print(f"{n} candidates: numpy argmax of Gumbel {plain:.0f} us")
        for kind, scores in (("float64", floats), ("int64", whole), ("all equal", np.zeros(n))):
            ours = microseconds(lambda s=scores: choice.select(s), turns)
            print(f"{n} candidates, {kind}: exponential mechanism {ours:.0f} us; ours/numpy {ours / plain:.2f}")
        for name, peer in (("opendp", opendp_choice(floats)), ("diffprivlib", diffprivlib_choice(floats))):
            if peer is not None:
                theirs = microseconds(peer, 3)
                print(f"{n} candidates: {name} {theirs:.0f} us; numpy/it {plain / theirs:.3f}")


def medians(rng: np.random.Generator) -> None:
    values = rng.normal(50, 15, 10**6)
    plain = microseconds(lambda: np.median(values), 15)
    print(f"median of 1000000: numpy {plain / 1e3:.1f} ms")
    for step in ("1", "0.1", "1e-7"):
        made = dp.Quantile(q="1/2", epsilon=1, lower=0, upper=100, step=step)
        ours = microseconds(lambda m=made: m.release(values), 7)
        print(f"median of 1000000, {made.count} candidates: {ours / 1e3:.1f} ms; ours/numpy {ours / plain:.2f}")
    listed = dp.Quantile(q="1/2", epsilon=1, candidates=range(101))
    ours = microseconds(lambda: listed.release(values), 7)
    print(f"median of 1000000, 101 candidates in a list: {ours / 1e3:.1f} ms; ours/numpy {ours / plain:.2f}")
    try:
        from diffprivlib.tools import median
    except ImportError:
        return
    theirs = microseconds(lambda: median(values, epsilon=1, bounds=(0, 100)), 3)
    print(f"median of 1000000: diffprivlib {theirs / 1e3:.1f} ms; ours/it {ours / theirs:.3f}")


def main() -> None:
    rng = np.random.default_rng()
    selections(rng)
    medians(rng)


if __name__ == "__main__":
    main()
