"""One loss on a grid: what dominates it and what it dominates, at every epsilon, aligned with its atoms or not."""

import random
from fractions import Fraction

import pytest

import dpcurator as dp
from dpcurator.accounting.parse import spelled
from dpcurator.accounting.pld.discretise import SLACK, _lower, cells
from dpcurator.accounting.pld.lattice import attained, reduced, shape, simplest
from dpcurator.numbers import exp_neg
from dpcurator.numbers.arb import precision
from dpcurator.privacy.families import WHOLE

F = Fraction
TEXTS = [
    "laplace(epsilon=0.37)",
    "gaussian(sigma=1.7)",
    "exponential(epsilon=0.8)",
    "pure(epsilon=0.5)",
    "approximate(epsilon=0.5, delta=0.01)",
    "randomised_response(truth=0.5, lie=0.2)",
    "unary_encoding(p=0.5, q=0.3)",
    "discrete_laplace(scale=9, sensitivity=4)",
    "discrete_gaussian(sigma=2)",
]


def delta(masses, points, eps):
    """The sum of masses times (1 - e**(eps - x))+, as an enclosure."""
    total = dp.Loss("pure", (("epsilon", 0),)).delta(0)
    for mass, x in zip(masses, points, strict=True):
        if x > eps and mass:
            total += mass * (1 - exp_neg(x - eps))
    return total


def upper_end(value):
    from dpcurator.numbers.enclosure import bracket

    return bracket(value).hi


@pytest.mark.parametrize("step", ["1/4", "1/10", "1/37"])
@pytest.mark.parametrize("anchor", ["0", "own", "1/19"])
@pytest.mark.parametrize("text", TEXTS)
def test_the_two_rows_are_on_either_side_of_the_curve(text, anchor, step):
    loss, step = spelled(text).parts[0][0], F(step)
    start = shape(loss).anchor or F(0) if anchor == "own" else F(anchor)
    last = 0 if anchor == "own" and loss.family != "gaussian" else int(F(3) / step)
    if loss.family == "discrete_gaussian":
        last = int(F(3) / step)
    first = -int(F(3) / step)
    found = cells(loss, anchor=start, step=step, first=first, last=last)
    points = [start + i * step for i in range(first, last + 1)]
    for eps in (F(i, 17) for i in range(20)):
        above = delta([upper_end(mass) for mass in found.upper], points, eps) + upper_end(found.above)
        lowered = [F(mass, 1 << found.unit) for mass in found.lower]
        below = delta(lowered, [x - SLACK for x in points], eps) + found.infinite
        right = loss.delta(eps)
        assert below.lo <= right.hi
        assert right.lo <= above.hi
        assert above.hi - below.lo <= 2 * step


@pytest.mark.parametrize("text", [TEXTS[3], TEXTS[5], TEXTS[7], TEXTS[8]])
def test_where_the_atoms_are_points_nothing_is_lost(text):
    loss = spelled(text).parts[0][0]
    seen = shape(loss)
    found = cells(loss, anchor=seen.anchor, step=seen.gap, first=-120, last=0 if "gaussian" not in text else 120)
    for mass, lower in zip(found.upper, found.lower, strict=True):
        assert abs(float(mass) - lower / 2**found.unit) < 1e-30 + 1e-15 * float(mass)


@pytest.mark.parametrize("seed", range(300))
def test_lumps_of_any_pieces_are_dominated_by_them(seed):
    """In few bits, so that roundings matter: pieces of rising loss, tiny ones among them, on points of any worth."""
    chance = random.Random(seed)
    unit = chance.choice([6, 10, 20])
    worths, pieces = [chance.randint(1, 1 << unit)], []
    for _ in range(8):
        worths.append(worths[-1] + chance.randint(1, 1 << chance.choice([3, unit])))
    for i in range(8):
        for ratio in sorted(chance.randint(worths[i], worths[i + 1]) for _ in range(chance.randint(0, 2))):
            p = chance.choice([chance.randint(1, 6), chance.randint(1, 1 << unit)])
            pieces.append((p, -(-(p << unit) // ratio), i))  # q up: the loss is at most that ratio
    masses = _lower(iter(pieces), worths, unit, F(1, 7))
    for place in range(0, worths[-1] + 1, max(1, worths[-1] // 40)):
        level = F(place, 1 << unit)
        right = sum(max(p - level * q, 0) for p, q, _ in pieces)
        assert (
            sum(max(p - level * p * (1 << unit) / worth, 0) for p, worth in zip(masses, worths, strict=True)) <= right
        )


@pytest.mark.parametrize("family", [name for name, known in WHOLE.items() if known.tails_on_grid is not None])
@pytest.mark.parametrize("start", ["-3", "-1/3", "1/5", "2"])
def test_ladders_are_the_laws_tails(family, start):
    """Both hold the number, and both are narrow; where a law has no mass between two points, they are one pair."""
    loss = next(loss for text in TEXTS for loss, _ in spelled(text).parts if loss.family == family)
    law, step = loss.distribution(), F(1, 7)
    with precision(160):
        found = WHOLE[family].tails_on_grid(loss.given, F(start), step, 40)
        assert found is not None
        for i, pair in enumerate(found):
            x = F(start) + i * step
            right = law.survival(law.place(x), 160)
            for one, other in zip(pair, right, strict=True):
                assert one.overlaps(other)
                assert one.rad() <= 1e-40
            if i and law.place(x) == law.place(x - step):
                assert pair is found[i - 1]


def test_a_family_without_a_law_is_refused():
    vector = spelled("discrete_gaussian_vector(variance=9, l2_squared=2)").parts[0][0]
    with pytest.raises(dp.Refusal):
        cells(vector, anchor=F(0), step=F(1), first=-2, last=2)
    with pytest.raises(dp.Refusal):
        shape(vector)


def test_fewer_parts_are_the_same_composition():
    parts = spelled("2 * laplace(scale=10) + laplace(epsilon=0.1) + 4 * gaussian(sigma=4) + gaussian(sigma=2)").parts
    fewer, spare = reduced(parts)
    assert [(one.family, count) for one, count in fewer] == [("laplace", 3), ("gaussian", 1)]
    assert fewer[1][0].rho() == F(1, 4)
    assert spare == 0
    assert simplest(spelled("approximate(epsilon=0, delta=0)").parts[0][0]) is None
    assert simplest(spelled("unary_encoding(p=0.5, q=0.5)").parts[0][0]) is None


def test_what_is_set_apart_of_long_sums_is_counted():
    parts = dp.compose(*(spelled(f"gaussian(sigma={i}/7)").parts[0][0] for i in range(401, 500))).parts
    fewer, spare = reduced(parts)
    exact = sum(count * F(1) / loss["variance"] for loss, count in parts)
    assert len(fewer) == 1
    assert 0 <= exact - 1 / fewer[0][0]["variance"] <= spare**2


def test_a_lower_bound_of_a_range_is_of_one_of_its_mechanisms():
    one = spelled("exponential(epsilon=0.8) + laplace(epsilon=1)").parts
    assert {loss.family for loss, _ in attained(list(one))} == {"pure", "laplace"}
    coin = attained(list(one))[0][0]
    assert coin.pure_epsilon() == F(2, 5)
    assert all(coin.delta(F(i, 10)).lo <= one[0][0].delta(F(i, 10)).hi for i in range(10))
