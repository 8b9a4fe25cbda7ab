"""What the shell reads as a composition: every spelling, and refusals that name the part."""

from fractions import Fraction

import pytest

import dpcurator as dp
from dpcurator.accounting.parse import SPELLINGS, spelled
from dpcurator.privacy.families import WHOLE

F = Fraction


def loss(family, **given):
    return dp.Loss(family, tuple((name, F(str(value))) for name, value in given.items()))


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("laplace(epsilon=0.1)", loss("laplace", scale=1, shift="1/10")),
        ("laplace(scale=10)", loss("laplace", scale=10, shift=1)),
        ("laplace(scale=10, sensitivity=3)", loss("laplace", scale=10, shift=3)),
        ("gaussian(sigma=1.5)", loss("gaussian", variance="9/4", shift=1)),
        (" gaussian ( sigma = 3/2 , sensitivity = 2 ) ", loss("gaussian", variance="9/4", shift=2)),
        ("gaussian(rho=0.5)", loss("gaussian", variance=1, shift=1)),
        ("discrete_laplace(scale=7)", loss("discrete_laplace", scale=7, shift=1)),
        ("discrete_gaussian(sigma=3, sensitivity=2)", loss("discrete_gaussian", variance=9, shift=2)),
        ("discrete_gaussian(variance=3)", loss("discrete_gaussian", variance=3, shift=1)),
        (
            "discrete_gaussian_vector(variance=3, l2_squared=2)",
            loss("discrete_gaussian_vector", variance=3, l2_squared=2),
        ),
        ("pure(epsilon=1e-3)", loss("pure", epsilon="1/1000")),
        ("exponential(epsilon=1)", loss("bounded_range", epsilon=1)),
        ("bounded_range(epsilon=1)", loss("bounded_range", epsilon=1)),
        ("approximate(epsilon=1, delta=1e-9)", loss("approximate", epsilon=1, delta="1e-9")),
        ("randomised_response(epsilon=1)", loss("pure", epsilon=1)),
        ("randomised_response(truth=0.7)", loss("randomised_response", truth="0.7", lie="0.3")),
        ("randomised_response(truth=0.7, lie=0.1)", loss("randomised_response", truth="0.7", lie="0.1")),
        ("unary_encoding(p=0.5, q=0.2)", loss("unary_encoding", p="0.5", q="0.2")),
        (" poisson ( 0.01 , gaussian(sigma=2) ) ", loss("poisson_gaussian", rate="0.01", variance=4, shift=1)),
        ("poisson(1/3,pure(epsilon=1))", loss("poisson_pure", rate="1/3", epsilon=1)),
        ("poisson(1, pure(epsilon=1))", loss("pure", epsilon=1)),
        ("fixed_size(100/10000, laplace(epsilon=2))", loss("fixed_size_laplace", rate="0.01", scale=1, shift=2)),
    ],
)
def test_each_spelling(text, right):
    assert spelled(text).parts == ((right, 1),)
    assert spelled(f"3*{text}+ 4 * {text}").parts == ((right, 7),)


def test_every_family_can_be_written():
    in_lists = {name for name, family in WHOLE.items() if any("*" in one for one in family.ranges)}
    assert in_lists == {"two_pmfs", "loss_distribution", "profile", "renyi"}
    assert set(WHOLE) - in_lists <= set(SPELLINGS)


@pytest.mark.parametrize(
    "text",
    [
        "poisson(0.1)", "poisson(0, pure(epsilon=1))", "poisson(2, pure(epsilon=1))", "poisson(0.1, pure)",
        "poisson(0.1, poisson(0.1, pure(epsilon=1)))", "poisson(0.1, 3 * pure(epsilon=1))", "fixed_size(1, laplace())",
        "poisson(rate=0.1, pure(epsilon=1))", "poisson_pure(epsilon=1, rate=0.1)", "poisson(0.1, pure(epsilon=1)",
        "poisson(0.1, unary_encoding(p=0.5, q=0.2))", "poisson(1, discrete_gaussian_vector(variance=3, l2_squared=2))",
        "poisson(0.1, pure(epsilon=1)) + fixed_size(0.1, pure(epsilon=1))",
        "", "+", "laplace", "laplace()", "laplace(0.1)", "laplace(epsilon=)", "laplace(epsilon=nan)",
        "laplace(epsilon=inf)",
        "laplace(epsilon=-1)", "laplace(epsilon=0.1) +", "laplace(epsilon=0.1) pure(epsilon=1)", "x(epsilon=1)",
        "laplace(epsilon=1, epsilon=2)", "laplace(epsilon=1, scale=2)", "laplace(epsilon=__import__('os'))",
        "2 * 3 * pure(epsilon=1)", "-1 * pure(epsilon=1)", "0 * pure(epsilon=1) * 2", "1.5 * pure(epsilon=1)",
        "pure(epsilon=1))", "((pure(epsilon=1)))", "gaussian(sigma=0)", "randomised_response(truth=1)",
        "pure(epsilon=1,)",
        "discrete_laplace(scale=2, sensitivity=1.5)", "x" * 200_000,
    ],
)
def test_anything_else_is_refused(text):
    with pytest.raises(dp.Refusal) as refused:
        spelled(text)
    assert len(str(refused.value)) < 1000


def test_a_training_run_is_what_dpsgd_composes():
    run = spelled("2 * dpsgd(noise_multiplier=1.1, batch=256, rows=60000, epochs=60, sampling=shuffled)")
    once = dp.dpsgd(noise_multiplier="1.1", batch=256, rows=60_000, epochs=60, sampling="shuffled")
    assert run == dp.compose((once, 2))
    for wrong, words in (
        ("dpsgd()", r"Write dpsgd\("), ("dpsgd(sigma=1)", "Write noise_multiplier=. As in dpsgd"),
        ("dpsgd(noise_multiplier=1, bacth=3)", "Write batch="),
        ("dpsgd(noise_multiplier=1, batch_size=3)", "Write batch="),
        ("dpsgd(noise_multiplier=1, sample_rate=0.1)", "Write rate="), ("DPSGD(noise_multiplier=1)", r"Write dpsgd\("),
        ("dpsgd(noise_multiplier=1, zzz=1)", "It has noise_multiplier, batch"),
    ):  # fmt: skip
        with pytest.raises(dp.Refusal, match=words):
            spelled(wrong)


def test_a_run_is_written_as_its_call_in_python_is():
    """What refusals and pages write there, pasted: digits in groups, words in quotes."""
    text = '1_000 * dpsgd(noise_multiplier=2, batch=256, rows=60_000, epochs=1, sampling="shuffled")'
    assert spelled(text) == spelled(text.replace("_000", "000").replace('"', ""))
    for wrong, words in (
        ("gaussian(sigma=1) * 1000", r"Write 1000 \* gaussian\(sigma=1\)"), ("gaussian(1)", "It has sigma"),
        ("poisson(rate=0.01, gaussian(sigma=1))", r"as in poisson\(0.01, gaussian"),
        ("gausian(sigma=1)", r"Write gaussian\("), ("pure(epsilon=1_)", "finite number"),
    ):  # fmt: skip
        with pytest.raises(dp.Refusal, match=words):
            spelled(wrong)


def test_a_run_with_correlated_noise_is_written_as_its_call():
    text = "dpftrl(noise_multiplier=4, steps=100, factor=root, participations=2, separation=50)"
    right = dp.dpftrl(noise_multiplier=4, steps=100, factor="root", participations=2, separation=50)
    assert spelled(text) == right
    replaced = "dpsgd(noise_multiplier=1, rate=0.01, steps=10, neighbours=replace-one)"
    assert spelled(replaced) == dp.dpsgd(noise_multiplier=1, rate="0.01", steps=10, neighbours="replace-one")
    with pytest.raises(dp.Refusal, match=r"Write dpftrl\(noise_multiplier=4"):
        spelled("dpftrl(steps=10)")
    with pytest.raises(dp.Refusal, match="factor"):
        spelled("dpftrl(noise_multiplier=4, steps=10, factor=tre)")
