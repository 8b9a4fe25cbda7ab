"""What is known of a function of rows: one record for each in a plan, and one for each way to write it in SQL
(semantics 2.2).

A `Function` is what a plan names in `Compute.function`: its kinds, its value in Python, its bounds, its cost and its
words. Kinds: i an integer of 64 bits, f a double, t a text, k any one kind, the same for all parts and the result.
Where a function has no value of the result's kind the result is missing, and unless said otherwise a missing part makes
the result missing. An integer result outside 64 bits is missing. A float result that is nan is missing, and so is one
that is infinite where every part was finite; -0.0 is 0.0. A text result longer than LONGEST code points is missing.
Days count from 1970-01-01 and microseconds from 1970-01-01T00:00 (proleptic Gregorian); functions of a date or time
give missing outside the years 1 to 9999.

A `RowFunction` is what SQL and data frames write; it reads typed parts to one operand of these functions, or refuses.

To add one: its two records in the file of its family (`numbers`, `texts`, `dates`, `casts`), its SQL in the engine's
file of the same name, its name in `standalone/verify.py`, which shares no code, inputs and results worked by hand in
`tests/engines/vectors`, and its line in `docs/sql.md`. Tests name whichever is left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, Final

from dpcurator.catalog.model import Kind, Value
from dpcurator.language.rows import is_unicode
from dpcurator.language.spans import Rule, anywhere
from dpcurator.language.typed import Parts, Typed
from dpcurator.numbers.rational import INT64

LONGEST: Final = 8192  # code points of a text: what a thread has room for twice (engines/allowance.py)
MANY: Final = 64
KINDS: Final[dict[str, Kind]] = {"i": "integer", "f": "float", "t": "text"}
Check = Callable[[tuple[Any, ...], Kind], bool]  # from the parameters and the first part's kind: whether they may be
Letters = Callable[[tuple[int, ...], tuple[Any, ...]], int]  # from the parts' lengths and the parameters


def no_parameters(literals: tuple[Any, ...], _: Kind) -> bool:
    return literals == ()


def of_the_longest(letters: tuple[int, ...], _: tuple[Any, ...]) -> int:
    return max(letters, default=0)


@dataclass(frozen=True, slots=True)
class Function:
    """A function of a plan. `parts`: a kind letter per part, `*` after the last one for any number.

    evaluate: its value in Python of values that are present, then its parameters; None is missing.
    span: between which numbers the result is, from the spans of the parts. Never too narrow.
    """

    name: str
    parts: str
    kind: str
    meaning: str
    evaluate: Callable[..., Any]
    span: Rule = anywhere
    _: KW_ONLY
    literals: str = ""  # what its parameters are, in words
    check: Check = no_parameters  # the same as a test
    zone: bool = False  # its parameter is the name of a time zone
    of_present: bool = False  # takes the list of the parts that are not missing
    never: bool = True  # a part that never has a value leaves the result none, as bounds are told
    steps: int = 1  # what it costs in Python, in steps of `language/limits.py`
    letters: Letters = of_the_longest  # of its text, at most
    weight: int = 1  # how many parts of a sum its words on an engine are as long as
    sign: str = ""  # an operator it is spelled by, before its one part or between its parts
    word: str = ""  # the name it is spelled by, where that is not its own

    @property
    def spelled(self) -> str:
        return self.word or self.name.upper()

    def kinds(self, count: int, any_kind: Kind) -> tuple[Kind, ...]:
        """The kinds of so many parts, those of any kind being this one."""
        letters = self.parts
        if letters.endswith("*"):
            letters = letters[:-1] + letters[-2] * max(count - len(letters) + 1, 0)
        return tuple(KINDS.get(letter, any_kind) for letter in letters)

    def of(self, parts: tuple[Value, ...], kind: Kind, literals: tuple[Value, ...] = ()) -> Value:
        """Its value of these values, made canonical: missing where it has none."""
        if self.of_present:
            found = self.evaluate([part for part in parts if part is not None])
        elif None in parts:
            return None
        else:
            found = self.evaluate(*parts, *literals)
        return _canonical(found, kind, all(part not in (math.inf, -math.inf) for part in parts))


@dataclass(frozen=True, slots=True)
class RowFunction:
    """A function as SQL writes it. `use`: how to write it; `least` and `most` parts; `read`: what it means.

    example: a condition that is true. also: other names of it in SQL. method: whether its small name is a method of
    its first part in the data frame front; not where that is a unit or a zone.
    """

    use: str
    least: int
    most: int
    read: Callable[[Parts], Typed]
    example: str
    _: KW_ONLY
    also: tuple[str, ...] = ()
    method: bool = True

    @property
    def counted(self) -> str:
        """How many parts, in words."""
        return str(self.least) if self.least == self.most else f"{self.least} to {self.most}"


def _canonical(found: Any, kind: Kind, finite: bool) -> Value:
    """A result as a value of its kind, or missing. finite: whether every part was."""
    if found is None:
        return None
    if kind == "integer":
        return found if found in INT64 else None
    if kind == "text":
        return found if len(found) <= LONGEST else None
    if math.isnan(found) or (finite and math.isinf(found)):
        return None
    return float(found) + 0.0  # -0.0 + 0.0 is 0.0


def integers(*ranges: range) -> Check:
    """Parameters that are integers of these ranges."""
    return lambda literals, _: (
        len(literals) == len(ranges)
        and all(type(literal) is int and literal in allowed for literal, allowed in zip(literals, ranges, strict=True))
    )


def one_of(*names: str) -> Check:
    """One parameter, among these words."""
    return lambda literals, _: len(literals) == 1 and type(literals[0]) is str and literals[0] in names


def one_text(literals: tuple[Any, ...], _: Kind) -> bool:
    return len(literals) == 1 and type(literals[0]) is str and is_unicode(literals[0])
