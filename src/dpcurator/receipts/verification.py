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
from dpcurator.ledger.key_chain import Link, chain_of, whole
from dpcurator.receipts.answers import CORE, CUT, check_answer, check_beside, core_of, unchecked
from dpcurator.receipts.charges import check_batch, check_ledger
from dpcurator.receipts.claims import check_catalog, check_nothing_read, check_plan, check_sensitivity
from dpcurator.receipts.form import Parsed, Step, Verification, Wrong, check_form, check_signature
from dpcurator.receipts.loss import check_choice, check_cost, check_noise
from dpcurator.receipts.readings import check_readings, of_these_facts
from dpcurator.values import Json


def checked(name: str, claim: Callable[[], str]) -> Step:
    """One step: what a check says, or why it fails."""
    try:
        return Step(name, True, claim())
    except Wrong as wrong:
        return Step(name, False, str(wrong))
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError, DpcuratorError):
        return Step(name, False, "this part of the receipt is malformed")


def verify(
    receipt: Any,
    *,
    catalog: Catalog | None = None,
    ledger: Ledger | None = None,
    public_key: str | None = None,
    answer: Json | None = None,
    signed: bool = False,
    keys: Any = (),
) -> Verification:
    """Verifies a receipt: derives again, from the plan it holds, everything that it claims.

    receipt: as `answer.receipt`, or read from a file. catalog, ledger: the curator's, to compare public facts and the
    charge with. public_key: the steward's, hexadecimal, from elsewhere. answer: to match, its `core_json` or its
    `as_json`, of which the fields beside the receipt are compared with it too. keys: how the curator's keys followed
    one another, as `dpcurator key --json` prints it, so that a receipt of another of them than `public_key` holds too;
    of a ledger that is given it is known. signed: of a receipt that this key has not signed, check no more than that:
    its plan may be one that takes long. Never raises Refusal or anything else for a receipt that is none: the step
    `form` then does not hold.

    >>> import dpcurator as dp
    >>> print(dp.verify({"format": "something else"}).holds)
    False
    """
    steps: list[Step] = []
    told = Parsed(receipt)

    def check(name: str, claim: Callable[[], str]) -> bool:
        steps.append(checked(name, claim))
        return steps[-1].holds

    if not check("form", lambda: check_form(receipt)):
        return Verification(tuple(steps))

    def signature() -> str:
        return check_signature(receipt, public_key, ledger.key_chain() if ledger is not None else _chain(keys))

    if not check("signature", signature) and signed:
        return Verification(tuple(steps))
    sound = check("plan", lambda: check_plan(told))
    if sound:
        if told.public:
            check("price", lambda: check_nothing_read(told, catalog))
        else:
            check("sensitivity", lambda: check_sensitivity(told, catalog))
            check("noise", lambda: check_noise(told))
            if told.charged:
                check("cost", lambda: check_cost(told))
                check("batch", lambda: check_batch(told))
            check("choice", lambda: check_choice(told))
        if catalog is not None:
            check("catalog", lambda: check_catalog(told, catalog))
    if answer is not None:
        core = core_of(answer)
        check("answer", lambda: check_answer(told, core, catalog if sound else None))
        if set(answer) - {CUT} != set(CORE):
            check("beside", lambda: check_beside(told, answer, catalog))
    looked = False
    if ledger is not None and not told.public:
        check("ledger", lambda: check_ledger(told, ledger, None if answer is None else core_of(answer)))
        looked = catalog is not None and sound and of_these_facts(told, catalog)
        if catalog is not None and looked:
            check("readings", lambda: check_readings(told, ledger, catalog))
    bare = answer is None or set(answer) - {CUT} == set(CORE)
    left = () if not sound or answer is None or bare else tuple(unchecked(told, answer, catalog))
    if sound and ledger is None and not told.public:
        left += ("time and data version (only the ledger tells them)",)
    if sound and ledger is not None and told.receipt.get("shared") and not looked:
        left += ("whether what is shared has the names of its readings (give the catalog as it was)",)
    return Verification(tuple(steps), left)


def _chain(keys: Any) -> tuple[Link, ...]:
    """Raises Wrong. keys: links as JSON, or as the ledger gives them."""
    try:
        if isinstance(keys, tuple):
            return whole(keys)
        return chain_of(keys)
    except ValueError as wrong:
        raise Wrong(f"the keys that were given are no chain: {wrong}") from None
