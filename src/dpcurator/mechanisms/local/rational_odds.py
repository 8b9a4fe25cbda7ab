"""How much likelier a true report may be than another, for an epsilon: a short rational just below e**epsilon.

Definition  odds(epsilon) = R, a dyadic rational.
Promise     R < e**epsilon, and R - 1 is within a factor 1 - 2**-64 of e**epsilon - 1. So the least epsilon of
            probabilities in the ratio R, read as ln R and rounded up, is at most the epsilon asked for.
Proof       Let the steps be 2**-j, 2**-67 (e**epsilon - 1) < 2**-j <= 2**-66 (e**epsilon - 1). R is the floor of
            (a bracket below) e**epsilon in steps, less one step: at most two steps and 2**-200 under e**epsilon, and
            at least one step. From there ln R <= epsilon - 2**-j / e**epsilon <= epsilon - 2**-67 (1 - e**-epsilon),
            and for epsilon >= 2**-40 that leaves 2**-108, more than the 2**-120 by which ln is rounded up.
            Past 1024, R is that of 1024: more private than asked.
Checked     tests/mechanisms/test_rational_odds.py.
"""

from __future__ import annotations

import math
from fractions import Fraction

from dpcurator.errors import Refusal
from dpcurator.numbers import exp_neg, positive

LEAST = Fraction(1, 2**40)
MOST = Fraction(1024)


def epsilon_of(value: object) -> Fraction:
    """The epsilon of one report or answer as an exact rational of at least 2**-40. Raises Refusal for any other."""
    epsilon = positive(value, name="epsilon")
    if epsilon < LEAST:
        raise Refusal(
            "epsilon is below 2**-40, about 9.1e-13: an answer at so small an epsilon says nothing.",
            cure="Write epsilon as in 0.5.",
        )
    return epsilon


def odds(epsilon: Fraction) -> Fraction:
    """R, above 1. epsilon: Fraction >= 2**-41."""
    below = 1 / exp_neg(min(epsilon, MOST), 256).hi
    steps = 66 - _power(below - 1)
    return Fraction(math.floor(below * Fraction(2) ** steps) - 1) / Fraction(2) ** steps


def _power(value: Fraction) -> int:
    """The whole f with 2**f <= value < 2**(f+1). value: Fraction > 0."""
    guess = value.numerator.bit_length() - value.denominator.bit_length()
    return guess if Fraction(2) ** guess <= value else guess - 1
