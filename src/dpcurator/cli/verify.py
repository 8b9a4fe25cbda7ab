"""`verify`: read a file of receipts, find what it can be checked against, and check it; twice.

The second time by `standalone/verify.py`, a file that shares no code with the rest, from the file's bytes; the ledger
it leaves to the first. Both must hold. Checked in tests/receipts/test_printed.py and tests/cli/test_batches.py.
"""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from dpcurator.cli.application import ledger_at
from dpcurator.errors import DpcuratorError, Misconfigured
from dpcurator.ledger.verify import Verdict
from dpcurator.receipts.answers import is_printed
from dpcurator.receipts.charges import absent, one_charge
from dpcurator.receipts.form import Step, Verification
from dpcurator.receipts.receipt import FORMAT, SHARING
from dpcurator.receipts.verification import checked, verify
from dpcurator.standalone.verify import LARGEST, file_steps
from dpcurator.values import read_json

_PRINT: Final = {
    "receipt": "Print one with `dpcurator receipt ID > receipt.json`, or an answer with `dpcurator ask ... --json`.",
    "list of keys": "Print one beside the ledger with `dpcurator key --json > keys.json`.",
}


def verify_ledger(catalog: Path) -> Verdict:
    """The whole chain, recomputed."""
    return ledger_at(catalog).verify()


def verify_receipt(file: Path, key: str | None, catalog: Path | None, keys: Path | None = None) -> Verification:
    """The steps for each receipt in the file, and what could not be checked here, in words. keys: a file of how the
    curator's keys followed one another, where its ledger is not here."""
    data = _bytes(file)
    content = _value(file, data)
    found = declared = ledger = None
    aside = [
        "the catalog and the ledger (no catalog file here)",
        "that the unit, the neighbours and the number of units are those declared (the catalog tells)",
    ]
    if catalog is not None and catalog.exists():
        found, ledger, aside = _beside(catalog)
        declared = tomllib.loads(catalog.read_text("utf-8-sig"))
    if key is None:
        aside.append("whose key it is (give the steward's public key with --key)")
    chain: Any = () if keys is None else _value(keys, _bytes(keys, "list of keys"), "list of keys")
    if ledger is not None:
        chain = [link.as_json() for link in ledger.key_chain()]
    twice = verify_content(content, data, declared, key, catalog=found, ledger=ledger, keys=chain)
    return replace(twice, not_checked=(*twice.not_checked, *aside))


def verify_content(content: Any, data: bytes, declared: Any, key: str | None, **outside: Any) -> Verification:
    """The same of what a file holds. data: its bytes, as the second verifier reads them. declared: the catalog's TOML.

    outside: `catalog`, `ledger` and `keys`, as for `verify`.
    """
    each = content if isinstance(content, list) else [content]
    found = [_verified(one, public_key=key, **outside) for one in each]
    steps = [step for one in found for step in one.steps]
    unchecked = [what for one in found for what in one.not_checked]
    if len(each) > 1:
        steps = [replace(step, name=f"{n}: {step.name}") for n, one in enumerate(found, 1) for step in one.steps]
    if isinstance(content, list):
        unchecked.append("whether a list is whole, in its order, and has each answer once")
    paid = [receipt for receipt, _ in map(_parts, each) if _is_paid(receipt)]
    steps += [one_charge(paid)] if len(paid) > 1 else []
    independent = _independent(file_steps(data, key, declared, keys=outside.get("keys", ())))
    unchecked += absent(paid) if isinstance(content, list) else []
    return Verification((*steps, independent), tuple(dict.fromkeys(unchecked)))


def _verified(content: Any, **outside: Any) -> Verification:
    """Of a receipt, or of an answer printed with --json, which holds one."""
    receipt, answer = _parts(content)
    if answer is not None and receipt is None and isinstance(answer.get("sharpened"), list) and answer["sharpened"]:
        return _sharpened(answer, **outside)
    if answer is None or isinstance(receipt, dict):
        return verify(receipt, **outside, answer=answer)
    made_up = "this is the answer of a rehearsal: its rows are made up, it has no receipt"
    words = made_up if answer.get("made_up") else "there is no receipt, and nothing else vouches for an answer"
    return Verification((Step("form", False, words),))


def _sharpened(answer: Any, **outside: Any) -> Verification:
    """Of a mean: each release that it names, and then the mean."""
    from dpcurator.receipts.mean import check_mean

    each = [verify(receipt, **outside) for receipt in answer["sharpened"]]
    steps = [replace(step, name=f"release {n}: {step.name}") for n, one in enumerate(each, 1) for step in one.steps]
    unchecked = [what for one in each for what in one.not_checked]
    if all(one.holds for one in each):
        steps.append(checked("mean", lambda: check_mean(answer, outside.get("catalog"), outside.get("ledger"))))
    unchecked.append("repeated (whether its last release had been paid for before), and then spent and left")
    if None in (outside.get("catalog"), outside.get("ledger")):
        unchecked.append("that the values are the mean of these releases (the ledger tells)")
    return Verification(tuple(steps), tuple(dict.fromkeys(unchecked)))


def _parts(content: Any) -> tuple[Any, dict[str, Any] | None]:
    """The receipt, and the answer around it where it is an answer."""
    return (content.get("receipt"), content) if is_printed(content) else (content, None)


def _is_paid(receipt: Any) -> bool:
    return isinstance(receipt, dict) and receipt.get("format") in (FORMAT, SHARING)


def _independent(each: list[tuple[str, bool, str]]) -> Step:
    """What the file that stands alone says of all, in one step."""
    wrong = next((f"{name}: {words}" for name, holds, words in each if not holds), None)
    words = f"all its {len(each)} steps hold (standalone/verify.py)" if each else "it found nothing to check"
    return Step("independent check", wrong is None and bool(each), wrong or words)


def _beside(catalog: Path) -> tuple[Any, Any, list[str]]:
    from dpcurator.catalog.bind import catalog_of
    from dpcurator.catalog.load import load
    from dpcurator.curator.opening import key_of, ledger_of
    from dpcurator.snapshot.store import public_facts

    declaration = load(catalog)
    found = catalog_of(declaration, public_facts(declaration))
    try:
        return found, ledger_of(declaration, key_of(declaration)), []
    except DpcuratorError as error:
        if declaration.ledger is not None or (declaration.state / "ledger.db").exists():
            raise
        return found, None, [f"the ledger ({error.what.rstrip('.').lower()})"]


def _bytes(file: Path, what: str = "receipt") -> bytes:
    try:
        with file.open("rb") as opened:
            data = opened.read(LARGEST + 1)
    except OSError as error:
        raise Misconfigured(
            f"the {what} cannot be opened: {(error.strerror or 'no reason is given').lower()}.", where=str(file),
            cure=f"Check the file's name. {_PRINT[what]}",
        ) from None
    if len(data) > LARGEST:
        raise Misconfigured("the file is larger than 16 MiB.", where=str(file), cure="Verify its answers in two files.")
    return data


def _value(file: Path, data: bytes, what: str = "receipt") -> Any:
    """What the file's JSON says. Raises Misconfigured."""
    try:
        return read_json(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        why, cure = "this file is not UTF-8 text.", f"Write it as UTF-8, or print it again. {_PRINT[what]}"
    except ValueError as error:
        plain = str(error)
        said = plain if plain.startswith(("the name", "NaN", "Infinity", "-Infinity", "it is nested")) else ""
        why = f"this file is not JSON that says one thing: {said}." if said else "this file is not JSON."
        once = "A program writes each name once, and numbers alone: print it again. "
        cure = f"{once if said else ''}{_PRINT[what]}"
    raise Misconfigured(why, where=str(file), cure=cure)
