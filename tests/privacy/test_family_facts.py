"""Each family gives every local fact, or says None, and then it is told what is done instead; each is of its law.

The facts of doubles choose grids: a wrong one makes brackets wide, or estimates wrong, in silence.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from fractions import Fraction as F

import numpy as np
import pytest
from losses import BY_ORDER, MIXED, OWN, VECTOR, WITH_A_LAW, loss, meet

from dpcurator.numbers.arb import precision
from dpcurator.privacy.families import FAMILIES, WHOLE
from dpcurator.privacy.families.family import INSTEAD, Family
from dpcurator.privacy.families.spelling import spelled
from dpcurator.privacy.loss import DIRECTIONS, Loss

ALWAYS = {"ranges", "pair", "group", "spellings"}


def sampled(one: Loss) -> Iterator[Loss]:
    for way in ("poisson", "fixed_size"):
        if f"{way}_{one.family}" in FAMILIES:
            made = Loss(f"{way}_{one.family}", (*one.parameters, ("rate", F(1, 10))))
            yield made
            if FAMILIES[made.family].reverse is not None:
                yield made.reversed
    if FAMILIES[one.family].reverse is not None:
        yield one.reversed


ON_ALL_ROWS = [*WITH_A_LAW, *OWN, VECTOR, *BY_ORDER, *MIXED]
CUT = loss("cut_batch", epsilon=0, delta="1e-9")
PASS = loss("allocated_pass", loss0="-1/2", loss1="1/2", mass0="0.373824", mass1="0.616176", back_loss0="-1/2",
            back_loss1="1/2", back_mass0="0.373824", back_mass1="0.616176", mu_squared="1/10")  # else infinite
EVERY = [CUT, PASS, *ON_ALL_ROWS, *(made for one in (*WITH_A_LAW, *OWN, *MIXED) for made in sampled(one))]


def test_every_fact_has_no_default_and_a_way_without_it() -> None:
    fields = dataclasses.fields(Family)
    assert all(one.default is dataclasses.MISSING and one.default_factory is dataclasses.MISSING for one in fields)
    assert {one.name for one in fields} == ALWAYS | set(INSTEAD)
    assert all(INSTEAD.values())
    assert {one.family for one in EVERY} == set(FAMILIES)


@pytest.mark.parametrize("name", FAMILIES)
def test_what_is_needed_together_is_given_together(name: str) -> None:
    known = FAMILIES[name]
    assert {known.law is None, known.lattice is None, known.float_tails is None} in ({True}, {False})
    assert known.law is None or known.delta is not None
    assert known.law is not None or (known.tails_on_grid is None and known.moments is None and known.sample is None)
    assert known.mu_squared is None or known.rho is not None
    assert known.interval is None or known.pure_epsilon is not None
    assert (known.backward is None) == (known.reverse is None)


@pytest.mark.parametrize("one", EVERY, ids=str)
def test_the_measures_of_the_simplest_form_are_the_same(one: Loss) -> None:
    known = FAMILIES[one.family]
    if known.simplest is None:
        assert one == VECTOR
        return
    found = known.simplest(one.given)
    if found is None:
        nothing = [one.renyi(2)] if known.delta is None else [one.delta_of(way, F(0)) for way in DIRECTIONS]
        assert all(found.hi == 0 for found in nothing)
        return
    other = Loss(found[0], found[1])
    if known.delta is None:
        assert meet(one.renyi(2), other.renyi(2))
        return
    assert FAMILIES[other.family].simplest(other.given) == (other.family, dict(other.given))  # type: ignore[misc]
    assert all(meet(one.delta_of("forward", eps), other.delta_of("forward", eps)) for eps in (F(0), F(1, 3), F(2)))


@pytest.mark.parametrize("one", EVERY, ids=str)
def test_what_is_attained_is_no_more_than_the_pair(one: Loss) -> None:
    fact = FAMILIES[one.family].attained
    if fact is not None:
        other = Loss(*fact(one.given))
        assert all(
            other.delta_of("forward", eps).lo <= one.delta_of("forward", eps).hi for eps in (F(0), F(1, 7), F(1), F(4))
        )


@pytest.mark.parametrize("one", EVERY, ids=str)
def test_what_is_set_apart_and_the_rest_cover_the_pair(one: Loss) -> None:
    fact = FAMILIES[one.family].apart
    if fact is None:
        assert FAMILIES[one.family].law is None or one.distribution(atoms=1).infinite == 0
        return
    infinite, (family, given) = fact(one.given)
    rest = Loss(family, given)
    for eps in (F(0), F(1, 7), F(1), F(4)):
        assert one.delta(eps).lo <= infinite + (1 - infinite) * rest.delta(eps).hi


@pytest.mark.parametrize("one", ON_ALL_ROWS, ids=str)
def test_one_gaussian_and_one_interval_say_what_they_say(one: Loss) -> None:
    known = FAMILIES[one.family]
    if known.mu_squared is not None:
        square = known.mu_squared(one.given)
        assert one.rho() == square / 2
        assert square == 0 or meet(one.delta(F(1)), loss("gaussian", variance=1 / square, shift=1).delta(F(1)))
    if known.interval is not None:
        assert one.rho() == known.interval(one.given) ** 2 / 8


@pytest.mark.parametrize("one", [one for one in EVERY if FAMILIES[one.family].law is not None], ids=str)
def test_lattices_and_doubles_are_those_of_the_law(one: Loss) -> None:
    known, law = FAMILIES[one.family], one.distribution(atoms=50)
    if known.simplest is None or known.simplest(one.given) is None:
        return
    assert known.lattice is not None
    assert known.float_tails is not None
    seen = known.lattice(one.given)
    if known.reach is not None:
        assert seen.anchor is not None
        assert law.tail(seen.anchor).lo <= law.infinite
    if seen.gap is not None and seen.bell is not None:
        assert all(((atom.loss - seen.anchor) / seen.gap).denominator == 1 for atom in law.atoms)  # type: ignore
    if seen.lowest is not None:
        assert law.cdf(seen.lowest - F(1, 10**9)).lo == 0
    tails = known.float_tails(one.given)
    for x in (F(-31, 100), F(-1, 1000), F(1, 10**4), F(1, 17), F(3, 10), F(9, 10), F(5, 2)):
        first, second = tails(np.array([float(x)]))
        with precision(128):
            p, q = (float(part.mid()) for part in law.survival(law.place(x), 128))
        assert first[0] == pytest.approx(p, rel=1e-8, abs=1e-14)
        assert second[0] == pytest.approx(q, rel=1e-8, abs=1e-14)


@pytest.mark.parametrize("one", [one for one in EVERY if FAMILIES[one.family].tails_on_grid is not None], ids=str)
def test_tails_on_a_grid_are_those_of_the_law(one: Loss) -> None:
    fact, law = FAMILIES[one.family].tails_on_grid, one.distribution(atoms=2)
    assert fact is not None
    with precision(160):
        for start, step in ((F(-3), F(1, 7)), (F(-1, 5), F(1, 30))):
            found = fact(one.given, start, step, 40)
            for i, pair in enumerate(found or ()):
                right = law.survival(law.place(start + i * step), 160)
                assert all(part.overlaps(other) for part, other in zip(pair, right, strict=True))


@pytest.mark.parametrize("one", [one for one in WITH_A_LAW if FAMILIES[one.family].moments is not None], ids=str)
def test_moments_are_the_divergences_of_the_law(one: Loss) -> None:
    function = FAMILIES[one.family].moments
    assert function is not None
    numbers = function.numbers(one.given)
    if numbers is None or FAMILIES[one.family].simplest(one.given) is None:  # type: ignore[misc]
        return  # of nothing
    if one.family in ("bounded_range", "approximate"):
        return  # these are of the law that dominates, or of what is finite
    log = function.of(*(np.array([[number]]) for number in numbers)).log
    for order in (F(11, 10), F(2), F(9)):
        right = float(one.renyi(order).hi * (order - 1))
        assert log(np.array([float(order) - 1 + 0j]))[0, 0].real == pytest.approx(right, rel=1e-9)


@pytest.mark.parametrize("one", [one for one in ON_ALL_ROWS if FAMILIES[one.family].tradeoff is not None], ids=str)
def test_a_trade_off_in_closed_form_is_the_dual_of_delta(one: Loss) -> None:
    fact = FAMILIES[one.family].tradeoff
    assert fact is not None
    for alpha in (F(0), F(1, 100), F(1, 3), F(9, 10)):
        lines = [F(0)]
        for eps in (one.given["epsilon"] * F(i, 8) for i in range(9)):
            lines.append(1 - one.delta(eps).hi - F(math.exp(eps)).limit_denominator(10**12) * alpha)
            lines.append((1 - one.delta(eps).hi - alpha) / F(math.exp(eps)).limit_denominator(10**12))
        assert abs(max(lines) - fact(one.given, alpha).hi) < F(1, 10**9)


def test_every_spelling_makes_a_loss() -> None:
    numbers = {"truth": F(3, 4), "lie": F(1, 8), "p": F(1, 2), "q": F(1, 4), "delta": F(1, 100)}
    for family, known in WHOLE.items():
        assert known.spellings or "*" in str(known.ranges)
        for name, ways in known.spellings.items():
            for names in ways:
                given = {one.rstrip("?"): numbers.get(one.rstrip("?"), F(2)) for one in names}
                found = spelled(name, given)
                assert found is not None
                assert found[0] == family
                assert Loss(*found).family == family


@pytest.mark.parametrize("epsilon", ["1/10", "1", "5", "50"])
@pytest.mark.parametrize("alpha", ["101/100", "3/2", "2", "20"])
def test_h6_the_divergence_of_a_range_is_that_of_its_worst_coin(epsilon: str, alpha: str) -> None:
    """A scan over t; above every coin, near the best; and between its KL and the rho bound."""
    one, a = loss("bounded_range", epsilon=epsilon), F(alpha)
    e, found, scan = float(F(epsilon)), one.renyi(a), []
    for i in range(1, 2000):
        t = e * i / 2000
        log_p = math.log(-math.expm1(t - e)) - math.log(-math.expm1(-e))
        log_rest = math.log(-math.expm1(-t)) + t - e - math.log(-math.expm1(-e))
        high, low = log_p + float(a - 1) * t, log_rest + float(a - 1) * (t - e)
        scan.append((max(high, low) + math.log1p(math.exp(-abs(high - low)))) / float(a - 1))
    assert max(scan) <= float(found.hi) * (1 + 1e-9) + 1e-12
    assert max(scan) == pytest.approx(float(found.hi), rel=1e-3)
    assert one.kl().lo <= found.hi
    assert found.lo <= a * one.rho()
    assert found.width <= found.hi / 2**60


def test_the_divergence_of_wide_discrete_gaussians_is_enclosed_where_no_sum_is_made() -> None:
    from dpcurator.privacy.families import discrete_gaussian

    one, order = loss("discrete_gaussian", variance=16, shift=1), F(3, 2)
    quick = one.renyi(order)
    wide, discrete_gaussian._WIDE = discrete_gaussian._WIDE, 10**9
    try:
        summed = one.renyi(order)
    finally:
        discrete_gaussian._WIDE = wide
    assert meet(quick, summed)
    assert quick.width < F(1, 2**440)
