"""exp, ln and power in SQL: the operations of `language/elementary.py`, one for one, for the same bits.

Two library functions are used where their last bits cannot matter: `pow(2, k)` of whole k, a power of two, and log2 as
a first guess of an exponent, put right by comparisons. Checked in tests/engines/test_vectors.py.
"""

from __future__ import annotations

import math

from dpcurator.engines.levels import Levels, Term
from dpcurator.language.elementary import (
    EXP,
    INVERSE_LN2,
    LEAST,
    LN,
    LN2_HIGH,
    LN2_LOW,
    MOST,
    SMALLEST_NORMAL,
    SQRT2,
    WHOLE,
)

LARGEST = math.nextafter(math.inf, 0)
TINY = 5e-324


def exponential(levels: Levels, part: Term) -> Term:
    """e**x; infinite where it overflows."""
    let, double, words = levels.let, levels.double, levels.parameters.words
    given = part
    x = let("least(greatest({}, {}), {})", given, double(LEAST), double(MOST))
    k = let(words.floor.format("{0} * {1} + {2}"), x, double(INVERSE_LN2), double(0.5))
    high = let("{} - {} * {}", x, k, double(LN2_HIGH))
    low = let("{} * {}", k, double(LN2_LOW))
    r = let("{} - {}", high, low)
    t = let("{0} * {0}", r)
    c = let("{} - {}", r, _polynomial(levels, t, EXP))
    y = let("{1} - (({2} - ({3} * {4}) / ({5} - {4})) - {0})", high, double(1.0), low, r, c, double(2.0))
    half = let(words.floor.format("{0} / {1}"), k, double(2.0))
    two = double(2.0)
    return let("CASE WHEN {0} IS NOT NULL THEN ({1} * pow({2}, {3})) * pow({2}, {4} - {3}) END", given, y, two, half, k)


def logarithm(levels: Levels, part: Term) -> Term:
    """ln x; missing where x is not above 0."""
    let, double, words = levels.let, levels.double, levels.parameters.words
    given = part
    x = let("least(greatest({}, {}), {})", given, double(TINY), double(LARGEST))
    small = levels.inline("{} < {}", x, double(SMALLEST_NORMAL))
    normal = let("CASE WHEN {0} THEN {1} * {2} ELSE {1} END", small, x, double(2.0**54))
    guess = let(words.floor.format("log2({0})"), normal)  # right to within one
    near = let("{} * pow({}, -{})", normal, double(2.0), guess)
    more = let(
        "CASE WHEN {0} >= {1} THEN {4} WHEN {0} >= {2} THEN {5} WHEN {0} < {3} THEN -{5} ELSE {6} END",
        near, *(double(value) for value in (2 * SQRT2, SQRT2, SQRT2 / 2, 2.0, 1.0, 0.0)),
    )
    m = let("{} * pow({}, -{})", near, double(2.0), more)
    k = let("{} + {} - CASE WHEN {} THEN {} ELSE {} END", guess, more, small, double(54.0), double(0.0))
    f = let("{} - {}", m, double(1.0))
    s = let("{0} / ({1} + {0})", f, double(2.0))
    z = let("{0} * {0}", s)
    r = let("{}", _polynomial(levels, z, LN))
    half = let("{0} * {1} * {1}", double(0.5), f)
    result = let("{0} * {1} - (({2} - ({3} * ({2} + {4}) + {0} * {5})) - {6})", k, double(LN2_HIGH), half, s, r,
                 double(LN2_LOW), f)
    return let(f"CASE WHEN {words.infinite} AND {{0}} > {{1}} THEN {{0}} WHEN {{0}} > {{1}} THEN {{2}} END", given,
               double(0.0), result)


def power(levels: Levels, base: Term, exponent: Term) -> Term:
    """a**b; infinite where it overflows, missing where it is no real number."""
    let, double, words = levels.let, levels.double, levels.parameters.words
    a, b = base, exponent
    zero, one, most = double(0.0), double(1.0), double(float(WHOLE))
    n = let(words.whole.format("least(abs({0}), {1})"), b, most)
    square, x = a, one
    for bit in range(WHOLE.bit_length()):
        x = let(f"{{0}} * CASE WHEN {{1}} & {1 << bit} <> 0 THEN {{2}} ELSE {{3}} END", x, n, square, one)
        square = let("{0} * {0}", square)
    general = let("{} * {}", b, logarithm(levels, a))
    raised = exponential(levels, let("CASE WHEN NOT isnan({0}) THEN {0} END", general))
    return let(
        f"CASE WHEN {{0}} IS NOT NULL AND abs({{1}}) <= {{3}} AND {words.floor.format('{1}')} = {{1}}"
        " THEN CASE WHEN {1} >= {4} THEN {2} WHEN {2} <> {4} THEN {5} / {2} END"
        " WHEN {0} > {4} THEN {6} WHEN {0} = {4} AND {1} > {4} THEN {4} END",
        a, b, x, most, zero, one, raised,
    )


def _polynomial(levels: Levels, t: Term, coefficients: tuple[float, ...]) -> Term:
    """t (c0 + t (c1 + ...)) in that order, as text over the column t."""
    text = "{0} * {" + str(len(coefficients)) + "}"
    for number in range(len(coefficients) - 1, 0, -1):
        text = f"{{0}} * ({{{number}}} + {text})"
    return levels.inline(text, t, *(levels.double(value) for value in coefficients))
