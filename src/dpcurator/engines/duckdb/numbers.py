"""Functions of numbers in DuckDB's SQL, as `language/evaluate.py` has them, and COALESCE, LEAST, CLIP.

Right because integers are computed in 128 bits, which hold every sum and product of two 64-bit numbers, and come back
by TRY_CAST. Doubles are IEEE operations on operands inside the domain, and what overflowed is then missing. exp, ln and
power are the operations of `language/elementary.py` in its order. Checked in tests/engines (vectors, conformance,
levels).
"""

from __future__ import annotations

from typing import Final

from dpcurator.catalog.model import Kind, Value
from dpcurator.engines.duckdb.levels import integer
from dpcurator.engines.elementary import exponential, logarithm, power
from dpcurator.engines.levels import Levels, Term, Write, int_of, plain


def _wide(template: str) -> Write:
    """An integer computed in 128 bits."""

    def write(levels: Levels, parts: tuple[Term, ...], _: tuple[Value, ...]) -> Term:
        return levels.let(f"TRY_CAST({template} AS BIGINT)", *(_hugeint(levels, part) for part in parts))

    return write


def _hugeint(levels: Levels, part: Term) -> Term:
    return levels.inline("CAST({} AS HUGEINT)", part)


def _finite(template: str) -> Write:
    """A double, missing where it is NaN, or infinite although every part is finite."""

    def write(levels: Levels, parts: tuple[Term, ...], _: tuple[Value, ...]) -> Term:
        return finite(levels, levels.let(template, *parts), parts)

    return write


def finite(levels: Levels, found: Term, parts: tuple[Term, ...]) -> Term:
    infinite = " OR ".join(f"isinf({{{number + 1}}})" for number in range(len(parts)))
    return levels.let(f"CASE WHEN isfinite({{0}}) OR (isinf({{0}}) AND ({infinite})) THEN {{0}} END", found, *parts)


def _many(name: str) -> Write:
    """DuckDB's coalesce, least and greatest pass over missing parts."""
    return lambda levels, parts, _: levels.let(f"{name}({', '.join(['{}'] * len(parts))})", *parts)


def _whole(template: str) -> Write:
    """An integer from a double; missing outside 64 bits."""
    return plain(f"TRY_CAST({template} AS BIGINT)")


def _remainder_integer(levels: Levels, parts: tuple[Term, ...], _: tuple[Value, ...]) -> Term:
    divisor = levels.let("CASE WHEN {0} <> 0 THEN CAST({0} AS HUGEINT) END", parts[1])
    return levels.let("CAST(CAST({} AS HUGEINT) % {} AS BIGINT)", parts[0], divisor)


def _floor_division(levels: Levels, parts: tuple[Term, ...], literals: tuple[Value, ...]) -> Term:
    """Division truncates, so a negative a is -1 - (-1 - a): the part taken to n is never below 0 nor past 64 bits."""
    n = Term(integer(int_of(literals[0]), "BIGINT"))
    a = parts[0]
    return levels.let("CASE WHEN {0} >= 0 THEN {0} // {1} ELSE -1 - (-1 - least({0}, -1)) // {1} END"
                      " + CASE WHEN {0} IS NOT NULL THEN 0::BIGINT END", a, n)


def _round_integer(levels: Levels, parts: tuple[Term, ...], literals: tuple[Value, ...]) -> Term:
    step, half = (
        Term(integer(value, "HUGEINT")) for value in (10 ** int_of(literals[0]), 10 ** int_of(literals[0]) // 2)
    )
    a = levels.let("CAST({} AS HUGEINT)", parts[0])
    return levels.let("TRY_CAST(sign({0}) * ((abs({0}) + {1}) // {2} * {2}) AS BIGINT)", a, half, step)


def _quotient(levels: Levels, parts: tuple[Term, ...], _: tuple[Value, ...]) -> Term:
    b = levels.let("CASE WHEN {0} <> {1} THEN {0} END", parts[1], levels.double(0.0))
    return finite(levels, levels.let("{} / {}", parts[0], b), (parts[0], b))


def _remainder_double(levels: Levels, parts: tuple[Term, ...], _: tuple[Value, ...]) -> Term:
    zero = levels.double(0.0)
    a = levels.let("CASE WHEN isfinite({0}) THEN {0} END", parts[0])
    b = levels.let("CASE WHEN {0} <> {1} THEN {0} END", parts[1], zero)
    return levels.let("{} % {}", a, b)


def _root(levels: Levels, parts: tuple[Term, ...], _: tuple[Value, ...]) -> Term:
    a = parts[0]
    return levels.let("CASE WHEN {0} >= {1} THEN sqrt(greatest({0}, {1})) END", a, levels.double(0.0))


def _nearest(levels: Levels, parts: tuple[Term, ...], _: tuple[Value, ...]) -> Term:
    size = levels.let("abs({})", parts[0])
    down = levels.let("floor({})", size)
    one, zero, half = (levels.double(value) for value in (1.0, 0.0, 0.5))
    up = levels.let("{0} + CASE WHEN {1} - {0} >= {2} THEN {3} ELSE {4} END", down, size, half, one, zero)
    return levels.let("TRY_CAST(CASE WHEN {0} < {2} THEN -{1} ELSE {1} END AS BIGINT)", parts[0], up, zero)


def _round_double(levels: Levels, parts: tuple[Term, ...], literals: tuple[Value, ...]) -> Term:
    ten, half, most, zero = (levels.double(value) for value in (10.0 ** int_of(literals[0]), 0.5, 2.0**52, 0.0))
    a = parts[0]
    scaled = levels.let("abs({}) * {}", a, ten)
    near = levels.let("floor({} + {}) / {}", scaled, half, ten)
    signed = "CASE WHEN {0} >= {1} THEN {2} WHEN {2} < {3} THEN -{4} ELSE {4} END"
    return levels.let(signed, scaled, most, a, zero, near)


def _clip(levels: Levels, parts: tuple[Term, ...], literals: tuple[Value, ...]) -> Term:
    kind: Kind = "text" if isinstance(literals[0], str) else "float" if isinstance(literals[0], float) else "integer"
    lower, upper = (levels.constant(literal, kind) for literal in literals)
    a = parts[0]
    return levels.let("CASE WHEN {0} < {1} THEN {1} WHEN {0} > {2} THEN {2} ELSE {0} END", a, lower, upper)


NUMBERS: Final[dict[str, Write]] = {
    "add_i": _wide("{} + {}"),
    "sub_i": _wide("{} - {}"),
    "mul_i": _wide("{} * {}"),
    "mod_i": _remainder_integer,
    "neg_i": _wide("-{}"),
    "abs_i": _wide("abs({})"),
    "sign_i": plain("CAST(sign({}) AS BIGINT)"),
    "floordiv_i": _floor_division,
    "round_i": _round_integer,
    "add_f": _finite("{} + {}"),
    "sub_f": _finite("{} - {}"),
    "mul_f": _finite("{} * {}"),
    "div_f": _quotient,
    "mod_f": _remainder_double,
    "neg_f": plain("(-{})"),
    "abs_f": plain("abs({})"),
    "sign_f": plain("CAST(sign({}) AS BIGINT)"),
    "sqrt": _root,
    "exp": lambda levels, parts, _: finite(levels, exponential(levels, parts[0]), parts),
    "ln": lambda levels, parts, _: logarithm(levels, parts[0]),
    "power": lambda levels, parts, _: finite(levels, power(levels, parts[0], parts[1]), parts),
    "floor": _whole("floor({})"),
    "ceil": _whole("ceil({})"),
    "round": _nearest,
    "round_f": _round_double,
    "to_f": plain("CAST({} AS DOUBLE)"),
    "coalesce": _many("coalesce"),
    "least": _many("least"),
    "greatest": _many("greatest"),
    "clip": _clip,
}
