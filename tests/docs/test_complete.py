"""Nothing public is undocumented: every public name, command and option has its word in the documents."""

from __future__ import annotations

import re
import tomllib
from importlib.util import find_spec

import pytest
from documents import ROOT

import dpcurator as dp

COMMANDS = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
EVERYWHERE = ("--json", "--help")


@pytest.mark.parametrize("name", [name for name in dp.__all__ if not name.startswith("_")])
def test_a_public_name_is_in_the_documents(name):
    assert re.search(rf"`dp\.{name}`", (ROOT / "docs" / "python.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", [name for name in dp.__all__ if not name.startswith("_")])
def test_a_public_name_is_no_module_so_it_stays_what_it_is(name):
    """A submodule of the same name would take the name's place as soon as it is imported."""
    assert find_spec(f"dpcurator.{name}") is None
    assert getattr(dp, name) is getattr(dp, name)


def commands() -> dict[str, list[str]]:
    """Every command of the shell, those of groups too ("plot law"), with its long options."""
    from dpcurator.cli import parser

    found, left = {}, list(parser().commands.items())
    while left:
        name, command = left.pop()
        if hasattr(command, "commands"):
            left += [(f"{name} {inner}", one) for inner, one in command.commands.items()]
        else:
            opts = [option for parameter in command.params for option in parameter.opts]
            found[name] = [option for option in opts if option.startswith("--")]
    return found


def test_every_command_and_option_is_in_the_documents():
    for name, options in commands().items():
        line = re.search(rf"^\| `{name}\b.*$", COMMANDS, re.M)
        assert line, f"commands.md has no line for {name}"
        missing = [option for option in options if option not in (*EVERYWHERE, "--catalog") and option not in line[0]]
        assert missing == [], f"commands.md leaves out options of {name}"
    assert all(option in COMMANDS for option in (*EVERYWHERE, "--catalog", "--version"))


def test_g3_each_extra_is_of_use():
    """What a user's extra installs is imported somewhere in the source; the others are for contributors."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    imports = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    for extra in set(extras) - {"docs", "test", "peers", "mutation", "schemathesis"}:
        for requirement in extras[extra]:
            module = re.split(r"[\[<>=]", requirement)[0].removesuffix("-python").replace("-", "_")
            assert re.search(rf"\b(import|from) {module}\b|[\"']{module}[\"'.]", imports), f"{extra}: {module}"


TERMS = (
    "privacy loss distribution",
    "PLD",
    "contribution bounding",
    "adaptive composition",
    "amplification by subsampling",
    "confidence interval",
    "privacy unit",
    "sensitivity",
    "zCDP",
    "post-processing",
)


@pytest.mark.parametrize("term", TERMS)
def test_who_searches_for_a_term_of_the_field_finds_a_page_beside_the_glossary(term):
    pages = [page for page in (ROOT / "docs").rglob("*.md") if page.name != "glossary.md"]
    words = {page.name: " ".join(page.read_text(encoding="utf-8").split()).lower() for page in pages}
    assert [name for name, text in words.items() if term.lower() in text]
    assert term.lower() in (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8").lower()
