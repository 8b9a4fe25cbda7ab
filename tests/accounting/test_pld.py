"""The certificate brackets what a direct sum over all combinations of atoms gives, whatever the losses and delta."""

import dataclasses
import random
import types
from fractions import Fraction

import direct_sums
import pytest

import dpcurator as dp
from dpcurator import Loss
from dpcurator.accounting.pld import certificate, discretise, grid_choice, kronecker
from dpcurator.accounting.pld import certified as pld
from dpcurator.accounting.pld.certified import certified
from dpcurator.privacy.families import FAMILIES

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
    delta = F(chance.randint(1, 9), 10) ** 2 if chance.random() < 0.2 else F(1, 10 ** chance.randint(1, 30))
    found = certified(tuple(parts), "epsilon", delta, accuracy=0.3)
    if found.upper is not None and direct_sums.delta(parts, found.upper).lo > delta:
        return "epsilon above", parts, delta, found
    if found.lower > 0 and direct_sums.delta(parts, found.lower).hi < delta:
        return "epsilon below", parts, delta, found
    if found.upper is None and direct_sums.delta(parts, F(10**4)).hi < delta:
        return "no epsilon", parts, delta, found
    eps = F(chance.randint(0, 300), 100)
    found = certified(tuple(parts), "delta", eps, accuracy=0.3)
    right = direct_sums.delta(parts, eps)
    if not (found.lower <= right.hi and right.lo <= found.upper):
        return "delta", parts, eps, found, right
    return None


@pytest.mark.parametrize("seed", range(60))
def test_the_bracket_holds_the_direct_sum(seed):
    assert holds(seed, 400) is None


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 2000, 50))
def test_the_bracket_holds_two_thousand_direct_sums(start):
    assert [found for seed in range(start, start + 50) if (found := holds(1000 + seed, 2000))] == []


# each one-sided choice turned the other way: then a bracket on a rough grid, in few bits, does not hold any more

PARTS = [(loss("laplace", scale=1, shift="0.63"), 1), (loss("randomised_response", truth="0.5", lie="0.27"), 4)]


TENTH = F(1, 10)
ROUGH = [grid_choice.Window(F("0.63"), -14, 0), grid_choice.Window(F("0.65"), -14, 0)]
SHORT = [grid_choice.Window(F("0.63"), -14, -2), grid_choice.Window(F("0.65"), -14, -2)]


def on_coins(anchor, count=5):
    """The atoms of coins, .3 and -.3, on a grid of .6: with the anchor .3 they are its points."""
    return {
        "parts": [(loss("pure", epsilon="0.3"), count)],
        "windows": [grid_choice.Window(F(anchor), -2, 0)],
        "step": F("0.6"),
    }


def outside(parts=PARTS, windows=ROUGH, step=TENTH):
    """Which bounds are wrong, at some epsilon. The usual grid, of .1, fits no atom."""
    made = certificate.certify(parts, windows, step, 2.0)
    wrong = set()
    for eps in (F(i, 20) for i in range(60)):
        right = direct_sums.delta(parts, eps)
        wrong |= {"above"} if made.delta_above(eps) < right.lo else set()
        wrong |= {"below"} if made.delta_below(eps) > right.hi else set()
    return wrong


def few_bits(monkeypatch):
    monkeypatch.setattr(certificate, "bits_for", lambda roundings: 8)


def test_a_rough_grid_with_few_bits_and_short_windows_still_brackets(monkeypatch):
    assert outside() == set()
    assert outside(windows=SHORT) == set()
    assert all(outside(**on_coins(anchor)) == set() for anchor in ("0.3", "0.31", "0.55"))
    few_bits(monkeypatch)
    assert outside() == set()
    assert outside(windows=SHORT) == set()
    assert all(outside(**on_coins(anchor)) == set() for anchor in ("0.3", "0.31", "0.55"))


def test_masses_above_rounded_down_are_caught(monkeypatch):
    few_bits(monkeypatch)
    monkeypatch.setattr(certificate, "ceiled", discretise.floored)
    assert outside(**on_coins("0.3", count=1)) == {"above"}


def test_masses_below_rounded_up_are_caught(monkeypatch):
    few_bits(monkeypatch)

    def up(masses, whole, bits):
        """But for the lowest, which makes room."""
        rounded = [-(-(mass << bits) // whole) for mass in masses]
        lowest = next(i for i, mass in enumerate(rounded) if mass)
        rounded[lowest] -= max(sum(rounded) - (1 << bits), 0)
        return rounded

    monkeypatch.setattr(certificate, "shares_of", up)
    assert outside(**on_coins("0.3")) == {"below"}


def test_cells_below_with_p_rounded_up_are_caught(monkeypatch):
    """In units of 1/256; the atom .3 is just below the point .301."""
    case = on_coins("0.301", count=1) | {"windows": [grid_choice.Window(F("0.301"), -2, 1)]}
    monkeypatch.setattr(discretise, "_unit", lambda bits, highest, tails: 8)
    assert outside(**case) == set()
    right = discretise._pieces
    monkeypatch.setattr(discretise, "_pieces", lambda *given: ((p + 1, q, i) for p, q, i in right(*given)))
    assert outside(**case) == {"below"}


def test_cells_below_with_q_or_the_worth_of_points_rounded_down_are_caught(monkeypatch):
    monkeypatch.setattr(discretise, "_unit", lambda bits, highest, tails: 5)
    assert outside(**on_coins("0.31")) == set()
    monkeypatch.setattr(discretise, "ceiled", discretise.floored)
    assert outside(**on_coins("0.31")) == {"below"}


def test_tilts_below_rounded_up_are_caught(monkeypatch):
    monkeypatch.setattr(certificate, "_WEIGHT", 2)
    assert outside(**on_coins("0.3")) == set()
    monkeypatch.setattr(certificate, "floored", discretise.ceiled)
    assert outside(**on_coins("0.3")) == {"below"}


def test_mass_that_products_lose_is_counted(monkeypatch):
    few_bits(monkeypatch)
    monkeypatch.setattr(kronecker.Row, "total", lambda row: 1 << row.bits)
    assert "above" in outside()


def test_trimmed_mass_is_counted(monkeypatch):
    monkeypatch.setattr(certificate, "_TRIM", 0.5)
    assert outside() == set()
    monkeypatch.setattr(kronecker.Row, "total", lambda row: 1 << row.bits)
    assert "above" in outside()


def test_products_rounded_up_are_caught(monkeypatch):
    exact = kronecker.times

    def up(one, other):
        """But for the greatest, which makes room."""
        row = exact(one, other)
        masses = [mass + 1 for mass in row.ints()]
        masses[masses.index(max(masses))] -= max(sum(masses) - (1 << row.bits), 0)
        return kronecker.Row.of(row.start, masses, row.bits)

    few_bits(monkeypatch)
    assert outside(**on_coins("0.3", count=9)) == set()
    monkeypatch.setattr(kronecker, "times", up)
    assert "below" in outside(**on_coins("0.3", count=9))


def test_a_cell_moved_to_its_lower_end_is_caught(monkeypatch):
    right = discretise._upper

    def down(tails, worths, step, places):
        masses = [discretise.ball(0)] * len(tails)
        masses[0] = 1 - tails[0][0]
        for i in range(len(tails) - 1):
            masses[i] += tails[i][0] - tails[i + 1][0]
        return masses

    assert right is not down
    monkeypatch.setattr(discretise, "_upper", down)
    assert outside() == {"above"}


def test_a_lump_counted_above_its_loss_is_caught(monkeypatch):
    monkeypatch.setattr(discretise, "SLACK", F(1, 50))  # lumps reach 1/50 less than where they are counted
    assert outside(**on_coins("0.31")) == {"below"}


def test_a_cell_split_as_two_laws_is_caught(monkeypatch):
    """Not in one proportion of p and q: what no post-processing does."""
    right = discretise._pieces

    def split(tails, ends, unit):
        for p, q, i in right(tails, ends, unit):
            yield p * 19 // 20, 0, i
            yield p // 20, q, i

    monkeypatch.setattr(discretise, "_pieces", split)
    assert outside(**on_coins("0.55")) == {"below"}


def test_losses_above_a_window_are_counted(monkeypatch):
    right = discretise.cells

    def blind(loss, **grid):
        found = right(loss, **grid)
        return discretise.Cells(found.places, found.upper, found.lower, found.unit, discretise.ball(0), found.infinite)

    monkeypatch.setattr(certificate, "cells", blind)
    assert outside() == set()
    assert outside(windows=SHORT) == {"above"}


INFINITE = {
    "parts": [(loss("approximate", epsilon="0.3", delta="0.01"), 3)],
    "windows": [grid_choice.Window(F("0.3"), -2, 0)],
    "step": F("0.6"),
}


def with_cells(monkeypatch, **changed):
    right = discretise.cells
    monkeypatch.setattr(certificate, "cells", lambda loss, **grid: dataclasses.replace(right(loss, **grid), **changed))


def test_infinite_losses_left_out_above_are_caught(monkeypatch):
    assert outside(**INFINITE) == set()
    with_cells(monkeypatch, above=discretise.ball(0))
    assert outside(**INFINITE) == {"above"}


def test_infinite_losses_overstated_below_are_caught(monkeypatch):
    with_cells(monkeypatch, infinite=F("0.0101"))
    assert outside(**INFINITE) == {"below"}


def test_the_wrong_end_of_a_last_ball_is_caught(monkeypatch):
    monkeypatch.setattr(certificate, "_BITS", 16)
    assert outside(**on_coins("0.3")) == set()
    right = certificate.bracket
    monkeypatch.setattr(
        certificate, "bracket", lambda ball: types.SimpleNamespace(lo=right(ball).hi, hi=right(ball).lo)
    )
    assert outside(**on_coins("0.3")) == {"above", "below"}


def searched():
    """Which bounds on epsilon are wrong."""
    case = on_coins("0.3")
    made = certificate.certify(case["parts"], case["windows"], case["step"], 2.0)
    above, below = pld._epsilon_above(made, TENTH), pld._epsilon_below(made, TENTH)
    wrong = {"above"} if direct_sums.delta(case["parts"], above).lo > TENTH else set()
    return wrong | ({"below"} if direct_sums.delta(case["parts"], below).hi < TENTH else set())


@pytest.mark.parametrize(("side", "factor"), [("above", 0.9), ("below", 1.1)])
def test_an_epsilon_that_was_guessed_and_not_proved_is_caught(monkeypatch, side, factor):
    """A guess that is a tenth off is only where the search starts."""
    right = certificate._guess
    monkeypatch.setattr(certificate, "_guess", lambda found, delta: factor * right(found, delta))
    assert searched() == set()
    told = F(0) if side == "above" else F(1)
    monkeypatch.setattr(certificate.Certificate, f"delta_{side}", lambda made, eps: told)
    assert searched() == {side}


@pytest.mark.parametrize("family", FAMILIES)
def test_a_law_that_is_not_alike_both_ways_has_a_reverse(family):
    """One direction of a family that is alike is composed; of another both are, see test_sampled_pld.py."""
    known = FAMILIES[family]
    assert (known.backward is None) == (known.reverse is None)


NEARLY = F(1, 10**30)
TOLD = dp.two_pmfs([1, 0], [0, 1])
COIN = dp.two_pmfs(["2/3", "1/3"], ["1/3", "2/3"])


@pytest.mark.parametrize("parts", [
    [(TOLD, 2)], [(TOLD, 1), (COIN, 2)], [(dp.two_pmfs(["1/3", "2/3", 0], [0, 0, 1]), 1), (COIN, 1)],
    [(TOLD, 1), (dp.Loss("gaussian", sigma=1).sampled(poisson="0.1"), 2)],
    [(dp.two_pmfs([NEARLY, 1 - NEARLY], [1, 0]), 1), (COIN, 1)],
])  # fmt: skip
def test_losses_that_are_all_infinite_or_nearly_all(parts):
    """Their masses are 0 in doubles, of which no window or tilt can be made."""
    together = dp.compose(*parts)
    for eps in (F(0), F(1, 3)):
        found = together.bracket(epsilon=eps, seconds="0.1")
        assert found.upper == 1
        assert found.lower >= 1 - 2 * NEARLY
        assert together.estimate(epsilon=eps) == 1
    with pytest.raises(dp.Refusal, match="so small a delta"):
        together.bracket(delta="0.01", seconds="0.1")
    with pytest.raises(dp.Refusal, match="so small a delta"):
        together.estimate(delta="0.01")
    assert dp.tradeoff(together, alpha="0.05").hi <= F(1, 1000)


def test_a_delta_of_rows_that_are_hardly_ever_drawn_is_at_most_the_sum_of_total_variations():
    one = dp.Loss("gaussian", sigma=1).sampled(poisson="1e-12")
    found = dp.advantage(dp.compose((one, 2)))
    assert one.delta(0).hi <= found.hi <= 2 * one.delta(0).hi
