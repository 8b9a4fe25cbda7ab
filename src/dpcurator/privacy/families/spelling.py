"""The names and parameters by which people write losses, from each family's own `spellings`.

Checked in tests/accounting/test_parse.py and tests/privacy/test_loss.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial

from dpcurator.errors import Refusal, closest
from dpcurator.privacy.families import FAMILIES, WHOLE
from dpcurator.privacy.families.family import Given, Named

Build = Callable[[Given], Named]


def _spellings() -> Mapping[str, Mapping[tuple[str, ...], Build]]:
    found: dict[str, dict[tuple[str, ...], Build]] = {}
    for family, known in FAMILIES.items():
        for name, ways in known.spellings.items():
            for names, build in ways.items():
                found.setdefault(name, {})[names] = partial(_made, family, build)
    return found


def _made(family: str, build: Callable[[Given], Given], given: Given) -> Named:
    return family, build(given)


SPELLINGS = _spellings()  # for each name, the parameters (those with a ? may be left out) and what they make


def spelled(name: str, given: Given) -> Named | None:
    """The family and parameters that a name with these parameters stands for; None for parameters it does not have."""
    for names, build in SPELLINGS.get(name, {}).items():
        needed = {one for one in names if not one.endswith("?")}
        if needed <= set(given) <= {one.rstrip("?") for one in names}:
            return build(given)
    return None


def parameters_of(name: str) -> str:
    """What a name may have, in words."""
    ways = SPELLINGS[name]
    return "; or ".join(", ".join(one.replace("?", " (or not)") for one in names) for names in ways)


def named(name: str, given: Mapping[str, Fraction]) -> Named:
    """A family and its own parameters, from these or from a spelling. Raises Refusal for anything else."""
    if not isinstance(name, str):
        raise Refusal("The family of a loss is a name.", cure='Write Loss("laplace", {"scale": 1, "shift": 1}).')
    if name in FAMILIES and FAMILIES[name].takes(given):
        return name, given
    found = spelled(name, given)
    if found is not None:
        return found
    if name in FAMILIES:
        FAMILIES[name].check(name, given)
    if name in SPELLINGS:
        raise Refusal(f"{name} does not have these parameters.", cure=f"It has {parameters_of(name)}.")
    near = closest(name, [*WHOLE, *SPELLINGS, *FAMILIES])
    cure = f'Write "{near[0]}".' if near else f"Known are {', '.join(WHOLE)}."
    raise Refusal(f"{name[:80]} is no family of losses.", cure=cure)
