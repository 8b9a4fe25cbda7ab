"""Which unknown keys may be shown, decided by how many distinct units have each; one rule a file.

`SELECTIONS` is all of them; `best` takes one by parameters alone, never by data. What the rules share is in `rule`.
Checked in tests/mechanisms/test_key_selection.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dpcurator.errors import Refusal
from dpcurator.mechanisms.key_selection.gaussian_threshold import GaussianThreshold
from dpcurator.mechanisms.key_selection.laplace_threshold import LaplaceThreshold
from dpcurator.mechanisms.key_selection.rule import KeySelection
from dpcurator.mechanisms.key_selection.truncated_geometric import TruncatedGeometric

SELECTIONS = (TruncatedGeometric, LaplaceThreshold, GaussianThreshold)
_BY_NAME: Mapping[str, type[TruncatedGeometric | LaplaceThreshold | GaussianThreshold]]
_BY_NAME = {rule.NAME: rule for rule in SELECTIONS}


def best(candidates: Iterable[KeySelection]) -> KeySelection:
    """The rule that keeps half of the smallest keys; among equals, the first by the name of its class."""
    return min(candidates, key=lambda rule: (rule.half_size(), type(rule).__name__))


def selection_of(data: Mapping[str, object]) -> KeySelection:
    """The inverse of a rule's `as_json`. Raises Refusal for anything else."""
    name, parameters = data.get("rule"), data.get("parameters")
    rule = _BY_NAME.get(name) if isinstance(name, str) else None
    if rule is None or set(data) != {"rule", "parameters"} or not isinstance(parameters, Mapping):
        raise Refusal("A selection of keys is written as a rule and its parameters, and nothing else.")
    try:
        found = rule(**parameters)
    except TypeError:
        raise Refusal("A selection of keys has its own parameters, and no others.") from None
    if found.as_json() != data:
        raise Refusal("A selection of keys is written with each parameter as exact text.")
    return found


__all__ = [
    "SELECTIONS",
    "GaussianThreshold",
    "LaplaceThreshold",
    "KeySelection",
    "TruncatedGeometric",
    "best",
    "selection_of",
]
