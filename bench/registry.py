"""How wrong counts by month of a registry are, noise and cut together, under different contribution bounds.

    python bench/registry.py [epsilon] [--peers]     by default 0.2; --peers: of the other libraries alone

A made-up registry: 24,000 people with 8 visits each on average, in 7 of 96 months; about 2,000 visits a month. One line
for each choice of bounds: the error bar that is shown (95 %), the share of visits that bounding leaves out, which no
bar shows, and the mean error of the answer's months, all relative to the true counts. Answers are the product's own,
with real noise. OpenDP and Tumult Analytics are asked the same over the same rows, under their own cap on a person's
rows in all, which drops rows instead of weighting them; where one is not installed, that is said. With --peers this
file needs numpy and the peers alone, in an environment of their own.
"""

from __future__ import annotations

import os
import sys
import tempfile
import warnings
from collections.abc import Callable
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import numpy as np

PEOPLE, MONTHS = 24_000, 96
CAPS: tuple[dict[str, int], ...] = (
    {"max_rows": 3, "max_groups": 3}, {"max_rows": 2, "max_groups": 4}, {"max_rows": 12, "max_groups": 12},
    {"max_total": 5}, {"max_total": 10}, {"max_total": 15}, {"max_total": 20}, {"max_total": 50},
)
COUNTS = "SELECT month, COUNT(*) AS n FROM visits GROUP BY month"
TOTALS = tuple(caps["max_total"] for caps in CAPS if "max_total" in caps)  # the caps that the peers have as well
Counts = Callable[[int], "tuple[Any, float]"]  # max_total: the months' noisy counts, and the 95 % error bar


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


def ours(rows: dict[str, list[int]], true: Any, epsilon: str) -> None:
    import dpcurator as dp

    with tempfile.TemporaryDirectory() as folder:
        curator = dp.open(catalog(), directory=folder, visits=rows)
        for caps in CAPS:
            answer = curator.ask(COUNTS, epsilon=epsilon, cut=False, **caps)  # type: ignore[arg-type]
            named = " ".join(f"{name} {value}" for name, value in caps.items())
            bar, lost = float(answer.error("n")[0] or 0), 1 - kept(rows, **caps)
            print(line(named, bar, lost, np.array(answer["n"], dtype=float), true))


def line(named: str, bar: float, lost: float, noisy: Any, true: Any) -> str:
    whole = float(np.mean(np.abs(noisy - true) / true))
    return f"registry {named:<26} bar ±{bar / true.mean():6.1%}   left out {lost:6.1%}   error {whole:6.1%}"


def opendp(rows: dict[str, list[int]], epsilon: str) -> Counts:
    """Counts by OpenDP, whose cap drops rows of a person by chance."""
    import opendp.prelude as op
    import polars as pl

    op.enable_features("contrib")
    data, keys = pl.LazyFrame(rows), pl.LazyFrame({"month": list(range(MONTHS))})

    def counts(total: int) -> tuple[Any, float]:
        context = op.Context.compositor(
            data=data, privacy_unit=op.unit_of(contributions=1, identifier="who"),
            privacy_loss=op.loss_of(epsilon=float(epsilon)), split_evenly_over=1,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            query = context.query().truncate_per_group(total).group_by("month").agg(op.len().alias("n"))
            query = query.with_keys(keys)
            bar = float(query.summarize(alpha=0.05)["accuracy"][0])
            return query.release().collect().sort("month")["n"].to_numpy(), bar

    return counts


def tumult(rows: dict[str, list[int]], epsilon: str) -> Counts:
    """Counts by Tumult Analytics, whose cap drops rows of a person by a hash."""
    import pandas as pd
    from pyspark.sql import SparkSession
    from tmlt.analytics import AddRowsWithID, KeySet, MaxRowsPerID, PureDPBudget, QueryBuilder, Session

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # its workers are of this environment
    builder = SparkSession.builder.config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", 2)
    spark = builder.getOrCreate()
    frame, keys = spark.createDataFrame(pd.DataFrame(rows)), KeySet.from_dict({"month": list(range(MONTHS))})

    def counts(total: int) -> tuple[Any, float]:
        budget = PureDPBudget(float(epsilon))
        session = Session.from_dataframe(
            privacy_budget=budget, source_id="visits", dataframe=frame, protected_change=AddRowsWithID(id_column="who")
        )
        query = QueryBuilder("visits").enforce(MaxRowsPerID(total)).groupby(keys).count(name="n")
        found = session.evaluate(query, budget).toPandas().sort_values("month")
        return found["n"].to_numpy(), -np.log(0.05) * total / float(epsilon)

    return counts


PEERS = {"opendp": ("OpenDP", "opendp", opendp), "tmlt": ("Tumult Analytics", "tmlt.analytics", tumult)}


def peers(rows: dict[str, list[int]], true: Any, epsilon: str) -> None:
    for module, (name, distribution, asked) in PEERS.items():
        if find_spec(module) is None:
            print(f"registry {name}: not installed (pip install {distribution})")
            continue
        counts = asked(rows, epsilon)
        for total in TOTALS:
            noisy, bar = counts(total)
            lost = 1 - kept(rows, max_total=total)  # of a person with t rows, min(t, T) stay in either library
            print(line(f"{name} {version(distribution)}, {total} rows", bar, lost, noisy, true))


def main(epsilon: str, *, alone: bool) -> None:
    rows = registry()
    true = np.bincount(rows["month"], minlength=MONTHS)
    print(f"registry: {PEOPLE:,} people, {len(rows['who']):,} visits, {true.mean():,.0f} a month, epsilon {epsilon}")
    if not alone:
        ours(rows, true, epsilon)
    peers(rows, true, epsilon)


if __name__ == "__main__":
    given = [one for one in sys.argv[1:] if one != "--peers"]
    main(given[0] if given else "0.2", alone="--peers" in sys.argv)
