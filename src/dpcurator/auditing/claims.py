"""Claims: what a mechanism is said to promise, and when the probabilities of one event contradict it.

Definition  P and Q are the distributions of the outcome on two neighbouring inputs, S an event. `Pure(epsilon)`: P(S)
            <= e**eps Q(S). `Approximate(epsilon, delta)`: P(S) <= e**eps Q(S) + delta. `Zcdp(rho)`: D_a(P || Q) <= rho
            a for every order a > 1. Each for every S and both ways round.
Promise     Let p be at most P(S) and q at least Q(S). `at_least(p, q)` is a number that the claim's own parameter
            (epsilon, at the claim's delta; or rho) cannot be below, rounded down; `contradicted(p, q)` is True only
            where the two numbers prove the claim false.
Proof       Pure and approximate: P(S) - delta >= p - delta and Q(S) <= q, so e**eps >= (p - delta)/q. zCDP: mapping an
            outcome to "in S or not" is post-processing, so D_a(P || Q) is at least the divergence of two coins, and
            likewise the other way round. The exponential of (a - 1) times that is an f-divergence, jointly convex and
            least at p = q; so for q <= p it grows as p grows and as q falls, and the coins of p and q bound those of
            P(S) and Q(S) from below. Orders are tried in floats; the chosen rational order is evaluated in balls.
Source      Bun, Steinke, TCC 2016 (zCDP, post-processing); van Erven, Harremoes 2014 (Renyi divergence).
Checked     tests/audit/test_claims.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from dpcurator.errors import Refusal
from dpcurator.numbers import Enclosure, decimal_text, ln, positive
from dpcurator.numbers.arb import ball, precision
from dpcurator.numbers.enclosure import bracket
from dpcurator.numbers.rational import at_least_0, from_0_below_1
from dpcurator.numbers.readable import fraction_text, readable

if TYPE_CHECKING:
    from dpcurator.numbers.rational import Spelled

Least = Fraction | float  # math.inf where an event is impossible on one side and not on the other
ORDERS = tuple(1 + Fraction(2) ** power for power in range(-10, 14)) + tuple(Fraction(k, 2) for k in range(3, 41))


class Claim(Protocol):
    """What `audit` asks of a claim. All is exact but `scores`, whose floats choose and claim nothing."""

    measure: ClassVar[str]

    @property
    def parameter(self) -> Fraction:
        """epsilon, or rho."""

    def delta_at(self, eps: Spelled) -> Enclosure:
        """The largest that P(S) - e**eps Q(S) may be under the claim; for zCDP a bound of it. eps: at least 0."""

    def at_least(self, p: Fraction, q: Fraction) -> Least:
        """What the parameter cannot be below, if P(S) >= p and Q(S) <= q; 0 if nothing follows."""

    def contradicted(self, p: Fraction, q: Fraction) -> bool:
        """Do P(S) >= p and Q(S) <= q prove the claim false?"""

    def scores(self, p: Any, q: Any) -> Any:
        """`at_least` in floats for arrays of probabilities: for choosing."""

    def words(self) -> str:
        """The claim as a text such as "epsilon 1"."""

    def as_json(self) -> dict[str, str]:
        """The parameters as texts such as "3/2"."""


@dataclass(frozen=True, slots=True)
class Approximate:
    """A claim for dp.audit: the mechanism is (epsilon, delta)-DP.

    P(S) <= exp(epsilon) Q(S) + delta for every event S, P and Q being the distributions of the outcome on any two
    neighbours, either way round.

    Parameters:
        epsilon: number >= 0.
        delta: number in [0, 1).

    Raises Refusal if a parameter is out of its range.

    >>> from fractions import Fraction
    >>> import dpcurator as dp
    >>> claim = dp.Approximate(1, "1e-6")
    >>> claim.contradicted(Fraction(1, 2), Fraction(1, 10))  # do P(S) >= 1/2 and Q(S) <= 1/10 prove it false?
    True

    Source: Dwork, Kenthapadi, McSherry, Mironov, Naor 2006.
    """

    epsilon: Fraction
    delta: Fraction
    measure: ClassVar[str] = "epsilon"

    __repr__ = readable

    def __init__(self, epsilon: Spelled, delta: Spelled) -> None:
        object.__setattr__(self, "epsilon", at_least_0(epsilon, name="epsilon"))
        object.__setattr__(self, "delta", from_0_below_1(delta))

    @property
    def parameter(self) -> Fraction:
        return self.epsilon

    def delta_at(self, eps: Spelled) -> Enclosure:
        """delta from epsilon on. Below: P(S) - e**eps Q(S) with P(S) <= e**epsilon Q(S) + delta, and the same of the
        complement, is largest for the randomised response that the claim allows (Kairouz, Oh, Viswanath 2015).
        Raises Refusal for an eps below 0."""
        at = at_least_0(eps, name="eps")
        if at >= self.epsilon:
            return Enclosure.exactly(self.delta)
        with precision(192):
            top, wanted = ball(self.epsilon).exp(), ball(at).exp()
            found = bracket(ball(self.delta) + (1 - ball(self.delta)) * (top - wanted) / (1 + top))
        return Enclosure(max(found.lo, Fraction(0)), min(found.hi, Fraction(1)))

    def at_least(self, p: Fraction, q: Fraction) -> Least:
        """The least epsilon that probabilities p and q of one event leave, at this delta."""
        return _log_ratio(p - self.delta, q)

    def contradicted(self, p: Fraction, q: Fraction) -> bool:
        """Whether probabilities p and q of one event contradict the claim."""
        return self.at_least(p, q) > self.epsilon

    def scores(self, p: Any, q: Any) -> Any:
        """`at_least` in doubles for arrays of p and q, to find the worst event by."""
        import numpy as np

        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log(np.maximum(p - float(self.delta), 0.0) / np.maximum(q, 1e-300))

    def words(self) -> str:
        """The claim in words."""
        if self.delta == 0:
            return f"epsilon {decimal_text(self.epsilon)}"
        return f"epsilon {decimal_text(self.epsilon)} and delta {_delta_text(self.delta)}"

    def as_json(self) -> dict[str, str]:
        """The claim as JSON has it, numbers as exact texts."""
        return {"epsilon": str(self.epsilon), "delta": str(self.delta)}


@dataclass(frozen=True, slots=True)
class Pure(Approximate):
    """A claim for dp.audit: the mechanism is epsilon-DP (pure differential privacy).

    P(S) <= exp(epsilon) Q(S) for every event S, P and Q being the distributions of the outcome on any two neighbours,
    either way round.

    Parameters:
        epsilon: number >= 0.

    Raises Refusal if epsilon is out of its range.

    >>> from fractions import Fraction
    >>> import dpcurator as dp
    >>> round(float(dp.Pure(1).at_least(Fraction(1, 2), Fraction(1, 10))), 3)  # ln 5: epsilon is at least that
    1.609

    Source: Dwork, McSherry, Nissim, Smith 2006.
    """

    def __init__(self, epsilon: Spelled) -> None:
        Approximate.__init__(self, epsilon, 0)

    def __repr__(self) -> str:
        return f"Pure(epsilon={fraction_text(self.epsilon)})"


@dataclass(frozen=True, slots=True)
class Zcdp:
    """A claim for dp.audit: the mechanism is rho-zCDP (zero-concentrated differential privacy).

    D_a(P || Q) <= rho a for every order a > 1, P and Q being the distributions of the outcome on any two neighbours,
    either way round, and D_a the Renyi divergence.

    Parameters:
        rho: number > 0.

    Raises Refusal if rho is out of its range.

    >>> from fractions import Fraction
    >>> import dpcurator as dp
    >>> claim = dp.Zcdp("0.5")
    >>> claim.contradicted(Fraction(99, 100), Fraction(1, 10))  # do P(S) >= 0.99 and Q(S) <= 0.1 prove it false?
    True

    Source: Bun, Steinke 2016.
    """

    rho: Fraction
    measure: ClassVar[str] = "rho"

    __repr__ = readable

    def __init__(self, rho: Spelled) -> None:
        object.__setattr__(self, "rho", positive(rho, name="rho"))

    @property
    def parameter(self) -> Fraction:
        return self.rho

    def delta_at(self, eps: Spelled) -> Enclosure:
        """From 0 to what rho-zCDP implies (privacy/zcdp.py): no more is known of the largest.

        Raises Refusal for an eps below 0.
        """
        from dpcurator.privacy.zcdp import delta_of

        return Enclosure(Fraction(0), delta_of(self.rho, at_least_0(eps, name="eps")))

    def at_least(self, p: Fraction, q: Fraction) -> Least:
        """The greatest, over orders a, of the divergence of the two coins divided by a."""
        if p <= q:
            return Fraction(0)
        if q <= 0 or p >= 1:
            return math.inf
        best = max(ORDERS, key=lambda order: _coins_float(float(p), float(q), float(order)))
        return max(_coins(p, q, best), _coins(q, p, best), Fraction(0))

    def contradicted(self, p: Fraction, q: Fraction) -> bool:
        """Whether probabilities p and q of one event contradict the claim."""
        return self.at_least(p, q) > self.rho

    def scores(self, p: Any, q: Any) -> Any:
        """`at_least` in doubles for arrays of p and q, to find the worst event by."""
        import numpy as np

        p, q = np.clip(p, 1e-300, 1 - 1e-16), np.clip(q, 1e-300, 1 - 1e-16)
        best = np.zeros(np.broadcast(p, q).shape)
        with np.errstate(over="ignore", invalid="ignore"):
            for order in (1.01, 1.1, 1.5, 2.0, 3.0, 5.0, 9.0, 17.0, 65.0):
                hit = order * np.log(p) + (1 - order) * np.log(q)
                rest = order * np.log1p(-p) + (1 - order) * np.log1p(-q)
                best = np.maximum(best, np.logaddexp(hit, rest) / ((order - 1) * order))
        return np.where(p > q, best, 0.0)

    def words(self) -> str:
        """The claim in words."""
        return f"rho {decimal_text(self.rho)}"

    def as_json(self) -> dict[str, str]:
        """The claim as JSON has it, numbers as exact texts."""
        return {"rho": str(self.rho)}


def claim_of(loss: Any) -> Claim | None:
    """The claim that a Loss makes (privacy/loss.py): its pure epsilon, its epsilon and delta, or its rho; else None."""
    if loss is None:
        return None
    given: Mapping[str, Fraction] = loss.given
    if loss.family == "approximate":
        return Approximate(given["epsilon"], given["delta"])
    for verb, made in (("pure_epsilon", Pure), ("rho", Zcdp)):
        try:
            return made(getattr(loss, verb)())
        except Refusal:
            continue
    return None


def _log_ratio(p: Fraction, q: Fraction) -> Least:
    """ln(p/q), rounded down; 0 where it is below."""
    if p <= 0 or p <= q:
        return Fraction(0)
    return math.inf if q <= 0 else ln(p / q).lo


def _coins(p: Fraction, q: Fraction, order: Fraction) -> Fraction:
    """D_order of a coin of probability p from one of q, over the order; rounded down. p, q in (0, 1)."""
    with precision(256):
        a = ball(order)
        hit = a * ball(p).log() + (1 - a) * ball(q).log()
        miss = a * ball(1 - p).log() + (1 - a) * ball(1 - q).log()
        found: Fraction = bracket((hit.exp() + miss.exp()).log() / ((a - 1) * a)).lo
    return found


def _coins_float(p: float, q: float, order: float) -> float:
    hit = order * math.log(max(p, 1e-300)) + (1 - order) * math.log(max(q, 1e-300))
    miss = order * math.log1p(-min(p, 1 - 1e-16)) + (1 - order) * math.log1p(-min(q, 1 - 1e-16))
    top = max(hit, miss)
    return (top + math.log(math.exp(hit - top) + math.exp(miss - top))) / ((order - 1) * order)


def _delta_text(delta: Fraction) -> str:
    return f"{float(delta):.6g}"
