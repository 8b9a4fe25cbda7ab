"""Attacks around the data: faults, randomness, budget, cache, messages (10, 16, 17, 20 to 22, 25, 29 to 31, 35, 41).

Through `dpcurator.open` and the curator's Python API; failures are injected by giving a curator another engine, which
is what `Curator.engine` is for. Rows 18 and 19 are in test_fire.py and test_crash.py.
"""

from __future__ import annotations

import gc
import inspect
import json
import os
import pickle
import shutil
import threading
import traceback
import warnings
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from house import COUNT, NAMES, ROWS, catalog, opened

import dpcurator as dp
from dpcurator.entropy import TapeEntropy
from dpcurator.values import Exact

CANARY = "c4n4ry"
SECRET = 271828182845904523536


# --- row 10 and 35: failures -----------------------------------------------------------------------------------------


class Failing:
    """An engine that does something wrong after reading the data."""

    def __init__(self, act: Callable[[Any], Any]) -> None:
        self.act = act

    def evaluate(self, core: Any) -> Any:
        return self.act(core)


def _raise(make: Callable[[], BaseException]) -> Callable[[Any], Any]:
    def act(core: Any) -> Any:
        held = Exact([[SECRET]])  # in this frame, which the error's traceback keeps alive
        error = make()
        assert held is not None
        raise error

    return act


FAILURES: dict[str, Callable[[Any], Any]] = {
    "an error that quotes data": _raise(lambda: ValueError(f"could not convert {CANARY} to a number")),
    "memory": _raise(lambda: MemoryError(CANARY)),
    "recursion": _raise(lambda: RecursionError(CANARY)),
    "a refusal too late": _raise(lambda: dp.Refusal(CANARY)),
    "over budget too late": _raise(lambda: dp.OverBudget(requested=Fraction(SECRET), remaining=Fraction(0))),
    "a fault of its own": _raise(lambda: dp.Fault()),
    "an assertion": _raise(lambda: AssertionError(SECRET)),
    "stop": _raise(lambda: StopIteration(SECRET)),
    "nothing": lambda core: None,
    "open integers": lambda core: [[SECRET]],
    "too few keys": lambda core: Exact([]),
    "too many keys": lambda core: Exact([[SECRET], [SECRET]]),
    "too few sums": lambda core: Exact([[]]),
    "too many sums": lambda core: Exact([[SECRET, SECRET]]),
    "a float": lambda core: Exact([[float(SECRET)]]),
    "nan": lambda core: Exact([[float("nan")]]),
    "a text": lambda core: Exact([[str(SECRET)]]),
    "a truth": lambda core: Exact([[True]]),
    "missing": lambda core: Exact([[None]]),
}


def faulty(curator: dp.Curator, act: Callable[[Any], Any]) -> dp.Curator:
    return replace(curator, engine=lambda: Failing(act))


@pytest.mark.parametrize("how", FAILURES)
def test_row_10_every_failure_is_one_fault(tmp_path, how):
    honest = opened(tmp_path / "c")
    with pytest.raises(dp.Fault) as caught:
        faulty(honest, FAILURES[how]).ask(COUNT, epsilon=1)
    fault = caught.value
    plain = dp.Fault()
    assert (str(fault), fault.args, fault.exit_code, vars(fault)) == (str(plain), plain.args, 5, vars(plain))
    assert fault.__cause__ is None
    assert fault.__context__ is None
    assert honest.budget().spent == 1
    assert [type(entry.event).__name__ for entry in honest.log()] == ["Opened", "Charged", "Closed"]
    assert vars_of(list(honest.log())[-1].event) == {"reason": "fault"}
    for refused in (COUNT, "SELECT SUM(age) FROM visits"):
        with pytest.raises(dp.Misconfigured, match="closed"):
            honest.ask(refused, epsilon=1)
    assert honest.reopen()
    assert honest.ask(COUNT, epsilon=1).spent == 1  # the same request goes on at no new cost


def vars_of(event: Any) -> dict[str, Any]:
    return {name: getattr(event, name) for name in event.__slots__}


def test_row_10_a_question_that_is_free_or_refused_is_so_while_closed(tmp_path):
    curator = opened(tmp_path / "c")
    curator.ledger.close_after_fault()
    assert curator.quote(COUNT, epsilon=1).epsilon == 1
    with pytest.raises(dp.Refusal):
        curator.ask("SELECT who FROM visits", epsilon=1)


@pytest.mark.parametrize("how", ["an error that quotes data", "memory", "too many keys", "a float", "interrupt"])
def test_row_35_no_exact_integer_outlives_a_failure(tmp_path, how):
    """While the exception is held, with its traceback and all frames of it, no Exact exists; nor does the secret."""
    gc.collect()
    curator = opened(tmp_path / "c")
    act = FAILURES.get(how) or _raise(KeyboardInterrupt)
    held: BaseException | None = None
    try:
        faulty(curator, act).ask(COUNT, epsilon=1)
    except (dp.Fault, KeyboardInterrupt) as error:
        held = error
    assert held is not None
    frames = [frame.f_locals for frame, _ in traceback.walk_tb(held.__traceback__)]
    assert not [value for local in frames for value in local.values() if isinstance(value, Exact)]
    gc.collect()
    assert not [thing for thing in gc.get_objects() if isinstance(thing, Exact)]
    shown = "".join(traceback.TracebackException.from_exception(held, capture_locals=True).format())
    for secret in (str(SECRET), CANARY):
        assert secret not in shown.replace(str(act), "")
        assert secret not in repr(held.args)
    assert pickle.loads(pickle.dumps(held)).args == held.args


def test_row_10_an_interruption_is_the_users_and_closes_nothing(tmp_path):
    curator = opened(tmp_path / "c")
    with pytest.raises(KeyboardInterrupt) as caught:
        faulty(curator, _raise(lambda: KeyboardInterrupt(CANARY))).ask(COUNT, epsilon=1)
    assert caught.value.args == ()
    assert caught.value.__context__ is None
    assert curator.ledger.life() == "open"
    answer = curator.ask(COUNT, epsilon=1)
    assert answer.spent == 1
    assert not answer.repeated


def test_row_10_a_ledger_that_cannot_be_closed_changes_no_word(tmp_path, monkeypatch):
    curator = opened(tmp_path / "c")
    monkeypatch.setattr(type(curator.ledger), "close_after_fault", lambda self: 1 / 0)
    with pytest.raises(dp.Fault) as caught:
        faulty(curator, FAILURES["memory"]).ask(COUNT, epsilon=1)
    assert caught.value.__context__ is None


def test_row_10_duckdb_speaks_only_through_a_fault(tmp_path, monkeypatch):
    """The real engine, made to fail on a row: its words quote the value, the Fault does not."""
    from dpcurator.engines.duckdb import engine as module

    honest = module.statement

    def broken(core: Any) -> Any:
        made = honest(core)
        return replace(made, sql=made.sql.replace("SELECT k, ", "SELECT CAST('" + CANARY + "' AS INTEGER), ", 1))

    monkeypatch.setattr(module, "statement", broken)
    curator = opened(tmp_path / "c")
    with pytest.raises(dp.Fault) as caught:
        curator.ask(COUNT, epsilon=1)
    assert CANARY not in "".join(traceback.format_exception(caught.value))
    assert caught.value.__context__ is None


@pytest.mark.filterwarnings("ignore:not everything in")  # rows that cannot be read are the test
def test_row_35_no_message_carries_data(tmp_path, capfd):
    """A canary in every text, odd number and unit is in no quote, answer, refusal, receipt, log or output."""
    number = 1618033988
    rows = [(CANARY, CANARY, number, float(number), True, CANARY, float(number))] * 3
    curator = opened(tmp_path / "c", ROWS + rows)
    said: list[str] = []
    for question in (COUNT, "SELECT city, dose, COUNT(*), SUM(age) FROM visits GROUP BY city, dose",
                     "SELECT who FROM visits", "SELECT AVG(who) FROM visits",
                     "SELECT COUNT(*) FROM visits GROUP BY who",
                     "SELECT COUNT(*) FROM visits WHERE who > 5"):
        try:
            said += [json.dumps(curator.quote(question, epsilon=1).as_json()), str(curator.menu(question))]
            answer = curator.ask(question, epsilon=1)
            said += [str(answer), json.dumps(answer.as_json()), answer._repr_html_(), repr(answer)]
        except dp.Refusal as refused:
            said += [str(refused), repr(refused), json.dumps(refused.as_json())]
    said += [repr(entry) for entry in curator.log()]
    said += [repr(curator), repr(curator.catalog), repr(curator.budget()), *capfd.readouterr()]
    assert len(said) > 20
    for text in said:
        assert CANARY not in text
        assert str(number) not in text


# --- rows 16 and 17: randomness --------------------------------------------------------------------------------------


def in_child(work: Callable[[], object]) -> Any:
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        child = os.fork()
    if child == 0:
        try:
            said = json.dumps(work())
        except BaseException as error:
            said = json.dumps(f"raised {type(error).__name__}: {error}")
        os.write(writing, said.encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return json.loads(said)


def test_row_16_forks_share_no_noise(tmp_path):
    """Parent and four children after a first question; two equal answers have probability under 1e-9 at this price."""
    columns = {"gain": {"type": "float", "bounds": [0, 1]}}
    curator = opened(tmp_path / "c", columns=columns)
    question = "SELECT SUM(gain) FROM visits"
    curator.ask(question, epsilon="0.1")
    curator.entropy.words(1000)
    fresh: Callable[[], object] = lambda: curator.ask(question, epsilon="0.1", fresh=True).rows[0][0]  # noqa: E731
    answers = [in_child(fresh) for _ in range(4)] + [fresh()]
    assert all(isinstance(answer, float) for answer in answers), answers
    assert len(set(answers)) == 5
    assert curator.budget().spent == Fraction(6, 10)


def test_row_16_threads_share_no_noise(tmp_path):
    curator = opened(tmp_path / "c", epsilon=100)
    answers: list[float] = []
    crowd = [
        threading.Thread(
            target=lambda: answers.append(
                curator.ask("SELECT SUM(gain) FROM visits", epsilon="0.1", fresh=True).rows[0][0]
            )
        )
        for _ in range(16)
    ]
    for thread in crowd:
        thread.start()
    for thread in crowd:
        thread.join()
    assert len(set(answers)) == 16


def test_row_17_nothing_public_takes_a_seed(tmp_path, monkeypatch):
    words = ("seed", "rng", "random_state", "generator")
    for name in dp.__all__:
        thing = getattr(dp, name)
        for member in [thing, *(vars(thing).values() if isinstance(thing, type) else ())]:
            if callable(member):
                try:
                    parameters = inspect.signature(member).parameters
                except (TypeError, ValueError):
                    continue
                assert not [p for p in parameters if any(word in p.lower() for word in words)], (name, member)
    import random

    import numpy as np

    curator = opened(tmp_path / "c")
    question, shown = "SELECT SUM(gain) FROM visits", []
    for _ in range(2):
        random.seed(0)
        np.random.seed(0)
        monkeypatch.setenv("PYTHONHASHSEED", "0")
        shown.append(curator.ask(question, epsilon="0.1", fresh=True).rows)
    assert shown[0] != shown[1]


def test_row_17_noise_from_a_tape_is_never_released(tmp_path):
    curator = opened(tmp_path / "c")
    taped = replace(curator, entropy=TapeEntropy("01" * 10_000))
    with pytest.raises(dp.Misconfigured, match="tests"):
        taped.ask(COUNT, epsilon=1)
    assert curator.budget().spent == 0


# --- rows 20 to 22: what a charge rests on ---------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["who = 'p1'", "who = 'nobody'", "age > 10000", "TRUE", "FALSE", "city IS NULL"])
def test_row_20_the_charge_does_not_depend_on_data(tmp_path, where):
    charges = []
    for name, rows in (("all", ROWS), ("none", []), ("one", ROWS[2:4])):
        curator = opened(tmp_path / name, rows)
        answer = curator.ask(f"SELECT COUNT(*), AVG(age) FROM visits WHERE {where}", epsilon="0.3")
        charges.append((answer.cost, curator.budget().spent, len(list(curator.log()))))
    assert charges == [(Fraction(3, 10), Fraction(3, 10), 3)] * 3


def until_over(ask: Callable[[int], object]) -> tuple[int, str]:
    """How often it could be asked, and the words of the refusal."""
    for n in range(1000):
        try:
            ask(n)
        except dp.OverBudget as refused:
            return n, str(refused)
    raise AssertionError("the budget never ended")


def test_row_20_a_budget_that_ends_ends_alike(tmp_path):
    """How many questions are answered before the refusal is the same with and without a person."""
    counts = []
    for name, rows in (("with", ROWS), ("without", ROWS[2:])):
        curator = opened(tmp_path / name, rows, epsilon=1)
        counts.append(
            until_over(lambda n, c=curator: c.ask(f"SELECT COUNT(*) FROM visits WHERE age > {n}", epsilon="0.15"))
        )
    assert counts[0] == counts[1]
    assert counts[0][0] == 6


def test_row_20_money_is_taken_before_data_is_read(tmp_path):
    curator = opened(tmp_path / "c", epsilon=1)
    spent: list[Fraction] = []

    def act(core: Any) -> Any:
        spent.append(curator.budget().spent)
        return Exact([[0]])

    faulty(curator, act).ask(COUNT, epsilon="0.5")
    assert spent == [Fraction(1, 2)]
    with pytest.raises(dp.OverBudget):
        faulty(curator, act).ask("SELECT COUNT(age) FROM visits", epsilon="0.6")
    assert len(spent) == 1


@pytest.mark.parametrize(
    "question",
    ["SELECT leak(age) FROM visits", "SELECT COUNT(*) FROM visits WHERE f(age)", "SELECT PY('x'), COUNT(*) FROM visits",
     "SELECT COUNT(*), NEXTVAL('s') FROM visits", "SELECT COUNT(*), RANDOM() FROM visits",
     "SELECT COUNT(*) FROM read_csv('/etc/passwd')", "SELECT COUNT(*) FROM 'visits.csv'", "COPY visits TO 'x'",
     "ATTACH 'x'", "SET threads = 1", "PRAGMA version", "SELECT getvariable('x'), COUNT(*) FROM visits"],
)
def test_row_21_nothing_with_state_runs_on_rows(tmp_path, question):
    curator = opened(tmp_path / "c")
    with pytest.raises(dp.Refusal):
        curator.ask(question, epsilon=1)
    assert curator.budget().spent == 0


def test_row_22_what_is_private_costs(tmp_path):
    curator = opened(tmp_path / "c")
    for price in (0, "0", -1, "-0.1", 0.0):
        with pytest.raises(dp.Refusal):
            curator.ask(COUNT, epsilon=price)
    free = curator.ask("SELECT city FROM visits GROUP BY city", epsilon=1)
    assert free.public
    assert free.cost == 0
    assert "public" in str(free)
    constant = opened(tmp_path / "d", columns={"age": {"type": "integer", "bounds": [0, 0]}})
    assert constant.ask("SELECT SUM(age), AVG(age) FROM visits", epsilon=1).rows == [(0, 0.0)]
    assert constant.budget().spent == 0
    assert constant.ask("SELECT SUM(age), COUNT(*) FROM visits", epsilon=1).cost == 1


def test_row_25_nothing_shown_tells_how_long_it_took(tmp_path):
    """An answer's event repeats the time of its charge. The time a caller waits is not protected (semantics 7.3)."""
    curator = opened(tmp_path / "c")
    answer = curator.ask(COUNT, epsilon=1)
    _, charged, answered = curator.log()
    assert charged.time == answered.time == (answer.receipt or {})["time"]
    assert not {"seconds", "elapsed", "duration", "finished"} & set(answer.as_json()) | set()


# --- rows 29 and 30: repeats ------------------------------------------------------------------------------------------


def test_row_29_averaging_repeats_gains_nothing(tmp_path):
    """300 repeats at .1: free, and the same number each time. 300 fresh ones would cost 30, and 10 are there."""
    curator = opened(tmp_path / "c", epsilon=10)
    shown = {curator.ask(COUNT, epsilon="0.1").rows[0] for _ in range(300)}
    assert len(shown) == 1
    assert curator.budget().spent == Fraction(1, 10)
    assert until_over(lambda n: curator.ask(COUNT, epsilon="0.1", fresh=True))[0] == 99
    assert curator.budget().remaining == 0
    assert curator.ask(COUNT, epsilon="0.1").repeated  # what was paid for stays


@pytest.mark.parametrize(
    "other",
    [
        "SELECT COUNT(*) AS m FROM visits",
        "SELECT COUNT(*) AS n FROM visits WHERE TRUE",
        "SELECT COUNT(1) + 0 AS n FROM visits",
        "SELECT COUNT(*) AS n, COUNT(*) FROM visits",
        "SELECT COUNT(*) AS n FROM visits WHERE age = age OR age IS NULL",
    ],
)
def test_row_29_the_same_in_other_words_is_free_with_the_same_numbers_or_paid_for(tmp_path, other):
    curator = opened(tmp_path / "c", epsilon=10)
    first = curator.ask(COUNT, epsilon="0.1")
    second = curator.ask(other, epsilon="0.1")
    paid = curator.budget().spent
    same = abs(second.rows[0][0] - first.rows[0][0]) <= Fraction(1, 2)  # a count is shown whole, an expression is not
    assert paid == Fraction(2, 10) or (paid == Fraction(1, 10) and same)


def test_row_29_spelling_is_no_new_question(tmp_path):
    curator = opened(tmp_path / "c", epsilon=10)
    first = curator.ask(COUNT, epsilon="0.2")
    for text in ("select  count( * )  as n\nfrom visits -- again", "SELECT COUNT(*) n FROM VISITS;"):
        assert curator.ask(text, epsilon=0.2).rows == first.rows
    for price in (
        {"epsilon": "1/5"},
        {"epsilon": Fraction(1, 5)},
        {"spend": "2%"},
        {"epsilon": "2e-1"},
        {"epsilon": ".20"},
    ):
        for level in (0.95, "0.95", "19/20", Fraction(95, 100), ".950"):
            again = curator.ask(COUNT, confidence=level, **price)
            assert again.repeated
            assert again.cells == first.cells
    assert curator.budget().spent == Fraction(1, 5)
    assert curator.ask(COUNT, epsilon="0.2", confidence="0.9").rows == first.rows
    assert curator.budget().spent == Fraction(1, 5)


def test_row_30_a_repeat_is_free_for_its_own_analyst_alone(tmp_path):
    """So neither price nor numbers tell that another has asked it before."""
    curator = opened(tmp_path / "c")
    ada = curator.ask("SELECT SUM(gain) FROM visits", epsilon="0.1", analyst="ada")
    eve = curator.ask("SELECT SUM(gain) FROM visits", epsilon="0.1", analyst="eve")
    assert not eve.repeated
    assert eve.rows != ada.rows
    assert curator.budget().spent == Fraction(2, 10)
    assert curator.ask("SELECT SUM(gain) FROM visits", epsilon="0.1", analyst="ada").rows == ada.rows


def test_row_30_a_request_id_of_another_is_no_way_to_their_answer(tmp_path):
    curator = opened(tmp_path / "c")
    ada = curator.ask(COUNT, epsilon="0.1", analyst="ada", request_id="mine")
    with pytest.raises(dp.Refusal, match="belongs"):
        curator.ask(COUNT, epsilon="0.1", analyst="eve", request_id="mine")
    with pytest.raises(dp.Refusal):
        curator.ask(COUNT, epsilon="0.1", analyst="eve", request_id=(ada.receipt or {})["plan_sha256"])
    derived = curator.ask(COUNT, epsilon="0.3", analyst="ada")
    with pytest.raises(dp.Refusal, match="kept"):
        curator.ask(COUNT, epsilon="0.3", analyst="eve", request_id=(derived.receipt or {})["request"])
    assert curator.budget().spent == Fraction(4, 10)


def test_row_30_a_new_snapshot_is_a_new_question(tmp_path):
    curator = opened(tmp_path / "c")
    curator.ask(COUNT, epsilon="0.1")
    again = opened(tmp_path / "c", ROWS[:4])
    assert again.catalog.data_version == 2
    assert not again.ask(COUNT, epsilon="0.1").repeated
    assert again.budget().spent == Fraction(2, 10)


# --- row 31: exact sums -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("price", [0.1, "0.1", "1/10", Fraction(1, 10), "10%"])
def test_row_31_ten_tenths_are_one(tmp_path, price):
    curator = opened(tmp_path / "c", epsilon=1)
    how: dict[str, Any] = {"spend": price} if price == "10%" else {"epsilon": price}
    for n in range(10):
        curator.ask(f"SELECT COUNT(*) FROM visits WHERE age > {n}", **how)
    assert curator.budget().spent == 1
    with pytest.raises(dp.OverBudget) as refused:
        curator.ask(COUNT, **how)
    error = refused.value
    assert (error.requested, error.remaining, error.short_by) == (Fraction(1, 10), 0, Fraction(1, 10))
    assert "requested epsilon 0.1, remaining 0, short by 0.1" in str(error)


def test_row_31_a_hairs_breadth_over_is_over(tmp_path):
    curator = opened(tmp_path / "c", epsilon=1)
    for price in (1.0000000000000002, "1." + "0" * 60 + "1"):
        with pytest.raises(dp.OverBudget):
            curator.ask(COUNT, epsilon=price)
    curator.ask(COUNT, epsilon="0." + "9" * 60)
    assert 0 < curator.budget().remaining < Fraction(2, 10**60)
    with pytest.raises(dp.OverBudget):
        curator.ask(COUNT, epsilon="2e-60", fresh=True)


def test_row_31_the_split_of_a_price_adds_up_exactly(tmp_path):
    curator = opened(tmp_path / "c")
    for count, items in ((3, "COUNT(*), COUNT(age), SUM(age)"), (2, "AVG(age)"), (4, "AVG(age), AVG(gain)")):
        quote = curator.quote(f"SELECT {items} FROM visits", epsilon="0.1")
        assert len(quote.priced) == count
        assert sum(one.epsilon for one in quote.priced) == Fraction(1, 10)
        for one in quote.priced:  # the loss of the noise really drawn, from its own law
            assert one.mechanism.loss(one.reading.l1).pure_epsilon() == one.epsilon


# --- row 41: an older ledger -----------------------------------------------------------------------------------------


def test_row_41_yesterdays_ledger_is_noticed(tmp_path):
    place = tmp_path / "c"
    curator = opened(place)
    curator.ask(COUNT, epsilon=1)
    curator.ledger.close()
    saved = tmp_path / "saved.db"
    shutil.copy(place / ".dpcurator" / "ledger.db", saved)
    receipt = curator.ask("SELECT SUM(age) FROM visits", epsilon=5).receipt or {}
    curator.ledger.close()
    shutil.copy(saved, place / ".dpcurator" / "ledger.db")
    with pytest.raises(dp.Misconfigured, match="older copy"):
        curator.ask(COUNT, epsilon=5)
    rows = {name: [row[j] for row in ROWS] for j, name in enumerate(NAMES)}
    again = dp.open(catalog(), directory=place, refresh=True, visits=rows)
    verdict = again.verify(receipt)
    assert not verdict.holds
    assert [step.name for step in verdict.steps if not step.holds] == ["ledger"]


def test_row_41_a_ledger_taken_away_is_noticed(tmp_path):
    place = tmp_path / "c"
    curator = opened(place)
    curator.ask(COUNT, epsilon=1)
    curator.ledger.close()
    (place / ".dpcurator" / "ledger.db").unlink()
    with pytest.raises(dp.Misconfigured, match="disappeared"):
        curator.ask(COUNT, epsilon=5)


def test_row_41_nothing_rests_on_the_clock(tmp_path):
    """A clock that runs backwards changes no decision and no chain."""
    from dpcurator.ledger import Ledger

    curator = opened(tmp_path / "c", epsilon=1)
    years = iter(range(2030, 1900, -1))
    ledger = Ledger(
        curator.ledger._store, curator.ledger._opening, clock=lambda: f"{next(years)}-01-01T00:00:00.000000Z"
    )
    backwards = replace(curator, ledger=ledger)
    for n in range(4):
        backwards.ask(f"SELECT COUNT(*) FROM visits WHERE age > {n}", epsilon="0.25")
    with pytest.raises(dp.OverBudget):
        backwards.ask(COUNT, epsilon="0.01")
    assert curator.ledger.verify().sound
