"""All checks of a receipt in order: what needs the form or the plan is checked where that holds.

Each check is run by itself, and one that fails in any way is a step that does not hold; so a later one never hides an
earlier. Checked in tests/receipts/test_verify.py, which changes every field of a receipt in turn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dpcurator.catalog.model import Catalog
from dpcurator.errors import DpcuratorError
from dpcurator.ledger import Ledger
from dpcurator.receipts.answers import check_answer
from dpcurator.receipts.batches import check_batch
from dpcurator.receipts.charges import check_ledger
from dpcurator.receipts.cost import check_choice, check_cost
from dpcurator.receipts.form import check_form, check_signature
from dpcurator.receipts.noise import check_noise
from dpcurator.receipts.plans import check_catalog, check_plan
from dpcurator.receipts.sensitivity import check_sensitivity
from dpcurator.receipts.steps import Step, Verification, Wrong
from dpcurator.values import Json


def verify(
    receipt: Any,
    *,
    catalog: Catalog | None = None,
    ledger: Ledger | None = None,
    public_key: str | None = None,
    answer: Json | None = None,
) -> Verification:
    """Check a receipt. public_key: the steward's, hexadecimal, from elsewhere. answer: its `core_json`, to match."""
    steps: list[Step] = []

    def check(name: str, claim: Callable[[], str]) -> bool:
        try:
            steps.append(Step(name, True, claim()))
        except Wrong as wrong:
            steps.append(Step(name, False, str(wrong)))
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError, DpcuratorError):
            steps.append(Step(name, False, "this part of the receipt is malformed"))
        return steps[-1].holds

    if not check("form", lambda: check_form(receipt)):
        return Verification(tuple(steps))
    check("signature", lambda: check_signature(receipt, public_key))
    if check("plan", lambda: check_plan(receipt)):
        check("sensitivity", lambda: check_sensitivity(receipt))
        check("noise", lambda: check_noise(receipt))
        check("cost", lambda: check_cost(receipt))
        check("batch", lambda: check_batch(receipt))
        check("choice", lambda: check_choice(receipt))
        if catalog is not None:
            check("catalog", lambda: check_catalog(receipt, catalog))
    if answer is not None:
        check("answer", lambda: check_answer(receipt, answer))
    if ledger is not None:
        check("ledger", lambda: check_ledger(receipt, ledger, answer))
    return Verification(tuple(steps))
