"""A signing key that is given up for another: receipts of both hold, and wherever it is cut short, one is in force."""

from __future__ import annotations

import json
import os
import shutil
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from shell import CLINIC, run

import dpcurator as dp
import dpcurator.curator.opening as opening
from dpcurator.catalog.load import load
from dpcurator.curator.opening import key_of, open_curator, refresh_all, rotate_key
from dpcurator.ledger.key_chain import linked
from dpcurator.ledger.keys import SigningKey, canonical
from dpcurator.receipts.verification import verify
from dpcurator.standalone.verify import file_steps

COUNT = "SELECT city, COUNT(*) AS n FROM visits GROUP BY city"
THIEF = SigningKey(Ed25519PrivateKey.from_private_bytes(b"t" * 32))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: Any) -> Path:
    (tmp_path / "visits.csv").write_text("patient_id,city,age\n" + "".join(
        f"p{n % 40},{('Leeds', 'York', 'Hull')[n % 3]},{n % 90}\n" for n in range(120)
    ))
    (tmp_path / "curator.toml").write_text(CLINIC)
    monkeypatch.chdir(tmp_path)
    refresh_all(load(tmp_path / "curator.toml"))
    return tmp_path / "curator.toml"


def both(receipt: Any, key: str | None, keys: Any = ()) -> bool:
    """What both verifiers say of a receipt, without its ledger: they must say the same."""
    alone = all(holds for _, holds, _ in file_steps(json.dumps(receipt).encode(), key, keys=keys))
    assert verify(receipt, public_key=key, keys=keys).holds == alone
    return alone


def signed(receipt: Any, key: SigningKey, **change: Any) -> Any:
    body = {name: value for name, value in (receipt | change).items() if name != "signature"}
    body["public_key"] = key.public
    return body | {"signature": key.sign(canonical(body))}


def test_receipts_of_before_and_after_hold_by_either_key_and_by_the_ledger(place: Path) -> None:
    declaration = load(place)
    old = open_curator(place)
    before = old.ask(COUNT, epsilon="0.1").receipt
    assert before is not None
    first = old.key
    link = rotate_key(declaration)
    new = open_curator(place)
    assert new.key.public == link.new == key_of(declaration).public != first.public
    with pytest.raises(dp.Misconfigured, match="since it was rotated"):
        old.ask(COUNT, epsilon="0.1")
    again = new.ask(COUNT, epsilon="0.1")
    assert (again.repeated, again.receipt) == (True, before)
    after = new.ask(COUNT, epsilon="0.2").receipt
    assert after is not None
    keys = [one.as_json() for one in new.ledger.key_chain()]
    for receipt in (before, after):
        assert new.verify(receipt).holds
        own = str(receipt["public_key"])
        assert both(receipt, own)
        for key in (first.public, link.new, None):
            assert both(receipt, key, keys), key
        assert not both(receipt, first.public if own == link.new else link.new)  # without the chain
        assert not both(receipt, THIEF.public, keys)
    # Of a later place the old key signs no more; one that says an early place is found by the ledger alone.
    late = signed(after, first)
    assert not both(late, first.public, keys)
    assert not both(late, link.new, keys)
    early = signed(before, first, answer_sha256="ab" * 32)
    assert both(early, link.new, keys)
    assert not new.verify(early).holds
    third = rotate_key(declaration)
    keys = [one.as_json() for one in open_curator(place).ledger.key_chain()]
    assert all(both(receipt, key, keys) for receipt in (before, after) for key in (first.public, link.new, third.new))
    assert open_curator(place).ledger.verify().sound


def test_no_chain_but_one_that_both_keys_signed_leads_to_another_key(place: Path) -> None:
    curator = open_curator(place)
    receipt = curator.ask(COUNT, epsilon="0.1").receipt
    assert receipt is not None
    forged, own = signed(receipt, THIEF), curator.key.public
    other = SigningKey(Ed25519PrivateKey.from_private_bytes(b"o" * 32))
    for one in (linked("id", 9, "ab" * 32, THIEF, other), linked("id", 9, "ab" * 32, other, THIEF)):
        claimed = one.as_json()
        for chain in ([claimed], [claimed | {"old": own}], [claimed | {"new": own}]):
            assert not both(forged, own, chain)
    assert not both(receipt, own, [linked("id", 9, "ab" * 32, THIEF, other).as_json()])  # it is none of the ledger's
    for nonsense in (5, "x", {}, [7], {"chain": 5}, [[]]):
        assert not both(receipt, own, nonsense)


class Killed(BaseException):
    """As when the machine stops."""


@pytest.mark.parametrize("step", ["create_next", "rotate", "rotated", "succeed"])
def test_cut_short_anywhere_the_key_in_force_is_here_and_the_same_again_goes_on(
    step: str, place: Path, monkeypatch: Any
) -> None:
    """Before or after each of its steps: the new key's file, the ledger's event, the file in its place."""
    declaration = load(place)
    before = open_curator(place).ask(COUNT, epsilon="0.1").receipt
    first = key_of(declaration).public
    rotate = opening.Ledger.rotate

    def dies(*_: Any) -> Any:
        raise Killed

    def rotates(*given: Any) -> Any:
        rotate(*given)
        raise Killed

    with monkeypatch.context() as patch:
        if step in ("create_next", "succeed"):
            patch.setattr(opening.signing, step, dies)
        else:
            patch.setattr(opening.Ledger, "rotate", dies if step == "rotate" else rotates)
        with pytest.raises(Killed):
            rotate_key(declaration)
    curator = open_curator(place)
    chain = curator.ledger.key_chain()
    assert len(chain) == (step in ("rotated", "succeed"))
    assert curator.key.public == (chain[-1].new if chain else first)
    assert curator.ask(COUNT, epsilon="0.05").rows
    assert rotate_key(declaration).old == curator.key.public
    now = open_curator(place)
    assert now.verify(before).holds
    assert now.ledger.verify().sound
    assert sorted(one.name for one in declaration.state.glob("signing.key*")) == ["signing.key"]
    assert os.stat(declaration.state / "signing.key").st_mode & 0o777 == 0o600


def test_of_two_at_once_each_is_whole(place: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    declaration = load(place)
    with ThreadPoolExecutor(4) as pool:
        links = [*pool.map(lambda _: rotate_key(declaration), range(4))]
    chain = open_curator(place).ledger.key_chain()
    assert sorted(one.new for one in links) == sorted(one.new for one in chain)
    assert key_of(declaration).public == chain[-1].new
    assert len(list(declaration.state.glob("signing.key*"))) == 1


def test_where_it_cannot_be_entered_nothing_is_left(place: Path, monkeypatch: Any) -> None:
    declaration, first = load(place), key_of(load(place)).public

    def full(*_: Any) -> Any:
        raise dp.Misconfigured("The disk is full.")

    with monkeypatch.context() as patch:
        patch.setattr(opening.Ledger, "rotate", full)
        with pytest.raises(dp.Misconfigured, match="full"):
            rotate_key(declaration)
    assert [one.name for one in declaration.state.glob("signing.key*")] == ["signing.key"]
    assert key_of(declaration).public == first


def test_a_commit_that_lands_after_its_connection_was_lost_finds_its_key(place: Path, monkeypatch: Any) -> None:
    """A server may still be at it when the loss is noticed here: the next key's file stays until that is settled."""
    declaration, rotate, begun, threads = load(place), opening.Ledger.rotate, threading.Event(), list[Any]()

    def lost(ledger: Any, old: Any, new: Any) -> Any:
        def lands() -> None:
            other = opening.ledger_of(declaration, old)
            append = other._append

            def slowly(*given: Any) -> Any:
                begun.set()
                time.sleep(0.1)  # had nobody waited for it, the key would be gone by now
                return append(*given)

            other._append = slowly
            rotate(other, old, new)

        threads.append(threading.Thread(target=lands))
        threads[0].start()
        assert begun.wait(60)
        raise dp.Misconfigured("The connection was lost.")

    with monkeypatch.context() as patch:
        patch.setattr(opening.Ledger, "rotate", lost)
        with pytest.raises(dp.Misconfigured, match="was lost"):
            rotate_key(declaration)
    threads[0].join()
    [link] = open_curator(place).ledger.key_chain()
    assert key_of(declaration).public == link.new


def test_the_next_rotation_keeps_the_key_of_one_before_that_lands_meanwhile(place: Path, monkeypatch: Any) -> None:
    declaration, rotate = load(place), opening.Ledger.rotate
    waiting, _ = opening.signing.create_next(declaration.state / opening.KEY)  # of a rotation whose end nobody knows

    def comes_first(ledger: Any, old: Any, new: Any) -> Any:
        rotate(opening.ledger_of(declaration, old), old, waiting)
        return rotate(ledger, old, new)

    with monkeypatch.context() as patch:
        patch.setattr(opening.Ledger, "rotate", comes_first)
        with pytest.raises(dp.Misconfigured):
            rotate_key(declaration)
    assert key_of(declaration).public == waiting.public
    assert rotate_key(declaration).old == waiting.public
    assert [one.name for one in declaration.state.glob("signing.key*")] == ["signing.key"]


def test_in_the_shell(place: Path, capsys: Any) -> None:
    first = run(capsys, "key").out.strip()
    shutil.copy(place.parent / ".dpcurator" / opening.KEY, "before.key")
    assert run(capsys, "key", "--json").json == {"public_key": first, "chain": []}
    receipt = run(capsys, "ask", COUNT, "--epsilon", "0.1", "--json").json["receipt"]
    Path("old.json").write_text(json.dumps(receipt))
    told = run(capsys, "key", "rotate").out.splitlines()
    assert told[1] == f"follows {first} from event 4 on."
    assert run(capsys, "key").out.strip() == told[0]
    third = run(capsys, "key", "rotate", "--json").json["public_key"]
    whole = run(capsys, "key", "--json")
    assert [one["new"] for one in whole.json["chain"]] == [told[0], third]
    assert f"the key is {third}" in run(capsys, "log").out
    assert run(capsys, "verify").code == 0
    assert run(capsys, "verify", "old.json", "--key", third).code == 0
    assert run(capsys, "verify", "old.json", "--key", third, "--alone").code == 1
    Path("keys.json").write_text(whole.out)
    found = run(capsys, "verify", "old.json", "--key", third, "--alone", "--keys", "keys.json")
    assert (found.code, "a key that was given up for the one you gave" in found.out) == (0, True)
    Path("keys.json").write_text("nonsense")
    assert run(capsys, "verify", "old.json", "--keys", "keys.json", "--alone").code == 4
    none = run(capsys, "verify", "old.json", "--keys", "none.json", "--alone")
    assert (none.code, "dpcurator key --json > keys.json" in none.err) == (4, True)
    assert run(capsys, "key", "--catalog", "none.toml").code == 4
    assert run(capsys, "key", "rotate", "--catalog", "none.toml").code == 4
    before = run(capsys, "key").out
    for option in (["--catalog", "none.toml"], ["--json"]):  # of the key that is here it would be
        refused = run(capsys, "key", *option, "rotate")
        assert (refused.code, "come after" in (refused.err + refused.out)) == (2, True)
    assert run(capsys, "key").out == before
    shutil.copy("before.key", place.parent / ".dpcurator" / opening.KEY)
    back = run(capsys, "key")  # a key that was given up is not printed as the one to publish
    assert (back.code, first in back.out, "since it was rotated" in back.err) == (4, False, True)
