"""Sparse vector: its law, its loss over every neighbour, the broken variants that the same law finds, and its runs."""

from __future__ import annotations

import copy
import itertools
import os
import pickle
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from laws_of_draws import FALSE_ALARM, chi_square_chance

from dpcurator.entropy import TapeEntropy
from dpcurator.errors import Refusal
from dpcurator.mechanisms.choice import sparse_vector
from dpcurator.mechanisms.choice.sparse_vector import EXAMPLES, SparseVector, answers_chance, cube_root, sequences
from dpcurator.mechanisms.noise.discrete_laplace import DiscreteLaplace
from dpcurator.numbers import Enclosure, exp_neg

ZERO = Enclosure.exactly(0)
Law = Mapping[tuple[bool, ...], Enclosure]


def at_most(noise: DiscreteLaplace, k: int) -> Enclosure:
    """P(Z <= k), by hand."""
    p = exp_neg(1 / noise.scale)
    return p ** (-k) / (1 + p) if k < 0 else 1 - p ** (k + 1) / (1 + p)


def on_integers(**named: Any) -> SparseVector:
    return SparseVector(**{"sensitivity": 1, "epsilon": 1, "threshold": 0, "grid": 1} | named)


def neighbours(n: int, *, monotone: bool, s: int = 1) -> list[tuple[int, ...]]:
    """Every way n questions can move."""
    moves = itertools.product(range(-s, s + 1), repeat=n)
    return [move for move in moves if not monotone or min(move) >= 0 or max(move) <= 0]


def holds(
    law: Callable[[tuple[int, ...]], Law], eps: Fraction, bases: Iterable[tuple[int, ...]], monotone: bool
) -> bool:
    """No answers are surely more than e**eps times as likely under a neighbour."""
    most, known = 1 / exp_neg(eps), {}
    for base in bases:
        for move in neighbours(len(base), monotone=monotone):
            moved = tuple(b + m for b, m in zip(base, move, strict=True))
            for at in (base, moved):
                if at not in known:
                    known[at] = law(at)
            if any((known[base][a] - most * known[moved][a]).surely_above(0) for a in known[base]):
                return False
    return True


BASES = list(itertools.product((-4, 0, 6), (-1, 3), (-5, 1)))


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("positives", [1, 2])
def test_loss_bounds_every_log_ratio(positives: int, monotone: bool) -> None:
    rule = on_integers(positives=positives, monotone=monotone)
    assert holds(rule.probabilities, rule.loss.pure_epsilon(), BASES, monotone)


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("positives", [1, 2])
def test_no_smaller_epsilon_holds(positives: int, monotone: bool) -> None:
    """Ten large questions below that go up, then small ones above that go down (or stay): within a millionth of it."""
    rule = on_integers(positives=positives, monotone=monotone)
    scales = rule.threshold_noise.scale, rule.query_noise.scale
    answers = (False,) * 10 + (True,) * positives
    low = -400
    here = answers_chance([200] * 10 + [low] * positives, answers, *scales)
    there = answers_chance([201] * 10 + [low if monotone else low - 1] * positives, answers, *scales)
    assert (here * exp_neg(Fraction(999999, 10**6)) - there).surely_above(0)
    assert not (here * exp_neg(Fraction(1)) - there).surely_above(0)


def test_monotone_noise_fails_for_questions_that_are_not() -> None:
    rule = on_integers(monotone=True)
    scales = rule.threshold_noise.scale, rule.query_noise.scale
    answers = (False,) * 10 + (True,)
    here, there = (answers_chance([200 + m] * 10 + [-400 - m], answers, *scales) for m in (0, 1))
    assert (here * exp_neg(Fraction(13, 10)) - there).surely_above(0)


# The variants that Lyu, Su and Li found in papers


def loses_more(eps: Fraction, positives: int, threshold_scale: Fraction, query_scale: Fraction) -> bool:
    """Do ten large questions below that go up, and then small ones above that go down, lose surely more than eps?"""
    answers = (False,) * 10 + (True,) * positives
    here, there = (
        answers_chance([200 + m] * 10 + [-400 - m] * positives, answers, threshold_scale, query_scale) for m in (0, 1)
    )
    return (here * exp_neg(eps) - there).surely_above(0)


def test_noise_of_questions_without_the_number_of_positives_is_found() -> None:
    rule = on_integers(positives=2)
    scales = rule.threshold_noise.scale, rule.query_noise.scale
    assert not loses_more(Fraction(1), 2, *scales)
    assert loses_more(Fraction(1), 2, scales[0], scales[1] / 2)


def test_no_limit_on_positives_is_found() -> None:
    rule = on_integers(positives=1)
    scales = rule.threshold_noise.scale, rule.query_noise.scale
    assert not loses_more(Fraction(1), 1, *scales)
    assert loses_more(Fraction(1), 2, *scales)
    assert loses_more(Fraction(5), 9, *scales)


def without_query_noise(rule: SparseVector) -> Callable[[tuple[int, ...]], Law]:
    def law(at: tuple[int, ...]) -> Law:
        found = dict.fromkeys(sequences(len(at), rule.positives), ZERO)
        for z in range(-40, 41):
            answers: list[bool] = []
            for d in at:
                if sum(answers) < rule.positives:
                    answers.append(d >= z)
            found[tuple(answers)] += rule.threshold_noise.pmf(z)
        return found

    return law


def test_no_noise_on_questions_is_found() -> None:
    """Below at -1 and above at 1 is possible, and no more so when both are 0."""
    assert not holds(without_query_noise(on_integers(positives=1)), Fraction(50), [(-1, 1)], False)


def test_the_noisy_value_that_was_tested_must_not_be_the_answer() -> None:
    """m questions at 0 below, then 0 above and shown as 0: rho is at most 0, so the m were below a threshold that is
    known. Their loss grows with m; with a fresh value instead it stays within epsilon and values_epsilon."""
    rule = on_integers(values_epsilon=1)
    noise, value = rule.query_noise, rule.value_noise
    assert value is not None

    def reused(d: int, last: int, m: int) -> Enclosure:
        chances = [rule.threshold_noise.pmf(z) * at_most(noise, z - 1 - d) ** m for z in range(-60, 1)]
        return sum(chances, ZERO) * noise.pmf(0 - last)

    def fresh(d: int, last: int, m: int) -> Enclosure:
        scales = rule.threshold_noise.scale, noise.scale
        return answers_chance([d] * m + [last], (False,) * m + (True,), *scales) * value.pmf(0 - last)

    most = 1 / exp_neg(rule.loss.pure_epsilon())
    assert rule.loss.pure_epsilon() == 2
    for m in (1, 4, 16):
        assert not (fresh(0, 0, m) - most * fresh(1, -1, m)).surely_above(0)
        assert (reused(0, 0, m) - most * reused(1, -1, m)).surely_above(0) == (m == 16)


# Its law and parameters


@pytest.mark.parametrize("rule", EXAMPLES)
def test_mass_sums_to_one(rule: SparseVector) -> None:
    total = sum(rule.probabilities([0, 12, -3, Fraction(1, 2)]).values(), ZERO)
    assert total.holds(1)
    assert total.width < Fraction(1, 2**60)


def test_probabilities_are_the_sums_over_both_noises() -> None:
    rule = on_integers(epsilon=4, positives=2)
    reach = range(-30, 31)
    threshold = {z: rule.threshold_noise.pmf(z) for z in reach}
    for d in ((0, 0), (2, -3), (-1, 4)):
        found = rule.probabilities(d)
        direct = dict.fromkeys(found, ZERO)
        for z, mass in threshold.items():
            above = [1 - at_most(rule.query_noise, z - 1 - one) for one in d]
            for a in direct:
                term = mass
                for yes, p in zip(a, above, strict=False):
                    term *= p if yes else 1 - p
                direct[a] += term
        for a, p in found.items():
            assert abs(p.lo - direct[a].lo) < Fraction(1, 10**10)


def test_sequences_end_with_the_last_positive() -> None:
    assert sequences(0, 1) == [()]
    assert sequences(2, 1) == [(False, False), (False, True), (True,)]
    assert sequences(3, 1)[-2:] == [(False, True), (True,)]
    assert len(sequences(4, 2)) == 11  # 1 with none, 4 with one, 6 with two
    assert all(len(set(sequences(n, c))) == len(sequences(n, c)) for n in range(6) for c in (1, 2, 3))


def test_the_split_is_exact_and_nearly_the_best() -> None:
    """(2c)**(2/3) for c = 1 is 1.5874; for c = 4, 4 exactly; monotone c = 8 has 4."""
    assert on_integers().split == (Fraction(1000, 2587), Fraction(1587, 2587))
    assert on_integers(positives=4).split == (Fraction(1, 5), Fraction(4, 5))
    assert on_integers(positives=8, monotone=True).split == (Fraction(1, 5), Fraction(4, 5))
    for c, monotone in itertools.product((1, 2, 3, 10, 1000), (False, True)):
        one, two = on_integers(positives=c, monotone=monotone, epsilon="0.3").split
        assert one + two == Fraction(3, 10)
        weight = c if monotone else 2 * c

        def spread(first: Fraction, weight: int = weight) -> Fraction:
            return 1 / first**2 + (weight / (Fraction(3, 10) - first)) ** 2

        assert spread(one) <= spread(one * Fraction(101, 100))
        assert spread(one) <= spread(one * Fraction(99, 100))
    assert [cube_root(n) for n in (0, 1, 7, 8, 26, 27, 10**30)] == [0, 1, 1, 2, 2, 3, 10**10]


def test_scales_by_hand() -> None:
    """Five halves on a grid of 1 are three steps; positives 4: eps1 = 1/5, eps2 = 4/5."""
    rule = on_integers(sensitivity="5/2", positives=4, values_epsilon="1/2")
    assert rule.threshold_noise == DiscreteLaplace(Fraction(15))
    assert rule.query_noise == DiscreteLaplace(Fraction(30))
    assert rule.value_noise == DiscreteLaplace(Fraction(24))
    assert rule.loss.as_json() == {"family": "pure", "parameters": {"epsilon": "3/2"}}
    assert rule.loss.rho() == Fraction(9, 8)
    assert on_integers().value_noise is None


def test_error_covers_every_question() -> None:
    """Far below and far above by the error: each wrong with a chance within beta, by the exact law."""
    rule = on_integers(positives=1)
    for n in (1, 3):
        m = int(rule.error("0.1", questions=n))
        wrong = 1 - rule.probabilities([-m] * n)[(False,) * n]
        assert wrong.surely_at_most(Fraction(1, 10))
        assert rule.probabilities([m])[(False,)].surely_at_most(Fraction(1, 10))


# Runs


class Script:
    """In place of the draws: whole numbers in order, and whose law each was asked of."""

    def __init__(self, *draws: int) -> None:
        self.draws, self.asked = list(draws), []

    def __call__(self, noise: DiscreteLaplace, entropy: object) -> int:
        self.asked.append(noise)
        return self.draws.pop(0)


def test_a_run_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """rho = 2; each test draws once, a number once more; a tie is above, and 18.5 is rounded up."""
    script = Script(2, 0, 2, -8, -7, 5)
    monkeypatch.setattr(sparse_vector, "_one", script)
    rule = on_integers(threshold=10, positives=2, values_epsilon=1)
    run = rule.start()
    assert run.ask(11) is False  # 1 + 0 < 2
    assert run.ask(10) is True  # 0 + 2
    assert run.left == 1
    assert run.ask_value(18.5) is None  # 9 - 8
    assert run.ask_value(18.5) == 24  # 9 - 7, and then 19 + 5
    assert script.asked == [rule.threshold_noise, *[rule.query_noise] * 4, rule.value_noise]


def test_a_run_ends_with_its_positives() -> None:
    rule = on_integers(epsilon=1000, threshold=100, positives=2)
    run = rule.start()
    assert [run.ask(v) for v in (0, 200, 99 - 50, 150.5)] == [False, True, False, True]
    assert run.left == 0
    for again in (0, 200):
        with pytest.raises(Refusal, match="given all"):
            run.ask(again)
    assert rule.start().left == 2


def test_numbers_are_measured_anew_and_paid_for() -> None:
    with pytest.raises(Refusal, match="no numbers"):
        on_integers().start().ask_value(3)
    run = on_integers(epsilon=1000, threshold="0.5", positives=3, values_epsilon=3000, grid="0.5").start()
    assert run.ask_value(-90) is None
    assert run.ask_value(90) == 90
    assert run.ask_value(Fraction(181, 2)) == Fraction(181, 2)
    assert run.ask(90) is True
    assert run.left == 0


def test_what_is_no_number_is_its_constant_or_refused() -> None:
    run = on_integers(epsilon=1000, nan=-50, bounds=(-100, 100), positives=2).start()
    assert [run.ask(v) for v in (float("nan"), None, float("-inf"), float("inf"))] == [False, False, False, True]
    for bad in (float("nan"), "12", [1, 2], True):
        with pytest.raises(Refusal):
            on_integers().start().ask(bad)


def test_copies_and_pickles_of_a_run_are_refused() -> None:
    run = on_integers().start()
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(Refusal, match="cannot be copied"):
            copied(run)
    assert "rho" not in repr(run)
    assert repr(run).startswith("<a run of SparseVector(")


@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
def test_a_fork_may_not_go_on() -> None:
    run = on_integers().start()
    child = os.fork()
    if child == 0:
        try:
            run.ask(0)
        except Refusal as refusal:
            os._exit(7 if "another process" in str(refusal) else 1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    run.ask(-1000)


def test_threads_share_the_number_of_positives() -> None:
    run = on_integers(epsilon=1000, positives=5).start()
    found: list[bool] = []

    def ask() -> None:
        for _ in range(20):
            try:
                found.append(run.ask(1000))
            except Refusal:
                found.append(False)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(found) == 5


class Asking:
    """A number whose reading asks another question of the same run."""

    def __init__(self, run: Any) -> None:
        self.run = run

    def __index__(self) -> int:
        return int(self.run.ask(-1000))


def test_reading_a_value_holds_no_lock() -> None:
    run = on_integers(epsilon=1000).start()
    asking = threading.Thread(target=lambda: run.ask(Asking(run)), daemon=True)
    asking.start()
    asking.join(20)
    assert not asking.is_alive()


def test_runs_follow_the_law() -> None:
    """Chi-square, false alarm 1e-9; that of an epsilon a third smaller is found."""
    rule = on_integers(positives=2, epsilon=2)
    asked, each = (0, 2, -2), 10_000
    seen = dict.fromkeys(sequences(3, 2), 0)
    for _ in range(each):
        run, answers = rule.start(), []
        for value in asked:
            if run.left:
                answers.append(run.ask(value))
        seen[tuple(answers)] += 1

    def fit(rule: SparseVector) -> float:
        chances = [float(p.lo) for p in rule.probabilities(asked).values()]
        return chi_square_chance(np.array(list(seen.values())), chances)

    assert list(seen) == list(rule.probabilities(asked))
    assert fit(rule) > FALSE_ALARM
    assert fit(on_integers(positives=2, epsilon="1.3")) < FALSE_ALARM


def test_entropy_is_the_one_given() -> None:
    tape = "10" * 640
    runs = [on_integers().start(TapeEntropy(tape)) for _ in range(2)]
    assert [run.ask(0) for run in runs] in ([True] * 2, [False] * 2)


@pytest.mark.parametrize("name", ["sensitivity", "epsilon", "values_epsilon", "grid"])
@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf"), True, "ten"])
def test_bad_amounts_are_refused(name: str, bad: Any) -> None:
    with pytest.raises(Refusal, match=name):
        on_integers(**{name: bad})


@pytest.mark.parametrize(
    ("named", "match"),
    [
        ({"threshold": float("nan")}, "threshold"),
        ({"threshold": None}, "threshold"),
        ({"positives": 0}, "positives"),
        ({"positives": 1.5}, "positives"),
        ({"positives": True}, "positives"),
        ({"monotone": 1}, "monotone"),
        ({"monotone": "yes"}, "monotone"),
        ({"bounds": (1, 0)}, "bounds"),
        ({"nan": float("nan")}, "nan"),
        ({"delta": 1}, "no parameter delta"),
    ],
)
def test_other_bad_parameters_are_refused(named: Mapping[str, Any], match: str) -> None:
    with pytest.raises(Refusal, match=match):
        on_integers(**named)


def test_bad_calls_are_refused() -> None:
    with pytest.raises(Refusal, match="at most 12"):
        on_integers().probabilities([0] * 13)
    for beta, n in ((0, 1), ("x", 1), ("0.1", 0)):
        with pytest.raises(Refusal):
            on_integers().error(beta, questions=n)
