"""Typed row expressions while they are bound: an operand with its SQL type, or a literal that takes its neighbour's.

Types are the catalog's, and: local (a zone's wall clock, held as microseconds), number (a literal), interval (a
literal) and null. Checked in tests/language/test_expressions.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

from dpcurator.catalog.model import KINDS, Kind
from dpcurator.errors import Mend, Refusal
from dpcurator.language.literals import instead, moment, physical
from dpcurator.language.names import show
from dpcurator.language.question import Literally
from dpcurator.language.rows import Choose, Compare, Compute, Constant, Field, Missing, Not, Operand, Predicate, When
from dpcurator.numbers.rational import INT64

NUMERIC: Final = ("integer", "float", "number")
TIMED: Final = ("date", "timestamp", "local")
Spell = Callable[[Operand], str]  # what messages call an operand
WORDS: Final = {"local": "a zone's wall clock", "null": "NULL"}


@dataclass(frozen=True, slots=True)
class Typed:
    """`part` is None for a number, an interval and NULL, whose kind their neighbour decides; `literal`: it is one.

    spell: how messages of this question spell operands.
    """

    part: Operand | None
    type: str
    spell: Spell = field(compare=False, repr=False)
    literal: Literally | None = None

    @property
    def name(self) -> str:
        """As messages spell it."""
        if self.part is None or self.literal is not None:
            value = None if self.literal is None else self.literal.value
            return "NULL" if value is None else str(value)
        return self.spell(self.part)

    @property
    def said(self) -> str:
        article = "a " if self.type in ("number", "text") and self.literal is not None else ""
        shown = self.name if self.name[:1] == '"' == self.name[-1:] else show(self.name)
        return f"{shown} is {article}{WORDS.get(self.type, self.type)}"

    def as_type(self, type: str) -> Operand:
        """The operand, once it is known to be of this type. Raises Refusal."""
        kind = kind_of(type)
        if self.type == "null":
            return Missing(kind)
        if self.literal is not None and (self.type in ("number", "text") or type == "local"):
            return Constant(physical(self.name, type, self.literal), kind)
        if self.part is None:
            raise Refusal(f"{self.said}, which stands only beside a date or a timestamp.", cure="Add it to one.")
        if type == "float" and self.type == "integer":
            return Compute("to_f", (self.part,), "float")
        if self.type != type:
            raise Refusal(f"{self.said}, not {WORDS.get(type, type)}.", cure=f"Use a value that is {type}.")
        return self.part


Parts = Sequence[Typed]


def of_type(parts: Parts, operand: Operand, type: str) -> Typed:
    """What was made of the parts."""
    return Typed(operand, type, parts[0].spell)


def kind_of(type: str) -> Kind:
    """The physical kind of a type."""
    return "integer" if type in ("local", "null") else KINDS[type]


def literal(written: Literally, spell: Spell) -> Typed:
    """A literal with the type it has by itself. Raises Refusal."""
    value, wanted = written.value, written.type
    if value is None:
        return Typed(None, "null", spell)
    if wanted == "interval":
        return Typed(None, "interval", spell, written)
    if isinstance(value, bool):
        return Typed(Constant(int(value), "integer"), "boolean", spell, written)
    if isinstance(value, Fraction):
        return Typed(None, "number", spell, written)
    if wanted is None:
        return Typed(Constant(value, "text"), "text", spell, written)
    clock = moment(value, zoned=False) if wanted == "timestamp" else None
    if clock is not None:
        return Typed(Constant(clock, "integer"), "local", spell, written)
    try:
        return Typed(Constant(physical(value, wanted, written), "integer"), wanted, spell, written)
    except Refusal:
        cure, mends = instead(wanted, written, f"{wanted.upper()} ")
        raise Refusal(f"{show(value)} is not a {wanted}.", cure=cure, mends=mends) from None


def whole(typed: Typed) -> int | None:
    """The integer a literal is, within 64 bits."""
    value = typed.literal.value if typed.type == "number" and typed.literal is not None else None
    return int(value) if isinstance(value, Fraction) and value.denominator == 1 and int(value) in INT64 else None


def own_type(typed: Typed) -> str:
    """The type of a value that decides for itself: a whole number is an integer, another literal number a float."""
    if typed.type == "number":
        return "integer" if whole(typed) is not None else "float"
    return typed.type


def common(values: Iterable[Typed], what: str) -> str:
    """The one type that all of these can have. Raises Refusal."""
    values = list(values)
    free = [one for one in values if one.literal is not None and one.type == "text"]
    types = {own_type(one) for one in values if one.type != "null" and one not in free}
    if free and not types <= {*TIMED, "uuid", "text"}:
        types.add("text")
    if types <= {"integer", "float"} and types:
        found = "float" if "float" in types else "integer"
    elif len(types) == 1:
        (found,) = types
    elif not types:
        found = "text" if free else "integer"
    else:
        one, other = sorted(WORDS.get(type, type) for type in types)[:2]
        raise Refusal(f"{what} has values of type {one} and of type {other}.", cure="CAST them to one type.")
    if found == "interval":
        raise Refusal(f"{what} cannot hold an interval.", cure="Add the interval to a date or a timestamp.")
    return found


def united(values: Sequence[Typed], what: str) -> tuple[str, tuple[Operand, ...]]:
    """Their common type, and each as an operand of it. Raises Refusal."""
    type = common(values, what)
    return type, tuple(one.as_type(type) for one in values)


def number(typed: Typed, what: str) -> Typed:
    """The value, when it is a number. Raises Refusal."""
    if typed.type in NUMERIC or typed.type == "null":
        return typed
    name = typed.name
    put = {"boolean": f"CASE WHEN {name} THEN 1 ELSE 0 END", "text": f"CAST({name} AS DOUBLE)"}.get(typed.type)
    if typed.literal is not None and typed.type == "text":
        cure, mends = instead("integer", typed.literal)
    elif put is not None:
        cure, mends = f"Write {put}.", (Mend(put, typed.name),)
    else:
        cure, mends = "Use it on numbers.", ()
    raise Refusal(f"{what} needs numbers, and {typed.said}.", cure=cure, mends=mends)


def numbers(values: Sequence[Typed], what: str) -> tuple[str, tuple[Operand, ...]]:
    """All as integers, or all as doubles. Raises Refusal."""
    return united([number(one, what) for one in values], what)


def doubles(values: Sequence[Typed], what: str) -> tuple[Operand, ...]:
    """All as doubles. Raises Refusal."""
    return tuple(number(one, what).as_type("float") for one in values)


def text(typed: Typed, what: str) -> Operand:
    """The value, when it is a text. Raises Refusal."""
    if typed.type in ("text", "null"):
        return typed.as_type("text")
    put = f"CAST({f'ROUND({typed.name})' if typed.type == 'float' else typed.name} AS TEXT)"
    castable = typed.type in ("integer", "float", "date", "boolean", "uuid") and typed.part is not None
    raise Refusal(
        f"{what} needs texts, and {typed.said}.", cure=f"CAST it to TEXT first: {put}." if castable else "Use a text.",
        mends=(Mend(put, typed.name),) if castable else (),
    )


def plain_text(typed: Typed, what: str) -> str:
    """The text of a literal. Raises Refusal."""
    value = typed.literal.value if typed.literal is not None and typed.type == "text" else None
    if not isinstance(value, str):
        raise Refusal(f"{what} is a literal.", cure="Write a text in single quotes there.")
    return value


def count(typed: Typed, what: str, least: int, most: int) -> int:
    """The whole number of a literal, within these limits. Raises Refusal."""
    found = whole(typed)
    if found is None or not least <= found <= most:
        raise Refusal(f"{what} is a whole number from {least:,} to {most:,}.", cure="Write it as a literal.")
    return found


def compute(name: str, parts: Sequence[Operand], kind: Kind, *literals: Any) -> Compute:
    """A function of `language/functions`."""
    return Compute(name, tuple(parts), kind, tuple(literals))


def truth_value(condition: Predicate) -> Operand:
    """A condition as 1, 0 or missing."""
    match condition:
        case Compare("=", operand, Constant(1, "integer")) if _is_truth(operand):
            return operand
    one, zero = Constant(1, "integer"), Constant(0, "integer")
    return Choose((When(condition, one), When(Not(condition), zero)), Missing("integer"), "integer")


def _is_truth(operand: Operand) -> bool:
    match operand:
        case Choose((When(condition, Constant(1)), When(Not(denied), Constant(0))), Missing()):
            return condition == denied
    return False


def condition(typed: Typed) -> Predicate:
    """A boolean value as a condition. Raises Refusal."""
    if typed.type in ("boolean", "null"):
        return Compare("=", typed.as_type("boolean"), Constant(1, "integer"))
    beside = {"integer": "> 0", "float": "> 0", "text": "= 'x'"}.get(typed.type, "IS NOT NULL")
    put = f"{typed.name} {beside}"
    raise Refusal(
        f"a condition is needed, and {typed.said}.", cure=f"Compare it with something, as in {put}.",
        mends=(Mend(put, typed.name),) if typed.literal is None else (),
    )


def is_field(operand: Operand | None) -> bool:
    return isinstance(operand, Field)
