"""Noisy readings are what is paid: a question is charged for those alone that no earlier answer holds as well.

The model below knows nothing of plans or prices: it has a table of the readings each aggregate needs, written by hand,
and the largest share that was ever paid for each. What a question is charged must be its share for every reading that
has none as large. A repeat must draw nothing, and every receipt must hold by both verifiers, its answer worked out
again from the stored readings.
"""

from __future__ import annotations

import random
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction

import pytest
from house import CITY, VARIANTS, Counted, holds, opened, spent

import dpcurator as dp
from dpcurator.cli.layout import counted_apart
from dpcurator.errors import Misconfigured, Refusal
from dpcurator.ledger.canonical import canonical_text
from dpcurator.plan.identity import reading_name
from dpcurator.plan.nodes import Ask
from dpcurator.standalone import verify as standalone

# aggregate: the readings it needs. age and gain may be missing.
NEEDS = {
    "COUNT(*)": ("rows",), "COUNT(age)": ("present age",), "AVG(age)": ("centred age", "present age"),
    "SUM(age)": ("values age",), "SUM(gain)": ("values gain",), "AVG(gain)": ("centred gain", "present gain"),
    "COUNT(DISTINCT who)": ("units",), "COUNT(*) * 2 + 1": ("rows",), "SUM(age) / COUNT(*)": ("values age", "rows"),
    "ROUND(AVG(age), 1)": ("centred age", "present age"), "AVG(CLIP(age, 0, 50))": ("centred 50", "present 50"),
}
SOURCES = ("", " WHERE age > 40", " WHERE seen")
TAILS = ("", " ORDER BY 1", " ORDER BY 1 DESC LIMIT 2", " HAVING COUNT(*) > 3")


@pytest.mark.parametrize("name", [*VARIANTS, "confidence"])
def test_d1_what_is_done_with_a_paid_answer_costs_nothing(tmp_path, name):
    """D1, each variant; and the quote says so before."""
    curator = opened(tmp_path)
    first = curator.ask(CITY, epsilon="0.5")
    entropy = curator.entropy = Counted()
    asked = {"epsilon": "0.5"} | ({"confidence": "0.8"} if name == "confidence" else {})
    question = VARIANTS.get(name, CITY)
    quote = curator.quote(question, **asked)
    assert quote.cost == 0
    assert "paid before" in str(quote)
    again = curator.ask(question, **asked)
    assert (spent(curator), entropy.asked) == (Fraction(1, 2), 0)
    assert again.repeated
    assert again.cost == 0
    holds(curator, first)
    holds(curator, again, [first.receipt])
    if name in ("limit", "alias", "confidence"):
        assert [row[1] for row in again.rows] == [row[1] for row in first.rows][: len(again.rows)]
    steps = {one: words for one, _, words in standalone.steps(again.receipt)}
    assert "IS TAKEN ON TRUST" in steps["shared"]  # without the receipt of what was paid


def test_fewer_aggregates_are_free_at_the_share_they_had(tmp_path):
    """At the same price each of fewer gets more, so it is another, finer number, and paid."""
    curator = opened(tmp_path)
    both = curator.ask("SELECT COUNT(*) AS n, SUM(age) AS s FROM visits", epsilon="0.4")
    alone = curator.ask("SELECT COUNT(*) AS n FROM visits", epsilon="0.2")
    assert (alone.rows[0][0], spent(curator)) == (both.rows[0][0], Fraction("0.4"))
    finer = curator.ask("SELECT COUNT(*) AS n FROM visits", epsilon="0.4")
    assert not finer.repeated
    assert spent(curator) == Fraction("0.8")


def test_only_what_is_missing_is_charged_and_a_better_price_pays_anew(tmp_path):
    curator = opened(tmp_path)
    curator.ask(CITY, epsilon="0.3")
    both = curator.ask("SELECT city, COUNT(*) AS n, SUM(age) AS s FROM visits GROUP BY city", epsilon="0.3")
    assert both.cost == Fraction("0.15")
    assert spent(curator) == Fraction("0.45")
    assert both.receipt["shared"]["readings"][0]["position"] == 2
    assert both.receipt["shared"]["readings"][1] is None
    holds(curator, both)
    more = curator.ask(CITY, epsilon="0.4")  # finer than what is stored
    assert spent(curator) == Fraction("0.85")
    assert not more.repeated
    assert curator.ask(CITY + " LIMIT 3", epsilon="0.35").rows == more.rows  # the best one serves
    curator.ask(CITY, epsilon="0.1", fresh=True)
    assert spent(curator) == Fraction("0.95")
    assert curator.ask(CITY + " LIMIT 3", epsilon="0.1").rows == more.rows  # and goes on to
    assert curator.ledger.verify().sound


def test_another_analyst_version_condition_cap_or_fact_pays(tmp_path):
    curator = opened(tmp_path)
    curator.ask(CITY, epsilon="0.1")
    paid = spent(curator)
    others = [
        (CITY + " LIMIT 2", {"analyst": "bo"}), (CITY, {"max_rows": 1}),
        ("SELECT city, COUNT(*) AS n FROM visits WHERE seen GROUP BY city", {}),
        ("SELECT COUNT(*) AS n FROM visits", {}),
    ]
    for question, how in others:
        curator.ask(question, epsilon="0.1", **how)
        paid += Fraction(1, 10)
        assert spent(curator) == paid, question
    narrower = opened(tmp_path, columns={"city": {"type": "text", "keys": ["Leeds", "York"]}})
    narrower.ask(CITY + " LIMIT 2", epsilon="0.1")
    assert spent(narrower) == paid + Fraction(1, 10)


@pytest.mark.parametrize("currency", ["epsilon", "rho"])
def test_selected_keys_are_shared_with_their_readings(tmp_path, currency):
    table = {
        "unit": "who", "max_total": 3,
        "columns": {"who": "text", "town": {"type": "text", "keys": "unknown"},
                    "age": {"type": "integer", "bounds": [0, 100]}},
    }
    rows = {"who": [f"p{n}" for n in range(120)], "town": ["a", "b", "c"] * 40, "age": [n % 90 for n in range(120)]}
    declared = {
        "curator": {"protects": "people", "salt": "00" * 16}, "ledger": {currency: 9, "delta": "1e-3"},
        "tables": {"visits": table},
    }
    curator = dp.open(declared, directory=tmp_path, visits=rows)
    curator.cut = False
    price = {currency: "0.6", "delta": "1e-4"}
    first = curator.ask("SELECT town, COUNT(*) AS n FROM visits GROUP BY town", **price)
    before = curator.budget()
    entropy = curator.entropy = Counted()
    again = curator.ask("SELECT town, COUNT(*) AS m FROM visits GROUP BY town ORDER BY m LIMIT 2", **price)
    assert entropy.asked == 0
    assert curator.budget() == before
    both = curator.ask("SELECT town, COUNT(*) AS n, SUM(age) AS s FROM visits GROUP BY town", **price)
    assert curator.budget().spent_delta == before.spent_delta  # the keys are those that were selected
    assert 0 < spent(curator) - before.spent <= Fraction("0.2")
    assert [row[:2] for row in both.rows] == list(first.rows) or currency == "rho"
    assert [row[0] for row in both.rows] == [row[0] for row in first.rows]
    for answer in (first, again, both):
        holds(curator, answer, [first.receipt])


def test_gaussian_readings_in_a_ledger_of_epsilon_are_charged_what_their_rho_is_worth(tmp_path):
    curator = opened(tmp_path, delta="1e-2")
    columns = ", ".join(f"SUM(CLIP(age, 0, {n})) AS s{n}" for n in range(10, 20))
    price = {"epsilon": "1", "delta": "1e-3"}
    quote = curator.quote(f"SELECT {columns} FROM visits", **price)
    assert quote.priced[0].rho  # many readings: Gaussian
    curator.ask("SELECT SUM(CLIP(age, 0, 10)) AS a FROM visits", epsilon="3", delta="1e-3")
    before = curator.budget()
    answer = curator.ask(f"SELECT {columns} FROM visits", **price)
    assert Fraction(9, 10) < spent(curator) - before.spent < 1  # nine of ten, at the same delta
    assert curator.budget().spent_delta - before.spent_delta == quote.delta
    holds(curator, answer)


def test_a_batch_leaves_out_what_was_paid_before(tmp_path):
    curator = opened(tmp_path)
    total = "SELECT AVG(age) AS a FROM visits"
    curator.batch([CITY, total], epsilon="0.4")
    assert all(answer.repeated for answer in curator.batch([CITY + " LIMIT 1", total], epsilon="0.4"))
    assert spent(curator) == Fraction("0.4")
    new = curator.batch([CITY + " LIMIT 1", "SELECT SUM(gain) AS g FROM visits"], epsilon="0.4")
    assert [answer.repeated for answer in new] == [True, False]
    assert spent(curator) == Fraction("0.6")
    assert curator.quote_batch([CITY + " LIMIT 1", total], epsilon="0.4").cost == 0
    for answer in new:
        holds(curator, answer)
    assert curator.ask("SELECT COUNT(age) AS n FROM visits", epsilon="0.1").repeated  # of the average


def test_a_resumed_request_answers_as_it_was_charged(tmp_path, monkeypatch):
    """A charge without an answer, after which another question stores what it lacked: it is not charged again, and
    keeps the readings that it was charged with."""
    curator = opened(tmp_path)
    curator.ask(CITY, epsilon="0.2")
    both = "SELECT city, COUNT(*) AS n, SUM(age) AS s FROM visits GROUP BY city"
    with monkeypatch.context() as patched:
        patched.setattr(dp.Curator, "_evaluate", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            curator.ask(both, epsilon="0.2")
    assert spent(curator) == Fraction("0.3")
    curator.ask("SELECT city, SUM(age) AS s FROM visits GROUP BY city", epsilon="0.2")
    assert spent(curator) == Fraction("0.5")
    answer = curator.ask(both, epsilon="0.2")
    assert spent(curator) == Fraction("0.5")
    assert answer.receipt["shared"]["readings"][1] is None
    holds(curator, answer)


def test_a_closed_curator_shows_nothing_and_a_taken_id_is_refused(tmp_path):
    curator = opened(tmp_path)
    curator.ask(CITY, epsilon="0.2", request_id="one")
    with pytest.raises(Refusal, match="already belongs"):
        curator.ask(CITY + " LIMIT 1", epsilon="0.2", request_id="one")
    curator.ledger.close_after_fault()
    with pytest.raises(Misconfigured, match="closed"):
        curator.ask(CITY + " LIMIT 1", epsilon="0.2")


def test_a_ledger_without_the_index_works_and_only_forgets(tmp_path):
    """Ledgers of earlier versions have no index of readings; what they hold is paid again, and noted from then on."""
    curator = opened(tmp_path)
    curator.ask(CITY, epsilon="0.2")
    curator.ledger.close()
    (file,) = tmp_path.rglob("ledger.db")
    with sqlite3.connect(file) as connection:
        connection.execute("DROP TABLE readings")
    connection.close()
    assert curator.ask(CITY, epsilon="0.2").repeated
    assert not curator.ask(CITY + " LIMIT 1", epsilon="0.2").repeated
    assert curator.ask(CITY + " LIMIT 2", epsilon="0.2").repeated
    assert spent(curator) == Fraction("0.4")
    assert curator.ledger.verify().sound


def test_many_at_once_never_share_what_is_not_paid(tmp_path):
    """Whoever finds nothing stored pays; all receipts hold."""
    curator = opened(tmp_path)
    questions = [CITY + f" LIMIT {n % 3 + 1}" for n in range(12)]
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda question: curator.ask(question, epsilon="0.1"), questions))
    assert Fraction("0.1") <= spent(curator) <= Fraction("0.3")  # at most once for each distinct question
    for answer in answers:
        holds(curator, answer)


def test_a_shared_receipt_that_lies_is_found(tmp_path):
    """Each changed place, noise or reading, signed again by the same key."""
    curator = opened(tmp_path)
    first = curator.ask(CITY, epsilon="0.3")
    other = curator.ask("SELECT COUNT(*) AS n FROM visits", epsilon="0.3")
    shared = curator.ask(CITY + " LIMIT 2", epsilon="0.2").receipt
    assert dp.verify(shared, catalog=curator.catalog, ledger=curator.ledger).holds
    place = shared["shared"]["readings"][0]
    own = {"readings": [place], "keys": None}

    def at(**changes) -> dict:
        return {"shared": own | {"readings": [place | changes]}}

    beyond = [  # what the one file cannot know without the ledger
        at(request=other.receipt["request"]), at(part=1), {"answer_sha256": "0" * 64}, {"catalog_sha256": "0" * 64},
        {"price": shared["price"] | {"amount": "1"}},
    ]
    lies = [
        *beyond, at(position=other.receipt["ledger"]["position"]), at(head="0" * 64), at(number=1),
        {"shared": {"readings": [None], "keys": None}}, {"shared": own | {"keys": place | {"number": None}}},
        {"readings": [shared["readings"][0] | {"scale": "1"}]}, {"analyst": "bo"}, {"protects": "dogs"},
        {"data_version": 7},
    ]
    for lie in lies:
        body = {name: part for name, part in (shared | lie).items() if name != "signature"}
        signed = body | {"signature": curator.key.sign(canonical_text(body).encode())}
        beside = dp.verify(signed, catalog=curator.catalog, ledger=curator.ledger)
        steps = standalone.steps(signed, curator.key.public, others=[first.receipt, other.receipt])
        assert not beside.holds, lie
        assert not all(step[1] for step in steps) or lie in beyond, lie


def test_names_tell_apart_all_that_matters_and_nothing_else(tmp_path):
    curator = opened(tmp_path)
    ours = curator.catalog

    def name(question: str, catalog=ours, analyst: str = "ann", keys: str = "") -> str:
        return reading_name(curator.plan(question), Ask("rows"), catalog, analyst, selection=keys)

    same = {name(question) for question in [CITY, *VARIANTS.values()]}
    assert same == {name("SELECT city, COUNT(*) AS n, AVG(age) AS a FROM visits GROUP BY city")}
    where = "SELECT city AS a, COUNT(*) AS n FROM visits WHERE {} GROUP BY city"
    apart = [
        name(CITY), name(CITY, analyst="bo"), name(CITY, replace(ours, data_version=ours.data_version + 1)),
        name(CITY, replace(ours, protects="dogs")), name(CITY, keys="x"), name("SELECT COUNT(*) AS n FROM visits"),
        name(where.format("age > 1")), name(where.format("age > 2")), name(where.format("seen")),
        name("SELECT dose, COUNT(*) AS n FROM visits GROUP BY dose"),
        name("SELECT city, dose, COUNT(*) AS n FROM visits GROUP BY city, dose"),
    ]
    assert len(set(apart)) == len(apart)


def sequence(seed: int, directory) -> None:
    """A random sequence of questions against the model."""
    draw = random.Random(seed)
    curator = opened(directory, epsilon="1e6")
    entropy = curator.entropy = Counted()
    paid: dict[tuple[str, str], Fraction] = {}  # the largest share paid for each reading
    told: dict[tuple[str, Fraction, str], list] = {}
    receipts: list = []
    for _ in range(draw.randint(3, 8)):
        source, grouped = draw.choice(SOURCES), draw.random() < 0.5
        names = draw.sample(list(NEEDS), draw.randint(1, 3))
        columns = ", ".join(f"{name} AS c{n}" for n, name in enumerate(names))
        tail = draw.choice(TAILS) if grouped else ""
        group = " GROUP BY city" if grouped else ""
        question = f"SELECT {columns} FROM visits{source}{group}{tail.replace(' HAVING', ' HAVING')}"
        price, fresh = Fraction(draw.randint(1, 6), 10), draw.random() < 0.1
        level = draw.choice(["0.95", "0.9"])
        needed = {reading: None for name in names for reading in NEEDS[name]}
        needed |= {"rows": None} if "HAVING" in tail else {}
        share = price / len(needed)
        key = (question, price, level)
        missing = [one for one in needed if fresh or paid.get((source + group, one), 0) < share]
        before, drawn = spent(curator), entropy.asked
        answer = curator.ask(question, epsilon=price, fresh=fresh, confidence=level)
        if key in told and not fresh:
            assert (spent(curator), list(answer.rows)) == (before, told[key]), question
        else:
            assert spent(curator) - before == share * len(missing), (seed, question, missing)
        if spent(curator) == before:
            assert entropy.asked == drawn, question
        for one in needed:
            if one in missing and spent(curator) > before:
                paid[source + group, one] = max(share, paid.get((source + group, one), Fraction(0)))
        told.setdefault(key, list(answer.rows))
        holds(curator, answer)
        receipts.append(answer.receipt)
    assert standalone.steps(receipts[0], curator.key.public, others=receipts[1:])[-1][1]
    assert curator.ledger.verify().sound


@pytest.mark.parametrize("part", range(80))
def test_any_sequence_of_questions_is_charged_for_new_readings_alone(tmp_path, part, tries):
    for number in range(tries):
        sequence(1000 * part + number, tmp_path / str(number))


def test_d6_columns_that_are_never_missing_are_counted_once(tmp_path):
    """COUNT(*), AVG(a), AVG(b) with `missing = 0` for both: one count and two sums, where it was three counts."""
    filled = {name: {"type": "integer", "bounds": [0, 9], "missing": 0} for name in ("a", "b")}
    columns = {"who": "text", **filled, "c": {"type": "integer", "bounds": [0, 9]}}
    declared = {
        "curator": {"protects": "people"}, "ledger": {"epsilon": 9},
        "tables": {"visits": {"unit": "who", "max_total": 2, "columns": columns}},
    }
    rows = {"who": list("pqrs"), "a": [1, None, 3, 4], "b": [None, 2, 3, 4], "c": [1, None, 1, 1]}
    curator = dp.open(declared, directory=tmp_path, visits=rows)
    curator.cut = False
    answer = curator.ask("SELECT COUNT(*) AS n, AVG(a) AS a, AVG(b) AS b, COUNT(a) AS m FROM visits", epsilon="0.3")
    asks = [(one["ask"]["what"], one["epsilon"]) for one in answer.receipt["readings"]]
    assert asks == [("rows", "1/10"), ("centred", "1/10"), ("centred", "1/10")]
    assert answer.rows[0][0] == answer.rows[0][3]
    holds(curator, answer)
    quote = curator.quote("SELECT COUNT(*) AS n, AVG(c) AS c FROM visits", epsilon="0.3")
    _, told = counted_apart(quote)
    assert told.startswith("c: it may be missing, so its rows are counted apart; a value declared for missing ones")
    assert told.endswith("saves 1 of 3 noisy queries")
    assert counted_apart(curator.quote("SELECT COUNT(*) AS n, AVG(a) AS a FROM visits", epsilon="0.3")) == []


def clinic(directory, **ledger):
    """Keys nobody listed, of 4 to 8 units each."""
    table = {
        "unit": "who", "max_total": 3,
        "columns": {"who": "text", "town": {"type": "text", "keys": "unknown"},
                    "age": {"type": "integer", "bounds": [0, 100]}},
    }
    sizes = {f"t{n:02}": 4 + n % 5 for n in range(20)}
    towns = [town for town, size in sizes.items() for _ in range(size)]
    rows = {"who": [f"p{n}" for n in range(len(towns))], "town": towns, "age": [n % 90 for n in range(len(towns))]}
    declared = {
        "curator": {"protects": "people", "salt": "00" * 16}, "ledger": {"epsilon": 99, "delta": "1e-1"},
        "tables": {"visits": table},
    }
    found = dp.open(declared, directory=directory, visits=rows)
    found.cut = False
    return found


TOWN = "SELECT town, {} FROM visits GROUP BY town"


def test_the_keys_of_each_question_of_a_batch_are_a_selection_of_its_own(tmp_path):
    """Two selections of one charge choose different keys: a reading of one is never beside the keys of the other."""
    curator = clinic(tmp_path)
    questions = [TOWN.format("COUNT(*) AS n"), TOWN.format("SUM(age) AS s")]
    counts, sums = curator.batch(questions, epsilon="4", delta="1e-3")
    free = curator.ask(questions[1] + " ORDER BY town", epsilon="2", delta="5e-4")
    assert dict(free.rows) == dict(sums.rows)
    more = TOWN.format("SUM(age) AS s, COUNT(*) AS u")
    part = curator.ask(more, epsilon="2.1", delta="5e-4")
    stored = ({row[0]: row[1] for row in part.rows}, {row[0]: row[2] for row in part.rows})
    assert stored[0] == dict(sums.rows) or stored[1] == dict(counts.rows)  # either is used: each leaves as much to pay
    for answer in (counts, sums, free, part):
        holds(curator, answer, [counts.receipt, sums.receipt])


def test_of_several_selections_the_one_that_leaves_least_to_pay_is_used(tmp_path):
    curator = clinic(tmp_path)
    curator.ask(TOWN.format("COUNT(*) AS n"), epsilon="2", delta="1e-3")
    fine = curator.ask(TOWN.format("SUM(age) AS s"), epsilon="4", delta="2e-3")
    before = spent(curator)
    again = curator.ask(TOWN.format("SUM(age) AS s") + " LIMIT 100", epsilon="2", delta="1e-3")
    assert (spent(curator), list(again.rows)) == (before, list(fine.rows))


def test_a_batch_of_which_some_was_paid_before_is_one_request_all_the_same(tmp_path, monkeypatch):
    """Asked again, with or without an id, after whatever was stored since: no charge, and the same numbers; and a
    charge without an answer is resumed."""
    curator = opened(tmp_path)
    seen, gain = "SELECT COUNT(*) AS n FROM visits WHERE seen", "SELECT SUM(gain) AS g FROM visits"
    curator.ask(CITY, epsilon="0.4")
    first = curator.batch([CITY, seen, gain], epsilon="0.6", request_id="job1")
    paid = spent(curator)
    assert paid == Fraction("0.8")
    assert first[0].paid_before
    curator.ask(seen, epsilon="3")  # a finer one: what was asked before stays as it was
    again = curator.batch([CITY, seen, gain], epsilon="0.6", request_id="job1")
    assert [answer.rows for answer in again] == [answer.rows for answer in first]
    assert [answer.rows for answer in curator.batch([CITY, seen, gain], epsilon="0.6")] == [one.rows for one in first]
    assert spent(curator) == paid + 3
    for answer in (*first, *again):
        holds(curator, answer)
    with monkeypatch.context() as patched:
        patched.setattr(dp.Curator, "_evaluate", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            curator.batch([CITY, gain + " WHERE age > 3", seen + " AND age > 9"], epsilon="0.6")
    paid = spent(curator)
    curator.ask(gain + " WHERE age > 3", epsilon="0.5")
    answers = curator.batch([CITY, gain + " WHERE age > 3", seen + " AND age > 9"], epsilon="0.6")
    assert spent(curator) == paid + Fraction("0.5")
    for answer in answers:
        holds(curator, answer)
    assert curator.ledger.verify().sound
    assert curator.together() is not None


def test_a_reading_of_other_rows_is_found_beside_the_ledger_alone(tmp_path):
    """A shared receipt that rests on the reading of another condition, signed by the key: the catalog is not needed."""
    curator = opened(tmp_path)
    where = "SELECT COUNT(*) AS n FROM visits WHERE {}"
    right = curator.ask(where.format("seen"), epsilon="0.3")
    wrong = curator.ask(where.format("age > 40"), epsilon="0.3")
    shared = curator.ask(where.format("seen") + " LIMIT 1", epsilon="0.3").receipt
    place = shared["shared"]["readings"][0] | {
        "position": wrong.receipt["ledger"]["position"], "head": wrong.receipt["ledger"]["head"],
        "request": wrong.receipt["request"],
    }
    lies = [{"shared": {"readings": [place], "keys": None}}, {"confidence": "7"}, {"selection": "x"}]
    for lie in lies:
        body = {name: part for name, part in (shared | lie).items() if name != "signature"}
        signed = body | {"signature": curator.key.sign(canonical_text(body).encode())}
        assert not dp.verify(signed, ledger=curator.ledger).holds, lie
        assert not all(step[1] for step in standalone.steps(signed, others=[right.receipt, wrong.receipt])), lie
    elsewhere = dp.verify(shared, catalog=replace(curator.catalog, data_version=9), ledger=curator.ledger)
    assert "give the catalog as it was" in str(elsewhere.not_checked)


def test_an_index_that_names_what_is_not_there_loses_a_reading_and_nothing_else(tmp_path):
    curator = opened(tmp_path)
    curator.ask(CITY, epsilon="0.2")
    name = reading_name(curator.plan(CITY), Ask("rows"), curator.catalog, "local")
    with curator.ledger._store.writing() as page:
        page.index(name, "nosuch")
    assert curator.ask(CITY + " LIMIT 1", epsilon="0.2").repeated
    curator.ask(CITY, epsilon="0.1", fresh=True)
    assert spent(curator) == Fraction("0.3")
    assert curator.ledger.verify().sound


def test_the_quote_of_a_repeat_is_free_and_one_made_by_hand_is_refused(tmp_path):
    curator = opened(tmp_path)
    curator.ask(CITY, epsilon="0.5")
    quote = curator.quote(CITY, epsilon="0.5")
    assert quote.cost == 0
    assert curator.answer(quote).repeated
    for held in ("x", 7):
        with pytest.raises(Refusal):
            curator.answer(replace(quote, held=held))
