"""Quantiles asked of a curator: prices, answers, stored readings, receipts, refusals, and what plain SQL says.

What the bar in rank promises is held by runs against exact ranks (false alarm at most 1e-9, stated where it is), and
the whole mechanism against its promise by enumeration in tests/mechanisms/test_weighted_quantile.py.
"""

from __future__ import annotations

import copy
import json
import math
import re
from fractions import Fraction
from typing import Any

import duckdb
import pytest
from house import CATALOG, ROWS, Counted, Fixed, frame, holds, opened, spent

import dpcurator as dp
from dpcurator.errors import Refusal
from dpcurator.standalone import verify as standalone

MEDIAN = "SELECT city, MEDIAN(age) AS m FROM visits GROUP BY city"
FORMS = (
    "QUANTILE(age, 0.5)", "QUANTILE_DISC(age, 0.5)", "QUANTILE_CONT(age, 0.5)", "MEDIAN(age)",
    "PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY age)", "PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY age DESC)",
)
DATED = {"day": {"type": "date", "bounds": ["2024-01-01", "2024-12-31"]}}


def test_every_spelling_is_one_question_and_a_repeat_is_free(tmp_path):
    curator = opened(tmp_path)
    answers = [curator.ask(f"SELECT {form} AS m FROM visits", epsilon="0.5") for form in FORMS]
    assert spent(curator) == Fraction(1, 2)
    assert {answer["m"][0] for answer in answers} == {answers[0]["m"][0]}
    entropy = curator.entropy = Counted()
    again = curator.ask("SELECT MEDIAN(age) + 1 AS m FROM visits", epsilon="0.5")
    assert (again["m"][0], again.cost, entropy.asked) == (answers[0]["m"][0] + 1, 0, 0)
    holds(curator, answers[0])
    holds(curator, again, [answers[0].receipt])


def test_another_quantile_of_the_column_is_another_reading(tmp_path):
    curator = opened(tmp_path)
    curator.ask("SELECT MEDIAN(age) AS m FROM visits", epsilon="0.5")
    both = curator.ask("SELECT MEDIAN(age) AS m, QUANTILE(age, 0.25) AS q FROM visits", epsilon=1)
    assert (both.cost, spent(curator)) == (Fraction(1, 2), 1)
    holds(curator, both)
    assert curator.ask("SELECT QUANTILE(age, 0.25) AS q FROM visits", epsilon="0.5").cost == 0


LEDGERS: list[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    ({"epsilon": 10}, {"epsilon": 1}, {}),
    ({"epsilon": 10, "delta": "1e-5"}, {"epsilon": "0.5", "delta": "1e-6"}, {}),
    ({"rho": 10, "delta": "1e-6"}, {"rho": "0.1"}, {}),
    ({"epsilon": 10}, {"epsilon": 1}, {"neighbours": "replace-one", "units": 20}),
    ({"rho": 10, "delta": "1e-6"}, {"rho": "0.1"}, {"neighbours": "replace-one", "units": 20}),
]
ASKED = (
    MEDIAN, "SELECT MEDIAN(age) AS m FROM visits", "SELECT city, QUANTILE(gain, 0.9) AS g, COUNT(*) AS n, AVG(age) AS a"
    " FROM visits GROUP BY city HAVING QUANTILE(gain, 0.9) > -5 ORDER BY 2 DESC",
    "SELECT MEDIAN(day) AS d, QUANTILE(day, 0.1) AS e FROM visits WHERE age > 3",
)


@pytest.mark.parametrize("row", [False, True])
@pytest.mark.parametrize(("ledger", "price", "more"), LEDGERS)
def test_receipts_hold_by_both_verifiers_whatever_the_currency(tmp_path, ledger, price, more, row):
    told = copy.deepcopy(CATALOG)
    told["curator"] |= more
    told["ledger"] = ledger
    table = told["tables"]["visits"]
    table["columns"] |= DATED
    if row:
        table["unit"] = "each row"
        del table["max_rows"], table["max_groups"]
    curator = dp.open(told, directory=tmp_path, visits=frame(ROWS), refresh=True)
    for question in ASKED:
        answer = curator.ask(question, **price)
        holds(curator, answer)
        assert json.loads(json.dumps(answer.as_json())) == answer.as_json()
        for claim in answer.receipt["readings"]:
            if claim["ask"]["what"] != "quantile":
                continue
            flipped = "delta" not in ledger
            assert claim["mechanism"] == ("permute_and_flip" if flipped else "exponential")
            rate, epsilon, rho = (Fraction(claim[name]) for name in ("rate", "epsilon", "rho"))
            assert epsilon == 2 * rate * claim["l1"] or rate**2 * claim["l2_squared"] / 2 <= rho
            assert not epsilon or not rho
            for changed in ({"rate": str(2 * rate)}, {"candidates": 0}, {"l1": claim["l1"] - 1},
                            {"linf": claim["linf"] + 1}, {"mechanism": "discrete_laplace"},
                            *([] if "shared" in answer.receipt else [  # where it is on trust which choice was paid
                                {"mechanism": "exponential" if flipped else "permute_and_flip"}]),
                            {"ask": claim["ask"] | {"q": {"exact": "1/3"}}}):
                forged = copy.deepcopy(answer.receipt)
                forged["readings"][answer.receipt["readings"].index(claim)] |= changed
                names = {name for name, well, _ in standalone.steps(forged) if not well}
                assert names - {"signature"}, changed
                wrong = [step.name for step in dp.verify(forged).steps if not step.holds]
                assert set(wrong) - {"signature"}, changed
    text = standalone.steps(answer.receipt)
    assert any("candidates, chosen at rate" in words for _, _, words in text)


def test_the_answer_shows_its_bar_in_rank_everywhere(tmp_path):
    curator = opened(tmp_path, columns=DATED)
    items = "MEDIAN(age) AS m, MEDIAN(day) AS d, MEDIAN(gain) AS g, COUNT(*) AS n"
    question = f"SELECT city, {items} FROM visits GROUP BY city"
    quote, answer = curator.quote(question, epsilon=4), curator.ask(question, epsilon=4)
    bars = {bar["column"]: bar for bar in quote.as_json()["error_bars"]}
    for name in ("m", "d", "g"):
        assert bars[name]["error"] is None
        (rank,) = set(answer.rank(name))
        assert rank >= Fraction(bars[name]["rank_exact"])
        assert answer[f"{name} rank ±"] == [rank] * 3
        rows = json.loads(json.dumps(answer.as_json()))["rows"]
        assert {row[answer.columns.index(name)]["rank"] for row in rows} == {rank}
        assert answer.error(name) == [None] * 3
    assert answer.rank("n") == [None] * 3
    assert "(rank ±" in str(answer)
    assert "±?" not in str(answer)
    assert "m: rank ±" in str(quote)
    assert "rank ±" in str(curator.menu(question))
    assert [name for name in answer.to_pandas() if "rank" in name] == ["m rank ±", "d rank ±", "g rank ±"]
    assert "m ±" not in answer.to_polars().columns
    assert str(answer.to_arrow().schema.field("d").type).startswith("date32")


@pytest.mark.parametrize(("text", "words"), [
    ("MEDIAN(city)", "numbers, dates or times"), ("MEDIAN(seen)", "AVG(seen)"), ("MEDIAN(floor)", "no column"),
    ("QUANTILE(age, 1.5)", "from 0 to 1"), ("QUANTILE(age, 0.12345678)", "six decimal"),
    ("QUANTILE(age)", "MEDIAN(age)"), ("QUANTILE(age, gain)", "from 0 to 1"), ("MEDIAN(day)", "no bounds"),
    ("MEDIAN(DISTINCT age)", "not available"), ("MEDIAN(INTERVAL '1 day')", "takes no interval"),
    ("MAX(city)", "COUNT(city)"),
    ("PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY age, gain)", "one number"), ("MIN(age)", "QUANTILE(age, 0.05)"),
    ("MEDIAN(age * 100000000000 * 100000000)", "too far apart"), ("PERCENTILE_CONT(age)", "PERCENTILE"),
])
def test_what_is_no_quantile_is_refused_with_a_cure(tmp_path, text, words):
    curator = opened(tmp_path)
    with pytest.raises(Refusal) as refused:
        curator.ask(f"SELECT {text} AS m FROM visits", epsilon=1)
    assert words in f"{refused.value.what} {refused.value.cure}"
    assert spent(curator) == 0


def test_cures_of_quantiles_work_as_written(tmp_path):
    curator = opened(tmp_path)
    for text in ("MAX(age * 2)", "MAX(LN(age))", "MIN(gain)"):
        with pytest.raises(Refusal) as refused:
            curator.ask(f"SELECT {text} AS m FROM visits WHERE seen", epsilon=1)
        cure = refused.value.cure
        written = re.search(r"near the end, (QUANTILE.*)\.$", cure)
        assert written is not None
        assert curator.ask(f"SELECT {written[1]} AS m FROM visits WHERE seen", epsilon=1).rows


def test_within_is_no_way_to_ask_for_a_rank(tmp_path):
    with pytest.raises(Refusal, match="in rank"):
        opened(tmp_path).quote("SELECT MEDIAN(age) AS m FROM visits", within={"m": 3})


def test_a_quantile_of_one_possible_value_is_public(tmp_path):
    curator = opened(tmp_path)
    answer = curator.ask("SELECT MEDIAN(CLIP(age, 4, 4)) AS m FROM visits", epsilon=1)
    assert (answer["m"], spent(curator)) == ([4], 0)


def test_quantiles_of_groups_are_not_added_up(tmp_path):
    answer = opened(tmp_path).ask("SELECT city, MEDIAN(age) AS m, COUNT(*) AS n FROM visits GROUP BY city", epsilon=1)
    totals = answer.totals(by=[])
    assert totals.columns == ("n",)
    assert any("m has no total over city" in note for note in totals.notes)
    with pytest.raises(Refusal, match="not made of the groups' quantiles"):
        answer.totals("m", by=[])
    assert answer.totals(by=["city"])["m"] == answer["m"]


def test_batches_and_rehearsals_have_quantiles_too(tmp_path):
    curator = opened(tmp_path)
    asked = [MEDIAN, "SELECT MEDIAN(age) AS m FROM visits WHERE seen", "SELECT COUNT(*) AS n FROM visits",
             "SELECT city, QUANTILE(age, 0.9) AS m FROM visits GROUP BY city"]
    answers = curator.batch(asked, epsilon=2)
    assert len(answers) == 4
    for answer in answers:
        holds(curator, answer)
    assert curator.rehearse(MEDIAN, epsilon=1).made_up


# --- at a huge price it is plain SQL ----------------------------------------------------------------------------------

PLAIN = [
    f"SELECT {keys}quantile_disc({column}, {q}) AS m FROM visits{where}{group}"
    for column, q in (("age", "0.503"), ("age", "0.257"), ("age", "0.907"), ("age", "0.99"), ("day", "0.503"),
                      ("moment", "0.757"))
    for keys, group in (("", ""), ("city, ", " GROUP BY city"))
    for where in ("", " WHERE age > 20")
]


def test_at_a_huge_price_it_is_what_sql_says(tmp_path):
    """Where the q-quantile of the rows is one value: where q times their number is no whole number. 24 statements; each
    of up to 3 groups misses with probability at most (C - 1) exp(-rate), below 1e-9 in all: the bar at 1e-12 is 0."""
    people = [(f"p{n}", ("Leeds", "York", "Hull")[n % 3], (n * 7) % 101, f"2024-{1 + n % 12:02}-{1 + n % 28:02}",
               f"2024-03-05T{n % 24:02}:{n % 60:02}:00Z") for n in range(303)]
    told: dict[str, Any] = {
        "curator": {"protects": "people"}, "ledger": {"epsilon": 10**9},
        "tables": {"visits": {"unit": "who", "max_total": 1, "columns": {
            "who": "text", "city": {"type": "text", "keys": ["Hull", "Leeds", "York"]},
            "age": {"type": "integer", "bounds": [0, 100]},
            "day": {"type": "date", "bounds": ["2024-01-01", "2024-12-31"]},
            "moment": {"type": "timestamp", "bounds": ["2024-03-05T00:00:00Z", "2024-03-06T00:00:00Z"]}}}},
    }
    names = list(told["tables"]["visits"]["columns"])
    table = {name: [row[n] for row in people] for n, name in enumerate(names)}
    curator = dp.open(told, directory=tmp_path, visits=table, refresh=True)
    plain = duckdb.connect()
    plain.execute("CREATE TABLE visits (who TEXT, city TEXT, age BIGINT, day DATE, moment TIMESTAMPTZ)")
    plain.executemany("INSERT INTO visits VALUES (?, ?, ?, ?, ?)", people)
    checked = 0
    for text in PLAIN:
        quote = curator.quote(text, epsilon=10**5, cut=False)
        assert quote.priced[0].error(Fraction(1, 10**12)) < 1
        answer = curator.answer(quote)
        column = text.split("quantile_disc(")[1].split(",")[0]
        spacing = 60 * 10**6 if column == "moment" else 0  # candidates are within two seconds of one another
        wanted = plain.execute(f"SELECT * FROM ({text}) ORDER BY 1").fetchall()
        for mine, its in zip(answer.rows, wanted, strict=True):
            assert mine[:-1] == its[:-1]
            ranked = _whole(its[-1]) if not isinstance(mine[-1], str) else its[-1]
            if column == "moment":
                apart = abs((its[-1] - _moment(mine[-1])).total_seconds())
                assert apart < spacing, text
            else:
                assert mine[-1] == (ranked.isoformat() if column == "day" else ranked), text
            checked += 1
    assert checked == 48


STEPPED: list[tuple[dict[str, Any], Any, str | None, float]] = [  # a column, its one value, what is said, how near
    ({"type": "integer", "bounds": [0, 2**16 - 1]}, 77, None, 0),
    ({"type": "integer", "bounds": [0, 10**6]}, 77, "quantiles take x rounded down to steps of 16", 15),
    ({"type": "float", "bounds": [-0.1, 0.3]}, 0.3, "quantiles take x rounded to steps of 7.62939e-06...", 2**-18),
    ({"type": "float", "bounds": [-0.1, 0.3]}, -0.1, "quantiles take x rounded to steps of 7.62939e-06...", 2**-18),
    ({"type": "date", "bounds": ["0001-01-01", "9999-12-31"]}, "2024-05-06",
     "quantiles take x rounded down to steps of 56 days", 55),
    ({"type": "timestamp", "bounds": ["2024-03-05T00:00:00Z", "2024-03-06T00:00:00Z"]}, "2024-03-05T12:00:00.5Z",
     "quantiles take x rounded down to steps of 1.31836 seconds", 2),
]


@pytest.mark.parametrize(("column", "value", "words", "near"), STEPPED)
def test_how_far_apart_candidates_are_is_said_where_no_bar_in_rank_covers_it(tmp_path, column, value, words, near):
    """All rows have one value, which the candidate that is shown misses by less than a step, and by half of the rows in
    rank; so the step is said with the answer. No candidate that is shown lies out of bounds."""
    told = {"curator": {"protects": "people"}, "ledger": {"epsilon": 10**9}, "tables": {"visits": {
        "unit": "who", "max_total": 1, "columns": {"who": "text", "x": column}}}}
    people = {"who": [f"p{n}" for n in range(21)], "x": [value] * 21}
    curator = dp.open(told, directory=tmp_path, visits=people, refresh=True)
    answer = curator.ask("SELECT MEDIAN(x) AS m FROM visits", epsilon=10**6)
    holds(curator, answer)
    assert answer.error("m") == [None]
    said = " ".join(answer.notes)
    assert (words in said) if words else "quantiles take" not in said
    (found,) = answer["m"]
    if column["type"] == "date":
        from datetime import date

        apart: float = (date.fromisoformat(value) - date.fromisoformat(found)).days
    elif column["type"] == "timestamp":
        apart = (_moment(value) - _moment(found)).total_seconds()
    else:
        apart = value - found
        assert column["bounds"][0] <= found <= column["bounds"][1]
    assert (0 if column["type"] != "float" else -near) <= apart <= near


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, int | float) else value


def _moment(text: str) -> Any:
    from datetime import datetime

    return datetime.fromisoformat(text)


def test_the_bar_in_rank_covers(tmp_path):
    """400 choices at 80 %: fewer than 262 within the bar have a probability below 1e-9 (binomial, .8)."""
    below = sum(math.comb(400, k) * 0.8**k * 0.2 ** (400 - k) for k in range(262))
    assert below < 1e-9
    people = {"who": [f"p{n}" for n in range(201)], "age": [n % 50 for n in range(201)]}
    told = {"curator": {"protects": "people"}, "ledger": {"epsilon": 1000}, "tables": {"visits": {
        "unit": "who", "max_total": 1, "columns": {"who": "text", "age": {"type": "integer", "bounds": [0, 99]}}}}}
    curator = dp.open(told, directory=tmp_path, visits=people, refresh=True)
    curator.entropy = Fixed(3)
    quote = curator.quote("SELECT QUANTILE(age, 0.7) AS m FROM visits", epsilon="0.5", confidence="0.8", cut=False)
    from dpcurator.release.finish import finish
    from dpcurator.release.release import release

    exact = curator.engine().evaluate(quote.lowered.core)
    inside = 0
    for _ in range(400):
        ((cell,),) = finish(quote, release(quote, exact, curator.entropy))
        below_it = sum(age < cell.value for age in people["age"])
        upto = sum(age <= cell.value for age in people["age"])
        missed = max(below_it - 0.7 * 201, 0.7 * 201 - upto, 0)
        inside += missed <= cell.rank
    assert inside >= 262
