"""Listed groups that WHERE rules out are not answered, and no group that a row could be in is left out."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction as F

import pytest
from house import ROWS, holds, opened
from questions import catalog_with, planned

import dpcurator as dp
from dpcurator.catalog.model import Column, Table
from dpcurator.language.evaluate import truth, value
from dpcurator.plan import ruled_out
from dpcurator.plan.check_catalog import disagreement
from dpcurator.plan.lower import keys_of
from dpcurator.plan.public_keys import digest_of, image
from dpcurator.plan.relations import Where
from dpcurator.plan.ruled_out import within

TABLE = Table(
    "t",
    (
        Column("u", "text"), Column("city", "text", keys=(None, "Hull", "Leeds", "York")),
        Column("month", "integer", keys=tuple(range(1, 13))), Column("age", "integer", F(0), F(110)),
        Column("dose", "float", keys=(-1.5, 0.0, 0.5)), Column("cost", "float", F(0), F(40)),
        Column("smoker", "boolean"), Column("ward", "integer", keys=(7, 8), missing=7),
        Column("big", "integer", F(0), F(2**53 + 4)),
    ),
    "u", max_total=3,
)
CATALOG = catalog_with(TABLE)


def keys(where: str, by: str):
    plan = planned(f"SELECT COUNT(*) FROM t WHERE {where} GROUP BY {by}", CATALOG)
    assert disagreement(plan, CATALOG) is None
    return [key if len(key) > 1 else key[0] for key in keys_of(plan, TABLE)]


@pytest.mark.parametrize(("where", "by", "wanted"), [
    ("month IN (1, 2)", "month", [1, 2]), ("month = 3 OR month > 11", "month", [3, 12]),
    ("month BETWEEN 4 AND 5 AND age > 3", "month", [4, 5]), ("NOT month < 12", "month", [12]),
    ("month % 5 = 0", "month * 10", [*range(10, 130, 10)]), ("month IN (1, 2)", "month > 1", [0, 1]),
    ("month = 13", "month", []), ("month IN (1, 2) AND city LIKE 'L%'", "month, city", [(1, "Leeds"), (2, "Leeds")]),
    ("city <> 'Leeds'", "city", ["Hull", "York"]), ("city IS NULL", "city", [None]),
    ("smoker", "smoker", [1]), ("NOT smoker", "CASE WHEN smoker THEN 'yes' ELSE 'no' END", ["no"]),
    ("age >= 65", "FLOOR(age / 10)", [6, 7, 8, 9, 10, 11]), ("65 <= age AND age < 80", "FLOOR(age / 10)", [6, 7]),
    ("age = 50", "age", [50]), ("age > 108.5", "age", [109, 110]), ("age > 120", "FLOOR(age / 100)", [0, 1]),
    ("cost < 10", "FLOOR(cost / 10)", [0, 1]), ("dose > 0", "dose", [0.5]), ("1 / dose > 0", "dose", [-1.5, 0.0, 0.5]),
    ("ward = 8", "ward", [8]), ("ward = 8", "ward + 1", [8, 9]), ("month < age", "month", list(range(1, 13))),
    ("age < 2", "age", [0, 1]), ("month = 1 OR age > 3", "month", list(range(1, 13))),
    ("age >= 0", "FLOOR(age / 60)", [0, 1]),
])
def test_d9_groups_that_where_rules_out_are_not_there(where, by, wanted):
    assert keys(where, by) == wanted


CONDITIONS = [
    "month IN (1, 2, 30)", "month > 6", "3 >= month", "month % 4 = 1 OR month = 2", "NOT month = 4", "city = 'Leeds'",
    "city IS NOT NULL", "city LIKE '%l%' OR city IS NULL", "UPPER(city) < 'M'", "age >= 65", "age < 12.5", "50 > age",
    "age = 0", "age = 110", "age > 500", "age <= -3", "dose >= 0", "dose = -0.0", "1 / dose < 3", "dose <> 0.5",
    "cost > 12.25", "cost <= 0", "cost < 1e300", "smoker", "NOT smoker", "smoker IS NULL", "ward = 8", "ward <> 8",
    "big <= 9007199254740992.0", "big > 9007199254740993", "big = 9007199254740993", "age > month", "age + 1 > 70",
    "COALESCE(age, 5) < 9", "age IN (1, 111)",
]
KEYS = ["month", "city", "FLOOR(age / 20)", "dose", "FLOOR(cost / 10)", "smoker", "ward", "month % 3", "ward + month",
        "CASE WHEN age < 18 THEN city ELSE 'adult' END", "COALESCE(city, 'none')", "FLOOR(big / 1000000000000000)"]
DRAWN = {
    "city": (None, "Hull", "Leeds", "York", "Bath", "leeds"), "month": (None, *range(14)),
    "age": (None, -5, 0, 12, 13, 64, 65, 110, 111, 600), "dose": (None, -1.5, 0.0, -0.0, 0.5, 7.0),
    "cost": (None, -0.0, -2.0, 0.0, 12.25, 12.5, 40.0, 1e301), "smoker": (None, 0, 1), "ward": (7, 8, 9),
    "big": (None, 0, 2**53 - 1, 2**53, 2**53 + 1, 2**53 + 2, 2**53 + 4, 2**60), "u": ("p",),
}


def left_out(tries: int, seed: str) -> tuple[int, int]:
    """Of rows that WHERE lets through and that are in a listed group: how many there were, and in a group left out."""
    luck, met, wrong = random.Random(seed), 0, 0
    for _ in range(tries):
        where = " AND ".join(luck.sample(CONDITIONS, luck.randint(1, 3)))
        plan = planned(f"SELECT COUNT(*) FROM t WHERE {where} GROUP BY {luck.choice(KEYS)}", CATALOG)
        rows, part = plan.source.source.source, plan.source.source.columns[0].part
        assert isinstance(rows, Where)
        whole, kept = set(image(part, TABLE) or ()), {key for (key,) in keys_of(plan, TABLE)}
        assert kept <= whole
        for _ in range(20):
            row = tuple(luck.choice(DRAWN[column.name]) for column in TABLE.columns)
            if truth(rows.predicate, row) is True and (found := value(part, row)) in whole:
                met, wrong = met + 1, wrong + (found not in kept)
    return met, wrong


def test_no_row_that_where_lets_through_is_in_a_group_that_is_left_out():
    met, wrong = left_out(150, "rows")
    assert met > 150
    assert wrong == 0


@pytest.mark.slow
def test_no_row_of_many_is_in_a_group_that_is_left_out():
    met, wrong = left_out(20_000, "many rows")
    assert (met > 20_000, wrong) == (True, 0)


@pytest.mark.parametrize(("where", "by", "row", "key"), [
    ("month > 6 AND month % 4 = 1", "month % 3", {"month": 13}, 1), ("month IN (2, 30)", "month % 3", {"month": 30}, 0),
    ("city <> 'Leeds'", "UPPER(city)", {"city": "leeds"}, "LEEDS"),
    ("smoker IS NULL", "CASE WHEN smoker THEN 1 ELSE 0 END", {"smoker": None}, 0),
])
def test_a_group_that_a_value_which_is_not_listed_could_be_in_stays(where, by, row, key):
    plan = planned(f"SELECT COUNT(*) FROM t WHERE {where} GROUP BY {by}", CATALOG)
    rows, part = plan.source.source.source, plan.source.source.columns[0].part
    values = tuple(row.get(column.name) for column in TABLE.columns)
    assert (truth(rows.predicate, values), value(part, values)) == (True, key)
    assert key in keys(where, by)


def test_ends_that_move_too_far_would_be_noticed(monkeypatch):
    right = ruled_out._between

    def further(part, column):
        found = right(part, column)
        return found if found is column or found.lower == found.upper else replace(found, lower=found.lower + 10)

    monkeypatch.setattr(ruled_out, "_between", further)
    ruled_out._narrowed.cache_clear()
    assert left_out(150, "rows")[1] > 0
    ruled_out._narrowed.cache_clear()


def test_long_lists_are_not_looked_through():
    long = replace(TABLE, columns=(*TABLE.columns[:2], Column("month", "integer", keys=tuple(range(20_000)))))
    plan = planned("SELECT COUNT(*) FROM t WHERE month < 5 GROUP BY month", catalog_with(long))
    assert plan.source.source.columns[0].count == 20_000
    assert within(long, plan.source.source.source, alone=True).columns == long.columns


def test_answers_show_what_is_left_and_both_verifiers_agree(tmp_path):
    curator = opened(tmp_path, epsilon=10**9, max_total=40, max_rows=None, max_groups=None)
    question = "SELECT city, COUNT(*) AS n FROM visits WHERE city IN ('Leeds', 'York') AND age >= 50 GROUP BY city"
    answer = curator.ask(question, epsilon=10**8)
    assert dict(answer.rows) == {
        city: sum(row[1] == city and row[2] >= 50 for row in ROWS) for city in ("Leeds", "York")}
    holds(curator, answer)
    quote = curator.quote("SELECT city, COUNT(*) AS n FROM visits WHERE city = 'Leeds' GROUP BY city", epsilon=1)
    assert quote.priced[0].reading.coordinates == 1
    nothing = curator.ask("SELECT city, COUNT(*) AS n FROM visits WHERE city = 'Bath' GROUP BY city", epsilon=1)
    assert (nothing.rows, nothing.cost, nothing.public) == ([], 0, True)
    holds(curator, nothing)


def test_a_plan_of_an_earlier_version_has_every_key_and_is_answered_for_all(tmp_path):
    curator = opened(tmp_path, epsilon=10**9, max_total=40, max_rows=None, max_groups=None)
    plan = curator.plan("SELECT city, COUNT(*) AS n FROM visits WHERE city = 'Leeds' GROUP BY city")
    whole = curator.catalog.tables[0].columns[1].keys
    grouped = plan.source.source
    column = replace(grouped.columns[0], count=len(whole), digest=digest_of(whole))
    earlier = replace(plan, source=replace(plan.source, source=replace(grouped, columns=(column,))))
    from dpcurator.pricing.quote import price

    answer = curator.answer(price(earlier, F(10**8), curator.catalog))
    assert [city for city, _ in answer] == sorted(whole)
    holds(curator, answer)
    for keys_told in (("York",), ("Leeds", "York"), ("a", "b", "c")):
        count, digest = len(keys_told), digest_of(keys_told)
        wrong = replace(plan, source=replace(plan.source, source=replace(
            grouped, columns=(replace(column, count=count, digest=digest),))))
        assert disagreement(wrong, curator.catalog) == "'city' has other keys"
        with pytest.raises(dp.Refusal):
            curator.answer(price(wrong, F(1), curator.catalog))
