"""Conformance: what every store must do. A new store is found through STORES and its fixture."""

from fractions import Fraction
from pathlib import Path

import pytest

import dpcurator.ledger.stores as stores
from dpcurator.ledger import STORES
from dpcurator.ledger.events import GENESIS, Answered, Closed, seal
from dpcurator.ledger.store import Kept


def test_the_tuple_is_the_folder():
    files = {path.stem for path in Path(stores.__file__).parent.glob("*.py")} - {"__init__"}
    assert sorted(kind.__module__.rpartition(".")[2] for kind in STORES) == sorted(files)


def row(position, name="closed", previous=GENESIS):
    event = Closed() if name == "closed" else Answered("r", "h")
    return seal(event, position=position, time="", previous=previous)


def chain(page, names):
    head = page.head()
    for name in names:
        head = row(head.position + 1 if head else 1, name, head.hash if head else GENESIS)
        page.append(head)


def test_an_absent_ledger_reads_as_empty_and_is_not_created(store, tmp_path):
    with store.reading() as page:
        assert page.head() is page.row(1) is page.last("closed") is page.charged("r") is page.answer("r") is None
        assert page.answered("q") is None
        assert (page.rows(0, 10), page.matching("r"), page.counts()) == ([], [], (0, 0))
    assert list(tmp_path.iterdir()) == []


def test_rows_come_back_as_they_were_written(store):
    with store.writing() as page:
        chain(page, ["closed", "answered", "closed", "answered", "answered"])
        mine = (page.head(), page.row(3))  # a transaction sees its own writes
    with store.reading() as page:
        assert (page.head(), page.row(3)) == mine
        assert page.head().position == 5
        assert all(found.sound() for found in page.rows(0, 10))
        assert [found.position for found in page.rows(1, 3)] == [2, 3, 4]
        assert page.rows(5, 3) == []
        assert page.row(0) is page.row(6) is None
        assert (page.last("closed").position, page.last("answered").position) == (3, 5)
        assert page.last("closed", "answered", "opened").position == 5
        assert page.last("opened") is None


def test_requests_and_answers_come_back_as_they_were_written(store):
    kept = [Kept(f"r{n}", "q", n, f"ab{n}", f"text {n}\x00\ud800") for n in (4, 2)]
    with store.writing() as page:
        for n in (1, 2, 4):
            page.enter(f"r{n}", n)
        for one in kept:
            page.keep(one)
    with store.reading() as page:
        assert [page.charged(f"r{n}") for n in (1, 2, 3, 4)] == [1, 2, None, 4]
        assert (page.answer("r4"), page.answer("r2"), page.answer("r1")) == (*kept, None)
        assert page.counts() == (3, 2)
        assert page.matching("r") == ["r1", "r2", "r4"]
        assert page.matching("ab4") == ["r4"]


def test_the_earliest_answer_of_a_question_is_found(store):
    with store.writing() as page:
        for n in (2, 4, 9):
            page.keep(Kept(f"r{n}", "q", n, "h", ""))
        page.keep(Kept("s", "another", 1, "h", ""))
    with store.reading() as page:
        assert page.answered("q").request == "r2"
        assert page.answered("none") is None


def test_a_transaction_that_raises_never_was(store):
    with store.writing() as page:
        chain(page, ["closed"])
        page.enter("r1", 1)

    def interrupted():
        with store.writing() as page:
            chain(page, ["answered", "closed"])
            page.enter("r2", 2)
            page.keep(Kept("r2", "q", 2, "h", "t"))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    with store.reading() as page:
        assert page.head().position == 1
        assert page.last("answered") is page.charged("r2") is page.answer("r2") is page.answered("q") is None
        assert page.last("closed").position == 1
        assert page.counts() == (1, 0)
    with store.writing() as page:
        chain(page, ["answered"])
    with store.reading() as page:
        assert page.head().position == 2


def test_a_closed_store_opens_again_when_used(store, ledger, ask):
    ledger.charge(ask())
    store.close()
    store.close()
    assert ledger.budget().spent == Fraction(1, 10)
