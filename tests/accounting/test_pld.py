"""The certificate brackets what a direct sum over all combinations of atoms gives, whatever the losses and the delta."""

import random
from fractions import Fraction

import pytest
from dpcurator import Loss
from dpcurator.accounting import certificate, discretise
from dpcurator.accounting.pld import certified

from tests.support import direct_sums

F = Fraction


def loss(family, **given):
    return Loss(family, tuple((name, F(str(value))) for name, value in given.items()))


def some_loss(chance):
    """One loss of each family, small and large."""
    epsilon = F(chance.choice([1, 3, 7, 20, 61, 150]), chance.choice([10, 20, 37, 100]))
    one, other = sorted((chance.randint(1, 30), chance.randint(31, 60)))
    return chance.choice(
        [
            loss("pure", epsilon=epsilon),
            loss("approximate", epsilon=epsilon, delta=F(1, 10 ** chance.randint(2, 20))),
            loss("randomised_response", truth=F(other, 100), lie=F(one, 100)),
            loss("randomised_response", truth=F(other, 97), lie=1 - F(other, 97)),
            loss("unary_encoding", p=F(other, 61), q=F(one, 61)),
            loss("discrete_laplace", scale=F(chance.randint(1, 80), 7), shift=chance.randint(1, 4)),
            loss("discrete_gaussian", variance=F(chance.randint(1, 12), 4), shift=chance.randint(1, 2)),
        ]
    )


def some_dense(chance):
    size = F(chance.randint(1, 40), chance.choice([10, 13, 90]))
    return chance.choice(
        [
            loss("laplace", scale=1 / size, shift=1),
            loss("gaussian", variance=1 / size**2, shift=1),
            loss("bounded_range", epsilon=size),
        ]
    )


def some_composition(seed, most):
    """(parts, combinations of atoms): up to 8 losses, at most one with a density, in at most so many combinations."""
    chance = random.Random(seed)
    parts, size, total = [], 1, 0
    if chance.random() < 0.5:
        parts.append((some_dense(chance), 1))
    while total < 8:
        one, count = some_loss(chance), chance.randint(1, 4)
        with direct_sums.precision(200):
            size *= len(direct_sums._power(direct_sums.atoms(one), count)) if one.family != "discrete_gaussian" else 60
        if one.family == "discrete_gaussian":
            count = 1
        if size > most or one in dict(parts):
            break
        parts.append((one, count))
        total += count
    return parts or [(loss("pure", epsilon="0.3"), 3)], chance


def holds(seed, most):
    """None, or what is outside the bracket."""
    parts, chance = some_composition(seed, most)
    delta = F(1, 10 ** chance.choice([1, 2, 3, 6, 9, 15, 30]))
    found = certified(tuple(parts), "epsilon", delta, accuracy=1e-3, seconds=2.0)
    if found.upper is not None and direct_sums.delta(parts, found.upper).lo > delta:
        return "epsilon above", parts, delta, found
    if found.lower > 0 and direct_sums.delta(parts, found.lower).hi < delta:
        return "epsilon below", parts, delta, found
    if found.upper is None and direct_sums.delta(parts, F(10**4)).hi < delta:
        return "no epsilon", parts, delta, found
    eps = F(chance.randint(0, 300), 100)
    found = certified(tuple(parts), "delta", eps, accuracy=1e-3, seconds=2.0)
    right = direct_sums.delta(parts, eps)
    if not (found.lower <= right.hi and right.lo <= found.upper):
        return "delta", parts, eps, found, right
    return None


@pytest.mark.parametrize("seed", range(60))
def test_the_bracket_holds_the_direct_sum(seed):
    assert holds(seed, 400) is None


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 2000, 100))
def test_the_bracket_holds_two_thousand_direct_sums(start):
    assert [found for seed in range(start, start + 100) if (found := holds(1000 + seed, 2000))] == []
