"""Sharpening: what is paid, the mean and its bar, what is not averaged, and that nothing is free of charge."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from fractions import Fraction

import pytest
from house import CATALOG, ROWS, Counted, frame, holds, opened, spent

import dpcurator as dp
from dpcurator.cli.verify import verify_content
from dpcurator.errors import Refusal
from dpcurator.mechanisms.noise.sums import error_of_sum
from dpcurator.mechanisms.noise.weighted import WeightedSum
from dpcurator.receipts.form import Wrong
from dpcurator.receipts.mean import check_mean
from dpcurator.receipts.stored import releases_of
from dpcurator.release.finish import finish
from dpcurator.release.release import Noisy
from dpcurator.release.sharpened import sharpened

ASKED = "SELECT city, COUNT(*) AS n, AVG(age) AS a, SUM(gain) AS g FROM visits GROUP BY city"


@pytest.mark.slow
@pytest.mark.parametrize("money", [
    {"epsilon": 100}, {"rho": 100, "delta": "1e-6"}])
def test_each_release_is_paid_and_the_mean_is_of_all_of_them(tmp_path, money):
    price = {"epsilon": 1} if "epsilon" in money else {"rho": "0.1"}
    curator = dp.open({**CATALOG, "ledger": money}, directory=tmp_path, visits=frame(ROWS), refresh=True)
    curator.cut = False
    first = curator.ask(ASKED, **price)
    whole = curator._whole(ASKED, price)
    for count in (2, 3):
        entropy = curator.entropy = Counted()
        mean = curator.ask(ASKED, **price, sharpen=True)
        assert entropy.asked > 0
        assert spent(curator) == count * first.cost == count * mean.cost
        releases = releases_of(whole, curator.ledger, "local")
        assert len(releases) == count
        assert [receipt["request"] for receipt, _ in releases] == [one["request"] for one in mean.sharpened]
        assert mean.sharpened[0] == first.receipt
        for number, one in enumerate(whole.priced):  # by hand: the mean of the integers, with the bar of their sum
            if one.ask.what != "rows":
                continue
            error = error_of_sum(one.mechanism, count, 1 - whole.confidence) * one.reading.unit / count
            drawn = zip(*(parts[number][1] for _, parts in releases), strict=True)
            for row, values in zip(mean.cells, drawn, strict=True):
                middle = sum(values) * one.reading.unit / count
                assert abs(row[1].value - middle) <= Fraction(1, 2)
                assert Fraction(row[1].low) <= middle - error
                assert Fraction(row[1].low) >= middle - error - Fraction(1, 1000)
    assert max(mean.error("n")) < max(first.error("n")) * 0.75
    for receipt in mean.sharpened:
        assert dp.verify(receipt, catalog=curator.catalog, ledger=curator.ledger).holds
    holds(curator, mean.adds_up)


@pytest.mark.slow
def test_in_rho_nothing_is_lost_by_paying_in_parts(tmp_path):
    """The bar of the mean of k releases at rho is that of one at k rho, to within what a bound of a sum leaves."""
    curator = dp.open({**CATALOG, "ledger": {"rho": 100, "delta": "1e-6"}}, directory=tmp_path, visits=frame(ROWS),
                      refresh=True)
    asked = "SELECT COUNT(*) AS n FROM visits"
    for _ in range(4):
        mean = curator.ask(asked, rho="0.001", cut=False, sharpen=True)
    once = curator.quote(asked, rho="0.004", cut=False, analyst="another")
    (bar,) = once.as_json()["error_bars"]
    assert abs(mean.error("n")[0] / bar["error"] - 1) < 0.03  # of some 40, and a shown count is off by a half


def test_the_mean_covers_as_the_law_of_a_sum_says_and_no_other_weights_are_used(tmp_path):
    whole = opened(tmp_path)._whole("SELECT COUNT(*) AS n FROM visits", {"epsilon": 1})
    one = whole.priced[0]
    quote, noisy = sharpened(whole, [[(one, (count * 2**16,))] for count in (10, 40, -20)])
    assert quote.priced[0].reading.unit * 3 == one.reading.unit
    assert noisy == Noisy(whole.lowered.keys, ((30 * 2**16,),), added=(3,))
    ((cell,),) = finish(quote, noisy)
    assert cell.value == 10
    assert Fraction(cell.error) >= error_of_sum(one.mechanism, 3, Fraction(1, 20)) * one.reading.unit / 3
    ((alone,),) = finish(*sharpened(whole, [[(one, (10 * 2**16,))]]))
    assert alone == finish(whole, Noisy(whole.lowered.keys, ((10 * 2**16,),)))[0][0]


@pytest.mark.slow
def test_totals_of_a_mean_have_the_bar_of_all_their_draws(tmp_path):
    curator = opened(tmp_path, epsilon=100)
    for _ in range(3):
        mean = curator.ask("SELECT city, COUNT(*) AS n FROM visits GROUP BY city", epsilon=1, sharpen=True)
    total = mean.totals("n", by=[])
    one = mean.parts.quote.priced[0]
    error = error_of_sum(one.mechanism, 9, Fraction(1, 20)) * one.reading.unit
    assert error <= Fraction(total.error("n")[0]) <= error + 1
    assert "of 3 groups" in str(total)
    assert "sharpened" not in total.as_json()
    rolled = curator.ask("SELECT city, COUNT(*) AS n FROM visits GROUP BY ROLLUP(city)", epsilon=1, sharpen=True)
    assert len(rolled.sharpened) == 1  # another question: the others' receipts are not of it


@pytest.mark.parametrize("asked", ["SELECT city, COUNT(*) AS n FROM visits GROUP BY city",
                                   pytest.param(ASKED, marks=pytest.mark.slow)])
def test_releases_at_other_prices_count_by_inverse_variance(tmp_path, asked):
    """By hand: of epsilon 1 and 2 the second has a quarter of the variance, so four times the weight; and the bar is
    that of the weighted sum. Both verifiers find it so, and not with another weight."""
    curator = opened(tmp_path, epsilon=100)
    curator.ask(asked, epsilon=1)
    mean = curator.ask(asked, epsilon=2, sharpen=True)
    assert (spent(curator), mean.cost, len(mean.sharpened)) == (3, 2, 2)
    assert "the mean of 2 releases at epsilon 1 and 2, weighted by inverse variance, receipts" in str(mean)
    releases = releases_of(curator._whole(asked, {"epsilon": 2}), curator.ledger, "local")
    ((one, first), (other, second)) = (parts[0] for _, parts in releases)
    assert one.mechanism.scale == 2 * other.mechanism.scale
    bar = WeightedSum(((one.mechanism, 1, 1), (other.mechanism, 4, 1))).error(1 - mean.confidence)
    assert bar < 5 * other.mechanism.error(1 - mean.confidence)
    for row, a, b in zip(mean.cells, first, second, strict=True):
        assert abs(row[1].value - (a + 4 * b) * one.reading.unit / 5) <= Fraction(1, 2)
        assert Fraction(row[1].error) >= bar * one.reading.unit / 5
        assert Fraction(row[1].error) <= bar * one.reading.unit / 5 + Fraction(1, 2)
    told = json.loads(json.dumps(mean.as_json()))
    beside = {"catalog": curator.catalog, "ledger": curator.ledger}
    found = verify_content(told, json.dumps(told).encode(), None, curator.key.public, **beside)
    assert found.holds, str(found)
    for change in ({"value": told["rows"][0][1]["value"] + 1}, {"error": told["rows"][0][1]["error"] - 0.5}):
        forged = copy.deepcopy(told)
        forged["rows"][0][1] |= change
        steps = verify_content(forged, json.dumps(forged).encode(), None, curator.key.public, **beside).steps
        assert [step.name for step in steps if not step.holds] == ["mean"]
    total = mean.totals("n", by=[])
    three = WeightedSum(((one.mechanism, 1, 3), (other.mechanism, 4, 3))).error(1 - mean.confidence)
    assert three * one.reading.unit / 5 <= Fraction(total.error("n")[0]) <= three * one.reading.unit / 5 + 1


@pytest.mark.parametrize(("title", "counted"), [("n", 2), ("m", 1)])
def test_a_request_that_is_repeated_is_in_the_mean_also_where_its_readings_are_noted_nowhere(tmp_path, title, counted):
    """A release with more noise than a stored one, also of another question with the same readings, is not noted."""
    curator = opened(tmp_path, epsilon=100)
    asked = "SELECT city, COUNT(*) AS {} FROM visits GROUP BY city"
    curator.ask(asked.format("n"), epsilon=1)
    curator.ask(asked.format(title), epsilon="0.5", fresh=True, request_id="mine")
    mean = curator.ask(asked.format(title), epsilon="0.5", sharpen=True, request_id="mine")
    assert (spent(curator), mean.cost, mean.repeated) == (Fraction(3, 2), Fraction(1, 2), True)
    assert mean.sharpened[-1]["request"] == "mine"
    assert len(mean.sharpened) == counted
    told = json.loads(json.dumps(mean.as_json()))
    found = verify_content(told, json.dumps(told).encode(), None, curator.key.public, catalog=curator.catalog,
                           ledger=curator.ledger)
    assert found.holds, str(found)
    alone = verify_content(told, json.dumps(told).encode(), None, curator.key.public, ledger=curator.ledger)
    assert any("the values are the mean" in one for one in alone.not_checked)


@pytest.mark.slow
def test_in_rho_unlike_prices_lose_nothing_either(tmp_path):
    """The bar of releases at .001 and .003 is that of one at .004."""
    curator = dp.open({**CATALOG, "ledger": {"rho": 100, "delta": "1e-6"}}, directory=tmp_path, visits=frame(ROWS),
                      refresh=True)
    asked = "SELECT COUNT(*) AS n FROM visits"
    curator.ask(asked, rho="0.001", cut=False)
    mean = curator.ask(asked, rho="0.003", cut=False, sharpen=True)
    once = curator.quote(asked, rho="0.004", cut=False, analyst="another")
    (bar,) = once.as_json()["error_bars"]
    assert abs(mean.error("n")[0] / bar["error"] - 1) < 0.03
    assert "at rho 0.001 and 0.003, weighted" in str(mean)


def test_repeats_stay_as_they_were(tmp_path):
    curator = opened(tmp_path, epsilon=100)
    asked = "SELECT COUNT(*) AS n FROM visits"
    first = curator.ask(asked, epsilon=1)
    curator.ask(asked, epsilon=1, sharpen=True)
    assert curator.ask(asked, epsilon=1).cells == first.cells
    assert spent(curator) == 2
    named = curator.ask(asked, epsilon=1, sharpen=True, request_id="mine")
    again = curator.ask(asked, epsilon=1, sharpen=True, request_id="mine")
    assert (spent(curator), again.cells, len(again.sharpened)) == (3, named.cells, 3)
    other = curator.ask(asked, epsilon=1, sharpen=True, analyst="another")
    assert len(other.sharpened) == 1
    assert "the first release, receipt " in str(other)


def test_a_mean_says_what_it_is_made_of(tmp_path):
    curator = opened(tmp_path, epsilon=100)
    asked = "SELECT COUNT(*) AS n FROM visits"
    curator.ask(asked, epsilon=1)
    mean = curator.ask(asked, epsilon=1, sharpen=True)
    told = json.loads(json.dumps(mean.as_json()))
    assert (told["receipt"], len(told["sharpened"]), told["cost"]) == (None, 2, "1")
    assert "the mean of 2 releases at epsilon 1 each, receipts" in str(mean)
    assert not mean.public
    assert replace(mean, sharpened=()).sharpened == ()


@pytest.mark.parametrize(("asked", "words"), [
    ("SELECT MEDIAN(age) AS m FROM visits", "chosen"), ("SELECT MODE(city) AS m FROM visits", "chosen"),
])
def test_what_has_no_mean_is_refused_before_it_is_paid(tmp_path, asked, words):
    curator = opened(tmp_path)
    with pytest.raises(Refusal, match=words):
        curator.ask(asked, epsilon=1, sharpen=True)
    with pytest.raises(Refusal, match="pays for new noise already"):
        curator.ask("SELECT COUNT(*) AS n FROM visits", epsilon=1, sharpen=True, fresh=True)
    assert spent(curator) == 0


@pytest.mark.slow
def test_a_printed_mean_is_checked_by_both_verifiers(tmp_path):
    """Each release by its receipt; the mean beside the ledger, from its integers: what was changed is found."""
    curator = opened(tmp_path, epsilon=100)
    for _ in range(3):
        mean = curator.ask(ASKED, epsilon=1, sharpen=True)
    told = mean.as_json()

    def holds_(content, ledger=True):
        beside = {"catalog": curator.catalog, "ledger": curator.ledger} if ledger else {}
        found = verify_content(content, json.dumps(content).encode(), None, curator.key.public, **beside)
        return found.holds, [step.name for step in found.steps if not step.holds], found.not_checked

    assert holds_(told)[0], holds_(told)
    alone = holds_(told, ledger=False)
    assert alone[0]
    assert any("mean" in what for what in alone[2])
    for change in (lambda it: it["rows"][0][1].update(value=it["rows"][0][1]["value"] + 1),
                   lambda it: it["rows"][0][1].update(error=1.0), lambda it: it["sharpened"].pop()):
        forged = copy.deepcopy(told)
        change(forged)
        assert holds_(forged)[1] == ["mean"]
    assert holds_(told | {"confidence": "9/10"})[1] == ["mean", "independent check"]
    twice = copy.deepcopy(told)
    twice["sharpened"][1] = twice["sharpened"][0]
    assert "mean" in holds_(twice)[1]
    wrong = copy.deepcopy(told)
    wrong["sharpened"][1]["epsilon"] = "2"
    assert not holds_(wrong)[0]
    assert not holds_(wrong, ledger=False)[0]
    for odd in ([], [3], ["x"], 7, "text", {"a": 1}):
        assert not holds_(told | {"sharpened": odd})[0]


def test_releases_of_the_same_readings_in_another_question_are_no_part_of_a_mean(tmp_path):
    """Under another title or confidence, or in another order: their receipts are of another question, so both
    verifiers would take a mean of them for a forged one."""
    curator = opened(tmp_path, epsilon=100)
    asked = "SELECT COUNT(*) AS n FROM visits"
    curator.ask("SELECT COUNT(*) AS m FROM visits", epsilon=1)
    curator.ask(asked, epsilon=1, confidence="0.9", fresh=True)
    for count in (1, 2):
        mean = curator.ask(asked, epsilon=1, sharpen=True)
        told = json.loads(json.dumps(mean.as_json()))
        assert len(mean.sharpened) == count
        assert verify_content(told, json.dumps(told).encode(), None, curator.key.public, catalog=curator.catalog,
                              ledger=curator.ledger).holds


@pytest.mark.slow
def test_what_is_no_mean_of_releases_is_found_without_the_ledger_too(tmp_path):
    """Each receipt is true, and together they are none: of chosen medians, of analysts, of confidences."""
    curator = opened(tmp_path, epsilon=100)
    chosen, count = "SELECT MEDIAN(age) AS m FROM visits", "SELECT COUNT(*) AS n FROM visits"
    medians = [curator.ask(chosen, epsilon=1, fresh=True).as_json() for _ in range(2)]
    counts = [curator.ask(count, epsilon=1, fresh=True, analyst=analyst).as_json() for analyst in ("local", "another")]
    other = curator.ask(count, epsilon=1, fresh=True, confidence="0.9").as_json()
    good = curator.ask(count, epsilon=1, fresh=True).as_json()
    for each, right in ((medians, False), (counts, False), ([counts[0], other], False), ([counts[0], good], True)):
        told = each[0] | {"receipt": None, "sharpened": [one["receipt"] for one in each]}
        steps = verify_content(told, json.dumps(told).encode(), None, curator.key.public).steps
        assert [step.holds for step in steps if step.name in ("mean", "independent check")] == [right, right]
    told = counts[0] | {"receipt": None, "sharpened": [counts[0]["receipt"], good["receipt"]], "confidence": "9/10"}
    steps = verify_content(told, json.dumps(told).encode(), None, curator.key.public).steps
    assert [step.name for step in steps if not step.holds] == ["mean", "independent check"]


def test_what_is_printed_beside_a_mean_is_what_its_receipts_say(tmp_path):
    curator = opened(tmp_path, epsilon=100)
    for _ in range(2):
        mean = curator.ask("SELECT COUNT(*) AS n FROM visits", epsilon=1, sharpen=True, cut=False, request_id="mine")
    told = json.loads(json.dumps(mean.as_json()))
    assert mean.repeated
    fresh = json.loads(json.dumps(curator.ask(
        "SELECT COUNT(*) AS n FROM visits", epsilon=1, sharpen=True, cut=False).as_json()))
    for one in (told, fresh):
        check_mean(one, None, None)
        for change in ({"cost": "0"}, {"budget": "1000"}, {"currency": "rho"}, {"made_up": True}, {"more": 1},
                       {"repeated": "no"}, *([{"spent": "1"}, {"left": "100"}] if one is fresh else [])):
            with pytest.raises(Wrong):
                check_mean(one | change, None, None)
