"""How wrong counts by month of a registry are, noise and cut together, under different contribution bounds.

    python bench/registry.py [epsilon]     by default 0.2

A made-up registry: 24,000 people with 8 visits each on average, in 7 of 96 months; about 2,000 visits a month. One line
for each choice of bounds: the error bar that is shown (95 %), the share of visits that bounding leaves out, which no
bar shows, and the mean error of the answer's months, all relative to the true counts. Answers are the product's own,
with real noise. OpenDP and Tumult Analytics bound by dropping rows; where they are installed their figures belong
beside these, and where they are not, that is said.
"""

from __future__ import annotations

import sys
import tempfile
from importlib.util import find_spec
from typing import Any

import numpy as np

import dpcurator as dp

PEOPLE, MONTHS = 24_000, 96
CAPS: tuple[dict[str, int], ...] = (
    {"max_rows": 3, "max_groups": 3}, {"max_rows": 2, "max_groups": 4}, {"max_rows": 12, "max_groups": 12},
    {"max_total": 5}, {"max_total": 10}, {"max_total": 15}, {"max_total": 20}, {"max_total": 50},
)
COUNTS = "SELECT month, COUNT(*) AS n FROM visits GROUP BY month"
PEERS = {"opendp": "OpenDP", "tmlt": "Tumult Analytics"}


def registry(people: int = PEOPLE, seed: int = 48) -> dict[str, list[int]]:
    """Who came in which month: 1 + Poisson(7) visits each, one in eight of them in the month of the one before."""
    luck = np.random.default_rng(seed)
    visits = 1 + luck.poisson(7, people)
    who = np.repeat(np.arange(people), visits)
    month = luck.integers(0, MONTHS, len(who))
    again = (luck.random(len(who)) < 1 / 8) & np.append(False, who[1:] == who[:-1])
    for place in np.flatnonzero(again):
        month[place] = month[place - 1]
    return {"who": who.tolist(), "month": month.tolist()}


def catalog(budget: int = 100) -> dict[str, Any]:
    columns = {"who": "integer", "month": {"type": "integer", "bounds": [0, MONTHS - 1]}}
    return {
        "curator": {"protects": "people"}, "ledger": {"epsilon": budget},
        "tables": {"visits": {"unit": "who", "max_total": 20, "columns": columns}},
    }


def kept(rows: dict[str, list[int]], *, max_total: int | None = None, max_rows: int | None = None,
         max_groups: int | None = None) -> float:
    """The share of visits that bounding keeps, from its rule alone: each person's months weigh min(c, m) f."""
    counts = np.zeros((max(rows["who"]) + 1, MONTHS), dtype=np.int64)
    np.add.at(counts, (rows["who"], rows["month"]), 1)
    bounded = np.minimum(counts, max_rows or max_total or 0)
    factor = np.ones(len(counts))
    if max_groups is not None:
        factor = np.minimum(factor, max_groups / np.maximum((counts > 0).sum(axis=1), 1))
    if max_total is not None:
        factor = np.minimum(factor, max_total / np.maximum(bounded.sum(axis=1), 1))
    return float((bounded.sum(axis=1) * factor).sum() / counts.sum())


def main(epsilon: str) -> None:
    rows = registry()
    true = np.bincount(rows["month"], minlength=MONTHS)
    print(f"registry: {PEOPLE:,} people, {len(rows['who']):,} visits, {true.mean():,.0f} a month, epsilon {epsilon}")
    with tempfile.TemporaryDirectory() as folder:
        curator = dp.open(catalog(), directory=folder, visits=rows)
        for caps in CAPS:
            answer = curator.ask(COUNTS, epsilon=epsilon, cut=False, **caps)  # type: ignore[arg-type]
            noisy = np.array(answer["n"], dtype=float)
            bar = float(answer.error("n")[0] or 0) / true.mean()
            whole = float(np.mean(np.abs(noisy - true) / true))
            named = " ".join(f"{name} {value}" for name, value in caps.items())
            print(f"registry {named:<26} bar ±{bar:6.1%}   left out {1 - kept(rows, **caps):6.1%}   error {whole:6.1%}")
    for module, name in PEERS.items():
        print(f"registry {name}: {'installed, not measured here' if find_spec(module) else 'not installed'}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "0.2")
