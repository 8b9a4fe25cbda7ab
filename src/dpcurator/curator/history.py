"""What all charges so far reveal together, had all been fixed beforehand: for information, not for the ledger.

Definition  In a ledger of epsilon and delta, the certified epsilon, at the ledger's whole delta, of all losses charged
            so far as one composition. Each charge holds the parameters of its noise, and the losses are those
            (receipts/loss.py); of a charge that holds others, its price alone, as (epsilon, delta).
            In a ledger of rho and delta, the epsilon that the sum of rho means at the delta that is left.
Promise     The first holds if the losses and their number were fixed before the first answer, as they are when every
            question and price was: what is fixed composes (Zhu, Dong, Wang 2022, theorem 10). What is chosen on the way
            needs a filter, which is the sum that the ledger gates on. The second holds then, too (Whitehouse, Ramdas,
            Rogers, Wu 2023). `adaptive` says which it is. The first is never above what was spent.
Cost        Equal charges are one, with a count. The distribution of the losses is made where kinds times charges are at
            most WORK, or all are of one kind: about a second; else formulas bound them. With more than KINDS kinds of
            charges or losses the prices alone are taken, each rounded up to few enough figures.
Checked     tests/curator/test_history.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from dpcurator.errors import DpcuratorError
from dpcurator.ledger import Ledger
from dpcurator.ledger.events import Kind
from dpcurator.numbers import decimal_text
from dpcurator.numbers.rational import Spelled, between_0_and_1
from dpcurator.numbers.readable import readable
from dpcurator.pricing.joint_guarantee import least_epsilon, rounded_up
from dpcurator.privacy import zcdp
from dpcurator.privacy.loss import Loss
from dpcurator.receipts.loss import losses_of
from dpcurator.values import Budget, Json, read_json

KINDS: Final = 200  # of charges whose losses are taken apart
WORK: Final = 200_000
USUAL: Final = Fraction(1, 10**9)  # delta, for a ledger that has none
Parts = list[tuple[Loss, int]]


@dataclass(frozen=True, slots=True)
class Together:
    """All charges so far are (epsilon, delta)-DP together: with `adaptive`, whatever was asked; else only if all prices
    and questions were fixed beforehand. charges: how many. method: which bound it is, as a bracket names it."""

    epsilon: Fraction
    delta: Fraction
    charges: int
    method: str
    adaptive: bool

    __repr__ = readable

    def as_json(self) -> Json:
        """For machines; it says of itself that no question is refused for it."""
        amounts = {"epsilon": decimal_text(self.epsilon), "delta": decimal_text(self.delta)}
        holds = "always" if self.adaptive else "only if every price and question was fixed beforehand"
        return amounts | {"charges": self.charges, "method": self.method, "holds": holds, "gates": False}


def together(ledger: Ledger, *, delta: Spelled | None = None) -> Together | None:
    """delta: the one to bound epsilon at, in (0, 1); by default the ledger's whole delta, or 1e-9 where it has none.

    None where nothing was charged, or where the charges spent that delta themselves. Raises Refusal.
    """
    kinds = ledger.tally()
    budget = ledger.budget()  # read last: what others spend in between is counted, and so the sum is never too small
    at = _delta(delta, budget)
    if not kinds or at <= budget.spent_delta:
        return None
    charges = sum(kinds.values())
    if budget.currency == "rho":
        left = at - budget.spent_delta
        return Together(zcdp.epsilon_of(budget.spent, left), at, charges, "zcdp", True)
    whole = Together(budget.spent, at, charges, "sum", False)
    found = _least(kinds, budget, at)
    if found is None or found[0] >= budget.spent:
        return whole
    return (
        Together(rounded_up(found[0]), at, charges, found[1], False) if rounded_up(found[0]) < whole.epsilon else whole
    )


def _delta(delta: object, budget: Budget) -> Fraction:
    if delta is None:
        return budget.delta or USUAL
    return between_0_and_1(delta, like="1e-9")


def _least(kinds: Mapping[Kind, int], budget: Budget, at: Fraction) -> tuple[Fraction, str] | None:
    from dpcurator.accounting.composition import compose

    made = None
    if len(kinds) <= KINDS:
        made = compose(*((loss, count) for kind, count in kinds.items() for loss in _losses(kind)))
    if made is None or len(made.parts) > KINDS:
        # delta mass is accounted for separately: its probability is at most the delta spent
        at = (at - budget.spent_delta) / (1 - budget.spent_delta)
        made = compose(*_few((Fraction(kind.epsilon), count) for kind, count in kinds.items()))
    work = len(made.parts) * made.size
    return least_epsilon(made, at, distribution=len(made.parts) == 1 or work <= WORK)


def _losses(kind: Kind) -> Iterable[Loss]:
    """Of one charge: those of its noise, or its price."""
    try:
        said: Any = read_json(kind.parameters)
        members = said.get("batch", [said])
        if kind.shared:  # what earlier charges paid is counted with them
            paid = read_json(kind.shared)
            before = paid.get("batch", [paid])
            members = [one if held is None else _own(one, held) for one, held in zip(members, before, strict=True)]
        found = [loss for one in members for loss in losses_of(one)]
        if found:
            return found
    except (DpcuratorError, LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError):
        pass  # another program's charge, or another version's
    return [Loss("approximate", (("epsilon", Fraction(kind.epsilon)), ("delta", Fraction(kind.delta))))]


def _own(parameters: Json, shared: Json) -> Json:
    """Of a question's parameters, what its own charge paid."""
    both = zip(parameters["mechanisms"], shared["readings"], strict=True)
    selection = parameters["selection"] if shared["keys"] is None else None
    return {"mechanisms": [one for one, place in both if place is None], "selection": selection}


def _few(prices: Iterable[tuple[Fraction, int]]) -> Parts:
    """Pure losses at or above these prices, of at most KINDS kinds or of one figure each."""
    counts: dict[Fraction, int] = {}
    for price, count in prices:
        counts[price] = counts.get(price, 0) + count
    figures = 4
    while len(counts) > KINDS and figures:
        rounded: dict[Fraction, int] = {}
        for price, count in counts.items():
            up = rounded_up(price, figures)
            rounded[up] = rounded.get(up, 0) + count
        counts, figures = rounded, figures - 1
    return [(Loss("pure", (("epsilon", price),)), count) for price, count in counts.items() if price]
