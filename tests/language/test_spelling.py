"""What an expression is called: one name for one expression, whatever words it was asked in."""

from __future__ import annotations

import pytest
from questions import planned


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("AGE+1", "age + 1"),
        ("age * (ward - 1)", "age * (ward - 1)"),
        ("-(age)", "-age"),
        ("FLOOR(cost)", "FLOOR(cost)"),
        ("cost * age", "cost * age"),
        ("ROUND(cost, 2)", "ROUND(cost, 2)"),
        ("SUBSTR(note, 2)", "SUBSTRING(note, 2, NULL)"),
        ("note || 'it''s'", "note || 'it''s'"),
        ("age > 3", "age > 3"),
        (
            "CASE WHEN smoker AND note LIKE 'a%' THEN 1 END",
            "CASE WHEN (smoker) AND (note LIKE 'a%') THEN 1 ELSE NULL END",
        ),
        (
            "CASE WHEN age IS NULL OR age IN (1, 2) THEN 1 ELSE 0 END",
            "CASE WHEN (age IS NULL) OR (age IN (1, 2)) THEN 1 ELSE 0 END",
        ),
        ("DATE_TRUNC('month', day)", "DATE_TRUNC(day, month)"),
        ("at AT TIME ZONE 'UTC'", "LOCAL(at, UTC)"),
        ("note || '" + "x" * 200 + "'", "note || '" + "x" * 88 + "..."),
        ("CLIP(age, 0, 110)", "age"),
    ],
)
def test_how_an_expression_is_spelled(text, name):
    assert planned(f"SELECT COUNT({text}) FROM visits").calls[0].column.name == name
