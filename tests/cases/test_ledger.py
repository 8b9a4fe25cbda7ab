"""Real-world cases about budgets and how questions are asked, named by id, through a whole curator in both currencies.

The ledger alone is held to the same cases with more force: tests/ledger/test_fire.py (BUD-03), test_kill.py (kills) and
test_sqlite.py (PER-01, counted in statements instead of timed).
"""

from __future__ import annotations

import inspect
import os
import threading
import time
import warnings
from fractions import Fraction as F

import pytest

import dpcurator as dp
from dpcurator.errors import OverBudget, Refusal
from dpcurator.ledger import Ledger, Opening, SqliteStore
from dpcurator.mechanisms import DiscreteGaussian, DiscreteLaplace
from dpcurator.values import Request

COUNT = "SELECT COUNT(*) AS n FROM t"
LEDGERS = {"epsilon": {"epsilon": 1}, "rho": {"rho": 1, "delta": "1e-8"}}


@pytest.fixture(params=LEDGERS)
def currency(request):
    return request.param


@pytest.fixture
def opened(tmp_path, currency):
    """(columns with their values, declarations) -> a curator over one row a person, with a budget of 1."""

    def make(data, **declared) -> dp.Curator:
        rows = len(next(iter(data.values())))
        table = {"unit": "u", "max_rows": 1, "max_groups": 1, "columns": {"u": "text"} | declared}
        raw = {"curator": {"protects": "people"}, "ledger": LEDGERS[currency], "tables": {"t": table}}
        return dp.open(raw, directory=tmp_path, t={"u": [f"p{n}" for n in range(rows)]} | data)

    return make


def ones(opened) -> dp.Curator:
    return opened({"x": [1] * 5}, x={"type": "integer", "bounds": [0, 1]})


def test_bud_03_fifty_threads_and_eight_processes_get_ten_tenths(opened, currency):
    curator = ones(opened)
    admitted: list[int] = []
    start = threading.Event()

    def ask(n: int) -> bool:
        try:
            curator.ask(COUNT, **{currency: "0.1"}, request_id=f"r{n}", fresh=True)
        except OverBudget:
            return False
        return True

    def thread(n: int) -> None:
        start.wait()
        if ask(n):
            admitted.append(n)

    crowd = [threading.Thread(target=thread, args=(n,)) for n in range(50)]
    children = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer Pythons warn of forks among threads
        for n in range(8):
            child = os.fork()
            if child == 0:
                code = 9
                try:
                    code = 1 if ask(100 + n) else 0
                finally:
                    os._exit(code)
            children.append(child)
    for one in crowd:
        one.start()
    start.set()
    for one in crowd:
        one.join()
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    assert len(admitted) + sum(codes) == 10
    assert set(codes) <= {0, 1}
    assert curator.budget().spent == 1
    assert curator.ledger.verify().sound


def test_bud_03_killed_between_charge_and_answer(opened, currency):
    """The charge stands, nothing was shown, and the same question resumes it at no cost."""
    curator = ones(opened)

    class Dying:
        def evaluate(self, core):
            os._exit(7)

    curator.budget()
    child = os.fork()
    if child == 0:
        try:
            dp.Curator(curator.catalog, curator.ledger, curator.key, Dying).ask(COUNT, **{currency: "0.1"})
        finally:
            os._exit(8)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert (curator.budget().spent, [entry.event.NAME for entry in curator.log()]) == (F(1, 10), ["opened", "charged"])
    curator.ask(COUNT, **{currency: "0.1"})
    assert curator.budget().spent == F(1, 10)
    assert curator.ledger.verify().sound


def test_bud_05_after_exhaustion_there_is_an_error_and_never_a_number(opened, currency):
    curator = ones(opened)
    first = curator.ask(COUNT, spend="100%")
    for _ in range(2):
        with pytest.raises(OverBudget, match=f"requested {currency} 0.001, remaining 0"):
            curator.ask(COUNT, fresh=True, **{currency: "0.001"})
    again = curator.ask(COUNT, spend="100%")
    assert again.repeated
    assert again.rows == first.rows
    assert curator.budget().remaining == 0


def test_bud_07_no_seed_and_no_noise_in_common(opened, tmp_path, currency):
    columns = {"a": [20] * 5, "b": [20] * 5}
    curator = opened(columns, **{name: {"type": "integer", "bounds": [0, 100]} for name in columns})
    both = "SELECT SUM(a) AS a, SUM(b) AS b FROM t"
    for seeded in (lambda: curator.ask(both, spend="1%", seed=42), lambda: curator.quote(both, spend="1%", seed=42)):
        with pytest.raises(TypeError, match="seed"):
            seeded()
    assert not {"seed", "random_state", "rng"} & set(inspect.signature(dp.open).parameters)
    told = [tuple(curator.ask(both, spend="1%", fresh=True).rows[0]) for _ in range(15)]
    # With noise in common every difference is 0; each one is with a chance below 1/100: all of 15 then below 1e-30.
    assert len({a - b for a, b in told}) > 1
    assert len({a for a, _ in told}) > 1


@pytest.mark.slow
def test_per_01_eight_thousand_durable_charges(tmp_path, currency):
    amounts = {"epsilon": F(0), "rho": F(0), currency: F(1000)}
    opening = Opening("people", "add-remove", None, delta=F("1e-9"), public_key="ab" * 32, **amounts)
    ledger = Ledger.open(SqliteStore(tmp_path / "ledger.db"), opening)
    price = {"epsilon": F(0), "rho": F(0), currency: F(1, 10)}
    took, start = {}, time.perf_counter()
    for n in range(1, 8001):
        ledger.charge(Request("ada", str(n), "c" * 64, 1, "{}", delta=F(0), **price))
        assert ledger.budget().spent == F(n, 10)
        if n in (2000, 4000, 8000):
            took[n] = time.perf_counter() - start
    assert took[8000] / took[4000] <= 2.6
    assert took[8000] < 60  # with two looks at the budget and a sync of the disk for each
    ledger.close()


NAMED = [dp.Curator.quote, dp.Curator.ask, dp.Curator.menu, dp.Curator.answer]


@pytest.mark.parametrize("asked", NAMED, ids=lambda asked: asked.__name__)
def test_use_01_every_parameter_beyond_the_question_is_named(asked):
    _, _, *others = inspect.signature(asked).parameters.values()
    assert {other.kind for other in others} == {inspect.Parameter.KEYWORD_ONLY}


def test_use_01_a_price_out_of_place_is_a_type_error(opened):
    curator = ones(opened)
    for misplaced in (
        lambda: curator.quote(COUNT, 0.5),
        lambda: curator.ask(COUNT, 0.5, 0.1),
        lambda: DiscreteLaplace.spending(F(1), 0),
        lambda: DiscreteGaussian.spending(F(1), 0),
        lambda: OverBudget(F(1), F(2)),
    ):
        with pytest.raises(TypeError):
            misplaced()
    assert curator.budget().spent == 0


def test_use_05_counts_need_no_bounds(opened):
    curator = opened({"x": [1.5, 2.5, None], "s": ["a", "b", "c"]}, x="float", s="text")
    for counted in ("COUNT(*)", "COUNT(x)", "COUNT(s)", "COUNT(DISTINCT u)"):
        answer = curator.ask(f"SELECT {counted} AS n FROM t", spend="10%")
        assert isinstance(answer.rows[0][0], int)
    with pytest.raises(Refusal, match="no bounds"):
        curator.quote("SELECT SUM(x) AS s FROM t", spend="10%")


SHARES = {"tenths": ["0.1"] * 10, "elevenths": ["1/11"] * 11, "thirds of 0.9": ["0.1", "0.2", "0.7"]}


@pytest.mark.parametrize("shares", SHARES.values(), ids=SHARES)
def test_bud_01_even_shares_are_all_accepted_and_nothing_more(opened, currency, shares):
    curator = ones(opened)
    for n, share in enumerate(shares):
        curator.ask(COUNT, **{currency: F(share)}, request_id=f"r{n}", fresh=True)
    assert (curator.budget().spent, curator.budget().remaining) == (1, 0)
    with pytest.raises(OverBudget):
        curator.ask(COUNT, **{currency: "0.001"}, fresh=True)


def test_sel_11_listing_declared_keys_costs_nothing_even_with_nothing_left(opened, currency):
    curator = opened({"alpha": ["a", "a", "b"]}, alpha={"type": "text", "keys": ["a", "b", "z"]})
    listing = "SELECT alpha FROM t GROUP BY alpha"
    assert curator.ask(listing, spend="1%").rows == [("a",), ("b",), ("z",)]
    assert curator.budget().spent == 0
    curator.ask(COUNT, spend="100%")
    assert curator.ask(listing, spend="1%").rows == [("a",), ("b",), ("z",)]
    assert curator.budget().spent == 1
