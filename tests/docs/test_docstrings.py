"""The docstrings of public names begin with what they are, and show how they are used; their examples are run.

Held here for every mechanism (by its row), `dp.clamp`, `dp.plot` and every public name of dpcurator.sensitivity: first
line, source with its year, example. Examples print the same each time, or say so with a probability far below 1e-9.
"""

from __future__ import annotations

import doctest
import inspect
import re

import pytest

import dpcurator as dp
from dpcurator.mechanisms import ROWS

MECHANISMS = [row.name for row in ROWS]
SENSITIVITY = [
    name for name in dp.__all__ if getattr(getattr(dp, name), "__module__", "").startswith("dpcurator.sensitivity")
]
NAMES = [*MECHANISMS, *SENSITIVITY, "clamp", "plot"]


def words(name: str) -> str:
    return inspect.getdoc(getattr(dp, name)) or ""


def test_there_are_names_of_both_rooms() -> None:
    assert len(MECHANISMS) >= 18
    assert len(SENSITIVITY) >= 10


@pytest.mark.parametrize("name", NAMES)
def test_the_first_line_says_what_it_is(name: str) -> None:
    """H5: `help` begins with what a thing is, not with a parameter."""
    first, _, rest = words(name).partition("\n")
    assert len(first.split()) >= 4
    assert first.endswith(".")
    assert not re.match(r"[a-z_]+:", first), "begins with a parameter"
    assert rest.startswith("\n"), "a blank line follows the first"


@pytest.mark.parametrize("name", NAMES)
def test_it_says_what_is_refused_and_shows_an_example(name: str) -> None:
    assert "Refusal" in words(name)
    assert doctest.DocTestParser().get_examples(words(name))


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_mechanism_states_its_promise_its_parameters_and_its_source(name: str) -> None:
    text = words(name)
    assert "Promise: " in text
    assert re.search(r"Source: .*\b(19|20)\d\d\b", text)
    told = text.partition("Parameters")[2].partition(">>>")[0]
    for parameter in inspect.signature(getattr(dp, name)).parameters:
        assert re.search(rf"\b{parameter}\b", told), f"{name} does not explain {parameter}"


@pytest.mark.parametrize("name", NAMES)
def test_its_examples_do_what_they_say(name: str) -> None:
    test = doctest.DocTestParser().get_doctest(words(name), {}, f"dp.{name}", None, None)
    said: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=said.append)
    assert not said, "".join(said)
