"""Finding what the ledger stores by the name that is printed below an answer.

A name is the beginning of a request's id, or of its answer's hash; of a batch, whose questions are one request, also a
point and a number from 1. Checked in tests/cli/test_batches.py and tests/server.
"""

from __future__ import annotations

from typing import Any

from dpcurator.errors import Refusal
from dpcurator.ledger import Ledger, Stored
from dpcurator.values import Json, read_json


def stored_named(ledger: Ledger, name: str, analyst: str | None = None) -> tuple[list[Json], bool]:
    """(the stored answers of this name, each with its receipt; whether the name is of a whole batch). Of that analyst
    alone, or of all. Raises Refusal."""
    found: list[tuple[Stored, int | None]] = [
        (one, None) for one in ledger.find(name, analyst) if isinstance(one, Stored)
    ]
    start, _, number = name.rpartition(".")
    if not found and start and number.isdecimal() and len(number) < 4:
        found = [(one, int(number)) for one in ledger.find(start, analyst) if isinstance(one, Stored)]
    if len(found) > 1:
        raise _unnamed(f"there are {len(found)} answers whose receipt begins with {name!r}.")
    each = [_parts(read_json(one.answer), at) for one, at in found]
    if not each or each[0] == ([], False):
        raise _unnamed(f"no receipt {name!r}.")
    return each[0]


def receipt_named(ledger: Ledger, name: str, analyst: str | None = None) -> Any:
    """The receipt of this name; the list of a batch's where no number is given. Raises Refusal."""
    parts, several = stored_named(ledger, name, analyst)
    return [part["receipt"] for part in parts] if several else parts[0]["receipt"]


def _parts(stored: Json, number: int | None) -> tuple[list[Json], bool]:
    """Of a stored answer itself; of a batch's all, or that of this number, from 1. Questions of a batch that earlier
    charges paid are not stored."""
    if "batch" not in stored:
        return ([stored] if number is None else []), False
    parts: list[Json | None] = stored["batch"]
    if number is None:
        return [one for one in parts if one is not None], True
    own = parts[number - 1] if 1 <= number <= len(parts) else None
    return ([] if own is None else [own]), False


def _unnamed(what: str) -> Refusal:
    return Refusal(what, cure="Give more of its name; `dpcurator log` lists the answers.")
