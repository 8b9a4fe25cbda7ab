"""What `plot` of mechanisms and losses draws, and that every chart can be drawn."""

from __future__ import annotations

from fractions import Fraction

import pytest

import dpcurator as dp
from dpcurator.errors import Refusal
from dpcurator.plots import Chart, draw_delta, draw_law, draw_loss_by_output, draw_loss_distribution, draw_probabilities

NOISES = [
    dp.Laplace(sensitivity=2, epsilon=1),
    dp.Gaussian(sensitivity=2, epsilon=1, delta="1e-6"),
    dp.DiscreteLaplace(Fraction(2)),
    dp.DiscreteGaussian(Fraction(4)),
]


def loss_of(noise):
    return noise.loss(2) if callable(noise.loss) else noise.loss


def plot(noise, kind):
    return noise.plot(kind, sensitivity=2) if callable(noise.loss) else noise.plot(kind)


@pytest.mark.parametrize("noise", NOISES, ids=lambda noise: type(noise).__name__)
def test_noise_draws_its_law_its_loss_and_their_curves(noise):
    assert noise.plot() == plot(noise, "law") == draw_law(noise)
    assert plot(noise, "loss") == draw_loss_by_output(noise, shift=2)
    assert plot(noise, "distribution") == draw_loss_distribution(loss_of(noise)) == loss_of(noise).plot()
    (name,) = {row["series"] for row in plot(noise, "law").spec["data"]["values"]}
    assert plot(noise, "delta") == draw_delta({name: loss_of(noise)})


@pytest.mark.parametrize("kind", ["", "Law", None, 3, []])
def test_another_kind_is_refused(kind):
    with pytest.raises(Refusal, match="law, loss, distribution, delta"):
        NOISES[0].plot(kind)


def test_a_loss_draws_its_distribution_and_its_curve():
    loss = dp.Loss("gaussian", (("variance", 1), ("shift", 1)))
    assert loss.plot() == draw_loss_distribution(loss)
    assert loss.plot_delta(epsilons=[0, 1]) == draw_delta({"gaussian": loss}, epsilons=[0, 1])


def test_a_vector_s_loss_that_is_not_known_is_refused():
    noise = dp.Gaussian(sensitivity=1, rho=1, coordinates=3)
    assert isinstance(noise.plot(), Chart)
    for kind in ("distribution", "delta"):
        with pytest.raises(Refusal, match="discrete_gaussian_vector has no"):
            noise.plot(kind)


@pytest.mark.parametrize("choice", [dp.Exponential, dp.NoisyMax, dp.PermuteAndFlip])
def test_a_selection_draws_the_chances_of_its_candidates(choice):
    made = choice(sensitivity=1, epsilon=1)
    chances = made.probabilities([3, 1, 2])
    assert made.plot([3, 1, 2]) == draw_probabilities(chances)
    assert made.plot([3, 1, 2], candidates="abc") == draw_probabilities(chances, candidates=["a", "b", "c"])
    with pytest.raises(Refusal, match="2 candidates and 3 scores"):
        made.plot([3, 1, 2], candidates=["a", "b"])
