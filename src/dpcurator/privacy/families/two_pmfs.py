"""Two probability mass functions on the same outcomes: P on one table and Q on its neighbour.

Definition  Outcome i has the chances p_i under P and q_i under Q. What the p add up to less than 1 is of an outcome
            that Q never has, and the other way round. The neighbours exchanged have the pair exchanged.
Promise     Exact: losses are ln(p_i/q_i), and compared with any rational in balls until it is decided. Lists of which
            each number is at most the true chance dominate the truth: from an outcome of the listed pair make the same
            one, and from what is left of P or Q draw from what each lacks of the true one.
Proof       families/finite.py. e**x is no rational for a rational x that is not 0 (Lindemann), so every comparison
            ends; outcomes of one ratio are one outcome, as the ratio is all that a test needs (Neyman, Pearson).
Checked     tests/privacy/test_own.py.
"""

from __future__ import annotations

import math
from fractions import Fraction

from dpcurator.errors import Refusal
from dpcurator.numbers import Enclosure
from dpcurator.numbers.arb import ball, precision
from dpcurator.numbers.enclosure import bracket
from dpcurator.numbers.rational import from_0_to_1
from dpcurator.privacy.families.family import Given, Named, Pair, Tails
from dpcurator.privacy.families.finite import Finite, family, few_enough, numbered, series

_LONG = 10**4  # bits of a common denominator


def _together(given: Given) -> None:
    p, q = series(given, "p"), series(given, "q")
    if len(p) != len(q):
        raise Refusal(
            f"There are {len(p)} probabilities under P and {len(q)} under Q.",
            cure="Give one for each outcome in both, or 0.",
        )
    few_enough(len(p))
    for name, chances in (("p", p), ("q", q)):
        if math.lcm(*(chance.denominator for chance in chances)).bit_length() > _LONG:
            what = f"The probabilities {name} have no common denominator of {_LONG} bits."
            raise Refusal(what, cure="Round them down.")
        if sum(chances) > 1:
            raise Refusal(f"The probabilities {name} add up to {float(sum(chances)):.12g}, more than 1.",
                          cure="Give probabilities.")  # fmt: skip


def _reduced(given: Given) -> list[tuple[Fraction, Fraction]]:
    """(p, q), equal ratios together, the highest ratio first, without outcomes that either never has."""
    at: dict[Fraction, tuple[Fraction, Fraction]] = {}
    for p, q in zip(series(given, "p"), series(given, "q"), strict=True):
        if p and q:
            before = at.get(p / q, (Fraction(0), Fraction(0)))
            at[p / q] = before[0] + p, before[1] + q
    return [at[ratio] for ratio in sorted(at, reverse=True)]


def _make(given: Given) -> Finite:
    found = _reduced(given)

    def above(i: int, x: Fraction) -> bool:
        p, q = found[i]
        if x == 0:
            return p > q
        bits = 96
        while True:
            with precision(bits):
                gap = ball(p) - ball(x).exp() * ball(q)
                if gap > 0:
                    return True
                if gap < 0:
                    return False
            bits *= 2

    def rows() -> list[Tails]:
        return [(ball(p), ball(q)) for p, q in found]

    return Finite([_loss(p / q) for p, q in found], above, rows, 1 - sum((p for p, _ in found), Fraction(0)))


def _loss(ratio: Fraction) -> Fraction | Enclosure:
    if ratio == 1:
        return Fraction(0)
    bits = 160
    while True:
        with precision(bits):
            found = bracket(ball(ratio).log())
        if found.width * 2**120 < 1 and (found.lo > 0 or found.hi < 0):
            return found
        bits *= 2


def _simplest(given: Given) -> Named | None:
    found = _reduced(given)
    if len(found) == 1 and found[0][0] == found[0][1] == 1:
        return None
    if not found:  # nothing in common
        return "two_pmfs", {"p0": Fraction(0), "q0": Fraction(0)}
    return "two_pmfs", numbered("p", [p for p, _ in found]) | numbered("q", [q for _, q in found])


def _reverse(given: Given) -> Named:
    return "two_pmfs", {("q" if name[0] == "p" else "p") + name[1:]: value for name, value in given.items()}


FAMILY = family(
    ranges={"p*": from_0_to_1, "q*": from_0_to_1},
    together=_together,
    make=_make,
    pair=lambda given: Pair(
        "P", "Q", f"the chances of {len(series(given, 'p'))} outcomes as they are given; or the same two exchanged"
    ),
    reverse=_reverse,
    simplest=_simplest,
    attained=None,
    lattice=lambda found: None,
)
