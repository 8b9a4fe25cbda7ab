"""Frames of several tables: the plans of the SQL that people would write, and what is refused in a frame's own words.

Law: a frame's plan is the plan of its `.sql()`, for random frames of joins, cohorts and rows per unit.
"""

from __future__ import annotations

from typing import Any

import pytest
from clinic import CLINIC, clinic, planned
from hypothesis import given
from hypothesis import strategies as st
from power import tried

import dpcurator as dp
from dpcurator.aggregates import AGGREGATES
from dpcurator.errors import Refusal
from dpcurator.fronts.frame import Frame, start
from dpcurator.fronts.sql_relations import MOST_SELECTS
from dpcurator.plan.bind import bind
from dpcurator.plan.canonical import as_json, digest, plan_of


class Planner:
    """As much of a curator as a plan needs."""

    def __init__(self, catalog: Any = CLINIC) -> None:
        self.catalog = catalog

    def plan(self, question: Any) -> Any:
        return bind(question.question(), self.catalog, AGGREGATES)

    quote = menu = ask = rehearse = plan


HOUSE = Planner()


def table(name: str, house: Planner = HOUSE) -> Frame[Any, Any, Any]:
    return start(house, name, house.catalog.tables)


VISITS, DIAGNOSES, NAMED, CITIES, TAGS = map(table, ("visits", "diagnoses", "named", "cities", "tags"))
city, cost, n, many = dp.col("city"), dp.col("cost"), dp.count(), dp.col("n").clip(0, 9)
CODES = DIAGNOSES.per_unit().agg(code=dp.min("code"))
HAD = DIAGNOSES.where(dp.col("code") == "X")

SAME = [
    (VISITS.join(CITIES, on="city").group_by("region").agg(n=n, cost=dp.mean("cost")),
     "SELECT region, COUNT(*) AS n, AVG(cost) AS cost FROM visits JOIN cities USING (city) GROUP BY region"),
    (VISITS.left_join(CITIES, on=["city"]).where(dp.col("region").is_missing()).agg(n=n),
     "SELECT COUNT(*) AS n FROM visits LEFT JOIN cities ON visits.city = cities.city WHERE region IS NULL"),
    (VISITS.where(cost > 3).join(CODES).where(dp.col("code") == "X").group_by("city").agg(n=n),
     "SELECT visits.city, COUNT(*) AS n FROM visits JOIN (SELECT patient, MIN(code) AS code FROM diagnoses "
     "GROUP BY patient) AS d ON d.patient = pid WHERE cost > 3 AND code = 'X' GROUP BY visits.city"),
    (VISITS.left_join(DIAGNOSES.per_unit("day").agg(n=n), on={"pid": "patient", "day": "day"}).agg(s=dp.sum(many)),
     "SELECT SUM(CLIP(n, 0, 9)) AS s FROM visits LEFT JOIN (SELECT patient, day, COUNT(*) AS n FROM diagnoses "
     "GROUP BY patient, day) AS d ON pid = patient AND visits.day = d.day"),
    (VISITS.in_cohort(HAD).group_by("city").agg(cost=dp.mean("cost")),
     "SELECT city, AVG(cost) AS cost FROM visits WHERE pid IN (SELECT patient FROM diagnoses WHERE code = 'X') "
     "GROUP BY city"),
    (VISITS.where(cost > 1).not_in_cohort(HAD).agg(u=dp.count_units()),
     "SELECT COUNT(DISTINCT pid) AS u FROM visits WHERE cost > 1 AND NOT pid IN "
     "(SELECT patient FROM diagnoses WHERE code = 'X')"),
    (VISITS.where(cost > 1).union(DIAGNOSES.in_cohort(HAD)).where(dp.col("day") > "2021-01-01").agg(u=dp.count_units()),
     "SELECT COUNT(DISTINCT pid) AS u FROM (SELECT pid, day FROM visits WHERE cost > 1 UNION ALL SELECT patient, day "
     "FROM diagnoses WHERE patient IN (SELECT patient FROM diagnoses WHERE code = 'X')) WHERE day > DATE '2021-01-01'"),
    (VISITS.with_columns(what=city).union(DIAGNOSES.with_columns(what=dp.col("code"))).union(VISITS).per_unit().agg(n=n)
     .agg(mean=dp.mean(many)),
     "WITH events AS (SELECT pid, day, city AS what FROM visits UNION ALL SELECT patient, day, code FROM diagnoses) "
     "SELECT AVG(CLIP(n, 0, 9)) AS mean FROM (SELECT pid, COUNT(*) AS n FROM (SELECT pid, day FROM events UNION ALL "
     "SELECT pid, day FROM visits) GROUP BY pid)"),
    (VISITS.per_unit().agg(n=n).agg(mean=dp.mean(many)),
     "SELECT AVG(CLIP(n, 0, 9)) AS mean FROM (SELECT pid, COUNT(*) AS n FROM visits GROUP BY pid)"),
    (VISITS.per_unit(by=["city"]).agg(n=n).group_by("city").agg(mean=dp.mean(many)),
     "SELECT city, AVG(CLIP(n, 0, 9)) AS mean FROM (SELECT pid, city, COUNT(*) AS n FROM visits GROUP BY pid, city) "
     "GROUP BY city"),
    (VISITS.in_cohort(VISITS.per_unit().agg(n=n).where(dp.col("n") > 3)).agg(n=n),
     "SELECT COUNT(*) AS n FROM visits WHERE pid IN (SELECT pid FROM visits GROUP BY pid HAVING COUNT(*) > 3)"),
    (VISITS.per_unit().agg(town=dp.arg_min("city", "day")).group_by("town").agg(n=n),
     "SELECT town, COUNT(*) AS n FROM (SELECT pid, ARG_MIN(city, day) AS town FROM visits GROUP BY pid) GROUP BY town"),
    (VISITS.join(VISITS.per_unit().agg(town=dp.arg_min("city", "day"))).group_by("town").agg(n=n),
     "WITH home AS (SELECT pid, ARG_MIN(city, day) AS town FROM visits GROUP BY pid) "
     "SELECT town, COUNT(*) AS n FROM visits JOIN home USING (pid) GROUP BY town"),
    (VISITS.per_unit(old=dp.col("age") > 50).agg(
        share=dp.sum(dp.col("age")) / n, any=dp.any(city == "York"), all=dp.all(cost < 50), last=dp.max("day"),
        towns=dp.count_distinct("city"), worst=dp.arg_max("city", "cost")).group_by("old").agg(t=dp.sum(
            dp.col("towns").clip(0, 2))),
     "SELECT old, SUM(CLIP(towns, 0, 2)) AS t FROM (SELECT pid, age > 50 AS old, SUM(age) / COUNT(*) AS share, "
     "BOOL_OR(city = 'York') AS any, BOOL_AND(cost < 50) AS \"all\", MAX(day) AS last, COUNT(DISTINCT city) AS towns, "
     "ARG_MAX(city, cost) AS worst FROM visits GROUP BY pid, age > 50) GROUP BY old"),
    (VISITS.with_columns(key=city.lower()).with_columns(twice=dp.col("key").concat("x")).where(
        dp.col("twice") == "yorkx").agg(n=n),
     "SELECT COUNT(*) AS n FROM (SELECT *, CONCAT(key, 'x') AS twice FROM (SELECT *, LOWER(city) AS key FROM visits)) "
     "WHERE twice = 'yorkx'"),
    (VISITS.join(CITIES, on="city").join(TAGS, on="city").group_by("tag").agg(n=n, w=dp.sum("weight")),
     "SELECT tag, COUNT(*) AS n, SUM(weight) AS w FROM visits JOIN cities USING (city) JOIN tags USING (city) "
     "GROUP BY tag"),
    (VISITS.join(CITIES, on={"city": "city"}).group_by("city_right").agg(n=n).order_by("city_right").having(
        dp.col("city_right") != "Bath"),
     "SELECT cities.city AS city_right, COUNT(*) AS n FROM visits JOIN cities ON visits.city = cities.city "
     "GROUP BY cities.city HAVING city_right <> 'Bath' ORDER BY city_right"),
    (VISITS.join(CODES.join(DIAGNOSES.per_unit().agg(d=dp.min("day")))).agg(n=n),
     "SELECT COUNT(*) AS n FROM visits JOIN (SELECT a.patient, code, d FROM (SELECT patient, MIN(code) AS code "
     "FROM diagnoses GROUP BY patient) AS a JOIN (SELECT patient, MIN(day) AS d FROM diagnoses GROUP BY patient) AS b "
     "ON a.patient = b.patient) AS r ON pid = patient"),
]


@pytest.mark.parametrize(("frame", "sql"), SAME, ids=range(len(SAME)))
def test_a_frame_has_the_plan_of_the_sql_people_would_write(frame, sql):
    assert digest(frame.plan()) == digest(planned(sql))
    assert frame.plan() == planned(frame.sql())


def test_the_sql_of_a_join_reads_like_sql():
    assert SAME[0][0].sql() == (
        'SELECT "region", COUNT(*) AS "n", AVG("cost") AS "cost" FROM "visits" JOIN "cities" USING ("city") '
        'GROUP BY "region"'
    )
    assert VISITS.per_unit().agg(n=n).agg(m=dp.mean(many)).sql() == (
        'SELECT AVG(CLIP("n", 0, 9)) AS "m" FROM (SELECT "pid", COUNT(*) AS "n" FROM "visits" GROUP BY "pid") '
        'AS "visits"'
    )
    joined = VISITS.join(VISITS.per_unit().agg(city=dp.min("city")))
    assert joined.columns == ("pid", "city", "cost", "age", "day", "city_right")
    assert joined.group_by("city", "city_right").agg(n=n).sql() == (
        'SELECT "visits"."city", "visits_2"."city" AS "city_right", COUNT(*) AS "n" FROM "visits" JOIN (SELECT "pid", '
        'MIN("city") AS "city" FROM "visits" GROUP BY "pid") AS "visits_2" USING ("pid") GROUP BY "visits"."city", '
        '"visits_2"."city"'
    )


# --- random frames ----------------------------------------------------------------------------------------------------

FOLDS = {"n": n, "k": dp.count_distinct("day"), "least": dp.min("day"), "share": dp.count_if(dp.col("day").is_missing())
         / n, "late": dp.any(dp.col("day").is_missing())}


@st.composite
def rows(draw: st.DrawFn, most: int = 3) -> Frame[Any, Any, Any]:
    """Steps of rows, of a table by patient."""
    frame = draw(st.sampled_from((VISITS, DIAGNOSES)))
    for _ in range(draw(st.integers(0, most))):
        steps = ("where", "in", "not in", "per unit", "join", "left", "public", "columns", "union")
        step = draw(st.sampled_from(steps))
        own = [name for name in frame.columns if name != frame.unit]
        if step == "where":
            name = draw(st.sampled_from(frame.columns))
            frame = frame.where(draw(st.sampled_from((dp.col(name).is_missing(), ~dp.col(name).is_missing()))))
        elif step in ("in", "not in"):
            other = draw(rows(most=1))
            frame = frame.in_cohort(other) if step == "in" else frame.not_in_cohort(other)
        elif step == "per unit":
            keys = draw(st.lists(st.sampled_from(own), max_size=2, unique=True)) if own else []
            value = [name for name in own if name not in keys] or [frame.unit or ""]
            made = {title: one for title, one in FOLDS.items() if "day" in frame.columns or title == "n"}
            titles = draw(st.lists(st.sampled_from(sorted(made)), max_size=2, unique=True))
            titles = [title for title in titles if title not in keys]
            more = {"low": dp.min(value[0])} if draw(st.booleans()) and "low" not in keys else {}
            frame = frame.per_unit(keys).agg(**{title: made[title] for title in titles}, **more)
        elif step in ("join", "left"):
            other = draw(rows(most=1)).per_unit().agg(n=n)
            on = {frame.unit: other.unit} if draw(st.booleans()) else None
            suffix = f"_{len(frame.columns)}"
            how = frame.join if step == "join" else frame.left_join
            frame = how(other, on, suffix=suffix)
        elif step == "public" and "city" in frame.columns:
            public = draw(st.sampled_from((CITIES, TAGS)))
            on = draw(st.sampled_from(("city", {"city": "city"})))
            frame = frame.join(public, on, suffix=f"_{len(frame.columns)}")
        elif step == "union":
            frame = frame.union(draw(rows(most=1)))
        elif step == "columns":
            name = draw(st.sampled_from(frame.columns))
            frame = frame.with_columns(**{f"made{len(frame.columns)}": dp.col(name).is_missing()})
    return frame


def outcome(use: Any) -> Any:
    """A plan, or what a refusal says."""
    try:
        return use()
    except Refusal as refused:
        return refused.what


@given(rows(), st.booleans())
@tried
def test_the_plan_of_a_frame_is_the_plan_of_its_sql(frame, grouped):
    keys = [name for name in ("city", "region", "tag") if name in frame.columns][: 1 if grouped else 0]
    asked = frame.group_by(*keys).agg(total=dp.count()).having(dp.col("total") > 3)
    plan, parsed = outcome(asked.plan), outcome(lambda: planned(asked.sql()))
    if isinstance(plan, str):  # refused: then SQL says so too
        assert plan == parsed
        return
    assert parsed == plan
    assert digest(parsed) == digest(plan)
    assert plan_of(as_json(plan)) == plan


def test_random_frames_are_mostly_answered():
    from hypothesis import find

    for wanted in ("UNION ALL", "JOIN", "LEFT JOIN", "IN (SELECT", "GROUP BY \"pid\"", "USING"):
        assert wanted in find(rows(), lambda frame, text=wanted: text in frame.agg(n=n).sql()).agg(n=n).sql()


# --- what is refused --------------------------------------------------------------------------------------------------

DEEP = VISITS
for _ in range(MOST_SELECTS - 1):
    DEEP = DEEP.per_unit().agg(day=dp.min("day"))


def doubled(frame: Frame[Any, Any, Any], times: int) -> Frame[Any, Any, Any]:
    for _ in range(times):
        frame = frame.in_cohort(frame)
    return frame


CLOCKED = clinic({
    "visits": {"unit": "pid", "max_total": 5, "columns": {"pid": "integer", "day": "date"}},
    "texts": {"unit": "pid", "max_total": 5, "columns": {"pid": "text", "code": "text"}},
    "stays": {"unit": "pid", "max_total": 5, "columns": {"pid": "integer", "day": "timestamp"}},
})
EACH = Planner(clinic({"rows": {"unit": "each row", "columns": {"x": "integer"}}}))
OTHERS = Planner(CLOCKED)
BAD = [
    (lambda: VISITS.join("cities", on="city"), "join takes a frame", 'curator.table("cities")'),
    (lambda: VISITS.join(table("cities", Planner()), on="city"), "of another curator", "one curator"),
    (lambda: VISITS.join(CITIES), "has to be said which columns are equal", "on='city'"),
    (lambda: VISITS.join(CITIES, on="cty"), 'no column "cty"', "Did you mean city?"),
    (lambda: VISITS.join(CITIES, on={"city": "town"}), 'no column "town"', "city"),
    (lambda: VISITS.join(CITIES, on=3), "`on` is names of columns", 'on="city"'),
    (lambda: VISITS.join(CITIES, on=[]), "names no column", 'on="city"'),
    (lambda: VISITS.join(CITIES, on={"city": 3}), "names of columns", 'on="city"'),
    (lambda: VISITS.join(CITIES, on={"city": "city"}, suffix=""), "suffix is a text", '"_right"'),
    (lambda: VISITS.join(CODES, on={"day": "code"}), "does not compare the units",
     "on={'day': 'code', 'pid': 'patient'}"),
    (lambda: VISITS.join(VISITS.per_unit("day").agg(n=n), on="day"), "does not compare the units", "on=['day', 'pid']"),
    (lambda: VISITS.join(DIAGNOSES).agg(n=n).plan(), 'several rows in "diagnoses"',
     'join(diagnoses.per_unit().agg(code=dp.min("code")), ...)'),
    (lambda: VISITS.join(DIAGNOSES.per_unit("day").agg(n=n)).agg(n=n).plan(), "a person may have several rows",
     "per_unit"),
    (lambda: VISITS.join(CITIES.where(dp.col("people") > 3), on="city"), "a public table with a condition",
     ".where(...) after .join(...)"),
    (lambda: CITIES.join(VISITS, on="city"), "is a public table", "visits.join(cities, ...)"),
    (lambda: CITIES.join(TAGS, on="city"), "is a public table", "Begin with a private table"),
    (lambda: VISITS.join(VISITS.agg(n=n)), "an answer of its own", ".per_unit().agg(...)"),
    (lambda: VISITS.in_cohort(VISITS.limit(3)), "an answer of its own", ".per_unit().agg(...)"),
    (lambda: VISITS.group_by("city").join(CODES), "join is of rows", "before group_by"),
    (lambda: VISITS.caps(max_total=3).per_unit(), "per_unit is of rows", "before group_by"),
    (lambda: VISITS.agg(n=n).with_columns(x=city.lower()), "with_columns is of rows", "before group_by"),
    (lambda: VISITS.with_columns(x=city.lower()).with_columns(x=city.lower()), 'a column "x" already', "another name"),
    (lambda: VISITS.with_columns(x=dp.count()), "looks at single rows", ".having("),
    (lambda: VISITS.in_cohort(CITIES), "is a public table", "isin("),
    (lambda: VISITS.union(CITIES), "is a public table", "the same unit column"),
    (lambda: VISITS.union(VISITS.agg(n=n)), "an answer of its own", ".per_unit().agg(...)"),
    (lambda: VISITS.limit(3).union(VISITS), "union is of rows", ".union(...) before group_by"),
    (lambda: VISITS.union("diagnoses"), "union takes a frame", "curator.table"),
    (lambda: VISITS.union(DIAGNOSES).where(city == "York"), 'no column "city"', ""),
    (lambda: VISITS.union(NAMED).agg(n=n).plan(), "is integer, and that of", "with one type"),
    (lambda: table("rows", EACH).union(table("rows", EACH)), "a unit of its own", "the same unit column"),
    (lambda: table("visits", OTHERS).union(table("stays", OTHERS)).agg(n=n).plan(), "is date on one side", "CAST"),
    (lambda: VISITS.in_cohort(NAMED).agg(n=n).plan(), "is integer, and that of", "with one type"),
    (lambda: VISITS.in_cohort(lambda x: x), "in_cohort takes a frame", "curator.table"),
    (lambda: CITIES.per_unit(), "is a public table", ""),
    (lambda: CITIES.agg(n=n).plan(), "is a public table",
     'join it: curator.table("visits").join(curator.table("cities"), on="city").'),
    (lambda: VISITS.per_unit("cty"), 'no column "cty"', "Did you mean city?"),
    (lambda: VISITS.per_unit(city=3), "group_by takes expressions", ""),
    (lambda: VISITS.per_unit(pid=city.lower()), "is the unit", "another name"),
    (lambda: VISITS.per_unit("city").agg(city=n), "is a key, or the unit", "another name"),
    (lambda: VISITS.per_unit().agg(x=cost), '"cost" is a column of single rows', 'dp.min("cost")'),
    (lambda: VISITS.per_unit().agg(x=dp.count_units()), "of one unit is 1", "dp.count()"),
    (lambda: VISITS.per_unit().agg(dp.count()), "needs a name", "agg(n=dp.count())"),
    (lambda: VISITS.per_unit().agg(n=n).agg(m=dp.mean("n")).plan(), "no bounds", ""),
    (lambda: VISITS.agg(x=dp.min("cost")).plan(), "", ""),
    (lambda: VISITS.agg(x=dp.count_distinct("cost")).plan(), "", ""),
    (lambda: DEEP.per_unit().agg(n=n), "more than 64 subqueries", "several questions"),
    (lambda: doubled(VISITS, 100), "more than 64 subqueries", "several questions"),
    (lambda: table("rows", EACH).per_unit(), "a unit of its own", "rows themselves"),
    (lambda: table("rows", EACH).in_cohort(table("rows", EACH)), "a unit of its own", "in where"),
    (lambda: table("rows", EACH).join(table("rows", EACH)), "a unit of its own", "one table"),
    (lambda: table("visits", OTHERS).join(table("texts", OTHERS).per_unit().agg(n=n)).agg(n=n).plan(),
     "is integer, and that of", "with one type"),
    (lambda: table("visits", OTHERS).join(table("stays", OTHERS).per_unit("day").agg(n=n), on=["pid", "day"]).agg(
        n=n).plan(), "is date, and", "with_columns("),
]


@pytest.mark.parametrize(("use", "what", "cure"), BAD, ids=range(len(BAD)))
def test_a_bad_use_says_what_and_what_to_do(use, what, cure):
    with pytest.raises(Refusal) as refused:
        use()
    assert what in refused.value.what
    assert cure in refused.value.cure
    assert refused.value.cure
    str(refused.value).encode()


def test_the_cures_work_pasted_back():
    diagnoses, cities, visits = DIAGNOSES, CITIES, VISITS  # as the cures call them
    assert visits.join(diagnoses.per_unit().agg(code=dp.min("code"))).agg(n=n).plan()
    assert visits.join(cities, on="city").agg(n=n).plan()
    assert visits.join(CODES, on={"pid": "patient"}).agg(n=n).plan()
