"""Totals of an answer: sums of the noisy numbers that were paid for, free, with the error bar of the sum."""

from __future__ import annotations

import pickle
from fractions import Fraction as F

import pytest
from house import ROWS, Counted, catalog, opened, spent

import dpcurator as dp
from dpcurator.mechanisms.noise.sums import error_of_sum
from dpcurator.pricing.priced import law_of
from dpcurator.release.totals import planned

CAPS = {"max_total": 40, "max_rows": None, "max_groups": None}  # the clinic's people have two rows each: nothing is cut
GROUPED = ("SELECT city, seen, COUNT(*) AS n, COUNT(*) / 2 AS half, SUM(age) AS years, AVG(age) AS age, 1 AS one "
           "FROM visits GROUP BY city, seen")
CITIES = ("Hull", "Leeds", "York")


@pytest.fixture
def curator(tmp_path):
    return opened(tmp_path, epsilon=10**9, **CAPS)


def test_they_are_plain_sums_where_there_is_next_to_no_noise(curator):
    answer = curator.ask(GROUPED, epsilon=10**8)
    for by, pick in (([], ()), (["city"], (1,)), (["seen"], (4,)), (["seen", "city"], (4, 1))):
        found = {tuple(row[: len(by)]): row[len(by) :] for row in answer.totals(by=by)}
        wanted: dict[tuple, list[int]] = {}
        for row in ROWS:
            if row[1] in CITIES:
                wanted.setdefault(tuple(row[place] for place in pick), []).append(row[2])
        assert sorted(found) == sorted(wanted)
        for key, ages in wanted.items():
            n, half, years, age = found[key]
            assert (n, years) == (len(ages), sum(ages))
            assert abs(half - n / 2) < 1e-3
            assert abs(age - years / n) < 1e-3


def test_they_are_free_and_their_bars_are_those_of_sums_of_independent_noise(curator, monkeypatch):
    answer = curator.ask(GROUPED, epsilon=5)
    entropy = curator.entropy = Counted()
    monkeypatch.setattr(curator, "engine", lambda: pytest.fail("the data was looked at"))
    before = spent(curator)
    total = answer.totals("n", "years", by=["city"])
    assert (spent(curator), entropy.asked, total.cost) == (before, 0, 0)
    noisy = {one.ask.what: (one, values) for one, values in
             zip(answer.parts.quote.priced, answer.parts.noisy.readings, strict=True)}
    for column, what in (("n", "rows"), ("years", "values")):
        one, values = noisy[what]
        bar = error_of_sum(law_of(one), 2, F(1, 20)) * one.reading.unit
        for at in range(3):
            exact = (values[2 * at] + values[2 * at + 1]) * one.reading.unit
            shown = total.cells[at][1 if column == "n" else 2]
            assert abs(shown.value - exact) <= F(1, 2)
            assert bar <= F(shown.error) <= bar + F(1, 2) + F(1, 10**6)
            alone = answer.cells[2 * at][2 if column == "n" else 4].error
            assert alone < shown.error < 2 * alone  # less than if the two bars were added
    assert total.columns == ("city", "n", "years")
    assert [row[0] for row in total] == list(CITIES)
    assert "2 groups, added up" in str(total)
    assert f"totals of receipt {answer.receipt_id}: nothing was spent" in str(total)
    assert total.as_json()["totals_of"] == answer.receipt_id
    assert not total.public
    with pytest.raises(dp.Refusal, match="without the noisy numbers"):
        total.totals(by=[])


def test_an_answer_has_the_same_totals_when_it_is_read_back_or_made_of_what_was_paid(curator, tmp_path):
    first = curator.ask(GROUPED, epsilon=5)
    wanted = first.totals("n", by=["seen"]).rows
    other = dp.open(catalog(epsilon=10**9, **CAPS), directory=tmp_path)
    other.cut = False
    assert other.ask(GROUPED, epsilon=5).totals("n", by=["seen"]).rows == wanted
    renamed = "SELECT seen AS s, COUNT(*) AS n FROM visits GROUP BY city, seen"
    free = other.ask(renamed, epsilon=1)
    assert free.cost == 0
    assert free.totals("n", by=["s"]).rows == wanted
    assert [n for _, n in free.totals("n", by=["city"])] == [n for _, n in first.totals("n", by=["city"])]
    assert pickle.loads(pickle.dumps(first)).totals("n", by=["seen"]).rows == wanted


def test_batches_and_rehearsals_have_totals(curator):
    questions = ["SELECT city, COUNT(*) AS n FROM visits GROUP BY city", "SELECT COUNT(*) AS n FROM visits WHERE seen",
                 "SELECT COUNT(*) AS n FROM visits WHERE NOT seen"]
    for answers in (curator.batch(questions, epsilon=10**6), curator.batch(questions, epsilon=10**6)):
        for answer in answers[1:3]:  # planned as one grouping: each is of its own group alone
            assert answer.totals(by=[]).rows == answer.rows
        assert answers[0].totals(by=[]).rows == [(sum(n for _, n in answers[0]),)]
    made_up = curator.rehearse(GROUPED, epsilon=1, max_total=1)
    total = made_up.totals("n", by=["city"])
    assert total.made_up
    assert str(total).startswith("MADE UP")


def test_having_on_keys_chooses_groups_and_what_is_shown_does_not(curator):
    answer = curator.ask(GROUPED, epsilon=10**7)
    by_city = dict(answer.totals("n", by=["city"]).rows)
    for tail, cities, said in (
        (" HAVING city <> 'York'", ("Hull", "Leeds"), False), (" HAVING COUNT(*) > 10**9", CITIES, True),
        (" HAVING city < 'York' AND COUNT(*) > 9", ("Hull", "Leeds"), True), (" LIMIT 1", CITIES, True),
        (" ORDER BY n", CITIES, False), (" HAVING city = 'Bath'", (), False),
    ):
        asked = GROUPED + tail.replace("10**9", "1000000000")
        total = curator.ask(asked, epsilon=10**7).totals("n", by=["city"])
        assert dict(total.rows) == {city: by_city[city] for city in cities}
        assert ("leaves out of the answer" in str(total)) == said


def test_units_are_added_up_only_where_each_is_in_one_group(tmp_path):
    question = "SELECT city, seen, COUNT(*) AS n, COUNT(DISTINCT who) AS people FROM visits GROUP BY city, seen"
    curator = opened(tmp_path / "a", epsilon=10**9, **CAPS)
    answer = curator.ask(question, epsilon=10**8)
    with pytest.raises(dp.Refusal, match="people has no total over city: people who are in several") as refused:
        answer.totals("people", by=["seen"])
    assert "per_unit = 1" in refused.value.cure
    kept = answer.totals(by=["city"])
    assert kept.columns == ("city", "n")
    assert any(note.startswith("left out: people has no total over seen") for note in kept.notes)
    assert answer.totals("people", by=["city", "seen"]).rows == [(row[0], row[1], row[3]) for row in answer]
    only = curator.ask(question.replace("COUNT(*) AS n, ", ""), epsilon=10**8)
    with pytest.raises(dp.Refusal, match="has no total over city and seen"):
        only.totals(by=[])
    declared = {"city": {"type": "text", "keys": list(CITIES), "per_unit": 1}}  # the cure
    rows = [(row[0], CITIES[int(row[0][1:]) % 3], *row[2:]) for row in ROWS]
    cured = opened(tmp_path / "b", rows, epsilon=10**9, columns=declared, **CAPS)
    answer = cured.ask(question, epsilon=10**8)
    for seen, people in answer.totals("people", by=["seen"]):
        assert people == len({row[0] for row in rows if row[4] == seen})


def test_what_has_no_total_is_refused_with_a_cure(curator, tmp_path):
    answer = curator.ask("SELECT city, COUNT(*) AS n, COUNT(*) * 2 AS twice FROM visits GROUP BY city", epsilon=1)
    for columns, by, words, cure in (
        (("m",), [], "no noisy column 'm'", "n, twice"), (("city",), [], "no noisy column 'city'", "n, twice"),
        ((), ["seen"], "not grouped by 'seen'", "grouped by city"), (("n",), "city", "by is a list", 'by=["city"]'),
    ):
        with pytest.raises(dp.Refusal, match=words) as refused:
            answer.totals(*columns, by=by)
        assert cure in refused.value.cure
    keyed = curator.ask("SELECT dose, COUNT(*) + dose AS n FROM visits GROUP BY dose", epsilon=1)
    with pytest.raises(dp.Refusal, match="n uses dose, over which the total is"):
        keyed.totals(by=[])
    unknown = catalog(columns={"city": {"type": "text", "keys": "unknown"}}, delta="1e-6", max_groups=1)
    unknown["curator"]["salt"] = "0" * 32
    quote = dp.rehearsing(unknown).quote("SELECT city, COUNT(*) AS n FROM visits GROUP BY city", epsilon=5)
    with pytest.raises(dp.Refusal, match="groups that are not shown would be missing"):
        planned(quote, (), [])
