"""E2: answers say expressions in SQL; those that said them by their names in the plan go on verifying."""

from __future__ import annotations

import datetime as dt

import dpcurator as dp
from dpcurator.receipts.answers import CORE
from dpcurator.receipts.receipt import sha
from dpcurator.receipts.verification import verify
from dpcurator.release.notes import notes
from receipts import KEY, signed

QUERY = "SELECT SUM(CLIP(EXTRACT(YEAR FROM day), 0, 5)) AS x FROM visits"


WORLD = {
    "curator": {"protects": "patients"}, "ledger": {"epsilon": 4},
    "tables": {"visits": {"unit": "who", "max_total": 5, "columns": {
        "who": "text", "day": {"type": "date", "bounds": ["2024-01-01", "2024-12-31"]}}}},
}


def again(answer):
    changed = {"public_key": KEY.public, "answer_sha256": sha({name: answer[name] for name in CORE})}
    return signed(answer["receipt"] | changed)


def test_e2_a_note_is_in_sql_and_a_note_of_before_still_holds(tmp_path):
    made = dp.open(WORLD, directory=tmp_path, visits={"who": ["a", "b"], "day": [dt.date(2024, 1, 1)] * 2})
    made.cut = False
    answer = made.ask(QUERY, spend="5%")
    told = answer.as_json()
    assert "CLIP(EXTRACT(YEAR FROM day), 0, 5)" in told["notes"][0]
    assert verify(told["receipt"], answer=told).holds
    quote = made.quote(QUERY, spend="5%")
    (before,) = notes(quote.plan, quote.reach, quote.confidence, "patients", sql=False)
    assert "CLIP(DATE_PART(day, year), 0, 5)" in before
    old = told | {"notes": [before]}
    old["receipt"] = again(old)
    assert verify(old["receipt"], answer=old).holds
    lie = told | {"notes": [before.replace("DATE_PART", "PART")]}
    lie["receipt"] = again(lie)
    assert not verify(lie["receipt"], answer=lie).holds
