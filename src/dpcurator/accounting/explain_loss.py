"""A loss in words: what somebody who sees the release can come to believe, and how often they guess right.

Definition  With (epsilon, delta): odds = exp(epsilon). With probability at least 1 - delta a prior probability p
            becomes at most p odds / (p odds + 1 - p) and at least p / (p + (1-p) odds). `right`: of so many guesses
            which of two neighbours it was, each as likely as the other, how many the best attacker gets right,
            (1 + advantage)/2 of them. `found`: what the best test finds that accuses wrongly with probability
            `alarms`.
Promise     All are upper bounds for whoever knows everything else, rounded outward.
Proof       Bayes' rule; accounting/tradeoff.py.
Source      Wasserman, Zhou 2010; Kifer, Machanavajjhala 2014 (odds); Yeom et al. 2018 (advantage).
Checked     tests/accounting/test_tradeoff.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from dpcurator.accounting.composition import Releases, compose
from dpcurator.accounting.tradeoff import advantage, posterior, tradeoff
from dpcurator.numbers import decimal_text, rational
from dpcurator.numbers.arb import ball, precision
from dpcurator.numbers.display import error_text
from dpcurator.numbers.enclosure import bracket
from dpcurator.numbers.rational import from_0_below_1
from dpcurator.numbers.readable import readable

if TYPE_CHECKING:
    from dpcurator.numbers.rational import Spelled


@dataclass(frozen=True, slots=True, kw_only=True)
class LossExplained:
    """What a loss means, in numbers and, by `str`, in words; exact, or rounded outward.

    odds: None where they pass 10**12. alarms: of the test that `found` is about."""

    epsilon: Fraction
    delta: Fraction
    odds: Fraction | None
    prior: Fraction
    posterior: tuple[Fraction, Fraction]
    right: Fraction
    alarms: Fraction
    found: Fraction

    __repr__ = readable

    def __str__(self) -> str:
        but = f", except with probability {decimal_text(self.delta)}" if self.delta else ""
        if self.odds is None:
            times = "over 1,000,000,000,000 times, which protects nobody"
        else:
            times = "not at all" if self.odds == 1 else f"at most {_figures(self.odds)} times"
        low, high = self.posterior
        return "\n".join(
            (
                f"Epsilon {decimal_text(self.epsilon)}: seeing the release changes anybody's odds {times}{but}.",
                f"- Who believed something of one person with probability {_percent(self.prior)} will believe it with "
                f"{_percent(low, up=False)} to {_percent(high)}.",
                f"- Of 100 guesses which of two neighbouring tables it was, at even odds, the best attacker gets at "
                f"most {_count(self.right)} right; 50 are right without the release.",
                f"- A test that accuses wrongly {_count(self.alarms)} of 100 times finds at most "
                f"{_count(self.found)} of 100.",
            )
        )


def explain_loss(
    loss: Releases, *, delta: Spelled = 0, prior: Spelled = Fraction(1, 2), alarms: Spelled = Fraction(1, 20)
) -> LossExplained:
    """What a privacy loss means, in words and numbers: beliefs after the release, and how often guesses are right.

    Promise: all numbers are upper bounds for whoever knows everything else, rounded outward.

    Parameters:
        loss: a dp.Loss, a mechanism that has one, or a dp.Composition.
        delta: number in [0, 1), at which its epsilon is computed.
        prior: number in [0, 1], the probability of something about one person before the release.
        alarms: number in [0, 1], how often a test may accuse wrongly.

    Returns the numbers; printed, it is text. Raises Refusal if a parameter is out of its range, or delta is 0 and there
    is no pure epsilon.

    >>> import dpcurator as dp
    >>> told = dp.explain_loss(dp.Laplace(sensitivity=1, epsilon=1), prior="0.1")
    >>> print(str(told).splitlines()[0])
    Epsilon 1: seeing the release changes anybody's odds at most 2.719 times.

    Source: Wasserman, Zhou 2010; Kifer, Machanavajjhala 2014; Yeom, Giacomelli, Fredrikson, Jha 2018.
    """
    most, before, wrong = from_0_below_1(delta), rational(prior, name="prior"), rational(alarms, name="alarms")
    together = compose(loss)
    epsilon = together.epsilon(delta=most)
    return LossExplained(
        epsilon=epsilon,
        delta=most,
        odds=_odds(epsilon),
        prior=before,
        posterior=posterior(before, epsilon=epsilon),
        right=(1 + advantage(together).hi) / 2,
        alarms=wrong,
        found=1 - tradeoff(together, alpha=wrong).lo,
    )


def _odds(epsilon: Fraction) -> Fraction | None:
    if epsilon > 27:
        return None
    with precision(128):
        return bracket(ball(epsilon).exp()).hi


def _figures(value: Fraction) -> str:
    """Four figures, rounded up."""
    unit = Fraction(1, 1000) if value < 10 else Fraction(1, 10)
    return f"{float(math.ceil(value / unit) * unit):,.{3 if value < 10 else 1}f}".rstrip("0").rstrip(".")


def _percent(value: Fraction, *, up: bool = True) -> str:
    steps = math.ceil(value * 1000) if up else math.floor(value * 1000)
    return f"{decimal_text(Fraction(steps, 10))} %"


def _count(part: Fraction) -> str:
    """Of 100, to a tenth, rounded up; less only where it is tiny."""
    if 0 < part < Fraction(1, 1000):
        return error_text(100 * part)
    return decimal_text(Fraction(math.ceil(part * 1000), 10))
