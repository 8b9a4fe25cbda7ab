"""Attacks through values and expressions: 1 to 15, 23, 27, 28, 34, 36 to 38 of docs/guarantees/attacks.md.

Each is a test of the product: `dpcurator.open` with a frame, then `ask`. Where a bound is at stake, two curators over
neighbouring frames are given the same noise (house.steady), so their answers differ by exactly what one unit did.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from house import COUNT, ROWS, opened, steady
from questions import seen

import dpcurator as dp
from dpcurator.engines.reference import Reference
from dpcurator.release.finish import finish

LOTS = "1000000000"  # a budget so large that noise is below one half


def moved(
    tmp_path: Path, question: str, extra: list[tuple[Any, ...]], epsilon: object = 1, **changes: Any
) -> list[float]:
    """How far adding these rows, all of one unit, moves each number of the answer."""
    changes.setdefault("epsilon", LOTS)
    one = steady(opened(tmp_path / "without", ROWS, **changes)).ask(question, epsilon=epsilon)
    other = steady(opened(tmp_path / "with", ROWS + extra, **changes)).ask(question, epsilon=epsilon)
    assert [row[0] for row in one.rows] == [row[0] for row in other.rows] or one.shown[0] in ("whole", "number")
    pairs = zip(one.cells, other.cells, strict=True)
    return [
        abs(a.value - b.value) for row, same in pairs for a, b in zip(row, same, strict=True) if a.error is not None
    ]


def refusal(tmp_path: Path, question: str, **changes: Any) -> str:
    """The words of a refusal; nothing is charged for it."""
    curator = opened(tmp_path / "refused", **changes)
    with pytest.raises(dp.Refusal) as caught:
        curator.ask(question, epsilon=1)
    assert curator.budget().spent == 0
    assert curator.ledger.life() == "new"
    return str(caught.value)


ESCAPES = ["age * 1000000", "CASE WHEN who <> 'p1' THEN age ELSE 0 END", "age + gain", "-age", "ABS(age)",
           "age / (gain + 2)", "CLIP(age / 0.001, -7, 9)", "EXP(gain)", "COALESCE(gain, age)"]


def test_row_01_no_expression_escapes_its_clamp(tmp_path):
    """Rows beyond the declared bounds, and at them: none moves a sum further than its price says."""
    question = f"SELECT {', '.join(f'SUM({part})' for part in ESCAPES)} FROM visits"
    curator = opened(tmp_path / "q", epsilon=LOTS)
    most = [float(one.reading.linf * one.reading.unit) for one in curator.quote(question, epsilon=1).priced]
    assert len(most) == len(ESCAPES)
    reached = [0.0] * len(ESCAPES)
    for place, (age, gain) in enumerate([(100, 2.5), (2**62, 1e300), (10**7, -1e300), (-(10**7), -1.5), (0, math.nan)]):
        (tmp_path / str(place)).mkdir()
        rows = [("odd", "Leeds", age, gain, True, "2024-02-29", 0.0)] * 2
        found = moved(tmp_path / str(place), question, rows)
        reached = [max(pair) for pair in zip(reached, found, strict=True)]
    for part, far, limit in zip(ESCAPES, reached, most, strict=True):
        assert far <= limit * (1 + 1e-9), part
    assert reached[0] == pytest.approx(200 * 10**6)  # the bound itself is reached
    assert reached[6] == pytest.approx(18)


def test_row_01_the_clamp_is_at_the_measurement(tmp_path):
    huge = [("odd", "Leeds", 2**62, 1e300, True, "2024-02-29", 0.0)]
    assert moved(tmp_path, "SELECT SUM(age), SUM(gain) FROM visits", huge) == pytest.approx([100, 2.5])


def test_row_01_where_does_not_widen_bounds(tmp_path):
    huge = [("odd", "Leeds", 10**9, 0.0, True, "2024-02-29", 0.0)]
    assert moved(tmp_path, "SELECT SUM(age) FROM visits WHERE age > 100000", huge) == [100]


@pytest.mark.parametrize("aggregate", ["SUM", "AVG"])
def test_row_02_no_bounds_no_answer(tmp_path, aggregate):
    assert "bounds" in refusal(tmp_path, f"SELECT {aggregate}(gain) FROM visits", columns={"gain": "float"})


def test_row_02_every_private_number_is_noised(tmp_path):
    """Also one that no unit can move: bounds so near 0 that they are 0 on every grid."""
    curator = opened(tmp_path / "c", columns={"gain": {"type": "float", "bounds": [0, 5e-324]}}, epsilon=LOTS)
    quote = curator.quote("SELECT SUM(gain), AVG(gain) FROM visits", epsilon=1)
    assert len(quote.priced) == 3
    assert all(one.mechanism.scale > 0 and one.epsilon > 0 for one in quote.priced)
    curator.answer(quote)


def test_row_03_a_name_given_again_brings_no_facts_along(tmp_path):
    """An alias does not lend a column's keys or bounds to another."""
    curator = opened(tmp_path / "c", epsilon=LOTS)
    quote = curator.quote("SELECT dose AS city, COUNT(*) AS age FROM visits GROUP BY dose", epsilon=1)
    assert [key.name for key in quote.plan.source.source.columns] == ["dose"]
    summed = curator.quote("SELECT city AS dose, SUM(age) AS gain FROM visits GROUP BY city", epsilon=1)
    assert [call.column.name for call in summed.plan.calls if call.column] == ["age"]
    with pytest.raises(dp.Refusal):
        curator.quote("SELECT who AS city, COUNT(*) FROM visits GROUP BY who", epsilon=1)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, None, -0.0, 1.7976931348623157e308, 5e-324])
def test_row_04_nan_through_clamp(tmp_path, value):
    odd = [("odd", "Leeds", 50, value, True, "2024-02-29", 0.0)]
    count, total, average = moved(tmp_path, "SELECT COUNT(gain), SUM(gain), AVG(gain) FROM visits", odd)
    assert count == (0 if value is None or math.isnan(value) else 1)
    assert total <= 2.5 + 1e-9
    assert average <= 4.0


def test_row_04_nan_as_a_key_is_missing(tmp_path):
    odd = [("odd", "Leeds", 50, 0.0, True, "2024-02-29", math.nan)]
    assert moved(tmp_path, "SELECT dose, COUNT(*) FROM visits GROUP BY dose", odd) == [1, 0, 0]


@pytest.mark.parametrize("question", ["SELECT SUM(gain) FROM visits", "SELECT COUNT(*) FROM visits"])
def test_rows_05_to_07_no_output_tells_by_being_possible(tmp_path, question):
    """The finished number is a function of one noisy integer and the quote, which neighbours share; every integer has
    positive mass on both. So no float is possible under one and impossible under the other."""
    one = opened(tmp_path / "a", ROWS, epsilon=LOTS)
    other = opened(tmp_path / "b", ROWS[2:], epsilon=LOTS)
    quote = one.quote(question, epsilon="0.7")
    assert quote == other.quote(question, epsilon="0.7")
    (priced,) = quote.priced
    for curator in (one, other):
        for _ in range(8):
            (row,) = curator.answer(quote, fresh=True).cells
            steps = row[0].value / float(priced.reading.unit)  # a power of two, or a whole number was shown
            nearby = {finish(quote, seen(quote, ((round(steps) + d,),)))[0][0].value for d in (-1, 0, 1)}
            assert row[0].value in nearby
    assert min(priced.mechanism.pmf(k).lo for k in (0, 1, 10**6, 10**7)) > 0


def test_row_08_order_and_rounding_of_sums(tmp_path):
    """[2**53] + [1] * 4096 summed in floats depends on order by 4096; one record at 2**50 moves a float sum by 256."""
    columns = {"gain": {"type": "float", "bounds": [0, 2.0**53]}}
    rows = [("a", "Leeds", 1, 2.0**53, True, None, 0.0)]
    rows += [(f"b{n}", "Leeds", 1, 1.0, True, None, 0.0) for n in range(4096)]
    question = "SELECT SUM(gain) FROM visits"
    answers = [
        steady(opened(tmp_path / name, order, columns=columns, epsilon=LOTS)).ask(question, epsilon=1).rows
        for name, order in (("up", rows), ("down", rows[::-1]))
    ]
    assert answers[0] == answers[1]
    columns = {"gain": {"type": "float", "bounds": [2.0**50, 2.0**50 + 1]}}
    odd = [("odd", "Leeds", 1, 2.0**50 + 1, True, None, 0.0)]
    assert moved(tmp_path, "SELECT AVG(gain) FROM visits", odd, columns=columns)[0] <= 1


def test_row_09_no_integer_wraps(tmp_path):
    """300 people at 2**55: the sum passes 2**63."""
    columns = {"age": {"type": "integer", "bounds": [0, 2**55]}}
    rows = [(f"p{n}", "Leeds", 2**55, 0.0, True, None, 0.0) for n in range(300)]
    curator = opened(tmp_path / "c", rows, columns=columns, epsilon=10**39)
    ((found,),) = curator.ask("SELECT SUM(age) FROM visits", epsilon=10**39).rows
    assert found == 300 * 2**55  # noise other than 0 has a probability below e**-(10**15)


def test_row_09_bounds_whose_sums_could_wrap_are_refused(tmp_path):
    wide = {"age": {"type": "integer", "bounds": [-(2**63), 2**63 - 1]}}
    assert "bounds" in refusal(tmp_path, "SELECT SUM(age) FROM visits", columns=wide)


NASTY = [
    ("", "", -(2**63), -math.inf, None, "0001-01-01", -0.0),
    ("\U0010ffff", "\U0010ffff" * 50, 2**63 - 1, math.inf, False, "9999-12-31", 5e-324),
    (None, None, None, math.nan, None, None, None),
    ("' OR 1=1 --", "'; DROP TABLE t0; --", 0, 1.7976931348623157e308, True, "not a date", math.inf),
    ("\u202e\n\t", "%_\\", 2**53 + 1, -5e-324, True, "2024-02-30", math.nan),
    ("e\u0301", "é", 10**30, 1e16, True, "", 1e308),
    ("p1", "Leeds", "seven", "x", "maybe", 5, "y"),
]


@pytest.mark.filterwarnings("ignore:not everything in")  # rows that cannot be read are the test
def test_row_10_nothing_raises_on_any_data(tmp_path):
    curator = opened(tmp_path / "c", NASTY * 3, epsilon=LOTS)
    for question in [
        "SELECT city, COUNT(*), SUM(age), AVG(gain) FROM visits GROUP BY city",
        "SELECT dose, seen, day, COUNT(DISTINCT who), AVG(age) FROM visits GROUP BY dose, seen, day",
        "SELECT COUNT(*) FROM visits WHERE age > gain AND NOT (dose <= 1e308) OR city >= 'a' AND age <> 7",
        "SELECT SUM(seen), AVG(seen) FROM visits WHERE who IN ('', 'p1') AND day < '9999-12-31' AND seen = TRUE",
    ]:
        answer = curator.ask(question, epsilon=1)
        assert all(math.isfinite(cell.value) for row in answer.cells for cell in row if isinstance(cell.value, float))
    assert curator.ledger.life() == "open"


RAISING = ["1 / (age - 7) > 0", "CAST(who AS INTEGER) > 0", "SQRT(age) > 1", "age / 0 = 1", "LN(age) < 1",
           "age % 0 = 1", "age * age * age > 0", "-age > 0", "ABS(age) > 0", "gain * 1e308 > 0", "EXP(gain) > 0",
           "POWER(gain, age) > 0", "CAST(gain AS INTEGER) > 0", "ROUND(gain, 15) > 0", "CAST(city AS DATE) < day",
           "day + INTERVAL '9000 years' > day", "EXTRACT(year FROM day) % age = 0",
           "DATE_TRUNC('week', day) <= day", "SUBSTRING(city, 2, 9) LIKE '%!%' ESCAPE '!'", "LENGTH(city || who) > 3",
           "REPLACE(city, 'e', '') = who", "age % -1 = 0", "FLOOR(gain) = CEIL(gain)",
           "CASE WHEN age = 0 THEN gain ELSE 1 / age END > 0"]


@pytest.mark.filterwarnings("ignore:not everything in")  # rows that cannot be read are the test
def test_row_10_what_could_raise_on_a_row_is_missing_on_both_engines(tmp_path, by_lot):
    """Rows at the extremes, under every expression that raises somewhere else: they answer, and alike."""
    curator = opened(tmp_path / "c", NASTY * 3, epsilon=LOTS)
    snapshot: Any = curator.engine()
    columns = [f"c{n}" for n in range(7)]
    stored = snapshot._cursor().execute(f"SELECT {', '.join(columns)} FROM snapshot.main.t0").fetchall()
    rows = dict(zip(columns, map(list, zip(*stored, strict=True)), strict=True))
    for where in by_lot(RAISING):
        question = f"SELECT COUNT(*), SUM({where}), SUM(CLIP(age + gain, -9, 9)) FROM visits WHERE {where} OR age > 0"
        quote = curator.quote(question, epsilon=1)
        told = curator.answer(quote).rows
        assert all(math.isfinite(value) for value in told[0])
        on = [engine.evaluate(quote.lowered.core).open_for_release() for engine in (snapshot, Reference({"t0": rows}))]
        assert on[0] == on[1], where
    assert curator.ledger.life() == "open"


def test_row_11_keys_come_from_the_catalog_alone(tmp_path):
    rare = [("odd", "Zrare", 1, 0.0, True, "2024-02-29", 7.0)]
    curator = opened(tmp_path / "c", ROWS + rare, epsilon=LOTS)
    answer = curator.ask("SELECT city, COUNT(*) FROM visits GROUP BY city", epsilon=1)
    assert [row[0] for row in answer.rows] == ["Hull", "Leeds", "York"]
    empty = opened(tmp_path / "d", [], epsilon=LOTS)
    answer = empty.ask("SELECT city, dose, COUNT(*) FROM visits GROUP BY city, dose", epsilon=1)
    assert len(answer.rows) == 9


@pytest.mark.parametrize("key", ["who", "age", "gain", "gain / 2", "age + 7", "LOWER(who)", "CONCAT(city, who)"])
def test_row_11_a_column_without_listed_keys_is_no_group(tmp_path, key):
    """A whole number between bounds has a list; without bounds it has none, however it is written."""
    question = f"SELECT {key}, COUNT(*) FROM visits GROUP BY {key}"
    told = refusal(tmp_path, question, columns={"age": "integer"})
    assert "keys" in told or "would answer for each protected unit by itself" in told


def test_row_11_bounds_are_a_list_of_keys(tmp_path):
    """All of 0 to 100 are answered, whichever occur; a row beyond them is at the end, as in a sum."""
    rare = [("odd", "Leeds", 10**9, 0.0, True, "2024-02-29", 0.0), ("odder", "Leeds", -3, 0.0, True, None, 0.0)]
    curator = opened(tmp_path / "c", rare, epsilon=LOTS)
    told = curator.ask("SELECT age, COUNT(*) FROM visits GROUP BY age", epsilon=10**6).rows
    assert told == [(age, int(age in (0, 100))) for age in range(101)]


def test_row_11_an_expression_names_no_key_that_no_list_has(tmp_path):
    rare = [("odd", "ZRARE", 1, 0.0, True, "2024-02-29", 7.0)]
    curator = opened(tmp_path / "c", ROWS + rare, epsilon=LOTS)
    answer = curator.ask("SELECT UPPER(city) AS c, COUNT(*) FROM visits GROUP BY c", epsilon=1)
    assert [row[0] for row in answer.rows] == ["HULL", "LEEDS", "YORK"]


def test_row_11_unknown_keys_are_refused_while_they_cannot_be_paid_for(tmp_path):
    with pytest.raises(dp.Misconfigured, match="costs delta, and the ledger has none"):
        opened(tmp_path / "c", columns={"city": {"type": "text", "keys": "unknown"}})


def test_row_12_nothing_is_inferred_from_data(tmp_path):
    """Two frames with other ranges, sizes and categories give one catalog and one quote."""
    other = [(f"q{n}", "Bath", 10**6 + n, 1e9, False, None, 9.0) for n in range(7)]
    one, two = opened(tmp_path / "a", ROWS), opened(tmp_path / "b", other)
    for question in ("SELECT city, COUNT(*), AVG(age), SUM(gain) FROM visits GROUP BY city",
                     "SELECT city, MEDIAN(age), QUANTILE(gain, 0.9) FROM visits GROUP BY city"):
        assert one.quote(question, epsilon=1) == two.quote(question, epsilon=1)
    for aggregate in ("MIN(age)", "MAX(age)", "HISTOGRAM(age)", "STD(age)"):
        with pytest.raises(dp.Refusal):
            one.quote(f"SELECT {aggregate} FROM visits", epsilon=1)


def test_row_13_one_person_with_10_000_rows(tmp_path):
    many = [("odd", "York", 100, 2.5, True, "2024-02-29", 0.0)] * 10_000
    assert moved(tmp_path, "SELECT COUNT(*), SUM(age), COUNT(DISTINCT who) FROM visits", many) == [2, 200, 1]


def test_row_13_one_person_in_every_key(tmp_path):
    """max_groups is 1 and max_rows 2: the three moves together are at most 2."""
    spread = [("odd", city, 1, 0.0, True, "2024-02-29", 0.0) for city in ("Leeds", "York", "Hull")] * 50
    steps = moved(tmp_path, "SELECT city, COUNT(*) * 65536 AS n FROM visits GROUP BY city", spread)
    assert len(steps) == 3
    assert sum(steps) <= 2 * 65536


def test_row_13_without_a_unit_there_is_no_promise(tmp_path):
    with pytest.raises(dp.Misconfigured, match="whose"):
        opened(tmp_path / "c", unit=None)


@pytest.mark.parametrize(
    "question",
    [
        "SELECT COUNT(*) FROM visits JOIN visits AS b ON visits.age = b.age",
        "SELECT COUNT(*) FROM visits, visits AS b",
        "SELECT COUNT(*) FROM visits NATURAL JOIN visits",
        "SELECT COUNT(*) FROM visits WHERE age IN (SELECT age FROM visits)",
        "WITH v AS (SELECT * FROM visits) SELECT COUNT(*) FROM v, v AS w",
        "SELECT COUNT(*) FROM visits UNION ALL SELECT COUNT(*) FROM visits",
        "SELECT COUNT(*) FROM visits CROSS JOIN UNNEST([1, 2, 3])",
        "SELECT COUNT(*) FROM visits TABLESAMPLE 10 PERCENT",
    ],
)
def test_row_14_nothing_multiplies_a_row(tmp_path, question):
    refusal(tmp_path, question)


def test_row_15_nothing_rests_on_local_sensitivity(tmp_path):
    """A median is priced by how far one unit can move any candidate's score in any table, not in this one; without
    bounds from public knowledge there are no candidates, and it is refused."""
    frames = [[(f"p{n}", "Leeds", age, 0.0, True, None, 0.0) for n, age in enumerate(ages)]
              for ages in ([50] * 40, [0, 100] * 20)]
    quotes = [opened(tmp_path / str(n), rows).quote("SELECT MEDIAN(age) FROM visits", epsilon=1)
              for n, rows in enumerate(frames)]
    assert quotes[0].priced[0].reading == quotes[1].priced[0].reading
    assert "bounds" in refusal(tmp_path, "SELECT MEDIAN(age * gain / gain) FROM visits")


def test_row_23_an_average_pays_for_its_count(tmp_path):
    curator = opened(tmp_path / "c", epsilon=LOTS)
    quote = curator.quote("SELECT AVG(age) FROM visits", epsilon=1)
    assert [one.ask.what for one in quote.priced] == ["centred", "present"]
    assert sum(one.epsilon for one in quote.priced) == quote.epsilon == 1
    answer = curator.answer(quote)
    assert set(answer.receipt or {}) == set(curator.ask("SELECT AVG(age) FROM visits", epsilon=2).receipt or {})


def test_row_23_the_scale_of_an_averages_noise_is_public(tmp_path):
    """For 1 row and for 40 the receipts name the same scales."""
    few, many = opened(tmp_path / "a", ROWS[:1]), opened(tmp_path / "b", ROWS)
    receipts = [curator.ask("SELECT AVG(age) FROM visits", epsilon=1).receipt or {} for curator in (few, many)]
    assert receipts[0]["readings"] == receipts[1]["readings"]


def test_row_27_nothing_is_clamped_by_a_private_size(tmp_path):
    """At a small price a sum over 1 row passes upper * 1, and a count over none is negative, about half the time: that
    neither is seen in 32 answers has probability under 2**-31."""
    curator = opened(tmp_path / "c", ROWS[:1], epsilon=LOTS)
    answers = [curator.ask("SELECT SUM(age) AS s, COUNT(*) AS n FROM visits", epsilon="0.01", fresh=True).rows[0]
               for _ in range(32)]
    assert max(total for total, _ in answers) > 100
    assert min(count for _, count in answers) < 0


def test_row_27_an_average_is_clamped_by_declared_bounds(tmp_path):
    curator = opened(tmp_path / "c", ROWS[:1], epsilon=LOTS)
    for _ in range(20):
        answer = curator.ask("SELECT AVG(age) AS a FROM visits", epsilon="0.01", fresh=True)
        assert 0 <= answer.rows[0][0] <= 100
        assert answer.interval("a")[0][0] >= 0


def test_row_28_one_relation_and_no_other(tmp_path):
    with pytest.raises(dp.Misconfigured, match="replace-one"):
        opened(tmp_path / "c", neighbours="replace-one")
    assert (opened(tmp_path / "d").ask(COUNT, epsilon=1).receipt or {})["neighbours"] == "add-remove"


def test_row_34_order_is_the_keys_own(tmp_path):
    """Whatever row comes first; ORDER BY sees noisy values only."""
    for name, rows in (("a", ROWS), ("b", ROWS[::-1]), ("c", ROWS[17:] + ROWS[:17]), ("d", [])):
        answer = opened(tmp_path / name, rows).ask(
            "SELECT dose, city, COUNT(*) FROM visits GROUP BY dose, city", epsilon=1
        )
        keys = [row[:2] for row in answer.rows]
        assert keys == [(dose, city) for dose in (None, 0.0, 1.5) for city in ("Hull", "Leeds", "York")]
    answer = opened(tmp_path / "e").ask(
        "SELECT city, COUNT(*) AS n FROM visits GROUP BY city ORDER BY n DESC", epsilon=1
    )
    shown = [row[1] for row in answer.rows]
    assert shown == sorted(shown, reverse=True)


def test_row_36_no_group_is_too_small_to_ask_about(tmp_path):
    """One person, nobody, everybody: answered alike, at one price, with one error bar."""
    curator = opened(tmp_path / "c")
    told = [
        curator.ask(f"SELECT COUNT(*) FROM visits WHERE {where}", epsilon="0.5")
        for where in ("who = 'p1'", "who = 'nobody'", "TRUE", "FALSE")
    ]
    assert len({(answer.cost, answer.notes, answer.shown) for answer in told}) == 1
    assert (
        len({answer.interval(answer.columns[0])[0][1] - answer.interval(answer.columns[0])[0][0] for answer in told})
        == 1
    )


class Constant:
    """First every bit the same: the words a table look-up or a logarithm would turn into infinity. (A sampler may give
    up where a draw passes 512 scales, a chance of e**-512 whatever the data; six words do not get there.)"""

    releasable = True

    def __init__(self, one: bool) -> None:
        self.one, self.drawn = one, 0

    def _next(self) -> bool:
        self.drawn += 1
        return self.one if self.drawn <= 6 else self.drawn % 3 == 0  # in the end rejection must end

    def words(self, n: int) -> Any:
        import numpy as np

        return np.array([2**64 - 1 if self._next() else 0 for _ in range(n)], dtype=np.uint64)

    def bits(self, k: int) -> int:
        return 2**k - 1 if self._next() else 0


@pytest.mark.parametrize("one", [False, True])
@pytest.mark.parametrize("epsilon", ["0.001", "1", "100"])
def test_row_37_extreme_bits_give_finite_numbers(tmp_path, one, epsilon):
    from dataclasses import replace

    curator = replace(opened(tmp_path / "c", epsilon=LOTS), entropy=Constant(one))
    answer = curator.ask("SELECT COUNT(*), SUM(gain) FROM visits", epsilon=epsilon)
    assert all(math.isfinite(value) for value in answer.rows[0])


def test_row_38_noise_is_not_cut(tmp_path):
    """Counts below 0 are shown as they are; in 34 draws at epsilon .01 none below 0 has probability under 1e-10."""
    curator = opened(tmp_path / "c", [], epsilon=LOTS)
    shown = [curator.ask(COUNT, epsilon="0.01", fresh=True).rows[0][0] for _ in range(34)]
    assert min(shown) < 0 < max(shown)
