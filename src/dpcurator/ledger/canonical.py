"""One spelling for one value: the JSON that is hashed and signed.

Sorted keys, no spaces, ASCII only, exact rationals as the text "p/q" in lowest terms (so 3 as an amount is "3/1").
A value therefore has the same bytes whoever writes it. Keys must be text; nan and infinities are refused.
Checked in tests/ledger/test_canonical.py.
"""

from __future__ import annotations

import json
from fractions import Fraction
from hashlib import sha256


def canonical(value: object) -> bytes:
    """The bytes that stand for `value`. Raises ValueError or TypeError for what has no canonical form."""
    _keys_are_text(value)
    return canonical_text(value).encode("ascii")


def _keys_are_text(value: object) -> None:
    """json would write the key 1 as "1" without a word."""
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise TypeError("a key that is not text has no canonical form")
        value = list(value.values())
    if isinstance(value, list | tuple):
        for part in value:
            _keys_are_text(part)


def canonical_text(value: object) -> str:
    """`canonical` as text, for values whose keys are known to be text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False, default=_rational_only)


def _rational_only(value: object) -> str:
    if isinstance(value, Fraction):
        return ratio(value)
    raise TypeError(f"{type(value).__name__} has no canonical form")


def ratio(value: Fraction) -> str:
    """`value` as "p/q"."""
    return f"{value.numerator}/{value.denominator}"


def digest(data: bytes) -> str:
    """sha256, hexadecimal."""
    return sha256(data).hexdigest()


def text_bytes(text: str) -> bytes:
    """Any Python text as bytes, lone surrogates included, so that storing an answer cannot fail on its characters."""
    return text.encode("utf-8", "surrogatepass")
