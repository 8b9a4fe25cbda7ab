"""The aggregates: the tuple is the folder, each entry is complete, and finishing is worked by hand."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction as F
from pathlib import Path

import pytest

import dpcurator.aggregates as room
from dpcurator.aggregates import AGGREGATES, Aggregate, rule_of
from dpcurator.errors import Refusal
from dpcurator.language.rows import Field
from dpcurator.numbers.interval import Interval
from dpcurator.plan.nodes import AggregateCall, Ask, Measured
from dpcurator.plan.stability import ASK_RULES, Reach

X = Measured("x", Field(0, "float"), "float", "float", F(10), F(20))
SEVEN = Measured("x", Field(0, "float"), "float", "float", F(7), F(7))
ZERO = Measured("x", Field(0, "integer"), "integer", "integer", F(0), F(0))


PAIR = replace(X, beside=replace(X, name="z", part=Field(1, "float")))


COLUMNS = {"column": X, "values": X, "number": X, "ordered": X, "pair": PAIR}


def around(value, error) -> Interval:
    return Interval.around(F(value), F(error))


def test_the_tuple_is_the_folder():
    folder = {path.stem for path in Path(room.__file__).parent.glob("*.py")} - {"__init__", "aggregate"}
    assert folder == {"count", "sum", "average", "moments", "pairs", "quantile", "most_common"}
    listed = set()
    for name in folder:
        module = __import__(f"dpcurator.aggregates.{name}", fromlist=[name])
        made = [one for value in vars(module).values() for one in (value if isinstance(value, tuple) else (value,))]
        listed |= {id(value) for value in made if isinstance(value, Aggregate)}
    assert listed == {id(rule) for rule in AGGREGATES}
    specified = {path.stem for path in (Path(__file__).parent.parent / "plans").glob("*.sql")}
    assert folder <= specified  # tests/plans has a specification file of each


@pytest.mark.parametrize("rule", AGGREGATES, ids=lambda rule: f"{rule.function}-{rule.argument}")
def test_every_aggregate_is_complete(rule):
    column = COLUMNS.get(rule.argument)
    asks = rule.asks(column)
    assert asks
    assert {ask.what for ask in asks} <= {*ASK_RULES, "quantile"}
    assert rule.shown(column) in ("whole", "number")
    assert rule.meaning
    function = f"{rule.function} DISTINCT" if rule.argument in ("unit", "values") else rule.function
    level, named = F(1, 2) if rule.argument == "ordered" else None, (1, 3) if rule.names else (None, None)
    assert rule_of(AggregateCall(function, X if rule.names and column else column, level, *named)) is rule
    for value in (0, 1, -1, 10**400, -(10**400), F(1, 3)):
        made = rule.finish(tuple(around(value, 5) for _ in asks), column)
        assert made.value is not None or rule.argument == "pair"  # of a variance of 0
        assert made.value is None or made.low is None or made.low <= made.value <= made.high


def test_no_two_aggregates_answer_one_call():
    assert len({(rule.function, rule.argument) for rule in AGGREGATES}) == len(AGGREGATES)


@pytest.mark.parametrize(
    "call",
    [("MEDIAN", X), ("SUM", None), ("COUNT DISTINCT UNIT", None), ("AVG DISTINCT", None), ("", X), ("AVG", X, F(1, 2)),
     ("COUNT", None, F(1, 2)), ("COUNT DISTINCT", None, F(1, 2)), ("COUNT DISTINCT", X, F(1, 2)), ("QUANTILE", X),
     ("CORR DISTINCT", COLUMNS["pair"]), ("COUNT DISTINCT", COLUMNS["pair"]), ("QUANTILE", COLUMNS["pair"], F(1, 2)),
     ("TOP_K", None), ("COUNT", None, None, 1, 3), ("TOP_K", X), ("TOP_K DISTINCT", X, None, 1, 3)],
)
def test_a_call_of_no_aggregate_is_refused(call):
    with pytest.raises(Refusal, match="not known"):
        rule_of(AggregateCall(*call))


def finish(function: str, column: Measured, *readings: Interval) -> Interval:
    return rule_of(AggregateCall(function, column)).finish(readings, column)


def test_an_average_by_hand():
    """15 + 12/(2*3) = 17; over the box 15 + [10, 14]/(2 [2, 4]) = [16.25, 18.5]."""
    assert finish("AVG", X, around(12, 2), around(3, 1)) == Interval(F(17), F(65, 4), F(37, 2))
    assert finish("AVG", X, around(12, 2), around(1, 1)) == Interval(F(20), F(10), F(20))  # the count may be 0
    assert finish("AVG", X, around(12, 2), around(0, 1)) == Interval(F(15), F(10), F(20))
    assert finish("AVG", X, around(-1000, 2), around(3, 1)) == Interval(F(10), F(10), F(10))
    assert finish("AVG", SEVEN) == Interval.exactly(F(7))


def test_sums_and_counts_are_their_reading():
    assert finish("SUM", X, around(12, 2)) == around(12, 2)
    assert finish("SUM", ZERO) == Interval.exactly(F(0))
    assert finish("COUNT", X, around(-3, 2)) == around(-3, 2)  # unbiased: not cut at 0


@pytest.mark.parametrize(
    ("function", "column", "asks"),
    [
        ("SUM", X, (Ask("values", X),)), ("SUM", SEVEN, (Ask("values", SEVEN),)), ("SUM", ZERO, ()), ("AVG", SEVEN, ()),
        ("AVG", ZERO, ()), ("AVG", X, (Ask("centred", X), Ask("present", X))), ("COUNT", ZERO, (Ask("present", ZERO),)),
    ],
)
def test_what_is_constant_is_not_asked(function, column, asks):
    assert rule_of(AggregateCall(function, column)).asks(column) == asks


# --- the public number of units -----------------------------------------------------------------------------------

WHOLE = Reach(1, 1, 1, 1, (), "replace-one", 4, whole=True)
ALWAYS = replace(X, filled=True)
CONSTANT = replace(SEVEN, filled=True)


@pytest.mark.parametrize(
    ("function", "column", "asks", "value"),
    [
        ("COUNT", None, (), 4), ("COUNT DISTINCT", None, (), 4), ("COUNT", ALWAYS, (), 4), ("SUM", CONSTANT, (), 28),
        ("AVG", CONSTANT, (), 7), ("SUM", ZERO, (), 0),
        ("SUM", ALWAYS, (Ask("values", ALWAYS),), None), ("AVG", ALWAYS, (Ask("values", ALWAYS),), None),
        # a column that may be missing has no public number of values
        ("COUNT", X, (Ask("present", X),), None), ("AVG", X, (Ask("centred", X), Ask("present", X)), None),
        ("SUM", SEVEN, (Ask("values", SEVEN),), None),
    ],
)
def test_where_each_unit_is_one_row_its_number_is_public(function, column, asks, value):
    rule = rule_of(AggregateCall(function, column))
    assert rule.asks(column, WHOLE) == asks
    if value is not None:
        assert rule.finish((), column, WHOLE) == Interval.exactly(F(value))


@pytest.mark.parametrize("reach", [None, replace(WHOLE, whole=False), replace(WHOLE, units=None)])
@pytest.mark.parametrize("rule", AGGREGATES, ids=lambda rule: f"{rule.function}-{rule.argument}")
def test_elsewhere_every_number_is_paid_for(rule, reach):
    pair = replace(ALWAYS, beside=replace(PAIR.beside, filled=True))
    column = {"column": ALWAYS, "number": ALWAYS, "ordered": ALWAYS, "pair": pair}.get(rule.argument)
    assert rule.asks(column, reach) == rule.asks(column)
    readings = tuple(around(3, 1) for _ in rule.asks(column))
    assert rule.finish(readings, column, reach) == rule.finish(readings, column)


def test_an_average_of_a_public_number_of_values_by_hand():
    """(60 +- 2) / 4 = 15 +- 0.5; clamped to [10, 20], also when five rows are there and n says four."""
    average = rule_of(AggregateCall("AVG", ALWAYS))
    assert average.finish((around(60, 2),), ALWAYS, WHOLE) == Interval(F(15), F(29, 2), F(31, 2))
    assert average.finish((around(100, 2),), ALWAYS, WHOLE) == Interval(F(20), F(20), F(20))
    assert average.finish((around(-100, 2),), ALWAYS, WHOLE) == Interval(F(10), F(10), F(10))


def test_an_average_without_bounds_is_an_error():
    with pytest.raises(TypeError, match="bounds"):
        rule_of(AggregateCall("AVG", X)).asks(Measured("x", Field(0, "float"), "float", "float", None, None))
