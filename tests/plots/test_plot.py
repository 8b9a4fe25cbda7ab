"""What `dp.plot` draws of each thing, and that nothing else knows of charts."""

from __future__ import annotations

import sys
from fractions import Fraction

import pytest

import dpcurator as dp
from dpcurator.errors import Refusal
from dpcurator.mechanisms import ROWS
from dpcurator.plots import Chart, draw_delta, draw_law, draw_loss_by_output, draw_loss_distribution, draw_probabilities

NOISES = [
    dp.Laplace(sensitivity=2, epsilon=1),
    dp.Gaussian(sensitivity=2, epsilon=1, delta="1e-6"),
    dp.DiscreteLaplace(Fraction(2)),
    dp.DiscreteGaussian(Fraction(4)),
    dp.Staircase(sensitivity=2, epsilon=1, grid=1),
]


def loss_of(noise):
    return noise.loss(2) if callable(noise.loss) else noise.loss


def plot(noise, kind):
    return dp.plot(noise, kind, sensitivity=2) if callable(noise.loss) else dp.plot(noise, kind)


@pytest.mark.parametrize("noise", NOISES, ids=lambda noise: type(noise).__name__)
def test_noise_draws_its_law_its_loss_and_their_curves(noise):
    assert dp.plot(noise) == plot(noise, "law") == draw_law(noise)
    assert plot(noise, "loss") == draw_loss_by_output(noise, shift=2)
    assert plot(noise, "distribution") == draw_loss_distribution(loss_of(noise)) == dp.plot(loss_of(noise))
    (name,) = {row["series"] for row in plot(noise, "law").spec["data"]["values"]}
    assert plot(noise, "delta") == draw_delta({name: loss_of(noise)})


@pytest.mark.parametrize("kind", ["", "Law", 3, []])
def test_another_kind_is_refused(kind):
    with pytest.raises(Refusal, match="law, loss, distribution, delta"):
        dp.plot(NOISES[0], kind)


def test_a_loss_draws_its_distribution_and_its_curve():
    loss = dp.Loss("gaussian", (("variance", 1), ("shift", 1)))
    assert dp.plot(loss) == draw_loss_distribution(loss)
    assert dp.plot(loss, "delta", epsilons=[0, 1]) == draw_delta({"gaussian": loss}, epsilons=[0, 1])


def test_a_vector_s_loss_that_is_not_known_is_refused():
    noise = dp.Gaussian(sensitivity=1, rho=1, coordinates=3)
    assert isinstance(dp.plot(noise), Chart)
    for kind in ("distribution", "delta"):
        with pytest.raises(Refusal, match="discrete_gaussian_vector has no"):
            dp.plot(noise, kind)


@pytest.mark.parametrize("choice", [dp.Exponential, dp.NoisyMax, dp.PermuteAndFlip])
def test_a_selection_draws_the_chances_of_its_candidates(choice):
    made = choice(sensitivity=1, epsilon=1)
    chances = made.probabilities([3, 1, 2])
    assert dp.plot(made, data=[3, 1, 2]) == draw_probabilities(chances)
    assert dp.plot(made, data=[3, 1, 2], candidates="abc") == draw_probabilities(chances, candidates=["a", "b", "c"])
    with pytest.raises(Refusal, match="2 candidates and 3 scores"):
        dp.plot(made, data=[3, 1, 2], candidates=["a", "b"])


LISTED = [row for row in ROWS if row.outcomes == "listed"]
SMALL = {"Quantile": [1, 2, 5], "InverseSensitivity": [1, 2, 5], "ProposeTestRelease": [1, 2, 5], "Smooth": [1, 2, 5]}


@pytest.mark.parametrize("row", LISTED, ids=[row.name for row in LISTED])
def test_every_choice_is_drawn_for_data_at_hand(row):
    """Of many outcomes the likeliest 20 and a bar for the rest: together they have probability 1."""
    made = sys.modules[row.cls.__module__].EXAMPLES[0]
    bars = dp.plot(made, data=SMALL.get(row.name, [3, 1, 2])).spec["data"]["values"]
    assert sum(bar["probability"] for bar in bars) == pytest.approx(1, abs=1e-6)
    with pytest.raises(Refusal, match=r"data=\[3, 2, 2\]"):
        dp.plot(made)


@pytest.mark.parametrize(
    ("thing", "kind", "options", "words"),
    [
        (dp.Laplace(sensitivity=1, epsilon=1), None, {"sensitivity": 2}, "called law takes no sensitivity"),
        (dp.Loss("pure", {"epsilon": 1}), None, {"epsilons": [1]}, r'distribution takes no epsilons.*"delta"'),
        (dp.Exponential(sensitivity=1, epsilon=1), "law", {}, "one of probabilities"),
        (dp.RandomisedResponse(epsilon=1, values=2), None, {}, "no chart of a RandomisedResponse"),
        (dp.Laplace, None, {}, "no chart of a type"),
        ([1, 2], None, {}, "no chart of a list"),
    ],
)
def test_other_things_kinds_and_options_are_refused_with_a_cure(thing, kind, options, words):
    with pytest.raises(Refusal, match=words):
        dp.plot(thing, kind, **options)


def test_h9_nothing_that_is_drawn_has_a_plot_of_its_own():
    """H9: charts stand on top, so no class below has a `plot`."""
    public = [getattr(dp, name) for name in dp.__all__ if not name.startswith("_")]
    classes = [one for one in public if isinstance(one, type)]
    assert len(classes) > 30
    assert [one for one in classes if any("plot" in name for name in vars(one))] == []
