"""Moments in doubles are those of the exact laws; the contour agrees with the transform and the brackets, and is left
alone where it would not."""

import math
from fractions import Fraction

import numpy as np
import pytest

from dpcurator.accounting.estimate.contour import contour
from dpcurator.accounting.estimate.estimate import transformed
from dpcurator.accounting.estimate.floats import dots
from dpcurator.accounting.parse import spelled
from dpcurator.accounting.pld.lattice import reduced, shape
from dpcurator.privacy.families import FAMILIES

SINGLE = [
    "laplace(epsilon=0.1)",
    "laplace(epsilon=3)",
    "gaussian(sigma=2)",
    "pure(epsilon=0.3)",
    "bounded_range(epsilon=0.4)",
    "randomised_response(truth=0.6, lie=0.3)",
    "randomised_response(truth=0.75)",
    "unary_encoding(p=0.5, q=0.2)",
    "discrete_laplace(scale=7, sensitivity=3)",
    "discrete_laplace(scale=2, sensitivity=1)",
    "discrete_laplace(scale=0.5, sensitivity=4)",
    "discrete_gaussian(sigma=1)",
    "discrete_gaussian(variance=9.5, sensitivity=4)",
]


def made(text):
    (loss, _), *_ = spelled(text).parts
    function = FAMILIES[loss.family].moments
    return loss, function.of(*(np.array([[number]]) for number in function.numbers(loss.given)))


@pytest.mark.parametrize("text", SINGLE)
def test_moments_are_those_of_the_law_on_a_fine_grid(text):
    loss, moments = made(text)
    seen = shape(loss)
    gap = float(seen.gap) if seen.gap is not None else 1 / 2**13
    high = float(seen.anchor) if seen.wide is not None else float(seen.anchor or 0) + gap * math.ceil(12 / gap)
    x = high + gap * np.arange(-math.ceil(24 / gap), 1)
    masses = dots(loss, x)
    for z in (0, 0.3, 2.5, 0.01 + 1j, 2 + 7.5j, 3 + 300j, -0.5 + 2j):
        if seen.gap is None and abs(z) > 10:
            continue  # too fine for this grid
        found = np.exp(moments.log(np.array([complex(z)]))[0, 0])
        assert abs(found - masses @ np.exp(z * x)) <= 1e-6 * abs(masses @ np.exp(complex(z).real * x)), z


@pytest.mark.parametrize("alpha", ["11/10", "2", "9"])
@pytest.mark.parametrize("text", [text for text in SINGLE if "range" not in text])
def test_moments_are_the_divergences(text, alpha):
    loss, moments = made(text)
    order = Fraction(alpha)
    found = moments.log(np.array([float(order) - 1 + 0j]))[0, 0].real
    assert found == pytest.approx(float(loss.renyi(order).hi * (order - 1)), rel=1e-10)


@pytest.mark.parametrize("text", SINGLE)
def test_what_is_left_beyond_is_bounded(text):
    loss, moments = made(text)
    gap = shape(loss).gap
    for c in (0.05, 1.0, 20.0):
        whole = moments.log(np.array([c + 0j]))[0, 0].real
        for end in [math.inf] if gap is None else [math.inf, math.pi / float(gap), 1.7 / float(gap)]:
            for t in (0.01, 0.5, 4.0, 30.0):
                if t < end:
                    u = np.concatenate([np.linspace(t, min(end, 60.0), 2001), np.geomspace(t, min(end, 1e4), 2001)])
                    most = float((moments.log(c + 1j * u)[0].real - whole).max())
                    assert most <= max(float(moments.falls(c, t, end)[0]), 0 if end == math.inf else -1e300) + 1e-7


# text, delta, and on which side of the rule it is
SIDES = [
    ("100 * laplace(epsilon=0.1)", "1e-9", False),
    ("300 * laplace(epsilon=0.1)", "1e-9", False),
    ("600 * laplace(epsilon=0.1)", "1e-9", True),
    ("1000 * laplace(epsilon=0.1)", "1e-30", True),
    ("200 * laplace(epsilon=2)", "1e-9", True),
    ("8 * laplace(epsilon=2)", "1e-9", False),
    ("40 * laplace(epsilon=0.1) + gaussian(sigma=1)", "1e-9", True),
    ("40 * laplace(epsilon=0.1) + gaussian(sigma=100000)", "1e-9", False),
    ("30 * pure(epsilon=0.2)", "1e-9", True),
    ("30 * pure(epsilon=0.2) + 30 * pure(epsilon=0.3)", "1e-9", True),
    ("30 * pure(epsilon=0.2) + 30 * pure(epsilon=0.30001)", "1e-9", False),
    ("500 * randomised_response(truth=0.6, lie=0.3)", "1e-30", True),
    ("40 * discrete_laplace(scale=7, sensitivity=3)", "1e-9", True),
    ("500 * discrete_laplace(scale=1000, sensitivity=90)", "1e-9", True),
    ("30 * discrete_gaussian(sigma=2)", "1e-9", True),
    ("30 * discrete_gaussian(sigma=0.9)", "1e-9", False),
    ("3 * discrete_gaussian(variance=1000000.7, sensitivity=500)", "1e-9", True),
    ("30 * discrete_gaussian(sigma=2) + 40 * discrete_gaussian(sigma=3)", "1e-9", True),
    ("200 * bounded_range(epsilon=0.3)", "1e-9", True),
    ("bounded_range(epsilon=0.3)", "1e-9", False),
    ("3 * pure(epsilon=40)", "1e-9", False),
]


@pytest.mark.parametrize(("text", "delta", "used"), SIDES)
def test_both_sides_of_the_rule(text, delta, used):
    parts, _ = reduced(spelled(text).parts)
    wanted = math.log(float(delta))
    path = contour(parts, "epsilon", wanted)
    assert (path is not None) == used
    if path is None:
        return
    eps = path.epsilon(wanted)
    assert eps == pytest.approx(transformed(parts, "epsilon", wanted), rel=1e-6)
    back = contour(parts, "delta", eps)
    assert back is not None
    assert back.log_delta(eps) == pytest.approx(wanted, abs=1e-7)
    assert transformed(parts, "delta", eps) == pytest.approx(wanted, abs=1e-4)


@pytest.mark.parametrize(("text", "delta", "used"), SIDES)
def test_the_estimate_is_near_the_bracket_on_both(text, delta, used):
    one = spelled(text)
    found = one.bracket(delta=delta, accuracy="1e-3")
    assert float(found.lower) * (1 - 1e-6) <= one.estimate(delta=delta) <= float(found.upper) * (1 + 1e-6)


@pytest.mark.parametrize("count", [10**2, 10**4, 10**6])
@pytest.mark.parametrize("delta", ["1e-3", "1e-12", "1e-30"])
def test_coins_are_those_of_the_exact_sum(count, delta):
    from dpcurator.accounting.closed.pure import optimal_epsilon

    exact = float(optimal_epsilon(Fraction(1, 10), count, Fraction(delta)))
    assert spelled(f"{count} * pure(epsilon=0.1)").estimate(delta=delta) == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("delta", ["1e-3", "1e-12", "1e-30", "1e-250"])
def test_many_gaussians_are_the_one_of_the_exact_curve(delta):
    one = spelled("1000000 * gaussian(sigma=300)")
    assert one.estimate(delta=delta) == pytest.approx(float(one.epsilon(delta=delta)), rel=1e-9)


def test_a_million_of_laplace_take_few_nodes():
    parts, _ = reduced(spelled("1000000 * laplace(epsilon=0.1)").parts)
    path = contour(parts, "epsilon", math.log(1e-30))
    assert path is not None
    assert len(path.nodes) < 10**4
    assert path.epsilon(math.log(1e-30)) == pytest.approx(5962.9653893, rel=1e-9)


def test_many_different_losses_go_along_one_contour():
    terms = [f"laplace(epsilon=0.{size})" for size in range(101, 400)]
    terms += [f"gaussian(sigma={size})" for size in range(5, 300)]
    parts, _ = reduced(spelled(" + ".join(terms)).parts)
    path = contour(parts, "epsilon", math.log(1e-9))
    assert path is not None
    assert len(path.nodes) < 1000
    assert path.epsilon(math.log(1e-9)) == pytest.approx(transformed(parts, "epsilon", math.log(1e-9)), rel=1e-6)


def test_a_part_that_may_be_infinite_is_added():
    with_it = spelled("1000 * approximate(epsilon=0.1, delta=1e-9)")
    found = with_it.bracket(epsilon=10, accuracy="1e-5")
    assert float(found.lower) * (1 - 1e-6) <= with_it.estimate(epsilon=10) <= float(found.upper) * (1 + 1e-6)
