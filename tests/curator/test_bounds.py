"""Bounds that nobody knows: the codes of numbers, what is found on data of every size, and that no bound is used."""

from __future__ import annotations

import inspect
import math
import random
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest
from house import holds, spent

import dpcurator as dp
from dpcurator.catalog.model import Table
from dpcurator.engines.reference import Reference
from dpcurator.errors import Refusal
from dpcurator.language.rows import Field, walk
from dpcurator.release.column_bounds import LEAST, MOST, Asked, FoundBounds

CODES = 1 - LEAST + MOST  # of numbers above 0


def opened(place: Any, values: list[Any], column: Any = "float", **ledger: Any) -> dp.Curator:
    told = {"curator": {"protects": "people"}, "ledger": ledger or {"epsilon": 10**9}, "tables": {"visits": {
        "unit": "who", "max_total": 5, "columns": {"who": "text", "cost": column, "day": "date"}}}}
    data = {"who": [f"p{n}" for n in range(len(values))], "cost": values, "day": ["2024-01-01"] * len(values)}
    return dp.open(told, directory=place, visits=data, refresh=True)


def code(x: float) -> int:
    if x == 0:
        return 0
    if math.isinf(x):
        return CODES if x > 0 else -CODES
    return int(math.copysign(min(max(math.floor(10 * math.log10(abs(x))), LEAST), MOST) + 1 - LEAST, x))


SIZES = {
    "costs": lambda luck: luck.lognormvariate(5, 1), "below 0": lambda luck: luck.uniform(-300, -20),
    "about 0": lambda luck: luck.gauss(0, 1e-3), "large": lambda luck: 10 ** luck.uniform(3, 200),
    "small": lambda luck: -(10 ** luck.uniform(-300, -200)), "zeros": lambda luck: luck.choice((0.0, -0.0, 0.0, 7.5)),
}


@pytest.mark.parametrize("size", [pytest.param(size, marks=[pytest.mark.slow] * (size not in ("costs", "about 0")))
                                  for size in SIZES])
def test_at_a_huge_price_the_share_lies_beyond_each_end_whatever_the_numbers_are(tmp_path, size):
    luck = random.Random(size)
    values = [SIZES[size](luck) for _ in range(300)]
    found = opened(tmp_path, values).bounds("visits.cost", epsilon=10**6)
    low, high = map(float, found.bounds)
    assert low <= high
    assert sum(x < low for x in values) <= 15
    assert sum(x > high for x in values) <= 15
    ordered = sorted(values)
    ends = [(ordered[14], ordered[15]), (ordered[-16], ordered[-15])]  # whatever lies between is such a quantile
    for cell, (below, above) in zip(found.answer.cells[0][1:], ends, strict=True):
        assert code(below) - 1 <= cell.value <= code(above) + 1
    if ordered[15] > 0:  # and no further out than two figures and a tenth of a power of ten
        assert low >= ordered[14] * 10 ** -0.2
        assert high <= ordered[-15] * 10 ** 0.2


def test_declared_bounds_are_not_used(tmp_path):
    """The plan is the same whatever bounds are declared, and so is what is found of values beyond them."""
    values = [float(100 + n) for n in range(300)]
    one = opened(tmp_path / "one", values)
    two = opened(tmp_path / "two", values, {"type": "float", "bounds": [0, 1]})
    question = one.bounds_question("visits.cost")
    for plan in (one.plan(question), two.plan(question)):
        assert [(call.column.lower, call.column.upper) for call in plan.calls if call.q is not None] == [
            (-CODES, CODES)] * 2
    assert one.bounds("visits.cost", epsilon=10**6).bounds == two.bounds("visits.cost", epsilon=10**6).bounds


def test_codes_follow_the_numbers_and_are_those_of_their_definition():
    told = {"curator": {"protects": "people"}, "ledger": {"epsilon": 4}, "tables": {"visits": {
        "unit": "each row", "columns": {"cost": "float"}}}}
    curator = dp.rehearsing(told)
    quote = curator.quote(curator.bounds_question("visits.cost"), epsilon=1)
    values = [-1.7e308, -5.0, -1.0, -1e-300, -5e-324, 0.0, 5e-324, 1e-5, 0.9, 1.1, 2.0, 9.9, 1e5 * 1.01, 1.7e308]
    values = [-math.inf, *values, math.inf]  # which are clamped, as everywhere
    for value in values:
        (lying,) = Reference({"t0": {"c0": [value]}}).evaluate(quote.lowered.core).histograms_for_release()
        ((place, _),) = lying[0].items()
        assert place - CODES == code(value), value
    assert [code(value) for value in values] == sorted(code(value) for value in values)
    assert any(isinstance(part, Field) for call in quote.plan.calls for part in walk(call.column.part))


def test_it_is_paid_has_a_receipt_and_is_free_again(tmp_path):
    curator = opened(tmp_path, [float(n) for n in range(400)], epsilon=10)
    found = curator.bounds("visits.cost", epsilon="0.5")
    assert spent(curator) == Fraction(1, 2)
    holds(curator, found.answer)
    assert curator.bounds("visits.cost", epsilon="0.5").answer.repeated
    assert found.hidden
    assert found.bounds is found.line is None
    assert "no bounds are shown" in str(found)
    assert found.as_json()["paste"] is None


@pytest.mark.parametrize(("kind", "line"), [
    pytest.param("float", 'cost = { type = "float", bounds = [12.0, 320.0] }', marks=pytest.mark.slow),
    ("integer", 'cost = { type = "integer", bounds = [12, 320] }'),
])
def test_the_line_to_paste_is_one_that_a_catalog_takes(tmp_path, kind, line):
    values = [(float if kind == "float" else int)(n) for n in range(12, 312)]
    curator = opened(tmp_path, values, kind)
    found = curator.bounds("visits.cost", epsilon=10**6, share="0.01")
    assert found.bounds == (Decimal(12), Decimal(320))
    assert found.line == line
    assert line in str(found)
    import tomllib

    told = tomllib.loads(line)["cost"]
    again = opened(tmp_path / "again", values, told)
    assert again.ask("SELECT AVG(cost) AS a FROM visits", epsilon=1).rows


def test_its_signature_has_the_keywords_that_it_takes_and_no_others():
    """Errors that are wanted, and what they assume, are in rank here, and no price is looked for by that."""
    told = {"curator": {"protects": "people"}, "ledger": {"epsilon": 9}, "tables": {"visits": {
        "unit": "who", "max_total": 5, "columns": {"who": "text", "cost": "float"}}}}
    curator = dp.rehearsing(told)
    named = set(inspect.signature(curator.bounds).parameters)
    assert {"epsilon", "rho", "spend", "max_total", "share", "fresh"} <= named
    for name in ("within", "assume_count", "weights", "shares"):
        assert name not in named
        with pytest.raises(TypeError, match=name):
            curator.bounds("visits.cost", **{name: {"n": 50}})


@pytest.mark.parametrize(("kind", "codes", "line"), [
    ("integer", (3241 + 150, 3241 + 189), "[1000000000000000, 9223372036854775807]"),
    ("integer", (-3241 - 189, 0), "[-9223372036854775808, 0]"),
    ("float", (-6323, 6323), "[-1.7976931348623157e308, 1.7976931348623157e308]"),
    ("float", (3241 + 150, CODES), "[1.0e15, 1.7976931348623157e308]"),
])
def test_a_line_is_within_what_its_type_holds_and_whole_numbers_are_written_with_all_digits(kind, codes, line):
    """Near the ends of a type the outer edge of a code lies beyond it, where no catalog would take the line."""
    import tomllib

    table = declared(kind)
    cells = [SimpleNamespace(value=value, rank=1) for value in (10**6, *codes)]
    asked = Asked(table, table.columns[1], Fraction(1, 20))
    found = FoundBounds(asked, SimpleNamespace(cells=[cells]))  # type: ignore[arg-type]
    assert found.line == f'cost = {{ type = "{kind}", bounds = {line} }}'
    told = tomllib.loads(found.line)["cost"]
    assert declared(told).columns[1].lower == Fraction(found.bounds[0])
    assert [type(end) for end in told["bounds"]] == [{"integer": int, "float": float}[kind]] * 2


def declared(column: Any) -> Table:
    """A table of people with this column, as a catalog that takes it has it."""
    told = {"curator": {"protects": "people"}, "ledger": {"epsilon": 4}, "tables": {"visits": {
        "unit": "who", "max_total": 5, "columns": {"who": "text", "cost": column}}}}
    return dp.rehearsing(told).catalog.tables[0]


@pytest.mark.parametrize(("column", "share", "words"), [
    ("cost", None, "visits.cost"), ("visits.price", None, "no column"), ("visit.cost", None, "no table"),
    ("visits.who", None, "names the unit"), ("visits.day", None, "QUANTILE"), ("visits.cost", "0.5", "below a half"),
    ("visits.cost", 0, "above 0"), ("visits.cost", "1/3", "six places"),
])
def test_what_has_none_is_refused_with_the_way_out(tmp_path, column, share, words):
    curator = opened(tmp_path, [1.0, 2.0])
    with pytest.raises(Refusal) as refused:
        curator.bounds(column, epsilon=1, share=share)
    assert words in str(refused.value)
    assert spent(curator) == 0
