"""A curator in memory over a small table, its receipts, and ways of changing a receipt, for tests of what is signed."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from questions import CATALOG, VISITS, catalog_with, with_column
from questions import ROWS as ROWS_TABLE

from dpcurator.catalog.model import Catalog
from dpcurator.curator.curator import Curator
from dpcurator.engines.reference import Reference
from dpcurator.ledger import Ledger, MemoryStore, Opening
from dpcurator.ledger.keys import SigningKey, canonical
from dpcurator.values import Json

KEY = SigningKey(Ed25519PrivateKey.from_private_bytes(bytes(range(32))))
CITIES = ("Hull", "Leeds", "York", None)
ROWS = 40
TABLES = {
    "t0": {
        "c0": [f"p{i % 13}" for i in range(ROWS)], "c1": [CITIES[i % 4] for i in range(ROWS)],
        "c2": [i * 3 if i % 7 else None for i in range(ROWS)], "c3": [i * 12.5 for i in range(ROWS)],
        "c4": [0.1 * (i % 5) for i in range(ROWS)], "c5": [19000 + i % 3 for i in range(ROWS)],
        "c6": [i * 10**9 for i in range(ROWS)], "c7": [i % 2 for i in range(ROWS)],
        "c8": [i % 4 or None for i in range(ROWS)],
        "c9": [f"00000000-0000-0000-0000-{i:012d}" for i in range(ROWS)], "c10": [i * 100 for i in range(ROWS)],
        "c11": [None if i % 3 else f"note {i}" for i in range(ROWS)],
    },
    "t1": {"c0": [i % 15 - 5 for i in range(ROWS)], "c1": ["ab"[i % 2] for i in range(ROWS)]},
}


_UNKNOWN = catalog_with(with_column(VISITS, "city", keys=None, unknown_keys=True), ROWS_TABLE)
_N = {"neighbours": "replace-one", "units": ROWS}
CATALOGS: dict[str, Catalog] = {
    "pure": CATALOG,
    "approximate": replace(CATALOG, epsilon=Fraction(40), delta=Fraction(1, 10**3)),
    "rho": replace(CATALOG, epsilon=Fraction(0), rho=Fraction(10), delta=Fraction(1, 10**6)),
    "replaced": replace(CATALOG, **_N),
    "unknown": replace(_UNKNOWN, epsilon=Fraction(40), delta=Fraction(1, 2), salt="0" * 32),
    "unknown, rho": replace(_UNKNOWN, epsilon=Fraction(0), rho=Fraction(40), delta=Fraction(1, 2), salt="0" * 32),
    "unknown, replaced": replace(_UNKNOWN, epsilon=Fraction(40), delta=Fraction(1, 2), salt="0" * 32, **_N),
}


def curator(catalog: Catalog = CATALOG, *, cut: bool = False) -> Curator:
    """A new ledger in memory. cut: whether its answers tell of it, as they do outside of tests of other things."""
    opening = Opening(
        protects=catalog.protects, neighbours=catalog.neighbours, units=catalog.units, epsilon=catalog.epsilon,
        rho=catalog.rho, delta=catalog.delta, public_key=KEY.public,
    )
    return Curator(catalog, Ledger.open(MemoryStore(), opening), KEY, lambda: Reference(TABLES), cut=cut)


def signed(receipt: Json) -> Json:
    """The same content, signed again with the right key: what a curator that lies could issue."""
    body = {name: value for name, value in receipt.items() if name != "signature"}
    return body | {"signature": KEY.sign(canonical(body))}


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place of a JSON value that holds no list and no object."""
    if isinstance(value, dict | list):
        for name, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(inner, (*path, name))
    else:
        yield path


def at(value: Any, path: tuple[Any, ...]) -> Any:
    for name in path:
        value = value[name]
    return value


def changed(receipt: Json, path: tuple[Any, ...], new: Any) -> Json:
    """A copy with another value at one place."""
    made = copy.deepcopy(receipt)
    at(made, path[:-1])[path[-1]] = new
    return made


def others(old: Any) -> list[Any]:
    """Values near `old`, of its type and of others."""
    if isinstance(old, bool) or old is None:
        return [not old, 0, "x"]
    if isinstance(old, int):
        return [old + 1, old - 1, -old - 1, str(old)]
    if isinstance(old, float):
        return [old + 1, None]
    near = [f"{old}0", old[1:], "0", None, 7]
    if old.replace("/", "").isdigit():
        near += [str(Fraction(old) * 2), str(Fraction(old) / 2), f"{Fraction(old) * 2}/2", f"{old} "]
    return [value for value in near if value != old]


def json_of(receipt: Json) -> Json:
    """As it comes back from a file."""
    made: Json = json.loads(json.dumps(receipt))
    return made
