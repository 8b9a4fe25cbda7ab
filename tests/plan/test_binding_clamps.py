"""E3: which clamps can bind, so that an answer's notes list those alone."""

from __future__ import annotations

from fractions import Fraction as F

import pytest
from questions import planned

from dpcurator.plan.stability import stability
from dpcurator.receipts.earlier_notes import earlier_notes
from dpcurator.release.notes import notes


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ("AVG(age)", "age is clamped to [0, 110]"),
        ("SUM(age * 2)", "is clamped to"),
        ("AVG(CASE WHEN smoker THEN 1 ELSE 0 END)", None),
        ("AVG(smoker)", None),
        ("AVG(age > 65)", None),
        ("SUM(HOUR(at))", None),
        ("SUM(CLIP(note_length, 0, 9))", None),
    ],
)
def test_e3_notes_list_no_clamp_that_cannot_bind(call, told):
    call = call.replace("note_length", "LENGTH(note)")
    plan = planned(f"SELECT {call} FROM visits")
    reach = stability(plan.source)
    said = notes(plan, reach, F(19, 20), "patients")[0]
    assert ("clamped" in said) == (told is not None)
    assert told is None or told in said
    (now,), (every,) = earlier_notes(plan, reach, F(19, 20))
    assert ("clamped" in now) == (told is not None)
    assert "clamped" in every
