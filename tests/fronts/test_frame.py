"""The frame front and the SQL front are one: the same plans, quotes and stored answers; and what a frame refuses.

Laws: a frame's plan is the plan of its `.sql()`; what is asked in one front is a free repeat in the other.
"""

from __future__ import annotations

import copy
import datetime as dt
from dataclasses import FrozenInstanceError
from fractions import Fraction as F
from typing import Any

import house
import pytest
from hypothesis import given
from hypothesis import strategies as st
from power import tried
from questions import CATALOG, VISITS, catalog_with, planned

import dpcurator as dp
from dpcurator.aggregates import AGGREGATES
from dpcurator.catalog.model import Catalog, Column, Table
from dpcurator.errors import Refusal
from dpcurator.fronts.columns import Expression
from dpcurator.fronts.frame import Frame, start
from dpcurator.fronts.sql import parse
from dpcurator.plan.bind import bind
from dpcurator.plan.canonical import as_json, digest, plan_of

age, city, n = dp.col("age"), dp.col("city"), dp.count()


class Planner:
    """As much of a curator as a plan needs."""

    def __init__(self, catalog: Catalog = CATALOG) -> None:
        self.catalog = catalog

    def plan(self, question: Any) -> Any:
        return bind(question.question(), self.catalog, AGGREGATES)

    quote = menu = ask = plan


def table(name: str = "visits", catalog: Catalog = CATALOG) -> Frame[Any, Any, Any]:
    return start(Planner(catalog), name, catalog.tables)


VISITED = table()


LATEST = dp.col("n").ascending(missing_first=False)


@pytest.mark.parametrize(
    ("frame", "sql"),
    [
        (VISITED.agg(n=n), "SELECT COUNT(*) AS n FROM visits"),
        (VISITED.where(age > 65).group_by("city").agg(n=n, age=dp.mean("age")),
         "SELECT city, COUNT(*) AS n, AVG(age) AS age FROM visits WHERE age > 65 GROUP BY city"),
        (VISITED.agg(old=dp.count_if(age > 65)), "SELECT COUNT_IF(age > 65) AS old FROM visits"),
        (VISITED.agg(u=dp.count_units(), notes=dp.count("note"), g=dp.sum("net-gain")),
         'SELECT COUNT(DISTINCT patient) AS u, COUNT(note) AS notes, SUM("net-gain") AS g FROM visits'),
        (VISITED.group_by("city", dp.col("ward")), "SELECT city, ward FROM visits GROUP BY city, ward"),
        (VISITED.agg(n=n).where(age > 1, age < 5).where(~dp.col("smoker")),
         "SELECT COUNT(*) AS n FROM visits WHERE age > 1 AND age < 5 AND NOT smoker"),
        (VISITED.group_by("city").agg(n=n).having(dp.col("n") > 10, city != "Hull").order_by("n", descending=True),
         "SELECT city, COUNT(*) AS n FROM visits GROUP BY city HAVING n > 10 AND city <> 'Hull' ORDER BY n DESC"),
        (VISITED.group_by("ward").order_by(dp.mean("cost").descending(missing_first=True), "ward").limit(2, offset=1),
         "SELECT ward FROM visits GROUP BY ward ORDER BY AVG(cost) DESC NULLS FIRST, ward LIMIT 2 OFFSET 1"),
        (VISITED.agg(n=n).order_by(LATEST), "SELECT COUNT(*) AS n FROM visits ORDER BY n NULLS LAST"),
        (VISITED.agg(r=round(100 * dp.sum("cost") / n.nullif(0), 1), a=abs(n.coalesce(0) - 3)),
         "SELECT ROUND(100 * SUM(cost) / NULLIF(COUNT(*), 0), 1) AS r, ABS(COALESCE(COUNT(*), 0) - 3) AS a "
         "FROM visits"),
        (VISITED.group_by("ward").agg(w=dp.col("ward") * 2, yes=n > 3),
         "SELECT ward, ward * 2 AS w, COUNT(*) > 3 AS yes FROM visits GROUP BY ward"),
        (VISITED.where(dp.col("day") >= dt.date(2022, 1, 8)).agg(n=n),
         "SELECT COUNT(*) AS n FROM visits WHERE day >= '2022-01-08'"),
        (VISITED.where(dp.col("at") < dt.datetime(2024, 1, 1, tzinfo=dt.UTC)).agg(n=n),
         "SELECT COUNT(*) AS n FROM visits WHERE at < TIMESTAMP '2024-01-01T00:00:00Z'"),
        (VISITED.where(age.between(3, 99.5) | city.isin("York", "Hull") | dp.col("note").is_missing()).agg(n=n),
         "SELECT COUNT(*) AS n FROM visits WHERE age BETWEEN 3 AND 99.5 OR city IN ('York', 'Hull') OR note IS NULL"),
        (VISITED.agg(**{"net gain": n, "self": dp.mean("gain")}),
         'SELECT COUNT(*) AS "net gain", AVG(gain) AS self FROM visits'),
        (VISITED.agg(n=n).having(dp.count_units() > 3),
         "SELECT COUNT(*) AS n FROM visits HAVING COUNT(DISTINCT patient) > 3"),
        (VISITED.group_by("city", decade=(age / 10).floor() * 10).agg(n=n, x=dp.col("decade") + 1).order_by("decade"),
         "SELECT city, FLOOR(age / 10) * 10 AS decade, COUNT(*) AS n, FLOOR(age / 10) * 10 + 1 AS x FROM visits "
         "GROUP BY city, FLOOR(age / 10) * 10 ORDER BY decade"),
        (VISITED.group_by(old=age > 65).agg(n=n).having(~dp.col("old")),
         "SELECT age > 65 AS old, COUNT(*) AS n FROM visits GROUP BY old HAVING NOT old"),
        (VISITED.where((age + 1) % 2 == 0, dp.col("note").like("a%")).agg(s=dp.sum(age * dp.col("cost")).round(1)),
         "SELECT ROUND(SUM(age * cost), 1) AS s FROM visits WHERE (age + 1) % 2 = 0 AND note LIKE 'a%'"),
        (VISITED.agg(a=dp.mean(dp.when(dp.col("smoker")).then(1).otherwise(0)), b=dp.sum(dp.col("gain").clip(0, 1))),
         "SELECT AVG(CASE WHEN smoker THEN 1 ELSE 0 END) AS a, SUM(CLIP(gain, 0, 1)) AS b FROM visits"),
        (VISITED.where(dp.col("day").later(months=1) > dt.date(2024, 1, 1)).agg(
            h=dp.mean(dp.col("at").at_zone("Asia/Tokyo").part("hour"))),
         "SELECT AVG(EXTRACT(hour FROM at AT TIME ZONE 'Asia/Tokyo')) AS h FROM visits "
         "WHERE day + INTERVAL '1 month' > DATE '2024-01-01'"),
        (table("rows").group_by("g").agg(x=dp.sum("x")), "SELECT g, SUM(x) AS x FROM rows GROUP BY g"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_frame_has_the_plan_of_the_sql_people_would_write(frame, sql):
    assert frame.plan() == planned(sql)
    assert frame.plan() == planned(frame.sql())


def test_the_sql_of_a_frame_reads_like_sql():
    frame = VISITED.where(age > 65, city != "Hull").group_by("city").agg(n=n).order_by("n", descending=True).limit(3)
    assert frame.sql() == repr(frame) == (
        'SELECT "city", COUNT(*) AS "n" FROM "visits" WHERE "age" > 65 AND "city" <> \'Hull\' GROUP BY "city" '
        'ORDER BY "n" DESC LIMIT 3'
    )
    assert repr(VISITED) == "a question of visits, not yet whole"


# --- random frames ----------------------------------------------------------------------------------------------------

CALLS = (n, dp.count("age"), dp.count("note"), dp.count_units(), dp.sum("age"), dp.sum("cost"), dp.mean("gain"),
         dp.mean("cost"), dp.sum("net-gain"), dp.mean("smoker"), dp.sum(age * age), dp.mean(dp.col("cost") / 100),
         dp.count(dp.when(age > 65).then(1).otherwise()), dp.sum(age > 65), dp.mean(dp.col("gain").exp()),
         dp.sum(dp.col("ward").clip(0, 9) - 1), dp.mean(dp.col("day").month()))
NUMBERS = st.sampled_from((0, 1, -3, 2.5, 0.1, -0.25)) | st.fractions(-5, 5, max_denominator=7)
LEAVES = st.sampled_from((
    age > 30, age <= 64.5, dp.col("cost") < 0.1, city == "Leeds", city.isin("York", "Hull"),
    dp.col("note").is_missing(),
    dp.col("day") >= dt.date(2022, 1, 8), dp.col("smoker"), age.between(3, 99), age == dp.col("ward"), age != 0.5,
    dp.col("at") < dt.datetime(2024, 1, 1, tzinfo=dt.UTC), dp.col("ward").isin([1, 2, 3.5]),
    dp.col("note") != "it's\n\"", (age + 1) * 2 > 50, age % 7 == dp.col("ward"), dp.col("cost").floor() > F(1, 3),
    dp.col("note").like("%a_", escape="!"), ~city.lower().like("y%", fold=True), (age > 3).is_true(),
    dp.when(age > 30).then(city).otherwise("x") == "York", (dp.col("note").length() ** 2).is_missing(),
    dp.col("day").year().isin(2022, 2023), dp.col("day") - dt.timedelta(days=7) > dt.date(2022, 1, 1),
    dp.col("at").trunc("hour").later(hours=-3) < dt.datetime(2024, 1, 1, tzinfo=dt.UTC), age.cast("text") == "7",
    dp.col("at").at_zone("Europe/Paris").part("hour").between(8, 17), city.concat("-", age) != city.substring(1, 3),
))


def _conditions(leaves: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    return st.recursive(
        leaves,
        lambda inner: st.builds(lambda a, b: a & b, inner, inner) | st.builds(lambda a, b: a | b, inner, inner)
        | st.builds(lambda a: ~a, inner),
        max_leaves=8,
    )


ARITHMETIC = st.recursive(
    st.sampled_from(CALLS),
    lambda inner: st.one_of(
        st.builds(lambda a, b: a + b, inner, inner | NUMBERS), st.builds(lambda a, b: b - a, inner, inner | NUMBERS),
        st.builds(lambda a, b: a * b, inner, inner | NUMBERS), st.builds(lambda a, b: b / a, inner, inner | NUMBERS),
        st.builds(lambda a: -a, inner), st.builds(lambda a, n: a.round(n), inner, st.none() | st.integers(-3, 3)),
        st.builds(lambda a, b: a.coalesce(b), inner, inner | NUMBERS), st.builds(abs, inner),
        st.builds(lambda a, b: a.nullif(b), inner, inner | NUMBERS),
    ),
    max_leaves=6,
)


COMPUTED = {
    "decade": (age / 10).floor() * 10, "initial": city.substring(1, 1), "Month": dp.col("day").trunc("month"),
    "band": dp.when(age < 18).then("child").otherwise("adult"), "o'clock": dp.col("at").part("hour"),
}


@st.composite
def frames(draw: st.DrawFn) -> Frame[Any, Any, Any]:
    """Steps that end in a plan."""
    keys = draw(st.lists(st.sampled_from(("city", "day", "smoker", "ward")), unique=True, max_size=2))
    titles = draw(
        st.lists(st.sampled_from(("n", "age", "a b", 'q"', "select", "年")), unique=True, min_size=1, max_size=3)
    )
    computed = draw(st.lists(st.sampled_from(tuple(COMPUTED)), unique=True, max_size=1))
    frame = VISITED.where(*draw(st.lists(_conditions(LEAVES), max_size=2))).group_by(*keys)
    frame = frame.group_by(**{title: COMPUTED[title] for title in computed})
    frame = frame.agg(**{title: draw(ARITHMETIC) for title in titles})
    known = [dp.col(title) for title in titles]
    values = ARITHMETIC | st.sampled_from(known)
    compared = st.builds(lambda a, b: a > b, values, values | NUMBERS) | st.builds(lambda a, b: a == b, values, NUMBERS)
    frame = frame.having(*draw(st.lists(_conditions(compared), max_size=2)))
    for _ in range(draw(st.integers(0, 2))):
        part = draw(values | st.sampled_from([dp.col(key) for key in (*keys, *computed)] or known))
        first = draw(st.booleans())
        frame = frame.order_by(draw(st.sampled_from((part, part.ascending(missing_first=first), part.descending()))))
    return frame.limit(draw(st.integers(0, 9)), offset=draw(st.integers(0, 2))) if draw(st.booleans()) else frame


@given(frames())
@tried
def test_the_plan_of_a_frame_is_the_plan_of_its_sql(frame):
    plan = frame.plan()
    parsed = planned(frame.sql())
    assert parsed == plan
    assert digest(parsed) == digest(plan)
    assert plan_of(as_json(plan)) == plan


NAMES = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), min_size=1, max_size=12) | (
    st.sampled_from(('"', '""', "'", "a\nb", "\r\n", "\t", " ", "select", "FROM", "*", "a.b", "a;b", "--", "/*", "\\",
                     "CASE", "(", ")", "年齢", "\U0001f600", "é", "e\u0301", "A", "a", "1", "null", "{{x}}", "$1", "?"))
)


@given(st.lists(NAMES, min_size=5, max_size=5, unique=True), st.lists(NAMES, min_size=2, max_size=2, unique=True))
@tried
def test_every_name_makes_the_trip(names, others):
    """Names of a table, its columns and the answer's titles: any text, however SQL would read it bare."""
    name, unit, key, value, title = names
    columns = (Column(unit, "text"), Column(key, "text", keys=("x", "y")), Column(value, "integer", F(0), F(9)))
    catalog = catalog_with(Table(name, columns, unit, max_rows=1, max_groups=1))
    made = table(name, catalog).where(dp.col(value) > 3, dp.col(key) == title).group_by(key)
    made = made.agg(**{title: dp.mean(value), title + others[0]: dp.count_units()})
    made = made.having(dp.col(title) < 5).order_by(title, dp.col(key).descending())
    plan = made.plan()
    assert bind(parse(made.sql()), catalog, AGGREGATES) == plan
    assert plan_of(as_json(plan)) == plan
    assert [output.title for output in plan.outputs] == [key, title, title + others[0]]


# --- one ledger, two fronts -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def curator(tmp_path_factory: pytest.TempPathFactory) -> dp.Curator:
    return house.opened(tmp_path_factory.mktemp("fronts"), epsilon=10**5)


@st.composite
def asked(draw: st.DrawFn) -> Any:
    """Steps over the clinic of `house`, as a function of the frame they start from."""
    keys = draw(st.lists(st.sampled_from(("city", "day", "dose")), unique=True, max_size=2))
    where = draw(
        st.sampled_from((age > 30, dp.col("seen") & (city != "Hull"), dp.col("gain") < 0.1, city.is_missing()))
    )
    calls = draw(
        st.lists(st.sampled_from((n, dp.mean("age"), dp.sum("gain"), dp.count_units())), min_size=1, max_size=3)
    )
    return lambda frame: frame.where(where).group_by(*keys).agg(**{f"c{i}": one / 2 for i, one in enumerate(calls)})


@given(asked(), st.sampled_from((1, "0.3", 0.7)), st.booleans())
@tried
def test_a_question_is_one_request_whichever_front_asked_it(curator, steps, epsilon, sql_first):
    frame = steps(curator.table("visits"))
    assert frame.quote(epsilon=epsilon) == curator.quote(frame.sql(), epsilon=epsilon)
    assert frame.plan() == curator.plan(frame) == curator.plan(frame.sql())
    ways = [lambda: curator.ask(frame.sql(), epsilon=epsilon), lambda: frame.ask(epsilon=epsilon)]
    first, second = reversed(ways) if sql_first else ways
    paid = second()
    before = curator.budget().spent
    again = first()
    assert again == paid
    assert again.repeated or again.public  # of no group, as city IS NULL leaves none of the listed cities
    assert curator.budget().spent == before
    assert again.receipt == paid.receipt


def test_what_a_curator_takes_a_frame_takes(curator):
    frame = curator.table("visits").group_by("city").agg(n=dp.count(), age=dp.mean("age"))
    assert str(frame.menu()) == str(curator.menu(frame.sql()))
    assert str(frame.menu(assume_count=50, confidence=0.9)) == str(curator.menu(frame, assume_count=50, confidence=0.9))
    assert frame.quote(spend="1%").epsilon == 10**3
    within = {"n": 50, "age": 3}
    assert frame.quote(within=within, assume_count=100) == curator.quote(frame.sql(), within=within, assume_count=100)
    one, other = frame.ask(epsilon=1, fresh=True), frame.ask(epsilon=1, fresh=True, analyst="ada", request_id="x")
    assert not one.repeated
    assert other.receipt["request"] == "x"
    assert curator.answer(frame.quote(epsilon=3)).columns == ("city", "n", "age")
    assert curator.verify(one.receipt).holds
    with pytest.raises(TypeError):
        frame.ask("5%")


def test_a_refused_frame_costs_nothing(curator):
    before = curator.budget()
    for frame in (curator.table("visits"), curator.table("visits").agg(a=dp.sum("city"))):
        with pytest.raises(Refusal):
            frame.ask(epsilon=1)
    assert curator.budget() == before


# --- steps ------------------------------------------------------------------------------------------------------------


def test_each_step_is_a_new_frame_and_the_old_ones_stay():
    first = VISITED.group_by("city").agg(n=n)
    before = first.sql()
    others = [
        first.where(age > 1),
        first.group_by("ward"),
        first.agg(m=n),
        first.having(n > 1),
        first.order_by("n"),
        first.limit(1),
    ]
    assert first.sql() == before
    assert len({other.sql() for other in others} | {before}) == 7
    assert first == VISITED.group_by("city").agg(n=n)
    assert first.where() == first == copy.copy(first)
    with pytest.raises(FrozenInstanceError):
        first.rows = VISITED.rows


def test_the_order_of_the_steps_is_free():
    one = VISITED.where(age > 1).group_by("city").agg(n=n).having(dp.col("n") > 2).order_by("n").limit(3)
    other = VISITED.limit(3).order_by("n").having(dp.col("n") > 2).agg(n=n).group_by("city").where(age > 1)
    assert one == other
    assert one.plan() == other.plan()


DEEP = n
for _ in range(70):
    DEEP = DEEP + n
DEEPEST = n
for _ in range(5_000):
    DEEPEST = -(DEEPEST + 1)
BAD = [
    # tables and columns
    (lambda: table("vists"), 'there is no table "vists"', "Did you mean visits?"),
    (lambda: table("Visits"), 'there is no table "Visits"', "Did you mean visits?"),
    (lambda: table(3), "a table is given by its name", ""),
    (lambda: table("cities").agg(n=n).plan(), "is a public table", ""),
    (lambda: VISITED.where(dp.col("agee") > 3), 'there is no column "agee"', "Did you mean age?"),
    (lambda: VISITED.where(dp.col("Age") > 3), 'there is no column "Age"', "Did you mean age?"),
    (lambda: VISITED.agg(x=dp.mean("csot")), 'there is no column "csot"', "Did you mean cost?"),
    (lambda: VISITED.group_by("cty"), 'there is no column "cty"', "Did you mean city?"),
    (lambda: VISITED.group_by("city").agg(n=n).order_by("m").plan(), 'no column "m" in the answer', "city, n"),
    (lambda: VISITED.agg(n=n).having(dp.col("nn") > 3).plan(), 'no column "nn" in the answer', "n"),
    # rows and aggregates mixed
    (lambda: VISITED.where(n > 3), "where looks at single rows, and this condition holds dp.count()", ".having("),
    (lambda: VISITED.where(age > dp.mean("age")), 'this condition holds dp.mean("age")', ".having("),
    (lambda: VISITED.where(dp.count_units() > 3), "dp.count_units()", ".having("),
    (lambda: VISITED.agg(n=n).where(dp.col("n") > 3), '"n" is a column of the answer', ".having("),
    (lambda: VISITED.agg(x=age + n).plan(), "age is a column of single rows", 'dp.mean("age")'),
    (lambda: VISITED.agg(x=age).plan(), "single rows", "group_by"),
    (lambda: VISITED.agg(n=n).having(age > 3).plan(), "single rows", "group_by"),
    (lambda: VISITED.agg(n=n, m=dp.col("n") * 2).plan(), '"n" is a column of the answer itself', "paid for once"),
    (lambda: VISITED.where(city + 1 > 3).agg(n=n).plan(), '+ needs numbers, and "city" is text', ""),
    (lambda: VISITED.group_by(d=dp.sum("age")), "this expression holds dp.sum(", ".having("),
    (lambda: VISITED.group_by(age / 2), "needs a name", "group_by(decade="),
    (lambda: VISITED.group_by(d=dp.col("nosuch") / 2), "no column", ""),
    (lambda: VISITED.where(age > dt.date.today()).agg(n=n).plan(), "", ""),
    # steps
    (lambda: VISITED.plan(), "the question has no aggregate", ".agg(n=dp.count())"),
    (lambda: VISITED.where(True), "where takes expressions, and this is True", 'dp.col("age") > 65'),
    (lambda: VISITED.where("age > 65"),
    "where takes expressions, and this is a value of type str", 'dp.col("age") > 65'),
    (lambda: VISITED.where(age).agg(n=n).plan(), "a condition is needed", "Compare it"),
    (lambda: VISITED.agg(n), "each column of the answer needs a name", "agg(n=dp.count())"),
    (lambda: VISITED.agg(n="count"), "agg takes expressions", "dp.count()"),
    (lambda: VISITED.agg(**{"": n}), "needs a name", ""),
    (lambda: VISITED.agg(**{"a\0": n}), "U+0000", "Take it out"),
    (lambda: VISITED.agg(n=n).agg(n=n), 'agg names "n" twice', ""),
    (lambda: VISITED.group_by("city").agg(city=n).plan(), "the name of two columns", "Rename"),
    (lambda: VISITED.group_by("city", "city"), 'group_by names "city" twice', "once"),
    (lambda: VISITED.group_by("city").group_by("city"), "twice", "once"),
    (lambda: VISITED.group_by(3), "by its name, not by 3", ""),
    (lambda: VISITED.group_by(age > 3), "needs a name", ""),
    (lambda: VISITED.group_by("cost").agg(n=n).plan(), "needs a public list of keys", ""),
    (lambda: VISITED.agg(n=n).having(True), "having takes expressions", ""),
    (lambda: VISITED.agg(n=n).having(n).plan(), "HAVING needs", ""),
    (lambda: VISITED.agg(n=n).order_by(1), "order_by takes expressions", 'order_by("n")'),
    (lambda: VISITED.limit(3).limit(2), "a limit already", "once"), (lambda: VISITED.limit(-1), "at least 0", ""),
    (lambda: VISITED.limit(2.5), "whole number", ""), (lambda: VISITED.limit(True), "finite number, not True", ""),
    (lambda: table("rows").agg(n=dp.count_units()).plan(), "each row of this table is a unit", "dp.count()"),
    # as in SQL
    (lambda: VISITED.agg(x=dp.sum("city")).plan(), "the column is text, not a number", ""),
    (lambda: VISITED.agg(x=dp.sum("ward")).plan(), "has no bounds", "never from the data"),
    (lambda: VISITED.where(city > 3).agg(n=n).plan(), '"city" is text', ""),
    (lambda: VISITED.agg(x=n.round(1.5)).plan(), "whole number of places", ""),
    (lambda: VISITED.agg(x=n.coalesce()).plan(), "takes 2 to 8", ""),
    (lambda: VISITED.agg(x=n > "x").plan(), "compares", ""),
    (lambda: VISITED.agg(x=DEEP).plan(), "nested more than 64 deep", "Simplify"),
    (lambda: VISITED.agg(x=DEEPEST).plan(), "nested more than 64 deep", "Simplify"),
    (lambda: VISITED.where(~DEEPEST > 3), "", ""),
    (lambda: VISITED.where(age.isin(range(5_000))).agg(n=n).plan(), "the limit is", "Shorten"),
    (lambda: VISITED.where(city == "x" * 30_000).agg(n=n).plan(), "the limit is 20,000", "Shorten"),
]


@pytest.mark.parametrize(("use", "what", "cure"), BAD, ids=[str(i) for i in range(len(BAD))])
def test_a_bad_use_says_what_and_what_to_do(use, what, cure):
    with pytest.raises(Refusal) as refused:
        use()
    assert what in refused.value.what
    assert cure in refused.value.cure
    assert refused.value.__cause__ is None
    str(refused.value).encode()


def test_what_passes_the_bounds_of_sql_passes_in_both_fronts():
    frame = VISITED.where(*(age != i for i in range(900))).agg(n=n)
    assert planned(frame.sql()) == frame.plan()
    made: Expression = n
    for _ in range(64):
        made = made + 1
    assert planned(VISITED.agg(x=made).sql()) == VISITED.agg(x=made).plan()


def test_a_repeated_aggregate_is_one_call():
    assert len(VISITED.agg(a=n, b=n * 2, c=dp.sum("age") / n).plan().calls) == 2
    assert VISITS.unit == "patient"


def test_f7_filter_is_where(tmp_path):
    from house import opened

    import dpcurator as dp

    visits = opened(tmp_path / "c").table("visits")
    condition = dp.col("age") > 65
    assert visits.filter(condition).agg(n=dp.count()).sql() == visits.where(condition).agg(n=dp.count()).sql()
