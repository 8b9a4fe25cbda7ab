"""What a column declares about cleaning its values: `clean`, `map`, `na_values` and `valid`, in this order.

A text is changed by the steps of `clean` in the order written, then replaced where the whole of it is in `map` (once:
what comes out is not looked up again), then missing where it is one of `na_values`; what is left is read by the grammar
of the type. A value, read from a text or typed already, is missing where one of `na_values` spells it or where it is
outside `valid`: it is not clamped. All of it depends on the one cell and on declared facts, and none of it can fail.

It is part of meaning: it decides which value a row has, so digests, readings and snapshots are bound to it
(catalog/bind.py). Unicode is that of the Python that refreshes, and a snapshot keeps what came out.
Checked in tests/catalog/test_cleaning.py.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Final

STEPS: Final[dict[str, Callable[[str], str]]] = {
    "trim": str.strip,  # white space of Unicode, at both ends
    "lower": str.lower,
    "upper": str.upper,
    "nfc": lambda text: unicodedata.normalize("NFC", text),
}
FOLDING: Final = ("lower", "upper")  # make one text of several: never of a unit's


@dataclass(frozen=True)
class Cleaning:
    """absent: the spellings in `na_values`; absent_values: the physical values that they spell. lower, upper: `valid`,
    exact physical values, both or neither."""

    steps: tuple[str, ...] = ()
    map: tuple[tuple[str, str], ...] = ()
    absent: tuple[str, ...] = ()
    absent_values: tuple[int | float | str, ...] = ()
    lower: Fraction | None = None
    upper: Fraction | None = None

    @cached_property
    def _mapped(self) -> dict[str, str]:
        return dict(self.map)

    @cached_property
    def _absent(self) -> frozenset[str]:
        return frozenset(self.absent)

    @cached_property
    def _absent_values(self) -> frozenset[int | float | str]:
        return frozenset(self.absent_values)

    def text(self, text: str) -> str | None:
        """The text to be read; None where it means missing."""
        for step in self.steps:
            text = STEPS[step](text)
        text = self._mapped.get(text, text)
        return None if text in self._absent else text

    def absent_value(self, value: int | float | str) -> bool:
        """Is a value that was read one of `na_values`?"""
        return value in self._absent_values

    def outside(self, value: int | float | str) -> bool:
        """Is a value that was read outside `valid`? Infinities are."""
        if self.lower is None or self.upper is None or isinstance(value, str):
            return False
        return not self.lower <= value <= self.upper

    def facts(self) -> dict[str, Any]:
        """What is declared, as JSON: empty where nothing is, so that no digest from before there was any has moved."""
        told: dict[str, Any] = {}
        if self.steps:
            told["clean"] = list(self.steps)
        if self.map:
            told["map"] = [list(pair) for pair in sorted(self.map)]
        if self.absent or self.absent_values:
            values = [v.hex() if isinstance(v, float) else v for v in self.absent_values]
            told["na_values"] = [sorted(self.absent), sorted(values, key=repr)]
        if self.lower is not None:
            told["valid"] = [str(self.lower), str(self.upper)]
        return told


AS_IT_IS: Final = Cleaning()
