"""F2, F4: every public value shows itself in a line, in words of Python, with no object's address and no kilobytes.

An answer, a menu and a catalog's tables show a small table instead. What is compared exactly is never this text.
"""

from __future__ import annotations

import re
from fractions import Fraction
from importlib import import_module
from pathlib import Path

import pytest
from house import opened

import dpcurator as dp
from dpcurator.mechanisms import ROWS
from dpcurator.numbers import Enclosure
from dpcurator.numbers.readable import LONGEST

QUESTION = "SELECT city, COUNT(*) AS n, AVG(age) AS a FROM visits GROUP BY city"
UNSEEN = re.compile(r" at 0x|Fraction\(|--\w|<function|<lambda>")
MORE_LINES = {"Answer", "Menu", "Tables"}


def curators_values(place: Path) -> dict[str, object]:
    curator = opened(place, delta="1e-6")
    quote = curator.quote(QUESTION, spend="5%")
    answer = curator.answer(quote)
    batch = curator.quote_batch([QUESTION, "SELECT COUNT(*) FROM visits", "SELECT 1 FROM visits"][:2], spend="5%")
    visits = curator.table("visits")
    old = dp.when(dp.col("age") > 65)
    wide = visits.where(dp.col("age").isin(*range(200))).agg(n=dp.count())
    many = {f"n{k}": dp.count_if(dp.col("age") > k) for k in range(12)}
    return {
        "curator": curator, "quote": quote, "answer": answer, "batch": batch, "menu": curator.menu(QUESTION),
        "wide quote": curator.quote(visits.agg(**many), spend="5%"), "budget": curator.budget(),
        "tables": curator.tables, "together": curator.together(), "report": curator.report,
        "verification": curator.verify(answer.receipt), "plan": curator.plan(QUESTION), "catalog": curator.catalog,
        "request": curator.request(quote), "ledger": curator.ledger, "key": curator.key, "frame": visits,
        "wide": wide, "condition": dp.col("age").isin(*range(200)), "when": old, "then": old.then(1),
        "sorted": dp.col("n").descending(), "priced": quote.priced[0], "rehearsal": curator.rehearse(QUESTION),
    } | {f"entry {entry.position}": entry for entry in curator.log()}


def other_values() -> dict[str, object]:
    noise = dp.DiscreteLaplace.spending("0.1", sensitivity=1)
    loss = noise.loss(1)
    ten = dp.compose((loss, 10))
    sum_of = dp.Bounded.sum(lower=0, upper="1/3")
    return {
        "loss": loss, "delta": loss.delta("0.05"), "distribution": loss.distribution(), "composition": ten,
        "bracket": ten.bracket(delta="1e-6"), "posterior": dp.posterior("0.5", epsilon="0.1"),
        "advantage": dp.advantage(loss), "explained": dp.explain_loss(loss), "pair": loss.worst_pair(),
        "filter": dp.ApproximateFilter(epsilon=1, delta="1e-6"), "rho": dp.ZcdpFilter(rho=1),
        "renyi": dp.RenyiFilter(alpha=2, epsilon=1), "mu": dp.GaussianFilter(mu=1), "odometer": dp.Odometer(),
        "calibrated": dp.calibrate(dp.Gaussian, epsilon=1, delta="1e-6", sensitivity=1), "bounded": sum_of,
        "moves": dp.sensitivity_of(sum_of, neighbours="add-remove"), "pure": dp.Pure("0.1"),
        "approximate": dp.Approximate(1, "1e-6"), "zcdp": dp.Zcdp("1/3"), "chart": dp.plot(noise, "loss"),
        "chance": dp.Exponential(sensitivity=1, epsilon=1).probabilities([1, 2, 3])[0],
        "group": dp.group_privacy(epsilon=1, delta="1e-6", size=3),
        "allowed": dp.explain_delta("1e-6", n=1000),
    }


@pytest.fixture(scope="module")
def values(tmp_path_factory):
    found = curators_values(tmp_path_factory.mktemp("shown") / "c") | other_values()
    for row in ROWS:
        module = import_module(f"dpcurator.mechanisms.{row.file}")
        found |= {f"{row.name} {number}": one for number, one in enumerate(module.EXAMPLES)}
    return found


def test_f2_every_public_value_is_shown_short_and_in_words_of_python(values):
    assert len(values) > 80
    for name, value in values.items():
        text = repr(value)
        assert not UNSEEN.search(text), f"{name}: {text}"
        if type(value).__name__ in MORE_LINES:
            assert len(text.splitlines()) < 20
        else:
            assert len(text) <= LONGEST < 300, f"{name}: {len(text)} characters"
            assert "\n" not in text


def test_f2_a_notebook_shows_no_words_of_the_shell(values):
    shown = {name: value._repr_html_() for name, value in values.items() if hasattr(value, "_repr_html_")}
    assert {"curator", "quote", "answer", "batch", "menu", "tables", "report", "verification"} <= shown.keys()
    for name, text in shown.items():
        assert not UNSEEN.search(text), f"{name}: {text}"
    assert "spend=&quot;5%&quot;" in shown["menu"]


def test_f2_the_words_are_those_of_a_parameter(values):
    assert repr(values["loss"]) == "Loss('discrete_laplace', scale=10, shift=1)"
    assert eval(repr(values["loss"]), {"Loss": dp.Loss}) == values["loss"]
    assert repr(values["zcdp"]) == 'Zcdp(rho="1/3")'
    assert eval(repr(values["zcdp"]), {"Zcdp": dp.Zcdp}) == values["zcdp"]
    assert repr(values["budget"]) == (
        "Budget(epsilon: 0.5 of 10 spent, 9.5 left; delta: 0 of 0.000001 spent, 0.000001 left)"
    )
    assert repr(values["quote"]).startswith("Quote(epsilon 0.5, n: ±37, a: ±")


def test_f4_an_enclosure_is_a_float_for_display_and_exact_inside(values):
    chance = values["chance"]
    assert float(chance) == pytest.approx(0.1863237232)
    assert repr(chance) == "Enclosure(0.1863237232)"
    assert f"{chance}" == str(chance) == "0.1863237232"
    assert chance.lo < chance.hi
    assert float(Enclosure(Fraction(0), Fraction(1))) == 0.5
    assert float(Enclosure.exactly(10**400)) > 1e308
    low, high = values["posterior"]
    assert repr(values["posterior"]) == "Posterior(least=0.4750208125, greatest=0.5249791875)"
    assert low < Fraction("0.4750208126") < high < 1
