"""Every function on inputs with results worked by hand or by its definition, in Python and on every engine.

`vectors/*.json`: a function (and, for those of any kind, the kind) to a list of [parts, literals, result]; null is
missing, {"repeat": [text, n]} a long text. TIM-01, TIM-03 and SPV-01 are among them (times.json, floats.json).
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from engine_rows import EVERY, wrong

from dpcurator.catalog.model import MAX_LENGTH
from dpcurator.language import rows
from dpcurator.language.evaluate import value
from dpcurator.language.functions import BY_NAME, FUNCTIONS
from dpcurator.language.functions.function import KINDS

FILES = sorted((Path(__file__).parent / "vectors").glob("*.json"))
VECTORS = {name: found for path in FILES for name, found in json.loads(path.read_text(encoding="utf-8")).items()}


def long(value: Any) -> Any:
    return value["repeat"][0] * value["repeat"][1] if isinstance(value, dict) else value


def ordinary(lines: list[tuple[list[Any], Any]]) -> list[tuple[list[Any], Any]]:
    """Without those that have texts no accepted plan reads or makes beside another (engines/allowance.py)."""
    return [
        (parts, result) for parts, result in lines
        if all(len(one) <= MAX_LENGTH for one in (*parts, result) if isinstance(one, str))
    ]


def kinds_of(name: str, count: int) -> tuple[Any, Any]:
    """The kinds of the parts, and of the result."""
    function, _, any_kind = name.partition(" ")
    known: Any = BY_NAME[function]
    return known.kinds(count, any_kind), KINDS.get(known.kind, any_kind)


def by_shape(name: str) -> list[tuple[rows.Compute, list[tuple[list[Any], Any]]]]:
    """The vectors of a function, together where parameters and number of parts are the same."""
    found: dict[Any, list[tuple[list[Any], Any]]] = defaultdict(list)
    for parts, literals, result in VECTORS[name]:
        found[len(parts), tuple(literals)].append(([long(part) for part in parts], long(result)))
    made = []
    for (size, literals), lines in found.items():
        kinds, kind = kinds_of(name, size)
        parts = tuple(rows.Field(index, part) for index, part in enumerate(kinds))
        made.append((rows.Compute(name.partition(" ")[0], parts, kind, literals), lines))
    return made


def test_every_function_has_vectors_and_every_vector_a_function() -> None:
    assert {name.partition(" ")[0] for name in VECTORS} == {function.name for function in FUNCTIONS}
    for function in FUNCTIONS:
        if function.kind == "k":
            assert {f"{function.name} {kind}" for kind in ("integer", "float", "text")} <= set(VECTORS)
    for name, lines in VECTORS.items():
        assert any(None in parts for parts, _, _ in lines), f"{name} is never given a missing value"


@pytest.mark.parametrize("name", VECTORS)
def test_in_python(name: str) -> None:
    for compute, lines in by_shape(name):
        for parts, result in lines:
            found = value(compute, tuple(parts))
            assert repr(found) == repr(result), (compute, parts if len(repr(parts)) < 200 else "a long text")


@pytest.mark.parametrize("name", VECTORS)
@pytest.mark.parametrize("engine", EVERY)
def test_on_every_engine(name: str, engine: Any) -> None:
    for compute, lines in by_shape(name):
        found = wrong(engine, compute, ordinary(lines))
        assert not found, f"{compute.function}{compute.literals}: {str(found)[:300]}"
