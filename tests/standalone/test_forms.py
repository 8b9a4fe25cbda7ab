"""What stands alone knows every form that the product can write, and needs nothing but Python."""

from __future__ import annotations

import ast
import dataclasses
import io
import sys
import tokenize
from fractions import Fraction as F
from pathlib import Path
from types import UnionType
from typing import Union, get_args, get_origin, get_type_hints

from questions import CATALOG, quoted

from dpcurator.aggregates import AGGREGATES
from dpcurator.language import rows
from dpcurator.language.functions import FUNCTIONS
from dpcurator.mechanisms.key_selection import SELECTIONS
from dpcurator.plan import nodes, relations
from dpcurator.plan.stability import ASK_RULES, NODE_RULES
from dpcurator.pricing.noise import NAMES
from dpcurator.receipts.receipt import FORMAT
from dpcurator.standalone import verify as alone
from receipts import CATALOGS, curator

TEXT = Path(alone.__file__).read_text("utf-8")


def kinds(hint: object) -> set[type]:
    """All node types that may stand where a type is expected."""
    if get_origin(hint) in (Union, UnionType, tuple):
        return {kind for part in get_args(hint) for kind in kinds(part)}
    return {hint} if isinstance(hint, type) and dataclasses.is_dataclass(hint) else set()


def reached(kind: type, seen: set[type]) -> set[type]:
    if kind not in seen:
        seen.add(kind)
        for hint in get_type_hints(kind).values():
            for inner in kinds(hint):
                reached(inner, seen)
    return seen


def test_every_node_of_a_plan_and_of_a_row_expression_is_known_with_its_fields():
    found = reached(nodes.Plan, set()) | {nodes.Ask}
    named = {one.__name__: {"node", *(field.name for field in dataclasses.fields(one))} for one in found}
    assert named == alone.KNOWN | {node: alone.KNOWN[node] | {*more.split()} for node, more in alone.LATER.items()}
    every = [one for room in (nodes, relations, rows) for one in vars(room).values()
             if dataclasses.is_dataclass(one) and one.__module__ == room.__name__]
    assert set(every) == found  # and the product has no other


def test_a_condition_stands_where_one_is_taken_and_a_value_where_a_value_is():
    """In every field of a plan that reads rows, as its type says: of a condition, a value, a branch, one or several."""
    rooms = (nodes, relations, rows)
    every = [one for room in rooms for one in vars(room).values() if dataclasses.is_dataclass(one)]
    probes = [rows.Truth, rows.Field, rows.When, rows.Constant, rows.Not]
    tried = 0
    for kind in (one for one in every if alone.KIND[one.__name__] != 1):
        for name, hint in get_type_hints(kind).items():
            taken = kinds(hint)
            if not taken or not taken <= {*get_args(rows.Expression), rows.When}:
                continue
            many = get_origin(hint) is tuple
            for probe in probes:
                held = {"node": probe.__name__}
                part = {"node": kind.__name__, name: [held] if many else held}
                assert alone.stands(part, name) is (probe in taken), part
                tried += 1
            for held in (7, "true", {}, [], [[]] if many else [{"node": next(iter(taken)).__name__}]):
                assert alone.stands({"node": kind.__name__, name: held}, name) is (many and held == [])
    assert tried > 80


def test_everything_else_that_a_receipt_may_name_is_known():
    assert {function.name for function in FUNCTIONS} == alone.ROW_FUNCTIONS
    assert alone.FORMAT == FORMAT
    made = curator().ask("SELECT COUNT(*) FROM visits", epsilon=1)
    assert set(made.receipt) == alone.RECEIPT
    assert {kind.__name__ for kind in NODE_RULES} == {*alone.RELATIONS, "Grouped", "Bounded"}
    assert set(ASK_RULES) == {"rows", "present", "units", "distinct", *alone.SUMMED, *alone.OVERALL}
    assert sorted(set(NAMES.values())) == ["discrete_gaussian", "discrete_laplace", "exponential", "permute_and_flip"]
    known = {"COUNT", "SUM", "AVG", "QUANTILE", *alone.MOMENTS, *alone.PAIRS, *alone.NAMES_SOME} - {"TOP_K DISTINCT"}
    assert {rule.function for rule in AGGREGATES} == known
    for rule in SELECTIONS:
        assert f'"{rule.spending(F(1), F(1, 10), groups=1).as_json()["rule"]}"' in TEXT


def test_all_catalogs_of_these_tests_have_receipts_it_knows():
    for catalog in CATALOGS.values():
        made = curator(catalog).ask("SELECT city, AVG(cost) FROM visits GROUP BY city", spend="5%")
        assert alone.form(made.receipt)
    assert quoted("SELECT COUNT(*) FROM visits", catalog=CATALOG).priced


def test_it_imports_the_standard_library_alone_and_says_what_it_does_not_check():
    names = set()
    for node in ast.walk(ast.parse(TEXT)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
    assert {name.split(".")[0] for name in names} <= set(sys.stdlib_module_names)
    assert alone.NOT_CHECKED.startswith("not checked: ")


def test_it_stays_short_enough_to_be_read():
    """Under 955 lines of code: lines of the file that are not blank, not a comment alone, and not of a docstring."""
    tree = ast.parse(TEXT)
    words = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node):
            words |= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    lines = {n for n, line in enumerate(TEXT.splitlines(), 1) if line.strip() and not line.strip().startswith("#")}
    assert len(lines - words) < 955
    assert max(map(len, TEXT.splitlines())) <= 120
    assert ";" not in {token.string for token in tokenize.generate_tokens(io.StringIO(TEXT).readline)}
    longest = max((node.end_lineno or 0) - node.lineno for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    assert longest <= 35
