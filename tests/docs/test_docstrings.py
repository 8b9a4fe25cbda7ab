"""The docstrings of public names begin with what they are, and show how they are used; their examples are run.

Held here for every name of dp.__all__: first line, promise, every parameter, what is refused, source with its year,
example. Of their public methods: what they are and what they refuse; of mechanisms, that they do refuse it. Examples
print the same each time, or say so with a probability far below 1e-9.
"""

from __future__ import annotations

import dataclasses
import doctest
import importlib
import inspect
import pydoc
import re
from collections.abc import Iterator
from typing import Any

import pytest

import dpcurator as dp
from dpcurator import mechanisms
from dpcurator.mechanisms import ROWS

MECHANISMS = [row.name for row in ROWS]
MADE = {"Curator", "Answer", "Cut", "Quote", "Menu"}  # values that the product makes: fields are told, not parameters
CURATOR = {*MADE, "connect", "open", "draft", "rehearsing", "verify", "col", "count", "count_if", "count_units", "sum",
           "mean", "count_distinct", "min", "max", "arg_min", "arg_max", "any", "all",
           "variance", "stddev", "median", "quantile", "mode", "top_k", "covariance", "correlation", "regression",
           "when"}
NAMES = [name for name in dp.__all__ if not name.startswith("_")]
ERRORS = [name for name in NAMES if isinstance(getattr(dp, name), type) and issubclass(getattr(dp, name), Exception)]
ANYTHING = {"otherwise"}  # a value of any type, of those that are reported
NO_SOURCE = {*ERRORS, *CURATOR, "plot", "exact_law", "replay"}  # this project's own: there is no paper to name
OWN_WORDS = {"plot", "textbook_sigma", "explain_delta", "group_privacy", "Pure", "Approximate", "Zcdp"}
LOOKS_AT_NOTHING = {  # arithmetic on what the product itself made, and tables of it
    "pmf", "tail", "Answer.paid", "Answer.to_html", "Cut.among", "Menu.told", "Bounded.count", "at_least",
    "contradicted",
    "scores", "Quantile.sensitivity", "ProposeTestRelease.noise", "SparseVector.start",
}
NO_PROMISE = {*ERRORS, *CURATOR, *OWN_WORDS}


def words(name: str) -> str:
    return inspect.getdoc(getattr(dp, name)) or ""


def room(name: str) -> str:
    return str(getattr(dp, name).__module__.split(".")[1])


def test_there_are_names_of_every_room() -> None:
    assert len(MECHANISMS) >= 18
    assert len([name for name in NAMES if room(name) == "sensitivity"]) >= 10
    assert {"accounting", "auditing", "errors", "mechanisms", "plots", "privacy"} <= {room(name) for name in NAMES}
    assert set(dp.__all__) >= CURATOR


@pytest.mark.parametrize("name", NAMES)
def test_the_first_line_says_what_it_is(name: str) -> None:
    """H5: `help` begins with what a thing is, not with a parameter."""
    first, _, rest = words(name).partition("\n")
    assert len(first.split()) >= 4
    assert first.endswith(".")
    assert not re.match(r"[a-z_]+:", first), "begins with a parameter"
    assert rest.startswith("\n"), "a blank line follows the first"


@pytest.mark.parametrize("name", NAMES)
def test_it_says_what_is_refused_in_one_phrasing_and_shows_an_example(name: str) -> None:
    text = " ".join(words(name).split())
    assert doctest.DocTestParser().get_examples(words(name))
    if name not in ERRORS:
        assert re.search(r"[Rr]aises? (Refusal|Misconfigured)|any other value raises Refusal", text)
        assert not re.search(r"(is|are|[Ee]lse) a Refusal", text)


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_mechanism_states_its_promise_its_parameters_and_its_source(name: str) -> None:
    assert "Promise: " in words(name)
    assert re.search(r"Source: .*\b(19|20)\d\d\b", words(name))


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("Bounded", *MADE, *ERRORS)])
def test_it_explains_each_parameter_with_its_type_in_the_signature(name: str) -> None:
    told = words(name).partition("Parameters")[2].partition(">>>")[0] or words(name).partition(">>>")[0]
    for parameter in inspect.signature(getattr(dp, name)).parameters.values():
        assert re.search(rf"\b{parameter.name}\b", told), f"{name} does not explain {parameter.name}"
        assert not parameter.name.startswith("_")
        assert parameter.annotation != "object" or parameter.name in ANYTHING, (
            f"{name}: what {parameter.name} is, its annotation does not say"
        )
        assert parameter.kind is not inspect.Parameter.VAR_KEYWORD or name in ("Loss", "replay", "open"), name


@pytest.mark.parametrize("name", [name for name in NAMES if room(name) not in ("sensitivity", "mechanisms")])
def test_it_states_its_promise_and_its_source(name: str) -> None:
    """Of mechanisms above; of functions of sensitivities their source is."""
    assert name in NO_PROMISE or "Promise: " in words(name)
    assert name in NO_SOURCE or re.search(r"(?s)Source: .*\b(19|20)\d\d\b", words(name))


@pytest.mark.parametrize("name", NAMES)
def test_its_examples_do_what_they_say(name: str) -> None:
    test = doctest.DocTestParser().get_doctest(words(name), {}, f"dp.{name}", None, None)
    said: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=said.append)
    assert not said, "".join(said)


@pytest.mark.parametrize("name", MECHANISMS)
def test_f6_help_of_a_mechanism_says_what_it_is_and_promises(name: str) -> None:
    """F6: the formula, the promise, the parameters and the source, in `help(dp.Laplace)` and every other."""
    text = pydoc.plain(pydoc.render_doc(getattr(dp, name)))
    named = [f"{field.name}: " for field in dataclasses.fields(getattr(dp, name)) if field.init]
    for part in ("Promise", "Source:", ">>> ", *named):
        assert part in text, (name, part)


def methods(name: str) -> Iterator[tuple[str, Any]]:
    """The public methods of a public class that are written here, with their names."""
    value = getattr(dp, name)
    for own, method in inspect.getmembers(value) if inspect.isclass(value) else ():
        if not own.startswith("_") and callable(method) and getattr(method, "__module__", "").startswith("dpcurator."):
            yield own, method


def needed(method: Any) -> list[inspect.Parameter]:
    return [one for one in inspect.signature(method).parameters.values()
            if one.name not in ("self", "cls") and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]


def test_every_method_says_what_it_is_and_what_it_refuses() -> None:
    silent, mute = [], []
    for name in NAMES:
        for own, method in methods(name):
            told = inspect.getdoc(method) or ""
            if not told:
                silent.append(f"{name}.{own}")
            elif needed(method) and not {own, f"{name}.{own}"} & LOOKS_AT_NOTHING:
                mute += [] if re.search(r"[Rr]aise|[Rr]efus|[Nn]ever", told) else [f"{name}.{own}"]
    assert silent == []
    assert mute == []


def test_what_a_method_of_a_mechanism_says_it_refuses_it_does() -> None:
    """Given what is no value of any kind, before anything is drawn."""
    tried, wrong = 0, []
    for made in mechanisms.MECHANISMS:
        example = importlib.import_module(made.__module__).EXAMPLES[0]
        for own, method in methods(made.__name__):
            wanted = [one for one in needed(method) if one.default is one.empty]
            if not wanted or "Raises Refusal" not in (inspect.getdoc(method) or ""):
                continue
            given = [object() for one in wanted if one.kind is not one.KEYWORD_ONLY]
            named: dict[str, Any] = {one.name: object() for one in wanted if one.kind is one.KEYWORD_ONLY}
            tried += 1
            try:
                getattr(example, own)(*given, **named)
                wrong.append(f"{made.__name__}.{own} takes anything")
            except dp.Refusal:
                continue
            except Exception as error:
                wrong.append(f"{made.__name__}.{own}: {error!r}")
    assert wrong == []
    assert tried > 40
