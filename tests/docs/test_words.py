"""What a user reads is in the words of a textbook: errors, the shell's help and public docstrings.

Read from the source: every text given to an error of dpcurator, every `help=` of an option or argument, and the
docstrings of public names, their methods and the shell's commands. What is in backticks is code, and not looked at.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator

import pytest
from documents import ROOT
from source import nodes

import dpcurator as dp

AVOID = {
    r"chances?": "probability",
    r"laws?": "distribution",
    r"by luck|lucky": "random",
    r"scaled (down )?to that": "weighted down",
    r"as one point": "accounted for jointly",
    r"in the light of": "adaptively chosen",
    r"(is|are) worth": "converts to",
    r"loses eps": "privacy loss at most",
    r"proves no": "has no guarantee of",
}
ALLOWED = (
    '"law"', "plot law", "law.svg",  # the name of a kind of chart and of its command, which scripts use
    "<Chart: The law of",  # the title of such a chart
    "chance, a probability,", "chance as in",  # a parameter of a sampler, inside
)
ERRORS = {"Refusal", "Misconfigured", "OverBudget", "refusal", "DpcuratorError"}


def texts(node: ast.AST) -> Iterator[str]:
    for one in ast.walk(node):
        if isinstance(one, ast.Constant) and isinstance(one.value, str):
            yield one.value


def named(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def in_source() -> Iterator[tuple[str, str]]:
    """Where, and what, of errors and of the help of options."""
    for path in sorted((ROOT / "src").rglob("*.py")):
        for node in nodes(path):
            if isinstance(node, ast.Call):
                where = f"{path.relative_to(ROOT)}:{node.lineno}"
                told = [node] if named(node) in ERRORS else [word.value for word in node.keywords if word.arg == "help"]
                yield from ((where, text) for one in told for text in texts(one))


def in_docstrings() -> Iterator[tuple[str, str]]:
    """Of public names and the public members of public classes."""
    for name in dp.__all__:
        value = getattr(dp, name)
        if name.startswith("_"):
            continue
        yield f"dp.{name}", inspect.getdoc(value) or ""
        for member, one in inspect.getmembers(value) if inspect.isclass(value) else ():
            if not member.startswith("_"):
                yield f"dp.{name}.{member}", inspect.getdoc(one) or ""


def in_commands() -> Iterator[tuple[str, str]]:
    from dpcurator.cli import parser

    left = list(parser().commands.items())
    while left:
        name, command = left.pop()
        left += [(f"{name} {inner}", one) for inner, one in getattr(command, "commands", {}).items()]
        yield f"dpcurator {name}", f"{command.help or ''} {command.epilog or ''}"


def avoided(text: str) -> list[str]:
    """The words to avoid in a text, with those to say instead."""
    for allowed in ALLOWED:
        text = text.replace(allowed, "")
    bare = re.sub(r"`[^`]*`", "", " ".join(text.split()))
    return [f"{found[0]} -> {say}" for word, say in AVOID.items() if (found := re.search(rf"\b({word})\b", bare, re.I))]


@pytest.mark.parametrize("source", [in_source, in_docstrings, in_commands])
def test_a_user_reads_the_words_of_a_textbook(source) -> None:
    told = list(source())
    assert len(told) > 15
    assert {where: found for where, text in told if (found := avoided(text))} == {}


def test_words_to_avoid_are_found() -> None:
    assert avoided("It is shown by\nluck.") == ["by luck -> random"]
    assert avoided("A ledger in rho pays what it is worth.") == ["is worth -> converts to"]
    assert avoided('The chart "law" is that of `law.pmf`.') == []
