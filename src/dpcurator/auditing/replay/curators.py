"""What two curators show of one question, over neighbouring tables: everything but noisy values, byte for byte.

Definition  A curator is handed in as anything with `quote`, `ask` and `budget`; this room knows no more of it. Compared
            are the quote, what a refusal or fault says, cost, notes, columns, the type of each value, keys and order
            (where they are public and no noise sorts them), the receipt and the ledger's standing. Left out is what
            follows the noisy values (their hash, the chain's head, the signature), and the clock.
Promise     A difference is a certain fact: something seen depends on data without noise.
Checked     tests/break_me/test_break_me.py, with curators that show too much.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from dpcurator.auditing.equality import differences
from dpcurator.auditing.replay.mismatch import Mismatch
from dpcurator.errors import DpcuratorError

VARIES: Final = ("answer_sha256", "signature", "head", "time", "public_key")
_VALUES: Final = ("whole", "number", "truth")  # how columns are shown that hold noisy values


def replay_curators(
    one: Any,
    other: Any,
    question: Any,
    *,
    sorted_by_noise: bool = False,
    names: tuple[str, str] = ("D", "D'"),
    **price: Any,
) -> list[Mismatch]:
    """Ask both; what differs. sorted_by_noise: the question has HAVING, ORDER BY or LIMIT, so its rows follow noise."""
    first, second = (shown(curator, question, sorted_by_noise=sorted_by_noise, **price) for curator in (one, other))
    return [
        Mismatch("shown", where, f"{left} on {names[0]} and {right} on {names[1]}")
        for where, left, right in differences(first, second)
    ]


def shown(curator: Any, question: Any, *, sorted_by_noise: bool = False, **price: Any) -> dict[str, Any]:
    """Everything that is seen of a question besides noisy values."""
    found: dict[str, Any] = {}
    for name, ask in (("quote", curator.quote), ("answer", curator.ask)):
        try:
            given = ask(question, **price)
        except DpcuratorError as error:
            found[name] = {"error": type(error).__name__, "words": str(error), "fields": error.as_json()}
        except Exception as error:  # what no curator should raise is seen too
            found[name] = {"error": type(error).__name__, "words": str(error)}
        else:
            found[name] = json.dumps(given.as_json()) if name == "quote" else _answer(given, sorted_by_noise)
    budget = curator.budget()
    found["budget"] = {name: str(getattr(budget, name)) for name in ("spent", "spent_delta", "remaining")}
    return found


def _answer(answer: Any, sorted_by_noise: bool) -> dict[str, Any]:
    receipt = _public(answer.receipt)
    found = {name: getattr(answer, name) for name in ("columns", "shown", "notes", "confidence", "cost", "spent")}
    chosen = isinstance(answer.receipt, Mapping) and (answer.receipt.get("selection") is not None or any(
        "top" in one["ask"] for one in answer.receipt.get("readings", ())))  # which keys are shown follows noise
    if not (sorted_by_noise or chosen):
        keys = [place for place, how in enumerate(answer.shown) if how not in _VALUES]
        found["keys"] = [[row[place].value for place in keys] for row in answer.cells]
        found["types"] = [[_type(cell.value, how) for cell, how in zip(row, answer.shown, strict=True)]
                          for row in answer.cells]
    cut = getattr(answer, "cut", None)
    noisy = ("over", "units")
    public = None if cut is None else {name: part for name, part in cut.as_json().items() if name not in noisy}
    return found | {"cut": public, "receipt": receipt}


def _type(value: Any, shown: str) -> str:
    """Of a number with noise also that of a missing one: whether a quotient is one follows from the noisy numbers."""
    return "number" if shown == "number" and (value is None or isinstance(value, float)) else type(value).__name__


def _public(receipt: Any) -> Any:
    if isinstance(receipt, Mapping):
        return {name: _public(value) for name, value in receipt.items() if name not in VARIES}
    return receipt
