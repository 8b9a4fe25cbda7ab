"""The visible tuple and the folder agree: a mechanism that is written is a mechanism that the laws run over."""

from __future__ import annotations

import importlib
import pkgutil

from dpcurator import mechanisms


def test_every_file_is_one_mechanism_in_the_tuple() -> None:
    files = {module.name for module in pkgutil.iter_modules(mechanisms.__path__)}
    assert {mechanism.__module__.rpartition(".")[2] for mechanism in mechanisms.MECHANISMS} == files
    assert len(mechanisms.MECHANISMS) == len(files)


def test_every_mechanism_is_exported_and_has_examples() -> None:
    for mechanism in mechanisms.MECHANISMS:
        assert mechanism.__name__ in mechanisms.__all__
        examples = importlib.import_module(mechanism.__module__).EXAMPLES
        assert examples
        assert all(type(example) is mechanism for example in examples)
