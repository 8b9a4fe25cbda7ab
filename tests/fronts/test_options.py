"""A question's own price and caps: in SQL, in data frames, as keywords, and on the command line; one meaning."""

from __future__ import annotations

import pytest
from questions import CATALOG

import dpcurator as dp
from dpcurator.errors import Refusal
from dpcurator.fronts.options import without_options
from dpcurator.fronts.sql import parse
from dpcurator.language.question import Caps
from dpcurator.language.render import render
from receipts import curator

TEXT = "SELECT city, COUNT(*) AS n FROM visits GROUP BY city"
WITH = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS ({}) city, COUNT(*) AS n FROM visits GROUP BY city"


def test_one_meaning_whichever_way_it_is_said():
    made = curator()
    plans = [
        made.quote(WITH.format("max_total = 7"), epsilon=1).plan,
        made.quote(TEXT, epsilon=1, max_total=7).plan,
        made.quote(TEXT, epsilon=1, max_total="7").plan,
        made.table("visits").caps(max_total=7).group_by("city").agg(n=dp.count()).quote(epsilon=1).plan,
        made.quote_batch([TEXT], epsilon=1, max_total=7).asked[0].plan,
    ]
    assert all(plan == plans[0] for plan in plans)
    assert plans[0] != made.quote(TEXT, epsilon=1).plan
    assert (plans[0].source.max_rows, plans[0].source.max_total) == (7, 7)


def test_smaller_caps_are_less_noise_and_another_request():
    made = curator()
    wide, narrow = made.quote(TEXT, epsilon=1, max_total=40), made.quote(TEXT, epsilon=1, max_total=2)
    assert narrow.priced[0].reading.l1 * 20 == wide.priced[0].reading.l1
    assert made.request(wide).plan != made.request(narrow).plan
    first, second = made.ask(TEXT, epsilon="0.1", max_total=2), made.ask(TEXT, epsilon="0.1", max_total=3)
    assert not second.repeated
    assert made.ask(TEXT, epsilon="0.1", max_total=2).repeated
    assert dp.verify(first.receipt, catalog=made.catalog, ledger=made.ledger).holds
    assert "2 rows" in " ".join(first.notes)


def test_a_price_in_the_question_is_its_price():
    made = curator()
    assert made.quote(WITH.format("epsilon = 0.1, max_groups_contributed = 2, max_rows = 3")).epsilon * 10 == 1
    assert made.ask(WITH.format("EPSILON = 1/10")).cost * 10 == 1
    with pytest.raises(Refusal, match="says its price"):
        made.quote(WITH.format("epsilon = 0.1"), epsilon=1)
    with pytest.raises(Refusal, match="no price of its own"):
        made.quote_batch([WITH.format("epsilon = 0.1")], epsilon=1)
    with pytest.raises(Refusal, match="says its caps"):
        made.quote(WITH.format("max_total = 3"), epsilon=1, max_total=4)


@pytest.mark.parametrize(("options", "words", "cure"), [
    ("max_totals = 3", "no option max_totals", "max_total"),
    ("privacy_unit_column = patient", "no option privacy_unit_column", "leave it out"),
    ("max_total 3", "a name and a number", "Write it as in"),
    ("max_total = 3, max_total = 4", "given twice", "once"),
    ("max_groups = 2, max_groups_contributed = 3", "given twice", "once"),
    ("max_total = 0", "max_total must be", ""),
    ("max_total = many", "max_total", ""),
])
def test_what_is_no_option_is_told_with_its_cure(options, words, cure):
    with pytest.raises(Refusal, match=words) as refused:
        parse(WITH.format(options))
    assert cure in refused.value.cure


def test_places_in_messages_stay_right():
    text = WITH.format("max_total = 3").replace("COUNT(*)", "COUNTS(*)")
    with pytest.raises(Refusal) as refused:
        curator().quote(text, epsilon=1)
    assert f"column {text.index('COUNTS') + 1}" in refused.value.where
    blanked, options = without_options(text)
    assert len(blanked) == len(text)
    assert options.caps == Caps(max_total=3)


def test_the_sql_of_a_frame_says_its_caps_and_means_the_same():
    made = curator()
    asked = made.table("visits").caps(max_rows=2, max_groups=3).group_by("city").agg(n=dp.count())
    assert "OPTIONS (max_rows = 2, max_groups = 3)" in asked.sql()
    assert made.plan(asked.sql()) == asked.plan()
    assert render(parse(asked.sql())) == asked.sql()


def test_a_plain_question_is_read_as_before():
    quoted = "SELECT 'WITH DIFFERENTIAL_PRIVACY' || city, COUNT(*) FROM visits"
    for text in (TEXT, "select count(*) from visits", quoted):
        assert without_options(text)[0] == text
    assert CATALOG.tables[0].max_total is None


OPTIONS = "WITH DIFFERENTIAL_PRIVACY OPTIONS (max_total = 7)"
GIVEN = "WITH x AS (SELECT city, cost FROM visits WHERE ')' <> 'WITH DIFFERENTIAL_PRIVACY') "
INNER = "SELECT city, COUNT(*) AS n FROM (SELECT city FROM visits) GROUP BY city"


@pytest.mark.parametrize(("text", "plain"), [
    (f"{GIVEN}SELECT {OPTIONS} city, COUNT(*) AS n FROM x GROUP BY city",
     f"{GIVEN}SELECT city, COUNT(*) AS n FROM x GROUP BY city"),
    (f"{GIVEN}, y AS (SELECT * FROM x)\n-- SELECT {OPTIONS}\nselect /* of ( */ {OPTIONS.lower()} COUNT(*) AS n FROM y",
     f"{GIVEN}, y AS (SELECT * FROM x) SELECT COUNT(*) AS n FROM y"),
    (INNER.replace("SELECT", f"SELECT {OPTIONS}", 1), INNER),
])
def test_options_stand_after_the_select_that_asks_behind_a_with_too(text, plain):
    made = curator()
    assert made.quote(text, epsilon=1).plan == made.quote(plain, epsilon=1, max_total=7).plan
    blanked, options = without_options(text)
    assert (len(blanked), options.caps) == (len(text), Caps(max_total=7))


@pytest.mark.parametrize("text", [
    INNER.replace("(SELECT", f"(SELECT {OPTIONS}"),
    f"WITH x AS (SELECT {OPTIONS} city FROM visits) SELECT city, COUNT(*) AS n FROM x GROUP BY city",
    INNER.replace("(SELECT", f"(SELECT {OPTIONS}").replace("SELECT", f"SELECT {OPTIONS}", 1),
    "SELECT COUNT(*) AS n FROM visits WHERE patient IN (SELECT WITH DIFFERENTIAL_PRIVACY patient FROM visits)",
])
def test_options_of_a_subquery_are_refused_and_the_cure_is_accepted(text):
    made = curator()
    with pytest.raises(Refusal, match="a subquery has no price") as refused:
        made.quote(text, epsilon=1)
    (mend,) = refused.value.mends
    inner = text.index("(SELECT") + len("(SELECT ") + 1
    assert refused.value.where == f"line 1, column {inner}"
    bare = made.quote(without_options(mend.put)[0], epsilon=1, max_total=7 if "max_total" in text else None)
    assert made.quote(mend.put, epsilon=1).plan == bare.plan
