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
from dpcurator.cli.verify import verify_receipt
from dpcurator.pricing.joint_guarantee import KINDS, point_of
from dpcurator.privacy.loss import Loss
from dpcurator.receipts import verification
from dpcurator.receipts.loss import losses_of
from dpcurator.values import Request
from receipts import CATALOGS, json_of, signed
from receipts import curator as in_memory

DELTA = "1e-5"
BATCH = [f"SELECT COUNT(*) AS n FROM visits WHERE age >= {n}" for n in range(12)]
PRICE: dict[str, Any] = {"epsilon": 2, "delta": "1e-6", "as_one": True}


def house(tmp_path: Path, **more: Any) -> dp.Curator:
    return opened(tmp_path / "c", delta=DELTA, **more)


def charged(curator: dp.Curator) -> list[tuple[F, F]]:
    events = [entry.event for entry in curator.log()]
    return [(event.epsilon, event.delta) for event in events if event.NAME == "charged"]


def test_row_22_amounts_chosen_in_the_light_of_answers_are_summed_as_points(tmp_path, tries):
    """Each next batch follows from the last one's noise; what is spent is the exact sum of the points, to the end."""
    curator, asked, seen = house(tmp_path), 0, 0
    for _ in range(tries):
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
        # Where no point is below the sum, the quote is of what no earlier batch paid, and fresh pays all of it again.
        due = price["epsilon"] if quote.point is None else quote.epsilon
        assert after.spent - before.spent == due <= price["epsilon"]
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
    """In another order, as one, it is another request at its own price; members by themselves, for no more than they
    had in the batch, are what was drawn."""
    curator = house(tmp_path)
    first = curator.batch(BATCH, **PRICE)
    spent = curator.budget().spent
    alone = curator.ask(BATCH[0], epsilon="0.1")
    assert alone.rows == first[0].rows
    finer = curator.ask(BATCH[0], epsilon="0.5")
    assert not finer.repeated
    fewer = curator.batch(BATCH[:3], epsilon="0.3", delta="1e-6", as_one=True)
    assert all(answer.repeated for answer in fewer)  # three cost no less as one: one by one, and so paid before
    turned = curator.batch(BATCH[::-1], **PRICE)
    assert not any(answer.repeated for answer in turned)
    assert curator.budget().spent == 2 * spent + F(1, 2)


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


def vector(number: int) -> dict[str, Any]:
    """The parameters of a charge with Gaussian noise of a variance that no other has."""
    noise = {"mechanism": "discrete_gaussian", "coordinates": 2, "variance": str(10**4 + number), "l2_squared": 3}
    return {"mechanisms": [noise], "selection": None}


def test_together_counts_what_another_process_spends_while_it_reads():
    """The history and the totals are read one after the other; whatever is charged in between, no sum is too small."""
    made = in_memory(CATALOGS["approximate"])
    price = (F(1, 2), F(1, 10**4))

    def another(*_: Any) -> None:
        made.ledger.charge(Request("other", "p", "c", 1, "{}", *price), fresh=True)

    def then(read: Any) -> Any:
        def both() -> Any:
            found = read()
            another()
            return found

        return both

    another()
    made.ledger.budget, made.ledger.tally = then(made.ledger.budget), then(made.ledger.tally)
    found = made.together()
    assert found is not None
    assert found.method == "sum"
    assert found.epsilon >= found.charges * price[0]


def test_together_has_a_bound_for_any_history_and_any_delta():
    """More laws than are composed one by one, and numbers beyond what a law is made for: then each charge counts as its
    pure epsilon, by the optimal theorem of their number, and where no delta is there for that, by the sum."""
    made = in_memory(CATALOGS["approximate"])
    for number in range(180):
        made.ledger.charge(Request("a", "p", "c", 1, json.dumps(vector(number)), F(1, 100), F(0)), fresh=True)
    for scale in ("1e900", "1e-900"):
        said = {"mechanisms": [{"mechanism": "discrete_laplace", "scale": scale, "l1": 5}], "selection": None}
        made.ledger.charge(Request("a", "p", "c", 1, json.dumps(said), F(1, 100), F(0)), fresh=True)
    for delta, *bound in ((None, F(707, 2500), "optimal"), (F(1, 10**400), F(182, 100), "sum"),
                          (1 - F(1, 10**30), F(0), "optimal")):
        found = made.together(delta=delta)
        assert found is not None
        assert [found.epsilon, found.method] == bound


def test_no_point_is_searched_for_more_kinds_of_losses_than_a_batch_has():
    gaussian = [Loss("discrete_gaussian", {"variance": 10**4 + n, "shift": 1}) for n in range(1000)]
    assert point_of(gaussian, F(1, 10**9)) is None
    approximate = [Loss("approximate", {"epsilon": F(1, 10**6 + n), "delta": 0}) for n in range(KINDS + 1)]
    assert point_of(approximate, F(1, 10**9)) is None


@pytest.fixture(scope="module")
def paid() -> tuple[Any, list[Any]]:
    made = in_memory(CATALOGS["approximate"])
    answers = made.batch(BATCH, **PRICE)
    return made, [json_of(answer.receipt) for answer in answers]


@pytest.mark.parametrize("kinds", [1, 10**5], ids=["alike", "different"])
def test_a_receipt_with_losses_without_end_is_refused_before_they_are_put_together(paid, kinds):
    receipt = paid[1][0]
    own, *_ = receipt["batch"]["losses"]
    endless = [
        {"family": "discrete_laplace", "parameters": {"scale": str(10**7 + n % kinds), "shift": "1"}}
        for n in range(20_000)
    ]
    for other in (endless, endless[: 4000 if kinds > 1 else 20_000]):
        batch = receipt["batch"] | {"losses": [own, other, *([[]] * (len(BATCH) - 2))]}
        found = verification.verify(signed(receipt | {"batch": batch}))
        assert [step.name for step in found.steps if not step.holds] == ["batch"]


def test_receipts_of_one_charge_that_list_different_losses_do_not_hold_together(paid, tmp_path):
    """Each hides what the others lose, so each holds by itself and the point is far too small: without the ledger only
    all of them show it."""
    made, honest = paid
    place = tmp_path / "receipts.json"
    place.write_text(json.dumps(honest[:2]))
    assert verify_receipt(place, None, None).holds
    little = [{"family": "discrete_laplace", "parameters": {"scale": str(10**9), "shift": "1"}}]
    lies = []
    for receipt in honest[:2]:
        batch = receipt["batch"]
        losses = [one if n == batch["index"] else little for n, one in enumerate(batch["losses"])]
        delta = F(batch["point"]["delta"])
        least = point_of([Loss.from_json(loss) for one in losses for loss in one], delta)
        assert least is not None
        assert least.epsilon < F(batch["point"]["epsilon"]) / 10
        point = {"epsilon": str(least.epsilon), "delta": str(delta)}
        lies.append(signed(receipt | {"batch": batch | {"losses": losses, "point": point}}))
    assert all(verification.verify(lie).holds for lie in lies)
    assert not any(verification.verify(lie, ledger=made.ledger).holds for lie in lies)
    place.write_text(json.dumps(lies))
    wrong = [step for step in verify_receipt(place, None, None).steps if not step.holds]
    assert [step.name for step in wrong] == ["charges", "independent check"]
