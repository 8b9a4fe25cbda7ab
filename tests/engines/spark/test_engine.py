"""The core plan on Spark: in the ordinary run sums under caps, in one statement. The whole suites of engines run Spark
too, under `slow`."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import Any

import pytest
from engine_rows import opened
from many_cases import differing, drawn
from spark_session import PLAIN, settings, spark_or_skip

from dpcurator.engines.reference import Reference
from dpcurator.engines.reference_relations import relation
from dpcurator.engines.spark.engine import REHEARSAL, Spark
from dpcurator.engines.spark.sql import statement
from dpcurator.errors import Fault, Misconfigured, Refusal
from dpcurator.language.rows import Among, Compare, Compute, Constant, Field
from dpcurator.plan.core import (
    ONE,
    Chosen,
    Distinct,
    Filter,
    Grid,
    Histogram,
    Listed,
    Measure,
    Owner,
    PerUnit,
    Product,
    Project,
    ScaleDown,
    Scan,
    Source,
    Sum,
    Tally,
    Total,
)
from dpcurator.plan.core_relations import Columns, Folded, Groups, Only, Stored, columns_of

KINDS: Any = {"t0": {"c0": "integer", "c1": "text", "c2": "integer", "c3": "float"}}
COLUMNS = tuple(Source(name, kind) for name, kind in KINDS["t0"].items())
TEXTS = Listed((1,), (("a",), ("\0é😀",), (None,), ("nobody's",)))
REHEARSALS = {size: replace(REHEARSAL, partitions=int(size)) for size in ("1", "7")}


def table(seed: int, size: int = 300) -> Any:
    luck = random.Random(seed)
    texts = ["a", "\0é😀", None, "", "z" * 30]
    floats = [None, float("nan"), -0.0, float("inf"), -float("inf"), 0.5, 1e300]
    return {"t0": {"c0": [luck.choice([None, *range(40)]) for _ in range(size)],
                   "c1": [luck.choice(texts) for _ in range(size)],
                   "c2": [luck.choice([None, 0, -(2**63), 2**63 - 1, luck.randint(-9, 9)]) for _ in range(size)],
                   "c3": [luck.choice([*floats, luck.uniform(-3, 3)]) for _ in range(size)]}}


def core(keys: Any, scale: ScaleDown, *sums: Sum, owner: int | None = 0, tallies: bool = False) -> Any:
    grids = (Grid(2, "integer", -5, 5, -5, 5, 0), Grid(3, "float", -2.0, 2.0, -2048, 2048, 10),
             Grid(2, "integer", -(2**60), 2**60, -(2**60), 2**60, 0))
    measure = Measure(grids, (Product(0, 1, 3, -8000, 8000),), (Distinct(2, "salt"),))
    own = (Tally("everyone"), Tally("cut", (0,)), Tally("cut_groups")) if tallies else ()
    histograms = (Histogram(0, 2),) if tallies else ()
    if isinstance(keys, Chosen):
        sums = (Sum("units"), *sums)
    return (Scan("t0", COLUMNS), Owner(owner), keys, measure, PerUnit(), scale, Total(sums, own, histograms))


EVERY_SUM = (Sum("units"), Sum("rows"), Sum("present", 0), Sum("values", 0), Sum("values", 1), Sum("values", 3),
             Sum("distinct"))
PLANS = [
    core(TEXTS, ScaleDown(2, 2, ONE), *EVERY_SUM, tallies=True),
    core(TEXTS, ScaleDown(2, 3, ONE, 3), Sum("values", 2), Sum("units")),
    core(Chosen((1, 2), 2, "salt"), ScaleDown(2, 3, ONE, 3), *EVERY_SUM[1:], tallies=True),
    core(TEXTS, ScaleDown(1, 1, ONE), *EVERY_SUM, owner=None, tallies=True),
]


def both(tables: Any, plans: Any) -> tuple[list[Any], list[Any]]:
    """What Spark finds, and the reference, with what lies in histograms."""
    exact = [Spark.from_tables(tables, KINDS).evaluate_all(plans), Reference(tables).evaluate_all(plans)]
    found: list[Any] = [[(opened(one), _lying(one)) for one in some] for some in exact]
    return found[0], found[1]


def _lying(one: Any) -> Any:
    keys = one.keys_for_release()
    return [histogram if keys is None else dict(zip(keys, histogram, strict=True))
            for histogram in one.histograms_for_release()]


def test_sums_under_every_cap_are_the_reference_s() -> None:
    spark_or_skip()
    with settings(**PLAIN):
        found, expected = both(table(1), PLANS[1:2])
    assert found == expected


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_every_sum_cap_tally_and_histogram_is_the_reference_s(seed: int) -> None:
    spark_or_skip()
    with settings(**PLAIN):
        found, expected = both(table(seed), PLANS)
    assert found == expected


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
def test_random_plans_over_hostile_rows(part: int) -> None:
    spark_or_skip()
    with settings(**PLAIN):
        assert not differing(Spark, drawn(part, 16))


@pytest.mark.slow
@pytest.mark.parametrize("adaptive", ["true", "false"])
@pytest.mark.parametrize("codegen", [{"codegen_wholeStage": "true"}, {"codegen_factoryMode": "NO_CODEGEN"}])
@pytest.mark.parametrize("partitions", ["1", "7"])
def test_integers_do_not_depend_on_how_spark_runs(adaptive: str, codegen: dict[str, str], partitions: str) -> None:
    spark_or_skip()
    with settings(adaptive_enabled=adaptive, **codegen), pytest.MonkeyPatch.context() as patch:
        patch.setattr("dpcurator.engines.spark.engine.REHEARSAL", REHEARSALS[partitions])
        for plan in PLANS[:3]:
            found, expected = both(table(int(partitions), 2_000), [plan])
            assert found == expected


@pytest.mark.slow
@pytest.mark.parametrize("tables", [table(0, 0), {"t0": {name: [None] * 5 for name in KINDS["t0"]}}])
def test_of_nothing_there_is_nothing(tables: Any) -> None:
    spark_or_skip()
    with settings(**PLAIN):
        found, expected = both(tables, PLANS)
    assert found == expected


@pytest.mark.slow
def test_the_greatest_clamp_and_step_are_exact() -> None:
    """2**126, where a double is clamped to it and its grid ends 1 below; negative doubles of more than 34 digits; and a
    step that no value reaches."""
    spark_or_skip()
    far = Grid(3, "float", -(2.0**126), 2.0**126, 2**126 - 2**62, 2**126 - 1, 0)
    grids = Measure((far, replace(far, lower=1 - 2**126, upper=2**62 - 2**126),
                     replace(far, lower=-(2**114) - 2**62 + 3, upper=3 - 2**114)))
    doubles = [2.0**126, float("inf"), -(2.0**126), math.nextafter(2.0**126, 0), -(2.0**114), -math.inf, 0.5,
               math.nextafter(-(2.0**114), -math.inf)]
    rows = {"t0": {"c0": list(range(8)), "c1": ["a"] * 8, "c2": [1, 0, 2, 3, 4, 5, 5, None], "c3": doubles}}
    some = Total(tuple(Sum("values", number) for number in range(3)))
    plans = [(Scan("t0", COLUMNS), Owner(0), TEXTS, grids, PerUnit(), ScaleDown(1, 1, ONE), some),
             (Scan("t0", COLUMNS), Owner(0), TEXTS, Measure((Grid(2, "integer", 0, 9, 0, 9, 0),)), PerUnit(),
              ScaleDown(1, 2**62, ONE), Total((Sum("rows"),), (), (Histogram(0, 2**62),)))]
    with settings(**PLAIN):
        found, expected = both(rows, plans)
    assert found == expected


def _computed(depth: int, what: str) -> Any:
    """A plan that filters by a column that is computed so deep, or counts the present ones, or different ones."""
    part: Any = Field(3, "float") if what != "distinct" else Field(1, "text")
    for _ in range(depth):
        part = (Compute("round_f", (part,), "float", (2,)) if what != "distinct"
                else Compute("replace", (part,), "text", ("aa", "b")))
    scale, only = ScaleDown(2, 2, ONE), Listed((), ((),))
    if what == "where":
        inner = Columns(Stored("t0", COLUMNS, 0), (Field(0, "integer"), part))
        scan = Scan(Only(inner, Compare(">", Field(1, "float"), Constant(1.0, "float"))), (Source("c0", "integer"),))
        return (scan, Owner(0), only, Measure(()), PerUnit(), scale, Total((Sum("rows"),)))
    grids = (Grid(4, "float", 0.0, 9.0, 0, 9, 0),) if what == "median" else ()
    total = Total((Sum("present"),), (), (Histogram(0, 1),)) if what == "median" else Total((Sum("distinct"),))
    measure = Measure(grids, (), (Distinct(4, "salt"),) if what == "distinct" else ())
    return (Scan("t0", COLUMNS), Project((part,)), Owner(0), only, measure, PerUnit(), scale, total)


@pytest.mark.slow
@pytest.mark.parametrize("what", ["where", "median", "distinct"])
def test_a_condition_on_computed_columns_is_not_written_out_again_at_each_level(what: str) -> None:
    """Else each level multiplies the plan by the number of times that a text mentions what is below it: by 9 for
    ROUND(x, 2), so that six of them have no end."""
    session = spark_or_skip()
    engine = Spark.from_tables(table(0), KINDS)
    spark_or_skip()

    def size(depth: int) -> int:
        found = session.sql(engine.explain(_computed(depth, what)).sql)
        return len(found._jdf.queryExecution().optimizedPlan().toString())

    assert size(4) < 3 * size(2)


def test_a_column_that_is_not_there_is_told_before_a_statement_is_run() -> None:
    spark_or_skip()
    engine = Spark.from_tables({"t0": {"c0": [1]}})
    with pytest.raises(Misconfigured, match="lacks a column"):
        engine.evaluate(PLANS[0])


def test_a_failure_is_a_fault_without_words_or_cause(monkeypatch: pytest.MonkeyPatch) -> None:
    spark_or_skip()
    engine = Spark.from_tables({"t0": {"c0": [1], "c1": ["secret"], "c2": [1], "c3": [1.0]}}, KINDS)
    monkeypatch.setattr("dpcurator.engines.spark.sql._with", lambda *_: "broken AS (SELECT CAST('secret' AS INT))")
    with pytest.raises(Fault) as found:
        engine.evaluate(PLANS[0])
    assert found.value.__cause__ is None
    assert found.value.__context__ is None
    assert "secret" not in str(found.value)


def test_what_is_no_dataset_is_told_with_its_cure(tmp_path: Any) -> None:
    (tmp_path / "schema.json").write_text('{"t0; DROP": {"c0": "integer"}}')
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(Misconfigured, match="no dataset") as found:
            Spark(path)
        assert found.value.cure == "Run `dpcurator refresh`."


def test_a_dataset_without_its_tables_is_told_when_it_is_opened(tmp_path: Any) -> None:
    spark_or_skip()
    (tmp_path / "schema.json").write_text('{"t0": {"c0": "integer"}}')
    with pytest.raises(Misconfigured, match="cannot be opened") as found:
        Spark(tmp_path)
    assert found.value.__context__ is None


def test_a_question_deeper_than_spark_plans_is_refused_before_it_is_charged() -> None:
    """What refuses it is the plan alone: no session is asked."""
    part: Any = Field(3, "float")
    for _ in range(9):
        part = Compute("exp", (part,), "float")
    scan, *rest = PLANS[1]
    views = {"t0": "t0"}
    statement([(scan, Project((part,)), *rest)], views.__getitem__)
    with pytest.raises(Refusal, match="functions inside one another"):
        statement([(scan, Project((Compute("exp", (part,), "float"),)), *rest)], views.__getitem__)


@pytest.mark.slow
def test_every_fold_of_a_group_is_the_reference_s() -> None:
    """Each fold's value is listed as a key, so that a row counts where Spark has the very same."""
    spark_or_skip()
    luck, tables = random.Random(5), table(5, 400)
    tables["t0"]["c0"] = [luck.randrange(25) for _ in range(400)]
    tables["t0"]["c3"] = [luck.choice([None, 0.0, -0.0, 1.5, -2.25, 1e300, 5e-324, 0.1]) for _ in range(400)]
    folds = [Folded("rows"), Folded("sum_i", 2), Folded("avg_i", 2)]
    folds += [Folded(name, column) for name in ("present", "distinct", "least", "greatest") for column in (1, 2, 3)]
    folds += [Folded(name, of, by) for name in ("arg_least", "arg_greatest") for of, by in ((1, 2), (2, 1), (2, 3))]
    for exponent, end in ((10, 8.0), (0, 2.0**59), (52, 1.0)):
        steps = int(end * 2.0**exponent)
        folds += [Folded(name, 3, 0, (-end, end), (-steps, steps), exponent) for name in ("sum_f", "avg_f")]
    groups = Groups(Stored("t0", COLUMNS, 0), 1, tuple(folds))
    found, columns = relation(groups, tables), columns_of(groups)
    plans: list[Any] = [
        (Scan(groups, (Source("c0", "integer"), Source(f"c{place}", columns[place].kind))), Owner(0),
         Listed((0, 1), tuple((row[0], row[place]) for row in found)), Measure(()), PerUnit(), ScaleDown(1, 1, 1),
         Total((Sum("rows"),)))
        for place in range(1, len(columns))
    ]
    with settings(**PLAIN):
        exact = Spark.from_tables(tables, KINDS).evaluate_all(plans)
    for fold, one in zip(folds, exact, strict=True):
        assert set(one.open_for_release()) == {(1,)}, fold


def test_a_question_with_more_listed_values_than_spark_reads_is_refused_before_it_is_charged(monkeypatch: Any) -> None:
    monkeypatch.setattr("dpcurator.engines.spark.sql.MOST_CASTS", 200)
    scan, *rest = PLANS[1]
    values = tuple(Constant(number, "integer") for number in range(201))
    statement([(scan, Filter(Among(Field(2, "integer"), values[:9])), *rest)], str)
    with pytest.raises(Refusal, match="values in its lists"):
        statement([(scan, Filter(Among(Field(2, "integer"), values)), *rest)], str)
