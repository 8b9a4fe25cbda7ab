"""Which unknown keys may be shown: the rule, chosen at the price, and what it costs (semantics 4.4).

Keys that nobody listed are shown when enough distinct units have them. Of the three rules the one that keeps the
smallest groups at this price is taken, by parameters alone. Under replace-one a unit is taken out and another put in,
so a rule with an add-remove promise (e, d) is charged (2 e, d (1 + exp(e))); in a rho ledger an (e, d) rule is charged
(e**2 / 2, d). Checked in tests/pricing/test_selecting.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from dpcurator.errors import Refusal
from dpcurator.numbers import decimal_text
from dpcurator.plan.stability import Reach
from dpcurator.pricing.prices import pure_epsilon
from dpcurator.privacy.zcdp import greatest_rho, selection_under_replacement

if TYPE_CHECKING:
    from dpcurator.mechanisms import DiscreteGaussian, DiscreteLaplace
    from dpcurator.mechanisms.key_selection import KeySelection

FAR: Final = Fraction(50)
MOST_UNITS: Final = 10**6  # of a key, where the sizes that a quote tells are looked for
SHOWN: Final = (1, 2, 5, 10, 20, 50)  # units of a key, for the chances a quote tells (semantics 7.1)


@dataclass(frozen=True, slots=True)
class Selecting:
    """The rule, and what it is charged: epsilon (0 in a rho ledger), rho (0 in an epsilon ledger) and delta."""

    rule: KeySelection
    epsilon: Fraction
    rho: Fraction
    delta: Fraction

    @property
    def noise(self) -> DiscreteLaplace | DiscreteGaussian | None:
        """Of the number of units of a key, where the rule is a threshold."""
        found: DiscreteLaplace | DiscreteGaussian | None = getattr(self.rule, "noise", None)
        return found

    @property
    def threshold(self) -> int | None:
        """From which noisy number of units on a key is shown, where the rule is a threshold."""
        found: int | None = getattr(self.rule, "least_noisy", None)
        return found

    def chances(self) -> tuple[tuple[int, Fraction], ...]:
        """(units, chance of being shown), rounded down to four places."""
        return tuple((n, Fraction(math.floor(self.rule.keep_chance(n).lo * 10**4), 10**4)) for n in SHOWN)

    def sizes(self) -> tuple[int | None, int | None]:
        """From how many units on a key is shown with probability 1/2, and .95; None beyond a million. Proved, so at
        most a unit more than the least."""
        return self._from(Fraction(1, 2)), self._from(Fraction(95, 100))

    def _from(self, chance: Fraction) -> int | None:
        low, high = 0, 1
        while self.rule.keep_chance(high).lo < chance:
            low, high = high, 2 * high
            if low > MOST_UNITS:
                return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.rule.keep_chance(middle).lo >= chance else (middle, high)
        return high

    @property
    def min_units(self) -> int:
        """Of fewer units no key is ever shown."""
        return self.rule.min_units or 1

    def as_json(self) -> dict[str, Any]:
        """For the ledger's parameters and the receipt: exact text."""
        costs = {name: str(getattr(self, name)) for name in ("epsilon", "rho", "delta")}
        return {"rule": self.rule.as_json()} | costs

    def told(self) -> list[str]:
        """In words, for a quote."""
        chances = ", ".join(f"{n}: {decimal_text(chance)}" for n, chance in self.chances())
        return [
            f"keys are shown by {words(self.rule)}, at delta {decimal_text(self.delta)}",
            f"probability of being shown, by the units that have the key: {chances}",
            self.sizes_told("units", "key"),
        ]

    def sizes_told(self, units: str, key: str = "group") -> str:
        """In a sentence. units: by their name, in the plural."""
        half, most = ("more than a million" if one is None else f"{one:,}" for one in self.sizes())
        return f"a {key} is shown with probability 0.5 from {half} {units} on, and with 0.95 from {most}"


def selecting(
    reach: Reach, *, epsilon: Fraction, rho: Fraction, delta: Fraction, counted: bool = False
) -> Selecting:
    """The best rule for this much epsilon (or rho, when epsilon is 0) and delta. Raises Refusal without a delta.

    counted: the number of units that it selects by is released too, at no further price, as a threshold allows."""
    from dpcurator.mechanisms.key_selection import GaussianThreshold, LaplaceThreshold, TruncatedGeometric, best

    if delta <= 0:
        raise Refusal(
            "keys that are not listed need a delta, and this question has none.",
            cure="Give it some with delta; or the steward lists the keys, or gives the ledger a delta.",
        )
    groups, least = reach.groups or 1, reach.min_units
    replaced = reach.neighbours == "replace-one"
    pure = epsilon or pure_epsilon(rho)
    one, small = _halved(pure, delta) if replaced else (pure, delta)
    rules: list[KeySelection] = [LaplaceThreshold.spending(one, small, groups=groups, min_units=least)]
    rules += [] if counted else [TruncatedGeometric.spending(one, small, groups=groups, min_units=least)]
    if not epsilon and not replaced:
        rules.append(GaussianThreshold.spending_rho(rho, small, groups=groups, min_units=least))
    elif epsilon and greatest_rho(one, small / 2):
        rules.append(GaussianThreshold.spending(one, small, groups=groups, min_units=least))
    return Selecting(best(rules), epsilon, rho, delta)


WORDS: Final = {
    "truncated_geometric": "the greatest probability that this price allows for each number of units",
    "laplace_threshold": "a noisy number of units (discrete Laplace) of at least a threshold",
    "gaussian_threshold": "a noisy number of units (discrete Gaussian) of at least a threshold",
}


def words(rule: KeySelection) -> str:
    """The rule, for people."""
    return WORDS[str(rule.as_json()["rule"])]


def _halved(epsilon: Fraction, delta: Fraction) -> tuple[Fraction, Fraction]:
    """An add-remove price (e, d) with 2 e <= epsilon and d (1 + exp(e)) <= delta; d to 20 figures, rounded down.

    More than FAR for e is not used: what it saves in units is less than one, and d falls with exp(e).
    """
    one = min(epsilon / 2, FAR)
    most = delta / selection_under_replacement(one, Fraction(1))[1] * (1 - Fraction(1, 2**60))  # it rounds up again
    places = 20 + max(0, (most.denominator.bit_length() - most.numerator.bit_length()) * 3 // 10)
    return one, Fraction(math.floor(most * 10**places), 10**places)
