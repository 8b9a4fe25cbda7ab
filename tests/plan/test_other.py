"""GROUP BY WITH_OTHER(...): where keys are unknown, all that are not shown in one more row."""

from __future__ import annotations

import json

import pytest
from questions import planned

import dpcurator as dp
from dpcurator.entropy import SystemEntropy
from dpcurator.errors import Refusal
from dpcurator.fronts.sql import parse
from dpcurator.language.render import render
from dpcurator.plan.canonical import as_json, plan_of
from dpcurator.plan.stability import stability
from dpcurator.receipts.verification import verify
from dpcurator.release.answer import answer_of
from dpcurator.release.finish import finish
from dpcurator.release.release import Noisy, release
from dpcurator.values import Exact
from receipts import CATALOGS, curator, json_of

TEXT = "SELECT city, COUNT(*) AS n FROM visits GROUP BY WITH_OTHER(city) ORDER BY n DESC"


@pytest.mark.parametrize("shown", [set(), {0}, {1, 2}, {0, 1, 2}])
def test_the_rest_is_the_sum_of_what_is_not_shown(shown, monkeypatch):
    quote = curator(CATALOGS["unknown"]).quote(TEXT, spend="50%")
    one, keys = quote.reach.one, [("c",), ("a",), (None,)]
    rows = [[one, 5 * one], [2 * one, 7 * one], [3 * one, 11 * one]]
    chosen = lambda self, counts, entropy=None: [number in shown for number in range(len(counts))]  # noqa: E731
    monkeypatch.setattr(type(quote.selecting.rule), "keep", chosen)  # no promise, to see what is done with the others
    monkeypatch.setattr(type(quote.priced[0].mechanism), "sample", lambda self, size, entropy: [0] * size)
    noisy = release(quote, Exact(rows, keys), SystemEntropy())
    ordered = [((None,), 11), (("a",), 7), (("c",), 5)]
    assert noisy.keys == tuple(key for number, (key, _) in enumerate(ordered) if number in shown)
    kept = [value for number, (_, value) in enumerate(ordered) if number in shown]
    assert noisy.readings == ((*(one * value for value in kept), one * (23 - sum(kept))),)
    assert noisy.other


def test_the_row_is_marked_and_sorted_like_any_other():
    quote = curator(CATALOGS["unknown"]).quote(TEXT, spend="50%")
    one = quote.reach.one
    cells = finish(quote, Noisy((("a",), ("b",)), ((3 * one, 90 * one, 40 * one),), other=True))
    assert [[cell.value for cell in row] for row in cells] == [["b", 90], [None, 40], ["a", 3]]
    assert [row[0].other for row in cells] == [False, True, False]
    answer = answer_of({"columns": ["city", "n"], "shown": ["text", "whole"], "confidence": "19/20", "notes": [],
                        "rows": [[cell.as_json() for cell in row] for row in cells]}, total=quote.cost)
    assert answer.cells == cells
    assert "(other)" in str(answer)


def test_a_condition_on_the_key_is_unknown_of_the_rest():
    text = "SELECT city, COUNT(*) AS n FROM visits GROUP BY WITH_OTHER(city) HAVING city <> 'a' OR n > 50"
    quote = curator(CATALOGS["unknown"]).quote(text, spend="50%")
    one = quote.reach.one
    for rest, rows in ((40, 1), (60, 2)):
        cells = finish(quote, Noisy((("a",), ("b",)), ((3 * one, 9 * one, rest * one),), other=True))
        assert len(cells) == rows


def test_it_is_asked_answered_repeated_and_verified():
    made = curator(CATALOGS["unknown"])
    answer = made.ask(TEXT, spend="20%")
    assert sum(row[0].other for row in answer.cells) == 1
    assert made.ask(TEXT, spend="20%").cells == answer.cells
    receipt = json_of(answer.receipt)
    assert verify(receipt, catalog=made.catalog).holds
    told = json.loads(json.dumps(receipt))
    told["plan"]["source"]["source"]["other"] = False
    assert not verify(told, catalog=made.catalog).holds


def test_it_costs_what_it_can_move():
    """The rest moves by all that a unit has: max_groups times as much as one key."""
    texts = (TEXT, TEXT.replace("WITH_OTHER(city)", "city"))
    assert [stability(planned(text, CATALOGS["unknown"]).source).other for text in texts] == [True, False]
    made = curator(CATALOGS["unknown"])
    (rest,), (plain,) = (made.quote(text, spend="5%").priced for text in texts)
    assert (rest.reading.linf, rest.reading.l1) == (2 * plain.reading.linf, plain.reading.l1)
    assert rest.reading.l2_squared == rest.reading.l1**2
    total = "by at most 8, all keys together by at most 8"
    assert rest.derivation[-1].endswith(f"moves one key, or all that are not shown, {total}")
    assert plain.derivation[-1].endswith("moves one key by at most 4, all keys together by at most 8")


def test_the_same_in_every_front():
    plan = planned(TEXT, CATALOGS["unknown"])
    assert plan_of(as_json(plan)) == plan
    assert parse(render(parse(TEXT))) == parse(TEXT)
    frame = curator(CATALOGS["unknown"]).table("visits").group_by("city").with_other().agg(n=dp.count())
    frame = frame.order_by("n", descending=True)
    assert frame.plan() == plan
    assert "GROUP BY WITH_OTHER(" in frame.sql()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("SELECT COUNT(*) FROM visits GROUP BY WITH_OTHER(ward)", "every key is listed"),
        ("SELECT COUNT(*) FROM visits GROUP BY WITH_OTHER()", "names nothing"),
        ("SELECT COUNT(*) FROM visits GROUP BY city, WITH_OTHER(ward)", "WITH_OTHER"),
        ("SELECT COUNT(*) FROM visits GROUP BY WITH_OTHER(WITH_OTHER(city))", "WITH_OTHER"),
        ("SELECT WITH_OTHER(city), COUNT(*) FROM visits GROUP BY city", "WITH_OTHER"),
        ("SELECT COUNT(DISTINCT patient) FROM visits GROUP BY WITH_OTHER(city)", "once for each of them"),
    ],
)
def test_what_it_is_not_for_is_refused(text, words):
    with pytest.raises(Refusal, match=words):
        planned(text, CATALOGS["unknown"])
