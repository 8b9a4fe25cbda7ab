"""Each function on random rows: the engines find in every row the very value that Python computes."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from engine_rows import BESIDE, OTHERS, wrong
from engine_strategies import BAD_FLOATS, DAYS, FLOATS, INTEGERS, LETTERS, MOMENTS, SPELLED, TEXTS, literals
from hypothesis import given
from hypothesis import strategies as st
from power import Run, tried

from dpcurator.language import days, rows
from dpcurator.language.evaluate import value
from dpcurator.language.functions import FUNCTIONS
from dpcurator.language.functions.function import Function

SHAPES = [
    (function, kind)
    for function in FUNCTIONS
    for kind in (("integer", "float", "text") if function.kind == "k" else (LETTERS[function.kind],))
]


SIZE = 5000 if Run.whole else 300  # rows of an example


def a_float(draws: random.Random) -> float:
    which = draws.randrange(5)
    if which == 0:
        found = draws.choice(FLOATS + BAD_FLOATS)
        return 0.0 if math.isnan(found) else found + 0.0
    if which == 1:
        return draws.randint(-70, 70) / draws.choice([1, 1, 2, 8, 10])
    if which == 2:
        return draws.uniform(-760, 760)
    sign, power = draws.choice([-1, 1]), draws.randint(*draws.choice([(-1073, 1024), (-9, 9)]))
    return sign * math.ldexp(draws.uniform(0.5, 1), power)


def an_integer(draws: random.Random, function: str) -> int:
    if draws.randrange(3) == 0:
        return draws.choice(INTEGERS)
    if "date" in function:
        return draws.choice([draws.choice(DAYS), draws.randint(days.FIRST_DAY, days.LAST_DAY), draws.randint(0, 20000)])
    if "time" in function or "local" in function:
        recent = draws.randint(0, 60 * 365) * days.DAY + draws.randint(0, 24 * 60) * 60_000_000
        return draws.choice([draws.choice(MOMENTS), draws.randint(days.FIRST_MOMENT, days.LAST_MOMENT), recent])
    return draws.choice([draws.randint(-20, 20), draws.randint(-(2**63), 2**63 - 1), draws.randint(-(2**33), 2**33)])


def a_text(draws: random.Random, function: str) -> str:
    if draws.randrange(3) == 0:
        return draws.choice(TEXTS + SPELLED)
    if function in ("i_of_text", "f_of_text"):
        digits = "".join(draws.choices("0123456789", k=draws.choice([1, 3, 16, 17, 18, 25])))
        spelled = draws.choice(["", "-", "+"]) + digits[: draws.randint(0, 25)] + draws.choice(["", "."]) + digits
        return spelled + draws.choice(["", f"e{draws.randint(-345, 310)}"])
    if function == "date_of_text":
        return f"{draws.randint(0, 9999):04d}-{draws.randint(0, 13):02d}-{draws.randint(0, 32):02d}"
    return "".join(draws.choices(" aAbZz\0é\u0301😀%", k=draws.randint(0, 9)))


def a_value(draws: random.Random, kind: str, function: str) -> Any:
    if draws.randrange(12) == 0:
        return None
    if kind == "float":
        return a_float(draws)
    return an_integer(draws, function) if kind == "integer" else a_text(draws, function)


def check(engine: Any, function: Function, kind: str, found: tuple[Any, ...], draws: random.Random, size: int) -> None:
    letters = function.parts[0] * draws.randint(1, 3) if function.parts.endswith("*") else function.parts
    kinds: list[Any] = [LETTERS.get(letter, kind) for letter in letters]
    if function.name == "clip":
        while None in (found := tuple(a_value(draws, kind, "") for _ in range(2))) or not all(map(finite, found)):
            pass
        found = tuple(sorted(found))
    parts = tuple(rows.Field(index, part) for index, part in enumerate(kinds))
    compute = rows.Compute(function.name, parts, kind, found)  # type: ignore[arg-type]
    lines = [[a_value(draws, part, function.name) for part in kinds] for _ in range(size)]
    expected = [(line, value(compute, tuple(line))) for line in lines]
    rows_wrong = wrong(engine, compute, expected)
    assert not rows_wrong, f"{function.name}{found}: {rows_wrong[:3]}"


def finite(value: Any) -> bool:
    return not isinstance(value, float) or math.isfinite(value)


@pytest.mark.parametrize("engine", [one for one in OTHERS if one.values[0] not in BESIDE])
@pytest.mark.parametrize(("function", "kind"), SHAPES, ids=lambda part: getattr(part, "name", part))
@given(data=st.data())
@tried
def test_a_function_gives_python_s_value_in_every_row(engine: Any, function: Function, kind: str, data: Any) -> None:
    found = data.draw(literals[function.name]) if function.name in literals else ()
    check(engine, function, kind, found, random.Random(data.draw(st.integers(0, 2**32))), SIZE)


@pytest.mark.parametrize("engine", [one for one in OTHERS if one.values[0] in BESIDE])
@pytest.mark.parametrize(("function", "kind"), SHAPES, ids=lambda part: getattr(part, "name", part))
@given(data=st.data())
@tried
def test_a_function_gives_python_s_value_beside_this_process_too(
    engine: Any, function: Function, kind: str, data: Any
) -> None:
    """Where a statement takes a second or more."""
    found = data.draw(literals[function.name]) if function.name in literals else ()
    check(engine, function, kind, found, random.Random(data.draw(st.integers(0, 2**32))), SIZE)

