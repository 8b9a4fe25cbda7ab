"""How parts of a receipt are spelled: digests, exact amounts and the price, each in one way only.

A part with two spellings could be signed in one and read in another; what is read here is written back and compared.
Checked in tests/receipts/test_verify.py and tests/attacks/test_adversary_surface.py.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final

from dpcurator.pricing.prices import Price
from dpcurator.receipts.steps import require
from dpcurator.values import Json

DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_AMOUNT: Final = re.compile(r"[0-9]{1,1400}(/[0-9]{1,1400})?")


def spelled(spelling: re.Pattern[str], text: object) -> bool:
    return isinstance(text, str) and spelling.fullmatch(text) is not None


def amount_of(text: object) -> Fraction:
    """An exact amount in its one spelling."""
    require(isinstance(text, str) and _AMOUNT.fullmatch(text) is not None, "an amount is malformed")
    found = Fraction(str(text))
    require(str(found) == text, "an amount is not in its one spelling")
    return found


def price_of(receipt: Json) -> Price:
    """What was offered."""
    held = receipt["price"]
    require(set(held) == {"currency", "amount", "delta"}, "the price has other parts")
    return Price(held["currency"], amount_of(held["amount"]), amount_of(held["delta"]))
