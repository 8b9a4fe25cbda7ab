"""Training runs, paired in one run with dp-accounting and prv-accountant: CPU seconds and what each says.

    python bench/training.py [--only NAME] [--peers PYTHON]
    python bench/training.py --sweep 1e-5

Each case is run by all that are installed, twice, the lesser time being shown; with --peers those of another Python, in
whose environment they are. dp-accounting is taken at its usual grid of 1e-4, prv at an error of .01 of epsilon and
1e-10 of delta; here a bracket as narrow as those are wide of each other.

--sweep takes the bracket by default of 180 runs (rates .0001 to .1, noise .6 to 5, 1 to 10,000 steps) at a delta, and
prints for each number of steps the widest, relative to its upper end, the CPU seconds, and whether one was stopped.
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec

DELTA = "1e-5"
RUNS = {  # noise multiplier, rate, steps, accuracy of the bracket
    "q .01, sigma 1, 10,000 steps": ("1", "0.01", 10_000, "1e-3"),
    "q .001, sigma 1, 30,000 steps": ("1", "0.001", 30_000, "1e-2"),
    "256 of 60,000, sigma 1.1, 60 epochs": ("1.1", "256/60000", 14_063, "1e-2"),
    "q .01, sigma 2, 1,000,000 steps": ("2", "0.01", 1_000_000, "5e-2"),
}


LAPLACES = "1,000 Laplaces"
RATES = ("0.0001", "0.001", "0.004", "0.01", "0.03", "0.1")
SIGMAS = ("0.6", "0.8", "1", "1.3", "2", "5")


def timed(work: Callable[[], str]) -> tuple[float, str]:
    best, said = float("inf"), ""
    for _ in range(2):
        start = time.process_time()
        said = work()
        best = min(best, time.process_time() - start)
    return best, said


def here(sigma: str, rate: str, steps: int, accuracy: str) -> str:
    import dpcurator as dp

    found = dp.dpsgd(noise_multiplier=sigma, rate=rate, steps=steps).bracket(delta=DELTA, accuracy=accuracy)
    return f"[{float(found.lower):.4f}, {float(found.upper):.4f}]"


def first(sigma: str, rate: str, steps: int, accuracy: str) -> str:
    import dpcurator as dp

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
        import dpcurator as dp

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


def works(who: str, case: str) -> Callable[[], str]:
    """What `who` runs for a case."""
    if case == LAPLACES:
        return laplaces()[who]
    all_of = {"here": here, "here, first bracket": first, "dp_accounting": dp_accounting, "prv_accountant": prv}
    return lambda: all_of[who](*RUNS[case])


def row(case: str, who: str, python: str | None) -> None:
    try:
        if python is None:
            seconds, said = timed(works(who, case))
        else:
            given = [python, __file__, "--one", who, case]
            seconds, said = json.loads(subprocess.check_output(given, text=True, stderr=subprocess.DEVNULL))
        print(f"| {case} | {who} | {seconds:.2f} | {said} |", flush=True)
    except Exception as error:  # what a peer cannot do is a result
        print(f"| {case} | {who} | - | {type(error).__name__} |", flush=True)


def sweep(delta: str) -> None:
    """The H1 sweep at one delta."""
    from dpcurator.accounting.parse import spelled

    print("| steps | runs | widest | at | CPU s | longest | stopped |\n|---|---|---|---|---|---|---|")
    for steps in (1, 10, 100, 1000, 10_000):
        found = []
        for rate, sigma in itertools.product(RATES, SIGMAS):
            start = time.process_time()
            made = spelled(f"{steps} * poisson({rate}, gaussian(sigma={sigma}))").bracket(delta=delta)
            width = float((made.upper - made.lower) / made.upper) if made.upper else 0.0
            found.append((width, f"q {rate}, sigma {sigma}", time.process_time() - start, made.stopped))
        widest, took = max(found), [one[2] for one in found]
        print(f"| {steps:,} | {len(found)} | {widest[0]:.1e} | {widest[1]} | {sum(took):.0f} | {max(took):.1f} "
              f"| {sum(one[3] for one in found)} |", flush=True)  # fmt: skip


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--only", default="")
    arguments.add_argument("--peers", metavar="PYTHON")
    arguments.add_argument("--sweep", metavar="DELTA")
    arguments.add_argument("--one", nargs=2, metavar=("WHO", "CASE"), help=argparse.SUPPRESS)
    asked = arguments.parse_args()
    if asked.one is not None:
        print(json.dumps(timed(works(*asked.one))))
        return
    if asked.sweep is not None:
        sweep(asked.sweep)
        return
    print("| run | by | CPU s | epsilon |\n|---|---|---|---|")
    for case in (*RUNS, LAPLACES):
        if asked.only not in case:
            continue
        for who in ("here", "here, first bracket", "dp_accounting", "prv_accountant"):
            own = who.startswith("here")
            if case == LAPLACES and who not in laplaces():
                continue
            if own or asked.peers or find_spec(who):
                row(case, who, None if own else asked.peers)
    if asked.only in "import":
        start = "import time; t = time.process_time(); import dpcurator; print(time.process_time() - t)"
        seconds = [float(subprocess.check_output([sys.executable, "-c", start], text=True)) for _ in range(5)]
        print(f"| import | here | {min(seconds):.2f} | |")


if __name__ == "__main__":
    main()
