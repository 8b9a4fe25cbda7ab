"""The estimate is near the bracket, for every family; the doubles it is made of are near the enclosures."""

from fractions import Fraction

import pytest

import dpcurator as dp
from dpcurator.accounting.estimate.floats import tails
from dpcurator.accounting.parse import spelled
from dpcurator.numbers.arb import precision

F = Fraction
TEXTS = [
    "100 * laplace(epsilon=0.1)",
    "7 * laplace(epsilon=1.3) + 2 * laplace(epsilon=0.31)",
    "gaussian(sigma=2)",
    "5 * gaussian(sigma=7) + 30 * pure(epsilon=0.2)",
    "40 * discrete_laplace(scale=7, sensitivity=3)",
    "20 * discrete_laplace(scale=100000, sensitivity=9000)",
    "9 * discrete_gaussian(sigma=2)",
    "3 * discrete_gaussian(variance=1000000.7, sensitivity=500)",
    "50 * randomised_response(truth=0.6, lie=0.3) + unary_encoding(p=0.5, q=0.2)",
    "60 * exponential(epsilon=0.3)",
    "10 * approximate(epsilon=0.1, delta=1e-9) + 10 * gaussian(sigma=10)",
    "3 * pure(epsilon=40)",
]


@pytest.mark.parametrize("delta", ["1e-3", "1e-7", "1e-25"])
@pytest.mark.parametrize("text", TEXTS)
def test_the_estimate_is_near_the_bracket(text, delta):
    one = spelled(text)
    if "1e-9" in text and delta == "1e-25":
        with pytest.raises(dp.Refusal):
            one.estimate(delta=delta)
        return
    found = one.bracket(delta=delta, accuracy="1e-3")
    assert float(found.lower) * (1 - 1e-5) - 1e-9 <= one.estimate(delta=delta) <= float(found.upper) * (1 + 1e-5) + 1e-9


@pytest.mark.parametrize("text", TEXTS)
def test_delta_at_an_epsilon_too(text):
    one = spelled(text)
    for epsilon in (0, F(one.estimate(delta="1e-4")).limit_denominator(1000)):
        found = one.bracket(epsilon=epsilon, accuracy="1e-3")
        assert float(found.lower) * (1 - 1e-4) <= one.estimate(epsilon=epsilon) <= float(found.upper) * (1 + 1e-4)


@pytest.mark.parametrize("text", [text for text in TEXTS if "+" not in text])
def test_tails_in_doubles_are_those_of_the_law(text):
    import numpy as np

    loss = spelled(text).parts[0][0]
    law = loss.distribution(atoms=2)
    for x in (F(-31, 100), F(0), F(7, 1000), F(1, 17), F(3, 10), F(9, 10), F(5, 2)):
        first, second = tails(loss)(np.array([float(x)]))
        place = law.place(x)
        with precision(128):
            p, q = (float(part.mid()) for part in law.survival(place, 128))
        assert first[0] == pytest.approx(p, rel=1e-9, abs=1e-300)
        assert second[0] == pytest.approx(q, rel=1e-9, abs=1e-300)


def test_an_estimate_of_what_has_no_law_is_refused():
    with pytest.raises(dp.Refusal):
        spelled("discrete_gaussian_vector(variance=9, l2_squared=2)").estimate(delta="1e-6")


def test_an_estimate_says_that_it_is_one():
    assert "bounds nothing" in " ".join((dp.Composition.estimate.__doc__ or "").split())
