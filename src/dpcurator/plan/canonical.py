"""Plans as JSON, one spelling for each plan, and back (design 1.4).

Every frozen value of the plan becomes {"node": its class, field: ...} with exact rationals as "p/q" text; keys are
sorted and nothing else varies, so equal plans have equal bytes and a digest names a plan for ever. Reading follows the
declared types of the fields and refuses whatever does not fit them. Law: `plan_of(as_json(plan)) == plan`.
Checked in tests/plan/test_canonical.py.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from fractions import Fraction
from functools import lru_cache
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from dpcurator.errors import Refusal
from dpcurator.plan import nodes


def as_json(node: Any) -> Any:
    """The JSON value of a plan, or of any part of one."""
    if dataclasses.is_dataclass(node) and not isinstance(node, type):
        named = {f.name: as_json(getattr(node, f.name)) for f in dataclasses.fields(node) if not _left_out(f, node)}
        return {"node": type(node).__name__} | named
    if isinstance(node, tuple):
        return [as_json(part) for part in node]
    if isinstance(node, Fraction):
        return {"exact": f"{node.numerator}/{node.denominator}"}
    if isinstance(node, float):
        return {"double": node.hex()}
    return node


def _left_out(part: dataclasses.Field[Any], node: Any) -> bool:
    """Whether a field that came later has its default: plans written before it keep their bytes and digests."""
    return "later" in part.metadata and getattr(node, part.name) == part.default


def plan_of(value: Any) -> nodes.Plan:
    """The plan that `as_json` wrote. Raises Refusal for anything else."""
    try:
        made: nodes.Plan = _read(value, nodes.Plan)
        return made
    except (KeyError, TypeError, ValueError, ArithmeticError, IndexError, RecursionError):
        pass
    raise Refusal("this is not the JSON of a plan.", cure="`dpcurator quote --json` prints one under `plan`.")


_RATIO = re.compile(r"-?[0-9]{1,1400}/[0-9]{1,1400}")


def _read(value: Any, hint: Any) -> Any:
    """The value a JSON value stands for, where the type `hint` is expected. Raises ValueError for any other."""
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        fits = [one for one in get_args(hint) if _may_be(value, one)]
        return _read(value, fits[0])
    if not _may_be(value, hint):
        raise ValueError("of another type")
    if origin is tuple:
        return tuple(_read(part, get_args(hint)[0]) for part in value)
    if hint is Fraction:
        return _alike(Fraction(value["exact"]) if _RATIO.fullmatch(value["exact"]) else None, value)
    if hint is float:
        return _alike(float.fromhex(value["double"]), value)
    if not dataclasses.is_dataclass(hint):
        return value
    kind: Any = hint
    hints = _hints(kind)
    later = {f.name for f in dataclasses.fields(kind) if "later" in f.metadata}
    if not {"node", *hints} - later <= set(value) <= {"node", *hints}:
        raise ValueError("fields do not match")
    made = kind(**{name: _read(value[name], hints[name]) for name in hints if name in value})
    if any(_left_out(f, made) and f.name in value for f in dataclasses.fields(kind)):
        raise ValueError("not in the one spelling")
    return made


_NOT_FINITE = (float("inf"), float("-inf"))


def _alike(number: Fraction | float | None, value: Any) -> Fraction | float:
    """A number that `as_json` spells as it was spelled: in lowest terms, finite."""
    if number is None or number in _NOT_FINITE or number != number or as_json(number) != value:
        raise ValueError("not in the one spelling")
    return number


def _may_be(value: Any, hint: Any) -> bool:
    """Whether a JSON value could stand for a value of this type, by its outermost form."""
    if get_origin(hint) is Literal:
        return isinstance(value, str) and value in get_args(hint)
    if get_origin(hint) is tuple:
        return isinstance(value, list)
    if hint is Fraction or hint is float:
        return isinstance(value, dict) and set(value) == {"exact" if hint is Fraction else "double"}
    if dataclasses.is_dataclass(hint):
        return isinstance(value, dict) and value.get("node") == getattr(hint, "__name__", None)
    return type(value) is hint


@lru_cache(maxsize=64)
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


def canonical_text(node: Any) -> str:
    """The one spelling."""
    return json.dumps(as_json(node), sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def digest(node: Any) -> str:
    """sha256 of the one spelling, hexadecimal."""
    return hashlib.sha256(canonical_text(node).encode()).hexdigest()
