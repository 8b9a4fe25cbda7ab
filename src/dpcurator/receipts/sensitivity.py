"""How far one unit moves the readings of a receipt: the stability fold of its plan, again, on the grids it names.

The fold reads the plan alone (plan/stability.py), so whoever holds the receipt finds the same integers as the curator
did. Checked in tests/receipts/test_verify.py.
"""

from __future__ import annotations

from dpcurator.ledger.keys import canonical
from dpcurator.numbers import decimal_text
from dpcurator.plan.canonical import plan_of
from dpcurator.plan.nodes import Measured
from dpcurator.plan.stability import Steps, derivation, reading, stability
from dpcurator.pricing.grids import nearest
from dpcurator.pricing.quote import SUMMED
from dpcurator.receipts.plans import claims_of
from dpcurator.receipts.steps import require
from dpcurator.values import Json


def check_sensitivity(receipt: Json) -> str:
    plan = plan_of(receipt["plan"])
    reach = stability(plan.source)
    require(receipt["neighbours"] == reach.neighbours, "the plan's sensitivity is that of other neighbours")
    claimed = receipt["reach"]
    found = {"rows": reach.rows, "groups": reach.groups, "keys": reach.keys, "one": reach.one, "units": reach.units}
    found |= {} if reach.total is None else {"total": reach.total}
    require(canonical(claimed) == canonical(found), "the reach is not what the plan implies")
    words: list[str] = []
    for ask, claim in claims_of(receipt):
        steps = _steps(claim["grid"])
        _grid(ask.what, ask.column, steps)
        bound = reading(ask, reach, steps)
        for name in ("coordinates", "linf", "l1", "l2_squared"):
            require(claim[name] == getattr(bound, name), f"{name} of a reading should be {getattr(bound, name)}")
        require(claim["unit"] == str(bound.unit), "the unit of a reading is another")
        require(claim["derivation"] == list(derivation(ask, reach, bound)), "the derivation is another")
        words.append(decimal_text(bound.l1 * bound.unit))
    return f"one unit moves the readings by at most {', '.join(words)} (l1), derived again from the plan"


def _steps(grid: Json) -> Steps:
    require(set(grid) == {"lower", "upper", "exponent"}, "a grid has other parts")
    require(all(type(part) is int and abs(part) < 2**127 for part in grid.values()), "a grid is of integers")
    require(abs(grid["exponent"]) <= 1000, "a grid's exponent is out of range")
    return Steps(grid["lower"], grid["upper"], grid["exponent"])


def _grid(what: str, column: Measured | None, steps: Steps) -> None:
    """The grid is the column's bounds, rounded to its steps; a count has none."""
    if column is None or what not in SUMMED or column.lower is None or column.upper is None:
        require(steps == Steps(), "a count has no grid")
        return
    require(column.kind == "float" or steps.exponent == 0, "an integer column's grid is the integers")
    rounded = (nearest(column.lower, steps.exponent), nearest(column.upper, steps.exponent))
    require((steps.lower, steps.upper) == rounded, "a grid does not hold the column's bounds")
