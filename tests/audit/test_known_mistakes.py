"""Mistakes that have been made, each found with a witness; and mechanisms that are right, which pass.

The audited functions draw from seeded generators, so every run is the same. All that a report states holds but for
chance 1e-9, so a right mechanism would be called wrong once in a thousand million seeds.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import dpcurator as dp

SURE = {"confidence": "0.999999999", "seconds": 120}
TOP = 10_000_000
DEBTS = [7_000.00, 1.56, 0.00]


def noise():
    return np.random.default_rng(20261128)


def bank_with_scale_one_over_epsilon():
    """gallery/bank-debts: a sum of debts with noise of scale 1/epsilon."""
    rng = noise()
    return lambda rows, size: sum(rows) + rng.laplace(0, 1, size)


def bank_with_its_own_maximum():
    """gallery/bank-debts: the data's own maximum taken for the sensitivity."""
    rng = noise()
    return lambda rows, size: sum(rows) + rng.laplace(0, max(rows, default=0) + 1e-6, size)


def bank_as_it_should_be():
    """The public bound for the sensitivity, missing and outlying rows clamped, shown to the cent on a coarse grid."""
    rng = noise()

    def release(rows, size):
        total = sum(min(max(row, 0), TOP) if row == row else 0 for row in rows)
        return np.round(total + rng.laplace(0, TOP, size))

    return release


def mean_by_private_n():
    """A mean whose noise is scaled by the private number of rows."""
    rng = noise()

    def release(rows, size):
        n = max(1, len(rows))
        return np.round(np.sum(np.clip(rows, 0, 1)) / n + rng.laplace(0, 1 / n, size), 6)

    return release


def clamped_before_a_multiplication():
    """SUM(CLIP(x) * 1000), sold with the sensitivity of CLIP(x)."""
    rng = noise()
    return lambda rows, size: np.round(sum(min(max(row, 0), 1) * 1000 for row in rows) + rng.laplace(0, 1, size), 3)


def nan_through_a_clamp():
    """A clamp by numpy, which lets nan through."""
    rng = noise()
    return lambda rows, size: np.round(np.clip(np.array(rows, float), 0, 1).sum() + rng.laplace(0, 1, size), 3)


def sparse_vector_with_values():
    """SVT3: the noisy value of the query above the threshold is released, paid for by nothing."""
    rng = noise()

    def release(answers, size):
        drawn = np.asarray(answers) + rng.laplace(0, 2, (size, len(answers)))
        above = drawn >= 1 + rng.laplace(0, 2, (size, 1))
        over = np.cumsum(above, axis=1) - above > 0
        return np.where(over, -2000.0, np.where(above, np.round(drawn, 3), -1000.0))

    return release


def svt(eps, query, rng, cut=True):
    def release(answers, size):
        drawn = np.asarray(answers) + (rng.laplace(0, query, (size, len(answers))) if query else 0)
        above = drawn >= 1 + rng.laplace(0, 2 / eps, (size, 1))
        over = np.cumsum(above, axis=1) - above > 0
        return np.where(over, 2, above) if cut else above

    return release


def sparse_vector_without_query_noise():
    """SVT5."""
    return svt(0.5, 0, noise(), cut=False)


def two_releases_sold_as_one():
    """An accountant that takes the maximum of two losses, and not their sum."""
    rng = noise()
    return lambda rows, size: np.round(len(rows) + rng.laplace(0, 1, (size, 2)), 6)


def one_sided_noise():
    rng = noise()
    return lambda rows, size: np.round(len(rows) + rng.exponential(1, size), 6)


def raises_on_an_outlier():
    """The error channel: an assertion about the data."""
    rng = noise()

    def release(rows):
        if any(row > 100 for row in rows):
            raise ValueError("out of range")
        return round(sum(rows) + rng.laplace(0, 100), 3)

    return release


def rows_in_answers():
    """A categorical column whose keys are read off the data."""
    rng = noise()
    return lambda rows: {row: round(rows.count(row) + rng.laplace(0, 1), 3) for row in set(rows)}


WRONG = {
    bank_with_scale_one_over_epsilon: {"neighbours": "add-remove", "domain": (0, TOP)},
    bank_with_its_own_maximum: {"pair": (DEBTS, [2_800_798.00, *DEBTS]), "bits": False},
    mean_by_private_n: {"neighbours": "add-remove", "domain": (0.0, 1.0)},
    clamped_before_a_multiplication: {"neighbours": "add-remove", "domain": (0, 1)},
    nan_through_a_clamp: {"neighbours": "replace-one", "domain": (0, 1)},
    sparse_vector_with_values: {"pair": ([1] * 10, [2] * 5 + [0] * 5), "samples": 300_000},
    sparse_vector_without_query_noise: {"neighbours": "vector"},
    two_releases_sold_as_one: {"neighbours": "add-remove", "domain": [0, 1]},
    one_sided_noise: {"neighbours": "add-remove", "domain": [0]},
    raises_on_an_outlier: {"neighbours": "add-remove", "domain": (0, 100), "samples": 4000},
    rows_in_answers: {"neighbours": "add-remove", "domain": ["Leeds", "York", "Hull"], "samples": 4000},
}
CLAIMS = {sparse_vector_without_query_noise: "0.5"}


@pytest.mark.parametrize("made", WRONG, ids=lambda made: made.__name__)
def test_a_known_mistake_is_found_with_a_witness(made):
    given = {"samples": 100_000} | WRONG[made]
    report = dp.audit(made(), claim=dp.Pure(CLAIMS.get(made, "1")), **given, **SURE)
    assert report.verdict == "violation found"
    assert report.epsilon > report.claim.epsilon
    assert report.pair is not None
    assert report.event
    assert report.event in str(report)


def clamp_with_half_the_noise():
    """A clamp by numpy, which lets nan through, and half the noise that its bounds need."""
    rng = noise()
    return lambda rows, size: np.round(np.clip(np.array(rows, float), 0, 1).sum() + rng.laplace(0, 0.5, size), 3)


def test_f11_rows_within_the_bounds_are_reported_before_nan():
    """F11: what is wrong with rows that there can be is told first, not [nan]; else nan is found, and labelled."""
    given = {"claim": dp.Pure(1), "neighbours": "add-remove", "domain": (0, 1), "samples": 50_000, **SURE}
    wrong = dp.audit(clamp_with_half_the_noise(), **given)
    assert wrong.verdict == "violation found"
    assert not wrong.pair.hostile
    assert all(0 <= row <= 1 for row in (*wrong.pair.first, *wrong.pair.second))
    assert not any("outside" in note for note in wrong.notes)
    outside = dp.audit(nan_through_a_clamp(), **given)
    assert outside.verdict == "violation found"
    assert outside.pair.hostile
    assert "outside the bounds" in outside.pair.why
    assert outside.notes[0].startswith("found on a row outside the bounds alone")
    assert outside.as_json()["findings"][0]["outside_bounds"] is True
    within = dp.audit(nan_through_a_clamp(), hostile=False, **given)
    assert within.verdict == "no violation found"
    assert within.pairs < outside.pairs


def test_f11_exact_distributions_come_in_the_same_order():
    def law(rows, slope):
        p = min(max(sum(rows), 0), 1) * slope if sum(rows) == sum(rows) else 1
        return {1: Fraction(1, 4) + Fraction(p) / 2, 0: Fraction(3, 4) - Fraction(p) / 2}

    given = {"claim": dp.Pure(1), "neighbours": "add-remove", "domain": [0, 1]}
    assert dp.audit(dp.exact_law(lambda rows: law(rows, 1)), **given).violated
    given["domain"] = (0, 1)
    steep = dp.audit(dp.exact_law(lambda rows: law(rows, 1)), **given)
    assert steep.verdict == "violation found (certain)"
    assert not steep.pair.hostile
    flat = dp.audit(dp.exact_law(lambda rows: law(rows, Fraction(1, 100))), **given)
    assert flat.verdict == "violation found (certain)"
    assert flat.pair.hostile
    assert flat.alpha == 0


def test_f11_the_parts_share_the_probability_of_error(monkeypatch):
    """Half of alpha each, so that all that is stated fails with probability at most alpha (auditing/run.py)."""
    from dpcurator.auditing import run

    given, shares = run._report, []

    def report(mechanism, pairs, claim, limits, *more):
        shares.append((limits.alpha, {pair.hostile for pair in pairs}))
        return given(mechanism, pairs, claim, limits, *more)

    monkeypatch.setattr(run, "_report", report)
    found = dp.audit(nan_through_a_clamp(), claim=dp.Pure(1), neighbours="add-remove", domain=(0, 1), samples=20_000)
    half = Fraction(1, 2_000_000)
    assert shares == [(half, {False}), (half, {True})]
    assert found.alpha == 2 * half


def shown_compared(rng, form):
    """SVT3 as it is written: what was compared is shown, and what was not asked is left out, or is nan."""

    def release(answers, size):
        drawn = np.round(np.asarray(answers) + rng.laplace(0, 2, (size, len(answers))), 3)
        above = drawn >= 1 + rng.laplace(0, 2, (size, 1))
        over = np.cumsum(above, axis=1) - above > 0
        if form == "nan":
            return np.where(over, np.nan, np.where(above, drawn, -np.inf))
        ends = np.where(above.any(axis=1), above.argmax(axis=1) + 1, len(answers))
        return [[float(x) if up else None for x, up in zip(row[:end], ups[:end], strict=True)]
                for row, ups, end in zip(drawn, above, ends, strict=True)]

    return release


def shown_anew(rng):
    """What Lyu, Su, Li put in its place: a third each for threshold, comparisons, and a number measured anew."""

    def release(answers, size):
        n = len(answers)
        above = np.asarray(answers) + rng.laplace(0, 6, (size, n)) >= 1 + rng.laplace(0, 3, (size, 1))
        fresh = np.round(np.asarray(answers) + rng.laplace(0, 3, (size, n)), 3)
        return np.where(np.cumsum(above, axis=1) - above > 0, np.nan, np.where(above, fresh, -np.inf))

    return release


@pytest.mark.parametrize("form", ["nan", pytest.param("list", marks=pytest.mark.slow)])
def test_f11_a_sparse_vector_that_shows_its_compared_number_is_found(form):
    """F11: without a hint of the pair."""
    samples = {"nan": 200_000, "list": 60_000}[form]
    report = dp.audit(
        shown_compared(noise(), form), claim=dp.Pure(1), neighbours="vector", samples=samples, shrink=False, **SURE
    )
    assert report.verdict == "violation found"
    assert report.epsilon > 1


@pytest.mark.parametrize(
    "given",
    [{"pair": ([1] * 10, [2] * 5 + [0] * 5)}, pytest.param({"neighbours": "vector"}, marks=pytest.mark.slow)],
    ids=["one pair", "every pair"],
)
def test_f11_a_sparse_vector_that_measures_its_number_anew_is_not(given):
    report = dp.audit(shown_anew(noise()), claim=dp.Pure(1), samples=50_000, **given, **SURE)
    assert report.verdict == "no violation found"
    assert report.epsilon > 0.2


RIGHT = {
    "Laplace": (lambda rng: lambda x, size: np.round(x + rng.laplace(0, 1, size), 6), {"neighbours": "number"}),
    "histogram": (lambda rng: lambda x, size: np.round(np.array(x) + rng.laplace(0, 1, (size, len(x)))),
                  {"pair": ([0, 1, 1, 1, 1], [1] * 5)}),
    "SVT1": (lambda rng: svt(1, 4, rng), {"pair": ([0] * 5 + [1] * 5, [1] * 5 + [0] * 5), "samples": 100_000}),
    "noisy max": (lambda rng: lambda x, size: np.argmax(x + rng.laplace(0, 2, (size, len(x))), axis=1),
                  {"neighbours": "vector"}),
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_mechanism_passes(name):
    """Laplace and histogram are rounded, since doubles tell."""
    made, given = RIGHT[name]
    report = dp.audit(made(noise()), claim=dp.Pure(1), **{"samples": 50_000} | given, **SURE)
    assert report.verdict == "no violation found"
    assert 0.3 < report.epsilon <= 1


def test_the_right_bank_passes():
    report = dp.audit(
        bank_as_it_should_be(), claim=dp.Pure(1), neighbours="add-remove", domain=(0, TOP), samples=50_000, **SURE
    )
    assert report.verdict == "no violation found"
    assert 0.9 < report.epsilon <= 1


def test_doubles_of_laplace_noise_tell_their_input():
    """Mironov 2012: as real numbers they are as private as claimed; as doubles one outcome excludes an input."""
    rng = noise()

    def release(value, size):
        return value + rng.laplace(0, 1, size)

    as_doubles = dp.audit(release, pair=(0, 1), claim=dp.Pure(1), samples=50_000, **SURE)
    assert as_doubles.verdict == "violation found"
    assert "last set bit" in as_doubles.event
    assert as_doubles.unseen
    as_reals = dp.audit(release, pair=(0, 1), claim=dp.Pure(1), samples=50_000, bits=False, **SURE)
    assert as_reals.verdict == "no violation found"


def test_one_over_a_distance_has_no_sensitivity():
    """gallery/secret-society: exponential mechanism, utility 1/d, any finite sensitivity; exact laws, so certain."""
    cities = {"Memphis": (35, -90), "Ottawa": (45, -75), "Boston": (42, -71)}
    exponential = dp.Exponential(sensitivity=1, epsilon=1)

    def law(rows):
        mean = [sum(axis) / len(rows) for axis in zip(*rows, strict=True)]
        scores = [1 / (abs(mean[0] - x) + abs(mean[1] - y) + 1e-9) for x, y in cities.values()]
        return dict(zip(cities, exponential.probabilities(scores), strict=True))

    report = dp.audit(dp.exact_law(law), claim=dp.Pure(1), neighbours="replace-one", domain=list(cities.values()))
    assert report.verdict == "violation found (certain)"
    assert report.alpha == 0
