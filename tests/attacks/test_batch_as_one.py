"""Batches charged as one point under attack: by one who wants to learn more than is charged, and by processes at once.

Rows 18, 19, 20 and 22 of the catalogue, for a batch that spends epsilon and delta as one.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from fractions import Fraction as F
from pathlib import Path
from typing import Any

import pytest
from house import ROWS, catalog, opened

import dpcurator as dp
from dpcurator.accounting.composition import compose
from dpcurator.pricing.losses import losses_of

DELTA = "1e-5"
BATCH = [f"SELECT COUNT(*) AS n FROM visits WHERE age >= {n}" for n in range(40)]
PRICE: dict[str, Any] = {"epsilon": 2, "delta": "1e-6", "as_one": True}


def house(tmp_path: Path, **more: Any) -> dp.Curator:
    return opened(tmp_path / "c", delta=DELTA, **more)


def charged(curator: dp.Curator) -> list[tuple[F, F]]:
    events = [entry.event for entry in curator.log()]
    return [(event.epsilon, event.delta) for event in events if event.NAME == "charged"]


def test_row_22_amounts_chosen_in_the_light_of_answers_are_summed_as_points(tmp_path):
    """Each next batch follows from the last one's noise; what is spent is the exact sum of the points, to the end."""
    curator, asked, seen = house(tmp_path), 0, 0
    for _ in range(20):
        part, price = (
            BATCH[seen % 7 :],
            {"epsilon": F(5 + seen % 3, 2), "delta": F(2 + seen % 4, 10**6), "as_one": True},
        )
        quote, before = curator.quote_batch(part, **price), curator.budget()
        try:
            answers = curator.batch(part, **price, fresh=True)
        except dp.OverBudget:
            break
        after = curator.budget()
        assert after.spent - before.spent == quote.epsilon <= price["epsilon"]
        assert after.spent_delta - before.spent_delta == quote.delta <= price["delta"]
        seen, asked = abs(int(answers[0].rows[0][0])), asked + 1
    else:
        raise AssertionError("nothing was refused")
    assert asked > 1
    budget = curator.budget()
    assert budget.spent == sum(epsilon for epsilon, _ in charged(curator)) <= budget.total
    assert budget.spent_delta == sum(delta for _, delta in charged(curator)) <= budget.delta
    assert curator.ledger.verify().sound


def test_row_20_the_charge_covers_all_that_is_released(tmp_path):
    """The releases' own losses, from the receipts, with a certified lower bound: no charge is below it."""
    curator = house(tmp_path)
    answers = curator.batch([*BATCH, *BATCH[:5]], **PRICE)
    receipts = {answer.receipt["batch"]["index"]: answer.receipt for answer in answers if answer.receipt}
    assert len(receipts) == len(BATCH)
    released = [
        loss
        for receipt in receipts.values()
        for loss in losses_of({"mechanisms": receipt["readings"], "selection": receipt["selection"]})
    ]
    ((epsilon, delta),) = charged(curator)
    found = compose(*released).bracket(delta=delta, accuracy="1e-3")
    assert found.lower <= found.upper <= epsilon < 2
    assert [receipt["batch"]["losses"][index] for index, receipt in receipts.items()] == [
        [loss.as_json()] for loss in released
    ]


def test_row_20_a_batch_in_parts_is_not_paid_by_the_whole(tmp_path):
    """Members by themselves, fewer of them, or in another order are other requests, at their own price."""
    curator = house(tmp_path)
    curator.batch(BATCH, **PRICE)
    spent = curator.budget().spent
    alone = curator.ask(BATCH[0], epsilon="0.05")
    assert not alone.repeated
    fewer = curator.batch(BATCH[:3], epsilon="0.15", delta="1e-6", as_one=True)
    assert not any(answer.repeated for answer in fewer)
    turned = curator.batch(BATCH[::-1], **PRICE)
    assert not any(answer.repeated for answer in turned)
    assert curator.budget().spent == 2 * spent + F(1, 20) + F(3, 20)


def test_row_20_a_request_id_holds_one_way_of_paying(tmp_path):
    curator = house(tmp_path)
    curator.batch(BATCH, **PRICE, request_id="night")
    before = curator.budget()
    for other in ({"as_one": False}, {"delta": "2e-6"}, {"epsilon": 3}):
        with pytest.raises(dp.Refusal, match="already belongs"):
            curator.batch(BATCH, **{**PRICE, **other}, request_id="night")
    assert curator.budget() == before
    assert all(answer.repeated for answer in curator.batch(BATCH, **PRICE, request_id="night"))


def test_the_price_is_the_same_whatever_the_data(tmp_path):
    """Quotes, points and refusals of neighbouring data are letter for letter the same."""
    said = []
    for number, rows in enumerate((ROWS, ROWS[2:], [])):
        curator = opened(tmp_path / str(number), rows, delta=DELTA)
        quote = curator.quote_batch(BATCH, **PRICE)
        answers = curator.batch(BATCH, **PRICE)
        with pytest.raises(dp.OverBudget) as over:
            curator.batch(BATCH, epsilon=2, delta="9.5e-6", as_one=True)
        said.append((quote.as_json(), [one.receipt["batch"] for one in answers if one.receipt], over.value.as_json()))
    assert said[0] == said[1] == said[2]


def test_row_18_many_at_once_pay_for_two_points_where_there_is_delta_for_two(tmp_path):
    opened(tmp_path / "c", delta="2e-6").ledger.close()
    curators = [dp.open(catalog(delta="2e-6"), directory=tmp_path / "c") for _ in range(5)]
    barrier, shown, over = threading.Barrier(5), [], []

    def one(curator: dp.Curator) -> None:
        curator.engine()
        curator.quote_batch(BATCH, **PRICE)
        barrier.wait()
        try:
            shown.append(curator.batch(BATCH, **PRICE, fresh=True))
        except dp.OverBudget as refused:
            over.append(refused.currency)

    threads = [threading.Thread(target=one, args=(curator,)) for curator in curators]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(shown), over) == (2, ["delta"] * 3)
    assert curators[0].budget().remaining_delta == 0
    assert len(charged(curators[0])) == 2
    for curator in curators:
        curator.ledger.close()


def test_row_18_and_19_two_processes_pay_one_point_once_and_a_third_repeats_it(tmp_path):
    house(tmp_path).ledger.close()
    script = (
        "import json, sys, dpcurator as dp; told = json.loads(sys.argv[1]); "
        "c = dp.open(told['catalog'], directory=told['place']); c.engine(); "
        "print(json.dumps([[a.rows, a.receipt] for a in c.batch(told['batch'], **told['price'])]))"
    )
    told = {"catalog": catalog(delta=DELTA), "place": str(tmp_path / "c"), "batch": BATCH, "price": PRICE}
    command = [sys.executable, "-c", script, json.dumps(told)]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    shown = [json.loads(one.communicate(timeout=300)[0]) for one in both]
    assert shown[0] == shown[1]
    curator = dp.open(catalog(delta=DELTA), directory=tmp_path / "c")
    point = curator.quote_batch(BATCH, **PRICE).point
    assert point is not None
    assert charged(curator) == [(point.epsilon, point.delta)]
    assert all(curator.verify(receipt).holds for _, receipt in shown[0][::13])
    assert [answer.rows for answer in curator.batch(BATCH, **PRICE)] == [
        [tuple(row) for row in rows] for rows, _ in shown[0]
    ]
