"""D8: dates that nobody bounds are refused where their far ends decide noise or groups; each cure works."""

from __future__ import annotations

import pytest
from cures import asked, declared, mended, refusal

from dpcurator.language.rows import Compute, Constant, Field
from dpcurator.plan.undated import _outside_clips

ONE = "SELECT COUNT(*) AS n, {} FROM visits"
BY = "SELECT {0}, COUNT(*) FROM visits GROUP BY {0}"
PER_PERSON = "SELECT {} FROM (SELECT patient_id, {} AS c FROM visits{}) AS p"

REFUSED = [
    ONE.format("SUM(YEAR(born))"), ONE.format("AVG(YEAR(at) - 2000)"),
    ONE.format("SUM(CLIP(YEAR(born), 2000, 2030) + YEAR(born))"), ONE.format("AVG(LEAST(YEAR(born), 3000))"),
    ONE.format("SUM(CASE WHEN smoker THEN YEAR(born) ELSE 0 END)"),
    BY.format("YEAR(born)"), BY.format("YEAR(at) - YEAR(day)"),
    "SELECT YEAR(v.born) AS y, COUNT(*) FROM visits AS v GROUP BY y, city",
    "SELECT YEAR(born) AS y, COUNT(*) FROM visits WHERE born > '2000-01-01' GROUP BY 1 ORDER BY y",
    PER_PERSON.format("AVG(c)", "YEAR(born)", ""),
    PER_PERSON.format("AVG(c)", "MAX(YEAR(at))", " GROUP BY patient_id"),
    PER_PERSON.format("c, COUNT(*)", "MAX(YEAR(at))", " GROUP BY patient_id") + " GROUP BY c",
]
ANSWERED = [
    ONE.format("COUNT(born)"), ONE.format("COUNT(YEAR(born))"), ONE.format("SUM(MONTH(born))"),
    ONE.format("AVG(CLIP(DATE_DIFF('day', born, day), 0, 200000))"), ONE.format("SUM(YEAR(day))"),
    ONE.format("SUM(LEAST(GREATEST(YEAR(born), 1900), 2030))"),
    ONE.format("SUM(CASE WHEN born < '2000-01-01' THEN 1 ELSE 0 END)"),
    ONE.format("SUM(YEAR(CLIP(born, DATE '0001-01-01', DATE '9999-12-31')))"),
    BY.format("MONTH(born)"), BY.format("YEAR(day)"), BY.format("born < '2000-01-01'"),
    PER_PERSON.format("COUNT(c)", "YEAR(born)", ""), PER_PERSON.format("AVG(CLIP(c, 1900, 2030))", "YEAR(born)", ""),
]


@pytest.mark.parametrize("text", REFUSED)
def test_d8_a_date_without_bounds_is_refused_and_each_cure_works(text):
    refused = refusal(text, declared())
    assert refused is not None
    assert "years 1 to 9999" in refused.what
    assert "no bounds" in refused.what
    assert refused.mends or "GROUP BY c" in text  # there CLIP is put in two places
    for mend in refused.mends:
        assert mend.put in refused.cure
        assert asked(*mended(text, declared(), refused, mend)).calls or "GROUP BY" in text


def test_a_column_in_a_clip_and_outside_one_is_outside_one_though_it_is_one_object():
    day = Field(3, "integer")
    ends = (Constant(0, "integer"), Constant(9, "integer"))
    clipped = Compute("clip", (day, *ends), "integer")
    assert list(_outside_clips(Compute("add_i", (clipped, day), "integer"))) == [3]
    assert list(_outside_clips(Compute("add_i", (clipped, clipped), "integer"))) == []


@pytest.mark.parametrize("text", ANSWERED)
def test_d8_what_does_not_rest_on_far_days_is_answered(text):
    assert refusal(text, declared()) is None
