"""All neighbouring datasets of a finite domain.

Definition  A dataset is a tuple of rows of `domain`, or, unordered, a multiset of them (written in the domain's order).
            replace-one: datasets of n rows, one of which is exchanged. add-remove: datasets of least to n rows, one of
            which is taken away. `groups` gives sets of datasets such that two datasets are neighbours exactly when
            some group holds both: all the datasets that share the other n - 1 rows (and the place of the one that
            differs). For add-remove a group is one dataset and all that have one row more.
Checked     tests/sensitivity/test_checking.py: against the definition, pair by pair.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator
from itertools import combinations_with_replacement, product
from math import comb

from dpcurator.errors import Refusal

RELATIONS = ("add-remove", "replace-one")
Index = tuple[int, ...]  # a dataset, as positions in the domain


def relation(neighbours: object) -> str:
    """The relation's name. Raises Refusal for any other."""
    if neighbours not in RELATIONS:
        raise Refusal("neighbours must name a relation.", cure='Write neighbours="add-remove" or "replace-one".')
    return str(neighbours)


def bases(size: int, rows: int, *, ordered: bool) -> Iterator[Index]:
    """Every dataset of this size, over a domain of `rows` rows."""
    if ordered:
        return product(range(rows), repeat=size)
    return combinations_with_replacement(range(rows), size)


def how_many(size: int, rows: int, *, ordered: bool) -> int:
    return rows**size if ordered else comb(rows + size - 1, size) if rows else int(size == 0)


def with_row(base: Index, rows: int, *, ordered: bool) -> Iterator[list[Index]]:
    """The datasets made of `base` and one row more: one list for each place it can stand in."""
    if ordered:
        for place in range(len(base) + 1):
            yield [(*base[:place], row, *base[place:]) for row in range(rows)]
    else:
        yield [(*base[: (cut := bisect(base, row))], row, *base[cut:]) for row in range(rows)]
