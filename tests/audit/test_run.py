"""`audit` as a whole: what it takes, what it says, what it never says."""

from __future__ import annotations

import inspect
import json

import numpy as np
import pytest

import dpcurator as dp
from dpcurator.auditing.draws import by_draws
from dpcurator.auditing.draws.features import Ordered
from dpcurator.auditing.draws.search import Event
from dpcurator.auditing.pairs import Pair

VERDICTS = {"violation found (certain)", "violation found", "no violation found"}


def laplace(seed=1, scale=1.0):
    rng = np.random.default_rng(seed)
    return lambda x, size: np.round(x + rng.laplace(0, scale, size), 6)


def test_h5_it_is_a_function_whose_signature_says_what_it_takes():
    """H5: no module shadows it, so `help(dp.audit)` is about it and not about a package."""
    assert inspect.isfunction(dp.audit)
    assert {"mechanism", "pair", "claim", "neighbours"} <= set(inspect.signature(dp.audit).parameters)
    assert dp.audit(laplace(), pair=(0, 1), samples=2000).verdict in VERDICTS


@pytest.mark.parametrize(
    "claim", [dp.Pure("0.5"), dp.Approximate("0.5", "0.01"), dp.Zcdp("0.125")], ids=["pure", "approximate", "zcdp"]
)
def test_laplace_of_scale_1_breaks_half_its_loss_in_every_measure(claim):
    report = dp.audit(laplace(), pair=(0, 1), claim=claim, samples=100_000)
    assert report.verdict == "violation found"
    assert claim.parameter < report.at_least < 1
    assert report.measure == claim.measure
    assert "private" not in str(report)


@pytest.mark.parametrize(
    "claim", [dp.Pure(1), dp.Approximate("0.9", "0.05"), dp.Zcdp("0.5")], ids=["pure", "approximate", "zcdp"]
)
def test_and_not_its_loss(claim):
    report = dp.audit(laplace(2), pair=(0, 1), claim=claim, samples=100_000)
    assert report.verdict == "no violation found"
    assert 0 < report.at_least <= claim.parameter
    assert "private" not in str(report)


def test_without_a_claim_there_is_a_bound_and_no_violation():
    report = dp.audit(laplace(3), pair=(0, 1), samples=50_000)
    assert report.verdict == "no violation found"
    assert 0.8 < report.epsilon < 1
    assert "claimed  nothing" in str(report)


def test_samples_seconds_confidence_and_progress():
    told = []
    report = dp.audit(
        laplace(4),
        pair=(0, 1),
        claim=dp.Pure(1),
        samples=3000,
        confidence="0.99",
        progress=lambda *one: told.append(one),
    )
    assert report.samples == 3000
    assert float(report.alpha) == pytest.approx(0.01)
    assert {what for what, _, _ in told} == {"looking for events", "counting"}
    assert report.seconds > 0


def test_a_slow_function_is_drawn_from_as_often_as_time_allows(monkeypatch):
    """By a clock of its own, on which each draw takes two thousandths of a second and nothing else takes any."""
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])

    def slow(x):
        now[0] += 0.002
        return x

    report = dp.audit(slow, pair=(0, 1), claim=dp.Pure("0.1"), seconds=2, samples=10**7)
    assert 100 <= report.samples < 2000
    assert report.violated


def test_a_function_that_takes_lots_may_raise_for_some_draws():
    rng = np.random.default_rng(5)

    def release(x, size):
        if (rng.random(size) < 0.3 * (x + 1)).any():
            raise OverflowError("quotes data")
        return np.zeros(size)

    report = dp.audit(release, pair=(0, 1), claim=dp.Pure("0.1"), samples=2000)
    assert report.violated
    assert "raising OverflowError" in report.event or report.event.startswith("the outcome")
    assert "quotes data" not in json.dumps(report.as_json())


def test_a_list_is_not_shared_with_the_function():
    rows = [3, 1, 2]

    def sorting(data):
        data.sort()
        return data[0]

    dp.audit(sorting, pair=(rows, [0, *rows]), samples=200)
    assert rows == [3, 1, 2]


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"pair": 3},
        {"pair": (0, 1, 2)},
        {"neighbours": "add-remove"},
        {"pair": (0, 1), "claim": 1},
        {"pair": (0, 1), "samples": 0},
        {"pair": (0, 1), "confidence": 1},
        {"pair": (0, 1), "confidence": "nan"},
        {"pair": (0, 1), "seconds": -1},
    ],
    ids=str,
)
def test_what_is_no_question_is_refused_with_a_cure(given):
    with pytest.raises(dp.Refusal):
        dp.audit(laplace(), **given)


def test_what_cannot_be_called_is_refused():
    with pytest.raises(dp.Refusal):
        dp.audit(7, pair=(0, 1))


@pytest.mark.parametrize("scale", [1, 30], ids=["violated and made smaller", "looked at to the end"])
def test_shares_of_alpha_sum_to_less_than_alpha(scale, monkeypatch):
    """Looks have alpha/2**(r+1), r = 1, 2, ...; tries at smaller pairs alpha/(2 k (k+1)): what each count was given."""
    given, honest = [], by_draws.count

    def counting(*rest, alpha, **more):
        given.append(alpha)
        return honest(*rest, alpha=alpha, **more)

    monkeypatch.setattr(by_draws, "count", counting)
    rng = np.random.default_rng(6)
    report = dp.audit(
        lambda rows, size: np.round(sum(rows) + rng.laplace(0, scale, size)), claim=dp.Pure("0.4"), samples=20_000,
        neighbours="add-remove", domain=[0, 10], confidence="0.99",
    )
    assert report.violated == (scale == 1)
    assert len(given) > (scale == 1)
    assert all(alpha > 0 for alpha in given)
    assert sum(given) <= report.alpha
    assert sum(2.0 ** -(r + 1) for r in range(1, 60)) + sum(1 / (2 * k * (k + 1)) for k in range(1, 10**5)) <= 1


def test_pairs_turned_round_whose_events_have_the_same_words_are_not_mixed_up(monkeypatch):
    """An event is drawn one by one as it was counted: of the other pair it is likelier on the other side."""
    rng = np.random.default_rng(8)
    value = Ordered("the outcome", lambda drawn: drawn.part(0))

    def event(forward):
        return Event(lambda: "the outcome > 0", lambda drawn: drawn.part(0) > 0, forward, 9, 9, value, "")

    turned = [(Pair(2, 0), event(True)), (Pair(0, 1), event(False))]  # the first tells most
    monkeypatch.setattr(by_draws, "_looks", lambda *_: iter([(turned, 100, 2)]))
    report = dp.audit(
        lambda x, size: (rng.random(size) < (0.1, 0.7, 0.95)[x]).astype(int), neighbours="number", claim=dp.Pure(1),
        samples=2000, shrink=False,
    )
    assert report.violated
    assert {one.direction for one in report.findings} == {("first", "second"), ("second", "first")}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_a_right_mechanism_passes_whatever_the_seed(seed):
    report = dp.audit(laplace(100 + seed), pair=(0, 1), claim=dp.Pure(1), samples=200_000)
    assert report.verdict == "no violation found"
