"""Tables worked by hand, run on every engine: semantics 2.5, CON-01, CON-07, COM-16, and sums at the edges of types."""

from __future__ import annotations

import math
from typing import Any

import pytest
from engine_mistakes import MISTAKES, mistaken
from engine_rows import EVERY

from dpcurator.engines.duckdb import engine
from dpcurator.engines.duckdb.engine import DuckDB
from dpcurator.language import rows
from dpcurator.plan.core import (
    ONE,
    CorePlan,
    Filter,
    Grid,
    Listed,
    Measure,
    Owner,
    PerUnit,
    Product,
    ScaleDown,
    Scan,
    Source,
    Sum,
    Total,
)

ALL = (Sum("rows"), Sum("units"), Sum("present"), Sum("values"))
GROUPS = tuple((f"g{i}",) for i in range(7))
KINDS = {"t0": {"c0": "integer", "c1": "text"}}
# user, group, value: the data of the cases CON-01 and COM-16
USERS = [1] * 10 + [2, 2, 3, 4, 5, 5]
PLACES = [f"g{i}" for i in (0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 0, 2, 0, 0)]
VALUES = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 3, 4, 5, 6, 7, 8]


def plan(
    *, grid: Grid | None = None, keys: Any = None, owner: int | None = 0, max_rows: int = 1, max_groups: int = 1,
    max_total: int | None = None, sums: tuple[Sum, ...] = ALL, one: int = ONE, condition: rows.Predicate | None = None,
) -> CorePlan:
    """Columns 0 unit, 1 key (text), 2 the measured value (`grid`, by default 0 .. 10)."""
    grid = grid or Grid(2, "integer", 0, 10, 0, 10, 0)
    scan = Scan("t0", (Source("c0", "integer"), Source("c1", "text"), Source("c2", grid.kind)))
    listed = Listed((), ((),)) if keys is None else Listed((1,), tuple(keys))
    where = () if condition is None else (Filter(condition),)
    scale = ScaleDown(max_rows, max_groups, one, max_total)
    return (scan, *where, Owner(owner), listed, Measure((grid,)), PerUnit(), scale, Total(sums))  # type: ignore[return-value]


def table(units: list[Any], places: list[Any], values: list[Any]) -> dict[str, dict[str, list[Any]]]:
    return {"t0": {"c0": units, "c1": places, "c2": values}}


def evaluate(engine: Any, tables: Any, core: CorePlan) -> tuple[tuple[int, ...], ...]:
    """The sums. What a column holds is declared, since of a table without rows it cannot be guessed."""
    found: tuple[tuple[int, ...], ...] = engine.from_tables(tables, KINDS).evaluate(core).open_for_release()
    return found


@pytest.mark.parametrize("engine", EVERY)
class TestByHand:
    def test_the_cap_is_enforced_CON_01(self, engine: Any) -> None:
        """min(10,2)+2+1+1+2 = 8 rows; user 1's sum 55 scaled by 2/10 is 11, and 7, 5, 6, 15 stay whole: 44."""
        found = evaluate(engine, table(USERS, PLACES, VALUES), plan(max_rows=2))
        assert found == ((8 * ONE, 5 * ONE, 8 * ONE, 44 * ONE),)

    def test_one_unit_moves_groups_by_three_in_all_COM_16(self, engine: Any) -> None:
        """User 1 is in five groups of which three count: floor(2^16 * 3/5) = 39321 in each; the others stay whole."""
        three_fifths = 39321
        found = evaluate(engine, table(USERS, PLACES, VALUES), plan(keys=GROUPS, max_groups=3, sums=(Sum("rows"),)))
        whole = [3, 1, 1, 0, 0, 0, 0]  # g0: users 2, 3, 5; g1: user 2; g2: user 4
        shares = [three_fifths] * 5 + [0, 0]
        assert found == tuple((ONE * n + share,) for n, share in zip(whole, shares, strict=True))

    def test_rows_are_clipped_then_scaled_CON_07(self, engine: Any) -> None:
        """1 .. 5 clipped to [1, 3] less 1 sum to 0+1+2+2+2 = 7 over 5 rows, of which 3 count: 7 * 3/5."""
        grid = Grid(2, "integer", 1, 3, 1, 3, 0)
        found = evaluate(engine, table([9] * 5, ["x"] * 5, [1, 2, 3, 4, 5]), plan(grid=grid, max_rows=3))
        assert found == ((3 * ONE, ONE, 3 * ONE, 7 * 3 * ONE // 5),)
        sum_of_values = (found[0][3] + 1 * found[0][2]) / ONE  # S' + L n'
        assert 7.19 < sum_of_values <= 7.2  # 12 * 3/5, between 6 and 9

    def test_one_floor_not_two(self, engine: Any) -> None:
        """One unit, c = 3 rows of 1 in each of 3 keys, m = 2, l0 = 2: n' = floor(2^16 * 2 * 2/3) = 87381 and
        S' = floor(3 * 87381 / 3) = 87381 <= W n'. Flooring S * 2/3 in whole steps first would give another."""
        units, places = [1] * 9, ["g0"] * 3 + ["g1"] * 3 + ["g2"] * 3
        core = plan(keys=GROUPS[:3], max_rows=2, max_groups=2, sums=(Sum("present"), Sum("values")))
        assert evaluate(engine, table(units, places, [1] * 9), core) == ((87381, 87381),) * 3
        twos = [1, 1, 2] * 3  # floor(4 * 87381 / 3) = 116508, where floor(4 / 3) * 87381 = 87381
        assert evaluate(engine, table(units, places, twos), core) == ((87381, 116508),) * 3

    def test_rows_in_all_are_capped_with_one_factor(self, engine: Any) -> None:
        """Unit 1: 3 rows in g0 and 1 in g1; m = 2, T = 2: t = 2 + 1, f = 2/3, so n' is floor(2^16 * 2 * 2/3) = 87381
        and floor(2^16 * 2/3) = 43690, which sum to 2 rows; S' = floor(6 * 87381 / 3) of 1, 2, 3 and 5 * 43690 of 5. The
        unit itself counts whole, min(1, T/g) with g = 2. Unit 2, 1 row in each, is within T."""
        units, places, values = [1, 1, 1, 1, 2, 2], ["g0", "g0", "g0", "g1", "g0", "g1"], [1, 2, 3, 5, 7, 9]
        core = plan(keys=GROUPS[:2], max_rows=2, max_groups=9, max_total=2)
        assert evaluate(engine, table(units, places, values), core) == (
            (87381 + ONE, 2 * ONE, 87381 + ONE, 174762 + 7 * ONE), (43690 + ONE, 2 * ONE, 43690 + ONE,
             218450 + 9 * ONE),
        )
        one_group = plan(keys=GROUPS[:2], max_rows=2, max_groups=1, max_total=2)  # l0/g = 1/2 < 2/3 binds
        assert evaluate(engine, table(units, places, values), one_group)[0] == (
            ONE + ONE // 2, ONE, ONE + ONE // 2, 2 * ONE + 7 * ONE // 2,
        )

    def test_missing_values_count_as_rows_only(self, engine: Any) -> None:
        found = evaluate(engine, table([1, 1, 2, None], ["x"] * 4, [None, 4, None, 7]), plan(max_rows=5))
        assert found == ((3 * ONE, 2 * ONE, 1 * ONE, 4 * ONE),)

    def test_an_unlisted_key_does_not_spread_a_unit(self, engine: Any) -> None:
        """g counts listed keys only: the unit's rows at 'elsewhere' do not scale the others down."""
        tables = table([1, 1], ["g0", "elsewhere"], [1, 1])
        assert evaluate(engine, tables, plan(keys=GROUPS[:2]))[0][0] == ONE

    def test_missing_is_a_key_when_listed(self, engine: Any) -> None:
        tables = table([1, 2, 3], [None, "a", None], [1, 1, 1])
        assert evaluate(engine, tables, plan(keys=[(None,), ("b",)], sums=(Sum("rows"),))) == ((2 * ONE,), (0,))

    def test_no_keys_no_rows(self, engine: Any) -> None:
        assert evaluate(engine, table(USERS, PLACES, VALUES), plan(keys=[])) == ()

    def test_an_empty_table_is_all_zeros(self, engine: Any) -> None:
        assert evaluate(engine, table([], [], []), plan(keys=GROUPS[:2])) == ((0,) * 4,) * 2

    def test_each_row_a_unit(self, engine: Any) -> None:
        found = evaluate(engine, table([None, 1, 1], ["x"] * 3, [3, None, 12]), plan(owner=None, one=1))
        assert found == ((3, 3, 2, 13),)

    def test_nan_is_missing_infinities_clamp_and_minus_zero_is_zero(self, engine: Any) -> None:
        grid = Grid(2, "float", -1.0, 1.0, -2, 2, 1)
        values = [math.nan, math.inf, -math.inf, -0.0, 0.25, -0.25, math.nextafter(0.25, 0), 5e-324]
        found = evaluate(engine, table([None] * 8, ["x"] * 8, values), plan(grid=grid, owner=None, one=1))
        assert found == ((8, 8, 7, sum([4, 0, 2, 3, 2, 3, 2])),)  # floor(2x + 1/2) + 2; the ulp below is lost

    def test_the_sum_nearest_to_one_rounds_as_float64_does(self, engine: Any) -> None:
        """0.49999999999999994 + 0.5 is 1.0 in float64, so its floor is 1 and not 0."""
        grid = Grid(2, "float", 0.0, 8.0, 0, 8, 0)
        tables = table([None], ["x"], [0.49999999999999994])
        assert evaluate(engine, tables, plan(grid=grid, owner=None, one=1, sums=(Sum("values"),))) == ((1,),)

    @pytest.mark.parametrize("bits", [53, 62])
    def test_sums_past_float64_and_past_64_bits(self, engine: Any, bits: int) -> None:
        """1025 values of 2^bits - 1 on a grid of [0, 2^bits], each a unit of ONE: near 2^79 and 2^88 and odd."""
        grid = Grid(2, "integer", 0, 2**bits, 0, 2**bits, 0)
        tables = table(list(range(1025)), ["x"] * 1025, [2**bits - 1] * 1025)
        expected = 1025 * (2**bits - 1)
        assert evaluate(engine, tables, plan(grid=grid, sums=(Sum("values"),))) == ((ONE * expected,),)
        assert evaluate(engine, tables, plan(grid=grid, owner=None, one=1, sums=(Sum("values"),))) == ((expected,),)

    @pytest.mark.parametrize("start", [2**53, 2**63, 2**64, 2**100, -(2**53), -(2**63), -(2**100)])
    def test_a_grid_far_from_zero(self, engine: Any, start: int) -> None:
        """x = start + 2^50 or so, on a grid of exponent 0 that begins at start: exactly x - start in float64 terms."""
        x = float(start + 2**50)
        grid = Grid(2, "float", float(start), float(start + 2**60), start, start + 2**60, 0)
        tables = table([None], ["x"], [x])
        expected = math.floor(x + 0.5) - start
        assert evaluate(engine, tables, plan(grid=grid, owner=None, one=1, sums=(Sum("values"),))) == ((expected,),)

    def test_a_division_in_128_bits(self, engine: Any) -> None:
        """One unit, 3 values near 2^62, m = 1: S is past 64 bits and S n' past 2^79; floor(S 2^16 / 3) exactly."""
        grid = Grid(2, "integer", 0, 2**62, 0, 2**62, 0)
        values = [2**62 - 1, 2**62 - 5, 2**62 - 9]
        found = evaluate(engine, table([1] * 3, ["x"] * 3, values), plan(grid=grid, sums=(Sum("values"),)))
        assert found == ((sum(values) * ONE // 3,),)

    def test_integers_meet_doubles_as_doubles(self, engine: Any) -> None:
        """2^53 + 1 becomes 2^53 when compared with a double, on every engine."""
        condition = rows.Compare("=", rows.Field(0, "integer"), rows.Constant(float(2**53), "float"))
        tables = table([2**53, 2**53 + 1, 2**53 + 2], ["x"] * 3, [1] * 3)
        assert evaluate(engine, tables, plan(condition=condition, sums=(Sum("rows"),))) == ((2 * ONE,),)

    def test_texts_compare_by_code_point(self, engine: Any) -> None:
        """U+FFFF is below U+10000 (UTF-16 order would say otherwise), 'a' below 'a' and a NUL, 'Z' below 'a'."""
        ordered = ["", "Z", "a", "a\0", "a\0b", "ab", "é", "\ud7ff", "\ue000", "\uffff", "\U00010000", "\U0010ffff"]
        for index, text in enumerate(ordered):
            condition = rows.Compare("<", rows.Field(1, "text"), rows.Constant(text, "text"))
            tables = table(list(range(len(ordered))), ordered, [1] * len(ordered))
            found = evaluate(engine, tables, plan(condition=condition, sums=(Sum("rows"),)))
            assert found == ((index * ONE,),)

    def test_unknown_is_neither_true_nor_false(self, engine: Any) -> None:
        less = rows.Compare("<", rows.Field(2, "integer"), rows.Constant(5, "integer"))
        tables = table([1, 2, 3], ["x"] * 3, [None, 4, 6])
        count = (Sum("rows"),)
        assert evaluate(engine, tables, plan(condition=less, sums=count)) == ((ONE,),)
        assert evaluate(engine, tables, plan(condition=rows.Not(less), sums=count)) == ((ONE,),)
        both = rows.AnyOf((less, rows.Not(less)))
        assert evaluate(engine, tables, plan(condition=both, sums=count)) == ((2 * ONE,),)

    def test_a_column_of_one_value_beside_the_widest_that_there_is(self, engine: Any) -> None:
        """Every product is 0, while the factor 2 * 2**62 - 2**62 passes 64 bits on its way; and two such columns."""
        for narrow, shift, product in ((0, 0, 0), (1, 1, 2**61), (2**62, 64, 2**60)):
            for other in (2**62, 0):
                grids = Grid(2, "integer", 0, 2**62, 0, 2**62, 0), Grid(0, "integer", 1, 1 + narrow, 1, 1 + narrow, 0)
                measure = Measure(grids, (Product(0, 1, shift, -(2**61), 2**61), Product(1, 0, shift, -(2**61), 2**61)))
                sums = Sum("values", 2), Sum("values", 3), Sum("present", 2)
                core = tuple(measure if isinstance(step, Measure) else step for step in plan(sums=sums))
                found = evaluate(engine, table([1 + narrow], ["x"], [other]), core)
                moved = 2**61 + (product if other else -product)
                assert found == ((ONE * moved, ONE * moved, ONE),)


# of expressions and of chosen keys, which no table here has: tests/engines/test_mutations.py finds these
ELSEWHERE = {
    "64 bits wrap to a double", "a float overflows to infinity", "keys kept by their bytes alone",
    "a key too many kept", "lengths in code points", "a missing key looks like an empty one",
}


@pytest.mark.parametrize("mistake", [name for name in MISTAKES if name not in ELSEWHERE])
def test_a_mistake_in_the_query_fails_a_table(mistake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table fails by its integers, not by an engine that cannot run the query (that would be a Fault)."""
    monkeypatch.setattr(engine, "statement", lambda core: mistaken(mistake, core))
    tables = [getattr(TestByHand(), name) for name in vars(TestByHand) if name.startswith("test_")]
    plain = [check for check in tables if not getattr(check, "pytestmark", None)]

    def run() -> None:
        for check in plain:
            check(DuckDB)

    with pytest.raises(AssertionError):
        run()
