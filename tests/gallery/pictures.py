"""The pictures of the gallery: each is what the code of its page saves.

`python tests/gallery/pictures.py` draws them anew.
"""

from __future__ import annotations

import contextlib
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GALLERY = ROOT / "docs" / "gallery"


def wanted(page: Path) -> list[str]:
    """The pictures beside the page that it shows."""
    return re.findall(r"!\[[^\]]*\]\(([\w-]+\.svg)\)", page.read_text(encoding="utf-8"))


def saved(page: Path) -> list[str]:
    """The pictures that its code saves."""
    return re.findall(r'\.save\("([\w-]+\.svg)"\)', page.read_text(encoding="utf-8"))


def words(svg: str) -> set[str]:
    """What is written in it: titles, labels, ticks. The rest of an SVG depends on what makes it, and on fonts."""
    return set(re.findall(r">([^<>]+)</text>", svg))


def run(page: Path, place: Path) -> None:
    """Every block of the page, in this place."""
    documents = str(ROOT / "tests" / "docs")
    if documents not in sys.path:
        sys.path.insert(0, documents)
    from documents import Run

    with contextlib.chdir(place):
        Run(page).all()


def _main() -> None:
    for page in sorted(GALLERY.glob("*.md")):
        if wanted(page):
            with tempfile.TemporaryDirectory() as folder:
                run(page, Path(folder))
                for name in wanted(page):
                    (GALLERY / name).write_text((Path(folder) / name).read_text(encoding="utf-8"), encoding="utf-8")


if __name__ == "__main__":
    _main()
