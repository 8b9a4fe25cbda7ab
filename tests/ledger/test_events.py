"""Bodies and hashes, worked by hand; what is written is what is read."""

import json
from fractions import Fraction
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcurator.ledger.events import GENESIS, Answered, Charged, Closed, Granted, Opened, Rekeyed, Reopened, read, seal

amounts = st.fractions(min_value=0)
texts = st.text(st.characters(codec=None), max_size=20)
events = st.one_of(
    st.builds(
        Opened,
        *(texts, texts, texts, st.none() | st.integers(), texts, amounts, amounts, texts),
        rho=amounts,
        owners=st.lists(st.tuples(texts, texts), max_size=3).map(tuple),
    ),
    st.builds(Charged, texts, texts, texts, texts, st.integers(), texts, *[amounts] * 6),
    st.builds(Charged, texts, texts, texts, texts, st.integers(), texts, *[amounts] * 6, texts, texts, st.integers(),
              amounts, amounts),
    st.builds(Granted, texts, texts, texts, *[amounts] * 4, st.integers()),
    st.builds(Rekeyed, texts, texts, texts, texts, st.integers()),
    st.builds(Answered, texts, texts),
    st.just(Closed()),
    st.just(Reopened()),
)


def test_a_body_and_its_hash_by_hand():
    row = seal(Closed(), position=3, time="2026-01-02T03:04:05.000000Z", previous="11" * 32)
    assert row.body == '{"event":"closed","position":3,"reason":"fault","time":"2026-01-02T03:04:05.000000Z"}'
    assert row.hash == sha256(b"\x11" * 32 + row.body.encode()).hexdigest()
    assert row.sound()


def test_the_words_of_every_event_are_fixed():
    amount = Fraction(1, 10)
    spelled = {
        type(event): sorted(json.loads(seal(event, position=1, time="", previous=GENESIS).body))
        for event in (
            Opened("i", "p", "n", None, "c", amount, amount, "k"),
            Charged("r", "a", "p", "c", 1, "{}", amount, amount, amount, amount),
            Answered("r", "h"),
            Closed(),
            Reopened(),
            Granted("a", "analyst", "", amount, amount, amount, amount, 0),
            Rekeyed("o", "n", "s", "a", 0),
        )
    }
    always = ["event", "position", "time"]
    opened = ["currency", "delta", "epsilon", "format", "ledger", "neighbours", "owners", "protects", "public_key",
              "rho", "units"]
    paid = ["analyst", "catalog", "data_version", "delta", "epsilon", "parameters", "plan", "request", "rho"]
    assert spelled == {
        Opened: sorted(always + opened),
        Charged: sorted([*always, *paid, "spent_delta", "spent_epsilon", "spent_rho"]),
        Answered: sorted([*always, "request", "answer"]),
        Closed: sorted([*always, "reason"]),
        Reopened: always,
        Granted: sorted([*always, "analyst", "role", "token", "limit", "delta", "own_spent", "own_delta", "before"]),
        Rekeyed: sorted([*always, "old", "new", "signature", "accepted", "before"]),
    }


@given(events, st.integers(min_value=1))
def test_what_is_written_is_what_is_read(event, position):
    row = seal(event, position=position, time="t", previous=GENESIS)
    assert read(row.body) == (event, position, "t")
    assert row.sound()


@pytest.mark.parametrize(
    "body",
    [
        "",
        "[]",
        "7",
        "{}",
        '{"event":"other","position":1,"time":""}',
        '{"event":"closed","position":1,"time":"","extra":1}',
        '{"event":"answered","position":1,"time":"","request":"r"}',
        "[" * 100_000,
    ],
)
def test_anything_else_is_not_an_event(body):
    with pytest.raises(ValueError):
        read(body)
