"""What a receipt claims of its plan: that an engine runs it, how far one unit moves it, which public facts it rests on.

A receipt's plan may be built by hand, so nothing it says of itself is believed: it is read, written back and typed anew
(plan/check_outputs.py), and the stability fold of the plan alone (plan/stability.py) finds the same integers as the
curator did. A public fact that an engine does not enforce is a catalog's only when the catalog is there to be asked.
Checked in tests/receipts/test_verify.py, tests/plan/test_check_outputs.py and tests/attacks/test_adversary_surface.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dpcurator.aggregates import rule_of
from dpcurator.catalog.model import Catalog
from dpcurator.engines.limits_rows import Rows
from dpcurator.language.rows import Expression, Field, Operand, walk
from dpcurator.ledger.keys import canonical
from dpcurator.numbers import decimal_text
from dpcurator.plan.candidates import candidates
from dpcurator.plan.canonical import as_json, digest
from dpcurator.plan.check_catalog import disagreement
from dpcurator.plan.check_outputs import misfit
from dpcurator.plan.facts import facts_of
from dpcurator.plan.nodes import Ask, Plan, Where, measured_of
from dpcurator.plan.relation_facts import check_size
from dpcurator.plan.relations import JoinOnUnit, JoinPublic, UnionAll, expressions_of, leaves, public_expressions_of
from dpcurator.plan.relations import walk as relations
from dpcurator.plan.stability import Steps, derivation, reading
from dpcurator.pricing.grids import MOST_EXPONENT, MOST_OF_PRODUCT, nearest
from dpcurator.pricing.grids import steps as grid_steps
from dpcurator.receipts.form import DIGEST, Parsed, amount_of, require, spelled
from dpcurator.receipts.receipt import reach_json
from dpcurator.values import Json

MOST_COLUMNS: Final = 10**6  # of a table that a plan speaks of


def check_plan(told: Parsed) -> str:
    plan, receipt = told.plan, told.receipt
    require(as_json(plan) == receipt["plan"], "the plan is not in its one spelling")
    require(digest(plan) == receipt["plan_sha256"], "the plan's digest is another")
    wrong = misfit(plan)
    require(wrong is None, wrong or "")
    _runs(plan)
    source = plan.source.source
    rows = " and ".join(dict.fromkeys(one.table for one in leaves(source.source)))
    keys = f"{source.keys}" if source.listed else "unknown"
    return f"a question about {rows}, {keys} keys, {len(plan.calls)} aggregates"


def _runs(plan: Plan) -> None:
    """Its expressions of rows are such as an engine runs, of columns that are what the plan itself says they are."""
    source, rows = plan.source.source, plan.source.source.source
    check_size(rows)
    lists = [key.digest == "" if key.count is None else spelled(DIGEST, key.digest) for key in source.columns]
    require(all(lists), "a list of keys has no digest")
    owners = [one.unit_index or 0 for one in leaves(rows)]
    require(all(0 <= index < MOST_COLUMNS for index in owners), "the plan reads a column that no table has")
    read: list[Expression] = [key.part for key in source.columns]
    read += [one.part for one in measured_of(plan)]
    while isinstance(rows, Where):
        read, rows = [rows.predicate, *read], rows.source
    _expressions(read)
    for node in relations(rows):
        _expressions(expressions_of(node))
        _expressions(public_expressions_of(node))
        match node:
            case JoinOnUnit(_, _, one, other) | JoinPublic(_, _, one, other) | UnionAll(_, _, one, other):
                places = (*one, *other)
            case _:
                places = ()
        require(all(index < MOST_COLUMNS for index in places), "the plan reads a column that no table has")
    for call in plan.calls:
        rule_of(call)


def _expressions(read: Sequence[Expression]) -> None:
    """These are of one row, and say of each column the same."""
    kinds = {part.index: part.kind for one in read for part in walk(one) if isinstance(part, Field)}
    require(all(0 <= index < MOST_COLUMNS for index in kinds), "the plan reads a column that no table has")
    checked = Rows(tuple(kinds.get(index, "text") for index in range(max(kinds, default=-1) + 1)))
    for part in dict.fromkeys(read):
        if isinstance(part, Operand):
            checked.operand(part)
        else:
            checked.predicate(part)


def check_sensitivity(told: Parsed, catalog: Catalog | None) -> str:
    receipt, reach = told.receipt, told.reach
    require(receipt["neighbours"] == reach.neighbours, "the plan's sensitivity is that of other neighbours")
    require(canonical(receipt["reach"]) == canonical(reach_json(reach)), "the reach is not what the plan implies")
    _filled(told, catalog)
    words: list[str] = []
    for ask, claim in told.claims:
        steps = _steps(claim["grid"])
        if ask.q is None:
            _grid(ask, steps)
            require(claim.get("candidates") == ask.among, "the candidates of a choice are others")
        elif ask.column is not None:
            found = candidates(ask.column, reach.keys)
            require(steps == grid_steps(found.grid), "the candidates of a quantile are others")
            require(claim.get("candidates") == found.count, "the candidates of a quantile are others")
        bound = reading(ask, reach, steps)
        for name in ("coordinates", "linf", "l1", "l2_squared"):
            require(claim[name] == getattr(bound, name), f"{name} of a reading should be {getattr(bound, name)}")
        require(claim["unit"] == str(bound.unit), "the unit of a reading is another")
        require(claim["derivation"] == list(derivation(ask, reach, bound)), "the derivation is another")
        words.append(decimal_text(bound.l1 * bound.unit))
    return f"one unit moves the readings by at most {', '.join(words)} (l1), derived again from the plan"


def _filled(told: Parsed, catalog: Catalog | None) -> None:
    """That missing values are read as a declared one is done before an engine sees them, so no plan enforces it: where
    a sensitivity is smaller for it, only the catalog shows that it is so (`check_catalog` compares all of them)."""
    for column in measured_of(told.plan):
        require(
            told.reach.public_count(column) is None or catalog is not None,
            f"that {column.name} is never missing lowers what its noise must hide, and only the catalog can show it",
        )


def _steps(grid: Json) -> Steps:
    require(set(grid) == {"lower", "upper", "exponent"}, "a grid has other parts")
    require(all(type(part) is int and abs(part) < 2**127 for part in grid.values()), "a grid is of integers")
    return Steps(grid["lower"], grid["upper"], grid["exponent"])


def _grid(ask: Ask, steps: Steps) -> None:
    """The grid is the bounds of what is added up, rounded to its steps; a count has none."""
    column, ends = ask.column, ask.ends
    if column is None or ends is None:
        require(steps == Steps(), "a count has no grid")
        return
    most = MOST_EXPONENT if ask.on_grid == column else MOST_OF_PRODUCT
    require(abs(steps.exponent) <= most, "a grid's exponent is out of range")
    if ask.on_grid == column:
        require(column.kind == "float" or steps.exponent == 0, "an integer column's grid is the integers")
    elif all(one.kind == "integer" for one in column.each):
        require(steps.exponent <= 2, "the middle of whole numbers is in halves, a product in quarters")
    rounded = tuple(nearest(end, steps.exponent) for end in ends)
    require((steps.lower, steps.upper) == rounded, "a grid does not hold the column's bounds")


def check_nothing_read(told: Parsed, catalog: Catalog | None) -> str:
    """A public receipt's plan needs no reading and no selection of keys: its answer follows from public facts."""
    free = {"currency": told.currency, "amount": "0", "delta": "0"}
    require(told.receipt["neighbours"] == told.reach.neighbours, "the plan is of other neighbours")
    require(not told.resolved.asks and told.plan.source.source.listed, "private data must be read to answer this")
    require(told.receipt["price"] == free, "a public answer costs nothing")
    require(0 < amount_of(told.receipt["confidence"]) < 1, "the confidence is out of range")
    _filled(told, catalog)
    return "no private data need be read to answer this, so nothing was charged"


def check_catalog(told: Parsed, catalog: Catalog) -> str:
    receipt = told.receipt
    require(receipt["protects"] == catalog.protects, "it protects something else")
    require(receipt["neighbours"] == catalog.neighbours, "its neighbours are others")
    require(told.currency == catalog.currency, f"the catalog's budget is in {catalog.currency}")
    wrong = disagreement(told.plan, catalog)
    require(wrong is None, wrong or "")
    if told.charged:
        require(bool(catalog.delta) or told.costs["delta"] == 0, "the catalog has no delta to spend")
        require(told.budget == catalog.budget, "what it says is spent and left is not the catalog's budget")
    if catalog.data_version == receipt["data_version"]:
        bound = (facts_of(told.plan, catalog), catalog.digest)  # the second in receipts made before there was the first
        require(receipt["catalog_sha256"] in bound, "the catalog has changed since, in what this question uses")
    return "every public fact the sensitivity rests on is declared in the catalog"
