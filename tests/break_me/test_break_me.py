"""`break-me` and its parts: what is right passes, and each mistake put in is found, with a small witness.

The generators are tested for what they reach, since what is never asked is never found.
"""

from __future__ import annotations

import copy
import random
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from engine_mistakes import mistaken
from schemas import SCHEMAS, declared
from shell import run

import dpcurator as dp
from dpcurator.aggregates import AGGREGATES
from dpcurator.auditing.replay.curators import replay_curators, shown
from dpcurator.break_me import bench
from dpcurator.break_me import search as searching
from dpcurator.break_me.bench import Bench, search
from dpcurator.break_me.expressions import NAMING, OF_NUMBERS, OF_PAIRS, ORDERED
from dpcurator.break_me.questions import Question, literal, question, quoted
from dpcurator.break_me.search import FOUND, NOTHING, Broken, Witness
from dpcurator.break_me.sensitivity import Exactly, Reading, apart, disagreement
from dpcurator.break_me.shrink import smallest
from dpcurator.break_me.tables import fellows
from dpcurator.break_me.worst_case_tables import KINDS, unit, unit_place, world
from dpcurator.catalog.declaration import Declaration
from dpcurator.catalog.load import load
from dpcurator.catalog.model import EACH_ROW, Column, Table
from dpcurator.curator.opening import refresh_all, rehearsing
from dpcurator.engines import reference, reference_relations
from dpcurator.engines.duckdb import engine
from dpcurator.plan import stability
from dpcurator.pricing import at_price


def tried(name: str, worlds: int = 12, seed: int = 0) -> Broken:
    return search(declared(name), seed=seed, worlds=worlds)


def table_of(name: str) -> Table:
    return rehearsing(declared(name)).catalog.tables[0]


# --- mistakes put in are found ----------------------------------------------------------------------------------------

SHARE, MEASURE, READING, ROWS = reference._share, reference.measure, stability.reading, stability.NODE_RULES


def caps_ignored(monkeypatch):
    monkeypatch.setattr(
        reference, "_share", lambda step, g, values: SHARE(replace(step, max_rows=10**6), g, values)
    )


def groups_ignored(monkeypatch):
    monkeypatch.setattr(
        reference, "_share", lambda step, rows, values: SHARE(replace(step, max_groups=len(rows)), rows, values)
    )


def clamp_left_out(monkeypatch):
    def measure(grid: Any, value: Any) -> Any:
        return int(value) - grid.lower if isinstance(value, int) else MEASURE(grid, value)

    monkeypatch.setattr(reference, "measure", measure)


def a_claim_too_small(monkeypatch):
    def less(ask: Any, *rest: Any) -> Any:
        found = READING(ask, *rest)
        return replace(found, linf=found.linf - 1) if ask.what == "rows" else found

    monkeypatch.setattr(at_price, "reading", less)


def a_quantile_claims_too_little(monkeypatch):
    def less(ask: Any, *rest: Any) -> Any:
        found = READING(ask, *rest)
        return replace(found, linf=found.linf - 1, l1=found.l1 - 1) if ask.what == "quantile" else found

    monkeypatch.setattr(at_price, "reading", less)


def cut_counts_rows(monkeypatch):
    """The rows of units over a cap, where these are counted once."""
    honest = reference.Units.look

    def look(units: Any, step: Any, grouped: Any) -> None:
        honest(units, step, grouped)
        units.over = {(unit, n) for unit in units.over for rows in grouped[unit].values() for n in range(len(rows))}

    monkeypatch.setattr(reference.Units, "look", look)


def failing_on_a_row(monkeypatch):
    honest = reference.truth

    def truth(predicate: Any, row: Any) -> Any:
        if 2**63 - 1 in row:
            raise ZeroDivisionError
        return honest(predicate, row)

    monkeypatch.setattr(reference, "truth", truth)


def duckdb_keeps_many(monkeypatch):
    monkeypatch.setattr(engine, "statement", lambda core: mistaken("min(c, m) dropped", core))


def receipts_count_rows(monkeypatch):
    from dpcurator.receipts import receipt

    honest, engine = receipt.write, reference.Reference.evaluate
    rows: list[int] = []

    def evaluate(self: Any, core: Any) -> Any:
        rows.append(sum(len(column) for columns in self._tables.values() for column in columns.values()))
        return engine(self, core)

    def write(quote: Any, charge: Any, core: Any, **named: Any) -> Any:
        return honest(quote, charge, core, **named) | {"rows_read": rows[-1]}

    monkeypatch.setattr(reference.Reference, "evaluate", evaluate)
    monkeypatch.setattr(receipt, "write", write)


MISTAKES = {
    caps_ignored: "input", groups_ignored: "input", clamp_left_out: "input", a_claim_too_small: "input",
    cut_counts_rows: "input", a_quantile_claims_too_little: "input",
    failing_on_a_row: "error", duckdb_keeps_many: "engines", receipts_count_rows: "shown",
}


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda one: one.__name__)
def test_a_mistake_is_found_with_a_small_witness(mistake, monkeypatch):
    mistake(monkeypatch)
    if MISTAKES[mistake] == "input":  # by the claims alone, without another engine to tell
        monkeypatch.setattr(bench, "disagreement", lambda one, other, names: [])
    found = tried("listed", worlds=40)
    assert found.verdict == FOUND
    witness = found.witness
    assert witness is not None
    kinds = {one.kind for one in witness.mismatches}
    assert MISTAKES[mistake] in kinds
    assert len(witness.first) <= 12
    assert len(witness.question.items) == 1
    assert str(witness.mismatches[0]) in str(found)
    assert found.as_json()["witness"]["question"] == witness.question.text


def test_a_quote_that_fails_as_none_should_is_found(monkeypatch):
    from dpcurator.curator.curator import Curator

    def quote(curator, question, **price):
        raise KeyError("city")

    monkeypatch.setattr(Curator, "quote", quote)
    found = search(declared("listed"), worlds=1)
    assert found.verdict == FOUND
    assert "the quote: fails with KeyError on made-up rows" in str(found)


def test_an_answer_that_fails_as_none_should_is_shown():
    class Failing:
        def quote(self, question, **price):
            return SimpleNamespace(as_json=dict)

        def ask(self, question, **price):
            raise IndexError("of a row")

        def budget(self):
            return SimpleNamespace(spent=0, spent_delta=0, remaining=1)

    assert shown(Failing(), "SELECT 1")["answer"] == {"error": "IndexError", "words": "of a row"}


def test_what_is_right_passes():
    """Every schema, and at length, in test_self_audit.py."""
    found = tried("listed", worlds=1)
    assert found.verdict == NOTHING, str(found)
    assert found.pairs > 10
    assert "private" not in str(found)


def test_a_rule_weakened_is_found_with_unknown_keys(monkeypatch):
    honest = reference.choose
    monkeypatch.setattr(
        reference, "choose", lambda step, rows: honest(replace(step, max_groups=step.max_groups + 1), rows)
    )
    found = tried("unknown", worlds=20)
    assert found.witness is not None
    assert found.witness.mismatches[0].kind == "error"  # the release step itself refuses half a vote
    assert "TypeError" in found.witness.mismatches[0].words


def test_a_relation_that_is_not_of_one_unit_is_found(monkeypatch):
    """Rows are numbered across units, so that where one unit goes another's row comes."""
    honest = reference_relations._ranked
    monkeypatch.setattr(
        reference_relations, "_ranked", lambda node, rows: honest(replace(node, keys=node.keys[1:]), rows)
    )
    first = "(SELECT who, city FROM visits QUALIFY ROW_NUMBER() OVER (PARTITION BY who ORDER BY day) = 1) AS r1"
    asked = Question("visits", ("COUNT(*)",), ("city",), source=first, spend="30%")
    monkeypatch.setattr(searching, "question", lambda luck, table, tables: asked)
    monkeypatch.setattr(searching, "QUESTIONS", 1)
    monkeypatch.setattr(searching, "_small", lambda witness, tables, probe: witness)  # tried above, and takes long
    monkeypatch.setattr(bench, "disagreement", lambda one, other, names: [])
    found = tried("clinic", worlds=20)
    assert found.witness is not None
    assert found.witness.mismatches[0].kind == "input"


def test_a_number_taken_as_public_where_it_is_not_is_found(monkeypatch):
    monkeypatch.setattr(stability.Reach, "always", lambda reach, column: reach.whole)
    declared_ = declared("rows")
    table = declared_.tables[0]
    bare = replace(table, columns=tuple(
        replace(one, missing=None, lower=3) if one.name == "age" else one for one in table.columns
    ))
    found = search(replace(declared_, tables=(bare,)), worlds=40)
    assert found.witness is not None


def test_the_same_seed_tries_the_same(monkeypatch):
    one, other = tried("listed", worlds=1), tried("listed", worlds=1)
    assert (one.pairs, one.readings, one.seen) == (other.pairs, other.readings, other.seen)
    assert tried("listed", worlds=1, seed=1).seen != one.seen


# --- the command ------------------------------------------------------------------------------------------------------


def test_the_command_needs_no_data_and_touches_nothing(tmp_path, monkeypatch, capsys):
    text = """\
[curator]
protects = "people"
[ledger]
epsilon = 1
[tables.visits]
file = "visits.csv"
unit = "who"
max_rows = 2
max_groups = 1
[tables.visits.columns]
who = "text"
age = { type = "integer", bounds = [0, 100] }
"""
    (tmp_path / "curator.toml").write_text(text)
    monkeypatch.chdir(tmp_path)
    ran = run(capsys, "break-me", "--seconds", "1")
    assert ran.code == 0
    assert ran.out.startswith("no violation found, in ")
    caps_ignored(monkeypatch)
    monkeypatch.setattr(bench, "disagreement", lambda one, other, names: [])
    found = run(capsys, "break-me", "--seconds", "60", "--seed", "3", "--json")
    assert found.code == 3
    assert found.json["verdict"] == FOUND
    assert found.json["witness"]["mismatches"][0]["kind"] in ("input", "engines")  # whichever is met first
    assert [path.name for path in tmp_path.iterdir()] == ["curator.toml"]


def test_beside_a_snapshot_no_row_of_it_and_no_ledger_is_read(tmp_path):
    """Of what a refresh left, only the public lists are: with files in place of data and ledger that nobody could read,
    the same questions are tried over the same tables, and nothing is written."""
    data, state = tmp_path / "visits.csv", tmp_path / ".dpcurator"
    rows = "who,city,age,net gain,seen,day,at,dose,note\na,Leeds,30,0.5,true,2024-02-29,2024-01-01,1.5,x\n"
    data.write_text(rows)
    refresh_all(load(SCHEMAS["listed"], directory=tmp_path))
    for file in [data, state / "ledger.db", *state.iterdir()]:
        if file.name != "facts.json":
            file.write_bytes(b"no data, no ledger and no key")
    before = {file.name: file.read_bytes() for file in state.iterdir()}
    assert set(before) >= {"facts.json", "ledger.db", "signing.key"}
    found = search(load(SCHEMAS["listed"], directory=tmp_path), worlds=1)
    fresh = tried("listed", worlds=1)
    assert (found.verdict, found.pairs, found.seen) == (NOTHING, fresh.pairs, fresh.seen)
    assert {file.name: file.read_bytes() for file in state.iterdir()} == before


def test_a_catalog_without_private_tables_is_for_the_steward_to_mend():
    bare = declared("listed")
    with pytest.raises(dp.Misconfigured):
        search(replace(bare, tables=()))
    capless = replace(bare, tables=(replace(bare.tables[0], max_rows=None),))
    with pytest.raises(dp.Misconfigured, match=r"Every question was refused.*max_rows"):
        search(capless, worlds=1)  # which counts no units alone: that needs no cap


def single(name: str) -> Declaration:
    """A schema in which a unit has one city and one day, and no cap on groups."""
    told = copy.deepcopy(SCHEMAS[name])
    del told["tables"]["visits"]["max_groups"]
    for column in ("city", "day"):
        told["tables"]["visits"]["columns"][column]["per_unit"] = 1
    return load(told, directory=Path("."))


@pytest.mark.parametrize("name", ["listed", "unknown", "replaced"])
def test_columns_with_one_value_a_unit_hold_whether_or_not_the_rows_are_alike(name, monkeypatch):
    if name != "listed":  # with unknown keys a unit's others have no limit but this
        honest = single(name)
        declaration = replace(honest, tables=(replace(honest.tables[0], max_total=4),))
    else:
        declaration = single(name)
    found = search(declaration, worlds=2)
    assert found.verdict == NOTHING
    assert found.pairs > 30
    groups_ignored(monkeypatch)
    monkeypatch.setattr(bench, "disagreement", lambda one, other, names: [])
    assert search(declaration, worlds=30).verdict == FOUND


def test_keys_of_a_public_table_and_a_second_table_are_asked_too():
    told = copy.deepcopy(SCHEMAS["listed"])
    told["tables"]["more"] = copy.deepcopy(told["tables"]["visits"])
    told["tables"]["cities"] = {"file": "cities.csv", "public": True, "columns": {"name": "text"}}
    told["tables"]["more"]["columns"]["city"] = {"type": "text", "keys": {"table": "cities", "column": "name"}}
    found = search(load(told, directory=Path(".")), worlds=4)
    assert found.verdict == NOTHING, str(found)
    assert found.pairs > 20


# --- what the generators reach ----------------------------------------------------------------------------------------


def test_every_aggregate_is_drawn():
    """Those that are no count stand in three tuples of break_me/expressions.py, where a new one is added."""
    assert {rule.function for rule in AGGREGATES if rule.names} == {*NAMING}
    for argument, listed in (("number", OF_NUMBERS), ("pair", OF_PAIRS), ("ordered", ORDERED)):
        there = [rule.function for rule in AGGREGATES if rule.argument == argument]
        assert list(listed) == there, "add it to its tuple in src/dpcurator/break_me/expressions.py"


def test_questions_reach_the_whole_surface_and_are_nearly_always_answered():
    words = ["COUNT(DISTINCT", "SUM(", "AVG(", "MEDIAN(", "QUANTILE(", "CASE", "WHERE", "GROUP BY", "WITH_OTHER",
             "HAVING", "ORDER BY", "LIMIT", "LIKE", "SQRT", "IS NULL", "IN (",
             "DATE '", "TIMESTAMP '", "UPPER(", "CLIP("]
    refused, texts = 0, []
    for name in SCHEMAS:
        curator = rehearsing(declared(name))
        for seed in range(100):
            asked = question(random.Random(f"{name} {seed}"), curator.catalog.tables[0])
            texts.append(asked.text)
            try:
                curator.quote(asked.text, spend=asked.spend)
            except dp.Refusal:
                refused += 1
    assert [word for word in words if not any(word in text for text in texts)] == []
    assert refused < len(texts) / 10


def test_worlds_reach_extremes():
    seen: set[str] = set()
    for name in ("listed", "unknown", "replaced"):
        table = table_of(name)
        for seed in range(30):
            made = world(random.Random(seed), [table], "add-remove")
            own = [row for _, row in made.rows]
            values = [value for row in own for value in row]
            floats = [value for value in values if isinstance(value, float)]
            seen |= {"nan"} if any(value != value for value in floats) else set()
            seen |= {"infinite"} if any(abs(value) == float("inf") for value in floats) else set()
            seen |= {"NULL"} if None in values else set()
            seen |= {"wide"} if any(isinstance(value, int) and abs(value) > 2**62 for value in values) else set()
            seen |= {"no unit"} if any(row[0] is None for row in own) else set()
            seen |= {"duplicates"} if len(set(map(repr, own))) < len(own) else set()
            seen |= {"empty"} if any(all(r[0] is None for _, r in rows) for _, rows in made.others) else set()
            sizes = [sum(row[0] == other for row in own) for other in {row[0] for row in own}]
            seen |= {"many rows"} if max(sizes, default=0) > 10 * (table.max_rows or 1) else set()
            seen |= {"unlisted"} if any(value == "nowhere" for value in values) else set()
    assert seen == {"nan", "infinite", "NULL", "wide", "no unit", "duplicates", "empty", "many rows", "unlisted"}


def by_unit(rows: Any, place: Any) -> dict[Any, list[str]]:
    """The rows of each unit, over all tables; public ones are those of None."""
    found: dict[Any, list[str]] = {}
    for name, row in rows:
        found.setdefault(None if place[name] is None else row[place[name]], []).append(repr((name, row)))
    return {unit: sorted(own) for unit, own in found.items()}


@pytest.mark.parametrize("name", SCHEMAS)
@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_every_pair_is_a_pair_of_neighbours(name, neighbours):
    """In all tables at once: public rows and rows without a unit stay, and one unit's change."""
    tables = rehearsing(declared(name)).catalog.tables
    place = {table.name: unit_place(table) for table in tables}
    for seed in range(20):
        luck = random.Random(seed)
        made = world(luck, fellows(luck.choice([one for one in tables if one.private]), tables), neighbours)
        for _, other in made.others:
            if tables[0].unit == EACH_ROW:
                assert len(other) == len(made.rows) - (neighbours == "add-remove")
                assert len(set(map(repr, made.rows)) - set(map(repr, other))) <= 1
                continue
            one, two = (by_unit(rows, place) for rows in (made.rows, other))
            changed = {u for u in {*one, *two} if one.get(u) != two.get(u)}
            assert None not in changed
            gone, come = changed & set(one), changed & set(two)
            assert len(gone) <= 1
            assert len(come) <= (neighbours == "replace-one")


def test_every_kind_of_unit_has_rows():
    table = table_of("unknown")
    rows = [list(unit(random.Random(seed), table, 0, "u")) for seed in range(60)]
    assert all(rows)
    assert all(len(row) == len(table.columns) for one in rows for row in one)
    assert len(KINDS) == len(set(KINDS))


def test_names_and_values_are_written_so_that_they_are_read_back():
    assert quoted('a"b') == '"a""b"'
    assert literal(Column("x", "text"), "it's") == "'it''s'"
    assert literal(Column("x", "date"), 0) == "DATE '1970-01-01'"
    assert literal(Column("x", "timestamp"), 1) == "TIMESTAMP '1970-01-01T00:00:00.000001Z'"
    assert literal(Column("x", "boolean"), 1) == "TRUE"
    assert literal(Column("x", "integer"), None) == "NULL"


# --- the parts, by hand -----------------------------------------------------------------------------------------------


def reading(values: dict[Any, int], *, linf=3, l1=4, l2=10, coordinates=2, fixed=True) -> Reading:
    return Reading("rows", values, linf, l1, l2, coordinates, fixed)


@pytest.mark.parametrize(
    ("one", "other", "words"),
    [
        ({("a",): 5, ("b",): 1}, {("a",): 2, ("b",): 0}, []),
        ({("a",): 5, ("b",): 1}, {("a",): 1, ("b",): 1}, ["4 in linf, and 3", "16 in l2 squared, and 10"]),
        ({("a",): 5, ("b",): 2}, {("a",): 3, ("b",): -1}, ["5 in l1, and 4", "13 in l2 squared, and 10"]),
    ],
    ids=range(3),
)
def test_readings_are_compared_in_every_norm(one, other, words):
    found, largest = apart(Exactly((reading(one),)), Exactly((reading(other),)))
    assert [word for word in words if not any(word in one.words for one in found)] == []
    assert len(found) == len(words)
    assert (largest > 1) == bool(words)


def test_votes_move_by_one_in_no_more_keys_than_a_unit_has():
    def votes(counts: dict[Any, int]) -> Exactly:
        return Exactly((), counts, groups=1)

    assert apart(votes({("a",): 2}), votes({("a",): 1}))[0] == []
    assert apart(votes({("a",): 2}), votes({}))[0]
    assert apart(votes({("a",): 1, ("b",): 1}), votes({}))[0]


def test_others_are_added_up_before_they_are_compared():
    """One unit in two keys: shown apart they are within linf, added up they are not."""
    many = reading({("a",): 3, ("b",): 3}, coordinates=9, l1=9, l2=99, fixed=False)
    none = reading({}, coordinates=9, l1=9, l2=99, fixed=False)
    assert apart(Exactly((many,), {}), Exactly((none,), {}))[0] == []
    assert apart(Exactly((many,), {}, other=True), Exactly((none,), {}, other=True))[0]


def test_engines_that_differ_are_told_by_the_key():
    one, other = Exactly((reading({("a",): 3}),)), Exactly((reading({("a",): 4}),))
    assert disagreement(one, one, ("A", "B")) == []
    assert "key ('a',) is 3 by A and 4 by B" in disagreement(one, other, ("A", "B"))[0].words


def test_a_question_and_rows_are_made_small():
    asked = Question("t", ("COUNT(*)", "SUM(x)"), ("k",), ("x > 1",), tail=" LIMIT 2")
    rows = tuple(("t" if name < "e" else "s", (name, float("nan"))) for name in "abcdefgh")

    def fails(question: Question, one: Any, other: Any) -> bool:
        return "COUNT" in question.text and ("c" in {row[0] for _, row in one}) and len(one) > len(other)

    small, one, other = smallest(asked, (*rows, ("s", ("new", 1.0)), ("t", ("new", 2.0))), rows, fails)
    assert small == Question("t", ("COUNT(*)",))
    assert [row[0] for _, row in one] == ["c", "new"]
    assert [row[0] for _, row in other] == ["c"]


class Curator:
    """Shows what it is told to."""

    def __init__(self, **says: Any) -> None:
        self.says = {"cost": 1, "note": "fine", "value": 5, "receipt": {"time": "now", "cost": "1"}} | says

    def quote(self, question: Any, **price: Any) -> Any:
        if self.says.get("refuses"):
            raise dp.Refusal(self.says["refuses"])
        return SimpleNamespace(as_json=lambda: {"cost": self.says["cost"]})

    def ask(self, question: Any, **price: Any) -> Any:
        self.quote(question)
        cell = SimpleNamespace(value=self.says["value"])
        key = SimpleNamespace(value=self.says.get("key", "a"))
        return SimpleNamespace(
            columns=("k", "n"), shown=("text", "whole"), notes=(self.says["note"],), confidence=1, spent=1,
            cost=self.says["cost"], cells=((key, cell),), receipt=self.says["receipt"],
        )

    def budget(self) -> Any:
        return SimpleNamespace(spent=self.says.get("spent", 1), spent_delta=0, remaining=0)


@pytest.mark.parametrize(
    ("says", "where"),
    [
        ({"value": 6}, None), ({"receipt": {"time": "later", "cost": "1"}}, None), ({"cost": 2}, "quote"),
        ({"note": "of 7 rows"}, "answer.notes"), ({"value": 5.0}, "answer.types"), ({"key": "b"}, "answer.keys"),
        ({"receipt": {"time": "now", "cost": "2"}}, "answer.receipt.cost"), ({"spent": 2}, "budget.spent"),
        ({"refuses": "the group is too small"}, "quote"),
    ],
    ids=range(9),
)
def test_what_two_curators_show_is_compared_but_for_values_and_the_clock(says, where):
    found = replay_curators(Curator(), Curator(**says), "SELECT COUNT(*) FROM t", spend="5%")
    assert bool(found) == (where is not None)
    assert where is None or found[0].where.startswith(where)
    assert shown(Curator(refuses="no"), "x")["quote"]["words"] == "no"


def test_a_witness_is_told_in_words():
    bench = Bench(declared("listed"), rehearsing(declared("listed")))
    assert bench(Question("nowhere", ("COUNT(*)",)), (), ()).refused
    first = (("t", (1,)), ("t", (float("nan"),)))
    witness = Witness(Question("t", ("COUNT(*)",)), {"t": ("k",), "s": ("x",)}, first, (), "x", (), 0, 3)
    assert witness.as_json()["first"] == {"t": [[1], ["nan"]], "s": []}
