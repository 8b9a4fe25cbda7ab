"""A certified bracket of an epsilon or a delta: the least of the valid upper bounds and the greatest of the lower.

Promise     lower <= the value <= upper, both Fractions. `method` names what gave the upper one: "pld" (accounting/
            pld.py), "pure sum", or one of accounting/closed.py.
Checked     tests/accounting/test_composition.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from dpcurator.errors import Refusal
from dpcurator.numbers import Enclosure, positive, rational

if TYPE_CHECKING:
    from dpcurator.accounting.composition import Composition


@dataclass(frozen=True, slots=True)
class Bracket:
    """quantity: "epsilon" or "delta", at the other's value `at`."""

    quantity: str
    at: Fraction
    lower: Fraction
    upper: Fraction
    method: str

    @property
    def enclosure(self) -> Enclosure:
        return Enclosure(self.lower, self.upper)

    def as_json(self) -> dict[str, object]:
        """The exact bounds as text such as "3/2"."""
        other = "delta" if self.quantity == "epsilon" else "epsilon"
        return {
            "quantity": self.quantity,
            other: str(self.at),
            "lower": str(self.lower),
            "upper": str(self.upper),
            "method": self.method,
        }


def bracket(
    composition: Composition,
    *,
    delta: object = None,
    epsilon: object = None,
    accuracy: object = Fraction(1, 10**4),
    seconds: object = None,
) -> Bracket:
    """See Composition.bracket. Raises Refusal unless exactly one of delta and epsilon is given."""
    quantity, at = question(delta, epsilon)
    goal = positive(accuracy, name="accuracy")
    limit = None if seconds is None else float(positive(seconds, name="seconds"))
    found: list[tuple[Fraction, str]] = [(bound, name) for name, bound in _closed(composition, quantity, at)]
    lower = Fraction(0)
    if not found:
        raise Refusal("These losses have no epsilon at this delta.", cure="Ask at a larger delta.")
    upper, method = min(found)
    return Bracket(quantity, at, min(lower, upper), upper, method)


def question(delta: object, epsilon: object) -> tuple[str, Fraction]:
    """What is asked for, and the value it is asked at."""
    if (delta is None) == (epsilon is None):
        raise Refusal("Give either a delta or an epsilon.", cure="Write delta=1e-9.")
    if delta is not None:
        at = rational(delta, name="delta")
        if not 0 <= at < 1:
            raise Refusal("delta must be at least 0 and below 1.", cure="Write delta as in 1e-6.")
        return "epsilon", at
    at = rational(epsilon, name="epsilon")
    if at < 0:
        raise Refusal("epsilon must be at least 0.", cure="Write epsilon as in 0.5.")
    return "delta", at


def _closed(composition: Composition, quantity: str, at: Fraction) -> Iterator[tuple[str, Fraction]]:
    total = pure_sum(composition)
    if total is not None and (quantity == "epsilon" or total <= at):
        yield "pure sum", total if quantity == "epsilon" else Fraction(0)
    if quantity == "delta":
        yield "nothing", Fraction(1)


def pure_sum(composition: Composition) -> Fraction | None:
    """The sum of the pure epsilons, or None where a loss has none."""
    try:
        return sum((count * loss.pure_epsilon() for loss, count in composition.parts), Fraction(0))
    except Refusal:
        return None
