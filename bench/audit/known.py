"""Mechanisms of which the loss is known, audited: ours beside what DP-Sniper and StatDP found, and what is true.

    python bench/audit/known.py [--samples N] [--seed N] [NAME ...]

The mechanisms, and what is published of them, are in tests/support/audit_known.py and audit_table.py. N draws of each
input are counted, at confidence .95; more of each choose the events before. Ours are lower bounds, as the published
ones are (theirs at .9). "by exact laws" is the same question without draws. A name is any part of one.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "support"))

from audit_table import KNOWN, Known

import dpcurator as dp

HEAD = ("mechanism", "claim", "true", "ours", "S-reg", "S-mlp", "StatDP", "cpu s", "verdict")
LINE = "{:31} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7} {:>5}  {}"


def shown(value: float | None) -> str:
    return "-" if value is None else "inf" if math.isinf(value) else f"{value:.4g}"


def row(known: Known, ours: float, seconds: float, verdict: str) -> str:
    claimed = shown(float(known.claim.parameter))
    true = ("<=" if known.at_most else "") + shown(known.exact)
    return LINE.format(known.name, claimed, true, shown(ours), *map(shown, known.published), f"{seconds:.1f}", verdict)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--samples", type=int, default=2_000_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    print(f"{given.samples:,} draws of each input, confidence .95, seed {given.seed}")
    print(LINE.format(*HEAD))
    wrong = 0
    for known in KNOWN:
        if given.names and not any(name in known.name for name in given.names):
            continue
        start = time.process_time()
        report = dp.audit(
            known.mechanism(given.seed), pair=known.pair, claim=known.claim, samples=given.samples, seconds=600,
            confidence="0.95", shrink=False, bits=known.bits,
        )
        wrong += report.violated != known.broken
        mark = "" if report.violated == known.broken else "  WRONG"
        print(row(known, float(report.at_least), time.process_time() - start, report.verdict + mark), flush=True)
        k1, k2 = report.counts or (0, 0)
        print(f"    {k1:,} against {k2:,}: {str(report.event)[:200]}")
        if known.law is not None:
            exact = dp.audit(dp.exact_law(known.law), pair=known.pair, claim=known.claim)
            print(f"    by exact laws: at least {float(exact.at_least):.6g}, {exact.verdict}")
    print(f"{wrong} verdicts are not what is true")


if __name__ == "__main__":
    main()
