"""Sums and averages of floats inside subqueries are rounded once: DuckDB's text gives the double nearest to an integer,
and to a quotient, of up to 124 bits. Python's float(int) and int / int are correctly rounded."""

from __future__ import annotations

import random

import duckdb

from dpcurator.engines.duckdb.relations import _nearest, _quotient

COUNTS = (1, 2, 3, 7, 10, 2**24, 2**30 + 1)


def wholes(luck: random.Random, many: int) -> list[tuple[int, int]]:
    """(whole, count): of all lengths, ties and what stands beside them, multiples of the count and what does."""
    found = [(sign * (2**bits + more), count) for bits in (24, 53, 54, 55, 77, 84, 85, 86) for more in (-1, 0, 1)
             for count in COUNTS for sign in (1, -1)]
    for _ in range(many):
        whole = luck.getrandbits(luck.choice((8, 32, 53, 54, 55, 63, 64, 84, 85, 86, 100, 120)))
        count = luck.choice((*COUNTS, luck.getrandbits(luck.choice((5, 20, 40))) + 1))
        if luck.random() < 0.3:
            whole = ((luck.getrandbits(53) | 1 << 52) * 2 + 1 << luck.randrange(40)) + luck.choice((0, 0, 1, -1))
        if luck.random() < 0.3:
            whole = whole * count + luck.choice((0, 1, -1, count // 2))
        found.append((luck.choice((1, -1)) * whole, count))
    return [(whole, count) for whole, count in found if abs(whole) < 2**124 and abs(whole) // count < 2**63]


def test_whole_numbers_and_quotients_become_the_nearest_doubles():
    given = wholes(random.Random(15), 5_000)
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t AS SELECT CAST(unnest($1) AS HUGEINT) AS s, CAST(unnest($2) AS BIGINT) AS n",
                       [[str(whole) for whole, _ in given], [count for _, count in given]])
    rows = connection.execute(f"SELECT CAST(s AS VARCHAR), n, {_nearest('s')}, {_quotient('s', 'n')} FROM t").fetchall()
    assert len(rows) == len(given) > 2_500
    assert [row for row in rows if (row[2], row[3]) != (float(int(row[0])), int(row[0]) / row[1])] == []
