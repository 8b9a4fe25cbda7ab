"""Keys nobody listed: which of a unit's keys are kept, worked by hand from `key_bytes`, on every engine."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from engine_mistakes import RIGHT, mistaken
from engine_rows import EVERY, opened

from dpcurator.engines.duckdb import engine
from dpcurator.engines.duckdb.engine import DuckDB
from dpcurator.language import rows
from dpcurator.plan.core import (
    ONE,
    Chosen,
    Measure,
    Owner,
    PerUnit,
    Project,
    ScaleDown,
    Scan,
    Source,
    Sum,
    Total,
    key_bytes,
)

KINDS: Any = {"t0": {"c0": "text", "c1": "text", "c2": "integer"}}
SCAN = Scan("t0", (Source("c0", "text"), Source("c1", "text"), Source("c2", "integer")))
TEXTS = ["", None, "a", "é", "e\u0301", "a\0", "\0", "1:a", "t1:a", "n0:", "😀", "n0", "i1:1", ":", "x" * 300, "é" * 50]
NUMBERS = [None, 0, -1, 10, -(2**63), 2**63 - 1, 7, -12345678901]
KEYS = [(text, number) for text in TEXTS for number in NUMBERS]


def core(columns: tuple[int, ...], most: int, salt: str, *, owner: int | None = 0, project: Any = ()) -> Any:
    steps = (Project(project),) if project else ()
    return (SCAN, *steps, Owner(owner), Chosen(columns, most, salt), Measure(()), PerUnit(),
            ScaleDown(1, most, ONE if owner is not None else 1), Total((Sum("units"), Sum("rows"))))


def table(units: list[Any], texts: list[Any], numbers: list[Any]) -> Any:
    return {"t0": {"c0": units, "c1": texts, "c2": numbers}}


def found(engine: Any, tables: Any, plan: Any) -> dict[Any, Any]:
    rows_ = opened(engine.from_tables(tables, KINDS).evaluate(plan))
    return {tuple(value for _, value in key): row for key, row in rows_.items()}


def test_key_bytes_by_hand() -> None:
    assert key_bytes("s", 7, ("é", None, "", -1)) == "t1:si1:7t2:én0:t0:i2:-1".encode()


@pytest.mark.parametrize("engine", EVERY)
class TestChosen:
    @pytest.mark.parametrize("unit", ["u", "", "é:\0", "t1:a"])
    @pytest.mark.parametrize("salt", ["", "salt", "é\0:"])
    @pytest.mark.parametrize("most", [1, 5, 127])
    def test_a_unit_keeps_its_first_keys_by_md5(self, engine: Any, unit: str, salt: str, most: int) -> None:
        order = sorted(KEYS, key=lambda key: hashlib.md5(key_bytes(salt, unit, key)).digest())
        tables = table([unit] * len(KEYS), [key[0] for key in KEYS], [key[1] for key in KEYS])
        assert found(engine, tables, core((1, 2), most, salt)) == dict.fromkeys(order[:most], (ONE, ONE))

    def test_with_no_more_keys_than_allowed_all_are_kept_whole(self, engine: Any) -> None:
        tables = table(["u", "u", "u", "v", None], ["a", "b", "a", "b", "c"], [1] * 5)
        assert found(engine, tables, core((1,), 2, "s")) == {("a",): (ONE, ONE), ("b",): (2 * ONE, 2 * ONE)}

    def test_one_key_more_is_dropped_and_the_others_stay_whole(self, engine: Any) -> None:
        tables = table(["u"] * 3 + ["v"], ["a", "b", None, "c"], [1] * 4)
        kept = found(engine, tables, core((1,), 2, "s"))
        assert len(kept) == 3
        assert set(kept.values()) == {(ONE, ONE)}

    def test_spellings_merged_by_an_expression_are_one_key(self, engine: Any) -> None:
        lower = rows.Compute("lower", (rows.Field(1, "text"),), "text")
        tables = table(["u", "u", "v"], ["A", "a", "É"], [1, 2, 3])
        plan = core((3,), 1, "s", project=(lower,))
        assert found(engine, tables, plan) == {("a",): (ONE, ONE), ("É",): (ONE, ONE)}

    def test_each_row_a_unit_drops_nothing(self, engine: Any) -> None:
        tables = table([None] * 3, ["a", "b", None], [1] * 3)
        plan = core((1,), 1, "s", owner=None)
        assert found(engine, tables, plan) == {("a",): (1, 1), ("b",): (1, 1), (None,): (1, 1)}

    def test_no_rows_no_keys(self, engine: Any) -> None:
        assert found(engine, table([], [], []), core((1,), 1, "s")) == {}


def test_r6_what_is_put_in_order_of_one_unit_holds_no_text() -> None:
    """DuckDB holds it whole in memory: with keys or the unit, one person's many long texts ended a question in a fault.
    The number that stands for the unit is given once, whoever reads it."""
    steps = {line.partition(" AS ")[0].split()[-1]: line
             for line in engine.statement(core((1, 2), 5, "s")).sql.split("\n") if " AS " in line}
    assert steps["placed"].startswith("placed AS (SELECT i AS w, b AS chosen FROM (SELECT i, b, count(*) OVER (")
    assert "PARTITION BY i ORDER BY b" in steps["placed"]
    assert "y0" not in steps["placed"]
    assert "*" not in steps["placed"].replace("count(*)", "")
    assert steps["spread"].startswith("spread AS MATERIALIZED (SELECT w, row_number() OVER () AS i")
    assert not any(" OVER " in line for name, line in steps.items() if name not in ("placed", "spread"))


@pytest.mark.parametrize("mistake", [
    "keys kept by their bytes alone", "a key too many kept", "lengths in code points",
    "a missing key looks like an empty one",
])
def test_a_mistake_in_choosing_fails_a_table(mistake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "statement", lambda core: mistaken(mistake, core))

    def run() -> None:
        TestChosen().test_one_key_more_is_dropped_and_the_others_stay_whole(DuckDB)
        for most in (1, 5, 127):
            TestChosen().test_a_unit_keeps_its_first_keys_by_md5(DuckDB, "u", "salt", most)

    with pytest.raises(AssertionError):
        run()


def test_r7_of_keys_with_one_md5_none_takes_a_unit_past_its_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """With an md5 of one digit many keys tie: a tie that would pass the cap is dropped whole, alike on both engines. A
    window that counts rows instead of ties is the control, and keeps too many."""
    from types import SimpleNamespace

    from dpcurator.engines import reference

    def short(data: bytes, **_: Any) -> Any:
        digit = hashlib.md5(data).hexdigest()[0]
        return SimpleNamespace(digest=digit.encode)

    def statement(core: Any, window: str = "RANGE") -> Any:
        query = RIGHT(core)
        text = re.sub(r"md5\((.*)\) AS b FROM", r"left(md5(\1), 1) AS b FROM", query.sql)
        assert text != query.sql
        return replace(query, sql=text.replace("RANGE BETWEEN", f"{window} BETWEEN"))

    monkeypatch.setattr(reference, "hashlib", SimpleNamespace(md5=short))
    units = [f"u{n % 3}" for n in range(len(KEYS))]
    tables = table(units, [key[0] for key in KEYS], [key[1] for key in KEYS])
    for most in (1, 3, 10):
        plan = core((1, 2), most, "salt")
        expected = found(reference.Reference, tables, plan)
        kept = Counter(unit for key, unit in zip(KEYS, units, strict=True) if key in expected)
        assert max(kept.values(), default=0) <= most
        monkeypatch.setattr(engine, "statement", statement)
        assert found(DuckDB, tables, plan) == expected
    monkeypatch.setattr(engine, "statement", lambda core: statement(core, "ROWS"))
    assert found(DuckDB, tables, plan) != expected
