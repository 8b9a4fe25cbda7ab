"""Values computed elsewhere (60 digits, or a float64 reference good to about seven figures) lie in the brackets.

oracles.csv: `losses` as the shell reads them, what is `asked`, `at` which delta or epsilon, the `value`, how it is
`known`. Cases that this accountant does not price as a whole distribution have a row without losses, and are in
NOT_HERE with the reason.
"""

import csv
from fractions import Fraction
from pathlib import Path

import pytest

from dpcurator.accounting.parse import spelled
from dpcurator.accounting.pld.certified import certified

F = Fraction
ROWS = list(csv.DictReader((Path(__file__).parent / "oracles.csv").read_text("utf-8").splitlines()))
COVERED = [row for row in ROWS if row["losses"]]
FORMULA = "a bound by a formula, which is looser: tests/accounting/test_closed.py"
NOT_HERE = {
    "KOV_thm3.4_bound": FORMULA,
    "advanced_composition_DRV10": FORMULA,
    "advanced_composition_DworkRothBest(k*e0*tanh(e0/2))": FORMULA,
    "basic_composition": FORMULA,
    "expmech_bounded_range_DDR20_nonadaptive": "for mechanisms that do not adapt; test_closed.py",
    "expmech_bounded_range_zcdp_eps2/8_CKS": FORMULA,
    "gauss_sigma_classical": "a rule that is not exact: tests/privacy/test_gaussian.py",
    "group_privacy": "no composition: tests/privacy/test_group.py",
    "group_privacy_loose_k*exp((k-1)eps)*delta": "no composition: tests/privacy/test_group.py",
    "group_privacy_tight_delta*(exp(k*eps)-1)/(exp(eps)-1)": "no composition: tests/privacy/test_group.py",
    "group_privacy_zcdp": "no composition: tests/privacy/test_group.py",
    "smalldelta_laplace": "of another accountant's own discretised law, not of the noise",
    "smalldelta_poisson_subsampled_gauss": "upper ends of one grid, good to five figures: test_sampled_oracles.py",
    "zcdp_of_pure_eps2/2_CKS": FORMULA,
    "zcdp_to_delta_CKS20": FORMULA,
    "zcdp_to_eps_CKS20": FORMULA,
    "zcdp_to_eps_loose_BS16": FORMULA,
}
LONG = 20_000  # losses; more are in the slow run


def size(row):
    return spelled(row["losses"]).size


def check(row):
    parts = spelled(row["losses"]).parts
    accuracy = 1e-3 if "poisson" in row["losses"] else 1e-4
    found = certified(parts, row["asked"], F(row["at"]), accuracy=accuracy)
    value, exact = F(row["value"]), row["known"] == "exact"
    # a printed value is rounded: an exact one to a double, and where delta was computed for a printed sigma, in that
    loose = F(1, 10**12) if exact else F(3, 10**6)
    assert found.upper is not None
    assert found.lower * (1 - loose) <= value <= found.upper * (1 + loose), (float(found.lower), float(found.upper))
    assert found.width() <= (1e-6 if exact else 1e-3), found.width()


def test_every_case_is_covered_or_has_its_reason():
    assert {row["case"] for row in ROWS} == {row["case"] for row in COVERED} | set(NOT_HERE)
    assert not {row["case"] for row in COVERED} & set(NOT_HERE)


def ids(rows):
    return [f"{row['losses']} {row['asked']} at {row['at']}".replace(" ", "") for row in rows]


SHORT_ROWS = [row for row in COVERED if size(row) <= LONG]
LONG_ROWS = [row for row in COVERED if size(row) > LONG]


@pytest.mark.parametrize("row", SHORT_ROWS, ids=ids(SHORT_ROWS))
def test_the_bracket_holds_what_is_known(row):
    check(row)


@pytest.mark.slow
@pytest.mark.parametrize("row", LONG_ROWS, ids=ids(LONG_ROWS))
def test_the_bracket_of_very_many_holds_what_is_known(row):
    check(row)
