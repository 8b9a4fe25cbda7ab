"""The specification files of this folder: each question's core plan, its sensitivity by hand, at epsilon 1."""

from __future__ import annotations

from fractions import Fraction as F
from pathlib import Path

import pytest
from questions import quoted

from dpcurator.language import rows
from dpcurator.plan import core
from dpcurator.plan.core import CorePlan
from dpcurator.pricing.priced import Priced


def specified():
    """(question, readings, steps) of every file, in order."""
    for path in sorted(Path(__file__).parent.glob("*.sql")):
        for number, part in enumerate(path.read_text(encoding="utf-8").split("-- @question")[1:]):
            said, _, steps = part.partition("-- @steps")
            lines = said.splitlines()[1:]
            question = "\n".join(line for line in lines if not line.startswith("--"))
            readings = [line.removeprefix("-- @reading").strip() for line in lines if line.startswith("-- @reading")]
            wanted = [line.removeprefix("-- ") for line in steps.splitlines() if line.startswith("-- ")]
            yield pytest.param(question, readings, wanted, id=f"{path.stem}-{number}")


def reading_words(one: Priced) -> str:
    """A reading's sensitivity in the query's unit."""
    names = [] if one.ask.column is None else [column.name for column in one.ask.column.each]
    name = f"{one.ask.what}({', '.join(names)})" if names else one.ask.what
    name += "" if one.ask.q is None else f" at {one.ask.q}"
    name = name if one.ask.top is None else f"the {one.ask.top} greatest of {one.ask.among}, {name}"
    linf, l1 = (F(distance) * one.reading.unit for distance in (one.reading.linf, one.reading.l1))
    keys = "1 key" if one.reading.coordinates == 1 else f"{one.reading.coordinates} keys"
    return f"{name}: {keys}, linf {linf}, l1 {l1}"


def step_words(plan: CorePlan) -> list[str]:
    """The core plan, one step a line."""
    scanned = next(step.columns for step in plan if isinstance(step, core.Scan))
    computed = [part for step in plan if isinstance(step, core.Project) for part in step.parts]
    names = [source.name for source in scanned] + [f"p{number}" for number in range(len(computed))]

    def said(step: core.Step) -> str:
        match step:
            case core.Scan(table, sources):
                return f"scan {table}: " + ", ".join(f"{source.name} {source.kind}" for source in sources)
            case core.Filter(predicate):
                return f"filter {condition(predicate)}"
            case core.Project(parts):
                return "project " + ", ".join(f"p{number} = {words(part)}" for number, part in enumerate(parts))
            case core.Owner(column):
                return f"owner {'none' if column is None else names[column]}"
            case core.Listed(used, keys):
                listed = ", ".join(names[i] for i in used)
                return f"listed ({listed}) : {len(keys)} {'key' if len(keys) == 1 else 'keys'}"
            case core.Measure(grids, products, distinct):
                values = (f"values of {names[one.column]}" for one in distinct)
                return " ".join(["measure", *(measured(grid) for grid in grids), *map(multiplied, products), *values])
            case core.PerUnit():
                return "per unit"
            case core.ScaleDown(most, groups, one):
                return f"scale down: {most} rows, {groups} groups, one {one}"
            case core.Total(sums, _, histograms):
                kinds = [f"{s.what} {s.measure}" if s.what in ("present", "values", "distinct") else s.what
                         for s in sums]
                kinds += [f"histogram of {one.measure} by {one.step}" for one in histograms]
                return "total: " + ", ".join(kinds)

    def measured(grid: core.Grid) -> str:
        power = f" / 2^{grid.exponent}" if grid.kind == "float" else ""
        return f"{names[grid.column]} {grid.kind} [{grid.lower}, {grid.upper}]{power}"

    def multiplied(one: core.Product) -> str:
        return f"and {one.first} times {one.second} [{one.lower}, {one.upper}] / 2^{one.shift}"

    def condition(predicate: rows.Predicate) -> str:
        match predicate:
            case rows.Compare(op, left, right):
                return f"{words(left)} {op} {words(right)}"
            case rows.IsMissing(part):
                return f"{words(part)} missing"
            case rows.Like(operand, pattern, escape):
                return f"{words(operand)} like {pattern!r} escape {escape!r}"
            case rows.Not(part):
                return f"not {condition(part)}"
        raise AssertionError("write this condition's words here")

    def words(part: rows.Operand) -> str:
        match part:
            case rows.Field(index):
                return names[index]
            case rows.Constant(value):
                return str(value)
            case rows.Missing():
                return "missing"
            case rows.Compute(function, parts, _, literals):
                return f"{function}({', '.join([*map(words, parts), *map(str, literals)])})"
            case rows.Choose(branches, otherwise):
                made = [f"{condition(branch.condition)} then {words(branch.value)}" for branch in branches]
                return f"({', '.join(made)}, else {words(otherwise)})"

    return [said(step) for step in plan]


@pytest.mark.parametrize(("question", "readings", "steps"), list(specified()))
def test_a_question_lowers_as_specified(question, readings, steps):
    quote = quoted(question)
    assert [reading_words(one) for one in quote.priced] == readings
    assert step_words(quote.lowered.core) == steps
