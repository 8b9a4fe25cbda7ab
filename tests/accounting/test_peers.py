"""What other accountants' test suites and papers expect of single losses, with the source of each (peers.csv).

Their deltas, epsilons, divergences and atoms. A "value" is met within its tolerance (an enclosure holds it, but for
that); an "upper" bound of theirs is not passed by what is proved here; a "lower" one is not above it.
"""

from __future__ import annotations

import csv
from fractions import Fraction as F
from pathlib import Path
from typing import Any

import pytest

import dpcurator as dp
from dpcurator.numbers import Enclosure

ROWS = list(csv.DictReader((Path(__file__).parent / "peers.csv").read_text("utf-8").splitlines()))


def atom(law: Any, which: Any) -> tuple[Any, Any]:
    """The loss and the mass of the atom whose loss is largest (max) or least (min)."""
    found = which(law.atoms, key=lambda one: one.loss.hi if isinstance(one.loss, Enclosure) else one.loss)
    return found.loss, found.mass


def ends(value: Any) -> tuple[float, float]:
    if isinstance(value, Enclosure):
        return float(value.lo), float(value.hi)
    return float(value), float(value)


NAMES = {"dp": dp, "F": F, "atom": atom, "max": max, "min": min}


@pytest.mark.parametrize("row", ROWS, ids=[f"{i}" for i in range(len(ROWS))])
def test_the_numbers_of_others_are_met(row: dict[str, str]) -> None:
    low, high = ends(eval(row["expression"], dict(NAMES)))  # this file's own rows
    expected, slack = float(row["expected"]), float(row["tolerance"]) + 1e-12 * abs(float(row["expected"]))
    if row["kind"] == "upper":
        assert high <= expected + max(slack, 1e-3 * abs(expected))
    elif row["kind"] == "lower":
        assert high >= expected - slack
    else:
        assert low - slack <= expected <= high + slack
