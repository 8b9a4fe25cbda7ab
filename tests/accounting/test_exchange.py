"""Loss distributions of other accountants, by their attributes: what is read, what is written, and what is refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction as F
from types import SimpleNamespace as Theirs
from typing import Any

import pytest

import dpcurator as dp
from dpcurator.accounting import exchange

POISSON = dp.Loss("gaussian", sigma=1).sampled(poisson="0.1")


def pmf(made: dict[str, Any], *, dense: bool = False, pessimistic: bool = True) -> Theirs:
    """A PLDPmf of dp-accounting, in either of its forms."""
    common = {"_discretization": made["discretization"], "_infinity_mass": made["infinity_mass"],
              "_pessimistic_estimate": pessimistic}  # fmt: skip
    if not dense:
        return Theirs(_loss_probs=made["loss_probs"], **common)
    first, last = min(made["loss_probs"]), max(made["loss_probs"])
    return Theirs(_lower_loss=first, _probs=[made["loss_probs"].get(i, 0.0) for i in range(first, last + 1)], **common)


def delta_of(made: dict[str, Any], eps: float) -> float:
    h = made["discretization"]
    finite = (mass * -math.expm1(eps - i * h) for i, mass in made["loss_probs"].items() if i * h > eps)
    return made["infinity_mass"] + math.fsum(finite)


@pytest.mark.parametrize("loss", [
    dp.Loss("laplace", scale=1, shift=1), POISSON, dp.Loss("approximate", epsilon=1, delta="1e-3"),
    dp.two_pmfs(["0.7", "0.3"], ["0.2", "0.8"]), dp.Loss("gaussian", sigma=2),
], ids=lambda one: one.family)  # fmt: skip
def test_what_is_exported_dominates_and_is_near(loss: dp.Loss) -> None:
    made = dp.export_pld(loss, step="0.02")
    for way, direction in (("remove", "forward"), ("add", "backward")):
        for eps in (F(0), F(1, 20), F(1, 3), F(1)):
            right, found = loss.delta_of(direction, eps), delta_of(made[way], float(eps))
            assert found >= float(right.lo) * (1 - 1e-12)
            assert found <= float(right.hi) + 2e-3


SAMPLED = dp.Loss("gaussian", sigma=1).sampled(fixed_size="0.1")
ROUND_TRIPS = [
    dp.Loss("discrete_laplace", scale=2, shift=1), dp.Loss("discrete_gaussian", sigma=2), dp.Loss("pure", epsilon=1),
    dp.Loss("randomised_response", truth="0.75", lie="0.25"), dp.Loss("unary_encoding", p="0.75", q="0.25"),
    dp.Loss("bounded_range", epsilon=1), dp.privacy_profile({1: "1e-3", 2: "1e-6"}), SAMPLED,
    dp.Loss("laplace", scale=1, shift=1).sampled(poisson="0.1"), dp.Loss("approximate", epsilon=1, delta="1e-3"),
    dp.gaussian_mixture([0, 1, 2], ["0.81", "0.18", "0.01"], sigma=2), dp.two_pmfs(["0.7", "0.3"], ["0.2", "0.8"]),
    dp.Loss("approximate", epsilon="0.1", delta="1e-3").sampled(poisson="0.5"),
]  # fmt: skip


@pytest.mark.parametrize("loss", ROUND_TRIPS, ids=lambda one: one.family)
def test_what_goes_out_and_in_twice_dominates_and_stays_near(loss: dp.Loss) -> None:
    """Atoms of what was read lie next to the points of the grid that it came from, and are not taken for infinite."""
    found = loss
    for _ in range(2):
        made = dp.export_pld(found, step="0.05")
        found = dp.import_pld(Theirs(_pmf_remove=pmf(made["remove"]), _pmf_add=pmf(made["add"])))
        for direction in ("forward", "backward"):
            for eps in (F(0), F(1, 3), F(1)):
                right, there = loss.delta_of(direction, eps), found.delta_of(direction, eps)
                assert there.hi >= right.lo * (1 - F(1, 10**12))
                assert there.hi <= right.hi + F(1, 100)


def test_masses_rounded_down_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    total = F(0)
    for mass in dp.export_pld(dp.Loss("laplace", scale=1, shift=1), step="0.02")["remove"]["loss_probs"].values():
        total += F(mass)
    assert total >= 1
    monkeypatch.setattr(exchange, "_up", lambda mass: math.nextafter(float(mass.mid()), 0.0))
    less = dp.export_pld(dp.Loss("laplace", scale=1, shift=1), step="0.02")["remove"]["loss_probs"].values()
    assert sum(map(F, less)) < 1


@pytest.mark.parametrize("dense", [False, True])
def test_theirs_are_read_and_never_below(dense: bool) -> None:
    made = dp.export_pld(POISSON, step="0.02")
    loss = dp.import_pld(Theirs(_pmf_remove=pmf(made["remove"], dense=dense), _pmf_add=pmf(made["add"], dense=dense)))
    for way, direction in (("remove", "forward"), ("add", "backward")):
        for eps in (F(0), F(1, 3), F(1)):
            found = loss.delta_of(direction, eps)
            assert found.hi >= POISSON.delta_of(direction, eps).lo
            assert float(found.hi) == pytest.approx(delta_of(made[way], float(eps)), rel=1e-9)
    one = pmf(made["remove"], dense=dense)
    same = dp.import_pld(Theirs(_pmf_remove=one, _pmf_add=one))
    assert same.delta_of("forward", 1) == same.delta_of("backward", 1)


def test_a_discrete_privacy_random_variable_is_read_with_what_it_left_out() -> None:
    gaussian = dp.Loss("gaussian", sigma=2)
    made = dp.export_pld(gaussian, step="0.05", form="prv")["remove"]
    domain = Theirs(t_min=lambda: made["t_min"], dt=lambda: 0.05)
    prv = Theirs(pmf=made["pmf"], domain=domain, log_pmc_inf=made["log_pmc_inf"])
    loss = dp.import_pld(prv, width=0, outside="1e-9", backward="same")
    assert made["size"] % 2 == 0
    assert made["t_max"] - made["t_min"] == pytest.approx(0.05 * (made["size"] - 1))
    assert gaussian.delta(1).lo < loss.delta(1).hi < gaussian.delta(1).hi * F(11, 10)
    assert loss.delta(50).hi >= F(1, 10**9)
    wider = dp.import_pld(prv, width="0.05", outside="1e-9", backward="same")
    assert wider.delta(1).lo > loss.delta(1).hi


@pytest.mark.parametrize("delta", ["1e-300", "1e-3", "0.5", "0.999", "0.99999999999999999999"])
def test_masses_for_prv_are_given_that_the_loss_is_finite(delta: str) -> None:
    """Its delta at eps is 1 - f + f times the sum of the masses' worths, ln f being log_pmc_inf."""
    loss = dp.Loss("approximate", epsilon=1, delta=delta)
    for way, direction in (("remove", "forward"), ("add", "backward")):
        made = dp.export_pld(loss, step="0.1", form="prv")[way]
        finite = F(math.exp(made["log_pmc_inf"]))
        points = [made["t_min"] + 0.1 * i for i in range(made["size"])]
        for eps in (0.0, 0.5):
            worths = (m * -math.expm1(eps - t) for m, t in zip(made["pmf"], points, strict=True) if t > eps)
            found = 1 - finite + finite * F(math.fsum(worths))
            right = loss.delta_of(direction, F(eps))
            assert right.lo * (1 - F(1, 10**12)) <= found <= right.hi + F(1, 10**9)


@pytest.mark.parametrize(("make", "words"), [
    (lambda: dp.import_pld(3), "int is no privacy loss distribution"),
    (lambda: dp.import_pld(theirs(pessimistic=False)), "bounds nothing from above"),
    (lambda: dp.import_pld(theirs(), width=1), "rounded up"),
    (lambda: dp.import_pld(theirs(), outside=0), "Leave both out"),
    (lambda: dp.import_pld(Theirs(pmf=[1.0], domain=None, log_pmc_inf=0.0)), "Say all"),
    (lambda: dp.export_pld(dp.Loss("zcdp", rho=1)), "no privacy loss distribution"),
    (lambda: dp.export_pld(dp.Loss("gaussian", sigma=1), step="1e-6"), "wider step"),
    (lambda: dp.export_pld(dp.Loss("gaussian", sigma=1), form="csv"), "form"),  # type: ignore[arg-type]
])  # fmt: skip
def test_what_is_not_understood_is_refused(make: Callable[[], Any], words: str) -> None:
    with pytest.raises(dp.Refusal, match=words):
        make()


def theirs(**how: Any) -> Theirs:
    one = pmf({"loss_probs": {-1: 0.25, 1: 0.75}, "discretization": 1.0, "infinity_mass": 0.0}, **how)
    return Theirs(_pmf_remove=one, _pmf_add=one)


def test_an_optimistic_one_with_its_width_is_moved_up() -> None:
    loss = dp.import_pld(theirs(pessimistic=False), width="0.5")
    assert (loss["loss0"], loss["loss1"]) == (F(-1, 2), F(3, 2))


@pytest.mark.parametrize("infinite", ["1e-20", "1e-300"])
def test_a_small_chance_of_an_infinite_loss_is_kept(infinite: str) -> None:
    domain = Theirs(t_min=lambda: -1.0, dt=lambda: 1.0)
    prv = Theirs(pmf=[0.25, 0.0, 0.75], domain=domain, log_pmc_inf=-float(infinite))
    loss = dp.import_pld(prv, width=0, outside=0, backward="same")
    assert F(float(infinite)) * F(999, 1000) < loss.distribution(atoms=1).infinite < F(float(infinite)) * F(1001, 1000)
    with pytest.raises(dp.Refusal, match="infinite"):
        loss.pure_epsilon()
