"""What other accountants' test suites and papers expect, with the source of each (peers.csv).

Deltas, epsilons, divergences, atoms, noise for a target, compositions, trade-offs, variances of local reports. A
"value" is met within its tolerance (an enclosure holds it, but for that); an "upper" bound of theirs is not passed by
what is proved here; a "lower" one is not above it. `long` rows are of the slow tests.

Rows that no right accounting meets as values stand here as what they are. Losses of Poisson samples on coarse grids and
a divergence between whole orders that others round up are upper bounds. The census bureau's 17.14 and 2.47 are of a rho
that was rounded to 2.56 and .07. Of two sigmas of autodp's legacy calibrator one is above the least, and one below it:
its noise has a delta above 1e-8.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from fractions import Fraction as F
from pathlib import Path
from typing import Any

import pytest

import dpcurator as dp
import dpcurator.accounting.convert
from dpcurator.accounting.bracket import Bracket
from dpcurator.accounting.closed.bounds import upper_bounds
from dpcurator.numbers import Enclosure
from dpcurator.privacy.zcdp import epsilon_of

E0 = Enclosure.exactly(0)
ROWS = list(csv.DictReader((Path(__file__).parent / "peers.csv").read_text("utf-8").splitlines()))


def atom(law: Any, which: Any) -> tuple[Any, Any]:
    """The loss and the mass of the atom whose loss is largest (max) or least (min)."""
    found = which(law.atoms, key=lambda one: one.loss.hi if isinstance(one.loss, Enclosure) else one.loss)
    return found.loss, found.mass


def ends(value: Any) -> tuple[float, float]:
    if isinstance(value, Enclosure):
        return float(value.lo), float(value.hi)
    if isinstance(value, Bracket):
        return float(value.lower), float(value.upper)
    if isinstance(value, tuple):
        return value
    return float(value), float(value)


def between(one: Any, other: Any) -> tuple[float, float]:
    """All that lies between two of them: a figure for noise that is stated to three digits."""
    (a, b), (c, d) = ends(one), ends(other)
    return min(a, c), max(b, d)


def sigma(found: Any) -> float:
    return math.sqrt(found.loss["variance"])


def scale(found: Any) -> F:
    return found.loss["scale"]


def refused(make: Callable[[], object]) -> int:
    try:
        make()
    except dp.Refusal:
        return 1
    return 0


def variance(local: Any) -> F:
    """Of the estimate of a share of nearly 0 from one report: q (1-q) / (p-q)**2; hashes taken for even ones."""
    p, q = (local.p, local.q) if isinstance(local, dp.UnaryEncoding) else (local.truth, local.lie)
    q = F(1, local.buckets) if isinstance(local, dp.LocalHashing) else q
    return q * (1 - q) / (p - q) ** 2


def norm_tail(x: str) -> float:
    return math.erfc(float(x) / math.sqrt(2)) / 2


def at_least(inverse: int, threshold: int) -> Enclosure:
    """P(Z >= threshold) of discrete Laplace noise of scale 1/inverse."""
    return (1 - sum((dp.DiscreteLaplace(F(1, inverse)).pmf(k) for k in range(1 - threshold, threshold)), E0)) / 2


NAMES = {
    "dp": dp, "F": F, "atom": atom, "max": max, "min": min, "sum": sum, "range": range, "E0": E0, "between": between,
    "sigma": sigma, "scale": scale, "refused": refused, "variance": variance, "norm_tail": norm_tail,
    "at_least": at_least, "upper_bounds": upper_bounds, "math": math,
    "zc": lambda rho, delta: epsilon_of(F(rho), F(delta)), "dpcurator": dpcurator,
}


def marked(number: int, row: dict[str, str]) -> Any:
    return pytest.param(row, id=f"{number}", marks=[pytest.mark.slow] if row["long"] else [])


@pytest.mark.parametrize("row", [marked(i, row) for i, row in enumerate(ROWS)])
def test_the_numbers_of_others_are_met(row: dict[str, str]) -> None:
    low, high = ends(eval(row["expression"], dict(NAMES)))  # this file's own rows
    expected, slack = float(row["expected"]), float(row["tolerance"]) + 1e-12 * abs(float(row["expected"]))
    if row["kind"] == "upper":
        assert high <= expected + max(slack, 1e-3 * abs(expected))
    elif row["kind"] == "lower":
        assert high >= expected - slack
    else:
        assert low - slack <= expected <= high + slack
