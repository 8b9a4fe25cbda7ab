"""Sums and averages of floats inside subqueries are rounded once: DuckDB's text gives the double nearest to an integer,
and to a quotient, of up to 124 bits. Python's float(int) and int / int are correctly rounded."""

from __future__ import annotations

import random

import duckdb

from dpcurator.engines.duckdb.levels import Parameters
from dpcurator.engines.duckdb.relations import _made, _nearest, _quotient, _raw
from dpcurator.plan.core_relations import Folded

COUNTS = (1, 2, 3, 7, 10, 2**24, 2**30 + 1)


def wholes(luck: random.Random, many: int) -> list[tuple[int, int]]:
    """(whole, count): of all lengths, ties and what stands beside them, multiples of the count and what does."""
    found = [(sign * (2**bits + more), count) for bits in (24, 53, 54, 55, 62, 63, 64, 77, 84, 85, 86)
             for more in (-1, 0, 1) for count in COUNTS for sign in (1, -1)]
    for _ in range(many):
        whole = luck.getrandbits(luck.choice((8, 32, 53, 54, 55, 63, 64, 84, 85, 86, 100, 120)))
        count = luck.choice((*COUNTS, luck.getrandbits(luck.choice((5, 20, 40))) + 1))
        if luck.random() < 0.3:
            whole = ((luck.getrandbits(53) | 1 << 52) * 2 + 1 << luck.randrange(40)) + luck.choice((0, 0, 1, -1))
        if luck.random() < 0.3:
            whole = whole * count + luck.choice((0, 1, -1, count // 2))
        found.append((luck.choice((1, -1)) * whole, count))
    return [(whole, count) for whole, count in found if abs(whole) < 2**124 and abs(whole) // count < 2**63]


def test_the_sum_and_the_average_of_no_value_are_missing():
    """DuckDB's least and greatest pass a missing value over, so it is asked for by itself."""
    for function in ("sum_f", "avg_f", "sum_i", "avg_i"):
        for exponent in (49, -900):
            fold, parameters = Folded(function, 0, 0, (0.0, 1.0), (0, 2**49), exponent), Parameters()
            raw, made = (text(fold, parameters).format(n=0) for text in (_raw, _made))
            query = f"SELECT {made} FROM (SELECT {raw} FROM (SELECT CAST(NULL AS DOUBLE) AS x0))"
            query = query.replace("DOUBLE) AS x0", "BIGINT) AS x0") if function.endswith("i") else query
            assert duckdb.connect().execute(query, parameters.values).fetchall() == [(None,)]


def test_whole_numbers_and_quotients_become_the_nearest_doubles():
    given = wholes(random.Random(15), 5_000)
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t AS SELECT CAST(unnest($1) AS HUGEINT) AS s, CAST(unnest($2) AS BIGINT) AS n",
                       [[str(whole) for whole, _ in given], [count for _, count in given]])
    rows = connection.execute(f"SELECT CAST(s AS VARCHAR), n, {_nearest('s')}, {_quotient('s', 'n')} FROM t").fetchall()
    assert len(rows) == len(given) > 2_500
    assert [row for row in rows if (row[2], row[3]) != (float(int(row[0])), int(row[0]) / row[1])] == []
