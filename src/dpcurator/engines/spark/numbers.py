"""Functions of numbers in Spark's SQL, as `language/evaluate.py` has them, and COALESCE, LEAST, CLIP.

Right because integers are computed in DECIMAL(38,0), which holds every sum and product of two 64-bit numbers, and come
back where they fit. Doubles are IEEE operations on operands inside the domain (Java's), no divisor is 0, and what
overflowed is then missing. exp, ln and power are the operations of `language/elementary.py` in its order. Checked in
tests/engines (vectors, conformance, levels).
"""

from __future__ import annotations

from typing import Final

from dpcurator.catalog.model import Kind, Value
from dpcurator.engines.elementary import exponential, logarithm, power
from dpcurator.engines.levels import Levels, Term, Write, int_of, plain
from dpcurator.engines.spark.constants import FLOOR, INFINITY, WIDE, WORDS, integer, narrow


def _wide(template: str) -> Write:
    """An integer computed in DECIMAL(38,0)."""

    def write(levels: Levels, parts: tuple[Term, ...], _: tuple[Value, ...]) -> Term:
        widened = (levels.inline(f"CAST({{}} AS {WIDE})", part) for part in parts)
        return narrow(levels, levels.inline(template, *widened))

    return write


def _finite(template: str) -> Write:
    """A double, missing where it is NaN, or infinite although every part is finite."""

    def write(levels: Levels, parts: tuple[Term, ...], _: tuple[Value, ...]) -> Term:
        return finite(levels, levels.let(template, *parts), parts)

    return write


def finite(levels: Levels, found: Term, parts: tuple[Term, ...]) -> Term:
    """NaN is above every number here, infinity too."""
    infinite = " OR ".join(WORDS.infinite.format(f"{{{number + 1}}}") for number in range(len(parts)))
    template = f"CASE WHEN abs({{0}}) < {INFINITY} OR ({WORDS.infinite} AND ({infinite})) THEN {{0}} END"
    return levels.let(template, found, *parts)


def _many(name: str) -> Write:
    """Spark's coalesce, least and greatest pass over missing parts; of one part they are that part."""

    def write(levels: Levels, parts: tuple[Term, ...], _: tuple[Value, ...]) -> Term:
        return levels.let(f"{name}({', '.join(['{}'] * len(parts))})", *parts) if len(parts) > 1 else parts[0]

    return write


def whole(levels: Levels, found: Term) -> Term:
    """A whole double as an integer; missing outside 64 bits, of which 2**63 is the first. NaN is above it."""
    ends = (levels.double(end) for end in (-(2.0**63), 2.0**63))
    return levels.let("CAST(CASE WHEN {0} >= {1} AND {0} < {2} THEN {0} END AS BIGINT)", found, *ends)


def _floor(levels: Levels, parts: tuple[Term, ...], _: tuple[Value, ...]) -> Term:
    return whole(levels, levels.let(FLOOR, parts[0]))


def _ceil(levels: Levels, parts: tuple[Term, ...], _: tuple[Value, ...]) -> Term:
    """-floor(-a)."""
    return whole(levels, levels.let("-{}", levels.let(FLOOR, levels.let("-{}", parts[0]))))


def _remainder_integer(levels: Levels, parts: tuple[Term, ...], _: tuple[Value, ...]) -> Term:
    return levels.let("{} % {}", parts[0], levels.let("CASE WHEN {0} <> 0 THEN {0} END", parts[1]))


def _floor_division(levels: Levels, parts: tuple[Term, ...], literals: tuple[Value, ...]) -> Term:
    """Division truncates, so a negative a is -1 - (-1 - a): -1 - a is within 64 bits whatever a is."""
    n = Term(integer(int_of(literals[0])))
    return levels.let("CASE WHEN {0} >= 0 THEN {0} div {1} WHEN {0} < 0 THEN -1 - (-1 - {0}) div {1} END", parts[0], n)


def _round_integer(levels: Levels, parts: tuple[Term, ...], literals: tuple[Value, ...]) -> Term:
    step, half = (Term(integer(value, WIDE)) for value in (10 ** int_of(literals[0]), 10 ** int_of(literals[0]) // 2))
    up = levels.let(f"abs(CAST({{}} AS {WIDE})) + {{}}", parts[0], half)
    size = levels.let("{0} - {0} % {1}", up, step)
    return narrow(levels, levels.let("CASE WHEN {0} < 0 THEN -{1} ELSE {1} END", parts[0], size))


def _sign(levels: Levels, parts: tuple[Term, ...], _: tuple[Value, ...]) -> Term:
    return levels.let("CASE WHEN {0} > 0 THEN 1L WHEN {0} < 0 THEN -1L WHEN {0} = 0 THEN 0L END", parts[0])


def _quotient(levels: Levels, parts: tuple[Term, ...], _: tuple[Value, ...]) -> Term:
    b = levels.let("CASE WHEN {0} <> {1} THEN {0} END", parts[1], levels.double(0.0))
    return finite(levels, levels.let("{} / {}", parts[0], b), (parts[0], b))


def _remainder_double(levels: Levels, parts: tuple[Term, ...], _: tuple[Value, ...]) -> Term:
    a = levels.let(f"CASE WHEN abs({{0}}) < {INFINITY} THEN {{0}} END", parts[0])
    b = levels.let("CASE WHEN {0} <> {1} THEN {0} END", parts[1], levels.double(0.0))
    return levels.let("{} % {}", a, b)


def _root(levels: Levels, parts: tuple[Term, ...], _: tuple[Value, ...]) -> Term:
    return levels.let("CASE WHEN {0} >= {1} THEN sqrt(greatest({0}, {1})) END", parts[0], levels.double(0.0))


def _nearest(levels: Levels, parts: tuple[Term, ...], _: tuple[Value, ...]) -> Term:
    size = levels.let("abs({})", parts[0])
    down = levels.let(FLOOR, size)
    one, zero, half = (levels.double(value) for value in (1.0, 0.0, 0.5))
    up = levels.let("{0} + CASE WHEN {1} - {0} >= {2} THEN {3} ELSE {4} END", down, size, half, one, zero)
    return whole(levels, levels.let("CASE WHEN {0} < {2} THEN -{1} ELSE {1} END", parts[0], up, zero))


def _round_double(levels: Levels, parts: tuple[Term, ...], literals: tuple[Value, ...]) -> Term:
    ten, half, most, zero = (levels.double(value) for value in (10.0 ** int_of(literals[0]), 0.5, 2.0**52, 0.0))
    a = parts[0]
    scaled = levels.let("abs({}) * {}", a, ten)
    near = levels.let("{} / {}", levels.let(FLOOR, levels.let("{} + {}", scaled, half)), ten)
    signed = "CASE WHEN {0} >= {1} THEN {2} WHEN {2} < {3} THEN -{4} ELSE {4} END"
    return levels.let(signed, scaled, most, a, zero, near)


def _clip(levels: Levels, parts: tuple[Term, ...], literals: tuple[Value, ...]) -> Term:
    kind: Kind = "text" if isinstance(literals[0], str) else "float" if isinstance(literals[0], float) else "integer"
    lower, upper = (levels.constant(literal, kind) for literal in literals)
    return levels.let("CASE WHEN {0} < {1} THEN {1} WHEN {0} > {2} THEN {2} ELSE {0} END", parts[0], lower, upper)


NUMBERS: Final[dict[str, Write]] = {
    "add_i": _wide("{} + {}"),
    "sub_i": _wide("{} - {}"),
    "mul_i": _wide("{} * {}"),
    "mod_i": _remainder_integer,
    "neg_i": _wide("-{}"),
    "abs_i": _wide("abs({})"),
    "sign_i": _sign,
    "floordiv_i": _floor_division,
    "round_i": _round_integer,
    "add_f": _finite("{} + {}"),
    "sub_f": _finite("{} - {}"),
    "mul_f": _finite("{} * {}"),
    "div_f": _quotient,
    "mod_f": _remainder_double,
    "neg_f": plain("(-{})"),
    "abs_f": plain("abs({})"),
    "sign_f": _sign,
    "sqrt": _root,
    "exp": lambda levels, parts, _: finite(levels, exponential(levels, parts[0]), parts),
    "ln": lambda levels, parts, _: logarithm(levels, parts[0]),
    "power": lambda levels, parts, _: finite(levels, power(levels, parts[0], parts[1]), parts),
    "floor": _floor,
    "ceil": _ceil,
    "round": _nearest,
    "round_f": _round_double,
    "to_f": plain("CAST({} AS DOUBLE)"),
    "coalesce": _many("coalesce"),
    "least": _many("least"),
    "greatest": _many("greatest"),
    "clip": _clip,
}
