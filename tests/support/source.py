"""The package's source as trees, parsed once for all tests that read it."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """Every node of a file, in the order of ast.walk."""
    return tuple(ast.walk(ast.parse(path.read_text("utf-8"))))
