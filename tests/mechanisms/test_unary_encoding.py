"""Unary encoding: two bits tell values apart; every vector of a small domain in rationals, and a million reports."""

from __future__ import annotations

import itertools
import math
from dataclasses import FrozenInstanceError
from fractions import Fraction
from typing import Any

import local_laws as laws
import numpy as np
import pytest
from laws_of_draws import FALSE_ALARM, chi_square_chance

from dpcurator.errors import Refusal
from dpcurator.mechanisms import UnaryEncoding
from dpcurator.mechanisms.local.unary_encoding import EXAMPLES, coins


def reports(mechanism: UnaryEncoding) -> list[tuple[int, ...]]:
    return list(itertools.product((0, 1), repeat=len(mechanism.values)))  # type: ignore[arg-type]


@pytest.mark.parametrize("mechanism", EXAMPLES)
def test_laws_over_every_report(mechanism: UnaryEncoding) -> None:
    laws.masses_sum_to_one(mechanism, reports(mechanism))
    laws.loss_bounds_every_ratio_and_is_attained(mechanism, reports(mechanism))
    laws.estimates_are_unbiased(mechanism, reports(mechanism))


@pytest.mark.parametrize("mechanism", EXAMPLES)
def test_the_interval_covers_every_truth(mechanism: UnaryEncoding) -> None:
    laws.interval_covers(mechanism, reports(mechanism), 2, Fraction(1, 4))


def test_the_chances_by_hand() -> None:
    """p (1-q) / (q (1-p)): 9 for 3/4 and 1/4. At epsilon 1 optimised q = 1/(e+1), symmetric odds sqrt(e)."""
    flipped = UnaryEncoding(values=3, p="3/4", q="1/4")  # type: ignore[arg-type]
    assert flipped.loss.pure_epsilon() == pytest.approx(math.log(9))
    assert flipped.pmf([1, 0, 0], 0) == Fraction(27, 64)
    assert flipped.pmf([0, 1, 1], 0) == Fraction(1, 64)
    optimised, symmetric = (make(epsilon=1, values=4) for make in (UnaryEncoding.optimised, UnaryEncoding.symmetric))
    assert optimised.p == Fraction(1, 2)
    assert float(optimised.q) == pytest.approx(1 / (math.e + 1))
    assert float(symmetric.p) == pytest.approx(math.exp(0.5) / (1 + math.exp(0.5)))
    assert symmetric.p + symmetric.q == 1
    # optimised: variance of a rare value 4 e**eps / (e**eps - 1)**2 a report (Wang et al., table 1)
    found = optimised.estimate(np.tile([False, True, False, False], (100, 1)))
    assert found.standard_error(0) == pytest.approx(math.sqrt(100 * 4 * math.e / (math.e - 1) ** 2))


@pytest.mark.parametrize("make", [UnaryEncoding.optimised, UnaryEncoding.symmetric])
@pytest.mark.parametrize("epsilon", [Fraction(s) for s in ("1e-9", "1/10", "1", "20", "300")])
def test_an_epsilon_is_spent_and_never_passed(make: Any, epsilon: Fraction) -> None:
    laws.spends_at_most(make(epsilon=epsilon, values=7), epsilon)


@pytest.mark.parametrize("mechanism", EXAMPLES)
def test_a_million_reports(mechanism: UnaryEncoding) -> None:
    wrong = UnaryEncoding(values=mechanism.values, p=mechanism.p, q=mechanism.q * Fraction(97, 100))
    laws.drawn_reports_follow(mechanism, reports(mechanism), wrong, lambda report: tuple(int(bit) for bit in report))


@pytest.mark.parametrize(
    "chance", [Fraction(s) for s in ("1/2", "1/3", "1/65536", "1/1000000", "65535/65536", "999999/1000000")]
)
def test_a_coin_by_its_sixteen_bits(chance: Fraction) -> None:
    """Every one of the 65,536 pieces: how many are true, and which of them asks for the rest."""
    pieces = np.arange(2**16, dtype=np.uint16).view(np.uint64)
    whole, rest = divmod(chance * 2**16, 1)
    for settled in (laws.TRUE, laws.FALSE):
        tossed = coins(chance, 2**16, laws.tape(*pieces.tolist(), settled))
        asked = bool(tossed[whole]) if whole < 2**16 else False
        assert tossed.sum() == whole + asked
        assert asked == (settled == laws.TRUE and rest > 0)


def test_a_coin_s_law() -> None:
    for chance in (Fraction(1, 3), Fraction(1, 2000)):
        counts = np.bincount(coins(chance, 10**6, laws.Shuffled()), minlength=2)
        assert chi_square_chance(counts, [float(1 - chance), float(chance)]) > FALSE_ALARM
        wrong = chance * 2 if chance < Fraction(1, 100) else chance * Fraction(97, 100)
        assert chi_square_chance(counts, [float(1 - wrong), float(wrong)]) < FALSE_ALARM


def test_shapes_and_batches() -> None:
    mechanism = UnaryEncoding.optimised(epsilon=2, values=["a", "b", "c"], otherwise="c")
    assert mechanism.respond("a").shape == (3,)
    assert mechanism.respond("a").dtype == np.bool_
    assert mechanism.respond_many([]).shape == (0, 3)
    one, other = mechanism.respond_many(["a"] * 3000), mechanism.respond_many([None, "b"] * 1500)
    together = mechanism.estimate(one) + mechanism.estimate(other)
    assert together.supports.tolist() == mechanism.estimate(np.concatenate([one, other])).supports.tolist()
    assert together.count("c") == pytest.approx(1500, abs=800)
    assert mechanism.estimate(one.astype(int).tolist()).supports.tolist() == mechanism.estimate(one).supports.tolist()


def test_bad_input_is_told() -> None:
    mechanism = UnaryEncoding.optimised(epsilon=1, values=3)
    laws.bad_input_is_told(mechanism, [0, 1, 987], [[0, 1]])
    for shape in ([0, 1, 0], np.zeros((4, 2), dtype=bool), [[0.5, 0, 1]], [[float("nan")] * 3], [[0, 1, 1], [0]]):
        with pytest.raises(Refusal, match="shape"):
            mechanism.estimate(shape)


@pytest.mark.parametrize(
    "said",
    [
        {"p": p, "q": q}
        for p, q in (("1/4", "1/2"), ("1/2", "1/2"), (1, "1/2"), ("1/2", 0), (float("nan"), 0.1), (0.5, True))
    ]
    + [{"p": 0.5}, {"p": 0.5, "q": 0.1, "otherwise": 9}, {"p": 0.5, "q": 0.1, "epsilon": 1}],
)
def test_bad_parameters_are_refused(said: dict[str, Any]) -> None:
    with pytest.raises(Refusal):
        UnaryEncoding(values=3, **said)


@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf"), True, None, "x"])
def test_no_epsilon(bad: Any) -> None:
    for make in (UnaryEncoding.optimised, UnaryEncoding.symmetric):
        with pytest.raises(Refusal, match="epsilon"):
            make(epsilon=bad, values=3)


def test_it_is_frozen_data_read_as_people_write_it() -> None:
    mechanism = UnaryEncoding(values=2, p="1/2", q=0.25)  # type: ignore[arg-type]
    assert mechanism == UnaryEncoding(values=2, p=Fraction(1, 2), q=Fraction(1, 4))
    with pytest.raises(FrozenInstanceError):
        mechanism.p = Fraction(1)  # type: ignore[misc]
    assert mechanism.error("0.05", reports=50) == mechanism.estimate([[0, 1]] * 50).error("0.05")
