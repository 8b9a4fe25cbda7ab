"""Filters and odometers: exact sums, the ledger's decisions, and adaptive analysts by enumeration of all answers."""

from __future__ import annotations

import copy
import math
import os
import pickle
import threading
from fractions import Fraction as F
from functools import partial

import pytest

from dpcurator.accounting.composition import Composition
from dpcurator.accounting.convert import pure_rho
from dpcurator.accounting.filters import ApproximateFilter, GaussianFilter, RenyiFilter, ZcdpFilter
from dpcurator.accounting.odometer import Odometer
from dpcurator.errors import OverBudget, Refusal
from dpcurator.ledger.decide import Standing, decide
from dpcurator.numbers.rational import added
from dpcurator.privacy.loss import Loss
from dpcurator.values import Request


def loss(family, **given):
    return Loss(family, tuple((name, F(value)) for name, value in given.items()))


PURE, GAUSSIAN = loss("pure", epsilon="0.1"), loss("gaussian", variance=100, shift=1)
DISCRETE = loss("discrete_gaussian", variance=100, shift=1)
KINDS = [
    (ApproximateFilter(epsilon=1), {"epsilon": "1/10"}),
    (ApproximateFilter(epsilon=0, delta="1/2"), {"epsilon": 0, "delta": "1/20"}),
    (ZcdpFilter(rho=1), {"rho": "1/10"}),
    (RenyiFilter(alpha=8, epsilon=1), {"epsilon": "1/10"}),
    (GaussianFilter(mu=1), {"mu": "1/10"}),
]


def test_a_hundred_thousand_spends_of_a_hundred_thousandth_exhaust_one_exactly():
    budget = ApproximateFilter(epsilon=1)
    for _ in range(10**5):
        budget.spend(epsilon="1/100000")
    assert budget.remaining["epsilon"] == 0
    assert budget.spent["epsilon"] == 1
    with pytest.raises(OverBudget) as refused:
        budget.spend(epsilon="1e-300")
    assert (refused.value.requested, refused.value.remaining) == (F("1e-300"), 0)


@pytest.mark.parametrize(("budget", "tenth"), KINDS, ids=["epsilon", "delta", "rho", "divergence", "mu"])
def test_ten_tenths_are_one_in_every_currency(budget, tenth):
    for _ in range(100 if "mu" in tenth else 10):  # mu counts by its square
        budget.spend(**tenth)
    assert set(budget.remaining.values()) == {F(0)}
    before = budget.spent
    with pytest.raises(OverBudget):
        budget.spend(**tenth)
    assert budget.spent == before


def test_a_float_filter_would_answer_nine_of_ten():
    """The fault of others, 0.1 ten times in floats passes 1 when summed the other way; here it is one tenth."""
    assert sum([0.1] * 3) > 0.3
    budget = ApproximateFilter(epsilon=0.3)
    for _ in range(3):
        budget.spend(epsilon=0.1)
    assert budget.remaining["epsilon"] == 0


def test_a_spend_reads_no_earlier_spend():
    """Sums are kept, not amounts: after many spends a filter is no larger than their common denominator makes it."""
    budget = ApproximateFilter(epsilon=10**6)
    amounts = [F(k % 997 + 1, 1009 + k % 13) for k in range(2000)]  # odd denominators, so sums grow long
    for amount in amounts * 2:
        budget.spend(epsilon=amount)
    assert budget.spent["epsilon"] == 2 * sum(amounts)
    assert budget.spent["epsilon"].denominator <= math.lcm(*range(1009, 1022))


def _request(**price):
    return Request(analyst="a", plan="p", catalog="c", data_version=1, parameters="{}", **price)


def outcome(call):
    """What a call returns, or its OverBudget."""
    try:
        return call()
    except OverBudget as refused:
        return refused


@pytest.mark.parametrize("currency", ["epsilon", "rho"])
def test_decisions_are_the_ledgers_for_the_same_spends(currency):
    limits = {"epsilon": F(1), "delta": F("1e-6")}
    ours = ApproximateFilter(**limits) if currency == "epsilon" else ZcdpFilter(rho=1, delta="1e-6")
    spent, spent_delta, refusals = F(0), F(0), 0
    for k in range(400):
        price, delta = F((k * 7919) % 101, 9973), F((k * 104729) % 7, 10**8 + k % 3)
        if not price and not delta:
            continue
        standing = Standing("open", None, F(1), F("1e-6"), spent, spent_delta, currency)
        other = {"epsilon": F(0), "rho": F(0), currency: price}
        charged = outcome(partial(decide, standing, _request(delta=delta, **other), f"r{k}"))
        here = outcome(partial(ours.spend, **{currency: price}, delta=delta))
        if isinstance(charged, OverBudget):
            refusals += 1
            assert isinstance(here, OverBudget)
            assert here.as_json() == charged.as_json()
            continue
        assert here is None
        spent = charged.spent_epsilon if currency == "epsilon" else charged.spent_rho
        spent_delta = charged.spent_delta
        assert ours.spent == {currency: spent, "delta": spent_delta}
    assert 0 < refusals < 400


def test_sums_are_those_of_exact_fractions_whatever_their_denominators():
    amounts = [F(1, 7), F(3, 100000), F(1, 100000), F(2, 14), F(5), F(1, 10**300), F(1, 3**150), F(7, 10**5)]
    budget, exact = ApproximateFilter(epsilon=10**6), F(0)
    for k in range(200):
        amount = amounts[k % len(amounts)] * (1 + k // 50)
        budget.spend(epsilon=amount)
        exact = added(exact, amount)
        assert budget.spent["epsilon"] == exact


@pytest.mark.parametrize("kind", [ApproximateFilter, ZcdpFilter])
def test_a_loss_costs_the_same_alone_and_in_a_composition(kind):
    name = "epsilon" if kind is ApproximateFilter else "rho"
    for one in (PURE, loss("approximate", epsilon="0.2", delta="1e-4"), loss("laplace", scale=3, shift=1)):
        alone, several = kind(**{name: 9}, delta="1/10"), kind(**{name: 9}, delta="1/10")
        for _ in range(3):
            alone.spend(one)
        several.spend((one, 3))
        assert alone.spent[name] == several.spent[name]
        assert alone.spent["delta"] >= several.spent["delta"]  # together, by less than the sum


REMOVED = PURE.sampled(poisson="1/100")
REPLACED = [PURE.sampled(fixed_size="1/100"), Loss("randomised_response", {"truth": "3/4", "lie": "1/4"})]


@pytest.mark.parametrize("replaced", REPLACED, ids=lambda one: one.family)
@pytest.mark.parametrize(
    "budget",
    [
        lambda: ApproximateFilter(epsilon=9),
        lambda: ZcdpFilter(rho=9),
        lambda: RenyiFilter(alpha=2, epsilon=9),
        lambda: Odometer(),
    ],
    ids=["approximate", "zcdp", "renyi", "odometer"],
)
def test_losses_towards_other_neighbours_are_not_added(budget, replaced):
    for first, second in ((REMOVED, replaced), (replaced, REMOVED)):
        kept = budget()
        kept.spend(first)
        before = kept._meter.spent
        for other in (second, Composition(((second, 2),))):
            with pytest.raises(Refusal, match="say nothing") as refused:
                kept.spend(other)
            assert not isinstance(refused.value, OverBudget)
        assert kept._meter.spent == before
        kept.spend(PURE)
        kept.spend(first)
        with pytest.raises(Refusal, match="say nothing"):
            budget().spend(Composition(((first, 1), (second, 1))))


def test_a_spend_that_was_refused_says_nothing_of_neighbours():
    kept = ApproximateFilter(epsilon="1/1000")
    with pytest.raises(OverBudget):
        kept.spend(REMOVED)
    kept.spend(Loss("pure", {"epsilon": "1/100"}).sampled(fixed_size="1/100"))


def test_two_currencies_never_mix():
    for call in (
        lambda: ApproximateFilter(epsilon=1).spend(GAUSSIAN),
        lambda: ApproximateFilter(epsilon=1).spend(DISCRETE),
        lambda: GaussianFilter(mu=1).spend(DISCRETE),
        lambda: GaussianFilter(mu=1).spend(PURE),
        lambda: ZcdpFilter(rho=1).spend(loss("no_such_family", x=1)),
        lambda: RenyiFilter(alpha=2, epsilon=1).spend(loss("approximate", epsilon="0.1", delta="1e-9")),
        lambda: ZcdpFilter(rho=1).spend(PURE, rho="0.1"),
        lambda: ApproximateFilter(epsilon=1).spend(PURE, epsilon="0.1"),
        lambda: ApproximateFilter(epsilon=1).spend(),
        lambda: Odometer().spend(GAUSSIAN),
        lambda: Odometer(delta="1e-6", tuned_to=1).spend(loss("approximate", epsilon="0.1", delta="1e-9")),
    ):
        with pytest.raises(Refusal) as refused:
            call()
        assert not isinstance(refused.value, OverBudget)
    with pytest.raises(TypeError):
        ZcdpFilter(rho=1).spend(epsilon="0.1")


@pytest.mark.parametrize("bad", [-1, "nan", True, None, "much"])
def test_bad_amounts_and_limits_are_refused(bad):
    for call in (
        lambda: ApproximateFilter(epsilon=bad),
        lambda: ZcdpFilter(rho=bad),
        lambda: RenyiFilter(alpha=2, epsilon=bad),
        lambda: RenyiFilter(alpha=bad, epsilon=1),
        lambda: GaussianFilter(mu=bad),
        lambda: Odometer(delta=bad),
        lambda: ApproximateFilter(epsilon=1).spend(epsilon=bad),
        lambda: ZcdpFilter(rho=1).spend(rho=bad),
        lambda: GaussianFilter(mu=1).spend(mu=bad),
    ):
        with pytest.raises(Refusal):
            call()


def test_losses_cost_what_they_prove():
    budget = ApproximateFilter(epsilon=3, delta="1e-3")
    budget.spend(PURE)
    budget.spend(loss("approximate", epsilon="0.2", delta="1e-4"))
    budget.spend(Composition(((PURE, 3),)))
    assert budget.spent == {"epsilon": F("0.6"), "delta": F("1e-4")}
    budget.spend(GAUSSIAN, delta="1e-5")
    assert budget.spent == {"epsilon": F("0.6") + GAUSSIAN.epsilon("1e-5"), "delta": F("1.1e-4")}
    rho = ZcdpFilter(rho=1, delta="1e-3")
    rho.spend(GAUSSIAN)
    rho.spend(PURE)
    rho.spend(loss("approximate", epsilon="0.2", delta="1e-4"))
    pure = [pure_rho(eps) for eps in ("0.1", "0.2")]  # e tanh(e/2)
    assert rho.spent == {"rho": F(1, 200) + sum(pure), "delta": F("1e-4")}
    assert sum(pure) < F(1, 200) + F(1, 50)
    assert float(sum(pure)) == pytest.approx(0.1 * math.tanh(0.05) + 0.2 * math.tanh(0.1), rel=1e-15)
    renyi = RenyiFilter(alpha=4, epsilon=1)
    renyi.spend(Composition(((GAUSSIAN, 5),)))
    assert renyi.spent == {"divergence": F(4 * 5, 200)}
    mu = GaussianFilter(mu=1)
    mu.spend(Composition(((GAUSSIAN, 100),)))
    assert mu.remaining == {"mu_squared": 0}


def test_what_a_rho_filter_promises_in_epsilon():
    assert float(ZcdpFilter(rho="0.5").epsilon(delta="1e-6")) == pytest.approx(5.2215344, abs=1e-6)
    apart = ZcdpFilter(rho="0.5", delta="1e-6")
    least, most = (ZcdpFilter(rho="0.5").epsilon(delta=d) for d in ("1.001e-6", "1e-6"))
    assert least < apart.epsilon(delta="2e-6") < most  # 1e-6 / (1 - 1e-6) is left for rho
    with pytest.raises(Refusal):
        apart.epsilon(delta="1e-6")


def test_threads_cannot_overspend():
    budget, accepted = ApproximateFilter(epsilon=1), []

    def ask():
        for _ in range(200):
            try:
                budget.spend(epsilon="1/500")
            except OverBudget:
                continue
            accepted.append(1)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(accepted) == 500
    assert budget.remaining["epsilon"] == 0


def test_no_copy_pickle_or_fork_spends_the_budget_twice():
    budget = ApproximateFilter(epsilon=1)
    for twice in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(Refusal, match="cannot be copied"):
            twice(budget._meter)
    with pytest.raises(Refusal):
        copy.deepcopy(budget)
    with pytest.raises(Refusal):
        pickle.dumps(budget)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            budget.spend(epsilon="0.1")
            os.write(writing, b"spent")
        except Refusal:
            os.write(writing, b"refused")
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reading, 20) == b"refused"


def played(rounds, choose, budget):
    """Every run of an analyst who picks the next coin's epsilon by the answers so far: (P, Q, loss) of each end.

    choose(answers) gives an epsilon or None to stop; a spend that is refused is asked for no more.
    """
    ends, open_runs = [], [((), 1.0, 1.0, budget())]
    while open_runs:
        answers, first, second, meter = open_runs.pop()
        amount = choose(answers) if len(answers) < rounds else None
        try:
            if amount is not None:
                meter.spend(epsilon=amount)
        except OverBudget:
            amount = None
        if amount is None:
            ends.append((first, second))
            continue
        truth = 1 / (1 + math.exp(-float(amount)))
        for answer, one, other in ((1, truth, 1 - truth), (0, 1 - truth, truth)):
            again = budget()
            again._meter.add(meter.spent)
            open_runs.append(((*answers, answer), first * one, second * other, again))
    return ends


ANALYSTS = {
    "doubles when unlucky": lambda answers: F(1, 8) * 2 ** min(3, answers.count(0)),
    "stops when lucky": lambda answers: None if answers.count(1) - answers.count(0) >= 3 else F(1, 5),
    "all when nearly sure": lambda answers: F(1, 10) if sum(answers) * 2 < len(answers) + 3 else F(1, 2),
}


@pytest.mark.parametrize("analyst", ANALYSTS)
def test_an_adaptive_analyst_learns_no_more_than_the_limit(analyst):
    """Exactly, over all answers: the log-ratio never passes epsilon, and a greedy one that ignores refusals does."""
    ends = played(9, ANALYSTS[analyst], lambda: ApproximateFilter(epsilon=1))
    assert sum(first for first, _ in ends) == pytest.approx(1)
    assert all(abs(math.log(first / second)) <= 1 + 1e-12 for first, second in ends)
    loose = played(9, ANALYSTS[analyst], lambda: ApproximateFilter(epsilon=100))
    if analyst != "stops when lucky":
        assert any(abs(math.log(first / second)) > 1 for first, second in loose)


@pytest.mark.parametrize("analyst", ANALYSTS)
def test_a_renyi_filter_holds_for_an_adaptive_analyst(analyst):
    """Coins are charged their divergence of order 3; over all answers the divergence stays within the limit."""
    limit, alpha = F(1, 5), 3

    class Coins:
        def __init__(self):
            self.filter = RenyiFilter(alpha=alpha, epsilon=limit)
            self._meter = self.filter._meter

        @property
        def spent(self):
            return self.filter.spent

        def spend(self, *, epsilon):
            self.filter.spend(loss("pure", epsilon=epsilon))

    ends = played(9, ANALYSTS[analyst], Coins)
    for sign in (1, -1):
        mean = sum(first**alpha * second ** (1 - alpha) if sign > 0 else second**alpha * first ** (1 - alpha)
                   for first, second in ends)
        assert math.log(mean) / (alpha - 1) <= float(limit) * (1 + 1e-12)


def test_an_odometer_is_the_sum_where_it_is_pure():
    meter = Odometer()
    for _ in range(7):
        meter.spend(epsilon="0.1")
    assert meter.epsilon == F("0.7")
    meter.spend(PURE)
    assert meter.epsilon == F("0.8")


def test_an_odometer_at_the_rho_it_is_tuned_to():
    meter = Odometer(delta="1e-6", tuned_to="0.5")
    for _ in range(100):
        meter.spend(GAUSSIAN)
    assert float(meter.epsilon) == pytest.approx(0.5 + 2 * math.sqrt(0.5 * math.log(1e6)), rel=1e-9)
    meter.spend(rho="0.5")
    assert float(meter.epsilon) > 5.7565


def passing(analyst, part):
    """The chance that the loss ever passes `part` of an odometer's bound, over all answers."""
    passed, open_runs = 0.0, [((), 1.0, 1.0, ())]
    while open_runs:
        answers, first, second, amounts = open_runs.pop()
        meter = Odometer(delta="1/5", tuned_to="0.3")
        for amount in amounts:
            meter.spend(rho=loss("pure", epsilon=amount).rho())
        if amounts and math.log(first / second) > float(meter.epsilon * part) + 1e-12:
            passed += first
            continue
        amount = ANALYSTS[analyst](answers) if len(answers) < 9 else None
        if amount is None:
            continue
        truth = 1 / (1 + math.exp(-float(amount)))
        for answer, one, other in ((1, truth, 1 - truth), (0, 1 - truth, truth)):
            open_runs.append(((*answers, answer), first * one, second * other, (*amounts, amount)))
    return passed


@pytest.mark.parametrize("analyst", ANALYSTS)
def test_an_odometer_holds_at_every_moment_but_for_its_delta(analyst):
    assert passing(analyst, 1) <= 1 / 5


def test_a_third_of_an_odometers_bound_is_passed_too_often():
    assert passing("doubles when unlucky", F(1, 3)) > 1 / 5


@pytest.mark.parametrize("given", [{"delta": "1e-6"}, {"tuned_to": 1}, {"delta": 1, "tuned_to": 1}, {"delta": 2}])
def test_an_odometer_is_set_up_whole(given):
    with pytest.raises(Refusal):
        Odometer(**given)
