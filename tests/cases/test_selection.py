"""Real-world cases about keys that nobody listed, and keys that need no data, named by id."""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
import pytest
from case_questions import catalog_for, read
from questions import planned, quoted

from dpcurator.catalog.model import Column
from dpcurator.entropy import SystemEntropy
from dpcurator.errors import Refusal
from dpcurator.mechanisms import Exponential, Quantile
from dpcurator.mechanisms.key_selection import LaplaceThreshold
from dpcurator.release.finish import finish
from dpcurator.release.release import release

U = Column("u", "text")


def test_sel_03_a_tie_with_the_threshold_is_in_delta():
    """Scale 1: a key of one person is kept at 5 with chance p**4 / (1 + p), not the strict 0.00492583."""
    rule = LaplaceThreshold(F(1), F("0.0133899"), 1)
    assert rule.threshold == 5
    assert LaplaceThreshold(F(1), F("0.0133898"), 1).threshold == 6
    kept = rule.keep_chance(1)
    assert F("0.0133898048") < kept.lo <= kept.hi < F("0.013389805")
    assert kept.hi <= rule.delta
    rate = sum(rule.keep([1] * 100_000, SystemEntropy())) / 100_000
    assert abs(rate - 0.01339) < 0.0025  # 6.8 standard deviations: misses with a chance below 1e-10


OCCUPATIONS = ("clerk", "cook", "driver", "nurse", "teacher")
VARIANTS = ["", " HAVING COUNT(*) > -100", " ORDER BY occupation DESC", " ORDER BY COUNT(*) LIMIT 50"]


def test_sel_05_a_key_of_one_person_stays_out(engine_of):
    """Kept with a chance of delta at most: in 10,000 runs less than .01 times expected. Of those here, with a chance of
    3 or more that is below 1e-9, while the common keys are always there."""
    columns = (U, Column("occupation", "text", unknown_keys=True))
    catalog = catalog_for(columns, delta=F(1, 10**6))
    data = [*(OCCUPATIONS[n % 5] for n in range(999)), "head of state"]
    engine = engine_of(columns)({"t0": {"c0": [f"p{n}" for n in range(1000)], "c1": data}})
    seen = 0
    for variant in VARIANTS:
        quote = quoted(f"SELECT occupation, COUNT(*) FROM t GROUP BY occupation{variant}", 1, catalog)
        assert quote.epsilon == 1
        assert 0 < quote.delta <= F(1, 10**6)
        rule = quote.selecting.rule
        assert rule.keep_chance(1).hi <= F(1, 10**6)
        assert 1 - rule.keep_chance(199).lo < F(1, 10**20)
        exact = engine.evaluate(quote.lowered.core)
        for _ in range(50):
            shown = {row[0].value for row in finish(quote, release(quote, exact, SystemEntropy()))}
            assert shown >= set(OCCUPATIONS)
            seen += "head of state" in shown
        assert sum(rule.keep([1] * 2500, SystemEntropy())) <= 2
    assert seen <= 2


def test_sel_05_and_distinct_does_not_list_them_either():
    catalog = catalog_for((U, Column("occupation", "text", unknown_keys=True)), delta=F(1, 10**6))
    with pytest.raises(Refusal, match="SELECT DISTINCT"):
        planned("SELECT DISTINCT occupation FROM t", catalog)
    listed = quoted("SELECT occupation FROM t GROUP BY occupation", 1, catalog)
    assert listed.epsilon == 1  # the selection is paid for, with no number beside it
    assert listed.selecting.rule.keep_chance(1).hi <= F(1, 10**6)


def test_sel_08_a_median_by_group_is_never_an_empty_success():
    """Of unknown groups the groups are selected first, and each that is shown has its median."""
    columns = (U, Column("class_year", "integer"), Column("grade", "integer", F(0), F(100)))
    question = "SELECT class_year, MEDIAN(grade) FROM t GROUP BY class_year"
    with pytest.raises(Refusal, match="needs a public list of keys"):
        planned(question, catalog_for(columns))
    chosen = (U, Column("class_year", "integer", unknown_keys=True), columns[2])
    quote = quoted(question, 1, catalog_for(chosen, delta=F(1, 10**6)))
    assert quote.selecting is not None
    assert [one.ask.what for one in quote.priced] == ["quantile"]


@pytest.mark.parametrize("question", ["SELECT a, COUNT(*), SUM(b) FROM t GROUP BY a", "SELECT a FROM t GROUP BY a",
                                      "SELECT a + 1 AS c, COUNT(*) FROM t GROUP BY c"])
def test_sel_10_an_empty_list_of_keys_is_not_no_list(ask, question):
    columns = (Column("user_id", "text"), Column("a", "integer", keys=()), Column("b", "integer", F(0), F(10)))
    assert ask(question, read("null_group_keys.csv", a=int, b=int), *columns) == []


def test_spv_08_missing_is_no_distinct_value(ask):
    """COUNT(DISTINCT x) is of the protected unit: where x is that unit, missing ones are not counted."""
    data = read("nulls.csv") | {"empty": [None] * 12}
    for name, wanted in (("c", 3), ("region", 2), ("empty", 0)):
        column = Column(name, "text")
        assert ask(f"SELECT COUNT(DISTINCT {name}) FROM t", data, column, max_rows=20) == [(wanted,)]
        assert ask(f"SELECT COUNT(DISTINCT {name} || 'x') FROM t", data, column, max_rows=20) == [(wanted,)]


@pytest.mark.parametrize(("name", "wanted"), [("c", 3), ("region", 2)])
def test_spv_08_distinct_values_of_other_columns_are_counted_without_missing_ones(ask, name, wanted):
    columns = (Column("user_id", "text"), Column(name, "text"))
    assert ask(f"SELECT COUNT(DISTINCT {name}) FROM t", read("nulls.csv"), *columns, max_rows=20) == [(wanted,)]


@pytest.mark.parametrize("name", ["c", "region"])
def test_spv_08_the_distinct_values_can_be_counted_by_their_groups(ask, name):
    """Keys that nobody listed, at no noise: one row each, and one for missing, which a WHERE leaves out."""
    columns = (Column("user_id", "text"), Column(name, "text", unknown_keys=True))
    question = f"SELECT {name}, COUNT(*) FROM t WHERE {name} IS NOT NULL GROUP BY {name}"
    rows = ask(question, read("nulls.csv"), *columns, delta=F(1, 2))
    assert [row[0] for row in rows] == (["x", "y", "z"] if name == "c" else ["North", "South"])


def test_sel_01_the_most_likely_is_the_greatest():
    """By the exponential mechanism; the least is the greatest of the negated scores."""
    scores = [0, 1, 2, 100]
    sure = Exponential(sensitivity=1, epsilon=10**6)
    assert {sure.select(scores) for _ in range(20)} == {3}
    assert {sure.select([-score for score in scores]) for _ in range(20)} == {0}
    assert Exponential(sensitivity=1, epsilon=1).probabilities(scores)[3].lo > F("0.999999")


@pytest.mark.parametrize("zeros", [1491, 1492, 100_000])
def test_sel_07_a_median_of_many_zeros_is_zero(zeros):
    """0 misses nothing, every other candidate over 745 records: chance of another under 10 exp(-745)."""
    values = [*[0.0] * zeros, 1.0]
    median = Quantile(q="0.5", epsilon=1, candidates=[F(k, 10) for k in range(11)])
    assert all(p.hi < F(1, 10**300) for p in median.probabilities(values)[1:])
    data = np.array(values)
    assert sum(median.release(data) == 0 for _ in range(1000)) >= 999
    grid = Quantile(q="0.5", epsilon=1, lower=0, upper=1, step="0.1", neighbours="replace-one")
    assert grid.release(values) == 0


@pytest.mark.parametrize("epsilon", ["1", "1000"])
def test_hunt_36_no_group_of_fewer_people_than_the_law_asks_for_whatever_the_price(engine_of, epsilon):
    """49 people are never shown and 200 are, where 50 is the least: the selection sees max(n - 49, 0)."""
    columns = (U, Column("town", "text", unknown_keys=True))
    catalog = catalog_for(columns, min_units=50, delta=F("1e-3"))
    quote = quoted("SELECT town, COUNT(*) FROM t GROUP BY town", epsilon, catalog)
    rule = quote.selecting.rule
    assert [rule.keep_chance(n).hi for n in (0, 1, 49)] == [0, 0, 0]
    assert rule.keep_chance(50).hi <= rule.delta
    towns = ["few"] * 49 + ["many"] * 200
    stored = {"t0": {"c0": [f"p{n}" for n in range(249)], "c1": towns}}
    for _ in range(20):
        noisy = release(quote, engine_of(columns)(stored).evaluate(quote.lowered.core), SystemEntropy())
        assert noisy.keys == (("many",),)
