"""A certified point for questions together: an oracle worked out from coins, laws, and the losses of what is priced."""

from __future__ import annotations

import math
from fractions import Fraction as F

import pytest
from hypothesis import given
from hypothesis import strategies as st
from power import tried
from questions import CATALOG

from dpcurator.accounting.bracket import bracket
from dpcurator.accounting.composition import compose
from dpcurator.pricing.joint_guarantee import FIGURES, MOST, as_pure, point_of, rounded_up
from dpcurator.privacy.loss import Loss
from dpcurator.receipts.loss import losses_of
from receipts import CATALOGS, curator

D = F(1, 10**9)


def laplace(scale: object, shift: int) -> Loss:
    return Loss("discrete_laplace", (("scale", F(str(scale))), ("shift", F(shift))))


def coins_delta(k: int, e: float, eps: float) -> float:
    """Of k coins that give +e or -e: a sum of positive parts, one for each number of heads; no formula for the best."""
    p = 1 / (1 + math.exp(-e))
    total = 0.0
    for heads in range(k + 1):
        loss = (2 * heads - k) * e
        if loss > eps:
            total += math.comb(k, heads) * p**heads * (1 - p) ** (k - heads) * -math.expm1(eps - loss)
    return total


@pytest.mark.parametrize(("k", "scale", "delta"), [(60, 10, D), (100, 50, D), (100, 20, F(1, 10**6)), (300, 40, D)])
def test_noise_on_counts_of_rows_is_a_coin_and_the_point_is_the_least(k, scale, delta):
    """Discrete Laplace noise moved by 1 loses +1/scale or -1/scale, and nothing else."""
    point = point_of([laplace(scale, 1)] * k, delta)
    assert point is not None
    assert coins_delta(k, 1 / scale, float(point.epsilon)) <= delta * (1 + F(1, 10**9))
    assert coins_delta(k, 1 / scale, float(point.epsilon) * 0.997) > delta
    assert point.epsilon < F(k, scale)


LOSSES = st.one_of(
    st.builds(laplace, st.integers(2, 10**5), st.integers(1, 50)),
    st.builds(
        lambda v, s: Loss("discrete_gaussian", (("variance", F(v)), ("shift", F(s)))), st.integers(50, 10**6),
        st.integers(1, 9),
    ),
    st.builds(
        lambda v, s: Loss("discrete_gaussian_vector", (("variance", F(v)), ("l2_squared", F(s)))),
        st.integers(50, 10**6), st.integers(1, 99),
    ),
    st.builds(
        lambda e, d: Loss("approximate", (("epsilon", F(e, 100)), ("delta", F(1, d)))), st.integers(1, 50),
        st.integers(10**8, 10**12),
    ),
)


@given(st.lists(st.tuples(LOSSES, st.integers(2, 30)), min_size=1, max_size=4))
@tried
def test_it_is_the_brackets_upper_end_rounded_up_and_above_the_lower_one(parts):
    losses = [loss for loss, count in parts for _ in range(count)]
    point = point_of(losses, F(1, 10**6))
    assert point == point_of(losses[::-1], F(1, 10**6))
    assert point is not None
    made = bracket(compose(*losses).parts, delta=F(1, 10**6), accuracy="1e-3", seconds=10**9)
    assert made.lower <= point.epsilon
    if made.method not in ("sum", "own curve"):
        assert made.upper <= point.epsilon == rounded_up(made.upper) <= made.upper * F(1002, 1000)


@given(st.lists(LOSSES, min_size=2, max_size=6), LOSSES)
@tried
def test_one_more_loss_is_never_cheaper(losses, more):
    """Up to the width of what is certified."""
    one, both = point_of(losses, F(1, 10**6)), point_of([*losses, more], F(1, 10**6))
    assert one is not None
    assert both is not None
    assert one.epsilon <= both.epsilon * F(1002, 1000)


def test_what_may_reveal_everything_beyond_the_delta_has_no_point():
    selection = Loss("approximate", (("epsilon", F(1)), ("delta", F(1, 10**6))))
    assert point_of([selection] * 2, F(199, 10**8)) is None
    found = point_of([selection] * 2, F(3, 10**6))
    assert found is not None
    assert F(19, 10) < found.epsilon <= 2


def test_a_single_loss_has_its_own_price_and_no_point():
    assert point_of([laplace(10, 1)], D) is None
    assert point_of([], D) is None


def test_many_different_losses_take_formulas_and_those_of_one_epsilon_are_one():
    odd = [laplace(20 + n, 1) for n in range(MOST + 1)]
    found = point_of(odd * 3, D)
    assert found is not None
    assert found.method != "pld"
    alike = [laplace(100 * n, n) for n in range(1, MOST + 2)]
    assert {as_pure(loss) for loss in alike} == {Loss("pure", (("epsilon", F(1, 100)),))}
    together = point_of(alike * 2, D)
    assert together == point_of([as_pure(loss) for loss in alike] * 2, D)
    assert together is not None
    assert together.epsilon < F(2 * len(alike), 100)


def test_of_what_promises_nothing_no_distribution_is_made():
    for scale in ("1e-3", "1e-6", "1e-12"):
        found = point_of([laplace(scale, 1)] * 30, D)
        assert found is not None
        assert found.method != "pld"
        assert found.epsilon >= F(30) / F(scale) - 1


def test_rounded_up():
    assert [rounded_up(F(text)) for text in ("0", "1", "0.99991", "12345", "1.0001", "0.00012341")] == [
        0, 1, 1, 12350, F("1.001"), F("0.0001235"),
    ]
    assert FIGURES == 4


@pytest.mark.parametrize("name", ["approximate", "unknown", "unknown, replaced"])
def test_the_losses_of_a_quote_are_what_it_is_charged_for(name):
    """In an epsilon ledger: pure losses and selections add up to the price; a Gaussian has the rho it says."""
    made = curator(CATALOGS[name])
    for text in (
        "SELECT city, COUNT(*) AS n, AVG(age) FROM visits GROUP BY city",
        "SELECT COUNT(*) FROM visits",
        "SELECT day, COUNT(*) FROM visits GROUP BY day",
        "SELECT g, SUM(x) FROM rows GROUP BY g",
    ):
        for delta in (0, F(1, 10**4)):
            try:
                quote = made.quote(text, epsilon=2, delta=delta)
            except Exception:  # unknown keys without a delta
                assert delta == 0
                continue
            losses = losses_of(quote.parameters())
            assert len(losses) == len(quote.priced) + (quote.selecting is not None)
            gaussian = [loss for loss in losses if loss.family.startswith("discrete_gaussian")]
            if not gaussian:
                assert sum(loss["epsilon"] if "epsilon" in loss.given else loss.pure_epsilon() for loss in losses) == 2
            for loss, one in zip(losses, quote.priced, strict=False):
                if loss in gaussian and one.rho:
                    assert loss.rho() <= one.rho


def test_a_reading_that_cannot_move_loses_as_if_it_could():
    quote = curator(CATALOG).quote("SELECT COUNT(*) FROM visits", epsilon=1)
    parameters = quote.parameters()
    still = [one | {"linf": 0, "l1": 0, "l2_squared": 0} for one in parameters["mechanisms"]]
    (loss,) = losses_of({"mechanisms": still, "selection": None})
    assert loss["shift"] == 1


@pytest.mark.parametrize("wrong", [{}, {"mechanisms": []}, {"mechanisms": [{"mechanism": "x"}], "selection": None}])
def test_other_parameters_have_no_losses(wrong):
    with pytest.raises((LookupError, ValueError)):
        losses_of(wrong)
