"""What a plan may hold in memory, counted from public facts by one function; and the settings an engine runs under."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from typing import Any

import pytest

from dpcurator.engines import allowance
from dpcurator.engines.allowance import ALLOWANCE, TAGGED, VECTOR, WIDTH, Need, need_of, needed
from dpcurator.engines.duckdb.engine import DuckDB
from dpcurator.engines.duckdb.together import in_turns
from dpcurator.engines.limits import check_core
from dpcurator.engines.reference import Reference
from dpcurator.engines.settings import Settings
from dpcurator.errors import Misconfigured, Refusal
from dpcurator.language import rows
from dpcurator.language.evaluate import value
from dpcurator.plan.core import (
    ONE,
    Chosen,
    CorePlan,
    Filter,
    Listed,
    Measure,
    Owner,
    PerUnit,
    Project,
    ScaleDown,
    Scan,
    Source,
    Sum,
    Total,
)

TEXT = rows.Field(0, "text")


def plan(condition: rows.Predicate | None, letters: int = 500) -> Any:
    filtered = () if condition is None else (Filter(condition),)
    return (Scan("t0", (Source("c0", "text", None, letters),)), *filtered, Owner(None), Listed((), ((),)), Measure(()),
            PerUnit(), ScaleDown(1, 1, 1), Total((Sum("rows"),)))


def replaced(part: rows.Operand, what: str, by: str) -> rows.Compute:
    return rows.Compute("replace", (part,), "text", (what, by))


def is_q(part: rows.Operand) -> rows.Compare:
    return rows.Compare("=", part, rows.Constant("q", "text"))


def test_a_text_costs_four_bytes_a_letter_and_each_part_once() -> None:
    """By hand: the column, a copy of it twice as long, and a comparison; the same again costs nothing."""
    grown = replaced(TEXT, "a", "bb")
    need = needed((Source("c0", "text", None, 100),), [is_q(grown), rows.AnyOf((is_q(grown), is_q(grown)))])
    assert need.longest == 200
    assert need.bytes == VECTOR * (4 * (100 + 200) + 4 * allowance.WIDTH)
    assert needed((Source("c0", "integer"),), []).bytes == VECTOR * allowance.WIDTH


@pytest.mark.parametrize(("grown", "letters"), [
    (replaced(TEXT, "ab", "abc"), 9), (replaced(TEXT, "abc", "a"), 6), (replaced(TEXT, "a", ""), 6),
    (rows.Compute("concat", (TEXT, TEXT, rows.Constant("xyz", "text")), "text"), 15),
    (rows.Compute("substring", (TEXT,), "text", (3, 2)), 2), (rows.Compute("substring", (TEXT,), "text", (3, None)), 6),
    (rows.Choose((rows.When(is_q(TEXT), rows.Constant("x" * 9, "text")),), TEXT, "text"), 9),
    (rows.Compute("text_of_i", (rows.Compute("length", (TEXT,), "integer"),), "text"), 20),
])
def test_a_text_is_measured_before_it_is_made(grown: rows.Operand, letters: int) -> None:
    need = Need()
    assert need.add(grown, (Source("c0", "text", None, 6),)) == letters
    draws = random.Random("measured")
    for _ in range(50):
        found = value(grown, ("".join(draws.choices("abc", k=6)),))
        assert found is None or len(str(found)) <= letters


def test_a1_growth_is_refused_before_any_engine_sees_it() -> None:
    grown: rows.Operand = replaced(TEXT, "x", "x" * 16)
    many = rows.AnyOf(tuple(is_q(replaced(TEXT, "x", str(number))) for number in range(60)))
    twice = is_q(replaced(grown, "x", "x" * 16))
    for core, why in ((plan(twice), "128,000 letters"), (plan(many), "MiB for each thread"),
                      (plan(rows.Like(TEXT, "%_" + "a%b" * 900, "")), "steps a row")):
        duckdb = DuckDB.from_tables({"t0": {"c0": [""]}})
        for use in (check_core, Reference({"t0": {"c0": []}}).evaluate, duckdb.explain):
            with pytest.raises(Refusal, match=why) as refused:
                use(core)
            assert "LEFT(x, 100)" in str(refused.value.cure)
    check_core(plan(is_q(replaced(rows.Compute("substring", (grown,), "text", (1, 100)), "x", "x" * 16))))


@pytest.mark.parametrize("letters", [1, 3])
def test_a_stored_text_past_its_length_is_missing_on_every_engine(letters: int) -> None:
    texts = ["", "a", "😀", "ab", "😀😀", "é" * 3, "abcd", "😀" * 4, None]
    core = plan(rows.IsMissing(TEXT), letters)
    expected = sum(text is None or len(text) > letters for text in texts)
    for engine in (Reference({"t0": {"c0": texts}}), DuckDB.from_tables({"t0": {"c0": texts}})):
        assert engine.evaluate(core).open_for_release() == ((expected,),)
        z = rows.Compare("=", TEXT, rows.Constant("z", "text"))
        filled = (Scan("t0", (replace(core[0].columns[0], fill="z"),)), Filter(z), *core[2:])
        assert engine.evaluate(filled).open_for_release() == ((expected,),)


def test_a_batch_is_in_as_few_statements_as_hold_it() -> None:
    cores = [plan(is_q(replaced(TEXT, "x", chr(200 + number)))) for number in range(60)]
    turns = in_turns(cores)
    assert [core for some in turns for core in some] == cores
    assert all(need_of(some).bytes <= ALLOWANCE for some in turns)
    assert all(need_of([*one, other[0]]).bytes > ALLOWANCE for one, other in itertools.pairwise(turns))
    assert len(turns) == 3


def test_what_an_engine_may_use_is_ours_and_not_the_machines() -> None:
    engine = DuckDB.from_tables({"t0": {"c0": ["a"]}})
    names = ("threads", "memory_limit", "temp_directory", "preserve_insertion_order", "lock_configuration",
             "max_temp_directory_size")
    found = engine._cursor().execute(f"SELECT {', '.join(f'current_setting({name!r})' for name in names)}").fetchone()
    assert found == (4, "1.5 GiB", "", False, True, "256.0 GiB")


def test_a1_what_unknown_keys_are_put_in_order_by_is_counted() -> None:
    """A1: the salt, the unit and the key are joined for each row in flight, value by value (`key_bytes`)."""

    def plan(letters: int, *, computed: bool = False, owner: int | None = 0) -> CorePlan:
        scan = Scan("t0", (Source("c0", "text", None, 100), Source("c1", "text", None, letters)))
        doubled = rows.Compute("concat", (rows.Field(1, "text"), rows.Field(1, "text")), "text")
        more = (Project((doubled,)),) if computed else ()
        steps = (scan, *more, Owner(owner), Chosen((2 if computed else 1,), 3, "salt"))
        return (*steps, Measure(()), PerUnit(), ScaleDown(2, 3, ONE), Total((Sum("units"),)))

    def bytes_of(made: int) -> int:
        return VECTOR * (4 * made + WIDTH)

    tag = TAGGED
    joined = [100 + tag, 4 + 100 + tag, 50 + tag, 4 + 100 + tag + 50 + tag]
    assert need_of([plan(50)]).bytes == sum(map(bytes_of, [100, 50, *joined]))
    joined = [100 + tag, 4 + 100 + tag, 100 + tag, 4 + 100 + tag + 100 + tag]
    assert need_of([plan(50, computed=True)]).bytes == sum(map(bytes_of, [100, 50, 100, *joined]))
    assert need_of([plan(50, owner=None)]).bytes == sum(map(bytes_of, [100, 50]))  # nothing is dropped there
    check_core(plan(500))
    with pytest.raises(Refusal, match="counted from the max_length"):
        check_core(plan(8000))


def test_too_little_memory_for_its_threads_is_told() -> None:
    Settings(threads=4, memory=1472 * 2**20)
    with pytest.raises(Misconfigured, match="needs 1,472 MiB"):
        Settings(threads=4, memory=1471 * 2**20)
