"""How often a question moves rows between executors: a number that its form decides, as docs/scale.md says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import duckdb
import pytest
from spark_session import settings, spark_or_skip

from dpcurator.engines.spark.engine import REHEARSAL, Spark
from dpcurator.plan.core import (
    ONE,
    Chosen,
    Distinct,
    Grid,
    Histogram,
    Listed,
    Measure,
    Owner,
    PerUnit,
    ScaleDown,
    Scan,
    Source,
    Sum,
    Total,
)

KINDS = {"c0": "integer", "c1": "integer", "c2": "integer"}
KEYS = Listed((1,), tuple((number,) for number in range(100)))
NONE = Listed((), ((),))
GRID = Grid(2, "integer", 0, 110, 0, 110, 0)
SUMS = (Sum("rows"), Sum("present"), Sum("values"))


def core(keys: Any, scale: ScaleDown, sums: tuple[Sum, ...] = SUMS, *more: Any, owner: int | None = 0) -> Any:
    distincts = tuple(one for one in more if isinstance(one, Distinct))
    histograms = tuple(one for one in more if isinstance(one, Histogram))
    scan = Scan("t0", tuple(Source(name, "integer") for name in KINDS))
    return (scan, Owner(owner), keys, Measure((GRID,), (), distincts), PerUnit(), scale, Total(sums, (), histograms))


FORMS = {
    "each row is a unit": core(KEYS, ScaleDown(1, 1, ONE), owner=None),
    "no GROUP BY": core(NONE, ScaleDown(4, 1, ONE)),
    "listed keys, `max_rows` and `max_groups`": core(KEYS, ScaleDown(4, 3, ONE)),
    "listed keys, `max_total`": core(KEYS, ScaleDown(4, 3, ONE, 8)),
    "unknown keys": core(Chosen((1,), 3, "salt"), ScaleDown(4, 3, ONE), (Sum("units"), *SUMS)),
    "a median by listed keys": core(KEYS, ScaleDown(4, 3, ONE), SUMS, Histogram(0, 3)),
    "COUNT(DISTINCT ...) by listed keys": core(KEYS, ScaleDown(4, 3, ONE), (Sum("distinct"),), Distinct(2, "salt")),
}


def counted(folder: Path) -> dict[str, int]:
    """Exchanges in the plan of each form, over files and with no table small enough to be sent to everyone."""
    (folder / "t0").mkdir()
    duckdb.sql("SELECT i AS c0, i % 100 AS c1, i % 111 AS c2 FROM range(1000) AS t(i)").write_parquet(
        str(folder / "t0" / "part.parquet"))
    (folder / "schema.json").write_text(json.dumps({"t0": KINDS}))
    session, found = spark_or_skip(), {}
    with settings(autoBroadcastJoinThreshold="-1"):
        engine = Spark(folder, settings=REHEARSAL)
        for name, plan in FORMS.items():
            told = session.sql(engine.explain(plan).sql)._jdf.queryExecution().executedPlan().toString()
            found[name] = len(re.findall(r"(?<!Broadcast)(?<!Reused)\bExchange \w+", told))
    return found


@pytest.mark.slow
def test_a_form_of_question_has_the_number_of_shuffles_that_the_page_says(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "scale.md").read_text("utf-8")
    assert {name: f"| {name} | {number} |" in page for name, number in counted(tmp_path).items()} == dict.fromkeys(
        FORMS, True)
