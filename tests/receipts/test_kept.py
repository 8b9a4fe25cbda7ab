"""Receipts made by earlier versions still verify, and plans, requests and receipts keep their digests.

`kept/` holds five answers with their receipts, the catalogs they were asked under, and the digests of what each
accepted statement of tests/plans/newcomer.sql was when they were made. A digest that moves makes paid answers unpaid
and old receipts unreadable: do it only with a decision record that says why.
"""

from __future__ import annotations

import json
import tomllib
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from dpcurator.catalog.bind import catalog_of
from dpcurator.catalog.load import load
from dpcurator.receipts.verification import verify
from dpcurator.standalone.verify import steps
from receipts import curator, json_of

KEPT = Path(__file__).parent / "kept"
ANSWERS = sorted(KEPT.glob("[0-9]_*.json"))
QUESTIONS = (
    "SELECT city, COUNT(*) AS n, AVG(age) AS age FROM visits GROUP BY city",
    "SELECT city, COUNT(*) AS n FROM visits WHERE age >= 18 AND NOT smoker GROUP BY city HAVING n > 5 ORDER BY n LIMIT 2",  # noqa: E501
    "SELECT SUM(cost) / COUNT(DISTINCT patient_id) AS each, COUNT(age) AS known FROM visits WHERE LOWER(city) LIKE '%r%'",  # noqa: E501
    "SELECT DATE_TRUNC('month', day) AS month, AVG(ROUND(cost, 1)) FROM visits GROUP BY DATE_TRUNC('month', day)",
    "SELECT CASE WHEN age < 18 THEN 'young' ELSE 'old' END AS g, SUM(CLIP(cost * 2, 0, 500)) FROM visits GROUP BY g",
    "SELECT COUNT(*) FILTER (WHERE city IN ('Leeds', 'York')) AS n, COUNT(*) FROM visits WHERE day >= DATE '2024-03-01'",  # noqa: E501
    "SELECT SUM(SQRT(ABS(cost - 10))) AS s FROM visits WHERE COALESCE(age, 7) BETWEEN 5 AND 90 OR city IS NULL",
)


def _read(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


@pytest.mark.parametrize("path", ANSWERS, ids=lambda path: path.stem)
def test_a_receipt_made_earlier_still_verifies(path):
    answer, catalog = _read(path), KEPT / f"{path.stem.split('_')[1]}.toml"
    receipt = answer["receipt"]
    core = {name: answer[name] for name in ("columns", "shown", "rows", "confidence", "notes")}
    found = verify(receipt, catalog=catalog_of(load(catalog)), answer=core, public_key=receipt["public_key"])
    assert [(step.name, step.words) for step in found.steps if not step.holds] == []
    public = tomllib.loads(catalog.read_text("utf-8"))
    assert [one for one in steps(receipt, catalog=public, key=receipt["public_key"]) if not one[1]] == []


def digests() -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for name in ("pure", "rho", "replaced"):
        made = curator(catalog_of(load(KEPT / f"{name}.toml")))
        for question in QUESTIONS:
            quote = made.quote(question, spend="5%")
            request = made.request(quote)
            parameters = sha256(request.parameters.encode()).hexdigest()
            found[f"{name}: {question}"] = {
                "plan": request.plan, "catalog": request.catalog, "parameters": parameters, "receipt": shape(quote),
            }
    return found


def shape(quote: Any) -> str:
    """The digest of all of a receipt but what is each answer's own."""
    from alone import receipt_of

    receipt = json_of(receipt_of(quote))
    own = ("software", "signature", "public_key", "answer_sha256", "time", "ledger", "request")
    body = {name: value for name, value in receipt.items() if name not in own}
    return sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def test_no_digest_has_moved():
    assert digests() == _read(KEPT / "digests.json")


def test_there_are_receipts_of_each_currency_and_relation():
    kinds = {(a["currency"], a["receipt"]["neighbours"], a["receipt"]["batch"] is None) for a in map(_read, ANSWERS)}
    assert len(ANSWERS) == 5
    assert kinds == {
        ("epsilon", "add-remove", True), ("epsilon", "add-remove", False), ("rho", "add-remove", True),
        ("epsilon", "replace-one", True),
    }


if __name__ == "__main__":  # after a decision to move: PYTHONPATH=tests/support python tests/receipts/test_kept.py
    (KEPT / "digests.json").write_text(json.dumps(digests(), indent=1) + "\n", "utf-8")
