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
from dpcurator.release.release import combine, release
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
