"""How many rows a unit has: the counts, what is suggested, and that it is paid as an ordinary question."""

from __future__ import annotations

import contextlib
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest

import dpcurator as dp
from dpcurator.curator.rows_per_unit import CAPS, MORE, RowsPerUnit

ROWS = {"a": 1, "b": 2, "c": 3, "d": 5, "e": 6, "f": 60, "g": 100, "h": 101, "i": 250, "j": 1}


@pytest.fixture(scope="module", autouse=True)
def _elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A catalog without a file keeps its ledger in the working directory."""
    with contextlib.chdir(tmp_path_factory.mktemp("caps")):
        yield


def curator(rows: Any = ROWS, unit: str = "who", protects: str = "patients", epsilon: int = 10**6, **table: Any) -> Any:
    declared = {"unit": unit, "max_total": 5, "columns": {unit: "text"}} | table
    catalog = {"curator": {"protects": protects}, "ledger": {"epsilon": epsilon},
               "tables": {"visits": declared, "cities": {"public": True, "columns": {"city": "text"}}}}
    return dp.open(catalog, visits={unit: [who for who, n in rows.items() for _ in range(n)]}, cities={"city": ["x"]})


@pytest.fixture(scope="module")
def held() -> Any:
    return curator()


def test_each_unit_is_counted_once_by_how_many_rows_it_has(held):
    found = held.rows_per_unit("visits", epsilon=1000)
    wanted = Counter(next((cap for cap in CAPS if n <= cap), MORE) for n in ROWS.values())
    assert found.units == tuple(wanted[cap] for cap in (*CAPS, MORE))
    assert found.over(100) == Fraction(2, 10)
    assert found.over(1) == Fraction(8, 10)
    assert found.suggested == ()  # two of ten have more than a hundred
    assert "no cap is suggested" in str(found)
    assert found.as_json()["counts"][-1] == {
        "rows": None, "units": 2, "error": found.answer.error("patients")[-1], "over": None}


def test_it_is_charged_once_and_free_again_and_has_a_receipt(tmp_path):
    with contextlib.chdir(tmp_path):
        held = curator()
    before = held.budget().spent
    first = held.rows_per_unit("visits", epsilon="0.25")
    assert held.budget().spent - before == Fraction(1, 4)
    again = held.rows_per_unit("visits", epsilon="0.25")
    assert again.answer.repeated
    assert held.budget().spent - before == Fraction(1, 4)
    assert held.verify(first.answer.receipt).holds
    assert again.units == first.units


def test_the_price_is_of_one_count_whatever_the_caps(held):
    """One row a unit: each count has the noise of sensitivity 1."""
    [count] = held.quote("SELECT COUNT(DISTINCT who) FROM visits", epsilon="0.25").priced[:1]
    frame_answer = held.rows_per_unit("visits", epsilon="0.25").answer
    assert max(bar or 0 for bar in frame_answer.error("patients")) <= 1.1 * float(count.error(Fraction(1, 20)))


def made(units: list[int], bar: float = 0.0) -> RowsPerUnit:
    class Told:
        columns = ("rows", "patients")
        parts = None

        def __getitem__(self, name: str) -> list[int]:
            return units

        def error(self, name: str) -> list[float]:
            return [bar] * len(units)

    return RowsPerUnit("visits", "patients", Told())  # type: ignore[arg-type]


def test_suggested_caps_are_the_least_that_cut_few_by_hand():
    assert made([900, 50, 40, 5, 5, 0, 0, 0]).suggested == (1, 5)
    assert made([0, 0, 100, 0, 0, 0, 0, 0]).suggested == (5,)
    assert made([500, 400, 50, 45, 5, 0, 0, 0]).suggested == (2, 10)
    assert made([900, 50, 40, 5, 5, 0, 0, 0], bar=20.0).suggested == (5,)  # over 5 are five counts, with bars of 2 %
    assert made([9, 5, 4, 0, 0, 0, 0, 0], bar=50.0).suggested == ()
    assert made([0, -3, 0, -1, 0, 0, 0, 0]).suggested == ()
    assert made([0, -3, 0, -1, 0, 0, 0, 0]).over(1) is None
    assert made([90, -50, 10, 0, 0, 0, 0, 0]).over(1) == Fraction(1, 10)


def test_a_share_that_the_noise_hides_is_below_what_is_said():
    for bar, over, said in ((40.4, 40, "below 4.1 %"), (40.0, 39, "below 4.0 %"), (104.0, 100, "below 11 %"),
                            (99.6, 99, "below 10 %"), (1000.0, 1, "?"), (10.0, 41, "4.1 %")):
        assert made([1000 - over, 0, 0, 0, 0, 0, 0, over], bar)._over(100) == said


def test_a_share_of_several_counts_has_the_bar_of_their_sum(held):
    """Seven counts are over 1: their noise together is more than one's, and less than seven bars."""
    assert made([999, 0, 0, 1, 0, 0, 0, 0], 10.0)._over(1) == "below 7.0 %"
    found = held.rows_per_unit("visits", epsilon="0.25")
    one, seven = found.blur(100), found.blur(1)
    assert one * 2 < seven < one * 7
    [count] = [one for one in found.answer.parts.quote.priced if not one.ask.overall]
    assert seven * sum(max(0, n) for n in found.units) == count.error(Fraction(1, 20), added=7)


def test_names_that_are_taken_are_no_trouble(tmp_path):
    for unit, protects in (("rows", "ROWS"), ("n", "n"), ("Patients", "patients"), ("who", 'a "b"')):
        folder = tmp_path / unit
        folder.mkdir()
        with contextlib.chdir(folder):
            found = curator({"a": 1, "b": 3}, unit, protects).rows_per_unit("visits", epsilon=1000)
        assert found.units == (1, 0, 1, 0, 0, 0, 0, 0)


def test_refused_and_nothing_charged(held):
    before = held.budget()
    for name, what in (("vists", "Did you mean visits?"), ("cities", "is public"), (3, "by its name")):
        with pytest.raises(dp.Refusal, match=what.replace("?", "[?]")):
            held.rows_per_unit(name, epsilon=1)
    with pytest.raises(dp.Refusal):
        held.rows_per_unit("visits")
    with pytest.raises(dp.Refusal):
        held.rows_per_unit("visits", epsilon=0)
    assert held.budget() == before
    catalog = {"curator": {"protects": "rows"}, "ledger": {"epsilon": 4},
               "tables": {"t": {"unit": "each row", "columns": {"x": {"type": "integer"}}}}}
    with pytest.raises(dp.Refusal, match="one row for each unit"):
        dp.rehearsing(catalog).rows_per_unit("t", epsilon=1)
