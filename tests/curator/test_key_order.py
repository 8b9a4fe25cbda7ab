"""GROUP BY b, a after a, b is the same readings: free, nothing is drawn, and each number stands beside its own keys.

The law is by hand: the answer as a mapping from {column: key} to numbers is the same in any order of the columns.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest
from house import Counted, Fixed, holds, opened, spent

import dpcurator as dp
from dpcurator.plan import identity
from dpcurator.receipts import stored as storing
from dpcurator.standalone import verify as standalone

KEYS = ("city", "seen", "day")
COLUMNS = {"day": {"type": "date", "keys": ["2024-02-29", "2024-03-01", "2024-03-02"]}}


def asking(keys, what="COUNT(*) AS n, AVG(age) AS mean"):
    return f"SELECT {', '.join(keys)}, {what} FROM visits GROUP BY {', '.join(keys)}"


def by_name(answer, keys):
    """{column: key} -> the rest of the row."""
    return {frozenset(zip(keys, row, strict=False)): row[len(keys) :] for row in answer.rows}


@pytest.mark.parametrize("cut", [True, False])
def test_the_order_of_listed_keys_is_free_and_each_number_stays_with_its_keys(tmp_path, cut):
    curator = opened(tmp_path, columns=COLUMNS)
    curator.cut = cut
    paid_for = KEYS[1], KEYS[2], KEYS[0]
    curator.entropy = Fixed(3)
    first = curator.ask(asking(paid_for), epsilon="0.5")
    told = by_name(first, paid_for)
    assert len(set(told.values())) > 12  # of 18 groups: numbers in a wrong order would show
    entropy = curator.entropy = Counted()
    for keys in itertools.permutations(KEYS):
        assert curator.quote(asking(keys), epsilon="0.5").cost == 0
        again = curator.ask(asking(keys), epsilon="0.5")
        assert by_name(again, keys) == told
        assert [row[: len(keys)] for row in again.rows] == sorted(row[: len(keys)] for row in again.rows)
        holds(curator, again, [first.receipt])
        steps = {one: words for one, _, words in standalone.steps(again.receipt, others=[first.receipt])}
        assert "TRUST" not in steps.get("shared", "")
    assert (spent(curator), entropy.asked) == (Fraction(1, 2), 0)
    curator.entropy = Fixed(4)
    some = curator.ask(asking(KEYS, "SUM(age) AS s, COUNT(*) AS n"), epsilon="0.3")  # one is new: only that is paid
    assert 0 < some.cost < Fraction("0.3")
    assert [row[-1] for row in some.rows] == [told[frozenset(zip(KEYS, row, strict=False))][0] for row in some.rows]
    holds(curator, some, [first.receipt])
    assert curator.ledger.verify().sound


def test_questions_of_a_batch_in_two_orders_are_paid_once(tmp_path):
    curator = opened(tmp_path, columns=COLUMNS)
    one, other = KEYS[:2], KEYS[1::-1]
    batch = curator.batch([asking(one), asking(other)], epsilon="0.4")
    assert spent(curator) <= Fraction("0.4")
    assert by_name(batch[0], one) == by_name(batch[1], other)
    assert batch[1].cost == 0
    for answer in batch:
        holds(curator, answer, [batch[0].receipt])
    alone = curator.ask(asking(one), epsilon="0.4")
    assert alone.repeated
    assert spent(curator) <= Fraction("0.4")


def test_a_reading_stored_under_its_own_order_by_an_earlier_version_stays_free(tmp_path, monkeypatch):
    """Whichever order is the canonical one, the question as it was asked is free; its receipt holds."""
    curator = opened(tmp_path, columns=COLUMNS)
    name = identity.reading_name
    with monkeypatch.context() as earlier:
        earlier.setattr(storing, "reading_name", lambda *given, **words: name(*given, **words, as_asked=True))
        earlier.setattr(storing, "places_in_order", lambda plan: [0, 1])
        firsts = {keys: curator.ask(asking(keys), epsilon="0.1") for keys in (KEYS[:2], KEYS[1::-1])}
    before = spent(curator)
    entropy = curator.entropy = Counted()
    for keys in firsts:
        again = curator.ask(asking(keys) + " LIMIT 100", epsilon="0.1")
        assert by_name(again, keys) in [by_name(one, order) for order, one in firsts.items()]
        holds(curator, again, [one.receipt for one in firsts.values()])
    assert (spent(curator), entropy.asked) == (before, 0)


def test_places_that_are_no_order_of_the_keys_serve_nothing():
    catalog = {"curator": {"protects": "people"}, "ledger": {"epsilon": 4}, "tables": {"t": {
        "unit": "who", "max_total": 5, "columns": {"who": "text", "a": {"type": "text", "keys": ["x", "y"]},
                                                  "b": {"type": "integer", "keys": [1, 2, 3]}}}}}
    plan = dp.rehearsing(catalog).plan("SELECT a, b, COUNT(*) FROM t GROUP BY a, b")
    own = identity.places_in_order(plan)
    values = (10, 11, 12, 20, 21, 22)
    assert identity.reordered(values, plan, own) == values
    assert identity.reordered((10, 20, 11, 21, 12, 22), plan, own[::-1]) == values
    for places in ([0, 0], [0], [0, 1, 2], [1, 2]):
        assert identity.reordered(values, plan, places) is None
    assert identity.reordered(values[:5], plan, own) is None
