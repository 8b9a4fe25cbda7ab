"""What is public about the result of a relation: one rule a node, one fold (semantics 8.7).

The result is described as a table of the catalog is: its columns with types, kinds, bounds, lists of keys; so all that
reads expressions, keys and bounds of a table reads a derived one alike. Columns have names that differ, those of the
left side first. Nothing is ever read off private rows. A node without a rule is refused by name.
Checked in tests/plan/test_bind_relations.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from dpcurator.catalog.model import Catalog, Column, Table, Value
from dpcurator.errors import Refusal
from dpcurator.language.evaluate import value
from dpcurator.language.intervals import bounds
from dpcurator.language.names import show
from dpcurator.language.rows import Field, Operand, fields, moved
from dpcurator.language.spelling import spelled
from dpcurator.plan import relations
from dpcurator.plan.core_relations import letters
from dpcurator.plan.nodes import Plan
from dpcurator.plan.public_keys import image, same_in_a_unit, selectable

MOST_DEPTH: Final = 64  # nodes above each other
MOST_NODES: Final = 256  # of one question, each counted where it stands
STEPS: Final = 100_000  # to name the values of one column of a subquery, of which a question may have very many
MOST_MADE: Final = 1_000  # rows that joins with public tables make of one
MOST_LISTED: Final = 10_000  # values of a public column of which an expression in ON is computed, to count its rows


@dataclass(frozen=True, slots=True)
class Facts:
    """table: the columns, as those of a table. unit: which of them owns a row, None where each row is a unit.

    one_row: a unit has at most one row. Nothing that is promised rests on it: caps of 1 are enforced as all caps are.
    """

    table: Table
    unit: int | None
    one_row: bool = False
    keyed: frozenset[int] | None = None  # columns of which a unit has each combination of values in one row
    present: frozenset[int] | None = None  # the same of those rows alone where none of them is missing

    @property
    def unique(self) -> frozenset[int] | None:
        """Columns that, with the unit, are the same in one row at most, where none is missing: a join finds one."""
        return frozenset() if self.one_row else self.keyed if self.keyed is not None else self.present


def _rows(node: relations.Rows, catalog: Catalog) -> Facts:
    table = next((table for table in catalog.tables if table.name == node.table and table.private), None)
    if table is None:
        raise LookupError("the catalog has no such private table")
    names = [column.name for column in table.columns]
    alike = frozenset(map(names.index, table.one_row_per or table.distinct))
    filled = any(table.columns[index].missing is not None for index in alike)  # a refresh knows missing values as such
    known = alike if alike and not filled else None
    if table.one_row_per:
        return Facts(table, node.unit_index, False, known)
    return Facts(table, node.unit_index, node.unit is None or table.one_row_per == (), None, known)


def _where(node: relations.Where, catalog: Catalog) -> Facts:
    """Of rows with number 1 there is one of a unit and the keys they were numbered by."""
    found, first = facts(node.source, catalog), relations.first_of(node)
    if first is None:
        return found
    keys = [one.part for one in first.keys]
    named = frozenset(key.index for key in keys if isinstance(key, Field))
    return replace(found, one_row=found.one_row or not keys, keyed=named if len(named) == len(keys) else found.keyed)


def _in_cohort(node: relations.InCohort, catalog: Catalog) -> Facts:
    found, other = facts(node.source, catalog), facts(node.among, catalog)
    name = f"{found.table.unit} IN {other.table.name}"
    return replace(found, table=with_column(found.table, Column(name, "boolean", per_unit=True)))


def _in_public(node: relations.InPublic, catalog: Catalog) -> Facts:
    found = facts(node.source, catalog)
    public_table(node.table, catalog)
    name = f"{', '.join(one.name for one in node.here)} IN {node.table}"
    same = all(same_in_a_unit(one.part, found.table) for one in node.here)
    return replace(found, table=with_column(found.table, Column(name, "boolean", per_unit=same)))


def _computed(node: relations.Computed, catalog: Catalog) -> Facts:
    found = facts(node.source, catalog)
    table = found.table
    for one in node.columns:
        table = with_column(table, made_column(one.part, one.name, one.type, found.table))
    return replace(found, table=table)


def _per_unit(node: relations.PerUnit, catalog: Catalog) -> Facts:
    """Without keys a unit has one row, so every column is the same in all its rows."""
    found = facts(node.source, catalog)
    if found.unit is None:
        raise TypeError("a row that is a unit has no others to be grouped with")
    below = found.table
    table = replace(below, columns=(replace(below.columns[found.unit], missing=None),), distinct=())
    for key in node.keys:
        table = with_column(table, made_column(key.part, key.name, key.type, below))
    for fold in node.folds:
        table = with_column(table, folded_column(fold, below))
    if not node.keys:
        table = replace(table, columns=tuple(replace(column, per_unit=True) for column in table.columns))
    return Facts(table, 0, not node.keys, frozenset(range(1, len(node.keys) + 1)))


def _join_on_unit(node: relations.JoinOnUnit, catalog: Catalog) -> Facts:
    """Joined on the unit alone to one row a unit, the other side's columns are the same in all rows of a unit."""
    found, other = facts(node.source, catalog), facts(node.other, catalog)
    table = found.table
    for column in other.table.columns:
        same = column.per_unit and not node.on
        table = with_column(table, replace(column, missing=None, per_unit=same))
    return replace(found, table=table)


def _join_public(node: relations.JoinPublic, catalog: Catalog) -> Facts:
    found = facts(node.source, catalog)
    table = found.table
    for column in public_table(node.table, catalog).columns:
        table = with_column(table, replace(column, missing=None, unique=False, most=None))
    if node.single:
        return replace(found, table=table)
    return Facts(table, found.unit)


def _union_all(node: relations.UnionAll, catalog: Catalog) -> Facts:
    """A column, the unit too, has the values of both sides, so their bounds and keys together, where both have some."""
    found, other = facts(node.source, catalog), facts(node.other, catalog)
    if found.unit is None or other.unit is None:
        raise TypeError("a row that is a unit has no others to be put together with")
    owner = _either(found.table.columns[found.unit], other.table.columns[other.unit])
    table = replace(found.table, columns=(owner,), distinct=())
    for a, b in zip(node.columns, node.other_columns, strict=True):
        table = with_column(table, _either(read_column(found.table, a), read_column(other.table, b)))
    return Facts(table, 0)


def read_column(table: Table, index: int) -> Column:
    """What is public of a column as it is read: a value that stands for missing ones is one of its values."""
    column = table.columns[index]
    return made_column(Field(index, column.kind), column.name, column.type, table)


def _either(one: Column, other: Column) -> Column:
    if one.type != other.type:
        raise TypeError("columns of two types are put together")
    low, high = None, None
    if None not in (one.lower, one.upper, other.lower, other.upper):
        low, high = min(one.lower, other.lower), max(one.upper, other.upper)  # type: ignore[type-var]
    keys = None if one.keys is None or other.keys is None else canonical_order({*one.keys, *other.keys})
    unknown = keys is None and all(column.unknown_keys or column.keys is not None for column in (one, other))
    return Column(one.name, one.type, low, high, keys, None, unknown, max(one.letters, other.letters))


def canonical_order(values: Iterable[Value]) -> tuple[Value, ...]:
    """Missing first, then by value."""
    return tuple(sorted(values, key=lambda value: (value is not None, value if value is not None else 0)))


def _numbered(node: relations.Numbered, catalog: Catalog) -> Facts:
    found = facts(node.source, catalog)
    if found.unit is None or node.at != len(found.table.columns):
        raise TypeError("a row that is a unit has no others, or its number is another column")
    return replace(found, table=with_column(found.table, Column("ROW_NUMBER()", "integer")))


def public_table(name: str, catalog: Catalog) -> Table:
    """A public table of the catalog. Raises LookupError."""
    found = next((table for table in catalog.tables if table.name == name and not table.private), None)
    if found is None:
        raise LookupError("the catalog has no such public table")
    return found


def made_column(part: Operand, name: str, type: str, table: Table) -> Column:
    """What is public of a column that is computed of these ones: its bounds and keys follow from theirs."""
    if isinstance(part, Field):
        return replace(table.columns[part.index], name=name, type=type, missing=None, keys=_keys(part, table))
    found = bounds(part, table) or (None, None)
    keys = _keys(part, table)
    selected = keys is None and selectable(part, table)
    long = letters(part, lambda index: table.columns[index].letters)
    return Column(name, type, found[0], found[1], keys, None, selected, long, same_in_a_unit(part, table))


def folded_column(fold: relations.Fold, table: Table) -> Column:
    """Values of the column itself keep its bounds and keys, an average its bounds; counts and sums have none."""
    part = fold.part
    if part is None or fold.function in ("present", "distinct", "sum"):
        return Column(fold.name, fold.type)
    made = made_column(part, fold.name, fold.type, table)
    if fold.function == "avg":
        ends = bounds(part, table) or (None, None)
        return Column(fold.name, fold.type, *ends)
    return replace(made, per_unit=False)


def _keys(part: Operand, table: Table) -> tuple[Value, ...] | None:
    """The values that it can have, and missing, where they are public and soon named."""
    try:
        found = image(part, table, STEPS)
    except Refusal:
        return None
    if found is not None and isinstance(part, Field) and table.columns[part.index].missing is not None:
        fill = table.columns[part.index].missing
        found = found if fill in found else (*found, fill)
    return found


RULES: Final[dict[type, Callable[..., Facts]]] = {
    relations.Rows: _rows, relations.Where: _where, relations.InCohort: _in_cohort, relations.InPublic: _in_public,
    relations.Computed: _computed, relations.PerUnit: _per_unit, relations.JoinOnUnit: _join_on_unit,
    relations.JoinPublic: _join_public, relations.UnionAll: _union_all, relations.Numbered: _numbered,
}


MOST_FOUND: Final = 512
_FOUND: Final[dict[tuple[int, int], tuple[relations.Relation, Catalog, tuple[Callable[..., Facts], ...], Facts]]] = {}


def facts(node: relations.Relation, catalog: Catalog) -> Facts:
    """Fold the rules over a relation. Raises LookupError where the catalog has no such table.

    Binding, lowering and pricing ask for the same nodes over and over: what was last found of a node is kept, by the
    node, the catalog and the rules themselves.
    """
    rule, key, rules = RULES.get(type(node)), (id(node), id(catalog)), tuple(RULES.values())
    if rule is None:
        raise TypeError(f"no rule says what is public of {type(node).__name__}")
    held = _FOUND.get(key)
    if held is not None and held[0] is node and held[1] is catalog and held[2] == rules:
        return held[3]
    found: Facts = rule(node, catalog)
    if len(_FOUND) >= MOST_FOUND:
        _FOUND.clear()
    _FOUND[key] = (node, catalog, rules, found)
    return found


def order_of(node: relations.Numbered, catalog: Catalog) -> str:
    """By what rows are numbered, in words."""
    table = facts(node.source, catalog).table
    return ", then ".join(spelled(one.part, table) + " descending" * one.descending
                          + ", missing first" * one.missing_first for one in node.along)


def table_of(plan: Plan, catalog: Catalog) -> Table:
    """What a plan's condition, keys and aggregates are read of, described as a table."""
    return facts(plan.source.source.source, catalog).table


def with_column(table: Table, column: Column) -> Table:
    """The table with one more column, under a name that no other one has."""
    name = distinct_name(column.name, (one.name for one in table.columns))
    return replace(table, columns=(*table.columns, replace(column, name=name)))


def distinct_name(name: str, taken: Iterable[str]) -> str:
    """The name, numbered where it is taken, in whatever case."""
    known = {one.lower() for one in taken}
    found, number = name, 2
    while found.lower() in known:
        found, number = f"{name} ({number})", number + 1
    return found


def check_size(node: relations.Relation) -> None:
    """Raise Refusal where a relation is too large, counted without walking a part twice that is one object."""
    sizes: dict[int, tuple[int, int]] = {}
    left = [node]
    while left:
        one = left[-1]
        within = relations.below(one)
        unknown = [inner for inner in within if id(inner) not in sizes]
        if unknown:
            left += unknown
            if len(left) > 2 * MOST_NODES:
                break
            continue
        inner = [sizes[id(part)] for part in within]
        sizes[id(left.pop())] = 1 + sum(count for count, _ in inner), 1 + max((deep for _, deep in inner), default=0)
    count, deep = sizes.get(id(node), (MOST_NODES + 1, MOST_DEPTH + 1))
    if deep > MOST_DEPTH or count > MOST_NODES:
        raise Refusal(
            f"the question has too many subqueries, joins and conditions on top of each other: the limits are "
            f"{MOST_DEPTH} in depth and {MOST_NODES} in all.", cure="Ask it in several questions, or more simply.",
        )


def made_of_one(node: relations.Relation, catalog: Catalog) -> int | None:
    """How many rows joins with public tables make of one row, at most; None where no refresh has read that.

    Public facts alone say it, so that how long a question takes, and whether it ends, never hangs on whether somebody
    has a row.
    """
    match node:
        case relations.PerUnit(_, keys) if not keys:
            return 1
        case relations.JoinPublic(source, table):
            public = public_table(table, catalog)
            most = [rows for index in node.other_on if (rows := _most(node, index, public)) is not None]
            inner = made_of_one(source, catalog)
            return max(1, min(most)) * inner if most and inner is not None else None
        case relations.Rows():
            return 1
        case relations.UnionAll(source, other):
            both = made_of_one(source, catalog), made_of_one(other, catalog)
            return None if None in both else sum(number or 0 for number in both)
    return made_of_one(node.source, catalog)


def _most(node: relations.JoinPublic, index: int, table: Table) -> int | None:
    """In how many rows of the public table one value is, at most, of a column or of what is computed of one."""
    if index < len(table.columns):
        return table.columns[index].most
    part = node.made[index - len(table.columns)].part
    used = sorted(fields(part))
    keys = table.columns[used[0]].keys if len(used) == 1 else None
    if keys is None or len(keys) > MOST_LISTED or table.columns[used[0]].most is None:
        return None
    return _most_made(moved(part, {used[0]: 0}), table.columns[used[0]])


@lru_cache(maxsize=64)
def _most_made(placed: Operand, column: Column) -> int | None:
    """In how many rows one value is, at most, of what is computed of one column alone, by its list of values."""
    if column.missing is None and value(placed, (None,)) is not None:
        return None  # in how many rows a value is missing, nobody read
    values = {one for one in (*(column.keys or ()), column.missing) if one is not None}
    found = Counter(made for one in values if (made := value(placed, (one,))) is not None)
    return (column.most or 0) * max(found.values(), default=0)


def check_made(node: relations.JoinPublic | relations.UnionAll, catalog: Catalog, at: str) -> None:
    """Raise Refusal where so many rows are made of one that one person could make a question slow."""
    if catalog.data_version == 0:
        return
    found = made_of_one(node, catalog)
    name = next((show(one.table) for one in relations.walk(node) if isinstance(one, relations.JoinPublic)), "")
    if found is None:
        read = isinstance(node, relations.JoinPublic) and all(
            one.most is not None for one in public_table(node.table, catalog).columns)
        if read:
            raise Refusal(
                f"in how many rows of the public table {name} an expression has one value is not known: it is of "
                "several columns, of one with too many values to list, or has a value where the column has none.",
                where=at, cure="Compare one of its columns as it is, too.",
            )
        raise Refusal(
            f"how often values repeat in the public table {name} has not been read.", where=at,
            cure="The steward runs `dpcurator refresh`; or compare one of its columns as it is, too.",
        )
    if found > MOST_MADE:
        raise Refusal(
            f"joined with {name}, one row could become {found:,}: the limit is {MOST_MADE:,}.", where=at,
            cure=f"Compare further columns of {name}, so that fewer of its rows fit, or join with a public table that "
            "has each value in fewer rows.",
        )


def rows_known(plan: Plan, catalog: Catalog) -> int | None:
    """A public guess of the rows of a group: the public or expected number of units over the listed keys, one row each;
    None where the catalog says none."""
    units = catalog.units_expected(table_of(plan, catalog))
    source = plan.source.source
    return None if units is None else max(1, units // max(1, source.keys if source.listed else 1))


def least_units(relation: relations.Relation, catalog: Catalog) -> int:
    """Of fewer units no unlisted key is shown, as the catalog says: the largest of what its tables there declare."""
    tables = {table.name: table for table in catalog.tables}
    return max((tables[rows.table].min_units or 1 for rows in relations.leaves(relation)), default=1)
