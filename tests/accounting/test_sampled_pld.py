"""Losses on samples, composed: cells and doubles against the laws, brackets against direct sums of both directions."""

import math
import random
from fractions import Fraction

import direct_sampled
import direct_sums
import numpy as np
import pytest

import dpcurator as dp
from dpcurator.accounting.estimate.floats import tails
from dpcurator.accounting.parse import spelled
from dpcurator.accounting.pld import certificate, discretise, grid_choice
from dpcurator.accounting.pld import certified as pld
from dpcurator.accounting.pld.certified import certified
from dpcurator.accounting.pld.discretise import SLACK, Run, cells
from dpcurator.accounting.pld.lattice import attained, both_ways, shape, simplest
from dpcurator.accounting.pld.thinning import thinned
from dpcurator.numbers import exp_neg
from dpcurator.numbers.arb import ball, precision
from dpcurator.numbers.enclosure import bracket
from dpcurator.privacy.families import SAMPLED

F = Fraction
WHOLE = [
    "laplace(epsilon=0.9)",
    "gaussian(sigma=1.7)",
    "exponential(epsilon=0.8)",
    "pure(epsilon=0.5)",
    "pure(epsilon=12)",
    "approximate(epsilon=0.5, delta=0.01)",
    "approximate(epsilon=0, delta=0.01)",
    "discrete_laplace(scale=3, sensitivity=4)",
    "discrete_laplace(scale=3)",
    "discrete_gaussian(sigma=2)",
]
LOCAL = ["randomised_response(truth=0.5, lie=0.2)", "unary_encoding(p=0.5, q=0.3)"]
POISSON = [spelled(f"poisson({rate}, {one})").parts[0][0] for one in WHOLE for rate in ("0.3", "0.001")]
FIXED = [spelled(f"fixed_size({rate}, {one})").parts[0][0] for one in WHOLE + LOCAL for rate in ("0.3", "0.001")]
ONE_WAY = [*POISSON, *(one.reversed for one in POISSON), *FIXED]


def ids(losses):
    return [f"{one.family} {','.join(str(value) for _, value in one.parameters)}" for one in losses]


# one loss


def delta_on(masses, points, eps):
    total = bracket(ball(0))
    for mass, x in zip(masses, points, strict=True):
        if x > eps and mass:
            total += mass * (1 - exp_neg(x - eps))
    return total


@pytest.mark.parametrize("one", ONE_WAY, ids=ids(ONE_WAY))
def test_the_two_rows_are_on_either_side_of_the_curve(one):
    seen = shape(one)
    for anchor, step, last in ((seen.anchor or F(0), F(1, 10), 0 if seen.anchor else 20), (F(1, 190), F(1, 37), 90)):
        first = -60
        found = cells(one, anchor=anchor, step=step, first=first, last=last)
        points = [anchor + i * step for i in range(first, last + 1)]
        for eps in (F(0), F(1, 170), F(1, 17), F(1, 3), F(4, 3)):
            above = delta_on([bracket(mass).hi for mass in found.upper], points, eps) + bracket(found.above).hi
            lowered = [F(mass, 1 << found.unit) for mass in found.lower]
            below = delta_on(lowered, [x - SLACK for x in points], eps) + found.infinite
            right = one.delta_of("forward", eps)
            assert below.lo <= right.hi
            assert right.lo <= above.hi
            if seen.anchor is None or seen.anchor < 2:  # else much of the law is not on these points
                assert above.hi - below.lo <= 2 * step


@pytest.mark.parametrize("one", ONE_WAY, ids=ids(ONE_WAY))
def test_tails_in_doubles_are_those_of_the_law(one):
    law = one.distribution(atoms=2)
    for x in (F(-31, 100), F(-1, 1000), F(-1, 10**6), F(0), F(1, 10**4), F(1, 17), F(3, 10), F(5, 2), F(11)):
        first, second = tails(simplest(one))(np.array([float(x)]))
        place = law.place(x)
        with precision(128):
            p, q = (float(part.mid()) for part in law.survival(place, 128))
        assert first[0] == pytest.approx(p, rel=1e-8, abs=1e-14)
        assert second[0] == pytest.approx(q, rel=1e-8, abs=1e-14)


@pytest.mark.parametrize("name", [name for name, known in SAMPLED.items() if known.tails_on_grid is not None])
@pytest.mark.parametrize("start", ["-1/3", "-2", "1/5"])
def test_tails_by_products_are_those_of_the_law(name, start):
    one = dp.Loss(name, {"rate": "1/10", "variance": 3, "shift": 2})
    law, step = one.distribution(atoms=1), F(1, 30)
    with precision(192):
        for i, found in enumerate(SAMPLED[name].tails_on_grid(one.given, F(start), step, 80)):
            right = law.survival(law.place(F(start) + i * step), 192)
            assert all(part.overlaps(whole) for part, whole in zip(found, right, strict=True))
            assert all(part.rad() < 1e-50 for part in found)


UNEVEN = (Run(-64, 16, 3), Run(-16, 4, 2), Run(-8, 1, 25), Run(20, 4, 6), Run(56, 16, 3))


@pytest.mark.parametrize("one", ONE_WAY, ids=ids(ONE_WAY))
def test_h1_rows_on_points_that_lie_unevenly_are_on_either_side_of_the_curve(one):
    """Points 1, 4 and 16 steps apart, on which heavy atoms do not lie."""
    anchor, step = F(1, 190), F(1, 37)
    found = cells(one, anchor=anchor, step=step, first=-64, last=88, runs=UNEVEN)
    assert found.places[:5] == [-64, -48, -32, -16, -12]
    assert found.places[-3:] == [56, 72, 88]
    points = [anchor + place * step for place in found.places]
    for eps in (F(0), F(1, 170), F(1, 17), F(1, 3), F(4, 3)):
        above = delta_on([bracket(mass).hi for mass in found.upper], points, eps) + bracket(found.above).hi
        lowered = [F(mass, 1 << found.unit) for mass in found.lower]
        below = delta_on(lowered, [x - SLACK for x in points], eps) + found.infinite
        right = one.delta_of("forward", eps)
        assert below.lo <= right.hi
        assert right.lo <= above.hi


@pytest.mark.parametrize(("rate", "sigma", "count"), [("0.0001", "0.6", 100), ("0.01", "1", 1000), ("0.1", "5", 10)])
def test_h1_thinned_tails_hold_all_points_of_the_window_and_cost_no_width(rate, sigma, count):
    one = spelled(f"poisson({rate}, gaussian(sigma={sigma}))").parts[0][0]
    for way in (one, one.reversed):
        parts = [(way, count)]
        seen = grid_choice.sight(parts, "epsilon", math.log(1e-5), 1e-3)
        step = grid_choice.first_step(parts, seen, 1e-3) * 2
        every = grid_choice.window(way, count, step, seen.tilt, float(seen.logs[0]), seen.log_tail)
        thin = thinned(every, 0, step, seen)
        places = [run.start + i * run.gap for run in thin.runs for i in range(run.size)]
        assert places == sorted(set(places))
        assert (places[0], places[-1]) == (every.first, every.last)
        assert thin.size == len(places) <= every.size
        deltas = [made.delta_above(F(1, 10)) - made.delta_below(F(1, 10)) for made in
                  (certificate.certify(parts, [at], step, seen.tilt) for at in (every, thin))]  # fmt: skip
        assert deltas[1] <= deltas[0] * F(3, 2) + F(1, 10**9)


def test_where_the_atoms_are_points_nothing_is_lost():
    for text in ("poisson(0.1, pure(epsilon=1))", "fixed_size(0.1, pure(epsilon=1))", "poisson(1e-6, pure(epsilon=9))"):
        for one in {spelled(text).parts[0][0], spelled(text).parts[0][0].reversed}:
            seen = shape(one)
            found = cells(one, anchor=seen.anchor, step=seen.gap, first=-4, last=0)
            for mass, lower in zip(found.upper, found.lower, strict=True):
                assert abs(float(mass) - lower / 2**found.unit) < 1e-30 + 1e-15 * float(mass)


def test_what_is_attained_together():
    """A sample of fixed size has at least the Poisson pair, as where no other row counts; a range has a coin."""
    one = spelled("fixed_size(0.1, exponential(epsilon=1)) + fixed_size(0.2, gaussian(sigma=2))")
    assert {loss for loss, _ in attained(list(one.parts))} == {
        dp.Loss("poisson_pure", {"epsilon": "1/2", "rate": "1/10"}),
        dp.Loss("poisson_gaussian", {"shift": 1, "variance": 4, "rate": "1/5"}),
    }
    assert simplest(dp.Loss("poisson_gaussian", {"shift": 2, "variance": 4, "rate": "1/5"}))["variance"] == 1
    assert simplest(dp.Loss("poisson_approximate", {"epsilon": 2, "delta": 0, "rate": "1/5"})).family == "poisson_pure"
    assert simplest(dp.Loss("poisson_laplace", {"scale": 2, "shift": 0, "rate": "1/5"})) is None


# compositions by force


def some_loss(chance, way):
    rate = F(chance.choice([1, 1, 3, 9, 1]), chance.choice([10, 100, 10**4]))
    size = F(chance.choice([1, 3, 7, 20, 61, 150]), chance.choice([10, 20, 37, 100]))
    given = chance.choice(
        [
            ("pure", {"epsilon": size}),
            ("approximate", {"epsilon": size, "delta": F(1, 10 ** chance.randint(2, 12))}),
            ("discrete_laplace", {"scale": F(chance.randint(1, 80), 7), "shift": chance.randint(1, 3)}),
            ("laplace", {"scale": 1 / size, "shift": 1}),
            ("gaussian", {"variance": 1 / size**2, "shift": 1}),
        ]
    )
    one = dp.Loss(*given)
    return one if chance.random() < 0.25 else one.sampled(**{way: rate})


def some_composition(seed, most):
    chance = random.Random(seed)
    way = chance.choice(["poisson", "poisson", "fixed_size"])
    parts, size, smooth = {}, 1, 0
    for _ in range(3):
        one, count = some_loss(chance, way), chance.randint(1, 4)
        if direct_sampled.dense(one):
            if smooth:
                continue
            smooth = count = 1
        else:
            with precision(200):
                size *= len(direct_sums._power(direct_sampled.atoms(one), count))
        if size > most:
            break
        parts.setdefault(one, count)
    return list(parts.items()) or [(spelled("poisson(0.1, pure(epsilon=1))").parts[0][0], 3)], chance


def holds(seed, most):
    """None, or what is outside the bracket. Of a sample of fixed size the lower end is that of other mechanisms."""
    parts, chance = some_composition(seed, most)
    delta = F(1, 10 ** chance.choice([1, 2, 3, 6, 9, 15, 30]))
    found = certified(tuple(parts), "epsilon", delta, accuracy=0.3)
    if found.upper is not None and direct_sampled.delta(parts, found.upper).lo > delta:
        return "epsilon above", parts, delta, found
    if found.lower > 0 and direct_sampled.delta(parts, found.lower).hi < delta:
        return "epsilon below", parts, delta, found
    if found.upper is None and direct_sampled.delta(parts, F(10**4)).hi < delta:
        return "no epsilon", parts, delta, found
    eps = F(chance.randint(0, 200), chance.choice([100, 1000]))
    found = certified(tuple(parts), "delta", eps, accuracy=0.3)
    right = direct_sampled.delta(parts, eps)
    if not (found.lower <= right.hi and right.lo <= found.upper):
        return "delta", parts, eps, found, right
    return None


@pytest.mark.parametrize("seed", range(40))
def test_the_bracket_holds_the_direct_sum_of_the_worse_direction(seed):
    assert holds(seed, 150) is None


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 600, 50))
def test_the_bracket_holds_six_hundred_direct_sums(start):
    assert [found for seed in range(start, start + 50) if (found := holds(1000 + seed, 1000))] == []


# each choice turned the other way

ONE = spelled("poisson(0.3, pure(epsilon=0.7))").parts[0][0]


def outside(count, windows=None, step=None, one=ONE):
    """Which bounds are wrong, at some epsilon; on the grid of the atoms unless given."""
    seen = shape(one)
    made = certificate.certify(
        [(one, count)], [windows or grid_choice.Window(seen.anchor, -3, 0)], step or seen.gap, 2.0
    )
    wrong = set()
    for eps in (F(i, 50) for i in range(40)):
        right = direct_sampled.one_way([(ONE, count)], eps, backward=one != ONE)
        wrong |= {"above"} if made.delta_above(eps) < right.lo else set()
        wrong |= {"below"} if made.delta_below(eps) > right.hi else set()
    return wrong


ROUGH = {"windows": grid_choice.Window(F("0.27"), -30, 4), "step": F("0.1")}


@pytest.mark.parametrize("one", [ONE, ONE.reversed], ids=["forward", "backward"])
def test_few_bits_and_rough_grids_bracket_and_a_rounding_turned_does_not(monkeypatch, one):
    assert outside(4, one=one) == outside(4, one=one, **ROUGH) == set()
    monkeypatch.setattr(certificate, "bits_for", lambda roundings: 8)
    assert outside(1, one=one) == outside(4, one=one, **ROUGH) == set()
    monkeypatch.setattr(certificate, "ceiled", discretise.floored)
    assert outside(1, one=one) == {"above"}


@pytest.mark.parametrize("one", [ONE, ONE.reversed], ids=["forward", "backward"])
def test_masses_below_rounded_up_are_caught(monkeypatch, one):
    monkeypatch.setattr(certificate, "bits_for", lambda roundings: 8)
    right = certificate.shares_of
    monkeypatch.setattr(
        certificate, "shares_of", lambda masses, whole, bits: [mass + 1 for mass in right(masses, whole, bits)]
    )
    monkeypatch.setattr(
        certificate.Row, "of", classmethod(lambda cls, start, masses, bits: _any_row(cls, start, masses, bits))
    )
    assert outside(1, one=one) == {"below"}


def _any_row(cls, start, masses, bits):
    wide = bits // 8 + 1
    raw = b"".join(mass.to_bytes(wide, "little") for mass in masses)
    return cls(start, np.frombuffer(raw, np.uint8).reshape(len(masses), wide), bits)


def test_one_direction_alone_is_caught(monkeypatch):
    """Composing what is added alone is below the truth, at more than one place."""
    parts = spelled("4 * poisson(0.3, pure(epsilon=0.7))").parts
    right = direct_sampled.delta(list(parts), F(1, 2))
    assert certified(parts, "delta", F(1, 2)).upper >= right.lo
    monkeypatch.setattr(pld, "both_ways", lambda found: both_ways(found)[1:])
    assert certified(parts, "delta", F(1, 2)).upper < right.lo


LARGE = {
    "pure": lambda e: dp.Loss("pure", {"epsilon": e}),
    "laplace": lambda e: dp.Loss("laplace", {"scale": Fraction(1, e), "shift": 1}),
    "bounded_range": lambda e: dp.Loss("bounded_range", {"epsilon": e}),
    "gaussian": lambda e: dp.Loss("gaussian", {"variance": Fraction(1, 2 * e), "shift": 1}),
    "discrete_gaussian": lambda e: dp.Loss("discrete_gaussian", {"variance": Fraction(1, 2 * e), "shift": 1}),
}


@pytest.mark.parametrize("epsilon", [3000, 10**6, 10**30])
@pytest.mark.parametrize("way", ["poisson", "fixed_size"])
@pytest.mark.parametrize("family", LARGE)
def test_losses_beyond_any_grid_are_bounded_still(family, way, epsilon):
    """Three samples of 1 in 100 of what gives everything away: at least one holds the row with chance 1 - 0.99**3."""
    parts = ((LARGE[family](epsilon).sampled(**{way: "1/100"}), 3),)
    found = certified(parts, "delta", Fraction(1))
    assert found.lower <= 1 - Fraction(99, 100) ** 3 + Fraction(1, 10**9)
    most = 1 if epsilon == 10**30 else Fraction(3, 100) + Fraction(1, 10**9)
    assert 1 - Fraction(99, 100) ** 3 - Fraction(1, 10**9) <= found.upper <= most
    assert certified(parts, "epsilon", Fraction(1, 10**6)).lower <= 3 * epsilon * Fraction(3, 2)
    assert certified(parts, "epsilon", Fraction(4, 100)).upper in (0, None)


@pytest.mark.parametrize("size", [100, 400])
@pytest.mark.parametrize("rate", [1, "1/2"])
def test_losses_of_hundreds_of_digits_are_no_error(rate, size):
    twice = dp.compose((dp.Loss("pure", {"epsilon": Fraction(10) ** size}).sampled(poisson=rate), 2))
    assert 0 < twice.bracket(delta="1e-3").lower < twice.bracket(delta="1e-3").upper
    assert twice.bracket(delta="1e-3").upper <= 2 * Fraction(10) ** size
    found = twice.bracket(epsilon=1)
    assert found.lower <= (1 if rate == 1 else Fraction(3, 4)) <= found.upper <= 1


def test_doubles_of_samples_go_on_where_the_exponential_ends():
    one = dp.Loss("pure", {"epsilon": 1500}).sampled(poisson="1/100")
    law, points = one.distribution(), [650.0, 1400.0, 1495.0]
    first, _ = tails(one)(np.array(points))
    for x, found in zip(points, first, strict=True):
        assert abs(found - float(law.tail(Fraction(x)).lo)) < 1e-9
