"""Whether what a plan makes of its results can be computed, whatever they are: its expressions typed a second time.

`outputs.py` types syntax and makes the tree; a plan from elsewhere (a receipt, a quote built by hand) has one
that nobody typed. Here each part is given the family of its values from the tree alone: results are numbers, keys what
their column says. What passes is computed by `release/finish.py` without raising, on any readings and any keys; every
plan that `bind` makes passes. Checked in tests/plan/test_check_outputs.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from dpcurator.language.rows import COMPARISONS
from dpcurator.plan.nodes import AggregateCall, Apply, Given, Key, Output, Plan, Post, Result
from dpcurator.plan.outputs import FUNCTIONS
from dpcurator.plan.sets import MOST_MARKS, added_over, adds_up

MOST_LEVELS: Final = 150  # SQL's have at most 64, twice that where an alias stands for one, and a chain of ANDs ten
MOST_PARTS: Final = 100_000
MOST_PLACES: Final = 30  # of ROUND
MOST_NAMES: Final = 10_000  # of the most frequent in one group, and groups in which they are chosen
MOST_SETS: Final = 64  # of columns that an answer has totals over
MANY: Final = 10**9
_KEYS: Final = {
    "integer": "number", "float": "number", "boolean": "truth", "text": "text", "uuid": "text", "date": "date",
    "timestamp": "timestamp",
}
_NUMERIC: Final = {"NEG": (1, 1), "+": (2, 2), "-": (2, 2), "*": (2, 2), "/": (2, 2), **FUNCTIONS}
_TRUTHS: Final = {"NOT": (1, 1), "AND": (2, MANY), "OR": (2, MANY)}


class _Misfit(Exception):
    """Carries the words."""


def misfit(plan: Plan) -> str | None:
    """The first thing about outputs, HAVING, ORDER BY and LIMIT that could not be computed, in words; None: nothing."""
    try:
        reader = _Reader(plan)
        if not plan.outputs:
            raise _Misfit("the plan shows nothing")
        _sets(plan)
        _names(plan)
        for output in plan.outputs:
            _shown(output, plan, reader.family(output.part))
        if plan.having is not None and reader.family(plan.having) != "truth":
            raise _Misfit("HAVING is no condition")
        for order in plan.order:
            reader.family(order.part)
        if plan.offset < 0 or (plan.limit or 0) < 0:
            raise _Misfit("LIMIT or OFFSET is below 0")
    except _Misfit as found:
        return str(found)
    return None


def family_of(call: AggregateCall) -> str:
    """A number; a quantile of days or moments is one of them."""
    type = "integer" if call.q is None or call.column is None else call.column.type
    return type if type in ("date", "timestamp") else "number"


class _Reader:
    """Gives the parts of one plan their families, and counts them."""

    def __init__(self, plan: Plan) -> None:
        self.keys = [_KEYS.get(column.type) for column in plan.source.source.columns]
        self.calls = [family_of(call) for call in plan.calls]
        self.parts = 0

    def family(self, part: Post, levels: int = MOST_LEVELS) -> str:
        """number, truth, text, date, timestamp or null."""
        self.parts += 1
        if levels == 0 or self.parts > MOST_PARTS:
            raise _Misfit("an output is too large")
        match part:
            case Key(index):
                known = self.keys[index] if 0 <= index < len(self.keys) else None
                if known is None:
                    raise _Misfit("an output names a key that there is not")
                return known
            case Result(index):
                if not 0 <= index < len(self.calls):
                    raise _Misfit("an output names a result that there is not")
                return self.calls[index]
            case Given(value):
                kinds = {Fraction: "number", str: "text", bool: "truth"}
                return "null" if value is None else kinds[type(value)]
            case Apply(op, parts):
                return self._applied(op, parts, [self.family(inner, levels - 1) for inner in parts])

    def _applied(self, op: str, parts: Sequence[Post], families: list[str]) -> str:
        if op in _NUMERIC:
            right = _many(_NUMERIC[op], families) and set(families) <= {"number", "null"}
            if op == "ROUND" and len(parts) == 2:
                right = right and _is_places(parts[1])
            found = "number"
        elif op == "GROUPING":
            right, found = 1 <= len(parts) <= MOST_MARKS and all(isinstance(part, Key) for part in parts), "number"
        elif op in _TRUTHS:
            right, found = _many(_TRUTHS[op], families) and set(families) <= {"truth", "null"}, "truth"
        elif op == "IS NULL":
            right, found = len(families) == 1, "truth"
        else:
            right = op in COMPARISONS and len(families) == 2 and _comparable(parts, families)
            found = "truth"
        if not right:
            raise _Misfit(f"an output applies {op!r} to what it is not for")
        return found


def _sets(plan: Plan) -> None:
    """Each of columns that are grouped by, named once, of listed keys; no two alike; of results that add up."""
    columns = len(plan.source.source.columns)
    if plan.sets and not plan.source.source.listed:
        raise _Misfit("unknown keys have no totals")
    if len(set(plan.sets)) < len(plan.sets) or len(plan.sets) > MOST_SETS:
        raise _Misfit("a set of columns is there twice, or there are too many")
    if any(list(one) != sorted(set(one)) or not set(one) <= set(range(columns)) for one in plan.sets):
        raise _Misfit("a total is over columns that are not grouped by")
    over = added_over(plan.source.source, plan.sets)
    if not all(adds_up(call, over) for call in plan.calls):
        raise _Misfit("a total is of what does not add up")


def _names(plan: Plan) -> None:
    """Keys are named among listed ones, so many of each group of the others."""
    grouped = plan.source.source
    for call in plan.calls:
        if call.among is not None and (not grouped.listed or grouped.keys % call.among):
            raise _Misfit("keys are named among others than there are")
        if call.among is not None and max(call.top or 0, grouped.keys // call.among) > MOST_NAMES:
            raise _Misfit("too many keys are named, or in too many groups")


def _many(limits: tuple[int, int], families: Sequence[str]) -> bool:
    return limits[0] <= len(families) <= limits[1]


def _comparable(parts: Sequence[Post], families: Sequence[str]) -> bool:
    """Of one family; a day or a moment also with the physical value of a literal."""
    known = set(families) - {"null"}
    timed = known & {"date", "timestamp"}
    literal = any(isinstance(part, Given) for part in parts)
    return len(known) <= 1 or (len(timed) == 1 and known - timed == {"number"} and literal)


def _is_places(part: Post) -> bool:
    if isinstance(part, Apply) and part.op == "NEG" and len(part.parts) == 1:
        part = part.parts[0]
    value = part.value if isinstance(part, Given) else None
    return isinstance(value, Fraction) and value.denominator == 1 and abs(value) <= MOST_PLACES


def _shown(output: Output, plan: Plan, family: str) -> None:
    """A key is shown as its column's type; what is computed as its family says; a cast to a double changes neither."""
    match output.part:
        case Key(index):
            ways = {plan.source.source.columns[index].type} | ({family} & {"number"})
        case Given(None):
            ways = {"null", "number"}
        case Given(Fraction() as value) if value.denominator == 1:
            ways = {"number", "date", "timestamp"}
        case Result():
            ways = {"number", "whole"} if family == "number" else {family}
        case Apply("GROUPING"):
            ways = {"integer"}
        case Apply("ROUND", (_,)):
            ways = {"number", "whole"}
        case _:
            ways = {family}
    if output.shown not in ways:
        raise _Misfit(f"an output is shown as {output.shown!r}, which it is not")
