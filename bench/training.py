"""Training runs, paired in one process with dp-accounting and prv-accountant: CPU seconds and what each says.

    python bench/training.py [--only NAME]

Each case is run by all that are installed, twice, the lesser time being shown. dp-accounting is taken at its usual grid
of 1e-4, prv at an error of .01 of epsilon and 1e-10 of delta; here a bracket as narrow as those are wide of each other.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import dpcurator as dp

DELTA = "1e-5"
RUNS = {  # noise multiplier, rate, steps, accuracy of the bracket
    "q .01, sigma 1, 10,000 steps": ("1", "0.01", 10_000, "1e-3"),
    "q .001, sigma 1, 30,000 steps": ("1", "0.001", 30_000, "1e-2"),
    "256 of 60,000, sigma 1.1, 60 epochs": ("1.1", "256/60000", 14_063, "1e-2"),
    "q .01, sigma 2, 1,000,000 steps": ("2", "0.01", 1_000_000, "5e-2"),
}


def timed(work: Callable[[], str]) -> tuple[float, str]:
    best, said = float("inf"), ""
    for _ in range(2):
        start = time.process_time()
        said = work()
        best = min(best, time.process_time() - start)
    return best, said


def here(sigma: str, rate: str, steps: int, accuracy: str) -> str:
    found = dp.dpsgd(noise_multiplier=sigma, rate=rate, steps=steps).bracket(delta=DELTA, accuracy=accuracy)
    return f"[{float(found.lower):.4f}, {float(found.upper):.4f}]"


def first(sigma: str, rate: str, steps: int, accuracy: str) -> str:
    run = dp.dpsgd(noise_multiplier=sigma, rate=rate, steps=steps)
    found = run.bracket(delta=DELTA, accuracy=accuracy, seconds="0.01")
    return f"[{float(found.lower):.4f}, {float(found.upper):.4f}]"


def dp_accounting(sigma: str, rate: str, steps: int, accuracy: str) -> str:
    from fractions import Fraction

    from dp_accounting.pld import privacy_loss_distribution as pld

    one = pld.from_gaussian_mechanism(float(sigma), sampling_prob=float(Fraction(rate)))
    return f"{one.self_compose(steps).get_epsilon_for_delta(float(DELTA)):.4f}"


def prv(sigma: str, rate: str, steps: int, accuracy: str) -> str:
    from fractions import Fraction

    from prv_accountant import PoissonSubsampledGaussianMechanism, PRVAccountant

    one = PoissonSubsampledGaussianMechanism(sampling_probability=float(Fraction(rate)), noise_multiplier=float(sigma))
    accountant = PRVAccountant(prvs=[one], max_self_compositions=[steps], eps_error=0.01, delta_error=1e-10)
    low, _, high = accountant.compute_epsilon(float(DELTA), [steps])
    return f"[{low:.4f}, {high:.4f}]"


def laplaces() -> dict[str, Callable[[], str]]:
    """1,000 different ones, at delta 1e-6."""
    scales = [f"{10 + i / 100:.2f}" for i in range(1000)]

    def ours() -> str:
        run = dp.compose(*(dp.Loss("laplace", scale=scale, shift=1) for scale in scales))
        found = run.bracket(delta="1e-6", accuracy="1e-3")
        return f"[{float(found.lower):.4f}, {float(found.upper):.4f}]"

    def theirs() -> str:
        from dp_accounting.pld import privacy_loss_distribution as pld

        total = pld.identity()
        for scale in scales:
            total = total.compose(pld.from_laplace_mechanism(float(scale)), tail_mass_truncation=1e-15)
        return f"{total.get_epsilon_for_delta(1e-6):.4f}"

    return {"here": ours, "dp_accounting": theirs}


def row(case: str, who: str, work: Callable[[], str]) -> None:
    try:
        seconds, said = timed(work)
        print(f"| {case} | {who} | {seconds:.2f} | {said} |", flush=True)
    except Exception as error:  # what a peer cannot do is a result
        print(f"| {case} | {who} | - | {type(error).__name__} |", flush=True)


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--only", default="")
    only = arguments.parse_args().only
    peers: dict[str, Any] = {"here": here, "here, first bracket": first}
    peers |= {name: work for name, work in (("dp_accounting", dp_accounting), ("prv_accountant", prv))
              if find_spec(name)}  # fmt: skip
    print("| run | by | CPU s | epsilon |\n|---|---|---|---|")
    for case, given in RUNS.items():
        for who, work in peers.items():
            if only in case:
                row(case, who, lambda work=work, given=given: work(*given))
    for who, work in laplaces().items():
        if only in "1,000 Laplaces" and (who == "here" or find_spec(who)):
            row("1,000 Laplaces", who, work)
    if only in "import":
        start = "import time; t = time.process_time(); import dpcurator; print(time.process_time() - t)"
        found = [float(subprocess.check_output([sys.executable, "-c", start], text=True)) for _ in range(5)]
        print(f"| import | here | {min(found):.2f} | |")


if __name__ == "__main__":
    main()
