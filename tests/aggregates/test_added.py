"""What adding an aggregate costs: its record, and an entry of AGGREGATES. The rest reads that tuple."""

from __future__ import annotations

from fractions import Fraction as F

import pytest
from questions import CATALOG

import dpcurator as dp
import dpcurator.aggregates as room
from dpcurator.aggregates import AGGREGATES, Aggregate
from dpcurator.aggregates.aggregate import clamped
from dpcurator.errors import Refusal
from dpcurator.fronts.columns import aggregate
from dpcurator.fronts.frame import start
from dpcurator.fronts.sql import parse
from dpcurator.numbers.interval import Interval
from dpcurator.plan.bind import bind
from dpcurator.plan.nodes import Ask
from dpcurator.pricing.bars import bars
from dpcurator.pricing.quote import price
from dpcurator.release.finish import finish
from dpcurator.release.notes import notes
from dpcurator.release.release import Noisy

HALF = Interval.exactly(F(1, 2))
EXCESS = Aggregate(  # by how much values pass the middle of their bounds, summed
    "EXCESS", "number", lambda column, reach=None: (Ask("centred", column),),
    lambda readings, column, reach=None: readings[0] * HALF,
    lambda errors, width, column, reach, rows: errors[0] / 2,
    clamped, lambda column: "number", "dp.excess", "the sum of how far values are above the middle of their bounds",
)


@pytest.fixture
def added(monkeypatch):
    monkeypatch.setattr(room, "AGGREGATES", (*AGGREGATES, EXCESS))


def planned(question):
    return bind(question, CATALOG, room.AGGREGATES)


@pytest.mark.parametrize("text", ["EXCESS(age)", "excess(AGE)", "EXCESS(age) FILTER (WHERE smoker)", "-EXCESS(age)"])
def test_sql_has_it_with_its_filter_bar_and_notes(added, text):
    plan = planned(parse(f"SELECT {text} FROM visits"))
    quote = price(plan, F(1), CATALOG)
    (bar,), (paid,) = bars(quote), quote.priced
    assert (bar.error, bar.rows) == (paid.error(F(5, 100)) / 2, None)
    (note,) = notes(plan, quote.reach, quote.confidence, CATALOG.protects)
    assert f"{plan.calls[0].column.name} is clamped to [" in note
    ((cell,),) = finish(quote, Noisy(quote.lowered.keys, ((12,),)))
    assert abs(F(cell.value)) == 6 * paid.reading.unit
    assert F(cell.error) == bar.error


@pytest.mark.parametrize(
    "text",
    ["COUNT(*) FROM visits WHERE EXCESS(age) > 3", "SUM(EXCESS(age)) FROM visits", "EXCESS(*) FROM visits",
     "EXCESS(DISTINCT patient) FROM visits", "EXCESS(note) FROM visits", "EXCESS(age, 2) FROM visits"],
)
def test_sql_refuses_what_it_refuses_of_all(added, text):
    with pytest.raises(Refusal) as refused:
        planned(parse(f"SELECT {text}"))
    assert "EXCESS" in str(refused.value) or "DISTINCT" in str(refused.value)


def test_a_frame_has_it_with_one_function(added):
    frame = start(None, "visits", CATALOG.tables).group_by("city").agg(e=aggregate("EXCESS", "age") / dp.count())
    assert planned(frame.question()) == planned(parse(
        'SELECT city, EXCESS(age) / COUNT(*) AS e FROM visits GROUP BY city'
    ))
    with pytest.raises(Refusal, match=r"dp\.excess"):
        dp.sum(aggregate("EXCESS", "age"))


def test_without_an_entry_it_is_no_function():
    with pytest.raises(Refusal, match="the function EXCESS is not available"):
        planned(parse("SELECT EXCESS(age) FROM visits"))
