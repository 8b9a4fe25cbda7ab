"""Inner aggregates: what `SELECT unit, ... GROUP BY unit` in a subquery makes of each unit's rows, from words to folds.

They are exact and without noise, since nothing of them is shown. MIN, MAX, ARG_MIN, ARG_MAX and AVG keep the bounds of
what they are of; COUNT and SUM have none, for a unit may have any number of rows.
Checked in tests/plan/test_bind_relations.py.
"""

from __future__ import annotations

from typing import Final

from dpcurator.catalog.model import KINDS, Table
from dpcurator.errors import Mend, Refusal
from dpcurator.language.expressions import Reader
from dpcurator.language.intervals import bounds
from dpcurator.language.question import Call, Literally
from dpcurator.language.render import words
from dpcurator.language.rows import Operand
from dpcurator.language.typed import Typed, own_type
from dpcurator.plan.relations import Fold

INNER: Final = ("COUNT", "SUM", "AVG", "MIN", "MAX", "ARG_MIN", "ARG_MAX", "BOOL_AND", "BOOL_OR")
_NAMES: Final = {"MIN": "least", "MAX": "greatest", "ARG_MIN": "arg_least", "ARG_MAX": "arg_greatest",
                 "BOOL_AND": "least", "BOOL_OR": "greatest"}


def fold_of(call: Call, name: str, reader: Reader, table: Table) -> Fold:
    """The fold that a call means. Raises Refusal."""
    function, count = call.function, 2 if call.function.startswith("ARG_") else 1
    if function == "COUNT" and not call.distinct and (call.star or _is_constant(call)):
        return Fold(name, "rows", "integer")
    if call.star or len(call.arguments) != count or (call.distinct and function not in ("COUNT", "MIN", "MAX")):
        example = f"{function}(x, y)" if count == 2 else f"{function}(x)"
        what = f"{function} takes {count} value{'s' * (count > 1)} here."
        raise Refusal(what, where=call.at, cure=f"Write {example}.")
    values = [reader.value(part) for part in call.arguments]
    typed = values[0]
    part, type = _operand(typed, call)
    if function == "COUNT":
        return Fold(name, "distinct" if call.distinct else "present", "integer", part)
    if function in ("SUM", "AVG"):
        return _summed(call, name, typed, table)
    if function.startswith("BOOL_") and type != "boolean":
        raise Refusal(
            f"{function} is of conditions, and {typed.said}.", where=call.at, cure=f"Write {function}(x > 0).")
    by = _operand(values[1], call)[0] if count == 2 else None
    return Fold(name, _NAMES[function], type, part, by)


def _operand(typed: Typed, call: Call) -> tuple[Operand, str]:
    type = own_type(typed)
    if type == "null":
        raise Refusal(f"{call.function} of NULL has no type.", where=call.at, cure="Write a column.")
    if type == "interval":
        raise Refusal("an aggregate takes no interval.", where=call.at, cure="Add it to a date or a timestamp.")
    part = typed.as_type(type)
    return part, "timestamp" if type == "local" else type


def _summed(call: Call, name: str, typed: Typed, table: Table) -> Fold:
    part, type = _operand(typed, call)
    if type not in ("integer", "float", "boolean"):
        raise Refusal(f"{call.function} needs numbers, and {typed.said}.", where=call.at, cure="Use COUNT, MIN or MAX.")
    function = call.function.lower()
    if KINDS[type] == "integer":
        return Fold(name, function, "float" if function == "avg" else "integer", part)
    ends = bounds(part, table)
    if ends is None:
        written = words(call.arguments[0]) or "x"
        clip = f"{call.function}(CLIP({written}, 0, 100))"
        over = words(call)
        raise Refusal(
            f"{call.function}({written}) has no bounds, so floats cannot be added up exactly.", where=call.at,
            cure=f"Write {clip}, with ends from public knowledge; or the steward declares bounds.",
            mends=() if over is None else (Mend(clip, over),),
        )
    return Fold(name, function, "float", part, None, *ends)


def _is_constant(call: Call) -> bool:
    return len(call.arguments) == 1 and isinstance(call.arguments[0], Literally) and call.arguments[0].value is not None
