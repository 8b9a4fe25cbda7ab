"""How far one unit can move each number: one rule a node, one rule a reading, one fold (semantics 3).

Claim. Neighbouring tables differ in all the rows of one unit (add-remove), or in one unit's rows being replaced by any
rows of another (replace-one). Between them the integer vector of a reading, one coordinate a key, moves at most `linf`
in each coordinate, `l1` in sum and `l2_squared` in sum of squares, in at most `coordinates` of them.

One unit. A key's reading is a sum over units, so a unit adds its own share, whatever the others are. Write m, l0, T, g,
n' as in the semantics, c_k for its rows in key k, t for the sum of min(c_k, m), and w_k = n'_k / (one * m) for the
weight of key k. Scaling down gives w_k <= min(c_k, m) / m * min(1, l0/g, T/t), so w_k <= 1 and the weights sum to at
most g * l0/g = l0, to at most t/m * T/t = T/m, and, as each is at most 1, to at most K: to lam = min(l0, T/m, K), which
is a rational.
Choosing keys first leaves g <= l0 keys and the same. Where a unit itself is counted, w_k <= min(1, l0/g, T/g) and
lam = min(l0, T, K). As 0 <= S' <= W n', the share of a key lies in w * [low, high], where times `one`

    count     n'          in  [0, m]
    sum       S' + L n'   in  [m min(L, 0), m max(U, 0)]     B = max(|low|, |high|), V = high - low;  B <= V <= 2 B
    centred   2 S' - W n' in  [-m W, m W]

A square and a product of two columns are measured as integers of a grid of their own, from 0 to W (`plan/core.py`),
whatever the columns' own grids are; read as 2 S' - W n', the rule for `centred` is theirs. Of quantiles see below.

Add-remove. The vector moves by one share: at most B a key, and, the weights being at most 1, at most lam B in sum and
lam B^2 in sum of squares. Attained by lam keys of m rows at the further bound when lam is an integer; the sum also
otherwise. B is m times an integer, so lam B and lam B^2 are integers.

Replace-one. It moves by the difference of two shares, d = v y - w x with weights v, w and values x, y in [low, high].
A coordinate lies between low - high and high - low: linf V, and K V, K V^2 for all K. As low <= 0 <= high, a key of
weights v >= w moves by at most v B + w (V - B) <= (v + w) B, and so does one of w >= v, turned round; the weights of
two units sum to at most 2 lam, so l1 is at most 2 lam B. In squares,
(v B + w (V - B))^2 <= (v + w) max(V^2 / 2, B^2) for 0 <= w <= v <= 1: the left side is convex in w and the right side
affine, at w = 0 it says v^2 B^2 <= v B^2 or less, and at w = v it says v^2 V^2 <= v V^2 or less. Summed, l2^2 is at
most lam max(V^2, 2 B^2). Attained, where lam is an integer, when K >= 2 lam, or K <= lam; elsewhere the claims are true
and need not be the least.

Quantiles. A unit's weights at the candidates of a key are floor(d n' / c) with the d summing to c: W <= n' in all. Of
q = p/d and a candidate, with `below`, `at`, `above` adding up to N, let f = d below - p N, h = p N - d (below + at);
the score is -max(f, h, 0), which moves by no more than the further of f and h, as any maximum does. A unit of weights
a, b, e below, at and above, a + b + e = W, moves f by (d - p) a - p (b + e) and h by p e - (d - p) (a + b): each within
W times [-max(p, d - p), max(p, d - p)]. So with B = max(p, d - p) m and V = d m the score of any candidate moves in a
key by at most w B (add-remove). Replace-one: f moves by (d - p) (a' - a) - p (b' + e' - b - e), at most
(d - p) W' + p W or (d - p) W + p W' either way, and h likewise; with v >= w the two units' weights in the key, that is
at most v B + w (V - B), for max(p, d - p) + min(p, d - p) = d. These are the two facts that the proofs of add-remove
and replace-one above rest on, with B <= V <= 2 B: so linf, l1 and l2^2 bound, over the keys, the most that any score of
a key moves. What a choice by such scores loses: `mechanisms/choice/weighted_quantile.py`.

Different values. Of the pairs (key, value) of its rows a unit keeps at most l0 keys, in each at most m values, and at
most T pairs in all; which, its own rows alone decide (`core.Distinct`). A key counts the values that any unit keeps
there, so a unit adds a_k to key k, those that nobody else keeps: between 0 and m, in at most l0 keys, at most T in all.
That is a part of w_k m, with weights w_k <= 1 that sum to at most lam = min(l0, T/m, K), in units of one value, and not
of `one`. Add-remove: it moves by the a_k. Replace-one: by b_k - a_k, the values beside those that all others keep,
which is within [-m, m], and as above: B = V = m. Attained where no other unit has the values; under replace-one by two
units that share none.

Names of the greatest. Where keys are named by a count (`Ask.top`), not the counts are released, but which are greatest,
by a choice whose loss is decided by how far two counts of one group move apart: by the range of their differences, the
largest less the least, over the `among` keys of the group (mechanisms/choice/top_counts.py). Let w_g be the greatest
weight that a unit has in any key of group g: at most 1, and summing over the G = K / among groups to at most the sum of
all its weights, so to at most lam' = min(lam, G). Add-remove: the counts of a group all rise or all fall, by at most
w_g B, which bounds the range. Replace-one, by weights v_g and w_g: each difference lies in [-w_g B, v_g B], a range of
at most (v_g + w_g) B <= 2 B. So linf, l1 and l2^2, which bound the ranges of all groups, are B, lam' B, lam' B^2
(add-remove) and 2 B, 2 lam' B, 4 lam' B^2 (replace-one), as (v + w)^2 <= 2 (v + w) for v + w <= 2. Attained where lam'
is an integer: by a unit, or two, with all they may have in one key of each of lam' groups (two different ones).

Unknown keys. At most l0 of a unit's keys are chosen, by a hash of the unit and the key, so no other unit matters, and
a key which only one of two neighbours has counts 0 in the other. The vector over all possible keys moves in l0
coordinates, or 2 l0 when two units' keys are disjoint; K is not public and no term has it. l0 <= T here (`bind`), so
that each of them counts the unit itself whole, which is what the selection of keys rests on.

Other. Which keys are shown is decided by counts of units, not by what is read. Given the same shown keys, the vector of
their readings and of the sum of all others' is the vector over all keys with some coordinates added up. So its l1 is no
more; the one more coordinate moves by at most lam B (add-remove: a part of one share), or lam V (replace-one: a
difference of two, each in lam [low, high]), which is its linf; and l2 is at most l1. Attained, except for l2 under
replace-one.

At all. A number of units over all keys together, in which a unit counts once or not at all, is the count of one key in
which each unit is at most one row: it moves by at most 1 under both relations. What makes a unit count (its own rows,
the caps, the bounds) is a matter of its own rows alone, so no other unit's part moves (semantics 2.9).

Always present. When each row is a unit, and there is no WHERE and no GROUP BY, each unit is exactly one row of the one
key: `whole`. Then counts of rows and of units are [1, 1], and so is that of a column that declares a value for missing
ones, whose sum is [L, U]. So V is 0, or U - L (replace-one); a reading that cannot move is the public n (`aggregates`).

With `each row` a unit is one row in one key: m = l0 = T = one = 1.

Relations. Below bounding a unit's rows are a function of its own rows in the stored tables (`plan/relations.py`), so
all of this is said of the rows that come out of FROM and WHERE, however many tables they are made of.

Held by tests/laws/test_heart.py on both engines, and by a test there that weakens each rule by one and must fail.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from dpcurator.catalog.model import Neighbours
from dpcurator.numbers import decimal_text
from dpcurator.plan import relations
from dpcurator.plan.core import ONE
from dpcurator.plan.nodes import SUMMED, Ask, Bounded, Grouped, Measured
from dpcurator.plan.reading import Reading


@dataclass(frozen=True, slots=True)
class Reach:
    """What one unit can have in the rows that are left. None: no limit yet.

    rows: rows in one key; groups: keys it is in; total: rows in all, None where so many rows in so many keys are the
    limit already; keys: K, None when keys are `chosen` and their number is not public;
    one: the integer that one whole row counts; units: public n, with replace-one only; whole: each unit is exactly one
    row of the one key. other: the chosen keys that are not shown are read as one more. min_units: of fewer units no
    chosen key is shown.
    """

    rows: int | None
    groups: int | None
    keys: int | None
    one: int
    steps: tuple[str, ...]
    neighbours: Neighbours = "add-remove"
    units: int | None = None
    whole: bool = False
    other: bool = False
    total: int | None = None
    min_units: int = 1

    @property
    def chosen(self) -> bool:
        """Whether keys are unknown, and of a unit's at most `groups` are chosen."""
        return self.keys is None

    def always(self, column: Measured | None) -> bool:
        """Whether each unit is exactly one row, in which the column (None: the row itself) is present."""
        return self.whole and (column is None or all(one.filled for one in column.each))

    def public_count(self, column: Measured | None = None) -> int | None:
        """How many rows there are, and have the column present, where that is the public n; used even if n is wrong."""
        return self.units if self.always(column) else None

    def step(self, words: str) -> tuple[str, ...]:
        return (*self.steps, words)


@dataclass(frozen=True, slots=True)
class Steps:
    """A column's grid as stability needs it: bounds in steps of 2**-exponent of the column's unit."""

    lower: int = 0
    upper: int = 0
    exponent: int = 0

    def width(self) -> Fraction:
        """U - L as it is measured, in the column's unit."""
        return (self.upper - self.lower) * Fraction(2) ** -self.exponent


def _rows(node: relations.Rows) -> Reach:
    steps: tuple[str, ...] = ()
    if node.units is not None:
        steps = (f"neighbours have {node.units:,} units, a public number, and differ in one, replaced by another",)
    if node.unit is None:
        steps = (*steps, f"each row of {node.table} is one unit")
        return Reach(1, 1, 1, 1, steps, node.neighbours, node.units, whole=True)
    owned = "at most one row" if node.one_row else "any number of rows"
    steps = (*steps, f"a unit owns {owned} of {node.table} (by {node.unit})")
    return Reach(None, None, 1, ONE, steps, node.neighbours, node.units)


WHERE: Final = "WHERE looks at one row at a time: a unit's rows only become fewer"
COHORT: Final = "a unit is in the cohort or not by its own rows there, which are marked so"

COMPUTED: Final = "a subquery computes columns of one row at a time"
ONE_ROW: Final = "a subquery makes one row of all rows of a unit, of its own rows alone"
JOINED: Final = "a join adds to a unit's rows what its own rows elsewhere say, at most one to each"
KEYED: Final = "a subquery makes one row of a unit's rows of each key, of its own rows alone"


UNION: Final = "UNION ALL puts a unit's rows of both sides together"
NUMBERED: Final = "a subquery numbers a unit's rows in an order of its own rows alone"


def _once(steps: tuple[str, ...], *words: str) -> tuple[str, ...]:
    """The steps with these, each said once: a relation of many parts says the same of several."""
    return tuple(dict.fromkeys((*steps, *words)))


def _where(node: relations.Where) -> Reach:
    below = stability(node.source)
    return replace(below, whole=False, steps=_once(below.steps, WHERE))


def _of_same_units(below: Reach, other: Reach, step: str, words: str) -> Reach:
    """Of a relation made of two, which must protect the same units. Raises TypeError with these words."""
    if below.one == 1 or other.one == 1 or (below.neighbours, below.units) != (other.neighbours, other.units):
        raise TypeError(words)
    return replace(below, steps=_once(below.steps, *other.steps, step))


def _in_cohort(node: relations.InCohort) -> Reach:
    below, among = stability(node.source), stability(node.among)
    return _of_same_units(below, among, COHORT, "a cohort is of the units that own the rows")


def _in_public(node: relations.InPublic) -> Reach:
    below = stability(node.source)
    words = f"whether a row is listed in the public table {node.table} follows from that row"
    return replace(below, whole=False, steps=_once(below.steps, words))


def _grouped(node: Grouped) -> Reach:
    below = stability(node.source)
    if not node.columns:
        return below
    names = ", ".join(column.name for column in node.columns)
    same = [column.name for column in node.columns if column.per_unit]
    each = "all rows of a unit have the same" if len(same) == len(node.columns) else "a row has one"
    each += f", and all rows of a unit the same {', '.join(same)}" if 0 < len(same) < len(node.columns) else ""
    if not node.listed:
        words = f"GROUP BY {names}: the keys are not public, those that occur are candidates; {each}"
        words += "; those not shown are added up in one more" if node.other else ""
        least = node.min_units
        words += f"; of fewer than {least} units none is shown" if least > 1 else ""
        return replace(below, keys=None, whole=False, other=node.other, min_units=least, steps=below.step(words))
    words = f"GROUP BY {names}: {node.keys} listed keys, {each}"
    return replace(below, keys=node.keys, whole=False, steps=below.step(words))


def _bounded(node: Bounded) -> Reach:
    below = stability(node.source)
    if below.one == 1:
        return below
    groups = node.max_groups if below.keys is None else min(node.max_groups, below.keys)
    rows_word, keys_word = ("row" if node.max_rows == 1 else "rows"), ("key" if groups == 1 else "keys")
    words = f"scaled down to {node.max_rows} {rows_word} a key and {groups} {keys_word}"
    if below.keys is None:
        words = f"{groups} {keys_word} a unit chosen by a hash, scaled down to {node.max_rows} {rows_word} a key"
    total = node.max_total if node.max_total is not None and node.max_total < node.max_rows * groups else None
    if total is not None:
        words += f", and to {total} rows in all"
    return replace(below, rows=node.max_rows, groups=groups, total=total, steps=below.step(words))


def _computed(node: relations.Computed) -> Reach:
    below = stability(node.source)
    return replace(below, whole=False, steps=_once(below.steps, COMPUTED))


def _per_unit(node: relations.PerUnit) -> Reach:
    below = stability(node.source)
    if below.one == 1:
        raise TypeError("a row that is a unit has no others to be grouped with")
    return replace(below, steps=_once(below.steps, KEYED if node.keys else ONE_ROW))


def _join_on_unit(node: relations.JoinOnUnit) -> Reach:
    below, other = stability(node.source), stability(node.other)
    return _of_same_units(below, other, JOINED, "a join is of rows that the same units own")


def _union_all(node: relations.UnionAll) -> Reach:
    below, other = stability(node.source), stability(node.other)
    return _of_same_units(below, other, UNION, "rows are put together that the same units own")


def _numbered(node: relations.Numbered) -> Reach:
    below = stability(node.source)
    if below.one == 1:
        raise TypeError("a row that is a unit has no others to be numbered among")
    return replace(below, steps=_once(below.steps, NUMBERED))


def _join_public(node: relations.JoinPublic) -> Reach:
    below = stability(node.source)
    if below.one == 1:
        raise TypeError("a row that is a unit could become several")
    words = f"a row meets rows of the public table {node.table}, by itself"
    return replace(below, whole=False, steps=_once(below.steps, words))


NODE_RULES: dict[type, Callable[..., Reach]] = {
    relations.Rows: _rows, relations.Where: _where, relations.InCohort: _in_cohort, relations.InPublic: _in_public,
    relations.Computed: _computed, relations.PerUnit: _per_unit, relations.JoinOnUnit: _join_on_unit,
    relations.JoinPublic: _join_public, relations.UnionAll: _union_all, relations.Numbered: _numbered,
    Grouped: _grouped, Bounded: _bounded,
}


def stability(node: relations.Relation | Grouped | Bounded) -> Reach:
    """Fold the rules over the plan's private part. A node without a rule is refused by name."""
    rule = NODE_RULES.get(type(node))
    if rule is None:
        raise TypeError(f"no stability rule for {type(node).__name__}")
    return rule(node)


Share = tuple[int, int]  # the least and the greatest that one unit can add to a key, in units of `one`


def _count(rows: int, steps: Steps) -> Share:
    return 0, rows


def _units(rows: int, steps: Steps) -> Share:
    return 0, 1


def _values(rows: int, steps: Steps) -> Share:
    return rows * min(steps.lower, 0), rows * max(steps.upper, 0)


def _centred(rows: int, steps: Steps) -> Share:
    width = steps.upper - steps.lower
    return -rows * width, rows * width


def _unit(rows: int, steps: Steps) -> Share:
    return 0, 1


def _scores(rows: int, q: Fraction) -> Share:
    """Of a quantile: low and high of which the larger is B and the distance V."""
    p, rest = q.numerator, q.denominator - q.numerator
    return -rows * min(p, rest), rows * max(p, rest)


CENTRED: Final = ("centred", "square", "product")  # from the middle of what is added up
ASK_RULES: dict[str, Callable[[int, Steps], Share]] = {
    "rows": _count, "present": _count, "units": _units, "values": _values, "centred": _centred, "square": _centred,
    "product": _centred,
    "everyone": _unit, "cut": _unit, "cut_groups": _unit, "distinct": _count,
}


def share(ask: Ask, reach: Reach, steps: Steps) -> Share:
    """Between which integers one unit's part of one key lies."""
    if reach.rows is None or reach.groups is None:
        raise TypeError("a unit's rows have not been bounded")
    if ask.q is not None:
        low, high = _scores(reach.rows, ask.q)
        return reach.one * low, reach.one * high
    low, high = ASK_RULES[ask.what](reach.rows, steps)
    if ask.what == "distinct":
        return low, high
    if reach.always(ask.column) and ask.what not in CENTRED:
        low, high = (steps.lower, steps.upper) if ask.what == "values" else (1, 1)
    return reach.one * low, reach.one * high


def reading(ask: Ask, reach: Reach, steps: Steps) -> Reading:
    """The bounds for one ask, as integers; `steps` is the grid of the ask's column (ignored by counts)."""
    if ask.overall:
        reach = at_all(reach)
    if ask.top is not None:
        return _ranges(ask, reach, steps)
    if reach.other and (ask.q is not None or ask.what == "distinct"):
        raise TypeError("there is no such number of all groups that are not shown")
    if ask.what == "distinct":
        reach = replace(reach, one=1)
    low, high = share(ask, reach, steps)
    most, across = max(abs(low), abs(high)), high - low  # B and V
    lam, groups = weights(ask, reach), selection_reach(reach)
    all_most, all_across = _times(lam, most), _times(lam, across)
    exponent = steps.exponent if ask.column is not None and ask.what in SUMMED else 0
    unit = Fraction(2) ** -exponent / reach.one / (1 if ask.q is None else ask.q.denominator)
    keys = reach.keys
    if reach.other:
        twice = 1 if reach.neighbours == "add-remove" else 2
        l1, linf = twice * all_most, all_most if twice == 1 else all_across
        return Reading(twice * groups + 1, linf, l1, l1 * l1, unit)
    if reach.neighbours == "add-remove":
        return Reading(groups if keys is None else keys, most, all_most, _times(lam, most * most), unit)
    l1, l2_squared = 2 * all_most, _times(lam, max(across * across, 2 * most * most))
    if keys is None:
        return Reading(2 * groups, across, l1, l2_squared, unit)
    return Reading(keys, across, min(l1, keys * across), min(l2_squared, keys * across * across), unit)


def _ranges(ask: Ask, reach: Reach, steps: Steps) -> Reading:
    """Of a choice by counts, the ranges of their differences in each of the groups among whose keys it chooses."""
    if reach.keys is None or not ask.among or reach.keys % ask.among:
        raise TypeError("keys are named among listed ones, of groups that are alike")
    groups, most = reach.keys // ask.among, share(ask, reach, steps)[1]
    lam, sides = min(weights(ask, reach), Fraction(groups)), 1 if reach.neighbours == "add-remove" else 2
    return Reading(groups, sides * most, sides * _times(lam, most), sides**2 * _times(lam, most * most),
                   Fraction(1, reach.one))


def at_all(reach: Reach) -> Reach:
    """What a unit can have of a number over all keys in which it counts once: one row in the one key there is."""
    return replace(reach, rows=1, groups=1, keys=1, one=1, total=None, whole=False, other=False)


def weights(ask: Ask, reach: Reach) -> Fraction:
    """lam: what the weights of one unit's keys sum to at most, each being at most 1."""
    groups = selection_reach(reach)
    if reach.total is None:
        return Fraction(groups)
    return min(Fraction(groups), Fraction(reach.total, 1 if ask.what == "units" else reach.rows or 1))


def _times(lam: Fraction, distance: int) -> int:
    """lam * distance, rounded up to an integer: exact, as distances are multiples of max_rows, and of 1 for units."""
    return math.ceil(lam * distance)


def selection_reach(reach: Reach) -> int:
    """l0: to how many keys' counts of distinct units one unit adds 1, and nothing to the others' (add-remove).

    For replace-one a unit is taken away and another one put: two such steps, for both of which a selection pays.
    """
    if reach.groups is None:
        raise TypeError("a unit's keys have not been bounded")
    return reach.groups if reach.keys is None else min(reach.groups, reach.keys)


def derivation(ask: Ask, reach: Reach, found: Reading) -> tuple[str, ...]:
    """The same in words, one step a line, ending in the sensitivity in the query's unit."""
    column = ask.column.name if ask.column is not None else ""
    other = "" if ask.column is None or ask.column.beside is None else ask.column.beside.name
    what = {
        "rows": "a count of rows", "present": f"a count of the rows where {column} is present",
        "units": "a count of units, each once a key", "values": f"a sum of {column}, each value clamped to its bounds",
        "centred": f"a sum of {column} measured from the middle of its bounds, doubled",
        "square": f"a sum of squares of {column} from the middle of its bounds, from the middle of their own, doubled",
        "product": f"a sum of products of {column} and {other}, each from the middle of its bounds, doubled",
        "everyone": "a count of units, each once whatever its keys",
        "cut": "a count of the units that are over a cap or have a value out of bounds, each once",
        "cut_groups": "a count of the units that are over a cap, each once",
        "distinct": f"a count of the different values of {column}, of each unit as many as its caps allow",
        "quantile": f"by how many rows a candidate misses the {ask.q}-quantile of {column}",
    }[ask.what]
    who = "one unit" if reach.neighbours == "add-remove" else "replacing one unit"
    most, total = (decimal_text(distance * found.unit) for distance in (found.linf, found.l1))
    if ask.overall:
        return reach.step(f"{what}: {who} moves it by at most {most}")
    if ask.top is not None:
        words = f"{who} moves two of these counts apart by at most {most}, in all groups together by at most {total}"
        return reach.step(f"which of {ask.among} have the greatest of {what}: {words}")
    one = "one key, or all that are not shown," if reach.other else "one key"
    words = f"{what}: {who} moves {one} by at most {most}, all keys together by at most {total}"
    if ask.q is None and ask.what != "distinct" and reach.public_count(ask.column) is not None:
        return (*reach.step("each unit is one row, always present, so its part of the key is never 0"), words)
    return reach.step(words)
