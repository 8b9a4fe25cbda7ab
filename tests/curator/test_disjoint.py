"""Questions of a batch that are of different values of one column: one grouping, one charge, bounded as such."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from fractions import Fraction as F
from itertools import pairwise

import heart
import pytest
from questions import CATALOG, VISITS, catalog_with, with_column

from dpcurator.engines.reference import Reference
from dpcurator.errors import Refusal
from dpcurator.plan.identity import rows_and_keys
from dpcurator.pricing.bars import bars
from dpcurator.pricing.quote import price
from dpcurator.receipts.verification import verify
from dpcurator.standalone.verify import steps
from receipts import CATALOGS, KEY, curator, json_of

TOTAL = catalog_with(replace(VISITS, max_rows=None, max_groups=None, max_total=5))  # one cap on rows in all
ONE = catalog_with(with_column(replace(VISITS, max_total=5, max_rows=None, max_groups=None), "city", per_unit=True))


def of(city: str, what: str = "COUNT(*) AS n", more: str = "") -> str:
    return f"SELECT {what} FROM visits WHERE {more}city = '{city}'"


LEEDS, YORK, HULL = of("Leeds"), of("York"), of("Hull")


def test_one_grouping_is_charged_once_and_needs_the_noise_of_one_question():
    made = curator(TOTAL)
    batch = made.quote_batch([LEEDS, YORK], epsilon="0.4")
    alone = made.quote(LEEDS, epsilon="0.4")
    assert len(batch.paid) == 1
    assert (batch.places, batch.payers) == ((0, None), (None, 0))
    assert batch.cost == F(2, 5)
    assert batch.paid[0].priced[0].reading.l1 == alone.priced[0].reading.l1
    assert batch.paid[0].priced[0].mechanism == alone.priced[0].mechanism  # each alone would have had half of it
    assert "one grouping by city with question 2: caps bind over their groups together; paid once, here" in str(batch)
    assert "paid by question 1" in str(batch)
    told = batch.as_json()["questions"]
    assert [(one["paid_by"], one["epsilon"]) for one in told] == [(None, "0.4"), (1, "0")]
    answers = made.batch([LEEDS, YORK], epsilon="0.4")
    assert made.budget().spent == F(2, 5)
    assert [answer.columns for answer in answers] == [("n",), ("n",)]
    assert all("limits bind over all groups of city together, of which this is one" in a.notes[0] for a in answers)
    again = made.batch([YORK, LEEDS], epsilon="0.4")  # in whatever order
    assert made.budget().spent == F(2, 5)
    assert [a.rows for a in again] == [answers[1].rows, answers[0].rows]


@pytest.mark.parametrize("name", ["pure", "approximate", "rho", "replaced"])
def test_all_receipts_hold_in_both_verifiers_and_a_lie_does_not(name):
    made = curator(replace(CATALOGS[name], tables=TOTAL.tables))
    asked = [of(city, "COUNT(*) AS n, SUM(age) AS s") for city in ("Leeds", "York", "Hull")]
    answers = made.batch(asked, spend="10%")
    assert made.budget().spent == made.catalog.budget / 10
    receipts = [json_of(answer.receipt) for answer in answers]
    assert [one["format"] for one in receipts] == [
        "dpcurator receipt 2", "dpcurator shared receipt 1", "dpcurator shared receipt 1"
    ]
    for answer, receipt in zip(answers, receipts, strict=True):
        told = verify(
            receipt, catalog=made.catalog, ledger=made.ledger, public_key=KEY.public, answer=json_of(answer.core_json())
        )
        assert told.holds, str(told)
        assert [one for one in steps(receipt, beside=receipts) if not one[1]] == []
        assert not any("ON TRUST" in words for _, _, words in steps(receipt, beside=receipts))
    other = json_of(answers[2].core_json())  # the group of another question
    assert not verify(receipts[1], catalog=made.catalog, ledger=made.ledger, answer=other).holds


def exact(quote, table):
    return heart.vectors(quote, Reference({"t0": table}).evaluate(quote.lowered.core)).readings


def rows_of(table, keep):
    kept = [at for at, unit in enumerate(table["c0"]) if keep(unit)]
    return {name: [values[at] for at in kept] for name, values in table.items()}


def table_of(luck, size):
    cities = ("Hull", "Leeds", "York")
    own = {f"p{n}": luck.choice(cities) for n in range(6)}
    units = [f"p{luck.randrange(6)}" for _ in range(size)]
    blank = {f"c{n}": [None] * size for n in range(12)}
    # mostly of one city, so that some are in several
    towns = [own[unit] if luck.random() < 0.5 else luck.choice(cities) for unit in units]
    return blank | {"c0": units, "c1": towns, "c2": [luck.choice((0, 110, 60, None)) for _ in range(size)]}


def furthest(catalog, plans, values, tables, claimed):
    """Of each reading the most that one unit adds to all of the questions' own cells together, over that plan's l1."""
    found: list[F] = []
    claims = price(claimed, F(1), catalog).priced
    for table in tables:
        without = rows_of(table, lambda unit: unit != "p0")
        totals: list[int] = []
        for plan, value in zip(plans, values, strict=True):
            quote = price(plan, F(1), catalog)
            own = next(key for key in quote.lowered.keys if key in ((value,), ()))
            moved = [abs(a[own] - b[own]) for a, b in zip(exact(quote, table), exact(quote, without), strict=True)]
            totals = [a + b for a, b in zip(totals or [0] * len(moved), moved, strict=True)]
        found.append(max(F(total, reading.reading.l1) for total, reading in zip(totals, claims, strict=True)))
    return max(found)


@pytest.mark.parametrize("what", ["COUNT(*) AS n", "SUM(age) AS s", "COUNT(age) AS k, AVG(age) AS a"])
@pytest.mark.parametrize("catalog", [CATALOG, TOTAL], ids=["rows and groups", "rows in all"])
def test_one_unit_moves_all_questions_together_by_at_most_the_one_sensitivity(catalog, what):
    luck = random.Random(7)
    values = ("Hull", "Leeds", "York")
    worst = {f"c{n}": [None] * 30 for n in range(12)} | {
        "c0": ["p0"] * 30, "c1": [values[n % 3] for n in range(30)], "c2": [110] * 30
    }
    tables = [worst, *(table_of(luck, 40) for _ in range(25))]
    plans = curator(catalog)._plans([of(value, what) for value in values], {})
    assert len({rows_and_keys(plan) for plan in plans}) == 1
    assert furthest(catalog, plans, values, tables, plans[0]) <= 1
    apart = [curator(catalog).plan(of(value, what)) for value in values]
    assert furthest(catalog, apart, values, tables, plans[0]) > 1  # the control: bounded one by one they need more


def test_the_answers_are_those_of_the_grouping():
    rich = replace(TOTAL, epsilon=F(10) ** 14)
    made = curator(rich)
    rows = made.ask("SELECT city, COUNT(*) AS n FROM visits GROUP BY city", epsilon=F(10) ** 12).rows
    answers = made.batch([HULL, LEEDS, YORK], epsilon=F(10) ** 12)  # every listed city: the same noisy numbers
    assert made.budget().spent == F(10) ** 12
    assert [answer.rows[0][-1] for answer in answers] == [row[-1] for row in rows]
    two = "SELECT city, COUNT(*) AS n FROM visits WHERE city IN ('Leeds', 'York') GROUP BY city"
    by_two = dict(made.ask(two, epsilon=F(10) ** 12).rows)
    told = [answer.rows[0][0] for answer in made.batch([LEEDS, YORK], epsilon=F(10) ** 12)]
    assert told == [by_two["Leeds"], by_two["York"]]


def test_a_question_alone_is_another_reading_and_is_paid():
    """Never one reading under two laws for nothing: alone it is bounded otherwise."""
    made = curator(TOTAL)
    made.batch([LEEDS, YORK], epsilon="0.4")
    assert made.quote(LEEDS, epsilon="0.1").cost == F(1, 10)
    made.ask(LEEDS, epsilon="0.1")
    assert made.budget().spent == F(1, 2)


def test_fresh_draws_anew_for_every_group():
    made = curator(TOTAL)
    first = made.batch([LEEDS, YORK, HULL], epsilon="0.001")
    again = made.batch([LEEDS, YORK, HULL], epsilon="0.001", fresh=True)
    assert made.budget().spent == F(2, 1000)
    assert all(a.rows != b.rows for a, b in zip(first, again, strict=True))  # noise of scale 5,000: alike once in 10^4
    for answer in again:
        assert verify(json_of(answer.receipt), catalog=made.catalog, ledger=made.ledger).holds


def grouped(questions, catalog=TOTAL, **asked):
    """How many questions are paid, for how many asked."""
    return len(curator(catalog)._whole_batch(questions, False, {"epsilon": 1} | asked).paid)


def test_what_is_planned_together():
    assert grouped([LEEDS, YORK, HULL]) == 1
    assert grouped([of("Leeds", more="age > 30 AND "), of("York", more="age > 30 AND ")]) == 1
    by_filter = [f"SELECT COUNT(*) FILTER (WHERE city = '{city}') AS n FROM visits" for city in ("Leeds", "York")]
    assert grouped(by_filter) == 1
    assert grouped([by_filter[0], YORK]) == 1
    by_day = "SELECT day, COUNT(*) FROM visits WHERE smoker = {} GROUP BY day"
    assert grouped([by_day.format("TRUE"), by_day.format("FALSE")]) == 1
    wards = [f"SELECT AVG(age) FROM visits WHERE {n} = ward" for n in (1, 2)]
    assert grouped(wards) == 1
    assert grouped([LEEDS, of("York", "COUNT(*) AS m"), of("Leeds", "COUNT(*) * 2 AS twice")]) == 1
    assert grouped([LEEDS, YORK], ONE) == 1
    days = [f"SELECT COUNT(*) FROM visits WHERE day = {day}" for day in ("'2022-01-08'", "DATE '2022-01-09'")]
    assert grouped(days) == 1
    assert [len(answer.rows) for answer in curator(TOTAL).batch([*days, *wards], epsilon=1)] == [1, 1, 1, 1]
    averages = [of(city, "AVG(age) AS a") for city in ("Leeds", "York")]
    assert grouped([LEEDS, YORK, *averages]) == 2


@pytest.mark.parametrize(
    "questions",
    [
        [LEEDS, of("York", more="age > 30 AND ")], [LEEDS, of("York", "AVG(age) AS a")],
        [LEEDS, "SELECT COUNT(*) FROM visits WHERE city = 'Paris'"],
        [LEEDS, "SELECT COUNT(*) FROM visits WHERE city = 'York' OR age > 3"],
        [LEEDS, "SELECT COUNT(*) FROM visits WHERE city <> 'York'"],
        ["SELECT COUNT(*) FROM visits WHERE age = 3", "SELECT COUNT(*) FROM visits WHERE age = 4"],
        [LEEDS, "SELECT COUNT(*) FROM visits WHERE smoker"],
        ["SELECT COUNT(*) FILTER (WHERE city = 'York'), COUNT(age) FROM visits", LEEDS],
    ],
)
def test_what_is_not_planned_together(questions):
    batch = curator(TOTAL).quote_batch(questions, epsilon=1)
    assert len(batch.paid) == 2
    assert [one.plan for one in batch.asked] == [curator(TOTAL).plan(question) for question in questions]


def test_a_grouping_is_taken_only_where_it_needs_less_noise():
    """max_rows = 4, max_groups = 2: a unit moves two groups by 8, and two questions apart by 8 as well."""
    assert grouped([LEEDS, YORK], CATALOG) == 2
    assert grouped([LEEDS, YORK, HULL], CATALOG) == 1
    assert grouped([LEEDS, YORK], replace(CATALOG, neighbours="replace-one", units=40)) == 2
    assert grouped([LEEDS, YORK], with_one_group()) == 1


def with_one_group():
    return catalog_with(replace(VISITS, max_groups=1))


def test_where_all_rows_of_a_unit_have_one_value_the_groups_are_parallel():
    made = curator(catalog_with(with_column(VISITS, "city", per_unit=True)))
    batch = made.quote_batch([LEEDS, YORK, HULL], epsilon="0.3")
    alone = made.quote(LEEDS, epsilon="0.3")
    assert [one.reading.l1 for one in batch.paid[0].priced] == [one.reading.l1 for one in alone.priced]


def test_errors_of_a_grouping_are_met_for_all_at_the_price_of_the_dearest():
    made = curator(TOTAL)
    batch = made.quote_batch([LEEDS, YORK], within={"1:n": 50, "2:n": 20})
    assert len(batch.paid) == 1
    assert batch.cost == made.quote(LEEDS, within={"n": 20}).cost
    menu = made.menu_batch([LEEDS, YORK])
    assert [bar.title for bar in menu.offers[0].bars] == ["1: n", "2: n"]
    assert menu.offers[0].bars[0].error == menu.offers[0].bars[1].error
    assert [answer.made_up for answer in made.rehearse_batch([LEEDS, YORK])] == [True, True]


def test_questions_of_the_same_readings_in_other_words_are_paid_once():
    made = curator()
    alike = ["SELECT city, COUNT(*) AS n FROM visits GROUP BY city",
             "SELECT city, 2 * COUNT(*) AS m FROM visits GROUP BY city ORDER BY m LIMIT 1"]
    batch = made.quote_batch(alike, epsilon="0.3")
    assert len(batch.paid) == 1
    assert "the same noisy queries as question 2; paid once, here" in str(batch)
    one, other = made.batch(alike, epsilon="0.3")
    assert made.budget().spent == F(3, 10)
    assert other.rows[0][1] / 2 == pytest.approx(min(row[1] for row in one.rows), abs=0.5)  # counts are shown whole
    assert verify(json_of(other.receipt), catalog=made.catalog, ledger=made.ledger).holds


@pytest.mark.parametrize(("name", "cut", "price"), [
    ("pure", True, {"epsilon": "0.3"}), ("approximate", True, {"spend": "10%", "assume_count": 500}),
    ("rho", False, {"rho": "0.01"}), ("pure", False, {"within": {"1:n": 600, "2:s": 60000, "3:c": 10**7}}),
])
def test_the_same_noisy_queries_in_another_order_are_paid_once(name, cut, price):
    made = curator(CATALOGS[name], cut=cut)
    asked = [f"SELECT ward, {what} FROM visits GROUP BY ward" for what in (
        "COUNT(*) AS n, SUM(age) AS s, SUM(cost) AS c", "SUM(cost) AS c, COUNT(*) AS n, SUM(age) AS s",
        "SUM(age) AS s, SUM(cost) AS c, COUNT(*) AS n")]
    batch = made.quote_batch(asked, **price)
    assert (len(batch.paid), batch.payers) == (1, (None, 0, 0))
    assert {bar.title: bar.error for bar in bars(batch.asked[0])} == {
        bar.title: bar.error for bar in bars(batch.asked[1])}
    assert [str(row.bars) for row in made.menu_batch(asked).offers]
    answers = made.batch(asked, **price)
    assert made.budget().spent == batch.cost
    for title in ("n", "s", "c"):
        assert answers[0][title] == answers[1][title] == answers[2][title]
        assert answers[0].error(title) == answers[1].error(title)
    receipts = [json_of(answer.receipt) for answer in answers]
    for answer, receipt in zip(answers, receipts, strict=True):
        told = verify(receipt, catalog=made.catalog, ledger=made.ledger, answer=json_of(answer.core_json()))
        assert told.holds, str(told)
        assert [one for one in steps(receipt, beside=receipts) if not one[1]] == []
    assert made.quote_batch(list(reversed(asked))[:2], **price).cost == 0 if "within" not in price else True
    assert [one.rows for one in made.batch(asked, **price)] == [one.rows for one in answers]
    assert made.budget().spent == batch.cost


@pytest.mark.parametrize("alike", [
    [LEEDS, YORK],
    ["SELECT city, ward, COUNT(*) AS n FROM visits GROUP BY city, ward",
     "SELECT ward, city, 2 * COUNT(*) AS m FROM visits GROUP BY ward, city ORDER BY m LIMIT 1"],
], ids=["one grouping", "one reading"])
def test_a_quote_of_what_was_paid_before_asks_nothing_of_any_question(alike):
    made = curator(TOTAL)
    paid = made.batch(alike, epsilon="0.4")
    batch = made.quote_batch(alike, epsilon="0.2")
    assert str(batch).startswith("Batch(2 questions, paid before: free)")
    assert str(batch).count("Quote(paid before: free") == 2
    assert str(batch).count("; paid before") == 2
    told = batch.as_json()
    assert [one["epsilon"] for one in (told, *told["questions"])] == ["0"] * 3
    dearer = made.quote_batch(alike, epsilon="0.4").as_json()["questions"]  # whose bars are those of what is stored
    assert [one["error_bars"] for one in told["questions"]] == [one["error_bars"] for one in dearer]
    assert [one.rows for one in made.batch(alike, epsilon="0.2")] == [one.rows for one in paid]
    more = made.quote_batch([*alike, "SELECT COUNT(*) AS n FROM visits"], epsilon="0.3")
    assert [one["epsilon"] for one in more.as_json()["questions"]] == ["0", "0", "0.15"]


def test_as_one_pays_a_grouping_once_too():
    delta = F(1, 10**6)
    made = curator(replace(TOTAL, epsilon=F(40), delta=F(1, 10**3)))
    counts = [f"SELECT COUNT(*) AS n FROM visits WHERE age > {n}" for n in range(30)]
    batch = made.quote_batch([LEEDS, YORK, *counts], epsilon=3, delta=delta, as_one=True)
    assert batch.point is not None
    assert len(batch.paid) == 31
    answers = made.batch([LEEDS, YORK, *counts], epsilon=3, delta=delta, as_one=True)
    assert made.budget().spent == batch.cost
    assert verify(json_of(answers[1].receipt), catalog=made.catalog, ledger=made.ledger).holds


def test_a_refused_question_refuses_all_and_charges_nothing():
    made = curator(TOTAL)
    with pytest.raises(Refusal, match="question 2"):
        made.batch([LEEDS, of("York", "MAX(age)")], epsilon=1)
    assert made.ledger.life() == "new"
    assert json.dumps(made.quote_batch([LEEDS, YORK], epsilon=1).as_json(), allow_nan=False)
    assert all(one != other for one, other in pairwise([LEEDS, YORK]))


def test_a_grouping_of_which_a_part_was_paid_is_charged_for_the_rest_and_shared_by_all():
    made = curator(TOTAL)
    cities = ("Leeds", "York", "Hull")
    made.batch([of(city) for city in cities], epsilon="0.2")
    asked = [of(city, "COUNT(*) AS n, SUM(age) AS s") for city in cities]
    answers = made.batch(asked, epsilon="0.4")
    assert made.budget().spent == F(2, 10) + F(2, 10)  # the sum alone
    for answer in answers:
        told = verify(json_of(answer.receipt), catalog=made.catalog, ledger=made.ledger)
        assert told.holds, str(told)
    assert len({json.dumps(json_of(a.receipt)["shared"]["readings"][0], sort_keys=True) for a in answers}) == 1
    assert [a.rows for a in made.batch(asked, epsilon="0.4")] == [a.rows for a in answers]
    assert made.budget().spent == F(4, 10)


POOL = [
    *(of(city) for city in ("Leeds", "York", "Hull")),
    *(of(city, "COUNT(*) AS n, SUM(age) AS s") for city in ("Leeds", "York", "Hull")),
    *(f"SELECT AVG(age) AS a FROM visits WHERE ward = {n}" for n in (1, 2)),
    "SELECT city, COUNT(*) AS n FROM visits GROUP BY city",
    "SELECT city, SUM(age) AS s, COUNT(*) AS n FROM visits GROUP BY city ORDER BY n LIMIT 2",
    "SELECT COUNT(*) AS n FROM visits",
]


@pytest.mark.parametrize("name", ["approximate", "replaced"])
def test_any_sequence_of_batches_is_charged_as_quoted_and_repeats_for_nothing(name):
    """Of whatever was paid before, in batches or alone; each receipt holds beside the ledger, which has every value."""
    luck = random.Random(name)
    tables = replace(TOTAL.tables[0], expected_units=luck.choice((None, 30)))
    made = curator(replace(CATALOGS[name], tables=(tables, *TOTAL.tables[1:]), epsilon=CATALOGS[name].epsilon * 1000,
                           rho=CATALOGS[name].rho * 1000))
    for _ in range(5):
        asked = luck.sample(POOL, luck.randint(1, 5))
        price_of = {"spend": f"0.{luck.randint(1, 9)}%"}
        if luck.random() < 0.3:
            made.ask(asked[0], **price_of)
        before, quote = made.budget().spent, made.quote_batch(asked, **price_of)
        answers = made.batch(asked, **price_of)
        assert made.budget().spent == before + quote.cost
        again = made.batch(asked, **price_of)
        assert made.budget().spent == before + quote.cost
        assert [one.rows for one in again] == [one.rows for one in answers]
        for answer in answers:
            told = verify(json_of(answer.receipt), catalog=made.catalog, ledger=made.ledger,
                          answer=json_of(answer.core_json()))
            assert told.holds, str(told)
    assert made.ledger.verify().sound


class _Stopped(Reference):
    def evaluate_all(self, cores):
        raise KeyboardInterrupt


def test_an_interrupted_batch_is_resumed_as_it_was_charged():
    """Stopped after the charge, of which a part was paid before: asked again it costs nothing more, also when more has
    been stored since; and every question of the grouping is answered."""
    made = curator(TOTAL)
    cities = ("Leeds", "York", "Hull")
    made.batch([of(city) for city in cities], epsilon="0.2")
    asked = [of(city, "COUNT(*) AS n, SUM(age) AS s") for city in cities]
    engine, made.engine = made.engine, lambda: _Stopped({})
    with pytest.raises(KeyboardInterrupt):
        made.batch(asked, epsilon="0.4")
    made.engine = engine
    assert made.budget().spent == F(4, 10)
    made.batch([of(city) for city in cities], epsilon="0.9")  # finer counts are stored meanwhile
    spent = made.budget().spent
    answers = made.batch(asked, epsilon="0.4")
    assert made.budget().spent == spent
    for answer in answers:
        told = verify(json_of(answer.receipt), catalog=made.catalog, ledger=made.ledger)
        assert told.holds, str(told)
    assert [a.rows for a in made.batch(asked, epsilon="0.4")] == [a.rows for a in answers]
