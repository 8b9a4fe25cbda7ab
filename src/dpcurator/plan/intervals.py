"""Bounds of an expression, from the declared bounds of its columns: one rule a function (MEANING 2.3).

Law: where every column is within its bounds, the value of the expression is within its bounds, or missing. Rules may be
wide. They decide only whether a bound exists and how wide it is: values are clamped to it when they are measured, so no
promise rests on them. Ends are exact; those of doubles are rounded outwards to doubles, for each operation rounds to
the nearest one and so stays between them. An end that is None is missing. Checked in tests/plan/test_intervals.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from dpcurator.catalog.model import Kind, Table, Value
from dpcurator.plan.days import DAY, FIRST_DAY, FIRST_MOMENT, LAST_DAY, LAST_MOMENT
from dpcurator.plan.evaluate import apply
from dpcurator.plan.functions import LONGEST
from dpcurator.plan.rows import Choose, Compute, Constant, Field, Missing, Operand, walk

Bounds = tuple[Fraction, Fraction]
LARGEST: Final = Fraction(math.nextafter(math.inf, 0))
INT64: Final = (Fraction(-(2**63)), Fraction(2**63 - 1))


@dataclass(frozen=True, slots=True)
class Span:
    """The numbers from `low` to `high`; None is no end on that side. `never`: it has no value at all."""

    low: Fraction | None = None
    high: Fraction | None = None
    never: bool = False

    @property
    def both(self) -> Bounds | None:
        return None if self.low is None or self.high is None else (self.low, self.high)


EVERYTHING: Final = Span()
NOTHING: Final = Span(Fraction(0), Fraction(0), never=True)


def bounds(part: Operand, table: Table) -> Bounds | None:
    """Between which numbers the expression is, where it is present; None when a bound is missing."""
    found = span(part, table).both
    if found is None or part.kind == "text" or isinstance(part, Field):
        return found
    if part.kind == "integer":
        return Fraction(math.floor(found[0])), Fraction(math.ceil(found[1]))
    return found


def unbounded(part: Operand, table: Table) -> int | None:
    """The first column, by its place in the expression, that has no bounds and may be why the expression has none."""
    for one in walk(part):
        if isinstance(one, Field) and one.kind != "text" and span(one, table).both is None:
            return one.index
    return None


def span(part: Operand, table: Table) -> Span:
    """As `bounds`, with each end by itself."""
    match part:
        case Field(index):
            column = table.columns[index]
            if column.type == "boolean":
                return Span(Fraction(0), Fraction(1))
            if column.lower is None or column.upper is None or column.kind == "text":
                return EVERYTHING
            return Span(column.lower, column.upper)
        case Constant(value):
            if isinstance(value, str) or value is None or not math.isfinite(value):
                return EVERYTHING
            return Span(Fraction(value), Fraction(value))
        case Missing():
            return NOTHING
        case Choose(branches, otherwise):
            return _union([*(span(branch.value, table) for branch in branches), span(otherwise, table)])
        case Compute(name, parts, kind, literals):
            within = [span(one, table) for one in parts]
            if name == "mul_i" or name == "mul_f":
                found = _square(within[0]) if parts[0] == parts[1] else _product(*within)
            elif name == "div_f":
                found = _quotient(within[0], _apart_from_zero(parts[1], within[1]))
            elif name == "ln":
                found = _logarithm(_apart_from_zero(parts[0], within[0]))
            elif name in ("least", "greatest"):
                found = _extreme(name, parts, within)
            else:
                found = _RULES[name](within, literals)
            if any(one.never for one in within) and name not in ("coalesce", "least", "greatest", "concat"):
                return NOTHING
            return _outward(found, kind)
    raise TypeError(f"no rule for {part!r}")  # pragma: no cover - the match is exhaustive


def _outward(found: Span, kind: Kind) -> Span:
    """Rounded outwards to values of the kind, and cut to those that can be present."""
    if found.never:
        return found
    if kind == "integer":
        low = None if found.low is None else Fraction(math.floor(found.low))
        high = None if found.high is None else Fraction(math.ceil(found.high))
        return _within(Span(low, high), *INT64)
    return Span(_double(found.low, -math.inf), _double(found.high, math.inf))


def _double(end: Fraction | None, away: float) -> Fraction | None:
    if end is None or abs(end) >= LARGEST:
        return None if end is None else max(-LARGEST, min(LARGEST, end))
    near = float(end)
    return Fraction(near if near == end or (near > end) == (away > 0) else math.nextafter(near, away))


def _union(parts: Sequence[Span]) -> Span:
    present = [part for part in parts if not part.never]
    if not present:
        return NOTHING
    lows, highs = [part.low for part in present], [part.high for part in present]
    return Span(
        None if None in lows else min(low for low in lows if low is not None),
        None if None in highs else max(high for high in highs if high is not None),
    )


# --- one rule a function ------------------------------------------------------------------------------------------


def _add(parts: Sequence[Span], literals: Any = ()) -> Span:
    one, other = parts
    return Span(
        None if one.low is None or other.low is None else one.low + other.low,
        None if one.high is None or other.high is None else one.high + other.high,
    )


def _negative(part: Span) -> Span:
    return Span(None if part.high is None else -part.high, None if part.low is None else -part.low)


def _product(one: Span, other: Span) -> Span:
    if one.both is None or other.both is None:
        return EVERYTHING
    ends = [a * b for a in one.both for b in other.both]
    return Span(min(ends), max(ends))


def _absolute(part: Span) -> Span:
    if part.low is not None and part.low >= 0:
        return part
    if part.high is not None and part.high <= 0:
        return _negative(part)
    high = None if part.both is None else max(abs(end) for end in part.both)
    return Span(Fraction(0), high)


def _square(part: Span) -> Span:
    size = _absolute(part)
    return Span(Fraction(0) if size.low is None else size.low**2, None if size.high is None else size.high**2)


def _apart_from_zero(part: Operand, found: Span) -> Span:
    """A whole number that is divided by, or whose logarithm is taken, is not between 0 and 1: 0 gives missing."""
    if isinstance(part, Compute) and part.function == "to_f" and found.low is not None and 0 <= found.low < 1:
        return Span(Fraction(1), None if found.high is None else max(Fraction(1), found.high))
    if isinstance(part, Compute) and part.function == "to_f" and found.high is not None and -1 < found.high <= 0:
        return Span(None if found.low is None else min(Fraction(-1), found.low), Fraction(-1))
    return found


def _quotient(one: Span, other: Span) -> Span:
    if one.both is None or other.both is None or other.both[0] <= 0 <= other.both[1]:
        return EVERYTHING
    ends = [a / b for a in one.both for b in other.both]
    return Span(min(ends), max(ends))


def _remainder(parts: Sequence[Span], literals: Any = ()) -> Span:
    """Less than |b| in size, no larger than |a|, of the sign of a."""
    one, other = _absolute(parts[0]).high, _absolute(parts[1]).high
    if literals == "whole" and other is not None:
        other = max(Fraction(0), other - 1)
    sizes = [size for size in (one, other) if size is not None]
    size = min(sizes) if sizes else None
    low, high = parts[0].low, parts[0].high
    return Span(
        Fraction(0) if low is not None and low >= 0 else None if size is None else -size,
        Fraction(0) if high is not None and high <= 0 else size,
    )


def _extreme(name: str, parts: Sequence[Operand], within: Sequence[Span]) -> Span:
    """Of the parts that are not missing: a literal never is, so LEAST(x, 100) is at most 100."""
    every = _union(within)
    fixed = [one for part, one in zip(parts, within, strict=True) if isinstance(part, Constant)]
    low, high = every.low, every.high
    if name == "least":
        high = min(
            [*([] if high is None else [high]), *(one.high for one in fixed if one.high is not None)], default=None
        )
    else:
        low = max([*([] if low is None else [low]), *(one.low for one in fixed if one.low is not None)], default=None)
    return Span(low, high, every.never)


def _at(name: str, end: Fraction | None, kind: Kind, literals: Any, *, up: bool) -> Fraction | None:
    """The function at an end of its part's span, the end first rounded outwards to a value of its kind."""
    if end is None:
        return None
    given: Value = math.ceil(end) if up else math.floor(end)
    if kind == "float":
        given = float(_double(end, math.inf if up else -math.inf) or 0)
    found = apply(name, (given,), "float" if name == "round_f" else "integer", literals)
    return None if found is None or isinstance(found, str) or not math.isfinite(found) else Fraction(found)


def _rising(name: str, kind: Kind) -> Callable[[Sequence[Span], Any], Span]:
    """A function that never falls."""

    def rule(parts: Sequence[Span], literals: Any = ()) -> Span:
        low, high = parts[0].low, parts[0].high
        return Span(_at(name, low, kind, literals, up=False), _at(name, high, kind, literals, up=True))

    return rule


def _of_days(rule: Callable[[Sequence[Span], Any], Span]) -> Callable[[Sequence[Span], Any], Span]:
    """A function of days, which are within the years 1 to 9999."""
    return _of(rule, FIRST_DAY, LAST_DAY)


def _of_moments(rule: Callable[[Sequence[Span], Any], Span]) -> Callable[[Sequence[Span], Any], Span]:
    return _of(rule, FIRST_MOMENT, LAST_MOMENT)


def _of(rule: Callable[[Sequence[Span], Any], Span], low: int, high: int) -> Callable[[Sequence[Span], Any], Span]:
    """The rule, its part cut to where the function has a value."""

    def cut(parts: Sequence[Span], literals: Any = ()) -> Span:
        return rule([_within(parts[0], low, high)], literals)

    return cut


def _within(part: Span, low: Fraction | int, high: Fraction | int) -> Span:
    """Cut to [low, high]."""
    least, most = Fraction(low), Fraction(high)
    low_end = None if part.low is None else min(max(part.low, least), most)
    return Span(low_end, None if part.high is None else max(min(part.high, most), least))


def _clip(parts: Sequence[Span], literals: Any) -> Span:
    least, most = (Fraction(end) for end in literals)
    low, high = parts[0].low, parts[0].high
    return Span(
        least if low is None else min(max(low, least), most), most if high is None else max(min(high, most), least)
    )


def _root(parts: Sequence[Span], literals: Any = ()) -> Span:
    low, high = parts[0].low, parts[0].high
    if high is not None and high < 0:
        return NOTHING
    low = Fraction(0) if low is None or low < 0 else low
    return Span(_real(low, math.sqrt, False), None if high is None else _real(high, math.sqrt, True))


def _exponential(parts: Sequence[Span], literals: Any = ()) -> Span:
    low, high = parts[0].low, parts[0].high
    return Span(
        Fraction(0) if low is None else _real(min(max(low, Fraction(-800)), Fraction(709)), math.exp, False),
        None if high is None else LARGEST if high > 709 else _real(max(high, Fraction(-800)), math.exp, True),
    )


def _logarithm(part: Span) -> Span:
    if part.high is not None and part.high <= 0:
        return NOTHING
    return Span(
        None if part.low is None or part.low <= 0 else _real(part.low, math.log, False),
        None if part.high is None else _real(part.high, math.log, True),
    )


def _real(end: Fraction, function: Callable[[float], float], up: bool) -> Fraction:
    """The function at an end, widened by one part in 2**40: its sequence of operations rounds less than that."""
    end = min(max(end, -LARGEST), LARGEST)  # what is beyond is no double, so missing
    near = _double(end, math.inf if up else -math.inf)
    found = Fraction(function(float(near if near is not None else end)))
    wide = abs(found) / 2**40 + Fraction(1, 2**1000)
    return found + wide if up else found - wide


def _power(parts: Sequence[Span], literals: Any = ()) -> Span:
    """A fixed whole exponent, or a base that is above 0; anything else has no bound."""
    base, exponent = parts
    if base.both is None or exponent.both is None:
        return EVERYTHING
    low, high = (min(max(end, -LARGEST), LARGEST) for end in base.both)
    if exponent.low == exponent.high and exponent.low is not None and exponent.low.denominator == 1:
        n = int(exponent.low)
        if 0 <= n <= 64:
            span = _square(base) if n == 2 else None
            if span is None:
                ends = [low**n, high**n] + ([Fraction(0)] if n and low < 0 < high else [])
                span = Span(min(ends), max(ends))
            return _wider(span)
    if low < 0 or (low == 0 and exponent.both[0] < 0):
        return EVERYTHING
    found: list[Fraction] = []
    for a in (low, high):
        for b in exponent.both:
            size = 0.0 if a == 0 else float(min(max(b, -LARGEST), LARGEST)) * math.log(a)
            if a == 0:
                found.append(Fraction(0) if b > 0 else Fraction(1))
            else:
                found.append(LARGEST if size > 709 else Fraction(math.exp(max(size, -800))))
    return _wider(Span(min(found), max(found)))


def _wider(part: Span) -> Span:
    """Wider by one part in 2**30: repeated roundings, and e**(b ln a) with |b ln a| <= 745, lose less."""
    if part.both is None:
        return part
    low, high = part.both
    least, most = Fraction(1, 2**1000), Fraction(2**52)
    exact = all(end.denominator == 1 and abs(end) <= most for end in part.both)  # squaring whole numbers is exact
    return part if exact else Span(low - abs(low) / 2**30 - least, high + abs(high) / 2**30 + least)


def _moved_moment(parts: Sequence[Span], literals: Any) -> Span:
    """Months are added to the day, so two moments of one month's end may change places: to whole days, outwards."""
    months, us = literals
    low, high = parts[0].low, parts[0].high

    def moved(end: Fraction | None, up: bool) -> Fraction | None:
        if end is None:
            return None
        day = apply("date_add", (math.floor(end / DAY),), "integer", (months, 0))
        edge = (LAST_DAY if up else FIRST_DAY) if not isinstance(day, int) else day
        return Fraction((edge + up) * DAY + us)

    return Span(moved(low, False), moved(high, True)) if months else _add([parts[0], Span(Fraction(us), Fraction(us))])


def _zoned(parts: Sequence[Span], literals: Any) -> Span:
    """Zones are at most 26 hours from UTC."""
    most = Fraction(26 * DAY, 24)
    return _add([parts[0], Span(-most, most)])


_PARTS: Final = {"quarter": (1, 4), "month": (1, 12), "week": (1, 53), "day": (1, 31), "dow": (0, 6), "isodow": (1, 7),
                 "doy": (1, 366), "hour": (0, 23), "minute": (0, 59), "second": (0, 59)}  # fmt: skip


def _part(parts: Sequence[Span], literals: Any) -> Span:
    if literals[0] == "year":
        cut = _within(parts[0], FIRST_DAY, LAST_DAY)
        low, high = (FIRST_DAY if cut.low is None else cut.low, LAST_DAY if cut.high is None else cut.high)
        return _rising("date_part", "integer")([Span(Fraction(low), Fraction(high))], literals)
    low, high = _PARTS[literals[0]]
    return Span(Fraction(low), Fraction(high))


def _signs(parts: Sequence[Span], literals: Any = ()) -> Span:
    low, high = parts[0].low, parts[0].high
    return Span(
        Fraction(-1 if low is None or low < 0 else 0 if low == 0 else 1),
        Fraction(1 if high is None or high > 0 else 0 if high == 0 else -1),
    )


def _text(parts: Sequence[Span], literals: Any = ()) -> Span:
    return EVERYTHING


def _rounded(parts: Sequence[Span], literals: Any) -> Span:
    """Each of its operations never falls, up to where it leaves large numbers as they are."""
    size = _absolute(parts[0]).high
    if size is not None and size * 10 ** literals[0] < 2**51:
        return _rising("round_f", "float")(parts, literals)
    half = Fraction(1, 10 ** literals[0])
    return _add([parts[0], Span(-half, half)])


_RULES: Final[dict[str, Callable[[Sequence[Span], Any], Span]]] = {
    "add_i": _add, "add_f": _add,
    "sub_i": lambda parts, _: _add([parts[0], _negative(parts[1])]),
    "sub_f": lambda parts, _: _add([parts[0], _negative(parts[1])]),
    "mod_i": lambda parts, _: _remainder(parts, "whole"), "mod_f": _remainder,
    "neg_i": lambda parts, _: _negative(parts[0]), "neg_f": lambda parts, _: _negative(parts[0]),
    "abs_i": lambda parts, _: _absolute(parts[0]), "abs_f": lambda parts, _: _absolute(parts[0]),
    "sign_i": _signs, "sign_f": _signs,
    "floordiv_i": _rising("floordiv_i", "integer"), "round_i": _rising("round_i", "integer"),
    "sqrt": _root, "exp": _exponential, "power": _power,
    "floor": _rising("floor", "float"), "ceil": _rising("ceil", "float"), "round": _rising("round", "float"),
    "round_f": _rounded, "to_f": lambda parts, _: parts[0],
    "coalesce": lambda parts, _: _union(parts), "clip": _clip,
    "length": lambda parts, _: Span(Fraction(0), Fraction(LONGEST)),
    "i_of_text": _text, "f_of_text": _text,
    "date_of_text": lambda parts, _: Span(Fraction(FIRST_DAY), Fraction(LAST_DAY)),
    "date_part": _part, "time_part": _part,
    "date_trunc": _of_days(_rising("date_trunc", "integer")), "date_add": _of_days(_rising("date_add", "integer")),
    "date_of_time": _of_moments(_rising("date_of_time", "integer")),
    "time_of_date": _of_days(_rising("time_of_date", "integer")),
    "time_trunc": _of_moments(_rising("time_trunc", "integer")), "time_add": _of_moments(_moved_moment),
    "local_of_time": _of_moments(_zoned), "time_of_local": _of_moments(_zoned),
    **dict.fromkeys(("lower", "upper", "trim", "ltrim", "rtrim", "substring", "concat", "replace", "text_of_i",
                     "text_of_date"), _text),
}  # fmt: skip
RULED: Final = frozenset(_RULES) | {"mul_i", "mul_f", "div_f", "ln", "least", "greatest"}
