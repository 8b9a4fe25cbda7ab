"""The visible tuples and the folders agree: a mechanism that is written is a mechanism that the laws run over.

Selections of keys are no noise on an answer: they have a folder, a protocol and a tuple of their own.
"""

from __future__ import annotations

import importlib
import pkgutil

import pytest

from dpcurator import mechanisms
from dpcurator.mechanisms import key_selection

ROOMS = ("noise", "choice", "local", "smooth")
TOOLS = {  # beside the mechanisms of a room: what they have in common
    "binomial_interval",
    "estimates",
    "monotone",
    "nearest_candidate",
    "public_values",
    "rational_odds",
    "release",
    "scores",
}
SHARED = {"rule"}  # of the selections: what they have in common


def test_every_file_is_one_mechanism_in_the_tuple() -> None:
    rooms = [importlib.import_module(f"dpcurator.mechanisms.{room}") for room in ROOMS]
    files = {module.name for room in rooms for module in pkgutil.iter_modules(room.__path__)} - TOOLS
    assert {mechanism.__module__.rpartition(".")[2] for mechanism in mechanisms.MECHANISMS} == files
    assert len(mechanisms.MECHANISMS) == len(files)


def test_every_file_of_the_folder_is_one_selection_in_its_tuple() -> None:
    folders = {module.name for module in pkgutil.iter_modules(mechanisms.__path__) if module.ispkg}
    assert folders == {*ROOMS, "key_selection"}
    files = {module.name for module in pkgutil.iter_modules(key_selection.__path__)} - SHARED
    assert {rule.__module__.rpartition(".")[2] for rule in key_selection.SELECTIONS} == files
    assert len(key_selection.SELECTIONS) == len(files)


@pytest.mark.parametrize("room", [(mechanisms, mechanisms.MECHANISMS), (key_selection, key_selection.SELECTIONS)])
def test_every_mechanism_is_exported_and_has_examples(room) -> None:
    package, written = room
    for mechanism in written:
        assert mechanism.__name__ in package.__all__
        examples = importlib.import_module(mechanism.__module__).EXAMPLES
        assert examples
        assert all(type(example) is mechanism for example in examples)
