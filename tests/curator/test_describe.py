"""A description: the batch that it is, what it shows, what it costs, and how its price is shared."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import pytest
from house import CATALOG, frame, holds, opened, spent

import dpcurator as dp
from dpcurator.catalog.model import Column
from dpcurator.errors import Refusal
from dpcurator.release.description import NUMBERS, VALUES, questions_of

DATED = {"day": {"type": "date", "bounds": ["2024-01-01", "2024-12-31"]}, "note": "text"}
ROWS = [(f"p{n}", ("Leeds", "York", "Hull")[n % 3], n % 97, n / 100 - 1, n % 3 == 0, f"2024-0{1 + n % 9}-15", 0.0)
        for n in range(200)]


@pytest.mark.slow  # the same twice
def test_it_is_a_batch_that_anybody_can_write(tmp_path):
    curator = opened(tmp_path, ROWS)
    found = curator.describe("visits", epsilon=4)
    assert spent(curator) == 4
    texts, shares = found.questions.texts, found.questions.shares
    again = curator.batch(texts, epsilon=4, shares=shares)
    assert [answer.cells for answer in again] == [answer.cells for answer in found.answers]
    assert spent(curator) == 4
    holds(curator, found.answers[0])
    assert curator.describe("visits", epsilon=4).answers[0].repeated
    assert "--shares " + ",".join(map(str, shares)) in found.questions.sql


def test_each_noisy_query_has_an_equal_part_of_the_price(tmp_path):
    """So every error bar is in the same proportion to its query's own range."""
    curator = opened(tmp_path, ROWS)
    questions = questions_of(curator.tables["visits"])
    batch = curator.quote_batch(questions.texts, epsilon=4, shares=questions.shares)
    asked = [len(quote.priced) for quote in batch.asked]
    assert list(questions.shares) == asked
    assert {one.epsilon for quote in batch.asked for one in quote.priced} == {Fraction(4, sum(asked))}
    with_cut = curator.quote_batch(questions.texts, epsilon=4, shares=questions.shares, cut=True)
    assert with_cut.cost == 4


def test_every_declared_column_is_summarised_by_its_type(tmp_path):
    curator = opened(tmp_path, ROWS, epsilon=10**10, columns={"day": DATED["day"]})
    found = curator.describe("visits", epsilon=10**9)
    assert tuple(found["age"]) == tuple(found["gain"]) == NUMBERS
    ages = sorted(row[2] for row in ROWS)
    assert found["age"]["n"].value == 200
    assert found["age"]["median"].value in ages[99:101]
    assert abs(found["age"]["mean"].value - sum(ages) / 200) < 1e-6
    assert abs(found["age"]["missing"].value) < 1e-6
    assert found["day"]["median"].value == "2024-05-15"
    assert {key: cell.value for key, cell in found["city"].items()} == {"Hull": 66, "Leeds": 67, "York": 67}
    assert {key: cell.value for key, cell in found["seen"].items()} == {False: 133, True: 67}
    told = found.as_json()
    assert json.loads(json.dumps(told)) == told
    assert [one["column"] for one in told["columns"]] == ["city", "age", "gain", "seen", "day", "dose"]
    assert (told["rows"]["value"], told["units"]["value"]) == (200, 200)
    text = str(found)
    for words in ("visits: 200", "200", "people", "age", "q1", "2024-05-15", "Leeds 67", "receipts"):
        assert words in text
    with pytest.raises(Refusal, match="no summary"):
        found["who"]


def test_columns_without_bounds_and_keys_are_counted_by_their_values():
    table = dp.rehearsing(CATALOG).tables["visits"]
    columns = (Column("who", "text"), Column("note", "text"), Column("weight", "float"), Column("select", "integer"),
               Column('a "b"', "integer", Fraction(0), Fraction(9), missing=0))
    made = questions_of(replace(table, columns=columns))
    assert [(part.column, part.what) for part in made.parts] == [
        ("note", VALUES), ("weight", VALUES[:-1]), ("select", VALUES), ('a "b"', NUMBERS)]
    assert made.shares == (2 + 2 + 1 + 2 + 5,)
    assert '"select" ' in made.texts[0].replace(",", " ").replace(")", " ")
    assert 'AVG("a ""b""")' in made.texts[0]


@pytest.mark.slow
def test_each_row_may_be_a_unit_and_missing_values_may_be_filled(tmp_path):
    told = {"curator": {"protects": "visits"}, "ledger": {"epsilon": 100}, "tables": {"visits": {
        "unit": "each row", "columns": {"city": {"type": "text", "keys": ["Leeds", "York", "Hull"]},
                                        "age": {"type": "integer", "bounds": [0, 100], "missing": 0}}}}}
    data = {name: values for name, values in frame(ROWS).items() if name in ("city", "age")}
    curator = dp.open(told, directory=tmp_path, visits=data, refresh=True)
    found = curator.describe("visits", spend="50%", cut=False)
    batch = curator.quote_batch(found.questions.texts, spend="50%", shares=found.questions.shares, cut=False)
    assert list(found.questions.shares) == [len(quote.priced) for quote in batch.asked]
    assert "units" not in found.as_json()


@pytest.mark.slow
def test_it_is_rehearsed_for_nothing_and_refused_of_what_is_public():
    curator = dp.rehearsing(CATALOG)
    made_up = curator.describe("visits", rehearse=True)
    assert made_up.answers[0].made_up
    assert "MADE UP" in str(made_up)
    told = {**CATALOG, "tables": {**CATALOG["tables"], "cities": {
        "file": "cities.csv", "public": True, "columns": {"name": "text"}}}}
    with pytest.raises(Refusal, match="public"):
        dp.rehearsing(told).describe("cities", rehearse=True)
    with pytest.raises(Refusal, match="no table"):
        curator.describe("visit", rehearse=True)


@pytest.mark.parametrize(("shares", "words"), [
    ([1], "2 questions and 1 share"), ([1, 0], "above 0"), ("1,2", "list of numbers"), ([1, -1], "above 0"),
])
def test_wrong_shares_are_refused(tmp_path, shares, words):
    curator = opened(tmp_path)
    with pytest.raises(Refusal, match=words):
        curator.batch(["SELECT COUNT(*) FROM visits", "SELECT AVG(age) FROM visits"], epsilon=1, shares=shares)
    assert spent(curator) == 0
    with pytest.raises(Refusal, match="own price"):
        curator.quote_batch(["SELECT COUNT(*) AS n FROM visits"], within={"n": 50}, shares=[1])


def test_shares_divide_the_price_exactly(tmp_path):
    curator = opened(tmp_path)
    asked = ["SELECT COUNT(*) FROM visits", "SELECT AVG(age) FROM visits", "SELECT COUNT(*) FROM visits"]
    batch = curator.quote_batch(asked, epsilon=1, shares=["2", "1/2", 7])
    assert [quote.cost for quote in batch.paid] == [Fraction(4, 5), Fraction(1, 5)]  # the same twice is the first
    answers = curator.batch(asked, epsilon=1, shares=["2", "1/2", 7])
    assert spent(curator) == 1
    holds(curator, answers[1])
