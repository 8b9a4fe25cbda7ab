"""How many units there are, and are cut, worked by hand: on every engine, by itself and beside other plans."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from engine_rows import EVERY, opened

from dpcurator.engines.limits import check_core
from dpcurator.errors import Refusal
from dpcurator.plan.core import (
    ONE,
    Chosen,
    Grid,
    Listed,
    Measure,
    Owner,
    PerUnit,
    ScaleDown,
    Scan,
    Source,
    Sum,
    Tally,
    Total,
)

KINDS: Any = {"t0": {"c0": "text", "c1": "text", "c2": "integer", "c3": "float"}}
SCAN = Scan("t0", (Source("c0", "text"), Source("c1", "text"), Source("c2", "integer"), Source("c3", "float")))
GRIDS = (Grid(2, "integer", 0, 9, 0, 9, 0), Grid(3, "float", 0.1, 0.9, 0, 1, 0))
EVERYONE, CUT, GROUPS = Tally("everyone"), Tally("cut"), Tally("cut_groups")
ROWS = [  # who, city, age, gain
    ("once", "Leeds", 0, 0.1), ("edge", "York", 9, 0.9), ("edge", "York", None, None),
    ("many", "Leeds", 1, 0.5), ("many", "Leeds", 1, 0.5), ("many", "Leeds", 1, math.nan),
    ("wide", "Leeds", 1, 0.5), ("wide", "York", 1, 0.5), ("wide", "Hull", 1, 0.5),
    ("old", "York", 10, 0.5), ("low", "York", -1, -math.inf), ("low", "York", -1, 0.5),
    ("rich", "Leeds", 5, math.inf), ("far", "Bath", 99, 99.0), (None, "Leeds", 99, 99.0),
]
TABLE = {"t0": {f"c{place}": [row[place] for row in ROWS] for place in range(4)}}
LISTED = Listed((1,), (("Leeds",), ("York",), ("Hull",)))


def core(*tallies: Tally, keys: Any = LISTED, owner: int | None = 0, caps: tuple[int, int, int | None] = (2, 2, None)):
    """The plan. caps: max_rows, max_groups, max_total."""
    rows, groups, total = caps if owner is not None else (1, 1, None)
    scale = ScaleDown(rows, groups, 1 if owner is None else ONE, total)
    sums = (Sum("units"), Sum("values", 0))
    return (SCAN, Owner(owner), keys, Measure(GRIDS), PerUnit(), scale, Total(sums, tallies))


def told(engine: Any, *plans: Any) -> list[tuple[int, ...]]:
    made = engine.from_tables(TABLE, KINDS)
    found = [made.evaluate(plan) for plan in plans]
    together = made.evaluate_all(plans)
    assert [opened(one) for one in found] == [opened(one) for one in together]
    for plan, one in zip(plans, found, strict=True):  # nothing else is another for it
        (*steps, total) = plan
        without = made.evaluate((*steps, replace(total, tallies=())))
        assert opened(one.only(range(2))) == opened(without)
    return [one.tallies_for_release() for one in found]


@pytest.mark.parametrize("engine", EVERY)
class TestTallies:
    def test_each_unit_under_a_listed_key_counts_once(self, engine: Any) -> None:
        """many has 3 rows under a key where 2 count, wide 3 keys; far is under none, and one row is nobody's."""
        assert told(engine, core(EVERYONE, CUT, GROUPS)) == [(7, 2, 1)]

    @pytest.mark.parametrize(("measures", "cut"), [((0,), 4), ((1,), 4), ((0, 1), 5)])
    def test_a_value_outside_its_bounds_and_not_one_on_them(self, engine: Any, measures: Any, cut: int) -> None:
        """old and low by age, low and rich by gain: with many and wide, which are over a cap."""
        assert told(engine, core(Tally("cut", measures))) == [(cut,)]

    def test_a_unit_over_a_cap_with_such_values_counts_once(self, engine: Any) -> None:
        assert told(engine, core(Tally("cut", (0, 1)), caps=(1, 1, None))) == [(6,)]  # edge, many, wide, old, low, rich

    @pytest.mark.parametrize(("total", "cut", "groups"), [(5, 0, 0), (3, 0, 0), (2, 2, 1)])
    def test_rows_in_all(self, engine: Any, total: int, cut: int, groups: int) -> None:
        """Under 3 rows a key, many has 3 rows in all and wide 3, in as many groups."""
        caps = (min(3, total), 3, total)
        assert told(engine, core(CUT, GROUPS, caps=caps)) == [(cut, groups)]

    def test_of_chosen_keys_a_unit_that_lost_one(self, engine: Any) -> None:
        """wide has 3 keys of which 2 are kept. far is under a key now; its value is beyond both bounds."""
        chosen = Chosen((1,), 2, "salt")
        plans = [core(EVERYONE, CUT, GROUPS, Tally("cut", (0,)), keys=chosen, caps=(2, 2, None))]
        assert told(engine, *plans) == [(8, 2, 1, 5)]

    def test_a_unit_that_is_a_row_is_cut_by_clamps_alone(self, engine: Any) -> None:
        """Outside are old's one row, low's two, rich's, nobody's and, unless Bath is not listed, far's."""
        for keys, rows, outside in ((LISTED, 14, 5), (Chosen((1,), 1, "s"), 15, 6), (Listed((), ((),)), 15, 6)):
            plan = core(EVERYONE, CUT, GROUPS, Tally("cut", (0, 1)), keys=keys, owner=None)
            assert told(engine, plan) == [(rows, 0, 0, outside)]

    def test_of_no_rows_there_is_no_unit(self, engine: Any) -> None:
        for keys in (Listed((1,), ()), Listed((1,), (("Nowhere",),))):
            assert told(engine, core(EVERYONE, CUT, Tally("cut", (1,)), keys=keys)) == [(0, 0, 0)]

    def test_plans_of_one_batch_have_their_own(self, engine: Any) -> None:
        plans = [core(EVERYONE, Tally("cut", (0,))), core(Tally("cut", (1,)), EVERYONE), core(CUT, caps=(1, 1, None)),
                 core(), core(Tally("cut", (0, 1)), keys=Chosen((1,), 1, "x"), caps=(9, 1, None))]
        assert told(engine, *plans) == [(7, 4), (4, 7), (4,), (), (5,)]


@pytest.mark.parametrize("tally", [Tally("cut", (2,)), Tally("everyone", (0,)), Tally("all"), Tally("cut", (-1,))])  # type: ignore[arg-type]
def test_what_is_no_tally_is_refused(tally: Tally) -> None:
    with pytest.raises(Refusal):
        check_core(core(tally))
