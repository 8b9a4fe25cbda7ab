"""Receipts for the verifier that stands alone: of a quote without any data, and what it says of them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dpcurator.pricing.quote import Quote
from dpcurator.receipts.receipt import write
from dpcurator.standalone import verify as alone
from dpcurator.values import Charge, Json
from receipts import KEY, json_of

# Of an answer, only the hash is in a receipt.
CORE: Json = {"columns": [], "shown": [], "rows": [], "confidence": "0.95", "notes": []}


def receipt_of(quote: Quote) -> Json:
    """A signed receipt of the quote, as if it was the first that its ledger was charged."""
    time = "2026-01-02T03:04:05.678901Z"
    costs, left = (quote.epsilon, quote.delta), max(Fraction(0), quote.catalog.budget - quote.cost)
    charge = Charge("q1", 2, "0" * 64, time, *costs, spent=quote.cost, remaining=left, rho=quote.rho)
    return json_of(write(quote, charge, CORE, analyst="local", key=KEY))


def wrong(receipt: Any, **outside: Any) -> set[str]:
    """The names of the steps that do not hold."""
    found = alone.steps(receipt, **outside)
    assert all(type(holds) is bool and isinstance(words, str) for _, holds, words in found)
    return {name for name, holds, _ in found if not holds}
