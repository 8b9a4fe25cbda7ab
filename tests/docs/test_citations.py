"""What is cited is there (G1): sections of docs/semantics.md and docs/design.md, known attacks, pages of docs."""

from __future__ import annotations

import re
from functools import cache

import pytest
from documents import ROOT
from guarantee import PAGES

_NUMBER = r"\d+(?:\.\d+)?"
_CITED = re.compile(rf"\b(semantics|design|attacks?) ({_NUMBER}(?:(?:, (?:and )?| and ){_NUMBER})*)(?![\w.]*\d)")
_ELSEWHERE = re.compile(r"\b(?:MEANING|DESIGN|ATTACKS|HOUSE|MISSION|FAULTS)\b(?:\.md|'s|,? (?:row |rule )?\d)")
FILES = sorted(
    path
    for folder in ("src", "tests", "docs", "bench")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in (".py", ".md", ".sql", ".toml") and path.name != "test_citations.py"
) + sorted(ROOT.glob("*.md"))


@cache
def there(word: str) -> frozenset[str]:
    """The numbers that can be cited."""
    if word.startswith("attack"):
        return frozenset(re.findall(r"^\| (\d+) \|", (PAGES / "attacks.md").read_text(encoding="utf-8"), re.M))
    text = (ROOT / "docs" / f"{word}.md").read_text(encoding="utf-8")
    return frozenset(re.findall(rf"^###? ({_NUMBER}) ", text, re.M))


def wrong(text: str) -> list[str]:
    """Citations of what is not there."""
    found = [
        f"{cited[1]} {number}"
        for cited in _CITED.finditer(text)
        for number in re.findall(_NUMBER, cited[2])
        if number not in there(cited[1])
    ]
    return found + [cited[0] for cited in _ELSEWHERE.finditer(text)]


def test_g1_every_citation_leads_somewhere():
    found = {str(path.relative_to(ROOT)): wrong(path.read_text(encoding="utf-8")) for path in FILES}
    assert {path: cited for path, cited in found.items() if cited} == {}


def test_the_sections_that_are_cited_are_found():
    assert {"1.1", "2.5", "4.4", "7.5"} <= there("semantics")
    assert {"1.2", "2", "7"} <= there("design")
    assert wrong("semantics 2.5 and 4.4, design 1, attack 10, semantics 4.1, 7.2") == []


@pytest.mark.parametrize("text", ["semantics 2.99", "semantics 2.5 and 9.9", "design 77", "attack 99", "attacks 1, 88"])
def test_a_section_that_is_not_there_is_noticed(text):
    assert len(wrong(text)) == 1


def named_files(text: str) -> set[str]:
    """The files of Python that a text names, by name or by the end of their path."""
    return set(re.findall(r"(?<![\w./])(?:[a-z_]+/)*[a-z_]+\.py\b", text))


def test_every_file_that_the_source_names_is_there():
    there = {"/".join(path.parts[i:]) for path in FILES for i in range(len(path.parts)) if path.suffix == ".py"}
    there.add("file.py")  # of whoever audits a function of theirs
    found = {
        str(path.relative_to(ROOT)): named_files(path.read_text(encoding="utf-8")) - there
        for path in FILES
        if path.is_relative_to(ROOT / "src")
    }
    assert {path: names for path, names in found.items() if names} == {}
    assert named_files("see pld/gone.py, and `x.py`") == {"pld/gone.py", "x.py"}


def test_papers_outside_the_repository_are_not_cited():
    assert wrong("MEANING" + " 2.5") == ["MEANING" + " 2"]
    assert wrong("DESIGN" + ".md") == ["DESIGN" + ".md"]


def test_pages_that_the_source_names_are_there():
    named = {
        (str(path.relative_to(ROOT)), page)
        for path in FILES
        if path.suffix == ".py" and path.parent.name != "docs"
        for page in re.findall(r"docs/[\w/-]+\.md|\bgallery/[a-z-]+[a-z](?![\w.-])", path.read_text(encoding="utf-8"))
    }
    pages = {one: ROOT / (f"docs/{one[1]}.md" if one[1].startswith("gallery") else one[1]) for one in named}
    assert len(pages) >= 10
    assert sorted(one for one, page in pages.items() if not page.exists()) == []


def test_each_known_attack_is_tried_where_the_page_says():
    rows = re.findall(r"^\| (\d+) \|.*\| ([^|]+) \|$", (PAGES / "attacks.md").read_text(encoding="utf-8"), re.M)
    assert [int(number) for number, _ in rows] == list(range(1, len(rows) + 1))
    for number, tried in rows:
        for path in re.findall(r"`(tests/[^`]+)`", tried):
            assert (ROOT / path).exists(), f"attack {number}: there is no {path}"
        for word, file in (("values", "test_rows_values.py"), ("system", "test_rows_system.py")):
            if word in re.match(r"(?:values and system|values|system|)", tried)[0]:
                text = (ROOT / "tests" / "attacks" / file).read_text(encoding="utf-8")
                assert f"def test_row_{int(number):02}_" in text, f"attack {number} is not tried in {file}"


def test_places_that_a_contributor_is_sent_to_are_there():
    """Paths of CONTRIBUTING.md, but those with an `x`, a `<...>` or an `N` to be filled in."""
    names = re.findall(r"`([\w.-]+/[\w./-]*)`", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    wanted = [name for name in names if not re.search(r"/x\.|<|N", name)]
    assert len(wanted) >= 20
    bases = (ROOT, ROOT / "src/dpcurator", ROOT / "tests")
    assert [name for name in wanted if not any((base / name).exists() for base in bases)] == []
