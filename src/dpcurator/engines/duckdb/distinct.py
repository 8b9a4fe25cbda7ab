"""Counts of different values in DuckDB's SQL: of each unit some pairs (key, value) are kept, as `core.Distinct` says.

Why it is right: pairs are put in order by the md5 of the same bytes as in the reference, and only those of units over
a cap. A window counts all rows of its group up to an md5, those of the same md5 too, so that no more pass than
may even where two md5 are equal; where one alone may pass, an aggregate takes the first.

Why it is fast: which pairs a unit keeps rests on its own rows alone, and a pair that several units keep counts once. So
a sample of the units goes first; of the others only those matter that have a pair which the sample does not keep, and
where a pair was kept often in the sample these are few. Where pairs are too seldom kept twice the others go together,
as the sample went: either way the counts are the same. Within it, one GROUP BY unit, key, value; md5 are made of keys
of units that are over a cap, and of values in keys that are kept and have too many. What is put in order is a number of
the unit and two md5, since DuckDB holds all of one unit's rows at once for that, and texts would not fit; numbers go
with them, and need no join after.
Checked in tests/engines/test_distinct.py and by conformance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from dpcurator.catalog.model import Kind
from dpcurator.engines.duckdb.levels import Parameters, integer
from dpcurator.engines.duckdb.weights import one_row_each
from dpcurator.engines.limits import Parts
from dpcurator.plan.core import Distinct, Listed, key_bytes

Steps = list[tuple[str, str]]
Bytes = Callable[[str, Kind, bool], str]
UnitText = Callable[[Parts], tuple[str, Kind, str]]
SHARE: Final = 8  # one unit in so many is of the sample
OFTEN: Final = 4  # the sample serves where its values have been kept so often, on average
_READ_TWICE = ("pairs", "counts", "over", "marked", "long")  # `over` numbers units: all must read the same


def value_columns(parts: Parts) -> str:
    """Beside what is measured of a row: d0, d1, ..., the values as they are."""
    return "".join(f", x{one.column} AS d{number}" for number, one in enumerate(parts.distinct))


def different_values(
    parts: Parts, key: Sequence[str], parameters: Parameters, bytes_of: Bytes, unit_text: UnitText
) -> Steps:
    """The tables different0, ..., with the columns of the key and n. bytes_of: a value's part of `key_bytes`;
    unit_text: what is hashed of a unit."""
    return [
        step for number, one in enumerate(parts.distinct)
        for step in _different(parts, number, one, key, parameters, bytes_of, unit_text)
    ]


def _different(
    parts: Parts, number: int, one: Distinct, key: Sequence[str], parameters: Parameters, bytes_of: Bytes,
    unit_text: UnitText,
) -> Steps:
    """A sample of the units first, and of the others those alone that have a value which none of these keeps."""
    k, d, n = ", ".join(key), f"d{number}", str(number)
    if parts.owner is None or one_row_each(parts, unit=True):  # a unit has one value, which it keeps
        return [(f"different{n}", f"SELECT {k}, count(DISTINCT {d}) AS n FROM measured GROUP BY {k}")]
    salt = parameters.constant(key_bytes(one.salt, "", ())[: -len(b"t0:")].decode(), "text")
    rows = f"SELECT u, {k}, {d} AS z FROM measured WHERE {d} IS NOT NULL AND"
    sampled, others = f"hash(u) % {SHARE} = 0", f"hash(u) % {SHARE} <> 0"
    same = " AND ".join(f"rest.{name} IS NOT DISTINCT FROM known{n}.{name}" for name in key)
    few = f"(SELECT few FROM worth{n})"

    def kept(rows: str, part: str) -> Steps:
        return _kept(parts, f"{n}_{part}", one, rows, key, salt, bytes_of, unit_text)

    return [
        *kept(f"{rows} {sampled}", "sample"),
        (f"known{n}", f"SELECT {k}, z FROM kept{n}_sample GROUP BY {k}, z"),
        (f"worth{n}", f"SELECT {OFTEN} * (SELECT count(*) FROM known{n})"
                      f" <= (SELECT count(*) FROM kept{n}_sample) AS few"),
        (f"left{n}", f"SELECT DISTINCT u AS w FROM ({rows} {others} AND {few}) AS rest"
                     f" ANTI JOIN known{n} ON rest.z = known{n}.z AND {same}"),
        *kept(f"SELECT * FROM ({rows} {others} AND {few}) SEMI JOIN left{n} ON u = w"
              f" UNION ALL {rows} {others} AND NOT {few}", "rest"),
        (f"different{n}", f"SELECT {k}, count(*) AS n FROM (SELECT {k}, z FROM (SELECT * FROM known{n} UNION ALL"
                          f" SELECT * FROM kept{n}_rest) GROUP BY {k}, z) GROUP BY {k}"),
    ]


def _kept(
    parts: Parts, n: str, one: Distinct, rows: str, key: Sequence[str], salt: str, bytes_of: Bytes,
    unit_text: UnitText,
) -> Steps:
    """The steps to a table of the pairs (key, value) that units keep. rows: u, the key and a value z, of whole units.
    """
    k = ", ".join(key)
    listed, scale = isinstance(parts.keys, Listed), parts.scale
    pairs = f"SELECT u, {k}, z FROM ({rows}) GROUP BY u, {k}, z"
    if not listed:
        own = ", ".join(f"{name} AS h{index}" for index, name in enumerate(key))
        on = " AND ".join(f"{name} IS NOT DISTINCT FROM h{index}" for index, name in enumerate(key))
        pairs = f"SELECT * FROM ({pairs}) SEMI JOIN (SELECT u AS o, {own} FROM kept) ON u = o AND {on}"
    groups = listed and len(parts.listed.keys) > scale.max_groups
    most = integer(scale.max_rows, "BIGINT")
    over = [f"max(c) > {most}"]
    if groups:
        over.append(f"count(*) > {integer(scale.max_groups, 'BIGINT')}")
    if scale.max_total is not None:
        over.append(f"sum(least(c, {most})) > {integer(scale.max_total, 'BIGINT')}")
    kinds: list[Kind] = ["integer"] if listed else [parts.kinds[column] for column in parts.keys.columns]
    unit, kind, looked_up = unit_text(parts)
    of_keys = [bytes_of(name, kind, not listed) for name, kind in zip(key, kinds, strict=True)]
    pieces = [salt, bytes_of(unit, kind, False), *of_keys]
    of_key = f"concat({', '.join(pieces)})"
    of_value = f"concat({', '.join([*pieces, bytes_of('z', parts.kinds[one.column], False)])})"
    places = f"SELECT {k}, c, i, a FROM keys{n}"
    if groups and scale.max_groups == 1:
        first = f"arg_min(struct_pack(k := k, c := c, a := a), a) AS one FROM keys{n} GROUP BY i"
        places = f"SELECT one.k AS k, one.c AS c, i, one.a AS a FROM (SELECT i, {first})"
    elif groups:
        places = _up_to(places, "i", "a", scale.max_groups)
    narrow = listed and parts.kinds[one.column] == "integer"  # else texts would go through the window
    own = f"i, {k}" if narrow else "i, a"
    if narrow and scale.max_rows == 1:  # the first alone, and one of several of the same md5
        last = f"SELECT {k}, arg_min(z, b) AS z, i, min(b) AS b FROM long{n} GROUP BY {own}"
    else:
        last = _up_to(f"SELECT {k}, z, i, b FROM long{n}" if narrow else f"SELECT i, a, b FROM long{n}", own, "b",
                      scale.max_rows)
    if scale.max_total is not None:
        last = _up_to(last, "i", "b", scale.max_total)
    last = f"SELECT {k}, z FROM {f'({last})' if narrow else f'long{n} SEMI JOIN ({last}) USING (i, a, b)'}"
    few = "false" if scale.max_total is not None else f"c <= {most}"  # all values of such a key are kept
    same = " AND ".join(f"owned.{name} IS NOT DISTINCT FROM places{n}.{name}" for name in key)
    columns = ", ".join(f"owned.{name}" for name in (unit, *key, "z", "i"))
    return [
        (f"pairs{n}", pairs),
        (f"counts{n}", f"SELECT u, {k}, count(*) AS c FROM pairs{n} GROUP BY u, {k}"),
        (f"over{n}", f"SELECT {'w, unit' if looked_up else 'w'}, row_number() OVER () AS i FROM"
                     f" (SELECT u AS w FROM counts{n} GROUP BY u HAVING {' OR '.join(over)}){looked_up}"),
        (f"keys{n}", f"SELECT u, {k}, c, i, md5({of_key}) AS a FROM counts{n} JOIN over{n} ON u = w"),
        (f"places{n}", places),
        (f"marked{n}", f"SELECT {columns}, c, a FROM (SELECT * FROM pairs{n} JOIN over{n} ON u = w) AS owned"
                       f" JOIN places{n} ON owned.i = places{n}.i AND {same}"),
        (f"long{n}", f"SELECT {k}, z, i, a, md5({of_value}) AS b FROM marked{n} WHERE NOT ({few})"),
        (f"kept{n}", f"SELECT {k}, z FROM pairs{n} ANTI JOIN over{n} ON u = w"
                     f" UNION ALL SELECT {k}, z FROM marked{n} WHERE {few}"
                     f" UNION ALL {last}"),
    ]


def _up_to(rows: str, group: str, order: str, most: int) -> str:
    """Of the rows of each group, those up to which it has at most so many."""
    place = f"count(*) OVER (PARTITION BY {group} ORDER BY {order} RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"
    return f"SELECT * EXCLUDE place FROM (SELECT *, {place} AS place FROM ({rows})) WHERE place <= {most}"


def once(parts: Parts) -> tuple[str, ...]:
    """The tables that are read twice. What the sample keeps, and whether it serves, is one thing to all that ask."""
    if parts.owner is None:
        return ()
    numbers = range(len(parts.distinct))
    of = [f"{number}_{part}" for number in numbers for part in ("sample", "rest")]
    return (*(f"{name}{one}" for one in of for name in _READ_TWICE),
            *(f"{name}{number}" for name in ("known", "worth") for number in numbers))


def joined(parts: Parts, totals: str | None, key: Sequence[str]) -> str:
    """The step `totals`: what `summed` adds up, where it does, and the numbers of different values."""
    numbers = [(index, one.measure) for index, one in enumerate(parts.sums) if one.what == "distinct"]
    rows = "listed" if totals is None else f"({totals})"
    columns = [f"summed.{name} AS {name}" for name in key]
    columns += [f"summed.t{index} AS t{index}" for index, one in enumerate(parts.sums) if one.what != "distinct"]
    columns += [f"summed.m{index} AS m{index}" for index in range(len(parts.tallies)) if parts.owner is None]
    columns += [f"coalesce(different{measure}.n, 0) AS t{index}" for index, measure in numbers]
    text = f"SELECT {', '.join(columns)} FROM {rows} AS summed"
    for measure in dict.fromkeys(measure for _, measure in numbers):
        on = " AND ".join(f"summed.{name} IS NOT DISTINCT FROM different{measure}.{name}" for name in key)
        text += f" LEFT JOIN different{measure} ON {on}"
    return text
