"""The bounding of semantics 2.5 once more, as one plain DuckDB query over the source file: the recipes' oracle.

Nothing of the package is used: no catalog, plan, engine or grid. For whole-number columns every step is an integer, so
what this gives must equal an answer without noise to the last digit.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import duckdb

Sums = dict[object, tuple[Fraction, Fraction]]  # key -> bounded count of rows, bounded sum of the column


def bounded(
    file: Path, *, unit: str, key: str, keys: list[object], column: str, bounds: tuple[int, int],
    max_rows: int, max_groups: int, where: str = "TRUE",
) -> Sums:
    lower, upper = bounds
    query = f"""
        WITH listed AS (
            SELECT "{unit}" AS u, "{key}" AS k,
                   CASE WHEN "{column}" IS NULL THEN NULL
                        ELSE CAST(greatest(least("{column}", {upper}), {lower}) AS HUGEINT) - {lower} END AS x
            FROM '{file}' WHERE "{unit}" IS NOT NULL AND "{key}" IN (SELECT unnest($keys)) AND ({where})
        ), pairs AS (
            SELECT u, k, count(*)::HUGEINT AS r, count(x)::HUGEINT AS c, coalesce(sum(x), 0)::HUGEINT AS s
            FROM listed GROUP BY u, k
        ), groups AS (SELECT *, count(*) OVER (PARTITION BY u)::HUGEINT AS g FROM pairs),
        scaled AS (
            SELECT k, c, s, (65536 * least(r, {max_rows}) * least(g, {max_groups})) // g AS n_rows,
                   (65536 * least(c, {max_rows}) * least(g, {max_groups})) // g AS n_present
            FROM groups
        )
        SELECT k, sum(n_rows)::VARCHAR,
               sum(CASE WHEN c = 0 THEN 0 ELSE (s * n_present) // c END + {lower} * n_present)::VARCHAR
        FROM scaled GROUP BY k
    """
    found = {k: (Fraction(int(n), 65536), Fraction(int(s), 65536))
             for k, n, s in duckdb.connect().execute(query, {"keys": keys}).fetchall()}
    return {key: found.get(key, (Fraction(0), Fraction(0))) for key in keys}


def nearest_whole(value: Fraction) -> int:
    """Halves upward, as answers are rounded."""
    return (2 * value.numerator + value.denominator) // (2 * value.denominator)
