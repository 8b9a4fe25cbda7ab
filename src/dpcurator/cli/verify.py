"""`verify`: find what a receipt can be checked against, and check it; twice.

The second time by `standalone/verify.py`, a file that shares no code with the rest; the ledger it leaves to the first.
Both must hold.
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

from dpcurator.errors import DpcuratorError, Misconfigured
from dpcurator.ledger.verify import Verdict
from dpcurator.receipts.charges import one_charge
from dpcurator.receipts.steps import Step, Verification
from dpcurator.receipts.verification import verify
from dpcurator.standalone.verify import steps


def verify_ledger(catalog: Path) -> Verdict:
    """The whole chain, recomputed."""
    from dpcurator.catalog.load import load
    from dpcurator.curator.opening import key_of, ledger_of

    declaration = load(catalog)
    return ledger_of(declaration, key_of(declaration)).verify()


def verify_receipt(file: Path, key: str | None, catalog: Path | None) -> tuple[Verification, list[str]]:
    """The steps, and what could not be checked here, in words."""
    content = _read(file)
    found_catalog = found_ledger = None
    aside: list[str] = []
    again: dict[str, Any] = {"key": key}
    if catalog is not None and catalog.exists():
        found_catalog, found_ledger, aside = _beside(catalog)
        again["catalog"] = tomllib.loads(catalog.read_text("utf-8-sig"))
    else:
        aside.append("not checked: the catalog and the ledger (no catalog file here)")
    if key is None:
        aside.append("not checked: whose key it is (give the steward's public key with --key)")
    outside = {"catalog": found_catalog, "ledger": found_ledger, "public_key": key}
    if not isinstance(content, list) or not content:
        return _verified(content, outside, again), aside
    paid = [one for one in content if not _public(one)]  # a batch
    each = [_verified(one, outside, again) for one in paid]
    steps = [replace(step, name=f"{n}: {step.name}") for n, one in enumerate(each, 1) for step in one.steps]
    if len(paid) > 1:
        steps.append(one_charge([_parts(one)[0] for one in paid]))
    return Verification(tuple(steps)), aside


def _public(content: Any) -> bool:
    """An answer that cost nothing has no receipt."""
    if not isinstance(content, dict) or content.get("made_up"):
        return False
    return "rows" in content and content.get("receipt", 0) is None


def _verified(content: Any, outside: dict[str, Any], again: dict[str, Any]) -> Verification:
    """A receipt, or an answer printed with --json, which holds one."""
    receipt, answer = _parts(content)
    found = verify(receipt, **outside, answer=answer)
    return Verification((*found.steps, _independent(receipt, again)))


def _parts(content: Any) -> tuple[Any, dict[str, Any] | None]:
    """The receipt, and the answer where it is there."""
    if not isinstance(content, dict) or not isinstance(content.get("receipt"), dict):
        return content, None
    return content["receipt"], {name: content.get(name) for name in ("columns", "shown", "rows", "confidence", "notes")}


def _independent(receipt: Any, again: dict[str, Any]) -> Step:
    """What the file that stands alone says of it, in one step."""
    each = steps(receipt, **again)
    wrong = next((f"{name}: {words}" for name, holds, words in each if not holds), None)
    return Step("independent check", wrong is None, wrong or f"all its {len(each)} steps hold (standalone/verify.py)")


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
        if (declaration.state / "ledger.db").exists():
            raise
        return found, None, [f"not checked: the ledger ({error.what.rstrip('.').lower()})"]


def _read(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except OSError:
        raise Misconfigured("the receipt cannot be opened.", where=str(file), cure="Check the file's name.") from None
    except (ValueError, RecursionError):
        raise Misconfigured(
            "this file is not JSON.", where=str(file), cure="Print one with `dpcurator receipt ID > receipt.json`."
        ) from None
