"""Every block of every document is run (`documents.py` says how), in a new directory of its own.

It holds the demo's clinic, refreshed; or, for a document that begins with `init`, the demo's visits.csv alone, with the
clinic beside it in `clinic`.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from documents import FROM_THE_FILE_ALONE, ROOT, Run, agrees, blocks, compare, is_noisy, masked
from power import PAGES

RECIPES = ROOT / "docs" / "recipes"
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
HERE = [path for path in DOCUMENTS if path.parent != RECIPES and path.name not in ("catalog.md", "types.md")]
EVERY = [*DOCUMENTS, ROOT / "GUARANTEES.md", ROOT / "SECURITY.md", ROOT / "CHANGES.md", ROOT / "bench" / "README.md"]


NEEDS = {"sql-clients.md": "psql"}  # a program that is not one of Python's


def marks(path: Path) -> list[pytest.MarkDecorator]:
    program = NEEDS.get(path.name)
    absent = program is not None and shutil.which(program) is None
    return [pytest.mark.slow] * (path.name in PAGES) + [pytest.mark.skipif(absent, reason=f"{program} is not here")]


RUN = [pytest.param(path, id=str(path.relative_to(ROOT)), marks=marks(path)) for path in HERE]


@pytest.mark.parametrize("path", RUN)
def test_every_block_does_what_the_document_says(path, clinic, tmp_path, monkeypatch):
    place = tmp_path / "clinic"
    shutil.copytree(clinic, place)
    if path.name in FROM_THE_FILE_ALONE:
        shutil.copy(clinic / "visits.csv", tmp_path)
        place = tmp_path
    monkeypatch.chdir(place)
    Run(path).all()


def test_the_readme_has_the_two_commands_that_the_gate_runs():
    found = blocks((ROOT / "README.md").read_text(encoding="utf-8"))
    marked = [block.mark[1] for block in found if block.mark and block.kind == "bash"]
    assert marked == ["run", "test"]


@pytest.mark.parametrize("path", EVERY, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_to_a_file_leads_somewhere(path):
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", path.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (path.parent / target).exists(), f"{path.name} links to {target}"


@pytest.mark.parametrize("path", EVERY, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_names_a_machine_or_loads_from_outside(path):
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"/(home|root|work|tmp|Users)/", text)
    assert "<script" not in text
    assert "<img" not in text


def test_a_stale_document_fails():
    with pytest.raises(AssertionError, match="says"):
        compare("ok  form: x\n...", "ok  shape: x\nmore", noisy=True, where="here")
    with pytest.raises(AssertionError):
        compare("epsilon 4", "epsilon 5", noisy=False, where="here")
    assert agrees("a\n...\nb", "a\nmore\nmore\nb")
    assert not agrees("a\n...\nb", "a\nmore")


def test_only_numbers_and_hashes_are_masked():
    assert masked("Leeds   25,800 ±300\nreceipt e03aa5f1") == masked("Leeds  -900 ±31\nreceipt 00000000")
    assert masked("('Hull', 7742, 131.62400986068772) 1e-05") == masked("('Hull', 0, 0.0) 898.5")
    assert masked("Leeds 1 ±2") != masked("York 1 ±2")
    assert is_noisy('dpcurator ask "..." --spend 5%')
    assert not is_noisy('dpcurator ask "..."')
    assert not is_noisy("dpcurator check")


def test_a_block_that_nothing_runs_is_an_error(tmp_path: Path):
    stray = tmp_path / "stray.md"
    stray.write_text("```json\n{}\n```\n")
    with pytest.raises(AssertionError, match="nothing runs"):
        Run(stray).all()


def test_the_gallery_is_held_to_the_digit(tmp_path: Path):
    place = tmp_path / "gallery"
    place.mkdir()
    page = "```python\nprint(0.25)\n```\n\n{}```text\n0.26\n```\n"
    for folder, mark, held in ((place, "", True), (place, "<!-- noisy: values -->\n", False), (tmp_path, "", False)):
        document = folder / "page.md"
        document.write_text(page.format(mark))
        if held:
            with pytest.raises(AssertionError, match="says"):
                Run(document).all()
        else:
            Run(document).all()
