"""The rows of docs/guarantees, and a contributor's command that runs the tests a row names.

python tests/docs/guarantee.py              lists the rows: id, page, claim
python tests/docs/guarantee.py S3 M16       shows these rows and runs their tests
python tests/docs/guarantee.py X6 -m slow   what is left goes to pytest
"""

from __future__ import annotations

import re
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "guarantees"
_ID = re.compile(r"[A-Z]+\d+")


class Row(NamedTuple):
    """One claim: its id, the claim, files of src/dpcurator, tests, source, and the page it stands on."""

    id: str
    claim: str
    code: str
    test: str
    source: str
    page: str = ""

    @property
    def places(self) -> list[str]:
        return re.findall(r"`([^`]+)`", self.code)

    @property
    def tests(self) -> list[str]:
        return re.findall(r"`(tests/[^`]+)`", self.test)


def rows(text: str, page: str = "") -> list[Row]:
    """The lines of a page that begin with an id; a `\\|` is part of its cell."""
    found = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if cells and _ID.fullmatch(cells[0]):
            assert len(cells) == 5, f"{page}: row {cells[0]} has {len(cells)} cells, not id, claim, code, test, source"
            found.append(Row(*cells, page))
    return found


@cache
def every_row() -> tuple[Row, ...]:
    pages = sorted(PAGES.glob("*.md"))
    return tuple(row for page in pages for row in rows(page.read_text(encoding="utf-8"), page.name))


@cache
def functions(path: Path) -> frozenset[str]:
    """The names of all functions of a file."""
    return frozenset(re.findall(r"^ *def (\w+)\(", path.read_text(encoding="utf-8"), re.M))


def missing_test(name: str) -> str | None:
    """What is wrong with `tests/x.py::test_y`, or with a file or folder; None when it is there."""
    path, _, function = name.partition("::")
    place = ROOT / path
    if not place.exists():
        return f"there is no {path}"
    if function and function not in functions(place):
        return f"{path} has no {function}"
    return None


def command(words: list[str]) -> int:
    """What the words of the command line ask for; returns the exit code."""
    ids = [word for word in words if _ID.fullmatch(word)]
    known = {row.id: row for row in every_row()}
    if not ids:
        for row in sorted(known.values(), key=lambda row: (row.id[0], int(re.sub(r"\D", "", row.id)))):
            print(f"{row.id:>4}  {row.page.removesuffix('.md'):22} {row.claim[:90]}")
        return 0
    if unknown := [one for one in ids if one not in known]:
        print(f"no row has the id {', '.join(unknown)}: `python tests/docs/guarantee.py` lists them", file=sys.stderr)
        return 2
    for one in ids:
        row = known[one]
        print(f"{row.id} (docs/guarantees/{row.page}): {row.claim}\n  code: {row.code}\n  source: {row.source}")
    import pytest

    tests = dict.fromkeys(str(ROOT / test) for one in ids for test in known[one].tests)
    options = [word for word in words if word not in ids]
    code = int(pytest.main([f"--rootdir={ROOT}", "-c", str(ROOT / "pyproject.toml"), "-n0", *tests, *options]))
    if code == pytest.ExitCode.NO_TESTS_COLLECTED:
        print("these tests are long ones: add `-m slow`", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(command(sys.argv[1:]))
