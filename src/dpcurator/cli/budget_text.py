"""Where the ledger stands, as `budget` shows it: its currency, its delta, and what rho means as epsilon."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dpcurator.numbers import decimal_text
from dpcurator.numbers.decimals import leading
from dpcurator.values import Budget

if TYPE_CHECKING:
    from dpcurator.curator.history import Together


def budget_json(budget: Budget, life: str) -> dict[str, Any]:
    """For machines. `as_epsilon`: what rho spent and rho in all mean at the delta that is left."""
    shown = budget.as_json()
    if budget.currency == "rho":
        found = as_epsilon(budget)
        shown["as_epsilon"] = found and {
            "delta": decimal_text(budget.remaining_delta), "spent": decimal_text(found[0], digits=40),
            "budget": decimal_text(found[1], digits=40),
        }
    return shown | {"state": life}


def budget_text(budget: Budget, life: str) -> str:
    """One line; with a delta, a line for each currency; in rho, what it means as epsilon as well."""
    lines = [_line(budget.total, budget.spent)]
    if budget.delta:
        lines = [f"{budget.currency:<7}  {lines[0]}", f"delta    {_line(budget.delta, budget.spent_delta)}"]
    if budget.currency == "rho":
        found = as_epsilon(budget)
        lines.append(_worth(*found) if found else "epsilon  unbounded: no delta is left to show it at")
    if life == "closed":
        lines.append("closed after a fault: the steward runs `dpcurator reopen`")
    if life == "moved":
        lines.append("moved: this ledger takes no charge; its last event, in `dpcurator log`, names its new place")
    return "\n".join(lines)


def _line(total: Fraction, spent: Fraction) -> str:
    share = decimal_text(round((total - spent) / total * 100, 2))
    return f"spent {decimal_text(spent)} of {decimal_text(total)}: {decimal_text(total - spent)} left ({share} %)"


def _worth(spent: Fraction, total: Fraction) -> str:
    return f"epsilon  {_figures(spent)} spent of {_figures(total)}, as rho means it at the delta that is left"


def together_text(budget: Budget, made: Together | None, *, wanted: bool) -> list[str]:
    """For information, where it is less than what is spent or was asked for: what all charges are as one."""
    if made is None:
        return ["together no bound: nothing is charged, or that delta is spent by itself"] if wanted else []
    if not wanted and (made.adaptive or made.epsilon >= budget.spent):
        return []
    at = f"epsilon {_figures(made.epsilon)} at delta {decimal_text(made.delta)}"
    if made.adaptive:
        return [f"together {at}, in whatever order and light it was asked"]
    return [
        f"together {at}, had every price and question been fixed beforehand:",
        "         informational; the remaining budget is computed from the sums above",
    ]


def _figures(value: Fraction) -> str:
    """Three figures, rounded up: it is an upper bound."""
    if value == 0:
        return "0"
    unit = Fraction(10) ** (leading(value) - 2)
    return decimal_text(math.ceil(value / unit) * unit)


def as_epsilon(budget: Budget) -> tuple[Fraction, Fraction] | None:
    """(spent, whole) of a ledger in rho as epsilon, each an upper bound, at the delta spent on nothing else: so all
    answers together are (epsilon, delta)-DP at the ledger's whole delta. None when no delta is left."""
    from dpcurator.privacy.zcdp import epsilon_of

    if budget.remaining_delta <= 0:
        return None
    return epsilon_of(budget.spent, budget.remaining_delta), epsilon_of(budget.total, budget.remaining_delta)
