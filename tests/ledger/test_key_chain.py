"""Keys that follow one another: only by both their signatures, at one place of one ledger, on every store."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from dpcurator.errors import Misconfigured
from dpcurator.ledger import Ledger, MemoryStore, key_in_force
from dpcurator.ledger.events import GENESIS, Opened, Rekeyed, read, seal
from dpcurator.ledger.key_chain import Link, chain_of, given_up, linked
from dpcurator.ledger.keys import SigningKey
from dpcurator.ledger.moving import move
from dpcurator.standalone import verify as alone

A, B, C, THIEF = (SigningKey(Ed25519PrivateKey.from_private_bytes(bytes([n]) * 32)) for n in range(1, 5))


@pytest.fixture
def ledger(store, opening, ask):
    made = Ledger.open(store, opening(public_key=A.public))
    made.answer(made.charge(ask(1)), "text")
    return made


def test_a_new_key_is_in_force_from_its_event_on_and_the_old_one_is_refused(ledger, store, opening, ask):
    old = Ledger.open(store, opening(public_key=A.public))
    waiting = old.charge(ask(2))
    link = ledger.rotate(A, B)
    assert (link.old, link.new, link.position) == (A.public, B.public, 5)
    assert ledger.head() == (5, [entry.hash for entry in ledger.events()][-1])
    assert [link.as_json()] == [one.as_json() for one in ledger.key_chain()]
    assert key_in_force(store) == B.public
    for attempt in (lambda: old.charge(ask(3)), lambda: old.charge(ask(1)), lambda: old.answer(waiting, "late"),
                    old.budget, lambda: old.rotate(A, C), lambda: Ledger.open(store, opening(public_key=A.public))):
        with pytest.raises(Misconfigured, match="since it was rotated"):
            attempt()
    again = Ledger.open(store, opening(public_key=B.public))
    assert again.answer(again.charge(ask(2)), "late") == "late"  # resumed, for nothing
    assert again.rotate(B, C).position == 7
    assert [one.new for one in again.key_chain()] == [B.public, C.public]
    assert again.verify().sound
    assert again.budget().spent == ledger_spent(again)


def ledger_spent(ledger):
    return sum((entry.event.epsilon for entry in ledger.events() if entry.event.NAME == "charged"), 0)


def test_no_key_comes_twice_and_only_the_one_in_force_is_given_up(ledger, opening, store):
    ledger.rotate(A, B)
    before = ledger.head()
    for old, new in ((A, C), (C, THIEF)):
        with pytest.raises(Misconfigured, match="not the key"):
            ledger.rotate(old, new)
    for new in (A, B):
        with pytest.raises(Misconfigured, match="in force before"):
            ledger.rotate(B, new)
    assert ledger.head() == before


def test_a_ledger_without_an_event_and_one_that_is_closed_are_rotated_and_one_that_was_moved_is_not(
    store, opening, tmp_path
):
    ledger = Ledger.open(store, opening(public_key=A.public))
    assert ledger.key_chain() == ()
    assert ledger.rotate(A, B).position == 2
    ledger.close_after_fault()
    ledger.rotate(B, C)
    assert ledger.life() == "closed"
    assert ledger.verify().sound
    new = MemoryStore()
    move(ledger, store, new)
    with pytest.raises(Misconfigured, match="moved"):
        ledger.rotate(C, THIEF)
    there = Ledger.open(new, opening(public_key=C.public))
    assert [one.as_json() for one in there.key_chain()] == [one.as_json() for one in ledger.key_chain()]
    assert there.verify().sound


def test_of_two_rotations_at_once_one_is_made(ledger, store, opening):
    from concurrent.futures import ThreadPoolExecutor

    def one(new):
        try:
            return Ledger.open(store, opening(public_key=A.public)).rotate(A, new)
        except Misconfigured:
            return None

    with ThreadPoolExecutor(3) as pool:
        found = [link for link in pool.map(one, (B, C, THIEF)) if link is not None]
    assert len(found) == 1
    now = Ledger.open(store, opening(public_key=found[0].new))
    assert now.key_chain() == tuple(found)
    assert now.verify().sound


class Edited(MemoryStore):
    """A ledger rewritten by somebody who can seal events, and has the first key or none of them."""

    def rewrite(self, change):
        page, head = self._page, GENESIS
        for at, row in enumerate(page.all):
            event, position, time = read(row.body)
            page.all[at] = seal(change(event), position=position, time=time, previous=head)
            head = page.all[at].hash


@pytest.mark.parametrize(("change", "words"), [
    ({"new": THIEF.public}, "not signed by both"), ({"signature": "ab" * 64}, "not signed by both"),
    ({"accepted": "ab" * 64}, "not signed by both"), ({"old": THIEF.public}, "does not follow"),
    ({"new": A.public}, "does not follow"), ({"before": 2}, "point to the last event of a key"),
    ({"new": "zz"}, "not signed"), ({"new": 5}, "not signed|cannot be read"),
])
def test_verify_tells_what_was_rewritten(change, words, opening, ask):
    store = Edited()
    ledger = Ledger.open(store, opening(public_key=A.public))
    ledger.charge(ask(1))
    ledger.rotate(A, B)
    assert ledger.verify().sound
    store.rewrite(lambda event: replace(event, **change) if isinstance(event, Rekeyed) else event)
    now = {"public_key": change.get("new", B.public)}
    problem = str(Ledger(store, opening(**now)).verify().problem)
    assert any(one in problem for one in words.split("|")), problem


def test_a_link_of_another_place_or_another_ledger_is_none_here(opening, ask):
    """Replayed: what both keys signed for one history does not hold in another with the same keys."""
    first, second = Edited(), Edited()
    one = Ledger.open(first, opening(public_key=A.public))
    other = Ledger.open(second, opening(public_key=A.public))
    for ledger in (one, other):
        ledger.charge(ask(1))
        ledger.rotate(A, B)
    taken = [read(row.body)[0] for row in first._page.all][-1]
    second.rewrite(lambda event: taken if isinstance(event, Rekeyed) else event)
    assert "not signed by both" in str(Ledger(second, opening(public_key=B.public)).verify().problem)
    ids = [read(row.body)[0] for row in first._page.all]
    first.rewrite(lambda event: replace(event, ledger="ab" * 16) if isinstance(event, Opened) else event)
    assert isinstance(ids[0], Opened)
    assert "not signed by both" in str(Ledger(first, opening(public_key=B.public)).verify().problem)


LINKS = (linked("id", 5, "ab" * 32, A, B), linked("id", 9, "cd" * 32, B, C))
TOLD = [one.as_json() for one in LINKS]


def changed(at, **change):
    return [told | change if n == at else told for n, told in enumerate(TOLD)]


@pytest.mark.parametrize("content", [
    changed(0, position=6), changed(0, ledger="other"), changed(0, previous="ef" * 32), changed(0, new=C.public),
    changed(0, old=THIEF.public), changed(1, signature=TOLD[0]["signature"]), changed(1, accepted="00" * 64),
    TOLD[::-1], [TOLD[0], TOLD[0]], [*TOLD, linked("id", 12, "ab" * 32, C, A).as_json()], [TOLD[0] | {"more": 1}],
    [linked("id", 5, "ab" * 32, A, B).as_json(), linked("id", 5, "cd" * 32, B, C).as_json()],
    [linked("id", 5, "ab" * 32, A, B).as_json(), linked("io", 9, "cd" * 32, B, C).as_json()],
    [TOLD[0], linked("id", 9, "cd" * 32, A, C).as_json()], changed(0, position=True), changed(0, old=A.public.upper()),
    changed(0, format="dpcurator receipt 2"), [linked("id", 5, "ab" * 32, A, A).as_json()], [7], ["x"], [None],
    changed(0, position="5"), changed(0, old=None), [{}],
], ids=lambda content: json.dumps(content)[:40])
def test_what_is_no_chain_is_none_for_either_verifier(content):
    with pytest.raises(ValueError):
        chain_of(content)
    with pytest.raises((alone.No, LookupError, TypeError, ValueError, AttributeError)):
        alone.given_up(content)


def test_what_is_a_chain_is_one_for_both_verifiers():
    assert chain_of({"public_key": C.public, "chain": TOLD}) == chain_of(TOLD) == LINKS
    assert given_up(LINKS) == {A.public: 5, B.public: 9, C.public: None}
    assert {key: None if end == alone.math.inf else end for key, end in alone.given_up(TOLD).items()} == given_up(LINKS)
    assert given_up(()) == {}
    assert alone.given_up(()) == {}
    assert isinstance(LINKS[0], Link)
    for content in (5, "x", None, {"chain": 7}, {}, [TOLD[0]] * 1001):
        with pytest.raises(ValueError):
            chain_of(content)


def test_a_link_is_no_receipt_and_no_reply():
    """What a key signs says first what it is: no signature of one kind holds for another."""
    kinds = {TOLD[0]["format"], "dpcurator reply 1", alone.FORMAT, alone.SHARING, alone.SHARED, alone.PUBLIC}
    assert len(kinds) == 6
