"""Expressions over what was released: arithmetic, comparisons and a few functions on aggregates and keys.

Everything here is post-processing of noisy values and public keys, so it costs nothing. This file types syntax into
`Post` trees; `release/finish.py` computes them. Checked in tests/plan/test_bind.py and tests/release/test_finish.py.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Final

from dpcurator.errors import Refusal
from dpcurator.language.literals import double, instead, physical
from dpcurator.language.names import show
from dpcurator.language.question import Binary, Call, Case, Cast, Fits, Literally, Syntax, Unary, Within, place
from dpcurator.language.rows import COMPARISONS
from dpcurator.plan.nodes import Apply, Given, Post

Shape = (
    str  # "number", "whole", "truth", "null", or a column type: text, date, timestamp, uuid, integer, float, boolean
)
FUNCTIONS: Final = {  # least and most arguments
    "ROUND": (1, 2), "ABS": (1, 1), "COALESCE": (2, 8), "NULLIF": (2, 2), "SQRT": (1, 1), "FLOOR": (1, 1),
    "CEIL": (1, 1), "LEAST": (2, 8), "GREATEST": (2, 8),
}
Look = Callable[[Syntax], "tuple[Post, Shape] | None"]  # what an expression is of keys and aggregates; None: neither
USES: Final = {
    "ROUND": "ROUND(x) or ROUND(x, 2)", "ABS": "ABS(x)", "COALESCE": "COALESCE(x, 0)", "NULLIF": "NULLIF(x, 0)",
    "SQRT": "SQRT(x)", "FLOOR": "FLOOR(x)", "CEIL": "CEIL(x)", "LEAST": "LEAST(x, 0)", "GREATEST": "GREATEST(x, 0)",
}
_NUMBERS = ("number", "whole", "integer", "float")


def post(part: Syntax, look: Look) -> tuple[Post, Shape]:
    """The typed expression and its shape. Raises Refusal."""
    found = look(part)
    if found is not None:
        return found
    match part:
        case Call():
            return _function(part, look)
        case Cast(inner, "DOUBLE"):
            return _number(post(inner, look), "CAST"), "number"
        case Cast(inner, "INTEGER"):
            return Apply("ROUND", (_number(post(inner, look), "CAST"),)), "whole"
        case Literally(value, wanted):
            if isinstance(value, bool):
                return Given(value), "truth"
            if wanted == "interval":
                raise Refusal("an interval stands only beside a date or a timestamp of a row.", cure="Use it in WHERE.")
            if wanted is not None:
                return _typed(part, wanted), wanted
            return Given(value), "null" if value is None else "text" if isinstance(value, str) else "number"
        case Unary("-", inner):
            return Apply("NEG", (_number(post(inner, look), "-"),)), "number"
        case Unary("NOT", inner):
            return Apply("NOT", (_truth(post(inner, look), "NOT"),)), "truth"
        case Unary("IS NULL", inner):
            return Apply("IS NULL", (post(inner, look)[0],)), "truth"
        case Binary("AND" | "OR" as op, left, right):
            return Apply(op, (_truth(post(left, look), op), _truth(post(right, look), op))), "truth"
        case Binary(op, left, right) if op in COMPARISONS:
            return _compared(op, left, right, look), "truth"
        case Binary("+" | "-" | "*" | "/" as op, left, right):
            return Apply(op, (_number(post(left, look), op), _number(post(right, look), op))), "number"
        case Within(inner, options):
            equal = [_compared("=", inner, option, look) for option in options]
            return (equal[0] if len(equal) == 1 else Apply("OR", tuple(equal))), "truth"
    raise Refusal(
        f"{_word(part)} is not available on aggregates and keys.", where=place(part),
        cure="On answers there are + - * /, comparisons, AND, OR, NOT, IN, IS NULL, ROUND, ABS, SQRT, FLOOR, CEIL, "
        "LEAST, GREATEST, COALESCE, NULLIF; more is available on rows: inside an aggregate, in WHERE and in GROUP BY.",
    )


def _word(part: Syntax) -> str:
    match part:
        case Case():
            return "CASE"
        case Cast(_, type):
            return f"CAST to {type}"
        case Fits(_, _, _, fold):
            return "ILIKE" if fold else "LIKE"
        case Unary(op, _) | Binary(op, _, _):
            return op
    return "this"  # pragma: no cover - the match is exhaustive


def _typed(literal: Literally, wanted: str) -> Post:
    """DATE '...' and TIMESTAMP '...' as the physical value they mean."""
    try:
        value = physical(wanted, wanted, literal)
    except Refusal:
        cure, mends = instead(wanted, literal, "" if literal.type is None else f"{wanted.upper()} ")
        raise Refusal(f"{show(str(literal.value))} is not a {wanted}.", cure=cure, mends=mends) from None
    return Given(Fraction(value)) if isinstance(value, int) else Given(value if isinstance(value, str) else None)


def _number(typed: tuple[Post, Shape], op: str) -> Post:
    made, shape = typed
    if shape not in (*_NUMBERS, "null"):
        raise Refusal(f"{op} needs numbers, and one side is {shape}.", cure="Use it on aggregates and numbers.")
    return made


def _truth(typed: tuple[Post, Shape], op: str) -> Post:
    made, shape = typed
    if shape not in ("truth", "boolean", "null"):
        raise Refusal(f"{op} needs conditions.", cure="Write it as in HAVING COUNT(*) > 100 AND AVG(age) < 40.")
    return made


def _compared(op: str, left: Syntax, right: Syntax, look: Look) -> Post:
    (first, shape), (second, other) = post(left, look), post(right, look)
    if _family(shape) != _family(other) and "null" not in (shape, other):
        mended = _as_physical(first, shape, second, other)
        if mended is None:
            raise Refusal(f"{op} compares {shape} with {other}.", cure="Compare values of one type.")
        first, second = mended
    if "float" in (shape, other):
        first, second = _as_double(first), _as_double(second)
    return Apply(op, (first, second))


def _as_double(part: Post) -> Post:
    """A number beside a float key is the double nearest to it, as in WHERE; spelled as keys are (`finish`)."""
    if not isinstance(part, Given) or not isinstance(part.value, Fraction):
        return part
    return Given(Fraction(repr(double(part.value))))


def _as_physical(first: Post, shape: Shape, second: Post, other: Shape) -> tuple[Post, Post] | None:
    """A text literal beside a date, timestamp or uuid key becomes that key's physical value."""
    typed = ("date", "timestamp", "uuid")
    if shape in typed and isinstance(second, Given) and isinstance(second.value, str):
        return first, _typed(Literally(second.value), shape)
    if other in typed and isinstance(first, Given) and isinstance(first.value, str):
        swapped = _as_physical(second, other, first, shape)
        return None if swapped is None else (swapped[1], swapped[0])
    return None


def _family(shape: Shape) -> str:
    if shape in _NUMBERS:
        return "number"
    return "truth" if shape == "boolean" else shape


def _function(call: Call, look: Look) -> tuple[Post, Shape]:
    least, most = FUNCTIONS[call.function]
    if call.distinct or call.star or not least <= len(call.arguments) <= most:
        many = str(least) if least == most else f"{least} to {most}"
        raise Refusal(f"{call.function} takes {many} values.", where=call.at, cure=f"Write {USES[call.function]}.")
    typed = [post(argument, look) for argument in call.arguments]
    if call.function == "ROUND" and len(call.arguments) == 2 and not _places(call.arguments[1]):
        raise Refusal("ROUND takes a whole number of places from -30 to 30.", where=call.at, cure="Write ROUND(x, 2).")
    return Apply(call.function, tuple(_number(one, call.function) for one in typed)), "number"


def _places(part: Syntax) -> bool:
    sign = isinstance(part, Unary) and part.op == "-"
    inner = part.part if isinstance(part, Unary) and sign else part
    value = inner.value if isinstance(inner, Literally) else None
    if isinstance(value, bool | str) or value is None:
        return False
    return value.denominator == 1 and abs(value) <= 30
