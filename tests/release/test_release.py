"""Release: readings are the stated combinations, each coordinate gets its own draw, in unbounded integers."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction as F

import numpy as np
import pytest
from questions import VISITS, catalog_with, quoted, with_column

from dpcurator.entropy import SystemEntropy
from dpcurator.mechanisms import DiscreteLaplace
from dpcurator.plan.lower import Combination
from dpcurator.release.release import Noisy, combine, open_made_up_rows, release
from dpcurator.values import Exact
from receipts import CATALOGS


def test_a_combination_is_taken_row_by_row_without_overflow():
    rows = ((2**126, 2**100, 7), (-(2**126), 0, 1))
    assert combine(rows, Combination(((0, 2), (1, -3)))) == [2**127 - 3 * 2**100, -(2**127)]
    assert combine((), Combination(((0, 1),))) == []
    assert combine(((5,),), Combination(())) == [0]


def test_noise_is_added_to_every_coordinate_of_every_reading(monkeypatch):
    quote = quoted("SELECT ward, AVG(age), COUNT(*) FROM visits GROUP BY ward")
    draws = iter(range(10, 100, 10))
    asked = []

    def sample(self, size, entropy=None):
        asked.append((self.scale, size))
        return np.array([next(draws) for _ in range(size)], dtype=object)

    monkeypatch.setattr(DiscreteLaplace, "sample", sample)
    exact = Exact([(3, 100, 5), (4, 200, 6), (0, 0, 0)])  # present, values, rows
    noisy = release(quote, exact, SystemEntropy()).readings
    centred = [2 * 100 - 110 * 3 + 10, 2 * 200 - 110 * 4 + 20, 30]
    assert noisy == (tuple(centred), (3 + 40, 4 + 50, 60), (5 + 70, 6 + 80, 90))
    assert asked == [(one.mechanism.scale, 3) for one in quote.priced]
    assert all(type(value) is int for values in noisy for value in values)


def test_integers_beyond_64_bits_stay_exact():
    quote = quoted("SELECT COUNT(*) FROM visits", F(10) ** 12)
    for value in (2**63 - 2, 2**100, -(2**126), 10**400):
        assert release(quote, Exact([(value,)]), SystemEntropy()).readings == ((value,),)


def test_another_shape_than_the_quotes_is_an_error_before_any_noise_is_shown():
    quote = quoted("SELECT COUNT(*), SUM(age) FROM visits")
    with pytest.raises(TypeError, match="shape"):
        release(quote, Exact([(1,)]), SystemEntropy())


class Silent:
    """Has all that the release step uses of a mechanism, and adds nothing."""

    def sample(self, size, entropy=None):
        return [0] * size

    def keep(self, counts, entropy=None):
        return [True] * len(counts)


class Quiet(DiscreteLaplace):
    sample = Silent.sample


class Sealed(Exact):
    """Must not be opened."""

    def open_for_release(self):
        raise AssertionError("it was opened")

    keys_for_release = open_for_release


@pytest.mark.parametrize("mechanism", [Silent(), Quiet(F(1)), None])
def test_h7_only_mechanisms_of_this_package_add_noise(mechanism):
    """The one step that opens exact integers takes no stand-in for noise, and refuses it before they are opened."""
    quote = quoted("SELECT COUNT(*), SUM(age) FROM visits")
    first, second = quote.priced
    with pytest.raises(TypeError, match="mechanism"):
        release(replace(quote, priced=(first, replace(second, mechanism=mechanism))), Sealed([(1, 2)]), SystemEntropy())
    with pytest.raises(AssertionError, match="opened"):
        release(quote, Sealed([(1, 2)]), SystemEntropy())


def test_h7_only_selections_of_this_package_choose_keys():
    quote = quoted("SELECT city, COUNT(*) FROM visits GROUP BY city", catalog=CATALOGS["unknown"])
    bare = replace(quote, selecting=replace(quote.selecting, rule=Silent()))
    with pytest.raises(TypeError, match="selection"):
        release(bare, Sealed([]), SystemEntropy())


def test_readings_are_noised_independently():
    """Two equal readings' noises differ: over 64 keys at scale 2**18 all equal has a chance below 2**-1000."""
    wide = catalog_with(with_column(VISITS, "ward", keys=tuple(range(64))))
    quote = quoted("SELECT SUM(age), SUM(cost) FROM visits GROUP BY ward", F(1, 100), wide)
    first, second = release(quote, Exact([(0, 0, 0, 0)] * 64), SystemEntropy()).readings
    assert len(set(first)) > 32
    assert first != second


UNKNOWN = "SELECT city, COUNT(*) FROM visits GROUP BY "


def _selecting(monkeypatch, text, shown):
    """A quote of unknown keys whose selection says which are shown, without noise; and what the selection was asked."""
    quote, asked = quoted(text, catalog=CATALOGS["unknown"]), []

    def keep(self, counts, entropy=None):
        asked.append(list(counts))
        return [number in shown for number in range(len(counts))]

    monkeypatch.setattr(type(quote.selecting.rule), "keep", keep)
    monkeypatch.setattr(type(quote.priced[0].mechanism), "sample", lambda self, size, entropy=None: [0] * size)
    return quote, asked


def _exact(quote, found):
    """{key: (distinct units, rows)} as an engine gives it, in its own order."""
    one = quote.reach.one
    return Exact([(units * one, rows * one) for units, rows in found.values()], [(key,) for key in found])


FOUND = {"b": (3, 7), None: (1, 2), "a": (2, 5)}  # in canonical order: missing, a, b


@pytest.mark.parametrize(
    ("shown", "keys", "rows"),
    [({0, 1, 2}, (None, "a", "b"), (2, 5, 7)), ({1}, ("a",), (5,)), ({0, 2}, (None, "b"), (2, 7)), (set(), (), ())],
)
def test_keys_are_selected_by_their_units_in_canonical_order(shown, keys, rows, monkeypatch):
    quote, asked = _selecting(monkeypatch, UNKNOWN + "city", shown)
    noisy = release(quote, _exact(quote, FOUND), SystemEntropy())
    assert asked == [[1, 2, 3]]
    assert all(type(count) is int for count in asked[0])
    assert noisy.keys == tuple((key,) for key in keys)
    assert noisy.readings == (tuple(quote.reach.one * number for number in rows),)
    assert not noisy.other
    assert not Noisy((), ()).other


@pytest.mark.parametrize(("shown", "rows"), [({0, 1, 2}, (2, 5, 7, 0)), ({1}, (5, 9)), (set(), (14,))])
def test_what_is_not_shown_is_added_up_where_it_is_asked_for(shown, rows, monkeypatch):
    quote, _ = _selecting(monkeypatch, UNKNOWN + "WITH_OTHER(city)", shown)
    noisy = release(quote, _exact(quote, FOUND), SystemEntropy())
    assert noisy.readings == (tuple(quote.reach.one * number for number in rows),)
    assert noisy.other
    assert len(noisy.keys) == len(shown)


def test_a_selection_that_says_too_little_or_too_much_shows_nothing(monkeypatch):
    quote, _ = _selecting(monkeypatch, UNKNOWN + "city", {0})
    for answer in ([True] * 2, [True] * 4):
        monkeypatch.setattr(type(quote.selecting.rule), "keep", lambda self, counts, entropy=None, of=answer: of)
        with pytest.raises(ValueError, match="argument 2"):
            release(quote, _exact(quote, FOUND), SystemEntropy())


def test_an_engines_answer_of_another_shape_is_none(monkeypatch):
    quote, asked = _selecting(monkeypatch, UNKNOWN + "city", {0, 1, 2})
    one = quote.reach.one
    rows, keys = [(one, one), (2 * one, 3 * one)], [("a",), ("b",)]
    wrong = [
        Exact(rows, None), Exact(rows, [("a",), ("a",)]), Exact(rows, [("a",)]), Exact(rows[:1], keys),
        Exact([*rows, (one, one)], keys), Exact([(one,), (one,)], keys), Exact([(one, 1, 1)] * 2, keys),
        Exact([(0, one), (one, one)], keys), Exact([(one, one), (one + 1, one)], keys),
        Exact([(-one, one), (one, one)], keys), Exact([(one // 2, one), (one, one)], keys),
        Exact([(one, True), (one, one)], keys), Exact([(one, np.int64(one)), (one, one)], keys),
    ]
    for exact in wrong:
        with pytest.raises(TypeError, match="shape of the plan"):
            release(quote, exact, SystemEntropy())
    assert asked == []
    assert release(quote, Exact(rows, keys), SystemEntropy()).keys == (("a",), ("b",))
    listed = quoted("SELECT city, COUNT(*) FROM visits GROUP BY city")
    with pytest.raises(TypeError, match="shape of the plan"):
        release(listed, Exact([(1,)] * 3, [("Hull",), ("Leeds",), ("York",)]), SystemEntropy())


def test_made_up_rows_are_opened_for_every_key_that_occurs(monkeypatch):
    quote, asked = _selecting(monkeypatch, UNKNOWN + "WITH_OTHER(city)", set())
    found = open_made_up_rows(quote, _exact(quote, FOUND))
    assert (found.keys, found.units) == (((None,), ("a",), ("b",)), (1, 2, 3))
    assert found.readings == (tuple(quote.reach.one * number for number in (2, 5, 7)),)
    assert asked == []


def test_a_quote_that_prices_fewer_readings_than_it_has_is_refused():
    quote = quoted("SELECT COUNT(*), SUM(age) FROM visits")
    with pytest.raises(ValueError, match="argument"):
        release(replace(quote, priced=quote.priced[:1]), Exact([(1, 2, 3)]), SystemEntropy())
