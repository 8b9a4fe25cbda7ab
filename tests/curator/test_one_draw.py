"""One draw selects unknown keys and is their COUNT(DISTINCT unit) (D5): same price, exact law, receipts and repeats.

The law is looked at through `release`, with every draw of the noise in turn: what is shown of a key of n units, for
neighbouring n and with none, must be within the (epsilon, delta) that the question is charged.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction as F

import pytest
from house import Counted, holds

import dpcurator as dp
from dpcurator.ledger.canonical import canonical_text
from dpcurator.mechanisms import DiscreteGaussian, DiscreteLaplace
from dpcurator.mechanisms.key_selection import TruncatedGeometric
from dpcurator.numbers import exp_neg
from dpcurator.release.finish import finish
from dpcurator.release.release import release
from dpcurator.standalone import verify as standalone
from dpcurator.values import Exact

PEOPLE = "SELECT town, COUNT(DISTINCT who) AS people FROM visits GROUP BY town"
ROWS = {"who": [f"p{n}" for n in range(180)], "town": ["a", "b", "c"] * 60, "age": [n % 90 for n in range(180)]}


def spent(curator: dp.Curator) -> F:
    return curator.budget().spent


def declared(currency: str = "epsilon", unit: str = "who", **curator: object) -> dict[str, object]:
    table = {
        "unit": unit, "columns": {"who": "text", "town": {"type": "text", "keys": "unknown"},
                                  "age": {"type": "integer", "bounds": [0, 100]}},
    } | ({"max_total": 2} if unit == "who" else {})
    return {
        "curator": {"protects": "people", "salt": "00" * 16} | curator,
        "ledger": {currency: 40, "delta": "1e-1"}, "tables": {"visits": table},
    }


@pytest.mark.parametrize("curator", [{}, {"neighbours": "replace-one", "units": 180}])
@pytest.mark.parametrize("currency", ["epsilon", "rho"])
@pytest.mark.parametrize("asked", [PEOPLE, PEOPLE.replace("AS people", "AS people, SUM(age) AS s, COUNT(*) AS n")])
def test_d5_the_count_costs_no_more_than_the_selection(currency, curator, asked):
    """The price is shared among the other queries and the selection; the noise is that of the selection, on units."""
    quote = dp.rehearsing(declared(currency, **curator)).quote(asked, cut=False, **{currency: 3, "delta": "1e-3"})
    others = asked.count("AS") - 1
    keys, (first, *rest) = quote.selecting, quote.priced
    share = (keys.epsilon, keys.rho)[currency == "rho"]
    assert share == F(3, 1 + others)
    assert (first.epsilon, first.rho) == (0, 0)
    assert quote.with_keys == 0
    assert first.mechanism.noise == keys.rule.noise
    assert {type(one.mechanism) for one in rest} <= {DiscreteLaplace, DiscreteGaussian}
    assert not isinstance(keys.rule, TruncatedGeometric)
    assert quote.cost == 3 or currency == "epsilon"
    assert quote.cost <= 3
    assert quote.delta <= F("1e-3")


def test_d5_rows_are_that_count_where_each_row_is_a_unit_and_others_are_not():
    by_row = dp.rehearsing(declared(unit="each row"))
    assert by_row.quote("SELECT town, COUNT(*) FROM visits GROUP BY town", epsilon=1, delta="1e-3").with_keys == 0
    other = by_row.quote("SELECT COUNT(*) FROM visits GROUP BY WITH_OTHER(town)", epsilon=1, delta="1e-3")
    assert other.with_keys is None
    by_unit = dp.rehearsing(declared())
    assert by_unit.quote("SELECT COUNT(*) FROM visits GROUP BY town", epsilon=1, delta="1e-3").with_keys is None
    assert by_unit.quote("SELECT COUNT(DISTINCT who) FROM visits", epsilon=1).with_keys is None


def outcomes(quote, units: int, monkeypatch, far: int) -> dict[object, F]:
    """What is shown of one key of so many units, with the mass of the draws z in -far..far that show it, rounded up."""
    noise, found = quote.selecting.rule.noise, {}
    one, sums = quote.reach.one, len(quote.lowered.core[-1].sums)
    for z in range(-far, far + 1):
        with monkeypatch.context() as patched:
            patched.setattr(type(noise), "sample", lambda self, size, entropy=None, z=z: [z] * size)
            exact = Exact([[units * one] * sums], [("a",)]) if units else Exact([], [])
            shown = release(quote, exact, None)
        key = (shown.keys, shown.readings)
        found[key] = found.get(key, F(0)) + noise.pmf(z).hi
    return found


@pytest.mark.parametrize("currency", ["epsilon", "rho"])
def test_d5_what_is_shown_of_neighbours_is_within_what_is_charged(currency, monkeypatch):
    """Every pair of n and n + 1 units from 0 on, both ways; a threshold of one less is found."""
    table = declared(currency, unit="each row")
    quote = dp.rehearsing(table).quote("SELECT town, COUNT(*) AS n FROM visits GROUP BY town", **{
        currency: 2, "delta": "1e-3"})
    eps, delta = quote.selecting.rule.promise
    assert currency == "rho" or (eps, delta) == (quote.epsilon, quote.delta)
    far, factor = 30, 1 / exp_neg(eps, 256).lo
    left = quote.selecting.rule.noise.error(F(1, 10**9))
    assert left < far

    def worst(one: dict, other: dict) -> F:
        return sum((max(F(0), mass - factor * other.get(shown, F(0))) for shown, mass in one.items()), F(0))

    laws = [outcomes(quote, n, monkeypatch, far) for n in range(quote.selecting.threshold + 3)]
    assert all(isinstance(key[1][0][0], int) for law in laws[1:] for key in law if key[0])
    for fewer, more in itertools.pairwise(laws):
        assert worst(fewer, more) <= delta + F(2, 10**9)
        assert worst(more, fewer) <= delta + F(2, 10**9)
    monkeypatch.setattr(type(quote.selecting.rule), "threshold", property(lambda self: honest(self) - 1))
    assert worst(outcomes(quote, 1, monkeypatch, far), laws[0]) > delta


def honest(rule) -> int:
    from dpcurator.mechanisms.key_selection import gaussian_threshold, laplace_threshold

    if isinstance(rule, laplace_threshold.LaplaceThreshold):
        return laplace_threshold._threshold(rule.eps, rule.delta, rule.groups)
    return gaussian_threshold._threshold(rule.rho, rule.delta, rule.groups)


@pytest.mark.parametrize("currency", ["epsilon", "rho"])
def test_d5_the_interval_holds_the_number_of_the_keys_that_are_shown(currency, monkeypatch):
    """Given that a key is shown, whatever its size: small ones are shown when their noise is large."""
    quote = dp.rehearsing(declared(currency, unit="each row")).quote(
        "SELECT town, COUNT(*) AS n FROM visits GROUP BY town", **{currency: 1, "delta": "1e-2"})
    noise, threshold = quote.selecting.rule.noise, quote.selecting.threshold
    far = noise.error(F(1, 10**9)) + threshold
    bare = 0
    for n in range(1, threshold + 12):
        shown = missed = F(0)
        for z in range(threshold - n, far):
            mass = noise.pmf(z).hi
            (cells,) = finish(quote, release_of(quote, n + z))
            shown += mass
            missed += mass * (not cells[1].low <= n <= cells[1].high)
            bare += abs(z) > quote.priced[0].error(F(1, 20))
        assert missed <= shown / 20
    assert bare  # else the interval would not have mattered


def release_of(quote, value: int):
    from dpcurator.release.release import Noisy

    return Noisy((("a",),), ((value * quote.reach.one,),))


@pytest.mark.parametrize("currency", ["epsilon", "rho"])
def test_d5_repeats_and_what_is_added_share_the_keys_with_their_count(tmp_path, currency):
    curator = dp.open(declared(currency), directory=tmp_path, visits=ROWS)
    curator.cut = False
    price = {currency: 4, "delta": "1e-3"}
    first = curator.ask(PEOPLE, **price)
    assert [row[0] for row in first.rows] == ["a", "b", "c"]
    assert all(abs(row[1] - 60) < 60 for row in first.rows)
    before, curator.entropy = curator.budget(), Counted()
    again = curator.ask(PEOPLE + " ORDER BY people DESC", **price)
    assert curator.entropy.asked == 0
    assert curator.budget() == before
    assert sorted(again.rows) == sorted(first.rows)
    more = curator.ask(PEOPLE.replace("AS people", "AS people, COUNT(*) AS n"), **price)
    assert [row[:2] for row in more.rows] == list(first.rows)
    assert curator.budget().spent_delta == before.spent_delta
    assert spent(curator) - before.spent <= F(4, 2)
    for answer in (first, again, more):
        holds(curator, answer, [first.receipt])


def test_d5_keys_selected_otherwise_are_not_used_for_the_count(tmp_path):
    """A selection whose count was not released has none that is free: the count is drawn with keys of its own."""
    curator = dp.open(declared(), directory=tmp_path, visits=ROWS)
    curator.cut = False
    curator.ask("SELECT town, COUNT(*) AS n FROM visits GROUP BY town", epsilon=4, delta="1e-3")
    before = curator.budget()
    curator.ask(PEOPLE, epsilon=2, delta="1e-4")
    assert curator.budget().spent - before.spent == 2
    assert curator.budget().spent_delta > before.spent_delta


def test_d5_a_receipt_that_lies_about_it_is_found(tmp_path):
    """By both verifiers: another noise, a price of its own, a second count, keys of another rule, a fresh draw."""
    curator = dp.open(declared(), directory=tmp_path, visits=ROWS)
    curator.cut = False
    asked = PEOPLE.replace("AS people", "AS people, COUNT(*) AS n")
    one = curator.ask(asked, epsilon=4, delta="1e-3")
    shared = curator.ask(asked + " LIMIT 2", epsilon=4, delta="1e-3").receipt
    told, (count, rows) = one.receipt, one.receipt["readings"]
    keys = told["selection"]
    lies = [
        (told, {"readings": [count | {"scale": "1/2"}, rows]}),
        (told, {"readings": [count | {"mechanism": "discrete_laplace"}, rows]}),
        (told, {"readings": [count | {"epsilon": "1"}, rows]}),
        (told, {"readings": [count, {**rows, "mechanism": "laplace_threshold", "epsilon": "0"}],
                "epsilon": keys["epsilon"]}),
        (told, {"readings": [{**count, "mechanism": "gaussian_threshold"}, rows]}),
        (told, {"selection": keys | {"rule": TruncatedGeometric(F(2), F("1e-3"), 2).as_json()}}),
        (told, {"selection": None}),
        (shared, {"shared": shared["shared"] | {"readings": [None, shared["shared"]["readings"][1]]}}),
    ]
    for receipt, lie in lies:
        body = {name: part for name, part in (receipt | lie).items() if name != "signature"}
        signed = body | {"signature": curator.key.sign(canonical_text(body).encode())}
        assert not dp.verify(signed, catalog=curator.catalog, ledger=curator.ledger).holds, lie
        assert not all(step[1] for step in standalone.steps(signed, curator.key.public)), lie


def test_d5_the_quote_says_so():
    from dpcurator.cli.layout import quote_text

    curator = dp.rehearsing(declared())
    quote = curator.quote(PEOPLE, epsilon=2, delta="1e-3")
    assert "for nothing, as groups are selected by it" in quote_text(quote, curator.budget())
    (bar,) = quote.as_json()["error_bars"]
    assert math.isclose(bar["error"], float(quote.selecting.rule.noise.error(F(1, 40))) + 0.5)
