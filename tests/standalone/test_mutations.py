"""More than fifty receipts of every kind, and every change of every part of each: numbers, texts, fields, lists.

Unsigned, a change is caught by the signature; signed with another key, by the key. Signed again with the true key, by a
curator that lies, it is caught by working it out again, unless it is in `FREE`: what is consistent in itself and rests
on nothing a receipt holds. Beside each is what tells of it, if anything outside does. Of a batch, what is said of its
other questions is caught by their receipts.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from alone import wrong
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from dpcurator.errors import Refusal
from dpcurator.ledger.keys import SigningKey, canonical
from dpcurator.plan.canonical import as_json, plan_of
from dpcurator.plan.canonical import digest as digest_of
from dpcurator.receipts.verification import verify
from dpcurator.standalone import verify as alone
from dpcurator.values import Json
from receipts import CATALOGS, KEY, at, changed, curator, json_of, leaves, others, signed

OTHER_KEY = SigningKey(Ed25519PrivateKey.from_private_bytes(bytes(32)))
QUESTIONS = (
    "SELECT city, COUNT(*) AS n, AVG(age) FROM visits WHERE age >= 18 AND NOT smoker GROUP BY city ORDER BY n LIMIT 3",
    "SELECT SUM(cost), COUNT(DISTINCT patient), SUM(cost) / COUNT(*) FROM visits",
    "SELECT g, SUM(x), COUNT(x) FROM rows WHERE x IN (1, 2, 3) GROUP BY g HAVING COUNT(*) > 2",
    "SELECT COUNT(*) FROM visits WHERE note LIKE 'a!_%' ESCAPE '!' OR day >= '2022-01-08'",
    "SELECT SUM(x) FROM rows",
    "SELECT AVG(CASE WHEN smoker THEN age ELSE LENGTH(city) END) FROM visits",
    "SELECT LEFT(city, 1), SUM(CLIP(gain * 2 - 0.5, -1, 1)) FROM visits GROUP BY LEFT(city, 1)",
    "SELECT city, COUNT(note) FROM visits GROUP BY WITH_OTHER(city)",
    "SELECT city, COUNT(DISTINCT patient) AS people, AVG(age) FROM visits GROUP BY city",
)
BATCH = (*QUESTIONS[:4], "SELECT AVG(cost) FROM visits")
FREE = {  # signed again and consistent in itself; beside each, what outside the receipt tells of it
    "request": "ledger", "analyst": "ledger", "time": "ledger", "data_version": "ledger", "catalog_sha256": "ledger",
    "protects": "catalog", "answer_sha256": "the answer", "ledger": "ledger, catalog", "software": None,
}


@cache
def made() -> dict[str, Json]:
    """Receipts by name; of a batch, two of them."""
    chosen = (" 0", " 4")
    return {name: one for name, one in everything().items() if "batch" not in name or name[-2:] in chosen}


@cache
def everything() -> dict[str, Json]:
    found: dict[str, Json] = {}
    for name, catalog in CATALOGS.items():
        asked = curator(catalog)
        for number, question in enumerate(QUESTIONS):
            try:
                found[f"{name}, {number}"] = json_of(asked.ask(question, spend="2%").receipt)
            except Refusal:  # WITH_OTHER where keys are listed
                assert number >= 6, question
        again = asked.ask(QUESTIONS[0], spend="2%")  # a repeat is free, and has the receipt of what was paid
        assert json_of(again.receipt) == found[f"{name}, 0"]
        sharing = ("SELECT COUNT(DISTINCT patient) FROM visits", "SELECT SUM(cost) / COUNT(*), AVG(cost) FROM visits")
        for number, question in enumerate(sharing):  # all, or some, of what they rest on was paid above
            found[f"{name}, shared {number}"] = json_of(asked.ask(question, spend="0.6%").receipt)
        for member, answer in enumerate(asked.batch(BATCH, spend="10%", fresh=True)):
            found[f"{name}, batch {member}"] = json_of(answer.receipt)
    asked = curator(CATALOGS["approximate"])
    many = [f"SELECT COUNT(*) FROM visits WHERE age > {n}" for n in range(5)]
    for member, answer in enumerate(asked.batch(many, spend="50%", as_one=True)):
        found[f"one batch {member}"] = json_of(answer.receipt)
    return found


def structures(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every other object or list in the place of one: a field left out, added or named otherwise; items in another
    order, left out, twice."""
    if isinstance(value, dict):
        for name in value:
            yield path, {key: inner for key, inner in value.items() if key != name}
            yield path, {f"{key}_" if key == name else key: inner for key, inner in value.items()}
        yield path, value | {"more": 1}
    elif isinstance(value, list) and value:
        yield path, value[:-1]
        yield path, [*value, value[-1]]
        if value[::-1] != value:
            yield path, value[::-1]
    for name, inner in (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    ):
        yield from structures(inner, (*path, name))


def changes(receipt: Json) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every place of a receipt with another value for it."""
    for path in leaves(receipt):
        yield from ((path, new) for new in others(at(receipt, path)))
    yield from structures(receipt)


def with_change(receipt: Json, path: tuple[Any, ...], new: Any) -> Json:
    return changed(receipt, path, new) if path else new


def of_another(receipt: Json, path: tuple[Any, ...]) -> bool:
    """Whether it says something of another question of the batch, or of what all of them cost as one; or of a reading
    that another question paid."""
    if "shared" in receipt and path[:1] in (("readings",), ("selection",), ("shared",), ("plan",)):
        return True
    batch = receipt.get("batch")
    if path[:1] != ("batch",) or batch is None:
        return False
    return len(path) <= 2 or path[1] in ("point", "losses") or path[2] != batch["index"]


PARTS = 10  # of all changes, in a long run


def sample(share: float, seed: str, part: int | None) -> Iterator[tuple[str, Json, tuple[Any, ...], Json]]:
    """Such a share of all changes; or every PARTS-th of them, from number `part`."""
    luck = random.Random(seed)
    every = ((name, receipt, *change) for name, receipt in made().items() for change in changes(receipt))
    for number, (name, receipt, path, new) in enumerate(every):
        if luck.random() < share and (part is None or number % PARTS == part):
            yield name, receipt, path, with_change(receipt, path, new)


def caught_by_the_signature(share: float, part: int | None = None) -> int:
    count = 0
    for name, _, path, lie in sample(share, "unsigned", part):
        assert wrong(lie, key=KEY.public) & {"form", "signature"}, (name, path)
        count += 1
    return count


def caught_by_the_key(share: float, part: int | None = None) -> int:
    count = 0
    for name, _, path, lie in sample(share, "another key", part):
        body = {field: value for field, value in lie.items() if field != "signature"} | {"public_key": OTHER_KEY.public}
        forged = body | {"signature": OTHER_KEY.sign(canonical(body))}
        assert wrong(forged, key=KEY.public) & {"form", "signature"}, (name, path)
        count += 1
    return count


def caught_by_working_it_out(share: float, part: int | None = None) -> int:
    count = 0
    for name, receipt, path, lie in sample(share, "signed again", part):
        if not path or (path[0] in FREE and len(lie) == len(receipt)) or path[0] == "signature":
            continue
        if path[0] in ("parameters_sha256", "price", "confidence") and "shared" in receipt:  # `verify` does
            continue
        found = wrong(signed(lie), key=KEY.public)
        if of_another(receipt, path):
            whole = name.rpartition(" ")[0] if "shared" not in receipt else name.partition(",")[0]
            members = [one for other, one in everything().items() if other.startswith(whole) and other != name]
            found |= wrong(signed(lie), key=KEY.public, others=members)
        # Without the digest of its parameters, more noise, or a loss that is said to be larger, is not told.
        larger = "shared" in receipt and (path[0], path[-1]) in LARGER
        assert found or larger, (name, path)
        count += 1
    return count


def test_there_are_fifty_of_every_kind_and_all_hold():
    receipts = made()
    assert len(receipts) >= 50
    kinds = {(one["price"]["currency"], one["neighbours"], one["selection"] is not None, one.get("batch") is not None)
             for one in receipts.values()}
    assert len(kinds) >= 11
    assert {claim["mechanism"] for one in receipts.values() for claim in one["readings"]} >= {
        "discrete_laplace", "discrete_gaussian", "gaussian_threshold"}
    assert any("point" in (one.get("batch") or {}) for one in receipts.values())
    for name, receipt in receipts.items():
        assert wrong(receipt, key=KEY.public) == set(), name
        assert verify(receipt, public_key=KEY.public).holds, name


def test_changes_are_caught_by_the_signature():
    assert caught_by_the_signature(0.001) > 50


def test_changes_signed_with_another_key_are_caught_by_the_key():
    assert caught_by_the_key(0.001) > 50


def test_changes_signed_again_are_caught_by_working_it_out():
    assert caught_by_working_it_out(0.0005) > 25


@pytest.mark.slow
@pytest.mark.parametrize("caught", [caught_by_the_signature, caught_by_the_key, caught_by_working_it_out])
@pytest.mark.parametrize("part", range(PARTS))
def test_all_changes_are_caught(caught, part):
    assert caught(1.0, part) > 60_000 / PARTS


def test_a_plan_changed_with_its_digest_is_caught_where_the_product_catches_it_by_working_it_out():
    """Another plan is another sound question, unless it moves otherwise than the receipt says. No false alarm."""
    luck, caught = random.Random("plans"), 0
    for name, receipt in made().items():
        for path, new in changes(receipt["plan"]):
            if luck.random() > 0.006:
                continue
            plan = with_change(receipt["plan"], path, new)
            lie = copy.deepcopy(receipt) | {"plan": plan}
            try:
                lie["plan_sha256"] = digest_of(plan_of(plan))
                assert as_json(plan_of(plan)) == plan
            except Refusal:  # no plan at all
                lie["plan_sha256"] = alone.digest(plan)
            if lie.get("batch") is not None:
                lie["batch"]["plans"][lie["batch"]["index"]] = lie["plan_sha256"]
            ours, theirs = wrong(signed(lie), key=KEY.public), verify(signed(lie), public_key=KEY.public)
            if {step.name for step in theirs.steps if not step.holds} & {"sensitivity", "noise", "cost"}:
                assert ours, (name, path)
                caught += 1
            if ours:
                assert not theirs.holds, (name, path, ours)
    assert caught


LARGER = {  # more noise than the price asks for, or a larger offer than was used: `dpcurator verify` knows the choice;
    # or a column said to be never missing, where that hides no less
    ("readings", "filled"),
    ("readings", "scale"), ("readings", "variance"), ("price", "amount"), ("price", "delta"), ("price", "goals"),
    ("readings", "epsilon"), ("readings", "rho"), ("selection", "parameters"), ("selection", "epsilon"),
    ("selection", "rho"), ("selection", "delta"),
}


def made_to_agree(lie: Json) -> Json | None:
    """Every digest and every copy in the receipt made to agree with a change, and signed; None where none can be."""
    made = copy.deepcopy(lie)
    try:
        named = {name: made[name] for name in ("price", "epsilon", "rho", "delta", "confidence", "selection")}
        mechanisms = [{name: part for name, part in one.items() if name != "derivation"} for one in made["readings"]]
        made["plan_sha256"] = alone.digest(made["plan"])
        made["parameters_sha256"] = alone.digest(named | {"mechanisms": mechanisms})
        if made["batch"] is not None:
            made["batch"]["plans"][made["batch"]["index"]] = made["plan_sha256"]
            made["batch"]["costs"][made["batch"]["index"]] = [made[name] for name in ("epsilon", "rho", "delta")]
        return signed(made)
    except (LookupError, TypeError, ValueError, AttributeError):
        return None


def caught_though_all_agrees(share: float, part: int | None = None) -> int:
    """What a quote says of reach, noise and price: by the first verifier always (but for an offered delta that nothing
    uses, and a goal by which no share of the price moves), by the second where less is hidden than is said."""
    count = 0
    for name, receipt, path, lie in sample(share, "all agrees", part):
        if path[:1] not in [(part,) for part in ("reach", "readings", "selection", "price", "epsilon", "rho", "delta")]:
            continue
        made = made_to_agree(lie)
        if made is None or made == receipt:
            continue
        count += 1
        held = verify(made, public_key=KEY.public).holds
        assert not held or path == ("price", "delta") or path[:2] == ("price", "goals"), (name, path)
        mine = wrong(made, key=KEY.public)
        part = next((one for one in reversed(path) if isinstance(one, str) and (path[0], one) in LARGER), path[-1])
        if path == ("price",) and lie["price"] == {key: one for key, one in receipt["price"].items() if key != "goals"}:
            part = "goals"  # the whole price, but for its goals
        assert mine or (path[0], part) in LARGER, (name, path)
    return count


def test_a_change_with_all_digests_made_to_agree_is_caught_by_working_it_out():
    assert caught_though_all_agrees(0.001) > 20


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_all_changes_with_all_digests_made_to_agree_are_caught(part):
    assert caught_though_all_agrees(1.0, part) > 20_000 / PARTS


@pytest.mark.parametrize("name", sorted(FREE))
def test_what_is_free_is_so_and_is_what_it_says(name):
    """Some change of each holds, signed again: the list above has nothing that this file could see."""
    receipt = made()["pure, 0"]
    paths = list(leaves(receipt[name])) if isinstance(receipt[name], dict) else [()]
    lies = [changed(receipt, (name, *path), new) for path in paths for new in others(at(receipt, (name, *path)))]
    assert any(wrong(signed(lie), key=KEY.public) == set() for lie in lies)
