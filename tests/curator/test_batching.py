"""A batch is one charge for several questions: all or nothing, exact, repeatable, each with its own receipt."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction as F

import pytest
from questions import CATALOG, VISITS, catalog_with, with_column

from dpcurator.entropy import SystemEntropy
from dpcurator.errors import Fault, OverBudget, Refusal
from dpcurator.pricing.bars import bars
from dpcurator.receipts.verification import verify
from dpcurator.standalone.verify import steps
from receipts import CATALOGS, KEY, changed, curator, json_of, leaves, others, signed

ASKED = [
    "SELECT city, COUNT(*) AS n FROM visits GROUP BY city",
    "SELECT city, AVG(age) FROM visits GROUP BY city",
    "SELECT COUNT(*) FROM visits WHERE age > 30",
    "SELECT g, SUM(x) FROM rows GROUP BY g",
]


def events(made):
    return [entry.event.NAME for entry in made.log()]


@pytest.mark.parametrize("name", CATALOGS)
def test_one_charge_of_the_exact_sum_and_a_receipt_each(name):
    made = curator(CATALOGS[name])
    batch = made.quote_batch(ASKED, spend="10%")
    answers = made.batch(ASKED, spend="10%")
    assert events(made) == ["opened", "charged", "answered"]
    budget = made.budget()
    assert budget.spent == batch.cost == made.catalog.budget / 10
    assert budget.spent_delta == batch.delta <= made.catalog.delta / 10
    assert [answer.columns for answer in answers] == [quote_columns(made, text) for text in ASKED]
    for answer in answers:
        receipt = json_of(answer.receipt)
        outside = {"catalog": made.catalog, "ledger": made.ledger, "public_key": KEY.public}
        told = verify(receipt, **outside, answer=answer.core_json())
        assert told.holds, str(told)
        assert "of a batch of 4" in str(told)


def quote_columns(made, text):
    return tuple(output.title for output in made.plan(text).outputs)


def test_the_answers_are_right():
    """At an epsilon at which noise is nothing, a batch says what the questions say one by one."""
    rich = replace(CATALOG, epsilon=F(10) ** 14)
    made = curator(rich)
    one_by_one = [made.ask(text, epsilon=F(10) ** 12).rows for text in ASKED]
    assert [answer.rows for answer in made.batch(ASKED, epsilon=4 * F(10) ** 12)] == one_by_one


def test_the_same_batch_again_is_free_and_the_same():
    made = curator()
    first, again = (made.batch(ASKED, epsilon=1) for _ in range(2))
    assert [answer.core_json() for answer in first] == [answer.core_json() for answer in again]
    assert {answer.repeated for answer in first} == {False}
    assert {answer.repeated for answer in again} == {True}
    assert made.budget().spent == 1
    fresh = made.batch(ASKED, epsilon=1, fresh=True)
    assert [answer.core_json() for answer in fresh] != [answer.core_json() for answer in first]
    assert made.budget().spent == 2


def test_a_question_twice_is_paid_once_and_answered_twice():
    made = curator()
    one, other, last = made.batch([ASKED[0], ASKED[0], ASKED[2]], epsilon=1)
    assert one.core_json() == other.core_json()
    assert one.cost == other.cost == last.cost == F(1, 2)
    assert made.budget().spent == 1


def test_what_is_public_costs_the_others_nothing():
    table = with_column(VISITS, "age", lower=F(0), upper=F(0))
    made = curator(catalog_with(table, CATALOG.tables[1]))
    free, paid = made.batch(["SELECT SUM(age) FROM visits", "SELECT COUNT(*) FROM visits"], epsilon=1)
    assert (free.rows, free.public, free.cost, paid.cost) == ([(0,)], True, 0, 1)
    only = made.batch(["SELECT SUM(age) FROM visits"], epsilon=1)
    assert only[0].public
    assert made.budget().spent == 1


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ([*ASKED[:2], "SELECT AVG(nothing) FROM visits"], "question 3"),
        ([ASKED[0], "SELEC"], "question 2"),
        ([ASKED[0], "SELECT SUM(note) FROM visits"], "question 2"),
        ([], "1 to 100 questions"),
        ([ASKED[0]] * 101, "1 to 100 questions"),
        (None, "a list of questions"),
        (ASKED[0], "a list of questions"),
    ],
)
def test_one_refusal_refuses_all_and_says_which(asked, words):
    made = curator()
    with pytest.raises(Refusal, match=words) as refused:
        made.batch(asked, epsilon=1)
    assert refused.value.cure
    assert events(made) == []


def test_a_batch_that_cannot_be_paid_charges_nothing():
    made = curator()
    made.ask("SELECT COUNT(*) FROM visits WHERE age > 3", epsilon=3)
    with pytest.raises(OverBudget):
        made.batch(ASKED, epsilon="1.0001")
    assert made.budget().spent == 3
    made.batch(ASKED, epsilon=1)
    assert made.budget().remaining == 0


@pytest.mark.parametrize("price", [{}, {"epsilon": 1, "spend": "5%"}, {"epsilon": 0}, {"epsilon": "x"}, {"spend": "5"}])
def test_a_batch_needs_one_price(price):
    with pytest.raises(Refusal):
        curator().batch(ASKED, **price)


class Stopped(SystemEntropy):
    """Fails in the middle: after the first question's noise was drawn."""

    def __init__(self) -> None:
        self.left = 1

    def words(self, count):
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt
        return super().words(count)


def test_stopped_in_the_middle_nothing_is_shown_and_asking_again_resumes_the_charge():
    made = curator()
    made.entropy = Stopped()
    with pytest.raises(KeyboardInterrupt):
        made.batch(ASKED, epsilon=1)
    assert events(made) == ["opened", "charged"]
    made.entropy = SystemEntropy()
    answers = made.batch(ASKED, epsilon=1)
    assert made.budget().spent == 1
    assert all(verify(json_of(answer.receipt), ledger=made.ledger).holds for answer in answers)


def test_a_fault_closes_the_curator_and_tells_nothing():
    class Broken:
        def evaluate_all(self, cores):
            raise ValueError("secret 42")

    made = curator()
    made.engine = Broken
    with pytest.raises(Fault) as fault:
        made.batch(ASKED, epsilon=1)
    assert "42" not in str(fault.value)
    assert fault.value.__cause__ is None is fault.value.__context__
    assert events(made)[-1] != "answered"


def test_a_receipt_that_lies_about_its_batch_is_caught():
    made = curator()
    receipt = json_of(made.batch(ASKED, epsilon=1)[1].receipt)
    for path in leaves(receipt["batch"]):
        old = receipt["batch"][path[0]] if len(path) == 1 else None
        if len(path) > 1:
            old = receipt["batch"]
            for step in path:
                old = old[step]
        for new in others(old):
            lie = signed(changed(receipt, ("batch", *path), new))
            assert not verify(lie, ledger=made.ledger).holds, (path, new)
    alone = signed(receipt | {"batch": None})
    assert not verify(alone, ledger=made.ledger).holds


def test_as_json():
    said = json.loads(json.dumps(curator().quote_batch(ASKED, epsilon=1).as_json(), allow_nan=False))
    assert said["epsilon"] == "1"
    assert len(said["questions"]) == 4


TITLED = [
    "SELECT city, COUNT(*) AS n FROM visits GROUP BY city",
    "SELECT COUNT(*) AS n, AVG(age) AS mean FROM visits WHERE age > 30",
    "SELECT city FROM visits GROUP BY city",
]


@pytest.mark.parametrize("name", ["pure", "rho", "replaced", "unknown"])
def test_errors_of_columns_give_each_question_its_least_price(name):
    made = curator(CATALOGS[name])
    alone = [made.quote(TITLED[0], within={"n": 400}),
             made.quote(TITLED[1], within={"n": 90, "mean": 5}, assume_count=900)]
    asked = TITLED if "unknown" not in name else TITLED[:2]  # where keys are selected, they cost something
    batch = made.quote_batch(asked, within={"1:n": 400, "2:N": 90, "mean": 5}, assume_count=900)
    assert [quote.cost for quote in batch.asked][:2] == [quote.cost for quote in alone]
    assert [one.priced for one in batch.paid] == [one.priced for one in alone]
    assert batch.cost == sum(quote.cost for quote in alone)
    of_all = made.quote_batch(asked, within={"n": 90, "mean": 5}, assume_count=900)
    assert of_all.asked[0].cost > batch.asked[0].cost
    assert of_all.asked[1].cost == batch.asked[1].cost
    if batch.cost <= made.catalog.budget:
        answers = made.batch(asked, within={"1:n": 400, "2:N": 90, "mean": 5}, assume_count=900)
        assert made.budget().spent == batch.cost
        told = verify(json_of(answers[1].receipt), catalog=made.catalog, ledger=made.ledger)
        assert told.holds, str(told)


@pytest.mark.parametrize(
    ("within", "said", "cure"),
    [
        ({"n": "5% of 900", "2:n": 50}, "question 2 is given errors of two kinds", {"1:n": "5% of 900", "2:n": 50}),
        ({"1:n": 9}, "question 2: none of its columns has a wanted error", {"1:n": 9, "2:n": 50}),
        ({"x": 9}, "no question has a column 'x'", {"n": 50}),
        ({"4:n": 9}, "there is no question 4", {"n": 50}),
        ({"3:n": 9, "n": 8}, "question 3: --within: there is no single column 'n'", {"n": 50}),
    ],
)
def test_errors_that_fit_no_column_are_refused_and_the_cure_works(within, said, cure):
    made = curator()
    with pytest.raises(Refusal, match=said) as refused:
        made.quote_batch(TITLED, within=within)
    assert refused.value.cure
    assert made.quote_batch(TITLED, within=cure).cost > 0
    with pytest.raises(Refusal, match="has one price"):
        made.quote_batch(TITLED, within=cure, as_one=True)


@pytest.mark.parametrize("name", ["approximate", "rho", "unknown, rho"])
def test_a_menu_of_a_batch_has_the_bars_of_its_quotes(name):
    made = curator(CATALOGS[name])
    menu = made.menu_batch(TITLED, assume_count=700)
    assert [offer.percent for offer in menu.offers] == [1, 2, 5, 10, 20, 50, 100]
    offer = menu.offers[3]
    batch = made.quote_batch(TITLED, spend="10%", assume_count=700)
    own = [bar for quote in batch.asked for bar in bars(quote, 700)]
    assert [bar.title for bar in offer.bars] == ["1: n", "2: n", "2: mean"]
    assert [(bar.error, bar.rows) for bar in offer.bars] == [(bar.error, bar.rows) for bar in own]
    assert (offer.amount, offer.left) == (made.catalog.budget / 10, made.catalog.budget * 9 / 10)
    json.dumps(menu.as_json(), allow_nan=False)
    assert made.ledger.life() == "new"


def test_a_batch_is_rehearsed_for_nothing():
    made = curator()
    answers = made.rehearse_batch(TITLED)
    assert [answer.columns for answer in answers] == [quote_columns(made, text) for text in TITLED]
    assert all(answer.made_up and answer.receipt is None for answer in answers)
    assert made.ledger.life() == "new"
    with pytest.raises(Refusal, match="question 2"):
        made.rehearse_batch([TITLED[0], "SELECT MAX(age) FROM visits"])


@pytest.mark.parametrize("name", ["approximate", "rho", "replaced", "unknown, rho"])
def test_only_what_is_new_of_a_question_is_charged(name):
    """Of one question a part was paid before, of another all; the rest is charged at the noise of the whole price."""
    made = curator(CATALOGS[name])
    both = "SELECT city, COUNT(*) AS n, SUM(age) AS s FROM visits GROUP BY city"
    asked = [both, "SELECT COUNT(*) FROM visits WHERE age > 30", "SELECT AVG(age) FROM visits"]
    made.ask(asked[0].replace(", SUM(age) AS s", ""), spend="8%")
    made.ask(asked[2], spend="8%")
    before = made.budget().spent
    whole, batch = made._whole_batch(asked, False, {"spend": "12%"}), made.quote_batch(asked, spend="12%")
    assert batch.own == (0, 1)
    held = batch.due(0).held
    assert held is not None
    assert [one is None for one in held.readings] == [False, True]
    assert 0 < batch.due(0).cost < whole.paid[0].cost
    assert batch.cost == batch.due(0).cost + whole.paid[1].cost
    answers = made.batch(asked, spend="12%")
    assert made.budget().spent == before + batch.cost
    for answer in answers:
        receipt = json_of(answer.receipt)
        told = verify(receipt, catalog=made.catalog, ledger=made.ledger, answer=json_of(answer.core_json()))
        assert told.holds, str(told)
        assert [one for one in steps(receipt) if not one[1]] == []
    assert json_of(answers[0].receipt)["format"] == "dpcurator receipt 3"
    again = made.batch(asked, spend="12%")
    assert [one.rows for one in again] == [one.rows for one in answers]
    assert made.budget().spent == before + batch.cost
    lied = signed(changed(json_of(answers[0].receipt), ("shared", "readings", 1), held.readings[0].place.as_json()))
    assert not verify(lied, catalog=made.catalog, ledger=made.ledger).holds
    assert made.ledger.verify().sound
    assert made.together() is not None
