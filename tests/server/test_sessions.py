"""Sessions of browsers: how long they last, what ends them, and that the file signs nobody in."""

from __future__ import annotations

import stat
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jinja2", reason="the server's packages are not installed")

from dpcurator.errors import Misconfigured
from dpcurator.ledger.accounts import Account, hash_of, new_token
from dpcurator.server.page.sessions import IDLE, LONGEST, MOST, Sessions


def account(name: str = "ana", token: str | None = None) -> Account:
    zero = Fraction(0)
    return Account(name, "analyst", hash_of(token or new_token(name)), Fraction(1), zero, zero, zero, 1)


@dataclass
class Kept:
    """What a session asks of a ledger."""

    now: dict[str, Account]

    def account(self, name: str) -> Account | None:
        return self.now.get(name)


class Clock:
    time = 1_000_000.0

    def __call__(self) -> float:
        return self.time


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def sessions(tmp_path: Path, clock: Clock) -> Sessions:
    return Sessions(tmp_path / "sessions.sqlite", clock)


def test_a_session_is_of_its_account_until_it_is_ended(sessions: Sessions) -> None:
    ana = account()
    ledger: Any = Kept({"ana": ana})
    assert sessions.account("x" * 43, ledger) is None
    name = sessions.begin(ana)
    assert sessions.account(name, ledger) == ana
    assert Sessions(sessions.place, sessions.now).account(name, ledger) == ana  # another worker's
    assert sessions.account("x" * 43, ledger) is None
    sessions.end(name)
    assert sessions.account(name, ledger) is None


def test_the_account_is_as_it_is_now(sessions: Sessions) -> None:
    ana = account()
    name = sessions.begin(ana)
    other: Any = Kept({"ana": replace(ana, role="auditor", limit=Fraction(2))})
    found = sessions.account(name, other)
    assert found is not None
    assert (found.role, found.limit) == ("auditor", 2)


@pytest.mark.parametrize("token", ["", hash_of("ana.other")])
def test_a_token_that_was_revoked_or_replaced_ends_it(token: str, sessions: Sessions) -> None:
    ana = account()
    name = sessions.begin(ana)
    gone: Any = Kept({"ana": replace(ana, token=token)})
    assert sessions.account(name, gone) is None
    nobody: Any = Kept({})
    assert sessions.account(name, nobody) is None


def test_it_ends_when_it_is_not_used_and_at_the_longest(sessions: Sessions, clock: Clock) -> None:
    ana = account()
    ledger: Any = Kept({"ana": ana})
    name, began = sessions.begin(ana), clock.time
    clock.time += IDLE - 1
    assert sessions.account(name, ledger) == ana
    clock.time += IDLE - 1
    assert sessions.account(name, ledger) == ana
    while clock.time + IDLE - 1 < began + LONGEST:
        clock.time += IDLE - 1
        assert sessions.account(name, ledger) == ana
    clock.time = began + LONGEST
    assert sessions.account(name, ledger) is None
    name = sessions.begin(ana)
    clock.time += IDLE
    assert sessions.account(name, ledger) is None


def test_an_account_has_at_most_so_many(sessions: Sessions, clock: Clock) -> None:
    ana, bob = account(), account("bob")
    ledger: Any = Kept({"ana": ana, "bob": bob})
    his = sessions.begin(bob)
    names = []
    for _ in range(MOST + 1):
        clock.time += 1
        names.append(sessions.begin(ana))
    assert sessions.account(names[0], ledger) is None
    assert all(sessions.account(name, ledger) == ana for name in names[1:])
    assert sessions.account(his, ledger) == bob


def test_the_file_signs_nobody_in_and_is_nobody_elses_to_read(sessions: Sessions) -> None:
    token = new_token("ana")
    name = sessions.begin(account(token=token))
    content = sessions.place.read_bytes()
    assert len(name) == 43
    assert name.encode() not in content
    assert token.encode() not in content
    assert stat.S_IMODE(sessions.place.stat().st_mode) == 0o600


def test_a_file_that_cannot_be_kept_is_told(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="sessions cannot be kept"):
        Sessions(tmp_path / "none" / "sessions.sqlite").begin(account())
    broken = tmp_path / "broken"
    broken.write_bytes(b"no database at all" * 100)
    with pytest.raises(Misconfigured, match="sessions cannot be kept"):
        Sessions(broken).account("x" * 43, Kept({}))  # type: ignore[arg-type]
