"""The package's source as trees, parsed once for all tests that read it."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path


def naming(path: Path, *names: str) -> bool:
    """Whether a file can have one of these names in its code: a quick look before it is parsed."""
    text = path.read_text("utf-8")
    return not text.isascii() or any(name in text for name in names)  # other letters may spell the same name


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """Every node of a file, in the order of ast.walk."""
    return tuple(ast.walk(ast.parse(path.read_text("utf-8"))))
