"""Filters at counts, shifts and limits other than one, where a wrong power or a wrong end would show."""

from fractions import Fraction

import pytest

import dpcurator as dp
from dpcurator.errors import OverBudget, Refusal
from dpcurator.privacy import zcdp

F = Fraction


def gaussian(variance, shift=1):
    return dp.Loss("gaussian", {"variance": variance, "shift": shift})


def test_a_gaussian_filter_adds_squares_of_mu():
    budget = dp.GaussianFilter(mu=3)
    assert budget.remaining == {"mu_squared": 9}
    budget.spend(gaussian(8, shift=2))  # mu squared 4/8
    budget.spend((gaussian(10, shift=3), 5))  # five times 9/10
    assert budget.spent == {"mu_squared": F(1, 2) + F(9, 2)}
    budget.spend(mu=2)
    assert budget.remaining == {"mu_squared": 0}
    with pytest.raises(OverBudget):
        budget.spend(mu="1e-9")


def test_a_loss_at_a_delta_costs_its_own_epsilon_and_many_cost_what_they_compose_to():
    loss, delta = gaussian(4), F(1, 10**6)
    budget = dp.ApproximateFilter(epsilon=100, delta="1e-3")
    budget.spend(loss, delta=delta)
    assert budget.spent == {"epsilon": loss.epsilon(delta), "delta": delta}
    before = budget.spent["epsilon"]
    budget.spend((loss, 4), delta=delta)
    cost = budget.spent["epsilon"] - before
    assert cost == dp.compose((loss, 4)).epsilon(delta=delta)
    assert 2 * loss.epsilon(delta) < cost + F(1, 2) < 4 * loss.epsilon(delta)
    mixed = dp.compose(loss, dp.Loss("gaussian", {"variance": 9, "shift": 1}))
    before = budget.spent["epsilon"]
    budget.spend(mixed, delta=delta)
    assert budget.spent["epsilon"] - before == mixed.epsilon(delta=delta) > loss.epsilon(delta)


def test_nothing_at_a_delta_costs_the_delta_alone():
    budget = dp.ApproximateFilter(epsilon=1, delta="1e-3")
    budget.spend(dp.compose(), delta="1e-6")
    assert budget.spent == {"epsilon": 0, "delta": F(1, 10**6)}


def test_the_delta_a_rho_filter_has_spent_is_still_its_own():
    budget = dp.ZcdpFilter(rho="1/2", delta="1e-7")
    promised = budget.epsilon(delta="1e-6")
    rest = (F(1, 10**6) - F(1, 10**7)) / (1 - F(1, 10**7))
    assert promised == zcdp.epsilon_of(F(1, 2), rest)
    budget.spend(rho="1/4", delta="6e-8")
    assert budget.epsilon(delta="1e-6") == promised
    for no_more in ("1e-7", "9e-8"):
        with pytest.raises(Refusal, match="above the filter's own"):
            budget.epsilon(delta=no_more)


@pytest.mark.parametrize("delta", [1, "-1e-9", "3/2"])
def test_a_delta_is_at_least_0_and_below_1(delta):
    for kind in (dp.ApproximateFilter, dp.ZcdpFilter):
        name = "epsilon" if kind is dp.ApproximateFilter else "rho"
        with pytest.raises(Refusal, match="at least 0 and below 1"):
            kind(**{name: 1}, delta=delta)


def test_a_loss_and_an_amount_are_never_taken_together():
    loss = dp.Loss("pure", {"epsilon": "1/10"})
    for budget, amount in ((dp.ApproximateFilter(epsilon=1), "epsilon"), (dp.ZcdpFilter(rho=1), "rho")):
        with pytest.raises(Refusal, match="not both"):
            budget.spend(loss, **{amount: "1/10"})
        assert set(budget.spent.values()) == {0}
