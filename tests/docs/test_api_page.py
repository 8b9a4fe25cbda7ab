"""The API page has every public name and method with its docstring, and the site's hook writes it."""

from __future__ import annotations

import inspect
import re
from types import SimpleNamespace

import pytest
from api_page import api, on_page_markdown, prose
from documents import ROOT

import dpcurator as dp

PAGE = api()


def test_every_public_name_has_a_heading_and_its_docstring():
    headings = re.findall(r"^### dp\.(\w+)$", PAGE, re.M)
    assert sorted(headings) == sorted(name for name in dp.__all__ if not name.startswith("_"))
    for name in headings:
        first = (inspect.getdoc(getattr(dp, name)) or "").splitlines()[0]
        assert prose(first) in PAGE


def test_methods_are_there_and_nothing_private_is():
    assert "#### Curator.ask\n" in PAGE
    assert "#### Laplace.release\n" in PAGE
    assert not re.search(r"^#### \w+\._", PAGE, re.M)
    assert " at 0x" not in PAGE


def test_the_site_is_built_with_it():
    site = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert "tests/docs/api_page.py" in site
    assert "api.md" in site
    page = SimpleNamespace(file=SimpleNamespace(src_uri="api.md"))
    assert on_page_markdown("# API\n", page=page, config=None, files=None) == "# API\n\n" + PAGE
    other = SimpleNamespace(file=SimpleNamespace(src_uri="loss.md"))
    assert on_page_markdown("# A\n", page=other, config=None, files=None) == "# A\n"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("2**-3 of `a*b`", "2\\*\\*-3 of `a*b`"),
        ("a_b <x> [c]", "a\\_b \\<x> \\[c\\]"),
        ("one\n\n    code * x\n\n>>> 1 * 1\n1", "one\n\n    code * x\n\n```python\n>>> 1 * 1\n1\n```"),
    ],
)
def test_prose_is_shown_as_it_is_written(text, shown):
    assert prose(text) == shown
