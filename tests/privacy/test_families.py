"""Every family of losses against its definition: sums and integrals term by term, values by hand, known mistakes."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction as F

import pytest
from losses import BY_ORDER, EPSILONS, OWN, VECTOR, WITH_A_LAW, loss, meet

from dpcurator.errors import Refusal
from dpcurator.numbers import Enclosure, exp_neg
from dpcurator.numbers.arb import ball, precision
from dpcurator.numbers.enclosure import bracket
from dpcurator.privacy.families import FAMILIES, WHOLE
from dpcurator.privacy.loss import Loss

SLACK = Enclosure(F(0), F(1, 2**200))  # of masses too far out to be added up


def masses(one: Loss) -> dict[int, Enclosure]:
    """P(Z = k) of a discrete noise, as far as it matters."""
    if one.family == "discrete_laplace":
        weight, far = (lambda k: exp_neg(abs(k) / one["scale"], 256)), math.ceil(150 * one["scale"]) + 20
    else:
        weight, far = (
            (lambda k: exp_neg(k * k / (2 * one["variance"]), 256)),
            math.isqrt(math.ceil(300 * one["variance"])) + 20,
        )
    weights = {k: weight(k) for k in range(-far, far + 1)}
    whole = sum(weights.values(), SLACK)
    return {k: value / whole for k, value in weights.items()}


NOISES = [one for one in WITH_A_LAW if one.family.startswith("discrete")]


@pytest.mark.parametrize("one", NOISES, ids=str)
def test_delta_of_discrete_noise_is_the_sum_over_outcomes(one: Loss) -> None:
    found, shift = masses(one), int(one["shift"])
    for eps in EPSILONS:
        factor, total = 1 / exp_neg(eps, 256), SLACK
        for k, mass in found.items():
            if k - shift in found:  # what is further out is in the slack
                gap = mass - factor * found[k - shift]
                total += Enclosure(max(gap.lo, F(0)), max(gap.hi, F(0)))
        assert meet(one.delta(eps), total)
        assert total.width < F(1, 2**100)


@pytest.mark.parametrize("one", NOISES, ids=str)
def test_mean_and_renyi_of_discrete_noise_are_the_sums_over_outcomes(one: Loss) -> None:
    found, shift = masses(one), int(one["shift"])

    def ratio(k: int) -> F:
        if one.family == "discrete_laplace":
            return F(abs(k - shift) - abs(k)) / one["scale"]
        return F(shift * shift - 2 * k * shift) / (2 * one["variance"])

    mean = sum((mass * ratio(k) for k, mass in found.items()), Enclosure(-F(1, 2**100), F(1, 2**100)))
    assert meet(one.kl(), mean)
    for alpha in (F(3, 2), F(2), F(7, 3), F(5)):
        with precision(300):
            moment = sum(ball(mass.lo) * ball((alpha - 1) * ratio(k)).exp() for k, mass in found.items())
            direct = bracket(moment.log() / ball(alpha - 1))
        found_one = one.renyi(alpha)
        assert abs(direct.lo - found_one.lo) < F(1, 2**60)


def test_values_by_hand() -> None:
    """Discrete Laplace, shift 1: KL = (1-p)/(1+p)/b, delta(0) the same times b; others from their closed forms."""
    p = math.exp(-1)
    by_hand = [
        (loss("discrete_laplace", scale=1, shift=1), (1 - p) / (1 + p)),
        (loss("laplace", scale=1, shift=1), 0.36787944117144233),
        (loss("gaussian", variance=4, shift=3), 9 / 8),
        (loss("discrete_gaussian", variance=4, shift=3), 9 / 8),
        (loss("pure", epsilon=1), math.tanh(0.5)),
        (loss("randomised_response", truth="3/4", lie="1/4"), math.log(3) / 2),
        (loss("unary_encoding", p="1/2", q="1/4"), math.log(3) / 4),
        (loss("bounded_range", epsilon=1), math.log(math.e - 1) - 1 + 1 / (math.e - 1)),
        (VECTOR, 5 / 4),
    ]
    for one, mean in by_hand:
        assert math.isclose(float(one.kl().lo), mean, rel_tol=1e-12), one
    assert math.isclose(float(loss("laplace", scale=1, shift=1).delta(F(1, 2)).lo), 1 - math.exp(-0.25), rel_tol=1e-12)
    assert loss("laplace", scale=1, shift=1).delta(F(1)) == Enclosure.exactly(0)
    assert meet(loss("randomised_response", truth="3/4", lie="1/4").delta(F(0)), Enclosure.exactly(F(1, 2)))
    assert loss("randomised_response", truth="3/4", lie="1/4").pure_epsilon() - F(math.log(3)) < F(1, 10**15)
    assert loss("approximate", epsilon=1, delta="1e-3").delta(F(2)) == Enclosure.exactly(F(1, 1000))


def test_a_shift_of_two_to_the_sixty_takes_no_longer_than_one() -> None:
    """A loop over the shift would not end. With shift = scale the law is the continuous one, to 2**-60."""
    wide = loss("discrete_laplace", scale=2**60, shift=2**60)
    smooth = loss("laplace", scale=1, shift=1)
    for eps in (F(0), F(1, 2), F(99, 100)):
        assert math.isclose(float(wide.delta(eps).lo), float(smooth.delta(eps).lo), rel_tol=1e-12)
    assert math.isclose(float(wide.kl().lo), float(smooth.kl().lo), rel_tol=1e-12)
    assert math.isclose(float(wide.renyi(F(5, 2)).lo), float(smooth.renyi(F(5, 2)).lo), rel_tol=1e-12)
    sharp = loss("discrete_laplace", scale=1, shift=2**60)
    assert sharp.delta(F(1)).surely_above(1 - F(1, 2**60))
    assert sharp.kl().surely_above(2**60 - 2)
    assert wide.distribution(atoms=10).below.surely_above(F(49, 100))


@pytest.mark.parametrize("vector", [(1, 1), (1, 2), (2, 2), (1, 1, 1)])
@pytest.mark.parametrize("scale", [F(1, 2), F(1), F(3)])
def test_a_vector_is_no_worse_than_one_shift_of_its_l1_length(vector: tuple[int, ...], scale: F) -> None:
    """The product of the coordinates' laws, atom by atom; and it is strictly better, so the test has a bite."""
    single = loss("discrete_laplace", scale=scale, shift=sum(vector))
    laws = [loss("discrete_laplace", scale=scale, shift=part).distribution().atoms for part in vector]
    joint: dict[F, Enclosure] = {}
    for atoms in itertools.product(*laws):
        mass = math.prod((atom.mass for atom in atoms), start=Enclosure.exactly(1))
        value = sum((atom.loss for atom in atoms), F(0))
        joint[value] = joint.get(value, Enclosure.exactly(0)) + mass
    ratios = []
    for eps in (F(0), F(1, 5), F(1), F(7, 4)):
        total = sum((m * (1 - exp_neg(v - eps)) for v, m in joint.items() if v > eps), Enclosure.exactly(0))
        assert total.lo <= single.delta(eps).hi
        ratios.append(float(total.lo) / float(single.delta(eps).lo or 1))
    assert min(ratios) < 0.999


@pytest.mark.parametrize("epsilon", ["1/10", "1", "5"])
def test_bounded_range_is_the_worst_of_its_two_point_pairs(epsilon: str) -> None:
    """delta and KL against a scan over t; at its own t the pair attains delta."""
    eps, one = float(F(epsilon)), loss("bounded_range", epsilon=epsilon)
    for x in (0.0, 0.3 * eps, 0.9 * eps):
        found = float(one.delta(F(x)).hi)
        scan = []
        for i in range(1001):
            t = eps * i / 1000
            p = (math.exp(eps) - math.exp(t)) / math.expm1(eps)
            scan.append(max(p * (1 - math.exp(x - t)), 0))
        assert found >= max(scan) * (1 - 1e-9)
        assert math.isclose(found, max(scan), rel_tol=1e-3)
        assert found < float(loss("pure", epsilon=epsilon).delta(F(x)).hi)
    means = [(eps * i / 1000) - eps * math.expm1(eps * i / 1000) / math.expm1(eps) for i in range(1001)]
    assert math.isclose(float(one.kl().hi), max(means), rel_tol=1e-5)
    assert one.kl().surely_at_most(one.rho())
    assert one.distribution().mean().surely_above(one.kl())


@pytest.mark.parametrize("one", WITH_A_LAW, ids=str)
def test_measures_agree_with_one_another(one: Loss) -> None:
    """delta falls; KL <= rho; Renyi rises with its order, from KL, up to the pure epsilon; Pinsker."""
    deltas = [one.delta(eps) for eps in EPSILONS]
    assert all(later.lo <= earlier.hi for earlier, later in itertools.pairwise(deltas))
    assert all(delta.lo >= 0 and delta.hi <= 1 for delta in deltas)
    known = FAMILIES[one.family]
    if known.pure_epsilon is not None:
        assert one.delta(one.pure_epsilon()).hi == 0
        assert one.kl().lo <= one.pure_epsilon()
    if known.rho is not None:
        assert one.kl().lo <= one.rho()
        assert deltas[0].lo ** 2 <= one.kl().hi / 2
    if known.renyi is not None:
        orders = [F(1001, 1000), F(3, 2), F(2), F(10)]
        renyi = [one.renyi(alpha) for alpha in orders]
        assert all(earlier.lo <= later.hi for earlier, later in itertools.pairwise(renyi))
        assert one.kl().lo <= renyi[0].hi
        assert all(found.lo <= alpha * one.rho() for alpha, found in zip(orders, renyi, strict=True))
        if known.pure_epsilon is not None:
            assert renyi[-1].lo <= one.pure_epsilon()


@pytest.mark.parametrize("one", WITH_A_LAW, ids=str)
def test_directions_are_alike_and_named(one: Loss) -> None:
    for direction in ("forward", "backward"):
        assert one.delta_of(direction, F(1, 2)) == one.delta(F(1, 2))
    with pytest.raises(Refusal, match="forward or backward"):
        one.delta_of("both", F(1))


@pytest.mark.parametrize("one", WITH_A_LAW, ids=str)
@pytest.mark.parametrize("delta", ["1/2", "1/100", "1e-6", "1e-30"])
def test_epsilon_is_the_least_and_is_proved(one: Loss, delta: str) -> None:
    most = F(delta)
    if one.family == "approximate" and one["delta"] > most:
        with pytest.raises(Refusal, match="no epsilon"):
            one.epsilon(most)
        return
    found = one.epsilon(most)
    assert one.delta(found).hi <= most
    if found > 0:
        assert one.delta(found * (1 - F(1, 10**9))).hi > most


def test_epsilon_at_delta_0_is_the_pure_one() -> None:
    assert loss("discrete_laplace", scale=3, shift=1).epsilon(F(0)) == F(1, 3)
    assert loss("approximate", epsilon=1, delta="1e-3").epsilon(F("1e-3")) == 1
    for one in (loss("gaussian", variance=1, shift=1), loss("approximate", epsilon=1, delta="1e-3")):
        with pytest.raises(Refusal, match="no epsilon"):
            one.epsilon(F(0))
    assert math.isclose(float(loss("gaussian", variance=1, shift=1).epsilon(F("1e-6"))), 4.8865541, rel_tol=1e-7)
    assert math.isclose(float(loss("laplace", scale=10, shift=1).epsilon(F("1e-6"))), 0.099998, rel_tol=1e-7)


@pytest.mark.parametrize(
    ("one", "delta", "eps"),
    [
        (loss("pure", epsilon="0.1"), "1e-6", 0.09999809516076777),
        (loss("pure", epsilon=1), "1e-12", 0.9999999999986321),
        (loss("randomised_response", truth="3/4", lie="1/4"), "1/8", math.log(2.5)),
        (loss("bounded_range", epsilon="0.1"), "1e-6", 0.0993829361574911),
        (loss("discrete_gaussian", variance=1, shift=1), "1e-6", 4.499590982194307),
        (loss("discrete_gaussian", variance="1/4", shift=1), "1e-6", 9.996247724900838),
        (loss("gaussian", variance=1, shift=1), "1e-12", 7.2384944),
    ],
    ids=str,
)
def test_epsilon_agrees_with_values_of_60_digits(one: Loss, delta: str, eps: float) -> None:
    """Independent values of arbitrary precision; t - e**eps l = 1/8 by hand."""
    assert math.isclose(float(one.epsilon(F(delta))), eps, rel_tol=1e-8)


def test_what_is_not_known_is_refused_by_name() -> None:
    leaky = loss("approximate", epsilon=1, delta="1e-3")
    for call in (
        leaky.kl,
        leaky.rho,
        VECTOR.distribution,
    ):
        with pytest.raises(Refusal, match=r"approximate|vector"):
            call()
    with pytest.raises(Refusal, match="no delta"):
        VECTOR.delta(F(1))
    with pytest.raises(Refusal, match="above 1"):
        WITH_A_LAW[0].renyi(F(1))
    with pytest.raises(Refusal, match="Renyi"):
        VECTOR.renyi(F(2))
    with pytest.raises(Refusal, match="infinite"):
        leaky.distribution().mean()
    with pytest.raises(Refusal, match="below 1"):
        WITH_A_LAW[0].epsilon(F(1))


@pytest.mark.parametrize(
    ("family", "parameters"),
    [
        ("discrete_laplace", {"scale": 0, "shift": 1}),
        ("discrete_laplace", {"scale": 1, "shift": "1/2"}),
        ("discrete_laplace", {"shift": 1}),
        ("laplace", {"scale": 1, "shift": -1}),
        ("gaussian", {"variance": 0, "shift": 1}),
        ("gaussian", {"sigma": 1, "shift": 1}),
        ("pure", {"epsilon": -1}),
        ("approximate", {"epsilon": 1, "delta": 1}),
        ("randomised_response", {"truth": 1, "lie": 0}),
    ],
)
def test_impossible_parameters_are_refused(family: str, parameters: dict[str, object]) -> None:
    with pytest.raises(Refusal):
        loss(family, **parameters)


def test_randomised_response_of_chances_above_one_is_refused() -> None:
    with pytest.raises(Refusal, match="sum to at most 1"):
        loss("randomised_response", truth="3/4", lie="1/2")


def test_every_family_has_a_worst_pair_in_words() -> None:
    assert {one.family for one in (*WITH_A_LAW, *OWN, *BY_ORDER, VECTOR)} == set(WHOLE)
    for one in (*WITH_A_LAW, VECTOR):
        pair = one.worst_pair()
        assert str(pair) == f"{pair.first} against {pair.second}, {pair.where}"
    assert str(WITH_A_LAW[0].worst_pair()) == "Z against Z + 3, Z discrete Laplace of scale 1.5"
