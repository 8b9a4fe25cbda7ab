"""Every block of the gallery can be pasted into Python's prompt, which ends a compound statement at a blank line."""

from __future__ import annotations

import codeop
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs" / "gallery").glob("*.md"))


def refused(source: str) -> str | None:
    """The line at which a prompt would give a SyntaxError; None where it takes all of them."""
    waiting: list[str] = []
    for line in [*source.splitlines(), ""]:
        waiting.append(line)
        try:
            if codeop.compile_command("\n".join(waiting)) is not None:
                waiting = []
        except SyntaxError:
            return line
    return waiting[0] if any(waiting) else None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_block_can_be_pasted(page: Path) -> None:
    documents = str(ROOT / "tests" / "docs")
    if documents not in sys.path:
        sys.path.insert(0, documents)
    from documents import blocks

    found = [block.body for block in blocks(page.read_text(encoding="utf-8")) if block.kind == "python"]
    assert found
    assert [refused(body) for body in found] == [None] * len(found)


def test_what_a_prompt_refuses_is_noticed() -> None:
    assert refused("for i in range(3):\n    print(i)\n\nprint(4)\n") is None
    assert refused("for i in range(3):\n    print(i)\nprint(4)\n") == "print(4)"
    assert refused("print(1,\n") == "print(1,"
