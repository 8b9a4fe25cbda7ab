"""A ledger in another store: the same chain, answers and budget, and never two places that take charges."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpcurator.errors import Misconfigured, OverBudget
from dpcurator.ledger import Ledger, MemoryStore, SqliteStore, Stored
from dpcurator.ledger import moving as module
from dpcurator.ledger.moving import move


@pytest.fixture
def told(store, opening, ask):
    """On each store in turn: three questions charged, two answered, with readings noted."""
    ledger = Ledger.open(store, opening())
    for name in ("a", "b"):
        ledger.answer(ledger.charge(ask(name)), f"text of {name} \ud800", [f"reading {name}", "both"])
    ledger.charge(ask("c"))
    return ledger


@pytest.fixture
def new(tmp_path):
    made = SqliteStore(tmp_path / "new" / "ledger.db")
    (tmp_path / "new").mkdir()
    yield made
    made.close()


def everything(store):
    with store.reading() as page:
        rows = page.rows(0, 100)
        return rows, [page.answer(f) for f in page.matching("")], page.noted(), page.counts()


def test_all_of_it_is_there_and_the_old_one_is_sealed(told, store, new, opening, ask):
    before, head = everything(store), told.head()
    calls = []
    assert move(told, store, new, seen=lambda done, whole: calls.append((done, whole))) == head
    assert everything(new) == before
    assert calls[-1] == (head[0], head[0])
    there = Ledger.open(new, opening(), known_heads=[head])
    assert there.verify([head]).sound
    assert told.verify([head]).sound
    assert (there.life(), told.life()) == ("open", "moved")
    assert there.budget() == told.budget()
    assert isinstance(there.charge(ask("a")), Stored)
    resumed = there.charge(ask("c"))
    assert there.answer(resumed, "late") == "late"
    assert there.budget().spent == Fraction(3, 10)


def test_the_old_one_takes_no_charge_and_no_answer(told, store, new, ask):
    waiting = told.charge(ask("c"))
    move(told, store, new)
    spent = told.budget().spent
    for attempt in (
        lambda: told.charge(ask("d")), lambda: told.charge(ask("a")), lambda: told.answer(waiting, "late"),
        told.require_open,
    ):
        with pytest.raises(Misconfigured, match="moved to another store"):
            attempt()
    assert not told.reopen()
    told.close_after_fault()
    assert (told.life(), told.budget().spent) == ("moved", spent)


def test_once_more_to_the_same_place_is_once_and_to_another_is_refused(told, store, new, tmp_path):
    head = move(told, store, new)
    assert move(told, store, new) == head
    with pytest.raises(Misconfigured, match=r"was moved before, to .*new.*ledger\.db"):
        move(told, store, SqliteStore(tmp_path / "third.db"))


@pytest.mark.parametrize("where", ["before the copy", "within the copy"])
def test_a_move_that_is_cut_short_takes_no_charge_anywhere_and_goes_on(
    where, told, store, new, opening, ask, monkeypatch
):
    before = everything(store)
    with monkeypatch.context() as patch:
        if where == "before the copy":
            patch.setattr(module, "verified", lambda page: (_ for _ in ()).throw(KeyboardInterrupt))
        else:
            patch.setattr(module, "_file", lambda *all: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            move(told, store, new)
    assert told.life() == "moved"
    with pytest.raises(Misconfigured):
        told.charge(ask("d"))
    with new.reading() as page:
        assert page.head() is None
    move(told, store, new)
    assert everything(new) == before


def test_a_closed_curator_stays_closed(told, store, new, opening):
    told.close_after_fault()
    move(told, store, new)
    there = Ledger.open(new, opening())
    assert there.life() == "closed"
    assert there.reopen()


def test_a_ledger_without_a_question_moves_too(store, new, opening, ask):
    move(Ledger.open(store, opening()), store, new)
    there = Ledger.open(new, opening())
    there.charge(ask("a", 1))
    with pytest.raises(OverBudget):
        there.charge(ask("b"))


def test_neither_another_ledger_nor_a_copy_by_hand_is_written_over(told, store, new, opening, ask):
    Ledger.open(new, opening()).charge(ask("else"))
    with pytest.raises(Misconfigured, match="holds another ledger"):
        move(told, store, new)
    assert told.life() == "open"
    by_hand = MemoryStore()
    with store.reading() as source, by_hand.writing() as page:
        for row in source.rows(0, 100):
            page.append(row)
    with pytest.raises(Misconfigured, match="a copy of this ledger, and this one takes charges"):
        move(told, store, by_hand)
    with pytest.raises(Misconfigured, match="there already"):
        move(told, store, store)
    assert told.life() == "open"


def test_a_place_that_cannot_be_written_leaves_the_old_one_open(told, store, tmp_path, ask):
    with pytest.raises(Misconfigured, match="directory does not exist"):
        move(told, store, SqliteStore(tmp_path / "none" / "ledger.db"))
    assert told.life() == "open"
    told.charge(ask("d"))


def test_a_ledger_begun_at_the_new_place_meanwhile_is_not_taken_for_the_copy(told, store, new, opening, ask):
    seal, else_ = told.seal, ask("else")

    def begun(place):
        Ledger.open(new, opening()).charge(else_)
        seal(place)

    told.seal = begun
    with pytest.raises(Misconfigured, match="holds another ledger"):
        move(told, store, new)


def test_an_older_copy_at_the_new_place_is_not_taken_for_the_copy(told, store, new, ask):
    with store.reading() as source, new.writing() as page:
        for row in source.rows(0, 2):
            page.append(row)
    told.charge(ask("later"))
    told.seal(new.place)
    with pytest.raises(Misconfigured, match="an older copy"):
        move(told, store, new)


def test_a_refused_move_makes_nothing_at_the_new_place(told, store, new, tmp_path):
    move(told, store, new)
    third = SqliteStore(tmp_path / "third.db")
    with pytest.raises(Misconfigured, match="was moved before"):
        move(told, store, third)
    assert not third.exists()


def test_the_copy_is_made_once_whatever_the_places_name_means_later(told, store, new, tmp_path, opening, ask):
    move(told, store, new)
    Ledger.open(new, opening()).charge(ask("there"))
    new.close()
    (tmp_path / "new").rename(tmp_path / "elsewhere")  # another disk is mounted under the name
    (tmp_path / "new").mkdir()
    other = SqliteStore(tmp_path / "new" / "ledger.db")
    with pytest.raises(Misconfigured, match="is not at the new place any more"):
        move(told, store, other)
    with other.reading() as page:
        assert page.head() is None
    there = SqliteStore(tmp_path / "elsewhere" / "ledger.db")
    back = MemoryStore()
    move(Ledger.open(there, opening()), there, back)
    assert "moved" not in [reading for reading, _ in everything(back)[2]]
