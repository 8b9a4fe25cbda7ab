"""The form of a receipt and its signature: the fields it has, how each is spelled, and who signed them.

Every other check may then read any field. What a field means is checked where it is derived again; what nothing else in
a receipt implies has its spelling here. Checked in tests/receipts/test_verify.py and
tests/attacks/test_adversary_surface.py.
"""

from __future__ import annotations

import re
from typing import Any, Final

from dpcurator.ledger.keys import canonical
from dpcurator.ledger.keys import verify as signed_by
from dpcurator.receipts.receipt import FORMAT, PARTS
from dpcurator.receipts.spelling import DIGEST, spelled
from dpcurator.receipts.steps import require
from dpcurator.values import Json

_VERSION: Final = re.compile(r"[0-9A-Za-z.+_-]{1,60}|unknown")
_SPELLINGS: Final = {  # of what nothing else in a receipt implies
    "request": re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}"), "analyst": re.compile(r"(?s).+"),
    "time": re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z"),
    "answer_sha256": DIGEST, "catalog_sha256": DIGEST, "plan_sha256": DIGEST, "parameters_sha256": DIGEST,
}  # fmt: skip
_PLACE: Final = {"position", "head", "spent", "remaining"}
_FIELDS: Final = {
    "format", "request", "analyst", "time", "protects", "neighbours", "plan", "plan_sha256", "reach", "readings",
    "price", "batch", "selection", "epsilon", "rho", "delta", "confidence", "parameters_sha256", "answer_sha256",
    "ledger", "catalog_sha256", "data_version", "software", "public_key", "signature",
}  # fmt: skip


def check_form(receipt: Any) -> str:
    require(isinstance(receipt, dict), "this is not a receipt")
    require(not receipt.get("made_up"), "this is the answer of a rehearsal: its rows are made up, it has no receipt")
    require(receipt.get("format") == FORMAT, f"its format is not {FORMAT!r}")
    require(set(receipt) == _FIELDS, "its fields are not those of a receipt")
    for name, spelling in _SPELLINGS.items():
        require(spelled(spelling, receipt[name]), f"its {name} is not spelled as one")
    version, place, parts = receipt["data_version"], receipt["ledger"], receipt["software"]
    require(type(version) is int and version >= 0, "its data version is no number")
    require(isinstance(place, dict) and set(place) == _PLACE, "its place in the ledger is malformed")
    require(type(place["position"]) is int and place["position"] >= 2, "a charge is not the first event of a ledger")
    require(spelled(DIGEST, place["head"]), "its head is no digest")
    require(isinstance(parts, dict) and set(parts) == {*PARTS, "python"}, "it names other software")
    require(all(spelled(_VERSION, part) for part in parts.values()), "a version of its software is none")
    return FORMAT


def check_signature(receipt: Json, public_key: str | None) -> str:
    body = {name: value for name, value in receipt.items() if name != "signature"}
    key = receipt["public_key"]
    require(signed_by(key, canonical(body), receipt["signature"]), "the signature does not match the content")
    require(public_key in (None, key), f"it was signed with another key: {key}")
    known = "the key you gave" if public_key is not None else "the key it names: compare it with the steward's"
    return f"signed with {known} ({key[:16]}...)"
