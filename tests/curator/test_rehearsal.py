"""A rehearsal reads no data, charges nothing, stores nothing, and says in every output that its rows are made up."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from questions import CATALOG, ROWS, VISITS, catalog_with, with_column
from shell import run

import dpcurator as dp
from dpcurator.catalog.load import load
from dpcurator.catalog.model import Column, Table
from dpcurator.curator import rehearsal
from dpcurator.curator.opening import refresh_all, rehearsing
from dpcurator.engines import stored_engine
from dpcurator.engines.reference import Reference
from dpcurator.errors import Fault, Misconfigured, Refusal
from dpcurator.release.answer import MADE_UP
from dpcurator.values import Exact
from receipts import CATALOGS, curator

QUESTIONS = [
    "SELECT COUNT(*) FROM visits",
    "SELECT city, COUNT(*) AS n, AVG(age), SUM(cost) FROM visits WHERE age > 20 GROUP BY city ORDER BY n DESC",
    "SELECT day, ward, COUNT(DISTINCT patient) FROM visits GROUP BY day, ward",
    "SELECT g, SUM(x) FROM rows GROUP BY g",
    "SELECT FLOOR(age / 10) * 10 AS d, AVG(CASE WHEN cost > 20 THEN 1 ELSE 0 END) AS dear FROM visits GROUP BY d",
    "SELECT UPPER(city) AS c, COUNT(*) AS n FROM visits WHERE LENGTH(note) > 3 GROUP BY c HAVING n > 0",
]
FILES = """
[curator]
protects = "people"
[ledger]
epsilon = 4
[tables.towns]
file = "towns.csv"
public = true
[tables.towns.columns]
town = "text"
zone = "integer"
[tables.visits]
file = "visits.csv"
unit = "who"
max_rows = 2
max_groups = 2
[tables.visits.columns]
who = "text"
city = { type = "text", keys = ["Hull", "York"] }
town = { type = "text", keys = { table = "towns", column = "town" } }
zone = { type = "integer", keys = { table = "towns", column = "zone" } }
age = { type = "integer", bounds = [0, 110] }
"""
COUNT = "SELECT city, COUNT(*) AS n FROM visits GROUP BY city"


def broken() -> Iterator[None]:
    raise AssertionError("a rehearsal looked at data")


def table(*columns: Column, **how: object) -> Table:
    return Table("visits", (Column("who", "text"), *columns), "who", **({"max_rows": 3, "max_groups": 2} | how))


def made(*columns: Column, units: int | None = None, **how: object) -> dict[str, list[object]]:
    found = table(*columns, **how)
    promise = {"neighbours": "replace-one", "units": units} if units else {}
    return rehearsal.made_up(replace(CATALOG, tables=(found,), **promise), found)


@pytest.mark.parametrize("name", CATALOGS)
@pytest.mark.parametrize("question", QUESTIONS)
def test_it_answers_free_without_data_and_leaves_the_ledger_as_it_was(name, question):
    asked = curator(CATALOGS[name])
    asked.engine = broken
    answer = asked.rehearse(question, spend="50%")
    assert answer.made_up
    assert answer.receipt is None
    assert answer.cost == 0
    assert answer.rows
    assert list(asked.log()) == []
    assert asked.budget().spent == 0


def test_every_output_says_so():
    answer = curator().rehearse(QUESTIONS[1], epsilon=1)
    assert str(answer).count(MADE_UP) == 2
    assert MADE_UP in answer._repr_html_()
    assert repr(answer).count(MADE_UP) == 2
    assert answer.as_json()["made_up"] is True
    assert answer.to_pandas().attrs["made_up"] is True
    assert (answer.as_json()["spent"], answer.as_json()["left"]) == (None, None)  # it has not looked
    assert "costs epsilon 1" in answer.notes[0]
    assert "no price was given" not in answer.notes[0]
    assert answer.notes[1].endswith(" rows of 1,000 people")
    real = curator().ask(QUESTIONS[1], epsilon=1)
    assert (real.made_up, MADE_UP in str(real), real.as_json()["made_up"]) == (False, False, False)


def test_without_a_price_it_has_one_and_says_so():
    said = curator(CATALOGS["approximate"]).rehearse(QUESTIONS[0]).notes[0]
    assert said == "free; asked for real at this price it costs epsilon 2, 5 % of the budget, as no price was given"
    assert "delta" in curator(CATALOGS["unknown"]).rehearse(QUESTIONS[1]).notes[0]
    public = curator(CATALOGS["replaced"]).rehearse("SELECT COUNT(*) FROM rows")
    assert public.notes[0] == "free; asked for real it is free too: every value is public"
    assert (public.made_up, public.rows) == (True, [(40,)])


def test_no_rehearsal_passes_for_an_answer():
    answer = curator().rehearse(QUESTIONS[1], epsilon=1)
    for shown in (answer.as_json(), answer.core_json(), answer.receipt, answer):
        assert not curator().verify(shown).holds
    assert "made up" in str(dp.verify(answer.as_json()))
    asked = curator()
    asked.rehearse(QUESTIONS[1], epsilon=1)
    assert not asked.ask(QUESTIONS[1], epsilon=1).repeated


def test_the_error_bars_are_those_of_the_real_answer():
    for price in ({"epsilon": 1}, {"spend": "2%"}, {"within": {"n": 30}, "assume_count": 100}):
        asked, real = curator().rehearse(QUESTIONS[1], **price), curator().ask(QUESTIONS[1], **price)
        ends = [sorted(error or 0 for error in answer.error("n")) for answer in (asked, real)]
        assert all(abs(one - two) <= 1 for one, two in zip(*ends, strict=True))  # counts are shown whole
        assert (asked.columns, asked.shown) == (real.columns, real.shown)


def test_the_rows_are_the_catalogs_and_the_same_for_everyone():
    one, two = (rehearsal.made_up(CATALOG, VISITS) for _ in range(2))
    assert one == two
    assert {name: rehearsal.made_up(CATALOG, VISITS, [name])[name] for name in one} == one  # whatever a question reads
    assert one != rehearsal.made_up(replace(CATALOG, digest="other"), VISITS)
    assert set(one["c1"]) == {"Hull", "Leeds", "York", None}
    assert len(set(one["c0"])) == rehearsal.UNITS
    assert set(one["c9"]) - {None} == {f"00000000-0000-0000-0000-{number:012x}" for number in range(36)}
    assert all(note is None or note.startswith("made-up ") for note in one["c11"])


def test_the_noise_is_the_systems_own():
    asked = curator()
    assert len({asked.rehearse(QUESTIONS[0], epsilon=Fraction(1, 100)).rows[0] for _ in range(8)}) > 1


def test_units_have_rows_around_the_caps_and_beyond_them():
    found = made(Column("city", "text", unknown_keys=True), Column("ward", "integer", unknown_keys=True))
    rows = Counter(zip(found["c0"], found["c1"], found["c2"], strict=True))
    assert {1, 2, 3, 4} <= set(rows.values())
    assert max(rows.values()) < 10
    for column in ("c1", "c2"):
        pairs = {(who, key) for who, key in zip(found["c0"], found[column], strict=True) if key is not None}
        assert set(Counter(who for who, _ in pairs).values()) == {1, 2, 3}
        often = Counter(found[column]).most_common()
        assert len(often) == 36 + 1  # and missing ones
        assert often[0][1] > 5 * often[-1][1]
    cells = {pair for pair in zip(found["c1"], found["c2"], strict=True) if None not in pair}
    assert len(cells) > 36 * 36 / 4  # one column does not follow the other


@pytest.mark.parametrize(
    ("how", "units"),
    [({}, 1000), ({"expected_units": 7}, 7), ({"units": 300}, 300), ({"expected_units": 10**6}, rehearsal.MOST_ROWS),
     ({"max_rows": 2000, "max_groups": 12}, 1000), ({"max_rows": 10**9, "max_groups": 10**9}, 1000),
     ({"expected_units": 30_000, "max_rows": 50, "max_groups": 5}, 30_000), ({"unit": "each row", "max_rows": None,
      "max_groups": None, "expected_units": 50}, 50)],
)
def test_as_many_units_as_the_catalog_says_and_no_more_rows_than_are_soon_answered(how, units):
    unit = how.pop("unit", "who")
    found = table(**{name: value for name, value in how.items() if name != "units"})
    promise = {"neighbours": "replace-one", "units": how["units"]} if "units" in how else {}
    columns = rehearsal.made_up(replace(CATALOG, **promise), replace(found, unit=unit), ["c0"])
    assert len(set(columns["c0"])) == units if unit == "who" else len(columns["c0"]) == units
    assert units <= len(columns["c0"]) <= rehearsal.MOST_ROWS
    if found.max_rows in (3, 2000):
        assert units == rehearsal.MOST_ROWS or max(Counter(columns["c0"]).values()) > found.max_rows


EXTREMES = [
    Column("x", "integer", Fraction(-(2**63)), Fraction(2**63 - 1)), Column("x", "integer", Fraction(5), Fraction(5)),
    Column("x", "integer", Fraction(1, 3), Fraction(2, 3)), Column("x", "float", Fraction(2, 3), Fraction(2, 3)),
    Column("x", "float", Fraction(-1.7976931348623157e308), Fraction(1.7976931348623157e308)),
    Column("x", "float", Fraction(5e-324), Fraction(1e-323)), Column("x", "float"), Column("x", "integer"),
    Column("x", "date", Fraction(-719_162), Fraction(2_932_896)), Column("x", "date"), Column("x", "timestamp"),
    Column("x", "timestamp", Fraction(-719_162 * 86_400_000_000), Fraction(2_932_897 * 86_400_000_000 - 1)),
    Column("x", "boolean"), Column("x", "uuid"), Column("x", "text"), Column("x", "text", keys=()),
    Column("x", "boolean", unknown_keys=True), Column("x", "date", unknown_keys=True),
    Column("x", "timestamp", unknown_keys=True), Column("x", "uuid", unknown_keys=True),
    Column("x", "integer", Fraction(3), Fraction(5), unknown_keys=True), Column("x", "integer", keys=(None, 4, 9)),
]


@pytest.mark.parametrize("column", EXTREMES, ids=str)
def test_every_column_gets_values_of_its_own_kind(column):
    values = made(column)["c1"]
    kind = {"integer": int, "float": float, "text": str}[column.kind]
    assert all(type(value) is kind or value is None for value in values)
    assert None in values
    seen = [value for value in values if value is not None]
    if kind is int:
        first, last = rehearsal._DOMAINS.get(column.type, (0, 1))
        assert all(first <= value <= last for value in seen)
    if column.keys:
        assert set(values) == {*column.keys, None}
    if column.lower is not None and column.upper is not None and not column.unknown_keys:
        inside = sum(column.lower <= Fraction(value) <= column.upper for value in seen)
        assert inside > len(seen) / 2 or column.lower in (Fraction(1, 3), Fraction(2, 3))
        assert min(seen) <= column.lower or kind is float
        assert max(seen) >= column.upper or kind is float


def test_numbers_are_humped_and_pass_their_bounds_now_and_then():
    ages = [age for age in made(Column("age", "integer", Fraction(0), Fraction(110)))["c1"] if age is not None]
    assert min(ages) < 0 < 110 < max(ages)
    tenths = Counter(age // 11 for age in ages if 0 <= age < 110)
    assert tenths[3] > 2 * tenths[9]


@pytest.mark.parametrize("name", CATALOGS)
def test_the_engine_says_what_the_reference_says(name, monkeypatch):
    """The rows are few enough for both, and mean the same to both."""
    sums: list[tuple[Exact, Exact]] = []
    real = stored_engine().from_tables

    class Both:
        def __init__(self, *given):
            self.given = given

        def evaluate(self, core):
            one, two = real(*self.given).evaluate(core), Reference(self.given[0]).evaluate(core)
            sums.append((one, two))
            return one

    monkeypatch.setattr(stored_engine(), "from_tables", lambda *given: Both(*given))
    for question in QUESTIONS:
        curator(CATALOGS[name]).rehearse(question)
    assert sums
    for pair in sums:
        keys, rows = ([exact.keys_for_release() for exact in pair], [exact.open_for_release() for exact in pair])
        if keys[0] is None:
            assert rows[0] == rows[1]
        else:
            assert dict(zip(keys[0], rows[0], strict=True)) == dict(zip(keys[1], rows[1], strict=True))


def test_unknown_keys_are_words_that_nobody_takes_for_data():
    visits = with_column(VISITS, "city", keys=None, unknown_keys=True)
    catalog = replace(catalog_with(visits, ROWS), epsilon=Fraction(40), delta=Fraction(1, 10**6), salt="0" * 32)
    answer = curator(catalog).rehearse("SELECT city, COUNT(*) AS n FROM visits GROUP BY city", spend="50%")
    assert len(answer.rows) > 5
    assert all(city is None or city.startswith("made-up ") for city, _ in answer.rows)


def test_no_more_rows_are_made_up_however_much_is_declared():
    visits = replace(VISITS, expected_units=10**9, max_rows=10**6, max_groups=10**6)
    made = rehearsal.made_up(replace(CATALOG, tables=(visits,)), visits)
    assert {len(values) for values in made.values()} == {rehearsal.MOST_ROWS}


def test_it_says_when_there_are_fewer_units_than_declared():
    """Also where an average divides by the public number of units."""
    asked = rehearsing({"curator": {"protects": "people", "neighbours": "replace-one", "units": 1_000_000},
                        "ledger": {"epsilon": 1}, "tables": {"t": {"unit": "each row", "columns": {
                            "x": {"type": "integer", "bounds": [0, 100], "missing": 50}}}}})
    answer = asked.rehearse("SELECT AVG(x) FROM t")
    assert answer.notes[1].startswith("made up from the catalog alone: 100,000 rows of 100,000 people, not 1,000,000: ")


def test_what_is_refused_for_real_is_refused_here():
    with pytest.raises(Refusal, match="no column"):
        curator().rehearse("SELECT AVG(nothing) FROM visits")
    with pytest.raises(Refusal, match="two prices"):
        curator().rehearse(QUESTIONS[0], epsilon=1, spend="5%")
    with pytest.raises(TypeError):
        curator().rehearse(QUESTIONS[0], fresh=True)


def test_a_question_that_the_engine_cannot_do_is_refused_not_a_fault(monkeypatch):
    """The rows are nobody's: nothing is charged, nothing is closed, and it may be told."""

    def fails(*_: object) -> None:
        raise Fault

    monkeypatch.setattr(stored_engine(), "evaluate", fails)
    asked = curator()
    with pytest.raises(Refusal, match="even on made-up rows"):
        asked.rehearse(QUESTIONS[0])
    monkeypatch.undo()
    assert asked.ask(QUESTIONS[0], epsilon=1).receipt


def test_it_is_as_free_when_nothing_is_left_and_while_the_curator_is_closed():
    asked = curator()
    asked.ask(QUESTIONS[0], spend="100%")
    asked.ledger.close_after_fault()
    before = list(asked.log())
    assert asked.rehearse(QUESTIONS[1], spend="100%").made_up
    assert list(asked.log()) == before


def test_a_frame_rehearses():
    frame = curator().table("visits").group_by("city").agg(n=dp.count())
    assert frame.rehearse().made_up
    assert "costs epsilon 1" in frame.rehearse(epsilon=1).notes[0]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("curator.toml").write_text(FILES, encoding="utf-8")
    return tmp_path


def test_the_shell_rehearses_before_there_is_anything(here, capsys):
    told = run(capsys, "ask", COUNT, "--rehearse")
    assert told.code == 0
    assert told.out.startswith(MADE_UP)
    assert run(capsys, "ask", COUNT, "--rehearse", "--epsilon", "1", "--json").json["made_up"] is True
    assert run(capsys, "ask", COUNT, "--rehearse", "--fresh").code == 2
    assert run(capsys, "ask", COUNT, "--rehearse", "--receipt", "r.json").code == 2
    assert [path.name for path in here.iterdir()] == ["curator.toml"]


def test_keys_of_public_tables_are_made_up_until_they_are_read(here, capsys):
    question = "SELECT town, zone, COUNT(*) AS n FROM visits GROUP BY town, zone"
    rows = rehearsing("curator.toml").rehearse(question).rows
    assert {zone for _, zone, _ in rows} == set(range(12))
    assert len({town for town, _, _ in rows}) == 12
    assert all(town.startswith("made-up ") for town, _, _ in rows)
    Path("towns.csv").write_text("town,zone\nGoole,1\nSelby,2\n", encoding="utf-8")
    Path("visits.csv").write_text("who,city,town,zone,age\na,Hull,Goole,1,5\n", encoding="utf-8")
    refresh_all(load(Path("curator.toml")))
    assert [row[:2] for row in rehearsing("curator.toml").rehearse(question).rows] == [
        ("Goole", 1), ("Goole", 2), ("Selby", 1), ("Selby", 2)]


def test_everything_beside_the_catalog_stays_as_it_was_byte_for_byte(here, capsys):
    Path("towns.csv").write_text("town,zone\nGoole,1\nSelby,2\n", encoding="utf-8")
    Path("visits.csv").write_text("who,city,town,zone,age\na,Hull,Goole,1,5\n", encoding="utf-8")
    run(capsys, "refresh")
    run(capsys, "ask", COUNT, "--epsilon", "1")

    def everything() -> dict[str, tuple[bytes, int]]:
        files = [path for path in here.rglob("*") if path.is_file()]
        return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}

    asked = dp.open("curator.toml")
    before = everything()
    for _ in range(3):
        asked.rehearse(COUNT)
        assert run(capsys, "ask", COUNT, "--rehearse").code == 0
    assert everything() == before
    for state in (here / ".dpcurator").iterdir():
        state.unlink()  # also when ledger, key and snapshot are gone
    assert run(capsys, "ask", COUNT, "--rehearse").code == 0
    assert list((here / ".dpcurator").iterdir()) == []


def test_the_shell_verifies_no_rehearsal(here, capsys):
    told = run(capsys, "ask", COUNT, "--rehearse", "--json")
    Path("one.json").write_text(told.out, encoding="utf-8")
    Path("all.json").write_text(json.dumps([told.json]), encoding="utf-8")
    for file in ("one.json", "all.json"):
        checked = run(capsys, "verify", file, "--alone")
        assert checked.code == 1
        assert "the answer of a rehearsal" in checked.out


def test_a_rehearsing_curator_has_no_data_to_ask(here):
    asked = dp.rehearsing("curator.toml")
    with pytest.raises(Misconfigured, match="no data"):
        asked.ask("SELECT COUNT(*) FROM visits", epsilon=1)
    assert asked.budget().spent == 0
    declared = {"curator": {"protects": "people"}, "ledger": {"epsilon": 1}, "tables": {"t": {
        "unit": "each row", "columns": {"x": {"type": "float", "bounds": [0, 1]}}}}}
    assert dp.rehearsing(declared).rehearse("SELECT AVG(x) FROM t").made_up


def test_a1_long_keys_are_rehearsed_on_fewer_rows():
    """A hundred thousand rows of the longest keys would be gigabytes, and free."""
    long = tuple(sorted("k" * 7_999 + str(number) for number in range(5)))
    note = Column("note", "text", keys=long, max_length=8000)
    table = Table("t", (Column("who", "integer"), note), "who", max_rows=3, max_groups=2, expected_units=100_000)
    made = rehearsal.made_up(catalog_with(table), table)
    assert sum(len(str(text)) for text in made["c1"]) <= rehearsal.MOST_LETTERS
    assert len(made["c1"]) > 1000
    short = replace(table, columns=(table.columns[0], replace(table.columns[1], keys=("a", "b"))))
    assert len(rehearsal.made_up(catalog_with(short), short)["c1"]) == rehearsal.MOST_ROWS
