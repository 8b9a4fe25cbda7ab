"""Variances, covariances and lines: worked by hand, against plain SQL, and the coverage of their error bars."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from fractions import Fraction as F
from typing import Any

import pytest
from questions import VISITS, catalog_with, quoted, seen

from dpcurator.aggregates import rule_of
from dpcurator.engines.duckdb.engine import DuckDB
from dpcurator.engines.reference import Reference
from dpcurator.entropy import SystemEntropy
from dpcurator.language.rows import Field
from dpcurator.numbers.interval import Interval
from dpcurator.plan.nodes import AggregateCall, Ask, Measured
from dpcurator.plan.stability import Reach
from dpcurator.release.finish import finish
from dpcurator.release.release import combine, release

X = Measured("x", Field(0, "integer"), "integer", "integer", F(0), F(10))
Y = Measured("y", Field(1, "integer"), "integer", "integer", F(-2), F(2))
PAIR = replace(Y, beside=X)
WHOLE = Reach(1, 1, 1, 1, (), "replace-one", 4, whole=True)


def exactly(*values: Any) -> tuple[Interval, ...]:
    return tuple(Interval.exactly(F(value)) for value in values)


def finished(function: str, column: Measured, *readings: Interval, reach: Reach | None = None) -> Interval:
    return rule_of(AggregateCall(function, column)).finish(readings, column, reach)


# --- by hand --------------------------------------------------------------------------------------------------------


def test_variances_by_hand():
    """Of 1, 4, 7, 9 in [0, 10]: from the middle -4, -1, 2, 4, so C = 2; squares 37, so 2 * 37 - 25 * 4 = -26; n = 4.
    VAR_POP = 37/4 - (1/4)^2 = 147/16."""
    of = exactly(2, -26, 4)
    assert finished("VAR_POP", X, *of) == Interval.exactly(F(147, 16))
    assert finished("VAR_SAMP", X, *of) == Interval.exactly(F(49, 4))
    assert finished("STDDEV_SAMP", X, *of).value == F(7, 2)
    assert finished("STDDEV_POP", X, *of).low ** 2 <= F(147, 16) <= finished("STDDEV_POP", X, *of).high ** 2


def test_an_interval_of_a_variance_by_hand():
    """C in [1, 3], Z in [-30, -22], n in [3, 5]: A1 in [1/10, 1/2], A2 in 12.5 + [-5, -2.2] = [7.5, 10.3]; the variance
    is in [7.5 - 1/4, 10.3 - 1/100]."""
    found = finished("VAR_POP", X, Interval.around(F(2), F(1)), Interval.around(F(-26), F(4)),
                     Interval.around(F(4), F(1)))
    assert found == Interval(F(147, 16), F(29, 4), F(1029, 100))


def test_pairs_by_hand():
    """x 1, 4, 7, 9 and y -2, 0, 1, 2: from the middles 8 + 0 + 2 + 8 = 18 in products, doubled 36; y's sum 1, x's 1."""
    of = exactly(2, 2, 36, 4)
    covariance = F(18, 4) - F(1, 16)
    assert finished("COVAR_POP", PAIR, *of) == Interval.exactly(covariance)
    assert finished("COVAR_SAMP", PAIR, *of) == Interval.exactly(covariance * F(4, 3))
    squares = 2 * 37 - 25 * 4, 2 * 9 - 4 * 4
    vx, vy = F(147, 16), F(9, 4) - F(1, 16)
    assert finished("REGR_SLOPE", PAIR, *exactly(2, 2, 36, squares[0], 4)).value == covariance / vx
    intercept = finished("REGR_INTERCEPT", PAIR, *exactly(2, 2, 36, squares[0], 4)).value
    assert intercept == F(1, 4) - covariance / vx * F(21, 4)
    correlation = finished("CORR", PAIR, *exactly(2, 2, 36, *squares, 4))
    assert correlation.low <= correlation.value <= correlation.high
    assert abs(float(correlation.value) - float(covariance) / math.sqrt(vx * vy)) < 1e-15
    assert finished("REGR_R2", PAIR, *exactly(2, 2, 36, *squares, 4)).value == covariance**2 / (vx * vy)
    assert finished("REGR_COUNT", PAIR, *exactly(4)) == Interval.exactly(F(4))
    assert finished("REGR_AVGX", PAIR, *exactly(2, 4)).value == F(21, 4)
    assert finished("REGR_AVGY", PAIR, *exactly(2, 4)).value == F(1, 4)


def test_of_no_noisy_rows_the_middle_of_what_is_possible_is_told_and_all_of_it():
    for count in (0, -3):
        assert finished("VAR_POP", X, *exactly(2, -26, count)) == Interval(F(25, 2), F(0), F(25))
        assert finished("COVAR_POP", PAIR, *exactly(2, 2, 36, count)) == Interval(F(0), F(-10), F(10))
    for count in (1, F(1, 2), 0):
        assert finished("VAR_SAMP", X, *exactly(2, -26, count)) == Interval(F(25), F(0), F(50))
        assert finished("COVAR_SAMP", PAIR, *exactly(2, 2, 36, count)) == Interval(F(0), F(-20), F(20))


def test_what_is_divided_by_a_variance_of_zero_is_null():
    flat = exactly(0, 0, 0, -100, -16, 4)  # all in the middle
    assert finished("CORR", PAIR, *flat).value is None
    assert finished("REGR_SLOPE", PAIR, *exactly(0, 0, 0, -100, 4)).value is None
    assert finished("REGR_R2", PAIR, *flat).value is None
    assert finished("REGR_R2", PAIR, *exactly(0, 0, 0, -26, -16, 4)).value == 1  # y alone has none


def test_what_bounds_leave_one_value_for_is_not_asked():
    one = replace(X, upper=F(0))
    for function in ("VAR_POP", "VAR_SAMP", "STDDEV_POP", "STDDEV_SAMP"):
        rule = rule_of(AggregateCall(function, one))
        assert rule.asks(one) == ()
        assert rule.finish((), one) == Interval.exactly(F(0))
    told = {"COVAR_POP": (0, 0), "COVAR_SAMP": (0, 0), "CORR": (None, None), "REGR_SLOPE": (None, 0),
            "REGR_INTERCEPT": (None, -2), "REGR_R2": (None, 1)}
    flat_y = replace(Y, upper=F(-2))
    for function, values in told.items():
        for pair, value in zip((replace(Y, beside=one), replace(flat_y, beside=X)), values, strict=True):
            rule = rule_of(AggregateCall(function, pair))
            assert rule.asks(pair) == ()
            assert rule.finish((), pair).value == value


def test_a_public_number_of_rows_is_not_counted():
    """Then the sum is AVG's: 21 of x, of which the middle has 20, and squares 37."""
    x = replace(X, filled=True)
    rule = rule_of(AggregateCall("VAR_POP", x))
    assert rule.asks(x, WHOLE) == (Ask("values", x), Ask("square", x))
    assert rule.finish(exactly(21, -26), x, WHOLE) == Interval.exactly(F(147, 16))
    pair = replace(Y, filled=True, beside=x)
    rule = rule_of(AggregateCall("COVAR_POP", pair))
    assert [ask.what for ask in rule.asks(pair, WHOLE)] == ["values", "values", "product"]
    assert rule.finish(exactly(1, 21, 36), pair, WHOLE) == Interval.exactly(F(18, 4) - F(1, 16))
    alone = replace(WHOLE, units=1)
    assert finished("VAR_SAMP", x, *exactly(3, 4), reach=alone).value is None
    assert finished("COVAR_SAMP", pair, *exactly(3, 4, 5), reach=alone).value is None


# --- what is paid ---------------------------------------------------------------------------------------------------


def whats(text: str) -> list[str]:
    return [one.ask.what for one in quoted(text, 1).priced]


def test_a_mean_a_variance_and_a_count_of_one_column_share_their_readings():
    assert whats("SELECT COUNT(age), AVG(age), VAR_POP(age), STDDEV(age) FROM visits") == [
        "present", "centred", "square"]
    assert whats("SELECT COVAR_POP(age, cost), CORR(cost, age), REGR_SLOPE(age, cost) FROM visits") == [
        "centred", "centred", "product", "present", "square", "square"]
    assert whats("SELECT COVAR_POP(cost, age), REGR_COUNT(age, cost) FROM visits") == [
        "centred", "centred", "product", "present"]


def test_columns_that_are_never_missing_share_their_sums_with_averages():
    columns = tuple(replace(one, missing=0) if one.name in ("age", "cost") else one for one in VISITS.columns)
    catalog = catalog_with(replace(VISITS, columns=columns))
    text = "SELECT COUNT(*), AVG(age), AVG(cost), COVAR_POP(age, cost) FROM visits"
    assert [one.ask.what for one in quoted(text, 1, catalog).priced] == ["rows", "centred", "centred", "product"]


# --- against plain SQL ----------------------------------------------------------------------------------------------


ITEMS = ("VAR_POP(cost)", "VAR_SAMP(age)", "VARIANCE(smoker)", "STDDEV(cost)", "STDDEV_POP(gain)", "STDDEV_SAMP(age)",
         "COVAR_POP(age, cost)", "COVAR_SAMP(cost, age)", "COVAR_POP(age, age)", "CORR(age, cost)", "CORR(gain, age)",
         "REGR_SLOPE(cost, age)", "REGR_INTERCEPT(cost, age)", "REGR_R2(cost, age)", "REGR_COUNT(cost, age)",
         "REGR_AVGX(cost, age)", "REGR_AVGY(cost, age)", "VAR_POP(age * 2 - 1)", "CORR(cost + 0.5, ABS(gain))",
         "AVG(age > 30)", "SUM(age > 30)", "COUNT_IF(age > 30)", "VAR_SAMP(age) FILTER (WHERE smoker)",
         "CORR(age, cost) FILTER (WHERE age > 20)", "STDDEV(age) / AVG(age)")
KINDS = {"integer": "integer", "boolean": "integer", "date": "integer", "timestamp": "integer", "float": "float"}


def made_up(rows: int, seed: int = 1) -> dict[str, Any]:
    """A table of visits, each of another patient, some values missing, cost rising with age."""
    luck = random.Random(seed)
    found: dict[str, list[Any]] = {f"c{n}": [None] * rows for n in range(len(VISITS.columns))}
    for n in range(rows):
        age = luck.choice([None, *[luck.randint(0, 110)] * 9])
        cost = luck.choice([None, *[(age or 50) * 90 + luck.uniform(0, 10000)] * 9])
        values = {0: f"p{n}", 1: luck.choice(["Hull", "Leeds"]), 2: age, 3: cost, 4: luck.uniform(-0.3, 0.7),
                  7: luck.choice([0, 1, None])}
        for place, value in values.items():
            found[f"c{place}"][n] = value
    return found


def test_at_a_huge_price_each_is_what_plain_sql_says():
    import duckdb

    table = made_up(150)
    kinds = {f"c{n}": KINDS.get(column.type, "text") for n, column in enumerate(VISITS.columns)}
    text = "SELECT " + ", ".join(f"{item} AS a{n}" for n, item in enumerate(ITEMS)) + " FROM visits"
    quote = quoted(text + " WHERE gain > -0.2", F(10) ** 15)
    exact = DuckDB.from_tables({"t0": table}, {"t0": kinds}).evaluate(quote.lowered.core)
    by_reference = Reference({"t0": table}).evaluate(quote.lowered.core)
    assert exact.open_for_release() == by_reference.open_for_release()
    ((*cells,),) = finish(quote, release(quote, exact, SystemEntropy()))
    plain = duckdb.connect()
    plain.execute("CREATE TABLE visits (age BIGINT, cost DOUBLE, gain DOUBLE, smoker BIGINT)")
    plain.executemany("INSERT INTO visits VALUES (?, ?, ?, ?)",
                      list(zip(table["c2"], table["c3"], table["c4"], table["c7"], strict=True)))
    wanted = text.replace("AVG(age > 30)", "AVG((age > 30)::INT)").replace("SUM(age > 30)", "SUM((age > 30)::INT)")
    told = plain.execute(wanted + " WHERE gain > -0.2").fetchone() or ()
    for item, cell, value in zip(ITEMS, cells, told, strict=True):
        assert cell.value == pytest.approx(float(value), rel=1e-9), item


# --- coverage -------------------------------------------------------------------------------------------------------


def told_of(rows: int, spread: int, luck: random.Random) -> dict[str, Any]:
    """Rows about the middle of the bounds or at an end, cost rising with age."""
    found: dict[str, list[Any]] = {f"c{n}": [None] * rows for n in range(len(VISITS.columns))}
    for n in range(rows):
        age = min(110, max(0, 100 + luck.randint(-spread, spread)))
        found["c0"][n], found["c1"][n] = f"p{n}", "Leeds"
        found["c2"][n], found["c3"][n] = age, min(20000.0, max(0.0, age * 150 + luck.uniform(-1, 1) * 100 * spread))
    return found


COVERED = ("VAR_POP(age)", "VAR_SAMP(cost)", "STDDEV(age)", "COVAR_SAMP(cost, age)", "CORR(cost, age)",
           "REGR_SLOPE(cost, age)", "REGR_INTERCEPT(cost, age)", "REGR_R2(cost, age)", "REGR_AVGX(cost, age)")


def most_misses(draws: int, share: float, chance: float) -> int:
    """The least m with P(Bin(draws, share) > m) <= chance."""
    left = 1.0
    for m in range(draws + 1):
        left -= math.comb(draws, m) * share**m * (1 - share) ** (draws - m)
        if left <= chance:
            return m
    return draws


def cover(rows: int, spread: int, epsilon: F, draws: int) -> None:
    """False alarm: at most 1e-12 for each of the columns, were each bar passed with probability .2 exactly."""
    quote = quoted("SELECT " + ", ".join(f"{item} AS a{n}" for n, item in enumerate(COVERED)) + " FROM visits", epsilon)
    quote = replace(quote, confidence=F(4, 5))  # a low one shows a miss sooner
    exact = Reference({"t0": told_of(rows, spread, random.Random(rows))}).evaluate(quote.lowered.core)
    misses, told = [0] * len(COVERED), [0] * len(COVERED)
    rows_of = tuple(map(tuple, exact.open_for_release()))
    (true,) = finish(quote, seen(quote, tuple(tuple(combine(rows_of, one)) for one in quote.lowered.combinations)))
    for _ in range(draws):
        (found,) = finish(quote, release(quote, exact, SystemEntropy()))
        for n, (cell, plain) in enumerate(zip(found, true, strict=True)):
            if cell.low is not None and cell.high is not None and plain.value is not None:
                told[n] += 1
                misses[n] += not cell.low <= plain.value <= cell.high
    assert max(misses) <= most_misses(draws, 0.2, 1e-12), dict(zip(COVERED, misses, strict=True))
    assert all(told[:4]), "no bars to look at"


@pytest.mark.parametrize("epsilon", [F(1), F(30), F(10**4)], ids=lambda epsilon: f"epsilon {epsilon}")
@pytest.mark.parametrize("spread", [0, 3, 60])
@pytest.mark.parametrize("rows", [1, 20, 400])
def test_bars_cover_as_often_as_they_say(rows, spread, epsilon, tries):
    cover(rows, spread, epsilon, tries)


def test_a_bar_far_too_short_would_be_noticed(monkeypatch):
    """Else the law above would prove nothing. A variance passes a thirtieth of its bar in about nine draws of ten:
    that no more than the limit of 45 of 80 do has a probability below 1e-9."""
    honest = Interval.around
    monkeypatch.setattr(Interval, "around", classmethod(lambda cls, value, error: honest(value, error / 30)))
    with pytest.raises(AssertionError):
        cover(100, 60, F(10), 80)
