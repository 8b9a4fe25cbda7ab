"""The receipt: what it holds and what it does not, signed over its canonical bytes, and readable from a file."""

from __future__ import annotations

import json
from fractions import Fraction as F

import pytest
from questions import CATALOG

from dpcurator.engines.reference import Reference
from dpcurator.ledger.keys import canonical
from dpcurator.ledger.keys import verify as signed_by
from dpcurator.plan.canonical import digest
from dpcurator.plan.facts import facts_of
from dpcurator.receipts.receipt import FORMAT, sha
from receipts import KEY, TABLES, curator, json_of

QUESTION = "SELECT city, COUNT(*) AS n, AVG(age) FROM visits GROUP BY city"


@pytest.fixture(scope="module")
def told():
    made = curator()
    return made, made.ask(QUESTION, epsilon=F(1, 3), analyst="ada")


def test_what_a_receipt_says(told):
    made, answer = told
    receipt = json_of(answer.receipt)
    assert receipt["format"] == FORMAT
    assert receipt["analyst"] == "ada"
    assert (receipt["epsilon"], receipt["delta"], receipt["confidence"]) == ("1/3", "0", "19/20")
    assert receipt["plan_sha256"] == digest(made.plan(QUESTION))
    assert receipt["reach"] == {"rows": 4, "groups": 2, "keys": 3, "one": 65536, "units": None}
    assert [one["ask"]["what"] for one in receipt["readings"]] == ["rows", "centred", "present"]
    assert [one["epsilon"] for one in receipt["readings"]] == ["1/9"] * 3
    assert receipt["readings"][0]["scale"] == str(2 * 4 * 65536 * 9)  # l0 m / epsilon
    assert receipt["ledger"]["spent"] == "1/3"
    assert receipt["ledger"]["remaining"] == "11/3"
    assert receipt["answer_sha256"] == sha(answer.core_json())
    assert receipt["catalog_sha256"] == facts_of(made.plan(QUESTION), CATALOG)
    assert set(receipt["software"]) == {"dpcurator", "numpy", "python-flint", "duckdb", "python"}


def test_it_is_signed_over_its_canonical_bytes(told):
    receipt = json_of(told[1].receipt)
    signature = receipt.pop("signature")
    assert receipt["public_key"] == KEY.public
    assert signed_by(KEY.public, canonical(receipt), signature)
    assert not signed_by(KEY.public, canonical(receipt | {"analyst": "bob"}), signature)


def test_it_survives_a_file(told, tmp_path):
    path = tmp_path / "receipt.json"
    path.write_text(json.dumps(told[1].receipt, indent=2), encoding="utf-8")
    read = json.loads(path.read_text(encoding="utf-8"))
    assert read == told[1].receipt
    assert canonical(read) == canonical(told[1].receipt)


def test_it_holds_nothing_of_the_data_but_what_was_released(told):
    """Over a neighbour, and over no rows at all, only the hash of the answer, the time and the chain differ."""
    base = json_of(told[1].receipt)
    for tables in ({**TABLES, "t0": {name: values[:-1] for name, values in TABLES["t0"].items()}},
                   {**TABLES, "t0": {name: [] for name in TABLES["t0"]}}):
        other = curator()
        other.engine = lambda tables=tables: Reference(tables)
        receipt = json_of(other.ask(QUESTION, epsilon=F(1, 3), analyst="ada").receipt)
        differing = {name for name in base if base[name] != receipt[name]}
        assert differing <= {"request", "time", "answer_sha256", "ledger", "signature"}
        assert base["ledger"]["spent"] == receipt["ledger"]["spent"]


def test_a_public_answer_has_a_receipt_at_no_price():
    made = curator()
    answer = made.ask("SELECT city FROM visits GROUP BY city", epsilon=1)
    assert answer.public
    assert "ledger" not in answer.receipt
    assert answer.rows == [("Hull",), ("Leeds",), ("York",)]
    assert made.budget().spent == 0
