"""Numbers of units that are texts: equal exactly where the texts are, in all tables, whatever the hash does."""

import duckdb
import pytest
from engine_rows import opened

from dpcurator.catalog.load import load
from dpcurator.engines.duckdb.engine import DuckDB
from dpcurator.plan.core import (
    ONE,
    Chosen,
    Distinct,
    Grid,
    Listed,
    Measure,
    Owner,
    PerUnit,
    ScaleDown,
    Scan,
    Source,
    Sum,
    Total,
)
from dpcurator.plan.core_relations import Match, Stored
from dpcurator.snapshot import codes
from dpcurator.snapshot.refresh import refresh
from dpcurator.snapshot.store import open_snapshot

CATALOG = """
[curator]
protects = "people"
[ledger]
epsilon = 100
[tables.visits]
file = "visits*.csv"
unit = "who"
append_only = true
max_rows = 2
max_groups = 1
[tables.visits.columns]
who = "text"
visit = "integer"
city = { type = "text", keys = ["York", "Hull"] }
[tables.people]
file = "people.csv"
unit = "id"
one_row_per = ["id"]
columns = { id = "text", age = { type = "integer", bounds = [0, 100], per_unit = 1 } }
[tables.lines]
file = "lines.csv"
unit = { through = "visits", on = "visit" }
max_rows = 4
columns = { visit = "integer", price = "integer" }
[tables.plain]
file = "plain.csv"
unit = "n"
max_rows = 1
columns = { n = "integer" }
"""
UNITS = ["a", "b", "c", "d", "é", "", " "]


@pytest.fixture
def clinic(tmp_path):
    """A catalog with three tables of one kind of unit, and others."""
    rows = [(who, n, "York" if n % 2 else "Hull") for n, who in enumerate(UNITS * 3)]
    (tmp_path / "visits1.csv").write_text("who,visit,city\n" + "".join(f'"{w}",{n},{c}\n' for w, n, c in rows))
    (tmp_path / "people.csv").write_text("id,age\n" + "".join(f'"{who}",{n}\n' for n, who in enumerate(UNITS * 2)))
    (tmp_path / "lines.csv").write_text("visit,price\n" + "".join(f"{n},{n}\n" for n in range(21) for _ in range(2)))
    (tmp_path / "plain.csv").write_text("n\n1\n2\n")
    (tmp_path / "curator.toml").write_text(CATALOG)
    return load(tmp_path / "curator.toml")


def numbered(declaration):
    """By table, the pairs of unit and number; and the pairs of `units`."""
    with duckdb.connect(str(open_snapshot(declaration).path), read_only=True) as connection:
        found = connection.execute("SELECT t, c, code FROM codes ORDER BY t").fetchall()
        pairs = {table: set(connection.execute(f"SELECT {unit}, {code} FROM {table}").fetchall())
                 for table, unit, code in found}
        return pairs, connection.execute("SELECT unit, code FROM units").fetchall()


@pytest.mark.parametrize("hashed", [
    pytest.param(codes.NUMBER, marks=pytest.mark.slow), "(hash({0}) % 2)::BIGINT",
    pytest.param("7::BIGINT", marks=pytest.mark.slow)])
def test_units_are_equal_exactly_where_their_numbers_are(clinic, monkeypatch, hashed):
    """In every table, of whatever way its rows came; the one without a unit has no number. Where all texts of a hash
    are one, too, as nobody can rule out for one that is no secret."""
    monkeypatch.setattr(codes, "NUMBER", hashed)
    refresh(clinic)
    (clinic.directory / "visits2.csv").write_text('who,visit,city\nz,100,York\n"",101,York\n')
    refresh(clinic)  # the first file is taken over
    pairs, units = numbered(clinic)
    assert set(pairs) == {"t0", "t1", "t2"}
    known = dict(units)
    assert len(known) == len(units) == len(set(known.values()))
    for found in pairs.values():
        assert all((unit is None) is (code is None) for unit, code in found)
        assert {pair for pair in found if pair[0] is not None} <= set(units)
    assert {unit for unit, _ in pairs["t0"]} == {*UNITS, "z"} - {""} | {None}
    assert pairs["t2"] - {(None, None)} <= pairs["t0"]


WHO, VISIT, CITY = Source("c0", "text"), Source("c1", "integer"), Source("c2", "text")
GRIDS, CAPS = Measure((Grid(1, "integer", 0, 50, 0, 50, 0),)), (PerUnit(), ScaleDown(1, 1, ONE))
SUMS = Total((Sum("units"), Sum("rows"), Sum("values")))
VISITS, PEOPLE = Stored("t0", (WHO, VISIT), 0), Stored("t1", (WHO, VISIT), 0)
JOINED = tuple(Source(f"c{n}", kind) for n, kind in enumerate(("text", "integer", "text", "integer")))
CORES = {
    "listed": (Scan("t0", (WHO, VISIT, CITY)), Owner(0), Listed((2,), (("York",), ("Hull",))), GRIDS, *CAPS, SUMS),
    "occurring": (Scan("t0", (WHO, VISIT, CITY)), Owner(0), Chosen((2,), 1, "s"), GRIDS, *CAPS, SUMS),
    "different": (Scan("t0", (WHO, VISIT)), Owner(0), Listed((), ((),)), Measure((), (), (Distinct(1, "s"),)), *CAPS,
                  Total((Sum("distinct", 0),))),
    "joined": (Scan(Match(VISITS, PEOPLE, (0,), (0,), False), JOINED), Owner(0), Listed((), ((),)), GRIDS, *CAPS, SUMS),
    "through": (Scan("t2", (Source("c2", "text"), VISIT)), Owner(0), Listed((), ((),)), GRIDS, *CAPS, SUMS),
}


@pytest.mark.parametrize("hashed", ["(hash({0}) % 2)::BIGINT", pytest.param(codes.NUMBER, marks=pytest.mark.slow)])
def test_a_question_has_the_integers_that_it_has_of_texts_and_of_a_snapshot_of_before(clinic, monkeypatch, hashed):
    """With numbers, of which several were the same at first, and without any, as snapshots were before they had them.
    """
    cores = list(CORES.values())
    found = []
    for number in (hashed, None):
        with monkeypatch.context() as patched:
            if number is None:
                patched.setattr(codes, "unit_of", lambda _: None)
            else:
                patched.setattr(codes, "NUMBER", number)
            refresh(clinic)
        path = open_snapshot(clinic).path
        if number is None:
            with duckdb.connect(str(path)) as connection:
                connection.execute("DROP TABLE codes; DROP TABLE units; DROP TABLE kinds")
        engine = DuckDB(path)
        assert bool(engine._codes) is (number is not None)
        found.append([opened(engine.evaluate(core)) for core in cores])
        assert [opened(one) for one in engine.evaluate_all(cores)] == found[-1]
    assert found[0] == found[1]
    assert all(map(any, found[0][0]))
