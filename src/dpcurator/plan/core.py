"""The core plan: the waist between aggregates and engines (design 1.3).

A core plan is a tuple of steps, in this order; an engine does all of them or is not an engine. Each step below says
exactly which integers it means, in terms of the rows before it. c, r, S, g, m and l0 are those of semantics 2.

    Scan -> Filter? -> Project? -> Owner -> Listed | Chosen -> Measure -> PerUnit -> ScaleDown -> Total

What is scanned may be a relation, a tree of joins and the like: `plan/core_relations.py`.
`reference` folds over the steps in plain Python, `duckdb` turns each into a common table expression; the conformance
suite (tests/engines) holds them to the same integers. Bound on every integer, with its proof: `engines/limits.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from dpcurator.catalog.model import Kind, Value
from dpcurator.language.rows import Operand, Predicate
from dpcurator.plan.core_relations import CoreRelation, Stored, walk
from dpcurator.plan.core_relations import Source as Source

ONE: Final = 2**16  # one whole row, in the unit in which n' and S' are counted (semantics 2.5)


@dataclass(frozen=True, slots=True)
class Scan:
    """All rows of a stored table, or of a relation as if it were stored, with these columns, numbered from 0."""

    table: str | CoreRelation  # the snapshot's physical table name: t0, t1, ...
    columns: tuple[Source, ...]


def scanned(scan: Scan) -> dict[str, set[str]]:
    """The stored tables that are read, in order, each with its columns."""
    if isinstance(scan.table, str):
        return {scan.table: {source.name for source in scan.columns}}
    found: dict[str, set[str]] = {}
    for one in walk(scan.table):
        if isinstance(one, Stored):
            found.setdefault(one.table, set()).update(source.name for source in one.columns)
    return found


@dataclass(frozen=True, slots=True)
class Filter:
    """Keep the rows whose predicate is true (not false, not unknown)."""

    predicate: Predicate


@dataclass(frozen=True, slots=True)
class Project:
    """Add these columns to the scan's, numbered on from them; each is computed from the scan's columns alone."""

    parts: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Owner:
    """Say whose row it is: the value of `column`, rows where it is missing dropped; with None each row is a unit."""

    column: int | None


@dataclass(frozen=True, slots=True)
class Listed:
    """Give each row the number of its key in the public list; drop the rows whose key is not listed.

    `keys` are distinct tuples, one value per column; a missing value equals a missing value here. Without GROUP BY:
    no columns and the one key (), which every row has. An empty `keys` drops every row.
    """

    columns: tuple[int, ...]
    keys: tuple[tuple[Value, ...], ...]


@dataclass(frozen=True, slots=True)
class Chosen:
    """Every tuple of these columns that occurs is a key; of each unit's keys at most `max_groups` are kept.

    Kept are those up to whose md5 of `key_bytes` the unit has at most `max_groups` keys, which are its first by md5;
    rows of other keys are dropped. Two keys of one md5 go together, so a unit never has more. A missing value equals a
    missing value. Columns are integers or texts. When each row is a unit nothing is ever dropped. The keys that occur
    come out of the engine in any order, sealed; Total's first sum is then always `units`, one whole each.
    """

    columns: tuple[int, ...]
    max_groups: int
    salt: str


def key_bytes(salt: str, unit: Value, key: tuple[Value, ...]) -> bytes:
    """Length-prefixed canonical bytes of (salt, unit, key): the tag t, i or n, the length in bytes, a colon, the bytes.

    Texts in UTF-8, integers in decimal digits, a missing value as n0: alone. No two tuples have the same bytes.
    """
    made: list[bytes] = []
    for value in (salt, unit, *key):
        text = b"" if value is None else str(value).encode()
        made.append(b"%s%d:%s" % (b"n" if value is None else b"t" if isinstance(value, str) else b"i", len(text), text))
    return b"".join(made)


@dataclass(frozen=True, slots=True)
class Grid:
    """A column measured as an integer from 0 to `upper - lower`, or missing.

    integer kind (exponent 0): clamp x to [clamp_lower, clamp_upper]; the integer is x - lower.
    float kind: clamp x to [clamp_lower, clamp_upper] (infinities too), then floor(x * 2**exponent + 0.5) as those
    float64 operations, cast to a 128-bit integer, clamp to [lower, upper], minus lower.
    text kind: only whether it is present matters; the integer is 0.
    """

    column: int
    kind: Kind
    clamp_lower: int | float
    clamp_upper: int | float
    lower: int  # in grid steps of 2**-exponent
    upper: int
    exponent: int


@dataclass(frozen=True, slots=True)
class Product:
    """The product of two measured columns, each from the middle of its grid: an integer from 0 to `upper - lower`.

    With a, b their integers and A, B the widths of their grids: p = (2 a - A) (2 b - B), of which each is an integer;
    floor(p / 2**shift + 1/2), clamped to [lower, upper], minus lower. Missing where a or b is. `first` and `second` may
    be one column, whose square it is.
    """

    first: int  # numbers of measured columns, of which none is a text
    second: int
    shift: int
    lower: int
    upper: int


@dataclass(frozen=True, slots=True)
class Distinct:
    """A column of integers or texts whose different values are counted, a missing one being none.

    Of a unit's different pairs (key, value) some are kept, and a key counts the values that some unit keeps there. Kept
    are, with b the md5 of `key_bytes` of unit, key and value, and a that of unit and key (a listed key's number stands
    for it): of its keys with a value those up to whose a it has at most max_groups; in each of these the values up to
    whose b it has at most max_rows; and of these the pairs up to whose b it has at most max_total in all. Where two md5
    were equal an engine may keep others, within the same caps.
    """

    column: int
    salt: str


@dataclass(frozen=True, slots=True)
class Measure:
    """Measure these columns, and products of them; both are numbered from 0, the columns first, in this order. Beside
    them, numbered by themselves, columns whose values are looked at as they are."""

    grids: tuple[Grid, ...]
    products: tuple[Product, ...] = ()
    distinct: tuple[Distinct, ...] = ()


@dataclass(frozen=True, slots=True)
class PerUnit:
    """One row per (unit, key): r rows, and for each measured column c present values with sum S."""


@dataclass(frozen=True, slots=True)
class ScaleDown:
    """Bound each unit (semantics 2.5). With g = the number of keys in which the unit has rows, t = the sum over them of
    min(r, max_rows), and the factor f = min(1, max_groups / g, max_total / t), a fraction:

    n'(c) = floor(one * min(c, max_rows) * f) for a count c;  S' = floor(S * n'(c) / c), and 0 when c = 0;
    a unit itself counts floor(one * min(1, max_groups / g, max_total / g)) in each of its keys. All divisions are of
    non-negative integers. max_total None: no limit on rows in all, f = min(1, max_groups / g).
    """

    max_rows: int
    max_groups: int
    one: int
    max_total: int | None = None


@dataclass(frozen=True, slots=True)
class Sum:
    """What to add up over units. rows: n'(r); units: a unit itself; present: n'(c) of a measure; values: its S'.
    distinct: how many values are kept, those of several units once (`Distinct`), whatever `one` is."""

    what: Literal["rows", "units", "present", "values", "distinct"]
    measure: int = 0  # which measured column or product, for present and values; which of `distinct`


@dataclass(frozen=True, slots=True)
class Tally:
    """A number of units, each once, over all keys together.

    everyone: those with a row under a key (after `Chosen`: under any key before keys were chosen). cut: those of them
    with f < 1 (`ScaleDown`), or more than max_rows rows in a key, or some of whose keys were not kept by `Chosen`, or
    with a value of one of `measures` outside [clamp_lower, clamp_upper] of its grid, in a row under a key that is kept.
    cut_groups: the same with g > max_groups or g > max_total, in place of f < 1 and of max_rows.
    """

    what: Literal["everyone", "cut", "cut_groups"]
    measures: tuple[int, ...] = ()  # measured columns, of which none is a text


@dataclass(frozen=True, slots=True)
class Histogram:
    """How much lies at each candidate of a measured column. A unit with c present values in a key, d of them with
    measured integer // step = i, adds floor(d * n'(c) / c) at i: in all candidates together at most n'(c)."""

    measure: int
    step: int


@dataclass(frozen=True, slots=True)
class Total:
    """Per key, in the list's order and zero where no unit has rows: each of `sums` over the units; the `tallies`; and
    per key and candidate each of `histograms`.

    After `Chosen`: per key that occurs, in any order, with the key itself.
    """

    sums: tuple[Sum, ...]
    tallies: tuple[Tally, ...] = ()
    histograms: tuple[Histogram, ...] = ()


Step = Scan | Filter | Project | Owner | Listed | Chosen | Measure | PerUnit | ScaleDown | Total
CorePlan = tuple[Step, ...]
