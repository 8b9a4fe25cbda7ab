"""Releases of which only Renyi divergences are known: zero-concentrated ones, and a curve of one's own.

Definition  "zcdp": the divergence of every order a > 1, both ways, is at most xi + a rho. "renyi": at each of the
            orders that are given it is at most the divergence beside it.
Promise     zcdp: rho is xi + rho, as xi + a rho <= a (xi + rho); a group of k has k**2 of that. renyi: between orders
            (a-1) D_a is at most the chord, from (1, 0) on; beyond the last order nothing is known, and it is refused.
Proof       (a-1) D_a is convex in a, being the logarithm of a moment, and tends to 0 at a = 1 where some divergence is
            finite. Groups: Bun, Steinke 2016, proposition 1.9, of rho-zCDP.
Source      Bun, Steinke 2016 (arXiv 1605.02065); Mironov 2017 (arXiv 1702.07476); van Erven, Harremoes
            2014 (convexity).
Checked     tests/privacy/test_own.py.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from dpcurator.errors import Refusal
from dpcurator.numbers import Enclosure, decimal_text
from dpcurator.numbers.rational import at_least_0
from dpcurator.privacy.families.family import Family, Given, Named, Pair, order
from dpcurator.privacy.families.finite import series

_MOST = 2000  # orders


def _rho(given: Given) -> Fraction:
    return given["xi"] + given["rho"]


def _check_order(value: object, *, name: str) -> object:
    return order(value)


def _together(given: Given) -> None:
    orders, divergences = series(given, "order"), series(given, "divergence")
    if len(orders) != len(divergences):
        raise Refusal(
            f"There are {len(orders)} orders and {len(divergences)} divergences.", cure="Give one for each order."
        )
    if len(orders) > _MOST:
        raise Refusal(f"A curve has at most {_MOST:,} orders.", cure="Leave some out: what is left holds too.")
    if any(one >= other for one, other in pairwise(orders)):
        raise Refusal("The orders do not rise.", cure="Give the least order first, and each once.")


def _renyi(given: Given, alpha: Fraction) -> Enclosure:
    """Of a pair that is not known from 0 up to the chord. Raises Refusal beyond the last order."""
    left, below = Fraction(1), Fraction(0)
    for at, divergence in zip(series(given, "order"), series(given, "divergence"), strict=True):
        above = (at - 1) * divergence
        if alpha <= at:
            most = below + (above - below) * (alpha - left) / (at - left)
            return Enclosure(Fraction(0), most / (alpha - 1))
        left, below = at, above
    raise Refusal(f"Nothing is known beyond order {decimal_text(left)}.", cure="Ask at a smaller order, or give more.")


def _simplest(given: Given) -> Named | None:
    return None if not any(series(given, "divergence")) else ("renyi", given)


def _no_group(given: Given, k: int) -> Named:
    raise Refusal("Of a group a curve of divergences says little.", cure="Give the curve for the group.")


def _family(**facts: object) -> Family:
    nothing = dict.fromkeys(
        ("pure_epsilon", "delta", "backward", "reach", "law", "reverse", "sample", "neighbours", "attained", "apart",
         "mu_squared", "interval", "tradeoff", "lattice", "float_tails", "tails_on_grid", "moments", "points"),
    )  # fmt: skip
    return Family(**(nothing | facts))  # type: ignore[arg-type]


ZCDP = _family(
    ranges={"rho": at_least_0, "xi": at_least_0},
    pair=lambda given: Pair(
        "P", "Q", f"of Renyi divergences up to {decimal_text(given['xi'])} + {decimal_text(given['rho'])} a of order a"
    ),
    group=lambda given, k: ("zcdp", {"rho": k * k * _rho(given), "xi": Fraction(0)}),
    spellings={"zcdp": {("rho", "xi?"): lambda given: {"xi": Fraction(0), **given}}},
    rho=_rho,
    renyi=lambda given, alpha: Enclosure(Fraction(0), given["xi"] + alpha * given["rho"]),
    kl=lambda given: Enclosure(Fraction(0), _rho(given)),
    together=None,
    simplest=lambda given: ("zcdp", given) if _rho(given) else None,
)
RENYI = _family(
    ranges={"order*": _check_order, "divergence*": at_least_0},
    pair=lambda given: Pair("P", "Q", f"of the Renyi divergences given at {len(series(given, 'order'))} orders"),
    group=_no_group,
    spellings={},
    rho=None,
    renyi=_renyi,
    kl=None,
    together=_together,
    simplest=_simplest,
)
