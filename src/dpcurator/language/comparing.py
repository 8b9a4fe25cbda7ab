"""Comparisons of typed values: each as a predicate that means the same for every row.

Compared are values of one family (numbers, texts, dates, timestamps, booleans, uuids). A literal becomes the other
side's physical value exactly: an integer against 65.5 is compared with a whole number that means the same for every
integer; a float with the double nearest to the literal. Checked in tests/language/test_predicates.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from dpcurator.errors import Mend, Refusal
from dpcurator.language import rows
from dpcurator.language.literals import mismatch, physical
from dpcurator.language.patterns import ends_in_escape
from dpcurator.language.question import Literally
from dpcurator.language.typed import NUMERIC, Typed, compute, kind_of, own_type, plain_text, text
from dpcurator.numbers.rational import INT64

_SWAPPED: Final[dict[rows.Comparison, rows.Comparison]] = {
    "=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<=",
}


def compare(op: rows.Comparison, left: Typed, right: Typed) -> rows.Predicate:
    """`left op right`; unknown when either is missing. Raises Refusal."""
    if "null" in (left.type, right.type):
        return rows.Truth(None)
    if left.literal is not None and right.literal is not None:
        return _constant(op, left, right)
    if left.literal is not None:
        return _with_literal(_SWAPPED[op], right, left.literal)
    if right.literal is not None:
        return _with_literal(op, left, right.literal)
    if _family(left.type) != _family(right.type):
        put, over = _alike(left, right) or _alike(right, left) or ("", "")
        raise Refusal(
            f"{left.said} and {right.said}: they cannot be compared.",
            cure=f"Compare values of one type, or CAST one{f': {put}' if put else ''}.",
            mends=(Mend(put, over),) if put else (),
        )
    return rows.Compare(op, _present(left), _present(right))


def _alike(one: Typed, other: Typed) -> tuple[str, str] | None:
    """A cast that makes the one like the other, and what is cast."""
    wanted = {
        ("timestamp", "date"): "DATE", ("local", "date"): "DATE", ("boolean", "integer"): "INTEGER",
        ("text", "integer"): "INTEGER", ("text", "float"): "DOUBLE", ("text", "date"): "DATE", ("uuid", "text"): "TEXT",
    }.get((one.type, other.type))
    return None if wanted is None else (f"CAST({one.name} AS {wanted})", one.name)


def _present(typed: Typed) -> rows.Operand:
    return typed.as_type(own_type(typed))


def _constant(op: rows.Comparison, left: Typed, right: Typed) -> rows.Predicate:
    """Two literals, as in WHERE 1 = 1."""
    one, other = (typed.literal.value if typed.literal is not None else None for typed in (left, right))
    if left.type == right.type and left.type in ("number", "text", "boolean"):
        return rows.Truth(rows.COMPARE[op](one, other))
    if left.type == right.type and "interval" not in (left.type, right.type):
        return rows.Compare(op, _present(left), _present(right))
    raise Refusal(f"{left.said} and {right.said}: they cannot be compared.", cure="Compare values of one type.")


def _with_literal(op: rows.Comparison, typed: Typed, literal: Literally) -> rows.Predicate:
    operand = _present(typed)
    if typed.type == "integer":
        return _whole(op, operand, _number(typed, literal))
    return rows.Compare(op, operand, rows.Constant(physical(typed.name, typed.type, literal), kind_of(typed.type)))


def _number(typed: Typed, literal: Literally) -> Fraction:
    if isinstance(literal.value, Fraction) and literal.type is None:
        return literal.value
    raise mismatch(typed.name, "integer", literal)


def _whole(op: rows.Comparison, operand: rows.Operand, number: Fraction) -> rows.Predicate:
    """An integer against a rational: x < 65.5 is x < 66, x > 65.5 is x > 65, x = 65.5 is false where x is present."""
    low, high = math.floor(number), math.ceil(number)
    if low != high and op in ("=", "<>"):
        return _known(operand, op == "<>")
    bound = high if op in ("<", ">=") else low
    if bound in INT64:
        return rows.Compare(op, operand, rows.Constant(bound, "integer"))
    above = bound > 0  # every integer is below the bound, or above it
    return _known(operand, op == "<>" or (op in ("<", "<=")) == above if op != "=" else False)


def _known(operand: rows.Operand, truth: bool) -> rows.Predicate:
    """`truth` where the operand is present, unknown where it is missing."""
    return rows.Compare("=" if truth else "<>", operand, operand)


def among(typed: Typed, options: Sequence[Typed]) -> rows.Predicate:
    """`typed IN (options)`. Raises Refusal."""
    if typed.literal is not None or typed.type == "null" or any(one.literal is None for one in options if one.part):
        return any_of([compare("=", typed, option) for option in options])
    values: list[rows.Constant] = []
    unknown = False
    for option in options:
        if option.literal is None:
            unknown = True
        elif typed.type == "integer":
            number = _number(typed, option.literal)
            if number.denominator == 1 and int(number) in INT64:
                values.append(rows.Constant(int(number), "integer"))
        else:
            values.append(rows.Constant(physical(typed.name, typed.type, option.literal), kind_of(typed.type)))
    operand = _present(typed)
    found: rows.Predicate = rows.Among(operand, tuple(dict.fromkeys(values))) if values else _known(operand, False)
    return rows.AnyOf((found, rows.Truth(None))) if unknown else found


def distinct(left: Typed, right: Typed) -> rows.Predicate:
    """`left IS DISTINCT FROM right`: never unknown, missing equals missing. Raises Refusal."""
    if left.type == "null" or right.type == "null":
        return rows.Not(rows.AllOf((missing(left), missing(right))))
    absent = (missing(left), missing(right))
    equal = rows.AllOf((rows.Not(absent[0]), rows.Not(absent[1]), compare("=", left, right)))
    return rows.Not(rows.AnyOf((rows.AllOf(absent), equal)))


def missing(typed: Typed) -> rows.Predicate:
    """`typed IS NULL`: never unknown."""
    if typed.part is None or typed.literal is not None:
        return rows.Truth(typed.type == "null")
    return rows.IsMissing(typed.part)


def like(typed: Typed, pattern: Typed, escape: Typed | None, *, fold: bool) -> rows.Predicate:
    """`typed LIKE pattern ESCAPE escape`; `fold`: ILIKE, which takes A to Z as a to z on both sides. Raises Refusal."""
    word = "ILIKE" if fold else "LIKE"
    operand = text(typed, word)
    letters = plain_text(pattern, f"the pattern of {word}")
    sign = "" if escape is None else plain_text(escape, "the letter after ESCAPE")
    if len(sign) > 1 or (fold and sign.isascii() and sign.isalpha()):
        raise Refusal("ESCAPE takes one letter, with ILIKE one that has no capital.", cure="Write it as in ESCAPE '!'.")
    if ends_in_escape(letters, sign):
        raise Refusal(f"a pattern of {word} ends in its escape letter.", cure="Write that letter twice to mean itself.")
    if fold:
        small = compute("lower", [operand], "text")
        folded = "".join(letter.lower() if letter.isascii() else letter for letter in letters)
        return rows.Like(small, folded, sign)
    return rows.Like(operand, letters, sign)


def all_of(parts: Sequence[rows.Predicate]) -> rows.Predicate:
    """AND, flat."""
    flat = [one for part in parts for one in (part.parts if isinstance(part, rows.AllOf) else (part,))]
    return flat[0] if len(flat) == 1 else rows.AllOf(tuple(flat))


def any_of(parts: Sequence[rows.Predicate]) -> rows.Predicate:
    """OR, flat."""
    flat = [one for part in parts for one in (part.parts if isinstance(part, rows.AnyOf) else (part,))]
    return flat[0] if len(flat) == 1 else rows.AnyOf(tuple(flat))


def _family(type: str) -> str:
    return "number" if type in NUMERIC else type
