"""What a relation of the core plan must satisfy before an engine touches data: names, kinds, units and expressions.

Looks at the plan alone. A node that is not listed here is refused. Checked in tests/laws/test_heart_relations.py.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from dpcurator.engines.limits_rows import Rows, kind_of
from dpcurator.errors import Refusal
from dpcurator.language.functions.function import LONGEST
from dpcurator.language.rows import check_value, require
from dpcurator.plan import core_relations as physical

TABLE_NAME: Final = re.compile(r"t[0-9]{1,9}")
COLUMN_NAME: Final = re.compile(r"c[0-9]{1,9}")
MOST_LEVELS: Final = 200  # nodes above each other


def check_source(source: physical.Source) -> None:
    """A column of a stored table, or of a relation as if it were stored."""
    require(COLUMN_NAME.fullmatch(source.name) is not None, "A stored column is named c0, c1, ...")
    require(source.kind in ("integer", "float", "text"), "A stored column is integer, float or text.")
    check_value(source.fill, source.kind)
    require(type(source.letters) is int and 1 <= source.letters <= LONGEST, f"A text has at most {LONGEST:,} letters.")


def check_stored(table: object, columns: Sequence[physical.Source]) -> None:
    """A stored table and its columns."""
    named = isinstance(table, str) and TABLE_NAME.fullmatch(table) is not None
    require(named, "A stored table is named t0, t1, ...")
    for source in columns:
        check_source(source)


def check_relation(node: physical.CoreRelation, levels: int = MOST_LEVELS) -> tuple[physical.Source, ...]:
    """Its columns. Raises Refusal."""
    require(levels > 0, "The plan's relations are nested too deeply.")
    match node:
        case physical.Stored(table, columns, unit):
            check_stored(table, columns)
            if unit is not None:
                _unit(unit, columns)
        case physical.Only(source, predicate):
            columns = check_relation(source, levels - 1)
            Rows(tuple(one.kind for one in columns)).predicate(predicate)
        case physical.Flag(source, unit, among, among_unit):
            columns, others = check_relation(source, levels - 1), check_relation(among, levels - 1)
            require(_unit(unit, columns) == _unit(among_unit, others), "Units of two kinds are not the same units.")
        case physical.Found(source, on, other, unknown):
            columns, others = check_relation(source, levels - 1), check_relation(other, levels - 1)
            kinds = tuple(one.kind for one in columns)
            alike = [kind_of(kinds, index) for index in on] == [one.kind for one in others]
            require(bool(on) and alike, "Values of one kind are compared, in pairs.")
            require(type(unknown) is bool and (len(on) == 1 or not unknown), "IN compares one value.")
        case physical.Match(source, other, on, other_on, left):
            columns, others = check_relation(source, levels - 1), check_relation(other, levels - 1)
            require(len(on) == len(other_on) >= 1 and type(left) is bool, "A join compares columns in pairs.")
            kinds, more = (tuple(one.kind for one in side) for side in (columns, others))
            for one, another in zip(on, other_on, strict=True):
                require(kind_of(kinds, one) == kind_of(more, another), "A join compares values of one kind.")
        case physical.Both(source, other):
            columns, others = check_relation(source, levels - 1), check_relation(other, levels - 1)
            alike = [one.kind for one in columns] == [one.kind for one in others]
            require(bool(columns) and alike, "Rows are put together with rows of the same kinds.")
        case physical.Ranked(source, keys, order):
            columns = check_relation(source, levels - 1)
            kinds = tuple(one.kind for one in columns)
            require(bool(keys) and bool(order), "Rows are numbered in some order, among those of some key.")
            for index in (*keys, *(one.column for one in order)):
                kind_of(kinds, index)
            said = all(type(flag) is bool for one in order for flag in (one.descending, one.missing_first))
            require(said, "An order goes up or down, with missing values first or last.")
        case physical.Columns(source, parts):
            columns = check_relation(source, levels - 1)
            checked = Rows(tuple(one.kind for one in columns))
            require(bool(parts), "A relation has columns.")
            for part in parts:
                checked.operand(part)
        case physical.Groups(source, keys, folds):
            columns = check_relation(source, levels - 1)
            require(type(keys) is int and 1 <= keys <= len(columns), "Rows are grouped by columns that there are.")
            for fold in folds:
                _fold(fold, columns)
        case _:
            raise Refusal("This is not a relation a core plan may hold.")
    return physical.columns_of(node)


def _fold(fold: physical.Folded, columns: Sequence[physical.Source]) -> None:
    """|steps| <= 2**60, so that a sum over 2**48 rows stays below 2**110."""
    kinds = tuple(one.kind for one in columns)
    require(fold.function in FOLDS, "No fold has this name.")
    kind, _ = kind_of(kinds, fold.column), kind_of(kinds, fold.by)
    if fold.function.endswith(("_i", "_f")):
        require(kind == ("float" if fold.function.endswith("_f") else "integer"), "A sum has the kind of its column.")
    require(all(type(end) is float and math.isfinite(end) for end in fold.ends), "A clamp is of finite doubles.")
    require(all(type(step) is int and abs(step) <= 2**60 for step in fold.steps), "A sum's bounds pass 60 bits.")
    require(type(fold.exponent) is int and -1000 <= fold.exponent <= 1000, "A grid's exponent is from -1000 to 1000.")
    require(fold.ends[0] <= fold.ends[1] and fold.steps[0] <= fold.steps[1], "A clamp's lower bound passes its upper.")
    reach = max(abs(Fraction(end)) for end in fold.ends) * Fraction(2) ** fold.exponent
    require(reach <= 2**60, "A sum's bounds pass 60 bits.")


FOLDS: Final = ("rows", "present", "distinct", "sum_i", "sum_f", "avg_i", "avg_f", "least", "greatest", "arg_least",
                "arg_greatest")


def _unit(unit: int, columns: Sequence[physical.Source]) -> str:
    kind = kind_of(tuple(one.kind for one in columns), unit)
    require(kind != "float", "A unit is an integer or a text, never a float.")
    return kind
