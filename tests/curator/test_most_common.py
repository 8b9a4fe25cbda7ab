"""MODE, TOP_K, and groups in the order of counts that are not shown, asked of a curator.

Their sensitivity and the promise of the choice are enumerated in tests/laws/test_heart_names.py, the bar in
tests/mechanisms/test_top_counts.py.
"""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import duckdb
import pytest
from house import CATALOG, ROWS, Counted, frame, holds, opened, spent

import dpcurator as dp
from dpcurator.errors import Refusal
from dpcurator.plan.check_outputs import misfit
from dpcurator.pricing.held import HeldReading, Place, due
from dpcurator.receipts.receipt import write_shared
from dpcurator.standalone import verify as standalone

FORMS = (
    "SELECT MODE(city) AS city FROM visits", "SELECT TOP_K(city, 1) AS city FROM visits",
    "SELECT APPROX_TOP_K(city, 1) AS city FROM visits",
    "SELECT MODE() WITHIN GROUP (ORDER BY city) AS city FROM visits",
    "SELECT city FROM visits GROUP BY city ORDER BY COUNT(*) DESC LIMIT 1",
    "SELECT city FROM visits GROUP BY 1 ORDER BY COUNT(1) DESC LIMIT 1",
)
SURE = {"epsilon": 10**9}


def sure(tmp_path, **changes: Any) -> dp.Curator:
    return opened(tmp_path, epsilon=10**12, **changes)


@pytest.mark.slow
def test_every_spelling_is_one_reading_and_a_repeat_is_free(tmp_path):
    curator = opened(tmp_path)
    answers = [curator.ask(form, epsilon="0.5") for form in FORMS]
    assert spent(curator) == Fraction(1, 2)
    assert len({answer["city"][0] for answer in answers}) == 1
    entropy = curator.entropy = Counted()
    again = curator.ask("SELECT MODE(city) AS most FROM visits", epsilon="0.25")
    assert (again.cost, entropy.asked) == (0, 0)
    holds(curator, answers[0])
    holds(curator, again, [answers[0].receipt])


@pytest.mark.slow
def test_python_asks_the_same(tmp_path):
    curator = opened(tmp_path)
    visits = curator.table("visits")
    made = visits.agg(city=dp.mode("city"))
    assert made.plan() == curator.plan("SELECT MODE(city) AS city FROM visits")
    within = visits.group_by("seen").agg(top=dp.top_k("city", 2))
    assert within.plan() == curator.plan("SELECT seen, TOP_K(city, 2) AS top FROM visits GROUP BY seen")
    with pytest.raises(Refusal, match="at least 1"):
        dp.top_k("city", 0)


LEDGERS: list[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    ({"epsilon": 10}, {"epsilon": 1}, {}),
    ({"epsilon": 10, "delta": "1e-5"}, {"epsilon": "0.5", "delta": "1e-6"}, {}),
    ({"rho": 10, "delta": "1e-6"}, {"rho": "0.1"}, {"neighbours": "replace-one", "units": 20}),
]
ASKED = (
    "SELECT MODE(city) AS m FROM visits WHERE age > 3", "SELECT seen, TOP_K(city, 2) AS top FROM visits GROUP BY seen",
    "SELECT city, seen FROM visits GROUP BY city, seen ORDER BY COUNT(DISTINCT who) DESC LIMIT 1",
    "SELECT MODE(BIN(age, 10)) AS decade FROM visits",
)


@pytest.mark.parametrize("row", [False, True])
@pytest.mark.parametrize(("ledger", "price", "more"), LEDGERS)
def test_receipts_hold_by_both_verifiers_and_forged_ones_do_not(tmp_path, ledger, price, more, row):
    told = copy.deepcopy(CATALOG)
    told["curator"] |= more
    told["ledger"] = ledger
    table = told["tables"]["visits"]
    if row:
        table["unit"] = "each row"
        del table["max_rows"], table["max_groups"]
    curator = dp.open(told, directory=tmp_path, visits=frame(ROWS), refresh=True)
    for question in (ASKED[0], ASKED[1], ASKED[3]) if row else ASKED:  # each row's person has no name there
        answer = curator.ask(question, **price)
        holds(curator, answer)
        assert json.loads(json.dumps(answer.as_json())) == answer.as_json()
        claim = next(one for one in answer.receipt["readings"] if "top" in one["ask"])
        for changed in ({"rate": str(2 * Fraction(claim["rate"]))}, {"candidates": 1}, {"l1": claim["l1"] - 1},
                        {"linf": claim["linf"] + 1}, {"mechanism": "discrete_laplace"}, {"coordinates": 7},
                        {"ask": claim["ask"] | {"top": claim["ask"]["top"] + 1}},
                        {"ask": claim["ask"] | {"among": 2 * claim["ask"]["among"]}}):
            forged = copy.deepcopy(answer.receipt)
            forged["readings"][answer.receipt["readings"].index(claim)] |= changed
            assert {name for name, well, _ in standalone.steps(forged) if not well} - {"signature"}, changed
            assert {step.name for step in dp.verify(forged).steps if not step.holds} - {"signature"}, changed


def test_a_bar_that_was_made_narrower_is_found(tmp_path):
    curator = opened(tmp_path)
    answer = curator.ask(FORMS[0], epsilon="0.5")
    told = answer.as_json()
    (cell,) = told["rows"][0]
    assert (cell["error"], cell["rank"]) == (None, answer.rank("city")[0])
    cell["rank"] /= 2
    assert not dp.verify(answer.receipt, answer=told).holds


@pytest.mark.parametrize("question", [
    "SELECT MODE(city) AS m FROM visits", "SELECT TOP_K(city, 1) AS m FROM visits WHERE city <> 'Leeds'",
    "SELECT MODE(age % 7) AS m FROM visits",
    "SELECT MODE(CASE WHEN age > 30 THEN 'old' ELSE 'young' END) AS m FROM visits",
])
def test_at_a_huge_price_it_is_what_sql_says(tmp_path, question):
    rows = [(f"p{n}", ("Leeds", "York", "York", "Hull", "York", "Leeds")[n % 6], 10 if n % 3 == 0 else n, 0.5, True,
             "2024-02-29", 0.0) for n in range(60)]  # without ties: any of equal ones is a mode
    curator = sure(tmp_path, rows=rows, columns={"age": {"type": "integer", "keys": list(range(91))}})
    base = duckdb.connect()
    base.execute("CREATE TABLE visits (who TEXT, city TEXT, age BIGINT)")
    base.executemany("INSERT INTO visits VALUES (?, ?, ?)", [row[:3] for row in rows])
    plain = question.replace("TOP_K(city, 1)", "MODE(city)")
    assert curator.ask(question, **SURE)["m"] == [base.execute(plain).fetchone()[0]]


def test_k_of_each_group_come_in_their_order_group_by_group(tmp_path):
    cities = ["Leeds"] * 9 + ["York"] * 6 + ["Hull"] * 3
    rows = [(f"p{n}", city, 50, 0.5, n % 3 == 0, "2024-02-29", 0.0) for n, city in enumerate(cities)]
    rows += [(f"q{n}", "Hull", 50, 0.5, True, "2024-02-29", 0.0) for n in range(8)]
    curator = sure(tmp_path, rows=rows)
    answer = curator.ask("SELECT seen, TOP_K(city, 2) AS top FROM visits GROUP BY seen", **SURE)
    assert list(zip(answer["seen"], answer["top"], strict=True)) == [
        (False, "Leeds"), (False, "York"), (True, "Hull"), (True, "Leeds")]
    text = "SELECT TOP_K(city, 9) AS top, seen FROM visits GROUP BY seen ORDER BY seen DESC LIMIT 4"
    turned = curator.ask(text, **SURE)
    assert turned["top"] == ["Hull", "Leeds", "York", "Leeds"]
    sorted_ = curator.ask("SELECT seen, MODE(city) AS m FROM visits GROUP BY seen ORDER BY MODE(city) DESC", **SURE)
    assert sorted_["m"] == ["Leeds", "Hull"]


def test_the_quote_says_how_names_are_found_and_why(tmp_path):
    """k names cost k times what one does; all counts as often as a unit counts in groups."""
    curator = opened(tmp_path, max_groups=3)
    named = curator.quote("SELECT TOP_K(city, 3) AS top FROM visits", epsilon=1)
    assert "without releasing them" in str(named)
    assert named.as_json()["named"] in str(named)
    assert [one.ask.top for one in named.priced] == [3]
    alone = opened(tmp_path / "alone").quote("SELECT TOP_K(city, 3) AS top FROM visits", epsilon=1)
    assert "noisy counts of all groups" in str(alone)
    assert [one.ask.top for one in alone.priced] == [None]
    (bar,) = named.as_json()["error_bars"]
    assert bar["rank"] > 0


def test_names_among_counts_that_were_paid_are_free(tmp_path):
    curator = opened(tmp_path)
    counts = curator.ask("SELECT city, COUNT(*) AS n FROM visits GROUP BY city ORDER BY n DESC", epsilon=1)
    quote = curator.quote(FORMS[0], epsilon=1)
    assert (quote.cost, "paid before" in str(quote)) == (0, True)
    answer = curator.ask(FORMS[0], epsilon=1)
    assert (answer.cost, answer["city"]) == (0, counts["city"][:1])
    holds(curator, answer, [counts.receipt])
    assert curator.ask(FORMS[0], epsilon=2).cost == 2  # which buys more than those counts


def test_unknown_keys_are_found_first_and_counted(tmp_path):
    rows = [(f"p{n}", ("Leeds", "York", "York")[n % 3], 50, 0.5, True, "2024-02-29", 0.0) for n in range(600)]
    told = copy.deepcopy(CATALOG)
    told["curator"]["salt"], told["ledger"] = "00" * 16, {"epsilon": 10, "delta": "1e-5"}
    told["tables"]["visits"]["columns"]["city"]["keys"] = "unknown"
    curator = dp.open(told, directory=tmp_path, visits=frame(rows), refresh=True)
    quote = curator.quote("SELECT MODE(city) AS m FROM visits", epsilon=5)
    assert "not listed" in str(quote)
    assert curator.ask("SELECT MODE(city) AS m FROM visits", epsilon=5)["m"] == ["York"]
    with pytest.raises(Refusal, match="listed keys"):
        curator.quote("SELECT seen, MODE(city) AS m FROM visits GROUP BY seen", epsilon=1)


def test_a_single_key_is_public(tmp_path):
    curator = opened(tmp_path, columns={"city": {"type": "text", "keys": ["York"]}})
    answer = curator.ask("SELECT MODE(city) AS m FROM visits", epsilon=1)
    assert (answer["m"], answer.cost) == (["York"], 0)


@pytest.mark.parametrize(("text", "words"), [
    ("SELECT MODE(city), COUNT(*) FROM visits", "other groups"), ("SELECT TOP_K(city) FROM visits", "TOP_K(city, 3)"),
    ("SELECT TOP_K(city, 0) FROM visits", "from 1 to"), ("SELECT MODE(city), MODE(seen) FROM visits", "one column"),
    ("SELECT MODE(city) FILTER (WHERE seen) FROM visits", "WHERE"), ("SELECT UPPER(MODE(city)) FROM visits", "not"),
    ("SELECT MODE(city) FROM visits HAVING COUNT(*) > 3", "WHERE"), ("SELECT MODE(gain) FROM visits", "E(gain) needs"),
    ("SELECT seen, MODE(city) FROM visits GROUP BY ROLLUP(seen)", "totals"),
    ("SELECT city, COUNT(*) FROM visits GROUP BY city ORDER BY MODE(city)", "alone"),
    ("SELECT MODE() FROM visits", "MODE(city)"), ("SELECT MODE(*) FROM visits", "MODE(city)"),
    ("SELECT TOP_K(DISTINCT city, 2) FROM visits", "TOP_K"), ("SELECT MODE(city + 1) FROM visits", "city"),
])
def test_what_has_no_names_is_refused_with_the_way_out(tmp_path, text, words):
    curator = opened(tmp_path)
    with pytest.raises(Refusal) as refused:
        curator.quote(text, epsilon=1)
    assert words in str(refused.value)
    assert spent(curator) == 0


def test_a_column_without_keys_is_refused_in_the_words_of_the_question(tmp_path):
    """Not in those of the GROUP BY that it means; and the cure is one that names take."""
    curator = opened(tmp_path, columns={"city": {"type": "text"}})
    for text, said in (("MODE(city)", "MODE(city)"), ("TOP_K(city, 3)", "TOP_K(city, 3)"), ("MODE(who)", "MODE(who)")):
        with pytest.raises(Refusal) as refused:
            curator.quote(f"SELECT {text} AS m FROM visits", epsilon=1)
        assert (refused.value.what.startswith(said), "GROUP BY" in str(refused.value)) == (True, False)
    assert "COUNT(DISTINCT who)" in refused.value.cure
    within = "SELECT seen, MODE(city) AS m FROM visits GROUP BY seen"  # of keys that are listed alone
    with pytest.raises(Refusal) as refused:
        curator.quote(within, epsilon=1)
    assert "unknown" not in refused.value.cure
    grouped = "SELECT city FROM visits GROUP BY city ORDER BY COUNT(*) DESC LIMIT 3"
    with pytest.raises(Refusal, match=r"^line 1, column 34: GROUP BY city needs"):
        curator.quote(grouped, epsilon=1)


@pytest.mark.slow  # two verifiers of three receipts
def test_batches_rehearsals_and_points_take_them(tmp_path):
    curator = opened(tmp_path, delta="1e-5")
    asked = [FORMS[0], "SELECT city, COUNT(*) AS n FROM visits GROUP BY city", ASKED[1]]
    batch = curator.quote_batch(asked, epsilon=2, as_one=True, delta="1e-6")
    answers = curator.batch(asked, epsilon=2, as_one=True, delta="1e-6")
    assert spent(curator) == batch.cost <= 2
    for answer in answers:
        holds(curator, answer)
    for made_up in curator.rehearse_batch(asked):
        assert made_up.made_up
    with pytest.raises(Refusal, match="no total"):
        answers[2].totals(by=["seen"])


def test_what_stands_beside_a_bar_in_rank_takes_no_wanted_error(tmp_path):
    curator = opened(tmp_path)
    with pytest.raises(Refusal, match="no single column"):
        curator.quote("SELECT MODE(city) AS m FROM visits", within={"m": 3})
    assert "rank ±" in str(curator.menu("SELECT MODE(city) AS m FROM visits"))


def test_names_in_very_many_groups_are_refused_before_they_are_paid():
    """Each group is a choice of its own, which takes half a millisecond."""
    told = copy.deepcopy(CATALOG)
    told["tables"]["visits"]["columns"]["age"] = {"type": "integer", "keys": list(range(10_001))}
    curator = dp.rehearsing(told)
    with pytest.raises(Refusal, match="the limit is 10,000"):
        curator.quote("SELECT age, MODE(seen) AS m FROM visits GROUP BY age", epsilon=1)
    plan = curator.plan("SELECT MODE(age) AS m FROM visits")
    assert misfit(plan) is None
    (call,) = plan.calls
    assert "too many" in str(misfit(replace(plan, calls=(replace(call, among=1),))))
    assert "others than there are" in str(misfit(replace(plan, calls=(replace(call, among=2),))))


@pytest.mark.slow
def test_limit_and_offset_mean_the_same_whichever_way_names_are_found(tmp_path):
    rows = [(f"p{n}", ("Leeds",) * 3 + ("York",) * 2 + ("Hull",), 50) for n in range(60)]
    rows = [(who, cities[n % 6], age, 0.5, True, "2024-02-29", 0.0) for n, (who, cities, age) in enumerate(rows)]
    for groups, counted in ((1, True), (3, False)):
        curator = sure(tmp_path / str(groups), rows=rows, max_groups=groups)
        for tail, wanted in (("", ["Leeds", "York"]), ("LIMIT 5 OFFSET 1", ["York"]), ("LIMIT 1", ["Leeds"]),
                             ("LIMIT 0", []), ("OFFSET 5", [])):
            answer = curator.ask(f"SELECT TOP_K(city, 2) AS c FROM visits {tail}", **SURE)
            assert answer["c"] == wanted, (groups, tail)
            asked = curator.quote(f"SELECT TOP_K(city, 2) AS c FROM visits {tail}", epsilon=3 * 10**9)
            assert all((one.ask.top is None) == counted for one in asked.priced)


CROSSED = ("SELECT ward, MODE(city) AS m FROM visits GROUP BY ward",
           "SELECT city, MODE(ward) AS m FROM visits GROUP BY city")


def crossed(tmp_path) -> dp.Curator:
    """Two columns with as many keys each, so that either may be named within the other: of the same rows and counts."""
    told = {"curator": {"protects": "people"}, "ledger": {"epsilon": 10**12}, "tables": {"visits": {
        "unit": "who", "max_total": 1, "columns": {
            "who": "text", "ward": {"type": "text", "keys": ["a", "b"]},
            "city": {"type": "text", "keys": ["x", "y"]}}}}}
    data = {"who": [*"012345"], "ward": [*"aaaaab"], "city": [*"xxxyyy"]}
    return dp.open(told, directory=tmp_path, visits=data, refresh=True)


def test_names_within_other_groups_of_the_same_counts_are_choices_of_their_own(tmp_path):
    """In a batch each is paid and answered, though both rest on the counts of the same groups."""
    curator = crossed(tmp_path)
    batch = curator.quote_batch(CROSSED, epsilon=10**9)
    assert (len(batch.paid), batch.payers) == (2, (None, None))
    one, two = curator.batch(CROSSED, epsilon=10**9)
    assert spent(curator) == batch.cost
    assert (one["m"], two["m"]) == (["x", "y"], ["a", "a"])


@pytest.mark.slow
def test_a_receipt_that_shares_names_of_other_groups_is_found(tmp_path):
    """A choice of cities within wards is said to be one of wards within cities, of the same counts and noise."""
    curator = crossed(tmp_path)
    payer = curator.ask(CROSSED[0], epsilon=10**9, cut=False)
    ledger = payer.receipt["ledger"]
    place = Place(ledger["position"], ledger["head"], payer.receipt["request"], 0, 0)
    for asked, wrong in ((CROSSED[0], ([], [])), (CROSSED[1], (["ledger"], ["shared"]))):
        whole = curator._whole(asked, {"epsilon": 10**9, "cut": False})
        quote = due(whole, [HeldReading(place, whole.priced[0], (1, 0, 0, 1))])
        receipt = write_shared(quote, {}, analyst="local", key=curator.key)
        steps = dp.verify(receipt, ledger=curator.ledger).steps
        alone = standalone.steps(receipt, others=[payer.receipt])
        assert ([one.name for one in steps if not one.holds], [name for name, good, _ in alone if not good]) == wrong
