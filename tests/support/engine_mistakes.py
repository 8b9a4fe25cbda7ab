"""Deliberate mistakes in the DuckDB query, as (pattern, replacement): tests that compare engines must catch each."""

from __future__ import annotations

import re
from dataclasses import replace

from dpcurator.engines.duckdb import sql
from dpcurator.plan.core import CorePlan

MISTAKES = {
    "min(c, m) dropped": (r"least\((r|c\d+), CAST\('\d+' AS BIGINT\)\)", r"\1"),
    "two floors in sequence": (r"\* \(((?:CASE|CAST)[^/]*?(?:// g END)?)\) // greatest\((c\d+), 1\)",
                               r"// greatest(\2, 1) * (\1)"),
    "max_groups ignored": (r"\bg (>|<=) CAST\('\d+' AS BIGINT\)", r"g \1 CAST('999999999' AS BIGINT)"),
    "max_total ignored": (r"\bt (>|<=) CAST\('\d+' AS BIGINT\)", r"t \1 CAST('999999999' AS BIGINT)"),
    "a half rounds down": (r"floor\(", r"ceil(-1 + "),
    "NaN is a value": (r"CASE WHEN isnan\(.*?\) THEN NULL ELSE (.*?) END AS", r"\1 AS"),
    "missing is never a key": (r"IS NOT DISTINCT FROM", r"="),
    "rows without a unit kept": (r" WHERE x\d IS NOT NULL", r""),
    "64 bits wrap to a double": (r"TRY_CAST\(CAST\((\S+) AS HUGEINT\) ([-+*]) CAST\((\S+) AS HUGEINT\) AS BIGINT\)",
                                 r"CAST(CAST(\1 AS HUGEINT) % 4611686018427387904 \2 0 AS BIGINT)"),
    "a float overflows to infinity": (r"CASE WHEN isfinite\((e\d+)\) OR .*? END", r"\1"),
    "keys kept by their bytes alone": (r"md5\((.*)\) AS b FROM", r"\1 AS b FROM"),
    "a key too many kept": (r"WHERE place <= ", r"WHERE place <= 1 + "),
    "lengths in code points": (r"strlen\(", r"length("),
    "a missing key looks like an empty one": (r"'n0:'", r"'t0:'"),
    "unknown is true": (r" < (\S+\(\S+ AS \w+\))\)", r" < \1) IS NOT FALSE"),
}
RIGHT = sql.statement


def mistaken(mistake: str, core: CorePlan) -> sql.Statement:
    """The query for this plan with the mistake in it, where it has a place for it."""
    query = RIGHT(core)
    return replace(query, sql=re.sub(*MISTAKES[mistake], query.sql))
