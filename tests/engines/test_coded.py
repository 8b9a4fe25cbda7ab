"""Which plans read numbers in place of texts for units, and that those mean the same integers as the reference."""

from dataclasses import replace

import pytest
from engine_rows import opened

from dpcurator.engines.duckdb import coded as coded_module
from dpcurator.engines.duckdb.coded import Code, Number, coded
from dpcurator.engines.duckdb.engine import DuckDB
from dpcurator.engines.reference import Reference
from dpcurator.language.rows import Compare, Constant, Field, IsMissing
from dpcurator.plan.core import (
    ONE,
    Chosen,
    Distinct,
    Filter,
    Grid,
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
from dpcurator.plan.core_relations import (
    Both,
    Columns,
    Flag,
    Folded,
    Found,
    Groups,
    Match,
    Only,
    Order,
    Ranked,
    Stored,
    columns_of,
    walk,
)

W, X, OTHER = Source("c0", "text"), Source("c1", "integer"), Source("c2", "text")
TABLES = {
    "t0": {"c0": ["b", "a", None, "b", "é", "a"], "c1": [1, 2, 3, 4, None, 5], "c2": ["a", "b", "a", "b", "b", "a"]},
    "t1": {"c0": ["a", "b", "b", None, "zz", "z"], "c1": [7, 1, 4, 2, 6, 6], "c2": ["b", "b", "a", None, "é", "z"]},
    "t2": {"c0": ["a", "c"], "c1": [1, 2], "c2": ["c", "d"]},
}
CODES = {(table, "c0"): Code("c9", 3) for table in ("t0", "t1")}  # t2 is public
T0, T1, T2 = (Stored(table, (W, X, OTHER), 0 if table != "t2" else None) for table in TABLES)
AFTER = (Measure((Grid(1, "integer", 0, 9, 0, 9, 0),)), PerUnit(), ScaleDown(2, 1, ONE),
         Total((Sum("rows"), Sum("units"), Sum("values"))))
ALL = Listed((), ((),))
IS_A = Compare("=", Field(0, "text"), Constant("a", "text"))


def over(relation, unit=0, measured=1, *, after=AFTER):
    """A plan over all of a relation's columns."""
    kinds = [one.kind for one in columns_of(relation)]
    scan = Scan(relation, tuple(Source(f"c{n}", kind) for n, kind in enumerate(kinds)))
    grid = Grid(measured, "integer", 0, 9, 0, 9, 0)
    return (scan, Owner(unit), ALL, Measure((grid,)), *after[1:])


def plain(*steps, keys=ALL, after=AFTER):
    return (Scan("t0", (W, X, OTHER)), *steps, Owner(0), keys, *after)


DIFFERENT = (Measure((), (), (Distinct(1, "s"),)), PerUnit(), ScaleDown(1, 1, ONE), Total((Sum("distinct", 0),)))
READ = {  # numbers are read
    "owner": plain(), "by another text": plain(keys=Listed((2,), (("a",), ("b",)))),
    "keys that occur": plain(keys=Chosen((2,), 1, "s"), after=(*AFTER[:3], Total((Sum("units"), Sum("values"))))),
    "different values": plain(after=DIFFERENT),
    "groups": over(Groups(T0, 1, (Folded("sum_i", 1), Folded("present", 0), Folded("distinct", 0)))),
    "counts of units": over(Groups(Columns(T0, (Field(0, "text"), Field(0, "text"))), 1, (Folded("distinct", 1),))),
    "join": over(Match(T0, T1, (0,), (0,), True), measured=4), "union": over(Both(T0, T1)),
    "union with a public side's text": over(Both(Columns(T0, (Field(0, "text"), Field(1, "integer"))),
                                                 Columns(T1, (Field(0, "text"), Field(1, "integer"))))),
    "cohort": over(Flag(T0, 0, T1, 0), measured=3),
    "among units": over(Found(T0, (0,), Columns(T1, (Field(0, "text"),)), True), measured=3),
    "ranked within a unit": over(Ranked(T0, (0,), (Order(0, True, True), Order(1, False, True),
                                                   Order(2, False, True))), measured=3),
    "columns in another order": over(Columns(T0, (Field(1, "integer"), Field(0, "text"))), 1, 0),
    "by a condition on others": over(Only(T0, Compare("<", Field(1, "integer"), Constant(4, "integer")))),
}
LOOKED = {  # texts are: a use looks at more than equality
    "condition": plain(Filter(IS_A)), "missing": plain(Filter(IsMissing(Field(0, "text")))),
    "computed": plain(Project((Field(0, "text"),))), "key": plain(keys=Listed((0,), (("a",), ("b",)))),
    "key that occurs": plain(keys=Chosen((0,), 1, "s"), after=(*AFTER[:3], Total((Sum("units"),)))),
    "measured": plain(after=(Measure((Grid(0, "text", 0, 0, 0, 0, 0),)), *AFTER[1:3], Total((Sum("present"),)))),
    "its different values": plain(after=(Measure((), (), (Distinct(0, "s"),)), *DIFFERENT[1:])),
    "missing is another": (Scan("t0", (replace(W, fill="z"), X)), Owner(0), ALL, *AFTER),
    "shorter": (Scan("t0", (replace(W, letters=2), X)), Owner(0), ALL, *AFTER),
    "condition below": over(Only(T0, IS_A)), "least": over(Groups(T0, 2, (Folded("least", 0),))),
    "by the least": over(Groups(T0, 1, (Folded("arg_least", 1, 0),))),
    "joined with another text": over(Match(T0, T1, (0,), (2,), True), measured=4),
    "joined with a public one": over(Match(T0, T2, (0,), (0,), True), measured=4),
    "among others": over(Found(T0, (2,), Columns(T1, (Field(0, "text"),)), False), measured=3),
    "union with others": over(Both(T0, Columns(T1, (Field(2, "text"), Field(1, "integer"), Field(2, "text"))))),
    "ranked by the unit": over(Only(Ranked(T0, (2,), (Order(0, False, True), Order(1, False, True))),
                                    Compare("=", Field(3, "integer"), Constant(1, "integer")))),
}
STILL = {"joined with another text": {"t1"}, "among others": {"t0"}, "union with others": {"t1"}}  # units of these are


def numbers_in(core):
    """The tables whose units are read as numbers."""
    scan = core[0]
    stored = [(scan.table, scan.columns)] if isinstance(scan.table, str) else [
        (one.table, one.columns) for one in walk(scan.table) if isinstance(one, Stored)]
    return {table for table, columns in stored for one in columns if isinstance(one, Number)}


@pytest.fixture(scope="module")
def engine():
    return DuckDB.from_tables(TABLES)


@pytest.mark.parametrize("name", [*READ, *LOOKED])
def test_numbers_are_read_where_nothing_but_equality_is_looked_at_and_mean_the_same(engine, name):
    core = (READ | LOOKED)[name]
    [found] = coded([core], CODES)
    assert numbers_in(found) == (numbers_in(core) or STILL.get(name, set()) if name in LOOKED else {
        table for table, name in CODES if any(table == one for one, _ in coded_module._read(core))})
    assert opened(engine.evaluate(core)) == opened(Reference.from_tables(TABLES).evaluate(core))


def test_in_one_statement_a_column_is_numbers_for_all_plans_or_for_none():
    """So that what several of them group is still one relation."""
    for name in LOOKED.keys() - {"among others"}:
        found = coded([READ["owner"], LOOKED[name]], {("t0", "c0"): Code("c9", 3)})
        assert found == (READ["owner"], LOOKED[name]), name
    assert all(map(numbers_in, coded(list(READ.values()), CODES)))


def test_engines_over_lists_read_numbers_for_every_text(engine):
    """So the conformance suite and the heart law, which run on these, are tried over them."""
    assert "c10000" in engine.explain(READ["owner"]).sql
    assert "c10000" not in engine.explain(LOOKED["condition"]).sql
    assert "JOIN snapshot.main.units" in engine.explain(READ["keys that occur"]).sql
    assert "JOIN snapshot.main.units" in engine.explain(READ["different values"]).sql


@pytest.mark.parametrize("name", ["condition", "key", "least", "ranked by the unit"])
def test_a_use_that_is_not_seen_is_found_by_the_reference(engine, monkeypatch, name):
    """The control: were numbers read there, the integers would be others, or there would be none."""
    wanted = opened(Reference.from_tables(TABLES).evaluate(LOOKED[name]))
    monkeypatch.setattr(coded_module, "_refuse", lambda marks: list(marks) and None)
    try:
        found = opened(engine.evaluate(LOOKED[name]))
    except Exception:
        return
    assert found != wanted
