"""The constants of one DuckDB query, and its types. Checked in tests/engines/test_levels.py."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from dpcurator.catalog.model import Kind, Value
from dpcurator.engines.levels import Words

TYPES: Final[dict[Kind, str]] = {"integer": "BIGINT", "float": "DOUBLE", "text": "VARCHAR"}
WORDS: Final = Words("EXCLUDE", "floor({0})", "isinf({0})", "TRY_CAST({0} AS BIGINT)")


@dataclass(slots=True)
class Parameters:
    """Collects bound values; `bind` answers the text that stands for one. Equal texts and doubles are bound once."""

    words: ClassVar[Words] = WORDS
    values: list[Any] = field(default_factory=list)
    _known: dict[tuple[str, str], str] = field(default_factory=dict)

    def bind(self, value: Any, type_: str) -> str:
        self.values.append(value)
        return f"CAST(${len(self.values)} AS {type_})"

    def constant(self, value: Value, kind: Kind) -> str:
        bound = value
        if kind != "text":
            assert value is not None
            assert not isinstance(value, str)
            if kind == "integer":
                return integer(int(value), "BIGINT")
            bound = float(value) + 0.0
        key = (kind, repr(bound))
        if key not in self._known:
            self._known[key] = self.bind(bound, TYPES[kind])
        return self._known[key]


def integer(value: int, type_: str) -> str:
    """An integer literal: digits alone, in quotes so that no sign or size can change its type."""
    return f"CAST('{value:d}' AS {type_})"
