"""H13: what a call rests on is resolved once a question, and read off its quote from then on."""

from __future__ import annotations

from dataclasses import replace

import pytest
from questions import ROWS, planned, quoted

import dpcurator.aggregates as room
from dpcurator.aggregates import AGGREGATES
from dpcurator.plan import stability
from dpcurator.plan.nodes import Rows
from dpcurator.pricing.resolve import resolve
from receipts import CATALOGS, curator


def test_each_call_names_its_readings_in_its_aggregates_order():
    """AVG(age) is the centred sum and then the count; COUNT(age) is that count again, SUM(cost) a third reading."""
    found = resolve(planned("SELECT AVG(age), SUM(cost), COUNT(age), AVG(age) / COUNT(*) FROM visits"))
    assert [ask.what for ask in found.asks] == ["centred", "present", "values", "rows"]
    assert [call.readings for call in found.calls] == [(0, 1), (2,), (1,), (3,)]
    assert [call.rule.function for call in found.calls] == ["AVG", "SUM", "COUNT", "COUNT"]


def test_what_is_public_has_no_reading():
    quote = quoted("SELECT COUNT(*), SUM(x), COUNT(x) FROM rows", catalog=replace(
        CATALOGS["pure"], tables=(ROWS,), neighbours="replace-one", units=9,
    ))
    assert [call.readings for call in quote.calls] == [(), (0,), (1,)]


@pytest.mark.parametrize("act", ["ask", "menu", "within", "batch"])
def test_the_fold_runs_once_and_each_rule_is_asked_once(act, monkeypatch):
    folds, asked = [], []

    def counted(rule):
        def asks(column, reach=None, /):
            asked.append(rule.function)
            return rule.asks(column, reach)

        return replace(rule, asks=asks)

    honest = stability.NODE_RULES[Rows]
    monkeypatch.setitem(stability.NODE_RULES, Rows, lambda node: folds.append(node) or honest(node))
    monkeypatch.setattr(room, "AGGREGATES", tuple(map(counted, AGGREGATES)))
    made = curator(CATALOGS["pure"])
    text = "SELECT AVG(age) AS a, COUNT(*) AS n FROM visits WHERE age > 18 GROUP BY city ORDER BY n"
    if act == "ask":
        made.ask(text, spend="5%")
    elif act == "menu":
        made.menu(text)
    elif act == "within":
        made.quote(text, within={"n": 500})
    else:
        made.batch([text], spend="5%")
    assert len(folds) <= {"ask": 1, "menu": 1, "within": 2, "batch": 2}[act]
    assert len(asked) == 2 * len(folds)
