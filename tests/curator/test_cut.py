"""The cut from question to receipt: charged, drawn once, stored, used again, verified twice, and left out where asked.

Readings are what is paid (decision 17), and the two of the cut are readings: the attacker's question of decision 18 is
answered here, case by case. People in these rows are over a cap or are not by construction.
"""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from typing import Any

import pytest
from house import CITY, COUNT, VARIANTS, Counted, catalog, frame, holds, opened, spent

import dpcurator as dp
from dpcurator.plan.identity import reading_name
from dpcurator.receipts.receipt import sha
from dpcurator.standalone import verify as standalone

MEAN = "SELECT AVG(age) AS a FROM visits"
CAPS = {"max_rows": 2, "max_groups": 1}
CAPPED = 30  # of 100 people, with 3 rows each in one city where 2 count
ROWS = [(f"p{person}", "Leeds" if person % 2 else "York", 120 if person % 10 == 9 else 40, 0.5, True, "2024-02-29", 0.0)
        for person in range(100) for _ in range(3 if person < CAPPED else 1)]


@pytest.fixture
def curator(tmp_path) -> dp.Curator:
    made = opened(tmp_path / "c", ROWS, epsilon=10**6, **CAPS)
    made.cut = True
    return made


def sure(curator: dp.Curator, question: str, **asked: Any) -> dp.Answer:
    """The answer at a price at which noise is next to nothing."""
    return curator.ask(question, epsilon=5000, **asked)


@pytest.mark.parametrize(("question", "over", "units", "reason"), [
    (COUNT, CAPPED, 100, "are over a cap"), (CITY, CAPPED, 100, "are over a cap"),
    (MEAN, CAPPED + 7, 100, "are over a cap or have a value outside its bounds"),
    (COUNT + " WHERE city = 'Leeds'", CAPPED // 2, 50, "are over a cap"),
    ("SELECT COUNT(*) AS n FROM visits WHERE age > 100", 3, 10, "are over a cap"),
    ("SELECT city, SUM(age) AS s FROM visits WHERE city = 'York' GROUP BY city", CAPPED // 2, 50,
     "are over a cap or have a value outside its bounds"),
])
def test_it_is_how_many_people_are_cut_of_how_many(curator, question, over, units, reason):
    answer = sure(curator, question)
    cut = answer.cut
    assert cut is not None
    assert (cut.over, cut.units, cut.reason, cut.protects) == (over, units, reason, "people")
    assert answer.told == ((str(cut), *answer.notes) if over / units > 0.05 else (*answer.notes, str(cut)))
    assert str(cut) in str(answer)
    assert str(cut) in answer.to_html()
    assert answer.as_json()["cut"] == cut.as_json()
    holds(curator, answer)


def test_each_cap_has_its_own(curator):
    """Each cuts as many people as have more rows."""
    for rows, over in ((1, CAPPED), (2, CAPPED), (3, 0), (4, 0)):
        assert sure(curator, COUNT, max_rows=rows).cut.over == over
    assert sure(curator, COUNT, max_total=1).cut.over == CAPPED
    names = {reading_name(plan, ask, curator.catalog, "local") for plan, ask in asked(curator)}
    assert len(names) == 2 * len(QUESTIONS)


QUESTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    (COUNT, {}), (COUNT, {"max_rows": 1}), (CITY, {"max_total": 1}), (COUNT + " WHERE seen", {}), (CITY, {}),
    (MEAN + " WHERE age > 1", {}), ("SELECT SUM(gain) FROM visits WHERE gain > 1", {}),
)


def asked(curator: dp.Curator) -> list[tuple[Any, Any]]:
    """The readings of the cut, each with its plan."""
    quotes = [curator.quote(question, epsilon=1, **caps) for question, caps in QUESTIONS]
    return [(quote.plan, one.ask) for quote in quotes for one in quote.priced if one.ask.overall]


def test_a_cut_is_of_its_rows_keys_caps_and_clamps_and_of_nothing_else(curator):
    def names(question: str, **caps: Any) -> list[str]:
        quote = curator.quote(question, epsilon=1, **caps)
        return [reading_name(quote.plan, one.ask, curator.catalog, "local") for one in quote.priced if one.ask.overall]

    assert names(CITY) == names(CITY + " ORDER BY n DESC LIMIT 1") == names(CITY.replace("COUNT(*)", "COUNT(age)"))
    two = "SELECT SUM(age), SUM(gain) FROM visits"
    assert names(two) == names("SELECT AVG(gain) AS x, COUNT(*), AVG(age) AS y FROM visits")
    one, other = names("SELECT SUM(age) FROM visits"), names(two)
    assert one[0] != other[0]
    assert one[1] == other[1]  # the people at all are the same


@pytest.mark.parametrize("name", VARIANTS)
def test_what_is_done_with_a_paid_answer_costs_nothing_and_shows_its_cut(curator, name):
    first = curator.ask(CITY, epsilon="0.5")
    entropy = curator.entropy = Counted()
    again = curator.ask(VARIANTS[name], epsilon="0.5")
    assert (again.cost, spent(curator), entropy.asked) == (0, Fraction(1, 2), 0)
    assert again.cut == first.cut
    assert again.hints == ()
    holds(curator, again, [first.receipt])


def test_a_free_question_whose_cut_nobody_paid_stays_free_and_says_how_to_get_it(curator):
    """Other aggregates have another cut; without one a stored count serves all the same."""
    first = curator.ask("SELECT COUNT(*) AS n, AVG(age) AS a FROM visits", epsilon=1)
    entropy = curator.entropy = Counted()
    quote = curator.quote(COUNT, epsilon="0.25")
    assert quote.cost == 0
    assert quote.cut is None
    answer = curator.ask(COUNT, epsilon="0.25")
    assert (answer.cost, spent(curator), entropy.asked) == (0, 1, 0)
    assert answer.cut is None
    assert answer.hints == ("how many people are over a cap or a bound was not paid for; cut=True, or --cut, buys it",)
    assert answer.hints[0] in str(answer)
    assert "cut" not in answer.as_json()
    holds(curator, answer, [first.receipt])
    assert curator.answer(quote).cost == 0
    # and now it is bought, alone; the number of people at all is that of the first answer
    wanted = curator.quote(COUNT, epsilon="0.25", cut=True)
    assert wanted.cost == Fraction(1, 80)
    assert "for epsilon 0.0125" in str(wanted)
    bought = curator.answer(wanted)
    assert (bought.cost, spent(curator)) == (Fraction(1, 80), 1 + Fraction(1, 80))
    assert (bought.cut.units, bought.rows) == (first.cut.units, answer.rows)
    assert bought.cut.reason == "are over a cap"
    holds(curator, bought, [first.receipt])
    drawn = entropy.asked
    for again in (curator.ask(COUNT, epsilon="0.25"), curator.ask(COUNT + " LIMIT 1", epsilon="0.25"),
                  curator.ask(COUNT, epsilon="0.25", cut=True), curator.batch([COUNT], epsilon="0.25")[0]):
        assert (again.cut, again.cost, entropy.asked) == (bought.cut, again.cost, drawn)
        holds(curator, again, [first.receipt, bought.receipt])
    assert spent(curator) == 1 + Fraction(1, 80)


def test_left_out_it_costs_nothing_and_the_rest_has_all_of_the_price(curator):
    told, plain = curator.ask(COUNT, epsilon=1), curator.ask(COUNT, epsilon=1, cut=False)
    assert plain.cut is None
    assert "over a cap" not in str(plain)
    assert plain.error("n")[0] < told.error("n")[0]
    assert spent(curator) == 2  # finer noise than the first, so it is another reading
    assert curator.ask(COUNT + " LIMIT 1", epsilon=1).rows == plain.rows  # the finer one is used, for nothing
    assert spent(curator) == 2
    curator.cut = False
    assert curator.ask(COUNT + " LIMIT 1", epsilon="0.5").cut is None
    assert curator.ask(CITY, epsilon=1, cut=True).cut is not None


@pytest.mark.parametrize("cut", ["no", 0, 1, "True"])
def test_anything_else_is_refused(curator, cut):
    with pytest.raises(dp.Refusal, match="cut is True, False or None"):
        curator.ask(COUNT, epsilon=1, cut=cut)


def test_fresh_pays_again_for_all_of_it(curator):
    first = curator.ask(COUNT, epsilon=1)
    again = curator.ask(COUNT, epsilon=1, fresh=True)
    assert spent(curator) == 2
    assert again.cut is not None
    holds(curator, again, [first.receipt])
    best = curator.ask(COUNT + " LIMIT 1", epsilon=1)
    assert best.cut == first.cut  # of two with the same noise the earlier


@pytest.mark.parametrize("ledger", [{"epsilon": 9}, {"epsilon": 9, "delta": "1e-6"}, {"rho": 9, "delta": "1e-6"}])
@pytest.mark.parametrize("neighbours", [{}, {"neighbours": "replace-one", "units": 100}])
@pytest.mark.parametrize("keys", [["Leeds", "York"], "unknown"])
def test_in_every_ledger_and_relation_it_holds_by_both_verifiers(tmp_path, ledger, neighbours, keys):
    if keys == "unknown" and "delta" not in ledger:
        return  # unknown keys are never selected without one
    told = catalog(**CAPS)
    told["ledger"], told["curator"] = ledger, told["curator"] | neighbours | {"salt": "5" * 32}
    told["tables"]["visits"]["columns"]["city"] = {"type": "text", "keys": keys}
    curator = dp.open(told, directory=tmp_path, visits=frame(ROWS))
    answers = [curator.ask(text, spend="10%") for text in (CITY, CITY + " ORDER BY n", COUNT)]
    answers += curator.batch([MEAN, CITY, "SELECT COUNT(DISTINCT who) AS n FROM visits GROUP BY city"], spend="10%")
    assert [answer.cut is not None for answer in answers] == [True] * len(answers)
    assert answers[0].cut == answers[1].cut
    for place, answer in enumerate(answers):
        holds(curator, answer, [one.receipt for one in answers[:place]])
    printed = json.loads(json.dumps(answers[0].as_json()))
    steps = standalone.steps(printed["receipt"], catalog=told, printed=printed)
    assert [step for step in steps if not step[1]] == []


def signed(curator: dp.Curator, receipt: dict[str, Any]) -> dict[str, Any]:
    """What a curator that lies could issue."""
    body = {name: part for name, part in receipt.items() if name != "signature"}
    return body | {"signature": curator.key.sign(standalone.canonical(body))}


LIES = {
    "fewer people": ("over", 0), "a narrower bar": ("over_error", 1), "more people at all": ("units", 10**6),
    "a bar of nothing": ("units_error", 0), "another reason": ("reason", "have a value outside its bounds"),
    "others": ("protects", "patients"),
}


@pytest.mark.parametrize("lie", LIES)
def test_another_cut_beside_the_same_receipt_is_found_by_both(curator, lie):
    printed = json.loads(json.dumps(curator.ask(COUNT, epsilon=1).as_json()))
    printed["cut"][LIES[lie][0]] = LIES[lie][1]
    assert not dp.verify(printed["receipt"], answer=printed).holds
    assert not all(step[1] for step in standalone.steps(printed["receipt"], printed=printed))


@pytest.mark.parametrize("lie", ["a narrower bar", "a bar of nothing", "another reason", "others"])
def test_a_curator_that_signs_another_cut_is_found_without_its_ledger(curator, lie):
    printed = json.loads(json.dumps(curator.ask(COUNT, epsilon=1).as_json()))
    name, new = LIES[lie]
    printed["cut"] |= {name: new}
    core = {name: printed[name] for name in (*standalone.CORE, "cut")}
    receipt = signed(curator, printed["receipt"] | {"answer_sha256": sha(core)})
    found = dp.verify(receipt, answer=core)
    assert [step.name for step in found.steps if not step.holds] == ["answer"]


@pytest.mark.parametrize("change", [
    {"over": 1.5}, {"over_error": True}, {"over_error": -1}, {"units_error": -1}, {"protects": "others"}, {"more": 1},
    {"reason": "have a value outside its bounds"}, {"reason": "are over a cap or have a value outside its bounds"},
    None,
])
def test_a_cut_of_another_form_is_found_by_both_though_it_is_signed(curator, change):
    printed = json.loads(json.dumps(curator.ask(COUNT, epsilon=1).as_json()))
    printed["cut"] = None if change is None else printed["cut"] | change
    core = {name: printed[name] for name in (*standalone.CORE, "cut")}
    printed["receipt"] = signed(curator, printed["receipt"] | {"answer_sha256": sha(core)})
    assert not dp.verify(printed["receipt"], answer=printed).holds
    steps = standalone.steps(printed["receipt"], printed=printed)
    assert [step[0] for step in steps if not step[1]] == ["answer"]


def test_a_cut_of_a_public_number_of_units_tells_that_number(tmp_path):
    """Neither verifier takes another one, or a bar."""
    told = catalog(max_rows=None, max_groups=None, unit="each row", neighbours="replace-one")
    told["curator"] |= {"units": len(ROWS)}
    curator = dp.open(told, directory=tmp_path, visits=frame(ROWS))
    answer = curator.ask(MEAN, epsilon=1)
    assert (answer.cut.units, answer.cut.units_error, answer.cut.reason) == (
        len(ROWS), 0, "have a value outside its bounds")
    holds(curator, answer)
    for change in ({"units": len(ROWS) + 1}, {"units_error": 1}):
        printed = json.loads(json.dumps(answer.as_json()))
        printed["cut"] |= change
        core = {name: printed[name] for name in (*standalone.CORE, "cut")}
        printed["receipt"] = signed(curator, printed["receipt"] | {"answer_sha256": sha(core)})
        assert not dp.verify(printed["receipt"], answer=printed).holds
        assert not all(step[1] for step in standalone.steps(printed["receipt"], printed=printed))


def test_a_receipt_that_gives_the_cut_less_noise_than_it_pays_is_found_by_both(curator):
    receipt = json.loads(json.dumps(curator.ask(COUNT, epsilon=1).receipt))
    for change in ({"scale": "1"}, {"epsilon": "1/100"}, {"l1": 0}, {"coordinates": 2},
                   {"ask": {"node": "Ask", "what": "everyone", "column": None}}):
        lie = copy.deepcopy(receipt)
        lie["readings"][1] |= change
        lie = signed(curator, lie)
        assert not dp.verify(lie).holds, change
        assert not all(step[1] for step in standalone.steps(lie)), change


def test_a_plan_says_that_it_counts_a_cut_and_both_find_where_its_readings_do_not(curator):
    from dpcurator.plan.canonical import digest, plan_of

    for cut, question in ((True, COUNT), (False, COUNT)):
        receipt = json.loads(json.dumps(curator.ask(question, epsilon=1, cut=cut).receipt))
        receipt["plan"] = {name: part for name, part in receipt["plan"].items() if name != "cut"}
        receipt["plan"] |= {} if cut else {"cut": True}
        receipt["plan_sha256"] = digest(plan_of(receipt["plan"]))
        lie = signed(curator, receipt)
        assert not dp.verify(lie).holds
        steps = {name: holds for name, holds, _ in standalone.steps(lie)}
        assert steps["question"] is False


def test_a_batch_of_which_the_cut_alone_is_missing_is_free_where_the_rest_is(curator):
    first = curator.ask("SELECT COUNT(*) AS n, AVG(age) AS a FROM visits", epsilon=1)
    quoted = curator.quote_batch([COUNT, CITY], epsilon="0.5")
    assert quoted.cost == Fraction(1, 4)
    one, two = curator.batch([COUNT, CITY], epsilon="0.5")
    assert (one.cost, two.cost, spent(curator)) == (0, Fraction(1, 4), Fraction(5, 4))
    assert (one.cut, two.cut is None) == (None, False)
    again = curator.batch([COUNT, CITY], epsilon="0.5")
    assert [answer.rows for answer in again] == [one.rows, two.rows]
    assert spent(curator) == Fraction(5, 4)
    holds(curator, one, [first.receipt])
    holds(curator, two, [first.receipt])


def test_a_resumed_request_counts_it_once(curator, monkeypatch):
    """Charged, and the answer lost before it was stored: the same request answers at no new charge, cut and all."""
    monkeypatch.setattr(curator.ledger, "answer", None)
    with pytest.raises(TypeError):
        curator.ask(COUNT, epsilon=1)
    monkeypatch.undo()
    answer = curator.ask(COUNT, epsilon=1)
    assert spent(curator) == 1
    assert answer.cut is not None
    holds(curator, answer)


def test_a_frame_a_menu_and_a_rehearsal_take_it_too(curator):
    visits = curator.table("visits").agg(n=dp.count())
    assert visits.quote(epsilon=1).cut is not None
    assert visits.quote(epsilon=1, cut=False).cut is None
    assert visits.ask(epsilon=1).cut is not None
    wide, narrow = (curator.menu(COUNT, cut=cut).offers[0].bars[0].error for cut in (None, False))
    assert wide > narrow
    assert curator.caps(COUNT, epsilon=1).rows[0].bars != curator.caps(COUNT, epsilon=1, cut=False).rows[0].bars
    assert curator.rehearse(COUNT, epsilon=1).cut is not None
    assert curator.rehearse(COUNT, epsilon=1, cut=False).cut is None
