"""Everything that is wrong with a catalog file, said at once: each as file, line, what, cure.

A check adds a `Problem` and goes on; `raise_all` ends in one Misconfigured whose text has one line per problem, in the
order of the file. Checked in tests/catalog/test_load.py.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, time

from dpcurator.catalog.positions import Lines, Path, line_of
from dpcurator.errors import Misconfigured, Refusal, closest

_BARE = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong at a path of the document, and what to do."""

    path: Path
    what: str
    cure: str = ""


@dataclass(slots=True)
class Problems:
    """A growing list; `lines` places each one in the file (empty for a catalog given as a dict)."""

    name: str
    lines: Lines = field(default_factory=dict)
    end: int = 0  # the last line: where what is absent altogether should be
    found: list[Problem] = field(default_factory=list)

    def add(self, path: Path, what: str, cure: str = "") -> None:
        self.found.append(Problem(path, what, cure))

    def refusal(self, path: Path, error: Refusal) -> None:
        """A number that `dpcurator.numbers` refused, told as a matter of the file."""
        self.add(path, error.what, error.cure)

    def covers(self, path: Path) -> bool:
        """Has something been said about this path, or about what it is part of?"""
        return any(path[: len(problem.path)] == problem.path for problem in self.found)

    def line(self, path: Path) -> int:
        """The line of `path`; 0 when there is no file."""
        return line_of(self.lines, path) or self.end

    def where(self, path: Path) -> str:
        line = self.line(path)
        return f"{self.name}:{line}" if line else f"{self.name} {dotted(path)}".strip()

    def raise_all(self) -> None:
        """Raise Misconfigured when anything was found."""
        if not self.found:
            return
        ordered = sorted(self.found, key=lambda problem: self.line(problem.path))
        told = list(dict.fromkeys((self.where(p.path), p.what, p.cure) for p in ordered))
        where, what, cure = told[0]
        rest = "".join(f"\n{Misconfigured(w, where=place, cure=c)}" for place, w, c in told[1:])
        raise Misconfigured(what, where=where, cure=cure + rest)


def dotted(path: Iterable[str | int]) -> str:
    """A path as TOML spells it: tables.visits."net-gain"."""
    return ".".join(quoted(str(part)) for part in path)


def quoted(name: str) -> str:
    """A name as a TOML key: bare where TOML allows it."""
    return name if _BARE.fullmatch(name) else text(name)


def text(value: str) -> str:
    """A TOML basic string on one line. (JSON's escapes are TOML's, but for U+007F.)"""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml(value: object) -> str:
    """A value of a catalog as TOML writes it, on one line."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, date | time):  # and datetime
        return value.isoformat()
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{quoted(str(name))} = {toml(inner)}' for name, inner in value.items())} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml, value))}]"
    return text(str(value))


def nearest(name: str, known: Iterable[str]) -> str:
    """'Did you mean "age"?', or the list of what there is."""
    names = list(known)
    for close in closest(name, names):
        return f"Did you mean {text(close)}?"
    shown = ", ".join(text(other) for other in names[:12])
    return f"There is {shown}{', ...' if len(names) > 12 else ''}." if names else ""


def as_mapping(value: object) -> Mapping[str, object] | None:
    """`value` when it is a table of text keys."""
    return value if isinstance(value, Mapping) and all(isinstance(key, str) for key in value) else None
