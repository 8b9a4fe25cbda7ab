"""A batch charged as one point: never more than the sum, by public facts alone, once, and held by its receipts."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction as F

import pytest
from questions import CATALOG, VISITS, catalog_with, with_column

from dpcurator.accounting.bracket import bracket
from dpcurator.accounting.composition import compose
from dpcurator.entropy import SystemEntropy
from dpcurator.errors import Misconfigured, OverBudget, Refusal
from dpcurator.ledger.decide import Standing, decide
from dpcurator.pricing.joint_guarantee import rounded_up
from dpcurator.receipts.loss import losses_of
from dpcurator.receipts.verification import verify
from dpcurator.values import Request
from receipts import CATALOGS, KEY, at, changed, curator, json_of, leaves, others, signed

DELTA = F(1, 10**6)
COUNTS = [f"SELECT COUNT(*) AS n FROM visits WHERE age > {n}" for n in range(40)]
MIXED = [
    *COUNTS[:36],
    "SELECT city, COUNT(*) AS n, AVG(age) FROM visits GROUP BY city",
    "SELECT g, SUM(x) FROM rows GROUP BY g",
]
WITH_DELTA = ["approximate", "unknown", "unknown, replaced"]


def asked(made, questions=COUNTS, *, epsilon=3, delta=DELTA, **more):
    return made.batch(questions, epsilon=epsilon, delta=delta, as_one=True, **more)


@pytest.mark.parametrize("name", WITH_DELTA)
@pytest.mark.parametrize("questions", [COUNTS, MIXED], ids=["counts", "mixed"])
def test_it_is_charged_the_certified_point_and_every_receipt_holds(name, questions):
    made = curator(CATALOGS[name])
    delta = F(1, 1000) if questions is MIXED else DELTA
    batch = made.quote_batch(questions, epsilon=9, delta=delta, as_one=True)
    point = batch.point
    assert point is not None
    losses = compose(*(loss for quote in batch.paid for loss in losses_of(quote.parameters())))
    found = bracket(losses.parts, delta=delta, accuracy="1e-3", seconds=10**9)
    assert found.lower <= point.epsilon == rounded_up(found.upper) < batch.summed("epsilon") <= 9
    assert (batch.epsilon, batch.rho, batch.delta, batch.cost) == (point.epsilon, 0, delta, point.epsilon)
    answers = asked(made, questions, epsilon=9, delta=delta)
    budget = made.budget()
    assert (budget.spent, budget.spent_delta) == (point.epsilon, delta)
    assert [entry.event.NAME for entry in made.log()] == ["opened", "charged", "answered"]
    assert made.ledger.verify().sound
    for answer in [answers[0], answers[-1]]:
        outside = {"catalog": made.catalog, "ledger": made.ledger, "public_key": KEY.public}
        told = verify(json_of(answer.receipt), **outside, answer=answer.core_json())
        assert told.holds, str(told)
        assert "certified for all its losses" in str(told)


@pytest.mark.parametrize("name", WITH_DELTA)
def test_where_a_point_is_no_less_the_batch_is_the_same_as_without_the_word(name):
    made = curator(CATALOGS[name])
    few = COUNTS[:3]
    assert made.quote_batch(few, epsilon=1, delta=DELTA, as_one=True) == made.quote_batch(few, epsilon=1, delta=DELTA)
    plain = made.batch(few, epsilon=1, delta=DELTA)
    again = asked(made, few, epsilon=1)
    assert [answer.rows for answer in again] == [answer.rows for answer in plain]
    assert all(answer.repeated for answer in again)
    assert made.budget().spent <= 1


@pytest.mark.parametrize("name", WITH_DELTA)
@pytest.mark.parametrize("epsilon", ["0.001", "0.5", "4", "30"])
@pytest.mark.parametrize("many", [1, 2, 30])
def test_no_price_costs_more_epsilon_as_one(name, epsilon, many):
    made = curator(CATALOGS[name])
    for delta in (F(1, 10**9), F(1, 10**4)):
        apart = made.quote_batch(COUNTS[:many], epsilon=epsilon, delta=delta)
        one = made.quote_batch(COUNTS[:many], epsilon=epsilon, delta=delta, as_one=True)
        assert one.epsilon <= apart.epsilon <= F(epsilon)
        assert one.delta <= delta
        assert (one.point is None) == (one == apart)


@pytest.mark.parametrize("name", ["pure", "replaced", "rho", "unknown, rho"])
def test_a_ledger_without_such_a_delta_refuses_it_and_is_left_alone(name):
    made = curator(CATALOGS[name])
    with pytest.raises(Refusal, match="charged as one") as refused:
        made.batch(COUNTS, spend="5%", as_one=True)
    assert refused.value.cure
    assert list(made.log()) == []
    assert made.quote_batch(COUNTS[:3], spend="5%") == made.quote_batch(COUNTS[:3], spend="5%", as_one=False)
    with pytest.raises(Refusal):
        curator(CATALOGS["approximate"]).batch(COUNTS, epsilon=1, delta=0, as_one=True)


def test_a_repeat_is_free_and_fresh_is_paid_again():
    made = curator(CATALOGS["approximate"])
    first, again = asked(made), asked(made)
    cost = made.budget().spent
    assert [answer.rows for answer in first] == [answer.rows for answer in again]
    assert all(answer.repeated for answer in again)
    fresh = asked(made, fresh=True)
    assert [answer.rows for answer in fresh] != [answer.rows for answer in first]
    assert (made.budget().spent, made.budget().spent_delta) == (2 * cost, 2 * DELTA)
    apart = made.batch(COUNTS, epsilon=3, delta=DELTA)  # one by one it would buy no less noise than is stored
    assert [answer.rows for answer in apart] == [answer.rows for answer in first]
    assert made.budget().spent == 2 * cost


def test_a_question_twice_counts_once_and_what_is_public_not_at_all():
    table = with_column(VISITS, "cost", lower=F(0), upper=F(0))
    base = catalog_with(table, CATALOG.tables[1])
    made = curator(replace(base, epsilon=F(40), delta=F(1, 1000)))
    twice = [*COUNTS, *COUNTS[:20], *["SELECT SUM(cost) FROM visits"] * 20]
    once, more = (made.quote_batch(some, epsilon=3, delta=DELTA, as_one=True) for some in (COUNTS, twice))
    assert more.point == once.point is not None
    answers = asked(made, twice)
    assert [answer.rows for answer in answers[:20]] == [answer.rows for answer in answers[40:60]]
    assert answers[-1].public
    assert made.budget().spent == once.epsilon
    free = asked(made, twice[-1:])
    assert free[0].public
    assert made.budget().spent == once.epsilon


def test_one_and_the_same_reading_under_another_name_is_drawn_and_counted_once():
    made = curator(CATALOGS["approximate"])
    alike = [f"SELECT COUNT(*) AS n{n} FROM visits" for n in range(40)]
    batch, one = (made.quote_batch(some, epsilon=3, delta=DELTA, as_one=True) for some in (alike, alike[:1]))
    assert len(batch.paid) == 1
    assert (batch.epsilon, batch.delta) == (one.epsilon, one.delta)
    rows = [answer.rows for answer in asked(made, alike)]
    assert all(own == rows[0] for own in rows)
    assert made.budget().spent == one.epsilon


def test_short_of_delta_it_is_refused_and_nothing_is_charged():
    made = curator(CATALOGS["approximate"])
    asked(made, delta=F(9, 10**4))
    before = made.budget()
    with pytest.raises(OverBudget) as refused:
        asked(made, delta=F(2, 10**4))
    assert refused.value.currency == "delta"
    assert made.budget() == before
    asked(made, delta=F(1, 10**4))
    assert made.budget().remaining_delta == 0
    with pytest.raises(OverBudget):
        asked(made, COUNTS[1:], delta=F(1, 10**9))


def test_one_member_that_is_refused_refuses_all():
    made = curator(CATALOGS["approximate"])
    with pytest.raises(Refusal, match="question 41"):
        asked(made, [*COUNTS, "SELECT SUM(note) FROM visits"])
    for none in ([], None, "SELECT COUNT(*) FROM visits", COUNTS * 3):
        with pytest.raises(Refusal):
            asked(made, none)
    assert list(made.log()) == []


def test_a_tiny_price_is_covered_by_its_delta_which_is_charged_in_full():
    """Then the epsilon may be 0: (0, delta) is a promise too, and delta runs out by sums."""
    made = curator(CATALOGS["approximate"])
    few, price = COUNTS[:5], {"epsilon": "1e-8", "delta": F(1, 2000)}
    batch = made.quote_batch(few, **price, as_one=True)
    assert (batch.epsilon, batch.delta) == (0, F(1, 2000))
    answers = asked(made, few, **price)
    assert (made.budget().spent, made.budget().spent_delta) == (0, F(1, 2000))
    assert verify(json_of(answers[3].receipt), catalog=made.catalog, ledger=made.ledger).holds
    asked(made, few, **price, fresh=True)
    with pytest.raises(OverBudget):
        asked(made, few, **price, fresh=True)


class Stopped(SystemEntropy):
    """Fails in the middle: after the first question's noise was drawn."""

    left = 1

    def words(self, count):
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt
        return super().words(count)


def test_stopped_between_charge_and_answer_it_is_resumed_at_no_new_charge():
    made = curator(CATALOGS["approximate"])
    made.entropy = Stopped()
    with pytest.raises(KeyboardInterrupt):
        asked(made)
    spent = made.budget()
    assert [entry.event.NAME for entry in made.log()] == ["opened", "charged"]
    made.entropy = SystemEntropy()
    answers = asked(made)
    assert made.budget() == spent
    assert all(verify(json_of(answer.receipt), ledger=made.ledger).holds for answer in answers[::20])


# Forgeries


@pytest.fixture(scope="module")
def paid():
    made = curator(CATALOGS["approximate"])
    return made, json_of(asked(made, COUNTS)[2].receipt)


def test_a_receipt_that_lies_about_its_point_is_caught(paid):
    made, receipt = paid
    assert verify(receipt, ledger=made.ledger).holds
    places = [("point", "epsilon"), ("point", "delta")]
    places += [("losses", 2, *path) for path in leaves(receipt["batch"]["losses"][2])]
    places += [("losses", 7, *path) for path in leaves(receipt["batch"]["losses"][7])]
    for path in places:
        for new in others(at(receipt["batch"], path)):
            lie = signed(changed(receipt, ("batch", *path), new))
            assert not verify(lie, ledger=made.ledger).holds, (path, new)


@pytest.mark.parametrize(
    "change",
    [
        {"point": {"epsilon": "2", "delta": "1/1000000"}},
        {"point": {"epsilon": "1/1000", "delta": "1/1000000"}},
        {"point": {"epsilon": "5", "delta": "1/1000000"}},
        {"point": {"epsilon": "2", "delta": "1/1000"}},
        {"point": {"epsilon": "2"}},
        {"point": None},
        {"losses": []},
        {"losses": None},
    ],
    ids=["less", "much less", "more than the sum", "another delta", "no delta", "none", "no losses", "null"],
)
def test_by_itself_a_receipt_with_another_point_does_not_hold(paid, change):
    """Without the ledger: signed with the right key, as a curator that lies could."""
    _, receipt = paid
    lie = signed(receipt | {"batch": receipt["batch"] | change})
    assert [step.name for step in verify(lie).steps if not step.holds] == ["batch"]


def test_losses_that_no_question_has_are_not_accounted_for(paid):
    _, receipt = paid
    for odd in ({"family": "pure", "parameters": {"epsilon": "1/1000"}}, {"family": "x", "parameters": {}}, "x", None):
        losses = [*receipt["batch"]["losses"][:-1], [odd]]
        assert not verify(signed(receipt | {"batch": receipt["batch"] | {"losses": losses}})).holds


def test_a_receipt_without_its_point_or_its_losses_does_not_hold(paid):
    made, receipt = paid
    for left_out in ({"point"}, {"losses"}, {"point", "losses"}):
        batch = {name: value for name, value in receipt["batch"].items() if name not in left_out}
        assert not verify(signed(receipt | {"batch": batch}), ledger=made.ledger).holds


def test_an_ordinary_batch_has_no_such_parts(paid):
    made = curator(CATALOGS["approximate"])
    receipt = json_of(made.batch(COUNTS, epsilon=3)[0].receipt)
    assert set(receipt["batch"]) == {"index", "plans", "facts", "costs"}
    for part in ("point", "losses"):
        lie = signed(receipt | {"batch": receipt["batch"] | {part: paid[1]["batch"][part]}})
        assert not verify(lie, ledger=made.ledger).holds


def request(**more):
    base = {"analyst": "a", "plan": "p", "catalog": "c", "data_version": 1, "parameters": "{}"}
    return Request(**{**base, "epsilon": F(1), "delta": DELTA, **more})


def test_the_ledger_adds_points_exactly_and_refuses_what_passes_either_total():
    here = Standing("open", None, F(4), 2 * DELTA, F(3), DELTA)
    charged = decide(here, request(), "x")
    assert (charged.spent_epsilon, charged.spent_delta) == (4, 2 * DELTA)
    for wrong, currency in (({"epsilon": F(1) + F(1, 10**30)}, "epsilon"), ({"delta": DELTA + F(1, 10**30)}, "delta")):
        with pytest.raises(OverBudget) as refused:
            decide(here, request(**wrong), "x")
        assert refused.value.currency == currency
    with pytest.raises(Misconfigured):  # a point gives no rho
        decide(replace(here, currency="rho"), request(), "x")


def test_a_point_that_somebody_made_up_is_paid_nowhere():
    """`batch` takes questions and makes its point anew; a quote of a member is not a part of any batch."""
    made = curator(CATALOGS["approximate"])
    batch = made.quote_batch(COUNTS, epsilon=3, delta=DELTA, as_one=True)
    forged = replace(batch, point=replace(batch.point, epsilon=F(0)))
    with pytest.raises((Refusal, TypeError)):
        made.batch(forged, epsilon=3)
    with pytest.raises((Refusal, AttributeError)):
        made.answer(forged)
    assert list(made.log()) == []
    member = batch.paid[0]
    made.answer(member)  # by itself it is an ordinary question, at its own price
    assert made.budget().spent == member.epsilon == F(3, 40)


def test_as_json_shows_the_point_and_the_sum():
    said = curator(CATALOGS["approximate"]).quote_batch(COUNTS, epsilon=3, delta=DELTA, as_one=True).as_json()
    assert said["epsilon"] == str(float(F(said["point"]["epsilon"])))
    assert F(said["epsilon"]) < F(21, 10)
    assert said["one_by_one"] == {"epsilon": "3", "delta": "0"}
    assert said["point"]["delta"] == str(DELTA)
