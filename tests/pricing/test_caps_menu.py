"""Error bars under other caps: those that asking under them would give, and smaller for smaller caps."""

from __future__ import annotations

import json

import pytest

from dpcurator.errors import Refusal
from dpcurator.pricing.bars import bars
from dpcurator.pricing.caps_menu import TOTALS
from receipts import CATALOGS, curator

TEXT = "SELECT city, COUNT(*) AS n, SUM(age) AS total FROM visits GROUP BY city"


@pytest.mark.parametrize("name", ["pure", "rho", "replaced", "unknown"])
def test_each_row_is_what_asking_under_the_cap_would_give(name):
    made = curator(CATALOGS[name])
    found = made.caps(TEXT, spend="5%")
    assert [row.max_total for row in found.rows] == [None, *TOTALS]
    for row in found.rows:
        asked = {} if row.max_total is None else {"max_total": row.max_total}
        assert row.bars == bars(made.quote(TEXT, spend="5%", **asked), 10_000)
    for column in range(2):
        errors = [row.bars[column].error for row in found.rows[1:]]
        assert errors == sorted(errors)
    assert json.loads(json.dumps(found.as_json()))["caps"][1]["max_total"] == 1
    assert "as now" in str(found)


@pytest.mark.parametrize(("name", "text", "asked"), [
    ("unknown", TEXT, {"min_units": 7}), ("pure", TEXT, {"cut": False, "assume_count": 300}),
    ("approximate", "SELECT city, COUNT(DISTINCT patient) AS p, AVG(age) AS a FROM visits GROUP BY city", {}),
    ("rho", "SELECT AVG(cost) AS c, COUNT(*) AS n FROM visits WHERE age > 20", {"weights": {"n": 3}, "max_rows": 2}),
])
def test_what_else_is_asked_holds_under_every_cap(name, text, asked):
    made = curator(CATALOGS[name])
    found = made.caps(text, epsilon="0.3", **asked)
    others = {one: value for one, value in asked.items() if one != "max_rows"}
    for row in found.rows:
        under = asked if row.max_total is None else others | {"max_total": row.max_total}
        assert row.bars == bars(made.quote(text, epsilon="0.3", **under), asked.get("assume_count", 10_000))


def test_where_each_row_is_a_unit_there_is_nothing_to_choose():
    assert len(curator().caps("SELECT COUNT(*) FROM rows", epsilon=1).rows) == 1


def test_several_caps_need_one_price():
    with pytest.raises(Refusal, match="one price"):
        curator().caps(TEXT, within={"n": 50})
