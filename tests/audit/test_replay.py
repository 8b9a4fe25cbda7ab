"""Replay on a neighbour: what a function does with data beside its mechanisms is told, and nothing else is.

Each mistake that published code has made is a function here, with a correct one beside it. The completeness tests walk
MECHANISMS: a verb that draws is a verb that is heard.
"""

from __future__ import annotations

import inspect
import math
import sys
import threading
from fractions import Fraction as F

import numpy as np
import pytest
from house import ROWS, opened
from power import NO_CLOCK
from worlds import MOVES

import dpcurator as dp
from dpcurator import mechanisms as m
from dpcurator.auditing.equality import differences
from dpcurator.auditing.replay.arguments import MOVED, PRIVATE, PUBLIC
from dpcurator.auditing.replay.recording import Frozen, Recorder, classes, heard
from dpcurator.auditing.replay.replay import FOUND, NOTHING, replay

TEN = [0.5] * 9 + [1.0]
PAIR = (TEN, TEN[:-1])
ONE = dp.Laplace(sensitivity=1, epsilon=1)


def clamped(data):
    return sum(min(max(one, 0), 1) for one in data)


# --- mistakes, each beside what is right ----------------------------------------------------------------------------


def noisy_mean(data):
    total, count = ONE.release(clamped(data)), ONE.release(len(data))
    return total / max(count, 1)


def scaled_by_private_n(data):
    return dp.Laplace(sensitivity=F(1, len(data)), epsilon=1).release(sum(data) / len(data))


def divided_by_private_n(data):
    return ONE.release(clamped(data)) / len(data)


def claiming_half(data):
    return dp.Laplace(sensitivity="0.5", epsilon=1).release(clamped(data))


def one_call_a_row(data):
    return [ONE.release(one) for one in data]


def answering_only_large(data):
    return ONE.release(len(data)) if len(data) > 9 else None


def another_mechanism_for_few(data):
    made = ONE if len(data) > 9 else dp.Gaussian(sensitivity=1, epsilon=1, delta="1e-6")
    return made.release(len(data))


def keys_from_data(data):
    counts = [data.count(one) for one in sorted(set(data))]
    return dp.Laplace(sensitivity=1, epsilon=1, coordinates=5).release(counts)


def failing_on_one_row(data):
    return ONE.release(1 / (len(data) - 9))


def printing(data):
    print("rows:", len(data))
    return ONE.release(len(data))


def cut_at_n(data):
    return min(ONE.release(len(data)), len(data))


def spending_by_size(data):
    return dp.Laplace(sensitivity=1, epsilon=F(len(data), 10)).release(clamped(data))


def in_other_words(data):
    raise ValueError(f"bad cell {data[-1]}")


def unclamped_nan(data):
    return dp.Laplace(sensitivity=1, epsilon=1, nan=0).release(sum(data))


def another_order(data):
    first, second = sorted([("n", len(data)), ("s", clamped(data))], key=lambda one: one[1] == 9)
    return [dp.Laplace(sensitivity=2 - (name == "n"), epsilon=1).release(value) for name, value in (first, second)]


def as_a_sequence(data):
    """A sparse vector's run, whose loop ends by its own answers."""
    run = dp.SparseVector(sensitivity=1, epsilon=1, threshold=3, positives=2).start()
    heard = []
    while run.left and len(heard) < 30:
        heard.append(run.ask(clamped(data) - len(heard)))
    return heard


RIGHT = [noisy_mean, as_a_sequence, lambda data: ONE.release(len(data)), lambda data: "constant"]
WRONG = {
    scaled_by_private_n: "parameter", divided_by_private_n: "returned", claiming_half: "input", one_call_a_row: "calls",
    answering_only_large: "calls", another_mechanism_for_few: "calls", keys_from_data: "shape",
    failing_on_one_row: "error", printing: "printed", cut_at_n: "returned", spending_by_size: "parameter",
    in_other_words: "error", another_order: "parameter",
}


@pytest.mark.parametrize("function", RIGHT, ids=range(len(RIGHT)))
def test_what_is_right_passes(function):
    for pair in (PAIR, PAIR[::-1], (TEN, TEN), ([], [1.0])):
        found = replay(function, pair=pair)
        assert found.mismatches == []
        assert found.verdict == NOTHING


@pytest.mark.parametrize("function", WRONG, ids=lambda function: function.__name__)
def test_a_mistake_is_found_and_said_to_be_certain(function):
    found = replay(function, pair=PAIR)
    assert found.mismatches[0].kind == WRONG[function]
    assert found.verdict == FOUND
    assert "certain" in str(found)
    assert "private" not in str(found)
    assert found.as_json()["mismatches"][0]["kind"] == WRONG[function]


def test_the_words_of_a_finding():
    assert str(replay(claiming_half, pair=PAIR)) == (
        "violation found (certain), by replay on a neighbour\n"
        "  call 1, Laplace.release: its input moved by 1 in l1, and 0.5 was declared\n"
        "  where a declared sensitivity does not hold, its loss does not; by how much is not said here\n"
        "  1 calls of mechanisms compared; the input of 1 moved"
    )
    assert "its sensitivity is 0.1 on D and 0.111111... on D'" in str(replay(scaled_by_private_n, pair=PAIR))
    assert "no such call on D'" in str(replay(one_call_a_row, pair=PAIR))


def test_a_nan_that_passes_a_clamp_of_the_users_is_found():
    """attack 4: the constant is declared, and so is a sensitivity that it breaks."""
    found = replay(unclamped_nan, pair=([1.0] * 99 + [math.nan], [1.0] * 99))
    assert found.mismatches[0].kind == "input"
    assert found.mismatches[0].move.distance == 99


def test_a_sum_of_floats_is_seen_to_the_last_bit():
    """attack 8: rows within [2**50, 2**50 + 1], one replaced: the sum of doubles moves by 4, exactly summed by 1."""
    low = 2.0**50
    one, other = [low + 1] * 2 + [low] * 14, [low + 1] * 3 + [low] * 13
    noisy = dp.Laplace(sensitivity=1, epsilon=1, grid=1)

    def summed(rows):
        total = 0.0
        for row in rows:
            total += row
        return noisy.release(total)

    assert replay(summed, pair=(one, other)).mismatches[0].move.distance == 4
    assert not replay(lambda rows: noisy.release(sum(map(int, rows))), pair=(one, other)).found


def test_raw_noise_is_a_note_and_no_verdict():
    found = replay(lambda data: len(data) + int(dp.DiscreteLaplace(F(2)).sample(1)[0]), pair=PAIR)
    assert not found.found
    assert "DiscreteLaplace.sample" in found.notes[0]
    assert "cannot see" in found.notes[0]


def test_a_function_with_randomness_of_its_own_is_refused():
    luck = np.random.default_rng(1)
    with pytest.raises(dp.Refusal, match="did something else"):
        replay(lambda data: luck.random(), pair=PAIR)
    kept = []
    with pytest.raises(dp.Refusal, match="keep nothing between two runs"):
        replay(lambda data: kept.append(1) or len(kept), pair=PAIR)


def test_runs_get_copies_and_pairs_are_two():
    data = [[1, 2], [1]]
    assert not replay(lambda rows: ONE.release(len([rows.pop() for _ in range(1)])), pair=data).found
    assert data == [[1, 2], [1]]
    for wrong in ("ab", [1], 7):
        with pytest.raises(dp.Refusal):
            replay(len, pair=wrong)


def test_an_exception_that_both_raise_is_no_finding_and_one_caught_is_seen():
    nan_refused = dp.Laplace(sensitivity=1, epsilon=1)

    def catching(data):
        try:
            return nan_refused.release(sum(data))
        except dp.Refusal:
            return 0.0

    def both(data):
        raise KeyError("always")

    assert not replay(both, pair=PAIR).found
    found = replay(catching, pair=([1.0, math.nan], [1.0]))
    assert found.mismatches[0].kind == "error"


def test_a_verb_itself_can_be_replayed():
    assert not replay(ONE.release, pair=(3, 4)).found
    assert replay(ONE.release, pair=(3, 5)).mismatches[0].kind == "input"


def test_a_curator_is_asked_on_both(tmp_path):
    """Two curators opened over neighbouring tables show the same; over one that was told a fact of its rows, not."""
    places = iter(range(9))

    def opened_on(rows):
        return opened(tmp_path / f"{next(places)}", rows)

    def telling(rows):
        return opened(
            tmp_path / f"{next(places)}", rows, columns={"age": {"type": "integer", "bounds": [0, len(rows)]}}
        )

    questions = [
        "SELECT COUNT(*) AS n FROM visits",
        "SELECT city, AVG(age) FROM visits GROUP BY city",
        "SELECT who FROM visits",
    ]
    odd = ("odd", "Zrare", 2**63 - 1, math.inf, None, "9999-12-31", math.nan)
    found = replay(opened_on, pair=(ROWS, [*ROWS, odd]), questions=questions, epsilon="0.1")
    assert found.mismatches == []
    assert str(found).endswith("3 questions asked of both")
    leaking = replay(telling, pair=(ROWS, [*ROWS, odd]), questions=questions, epsilon="0.1")
    assert {one.where.split(".")[0] for one in leaking.mismatches} >= {"quote", "answer"}
    with pytest.raises(dp.Refusal, match="without questions"):
        replay(len, pair=PAIR, epsilon=1)


# --- every mechanism ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mechanism", m.MECHANISMS, ids=lambda one: one.__name__)
def test_what_a_verb_takes_is_data_or_public(mechanism):
    for verb in MOVED[mechanism.__name__]:
        names = set(inspect.signature(getattr(mechanism, verb)).parameters) - {"self", "entropy"}
        assert names <= {*PRIVATE, *PUBLIC}


@pytest.mark.parametrize(
    ("made", "verb", "one", "within", "beyond"),
    MOVES,
    ids=[f"{type(row[0]).__name__}-{row[1]}-{n}" for n, row in enumerate(MOVES)],
)
def test_inputs_move_as_far_as_declared_and_no_further(made, verb, one, within, beyond):
    ask = lambda data: str(getattr(made, verb)(data))  # noqa: E731
    fine = replay(ask, pair=(one, within))
    assert fine.mismatches == []
    assert fine.moved == 4  # the input of one call, in each run
    if beyond is not None:
        assert [found.kind for found in replay(ask, pair=(one, beyond)).mismatches] == ["input"]


def test_questions_of_a_sparse_vector_are_compared_one_by_one():
    made = dp.SparseVector(sensitivity=1, epsilon=1, threshold=0, values_epsilon=1, positives=9)

    def ask(data):
        run = made.start()
        return [run.ask(data[0]), run.ask_value(data[1]), run.left]

    assert replay(ask, pair=([1, 5], [2, 4]), runs=1).moved == 2
    assert [str(one.where) for one in replay(ask, pair=([1, 5], [2, 7])).mismatches] == ["call 3, Session.ask_value"]


def test_every_class_has_inputs_here():
    seen = {type(row[0]).__name__ for row in MOVES} | {"SparseVector", "DiscreteLaplace", "DiscreteGaussian"}
    assert seen == {one.__name__ for one in m.MECHANISMS}


# --- the hooks leave nothing behind ---------------------------------------------------------------------------------


def state():
    return [getattr(found, verb) for found, verbs in classes() for verb in verbs] + [sys.stdout, sys.stderr]


def test_nothing_is_left_behind_also_after_errors_and_inside_one_another():
    before = state()
    with heard(Recorder()):
        assert state() != before
        replay(noisy_mean, pair=PAIR)
        assert state() != before
    assert all(a is b for a, b in zip(state(), before, strict=True))

    def interrupted(data):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        replay(interrupted, pair=PAIR)
    assert all(a is b for a, b in zip(state(), before, strict=True))


def test_other_threads_pass_straight_through(capsys):
    recorder, drawn = Recorder(), []

    def work():
        drawn.append(ONE.release(5))
        print("from elsewhere")

    with heard(recorder):
        other = threading.Thread(target=work)
        other.start()
        other.join()
        mine = ONE.release(5)
    assert len(drawn) == 1
    assert [call.gave for call in recorder.calls] == [mine]
    assert recorder.printed == []
    assert capsys.readouterr().out == "from elsewhere\n"


def test_what_a_mechanism_calls_inside_is_its_own():
    recorder, median = Recorder(), dp.order_statistic("1/2", lower=0, upper=4, grid=1)
    with heard(recorder):
        dp.ProposeTestRelease(function=median, bound=1, epsilon=1, delta="1e-2").release([1, 2, 3])
    assert [str(call) for call in recorder.calls] == ["ProposeTestRelease.release"]


def test_frozen_bits_follow_from_their_label_and_may_not_be_released():
    assert Frozen("a").releasable is False
    assert (Frozen("a").words(3) == Frozen("a").words(3)).all()
    assert Frozen("a").bits(200) != Frozen("b").bits(200)
    assert 0 <= Frozen("a").bits(3) < 8
    with heard(Recorder()):
        first = ONE.release(0)
    with heard(Recorder()):
        assert ONE.release(0) == first


@pytest.mark.parametrize(
    ("one", "other", "where"),
    [
        (1, 1.0, ""), (0.0, -0.0, ""), ([1, 2], [1, 3], "[1]"), ({"a": 1, "b": 2}, {"b": 2, "a": 1}, "keys"),
        ({"a": [1]}, {"a": [1, 2]}, "a length"), (np.zeros(2), np.zeros(3), "shape"), ("x", "y", ""),
        (np.array([1, 2]), np.array([1, 5]), "[1]"), (ONE, dp.Laplace(sensitivity=1, epsilon=2), "epsilon"),
    ],
    ids=range(9),
)
def test_what_differs_is_told_where(one, other, where):
    assert differences(one, other)[0][0] == where
    assert differences(one, one) == []


def test_nan_is_itself():
    assert differences([math.nan, float("nan")], [float("nan"), math.nan]) == []


# --- as the first layer of an audit ----------------------------------------------------------------------------------


def test_an_audit_of_a_function_tells_what_its_replay_found():
    report = dp.audit(divided_by_private_n, pair=PAIR, claim=dp.Pure(1), samples=1000, seconds=NO_CLOCK)
    assert any(note.startswith("by replay, for certain: what it returns") for note in report.notes)
    assert "by replay, for certain" in str(report)


@pytest.mark.parametrize(
    "function", [noisy_mean, lambda data: float(np.random.default_rng().laplace(len(data)))], ids=range(2)
)
def test_and_nothing_where_it_found_nothing_or_cannot_tell(function):
    report = dp.audit(function, pair=PAIR, claim=dp.Pure(3), samples=1000, seconds=NO_CLOCK)
    assert not any("replay" in note for note in report.notes)


# --- what a function does outside of one run --------------------------------------------------------------------------


def test_a_function_that_changes_with_its_third_run_is_refused():
    runs = []

    def third(data):
        runs.append(1)
        return len(runs) >= 3

    with pytest.raises(dp.Refusal, match="keeps something"):
        dp.replay(third, pair=PAIR)


def test_what_a_generator_does_while_it_is_read_is_heard():
    def parts(data):
        yield ONE.release(len(data))
        yield len(data)

    found = dp.replay(parts, pair=PAIR)
    assert (found.calls, [one.kind for one in found.mismatches]) == (1, ["returned"])


def test_ending_the_program_on_one_of_both_is_seen():
    def leaves(data):
        if len(data) == len(PAIR[0]):
            raise SystemExit(1)
        return 0

    assert [one.kind for one in dp.replay(leaves, pair=PAIR).mismatches] == ["error"]


def test_an_asynchronous_function_is_refused():
    async def later(data):
        return len(data)

    with pytest.raises(dp.Refusal, match="asynchronous"):
        dp.replay(later, pair=PAIR)
