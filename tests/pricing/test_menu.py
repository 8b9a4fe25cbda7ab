"""Menus and prices of a wanted accuracy: the least price, to three figures, whose bars meet every target."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction as F

import pytest
from hypothesis import given
from hypothesis import strategies as st
from power import tried
from questions import CATALOG, VISITS, catalog_with, planned, with_column

from dpcurator.errors import Refusal
from dpcurator.pricing import quote as quoting
from dpcurator.pricing.bars import bars
from dpcurator.pricing.menu import SHARES, menu, price_for
from dpcurator.pricing.offers import offer_of
from dpcurator.pricing.quote import price


def test_a_menu_row_spends_a_share_and_says_what_is_left():
    made = menu(planned("SELECT COUNT(*) AS n, AVG(age) FROM visits"), CATALOG, F(1), rows=500)
    assert [offer.percent for offer in made.offers] == [percent for percent in SHARES if 4 * percent <= 100]
    for offer in made.offers:
        assert offer.amount == F(4 * offer.percent, 100)
        assert offer.left == 1 - offer.amount
        own = price(planned("SELECT COUNT(*) AS n, AVG(age) FROM visits"), offer.amount, CATALOG)
        assert offer.bars == bars(own, 500)  # the same bars as a quote at that price
    errors = [offer.bars[0].error for offer in made.offers]
    assert errors == sorted(errors, reverse=True)
    json.dumps(made.as_json(), allow_nan=False)
    assert "5 %" in str(made)
    assert "<pre>" in made._repr_html_()


def test_nothing_left_is_said():
    made = menu(planned("SELECT COUNT(*) FROM visits"), CATALOG, F(1, 1000))
    assert made.offers == ()
    assert "nothing can be bought" in str(made)


def test_a_public_answer_costs_nothing_on_the_menu():
    public = catalog_with(with_column(VISITS, "age", lower=F(0), upper=F(0)))
    made = menu(planned("SELECT SUM(age) FROM visits", public), public, F(4))
    assert {offer.left for offer in made.offers} == {F(4)}


@given(
    st.sampled_from(("COUNT(*)", "SUM(cost)", "SUM(gain)", "COUNT(*) - 2 * COUNT(age)", "AVG(age)")),
    st.fractions(min_value=F(51, 100), max_value=10**6),
    st.sampled_from((F(1, 2), F(95, 100), F(999, 1000))),
)
@tried
def test_a_price_meets_its_target_and_one_step_less_does_not(item, target, confidence):
    plan = planned(f"SELECT {item} AS n FROM visits")
    made = price_for(plan, CATALOG, {"n": target}, rows=1000, confidence=confidence)
    assert bars(made, 1000)[0].error <= target
    power = len(str(int(made.epsilon))) - 1 if made.epsilon >= 1 else -1
    while F(10) ** power > made.epsilon:
        power -= 1
    step = F(10) ** (power - 2)
    assert made.epsilon % step == 0  # three figures
    less = made.epsilon - (step if made.epsilon > F(10) ** power else step / 10)
    if made.epsilon > F(1, 10**11):
        assert bars(price(plan, less, CATALOG, confidence=confidence), 1000)[0].error > target


def test_every_target_is_met():
    plan = planned("SELECT COUNT(*) AS n, SUM(cost) AS s FROM visits")
    made = price_for(plan, CATALOG, {"N": F(50), "s": F(10**7)})
    assert all(bar.error <= most for bar, most in zip(bars(made), (50, 10**7), strict=True))


@pytest.mark.parametrize(
    ("items", "targets", "rows", "said"),
    [
        ("COUNT(*) AS n", {"m": 5}, None, "no single column 'm'"),
        ("COUNT(*) AS n", {"n": 0}, None, "above 0"),
        ("COUNT(*) AS n", {"n": -1}, None, "above 0"),
        ("COUNT(*) AS n, SUM(age) AS N", {"n": 5}, None, "no single column"),
        ("COUNT(*) AS n", {"n": F(1, 4)}, None, "no price reaches that error"),
        ("AVG(age) AS a", {"a": 1}, None, "depends on how many rows a group has"),
        ("SUM(cost) / COUNT(*) AS r", {"r": 1}, 1000, "depends on the data"),
        ("city", {"city": 1}, None, "no single column"),
    ],
)
def test_what_has_no_price_is_refused(items, targets, rows, said):
    plan = planned(f"SELECT {items}, COUNT(*) FROM visits GROUP BY city")
    with pytest.raises(Refusal, match=said) as refused:
        price_for(plan, CATALOG, {name: F(error) for name, error in targets.items()}, rows=rows)
    assert refused.value.cure


def test_a_menu_and_a_price_over_many_keys_are_not_made_anew_for_each_look(monkeypatch):
    wide = catalog_with(with_column(VISITS, "ward", keys=tuple(range(300_000))))
    plan = planned("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", wide)
    honest, made = quoting.lower, []

    def lower(*given):
        made.append(given)
        return honest(*given)

    monkeypatch.setattr(quoting, "lower", lower)  # which lists all keys
    menu(plan, wide, F(4))
    price_for(plan, wide, {"n": F(10)})
    assert 2 <= len(made) <= 8


def test_an_error_may_be_a_part_of_a_group_of_an_assumed_or_expected_size():
    plan = planned("SELECT city, COUNT(*) AS n, AVG(age) AS a FROM visits GROUP BY city")
    part = offer_of(CATALOG, {"within": {"n": "5 %"}, "assume_count": 2000}).quote(plan, CATALOG)
    whole = offer_of(CATALOG, {"within": {"n": 100}, "assume_count": 2000}).quote(plan, CATALOG)
    assert part == whole
    assert part.assumed == ("n is within 5 % if a group has at least 2,000 rows, as you assume",)
    assert part.assumed[0] in str(part)
    assert part.as_json()["assumed"] == list(part.assumed)
    assert whole.assumed == ()
    expecting = catalog_with(replace(VISITS, expected_units=6000))  # over three cities
    found = offer_of(expecting, {"within": {"n": "5%"}}).quote(plan, expecting)
    assert found.assumed == ("n is within 5 % if a group has at least 2,000 rows, as the catalog says to expect",)
    assert bars(found)[0].error <= 100


OLD = "CLIP(age, 20, 110)"
SURE = f"SELECT SUM({OLD}) AS s, AVG({OLD}) AS a, SUM({OLD} * -1) AS d FROM visits"
ROWS_OF_100 = "if a group has at least 100 rows, as you assume, and by its bounds"


@pytest.mark.parametrize(("within", "same", "assumed"), [
    ({"s": "5%"}, {"s": 100}, f"s is within 5 % {ROWS_OF_100}"),
    ({"a": "10%"}, {"a": 2}, f"a is within 10 % {ROWS_OF_100}"),
    ({"d": "5%"}, {"d": 100}, f"d is within 5 % {ROWS_OF_100}"),
    ({"s": "2.5% of 8000"}, {"s": 200}, "s is within 2.5 % if it is 8000 or more, up or down, as you assume"),
    ({"a": "1/2% of 400"}, {"a": 2}, "a is within 0.5 % if it is 400 or more, up or down, as you assume"),
])
def test_an_error_may_be_a_part_of_a_sum_or_an_average_whose_bounds_leave_out_0(within, same, assumed):
    """Worked by hand: 100 rows of at least 20 add up to 2,000; an average of them is at least 20."""
    plan = planned(SURE)
    part = offer_of(CATALOG, {"within": within, "assume_count": 100}).quote(plan, CATALOG)
    assert part == offer_of(CATALOG, {"within": same, "assume_count": 100}).quote(plan, CATALOG)
    assert part.assumed == (assumed,)
    title, error = next(iter(same.items()))
    assert next(bar.error for bar in bars(part, 100) if bar.title == title) <= error


@pytest.mark.parametrize(
    ("given", "said", "cure"),
    [
        ({"within": {"n": "5%"}}, "a part of 'n' needs the number of rows of a group", {"assume_count": 1000}),
        ({"within": {"s": "5%"}, "assume_count": 900}, "'s' has no least size", {"within": {"s": 50}}),
        ({"within": {"s": "5%"}}, "'s' has no least size", {"within": {"s": "5% of 1000"}}),
        ({"within": {"a": "5%"}}, "'a' has no least size", {"within": {"a": "5% of 1000"}, "assume_count": 1000}),
        ({"within": {"d": "5%"}}, "of 'd' no size is known", {"within": {"d": "5% of 1000"}}),
        ({"within": {"s": "5% off 9"}}, "a part of a size", {"within": {"s": "5% OF 9"}}),
        ({"within": {"s": "5% of -9"}}, "the size of 's' must be above 0", {"within": {"s": "5% of 9"}}),
        ({"within": {"n": "-5%"}, "assume_count": 900}, "the error of 'n'", {"within": {"n": "5%"}}),
    ],
)
def test_a_part_of_what_has_no_size_is_refused_with_a_cure_that_works(given, said, cure):
    plan = planned("SELECT COUNT(*) AS n, SUM(cost) AS s, AVG(age) AS a, SUM(age) - COUNT(*) AS d FROM visits")
    with pytest.raises(Refusal, match=said) as refused:
        offer_of(CATALOG, given).quote(plan, CATALOG)
    assert refused.value.cure
    assert offer_of(CATALOG, given | cure).quote(plan, CATALOG).priced
