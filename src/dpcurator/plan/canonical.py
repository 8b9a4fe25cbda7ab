"""Plans as JSON, one spelling for each plan, and back (DESIGN 1.4).

Every frozen value of the plan becomes {"node": its class, field: ...} with exact rationals as "p/q" text; keys are
sorted and nothing else varies, so equal plans have equal bytes and a digest names a plan for ever. Reading refuses
whatever it does not know. Law: `plan_of(as_json(plan)) == plan` (tests/plan/test_canonical.py).
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from fractions import Fraction
from typing import Any

from dpcurator.errors import Refusal
from dpcurator.plan import nodes, rows

_KNOWN: dict[str, Any] = {
    kind.__name__: kind
    for module in (nodes, rows)
    for kind in vars(module).values()
    if isinstance(kind, type) and dataclasses.is_dataclass(kind) and kind.__module__ == module.__name__
}


def as_json(node: Any) -> Any:
    """The JSON value of a plan, or of any part of one."""
    if dataclasses.is_dataclass(node) and not isinstance(node, type):
        named = {f.name: as_json(getattr(node, f.name)) for f in dataclasses.fields(node)}
        return {"node": type(node).__name__} | named
    if isinstance(node, tuple):
        return [as_json(part) for part in node]
    if isinstance(node, Fraction):
        return {"exact": f"{node.numerator}/{node.denominator}"}
    if isinstance(node, float):
        return {"double": node.hex()}
    return node


def plan_of(value: Any) -> nodes.Plan:
    """The plan that `as_json` wrote. Raises Refusal for anything else."""
    try:
        made = _read(value)
    except (KeyError, TypeError, ValueError, ZeroDivisionError, RecursionError):
        made = None
    if not isinstance(made, nodes.Plan):
        raise Refusal("this is not the JSON of a plan.", cure="`dpcurator quote --json` prints one under `plan`.")
    return made


def _read(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_read(part) for part in value)
    if not isinstance(value, dict):
        return value
    if set(value) == {"exact"}:
        return Fraction(value["exact"])
    if set(value) == {"double"}:
        return float.fromhex(value["double"])
    kind = _KNOWN[value["node"]]
    named = {name: _read(part) for name, part in value.items() if name != "node"}
    if set(named) != {f.name for f in dataclasses.fields(kind)}:
        raise ValueError("fields do not match")
    return kind(**named)


def canonical_text(node: Any) -> str:
    """The one spelling."""
    return json.dumps(as_json(node), sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def digest(node: Any) -> str:
    """sha256 of the one spelling, hexadecimal."""
    return hashlib.sha256(canonical_text(node).encode()).hexdigest()
