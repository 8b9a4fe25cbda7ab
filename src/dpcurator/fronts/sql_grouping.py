"""GROUP BY of an SQL text: columns, WITH_OTHER, and the grouping sets that ROLLUP, CUBE and GROUPING SETS stand for.

As in standard SQL: ROLLUP(a, b) is the sets (a, b), (a), (); CUBE(a, b) all subsets of (a, b); several of these, and
plain columns, beside one another are all ways to put one set of each together. What is grouped by is every column that
is named, and a set is which of them it keeps. Checked in tests/curator/test_sets.py.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, Final

from dpcurator.errors import Refusal
from dpcurator.fronts.sql_nodes import kind_of, known, place_of
from dpcurator.language.question import Syntax

MOST_SETS: Final = 64
Sets = list[tuple[Syntax, ...]]
Inner = Callable[[Any], Syntax]


def grouping(node: Any, inner: Inner) -> tuple[tuple[Syntax, ...], bool, tuple[tuple[int, ...], ...]]:
    """What is grouped by; whether it is written WITH_OTHER(...); and the sets, none where there is but the whole."""
    known(node, "expressions")
    parts = node.expressions
    other = len(parts) == 1 and kind_of(parts[0]) == "Anonymous" and str(parts[0].this).upper() == "WITH_OTHER"
    if other:
        known(parts[0], "this", "expressions")
        parts = parts[0].expressions
    if not parts:
        raise Refusal("GROUP BY names nothing.", cure="Write it as in GROUP BY city.")
    if not any(kind_of(part) in ("Rollup", "Cube", "GroupingSets") for part in parts):
        return tuple(inner(part) for part in parts), other, ()
    if other:
        raise Refusal("WITH_OTHER takes columns alone.", cure="Write it as in GROUP BY WITH_OTHER(city).")
    each = [_sets(part, inner) for part in parts]
    count = 1
    for one in each:
        count *= len(one)
        _few(count, node)
    made = [tuple(dict.fromkeys(itertools.chain.from_iterable(one))) for one in itertools.product(*each)]
    columns = tuple(dict.fromkeys(itertools.chain.from_iterable(made)))
    if not columns:
        raise Refusal("GROUP BY names nothing.", cure="Write it as in GROUP BY ROLLUP(city, ward).")
    sets = tuple(tuple(sorted(columns.index(part) for part in one)) for one in made)
    if len(set(sets)) < len(sets):
        raise Refusal("a grouping set is written twice.", where=place_of(node), cure="Name each set of columns once.")
    return columns, False, sets


def _sets(part: Any, inner: Inner) -> Sets:
    """The sets that one element of GROUP BY stands for."""
    kind = kind_of(part)
    if kind not in ("Rollup", "Cube", "GroupingSets"):
        return [_columns(part, inner)]
    known(part, "expressions")
    if not part.expressions:
        raise Refusal(
            f"{'GROUPING SETS' if kind == 'GroupingSets' else kind.upper()} names nothing.", where=place_of(part),
            cure="Write it as in GROUP BY ROLLUP(city, ward).",
        )
    if kind == "GroupingSets":
        return [one for given in part.expressions for one in _sets(given, inner)]
    whole = [_columns(given, inner) for given in part.expressions]
    if kind == "Rollup":
        _few(len(whole), part)
        kept = [whole[:size] for size in range(len(whole), -1, -1)]
    else:
        _few(2 ** min(len(whole), 20), part)
        kept = [list(some) for size in range(len(whole), -1, -1) for some in itertools.combinations(whole, size)]
    return [tuple(itertools.chain.from_iterable(some)) for some in kept]


def _columns(part: Any, inner: Inner) -> tuple[Syntax, ...]:
    """One column, several in brackets, or none: ()."""
    if kind_of(part) == "Tuple":
        known(part, "expressions")
        return tuple(inner(one) for one in part.expressions)
    return (inner(part),)


def _few(count: int, node: Any) -> None:
    if count > MOST_SETS:
        raise Refusal(f"GROUP BY stands for more than {MOST_SETS} sets of columns.", where=place_of(node),
                      cure="Name fewer columns, or the sets that are wanted in GROUPING SETS.")
