"""Exact running sums with limits, safe among threads: what every filter counts with.

Definition  A sum is kept as two whole numbers, over a denominator that all amounts so far divide, and not reduced: most
            amounts of a budget have few denominators, so that adding is one addition.
Promise     `add` puts all amounts on their sums if none then passes its limit, and else raises OverBudget and changes
            nothing. Sums are exact until a denominator passes 2**1024; then rounded up to a multiple of 10**-150, as in
            the ledger, so that odd amounts cannot slow everyone's. So an addition takes the same time always.
            So is where an amount is towards other neighbours than one before (privacy/sampled.py): such do not add up.
Limits      Memory only. A fork would be a second meter of the same budget, and is refused; so are copies and pickles.
Checked     tests/accounting/test_filters.py.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NoReturn

from dpcurator import process
from dpcurator.errors import OverBudget, Refusal
from dpcurator.numbers import decimal_text
from dpcurator.numbers.rational import LONGEST_TOTAL, added
from dpcurator.privacy.sampled import MIXED


class Meter:
    """limits: the currencies, in the order they are checked, and how much of each there is; None: no limit."""

    __slots__ = ("_limits", "_lock", "_neighbours", "_process", "_spent")

    def __init__(self, limits: Mapping[str, Fraction | None]) -> None:
        self._limits, self._spent = dict(limits), dict.fromkeys(limits, (0, 1))
        self._lock, self._process = threading.Lock(), process.this()
        self._neighbours: str | None = None

    def add(self, amounts: Mapping[str, Fraction], neighbours: str | None = None) -> None:
        """Raises OverBudget where a sum would pass its limit; Refusal in a fork, and for other neighbours than before.

        neighbours: that the amounts are towards; None where they say nothing of it.
        """
        self._here()
        with self._lock:
            if None not in (neighbours, self._neighbours) and neighbours != self._neighbours:
                raise Refusal(MIXED, cure="Spend it from a budget of its own.")
            after = self._spent.copy()
            for currency, limit in self._limits.items():
                amount = amounts[currency]
                if not amount:
                    continue
                after[currency] = top, bottom = _plus(*self._spent[currency], amount)
                if limit is not None and top * limit.denominator > limit.numerator * bottom:
                    left = limit - Fraction(*self._spent[currency])
                    raise OverBudget(requested=amount, remaining=left, currency=currency)
            self._spent, self._neighbours = after, self._neighbours or neighbours

    @property
    def spent(self) -> dict[str, Fraction]:
        """What was added so far."""
        self._here()
        return {name: Fraction(*total) for name, total in self._spent.items()}

    @property
    def remaining(self) -> dict[str, Fraction]:
        """What is left of each limited currency."""
        spent = self.spent
        return {name: limit - spent[name] for name, limit in self._limits.items() if limit is not None}

    def _here(self) -> None:
        if self._process != process.this():
            raise Refusal("This budget belongs to another process.", cure="Keep one that must be shared in a ledger.")

    def __repr__(self) -> str:
        limits = (f"{name} {decimal_text(limit)}" for name, limit in self._limits.items() if limit is not None)
        return f"budget of {' and '.join(limits)}"

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise Refusal("A budget cannot be copied: both copies would spend it.", cure="Make another, of its own budget.")


def _plus(top: int, bottom: int, amount: Fraction) -> tuple[int, int]:
    """`added`, of top/bottom."""
    other, under = amount.numerator, amount.denominator
    if under == bottom:
        return top + other, bottom
    common = math.gcd(bottom, under)
    over = bottom // common
    if over * under <= LONGEST_TOTAL:
        return top * (under // common) + other * over, over * under
    total = added(Fraction(top, bottom), amount)
    return total.numerator, total.denominator
