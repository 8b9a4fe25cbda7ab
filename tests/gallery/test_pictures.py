"""Every picture of the gallery is what the code beside it draws, is shown, and loads nothing."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

HERE = str(Path(__file__).parent)
if HERE not in sys.path:
    sys.path.insert(0, HERE)

from pictures import GALLERY, run, saved, wanted, words  # noqa: E402

PAGES = sorted(GALLERY.glob("*.md"))
DRAWN = [page for page in PAGES if wanted(page)]


def test_every_page_is_in_the_index_and_in_the_navigation() -> None:
    index = (GALLERY / "index.md").read_text(encoding="utf-8")
    navigation = (GALLERY.parents[1] / "mkdocs.yml").read_text(encoding="utf-8")
    for page in PAGES:
        assert f"gallery/{page.name}" in navigation
        assert page.name == "index.md" or f"]({page.name})" in index


def test_every_picture_is_shown_and_saved_on_one_page() -> None:
    shown = [name for page in PAGES for name in wanted(page)]
    assert sorted(shown) == sorted(path.name for path in GALLERY.glob("*.svg"))
    for page in PAGES:
        assert sorted(wanted(page)) == sorted(saved(page))


@pytest.mark.parametrize("page", DRAWN, ids=lambda page: page.stem)
def test_a_picture_is_what_its_page_draws(page: Path, tmp_path: Path) -> None:
    run(page, tmp_path)
    for name in wanted(page):
        kept = (GALLERY / name).read_text(encoding="utf-8")
        assert words(kept) == words((tmp_path / name).read_text(encoding="utf-8"))
        assert words(kept)
        assert set(re.findall(r"https?://[^\"' ]+", kept)) <= {
            "http://www.w3.org/2000/svg",
            "http://www.w3.org/1999/xlink",
        }


def test_another_number_in_a_picture_is_noticed() -> None:
    kept = (GALLERY / "secret-society.svg").read_text(encoding="utf-8")
    assert "0.775" in words(kept)
    assert words(kept) != words(kept.replace("0.775", "0.776"))
