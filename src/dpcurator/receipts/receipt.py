"""The receipt: a signed statement of what was asked, how far one unit could move it, with which noise, at what cost.

It holds the canonical plan, the reach with its derivation, each mechanism with exact parameters, the price, the hash
of the noisy values, the place in the ledger's chain, and versions. It holds nothing computed from private data besides
what was released. `verification.py` derives all of it again. Checked in tests/receipts/test_receipt.py.
"""

from __future__ import annotations

import platform
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from typing import Final

from dpcurator.ledger.keys import SigningKey, canonical
from dpcurator.plan.canonical import as_json
from dpcurator.plan.facts import facts_of
from dpcurator.plan.stability import Reach
from dpcurator.pricing.priced import mechanism_json
from dpcurator.pricing.quote import Quote
from dpcurator.values import Charge, Json

FORMAT: Final = "dpcurator receipt 2"
SHARING: Final = "dpcurator receipt 3"  # some of its readings were paid by earlier charges
SHARED: Final = "dpcurator shared receipt 1"  # all of them were: nothing was charged
PUBLIC: Final = "dpcurator public receipt 1"  # of an answer for which no private data was read
PARTS: Final = ("dpcurator", "numpy", "python-flint", "duckdb")


def sha(value: object) -> str:
    """sha256 of the canonical JSON, hexadecimal."""
    return sha256(canonical(value)).hexdigest()


def batch_digest(plans: Sequence[str]) -> str:
    """What stands for the plan of a batch in the ledger, from the digests of its plans."""
    return sha({"batch": list(plans)})


def write(
    quote: Quote, charge: Charge, answer_core: Json, *, analyst: str, key: SigningKey, batch: Json | None = None
) -> Json:
    """The signed receipt of one answer. batch: what was paid with it by the same charge, see `batching`."""
    body = _asked(quote, answer_core, key) | _read(quote, analyst) | {
        "format": FORMAT if quote.held is None else SHARING,
        "request": charge.request_id,
        "time": charge.time,
        "epsilon": str(quote.epsilon),
        "rho": str(quote.rho),
        "delta": str(quote.delta),
        "parameters_sha256": sha(quote.parameters()),
        "ledger": {
            "position": charge.position,
            "head": charge.head,
            "spent": str(charge.spent),
            "remaining": str(charge.remaining),
        },
        "batch": batch,
    }
    return body | {"signature": key.sign(canonical(body))}


def write_public(quote: Quote, answer_core: Json, *, key: SigningKey) -> Json:
    """The signed receipt of an answer that follows from public facts: nothing was read or charged, so it names no
    request, time or place in the ledger, and is the same each time."""
    price = {"currency": quote.catalog.currency, "amount": "0", "delta": "0"}
    body = _asked(quote, answer_core, key) | {"format": PUBLIC, "price": price}
    return body | {"signature": key.sign(canonical(body))}


def write_shared(quote: Quote, answer_core: Json, *, analyst: str, key: SigningKey) -> Json:
    """The signed receipt of an answer whose readings were all paid before: nothing was charged, so it names no request,
    time or place of its own in the ledger, but those of the charges that paid."""
    body = _asked(quote, answer_core, key) | _read(quote, analyst) | {"format": SHARED}
    return body | {"signature": key.sign(canonical(body))}


def _read(quote: Quote, analyst: str) -> Json:
    """What receipts hold of the readings that an answer rests on, and of which of them earlier charges paid."""
    selection = None if quote.selecting is None else quote.selecting.as_json()
    found = {
        "analyst": analyst,
        "reach": reach_json(quote.reach),
        "price": quote.parameters()["price"],
        "selection": selection,
        "readings": [mechanism_json(one) | {"derivation": list(one.derivation)} for one in quote.priced],
    }
    return found if quote.held is None else found | {"shared": quote.held.as_json()}


def _asked(quote: Quote, answer_core: Json, key: SigningKey) -> Json:
    """What receipts of both formats hold."""
    catalog = quote.catalog
    return {
        "protects": catalog.protects,
        "neighbours": catalog.neighbours,
        "plan": as_json(quote.plan),
        "plan_sha256": quote.plan_digest,
        "confidence": str(quote.confidence),
        "answer_sha256": sha(answer_core),
        "catalog_sha256": facts_of(quote.plan, catalog),
        "data_version": catalog.data_version,
        "software": {part: _version(part) for part in PARTS} | {"python": platform.python_version()},
        "public_key": key.public,
    }


def reach_json(reach: Reach) -> Json:
    found = {"rows": reach.rows, "groups": reach.groups, "keys": reach.keys, "one": reach.one, "units": reach.units}
    found |= {} if reach.total is None else {"total": reach.total}
    return found if reach.min_units == 1 else found | {"min_units": reach.min_units}


@cache  # of what is installed; each look opens files
def _version(part: str) -> str:
    try:
        return version(part)
    except PackageNotFoundError:
        return "unknown"
