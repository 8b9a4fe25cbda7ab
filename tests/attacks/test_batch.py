"""Batches under attack: data in errors, what a batch could close or overspend, neighbours, and processes at once.

Rows 10, 18, 19, 20, 22, 29, 30 and 35 of the catalogue, for several questions in one request.
"""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import threading
import traceback
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from house import COUNT, ROWS, catalog, opened, steady

import dpcurator as dp
from dpcurator.values import Exact

BATCH = [COUNT, "SELECT city, AVG(age) AS a FROM visits GROUP BY city", "SELECT SUM(gain) AS s FROM visits"]
SECRET = 271828182845904523536
CANARY = "c4n4ry"


class Failing:
    def __init__(self, act: Any) -> None:
        self.act = act

    def evaluate_all(self, cores: Any) -> Any:
        return self.act(cores)


def held_and_raised(cores: Any) -> Any:
    held = Exact([[SECRET]])
    error = ValueError(f"{CANARY} {len(cores)}")
    assert held is not None
    raise error


WRONG = {
    "an error that quotes data": held_and_raised,
    "nothing": lambda cores: None,
    "too few": lambda cores: (Exact([[SECRET]]),),
    "too many": lambda cores: (Exact([[SECRET]]),) * 9,
    "another's": lambda cores: tuple(Exact([[SECRET]]) for _ in cores),
    "open integers": lambda cores: tuple([[SECRET]] for _ in cores),
    "no sums": lambda cores: tuple(Exact([[]]) for _ in cores),
}


@pytest.mark.parametrize("how", WRONG)
def test_row_10_and_35_every_failure_is_one_fault_without_data(tmp_path, how):
    gc.collect()
    curator = opened(tmp_path / "c")
    with pytest.raises(dp.Fault) as caught:
        replace(curator, engine=lambda: Failing(WRONG[how])).batch(BATCH, epsilon=1)
    fault = caught.value
    assert (str(fault), fault.args, vars(fault)) == (str(dp.Fault()), dp.Fault().args, vars(dp.Fault()))
    assert fault.__cause__ is None
    assert fault.__context__ is None
    shown = "".join(traceback.TracebackException.from_exception(fault, capture_locals=True).format())
    assert str(SECRET) not in shown
    assert CANARY not in shown
    gc.collect()
    assert not [thing for thing in gc.get_objects() if isinstance(thing, Exact)]
    assert [type(entry.event).__name__ for entry in curator.log()] == ["Opened", "Charged", "Closed"]
    with pytest.raises(dp.Misconfigured, match="closed"):
        curator.batch(BATCH, epsilon=1)
    assert curator.reopen()
    assert curator.batch(BATCH, epsilon=1)[0].spent == 1  # the same request goes on at no new cost


def test_row_10_a_batch_too_large_for_one_statement_is_refused_before_it_is_charged(tmp_path):
    """Each question alone is within the limits on expressions, and all of them in one plan are not."""
    curator = opened(tmp_path / "c")

    def large(start: int) -> str:
        parts = "+".join(f"CASE WHEN age > {n} THEN {start} ELSE 0 END" for n in range(60))
        return f"SELECT SUM(CLIP({parts}, 0, 100)) FROM visits"

    assert curator.quote(large(1), epsilon=1).epsilon == 1
    with pytest.raises(dp.Refusal, match="questions 1, 2, 3") as refused:
        curator.batch([large(n) for n in range(1, 40)], epsilon=1)
    assert "two batches" in refused.value.cure
    assert curator.ledger.life() == "new"


@pytest.mark.slow
def test_row_10_a_hundred_questions_that_share_nothing_are_one_statement(tmp_path):
    curator = opened(tmp_path / "c", epsilon=10**9)
    answers = curator.batch([f"SELECT COUNT(*) FROM visits WHERE age > {n}" for n in range(100)], epsilon=10**8)
    ages = [row[2] for row in ROWS]
    assert [answer.rows[0][0] for answer in answers] == [sum(age > n for age in ages) for n in range(100)]


def test_row_20_what_is_shown_of_price_and_refusals_does_not_depend_on_data(tmp_path):
    told = []
    for name, rows in (("with", ROWS), ("without", ROWS[2:]), ("none", [])):
        curator = opened(tmp_path / name, rows, epsilon=2)
        said: list[Any] = [curator.quote_batch(BATCH, spend="10%").as_json()]
        for asked in ([*BATCH, "SELECT MAX(age) FROM visits"], [*BATCH, "SELECT SUM(dose) FROM visits"], []):
            with pytest.raises(dp.Refusal) as refused:
                curator.batch(asked, epsilon=1)
            said.append(refused.value.as_json())
        answers = curator.batch(BATCH, epsilon=1)
        with pytest.raises(dp.OverBudget) as over:
            curator.batch(BATCH, epsilon="1.5")
        receipts = [answer.receipt or {} for answer in answers]
        said += [over.value.as_json(), [answer.notes for answer in answers], [one["batch"] for one in receipts]]
        told.append(said)
    assert told[0] == told[1] == told[2]


def test_row_22_public_questions_are_no_way_to_a_free_answer(tmp_path):
    """A free question takes no share: with or without it the others are one request, paid once and charged in full."""
    curator = opened(tmp_path / "c")
    public = "SELECT city FROM visits GROUP BY city"
    first = curator.batch([COUNT, public], epsilon=1)
    again = curator.batch([public, COUNT, public, COUNT], epsilon=1)
    assert [answer.cost for answer in first] == [1, 0]
    assert again[1].rows == again[3].rows == first[0].rows
    assert again[1].repeated
    assert curator.budget().spent == 1


def test_row_29_another_order_is_free_with_the_same_numbers_and_fewer_questions_are_paid_for(tmp_path):
    """No choice of others gets a second draw for nothing: what is free is what was drawn, and fewer questions have a
    larger share of the price each."""
    curator = opened(tmp_path / "c")
    first = curator.batch(BATCH, epsilon=1)
    turned = curator.batch(BATCH[::-1], epsilon=1)
    assert [answer.rows for answer in turned[::-1]] == [answer.rows for answer in first]
    assert curator.budget().spent == 1
    for number, asked in enumerate((BATCH[:2], BATCH[:1]), 2):
        answers = curator.batch(asked, epsilon=1)
        assert not any(answer.repeated for answer in answers)
        assert curator.budget().spent == number
    assert curator.ask(BATCH[0], epsilon=1).rows == answers[0].rows
    assert curator.budget().spent == 3


def test_row_30_a_batch_is_its_own_analysts_and_its_own_id(tmp_path):
    curator = opened(tmp_path / "c")
    mine = curator.batch(BATCH, epsilon=1, analyst="ada", request_id="night")
    for other in ({"analyst": "eve"}, {"epsilon": 2}, {"confidence": "0.9"}):
        with pytest.raises(dp.Refusal, match="belongs"):
            curator.batch(BATCH, **{"epsilon": 1, "analyst": "ada", "request_id": "night", **other})
    with pytest.raises(dp.Refusal, match="belongs"):
        curator.ask(COUNT, epsilon=1, analyst="ada", request_id="night")
    assert curator.budget().spent == 1
    theirs = curator.batch(BATCH, epsilon=1, analyst="eve")
    assert not theirs[2].repeated
    assert theirs[2].rows != mine[2].rows
    assert curator.budget().spent == 2


class Stopped(BaseException):
    """Stands for the end of the process."""


@pytest.mark.parametrize("where", ["evaluation", "noise", "storing"])
def test_row_19_a_batch_charged_and_not_answered_is_resumed_at_no_new_charge(where, tmp_path):
    curator = opened(tmp_path / "c")

    def stop(*_: object) -> Any:
        raise Stopped

    class Silent:
        releasable = True
        words = bits = stop

    class Storeless:
        def __getattr__(self, name: str) -> Any:
            return stop if name == "answer" else getattr(curator.ledger, name)

    broken: dict[str, Any] = {
        "evaluation": {"engine": lambda: Failing(stop)},
        "noise": {"entropy": Silent()},
        "storing": {"ledger": Storeless()},
    }
    with pytest.raises(Stopped):
        replace(curator, **broken[where]).batch(BATCH, epsilon=1)
    assert curator.budget().spent == 1
    answers = curator.batch(BATCH, epsilon=1)
    assert [answer.repeated for answer in answers] == [False] * 3
    assert [answer.rows for answer in curator.batch(BATCH, epsilon=1)] == [answer.rows for answer in answers]
    assert curator.budget().spent == 1
    assert [type(entry.event).__name__ for entry in curator.log()] == ["Opened", "Charged", "Answered"]


def test_row_18_many_at_once_pay_one_batch_once_and_a_budget_for_two_pays_two(tmp_path):
    opened(tmp_path / "c", epsilon=2).ledger.close()
    curators = [dp.open(catalog(epsilon=2), directory=tmp_path / "c") for _ in range(6)]
    barrier, shown, over = threading.Barrier(6), [], []

    def one(number: int, curator: dp.Curator) -> None:
        curator.engine()
        barrier.wait()
        try:
            fresh = number >= 3
            answers = curator.batch(BATCH, epsilon=1, fresh=fresh)
            shown.append((fresh, [answer.rows for answer in answers], [answer.receipt for answer in answers]))
        except dp.OverBudget as refused:
            over.append(refused.short_by)

    threads = [threading.Thread(target=one, args=pair) for pair in enumerate(curators)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    requests = {receipts[0]["request"]: (rows, receipts) for _, rows, receipts in shown}
    assert len(shown) + len(over) == 6
    assert len(requests) == 2
    assert all(requests[receipts[0]["request"]] == (rows, receipts) for _, rows, receipts in shown)
    assert curators[0].budget().remaining == 0
    for curator in curators:
        curator.ledger.close()


def test_row_18_two_processes_pay_one_batch_once(tmp_path):
    opened(tmp_path / "c").ledger.close()
    script = (
        "import json, sys, dpcurator as dp; told = json.loads(sys.argv[1]); "
        "c = dp.open(told['catalog'], directory=told['place']); c.engine(); "
        "print(json.dumps([[a.rows, a.receipt] for a in c.batch(told['batch'], epsilon=1)]))"
    )
    told = json.dumps({"catalog": catalog(), "place": str(tmp_path / "c"), "batch": BATCH})
    both = [subprocess.Popen([sys.executable, "-c", script, told], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    shown = [json.loads(one.communicate(timeout=120)[0]) for one in both]
    assert shown[0] == shown[1]
    curator = dp.open(catalog(), directory=tmp_path / "c")
    assert curator.budget().spent == 1
    assert all(curator.verify(receipt).holds for _, receipt in shown[0])


def test_the_noise_of_a_batch_is_that_of_its_quotes(tmp_path):
    """The negative control of the rest: at fixed noise two curators agree, and other rows give other numbers."""
    first, same, other = (
        steady(opened(tmp_path / name, rows)).batch(BATCH, epsilon=9)
        for name, rows in (("a", ROWS), ("b", ROWS), ("c", ROWS[:20]))
    )
    assert [answer.rows for answer in first] == [answer.rows for answer in same]
    assert [answer.rows for answer in first] != [answer.rows for answer in other]
    assert sum((answer.cost for answer in first), Fraction(0)) == 9
